//! Functions exported to C: compiled by `cc` with and without OpenMP and without a warning, called
//! by a program of their own, they give the interpreter's bits at sizes that nothing divides.
//!
//! The rows are those of `export.rs`: one for each kind of node, and the programs of the papers.

use crate::export::{Row, programs, rows, run};
use crate::export_cases::{Cases, Language, c_type, cases, compare, planned};
use crate::support::{same_as, session};
use aplomb_export::{CudaFiles, Files, Function, Planned, c, cuda};
use aplomb_ground::error::Error;
use aplomb_values::array::DType;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Sizes of the free extents, up to three.
const SIZES: &[[usize; 3]] = &[
    [0, 0, 0],
    [0, 5, 3],
    [1, 1, 1],
    [3, 2, 5],
    [7, 13, 4],
    [65, 31, 9],
    [257, 100, 7],
    [1021, 67, 2],
];

/// A call in C, which prints its code and the bits of its results.
fn call(
    function: &Function<Planned>,
    sizes: &[usize],
    items: &[String],
    lengths: &[usize],
) -> String {
    let (takes, name) = (&function.takes, &function.name);
    let mut out = String::from("  {\n");
    let mut words: Vec<String> = sizes.iter().map(usize::to_string).collect();
    for (k, (leaf, item)) in takes.leaves().into_iter().zip(items).enumerate() {
        let n: usize = takes.shape(leaf, sizes).iter().product();
        let of = c_type(leaf.dtype);
        writeln!(out, "    {of} *a{k} = malloc({n} * sizeof({of}) + 8);").unwrap();
        writeln!(out, "    for (long k = 0; k < {n}; k++) a{k}[k] = ({of})({item});").unwrap();
        words.push(if leaf.extents.is_empty() { format!("a{k}[0]") } else { format!("a{k}") });
    }
    let mut shown = String::new();
    for (k, (given, n)) in function.samples[0].results.iter().zip(lengths).enumerate() {
        let dtype = match given {
            aplomb_export::Given::Buffer(b) => function.samples[0].plan.buffer(*b).dtype,
            aplomb_export::Given::Input(k) => function.samples[0].inputs[*k].dtype(),
            aplomb_export::Given::Number(_) => DType::F64,
        };
        let of = c_type(dtype);
        writeln!(out, "    {of} *r{k} = malloc({n} * sizeof({of}) + 8);").unwrap();
        words.push(format!("r{k}"));
        writeln!(shown, "    for (long k = 0; !code && k < {n}; k++) show((double)r{k}[k]);")
            .unwrap();
    }
    let asked: Vec<String> = sizes.iter().map(usize::to_string).collect();
    writeln!(out, "    void *work = malloc({name}_work({}) + 64);", asked.join(", ")).unwrap();
    words.extend(["work".into(), "0".into()]);
    writeln!(out, "    int code = {name}({});", words.join(", ")).unwrap();
    writeln!(out, "    if (!{name}_says(code)[0]) return 1;").unwrap();
    out += "    printf(\"\\n%d\", code);\n";
    out + &shown + "  }\n"
}

const HOST: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "all.h"
static void show(double x) {
  unsigned long long w; memcpy(&w, &x, 8); printf(" %llx", w); }
"#;

/// Exports every row that can be, and runs all of them in one program.
fn held(rows: &[Row], folder: &Path) {
    let write = |f: &Function<Planned>| c(std::slice::from_ref(f), "one", "p.apl").map(drop);
    let why_not = |row: &Row| row.why_not_c.clone();
    let language = Language { why_not, write: &write, sizes: SIZES, call: &call };
    let Cases { functions, calls, cases } = cases(rows, &language);
    let Files { header, text } = c(&functions, "all", "p.apl").unwrap();
    fs::write(folder.join("all.h"), header).unwrap();
    fs::write(folder.join("all.c"), text).unwrap();
    let mut host = String::from(HOST);
    for (k, call) in calls.iter().enumerate() {
        write!(host, "static int call{k}(void) {{\n{call}  return 0; }}\n").unwrap();
    }
    host += "int main(void) {\n  int bad = 0;\n";
    (0..calls.len()).for_each(|k| writeln!(host, "  bad |= call{k}();").unwrap());
    fs::write(folder.join("host.c"), host + "  return bad; }\n").unwrap();
    for extra in [&["-O1"][..], &["-O2", "-march=native", "-fopenmp"][..]] {
        let said = ran(folder, extra);
        compare(&cases, &said, &|_, x, y, _| x.to_bits() != y.to_bits());
    }
}

/// Compiles the text, and the calls as quickly as can be, and runs them: what the program prints.
fn ran(folder: &Path, extra: &[&str]) -> String {
    let cc = |words: &[&str]| {
        let built = Command::new("cc")
            .current_dir(folder)
            .args(["-std=c11", "-Wall", "-Wextra", "-Werror"])
            .args(words)
            .output()
            .expect("cc");
        assert!(built.status.success(), "{words:?}: {}", String::from_utf8_lossy(&built.stderr));
    };
    if !folder.join("host.o").exists() {
        cc(&["-O0", "-c", "host.c"]);
    }
    cc(&[extra, &["-o", "host", "all.c", "host.o", "-lm"]].concat());
    let out = Command::new(folder.join("host")).env("OMP_NUM_THREADS", "3").output().expect("host");
    let failed = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{extra:?}: {:?} {failed}", out.status);
    String::from_utf8(out.stdout).expect("a text")
}

#[test]
fn every_kind_of_node_gives_the_interpreters_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    held(&rows(), folder.path());
}

#[test]
fn acl_45_every_program_of_the_papers_gives_its_bits_in_c() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows: Vec<Row> = programs().into_iter().map(|p| p.1).collect();
    held(&rows, folder.path());
}

/// The lines that count: neither empty nor a remark of its own.
fn lines(text: &str, remark: &str) -> usize {
    let own = |l: &&str| !l.trim().is_empty() && !l.trim().starts_with(remark);
    text.lines().filter(own).count()
}

/// The lines of a function in APL, and of those of its program that it calls.
fn lines_of_apl(code: &str, name: &str) -> usize {
    let bare = |l: &str| l.split('⍝').next().unwrap_or_default().trim_end().to_string();
    let all: Vec<String> = code.lines().map(bare).filter(|l| !l.is_empty()).collect();
    let mut defined: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '∆';
        let (word, rest) = all[at].split_once('←').unwrap_or_default();
        let mut own = all[at].clone();
        if !word.is_empty() && word.chars().all(is_name) && rest.contains('{') {
            while own.matches('{').count() > own.matches('}').count() {
                at += 1;
                own += "\n";
                own += &all[at];
            }
            defined.push((word.into(), own));
        }
        at += 1;
    }
    let mut wanted = vec![name.to_string()];
    let mut next = 0;
    while next < wanted.len() {
        let text = defined.iter().find(|d| d.0 == wanted[next]).map(|d| d.1.clone());
        let text = text.unwrap_or_default();
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').map(String::from);
        for word in words.filter(|w| defined.iter().any(|d| d.0 == *w)).collect::<Vec<_>>() {
            if !wanted.contains(&word) {
                wanted.push(word);
            }
        }
        next += 1;
    }
    let own = defined.iter().filter(|d| wanted.contains(&d.0));
    own.map(|d| d.1.lines().count()).sum::<usize>().max(1)
}

fn lines_of_c(files: &Files) -> usize {
    lines(files.text.split_once("// The extents").expect("a function").1, "//")
}

fn lines_of_cuda(files: &CudaFiles) -> usize {
    let kernels = files.device.split_once("extern \"C\" __global__");
    let host = files.text.split_once("_read(const aplomb_view").expect("a function").1;
    kernels.map_or(0, |k| lines(k.1, "//")) + lines(host, "//")
}

/// BAR-22: the table of the page, whose cells behind Python's are written by this.
#[test]
fn bar_22_the_table_says_what_is_exported_in_how_many_lines() {
    let page = include_str!("../../docs/EXPORT.md");
    let (before, table) = page.split_once("| program |").expect("the table");
    let mut out = format!(
        "{before}| program | function | takes | Python | C | CUDA | lines: APL | C | CUDA |\n\
         |---|---|---|---|---|---|---|---|---|\n"
    );
    let python: Vec<&str> = table
        .lines()
        .filter(|l| l.starts_with("| `"))
        .map(|l| l.trim_matches('|').split(" | ").nth(3).expect("a cell").trim())
        .collect();
    for ((program, row), python) in programs().into_iter().zip(python) {
        let mut session = session();
        run(&mut session, &row.code);
        let made = planned(&mut session, &row);
        let all = made.as_ref().map(std::slice::from_ref);
        let in_c = all.map_err(|e| e.clone()).and_then(|all| c(all, "one", "p.apl"));
        let in_cuda = all.map_err(|e| e.clone()).and_then(|all| cuda(all, "one", "p.apl"));
        let told = |e: &Error| {
            let says = &e.parts().says;
            let why = says.split_once("cannot be exported: ").map_or(says.as_str(), |s| s.1);
            format!("no: {why}")
        };
        let cell = |e: Option<&Error>| e.map_or("yes".into(), told);
        let count = |n: Option<usize>| n.map_or("–".into(), |n| n.to_string());
        let cells = [
            format!("`{program}`"),
            format!("`{}`", row.name),
            format!("`{}`", row.takes),
            python.into(),
            cell(in_c.as_ref().err()),
            cell(in_cuda.as_ref().err()),
            lines_of_apl(&row.code, &row.name).to_string(),
            count(in_c.as_ref().ok().map(lines_of_c)),
            count(in_cuda.as_ref().ok().map(lines_of_cuda)),
        ];
        writeln!(out, "| {} |", cells.join(" | ")).unwrap();
    }
    same_as("docs/EXPORT.md", &out);
}

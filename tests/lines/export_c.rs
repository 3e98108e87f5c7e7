//! Functions exported to C: compiled by `cc` with and without OpenMP and without a warning, called
//! by a program of their own, they give the interpreter's bits at sizes that nothing divides.
//!
//! The rows are those of `export.rs`: one for each kind of node, and the programs of the papers.

use crate::export::{Row, programs, refuses, rows, run};
use crate::support::{same_as, session};
use aplomb_export::{Argument, CudaFiles, Declaration, Files, Function, Leaf, Planned, c, cuda};
use aplomb_ground::error::Error;
use aplomb_kernel::session::Session;
use aplomb_values::array::{DType, Data};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

pub fn planned(session: &mut Session, row: &Row) -> Result<Function<Planned>, Error> {
    let takes = Declaration::parse(&row.takes)?;
    let samples = takes.samples();
    let samples = samples.iter().map(|s| session.planned(&row.name, &takes, s));
    let samples = samples.collect::<Result<_, Error>>()?;
    Ok(Function { name: row.name.clone(), takes, samples })
}

/// Sizes of the free extents, up to three.
pub const SIZES: &[[usize; 3]] = &[
    [0, 0, 0],
    [0, 5, 3],
    [1, 1, 1],
    [3, 2, 5],
    [7, 13, 4],
    [65, 31, 9],
    [257, 100, 7],
    [1021, 67, 2],
];

/// One of the arguments: item k in APL, and in C as a function of k.
pub fn argument(of: &Declaration, leaf: &Leaf, sizes: &[usize], seed: usize) -> (String, String) {
    let shape = of.shape(leaf, sizes);
    let n: usize = shape.iter().product();
    let part = format!("((997|{}×⍳{n})÷997)", 1103 * seed);
    let own = format!("({} * (k + 1) % 997) / 997.0", 1103 * seed);
    let (apl, text) = match leaf.dtype {
        DType::Bool => (format!("0.5>{part}"), format!("{own} < 0.5")),
        DType::F64 => (format!("0.125+{part}"), format!("{own} + 0.125")),
        DType::F32 => (format!("'f32'⎕AS 0.125+{part}"), format!("{own} + 0.125")),
        _ => (format!("1+⌊7×{part}"), format!("1 + (int)(7.0 * ({own}))")),
    };
    let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let axes = if axes.is_empty() { "⍬".into() } else { axes.join(" ") };
    (format!("({axes}⍴{apl})"), text)
}

pub fn written(argument: &Argument, leaves: &mut impl Iterator<Item = String>) -> String {
    match argument {
        Argument::One(_) => leaves.next().expect("a leaf"),
        Argument::Several(more) => {
            let items: Vec<String> =
                more.iter().map(|a| format!("(⊂{})", self::written(a, leaves))).collect();
            format!("({})", items.join(","))
        }
    }
}

pub fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "uint8_t",
        DType::I8 => "int8_t",
        DType::I16 => "int16_t",
        DType::I32 => "int32_t",
        DType::F32 => "float",
        _ => "double",
    }
}

/// The interpreter's results, the numbers of each; None where it gives an error.
pub fn wanted(
    session: &mut Session,
    function: &Function<Planned>,
    line: &str,
) -> Option<Vec<Vec<f64>>> {
    let value = session.value_of(line).ok()??;
    let numbers = |a: &aplomb_values::array::Array| a.to_numbers().expect("numbers");
    Some(match value.data() {
        Data::Items(items) if function.samples[0].results.len() > 1 => {
            items.iter().map(|a| numbers(&a)).collect()
        }
        Data::Items(_) => vec![numbers(&session.value_of(&format!("↑{line}")).ok()??)],
        _ => vec![numbers(&value)],
    })
}

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

struct Case {
    what: String,
    wanted: Option<Vec<Vec<f64>>>,
    least: usize,
}

/// Exports every row that can be, and runs all of them in one program.
fn held(rows: &[Row], folder: &Path) {
    let (mut functions, mut calls, mut cases) = (Vec::new(), Vec::new(), Vec::new());
    let mut wrong = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        let mut session = session();
        run(&mut session, &row.code);
        let made = planned(&mut session, row);
        let made = made.and_then(|f| c(std::slice::from_ref(&f), "one", "p.apl").map(|_| f));
        let mut function = match (made, &row.why_not_c) {
            (Ok(function), None) => function,
            (Err(error), Some(why)) if refuses(&error, why) => continue,
            (Err(error), _) => {
                wrong.push(format!("{}: {error}", row.code));
                continue;
            }
            (Ok(_), Some(why)) => {
                wrong.push(format!("{}: is exported, not “{why}”", row.code));
                continue;
            }
        };
        let (takes, free) = (function.takes.clone(), function.takes.free().len());
        let mut sizes: Vec<&[usize]> = SIZES.iter().map(|s| &s[..free]).collect();
        sizes.dedup();
        function.name = format!("f{k}");
        for sizes in sizes {
            let leaves = takes.leaves();
            let all: Vec<(String, String)> = leaves
                .iter()
                .enumerate()
                .map(|(j, leaf)| argument(&takes, leaf, sizes, j + 1))
                .collect();
            let mut apl = all.iter().map(|a| a.0.clone());
            let words: Vec<String> = takes.arguments.iter().map(|a| written(a, &mut apl)).collect();
            let line = match &words[..] {
                [right] => format!("{} {right}", row.name),
                [left, right] => format!("{left} {} {right}", row.name),
                _ => unreachable!("one or two"),
            };
            let wanted = wanted(&mut session, &function, &line);
            let lengths: Vec<usize> = match &wanted {
                Some(all) => all.iter().map(Vec::len).collect(),
                None => vec![1 << 20; function.samples[0].results.len()],
            };
            let items: Vec<String> = all.into_iter().map(|a| a.1).collect();
            calls.push(call(&function, sizes, &items, &lengths));
            let what = format!("{} at {sizes:?}", row.code.lines().last().unwrap_or_default());
            let least = sizes.iter().copied().min().unwrap_or(usize::MAX);
            cases.push(Case { what, wanted, least });
        }
        functions.push(function);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
        compare(&cases, &said, extra);
    }
}

/// Compiles both texts and runs them: what the program prints.
fn ran(folder: &Path, extra: &[&str]) -> String {
    let built = Command::new("cc")
        .current_dir(folder)
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror"])
        .args(extra)
        .args(["-o", "host", "all.c", "host.c", "-lm"])
        .output()
        .expect("cc");
    assert!(built.status.success(), "{extra:?}: {}", String::from_utf8_lossy(&built.stderr));
    let out = Command::new(folder.join("host")).env("OMP_NUM_THREADS", "3").output().expect("host");
    let failed = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{extra:?}: {:?} {failed}", out.status);
    String::from_utf8(out.stdout).expect("a text")
}

fn compare(cases: &[Case], said: &str, extra: &[&str]) {
    let lines: Vec<&str> = said.lines().skip(1).collect();
    assert_eq!(lines.len(), cases.len());
    let (mut wrong, mut refused) = (Vec::new(), Vec::new());
    for (case, line) in cases.iter().zip(lines) {
        let mut words = line.split(' ');
        let code: i32 = words.next().and_then(|w| w.parse().ok()).expect("a code");
        let found: Vec<u64> = words.map(|w| u64::from_str_radix(w, 16).expect("bits")).collect();
        let what = &case.what;
        match &case.wanted {
            // Where the text is for larger extents it says so.
            _ if code == 1 && case.least < 24 => refused.push(what.clone()),
            // Of empty arrays some functions have no result that their graphs have.
            None if code != 0 || case.least == 0 => {}
            None => wrong.push(format!("{what}: the interpreter gives an error")),
            Some(_) if code != 0 => wrong.push(format!("{what}: code {code}")),
            Some(all) => {
                let all: Vec<f64> = all.iter().flatten().copied().collect();
                let found: Vec<f64> = found.into_iter().map(f64::from_bits).collect();
                let apart = |(x, y): (&f64, &f64)| x.to_bits() != y.to_bits();
                let at = all.iter().zip(&found).position(apart);
                if all.len() != found.len() || at.is_some() {
                    let shown = at.map(|k| (all[k], found[k]));
                    wrong.push(format!("{what}: {shown:?} at {at:?}, {} items", found.len()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{extra:?}:\n{}", wrong.join("\n"));
    // Few functions are for large extents alone.
    println!("{} of {} calls are for larger extents: {refused:#?}", refused.len(), cases.len());
    assert!(refused.len() * 4 < cases.len());
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

//! Functions exported to CUDA, built with g++ over the stand-in for CUDA's libraries and called by
//! a program of their own: they give the interpreter's numbers, to the bit where nothing is folded.

use crate::export::{Row, programs, rows, run};
use crate::export_cases::{Cases, Language, c_type, cases, compare, planned};
use crate::support::{extras, found, one_in, program, session};
use crate::{nvrtc, standin};
use aplomb_export::{CudaFiles, Declaration, Function, Planned, cuda};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Sizes of the free extents, up to three; the last is more than one tile of a sort.
const SIZES: &[[usize; 3]] = &[[1, 1, 1], [7, 13, 4], [65, 31, 9], [521, 20, 3], [7001, 1, 2]];

fn kind(dtype: &str) -> &'static str {
    match dtype {
        "double" => "APLOMB_F64",
        "float" => "APLOMB_F32",
        "int32_t" => "APLOMB_I32",
        "int16_t" => "APLOMB_I16",
        "int8_t" => "APLOMB_I8",
        _ => "APLOMB_BOOL",
    }
}

/// A call through the C ABI, which prints its code and the bits of its results.
fn call(function: &Function<Planned>, sizes: &[usize], items: &[String]) -> String {
    let (takes, name) = (&function.takes, &function.name);
    let leaves = takes.leaves();
    let (ins, outs) = (leaves.len(), function.samples[0].results.len());
    let mut out = format!("  {{\n    aplomb_view in[{ins}], out[{outs}];\n");
    for (k, (leaf, item)) in leaves.into_iter().zip(items).enumerate() {
        let shape = takes.shape(leaf, sizes);
        let n: usize = shape.iter().product();
        let of = c_type(leaf.dtype);
        writeln!(out, "    std::vector<{of}> a{k}({n} + 1);").unwrap();
        writeln!(out, "    for (long k = 0; k < {n}; k++) a{k}[k] = ({of})({item});").unwrap();
        let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
        let (axes, rank, dtype) = (axes.join(", "), shape.len(), kind(of));
        writeln!(
            out,
            "    in[{k}] = there(a{k}.data(), {n} * sizeof({of}), {dtype}, {rank}, {{ {axes} }});"
        )
        .unwrap();
    }
    writeln!(
        out,
        "    long bytes = aplomb_{name}_workspace(in, {ins});\n    int code = \
         aplomb_{name}_results(in, {ins}, out, {outs});\n    if (code) {{ printf(\"\\n%d\", code); \
         return; }}\n    for (aplomb_view& v : out) v.data = room(items(v) * 8 + 8);\n    code = \
         aplomb_{name}(in, {ins}, out, {outs}, room(bytes), 0);\n    if \
         (!aplomb_{name}_says(code)[0]) exit(1);\n    printf(\"\\n%d\", code);\n    if (!code) for \
         (const aplomb_view& v : out) show(v);\n  }}"
    )
    .unwrap();
    out
}

const HOST: &str = r#"#include "all.cuh"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
static void* room(size_t bytes) { void* p = 0; if (cudaMalloc(&p, bytes)) exit(3); return p; }
static size_t items(const aplomb_view& v) {
  size_t n = 1; for (int k = 0; k < v.rank; k++) n *= (size_t)v.dim[k]; return n; }
static aplomb_view there(const void* from, size_t bytes, int dtype, int rank,
                         std::vector<int64_t> dim) {
  aplomb_view v = {room(bytes + 8), dtype, rank, {}, {}};
  int64_t step = 1;
  for (int k = rank; k-- > 0;) { v.dim[k] = dim[k]; v.stride[k] = step; step *= dim[k]; }
  if (cudaMemcpy(v.data, from, bytes, cudaMemcpyHostToDevice)) exit(3);
  return v; }
template <class T> static void shown(const aplomb_view& v) {
  std::vector<T> own(items(v) + 1);
  if (cudaMemcpy(own.data(), v.data, items(v) * sizeof(T), cudaMemcpyDeviceToHost)) exit(3);
  for (size_t k = 0; k < items(v); k++) {
    double x = (double)own[k]; unsigned long long w; memcpy(&w, &x, 8); printf(" %llx", w); } }
static void show(const aplomb_view& v) {
  switch (v.dtype) {
    case APLOMB_F64: return shown<double>(v);
    case APLOMB_F32: return shown<float>(v);
    case APLOMB_I32: return shown<int32_t>(v);
    case APLOMB_I16: return shown<int16_t>(v);
    case APLOMB_I8: return shown<int8_t>(v);
    default: return shown<uint8_t>(v); } }
"#;

/// Exports every row that can be, and runs all of them in one program on the stand-in.
fn held(rows: &[Row], sizes: &'static [[usize; 3]], folder: &Path) {
    let Some(libraries) = standin::libraries() else { return };
    let write = |f: &Function<Planned>| cuda(std::slice::from_ref(f), "one", "p.apl").map(drop);
    let why_not = |row: &Row| row.why_not_cuda.clone();
    let call = |f: &Function<Planned>, sizes: &[usize], items: &[String], _: &[usize]| {
        call(f, sizes, items)
    };
    let language = Language { why_not, write: &write, sizes, call: &call };
    let Cases { functions, calls, cases } = cases(rows, &language);
    let CudaFiles { header, text, .. } = cuda(&functions, "all", "p.apl").unwrap();
    fs::write(folder.join("all.cuh"), header).unwrap();
    fs::write(folder.join("all.cu"), text).unwrap();
    let mut host = String::from(HOST);
    for (k, call) in calls.iter().enumerate() {
        write!(host, "static void call{k}() {{\n{call}}}\n").unwrap();
    }
    host += "int main() {\n";
    (0..calls.len()).for_each(|k| writeln!(host, "  call{k}();").unwrap());
    fs::write(folder.join("host.cc"), host + "  return 0; }\n").unwrap();
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/repro");
    let built = Command::new("g++")
        .current_dir(folder)
        .args(["-std=c++17", "-w", "-x", "c++", "-include", "device.h", "-I"])
        .arg(&headers)
        .args(["all.cu", "host.cc", "-x", "none", "-o", "host"])
        .args([libraries.join("libcuda.so.1"), libraries.join("libnvrtc.so.13")])
        .output()
        .expect("g++");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut command = standin::on_standin(&folder.join("host"), folder).expect("the stand-in");
    let out = command.current_dir(folder).env("CUSIM_SCHEDULE", "random").output().expect("host");
    let failed = String::from_utf8_lossy(&out.stderr);
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{:?} {failed}\n{}", out.status, said.lines().count());
    // Folds are taken in a device's own order.
    compare(&cases, &said, &|case, x, y, most| match case.folds {
        true => (x - y).abs() > 1e-11 * most,
        false => x.to_bits() != y.to_bits(),
    });
}

#[test]
fn every_kind_of_node_gives_the_interpreters_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    held(&rows(), SIZES, folder.path());
}

#[test]
fn bar_09_every_program_of_the_papers_gives_its_numbers_in_cuda() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows: Vec<Row> = programs().into_iter().map(|p| p.1).collect();
    // The largest is a sort's, which has its row.
    held(&rows, &SIZES[..SIZES.len() - 1], folder.path());
}

/// The sample configures and builds a library that has the function, with g++ as the compiler of
/// the language CUDA (`tests/cmake`).
#[test]
fn cmake_builds_the_sample() {
    let Some(python) = extras("cmake") else { return };
    let cmake = |words: &[&str]| {
        Command::new(&python).args(["-m", "cmake"]).args(words).output().expect("python")
    };
    let there = cmake(&["--version"]).status.success();
    if found(there.then_some(()), "cmake").and(program("make")).is_none() {
        return;
    }
    let mut session = session();
    run(&mut session, "rmse←{((+/(⍺-⍵)*2)÷≢⍺)*0.5}");
    let takes = Declaration::parse("f64[n] f64[n]").unwrap();
    let samples = takes.samples().iter().map(|s| session.planned("rmse", &takes, s)).collect();
    let function = Function { name: "rmse".into(), takes, samples: Result::unwrap(samples) };
    let CudaFiles { header, text, cmake: sample, .. } = cuda(&[function], "p", "p.apl").unwrap();
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("p.cuh", header), ("p.cu", text), ("CMakeLists.txt", sample)] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let (from, to) = (folder.path().display(), folder.path().join("build"));
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmake");
    let told = |out: std::process::Output| {
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(out.status.success(), "{said}{}", String::from_utf8_lossy(&out.stderr));
        said
    };
    let (from, to) = (from.to_string(), to.display().to_string());
    let words = [
        format!("-DCMAKE_MODULE_PATH={}", modules.display()),
        format!("-DCMAKE_CUDA_COMPILER={}", modules.join("nvcc").display()),
        "-DCMAKE_CUDA_ARCHITECTURES=90".into(),
    ];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    told(cmake(&[&["-G", "Unix Makefiles", "-S", &from, "-B", &to][..], &words].concat()));
    let said = told(cmake(&["--build", &to, "--verbose"]));
    assert!(said.contains(" -fmad=false ") && Path::new(&to).join("libp.a").exists(), "{said}");
}

/// The kernels of every row, and of programs, as NVRTC makes PTX of them.
#[test]
fn nvrtc_compiles_what_is_exported() {
    if !nvrtc::is_child("nvrtc_compiles_what_is_exported") {
        return;
    }
    // Whole programs take most of the time.
    let programs = programs().into_iter().map(|p| p.1).step_by(one_in(4));
    let all = rows().into_iter().chain(programs);
    let mut functions = Vec::new();
    for (k, row) in all.enumerate().filter(|(_, row)| row.why_not_cuda.is_none()) {
        let mut session = session();
        run(&mut session, &row.code);
        let mut function = planned(&mut session, &row).unwrap();
        function.name = format!("f{k}");
        functions.push(function);
    }
    let device = cuda(&functions, "all", "p.apl").unwrap().device;
    let ptx = aplomb_devices::device::cuda::ptx(&device, "sm_90").unwrap_or_else(|e| panic!("{e}"));
    assert!(ptx.matches(".entry").count() >= functions.len());
}

//! A reproducer builds and runs by itself: here with g++, over the stand-in for CUDA's libraries.

use crate::standin;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

const CASES: &[(&str, &str)] = &[
    ("k0", "2×1+⌽⍳300"),
    ("k0", "+/(*0.001×⍳700)×⌽0.5×⍳700"),
    ("k1", "V÷+/V←0.25×⍳90"),
    ("k0", "+/3 40⍴⍳50"),
    ("k0", "1↓'abcdef'=⌽'fedcba'"),
    ("k0", "2×+\\0.5×⍳5000"),
    ("k1", "(V>30)/2×V←⌽⍳5000"),
    ("k1", "⍋3000⍴3 1 2"),
    ("k0", "{x←⍵ ⋄ x[1+3|⍳1500]+←⍳1500 ⋄ x}⍳1500"),
];

/// Builds a program, and what it is made of behind it. A shell writes both: a file that this
/// process had open for writing could not be started while another test starts a process. The
/// renaming is one step, for two may be at it.
const BUILD: &str = r#"own="$1.$$"; shift
g++ "$@" -o "$own" && cat made-of >>"$own" && mv "$own" "${own%.*}""#;

/// The program that a launch became, in the folder of what is kept, by name of what it is made of.
/// It reads its own source where it runs, by the name that it was compiled by.
fn built(dir: &Path, launch: &str) -> PathBuf {
    let libraries = standin::libraries().expect("the stand-in");
    let source = format!("{launch}.cu");
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/repro");
    let version = Command::new("g++").arg("--version").output().expect("g++").stdout;
    let texts = [&dir.join(&source), &headers.join("device.h"), &headers.join("cuda_runtime.h")];
    let mut made_of = [source.as_bytes(), &version].concat();
    texts.iter().for_each(|file| made_of.extend(std::fs::read(file).expect("a text")));
    let mut hasher = DefaultHasher::new();
    made_of.hash(&mut hasher);
    std::fs::create_dir_all(standin::kept()).expect("a folder");
    let program = standin::kept().join(format!("program-{:016x}", hasher.finish()));
    if std::fs::read(&program).is_ok_and(|all| all.ends_with(&made_of)) {
        return program;
    }
    std::fs::write(dir.join("made-of"), &made_of).expect("written");
    let done = Command::new("sh")
        .current_dir(dir)
        .args(["-c", BUILD, "sh"])
        .arg(&program)
        .args(["-x", "c++", "-std=c++17", "-w", "-include", "device.h", "-I"])
        .arg(&headers)
        .args([&source, "-x", "none"])
        .args([libraries.join("libcuda.so.1"), libraries.join("libnvrtc.so.13")])
        .output()
        .expect("a shell");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

/// Runs the program that a launch became.
fn ran(dir: &Path, launch: &str, schedule: &str) -> (Option<i32>, String) {
    let mut command = standin::on_standin(&built(dir, launch), dir).expect("the stand-in");
    let done =
        command.current_dir(dir).env("CUSIM_SCHEDULE", schedule).output().expect("the program");
    let said =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    (done.status.code(), said)
}

fn written(dir: &Path, launch: &str, line: &str) {
    let made = Command::new(env!("CARGO_BIN_EXE_aplomb"))
        .args(["repro", launch, "-e", line, "-o"])
        .arg(dir)
        .output()
        .expect("aplomb");
    assert!(made.status.success(), "{line}: {}", String::from_utf8_lossy(&made.stderr));
}

#[test]
fn a_reproducer_gives_what_the_cpu_gives() {
    if standin::libraries().is_none() {
        return;
    }
    for (launch, line) in CASES {
        let dir = standin::folder();
        written(dir.path(), launch, line);
        assert_eq!(ran(dir.path(), launch, "random"), (Some(0), "as the CPU\n".into()), "{line}");
    }
}

#[test]
fn it_notices_another_value() {
    if standin::libraries().is_none() {
        return;
    }
    let dir = standin::folder();
    written(dir.path(), "k0", "2×1+⌽⍳300");
    let file = dir.path().join("k0.cu");
    let text = std::fs::read_to_string(&file).expect("a program");
    let changed = text.replace("v1 = ", "v1 = 1.0 + ");
    std::fs::write(&file, changed).expect("written");
    let (code, said) = ran(dir.path(), "k0", "random");
    assert!(
        code == Some(1) && said.contains("r0[0] is") && said.contains("NOT as the CPU"),
        "{said}"
    );
}

/// Faults planted in what is printed: the line, the launch, a piece of its program and what stands
/// there instead.
const FAULTS: &[(&str, &str, &str, &str)] = &[
    (SCAN, "k0", "  __threadfence();\n  atomicExch(&here->flag", "  atomicExch(&here->flag"),
    (SCAN, "k0", ": 1;\n  __threadfence();\n  if (asks)", ": 1;\n  if (asks)"),
    (SCAN, "k0", "flag = asks ? told[at].flag : 1;", "flag = 1;"),
    (SCAN, "k0", "((lane + 1) << bits) - 1, unit", "((lane + 1) << bits) - 2, unit"),
    (SCAN, "k0", "((lane + 1) << bits) - 1, unit", "((lane + 1) << bits), unit"),
    (SCAN, "k0", "if (own) before = join(v, before);", "before = join(v, before);"),
    (SCAN, "k0", "{ tell(told + tile, total); tells = false; }", "tell(told + tile, total);"),
    (SCAN, "k0", "lane == own ? total : v", "v"),
    (SCAN, "k0", "if (tells && own < 31)", "if (tells)"),
    (SCAN, "k0", "- first;\n  __syncthreads();", "- first;"),
    (SCAN, "k0", "warps[warp] = lanes;\n  __syncthreads();", "warps[warp] = lanes;"),
    (SCAN, "k0", "if (warp) before = join(before, warps[warp - 1]);", ""),
    (SELECTION, "k1", "+ mine[k]; }\n  __syncthreads(); }", "+ mine[k]; } }"),
    (SELECTION, "k1", "(1u << threadIdx.x % 32) - 1)", "(2u << threadIdx.x % 32) - 1)"),
    (SELECTION, "k1", "(u64)PREFIX << 62 | (before + total)", "(u64)PREFIX << 62 | total"),
    (
        STRIPS,
        "k0",
        "    __threadfence();\n    __syncthreads();\n    if (threadIdx.x == 0) {\n      last",
        "    __syncthreads();\n    if (threadIdx.x == 0) {\n      last",
    ),
    (STRIPS, "k0", "    h0[threadIdx.x] = t0;\n    __syncthreads();", "    h0[threadIdx.x] = t0;"),
    (ROWS, "k0", "__threadfence();\n      last[0]", "last[0]"),
    (ROWS, "k0", "if (last[0]) {\n      __threadfence();", "if (last[0]) {"),
    (VECTORS, "k0", "threadIdx.x * 2;", "threadIdx.x * 2 + 1;"),
    (VECTORS, "k0", "n / 512 * 512", "n / 512 * 512 + 512"),
];
const SCAN: &str = "2×+\\0.5×⍳100000";
const SELECTION: &str = "(V>30)/2×V←⌽⍳30000";
const STRIPS: &str = "+⌿0.5×6000 3⍴⍳18000";
const ROWS: &str = "+/0.5×2 34000⍴⍳68000";
const VECTORS: &str = "2×V+⌽V←0.5×⍳999";

/// The stand-in sees what a wrong text would do.
#[test]
fn planted_faults_in_printed_texts_are_seen() {
    if standin::libraries().is_none() {
        return;
    }
    let mut escaped = Vec::new();
    for (line, launch, piece, instead) in FAULTS {
        let dir = standin::folder();
        written(dir.path(), launch, line);
        let file = dir.path().join(format!("{launch}.cu"));
        let text = std::fs::read_to_string(&file).expect("a program");
        assert!(text.contains(piece), "{line}: {piece}");
        std::fs::write(&file, text.replacen(piece, instead, 1)).expect("written");
        let (code, said) = ran(dir.path(), launch, "starved");
        println!("{instead:?} {code:?} {}", said.lines().next().unwrap_or_default());
        if code == Some(0) {
            escaped.push((line, piece));
        }
        // A program that did not come to its launch would tell nothing.
        let told =
            code == Some(0) || said.starts_with("cusim: kernel") || said.contains(" on the CPU ");
        assert!(told, "{line}: {instead:?}: {said}");
    }
    assert!(escaped.is_empty(), "{escaped:#?}");
}

/// The program in two slices: `cut` points by three blocks, the rest by five.
fn sliced(text: &str, cut: u64) -> String {
    let line = text.lines().find(|l| l.contains("must(cudaLaunchKernel(")).expect("a launch");
    let grid = line.split("dim3(").nth(1).and_then(|rest| rest.split(')').next()).expect("a grid");
    let with = |blocks: u32| line.replacen(&format!("dim3({grid})"), &format!("dim3({blocks})"), 1);
    let set = |name: &str, value: &str| {
        if text.contains(&format!(" {name} = ")) {
            format!("  {name} = {value};\n")
        } else {
            String::new()
        }
    };
    let (parts, first) = (set("parts", "8"), set("first", "3"));
    let (before, after) = (with(3), with(5));
    let both = format!(
        "  u64 whole = n;\n{parts}  n = {cut};\n{before}\n  lo = {cut}, n = whole - \
         {cut};\n{first}{after}"
    );
    text.replacen(line, &both, 1)
}

/// Slices continue what earlier ones began, and blocks take several tiles, rows or vectors.
#[test]
fn slices_give_the_same() {
    if standin::libraries().is_none() {
        return;
    }
    for (launch, line, cut) in [
        ("k0", SCAN, 11),
        ("k0", "⌈\\0.5×3 9000⍴⍳27000", 4),
        ("k1", SELECTION, 6),
        ("k0", VECTORS, 512),
        ("k0", "+/0.5×⍳34000", 9216),
        ("k0", ROWS, 2),
        ("k0", STRIPS, 1),
        ("k0", "+/0.5×40 3000⍴⍳120000", 9),
        ("k0", "+\\0.5×40 300⍴⍳12000", 8),
    ] {
        let dir = standin::folder();
        written(dir.path(), launch, line);
        let file = dir.path().join(format!("{launch}.cu"));
        let text = std::fs::read_to_string(&file).expect("a program");
        std::fs::write(&file, sliced(&text, cut)).expect("written");
        assert_eq!(ran(dir.path(), launch, "starved"), (Some(0), "as the CPU\n".into()), "{line}");
    }
}

#[test]
fn a_launch_that_is_not_there_is_a_sentence() {
    let dir = standin::folder();
    let made = Command::new(env!("CARGO_BIN_EXE_aplomb"))
        .args(["repro", "k7", "-e", "2×1+⍳300", "-o"])
        .arg(dir.path())
        .output()
        .expect("aplomb");
    assert_eq!(made.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&made.stderr).contains("the line has 1 launch,"), "{made:?}");
}

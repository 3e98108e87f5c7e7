//! Exported functions: what they give under NumPy, array-api-strict, JAX and Dask is what the
//! interpreter gives, and what cannot be exported says why.
//!
//! `docs/EXPORT.md` has a row for each program of the four papers, `export.txt` one for each
//! kind of node and what stands in the way.

use crate::support::{extras, session};
use aplomb_export::{Argument, Declaration, Function, Leaf, module};
use aplomb_ground::error::Error;
use aplomb_ground::protocol::Request;
use aplomb_kernel::session::Session;
use aplomb_values::array::{Array, DType, Data};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROWS: &str = include_str!("export.txt");
const PAGE: &str = include_str!("../../docs/EXPORT.md");

/// A function and what it takes; the reason why it is none in another language, if it is none.
pub struct Row {
    /// The program that defines it.
    pub code: String,
    pub name: String,
    pub takes: String,
    /// Why it is none in Python.
    pub why_not: Option<String>,
    /// Why it is none in C.
    pub why_not_c: Option<String>,
    /// Why it is none in CUDA.
    pub why_not_cuda: Option<String>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The rows of the page: program, function, declaration, what comes of it.
pub fn programs() -> Vec<(String, Row)> {
    let table = PAGE.split("| program |").nth(1).expect("the programs");
    let lines = table.lines().filter(|l| l.starts_with("| `"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(|c| c.trim()).collect();
        let bare = |k: usize| cells[k].trim_matches('`').to_string();
        let path = root().join("examples/seeds").join(format!("{}.apl", bare(0)));
        let code = fs::read_to_string(path).unwrap().replacen("#!", "⍝!", 1);
        // What a program shows of itself defines nothing.
        let code = code.split_once("\n⍝ Check").expect("a check").0.to_string();
        let why_not = |k: usize| cells[k].strip_prefix("no: ").map(String::from);
        let (why_not, why_not_c, why_not_cuda) = (why_not(3), why_not(4), why_not(5));
        let row = Row { code, name: bare(1), takes: bare(2), why_not, why_not_c, why_not_cuda };
        (bare(0), row)
    };
    lines.map(row).collect()
}

/// The rows of the table: a declaration, a function, and what stands in the way if something does.
pub fn rows() -> Vec<Row> {
    let lines = ROWS.lines().filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.map(row).collect()
}

fn row(line: &str) -> Row {
    let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
    let why_not = cells.get(2).filter(|c| **c != "-").map(|cell| cell.to_string());
    // C has what Python's array API lacks.
    let why_not_c = why_not.clone().filter(|why| !why.starts_with("the array API"));
    let cuda = cells.get(3).map(|cell| cell.to_string());
    let why_not_cuda = why_not_c.clone().or(cuda);
    let code = cells[1].replace(" ⋄⋄ ", "\n");
    Row { code, name: "f".into(), takes: cells[0].into(), why_not, why_not_c, why_not_cuda }
}

fn of(session: &mut Session, name: &str, takes: &str) -> Result<Function, Error> {
    let takes = Declaration::parse(takes)?;
    let samples = takes.samples();
    let samples = samples.iter().map(|s| session.applied(name, &takes, s));
    let samples = samples.collect::<Result<_, Error>>()?;
    Ok(Function { name: name.into(), takes, samples })
}

pub fn run(session: &mut Session, code: &str) {
    let mut heard = crate::support::Heard::default();
    let request = Request::Execute { code: code.into(), name: "p".into(), silent: true };
    session.handle(request, &mut heard);
    let failed = heard.0.iter().find(|e| matches!(e, aplomb_ground::protocol::Event::Error(_)));
    assert!(failed.is_none(), "{code}: {failed:?}");
}

/// An argument as APL, and its arrays as numbers: above 0, or whole, or bits.
fn argument(
    (of, sizes): (&Declaration, &[usize]),
    argument: &Argument,
    seed: &mut usize,
    all: &mut Vec<Value>,
) -> String {
    match argument {
        Argument::One(leaf) => one((of, sizes), leaf, seed, all),
        Argument::Several(more) => {
            let item = |a| format!("(⊂{})", self::argument((of, sizes), a, seed, all));
            let items: Vec<String> = more.iter().map(item).collect();
            format!("({})", items.join(","))
        }
    }
}

fn one(
    (of, sizes): (&Declaration, &[usize]),
    leaf: &Leaf,
    seed: &mut usize,
    all: &mut Vec<Value>,
) -> String {
    let shape = of.shape(leaf, &sizes[..of.free().len()]);
    let n: usize = shape.iter().product();
    *seed += 1;
    let part = |k: usize| (1103 * (k + 1) * *seed % 997) as f64 / 997.0;
    let item = |k: usize| match leaf.dtype {
        DType::Bool => f64::from(u8::from(part(k) < 0.5)),
        DType::F32 => f64::from((part(k) + 0.125) as f32),
        DType::F64 => part(k) + 0.125,
        _ => 1.0 + (7.0 * part(k)).floor(),
    };
    let items: Vec<f64> = (0..n).map(item).collect();
    let name = match leaf.dtype {
        DType::Bool => "bool",
        DType::F32 => "float32",
        DType::F64 => "float64",
        _ => "int32",
    };
    let sent: Vec<Value> = match leaf.dtype {
        DType::Bool => items.iter().map(|x| json!(*x != 0.0)).collect(),
        DType::F32 | DType::F64 => items.iter().map(|x| json!(x)).collect(),
        _ => items.iter().map(|x| json!(*x as i64)).collect(),
    };
    all.push(json!({ "dtype": name, "shape": shape, "items": sent }));
    let text: Vec<String> = items.iter().map(|x| format!("{x:?}").replace('-', "¯")).collect();
    let axes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let axes = if axes.is_empty() { "⍬".into() } else { axes.join(" ") };
    let typed = if leaf.dtype == DType::F32 { "'f32'⎕AS " } else { "" };
    format!("({typed}{axes}⍴{})", text.join(" "))
}

fn numbers(a: &Array) -> Value {
    let room = aplomb_ground::limits::Budget::new(u64::MAX);
    let items = a.to_numbers(&room).expect("room").expect("numbers");
    json!({ "shape": a.shape(), "items": items })
}

/// The extents of most cases.
const SIZES: [usize; 3] = [24, 32, 20];

/// A case for Python: the arguments at some extents, and what the interpreter gives, if it gives
/// something.
fn case(
    session: &mut Session,
    function: &Function,
    to: &Path,
    (row, sizes): (&Row, &[usize]),
) -> Option<Value> {
    let (mut arguments, mut seed) = (Vec::new(), 0);
    let words: Vec<String> = function
        .takes
        .arguments
        .iter()
        .map(|a| argument((&function.takes, sizes), a, &mut seed, &mut arguments))
        .collect();
    let line = match &words[..] {
        [right] => format!("{} {right}", function.name),
        [left, right] => format!("{left} {} {right}", function.name),
        _ => unreachable!("one or two"),
    };
    let value = session.value_of(&line).ok()??;
    let results = match value.data() {
        Data::Items(items) => match function.samples[0].several {
            true => items.iter().map(|a| numbers(&a)).collect(),
            false => vec![numbers(&session.value_of(&format!("↑{line}")).ok()??)],
        },
        _ => vec![numbers(&value)],
    };
    let small = sizes.first().is_some_and(|n| *n < SIZES[0]);
    Some(json!({
        "module": to.display().to_string(), "function": defined(&fs::read_to_string(to).unwrap()),
        "arguments": arguments, "results": results, "small": small,
        "what": format!("{} {} at {sizes:?}", row.code, row.takes),
    }))
}

/// The name of the last function of a module.
fn defined(text: &str) -> String {
    let last = text.lines().rfind(|l| l.starts_with("def ")).expect("a function");
    last["def ".len()..].split('(').next().expect("a name").to_string()
}

/// Whether an error refuses an export for that reason, and tells where.
pub fn refuses(error: &Error, why: &str) -> bool {
    error.to_string().contains(why) && error.has_place()
}

/// Exports every row, holds those that cannot be to their reasons, and gives the cases of the
/// others to Python.
fn held(rows: &[Row], folder: &Path) {
    let mut cases = Vec::new();
    let mut wrong = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        let mut session = session();
        run(&mut session, &row.code);
        let function = of(&mut session, &row.name, &row.takes);
        let text = function.and_then(|f| module(std::slice::from_ref(&f), "p.apl").map(|t| (f, t)));
        match (text, &row.why_not) {
            (Ok((function, text)), None) => {
                let to = folder.join(format!("m{k}.py"));
                fs::write(&to, text).unwrap();
                let free = function.takes.free().len();
                let own = case(&mut session, &function, &to, (row, &SIZES[..free]));
                cases.push(own.unwrap_or_else(|| panic!("{} gives nothing", row.code)));
            }
            (Err(error), Some(why)) if refuses(&error, why) => {}
            (Err(error), _) => wrong.push(format!("{}: {error}", row.code)),
            (Ok(_), Some(why)) => wrong.push(format!("{}: is exported, not “{why}”", row.code)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    told(cases, folder);
}

/// Runs the cases under every namespace.
fn told(cases: Vec<Value>, folder: &Path) {
    let Some(python) = extras("numpy, array-api-strict, jax, dask, array-api-compat") else {
        return;
    };
    let to = folder.join("cases.json");
    fs::write(&to, Value::from(cases).to_string()).unwrap();
    let require = std::env::var_os("APLOMB_EXTRAS").is_some_and(|v| v == "require");
    let out = Command::new(python)
        .arg(root().join("tests/lines/export.py"))
        .arg(&to)
        .arg(if require { "require" } else { "look" })
        .output()
        .expect("python");
    let says = String::from_utf8_lossy(&out.stdout).into_owned();
    println!("{says}");
    assert!(out.status.success(), "{says}{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn every_kind_of_node_gives_what_the_interpreter_gives() {
    let folder = tempfile::tempdir().expect("a folder");
    held(&rows(), folder.path());
}

/// Slices by bounds that follow from extents: each is of the interpreter's items or refused, as C
/// refuses it.
const BOUNDS: &[&str] = &[
    "f64[n] | f←{+/¯3↓¯3↓⍵}",
    "f64[n] | f←{¯3↓¯3↓⍵}",
    "f64[n] | f←{5↑2+/⍵}",
    "f64[n] | f←{⌈/¯3↓3↓⍵}",
    "f64[n] | f←{⌽¯2↓¯1↓⍵}",
    "f64[n] | f←{(¯2+≢⍵)↑3⌽⍵}",
    "f64[n] | f←{(3↓⍵)-¯3↓⍵}",
    "f64[n] | f←{-/¯2↓⍵}",
    "f64[n] | f←{(¯1+2×≢⍵)↑⍵}",
    "f64[n,m] | f←{¯1↓2↓[1]⍵}",
    "f64[n,m] | f←{¯1 ¯2↓¯1 ¯2↓⍵}",
    "f64[n,m] | f←{⍵[2;]+⍵[3;]}",
    "f64[n,m] | f←{(¯2+≢⍵)⌷⍵}",
    "f64[n] f64[m] | f←{(≢⍺)↑⍵,⍺}",
    "f64[n] f64[m] | f←{(1↓¯1↓⍺)∘.-¯2↓⍵}",
    "f64[5] f64[n] | f←{⍵+(≢⍵)↑⍺}",
    "f64[n,2] | f←{(,⍵)[2×⍳≢⍵]}",
    "f64[n] | f←{¯2↓⍵[⌽⍳≢⍵]}",
];

#[test]
fn extents_that_are_too_small_are_refused_and_all_others_give_what_the_interpreter_gives() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut cases = Vec::new();
    let own = BOUNDS.iter().map(|line| row(line));
    for (k, row) in own.chain(rows()).enumerate().filter(|(_, row)| row.why_not.is_none()) {
        let mut session = session();
        run(&mut session, &row.code);
        let function = of(&mut session, &row.name, &row.takes);
        let function = function.unwrap_or_else(|e| panic!("{}: {e}", row.code));
        let to = folder.path().join(format!("m{k}.py"));
        fs::write(&to, module(std::slice::from_ref(&function), "p.apl").unwrap()).unwrap();
        let free = function.takes.free().len();
        let small = (0..10).map(|n| [n, (7 * n + 2) % 5, (3 * n + 1) % 4]);
        for sizes in small.take(if free == 0 { 0 } else { 10 }) {
            cases.extend(case(&mut session, &function, &to, (&row, &sizes[..free])));
        }
    }
    told(cases, folder.path());
}

/// The words of the refusal, and the extents from which on there is none, are C's.
#[test]
fn the_least_extent_is_told_in_words() {
    let mut session = session();
    run(&mut session, "f←{+/¯3↓¯3↓⍵}");
    let text = module(&[of(&mut session, "f", "f64[n]").unwrap()], "p.apl").unwrap();
    let wanted = "    if n < 6:\n        \
                  raise ValueError(f\"n is {n}, and must be at least 6\")\n";
    assert!(text.contains(wanted) && text.matches("raise").count() == 2, "{text}");
}

#[test]
fn acl_45_every_program_of_the_papers_is_exported_or_says_why_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let programs = programs();
    let rows: Vec<Row> = programs.into_iter().map(|p| p.1).collect();
    held(&rows, folder.path());
}

#[test]
fn the_page_has_every_program() {
    let mut listed: Vec<String> = programs().into_iter().map(|p| p.0).collect();
    listed.dedup();
    let mut there: Vec<String> = fs::read_dir(root().join("examples/seeds"))
        .unwrap()
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "apl"))
        .map(|p| p.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    there.sort();
    assert_eq!(listed, there);
}

/// BAR-10: a module of three functions has three, and what they share once.
#[test]
fn bar_10_several_functions_are_one_module() {
    let mut session = session();
    run(&mut session, "f←{⍺÷⍵}\ng←{+/⍵÷2+⍵}\nh←+\\");
    let all: Vec<Function> = [("f", "f64[n] f64[n]"), ("g", "f64[n]"), ("h", "f64[n]")]
        .iter()
        .map(|(name, takes)| of(&mut session, name, takes).unwrap())
        .collect();
    let text = module(&all, "p.apl").unwrap();
    let heads: Vec<&str> = text.lines().filter(|l| l.starts_with("def ")).collect();
    assert_eq!(
        heads,
        [
            "def _divide(xp, x, y):",
            "def _shaped(name, x, shape):",
            "def f(xp, a, b):",
            "def g(xp, a):",
            "def h(xp, a):"
        ]
    );
}

/// A function that is called twice with one argument is written once, and so is what two names
/// hold.
#[test]
fn what_is_equal_is_written_once() {
    let mut session = session();
    run(&mut session, "norm←{(+/⍵*2)*0.5}\nf←{(norm ⍵)+⍵÷norm ⍵}");
    let text = module(&[of(&mut session, "f", "f64[n]").unwrap()], "p.apl").unwrap();
    assert_eq!(
        (text.matches("xp.sum(").count(), text.matches("xp.sqrt(").count()),
        (1, 1),
        "{text}"
    );
}

/// Parts of an array that are one beside the other have its blocks; what does not split says so,
/// with its line.
#[test]
fn what_does_not_split_into_blocks_says_so() {
    let mut session = session();
    run(&mut session, "f←{(2↓⍵)-¯2↓⍵}\ng←{\n  a←⍵×2\n  a[⍋a]\n}");
    let text = module(&[of(&mut session, "f", "f64[n]").unwrap()], "p.apl").unwrap();
    assert!(text.contains("_blocks(a[2:], a) - _blocks(a[:n - 2], a)"), "{text}");
    assert!(!text.contains("Does not split"), "{text}");
    let text = module(&[of(&mut session, "g", "f64[n]").unwrap()], "p.apl").unwrap();
    assert!(
        text.contains("Does not split into blocks: ⍋ in line 4 (the order of all items)"),
        "{text}"
    );
}

/// BAR-09: names and parameters are those that were asked for, and nothing but.
#[test]
fn bar_09_the_head_declares_what_was_asked_for() {
    let mut session = session();
    run(&mut session, "Δscale←{⍺×⍵}\nvar←{(+/⍵*2)÷≢⍵}");
    let function = of(&mut session, "var", "f64[a]").unwrap();
    let text = module(&[function], "p.apl").unwrap();
    assert!(text.contains("def var(xp, b):\n    \"\"\"var←{(+/⍵*2)÷≢⍵}\n\n    b: float64, a\n"));
    assert!(text.contains("    a = b.shape[0]\n") && text.contains("/ a\n"), "{text}");
}

/// The text in the README is the one that is written.
#[test]
fn the_readme_shows_what_is_written() {
    let mut session = session();
    let path = root().join("examples/seeds/bar-rmse.apl");
    run(&mut session, &fs::read_to_string(path).unwrap().replacen("#!", "⍝!", 1));
    let function = of(&mut session, "rmse", "f64[n] f64[n]").unwrap();
    let text = module(&[function], "bar-rmse.apl").unwrap();
    let shown: String = text[text.find("def rmse").expect("rmse")..]
        .lines()
        .map(|l| if l.is_empty() { "\n".into() } else { format!("    {l}\n") })
        .collect();
    assert!(include_str!("../../README.md").contains(&shown), "{shown}");
}

//! Functions of C11 with OpenMP: a header and a text that need nothing but the standard library.
//!
//! Rows: BAR-09, BAR-10, ACL-45. A launch is written as loops in the CPU's order
//! (`kir::in_order`), at each of the declaration's sizes; `fit` makes one of these, and `extents`
//! tells for which sizes that one is. What may fail is a code and a sentence; nothing is allocated.

pub mod says;

use crate::declared::Extent;
use crate::{Function, Given, Leaf, Planned, extents, fit, names};
use aplomb_ground::error::{Result, bug};
use aplomb_plans::kir::{self, Code, ParamKind, Scratch, Type};
use aplomb_plans::plan::{BufId, From, Plan};
use aplomb_values::array::{Array, DType, Data, elements};
use std::collections::BTreeMap;

/// The two files of a program's functions.
pub struct Files {
    /// The declarations, for other programs.
    pub header: String,
    /// The definitions.
    pub text: String,
}

/// The files of these functions: `stem` names them, `from` the program that they stand in.
pub fn c(functions: &[Function<Planned>], stem: &str, from: &str) -> Result<Files> {
    let mut names: Vec<String> = Vec::new();
    let (mut heads, mut bodies) = (String::new(), String::new());
    for function in functions {
        let name =
            names::identifier(&function.name, &|n| is_taken(n) || names.iter().any(|k| k == n));
        let written = defined(function, &name, from)?;
        heads += &written.header;
        bodies += &written.text;
        names.push(name);
    }
    let guard = stem.to_uppercase();
    let header =
        HEADER.replace("{from}", from).replace("{guard}", &guard).replace("{heads}", &heads);
    let helpers = kir::c_helpers(&bodies);
    let text = TEXT
        .replace("{from}", from)
        .replace("{stem}", stem)
        .replace("{helpers}", &helpers)
        .replace("{bodies}", &bodies);
    Ok(Files { header, text })
}

const HEADER: &str = r#"// Functions of {from}, written by `aplomb export --c`.
//
// A function takes its free extents, its arguments and where its results go, rows one after the
// other; `work` is memory of so many bytes as NAME_work says, aligned as malloc's, of this call
// alone. It gives 0, or what is above; NAME_says has a sentence for each. `place` may be 0; where
// a value has no result it gets the place of the first such one.
#ifndef {guard}_H
#define {guard}_H
#include <stddef.h>
#include <stdint.h>
#ifndef APLOMB_CODES
#define APLOMB_CODES
// An extent for which a function is not: a read would leave its array, or nothing is there.
#define APLOMB_EXTENTS 1
// No memory to work in.
#define APLOMB_WORK 2
// From here on: a value without a result, by the operation that has none.
#define APLOMB_VALUE 16
#endif
#ifdef __cplusplus
extern "C" {
#endif
{heads}
#ifdef __cplusplus
}
#endif
#endif
"#;

const TEXT: &str = r#"// Functions of {from}, written by `aplomb export --c`.
//
// cc -std=c11 -O3 -fopenmp -c {stem}.c; -fopenmp may be left out. Loops are launches of the plan,
// in the order in which the interpreter folds: results have its bits, if the compiler leaves
// floats alone (no -ffast-math, no contraction).
#include "{stem}.h"
#include <math.h>
#include <stdalign.h>
#include <stdbool.h>
#include <string.h>
#ifdef __FAST_MATH__
#error "results would be others: compile without -ffast-math"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && !defined(__STRICT_ANSI__)
#pragma GCC optimize("fp-contract=off")
#endif
#ifdef _OPENMP
#define PRAGMA(text) _Pragma(#text)
#define PARALLEL(points, loops) \
  PRAGMA(omp parallel for collapse(loops) if ((points) > 10000) schedule(static))
#else
#define PARALLEL(points, loops)
#endif
typedef unsigned char u8; typedef signed char i8; typedef int16_t i16; typedef int32_t i32;
typedef uint32_t u32; typedef int64_t i64; typedef uint64_t u64;

{helpers}// Memory of so many bytes, from what is left.
static inline void *taken(char **left, size_t bytes) {
  void *own = *left;
  if (*left) *left += (bytes + 63) / 64 * 64;
  return own; }
static inline int told(const u64 *err, int64_t *place) {
  if (*err == ~0ull) return 0;
  if (place) *place = (int64_t)(*err & 0xffffffffffffull);
  return APLOMB_VALUE + (int)(*err >> 48); }
{bodies}"#;

/// Words of C, of its library, and of the texts.
pub fn is_taken(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "alignas",
        "alignof",
        "auto",
        "bool",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "false",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "main",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "true",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "u8",
        "u16",
        "u32",
        "u64",
        "i8",
        "i16",
        "i32",
        "i64",
        "taken",
        "told",
        "err",
        "work",
        "left",
        "place",
        "half",
        "from",
        "to",
        "end",
        "some",
        "all",
        "fed",
        "into",
        "numbers",
        "order",
        "other",
        "at",
        "memcpy",
        "memset",
        "abs",
        "fabs",
        "sqrt",
        "exp",
        "log",
        "pow",
        "sin",
        "cos",
        "tan",
        "floor",
        "ceil",
        "round",
        "trunc",
        "rint",
        "fmod",
        "hypot",
        "sinh",
        "cosh",
        "tanh",
        "asin",
        "acos",
        "atan",
        "asinh",
        "acosh",
        "atanh",
        "fma",
        "gamma",
        "index",
        "j0",
        "j1",
        "jn",
        "y0",
        "y1",
        "yn",
        "signal",
        "exit",
        "free",
        "malloc",
        "div",
        "erf",
        "cbrt",
        "logb",
        "remainder",
        "drem",
        "scalb",
        "significand",
        "fmin",
        "fmax",
        "fdim",
        "nan",
        "inf",
        "isnan",
        "isinf",
        "finite",
        "result",
        "linux",
        "unix",
    ];
    WORDS.contains(&name) || kir::c_names().iter().any(|n| n == name)
}

/// Names of one letter, or of a letter and a number, are the texts' own.
fn is_local(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c.is_ascii_lowercase());
    first && !matches!(name, "n" | "m") && chars.all(|c| c.is_ascii_digit())
}

pub fn type_of(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "uint8_t",
        DType::I8 => "int8_t",
        DType::I16 => "int16_t",
        DType::I32 => "int32_t",
        DType::F32 => "float",
        _ => "double",
    }
}

/// A function's parameters in C.
pub struct Head {
    /// The free extents.
    pub letters: Vec<String>,
    /// The arguments.
    pub arguments: Vec<String>,
    /// The results.
    pub results: Vec<String>,
}

impl Head {
    /// The names that a function has in C.
    pub fn new(function: &Function<Planned>, count: usize) -> Head {
        let free = function.takes.free();
        let own = |l: &String| if is_local(l) || is_taken(l) { format!("{l}_") } else { l.clone() };
        let letters: Vec<String> = free.iter().map(own).collect();
        let arguments = names::parameters(&function.takes, &letters, &|n| is_taken(n));
        let results = match count {
            1 => vec!["result".to_string()],
            n => (1..=n).map(|k| format!("result{k}")).collect(),
        };
        Head { letters, arguments, results }
    }

    fn extents(&self) -> String {
        let all: Vec<String> = self.letters.iter().map(|l| format!("int64_t {l}")).collect();
        if all.is_empty() { "void".into() } else { all.join(", ") }
    }

    fn parameters(&self, leaves: &[&Leaf], results: &[DType]) -> String {
        let extents = self.letters.iter().map(|l| format!("int64_t {l}"));
        let arguments =
            leaves.iter().zip(&self.arguments).map(|(leaf, name)| match leaf.extents.is_empty() {
                true => format!("{} {name}", type_of(leaf.dtype)),
                false => format!("const {} *{name}", type_of(leaf.dtype)),
            });
        let results =
            results.iter().zip(&self.results).map(|(d, name)| format!("{} *{name}", type_of(*d)));
        let rest = ["void *work", "int64_t *place"].map(String::from);
        extents.chain(arguments).chain(results).chain(rest).collect::<Vec<_>>().join(", ")
    }
}

fn defined(function: &Function<Planned>, name: &str, from: &str) -> Result<Files> {
    let Function { takes, samples, .. } = function;
    let sizes = takes.samples();
    let Some(first) = samples.first().filter(|_| samples.len() == sizes.len()) else {
        return Err(bug!("{} plans of {} sizes", samples.len(), sizes.len()));
    };
    let home = &first.home;
    let head = Head::new(function, first.results.len());
    let leaves = takes.leaves();
    let mut written: Vec<Written> = Vec::new();
    for sample in samples {
        written.push(Written::of(sample, &head, &leaves)?);
    }
    let settled = |part: &dyn Fn(&Written) -> String| {
        let texts: Vec<String> = written.iter().map(part).collect();
        fit::settled(&texts, &sizes, &head.letters, fit::Style::C)
            .map_err(|says| home.placed(home.refused(&says)))
    };
    let conditions = extents::open(&settled(&|w| w.conditions.clone())?);
    let body = with_tables(&settled(&|w| w.body.clone())?, &head.letters);
    let memory = settled(&|w| w.memory.clone())?;
    let shapes = settled(&|w| w.shapes.clone())?;
    let notes = says::Notes::new(function, first, from);
    let dtypes: Vec<DType> = first.results.iter().map(|g| g.dtype(first)).collect();
    let parameters = head.parameters(&leaves, &dtypes);
    let mut about = says::source(home);
    for (leaf, own) in leaves.iter().zip(&head.arguments) {
        about +=
            &format!("//   {own}: {} {}\n", type_of(leaf.dtype), extents_text(leaf, takes, &head));
    }
    for ((own, shape), d) in head.results.iter().zip(shapes.lines()).zip(&dtypes) {
        about += &format!("//   {own}: {} {shape}\n", type_of(*d));
    }
    let extents = head.extents();
    let header = format!(
        "\n{about}size_t {name}_work({extents});\nint {name}({parameters});\n\
         const char *{name}_says(int code);\n"
    );
    let fits = extents::all(&conditions);
    let mut text = format!("\n{about}\n// The extents for which it is.\n");
    text += &format!(
        "static int {name}_fits({extents}) {{\n{}  return {fits}; }}\n",
        unused(&head.letters, &fits)
    );
    let asked = head.letters.join(", ");
    text += &format!(
        "size_t {name}_work({extents}) {{\n  size_t all = 0;\n  if (!{name}_fits({asked})) return \
         all;\n{memory}  return all; }}\n"
    );
    let all: Vec<String> = head.letters.iter().chain(&head.arguments).cloned().collect();
    let begin = match memory.is_empty() {
        true => "  (void)work;\n".to_string(),
        false => format!(
            "  char *left = work;\n  if (!left && {name}_work({asked}) > 0) return APLOMB_WORK;\n"
        ),
    };
    let body = notes.put(&body);
    text += &format!(
        "int {name}({parameters}) {{\n  u64 err[] = {{ ~0ull }};\n  if (!{name}_fits({asked})) \
         return APLOMB_EXTENTS;\n{}{begin}{body}  return told(err, place); }}\n",
        unused(&all, &body)
    );
    let fails = |k: usize| body.contains(&format!("(Bad){{err, {k}, "));
    text += &notes.says(name, &fails, &[]);
    Ok(Files { header, text })
}

/// Whether a name stands in a text, its remarks left out.
fn uses(text: &str, name: &str) -> bool {
    let code = text.lines().filter_map(|line| line.split("//").next());
    let mut words = code.flat_map(|l| l.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    words.any(|word| word == name)
}

/// A body whose tables are made anew in each call where their numbers follow from extents.
pub fn with_tables(body: &str, letters: &[String]) -> String {
    const TABLE: &str = "  static const ";
    let mut parts = body.split(TABLE);
    let mut out: String = parts.next().into_iter().collect();
    for part in parts {
        let table = part.split_once("};").map_or(part, |p| p.0);
        let open = letters.iter().any(|l| uses(table, l));
        out += if open { "  const " } else { TABLE };
        out += part;
    }
    out
}

/// The lines that say of parameters that a text has no use for them.
pub fn unused(names: &[String], text: &str) -> String {
    names.iter().filter(|n| !uses(text, n)).map(|n| format!("  (void){n};\n")).collect()
}

pub fn extents_text(leaf: &Leaf, takes: &crate::Declaration, head: &Head) -> String {
    let free = takes.free();
    let of = |e: &Extent| match e {
        Extent::Fixed(n) => n.to_string(),
        Extent::Free(l) => {
            free.iter().zip(&head.letters).filter(|f| f.0 == l).map(|f| f.1.as_str()).collect()
        }
    };
    shape_text(leaf.extents.iter().map(of))
}

pub fn shape_text(extents: impl Iterator<Item = String>) -> String {
    extents.map(|e| format!("[{e}]")).collect()
}

/// A function at one of its sizes, numbers marked.
struct Written {
    conditions: String,
    memory: String,
    body: String,
    shapes: String,
}

/// The most items of an array that stands in the program.
const MOST_ITEMS: usize = 1_000;

impl Written {
    fn of(planned: &Planned, head: &Head, leaves: &[&Leaf]) -> Result<Written> {
        let plan = &planned.plan;
        let mut w = Written {
            conditions: extents::of_plan(planned),
            memory: String::new(),
            body: String::new(),
            shapes: String::new(),
        };
        let mut buffers = w.inputs(planned, head, leaves)?;
        for (given, own) in planned.results.iter().zip(&head.results) {
            if let Given::Buffer(b) = given {
                buffers.entry(*b).or_insert_with(|| own.clone());
            }
            let shape = given.shape(plan);
            w.shapes += &shape_text(shape.iter().map(|n| fit::whole(*n as i64)));
            w.shapes += "\n";
        }
        for (k, buffer) in plan.buffers.iter().enumerate() {
            let at = BufId(k as u32);
            if matches!(buffer.from, From::Launch(_)) && !buffers.contains_key(&at) {
                let own = format!("b{k}_");
                let extents = buffer.shape.iter().map(|n| fit::whole(*n as i64));
                let items: Vec<String> = extents.collect();
                let items = if items.is_empty() { "1".into() } else { items.join(" * ") };
                w.take(type_of(buffer.dtype), &own, &items);
                buffers.insert(at, own);
            }
        }
        let mut sites: Vec<u32> = plan.launches.iter().flat_map(|l| l.sites()).collect();
        sites.sort_unstable();
        sites.dedup();
        for (k, launch) in plan.launches.iter().enumerate() {
            let code =
                kir::in_order(plan, launch, k, &sites).map_err(|e| planned.refused(launch, &e))?;
            w.launch(&code, k, &buffers)?;
        }
        w.copies(planned, head, &buffers);
        Ok(w)
    }

    /// Memory of so many items, from the caller's.
    fn take(&mut self, of: &str, name: &str, items: &str) {
        let bytes = format!("(size_t)({items}) * sizeof({of})");
        self.memory += &format!("  all += ({bytes} + 63) / 64 * 64;\n");
        self.body += &format!("  {of} *{name} = taken(&left, {bytes});\n");
    }

    /// The arguments, and the arrays that the program holds.
    fn inputs(
        &mut self,
        planned: &Planned,
        head: &Head,
        leaves: &[&Leaf],
    ) -> Result<BTreeMap<BufId, String>> {
        let mut out = BTreeMap::new();
        for (k, input) in inputs_of(&planned.plan) {
            let leaf = planned.leaves.iter().position(|l| *l == Some(input as usize));
            let own = match leaf {
                Some(at) if leaves[at].extents.is_empty() => format!("&{}", head.arguments[at]),
                Some(at) => head.arguments[at].clone(),
                None => {
                    let array = &planned.inputs[input as usize];
                    let name = format!("b{k}_");
                    self.body += &held(planned, array, &name)?;
                    name
                }
            };
            out.insert(BufId(k as u32), own);
        }
        Ok(out)
    }

    fn launch(&mut self, code: &Code, k: usize, buffers: &BTreeMap<BufId, String>) -> Result<()> {
        let [kernel] = &code.kernels[..] else { return Err(bug!("a launch of several kernels")) };
        for (name, of, items) in scratch(code)? {
            self.take(of.cuda(), &format!("{name}{k}_"), &items);
        }
        self.body += &says::mark(k);
        self.body += "  {\n";
        let mut numbers: BTreeMap<&str, String> = BTreeMap::new();
        for p in &kernel.params {
            let of = |b: u32| buffers.get(&BufId(b)).ok_or_else(|| bug!("no buffer {b}"));
            match &p.what {
                ParamKind::In(t, b) => {
                    self.body +=
                        &format!("    const {} *restrict {} = {};\n", t.cuda(), p.name, of(*b)?);
                }
                ParamKind::Out(t, b) => {
                    self.body += &format!("    {} *restrict {} = {};\n", t.cuda(), p.name, of(*b)?);
                }
                ParamKind::Scratch(_) if p.name == "err" => {}
                ParamKind::Scratch(t) => {
                    let name = &p.name;
                    self.body += &format!("    {} *restrict {name} = {name}{k}_;\n", t.cuda());
                }
                ParamKind::Number(t, x) => {
                    let text = match t {
                        Type::F64 | Type::F32 => fit::number(*x),
                        Type::U64 | Type::U32 => format!("({}){}", t.cuda(), fit::whole(*x as i64)),
                        _ => fit::whole(*x as i64),
                    };
                    numbers.insert(&p.name, text);
                }
                ParamKind::Launch(_) => return Err(bug!("a launch's number in C")),
            }
        }
        for (line, node) in kir::lines(kernel) {
            let text = replaced(&line, &numbers).replace("Bad{", "(Bad){");
            let node = node.map(|n| format!("  // n{n}")).into_iter().collect::<String>();
            self.body += &format!("  {text}{node}\n");
        }
        self.body += "  }\n";
        Ok(())
    }

    /// Results that are no buffer's own: an argument, a number, the same as another.
    fn copies(&mut self, planned: &Planned, head: &Head, buffers: &BTreeMap<BufId, String>) {
        let plan = &planned.plan;
        for (given, own) in planned.results.iter().zip(&head.results) {
            let from = match given {
                Given::Buffer(b) if buffers.get(b) == Some(own) => continue,
                Given::Buffer(b) => buffers.get(b),
                Given::Input(k) => {
                    let at = plan.buffers.iter().position(|b| b.from == From::Input(*k as u32));
                    at.and_then(|at| buffers.get(&BufId(at as u32)))
                }
                Given::Number(x) => {
                    self.body += &format!("  {own}[0] = {};\n", fit::number(*x));
                    continue;
                }
            };
            let n = fit::whole(elements(given.shape(plan)) as i64);
            if let Some(from) = from {
                self.body += &format!("  for (i64 i = 0; i < {n}; i++) {own}[i] = ({from})[i];\n");
            }
        }
    }
}

/// The memory that a launch's kernels share: names, types, and how many items, marked.
pub fn scratch(code: &Code) -> Result<Vec<(&str, Type, String)>> {
    let of = |s: &Scratch| {
        let uses = code.kernels.iter().flat_map(|kernel| &kernel.params);
        let types = uses.filter(|p| p.name == s.name).map(|p| &p.what);
        types.into_iter().find_map(|what| match what {
            ParamKind::Scratch(of) => Some(*of),
            _ => None,
        })
    };
    let one = |s| {
        let of: Type = of(s).ok_or_else(|| bug!("memory {} that nothing uses", s.name))?;
        Ok((s.name.as_str(), of, fit::whole((s.bytes / u64::from(of.bytes())) as i64)))
    };
    code.scratch.iter().map(one).collect()
}

/// The buffers that are inputs, each with the input's number.
pub fn inputs_of(plan: &Plan) -> impl Iterator<Item = (usize, u32)> {
    plan.buffers.iter().enumerate().filter_map(|(k, buffer)| match buffer.from {
        From::Input(input) => Some((k, input)),
        From::Launch(_) => None,
    })
}

/// An array of the program as one of C.
pub fn held(planned: &Planned, array: &Array, name: &str) -> Result<String> {
    let n = array.len();
    let refused = |says: &str| planned.home.placed(planned.home.refused(says));
    if n > MOST_ITEMS {
        return Err(refused(&format!(
            "it uses an array of {n} items that the program holds; {MOST_ITEMS} are the most"
        )));
    }
    let Data::Dense(b) = array.data() else {
        return Err(refused("it uses an array that is not simple"));
    };
    let of = array.dtype();
    let item = |x: f64| match of {
        DType::F64 | DType::F32 => fit::number(x),
        _ => fit::whole(x as i64),
    };
    let all: Vec<String> = b.view().each().map(item).collect();
    let rows: Vec<String> = all.chunks(8).map(|row| row.join(", ")).collect();
    let body = if all.is_empty() { "0".into() } else { rows.join(",\n    ") };
    Ok(format!("  static const {} {name}[] = {{\n    {body} }};\n", type_of(of)))
}

/// A line with numbers where it has their names.
fn replaced(line: &str, numbers: &BTreeMap<&str, String>) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let mut out = String::new();
    let mut word = String::new();
    let end = |word: &mut String, out: &mut String| {
        out.push_str(numbers.get(word.as_str()).map_or(word.as_str(), String::as_str));
        word.clear();
    };
    for c in line.chars() {
        if is_word(c) {
            word.push(c);
            continue;
        }
        end(&mut word, &mut out);
        out.push(c);
    }
    end(&mut word, &mut out);
    out
}

//! Functions of Python's array API: `def f(xp, a, b)` for any namespace `xp` that has it.
//!
//! `writer` keeps lines and names, `nodes` says what each kind of node is, `ops` has a row a scalar
//! operation, `reads` says what moves are, `helpers` what the array API lacks. The text is written
//! once at each of the declaration's sizes; `fit` makes one of these.

mod helpers;
mod nodes;
mod ops;
mod reads;
mod value;
mod writer;

use crate::declared::Extent;
use crate::extents::{self, Condition};
use crate::{Declaration, Function, Leaf, fit, names};
use aplomb_ground::error::{Error, bug};
use value::Kind;
use writer::Written;

/// The module of these functions; `from` names the file that they stand in.
pub fn module(functions: &[Function], from: &str) -> Result<String, Error> {
    let mut bodies = String::new();
    for function in functions {
        bodies += "\n\n";
        bodies += &definition(function)?;
    }
    let mut out = format!(
        "\"\"\"Functions of {from}, for any namespace `xp` of the array API standard.\n\n\
         Written by `aplomb export --python`. Numbers are floats of 64 bits, unless they came as\n\
         32, and truth values stay some. Where APL says that a value has no result (1÷0, a place\n\
         that is none) these give what `xp` gives.\n\"\"\"\n"
    );
    for helper in helpers::called_in(&bodies) {
        out += "\n\n";
        out += helper.text;
    }
    Ok(out + &bodies)
}

/// Words that Python keeps to itself, and names that an exported text uses.
const TAKEN: &[&str] = &[
    "False",
    "None",
    "True",
    "abs",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "bool",
    "break",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "len",
    "list",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "range",
    "return",
    "tuple",
    "try",
    "while",
    "with",
    "xp",
    "yield",
    "k",
    "enumerate",
    "hasattr",
    "max",
    "min",
    "slice",
    "zip",
    "ValueError",
    "part",
    "of",
    "cut",
    "block",
];

/// An APL name as one of Python.
fn identifier(name: &str) -> String {
    names::identifier(name, &|name| TAKEN.contains(&name))
}

fn shape_for_people(leaf: &Leaf) -> String {
    let extent = |e: &Extent| match e {
        Extent::Fixed(n) => n.to_string(),
        Extent::Free(name) => name.clone(),
    };
    match &leaf.extents[..] {
        [] => "a scalar".into(),
        all => all.iter().map(extent).collect::<Vec<_>>().join(" × "),
    }
}

fn definition(function: &Function) -> Result<String, Error> {
    let Function { name, takes, samples } = function;
    let sizes = takes.samples();
    let letters = takes.free();
    if samples.len() != sizes.len() {
        return Err(bug!("{} graphs of {} sizes", samples.len(), sizes.len()));
    }
    let parameters = names::parameters(takes, &letters, &|name| TAKEN.contains(&name));
    let Some(home) = samples.first().map(|s| &s.home) else {
        return Err(bug!("a function without a graph"));
    };
    let mut written: Vec<Written> = Vec::new();
    for sample in samples {
        let body = writer::body(sample, takes, &parameters, &letters);
        written.push(body.map_err(|r| {
            let error = home.refused(&r.says);
            home.placed(match &r.place {
                Some(place) => error.at(place),
                None => error,
            })
        })?);
    }
    let settled = |part: fn(&Written) -> &String| {
        let texts: Vec<String> = written.iter().map(|w| part(w).clone()).collect();
        fit::settled(&texts, &sizes, &letters, fit::Style::Python)
            .map_err(|says| home.placed(home.refused(&says)))
    };
    let conditions = extents::open(&settled(|w| &w.conditions)?);
    let body = settled(|w| &w.text)?;
    let source = home.text.replace('\\', "\\\\").replace("\"\"\"", "\\\"\"\"");
    let of = |(leaf, name): (&&Leaf, &String)| {
        format!("    {name}: {}, {}\n", Kind::of(leaf.dtype).name(), shape_for_people(leaf))
    };
    let told: String = takes.leaves().iter().zip(&parameters).map(of).collect();
    let apl: Vec<&str> = source.lines().collect();
    let apl = apl.join("\n    ");
    let told = told + &whole(written.last().map_or(&[], |w| &w.alone[..]));
    let head = format!(
        "def {}(xp, {}):\n    \"\"\"{name}←{apl}\n\n{told}    \"\"\"\n",
        identifier(name),
        parameters.join(", ")
    );
    Ok(head + &shapes(takes, &parameters) + &held(&conditions) + &body)
}

/// The lines that hold the extents to what the body reads.
fn held(conditions: &[Condition]) -> String {
    let line = |own: &Condition| match own.least() {
        // No array has an axis that is shorter than nothing.
        Some((_, ..=0)) => String::new(),
        Some((letter, least)) => {
            let says = format!("{letter} is {{{letter}}}, and must be at least {least}");
            format!("    if {letter} < {least}:\n        raise ValueError(f\"{says}\")\n")
        }
        None => {
            let text = own.text(fit::Style::Python);
            let says = format!("these extents do not fit: {text}");
            format!("    if not ({text}):\n        raise ValueError(\"{says}\")\n")
        }
    };
    conditions.iter().map(line).collect()
}

/// The lines of a docstring about what does not split into blocks; none where all of it does.
fn whole(alone: &[String]) -> String {
    let lines: Vec<String> =
        alone.iter().map(|a| format!("    Does not split into blocks: {a}\n")).collect();
    let gap = if lines.is_empty() { "" } else { "\n" };
    let text = lines.concat().replace('\\', "\\\\").replace("\"\"\"", "\\\"\"\"");
    format!("{gap}{text}")
}

/// The lines that make arrays of the arguments, name free extents and look at all others.
fn shapes(takes: &Declaration, parameters: &[String]) -> String {
    let mut out = String::new();
    let mut known: Vec<&str> = Vec::new();
    for (leaf, name) in takes.leaves().into_iter().zip(parameters) {
        let kind = Kind::of(leaf.dtype).name();
        out += &format!("    {name} = xp.asarray({name}, dtype=xp.{kind})\n");
        let mut wanted = Vec::new();
        for (axis, extent) in leaf.extents.iter().enumerate() {
            wanted.push(match extent {
                Extent::Fixed(n) => n.to_string(),
                Extent::Free(letter) => {
                    if !known.contains(&letter.as_str()) {
                        known.push(letter);
                        out += &format!("    {letter} = {name}.shape[{axis}]\n");
                    }
                    letter.clone()
                }
            });
        }
        let comma = if wanted.len() == 1 { "," } else { "" };
        out += &format!("    _shaped(\"{name}\", {name}, ({}{comma}))\n", wanted.join(", "));
    }
    out
}

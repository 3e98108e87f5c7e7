//! The cases of functions that are exported to C and to CUDA: each row at a few sizes, as a call in
//! the language and as what the interpreter gives; and the comparison of the two.

use crate::export::{Row, refuses, run};
use crate::support::session;
use aplomb_export::{Argument, Declaration, Function, Leaf, Planned};
use aplomb_ground::error::Error;
use aplomb_kernel::session::Session;
use aplomb_plans::plan::Kind;
use aplomb_values::array::{DType, Data};

pub fn planned(session: &mut Session, row: &Row) -> Result<Function<Planned>, Error> {
    let takes = Declaration::parse(&row.takes)?;
    let samples = takes.samples();
    let samples = samples.iter().map(|s| session.planned(&row.name, &takes, s));
    let samples = samples.collect::<Result<_, Error>>()?;
    Ok(Function { name: row.name.clone(), takes, samples })
}

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
    let numbers = |a: &aplomb_values::array::Array| {
        a.to_numbers(&aplomb_ground::limits::Budget::new(u64::MAX)).expect("room").expect("numbers")
    };
    Some(match value.data() {
        Data::Items(items) if function.samples[0].results.len() > 1 => {
            items.iter().map(|a| numbers(&a)).collect()
        }
        Data::Items(_) => vec![numbers(&session.value_of(&format!("↑{line}")).ok()??)],
        _ => vec![numbers(&value)],
    })
}

/// A call of a function, and what the interpreter gives for it.
pub struct Case {
    pub what: String,
    pub wanted: Option<Vec<Vec<f64>>>,
    /// Something is folded in it.
    pub folds: bool,
    /// The least of the extents.
    least: usize,
}

/// The way in which rows go to a language.
pub struct Language<'a> {
    /// The reason why a row is none in it.
    pub why_not: fn(&Row) -> Option<String>,
    /// Writes one function. Errors: why there is no text.
    pub write: &'a dyn Fn(&Function<Planned>) -> Result<(), Error>,
    /// Sizes of the free extents, up to three.
    pub sizes: &'a [[usize; 3]],
    /// A call at sizes with the items of each argument; the lengths of the results.
    pub call: &'a dyn Fn(&Function<Planned>, &[usize], &[String], &[usize]) -> String,
}

/// Functions, calls and cases, each of the calls with its case.
pub struct Cases {
    pub functions: Vec<Function<Planned>>,
    pub calls: Vec<String>,
    pub cases: Vec<Case>,
}

/// The most items of an argument.
const MOST: usize = 100_000;

/// The rows that can be exported, at all sizes; the others are held to their reasons.
pub fn cases(rows: &[Row], language: &Language<'_>) -> Cases {
    let mut all = Cases { functions: Vec::new(), calls: Vec::new(), cases: Vec::new() };
    let mut wrong = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        let mut session = session();
        run(&mut session, &row.code);
        let made = planned(&mut session, row);
        let made = made.and_then(|f| (language.write)(&f).map(|()| f));
        let mut function = match (made, (language.why_not)(row)) {
            (Ok(function), None) => function,
            (Err(error), Some(why)) if refuses(&error, &why) => continue,
            (Err(error), _) => {
                wrong.push(format!("{} {}: {error}", row.code, row.takes));
                continue;
            }
            (Ok(_), Some(why)) => {
                wrong.push(format!("{} {}: is exported, not “{why}”", row.code, row.takes));
                continue;
            }
        };
        let (takes, free) = (function.takes.clone(), function.takes.free().len());
        let folds = function.samples[0].plan.launches.iter().any(|l| l.kind != Kind::Map);
        let mut sizes: Vec<&[usize]> = language.sizes.iter().map(|s| &s[..free]).collect();
        sizes.dedup();
        function.name = format!("f{k}");
        let leaves = takes.leaves();
        let items = |s: &[usize], leaf: &Leaf| takes.shape(leaf, s).iter().product::<usize>();
        sizes.retain(|s| leaves.iter().all(|leaf| items(s, leaf) <= MOST));
        for sizes in sizes {
            let items: Vec<(String, String)> = leaves
                .iter()
                .enumerate()
                .map(|(j, leaf)| argument(&takes, leaf, sizes, j + 1))
                .collect();
            let mut apl = items.iter().map(|a| a.0.clone());
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
            let items: Vec<String> = items.into_iter().map(|a| a.1).collect();
            all.calls.push((language.call)(&function, sizes, &items, &lengths));
            let last = row.code.lines().last().unwrap_or_default();
            let what = format!("{last} {} at {sizes:?}", row.takes);
            let least = sizes.iter().copied().min().unwrap_or(usize::MAX);
            all.cases.push(Case { what, wanted, folds, least });
        }
        all.functions.push(function);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    all
}

/// Holds what a program said, a line a case, to the cases: a code, then the bits of the results.
/// `apart` says of two numbers and the greatest of all whether they differ.
pub fn compare(cases: &[Case], said: &str, apart: &dyn Fn(&Case, f64, f64, f64) -> bool) {
    let lines: Vec<&str> = said.lines().skip(1).collect();
    assert_eq!(lines.len(), cases.len());
    let (mut wrong, mut refused) = (Vec::new(), 0);
    for (case, line) in cases.iter().zip(lines) {
        let mut words = line.split(' ');
        let code: i32 = words.next().and_then(|w| w.parse().ok()).expect("a code");
        let bits = words.map(|w| u64::from_str_radix(w, 16).expect("bits"));
        let found: Vec<f64> = bits.map(f64::from_bits).collect();
        let what = &case.what;
        match &case.wanted {
            // Where the text is for larger extents it says so.
            _ if code == 1 && case.least < 24 => refused += 1,
            // Of empty arrays some functions have no result that their graphs have, and a window
            // larger than its array is refused by the interpreter alone.
            None if code != 0 || case.least == 0 || what.contains('⌺') => {}
            None => wrong.push(format!("{what}: the interpreter gives an error")),
            Some(_) if code != 0 => wrong.push(format!("{what}: code {code}")),
            Some(all) => {
                let all: Vec<f64> = all.iter().flatten().copied().collect();
                let most = all.iter().fold(1.0f64, |m, x| m.max(x.abs()));
                let at = all.iter().zip(&found).position(|(x, y)| apart(case, *x, *y, most));
                if all.len() != found.len() || at.is_some() {
                    let shown = at.map(|k| (all[k], found[k]));
                    wrong.push(format!("{what}: {shown:?} at {at:?}, {} items", found.len()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Few functions are for large extents alone.
    assert!(refused * 4 < cases.len(), "{refused} of {} are for larger extents", cases.len());
}

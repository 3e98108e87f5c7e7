//! The conditions on extents: a text that was made at some sizes is for those at which no read
//! leaves its array.
//!
//! What a read tests by itself needs no condition; a range follows from the extents of its loop by
//! interval arithmetic, as `Ix::range` has it for numbers.

use crate::Planned;
use crate::fit::whole;
use aplomb_plans::plan::{BufId, Launch, Load, Plan, Step, What};
use aplomb_values::dag::ix::{Atom, Ix};
use aplomb_values::dag::{Along, Test};

/// The conditions of a function as expressions in C, their numbers marked, a line each.
pub fn conditions(planned: &Planned) -> String {
    let Planned { plan, trace, .. } = planned;
    let mut out: Vec<String> = Vec::new();
    // Equal numbers at one size are not one number: equal lines go when they have none.
    let mut add = |text: String| out.push(text);
    // Of all values, those that are nowhere in memory among them.
    for n in trace.nodes.iter().flat_map(|node| &node.shape) {
        add(format!("{} >= 0", whole(*n as i64)));
    }
    for launch in &plan.launches {
        let outer = launch.outer();
        for (steps, extents) in [(&launch.body, &launch.domain), (&launch.after, &outer)] {
            for (load, along) in steps.iter().filter_map(|step| read(launch, step)) {
                of_load(plan, load, along, extents).into_iter().for_each(|own| {
                    let all = empty(extents).into_iter().chain([own]);
                    add(all.collect::<Vec<_>>().join(OR));
                });
            }
        }
    }
    out.join("\n")
}

const OR: &str = " || ";

/// The conditions that are left where numbers have no marks any more: what numbers alone tell
/// goes.
pub fn open(lines: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in lines.lines() {
        let parts: Vec<&str> = line.split(OR).collect();
        if parts.iter().any(|p| told(p) == Some(true)) {
            continue;
        }
        let left: Vec<&str> = parts.into_iter().filter(|p| told(p).is_none()).collect();
        let text = if left.is_empty() { "0".to_string() } else { left.join(OR) };
        if !out.contains(&text) {
            out.push(text);
        }
    }
    out
}

/// All conditions as one expression.
pub fn all(conditions: &[String]) -> String {
    let guarded = |c: &String| if c.contains(OR) { format!("({c})") } else { c.clone() };
    match conditions {
        [] => "1".into(),
        all => all.iter().map(guarded).collect::<Vec<_>>().join("\n    && "),
    }
}

/// Whether a comparison holds, of two numbers, or of an expression with itself.
fn told(part: &str) -> Option<bool> {
    let words: Vec<&str> = part.split(' ').collect();
    let at = words.iter().position(|w| ["==", "<", ">", ">="].contains(w))?;
    let (x, y) = (words[..at].join(" "), words[at + 1..].join(" "));
    if words[at] == "<" && x.strip_suffix(" - 1)").and_then(|x| x.strip_prefix('(')) == Some(&y) {
        return Some(true);
    }
    let (x, y): (i64, i64) = (x.parse().ok()?, y.parse().ok()?);
    Some(match words[at] {
        "==" => x == y,
        "<" => x < y,
        ">" => x > y,
        _ => x >= y,
    })
}

fn read<'a>(launch: &'a Launch, step: &'a Step) -> Option<(&'a Load, &'a [Along])> {
    let load = launch.loads.get(step.what.load()? as usize)?;
    match &step.what {
        What::Gather { along, .. } => Some((load, along)),
        _ => Some((load, &[])),
    }
}

/// The conditions under which a loop has no points.
fn empty(extents: &[usize]) -> Vec<String> {
    extents.iter().map(|n| format!("{} == 0", whole(*n as i64))).collect()
}

fn of_load(plan: &Plan, load: &Load, along: &[Along], extents: &[usize]) -> Vec<String> {
    let shape = &plan.buffer(BufId(load.buf.0)).shape;
    if load.read.is_anywhere() {
        return Vec::new();
    }
    let bounds = bounds(&load.read.tests, extents);
    let mut out = Vec::new();
    for (axis, (ix, n)) in load.read.ix.iter().zip(shape).enumerate() {
        let moved = along.iter().find(|a| a.axis as usize == axis);
        // A test of the same index, but for a number, tells its range.
        let tested = load.read.tests.iter().find(|t| t.ix.terms == ix.terms);
        let (low, high) = match tested {
            Some(t) => {
                let by = ix.c - t.ix.c;
                (whole(t.lo + by), whole(t.hi + by - 1))
            }
            None => range(ix, &bounds),
        };
        let high = match moved {
            Some(a) if a.times >= 0 => {
                format!("{high} + {} * {}", whole(a.times), whole(a.extent as i64 - 1))
            }
            _ => high,
        };
        // A number that is not below 0 needs no condition.
        if low != whole(0) {
            out.push(format!("{low} >= 0"));
        }
        out.push(format!("{high} < {}", whole(*n as i64)));
        divisors(ix, &mut out);
    }
    load.read.tests.iter().for_each(|t| divisors(&t.ix, &mut out));
    out
}

/// That nothing is divided by 0.
fn divisors(ix: &Ix, out: &mut Vec<String>) {
    for (_, atom) in &ix.terms {
        match atom {
            Atom::Axis(_) => {}
            Atom::Div(x, d) | Atom::Mod(x, d) => {
                out.push(format!("{} > 0", whole(*d)));
                divisors(x, out);
            }
            Atom::Clamp(x, ..) => divisors(x, out),
        }
    }
}

/// The first and the last place on each axis of a loop where all tests of the axis itself hold, or
/// more: of two bounds one is enough.
fn bounds(tests: &[Test], extents: &[usize]) -> Vec<(i64, i64)> {
    let mut out: Vec<(i64, i64)> = extents.iter().map(|n| (0, *n as i64 - 1)).collect();
    for t in tests {
        let (low, high) = (t.lo - t.ix.c, t.hi - 1 - t.ix.c);
        let (axis, low, high) = match t.ix.terms.as_slice() {
            [(1, Atom::Axis(k))] => (*k, low, high),
            [(-1, Atom::Axis(k))] => (*k, -high, -low),
            _ => continue,
        };
        if let Some(own) = out.get_mut(axis as usize) {
            *own = (own.0.max(low), own.1.min(high));
        }
    }
    out
}

/// The least and the greatest value of an index between bounds of the loop's axes.
fn range(ix: &Ix, extents: &[(i64, i64)]) -> (String, String) {
    let (mut low, mut high) = (vec![whole(ix.c)], vec![whole(ix.c)]);
    if ix.c == 0 && !ix.terms.is_empty() {
        low.clear();
        high.clear();
    }
    for (k, atom) in &ix.terms {
        let (a, b) = of_atom(atom, extents);
        let times = |x: &str| match (*k, x == whole(0)) {
            (1, _) | (_, true) => x.to_string(),
            (-1, _) => format!("-({x})"),
            (k, _) => format!("{} * ({x})", whole(k)),
        };
        let (a, b) = if *k >= 0 { (times(&a), times(&b)) } else { (times(&b), times(&a)) };
        if a != whole(0) {
            low.push(a);
        }
        if b != whole(0) {
            high.push(b);
        }
    }
    let sum = |all: Vec<String>| match &all[..] {
        [] => whole(0),
        [one] => one.clone(),
        all => format!("({})", all.join(" + ")),
    };
    (sum(low), sum(high))
}

fn of_atom(atom: &Atom, extents: &[(i64, i64)]) -> (String, String) {
    match atom {
        Atom::Axis(k) => {
            let (first, last) = extents.get(*k as usize).map_or((0, 0), |own| *own);
            (whole(first), whole(last))
        }
        Atom::Div(x, d) => {
            let (a, b) = range(x, extents);
            let by = |x: String| format!("div_floor({x}, {})", whole(*d));
            (by(a), by(b))
        }
        Atom::Mod(_, d) => (whole(0), whole(d - 1)),
        Atom::Clamp(_, low, high) => (whole(*low), whole(*high)),
    }
}

//! The conditions on extents: a text that was made at some sizes is for those at which no read
//! leaves its array. C and CUDA have those of a plan's loads, Python those of a graph's moves.
//!
//! What a read tests by itself needs no condition; a range follows from the extents of its loop by
//! interval arithmetic, as `Ix::range` has it for numbers.

use crate::Planned;
use crate::fit::{Style, whole};
use crate::polynomial::Polynomial;
use aplomb_plans::plan::{BufId, Finish, Launch, Load, Step, What};
use aplomb_values::dag::ix::{Atom, Ix};
use aplomb_values::dag::{Along, Read, Test, Whole};
use std::collections::BTreeMap;

/// The conditions of a function in C, their numbers marked, a line each.
pub fn of_plan(planned: &Planned) -> String {
    let Planned { plan, trace, .. } = planned;
    let mut out: Vec<String> = Vec::new();
    // Equal numbers at one size are not one number: equal lines go when they have none. Of all
    // values, those that are nowhere in memory among them.
    out.extend(trace.nodes.iter().flat_map(|node| of_shape(&node.shape)));
    for launch in &plan.launches {
        let outer = launch.outer();
        for (steps, extents) in [(&launch.body, &launch.domain), (&launch.after, &outer)] {
            for (load, along) in steps.iter().filter_map(|step| read(launch, step)) {
                let shape = &plan.buffer(BufId(load.buf.0)).shape;
                out.extend(of_read(&load.read, shape, along, extents));
            }
        }
        out.extend(launch.finish.iter().flat_map(|finish| of_order(planned, launch, finish)));
    }
    out.join("\n")
}

/// The conditions that an order has the places that are wanted of it, `(⍋X)[5]`.
fn of_order(planned: &Planned, launch: &Launch, finish: &Finish) -> Vec<String> {
    let Whole::Lib { first, .. } = &finish.what else { return Vec::new() };
    let held = launch.held(finish, 0).ok().map(|buf| &planned.plan.buffer(buf).shape);
    let all = held.and_then(|shape| finish.what.ordered(shape));
    let (Some(all), Some(own)) = (all, finish.shape.last()) else { return Vec::new() };
    let (first, own) = (*first as i64, *own as i64);
    let last = whole(first + own - 1);
    vec![format!("{} >= 0", whole(first)), format!("{last} < {}", whole(all as i64))]
}

/// The conditions that no axis is shorter than nothing.
pub fn of_shape(shape: &[usize]) -> Vec<String> {
    shape.iter().map(|n| format!("{} >= 0", whole(*n as i64))).collect()
}

/// The conditions that a read of an array of a shape stays inside of it, or its loop has no points.
pub fn of_read(read: &Read, shape: &[usize], along: &[Along], extents: &[usize]) -> Vec<String> {
    let empty: Vec<String> = extents.iter().map(|n| format!("{} == 0", whole(*n as i64))).collect();
    let all = |own| empty.iter().cloned().chain([own]).collect::<Vec<_>>().join(OR);
    inside(read, shape, along, extents).into_iter().map(all).collect()
}

const OR: &str = " || ";

/// A condition: one of its comparisons holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition(Vec<String>);

impl Condition {
    /// The condition in a language.
    pub fn text(&self, style: Style) -> String {
        match style {
            Style::C => self.0.join(OR),
            Style::Python => self.0.join(" or ").replace("div_floor(", "_div_floor("),
        }
    }

    /// The test whether it holds for all extents from these on.
    fn follows(&self, bounds: &BTreeMap<String, i64>) -> bool {
        let mut from = bounds.clone();
        let all: Vec<Comparison> = self.0.iter().filter_map(|p| comparison(p)).collect();
        // Where the loop has points, an extent is one more than where it has none.
        for none in all.iter().filter(|c| c.by == "==") {
            if let Some((letter, 1, more)) = none.difference.linear() {
                let least = from.entry(letter).or_insert(0);
                *least = if *least == -more { 1 - more } else { *least };
            }
        }
        let holds = |c: &Comparison| {
            let difference = c.difference.shifted(&from)?;
            Comparison { difference, by: c.by }.told()
        };
        all.iter().any(|c| holds(c) == Some(true))
    }

    /// The letter that it bounds from below, and the least that it may be, if it is no more.
    pub fn least(&self) -> Option<(String, i64)> {
        match &self.0[..] {
            [one] => comparison(one)?.least(),
            _ => None,
        }
    }
}

/// The conditions that are left where numbers have no marks any more: what the numbers tell goes,
/// for extents from 0 on, and so does what another condition has in it.
pub fn open(lines: &str) -> Vec<Condition> {
    let mut out: Vec<Condition> = Vec::new();
    for line in lines.lines() {
        let parts: Vec<&str> = line.split(OR).collect();
        // That of an extent alone stays: C is called with any number.
        let alone = Condition(vec![line.into()]);
        if alone.least().is_some_and(|(_, least)| least >= 0) {
            out.push(alone);
            continue;
        }
        if parts.iter().any(|p| told(p) == Some(true)) {
            continue;
        }
        let left = parts.into_iter().filter(|p| told(p).is_none()).map(String::from);
        let mut left: Vec<String> = left.collect();
        if left.is_empty() {
            left.push("0".into());
        }
        let own = Condition(left);
        if !out.contains(&own) {
            out.push(own);
        }
    }
    let mut bounds: BTreeMap<String, i64> = BTreeMap::new();
    for (letter, least) in out.iter().filter_map(Condition::least) {
        let own = bounds.entry(letter).or_insert(0);
        *own = (*own).max(least);
    }
    let mut seen: Vec<(String, i64)> = Vec::new();
    out.retain(|own| match own.least() {
        Some(least) => {
            let stays = bounds.get(&least.0) == Some(&least.1) && !seen.contains(&least);
            seen.push(least);
            stays
        }
        None => !own.follows(&bounds),
    });
    out
}

/// All conditions as one expression of C.
pub fn all(conditions: &[Condition]) -> String {
    let guarded = |c: &Condition| match c.0.len() {
        1 => c.text(Style::C),
        _ => format!("({})", c.text(Style::C)),
    };
    match conditions {
        [] => "1".into(),
        all => all.iter().map(guarded).collect::<Vec<_>>().join("\n    && "),
    }
}

/// A difference of two expressions, and how it is compared with 0.
struct Comparison<'a> {
    difference: Polynomial,
    by: &'a str,
}

impl Comparison<'_> {
    /// The test whether it holds for all extents from 0 on, or for none.
    fn told(&self) -> Option<bool> {
        let Comparison { difference, by } = self;
        let (low, high) = (difference.at_least(), difference.negated().at_least().map(|x| -x));
        let from = |low: Option<i64>, high: Option<i64>, least: i64| match (low, high) {
            (Some(low), _) if low >= least => Some(true),
            (_, Some(high)) if high < least => Some(false),
            _ => None,
        };
        match *by {
            ">=" => from(low, high, 0),
            ">" => from(low, high, 1),
            "<" => from(low, high, 0).map(|holds| !holds),
            _ if low == Some(0) && high == Some(0) => Some(true),
            _ if low > Some(0) || high.is_some_and(|high| high < 0) => Some(false),
            _ => None,
        }
    }

    fn least(&self) -> Option<(String, i64)> {
        let (difference, below) = match self.by {
            ">=" => (self.difference.clone(), 0),
            ">" => (self.difference.clone(), 1),
            "<" => (self.difference.negated(), 1),
            _ => return None,
        };
        let (letter, times, more) = difference.linear()?;
        (times > 0).then(|| (letter, -(more - below).div_euclid(times)))
    }
}

fn comparison(part: &str) -> Option<Comparison<'_>> {
    let words: Vec<&str> = part.split(' ').collect();
    let at = words.iter().position(|w| ["==", "<", ">", ">="].contains(w))?;
    let side = |words: &[&str]| Polynomial::parse(&words.join(" "));
    let difference = side(&words[..at])?.less(&side(&words[at + 1..])?)?;
    Some(Comparison { difference, by: words[at] })
}

fn told(part: &str) -> Option<bool> {
    comparison(part)?.told()
}

fn read<'a>(launch: &'a Launch, step: &'a Step) -> Option<(&'a Load, &'a [Along])> {
    let load = launch.loads.get(step.what.load()? as usize)?;
    match &step.what {
        What::Gather { along, .. } => Some((load, along)),
        _ => Some((load, &[])),
    }
}

fn inside(read: &Read, shape: &[usize], along: &[Along], extents: &[usize]) -> Vec<String> {
    if read.is_anywhere() {
        return Vec::new();
    }
    let bounds = bounds(&read.tests, extents);
    let mut out = Vec::new();
    // Before what divides by them.
    read.ix.iter().chain(read.tests.iter().map(|t| &t.ix)).for_each(|ix| divisors(ix, &mut out));
    for (axis, (ix, n)) in read.ix.iter().zip(shape).enumerate() {
        let moved = along.iter().find(|a| a.axis as usize == axis);
        // A test of the same index, but for a number, tells its range.
        let tested = read.tests.iter().find(|t| t.ix.terms == ix.terms);
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
    }
    out
}

/// The conditions that nothing is divided by 0.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &str) -> String {
        open(lines).iter().map(|c| c.text(Style::Python)).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn what_numbers_and_other_conditions_tell_goes() {
        assert_eq!(told("5 >= 0\n(n - 6) >= 0\n(n - 3) >= 0\nn >= 0"), "(n - 6) >= 0");
        assert_eq!(told("n == 0 || (n - 1) >= 0\nn == 0 || (n - 1) < n"), "");
        assert_eq!(told("(n - 6) >= 0\n(n - 6) == 0 || (n - 7) >= 0"), "(n - 6) >= 0");
        assert_eq!(told("m == 0 || 4 < (2 * n)"), "m == 0 or 4 < (2 * n)");
        assert_eq!(told("2 < 1\ndiv_floor(n, 2) >= 1"), "0; _div_floor(n, 2) >= 1");
        assert_eq!(told("n >= 0\n(n + 1) >= 0\n0 < n * m"), "n >= 0; 0 < n * m");
        let least = |line: &str| open(line).first().and_then(Condition::least);
        assert_eq!(least("4 < (2 * n)"), Some(("n".into(), 3)));
        assert_eq!(least("(n - 6) >= 0"), Some(("n".into(), 6)));
    }
}

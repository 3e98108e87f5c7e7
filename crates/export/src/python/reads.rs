//! Reads in Python: slices, flips, rolls and new axes where a read is made of them; a reshape where
//! the order of items stays; else places are computed.

use super::value::{Kind, Value};
use super::writer::{Refused, Writer};
use crate::{extents, fit};
use aplomb_values::dag::ix::{Atom, Ix, linear};
use aplomb_values::dag::{Along, Read};

/// Extents as a tuple.
pub fn tuple(shape: &[usize]) -> String {
    let all: Vec<String> = shape.iter().map(|n| fit::whole(*n as i64)).collect();
    match &all[..] {
        [one] => format!("({one},)"),
        _ => format!("({})", all.join(", ")),
    }
}

/// The way in which an axis of the source is read.
enum Axis {
    /// One place: the axis goes.
    At(i64),
    /// Places in even steps from the first on, backwards where the step is negative.
    Steps { of: usize, from: i64, step: i64 },
    /// All places, moved round by so many.
    Roll { of: usize, by: i64 },
    /// Places that an expression tells.
    Places { of: usize, text: String },
}

/// The only axis that an index speaks of. None: there are several; `Some(None)`: there is none.
fn only_axis(ix: &Ix, rank: usize) -> Option<Option<usize>> {
    let mut found = (0..rank).filter(|k| ix.mentions(*k));
    match (found.next(), found.next()) {
        (first, None) => Some(first),
        _ => None,
    }
}

fn axis(ix: &Ix, n: usize, shape: &[usize]) -> Option<Axis> {
    let Some(of) = only_axis(ix, shape.len())? else { return Some(Axis::At(ix.c)) };
    match ix.terms.as_slice() {
        [(step, Atom::Axis(_))] => Some(Axis::Steps { of, from: ix.c, step: *step }),
        [(1, Atom::Mod(inner, m))]
            if ix.c == 0 && *m == n as i64 && shape[of] == n && {
                matches!(inner.terms.as_slice(), [(1, Atom::Axis(_))])
            } =>
        {
            Some(Axis::Roll { of, by: inner.c })
        }
        _ => {
            let all = format!("xp.arange({})", fit::whole(shape[of] as i64));
            Some(Axis::Places { of, text: index(ix, &|_| all.clone()) })
        }
    }
}

/// An index as an expression of whole numbers; `place` names the place along an axis.
fn index(ix: &Ix, place: &dyn Fn(usize) -> String) -> String {
    let mut out = String::new();
    for (k, atom) in &ix.terms {
        let own = match atom {
            Atom::Axis(a) => place(*a as usize),
            Atom::Div(x, d) => format!("({}) // {}", index(x, place), fit::whole(*d)),
            Atom::Mod(x, d) => format!("({}) % {}", index(x, place), fit::whole(*d)),
            Atom::Clamp(x, lo, hi) => {
                let (lo, hi) = (fit::whole(*lo), fit::whole(*hi));
                format!("xp.clip({}, {lo}, {hi})", index(x, place))
            }
        };
        let own = match k {
            1 if ix.terms.len() == 1 && ix.c == 0 => own,
            1 if matches!(atom, Atom::Axis(_)) => own,
            1 => format!("({own})"),
            k => format!("{} * ({own})", fit::whole(*k)),
        };
        out += if out.is_empty() { "" } else { " + " };
        out += &own;
    }
    match (ix.c, out.is_empty()) {
        (0, false) => out,
        (c, true) => fit::whole(c),
        (c, false) => format!("{out} + {}", fit::whole(c)),
    }
}

/// The value at the places of a read; its result has the shape `to`.
pub fn value(
    w: &mut Writer,
    src: &Value,
    from: &[usize],
    read: &Read,
    to: &[usize],
) -> Result<Value, Refused> {
    let src = src.as_array(src.kind);
    w.conditions.extend(extents::of_read(read, from, &[], to));
    if read.tests.is_empty() {
        return Ok(plain(w, &src, from, read, to));
    }
    if let Some(padded) = padded(w, &src, from, read, to) {
        return Ok(padded);
    }
    // Where a test fails nothing is read.
    w.needs_all("each item by a place that is computed");
    let names = w.places(to);
    let place = |k: usize| names[k].clone();
    let mut holds: Vec<(String, f64)> = Vec::new();
    for t in &read.tests {
        let ix = w.local("t", &index(&t.ix, &place));
        let (lo, hi) = (fit::whole(t.lo), fit::whole(t.hi));
        holds.push((w.local("inside", &format!("({lo} <= {ix}) & ({ix} < {hi})")), t.fill));
    }
    let all: Vec<&str> = holds.iter().map(|h| h.0.as_str()).collect();
    let at = index(&linear(&read.ix, from, to), &place);
    let at = w.local("t", &format!("xp.where({}, {at}, 0)", all.join(" & ")));
    let mut out = format!("_at(xp, {}, xp.broadcast_to({at}, {}))", src.text, tuple(to));
    for (holds, fill) in holds.iter().rev() {
        let fill = Value::number(*fill).to(src.kind).text;
        out = format!("xp.where({holds}, {out}, {fill})");
    }
    Ok(Value::atom(out, src.kind))
}

/// A read whose tests leave a box with one fill around it: what is inside, padded.
fn padded(w: &mut Writer, src: &Value, from: &[usize], read: &Read, to: &[usize]) -> Option<Value> {
    let (sides, exact) = read.held(to);
    let fill = read.tests[0].fill;
    let one_fill = read.tests.iter().all(|t| t.fill.to_bits() == fill.to_bits());
    let inner: Vec<usize> = sides.iter().map(|(lo, hi)| (hi - lo).max(0) as usize).collect();
    if !exact || !one_fill || inner.contains(&0) {
        return None;
    }
    let moved: Vec<Ix> =
        sides.iter().enumerate().map(|(k, (lo, _))| Ix::axis(k).offset(*lo)).collect();
    let inside = Read::new(read.ix.iter().map(|ix| ix.substitute(&moved, &inner)));
    w.conditions.extend(extents::of_read(&inside, from, &[], &inner));
    let x = plain(w, src, from, &inside, &inner);
    // The box and what is around it are no shorter than nothing.
    let around = sides.iter().zip(to).flat_map(|((lo, hi), n)| [*lo, hi - lo, *n as i64 - hi]);
    w.conditions.extend(around.map(|n| format!("{} >= 0", fit::whole(n))));
    let side = |(k, (lo, hi)): (usize, &(i64, i64))| {
        format!("({}, {})", fit::whole(*lo), fit::whole(to[k] as i64 - hi))
    };
    let sides: Vec<String> = sides.iter().enumerate().map(side).collect();
    let fill = Value::number(fill).to(src.kind).text;
    Some(Value::atom(format!("_pad(xp, {}, [{}], {fill})", x.text, sides.join(", ")), src.kind))
}

fn plain(w: &mut Writer, src: &Value, from: &[usize], read: &Read, to: &[usize]) -> Value {
    let own: Vec<Ix> = (0..to.len()).map(Ix::axis).collect();
    let items = |shape: &[usize]| shape.iter().product::<usize>();
    if read.is_identity() && from == to {
        return src.clone();
    }
    let axes: Option<Vec<Axis>> =
        read.ix.iter().zip(from).map(|(ix, n)| axis(ix, *n, to)).collect();
    let uses = |k: usize| read.ix.iter().filter(|ix| ix.mentions(k)).count();
    match axes {
        Some(axes) if (0..to.len()).all(|k| uses(k) <= 1) => by_axes(w, src, from, &axes, to),
        _ if items(from) == items(to) && linear(&read.ix, from, to) == linear(&own, to, to) => {
            let mut text = src.text.clone();
            if !plain_reshape(from, to) {
                w.needs_all("another shape: items come into other blocks");
                // Blocks are split or joined evenly, by way of a vector.
                if from.len() > 1 && to.len() > 1 {
                    text = format!("xp.reshape({text}, (-1,))");
                }
            }
            Value::atom(format!("xp.reshape({text}, {})", tuple(to)), src.kind)
        }
        _ => {
            w.needs_all("each item by a place that is computed");
            let names = w.places(to);
            let at = index(&linear(&read.ix, from, to), &|k| names[k].clone());
            let at = format!("xp.broadcast_to({at}, {})", tuple(to));
            Value::atom(format!("_at(xp, {}, {at})", src.text), src.kind)
        }
    }
}

/// Whether a reshape only puts in or leaves out axes of one place.
fn plain_reshape(from: &[usize], to: &[usize]) -> bool {
    let long = |shape: &[usize]| shape.iter().copied().filter(|n| *n > 1).collect::<Vec<_>>();
    long(from) == long(to)
}

fn by_axes(w: &mut Writer, src: &Value, from: &[usize], axes: &[Axis], to: &[usize]) -> Value {
    let whole = axes.iter().all(|a| matches!(a, Axis::Steps { .. } | Axis::Roll { .. }));
    let still = |(a, n): (&Axis, &usize)| match a {
        Axis::Steps { of, from: 0, step: 1 } => to[*of] == *n,
        _ => false,
    };
    let moved = !axes.iter().zip(from).all(still);
    let named = src.text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let src = match whole && moved && !named {
        true => Value::atom(w.local("t", &src.text), src.kind),
        false => src.clone(),
    };
    let mut x = src.guarded();
    let mut order = Vec::new();
    // Slices and single places are one index.
    let mut slices = Vec::new();
    let mut flips = Vec::new();
    for (a, n) in axes.iter().zip(from) {
        slices.push(match a {
            Axis::At(c) => {
                w.stays_inside(&[*c, c + 1], *n as i64);
                fit::whole(*c)
            }
            Axis::Steps { of, from, step } => {
                let last = from + step * (to[*of] as i64 - 1);
                let (lo, hi) = (*from.min(&last), *from.max(&last));
                if *step < 0 {
                    flips.push(order.len());
                }
                let every = match step.abs() {
                    1 => String::new(),
                    k => format!(":{}", fit::whole(k)),
                };
                w.stays_inside(&[lo, hi + 1], *n as i64);
                let low = if lo == 0 { String::new() } else { fit::whole(lo) };
                let high = if hi + 1 == *n as i64 { String::new() } else { fit::whole(hi + 1) };
                format!("{low}:{high}{every}")
            }
            Axis::Roll { .. } | Axis::Places { .. } => ":".into(),
        });
        match a {
            Axis::At(_) => {}
            Axis::Steps { of, .. } | Axis::Roll { of, .. } | Axis::Places { of, .. } => {
                order.push(*of);
            }
        }
    }
    let cut = slices.iter().any(|s| s != ":") || !flips.is_empty();
    if slices.iter().any(|s| s != ":") {
        x = format!("{x}[{}]", slices.join(", "));
    }
    for at in flips {
        x = format!("xp.flip({x}, axis={at})");
    }
    // Parts of one array that are blocks alike: a block takes from its neighbours what it lacks.
    if cut && whole {
        x = format!("_blocks({x}, {})", src.guarded());
    }
    let is_kept = |k: &usize| !matches!(axes[*k], Axis::At(_));
    let kept_axes: Vec<usize> = (0..axes.len()).filter(is_kept).collect();
    for (at, k) in kept_axes.iter().enumerate() {
        match &axes[*k] {
            Axis::Roll { by, .. } => {
                let n = from[*k] as i64;
                let shift = if 2 * by.rem_euclid(n) > n { n - by.rem_euclid(n) } else { -by };
                x = format!("xp.roll({x}, {}, axis={at})", fit::whole(shift));
                if whole {
                    x = format!("_blocks({x}, {})", src.guarded());
                }
            }
            Axis::Places { text, .. } => {
                x = format!("xp.take({x}, {text}, axis={at})");
            }
            Axis::At(_) | Axis::Steps { .. } => {}
        }
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if sorted != order {
        let perm: Vec<String> = sorted
            .iter()
            .flat_map(|k| order.iter().position(|o| o == k))
            .map(|k| k.to_string())
            .collect();
        x = format!("xp.permute_dims({x}, ({}))", perm.join(", "));
    }
    if sorted.len() < to.len() {
        let news: Vec<&str> =
            (0..to.len()).map(|k| if sorted.contains(&k) { ":" } else { "None" }).collect();
        let opened = match sorted.is_empty() {
            true => x,
            false => format!("{x}[{}]", news.join(", ")),
        };
        x = format!("xp.broadcast_to({opened}, {})", tuple(to));
    }
    Value::atom(x, src.kind)
}

/// The value with items at places that other values move: those of `moves` are added, in items of
/// the source.
pub fn gathered(
    w: &mut Writer,
    src: &Value,
    from: &[usize],
    read: &Read,
    (along, moves): (&[Along], &[String]),
    to: &[usize],
) -> Result<Value, Refused> {
    if !read.tests.is_empty() {
        return Err(Refused::new("it reads beyond an edge at places that values tell"));
    }
    w.conditions.extend(extents::of_read(read, from, along, to));
    let names = w.places(to);
    let still = linear(&read.ix, from, to);
    let still = index(&still, &|k| names[k].clone());
    let at = moves.iter().map(String::as_str).chain([still.as_str()]);
    let zero = fit::whole(0);
    let at: Vec<&str> = at.filter(|t| *t != zero).collect();
    let at = if at.is_empty() { zero } else { at.join(" + ") };
    let at = w.local("place", &at);
    let src = src.as_array(src.kind);
    let at = format!("xp.broadcast_to({at}, {})", tuple(to));
    Ok(Value::atom(format!("_at(xp, {}, {at})", src.text), src.kind))
}

/// The value with all items of one kind.
pub fn full(x: &Value, kind: Kind, to: &[usize]) -> Value {
    let x = x.as_array(kind);
    Value::atom(format!("xp.broadcast_to({}, {})", x.text, tuple(to)), kind)
}

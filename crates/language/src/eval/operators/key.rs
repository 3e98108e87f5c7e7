//! `⌸`: a function of each distinct key and what belongs to it.
//!
//! Grouping is one walk with a hash table. The dfns that only count are recognised by their text
//! and never run.

use super::function;
use super::stencil::mixed_results;
use crate::eval::run::Eval;
use crate::eval::value::{Func, Operand};
use crate::functions::cells;
use crate::functions::search::{Groups, groups};
use crate::functions::shape::{Axis, reshaped};
use crate::table::Does;
use aplomb_ground::error::{Result, length};
use aplomb_values::array::{Array, Shape, elements};
use aplomb_values::prim::op::Op;

/// The question of a dfn to a group, where no call is needed.
#[derive(Clone, Copy, PartialEq)]
enum Counts {
    /// `{≢⍵}`
    Only,
    /// `{⍺(≢⍵)}` and `{⍺,≢⍵}`: of simple scalar keys a row.
    WithKey,
    /// `{⍺}`
    Keys,
}

const KNOWN: &[(&str, Counts)] = &[
    ("{≢⍵}", Counts::Only),
    ("{⍴⍵}", Counts::Only),
    ("{⍺(≢⍵)}", Counts::WithKey),
    ("{⍺,≢⍵}", Counts::WithKey),
    ("{⍺}", Counts::Keys),
];

/// A short dfn's text without blanks.
fn short_text(f: &Func) -> Option<String> {
    let Func::Dfn(c) = f else { return None };
    (c.ast.dfn(c.dfn).span.len() <= 16).then(|| c.text().chars().filter(|c| *c != ' ').collect())
}

fn known(f: &Func) -> Option<Counts> {
    let text = short_text(f)?;
    KNOWN.iter().find(|(t, _)| *t == text).map(|(_, counts)| *counts)
}

/// `{+/⍵}` and, with the key beside it, `{⍺,+/⍵}`: the operation that folds each group.
fn folded(f: &Func) -> Option<(Op, bool)> {
    let text = short_text(f)?;
    let body = text.strip_prefix('{')?.strip_suffix("/⍵}")?;
    let (body, keyed) = body.strip_prefix("⍺,").map_or((body, false), |rest| (rest, true));
    let mut glyphs = body.chars();
    let (glyph, None) = (glyphs.next()?, glyphs.next()) else { return None };
    match crate::table::find(glyph)?.dyadic.as_ref()?.does {
        Does::Scalar(op) if op.is_associative() && op.identity().is_some() => Some((op, keyed)),
        _ => None,
    }
}

/// `f⌸Y`: f gets each distinct major cell of Y and its places; `X f⌸Y`: each distinct major cell of
/// X and the cells of Y in its places. Results are mixed, in order of first sight. Errors: LENGTH
/// when X and Y differ in major cells.
pub fn key(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    _: Axis<'_>,
) -> Result<Array> {
    let func = function(&f[0])?.clone();
    let cells_of = |ev: &mut Eval<'_>, a: &Array| -> Result<Array> {
        let a = if a.rank() == 0 { reshaped(&mut ev.cx, a, &[1])? } else { a.clone() };
        ev.cx.ready(&a, "key")
    };
    let values = cells_of(ev, y)?;
    let keys = match x {
        Some(x) => cells_of(ev, x)?,
        None => values.clone(),
    };
    if keys.shape()[0] != values.shape()[0] {
        return Err(length("X and Y of ⌸ need as many major cells"));
    }
    let Groups { firsts, of } = groups(&mut ev.cx, &keys)?;
    let n = firsts.len();
    let what = known(&func)
        .filter(|w| n > 0 && (*w != Counts::WithKey || keys.rank() == 1 && keys.is_uniform()));
    if let Some(what) = what {
        return counted(
            ev,
            &keys,
            &firsts,
            &of,
            what,
            !matches!(&*func, Func::Dfn(c) if c.text().contains('⍴')),
        );
    }
    let fold = x
        .and_then(|_| folded(&func))
        .filter(|f| n > 0 && values.rank() == 1 && (!f.1 || keys.rank() == 1));
    // The members of all groups in one vector, group after group.
    let _held = ev.cx.budget().charge_elements(of.len().saturating_add(n), 24)?;
    let mut ends = ev.cx.budget().filled(0usize, n + 1)?;
    of.iter().for_each(|&g| ends[g as usize + 1] += 1);
    (0..n).for_each(|g| ends[g + 1] += ends[g]);
    let mut next = ends.clone();
    let mut members = ev.cx.budget().filled(0usize, of.len())?;
    for (k, &g) in of.iter().enumerate() {
        members[next[g as usize]] = k;
        next[g as usize] += 1;
    }
    let io = ev.cx.sys.settings.io;
    if let Some((op, keyed)) =
        fold.filter(|f| !f.1 || keys.is_uniform() && keys.is_char() == values.is_char())
    {
        let order = ev.cx.vector(members.iter().map(|&k| k as f64 + io).collect())?;
        let sorted = crate::functions::select::bracket(&mut ev.cx, &values, &[Some(order)])?;
        let parts: Vec<_> = ends.windows(2).map(|w| w[0]..w[1]).collect();
        if let Some(sums) = ev.cx.record_segments(op, &parts, &sorted)? {
            let picks: Vec<_> = firsts.iter().map(|&k| Some(k)).collect();
            return match keyed {
                false => Ok(sums),
                true => {
                    let keys = cells::along(&mut ev.cx, &keys, 0, &picks)?;
                    let columns = [
                        reshaped(&mut ev.cx, &keys, &[n, 1])?,
                        reshaped(&mut ev.cx, &sums, &[n, 1])?,
                    ];
                    cells::join(&mut ev.cx, &columns, 1)
                }
            };
        }
    }
    let mut out = ev.cx.budget().room(n)?;
    ev.warn_one_by_one(n, "key");
    ev.one_by_one(n, |ev| {
        for g in 0..n {
            ev.cx.host.interrupt().check()?;
            let mine = &members[ends[g]..ends[g + 1]];
            let k = cells::major(&ev.cx, &keys, firsts[g])?;
            let v = match x {
                None => ev.cx.vector(mine.iter().map(|&k| k as f64 + io).collect())?,
                Some(_) => {
                    let picks: Vec<_> = mine.iter().map(|&k| Some(k)).collect();
                    cells::along(&mut ev.cx, &values, 0, &picks)?
                }
            };
            out.push(ev.apply(&func, Some(&k), &v)?);
        }
        Ok(())
    })?;
    mixed_results(ev, &[n], out, |ev| {
        let shape: Shape = keys.shape()[1..].into();
        let fill = keys.prototype();
        let k = if elements(&shape) == 0 {
            cells::empty(&ev.cx, &shape, fill)?
        } else {
            crate::functions::shape::fill(&mut ev.cx, &fill, &shape)?
        };
        let v = if x.is_some() { values.clone() } else { ev.cx.vector(vec![])? };
        ev.apply(&func, Some(&k), &v)
    })
}

fn counted(
    ev: &mut Eval<'_>,
    keys: &Array,
    firsts: &[usize],
    of: &[u32],
    what: Counts,
    flat: bool,
) -> Result<Array> {
    let n = firsts.len();
    let picks: Vec<_> = firsts.iter().map(|&k| Some(k)).collect();
    if what == Counts::Keys {
        return cells::along(&mut ev.cx, keys, 0, &picks);
    }
    let mut counts = vec![0.0; n];
    of.iter().for_each(|&g| counts[g as usize] += 1.0);
    let shape: &[usize] = if flat && what == Counts::Only { &[n] } else { &[n, 1] };
    let counts = Array::numbers(shape, counts, ev.cx.budget())?;
    if what == Counts::Only {
        return Ok(counts);
    }
    let keys = cells::along(&mut ev.cx, keys, 0, &picks)?;
    let keys = reshaped(&mut ev.cx, &keys, &[n, 1])?;
    cells::join(&mut ev.cx, &[keys, counts], 1)
}

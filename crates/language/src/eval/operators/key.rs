//! `⌸`: a function of each distinct key and what belongs to it.
//!
//! Grouping is one walk with a hash table. The dfns that only count are recognised by their text
//! and never run.

use super::function;
use super::stencil::mixed_results;
use crate::eval::cx::Cx;
use crate::eval::flattened::{Scattered, Steps};
use crate::eval::run::Eval;
use crate::eval::value::{Func, Operand};
use crate::eval::work::why;
use crate::functions::groups::{Groups, Sizes, firsts_of_groups, gathered, groups, sizes};
use crate::functions::shape::{Axis, reshaped};
use crate::functions::{cells, of_its_type, select};
use aplomb_ground::error::{Result, length};
use aplomb_values::array::{Array, Buf, DType, Ragged, Shape, View, elements, storage};
use aplomb_values::prim::keyed::{self, Keyed};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce;
use std::rc::Rc;
use std::sync::Arc;

/// The least number of values of a group, on average, that are worth a pass over all groups however
/// few these are.
const MANY: usize = 64;

/// The least number of values of a group, on average, that are worth the partials of a fold, where
/// groups are more than few.
const FOLDED: usize = 8;
const FEW: usize = 16;

/// Values between two looks at the interrupt.
const LOOK: usize = 1 << 14;

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
    let work = ev.cx.begin_work(keys.len());
    let what = known(&func).filter(|w| {
        keys.shape()[0] > 0 && (*w != Counts::WithKey || keys.rank() == 1 && keys.is_uniform())
    });
    // Who finds the groups is no launch, whoever goes on with them.
    let told = |ev: &mut Eval<'_>, z: &Array| {
        ev.cx.tell_work(work.filter(|_| z.pending().is_some()));
    };
    if let Some(what) = what {
        let flat = !matches!(&*func, Func::Dfn(c) if c.text().contains('⍴'));
        let z = counted(ev, &keys, what, flat)?;
        told(ev, &z);
        return Ok(z);
    }
    let Groups { firsts, of } = groups(&mut ev.cx, &keys)?;
    let n = firsts.len();
    let (of, firsts) = (Rc::new(of), Rc::new(firsts));
    let mut known = None;
    if x.is_some() && (keys.is_uniform() || keys.rank() == 1) && n > 0 {
        let heads = known.insert(heads(&mut ev.cx, &keys, &firsts)?);
        let groups = Scattered::new(&values, &of, &firsts);
        if let Some(made) = ev.folded_groups(&func, heads, groups)?
            && is_mixed_at_once(&made)
        {
            let z = cells::mix(&mut ev.cx, &made, None)?;
            told(ev, &z);
            return Ok(z);
        }
    }
    // The members of all groups in one vector, group after group.
    let _held = ev.cx.budget().charge_elements(of.len().saturating_add(n), 24)?;
    let ends = ends_of(&ev.cx, &of, n)?;
    let given = match x {
        Some(_) => values.clone(),
        None => {
            let io = ev.cx.sys.settings.io;
            let places = ev.cx.budget().each((0..of.len()).map(|k| k as f64 + io))?;
            ev.cx.vector(places)?
        }
    };
    let pieces = match n {
        0 => None,
        _ => grouped(&mut ev.cx, &given, &of, &ends)?
            .and_then(|flat| Ragged::new(flat, ends.clone())),
    };
    let mut all = Vec::new();
    if let Some(pieces) = &pieces
        && (keys.is_uniform() || keys.rank() == 1)
        && !keys.is_empty()
    {
        let heads = match known.take() {
            Some(heads) => heads,
            None => heads(&mut ev.cx, &keys, &firsts)?,
        };
        let parts = pieces.clone().items(&[n]);
        let shape = Shape::from_slice(&[n]);
        // Groups are of many lengths, each of which would be a launch.
        let refused = ev.cx.sys.refused.take();
        let mut made = match ev.runs_together(of.len()) && of.len() >= MANY * n {
            true => ev.flattened_few(&func, Some(&heads), &parts, &shape, Steps::Flat)?,
            false => ev.flattened(&func, Some(&heads), &parts, &shape, Steps::Flat)?,
        };
        if !ev.runs_together(n) {
            // Few groups go one by one where they do not go together, and nobody asks why.
            ev.cx.sys.refused = refused;
        }
        if made.is_none() {
            if let Some(made) = ev.each_by_shape(&func, Some(&heads), &parts, &shape)? {
                return cells::mix(&mut ev.cx, &made, None);
            }
            made = ev.flattened(&func, Some(&heads), &parts, &shape, Steps::All)?;
        }
        match made {
            Some(made) if is_mixed_at_once(&made) => {
                return cells::mix(&mut ev.cx, &made, None);
            }
            Some(made) => all = made.to_items(ev.cx.budget())?,
            None => {}
        }
    }
    if pieces.is_none()
        && (keys.is_uniform() || keys.rank() == 1)
        && let Some(parts) = stacked(&mut ev.cx, &values, &of, &ends)?
    {
        let heads = match known.take() {
            Some(heads) => heads,
            None => heads(&mut ev.cx, &keys, &firsts)?,
        };
        let shape = Shape::from_slice(&[n]);
        let made = match parts.split().is_some() {
            true => ev.each_framed(&func, Some(&heads), &parts, &shape)?,
            false => ev.each_by_shape(&func, Some(&heads), &parts, &shape)?,
        };
        if let Some(made) = made {
            return cells::mix(&mut ev.cx, &made, None);
        }
    }
    let out = match all.is_empty() {
        false => all,
        true => {
            let (keys, values, pieces) = (&keys, &values, pieces.as_ref());
            let groups = Grouped { keys, firsts: &firsts, of: &of, ends: &ends, values, pieces };
            groups.one_by_one(ev, &func)?
        }
    };
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

/// True of results that are mixed as what holds them all.
fn is_mixed_at_once(made: &Array) -> bool {
    made.is_uniform() || made.split().is_some() || made.held_inside().is_some()
}

/// The key of each group as an item.
fn heads(cx: &mut Cx<'_>, keys: &Array, firsts: &[usize]) -> Result<Array> {
    let picks = cx.budget().each(firsts.iter().map(|&k| Some(k)))?;
    let heads = cells::along(cx, keys, 0, &picks)?;
    if !keys.is_uniform() {
        // A cell of a nested vector is a scalar that holds the item.
        let heads = cx.ready_outer(&heads)?;
        if let Some(all) = heads.each_enclosed(cx.budget())? {
            return Ok(all);
        }
        let cells = heads.to_items(cx.budget())?.into_iter().map(Array::enclosed);
        let cells = cx.budget().all(cells)?;
        return cx.collect(&[firsts.len()], cells, None);
    }
    Ok(if keys.rank() == 1 { heads } else { Array::rows(heads, 1) })
}

/// The groups that a function of groups is called on.
struct Grouped<'a> {
    keys: &'a Array,
    /// The first place of each.
    firsts: &'a [usize],
    /// The group of each place.
    of: &'a [u32],
    /// The end of each, once its members stand side by side.
    ends: &'a [u32],
    values: &'a Array,
    /// The members, if they are numbers or characters.
    pieces: Option<&'a Ragged>,
}

impl Grouped<'_> {
    /// Calls the function on group after group.
    fn one_by_one(&self, ev: &mut Eval<'_>, f: &Rc<Func>) -> Result<Vec<Array>> {
        let n = self.firsts.len();
        let mut members = Vec::new();
        if self.pieces.is_none() && n > 0 {
            let at: Vec<usize> = (0..self.of.len()).collect();
            members = placed(&ev.cx, &at, 0, self.of, self.ends)?;
        }
        let mut out = ev.cx.budget().room(n)?;
        ev.warn_one_by_one(n, "key");
        ev.one_by_one(n, |ev| {
            let way = ev.cx.host.interrupt().rounds(n as u64);
            for g in 0..n {
                ev.cx.host.interrupt().check()?;
                way.done(g as u64);
                let k = cells::major(&ev.cx, self.keys, self.firsts[g])?;
                let v = match self.pieces {
                    Some(pieces) => pieces.item(g),
                    None => {
                        let first = if g == 0 { 0 } else { self.ends[g - 1] as usize };
                        let mine = &members[first..self.ends[g] as usize];
                        let picks: Vec<_> = mine.iter().map(|&k| Some(k)).collect();
                        cells::along(&mut ev.cx, self.values, 0, &picks)?
                    }
                };
                out.push(ev.apply(f, Some(&k), &v)?);
            }
            Ok(())
        })?;
        Ok(out)
    }
}

/// The end of each group, once its members stand side by side.
pub(in crate::eval) fn ends_of(cx: &Cx<'_>, of: &[u32], n: usize) -> Result<Vec<u32>> {
    let mut ends = cx.budget().filled(0u32, n)?;
    for some in of.chunks(LOOK) {
        cx.budget().check()?;
        some.iter().for_each(|&g| ends[g as usize] += 1);
    }
    for g in 1..n {
        ends[g] += ends[g - 1];
    }
    Ok(ends)
}

/// Items group after group, each group's in their order.
fn placed<T: Copy>(cx: &Cx<'_>, items: &[T], zero: T, of: &[u32], ends: &[u32]) -> Result<Vec<T>> {
    let mut next = cx.budget().filled(0u32, ends.len())?;
    next[1..].copy_from_slice(&ends[..ends.len() - 1]);
    let mut out = cx.budget().filled(zero, items.len())?;
    for (items, of) in items.chunks(LOOK).zip(of.chunks(LOOK)) {
        cx.budget().check()?;
        for (&x, &g) in items.iter().zip(of) {
            let at = &mut next[g as usize];
            out[*at as usize] = x;
            *at += 1;
        }
    }
    Ok(out)
}

/// The values of all groups in one vector. None: they are no vector of real numbers or characters,
/// or of vectors of these.
fn grouped(cx: &mut Cx<'_>, values: &Array, of: &[u32], ends: &[u32]) -> Result<Option<Array>> {
    let parts = gathered(cx, values)?;
    if let Some(pieces) = parts.as_ref().map_or(values, |parts| parts).pieces()
        && values.rank() == 1
    {
        let places = cx.budget().each(0..values.len() as u32)?;
        let order = placed(cx, &places, 0, of, ends)?;
        return Ok(pieces.taken(&order, cx.budget())?.map(|all| all.items(&[values.len()])));
    }
    let Some(held) = storage(values).filter(|_| values.rank() == 1) else { return Ok(None) };
    if values.len() > LOOK
        && let Some(made) = cx.host.grouped(values, of, ends)?
    {
        return Ok(Some(made));
    }
    let budget = cx.budget();
    let made = of_its_type!(held, budget, |v, fill| placed(cx, v, fill, of, ends));
    Ok(Some(Array::dense([values.len()].as_slice(), Arc::new(made))))
}

/// The cells of all groups, an array of cells for each group. None: values are a vector, or nested.
fn stacked(cx: &mut Cx<'_>, values: &Array, of: &[u32], ends: &[u32]) -> Result<Option<Array>> {
    if values.rank() < 2 || values.is_empty() || !values.is_plain() {
        return Ok(None);
    }
    let (n, io) = (ends.len(), cx.sys.settings.io as u32);
    let places = cx.budget().each((0..of.len() as u32).map(|k| k + io))?;
    let order = placed(cx, &places, 0, of, ends)?;
    let order = Array::up_to([of.len()].as_slice(), order, of.len() as u32 + io, cx.budget())?;
    let rest = values.shape()[1..].iter().map(|_| None);
    let index: Vec<_> = [Some(order)].into_iter().chain(rest).collect();
    let all = select::bracket(cx, values, &index)?;
    let cell = &values.shape()[1..];
    let size = ends[0] as usize;
    if ends.iter().enumerate().all(|(g, &end)| end as usize == (g + 1) * size) {
        let shape: Shape = [n, size].iter().chain(cell).copied().collect();
        return Ok(Some(Array::rows(reshaped(cx, &all, &shape)?, 1)));
    }
    let all = cx.ready(&all, "key")?;
    let Some(held) = storage(&all) else { return Ok(None) };
    let (inner, mut first) = (elements(cell), 0);
    cx.budget().has_room((all.len() * all.dtype().size()) as u64)?;
    let (mut parts, mut ticks) = (cx.budget().room(n)?, cx.budget().ticks());
    for &end in ends {
        ticks.tick()?;
        let shape: Shape = [end as usize - first].iter().chain(cell).copied().collect();
        let part = Buf::part(held.view(), first * inner..end as usize * inner);
        parts.push(Array::dense(shape, Arc::new(part)));
        first = end as usize;
    }
    cx.collect(&[n], parts, None).map(Some)
}

/// The fold of each group's values as the vector that it is. None: these are no real numbers of 64
/// bits, or one fold fails.
pub(in crate::eval) fn folds(
    cx: &mut Cx<'_>,
    op: Op,
    values: &Array,
    of: &[u32],
    n: usize,
) -> Result<Option<Array>> {
    let plain = values.dtype().is_number() && values.dtype() != DType::F32;
    if plain && values.rank() == 1 && cx.host.is_on("groups") {
        // Partials of a group are as many as a fold has, however few its items are.
        let pays = n <= FEW || of.len() >= FOLDED * n;
        if pays && let Some(mixed) = in_one_walk(cx, op, values, of, n)? {
            cx.work_because(of.len(), why::WALK);
            return Ok(Some(mixed));
        }
        if let Some(out) = cx.host.keyed(op, values, (of, n))? {
            cx.work_because(of.len(), why::PARTS);
            return folded_to(cx, values.dtype(), out).map(Some);
        }
    }
    let ends = ends_of(cx, of, n)?;
    let Some(flat) = grouped(cx, values, of, &ends)?.filter(|_| plain) else { return Ok(None) };
    let mut parts = cx.budget().room(n)?;
    let mut first = 0;
    parts.extend(ends.iter().map(|&end| std::mem::replace(&mut first, end as usize)..end as usize));
    if let Some(made) = cx.record_segments(op, &parts, &flat)? {
        return Ok(Some(made));
    }
    let items = cx.numbers(&flat, "the values of groups")?;
    let (mut out, mut ticks) = (cx.budget().room(n)?, cx.budget().ticks());
    for part in parts {
        ticks.tick()?;
        let Ok(sum) = reduce::fold(op, 0.0, &items[part], true, DType::F64) else {
            return Ok(None);
        };
        out.push(sum);
    }
    folded_to(cx, values.dtype(), out).map(Some)
}

/// Folds of values of a type.
fn folded_to(cx: &Cx<'_>, dtype: DType, out: Vec<f64>) -> Result<Array> {
    let shape = [out.len()];
    match dtype {
        DType::F64 => Array::floats(shape.as_slice(), out, cx.budget()),
        _ => Array::numbers(shape.as_slice(), out, cx.budget()),
    }
}

/// The folds of so few groups that their partials are kept while the values are gone through once,
/// in their own type. None: there are more, or values that are not there yet, or one fold fails.
fn in_one_walk(cx: &Cx<'_>, op: Op, values: &Array, of: &[u32], n: usize) -> Result<Option<Array>> {
    let Some(held) = storage(values).filter(|_| n <= keyed::MOST) else { return Ok(None) };
    let budget = cx.budget();
    let _held = budget.charge_elements(keyed::bytes(n), 1)?;
    let Some(mut keyed) = Keyed::new(op, n, budget)? else { return Ok(None) };
    macro_rules! walk {
        ($items:expr) => {
            for (items, of) in $items.chunks(LOOK).zip(of.chunks(LOOK)) {
                budget.check()?;
                keyed.take(items, of);
            }
        };
    }
    match held.view() {
        View::F64(items) => walk!(items),
        View::Bool(items) => walk!(items),
        View::I8(items) => walk!(items),
        View::I16(items) => walk!(items),
        View::I32(items) => walk!(items),
        _ => return Ok(None),
    }
    keyed.ends().map(|out| folded_to(cx, values.dtype(), out)).transpose()
}

fn counted(ev: &mut Eval<'_>, keys: &Array, what: Counts, flat: bool) -> Result<Array> {
    let of = |cx: &mut Cx<'_>, firsts: &[usize]| {
        let picks = cx.budget().each(firsts.iter().map(|&k| Some(k)))?;
        cells::along(cx, keys, 0, &picks)
    };
    if what == Counts::Keys {
        let firsts = firsts_of_groups(&mut ev.cx, keys)?;
        return of(&mut ev.cx, &firsts);
    }
    let Sizes { firsts, sizes } = sizes(&mut ev.cx, keys)?;
    let (n, most) = (firsts.len(), sizes.iter().copied().fold(0, u32::max));
    let shape: &[usize] = if flat && what == Counts::Only { &[n] } else { &[n, 1] };
    let counts = Array::up_to(shape, sizes, most, ev.cx.budget())?;
    if what == Counts::Only {
        return Ok(counts);
    }
    let keys = of(&mut ev.cx, &firsts)?;
    let keys = reshaped(&mut ev.cx, &keys, &[n, 1])?;
    cells::join(&mut ev.cx, &[keys, counts], 1)
}

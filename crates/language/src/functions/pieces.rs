//! Primitives on each piece of a ragged vector at once: `f¨` as one pass over what lies flat.
//!
//! Ledger: what goes to each item by itself (`∊`, case) is done to the flat vector, the ends stay ·
//! what keeps, turns or repeats items (masks, `∪`, `⌽`) gathers them by their places · what takes
//! stretches (`↓`, `,`) copies these. Nothing here makes an array a piece. Scalar functions go to
//! the flat vector by themselves; folds are launches with segments.

use super::seek::places_of_one;
use super::sets::{SEARCHES, searched};
use super::{groups, search};
use crate::eval::cx::Cx;
use crate::eval::scope::TOGETHER;
use crate::table::Prim;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, Buf, DType, Data, Ragged, Storage, View, storage};
use aplomb_values::prim::library::Grading;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::short::two;
use aplomb_values::prim::whole::Given;
use groups::{Hashed, mixed};
use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::Arc;

/// An argument of `f¨`.
pub enum Side<'a> {
    /// The same for each piece.
    One(Array),
    /// Pieces.
    Pieces(Ragged),
    /// A number, or a character, for each.
    Numbers(&'a Array),
}

/// The flat vector that a side's items lie in, and where those of each cell do.
pub enum Lain<'a> {
    /// The same items for each.
    All(Array),
    /// An item each.
    Each(Array),
    /// As these pieces lie.
    Pieces(&'a Ragged),
}

impl<'a> Lain<'a> {
    /// None: of an array of more axes.
    pub fn of(cx: &mut Cx<'_>, side: &'a Side<'_>) -> Result<Option<Lain<'a>>> {
        let dense = |cx: &mut Cx<'_>, a: &Array| match a.data() {
            Data::Char(c) => Ok(Array::dense([1].as_slice(), Arc::new(Buf::one_char(*c)))),
            Data::Num(..) => Ok(a.reshaped([1].as_slice())),
            _ => super::shape::reshaped(cx, a, &[a.len()]),
        };
        Ok(match side {
            Side::One(a) if a.rank() < 2 => Some(Lain::All(dense(cx, a)?)),
            Side::One(_) => None,
            Side::Numbers(a) => Some(Lain::Each(dense(cx, a)?)),
            Side::Pieces(r) => Some(Lain::Pieces(r)),
        })
    }

    /// All items one behind the other.
    pub fn flat(&self) -> &Array {
        match self {
            Lain::All(flat) | Lain::Each(flat) => flat,
            Lain::Pieces(r) => r.flat(),
        }
    }

    /// The places of the k-th cell's items.
    pub fn range(&self, k: usize) -> Range<usize> {
        match self {
            Lain::All(flat) => 0..flat.len(),
            Lain::Each(_) => k..k + 1,
            Lain::Pieces(r) => r.range(k),
        }
    }

    /// The pieces, where they are some.
    pub fn pieces(&self) -> Option<&'a Ragged> {
        match self {
            Lain::Pieces(r) => Some(r),
            _ => None,
        }
    }
}

/// The primitives whose results differ in length where the arguments' items do not: for these the
/// rows of an array are pieces, too.
const UNEVEN: &str = "/⌿~∩∪⍸";

/// Those of them that take a scalar for a vector of one, on either side.
const SETS: &str = "~∩∪";

/// The cells of one array as pieces.
fn rows(cx: &mut Cx<'_>, a: &Array) -> Result<Option<Ragged>> {
    let Some(split) = a.split().filter(|s| s.cell().len() == 1 && a.rank() == s.at) else {
        return Ok(None);
    };
    if a.frame().is_some() {
        return Ok(None);
    }
    groups::cut_up(cx, &split.node, split.cell()[0], "each")
}

fn side<'a>(cx: &mut Cx<'_>, a: &'a Array, n: usize, uneven: bool) -> Result<Option<Side<'a>>> {
    if let Some(pieces) = a.pieces().filter(|r| r.count() == n) {
        return Ok(Some(Side::Pieces(pieces.clone())));
    }
    if a.len() == 1 && n != 1 {
        let one = if a.rank() == 0 { a.disclosed() } else { a.item(0) };
        return Ok(one.is_plain().then_some(Side::One(one)));
    }
    if uneven
        && a.len() == n
        && let Some(pieces) = rows(cx, a)?
    {
        return Ok(Some(Side::Pieces(pieces)));
    }
    Ok((a.is_plain() && a.len() == n).then_some(Side::Numbers(a)))
}

/// Whether an array holds many scalars, each of which is a vector of one for `~ ∩ ∪`.
fn are_many(a: &Array) -> bool {
    a.is_plain() && a.rank() > 0 && a.len() >= TOGETHER
}

/// `f¨Y` or `X f¨Y` with a primitive f, where an argument is pieces; shapes conform. None: it goes
/// another way, and says there what is wrong with it. Errors: WS FULL, INTERRUPT.
pub fn each(cx: &mut Cx<'_>, p: &Prim, x: Option<&Array>, y: &Array) -> Result<Option<Array>> {
    // A number for each row makes what they give uneven.
    let by_each = "↑↓".contains(p.glyph)
        && x.is_some_and(|x| {
            let numbers = x.is_uniform() && !x.is_char() && x.frame().is_none();
            numbers && x.rank() > 0 && x.len() == y.len()
        });
    let uneven = UNEVEN.contains(p.glyph) || by_each;
    let sets = x.is_some() && SETS.contains(p.glyph);
    let all = || [Some(y), x].into_iter().flatten();
    let is_pieces = |a: &&Array| a.pieces().is_some() || uneven && a.split().is_some();
    let Some(like) = all().find(is_pieces).or_else(|| all().find(|a| sets && are_many(a))) else {
        return Ok(None);
    };
    let shape = like.shape();
    let n = like.len();
    // Beside pieces the rows of an array are pieces, too.
    let beside = all().any(|a| a.pieces().is_some());
    let uneven = uneven || beside;
    let at_hand = |cx: &mut Cx<'_>, a: &Array| match a.pending().is_some() && (beside || by_each) {
        true if a.frame().is_none() => cx.ready(a, "each"),
        _ => Ok(a.clone()),
    };
    let (x, y) = (&x.map(|x| at_hand(cx, x)).transpose()?, &at_hand(cx, y)?);
    let x = x.as_ref();
    let Some(right) = side(cx, y, n, uneven)? else { return Ok(None) };
    let left = match x {
        None => None,
        Some(x) => match side(cx, x, n, uneven)? {
            None => return Ok(None),
            left => left,
        },
    };
    let made = match (p.glyph, left, right) {
        ('≢', None, Side::Pieces(r)) => return lengths(cx, &r, shape).map(Some),
        ('⊂', None, Side::Pieces(r)) => return r.items(shape).each_enclosed(cx.budget()),
        // Simple vectors are what these make of them.
        (',', None, Side::Pieces(r)) => Some(r),
        ('∊' | '↑', None, Side::Pieces(r)) if !r.is_of_pieces() => Some(r),
        ('⍸', None, Side::Pieces(r)) => wheres(cx, &r)?,
        ('⌽' | '⊖', None, Side::Pieces(r)) => {
            let places = cx.budget().room(r.flat().len())?;
            picked(cx, &r, &r, places, |range, places| places.extend(range.rev()))?
        }
        ('∪', None, Side::Pieces(r)) => unique(cx, &r)?,
        ('≠', None, Side::Pieces(r)) => sieve(cx, &r)?,
        ('⍋' | '⍒', None, Side::Pieces(r)) => graded(cx, &r, p.glyph == '⍒')?,
        ('⊃', None, Side::Pieces(r)) => return firsts(cx, &r, shape),
        ('/' | '⌿', Some(Side::Pieces(m)), Side::Pieces(r)) => kept(cx, &m, &r)?,
        ('⊂' | '⊆', Some(Side::Pieces(m)), Side::Pieces(r)) => {
            parted(cx, &m, &r, p.glyph == '⊆')?
        }
        ('↓', Some(Side::One(k)), Side::Pieces(r)) => match one_whole(&k) {
            Some(k) => dropped(cx, &r, |_| k)?,
            None => None,
        },
        ('↓', Some(Side::Numbers(k)), Side::Pieces(r)) if k.dtype().is_integer() => {
            let by = k.ready_numbers(cx.budget())?;
            dropped(cx, &r, |at| by[at] as i64)?
        }
        ('↑', Some(Side::Numbers(k)), Side::Pieces(r)) if k.dtype().is_integer() => {
            lengthened(cx, &r, &k.ready_numbers(cx.budget())?)?
        }
        ('⍴', Some(Side::Numbers(k)), Side::Pieces(r)) if k.dtype().is_integer() => {
            repeated(cx, &r, &k.ready_numbers(cx.budget())?)?
        }
        ('⌽' | '⊖', Some(Side::One(k)), Side::Pieces(r)) => match one_whole(&k) {
            Some(k) => turned(cx, &r, |_| k)?,
            None => None,
        },
        ('⌽' | '⊖', Some(Side::Numbers(k)), Side::Pieces(r)) if k.dtype().is_integer() => {
            let by = k.ready_numbers(cx.budget())?;
            turned(cx, &r, |at| by[at] as i64)?
        }
        ('⊃', Some(Side::Numbers(k)), Side::Pieces(r)) => return one_of_each(cx, &r, k),
        ('⊥', Some(Side::One(x)), Side::Pieces(r)) if x.rank() == 0 => {
            return decoded(cx, &r, &x, shape);
        }
        ('⍷', Some(Side::One(x)), Side::Pieces(r)) => occurring(cx, &x, &r)?,
        ('≡' | '≢', Some(a), b) => return matching(cx, &a, &b, shape, n, p.glyph == '≡'),
        ('↑', Some(Side::One(k)), Side::Pieces(r)) if r.is_of_pieces() => match one_whole(&k) {
            Some(k) => kept_ends(cx, &r, k)?,
            None => None,
        },
        ('↑', Some(Side::One(k)), Side::Pieces(r)) => match one_whole(&k) {
            Some(k) if k != 0 => {
                let rows = r.fitted(k.unsigned_abs() as usize, k < 0, shape, cx.budget())?;
                return Ok(rows.map(|rows| Array::rows(rows, shape.len())));
            }
            _ => None,
        },
        (',', Some(a), b) => chained(cx, a, b, n)?,
        ('∊', Some(Side::Pieces(r)), Side::One(y)) => {
            let there = search::found(cx, r.flat(), &y)?;
            r.with(there)
        }
        ('∊', Some(Side::One(x)), Side::Pieces(r)) if x.rank() == 0 => {
            return held_in(cx, &r, &x, shape, |at, n| f64::from(u8::from(at < n)));
        }
        ('⍳', Some(Side::Pieces(r)), Side::One(y)) if y.rank() == 0 => {
            let io = cx.sys.settings.io;
            return held_in(cx, &r, &y, shape, |at, _| at as f64 + io);
        }
        ('⍳', Some(Side::One(x)), Side::Pieces(r)) if x.rank() == 1 => {
            let places = search::first_places(cx, &x, r.flat())?;
            r.with(places)
        }
        ('⊃', Some(Side::One(k)), Side::Pieces(r)) => match one_whole(&k) {
            Some(k) => return at_places(cx, &r, &Array::num(k as f64)),
            None => None,
        },
        ('~' | '∩', Some(Side::Pieces(r)), Side::One(y)) if y.rank() < 2 => {
            let there = search::found(cx, r.flat(), &y)?;
            let kept = u8::from(p.glyph == '∩');
            match storage(&there).map(|s| s.view()) {
                Some(View::Bool(there)) => {
                    let places = cx.budget().room(r.flat().len())?;
                    picked(cx, &r, &r, places, |range, places| {
                        places.extend(range.filter(|&k| there[k as usize] == kept))
                    })?
                }
                _ => None,
            }
        }
        (glyph, Some(a), b) if SEARCHES.contains(glyph) => {
            return searched(cx, glyph, (&a, &b), shape, n);
        }
        _ => None,
    };
    Ok(made.filter(|made| made.count() == n).map(|made| made.items(shape)))
}

/// A function of each item by itself, done to all: `flat` is what it made of them. None: that is
/// no such vector.
pub fn mapped(pieces: &Ragged, shape: &[usize], flat: Array) -> Option<Array> {
    pieces.with(flat).map(|made| made.items(shape))
}

fn lengths(cx: &mut Cx<'_>, r: &Ragged, shape: &[usize]) -> Result<Array> {
    let out = cx.budget().each((0..r.count()).map(|k| r.range(k).len() as f64))?;
    Array::numbers(shape, out, cx.budget())
}

/// A whole number that an array is.
fn one_whole(a: &Array) -> Option<i64> {
    let x = a.number_at(0).filter(|_| a.len() == 1 && a.rank() < 2 && !a.is_char())?;
    (x.fract() == 0.0 && x.abs() < 1e15).then_some(x as i64)
}

/// Pieces of items at places of a flat vector, which a function adds to for each piece of r.
fn picked(
    cx: &Cx<'_>,
    r: &Ragged,
    from: &Ragged,
    mut places: Vec<u32>,
    mut each: impl FnMut(Range<u32>, &mut Vec<u32>),
) -> Result<Option<Ragged>> {
    let mut ends = cx.budget().room(r.count())?;
    let mut ticks = cx.budget().ticks();
    for k in 0..r.count() {
        ticks.tick()?;
        let range = r.range(k);
        each(range.start as u32..range.end as u32, &mut places);
        ends.push(places.len() as u32);
    }
    let flat = from.picked(&places, cx.budget())?;
    Ok(flat.and_then(|flat| Ragged::new(flat, ends)))
}

/// Pieces by masks, or counts, of the same lengths. None: a count is below 0, and stands for fill.
fn kept(cx: &Cx<'_>, mask: &Ragged, r: &Ragged) -> Result<Option<Ragged>> {
    if !mask.is_cut_as(r) {
        return Ok(None);
    }
    let Some(View::Bool(mask_items)) = storage(mask.flat()).map(|s| s.view()) else {
        if !mask.flat().dtype().is_integer() || mask.flat().is_char() {
            return Ok(None);
        }
        let counts = mask.flat().ready_numbers(cx.budget())?;
        let n: f64 = counts.iter().sum();
        if counts.iter().any(|k| *k < 0.0) || n > f64::from(u32::MAX) {
            return Ok(None);
        }
        let places = cx.budget().room(n as usize)?;
        return picked(cx, r, r, places, |range, places| {
            let copies = |k: u32| std::iter::repeat_n(k, counts[k as usize] as usize);
            places.extend(range.flat_map(copies));
        });
    };
    let n = mask_items.iter().filter(|&&b| b != 0).count();
    let places = cx.budget().room(n)?;
    picked(cx, r, r, places, |range, places| {
        places.extend(range.filter(|&k| mask_items[k as usize] != 0))
    })
}

/// Parts of each piece by marks of the same lengths: `⊆` keeps runs of 1, `⊂` cuts before each 1.
/// None: they are other marks, or a piece has no part.
fn parted(cx: &Cx<'_>, marks: &Ragged, r: &Ragged, runs: bool) -> Result<Option<Ragged>> {
    let Some(View::Bool(of)) = storage(marks.flat()).map(|s| s.view()) else { return Ok(None) };
    if !marks.is_cut_as(r) {
        return Ok(None);
    }
    let (mut ends, mut ticks) = (cx.budget().room(r.count())?, cx.budget().ticks());
    let mut parts: Vec<Range<usize>> = Vec::new();
    for range in (0..r.count()).map(|k| r.range(k)) {
        ticks.tick()?;
        cx.budget().widen(&mut parts, range.len())?;
        let mut open = false;
        for k in range {
            let begins = of[k] != 0 && !(runs && open);
            open = of[k] != 0 || !runs && open;
            if begins {
                parts.push(k..k + 1);
            } else if let Some(last) = parts.last_mut().filter(|_| open) {
                last.end = k + 1;
            }
        }
        ends.push(parts.len() as u32);
    }
    let n = parts.len();
    let made = r.ranges(n, || parts.iter().cloned(), cx.budget())?;
    Ok(made.and_then(|made| Ragged::new(made.items(&[n]), ends)))
}

/// Each value of each piece once, where it is first: whole numbers and characters.
fn unique(cx: &Cx<'_>, r: &Ragged) -> Result<Option<Ragged>> {
    let Some(mut first) = firsts_of(r) else { return Ok(None) };
    let places = cx.budget().room(r.flat().len())?;
    picked(cx, r, r, places, |range, places| first(range, places))
}

/// Whether each item of each piece is the first of its value.
fn sieve(cx: &Cx<'_>, r: &Ragged) -> Result<Option<Ragged>> {
    let Some(mut first) = firsts_of(r) else { return Ok(None) };
    let mut marks = cx.budget().filled(0.0, r.flat().len())?;
    let (mut places, mut ticks) = (cx.budget().room(r.flat().len())?, cx.budget().ticks());
    for range in (0..r.count()).map(|k| r.range(k)) {
        ticks.tick()?;
        places.clear();
        first(range.start as u32..range.end as u32, &mut places);
        places.iter().for_each(|&at: &u32| marks[at as usize] = 1.0);
    }
    let marks = Array::numbers(r.flat().shape(), marks, cx.budget())?;
    Ok(r.with(marks))
}

/// A search for the places where a value is first in a stretch of flat data. None: it is of other
/// items than whole numbers and characters.
fn firsts_of(r: &Ragged) -> Option<impl FnMut(Range<u32>, &mut Vec<u32>) + '_> {
    /// The length up to which items are looked for among those that are kept.
    const FEW: usize = 16;
    let exact = r.flat().is_char() || r.flat().dtype().is_integer();
    let view = storage(r.flat()).filter(|_| exact).map(|s| s.view())?;
    let key = move |k: u32| view.number(k as usize) as i64;
    let mut seen: HashSet<u64, BuildHasherDefault<Hashed>> = HashSet::default();
    Some(move |range: Range<u32>, places: &mut Vec<u32>| {
        let first = places.len();
        if range.len() <= FEW {
            for k in range {
                if places[first..].iter().all(|&at| key(at) != key(k)) {
                    places.push(k);
                }
            }
            return;
        }
        seen.clear();
        places.extend(range.filter(|&k| seen.insert(mixed(key(k)))));
    })
}

/// The places of the ones of each piece of booleans. None: it has other items.
fn wheres(cx: &mut Cx<'_>, r: &Ragged) -> Result<Option<Ragged>> {
    let Some(View::Bool(marks)) = storage(r.flat()).map(|s| s.view()) else { return Ok(None) };
    let (mut out, mut ends) = (cx.budget().room(marks.len())?, cx.budget().room(r.count())?);
    let io = cx.sys.settings.io;
    for range in (0..r.count()).map(|k| r.range(k)) {
        let ones = marks[range].iter().enumerate().filter(|(_, mark)| **mark != 0);
        out.extend(ones.map(|(at, _)| at as f64 + io));
        ends.push(out.len() as u32);
    }
    let flat = cx.vector(out)?;
    Ok(Ragged::new(flat, ends))
}

/// A number for each piece, of the first place in it where an item is, or its length, and of its
/// length. None: the pieces hold no numbers and no characters.
fn held_in(
    cx: &mut Cx<'_>,
    r: &Ragged,
    item: &Array,
    shape: &[usize],
    number: impl Fn(usize, usize) -> f64,
) -> Result<Option<Array>> {
    let item = cx.ready(item, "search")?;
    let ct = search::ct_of(cx, r.flat(), &item);
    let Some(places) = places_of_one(r, &item, ct, cx.budget())? else { return Ok(None) };
    let numbers = places.iter().enumerate().map(|(k, &at)| number(at as usize, r.range(k).len()));
    let out = cx.budget().each(numbers)?;
    Array::numbers(shape, out, cx.budget()).map(Some)
}

/// The first item of each, where each has one.
fn firsts(cx: &Cx<'_>, r: &Ragged, shape: &[usize]) -> Result<Option<Array>> {
    let mut places: Vec<u32> = cx.budget().room(r.count())?;
    places.extend(
        (0..r.count()).map(|k| r.range(k)).filter(|p| !p.is_empty()).map(|p| p.start as u32),
    );
    if places.len() < r.count() {
        return Ok(None);
    }
    one_each(cx, r, &places, shape)
}

/// An item for each piece, by its place in the flat vector, in a shape that has as many.
fn one_each(cx: &Cx<'_>, r: &Ragged, places: &[u32], shape: &[usize]) -> Result<Option<Array>> {
    Ok(r.picked(places, cx.budget())?.map(|list| match list.pieces() {
        Some(pieces) => pieces.clone().items(shape),
        None => list.reshaped(shape),
    }))
}

/// Pieces without some items at the front, or for a negative number at the back.
fn dropped(cx: &Cx<'_>, r: &Ragged, by: impl Fn(usize) -> i64) -> Result<Option<Ragged>> {
    let left = |k: usize| {
        let range = r.range(k);
        let some = by(k).unsigned_abs().min(range.len() as u64) as usize;
        match by(k) < 0 {
            true => range.start..range.end - some,
            false => range.start + some..range.end,
        }
    };
    r.ranges(r.count(), || (0..r.count()).map(left), cx.budget())
}

/// So many items of each piece at its front, or for a negative number at its back, where each has
/// as many.
fn kept_ends(cx: &Cx<'_>, r: &Ragged, by: i64) -> Result<Option<Ragged>> {
    let Ok(n) = usize::try_from(by.unsigned_abs()) else { return Ok(None) };
    if (0..r.count()).any(|k| r.range(k).len() < n) {
        return Ok(None);
    }
    let kept = |k: usize| match (r.range(k), by < 0) {
        (range, true) => range.end - n..range.end,
        (range, false) => range.start..range.start + n,
    };
    r.ranges(r.count(), || (0..r.count()).map(kept), cx.budget())
}

/// Pieces of so many items of each at its front, or for a negative number at its back; short ones
/// are filled. None: they hold too much.
fn lengthened(cx: &Cx<'_>, r: &Ragged, by: &[f64]) -> Result<Option<Ragged>> {
    let Some(held) = storage(r.flat()) else { return Ok(None) };
    let lengths = || by.iter().map(|k| k.abs());
    if lengths().sum::<f64>() > f64::from(u32::MAX) {
        return Ok(None);
    }
    let longest = lengths().fold(0.0, f64::max) as usize;
    let fill: &dyn Storage = &fills(cx, r, held.dtype(), longest)?;
    let mut runs = cx.budget().room(r.count().saturating_mul(2))?;
    for (range, by) in (0..r.count()).map(|k| r.range(k)).zip(by) {
        let n = by.abs() as usize;
        let some = n.min(range.len());
        let short = (fill, 0..n - some);
        match *by < 0.0 {
            true => runs.extend([short, (held, range.end - some..range.end)]),
            false => runs.extend([(held, range.start..range.start + some), short]),
        }
    }
    in_pairs(cx, &runs)
}

/// A buffer of so many fills of the kind of a flat vector.
fn fills(cx: &Cx<'_>, r: &Ragged, dtype: DType, n: usize) -> Result<Buf> {
    match r.flat().is_char() {
        true => Buf::chars(cx.budget().filled(' ', n)?, cx.budget()),
        false => Buf::stored(&cx.budget().filled(0.0, n)?, dtype, cx.budget()),
    }
}

/// So many items of each piece, over and over. None: they hold too much, or a number is below 0.
fn repeated(cx: &Cx<'_>, r: &Ragged, by: &[f64]) -> Result<Option<Ragged>> {
    let Some(held) = storage(r.flat()) else { return Ok(None) };
    if by.iter().any(|k| *k < 0.0) || by.iter().sum::<f64>() > f64::from(u32::MAX) {
        return Ok(None);
    }
    let of_none = by.iter().enumerate().filter(|(k, _)| r.range(*k).is_empty());
    let longest = of_none.fold(0.0, |most: f64, (_, n)| most.max(*n)) as usize;
    let fill: &dyn Storage = &fills(cx, r, held.dtype(), longest)?;
    let (mut runs, mut last) = (cx.budget().room(r.count())?, cx.budget().room(r.count())?);
    for (range, by) in (0..r.count()).map(|k| r.range(k)).zip(by) {
        let (from, whole, mut left) = match range.is_empty() {
            true => (fill, 0..*by as usize, *by as usize),
            false => (held, range, *by as usize),
        };
        cx.budget().widen(&mut runs, left / whole.len().max(1) + 1)?;
        while left > whole.len() {
            runs.push((from, whole.clone()));
            left -= whole.len();
        }
        runs.push((from, whole.start..whole.start + left));
        last.push(runs.len() - 1);
    }
    let Some(made) = Ragged::of_runs(&runs, cx.budget())? else { return Ok(None) };
    let ends = cx.budget().each(last.iter().map(|&k: &usize| made.end(k)))?;
    Ok(Ragged::new(made.flat().clone(), ends))
}

/// Pieces turned by so many items each.
fn turned(cx: &Cx<'_>, r: &Ragged, by: impl Fn(usize) -> i64) -> Result<Option<Ragged>> {
    let Some(held) = storage(r.flat()) else { return Ok(None) };
    let (mut runs, mut ticks) =
        (cx.budget().room(r.count().saturating_mul(2))?, cx.budget().ticks());
    for k in 0..r.count() {
        ticks.tick()?;
        let range = r.range(k);
        let turn = by(k).rem_euclid(range.len().max(1) as i64) as usize;
        let from = range.start + turn;
        runs.extend([(held, from..range.end), (held, range.start..from)]);
    }
    in_pairs(cx, &runs)
}

/// Each two stretches as a piece.
fn in_pairs(cx: &Cx<'_>, runs: &[(&dyn Storage, Range<usize>)]) -> Result<Option<Ragged>> {
    let Some(made) = Ragged::of_runs(runs, cx.budget())? else { return Ok(None) };
    let ends = cx.budget().each(made.ends().skip(1).step_by(2))?;
    Ok(Ragged::new(made.flat().clone(), ends))
}

/// `x⊥` of each piece of real numbers, by Horner's rule. None: these are others, or a step fails,
/// which is told where it stands.
fn decoded(cx: &mut Cx<'_>, r: &Ragged, radix: &Array, shape: &[usize]) -> Result<Option<Array>> {
    if !radix.is_of_f64() || !r.flat().is_of_f64() || cx.sys.settings.single {
        return Ok(None);
    }
    let digits = cx.numbers(r.flat(), "the right argument of ⊥")?;
    let (radix, ct) = (cx.numbers(radix, "the left argument of ⊥")?[0], cx.sys.settings.ct);
    let (mut out, mut ticks) = (cx.budget().room(r.count())?, cx.budget().ticks());
    for range in (0..r.count()).map(|k| r.range(k)) {
        ticks.spend(range.len().max(1))?;
        let step = |sum, digit: &f64| two(Op::Add, ct, two(Op::Mul, ct, sum, radix)?, *digit);
        match digits[range].iter().try_fold(0.0, step) {
            Some(sum) => out.push(sum),
            None => return Ok(None),
        }
    }
    Array::numbers(shape, out, cx.budget()).map(Some)
}

/// `x⍷` of each piece: the places at which a vector begins, of items that are equal without ⎕CT.
fn occurring(cx: &Cx<'_>, x: &Array, r: &Ragged) -> Result<Option<Ragged>> {
    let exact = |a: &Array| a.is_char() || a.dtype().is_integer();
    let fits = x.rank() == 1 && !x.is_empty() && exact(x) && exact(r.flat());
    let (Some(a), Some(b)) = (storage(x), storage(r.flat())) else { return Ok(None) };
    if !fits || x.is_char() != r.flat().is_char() {
        return Ok(None);
    }
    let (a, b) = (a.view().numbers(cx.budget())?, b.view().numbers(cx.budget())?);
    let (mut out, mut ticks) = (cx.budget().filled(0u8, b.len())?, cx.budget().ticks());
    for range in (0..r.count()).map(|k| r.range(k)) {
        ticks.tick()?;
        for (at, part) in range.clone().zip(b[range].windows(a.len())) {
            out[at] = u8::from(part == a.as_slice());
        }
    }
    let flat = Array::dense([out.len()].as_slice(), Arc::new(Buf::bools(out, cx.budget())?));
    Ok(r.with(flat))
}

/// A number for each piece: whether it has the shape and the items of the other argument's, where
/// these are equal without ⎕CT.
fn matching(
    cx: &Cx<'_>,
    x: &Side<'_>,
    y: &Side<'_>,
    shape: &[usize],
    n: usize,
    wanted: bool,
) -> Result<Option<Array>> {
    /// The flat items, and where the k-th piece lies; one vector is the piece of all.
    fn held<'a>(a: &'a Side<'_>) -> Option<(View<'a>, Option<&'a Ragged>)> {
        let (flat, pieces) = match a {
            Side::Pieces(r) => (r.flat(), Some(r)),
            Side::One(a) if a.rank() == 1 && !a.is_empty() => (a, None),
            Side::One(_) | Side::Numbers(_) => return None,
        };
        let exact = flat.is_char() || flat.dtype().is_integer();
        storage(flat).filter(|_| exact).map(|s| (s.view(), pieces))
    }
    let (Some((a, left)), Some((b, right))) = (held(x), held(y)) else { return Ok(None) };
    if matches!(a, View::Char(_)) != matches!(b, View::Char(_)) {
        return Ok(None);
    }
    let mut out = cx.budget().room(n)?;
    let mut ticks = cx.budget().ticks();
    let (first, second) = (a.len(), b.len());
    let mut each = |same: &dyn Fn(Range<usize>, Range<usize>) -> bool| -> Result<()> {
        for k in 0..n {
            ticks.tick()?;
            let p = left.map_or(0..first, |r| r.range(k));
            let q = right.map_or(0..second, |r| r.range(k));
            let same = p.len() == q.len() && same(p, q);
            out.push(u8::from(same == wanted));
        }
        Ok(())
    };
    match (a, b) {
        (View::Char(a), View::Char(b)) => each(&|p, q| a[p] == b[q])?,
        (a, b) => each(&|p, q| p.zip(q).all(|(i, j)| a.number(i) == b.number(j)))?,
    }
    Ok(Some(Array::dense(shape, Arc::new(Buf::bools(out, cx.budget())?))))
}

/// Pieces with others behind them, or with the same vector, or with an item each.
fn chained(cx: &mut Cx<'_>, a: Side<'_>, b: Side<'_>, n: usize) -> Result<Option<Ragged>> {
    let (Some(x), Some(y)) = (Lain::of(cx, &a)?, Lain::of(cx, &b)?) else { return Ok(None) };
    let (Some(from), Some(more)) = (storage(x.flat()), storage(y.flat())) else { return Ok(None) };
    let kinds = [from.dtype(), more.dtype()];
    let fits = |dtype: DType| dtype.is_integer() || dtype == DType::F64;
    if from.dtype() != more.dtype() && !kinds.into_iter().all(fits)
        || kinds.contains(&DType::Complex)
    {
        return Ok(None);
    }
    let mut runs = cx.budget().room(n.saturating_mul(2))?;
    for k in 0..n {
        runs.push((from, x.range(k)));
        runs.push((more, y.range(k)));
    }
    in_pairs(cx, &runs)
}

/// `⍋¨` of pieces, `⍒¨` of them if `down`. Errors: WS FULL, INTERRUPT.
fn graded(cx: &Cx<'_>, r: &Ragged, down: bool) -> Result<Option<Ragged>> {
    let Some(held) = storage(r.flat()) else { return Ok(None) };
    let _held = cx.budget().charge_elements(r.flat().len(), size_of::<f64>())?;
    let items = held.view().numbers(cx.budget())?;
    let mut places = cx.budget().room(items.len())?;
    let (mut order, mut ticks) = (Vec::new(), cx.budget().ticks());
    let io = cx.sys.settings.io;
    for range in (0..r.count()).map(|k| r.range(k)) {
        ticks.tick()?;
        let shape = [range.len()];
        let grading = Grading::new(Given { items: &items[range], shape: &shape }, down);
        order.clear();
        order.extend((0..grading.count()).map(|k| grading.cell(k)));
        order.sort_unstable();
        places.extend(order.iter().map(|cell| cell.at() as f64 + io));
    }
    Ok(r.with(cx.vector(places)?))
}

/// The items of each piece at the same places: rows, or for a single place a vector. None: some
/// piece has no such place, which is told where it stands. Errors: WS FULL.
pub fn at_places(cx: &Cx<'_>, r: &Ragged, at: &Array) -> Result<Option<Array>> {
    let io = cx.sys.settings.io;
    let steps: Vec<f64> = at.in_turn().filter_map(|k| k.number_at(0)).map(|k| k - io).collect();
    let mut places: Vec<u32> = cx.budget().room(r.count().saturating_mul(steps.len()))?;
    for range in (0..r.count()).map(|k| r.range(k)) {
        if steps.iter().any(|&k| k < 0.0 || k >= range.len() as f64) {
            return Ok(None);
        }
        places.extend(steps.iter().map(|&k| range.start as u32 + k as u32));
    }
    let Some(made) = r.picked(&places, cx.budget())? else { return Ok(None) };
    Ok(match (at.rank(), made.pieces()) {
        (0, _) => Some(made),
        (_, None) => Some(Array::rows(made.reshaped([r.count(), steps.len()].as_slice()), 1)),
        (_, Some(_)) => {
            let ends = (1..=r.count()).map(|k| (k * steps.len()) as u32);
            let ends = cx.budget().each(ends)?;
            Ragged::new(made, ends).map(|made| made.items(&[r.count()]))
        }
    })
}

/// The item of each piece at a place of its own. None: some piece has no such place, which is told
/// where it stands. Errors: WS FULL.
pub fn one_of_each(cx: &Cx<'_>, r: &Ragged, at: &Array) -> Result<Option<Array>> {
    let by = storage(at).filter(|_| at.dtype().is_integer() && at.len() == r.count());
    let Some(by) = by else { return Ok(None) };
    let (by, io) = (by.view(), cx.sys.settings.io);
    let mut places: Vec<u32> = cx.budget().room(r.count())?;
    for (k, range) in (0..r.count()).map(|k| (k, r.range(k))) {
        let place = by.number(k) - io;
        if place < 0.0 || place >= range.len() as f64 {
            return Ok(None);
        }
        places.push(range.start as u32 + place as u32);
    }
    one_each(cx, r, &places, at.shape())
}

/// Pieces indexed by pieces of whole numbers, `⍵[⍋⍵]` of each. None: an index is none of its
/// piece, which is told where it stands. Errors: WS FULL, INTERRUPT.
pub fn indexed(cx: &Cx<'_>, base: &Ragged, at: &Ragged) -> Result<Option<Ragged>> {
    let Some(by) = storage(at.flat()).filter(|_| at.flat().dtype().is_integer()) else {
        return Ok(None);
    };
    let (by, io) = (by.view(), cx.sys.settings.io as i64);
    if base.count() != at.count() {
        return Ok(None);
    }
    let places = cx.budget().room(at.flat().len())?;
    let (mut k, mut fits) = (0, true);
    let made = picked(cx, at, base, places, |range, places| {
        let own = base.range(k);
        k += 1;
        for i in range {
            let place = by.number(i as usize) as i64 - io;
            let inside = place >= 0 && (place as usize) < own.len();
            fits &= inside;
            places.extend(inside.then(|| own.start as u32 + place as u32));
        }
    })?;
    Ok(made.filter(|_| fits))
}

//! Groups of equal cells: by places where they are whole numbers of a narrow range (`tables`), by
//! the table of searches where they are other numbers, by one hash of runs where they are rows,
//! texts or groups, else by `Table`.
//!
//! What is compared is seen as *runs*: pieces of one flat vector, whether they are the items of a
//! nested vector (words, rows, a list of vectors) or the major cells of a matrix.

use super::search::{IN_TABLE, Table, ct_of, keys};
use super::sorted::in_short_order;
use super::tables::{firsts_of_whole, groups_of_whole, is_table, placed, sizes_of_whole, span};
use crate::eval::cx::Cx;
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, DType, Data, Ragged, View, elements, storage};
use aplomb_values::dag::Lib;
use aplomb_values::prim::library::{Places, same};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Major cells that are equal: where each group begins, and the group of every cell. In order of
/// first sight.
pub struct Groups {
    /// The first cell of each group.
    pub firsts: Vec<usize>,
    /// The group of each cell.
    pub of: Vec<u32>,
}

/// Major cells that are equal: where each group begins, and how many it has. In order of first
/// sight.
pub struct Sizes {
    /// The first cell of each group.
    pub firsts: Vec<usize>,
    /// The number of its cells.
    pub sizes: Vec<u32>,
}

/// Items between two looks at the interrupt.
const LOOK: usize = 1 << 14;

/// Places of texts that are found without a search.
const NEAR: usize = 256;

/// Groups in order of first sight, by the number that `known` has for a cell; it is given the
/// number of the next group, and says whether the cell is the first of it.
pub(super) fn in_order(
    budget: &Budget,
    n: usize,
    known: impl FnMut(usize, u32) -> u32,
) -> Result<Groups> {
    in_order_of(budget, n, |_| 1, known)
}

/// The same of cells that are gone through, each of its size.
fn in_order_of(
    budget: &Budget,
    n: usize,
    size: impl Fn(usize) -> usize,
    mut known: impl FnMut(usize, u32) -> u32,
) -> Result<Groups> {
    let mut out = Groups { firsts: Vec::new(), of: budget.room(n)? };
    let mut ticks = budget.ticks();
    for k in 0..n {
        ticks.spend(size(k))?;
        let group = known(k, out.firsts.len() as u32);
        if group as usize == out.firsts.len() {
            out.firsts.push(k);
        }
        out.of.push(group);
    }
    Ok(out)
}

/// The first cell of each group of equal major cells, and how many they are. As `groups`.
pub fn sizes(cx: &mut Cx<'_>, y: &Array) -> Result<Sizes> {
    let y = &cx.ready(y, "search")?;
    if let Some(made) = sizes_of_whole(y, cx.budget())? {
        return Ok(made);
    }
    let Groups { firsts, of } = groups(cx, y)?;
    let mut sizes = cx.budget().filled(0u32, firsts.len())?;
    for some in of.chunks(LOOK) {
        cx.budget().check()?;
        some.iter().for_each(|&g| sizes[g as usize] += 1);
    }
    Ok(Sizes { firsts, sizes })
}

/// Groups of real numbers under a tolerance: the table of searches, of the first number of each
/// group. None: these are others, or cells.
fn groups_of_numbers(y: &Array, ct: f64, budget: &Budget) -> Result<Option<Groups>> {
    let held = storage(y).filter(|_| y.rank() == 1);
    let Some(View::F64(items)) = held.map(|s| s.view()) else { return Ok(None) };
    let _held = budget.charge_elements(items.len(), Places::BYTES + size_of::<usize>())?;
    let mut seen = Places::new(items, ct, 0, 1);
    let mut out = Groups { firsts: Vec::new(), of: budget.room(items.len())? };
    let mut ticks = budget.ticks();
    for k in 0..items.len() {
        ticks.tick()?;
        if k % Places::TOGETHER == 0 {
            seen.ask(&items[k..items.len().min(k + Places::TOGETHER)]);
        }
        let first = seen.first_or_add(k);
        let group = match first == k {
            true => out.firsts.len() as u32,
            false => out.of[first],
        };
        if first == k {
            out.firsts.push(k);
        }
        out.of.push(group);
    }
    Ok(Some(out))
}

/// True of many floats of which no two are equal within ⎕CT, where that is likely: in order, equal
/// ones would be neighbours. For of three in order, the outer two are equal only if one of them
/// equals the one between: were both further apart than their tolerance, the outer two would be
/// further than the sum of both.
fn all_differ(cx: &mut Cx<'_>, y: &Array, ct: f64) -> Result<bool> {
    /// Fewer fit a table in a cache.
    const MANY: usize = 1 << 15;
    /// Items of which none is there twice: of n items of which every second is, two would be among
    /// so many almost surely.
    const SAMPLE: usize = 1 << 12;
    let View::F64(items) = (match storage(y).filter(|s| y.rank() == 1 && s.len() >= MANY) {
        Some(held) => held.view(),
        None => return Ok(false),
    }) else {
        return Ok(false);
    };
    let step = items.len() / SAMPLE;
    let mut sample: Vec<f64> = items.iter().step_by(step).copied().collect();
    sample.sort_by(f64::total_cmp);
    if sample.windows(2).any(|pair| same(pair[0], pair[1], ct)) {
        return Ok(false);
    }
    let Some(order) = cx.record_lib(Lib::GradeUp, &[y])? else { return Ok(false) };
    let sorted = super::select::bracket(cx, y, &[Some(order)])?;
    let sorted = cx.ready(&sorted, "search")?;
    let Some(View::F64(items)) = storage(&sorted).map(|s| s.view()) else { return Ok(false) };
    for from in (0..items.len()).step_by(LOOK) {
        cx.budget().check()?;
        // With the first of the next block.
        let some = &items[from..items.len().min(from + LOOK + 1)];
        if some.windows(2).any(|pair| same(pair[0], pair[1], ct)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A hash of a whole number that no other of 64 bits has: each step can be undone.
pub fn mixed(x: i64) -> u64 {
    let h = (x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    h ^ (h >> 29)
}

/// A number for each piece, where all are of one short length and what they hold lies so close that
/// the numbers are the places of a table: each item is a digit, in a radix for its place in the
/// piece. None: they are others.
fn codes<T: Copy + Ord + Into<i64>>(
    items: &[T],
    pieces: &Ragged,
    budget: &Budget,
) -> Result<Option<Vec<u32>>> {
    /// The most digits.
    const MOST: usize = 8;
    let (n, m) = (pieces.count(), pieces.range(0).len());
    let even = |k: usize| pieces.end(k) as usize == (k + 1) * m;
    if !(1..=MOST).contains(&m) || items.len() != n * m || !(0..n).all(even) {
        return Ok(None);
    }
    let mut spans: Vec<(T, T)> = items[..m].iter().map(|&x| (x, x)).collect();
    for some in items.chunks(LOOK * m) {
        budget.check()?;
        for (k, span) in spans.iter_mut().enumerate() {
            let both = |(lo, hi): (T, T), x: &T| (lo.min(*x), hi.max(*x));
            *span = some[k..].iter().step_by(m).fold(*span, both);
        }
    }
    let mut size = 1i64;
    let mut digits = budget.room(m)?;
    for &(lo, hi) in &spans {
        let (lo, hi): (i64, i64) = (lo.into(), hi.into());
        digits.push((lo, size));
        size = size.saturating_mul(hi - lo + 1);
    }
    if !is_table((0, size), n) {
        return Ok(None);
    }
    let mut codes = budget.room(n)?;
    for some in items.chunks(LOOK * m) {
        budget.check()?;
        codes.extend(some.chunks_exact(m).map(|piece| {
            let digit = |(x, (lo, radix)): (&T, &(i64, i64))| ((*x).into() - lo) * radix;
            piece.iter().zip(&digits).map(digit).sum::<i64>() as u32
        }));
    }
    Ok(Some(codes))
}

/// Groups of equal pieces, where equal means the same: of characters, of whole numbers, and of
/// numbers of which no two differ and are equal within ⎕CT.
pub fn groups_of_pieces(pieces: &Ragged, ct: f64, budget: &Budget) -> Result<Option<Groups>> {
    fn alike<T: Copy + Eq + Into<u64>>(
        items: &[T],
        pieces: &Ragged,
        budget: &Budget,
    ) -> Result<Option<Groups>> {
        // Places for twice as many, and of each group its hash and its first piece.
        let size = pieces.count().saturating_mul(2).next_power_of_two();
        let mut table = budget.filled(u32::MAX, size)?;
        let mut known: Vec<(u64, u32)> = budget.room(pieces.count())?;
        let group = |k: usize, next: u32| {
            let piece = &items[pieces.range(k)];
            let mix = |h: u64, &x: &T| (h ^ x.into()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let hash = piece.iter().fold(piece.len() as u64, |h, x| mix(h.rotate_left(23), x));
            let mut at = (hash ^ (hash >> 29)) as usize & (size - 1);
            loop {
                let Some(&(own, first)) = known.get(table[at] as usize) else {
                    table[at] = next;
                    known.push((hash, k as u32));
                    return next;
                };
                if own == hash && items[pieces.range(first as usize)] == *piece {
                    return table[at];
                }
                at = (at + 1) & (size - 1);
            }
        };
        let size = |k: usize| pieces.range(k).len().max(1);
        in_order_of(budget, pieces.count(), size, group).map(Some)
    }
    let view = storage(pieces.flat()).map(|s| s.view());
    let coded = match &view {
        Some(View::Bool(v)) => codes(v, pieces, budget)?,
        Some(View::I8(v)) => codes(v, pieces, budget)?,
        Some(View::I16(v)) => codes(v, pieces, budget)?,
        Some(View::I32(v)) => codes(v, pieces, budget)?,
        _ => None,
    };
    if let Some(codes) = coded {
        return placed(&codes, budget);
    }
    match view {
        Some(View::Char(v)) => {
            let points: Vec<u32> = budget.each(v.iter().map(|&c| u32::from(c)))?;
            match codes(&points, pieces, budget)? {
                Some(codes) => placed(&codes, budget),
                None => alike(&points, pieces, budget),
            }
        }
        Some(View::Bool(v)) => alike(v, pieces, budget),
        Some(View::I8(v)) => {
            let whole: Vec<u8> = budget.each(v.iter().map(|&x| x as u8))?;
            alike(&whole, pieces, budget)
        }
        Some(View::I16(v)) => {
            let whole: Vec<u16> = budget.each(v.iter().map(|&x| x as u16))?;
            alike(&whole, pieces, budget)
        }
        Some(View::I32(v)) => {
            let whole: Vec<u32> = budget.each(v.iter().map(|&x| x as u32))?;
            alike(&whole, pieces, budget)
        }
        Some(View::F64(v)) if v.iter().all(|&x| is_whole(x)) => {
            let whole: Vec<u64> = budget.each(v.iter().map(|&x| x as i64 as u64))?;
            alike(&whole, pieces, budget)
        }
        Some(View::F64(v)) => match apart(v, ct, budget)? {
            Some(bits) => alike(&bits, pieces, budget),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

/// The bits of numbers, where two of them are equal within ⎕CT only if they are the same. None:
/// some are not.
fn apart(items: &[f64], ct: f64, budget: &Budget) -> Result<Option<Vec<u64>>> {
    let _held = budget.charge_elements(items.len(), IN_TABLE)?;
    let mut seen: HashMap<u64, (), BuildHasherDefault<Hashed>> = HashMap::default();
    let (mut bits, mut ticks) = (budget.room(items.len())?, budget.ticks());
    for x in items {
        ticks.tick()?;
        // There is one zero, and a NaN is not itself.
        if x.is_nan() {
            return Ok(None);
        }
        let own = (x + 0.0).to_bits();
        seen.insert(mixed(own as i64), ());
        bits.push(own);
    }
    let mut differ: Vec<u64> = budget.room(seen.len())?;
    differ.extend(bits.iter().filter(|own| seen.remove(&mixed(**own as i64)).is_some()));
    let order = |a: u64, b: u64| f64::from_bits(a).total_cmp(&f64::from_bits(b));
    let differ = in_short_order(differ, budget, order)?;
    let near = |a: u64, b: u64| same(f64::from_bits(a), f64::from_bits(b), ct);
    Ok((!differ.windows(2).any(|pair| near(pair[0], pair[1]))).then_some(bits))
}

/// Whether a number is whole, and so small that another whole one is never equal within ⎕CT.
fn is_whole(x: f64) -> bool {
    x == x.trunc() && x.abs() < (1u64 << 31) as f64
}

/// A hash that is one already.
#[derive(Default)]
pub struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.0 = self.0.rotate_left(8) ^ u64::from(*b));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The cells of so many axes as runs: the items of a nested array, which are simple vectors of one
/// kind, or the rows of a simple one. None: they are no such thing. Errors: WS FULL, INTERRUPT.
pub fn runs(cx: &mut Cx<'_>, a: &Array, cell: usize) -> Result<Option<Ragged>> {
    if a.is_uniform() {
        let size = elements(&a.shape()[a.rank() - cell..]);
        return if cell == 0 { Ok(None) } else { cut_up(cx, a, size, "search") };
    }
    if cell > 0 || a.frame().is_some() {
        return Ok(None);
    }
    if let Some(pieces) = a.pieces().filter(|pieces| !pieces.is_of_pieces()) {
        return Ok(Some(pieces.clone()));
    }
    if let Some(split) = a.split() {
        let fits = split.cell().len() == 1;
        let size = elements(split.cell());
        return if fits { cut_up(cx, &split.node, size, "search") } else { Ok(None) };
    }
    let budget = cx.budget();
    let Data::Items(items) = a.data() else { return Ok(None) };
    let Some(items) = items.listed() else { return Ok(None) };
    let (mut runs, mut ticks) = (budget.room(a.len())?, budget.ticks());
    for item in items {
        ticks.tick()?;
        match storage(item).filter(|_| item.rank() == 1) {
            Some(held) => runs.push((held, 0..item.len())),
            None => return Ok(None),
        }
    }
    Ragged::of_runs(&runs, budget)
}

/// Many short vectors that stand one by one, as pieces of one: a pass over these is worth the copy.
/// None: they are few, long, or no such vectors. Errors: WS FULL, INTERRUPT.
pub fn gathered(cx: &mut Cx<'_>, a: &Array) -> Result<Option<Array>> {
    /// The least number of them, and the items of one, on average at most.
    const WORTH: (usize, usize) = (64, 64);
    let Data::Items(items) = a.data() else { return Ok(None) };
    let Some(all) = items.listed().filter(|all| all.len() >= WORTH.0) else { return Ok(None) };
    let vectors = all.iter().all(|item| item.rank() == 1 && storage(item).is_some());
    if !vectors || all.iter().map(Array::len).sum::<usize>() > WORTH.1 * all.len() {
        return Ok(None);
    }
    Ok(runs(cx, a, 0)?.map(|pieces| pieces.items(a.shape())))
}

/// Texts that are pieces as arrays that stand one by one, where equal ones are one array. None:
/// they are others, or most of them differ.
pub fn shared(cx: &mut Cx<'_>, a: &Array) -> Result<Option<Array>> {
    /// Fewer are not looked through.
    const WORTH: usize = 64;
    let Some(pieces) = a.pieces().filter(|p| p.count() >= WORTH && p.flat().is_char()) else {
        return Ok(None);
    };
    let Some(groups) = groups_of_pieces(pieces, 0.0, cx.budget())? else { return Ok(None) };
    if groups.firsts.len() * 2 > pieces.count() {
        return Ok(None);
    }
    let texts = cx.budget().each(groups.firsts.iter().map(|&k| pieces.item(k)))?;
    let out = cx.budget().each(groups.of.iter().map(|&g| texts[g as usize].clone()))?;
    cx.collect(a.shape(), out, None).map(Some)
}

/// An array in pieces of one size, computed if it is pending: `why` says for what. None: there is
/// no piece, or they hold too much.
pub fn cut_up(
    cx: &mut Cx<'_>,
    a: &Array,
    size: usize,
    why: &'static str,
) -> Result<Option<Ragged>> {
    let n = a.len();
    if size == 0 || n == 0 || u32::try_from(n).is_err() {
        return Ok(None);
    }
    let a = cx.ready(a, why)?;
    let flat = super::shape::reshaped(cx, &a, &[n])?;
    let ends = cx.budget().each((1..=n / size).map(|k| (k * size) as u32))?;
    Ok(Ragged::new(flat, ends))
}

/// The first place among cells of so many axes of each cell of another array, or their number.
/// None: they are no runs, or equal only within ⎕CT.
pub fn places_of_runs(
    cx: &mut Cx<'_>,
    have: &Array,
    want: &Array,
    cell: usize,
) -> Result<Option<Vec<usize>>> {
    let (n, groups) = match (runs(cx, have, cell)?, runs(cx, want, cell)?) {
        (Some(have), Some(want)) => {
            let budget = cx.budget();
            let Some(all) = Ragged::joined(&[&have, &want], budget)? else { return Ok(None) };
            (have.count(), groups_of_pieces(&all, cx.sys.settings.ct, budget)?)
        }
        _ => {
            let (left, right) = (columns(cx, have, cell)?, columns(cx, want, cell)?);
            let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
            if left.len() != right.len() {
                return Ok(None);
            }
            if left.iter().zip(&right).all(|(x, y)| x.is_one_with(y)) {
                let Some(Groups { firsts, of }) = groups_of_columns(cx, &left)? else {
                    return Ok(None);
                };
                let first = of.iter().map(|&group| firsts[group as usize]);
                return cx.budget().each(first).map(Some);
            }
            let mut all = Vec::new();
            for (x, y) in left.iter().zip(&right) {
                let both = super::join::catenate_last(cx, x, y, None)?;
                all.push(cx.ready_outer(&both)?);
            }
            (left[0].len(), groups_of_columns(cx, &all)?)
        }
    };
    let Some(Groups { firsts, of }) = groups else { return Ok(None) };
    let out = cx.budget().each(of[n..].iter().map(|&group| firsts[group as usize].min(n)))?;
    Ok(Some(out))
}

/// The columns of cells of so many axes that are rows of a nested array: vectors of equally many
/// items, or the rows of a matrix. None: they are others, or have many columns.
pub fn columns(cx: &mut Cx<'_>, a: &Array, cell: usize) -> Result<Option<Vec<Array>>> {
    /// The most columns.
    const MOST: usize = 8;
    let Data::Items(items) = a.data() else { return Ok(None) };
    if a.is_empty() || a.frame().is_some() || a.holds_lazy() {
        return Ok(None);
    }
    let few = |k: usize| (1..=MOST).contains(&k);
    let mut out = Vec::new();
    match (cell, a.shape(), items.listed()) {
        (1, &[_, k], _) if few(k) && a.columns().is_some() => {
            return Ok(a.columns().map(<[Array]>::to_vec));
        }
        (1, &[n, k], _) if few(k) => {
            for j in 0..k {
                let column = cx.budget().each((0..n).map(|row| items.at(row * k + j)))?;
                out.push(cx.collect(&[n], column, None)?);
            }
        }
        (0, &[n], Some(all)) => {
            let k = all[0].len();
            if !few(k) || !all.iter().all(|row| row.rank() == 1 && row.len() == k) {
                return Ok(None);
            }
            for j in 0..k {
                let column = cx.budget().each(all.iter().map(|row| row.item(j)))?;
                out.push(cx.collect(&[n], column, None)?);
            }
        }
        (0, &[_], None) => {
            let Some(lines) = items.lines().filter(|lines| lines.cell().len() == 1) else {
                return Ok(None);
            };
            return columns(cx, &lines.node, 1);
        }
        _ => return Ok(None),
    }
    Ok(Some(out))
}

/// Groups of rows, of which these are the columns: by the groups of each. None: the items of one
/// are equal only within ⎕CT, or no texts, numbers or characters.
fn groups_of_columns(cx: &mut Cx<'_>, columns: &[Array]) -> Result<Option<Groups>> {
    let mut all: Option<Groups> = None;
    for column in columns {
        let n = column.len();
        let Some(own) = groups_of_column(cx, column)? else { return Ok(None) };
        all = Some(match all.take() {
            None => own,
            Some(before) => {
                let budget = cx.budget();
                let size = own.firsts.len().saturating_mul(before.firsts.len());
                let pair = |k: usize| before.of[k] as usize * own.firsts.len() + own.of[k] as usize;
                if i64::try_from(size).is_ok_and(|size| is_table((0, size), n)) {
                    let _held = budget.charge_elements(size, size_of::<u32>())?;
                    let mut table = budget.filled(u32::MAX, size)?;
                    let both = |k: usize, next: u32| {
                        let at = &mut table[pair(k)];
                        *at = if *at == u32::MAX { next } else { *at };
                        *at
                    };
                    all = Some(in_order(budget, n, both)?);
                    continue;
                }
                let _held = budget.charge_elements(n, IN_TABLE)?;
                let mut table: HashMap<u64, u32, BuildHasherDefault<Hashed>> = HashMap::default();
                let both = |k: usize| i64::from(before.of[k]) << 32 | i64::from(own.of[k]);
                in_order(budget, n, |k, next| *table.entry(mixed(both(k))).or_insert(next))?
            }
        });
    }
    Ok(all)
}

fn groups_of_column(cx: &mut Cx<'_>, column: &Array) -> Result<Option<Groups>> {
    let ct = cx.sys.settings.ct;
    if let Some(groups) = groups_of_shared(cx, column)? {
        return Ok(Some(groups));
    }
    let pieces = match runs(cx, column, 0)? {
        None if column.dtype() == DType::F64 => cut_up(cx, column, 1, "search")?,
        pieces => pieces,
    };
    match pieces {
        Some(pieces) => groups_of_pieces(&pieces, ct, cx.budget()),
        None => groups_of_whole(column, cx.budget()),
    }
}

/// Groups of texts that stand one by one, most of them in several places: each of these is looked
/// at once. None: they are others.
pub fn groups_of_shared(cx: &mut Cx<'_>, column: &Array) -> Result<Option<Groups>> {
    let Data::Items(items) = column.data() else { return Ok(None) };
    let Some(all) = items.listed() else { return Ok(None) };
    let n = all.len();
    let mut known: HashMap<u64, u32, BuildHasherDefault<Hashed>> = HashMap::default();
    // The groups of places that were met last: few texts are met again and again.
    let mut near = [(0, 0); NEAR];
    let _held = cx.budget().charge_elements(n / 2, IN_TABLE)?;
    let (mut firsts, mut of) = (Vec::new(), cx.budget().room(n)?);
    let mut ticks = cx.budget().ticks();
    for (k, item) in all.iter().enumerate() {
        ticks.tick()?;
        let Data::Dense(held) = item.data() else { return Ok(None) };
        let place = std::sync::Arc::as_ptr(held).cast::<u8>() as usize;
        let slot = &mut near[mixed(place as i64) as usize % NEAR];
        if slot.0 == place && item.rank() == 1 {
            of.push(slot.1);
            continue;
        }
        if item.rank() != 1 || !item.is_char() {
            return Ok(None);
        }
        let group = *known.entry(mixed(place as i64)).or_insert(firsts.len() as u32);
        if group as usize == firsts.len() {
            firsts.push(k);
        }
        of.push(group);
        *slot = (place, group);
        if firsts.len() * 2 > n {
            return Ok(None);
        }
    }
    // Equal texts may stand in two places all the same.
    let mut runs = cx.budget().room(firsts.len())?;
    for &k in &firsts {
        match storage(&all[k]) {
            Some(held) => runs.push((held, 0..all[k].len())),
            None => return Ok(None),
        }
    }
    let Some(pieces) = Ragged::of_runs(&runs, cx.budget())? else { return Ok(None) };
    let Some(texts) = groups_of_pieces(&pieces, 0.0, cx.budget())? else { return Ok(None) };
    of.iter_mut().for_each(|group| *group = texts.of[*group as usize]);
    let firsts = texts.firsts.iter().map(|&k| firsts[k]).collect();
    Ok(Some(Groups { firsts, of }))
}

/// The first major cell of each group, in order of first sight.
pub fn firsts_of_groups(cx: &mut Cx<'_>, y: &Array) -> Result<Vec<usize>> {
    let y = &cx.ready(y, "search")?;
    match firsts_of_whole(y, cx.budget())? {
        Some(firsts) => Ok(firsts),
        None => groups(cx, y).map(|groups| groups.firsts),
    }
}

/// Groups of the items of a vector that are the same bit for bit, where each stands there several
/// times on average. None: they differ, or are others than numbers, characters, and texts or whole
/// numbers in pieces.
pub fn few_groups(cx: &mut Cx<'_>, y: &Array) -> Result<Option<Groups>> {
    /// Items of one group, on average at least.
    const OFTEN: usize = 4;
    /// Items that are looked at before all are, where that takes a hash of each.
    const LOOKED_AT: usize = 64;
    let (n, y) = (y.len(), &cx.ready_outer(y)?);
    let few = |made: Groups| (made.firsts.len() * OFTEN <= n).then_some(made);
    // Of few that differ a sample has some twice.
    let twice = |bits: &dyn Fn(usize) -> u64| {
        let mut some: Vec<u64> = (0..LOOKED_AT).map(|k| bits(k * n / LOOKED_AT)).collect();
        some.sort_unstable();
        some.dedup();
        some.len() * OFTEN <= LOOKED_AT * (OFTEN - 1)
    };
    if y.rank() != 1 || n < OFTEN {
        return Ok(None);
    }
    let budget = cx.budget();
    match storage(y).map(|s| s.view()) {
        Some(View::F64(items)) => {
            if !twice(&|k| items[k].to_bits()) {
                return Ok(None);
            }
            let _held = budget.charge_elements(n, IN_TABLE)?;
            let mut table: HashMap<u64, u32, BuildHasherDefault<Hashed>> = HashMap::default();
            let own = |k: usize| mixed(items[k].to_bits() as i64);
            let group = |k: usize, next: u32| *table.entry(own(k)).or_insert(next);
            return in_order(budget, n, group).map(few);
        }
        Some(View::F32(_) | View::Complex(_)) => return Ok(None),
        Some(view) => {
            // No more than there are whole numbers between the least and the greatest.
            let few_between = |(lo, hi): (i64, i64)| (hi - lo) as usize * OFTEN < n;
            let narrow = match &view {
                View::I16(v) => few_between(span(v)),
                View::I32(v) => few_between(span(v)),
                _ => true,
            };
            if !narrow && !twice(&|k| view.number(k).to_bits()) {
                return Ok(None);
            }
            return Ok(groups_of_whole(y, budget)?.and_then(few));
        }
        None => {}
    }
    if let Some(made) = groups_of_shared(cx, y)? {
        return Ok(few(made));
    }
    let whole = |a: &Array| a.is_char() || a.dtype().is_integer();
    match y.pieces().filter(|all| !all.is_of_pieces() && whole(all.flat())) {
        Some(all) => {
            let held = storage(all.flat()).map(|s| s.view());
            // Of a piece a sample looks at its length, its ends and its middle.
            let bits = |k: usize| {
                let (some, n) = (all.range(k), all.range(k).len());
                let places = [0, n / 2, n.saturating_sub(1)].map(|at| some.start + at);
                let known = held.as_ref().filter(|_| n > 0);
                let items = known.map(|v| places.map(|at| v.number(at) as i64));
                items.into_iter().flatten().fold(n as u64, |h, x| mixed(h as i64 ^ x))
            };
            match twice(&bits) {
                true => Ok(groups_of_pieces(all, 0.0, cx.budget())?.and_then(few)),
                false => Ok(None),
            }
        }
        None => Ok(None),
    }
}

/// Groups of major cells under ⎕CT; a cell belongs to the first group whose first cell it equals.
pub fn groups(cx: &mut Cx<'_>, y: &Array) -> Result<Groups> {
    let y = &cx.ready(y, "search")?;
    if y.rank() == 1
        && let Some(made) = groups_of_shared(cx, y)?
    {
        return Ok(made);
    }
    let made = match runs(cx, y, y.rank().max(1) - 1)? {
        Some(pieces) => groups_of_pieces(&pieces, cx.sys.settings.ct, cx.budget())?,
        None => groups_of_whole(y, cx.budget())?,
    };
    let ct = ct_of(cx, y, y);
    let made = match made {
        None if all_differ(cx, y, ct)? => {
            let n = y.len();
            let (firsts, of) = (cx.budget().each(0..n)?, cx.budget().each(0..n as u32)?);
            Some(Groups { firsts, of })
        }
        None => groups_of_numbers(y, ct, cx.budget())?,
        made => made,
    };
    if let Some(made) = made {
        return Ok(made);
    }
    if let Some(columns) = columns(cx, y, y.rank().max(1) - 1)?
        && let Some(made) = groups_of_columns(cx, &columns)?
    {
        return Ok(made);
    }
    let all = keys(cx, y, y.rank().max(1) - 1)?;
    let _held = cx.budget().charge_elements(all.len(), 16 + IN_TABLE)?;
    let mut seen = Table::empty(&all, ct);
    let mut out = Groups { firsts: Vec::new(), of: cx.budget().room(all.len())? };
    // The group whose first cell is this one.
    let mut number = cx.budget().filled(0, all.len())?;
    let mut ticks = cx.budget().ticks();
    for (k, cell) in all.iter().enumerate() {
        if let Some(&before) = out.of.last()
            && cell.is_one_with(&all[k - 1])
        {
            ticks.tick()?;
            out.of.push(before);
            continue;
        }
        ticks.spend(cell.size())?;
        let first = seen.find(cell).unwrap_or_else(|| {
            seen.insert(k);
            number[k] = out.firsts.len() as u32;
            out.firsts.push(k);
            k
        });
        out.of.push(number[first]);
    }
    Ok(out)
}

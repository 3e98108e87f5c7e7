//! Order: `⍋ ⍒`. Stable; numbers exactly, complex ones by real, then imaginary part, before
//! characters; nested item by item, shorter first.

use super::groups::{Groups, columns, groups_of_pieces, groups_of_shared, runs};
use super::search::cell_arrays;
use super::shape::Axis;
use super::sorted::{in_order, in_short_order};
use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, domain, rank};
use aplomb_values::array::{Array, Complex64, DType, Ragged, Split, elements, storage};
use aplomb_values::dag::Lib;
use aplomb_values::prim::library::order_key;
use aplomb_values::prim::whole::{Given, grade as grade_numbers};
use std::cmp::Ordering;
use std::collections::HashMap;

/// The total order of arrays: numbers before characters; arrays item by item, where what is missing
/// comes first, then by rank and shape. An array of lower rank is taken with axes of length 1 in
/// front.
pub fn compare(a: &Array, b: &Array) -> Ordering {
    match (a.is_simple_scalar(), b.is_simple_scalar()) {
        (true, true) => {
            // Who orders has looked for references.
            if a.to_reference().or(b.to_reference()).is_some() {
                return Ordering::Equal;
            }
            return match (a.is_char(), b.is_char()) {
                (false, true) => Ordering::Less,
                (true, false) => Ordering::Greater,
                (false, false) => complex(a.ready_complex(), b.ready_complex()),
                (true, true) => {
                    a.number_at(0).map(|c| c as u32).cmp(&b.number_at(0).map(|c| c as u32))
                }
            };
        }
        (true, false) if b.rank() == 0 => return compare(a, &b.disclosed()).then(Ordering::Less),
        (false, true) if a.rank() == 0 => {
            return compare(&a.disclosed(), b).then(Ordering::Greater);
        }
        _ => {}
    }
    if a.is_one_with(b) {
        return Ordering::Equal;
    }
    let items = if a.shape() == b.shape() || a.rank().max(b.rank()) < 2 {
        let n = a.len().min(b.len());
        let order = (0..n).map(|k| compare(&a.item(k), &b.item(k))).find(|o| o.is_ne());
        order.unwrap_or(Ordering::Equal).then(a.len().cmp(&b.len()))
    } else {
        padded(a, b)
    };
    let empties = || match (a.is_empty(), a.prototype().is_char(), b.prototype().is_char()) {
        (true, x, y) => x.cmp(&y),
        _ => Ordering::Equal,
    };
    items.then(a.rank().cmp(&b.rank())).then_with(|| a.shape().cmp(b.shape())).then_with(empties)
}

/// Arrays of different shapes over the box that holds both; a place that only one has puts the
/// other first.
fn padded(a: &Array, b: &Array) -> Ordering {
    let r = a.rank().max(b.rank());
    let full = |x: &Array| -> Vec<usize> {
        std::iter::repeat_n(1, r - x.rank()).chain(x.shape().iter().copied()).collect()
    };
    let (m, n) = (full(a), full(b));
    let common: Vec<usize> = m.iter().zip(&n).map(|(&m, &n)| m.max(n)).collect();
    let at = |place: &[usize], shape: &[usize]| {
        let inside = place.iter().zip(shape).all(|(p, n)| p < n);
        inside.then(|| place.iter().zip(shape).fold(0, |at, (p, n)| at * n + p))
    };
    let mut place = vec![0; r];
    for _ in 0..elements(&common) {
        let order = match (at(&place, &m), at(&place, &n)) {
            (Some(i), Some(j)) => compare(&a.item(i), &b.item(j)),
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        if order.is_ne() {
            return order;
        }
        aplomb_values::array::advance(&mut place, &common);
    }
    Ordering::Equal
}

fn number(x: f64, y: f64) -> Ordering {
    order_key(x).cmp(&order_key(y))
}

/// By real, then by imaginary part.
fn complex(x: Complex64, y: Complex64) -> Ordering {
    number(x.re, y.re).then(number(x.im, y.im))
}

/// Ranks of the major cells in ascending or descending order.
pub fn graded(cx: &mut Cx<'_>, y: &Array, down: bool) -> Result<Vec<usize>> {
    if y.rank() == 0 {
        return Err(rank("a scalar cannot be graded"));
    }
    let y = cx.ready(y, "grade")?;
    let n = y.shape()[0];
    let _held = cx.budget().charge_elements(n, 24)?;
    if y.is_uniform() && !y.is_complex() {
        // Numbers, and characters on their way to numbers.
        let _items = cx.budget().charge_elements(y.len(), if y.is_char() { 12 } else { 8 })?;
        let items: Vec<f64> = match y.is_char() {
            true => {
                let chars = y.ready_chars(cx.budget())?;
                cx.budget().each(chars.iter().map(|&c| f64::from(u32::from(c))))?
            }
            false => y.ready_numbers(cx.budget())?,
        };
        return Ok(grade_numbers(Given { items: &items, shape: y.shape() }, down));
    }
    if y.holds_reference() {
        return Err(domain("a namespace stands before or after nothing"));
    }
    let out: Vec<usize> = cx.budget().each(0..n)?;
    let turn = |o: Ordering| if down { o.reverse() } else { o };
    if y.is_complex() {
        let items = y.ready_complexes(cx.budget())?;
        let m = elements(&y.shape()[1..]);
        let row = |k: usize| &items[k * m..(k + 1) * m];
        let order = |a: usize, b: usize| {
            row(a)
                .iter()
                .zip(row(b))
                .map(|(x, y)| complex(*x, *y))
                .find(|o| o.is_ne())
                .unwrap_or(Ordering::Equal)
        };
        return in_short_order(out, cx.budget(), |a, b| turn(order(a, b)));
    }
    if y.rank() == 1
        && let Some(pieces) = runs(cx, &y, 0)?
        && let Some(groups) = groups_of_pieces(&pieces, 0.0, cx.budget())?
    {
        return by_group(cx, &pieces, &groups, down);
    }
    if let Some(columns) = columns(cx, &y, y.rank() - 1)?
        && let Some(places) = by_columns(cx, &columns, down)?
    {
        return Ok(places);
    }
    let cells = cell_arrays(cx, &y, y.rank() - 1)?;
    in_order(out, cx.budget(), |ticks, a, b| {
        let (a, b) = (&cells[a], &cells[b]);
        ticks.spend(if a.is_one_with(b) { 1 } else { 1 + a.len().min(b.len()) })?;
        Ok(turn(compare(a, b)))
    })
}

/// The order of rows, of which these are the columns: by the rank that each row has in each. None:
/// the items of one are of several kinds.
fn by_columns(cx: &mut Cx<'_>, columns: &[Array], down: bool) -> Result<Option<Vec<usize>>> {
    let n = columns.first().map_or(0, Array::len);
    let mut keys = cx.budget().filled(0u64, n)?;
    let mut most = 1u64;
    for column in columns {
        let Some((ranks, m)) = ranks(cx, column)? else { return Ok(None) };
        let Some(next) = most.checked_mul(m as u64) else { return Ok(None) };
        keys.iter_mut().zip(&ranks).for_each(|(key, rank)| *key = *key * m as u64 + *rank as u64);
        most = next;
    }
    let out: Vec<usize> = cx.budget().each(0..n)?;
    let order =
        |a: usize, b: usize| if down { keys[b].cmp(&keys[a]) } else { keys[a].cmp(&keys[b]) };
    in_short_order(out, cx.budget(), order).map(Some)
}

/// The rank of each item of a vector among those that differ, and how many these are. None: the
/// items are of several kinds.
fn ranks(cx: &mut Cx<'_>, column: &Array) -> Result<Option<(Vec<usize>, usize)>> {
    let n = column.len();
    if let Some(pieces) = runs(cx, column, 0)? {
        let shared = groups_of_shared(cx, column)?;
        let groups = match shared {
            None => groups_of_pieces(&pieces, 0.0, cx.budget())?,
            shared => shared,
        };
        let Some(groups) = groups else { return Ok(None) };
        let sorted = sorted_groups(cx, &pieces, &groups, false)?;
        let mut of_group = cx.budget().filled(0usize, sorted.len())?;
        sorted.iter().enumerate().for_each(|(rank, &g)| of_group[g] = rank);
        let out = cx.budget().each(groups.of.iter().map(|&g| of_group[g as usize]))?;
        return Ok(Some((out, sorted.len())));
    }
    let column = cx.ready(column, "grade")?;
    if column.rank() != 1 || !column.is_plain() {
        return Ok(None);
    }
    let order = graded(cx, &column, false)?;
    let (mut out, mut rank) = (cx.budget().filled(0usize, n)?, 0);
    for (k, &at) in order.iter().enumerate() {
        let before = k.checked_sub(1).map(|k| order[k]);
        if let Some(before) = before
            && compare(&column.item(before), &column.item(at)).is_ne()
        {
            rank += 1;
        }
        out[at] = rank;
    }
    Ok(Some((out, rank + 1)))
}

/// The first items of a piece as one number, in the order of pieces as far as it goes: each item is
/// a digit, counted from 1 on, so that a piece that ends comes before one that goes on.
struct Heads {
    least: f64,
    bits: u32,
}

impl Heads {
    /// For pieces of these items. Of other items than whole numbers and characters a piece's number
    /// tells nothing.
    fn of(flat: &Array, items: &[f64]) -> Heads {
        let exact = flat.is_char() || flat.dtype().is_integer();
        let least = items.iter().copied().fold(f64::INFINITY, f64::min);
        let most = items.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let digits = if exact && least <= most { (most - least) as u64 + 2 } else { 0 };
        Heads { least, bits: u64::BITS - digits.leading_zeros() }
    }

    fn key(&self, piece: &[f64]) -> u64 {
        let Some(fit) = u64::BITS.checked_div(self.bits) else { return 0 };
        let digit = |k: u32| piece.get(k as usize).map_or(0, |x| (x - self.least) as u64 + 1);
        (0..fit).fold(0, |key, k| key << self.bits | digit(k))
    }
}

/// Groups of pieces in their order.
fn sorted_groups(cx: &Cx<'_>, pieces: &Ragged, groups: &Groups, down: bool) -> Result<Vec<usize>> {
    let m = groups.firsts.len();
    let sorted: Vec<usize> = cx.budget().each(0..m)?;
    let turn = |order: Ordering| if down { order.reverse() } else { order };
    match storage(pieces.flat()).map(|s| s.view().numbers(cx.budget())).transpose()? {
        // Item by item, the shorter first: no array is made of a piece.
        Some(items) => {
            let _keys = cx.budget().charge_elements(items.len(), 8)?;
            let piece = |g: usize| &items[pieces.range(groups.firsts[g])];
            let heads = Heads::of(pieces.flat(), &items);
            let _heads = cx.budget().charge_elements(m, size_of::<(u64, usize)>())?;
            let keys = cx.budget().each(sorted.into_iter().map(|g| (heads.key(piece(g)), g)))?;
            let sorted = in_short_order(keys, cx.budget(), |(x, a), (y, b)| {
                let rest = || {
                    let (a, b) = (piece(a), piece(b));
                    let differ = a.iter().zip(b).map(|(x, y)| number(*x, *y)).find(|o| o.is_ne());
                    match differ {
                        Some(order) => order,
                        None => a.len().cmp(&b.len()),
                    }
                };
                turn(x.cmp(&y).then_with(rest))
            })?;
            cx.budget().each(sorted.into_iter().map(|(_, g)| g))
        }
        None => {
            let firsts = cx.budget().each(groups.firsts.iter().map(|&k| pieces.item(k)))?;
            in_short_order(sorted, cx.budget(), |a, b| turn(compare(&firsts[a], &firsts[b])))
        }
    }
}

/// The order of pieces of which some are equal: those that differ are sorted, and each piece comes
/// behind as many as are less, in the order in which they stand.
fn by_group(cx: &Cx<'_>, pieces: &Ragged, groups: &Groups, down: bool) -> Result<Vec<usize>> {
    let sorted = sorted_groups(cx, pieces, groups, down)?;
    let m = sorted.len();
    let mut size = cx.budget().filled(0usize, m)?;
    groups.of.iter().for_each(|&g| size[g as usize] += 1);
    let mut next = cx.budget().filled(0usize, m)?;
    let mut less = 0;
    for g in sorted {
        next[g] = less;
        less += size[g];
    }
    let mut out = cx.budget().filled(0usize, groups.of.len())?;
    for (k, &g) in groups.of.iter().enumerate() {
        let at = &mut next[g as usize];
        out[*at] = k;
        *at += 1;
    }
    Ok(out)
}

/// Every cell of a frame graded. Vectors of real numbers or characters are the rows of one array,
/// which a launch puts in order.
fn grade_cells(cx: &mut Cx<'_>, y: &Array, split: &Split, down: bool) -> Result<Array> {
    let rows = y.rank() == 1 && !y.is_empty() && !split.node.is_open();
    let of = if down { Lib::GradeDown } else { Lib::GradeUp };
    if rows
        && !cx.sys.scope.in_round()
        && let Some(places) = cx.record_grades(&split.node, of)?
    {
        return Ok(Array::framed(places, split.at));
    }
    if !rows || cx.sys.scope.in_round() || cx.sys.scope.is_conditional() {
        let glyph = if down { '⍒' } else { '⍋' };
        return cx.over_cells(glyph, &[y], |cx, a| grade(cx, &a[0], down));
    }
    let node = cx.ready(&split.node, "grade")?;
    let work = cx.begin_work(node.len());
    let places = graded_rows(cx, &node, down)?;
    cx.tell_work(work);
    Ok(Array::framed(places, split.at))
}

/// The places in each row along the last axis that put it in order, at once.
pub fn graded_rows(cx: &mut Cx<'_>, node: &Array, down: bool) -> Result<Array> {
    let io = cx.sys.settings.io;
    let Some(held) = storage(node).filter(|_| !node.is_complex()) else {
        let _held = cx.budget().charge_elements(node.len(), 8)?;
        let (rows, mut places) = (cell_arrays(cx, node, 1)?, cx.budget().room(node.len())?);
        for row in &rows {
            places.extend(graded(cx, row, down)?.into_iter().map(|k| k as f64 + io));
        }
        return Array::numbers(node.shape(), places, cx.budget());
    };
    let items = held.view().numbers(cx.budget())?;
    let shape = &node.shape()[node.rank() - 1..];
    let _held = cx.budget().charge_elements(items.len(), 16)?;
    let (mut places, mut ticks) = (cx.budget().room(items.len())?, cx.budget().ticks());
    for items in items.chunks_exact(shape[0]) {
        ticks.tick()?;
        places
            .extend(grade_numbers(Given { items, shape }, down).into_iter().map(|k| k as f64 + io));
    }
    Array::numbers(node.shape(), places, cx.budget())
}

fn grade(cx: &mut Cx<'_>, y: &Array, down: bool) -> Result<Array> {
    if let Some(split) = y.frame() {
        return grade_cells(cx, y, split, down);
    }
    let of = if down { Lib::GradeDown } else { Lib::GradeUp };
    if let Some(made) = cx.record_lib(of, &[y])? {
        return Ok(made);
    }
    graded_places(cx, y, down)
}

/// Items from which on the device's sorts are quicker.
const MANY: usize = 100;

/// Whether the type that holds the number of items is that of their places.
fn has_narrow_places(n: usize, io: f64) -> bool {
    DType::holding(0.0, n as f64 + io) == DType::holding(0.0, n as f64 - 1.0 + io)
}

/// The same at once.
pub fn graded_places(cx: &mut Cx<'_>, y: &Array, down: bool) -> Result<Array> {
    let io = cx.sys.settings.io;
    let y = &cx.ready(y, "grade")?;
    let of = if down { Lib::GradeDown } else { Lib::GradeUp };
    if y.rank() == 1
        && y.len() >= MANY
        && y.is_uniform()
        && has_narrow_places(y.len(), io)
        && let Some(made) = cx.host.ordered(y, of, io)?
    {
        return Ok(made);
    }
    let order = graded(cx, y, down)?;
    let places = cx.budget().each(order.into_iter().map(|k| k as f64 + io))?;
    cx.vector(places)
}

/// `⍋Y`: the places that put the major cells in ascending order.
pub fn up(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    grade(cx, y, false)
}

/// `⍒Y`: the places that put the major cells in descending order.
pub fn down(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    grade(cx, y, true)
}

/// `X⍋Y`: text in the order of X. Along the last axis of X first, for all the characters of a cell,
/// then along the one before, and so on. A character that X holds several times stands at its least
/// place along each axis; one that X does not hold stands behind all. Errors: RANK for scalars,
/// DOMAIN unless both are text.
fn collate(cx: &mut Cx<'_>, x: &Array, y: &Array, is_down: bool) -> Result<Array> {
    if x.rank() == 0 || y.rank() == 0 {
        return Err(rank("a collation needs at least vectors"));
    }
    let (x, y) = (cx.ready(x, "grade")?, cx.ready(y, "grade")?);
    let _texts = cx.budget().charge_elements(x.len().saturating_add(y.len()), 4)?;
    let (Some(order), Some(text)) = (x.to_chars(cx.budget())?, y.to_chars(cx.budget())?) else {
        return Err(domain("a collation takes text"));
    };
    let r = x.rank();
    // The least place along each axis, the last axis first.
    let mut places: HashMap<char, Vec<f64>> = HashMap::new();
    let (mut place, mut ticks) = (vec![0; r], cx.budget().ticks());
    for c in order {
        ticks.tick()?;
        let known = places.entry(c).or_insert_with(|| vec![f64::INFINITY; r]);
        known.iter_mut().zip(place.iter().rev()).for_each(|(k, &p)| *k = k.min(p as f64));
        aplomb_values::array::advance(&mut place, x.shape());
    }
    let absent: Vec<f64> = x.shape().iter().rev().map(|&n| n as f64).collect();
    let n = y.shape()[0];
    let m = elements(&y.shape()[1..]);
    let _held = cx.budget().charge_elements(text.len(), 8 * r)?;
    // For each cell: all its characters along the last axis, then along the one before …
    let mut keys = cx.budget().room(text.len().saturating_mul(r))?;
    for cell in 0..n {
        for axis in 0..r {
            ticks.tick()?;
            keys.extend(
                text[cell * m..(cell + 1) * m]
                    .iter()
                    .map(|c| places.get(c).unwrap_or(&absent)[axis]),
            );
        }
    }
    let keys = Array::floats([n, m * r].as_slice(), keys, cx.budget())?;
    grade(cx, &keys, is_down)
}

/// `X⍋Y`: as `⍋Y`, by the order of characters in X.
pub fn up_by(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    collate(cx, x, y, false)
}

/// `X⍒Y`: as `⍒Y`, by the order of characters in X.
pub fn down_by(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    collate(cx, x, y, true)
}

//! Rows in order (`Lib` with `rows`): each along the last axis by itself, grades and sorts.
//!
//! | rows | way | 3.2 million f64, two threads |
//! |---|---|---|
//! | up to 64 numbers | eight rows at once, a row a lane, by a sorting network | rows of 16 sorted: 7 ms |
//! | longer ones | a row by its thread, by the digits of its keys | – |
//! | longer than a thread should have alone | one after the other, as a vector is sorted | – |
//! | some neighbours of each row's order | a row by its thread, as `neighbours` chooses; the first one in one look | rows of 2000: 2 ms |
//!
//! A network compares the same places whatever the numbers are, so eight rows take the steps of
//! one. It is Batcher's odd-even merge sort (Sorting networks and their applications, 1968) for the
//! next power of two, without the comparisons of places that no row has: these would hold the
//! greatest keys, which are at the end already. A network leaves no order among equal keys; a grade
//! compares their places, too, of which no two are equal, so its result is the one stable order.

use super::across::{GROUP, Panels, turns};
use super::convert::{Source, converts};
use super::isa::{Isa, by_isa};
use super::select::chosen;
use super::share::{Ran, STRETCH, each_unit};
use super::sorting::{Bits, by_digits};
use super::{Cpu, RunCtx, library, neighbours};
use aplomb_values::array::DType;
use aplomb_values::dag::Lib;
use aplomb_values::prim::library::{Grading, order_key, ordered, shares_key};
use aplomb_values::prim::whole::Given;
use std::borrow::Cow;

/// Numbers of the longest row that a network sorts.
const SHORT: usize = 64;
/// Rows that a network sorts at once.
const LANES: usize = 8;
/// Numbers of a row that all threads sort together.
const LONG: usize = 4 * STRETCH;

/// Rows that all have one length, and what is made of them.
#[derive(Clone, Copy)]
struct Rows {
    of: Lib,
    source: Source,
    width: usize,
    /// The number of the first place (⎕IO); nothing to sorts.
    origin: f64,
}

/// The places in the order of each row that are wanted.
type Wanted = std::ops::Range<usize>;

// SAFETY: nobody writes its source while a launch holds it.
unsafe impl Sync for Rows {}

/// Writes the rows' numbers or places in order, those that are wanted, to `to`. Safety: it holds as
/// many f64 as are wanted of each row, which are whole rows of `width`.
pub unsafe fn run(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (of, origin): (Lib, f64),
    (source, width): (Source, usize),
    wanted: Wanted,
    to: *mut f64,
) -> Ran {
    let rows = Rows { of, source, width, origin };
    let count = source.len / width.max(1);
    let to = To(to);
    if wanted.len() < width {
        let (isa, n, unit) = (cpu.isa, wanted.len(), (STRETCH / width).max(1));
        return each_unit(
            &mut cpu.threads,
            count.div_ceil(unit),
            source.len > STRETCH,
            ctx,
            &|k, _| {
                let (first, end) = (k * unit, ((k + 1) * unit).min(count));
                let items = rows.items(isa, first * width, (end - first) * width);
                // SAFETY: units are disjoint, and `to` holds all of them.
                let out =
                    unsafe { std::slice::from_raw_parts_mut(to.at(first * n), (end - first) * n) };
                for (row, out) in items.chunks_exact(width).zip(out.chunks_exact_mut(n)) {
                    rows.some(isa, row, &wanted, out);
                }
            },
        );
    }
    if width > LONG {
        return one_by_one(cpu, ctx, rows, count, &to);
    }
    let (isa, network) = (cpu.isa, if width <= SHORT { network(width) } else { Vec::new() });
    let unit = (STRETCH / width).max(1).next_multiple_of(LANES);
    each_unit(&mut cpu.threads, count.div_ceil(unit), source.len > STRETCH, ctx, &|k, _| {
        let (first, end) = (k * unit, ((k + 1) * unit).min(count));
        let items = rows.items(isa, first * width, (end - first) * width);
        // SAFETY: units are disjoint, and `to` holds all of them.
        let out = unsafe { std::slice::from_raw_parts_mut(to.at(first * width), items.len()) };
        rows.in_order(isa, &network, &items, out);
    })
}

/// The memory of the results, each thread's own places.
struct To(*mut f64);

// SAFETY: see above.
unsafe impl Sync for To {}

impl To {
    fn at(&self, k: usize) -> *mut f64 {
        self.0.wrapping_add(k)
    }
}

/// Long rows, each by all threads.
fn one_by_one(cpu: &mut Cpu, ctx: &RunCtx, rows: Rows, count: usize, to: &To) -> Ran {
    let (n, mut threads) = (rows.width, 1);
    for row in 0..count {
        let items = rows.items(cpu.isa, row * n, n);
        let given = Given { items: &items, shape: &[n] };
        let origin = rows.origin;
        // ¯0 stays what it is.
        let own = |x: f64| if rows.of.is_sort() { x } else { x + origin };
        // SAFETY: the results of a row are written once each.
        let put = |k: usize, x: f64| unsafe { *to.at(row * n + k) = own(x) };
        threads = library::run(cpu, ctx, rows.of, 0.0, &[given], 0..n, &put)?.max(threads);
    }
    Ok(threads)
}

impl Rows {
    /// Items as numbers: where they lie, if they lie as such.
    fn items(&self, isa: Isa, at: usize, n: usize) -> Cow<'_, [f64]> {
        assert!(at + n <= self.source.len);
        if self.source.dtype == DType::F64 {
            let first = self.source.at.cast::<f64>();
            // SAFETY: they lie in the source, which nobody writes.
            return Cow::Borrowed(unsafe { std::slice::from_raw_parts(first.add(at), n) });
        }
        let mut out = vec![0.0; n];
        // SAFETY: they lie in the source, and there is room for n.
        unsafe { (converts(isa).load)(self.source, at as i64, 1, n, out.as_mut_ptr()) };
        Cow::Owned(out)
    }

    fn in_order(&self, isa: Isa, network: &[Exchange], items: &[f64], out: &mut [f64]) {
        let block = LANES * self.width;
        let mut lines = [[0; LANES]; SHORT];
        for (items, out) in items.chunks(block).zip(out.chunks_mut(block)) {
            let whole = items.len() == block && self.width <= SHORT;
            if !whole || self.of.is_sort() && items.iter().any(shares_key) {
                for (row, out) in items.chunks(self.width).zip(out.chunks_mut(self.width)) {
                    self.row(isa, row, out, row.iter().any(shares_key));
                }
                continue;
            }
            let lines = &mut lines[..self.width];
            let ordered = if self.of.is_sort() { lanes(isa).sort } else { lanes(isa).grade };
            across(isa, items, lines);
            // SAFETY: this machine has the instructions.
            unsafe { ordered(network, lines, self.flip()) }
            along(isa, lines, out);
            if !self.of.is_sort() {
                out.iter_mut().for_each(|k| *k += self.origin);
            }
        }
    }

    /// The neighbours in the order of a row that are wanted.
    fn some(&self, isa: Isa, row: &[f64], wanted: &Wanted, out: &mut [f64]) {
        let value = |at: usize| if self.of.is_sort() { row[at] } else { at as f64 + self.origin };
        if *wanted == (0..1) {
            out[0] = value(neighbours::first(isa, row, self.of.is_down()));
            return;
        }
        let shape = [row.len()];
        let grading = Grading::new(Given { items: row, shape: &shape }, self.of.is_down());
        let mut cells: Vec<_> = (0..row.len()).map(|k| grading.cell(k)).collect();
        let cells = chosen(&mut cells, wanted.clone());
        out.iter_mut().zip(cells).for_each(|(out, cell)| *out = value(cell.at()));
    }

    fn flip(&self) -> u64 {
        if self.of.is_down() { u64::MAX } else { 0 }
    }

    fn row(&self, isa: Isa, row: &[f64], out: &mut [f64], odd: bool) {
        let flip = self.flip();
        if self.of.is_sort() && !odd {
            let mut keys: Vec<u64> = row.iter().map(|x| order_key(*x) ^ flip).collect();
            let mut spare = keys.clone();
            u64::in_order(isa, &mut keys, &mut spare, &|| false);
            out.iter_mut().zip(keys).for_each(|(out, key)| *out = ordered(key ^ flip));
            return;
        }
        let shape = [row.len()];
        let grading = Grading::new(Given { items: row, shape: &shape }, self.of.is_down());
        let mut cells: Vec<_> = (0..row.len()).map(|k| grading.cell(k)).collect();
        let mut spare = cells.clone();
        by_digits(&mut cells, &mut spare, &|| false);
        for (out, cell) in out.iter_mut().zip(cells) {
            let at = cell.at();
            *out = if self.of.is_sort() { row[at] } else { at as f64 + self.origin };
        }
    }
}

/// Two places of a row, the lesser of whose keys goes to the first.
type Exchange = (u8, u8);

/// The exchanges that put n places in order.
fn network(n: usize) -> Vec<Exchange> {
    let (mut out, full) = (Vec::new(), n.next_power_of_two());
    let mut run = 1;
    while run < full {
        let mut apart = run;
        while apart > 0 {
            let first = if apart == run { 0 } else { apart };
            for start in (first..full.saturating_sub(apart)).step_by(2 * apart) {
                for low in start..(start + apart).min(full - apart) {
                    let high = low + apart;
                    // Only places of one pair of runs.
                    if low / (2 * run) == high / (2 * run) && high < n {
                        out.push((low as u8, high as u8));
                    }
                }
            }
            apart /= 2;
        }
        run *= 2;
    }
    out
}

/// The same place of eight rows: bits of numbers, their keys, or places.
type Lane = [u64; LANES];
/// Puts eight rows in order, a lane each: of the bits of numbers come those of numbers or places.
type InOrder = unsafe fn(network: &[Exchange], lines: &mut [Lane], flip: u64);

/// The loops over eight rows.
#[derive(Clone, Copy)]
pub struct Networks {
    sort: InOrder,
    grade: InOrder,
}

/// Eight rows of numbers turned, so that a row is a lane. By registers: items picked one by one
/// become gathers, which take three times as long as all that is done with them.
fn across(isa: Isa, items: &[f64], lines: &mut [Lane]) {
    let width = lines.len();
    assert!(items.len() == LANES * width && LANES == GROUP);
    let to = Panels { at: lines.as_mut_ptr().cast(), wide: width, apart: 0 };
    // SAFETY: there are eight rows of `width` items, and a line of eight for each of a row.
    unsafe { turns(isa)(items.as_ptr(), width as isize, width, to) }
}

/// Turns them back.
fn along(isa: Isa, lines: &[Lane], out: &mut [f64]) {
    let width = lines.len();
    assert_eq!(out.len(), LANES * width);
    let whole = width / GROUP * GROUP;
    for first in (0..whole).step_by(GROUP) {
        let to = Panels { at: out[first..].as_mut_ptr(), wide: 1, apart: width };
        // SAFETY: eight lines from this one on, and in each of eight rows as many items.
        unsafe { turns(isa)(lines[first..].as_ptr().cast(), LANES as isize, LANES, to) }
    }
    for (k, line) in lines.iter().enumerate().skip(whole) {
        for (lane, bits) in line.iter().enumerate() {
            out[lane * width + k] = f64::from_bits(*bits);
        }
    }
}

/// The bits of numbers become their keys.
#[inline(always)]
fn to_keys(lines: &mut [Lane], flip: u64) {
    for x in lines.as_flattened_mut() {
        *x = order_key(f64::from_bits(*x)) ^ flip;
    }
}

#[inline(always)]
fn sort(network: &[Exchange], lines: &mut [Lane], flip: u64) {
    to_keys(lines, flip);
    for &(a, b) in network {
        let (a, b) = (usize::from(a), usize::from(b));
        let (x, y) = (lines[a], lines[b]);
        for k in 0..LANES {
            lines[a][k] = x[k].min(y[k]);
            lines[b][k] = x[k].max(y[k]);
        }
    }
    for x in lines.as_flattened_mut() {
        *x = ordered(*x ^ flip).to_bits();
    }
}

#[inline(always)]
fn grade(network: &[Exchange], lines: &mut [Lane], flip: u64) {
    to_keys(lines, flip);
    let mut places: [Lane; SHORT] = std::array::from_fn(|k| [k as u64; LANES]);
    for &(a, b) in network {
        let (a, b) = (usize::from(a), usize::from(b));
        let (x, y, i, j) = (lines[a], lines[b], places[a], places[b]);
        for k in 0..LANES {
            let turn = x[k] > y[k] || x[k] == y[k] && i[k] > j[k];
            (lines[a][k], lines[b][k]) = if turn { (y[k], x[k]) } else { (x[k], y[k]) };
            (places[a][k], places[b][k]) = if turn { (j[k], i[k]) } else { (i[k], j[k]) };
        }
    }
    for (line, places) in lines.iter_mut().zip(&places) {
        *line = places.map(|place| (place as f64).to_bits());
    }
}

macro_rules! instances {
    ($name:ident $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn sort(network: &[Exchange], lines: &mut [Lane], flip: u64) {
                super::sort(network, lines, flip)
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn grade(network: &[Exchange], lines: &mut [Lane], flip: u64) {
                super::grade(network, lines, flip)
            }

            pub const ALL: Networks = Networks { sort, grade };
        }
    };
}

by_isa!(
    instances,
    /// The loops for an instruction set.
    lanes,
    Networks
);

#[cfg(test)]
mod tests {
    use super::super::tests::Dice;
    use super::*;
    use aplomb_ground::limits::{Budget, Interrupt};
    use aplomb_values::dag::Whole;
    use aplomb_values::prim::whole;

    #[test]
    fn a_network_sorts_whatever_is_given() {
        for n in 1..=SHORT {
            let network = network(n);
            // By the 0-1 principle all vectors of two values would do; of the long ones some.
            let mut dice = Dice(n as u64);
            for _ in 0..2_000 {
                let mut row: Vec<usize> = (0..n).map(|_| dice.roll(2)).collect();
                for &(a, b) in &network {
                    if row[usize::from(a)] > row[usize::from(b)] {
                        row.swap(usize::from(a), usize::from(b));
                    }
                }
                assert!(row.is_sorted(), "{n}: {row:?}");
            }
        }
    }

    #[test]
    fn rows_of_every_length_are_as_the_oracle_has_them() {
        let some = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, 2.5];
        let mut dice = Dice(11);
        for width in (1..=70).chain([511, 600, LONG + 1]) {
            for kinds in [3, some.len()] {
                let rows = if width > 100 { 2 } else { 1 + dice.roll(20) };
                let at = if kinds == 3 { 2 } else { 0 };
                let items: Vec<f64> =
                    (0..rows * width).map(|_| some[at + dice.roll(kinds - at)]).collect();
                let shape = [rows, width];
                let all = [Lib::GradeUp, Lib::GradeDown, Lib::SortUp, Lib::SortDown];
                let parts = [0..width, 0..1, width / 2..width.min(width / 2 + 3)];
                for (of, part) in all.into_iter().flat_map(|of| parts.clone().map(|p| (of, p))) {
                    let first = part.start;
                    let what = Whole::Lib { of, origin: 1.0, ct: 0.0, rows: true, first };
                    let given = [Given { items: &items, shape: &shape }];
                    let own = [rows, part.len()];
                    let wanted = whole::run(&what, &given, &own, DType::F64, &mut |_, _| ());
                    for isa in Isa::available() {
                        let mut cpu = Cpu::with(isa, 2);
                        let ctx = RunCtx {
                            interrupt: &Interrupt::default(),
                            budget: &Budget::new(1 << 30),
                            timed: false,
                            libraries: true,
                            abreast: true,
                        };
                        let at = items.as_ptr().cast();
                        let source = Source { at, dtype: DType::F64, len: items.len() };
                        let mut out = vec![f64::NAN; rows * part.len()];
                        let (of_rows, to) = ((source, width), out.as_mut_ptr());
                        // SAFETY: there is room for as many.
                        unsafe {
                            run(&mut cpu, &ctx, (of, 1.0), of_rows, part.clone(), to).unwrap()
                        };
                        assert_eq!(out.len(), wanted.len());
                        let same = out.iter().zip(&wanted).all(|(x, y)| x.to_bits() == y.to_bits());
                        assert!(same, "{of:?} of rows of {width} on {isa:?}");
                    }
                }
            }
        }
    }
}

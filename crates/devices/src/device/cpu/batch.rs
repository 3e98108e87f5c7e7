//! Small products one after the other: `A(+.×⍤2)B`, and whatever else folds a few products of
//! numbers in memory.
//!
//! | operands | strategy | measured, 200 000 products of 4 by 4 |
//! |---|---|---|
//! | f64 of which one does not change along the columns, where the other's lie side by side | a register is the results of so many columns; the products of one are folded in registers; a right operand that all rows of a block share is read once | see docs/PERFORMANCE.md |
//!
//! The order is that of `prim::reduce`: products that are rounded are a partial result each, and
//! these are halved; others are taken one after the other. Lanes are results that know nothing of
//! each other. A result that shows ∞ or NaN leaves all of it to `fold`. Not here: operands that are
//! computed, or of other types.

use super::cut::{ALONE_NS, Fold};
use super::isa::by_isa;
use super::lanes::Wide;
#[cfg(target_arch = "x86_64")]
use super::lanes::{V4, V8};
use super::loops::plain;
use super::program::Input;
use super::share::{Tally, each_unit};
use super::{Cpu, DeviceError, RunCtx};
use aplomb_plans::plan::cpu::REGISTERS;
use aplomb_plans::plan::{Kind, Launch, Step, ValueId, What};
use aplomb_values::array::{DType, Shape as Extents};
use aplomb_values::dag::ix::{Ix, linear};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::{ROWS, halve};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};

/// Elements of a fold whose products are registers, at most.
const DEEP: usize = REGISTERS;
/// Columns from which on a register pays.
const FEW: usize = 4;
/// Products to a unit.
const UNIT: usize = 1 << 15;
/// A product and its part of the fold.
const ONE_NS: f64 = 0.1;

/// An operand: where it begins, and its steps along the axes.
struct Side {
    at: *const f64,
    first: i64,
    steps: Vec<i64>,
}

// SAFETY: nobody writes it while the launch runs.
unsafe impl Sync for Side {}

/// Blocks of rows of results, whose operands are so many f64 apart.
#[derive(Clone, Copy)]
pub struct Shape {
    blocks: usize,
    rows: usize,
    columns: usize,
    deep: usize,
    /// From block to block, from row to row, and along the fold.
    left: [i64; 3],
    right: [i64; 3],
}

/// The results of rows, one behind the other. Safety: the operands lie there.
type Rows = unsafe fn(left: *const f64, right: *const f64, shape: Shape, out: *mut f64);

/// A launch that is such products.
pub struct Batch {
    left: Side,
    right: Side,
    /// The axes before that of the rows.
    outer: Extents,
    shape: Shape,
    /// Products are taken in order (`Op::Mac`).
    in_order: bool,
}

impl Batch {
    /// None: the launch is something else.
    pub fn of(launch: &Launch, inputs: &[Input]) -> Option<Batch> {
        let rank = launch.domain.len();
        let [reduction] = launch.reductions.as_slice() else { return None };
        let &[.., columns, deep] = launch.domain.as_slice() else { return None };
        let simple = launch.kind == Kind::Reduce
            && launch.axis == Some(rank - 1)
            && launch.stores.is_empty()
            && launch.body.len() == 3
            && launch.body.iter().all(|step| step.from.guard.is_none());
        let sums = reduction.op == Op::Add && reduction.dtype == DType::F64;
        if !simple || !sums || rank < 3 || columns < FEW || deep < 2 {
            return None;
        }
        let Step { what: What::Op { op, args, .. }, dtype: DType::F64, .. } =
            launch.body.get(reduction.value as usize)?
        else {
            return None;
        };
        let most = match op {
            Op::Mul => DEEP,
            Op::Mac => ROWS,
            _ => return None,
        };
        if deep > most {
            return None;
        }
        let &[x, y] = args.as_slice() else { return None };
        let side = |v: ValueId| {
            let What::Load(k) = launch.body.get(v as usize)?.what else { return None };
            let (load, input) = (launch.loads.get(k as usize)?, inputs.get(k as usize)?);
            let at: Ix = linear(&load.read.ix, &input.shape, &launch.domain);
            let (least, most) = at.range(&launch.domain);
            let inside = least >= 0 && most < input.source.len as i64;
            let fine = load.read.tests.is_empty() && at.is_affine() && inside;
            (fine && input.source.dtype == DType::F64).then(|| Side {
                at: input.source.at.cast(),
                first: at.c,
                steps: (0..rank).map(|axis| at.coefficient(axis)).collect(),
            })
        };
        let (x, y) = (side(x)?, side(y)?);
        let along = |side: &Side| side.steps[rank - 2];
        let (left, right) = if along(&x) == 0 { (x, y) } else { (y, x) };
        if along(&left) != 0 || along(&right) != 1 {
            return None;
        }
        let steps = |side: &Side| {
            // No step where there is one block.
            let between = if rank > 3 { side.steps[rank - 4] } else { 0 };
            [between, side.steps[rank - 3], side.steps[rank - 1]]
        };
        let (rows, outer) = (launch.domain[rank - 3], launch.domain[..rank - 3].into());
        let shape =
            Shape { blocks: 1, rows, columns, deep, left: steps(&left), right: steps(&right) };
        Some(Batch { left, right, outer, shape, in_order: *op == Op::Mac })
    }

    /// None: some result is not finite.
    pub fn run(
        &self,
        cpu: &mut Cpu,
        fold: &Fold,
        ctx: &RunCtx,
    ) -> Result<Option<Tally>, DeviceError> {
        let (Shape { rows, columns, deep, .. }, outer) = (self.shape, self.outer.len());
        let all = self.outer.iter().product::<usize>() * rows;
        let unit = (UNIT / (columns * deep)).max(1);
        let together = (all * columns * deep) as f64 * ONE_NS > ALONE_NS;
        let of_rows = of_rows(cpu.isa)[usize::from(self.in_order)][deep.min(DEEP)];
        let fine = AtomicBool::new(true);
        let (units, finite) = (all.div_ceil(unit), plain(cpu.isa));
        let threads = each_unit(&mut cpu.threads, units, together, ctx, &|k, _| {
            let (mut row, end) = (k * unit, ((k + 1) * unit).min(all));
            let (mut block, mut first) = (self.block(row / rows), row % rows);
            // SAFETY: the operands' places lie in their sources, which `of` looked at; the results
            // are this unit's.
            unsafe {
                let out = fold.out.add(row * columns);
                while row < end {
                    let whole = if first == 0 { (end - row) / rows } else { 0 };
                    let (blocks, some) = match whole {
                        0 => (1, (rows - first).min(end - row)),
                        _ => (block.alike(self).min(whole), rows),
                    };
                    let [x, y] =
                        [(&self.left, block.left), (&self.right, block.right)].map(|(side, at)| {
                            side.at.offset((at + side.steps[outer] * first as i64) as isize)
                        });
                    let shape = Shape { rows: some, blocks, ..self.shape };
                    of_rows(x, y, shape, fold.out.add(row * columns));
                    row += blocks * some;
                    first = 0;
                    block.skip(self, blocks);
                }
                if !(finite.all_finite)(out, (end - k * unit) * columns) {
                    fine.store(false, Ordering::Relaxed);
                }
            }
        })?;
        Ok(fine.into_inner().then(|| Tally { threads, ..Tally::default() }))
    }

    /// The block at a place of the axes before that of the rows.
    fn block(&self, at: usize) -> Block {
        let mut block =
            Block { left: self.left.first, right: self.right.first, index: self.outer.clone() };
        let mut rest = at;
        for axis in (0..self.outer.len()).rev() {
            let k = rest % self.outer[axis];
            block.index[axis] = k;
            block.left += self.left.steps[axis] * k as i64;
            block.right += self.right.steps[axis] * k as i64;
            rest /= self.outer[axis];
        }
        block
    }
}

/// The beginnings of a block's operands, and its place on each axis: the next one is found without
/// a division, of which two took as long as a product of 4 by 4.
struct Block {
    left: i64,
    right: i64,
    index: Extents,
}

impl Block {
    /// The blocks from this one on that are the same steps apart: those along the last axis.
    fn alike(&self, of: &Batch) -> usize {
        match (of.outer.last(), self.index.last()) {
            (Some(extent), Some(at)) => extent - at,
            _ => 1,
        }
    }

    /// Goes on by so many blocks, all of them alike.
    fn skip(&mut self, of: &Batch, blocks: usize) {
        let mut by = blocks;
        for (axis, k) in self.index.iter_mut().enumerate().rev() {
            *k += by;
            let back = if *k == of.outer[axis] { std::mem::take(k) as i64 } else { 0 };
            self.left += of.left.steps[axis] * (by as i64 - back);
            self.right += of.right.steps[axis] * (by as i64 - back);
            if back == 0 {
                return;
            }
            by = 1;
        }
    }
}

/// The sum of n products, given by pairs of factors; n is K, but where that is `DEEP`.
#[inline(always)]
fn summed<L: Wide, const K: usize, const ORDER: bool>(
    n: usize,
    pair: impl Fn(usize) -> (L, L),
) -> L {
    if ORDER {
        // What changes no sum.
        let mut sum = L::splat(-0.0);
        for k in 0..n {
            let (x, y) = pair(k);
            sum = x.fma(y, sum);
        }
        return sum;
    }
    let mut part = [L::splat(0.0); K];
    for (k, part) in part[..n].iter_mut().enumerate() {
        let (x, y) = pair(k);
        *part = x.mul(y);
    }
    let Ok(()) = halve::<_, Infallible>(&mut part[..n], |x, y| Ok(x.add(y)));
    part[0]
}

/// Results of a row from one column on, as many as fill registers; the next column.
#[inline(always)]
unsafe fn columns<L: Wide, const K: usize, const ORDER: bool>(
    left: *const f64,
    right: *const f64,
    shape: Shape,
    out: *mut f64,
    mut column: usize,
) -> usize {
    // SAFETY: the caller's.
    unsafe {
        while column + L::N <= shape.columns {
            // A number that is known where K is one.
            let n = if K == DEEP { shape.deep } else { K };
            let pair = |k: usize| {
                let x = *left.offset(k as isize * shape.left[2] as isize);
                let y = right.offset(k as isize * shape.right[2] as isize).add(column);
                (L::splat(x), L::load(y))
            };
            summed::<L, K, ORDER>(n, pair).store(out.add(column));
            column += L::N;
        }
    }
    column
}

/// Results of all rows of a block from one column on, as many as fill registers, where every row
/// takes the same of the right operand: that is read once. The next column.
#[inline(always)]
unsafe fn panel<L: Wide, const K: usize, const ORDER: bool>(
    left: *const f64,
    right: *const f64,
    shape: Shape,
    out: *mut f64,
    mut column: usize,
) -> usize {
    let [_, down, deep] = shape.left.map(|by| by as isize);
    // SAFETY: the caller's.
    unsafe {
        while column + L::N <= shape.columns {
            let line = |k: usize| right.offset(k as isize * shape.right[2] as isize).add(column);
            let y: [L; K] = std::array::from_fn(|k| L::load(line(k)));
            let (mut left, mut out) = (left, out.add(column));
            for _ in 0..shape.rows {
                let pair = |k: usize| (L::splat(*left.offset(k as isize * deep)), y[k]);
                summed::<L, K, ORDER>(K, pair).store(out);
                left = left.offset(down);
                out = out.add(shape.columns);
            }
            column += L::N;
        }
    }
    column
}

macro_rules! instances {
    (portable) => {
        instances!(@ portable, [f64]);
    };
    (avx2, $feature:literal) => {
        instances!(@ avx2, [V4, f64], $feature);
    };
    (avx512, $feature:literal) => {
        instances!(@ avx512, [V8, V4, f64], $feature);
    };
    (@ $name:ident, [$($lane:ty),+] $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn rows<const K: usize, const ORDER: bool>(
                left: *const f64, right: *const f64, shape: Shape, out: *mut f64,
            ) {
                // SAFETY: the caller's.
                unsafe {
                    let mut out = out;
                    for b in 0..shape.blocks {
                        let left = left.offset(b as isize * shape.left[0] as isize);
                        let right = right.offset(b as isize * shape.right[0] as isize);
                        if K < DEEP && shape.right[1] == 0 {
                            let column = 0;
                            $(let column = panel::<$lane, K, ORDER>(
                                left, right, shape, out, column,
                            );)+
                            debug_assert_eq!(column, shape.columns);
                            out = out.add(shape.rows * shape.columns);
                            continue;
                        }
                        for r in 0..shape.rows {
                            let left = left.offset(r as isize * shape.left[1] as isize);
                            let right = right.offset(r as isize * shape.right[1] as isize);
                            let column = 0;
                            $(let column = columns::<$lane, K, ORDER>(
                                left, right, shape, out, column,
                            );)+
                            debug_assert_eq!(column, shape.columns);
                            out = out.add(shape.columns);
                        }
                    }
                }
            }

            const fn of<const ORDER: bool>() -> [Rows; DEEP + 1] {
                let mut all: [Rows; DEEP + 1] = [rows::<DEEP, ORDER>; DEEP + 1];
                all[2] = rows::<2, ORDER>;
                all[3] = rows::<3, ORDER>;
                all[4] = rows::<4, ORDER>;
                all[6] = rows::<6, ORDER>;
                all[8] = rows::<8, ORDER>;
                all
            }

            pub const ALL: [[Rows; DEEP + 1]; 2] = [of::<false>(), of::<true>()];
        }
    };
}

by_isa!(
    instances,
    /// The loops of an instruction set, of products that are rounded and of those in order, by
    /// their number.
    of_rows,
    [[Rows; DEEP + 1]; 2]
);

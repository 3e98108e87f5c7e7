//! Launches that are a matrix product `A+.×B` and nothing else: a device may leave them to a library.
//!
//! Rows: CUDA §4 (MatMul). In: a launch. Out: where both operands lie in memory, rows or columns one after the other.
//! Whatever else is in the launch (a step, a test, a conversion, an index that jumps) makes it another launch.

use super::{BufId, Kind, Launch, Plan, What};
use crate::array::DType;
use crate::dag::ix::linear;
use crate::prim::op::Op;

/// A matrix in a buffer: item (i, j) lies at `first + i·stride + j`, or, `turned`, at `first + i + j·stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    pub buf: BufId,
    pub first: u64,
    pub stride: u64,
    pub turned: bool,
}

/// `result[i;j]` is the sum over k of `left[i;k] × right[k;j]`, all of one dtype; the result lies row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    pub left: Matrix,
    pub right: Matrix,
    pub result: BufId,
    pub rows: u64,
    pub columns: u64,
    pub deep: u64,
    /// f64 or f32.
    pub dtype: DType,
}

impl Product {
    /// None: the launch is another.
    pub fn of(plan: &Plan, launch: &Launch) -> Option<Product> {
        let folded = launch.axis.filter(|_| launch.kind == Kind::Reduce && launch.stores.is_empty())?;
        let [reduction] = launch.reductions.as_slice() else { return None };
        let [first, second, times] = launch.body.as_slice() else { return None };
        let ([sum], [store]) = (launch.after.as_slice(), launch.after_stores.as_slice()) else { return None };
        let (What::Load(x), What::Load(y)) = (&first.what, &second.what) else { return None };
        let What::Op { op: Op::Mul, args, .. } = &times.what else { return None };
        let both = matches!(args.as_slice(), [0, 1] | [1, 0]);
        let whole = reduction.op == Op::Add && reduction.value == 2 && sum.what == What::Reduced(0) && store.value == 0;
        let guarded = launch.body.iter().chain(&launch.after).any(|step| step.guard.is_some());
        let &[_, _, _] = launch.domain.as_slice() else { return None };
        if !both || !whole || guarded || launch.finish.is_some() || launch.compaction.is_some() {
            return None;
        }

        let loads = [x, y].map(|k| launch.loads.get(*k as usize));
        let [Some(x), Some(y)] = loads else { return None };
        let dtype = plan.buffer(store.buf).dtype;
        let dtypes = launch.body.iter().chain(&launch.after).map(|step| step.dtype);
        let stored = [x, y].map(|load| plan.buffer(load.buf).dtype);
        let one = dtypes.chain(stored).chain([reduction.dtype]).all(|d| d == dtype);
        if !one || !matches!(dtype, DType::F64 | DType::F32) {
            return None;
        }
        let mut others = (0..3).filter(|axis| *axis != folded);
        let (row, column) = (others.next()?, others.next()?);
        // Either factor may stand first: × gives the same bits.
        let of = |load, axes| matrix(plan, launch, load, axes);
        let (left, right) = of(x, (row, folded))
            .zip(of(y, (folded, column)))
            .or_else(|| of(y, (row, folded)).zip(of(x, (folded, column))))?;
        let [rows, columns, deep] = [row, column, folded].map(|axis| launch.domain[axis] as u64);
        Some(Product { left, right, result: store.buf, rows, columns, deep, dtype })
    }

    /// Multiplications.
    pub fn points(&self) -> f64 {
        self.rows as f64 * self.columns as f64 * self.deep as f64
    }
}

fn matrix(plan: &Plan, launch: &Launch, load: &super::Load, (down, across): (usize, usize)) -> Option<Matrix> {
    let at = linear(&load.read.ix, &plan.buffer(load.buf).shape, &launch.domain);
    let other = 3 - down - across;
    if !load.read.tests.is_empty() || !at.is_affine() || at.coefficient(other) != 0 {
        return None;
    }
    let first = u64::try_from(at.c).ok()?;
    let steps = (u64::try_from(at.coefficient(down)).ok()?, u64::try_from(at.coefficient(across)).ok()?);
    let extent = |axis: usize| launch.domain[axis] as u64;
    // A line may be longer than what is read of it, but lines do not overlap.
    match steps {
        (stride, 1) if stride >= extent(across) => Some(Matrix { buf: load.buf, first, stride, turned: false }),
        (1, stride) if stride >= extent(down) => Some(Matrix { buf: load.buf, first, stride, turned: true }),
        _ => None,
    }
}

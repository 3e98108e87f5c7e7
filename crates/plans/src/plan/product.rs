//! Launches that fold a function of all pairs along an axis: `A+.×B` and what is like it.
//!
//! In: a launch. Out: `Factors`, whichever steps make both operands, for a device that blocks such
//! products itself; `Product`, where both operands lie in memory, rows or columns one after the
//! other, and there is nothing else in the launch (no step, test, conversion, no index that jumps),
//! for a device that leaves it to a library.

use super::{BufId, Kind, Launch, Plan, ValueId, What};
use aplomb_values::array::DType;
use aplomb_values::dag::ix::{Ix, linear};
use aplomb_values::dag::{Read, Test};
use aplomb_values::prim::op::Op;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// `fold[r;c] = sum over k of times(left[r;k], right[k;c])`, where r and c may be several axes
/// each. No axis of the columns is anywhere in what makes `left`, none of the rows in what makes
/// `right`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factors {
    /// The body's values that are multiplied; `right` may be the first argument where `times` is
    /// commutative.
    pub left: ValueId,
    /// The value that knows no axis of the rows.
    pub right: ValueId,
    /// The operation that folds.
    pub sum: Op,
    /// The operation on pairs.
    pub times: Op,
    /// Whether each product is rounded to f32.
    pub narrow: bool,
    /// Axes of the domain, in its order.
    pub rows: SmallVec<[usize; 2]>,
    /// Axes that only `right` knows.
    pub columns: SmallVec<[usize; 2]>,
    /// The axis that is folded.
    pub folded: usize,
    /// The values that `left` and `right` are made of, themselves included; uniform ones may be in
    /// both.
    pub lefts: Vec<ValueId>,
    /// The values that `right` is made of.
    pub rights: Vec<ValueId>,
}

impl Factors {
    /// None: the launch is no such fold, or stores or guards a step of its body, or one operand is
    /// a vector.
    pub fn of(launch: &Launch) -> Option<Factors> {
        let folded =
            launch.axis.filter(|_| launch.kind == Kind::Reduce && launch.stores.is_empty())?;
        let [reduction] = launch.reductions.as_slice() else { return None };
        let times = launch.body.get(reduction.value as usize)?;
        let What::Op { op, args, .. } = &times.what else { return None };
        let &[x, y] = args.as_slice() else { return None };
        if launch.body.iter().any(|step| step.from.guard.is_some()) || launch.domain.len() > 32 {
            return None;
        }
        let masks = masks(launch);
        let others: SmallVec<[usize; 4]> =
            (0..launch.domain.len()).filter(|axis| *axis != folded).collect();
        let of = |v: ValueId| masks[v as usize];
        let split = |left: ValueId, right: ValueId| {
            let at = others.iter().position(|axis| of(right) >> axis & 1 == 1)?;
            let apart = at > 0 && others[at..].iter().all(|axis| of(left) >> axis & 1 == 0);
            apart.then_some((left, right, at))
        };
        let (left, right, at) =
            split(x, y).or_else(|| split(y, x).filter(|_| op.is_commutative()))?;
        let (lefts, rights) = (made_of(launch, left), made_of(launch, right));
        // A step beside them is there because it may fail.
        let all = |v: &ValueId| *v == reduction.value || lefts.contains(v) || rights.contains(v);
        if !(0..launch.body.len() as ValueId).all(|v| all(&v)) {
            return None;
        }
        let (rows, columns) =
            (others[..at].iter().copied().collect(), others[at..].iter().copied().collect());
        let narrow = times.dtype == DType::F32;
        Some(Factors {
            left,
            right,
            sum: reduction.op,
            times: *op,
            narrow,
            rows,
            columns,
            folded,
            lefts,
            rights,
        })
    }

    /// Rows, columns and extent of the fold.
    pub fn extents(&self, launch: &Launch) -> [usize; 3] {
        let all = |axes: &[usize]| axes.iter().map(|&axis| launch.domain[axis]).product();
        [all(&self.rows), all(&self.columns), launch.domain[self.folded]]
    }

    /// True where both operands are one matrix, read or computed: the same steps of the same items,
    /// with columns for rows. Then the result below its diagonal is that above it: a product does
    /// not depend on which of two numbers is first, nor do the sums of the same products.
    pub fn is_mirrored(&self, launch: &Launch) -> bool {
        let lengths = |axes: &[usize]| -> Vec<usize> {
            axes.iter().map(|&axis| launch.domain[axis]).collect()
        };
        let turns = self.times.multiplies() || matches!(self.times, Op::Add | Op::Eq | Op::Ne);
        if !turns
            || lengths(&self.rows) != lengths(&self.columns)
            || self.lefts.len() != self.rights.len()
        {
            return false;
        }
        let mut by: Vec<Ix> = (0..launch.domain.len()).map(Ix::axis).collect();
        for (row, column) in self.rows.iter().zip(&self.columns) {
            by[*column] = Ix::axis(*row);
        }
        let turned = Read::new(by.iter().cloned());
        let mut left_of: BTreeMap<ValueId, ValueId> = BTreeMap::new();
        // Arguments first, in whatever order the body has its steps.
        let mut pairs = vec![(self.left, self.right, false)];
        while let Some((left, right, ready)) = pairs.pop() {
            match left_of.get(&right) {
                Some(known) if *known == left => continue,
                Some(_) => return false,
                None => {}
            }
            let (own, other) = (&launch.body[left as usize], &launch.body[right as usize]);
            let (mine, theirs) = (own.what.args(), other.what.args());
            if own.dtype != other.dtype || mine.len() != theirs.len() {
                return false;
            }
            if !ready && left != right && !mine.is_empty() {
                pairs.push((left, right, true));
                pairs.extend(mine.iter().zip(theirs.iter()).map(|(l, r)| (*l, *r, false)));
                continue;
            }
            let same = match (&own.what, &other.what) {
                _ if left == right => true,
                (What::Load(x), What::Load(y)) => {
                    let (x, y) = (&launch.loads[*x as usize], &launch.loads[*y as usize]);
                    x.buf == y.buf && y.read.after(&turned, &launch.domain) == x.read
                }
                (What::Index { ix: x, origin }, What::Index { ix: y, origin: other }) => {
                    origin == other && y.substitute(&by, &launch.domain) == *x
                }
                (What::Const(x), What::Const(y)) => x.to_bits() == y.to_bits(),
                (What::Op { .. }, What::Op { .. }) | (What::Select { .. }, What::Select { .. }) => {
                    let mut what = other.what.clone();
                    what.renumber(|v| left_of[&v]);
                    own.what == what
                }
                _ => false,
            };
            if !same {
                return false;
            }
            left_of.insert(right, left);
        }
        true
    }
}

/// For each value of the body the axes that it depends on, as bits.
fn masks(launch: &Launch) -> Vec<u32> {
    let ix = |x: &Ix| {
        (0..launch.domain.len())
            .filter(|axis| x.mentions(*axis))
            .fold(0, |mask, axis| mask | 1 << axis)
    };
    let tests = |all: &[Test]| all.iter().fold(0, |mask, test| mask | ix(&test.ix));
    let read = |load: u32| {
        let read = &launch.loads[load as usize].read;
        read.ix.iter().fold(tests(&read.tests), |mask, x| mask | ix(x))
    };
    let mut out: Vec<u32> = Vec::with_capacity(launch.body.len());
    for step in &launch.body {
        let what = &step.what;
        let own = what.load().map_or(0, read)
            | what.index().map_or(0, ix)
            | what.tests().map_or(0, |k| tests(&launch.guards[k as usize]));
        let args = step.what.args().iter().fold(0, |mask, &v| mask | out[v as usize]);
        out.push(own | args);
    }
    out
}

/// A value and all that it is made of, in the body's order.
fn made_of(launch: &Launch, value: ValueId) -> Vec<ValueId> {
    let mut wanted = vec![false; launch.body.len()];
    wanted[value as usize] = true;
    for k in (0..=value as usize).rev() {
        if wanted[k] {
            launch.body[k].what.args().iter().for_each(|v| wanted[*v as usize] = true);
        }
    }
    (0..launch.body.len() as ValueId).filter(|v| wanted[*v as usize]).collect()
}

/// A matrix in a buffer: item (i, j) lies at `first + i·stride + j`, or, `turned`, at
/// `first + i + j·stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// The buffer that it lies in.
    pub buf: BufId,
    /// The place of its first item in the buffer.
    pub first: u64,
    /// Items from one line to the next.
    pub stride: u64,
    /// Whether lines are columns.
    pub turned: bool,
}

/// `result[i;j]` is the sum over k of `left[i;k] × right[k;j]`, all of one dtype; the result lies
/// row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// The left matrix, rows by depth.
    pub left: Matrix,
    /// The right matrix, depth by columns.
    pub right: Matrix,
    /// The buffer of the result.
    pub result: BufId,
    /// Rows of the result.
    pub rows: u64,
    /// Columns of the result.
    pub columns: u64,
    /// Products that make one sum.
    pub deep: u64,
    /// f64 or f32.
    pub dtype: DType,
}

impl Product {
    /// None: the launch is another.
    pub fn of(plan: &Plan, launch: &Launch) -> Option<Product> {
        let Factors { left, right, sum, times, rows, columns, folded, .. } = Factors::of(launch)?;
        if sum != Op::Add || !times.multiplies() {
            return None;
        }
        let (&[row], &[column], 3) = (rows.as_slice(), columns.as_slice(), launch.body.len())
        else {
            return None;
        };
        let [x, y] = [left, right].map(|v| &launch.body[v as usize].what);
        let (What::Load(x), What::Load(y)) = (x, y) else { return None };
        let ([sum], [store]) = (launch.after.as_slice(), launch.after_stores.as_slice()) else {
            return None;
        };
        let whole = sum.what == What::Reduced(0) && store.value == 0 && sum.from.guard.is_none();
        if !whole || launch.finish.is_some() || launch.compaction.is_some() {
            return None;
        }

        let loads = [x, y].map(|k| launch.loads.get(*k as usize));
        let [Some(x), Some(y)] = loads else { return None };
        let dtype = plan.buffer(store.buf).dtype;
        let dtypes = launch.body.iter().chain(&launch.after).map(|step| step.dtype);
        let stored = [x, y].map(|load| plan.buffer(load.buf).dtype);
        let one = dtypes.chain(stored).chain([launch.reductions[0].dtype]).all(|d| d == dtype);
        if !one || !matches!(dtype, DType::F64 | DType::F32) {
            return None;
        }
        let left = matrix(plan, launch, x, (row, folded))?;
        let right = matrix(plan, launch, y, (folded, column))?;
        let [rows, columns, deep] = [row, column, folded].map(|axis| launch.domain[axis] as u64);
        Some(Product { left, right, result: store.buf, rows, columns, deep, dtype })
    }

    /// Multiplications.
    pub fn points(&self) -> f64 {
        self.rows as f64 * self.columns as f64 * self.deep as f64
    }
}

fn matrix(
    plan: &Plan,
    launch: &Launch,
    load: &super::Load,
    (down, across): (usize, usize),
) -> Option<Matrix> {
    let at = linear(&load.read.ix, &plan.buffer(load.buf).shape, &launch.domain);
    let other = 3 - down - across;
    if !load.read.tests.is_empty() || !at.is_affine() || at.coefficient(other) != 0 {
        return None;
    }
    let first = u64::try_from(at.c).ok()?;
    let steps =
        (u64::try_from(at.coefficient(down)).ok()?, u64::try_from(at.coefficient(across)).ok()?);
    let extent = |axis: usize| launch.domain[axis] as u64;
    // A line may be longer than what is read of it, but lines do not overlap.
    match steps {
        (stride, 1) if stride >= extent(across) => {
            Some(Matrix { buf: load.buf, first, stride, turned: false })
        }
        (1, stride) if stride >= extent(down) => {
            Some(Matrix { buf: load.buf, first, stride, turned: true })
        }
        _ => None,
    }
}

//! Places that are a straight line or a plane, which is a move, or surely none, which nobody needs
//! to list.

use crate::eval::cx::{Cx, SMALL};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Data, View};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Node, Read, kinds};
use aplomb_values::prim::op::Op;
use smallvec::SmallVec;

/// Places that are a linear function of where they stand: the first, and the difference along each
/// axis.
pub struct Plane {
    /// The place at the first index.
    pub first: i64,
    /// From one index to the next, along each axis.
    pub steps: SmallVec<[i64; 2]>,
}

impl Plane {
    /// The same as an index, of which `axis` tells where an axis stands in the reader.
    pub fn read(&self, axis: impl Fn(usize) -> usize) -> Ix {
        let terms = self.steps.iter().enumerate();
        terms.fold(Ix::constant(self.first), |ix, (k, &step)| ix.plus(&Ix::axis(axis(k)), step))
    }
}

/// Whole numbers that are places of an axis of `n`, all of which are there, if they are sums of
/// multiples of ⍳, or few and on a line: then they are no index but a read.
pub fn plane(cx: &Cx<'_>, i: &Array, n: usize) -> Option<Plane> {
    let Linear { first, steps } = linear(i, 0)?;
    let first = first - cx.sys.settings.io;
    let (mut low, mut high) = (first, first);
    for (step, &extent) in steps.iter().zip(i.shape()) {
        let most = step * extent.max(1).saturating_sub(1) as f64;
        (low, high) = (low + most.min(0.0), high + most.max(0.0));
    }
    let inside = |x: f64| (0.0..n as f64).contains(&x) && x == x.trunc();
    (inside(low) && inside(high)).then(|| Plane {
        first: first as i64,
        steps: steps.iter().map(|step| *step as i64).collect(),
    })
}

/// Numbers that grow by the same along each axis.
struct Linear {
    first: f64,
    steps: SmallVec<[f64; 2]>,
}

impl Linear {
    fn combined(&self, other: &Linear, (a, b): (f64, f64)) -> Linear {
        let steps = self.steps.iter().zip(&other.steps);
        Linear {
            first: a * self.first + b * other.first,
            steps: steps.map(|(x, y)| a * x + b * y).collect(),
        }
    }

    fn constant(&self) -> Option<f64> {
        self.steps.iter().all(|step| *step == 0.0).then_some(self.first)
    }
}

/// A linear function of where numbers stand, looked up in what is recorded.
fn linear(a: &Array, depth: usize) -> Option<Linear> {
    linear_over(a, a.rank(), depth)
}

/// The same over so many axes, along which a single number is the same.
fn linear_over(a: &Array, rank: usize, depth: usize) -> Option<Linear> {
    const LINKS: usize = 16;
    if let Some(first) = a.number_scalar().filter(|_| a.rank() == 0) {
        return Some(Linear { first, steps: SmallVec::from_elem(0.0, rank) });
    }
    let Some(cell) = a.pending().filter(|_| depth < LINKS) else { return few_on_a_line(a) };
    let node = cell.node()?;
    let of = |a: &Array| linear_over(a, rank, depth + 1);
    let line = match &*node {
        Node::Iota(kinds::Iota { origin }) => {
            Some(Linear { first: *origin, steps: SmallVec::from_slice(&[1.0]) })
        }
        Node::Map(kinds::Map { op: Op::Neg, args, .. }) => {
            of(&args[0]).map(|x| x.combined(&x, (-1.0, 0.0)))
        }
        Node::Map(kinds::Map { op: op @ (Op::Add | Op::Sub | Op::Mul), args, .. }) => {
            let (x, y) = (of(&args[0])?, of(&args[1])?);
            match op {
                Op::Add => Some(x.combined(&y, (1.0, 1.0))),
                Op::Sub => Some(x.combined(&y, (1.0, -1.0))),
                _ => match (x.constant(), y.constant()) {
                    (Some(times), _) => Some(y.combined(&x, (times, 0.0))),
                    (_, Some(times)) => Some(x.combined(&y, (times, 0.0))),
                    _ => None,
                },
            }
        }
        node => match node.facts().place() {
            Some((read, [])) if read.tests.is_empty() => {
                moved(&linear(&node.inputs()[0], depth + 1)?, read, rank)
            }
            _ => None,
        },
    };
    let whole = |x: &f64| *x == x.trunc() && x.abs() < 1e15;
    line.filter(|line| {
        line.steps.len() == rank && whole(&line.first) && line.steps.iter().all(whole)
    })
}

/// The linear function at the places that a read tells. None: the read is not linear.
fn moved(of: &Linear, read: &Read, rank: usize) -> Option<Linear> {
    let mut made = Linear { first: of.first, steps: SmallVec::from_elem(0.0, rank) };
    for (ix, step) in read.ix.iter().zip(&of.steps).filter(|(_, step)| **step != 0.0) {
        if !ix.is_affine() {
            return None;
        }
        made.first += step * ix.c as f64;
        for (axis, sum) in made.steps.iter_mut().enumerate() {
            *sum += step * ix.coefficient(axis) as f64;
        }
    }
    Some(made)
}

/// A few whole numbers at hand that are a straight line.
fn few_on_a_line(a: &Array) -> Option<Linear> {
    if a.rank() != 1 || !(1..=SMALL).contains(&a.len()) || !a.is_plain() || a.is_char() {
        return None;
    }
    let item = |k: usize| a.number_at(k);
    let first = item(0)?;
    let step = if a.len() > 1 { item(1)? - first } else { 0.0 };
    (2..a.len())
        .all(|k| item(k) == Some(first + step * k as f64))
        .then(|| Linear { first, steps: SmallVec::from_slice(&[step]) })
}

/// The first of places one after the other, of a vector that is not computed yet.
pub fn counted(a: &Array) -> Option<f64> {
    a.pending()?;
    let Linear { first, steps } = linear(a, 0)?;
    (steps.as_slice() == [1.0]).then_some(first)
}

/// Whether whole numbers at hand, ⎕IO included, are all places of an axis of `n`, and no straight
/// line: nobody needs a list of them, they are read where they are used. Few are not asked.
pub fn are_scattered(cx: &Cx<'_>, i: &Array, n: usize) -> Result<bool> {
    fn all<T: Copy + Ord + Into<i64>>(
        items: &[T],
        (low, high): (i64, i64),
        budget: &Budget,
    ) -> Result<bool> {
        let number = |x: &T| -> i64 { (*x).into() };
        let (first, step) = (number(&items[0]), number(&items[1]) - number(&items[0]));
        let on_line = |(k, x): (usize, &T)| number(x) == first + step * k as i64;
        if items.iter().enumerate().all(on_line) {
            return Ok(false);
        }
        for some in items.chunks(1 << 14) {
            budget.check()?;
            let ends = (some[0], some[0]);
            let (least, most) = some.iter().fold(ends, |(a, b), x| (a.min(*x), b.max(*x)));
            if number(&least) < low || number(&most) > high {
                return Ok(false);
            }
        }
        Ok(true)
    }
    let io = cx.sys.settings.io as i64;
    let Data::Dense(held) = i.data() else { return Ok(false) };
    if i.len() <= SMALL || i.pending().is_some() || !i.dtype().is_integer() {
        return Ok(false);
    }
    let ends = (io, io + n as i64 - 1);
    match held.view() {
        View::I8(v) => all(v, ends, cx.budget()),
        View::I16(v) => all(v, ends, cx.budget()),
        View::I32(v) => all(v, ends, cx.budget()),
        _ => Ok(false),
    }
}

/// First and step, if the places are a straight line.
pub fn line(places: &[usize]) -> Option<(i64, i64)> {
    let first = *places.first()? as i64;
    let step = places.get(1).map_or(0, |&p| p as i64 - first);
    places
        .iter()
        .enumerate()
        .all(|(i, &p)| p as i64 == first + step * i as i64)
        .then_some((first, step))
}

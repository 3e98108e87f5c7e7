//! Scalar functions at once, on ready values: as reals where all arguments and results are real,
//! else as complex numbers.
//!
//! Complex arrays are never recorded, so no device sees one.

use super::{Cx, Lanes, failed, item, lanes, single};
use aplomb_ground::error::{Result, bug};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Complex64, DType, Data, Shape, View, elements, storage};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce;
use aplomb_values::prim::scalar::complex;
use aplomb_values::prim::scalar::complex::blocks::{self, Items};
use std::borrow::Cow;
use std::ops::Range;

/// A ready argument's items as complex numbers: as they lie in memory, if they are such there.
enum Parts {
    One(Complex64),
    Held(Array),
    Many(Vec<Complex64>),
}

fn parts(a: &Array, budget: &Budget) -> Result<Parts> {
    let held = a.settled();
    match held.data() {
        Data::Complex(z) => return Ok(Parts::One(*z)),
        Data::Dense(b) if matches!(b.view(), View::Complex(_)) => return Ok(Parts::Held(held)),
        _ => {}
    }
    let own = lanes(a, budget)?;
    let of = own.src()?;
    Ok(match own {
        Lanes::One(x) => Parts::One(x.into()),
        _ => Parts::Many((0..a.len()).map(|k| item(of, k).into()).collect()),
    })
}

/// The items of ready numbers.
fn complexes(a: &Array, budget: &Budget) -> Result<Vec<Complex64>> {
    let all = a.to_complexes(budget)?;
    all.ok_or_else(|| bug!("the items of {} are no ready numbers", a.dtype().name()))
}

impl Parts {
    const NONE: Parts = Parts::One(Complex64::ZERO);

    fn items(&self) -> Result<Items<'_>> {
        Ok(match self {
            Parts::One(z) => Items::One(*z),
            Parts::Many(items) => Items::Many(items),
            Parts::Held(a) => match storage(a).map(|held| held.view()) {
                Some(View::Complex(items)) => Items::Many(items),
                _ => return Err(bug!("complex numbers are none any more")),
            },
        })
    }
}

/// Elements between two looks at the interrupt.
const BLOCK: usize = 4096;

/// Operations whose results are real whatever they are of.
fn gives_reals(op: Op) -> bool {
    matches!(op, Op::Abs | Op::Circle(9..=12))
}

impl Cx<'_> {
    /// A dyadic scalar function of two real numbers.
    pub fn number2(&self, op: Op, x: f64, y: f64) -> Result<Array> {
        match self.number(op, &[x, y]) {
            Err(e) if e.leaves_reals() => self.complex2(op, x.into(), y.into()),
            done => done.map(Array::num),
        }
    }

    /// A monadic one of a real number.
    pub fn number1(&self, op: Op, y: f64) -> Result<Array> {
        match self.number(op, &[y]) {
            Err(e) if e.leaves_reals() => self.complex2(op, y.into(), Complex64::ZERO),
            done => done.map(Array::num),
        }
    }

    fn complex2(&self, op: Op, x: Complex64, y: Complex64) -> Result<Array> {
        let z = self.complex_step(op, x, y)?;
        let z = if self.sys.settings.single { single::pair(z)? } else { z };
        Ok(Array::complex(z))
    }

    /// The number itself, for loops of one's own.
    pub fn complex_step(&self, op: Op, x: Complex64, y: Complex64) -> Result<Complex64> {
        complex::eval(op, self.sys.settings.ct, x, y).map_err(failed)
    }

    /// A scalar function of arguments that have the shape or rank 0. `dtype`: of the result, if it
    /// is real.
    pub fn mapped(
        &mut self,
        op: Op,
        ct: f64,
        shape: Shape,
        args: &[Array],
        dtype: DType,
    ) -> Result<Array> {
        let ready: Result<Vec<Array>> = args.iter().map(|a| self.ready(a, "argument")).collect();
        let ready = ready?;
        if !ready.iter().any(Array::is_complex) {
            if !shape.is_empty()
                && let Some(made) = self.host.by_parts((op, dtype), ct, &ready[0], ready.get(1))?
            {
                return Ok(made);
            }
            let own = |k: usize| match ready.get(k) {
                Some(a) => lanes(a, self.budget()),
                None => Ok(Lanes::NONE),
            };
            let (a, b) = (own(0)?, own(1)?);
            match self.run(op, ct, &a, &b, elements(&shape), dtype) {
                Err(e) if e.leaves_reals() => {}
                out => return self.stored(op, shape, out?, dtype),
            }
        }
        let n = elements(&shape);
        let _held = self.budget().charge_elements(n, 48)?;
        let own = |k: usize| match ready.get(k) {
            Some(a) => parts(a, self.budget()),
            None => Ok(Parts::NONE),
        };
        let (a, b) = (own(0)?, own(1)?);
        let (a, b, single) = (a.items()?, b.items()?, self.sys.settings.single);
        let one = |k: usize| {
            let z = complex::eval(op, ct, a.at(k), b.at(k)).map_err(failed)?;
            if single { single::pair(z) } else { Ok(z) }
        };
        if gives_reals(op) && !shape.is_empty() {
            let at_once = |at: Range<usize>, out: &mut Vec<f64>| match a.part(at) {
                Items::Many(items) if !single => blocks::reals(op, items, out),
                _ => false,
            };
            let out = self.in_blocks(n, at_once, |k| one(k).map(|z| z.re))?;
            return Array::numbers(shape, out, self.budget());
        }
        let at_once = |at: Range<usize>, out: &mut Vec<Complex64>| {
            !single && blocks::block(op, a.part(at.clone()), b.part(at.clone()), at.len(), out)
        };
        let out = self.in_blocks(n, at_once, one)?;
        Array::complexes(shape, out, self.budget())
    }

    /// n results, a block at once; where that does not do, one by one.
    fn in_blocks<T>(
        &self,
        n: usize,
        at_once: impl Fn(Range<usize>, &mut Vec<T>) -> bool,
        one: impl Fn(usize) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut out = self.budget().room(n)?;
        let mut ticks = self.budget().ticks();
        for from in (0..n).step_by(BLOCK) {
            let block = from..n.min(from + BLOCK);
            if at_once(block.clone(), &mut out) {
                ticks.spend(block.len())?;
                continue;
            }
            out.truncate(from);
            for k in block {
                ticks.tick()?;
                out.push(one(k)?);
            }
        }
        Ok(out)
    }

    /// `op/` along an axis of ready numbers, some of which are or become complex.
    pub(super) fn fold_complex(
        &mut self,
        op: Op,
        ct: f64,
        y: &Array,
        axis: usize,
        shape: Shape,
    ) -> Result<Array> {
        self.host.interrupt().check()?;
        let _held = self.budget().charge_elements(y.len(), 16)?;
        let own = parts(y, self.budget())?;
        let all = match own.items()? {
            Items::Many(items) => Cow::Borrowed(items),
            Items::One(_) => Cow::Owned(complexes(y, self.budget())?),
        };
        let out =
            reduce::along_complex(op, ct, &all, y.shape(), axis).map_err(|(_, f)| failed(f))?;
        Array::complexes(shape, out, self.budget())
    }

    /// `op\` along an axis, left to right: for + - ×, where that is the scan. -\ adds and subtracts
    /// in turn.
    pub fn scan_complex(
        &mut self,
        op: Op,
        y: &Array,
        (outer, n, inner): (usize, usize, usize),
    ) -> Result<Array> {
        let _held = self.budget().charge_elements(y.len(), 16)?;
        let mut items = complexes(y, self.budget())?;
        for o in 0..outer {
            self.host.interrupt().check()?;
            for k in 1..n {
                let step = if op == Op::Sub && k % 2 == 0 { Op::Add } else { op };
                for at in (o * n + k) * inner..(o * n + k + 1) * inner {
                    items[at] = self.complex_step(step, items[at - inner], items[at])?;
                }
            }
        }
        Array::complexes(y.shape(), items, self.budget())
    }
}

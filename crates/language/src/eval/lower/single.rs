//! Floats of 32 bits: what ⎕FR←325 makes of literals and of the results of scalar functions.
//!
//! A number alone is rounded; a vector of such numbers is of 32 bits.
//! Whole numbers stay exact, and so do values that are there already. What computes many steps in
//! one (registers, loops of a device, folds by ÷ and its kin) computes in 64 bits, so with ⎕FR 325
//! such steps are taken one by one.

use super::fold::reduced;
use super::{Fact, failed};
use crate::eval::cx::Cx;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, Complex64, DType, Data};
use aplomb_values::prim::op::{Gives, Op};
use aplomb_values::prim::scalar::{Fail, eval_as, single::rounded};

/// The nearest number of 32 bits. Errors: DOMAIN beyond the largest.
pub fn of(x: f64) -> Result<f64> {
    rounded(Ok(x)).map_err(failed)
}

/// The same of many in place.
pub fn all(items: &mut [f64]) -> Result<()> {
    // Without a branch a number.
    let beyond = items.iter_mut().fold(false, |some, x| {
        let (was, short) = (*x, f64::from(*x as f32));
        *x = short;
        some | (was.is_finite() & !short.is_finite())
    });
    if beyond { Err(failed(Fail::Overflow)) } else { Ok(()) }
}

/// A complex number of two such numbers.
pub fn pair(z: Complex64) -> Result<Complex64> {
    Ok(Complex64::new(of(z.re)?, of(z.im)?))
}

impl Cx<'_> {
    /// The type of a scalar function's result, and the interval of an integer.
    pub(super) fn result(&self, op: Op, facts: &[Fact]) -> Fact {
        match op.result(facts) {
            (DType::F64, _) if self.shortens(op) => (DType::F32, None),
            fact => fact,
        }
    }

    /// The type of a fold's or a scan's result, and the interval of an integer.
    pub(super) fn reduced(
        &self,
        op: Op,
        dtype: DType,
        range: Option<(f64, f64)>,
        n: usize,
    ) -> Fact {
        match reduced(op, dtype, range, n) {
            (DType::F64, _) if self.shortens(op) && !dtype.is_integer() => (DType::F32, None),
            fact => fact,
        }
    }

    /// Whether a fold adds floats of 64 bits to one of 32.
    pub(super) fn adds_singles(&self, op: Op, y: &Array) -> bool {
        self.sys.settings.single && op == Op::Add && y.dtype() == DType::F64
    }

    /// A scalar function of one number or two, in the precision of ⎕FR: a result of 32 bits is the
    /// one that an array of such numbers has, whose functions have sequences of their own. Errors:
    /// those of the function.
    pub(super) fn number(&self, op: Op, args: &[f64]) -> Result<f64> {
        let whole = |x: &f64| Array::num(*x).dtype().is_integer();
        let exact = || match op.row().gives {
            Gives::Bool | Gives::Whole => true,
            Gives::Arith => args.iter().all(whole),
            Gives::Float => false,
        };
        let dtype = if !self.shortens(op) || exact() { DType::F64 } else { DType::F32 };
        let (x, y) = (args[0], args.get(1).map_or(0.0, |y| *y));
        eval_as(dtype, op, self.sys.settings.ct, x, y).map_err(failed)
    }

    /// Whether an operation makes floats, and these are of 32 bits. ⌈ and ⌊ choose among those that
    /// are there.
    fn shortens(&self, op: Op) -> bool {
        self.sys.settings.single && !matches!(op, Op::Max | Op::Min)
    }

    /// Floats that are made, or stand in the text, in the precision of ⎕FR.
    pub fn floats(&self, a: &Array) -> Result<Array> {
        if !self.sys.settings.single {
            return Ok(a.clone());
        }
        match a.data() {
            Data::Num(_, _) if a.dtype().is_integer() => Ok(a.clone()),
            Data::Num(x, _) => of(*x).map(Array::num),
            Data::Complex(z) => pair(*z).map(Array::complex),
            Data::Items(items) if !a.is_empty() => {
                let made: Result<Vec<_>> = items.iter().map(|i| self.floats(&i)).collect();
                self.collect(a.shape(), made?, None)
            }
            _ if a.is_complex() => {
                let Some(all) = a.to_complexes(self.budget())? else { return Ok(a.clone()) };
                let all = all.into_iter().map(pair).collect::<Result<Vec<_>>>()?;
                Array::complexes(a.shape(), all, self.budget())
            }
            _ => match a.dtype() {
                DType::F64 => {
                    let mut items = a.ready_numbers(self.budget())?;
                    all(&mut items)?;
                    Array::singles(a.shape(), &items, self.budget())
                }
                _ => Ok(a.clone()),
            },
        }
    }

    /// Items that were put side by side: singles are of 32 bits.
    pub(in crate::eval) fn side_by_side(&self, a: Array) -> Result<Array> {
        let short = |x: f64| f64::from(x as f32) == x;
        let singles = || match a.data() {
            Data::Dense(held) => held.view().each().all(short),
            _ => false,
        };
        if self.sys.settings.single && a.dtype() == DType::F64 && a.rank() > 0 && singles() {
            return self.floats(&a);
        }
        Ok(a)
    }

    /// Whether a fold by an operation may take a way of its own: each of its steps has the
    /// operation's plain meaning, in 64 bits.
    pub fn folds(&self, op: Op) -> bool {
        let s = &self.sys.settings;
        !(s.div && op == Op::Div || s.single && op.row().gives == Gives::Float)
    }

    /// Whether rounds of a function may become a loop of a device.
    pub fn loops(&self) -> bool {
        self.host.is_on("loops") && !self.sys.settings.single
    }
}

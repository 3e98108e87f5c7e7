//! Guards on the cells of a frame: both ways are recorded, and each cell takes its own.
//!
//! Row: ACL-05. While a way is recorded its condition stands in the scope. An operation that can
//! fail computes, where the condition does not hold, something that cannot (`safe`): so nothing
//! fails on a way that is not taken, wherever its node is evaluated. What happens once a cell, and
//! ∇, are refused as everywhere in a frame.

use super::places::joined;
use super::{known, stand_in};
use crate::eval::cx::Cx;
use crate::eval::scope::{Condition, Inside};
use aplomb_ground::error::{Result, untraced};
use aplomb_values::array::{Array, DType, Data, Shape, elements};
use aplomb_values::dag::{Args, Known, Node, kinds, operation_fails};
use aplomb_values::prim::op::{Fails, Op};
use aplomb_values::prim::scalar::eval;

/// A way deeper than this is refused: so is a recursion, which would record both ways for ever.
const DEEP: usize = 8;

/// Arguments with which an operation has a result; constants stay as they are, where they can.
fn safe(op: Op, fixed: [Option<f64>; 2]) -> Option<[f64; 2]> {
    let all = [(1.0, 1.0), (2.0, 1.0), (0.0, 0.0), (2.0, 2.0)];
    let [x, y] = fixed;
    let kept = all.map(|(a, b)| [x.map_or(a, |x| x), y.map_or(b, |y| y)]);
    let all = all.map(|(a, b)| [a, b]);
    kept.into_iter().chain(all).find(|[x, y]| eval(op, 0.0, *x, *y).is_ok())
}

/// Whether some such finite arguments have no result.
fn may_fail(op: Op, args: &[Array]) -> bool {
    let facts: Vec<_> = args.iter().map(known).collect();
    let (dtype, range) = op.result(&facts);
    let ranged = dtype.is_integer() && range.is_some();
    operation_fails(op, ranged, args.iter().map(Known::of)) != Fails::Never
}

impl Cx<'_> {
    /// The scope inside of one way of a guard. Errors: guards in guards, too deep.
    pub fn branch(&self, cond: &Array, holds: bool) -> Result<Inside> {
        if self.sys.scope.conditions().len() >= DEEP {
            return Err(untraced("guards stand in guards, or a call of itself does"));
        }
        Ok(Inside::Branch((cond.clone(), holds)))
    }

    /// The cells of a frame for which all conditions that stand hold, as booleans; None: nothing
    /// stands.
    pub(super) fn standing(&mut self, frame: &[usize]) -> Result<Option<Array>> {
        let standing = self.sys.scope.conditions().to_vec();
        let mask = self.within(Inside::Unconditional, |cx| cx.holding(&standing, frame, frame))?;
        mask.map(|mask| self.ready(&mask, "guard")).transpose()
    }

    /// The places where all conditions hold, as booleans over a frame and cells.
    pub(super) fn holding(
        &mut self,
        conditions: &[Condition],
        frame: &[usize],
        full: &[usize],
    ) -> Result<Option<Array>> {
        let mut all: Option<Array> = None;
        for (cond, holds) in conditions {
            let one = self.lined_up(cond, frame, full)?;
            let one = if *holds { one } else { self.map2(Op::Eq, &Array::num(0.0), &one)? };
            all = Some(match all {
                None => one,
                Some(before) => self.map2(Op::Mul, &before, &one)?,
            });
        }
        Ok(all)
    }

    /// The longest frame of these values and of the conditions that stand.
    pub(super) fn frame_under(&self, args: &[&Array]) -> Shape {
        let conditions = self.sys.scope.conditions().iter().map(|(c, _)| c);
        let longest =
            args.iter().copied().chain(conditions).filter_map(Array::frame).max_by_key(|s| s.at);
        longest.map_or_else(Shape::new, |s| s.frame().into())
    }

    /// Runs an operation on lined-up arguments; where a condition does not hold it gets arguments
    /// that it has a result for.
    pub(super) fn under(
        &mut self,
        op: Op,
        frame: &[usize],
        mut args: Vec<Array>,
        run: impl FnOnce(&mut Self, &[Array]) -> Result<Array>,
    ) -> Result<Array> {
        if !self.sys.scope.is_conditional() || !may_fail(op, &args) {
            return run(self, &args);
        }
        let standing = self.sys.scope.conditions().to_vec();
        self.within(Inside::Unconditional, |cx| {
            // An operation on scalars alone has no axes.
            let full: Shape =
                args.iter().map(Array::shape).max_by_key(|s| s.len()).unwrap_or(&[]).into();
            let mask = cx.holding(&standing, frame, &full)?;
            let Some(mask) = mask else { return Err(untraced("a guard without a condition")) };
            let fixed = |k: usize| {
                args.get(k).and_then(|a| match a.data() {
                    Data::Num(x, _) => Some(*x),
                    _ => None,
                })
            };
            let sure = safe(op, [fixed(0), fixed(1)]);
            let sure = sure.ok_or_else(|| untraced(format!("{} under a guard", op.glyph())))?;
            for (arg, sure) in args.iter_mut().zip(sure) {
                if !matches!(arg.data(), Data::Num(x, _) if *x == sure) {
                    *arg = cx.select(&mask, arg, &stand_in(sure, arg), &full)?;
                }
            }
            run(cx, &args)
        })
    }

    /// `yes` where `cond` holds, else `no`: recorded over a shape; arguments have it or rank 0.
    pub fn select(
        &mut self,
        cond: &Array,
        yes: &Array,
        no: &Array,
        shape: &[usize],
    ) -> Result<Array> {
        let facts = [known(yes), known(no)];
        let characters = [yes, no].iter().filter(|a| a.is_char()).count();
        if characters == 1
            || [cond, yes, no].iter().any(|a| a.is_complex())
            || cond.dtype() != DType::Bool
        {
            return Err(untraced("the two ways of a guard give values of different kinds"));
        }
        aplomb_values::array::checked_elements(shape)?;
        let (dtype, range) = joined(&facts);
        let args = Args::from_iter([cond.settled(), yes.settled(), no.settled()]);
        self.cell(Node::Select(kinds::Select { args }), shape.into(), (dtype, range))
    }

    /// The value of a guard on cells: that of the way each cell takes.
    pub fn either(&mut self, cond: &Array, yes: &Array, no: &Array) -> Result<Array> {
        if !yes.is_uniform() || !no.is_uniform() || yes.shape() != no.shape() {
            return Err(untraced("the two ways of a guard give values of different shapes"));
        }
        let longest = [cond, yes, no].into_iter().filter_map(Array::frame).max_by_key(|s| s.at);
        let frame: Shape = longest.map_or_else(Shape::new, |s| s.frame().into());
        let full: Shape = frame.iter().chain(yes.shape()).copied().collect();
        if elements(&full) == 0 {
            return Err(untraced("cells without items"));
        }
        let cond = self.lined_up(cond, &frame, &full)?;
        let (yes, no) = (self.lined_up(yes, &frame, &full)?, self.lined_up(no, &frame, &full)?);
        let z = self.select(&cond, &yes, &no, &full)?;
        Ok(Array::framed(z, frame.len()))
    }
}

//! A last call of itself on the cells of a frame: a loop that ends for each cell by itself.
//!
//! A guard that each cell decides has two ways (`either_way`). Where one of them ends with a call
//! of the dfn itself, no value can be chosen yet. What is known is told: which cells are done, the
//! value of those, and what the others are called with. Whoever wants the value makes a loop of
//! that (`lower/rounds.rs`), whose state is the argument, and then the value of the arguments that
//! the cells ended with.

use super::lower::Times;
use super::run::{Eval, Outcome};
use super::value::Func;
use aplomb_ground::error::{Result, untraced};
use aplomb_values::array::{Array, Data};
use std::rc::Rc;

/// The ways of a call whose cells do not all have a value yet.
pub struct Ways {
    f: Rc<Func>,
    /// The arguments of the call.
    x: Option<Array>,
    y: Array,
    /// The cells that have a value.
    done: Array,
    /// Their value; None: no way gives one.
    value: Option<Array>,
    /// The arguments that the others are called with.
    next: Next,
}

/// The arguments of the next call; the left one where it is another.
type Next = (Option<Array>, Array);

/// The outcome of one way of a guard.
pub enum Way {
    /// A value.
    Value(Array),
    /// A call of the dfn itself.
    Again(Next),
    /// Guards in it are decided by cells, too.
    Ways(Box<Ways>),
}

/// Whether two arguments are one.
fn is_same(a: Option<&Array>, b: Option<&Array>) -> bool {
    match (a.map(Array::data), b.map(Array::data)) {
        (None, None) => true,
        (Some(Data::Framed(a)), Some(Data::Framed(b))) => Rc::ptr_eq(a, b),
        (Some(Data::Num(a, m)), Some(Data::Num(b, n))) => a.to_bits() == b.to_bits() && m == n,
        _ => false,
    }
}

impl Eval<'_> {
    /// The outcome of a way of a guard, in a call of `f` with `x`. None: no value.
    pub fn way(&mut self, o: Outcome, f: &Rc<Func>, x: Option<&Array>) -> Result<Option<Way>> {
        Ok(match o {
            Outcome::Tail(call) if Rc::ptr_eq(&call.0, f) => {
                let (_, left, right) = *call;
                if left.is_some() != x.is_some() {
                    return Err(untraced("a call of itself changes how many arguments it has"));
                }
                let left = left.filter(|left| !is_same(Some(left), x));
                Some(Way::Again((left, right)))
            }
            Outcome::Ways(ways) if Rc::ptr_eq(&ways.f, f) => Some(Way::Ways(ways)),
            o => self.valued(o)?.map(Way::Value),
        })
    }

    /// Both ways as one: a value, or what is known of it.
    pub fn ways(
        &mut self,
        cond: &Array,
        (yes, no): (Way, Way),
        f: &Rc<Func>,
        (x, y): (Option<Array>, &Array),
    ) -> Result<Outcome> {
        if let (Way::Value(yes), Way::Value(no)) = (&yes, &no) {
            return self.cx.either(cond, yes, no).map(Outcome::Array);
        }
        let parts = |way: Way| match way {
            Way::Value(value) => (Array::num(1.0), Some(value), None),
            Way::Again(next) => (Array::num(0.0), None, Some(next)),
            Way::Ways(w) => (w.done, w.value, Some(w.next)),
        };
        let ((done, value, next), (done2, value2, next2)) = (parts(yes), parts(no));
        let done = self.cx.either(cond, &done, &done2)?;
        let mut both = |a: Option<Array>, b: Option<Array>| match (a, b) {
            (Some(a), Some(b)) => self.cx.either(cond, &a, &b).map(Some),
            (a, b) => Ok(a.or(b)),
        };
        let value = both(value, value2)?;
        let next = match (next, next2) {
            (Some((a, b)), Some((a2, b2))) => {
                // A left argument that stays on one way alone is there on the other.
                let stays = if a.is_some() || a2.is_some() { x.clone() } else { None };
                let left = both(a.or_else(|| stays.clone()), a2.or(stays))?;
                both(Some(b), Some(b2))?.map(|right| (left, right))
            }
            (a, b) => a.or(b),
        };
        let next = next.ok_or_else(|| untraced("a call of itself without an argument"))?;
        let (f, y) = (f.clone(), y.clone());
        Ok(Outcome::Ways(Box::new(Ways { f, x, y, done, value, next })))
    }

    /// The value of a call whose last calls are of itself: a loop, then its ends.
    pub fn looped_calls(&mut self, ways: Ways) -> Result<Array> {
        if self.cx.sys.scope.is_conditional() {
            return Err(untraced("a call of itself stands under a guard"));
        }
        let Ways { f, x, y, next, .. } = ways;
        let times = if next.0.is_some() { Times::CallsOfBoth } else { Times::Calls };
        let made = self.rounds(&f, x.as_ref(), &y, times, None)?;
        let ends = made.ok_or_else(|| untraced("a call of itself is no loop"))?;
        let (x, ends) = match times {
            Times::CallsOfBoth => {
                let (x, y) = self.both_of(&ends)?;
                (Some(x), y)
            }
            _ => (x, ends),
        };
        match self.call(&f, x.as_ref(), &ends)? {
            Outcome::Ways(last) => {
                last.value.ok_or_else(|| untraced("a call of itself that never ends"))
            }
            _ => Err(untraced("a call of itself without guards")),
        }
    }

    /// One round of such a loop: the state where a cell is done, else the next, of the right
    /// argument, or of both where both change; and which are done.
    pub fn round_of_calls(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        y: &Array,
        both: bool,
    ) -> Result<(Vec<Array>, Array)> {
        let Outcome::Ways(w) = self.call(f, x, y)? else {
            return Err(untraced("a call of itself that is no round"));
        };
        let Ways { done, next: (left, right), .. } = *w;
        let mut made = Vec::new();
        match (x, left) {
            (Some(x), Some(left)) if both => made.push((x, left)),
            (Some(x), None) if both => made.push((x, x.clone())),
            (_, None) => {}
            _ => return Err(untraced("a call of itself changes its left argument in a round")),
        }
        made.push((y, right));
        if made.iter().any(|(now, next)| now.shape() != next.shape()) {
            return Err(untraced("a call of itself whose arguments change their shape"));
        }
        let next = made.iter().map(|(now, next)| self.cx.either(&done, now, next));
        Ok((next.collect::<Result<_>>()?, done))
    }
}

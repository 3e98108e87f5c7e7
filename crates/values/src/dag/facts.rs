//! Facts of nodes that kinds tell, in the words that all share.
//!
//! When a node can fail is computed when it is made, and read by all who ask. The recorder makes a
//! check of what fails hard, guards give it arguments that it has a result for, passes compute it
//! on its whole domain, rules drop only what never fails. The answer depends on kinds, types, on
//! whether intervals are known, on whether places lie in their axis, and on whether a divisor is a
//! number other than 0; so it is part of what a known plan is known by.

use crate::array::{Array, DType};
use crate::prim::op::{Fails, On, Op};

/// The relation of a node's elements to those of its operands. All but consumers are producers: an
/// element needs at most one of each operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// There before anything runs.
    Given,
    /// Made of the index alone.
    Index,
    /// An operand's element, at a place that a map tells.
    Move,
    /// Computed of the operands' elements at its own place.
    Elementwise,
    /// An operand's element, at a place that values tell.
    AtPlaces,
    /// Made of many elements: it gets a buffer.
    Consumer,
}

impl Role {
    /// Whether an element is neither at its own place of an operand nor at one that a map tells.
    pub fn is_random(self) -> bool {
        matches!(self, Role::AtPlaces | Role::Consumer)
    }
}

/// The facts about an operand without computing it.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The element type.
    pub dtype: DType,
    /// It is one number, and not 0.
    pub nonzero: bool,
    /// No element is less than the first or more than the second, where somebody knows.
    pub range: Option<(f64, f64)>,
}

impl Known {
    /// The facts about an array, pending or not.
    pub fn of(a: &Array) -> Known {
        let nonzero = a.number_scalar().is_some_and(|x| x != 0.0);
        let range = a.pending().map_or_else(|| a.dtype().range(), |cell| cell.meta().range);
        Known { dtype: a.dtype(), nonzero, range }
    }

    /// True where all are whole numbers of so many from the first on.
    pub fn are_places(&self, first: f64, count: usize) -> bool {
        let inside = |(lo, hi): (f64, f64)| first <= lo && hi < first + count as f64;
        self.dtype.is_integer() && self.range.is_some_and(inside)
    }
}

/// When an operation on such operands can fail. An integer of a known interval cannot overflow.
pub fn operation_fails(op: Op, ranged: bool, args: impl Iterator<Item = Known>) -> Fails {
    let (mut bools, mut nonzero) = (true, false);
    for (k, a) in args.enumerate() {
        bools &= a.dtype == DType::Bool;
        nonzero |= k == 1 && a.nonzero;
    }
    op.fails_on(On { bools, ranged, nonzero })
}

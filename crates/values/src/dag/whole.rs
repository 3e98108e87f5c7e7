//! Consumers of whole arrays: ordered folds, folds of segments, scatters, functions of the library.
//!
//! Rows: LOWERING §1; ACC-05, ACC-27, ACC-28, ACL-27. Their first operands are *held*, that is,
//! read where only values tell; the others are *fed*, computed at every point of the node's domain.
//! What they mean stands in `prim::whole`.

use super::node::Along;
use super::read::Read;
use crate::body::Rounds;
use crate::prim::op::Op;
use smallvec::SmallVec;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub enum Whole {
    /// The fold along an axis from its end, one step after the other. The body's arguments are an
    /// item, what is folded behind it, and the numbers `given`; it has one state. Fed: the array.
    Fold { axis: u8, body: Arc<Rounds>, given: Vec<f64> },
    /// The fold of each segment of a vector, by the order of a row so long. Held: from and to of
    /// each, a row a segment. Fed: the vector.
    Segmented { op: Op },
    /// The base with values at places, in ravel order of the places: the last one stays, or each is
    /// combined with what is there. `read`, `along` and `origin` tell the place as in a gather.
    /// Held: the base. Fed: values, places.
    Scatter { read: Read, along: SmallVec<[Along; 2]>, origin: f64, combine: Option<(Op, f64)> },
    /// A function of the library. Held: all.
    Lib { of: Lib, origin: f64, ct: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lib {
    GradeUp,
    GradeDown,
    /// The first place of each item of the second in the first, a vector.
    IndexOf,
    /// Whether each item of the second is in the first.
    Member,
}

impl Lib {
    pub fn glyph(self) -> char {
        match self {
            Lib::GradeUp => '⍋',
            Lib::GradeDown => '⍒',
            Lib::IndexOf => '⍳',
            Lib::Member => '∊',
        }
    }
}

impl Whole {
    /// The trace's name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Whole::Fold { .. } => "reduce",
            Whole::Segmented { .. } => "segmented",
            Whole::Scatter { .. } => "scatter",
            Whole::Lib { .. } => "lib",
        }
    }

    /// How many operands are held; the node's domain is the shape of the operand behind them, or of
    /// the first.
    pub fn held(&self) -> usize {
        match self {
            Whole::Fold { .. } => 0,
            Whole::Segmented { .. } | Whole::Scatter { .. } => 1,
            Whole::Lib { of: Lib::GradeUp | Lib::GradeDown, .. } => 1,
            Whole::Lib { .. } => 2,
        }
    }

    pub fn axis(&self) -> usize {
        if let Whole::Fold { axis, .. } = self { *axis as usize } else { 0 }
    }

    /// Nanoseconds and operations for one element of the domain.
    pub fn cost(&self) -> (f64, u64) {
        match self {
            // One step after the other waits for each result.
            Whole::Fold { body, .. } => {
                let (ns, operations) = body.cost();
                (ns * 8.0, operations)
            }
            Whole::Segmented { op } => (op.row().ns, 1),
            Whole::Scatter { combine, .. } => (2.0, u64::from(combine.is_some())),
            Whole::Lib { .. } => (40.0, 0),
        }
    }

    pub fn glyph(&self) -> String {
        match self {
            Whole::Fold { body, .. } => {
                body.single().map_or("{…}/".into(), |op| format!("{}/", op.glyph()))
            }
            Whole::Segmented { op } => format!("{}/¨", op.glyph()),
            Whole::Scatter { combine, .. } => match combine {
                Some((op, _)) => format!("[]{}←", op.glyph()),
                None => "[]←".into(),
            },
            Whole::Lib { of, .. } => of.glyph().into(),
        }
    }
}

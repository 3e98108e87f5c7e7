//! The operators. Where an operand is a scalar primitive on simple arrays they record nodes; else
//! they loop.

pub mod adds;
pub mod at;
pub mod by_shape;
pub mod closed;
pub mod compose;
pub mod differing;
pub mod each;
pub mod frames;
pub mod from_right;
pub mod inverse;
pub mod key;
pub mod own;
pub mod power;
pub mod prefix;
pub mod products;
pub mod rank;
pub mod reduce;
pub mod scans;
pub mod stencil;
pub mod variant;

use super::value::{Func, Operand};
use crate::table::Prim;
use aplomb_ground::error::{Result, syntax};
use aplomb_values::prim::op::Op;
use std::rc::Rc;

/// The scalar operation of a dyadic scalar primitive.
pub fn scalar_op(f: &Operand) -> Option<Op> {
    prim(f)?.scalar(true)
}

/// The primitive that an operand is.
pub fn prim(f: &Operand) -> Option<&'static Prim> {
    match f {
        Operand::F(f) => match **f {
            Func::Prim(p) => Some(p),
            _ => None,
        },
        Operand::A(_) => None,
    }
}

/// The function that an operand is. Errors: SYNTAX for an array.
pub fn function(f: &Operand) -> Result<&Rc<Func>> {
    match f {
        Operand::F(f) => Ok(f),
        Operand::A(_) => Err(syntax("this operand must be a function")),
    }
}

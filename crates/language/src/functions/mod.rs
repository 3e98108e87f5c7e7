//! The primitives that are not scalar, on values at hand: structure, selection, search, order,
//! text, matrices.

pub mod amend;
pub mod cells;
pub mod find;
pub mod groups;
mod hashes;
pub mod intervals;
pub mod join;
pub mod made;
pub mod matrix;
pub mod numbers;
pub mod order;
pub mod parts;
pub mod pieces;
pub mod repeat;
pub mod search;
pub mod seek;
pub mod select;
pub mod sets;
pub mod shape;
mod sorted;
pub mod straight;
mod tables;
pub mod text;

/// A buffer of the type of another, of what is made of its items and a fill. Complex numbers return
/// None from the function around.
macro_rules! of_its_type {
    ($held:expr, $budget:expr, |$items:ident, $fill:pat_param| $made:expr) => {{
        use aplomb_values::array::{Buf, View};
        match $held.view() {
            View::Char($items) => {
                let $fill = ' ';
                Buf::chars($made?, $budget)?
            }
            View::Bool($items) => {
                let $fill = 0;
                Buf::bools($made?, $budget)?
            }
            View::I8($items) => {
                let $fill = 0;
                Buf::i8($made?, $budget)?
            }
            View::I16($items) => {
                let $fill = 0;
                Buf::i16($made?, $budget)?
            }
            View::I32($items) => {
                let $fill = 0;
                Buf::i32($made?, $budget)?
            }
            View::F32($items) => {
                let $fill = 0.0;
                Buf::f32($made?, $budget)?
            }
            View::F64($items) => {
                let $fill = 0.0;
                Buf::f64($made?, $budget)?
            }
            View::Complex(_) => return Ok(None),
        }
    }};
}
pub(crate) use of_its_type;

//! The primitives that are not scalar, on values at hand: structure, selection, search, order,
//! text, matrices.

pub mod amend;
pub mod cells;
pub mod groups;
pub mod join;
pub mod made;
pub mod matrix;
pub mod numbers;
pub mod order;
pub mod parts;
pub mod pieces;
pub mod repeat;
pub mod search;
pub mod select;
pub mod sets;
pub mod shape;
pub mod straight;
pub mod text;

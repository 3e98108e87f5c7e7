//! The meaning of operations: scalar functions (`scalar`, by rows of `op`), folds, of groups too
//! (`keyed`), scans, moves, what takes whole arrays (`whole`, `library`, `places`), and random
//! numbers (`draws`).

pub mod draws;
pub mod keyed;
pub mod library;
pub mod moves;
pub mod op;
mod places;
pub mod reduce;
pub mod scalar;
pub mod scan;
pub mod short;
pub mod whole;

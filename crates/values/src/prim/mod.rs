//! The meaning of operations: scalar functions (`scalar`, by rows of `op`), folds, of groups too
//! (`keyed`), scans, moves, and what takes whole arrays (`whole`, `library`).

pub mod keyed;
pub mod library;
pub mod moves;
pub mod op;
pub mod reduce;
pub mod scalar;
pub mod scan;
pub mod short;
pub mod whole;

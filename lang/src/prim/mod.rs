//! Primitives: one table of rows (`table`), one meaning each. Scalar meanings are `scalar`, folds `reduce`; structural
//! ones are a shape and a read (`moves`); the rest are loops on host values.

pub mod moves;
pub mod op;
pub mod reduce;
pub mod scalar;
pub mod scan;
pub mod table;

pub mod amend;
pub mod cells;
pub mod join;
pub mod library;
pub mod matrix;
pub mod numbers;
pub mod order;
pub mod parts;
pub mod search;
pub mod select;
pub mod shape;
pub mod text;
pub mod whole;

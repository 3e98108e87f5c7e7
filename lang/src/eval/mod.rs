//! The evaluator.
pub mod host;

//! Primitives.
pub mod op;

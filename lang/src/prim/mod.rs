//! Primitives.
pub mod op;
pub mod reduce;
pub mod scalar;

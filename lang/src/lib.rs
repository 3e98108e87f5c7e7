//! Aplomb's language and compiler: text in, plan out. Pure: no IO, clock, threads, environment; no unsafe code.

#![forbid(unsafe_code)]

pub mod array;
pub mod dag;
pub mod error;
pub mod eval;
pub mod help;
pub mod kir;
pub mod limits;
pub mod pass;
pub mod plan;
pub mod prim;
pub mod protocol;
pub mod reference;
pub mod report;
pub mod span;
pub mod syntax;
pub mod trace;

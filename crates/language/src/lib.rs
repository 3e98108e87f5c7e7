//! The language: text to phrases (`syntax`), phrases to values (`eval`), one table of primitives
//! (`table`) and what those do that are not scalar (`functions`). It records graphs and never
//! compiles one: it asks the world only through `eval::host::Host`. No IO, clock, threads or
//! environment.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod eval;
pub mod functions;
pub mod syntax;
pub mod table;
pub mod testing;

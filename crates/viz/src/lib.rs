//! Pictures of a compile trace. Everything here reads a `Trace` and gives text; nothing else is
//! known.
//!
//! Start at `Graph` (the nodes of one pass), then `text::draw`. `why`, `tables` and `dot` are other
//! views of the same record; `panes` shows them in a terminal. Always: the same trace gives the
//! same bytes; a drawn graph can be read back exactly (tested).

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod ask;
pub mod classes;
pub mod diff;
pub mod dot;
pub mod figures;
mod graph;
mod layout;
pub mod list;
mod names;
mod orders;
pub mod outside;
pub mod panes;
pub mod profile;
pub mod promise;
mod route;
mod sketch;
pub mod svg;
pub mod tables;
pub mod text;
pub mod why;

pub use graph::{Graph, find_pass, heading, nothing};

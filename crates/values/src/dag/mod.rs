//! The graph of one evaluation, in two forms.
//!
//! *Pending*: reference-counted lazy cells that values hold; a cell is a node's identity, so it is
//! exactly the source's sharing. *Recorded*: at a force the reachable cells are numbered into a
//! fresh append-only `Dag`. Start at `Node`, whose kinds say what they are (`kinds`), then
//! `Dag::add`. Always: arguments have smaller ids; shape and dtype are concrete (held by `verify`).
//! Equal nodes meet in the pass `cse`, never at birth. Never here: devices, a second arena.

mod cell;
mod facts;
mod graph;
pub mod ix;
pub mod kinds;
pub mod pieces;
mod read;
mod recorded;
mod text;

pub use cell::{Cell, Meta};
pub use facts::{Known, Role, operation_fails};
pub use graph::{Assumption, Dag, Info, NodeId};
pub use kinds::{Along, Args, InDag, Kind, Lib, Node, Param, Scalar, Whole};
pub use read::{Read, Test};
pub use recorded::Recorded;

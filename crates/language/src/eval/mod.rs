//! The evaluator: environment, dfns, operators. Simple arrays become cells (`lower`), the rest is
//! computed at once.
//!
//! Start at `Interp`. Always: right to left; a statement commits only if it ended well. Never:
//! files, clocks, threads, but through `Host`.

mod apply;
mod as_dfn;
mod assign;
mod classes;
pub mod cx;
mod derive;
mod drawn;
pub mod edits;
pub mod env;
mod flattened;
mod force;
mod guard;
pub mod host;
mod interp;
mod keep;
pub mod lower;
mod numbers;
pub mod operators;
pub mod phrases;
mod regrown;
mod replay;
mod restless;
pub mod run;
pub mod scope;
mod selective;
mod shy;
pub mod space;
mod spends;
mod steps;
pub mod system;
pub mod tape;
mod tradfn;
mod trees;
mod turns;
pub mod value;
mod ways;
pub mod work;
mod workspace;

#[cfg(test)]
pub mod tests;

pub use interp::{Interp, Named, Snapshot};

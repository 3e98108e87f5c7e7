//! The program on top: command line, prompt, scripts, the table of commands.
//!
//! Start at `cli`. `commands` is the one table behind `)` and `]`; `repl` alone knows the line
//! editor; `front` makes sessions and prints what they tell. Never: a decision of the compiler, a
//! picture of a trace.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

// A comment there is a line of `--help`, where its fields are options.
#[allow(missing_docs)]
pub mod args;
mod batch;
mod bench;
pub mod cli;
pub mod commands;
mod export;
mod front;
mod gate;
mod lsp;
mod microbench;
#[cfg(feature = "jupyter")]
mod notebook;
#[cfg(not(feature = "jupyter"))]
#[path = "notebook_absent.rs"]
mod notebook;
pub mod panes;
mod profile;
mod repl;
mod repro;
mod script;
mod selftest;
mod signals;
mod told;
mod views;
mod watch;
mod words;

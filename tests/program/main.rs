//! The program as a process: arguments, prompt, scripts, signals, terminal, benchmarks.
//!
//! Whatever changes a process (limits of the shell, variables, folders, signals) changes the one
//! that is started, never this one. So this one stays small, and `hostile` stands here and not with
//! the other lines: its sessions have budgets of some megabytes, a session over its budget is
//! stopped by the size of the whole process, and sessions with large arrays beside them would be
//! taken for theirs.

#[cfg(feature = "jupyter")]
#[path = "../notebook/running.rs"]
mod running;
#[path = "../support/standin.rs"]
mod standin;
#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod bench;
mod bounded;
mod cli;
mod editors;
mod export;
mod found_manners;
mod gpu_bench;
mod hostile;
mod lsp;
mod options;
mod panes_terminal;
mod repl;
mod workspaces;

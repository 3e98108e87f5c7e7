//! The panes without a terminal: their screens as text, keys, and a notebook that they look on at.

#[cfg(feature = "jupyter")]
#[path = "../notebook/running.rs"]
mod running;
#[path = "../support/mod.rs"]
mod support;

mod panes;
mod panes_existing;

//! The notebook from a client's side: a kernel process, real sockets, every kind of message.
//!
//! `running` has kernel processes, `jupyter` what they answer, `hostile` what must not end them,
//! `shown` what a page has beside text, `told` what is told about a cell, `trust` what a sanitiser
//! leaves of it, `books` tutorials cell by cell, `python` the clients of others.

#![cfg(feature = "jupyter")]

#[path = "../support/mod.rs"]
mod support;

mod books;
mod hostile;
mod jupyter;
mod python;
mod running;
mod shown;
mod told;
mod trust;

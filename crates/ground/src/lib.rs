//! The ground floor: source spans, APL's errors, limits, the trace and the protocol. Every other
//! crate stands on it; it knows none of them. No IO, clock, threads or environment.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod calendar;
pub mod chart;
pub mod error;
pub mod heap;
pub mod help;
pub mod later;
pub mod limits;
pub mod profile;
pub mod progress;
pub mod protocol;
pub mod report;
pub mod span;
pub mod trace;

//! The plans that devices run: launches (`plan`), and the code of one launch for one thread of a
//! GPU (`kir`).

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod kir;
pub mod micro;
pub mod occupancy;
pub mod plan;

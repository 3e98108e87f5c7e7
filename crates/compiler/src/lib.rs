//! The compiler: passes that turn a recorded graph into a plan of launches and say why.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod pass;

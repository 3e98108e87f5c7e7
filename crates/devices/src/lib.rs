//! The devices that run plans: the CPU's chunk machine, NVIDIA GPUs, the pool of threads and the
//! memory they share.

#![warn(missing_docs)]

pub mod device;
pub mod memory;
pub mod pool;
pub mod warm;

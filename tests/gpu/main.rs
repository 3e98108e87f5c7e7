//! The CUDA device, on the stand-in for its libraries (`tests/cusim`), and its texts, compiled by
//! NVRTC.
//!
//! A test that needs other libraries than this process has starts this program again for itself
//! alone (`standin`), so none is changed here. What the stand-in compiled is kept in
//! `target/cusim/kept` and found by all of them.

#[path = "../support/devices.rs"]
mod devices;
#[path = "../support/grammar.rs"]
mod grammar;
#[path = "../support/nvrtc.rs"]
mod nvrtc;
#[path = "../support/standin.rs"]
mod standin;
#[path = "../support/mod.rs"]
mod support;

mod addresses;
mod cuda;
mod cuda_again;
mod cuda_away;
mod cuda_blas;
mod cuda_device;
mod cuda_fast;
mod cuda_faults;
mod cuda_repro;
mod cuda_shapes;
mod cuda_tune;
mod cuda_whole;
mod cusim;
mod micro;

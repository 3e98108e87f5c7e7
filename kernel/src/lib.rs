//! Everything that has an effect: devices, memory, files, sessions, the notebook.

mod clock;
pub mod device;
pub mod files;
#[cfg(feature = "jupyter")]
pub mod jupyter;
pub mod memory;
pub mod pool;
pub mod session;

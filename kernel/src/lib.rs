//! Everything of Aplomb that has an effect: devices, memory, files, sessions.

mod clock;
pub mod device;
pub mod files;
pub mod memory;
pub mod pool;
pub mod session;

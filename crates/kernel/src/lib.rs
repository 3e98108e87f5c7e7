//! Everything that has an effect but the devices: sessions, files, the notebook.

#![warn(missing_docs)]

mod clock;
pub mod files;
pub mod glyphs;
#[cfg(feature = "jupyter")]
pub mod jupyter;
pub mod session;

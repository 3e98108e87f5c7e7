//! The reasons that end an evaluation on the device before its end.

use super::driver::Trouble;
use aplomb_ground::error::Error;

/// Why an evaluation on the device did not come to its end.
#[derive(Clone, Debug)]
pub enum Stop {
    /// An element failed.
    Fault,
    /// An operand of a product that a library did is so large that sums may overflow.
    Large,
    Interrupted,
    /// The host's memory is short.
    Budget(Error),
    /// The device's is.
    Memory,
    /// The device took something badly: the CPU does it.
    Cpu(String),
    Lost(String),
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Stop {
        match trouble {
            Trouble::Memory => Stop::Memory,
            Trouble::Lost(name) => Stop::Lost(name),
            Trouble::Refused(says) => Stop::Cpu(says),
            Trouble::Interrupted => Stop::Interrupted,
        }
    }
}

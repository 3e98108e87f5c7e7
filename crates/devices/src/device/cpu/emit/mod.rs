//! Emitted loops: a launch's straight parts as machine code of their own.
//!
//! | file | from → to |
//! |---|---|
//! | `segments` | a program of the chunk VM → parts, and a tape for each that has lanes |
//! | `record` | an operation → typed steps of a tape |
//! | `exact` | one beside a known number → fewer steps |
//! | `beside` | a round of a loop → the same for several registers' elements |
//! | `builder` | steps → a finished `tape`: its lanes, its constants beside it |
//! | `lanes` | types and counts of values → registers |
//! | `forms`, `code` | a tape → instructions of AVX-512 or AVX2 |
//! | `registry` | tapes that have been met → their loops |
//! | `pages` | instructions → a function |
//!
//! `emitted` beside this folder runs the parts over some elements of a domain.
//!
//! Why it is right: a loop knows the common case only, as the machine's loops do, and tells where
//! an element is suspect: then the machine takes those elements again, with care where it must, and
//! writes everything that the loop wrote. Steps come from the same rules as the machine's, in the
//! same order, so the bits are the same. What a loop cannot do is left to the machine, instruction
//! by instruction.
//!
//! Equal tapes are one code, whatever launch they come from; numbers are data. A tape is compiled
//! when a launch is long enough to pay for it at once, or when it has run before.
//!
//! Not here: folds beside stores.

mod aside;
mod beside;
mod builder;
mod code;
mod exact;
mod forms;
mod lanes;
mod later;
mod pages;
mod record;
mod registry;
mod segments;
mod tape;
#[cfg(test)]
mod tests;

pub use aside::{Aside, CHUNK, HOLDING, Line, Partials};
pub use beside::AT_ONCE;
pub use pages::Pages;
pub use registry::{Registry, When};
pub use segments::{
    Counter, Feed, Goal, Part, Parts, Round, Segment, Summer, parts, rows, sums, tests, truths,
};
pub use tape::{Act, Bin, HEAD, Kind, PARTIALS};

/// Makes the tables by which instructions are written, once in a process: a millisecond that the
/// first loop would wait for.
pub fn ready() {
    drop(iced_x86::Encoder::new(64));
}

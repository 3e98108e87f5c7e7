//! Memory of one thread for what a loop reads and writes elsewhere.

/// Inputs that are not in order, and the rest of a round.
#[derive(Default)]
pub struct Aside {
    /// The table of a call.
    pub words: Vec<u64>,
    /// The inputs of a chunk, one behind the other.
    pub lines: Vec<Line>,
    /// For the last, incomplete round: one line an input or output.
    pub rest: Vec<Line>,
}

/// A round of one input or output, at most.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Line(pub [u8; Line::BYTES]);

impl Line {
    pub const BYTES: usize = 64;
    pub const EMPTY: Line = Line([0; Line::BYTES]);
}

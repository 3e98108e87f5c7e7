//! Memory of one thread for what a loop reads and writes elsewhere.

use super::tape::PARTIALS;

/// Inputs that are not in order, and the rest of a round.
#[derive(Default)]
pub struct Aside {
    /// The table of a call.
    pub words: Vec<u64>,
    /// Its constants, where some of them are the call's own.
    pub consts: Vec<u64>,
    /// The inputs of a chunk, one behind the other.
    pub lines: Vec<Line>,
    /// For each of these, the item that all of it is, by its place in the source, and how many
    /// times it stands there: a row's number is written once a row, not once a chunk.
    pub alike: Vec<Option<(i64, usize)>>,
    /// The segment whose inputs they are.
    pub whose: usize,
    /// For the last, incomplete round: one line an input or output.
    pub rest: Vec<Line>,
    /// The table of its call.
    pub rest_words: Vec<u64>,
    /// Partial results, of which that round has some.
    pub turned: Vec<Partials>,
}

/// The partial results of a fold.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Partials(pub [f64; PARTIALS]);

/// Elements of a register, and of an input that is put together.
pub const CHUNK: usize = 1024;
/// Elements that may run at once though an input is not in order: while each lies in one piece.
pub const WIDE: usize = 8 * CHUNK;

/// As many truths that hold.
pub static HOLDING: [u8; WIDE] = [1; WIDE];

/// A round of one input or output, at most.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Line(pub [u8; Line::BYTES]);

impl Line {
    pub const BYTES: usize = 64;
    pub const EMPTY: Line = Line([0; Line::BYTES]);
}

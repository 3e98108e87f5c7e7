//! The record of a whole run by source line: who calls, and where the time goes.

use serde::Serialize;

/// The name of the schema, the first field of every profile.
pub const SCHEMA: &str = "aplomb-profile";

/// The name of the time that is no line's.
pub const OUTSIDE: &str = "outside of lines";

/// A whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Profile {
    /// Always `SCHEMA`.
    pub schema: String,
    /// The version of the schema.
    pub version: String,
    /// Milliseconds from the first line read to the last one done.
    pub wall_ms: f64,
    /// Milliseconds of no line: reading the text, what lies before the first statement and behind
    /// the last. With those of `lines` they are the wall time.
    pub outside_ms: f64,
    /// The lines that took part, that with most time first.
    pub lines: Vec<Line>,
    /// Paths of calls with the time spent at their end; the last word of some is `compiling`,
    /// `launches` or `waiting`. The time of no line stands alone, as `OUTSIDE`.
    pub stacks: Vec<Stack>,
}

/// A source line with what it took; the functions that it calls have lines of their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Line {
    /// The source's name and the line, from 1: `main.apl:12`.
    pub at: String,
    /// The line.
    pub text: String,
    /// The number of times that a statement on it began.
    pub calls: u64,
    /// Milliseconds of the evaluator: recording, small arrays, what no launch computes.
    pub host_ms: f64,
    /// Milliseconds from a graph to a plan.
    pub compile_ms: f64,
    /// Milliseconds inside launches, told where what they compute was written.
    pub launch_ms: f64,
    /// Milliseconds around launches: room for results, handing over, transfers, a GPU's answer.
    pub wait_ms: f64,
    /// Launches that ran.
    pub launches: u64,
    /// Bytes between launches and memory, each element once a launch.
    pub bytes: u64,
    /// The part of the wall time.
    pub share: f64,
}

impl Line {
    /// All its milliseconds.
    pub fn total_ms(&self) -> f64 {
        self.host_ms + self.compile_ms + self.launch_ms + self.wait_ms
    }
}

/// A path of calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stack {
    /// Lines, the outermost first.
    pub path: Vec<String>,
    /// Milliseconds at its end.
    pub ms: f64,
}

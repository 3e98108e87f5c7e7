//! The world as the evaluator sees it. A session implements it; tests use `testing::Host`.

use aplomb_ground::chart::Chart;
use aplomb_ground::error::Result;
use aplomb_ground::limits::{Budget, Interrupt, Limits};
use aplomb_ground::span::Place;
use aplomb_values::array::Array;
use aplomb_values::array::format::Style;
use aplomb_values::dag::Recorded;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::Src;

/// The time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds since 1970-01-01 00:00, universal time.
    pub ms: i64,
    /// The milliseconds that local time is ahead of universal time.
    pub offset_ms: i64,
}

/// The size of work that was no launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Much {
    /// Elements that a function had.
    Elements(usize),
    /// Calls of functions and turns of loops.
    Calls(usize),
}

/// The world as the evaluator sees it: evaluations, files, time, input and output.
pub trait Host {
    /// Compiles and runs. One array a root, in order; on an error nothing is kept.
    fn force(&mut self, recorded: Recorded) -> Result<Vec<Array>>;

    /// One operation at once, on vectors: `out[i] = op(x[i], y[i])`; a monadic one ignores `y`.
    /// False: some element is suspect (failed, or beyond the fast path) and the caller must take
    /// the scalar meaning.
    fn apply(&mut self, op: Op, ct: f64, x: Src, y: Src, out: &mut [f64]) -> bool;

    /// Whether what a switch of `RECORDER` names is done.
    fn is_on(&self, _switch: &str) -> bool {
        true
    }

    /// Something that costs more than it seems to: its code in the trace, where, and a sentence.
    fn warn(&mut self, _code: &'static str, _place: &Place, _text: String) {}

    /// A function gave its value at once, by the evaluator and not by a node, or a statement called
    /// and went round: where it stands, how much of it, and its own milliseconds.
    fn interpreted(&mut self, _place: &Place, _much: Much, _own: f64) {}
    /// Milliseconds since the session began, without those of launches, of compiling and of all
    /// that was told as `interpreted`.
    fn untold(&self) -> f64 {
        0.0
    }

    /// Whether somebody wants to know which statement runs.
    fn follows(&self) -> bool {
        false
    }
    /// A statement begins, of a function or at the top; told where the host `follows`.
    fn begins(&mut self, _place: &Place) {}
    /// A function is called: the statements that begin now are its own, until `returns`.
    fn calls(&mut self) {}
    /// The function that was called last has ended.
    fn returns(&mut self) {}

    /// The bounds of the session.
    fn limits(&self) -> &Limits;
    /// The memory that arrays may take.
    fn budget(&self) -> &Budget;
    /// The flag that asks to stop.
    fn interrupt(&self) -> &Interrupt;

    /// The bytes of a file. Errors: FILE NAME, FILE ACCESS, with the path.
    fn read_file(&mut self, path: &str) -> Result<Vec<u8>>;
    /// Writes a file anew. Errors: FILE NAME, FILE ACCESS.
    fn write_file(&mut self, path: &str, bytes: &[u8]) -> Result<()>;
    /// Behind what the file holds; a file that is not there is made.
    fn append_file(&mut self, path: &str, bytes: &[u8]) -> Result<()>;
    /// A .npy file as an array. Errors name file and what was expected.
    fn read_npy(&mut self, path: &str) -> Result<Array>;
    /// Writes one array as .npy; `dtype` in NumPy's words, without one that of the values. Errors:
    /// FILE NAME, FILE ACCESS, DOMAIN.
    fn write_npy(&mut self, path: &str, array: &Array, dtype: Option<&str>) -> Result<()>;
    /// A picture as rows and columns, or as planes of them. Errors name file and what is wrong.
    fn read_picture(&mut self, path: &str) -> Result<Array>;
    /// Writes a picture as PNG. Errors name file and what is wrong.
    fn write_picture(&mut self, path: &str, array: &Array) -> Result<()>;
    /// Whether there is such a file or folder.
    fn exists(&mut self, path: &str) -> bool;
    /// Removes a file.
    fn delete(&mut self, path: &str) -> Result<()>;

    /// The date, and the time of the day.
    fn now(&mut self) -> Now;
    /// Milliseconds of computing and since the session began.
    fn spent(&mut self) -> (f64, f64);
    /// Waits, and says how many seconds it took. Errors: INTERRUPT.
    fn sleep(&mut self, seconds: f64) -> Result<f64>;
    /// A line that someone types. None: nobody does, or the input has ended.
    fn read_line(&mut self, prompt: &str) -> Option<String>;

    /// A top-level statement begins: what is forced from here on belongs to it.
    fn statement(&mut self, place: &Place);
    /// The value of a top-level statement that is to be shown, how it prints (lines end in `\n`),
    /// and what made it so.
    fn show(&mut self, value: &Array, text: &str, style: &Style);
    /// A value that the program prints (`⎕←`), as `show` has it.
    fn print(&mut self, _value: &Array, text: &str, _style: &Style) {
        self.output(text);
    }
    /// Data of a media type, for whoever can show it (`⎕SHOW`). Errors: DOMAIN.
    fn display(&mut self, kind: &str, data: &[u8]) -> Result<()>;
    /// Shows a chart; as text it has so many columns. Its SVG. Errors: DOMAIN.
    fn plot(&mut self, chart: &Chart, columns: usize) -> Result<String>;
    /// Text that the program prints (`⎕←`), line end included.
    fn output(&mut self, text: &str);
    /// The words that the language itself says before it asks for a line: nothing that the program
    /// printed.
    fn prompt(&mut self, text: &str);
    /// Random bits to start a generator from, when the program set no seed.
    fn entropy(&mut self) -> u64;
}

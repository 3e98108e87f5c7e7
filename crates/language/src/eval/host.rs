//! The world as the evaluator sees it. A session implements it; tests use `testing::Host`.

use super::cx::View;
use super::work::Reason;
use aplomb_ground::chart::Chart;
use aplomb_ground::error::Result;
use aplomb_ground::limits::{Budget, Interrupt, Limits};
use aplomb_ground::span::Place;
use aplomb_values::array::format::Style;
use aplomb_values::array::{Array, Buf, DType, elements};
use aplomb_values::dag::{Lib, Recorded};
use aplomb_values::prim::draws::Draws;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::Src;
use aplomb_values::registers::{Code, Request};
use std::rc::Rc;
use std::sync::Arc;

/// The time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds since 1970-01-01 00:00, universal time.
    pub ms: i64,
    /// The milliseconds that local time is ahead of universal time.
    pub offset_ms: i64,
}

/// A request of the system beside files' bytes. A host that has no such thing refuses it.
#[derive(Clone, Debug, PartialEq)]
pub enum Errand {
    /// The facts of a file or folder, of the link itself where it is one.
    Facts(String),
    /// The names in a folder, in order.
    List(String),
    /// Makes a folder, and those above it.
    MakeFolder(String),
    /// Removes a file, or a folder with all that is in it.
    DeleteAll(String),
    /// Gives a file or folder another name.
    Move(String, String),
    /// Copies a file.
    Copy(String, String),
    /// The whole path of a file.
    Absolute(String),
    /// The value of a variable of the environment.
    Environment(String),
    /// Runs a command of the system's shell: what it prints.
    Run(String),
    /// So many bytes of a file, from a place on; fewer where it ends.
    Part(String, u64, u64),
    /// Writes bytes over a part of a file, or behind it; a hole before them is filled with 0.
    Patch(String, u64, Vec<u8>),
    /// Cuts a file to a size, or fills it with 0.
    Resize(String, u64),
}

/// The answer to an errand.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It is done.
    Done,
    /// A text.
    Text(String),
    /// There is no such thing.
    Nothing,
    /// Names.
    Names(Vec<String>),
    /// The facts of a file.
    Facts(Facts),
    /// Bytes of a file.
    Bytes(Vec<u8>),
}

/// The facts of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Facts {
    /// As Dyalog numbers them: 1 a folder, 2 a file, 3 a character device, 4 a link, 5 a block
    /// device, 6 a pipe, 7 a socket.
    pub kind: u8,
    /// Its bytes.
    pub size: u64,
    /// Milliseconds since 1970 when it was changed last.
    pub changed: i64,
    /// Whether it is a link.
    pub is_link: bool,
}

/// The formats of files that hold arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.npy`, `.npz`.
    NumPy,
    /// Arrow IPC: a file, or a stream.
    Arrow,
}

/// The arrays of a file.
#[derive(Clone)]
pub enum Arrays {
    /// One, without a name.
    One(Array),
    /// Those of a .npz file, or the columns of records or of an Arrow file.
    Named(Vec<(String, Array)>),
}

/// A page that a program shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Media types, and the data of each: one thing in several forms.
    pub forms: Vec<(String, Vec<u8>)>,
    /// The page of this name is replaced.
    pub id: Option<String>,
    /// Whether what the cell showed before goes.
    pub clears: bool,
}

/// The size of work that was no launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Much {
    /// Elements that a function had.
    Elements(usize),
    /// Calls of functions and turns of loops.
    Calls(usize),
    /// The part of the world outside that it used: files, time, output.
    World(&'static str),
}

/// The world as the evaluator sees it: evaluations, files, time, input and output.
pub trait Host {
    /// Compiles and runs. One array a root, in order; on an error nothing is kept.
    fn force(&mut self, recorded: Recorded) -> Result<Vec<Array>>;

    /// Plans that `force` had made since the session began.
    fn plans_made(&self) -> u64 {
        0
    }

    /// One operation at once, on vectors: `out[i] = op(x[i], y[i])`, as a result of that type
    /// before it is rounded to it; a monadic one ignores `y`. False: some element is suspect
    /// (failed, or beyond the fast path) and the caller must take the scalar meaning.
    fn apply(&self, op: (Op, DType), ct: f64, x: Src, y: Src, out: &mut [f64]) -> bool;

    /// The same of two arrays of one shape, or an array and a number, in the types that they are
    /// stored in. None: the device has no loop for it, or a result leaves its type. Errors: WS
    /// FULL.
    fn typed(&self, _op: Op, _x: &Array, _y: &Array) -> Result<Option<Array>> {
        Ok(None)
    }

    /// Any operation of one array or two, of one shape where none is a number, to a result of that
    /// type. None: some item is suspect, and the caller must take the scalar meaning. Errors: WS
    /// FULL.
    fn by_parts(
        &self,
        _op: (Op, DType),
        _ct: f64,
        _x: &Array,
        _y: Option<&Array>,
    ) -> Result<Option<Array>> {
        Ok(None)
    }

    /// The folds of rows of so many floats, at most a block each, in their order
    /// (`prim::reduce`), to results of that type before they are rounded to it. False: some result
    /// is suspect, or rows are folded otherwise.
    fn fold(&self, _op: (Op, DType), _rows: &[f64], _size: usize, _out: &mut [f64]) -> bool {
        false
    }

    /// The sums of products of rows of so many pairs, at most a block each, which are taken
    /// unrounded as `reduce::dot` says it of that type, before they are rounded to it. False: some
    /// result is suspect.
    fn dot(&self, _op: (Op, DType), _of: (Src, Src), _size: usize, _out: &mut [f64]) -> bool {
        false
    }

    /// The random numbers of a call, an array of this shape. Errors: WS FULL, INTERRUPT.
    fn drawn(&mut self, draws: &Draws, shape: &[usize]) -> Result<Array> {
        let numbers = (0..elements(shape) as u64).map(|k| draws.at(k));
        let items = Buf::stored(&self.budget().each(numbers)?, draws.dtype(), self.budget())?;
        Ok(Array::dense(shape, Arc::new(items)))
    }

    /// The places that put the items of a vector in order, from an origin on. None: the device
    /// gains nothing. Errors: WS FULL, INTERRUPT.
    fn ordered(&mut self, _items: &Array, _of: Lib, _origin: f64) -> Result<Option<Array>> {
        Ok(None)
    }

    /// Items of a vector group after group, each group's in their order: the group of each item,
    /// and the end of each group. None: the device gains nothing. Errors: WS FULL,
    /// INTERRUPT.
    fn grouped(&mut self, _items: &Array, _of: &[u32], _ends: &[u32]) -> Result<Option<Array>> {
        Ok(None)
    }

    /// The fold of each of so many groups of a vector's real numbers, as the vector that it is, in
    /// f64; of each item the group, and each group has items. None: the device gains nothing, or a
    /// fold is no finite number. Errors: WS FULL, INTERRUPT.
    fn keyed(&mut self, _op: Op, _items: &Array, _of: (&[u32], usize)) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    /// A function on numbers in registers as machine code. None: the device has none for it.
    fn compiled(&self, _request: &Request<'_, '_>) -> Code {
        None
    }

    /// Whether what a switch of `RECORDER` names is done.
    fn is_on(&self, _switch: &str) -> bool {
        true
    }

    /// Something that costs more than it seems to: its code in the trace, where, and a sentence.
    fn warn(&mut self, _code: &'static str, _place: &Place, _text: String) {}

    /// A function gave its value at once, by the evaluator and not by a node, or a statement called
    /// and went round: where it stands, how much of it, the reason, and its own milliseconds.
    fn interpreted(&mut self, _place: &Place, _much: Much, _why: &Reason, _own: f64) {}
    /// The value of the function that was just told as `interpreted`.
    fn made(&mut self, _value: &Array) {}
    /// The text of a value that is shown was made: where the statement stands, the bytes of the
    /// text, and milliseconds.
    fn worded(&mut self, _place: &Place, _bytes: usize, _own: f64) {}
    /// Milliseconds since the session began, without those of launches, of compiling and of all
    /// that was told as `interpreted` or `worded`.
    fn untold(&self) -> f64 {
        0.0
    }

    /// A command that sets how results show, such as `box on`: what it tells. None: it is no such
    /// command. Errors: a sentence.
    fn setting(&mut self, _command: &str, _view: &mut View) -> Result<Option<String>> {
        Ok(None)
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
    /// The arrays of a file of a format. Errors name file and what was expected.
    fn read_arrays(&mut self, format: Format, path: &str) -> Result<Arrays>;
    /// Writes one array, or several by name; `how`: types and packing in the words of the format,
    /// without which a type is that of the values. Errors: FILE NAME, FILE ACCESS, DOMAIN.
    fn write_arrays(
        &mut self,
        format: Format,
        path: &str,
        arrays: &Arrays,
        how: Option<&str>,
    ) -> Result<()>;
    /// A picture as rows and columns, or as planes of them. Errors name file and what is wrong.
    fn read_picture(&mut self, path: &str) -> Result<Array>;
    /// Writes a picture as PNG. Errors name file and what is wrong.
    fn write_picture(&mut self, path: &str, array: &Array) -> Result<()>;
    /// Whether there is such a file or folder.
    fn exists(&mut self, path: &str) -> bool;
    /// Removes a file.
    fn delete(&mut self, path: &str) -> Result<()>;
    /// Does an errand. Errors: FILE NAME, FILE ACCESS; DOMAIN for what is not allowed.
    fn errand(&mut self, errand: &Errand) -> Result<Answer>;

    /// The date, and the time of the day.
    fn now(&mut self) -> Now;
    /// Milliseconds of computing and since the session began.
    fn spent(&mut self) -> (f64, f64);
    /// Waits, and says how many seconds it took. Errors: INTERRUPT.
    fn sleep(&mut self, seconds: f64) -> Result<f64>;
    /// A line that someone types. None: nobody does, or the input has ended.
    fn read_line(&mut self, prompt: &str) -> Option<String>;

    /// A top-level statement begins: what is forced from here on belongs to it. One that computes
    /// nothing (`:EndFor`, `a←1`) ends no story. Cells with greater numbers than `written` are
    /// written by it.
    fn statement(&mut self, place: &Place, written: u64);
    /// A top-level statement is over, however it ended; `held` gives the arrays that names of the
    /// workspace hold now, in the order of the names.
    fn ends(&mut self, _place: &Place, _held: &dyn Fn() -> Vec<(Rc<str>, Array)>) {}
    /// The value of a top-level statement that is to be shown, how it prints (lines end in `\n`),
    /// and what made it so.
    fn show(&mut self, value: &Array, text: &str, style: &Style);
    /// A value that the program prints (`⎕←`), as `show` has it.
    fn print(&mut self, _value: &Array, text: &str, _style: &Style) {
        self.output(text);
    }
    /// Data of media types, for whoever can show them (`⎕SHOW`). Errors: DOMAIN.
    fn display(&mut self, page: &Page) -> Result<()>;
    /// Shows a chart, or writes it to a file that ends in .svg or .png; as text it has so many
    /// columns. Its SVG. Errors: DOMAIN, FILE NAME, FILE ACCESS.
    fn plot(&mut self, chart: &Chart, columns: usize, file: Option<&str>) -> Result<String>;
    /// Text that the program prints (`⎕←`), line end included.
    fn output(&mut self, text: &str);
    /// The words that the language itself says before it asks for a line: nothing that the program
    /// printed.
    fn prompt(&mut self, text: &str);
    /// Random bits to start a generator from, when the program set no seed.
    fn entropy(&mut self) -> u64;
}

//! The context that primitives work with: the world, the system variables, and the recorder's
//! state.

use super::host::Host;
use super::restless::Restless;
use super::scope::Scope;
use super::tape::Tape;
use aplomb_ground::error::{Result, domain};
use aplomb_ground::limits::Budget;
use aplomb_ground::span::{Place, Source, Span};
use aplomb_values::array::format::{Boxes, Long};
use aplomb_values::array::{self, Array, Data, Shape};
use aplomb_values::prim::scalar::complex::near_real;
use aplomb_values::prim::scalar::{near_integer, not_whole};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::Arc;

/// Above this many elements an operation is recorded instead of run.
pub const SMALL: usize = 1_000;

/// The same of operations that have loops of their own for what is at hand: functions of items,
/// folds, moves and places. Until then such a loop is done before a launch would have begun.
pub const AT_HAND: usize = 8_000;

/// The ways in which functions show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trains {
    /// As they would be written.
    #[default]
    Def,
    /// With all parentheses.
    Parens,
    /// As nested arrays of their parts.
    Box,
    /// As a tree.
    Tree,
}

/// The way in which a session shows results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The boxes around nested items.
    pub boxes: Boxes,
    /// The fate of rows that are too wide.
    pub long: Long,
    /// Whether what functions print by ⎕← shows so too.
    pub inside: bool,
    /// The way in which a function's value shows.
    pub trains: Trains,
    /// Whether what prints goes to a file or another program: rows are as long as they are until
    /// ⎕PW or `]rows` says otherwise.
    pub unread: bool,
}

impl View {
    /// The treatment of long rows.
    pub fn rows(&self) -> Long {
        if self.unread && self.long == Long::Fold { Long::Whole } else { self.long }
    }
}

/// The ⎕ variables that a program sets.
#[derive(Clone, Debug)]
pub struct Settings {
    /// ⎕IO: 0 or 1.
    pub io: f64,
    /// ⎕CT: the tolerance of comparisons.
    pub ct: f64,
    /// ⎕PP: digits that print.
    pub pp: usize,
    /// ⎕PW: columns of a line.
    pub pw: usize,
    /// ⎕RL; 0 = not set.
    pub seed: u64,
    /// The count of numbers that the generator gave since the seed.
    pub drawn: u64,
    /// ⎕DIV is 1: what is divided by 0 is 0.
    pub div: bool,
    /// ⎕FR is 325: floats that are made are of 32 bits.
    pub single: bool,
    /// ⎕LX: the text that runs when the workspace is loaded.
    pub latent: Rc<str>,
    /// ⎕TRAP: what functions of lines do on errors.
    pub traps: Rc<[Trap]>,
}

/// A row of ⎕TRAP.
#[derive(Clone, Debug)]
pub struct Trap {
    /// The numbers of events.
    pub events: Vec<i64>,
    /// Whether calls are cut back to the one that set it.
    pub cuts: bool,
    /// The text that is run.
    pub text: String,
    /// The calls of functions of lines that were under way when it was set.
    pub calls: usize,
}

/// The ⎕ variables that each namespace has for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Own {
    io: f64,
    ct: f64,
    pp: usize,
    div: bool,
    single: bool,
}

impl Settings {
    /// Those of the namespace that runs.
    pub fn own(&self) -> Own {
        let Settings { io, ct, pp, div, single, .. } = *self;
        Own { io, ct, pp, div, single }
    }

    /// Makes those of a namespace the ones that hold.
    pub fn set_own(&mut self, own: Own) {
        (self.io, self.ct, self.pp) = (own.io, own.ct, own.pp);
        (self.div, self.single) = (own.div, own.single);
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            io: 1.0,
            ct: 1e-14,
            pp: 10,
            pw: 80,
            seed: 0,
            drawn: 0,
            div: false,
            single: false,
            latent: "".into(),
            traps: Rc::new([]),
        }
    }
}

/// The screen of a session: what it shows, and what it was told.
#[derive(Clone)]
pub struct Screen {
    /// The way in which results show: `]box`, `]rows`.
    pub view: View,
    /// The text that ⍞← printed on the line where the cursor stands: the answer begins with it.
    pub prompt: String,
    /// The exit code, once the program has asked to end.
    pub exit: Option<i32>,
    /// ⎕ARG: the words behind the program's file.
    pub args: Rc<[String]>,
    /// ⎕SCRIPT: the program's file; empty at the prompt.
    pub script: Rc<str>,
    /// ⎕WSID: the name of the workspace.
    pub workspace: Rc<str>,
}

impl Default for Screen {
    fn default() -> Self {
        Screen {
            view: View::default(),
            prompt: String::new(),
            exit: None,
            args: Rc::new([]),
            script: "".into(),
            workspace: "".into(),
        }
    }
}

/// The wishes that a session has of the recorder, between statements.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// Everything is recorded, whatever its size.
    pub everything: bool,
    /// A value that is asked for again is stored, whatever it costs to compute.
    pub keep_all: bool,
    /// A function is applied ahead of its arguments' values: what can be recorded is.
    pub ahead: bool,
    /// The first effect of it.
    pub effect: Option<Effect>,
}

/// Something that a function does or asks beside its arguments and its value.
#[derive(Clone, Debug)]
pub struct Effect {
    /// A name for it: output, a file.
    pub what: &'static str,
    /// The place of the function that has it.
    pub place: Option<Place>,
}

/// A value that its copies share until one of them changes: each statement keeps one, and few
/// change it.
#[derive(Clone, Debug, Default)]
pub struct Shared<T>(Rc<T>);

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Shared<T> {
        Shared(Rc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Rc::make_mut(&mut self.0)
    }
}

/// Room for the values of one function of a few numbers, before they take the place of an
/// argument's. A copy of the evaluator's knowledge has its own.
#[derive(Default)]
pub struct Room(pub Vec<f64>);

impl Clone for Room {
    fn clone(&self) -> Room {
        Room::default()
    }
}

/// The draws of cells of a frame: those of a cell follow each other, and cells follow each other.
#[derive(Clone)]
pub struct Rolls {
    /// The frame's shape.
    pub frame: Shape,
    /// Numbers that a cell draws in all; None: nobody knows yet, and more than one `?` of it gives
    /// no numbers of any use.
    pub each: Option<usize>,
    /// Numbers that a cell has drawn so far.
    pub drawn: usize,
    /// The number of `?` that drew them.
    pub times: usize,
}

/// The evaluator's knowledge beside names.
#[derive(Clone, Default)]
pub struct Sys {
    /// The ⎕ variables.
    pub settings: Shared<Settings>,
    /// The view of results, and what the session was told.
    pub screen: Shared<Screen>,
    /// Room that functions of a few numbers use again.
    pub room: Room,
    /// The frames, guards and rounds that stand around.
    pub scope: Scope,
    /// The cells that were written, and those that may fail.
    pub tape: Tape,
    /// The places whose graphs are of another form each time.
    pub restless: Restless,
    /// The operator whose operand was refused for all cells at once, and the reason: it is told if
    /// they then go one by one.
    pub refused: Option<(Place, String)>,
    /// The frame each of whose cells may draw numbers of the generator, cell after cell.
    pub rolls: Option<Rolls>,
    /// The recorder's options.
    pub recorder: Recorder,
    /// The text that runs.
    pub source: Option<Arc<Source>>,
    /// The place in that text.
    pub span: Span,
    /// The calls of functions and the turns of loops, those that some work told of left out.
    pub calls: usize,
    /// The part of the world outside that was last used, by work that nobody told of yet.
    pub used: Option<&'static str>,
    /// The reason of the work that goes on at a place, where who does it knows another than those
    /// around it.
    pub reason: Option<(Place, &'static str)>,
    /// The patterns of ⎕R and ⎕S that were compiled last.
    pub patterns: super::system::Patterns,
    /// The files that are tied.
    pub ties: Vec<super::system::ties::Tie>,
    /// The error that ⎕DMX, ⎕EN and ⎕DM tell of.
    pub error: Option<Rc<aplomb_ground::error::Error>>,
}

impl Sys {
    /// The reset of what holds within a statement alone.
    pub fn reset(&mut self) {
        self.tape.reset();
        self.scope = Scope::default();
        self.refused = None;
    }

    /// Whether everything is recorded whatever its size: a story asks for it, and this is not one
    /// of many cells that run one after the other. (Each of these would be an evaluation of its
    /// own that no run without a story has.)
    pub fn records_all(&self) -> bool {
        self.recorder.everything && !self.scope.many_cells()
    }
}

/// The context of a function: the world, and what the evaluator knows beside names.
pub struct Cx<'h> {
    /// The world.
    pub host: &'h mut dyn Host,
    /// The evaluator's own.
    pub sys: &'h mut Sys,
}

impl Cx<'_> {
    /// The memory that arrays may take.
    pub fn budget(&self) -> &Budget {
        self.host.budget()
    }

    /// The place of the function that runs; None: nothing runs.
    pub fn place(&self) -> Option<Place> {
        self.sys.source.as_ref().map(|s| Place::new(s, self.sys.span))
    }

    /// A near-integer argument that fixes a shape, an axis or a place.
    pub fn integer(&self, x: f64, what: &str) -> Result<i64> {
        near_integer(x, self.sys.settings.ct).ok_or_else(|| not_whole(what, x))
    }

    /// All items as near-integers. Forces.
    pub fn integers(&mut self, a: &Array, what: &str) -> Result<Vec<i64>> {
        if a.dtype().is_integer()
            && let Some(whole) = self.stored_integers(a)?
        {
            return Ok(whole);
        }
        let numbers = self.numbers(a, what)?;
        if numbers.len() <= SMALL {
            return numbers.into_iter().map(|x| self.integer(x, what)).collect();
        }
        let mut ticks = self.budget().ticks();
        numbers.into_iter().map(|x| ticks.tick().and_then(|()| self.integer(x, what))).collect()
    }

    /// Items that are stored as whole numbers. None: they are not.
    fn stored_integers(&mut self, a: &Array) -> Result<Option<Vec<i64>>> {
        let a = self.ready(a, "numbers")?;
        let Data::Dense(held) = a.data() else { return Ok(None) };
        let budget = self.budget();
        match held.view() {
            array::View::Bool(v) => budget.each(v.iter().map(|x| i64::from(*x))),
            array::View::I8(v) => budget.each(v.iter().map(|x| i64::from(*x))),
            array::View::I16(v) => budget.each(v.iter().map(|x| i64::from(*x))),
            array::View::I32(v) => budget.each(v.iter().map(|x| i64::from(*x))),
            _ => return Ok(None),
        }
        .map(Some)
    }

    /// The whole number that an array is. Errors: RANK, LENGTH, DOMAIN; `what` names it.
    pub fn one_integer(&mut self, a: &Array, what: &str) -> Result<i64> {
        if a.len() != 1 {
            return Err(aplomb_ground::error::length(format!("{what} must be one number")));
        }
        Ok(self.integers(a, what)?[0])
    }

    /// The real number that an array is. Errors: LENGTH, DOMAIN; `what` names it.
    pub fn one_number(&mut self, a: &Array, what: &str) -> Result<f64> {
        match self.numbers(a, what)?[..] {
            [x] => Ok(x),
            _ => Err(aplomb_ground::error::length(format!("{what} must be one number"))),
        }
    }

    /// All items as real numbers: an imaginary part within ⎕CT of 0 is none. Forces.
    pub fn numbers(&mut self, a: &Array, what: &str) -> Result<Vec<f64>> {
        let a = self.ready(a, "argument")?;
        // As large as the array again, for whoever works on them.
        let long =
            (a.len() > SMALL).then(|| self.budget().charge_elements(a.len(), size_of::<f64>()));
        let _held = long.transpose()?;
        if let Some(numbers) = a.to_numbers(self.budget())? {
            return Ok(numbers);
        }
        let Some(numbers) = a.to_complexes(self.budget())? else {
            return Err(domain(format!("{what} must be numbers")));
        };
        let real =
            numbers.into_iter().map(|z| near_real(z, self.sys.settings.ct)).collect::<Option<_>>();
        real.ok_or_else(|| domain(format!("{what} must be real, not complex")))
    }

    /// The real numbers of an array, computed: one that waits is known to be real only then. None:
    /// it turns out to be complex.
    pub fn reals(&mut self, a: &Array, why: &'static str) -> Result<Option<(Array, Vec<f64>)>> {
        let a = self.ready(a, why)?;
        let numbers = a.to_numbers(self.budget())?;
        Ok(numbers.map(|numbers| (a, numbers)))
    }

    /// A vector of numbers. Errors: WS FULL.
    pub fn vector(&self, items: Vec<f64>) -> Result<Array> {
        Array::numbers([items.len()].as_slice(), items, self.budget())
    }

    /// A vector of a text's characters. Errors: WS FULL.
    pub fn text(&self, text: &str) -> Result<Array> {
        Array::text(text, self.budget())
    }

    /// Items in the simplest array that holds them. Errors: WS FULL.
    pub fn collect(
        &self,
        shape: &[usize],
        items: Vec<Array>,
        proto: Option<Array>,
    ) -> Result<Array> {
        self.side_by_side(Array::collect(shape, items, proto, self.budget())?)
    }
}

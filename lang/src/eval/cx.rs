//! What primitives work with: the world, the system variables, and the recorder's state.

use super::host::Host;
use super::keep::Written;
use super::lower::Under;
use super::operators::frames::Run;
use crate::array::Array;
use crate::array::format::{Boxes, Long};
use crate::dag::Cell;
use crate::error::{Result, domain};
use crate::limits::Budget;
use crate::prim::scalar::complex::near_real;
use crate::prim::scalar::{near_integer, not_whole};
use crate::span::{Place, Source, Span};
use std::collections::HashSet;
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// Above this many elements an element-wise operation is recorded instead of run.
pub const SMALL: usize = 1_000;

/// How a session shows results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    pub boxes: Boxes,
    pub long: Long,
    /// What functions print by ⎕← shows so too.
    pub inside: bool,
    /// A function's value shows as boxes.
    pub trains: bool,
    /// What prints goes to a file or another program: rows are as long as they are until ⎕PW or `]rows` says otherwise.
    pub unread: bool,
}

impl View {
    /// What becomes of long rows.
    pub fn rows(&self) -> Long {
        if self.unread && self.long == Long::Fold { Long::Whole } else { self.long }
    }
}

#[derive(Clone)]
pub struct Sys {
    pub io: f64,
    pub ct: f64,
    pub pp: usize,
    pub pw: usize,
    /// ⎕RL; 0 = not set.
    pub seed: u64,
    /// How many numbers the generator gave since the seed.
    pub drawn: u64,
    /// Everything is recorded whatever its size.
    pub record_all: bool,
    /// Many cells run one after the other under a story that records everything, so that theirs is not.
    pub one_by_one: bool,
    /// What is asked for again is stored whatever it costs to compute.
    pub keep_all: bool,
    /// The next cell's number.
    pub seq: u64,
    /// Cells that can fail on some value and that nobody has computed yet, in the order in which they were written. They
    /// outlive their statement: what fails is told before anything that happens later is seen.
    pub hard: Vec<Rc<Cell>>,
    /// Scalars that were recorded, some of which are pending still: many are computed at once.
    pub scalars: Vec<Weak<Cell>>,
    /// Where values of this statement are written that evaluations ask for again.
    pub again: HashSet<Written>,
    /// Where the evaluator is.
    pub source: Option<Arc<Source>>,
    pub span: Span,
    /// Error guards that are active.
    pub guards: u32,
    /// How many frames stand around: nothing may happen once a cell.
    pub framing: u32,
    /// A round of a loop is being recorded: its states have no values.
    pub rounds: u32,
    /// Conditions on cells under which the evaluator records.
    pub under: Vec<Under>,
    /// No framed runs: cells go one by one.
    pub cell_by_cell: bool,
    /// Framed runs whose values are pending.
    pub runs: Vec<Run>,
    /// Those of them that a failed evaluation held.
    pub suspects: Vec<Run>,
    /// ⎕DIV is 1: what is divided by 0 is 0.
    pub div: bool,
    /// The error that ⎕DMX, ⎕EN and ⎕DM tell of.
    pub error: Option<Rc<crate::error::Error>>,
    /// What ⍞← printed on the line where the cursor stands: the answer begins with it.
    pub prompt: String,
    /// How results show: `]box`, `]rows`.
    pub view: View,
    pub exit: Option<i32>,
    /// ⎕ARG: the words behind the program's file.
    pub args: Rc<[String]>,
}

impl Default for Sys {
    fn default() -> Self {
        Sys {
            io: 1.0,
            ct: 1e-14,
            pp: 10,
            pw: 80,
            seed: 0,
            drawn: 0,
            record_all: false,
            one_by_one: false,
            keep_all: false,
            seq: 0,
            hard: Vec::new(),
            scalars: Vec::new(),
            again: HashSet::new(),
            source: None,
            span: Span::default(),
            guards: 0,
            framing: 0,
            under: Vec::new(),
            rounds: 0,
            cell_by_cell: false,
            runs: Vec::new(),
            suspects: Vec::new(),
            div: false,
            error: None,
            prompt: String::new(),
            view: View::default(),
            exit: None,
            args: Rc::default(),
        }
    }
}

impl Sys {
    /// What holds within a statement alone.
    pub fn reset(&mut self) {
        self.again.clear();
        (self.guards, self.framing, self.rounds, self.cell_by_cell) = (0, 0, 0, false);
        self.under.clear();
        self.suspects.clear();
        self.runs.retain(Run::alive);
    }
}

pub struct Cx<'h> {
    pub host: &'h mut dyn Host,
    pub sys: &'h mut Sys,
}

impl Cx<'_> {
    pub fn budget(&self) -> &Budget {
        self.host.budget()
    }

    pub fn place(&self) -> Option<Place> {
        self.sys.source.as_ref().map(|s| Place::new(s, self.sys.span))
    }

    /// A near-integer argument that fixes a shape, an axis or a place.
    pub fn integer(&self, x: f64, what: &str) -> Result<i64> {
        near_integer(x, self.sys.ct).ok_or_else(|| not_whole(what, x))
    }

    /// All items as near-integers. Forces.
    pub fn integers(&mut self, a: &Array, what: &str) -> Result<Vec<i64>> {
        let numbers = self.numbers(a, what)?;
        if numbers.len() <= SMALL {
            return numbers.into_iter().map(|x| self.integer(x, what)).collect();
        }
        let mut ticks = self.budget().ticks();
        numbers.into_iter().map(|x| ticks.tick().and_then(|()| self.integer(x, what))).collect()
    }

    pub fn one_integer(&mut self, a: &Array, what: &str) -> Result<i64> {
        if a.len() != 1 {
            return Err(crate::error::length(format!("{what} must be one number")));
        }
        Ok(self.integers(a, what)?[0])
    }

    /// All items as real numbers: an imaginary part within ⎕CT of 0 is none. Forces.
    pub fn numbers(&mut self, a: &Array, what: &str) -> Result<Vec<f64>> {
        let a = self.ready(a, "argument")?;
        // As large as the array again, for whoever works on them.
        let long = (a.len() > SMALL).then(|| self.budget().charge_elements(a.len(), size_of::<f64>()));
        let _held = long.transpose()?;
        if let Some(numbers) = a.to_numbers() {
            return Ok(numbers);
        }
        let Some(numbers) = a.to_complexes() else { return Err(domain(format!("{what} must be numbers"))) };
        let real = numbers.into_iter().map(|z| near_real(z, self.sys.ct)).collect::<Option<_>>();
        real.ok_or_else(|| domain(format!("{what} must be real, not complex")))
    }

    pub fn vector(&self, items: Vec<f64>) -> Result<Array> {
        Array::numbers([items.len()].as_slice(), items, self.budget())
    }

    pub fn text(&self, text: &str) -> Result<Array> {
        Array::text(text, self.budget())
    }

    pub fn collect(&self, shape: &[usize], items: Vec<Array>, proto: Option<Array>) -> Result<Array> {
        Array::collect(shape, items, proto, self.budget())
    }
}

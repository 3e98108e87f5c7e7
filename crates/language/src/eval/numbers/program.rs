//! Programs on numbers: the instructions, what they are about, and the names they were made for.

use super::{Name, Scope};
use crate::eval::value::Func;
use crate::syntax::ast::Sym;
use aplomb_values::array::Array;
use aplomb_values::prim::op::Op;
use std::rc::Rc;

/// The place of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg {
    /// A register of the call.
    Register(u16),
    /// A constant, or the number of an outer name.
    Fixed(u16),
}

/// The instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Do {
    /// `into ← op y`
    One { op: Op, into: u16, y: Arg },
    /// `into ← x op y`
    Two { op: Op, into: u16, x: Arg, y: Arg },
    /// `into ← y`
    Copy { into: u16, y: Arg },
    /// Goes on at `then` unless y is 1.
    Unless { y: Arg, then: u32 },
    /// `into ← x f y`, or `f y`.
    Call { of: u16, into: u16, x: Option<Arg>, y: Arg },
    /// The same as the last thing that is done.
    Again { of: u16, x: Option<Arg>, y: Arg },
    /// The value of the call.
    Give(Arg),
    /// `into ← of[at]`
    Item { into: u16, of: u16, at: Arg },
    /// An outer name becomes y.
    Set { slot: u16, y: Arg },
    /// `of[at] ← y`, or `of[at] op← y`
    SetItem { of: u16, at: Arg, op: Option<Op>, y: Arg },
    /// `into ← ≢of`
    Tally { into: u16, of: u16 },
    /// `of ,← y`
    Append { of: u16, y: Arg },
    /// `into ←` the place of `[row;column]` in the ravel.
    Place { into: u16, of: u16, row: Arg, column: Arg },
    /// `into ←` the item at a place of the ravel, which is a register.
    Known { into: u16, of: u16, at: u16 },
    /// The item at a place of the ravel `← y`, or `op← y`.
    SetKnown { of: u16, at: u16, op: Option<Op>, y: Arg },
    /// Goes on there.
    Jump(u32),
    /// A loop over the items of a vector begins.
    Over { next: u16 },
    /// A loop over `⍳y` begins.
    Count { y: Arg, next: u16, end: u16 },
    /// The next item of a vector, or goes on at `done`.
    Next { of: u16, next: u16, slot: u16, done: u32 },
    /// The next of `⍳y`, or goes on at `done`.
    CountOn { next: u16, end: u16, slot: u16, done: u32 },
    /// The end of a loop: the evaluator goes on at that step of its own.
    Leave(usize),
}

/// The code of one function with the arguments that it has.
#[derive(Default)]
pub struct Function {
    pub steps: Vec<Do>,
    pub registers: usize,
}

/// A dfn and what it calls.
#[derive(Default)]
pub struct Program {
    pub code: Vec<Function>,
    /// Constants, with a place for the number of each name.
    pub constants: Vec<f64>,
    /// Vectors that stand in it, with a place for that of each name.
    pub lists: Vec<List>,
    pub names: Vec<Name>,
    /// The names of functions, where they were looked up, and what they were.
    pub functions: Vec<(Scope, Sym, Rc<Func>)>,
}

impl Program {
    /// A place for a number. None: there are too many.
    pub fn number(&mut self, x: f64) -> Option<u16> {
        self.constants.push(x);
        u16::try_from(self.constants.len() - 1).ok()
    }

    /// A place for a vector or a matrix. None: there are too many.
    pub fn list(&mut self, list: List) -> Option<u16> {
        self.lists.push(list);
        u16::try_from(self.lists.len() - 1).ok()
    }

    /// The number of calls that stand in it.
    pub fn calls(&self) -> usize {
        let calls = |f: &Function| {
            f.steps.iter().filter(|s| matches!(s, Do::Call { .. } | Do::Again { .. })).count()
        };
        self.code.iter().map(calls).sum()
    }
}

/// A vector of numbers, or the ravel of a matrix.
#[derive(Clone)]
pub enum List {
    /// It is another's.
    Shared(Array),
    /// It changes here.
    Own(Vec<f64>, Option<[usize; 2]>),
}

impl List {
    /// None yet.
    pub const EMPTY: List = List::Own(Vec::new(), None);

    /// Its items.
    pub fn len(&self) -> usize {
        match self {
            List::Shared(a) => a.len(),
            List::Own(items, _) => items.len(),
        }
    }

    #[inline]
    pub fn item(&self, k: usize) -> Option<f64> {
        match self {
            List::Own(items, _) => items.get(k).copied(),
            List::Shared(a) => a.number_at(k),
        }
    }

    /// Of a matrix.
    pub fn columns(&self) -> Option<usize> {
        match self {
            List::Shared(a) => a.shape().get(1).copied(),
            List::Own(_, shape) => shape.map(|[_, columns]| columns),
        }
    }

    /// Rows of a matrix, items of a vector.
    pub fn tally(&self) -> usize {
        match self {
            List::Shared(a) => a.first_extent(),
            List::Own(items, None) => items.len(),
            List::Own(_, Some([rows, _])) => *rows,
        }
    }
}

//! Programs on numbers: the instructions, what they are about, and the names they were made for.

use super::{Name, Scope};
use crate::eval::value::Func;
use crate::syntax::ast::Sym;
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
    /// `into ← x f y`; what f does not have is any number.
    Call { of: u16, into: u16, x: Arg, y: Arg },
    /// The same as the last thing that is done.
    Again { of: u16, x: Arg, y: Arg },
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
    pub lists: Vec<Vec<f64>>,
    pub names: Vec<Name>,
    /// The names of functions, where they were looked up, and what they were.
    pub functions: Vec<(Scope, Sym, Rc<Func>)>,
}

impl Program {
    /// The number of calls that stand in it.
    pub fn calls(&self) -> usize {
        let calls = |f: &Function| {
            f.steps.iter().filter(|s| matches!(s, Do::Call { .. } | Do::Again { .. })).count()
        };
        self.code.iter().map(calls).sum()
    }
}

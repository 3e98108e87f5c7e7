//! Programs on numbers: the instructions, what they are about, and the names they were made for.

use super::form::Form;
use super::machine::two;
use super::vectors::OnAll;
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
    /// `into ← at⊃` so many registers from one on.
    Pick { into: u16, from: u16, n: u16, at: Arg },
    /// Goes on at `then` unless y is 1.
    Unless { y: Arg, then: u32 },
    /// `into ← x f y`, or `f y`.
    Call { of: u16, into: u16, x: Option<Arg>, y: Arg },
    /// The same as the last thing that is done.
    Again { of: u16, x: Option<Arg>, y: Arg },
    /// The value of the call.
    Give(Arg),
    /// A number for the next call, or of the value that is given next.
    Pass(Arg),
    /// A list for it.
    PassList(u16, Last),
    /// A call with what was passed. A value of one register goes into that one.
    CallOn { of: u16, into: u16 },
    /// The same as the last thing that is done.
    AgainOn { of: u16 },
    /// The value of the call is what was passed.
    GivePassed,
    /// The value of the call before: so many numbers and lists.
    Taken { into: u16, numbers: u16, list: u16, lists: u16 },
    /// A step on a list of the call's own.
    List(OnList, Last),
    /// `into ←` the place of y in a program's list from 0 on, or its length.
    Find { into: u16, of: u16, y: Arg },
    /// A program's list without so many items at its end, or at its front.
    Cut { of: u16, n: u16, end: bool },
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
    /// A step on all items of lists.
    All(OnAll),
    /// The end of a loop: the evaluator goes on at that step of its own.
    Leave(usize),
}

/// Whether a list is not read again where it is: what is made of it may be made in its place.
pub type Last = bool;

/// A step on lists of a call's own, which are values: another holder sees no change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OnList {
    /// `into ← of[at]`
    Item { into: u16, of: u16, at: Arg },
    /// `into ←` the first item or the last one; of none it is `fill`.
    End { into: u16, of: u16, last: bool, fill: f64 },
    /// `into ← ≢of`
    Tally { into: u16, of: u16 },
    /// `into ← of,y`, or `y,of`
    Join { into: u16, of: u16, y: Arg, front: bool },
    /// `into ← of,with`
    Both { into: u16, of: u16, with: u16 },
    /// `into ← n↓of`
    Drop { into: u16, of: u16, n: Arg },
    /// `into ← n⌽of`
    Turn { into: u16, of: u16, n: Arg },
    /// `into ← ⌽of`
    Reverse { into: u16, of: u16 },
    /// `into ← of` with an item `← y`, or `op← y`
    Set { into: u16, of: u16, at: Arg, op: Option<Op>, y: Arg },
    /// `into ←` a program's list, or none.
    Fixed { into: u16, of: Option<u16> },
}

impl OnList {
    /// The list that may be changed in its place, and another one that is read.
    fn reads(self) -> (Option<u16>, Option<u16>) {
        match self {
            OnList::Item { of, .. } | OnList::End { of, .. } | OnList::Tally { of, .. } => {
                (None, Some(of))
            }
            OnList::Both { of, with, .. } => (Some(of), Some(with)),
            OnList::Join { of, .. }
            | OnList::Drop { of, .. }
            | OnList::Turn { of, .. }
            | OnList::Reverse { of, .. }
            | OnList::Set { of, .. } => (Some(of), None),
            OnList::Fixed { .. } => (None, None),
        }
    }
}

impl Do {
    fn reads_list(&self, list: u16) -> bool {
        match self {
            Do::PassList(of, _) => *of == list,
            Do::List(on, _) => {
                let (a, b) = on.reads();
                a == Some(list) || b == Some(list)
            }
            _ => false,
        }
    }

    fn ends(&self) -> bool {
        matches!(
            self,
            Do::Give(_) | Do::GivePassed | Do::Again { .. } | Do::AgainOn { .. } | Do::Leave(_)
        )
    }
}

/// The code of one function with the arguments that it has.
#[derive(Default)]
pub struct Function {
    pub steps: Vec<Do>,
    pub registers: usize,
    /// Lists of its own.
    pub lists: usize,
}

impl Function {
    /// Marks the reads of lists after which nothing reads them. Jumps go forward alone.
    pub fn mark_last(&mut self) {
        for k in 0..self.steps.len() {
            let list = match &self.steps[k] {
                Do::PassList(of, _) => Some(*of),
                Do::List(on, _) => on.reads().0.filter(|of| on.reads().1 != Some(*of)),
                _ => None,
            };
            let is_last = list.is_some_and(|list| self.is_last(k, list));
            if let Do::PassList(_, last) | Do::List(_, last) = &mut self.steps[k] {
                *last = is_last;
            }
        }
    }

    /// Whether no step behind one reads a list.
    fn is_last(&self, k: usize, list: u16) -> bool {
        let mut beyond = k;
        for (at, step) in self.steps.iter().enumerate().skip(k + 1) {
            if step.reads_list(list) {
                return false;
            }
            if let Do::Unless { then, .. } = step {
                beyond = beyond.max(*then as usize);
            }
            if step.ends() && beyond <= at {
                break;
            }
        }
        true
    }
}

/// A dfn and what it calls.
#[derive(Default)]
pub struct Program {
    pub code: Vec<Function>,
    /// The form of the first function's value.
    pub gives: Option<Form>,
    /// An error guard stands in it.
    pub is_guarded: bool,
    /// ⎕IO when it was made.
    pub io: f64,
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
            let is_call = |s: &&Do| {
                matches!(
                    s,
                    Do::Call { .. } | Do::Again { .. } | Do::CallOn { .. } | Do::AgainOn { .. }
                )
            };
            f.steps.iter().filter(is_call).count()
        };
        self.code.iter().map(calls).sum()
    }

    /// Whether a function waits for a call of itself and picks one of some values by a place: how
    /// deep it goes each item says by itself, and steps for all items would make all the values.
    pub fn goes_its_own_way(&self) -> bool {
        self.code.iter().enumerate().any(|(k, f)| {
            let waits = |step: &Do| match step {
                Do::Call { of, .. } | Do::CallOn { of, .. } => *of as usize == k,
                _ => false,
            };
            let picks = |step: &Do| matches!(step, Do::Pick { .. });
            f.steps.iter().any(waits) && f.steps.iter().any(picks)
        })
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

    /// The place of a number, or the length where it is not there. None: there are too many to be
    /// looked through.
    pub fn place_of(&self, y: f64, ct: f64) -> Option<usize> {
        const MOST: usize = 256;
        let n = self.len();
        let is = |k: &usize| self.item(*k).and_then(|x| two(Op::Eq, ct, x, y)) == Some(1.0);
        (n <= MOST).then(|| (0..n).find(is).map_or(n, |k| k))
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

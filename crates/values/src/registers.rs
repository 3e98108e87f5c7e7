//! Instructions over registers of numbers: what a recursion or a loop on numbers is read as, and
//! what a device makes of it that has machine code for them.
//!
//! A function's numbers stand in registers of the call and in fixed places (constants, and the
//! numbers of outer names); its lists are those of outer names. Whoever runs the instructions may
//! leave any of them to the evaluator's machine, before it has done anything for it.

use crate::array::View;
use crate::prim::op::Op;
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
#[expect(missing_docs, reason = "the line above each is about all of its fields")]
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
    /// `into ←` the columns of a matrix.
    Columns { into: u16, of: u16 },
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
#[expect(missing_docs, reason = "the line above each is about all of its fields")]
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
    /// `into ← x op y`, or `op y`, of all items.
    Map { op: Op, into: u16, x: Option<Many>, y: Many },
    /// The register `into ← op/of`
    Fold { op: Op, into: u16, of: u16 },
    /// `into ← op\\of`
    Scan { op: Op, into: u16, of: u16 },
    /// `into ← 2op/of`; `turned`: each item is the right argument.
    Pairs { op: Op, into: u16, of: u16, turned: bool },
    /// `into ← by/of`
    Select { into: u16, of: u16, by: Many },
    /// `into ← n↑of`
    Take { into: u16, of: u16, n: Arg, fill: f64 },
    /// `into ← take↑from↓of` of a program's list.
    Part { into: u16, of: u16, from: Arg, take: Option<Arg>, fill: f64 },
    /// `into ← n⍴of`
    Cycle { into: u16, of: Many, n: Arg },
    /// `into ← ⍳n`
    Iota { into: u16, n: Arg },
    /// `into ← ⍸of`
    Where { into: u16, of: u16 },
    /// `into ← of[at]`; `program`: the list is the program's.
    At { into: u16, of: u16, at: u16, program: bool },
    /// `into ← ⍋of`, or `⍒of`
    Grade { into: u16, of: u16, down: bool },
    /// The register `into ←` the place of y from 0 on, or the length.
    Place { into: u16, of: u16, y: Arg },
    /// `into ← of⍳y`, or with `is` `y∊of`
    Places { into: u16, of: u16, y: u16, is: bool },
    /// `into ← of~y`
    Without { into: u16, of: u16, y: u16 },
    /// `into ← ∪of`
    Unique { into: u16, of: u16 },
    /// The register `into ← of≡with`
    Same { into: u16, of: u16, with: u16 },
    /// The register `into ← ?n`
    Roll { into: u16, n: Arg },
    /// A program's list becomes that of the call.
    Name { slot: u16, of: u16 },
    /// The items behind those of a program's list.
    Append { slot: u16, of: u16 },
    /// The items as a row behind those of a matrix of the program.
    AddRow { slot: u16, of: u16 },
    /// An item before those of a program's list.
    Prepend { slot: u16, y: Arg },
    /// The register `into ←` the number of the text that the list is.
    Intern { into: u16, of: u16 },
    /// `into ←` the characters of the text of a number.
    Spell { into: u16, y: Arg },
    /// `into ← ⍕y` of a number.
    Digits { into: u16, y: Arg },
    /// The register `into ← to⎕C y`
    Case { into: u16, y: Arg, to: i8 },
}

impl OnList {
    /// The list that may be changed in its place, and others that are read.
    fn reads(self) -> (Option<u16>, [Option<u16>; 2]) {
        let list = |many: Many| match many {
            Many::One(_) => None,
            Many::All(of) => Some(of),
        };
        match self {
            OnList::Item { of, .. }
            | OnList::End { of, .. }
            | OnList::Tally { of, .. }
            | OnList::Fold { of, .. }
            | OnList::Scan { of, .. }
            | OnList::Pairs { of, .. }
            | OnList::Where { of, .. }
            | OnList::Take { of, .. }
            | OnList::Grade { of, .. }
            | OnList::Place { of, .. }
            | OnList::Unique { of, .. }
            | OnList::Name { of, .. }
            | OnList::Intern { of, .. }
            | OnList::Append { of, .. }
            | OnList::AddRow { of, .. } => (None, [Some(of), None]),
            OnList::Both { of, with, .. } => (Some(of), [Some(with), None]),
            OnList::Join { of, .. }
            | OnList::Drop { of, .. }
            | OnList::Turn { of, .. }
            | OnList::Reverse { of, .. }
            | OnList::Set { of, .. } => (Some(of), [None, None]),
            OnList::Fixed { .. }
            | OnList::Iota { .. }
            | OnList::Roll { .. }
            | OnList::Part { .. }
            | OnList::Prepend { .. }
            | OnList::Spell { .. }
            | OnList::Digits { .. }
            | OnList::Case { .. } => (None, [None, None]),
            OnList::Map { x, y, .. } => (None, [x.and_then(list), list(y)]),
            OnList::Select { of, by, .. } => (None, [Some(of), list(by)]),
            OnList::Cycle { of, .. } => (None, [list(of), None]),
            OnList::At { of, at, program, .. } => (None, [Some(at), (!program).then_some(of)]),
            OnList::Places { of, y, .. } | OnList::Without { of, y, .. } => {
                (None, [Some(of), Some(y)])
            }
            OnList::Same { of, with, .. } => (None, [Some(of), Some(with)]),
        }
    }
}

impl Arg {
    /// The same where a function's registers begin so many later.
    pub fn shifted(self, by: u16) -> Arg {
        match self {
            Arg::Register(k) => Arg::Register(k + by),
            fixed => fixed,
        }
    }
}

impl Do {
    /// The same where its function's registers begin so many later. Jumps, calls and lists of the
    /// call's own stay as they are.
    pub fn shifted(self, by: u16) -> Do {
        let (to, arg) = (|into: u16| into + by, |y: Arg| y.shifted(by));
        match self {
            Do::One { op, into, y } => Do::One { op, into: to(into), y: arg(y) },
            Do::Two { op, into, x, y } => Do::Two { op, into: to(into), x: arg(x), y: arg(y) },
            Do::Copy { into, y } => Do::Copy { into: to(into), y: arg(y) },
            Do::Pick { into, from, n, at } => {
                Do::Pick { into: to(into), from: to(from), n, at: arg(at) }
            }
            Do::Unless { y, then } => Do::Unless { y: arg(y), then },
            Do::Call { of, into, x, y } => {
                Do::Call { of, into: to(into), x: x.map(arg), y: arg(y) }
            }
            Do::Again { of, x, y } => Do::Again { of, x: x.map(arg), y: arg(y) },
            Do::Give(y) => Do::Give(arg(y)),
            Do::Pass(y) => Do::Pass(arg(y)),
            Do::CallOn { of, into } => Do::CallOn { of, into: to(into) },
            Do::Taken { into, numbers, list, lists } => {
                Do::Taken { into: to(into), numbers, list, lists }
            }
            Do::Find { into, of, y } => Do::Find { into: to(into), of, y: arg(y) },
            Do::Item { into, of, at } => Do::Item { into: to(into), of, at: arg(at) },
            Do::Set { slot, y } => Do::Set { slot, y: arg(y) },
            Do::SetItem { of, at, op, y } => Do::SetItem { of, at: arg(at), op, y: arg(y) },
            Do::Tally { into, of } => Do::Tally { into: to(into), of },
            Do::Columns { into, of } => Do::Columns { into: to(into), of },
            Do::Append { of, y } => Do::Append { of, y: arg(y) },
            Do::Place { into, of, row, column } => {
                Do::Place { into: to(into), of, row: arg(row), column: arg(column) }
            }
            Do::Known { into, of, at } => Do::Known { into: to(into), of, at: to(at) },
            Do::SetKnown { of, at, op, y } => Do::SetKnown { of, at: to(at), op, y: arg(y) },
            Do::Count { y, next, end } => Do::Count { y: arg(y), next, end },
            Do::PassList(..)
            | Do::AgainOn { .. }
            | Do::GivePassed
            | Do::List(..)
            | Do::Cut { .. }
            | Do::Jump(_)
            | Do::Over { .. }
            | Do::Next { .. }
            | Do::CountOn { .. }
            | Do::All(_)
            | Do::Leave(_) => self,
        }
    }

    /// True of an instruction on numbers that changes nothing outside of its call: it may be done
    /// again.
    pub fn only_reads(&self) -> bool {
        matches!(
            self,
            Do::One { .. }
                | Do::Two { .. }
                | Do::Copy { .. }
                | Do::Pick { .. }
                | Do::Unless { .. }
                | Do::Call { .. }
                | Do::Again { .. }
                | Do::Give(_)
                | Do::Find { .. }
                | Do::Item { .. }
                | Do::Tally { .. }
                | Do::Columns { .. }
                | Do::Place { .. }
                | Do::Known { .. }
        )
    }

    /// Whether it reads or changes a list of the program.
    pub fn mentions(&self, list: u16) -> bool {
        let many = |many: &Many| *many == Many::All(list);
        match self {
            Do::Find { of, .. }
            | Do::Cut { of, .. }
            | Do::Item { of, .. }
            | Do::SetItem { of, .. }
            | Do::Tally { of, .. }
            | Do::Columns { of, .. }
            | Do::Append { of, .. }
            | Do::Place { of, .. }
            | Do::Known { of, .. }
            | Do::SetKnown { of, .. }
            | Do::Next { of, .. }
            | Do::List(OnList::Part { of, .. } | OnList::At { of, program: true, .. }, _) => {
                *of == list
            }
            Do::List(OnList::Fixed { of, .. }, _) => *of == Some(list),
            Do::List(
                OnList::Name { slot, .. }
                | OnList::Append { slot, .. }
                | OnList::AddRow { slot, .. }
                | OnList::Prepend { slot, .. },
                _,
            ) => *slot == list,
            Do::All(on) => match on {
                OnAll::Map { into, x, y, .. } => {
                    *into == list || x.as_ref().is_some_and(many) || many(y)
                }
                OnAll::Fold { of, .. } => *of == list,
                OnAll::Dot { x, y, .. } => *x == list || *y == list,
                OnAll::Copy { into, of }
                | OnAll::Take { into, of }
                | OnAll::Line { into, of, .. } => *into == list || *of == list,
                OnAll::SetLine { of, y, .. } => *of == list || many(y),
            },
            _ => false,
        }
    }

    fn reads_list(&self, list: u16) -> bool {
        match self {
            Do::PassList(of, _) => *of == list,
            Do::List(on, _) => {
                let (a, others) = on.reads();
                a == Some(list) || others.contains(&Some(list))
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
#[derive(Clone, Default)]
pub struct Function {
    /// Its instructions.
    pub steps: Vec<Do>,
    /// Registers that it has.
    pub registers: usize,
    /// Lists of its own.
    pub lists: usize,
    /// Registers, from the first on, that are read when it has been left.
    pub kept: usize,
}

impl Function {
    /// Marks the reads of lists after which nothing reads them. Jumps go forward alone.
    pub fn mark_last(&mut self) {
        for k in 0..self.steps.len() {
            let list = match &self.steps[k] {
                Do::PassList(of, _) => Some(*of),
                Do::List(on, _) => on.reads().0.filter(|of| !on.reads().1.contains(&Some(*of))),
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

/// An argument: one number for all, or a number for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Many {
    /// One number.
    One(Arg),
    /// A list's items.
    All(u16),
}

/// A step on all items of lists of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the line above each is about all of its fields")]
pub enum OnAll {
    /// `into ← x op y`, or `op y`
    Map { op: Op, into: u16, x: Option<Many>, y: Many },
    /// The register `into ← op/of`
    Fold { op: Op, into: u16, of: u16 },
    /// The register `into ← x+.×y`
    Dot { into: u16, x: u16, y: u16 },
    /// `into ← of`
    Copy { into: u16, of: u16 },
    /// The same where nothing reads `of` before it is made again: the two exchange their memory.
    Take { into: u16, of: u16 },
    /// `into ←` a row of a matrix, or a column.
    Line { into: u16, of: u16, at: Arg, column: bool },
    /// A row of a matrix, or a column, `← y`, or `op← y`.
    SetLine { of: u16, at: Arg, column: bool, op: Option<Op>, y: Many },
}

/// Longer lists are not searched item by item.
pub const SEARCHED: usize = 256;

/// The items of a list as compiled instructions take them.
pub enum List<'a> {
    /// They change, and may become more: of a vector, or of a matrix with so many columns.
    Own(&'a mut Vec<f64>, Option<usize>),
    /// They are another's: of a vector, or of a matrix with so many columns.
    Shared(View<'a>, Option<usize>),
    /// They lie otherwise: instructions on them are left to the machine.
    Other,
}

/// The numbers that instructions work on.
pub struct State<'a, 'b> {
    /// The registers of the call.
    pub registers: &'a mut [f64],
    /// Constants, and the numbers of outer names.
    pub fixed: &'a mut [f64],
    /// The lists of outer names.
    pub lists: &'a mut [List<'b>],
    /// Jumps back, and calls, that may still be made; each takes one off.
    pub jumps: u64,
    /// Jumps to the first instruction that were taken.
    pub turns: u64,
    /// Times that more of them were given, each on the way to a call that took none.
    pub looks: u64,
    /// Calls that may stand in each other.
    pub depth: usize,
    /// A call was left because the registers ended: with more it may go on.
    pub is_short: bool,
    /// The one who gives more jumps where none is left and calls are under way; None: they are to
    /// stop.
    pub more: &'a mut dyn FnMut() -> Option<u64>,
}

/// A function's instructions as a device has compiled them.
pub trait Compiled {
    /// Whether it was made for lists that lie so, and for such settings.
    fn fits(&self, request: &Request<'_, '_>) -> bool;

    /// Runs from an instruction on, to one that is left to the machine: that one. The lists lie as
    /// those that it was made for, or it does nothing. A call that fails, or is to stop, is left
    /// from its beginning.
    fn run(&self, from: usize, state: &mut State<'_, '_>) -> usize;
}

/// A function to be compiled, with all that its code depends on.
pub struct Request<'a, 'b> {
    /// The function, and those that it calls, by their numbers.
    pub functions: &'a [Function],
    /// The number of its constants and names.
    pub fixed: usize,
    /// The lists as they lie now.
    pub lists: &'a [List<'b>],
    /// ⎕CT.
    pub ct: f64,
    /// ⎕IO.
    pub io: f64,
}

/// A function that is compiled, or has no code.
pub type Code = Option<Rc<dyn Compiled>>;

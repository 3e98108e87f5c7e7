//! The code of a phrase: instructions on a stack of values, and expressions for functions.

use super::{Head, Path};
use crate::eval::phrases::{self, Phrase};
use crate::eval::system::Row;
use crate::eval::value::{self, Func};
use crate::syntax::ast::{DfnId, PhraseId, Sym};
use crate::syntax::token::Word;
use crate::table::Prim;
use aplomb_ground::span::Span;
use aplomb_values::array::Array;
use std::ops::Range;
use std::rc::Rc;

/// The code of a phrase, for a stack.
#[derive(Clone)]
pub struct Code {
    /// The steps, in the order in which they run.
    pub ins: Vec<Ins>,
    /// The kind of what it leaves.
    pub gives: Gives,
    /// The leftmost thing done is an assignment: the value is shy.
    pub assigns: bool,
}

impl Code {
    /// Whether it is `⍺←`: what a call without a left argument has for it.
    pub fn is_default(&self) -> bool {
        matches!(
            self.ins.last().map(|ins| &ins.what),
            Some(Do::AssignAlpha | Do::AssignAlphaFunc(_) | Do::AssignAlphaOper(_))
        )
    }
}

/// The outcome that code has when it ends.
#[derive(Clone)]
pub enum Gives {
    /// No value.
    Nothing,
    /// The top value of the stack.
    Array,
    /// A function.
    Func(FExpr),
    /// An operator.
    Oper(OpExpr),
}

/// One step. `at` is the function's span, `x` and `y` are its arguments'.
#[derive(Clone)]
pub struct Ins {
    /// The step.
    pub what: Do,
    /// The function's place in the text.
    pub at: Span,
    /// The left argument's place.
    pub x: Span,
    /// The right argument's place.
    pub y: Span,
}

/// The steps of code.
#[derive(Clone)]
pub enum Do {
    /// A literal's value is pushed.
    Const(Array),
    /// A name's value is pushed.
    Name(Sym),
    /// ⍺ is pushed.
    Alpha,
    /// ⍵ is pushed.
    Omega,
    /// An operand that is an array.
    Word(Word),
    /// A ⎕ variable's value is pushed.
    System(&'static Row),
    /// `⎕` (evaluated) or `⍞` as a value.
    Input {
        /// Whether the line is run, as `⎕` does.
        evaluated: bool,
    },
    /// The top n values, leftmost on top, become a vector.
    Strand(usize),
    /// As Strand for array notation: the last value on top. `mix` for `[…]`.
    Notation {
        /// The number of values.
        n: usize,
        /// Whether they become one array.
        mix: bool,
    },
    /// A reference to `#`, `##` or `⎕THIS` is pushed.
    Place(Head),
    /// The value of a name of the namespaces on top.
    Member(Sym),
    /// The namespaces around those on top.
    Around,
    /// The value of a ⎕ name in the namespaces on top.
    MemberSystem(&'static Row),
    /// The value of a phrase that runs in the namespaces on top.
    Inside(PhraseId),
    /// The top values, in order, become the names of a new namespace.
    Space(Rc<[Sym]>),
    /// An assignment in the namespaces on top.
    Within(Box<Ins>),
    /// A function of the top value.
    Monad(FExpr),
    /// A function of the two top values, the left one topmost.
    Dyad(FExpr),
    /// A dyadic primitive and the function after it that mean one thing together.
    Phrase(Box<Joint>),
    /// The base on top, below it the indices that are present, first one topmost.
    Index(Vec<bool>),
    /// `x←`: the value stays.
    Assign(Sym),
    /// `⍺←`, where no left argument was given.
    AssignAlpha,
    /// `f←` a function.
    AssignFunc(Sym, FExpr),
    /// `⍺←` a function.
    AssignAlphaFunc(FExpr),
    /// `⍺←` an operator.
    AssignAlphaOper(OpExpr),
    /// `o←` an operator.
    AssignOper(Sym, OpExpr),
    /// `(a b)←`: the items go to the names; `(a b)f←`: each name becomes `name f item`.
    AssignPattern(Pattern, Option<FExpr>),
    /// `⎕IO←` and its kin.
    AssignSystem(&'static Row),
    /// `x f←`
    Modify(Sym, FExpr),
    /// `x←x,…` and `x←x⍪…`
    Append(Sym, &'static Prim),
    /// `x[i]←`, `x[i]f←`: value below, indices on top.
    AssignIndex {
        /// The name.
        sym: Sym,
        /// Marks of the indices that are not left out.
        present: Vec<bool>,
        /// The function of `f←`.
        f: Option<FExpr>,
    },
    /// Ravel positions of a name, or of what paths of it lead to, for selective assignment.
    Positions {
        /// The name.
        sym: Sym,
        /// Paths, one from what the one before leads to, to the item that is selected from; none:
        /// all of the name is.
        within: Rc<[Code]>,
    },
    /// Value below, selected positions on top, or paths.
    AssignSelected {
        /// The name.
        sym: Sym,
        /// The function of `f←`.
        f: Option<FExpr>,
        /// The kind of what was selected.
        reach: Reach,
    },
    /// `⎕←` or `⍞←` a value, which stays.
    Print {
        /// Whether a line ends behind it.
        line: bool,
    },
    /// `⎕←f`: the source of a function or an operator.
    PrintFunc {
        /// The function.
        f: FExpr,
        /// Whether a line ends behind it.
        line: bool,
    },
    /// `⎕←` an operator.
    PrintOper {
        /// The operator.
        op: OpExpr,
        /// Whether a line ends behind it.
        line: bool,
    },
}

/// Two functions that may be one.
#[derive(Clone)]
pub struct Joint {
    /// The phrase that they are.
    pub row: &'static Phrase,
    /// The second, as the row has it.
    pub second: phrases::Then,
    /// The first, a dyadic primitive.
    pub prim: &'static Prim,
    /// The first as a step.
    pub first: Ins,
    /// The second as a step.
    pub then: Ins,
}

/// Puts a monadic function behind code, as one phrase with what it ends in where the two are one.
pub(super) fn then(ins: &mut Vec<Ins>, next: Ins) {
    let joint = match (ins.last(), &next.what) {
        (Some(Ins { what: Do::Dyad(FExpr::Prim(prim)), .. }), Do::Monad(FExpr::Known(f))) => {
            Phrase::of(prim, f).map(|(row, second)| (row, second, *prim))
        }
        _ => None,
    };
    match joint.zip(ins.pop_if(|_| joint.is_some())) {
        Some(((row, second, prim), first)) => {
            let (at, x, y) = (next.at, first.x, first.y);
            ins.push(Ins {
                what: Do::Phrase(Box::new(Joint { row, second, prim, first, then: next })),
                at,
                x,
                y,
            });
        }
        None => ins.push(next),
    }
}

/// The primitive p of `x p⍨ y`, where x may as well be pushed before y is computed: it is a value,
/// or a name that `is_held`, and y changes none. So `x p⍨ y` is the code of `y p x`.
pub(super) fn commuted(
    f: &FExpr,
    (x, y): (&[Ins], &[Ins]),
    is_held: impl FnOnce(Sym) -> bool,
) -> Option<FExpr> {
    let FExpr::Known(f) = f else { return None };
    let Func::Op1(value::Oper::Prim(swaps), value::Operand::F(g)) = &**f else { return None };
    let (Func::Prim(p), '⍨') = (&**g, swaps.glyph) else { return None };
    let runs_no_text = |f: &FExpr| match f {
        FExpr::Prim(p) => p.glyph != '⍎',
        FExpr::Known(f) => !f.text().contains('⍎'),
        _ => false,
    };
    let is_pure = |ins: &Ins| match &ins.what {
        Do::Monad(f) | Do::Dyad(f) => runs_no_text(f),
        Do::Phrase(_) => true,
        what => !what.may_assign(),
    };
    let ([Ins { what, .. }], true) = (x, y.iter().all(is_pure)) else { return None };
    let may_come_first = match what {
        Do::Const(_) | Do::Alpha | Do::Omega => true,
        Do::Name(sym) => is_held(*sym),
        _ => false,
    };
    may_come_first.then_some(FExpr::Prim(p))
}

/// The reach of a selection: items, the one item that ⊃ picks, what stands at the end of a path
/// (`p⊃x`: only the path is run), or the simple scalars that `¨` and `∊` go down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Items of the array.
    Items,
    /// The one item that ⊃ picks.
    Whole,
    /// The end of so many paths, one from what the one before leads to.
    Path(usize),
    /// Simple scalars, at any depth.
    Scalars,
}

/// `(a b)←`
#[derive(Clone)]
pub enum Pattern {
    /// A name.
    Name(Sym),
    /// A ⎕ variable.
    System(&'static Row),
    /// A name of a namespace.
    Member(Path),
    /// Patterns for the items.
    All(Vec<Pattern>),
}

/// A function that is known when its names are.
#[derive(Clone)]
pub enum FExpr {
    /// A function that is known already.
    Known(Rc<Func>),
    /// A primitive.
    Prim(&'static Prim),
    /// A name whose value is a function.
    Name(Sym),
    /// An operand, or ∇.
    Word(Word),
    /// A dfn, which takes the scope where it stands.
    Dfn(DfnId),
    /// A ⎕ name.
    System(&'static Row),
    /// An operator with its operand.
    Op1(OpExpr, Box<Operand>),
    /// An operator with its two operands.
    Op2(OpExpr, Box<Operand>, Box<Operand>),
    /// `∘.f`.
    Outer(Box<FExpr>),
    /// `f[k]`; the axis is computed.
    Axis(Box<FExpr>, Rc<Code>),
    /// `f g h`.
    Fork(Box<Operand>, Box<FExpr>, Box<FExpr>),
    /// `f g`.
    Atop(Box<FExpr>, Box<FExpr>),
    /// Code that gives it, and names it on the way.
    Code(Rc<Code>),
    /// A name of a namespace.
    Member(Path),
    /// A function of the namespaces that the code gives.
    Inside(Rc<Code>, Inner),
}

/// The function that stands behind the dot of a namespace.
#[derive(Clone)]
pub enum Inner {
    /// A name of it.
    Name(Sym),
    /// A ⎕ function, which runs in it.
    System(&'static Row),
    /// A dfn, at home in it.
    Dfn(DfnId),
}

impl Ins {
    /// The number of values above the one that an assignment gives, which it takes.
    pub fn takes(&self) -> usize {
        match &self.what {
            Do::AssignIndex { present, .. } => present.iter().filter(|p| **p).count(),
            Do::AssignSelected { reach: Reach::Path(n), .. } => *n,
            Do::AssignSelected { .. } => 1,
            _ => 0,
        }
    }
}

impl Do {
    /// Whether it may give a name another value: by itself, or by what it calls.
    pub fn may_assign(&self) -> bool {
        match self {
            Do::Monad(f) | Do::Dyad(f) => !matches!(f, FExpr::Prim(_)),
            Do::Const(_) | Do::Name(_) | Do::Alpha | Do::Omega | Do::Strand(_) => false,
            Do::Index(_) | Do::System(_) => false,
            _ => true,
        }
    }

    /// The number of values that it takes from the stack and puts there.
    fn moves(&self) -> (usize, usize) {
        match self {
            Do::Strand(n) | Do::Notation { n, .. } => (*n, 1),
            Do::Space(names) => (names.len(), 1),
            Do::Member(_) | Do::Around | Do::MemberSystem(_) | Do::Inside(_) => (1, 1),
            Do::Monad(_) => (1, 1),
            Do::Dyad(_) | Do::Phrase(_) => (2, 1),
            Do::Index(present) => (1 + present.iter().filter(|p| **p).count(), 1),
            Do::Const(_)
            | Do::Name(_)
            | Do::Alpha
            | Do::Omega
            | Do::Word(_)
            | Do::System(_)
            | Do::Place(_)
            | Do::Input { .. } => (0, 1),
            // Assignments leave their value; what else they take makes the code no plain path.
            _ => (usize::MAX, 0),
        }
    }
}

impl Code {
    /// The paths of `q⊃p⊃x` alone: the code of p, then of q, if x is only picked from, and their
    /// number.
    pub fn path(&self) -> Option<(Code, usize)> {
        let (from, picks) = self.picks()?;
        let (first, last) = (picks.first()?, picks.last()?);
        let alone = from == 0 && first.start == 1 && last.end + 1 == self.ins.len();
        let paths = picks.iter().flat_map(|pick| self.ins[pick.clone()].iter().cloned()).collect();
        alone.then(|| (Code { ins: paths, ..self.clone() }, picks.len()))
    }

    /// The selection left of ← from what the picks lead to that it begins with, `(p⊃x)[i]←`.
    pub fn within(mut self) -> Code {
        let Some((from, picks)) = self.picks() else { return self };
        let Some(last) = picks.last().map(|pick| pick.end) else { return self };
        let path = |pick: Range<usize>| {
            let ins = self.ins[pick].to_vec();
            Code { ins, gives: Gives::Array, assigns: false }
        };
        let paths: Rc<[Code]> = picks.into_iter().map(path).collect();
        self.ins.drain(from + 1..=last);
        if let Do::Positions { within, .. } = &mut self.ins[from].what {
            *within = paths;
        }
        self
    }

    /// The place where a selection begins, and where the code of the path of each pick stands that
    /// comes next. Behind each stands its ⊃.
    fn picks(&self) -> Option<(usize, Vec<Range<usize>>)> {
        let from = self.ins.iter().position(|ins| matches!(ins.what, Do::Positions { .. }))?;
        let (mut picks, mut begins) = (Vec::new(), from + 1);
        while let Some(end) = self.pick(begins) {
            picks.push(begins..end);
            begins = end + 1;
        }
        Some((from, picks))
    }

    /// The place of the ⊃ that picks by what the code from a place on gives.
    fn pick(&self, begins: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (k, ins) in self.ins.iter().enumerate().skip(begins) {
            if depth == 1 && matches!(&ins.what, Do::Dyad(FExpr::Prim(p)) if p.glyph == '⊃') {
                return Some(k);
            }
            let (pops, pushes) = ins.what.moves();
            depth = depth.checked_sub(pops)? + pushes;
        }
        None
    }

    /// The reach of it as the selection left of ←.
    pub fn reach(&self) -> Reach {
        let function = |ins: &Ins| match &ins.what {
            Do::Monad(f) | Do::Dyad(f) => Some(f.clone()),
            _ => None,
        };
        let all: Vec<FExpr> = self.ins.iter().filter_map(function).collect();
        match all.last() {
            _ if all.iter().any(|f| f.mentions('¨') || f.mentions('∊')) => Reach::Scalars,
            _ if matches!(self.ins.last(), Some(Ins { what: Do::Index(_), .. })) => Reach::Items,
            Some(FExpr::Prim(p)) if p.glyph == '⊃' => Reach::Whole,
            _ => Reach::Items,
        }
    }
}

/// An operator that is known when its names are.
#[derive(Clone)]
pub enum OpExpr {
    /// A primitive.
    Prim(&'static Prim),
    /// A name whose value is an operator.
    Name(Sym),
    /// `∇∇`: the operator that runs.
    DelDel,
    /// ⍺, which got an operator for its default.
    Alpha,
    /// A dop, which takes the scope where it stands.
    Dfn(DfnId),
    /// A ⎕ name.
    System(&'static Row),
    /// One with two operands that has its right one already.
    Curried(Box<OpExpr>, Box<Operand>),
    /// Code that gives it, and names it on the way.
    Code(Rc<Code>),
    /// A name of a namespace.
    Member(Path),
}

/// An operand of an operator.
#[derive(Clone)]
pub enum Operand {
    /// A function.
    F(FExpr),
    /// An array, which is computed.
    A(Rc<Code>),
}

impl Code {
    /// The value of code that is one literal.
    pub(super) fn literal(&self) -> Option<&Array> {
        match self.ins.as_slice() {
            [Ins { what: Do::Const(a), .. }] => Some(a),
            _ => None,
        }
    }
}

impl FExpr {
    /// Whether a glyph stands in it.
    pub fn mentions(&self, glyph: char) -> bool {
        let operator = |op: &OpExpr| matches!(op, OpExpr::Prim(p) if p.glyph == glyph);
        let operand = |o: &Operand| matches!(o, Operand::F(f) if f.mentions(glyph));
        match self {
            FExpr::Prim(p) => p.glyph == glyph,
            FExpr::Known(f) => f.text().contains(glyph),
            FExpr::Op1(op, f) => operator(op) || operand(f),
            FExpr::Op2(op, f, g) => operator(op) || operand(f) || operand(g),
            FExpr::Outer(f) | FExpr::Axis(f, _) => f.mentions(glyph),
            FExpr::Fork(f, g, h) => operand(f) || g.mentions(glyph) || h.mentions(glyph),
            FExpr::Atop(g, h) => g.mentions(glyph) || h.mentions(glyph),
            FExpr::Name(_)
            | FExpr::Word(_)
            | FExpr::Dfn(_)
            | FExpr::System(_)
            | FExpr::Code(_)
            | FExpr::Inside(..)
            | FExpr::Member(_) => false,
        }
    }

    fn fixed(&self) -> Option<Rc<Func>> {
        match self {
            FExpr::Known(f) => Some(f.clone()),
            FExpr::Prim(p) => Some(Rc::new(Func::Prim(p))),
            FExpr::System(row) => Some(Rc::new(Func::System(row))),
            _ => None,
        }
    }

    /// A function whose parts are all known is made once.
    pub fn folded(self) -> FExpr {
        let made = match &self {
            FExpr::Op1(op, f) => match (op.fixed(), f.fixed()) {
                (Some(op), Some(f)) => Some(Func::derived(op, f)),
                _ => None,
            },
            FExpr::Op2(op, f, g) => match (op.fixed(), f.fixed(), g.fixed()) {
                (Some(op), Some(f), Some(g)) => Some(Func::Op2(op, f, g)),
                _ => None,
            },
            FExpr::Outer(f) => f.fixed().map(|f| Func::Outer(value::Operand::F(f))),
            FExpr::Axis(f, code) => match (f.fixed(), code.literal()) {
                (Some(f), Some(axis)) => Some(Func::Axis(value::Operand::F(f), axis.clone())),
                _ => None,
            },
            FExpr::Fork(f, g, h) => match (f.fixed(), g.fixed(), h.fixed()) {
                (Some(f), Some(g), Some(h)) => {
                    Some(Func::Fork(f, value::Operand::F(g), value::Operand::F(h)))
                }
                _ => None,
            },
            FExpr::Atop(g, h) => match (g.fixed(), h.fixed()) {
                (Some(g), Some(h)) => Some(Func::Atop(value::Operand::F(g), value::Operand::F(h))),
                _ => None,
            },
            _ => None,
        };
        made.map_or(self, |f| FExpr::Known(Rc::new(f)))
    }
}

impl OpExpr {
    fn fixed(&self) -> Option<value::Oper> {
        match self {
            OpExpr::Prim(p) => Some(value::Oper::Prim(p)),
            OpExpr::System(row) => Some(value::Oper::System(row)),
            OpExpr::Curried(op, g) => {
                let (op, g) = (op.fixed()?, g.fixed()?);
                Some(value::Oper::Curried(Box::new(op), Box::new(g)))
            }
            _ => None,
        }
    }
}

impl Operand {
    fn fixed(&self) -> Option<value::Operand> {
        match self {
            Operand::F(f) => f.fixed().map(value::Operand::F),
            Operand::A(code) => code.literal().map(|a| value::Operand::A(a.clone())),
        }
    }
}

//! What a phrase becomes: instructions on a stack of values, and expressions for functions.

use crate::eval::phrases::Phrase;
use crate::eval::system::Row;
use crate::eval::value::{self, Func};
use crate::syntax::ast::{DfnId, Sym};
use crate::syntax::token::Word;
use crate::table::Prim;
use aplomb_ground::span::Span;
use aplomb_values::array::Array;
use aplomb_values::prim::op::Op;
use std::rc::Rc;

#[derive(Clone)]
pub struct Code {
    pub ins: Vec<Ins>,
    pub gives: Gives,
    /// The leftmost thing done is an assignment: the value is shy.
    pub assigns: bool,
}

#[derive(Clone)]
pub enum Gives {
    Nothing,
    Array,
    Func(FExpr),
    Oper(OpExpr),
}

/// One step. `at` is the function's span, `x` and `y` are its arguments'.
#[derive(Clone)]
pub struct Ins {
    pub what: Do,
    pub at: Span,
    pub x: Span,
    pub y: Span,
}

#[derive(Clone)]
pub enum Do {
    Const(Array),
    Name(Sym),
    Alpha,
    Omega,
    /// An operand that is an array.
    Word(Word),
    System(&'static Row),
    /// `⎕` (evaluated) or `⍞` as a value.
    Input {
        evaluated: bool,
    },
    /// The top n values, leftmost on top, become a vector.
    Strand(usize),
    /// As Strand for array notation: the last value on top. `mix` for `[…]`.
    Notation {
        n: usize,
        mix: bool,
    },
    Monad(FExpr),
    Dyad(FExpr),
    /// A dyadic primitive and the function after it that mean one thing together.
    Phrase(Box<Joint>),
    /// The base on top, below it the indices that are present, first one topmost.
    Index(Vec<bool>),
    Assign(Sym),
    AssignAlpha,
    AssignFunc(Sym, FExpr),
    AssignAlphaFunc(FExpr),
    AssignOper(Sym, OpExpr),
    AssignPattern(Pattern),
    AssignSystem(&'static Row),
    /// `x f←`
    Modify(Sym, FExpr),
    /// `x←x,…`
    Append(Sym),
    /// `x[i]←`, `x[i]f←`: value below, indices on top.
    AssignIndex {
        sym: Sym,
        present: Vec<bool>,
        f: Option<FExpr>,
    },
    /// Ravel positions of a name, for selective assignment.
    Positions(Sym),
    /// Value below, selected positions on top.
    AssignSelected {
        sym: Sym,
        f: Option<FExpr>,
        reach: Reach,
    },
    Print {
        line: bool,
    },
    /// `⎕←f`: the source of a function or an operator.
    PrintFunc {
        f: FExpr,
        line: bool,
    },
    PrintOper {
        op: OpExpr,
        line: bool,
    },
}

#[derive(Clone)]
pub struct Joint {
    pub row: &'static Phrase,
    pub op: Op,
    pub prim: &'static Prim,
    pub first: Ins,
    pub then: Ins,
}

/// Puts a monadic function behind code, as one phrase with what it ends in where the two are one.
pub(super) fn then(ins: &mut Vec<Ins>, next: Ins) {
    let joint = match (ins.last(), &next.what) {
        (Some(Ins { what: Do::Dyad(FExpr::Prim(prim)), .. }), Do::Monad(FExpr::Known(f))) => {
            Phrase::of(prim, f).map(|(row, op)| (row, op, *prim))
        }
        _ => None,
    };
    match joint.zip(ins.pop_if(|_| joint.is_some())) {
        Some(((row, op, prim), first)) => {
            let (at, x, y) = (next.at, first.x, first.y);
            ins.push(Ins {
                what: Do::Phrase(Box::new(Joint { row, op, prim, first, then: next })),
                at,
                x,
                y,
            });
        }
        None => ins.push(next),
    }
}

/// What a selection names: items, the one item that ⊃ picks, what stands at the end of a path
/// (`p⊃x`: only the path is run), or the simple scalars that `¨` and `∊` go down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Items,
    Whole,
    Path,
    Scalars,
}

/// `(a b)←`
#[derive(Clone)]
pub enum Pattern {
    Name(Sym),
    System(&'static Row),
    All(Vec<Pattern>),
}

#[derive(Clone)]
pub enum FExpr {
    Known(Rc<Func>),
    Prim(&'static Prim),
    Name(Sym),
    Word(Word),
    Dfn(DfnId),
    System(&'static Row),
    Op1(OpExpr, Box<Operand>),
    Op2(OpExpr, Box<Operand>, Box<Operand>),
    Outer(Box<FExpr>),
    Axis(Box<FExpr>, Rc<Code>),
    Fork(Box<Operand>, Box<FExpr>, Box<FExpr>),
    Atop(Box<FExpr>, Box<FExpr>),
}

impl Do {
    /// How many values it takes from the stack and puts there.
    fn moves(&self) -> (usize, usize) {
        match self {
            Do::Strand(n) | Do::Notation { n, .. } => (*n, 1),
            Do::Monad(_) => (1, 1),
            Do::Dyad(_) | Do::Phrase(_) => (2, 1),
            Do::Index(present) => (1 + present.iter().filter(|p| **p).count(), 1),
            Do::Const(_)
            | Do::Name(_)
            | Do::Alpha
            | Do::Omega
            | Do::Word(_)
            | Do::System(_)
            | Do::Input { .. } => (0, 1),
            // Assignments leave their value; what else they take makes the code no plain path.
            _ => (usize::MAX, 0),
        }
    }
}

impl Code {
    /// The path of `p⊃x` alone: the code of p, if x is only picked from.
    pub fn path(&self) -> Option<Code> {
        let [
            Ins { what: Do::Positions(_), .. },
            path @ ..,
            Ins { what: Do::Dyad(FExpr::Prim(p)), .. },
        ] = &self.ins[..]
        else {
            return None;
        };
        let mut depth = 0usize;
        for ins in path {
            let (pops, pushes) = ins.what.moves();
            depth = depth.checked_sub(pops)? + pushes;
        }
        (p.glyph == '⊃' && depth == 1).then(|| Code {
            ins: path.to_vec(),
            gives: Gives::Array,
            assigns: false,
        })
    }

    /// What it names as the selection left of ←.
    pub fn reach(&self) -> Reach {
        let function = |ins: &Ins| match &ins.what {
            Do::Monad(f) | Do::Dyad(f) => Some(f.clone()),
            _ => None,
        };
        let all: Vec<FExpr> = self.ins.iter().filter_map(function).collect();
        match all.last() {
            _ if all.iter().any(|f| f.mentions('¨') || f.mentions('∊')) => Reach::Scalars,
            Some(FExpr::Prim(p)) if p.glyph == '⊃' => Reach::Whole,
            _ => Reach::Items,
        }
    }
}

#[derive(Clone)]
pub enum OpExpr {
    Prim(&'static Prim),
    Name(Sym),
    DelDel,
    Dfn(DfnId),
    System(&'static Row),
}

#[derive(Clone)]
pub enum Operand {
    F(FExpr),
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
            FExpr::Name(_) | FExpr::Word(_) | FExpr::Dfn(_) | FExpr::System(_) => false,
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
                (Some(op), Some(f)) => Some(Func::Op1(op, f)),
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

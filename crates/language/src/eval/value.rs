//! The values that a name can hold: an array, a function, an operator.

use super::env::Frame;
use super::space::Space;
use super::system::Row;
use crate::syntax::Ast;
use crate::syntax::ast::{DfnId, TradId};
use crate::syntax::resolve::Class;
use crate::syntax::spent::{self, Spent};
use crate::syntax::tradfn::Tradfn;
use crate::table::{Prim, Role};
use aplomb_ground::span::{Place, Span};
use aplomb_values::array::{Array, Shape};
use std::rc::Rc;

/// The values that a name may have.
#[derive(Clone)]
pub enum Value {
    /// An array.
    Array(Array),
    /// A function.
    Func(Rc<Func>),
    /// An operator.
    Oper(Oper),
}

impl Value {
    /// The array, if it is one.
    pub fn into_array(self) -> Option<Array> {
        match self {
            Value::Array(a) => Some(a),
            _ => None,
        }
    }

    /// Whether a name that holds it may be given the other: arrays stay arrays, functions and
    /// operators what runs.
    pub fn may_become(&self, other: &Value) -> bool {
        matches!(self, Value::Array(_)) == matches!(other, Value::Array(_))
    }

    /// Array, function or operator, as a name of it stands in a phrase: a function without
    /// arguments stands for its value.
    pub fn class(&self) -> Class {
        match self {
            Value::Array(_) => Class::Array,
            Value::Func(f) if f.is_niladic() => Class::Array,
            Value::Func(f) if f.hybrid().is_some() => Class::Hybrid,
            Value::Func(_) => Class::Func,
            Value::Oper(op) if op.is_dyadic() => Class::Dyadic,
            Value::Oper(_) => Class::Monadic,
        }
    }
}

/// A dfn with the scope it was written in.
pub struct Closure {
    /// The tree of the text that it was written in.
    pub ast: Rc<Ast>,
    /// The dfn in that tree.
    pub dfn: DfnId,
    /// The call in which it was written; None: at the top.
    pub env: Option<Rc<Frame>>,
    /// The space that it was made in.
    pub home: Rc<Space>,
    /// The function of lines that it is where many cells run at once; elsewhere that is called.
    pub lines: Option<Rc<Trad>>,
}

impl Closure {
    /// The reads of each statement.
    pub fn spent(&self) -> &[Spent] {
        let dfn = self.ast.dfn(self.dfn);
        dfn.last.get_or_init(|| spent::of(&self.ast, dfn))
    }
}

/// A function or operator of lines.
pub struct Trad {
    /// The tree of the text that it was written in.
    pub ast: Rc<Ast>,
    /// The function in that tree.
    pub id: TradId,
    /// The space that it was made in.
    pub home: Rc<Space>,
}

impl Trad {
    /// Its header and steps.
    pub fn tradfn(&self) -> &Tradfn {
        self.ast.tradfn(self.id)
    }

    /// Its lines with their numbers, between two ∇.
    pub fn text(&self) -> String {
        listing(&self.tradfn().lines(&self.ast))
    }
}

/// The lines of a function as a listing.
pub fn listing(lines: &[String]) -> String {
    let mut out = String::new();
    for (k, line) in lines.iter().enumerate() {
        out += &match k {
            0 => format!("     ∇ {line}\n"),
            k => format!("{:7}{line}\n", format!("[{k}]")),
        };
    }
    out + "     ∇"
}

/// The operators.
#[derive(Clone)]
pub enum Oper {
    /// A primitive.
    Prim(&'static Prim),
    /// A ⎕ name.
    System(&'static Row),
    /// A dop.
    Dfn(Rc<Closure>),
    /// An operator of lines.
    Trad(Rc<Trad>),
    /// One with two operands that has its right one already.
    Curried(Box<Oper>, Box<Operand>),
}

impl Oper {
    /// Whether it takes two operands.
    pub fn is_dyadic(&self) -> bool {
        match self {
            Oper::Prim(p) => p.role == crate::table::Role::Dyadic,
            Oper::System(row) => row.class() == Class::Dyadic,
            Oper::Dfn(c) => c.ast.dfn(c.dfn).operands > 1,
            Oper::Trad(t) => t.tradfn().operands.len() > 1,
            Oper::Curried(..) => false,
        }
    }
}

impl Oper {
    /// The arrays bound in an operator: they print with it.
    pub fn arrays<'a>(&'a self, out: &mut Vec<&'a Array>) {
        if let Oper::Curried(op, g) = self {
            op.arrays(out);
            match &**g {
                Operand::A(a) => out.push(a),
                Operand::F(f) => f.arrays(out),
            }
        }
    }
}

impl Closure {
    /// The source, from brace to brace.
    pub fn text(&self) -> String {
        self.ast.source.slice(self.ast.dfn(self.dfn).span)
    }
}

/// The operands of an operator, the tines of a train.
#[derive(Clone)]
pub enum Operand {
    /// A function.
    F(Rc<Func>),
    /// An array.
    A(Array),
}

/// The functions.
pub enum Func {
    /// A primitive.
    Prim(&'static Prim),
    /// A ⎕ name.
    System(&'static Row),
    /// A dfn.
    Dfn(Rc<Closure>),
    /// A function of lines.
    Trad(Rc<Trad>),
    /// An operator with its operand, `f¨`.
    Op1(Oper, Operand),
    /// An operator with its two operands, `f⍤k`.
    Op2(Oper, Operand, Operand),
    /// `∘.f`.
    Outer(Operand),
    /// A function with the axis it works along, `f[k]`.
    Axis(Operand, Array),
    /// `f g h`: the left and right tine's results go to the middle one.
    Fork(Operand, Operand, Operand),
    /// `f g`: the first of the second's result.
    Atop(Operand, Operand),
    /// `n.⎕NL`: a ⎕ function that runs in a namespace.
    Within(Rc<Space>, &'static Row),
    /// `(x y).f`: functions in an array's shape; each gets its items of the arguments.
    Shared(Shape, Rc<[Rc<Func>]>),
}

impl Func {
    /// The dfn that a call of it runs: its own, or that of the operator it is derived by.
    pub fn closure(&self) -> Option<&Rc<Closure>> {
        match self {
            Func::Dfn(c) | Func::Op1(Oper::Dfn(c), _) | Func::Op2(Oper::Dfn(c), ..) => Some(c),
            _ => None,
        }
    }

    /// True where ∘ binds an argument to it, so that two more fail whatever they are.
    pub fn is_bound(&self) -> bool {
        matches!(self, Func::Op2(Oper::Prim(p), f, g) if p.glyph == '∘'
            && (matches!(f, Operand::A(_)) || matches!(g, Operand::A(_))))
    }

    /// The place where its text begins, or that of the first text which it is made of.
    pub fn place(&self) -> Option<Place> {
        let part = |f: &Operand| match f {
            Operand::F(f) => f.place(),
            Operand::A(_) => None,
        };
        let (ast, span) = match self {
            Func::Dfn(c) => (&c.ast, c.ast.dfn(c.dfn).span),
            Func::Trad(t) => (&t.ast, t.tradfn().span),
            Func::Prim(_) | Func::System(_) | Func::Within(..) => return None,
            Func::Shared(_, all) => return all.iter().find_map(|f| f.place()),
            Func::Op1(_, f) | Func::Outer(f) | Func::Axis(f, _) => return part(f),
            Func::Op2(_, f, g) | Func::Atop(f, g) => return part(f).or_else(|| part(g)),
            Func::Fork(f, g, h) => return [f, g, h].into_iter().find_map(part),
        };
        Some(ast.place(Span::new(span.start, span.start + 1)))
    }

    /// `/ ⌿ \ ⍀`, which are functions and operators.
    pub fn hybrid(&self) -> Option<&'static Prim> {
        match self {
            Func::Prim(p) if p.role == Role::Hybrid => Some(p),
            _ => None,
        }
    }

    /// An operator with its operand.
    pub fn derived(op: Oper, f: Operand) -> Func {
        match op {
            Oper::Curried(op, g) => Func::Op2(*op, f, *g),
            op => Func::Op1(op, f),
        }
    }

    /// Whether it takes no argument.
    pub fn is_niladic(&self) -> bool {
        matches!(self, Func::Trad(t) if t.tradfn().is_niladic())
    }

    /// The operator it is derived by, and its operands.
    pub fn operands(&self) -> (Option<&Oper>, Vec<&Operand>) {
        match self {
            Func::Prim(_)
            | Func::System(_)
            | Func::Dfn(_)
            | Func::Trad(_)
            | Func::Within(..)
            | Func::Shared(..) => (None, Vec::new()),
            Func::Op1(o, f) => (Some(o), vec![f]),
            Func::Op2(o, f, g) => (Some(o), vec![f, g]),
            Func::Outer(f) | Func::Axis(f, _) => (None, vec![f]),
            Func::Fork(f, g, h) => (None, vec![f, g, h]),
            Func::Atop(f, g) => (None, vec![f, g]),
        }
    }

    /// The arrays bound in a function: they print with it.
    pub fn arrays<'a>(&'a self, out: &mut Vec<&'a Array>) {
        let mut operand = |o: &'a Operand| match o {
            Operand::A(a) => out.push(a),
            Operand::F(f) => f.arrays(out),
        };
        match self {
            Func::Prim(_) | Func::System(_) | Func::Dfn(_) | Func::Trad(_) | Func::Within(..) => {}
            Func::Shared(_, all) => all.iter().for_each(|f| f.arrays(out)),
            Func::Op1(_, f) | Func::Outer(f) => operand(f),
            Func::Op2(_, f, g) | Func::Atop(f, g) => [f, g].into_iter().for_each(operand),
            Func::Fork(f, g, h) => [f, g, h].into_iter().for_each(operand),
            Func::Axis(f, k) => {
                operand(f);
                out.push(k);
            }
        }
    }
}

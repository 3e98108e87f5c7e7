//! The values that a name can hold: an array, a function, an operator.

use super::cx::Cx;
use super::env::Frame;
use super::system::Row;
use crate::syntax::Ast;
use crate::syntax::ast::{DfnId, TradId};
use crate::syntax::resolve::Class;
use crate::syntax::tradfn::Tradfn;
use crate::table::Prim;
use aplomb_ground::error::Result;
use aplomb_values::array::Array;
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

    /// Array, function or operator, as a name of it stands in a phrase: a function without
    /// arguments stands for its value.
    pub fn class(&self) -> Class {
        match self {
            Value::Array(_) => Class::Array,
            Value::Func(f) if f.is_niladic() => Class::Array,
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
}

/// A function or operator of lines.
pub struct Trad {
    /// The tree of the text that it was written in.
    pub ast: Rc<Ast>,
    /// The function in that tree.
    pub id: TradId,
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
}

impl Oper {
    /// Whether it takes two operands.
    pub fn is_dyadic(&self) -> bool {
        match self {
            Oper::Prim(p) => p.role == crate::table::Role::Dyadic,
            Oper::System(row) => row.class() == Class::Dyadic,
            Oper::Dfn(c) => c.ast.dfn(c.dfn).operands > 1,
            Oper::Trad(t) => t.tradfn().operands.len() > 1,
        }
    }

    /// The operator as it is written.
    pub fn text(&self) -> String {
        match self {
            Oper::Prim(p) => p.glyph.to_string(),
            Oper::System(row) => format!("⎕{}", row.name),
            Oper::Dfn(c) => c.text(),
            Oper::Trad(t) => t.text(),
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
}

impl Func {
    /// The dfn that a call of it runs: its own, or that of the operator it is derived by.
    pub fn closure(&self) -> Option<&Rc<Closure>> {
        match self {
            Func::Dfn(c) | Func::Op1(Oper::Dfn(c), _) | Func::Op2(Oper::Dfn(c), ..) => Some(c),
            _ => None,
        }
    }

    /// Whether it takes no argument.
    pub fn is_niladic(&self) -> bool {
        matches!(self, Func::Trad(t) if t.tradfn().is_niladic())
    }

    /// The operator it is derived by, and its operands.
    pub fn operands(&self) -> (Option<&Oper>, Vec<&Operand>) {
        match self {
            Func::Prim(_) | Func::System(_) | Func::Dfn(_) | Func::Trad(_) => (None, Vec::new()),
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
            Func::Prim(_) | Func::System(_) | Func::Dfn(_) | Func::Trad(_) => {}
            Func::Op1(_, f) | Func::Outer(f) => operand(f),
            Func::Op2(_, f, g) | Func::Atop(f, g) => [f, g].into_iter().for_each(operand),
            Func::Fork(f, g, h) => [f, g, h].into_iter().for_each(operand),
            Func::Axis(f, k) => {
                operand(f);
                out.push(k);
            }
        }
    }

    /// A function as a nested array: what a derived one or a train is made of.
    pub fn parts(&self, cx: &Cx<'_>) -> Result<Array> {
        let list = |items: Vec<Array>| Ok(Array::items([items.len()].as_slice(), items, None));
        match self {
            Func::Op1(op, f) => list(vec![f.parts(cx)?, cx.text(&op.text())?]),
            Func::Op2(op, f, g) => list(vec![f.parts(cx)?, cx.text(&op.text())?, g.parts(cx)?]),
            Func::Outer(f) => list(vec![cx.text("∘")?, cx.text(".")?, f.parts(cx)?]),
            Func::Fork(f, g, h) => list(vec![f.parts(cx)?, g.parts(cx)?, h.parts(cx)?]),
            Func::Atop(g, h) => list(vec![g.parts(cx)?, h.parts(cx)?]),
            other => cx.text(&other.text()),
        }
    }

    /// The source of a function, as a value of it prints.
    pub fn text(&self) -> String {
        match self {
            Func::Prim(p) => p.glyph.to_string(),
            Func::System(row) => format!("⎕{}", row.name),
            Func::Dfn(c) => c.text(),
            Func::Trad(t) => t.text(),
            Func::Op1(op, f) => format!("{}{}", f.text(), op.text()),
            Func::Op2(op, f, g) => format!("{}{}{}", f.text(), op.text(), g.short()),
            Func::Outer(f) => format!("∘.{}", f.short()),
            Func::Axis(f, k) => format!("{}[{}]", f.text(), plain(k)),
            Func::Fork(f, g, h) => format!("({}{}{})", f.text(), g.text(), h.text()),
            Func::Atop(g, h) => format!("({}{})", g.text(), h.text()),
        }
    }
}

impl Operand {
    fn parts(&self, cx: &Cx<'_>) -> Result<Array> {
        match self {
            Operand::F(f) => f.parts(cx),
            Operand::A(a) => Ok(a.settled()),
        }
    }

    /// The function as it is written, or as it would be.
    pub fn text(&self) -> String {
        match self {
            Operand::F(f) => f.text(),
            Operand::A(a) => plain(a),
        }
    }

    /// As a right operand, which is one item.
    fn short(&self) -> String {
        match self {
            Operand::F(f) if matches!(**f, Func::Op1(..) | Func::Op2(..) | Func::Outer(_)) => {
                format!("({})", f.text())
            }
            other => other.text(),
        }
    }
}

fn plain(a: &Array) -> String {
    /// Items that a function's text still shows one by one.
    const SHOWN: usize = 1_000;
    let a = &a.settled();
    if a.len() > SHOWN {
        return "…".into();
    }
    let numbers = a.to_complexes().filter(|_| a.rank() < 2);
    match (a.to_text(), numbers.and_then(|_| aplomb_values::array::format::line(a).ok())) {
        (_, Some(line)) => line,
        (Some(text), _) => format!("'{}'", text.replace('\'', "''")),
        _ => "…".into(),
    }
}

//! A scalar of the program.

use super::{InDag, Kind, Node, holds};
use crate::array::{Shape, format, narrowest};
use crate::dag::facts::Role;
use crate::dag::{Dag, Meta, NodeId};
use crate::reference::Oracle;
use aplomb_ground::error::Result;
use std::hash::{Hash, Hasher};

/// A number or a character, as a body sees it: a character is its code point.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// A number.
    Num(f64),
    /// A character.
    Char(char),
}

impl Scalar {
    /// The number that a body computes with: of a character its code point.
    pub fn number(self) -> f64 {
        match self {
            Scalar::Num(x) => x,
            Scalar::Char(c) => f64::from(u32::from(c)),
        }
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        match (self, other) {
            (Scalar::Num(a), Scalar::Num(b)) => a.to_bits() == b.to_bits(),
            (Scalar::Char(a), Scalar::Char(b)) => a == b,
            _ => false,
        }
    }
}

/// A scalar of the graph. A known plan runs again with other scalars, so its number is no part of
/// the graph: a pass asks for it through `Dag::is_const` and `Dag::number`, which note the answer
/// as a condition of the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param(Scalar);

impl Param {
    /// A number.
    pub fn num(x: f64) -> Param {
        Param(Scalar::Num(x))
    }

    /// A character.
    pub fn char(c: char) -> Param {
        Param(Scalar::Char(c))
    }

    /// Whether it is a number and no character.
    pub fn is_number(self) -> bool {
        matches!(self.0, Scalar::Num(_))
    }

    /// The number that it stands for in this evaluation: for what runs it, writes it into a plan,
    /// shows it, or compares graphs. Whoever decides by it makes a plan that is wrong for the next
    /// line; `tests/tidy.rs` lists the files.
    pub fn at_run_time(self) -> Scalar {
        self.0
    }
}

/// A scalar where the graph uses it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Const(pub Param);

impl<A> Node<A> {
    /// The node of a number.
    pub fn num(x: f64) -> Node<A> {
        Node::Const(Const(Param::num(x)))
    }

    /// The node of a character.
    pub fn char(c: char) -> Node<A> {
        Node::Const(Const(Param::char(c)))
    }

    /// The scalar, if it is one.
    pub fn param(&self) -> Option<Param> {
        if let Node::Const(Const(p)) = self { Some(*p) } else { None }
    }
}

impl<A> Kind<A> for Const {
    fn name(&self) -> &'static str {
        "const"
    }

    fn role(&self) -> Role {
        Role::Given
    }

    fn inputs(&self) -> &[A] {
        &[]
    }

    fn with<B, E>(&self, _to: impl FnMut(&A) -> Result<B, E>) -> Result<Node<B>, E> {
        Ok(Node::Const(*self))
    }

    fn hash(&self, mut to: &mut dyn Hasher) {
        self.0.at_run_time().number().to_bits().hash(&mut to);
    }
}

impl InDag for Const {
    fn check(&self, dag: &Dag, at: NodeId) -> Result<(), String> {
        holds(dag.shape(at).is_empty(), || "a constant with axes".into())
    }

    fn glyph(&self, _dag: &Dag, _at: NodeId) -> String {
        match self.0.at_run_time() {
            Scalar::Num(x) => format::short(x),
            Scalar::Char(c) => format!("'{c}'"),
        }
    }

    fn word(&self, _dag: &Dag, _at: NodeId) -> String {
        self.0.at_run_time().number().to_string()
    }

    fn read(dag: &mut Dag, word: &str, _args: &[NodeId]) -> Option<NodeId> {
        let x = word.parse::<f64>().ok()?;
        let dtype = narrowest(x);
        let range = dtype.is_integer().then_some((x, x));
        Some(dag.made(Node::num(x), Meta { shape: Shape::new(), dtype, range, place: None }))
    }

    fn value(&self, _oracle: &mut Oracle) -> Result<Vec<f64>> {
        Ok(vec![self.0.at_run_time().number()])
    }
}

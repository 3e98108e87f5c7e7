//! One read of one source.

use super::{InDag, Kind, Node, holds};
use crate::array::Shape;
use crate::dag::facts::Role;
use crate::dag::ix::Ix;
use crate::dag::{Along, Dag, Meta, NodeId, Read};
use crate::reference::Oracle;
use aplomb_ground::error::Result;
use std::hash::{Hash, Hasher};

/// A read of one source: where each element of the result comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Transform<A> {
    /// The primitive's name (`⌽`), for pictures.
    pub name: &'static str,
    /// The source.
    pub src: A,
    /// The place in the source for each place of the result.
    pub read: Read,
    /// Every source element is read by some result element.
    pub onto: bool,
}

/// The name of transforms that scalar extension, frames and outer products make.
pub const BROADCAST: &str = "broadcast";

/// The name of transforms that make windows.
pub const WINDOWS: &str = "⌺";

impl<A> Node<A> {
    /// Whether it makes windows of an array.
    pub fn makes_windows(&self) -> bool {
        matches!(self, Node::Transform(Transform { name, .. }) if *name == WINDOWS)
    }

    /// Whether it is scalar extension, which costs nothing and moves nothing.
    pub fn is_broadcast(&self) -> bool {
        matches!(self, Node::Transform(Transform { name, .. }) if *name == BROADCAST)
    }
}

/// Transforms that text can name: the read of an axis's reverse, of a matrix's transpose, and of
/// nothing moved.
const MOVES: &[(&str, fn(&[usize]) -> (Shape, Read))] = &[
    ("reverse", |s| {
        let last = s.len() - 1;
        let flip =
            |k| if k == last { Ix::axis(k).times(-1).offset(s[k] as i64 - 1) } else { Ix::axis(k) };
        (s.into(), Read::new((0..s.len()).map(flip)))
    }),
    ("transpose", |s| {
        (s.iter().rev().copied().collect(), Read::new((0..s.len()).rev().map(Ix::axis)))
    }),
    ("same", |s| (s.into(), Read::identity(s.len()))),
];

impl<A> Kind<A> for Transform<A> {
    fn name(&self) -> &'static str {
        "transform"
    }

    fn role(&self) -> Role {
        Role::Move
    }

    fn inputs(&self) -> &[A] {
        std::slice::from_ref(&self.src)
    }

    fn with<B, E>(&self, mut to: impl FnMut(&A) -> Result<B, E>) -> Result<Node<B>, E> {
        let (src, read) = (to(&self.src)?, self.read.clone());
        Ok(Node::Transform(Transform { name: self.name, src, read, onto: self.onto }))
    }

    fn place(&self) -> Option<(&Read, &[Along])> {
        Some((&self.read, &[]))
    }

    fn hash(&self, mut to: &mut dyn Hasher) {
        self.read.hash(&mut to);
    }
}

impl InDag for Transform<NodeId> {
    fn check(&self, dag: &Dag, at: NodeId) -> Result<(), String> {
        self.read.in_bounds(dag.shape(self.src), dag.shape(at))?;
        // A fill may widen the type, a rule may have found a constant of a narrower one.
        let widens = !self.read.tests.is_empty() || dag.node(self.src).param().is_some();
        holds(widens || dag.dtype(self.src) == dag.dtype(at), || {
            "a move that changes the type".into()
        })
    }

    fn read_of(&self, _dag: &Dag, _at: NodeId, _k: usize) -> Option<(Read, bool)> {
        Some((self.read.clone(), self.onto))
    }

    fn glyph(&self, _dag: &Dag, _at: NodeId) -> String {
        self.name.into()
    }

    fn details(&self, dag: &Dag, at: NodeId) -> String {
        self.read.text(dag.shape(at).len())
    }

    fn word(&self, _dag: &Dag, _at: NodeId) -> String {
        self.name.into()
    }

    fn read(dag: &mut Dag, word: &str, args: &[NodeId]) -> Option<NodeId> {
        let ((name, read), [src]) = (MOVES.iter().find(|m| m.0 == word)?, args) else {
            return None;
        };
        let (shape, read) = read(dag.shape(*src));
        let meta = Meta { shape, ..dag.info(*src).meta.clone() };
        Some(dag.made(Node::Transform(Transform { name, src: *src, read, onto: true }), meta))
    }

    fn value(&self, oracle: &mut Oracle) -> Result<Vec<f64>> {
        let mut place = vec![0usize; oracle.shape().len()];
        let item = |i| oracle.read(self.src, &self.read, i, &mut place, |_| 0);
        oracle.budget.all((0..oracle.len()).map(item))
    }
}

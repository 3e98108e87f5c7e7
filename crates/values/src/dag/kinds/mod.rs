//! Kinds of nodes: what each is stands in a file of its own.
//!
//! A kind is a struct of what tells one node of it from another. It answers what is asked of any
//! node: `Kind`, whether its operands are pending arrays or recorded nodes, and `InDag`, where it
//! stands in a graph. `Node` is the list of kinds, and the one place that tells them apart; all
//! others ask. Whoever rewrites a kind, or turns it into launches, names it.
//!
//! A new kind is a file here and a line of `kinds!`. Where its element is a step that bodies have
//! (`Kind::step`), or it is a function of the library (`Whole`), that is all.

mod cat;
mod compact;
mod constant;
mod gather;
mod input;
mod iota;
mod map;
mod reduce;
mod rounds;
mod scan;
mod select;
mod transform;
mod whole;

pub use cat::Cat;
pub use compact::Compact;
pub use constant::{Const, Param, Scalar};
pub use gather::{Along, Gather};
pub use input::Input;
pub use iota::Iota;
pub use map::Map;
pub use reduce::Reduce;
pub use rounds::Loop;
pub use scan::Scan;
pub use select::Select;
pub use transform::{BROADCAST, Transform, WINDOWS};
pub use whole::{Lib, Whole, WholeArrays};

use super::cell::Meta;
use super::facts::{Known, Role};
use super::graph::{Dag, NodeId};
use super::read::Read;
use crate::body::{Effort, Rounds, ValueId, What};
use crate::prim::op::{Fails, Op};
use crate::reference::Oracle;
use aplomb_ground::error::Result;
use smallvec::SmallVec;
use std::convert::Infallible;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// The operands of a node; most have one or two.
pub type Args<A> = SmallVec<[A; 2]>;

/// The facts of a node that its operation tells, pending or recorded.
pub trait Kind<A> {
    /// The trace's name of the kind.
    fn name(&self) -> &'static str;

    /// The relation of its elements to those of its operands.
    fn role(&self) -> Role;

    /// The operands in order.
    fn inputs(&self) -> &[A];

    /// The same node with other operands, one of which may be missing. Errors: the first.
    fn with<B, E>(&self, to: impl FnMut(&A) -> Result<B, E>) -> Result<Node<B>, E>
    where
        Self: Sized;

    /// The work for one point of the domain, by this node alone.
    fn cost(&self) -> Effort {
        Effort::NONE
    }

    /// When this node, whose value is `own`, can fail on finite operands.
    fn fails(&self, _own: &Meta, _of: &dyn Fn(&A) -> Known) -> Fails {
        Fails::Never
    }

    /// The scalar operation that it applies, if that is all it does with items.
    fn operation(&self) -> Option<Op> {
        None
    }

    /// Whether it compares its operands' values: a complex one has no order (DOMAIN).
    fn needs_order(&self) -> bool {
        self.operation().is_some_and(|op| op.needs_order())
    }

    /// The operand that a consumer consumes, and along which axis: it is computed at every point of
    /// that, whatever its own shape.
    fn consumes(&self) -> Option<(&A, usize)> {
        None
    }

    /// The number of operands, from the first on, that are read at places that only values tell.
    fn held(&self) -> usize {
        0
    }

    /// The number of elements of an operand that its readers need, of `below`, where they need
    /// `wanted` of its own.
    fn demand(&self, wanted: f64, _own: f64, below: f64) -> f64 {
        if self.role() == Role::Consumer { below } else { wanted.min(below) }
    }

    /// The axis that it runs along, where it has one.
    fn axis(&self) -> Option<u8> {
        None
    }

    /// Whether its operands lie one after another along its axis.
    fn joins(&self) -> bool {
        false
    }

    /// The first of the whole numbers that it counts, where it counts.
    fn counts_from(&self) -> Option<f64> {
        None
    }

    /// The place of an element in the first operand: a read, and what values add to it.
    fn place(&self) -> Option<(&Read, &[Along])> {
        None
    }

    /// The step of a body that makes one element of those of its operands, where one step does.
    fn step(&self, _args: &[ValueId]) -> Option<What> {
        None
    }

    /// The body of a loop.
    fn rounds(&self) -> Option<&Rounds> {
        None
    }

    /// Hashes what tells it from others of its kind, as far as that is quick to see: equal nodes
    /// have equal hashes.
    fn hash(&self, to: &mut dyn Hasher);
}

/// The facts of a node that its place in a graph tells.
pub trait InDag: Kind<NodeId> {
    /// Whether operands, shapes and types are as the kind needs them. Errors: a sentence.
    fn check(&self, dag: &Dag, at: NodeId) -> Result<(), String>;

    /// The read of the k-th argument and whether all of it is read, where that is not at the node's
    /// own place.
    fn read_of(&self, _dag: &Dag, _at: NodeId, _k: usize) -> Option<(Read, bool)> {
        None
    }

    /// The glyph for pictures and sentences.
    fn glyph(&self, dag: &Dag, at: NodeId) -> String;

    /// The text of what the glyph does not tell, for hashes that are equal for equal nodes in all
    /// traces.
    fn details(&self, _dag: &Dag, _at: NodeId) -> String {
        String::new()
    }

    /// The first words of its text: operands follow.
    fn word(&self, dag: &Dag, at: NodeId) -> String;

    /// Makes a node of its text. None: the word is another kind's, or the operands do not fit.
    fn read(_dag: &mut Dag, _word: &str, _args: &[NodeId]) -> Option<NodeId>
    where
        Self: Sized,
    {
        None
    }

    /// The meaning: all elements, one after the other. Errors: a broken invariant.
    fn value(&self, oracle: &mut Oracle) -> Result<Vec<f64>>;
}

/// A kind's reader of text.
pub(super) type Reader = fn(&mut Dag, &str, &[NodeId]) -> Option<NodeId>;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident($of:ty),)+) => {
        /// The operation of one node. `A` is an `Array` while pending, a `NodeId` when recorded.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Node<A> {
            $($(#[$doc])* $kind($of),)+
        }

        impl<A> Node<A> {
            /// The facts of its kind.
            pub fn facts(&self) -> &dyn Kind<A> {
                match self {
                    $(Node::$kind(own) => own,)+
                }
            }

            /// The operands in order.
            pub fn inputs(&self) -> &[A] {
                match self {
                    $(Node::$kind(own) => own.inputs(),)+
                }
            }

            /// The same node with other operands, one of which may be missing. Errors: the first.
            pub fn try_map_inputs<B, E>(
                &self,
                to: impl FnMut(&A) -> Result<B, E>,
            ) -> Result<Node<B>, E> {
                match self {
                    $(Node::$kind(own) => own.with(to),)+
                }
            }
        }

        impl Node<NodeId> {
            /// The facts of its kind in a graph.
            pub fn in_dag(&self) -> &dyn InDag {
                match self {
                    $(Node::$kind(own) => own,)+
                }
            }

            /// The readers of text, one a kind.
            pub(super) fn readers() -> &'static [Reader] {
                type A = NodeId;
                &[$(<$of as InDag>::read,)+]
            }
        }
    };
}

kinds! {
    /// An array that exists.
    Input(Input),
    /// A scalar of the program.
    Const(Const),
    /// The index along axis 0 plus the origin.
    Iota(Iota),
    /// A scalar operation: the arguments have the node's shape, or rank 0 (scalar extension is no
    /// node).
    Map(Map<A>),
    /// One read of one source.
    Transform(Transform<A>),
    /// A fold along an axis.
    Reduce(Reduce<A>),
    /// The fold of each prefix along an axis.
    Scan(Scan<A>),
    /// A choice by the first argument between the others.
    Select(Select<A>),
    /// The arguments one after another along an axis.
    Cat(Cat<A>),
    /// The first argument's element at computed places.
    Gather(Gather<A>),
    /// Rounds of a body of scalar operations, element by element.
    Loop(Loop<A>),
    /// Cells of the second argument along an axis where the first is not 0.
    Compact(Compact<A>),
    /// An operation on whole arrays: see `Whole`.
    Whole(WholeArrays<A>),
}

impl<A> Node<A> {
    /// The trace's name of the kind.
    pub fn kind(&self) -> &'static str {
        self.facts().name()
    }

    /// The relation of its elements to those of its operands.
    pub fn role(&self) -> Role {
        self.facts().role()
    }

    /// The same node with other operands.
    pub fn map_inputs<B>(&self, mut to: impl FnMut(&A) -> B) -> Node<B> {
        let Ok(node) = self.try_map_inputs(|a| Ok::<B, Infallible>(to(a)));
        node
    }

    /// The operand that a consumer consumes, and along which axis.
    pub fn consumes(&self) -> Option<(&A, usize)> {
        self.facts().consumes()
    }

    /// Whether the k-th argument is read at places that only values tell.
    pub fn reads_anywhere(&self, k: usize) -> bool {
        k < self.facts().held()
    }

    /// A producer that computes: worth a buffer where it would be evaluated too often.
    pub fn computes(&self) -> bool {
        matches!(self.role(), Role::Elementwise | Role::AtPlaces)
    }

    /// Whether it is there before anything runs: an array that exists, or a scalar.
    pub fn is_given(&self) -> bool {
        self.role() == Role::Given
    }

    /// The read of one source that it is, if it is one.
    pub fn read(&self) -> Option<&Read> {
        self.facts().place().filter(|_| self.role() == Role::Move).map(|(read, _)| read)
    }

    /// The body of a loop.
    pub fn rounds(&self) -> Option<&Rounds> {
        self.facts().rounds()
    }

    /// The work for one point of the domain, by this node alone.
    pub fn cost(&self) -> Effort {
        self.facts().cost()
    }
}

impl Node<NodeId> {
    /// The read of the k-th argument and whether all of it is read, where that is not at the node's
    /// own place.
    pub fn read_of(&self, dag: &Dag, at: NodeId, k: usize) -> Option<(Read, bool)> {
        self.in_dag().read_of(dag, at, k)
    }

    /// Hashes what is quick to see of operation and operands: equal nodes have equal hashes.
    pub fn hash_into(&self, to: &mut dyn Hasher) {
        self.hash_without_value(to);
        if self.param().is_some() {
            self.facts().hash(to);
        }
    }

    /// The same, where all scalars are equal: a known plan runs again with others.
    pub fn hash_without_value(&self, mut to: &mut dyn Hasher) {
        discriminant(self).hash(&mut to);
        if self.param().is_none() {
            self.facts().hash(to);
        }
        self.inputs().hash(&mut to);
    }
}

/// `with` for a kind that holds its operands in a list.
fn each<A, B, E>(args: &[A], to: impl FnMut(&A) -> Result<B, E>) -> Result<Args<B>, E> {
    args.iter().map(to).collect()
}

/// A glyph by the axis that it runs along.
fn along(dag: &Dag, at: NodeId, axis: u8, last: &str, first: &str) -> String {
    match axis as usize {
        k if k + 1 == dag.shape(at).len() => last.into(),
        0 => first.into(),
        k => format!("{last}[{}]", k + 1),
    }
}

/// Whether a node's arguments have its shape, or rank 0.
fn conform(dag: &Dag, at: NodeId, args: &[NodeId]) -> bool {
    args.iter().all(|a| dag.shape(*a).is_empty() || dag.shape(*a) == dag.shape(at))
}

/// A demand on a node, with the sentence for where it does not hold.
fn holds(fits: bool, wrong: impl FnOnce() -> String) -> Result<(), String> {
    if fits { Ok(()) } else { Err(wrong()) }
}

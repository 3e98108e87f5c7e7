//! Node kinds, over cells (pending) or ids (recorded).

use super::read::Read;
use crate::prim::op::Op;
use smallvec::SmallVec;

/// A number or a character, as a body sees it: a character is its code point.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    Num(f64),
    Char(char),
}

impl Scalar {
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

pub type Args<A> = SmallVec<[A; 2]>;

/// What one node does. `A` is an `Array` while pending, a `NodeId` when recorded.
///
/// Map: the arguments have the node's shape, or rank 0 (scalar extension is no node). Reduce: right to left along an
/// axis. Iota: the index along axis 0 plus the origin. Transform: one read of one source.
#[derive(Clone, Debug, PartialEq)]
pub enum Node<A> {
    /// An array that exists; the number is its place among the evaluation's inputs.
    Input(u32),
    Const(Scalar),
    Iota {
        origin: f64,
    },
    Map {
        op: Op,
        ct: f64,
        args: Args<A>,
    },
    /// `name` is the primitive's (`⌽`), for pictures; `onto`: every source element is read by some result element.
    Transform {
        name: &'static str,
        src: A,
        read: Read,
        onto: bool,
    },
    Reduce {
        op: Op,
        axis: u8,
        src: A,
    },
}

impl<A> Node<A> {
    /// The trace's name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Node::Input(_) => "input",
            Node::Const(_) => "const",
            Node::Iota { .. } => "iota",
            Node::Map { .. } => "map",
            Node::Transform { .. } => "transform",
            Node::Reduce { .. } => "reduce",
        }
    }

    /// The operands in order.
    pub fn inputs(&self) -> &[A] {
        match self {
            Node::Input(_) | Node::Const(_) | Node::Iota { .. } => &[],
            Node::Map { args, .. } => args,
            Node::Transform { src, .. } | Node::Reduce { src, .. } => std::slice::from_ref(src),
        }
    }

    /// The same node with other operands.
    pub fn map_inputs<B>(&self, mut to: impl FnMut(&A) -> B) -> Node<B> {
        match self {
            Node::Input(k) => Node::Input(*k),
            Node::Const(s) => Node::Const(*s),
            Node::Iota { origin } => Node::Iota { origin: *origin },
            Node::Map { op, ct, args } => Node::Map { op: *op, ct: *ct, args: args.iter().map(to).collect() },
            Node::Transform { name, src, read, onto } => {
                Node::Transform { name, src: to(src), read: read.clone(), onto: *onto }
            }
            Node::Reduce { op, axis, src } => Node::Reduce { op: *op, axis: *axis, src: to(src) },
        }
    }
}

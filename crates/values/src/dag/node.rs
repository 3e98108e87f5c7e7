//! Node kinds, over cells (pending) or ids (recorded).

use super::graph::{Dag, NodeId};
use super::ix::Ix;
use super::read::{Read, Test};
use super::whole::Whole;
use crate::body::{Rounds, SELECT_NS};
use crate::prim::op::Op;
use crate::prim::scalar::{self, Fail};
use smallvec::SmallVec;
use std::convert::Infallible;
use std::sync::Arc;

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

/// A scalar of the graph. A known plan runs again with other scalars, so its number is no part of
/// the graph: a pass asks for it through `Dag::is_const` and `Dag::number`, which note the answer
/// as a condition of the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param(Scalar);

impl Param {
    pub fn num(x: f64) -> Param {
        Param(Scalar::Num(x))
    }

    pub fn char(c: char) -> Param {
        Param(Scalar::Char(c))
    }

    pub fn is_number(self) -> bool {
        matches!(self.0, Scalar::Num(_))
    }

    /// What it stands for in this evaluation: for what runs it, writes it into a plan, shows it, or
    /// compares graphs. Whoever decides by it makes a plan that is wrong for the next line;
    /// `tests/tidy.rs` lists the files.
    pub fn at_run_time(self) -> Scalar {
        self.0
    }
}

pub type Args<A> = SmallVec<[A; 2]>;

/// What a value that is a place adds to the index of one axis. It must be less than the extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Along {
    pub axis: u8,
    pub times: i64,
    pub extent: usize,
}

impl Along {
    /// How far a value goes. Errors: INDEX, DOMAIN.
    pub fn step(&self, value: f64, origin: f64) -> Result<i64, Fail> {
        scalar::place(value, origin, self.extent, 0.0).map(|place| place as i64 * self.times)
    }
}

/// What one node does. `A` is an `Array` while pending, a `NodeId` when recorded.
///
/// Map: the arguments have the node's shape, or rank 0 (scalar extension is no node). Reduce: right
/// to left along an axis. Iota: the index along axis 0 plus the origin. Transform: one read of one
/// source. All but the consumers (`consumes`) are producers: an element needs at most one of each
/// argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Node<A> {
    /// An array that exists; the number is its place among the evaluation's inputs.
    Input(u32),
    Const(Param),
    Iota {
        origin: f64,
    },
    Map {
        op: Op,
        ct: f64,
        args: Args<A>,
    },
    /// `name` is the primitive's (`⌽`), for pictures; `onto`: every source element is read by some
    /// result element.
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
    /// The fold of each prefix along an axis, by the blocks of `prim::scan`.
    Scan {
        op: Op,
        axis: u8,
        src: A,
    },
    /// Where the first argument is not 0 the second, else the third. All three have the node's
    /// shape or rank 0.
    Select {
        args: Args<A>,
    },
    /// The arguments one after another along an axis.
    Cat {
        axis: u8,
        args: Args<A>,
    },
    /// The first argument's element at computed places. `read` has an Ix per source axis; `along`
    /// says what the other arguments, less `origin`, add to them.
    Gather {
        args: Args<A>,
        read: Read,
        along: SmallVec<[Along; 2]>,
        origin: f64,
    },
    /// `rounds` of a body of scalar operations, element by element: the first arguments are the
    /// states before the first round, the others are the same in every round. `result` is the state
    /// whose last value this is.
    Loop {
        args: Args<A>,
        body: Arc<Rounds>,
        result: u8,
    },
    /// The cells of the second argument along an axis where the first, a mask over the whole of it,
    /// is not 0. How many was known when it was recorded.
    Compact {
        axis: u8,
        args: Args<A>,
    },
    /// What needs whole arrays: see `Whole`.
    Whole {
        what: Whole,
        args: Args<A>,
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
            Node::Scan { .. } => "scan",
            Node::Select { .. } => "map",
            Node::Cat { .. } => "cat",
            Node::Gather { .. } => "gather",
            Node::Compact { .. } => "compact",
            Node::Loop { .. } => "loop",
            Node::Whole { what, .. } => what.kind(),
        }
    }

    /// The operands in order.
    pub fn inputs(&self) -> &[A] {
        match self {
            Node::Input(_) | Node::Const(_) | Node::Iota { .. } => &[],
            Node::Map { args, .. }
            | Node::Select { args }
            | Node::Cat { args, .. }
            | Node::Gather { args, .. }
            | Node::Compact { args, .. }
            | Node::Loop { args, .. }
            | Node::Whole { args, .. } => args,
            Node::Transform { src, .. } | Node::Reduce { src, .. } | Node::Scan { src, .. } => {
                std::slice::from_ref(src)
            }
        }
    }

    /// The same node with other operands.
    pub fn map_inputs<B>(&self, mut to: impl FnMut(&A) -> B) -> Node<B> {
        let Ok(node) = self.try_map_inputs(|a| Ok::<B, Infallible>(to(a)));
        node
    }

    /// The same, where one of them may be missing. Errors: the first.
    pub fn try_map_inputs<B, E>(
        &self,
        mut to: impl FnMut(&A) -> Result<B, E>,
    ) -> Result<Node<B>, E> {
        Ok(match self {
            Node::Input(k) => Node::Input(*k),
            Node::Const(s) => Node::Const(*s),
            Node::Iota { origin } => Node::Iota { origin: *origin },
            Node::Map { op, ct, args } => {
                Node::Map { op: *op, ct: *ct, args: args.iter().map(to).collect::<Result<_, E>>()? }
            }
            Node::Transform { name, src, read, onto } => {
                Node::Transform { name, src: to(src)?, read: read.clone(), onto: *onto }
            }
            Node::Reduce { op, axis, src } => Node::Reduce { op: *op, axis: *axis, src: to(src)? },
            Node::Scan { op, axis, src } => Node::Scan { op: *op, axis: *axis, src: to(src)? },
            Node::Select { args } => {
                Node::Select { args: args.iter().map(to).collect::<Result<_, E>>()? }
            }
            Node::Cat { axis, args } => {
                Node::Cat { axis: *axis, args: args.iter().map(to).collect::<Result<_, E>>()? }
            }
            Node::Gather { args, read, along, origin } => Node::Gather {
                args: args.iter().map(to).collect::<Result<_, E>>()?,
                read: read.clone(),
                along: along.clone(),
                origin: *origin,
            },
            Node::Loop { args, body, result } => Node::Loop {
                args: args.iter().map(to).collect::<Result<_, E>>()?,
                body: body.clone(),
                result: *result,
            },
            Node::Compact { axis, args } => {
                Node::Compact { axis: *axis, args: args.iter().map(to).collect::<Result<_, E>>()? }
            }
            Node::Whole { what, args } => Node::Whole {
                what: what.clone(),
                args: args.iter().map(to).collect::<Result<_, E>>()?,
            },
        })
    }

    /// A scalar operation; of ⎕CT it keeps what it uses.
    pub fn map(op: Op, ct: f64, args: impl IntoIterator<Item = A>) -> Node<A> {
        Node::Map { op, ct: op.tolerance(ct), args: args.into_iter().collect() }
    }

    /// What a consumer consumes, and along which axis: it is computed at every point of that,
    /// whatever its own shape.
    pub fn consumes(&self) -> Option<(&A, usize)> {
        match self {
            Node::Reduce { src, axis, .. } | Node::Scan { src, axis, .. } => {
                Some((src, *axis as usize))
            }
            Node::Compact { axis, args } => args.get(1).map(|src| (src, *axis as usize)),
            Node::Whole { what, args } => {
                args.get(what.held()).or(args.first()).map(|src| (src, what.axis()))
            }
            _ => None,
        }
    }

    /// A producer that computes: worth a buffer where it would be evaluated too often.
    pub fn computes(&self) -> bool {
        matches!(
            self,
            Node::Map { .. } | Node::Select { .. } | Node::Gather { .. } | Node::Loop { .. }
        )
    }

    /// Nanoseconds and operations of one element of this node alone (LOWERING §7: f64 in L1 on the
    /// reference CPU).
    pub fn cost(&self) -> (f64, u64) {
        match self {
            Node::Map { op, .. } => (op.row().ns, 1),
            Node::Reduce { op, .. } | Node::Scan { op, .. } => (op.row().ns, 1),
            Node::Select { .. } => (SELECT_NS, 1),
            Node::Gather { .. } => (1.5, 1),
            Node::Cat { args, .. } => (0.15 * args.len() as f64, 0),
            Node::Loop { body, .. } => body.cost(),
            Node::Compact { .. } => (0.5, 0),
            Node::Whole { what, .. } => what.cost(),
            Node::Iota { .. } => (0.1, 0),
            Node::Input(_) | Node::Const(_) | Node::Transform { .. } => (0.0, 0),
        }
    }
}

impl Node<NodeId> {
    /// Whether the k-th argument is read at places that only values tell.
    pub fn reads_anywhere(&self, k: usize) -> bool {
        match self {
            Node::Gather { .. } | Node::Compact { .. } => k == 0,
            Node::Whole { what, .. } => k < what.held(),
            _ => false,
        }
    }

    /// How the k-th argument is read and whether all of it is, where that is not at the node's own
    /// place.
    pub fn read_of(&self, dag: &Dag, at: NodeId, k: usize) -> Option<(Read, bool)> {
        match self {
            Node::Transform { read, onto, .. } => Some((read.clone(), *onto)),
            Node::Cat { axis, args } => {
                let (axis, rank) = (*axis as usize, dag.shape(at).len());
                let extent = |a: &NodeId| dag.shape(*a)[axis] as i64;
                let from: i64 = args[..k].iter().map(extent).sum();
                let n = extent(&args[k]);
                let mut read = Read::identity(rank);
                read.ix[axis] = Ix::axis(axis).offset(-from);
                if n < dag.shape(at)[axis] as i64 {
                    read.tests.push(Test { ix: Ix::axis(axis), lo: from, hi: from + n, fill: 0.0 });
                }
                Some((read, true))
            }
            _ => None,
        }
    }
}

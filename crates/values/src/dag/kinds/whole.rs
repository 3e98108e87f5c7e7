//! Consumers of whole arrays: ordered folds, folds of segments, scatters, functions of the library.
//!
//! Rows: ACC-05, ACC-27, ACC-28, ACL-27. Their first operands are *held*, that is, read where only
//! values tell; the others are *fed*, computed at every point of the node's domain. What they mean
//! stands in `prim::whole`.

use super::{Along, Args, InDag, Kind, Node, each};
use crate::body::{Effort, Rounds};
use crate::dag::facts::{Known, Role, operation_fails};
use crate::dag::ix::Ix;
use crate::dag::{Dag, Meta, NodeId, Read};
use crate::prim::op::{Fails, Op};
use crate::prim::whole;
use crate::reference::Oracle;
use aplomb_ground::error::Result;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// An operation that needs whole arrays.
#[derive(Clone, Debug, PartialEq)]
pub enum Whole {
    /// The fold along an axis from its end, one step after the other. The body's arguments are an
    /// item, what is folded behind it, and the numbers `given`; it has one state. Fed: the array.
    Fold {
        /// The axis, which the result lacks.
        axis: u8,
        /// The step.
        body: Arc<Rounds>,
        /// Numbers that are the same in every step.
        given: Vec<f64>,
    },
    /// The fold of each segment of a vector, or its scan, by the order of a row so long. Held: from
    /// and to of each, a row a segment, in their order. Fed: the vector.
    Segmented {
        /// The operation.
        op: Op,
        /// The running fold at each item: the result is as long as the vector, and 0 where no
        /// segment is.
        scan: bool,
    },
    /// The base with values at places, in ravel order of the places: the last one stays, or each is
    /// combined with what is there. `read`, `along` and `origin` tell the place as in a gather.
    /// Held: the base. Fed: values, places.
    Scatter {
        /// The place before values move it.
        read: Read,
        /// The axes that values move.
        along: SmallVec<[Along; 2]>,
        /// The number of the first place (⎕IO).
        origin: f64,
        /// The operation and its ⎕CT; None: the last value stays.
        combine: Option<(Op, f64)>,
    },
    /// A function of the library. Held: all.
    Lib {
        /// The function.
        of: Lib,
        /// The number of the first place (⎕IO).
        origin: f64,
        /// ⎕CT, 0 where it takes no notice of it.
        ct: f64,
        /// Each row along the last axis is put in order by itself, not the major cells; no search
        /// does.
        rows: bool,
        /// The place in the order of the first result, from 0 on. A grade or a sort gives as many
        /// neighbours in the order from there on as its shape says; a search all it is asked for.
        first: usize,
    },
}

/// A function of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lib {
    /// The places in the order of rising cells.
    GradeUp,
    /// The places in the order of falling cells.
    GradeDown,
    /// The numbers of a vector, rising.
    SortUp,
    /// The numbers of a vector, falling.
    SortDown,
    /// The first place of each item of the second in the first, a vector.
    IndexOf,
    /// Whether each item of the second is in the first.
    Member,
}

impl Lib {
    /// The primitive.
    pub fn glyph(self) -> char {
        match self {
            Lib::GradeUp | Lib::SortUp => '⍋',
            Lib::GradeDown | Lib::SortDown => '⍒',
            Lib::IndexOf => '⍳',
            Lib::Member => '∊',
        }
    }
}

impl Lib {
    /// The ⎕CT that it carries: 0 where it takes no notice of it.
    pub fn tolerance(self, ct: f64) -> f64 {
        if self.is_search() { ct } else { 0.0 }
    }

    /// Whether it looks for items of one operand in another.
    pub fn is_search(self) -> bool {
        matches!(self, Lib::IndexOf | Lib::Member)
    }

    /// Whether it gives the numbers in order, not their places.
    pub fn is_sort(self) -> bool {
        matches!(self, Lib::SortUp | Lib::SortDown)
    }

    /// Whether the greatest come first.
    pub fn is_down(self) -> bool {
        matches!(self, Lib::GradeDown | Lib::SortDown)
    }
}

impl Whole {
    /// All numbers in order, or those of each row.
    pub fn sort(of: Lib, rows: bool) -> Whole {
        Whole::Lib { of, origin: 0.0, ct: 0.0, rows, first: 0 }
    }

    /// The extent of the axis that a grade or a sort puts in order, of an operand of such a shape:
    /// the last one of rows, else the first. None: it puts nothing in order.
    pub fn ordered(&self, shape: &[usize]) -> Option<usize> {
        match self {
            Whole::Lib { of, rows, .. } if !of.is_search() => {
                (if *rows { shape.last() } else { shape.first() }).copied()
            }
            _ => None,
        }
    }

    /// The trace's name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Whole::Fold { .. } => "reduce",
            Whole::Segmented { .. } => "segmented",
            Whole::Scatter { .. } => "scatter",
            Whole::Lib { .. } => "lib",
        }
    }

    /// The number of operands that are held; the node's domain is the shape of the operand behind
    /// them, or of the first.
    pub fn held(&self) -> usize {
        match self {
            Whole::Fold { .. } => 0,
            Whole::Segmented { .. } | Whole::Scatter { .. } => 1,
            Whole::Lib { of, .. } => 1 + usize::from(of.is_search()),
        }
    }

    /// The axis that is folded; 0 for others, which have none.
    pub fn axis(&self) -> usize {
        if let Whole::Fold { axis, .. } = self { *axis as usize } else { 0 }
    }

    /// The work for one element of the domain.
    pub fn cost(&self) -> Effort {
        match self {
            // One step after the other waits for each result.
            Whole::Fold { body, .. } => Effort { ns: body.cost().ns * 8.0, ..body.cost() },
            Whole::Segmented { op, .. } => Effort::of(*op),
            Whole::Scatter { combine, .. } => {
                Effort { ns: 2.0, flops: u64::from(combine.is_some()) }
            }
            Whole::Lib { .. } => Effort { ns: 40.0, flops: 0 },
        }
    }

    /// The text of its node in pictures.
    pub fn glyph(&self) -> String {
        match self {
            Whole::Fold { body, .. } => {
                body.single().map_or("{…}/".into(), |op| format!("{}/", op.glyph()))
            }
            Whole::Segmented { op, scan } => {
                format!("{}{}¨", op.glyph(), if *scan { '\\' } else { '/' })
            }
            Whole::Scatter { combine, .. } => match combine {
                Some((op, _)) => format!("[]{}←", op.glyph()),
                None => "[]←".into(),
            },
            Whole::Lib { of, rows, first, .. } => {
                let some = if *first == 0 { String::new() } else { format!("{first}↓") };
                format!("{some}{}{}", of.glyph(), if *rows { "⍤1" } else { "" })
            }
        }
    }
}

/// A node that needs whole arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeArrays<A> {
    /// The operation.
    pub what: Whole,
    /// The operands: those that are held, then those that are fed.
    pub args: Args<A>,
}

impl<A> Node<A> {
    /// The node of an operation on these operands.
    pub fn whole(what: Whole, args: impl IntoIterator<Item = A>) -> Node<A> {
        Node::Whole(WholeArrays { what, args: args.into_iter().collect() })
    }
}

impl<A> Kind<A> for WholeArrays<A> {
    fn name(&self) -> &'static str {
        self.what.kind()
    }

    fn role(&self) -> Role {
        Role::Consumer
    }

    fn inputs(&self) -> &[A] {
        &self.args
    }

    fn with<B, E>(&self, to: impl FnMut(&A) -> Result<B, E>) -> Result<Node<B>, E> {
        Ok(Node::Whole(WholeArrays { what: self.what.clone(), args: each(&self.args, to)? }))
    }

    fn cost(&self) -> Effort {
        self.what.cost()
    }

    fn needs_order(&self) -> bool {
        match &self.what {
            Whole::Fold { body, .. } => body.needs_order(),
            Whole::Segmented { op, .. } => op.needs_order(),
            Whole::Scatter { combine, .. } => combine.is_some_and(|(op, _)| op.needs_order()),
            Whole::Lib { .. } => false,
        }
    }

    fn fails(&self, own: &Meta, of: &dyn Fn(&A) -> Known) -> Fails {
        match &self.what {
            Whole::Fold { body, .. } => body.fails(),
            // Behind the bounds, which are held, the vector.
            Whole::Segmented { op, .. } => {
                operation_fails(*op, own.is_ranged(), self.args[self.what.held()..].iter().map(of))
            }
            // Places are looked at when it is recorded.
            Whole::Scatter { combine, .. } => {
                combine.map_or(Fails::Never, |(op, _)| op.row().fails)
            }
            Whole::Lib { .. } => Fails::Never,
        }
    }

    fn consumes(&self) -> Option<(&A, usize)> {
        let consumed = self.args.get(self.what.held()).or(self.args.first());
        consumed.map(|src| (src, self.what.axis()))
    }

    fn held(&self) -> usize {
        self.what.held()
    }

    fn axis(&self) -> Option<u8> {
        if let Whole::Fold { axis, .. } = self.what { Some(axis) } else { None }
    }

    /// Equal hashes are compared.
    fn hash(&self, mut to: &mut dyn Hasher) {
        (self.what.kind(), self.what.glyph()).hash(&mut to);
    }
}

impl InDag for WholeArrays<NodeId> {
    fn check(&self, dag: &Dag, at: NodeId) -> Result<(), String> {
        let (shape, args) = (dag.shape(at), &self.args);
        let of = |k: usize| args.get(k).map_or(&[][..], |a| dag.shape(*a));
        let fits = match &self.what {
            Whole::Fold { axis, body, given } => {
                let mut left = of(0).to_vec();
                body.verify()?;
                let known = body.arguments() == 2 + given.len() && body.next.len() == 1;
                let axis = *axis as usize;
                let folds = args.len() == 1 && axis < left.len() && left.remove(axis) > 0;
                folds && known && left == shape
            }
            Whole::Segmented { scan, .. } => {
                let rows = if *scan { of(0).first().copied() } else { shape.first().copied() };
                let fits = rows.is_some_and(|rows| of(0) == [rows, 2]) && of(1).len() == 1;
                args.len() == 2 && shape.len() == 1 && fits && (!scan || of(1) == shape)
            }
            Whole::Scatter { .. } if args.len() < 2 => false,
            Whole::Scatter { read, along, .. } => {
                let places = &args[2..];
                let conform =
                    places.iter().all(|a| dag.shape(*a).is_empty() || dag.shape(*a) == of(1));
                let axes =
                    along.iter().all(|a| read.ix.get(a.axis as usize).is_some_and(Ix::is_constant));
                read.in_bounds(shape, of(1))?;
                of(0) == shape
                    && conform
                    && axes
                    && along.len() == places.len()
                    && !of(1).is_empty()
            }
            Whole::Lib { of: lib, .. } if lib.is_search() => {
                args.len() == 2 && of(0).len() == 1 && of(1) == shape
            }
            Whole::Lib { of: lib, rows, first, .. } => {
                // The axis that is put in order is the last one of rows and the only one else.
                let ordered = match (rows, of(0), shape) {
                    (true, [frame @ .., all], [outer @ .., own]) if frame == outer => {
                        Some((*all, *own))
                    }
                    (false, [all, cell @ ..], [own]) if !lib.is_sort() || cell.is_empty() => {
                        Some((*all, *own))
                    }
                    _ => None,
                };
                let fits = |(all, own)| first.checked_add(own).is_some_and(|end| end <= all);
                args.len() == 1 && ordered.is_some_and(fits)
            }
        };
        super::holds(fits, || format!("a {} whose operands do not fit {shape:?}", self.what.kind()))
    }

    fn glyph(&self, _dag: &Dag, _at: NodeId) -> String {
        self.what.glyph()
    }

    fn details(&self, _dag: &Dag, _at: NodeId) -> String {
        format!("{:?}", self.what)
    }

    fn word(&self, _dag: &Dag, _at: NodeId) -> String {
        self.what.kind().into()
    }

    fn value(&self, oracle: &mut Oracle) -> Result<Vec<f64>> {
        let given =
            |a: &NodeId| whole::Given { items: oracle.items(*a), shape: oracle.dag.shape(*a) };
        let given: Vec<whole::Given> = self.args.iter().map(given).collect();
        let out =
            whole::run(&self.what, &given, oracle.shape(), oracle.dtype(), &mut |index, fail| {
                oracle.note(index, fail);
            });
        Ok(out.into_iter().map(|x| oracle.rounded(x)).collect())
    }
}

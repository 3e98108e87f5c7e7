//! The schedule: which nodes are kept, and which of them run in one launch.
//!
//! Rows: ACL-17, ACL-39, ACC-17, BAR-08. It is data: `edit` are the steps from one schedule to
//! another, `legal` says which of them keep the meaning, `policy` what the passes of a pipeline ask
//! for, and `draft` is the planner, which makes the best schedule of what was asked. A pass asks
//! for one thing more; what it changed is the difference of two schedules.

pub mod beside;
mod draft;
pub mod edit;
pub mod flips;
pub mod legal;
mod order;
pub mod policy;
pub mod together;

pub use draft::{draft, is_free_root};

use super::cost::{self, Cost, LAUNCH_NS};
use super::hash::Map;
use super::product;
use aplomb_plans::plan::Kind;
use aplomb_values::array::Shape;
use aplomb_values::dag::{Dag, Node, NodeId, Role};
use std::collections::BTreeMap;

/// The reason why a node has a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// Its value is wanted.
    Root,
    /// A reduction, a scan, a selection: its result is used by others.
    Consumer,
    /// It is read at places that only values tell.
    Anywhere,
    /// Computing it where it is read costs more than storing it.
    Work {
        /// Points at which it would be computed.
        points: u64,
        /// The cost of computing it at all of them.
        inline: Cost,
        /// The cost of storing it once.
        store: Cost,
    },
    /// It is used more than once, and what is shared is stored.
    Shared {
        /// Its uses.
        uses: u64,
        /// The cost of computing it at each.
        inline: Cost,
        /// The cost of storing it once.
        store: Cost,
    },
    /// It can fail, and no reader sees all of it (E1).
    MayFail,
    /// Read in more places than are worth the text.
    Places(usize),
    /// Read through more index arithmetic than is worth the text.
    Steps(usize),
    /// A launch would read too much.
    Limit {
        /// The resource.
        name: &'static str,
        /// The amount that the launch would need of it.
        need: u64,
        /// The amount there is.
        have: u64,
    },
    /// A random access of this glyph reads it.
    Random,
    /// A fill that cannot be told further down (2006): a constant, unless two reads do not compose.
    Outside {
        /// The reason as the trace writes it.
        code: &'static str,
        /// The constant, where it is one.
        fill: Option<f64>,
    },
    /// A pass that would have fused it is off, or has not run yet.
    NotYet(&'static str),
    /// A flip stores it.
    Flipped,
}

impl Why {
    /// The reason as the trace writes it.
    pub fn code(&self) -> String {
        match self {
            Why::Root => "root".into(),
            Why::Consumer => "consumer".into(),
            Why::Work { .. } => "work".into(),
            // What it would cost to compute it again at each of them (ACL-40).
            Why::Shared { uses, inline, .. } => {
                format!("shared(uses={uses},cost={:.0}ns)", inline.ns)
            }
            Why::MayFail => "may-fail".into(),
            Why::Places(n) => format!("places({n})"),
            Why::Steps(n) => format!("steps({n})"),
            Why::Limit { name, need, have } => format!("limit:{name}({need}>{have})"),
            Why::Random | Why::Anywhere => "random-access".into(),
            Why::Outside { code, .. } => (*code).into(),
            Why::NotYet(pass) => format!("off:{pass}"),
            Why::Flipped => "flipped".into(),
        }
    }
}

/// Kept nodes by id, each with its reason.
pub type Keep = BTreeMap<NodeId, Why>;

/// Kept nodes that run together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// One more than the latest launch that it reads.
    pub stage: u32,
    pub domain: Shape,
    pub kind: Kind,
    /// The axis that reductions, scans or a selection run along.
    pub axis: Option<usize>,
    /// The part of the domain that the consumers leave.
    pub outer: Shape,
    /// Kept nodes over the domain (maps), consumers along the axis, and kept nodes over what those
    /// leave.
    pub body: Vec<NodeId>,
    pub reduces: Vec<NodeId>,
    pub after: Vec<NodeId>,
    /// Whether devices compute it block by block, if nothing is merged with it.
    pub product: bool,
}

impl Group {
    /// The launch of one kept node.
    fn alone(dag: &Dag, keep: &Keep, at: NodeId, stage: u32) -> Group {
        let (axis, kind) = (dag.node(at).consumes().map(|c| c.1), kind(dag.node(at)));
        let (body, reduces) = if axis.is_some() { (vec![], vec![at]) } else { (vec![at], vec![]) };
        let (outer, domain) = (outer(dag, at), Shape::from(dag.domain(at)));
        let product = !is_small(&domain) && product::is_product(dag, keep, at);
        Group { stage, domain, kind, axis, outer, body, reduces, after: Vec::new(), product }
    }

    fn len(&self) -> usize {
        self.body.len() + self.reduces.len() + self.after.len()
    }

    /// A launch of the same domain joins.
    fn take(&mut self, other: Group) {
        if self.axis.is_none() {
            (self.axis, self.kind, self.outer) = (other.axis, other.kind, other.outer);
        }
        self.body.extend(other.body);
        self.reduces.extend(other.reduces);
        self.after.extend(other.after);
    }

    /// A node that reads values of this launch joins it.
    fn push(&mut self, dag: &Dag, at: NodeId, how: edit::How) {
        match (how, dag.node(at).consumes()) {
            (edit::How::Embed, Some((_, axis))) => {
                (self.axis, self.kind) = (Some(axis), kind(dag.node(at)));
                self.outer = outer(dag, at);
                self.reduces.push(at);
            }
            (edit::How::Epilogue, _) => self.after.push(at),
            _ => self.body.push(at),
        }
    }

    /// All kept nodes, by id.
    pub fn nodes(&self) -> Vec<NodeId> {
        let mut all: Vec<_> =
            self.body.iter().chain(&self.reduces).chain(&self.after).copied().collect();
        all.sort();
        all
    }
}

/// Launches with their facts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    pub keep: Keep,
    /// In the order in which they run (`order`).
    pub groups: Vec<Group>,
    pub facts: Facts,
}

/// Figures of a schedule: they follow from what is kept and what runs together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The nodes that are not kept.
    pub evaluated: BTreeMap<NodeId, Evaluated>,
    /// The buffers that each group reads, with how many of its elements: each once.
    pub reads: Vec<Vec<(NodeId, u64)>>,
    /// Bytes from memory and to it.
    pub bytes: u64,
    pub flops: u64,
}

/// The places where a node that has no buffer is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    pub places: usize,
    /// The launches that they are in.
    pub launches: u64,
    /// Points in all of them where it is wanted.
    pub points: u64,
    /// Evaluations in all of them: at every point of their loops.
    pub runs: u64,
    /// The reason why it should have been kept: none in a legal schedule.
    pub must: Option<Why>,
}

impl Schedule {
    /// Whether a kept node has a buffer: a reduction that only its own launch's epilogue reads
    /// needs none.
    pub fn is_stored(&self, at: NodeId) -> bool {
        self.keep.get(&at) != Some(&Why::Consumer)
            || self.facts.reads.iter().any(|r| r.iter().any(|(n, _)| *n == at))
    }

    /// The group that computes each kept node.
    pub fn homes(&self) -> Map<NodeId, usize> {
        let of = |(k, g): (usize, &Group)| g.nodes().into_iter().map(move |at| (at, k));
        self.groups.iter().enumerate().flat_map(of).collect()
    }
}

/// The name of transforms that scalar extension, frames and outer products make.
pub use aplomb_values::dag::kinds::BROADCAST;

fn is_broadcast(node: &Node<NodeId>) -> bool {
    node.is_broadcast()
}

/// Whether a node moves elements and is more than scalar extension.
pub fn is_move(node: &Node<NodeId>) -> bool {
    node.role() == Role::Move && !is_broadcast(node)
}

/// The shape over which what follows a consumer runs.
fn outer(dag: &Dag, at: NodeId) -> Shape {
    if kind(dag.node(at)) == Kind::Compact { dag.domain(at).into() } else { dag.shape(at).into() }
}

fn kind(node: &Node<NodeId>) -> Kind {
    match node {
        Node::Reduce(_) => Kind::Reduce,
        Node::Scan(_) => Kind::Scan,
        Node::Compact(_) => Kind::Compact,
        Node::Whole(_) => Kind::Whole,
        _ => Kind::Map,
    }
}

/// Whether a domain is not worth a launch of its own.
pub fn is_small(domain: &[usize]) -> bool {
    domain.iter().map(|&d| d as f64).product::<f64>() * cost::READ_NS * 4.0 < LAUNCH_NS
}

#[cfg(test)]
mod tests;

//! Sharing recovery: which terms are shared, where each let belongs, and how the graph reads as lets.
//!
//! Rows: ACC-07, ACC-08, ACC-09. A shared term is a node with operands that is used more than once; leaves never float.
//! The let of a term stands just above the immediate dominator of all its uses, which is what the published algorithm
//! means (its printed form can leave a term unbound). At one node lets are ordered by height, ties by first visit.

use super::decide::glyph;
use crate::dag::{Dag, Node, NodeId};

/// A term bound once. `at`: the node just above which the let stands; None: above all roots.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    pub node: NodeId,
    pub at: Option<NodeId>,
}

/// Nodes with operands and more than one live edge into them.
pub fn shared(dag: &Dag, roots: &[NodeId]) -> Vec<NodeId> {
    let uses = dag.uses(roots);
    dag.ids().filter(|at| uses[at.index()] > 1 && !dag.node(*at).inputs().is_empty()).collect()
}

/// Where each shared term is bound, outermost first, in binding order at one node.
pub fn float(dag: &Dag, roots: &[NodeId]) -> Vec<Let> {
    let dominators = dominators(dag, roots);
    let height = heights(dag);
    let visit = first_visits(dag, roots);
    let mut lets: Vec<Let> =
        shared(dag, roots).into_iter().map(|node| Let { node, at: dominators[node.index()] }).collect();
    // A dominator is visited before what it dominates; no dominator means above all roots.
    let outer = |l: &Let| l.at.map_or(0, |at| visit[at.index()] + 1);
    lets.sort_by_key(|l| (outer(l), height[l.node.index()], visit[l.node.index()]));
    lets
}

/// The immediate dominator of each live node, seen from a virtual node above all roots (None).
fn dominators(dag: &Dag, roots: &[NodeId]) -> Vec<Option<NodeId>> {
    let live = dag.live(roots);
    // Depth 0 is the virtual root; `tree` is the dominator tree built so far, users first.
    let mut tree = Tree { up: vec![None; dag.len()], jump: vec![None; dag.len()], depth: vec![0; dag.len()] };
    let mut met: Vec<bool> = vec![false; dag.len()];
    for r in roots {
        met[r.index()] = true;
        tree.depth[r.index()] = 1;
    }
    let is_root: Vec<bool> = met.clone();
    for at in dag.ids().rev().filter(|at| live[at.index()]) {
        tree.place(at);
        for a in dag.node(at).inputs() {
            let k = a.index();
            let meet = if is_root[k] {
                None
            } else if !met[k] {
                Some(at)
            } else {
                tree.nearest(tree.up[k], Some(at))
            };
            met[k] = true;
            tree.up[k] = meet;
            tree.depth[k] = meet.map_or(0, |m| tree.depth[m.index()]) + 1;
        }
    }
    tree.up
}

/// A tree that grows at its leaves; ancestors are found in a logarithm of its depth by jumps (Myers 1983).
struct Tree {
    up: Vec<Option<NodeId>>,
    /// An ancestor further up; how far depends on the depth alone.
    jump: Vec<Option<NodeId>>,
    depth: Vec<u32>,
}

impl Tree {
    fn deep(&self, at: Option<NodeId>) -> u32 {
        at.map_or(0, |a| self.depth[a.index()])
    }

    /// `up` and `depth` of a node are final from here on.
    fn place(&mut self, at: NodeId) {
        let up = self.up[at.index()];
        let jump = |at: Option<NodeId>| at.and_then(|a| self.jump[a.index()]);
        let (near, far) = (jump(up), jump(jump(up)));
        let even = self.deep(up) - self.deep(near) == self.deep(near) - self.deep(far);
        self.jump[at.index()] = if even { far } else { up };
    }

    /// The nearest common ancestor.
    fn nearest(&self, a: Option<NodeId>, b: Option<NodeId>) -> Option<NodeId> {
        let (mut a, mut b) = (a?, b?);
        if self.depth[a.index()] < self.depth[b.index()] {
            std::mem::swap(&mut a, &mut b);
        }
        let level = self.depth[b.index()];
        while self.depth[a.index()] > level {
            let far = self.jump[a.index()].filter(|j| self.depth[j.index()] >= level);
            a = far.or(self.up[a.index()])?;
        }
        while a != b {
            let (far, other) = (self.jump[a.index()], self.jump[b.index()]);
            (a, b) = if far == other { (self.up[a.index()]?, self.up[b.index()]?) } else { (far?, other?) };
        }
        Some(a)
    }
}

fn heights(dag: &Dag) -> Vec<u32> {
    let mut height = vec![0; dag.len()];
    for at in dag.ids() {
        let below = dag.node(at).inputs().iter().map(|a| height[a.index()] + 1).max();
        height[at.index()] = below.unwrap_or(0);
    }
    height
}

/// Pre-order numbers, operands left to right.
fn first_visits(dag: &Dag, roots: &[NodeId]) -> Vec<usize> {
    let mut visit = vec![usize::MAX; dag.len()];
    let mut next = 0;
    let mut stack: Vec<NodeId> = roots.iter().rev().copied().collect();
    while let Some(at) = stack.pop() {
        if visit[at.index()] == usize::MAX {
            visit[at.index()] = next;
            next += 1;
            stack.extend(dag.node(at).inputs().iter().rev());
        }
    }
    visit
}

/// More nodes than this are not written out as text.
const LONGEST: usize = 400;

/// The pruned tree: each term at its first visit as `id@(…)`, later ones as placeholders `_id`.
pub fn pruned(dag: &Dag, roots: &[NodeId]) -> Option<String> {
    written(dag, roots, &[], true)
}

/// The graph as lets, named; then the same with de Bruijn indices.
pub fn bound(dag: &Dag, roots: &[NodeId], lets: &[Let]) -> Option<String> {
    let named = written(dag, roots, lets, false)?;
    let mut scope = Writer { dag, lets, pruned: false, indices: true, bound: Vec::new(), seen: vec![false; dag.len()] };
    Some(format!("{named}\n{}", scope.roots(roots)))
}

fn written(dag: &Dag, roots: &[NodeId], lets: &[Let], pruned: bool) -> Option<String> {
    let live = dag.live(roots).iter().filter(|l| **l).count();
    if live > LONGEST {
        return None;
    }
    let mut writer = Writer { dag, lets, pruned, indices: false, bound: Vec::new(), seen: vec![false; dag.len()] };
    Some(writer.roots(roots))
}

struct Writer<'a> {
    dag: &'a Dag,
    lets: &'a [Let],
    pruned: bool,
    indices: bool,
    /// Innermost last.
    bound: Vec<NodeId>,
    seen: Vec<bool>,
}

impl Writer<'_> {
    fn roots(&mut self, roots: &[NodeId]) -> String {
        let depth = self.bound.len();
        let open = self.open(None);
        let body: Vec<String> = roots.iter().map(|r| self.term(*r)).collect();
        self.bound.truncate(depth);
        open + &body.join(" ⋄ ")
    }

    /// The lets that stand just above a node.
    fn open(&mut self, above: Option<NodeId>) -> String {
        let mut out = String::new();
        for l in self.lets.iter().filter(|l| l.at == above).cloned().collect::<Vec<_>>() {
            let value = self.spelled(l.node);
            let name = if self.indices { String::new() } else { format!("{} = ", self.name(l.node)) };
            out += &format!("let {name}{value} in ");
            self.bound.push(l.node);
        }
        out
    }

    fn term(&mut self, at: NodeId) -> String {
        if let Some(k) = self.bound.iter().rev().position(|b| *b == at) {
            return if self.indices { format!("#{k}") } else { self.name(at) };
        }
        let is_leaf = self.dag.node(at).inputs().is_empty();
        if self.pruned && !is_leaf {
            if std::mem::replace(&mut self.seen[at.index()], true) {
                return format!("_{}", at.index());
            }
            return format!("{}@{}", at.index(), self.parenthesised(at));
        }
        self.spelled_in_place(at)
    }

    fn spelled_in_place(&mut self, at: NodeId) -> String {
        if self.dag.node(at).inputs().is_empty() { self.leaf(at) } else { self.parenthesised(at) }
    }

    fn parenthesised(&mut self, at: NodeId) -> String {
        format!("({})", self.spelled(at))
    }

    /// A node's own operation over its operands, with the lets that stand above it.
    fn spelled(&mut self, at: NodeId) -> String {
        let depth = self.bound.len();
        let open = self.open(Some(at));
        let glyph = glyph(self.dag, at);
        let args = self.dag.node(at).inputs().to_vec();
        let out = match args.as_slice() {
            [] => self.leaf(at),
            [x] => format!("{glyph} {}", self.term(*x)),
            args => {
                let texts: Vec<String> = args.iter().map(|a| self.term(*a)).collect();
                texts.join(&format!(" {glyph} "))
            }
        };
        self.bound.truncate(depth);
        open + &out
    }

    fn leaf(&self, at: NodeId) -> String {
        match self.dag.node(at) {
            Node::Input(_) => self.name(at),
            _ => glyph(self.dag, at),
        }
    }

    fn name(&self, at: NodeId) -> String {
        match &self.dag.info(at).name {
            Some(name) => name.to_string(),
            None => format!("n{}", at.index()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{DType, Shape};
    use crate::dag::{Info, Meta, Scalar};
    use crate::prim::op::Op;

    /// Graphs of any sharing: dominators found by jumps are those found step by step.
    #[test]
    fn dominators_are_the_nearest_common_ones() {
        let mut seed = 7u64;
        let mut roll = |n: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n
        };
        for round in 0..300 {
            let mut dag = Dag::default();
            let meta = Meta { shape: Shape::new(), dtype: DType::F64, range: None, place: None };
            let info = Info { meta, site: 0, name: None, asked: false, from: Vec::new(), born: 0 };
            let mut ids = vec![dag.add(Node::Const(Scalar::Num(0.5)), info.clone())];
            // Narrow windows make deep trees, wide ones shallow.
            let window = 1 + roll(if round % 2 == 0 { 3 } else { 40 });
            for _ in 0..120 {
                let mut pick = || ids[ids.len() - 1 - roll(window.min(ids.len()))];
                let args = [pick(), pick()].into_iter().collect();
                ids.push(dag.add(Node::Map { op: Op::Add, ct: 0.0, args }, info.clone()));
            }
            let roots = [ids[ids.len() - 1], ids[100]];
            let found = dominators(&dag, &roots);
            let live = dag.live(&roots);
            for at in dag.ids().filter(|at| live[at.index()]) {
                assert_eq!(found[at.index()], plain(&dag, &roots, at), "{round}: {at:?}");
            }
        }
    }

    /// The last node that every way from the roots to `at` passes: without it `at` is not reached.
    fn plain(dag: &Dag, roots: &[NodeId], at: NodeId) -> Option<NodeId> {
        let reached_without = |gone: NodeId| {
            let mut seen = vec![false; dag.len()];
            let mut stack: Vec<NodeId> = roots.iter().copied().filter(|r| *r != gone).collect();
            while let Some(n) = stack.pop() {
                if !std::mem::replace(&mut seen[n.index()], true) {
                    stack.extend(dag.node(n).inputs().iter().filter(|a| **a != gone));
                }
            }
            seen[at.index()]
        };
        dag.ids().skip(at.index() + 1).find(|d| dag.live(roots)[d.index()] && !reached_without(*d))
    }
}

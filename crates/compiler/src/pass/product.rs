//! The folds that are products of all pairs: a device computes them block by block, if nothing else
//! is in the launch.
//!
//! Rows: ACL-18, ACC-30. `plan::product::Factors` says the same of a launch that is written; this
//! says it of a node, before there are launches, so that nothing is merged with what would lose its
//! blocks by it. `(M+.×N)(M+.×P)` with 512 rows is two launches of 16 ms on two cores; folded
//! together, one result at a time, it takes 1.2 s.

use super::schedule::Why;
use aplomb_values::dag::{Dag, Node, NodeId, Role, kinds};
use std::collections::BTreeMap;

/// Rows or columns below which blocks do not pay.
const FEW: usize = 4;
/// Nodes that an operand is looked through; what is larger counts as depending on everything.
const LARGE: usize = 64;

/// Whether `at` folds a function of two operands, neither of which knows the other's own axes, and
/// has several of each.
pub fn is_product(dag: &Dag, keep: &BTreeMap<NodeId, Why>, at: NodeId) -> bool {
    let Node::Reduce(kinds::Reduce { src, axis, .. }) = dag.node(at) else { return false };
    let Node::Map(kinds::Map { op, args, .. }) = dag.node(*src) else { return false };
    let &[x, y] = args.as_slice() else { return false };
    if keep.contains_key(src) || dag.shape(*src).len() > 31 {
        return false;
    }
    let domain = dag.shape(*src);
    let others: Vec<usize> = (0..domain.len()).filter(|k| *k != *axis as usize).collect();
    let masks = [x, y].map(|a| Axes { dag, keep, left: LARGE }.of(a));
    let many = |axes: &[usize]| axes.iter().map(|k| domain[*k]).product::<usize>() >= FEW;
    let split = |left: u32, right: u32| {
        let Some(at) = others.iter().position(|k| right >> k & 1 == 1) else { return false };
        others[at..].iter().all(|k| left >> k & 1 == 0)
            && many(&others[..at])
            && many(&others[at..])
            && at > 0
    };
    split(masks[0], masks[1]) || op.is_commutative() && split(masks[1], masks[0])
}

struct Axes<'a> {
    dag: &'a Dag,
    keep: &'a BTreeMap<NodeId, Why>,
    left: usize,
}

impl Axes<'_> {
    /// The axes of a node's shape that its items depend on, as bits.
    fn of(&mut self, at: NodeId) -> u32 {
        let all = (1u32 << self.dag.shape(at).len()) - 1;
        let Some(left) = self.left.checked_sub(1) else { return all };
        self.left = left;
        if self.keep.contains_key(&at) {
            return all;
        }
        match self.dag.node(at) {
            node if node.role() == Role::Elementwise => {
                node.inputs().iter().fold(0, |mask, a| mask | self.of(*a))
            }
            Node::Transform(kinds::Transform { src, read, .. }) => {
                let below = self.of(*src);
                let own = read
                    .ix
                    .iter()
                    .enumerate()
                    .filter(|(k, _)| below >> k & 1 == 1)
                    .map(|(_, ix)| ix);
                let asked: Vec<_> = own.chain(read.tests.iter().map(|t| &t.ix)).collect();
                (0..self.dag.shape(at).len())
                    .filter(|axis| asked.iter().any(|ix| ix.mentions(*axis)))
                    .fold(0, |mask, axis| mask | 1 << axis)
            }
            _ => all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_values::dag::Read;
    use aplomb_values::dag::ix::Ix;
    use aplomb_values::prim::op::Op;

    /// A fold along the last axis of `rows` rows, 7 columns and 9 items of the product of what
    /// `make` gives for a matrix of rows and one of columns.
    fn says(rows: usize, make: impl Fn(&mut Dag, NodeId, NodeId) -> (NodeId, NodeId)) -> bool {
        let mut dag = Dag::default();
        let mut spread = |text: &str, axes: [usize; 2]| {
            let src = dag.parse(text).unwrap_or_else(|| panic!("{text}"));
            let mut info = dag.info(src).clone();
            info.meta.shape = [rows, 7, 9].as_slice().into();
            let read = Read::new(axes.map(Ix::axis));
            dag.add(
                Node::Transform(kinds::Transform { name: "broadcast", src, read, onto: false }),
                info,
            )
        };
        let x = spread(&format!("x:f64[{rows} 9]"), [0, 2]);
        let y = spread("y:f64[9 7]", [2, 1]);
        let (x, y) = make(&mut dag, x, y);
        let mut info = dag.info(x).clone();
        let src = dag.add(Node::map(Op::Mul, 0.0, [x, y]), info.clone());
        info.meta.shape.pop();
        let at = dag.add(Node::Reduce(kinds::Reduce { op: Op::Add, axis: 2, src }), info);
        is_product(&dag, &BTreeMap::new(), at)
    }

    #[test]
    fn a_fold_of_a_function_of_rows_and_columns_is_a_product() {
        assert!(says(8, |_, x, y| (x, y)));
        assert!(says(8, |_, x, y| (y, x)));
        assert!(says(8, |dag, x, y| {
            let info = dag.info(x).clone();
            (dag.add(Node::map(Op::Exp, 0.0, [x]), info), y)
        }));
    }

    #[test]
    fn few_rows_and_operands_that_know_both_are_none() {
        assert!(!says(3, |_, x, y| (x, y)));
        assert!(!says(8, |dag, x, y| {
            let info = dag.info(x).clone();
            (dag.add(Node::map(Op::Add, 0.0, [x, y]), info), y)
        }));
        assert!(!says(8, |_, x, _| (x, x)));
    }
}

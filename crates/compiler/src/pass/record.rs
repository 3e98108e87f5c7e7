//! record: the graph as the evaluator numbered it.
//!
//! Rows: ACC-10. In: cells, reachable from the roots, numbered in evaluation order. Out: the same.
//! Without `bind` or `prune` nothing recovers sharing, so the graph becomes the tree that the text
//! would be.

use super::fault::{self, Fault};
use super::reversal::{self, Reversal};
use super::work::Work;
use aplomb_ground::error::{Result, bug, limit};
use aplomb_values::dag::{Dag, NodeId};

/// A tree beyond this is refused: without sharing, sizes are exponential.
const LARGEST_TREE: usize = 20_000;

pub fn run(work: &mut Work) -> Result<()> {
    if work.options.has(Fault::SwapOperands) {
        fault::swap_operands(work);
    }
    if !work.options.hoists() {
        super::hoist::nested(work);
    }
    if work.options.keeps_sharing() {
        if let Some(Reversal::Unbound(term)) = work.options.reversal {
            let is_root = work.roots.contains(&term);
            work.rewrite(reversal::unbound(term, is_root));
        }
        return Ok(());
    }
    let mut tree = Dag::default();
    let roots = work.roots.clone();
    work.roots = roots.iter().map(|r| copy(&work.dag, *r, &mut tree)).collect::<Result<_>>()?;
    work.dag = tree;
    Ok(())
}

/// Copies a term operand by operand, with a list instead of the call stack.
fn copy(from: &Dag, root: NodeId, to: &mut Dag) -> Result<NodeId> {
    enum Step {
        Visit(NodeId),
        Build(NodeId),
    }
    let mut stack = vec![Step::Visit(root)];
    let mut done: Vec<NodeId> = Vec::new();
    while let Some(step) = stack.pop() {
        match step {
            Step::Visit(at) => {
                stack.push(Step::Build(at));
                stack.extend(from.node(at).inputs().iter().rev().map(|a| Step::Visit(*a)));
            }
            Step::Build(at) => {
                if to.len() >= LARGEST_TREE {
                    let why =
                        format!("without sharing this is a tree of more than {LARGEST_TREE} nodes");
                    return Err(limit(why).hint("]on sharing"));
                }
                let first = done.len() - from.node(at).inputs().len();
                let mut args = done.drain(first..).collect::<Vec<_>>().into_iter();
                let node = from.node(at).try_map_inputs(|_| {
                    args.next().ok_or_else(|| bug!("an operand was not built"))
                })?;
                done.push(to.add(node, from.info(at).clone()));
            }
        }
    }
    done.pop().ok_or_else(|| bug!("a root was not built"))
}

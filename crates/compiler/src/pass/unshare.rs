//! `--off exp-sharing`: equal values inside of a launch are computed once for each use.
//!
//! Rows: ACC-33. In: a graph and its kept nodes. Out: the graph with a copy of every other node for
//! each use after the first; kept nodes and leaves stay shared. Values and errors are the same,
//! work is not.

use super::lets;
use super::schedule::Why;
use super::work::Work;
use aplomb_ground::error::{Result, bug, limit};
use aplomb_values::dag::NodeId;
use std::collections::BTreeMap;

/// Bodies beyond this are refused: without sharing, sizes are exponential.
const LARGEST: usize = 20_000;

pub fn run(work: &mut Work) -> Result<()> {
    let schedule = work.schedule()?;
    let keep = &schedule.keep;
    let live = work.dag.live(&work.roots);
    let mut now: Vec<NodeId> = work.dag.ids().collect();
    let (mut taken, old) = (vec![false; work.dag.len()], work.dag.len());
    // Users are made after what they use, so a kept node's body is copied when the kept node is
    // reached.
    for at in work.dag.ids().filter(|at| live[at.index()]) {
        if !keep.contains_key(&at) && !work.roots.contains(&at) {
            continue;
        }
        now[at.index()] = copy(work, keep, at, &mut taken, &now)?;
        if work.dag.len() > old + LARGEST {
            return Err(limit(format!("without sharing this has more than {LARGEST} operations"))
                .hint("]on exp-sharing"));
        }
    }
    work.moved(&now);
    // What a let stood above may be a copy now, which reads another one.
    if !work.lets.is_empty() {
        work.bind(lets::float(&work.dag, &work.roots));
    }
    Ok(())
}

/// The body below a kept node, every node of it for each use; operands first, by a list instead of
/// the call stack.
fn copy(
    work: &mut Work,
    keep: &BTreeMap<NodeId, Why>,
    root: NodeId,
    taken: &mut [bool],
    now: &[NodeId],
) -> Result<NodeId> {
    enum Step {
        Visit(NodeId),
        Build(NodeId),
    }
    let (mut stack, mut done, mut made) = (vec![Step::Visit(root)], Vec::new(), 0);
    while let Some(step) = stack.pop() {
        match step {
            Step::Visit(at) => {
                let leaf = work.dag.node(at).inputs().is_empty();
                if at != root && keep.contains_key(&at) || leaf {
                    done.push(now[at.index()]);
                    continue;
                }
                stack.push(Step::Build(at));
                stack.extend(work.dag.node(at).inputs().iter().rev().map(|a| Step::Visit(*a)));
            }
            Step::Build(at) => {
                let args: Vec<NodeId> =
                    done.split_off(done.len() - work.dag.node(at).inputs().len());
                let same = work.dag.node(at).inputs() == args.as_slice();
                let first =
                    at.index() < taken.len() && !std::mem::replace(&mut taken[at.index()], true);
                if same && first {
                    done.push(at);
                    continue;
                }
                let mut args = args.into_iter();
                let node = work.dag.node(at).try_map_inputs(|_| {
                    args.next().ok_or_else(|| bug!("an operand was not built"))
                })?;
                done.push(work.dag.add(node, work.successor(at)));
                made += 1;
            }
        }
        if stack.len() > LARGEST || made > LARGEST {
            return Err(limit(format!("without sharing this has more than {LARGEST} operations"))
                .hint("]on exp-sharing"));
        }
    }
    done.pop().ok_or_else(|| bug!("a root was not built"))
}

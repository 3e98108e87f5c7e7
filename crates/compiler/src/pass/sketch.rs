//! Plans that are asked what they would cost: of launches before there is a schedule, and of a
//! whole schedule before it is told.

use super::emit::launch;
use super::need;
use super::schedule::{Group, Keep, Schedule};
use aplomb_ground::error::Result;
use aplomb_plans::plan::{BufId, Buffer, From, Plan};
use aplomb_values::dag::{Dag, NodeId};
use std::collections::BTreeMap;

/// The plan of a schedule as it is before it is told and copies are placed: what the whole of it
/// would cost is asked of it. Errors: a bug.
pub fn whole(dag: &Dag, roots: &[NodeId], schedule: &Schedule) -> Result<Plan> {
    let groups: Vec<&Group> = schedule.groups.iter().collect();
    let live = dag.live(roots);
    let given = dag.ids().filter(|at| live[at.index()] && dag.node(*at).is_input());
    let stored = schedule.keep.keys().copied().filter(|at| schedule.is_stored(*at));
    // In the order in which they will be written.
    let registers = need::waiting(dag, &schedule.keep, dag.ids());
    let mut plan = written(dag, &schedule.keep, &groups, (given.chain(stored), &registers))?;
    let is_root = |b: &Buffer| roots.contains(&b.node);
    let ids = plan.buffers.iter().enumerate().filter(|(_, b)| is_root(b));
    plan.roots = ids.map(|(k, _)| BufId(k as u32)).collect();
    Ok(plan)
}

/// A plan of these launches alone, each as if all that is kept were in memory, which `read` are of
/// what it reads: what it would cost is asked of it before there is a schedule. Errors: a bug.
pub fn sketch(
    dag: &Dag,
    keep: &Keep,
    groups: &[&Group],
    read: impl Iterator<Item = NodeId>,
) -> Result<Plan> {
    written(dag, keep, groups, (read.chain(groups.iter().flat_map(|g| g.nodes())), &[]))
}

/// A plan of launches in which these nodes have buffers; `registers` orders their steps.
fn written(
    dag: &Dag,
    keep: &Keep,
    groups: &[&Group],
    (stored, registers): (impl Iterator<Item = NodeId>, &[u32]),
) -> Result<Plan> {
    let mut plan = Plan::default();
    let mut buffers: BTreeMap<NodeId, BufId> = BTreeMap::new();
    for at in stored {
        buffers.entry(at).or_insert_with(|| {
            let (dtype, shape) = (dag.dtype(at), dag.shape(at).into());
            let (checked, from, last_use) = (false, From::Input(0), None);
            plan.buffers.push(Buffer { shape, dtype, checked, from, node: at, last_use });
            BufId(plan.buffers.len() as u32 - 1)
        });
    }
    for (k, group) in groups.iter().enumerate() {
        plan.launches.push(launch(dag, keep, group, &buffers, registers, k, &mut None)?);
    }
    Ok(plan)
}

//! A device's failure as APL's error, at the place where the operation was written.

use aplomb_devices::device::{DeviceError, Fault};
use aplomb_ground::error::{Error, internal, interrupt};
use aplomb_ground::limits::Budget;
use aplomb_values::dag::{NodeId, Recorded};
use aplomb_values::prim::scalar::Fail;
use aplomb_values::reference;

/// A device's error in the user's words, at the place the operation was written.
pub(super) fn error_of(error: DeviceError, recorded: &Recorded) -> Error {
    match error {
        DeviceError::Fault(Fault { site, index, fail, node: _ }) => {
            // Leaves have no site of their own: they cannot fail.
            let dag = &recorded.dag;
            let node = dag
                .ids()
                .find(|at| dag.info(*at).site == site && !dag.node(*at).inputs().is_empty());
            match node {
                Some(node) => {
                    let failure = reference::Failure { site, index, node, fail };
                    // What the host goes on with is no failure.
                    let first =
                        if fail == Fail::Unending { None } else { first_element(recorded, node) };
                    let failure = first.filter(|f| f.site == site).unwrap_or(failure);
                    reference::error_of(&failure, &recorded.dag, recorded.needed.as_ref())
                }
                None => nowhere(),
            }
        }
        error => of_step(error),
    }
}

/// The same of a step that no operation of a plan stands behind.
pub(super) fn of_step(error: DeviceError) -> Error {
    match error {
        DeviceError::Oom(error) => error,
        DeviceError::Interrupted => interrupt(),
        DeviceError::Lost => internal("the device is gone"),
        DeviceError::Broken(says) => internal(says),
        DeviceError::Fault(_) => nowhere(),
    }
}

fn nowhere() -> Error {
    internal("a failure without a place")
}

/// Evaluating so many elements again takes a moment at most.
const LOCATE: u64 = 4_000_000;

/// The failure that comes first in the operation's own order: a loop may have met it by another
/// element, through a reversed read. A large evaluation keeps the element that the loop met.
fn first_element(recorded: &Recorded, node: NodeId) -> Option<reference::Failure> {
    let live = recorded.dag.live(&[node]);
    let wanted = recorded.dag.ids().filter(|at| live[at.index()]).map(|at| {
        let rounds = recorded.dag.node(at).rounds().map_or(1, |body| u64::from(body.count));
        recorded.dag.elements(at).saturating_mul(rounds)
    });
    if wanted.fold(0, u64::saturating_add) > LOCATE {
        return None;
    }
    let (dag, inputs) = (recorded.dag.clone(), recorded.inputs.clone());
    let again = Recorded {
        dag,
        inputs,
        roots: vec![node],
        checked: 0,
        kept_ns: Vec::new(),
        written: Vec::new(),
        why: "locate",
        needed: None,
    };
    reference::evaluate(&again, &Budget::new(u64::MAX)).ok()?.err()
}

//! shape-uses: an array that is asked for its shape alone is not used by that.
//!
//! Rows: ACC-18. `⍴ ≢ ≡` of a pending array are answered when they are recorded; the node remembers
//! that it was asked. In: any graph. Out: such uses count no more, so what has one other use is
//! computed where that is. `--off shape-uses`: each array asked is one use more, and may have to be
//! stored for it.

use super::cost::Cost;
use super::decide::{About, Choice, Decision, WhyNot};
use super::fault::{self, Fault};
use super::find;
use super::sentences::Says;
use super::work::Work;
use aplomb_ground::error::Result;
use aplomb_values::dag::NodeId;

pub fn run(work: &mut Work) -> Result<()> {
    if work.options.has(Fault::DropValues) {
        fault::drop_values(work);
    }
    if !work.options.trace {
        return Ok(());
    }
    let live = work.dag.live(&work.roots);
    let asked: Vec<NodeId> =
        work.dag.ids().filter(|at| live[at.index()] && work.dag.info(*at).asked).collect();
    for at in asked {
        let (n, size) = (work.dag.elements(at), work.dag.dtype(at).size() as u64);
        let body = find::body(&work.dag, &Default::default(), at);
        let here = Cost::compute(n, body.ns, body.flops, body.reads, size);
        let about =
            About { at, what: "shape", reason: "shape-only", row: "ACC-18", switch: "shape-uses" };
        let (a, b) = (
            Choice { name: "drop", cost: here },
            Choice { name: "use", cost: here.plus(Cost::store(n, n, size)) },
        );
        work.decide(Decision::forced(about, a, b, WhyNot::Dearer, Says::ShapeOnly));
        work.note("shape-use", at, at, "only its shape is asked for");
    }
    Ok(())
}

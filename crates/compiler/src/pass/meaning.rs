//! meaning: the values of a graph before and after each pass, in debug builds.
//!
//! Rows: ACC-31. A wrong rewrite may leave a graph whose form is right. So a small graph is
//! computed by the reference as it was recorded, and again after each pass that made another of it:
//! it gives the same bits, or fails both times. Larger graphs, those with loops, and those that
//! overflow are not looked at. Cost: an evaluation of at most `MOST` elements for each pass that
//! rewrites.

use super::work::Work;
use aplomb_ground::limits::Budget;
use aplomb_values::array::Data;
use aplomb_values::dag::{NodeId, Recorded};
use aplomb_values::prim::scalar::Fail;
use aplomb_values::reference::evaluate;

/// Elements of all nodes together, and nodes.
const MOST: u64 = 1 << 12;
const NODES: usize = 256;
/// Bytes that an evaluation may take.
const ROOM: u64 = 1 << 24;

/// Shape and bits of each root; None: the evaluation fails.
type Values = Option<Vec<(Vec<usize>, Vec<u64>)>>;

/// The meaning of a graph: its values.
pub struct Meaning {
    /// None: nobody looks.
    wanted: Option<Values>,
    /// The graph that was looked at last.
    nodes: usize,
    roots: Vec<NodeId>,
}

impl Meaning {
    /// The values of the graph as it was recorded.
    pub fn of(work: &Work) -> Meaning {
        Meaning { wanted: values(work), nodes: work.dag.len(), roots: work.roots.clone() }
    }

    /// The check of what a pass made of it. Errors: a sentence.
    pub fn check(&mut self, work: &Work) -> Result<(), String> {
        if self.wanted.is_none() || (work.dag.len(), &work.roots) == (self.nodes, &self.roots) {
            return Ok(());
        }
        (self.nodes, self.roots) = (work.dag.len(), work.roots.clone());
        match values(work) {
            Some(now) if Some(&now) != self.wanted.as_ref() => {
                Err("the graph has other values than before".into())
            }
            _ => Ok(()),
        }
    }
}

/// None: it is too large, has loops, or nobody knows its inputs.
fn values(work: &Work) -> Option<Values> {
    let (dag, inputs) = (&work.dag, &work.recorded.inputs);
    let live = dag.live(&work.roots);
    let mut elements = 0u64;
    for at in dag.ids().filter(|at| live[at.index()]) {
        elements = elements.saturating_add(dag.elements(at).max(1));
        // Stories keep no values of inputs.
        let there = |k: u32| inputs.get(k as usize).map(|a| a.len() as u64);
        let known = dag.node(at).input().is_none_or(|k| there(k) == Some(dag.elements(at)));
        if elements > MOST || !known || dag.node(at).rounds().is_some() {
            return None;
        }
    }
    if dag.len() > NODES {
        return None;
    }
    let recorded = Recorded {
        dag: dag.clone(),
        roots: work.roots.clone(),
        checked: 0,
        kept_ns: Vec::new(),
        written: Vec::new(),
        inputs: inputs.clone(),
        why: work.recorded.why,
        needed: None,
    };
    let Ok(found) = evaluate(&recorded, &Budget::new(ROOM)) else { return None };
    let roots = match found {
        Ok(roots) => roots,
        // Nobody looks for an overflow in an element that is not read, and a pass may find that one
        // is not.
        Err(failure) if failure.fail == Fail::Overflow => return None,
        Err(_) => return Some(None),
    };
    let bits = |a: &aplomb_values::array::Array| {
        let all: Vec<f64> = match a.data() {
            Data::Dense(b) => b.view().each().collect(),
            Data::Num(x, _) => vec![*x],
            _ => return None,
        };
        // ¯0 is 0 wherever somebody looks.
        Some((a.shape().to_vec(), all.into_iter().map(|x| (x + 0.0).to_bits()).collect()))
    };
    roots.iter().map(bits).collect::<Option<Vec<_>>>().map(Some)
}

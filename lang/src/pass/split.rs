//! split: a launch that would read too many arrays becomes several.
//!
//! Rows: ACL-33. In: a schedule. Out: one in which no launch reads more than `--limit inputs=N` arrays. First no more nodes
//! join a launch than fit; then, inside of one body and in post-order, an operand is taken along only while what is read
//! and the operands still to come fit; else it is finished: written, and read as one array. (The printed loop of 2006
//! forgets the operands still to come and overflows on a chain that is nested to the left.)

use super::decide::{About, Choice, Decision, WhyNot, label};
use super::find;
use super::hash::Map;
use super::schedule::Why;
use super::work::Work;
use super::{cost, cost::Cost};
use crate::dag::{Dag, Node, NodeId};
use crate::error::{Result, bytes};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub fn run(work: &mut Work) -> Result<()> {
    let most = work.options.inputs.max(2);
    let Some(before) = work.permit(|allow| allow.inputs = Some(most)) else { return Ok(()) };
    let after = work.schedule();
    if Rc::ptr_eq(&before, &after) {
        return Ok(());
    }
    for (at, why) in &after.keep {
        let Why::Limit { name, need, have } = why else { continue };
        if before.keep.contains_key(at) {
            continue;
        }
        let (n, size) = (work.dag.elements(*at), work.dag.dtype(*at).size() as u64);
        let text = format!(
            "{} is finished first: with it the launch would read {need} arrays, and {have} is the limit; written and read it costs {}",
            label(&work.dag, *at),
            bytes(n.saturating_mul(2 * size))
        );
        let about = About { at: *at, what: "split", reason: "limit", row: "ACL-33", switch: "split" };
        let (a, b) = (
            Choice { name: "finish", cost: Cost::store(n, n, size) },
            Choice { name: "take-along", cost: Cost::default() },
        );
        work.decide(Decision::forced(about, a, b, WhyNot::Limit { name, need: *need, have: *have }, text));
    }
    let home = before.homes();
    for (k, group) in after.groups.iter().enumerate() {
        let nodes = group.nodes();
        let whole = home.get(&nodes[0]).filter(|g| nodes.iter().all(|n| home.get(n) == Some(g)));
        let was = whole.map(|g| &before.groups[*g]);
        let parted = was.is_some_and(|g| g.nodes().len() > nodes.len() && g.nodes()[0] == nodes[0]);
        if !parted {
            continue;
        }
        let need = was.map_or(0, |g| find::all_reads(&work.dag, &before.keep, &g.nodes()).len() as u64);
        let text = format!("k{k} leaves others out that would make it read {need} arrays; {most} is the limit");
        let about = About { at: nodes[0], what: "split", reason: "limit", row: "ACL-33", switch: "split" };
        let own = Cost { ns: cost::LAUNCH_NS, ..Cost::default() };
        let (a, b) = (Choice { name: "apart", cost: own }, Choice { name: "merge", cost: Cost::default() });
        let why = WhyNot::Limit { name: "inputs", need, have: most as u64 };
        work.decide(Decision::forced(about, a, b, why, text));
    }
    Ok(())
}

/// How many buffers one launch of all these nodes would read.
pub fn reads(dag: &Dag, keep: &BTreeMap<NodeId, Why>, nodes: Vec<NodeId>) -> usize {
    let own: BTreeSet<NodeId> = nodes.iter().copied().collect();
    find::all_reads(dag, keep, &nodes).into_iter().filter(|n| !own.contains(n)).count()
}

/// What must be kept so that the body of every kept node reads at most so many buffers.
pub fn cut(dag: &Dag, keep: &BTreeMap<NodeId, Why>, most: usize) -> BTreeMap<NodeId, Why> {
    let mut new = BTreeMap::new();
    for &at in keep.keys() {
        if find::all_reads(dag, keep, &[at]).len() > most {
            finish(dag, keep, at, most, &mut new);
        }
    }
    new
}

/// Walks one body in post-order. A node's set is what computing it in place would read.
fn finish(dag: &Dag, keep: &BTreeMap<NodeId, Why>, root: NodeId, most: usize, new: &mut BTreeMap<NodeId, Why>) {
    let is_leaf = |at: NodeId| at != root && keep.contains_key(&at) || dag.node(at).inputs().is_empty();
    let mut sets: Map<NodeId, BTreeSet<NodeId>> = Map::default();
    let mut stack = vec![(root, false)];
    while let Some((at, ready)) = stack.pop() {
        if sets.contains_key(&at) {
            continue;
        }
        if is_leaf(at) || new.contains_key(&at) {
            let counts = !dag.shape(at).is_empty() && !matches!(dag.node(at), Node::Const(_) | Node::Iota { .. });
            sets.insert(at, counts.then_some(at).into_iter().collect());
            continue;
        }
        let args = dag.node(at).inputs();
        if !ready {
            stack.push((at, true));
            stack.extend(args.iter().rev().map(|a| (*a, false)));
            continue;
        }
        let mut own: BTreeSet<NodeId> = BTreeSet::new();
        for (k, a) in args.iter().enumerate() {
            let theirs = sets.get(a).cloned().unwrap_or_default();
            let waiting = args[k + 1..].iter().filter(|b| !dag.shape(**b).is_empty()).count();
            let need = own.union(&theirs).count() + waiting;
            if need <= most || is_leaf(*a) || new.contains_key(a) || dag.shape(*a).is_empty() {
                own.extend(theirs);
                continue;
            }
            new.insert(*a, Why::Limit { name: "inputs", need: need as u64, have: most as u64 });
            sets.insert(*a, [*a].into());
            own.insert(*a);
        }
        sets.insert(at, own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::tests::recorded;
    use crate::pass::{NoClock, Options, compile};

    /// Small launches of one stage would merge again, where what they read fits.
    fn launches(term: &str, inputs: usize) -> usize {
        let mut options = Options { inputs, ..Options::default() };
        options.switch("horizontal", false).expect("a switch");
        compile(&recorded(&[term]), &options, &mut NoClock).unwrap_or_else(|e| panic!("{e}")).plan.launches.len()
    }

    fn chain(n: usize, left: bool) -> String {
        (1..n).fold("a0:f64[9]".into(), |sum, k| match left {
            true => format!("(add {sum} a{k}:f64[9])"),
            false => format!("(add a{k}:f64[9] {sum})"),
        })
    }

    fn balanced(from: usize, n: usize) -> String {
        if n == 1 {
            return format!("a{from}:f64[9]");
        }
        let half = n - n / 2;
        format!("(add {} {})", balanced(from, half), balanced(from + half, n - half))
    }

    /// GOLDENS §1.2.
    #[test]
    fn acl_33_launches_of_a_sum_of_many_arrays() {
        let table = [
            (8, [2, 3, 5, 6, 7, 9, 10, 12], [2, 4, 5, 8, 9, 9, 15, 17]),
            (16, [1, 2, 2, 3, 4, 4, 5, 6], [1, 2, 2, 4, 4, 5, 8, 8]),
            (32, [1, 1, 1, 2, 2, 2, 3, 3], [1, 1, 1, 2, 2, 2, 4, 4]),
        ];
        for (most, chained, halved) in table {
            for (k, (chained, halved)) in chained.into_iter().zip(halved).enumerate() {
                let n = 10 * (k + 1);
                for left in [true, false] {
                    assert_eq!(launches(&chain(n, left), most), chained, "{n} arrays, {most} a launch, left {left}");
                }
                assert_eq!(launches(&balanced(0, n), most), halved, "{n} arrays in halves, {most} a launch");
            }
        }
    }

    #[test]
    fn acl_33_each_launch_reads_at_most_so_many_and_the_reason_says_why() {
        let options = Options { inputs: 16, trace: true, ..Options::default() };
        let c = compile(&recorded(&[&chain(40, true)]), &options, &mut NoClock).expect("a plan");
        let mut counts: Vec<usize> =
            c.plan.launches.iter().map(|l| l.loads.iter().map(|x| x.buf).collect::<BTreeSet<_>>().len()).collect();
        counts.sort();
        assert_eq!(counts, [10, 16, 16]);
        let reasons: Vec<&str> =
            c.trace.passes.last().expect("passes").breaks.iter().map(|b| b.reason.as_str()).collect();
        assert_eq!(reasons.iter().filter(|r| **r == "limit:inputs(17>16)").count(), 2, "{reasons:?}");
        assert!(c.trace.decisions.iter().any(|d| d.what == "split" && d.alt[0].why_not == "limit:inputs(17>16)"));
        // Forty terms over ten arrays read ten.
        let few = (1..40).fold("a0:f64[9]".to_string(), |sum, k| format!("(add {sum} a{}:f64[9])", k % 10));
        assert_eq!(launches(&few, 16), 1);
    }

    #[test]
    fn acl_33_launches_merge_only_while_what_they_read_fits() {
        let sums: Vec<String> = (0..4).map(|k| format!("(add a{k}:f64[9] (mul b{k}:f64[9] c{k}:f64[9]))")).collect();
        let terms: Vec<&str> = sums.iter().map(String::as_str).collect();
        let count = |inputs| {
            let options = Options { inputs, ..Options::default() };
            compile(&recorded(&terms), &options, &mut NoClock).expect("a plan").plan.launches.len()
        };
        assert_eq!((count(64), count(6), count(5), count(3)), (1, 2, 4, 4));
    }
}

//! split: a launch that would need too much of a device becomes several.
//!
//! Rows: ACL-33. In: a schedule. Out: one in which no launch reads more arrays, has more steps,
//! parameters or registers than `--limit` says. First no more nodes join a launch than fit; then,
//! inside of one body and in post-order, an operand is taken along only while what is needed and
//! the operands still to come fit; else it is finished: written, and read as one array. (The
//! printed loop of 2006 forgets the operands still to come and overflows on a chain that is nested
//! to the left.) Where registers are short, what is used again last is finished, as a spill would
//! choose; but a spill goes to memory in each thread, and this is an array that others may read.

use super::decide::{About, Choice, Decision, WhyNot};
use super::hash::Map;
use super::need::{self, Alive, Need};
use super::reversal::Reversal;
use super::schedule::{Keep, Why};
use super::sentences::Says;
use super::work::Work;
use super::{cost, cost::Cost};
use aplomb_ground::error::Result;
use aplomb_ground::limits::LaunchLimits;
use aplomb_values::dag::{Dag, NodeId};

pub fn run(work: &mut Work) -> Result<()> {
    let limits = work.options.limits;
    let Some(change) = work.change()? else { return Ok(()) };
    let (before, after) = (&change.before, &change.after);
    for (at, why) in change.kept() {
        let Why::Limit { name, need, have } = why else { continue };
        if before.keep.contains_key(&at) {
            continue;
        }
        let (n, size) = (work.dag.elements(at), work.dag.dtype(at).size() as u64);
        let about = About { at, what: "split", reason: "limit", row: "ACL-33", switch: "split" };
        let (a, b) = (
            Choice { name: "finish", cost: Cost::store(n, n, size) },
            Choice { name: "take-along", cost: Cost::default() },
        );
        let because = WhyNot::Limit { name, need: *need, have: *have };
        let decision = Decision::forced(about, a, b, because, Says::Finished);
        work.decide(decision.or(Reversal::Unlimited(name)));
    }
    if change.edits.is_empty() {
        return Ok(());
    }
    let home = before.homes();
    for group in &after.groups {
        let nodes = group.nodes();
        let whole = home.get(&nodes[0]).filter(|g| nodes.iter().all(|n| home.get(n) == Some(g)));
        let was = whole.map(|g| before.groups[*g].nodes());
        let parted = was.filter(|was| was.len() > nodes.len() && was[0] == nodes[0]);
        let short = parted.and_then(|was| need::over(&work.dag, &before.keep, &was, &limits));
        let Some((name, need, have)) = short else { continue };
        let about =
            About { at: nodes[0], what: "split", reason: "limit", row: "ACL-33", switch: "split" };
        let own = Cost { ns: cost::LAUNCH_NS, ..Cost::default() };
        let (a, b) =
            (Choice { name: "apart", cost: own }, Choice { name: "merge", cost: Cost::default() });
        let because = WhyNot::Limit { name, need, have };
        let decision = Decision::forced(about, a, b, because, Says::LeavesOut);
        work.decide(decision.or(Reversal::Unlimited(name)));
    }
    Ok(())
}

/// The nodes to keep so that the body of every kept node is within limits.
pub fn cut(dag: &Dag, keep: &Keep, limits: &LaunchLimits) -> Keep {
    let mut new = Keep::new();
    for &at in keep.keys() {
        let (need, inside) = need::whole(dag, keep, &[at]);
        if need.over(limits, &Need::default()).is_some() {
            finish(dag, keep, at, limits, &mut new);
        } else if let Some(body) = Alive::crowded(dag, keep, &[at], inside, limits) {
            relieve(dag, keep, &body, limits, &mut new);
        }
    }
    new
}

/// Walks one body in post-order. A node's need is that of computing it in place; what two operands
/// share is the first's.
fn finish(dag: &Dag, keep: &Keep, root: NodeId, limits: &LaunchLimits, new: &mut Keep) {
    let is_leaf =
        |at: NodeId| at != root && keep.contains_key(&at) || dag.node(at).inputs().is_empty();
    let mut needs: Map<NodeId, Need> = Map::default();
    let mut stack = vec![(root, false)];
    while let Some((at, ready)) = stack.pop() {
        if needs.contains_key(&at) {
            continue;
        }
        if is_leaf(at) || new.contains_key(&at) {
            let is_made = dag.node(at).inputs().is_empty() && !need::is_read(dag, keep, at);
            needs.insert(at, if is_made { Need::of_step(dag, at) } else { Need::of_load(dag, at) });
            continue;
        }
        let args = dag.node(at).inputs();
        if !ready {
            stack.push((at, true));
            stack.extend(args.iter().rev().map(|a| (*a, false)));
            continue;
        }
        let mut own = Need::of_step(dag, at);
        for (k, a) in args.iter().enumerate() {
            // An operand that stands twice is needed once.
            let theirs = needs.remove(a).unwrap_or_default();
            let mut waiting = Need { parameters: need::WORD, ..Need::default() };
            for b in args[k + 1..].iter().filter(|b| !dag.shape(**b).is_empty()) {
                waiting.take(&Need::of_load(dag, *b));
            }
            let mut both = own.clone();
            both.take(&theirs);
            let stays = is_leaf(*a) || new.contains_key(a) || dag.shape(*a).is_empty();
            own = match both.over(limits, &waiting).filter(|_| !stays) {
                None => {
                    // Whoever else uses it has its steps for nothing, but must read what it reads.
                    needs.insert(*a, Need { inputs: theirs.inputs, ..Need::default() });
                    both
                }
                Some((name, need, have)) => {
                    new.insert(*a, Why::Limit { name, need, have });
                    let load = Need::of_load(dag, *a);
                    own.take(&load);
                    needs.insert(*a, load);
                    own
                }
            };
        }
        needs.insert(at, own);
    }
}

/// Finishes what is used again last wherever more is alive than registers hold.
fn relieve(dag: &Dag, keep: &Keep, body: &Alive, limits: &LaunchLimits, new: &mut Keep) {
    let is_made = |at: NodeId| !need::is_read(dag, keep, at) && !dag.node(at).inputs().is_empty();
    body.walk(|k, alive, inner| {
        while need::registers(alive.len() + inner) > limits.registers {
            let next = |v: usize| body.uses[v].iter().find(|use_| **use_ > k).copied();
            let can = |v: &usize| {
                *v != k && is_made(body.order[*v]) && !dag.shape(body.order[*v]).is_empty()
            };
            let last = alive.iter().copied().filter(can).max_by_key(|v| (next(*v), *v));
            let Some(last) = last else { return };
            let need = need::registers(alive.len() + inner) as u64;
            alive.remove(&last);
            new.insert(
                body.order[last],
                Why::Limit { name: "registers", need, have: limits.registers as u64 },
            );
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::tests::recorded;
    use crate::pass::{NoClock, Options, compile};
    use std::collections::BTreeSet;

    fn reading(inputs: usize) -> LaunchLimits {
        LaunchLimits { inputs, ..LaunchLimits::default() }
    }

    /// Small launches of one stage would merge again, where what they read fits.
    fn launches(term: &str, inputs: usize) -> usize {
        let mut options = Options { limits: reading(inputs), ..Options::default() };
        options.switch("horizontal", false).expect("a switch");
        compile(&recorded(&[term]), &options, &mut NoClock)
            .unwrap_or_else(|e| panic!("{e}"))
            .plan
            .launches
            .len()
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
                    assert_eq!(
                        launches(&chain(n, left), most),
                        chained,
                        "{n} arrays, {most} a launch, left {left}"
                    );
                }
                assert_eq!(
                    launches(&balanced(0, n), most),
                    halved,
                    "{n} arrays in halves, {most} a launch"
                );
            }
        }
    }

    #[test]
    fn acl_33_each_launch_reads_at_most_so_many_and_the_reason_says_why() {
        let options = Options { limits: reading(16), trace: true, ..Options::default() };
        let c = compile(&recorded(&[&chain(40, true)]), &options, &mut NoClock).expect("a plan");
        let mut counts: Vec<usize> = c
            .plan
            .launches
            .iter()
            .map(|l| l.loads.iter().map(|x| x.buf).collect::<BTreeSet<_>>().len())
            .collect();
        counts.sort();
        assert_eq!(counts, [10, 16, 16]);
        let reasons: Vec<&str> = c
            .trace
            .passes
            .last()
            .expect("passes")
            .breaks
            .iter()
            .map(|b| b.reason.as_str())
            .collect();
        assert_eq!(
            reasons.iter().filter(|r| **r == "limit:inputs(17>16)").count(),
            2,
            "{reasons:?}"
        );
        assert!(
            c.trace
                .decisions
                .iter()
                .any(|d| d.what == "split" && d.alt[0].why_not == "limit:inputs(17>16)")
        );
        // Forty terms over ten arrays read ten.
        let few = (1..40)
            .fold("a0:f64[9]".to_string(), |sum, k| format!("(add {sum} a{}:f64[9])", k % 10));
        assert_eq!(launches(&few, 16), 1);
    }

    /// The plan of a term, and what stands for each of its launches' resource.
    fn within(
        term: &str,
        limits: LaunchLimits,
        of: impl Fn(&aplomb_plans::plan::Launch) -> usize,
    ) -> (Vec<usize>, Vec<String>) {
        let options = Options { limits, trace: true, ..Options::default() };
        let c =
            compile(&recorded(&[term]), &options, &mut NoClock).unwrap_or_else(|e| panic!("{e}"));
        let breaks = c.trace.passes.last().expect("passes").breaks.iter().map(|b| b.reason.clone());
        (
            c.plan.launches.iter().map(of).collect(),
            breaks.filter(|r| r.starts_with("limit:")).collect(),
        )
    }

    #[test]
    fn acl_33_a_long_body_is_cut_into_texts_of_so_many_steps() {
        let long = (0..100).fold("a:f64[9]".to_string(), |x, _| format!("(exp {x})"));
        for (code, launches) in [(200, 1), (101, 1), (100, 2), (30, 4), (4, 34)] {
            let limits = LaunchLimits { code, ..LaunchLimits::default() };
            let (steps, reasons) = within(&long, limits, |l| l.body.len());
            assert_eq!(steps.len(), launches, "{steps:?} {reasons:?}");
            assert!(steps.iter().all(|n| *n <= code), "{steps:?}");
            assert_eq!(reasons.len(), launches - 1);
            assert!(
                reasons.iter().all(|r| r == &format!("limit:code({}>{code})", code + 1)),
                "{reasons:?}"
            );
        }
    }

    #[test]
    fn acl_33_parameters_are_counted_in_bytes() {
        // An array of rank 4 takes an address and eight extents and strides; a number takes a word.
        let arrays = (1..20)
            .fold("a0:f64[2 3 2 3]".into(), |sum, k| format!("(add {sum} a{k}:f64[2 3 2 3])"));
        let numbers =
            (1..200).fold("a:f64[9]".to_string(), |x, k| format!("(exp (add {x} {k}.5))"));
        for (term, parameters, launches) in
            [(&arrays, 4_096, 1), (&arrays, 512, 4), (&numbers, 4_096, 1), (&numbers, 512, 4)]
        {
            let limits = LaunchLimits { parameters, ..LaunchLimits::default() };
            let (k, reasons) = within(term, limits, |l| l.loads.len());
            assert_eq!(
                (k.len(), reasons.len()),
                (launches, launches - 1),
                "{parameters}: {reasons:?}"
            );
            assert!(reasons.iter().all(|r| r.starts_with("limit:parameters(")), "{reasons:?}");
        }
    }

    /// Each of these values is used when all are there, and again in the other order.
    #[test]
    fn acl_33_registers_are_counted_by_allocation_and_the_value_used_last_is_finished() {
        let value = |k: usize| format!("(exp (add a:f64[9] {k}.5))");
        let there = (1..40).fold(value(0), |sum, k| format!("(add {sum} {})", value(k)));
        let back = (0..39).rev().fold(value(39), |sum, k| format!("(sub {} {sum})", value(k)));
        let term = format!("(div {there} {back})");
        for registers in [255, 64, 32] {
            let limits = LaunchLimits { registers, ..LaunchLimits::default() };
            let alive = |l: &aplomb_plans::plan::Launch| {
                need::registers(crate::pass::export::live_max(&l.body) as usize)
            };
            let (taken, reasons) = within(&term, limits, alive);
            assert_eq!(taken.len() > 1, registers < 90, "{registers}: {taken:?} {reasons:?}");
            assert!(reasons.iter().all(|r| r.starts_with("limit:registers(")), "{reasons:?}");
            // The text's own order may keep a few more alive.
            assert!(taken.iter().all(|n| *n <= registers + 16), "{registers}: {taken:?}");
        }
    }

    #[test]
    fn acl_33_launches_merge_only_while_what_they_read_fits() {
        let sums: Vec<String> =
            (0..4).map(|k| format!("(add a{k}:f64[9] (mul b{k}:f64[9] c{k}:f64[9]))")).collect();
        let terms: Vec<&str> = sums.iter().map(String::as_str).collect();
        let count = |inputs| {
            let options = Options { limits: reading(inputs), ..Options::default() };
            compile(&recorded(&terms), &options, &mut NoClock).expect("a plan").plan.launches.len()
        };
        assert_eq!((count(64), count(6), count(5), count(3)), (1, 2, 4, 4));
    }
}

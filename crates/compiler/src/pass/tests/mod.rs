//! Launch counts of small graphs, with each switch off, and what the verifier must refuse.

mod texts;

use super::*;
use aplomb_ground::limits::Budget;
use aplomb_values::dag::{Dag, Node};

/// A recorded graph whose roots are these terms; inputs hold 1 2 3 ….
pub(crate) fn recorded(terms: &[&str]) -> Recorded {
    let mut dag = Dag::default();
    let roots = terms.iter().map(|t| dag.parse(t).unwrap_or_else(|| panic!("{t}"))).collect();
    let budget = Budget::new(1 << 30);
    let mut inputs = Vec::new();
    for at in dag.ids().filter(|at| matches!(dag.node(*at), Node::Input(_))) {
        let n = dag.elements(at) as usize;
        let items: Vec<f64> = (0..n).map(|i| (i % 7 + 1) as f64).collect();
        let items = std::sync::Arc::new(
            aplomb_values::array::Buf::stored(&items, dag.dtype(at), &budget).expect("memory"),
        );
        inputs.push(Array::dense(dag.shape(at), items));
    }
    let (kept_ns, written, why) = (Vec::new(), Vec::new(), "test");
    Recorded { dag, roots, checked: 0, kept_ns, written, inputs, why, needed: None }
}

fn compiled(terms: &[&str], off: &[&str]) -> Compiled {
    compiled_from(&recorded(terms), off)
}

/// A graph through all passes but those that are off, with its trace.
pub(crate) fn compiled_from(recorded: &Recorded, off: &[&str]) -> Compiled {
    let mut options = Options { trace: true, ..Options::default() };
    off.iter().for_each(|name| options.switch(name, false).unwrap_or_else(|e| panic!("{e}")));
    compile(recorded, &options, &mut NoClock).unwrap_or_else(|e| panic!("{e}"))
}

#[track_caller]
fn launches(terms: &[&str], off: &[&str], wanted: usize) {
    let c = compiled(terms, off);
    let listing: Vec<String> = c.plan.launches.iter().map(aplomb_plans::plan::listing).collect();
    assert_eq!(c.plan.launches.len(), wanted, "{terms:?} off {off:?}\n{}", listing.join("\n"));
}

#[test]
fn maps_fuse_to_one_launch() {
    launches(&["(add (mul 2 x:f64[9]) 1)"], &[], 1);
    launches(&["(add (mul 2 x:f64[9]) 1)"], &["fusion"], 2);
    launches(&["(add (mul 2 x:f64[9]) 1)"], &["fuse-producers"], 2);
}

#[test]
fn a_reduction_reads_its_producers() {
    launches(&["(reduce-add 0 (mul a:f64[9] b:f64[9]))"], &[], 1);
    launches(&["(reduce-add 0 (mul a:f64[9] b:f64[9]))"], &["embed-consumers"], 2);
}

#[test]
fn an_epilogue_joins_its_reduction() {
    launches(&["(mul 2 (reduce-add 1 a:f64[3 4]))"], &[], 1);
    launches(&["(mul 2 (reduce-add 1 a:f64[3 4]))"], &["embed-consumers"], 2);
}

#[test]
fn index_transforms_become_reads() {
    launches(&["(add 1 (reverse a:f64[9]))"], &[], 1);
    launches(&["(reverse (add 1 a:f64[9]))"], &[], 1);
    let term = "(add 1 (reverse (mul 2 a:f64[9])))";
    launches(&[term], &[], 1);
    // Without push-down the transform is written on its way.
    let written = |off: &[&str]| compiled(&[term], off).plan.buffers.len();
    assert_eq!((written(&[]), written(&["push-down"])), (2, 3));
    launches(&["(reverse (reverse a:f64[9]))"], &[], 0);
    launches(&["(reverse (reverse a:f64[9]))"], &["simplify"], 1);
}

#[test]
fn two_roots_of_one_domain_are_one_launch_with_two_outputs() {
    let terms = ["(add (exp a:f64[9]) 1)", "(sub (exp a:f64[9]) 1)"];
    launches(&terms, &[], 1);
    assert_eq!(compiled(&terms, &[]).plan.roots.len(), 2);
    launches(&terms, &["horizontal"], 2);
}

#[test]
fn what_two_launches_need_is_stored_unless_it_is_light() {
    // Centring: the difference reads the mean, so a is read twice; e* is dear, + is not.
    let dear = "(sub (exp a:f64[90]) (reduce-add 0 (exp a:f64[90])))";
    let cheap = "(sub (add 1 a:f64[90]) (reduce-add 0 (add 1 a:f64[90])))";
    let stored = |term: &str| compiled(&[term], &[]).plan.buffers.len();
    launches(&[dear], &[], 2);
    launches(&[cheap], &[], 2);
    assert_eq!((stored(dear), stored(cheap)), (4, 3));
}

#[test]
fn a_read_through_a_part_keeps_what_may_fail() {
    let c = compiled(&["(add 1 (div 1 a:f64[9]))"], &[]);
    assert_eq!(c.plan.launches.len(), 1);
}

#[test]
fn constants_fold_to_no_launch() {
    launches(&["(add 2 3)"], &[], 0);
    assert!(matches!(
        &compiled(&["(add 2 3)"], &[]).answers[0],
        Answer::Scalar(_, aplomb_values::dag::Scalar::Num(5.0))
    ));
}

#[test]
fn every_decision_has_a_reason_and_a_costed_alternative() {
    let c = compiled(&["(sub (exp a:f64[90]) (reduce-add 0 (exp a:f64[90])))"], &[]);
    assert!(!c.trace.decisions.is_empty());
    for d in &c.trace.decisions {
        assert!(
            !d.reason.is_empty() && !d.alt.is_empty() && !d.text.is_empty() && !d.seed.is_empty(),
            "{d:?}"
        );
    }
}

#[test]
fn without_bind_the_graph_is_a_tree_and_cse_finds_it_again() {
    let term = "(mul (exp a:f64[9]) (exp a:f64[9]))";
    let live = |off: &[&str]| {
        compiled(&[term], off).trace.passes.iter().map(|p| p.live).collect::<Vec<_>>()
    };
    let last = |off| live(off).last().copied();
    assert_eq!(last(&[]), last(&["bind"]));
    assert!(last(&["sharing"]) > last(&[]));
}

#[test]
fn switches_are_known_by_name() {
    let mut options = Options::default();
    assert!(options.switch("fusion", false).is_ok());
    assert!(options.is_off("push-down"));
    assert!(options.switch("emit", false).is_err());
    assert!(options.switch("nonsense", false).unwrap_err().contains("fuse-producers"));
}

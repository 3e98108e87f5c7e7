//! The changes of passes, as edits that a person can read; and edits that are not legal.

use super::edit::{Edit, How};
use super::legal::{self, Illegal};
use super::policy::Policy;
use super::{Schedule, Why, beside, draft};
use crate::pass::tests::recorded;
use crate::pass::work::Work;
use crate::pass::{Options, PIPELINE};
use aplomb_ground::limits::Interrupt;
use std::collections::BTreeMap;

/// The edits of each pass of the default pipeline that changes the schedule of a term.
fn edits(terms: &[&str], off: &[&str]) -> String {
    let recorded = recorded(terms);
    let mut options = Options { trace: true, ..Options::default() };
    off.iter().for_each(|name| options.switch(name, false).expect("a switch"));
    let mut work = Work::new(&recorded, &options, Interrupt::default());
    let mut out = String::new();
    let mut tell = |name: &str, edits: &[Edit]| {
        for edit in edits {
            out += &format!("{name}: {edit}\n");
        }
    };
    for (k, pass) in PIPELINE.iter().enumerate().filter(|(_, p)| !options.is_off(p.name)) {
        work.begin(k);
        if let Some(policy) = pass.asks {
            work.ask(policy).expect("asked");
        }
        let before = work.before.clone();
        (pass.run)(&mut work).expect("a pass");
        let after = work.schedule().expect("a schedule");
        if let Some(before) = before {
            tell(pass.name, &before.difference(&work.dag, &after));
        }
    }
    out
}

fn shows(terms: &[&str], off: &[&str], want: &str) {
    let want: String = want.lines().map(|l| format!("{}\n", l.trim())).skip(1).collect();
    let got = edits(terms, off);
    assert_eq!(got.trim(), want.trim(), "{terms:?} without {off:?}");
}

#[test]
fn a_pass_is_what_it_edits() {
    let chain = "(exp (reverse (mul x:f64[5000] y:f64[5000])))";
    let mean = "(div (reduce-add 0 (exp x:f64[5000])) 5000)";
    let rows = ["(reduce-add 1 (exp x:f64[50 90]))", "(exp x:f64[50 90])"];
    let two = ["(add x:f64[5000] 1)", "(mul x:f64[5000] 2)"];
    shows(
        &[chain],
        &[],
        "
        push-down: inline n3
        fuse-producers: inline n2",
    );
    shows(
        &[chain],
        &["push-down"],
        "
        fuse-producers: inline n3
        fuse-producers: keep n2 off:push-down",
    );
    shows(
        &[mean],
        &[],
        "
        fuse-producers: keep n2 random-access
        embed-consumers: inline n2
        embed-consumers: fuse n3 n5 epilogue",
    );
    shows(
        &rows,
        &[],
        "
        cse: inline n4
        cse: keep n2 root
        embed-consumers: fuse n2 n3 embed",
    );
    shows(
        &two,
        &[],
        "
        horizontal: fuse n2 n4 same-pass",
    );
    shows(&two, &["horizontal"], "");
}

/// The launches that are written to merge n of two kinds, by turns: the second kind reads a term of
/// the first.
fn written(n: usize) -> usize {
    let terms = (1..=n).flat_map(|k| {
        let own = format!("(mul y:f64[5000] {k})");
        [
            format!("(reduce-add 0 (mul x:f64[5000] {own}))"),
            format!("(reduce-add 0 (mul {own} {own}))"),
        ]
    });
    let terms: Vec<String> = terms.collect();
    let recorded = recorded(&terms.iter().map(String::as_str).collect::<Vec<_>>());
    let mut options = Options::default();
    options.switch("horizontal", false).expect("a switch");
    let mut work = Work::new(&recorded, &options, Interrupt::default());
    let asked = PIPELINE.iter().filter(|p| !options.is_off(p.name)).filter_map(|p| p.asks);
    asked.for_each(|policy| work.policies = work.policies.and(policy));
    let apart = draft(&work.dag, &work.roots, &[], work.policies, &work.stop).expect("a schedule");
    let (mut of, mut groups) = (BTreeMap::new(), Vec::new());
    for (k, group) in apart.groups.iter().enumerate() {
        of.extend(group.nodes().into_iter().map(|at| (at, k)));
        groups.push(Some(group.clone()));
    }
    let policies = work.policies.and(Policy::Domains);
    let written =
        beside::merged(&work.dag, &apart.keep, &mut groups, &mut of, policies, &work.stop);
    assert!(groups.iter().flatten().count() <= apart.groups.len().div_ceil(32), "{n}");
    written.expect("merged")
}

#[test]
fn merging_grows_with_the_launches() {
    let (few, many) = (written(40), written(400));
    assert!(many <= 14 * few, "{few} {many}");
    assert!(many <= 12 * 800, "{many}");
}

#[test]
fn edits_that_change_the_meaning_are_refused() {
    let recorded = recorded(&["(reduce-add 0 (mul x:f64[5000] y:f64[5000]))"]);
    let (dag, roots) = (&recorded.dag, &recorded.roots);
    let options = Options::default();
    let work = Work::new(&recorded, &options, Interrupt::default());
    let now = draft(dag, roots, &[], work.policies, &work.stop).expect("a schedule");
    let check = |edit| legal::check(dag, roots, &now, &edit);
    let root = roots[0];
    let map = dag.node(root).inputs()[0];
    assert_eq!(check(Edit::Inline(root)), Err(Illegal::Must(Why::Consumer)));
    assert_eq!(check(Edit::Keep(dag.node(map).inputs()[0], Why::Consumer)), Err(Illegal::Leaf));
    let far = Edit::Fuse { into: root, with: map, how: How::Embed };
    assert_eq!(check(far), Err(Illegal::Nowhere));
    let start = Schedule::start(dag, roots);
    let one = Edit::Fuse { into: map, with: root, how: How::Embed };
    let fused = start.apply(dag, std::slice::from_ref(&one));
    assert_eq!(fused.groups.len(), 1);
    assert_eq!(legal::check(dag, roots, &fused, &one), Ok(()));
    assert_eq!(fused.difference(dag, &start), [Edit::Split(root)]);
}

//! The text of small launches.

use crate::pass;
use aplomb_ground::trace::Cuda;
use aplomb_plans::kir::*;
use aplomb_plans::plan::Plan;

fn plan(term: &str) -> std::rc::Rc<Plan> {
    let recorded = super::recorded(&[term]);
    let compiled = pass::compile(&recorded, &pass::Options::default(), &mut pass::NoClock);
    compiled.unwrap_or_else(|e| panic!("{e}")).plan
}

fn texts(term: &str) -> Vec<Cuda> {
    let plan = plan(term);
    let one = |(k, launch)| cuda(&code(&plan, launch, k).unwrap_or_else(|e| panic!("{term}: {e}")));
    plan.launches.iter().enumerate().map(one).collect()
}

/// The first launch's text where a thread takes so many points.
fn with_items(term: &str, items: u32) -> String {
    let plan = plan(term);
    let tuning = Tuning { items: Some(items), ..Tuning::default() };
    let code = tuned(&plan, &plan.launches[0], 0, tuning).unwrap_or_else(|e| panic!("{term}: {e}"));
    canonical(&code.kernels[0])
}

#[test]
fn a_map_is_one_statement_a_node_and_each_line_has_its_node() {
    let all = texts("(add (mul 2 x:f64[9]) 1)");
    let cuda = &all[0];
    assert!(cuda.text.contains("double v1 = p0 * v0;  // n2"), "{}", cuda.text);
    for (line, nodes) in &cuda.lines {
        let text = cuda.text.lines().nth(*line as usize - 1).unwrap_or_default();
        assert!(text.ends_with(&format!("// n{}", nodes[0])), "{text}");
    }
    assert_eq!(cuda.numbers.iter().map(|n| n.1).collect::<Vec<_>>(), [2.0, 1.0]);
}

#[test]
fn the_loop_of_a_sum_of_products_has_no_division() {
    let all = texts("(reduce-add 0 (mul a:f64[9] b:f64[9]))");
    let text = &all[0].text;
    for line in text.lines().filter_map(|l| l.split_once("  // n")).map(|l| l.0) {
        assert!(!line.contains('/') && !line.contains('%'), "{line}");
    }
    assert!(text.contains("__shared__"));
}

#[test]
fn text_does_not_depend_on_sizes_or_constants() {
    let one = texts("(add (mul 2 (reverse x:f64[9])) 1)");
    let two = texts("(add (mul 5 (reverse x:f64[70])) 3)");
    assert_eq!(one[0].text, two[0].text);
}

#[test]
fn every_fold_shape_has_a_text() {
    for term in [
        "(reduce-add 1 a:f64[3 4])",
        "(reduce-max 0 a:f64[3 4])",
        "(mul 2 (reduce-add 1 (exp a:f64[3 4])))",
        "(reduce-add 1 (transpose a:f32[3 4]))",
    ] {
        assert_eq!(texts(term).len(), 1, "{term}");
    }
}

#[test]
fn a_fold_with_an_epilogue_stores_only_what_is_read() {
    let text = &texts("(mul 2 (reduce-add 1 (exp a:f64[3 4])))")[0].text;
    assert_eq!(text.matches("__restrict__ r").count(), 1, "{text}");
}

/// ACL-02, BAR-06: vectors of 16 bytes of the widest array, one statement a node inside.
#[test]
fn contiguous_arrays_are_read_and_written_in_vectors() {
    let text = &texts("(add (mul 2 x:f64[9]) y:f64[9])")[0].text;
    assert!(text.contains("((double2*)u0)[0] = __ldg((const double2*)(a0 + at))"), "{text}");
    assert!(text.contains("__stwb((double2*)(r0 + at), ((double2*)z0)[0])"), "{text}");
    assert!(text.contains("aligned(r0 + lo, 16) ? n / 512 * 512 : 0"), "{text}");
    let floats = &texts("(add x:f32[9] y:f32[9])")[0].text;
    assert!(floats.contains("(const float4*)(a1 + at)"), "{floats}");
    // A comparison's result is a byte: two of them go with two doubles.
    let mask = &texts("(gt x:f64[9] y:f64[9])")[0].text;
    assert!(mask.contains("(uchar2*)(r0 + at)") && mask.contains("aligned(r0 + lo, 2)"), "{mask}");
    let bools = &texts("(lcm x:bool[9] y:bool[9])")[0].text;
    assert!(bools.contains("((uint2*)u1)[0] = __ldg((const uint2*)(a1 + at))"), "{bools}");
}

/// ACL-21: what lies as the result does needs no coordinates, whatever its rank.
#[test]
fn an_elementwise_matrix_has_no_index_arithmetic() {
    let text = &texts("(add a:f64[3 4] (mul 2 b:f64[3 4]))")[0].text;
    assert!(
        text.contains("double2") && !text.contains("x0") && !text.contains("div_floor"),
        "{text}"
    );
    // What is read the other way round does.
    let text = &texts("(add a:f64[3 4] (transpose b:f64[4 3]))")[0].text;
    assert!(text.contains("double2") && text.contains("x1"), "{text}");
}

#[test]
fn reads_elsewhere_stay_single_in_the_loop_of_vectors() {
    let text = &texts("(add x:f64[9] (reverse y:f64[9]))")[0].text;
    assert!(text.contains("(const double2*)(a0 + at)") && !text.contains("a1 + at"), "{text}");
    assert_eq!(text.matches("a1[").count(), 2, "{text}");
}

#[test]
fn a_fold_has_independent_partial_results() {
    let text = &texts("(reduce-max 0 (mul a:f64[9] b:f64[9]))")[0].text;
    assert!(
        text.contains("alignas(16) double f0[4];") && text.contains("f0[e] = most(f0[e], "),
        "{text}"
    );
    assert!(text.contains("((double2*)u0)[1] = __ldg((const double2*)(a0 + at + 512))"), "{text}");
    let rows = &texts("(reduce-add 1 a:f64[3 2000])")[0].text;
    assert!(rows.contains("(const double2*)(a0 + o * m0 + at)"), "{rows}");
}

#[test]
fn the_points_of_a_thread_can_be_tuned() {
    let term = "(add (mul 2 x:f64[9]) y:f64[9])";
    assert!(!with_items(term, 1).contains("double2"));
    assert!(with_items(term, 2).contains("double u0[2]"));
    assert!(
        with_items(term, 8).contains("((double2*)u0)[3] = __ldg((const double2*)(a0 + at + 1536))")
    );
    // Heavy bodies are left with one.
    assert!(!texts("(exp (ln (exp (ln (exp x:f64[9])))))")[0].text.contains("whole"));
}

/// BAR-06, ACC-26: what a tuner may choose, the launch as it comes first.
#[test]
fn candidates_are_those_of_the_same_bits() {
    let all = |term: &str| {
        let plan = plan(term);
        code(&plan, &plan.launches[0], 0).unwrap_or_else(|e| panic!("{term}: {e}")).candidates()
    };
    let texts = |term: &str| all(term).iter().map(Tuning::says).collect::<Vec<_>>().join("; ");
    let map = "2 points a thread; 1 point a thread; 4 points a thread; 8 points a thread; \
               2 points a thread, 128 threads a block; 2 points a thread, 512 threads a block";
    assert_eq!(texts("(mul 2 x:f64[9])"), map);
    assert!(texts("(lcm x:bool[9] y:bool[9])").contains("16 points a thread"));
    for term in ["(reduce-add 0 x:f64[9])", "(reduce-max 1 x:f64[3 4])", "(mul 2 x:f64[])"] {
        assert_eq!(all(term).len(), 1, "{term}");
    }
    // Each is another text, and of the same arguments but for the ticket.
    let plan = plan("(mul 2 x:f64[9])");
    let text =
        |t: &Tuning| canonical(&tuned(&plan, &plan.launches[0], 0, *t).expect("a text").kernels[0]);
    let own: std::collections::BTreeSet<String> =
        all("(mul 2 x:f64[9])").iter().map(text).collect();
    let threads = |text: &str| threads(text).expect("bounds");
    assert_eq!(own.len(), 6);
    assert!(own.iter().all(|t| t.contains(&format!("__launch_bounds__({})", threads(t)))));
    assert_eq!(
        own.iter().map(|t| threads(t)).collect::<std::collections::BTreeSet<_>>(),
        [128, 256, 512].into()
    );
}

/// Whether a broken plan is told: stopped where debug assertions stand, an error of a defect in a
/// release.
fn is_told(broken: &Plan) -> bool {
    use aplomb_ground::error::Kind;
    let text = || code(broken, &broken.launches[0], 0);
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(text));
    done.is_err() || done.is_ok_and(|made| made.is_err_and(|e| e.kind() == Kind::Internal))
}

#[test]
fn a_broken_launch_has_no_text() {
    use aplomb_plans::plan::What;
    use aplomb_values::dag::ix::Ix;
    let mut broken = (*plan("(recip (reverse x:f64[9]))")).clone();
    assert!(!is_told(&broken));
    // An axis that the launch does not have was read as place 0.
    broken.launches[0].loads[0].read.ix = vec![Ix::axis(3)];
    assert!(is_told(&broken));

    let mut broken = (*plan("(reverse x:f64[9])")).clone();
    broken.launches[0].body[0].what = What::State { of: 0, result: 0 };
    assert!(is_told(&broken));
}

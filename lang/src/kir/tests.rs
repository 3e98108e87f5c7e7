//! The text of small launches.

use super::*;
use crate::pass;

fn texts(term: &str) -> Vec<Cuda> {
    let recorded = crate::pass::tests::recorded(&[term]);
    let compiled = pass::compile(&recorded, &pass::Options::default(), &mut pass::NoClock);
    cuda(&compiled.unwrap_or_else(|e| panic!("{e}")).plan)
        .into_iter()
        .map(|one| one.unwrap_or_else(|e| panic!("{term}: {e}")))
        .collect()
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
    let body = &text[text.find("for (").unwrap_or(0)..text.find("__shared__").unwrap_or(text.len())];
    assert!(!body.contains('/') || body.matches('/').count() == 2 * body.matches("// n").count(), "{body}");
    assert!(!body.contains('%'), "{body}");
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

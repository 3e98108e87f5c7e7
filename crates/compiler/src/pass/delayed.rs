//! Delayed arrays: Done, Yield and Step, the three forms that tell how an array is made.
//!
//! Rows: ACC-13, ACC-14, ACC-15. Done is an array in memory, or one that a fold or an operation on
//! whole arrays makes. Step is one array read at p, with f applied to what is read. Yield is a
//! function from the index to the value. A form is a view of the launch that runs: the slice of its
//! body that ends at a node's value. One array read and operations on it are a Step, anything else
//! is a Yield; so `1+⌽A` and `⌽1+A`, which are one body, are one form.

use super::formula::{Formulas, places};
use super::work::Work;
use aplomb_ground::error::Result;
use aplomb_values::body::{ValueId, What};
use aplomb_values::dag::{Node, NodeId};

/// The array or arrays that a slice of a body reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrays {
    None,
    /// By the value that reads it.
    One(ValueId),
    Several,
}

impl Arrays {
    fn and(self, other: Arrays) -> Arrays {
        match (self, other) {
            (one, other) if one == other => one,
            (Arrays::None, some) | (some, Arrays::None) => some,
            _ => Arrays::Several,
        }
    }
}

/// The loops that `compute` chooses among, the most special first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Identity,
    Map,
    Backpermute,
    Transform,
    Generate,
}

impl Form {
    /// The name, as the paper has it.
    pub fn name(self) -> &'static str {
        match self {
            Form::Identity => "Identity",
            Form::Map => "Map",
            Form::Backpermute => "Backpermute",
            Form::Transform => "Transform",
            Form::Generate => "Generate",
        }
    }
}

/// The forms of the values of one list of a launch's steps.
pub struct Forms<'a> {
    formulas: Formulas<'a>,
    /// By value: the arrays that its slice reads.
    arrays: Vec<Arrays>,
}

impl<'a> Forms<'a> {
    /// One walk over the steps, for slices overlap.
    pub fn of(formulas: Formulas<'a>) -> Forms<'a> {
        let mut arrays: Vec<Arrays> = Vec::with_capacity(formulas.steps.len());
        for (k, step) in formulas.steps.iter().enumerate() {
            let at = k as ValueId;
            let own = match &step.what {
                // A function of the index.
                What::Index { .. } => Arrays::Several,
                // Its places are part of p.
                What::Gather { .. } | What::Reduced(_) => Arrays::One(at),
                What::Load(k) if formulas.is_array(*k) => Arrays::One(at),
                what => {
                    let read = |v: &ValueId| match formulas.is_stored(*v) {
                        true => Arrays::One(*v),
                        false => arrays[*v as usize],
                    };
                    what.args().iter().map(read).fold(Arrays::None, Arrays::and)
                }
            };
            arrays.push(own);
        }
        Forms { formulas, arrays }
    }

    /// `Step(p=4-i, f=1+x)`.
    pub fn text(&self, value: ValueId) -> String {
        let Some(array) = self.array(value) else {
            return format!("Yield(f={})", self.formulas.text(value, None));
        };
        let (read, along) = (self.formulas.read(array), self.formulas.moved_by(array));
        let p = match along.is_empty() && read.is_identity() {
            true => "id".into(),
            false => places(&read, &along),
        };
        let f = match array == value {
            true => "id".into(),
            false => self.formulas.text(value, Some(array)),
        };
        format!("Step(p={p}, f={f})")
    }

    /// The value by which a Step reads its array; None: a Yield.
    fn array(&self, value: ValueId) -> Option<ValueId> {
        match self.arrays[value as usize] {
            Arrays::One(array) => Some(array),
            Arrays::None | Arrays::Several => None,
        }
    }

    /// The loop that makes an array of this shape; the first that fits.
    pub fn compute(&self, value: ValueId, shape: &[usize]) -> Form {
        let Some(array) = self.array(value) else { return Form::Generate };
        let own_place = !self.formulas.is_moved(array) && self.formulas.read(array).is_identity();
        let own_place = own_place && shape == self.formulas.shape(array);
        match (own_place, array == value) {
            (true, true) => Form::Identity,
            (true, false) => Form::Map,
            (false, true) => Form::Backpermute,
            (false, false) => Form::Transform,
        }
    }
}

/// Counts which constructors met where producers lost their arrays: a pair of fused nodes is one
/// use of a rule.
pub fn count(work: &mut Work) -> Result<()> {
    let schedule = work.schedule()?;
    let live = work.dag.live(&work.roots);
    let dag = &work.dag;
    let mut met = Vec::new();
    for at in dag.ids().filter(|at| live[at.index()] && !is_done(dag.node(*at))) {
        let arrays = dag.node(at).inputs().iter().filter(|a| !dag.shape(**a).is_empty());
        let several = arrays.clone().count() > 1;
        let fused = arrays.filter(|a| !schedule.keep.contains_key(a) && !dag.node(**a).is_input());
        met.extend(fused.filter_map(|a| {
            let outer = if several { "zipWith" } else { kind(dag.node(at)) };
            Some((rule(outer, kind(dag.node(*a)))?, *a, at))
        }));
    }
    for (rule, at, into) in met {
        work.note(rule, at, into, "the operand has no array of its own");
    }
    Ok(())
}

/// Whether a node is an array in memory by its kind.
pub fn is_done(node: &Node<NodeId>) -> bool {
    node.is_given() || node.consumes().is_some()
}

/// The name of a pair of fused nodes in the counters.
fn kind(node: &Node<NodeId>) -> &'static str {
    match node {
        Node::Map(_) => "map",
        Node::Transform(_) => "backpermute",
        Node::Iota(_) => "generate",
        other => other.kind(),
    }
}

/// The counters' names (ACC-14).
const RULES: &[&str] = &[
    "map/map",
    "map/backpermute",
    "map/generate",
    "map/cat",
    "map/gather",
    "backpermute/map",
    "backpermute/backpermute",
    "backpermute/generate",
    "backpermute/cat",
    "backpermute/gather",
    "zipWith/map",
    "zipWith/backpermute",
    "zipWith/generate",
    "zipWith/cat",
    "zipWith/gather",
];

fn rule(outer: &str, inner: &str) -> Option<&'static str> {
    RULES.iter().find(|r| r.split_once('/') == Some((outer, inner))).copied()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{compiled_from, recorded};
    use super::*;
    use aplomb_values::dag::ix::Ix;
    use aplomb_values::dag::{Read, kinds};
    use aplomb_values::prim::op::Op;

    /// The form of the last root, as the passes leave it without rewrites.
    fn form_of(terms: &[&str], change: impl FnOnce(&mut aplomb_values::dag::Recorded)) -> String {
        let mut recorded = recorded(terms);
        change(&mut recorded);
        let compiled = compiled_from(&recorded, &["simplify", "cse"]);
        let made = compiled.trace.nodes.iter().rev().find(|n| n.uses > 0 && n.kind != "const");
        made.and_then(|n| n.attr.delayed.clone()).expect("a form")
    }

    fn of_text(term: &str) -> String {
        form_of(&[term], |_| ())
    }

    #[test]
    fn acc_13_done_yield_step() {
        let table = [
            ("(add 1 A:f64[5])", "Step(p=id, f=1+x) → Map"),
            ("(reverse A:f64[5])", "Step(p=4-i, f=id) → Backpermute"),
            ("(add 1 (reverse A:f64[5]))", "Step(p=4-i, f=1+x) → Transform"),
            ("(reverse (add 1 A:f64[5]))", "Step(p=4-i, f=1+x) → Transform"),
            ("(reverse (reverse A:f64[5]))", "Step(p=id, f=id) → Identity"),
            ("(neg (transpose M:f64[2 3]))", "Step(p=j, i, f=-x) → Transform"),
            ("(mul 2 (add 1 A:f64[5]))", "Step(p=id, f=2×1+x) → Map"),
            ("(mul (add 1 A:f64[5]) 2)", "Step(p=id, f=(1+x)×2) → Map"),
            ("(sqrt (add 1 A:f64[5]))", "Step(p=id, f=(1+x)*0.5) → Map"),
            ("(mul (add 1 A:f64[5]) (reverse A:f64[5]))", "Yield(f=(1+A[i])×A[4-i]) → Generate"),
            ("(reverse (add A:f64[5] B:f64[5]))", "Yield(f=A[4-i]+B[4-i]) → Generate"),
        ];
        for (term, text) in table {
            assert_eq!(of_text(term), text, "{term}");
        }
    }

    /// A formula with every operation in brackets, read as APL reads: from the right.
    fn in_full(text: &str) -> String {
        fn phrase(rest: &mut Vec<char>) -> String {
            let mut right = term(rest);
            while let Some(glyph) = rest.pop_if(|c| *c != '(') {
                let dyadic =
                    rest.last().is_some_and(|c| c.is_alphanumeric() || *c == ')' || *c == ']');
                let left = if dyadic { term(rest) } else { String::new() };
                right = format!("({left}{glyph}{right})");
            }
            right
        }
        fn term(rest: &mut Vec<char>) -> String {
            match rest.pop() {
                Some(')') => {
                    let inner = phrase(rest);
                    assert_eq!(rest.pop(), Some('('));
                    inner
                }
                Some(']') => {
                    let mut text = String::from("]");
                    while let Some(c) = rest.pop_if(|c| *c != '[') {
                        text.insert(0, c);
                    }
                    rest.pop();
                    format!("{}[{text}", rest.pop().expect("a name"))
                }
                other => other.expect("a name").to_string(),
            }
        }
        let mut rest: Vec<char> = text.chars().collect();
        let read = phrase(&mut rest);
        assert!(rest.is_empty(), "{text}");
        read
    }

    /// A random term of a depth, as a graph's text and with every operation in brackets.
    fn random(depth: u32, state: &mut u64) -> (String, String) {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let pick = *state >> 33;
        if depth == 0 || pick.is_multiple_of(7) {
            let name = ["a", "b", "c"][pick as usize / 7 % 3];
            return (format!("{name}:f64[5]"), format!("{name}[i]"));
        }
        let (x, said_x) = random(depth - 1, state);
        if pick % 7 == 1 {
            return (format!("(neg {x})"), format!("(-{said_x})"));
        }
        let (y, said_y) = random(depth - 1, state);
        let (name, glyph) =
            [("sub", "-"), ("mul", "×"), ("add", "+"), ("max", "⌈")][pick as usize / 7 % 4];
        (format!("({name} {x} {y})"), format!("({said_x}{glyph}{said_y})"))
    }

    #[test]
    fn formulas_read_back_as_what_they_are_of() {
        let mut state = 7;
        for _ in 0..500 {
            let (term, wanted) = random(4, &mut state);
            let text = of_text(&format!("(add {term} (reverse z:f64[5]))"));
            let formula = text.trim_start_matches("Yield(f=").strip_suffix(") → Generate");
            let formula = formula.expect("a formula");
            if !formula.contains('…') {
                assert_eq!(in_full(formula), format!("({wanted}+z[4-i])"), "{formula}");
            }
        }
    }

    #[test]
    fn acc_15_a_part_keeps_its_places_but_not_its_shape() {
        let part = |n: usize, from: i64, step: i64, then: bool| {
            form_of(&["A:f64[5]"], |recorded| {
                let (dag, src) = (&mut recorded.dag, recorded.roots[0]);
                let mut info = dag.info(src).clone();
                (info.name, info.meta.shape) = (None, [n].as_slice().into());
                let read = Read::new([Ix::axis(0).times(step).offset(from)]);
                let taken =
                    Node::Transform(kinds::Transform { name: "↑", src, read, onto: false });
                let mut at = dag.add(taken, info.clone());
                if then {
                    let args = [dag.parse("1").expect("a number"), at].into_iter().collect();
                    at = dag.add(Node::Map(kinds::Map { op: Op::Add, ct: 0.0, args }), info);
                }
                recorded.roots = vec![at];
            })
        };
        assert_eq!(part(3, 0, 1, false), "Step(p=id, f=id) → Backpermute");
        assert_eq!(part(3, 0, 1, true), "Step(p=id, f=1+x) → Transform");
        assert_eq!(part(3, 2, -1, false), "Step(p=2-i, f=id) → Backpermute");
        let iota = |then: bool| {
            form_of(&["2"], |recorded| {
                let (dag, two) = (&mut recorded.dag, recorded.roots[0]);
                let mut info = dag.info(two).clone();
                info.meta.shape = [5].as_slice().into();
                let mut at = dag.add(Node::Iota(kinds::Iota { origin: 1.0 }), info.clone());
                if then {
                    let args = [two, at].into_iter().collect();
                    at = dag.add(Node::Map(kinds::Map { op: Op::Mul, ct: 0.0, args }), info);
                }
                recorded.roots = vec![at];
            })
        };
        assert_eq!(iota(false), "Yield(f=(i+1)) → Generate");
        assert_eq!(iota(true), "Yield(f=2×(i+1)) → Generate");
    }

    /// Equal delayed arrays have equal forms, whichever way they were written, for they are one
    /// body: the reads of the two are one, and so are the steps.
    #[test]
    fn acc_14_the_constructors_meet() {
        let pairs = [
            ("(neg (reverse A:f64[5]))", "(reverse (neg A:f64[5]))"),
            ("(reverse (reverse (neg A:f64[5])))", "(neg A:f64[5])"),
            (
                "(reverse (mul A:f64[5] (reverse B:f64[5])))",
                "(mul (reverse A:f64[5]) (reverse (reverse B:f64[5])))",
            ),
        ];
        for (one, other) in pairs {
            assert_eq!(of_text(one), of_text(other), "{one}");
            let steps = |term: &str| {
                let compiled = compiled_from(&recorded(&[term]), &["simplify", "cse"]);
                let launch = &compiled.plan.launches[0];
                let what: Vec<_> = launch.body.iter().map(|s| s.what.clone()).collect();
                let reads: Vec<_> = launch.loads.iter().map(|l| l.read.clone()).collect();
                (what, reads)
            };
            assert_eq!(steps(one), steps(other), "{one}");
        }
    }

    #[test]
    fn acc_14_rules_are_counted() {
        let term = "(add (neg (neg a:f64[5])) (reverse (reverse (neg b:f64[5]))))";
        let trace = compiled_from(&recorded(&[term]), &["simplify", "cse"]).trace;
        let names: Vec<&str> = trace.rules.keys().map(|rule| &**rule).collect();
        let wanted = [
            "backpermute/backpermute",
            "backpermute/map",
            "map/map",
            "zipWith/backpermute",
            "zipWith/map",
        ];
        assert_eq!(names, wanted);
    }
}

//! Rewrites of single nodes: each is a name, a row, a text before and after that is its test, and a
//! function.
//!
//! Rows: BAR-04, ACC-15, ACL-38. Rules for rules: the right side never costs more; a value never
//! changes, not in the last bit and not in whether it fails; no general commuting; `never` looks
//! like `before` and must stay.

use super::schedule::BROADCAST;
use aplomb_values::array::{DType, Shape};
use aplomb_values::dag::{Dag, Info, Node, NodeId, Read, kinds};
use aplomb_values::prim::op::{Fails, Op};
use aplomb_values::prim::scalar;

/// A rewrite of a node.
pub struct Rule {
    /// The name that decisions and `--off` use.
    pub name: &'static str,
    /// The row of the literature behind it.
    pub row: &'static str,
    /// Why it holds, for the trace.
    pub pre: &'static str,
    /// The text of a node that it rewrites.
    pub before: &'static str,
    /// The text of what it makes of that.
    pub after: &'static str,
    /// Texts that look like `before` and stay.
    pub never: &'static [&'static str],
    /// The rewrite: the node in the given one's place, None where it does not hold.
    pub apply: fn(&mut Dag, NodeId) -> Option<NodeId>,
}

/// All rules, in the order they are tried.
pub static RULES: &[Rule] = &[
    Rule {
        name: "fold",
        row: "BAR-04",
        pre: "operands are constants",
        before: "(mul 2 3)",
        after: "6",
        never: &["(div 1 0)", "(mul x:f64 3)"],
        apply: fold,
    },
    Rule {
        name: "add-zero",
        row: "BAR-04",
        pre: "integers have no ¯0",
        before: "(add n:i32[4] 0)",
        after: "n:i32[4]",
        never: &["(add x:f64[4] 0)", "(add n:i32 1)"],
        apply: |dag, at| right_unit(dag, at, Op::Add, 0.0, true),
    },
    Rule {
        name: "zero-add",
        row: "BAR-04",
        pre: "integers have no ¯0",
        before: "(add 0 n:i32[4])",
        after: "n:i32[4]",
        never: &["(add 0 x:f64[4])"],
        apply: |dag, at| left_unit(dag, at, Op::Add, 0.0, true),
    },
    Rule {
        name: "conjugate",
        row: "BAR-04",
        pre: "only real numbers are recorded",
        before: "(conj x:f64[4])",
        after: "x:f64[4]",
        never: &["(neg x:f64[4])"],
        apply: |dag, at| match dag.node(at) {
            Node::Map(kinds::Map { op: Op::Conj, args, .. }) => Some(args[0]),
            _ => None,
        },
    },
    Rule {
        name: "sub-zero",
        row: "BAR-04",
        pre: "x-0 is x, also for ¯0",
        before: "(sub x:f64[4] 0)",
        after: "x:f64[4]",
        never: &["(sub 0 x:f64[4])"],
        apply: |dag, at| right_unit(dag, at, Op::Sub, 0.0, false),
    },
    Rule {
        name: "mul-one",
        row: "BAR-04",
        pre: "x×1 is x",
        before: "(mul x:f64[4] 1)",
        after: "x:f64[4]",
        never: &["(mul x:f64 2)", "(mul x:char[4] 1)"],
        apply: |dag, at| right_unit(dag, at, Op::Mul, 1.0, false),
    },
    Rule {
        name: "one-mul",
        row: "BAR-04",
        pre: "1×x is x",
        before: "(mul 1 x:f64[4])",
        after: "x:f64[4]",
        never: &["(mul 2 x:f64[4])"],
        apply: |dag, at| left_unit(dag, at, Op::Mul, 1.0, false),
    },
    Rule {
        name: "div-one",
        row: "BAR-04",
        pre: "x÷1 is x",
        before: "(div x:f64[4] 1)",
        after: "x:f64[4]",
        never: &["(div 1 x:f64[4])", "(div n:i32[4] 1)"],
        apply: |dag, at| right_unit(dag, at, Op::Div, 1.0, false),
    },
    Rule {
        name: "pow-half",
        row: "BAR-04",
        pre: "x*0.5 means √x",
        before: "(pow x:f64[4] 0.5)",
        after: "(sqrt x:f64[4])",
        never: &["(pow x:f64[4] 1.5)", "(pow 0.5 x:f64[4])"],
        apply: |dag, at| power(dag, at, 0.5, |dag, x, info| monadic(dag, Op::Sqrt, x, info)),
    },
    Rule {
        name: "pow-two",
        row: "BAR-04",
        pre: "x*2 means x×x",
        before: "(pow x:f64[4] 2)",
        after: "(mul x:f64[4] x:f64[4])",
        never: &["(pow x:f64[4] 3)", "(pow n:i32[4] 2)"],
        apply: |dag, at| {
            power(dag, at, 2.0, |dag, x, info| dag.add(Node::map(Op::Mul, 0.0, [x, x]), info))
        },
    },
    Rule {
        name: "floor-whole",
        row: "BAR-04",
        pre: "an integer is its own floor and ceiling",
        before: "(floor n:i16[4])",
        after: "n:i16[4]",
        never: &["(floor x:f64[4])"],
        apply: |dag, at| match dag.node(at) {
            Node::Map(kinds::Map { op: Op::Floor | Op::Ceil, args, .. })
                if dag.dtype(args[0]).is_integer() =>
            {
                Some(args[0])
            }
            _ => None,
        },
    },
    Rule {
        name: "abs-abs",
        row: "BAR-04",
        pre: "a magnitude is its own magnitude",
        before: "(abs (abs x:f64[4]))",
        after: "(abs x:f64[4])",
        never: &["(abs (neg x:f64[4]))"],
        apply: |dag, at| match dag.node(at) {
            Node::Map(kinds::Map { op: Op::Abs, args, .. }) if is_map(dag, args[0], Op::Abs) => {
                Some(args[0])
            }
            _ => None,
        },
    },
    Rule {
        name: "not-not",
        row: "BAR-04",
        pre: "booleans",
        before: "(not (not b:bool[4]))",
        after: "b:bool[4]",
        never: &["(not (not x:f64[4]))"],
        apply: |dag, at| {
            let Node::Map(kinds::Map { op: Op::Not, args, .. }) = dag.node(at) else { return None };
            let Node::Map(kinds::Map { op: Op::Not, args: inner, .. }) = dag.node(args[0]) else {
                return None;
            };
            (dag.dtype(inner[0]) == aplomb_values::array::DType::Bool).then_some(inner[0])
        },
    },
    Rule {
        name: "neg-neg",
        row: "BAR-04",
        pre: "a sign turned twice",
        before: "(neg (neg x:f64[4]))",
        after: "x:f64[4]",
        never: &["(neg (abs x:f64[4]))"],
        apply: |dag, at| match dag.node(at) {
            Node::Map(kinds::Map { op: Op::Neg, args, .. }) if is_map(dag, args[0], Op::Neg) => {
                same_type(dag, at, dag.node(args[0]).inputs()[0], false)
            }
            _ => None,
        },
    },
    Rule {
        name: "mul-zero",
        row: "BAR-04",
        pre: "integers that cannot fail, times 0",
        before: "(mul n:i16[4] 0)",
        after: "(broadcast 0)",
        // ∞×0 is no number, ¯1×0 is ¯0, and what can fail must.
        never: &["(mul x:f64[4] 0)", "(mul (not n:i16[4]) 0)"],
        apply: |dag, at| times_zero(dag, at, 1),
    },
    Rule {
        name: "zero-mul",
        row: "BAR-04",
        pre: "integers that cannot fail, times 0",
        before: "(mul 0 n:i16[4])",
        after: "(broadcast 0)",
        never: &["(mul 0 x:f64[4])"],
        apply: |dag, at| times_zero(dag, at, 0),
    },
    Rule {
        name: "add-add",
        row: "BAR-04",
        pre: "integers whose interval is known add exactly in any order",
        before: "(add 1 (add 2 n:i16[4]))",
        after: "(add 3 n:i16[4])",
        never: &["(add 1 (add 2 x:f64[4]))", "(add 1 (mul 2 n:i16[4]))"],
        apply: |dag, at| joined(dag, at, Op::Add),
    },
    Rule {
        name: "mul-mul",
        row: "BAR-04",
        pre: "integers whose interval is known multiply exactly in any order",
        before: "(mul 3 (mul 2 n:i16[4]))",
        after: "(mul 6 n:i16[4])",
        never: &["(mul 3 (mul 2 x:f64[4]))"],
        apply: |dag, at| joined(dag, at, Op::Mul),
    },
    Rule {
        name: "compose",
        row: "ACL-38",
        pre: "a read of a read is one read",
        before: "(reverse (reverse x:f64[5]))",
        after: "x:f64[5]",
        never: &["(reverse (neg x:f64[5]))"],
        apply: compose,
    },
    Rule {
        name: "identity",
        row: "ACC-15",
        pre: "every element stays in its place",
        before: "(same x:f64[2 3])",
        after: "x:f64[2 3]",
        never: &["(transpose x:f64[2 2])"],
        apply: |dag, at| match dag.node(at) {
            Node::Transform(kinds::Transform { src, read, .. })
                if read.is_identity() && dag.shape(*src) == dag.shape(at) =>
            {
                Some(*src)
            }
            _ => None,
        },
    },
];

fn is_map(dag: &Dag, at: NodeId, wanted: Op) -> bool {
    matches!(dag.node(at), Node::Map(kinds::Map { op, .. }) if *op == wanted)
}

/// `op` with a unit on the right gives the left operand, if it keeps shape and type.
fn right_unit(dag: &Dag, at: NodeId, op: Op, unit: f64, whole: bool) -> Option<NodeId> {
    match dag.node(at) {
        Node::Map(kinds::Map { op: o, args, .. }) if *o == op && dag.is_const(args[1], unit) => {
            same_type(dag, at, args[0], whole)
        }
        _ => None,
    }
}

fn left_unit(dag: &Dag, at: NodeId, op: Op, unit: f64, whole: bool) -> Option<NodeId> {
    match dag.node(at) {
        Node::Map(kinds::Map { op: o, args, .. }) if *o == op && dag.is_const(args[0], unit) => {
            same_type(dag, at, args[1], whole)
        }
        _ => None,
    }
}

fn same_type(dag: &Dag, at: NodeId, to: NodeId, whole: bool) -> Option<NodeId> {
    let (from, into) = (dag.dtype(at), dag.dtype(to));
    let fits = from == into || from.is_integer() && into.is_integer();
    (fits && into.is_number() && dag.shape(at) == dag.shape(to) && (!whole || into.is_integer()))
        .then_some(to)
}

fn power(
    dag: &mut Dag,
    at: NodeId,
    exponent: f64,
    make: fn(&mut Dag, NodeId, Info) -> NodeId,
) -> Option<NodeId> {
    let Node::Map(kinds::Map { op: Op::Pow, args, .. }) = dag.node(at) else { return None };
    let x = args[0];
    // Only where the type of the new form is the old one's.
    if !dag.is_const(args[1], exponent)
        || dag.dtype(x) != dag.dtype(at)
        || dag.shape(x) != dag.shape(at)
    {
        return None;
    }
    let info = Info { name: None, from: vec![at], ..dag.info(at).clone() };
    Some(make(dag, x, info))
}

fn monadic(dag: &mut Dag, op: Op, x: NodeId, info: Info) -> NodeId {
    dag.add(Node::map(op, 0.0, [x]), info)
}

/// The zero at place `zero`, of the product's shape.
fn times_zero(dag: &mut Dag, at: NodeId, zero: usize) -> Option<NodeId> {
    let Node::Map(kinds::Map { op: Op::Mul, args, .. }) = dag.node(at) else { return None };
    let (other, zero) = (args[1 - zero], args[zero]);
    if !dag.dtype(at).is_integer() || !dag.is_const(zero, 0.0) || !is_sure(dag, other) {
        return None;
    }
    if dag.shape(at).is_empty() {
        return Some(zero);
    }
    let mut info = Info { name: None, from: vec![at], ..dag.info(at).clone() };
    (info.meta.dtype, info.meta.range) = (dag.dtype(zero), dag.info(zero).meta.range);
    Some(dag.add(
        Node::Transform(kinds::Transform {
            name: BROADCAST,
            src: zero,
            read: Read::new([]),
            onto: true,
        }),
        info,
    ))
}

/// So many nodes are looked at for what may fail.
const NEAR: usize = 32;

/// Whether no node below can fail: integers of known intervals, and operations that never do.
fn is_sure(dag: &Dag, at: NodeId) -> bool {
    let mut stack = vec![at];
    for _ in 0..NEAR {
        let Some(at) = stack.pop() else { return true };
        if dag.fails(at) != Fails::Never || !dag.dtype(at).is_integer() {
            return false;
        }
        stack.extend(dag.node(at).inputs());
    }
    false
}

/// `k1 f k2 f n` as `(k1 f k2) f n`, where nothing can round.
fn joined(dag: &mut Dag, at: NodeId, wanted: Op) -> Option<NodeId> {
    let exact = |at: NodeId| dag.dtype(at).is_integer() && dag.info(at).meta.range.is_some();
    let Node::Map(kinds::Map { op, ct, args }) = dag.node(at) else { return None };
    let (ct, outer, below) = (*ct, args[0], *args.get(1)?);
    let Node::Map(kinds::Map { op: inner, args, .. }) = dag.node(below) else { return None };
    let (k, n) = (args[0], *args.get(1)?);
    let fits = (*op, *inner) == (wanted, wanted)
        && exact(at)
        && exact(below)
        && exact(n)
        && !dag.shape(n).is_empty();
    if !fits || !dag.is_number(outer) || !dag.is_number(k) || !exact(outer) || !exact(k) {
        return None;
    }
    let value = scalar::eval(wanted, ct, dag.number(outer)?, dag.number(k)?).ok()?;
    let mut info = Info { from: vec![at], name: None, ..dag.info(at).clone() };
    (info.meta.shape, info.meta.dtype) = (Shape::new(), aplomb_values::array::narrowest(value));
    info.meta.range = info.meta.dtype.is_integer().then_some((value, value));
    info.meta.range?;
    let known = dag.add(Node::num(value), info);
    let info = Info { from: vec![at], ..dag.info(at).clone() };
    Some(dag.add(Node::map(wanted, ct, [known, n]), info))
}

/// A scalar operation on constants is a constant, unless it fails: then it must fail at run time,
/// with its place.
fn fold(dag: &mut Dag, at: NodeId) -> Option<NodeId> {
    let Node::Map(kinds::Map { op, ct, args }) = dag.node(at) else { return None };
    if !args.iter().all(|a| dag.is_number(*a)) {
        return None;
    }
    let x = dag.number(*args.first()?)?;
    let y = match args.get(1) {
        Some(b) => dag.number(*b)?,
        None => 0.0,
    };
    let value = scalar::eval_as(dag.dtype(at), *op, *ct, x, y).ok()?;
    if !value.is_finite() {
        return None;
    }
    let mut info = Info { from: vec![at], ..dag.info(at).clone() };
    if info.meta.dtype != DType::F32 {
        info.meta.dtype = aplomb_values::array::narrowest(value);
    }
    info.meta.range = info.meta.dtype.is_integer().then_some((value, value));
    Some(dag.add(Node::num(value), info))
}

/// A transform of a transform is one transform, unless finding its places would take too long.
fn compose(dag: &mut Dag, at: NodeId) -> Option<NodeId> {
    let Node::Transform(kinds::Transform { name, src, read, onto }) = dag.node(at) else {
        return None;
    };
    let Node::Transform(kinds::Transform { src: below, read: inner, onto: all, .. }) =
        dag.node(*src)
    else {
        return None;
    };
    let joined = inner.after(read, dag.shape(at));
    if joined.weight() > Read::HEAVIEST {
        return None;
    }
    if joined.is_identity() && dag.shape(*below) == dag.shape(at) {
        return Some(*below);
    }
    let node =
        Node::Transform(kinds::Transform { name, src: *below, read: joined, onto: *onto && *all });
    let info = Info { from: vec![at], ..dag.info(at).clone() };
    Some(dag.add(node, info))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies one rule once, then the printed result.
    fn run(rule: &Rule, text: &str) -> Option<String> {
        let mut dag = Dag::default();
        let at = dag.parse(text).unwrap_or_else(|| panic!("{text}"));
        (rule.apply)(&mut dag, at).map(|to| dag.print(to))
    }

    #[test]
    fn each_rule_does_what_its_text_says() {
        for rule in RULES {
            assert_eq!(run(rule, rule.before).as_deref(), Some(rule.after), "{}", rule.name);
            for text in rule.never {
                assert_eq!(run(rule, text), None, "{} must leave {text}", rule.name);
            }
        }
    }
}

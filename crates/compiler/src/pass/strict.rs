//! The legality rules of 2006: where a transform that finds something outside may be pushed.
//!
//! Rows: ACL-17, ACL-38. Wrap and clamp distribute over every function, a constant only where it is
//! the function's identity. Two transforms of one axis compose if their outside can be told by one.
//! Aplomb itself needs neither: a test guards whatever stands below it. `--strict-2006` and the
//! pipeline `acl2006` ask; the exact rule is here beside them.

use aplomb_values::dag::ix::{Atom, Ix};
use aplomb_values::dag::{Dag, Node, NodeId, Read, Role, kinds};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar;

/// Whether what stands at `at` may be computed under a read with an outside.
pub fn allows(dag: &Dag, at: NodeId, read: &Read) -> bool {
    match dag.node(at) {
        Node::Map(kinds::Map { op, .. }) => read.tests.iter().all(|t| distributes(*op, t.fill)),
        Node::Transform(kinds::Transform { read: inner, .. }) => composes(read, inner),
        _ => true,
    }
}

/// The reason of a break.
pub fn code(dag: &Dag, at: NodeId) -> &'static str {
    if dag.node(at).role() == Role::Move { "oob-compose" } else { "oob-default-not-identity" }
}

/// The rule as printed: the constant is the identity.
pub fn distributes(op: Op, fill: f64) -> bool {
    let identity = match op {
        Op::Add | Op::Sub | Op::Ne | Op::Gcd => 0.0,
        Op::Mul | Op::Dot | Op::Mac | Op::Div | Op::Pow | Op::Eq | Op::Lcm => 1.0,
        Op::Max => f64::MIN,
        Op::Min => f64::MAX,
        _ => return false,
    };
    fill == identity
}

/// The exact rule with one fill on all operands: f(fill, …, fill) is fill.
pub fn keeps_fill(op: Op, fill: f64) -> bool {
    scalar::eval(op, 0.0, fill, fill) == Ok(fill)
}

/// The exact rule: fills of the operands whose result is the fill, if there are any.
pub fn fills(op: Op, fill: f64) -> Option<(f64, f64)> {
    if keeps_fill(op, fill) {
        return Some((fill, fill));
    }
    let some = [fill, 0.0, 1.0];
    let pairs = some.iter().flat_map(|a| [0.0, 1.0, fill].map(|b| (*a, b)));
    pairs.into_iter().find(|(a, b)| scalar::eval(op, 0.0, *a, *b) == Ok(fill))
}

/// The fill of an axis outside its bounds, and the way it is moved.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outside {
    Nothing,
    Wrap,
    Clamp(i64),
    Default(f64, i64),
}

/// Whether a read of what another read gives is one read of the same kind.
pub fn composes(outer: &Read, inner: &Read) -> bool {
    (0..outer.ix.len()).all(|axis| pair(beyond(outer, axis), within(inner, axis)))
}

fn pair(outer: Outside, inner: Outside) -> bool {
    use Outside::{Clamp, Default, Nothing, Wrap};
    let same_way = |s: i64, t: i64| s.signum() * t.signum() >= 0;
    match (outer, inner) {
        (Nothing, _) | (_, Nothing) | (Wrap, Wrap) => true,
        (Clamp(s), Clamp(t)) | (Clamp(s), Default(_, t)) => same_way(s, t),
        (Default(c, s), Default(d, t)) => c == d && same_way(s, t),
        _ => false,
    }
}

/// The outside of a read on an axis of its source.
fn beyond(read: &Read, axis: usize) -> Outside {
    let Some(ix) = read.ix.get(axis) else { return Outside::Nothing };
    let test = read.tests.iter().find(|t| t.ix.terms == ix.terms && !ix.terms.is_empty());
    match (test, shape_of(ix)) {
        (Some(t), _) => Outside::Default(t.fill, way(ix)),
        (None, outside) => outside,
    }
}

/// The outside of a read along an axis of its result.
fn within(read: &Read, axis: usize) -> Outside {
    if let Some(t) = read.tests.iter().find(|t| t.ix.mentions(axis)) {
        return Outside::Default(t.fill, way(&t.ix));
    }
    let own = read.ix.iter().filter(|ix| ix.mentions(axis)).map(shape_of);
    own.into_iter().find(|o| *o != Outside::Nothing).unwrap_or(Outside::Nothing)
}

fn shape_of(ix: &Ix) -> Outside {
    let found = ix.terms.iter().find_map(|(_, atom)| match atom {
        Atom::Clamp(x, ..) => Some(Outside::Clamp(way(x))),
        Atom::Mod(..) => Some(Outside::Wrap),
        _ => None,
    });
    found.unwrap_or(Outside::Nothing)
}

/// The distance of a shift.
fn way(ix: &Ix) -> i64 {
    ix.c
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_values::dag::Test;

    const N: i64 = 5;

    /// Constants that distribute, by the printed rule and by the exact one.
    #[test]
    fn acl_17_the_table_of_legal_fills() {
        let ops: [(Op, &[f64], &[f64]); 10] = [
            (Op::Add, &[0.0], &[0.0]),
            (Op::Sub, &[0.0], &[0.0]),
            (Op::Mul, &[0.0, 1.0], &[1.0]),
            (Op::Div, &[1.0], &[1.0]),
            (Op::Max, &[0.0, 1.0, 7.0], &[]),
            (Op::Min, &[0.0, 1.0, 7.0], &[]),
            (Op::Eq, &[1.0], &[1.0]),
            (Op::Ne, &[0.0], &[0.0]),
            (Op::Lt, &[0.0], &[]),
            (Op::Pow, &[1.0], &[1.0]),
        ];
        for (op, exact, printed) in ops {
            for d in [0.0, 1.0, 7.0] {
                assert_eq!(keeps_fill(op, d), exact.contains(&d), "{op:?} {d}, the same fill");
                assert_eq!(distributes(op, d), printed.contains(&d), "{op:?} {d}, as printed");
            }
        }
        for (op, d) in [(Op::Lcm, 1.0), (Op::Gcd, 0.0)] {
            assert!(keeps_fill(op, 0.0) && keeps_fill(op, 1.0) && distributes(op, d), "{op:?}");
        }
        // Fills that differ by operand; where there are none, a guard in the launch says it.
        for (op, d) in [
            (Op::Add, 7.0),
            (Op::Sub, 7.0),
            (Op::Mul, 7.0),
            (Op::Div, 0.0),
            (Op::Eq, 0.0),
            (Op::Ne, 1.0),
        ] {
            let (a, b) = fills(op, d).expect("fills");
            assert_eq!(scalar::eval(op, 0.0, a, b), Ok(d), "{op:?} {d}");
        }
        assert_eq!(fills(Op::Lt, 1.0), Some((0.0, 1.0)));
        assert_eq!(fills(Op::Sqrt, -1.0), None);
        assert_eq!(fills(Op::Exp, 0.0), None);
    }

    /// By every element: what distributes changes no value, what does not changes one for some
    /// data.
    #[test]
    fn acl_17_the_exact_rule_is_what_brute_force_finds() {
        let (a, b) = ([2.0, 3.0, 5.0, 7.0, 11.0], [13.0, 1.0, 17.0, 4.0, 19.0]);
        let shifted = |v: &[f64], s: i64, fill: f64| -> Vec<f64> {
            (0..N)
                .map(|i| if (0..N).contains(&(i + s)) { v[(i + s) as usize] } else { fill })
                .collect()
        };
        let apply = |op: Op, x: &[f64], y: &[f64]| -> Vec<f64> {
            x.iter()
                .zip(y)
                .map(|(x, y)| scalar::eval(op, 0.0, *x, *y).unwrap_or(f64::NAN))
                .collect()
        };
        for op in [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max, Op::Min, Op::Eq, Op::Ne, Op::Lt] {
            for (s, d) in
                [1, -1, 2, -2, 9, -9].into_iter().flat_map(|s| [0.0, 1.0, 7.0].map(|d| (s, d)))
            {
                let whole = shifted(&apply(op, &a, &b), s, d);
                let parts = apply(op, &shifted(&a, s, d), &shifted(&b, s, d));
                assert_eq!(whole == parts, keeps_fill(op, d), "{op:?} {s} {d}");
            }
        }
    }

    fn read(mode: &str, s: i64) -> Read {
        let moved = Ix::axis(0).offset(s);
        match mode {
            "wrap" => Read::new([moved.modulo(N, &[N as usize])]),
            "clamp" => Read::new([moved.clamped(0, N - 1, &[N as usize])]),
            _ => {
                let test = Test { ix: moved.clone(), lo: 0, hi: N, fill: 0.0 };
                Read { ix: vec![moved], tests: vec![test] }
            }
        }
    }

    /// Shifts of one axis that are one shift.
    #[test]
    fn acl_38_which_shifts_compose() {
        let ways = [(1, 2), (2, -2), (-1, -1), (-2, 1)];
        for (s, t) in ways {
            let same = s * t > 0;
            for (inner, outer, composed) in [
                ("wrap", "wrap", true),
                ("clamp", "clamp", same),
                ("default", "default", same),
                ("default", "clamp", same),
                ("clamp", "default", false),
                ("wrap", "clamp", false),
                ("default", "wrap", false),
            ] {
                assert_eq!(
                    composes(&read(outer, t), &read(inner, s)),
                    composed,
                    "{inner} {s} then {outer} {t}"
                );
            }
        }
        // Of different axes, and where nothing is outside, all do.
        let plain = Read::new([Ix::axis(0).times(-1).offset(N - 1)]);
        assert!(composes(&plain, &read("default", 2)) && composes(&read("clamp", -2), &plain));
        let two = |axis: usize| {
            let mut r = Read::identity(2);
            let moved = Ix::axis(axis).offset(if axis == 0 { 2 } else { -2 });
            r.ix[axis] = moved.clone();
            r.tests.push(Test { ix: moved, lo: 0, hi: N, fill: 0.0 });
            r
        };
        assert!(composes(&two(0), &two(1)));
    }

    /// The rule above by every element: a pair that composes equals one shift by the sum, and the
    /// others do not.
    #[test]
    fn acl_38_what_composes_is_one_shift_by_the_sum() {
        let at = |r: &Read, i: i64| -> Option<i64> {
            let place = [i as usize];
            r.tests
                .iter()
                .all(|t| (t.lo..t.hi).contains(&t.ix.at(&place)))
                .then(|| r.ix[0].at(&place))
        };
        for (mode, s, t) in [
            ("wrap", 2, -2),
            ("clamp", 1, 2),
            ("clamp", 2, -2),
            ("default", 1, 1),
            ("default", 2, -2),
        ] {
            let (inner, outer, sum) = (read(mode, s), read(mode, t), read(mode, s + t));
            let one = (0..N).all(|i| at(&outer, i).and_then(|k| at(&inner, k)) == at(&sum, i));
            assert_eq!(one, composes(&outer, &inner), "{mode} {s} {t}");
        }
    }
}

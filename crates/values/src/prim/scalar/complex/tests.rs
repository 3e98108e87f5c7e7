//! Identities, and num-complex as the other opinion.

use super::*;
use crate::prim::op::OPS;

const CT: f64 = 1e-14;

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn whole(&mut self, most: u64) -> f64 {
        (self.next() % (2 * most + 1)) as f64 - most as f64
    }

    /// Parts of at most 4, every fourth one whole.
    fn number(&mut self) -> Complex64 {
        let mut part = || {
            if self.next().is_multiple_of(4) {
                self.whole(4)
            } else {
                self.next() as f64 / u64::MAX as f64 * 8.0 - 4.0
            }
        };
        Complex64::new(part(), part())
    }

    fn gaussian(&mut self, most: u64) -> Complex64 {
        Complex64::new(self.whole(most), self.whole(most))
    }
}

fn one(op: Op, z: Complex64) -> Outcome {
    eval(op, CT, z, Complex64::ZERO)
}

fn two(op: Op, x: Complex64, y: Complex64) -> Outcome {
    eval(op, CT, x, y)
}

fn near(x: Complex64, y: Complex64, within: f64) -> bool {
    magnitude(x - y) <= within * magnitude(x).max(magnitude(y)).max(1.0)
}

#[test]
fn elementary_functions_agree_with_num_complex() {
    type Peer = fn(&Complex64) -> Complex64;
    let peers: &[(Op, Peer)] = &[
        (Op::Exp, |z| z.exp()),
        (Op::Ln, |z| z.ln()),
        (Op::Sqrt, |z| z.sqrt()),
        (Op::Recip, |z| z.inv()),
        (Op::Conj, |z| z.conj()),
        (Op::Circle(1), |z| z.sin()),
        (Op::Circle(2), |z| z.cos()),
        (Op::Circle(3), |z| z.tan()),
        (Op::Circle(5), |z| z.sinh()),
        (Op::Circle(6), |z| z.cosh()),
        (Op::Circle(7), |z| z.tanh()),
        (Op::Circle(-1), |z| z.asin()),
        (Op::Circle(-2), |z| z.acos()),
        (Op::Circle(-3), |z| z.atan()),
        (Op::Circle(-5), |z| z.asinh()),
        (Op::Circle(-6), |z| z.acosh()),
        (Op::Circle(-7), |z| z.atanh()),
    ];
    let mut dice = Dice(7);
    for _ in 0..20_000 {
        let z = dice.number();
        // On the axes the peer keeps a ¯0, and so may stand on the other side of a cut.
        if z.re == 0.0 || z.im == 0.0 {
            continue;
        }
        for (op, peer) in peers {
            let (got, wanted) = (one(*op, z).unwrap(), peer(&z));
            assert!(near(got, wanted, 1e-11), "{op:?} {z}: {got}, not {wanted}");
        }
    }
}

#[test]
fn inverses_undo() {
    let mut dice = Dice(11);
    for _ in 0..20_000 {
        let z = dice.number();
        for k in [1, 2, 3, 5, 6, 7, 4, 8] {
            let Ok(there) = one(Op::Circle(-k), z) else { continue };
            let Ok(back) = one(Op::Circle(k), there) else { continue };
            // 4○¯4○z and 8○¯8○z are a root of z², with either sign.
            let same = near(back, z, 1e-9) || (matches!(k, 4 | 8) && near(back, -z, 1e-9));
            assert!(same, "{k}: {z} → {there} → {back}");
        }
        if z != Complex64::ZERO {
            assert!(near(one(Op::Exp, one(Op::Ln, z).unwrap()).unwrap(), z, 1e-13), "{z}");
            assert!(near(two(Op::Mul, z, one(Op::Recip, z).unwrap()).unwrap(), ONE, 1e-14), "{z}");
            assert!(
                near(
                    two(Op::Mul, one(Op::Sign, z).unwrap(), one(Op::Abs, z).unwrap()).unwrap(),
                    z,
                    1e-14
                ),
                "{z}"
            );
        }
        let root = two(Op::Pow, z, 0.5.into()).unwrap();
        assert!(root.re >= 0.0 && near(root * root, z, 1e-14), "{z}");
    }
}

#[test]
fn real_arguments_keep_their_real_results() {
    let mut dice = Dice(13);
    for _ in 0..2_000 {
        let (x, y) = (dice.number().re, dice.number().re);
        for op in OPS.iter().map(|r| r.op).chain((-12..=12).map(Op::Circle)) {
            let real = super::super::eval(op, CT, x, y);
            let got = eval(op, CT, x.into(), y.into());
            match real {
                // A logarithm to the base 1 fails either way.
                Err(Fail::Complex) if op == Op::Log && x == 1.0 => assert!(got.is_err()),
                Err(Fail::Complex) => {
                    let z = got.unwrap();
                    assert!(z.im.to_bits() != (-0.0f64).to_bits(), "{op:?} {x} {y}: {z}");
                }
                Err(fail) => assert_eq!(got, Err(fail), "{op:?} {x} {y}"),
                Ok(value) => assert_eq!(got, Ok(value.into()), "{op:?} {x} {y}"),
            }
        }
    }
}

#[test]
fn no_imaginary_part_is_a_negative_zero() {
    let mut dice = Dice(17);
    for _ in 0..5_000 {
        let (x, y) = (dice.gaussian(2), dice.gaussian(2));
        for op in OPS.iter().map(|r| r.op).chain((-12..=12).map(Op::Circle)) {
            if let Ok(z) = eval(op, CT, x, y) {
                assert!(z.im != 0.0 || z.im.is_sign_positive(), "{op:?} {x} {y}: {z}");
                assert!(z.is_finite());
            }
        }
    }
}

#[test]
fn powers_of_gaussian_integers_are_exact() {
    let mut dice = Dice(19);
    for _ in 0..2_000 {
        let (z, n) = (dice.gaussian(5), 1 + dice.next() % 9);
        let product = (0..n).fold(ONE, |p, _| p * z);
        assert_eq!(two(Op::Pow, z, (n as f64).into()), Ok(product + 0.0 * ONE), "{z} {n}");
        let back = two(Op::Div, product, z);
        if z != Complex64::ZERO {
            assert_eq!(back, two(Op::Pow, z, (n as f64 - 1.0).into()), "{z} {n}");
        }
    }
}

#[test]
fn the_floor_leaves_less_than_one_and_moves_with_whole_numbers() {
    let mut dice = Dice(23);
    for _ in 0..20_000 {
        let (z, by) = (dice.number(), dice.gaussian(6));
        let low = one(Op::Floor, z).unwrap();
        assert!(
            low.re.fract() == 0.0 && low.im.fract() == 0.0 && magnitude(z - low) < 1.0 + 1e-12,
            "{z} {low}"
        );
        assert_eq!(one(Op::Floor, z + by), Ok(low + by), "{z} {by}");
        assert_eq!(one(Op::Ceil, z), Ok(signless(-one(Op::Floor, -z).unwrap()) + 0.0), "{z}");
    }
}

#[test]
fn residues_are_shorter_and_congruent() {
    let mut dice = Dice(29);
    for _ in 0..20_000 {
        let (x, y) = (dice.gaussian(9), dice.gaussian(99));
        let r = two(Op::Residue, x, y).unwrap();
        if x == Complex64::ZERO {
            assert_eq!(r, y);
            continue;
        }
        assert!(magnitude(r) < magnitude(x), "{x}|{y}: {r}");
        let q = divide(y - r, x).unwrap();
        assert_eq!((q.re.fract(), q.im.fract()), (0.0, 0.0), "{x}|{y}: {r}");
    }
}

#[test]
fn a_common_divisor_divides_both_and_a_multiple_is_one() {
    let mut dice = Dice(31);
    let whole = |z: Complex64| (z.re - z.re.round()).abs() + (z.im - z.im.round()).abs() < 1e-9;
    for _ in 0..20_000 {
        let (x, y) = (dice.gaussian(60), dice.gaussian(60));
        let g = two(Op::Gcd, x, y).unwrap();
        if x == Complex64::ZERO || y == Complex64::ZERO || (x.im == 0.0 && y.im == 0.0) {
            continue;
        }
        assert!(g.re > 0.0 && g.im >= 0.0, "{x} {y}: {g}");
        assert!(whole(divide(x, g).unwrap()) && whole(divide(y, g).unwrap()), "{x} {y}: {g}");
        assert!(
            near(two(Op::Gcd, divide(x, g).unwrap(), divide(y, g).unwrap()).unwrap(), ONE, 1e-12),
            "{x} {y}: {g}"
        );
        let m = two(Op::Lcm, x, y).unwrap();
        assert!(whole(divide(m, x).unwrap()) && whole(divide(m, y).unwrap()), "{x} {y}: {m}");
    }
}

#[test]
fn the_gamma_function_recurs_reflects_and_conjugates() {
    let mut dice = Dice(37);
    for _ in 0..5_000 {
        let z = dice.number();
        if z.im.abs() < 1e-3 {
            continue;
        }
        let at = |z: Complex64| one(Op::Fact, z).unwrap();
        assert!(near(at(z + 1.0), at(z) * (z + 1.0), 1e-11), "{z}");
        assert!(near(at(z.conj()), at(z).conj(), 1e-12), "{z}");
        assert!(near(two(Op::Binomial, ONE, z).unwrap(), z, 1e-10), "{z}");
    }
    // |!0J1|² = π÷sinh π
    let size = magnitude(one(Op::Fact, I).unwrap());
    assert!((size * size - std::f64::consts::PI / std::f64::consts::PI.sinh()).abs() < 1e-15);
}

#[test]
fn huge_and_tiny_parts_neither_overflow_nor_vanish() {
    let (big, small) = (Complex64::new(3e200, 4e200), Complex64::new(3e-200, 4e-200));
    assert!(near(two(Op::Div, big, big).unwrap(), ONE, 1e-15));
    assert!(near(two(Op::Div, small, small).unwrap(), ONE, 1e-15));
    assert!(near(one(Op::Abs, big).unwrap().unscale(5e200), ONE, 1e-15));
    assert!(near(one(Op::Sqrt, big).unwrap().unscale(1e100), Complex64::new(2.0, 1.0), 1e-15));
    assert_eq!(two(Op::Mul, big, big), Err(Fail::Overflow));
    assert_eq!(one(Op::Exp, Complex64::new(800.0, 1.0)), Err(Fail::Overflow));
    assert!(one(Op::Circle(7), Complex64::new(800.0, 1.0)).is_ok());
}

#[test]
fn blocks_give_the_bits_of_single_steps_or_leave_them() {
    use super::blocks::{Items, block, reals};
    let parts = [0.0, -0.0, 1.0, -2.5, 3.0, 1e-300, 1e160, -1e308, f64::INFINITY, f64::NAN];
    let all: Vec<Complex64> = parts
        .iter()
        .flat_map(|&re| parts.map(|im| Complex64::new(re, im + 0.0)))
        .filter(|z| !z.im.is_nan() || z.re.is_nan())
        .collect();
    let bits = |z: Complex64| (z.re.to_bits(), z.im.to_bits());
    let mut sure = [0; 2];
    for op in [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Neg, Op::Conj] {
        for (&x, &y) in all.iter().flat_map(|x| all.iter().map(move |y| (x, y))) {
            let many = (Items::Many(&[x][..]), Items::Many(&[y][..]));
            for (a, b) in [many, (many.0, Items::One(y)), (Items::One(x), many.1)] {
                let mut out = Vec::new();
                if block(op, a, b, 1, &mut out) {
                    sure[0] += 1;
                    let one = eval(op, 0.0, x, y).map(bits);
                    assert_eq!(Ok(bits(out[0])), one, "{op:?} {x} {y}");
                }
            }
        }
    }
    for op in [Op::Abs, Op::Circle(9), Op::Circle(10), Op::Circle(11)] {
        for &x in &all {
            let mut out = Vec::new();
            if reals(op, &[x], &mut out) {
                sure[1] += 1;
                let one = eval(op, 0.0, x, x).map(|z| z.re.to_bits());
                assert_eq!(Ok(out[0].to_bits()), one, "{op:?} {x}");
            }
        }
    }
    assert!(sure[0] > 20_000 && sure[1] > 200, "{sure:?}");
}

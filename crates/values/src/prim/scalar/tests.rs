//! The meaning that APL gives each operation, on the values where it matters.

use super::*;

const CT: f64 = 1e-14;

fn ok(op: Op, x: f64, y: f64) -> f64 {
    match eval(op, CT, x, y) {
        Ok(value) => value,
        Err(fail) => panic!("{op:?} {x} {y}: {fail:?}"),
    }
}

fn ulps(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() / (f64::EPSILON * b.abs().max(f64::MIN_POSITIVE)) * 2.0 }
}

#[test]
fn division_and_logarithms_have_their_edges() {
    assert_eq!(ok(Op::Div, 0.0, 0.0), 1.0);
    assert_eq!(eval(Op::Div, CT, 1.0, 0.0), Err(Fail::Domain("division by zero")));
    assert_eq!(eval(Op::Recip, CT, 0.0, 9.0), Err(Fail::Domain("division by zero")));
    assert_eq!(eval(Op::Div, CT, 1e300, 1e-300), Err(Fail::Overflow));
    assert!(matches!(eval(Op::Ln, CT, 0.0, 0.0), Err(Fail::Domain(_))));
    assert_eq!(eval(Op::Ln, CT, -1.0, 0.0), Err(Fail::Complex));
    assert_eq!(ok(Op::Ln, 1.0, 0.0), 0.0);
    assert_eq!(ok(Op::Log, 1.0, 1.0), 1.0);
    assert!(matches!(eval(Op::Log, CT, 1.0, 2.0), Err(Fail::Domain(_))));
    assert_eq!(ok(Op::Log, 2.0, 8.0), 3.0);
}

#[test]
fn what_a_file_brought_flows_on() {
    assert_eq!(ok(Op::Add, f64::INFINITY, 1.0), f64::INFINITY);
    assert!(ok(Op::Sub, f64::INFINITY, f64::INFINITY).is_nan());
    assert_eq!(ok(Op::Eq, f64::NAN, f64::NAN), 0.0);
    assert_eq!(ok(Op::Ne, f64::NAN, f64::NAN), 1.0);
    assert_eq!(ok(Op::Eq, f64::INFINITY, f64::INFINITY), 1.0);
    assert_eq!(ok(Op::Eq, f64::INFINITY, 5.0), 0.0);
    assert_eq!(ok(Op::Lt, 5.0, f64::INFINITY), 1.0);
    assert_eq!(ok(Op::Exp, f64::NEG_INFINITY, 0.0), 0.0);
    assert!(ok(Op::Exp, f64::NAN, 0.0).is_nan());
    assert!(ok(Op::Circle(1), f64::INFINITY, 0.0).is_nan());
    assert_eq!(eval(Op::Exp, CT, 710.0, 0.0), Err(Fail::Overflow));
}

#[test]
fn powers() {
    assert_eq!(ok(Op::Pow, 0.0, 0.0), 1.0);
    assert_eq!(ok(Op::Pow, 2.0, 10.0), 1024.0);
    assert_eq!(ok(Op::Pow, 2.0, -2.0), 0.25);
    assert_eq!(ok(Op::Pow, 4.0, 0.5), 2.0);
    assert_eq!(ok(Op::Pow, -2.0, 3.0), -8.0);
    assert_eq!(ok(Op::Pow, 2.0, -1074.0), 5e-324);
    assert_eq!(ok(Op::Pow, 1e300, -1.0), 1e-300);
    assert_eq!(eval(Op::Pow, CT, -8.0, 1.0 / 3.0), Err(Fail::Complex));
    assert_eq!(eval(Op::Pow, CT, -1.0, 0.5), Err(Fail::Complex));
    assert_eq!(eval(Op::Pow, CT, 0.0, -1.0), Err(Fail::Domain("division by zero")));
    assert_eq!(eval(Op::Pow, CT, 10.0, 400.0), Err(Fail::Overflow));
}

#[test]
fn comparison_is_tolerant_and_relative() {
    let near = 1.0 + 5e-15;
    assert_eq!(ok(Op::Eq, 1.0, near), 1.0);
    assert_eq!(eval(Op::Eq, 0.0, 1.0, near), Ok(0.0));
    assert_eq!(
        [
            ok(Op::Lt, 1.0, near),
            ok(Op::Le, near, 1.0),
            ok(Op::Ge, 1.0, near),
            ok(Op::Gt, near, 1.0)
        ],
        [0.0, 1.0, 1.0, 0.0]
    );
    assert_eq!(ok(Op::Eq, 0.0, 1e-300), 0.0);
    assert_eq!(eval(Op::Lt, 0.0, 1.0, near), Ok(1.0));
}

#[test]
fn floors_residues_and_signs() {
    assert_eq!(ok(Op::Floor, 3.0 - 1e-15, 0.0), 3.0);
    assert_eq!(ok(Op::Floor, -2.5, 0.0), -3.0);
    assert_eq!(ok(Op::Ceil, 3.0 + 1e-15, 0.0), 3.0);
    assert_eq!(ok(Op::Floor, 9_007_199_254_740_991.0, 0.0), 9_007_199_254_740_991.0);
    assert_eq!(ok(Op::Residue, -3.0, 4.0), -2.0);
    assert_eq!(ok(Op::Residue, 3.0, -4.0), 2.0);
    assert_eq!(ok(Op::Residue, 0.0, 4.5), 4.5);
    assert_eq!(ok(Op::Residue, 1.0, 2.75), 0.75);
    assert_eq!(ok(Op::Residue, 0.1, 0.3), 0.0);
    assert_eq!(
        ok(Op::Residue, 7.0, 9_007_199_254_740_990.0),
        9_007_199_254_740_990u64.rem_euclid(7) as f64
    );
    assert_eq!(ok(Op::Residue, 3.0, 1e17), (100_000_000_000_000_000u64 % 3) as f64);
    assert_eq!(ok(Op::Sign, -7.5, 0.0), -1.0);
    assert_eq!(ok(Op::Neg, 0.0, 0.0).to_bits(), 0);
}

#[test]
fn booleans_gcd_lcm() {
    assert_eq!(ok(Op::Not, 1.0 - 1e-16, 0.0), 0.0);
    assert!(matches!(eval(Op::Not, CT, 2.0, 0.0), Err(Fail::Domain(_))));
    assert_eq!(ok(Op::Nand, 1.0, 1.0), 0.0);
    assert!(eval(Op::Nor, CT, 0.5, 1.0).is_err());
    assert_eq!(ok(Op::Gcd, 12.0, 18.0), 6.0);
    assert_eq!(ok(Op::Lcm, 4.0, 6.0), 12.0);
    assert_eq!(ok(Op::Lcm, 0.0, 6.0), 0.0);
    assert!(ulps(ok(Op::Gcd, 0.1, 0.15), 0.05) < 8.0);
    assert!(ulps(ok(Op::Lcm, 0.6, 0.4), 1.2) < 16.0);
    assert_eq!([ok(Op::Lcm, 1.0, 0.0), ok(Op::Gcd, 1.0, 0.0)], [0.0, 1.0]);
    // Beyond 2*53 as below it, where the smaller number is of any size.
    let big = 2f64.powi(90) * 15.0;
    assert_eq!([ok(Op::Gcd, big, 6.0), ok(Op::Gcd, 25.0, big)], [6.0, 5.0]);
    assert_eq!(ok(Op::Gcd, big, 2f64.powi(70) * 21.0), 2f64.powi(70) * 3.0);
    assert_eq!([ok(Op::Gcd, big, 0.0), ok(Op::Gcd, big, big)], [big, big]);
}

#[test]
fn factorials_and_binomials() {
    assert_eq!(ok(Op::Fact, 0.0, 0.0), 1.0);
    assert_eq!(ok(Op::Fact, 18.0, 0.0), 6_402_373_705_728_000.0);
    assert!(ulps(ok(Op::Fact, 170.0, 0.0), 7.257415615307999e306) <= 2.0);
    assert!(ulps(ok(Op::Fact, 0.5, 0.0), 0.886_226_925_452_758) <= 10.0);
    assert!(ulps(ok(Op::Fact, -0.5, 0.0), 1.772_453_850_905_516) <= 10.0);
    assert!(ulps(ok(Op::Fact, 100.5, 0.0), 9.367_567_919_603_13e158) <= 10.0);
    assert_eq!(eval(Op::Fact, CT, 171.0, 0.0), Err(Fail::Overflow));
    assert!(matches!(eval(Op::Fact, CT, -1.0, 0.0), Err(Fail::Domain(_))));
    assert_eq!(ok(Op::Binomial, 3.0, -5.0), -35.0);
    assert_eq!(ok(Op::Binomial, 2.0, 5.0), 10.0);
    assert_eq!(ok(Op::Binomial, 6.0, 5.0), 0.0);
    assert_eq!(ok(Op::Binomial, -5.0, -3.0), 6.0);
    assert_eq!(ok(Op::Binomial, 26.0, 52.0), 495_918_532_948_104.0);
    assert!(ulps(ok(Op::Binomial, 2.0, 4.5), 7.875) <= 10.0);
    assert!(ulps(ok(Op::Binomial, 0.5, 1.5), 1.5) <= 20.0);
    assert!(matches!(eval(Op::Binomial, CT, 0.5, -2.0), Err(Fail::Domain(_))));
}

#[test]
fn circle_functions_leave_the_reals_where_they_must() {
    for k in [0, -1, -2, 8, -8] {
        assert_eq!(eval(Op::Circle(k), CT, 2.0, 0.0), Err(Fail::Complex), "{k}");
    }
    assert_eq!(ok(Op::Circle(0), 0.6, 0.0), 0.8);
    assert_eq!(ok(Op::Circle(-4), -1.0, 0.0), 0.0);
    assert_eq!(ok(Op::Circle(12), -3.0, 0.0), std::f64::consts::PI);
    assert_eq!(ok(Op::CircleBy, 2.0, 0.0), 1.0);
    assert!(eval(Op::CircleBy, CT, 1.5, 0.0).is_err());
    assert_eq!(ok(Op::Circle(1), 1e22, 0.0), 1e22f64.sin());
}

#[test]
fn the_sequences_are_within_two_ulp_of_the_library() {
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    for _ in 0..100_000 {
        let x = (next() - 0.5) * 1400.0;
        assert!(ulps(math::exp(x), x.exp()) <= 4.0, "exp {x}");
        let x = (next() - 0.5) * 2000.0;
        assert!((math::sin(x) - x.sin()).abs() <= 4e-16, "sin {x}");
        assert!((math::cos(x) - x.cos()).abs() <= 4e-16, "cos {x}");
        let x = f64::from_bits((next() * 9.2e18) as u64 % 0x7fe0_0000_0000_0000);
        assert!(ulps(math::ln(x), x.ln()) <= 4.0, "ln {x}");
    }
    for x in [0.0, -0.0, 1.0, -745.0, -744.5, -745.2, 709.78, 5e-324] {
        assert!(ulps(math::exp(x), x.exp()) <= 4.0, "exp {x}: {} {}", math::exp(x), x.exp());
    }
    assert_eq!(math::ln(5e-324f64), 5e-324f64.ln());
    // What is beyond is rounded to ∞ and 0 from the right number on.
    let ends = [709.782712893384, 709.7827128933841, -745.1332191019411, -745.1332191019412];
    let [most, above, least, below] = ends.map(math::exp::<f64>);
    assert!(most.is_finite() && above == f64::INFINITY && least == 5e-324 && below == 0.0);
    let ends = [88.722_83, 88.722_84, -103.972_08, -103.972_084];
    let [most, above, least, below] = ends.map(super::single::exp::<f32>);
    assert!(most.is_finite() && above == f32::INFINITY && below == 0.0);
    assert_eq!(least.to_bits(), 1);
    for x in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        assert!(math::exp(x).to_bits() == x.exp().to_bits() || x.is_nan());
        assert_eq!(math::exp(x).is_nan(), x.is_nan());
        assert_eq!(super::single::exp(x as f32).is_nan(), x.is_nan());
    }
}

#[test]
fn circles_are_those_of_the_library_or_next_to_them() {
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let library: [(i8, fn(f64) -> f64, f64); 6] = [
        (5, f64::sinh, 700.0),
        (6, f64::cosh, 700.0),
        (7, f64::tanh, 25.0),
        (-1, f64::asin, 1.0),
        (-2, f64::acos, 1.0),
        (-3, f64::atan, 40.0),
    ];
    for (k, by, most) in library {
        let mut worst = (0.0, 0.0);
        for _ in 0..100_000 {
            let (wide, near) = (next() * most, next());
            let small = next() * 2f64.powi(-((next().abs() * 60.0) as i32));
            for x in [wide, near, small, near.powi(8)] {
                let off = ulps(ok(Op::Circle(k), x, 0.0), by(x));
                worst = if off > worst.0 { (off, x) } else { worst };
            }
        }
        assert!(worst.0 <= 4.0, "{k}○{:e} is off by {} ulp", worst.1, worst.0);
        for x in [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 5e-324, 1e-300, 0.4375, 0.6875] {
            let (own, its) = (ok(Op::Circle(k), x, 0.0), by(x));
            assert!(ulps(own, its) <= 4.0, "{k}○{x:e}: {own:e} {its:e}");
            assert_eq!(own.is_sign_negative(), its.is_sign_negative(), "{k}○{x:e}");
        }
    }
    for (k, by, _) in library.iter().filter(|of| matches!(of.0, 7 | -3)) {
        for x in [1e300, -1e300, f64::INFINITY, f64::NEG_INFINITY, 22.0, 2.4375, 1.1875] {
            assert!(ulps(ok(Op::Circle(*k), x, 0.0), by(x)) <= 4.0, "{k}○{x:e}");
        }
        assert!(ok(Op::Circle(*k), f64::NAN, 0.0).is_nan());
    }
}

#[test]
fn powers_are_those_of_the_library_or_next_to_them() {
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let (mut all, mut other) = (0, 0);
    for k in 0..300_000 {
        let (x, y) = match k % 3 {
            0 => (next() * 10.0, next() * 10.0 - 5.0),
            1 => (1.0 + next() * 1e-3, next() * 1e5),
            _ => {
                let bits = (next() * 9.2e18) as u64 % 0x7fe0_0000_0000_0000;
                (f64::from_bits(bits.max(1 << 52)), next() * 2.0 - 1.0)
            }
        };
        let (own, power) = math::raised(x, y);
        if x < f64::MIN_POSITIVE || power.abs() >= 700.0 {
            continue;
        }
        let library = x.powf(y);
        assert!(ulps(own, library) <= 2.0, "{x:e}*{y:e}: {own:e} {library:e}");
        all += 1;
        other += usize::from(own != library);
    }
    assert!(all > 250_000 && other * 25 < all, "{other} of {all}");
    // What is a float comes out as it.
    for k in 1..1000_u64 {
        let x = (k * k) as f64;
        assert_eq!(ok(Op::Pow, x, 1.5), (k * k * k) as f64);
        assert_eq!(ok(Op::Pow, 2.0, k as f64), 2f64.powi(k as i32));
    }
}

#[test]
fn powers_whose_exponents_differ_are_those_of_one_exponent() {
    let bases =
        [0.0, -0.0, 1.0, -1.0, 1.1, -2.5, 7.0, 1e-200, -1e200, 5e-324, f64::INFINITY, f64::NAN];
    for x in bases {
        for n in -64..=64 {
            let (value, odd) = small_power(x, n);
            let (own, own_odd) = math::small_powers(x, f64::from(n));
            assert_eq!(own_odd, odd, "{x:e}*{n}");
            assert!(own.to_bits() == value.to_bits() || own.is_nan() && value.is_nan(), "{x}*{n}");
            let (lanes, suspect) = <rules::Pow as rules::Rule>::lanes(x, f64::from(n), CT);
            let same = lanes.to_bits() == value.to_bits() || lanes.is_nan() && value.is_nan();
            assert!(suspect || same, "{x}*{n}: {lanes}");
        }
    }
}

#[test]
fn every_operation_takes_every_special_value() {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        -2.5,
        1e308,
        -1e308,
        5e-324,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let circles = (-12..=12).map(Op::Circle);
    for op in crate::prim::op::OPS.iter().map(|r| r.op).chain(circles) {
        for x in special {
            for y in special {
                if let Ok(v) = eval(op, CT, x, y) {
                    assert!(
                        v.is_finite() || !x.is_finite() || !y.is_finite(),
                        "{op:?} {x} {y} gave {v}"
                    );
                }
            }
        }
    }
}

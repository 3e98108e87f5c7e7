//! Tiles of a product: a few rows by a few columns, with the partials of `prim::reduce` in
//! registers.
//!
//! | instruction set | rows × columns | registers of partials |
//! |---|---|---|
//! | AVX-512 | 4 × 6, eight partials each | 24 of 32 |
//! | AVX2 | 2 × 3, eight partials each | 12 of 16 |
//! | portable | 1 × 2, eight partials each | 8 of 16, where the compiler pairs them |
//!
//! A result has 64 partials, so a tile goes over its operands eight times, each time for partials
//! 8g…8g+7; packed operands hold what one of these goes over in one run: for step t, line r and
//! partial l of the eight the item at `((g × steps + t) × lines + r) × 8 + l`. A partial starts as
//! what changes nothing (¯0.0 for a sum) instead of as its first product, and lanes beyond the end
//! give the same, so that no tile has an end of its own: the bits are the same.

use super::isa::Isa;
use super::lanes::Wide;
#[cfg(target_arch = "x86_64")]
use super::lanes::{V4, V8};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::LANES;
use aplomb_values::prim::scalar::rules::{self, Rule};

/// Partials to a run.
pub const GROUP: usize = 8;
pub const GROUPS: usize = LANES / GROUP;

/// `steps` steps of one run of packed operands into rows × columns × 8 partials, row by row.
/// `fresh`: they hold nothing yet. Safety: operands and partials hold that many.
pub type Tile =
    unsafe fn(left: *const f64, right: *const f64, steps: usize, part: *mut f64, fresh: bool);
/// All partials of a tile, run after run, to its results, row by row. Safety: both hold that many.
pub type Ends = unsafe fn(part: *const f64, out: *mut f64);

#[derive(Clone, Copy)]
pub struct Tiles {
    pub rows: usize,
    pub columns: usize,
    /// The numbers that both operands are filled up with: their product changes nothing.
    pub fill: [f64; 2],
    pub tile: Tile,
    pub ends: Ends,
}

/// A sum and what it is of: what partials begin with and operands are filled up with.
trait Pair {
    type Sum: Rule;
    type Times: Rule;
    const START: f64;
    const FILL: [f64; 2];
    /// Each product is rounded to f32.
    const NARROW: bool = false;
}

/// The operands for which a row holds.
#[derive(Clone, Copy, PartialEq)]
pub enum Where {
    /// f32 products are rounded.
    Narrow,
    Wide,
    /// Neither ∞ nor NaN, which these would hide, nor equal by tolerance: whole numbers as they are
    /// stored.
    Exact,
    Bools,
}

/// The table of pairs: a type each, and `tiles`.
macro_rules! pairs {
    ($($name:ident: $sum:pat, $times:pat, $where:pat =>
        $s:ty, $t:ty, $start:expr, $fill:expr $(, $narrow:literal)?;)*) => {
        $(
            struct $name;
            impl Pair for $name {
                type Sum = $s;
                type Times = $t;
                const START: f64 = $start;
                const FILL: [f64; 2] = $fill;
                $(const NARROW: bool = $narrow;)?
            }
        )*

        /// The tiles of a pair of operations; None: it has none.
        pub fn tiles(isa: Isa, sum: Op, times: Op, of: Where) -> Option<Tiles> {
            Some(match (sum, times, of) {
                $(($sum, $times, $where) => self::of::<$name>(isa),)*
                _ => return None,
            })
        }
    };
}

const MOST: f64 = f64::INFINITY;

pairs! {
    Product: Op::Add, Op::Mul, Where::Wide | Where::Exact | Where::Bools =>
        rules::Add, rules::Mul, -0.0, [-0.0, 0.0];
    Narrow: Op::Add, Op::Mul, Where::Narrow => rules::Add, rules::Mul, -0.0, [-0.0, 0.0], true;
    Matches: Op::Add, Op::Eq, Where::Exact | Where::Bools =>
        rules::Add, rules::Eq<false>, -0.0, [0.0, 1.0];
    Differences: Op::Add, Op::Ne, Where::Exact | Where::Bools =>
        rules::Add, rules::Ne<false>, -0.0, [0.0, 0.0];
    Both: Op::Add, Op::Lcm, Where::Bools => rules::Add, rules::And, -0.0, [0.0, 0.0];
    Reaches: Op::Gcd, Op::Lcm, Where::Bools => rules::Or, rules::And, 0.0, [0.0, 0.0];
    Covers: Op::Lcm, Op::Gcd, Where::Bools => rules::And, rules::Or, 1.0, [1.0, 1.0];
    Longest: Op::Max, Op::Add, Where::Exact | Where::Bools =>
        rules::Max, rules::Add, -MOST, [-MOST, 0.0];
    Shortest: Op::Min, Op::Add, Where::Exact | Where::Bools =>
        rules::Min, rules::Add, MOST, [MOST, 0.0];
    Greatest: Op::Max, Op::Mul, Where::Exact | Where::Bools =>
        rules::Max, rules::Mul, -MOST, [-MOST, 1.0];
    Least: Op::Min, Op::Mul, Where::Exact | Where::Bools =>
        rules::Min, rules::Mul, MOST, [MOST, 1.0];
}

// All indices are known where it is compiled: what they name are registers.
#[allow(clippy::needless_range_loop)]
#[inline(always)]
unsafe fn tile<P: Pair, L: Wide, const R: usize, const C: usize, const H: usize>(
    left: *const f64,
    right: *const f64,
    steps: usize,
    part: *mut f64,
    fresh: bool,
) {
    const { assert!(H * L::N == GROUP) };
    // SAFETY: `Tile`'s contract.
    unsafe {
        let zero = L::splat(0.0);
        let mut sums = [[[L::splat(P::START); H]; C]; R];
        let at = |r: usize, c: usize, h: usize| (r * C + c) * GROUP + h * L::N;
        if !fresh {
            for r in 0..R {
                for c in 0..C {
                    for h in 0..H {
                        sums[r][c][h] = L::load(part.add(at(r, c, h)));
                    }
                }
            }
        }
        for t in 0..steps {
            let (left, right) = (left.add(t * R * GROUP), right.add(t * C * GROUP));
            for h in 0..H {
                let mut xs = [zero; R];
                for (r, x) in xs.iter_mut().enumerate() {
                    *x = L::load(left.add(r * GROUP + h * L::N));
                }
                for c in 0..C {
                    let y = L::load(right.add(c * GROUP + h * L::N));
                    for r in 0..R {
                        let product = P::Times::lanes(xs[r], y, zero).0;
                        let product = if P::NARROW { product.narrow() } else { product };
                        sums[r][c][h] = P::Sum::lanes(sums[r][c][h], product, zero).0;
                    }
                }
            }
        }
        for r in 0..R {
            for c in 0..C {
                for h in 0..H {
                    sums[r][c][h].store(part.add(at(r, c, h)));
                }
            }
        }
    }
}

/// Partials halved: first runs g and g+4, g+2, g+1, then inside of the one that is left.
#[inline(always)]
unsafe fn ends<P: Pair, L: Wide, const R: usize, const C: usize, const H: usize>(
    part: *const f64,
    out: *mut f64,
) {
    // SAFETY: `Ends`' contract.
    unsafe {
        let zero = L::splat(0.0);
        let add = |x: L, y: L| P::Sum::lanes(x, y, zero).0;
        let one = |x: f64, y: f64| P::Sum::lanes(x, y, 0.0).0;
        for k in 0..R * C {
            let mut held = [0.0; GROUP];
            for h in 0..H {
                let run = |g: usize| L::load(part.add((g * R * C + k) * GROUP + h * L::N));
                let even = add(add(run(0), run(4)), add(run(2), run(6)));
                let odd = add(add(run(1), run(5)), add(run(3), run(7)));
                add(even, odd).store(held.as_mut_ptr().add(h * L::N));
            }
            let [a, b, c, d, e, f, g, h] = held;
            *out.add(k) = one(one(one(a, e), one(c, g)), one(one(b, f), one(d, h)));
        }
    }
}

/// One instruction set's instances.
macro_rules! instances {
    ($name:ident, $lane:ty, $rows:literal, $columns:literal, $halves:literal
        $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn tile<P: Pair>(
                left: *const f64, right: *const f64, steps: usize, part: *mut f64, fresh: bool,
            ) {
                unsafe {
                    super::tile::<P, $lane, $rows, $columns, $halves>(
                        left, right, steps, part, fresh,
                    )
                }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn ends<P: Pair>(part: *const f64, out: *mut f64) {
                unsafe { super::ends::<P, $lane, $rows, $columns, $halves>(part, out) }
            }

            pub fn of<P: Pair>() -> Tiles {
                Tiles {
                    rows: $rows,
                    columns: $columns,
                    fill: P::FILL,
                    tile: tile::<P>,
                    ends: ends::<P>,
                }
            }
        }
    };
}

instances!(portable, f64, 1, 2, 8);
#[cfg(target_arch = "x86_64")]
instances!(avx2, V4, 2, 3, 2, "avx2,fma,bmi2");
#[cfg(target_arch = "x86_64")]
instances!(avx512, V8, 4, 6, 1, "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi2");

fn of<P: Pair>(isa: Isa) -> Tiles {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::of::<P>(),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::of::<P>(),
        _ => portable::of::<P>(),
    }
}

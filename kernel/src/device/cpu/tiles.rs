//! Tiles of a product: a few rows by a few columns, with the partials of `prim::reduce` in registers.
//!
//! | instruction set | rows × columns | registers of partials |
//! |---|---|---|
//! | AVX-512 | 4 × 6, eight partials each | 24 of 32 |
//! | AVX2 | 2 × 3, eight partials each | 12 of 16 |
//! | portable | 1 × 2, eight partials each | 8 of 16, where the compiler pairs them |
//!
//! A result has 64 partials, so a tile goes over its operands eight times, each time for partials 8g…8g+7; packed
//! operands hold what one of these goes over in one run: for step t, line r and partial l of the eight the item at
//! `((g × steps + t) × lines + r) × 8 + l`. A partial starts as what changes nothing (¯0.0 for a sum) instead of as its
//! first product, and lanes beyond the end give the same, so that no tile has an end of its own: the bits are the same.

use super::isa::Isa;
use super::lanes::Wide;
#[cfg(target_arch = "x86_64")]
use super::lanes::{V4, V8};
use aplomb_lang::prim::op::Op;
use aplomb_lang::prim::reduce::LANES;
use aplomb_lang::prim::scalar::rules::{self, Rule};

/// Partials to a run.
pub const GROUP: usize = 8;
pub const GROUPS: usize = LANES / GROUP;

/// `steps` steps of one run of packed operands into rows × columns × 8 partials, row by row. `fresh`: they hold
/// nothing yet. Safety: operands and partials hold that many.
pub type Tile = unsafe fn(left: *const f64, right: *const f64, steps: usize, part: *mut f64, fresh: bool);
/// All partials of a tile, run after run, to its results, row by row. Safety: both hold that many.
pub type Ends = unsafe fn(part: *const f64, out: *mut f64);

#[derive(Clone, Copy)]
pub struct Tiles {
    pub rows: usize,
    pub columns: usize,
    /// What both operands are filled up with: their product changes nothing.
    pub fill: [f64; 2],
    pub tile: Tile,
    pub ends: Ends,
}

/// What a pair of operations begins with and is filled up with.
trait Pair {
    type Sum: Rule;
    type Times: Rule;
    const START: f64;
    const FILL: [f64; 2];
}

/// `+.×`
struct SumOfProducts;
impl Pair for SumOfProducts {
    type Sum = rules::Add;
    type Times = rules::Mul;
    const START: f64 = -0.0;
    const FILL: [f64; 2] = [-0.0, 0.0];
}

#[inline(always)]
unsafe fn tile<P: Pair, L: Wide, const R: usize, const C: usize, const H: usize, const NARROW: bool>(
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
                        let product = if NARROW { product.narrow() } else { product };
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
unsafe fn ends<P: Pair, L: Wide, const R: usize, const C: usize, const H: usize>(part: *const f64, out: *mut f64) {
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
    ($name:ident, $lane:ty, $rows:literal, $columns:literal, $halves:literal $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn tile<P: Pair, const NARROW: bool>(
                left: *const f64, right: *const f64, steps: usize, part: *mut f64, fresh: bool,
            ) {
                unsafe { super::tile::<P, $lane, $rows, $columns, $halves, NARROW>(left, right, steps, part, fresh) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn ends<P: Pair>(part: *const f64, out: *mut f64) {
                unsafe { super::ends::<P, $lane, $rows, $columns, $halves>(part, out) }
            }

            pub fn of<P: Pair>(narrow: bool) -> Tiles {
                let tile = if narrow { tile::<P, true> } else { tile::<P, false> };
                Tiles { rows: $rows, columns: $columns, fill: P::FILL, tile, ends: ends::<P> }
            }
        }
    };
}

instances!(portable, f64, 1, 2, 8);
#[cfg(target_arch = "x86_64")]
instances!(avx2, V4, 2, 3, 2, "avx2,fma,bmi2");
#[cfg(target_arch = "x86_64")]
instances!(avx512, V8, 4, 6, 1, "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi2");

fn of<P: Pair>(isa: Isa, narrow: bool) -> Tiles {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::of::<P>(narrow),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::of::<P>(narrow),
        _ => portable::of::<P>(narrow),
    }
}

/// The tiles of a pair of operations; None: it has none.
pub fn tiles(isa: Isa, sum: Op, times: Op, narrow: bool) -> Option<Tiles> {
    Some(match (sum, times) {
        (Op::Add, Op::Mul) => of::<SumOfProducts>(isa, narrow),
        _ => return None,
    })
}

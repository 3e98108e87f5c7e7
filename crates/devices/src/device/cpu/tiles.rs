//! Tiles of a product: a few rows by a few columns, with the partials of `prim::reduce` in
//! registers.
//!
//! | instruction set | rows × columns | registers of partials |
//! |---|---|---|
//! | AVX-512 | 4 × 6, a register of partials each | 24 of 32 |
//! | AVX2 | 2 × 3, two registers each | 12 of 16 |
//! | portable | 1 × 2, eight partials each, or sixteen of f32 | 8 of 16, where the compiler pairs them |
//!
//! A result has 64 partials, or 16 (`DOTS`), of f64, or of f32 where f32 is added. A *group* is as
//! many as fill 64 bytes: 8, or 16. A tile goes over its operands once for each group; packed
//! operands hold what one of these goes over in one run: for step t, line r and partial l of the
//! group the item at `((g × steps + t) × lines + r) × group + l`. A partial starts as what changes
//! nothing (¯0.0 for a sum) instead of as its first product, and lanes beyond the end give the
//! same, so that no tile has an end of its own: the bits are the same.

use super::gather::soon;
use super::isa::Isa;
use super::lanes::Wide;
#[cfg(target_arch = "x86_64")]
use super::lanes::{V4, V8};
use super::singles::Cells;
#[cfg(target_arch = "x86_64")]
use super::singles::{S8, S16};
use aplomb_values::array::DType;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::{DOTS, LANES, halve};
use aplomb_values::prim::scalar::lane::Lane;
use aplomb_values::prim::scalar::rules::{self, Rule};
use std::convert::Infallible;

/// Results of a tile, at most.
pub const LARGEST: usize = 24;
/// Steps of a run that stays in L1, and how many of them the left operand is asked for ahead.
const STEPS: usize = 64;
const AHEAD: usize = 4;
/// The bytes of a group.
pub const GROUP_BYTES: usize = 64;

/// `steps` steps of one run of packed operands into rows × columns groups of partials, row by row;
/// all are f64 or f32, as `Tiles::single` says. `fresh`: the partials hold nothing yet. Safety:
/// operands and partials hold that many.
pub type Tile =
    unsafe fn(left: *const u8, right: *const u8, steps: usize, part: *mut u8, fresh: bool);
/// All partials of a tile, run after run, to its results, row by row. Safety: both hold that many.
pub type Ends = unsafe fn(part: *const u8, out: *mut f64);

#[derive(Clone, Copy)]
pub struct Tiles {
    pub rows: usize,
    pub columns: usize,
    /// The numbers that both operands are filled up with: their product changes nothing.
    pub fill: [f64; 2],
    /// Operands are packed as f32, which is what partials are of.
    pub single: bool,
    /// The partials of a result.
    pub partials: usize,
    pub tile: Tile,
    pub ends: Ends,
}

impl Tiles {
    /// The type of what is packed.
    pub fn dtype(&self) -> DType {
        if self.single { DType::F32 } else { DType::F64 }
    }

    /// Partials of a group.
    pub fn group(&self) -> usize {
        GROUP_BYTES / self.dtype().size()
    }

    /// Groups of a result.
    pub fn groups(&self) -> usize {
        self.partials / self.group()
    }

    /// Items of a line that a tile goes over at a time, so that its operands' parts stay in L1.
    pub fn deep(&self) -> usize {
        STEPS * self.partials
    }
}

/// A sum and what it is of: what partials begin with and operands are filled up with.
trait Pair {
    type Sum: Rule;
    type Times: Rule;
    const START: f64;
    const FILL: [f64; 2];
    const PARTIALS: usize = LANES;

    /// A partial and one more pair.
    #[inline(always)]
    fn take<L: Lane>(sum: L, x: L, y: L) -> L {
        let zero = L::splat(0.0);
        Self::Sum::lanes(sum, Self::Times::lanes(x, y, zero).0, zero).0
    }
}

/// The products that a sum takes unrounded.
struct Dot;
impl Pair for Dot {
    type Sum = rules::Add;
    type Times = rules::Mul;
    const START: f64 = Product::START;
    const FILL: [f64; 2] = Product::FILL;
    const PARTIALS: usize = DOTS;

    #[inline(always)]
    fn take<L: Lane>(sum: L, x: L, y: L) -> L {
        x.fma(y, sum)
    }
}

/// The operands for which a row holds.
#[derive(Clone, Copy, PartialEq)]
pub enum Where {
    /// Products of f32 that are added in f32.
    Single,
    Wide,
    /// Neither ∞ nor NaN, which these would hide, nor equal by tolerance: whole numbers as they are
    /// stored.
    Exact,
    Bools,
}

/// The table of pairs: a type each, and `tiles`.
macro_rules! pairs {
    ($($name:ident: $sum:pat, $times:pat, $where:pat =>
        $s:ty, $t:ty, $start:expr, $fill:expr;)*) => {
        $(
            struct $name;
            impl Pair for $name {
                type Sum = $s;
                type Times = $t;
                const START: f64 = $start;
                const FILL: [f64; 2] = $fill;
            }
        )*

        /// The tiles of a pair of operations; None: it has none.
        pub fn tiles(isa: Isa, sum: Op, times: Op, of: Where) -> Option<Tiles> {
            Some(match (sum, times, of) {
                $(($sum, $times, $where) => self::of::<$name>(isa, false),)*
                (Op::Add, Op::Mul, Where::Single) => self::of::<Product>(isa, true),
                (Op::Add, Op::Dot, of) => self::of::<Dot>(isa, of == Where::Single),
                _ => return None,
            })
        }
    };
}

const MOST: f64 = f64::INFINITY;

pairs! {
    Product: Op::Add, Op::Mul, Where::Wide | Where::Exact | Where::Bools =>
        rules::Add, rules::Mul, -0.0, [-0.0, 0.0];
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
unsafe fn tile<P: Pair, L: Cells, const R: usize, const C: usize, const H: usize>(
    left: *const u8,
    right: *const u8,
    steps: usize,
    part: *mut u8,
    fresh: bool,
) {
    const { assert!(H * L::COUNT * size_of::<L::Item>() == GROUP_BYTES) };
    let group = H * L::COUNT;
    let (left, right) = (left.cast::<L::Item>(), right.cast::<L::Item>());
    let part = part.cast::<L::Item>();
    // SAFETY: `Tile`'s contract.
    unsafe {
        let zero = L::splat(0.0);
        let mut sums = [[[L::splat(P::START); H]; C]; R];
        let at = |r: usize, c: usize, h: usize| (r * C + c) * group + h * L::COUNT;
        if !fresh {
            for r in 0..R {
                for c in 0..C {
                    for h in 0..H {
                        sums[r][c][h] = L::take(part.add(at(r, c, h)));
                    }
                }
            }
        }
        for t in 0..steps {
            let (left, right) = (left.add(t * R * group), right.add(t * C * group));
            // The left operand comes from the second cache.
            for r in 0..R {
                soon(left.wrapping_add((AHEAD * R + r) * group));
            }
            for h in 0..H {
                let mut xs = [zero; R];
                for (r, x) in xs.iter_mut().enumerate() {
                    *x = L::take(left.add(r * group + h * L::COUNT));
                }
                for c in 0..C {
                    let y = L::take(right.add(c * group + h * L::COUNT));
                    for r in 0..R {
                        sums[r][c][h] = P::take(sums[r][c][h], xs[r], y);
                    }
                }
            }
        }
        for r in 0..R {
            for c in 0..C {
                for h in 0..H {
                    sums[r][c][h].put(part.add(at(r, c, h)));
                }
            }
        }
    }
}

/// Eight partials from the `first` on, as f64: of all of the results, group by group.
#[inline(always)]
unsafe fn eight<L: Wide, const SINGLE: bool>(
    part: *const u8,
    (results, k): (usize, usize),
    first: usize,
    h: usize,
) -> L
where
    L::Short: Cells<Item = f32>,
{
    // SAFETY: `Ends`' contract.
    unsafe {
        let place = |group: usize| {
            let (g, l) = (first / group, first % group);
            (g * results + k) * group + l + h * L::N
        };
        match SINGLE {
            true => L::long(L::Short::take(part.cast::<f32>().add(place(16)))),
            false => L::load(part.cast::<f64>().add(place(8))),
        }
    }
}

/// Partials halved: first runs g and g+4, g+2, g+1 of eight, of which there are eight or two, then
/// inside of the one that is left.
#[allow(clippy::needless_range_loop)]
#[inline(always)]
unsafe fn ends<P: Pair, L: Wide, const RESULTS: usize, const SINGLE: bool>(
    from: *const u8,
    out: *mut f64,
) where
    L::Short: Cells<Item = f32>,
{
    // SAFETY: `Ends`' contract.
    unsafe {
        let zero = L::splat(0.0);
        let add = |x: L, y: L| P::Sum::lanes(x, y, zero).0;
        // As many results as a register has lanes, side by side.
        for first in (0..RESULTS).step_by(L::N) {
            let count = L::N.min(RESULTS - first);
            let mut block = [zero; 8];
            for (k, end) in block.iter_mut().take(count).enumerate() {
                let mut part = [zero; 8];
                let part = &mut part[..8 / L::N];
                for (h, part) in part.iter_mut().enumerate() {
                    let run = |g: usize| eight::<L, SINGLE>(from, (RESULTS, first + k), 8 * g, h);
                    *part = if P::PARTIALS == DOTS {
                        add(run(0), run(1))
                    } else {
                        let even = add(add(run(0), run(4)), add(run(2), run(6)));
                        let odd = add(add(run(1), run(5)), add(run(3), run(7)));
                        add(even, odd)
                    };
                }
                let Ok(()) = halve::<_, Infallible>(part, |x, y| Ok(add(x, y)));
                *end = part[0];
            }
            let sums = L::ends(block, add);
            let mut done = [0.0; 8];
            sums.store(done.as_mut_ptr());
            std::ptr::copy_nonoverlapping(done.as_ptr(), out.add(first), count);
        }
    }
}

/// One instruction set's instances: lanes of f64 with their registers to a group, and of f32.
macro_rules! instances {
    ($name:ident, $rows:literal, $columns:literal, $lane:ty, $halves:literal, $short:ty,
        $shorts:literal $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn tile<P: Pair>(
                left: *const u8, right: *const u8, steps: usize, part: *mut u8, fresh: bool,
            ) {
                unsafe {
                    super::tile::<P, $lane, $rows, $columns, $halves>(
                        left, right, steps, part, fresh,
                    )
                }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn tile_of_singles<P: Pair>(
                left: *const u8, right: *const u8, steps: usize, part: *mut u8, fresh: bool,
            ) {
                unsafe {
                    super::tile::<P, $short, $rows, $columns, $shorts>(
                        left, right, steps, part, fresh,
                    )
                }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn ends<P: Pair, const SINGLE: bool>(part: *const u8, out: *mut f64) {
                unsafe { super::ends::<P, $lane, { $rows * $columns }, SINGLE>(part, out) }
            }

            pub fn of<P: Pair>(single: bool) -> Tiles {
                const { assert!($rows * $columns <= LARGEST) };
                let (tile, ends): (Tile, Ends) = match single {
                    true => (tile_of_singles::<P>, ends::<P, true>),
                    false => (tile::<P>, ends::<P, false>),
                };
                let (rows, columns, partials) = ($rows, $columns, P::PARTIALS);
                Tiles { rows, columns, fill: P::FILL, single, partials, tile, ends }
            }
        }
    };
}

instances!(portable, 1, 2, f64, 8, f32, 16);
#[cfg(target_arch = "x86_64")]
instances!(avx2, 2, 3, V4, 2, S8, 2, "avx2,fma,bmi2");
#[cfg(target_arch = "x86_64")]
instances!(avx512, 4, 6, V8, 1, S16, 1, "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi2");

fn of<P: Pair>(isa: Isa, single: bool) -> Tiles {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::of::<P>(single),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::of::<P>(single),
        _ => portable::of::<P>(single),
    }
}

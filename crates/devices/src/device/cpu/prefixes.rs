//! Running folds of floats along lines of one length that begin equally far apart, a line a lane.
//!
//! | items | strategy |
//! |---|---|
//! | as many of as many lines as a register has lanes | turned, so that a register holds an item of each line; folded one after another; turned back |
//! | what is left of the lines | one after another |
//!
//! A fold from left to right waits for itself, some cycles an item; that of eight lines waits no
//! longer. Where lines are fewer than lanes, the last one has several: they do the same. The order
//! of a line is that of `prim::scan`, so the bits are; what is not finite is told, and left to the
//! scalar meaning.

use super::isa::Isa;
use super::lanes::Wide;
#[cfg(target_arch = "x86_64")]
use super::lanes::{V4, V8};
use super::singles::Cells;
use aplomb_values::array::DType;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::lane::Lane;
use aplomb_values::prim::scalar::rules::{self, Rule};

/// Lines that one call takes at most.
pub const LINES: usize = 8;

/// Lines of items of f64 or f32, `pitch` items apart.
#[derive(Clone, Copy)]
pub struct Lines {
    pub at: *const u8,
    pub single: bool,
    pub pitch: usize,
    /// 1…`LINES`.
    pub count: usize,
    /// Items of each, at least one.
    pub n: usize,
}

/// The running folds of lines from what stands before each, into f64 or f32 (`single`) that lie as
/// the items do; and the fold of each line by itself. False: some number is not finite, and nothing
/// of what was written counts. Safety: the lines lie there, in type and number; `to` holds as many.
pub type Run = unsafe fn(lines: Lines, fold: &mut Fold, to: *mut u8, single: bool) -> bool;
/// The folds of lines alone. Safety: the lines lie there.
pub type Total = unsafe fn(lines: Lines, fold: &mut Fold) -> bool;

/// Numbers of lines.
#[derive(Clone, Copy)]
pub struct Fold {
    pub before: [f64; LINES],
    pub total: [f64; LINES],
}

/// The loops of an operation.
#[derive(Clone, Copy)]
pub struct Prefixes {
    pub run: Run,
    pub total: Total,
    /// The number that changes nothing.
    pub neutral: f64,
}

/// Floats in memory as lanes of f64.
trait Item: Copy {
    /// Safety: a register's items lie there.
    unsafe fn take<L: Wide>(at: *const Self) -> L;
    /// Rounded to the type; what comes back is 0 times that. Safety: there is room for a register's
    /// items.
    unsafe fn put<L: Wide>(x: L, at: *mut Self) -> L;
}

impl Item for f64 {
    #[inline(always)]
    unsafe fn take<L: Wide>(at: *const f64) -> L {
        // SAFETY: the caller's.
        unsafe { L::load(at) }
    }
    #[inline(always)]
    unsafe fn put<L: Wide>(x: L, at: *mut f64) -> L {
        // SAFETY: the caller's.
        unsafe { x.store(at) };
        x.mul(L::splat(0.0))
    }
}

impl Item for f32 {
    #[inline(always)]
    unsafe fn take<L: Wide>(at: *const f32) -> L {
        // SAFETY: the caller's.
        L::long(unsafe { L::Short::take(at) })
    }
    #[inline(always)]
    unsafe fn put<L: Wide>(x: L, at: *mut f32) -> L {
        let short = x.short();
        // SAFETY: the caller's.
        unsafe { short.put(at) };
        L::long(short.mul(<L::Short as Lane>::splat(0.0)))
    }
}

/// One step of a running fold.
#[inline(always)]
fn step<R: Rule, L: Wide>(x: L, y: L) -> L {
    R::lanes(x, y, L::splat(0.0)).0
}

/// As many lines as lanes from the first on, into `to` if `WANTED`. Safety: as `Run`.
#[allow(clippy::needless_range_loop)]
#[inline(always)]
unsafe fn group<R: Rule, L: Wide, F: Item, T: Item, const WANTED: bool>(
    (lines, first): (Lines, usize),
    neutral: f64,
    fold: &mut Fold,
    to: *mut T,
) -> bool {
    let (zero, n) = (L::splat(0.0), lines.n);
    let mut from = [lines.at.cast::<F>(); 8];
    let mut into = [to; 8];
    let (mut befores, mut sums) = ([0.0; 8], [neutral; 8]);
    for k in 0..L::N {
        let line = (first + k).min(lines.count - 1);
        from[k] = from[k].wrapping_add(line * lines.pitch);
        into[k] = into[k].wrapping_add(line * lines.pitch);
        befores[k] = fold.before[line];
    }
    let mut fine = true;
    // SAFETY: all that is read and written lies in the lines.
    unsafe {
        let (before, mut sum) = (L::load(befores.as_ptr()), L::load(sums.as_ptr()));
        // 0 as long as all is finite, NaN from then on.
        let mut odd = zero;
        let mut i = 0;
        while i + L::N <= n {
            let mut block = [zero; 8];
            for k in 0..L::N {
                block[k] = F::take(from[k].add(i));
            }
            L::turn(&mut block);
            // By place: a loop over the block itself would keep it in memory, three times as slow.
            for k in 0..L::N {
                odd = odd.add(block[k].mul(zero));
                sum = step::<R, L>(sum, block[k]);
                block[k] = step::<R, L>(before, sum);
            }
            if WANTED {
                L::turn(&mut block);
                for k in 0..L::N {
                    odd = odd.add(T::put(block[k], into[k].add(i)));
                }
            }
            i += L::N;
        }
        sum.store(sums.as_mut_ptr());
        for k in 0..L::N {
            let mut sum = sums[k];
            for j in i..n {
                let item: f64 = F::take(from[k].add(j));
                sum = step::<R, f64>(sum, item);
                fine &= item.is_finite();
                if WANTED {
                    let odd: f64 = T::put(step::<R, f64>(befores[k], sum), into[k].add(j));
                    fine &= !odd.is_nan();
                }
            }
            // What is not finite stays so.
            fine &= sum.is_finite();
            fold.total[(first + k).min(lines.count - 1)] = sum;
        }
        fine && !L::any(L::not(odd.eq(odd)))
    }
}

#[inline(always)]
unsafe fn all<P: Pair, L: Wide, F: Item, T: Item, const WANTED: bool>(
    lines: Lines,
    fold: &mut Fold,
    to: *mut T,
) -> bool {
    // SAFETY: the caller's.
    unsafe {
        if lines.count == 1 {
            return group::<P::Step, f64, F, T, WANTED>((lines, 0), P::NEUTRAL, fold, to);
        }
        let (mut fine, mut first) = (true, 0);
        while first < lines.count {
            fine &= group::<P::Step, L, F, T, WANTED>((lines, first), P::NEUTRAL, fold, to);
            first += L::N;
        }
        fine
    }
}

/// An operation and the number that changes nothing in it.
trait Pair {
    type Step: Rule;
    const NEUTRAL: f64;
}

/// The table of operations: a type each, and `pick`.
macro_rules! pairs {
    ($($name:ident: $op:pat => $rule:ty, $neutral:expr;)*) => {
        $(
            struct $name;
            impl Pair for $name {
                type Step = $rule;
                const NEUTRAL: f64 = $neutral;
            }
        )*

        /// The loops of an operation on an instruction set; None: it has none.
        pub fn prefixes(isa: Isa, op: Op) -> Option<Prefixes> {
            match op {
                $($op => Some(of::<$name>(isa)),)*
                _ => None,
            }
        }
    };
}

pairs! {
    Sum: Op::Add => rules::Add, -0.0;
    Product: Op::Mul => rules::Mul, 1.0;
    Most: Op::Max => rules::Max, f64::NEG_INFINITY;
    Least: Op::Min => rules::Min, f64::INFINITY;
}

/// One instruction set's instances.
macro_rules! instances {
    ($name:ident, $lane:ty $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn run<P: Pair>(
                lines: Lines,
                fold: &mut Fold,
                to: *mut u8,
                single: bool,
            ) -> bool {
                // SAFETY: the caller's.
                unsafe {
                    match (lines.single, single) {
                        (false, false) => all::<P, $lane, f64, f64, true>(lines, fold, to.cast()),
                        (false, true) => all::<P, $lane, f64, f32, true>(lines, fold, to.cast()),
                        (true, false) => all::<P, $lane, f32, f64, true>(lines, fold, to.cast()),
                        (true, true) => all::<P, $lane, f32, f32, true>(lines, fold, to.cast()),
                    }
                }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn total<P: Pair>(lines: Lines, fold: &mut Fold) -> bool {
                let none = std::ptr::null_mut();
                // SAFETY: the caller's.
                unsafe {
                    match lines.single {
                        false => all::<P, $lane, f64, f64, false>(lines, fold, none),
                        true => all::<P, $lane, f32, f64, false>(lines, fold, none),
                    }
                }
            }

            pub fn all_of<P: Pair>() -> Prefixes {
                Prefixes { run: run::<P>, total: total::<P>, neutral: P::NEUTRAL }
            }
        }
    };
}

instances!(portable, f64);
#[cfg(target_arch = "x86_64")]
instances!(avx2, V4, "avx2,fma,bmi2");
#[cfg(target_arch = "x86_64")]
instances!(avx512, V8, "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi2");

fn of<P: Pair>(isa: Isa) -> Prefixes {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::all_of::<P>(),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::all_of::<P>(),
        _ => portable::all_of::<P>(),
    }
}

/// Floats that lines may be of.
pub fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}

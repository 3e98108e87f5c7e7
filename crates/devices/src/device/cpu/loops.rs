//! The loops: one per operation, operand kinds and instruction set, over f64 in L1.
//!
//! | operands | strategy | measured, AVX-512, 1 024 elements |
//! |---|---|---|
//! | array, array | a register of each, one of the result, no unrolling (store bound) | see `benches` in the crate's tests |
//! | array, number | the number broadcast once, outside of the loop | as above |
//! | folds | see `trees` | |
//!
//! The destination may be an operand. A plain indexed loop then ran scalar (43 instead of 15 ns an
//! element on Black-Scholes), hence raw pointers and explicit registers. What is left over of a
//! register goes through one on the stack, filled with 1, which no rule suspects.

use super::isa::Isa;
use super::lanes::Wide;
#[cfg(target_arch = "x86_64")]
use super::lanes::{V4, V8};
use super::trees::{
    Long, Short, Way, all_finite, gather, gather_products, long_rows, products_in_order,
    products_onto, rows, rows_of_singles, short,
};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::{DOTS, LANES};
use aplomb_values::prim::scalar::rules::{self, Rule, Visit};
use aplomb_values::prim::scalar::small_power;
use std::marker::PhantomData;

/// `out[i] = x[i] op y[i]` for i < n; true: some element is suspect. Safety: n elements at each
/// pointer (1 for a number), `out` may be `x` or `y` but not overlap them otherwise, the
/// instruction set is there.
pub type Loop = unsafe fn(out: *mut f64, x: *const f64, y: *const f64, ct: f64, n: usize) -> bool;
/// Folds n elements into 64 partials, element i into partial i mod 64. `fresh`: the partials are
/// empty, n ≥ 64.
pub type Gather = unsafe fn(part: *mut f64, x: *const f64, n: usize, fresh: bool);
/// The trees of rows that stand one behind the other, each one block of n, at most 1 024 elements;
/// whether all are finite.
pub type Rows<T = f64> = unsafe fn(out: *mut f64, x: *const T, rows: usize, n: usize) -> bool;

#[derive(Clone, Copy)]
pub struct Loops {
    pub both: Loop,
    /// x is one number.
    pub left: Loop,
    /// y is one number.
    pub right: Loop,
}

/// The loops of an operation's folds.
#[derive(Clone, Copy)]
pub struct Trees {
    /// A row onto another: folds along axes that are not the last.
    pub both: Loop,
    pub gather: Gather,
    pub rows: Rows,
    /// Rows of f32 where they lie: of at most 64 elements, of which nothing is added in f32, or,
    /// where f32 are added, of a block at most.
    pub short: Rows<f32>,
}

/// The loops of a sum that takes products unrounded.
#[derive(Clone, Copy)]
pub struct Dots {
    /// The products of n pairs into partials (`DOTS`), as `Gather` does; `fresh`: these are empty.
    pub gather: unsafe fn(part: *mut f64, x: *const f64, y: *const f64, n: usize, fresh: bool),
    /// The products of n pairs onto as many sums.
    pub onto: unsafe fn(sums: *mut f64, x: *const f64, y: *const f64, n: usize),
    pub in_order: InOrder,
}

/// Onto each sum of rows the products of n pairs in their order: so many rows, and their distance.
pub type InOrder =
    unsafe fn(sums: *mut f64, x: *const f64, y: *const f64, rows: (usize, usize), n: usize);

impl Dots {
    /// The sums of rows of n pairs, one behind the other, in order; whether all are finite. Safety:
    /// as many pairs and results, and the instruction set is there.
    pub unsafe fn sums_in_order(
        self,
        out: *mut f64,
        (x, y): (*const f64, *const f64),
        rows: usize,
        n: usize,
    ) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let sums = std::slice::from_raw_parts_mut(out, rows);
            // What changes no sum.
            sums.fill(-0.0);
            (self.in_order)(sums.as_mut_ptr(), x, y, (rows, n), n);
            sums.iter().all(|sum| sum.is_finite())
        }
    }

    /// The sum of one block's products, whose partials `end` halves; whether it is finite. Safety:
    /// n pairs, and the instruction set is there.
    pub unsafe fn sum(
        self,
        end: Trees,
        out: &mut f64,
        (x, y): (*const f64, *const f64),
        n: usize,
    ) -> bool {
        // What changes no sum.
        let mut part = [-0.0; LANES];
        // SAFETY: the caller's.
        unsafe {
            if n > LANES {
                (self.gather)(part.as_mut_ptr(), x, y, n, true);
            } else {
                (self.onto)(part.as_mut_ptr(), x, y, n);
            }
            (end.rows)(out, part.as_ptr(), 1, if n > LANES { DOTS } else { n })
        }
    }
}

#[inline(always)]
unsafe fn take<L: Wide, const ONE: bool>(from: *const f64, at: usize, one: L) -> L {
    if ONE { one } else { unsafe { L::load(from.add(at)) } }
}

#[inline(always)]
unsafe fn map<W: Way, L: Wide, const XONE: bool, const YONE: bool>(
    out: *mut f64,
    x: *const f64,
    y: *const f64,
    ct: f64,
    n: usize,
) -> bool {
    // SAFETY: `Loop`'s contract; the last partial register is copied element by element.
    unsafe {
        let ct = L::splat(ct);
        let (xs, ys) =
            (L::splat(if XONE { *x } else { 0.0 }), L::splat(if YONE { *y } else { 0.0 }));
        let mut suspect = L::none();
        let mut i = 0;
        while i + L::N <= n {
            let (value, odd) = W::of(take::<L, XONE>(x, i, xs), take::<L, YONE>(y, i, ys), ct);
            value.store(out.add(i));
            suspect = L::either(suspect, odd);
            i += L::N;
        }
        if i < n {
            let mut rest = [[1.0f64; 8]; 2];
            for k in i..n {
                rest[0][k - i] = if XONE { *x } else { *x.add(k) };
                rest[1][k - i] = if YONE { *y } else { *y.add(k) };
            }
            let (value, odd) = W::of(L::load(rest[0].as_ptr()), L::load(rest[1].as_ptr()), ct);
            value.store(rest[0].as_mut_ptr());
            suspect = L::either(suspect, odd);
            for k in i..n {
                *out.add(k) = rest[0][k - i];
            }
        }
        L::any(suspect)
    }
}

/// The type in which loops compute.
trait In {
    /// The way of a rule in that type.
    type Way<R: Rule>: Way;
    /// A small whole power.
    fn of<L: Wide>(x: L, exponent: i32) -> (L, L::Mask);
}

struct InF64;
impl In for InF64 {
    type Way<R: Rule> = Long<R>;
    #[inline(always)]
    fn of<L: Wide>(x: L, exponent: i32) -> (L, L::Mask) {
        small_power(x, exponent)
    }
}

struct InF32;
impl In for InF32 {
    type Way<R: Rule> = Short<R>;
    #[inline(always)]
    fn of<L: Wide>(x: L, exponent: i32) -> (L, L::Mask) {
        let (value, odd) = small_power(x.short(), exponent);
        (L::long(value), L::long_mask(odd))
    }
}

#[inline(always)]
unsafe fn power<W: In, L: Wide>(out: *mut f64, x: *const f64, exponent: f64, n: usize) -> bool {
    let exponent = exponent as i32;
    // SAFETY: `Loop`'s contract.
    unsafe {
        let mut suspect = L::none();
        let mut i = 0;
        while i + L::N <= n {
            let (value, odd) = W::of(L::load(x.add(i)), exponent);
            value.store(out.add(i));
            suspect = L::either(suspect, odd);
            i += L::N;
        }
        let mut odd = L::any(suspect);
        for k in i..n {
            let (value, one) = W::of(*x.add(k), exponent);
            *out.add(k) = value;
            odd |= one;
        }
        odd
    }
}

/// The loops that are not of one operation.
#[derive(Clone, Copy)]
pub struct Plain {
    /// Small whole powers; the exponent stands where ⎕CT does in others.
    pub power: Loop,
    /// The same in f32, which all of x is.
    pub power_of_singles: Loop,
    pub all_finite: unsafe fn(x: *const f64, n: usize) -> bool,
    /// Past the caches; `out` 64-byte aligned.
    pub stream: unsafe fn(out: *mut f64, x: *const f64, n: usize),
    pub copy: unsafe fn(out: *mut f64, x: *const f64, n: usize),
}

#[inline(always)]
unsafe fn stream<L: Wide>(out: *mut f64, x: *const f64, n: usize) {
    // SAFETY: n elements at each, `out` aligned.
    unsafe {
        let mut i = 0;
        while i + L::N <= n {
            L::load(x.add(i)).stream(out.add(i));
            i += L::N;
        }
        for k in i..n {
            *out.add(k) = *x.add(k);
        }
    }
}

#[inline(always)]
unsafe fn copy<L: Wide>(out: *mut f64, x: *const f64, n: usize) {
    // SAFETY: n elements at each.
    unsafe {
        let mut i = 0;
        while i + L::N <= n {
            L::load(x.add(i)).store(out.add(i));
            i += L::N;
        }
        for k in i..n {
            *out.add(k) = *x.add(k);
        }
    }
}

/// Everything of one instruction set.
struct All {
    loops: fn(Op, f64) -> Option<Loops>,
    singles: fn(Op) -> Option<Loops>,
    trees: fn(Op) -> Option<Trees>,
    trees_of_singles: fn(Op) -> Option<Trees>,
    dots: [Dots; 2],
    plain: Plain,
}

/// One instruction set's instances of everything above.
macro_rules! instances {
    ($name:ident, $lane:ty $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn map<W: Way, const X: bool, const Y: bool>(
                out: *mut f64, x: *const f64, y: *const f64, ct: f64, n: usize,
            ) -> bool {
                unsafe { super::map::<W, $lane, X, Y>(out, x, y, ct, n) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn gather<W: Way>(part: *mut f64, x: *const f64, n: usize, fresh: bool) {
                unsafe { super::gather::<W, $lane>(part, x, n, fresh) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn rows<R: Rule>(
                out: *mut f64,
                x: *const f64,
                rows: usize,
                n: usize,
            ) -> bool {
                unsafe { super::rows::<R, $lane>(out, x, rows, n) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn short<R: Rule>(
                out: *mut f64,
                x: *const f32,
                rows: usize,
                n: usize,
            ) -> bool {
                unsafe { super::short::<R, $lane>(out, x, rows, n) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn singles<R: Rule>(
                out: *mut f64,
                x: *const f32,
                rows: usize,
                n: usize,
            ) -> bool {
                unsafe {
                    match n {
                        ..LANES => super::short::<R, $lane>(out, x, rows, n),
                        _ => super::long_rows::<R, $lane>(out, x, rows, n),
                    }
                }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn gather_products<const SINGLE: bool>(
                part: *mut f64, x: *const f64, y: *const f64, n: usize, fresh: bool,
            ) {
                unsafe { super::gather_products::<$lane, SINGLE>(part, x, y, n, fresh) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn products_onto<const SINGLE: bool>(
                sums: *mut f64, x: *const f64, y: *const f64, n: usize,
            ) {
                unsafe { super::products_onto::<$lane, SINGLE>(sums, x, y, n) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn products_in_order<const SINGLE: bool>(
                sums: *mut f64, x: *const f64, y: *const f64, rows: (usize, usize), n: usize,
            ) {
                unsafe { super::products_in_order::<SINGLE>(sums, x, y, rows, n) }
            }
            // Rows that are shorter add nothing in f32.
            $(#[target_feature(enable = $feature)])?
            unsafe fn rows_of_singles<R: Rule>(
                out: *mut f64, x: *const f64, count: usize, n: usize,
            ) -> bool {
                unsafe {
                    match n {
                        ..LANES => rows::<R>(out, x, count, n),
                        _ => super::rows_of_singles::<R, $lane>(out, x, count, n),
                    }
                }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn power<W: In>(
                out: *mut f64,
                x: *const f64,
                _: *const f64,
                exponent: f64,
                n: usize,
            ) -> bool {
                unsafe { super::power::<W, $lane>(out, x, exponent, n) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn all_finite(x: *const f64, n: usize) -> bool {
                unsafe { super::all_finite::<$lane>(x, n) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn stream(out: *mut f64, x: *const f64, n: usize) {
                unsafe { super::stream::<$lane>(out, x, n) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn copy(out: *mut f64, x: *const f64, n: usize) {
                unsafe { super::copy::<$lane>(out, x, n) }
            }

            struct Of<T>(PhantomData<T>);
            impl<T: In> Visit for Of<T> {
                type Out = Loops;
                fn rule<R: Rule>(self) -> Loops {
                    Loops {
                        both: map::<T::Way<R>, false, false>,
                        left: map::<T::Way<R>, true, false>,
                        right: map::<T::Way<R>, false, true>,
                    }
                }
                fn alone<R: Rule>(self) -> Loops {
                    Loops {
                        both: map::<T::Way<R>, false, true>,
                        left: map::<T::Way<R>, true, true>,
                        right: map::<T::Way<R>, false, true>,
                    }
                }
            }

            struct Folds<T>(PhantomData<T>);
            impl Visit for Folds<InF64> {
                type Out = Trees;
                fn rule<R: Rule>(self) -> Trees {
                    Trees {
                        both: map::<Long<R>, false, false>,
                        gather: gather::<Long<R>>,
                        rows: rows::<R>,
                        short: short::<R>,
                    }
                }
            }
            impl Visit for Folds<InF32> {
                type Out = Trees;
                fn rule<R: Rule>(self) -> Trees {
                    Trees {
                        both: map::<Short<R>, false, false>,
                        gather: gather::<Short<R>>,
                        rows: rows_of_singles::<R>,
                        short: singles::<R>,
                    }
                }
            }

            pub const ALL: All = All {
                loops: |op, ct| rules::visit(op, ct, Of::<InF64>(PhantomData)),
                singles: |op| rules::visit_short(op, Of::<InF32>(PhantomData)),
                trees: |op| rules::visit_fold(op, Folds::<InF64>(PhantomData)),
                trees_of_singles: |op| rules::visit_fold(op, Folds::<InF32>(PhantomData)),
                dots: [
                    Dots {
                        gather: gather_products::<false>,
                        onto: products_onto::<false>,
                        in_order: products_in_order::<false>,
                    },
                    Dots {
                        gather: gather_products::<true>,
                        onto: products_onto::<true>,
                        in_order: products_in_order::<true>,
                    },
                ],
                plain: Plain {
                    power: power::<InF64>,
                    power_of_singles: power::<InF32>,
                    all_finite,
                    stream,
                    copy,
                },
            };
        }
    };
}

instances!(portable, f64);
#[cfg(target_arch = "x86_64")]
instances!(avx2, V4, "avx2,fma,bmi2");
#[cfg(target_arch = "x86_64")]
instances!(avx512, V8, "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi2");

/// The loops of an operation in f32, which all operands are; None: it gains nothing there.
pub fn singles(isa: Isa, op: Op) -> Option<Loops> {
    (all(isa).singles)(op)
}

/// The loops of an operation's folds; None: they are not trees.
pub fn trees(isa: Isa, op: Op) -> Option<Trees> {
    (all(isa).trees)(op)
}

/// The same in f32, which all elements are.
pub fn trees_of_singles(isa: Isa, op: Op) -> Option<Trees> {
    (all(isa).trees_of_singles)(op)
}

/// The loops of a sum that takes products unrounded, in f32 where all are that.
pub fn dots(isa: Isa, single: bool) -> Dots {
    all(isa).dots[usize::from(single)]
}

/// The loops of an operation; None: it has no fast part.
pub fn loops(isa: Isa, op: Op, ct: f64) -> Option<Loops> {
    (all(isa).loops)(op, ct)
}

/// The loops of an instruction set that are not of one operation.
pub fn plain(isa: Isa) -> Plain {
    all(isa).plain
}

fn all(isa: Isa) -> All {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::ALL,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::ALL,
        _ => portable::ALL,
    }
}

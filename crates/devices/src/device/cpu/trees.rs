//! Folds in registers: runs into partial results, partial results and short rows to their ends.
//!
//! | what is folded | strategy | measured, AVX-512 |
//! |---|---|---|
//! | a run | 64 partials in 8 registers (two or eight rounds where registers are narrower), products that are taken unrounded into 16 | |
//! | rows that fill registers | each row folded to a register, and eight of these side by side | rows of 8: 0.9 ns a row, 4.5 one by one |
//! | other short rows | a row a lane: blocks of rows are turned, then registers are folded | |
//!
//! All of it is inlined into the loops of an instruction set (`loops`).

use super::lanes::Wide;
use super::singles::Cells;
use aplomb_values::prim::reduce::{DOTS, LANES, halve};
use aplomb_values::prim::scalar::lane::Lane;
use aplomb_values::prim::scalar::rules::Rule;
use std::convert::Infallible;
use std::marker::PhantomData;

/// The way in which a rule is used on registers of f64.
pub trait Way {
    /// A register of partial results.
    type Sums<L: Wide>: Copy;

    fn of<L: Wide>(x: L, y: L, ct: L) -> (L, L::Mask);
    fn held<L: Wide>(x: L) -> Self::Sums<L>;
    fn take<L: Wide>(sums: Self::Sums<L>, items: Self::Sums<L>) -> Self::Sums<L>;
    fn numbers<L: Wide>(sums: Self::Sums<L>) -> L;
}

/// In f64.
pub struct Long<R>(PhantomData<R>);
impl<R: Rule> Way for Long<R> {
    type Sums<L: Wide> = L;

    #[inline(always)]
    fn of<L: Wide>(x: L, y: L, ct: L) -> (L, L::Mask) {
        R::lanes(x, y, ct)
    }
    #[inline(always)]
    fn held<L: Wide>(x: L) -> L {
        x
    }
    #[inline(always)]
    fn take<L: Wide>(sums: L, items: L) -> L {
        R::lanes(sums, items, L::splat(0.0)).0
    }
    #[inline(always)]
    fn numbers<L: Wide>(sums: L) -> L {
        sums
    }
}

/// In f32, which all operands are.
pub struct Short<R>(PhantomData<R>);
impl<R: Rule> Way for Short<R> {
    type Sums<L: Wide> = L::Short;

    #[inline(always)]
    fn of<L: Wide>(x: L, y: L, ct: L) -> (L, L::Mask) {
        let (value, odd) = R::singles(x.short(), y.short(), ct.short());
        (L::long(value), L::long_mask(odd))
    }
    #[inline(always)]
    fn held<L: Wide>(x: L) -> L::Short {
        x.short()
    }
    #[inline(always)]
    fn take<L: Wide>(sums: L::Short, items: L::Short) -> L::Short {
        R::singles(sums, items, L::splat(0.0).short()).0
    }
    #[inline(always)]
    fn numbers<L: Wide>(sums: L::Short) -> L {
        L::long(sums)
    }
}

#[inline(always)]
pub fn apply<R: Rule>(x: f64, y: f64) -> f64 {
    R::lanes::<f64>(x, y, 0.0).0
}

/// A run into its partials, which are in registers meanwhile.
#[inline(always)]
pub unsafe fn gather<W: Way, L: Wide>(part: *mut f64, x: *const f64, n: usize, fresh: bool) {
    // SAFETY: 64 partials, n elements, at least 64 of them when fresh.
    unsafe {
        let whole = n / LANES * LANES;
        let mut at = 0;
        while at < LANES {
            let mut sums = [W::held(L::splat(0.0)); 8];
            let from = if fresh { x } else { part as *const f64 };
            for (k, sum) in sums.iter_mut().enumerate() {
                *sum = W::held(L::load(from.add(at + k * L::N)));
            }
            let mut i = if fresh { LANES } else { 0 };
            while i < whole {
                for (k, sum) in sums.iter_mut().enumerate() {
                    *sum = W::take::<L>(*sum, W::held(L::load(x.add(i + at + k * L::N))));
                }
                i += LANES;
            }
            for (k, sum) in sums.iter().enumerate() {
                W::numbers::<L>(*sum).store(part.add(at + k * L::N));
            }
            at += 8 * L::N;
        }
        for i in whole..n {
            let to = part.add(i - whole);
            *to = W::of::<f64>(*to, *x.add(i), 0.0).0;
        }
    }
}

/// `x×y+sum`, rounded once, to f32 where these are.
#[inline(always)]
pub fn fused<L: Wide, const SINGLE: bool>(x: L, y: L, sum: L) -> L {
    if SINGLE { L::long(x.short().fma(y.short(), sum.short())) } else { x.fma(y, sum) }
}

#[inline(always)]
pub unsafe fn gather_products<L: Wide, const SINGLE: bool>(
    part: *mut f64,
    x: *const f64,
    y: *const f64,
    n: usize,
    fresh: bool,
) {
    // SAFETY: so many partials, n pairs.
    unsafe {
        let whole = n / DOTS * DOTS;
        // What changes no sum.
        let mut all = [L::splat(-0.0); DOTS];
        let sums = &mut all[..DOTS / L::N];
        for (k, sum) in sums.iter_mut().enumerate().filter(|_| !fresh) {
            *sum = L::load(part.add(k * L::N));
        }
        for i in (0..whole).step_by(DOTS) {
            for (k, sum) in sums.iter_mut().enumerate() {
                let to = i + k * L::N;
                *sum = fused::<L, SINGLE>(L::load(x.add(to)), L::load(y.add(to)), *sum);
            }
        }
        for (k, sum) in sums.iter().enumerate() {
            sum.store(part.add(k * L::N));
        }
        products_onto::<L, SINGLE>(part, x.add(whole), y.add(whole), n - whole);
    }
}

#[inline(always)]
pub unsafe fn products_onto<L: Wide, const SINGLE: bool>(
    sums: *mut f64,
    x: *const f64,
    y: *const f64,
    n: usize,
) {
    // SAFETY: n pairs and sums.
    unsafe {
        let whole = n / L::N * L::N;
        for k in (0..whole).step_by(L::N) {
            let sum = L::load(sums.add(k));
            fused::<L, SINGLE>(L::load(x.add(k)), L::load(y.add(k)), sum).store(sums.add(k));
        }
        for k in whole..n {
            *sums.add(k) = fused::<f64, SINGLE>(*x.add(k), *y.add(k), *sums.add(k));
        }
    }
}

/// Sums that wait for their own next product, taken side by side: as many as hide the wait, and as
/// a chunk has blocks.
const CHAINS: usize = 4;

/// Onto each sum of rows, which are so far apart, the products of n pairs in their order.
#[inline(always)]
pub unsafe fn products_in_order<const SINGLE: bool>(
    sums: *mut f64,
    x: *const f64,
    y: *const f64,
    (rows, apart): (usize, usize),
    n: usize,
) {
    // SAFETY: as many sums, and rows of n pairs.
    unsafe {
        let mut row = 0;
        while row + CHAINS <= rows {
            let mut own = [0.0; CHAINS];
            std::ptr::copy_nonoverlapping(sums.add(row), own.as_mut_ptr(), CHAINS);
            for k in 0..n {
                for (r, sum) in own.iter_mut().enumerate() {
                    let at = (row + r) * apart + k;
                    *sum = fused::<f64, SINGLE>(*x.add(at), *y.add(at), *sum);
                }
            }
            std::ptr::copy_nonoverlapping(own.as_ptr(), sums.add(row), CHAINS);
            row += CHAINS;
        }
        for row in row..rows {
            let mut sum = *sums.add(row);
            for k in 0..n {
                let at = row * apart + k;
                sum = fused::<f64, SINGLE>(*x.add(at), *y.add(at), sum);
            }
            *sums.add(row) = sum;
        }
    }
}

/// Elements in memory that become f64 as they are loaded.
pub trait Held: Copy + Into<f64> {
    /// Safety: a register's elements are readable there.
    unsafe fn load<L: Wide>(at: *const Self) -> L;

    /// The partials of a row of n elements, in registers that they fill. Safety: these are
    /// readable.
    #[inline(always)]
    unsafe fn partials<R: Rule, L: Wide>(x: *const Self, _: usize, part: &mut [L]) {
        // SAFETY: the caller's.
        for (k, part) in part.iter_mut().enumerate() {
            *part = unsafe { Self::load(x.add(k * L::N)) };
        }
    }
}

impl Held for f64 {
    #[inline(always)]
    unsafe fn load<L: Wide>(at: *const f64) -> L {
        // SAFETY: the caller's.
        unsafe { L::load(at) }
    }

    #[inline(always)]
    unsafe fn partials<R: Rule, L: Wide>(x: *const f64, n: usize, part: &mut [L]) {
        let (mut own, mut from) = ([0.0; LANES], x);
        // SAFETY: the caller's.
        unsafe {
            if n > LANES {
                gather::<Long<R>, L>(own.as_mut_ptr(), x, n, true);
                from = own.as_ptr();
            }
            for (k, part) in part.iter_mut().enumerate() {
                *part = L::load(from.add(k * L::N));
            }
        }
    }
}

impl Held for f32 {
    #[inline(always)]
    unsafe fn load<L: Wide>(at: *const f32) -> L {
        // SAFETY: the caller's.
        unsafe { L::long(Cells::take(at)) }
    }
}

#[inline(always)]
pub unsafe fn row<R: Rule, L: Wide>(x: *const f64, n: usize) -> f64 {
    // SAFETY: n elements.
    unsafe {
        let mut part = [0.0; LANES];
        let k = n.min(LANES);
        if n >= LANES {
            gather::<Long<R>, L>(part.as_mut_ptr(), x, n, true);
        } else {
            std::ptr::copy_nonoverlapping(x, part.as_mut_ptr(), k);
        }
        let Ok(()) = halve::<_, Infallible>(&mut part[..k], |x, y| Ok(apply::<R>(x, y)));
        part[0]
    }
}

/// Rows that are not longer are folded with a row in each lane.
pub const SHORT: usize = 32;

#[inline(always)]
pub unsafe fn rows<R: Rule, L: Wide>(out: *mut f64, x: *const f64, rows: usize, n: usize) -> bool {
    // SAFETY: rows × n elements, and `rows` results.
    unsafe {
        let done = first_rows::<R, L, f64>(out, x, rows, n);
        for r in done..rows {
            *out.add(r) = row::<R, L>(x.add(r * n), n);
        }
        all_finite::<L>(out, rows)
    }
}

/// The first rows, as many as fill registers; how many.
#[inline(always)]
pub unsafe fn first_rows<R: Rule, L: Wide, T: Held>(
    out: *mut f64,
    x: *const T,
    rows: usize,
    n: usize,
) -> usize {
    // SAFETY: the caller's.
    unsafe {
        match n {
            8 => ends_of_rows::<R, L, T>(out, x, rows, 8),
            16 => ends_of_rows::<R, L, T>(out, x, rows, 16),
            LANES.. => ends_of_rows::<R, L, T>(out, x, rows, n),
            _ if n > 0 && n.is_multiple_of(8) => ends_of_rows::<R, L, T>(out, x, rows, n),
            1..=8 => lanes_of_rows::<R, L, T, 8>(out, x, rows, n),
            9..=SHORT => lanes_of_rows::<R, L, T, SHORT>(out, x, rows, n),
            _ => 0,
        }
    }
}

/// `rows` of at most 64 elements, which are f32 in memory.
#[inline(always)]
pub unsafe fn short<R: Rule, L: Wide>(out: *mut f64, x: *const f32, rows: usize, n: usize) -> bool {
    // SAFETY: rows × n elements, and `rows` results.
    unsafe {
        let done = first_rows::<R, L, f32>(out, x, rows, n);
        let mut own = [0.0; LANES];
        for r in done..rows {
            for (k, own) in own[..n].iter_mut().enumerate() {
                *own = (*x.add(r * n + k)).into();
            }
            *out.add(r) = row::<R, L>(own.as_ptr(), n);
        }
        all_finite::<L>(out, rows)
    }
}

/// `rows` of at least 64 elements, of f32: what is behind the first 64 goes into partials in f32.
#[inline(always)]
pub unsafe fn rows_of_singles<R: Rule, L: Wide>(
    out: *mut f64,
    x: *const f64,
    rows: usize,
    n: usize,
) -> bool {
    // SAFETY: rows × n elements, and `rows` results.
    unsafe {
        for r in 0..rows {
            let mut part = [0.0; LANES];
            gather::<Short<R>, L>(part.as_mut_ptr(), x.add(r * n), n, true);
            *out.add(r) = row::<R, L>(part.as_ptr(), LANES);
        }
        all_finite::<L>(out, rows)
    }
}

/// The same of f32 where they lie.
#[inline(always)]
pub unsafe fn long_rows<R: Rule, L: Wide>(
    out: *mut f64,
    x: *const f32,
    rows: usize,
    n: usize,
) -> bool {
    let zero = L::splat(0.0).short();
    // SAFETY: rows × n elements, and `rows` results.
    unsafe {
        for r in 0..rows {
            let (x, whole) = (x.add(r * n), n / LANES * LANES);
            let mut part = [0.0; LANES];
            for at in (0..LANES).step_by(8 * L::N) {
                let mut sums = [zero; 8];
                for (k, sum) in sums.iter_mut().enumerate() {
                    *sum = L::Short::take(x.add(at + k * L::N));
                }
                for i in (LANES..whole).step_by(LANES) {
                    for (k, sum) in sums.iter_mut().enumerate() {
                        let items = L::Short::take(x.add(i + at + k * L::N));
                        *sum = R::singles(*sum, items, zero).0;
                    }
                }
                for (k, sum) in sums.iter().enumerate() {
                    L::long(*sum).store(part.as_mut_ptr().add(at + k * L::N));
                }
            }
            for i in whole..n {
                let to = &mut part[i - whole];
                *to = Short::<R>::of::<f64>(*to, (*x.add(i)).into(), 0.0).0;
            }
            *out.add(r) = row::<R, L>(part.as_ptr(), LANES);
        }
        all_finite::<L>(out, rows)
    }
}

/// The first rows, as many as fill registers; how many. What is loaded behind a row is the next
/// one's, and no lane of the result has it. The tree is `halve`'s of a row.
#[inline(always)]
pub unsafe fn lanes_of_rows<R: Rule, L: Wide, T: Held, const MOST: usize>(
    out: *mut f64,
    x: *const T,
    rows: usize,
    n: usize,
) -> usize {
    let (zero, wide) = (L::splat(0.0), n.next_multiple_of(L::N));
    let mut r = 0;
    // SAFETY: all that is loaded ends before the last row does.
    unsafe {
        while r + L::N <= rows && (r + L::N - 1) * n + wide <= rows * n {
            let mut part = [zero; MOST];
            for c in (0..n).step_by(L::N) {
                let mut block = [zero; 8];
                for (k, row) in block.iter_mut().take(L::N).enumerate() {
                    *row = T::load(x.add((r + k) * n + c));
                }
                L::turn(&mut block);
                part[c..c + L::N].copy_from_slice(&block[..L::N]);
            }
            let Ok(()) = halve::<_, Infallible>(&mut part[..n], |x, y| Ok(R::lanes(x, y, zero).0));
            part[0].store(out.add(r));
            r += L::N;
        }
    }
    r
}

/// The first rows, as many as fill registers; how many. Each is halved to one register, in which
/// its last partials are; so many of these are halved side by side.
#[inline(always)]
pub unsafe fn ends_of_rows<R: Rule, L: Wide, T: Held>(
    out: *mut f64,
    x: *const T,
    rows: usize,
    n: usize,
) -> usize {
    let zero = L::splat(0.0);
    let join = |x, y| Ok::<_, Infallible>(R::lanes(x, y, zero).0);
    let whole = rows / L::N * L::N;
    // SAFETY: rows × n elements; partials fill registers.
    unsafe {
        for r in (0..whole).step_by(L::N) {
            let mut block = [zero; 8];
            for (k, end) in block.iter_mut().take(L::N).enumerate() {
                let mut part = [zero; LANES];
                let part = &mut part[..n.min(LANES) / L::N];
                T::partials::<R, L>(x.add((r + k) * n), n, part);
                let Ok(()) = halve(part, join);
                *end = part[0];
            }
            L::ends(block, |x, y| R::lanes(x, y, zero).0).store(out.add(r));
        }
    }
    whole
}

/// True of n finite numbers. Safety: they are there.
#[inline(always)]
pub unsafe fn all_finite<L: Wide>(x: *const f64, n: usize) -> bool {
    // SAFETY: n elements.
    unsafe {
        let most = L::splat(f64::MAX);
        let mut bad = L::none();
        let mut i = 0;
        while i + L::N <= n {
            bad = L::either(bad, L::not(L::load(x.add(i)).abs().le(most)));
            i += L::N;
        }
        let mut fine = !L::any(bad);
        for k in i..n {
            fine &= (*x.add(k)).is_finite();
        }
        fine
    }
}

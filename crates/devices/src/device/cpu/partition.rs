//! Keys in order by partitions, a register of them at a time.
//!
//! A partition takes the keys below a pivot to the front of a spare array and all others to its
//! back; both parts go on from there, back and forth between the two arrays, until a part fits into
//! registers, where a network of comparisons orders it. Nothing branches on a comparison.
//!
//! | a part of | way | a key of 8 bytes | of 4 |
//! |---|---|---|---|
//! | more than eight registers | partition by the middle of a sample | 0.26 ns a level | 0.13 ns |
//! | at most eight registers | bitonic network | 1.8 ns | 0.9 ns |
//! | 30 000 keys | both | 4.8 ns | 2.6 ns |
//! | 1 000 keys, in registers of AVX2 (`halves`) | both | 13 ns, by digits 34 | |
//!
//! Why every partition gets nearer: a part of which nothing is below the pivot, itself a key of it,
//! is partitioned once more by the next greater number. Those in front are then the pivot's equals,
//! which are in order, and at least one. A part whose pivots keep missing the middle is left to
//! another sort.

use std::arch::x86_64::*;

/// Keys that lie in registers. Its functions are inlined into one that has the instructions.
///
/// SAFETY of every block in the implementations: only functions compiled for their instruction set
/// call them, and pointers come from callers who promise room for a register, or for the lanes of
/// the mask.
pub trait Lanes: Copy + PartialOrd {
    type Reg: Copy;
    const LEAST: Self;
    const MOST: Self;
    /// Keys of a register, at most 16.
    const COUNT: usize;
    /// Registers that a network orders, at most 8.
    const REGISTERS: usize;
    /// The next greater number, of one that is not the greatest.
    fn after(self) -> Self;
    unsafe fn splat(self) -> Self::Reg;
    /// The lanes of the mask, and the greatest number in all others.
    unsafe fn load_some(mask: u16, at: *const Self) -> Self::Reg;
    unsafe fn store_some(mask: u16, x: Self::Reg, at: *mut Self);
    /// The lanes in which the first is less.
    unsafe fn below(x: Self::Reg, y: Self::Reg) -> u16;
    /// The lanes of the mask side by side, in the first lanes.
    unsafe fn to_front(mask: u16, x: Self::Reg) -> Self::Reg;
    /// Eight keys from one on: those below the pivot's, which all lanes have, before the others, at
    /// both of these places. How many are below.
    unsafe fn eight(from: *const Self, pivot: Self::Reg, to: [*mut Self; 2]) -> usize;
    unsafe fn least(x: Self::Reg, y: Self::Reg) -> Self::Reg;
    unsafe fn most(x: Self::Reg, y: Self::Reg) -> Self::Reg;
    /// Lane l gets lane l xor D.
    unsafe fn cross<const D: usize>(x: Self::Reg) -> Self::Reg;
    /// Lanes of the mask from the second.
    unsafe fn choose(mask: u16, x: Self::Reg, y: Self::Reg) -> Self::Reg;
}

macro_rules! in_lanes {
    ($t:ty, $count:literal, $signed:ty, $mask:ty: $set:ident $load:ident
        $load_some:ident $store_some:ident $below:ident $front:ident $least:ident $most:ident
        $cross:ident $choose:ident; $eight:ident) => {
        impl Lanes for $t {
            type Reg = __m512i;
            const LEAST: $t = <$t>::MIN;
            const MOST: $t = <$t>::MAX;
            const COUNT: usize = $count;
            const REGISTERS: usize = 8;

            #[inline(always)]
            fn after(self) -> $t {
                self + 1
            }
            #[inline(always)]
            unsafe fn splat(self) -> __m512i {
                unsafe { $set(self as $signed) }
            }
            #[inline(always)]
            unsafe fn load_some(mask: u16, at: *const $t) -> __m512i {
                unsafe { $load_some($set(-1), mask as $mask, at.cast()) }
            }
            #[inline(always)]
            unsafe fn store_some(mask: u16, x: __m512i, at: *mut $t) {
                unsafe { $store_some(at.cast(), mask as $mask, x) }
            }
            #[inline(always)]
            unsafe fn below(x: __m512i, y: __m512i) -> u16 {
                unsafe { $below(x, y).into() }
            }
            #[inline(always)]
            unsafe fn to_front(mask: u16, x: __m512i) -> __m512i {
                unsafe { $front(mask as $mask, x) }
            }
            #[inline(always)]
            unsafe fn eight(from: *const $t, pivot: __m512i, to: [*mut $t; 2]) -> usize {
                unsafe { $eight(from.cast(), pivot, to.map(|to| to.cast())) }
            }
            #[inline(always)]
            unsafe fn least(x: __m512i, y: __m512i) -> __m512i {
                unsafe { $least(x, y) }
            }
            #[inline(always)]
            unsafe fn most(x: __m512i, y: __m512i) -> __m512i {
                unsafe { $most(x, y) }
            }
            #[inline(always)]
            unsafe fn cross<const D: usize>(x: __m512i) -> __m512i {
                let places = const {
                    let (mut places, mut l) = ([0; $count], 0);
                    while l < $count {
                        places[l] = (l ^ D) as $t;
                        l += 1;
                    }
                    places
                };
                // SAFETY: there are as many places as lanes.
                unsafe { $cross($load(places.as_ptr().cast()), x) }
            }
            #[inline(always)]
            unsafe fn choose(mask: u16, x: __m512i, y: __m512i) -> __m512i {
                unsafe { $choose(mask as $mask, x, y) }
            }
        }
    };
}

in_lanes!(u64, 8, i64, __mmask8: _mm512_set1_epi64 _mm512_loadu_epi64
    _mm512_mask_loadu_epi64 _mm512_mask_storeu_epi64 _mm512_cmplt_epu64_mask
    _mm512_maskz_compress_epi64 _mm512_min_epu64 _mm512_max_epu64 _mm512_permutexvar_epi64
    _mm512_mask_blend_epi64; eight_of_8);
in_lanes!(u32, 16, i32, __mmask16: _mm512_set1_epi32 _mm512_loadu_epi32
    _mm512_mask_loadu_epi32 _mm512_mask_storeu_epi32 _mm512_cmplt_epu32_mask
    _mm512_maskz_compress_epi32 _mm512_min_epu32 _mm512_max_epu32 _mm512_permutexvar_epi32
    _mm512_mask_blend_epi32; eight_of_4);

/// For each mask of eight lanes, its lanes in their order, then the others. One permutation by it
/// does what two compressions and their union would, in a third of the steps.
pub const APART: [[u8; 8]; 256] = {
    let (mut table, mut mask) = ([[0; 8]; 256], 0);
    while mask < 256 {
        let (mut next, mut k) = (0, 0);
        while k < 16 {
            let (lane, others) = (k % 8, k / 8);
            if mask >> lane & 1 != others {
                table[mask][next] = lane as u8;
                next += 1;
            }
            k += 1;
        }
        mask += 1;
    }
    table
};

/// `Lanes::eight` of keys of 8 bytes.
#[inline(always)]
unsafe fn eight_of_8(from: *const i64, pivot: __m512i, to: [*mut i64; 2]) -> usize {
    // SAFETY: `Lanes`.
    unsafe {
        let x = _mm512_loadu_epi64(from);
        let below = _mm512_cmplt_epu64_mask(x, pivot);
        let lanes = _mm_loadl_epi64(APART[usize::from(below)].as_ptr().cast());
        let x = _mm512_permutexvar_epi64(_mm512_cvtepu8_epi64(lanes), x);
        to.into_iter().for_each(|to| _mm512_storeu_epi64(to, x));
        below.count_ones() as usize
    }
}

/// The same of 4 bytes.
#[inline(always)]
unsafe fn eight_of_4(from: *const i32, pivot: __m512i, to: [*mut i32; 2]) -> usize {
    // SAFETY: `Lanes`.
    unsafe {
        let x = _mm256_loadu_epi32(from);
        let below = _mm256_cmplt_epu32_mask(x, _mm512_castsi512_si256(pivot));
        let lanes = _mm_loadl_epi64(APART[usize::from(below)].as_ptr().cast());
        let x = _mm256_permutexvar_epi32(_mm256_cvtepu8_epi32(lanes), x);
        to.into_iter().for_each(|to| _mm256_storeu_epi32(to, x));
        below.count_ones() as usize
    }
}

/// Keys that a step of a partition takes.
const EIGHT: usize = 8;
/// The most keys that a network orders.
const ORDERED: usize = 8 * 16;
/// Keys from which on a pivot is the middle of that many registers, not of one.
const MANY: usize = 4096;
/// Keys between two looks at whether to stop.
const LONG: usize = 65_536;

/// A sort of a run, with as much memory again, that may be told to stop; then nobody reads the run.
pub type Sort<T> = fn(&mut [T], &mut [T], &dyn Fn() -> bool);

/// The sort of a run and its partition, compiled for an instruction set.
macro_rules! for_machines {
    ($room:ident: $set:literal) => {
        pub mod $room {
            use super::*;

            /// A run in ascending order, as `rest` would do it. Safety: the machine has the
            /// instructions.
            #[target_feature(enable = $set)]
            pub unsafe fn by_partitions<T: Lanes>(
                run: &mut [T],
                spare: &mut [T],
                stops: &dyn Fn() -> bool,
                rest: Sort<T>,
            ) {
                let depth = 3 * run.len().max(2).ilog2();
                // SAFETY: both are as long.
                unsafe { order(run, spare, (true, depth), stops, rest) }
            }

            /// The keys of a part, which lie in `run`, or else in `spare`, in order in `run`.
            #[target_feature(enable = $set)]
            pub(super) unsafe fn order<T: Lanes>(
                run: &mut [T],
                spare: &mut [T],
                (here, depth): (bool, u32),
                stops: &dyn Fn() -> bool,
                rest: Sort<T>,
            ) {
                let n = run.len();
                // SAFETY: both arrays hold n keys.
                unsafe {
                    if n <= T::REGISTERS * T::COUNT {
                        let from = if here { run.as_ptr() } else { spare.as_ptr() };
                        return ordered(from, run.as_mut_ptr(), n);
                    }
                    if depth == 0 || n > LONG && stops() {
                        if !here {
                            run.copy_from_slice(spare);
                        }
                        return rest(run, spare, stops);
                    }
                    let (from, to) = if here { (&*run, &mut *spare) } else { (&*spare, &mut *run) };
                    let pivot = pivot(from);
                    let (low, next) = (parted(from, to, pivot), (!here, depth - 1));
                    if low > 0 {
                        let (front, back) = run.split_at_mut(low);
                        let (other_front, other_back) = spare.split_at_mut(low);
                        order(front, other_front, next, stops, rest);
                        return order(back, other_back, next, stops, rest);
                    }
                    // All of them are at least the pivot: its equals come first, in order.
                    let equal = if pivot < T::MOST { parted(from, to, pivot.after()) } else { n };
                    run[..equal].fill(pivot);
                    order(&mut run[equal..], &mut spare[equal..], next, stops, rest);
                }
            }

            /// Keys of `from` below the pivot to the front of `to`, all others to its back; how
            /// many are below. Safety: the machine has the instructions, and `to` is as long.
            #[target_feature(enable = $set)]
            pub unsafe fn part<T: Lanes>(from: &[T], to: &mut [T], pivot: T) -> usize {
                // SAFETY: the caller's.
                unsafe { parted(from, to, pivot) }
            }
        }
    };
}
for_machines!(avx512: "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,bmi2,popcnt");
for_machines!(avx2: "avx2,fma");

/// A key near the middle of more than fit into registers: of few, of those side by side in the
/// midst, of many, of a sample from all over.
#[inline(always)]
unsafe fn pivot<T: Lanes>(keys: &[T]) -> T {
    let n = keys.len();
    let mut sample = [T::LEAST; ORDERED];
    // SAFETY: there are more keys than registers hold, and the sample holds as many.
    unsafe {
        if n < MANY {
            ordered(keys.as_ptr().add((n - T::COUNT) / 2), sample.as_mut_ptr(), T::COUNT);
            return sample[T::COUNT / 2];
        }
        let many = T::REGISTERS * T::COUNT;
        let step = n / many;
        sample[..many].iter_mut().enumerate().for_each(|(k, own)| *own = keys[k * step + step / 2]);
        ordered(sample.as_ptr(), sample.as_mut_ptr(), many);
        sample[many / 2]
    }
}

/// The first lanes.
#[inline(always)]
fn first(lanes: usize) -> u16 {
    ((1_u32 << lanes) - 1) as u16
}

/// `part`, where it is inlined.
///
/// As many places are free in `to` as keys are left. Eight keys may be written at both ends of them
/// while sixteen are free or more: those that do not belong to an end lie in what is free, and are
/// written again. Safety: `to` is as long.
#[inline(always)]
unsafe fn parted<T: Lanes>(from: &[T], to: &mut [T], pivot: T) -> usize {
    let (n, from, to) = (from.len(), from.as_ptr(), to.as_mut_ptr());
    let (mut low, mut high, mut k) = (0, n, 0);
    // SAFETY: k, and the free places from low to high, lie in n.
    unsafe {
        let pivot = pivot.splat();
        while n - k >= 2 * EIGHT {
            let ends = [to.add(low), to.add(high - EIGHT)];
            let many = T::eight(from.add(k), pivot, ends);
            low += many;
            high -= EIGHT - many;
            k += EIGHT;
        }
        while k < n {
            let here = first(T::COUNT.min(n - k));
            let x = T::load_some(here, from.add(k));
            let below = T::below(x, pivot) & here;
            let above = !below & here;
            let (many, others) = (below.count_ones() as usize, above.count_ones() as usize);
            T::store_some(first(many), T::to_front(below, x), to.add(low));
            T::store_some(first(others), T::to_front(above, x), to.add(high - others));
            low += many;
            high -= others;
            k += T::COUNT;
        }
        low
    }
}

/// As many keys as fit into registers, in order. Safety: both hold n; they may be the same.
#[inline(always)]
unsafe fn ordered<T: Lanes>(from: *const T, to: *mut T, n: usize) {
    // SAFETY: the caller's.
    unsafe {
        match n.div_ceil(T::COUNT) {
            0 => {}
            1 => network::<T, 1>(from, to, n),
            2 => network::<T, 2>(from, to, n),
            3 | 4 => network::<T, 4>(from, to, n),
            _ => network::<T, 8>(from, to, n),
        }
    }
}

/// The bitonic network of R registers. Runs of two keys in order, then of four, and so on: the keys
/// of two runs are compared crosswise, first with last, then at halves of the distance.
#[inline(always)]
unsafe fn network<T: Lanes, const R: usize>(from: *const T, to: *mut T, n: usize) {
    // SAFETY: both hold n.
    unsafe {
        let lanes = |r: usize| first(n.saturating_sub(r * T::COUNT).min(T::COUNT));
        let mut x = [T::MOST.splat(); R];
        for (r, x) in x.iter_mut().enumerate() {
            *x = T::load_some(lanes(r), from.wrapping_add(r * T::COUNT));
        }
        inside::<T, R, 1>(&mut x);
        inside::<T, R, 3>(&mut x);
        inside::<T, R, 1>(&mut x);
        inside::<T, R, 7>(&mut x);
        inside::<T, R, 2>(&mut x);
        inside::<T, R, 1>(&mut x);
        if T::COUNT == 16 {
            inside::<T, R, 15>(&mut x);
            inside::<T, R, 4>(&mut x);
            inside::<T, R, 2>(&mut x);
            inside::<T, R, 1>(&mut x);
        }
        let mut run = 1;
        while run < R {
            // Register r of a run with the other run's register as far from its end, backwards.
            for r in (0..R).filter(|r| r & run == 0) {
                let other = r ^ (2 * run - 1);
                let y = backwards::<T>(x[other]);
                let (least, most) = (T::least(x[r], y), T::most(x[r], y));
                x[r] = least;
                x[other] = backwards::<T>(most);
            }
            let mut apart = run / 2;
            while apart > 0 {
                for r in (0..R).filter(|r| r & apart == 0) {
                    let (least, most) = (T::least(x[r], x[r + apart]), T::most(x[r], x[r + apart]));
                    x[r] = least;
                    x[r + apart] = most;
                }
                apart /= 2;
            }
            if T::COUNT == 16 {
                inside::<T, R, 8>(&mut x);
            }
            inside::<T, R, 4>(&mut x);
            inside::<T, R, 2>(&mut x);
            inside::<T, R, 1>(&mut x);
            run *= 2;
        }
        for (r, x) in x.into_iter().enumerate() {
            T::store_some(lanes(r), x, to.wrapping_add(r * T::COUNT));
        }
    }
}

/// The last lane first.
#[inline(always)]
unsafe fn backwards<T: Lanes>(x: T::Reg) -> T::Reg {
    // SAFETY: `Lanes`.
    unsafe { if T::COUNT == 16 { T::cross::<15>(x) } else { T::cross::<7>(x) } }
}

/// Lanes l and l xor D of each register in order.
#[inline(always)]
unsafe fn inside<T: Lanes, const R: usize, const D: usize>(x: &mut [T::Reg; R]) {
    /// The lanes that are the greater of their pair.
    const fn greater(d: usize) -> u16 {
        let (top, mut mask, mut l) = (1 << d.ilog2(), 0, 0);
        while l < 16 {
            if l & top != 0 {
                mask |= 1 << l;
            }
            l += 1;
        }
        mask
    }
    for x in x {
        // SAFETY: `Lanes`.
        unsafe {
            let y = T::cross::<D>(*x);
            *x = T::choose(const { greater(D) }, T::least(*x, y), T::most(*x, y));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::halves::Halved;
    use super::super::isa::Isa;
    use super::super::sorting::by_digits;
    use super::super::tests::Dice;
    use super::*;

    /// Keys of both widths, in the registers of each set that the machine has.
    fn is_in_order(keys: Vec<u64>, rest: Sort<u64>, halved: Sort<Halved<u64>>) {
        let mut expected = keys.clone();
        expected.sort_unstable();
        let narrow: Vec<u32> = keys.iter().map(|key| *key as u32).collect();
        let mut narrow_expected = narrow.clone();
        narrow_expected.sort_unstable();
        let never = || false;
        if Isa::best() >= Isa::Avx512 {
            let (mut run, mut spare) = (keys.clone(), keys.clone());
            // SAFETY: the machine has the instructions.
            unsafe { avx512::by_partitions(&mut run, &mut spare, &never, rest) };
            assert_eq!(run, expected);
            let (mut run, mut spare) = (narrow.clone(), narrow.clone());
            // SAFETY: the same.
            unsafe { avx512::by_partitions(&mut run, &mut spare, &never, by_digits) };
            assert_eq!(run, narrow_expected);
        }
        if Isa::best() >= Isa::Avx2 {
            let (mut run, mut spare) = (keys.clone(), keys);
            let (own, other) = (Halved::all(&mut run), Halved::all(&mut spare));
            // SAFETY: the same.
            unsafe { avx2::by_partitions(own, other, &never, halved) };
            assert_eq!(run, expected);
            let (mut run, mut spare) = (narrow.clone(), narrow);
            let (own, other) = (Halved::all(&mut run), Halved::all(&mut spare));
            // SAFETY: the same.
            unsafe { avx2::by_partitions(own, other, &never, |run, _, _| run.sort()) };
            assert_eq!(run, narrow_expected);
        }
    }

    #[test]
    fn every_length_and_every_number_of_equals_is_in_order() {
        let never: Sort<u64> = |_, _, _| unreachable!("its pivots are near the middle");
        let halved: Sort<Halved<u64>> = |_, _, _| unreachable!("its pivots are near the middle");
        let (mut dice, long) = (Dice(3), [1_000, MANY - 1, MANY, 3 * MANY + 5, LONG + 1]);
        for n in (0..300).chain(long) {
            for values in [1, 2, 3, 40, 5_000, 1 << 40] {
                let keys: Vec<u64> = (0..n).map(|_| dice.roll(values) as u64).collect();
                is_in_order(keys.iter().map(|key| u64::MAX - key).collect(), never, halved);
                is_in_order(keys.iter().map(|key| key ^ 1 << 63).collect(), never, halved);
                is_in_order(keys, never, halved);
            }
            is_in_order((0..n as u64).collect(), never, halved);
            is_in_order((0..n as u64).rev().collect(), never, halved);
        }
    }

    #[test]
    fn what_pivots_do_not_halve_is_left_to_another_sort() {
        // What the first sample sees is less than all other keys.
        for many in [u64::REGISTERS * u64::COUNT, Halved::<u64>::REGISTERS * Halved::<u64>::COUNT] {
            let n = MANY * 16;
            let step = n / many;
            let key = |k: usize| if k % step == step / 2 { k } else { n + k } as u64;
            is_in_order((0..n).map(key).collect(), by_digits, |run, _, _| run.sort());
        }
        let n = MANY * 16;
        let (mut run, mut spare) = ((0..n as u64).rev().collect::<Vec<_>>(), vec![0; n]);
        // One partition is allowed, then both parts are left.
        if Isa::best() >= Isa::Avx512 {
            // SAFETY: the machine has the instructions.
            unsafe {
                avx512::order(&mut run, &mut spare, (true, 1), &|| false, |run, _, _| run.sort());
            }
        } else if Isa::best() >= Isa::Avx2 {
            let (own, other) = (Halved::all(&mut run), Halved::all(&mut spare));
            // SAFETY: the same.
            unsafe { avx2::order(own, other, (true, 1), &|| false, |run, _, _| run.sort()) };
        } else {
            run.sort();
        }
        assert!(run.is_sorted());
    }
}

//! Sorts on all cores, of whatever has keys.
//!
//! | what | shared out by |
//! |---|---|
//! | items made and sorted | runs of them |
//! | pairs of runs merged until one is left | stretches of what comes out |
//!
//! Bare keys have a better way (`parted`). A run is sorted by digits: a pass for each byte of the
//! keys that is not the same in all of the run, the least first. A pass leaves items of one digit
//! in their order, and they come in the order of their places, so those of one key end in that
//! order too.

#[cfg(target_arch = "x86_64")]
use super::halves::Halved;
use super::isa::Work;
#[cfg(target_arch = "x86_64")]
use super::partition;
use super::share::{Ran, STRETCH, each_unit, stretch};
use super::{Cpu, DeviceError, Isa, RunCtx};
use crate::pool::PoolBuffer;
use aplomb_values::array::DType;
use std::cmp::Ordering;
use std::marker::PhantomData;
use std::ops::{BitXor, Range};

/// Items of a run, so that sorting one takes 30 ms.
pub const RUN: usize = 64 * STRETCH;
/// Items of a run that are compared: that takes as long.
pub const COMPARED: usize = 4 * STRETCH;
/// Items whose digits are counted; fewer are compared.
const DIGITS: usize = 512;

/// Something with a key of digits of 8 bits, of which digit 0 is the least.
pub trait Keyed: Copy + Ord + Send + Sync {
    /// Digits of a key.
    const BYTES: usize;

    /// One of them.
    fn digit(&self, byte: usize) -> usize;
}

/// A key of bits alone.
pub trait Bits: Keyed + BitXor<Output = Self> {
    const LEAST: Self;
    const MOST: Self;

    /// A run in ascending order, in the way that is quickest on the machine; otherwise as
    /// `by_digits`.
    fn in_order(isa: Isa, run: &mut [Self], spare: &mut [Self], stops: &dyn Fn() -> bool);

    /// Keys of `from` below the pivot to the front of `to`, all others to its back; how many are
    /// below. Both are as long.
    fn part(isa: Isa, from: &[Self], to: &mut [Self], pivot: Self) -> usize;
}

/// Items that are put in order by keys, each step for a block of them. Both steps are inlined into
/// loops for each instruction set.
pub trait Arranges<T>: Sync {
    /// The keys of the items from one on. False: some item is another than its key says.
    fn keys(&self, first: usize, keys: &mut [T]) -> bool;

    /// The keys at places of the order from one on.
    fn put(&self, first: usize, keys: &[T]);
}

/// The keys of the items from one on: `Arranges::keys`.
pub struct Keys<'a, T, A>(pub &'a A, pub usize, pub &'a mut [T]);

impl<T, A: Arranges<T>> Work for Keys<'_, T, A> {
    type Out = bool;

    #[inline(always)]
    fn run(self) -> bool {
        self.0.keys(self.1, self.2)
    }
}

/// The keys at places of the order from one on: `Arranges::put`.
pub struct Put<'a, T, A>(pub &'a A, pub usize, pub &'a [T]);

impl<T, A: Arranges<T>> Work for Put<'_, T, A> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        self.0.put(self.1, self.2)
    }
}

macro_rules! keyed {
    ($($t:ty),*) => {
        $(impl Keyed for $t {
            const BYTES: usize = size_of::<$t>();

            #[inline]
            fn digit(&self, byte: usize) -> usize {
                usize::from((*self >> (8 * byte)) as u8)
            }
        }

        impl Bits for $t {
            const LEAST: $t = <$t>::MIN;
            const MOST: $t = <$t>::MAX;

            fn in_order(isa: Isa, run: &mut [$t], spare: &mut [$t], stops: &dyn Fn() -> bool) {
                match isa {
                    // SAFETY: it is the machine's instruction set.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => unsafe {
                        partition::avx512::by_partitions(run, spare, stops, by_digits)
                    },
                    // SAFETY: the same.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => unsafe {
                        let (run, spare) = (Halved::all(run), Halved::all(spare));
                        partition::avx2::by_partitions(run, spare, stops, |run, spare, stops| {
                            by_digits(Halved::keys(run), Halved::keys(spare), stops)
                        })
                    },
                    _ => by_digits(run, spare, stops),
                }
            }

            fn part(isa: Isa, from: &[$t], to: &mut [$t], pivot: $t) -> usize {
                assert_eq!(from.len(), to.len());
                match isa {
                    // SAFETY: it is the machine's instruction set, and both are as long.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => unsafe { partition::avx512::part(from, to, pivot) },
                    // SAFETY: the same.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => unsafe {
                        let (from, to) = (Halved::each(from), Halved::all(to));
                        partition::avx2::part(from, to, Halved(pivot))
                    },
                    _ => part(from, to, pivot),
                }
            }
        })*
    };
}
keyed!(u32, u64);

/// `Bits::part`, key by key: each goes to both ends of what is free, and one of them stays free.
fn part<T: Bits>(from: &[T], to: &mut [T], pivot: T) -> usize {
    let (mut low, mut high) = (0, to.len());
    for &key in from {
        let below = usize::from(key < pivot);
        (to[low], to[high - 1]) = (key, key);
        low += below;
        high -= 1 - below;
    }
    low
}

/// A run in ascending order of the items' places, by key; `spare` is as long. It may be told to
/// stop after each stretch; then nobody reads the run.
pub fn by_digits<T: Keyed>(run: &mut [T], spare: &mut [T], stops: &dyn Fn() -> bool) {
    if run.len() < DIGITS {
        return run.sort_unstable();
    }
    let mut counts = [[0_usize; 256]; 8];
    let counts = &mut counts[..T::BYTES];
    for items in run.chunks(STRETCH) {
        if stops() {
            return;
        }
        for item in items {
            counts.iter_mut().enumerate().for_each(|(byte, count)| count[item.digit(byte)] += 1);
        }
    }
    let (mut from, mut to) = (&mut *run, spare);
    let mut passes = 0;
    for (byte, count) in counts.iter_mut().enumerate() {
        if count[from[0].digit(byte)] == from.len() {
            continue;
        }
        let mut next = 0;
        // The number of items with a digit becomes the place of the first of them.
        for many in &mut *count {
            next += std::mem::replace(many, next);
        }
        for items in from.chunks(STRETCH) {
            if stops() {
                return;
            }
            for item in items {
                let place = &mut count[item.digit(byte)];
                to[*place] = *item;
                *place += 1;
            }
        }
        std::mem::swap(&mut from, &mut to);
        passes += 1;
    }
    if passes % 2 == 1 {
        to.copy_from_slice(from);
    }
}

/// The items 0…n in order, each given to `put` with its place. `sort` orders a run, of so many at
/// most, as `order` says; it is given as much memory again, and whether somebody interrupts.
pub fn sorted<T: Copy + Send + Sync>(
    cpu: &mut Cpu,
    ctx: &RunCtx,
    (n, most): (usize, usize),
    item: &(impl Fn(usize) -> T + Sync),
    sort: &(impl Fn(&mut [T], &mut [T], &dyn Fn() -> bool) + Sync),
    order: &(impl Fn(&T, &T) -> Ordering + Sync),
    put: &(impl Fn(usize, &T) + Sync),
) -> Ran {
    let (stretches, together) = (n.div_ceil(STRETCH), n > STRETCH);
    let mut run = n
        .div_ceil(cpu.threads.count().next_power_of_two())
        .next_multiple_of(STRETCH)
        .clamp(STRETCH, most);
    let (mut from, mut to) = (Room::new(cpu, n, ctx)?, Room::new(cpu, n, ctx)?);
    each_unit(&mut cpu.threads, n.div_ceil(run), together, ctx, &|k, _| {
        let first = k * run;
        // SAFETY: runs are disjoint.
        let range = first..(first + run).min(n);
        let (own, spare) = unsafe { (from.part(range.clone()), to.part(range)) };
        let stops = || ctx.interrupt.is_set();
        for (k, own) in own.chunks_mut(STRETCH).enumerate().take_while(|_| !stops()) {
            let first = first + k * STRETCH;
            own.iter_mut().enumerate().for_each(|(k, own)| *own = item(first + k));
        }
        sort(own, spare, &stops);
    })?;
    while run < n {
        each_unit(&mut cpu.threads, stretches, together, ctx, &|k, _| {
            let out = stretch(k, n);
            let first = out.start / (2 * run) * (2 * run);
            let (middle, end) = ((first + run).min(n), (first + 2 * run).min(n));
            // SAFETY: nobody writes `from` meanwhile, and stretches of `to` are disjoint.
            let (a, b, to) =
                unsafe { (from.all(first..middle), from.all(middle..end), to.part(out.clone())) };
            let (i, j) =
                (ahead(a, b, out.start - first, order), ahead(a, b, out.end - first, order));
            merge(&a[i..j], &b[out.start - first - i..out.end - first - j], to, order);
        })?;
        std::mem::swap(&mut from, &mut to);
        run *= 2;
    }
    each_unit(&mut cpu.threads, stretches, together, ctx, &|k, _| {
        let own = stretch(k, n);
        // SAFETY: nobody writes it any more.
        let items = unsafe { from.all(own.clone()) };
        own.zip(items).for_each(|(k, item)| put(k, item));
    })
}

/// The number of the `count` least items of both runs that are in the first; of equal ones those of
/// the first are less.
fn ahead<T>(a: &[T], b: &[T], count: usize, order: &impl Fn(&T, &T) -> Ordering) -> usize {
    let (mut least, mut most) = (count.saturating_sub(b.len()), count.min(a.len()));
    while least < most {
        let k = least.midpoint(most);
        if order(&a[k], &b[count - 1 - k]).is_le() { least = k + 1 } else { most = k }
    }
    least
}

/// Two runs into one of both lengths. The loop has no branch on what is compared.
fn merge<T: Copy>(a: &[T], b: &[T], to: &mut [T], order: &impl Fn(&T, &T) -> Ordering) {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        let second = order(&y, &x).is_lt();
        to[i + j] = if second { y } else { x };
        i += usize::from(!second);
        j += usize::from(second);
    }
    let (own, rest) = to[i + j..].split_at_mut(a.len() - i);
    own.copy_from_slice(&a[i..]);
    rest.copy_from_slice(&b[j..]);
}

/// Items in memory of the pool, which is aligned for them and always holds something.
pub struct Room<T> {
    at: *mut T,
    _of: PoolBuffer,
    _items: PhantomData<T>,
}

// SAFETY: who asks for a part says that it is nobody else's.
unsafe impl<T: Sync> Sync for Room<T> {}

impl<T> Room<T> {
    pub fn new(cpu: &Cpu, n: usize, ctx: &RunCtx) -> Result<Room<T>, DeviceError> {
        let words = n.saturating_mul(size_of::<T>()).div_ceil(size_of::<f64>());
        let mut of = cpu.pool.buffer(DType::F64, words, ctx.budget).map_err(DeviceError::Oom)?;
        Ok(Room { at: of.as_mut_ptr().cast(), _of: of, _items: PhantomData })
    }

    /// Safety: the range lies in it, and nobody else reads or writes it meanwhile.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn part(&self, range: Range<usize>) -> &mut [T] {
        // SAFETY: as the function's.
        unsafe { std::slice::from_raw_parts_mut(self.at.add(range.start), range.len()) }
    }

    /// Safety: the range lies in it, and nobody writes it meanwhile.
    pub unsafe fn all(&self, range: Range<usize>) -> &[T] {
        // SAFETY: as the function's.
        unsafe { std::slice::from_raw_parts(self.at.add(range.start), range.len()) }
    }
}

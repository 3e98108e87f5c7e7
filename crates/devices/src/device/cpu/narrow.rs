//! Folds of whole numbers and truths in their own type.
//!
//! | items | fold | strategy |
//! |---|---|---|
//! | truths | `+ ∨ ∧ ⌈ ⌊ ×` | counted, 64 to a register |
//! | i8, i16, i32 | `+` | into lanes twice as wide, which so many cannot fill |
//! | i8, i16, i32 | `⌈ ⌊` | in lanes of their own |
//! | rows of them, down | the same | lanes of a column |
//!
//! A block's sum of whole numbers is exact in f64, so its bits do not hang on the order.

use super::isa::by_isa;
use aplomb_values::array::DType;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::{BLOCK, ROWS};

/// The fold of n items, 1 to a block, that lie one behind the other. Safety: they do.
pub type Across = unsafe fn(way: Way, dtype: DType, at: *const u8, n: usize) -> f64;
/// The folds of columns, down at most `ROWS` rows. Safety: the rows lie there, `out` holds a result
/// for each column.
pub type Down = unsafe fn(way: Way, dtype: DType, rows: Rows, out: *mut f64);

/// Rows of items, `pitch` items apart.
#[derive(Clone, Copy)]
pub struct Rows {
    pub at: *const u8,
    pub pitch: usize,
    pub rows: usize,
    pub columns: usize,
}

/// A fold of whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Sum,
    Most,
    Least,
}

impl Way {
    /// None: such items are not folded here.
    pub fn of(op: Op, dtype: DType) -> Option<Way> {
        let truths = dtype == DType::Bool;
        if !matches!(dtype, DType::Bool | DType::I8 | DType::I16 | DType::I32) {
            return None;
        }
        match op {
            Op::Add => Some(Way::Sum),
            Op::Max => Some(Way::Most),
            Op::Min => Some(Way::Least),
            Op::Gcd if truths => Some(Way::Most),
            Op::Lcm | Op::Mul if truths => Some(Way::Least),
            _ => None,
        }
    }

    /// The fold of n truths, so many of which hold.
    pub fn of_truths(self, count: u64, n: usize) -> f64 {
        match self {
            Way::Sum => count as f64,
            Way::Most => f64::from(u8::from(count > 0)),
            Way::Least => f64::from(u8::from(count == n as u64)),
        }
    }

    /// The result of truths that no other truth changes.
    pub fn end(self) -> Option<f64> {
        match self {
            Way::Sum => None,
            Way::Most => Some(1.0),
            Way::Least => Some(0.0),
        }
    }

    /// Two results of it as one.
    pub fn join(self, x: f64, y: f64) -> f64 {
        match self {
            Way::Sum => x + y,
            Way::Most => x.max(y),
            Way::Least => x.min(y),
        }
    }
}

/// The folds of an instruction set.
#[derive(Clone, Copy)]
pub struct Narrow {
    pub across: Across,
    pub down: Down,
}

/// Columns whose lanes lie in the nearest cache.
const TILE: usize = 1024;

/// Lanes at the beginning of a line of the cache: where a compiler keeps them in memory beside
/// registers, each step would else write to two lines, which takes half as long again.
#[repr(align(64))]
struct Aligned<A, const N: usize>([A; N]);

/// N lanes, each the fold of every N-th item from its start on; what is left over, too.
#[inline(always)]
fn lanes<T: Copy, A: Copy, const N: usize>(x: &[T], start: A, f: impl Fn(A, T) -> A) -> [A; N] {
    let mut sums = Aligned([start; N]);
    let whole = x.chunks_exact(N);
    let rest = whole.remainder();
    for part in whole {
        for (sum, x) in sums.0.iter_mut().zip(part) {
            *sum = f(*sum, *x);
        }
    }
    for (sum, x) in sums.0.iter_mut().zip(rest) {
        *sum = f(*sum, *x);
    }
    sums.0
}

#[inline(always)]
fn truths(x: &[u8]) -> u64 {
    // Lanes of eight bits hold 255 truths. Loops, because what an iterator calls may be compiled
    // apart, for any machine.
    let mut count = 0;
    for part in x.chunks(255 * 64) {
        let sums: [u8; 64] = lanes(part, 0u8, |sum: u8, x| sum.wrapping_add(x));
        for sum in sums {
            count += u64::from(sum);
        }
    }
    count
}

/// Truths that are looked at together.
const TOGETHER: usize = 1024;

/// True where some truth is this one. Nobody looks behind it.
#[inline(always)]
fn has(x: &[u8], truth: u8) -> bool {
    for part in x.chunks(TOGETHER) {
        let parts: [u8; 64] = lanes(part, 0u8, |any: u8, x| any | u8::from(x == truth));
        let mut any = 0;
        for own in parts {
            any |= own;
        }
        if any != 0 {
            return true;
        }
    }
    false
}

#[inline(always)]
fn small(x: &[i8]) -> i64 {
    // Lanes of sixteen bits hold 256 of them.
    let mut total = 0;
    for part in x.chunks(256 * 64) {
        let sums: [i16; 64] = lanes(part, 0, |sum: i16, x| sum.wrapping_add(i16::from(x)));
        for sum in sums {
            total += i64::from(sum);
        }
    }
    total
}

macro_rules! fold_of {
    ($way:expr, $t:ty, $sum:expr, $x:expr) => {
        match $way {
            Way::Sum => $sum as f64,
            Way::Most => $x.iter().fold(<$t>::MIN, |a, b| a.max(*b)) as f64,
            Way::Least => $x.iter().fold(<$t>::MAX, |a, b| a.min(*b)) as f64,
        }
    };
}

#[inline(always)]
unsafe fn across(way: Way, dtype: DType, at: *const u8, n: usize) -> f64 {
    // A block's sum of i16 is below 2^31.
    const { assert!(BLOCK <= 65_536) };
    // SAFETY: the function's contract.
    unsafe {
        match dtype {
            DType::I8 => {
                let x = std::slice::from_raw_parts(at.cast::<i8>(), n);
                fold_of!(way, i8, small(x), x)
            }
            DType::I16 => {
                let x = std::slice::from_raw_parts(at.cast::<i16>(), n);
                fold_of!(way, i16, x.iter().fold(0i32, |s, x| s.wrapping_add(i32::from(*x))), x)
            }
            DType::I32 => {
                let x = std::slice::from_raw_parts(at.cast::<i32>(), n);
                fold_of!(way, i32, x.iter().fold(0i64, |s, x| s.wrapping_add(i64::from(*x))), x)
            }
            _ => {
                let x = std::slice::from_raw_parts(at, n);
                match way {
                    Way::Sum => way.of_truths(truths(x), n),
                    Way::Most => f64::from(u8::from(has(x, 1))),
                    Way::Least => f64::from(u8::from(!has(x, 0))),
                }
            }
        }
    }
}

/// Rows into lanes of a column each. Safety: that of `Down`.
#[inline(always)]
unsafe fn columns<T: Copy, A: Copy>(
    rows: Rows,
    out: *mut f64,
    start: A,
    f: impl Fn(A, T) -> A,
    done: impl Fn(A) -> f64,
) {
    let mut sums = [start; TILE];
    for first in (0..rows.columns).step_by(TILE) {
        let n = TILE.min(rows.columns - first);
        let sums = &mut sums[..n];
        sums.fill(start);
        for r in 0..rows.rows {
            // SAFETY: the caller's.
            let row = unsafe {
                let at = rows.at.cast::<T>().add(r * rows.pitch + first);
                std::slice::from_raw_parts(at, n)
            };
            for (sum, x) in sums.iter_mut().zip(row) {
                *sum = f(*sum, *x);
            }
        }
        for (k, sum) in sums.iter().enumerate() {
            // SAFETY: the caller's.
            unsafe { *out.add(first + k) = done(*sum) };
        }
    }
}

macro_rules! columns_of {
    ($way:expr, $t:ty, $wide:ty, $rows:expr, $out:expr) => {
        match $way {
            Way::Sum => columns(
                $rows,
                $out,
                0,
                |s: $wide, x: $t| s.wrapping_add(<$wide>::from(x)),
                |s| s as f64,
            ),
            Way::Most => columns($rows, $out, <$t>::MIN, |a: $t, b: $t| a.max(b), |s| s as f64),
            Way::Least => columns($rows, $out, <$t>::MAX, |a: $t, b: $t| a.min(b), |s| s as f64),
        }
    };
}

#[inline(always)]
unsafe fn down(way: Way, dtype: DType, rows: Rows, out: *mut f64) {
    // A column of i8 is at most 256 × 128, in truth less: -32 768 is in i16.
    const { assert!(ROWS <= 256) };
    // SAFETY: the function's contract.
    unsafe {
        match dtype {
            DType::I8 => columns_of!(way, i8, i16, rows, out),
            DType::I16 => columns_of!(way, i16, i32, rows, out),
            DType::I32 => columns_of!(way, i32, i64, rows, out),
            _ => columns_of!(way, u8, u16, rows, out),
        }
    }
}

macro_rules! instances {
    ($name:ident $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn across(way: Way, dtype: DType, at: *const u8, n: usize) -> f64 {
                unsafe { super::across(way, dtype, at, n) }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn down(way: Way, dtype: DType, rows: Rows, out: *mut f64) {
                unsafe { super::down(way, dtype, rows, out) }
            }

            pub const ALL: Narrow = Narrow { across, down };
        }
    };
}

by_isa!(
    instances,
    /// The folds for an instruction set.
    narrow,
    Narrow
);

#[cfg(test)]
mod tests {
    use super::super::Isa;
    use super::*;

    /// Items with all extremes, of a length that fills no register.
    fn items(dtype: DType, n: usize) -> Vec<i64> {
        let (low, high) = match dtype {
            DType::Bool => (0, 1),
            DType::I8 => (i8::MIN.into(), i8::MAX.into()),
            DType::I16 => (i16::MIN.into(), i16::MAX.into()),
            _ => (i32::MIN.into(), i32::MAX.into()),
        };
        let mixed = |k: usize| low + (k as i64 * 7_919) % (high - low + 1);
        (0..n).map(|k| if k % 3 == 0 { low } else { mixed(k) }).collect()
    }

    fn bytes(dtype: DType, items: &[i64]) -> Vec<u8> {
        let size = dtype.size();
        items.iter().flat_map(|x| x.to_le_bytes()[..size].to_vec()).collect()
    }

    fn folded(way: Way, items: impl Iterator<Item = i64>) -> f64 {
        let all: Vec<i64> = items.collect();
        let sum = match way {
            Way::Sum => all.iter().sum(),
            Way::Most => *all.iter().max().expect("some"),
            Way::Least => *all.iter().min().expect("some"),
        };
        sum as f64
    }

    #[test]
    fn narrow_folds_are_those_of_whole_numbers() {
        for isa in Isa::available() {
            let n = narrow(isa);
            for dtype in [DType::Bool, DType::I8, DType::I16, DType::I32] {
                for way in [Way::Sum, Way::Most, Way::Least] {
                    let lens = [1, 63, 64, 65, 1_000, 16_321, BLOCK];
                    // Truths that are all alike but, maybe, the last.
                    for (len, last) in
                        lens.iter().flat_map(|n| [(*n, None), (*n, Some(0)), (*n, Some(1))])
                    {
                        let mut own = items(dtype, len);
                        if let (DType::Bool, Some(last)) = (dtype, last) {
                            own.fill(i64::from(way == Way::Least));
                            own[len - 1] = last;
                        }
                        let held = bytes(dtype, &own);
                        // SAFETY: so many items.
                        let sum = unsafe { (n.across)(way, dtype, held.as_ptr(), len) };
                        assert_eq!(sum, folded(way, own.into_iter()), "{dtype:?} {way:?} {len}");
                    }
                    let (rows, pitch, columns) = (ROWS, 1_100, 1_030);
                    let own = vec![items(dtype, 1)[0]; rows * pitch];
                    let own: Vec<i64> = match way {
                        Way::Sum => own,
                        _ => items(dtype, rows * pitch),
                    };
                    let held = bytes(dtype, &own);
                    let mut out = vec![0.0; columns];
                    let all = Rows { at: held.as_ptr(), pitch, rows, columns };
                    // SAFETY: so many items.
                    unsafe { (n.down)(way, dtype, all, out.as_mut_ptr()) };
                    for (j, sum) in out.iter().enumerate() {
                        let column = (0..rows).map(|r| own[r * pitch + j]);
                        assert_eq!(*sum, folded(way, column), "{dtype:?} {way:?} {j}");
                    }
                }
            }
        }
    }
}

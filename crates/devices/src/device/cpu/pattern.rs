//! Reads over short rows: where a block of them lies is written down once, and each block is
//! picked from its first place on.
//!
//! A straight piece costs some nanoseconds however short it is; rows of four elements, or a number
//! for each row, are a piece every few elements. Where a read is affine the places of a block of
//! rows less the place of its first are those of every other, so they are known beforehand.

use super::convert::{Source, with_type};
use aplomb_values::array::DType;
use aplomb_values::dag::ix::Ix;
use std::ops::Range;

/// Places that a block has at most.
const MOST: usize = 1024;
/// Longer rows are pieces.
const SHORT: usize = 32;
/// A smaller domain is not worth a block.
const LEAST: usize = 4096;

/// The places of a block of rows, less its first.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    places: Vec<i64>,
    /// The least and the greatest of these.
    ends: (i64, i64),
    /// The outermost axis that a block has more than one of, and how many.
    axis: usize,
    of_axis: usize,
    /// Elements of the axes behind it.
    inner: usize,
}

/// A part of a block.
pub struct Part<'a> {
    /// The place of the block's first element in the source.
    pub base: i64,
    pub places: &'a [i64],
}

impl Pattern {
    /// None: rows are long, the domain is small, or the read is not affine.
    pub fn new(offset: &Ix, extents: &[usize]) -> Option<Pattern> {
        let last = *extents.last()?;
        let all = extents.iter().fold(1usize, |all, n| all.saturating_mul(*n));
        if !(1..=SHORT).contains(&last) || all < LEAST || !offset.is_affine() {
            return None;
        }
        let (mut axis, mut inner) = (extents.len() - 1, 1);
        while axis > 0 && inner * extents[axis] <= MOST {
            inner *= extents[axis];
            axis -= 1;
        }
        let of_axis = extents[axis].min(MOST / inner);
        let mut places = vec![0];
        for (k, &n) in extents.iter().enumerate().skip(axis) {
            let n = if k == axis { of_axis } else { n };
            let step = offset.coefficient(k);
            places = places.iter().flat_map(|p| (0..n as i64).map(move |j| p + step * j)).collect();
        }
        let ends = (*places.iter().min()?, *places.iter().max()?);
        (places.len() > last).then_some(Pattern { places, ends, axis, of_axis, inner })
    }

    /// The parts of `len` elements from flat index `start` on, with where they begin in the range;
    /// false: one leaves the source.
    pub fn parts(
        &self,
        (offset, extents): (&Ix, &[usize]),
        source: Source,
        (start, len): (usize, usize),
        mut each: impl FnMut(usize, Part),
    ) -> bool {
        let mut done = 0;
        while done < len {
            let mut rest = (start + done) / self.inner;
            let at = rest % extents[self.axis];
            let first = at - at % self.of_axis;
            let mut base = offset.c + offset.coefficient(self.axis) * first as i64;
            rest /= extents[self.axis];
            for k in (0..self.axis).rev() {
                base += offset.coefficient(k) * (rest % extents[k]) as i64;
                rest /= extents[k];
            }
            if base + self.ends.0 < 0 || base + self.ends.1 >= source.len as i64 {
                // The last block of an axis may be a part of one.
                let rows = extents[self.axis] - first;
                let own = &self.places[..self.places.len().min(rows * self.inner)];
                if own.iter().any(|p| base + p < 0 || base + p >= source.len as i64) {
                    return false;
                }
            }
            let from = (at - first) * self.inner + (start + done) % self.inner;
            let ends = (extents[self.axis] - first).min(self.of_axis) * self.inner;
            let part: Range<usize> = from..ends.min(from + len - done);
            each(done, Part { base, places: &self.places[part.clone()] });
            done += part.len();
        }
        true
    }
}

impl Part<'_> {
    /// The items as f64. Safety: they lie in the source, and `out` holds as many.
    #[allow(clippy::useless_conversion)]
    #[inline]
    pub unsafe fn numbers(&self, source: Source, out: *mut f64) {
        with_type!(source.dtype, T => {
            let from = source.at.cast::<T>().wrapping_offset(self.base as isize);
            for (k, &place) in self.places.iter().enumerate() {
                // SAFETY: the function's contract.
                unsafe { *out.add(k) = f64::from(*from.offset(place as isize)) };
            }
        });
    }

    /// The items as they are. Safety: as `numbers`.
    #[inline]
    pub unsafe fn items(&self, source: Source, out: *mut u8) {
        macro_rules! by_size {
            ($t:ty) => {{
                let from = source.at.cast::<$t>().wrapping_offset(self.base as isize);
                for (k, &place) in self.places.iter().enumerate() {
                    // SAFETY: the function's contract.
                    unsafe { *out.cast::<$t>().add(k) = *from.offset(place as isize) };
                }
            }};
        }
        match source.dtype.size() {
            1 => by_size!(u8),
            2 => by_size!(u16),
            4 => by_size!(u32),
            _ => by_size!(u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Dice;
    use super::*;

    #[test]
    fn parts_have_the_places_of_the_index_expression() {
        let mut dice = Dice(5);
        let mut seen = 0;
        for _ in 0..300 {
            let rank = 1 + dice.roll(4);
            let extents: Vec<usize> = (0..rank)
                .map(|k| if k == 0 { 300 + dice.roll(5000) } else { 1 + dice.roll(9) })
                .collect();
            let mut offset = Ix::constant(40_000);
            for k in 0..rank {
                offset = offset.plus(&Ix::axis(k), dice.roll(7) as i64 - 3);
            }
            let Some(pattern) = Pattern::new(&offset, &extents) else { continue };
            let all: usize = extents.iter().product();
            let (start, len) = (dice.roll(all), 1 + dice.roll(4000));
            let len = len.min(all - start);
            let source = Source { at: std::ptr::null(), dtype: DType::I8, len: 80_000 };
            let mut got = vec![i64::MIN; len];
            let fits = pattern.parts((&offset, &extents), source, (start, len), |at, part| {
                for (k, place) in part.places.iter().enumerate() {
                    got[at + k] = part.base + place;
                }
            });
            assert!(fits);
            for (k, got) in got.iter().enumerate() {
                let mut place = vec![0; rank];
                aplomb_values::reference::unravel(start + k, &extents, &mut place);
                assert_eq!(*got, offset.at(&place), "{extents:?} {offset:?} {k}");
            }
            let short = Source { len: got.iter().copied().max().unwrap() as usize, ..source };
            assert!(!pattern.parts((&offset, &extents), short, (start, len), |_, _| ()));
            seen += 1;
        }
        assert!(seen > 50);
    }
}

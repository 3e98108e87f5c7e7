//! Columns read ahead: rows of a domain that are columns of a source, `⍉X` and `X+⍉X`.
//!
//! An item of such a row is on a line of the cache of its own, and the rest of that line are items
//! of the rows that follow. So all of these rows are put together while the first one is, as many
//! as a line has items, from lines that are read once; the following ones are there when they are
//! asked for. The rows of a group stay in the second cache.

use super::across::{GROUP, Panels, turns};
use super::convert::Source;
use super::isa::Isa;
use aplomb_plans::plan::cpu::AT_ONCE;
use aplomb_values::array::DType;

/// Bytes of a line of the cache.
const LINE: usize = 64;
/// Words that hold the longest rows, a line of each item.
const WORDS: usize = *AT_ONCE.end() * LINE / size_of::<u64>();

/// A read whose rows are columns: items of a row, rows that lie side by side, and from item to
/// item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Across {
    pub row: usize,
    pub beside: usize,
    pub step: i64,
}

impl Across {
    /// Rows that are put together of items of so many bytes. None: there are too few of them, or
    /// they are too long or too short.
    pub fn group(&self, size: usize) -> Option<usize> {
        let group = LINE / size;
        let far = self.step.unsigned_abs() as usize * size >= LINE;
        let fits = AT_ONCE.contains(&self.row) && self.beside >= group;
        (far && fits).then_some(group)
    }
}

/// The rows of one input that were put together.
#[derive(Default)]
pub struct Ahead {
    held: Vec<u64>,
    /// The first one, by its number, how many, and the places that are there.
    first: usize,
    rows: usize,
    places: std::ops::Range<usize>,
}

impl Ahead {
    /// Nothing is there.
    pub fn forget(&mut self) {
        self.rows = 0;
    }

    /// Items of a row from a flat index of the domain on, the first of which lies at `from` in the
    /// source. None: they are better read one by one, or not inside of it.
    pub fn items(
        &mut self,
        isa: Isa,
        (source, across): (Source, &Across),
        (from, start, n): (i64, usize, usize),
    ) -> Option<*const u8> {
        let size = source.dtype.size();
        let group = across.group(size)?;
        let (row, place) = (start / across.row, start % across.row);
        if place + n > across.row {
            return None;
        }
        let is_held = (self.first..self.first + self.rows).contains(&row);
        let there = self.places.start <= place && place + n <= self.places.end;
        if !(is_held && there) {
            if !(is_held && row == self.first && place == self.places.end) {
                self.first = row;
                self.rows = group.min(across.beside - row % across.beside);
                self.places = place..place;
            }
            let ends = [from, from + across.step * (n as i64 - 1)];
            let last = ends[0].max(ends[1]) + self.rows as i64 - 1;
            if ends[0].min(ends[1]) < 0 || last >= source.len as i64 {
                self.forget();
                return None;
            }
            if self.held.is_empty() {
                self.held = vec![0; WORDS];
            }
            // SAFETY: all of these items are in the source, and there is room for a group of rows.
            unsafe { self.fill(isa, (source, across), (from, place, n)) };
            self.places.end = place + n;
        }
        let at = (row - self.first) * across.row + place;
        Some(self.held.as_ptr().cast::<u8>().wrapping_add(at * size))
    }

    /// Safety: the group's rows are in the source at these places, and there is room for them.
    unsafe fn fill(
        &mut self,
        isa: Isa,
        (source, across): (Source, &Across),
        (from, place, n): (i64, usize, usize),
    ) {
        let (row, step, rows) = (across.row, across.step as isize, self.rows);
        let mut done = 0;
        if source.dtype == DType::F64 {
            let turn = turns(isa);
            while done + GROUP <= n {
                // SAFETY: the caller's.
                unsafe {
                    let own = source.at.cast::<f64>().offset(from as isize + done as isize * step);
                    let at = self.held.as_mut_ptr().cast::<f64>().add(place + done);
                    turn(own, step, rows, Panels { at, wide: 1, apart: row });
                }
                done += GROUP;
            }
        }
        let held = self.held.as_mut_ptr();
        super::convert::with_type!(source.dtype, T => {
            while done < n {
                let some = GROUP.min(n - done);
                for r in 0..rows {
                    for k in done..done + some {
                        let at = from as isize + k as isize * step + r as isize;
                        // SAFETY: the caller's.
                        unsafe {
                            *held.cast::<T>().add(r * row + place + k) =
                                *source.at.cast::<T>().offset(at);
                        }
                    }
                }
                done += some;
            }
        });
    }
}

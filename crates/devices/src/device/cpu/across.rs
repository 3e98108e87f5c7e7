//! Lines that lie side by side in memory, into packed form: eight items of each, one line after the
//! other.
//!
//! | items | strategy |
//! |---|---|
//! | as many lines as a register has lanes | a block of registers is turned |
//! | the lines left over | one by one |

use super::isa::by_isa;
use super::lanes::Wide;
#[cfg(target_arch = "x86_64")]
use super::lanes::{V4, V8};

/// Items of a line that stay together: a line of the cache.
pub const GROUP: usize = 8;

/// The place of packed lines: so many to a panel, and panels so many items apart.
#[derive(Clone, Copy)]
pub struct Panels {
    pub at: *mut f64,
    pub wide: usize,
    pub apart: usize,
}

impl Panels {
    /// Safety: the panel is there.
    #[inline(always)]
    unsafe fn line(self, line: usize) -> *mut f64 {
        // SAFETY: the caller's.
        unsafe { self.at.add(line / self.wide * self.apart + line % self.wide * GROUP) }
    }

    /// A line of one number. Safety: the panel is there.
    pub unsafe fn fill(self, line: usize, x: f64) {
        // SAFETY: the caller's.
        unsafe { std::slice::from_raw_parts_mut(self.line(line), GROUP).fill(x) }
    }
}

/// `GROUP` rows of `lines` items, `apart` from each other, into as many lines of a group each.
/// Safety: rows and panels hold them.
pub type Turn = unsafe fn(rows: *const f64, apart: isize, lines: usize, to: Panels);

#[inline(always)]
unsafe fn turn<L: Wide>(rows: *const f64, apart: isize, lines: usize, to: Panels) {
    let mut line = 0;
    // SAFETY: the caller's; a block's lines are below `lines`.
    unsafe {
        while L::N > 1 && line + L::N <= lines {
            for first in (0..GROUP).step_by(L::N) {
                let mut block = [L::splat(0.0); 8];
                for (k, row) in block.iter_mut().take(L::N).enumerate() {
                    *row = L::load(rows.offset((first + k) as isize * apart + line as isize));
                }
                L::turn(&mut block);
                for (k, items) in block.iter().take(L::N).enumerate() {
                    items.store(to.line(line + k).add(first));
                }
            }
            line += L::N;
        }
        for line in line..lines {
            let out = to.line(line);
            (0..GROUP).for_each(|k| *out.add(k) = *rows.offset(k as isize * apart + line as isize));
        }
    }
}

macro_rules! instances {
    ($name:ident, $lane:ty $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn turn(rows: *const f64, apart: isize, lines: usize, to: Panels) {
                unsafe { super::turn::<$lane>(rows, apart, lines, to) }
            }

            pub const ALL: Turn = turn;
        }
    };
}

by_isa!(
    instances of lanes,
    /// The loop of an instruction set.
    turns,
    Turn
);

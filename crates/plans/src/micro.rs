//! Micro-benchmarks of a GPU's memory: how threads must lie beside what they read.
//!
//! Rows: BAS-02 (each thread a stretch of its own, or all threads side by side), BAS-03 (strides by
//! threads of a block), BAS-04 and BAS-20 (strides in shared memory, and the line of their cost).
//! The points are here, and what the model expects of each; a device measures them
//! (`devices::device::Devices::microbench`), and the model's two constants, the rate of memory and
//! the line of conflicts, are fitted to what it found.

/// The CUDA text that reads from global memory: `in out regions region lane step each`.
pub const GLOBAL: &str = include_str!("kir/micro.cu");
/// The CUDA text that reads from shared memory: `in out stride rounds`.
pub const SHARED: &str = include_str!("kir/micro_banks.cu");

/// Bytes of an item.
pub const ITEM: u64 = 4;
/// Bytes that memory moves at once: on an H100 an item of 4 bytes costs 64 where neighbours are
/// further apart.
const FETCH: u64 = 64;
/// Bytes of a line of the first cache, which gives one line a cycle.
const LINE: u64 = 128;
/// Threads of a warp.
const WARP: u64 = 32;
/// Banks of shared memory.
const BANKS: usize = 32;
/// Threads of a block where their number is no question.
const THREADS: u64 = 256;
/// Items that a thread reads of a region where strides are the question.
const EACH: u64 = 8;
/// Threads of a block that reads shared memory, as its text has it.
pub const SHARED_THREADS: u64 = 256;

/// The way in which a block's threads read a region of global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Global {
    /// Threads of a block.
    pub threads: u64,
    /// Items from a thread's first to that of its neighbour.
    pub lane: u64,
    /// Items from one read of a thread to its next.
    pub step: u64,
    /// Reads of a thread.
    pub each: u64,
}

/// One thing to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// A block's items are dealt out to its threads in stretches (`is_block`) or in turns.
    Layout {
        /// Items of a block.
        items: u64,
        /// Each thread has a stretch of its own.
        is_block: bool,
    },
    /// Neighbouring threads read so many items apart.
    Stride {
        /// Items from a thread to its neighbour.
        stride: u64,
        /// Threads of a block.
        threads: u64,
    },
    /// Threads of a warp read shared memory so many words apart.
    Banks {
        /// Words from a thread to its neighbour.
        stride: u64,
    },
}

/// The memory that a point reads, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Global memory.
    Global(Global),
    /// Shared memory.
    Shared {
        /// Words from a thread to its neighbour.
        stride: u64,
    },
}

/// The work of a point.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Bytes that are read.
    pub bytes: u64,
    /// Runs, of which the fastest counts.
    pub runs: usize,
    /// Reads of a thread from shared memory.
    pub rounds: u64,
    /// Blocks of a multiprocessor that read shared memory.
    pub blocks: u32,
}

impl Amount {
    /// More bytes than any cache holds, so memory itself is read, and enough warps to hide what
    /// one read waits.
    pub const WHOLE: Amount = Amount { bytes: 256 << 20, runs: 5, rounds: 4096, blocks: 8 };
}

/// All that is measured, in the order in which it is told.
pub fn points() -> Vec<Point> {
    let layouts = [2048, 4096, 8192, 16_384, 32_768]
        .into_iter()
        .flat_map(|items| [true, false].map(|is_block| Point::Layout { items, is_block }));
    let strides = [1, 2, 4, 8, 16, 32, 64].into_iter().flat_map(|stride| {
        [32, 64, 128, 256, 512].map(|threads| Point::Stride { stride, threads })
    });
    let banks = (0..=32).map(|stride| Point::Banks { stride });
    layouts.chain(strides).chain(banks).collect()
}

impl Point {
    /// The reads of its threads.
    pub fn reads(self) -> Reads {
        match self {
            Point::Layout { items, is_block } => {
                let (threads, each) = (THREADS, items / THREADS);
                let (lane, step) = if is_block { (each, 1) } else { (1, threads) };
                Reads::Global(Global { threads, lane, step, each })
            }
            Point::Stride { stride, threads } => {
                let (lane, step) = (stride, stride * threads);
                Reads::Global(Global { threads, lane, step, each: EACH })
            }
            Point::Banks { stride } => Reads::Shared { stride },
        }
    }
}

impl Global {
    /// Items from one region to the next.
    pub fn region(self) -> u64 {
        let last = (self.threads - 1) * self.lane + (self.each - 1) * self.step;
        // Whole turns: what lies between the items of a stride is of this region, too.
        (last + 1).next_multiple_of(self.lane.min(self.step).max(1))
    }

    /// Bytes that move for each byte that is read. All that a block reads in the end moves once: a
    /// cache keeps what a warp leaves of it.
    pub fn moved(self) -> u64 {
        let whole = self.lane.min(self.step) == 1;
        if whole { 1 } else { self.lane.clamp(1, FETCH / ITEM) }
    }

    /// Lines of the first cache that a warp's read meets.
    pub fn lines(self) -> u64 {
        (WARP * self.lane * ITEM).div_ceil(LINE).clamp(1, WARP)
    }
}

/// The number of threads of a warp that meet in a bank where neighbours read so many words apart;
/// all of them at one address are one (stride 0). BAS-19.
pub fn conflicts(stride: usize, banks: usize) -> usize {
    let (mut a, mut b) = (stride, banks);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    if stride == 0 { 1 } else { a }
}

/// Requests in which a warp's read of shared memory comes.
fn degree(stride: u64) -> f64 {
    conflicts(stride as usize, BANKS) as f64
}

/// The constants of the model, fitted to a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Bytes that memory moves in a nanosecond: 10⁹ bytes in a second.
    pub rate: f64,
    /// Bytes that warps read in a nanosecond where each read meets one line of the first cache.
    pub line: f64,
    /// Nanoseconds of a warp's read of shared memory whatever its conflicts: C(n) = start +
    /// request × n.
    pub start: f64,
    /// Nanoseconds for each request of such a read.
    pub request: f64,
}

impl Fit {
    /// The fit of a device by its published rate of memory; each of its multiprocessors answers a
    /// request for a line, or of shared memory, in a cycle of so many nanoseconds.
    pub fn published(rate: f64, cycle: f64, processors: u32) -> Fit {
        let line = f64::from(processors) * LINE as f64 / cycle;
        Fit { rate, line, start: 0.0, request: cycle }
    }

    /// The fit to what was measured of `points`, in the unit of `expected`. `rate` is the greatest
    /// of neighbouring threads side by side, `line` follows from the longest stretches; the line of
    /// conflicts is the one of least squares. None: one of them is missing.
    pub fn to(points: &[Point], measured: &[f64]) -> Option<Fit> {
        let all = || points.iter().zip(measured);
        let whole = |p: &Point| matches!(p, Point::Stride { stride: 1, .. });
        let rate = all().filter(|(p, _)| whole(p)).map(|(_, m)| *m).fold(0.0, f64::max);
        let mut stretches = all().filter_map(|(p, m)| match p {
            Point::Layout { is_block: true, .. } => match p.reads() {
                Reads::Global(global) => Some(m * global.lines() as f64),
                Reads::Shared { .. } => None,
            },
            _ => None,
        });
        let by_lines = stretches.next_back()?;
        let line: Vec<(f64, f64)> = all()
            .filter_map(|(p, m)| match p {
                Point::Banks { stride } => Some((degree(*stride), *m)),
                _ => None,
            })
            .collect();
        let n = line.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| line.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let over: f64 = line.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
        let under: f64 = line.iter().map(|p| (p.0 - x).powi(2)).sum();
        let request = over / under;
        (rate > 0.0 && request.is_finite()).then_some(Fit {
            rate,
            line: by_lines,
            start: y - request * x,
            request,
        })
    }

    /// The model's figure: of global memory the bytes that are read in a nanosecond, of shared
    /// memory the nanoseconds of a warp's read.
    pub fn expected(&self, point: Point) -> f64 {
        match point.reads() {
            Reads::Global(global) => {
                (self.rate / global.moved() as f64).min(self.line / global.lines() as f64)
            }
            Reads::Shared { stride } => self.start + self.request * degree(stride),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn global(point: Point) -> Global {
        match point.reads() {
            Reads::Global(global) => global,
            Reads::Shared { .. } => panic!("{point:?} reads no global memory"),
        }
    }

    /// The places of a region that its block reads.
    fn places(g: Global) -> Vec<u64> {
        let of = |t: u64| (0..g.each).map(move |n| t * g.lane + n * g.step);
        (0..g.threads).flat_map(of).collect()
    }

    #[test]
    fn bas_02_both_layouts_read_every_item_of_a_block_once() {
        let layouts = points().into_iter().filter_map(|p| match p {
            Point::Layout { items, is_block } => Some((items, is_block, global(p))),
            _ => None,
        });
        let mut seen = 0;
        for (items, is_block, global) in layouts {
            let met: BTreeSet<u64> = places(global).into_iter().collect();
            assert_eq!(met, (0..items).collect(), "{global:?}");
            assert_eq!((global.region(), global.each * global.threads), (items, items));
            // In stretches a warp's threads lie a stretch apart, in turns side by side.
            assert_eq!(global.lane, if is_block { global.each } else { 1 });
            assert_eq!(global.moved(), 1, "a cache keeps what is left of a line");
            assert_eq!(global.lines(), if is_block { global.each.min(32) } else { 1 });
            seen += 1;
        }
        assert_eq!(seen, 10);
    }

    /// By the published figures of an H100 stretches as long as a line of the first cache are at
    /// least three times as slow as turns.
    #[test]
    fn bas_02_turns_are_three_times_as_fast_as_stretches_of_a_line() {
        use crate::occupancy::{BYTES_PER_US, CYCLE_NS, PROCESSORS};
        let fit = Fit::published(BYTES_PER_US / 1e3, CYCLE_NS, PROCESSORS);
        for items in [8192, 16_384, 32_768] {
            let of = |is_block| fit.expected(Point::Layout { items, is_block });
            assert!(of(false) >= 3.0 * of(true), "{items}: {} and {}", of(false), of(true));
        }
    }

    #[test]
    fn bas_03_seven_strides_by_five_sizes_of_blocks() {
        let strides = points().into_iter().filter_map(|p| match p {
            Point::Stride { stride, threads } => Some((stride, threads, global(p))),
            _ => None,
        });
        let strides: Vec<(u64, u64, Global)> = strides.collect();
        assert_eq!(strides.len(), 7 * 5);
        for (stride, threads, global) in strides {
            let met: BTreeSet<u64> = places(global).into_iter().collect();
            assert_eq!(met, (0..threads * EACH).map(|k| k * stride).collect());
            assert_eq!(global.region(), threads * EACH * stride, "regions do not meet");
            assert_eq!((global.moved(), global.lines()), (stride.min(16), stride.min(32)));
        }
    }

    #[test]
    fn bas_04_a_line_through_the_conflicts_is_found_again() {
        let points = points();
        let own = Fit { rate: 3000.0, line: 30_000.0, start: 2.5, request: 0.75 };
        let measured: Vec<f64> = points.iter().map(|p| own.expected(*p)).collect();
        let fit = Fit::to(&points, &measured).expect("a fit");
        let apart = [
            fit.rate - own.rate,
            fit.line - own.line,
            fit.start - own.start,
            fit.request - own.request,
        ];
        assert!(apart.iter().all(|d| d.abs() < 1e-9), "{fit:?}");
        assert_eq!(own.expected(Point::Banks { stride: 0 }), 3.25, "all read one word");
        assert_eq!(own.expected(Point::Banks { stride: 7 }), 3.25, "odd strides are free");
        assert_eq!(own.expected(Point::Banks { stride: 32 }), 2.5 + 0.75 * 32.0);
        assert_eq!(Fit::to(&points[..1], &[1.0]), None, "nothing to fit to");
    }

    #[test]
    fn bas_19_conflicts_are_the_greatest_common_divisor() {
        for banks in [16, 32] {
            for stride in 0..=64usize {
                // Threads of a row, by bank; equal addresses are one access.
                let mut met = vec![std::collections::BTreeSet::new(); banks];
                (0..banks).for_each(|t| {
                    met[t * stride % banks].insert(t * stride);
                });
                let worst = met.iter().map(|m| m.len()).max().unwrap_or(0);
                assert_eq!(conflicts(stride, banks), worst, "stride {stride}, {banks} banks");
            }
        }
        let row: Vec<usize> = (1..=16).map(|s| conflicts(s, 16)).collect();
        assert_eq!(row, [1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1, 16]);
    }
}

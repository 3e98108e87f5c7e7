//! The parts of arrays that a block of threads copies into its shared memory: those that several
//! loads, or none in the array's own order, read.
//!
//! Rows: BAS-08, BAS-17, BAR-14. A launch is cut into boxes of points. For each tile the block
//! first copies what the box reads, in the order of the array, and then reads the copy. Devices
//! without such a memory take no notice.

use aplomb_values::dag::ix::{Atom, Ix};
use smallvec::SmallVec;

/// Points that a tiled launch gives a block; its threads take them in turns.
pub const POINTS: usize = 1024;
/// Rows of a fold, one a thread, and places of them that a block copies at a time.
pub const STAGED: [usize; 2] = [256, 16];
/// Bytes of near memory that a block may have without asking.
pub const BYTES: usize = 48 << 10;

/// Threads of a warp, banks of shared memory, and bytes of a bank's word.
const WARP: usize = 32;
const BANKS: usize = 32;
const WORD: usize = 4;

/// The boxes of a launch. `L` says what a load is: a node and its read, or the launch's own number
/// of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tiling<L> {
    /// Points of a box along each axis of the domain; 1 where it is not cut.
    pub block: SmallVec<[usize; 4]>,
    /// The axis of the domain that neighbouring threads follow.
    pub lanes: usize,
    /// The copies that a block makes.
    pub tiles: Vec<Tile<L>>,
}

/// The part of one array that a block copies into its shared memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile<L> {
    /// By axis of the array.
    pub spans: Vec<Span>,
    /// Elements between rows that nobody reads, so that threads meet different banks (BAS-21).
    pub pad: usize,
    /// Bytes of an element.
    pub size: usize,
    /// Loads of the array, each by how far it is ahead of the lowest on each axis.
    pub loads: Vec<(L, SmallVec<[i64; 4]>)>,
}

/// The range of places that a box reads along one axis of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// One place, of axes that are not cut.
    At(Ix),
    /// The places that one axis of the domain moves through.
    Along {
        /// The domain's axis that moves it, and by how much.
        axis: usize,
        /// Places for each step along the domain's axis.
        by: i64,
        /// The lowest load's constant, and how far the highest is ahead of it.
        from: i64,
        /// Places from the lowest load to the highest.
        apart: usize,
        /// The extent around which places come in again from the other side.
        wraps: Option<i64>,
    },
}

/// An index that one axis moves: `by×axis + from`, around `wraps` where that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Single {
    /// Places for each step along the domain's axis.
    pub by: i64,
    /// The domain's axis that moves it.
    pub axis: usize,
    /// The place for the axis's first point.
    pub from: i64,
    /// The extent around which it goes.
    pub wraps: Option<i64>,
}

impl Single {
    /// The same over an axis of `extent`, as one that wraps around `n`, the nearer way: what never
    /// leaves 0 to n wraps around it too.
    pub fn around(self, n: i64, extent: usize) -> Option<Single> {
        let far = self.from + self.by * (extent as i64 - 1).max(0);
        let stays = self.from.min(far) >= 0 && self.from.max(far) < n;
        let from = (self.from + n / 2).rem_euclid(n) - n / 2;
        (self.wraps == Some(n) || self.wraps.is_none() && stays).then_some(Single {
            from,
            wraps: Some(n),
            ..self
        })
    }
}

/// None: it is of another form.
pub fn single(ix: &Ix) -> Option<Single> {
    let (ix, wraps) = match ix.terms.as_slice() {
        [(1, Atom::Mod(inner, n))] if ix.c == 0 => (&**inner, Some(*n)),
        _ => (ix, None),
    };
    let [(by, Atom::Axis(axis))] = ix.terms.as_slice() else { return None };
    Some(Single { by: *by, axis: *axis as usize, from: ix.c, wraps })
}

impl Span {
    /// An index over the domain, where `cut` says which axes are cut, and all wrap around `n` if
    /// one does. None: it is of neither form.
    pub fn new(
        ix: &Ix,
        n: Option<i64>,
        domain: &[usize],
        cut: &dyn Fn(usize) -> bool,
    ) -> Option<Span> {
        let moved = |ix: &Ix| (0..=u8::MAX as usize).take(16).any(|k| cut(k) && ix.mentions(k));
        if !moved(ix) {
            return Some(Span::At(ix.clone()));
        }
        let own = single(ix)?;
        let own = n.map_or(Some(own), |n| own.around(n, domain.get(own.axis).copied()?));
        own.map(|s| Span::Along { axis: s.axis, by: s.by, from: s.from, apart: 0, wraps: s.wraps })
    }

    /// Elements of the copy along this axis.
    pub fn extent(&self, block: &[usize]) -> usize {
        match self {
            Span::At(_) => 1,
            Span::Along { axis, by, apart, .. } => {
                let steps = block[*axis] - 1;
                steps.saturating_mul(by.unsigned_abs() as usize).saturating_add(apart + 1)
            }
        }
    }
}

impl<L> Tile<L> {
    /// Extents of the copy, without padding.
    pub fn extents(&self, block: &[usize]) -> Vec<usize> {
        self.spans.iter().map(|s| s.extent(block)).collect()
    }

    /// Elements from one place to the next on each axis of the copy, and in all.
    pub fn strides(&self, block: &[usize]) -> (Vec<usize>, usize) {
        let mut strides = vec![1usize; self.spans.len()];
        let mut next = 1usize;
        for (k, extent) in self.extents(block).into_iter().enumerate().rev() {
            strides[k] = next;
            let pad = if k + 1 == self.spans.len() { self.pad } else { 0 };
            next = next.saturating_mul(extent.saturating_add(pad));
        }
        (strides, next)
    }

    /// The size of the copy that a block of this many points makes.
    pub fn bytes(&self, block: &[usize]) -> usize {
        self.strides(block).1.saturating_mul(self.size)
    }

    /// The distance in the copy between reads of neighbouring threads, which follow that axis of
    /// the domain.
    pub fn lane_stride(&self, block: &[usize], lanes: usize) -> usize {
        let strides = self.strides(block).0;
        let own = self.spans.iter().zip(strides).filter_map(|(s, stride)| match s {
            Span::Along { axis, by, .. } if *axis == lanes => {
                Some(stride.saturating_mul(by.unsigned_abs() as usize))
            }
            _ => None,
        });
        own.sum()
    }
}

impl<L> Tile<L> {
    /// Threads of a warp that meet in one bank of the copy, the most (BAS-19). Threads take the
    /// box's points in turns, the axis that lanes follow first, then the last; a load shifts all of
    /// them alike. Items of 8 bytes go by half warps.
    pub fn meetings(&self, block: &[usize], lanes: usize) -> u32 {
        let strides = self.strides(block).0;
        let points = block.iter().product::<usize>().min(POINTS);
        let at = |point: usize| {
            let (mut rest, mut place) = (point, SmallVec::<[usize; 4]>::from(block));
            let others = (0..block.len()).rev().filter(|axis| *axis != lanes);
            for axis in [lanes].into_iter().chain(others) {
                (place[axis], rest) = (rest % block[axis], rest / block[axis]);
            }
            let along = self.spans.iter().zip(&strides).map(|(span, stride)| match span {
                Span::Along { axis, by, .. } => stride * by.unsigned_abs() as usize * place[*axis],
                Span::At(_) => 0,
            });
            along.sum::<usize>()
        };
        let (lanes, words) = match self.size {
            8.. => (WARP / 2, BANKS / 2),
            _ => (WARP, BANKS),
        };
        let mut most = 1;
        for first in (0..points).step_by(lanes) {
            let lanes = first..points.min(first + lanes);
            let mut met: Vec<usize> = lanes.map(|p| at(p) * self.size.min(8) / WORD).collect();
            if self.size >= 8 {
                met.iter_mut().for_each(|word| *word /= 2);
            }
            met.sort_unstable();
            met.dedup();
            let mut banks = [0; BANKS];
            for word in met {
                banks[word % words] += 1;
                most = most.max(banks[word % words]);
            }
        }
        most as u32
    }
}

impl<L> Tiling<L> {
    /// The size of all copies of a block, each aligned for its elements.
    pub fn bytes(&self) -> usize {
        self.tiles
            .iter()
            .fold(0, |at: usize, t| at.next_multiple_of(t.size.max(1)) + t.bytes(&self.block))
    }

    /// The same over other loads; loads that are not known any more are read from the array, a tile
    /// of none goes.
    pub fn over<M>(&self, known: impl Fn(&L) -> Option<M>) -> Option<Tiling<M>> {
        let tile = |t: &Tile<L>| Tile {
            spans: t.spans.clone(),
            pad: t.pad,
            size: t.size,
            loads: t
                .loads
                .iter()
                .filter_map(|(l, apart)| Some((known(l)?, apart.clone())))
                .collect(),
        };
        let tiles: Vec<Tile<M>> =
            self.tiles.iter().map(tile).filter(|t| !t.loads.is_empty()).collect();
        (!tiles.is_empty()).then(|| Tiling { block: self.block.clone(), lanes: self.lanes, tiles })
    }

    /// The number of boxes that cover a domain.
    pub fn boxes(&self, domain: &[usize]) -> u64 {
        domain.iter().zip(&self.block).fold(1, |n, (d, b)| n.saturating_mul(d.div_ceil(*b) as u64))
    }
}

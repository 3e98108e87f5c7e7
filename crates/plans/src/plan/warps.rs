//! Warps: the points of a launch that threads beside each other take at once, and the memory that
//! moves for them.
//!
//! Rows: BAS-09, BAS-12. Memory moves sectors of 32 bytes. A read is coalesced if the sectors that
//! its warps meet are at most twice as many as the elements that they meet would fill. Of long
//! loops 128 warps are looked at, evenly apart.

use super::{Kind, Launch, Load, Plan, product};
use crate::kir::Form;
use aplomb_values::dag::Read;

/// Threads of a warp.
const WARP: u64 = 32;
/// Bytes that move at once.
const SECTOR: u64 = 32;
/// Bytes that the first cache gives at once.
const LINE: u64 = 128;
/// So many warps are looked at.
const LOOKED: u64 = 128;

/// The order in which warps take a domain: `slow` places of one part, and for each of them `fast`
/// of the other, which neighbouring threads take.
struct Order<'a> {
    domain: &'a [usize],
    /// The axis that is one of the two parts; None: all axes are the fast one.
    axis: Option<usize>,
    /// Whether that axis is the fast part.
    along: bool,
    slow: u64,
    fast: u64,
}

impl Plan {
    /// Whether the threads of a warp read one or few stretches of memory by this load, at the
    /// points of the launch or of what its folds leave.
    pub fn is_coalesced(&self, l: &Launch, load: usize) -> bool {
        let met = self.sectors(l, load, LOOKED);
        met.sectors <= 2 * met.least
    }

    /// True of a read of the same array that lies whole lines of the first cache from a load, as
    /// far as their constants tell.
    pub fn is_whole_lines(&self, from: &Load, read: &Read) -> bool {
        let buffer = self.buffer(from.buf);
        let apart = from.read.ix.iter().zip(&read.ix).zip(&*buffer.shape);
        let apart = apart.fold(0i64, |sum, ((a, b), n)| {
            let around = a.terms != b.terms;
            sum.wrapping_mul(*n as i64).wrapping_add(b.c - a.c + i64::from(around))
        });
        apart.wrapping_mul(buffer.dtype.size() as i64) % LINE as i64 == 0
    }

    /// The sectors that warps meet by a load, of so many warps at most.
    pub fn sectors(&self, l: &Launch, load: usize, looked: u64) -> Sectors {
        let has = |steps: &[super::Step]| steps.iter().any(|s| s.what.load() == Some(load as u32));
        let outer = l.outer();
        let of_points = has(&l.body) || !has(&l.after);
        let order = match l.axis.filter(|_| l.kind == Kind::Reduce && of_points) {
            Some(axis) => {
                let along = Form::of(self, l).lanes(l) == Some(axis);
                let (others, own) = (product(&outer), l.domain[axis] as u64);
                let (slow, fast) = if along { (others, own) } else { (own, others) };
                Order { domain: &l.domain, axis: Some(axis), along, slow, fast }
            }
            None => {
                let domain = if of_points { &l.domain[..] } else { &outer[..] };
                Order { domain, axis: None, along: false, slow: 1, fast: product(domain) }
            }
        };
        let (load, each) = (&l.loads[load], order.fast.div_ceil(WARP));
        let all = order.slow.saturating_mul(each);
        let buffer = self.buffer(load.buf);
        let size = buffer.dtype.size() as u64;
        let (mut sectors, mut lines, mut least, looked) = (0, 0, 0, all.min(looked));
        // Of thousands of launches all are asked: no lane takes memory of its own.
        let (mut place, mut met) = (order.domain.to_vec(), Vec::new());
        for k in 0..looked {
            let warp = (u128::from(k) * u128::from(all) / u128::from(looked)) as u64;
            let first = warp % each * WARP;
            met.clear();
            met.extend((first..order.fast.min(first + WARP)).filter_map(|lane| {
                order.put(warp / each, lane, &mut place);
                element(&load.read, &buffer.shape, &place)
            }));
            met.sort_unstable();
            met.dedup();
            least += (met.len() as u64 * size).div_ceil(SECTOR);
            met.iter_mut().for_each(|e| *e = *e * size / SECTOR);
            met.dedup();
            sectors += met.len() as u64;
            met.dedup_by_key(|sector| *sector / (LINE / SECTOR));
            lines += met.len() as u64;
        }
        Sectors { sectors, lines, least, looked, warps: all }
    }
}

/// The sectors of memory that some warps of a launch meet by one load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sectors {
    /// By the warps that were looked at.
    pub sectors: u64,
    /// The lines of the first cache that these lie in, warp by warp.
    pub lines: u64,
    /// As many as the elements that they met would fill.
    pub least: u64,
    /// The warps that were looked at.
    pub looked: u64,
    /// All warps.
    pub warps: u64,
}

impl Sectors {
    /// Bytes that move for all warps, if those that were looked at are like the others.
    pub fn bytes(&self) -> u64 {
        let own = self.sectors.saturating_mul(SECTOR);
        own.saturating_mul(self.warps) / self.looked.max(1)
    }

    /// Lines of the first cache for all warps, which gives one at a time; a read whose places are
    /// `shifted` by no whole lines meets one more for each warp.
    pub fn lines(&self, shifted: bool) -> u64 {
        let more = if shifted { self.looked } else { 0 };
        (self.lines + more).saturating_mul(self.warps) / self.looked.max(1)
    }
}

/// The number of the element that a read meets; None: a test fails there.
fn element(read: &Read, shape: &[usize], place: &[usize]) -> Option<u64> {
    let holds = read.tests.iter().all(|t| (t.lo..t.hi).contains(&t.ix.at(place)));
    let at = || read.ix.iter().zip(shape).fold(0, |sum, (ix, n)| sum * *n as i64 + ix.at(place));
    holds.then(|| at() as u64)
}

impl Order<'_> {
    /// Puts the place of a point.
    fn put(&self, slow: u64, fast: u64, place: &mut [usize]) {
        let (own, mut rest) = if self.along { (fast, slow) } else { (slow, fast) };
        for axis in (0..self.domain.len()).rev() {
            if self.axis == Some(axis) {
                place[axis] = own as usize;
                continue;
            }
            let n = self.domain[axis].max(1) as u64;
            place[axis] = (rest % n) as usize;
            rest /= n;
        }
    }
}

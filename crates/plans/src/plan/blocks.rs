//! The traffic of one block: the elements that the points of a box ask for, each counted once, and
//! those that they write.
//!
//! Row: BAS-18. Counted exactly, as the union of what the reads of an array meet (`met`). The box
//! lies in the middle of the domain, where no edge cuts it short. Memory between blocks and arrays
//! carries so much for each block, as a cache or a copy of the block serves the rest.

use super::met::{Places, Points, places, union};
use super::{BufId, Kind, Launch, Plan, What};
use aplomb_values::dag::Read;
use std::collections::BTreeMap;

/// The elements of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Different elements that its points read.
    pub loads: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// Results that it has: of a fold one for each place of the other axes. What is only a part of
    /// a fold reads them, too, before it writes them.
    pub results: u64,
}

/// The first point of a box in the middle of a launch.
fn middle(l: &Launch, block: &[usize]) -> Vec<usize> {
    let from = |(all, own): (&usize, &usize)| {
        let from = all / (*own).max(1) / 2 * own;
        from.min(all - (*own).min(*all))
    };
    l.domain.iter().zip(block).map(from).collect()
}

impl Plan {
    /// The elements that a box of points in the middle of a launch has to do with. None: values say
    /// where, or it is not counted axis by axis.
    pub fn block(&self, l: &Launch, block: &[usize]) -> Option<Block> {
        self.counted_at(l, &middle(l, block), block, false)
    }

    /// The same where a block copies what each read asks for by itself: of both operands of a
    /// product of an array with itself there are two copies.
    pub fn block_of_copies(&self, l: &Launch, block: &[usize]) -> Option<Block> {
        self.counted_at(l, &middle(l, block), block, true)
    }

    /// The same for the box that begins at a point.
    pub fn block_at(&self, l: &Launch, from: &[usize], block: &[usize]) -> Option<Block> {
        self.counted_at(l, from, block, false)
    }

    fn counted_at(
        &self,
        l: &Launch,
        from: &[usize],
        block: &[usize],
        apart: bool,
    ) -> Option<Block> {
        let points: Points = from
            .iter()
            .zip(block)
            .zip(&l.domain)
            .map(|((from, own), all)| (*from, (*own).min(all - (*from).min(*all))))
            .collect();
        let mut arrays: BTreeMap<BufId, Vec<&Read>> = BTreeMap::new();
        let mut seen: Vec<u32> = Vec::new();
        for (step, k) in l.body.iter().filter_map(|s| Some((s, s.what.load()?))) {
            if seen.contains(&k) {
                continue;
            }
            if !matches!(step.what, What::Load(_)) {
                return None;
            }
            seen.push(k);
            let load = &l.loads[k as usize];
            arrays.entry(load.buf).or_default().push(&load.read);
        }
        let mut out = Block::default();
        for (buf, reads) in &arrays {
            let all = reads.iter().map(|read| places(read, &l.domain, &points));
            let all: Vec<Option<Places>> = all.collect::<Option<_>>()?;
            let all: Vec<_> = all.iter().flatten().map(|places| &places[..]).collect();
            let loads = match apart {
                true => all.iter().map(|own| union(&[own])).sum::<Option<u64>>()?,
                false => union(&all)?,
            };
            out.loads += loads;
            out.bytes += loads * self.buffer(*buf).dtype.size() as u64;
        }
        let folded = l.axis.filter(|_| l.kind == Kind::Reduce);
        let of = |skip: Option<usize>| {
            let own = points.iter().enumerate().filter(|(axis, _)| Some(*axis) != skip);
            own.map(|(_, (_, n))| *n as u64).product::<u64>()
        };
        let after = of(folded).saturating_mul(l.after_stores.len() as u64);
        out.results = of(None).saturating_mul(l.stores.len() as u64).saturating_add(after);
        Some(out)
    }
}

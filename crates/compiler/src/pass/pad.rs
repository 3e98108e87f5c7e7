//! pad: elements between the rows of a tile, so that threads that read it together meet different
//! banks.
//!
//! Rows: BAS-19, BAS-21. In: tiles. Out: the same with a pad each. Threads of a warp that read with
//! a stride meet in gcd(stride, banks) of them, one after the other; an access costs a + b·n, so of
//! all pads the first with the least sum is taken.

use super::decide::{About, Choice, Decision, WhyNot};
use super::fault::Fault;
use super::reversal::Reversal;
use super::sentences::Says;
use super::work::Work;
use super::{cost, cost::Cost};
use aplomb_ground::error::Result;
use aplomb_plans::micro::conflicts;
use aplomb_plans::plan::tiling::{BYTES, Tile, Tiling};

/// Words of a row of shared memory; doubles go by half warps.
const BANKS: usize = 32;

pub fn run(work: &mut Work) -> Result<()> {
    let mut tilings = std::mem::take(&mut work.tilings);
    for (launch, tiling) in &mut tilings {
        for k in 0..tiling.tiles.len() {
            let tile = &tiling.tiles[k];
            let banks = if tile.size > 4 { BANKS / 2 } else { BANKS };
            let sums: Vec<usize> = (0..banks).map(|pad| sum(tile, tiling, pad, banks)).collect();
            let (pad, least) = first_least(&sums);
            // The best of those that the other way could have.
            let other = if pad == 0 { 1 + first_least(&sums[1..]).0 } else { 0 };
            let others: usize = tiling.bytes() - tile.bytes(&tiling.block);
            let fits =
                |pad: usize| Tile { pad, ..tile.clone() }.bytes(&tiling.block) + others <= BYTES;
            if !fits(pad) {
                continue;
            }
            let at = tile.loads[0].0.0;
            let reversal = Reversal::Pad { launch: *launch, array: at };
            let can = fits(other);
            if work.options.trace {
                let of = |n: usize| Cost { flops: 0, bytes: 0, ns: n as f64 * cost::READ_NS };
                let about =
                    About { at, what: "pad", reason: "conflicts", row: "BAS-21", switch: "pad" };
                let names = if pad == 0 { ["none", "pad"] } else { ["pad", "none"] };
                let (a, b) = (
                    Choice { name: names[0], cost: of(least) },
                    Choice { name: names[1], cost: of(sums[other]) },
                );
                let says = Says::Padded { pad, sums: sums.clone() };
                let decision = Decision::forced(about, a, b, WhyNot::Dearer, says);
                work.decide(if can { decision.or(reversal) } else { decision });
            }
            let pad = if can && work.options.reverses(reversal) { other } else { pad };
            tiling.tiles[k].pad = if work.options.has(Fault::LongRows) { BYTES } else { pad };
        }
    }
    work.tilings = tilings;
    Ok(())
}

/// Of every access to a tile: its loads, and the copy, which goes along rows.
fn sum<L: Clone>(tile: &Tile<L>, tiling: &Tiling<L>, pad: usize, banks: usize) -> usize {
    let padded = Tile { pad, ..tile.clone() };
    let stride = padded.lane_stride(&tiling.block, tiling.lanes);
    conflicts(1, banks) + tile.loads.len() * conflicts(stride, banks)
}

/// The place of the first least, and the least.
fn first_least(sums: &[usize]) -> (usize, usize) {
    let least = sums.iter().copied().min().unwrap_or(0);
    (sums.iter().position(|s| *s == least).unwrap_or(0), least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_plans::plan::tiling::Span;
    use smallvec::SmallVec;

    /// The sums by pad for references with these strides in rows of `pitch`: a stride of q rows and
    /// r grows by q·pad.
    fn sums(strides: &[usize], pitch: usize, banks: usize) -> Vec<usize> {
        let own = |s: usize, pad: usize| conflicts(s + s / pitch * pad, banks);
        (0..banks).map(|pad| strides.iter().map(|s| own(*s, pad)).sum()).collect()
    }

    /// A copy of `pitch` items a row, of which loads go down columns or, `along`, with rows; its
    /// sums by pad as the pass adds them up.
    fn of_pass(pitch: usize, loads: usize, along: bool, banks: usize) -> Vec<usize> {
        let axis = |axis: usize| Span::Along { axis, by: 1, from: 0, apart: 0, wraps: None };
        let lanes = usize::from(along);
        let load = |k: usize| (k as u32, SmallVec::from_slice(&[0, 0]));
        let (spans, loads) = (vec![axis(0), axis(1)], (0..loads).map(load).collect());
        let tile = Tile { spans, pad: 0, size: 4, loads };
        let block = SmallVec::from_slice(&[32, pitch]);
        let tiling = Tiling { block, lanes, tiles: vec![tile.clone()] };
        (0..banks).map(|pad| sum(&tile, &tiling, pad, banks)).collect()
    }

    /// The sums of the pass are the paper's, of its loads and of the copy along rows.
    #[test]
    fn bas_21_the_sums_of_the_pass_are_those_of_the_paper() {
        for banks in [16, 32] {
            for pitch in [16, 31, 32, 33, 64] {
                assert_eq!(of_pass(pitch, 1, false, banks), sums(&[1, pitch], pitch, banks));
                assert_eq!(of_pass(pitch, 2, false, banks), sums(&[1, pitch, pitch], pitch, banks));
                // Along rows no pad helps.
                assert_eq!(of_pass(pitch, 1, true, banks), vec![2; banks]);
            }
        }
        assert_eq!(first_least(&of_pass(32, 1, false, 32)).0, 1);
        assert_eq!(first_least(&of_pass(33, 1, false, 32)).0, 0);
    }

    #[test]
    fn bas_21_the_first_pad_of_least_conflicts() {
        let t = [1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1];
        let u: Vec<usize> = t.iter().chain(&[16]).chain(&t).copied().collect();
        let with = |first: usize, rest: &[usize], more: usize| -> Vec<usize> {
            std::iter::once(first).chain(rest.iter().map(|n| n + more)).collect()
        };
        assert_eq!(sums(&[1], 32, 16), [1; 16]);
        assert_eq!(sums(&[32], 32, 16), with(16, &t, 0));
        assert_eq!(sums(&[32], 32, 32), with(32, &u, 0));
        assert_eq!(sums(&[1, 32], 32, 16), with(17, &t, 1));
        assert_eq!(sums(&[1, 32], 32, 32), with(33, &u, 1));
        assert_eq!(sums(&[2, 32], 32, 16), with(18, &t, 2));
        assert_eq!(sums(&[2, 32], 32, 32), with(34, &u, 2));
        assert_eq!(sums(&[16], 16, 16), with(16, &t, 0));
        assert_eq!(sums(&[33], 32, 16), [1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1, 16]);
        assert_eq!(sums(&[16], 16, 32), { [&[16][..], &t, &[32], &t].concat() });
        let ones = [1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1];
        assert_eq!(sums(&[33], 32, 32), [&ones[..], &[16], &ones, &[32]].concat());
        // Two references in rows of 31: 1 more of them, 31, is odd by itself, 32 is a row and 1.
        for banks in [16, 32] {
            let told = sums(&[31, 32], 31, banks);
            let own = |s: usize, pad: usize| conflicts(s + pad, banks);
            let wanted: Vec<usize> = (0..banks).map(|pad| own(31, pad) + own(32, pad)).collect();
            assert_eq!(told, wanted);
            assert_eq!(told[..3], [banks + 1, banks + 1, 3]);
        }
        for (strides, pitch, pad) in [
            (&[1][..], 32, 0),
            (&[32], 32, 1),
            (&[1, 32], 32, 1),
            (&[2, 32], 32, 1),
            (&[16], 16, 1),
            (&[33], 32, 0),
            (&[31, 32], 31, 2),
        ] {
            for banks in [16, 32] {
                assert_eq!(
                    first_least(&sums(strides, pitch, banks)).0,
                    pad,
                    "{strides:?} in rows of {pitch}, {banks} banks"
                );
            }
        }
    }
}

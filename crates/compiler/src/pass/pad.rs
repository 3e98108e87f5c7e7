//! pad: elements between the rows of a tile, so that threads that read it together meet different
//! banks.
//!
//! Rows: BAS-19, BAS-21. In: tiles. Out: the same with a pad each. Threads of a warp that read with
//! a stride meet in gcd(stride, banks) of them, one after the other; an access costs a + b·n, so of
//! all pads the first with the least sum is taken.

use super::decide::{About, Choice, Decision, WhyNot, label};
use super::fault::Fault;
use super::work::Work;
use super::{cost, cost::Cost};
use aplomb_ground::error::Result;
use aplomb_plans::micro::conflicts;
use aplomb_plans::plan::tiling::{BYTES, Tile, Tiling};

/// Words of a row of shared memory; doubles go by half warps.
const BANKS: usize = 32;

pub fn run(work: &mut Work) -> Result<()> {
    let mut tilings = std::mem::take(&mut work.tilings);
    for tiling in tilings.values_mut() {
        for k in 0..tiling.tiles.len() {
            let tile = &tiling.tiles[k];
            let banks = if tile.size > 4 { BANKS / 2 } else { BANKS };
            let sums: Vec<usize> = (0..banks).map(|pad| sum(tile, tiling, pad, banks)).collect();
            let (pad, least) = first_least(&sums);
            let others: usize = tiling.bytes() - tile.bytes(&tiling.block);
            let padded = Tile { pad, ..tile.clone() };
            if padded.bytes(&tiling.block) + others > BYTES {
                continue;
            }
            if work.options.trace {
                let at = tile.loads[0].0.0;
                let table: Vec<String> = sums.iter().take(8).map(usize::to_string).collect();
                let rows =
                    if pad == 0 { "are not padded".into() } else { format!("are longer by {pad}") };
                let text = format!(
                    "rows of the copy of {} {rows}: with 0, 1, 2 … more elements, {banks} banks \
                     have conflicts {} …",
                    label(&work.dag, at),
                    table.join(" ")
                );
                let of = |n: usize| Cost { flops: 0, bytes: 0, ns: n as f64 * cost::READ_NS };
                let about =
                    About { at, what: "pad", reason: "conflicts", row: "BAS-21", switch: "pad" };
                let (chosen, other) = if pad == 0 { ("none", "pad") } else { ("pad", "none") };
                let rejected = if pad == 0 {
                    sums[1..].iter().min().copied().unwrap_or(least)
                } else {
                    sums[0]
                };
                let (a, b) = (
                    Choice { name: chosen, cost: of(least) },
                    Choice { name: other, cost: of(rejected) },
                );
                work.decide(Decision::forced(about, a, b, WhyNot::Dearer, text));
            }
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

    /// The sums by pad for references with these strides in rows of `pitch`: a stride of q rows and
    /// r grows by q·pad.
    fn sums(strides: &[usize], pitch: usize, banks: usize) -> Vec<usize> {
        let own = |s: usize, pad: usize| conflicts(s + s / pitch * pad, banks);
        (0..banks).map(|pad| strides.iter().map(|s| own(*s, pad)).sum()).collect()
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
        assert_eq!(sums(&[31, 32], 31, 16)[..2], [17, 17]);
        assert_eq!(sums(&[31, 32], 31, 32)[..2], [33, 33]);
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

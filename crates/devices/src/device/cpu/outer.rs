//! Products of matrices whose sums take their products in order (`Op::Mac`): at each place of the
//! fold the outer product of a column of the left operand and a row of the right one, added to a
//! tile of results in registers.
//!
//! | instruction set | rows × columns of a tile | registers of results |
//! |---|---|---|
//! | AVX-512 | 8 × 24, of f32 8 × 48 | 24 of 32 |
//! | AVX2 | 4 × 12, of f32 4 × 24 | 12 of 16 |
//! | portable | 2 × 3 | 6, as the compiler likes |
//!
//! | part | shared out by |
//! |---|---|
//! | both operands packed (`panels`), so many places of the fold at a time | panels |
//! | results | blocks of tiles |
//!
//! A tile goes over a block of `prim::reduce`, 256 places, and is then added to what its results
//! are so far, in f64. The left panel's part stays in L1 while the right operand's go by, which
//! come from the second cache: 24 + 8 numbers for 192 products. Operands of which each item is used
//! by few tiles, as those of `(⍉X)+.×X` where X is long, are not packed where they lie as tiles
//! read them.
//!
//! All of it is left to `fold`, whose results are the same to the bit, where an operand fails, a
//! result is not finite or there is no room.

use super::chunk::Env;
use super::cut::ALONE_NS;
use super::gather::soon;
use super::isa::by_isa;
use super::lanes::Wide;
#[cfg(target_arch = "x86_64")]
use super::lanes::{V4, V8};
use super::loops::plain;
use super::operand::Operand;
use super::panels::{Panels, Room, WIDEST};
use super::product::place;
use super::program::{Input, Program};
use super::share::{Tally, each_unit, share};
use super::singles::Cells;
#[cfg(target_arch = "x86_64")]
use super::singles::{S8, S16};
use super::tiles::Where;
use super::{Cpu, DeviceError, RunCtx};
use crate::pool::PoolBuffer;
use aplomb_plans::plan::Launch;
use aplomb_plans::plan::product::Factors;
use aplomb_values::array::DType;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::ROWS;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows of a tile at most.
const TALLEST: usize = 8;
/// Panels of either operand in a unit at most: those of the right one stay in the second cache.
const SIDES: [usize; 2] = [32, 16];
/// Items of both operands that are packed at a time.
const ROOM: usize = 1 << 21;
/// Blocks of the fold that are packed at a time at least.
const BLOCKS: usize = 16;
/// Panels that a unit packs, and places of the fold.
const PANELS: usize = 8;
/// Panels of one operand for which the other one is not packed, if it lies so.
const FEW: usize = 8;
/// Places for which the right operand is asked ahead.
const AHEAD: usize = 8;
/// A product and its part of the sum.
const ONE_NS: f64 = 0.02;

/// Results of a tile at some places: onto those that are there, or `first`; rows are `pitch` apart.
/// Safety: operands and results hold that many.
type Tile =
    unsafe fn(left: Side, right: Side, steps: usize, out: *mut f64, pitch: usize, first: bool);

/// A panel: where it begins, and the bytes from place to place.
#[derive(Clone, Copy)]
struct Side {
    at: *const u8,
    step: isize,
}

#[derive(Clone, Copy)]
pub struct Tiles {
    rows: usize,
    columns: usize,
    /// By the registers of a row.
    tile: [Tile; 3],
}

impl Tiles {
    /// Columns of a register.
    fn lanes(&self) -> usize {
        self.columns / self.tile.len()
    }
}

/// A product, tile by tile.
struct Outer<'a> {
    tiles: Tiles,
    both: [&'a Panels; 2],
    rooms: [Room; 2],
    /// The operands that are not packed, as they lie.
    lie: [Option<Side>; 2],
    out: *mut f64,
    /// Panels of either operand in a unit.
    sides: [usize; 2],
    /// True where what is below the diagonal is what is above it.
    mirrored: bool,
}

// SAFETY: units write disjoint parts of the results, and only read the rest.
unsafe impl Sync for Outer<'_> {}

/// The results of a launch that is such a product, as f64. None: it is none, or is left to `fold`.
pub fn run(
    cpu: &mut Cpu,
    launch: &Launch,
    inputs: &[Input],
    ctx: &RunCtx,
) -> Result<Option<(PoolBuffer, Tally)>, DeviceError> {
    let known = Factors::of(launch).filter(|f| (f.sum, f.times) == (Op::Add, Op::Mac));
    let Some(factors) = known.filter(|f| f.folded + 1 == launch.domain.len()) else {
        return Ok(None);
    };
    let Some(single) = place(launch, &factors).map(|of| of == Where::Single) else {
        return Ok(None);
    };
    let [rows, columns, deep] = factors.extents(launch);
    if rows * columns * deep == 0 {
        return Ok(None);
    }
    let (isa, tiles) = (cpu.isa, tiles(cpu.isa)[usize::from(single)]);
    let [left, right] = Operand::both(&factors, launch, inputs);
    let left = Panels::of(&left, isa, (tiles.rows, rows), single);
    let right = Panels::of(&right, isa, (tiles.columns, columns), single);
    // Each item is used once for each panel of the other.
    let seldom = [right.count(), left.count()].map(|uses| uses <= FEW);
    let side = |(at, step)| Side { at, step };
    let lie = [
        left.in_place(tiles.rows).filter(|_| seldom[0]).map(side),
        right.in_place(tiles.lanes()).filter(|_| seldom[1]).map(side),
    ];
    let Some((slab, mut rooms)) = rooms(cpu, [(&left, lie[0]), (&right, lie[1])], deep, ctx) else {
        return Ok(None);
    };
    let Ok(mut values) = cpu.pool.buffer(DType::F64, rows * columns, ctx.budget) else {
        return Ok(None);
    };
    let at: [*mut u8; 2] = rooms.each_mut().map(|room| room.as_mut_ptr().cast());
    let mirrored = factors.is_mirrored(launch);
    let together = (rows * columns) as f64 * deep as f64 * ONE_NS > ALONE_NS;
    let mut outer = Outer {
        tiles,
        both: [&left, &right],
        rooms: at.map(|at| Room { at, places: 0..0 }),
        lie,
        out: values.as_mut_ptr().cast(),
        sides: SIDES,
        mirrored,
    };
    while together && outer.units() < 4 * cpu.threads.count() && outer.sides != [1, 1] {
        let k = usize::from(outer.sides[1] > 1 && outer.sides[0] <= 2 * outer.sides[1]);
        outer.sides[k] = (outer.sides[k] / 2).max(1);
    }
    let mut tally = Tally::default();
    for first in (0..deep).step_by(slab) {
        let places = first..(first + slab).min(deep);
        outer.rooms.iter_mut().for_each(|room| room.places = places.clone());
        let packed = (0..2).filter(|k| outer.lie[*k].is_none());
        for (panels, room) in packed.map(|k| (outer.both[k], &outer.rooms[k])) {
            let Some(packed) = pack(cpu, panels, room, deep, together, ctx)? else {
                return Ok(None);
            };
            tally.add(&packed);
        }
        let threads = each_unit(&mut cpu.threads, outer.units(), together, ctx, &|unit, _| {
            // SAFETY: a unit's results are its own.
            unsafe { outer.unit(unit, ctx) }
        })?;
        tally.threads = tally.threads.max(threads);
    }
    let fine = AtomicBool::new(true);
    let finite = plain(isa).all_finite;
    let each = (SIDES[0] * TALLEST * columns).max(1);
    let stretches = (rows * columns).div_ceil(each);
    each_unit(&mut cpu.threads, stretches, together, ctx, &|unit, _| {
        let rows = unit * SIDES[0] * TALLEST..rows.min((unit + 1) * SIDES[0] * TALLEST);
        // SAFETY: all results are there; what is written is below the diagonal, of these rows.
        unsafe {
            if mirrored {
                outer.mirror(rows.clone(), columns);
            }
            if !finite(outer.out.add(rows.start * columns), rows.len() * columns) {
                fine.store(false, Ordering::Relaxed);
            }
        }
    })?;
    Ok(fine.into_inner().then_some((values, tally)))
}

/// The number of places that are packed at a time, and memory for them of the operands that do not
/// lie somewhere. None: there is no room for a block of them.
fn rooms(
    cpu: &Cpu,
    both: [(&Panels, Option<Side>); 2],
    deep: usize,
    ctx: &RunCtx,
) -> Option<(usize, [PoolBuffer; 2])> {
    let lines = both.map(|(panels, _)| panels.count() * panels.wide);
    let mut blocks = (ROOM / (lines[0] + lines[1]) / ROWS).max(BLOCKS).min(deep.div_ceil(ROWS));
    loop {
        let slab = (blocks * ROWS).min(deep);
        let room = |k: usize| {
            let (panels, lies) = both[k];
            let items = if lies.is_some() { 0 } else { lines[k].checked_mul(slab)? };
            cpu.pool.buffer(panels.dtype(), items, ctx.budget).ok()
        };
        match room(0).and_then(|left| Some([left, room(1)?])) {
            Some(rooms) => return Some((slab, rooms)),
            None if blocks == 1 => return None,
            None => blocks /= 2,
        }
    }
}

/// Packs some places of an operand. None: it fails somewhere.
fn pack(
    cpu: &mut Cpu,
    panels: &Panels,
    room: &Room,
    deep: usize,
    together: bool,
    ctx: &RunCtx,
) -> Result<Option<Tally>, DeviceError> {
    let (isa, none) = (cpu.isa, Program::default());
    let (program, steps) = match panels.computed() {
        Some(lowered) => (&lowered.program, lowered.steps.as_slice()),
        None => (&none, [].as_slice()),
    };
    let env = Env::new(isa, program, steps, &[], ctx.interrupt);
    let (groups, blocks) = (panels.count().div_ceil(PANELS), room.places.len().div_ceil(ROWS));
    let tally = share(cpu, &env, groups * blocks, together, ctx, &|frame, unit| {
        let (group, block) = (unit % groups, unit / groups);
        let own = group * PANELS..((group + 1) * PANELS).min(panels.count());
        let first = room.places.start + block * ROWS;
        let places = first..(first + ROWS).min(room.places.end);
        // SAFETY: a unit writes its own part of its own panels.
        unsafe { panels.pack(isa, (frame, &env), (own, places), deep, room) }
    })?;
    Ok(tally.fault.is_none().then_some(tally))
}

impl Outer<'_> {
    /// Units across and down.
    fn cut(&self) -> [usize; 2] {
        [1, 0].map(|k| self.both[k].count().div_ceil(self.sides[k]))
    }

    fn units(&self) -> usize {
        self.cut().iter().product()
    }

    /// The results of a block of tiles, with the places that are packed. Safety: nobody else has
    /// these results.
    unsafe fn unit(&self, unit: usize, ctx: &RunCtx) {
        let [across, _] = self.cut();
        let at = [unit / across, unit % across];
        let part = |k: usize| {
            let first = at[k] * self.sides[k];
            first..(first + self.sides[k]).min(self.both[k].count())
        };
        let (down, beside, places) = (part(0), part(1), &self.rooms[0].places);
        let (Tiles { rows, columns, tile }, lanes) = (self.tiles, self.tiles.lanes());
        let [lines, pitch] = self.both.map(|panels| panels.lines);
        let size = self.both[0].dtype().size();
        let panel = |k: usize, panel: usize, place: usize| {
            let (room, wide) = (&self.rooms[k], self.both[k].wide);
            if let Some(Side { at, step }) = self.lie[k] {
                let begins = place as isize * step + (panel * wide * size) as isize;
                return Side { at: at.wrapping_offset(begins), step };
            }
            let at = room.at.cast_const().wrapping_add(room.item(panel, place, wide) * size);
            Side { at, step: (wide * size) as isize }
        };
        for place in places.clone().step_by(ROWS) {
            if ctx.interrupt.is_set() {
                return;
            }
            let (steps, fresh) = (ROWS.min(places.end - place), place == 0);
            for i in down.clone() {
                let left = panel(0, i, place);
                for j in beside.clone() {
                    // Of a product with itself turned what is below is what is above.
                    if self.mirrored && i * rows >= (j + 1) * columns {
                        continue;
                    }
                    let right = panel(1, j, place);
                    let (high, wide) =
                        (rows.min(lines - i * rows), columns.min(pitch - j * columns));
                    let tile = tile[wide.div_ceil(lanes) - 1];
                    // SAFETY: operands hold so many steps, the results a tile, or a part of one.
                    unsafe {
                        let out = self.out.add(i * rows * pitch + j * columns);
                        if high == rows && wide.is_multiple_of(lanes) {
                            tile(left, right, steps, out, pitch, fresh);
                            continue;
                        }
                        let mut own = [0.0; TALLEST * WIDEST];
                        tile(left, right, steps, own.as_mut_ptr(), columns, true);
                        for r in 0..high {
                            for c in 0..wide {
                                let (sum, to) = (own[r * columns + c], out.add(r * pitch + c));
                                *to = if fresh { sum } else { *to + sum };
                            }
                        }
                    }
                }
            }
        }
    }

    /// Copies to below the diagonal, in some rows of as many columns. Safety: what is above it is
    /// there, and nobody else writes these rows.
    unsafe fn mirror(&self, rows: std::ops::Range<usize>, n: usize) {
        for i in rows {
            // SAFETY: the caller's.
            (0..i).for_each(|j| unsafe { *self.out.add(i * n + j) = *self.out.add(j * n + i) });
        }
    }
}

/// The sums of a tile's products at some places.
// All indices are known where it is compiled: what they name are registers.
#[allow(clippy::needless_range_loop)]
#[inline(always)]
unsafe fn sums<L: Cells, const R: usize, const V: usize>(
    left: Side,
    right: Side,
    steps: usize,
) -> [[L; V]; R]
where
    L::Item: Copy + Into<f64>,
{
    // What changes no sum.
    let mut sums = [[L::splat(-0.0); V]; R];
    for t in 0..steps {
        // SAFETY: `Tile`'s contract; a prefetch touches nothing.
        unsafe {
            let own = |side: Side, t: usize| side.at.wrapping_offset(t as isize * side.step);
            let left = own(left, t).cast::<L::Item>();
            // The right operand comes from the second cache.
            for v in 0..V {
                soon(own(right, t + AHEAD).wrapping_add(v * 64));
            }
            let right = own(right, t).cast::<L::Item>();
            let mut ys = [L::splat(0.0); V];
            for v in 0..V {
                ys[v] = L::take(right.add(v * L::COUNT));
            }
            for r in 0..R {
                let x = L::splat((*left.add(r)).into());
                for v in 0..V {
                    sums[r][v] = x.fma(ys[v], sums[r][v]);
                }
            }
        }
    }
    sums
}

#[inline(always)]
unsafe fn onto<L: Wide>(out: *mut f64, sum: L, first: bool) {
    // SAFETY: the caller's.
    unsafe { if first { sum } else { L::load(out).add(sum) }.store(out) }
}

#[inline(always)]
unsafe fn tile<L: Wide + Cells<Item = f64>, const R: usize, const V: usize>(
    left: Side,
    right: Side,
    steps: usize,
    (out, pitch, first): (*mut f64, usize, bool),
) {
    // SAFETY: `Tile`'s contract.
    unsafe {
        let sums = sums::<L, R, V>(left, right, steps);
        for (r, row) in sums.iter().enumerate() {
            for (v, sum) in row.iter().enumerate() {
                onto(out.add(r * pitch + v * L::N), *sum, first);
            }
        }
    }
}

/// The same of f32, whose sums go on as f64.
#[inline(always)]
unsafe fn tile_of_singles<L: Wide, S: Cells<Item = f32>, const R: usize, const V: usize>(
    left: Side,
    right: Side,
    steps: usize,
    (out, pitch, first): (*mut f64, usize, bool),
) where
    L::Short: Cells<Item = f32>,
{
    // SAFETY: `Tile`'s contract; a register holds whole ones of half its length.
    unsafe {
        let sums = sums::<S, R, V>(left, right, steps);
        for (r, row) in sums.iter().enumerate() {
            for (v, sum) in row.iter().enumerate() {
                let mut own = [0.0f32; 16];
                sum.put(own.as_mut_ptr());
                for k in (0..S::COUNT).step_by(L::N) {
                    let part = L::long(L::Short::take(own.as_ptr().add(k)));
                    onto(out.add(r * pitch + v * S::COUNT + k), part, first);
                }
            }
        }
    }
}

macro_rules! instances {
    (portable) => {
        instances!(@ portable, 2, f64, f32);
    };
    (avx2, $feature:literal) => {
        instances!(@ avx2, 4, V4, S8, $feature);
    };
    (avx512, $feature:literal) => {
        instances!(@ avx512, 8, V8, S16, $feature);
    };
    (@ $name:ident, $rows:literal, $lane:ty, $short:ty $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn tile<const V: usize>(
                left: Side, right: Side, steps: usize, out: *mut f64, pitch: usize, first: bool,
            ) {
                unsafe {
                    super::tile::<$lane, $rows, V>(left, right, steps, (out, pitch, first))
                }
            }
            $(#[target_feature(enable = $feature)])?
            unsafe fn tile_of_singles<const V: usize>(
                left: Side, right: Side, steps: usize, out: *mut f64, pitch: usize, first: bool,
            ) {
                unsafe {
                    super::tile_of_singles::<$lane, $short, $rows, V>(
                        left, right, steps, (out, pitch, first),
                    )
                }
            }

            const fn of(tile: [Tile; 3], lanes: usize) -> Tiles {
                assert!($rows <= TALLEST && 3 * lanes <= WIDEST);
                Tiles { rows: $rows, columns: 3 * lanes, tile }
            }

            pub const ALL: [Tiles; 2] = [
                of([tile::<1>, tile::<2>, tile::<3>], <$lane as Cells>::COUNT),
                of(
                    [tile_of_singles::<1>, tile_of_singles::<2>, tile_of_singles::<3>],
                    <$short as Cells>::COUNT,
                ),
            ];
        }
    };
}

by_isa!(
    instances,
    /// The tiles of an instruction set: of f64, and of f32.
    tiles,
    [Tiles; 2]
);

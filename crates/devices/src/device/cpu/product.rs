//! Products of matrices and what is like them (`plan::product::Factors`), block by block.
//!
//! | part | shared out by |
//! |---|---|
//! | each operand packed (`packing`) | panels (as many lines as a tile has); of few lines that are long, by each unit for itself |
//! | results | blocks of tiles × blocks along the fold |
//!
//! A run of the right operand (`tiles`) stays in L1 while a unit's rows go over it, the left one
//! comes from the second cache. Sums of products of matrices have no partials and another form of
//! tile (`outer`).
//!
//! Values and their order are those of a fold (`tiles` says why), so this is only where the
//! operands lie. A result that shows ∞ or NaN is left to the fold; so is everything where an
//! operand fails or there is no room to pack. Not here: batches of products; an operand's part for
//! a block alone, so that packing needs less room.

use super::operand::Operand;
use super::packing::{Layout, Out, Packing, Shape, Straight, steps};
use super::program::Input;
use super::tiles::{GROUP_BYTES, LARGEST, Tiles, Where, tiles};
use super::{Cpu, DeviceError, Isa, RunCtx};
use crate::pool::PoolBuffer;
use aplomb_plans::plan::cpu::{FEW, LEAST};
use aplomb_plans::plan::product::Factors;
use aplomb_plans::plan::{Launch, Step, ValueId, What};
use aplomb_values::array::DType;
use aplomb_values::prim::reduce::{BLOCK, SINGLES, is_single};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Tiles to a unit, each way.
const SIDE: usize = 8;
/// Units of one stretch along the fold, of which each packs for itself what it needs, at most.
const PLANE: usize = 4;

/// Both operands.
enum Operands {
    Packed([PoolBuffer; 2]),
    /// As they lie: each unit packs what it needs, chunk by chunk, so that it stays in the second
    /// cache.
    Straight([Straight; 2]),
}

/// A product of two operands, block by block.
pub struct Packed {
    tiles: Tiles,
    isa: Isa,
    operands: Operands,
    rows: usize,
    columns: usize,
    deep: usize,
    /// Elements of a block along the fold.
    block: usize,
    /// Tiles to a unit.
    sides: [usize; 2],
    /// Both operands are one matrix (`Factors::is_mirrored`).
    mirrored: bool,
}

/// The factors of a launch that is a product of blocks; None: it is no such product, or a small
/// one.
pub fn factors(launch: &Launch, isa: Isa) -> Option<(Factors, Tiles)> {
    let factors = Factors::of(launch).filter(|f| f.folded + 1 == launch.domain.len())?;
    let [rows, columns, deep] = factors.extents(launch);
    let of = place(launch, &factors)?;
    let tiles = tiles(isa, factors.sum, factors.times, of)?;
    (rows >= FEW && columns >= FEW && deep >= LEAST).then_some((factors, tiles))
}

/// The kind of operands that a product has. None: each of its products is rounded to f32.
pub fn place(launch: &Launch, factors: &Factors) -> Option<Where> {
    // A step of i32 may hold more than an i32, until it is stored.
    let exact = |v: &ValueId| match launch.body[*v as usize] {
        Step { dtype: DType::I32, ref what, .. } => matches!(what, What::Load(_)),
        Step { dtype, .. } => dtype.is_integer() || dtype == DType::Char,
    };
    let operands = [factors.left, factors.right];
    let short = |v: &ValueId| {
        use DType::{Bool, F32, I8, I16};
        matches!(launch.body[*v as usize].dtype, F32 | Bool | I8 | I16)
    };
    Some(match () {
        () if factors.narrow
            && is_single(factors.sum, launch.reductions[0].dtype)
            && operands.iter().all(short) =>
        {
            Where::Single
        }
        () if factors.narrow => return None,
        () if operands.iter().all(|v| launch.body[*v as usize].dtype == DType::Bool) => {
            Where::Bools
        }
        () if operands.iter().all(exact) => Where::Exact,
        () => Where::Wide,
    })
}

/// Whether a launch is one.
pub fn is_one(launch: &Launch, isa: Isa) -> bool {
    factors(launch, isa).is_some()
}

impl Packed {
    /// None: the launch is not one, or its operands fail, or there is no room.
    pub fn of(
        cpu: &mut Cpu,
        launch: &Launch,
        inputs: &[Input],
        ctx: &RunCtx,
    ) -> Result<Option<Packed>, DeviceError> {
        let Some((factors, tiles)) = factors(launch, cpu.isa) else { return Ok(None) };
        let [rows, columns, deep] = factors.extents(launch);
        let both = Operand::both(&factors, launch, inputs);
        let operand = |of: usize| {
            let (lines, wide) = [(rows, tiles.rows), (columns, tiles.columns)][of];
            let shape = Shape { lines, wide, deep, fill: tiles.fill[of], tiles };
            Packing { of: &both[of], shape }
        };
        let mirrored = factors.is_mirrored(launch);
        let (down, across) = (rows.div_ceil(tiles.rows), columns.div_ceil(tiles.columns));
        let mut sides = [SIDE, SIDE];
        let block = if tiles.single { SINGLES } else { BLOCK };
        let units =
            |s: &[usize; 2]| down.div_ceil(s[0]) * across.div_ceil(s[1]) * deep.div_ceil(block);
        for k in [1, 0, 1, 0] {
            if units(&sides) < 4 * cpu.threads.count() {
                sides[k] /= 2;
            }
        }
        let plane = down.div_ceil(sides[0]) * across.div_ceil(sides[1]);
        let straight = match (operand(0).straight(), operand(1).straight()) {
            (Some(left), Some(right)) if plane <= PLANE && deep > tiles.deep() => {
                Some([left, right])
            }
            _ => None,
        };
        let operands = match straight {
            Some(both) => Operands::Straight(both),
            None => {
                let Some(left) = operand(0).pack(cpu, ctx)? else { return Ok(None) };
                let Some(right) = operand(1).pack(cpu, ctx)? else { return Ok(None) };
                Operands::Packed([left, right])
            }
        };
        let isa = cpu.isa;
        Ok(Some(Packed { tiles, isa, operands, rows, columns, deep, block, sides, mirrored }))
    }

    /// Units across, down and along the fold.
    fn cut(&self) -> [usize; 3] {
        let units = |n: usize, wide: usize, side: usize| n.div_ceil(wide).div_ceil(side);
        let across = units(self.columns, self.tiles.columns, self.sides[1]);
        [across, units(self.rows, self.tiles.rows, self.sides[0]), self.deep.div_ceil(self.block)]
    }

    pub fn units(&self) -> usize {
        self.cut().iter().product()
    }

    /// The partial results of a unit, at `out`, those of a result one after the other; `again` gets
    /// the places of those that are not finite. Safety: `out` holds all.
    pub unsafe fn unit(&self, unit: usize, out: *mut f64, again: &mut dyn FnMut(usize)) {
        let (r, c) = (self.tiles.rows, self.tiles.columns);
        let [across, down, _] = self.cut();
        let (column, row, block) = (unit % across, unit / across % down, unit / across / down);
        let tile_rows = row * self.sides[0]..((row + 1) * self.sides[0]).min(self.rows.div_ceil(r));
        let tile_columns =
            column * self.sides[1]..((column + 1) * self.sides[1]).min(self.columns.div_ceil(c));
        let end = ((block + 1) * self.block).min(self.deep);
        let each = self.tiles.deep();
        let chunks = block * (self.block / each)..end.div_ceil(each);
        let size = r * c * self.tiles.partials;
        let (group, cell) = (self.tiles.group(), self.tiles.dtype().size());
        // With one chunk a column's partials are done with before the next column.
        let (rows, alone) = (tile_rows.len(), chunks.len() == 1);
        let lines = rows * if alone { 1 } else { tile_columns.len() } * size / group;
        let mut parts: Vec<MaybeUninit<Line>> = Vec::with_capacity(lines);
        // SAFETY: as many that may hold anything; the first chunk fills those of a tile.
        unsafe { parts.set_len(lines) };
        let parts = parts.as_mut_ptr().cast::<u8>();
        let mut results = [0.0; LARGEST];
        let mut own = [Vec::new(), Vec::new()];
        for chunk in chunks.clone() {
            // SAFETY: this unit's panels.
            let [x, y] = unsafe { self.chunk([&tile_rows, &tile_columns], chunk, &mut own) };
            let steps = steps(chunk, self.deep, &self.tiles);
            for (jk, j) in tile_columns.clone().enumerate() {
                // Of a product with itself turned what is below is what is above.
                let wanted = |i: &usize| !self.mirrored || i * r < (j + 1) * c;
                let column = if alone { 0 } else { jk * rows };
                let slots = || (column..).zip(tile_rows.clone().take_while(wanted));
                // A run of the right operand stays in L1 while all rows go over it.
                for g in 0..self.tiles.groups() {
                    let run = g * steps * GROUP_BYTES;
                    for (slot, i) in slots() {
                        // SAFETY: a panel's part holds as many runs of so many steps as a result
                        // has groups, a slot as many of partials.
                        unsafe {
                            (self.tiles.tile)(
                                x.at.add(x.layout.at(i, chunk, r) * cell + run * r),
                                y.at.add(y.layout.at(j, chunk, c) * cell + run * c),
                                steps,
                                parts.add(slot * size * cell + g * r * c * GROUP_BYTES),
                                chunk == chunks.start,
                            );
                        }
                    }
                }
                for (slot, i) in slots().filter(|_| chunk + 1 == chunks.end) {
                    // SAFETY: a slot holds the partials of a tile, `out` all results.
                    unsafe {
                        (self.tiles.ends)(parts.add(slot * size * cell), results.as_mut_ptr());
                        self.put(&results[..r * c], (i * r, j * c), block, out, again);
                    }
                }
            }
        }
    }

    /// Both operands' panels of a chunk, packed into memory of the unit where they are not yet.
    /// Safety: the panels are there.
    unsafe fn chunk(
        &self,
        panels: [&Range<usize>; 2],
        chunk: usize,
        own: &mut [Vec<MaybeUninit<Line>>; 2],
    ) -> [Out; 2] {
        let wide = [self.tiles.rows, self.tiles.columns];
        let each = |of: usize| match &self.operands {
            Operands::Packed(both) => Out {
                at: both[of].as_ptr().cast_mut(),
                layout: Layout::all(self.deep, &self.tiles),
            },
            Operands::Straight(both) => {
                let items = panels[of].len() * wide[of] * self.tiles.deep();
                let bytes = items * self.tiles.dtype().size();
                let memory = &mut own[of];
                memory.reserve_exact(bytes / GROUP_BYTES);
                let at = memory.as_mut_ptr().cast();
                let out = Out { at, layout: Layout::part(panels[of].start, chunk, &self.tiles) };
                // SAFETY: there is room for a chunk of these panels.
                unsafe { both[of].pack(self.isa, panels[of].clone(), chunk, &out) };
                out
            }
        };
        [0, 1].map(each)
    }

    /// The results of a tile that begins at a row and a column, of one block of `blocks` each.
    /// Safety: as `unit`.
    unsafe fn put(
        &self,
        results: &[f64],
        (row, column): (usize, usize),
        block: usize,
        out: *mut f64,
        again: &mut dyn FnMut(usize),
    ) {
        let [.., blocks] = self.cut();
        let (wide, columns) = (self.tiles.columns, self.columns);
        let fine = results.iter().fold(true, |all, x| all & x.is_finite());
        let whole = column + wide <= columns && row + self.tiles.rows <= self.rows;
        if fine && whole && blocks == 1 && !self.mirrored {
            for (k, line) in results.chunks_exact(wide).enumerate() {
                let to = (row + k) * columns + column;
                // SAFETY: these are results' partials.
                unsafe { std::ptr::copy_nonoverlapping(line.as_ptr(), out.add(to), wide) };
            }
            return;
        }
        for (k, &result) in results.iter().enumerate() {
            let (i, j) = (row + k / wide, column + k % wide);
            if i >= self.rows || j >= columns || self.mirrored && i > j {
                continue;
            }
            let mut put = |i: usize, j: usize| {
                let at = (i * columns + j) * blocks + block;
                if result.is_finite() {
                    // SAFETY: a result's partial.
                    unsafe { *out.add(at) = result };
                } else {
                    again(at);
                }
            };
            put(i, j);
            if self.mirrored && i < j {
                put(j, i);
            }
        }
    }
}

/// A group of partials.
#[derive(Clone, Copy)]
#[repr(align(64))]
#[allow(dead_code)]
struct Line([u8; GROUP_BYTES]);

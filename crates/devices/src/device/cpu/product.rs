//! Products of matrices and what is like them (`plan::product::Factors`), block by block.
//!
//! | part | shared out by |
//! |---|---|
//! | each operand computed or read into its packed form, f64 or f32 | panels (as many lines as a tile has) |
//! | results | blocks of tiles × blocks along the fold |
//!
//! A run of the right operand (`tiles`) stays in L1 while a unit's rows go over it. 1024 × 1024 of
//! f64 take 19 ms on two threads, of f32 11, where OpenBLAS takes 12 and 6; with runs of the left
//! one in L1 as well, and the partials of 64 tiles beyond it, f64 took 31.
//!
//! Values and their order are those of a fold (`tiles` says why), so this is only where the
//! operands lie. A result that shows ∞ or NaN is left to the fold; so is everything where an
//! operand fails or there is no room to pack. Not here: batches of products; an operand's part for
//! a block alone, so that packing needs less room.

use super::across::{GROUP, Panels, turns};
use super::chunk::{CHUNK, Env, Frame};
use super::convert::{Source, converts};
use super::program::{Input, Work, lower};
use super::share::share;
use super::tiles::{GROUP_BYTES, LARGEST, Tiles, Where, tiles};
use super::walk::Walk;
use super::{Cpu, DeviceError, RunCtx};
use crate::pool::PoolBuffer;
use aplomb_plans::plan::cpu::{FEW, LEAST};
use aplomb_plans::plan::product::Factors;
use aplomb_plans::plan::{Launch, Step, ValueId, What};
use aplomb_values::array::DType;
use aplomb_values::dag::ix::{Ix, linear};
use aplomb_values::prim::reduce::{BLOCK, LANES, SINGLES, is_single};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// Along the fold: what a tile goes over at a time, so that its operands' parts stay in L1.
const DEEP: usize = 2048;
/// Tiles to a unit, each way.
const SIDE: usize = 8;
/// Panels to a unit when lines lie side by side in memory.
const PANELS: usize = 8;

/// Both operands, packed.
pub struct Packed {
    tiles: Tiles,
    left: PoolBuffer,
    right: PoolBuffer,
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
pub fn factors(launch: &Launch, isa: super::Isa) -> Option<(Factors, Tiles)> {
    let factors = Factors::of(launch).filter(|f| f.folded + 1 == launch.domain.len())?;
    let [rows, columns, deep] = factors.extents(launch);
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
    let of = match () {
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
    };
    let tiles = tiles(isa, factors.sum, factors.times, of)?;
    (rows >= FEW && columns >= FEW && deep >= LEAST).then_some((factors, tiles))
}

/// One operand and how it is packed.
struct Operand<'a> {
    launch: &'a Launch,
    inputs: &'a [Input],
    value: ValueId,
    made_of: &'a [ValueId],
    axes: &'a [usize],
    /// Lines, and lines to a panel.
    lines: usize,
    wide: usize,
    deep: usize,
    fill: f64,
    tiles: Tiles,
}

// SAFETY: sources are not written while a launch runs.
unsafe impl Sync for Operand<'_> {}

/// Items of a line in packed form.
fn padded(deep: usize) -> usize {
    deep.next_multiple_of(LANES)
}

/// The step at which a part of a panel begins, and its steps.
fn part(panel: usize, chunk: usize, wide: usize, deep: usize) -> (usize, usize) {
    let steps = DEEP.min(deep - chunk * DEEP).div_ceil(LANES);
    ((panel * padded(deep) + chunk * DEEP) * wide, steps)
}

/// Memory that is packed, as f64 or f32.
struct Out {
    at: *mut u8,
    single: bool,
}

impl Out {
    /// Safety: the memory holds more than `k` items.
    unsafe fn put(&self, k: usize, x: f64) {
        // SAFETY: as the caller says.
        unsafe {
            match self.single {
                true => *self.at.cast::<f32>().add(k) = x as f32,
                false => *self.at.cast::<f64>().add(k) = x,
            }
        }
    }
}

// SAFETY: units write disjoint parts.
unsafe impl Sync for Out {}

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
        let operand = |of: usize| {
            let (value, made_of, axes, lines, wide) = match of {
                0 => (factors.left, &factors.lefts, &factors.rows, rows, tiles.rows),
                _ => (factors.right, &factors.rights, &factors.columns, columns, tiles.columns),
            };
            Operand {
                launch,
                inputs,
                value,
                made_of,
                axes,
                lines,
                wide,
                deep,
                fill: tiles.fill[of],
                tiles,
            }
        };
        let mirrored = factors.is_mirrored(launch);
        let Some(left) = operand(0).pack(cpu, ctx)? else { return Ok(None) };
        let Some(right) = operand(1).pack(cpu, ctx)? else { return Ok(None) };
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
        Ok(Some(Packed { tiles, left, right, rows, columns, deep, block, sides, mirrored }))
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
        let chunks = block * (self.block / DEEP)..end.div_ceil(DEEP);
        let size = r * c * LANES;
        let (group, cell) = (self.tiles.group(), self.tiles.dtype().size());
        // Of a product with itself turned what is below is what is above.
        // With one chunk a column's partials are done with before the next column.
        let (rows, alone) = (tile_rows.len(), chunks.len() == 1);
        let lines = rows * if alone { 1 } else { tile_columns.len() } * size / group;
        let mut parts: Vec<MaybeUninit<Line>> = Vec::with_capacity(lines);
        // SAFETY: as many that may hold anything; the first chunk fills those of a tile.
        unsafe { parts.set_len(lines) };
        let parts = parts.as_mut_ptr().cast::<u8>();
        let mut results = [0.0; LARGEST];
        for chunk in chunks.clone() {
            for (jk, j) in tile_columns.clone().enumerate() {
                // Of a product with itself turned what is below is what is above.
                let wanted = |i: &usize| !self.mirrored || i * r < (j + 1) * c;
                let column = if alone { 0 } else { jk * rows };
                let slots = || (column..).zip(tile_rows.clone().take_while(wanted));
                let (y, steps) = part(j, chunk, c, self.deep);
                // A run of the right operand stays in L1 while all rows go over it.
                for g in 0..self.tiles.groups() {
                    let run = g * steps * GROUP_BYTES;
                    for (slot, i) in slots() {
                        let (x, _) = part(i, chunk, r, self.deep);
                        // SAFETY: a panel's part holds as many runs of so many steps as a result
                        // has groups, a slot as many of partials.
                        unsafe {
                            (self.tiles.tile)(
                                self.left.as_ptr().cast::<u8>().add(x * cell + run * r),
                                self.right.as_ptr().cast::<u8>().add(y * cell + run * c),
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

impl Operand<'_> {
    /// None: it fails somewhere, or there is no room.
    fn pack(&self, cpu: &mut Cpu, ctx: &RunCtx) -> Result<Option<PoolBuffer>, DeviceError> {
        let panels = self.lines.div_ceil(self.wide);
        let Some(total) =
            panels.checked_mul(self.wide).and_then(|n| n.checked_mul(padded(self.deep)))
        else {
            return Ok(None);
        };
        let Ok(mut buffer) = cpu.pool.buffer(self.tiles.dtype(), total, ctx.budget) else {
            return Ok(None);
        };
        let out = Out { at: buffer.as_mut_ptr().cast(), single: self.tiles.single };
        let chunks = self.deep.div_ceil(DEEP);

        let own = self.own();
        let steps = self.steps();
        let inputs = self.inputs.iter().zip(&self.launch.loads).map(|(input, load)| {
            let walk = Walk::of_read(&load.read, &input.shape, &own);
            Input { flat: walk.flat(), walk: Arc::new(walk), ..input.clone() }
        });
        let inputs = inputs.collect();
        let guards = &self.launch.guards;
        let keep = vec![(steps.len() as ValueId - 1, false)];
        let (isa, stores, reduced) = (cpu.isa, Vec::new(), Vec::new());
        let program =
            lower(Work { isa, domain: &own, steps: &steps, guards, stores, keep, reduced }, inputs);
        let env = Env::new(cpu.isa, &program, &steps, &[], ctx.interrupt);
        let (aside, copied) = (self.aside(), self.copied());
        let panels_each = if aside.is_some() { PANELS } else { 1 };
        let units = panels.div_ceil(panels_each) * chunks;
        let tally = share(cpu, &env, units, total > LANES * CHUNK, ctx, &|frame, unit| {
            let (chunk, first) = (unit % chunks, unit / chunks * panels_each);
            // SAFETY: a unit writes its own parts of its own panels.
            unsafe {
                match (&aside, &copied) {
                    (Some(at), _) => {
                        self.columns(isa, at, first..(first + PANELS).min(panels), chunk, &out)
                    }
                    (None, Some(from)) => self.copies(from, first, chunk, &out),
                    (None, None) => self.lines(frame, &env, first, chunk, &out),
                }
            }
        })?;
        Ok(tally.fault.is_none().then_some(buffer))
    }

    /// The steps that make the operand, numbered from 0.
    fn steps(&self) -> Vec<Step> {
        let places: BTreeMap<ValueId, ValueId> = self.made_of.iter().copied().zip(0..).collect();
        // It is made of all that its steps read, so each has a place.
        let new = |old: ValueId| places[&old];
        let one = |v: &ValueId| {
            let mut step = self.launch.body[*v as usize].clone();
            step.what.renumber(new);
            step
        };
        self.made_of.iter().map(one).collect()
    }

    /// The domain of what the operand knows: its lines, and the axis that is folded.
    fn own(&self) -> Vec<usize> {
        let mut own = vec![1; self.launch.domain.len()];
        for &axis in self.axes.iter().chain(&[self.launch.domain.len() - 1]) {
            own[axis] = self.launch.domain[axis];
        }
        own
    }

    /// The read of an operand that is only read, all of it inside. None: it is made of more.
    fn read(&self) -> Option<Aside> {
        let (What::Load(load), &[axis]) = (&self.launch.body[self.value as usize].what, self.axes)
        else {
            return None;
        };
        let input = self.inputs.get(*load as usize)?;
        let read = &self.launch.loads.get(*load as usize)?.read;
        let own = self.own();
        let at: Ix = linear(&read.ix, &input.shape, &own);
        let (line, deep) = (at.coefficient(axis), at.coefficient(own.len() - 1));
        let inside = read.tests.is_empty() && input.source.holds(&at, &own);
        inside.then_some(Aside { source: input.source, first: at.c, line, deep })
    }

    /// One that a copy serves better: its lines lie nearer to each other in memory than the items
    /// of one.
    fn aside(&self) -> Option<Aside> {
        self.read().filter(|read| read.line.unsigned_abs() < read.deep.unsigned_abs())
    }

    /// One whose lines lie in the type of what is packed, each item behind the one before.
    fn copied(&self) -> Option<Aside> {
        self.read().filter(|read| read.deep == 1 && read.source.dtype == self.tiles.dtype())
    }

    /// One chunk of a panel's lines, copied group by group.
    unsafe fn copies(&self, from: &Aside, panel: usize, chunk: usize, out: &Out) {
        let (at, steps) = part(panel, chunk, self.wide, self.deep);
        let (group, size) = (self.tiles.group(), self.tiles.dtype().size());
        let (first, end) = (chunk * DEEP, self.deep.min((chunk + 1) * DEEP));
        for r in 0..self.wide {
            let line = panel * self.wide + r;
            let items = if line < self.lines { end - first } else { 0 };
            let begins = from.first + from.line * line as i64 + first as i64;
            for k in (0..steps * LANES).step_by(group) {
                let (t, g) = (k / LANES, k % LANES / group);
                let to = at + ((g * steps + t) * self.wide + r) * group;
                let n = group.min(items.saturating_sub(k));
                // SAFETY: the panel's part holds `steps` × 64 items of each line; `read` has
                // looked at all corners of the source.
                unsafe {
                    let place = (begins + k as i64) as isize * size as isize;
                    let own = from.source.at.wrapping_offset(place);
                    std::ptr::copy_nonoverlapping(own, out.at.add(to * size), n * size);
                    (n..group).for_each(|l| out.put(to + l, self.fill));
                }
            }
        }
    }

    /// One chunk of a panel's lines, computed.
    unsafe fn lines(&self, frame: &mut Frame, env: &Env, panel: usize, chunk: usize, out: &Out) {
        let (at, steps) = part(panel, chunk, self.wide, self.deep);
        let group = self.tiles.group();
        let (first, end) = (chunk * DEEP, self.deep.min((chunk + 1) * DEEP));
        for r in 0..self.wide {
            let line = panel * self.wide + r;
            let mut k = first;
            // SAFETY: the panel's part holds `steps` × 64 items of each line; the chunk holds what
            // was asked for.
            let put = |k: usize, items: &[f64]| unsafe {
                let (t, g) = ((k - first) / LANES, (k - first) % LANES / group);
                let to = at + ((g * steps + t) * self.wide + r) * group;
                for l in 0..group {
                    out.put(to + l, items.get(l).copied().unwrap_or(self.fill));
                }
            };
            while line < self.lines && k < end {
                let n = CHUNK.min(end - k);
                frame.run(env, line * self.deep + k, n);
                // SAFETY: the chunk that has just run holds n.
                let items = unsafe { std::slice::from_raw_parts(frame.kept(env, 0), n) };
                items.chunks(group).enumerate().for_each(|(j, items)| put(k + j * group, items));
                k += n;
            }
            let done = first + (k - first).next_multiple_of(group);
            (done..first + steps * LANES).step_by(group).for_each(|k| put(k, &[]));
        }
    }

    /// One chunk of several panels, read across.
    unsafe fn columns(
        &self,
        isa: super::Isa,
        from: &Aside,
        panels: std::ops::Range<usize>,
        chunk: usize,
        out: &Out,
    ) {
        let (load, group) = (converts(isa).load, self.tiles.group());
        let line = panels.start * self.wide;
        let lines = (panels.len() * self.wide).min(self.lines - line);
        let across = panels.len() * self.wide;
        let mut held = vec![self.fill; LANES * across];
        let (_, steps) = part(0, chunk, self.wide, self.deep);
        for t in 0..steps {
            let first = chunk * DEEP + t * LANES;
            let items = LANES.min(self.deep - first);
            let at = from.first + from.line * line as i64 + from.deep * first as i64;
            let lies = from.line == 1 && from.source.dtype == DType::F64 && items == LANES;
            let (mut rows, mut apart, mut here) = (held.as_ptr(), across as isize, across);
            if lies && !out.single {
                rows = from.source.at.cast::<f64>().wrapping_offset(at as isize);
                (apart, here) = (from.deep as isize, lines);
            } else {
                for k in 0..items {
                    let (at, to) = (at + from.deep * k as i64, held[k * across..].as_mut_ptr());
                    // SAFETY: `read` has looked at all corners; `held` has so many rows.
                    unsafe { load(from.source, at, from.line, lines, to) };
                }
                held[items * across..].fill(self.fill);
            }
            if !out.single {
                let (at, _) = part(panels.start, chunk, self.wide, self.deep);
                let wide = self.wide;
                for g in 0..self.tiles.groups() {
                    let first = at + (g * steps + t) * wide * GROUP;
                    let rows = rows.wrapping_offset((g * GROUP) as isize * apart);
                    // SAFETY: the panels' parts hold `steps` × 64 items of each line, and rows lie
                    // in the source, or in `held`.
                    unsafe {
                        let at = out.at.cast::<f64>().add(first);
                        let to = Panels { at, wide, apart: padded(self.deep) * wide };
                        (turns(isa))(rows, apart, here, to);
                        (here..across).for_each(|line| to.fill(line, self.fill));
                    }
                }
                continue;
            }
            for j in 0..across {
                let (at, _) = part(panels.start + j / self.wide, chunk, self.wide, self.deep);
                for g in 0..self.tiles.groups() {
                    for l in 0..group {
                        let to = at + ((g * steps + t) * self.wide + j % self.wide) * group + l;
                        // SAFETY: the panel's part holds `steps` × 64 items of each line.
                        unsafe { out.put(to, held[(g * group + l) * across + j]) };
                    }
                }
            }
        }
    }
}

/// The read of an operand: where its first item is, and its steps from line to line and along one.
struct Aside {
    source: Source,
    first: i64,
    line: i64,
    deep: i64,
}

// SAFETY: it is read only, and what it points at as well.
unsafe impl Sync for Aside {}

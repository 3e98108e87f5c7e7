//! Operands of products in packed form: panels of as many lines as a tile has, each line in groups
//! that are as long as a register (`tiles`).
//!
//! | operand | strategy |
//! |---|---|
//! | read only, a line's items one behind the other, in the type that is packed | copied, group by group |
//! | read only, lines nearer to each other than the items of one | blocks of registers are turned (`across`) |
//! | any other | computed, chunk by chunk |

use super::across::{GROUP, Panels, turns};
use super::chunk::{CHUNK, Env, Frame};
use super::convert::converts;
use super::operand::{self, Lowered, Operand};
use super::share::share;
use super::tiles::Tiles;
use super::{Cpu, DeviceError, Isa, RunCtx};
use crate::pool::PoolBuffer;
use aplomb_values::array::DType;
use aplomb_values::prim::reduce::LANES;
use std::ops::Range;

/// Items that are packed by one thread.
const ALONE: usize = 64 * CHUNK;
/// Panels to a unit when lines lie side by side in memory.
const PANELS: usize = 8;

/// Items of a line in packed form.
fn padded(deep: usize, tiles: &Tiles) -> usize {
    deep.next_multiple_of(tiles.partials)
}

/// The steps of a chunk along the fold.
pub fn steps(chunk: usize, deep: usize, tiles: &Tiles) -> usize {
    tiles.deep().min(deep - chunk * tiles.deep()).div_ceil(tiles.partials)
}

/// The panels that lie in some memory: the first of them, its first chunk, and items of a line.
#[derive(Clone, Copy)]
pub struct Layout {
    panel: usize,
    chunk: usize,
    long: usize,
    /// Items of a line in a chunk.
    each: usize,
}

impl Layout {
    /// All panels and chunks.
    pub fn all(deep: usize, tiles: &Tiles) -> Layout {
        Layout { panel: 0, chunk: 0, long: padded(deep, tiles), each: tiles.deep() }
    }

    /// One chunk of the panels from one on.
    pub fn part(panel: usize, chunk: usize, tiles: &Tiles) -> Layout {
        Layout { panel, chunk, long: tiles.deep(), each: tiles.deep() }
    }

    /// The item at which a chunk of a panel begins.
    pub fn at(self, panel: usize, chunk: usize, wide: usize) -> usize {
        ((panel - self.panel) * self.long + (chunk - self.chunk) * self.each) * wide
    }
}

/// Memory that is packed, as f64 or f32.
pub struct Out {
    pub at: *mut u8,
    pub layout: Layout,
}

// SAFETY: units write disjoint parts.
unsafe impl Sync for Out {}

/// The lines of an operand and how they are packed.
#[derive(Clone, Copy)]
pub struct Shape {
    pub lines: usize,
    /// Lines of a panel.
    pub wide: usize,
    pub deep: usize,
    /// The item that changes no result.
    pub fill: f64,
    pub tiles: Tiles,
}

impl Shape {
    /// Safety: the memory holds more than `k` items.
    unsafe fn put(&self, out: &Out, k: usize, x: f64) {
        // SAFETY: as the caller says.
        unsafe {
            match self.tiles.single {
                true => *out.at.cast::<f32>().add(k) = x as f32,
                false => *out.at.cast::<f64>().add(k) = x,
            }
        }
    }

    /// The place of a group of a step's items, in line `r` of a panel whose chunk begins at `at`.
    fn place(&self, at: usize, steps: usize, r: usize, (t, g): (usize, usize)) -> usize {
        at + ((g * steps + t) * self.wide + r) * self.tiles.group()
    }
}

/// One operand of a launch, to be packed.
pub struct Packing<'a> {
    pub of: &'a Operand<'a>,
    pub shape: Shape,
}

impl Packing<'_> {
    /// All of it, packed. None: it fails somewhere, or there is no room.
    pub fn pack(&self, cpu: &mut Cpu, ctx: &RunCtx) -> Result<Option<PoolBuffer>, DeviceError> {
        let Shape { lines, wide, deep, tiles, .. } = self.shape;
        let panels = lines.div_ceil(wide);
        let Some(total) =
            panels.checked_mul(wide).and_then(|n| n.checked_mul(padded(deep, &tiles)))
        else {
            return Ok(None);
        };
        let Ok(mut buffer) = cpu.pool.buffer(tiles.dtype(), total, ctx.budget) else {
            return Ok(None);
        };
        let out = Out { at: buffer.as_mut_ptr().cast(), layout: Layout::all(deep, &tiles) };
        let chunks = deep.div_ceil(tiles.deep());

        let isa = cpu.isa;
        let Lowered { program, steps } = self.of.lowered(isa, false);
        let env = Env::new(isa, &program, &steps, &[], ctx.interrupt);
        let straight = self.straight();
        let each = if straight.as_ref().is_some_and(|own| own.turned) { PANELS } else { 1 };
        let units = panels.div_ceil(each) * chunks;
        let tally = share(cpu, &env, units, total > ALONE, ctx, &|frame, unit| {
            let (chunk, first) = (unit % chunks, unit / chunks * each);
            // SAFETY: a unit writes its own parts of its own panels.
            unsafe {
                match &straight {
                    Some(own) => own.pack(isa, first..(first + each).min(panels), chunk, &out),
                    None => self.lines(frame, &env, first, chunk, &out),
                }
            }
        })?;
        Ok(tally.fault.is_none().then_some(buffer))
    }

    /// The operand as it lies in memory. None: it is made of more than a read, or some of that is
    /// not inside, or its items are better computed.
    pub fn straight(&self) -> Option<Straight> {
        let lies = self.of.straight()?;
        let copied = lies.deep == 1 && lies.source.dtype == self.shape.tiles.dtype();
        let turned = lies.is_across();
        (turned || copied).then_some(Straight { lies, turned, shape: self.shape })
    }

    /// One chunk of a panel's lines, computed.
    unsafe fn lines(&self, frame: &mut Frame, env: &Env, panel: usize, chunk: usize, out: &Out) {
        let Shape { lines, wide, deep, fill, tiles } = self.shape;
        let (at, steps) = (out.layout.at(panel, chunk, wide), steps(chunk, deep, &tiles));
        let (group, lanes) = (tiles.group(), tiles.partials);
        let (first, end) = (chunk * tiles.deep(), deep.min((chunk + 1) * tiles.deep()));
        for r in 0..wide {
            let line = panel * wide + r;
            let mut k = first;
            // SAFETY: the panel's part holds `steps` × `partials` items of each line; the chunk
            // holds what was asked for.
            let put = |k: usize, items: &[f64]| unsafe {
                let (t, g) = ((k - first) / lanes, (k - first) % lanes / group);
                let to = self.shape.place(at, steps, r, (t, g));
                for l in 0..group {
                    self.shape.put(out, to + l, items.get(l).copied().unwrap_or(fill));
                }
            };
            while line < lines && k < end {
                let n = CHUNK.min(end - k);
                frame.run(env, line * deep + k, n);
                // SAFETY: the chunk that has just run holds n.
                let items = unsafe { std::slice::from_raw_parts(frame.kept(env, 0), n) };
                items.chunks(group).enumerate().for_each(|(j, items)| put(k + j * group, items));
                k += n;
            }
            let done = first + (k - first).next_multiple_of(group);
            (done..first + steps * lanes).step_by(group).for_each(|k| put(k, &[]));
        }
    }
}

/// An operand as it lies in memory, to be packed.
pub struct Straight {
    lies: operand::Straight,
    turned: bool,
    shape: Shape,
}

impl Straight {
    /// One chunk of some panels. Safety: the memory holds them, and nobody else writes there.
    pub unsafe fn pack(&self, isa: Isa, panels: Range<usize>, chunk: usize, out: &Out) {
        // SAFETY: the caller's.
        unsafe {
            match self.turned {
                true => self.columns(isa, panels, chunk, out),
                false => panels.for_each(|panel| self.copies(panel, chunk, out)),
            }
        }
    }

    /// One chunk of a panel's lines, copied group by group.
    unsafe fn copies(&self, panel: usize, chunk: usize, out: &Out) {
        let Shape { lines, wide, deep, fill, tiles } = self.shape;
        let (at, steps) = (out.layout.at(panel, chunk, wide), steps(chunk, deep, &tiles));
        let (group, size) = (tiles.group(), tiles.dtype().size());
        let (first, end) = (chunk * tiles.deep(), deep.min((chunk + 1) * tiles.deep()));
        for r in 0..wide {
            let line = panel * wide + r;
            let items = if line < lines { end - first } else { 0 };
            let begins = self.lies.first + self.lies.line * line as i64 + first as i64;
            let groups = (0..steps).flat_map(|t| (0..tiles.groups()).map(move |g| (t, g)));
            for (t, g) in groups {
                let (k, to) =
                    (t * tiles.partials + g * group, self.shape.place(at, steps, r, (t, g)));
                let n = group.min(items.saturating_sub(k));
                // SAFETY: the panel's part holds `steps` × `partials` items of each line;
                // `straight` has looked at all corners of the source.
                unsafe {
                    let place = (begins + k as i64) as isize * size as isize;
                    let own = self.lies.source.at.wrapping_offset(place);
                    std::ptr::copy_nonoverlapping(own, out.at.add(to * size), n * size);
                    (n..group).for_each(|l| self.shape.put(out, to + l, fill));
                }
            }
        }
    }

    /// One chunk of several panels, read across.
    unsafe fn columns(&self, isa: Isa, panels: Range<usize>, chunk: usize, out: &Out) {
        let Shape { lines, wide, deep, fill, tiles } = self.shape;
        let load = converts(isa).load;
        let line = panels.start * wide;
        let across = panels.len() * wide;
        let lines = across.min(lines - line);
        let lanes = tiles.partials;
        let mut held = vec![fill; LANES * across];
        let steps = steps(chunk, deep, &tiles);
        for t in 0..steps {
            let first = chunk * tiles.deep() + t * lanes;
            let items = lanes.min(deep - first);
            let at = self.lies.first + self.lies.line * line as i64 + self.lies.deep * first as i64;
            let lies =
                self.lies.line == 1 && self.lies.source.dtype == DType::F64 && items == lanes;
            let (mut rows, mut apart, mut here) = (held.as_ptr(), across as isize, across);
            if lies && !tiles.single {
                rows = self.lies.source.at.cast::<f64>().wrapping_offset(at as isize);
                (apart, here) = (self.lies.deep as isize, lines);
            } else {
                for k in 0..items {
                    let (at, to) =
                        (at + self.lies.deep * k as i64, held[k * across..].as_mut_ptr());
                    // SAFETY: `straight` has looked at all corners; `held` has so many rows.
                    unsafe { load(self.lies.source, at, self.lies.line, lines, to) };
                }
                held[items * across..].fill(fill);
            }
            if !tiles.single {
                for g in 0..tiles.groups() {
                    let at = out.layout.at(panels.start, chunk, wide);
                    let first = self.shape.place(at, steps, 0, (t, g));
                    let rows = rows.wrapping_offset((g * GROUP) as isize * apart);
                    // SAFETY: the panels' parts hold `steps` × `partials` items of each line, and
                    // rows lie in the source, or in `held`.
                    unsafe {
                        let at = out.at.cast::<f64>().add(first);
                        let to = Panels { at, wide, apart: out.layout.long * wide };
                        (turns(isa))(rows, apart, here, to);
                        (here..across).for_each(|line| to.fill(line, fill));
                    }
                }
                continue;
            }
            for j in 0..across {
                let at = out.layout.at(panels.start + j / wide, chunk, wide);
                for g in 0..tiles.groups() {
                    let to = self.shape.place(at, steps, j % wide, (t, g));
                    for l in 0..tiles.group() {
                        let item = held[(g * tiles.group() + l) * across + j];
                        // SAFETY: the panel's part holds `steps` × `partials` items of each line.
                        unsafe { self.shape.put(out, to + l, item) };
                    }
                }
            }
        }
    }
}

//! Operands of products in order (`outer`) in packed form: panels of as many lines as a tile has,
//! in which the items of all lines at one place of the fold lie side by side.
//!
//! | operand | strategy |
//! |---|---|
//! | in memory, lines nearer to each other than the items of one | a place's items copied, panel by panel |
//! | in memory otherwise, or computed so | some lines' items into L1, from there turned in blocks of registers |
//! | computed, lines nearer to each other | as the first, from the chunk that was computed |

use super::chunk::{CHUNK, Env, Frame};
use super::convert::{Converts, converts};
use super::isa::{Isa, by_isa};
use super::lanes::Wide;
#[cfg(target_arch = "x86_64")]
use super::lanes::{V4, V8};
use super::operand::{Lowered, Operand, Straight};
use super::singles::Cells;
use aplomb_values::array::DType;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Items of a line that are turned together, and lines of a panel at most.
const RUN: usize = 256;
/// Lines of a panel at most.
pub const WIDEST: usize = 48;

/// The panels of one operand, some places of the fold of each, as f64 or f32.
pub struct Panels {
    /// Lines of a panel.
    pub wide: usize,
    pub lines: usize,
    pub single: bool,
    /// The operand in memory, or what computes it.
    of: Of,
    across: bool,
}

// SAFETY: what it reads is only read while a launch runs.
unsafe impl Sync for Panels {}

enum Of {
    Memory(Straight),
    Computed(Lowered),
}

/// The memory of panels: where it begins, and the places of the fold that it holds.
#[derive(Clone)]
pub struct Room {
    pub at: *mut u8,
    pub places: Range<usize>,
}

// SAFETY: units write disjoint parts.
unsafe impl Sync for Room {}

impl Room {
    /// The item at which a panel has a place of the fold.
    pub fn item(&self, panel: usize, place: usize, wide: usize) -> usize {
        (panel * self.places.len() + place - self.places.start) * wide
    }
}

impl Panels {
    pub fn of(operand: &Operand, isa: Isa, (wide, lines): (usize, usize), single: bool) -> Panels {
        let (of, across) = match operand.straight() {
            Some(lies) => (Of::Memory(lies), lies.is_across()),
            None => {
                let across = operand.lies_across();
                (Of::Computed(operand.lowered(isa, across)), across)
            }
        };
        Panels { wide, lines, single, of, across }
    }

    /// The program that computes it. None: it lies in memory.
    pub fn computed(&self) -> Option<&Lowered> {
        match &self.of {
            Of::Memory(_) => None,
            Of::Computed(lowered) => Some(lowered),
        }
    }

    /// The operand as tiles go over it where it lies: its first item, and the bytes from place to
    /// place, where lines are whole multiples of so many. None: it has to be packed.
    pub fn in_place(&self, whole: usize) -> Option<(*const u8, isize)> {
        let Of::Memory(Straight { source, first, line: 1, deep }) = self.of else { return None };
        let size = source.dtype.size() as isize;
        let fits = source.dtype == self.dtype() && self.lines.is_multiple_of(whole);
        fits.then(|| (source.at.wrapping_offset(first as isize * size), deep as isize * size))
    }

    pub fn count(&self) -> usize {
        self.lines.div_ceil(self.wide)
    }

    /// The type of what is packed.
    pub fn dtype(&self) -> DType {
        if self.single { DType::F32 } else { DType::F64 }
    }

    /// Some panels at some places of a fold of so many. Safety: the room holds them, nobody else
    /// writes there, and the frame is that of what computes the operand.
    pub unsafe fn pack(
        &self,
        isa: Isa,
        (frame, env): (&mut Frame, &Env),
        (panels, places): (Range<usize>, Range<usize>),
        deep: usize,
        room: &Room,
    ) {
        let (converts, moves) = (converts(isa), moves(isa)[usize::from(self.single)]);
        // SAFETY: the caller's.
        unsafe {
            match self.across {
                true => self.copied((converts, moves), (frame, env), (panels, places), room),
                false => {
                    for panel in panels {
                        self.turned((converts, moves), (frame, env), (panel, &places), deep, room);
                    }
                }
            }
        }
    }

    /// Place after place, the items of all lines of the panels. Safety: as `pack`.
    unsafe fn copied(
        &self,
        (converts, moves): (Converts, Moves),
        (frame, env): (&mut Frame, &Env),
        (panels, places): (Range<usize>, Range<usize>),
        room: &Room,
    ) {
        let wide = self.wide;
        // As many whole panels as a chunk holds.
        let some = (CHUNK / wide).max(1);
        let mut held = [0.0; CHUNK];
        for place in places {
            for first in panels.clone().step_by(some) {
                let line = first * wide;
                let count = some.min(panels.end - first);
                let lines = (count * wide).min(self.lines - line);
                // SAFETY: the caller's; a line's items are inside of the source, and the chunk
                // holds as many as were asked for.
                unsafe {
                    let mut items = held.as_ptr();
                    match &self.of {
                        Of::Memory(Straight { source, first: from, line: step, deep }) => {
                            let at = from + step * line as i64 + deep * place as i64;
                            if *step == 1 && source.dtype == self.dtype() {
                                let at = at as isize * source.dtype.size() as isize;
                                let own = source.at.wrapping_offset(at);
                                self.put(moves, own, true, (first, lines, place), room);
                                continue;
                            }
                            (converts.load)(*source, at, *step, lines, held.as_mut_ptr());
                        }
                        Of::Computed(_) => {
                            frame.run(env, place * self.lines + line, lines);
                            items = frame.kept(env, 0);
                        }
                    }
                    self.put(moves, items.cast(), !self.single, (first, lines, place), room);
                }
            }
        }
    }

    /// The items of some lines at a place, which are of the packed type (`same`), or f64, from a
    /// panel on. Safety: as `pack`.
    unsafe fn put(
        &self,
        moves: Moves,
        items: *const u8,
        same: bool,
        (first, lines, place): (usize, usize, usize),
        room: &Room,
    ) {
        let (wide, size) = (self.wide, self.dtype().size());
        for (k, line) in (0..lines).step_by(wide).enumerate() {
            let own = wide.min(lines - line);
            // SAFETY: the caller's; lines beyond the last one are nobody's result.
            unsafe {
                let to = room.at.add(room.item(first + k, place, wide) * size);
                if same && own == wide {
                    (moves.copy)(items.add(line * size), to, wide);
                } else if same {
                    std::ptr::copy_nonoverlapping(items.add(line * size), to, own * size);
                } else {
                    let items = items.cast::<f64>().add(line);
                    (0..own).for_each(|l| *to.cast::<f32>().add(l) = *items.add(l) as f32);
                }
                std::ptr::write_bytes(to.add(own * size), 0, (wide - own) * size);
            }
        }
    }

    /// A panel's lines, a run of items of each at a time. Safety: as `pack`.
    unsafe fn turned(
        &self,
        (converts, moves): (Converts, Moves),
        (frame, env): (&mut Frame, &Env),
        (panel, places): (usize, &Range<usize>),
        deep: usize,
        room: &Room,
    ) {
        let (wide, size) = (self.wide, self.dtype().size());
        let line = panel * wide;
        let lines = wide.min(self.lines - line);
        let mut held = [const { MaybeUninit::<f64>::uninit() }; WIDEST * RUN];
        let held = held.as_mut_ptr().cast::<f64>();
        for place in places.clone().step_by(RUN) {
            let n = RUN.min(places.end - place);
            let (mut rows, mut apart) = (held.cast_const(), RUN as isize);
            // SAFETY: the caller's; a line's items are inside of the source, and the chunk holds as
            // many as were asked for.
            unsafe {
                match &self.of {
                    Of::Memory(Straight { source, first, line: step, deep: 1 })
                        if source.dtype == DType::F64 && lines == wide =>
                    {
                        let at = first + step * line as i64 + place as i64;
                        rows = source.at.cast::<f64>().wrapping_offset(at as isize);
                        apart = *step as isize;
                    }
                    Of::Memory(Straight { source, first, line: step, deep }) => {
                        for l in 0..lines {
                            let at = first + step * (line + l) as i64 + deep * place as i64;
                            let to = held.add(l * RUN);
                            (converts.load)(*source, at, *deep, n, to);
                        }
                    }
                    Of::Computed(_) => {
                        // Whole lines one behind the other, as many as a chunk holds.
                        let some = if n == deep { (CHUNK / n).max(1) } else { 1 };
                        for first in (0..lines).step_by(some) {
                            let count = some.min(lines - first);
                            frame.run(env, (line + first) * deep + place, count * n);
                            for l in 0..count {
                                let (from, to) = (frame.kept(env, 0), held.add((first + l) * RUN));
                                std::ptr::copy_nonoverlapping(from.add(l * n), to, n);
                            }
                        }
                    }
                }
                if lines < wide && rows == held {
                    // Nobody's results.
                    let none = held.add(lines * RUN);
                    std::slice::from_raw_parts_mut(none, (wide - lines) * RUN).fill(0.0);
                }
                let to = room.at.add(room.item(panel, place, wide) * size);
                (moves.turn)(rows, apart, (wide, n), to);
            }
        }
    }
}

/// The loops that pack, of f64 or f32.
#[derive(Clone, Copy)]
pub struct Moves {
    /// Lines of n items, so far apart, into as many of a place side by side, place after place.
    /// Safety: as many are there.
    turn: unsafe fn(rows: *const f64, apart: isize, shape: (usize, usize), to: *mut u8),
    /// As many items as a panel has lines. Safety: they are there.
    copy: unsafe fn(from: *const u8, to: *mut u8, wide: usize),
}

#[inline(always)]
unsafe fn copy<L: Wide, const SINGLE: bool>(from: *const u8, to: *mut u8, wide: usize) {
    for k in (0..wide).step_by(L::N) {
        // SAFETY: the caller's; a panel has whole registers of lines.
        unsafe {
            match SINGLE {
                true => L::Short::take(from.cast::<f32>().add(k)).put(to.cast::<f32>().add(k)),
                false => L::load(from.cast::<f64>().add(k)).store(to.cast::<f64>().add(k)),
            }
        }
    }
}

#[inline(always)]
unsafe fn turn<L: Wide, const SINGLE: bool>(
    rows: *const f64,
    apart: isize,
    (wide, n): (usize, usize),
    to: *mut u8,
) {
    // SAFETY: the caller's; a block's lines are below `wide`, which is a multiple of them.
    unsafe {
        let put = |line: usize, k: usize, x: L| match SINGLE {
            true => x.short().put(to.cast::<f32>().add(k * wide + line)),
            false => x.store(to.cast::<f64>().add(k * wide + line)),
        };
        for line in (0..wide).step_by(L::N) {
            let whole = n / L::N * L::N;
            for first in (0..whole).step_by(L::N) {
                let mut block = [L::splat(0.0); 8];
                for (k, row) in block.iter_mut().take(L::N).enumerate() {
                    *row = L::load(rows.offset((line + k) as isize * apart + first as isize));
                }
                L::turn(&mut block);
                for (k, items) in block.iter().take(L::N).enumerate() {
                    put(line, first + k, *items);
                }
            }
            for k in whole..n {
                for l in line..line + L::N {
                    let item = *rows.offset(l as isize * apart + k as isize);
                    match SINGLE {
                        true => *to.cast::<f32>().add(k * wide + l) = item as f32,
                        false => *to.cast::<f64>().add(k * wide + l) = item,
                    }
                }
            }
        }
    }
}

macro_rules! instances {
    ($name:ident, $lane:ty $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            unsafe fn turn<const SINGLE: bool>(
                rows: *const f64, apart: isize, shape: (usize, usize), to: *mut u8,
            ) {
                unsafe { super::turn::<$lane, SINGLE>(rows, apart, shape, to) }
            }

            $(#[target_feature(enable = $feature)])?
            unsafe fn copy<const SINGLE: bool>(from: *const u8, to: *mut u8, wide: usize) {
                unsafe { super::copy::<$lane, SINGLE>(from, to, wide) }
            }

            pub const ALL: [Moves; 2] = [
                Moves { turn: turn::<false>, copy: copy::<false> },
                Moves { turn: turn::<true>, copy: copy::<true> },
            ];
        }
    };
}

by_isa!(
    instances of lanes,
    /// The loops of an instruction set: into f64, and into f32.
    moves,
    [Moves; 2]
);

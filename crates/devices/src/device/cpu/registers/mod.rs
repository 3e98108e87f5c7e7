//! Functions on numbers in registers, as machine code.
//!
//! | file | from → to |
//! |---|---|
//! | `code` | a function's instructions → jumps, items of lists |
//! | `maker`, `uses` | numbers → vector registers for those that are used most |
//! | `calls` | calls of functions within each other → calls |
//! | `forms` | an operation on numbers → instructions for what most numbers are |
//! | `packed` | a loop's turns → four of them at once, in front of the code for one |
//!
//! Why it is right: the code knows the common case alone, as `prim::short` does, of which each form
//! here is a copy. A number that is none of these goes to `prim::short` itself, by way of a call;
//! what fails there, and whatever else the code does not know, is left to the machine of the
//! evaluator at that instruction, before it has done anything. Numbers have a place in memory each,
//! where they all are when the code is left, so any instruction may be the first and the last.

#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]

#[cfg(target_arch = "x86_64")]
mod calls;
#[cfg(target_arch = "x86_64")]
mod code;
#[cfg(target_arch = "x86_64")]
mod forms;
#[cfg(target_arch = "x86_64")]
mod maker;
#[cfg(target_arch = "x86_64")]
mod packed;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
#[cfg(target_arch = "x86_64")]
mod uses;
mod words;

use super::emit::Pages;
use super::isa::Isa;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::short;
use aplomb_values::registers::{Code, Compiled, List, Request, State};
use std::mem::MaybeUninit;
use std::rc::Rc;
use words::{Kind, Row, VECTORS, Words};

/// The code of a function; None: the machine has no instructions for it, or it is too long.
pub fn compile(isa: Isa, request: &Request<'_, '_>) -> Code {
    #[cfg(target_arch = "x86_64")]
    if isa >= Isa::Avx2 {
        let made = code::code(request).ok().flatten()?;
        let pages = Pages::new(&made.bytes)?;
        let native = Native {
            pages,
            entries: made.entries,
            ops: made.ops,
            kinds: request.lists.iter().map(Kind::of).collect(),
            room: (request.functions[0].registers, request.fixed),
            settings: (request.ct, request.io),
        };
        return Some(Rc::new(native));
    }
    let _ = (isa, request);
    None
}

/// An operation on numbers that no form is for. 0: it fails.
///
/// # Safety
/// `words` is what `run` made, and `op` the place of an operation.
#[cfg(target_arch = "x86_64")]
unsafe extern "sysv64" fn aside(words: *mut Words, op: usize) -> u64 {
    // SAFETY: as above; nobody else holds the words while the code runs.
    let (words, op) = unsafe { (&mut *words, *(*words).ops.add(op)) };
    let z = match op.arity() {
        1 => short::one(op, words.ct, words.y),
        _ => short::two(op, words.ct, words.x, words.y),
    };
    z.map_or(0, |z| {
        words.z = z;
        1
    })
}

/// No jump is left on the way to a call. 0: somebody stops it.
///
/// # Safety
/// `words` is what `run` made.
#[cfg(target_arch = "x86_64")]
unsafe extern "sysv64" fn look(words: *mut Words) -> u64 {
    // SAFETY: as above; the code does not run meanwhile.
    let words = unsafe { &mut *words };
    // SAFETY: it is of this type, and lives as long as the code runs.
    let more = unsafe { &mut *words.asked.cast::<&mut dyn FnMut() -> Option<u64>>() };
    more().map_or(0, |jumps| {
        (words.jumps, words.looks) = (jumps, words.looks + 1);
        1
    })
}

/// A function as machine code.
struct Native {
    pages: Pages,
    /// The place of each instruction in the code.
    entries: Vec<u32>,
    ops: Vec<Op>,
    kinds: Vec<Kind>,
    /// Registers, and fixed places.
    room: (usize, usize),
    /// ⎕CT and ⎕IO.
    settings: (f64, f64),
}

impl Native {
    /// True of lists that lie as those that it was made for.
    fn is_for(&self, lists: &[List<'_>]) -> bool {
        lists.iter().map(Kind::of).eq(self.kinds.iter().copied())
    }
}

impl Compiled for Native {
    fn fits(&self, request: &Request<'_, '_>) -> bool {
        self.settings == (request.ct, request.io) && self.is_for(request.lists)
    }

    #[cfg(target_arch = "x86_64")]
    fn run(&self, from: usize, state: &mut State<'_, '_>) -> usize {
        let fits = state.registers.len() >= self.room.0
            && state.fixed.len() == self.room.1
            && self.is_for(state.lists);
        let Some(entry) = self.entries.get(from).filter(|_| fits) else { return from };
        let mut lists: Vec<Row> = state.lists.iter_mut().map(Row::of).collect();
        let start = self.pages.entry();
        let mut words = Words {
            registers: state.registers.as_mut_ptr(),
            fixed: state.fixed.as_mut_ptr(),
            lists: lists.as_mut_ptr(),
            entry: start as usize + *entry as usize,
            jumps: state.jumps,
            turns: 0,
            x: 0.0,
            y: 0.0,
            z: 0.0,
            aside: aside as *const () as usize,
            ct: self.settings.0,
            ops: self.ops.as_ptr(),
            end: state.registers.as_ptr_range().end as usize,
            stack: 0,
            depth: state.depth,
            calling: from,
            look: look as *const () as usize,
            looks: 0,
            looks_before: 0,
            jumps_before: state.jumps,
            is_short: 0,
            skip: 0,
            apart: 4,
            asked: std::ptr::from_mut(&mut state.more).cast(),
            lanes: [const { MaybeUninit::uninit() }; VECTORS],
        };
        // SAFETY: the code reads and writes registers and fixed places below `room`, held above,
        // items below a list's length, and one beyond it below its room; the lists are of the
        // kinds that it was made for; all of these live and are nobody else's until it comes back.
        let to = unsafe { start(std::ptr::from_mut(&mut words).cast()) };
        for (list, row) in state.lists.iter_mut().zip(&lists) {
            if let List::Own(items, None) = list {
                // SAFETY: the code has written all items up to the length, which is within the
                // room.
                unsafe { items.set_len(row.len) };
            }
        }
        (state.jumps, state.turns) = (words.jumps, state.turns + words.turns);
        (state.looks, state.is_short) = (words.looks, words.is_short != 0);
        to as usize
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn run(&self, from: usize, _: &mut State<'_, '_>) -> usize {
        from
    }
}

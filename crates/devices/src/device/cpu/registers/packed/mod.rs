//! Four turns of a loop at once, in lanes.
//!
//! The values of a turn are vectors in memory (`Words::lanes`), a slot each; the names and numbers
//! that no turn changes are where the other code has them. First everything is computed, and what
//! no form fits is noted in one register; only then names, items and lists change. So where a lane
//! needs more than the forms know (an operation's rare case, an index beyond its list, a way that
//! carries something over), nothing has happened, and the turns go one by one, by the code that
//! stands behind. That is told by a count, which doubles as long as it happens again and again.

mod folds;
mod forms;
mod lists;
#[cfg(test)]
mod tests;
mod ways;

pub use ways::{Pack, packs};

use super::maker::*;
use super::words::{Kind, LANES, Row, VECTORS, Words};
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, Do};
use iced_x86::code_asm::*;
use std::mem::offset_of;
use ways::Way;

/// The lanes for which no form fits.
const BAD: AsmRegisterYmm = ymm15;
/// The place from 0 on of the first of four turns, where the loop's items are places.
const TURN: AsmRegister64 = r10;
/// Turns that go one by one after four that did not go, at first and at most.
const APART: (i32, i32) = (4, 1 << 12);

/// A vector in memory.
type Slot = usize;

/// A name that turns give a number: its slot, and the lanes that gave one; None: all.
type Given = (u16, Slot, Option<Slot>);

/// A change that is made when all is computed.
enum Change {
    /// `of[places] ← y`, or `op← y`, by those lanes.
    Item { of: u16, places: Places, op: Option<Op>, y: Slot, of_lanes: Option<Slot> },
    /// `of ,← y`
    Append { of: u16, y: Slot, of_lanes: Option<Slot> },
}

/// Places in a list.
#[derive(Clone, Copy, PartialEq)]
enum Places {
    /// The numbers of the turns.
    Turns,
    /// Whole numbers of 32 bits.
    At(Slot),
}

/// The state of four turns as their code is made.
struct Lanes {
    /// The values of registers and names.
    values: Vec<(Arg, Slot)>,
    /// Lanes that wait for a step.
    waiting: Vec<(usize, Slot)>,
    /// The lanes that are under way; None: all.
    now: Option<Slot>,
    given: Vec<Given>,
    /// Vectors that floats of a list went into: their sums are made one by one.
    floats: Vec<Slot>,
    /// The values that folds come to, by the name.
    folded: Vec<(u16, Slot)>,
    changes: Vec<Change>,
    /// Places that were read of lists that change.
    read: Vec<(u16, Places)>,
    next: Slot,
    /// The slot whose vector ymm0 holds, too.
    held: Option<Slot>,
    bail: CodeLabel,
}

impl Lanes {
    /// The vector that a register or a name is.
    fn slot_of(&self, arg: Arg) -> Option<Slot> {
        self.values.iter().rev().find(|(own, _)| *own == arg).map(|(_, slot)| *slot)
    }

    fn is_float(&self, arg: Arg) -> bool {
        self.slot_of(arg).is_some_and(|slot| self.floats.contains(&slot))
    }

    /// A slot of its own: a turn of `ways::LONG` steps never needs them all.
    fn slot(&mut self) -> Slot {
        debug_assert!(self.next < VECTORS, "{} vectors", self.next);
        self.next = (self.next + 1).min(VECTORS);
        self.next - 1
    }
}

/// A slot in memory.
fn at(slot: Slot) -> AsmMemoryOperand {
    lane(slot, 0)
}

/// A lane of it.
fn lane(slot: Slot, lane: usize) -> AsmMemoryOperand {
    qword_ptr(WORDS + (offset_of!(Words, lanes) + (slot * LANES + lane) * 8) as i32)
}

fn full(slot: Slot) -> AsmMemoryOperand {
    ymmword_ptr(WORDS + (offset_of!(Words, lanes) + slot * LANES * 8) as i32)
}

impl Maker<'_> {
    /// The code of a loop's turns four by four, in front of that for one.
    pub fn pack(&mut self, pack: &Pack) -> Done {
        let [mut again, mut bail, mut exit, mut wait, mut single] =
            std::array::from_fn(|_| self.a.create_label());
        let (skip, apart) = (word(offset_of!(Words, skip)), word(offset_of!(Words, apart)));
        self.a.cmp(skip, 0)?;
        self.a.jne(wait)?;
        self.a.set_label(&mut again)?;
        let head = self.request.functions[self.function].steps[pack.head];
        let (next, name) = match head {
            Do::Next { next, slot, .. } | Do::CountOn { next, slot, .. } => (next, slot),
            _ => return self.a.zero_bytes(),
        };
        let k = self.read(Arg::Fixed(next), X)?;
        self.a.vcvttsd2si(PLACE, k)?;
        self.a.lea(rax, qword_ptr(PLACE + LANES as i32))?;
        match head {
            Do::CountOn { end, .. } => {
                let end = self.read(Arg::Fixed(end), Y)?;
                self.a.vcvttsd2si(rcx, end)?;
                self.a.cmp(rax, rcx)?;
            }
            Do::Next { of, .. } => self.a.cmp(rax, row(of, offset_of!(Row, len)))?,
            _ => {}
        }
        self.a.ja(exit)?;
        self.a.cmp(JUMPS, LANES as i32)?;
        self.a.jb(exit)?;
        self.a.vxorpd(BAD, BAD, BAD)?;
        let mut lanes = Lanes {
            values: Vec::new(),
            waiting: Vec::new(),
            now: None,
            given: Vec::new(),
            folded: Vec::new(),
            floats: Vec::new(),
            changes: Vec::new(),
            read: Vec::new(),
            next: 0,
            held: None,
            bail,
        };
        // The items, or the places, of the turns.
        match head {
            Do::Next { of, .. } => {
                self.side_by_side(of, PLACE)?;
                if pack.counted {
                    let (ramp, origin) = (self.ramp, self.number(Number::Origin));
                    self.a.vsubsd(T2, T0, origin)?;
                    self.a.vcvttsd2si(TURN, T2)?;
                    self.a.test(TURN, TURN)?;
                    self.a.js(bail)?;
                    self.a.vbroadcastsd(ymm1, T0)?;
                    self.a.vaddpd(ymm1, ymm1, ymmword_ptr(ramp))?;
                    self.a.vcmppd(ymm1, ymm1, ymm0, 4)?;
                    self.a.vmovmskpd(eax, ymm1)?;
                    self.a.test(eax, eax)?;
                    self.a.jnz(bail)?;
                }
            }
            _ => {
                self.a.mov(TURN, PLACE)?;
                let (ramp, origin) = (self.ramp, self.number(Number::Origin));
                self.a.vbroadcastsd(ymm0, k)?;
                self.a.vaddpd(ymm0, ymm0, ymmword_ptr(ramp))?;
                self.a.vbroadcastsd(ymm1, origin)?;
                self.a.vaddpd(ymm0, ymm0, ymm1)?;
            }
        }
        let item = lanes.slot();
        self.a.vmovupd(full(item), ymm0)?;
        lanes.values.push((Arg::Fixed(name), item));
        lanes.held = Some(item);
        lanes.given.push((name, item, None));
        for (k, (step, way)) in (pack.head + 1..).zip(pack.steps.iter().zip(&pack.ways)) {
            self.meet(&mut lanes, k)?;
            match way {
                Way::Done => {}
                Way::Single => self.single(&lanes)?,
                Way::Fold { op, slot, y, again, running } => {
                    let kind = (*again, *running);
                    let into = match *step {
                        Do::Two { into, .. } => into,
                        _ => continue,
                    };
                    self.fold(&mut lanes, (*op, *slot), *y, into, kind)?;
                }
                Way::Each => self.lanes_of(&mut lanes, pack, step)?,
            }
        }
        self.apart(&mut lanes, pack)?;
        self.a.vmovmskpd(eax, BAD)?;
        self.a.test(eax, eax)?;
        self.a.jnz(bail)?;
        self.commit(&lanes)?;
        let four = self.number(Number::Four);
        let k = self.read(Arg::Fixed(next), X)?;
        self.a.vaddsd(T0, k, four)?;
        self.write(Arg::Fixed(next), T0)?;
        self.a.sub(JUMPS, LANES as i32)?;
        if pack.head == 0 {
            self.a.add(word(offset_of!(Words, turns)), LANES as i32)?;
        }
        self.a.mov(apart, APART.0)?;
        self.a.jmp(again)?;
        self.a.set_label(&mut bail)?;
        self.a.mov(rax, apart)?;
        self.a.mov(skip, rax)?;
        self.a.add(rax, rax)?;
        self.a.mov(ecx, APART.1)?;
        self.a.cmp(rax, rcx)?;
        self.a.cmova(rax, rcx)?;
        self.a.mov(apart, rax)?;
        self.a.set_label(&mut exit)?;
        self.a.vzeroupper()?;
        self.a.jmp(single)?;
        self.a.set_label(&mut wait)?;
        self.a.dec(skip)?;
        self.a.set_label(&mut single)?;
        self.a.zero_bytes()
    }

    /// Lanes that wait for a step are under way again.
    fn meet(&mut self, lanes: &mut Lanes, k: usize) -> Done {
        let here: Vec<Slot> =
            lanes.waiting.iter().filter(|(to, _)| *to == k).map(|(_, slot)| *slot).collect();
        if here.is_empty() {
            return Ok(());
        }
        lanes.waiting.retain(|(to, _)| *to != k);
        if lanes.waiting.is_empty() {
            // No lane is anywhere else.
            lanes.now = None;
            return Ok(());
        }
        let Some(now) = lanes.now else { return Ok(()) };
        lanes.held = None;
        self.a.vmovupd(ymm0, full(now))?;
        for slot in here {
            self.a.vorpd(ymm0, ymm0, full(slot))?;
        }
        lanes.now = Some(self.kept(lanes)?);
        Ok(())
    }

    /// ymm0 in a slot of its own.
    fn kept(&mut self, lanes: &mut Lanes) -> Done<Slot> {
        lanes.held = None;
        let slot = lanes.slot();
        self.a.vmovupd(full(slot), ymm0)?;
        Ok(slot)
    }

    /// The lanes under way go one by one.
    fn single(&mut self, lanes: &Lanes) -> Done {
        match lanes.now {
            None => self.a.jmp(lanes.bail),
            Some(now) => self.a.vorpd(BAD, BAD, full(now)),
        }
    }

    /// Lanes of a register for which no form fits, of those that are under way.
    fn flag(&mut self, lanes: Option<Slot>, bad: AsmRegisterYmm) -> Done {
        if let Some(now) = lanes {
            self.a.vandpd(bad, bad, full(now))?;
        }
        self.a.vorpd(BAD, BAD, bad)
    }

    /// The lanes of a number. Who asks for several asks for ymm0 last.
    fn lanes_in(&mut self, lanes: &mut Lanes, arg: Arg, into: AsmRegisterYmm) -> Done {
        let known = lanes.slot_of(arg);
        let held = lanes.held.filter(|held| known == Some(*held));
        if into == ymm0 {
            lanes.held = None;
        }
        if let Some(slot) = known {
            return match held {
                Some(_) if into == ymm0 => Ok(()),
                Some(_) => self.a.vmovapd(into, ymm0),
                None => self.a.vmovupd(into, full(slot)),
            };
        }
        match self.own(arg) {
            Some(own) => self.a.vbroadcastsd(into, own),
            None => self.a.vbroadcastsd(into, memory(arg)),
        }
    }

    /// A register or a name becomes ymm0, of the lanes under way.
    fn give(&mut self, lanes: &mut Lanes, arg: Arg) -> Done {
        let before = lanes.slot_of(arg);
        if let (Some(before), Some(now)) = (before, lanes.now) {
            self.a.vmovupd(ymm1, full(before))?;
            self.a.vmovupd(ymm2, full(now))?;
            self.a.vblendvpd(ymm0, ymm1, ymm0, ymm2)?;
        }
        let slot = self.kept(lanes)?;
        lanes.values.retain(|(own, _)| *own != arg);
        lanes.values.push((arg, slot));
        lanes.held = Some(slot);
        let Arg::Fixed(name) = arg else { return Ok(()) };
        let by = match (lanes.given.iter().find(|given| given.0 == name), lanes.now) {
            (Some((_, _, None)), _) | (_, None) => None,
            (Some((_, _, Some(by))), Some(now)) => {
                lanes.held = None;
                self.a.vmovupd(ymm0, full(*by))?;
                self.a.vorpd(ymm0, ymm0, full(now))?;
                Some(self.kept(lanes)?)
            }
            (None, Some(now)) => Some(now),
        };
        lanes.given.retain(|given| given.0 != name);
        lanes.given.push((name, slot, by));
        Ok(())
    }

    /// The same of a register, with what is known of it.
    fn give_float(&mut self, lanes: &mut Lanes, into: u16, float: bool) -> Done {
        self.give(lanes, Arg::Register(into))?;
        if float {
            lanes.floats.extend(lanes.slot_of(Arg::Register(into)));
        }
        Ok(())
    }

    /// A step for each lane that comes to it.
    fn lanes_of(&mut self, lanes: &mut Lanes, pack: &Pack, step: &Do) -> Done {
        let whole = matches!(
            step,
            Do::One { .. } | Do::Two { .. } | Do::Copy { .. } | Do::Set { .. } | Do::Unless { .. }
        );
        if !whole {
            lanes.held = None;
        }
        match *step {
            Do::One { op, into, y } => {
                let float = lanes.is_float(y) && matches!(op, Op::Neg | Op::Abs);
                self.lanes_in(lanes, y, ymm0)?;
                self.one_packed(op, lanes.now)?;
                self.give_float(lanes, into, float)
            }
            Do::Two { op, into, x, y } => {
                self.lanes_in(lanes, y, ymm1)?;
                self.lanes_in(lanes, x, ymm0)?;
                let float = [x, y].into_iter().any(|arg| lanes.is_float(arg))
                    && matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Max | Op::Min | Op::Pow)
                    || op == Op::Div;
                self.two_packed(op, lanes.now)?;
                self.give_float(lanes, into, float)
            }
            Do::Copy { into, y } => {
                self.lanes_in(lanes, y, ymm0)?;
                self.give(lanes, Arg::Register(into))
            }
            Do::Set { slot, y } => {
                self.lanes_in(lanes, y, ymm0)?;
                self.give(lanes, Arg::Fixed(slot))
            }
            Do::Unless { y, then } => self.parts(lanes, pack, y, then),
            Do::Jump(to) => {
                match (pack.inside(to), lanes.now) {
                    (Some(to), Some(now)) => lanes.waiting.push((to, now)),
                    (Some(to), None) => {
                        self.a.vpcmpeqd(ymm0, ymm0, ymm0)?;
                        let all = self.kept(lanes)?;
                        lanes.waiting.push((to, all));
                    }
                    (None, _) => self.single(lanes)?,
                }
                // No lane is under way until some are met.
                self.a.vxorpd(ymm0, ymm0, ymm0)?;
                lanes.now = Some(self.kept(lanes)?);
                Ok(())
            }
            Do::Item { into, of, at } => {
                let places = self.places_of(lanes, pack, at, of, true)?;
                self.items(of, places)?;
                if pack.met.contains(&of) {
                    lanes.read.push((of, places));
                }
                let float = matches!(self.kinds[of as usize], Kind::F64 | Kind::F32);
                self.give_float(lanes, into, float)
            }
            Do::Known { into, of, at } => {
                let places = self.places_of(lanes, pack, Arg::Register(at), of, false)?;
                self.items(of, places)?;
                if pack.met.contains(&of) {
                    lanes.read.push((of, places));
                }
                let float = matches!(self.kinds[of as usize], Kind::F64 | Kind::F32);
                self.give_float(lanes, into, float)
            }
            Do::Tally { into, of } => {
                let tally = match self.kinds[of as usize] {
                    Kind::Grows => offset_of!(Row, len),
                    _ => offset_of!(Row, tally),
                };
                self.extent(row(of, tally), ymm0)?;
                self.give(lanes, Arg::Register(into))
            }
            Do::Columns { into, of } => {
                self.extent(row(of, offset_of!(Row, columns)), ymm0)?;
                self.give(lanes, Arg::Register(into))
            }
            Do::Place { into, of, row: r, column } => {
                let origin = self.number(Number::Origin);
                self.lanes_in(lanes, r, ymm0)?;
                self.a.vbroadcastsd(ymm3, origin)?;
                self.a.vsubpd(ymm0, ymm0, ymm3)?;
                self.extent(row(of, offset_of!(Row, tally)), ymm1)?;
                self.below(lanes.now, ymm0, ymm1)?;
                self.extent(row(of, offset_of!(Row, columns)), ymm4)?;
                self.a.vmulpd(ymm0, ymm0, ymm4)?;
                let rows = self.kept(lanes)?;
                self.lanes_in(lanes, column, ymm0)?;
                self.a.vbroadcastsd(ymm3, origin)?;
                self.a.vsubpd(ymm0, ymm0, ymm3)?;
                self.a.vmovapd(ymm1, ymm4)?;
                self.below(lanes.now, ymm0, ymm1)?;
                self.a.vaddpd(ymm0, ymm0, full(rows))?;
                self.give(lanes, Arg::Register(into))
            }
            Do::Find { into, of, y } => {
                self.lanes_in(lanes, y, ymm0)?;
                self.found(lanes, of)?;
                self.give(lanes, Arg::Register(into))
            }
            Do::SetItem { of, at, op, y } => {
                let places = self.places_of(lanes, pack, at, of, true)?;
                self.changes(lanes, of, places, op, y)
            }
            Do::SetKnown { of, at, op, y } => {
                let places = self.places_of(lanes, pack, Arg::Register(at), of, false)?;
                self.changes(lanes, of, places, op, y)
            }
            Do::Append { of, y } => {
                let waits = |c: &&Change| matches!(c, Change::Append { of: own, .. } if *own == of);
                let before = lanes.changes.iter().filter(waits).count();
                self.a.mov(rax, row(of, offset_of!(Row, len)))?;
                self.a.add(rax, (LANES * (before + 1)) as i32)?;
                self.a.cmp(rax, row(of, offset_of!(Row, room)))?;
                self.a.ja(lanes.bail)?;
                self.lanes_in(lanes, y, ymm0)?;
                let y = self.kept(lanes)?;
                lanes.changes.push(Change::Append { of, y, of_lanes: lanes.now });
                Ok(())
            }
            _ => self.single(lanes),
        }
    }

    /// Lanes in which a condition is 0 go on at a step.
    fn parts(&mut self, lanes: &mut Lanes, pack: &Pack, y: Arg, then: u32) -> Done {
        self.lanes_in(lanes, y, ymm0)?;
        let one = self.number(Number::One);
        self.a.vbroadcastsd(ymm1, one)?;
        self.a.vpcmpeqq(ymm1, ymm0, ymm1)?;
        self.a.vpxor(ymm2, ymm2, ymm2)?;
        self.a.vpcmpeqq(ymm2, ymm0, ymm2)?;
        // Neither of both.
        self.a.vorpd(ymm3, ymm1, ymm2)?;
        self.a.vpcmpeqd(ymm4, ymm4, ymm4)?;
        self.a.vxorpd(ymm3, ymm3, ymm4)?;
        self.flag(lanes.now, ymm3)?;
        if let Some(now) = lanes.now {
            self.a.vandpd(ymm1, ymm1, full(now))?;
            self.a.vandpd(ymm2, ymm2, full(now))?;
        }
        match pack.inside(then) {
            Some(to) => {
                self.a.vmovapd(ymm0, ymm2)?;
                let go = self.kept(lanes)?;
                lanes.waiting.push((to, go));
            }
            None => self.a.vorpd(BAD, BAD, ymm2)?,
        }
        self.a.vmovapd(ymm0, ymm1)?;
        lanes.now = Some(self.kept(lanes)?);
        Ok(())
    }

    /// A count as all lanes.
    fn extent(&mut self, from: AsmMemoryOperand, into: AsmRegisterYmm) -> Done {
        self.a.mov(rax, from)?;
        self.a.vxorpd(T2, T2, T2)?;
        self.a.vcvtsi2sd(T2, T2, rax)?;
        self.a.vbroadcastsd(into, T2)
    }

    /// Everything changes that four turns change.
    fn commit(&mut self, lanes: &Lanes) -> Done {
        for (name, slot) in &lanes.folded {
            self.a.vmovsd(T0, at(*slot))?;
            self.write(Arg::Fixed(*name), T0)?;
        }
        for (name, slot, by) in &lanes.given {
            let name = Arg::Fixed(*name);
            match by {
                None => {
                    self.a.vmovsd(T0, lane(*slot, LANES - 1))?;
                    self.write(name, T0)?;
                }
                Some(by) => {
                    // The last lane that gave it one.
                    let mut none = self.a.create_label();
                    self.a.vmovupd(ymm0, full(*by))?;
                    self.a.vmovmskpd(eax, ymm0)?;
                    self.a.bsr(eax, eax)?;
                    self.a.jz(none)?;
                    self.a.vmovsd(T0, qword_ptr(WORDS + rax * 8 + offset(*slot)))?;
                    self.write(name, T0)?;
                    self.a.set_label(&mut none)?;
                    self.a.zero_bytes()?;
                }
            }
        }
        let mut grown = Vec::new();
        for change in &lanes.changes {
            match *change {
                Change::Item { of, places, op, y, of_lanes } => {
                    self.set_items(of, places, op, y, of_lanes)?;
                }
                Change::Append { of, .. } if grown.contains(&of) => {}
                Change::Append { of, .. } => {
                    grown.push(of);
                    self.append(lanes, of)?;
                }
            }
        }
        Ok(())
    }
}

/// The place of a slot behind the words' beginning.
fn offset(slot: Slot) -> i32 {
    (offset_of!(Words, lanes) + slot * LANES * 8) as i32
}

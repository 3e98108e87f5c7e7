//! From a tape to the instructions of a loop: registers by one sweep, one round of the loop for as
//! many elements as the tape has lanes.
//!
//! The function takes a table of words: how many elements (a multiple of the lanes, not 0), where
//! the constants are, where each input and each output begins. It gives what was suspect, 0 if
//! nothing.
//!
//! **Registers.** A step's operands stand in registers when it comes; when none is free the value
//! whose next use is farthest goes: an input or a constant is simply forgotten and read again,
//! anything else is kept on the stack. Steps never change, so one is kept at most once. Constants
//! that find room stay in registers for the whole loop; others are operands in memory, which the
//! machine broadcasts (AVX-512) or which are broadcast on the stack first (AVX2).
//!
//! **Masks** are bits of registers of their own (`bits`), or as wide as lanes (`wide`).

mod bits;
mod checked;
mod folds;
mod turns;
mod wide;

use super::forms;
use super::lanes::Size;
use super::tape::{Act, Expr, HEAD, Id, Kind, Lanes, Tape};
use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};

/// Registers that hold pointers; the latter must be given back as they were.
const POINTERS: [Register; 11] = [
    Register::RSI,
    Register::RDX,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::RBX,
    Register::RBP,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];
const SCRATCH: usize = 5;
const TABLE: Register = Register::RDI;
const CONSTS: Register = Register::R11;
const INDEX: Register = Register::RCX;
/// For pointers that have no register.
const SPARE: Register = Register::RAX;
/// Masks of a bit a lane: everything that was suspect, and the lanes whose end has not come.
const SUSPECT: u8 = 7;
const ACTIVE: u8 = 6;
/// A word of the loop's own, where constants are read from the stack.
const WORD: Register = Register::R11D;

/// Nothing is left of a step, or a code does not exist: the tape has no such loop.
#[derive(Debug)]
pub struct NoCode;

impl From<IcedError> for NoCode {
    fn from(_: IcedError) -> NoCode {
        NoCode
    }
}

type Done<T = ()> = Result<T, NoCode>;

/// The instructions of a tape.
pub fn code(tape: &Tape) -> Done<Vec<u8>> {
    let mut loops = Loop::new(tape);
    loops.hoist()?;
    loops.all()?;
    Ok(loops.encoder.take_buffer())
}

/// True where registers hold all that stays in them beside the values of a round.
pub fn holds(tape: &Tape) -> bool {
    Loop::new(tape).hoist().is_ok()
}

/// The place of a value.
#[derive(Clone, Copy, Default)]
struct Place {
    register: Option<u8>,
    slot: Option<u32>,
}

/// The last operand of an instruction.
#[derive(Clone, Copy)]
enum Last {
    In(Register),
    At(MemoryOperand),
}

/// Data that a loop reads from the stack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    /// A constant in all lanes.
    Const(Id),
    /// Eight bytes again and again, which say where those of a result come from.
    Places(u64),
}

/// Registers for a whole loop, of masks where these are bits, else of vectors.
#[derive(Clone, Copy)]
struct Fixed {
    /// Everything that was suspect.
    suspect: u8,
    /// The lanes whose end has not come.
    active: u8,
    /// The signs of whole numbers that overflowed: always of a vector.
    overflown: u8,
}

struct Loop<'a> {
    tape: &'a Tape,
    lanes: Lanes,
    fixed: Fixed,
    encoder: Encoder,
    bytes: usize,
    /// The acts that read a value, the last first.
    uses: Vec<Vec<u32>>,
    places: Vec<Place>,
    vectors: Vec<Option<Id>>,
    masks: [Option<Id>; 8],
    /// Registers that no value of a round may take.
    held: u32,
    /// Values that the step at hand needs where they are.
    pinned: Vec<Id>,
    /// Data that the stack holds all the time, before the slots of a round.
    homes: Vec<Home>,
    slots: u32,
    checks: bool,
    suspects: bool,
    /// The turn that is written, and how many there are.
    turn: usize,
    turns: usize,
    /// The partial results of each fold.
    results: usize,
    /// Times that the loop is taken, each for a share of the partial results (`folds`).
    shares: usize,
    /// The registers of each output's partial results, where they have some.
    sums: Vec<Option<u8>>,
    /// Jumps out of the turns, each by the place behind it.
    ways_out: Vec<usize>,
}

fn at(base: Register, bytes: usize) -> MemoryOperand {
    let size = u32::from(bytes != 0);
    MemoryOperand::new(base, Register::None, 1, bytes as i64, size, false, Register::None)
}

impl<'a> Loop<'a> {
    fn new(tape: &'a Tape) -> Loop<'a> {
        let mut uses: Vec<Vec<u32>> = tape.nodes.iter().map(|_| Vec::new()).collect();
        for (k, act) in tape.acts.iter().enumerate().rev() {
            match *act {
                Act::Make(id) => {
                    tape.nodes[id as usize].operands().for_each(|a| uses[a as usize].push(k as u32))
                }
                act => act.reads(&tape.turns).for_each(|a| uses[a as usize].push(k as u32)),
            }
        }
        let checks = tape.acts.iter().any(
            |a| matches!(a, Act::Make(id) if matches!(tape.nodes[*id as usize], Expr::Checked(..))),
        );
        let some = |f: fn(&Act) -> bool| tape.acts.iter().any(f);
        let (folds, suspects) =
            (some(|a| matches!(a, Act::Fold(..))), some(|a| matches!(a, Act::Suspect(_))));
        let (lanes, until) = (tape.lanes, tape.turns.until.is_some());
        let results = tape.partials;
        let registers: u8 = if lanes.bits() { 32 } else { 16 };
        let mut top = registers;
        let mut fixed = |wanted: bool| {
            top -= u8::from(wanted);
            top
        };
        let overflown = fixed(checks);
        let (suspect, active) = match lanes.bits() {
            true => (SUSPECT, ACTIVE),
            false => (fixed(suspects), fixed(until)),
        };
        Loop {
            tape,
            lanes,
            fixed: Fixed { suspect, active, overflown },
            encoder: Encoder::new(64),
            bytes: 0,
            uses,
            places: tape.nodes.iter().map(|_| Place::default()).collect(),
            vectors: (0..registers).map(|_| None).collect(),
            masks: [None; 8],
            held: (top..registers).fold(0, |held, k| held | 1 << k),
            pinned: Vec::new(),
            homes: Vec::new(),
            slots: 0,
            checks,
            suspects,
            turn: 0,
            turns: match folds {
                true if lanes.bits() => results / lanes.count,
                true => 1,
                false => tape.turns.count.max(1),
            },
            results,
            shares: 1,
            sums: tape.outs.iter().map(|_| None).collect(),
            ways_out: Vec::new(),
        }
    }

    fn node(&self, id: Id) -> Expr {
        self.tape.nodes[id as usize]
    }

    /// True of a mask of a bit a lane, which has a register for masks.
    fn is_bits(&self, id: Id) -> bool {
        self.lanes.bits() && self.node(id).kind() == Kind::Mask
    }

    fn registers(&self) -> u8 {
        self.vectors.len() as u8
    }

    fn size(&self, id: Id) -> Size {
        self.lanes.size(self.node(id).kind())
    }

    fn put(&mut self, instruction: Result<Instruction, IcedError>) -> Done {
        self.emit(instruction?)
    }

    fn emit(&mut self, instruction: Instruction) -> Done {
        self.bytes += self.encoder.encode(&instruction, self.bytes as u64)?;
        Ok(())
    }

    /// An instruction of a destination, an operand, and the last one.
    fn three(&mut self, code: Code, to: Register, a: Register, b: Last) -> Done {
        self.put(match b {
            Last::In(b) => Instruction::with3(code, to, a, b),
            Last::At(b) => Instruction::with3(code, to, a, b),
        })
    }

    fn four(&mut self, code: Code, to: Register, a: Register, b: Last, k: u32) -> Done {
        self.put(match b {
            Last::In(b) => Instruction::with4(code, to, a, b, k),
            Last::At(b) => Instruction::with4(code, to, a, b, k),
        })
    }

    /// Gives registers to what stays in them: states, partial results of folds, then constants, as
    /// many as the values of a round leave room for, those first that are read most.
    fn hoist(&mut self) -> Done {
        let values = |id: &Id| !self.is_bits(*id) && !matches!(self.node(*id), Expr::Const(..));
        let (mut live, mut most): (Vec<Id>, usize) = (Vec::new(), 0);
        for (k, act) in self.tape.acts.iter().enumerate() {
            if let Act::Make(id) = act
                && values(id)
            {
                live.push(*id);
                most = most.max(live.len());
            }
            live.retain(|id| self.uses[*id as usize].first().is_some_and(|last| *last > k as u32));
        }
        // Some for what a step needs on its way.
        let aside = if self.lanes.bits() { 2 } else { 3 };
        let mut free = self.registers() - self.held.count_ones() as u8;
        let mut room = usize::from(free).saturating_sub(most + aside);
        for (state, _) in &self.tape.turns.next {
            room = room.checked_sub(1).ok_or(NoCode)?;
            free -= 1;
            self.held |= 1 << free;
            self.own(*state, free);
        }
        self.share(room);
        for act in &self.tape.acts {
            if let Act::Fold(slot, ..) = act
                && self.partials_fit()
                && room >= self.turns
            {
                room -= self.turns;
                free -= self.turns as u8;
                (0..self.turns).for_each(|turn| self.held |= 1 << (usize::from(free) + turn));
                self.sums[*slot as usize] = Some(free);
            }
        }
        let mut consts: Vec<Id> = (0..self.tape.nodes.len() as Id)
            .filter(|id| matches!(self.node(*id), Expr::Const(..)))
            .filter(|id| !self.uses[*id as usize].is_empty())
            .collect();
        consts.sort_by_key(|id| std::cmp::Reverse(self.uses[*id as usize].len()));
        let far = consts.split_off(room.min(consts.len()));
        if !self.lanes.bits() {
            self.homes.extend(far.into_iter().map(Home::Const));
            self.homes.extend(self.places());
        }
        for (k, id) in consts.into_iter().enumerate() {
            let register = free - 1 - k as u8;
            self.held |= 1 << register;
            self.vectors[usize::from(register)] = Some(id);
            self.places[id as usize].register = Some(register);
        }
        Ok(())
    }

    fn all(&mut self) -> Done {
        let pointers = self.tape.ins.len() + self.tape.outs.len();
        let pushed = &POINTERS[SCRATCH..pointers.clamp(SCRATCH, POINTERS.len())];
        for register in pushed {
            self.put(Instruction::with1(Code::Push_r64, *register))?;
        }
        // The round comes first, into a buffer of its own, because only it knows how many slots
        // there are; nothing in it depends on where it stands.
        let before = (self.encoder.take_buffer(), self.bytes);
        self.bytes = 0;
        let consts: Vec<(u8, Id)> = (0..self.registers())
            .filter(|r| self.held >> r & 1 == 1)
            .filter_map(|r| Some((r, self.vectors[usize::from(r)]?)))
            .filter(|(_, id)| matches!(self.node(*id), Expr::Const(..)))
            .collect();
        let mut room = 0;
        self.enter()?;
        let first = self.bytes;
        let behind = self.tape.turns_apart().0.len();
        for turn in 0..self.turns {
            self.turn = turn;
            for k in 0..behind {
                self.act(k)?;
            }
            room = room.max((self.homes.len() + self.slots as usize) * self.lanes.register);
            self.afresh();
            if turn + 1 < self.turns && self.tape.turns.count == 0 {
                self.step(1)?;
                self.way_out(Code::Jae_rel32_64)?;
            }
        }
        let once_more = self.once_more()?;
        for k in behind..self.tape.acts.len() {
            self.act(k)?;
        }
        room = room.max((self.homes.len() + self.slots as usize) * self.lanes.register);
        let mut end = self.bytes;
        self.exit()?;
        self.step(1 + (self.shares - 1) * self.turns)?;
        self.put(Instruction::with_branch(Code::Jb_rel32_64, 0))?;
        if self.tape.turns.count == 0 {
            end = self.bytes;
        }
        let mut round = self.encoder.take_buffer();
        let out = std::mem::take(&mut self.ways_out).into_iter().map(|from| (from, end));
        for (from, to) in out.chain(once_more.map(|from| (from, first))) {
            let far = to as i32 - from as i32;
            round[from - 4..from].copy_from_slice(&far.to_le_bytes());
        }
        self.encoder.set_buffer(before.0);
        self.bytes = before.1;
        // Lines of the stack, and behind them where it was.
        let was = at(Register::RSP, room);
        if room > 0 {
            let (stack, all) = (Register::RSP, (room + 64) as i32);
            self.put(Instruction::with2(Code::Mov_r64_rm64, SPARE, stack))?;
            self.put(Instruction::with2(Code::Sub_rm64_imm32, stack, all))?;
            self.put(Instruction::with2(Code::And_rm64_imm8, stack, -64))?;
            self.put(Instruction::with2(Code::Mov_rm64_r64, was, SPARE))?;
        }
        self.put(Instruction::with2(Code::Mov_r64_rm64, CONSTS, at(TABLE, 8)))?;
        for (k, register) in POINTERS.iter().enumerate().take(pointers) {
            let from = at(TABLE, (HEAD + k) * 8);
            self.put(Instruction::with2(Code::Mov_r64_rm64, *register, from))?;
        }
        self.none_counted()?;
        self.put(Instruction::with2(Code::Xor_r32_rm32, Register::ECX, Register::ECX))?;
        match self.lanes.bits() {
            true => self.clear_bits()?,
            false => self.clear_wide()?,
        }
        for k in 0..self.homes.len() {
            self.home(k)?;
        }
        for (register, id) in consts {
            self.broadcast(id, register)?;
        }
        self.of_shares(&round)?;
        self.counted()?;
        match self.lanes.bits() {
            true => self.suspected_bits()?,
            false => self.suspected_wide()?,
        }
        if room > 0 {
            self.put(Instruction::with2(Code::Mov_r64_rm64, Register::RSP, was))?;
        }
        for register in pushed.iter().rev() {
            self.put(Instruction::with1(Code::Pop_r64, *register))?;
        }
        self.emit(Instruction::with(Code::VEX_Vzeroupper))?;
        self.emit(Instruction::with(Code::Retnq))
    }

    /// On to the elements so many registers away, and whether there are some.
    fn step(&mut self, registers: usize) -> Done {
        let far = (registers * self.lanes.count * self.tape.turns.beside()) as i32;
        self.put(Instruction::with2(Code::Add_rm64_imm32, INDEX, far))?;
        self.put(match self.shares {
            1 => Instruction::with2(Code::Cmp_r64_rm64, INDEX, at(TABLE, 0)),
            _ => Instruction::with2(Code::Cmp_r64_rm64, INDEX, SPARE),
        })
    }

    /// A jump out of the turns.
    fn way_out(&mut self, code: Code) -> Done {
        self.put(Instruction::with_branch(code, 0))?;
        self.ways_out.push(self.bytes);
        Ok(())
    }

    /// No value is anywhere but those that stay.
    fn afresh(&mut self) {
        self.slots = 0;
        self.masks = [None; 8];
        for (k, own) in self.vectors.iter_mut().enumerate() {
            *own = own.filter(|_| self.held >> k & 1 == 1);
        }
        for id in 0..self.places.len() {
            let register = self.places[id].register.filter(|_| self.stays(id as Id));
            self.places[id] = Place { register, slot: None };
        }
    }

    /// The memory of element `INDEX` of the k-th pointer, of items of so many bytes.
    fn item(&mut self, k: usize, bytes: usize) -> Done<MemoryOperand> {
        let base = self.pointer(k)?;
        Ok(MemoryOperand::new(base, INDEX, bytes as u32, 0, 0, false, Register::None))
    }

    /// A register that holds the k-th pointer.
    fn pointer(&mut self, k: usize) -> Done<Register> {
        if let Some(register) = POINTERS.get(k) {
            return Ok(*register);
        }
        let from = at(TABLE, (HEAD + k) * 8);
        self.put(Instruction::with2(Code::Mov_r64_rm64, SPARE, from))?;
        Ok(SPARE)
    }

    /// The memory of the k-th value that is kept in a round.
    fn slot(&self, slot: u32) -> MemoryOperand {
        at(Register::RSP, (self.homes.len() + slot as usize) * self.lanes.register)
    }

    /// The memory of what the stack holds all the time.
    fn at_home(&self, home: Home) -> Option<MemoryOperand> {
        let k = self.homes.iter().position(|own| *own == home)?;
        Some(at(Register::RSP, k * self.lanes.register))
    }

    fn broadcast(&mut self, id: Id, register: u8) -> Done {
        let Expr::Const(slot, _) = self.node(id) else { return Err(NoCode) };
        let size = self.size(id);
        let from = at(CONSTS, slot as usize * 8);
        let code = forms::broadcast(size, self.lanes);
        self.put(Instruction::with2(code, size.register(register), from))
    }

    /// The next act after this one that reads a value.
    fn next_use(&self, id: Id, now: usize) -> Option<u32> {
        self.uses[id as usize].iter().rev().copied().find(|k| *k as usize > now)
    }

    /// A register that is free from now on, masks and vectors apart.
    fn take(&mut self, mask: bool, now: usize) -> Done<u8> {
        let masks = self.fixed.suspect - u8::from(self.tape.turns.until.is_some());
        let (from, to) = if mask { (1, masks) } else { (0, self.registers()) };
        let who = |l: &Self, k: u8| {
            if mask { l.masks[usize::from(k)] } else { l.vectors[usize::from(k)] }
        };
        let may = |l: &Self, k: u8| mask || l.held >> k & 1 == 0;
        if let Some(free) = (from..to).find(|k| may(self, *k) && who(self, *k).is_none()) {
            return Ok(free);
        }
        let far = (from..to)
            .filter(|k| may(self, *k))
            .filter_map(|k| Some((k, who(self, k)?)))
            .filter(|(_, id)| !self.pinned.contains(id))
            .max_by_key(|(_, id)| (self.dies(*id, now), self.next_use(*id, now)));
        let (register, id) = far.ok_or(NoCode)?;
        self.leave(id, register)?;
        Ok(register)
    }

    /// A value gives its register up; it is kept if nothing else has it.
    fn leave(&mut self, id: Id, register: u8) -> Done {
        let again = matches!(self.node(id), Expr::In(..) | Expr::Const(..));
        if !again && self.places[id as usize].slot.is_none() {
            let slot = self.slots;
            self.slots += 1;
            self.places[id as usize].slot = Some(slot);
            let to = self.slot(slot);
            if self.is_bits(id) {
                let from = Register::K0 + u32::from(register);
                self.put(Instruction::with2(Code::VEX_Kmovq_m64_kr, to, from))?;
            } else {
                let size = self.size(id);
                let code = forms::moves(size, self.lanes).1;
                self.put(Instruction::with2(code, to, size.register(register)))?;
            }
        }
        self.forget(id, register);
        Ok(())
    }

    fn forget(&mut self, id: Id, register: u8) {
        let mask = self.is_bits(id);
        let all: &mut [Option<Id>] = if mask { &mut self.masks } else { &mut self.vectors };
        all[usize::from(register)] = None;
        self.places[id as usize].register = None;
    }

    fn own(&mut self, id: Id, register: u8) {
        let mask = self.is_bits(id);
        let all: &mut [Option<Id>] = if mask { &mut self.masks } else { &mut self.vectors };
        all[usize::from(register)] = Some(id);
        self.places[id as usize].register = Some(register);
    }

    /// A value in a register, where it stays until the step is done.
    fn need(&mut self, id: Id, now: usize) -> Done<u8> {
        self.pinned.push(id);
        if let Some(register) = self.places[id as usize].register {
            return Ok(register);
        }
        let mask = self.is_bits(id);
        let register = self.take(mask, now)?;
        self.own(id, register);
        let size = self.size(id);
        match (self.node(id), self.places[id as usize].slot) {
            (Expr::Const(..), _) => match self.at_home(Home::Const(id)) {
                Some(from) => {
                    let to = size.register(register);
                    self.put(Instruction::with2(forms::moves(size, self.lanes).0, to, from))?;
                }
                None => self.broadcast(id, register)?,
            },
            (Expr::In(slot, kind), _) => self.load(slot, kind, register, now)?,
            (Expr::Never | Expr::Always, _) => match mask {
                true => self.known_bits(id, register)?,
                false => self.known_wide(id, register)?,
            },
            (_, None) => return Err(NoCode),
            (_, Some(slot)) if mask => {
                let to = Register::K0 + u32::from(register);
                self.put(Instruction::with2(Code::VEX_Kmovq_kr_km64, to, self.slot(slot)))?;
            }
            (_, Some(slot)) => {
                let to = size.register(register);
                let load = forms::moves(size, self.lanes).0;
                self.put(Instruction::with2(load, to, self.slot(slot)))?;
            }
        }
        Ok(register)
    }

    fn vector(&mut self, id: Id, now: usize) -> Done<Register> {
        let register = self.need(id, now)?;
        Ok(self.size(id).register(register))
    }

    /// A last operand: a constant that has no register may be one in memory, and so may what is
    /// read here for the last time.
    fn last(&mut self, id: Id, now: usize) -> Done<Last> {
        let (node, place) = (self.node(id), self.places[id as usize]);
        let there = match node {
            _ if place.register.is_some() => None,
            Expr::Const(slot, kind) if self.lanes.bits() => {
                let (none, far) = (Register::None, slot as usize * 8);
                let size = u32::from(far != 0);
                let at = MemoryOperand::new(CONSTS, none, 1, far as i64, size, true, none);
                (self.lanes.bytes(kind) >= 4).then_some(at)
            }
            Expr::Const(..) => self.at_home(Home::Const(id)),
            _ if self.lanes.bits() || !self.dies(id, now) => None,
            _ => place.slot.map(|slot| self.slot(slot)),
        };
        match there {
            Some(at) => Ok(Last::At(at)),
            None => Ok(Last::In(self.vector(id, now)?)),
        }
    }

    /// Nobody reads it after this step.
    fn dies(&self, id: Id, now: usize) -> bool {
        self.next_use(id, now).is_none()
    }

    /// It is in a register that no other value may take.
    fn stays(&self, id: Id) -> bool {
        let register = self.places[id as usize].register;
        !self.is_bits(id) && register.is_some_and(|register| self.held >> register & 1 == 1)
    }

    /// Registers of operands that die here are free for the result of one instruction, which reads
    /// before it writes.
    fn release(&mut self, now: usize) {
        for id in std::mem::take(&mut self.pinned) {
            if let Some(register) = self.places[id as usize].register
                && self.dies(id, now)
                && (self.is_bits(id) || self.held >> register & 1 == 0)
            {
                self.forget(id, register);
            }
        }
    }

    /// A register for the result, with the operands' that die here free; it is the value's.
    fn result(&mut self, id: Id, now: usize) -> Done<Register> {
        let operands = self.pinned.clone();
        self.release(now);
        // Those that live on stay where they are.
        self.pinned = operands
            .into_iter()
            .filter(|id| self.places[*id as usize].register.is_some())
            .collect();
        let mask = self.is_bits(id);
        let register = self.take(mask, now)?;
        self.own(id, register);
        self.pinned.push(id);
        Ok(match mask {
            true => Register::K0 + u32::from(register),
            false => self.size(id).register(register),
        })
    }

    /// A register for the result beside all operands, for more than one instruction.
    fn fresh(&mut self, id: Id, now: usize) -> Done<Register> {
        let register = self.take(false, now)?;
        self.own(id, register);
        self.pinned.push(id);
        Ok(self.size(id).register(register))
    }

    fn act(&mut self, now: usize) -> Done {
        self.pinned.clear();
        match self.tape.acts[now] {
            Act::Make(id) => {
                let node = self.node(id);
                // What costs nothing to make again is made where it is read.
                if !matches!(node, Expr::In(..) | Expr::Const(..) | Expr::Never | Expr::Always) {
                    self.make(id, node, now)?;
                    self.pinned.push(id);
                }
            }
            Act::Suspect(id) => match self.lanes.bits() {
                true => self.suspect_bits(id, now)?,
                false => self.suspect_wide(id, now)?,
            },
            Act::Store(slot, id) => match self.lanes.bits() {
                true => self.store_bits(slot as usize, id, now)?,
                false => self.store_wide(slot as usize, id, now)?,
            },
            Act::Count(slot, id) => match self.lanes.bits() {
                true => self.count_bits(slot as usize, id, now)?,
                false => self.count_wide(slot as usize, id, now)?,
            },
            Act::Fold(slot, op, id) => self.fold(slot as usize, op, id, now)?,
            Act::Onto(slot, op, id) => self.onto(slot as usize, op, id, now)?,
            Act::Turn => self.turned(now)?,
        }
        self.release(now);
        Ok(())
    }

    fn make(&mut self, id: Id, node: Expr, now: usize) -> Done {
        let lanes = self.lanes;
        match node {
            Expr::In(..) | Expr::Const(..) | Expr::Never | Expr::Always => Ok(()),
            Expr::Bin(op, kind, a, b) => {
                let code = forms::bin(op, kind, lanes).ok_or(NoCode)?;
                let constant = matches!(self.node(a), Expr::Const(..));
                let (a, b) = match constant && forms::commutes(op, kind) {
                    true => (b, a),
                    false => (a, b),
                };
                let (x, y) = (self.vector(a, now)?, self.last(b, now)?);
                let to = self.result(id, now)?;
                self.three(code, to, x, y)
            }
            Expr::Checked(op, a, b) => self.checked(id, op, a, b, now),
            Expr::Fma(_, a, b, c) => self.fma(id, a, b, c, now),
            Expr::Sqrt(kind, a) => {
                let x = self.vector(a, now)?;
                let to = self.result(id, now)?;
                self.put(Instruction::with2(forms::sqrt(kind, lanes), to, x))
            }
            Expr::Floor(kind, a) => {
                let x = self.vector(a, now)?;
                let to = self.result(id, now)?;
                // Towards -∞, without a flag.
                self.put(Instruction::with3(forms::rounding(kind, lanes), to, x, 0x09))
            }
            Expr::Shift(kind, left, a, by) => {
                let x = self.vector(a, now)?;
                let to = self.result(id, now)?;
                self.put(Instruction::with3(forms::shift(kind, left, lanes), to, x, u32::from(by)))
            }
            Expr::Turn(from, to, a) => {
                let code = forms::turn(from, to, lanes).ok_or(NoCode)?;
                let x = self.vector(a, now)?;
                let to = self.result(id, now)?;
                self.put(Instruction::with2(code, to, x))
            }
            // Masks, and what one chooses.
            _ if lanes.bits() => self.by_bits(id, node, now),
            _ => self.by_wide(id, node, now),
        }
    }

    /// `a×b+c` in the register of an operand that dies here, or of a copy.
    fn fma(&mut self, id: Id, a: Id, b: Id, c: Id, now: usize) -> Done {
        let (kind, size) = (self.node(id).kind(), self.size(id));
        let factor = forms::fma_of_factor(kind, self.lanes);
        let sum = forms::fma_of_sum(kind, self.lanes);
        let constant = |l: &Self, id| matches!(l.node(id), Expr::Const(..));
        // A constant is best the last operand.
        let (a, b) = if constant(self, a) { (b, a) } else { (a, b) };
        let ends = |l: &Self, x: Id, others: [Id; 2]| {
            !constant(l, x) && !others.contains(&x) && !l.stays(x) && l.dies(x, now)
        };
        let (code, to, x, y) = match () {
            () if ends(self, a, [b, c]) => (factor, a, b, c),
            () if ends(self, b, [a, c]) => (factor, b, a, c),
            () if ends(self, c, [a, b]) => (sum, c, a, b),
            () => {
                let from = self.vector(a, now)?;
                let register = self.take(false, now)?;
                let to = size.register(register);
                self.put(Instruction::with2(forms::moves(size, self.lanes).0, to, from))?;
                self.own(id, register);
                self.pinned.push(id);
                let (y, z) = (self.vector(b, now)?, self.last(c, now)?);
                return self.three(factor, to, y, z);
            }
        };
        let register = self.need(to, now)?;
        let (x, y) = (self.vector(x, now)?, self.last(y, now)?);
        self.three(code, size.register(register), x, y)?;
        // The register is the result's from now on.
        self.pinned.retain(|id| *id != to);
        self.forget(to, register);
        self.own(id, register);
        Ok(())
    }

    /// An element of an input into a register.
    fn load(&mut self, slot: u32, kind: Kind, register: u8, now: usize) -> Done {
        let bytes = self.tape.ins[slot as usize].ok_or(NoCode)?.size();
        let from = self.item(slot as usize, bytes)?;
        if kind == Kind::Mask {
            return match self.lanes.bits() {
                true => self.load_bits(from, register, now),
                false => self.load_wide(from, register, now),
            };
        }
        let size = self.lanes.size(kind);
        let code = match kind {
            Kind::Int => forms::load_whole(bytes, self.lanes).ok_or(NoCode)?,
            _ => forms::moves(size, self.lanes).0,
        };
        self.put(Instruction::with2(code, size.register(register), from))
    }
}

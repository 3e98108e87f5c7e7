//! Rounds of a loop in registers.
//!
//! Elements of one register take so many rounds, *turns*, before the next ones do, and where the
//! rounds have no end but their count, all turns as often as the call wants. States stay in
//! registers meanwhile; at the end of a turn all next values become states at once, in the lanes
//! whose end has not come. When it has come for all, the turns are over. What a lane does behind
//! its end is computed and thrown away, and no suspicion.

use super::super::forms;
use super::super::tape::{Act, Expr, Kind};
use super::{CONSTS, Done, Loop, NoCode, SPARE, TABLE, at};
use iced_x86::{Code, Instruction, Register};

impl Loop<'_> {
    /// The states of a register's elements, as they lie in memory; all lanes are active.
    pub(super) fn enter(&mut self) -> Done {
        for k in 0..self.tape.turns.next.len() {
            let (register, there) = self.state(k)?;
            self.put(Instruction::with2(self.moves().0, register, there))?;
        }
        if let Some([times, left]) = self.tape.repeats() {
            let (times, left) = (at(TABLE, times * 8), at(TABLE, left * 8));
            self.put(Instruction::with2(Code::Mov_r64_rm64, SPARE, times))?;
            self.put(Instruction::with2(Code::Mov_rm64_r64, left, SPARE))?;
        }
        match (self.tape.turns.until, self.lanes.bits()) {
            (None, _) => Ok(()),
            (_, true) => self.all_active_bits(),
            (_, false) => self.all_active_wide(),
        }
    }

    /// Back to the first of the turns, as often as the table says; the place behind the jump.
    pub(super) fn once_more(&mut self) -> Done<Option<usize>> {
        let Some([_, left]) = self.tape.repeats() else { return Ok(None) };
        self.put(Instruction::with2(Code::Sub_rm64_imm8, at(TABLE, left * 8), 1))?;
        self.put(Instruction::with_branch(Code::Jne_rel32_64, 0))?;
        Ok(Some(self.bytes))
    }

    /// The states back into memory, and the first output: 1 where a lane's end has come.
    pub(super) fn exit(&mut self) -> Done {
        for k in 0..self.tape.turns.next.len() {
            let (register, there) = self.state(k)?;
            self.put(Instruction::with2(self.moves().1, there, register))?;
        }
        if self.tape.turns.until.is_some() {
            let one = at(CONSTS, self.one()? as usize * 8);
            let done = self.lanes.size(Kind::F64).register(self.spare()?);
            self.put(Instruction::with2(Code::Mov_r64_rm64, CONSTS, at(TABLE, 8)))?;
            match self.lanes.bits() {
                true => self.done_bits(done, one)?,
                false => self.done_wide(done, one)?,
            }
            let there = self.item(self.tape.ins.len(), 8)?;
            self.put(Instruction::with2(self.moves().1, there, done))?;
        }
        Ok(())
    }

    /// Registers of f64, which states are, from and to memory.
    fn moves(&self) -> (Code, Code) {
        forms::moves(self.lanes.size(Kind::F64), self.lanes)
    }

    /// The place of 1 among the constants.
    fn one(&self) -> Done<u32> {
        match self.tape.turns.until.map(|(_, one)| self.node(one)) {
            Some(Expr::Const(slot, _)) => Ok(slot),
            _ => Err(NoCode),
        }
    }

    /// A register that nothing has between two rounds.
    pub(super) fn spare(&self) -> Done<u8> {
        (0..self.registers()).find(|k| self.held >> k & 1 == 0).ok_or(NoCode)
    }

    /// The k-th state's register, and its memory.
    fn state(&mut self, k: usize) -> Done<(Register, iced_x86::MemoryOperand)> {
        let (state, _) = self.tape.turns.next[k];
        let Expr::In(slot, _) = self.node(state) else { return Err(NoCode) };
        let register = self.places[state as usize].register.ok_or(NoCode)?;
        Ok((self.lanes.size(Kind::F64).register(register), self.item(slot as usize, 8)?))
    }

    /// The end of a turn.
    pub(super) fn turned(&mut self, now: usize) -> Done {
        debug_assert!(matches!(self.tape.acts[now], Act::Turn));
        let tape = self.tape;
        let (turns, size, bits) = (&tape.turns, self.lanes.size(Kind::F64), self.lanes.bits());
        let (load, held) = (self.moves().0, self.held);
        let mut from = Vec::new();
        for (_, next) in &turns.next {
            let mut register = self.vector(*next, now)?;
            // Another state, which may change before it is read.
            if self.stays(*next) {
                let own = self.take(false, now)?;
                self.held |= 1 << own;
                let aside = size.register(own);
                self.put(Instruction::with2(load, aside, register))?;
                register = aside;
            }
            from.push(register);
        }
        let until = match (turns.until, bits) {
            (None, _) => None,
            (Some((until, _)), true) => Some(self.mask(until, now)?),
            (Some((until, _)), false) => Some(self.vector(until, now)?),
        };
        for ((state, _), from) in turns.next.iter().zip(from) {
            let own = size.register(self.places[*state as usize].register.ok_or(NoCode)?);
            match bits {
                true => self.next_bits(own, from)?,
                false => self.next_wide(own, from)?,
            }
        }
        self.held = held;
        if let Some(until) = until {
            match bits {
                true => self.end_bits(until)?,
                false => self.end_wide(until)?,
            }
            if self.turn + 1 < self.turns {
                match bits {
                    true => self.some_active_bits()?,
                    false => self.some_active_wide()?,
                }
                self.way_out(Code::Je_rel32_64)?;
            }
        }
        Ok(())
    }
}

//! Rounds of a loop in registers.
//!
//! Elements of one register take so many rounds, *turns*, before the next ones do. States stay in
//! registers meanwhile; at the end of a turn all next values become states at once, in the lanes
//! whose end has not come. When it has come for all, the turns are over. What a lane does behind
//! its end is computed and thrown away, and no suspicion.

use super::super::forms::{self, Size};
use super::super::tape::{Act, Expr};
use super::{CONSTS, Done, Loop, NoCode, SUSPECT, at};
use iced_x86::{Code, Instruction, Register};

/// The lanes whose end has not come.
const ACTIVE: Register = Register::K6;

const _: () = assert!(SUSPECT == 7);

impl Loop<'_> {
    /// The states of a register's elements, as they lie in memory; all lanes are active.
    pub(super) fn enter(&mut self) -> Done {
        for k in 0..self.tape.turns.next.len() {
            let (register, there) = self.state(k)?;
            self.put(Instruction::with2(forms::moves(Size::Zmm).0, register, there))?;
        }
        if self.tape.turns.until.is_some() {
            let all = Code::VEX_Kxnorb_kr_kr_kr;
            self.put(Instruction::with3(all, ACTIVE, ACTIVE, ACTIVE))?;
        }
        Ok(())
    }

    /// The states back into memory, and the first output: 1 where a lane's end has come.
    pub(super) fn exit(&mut self) -> Done {
        for k in 0..self.tape.turns.next.len() {
            let (register, there) = self.state(k)?;
            self.put(Instruction::with2(forms::moves(Size::Zmm).1, there, register))?;
        }
        if self.tape.turns.until.is_some() {
            let slot = self.one()?;
            let (done, mask) = (Size::Zmm.register(self.spare()?), Register::K1);
            self.put(Instruction::with2(Code::VEX_Knotb_kr_kr, mask, ACTIVE))?;
            let from = at(CONSTS, slot as usize * 8);
            let mut instruction = Instruction::with2(forms::broadcast(Size::Zmm), done, from)?;
            instruction.set_op_mask(mask);
            instruction.set_zeroing_masking(true);
            self.emit(instruction)?;
            let there = self.item(self.tape.ins.len(), 8)?;
            self.put(Instruction::with2(forms::moves(Size::Zmm).1, there, done))?;
        }
        Ok(())
    }

    /// The place of 1 among the constants.
    fn one(&self) -> Done<u32> {
        match self.tape.turns.until.map(|(_, one)| self.node(one)) {
            Some(Expr::Const(slot, _)) => Ok(slot),
            _ => Err(NoCode),
        }
    }

    /// A register that nothing has between two rounds.
    fn spare(&self) -> Done<u8> {
        (0..32).find(|k| self.held >> k & 1 == 0).ok_or(NoCode)
    }

    /// The k-th state's register, and its memory.
    fn state(&mut self, k: usize) -> Done<(Register, iced_x86::MemoryOperand)> {
        let (state, _) = self.tape.turns.next[k];
        let Expr::In(slot, _) = self.node(state) else { return Err(NoCode) };
        let register = self.places[state as usize].register.ok_or(NoCode)?;
        Ok((Size::Zmm.register(register), self.item(slot as usize, 8)?))
    }

    /// A mask's lanes that are active.
    pub(super) fn among_active(&mut self, mask: Register, now: usize) -> Done<Register> {
        if self.tape.turns.until.is_none() {
            return Ok(mask);
        }
        let aside = Register::K0 + u32::from(self.take(true, now)?);
        self.put(Instruction::with3(Code::VEX_Kandq_kr_kr_kr, aside, mask, ACTIVE))?;
        Ok(aside)
    }

    /// The end of a turn.
    pub(super) fn turned(&mut self, now: usize) -> Done {
        debug_assert!(matches!(self.tape.acts[now], Act::Turn));
        let tape = self.tape;
        let turns = &tape.turns;
        let (load, held) = (forms::moves(Size::Zmm).0, self.held);
        let mut from = Vec::new();
        for (_, next) in &turns.next {
            let mut register = self.vector(*next, now)?;
            // Another state, which may change before it is read.
            if self.stays(*next) {
                let own = self.take(false, now)?;
                self.held |= 1 << own;
                let aside = Size::Zmm.register(own);
                self.put(Instruction::with2(load, aside, register))?;
                register = aside;
            }
            from.push(register);
        }
        let until = turns.until.map(|(until, _)| self.mask(until, now)).transpose()?;
        for ((state, _), from) in turns.next.iter().zip(from) {
            let own = self.places[*state as usize].register.ok_or(NoCode)?;
            // A mask of the lanes of f64.
            let code = Code::EVEX_Vmovapd_zmm_k1z_zmmm512;
            let mut instruction = Instruction::with2(code, Size::Zmm.register(own), from)?;
            if until.is_some() {
                instruction.set_op_mask(ACTIVE);
            }
            self.emit(instruction)?;
        }
        self.held = held;
        if let Some(until) = until {
            self.put(Instruction::with3(Code::VEX_Kandnb_kr_kr_kr, ACTIVE, until, ACTIVE))?;
            if self.turn + 1 < self.turns {
                self.put(Instruction::with2(Code::VEX_Kortestb_kr_kr, ACTIVE, ACTIVE))?;
                self.way_out(Code::Je_rel32_64)?;
            }
        }
        Ok(())
    }
}

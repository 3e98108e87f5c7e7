//! Folds in an emitted loop.
//!
//! A round takes the elements of one register; a tape that folds has as many rounds one
//! behind the other, *turns*, as its partial results are registers, and each turn has its own, so
//! that a sum never waits for the one before it. After each turn the loop may end: then the
//! elements of the next one are those of the next partials, as `prim::reduce` has it. Where the
//! values of a round leave no room for the partials in registers, they stay in memory. AVX2 has too
//! few registers for them: there is one turn, and each finds its partials by its place.

use super::super::forms;
use super::super::tape::{Act, Bin, Id, PARTIALS};
use super::{CONSTS, Done, Last, Loop, NoCode, WORD, at};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

impl Loop<'_> {
    /// The partial results that have registers, to these or back to memory.
    pub(super) fn partials(&mut self, fetch: bool) -> Done {
        let folds = self.tape.acts.iter().filter_map(|act| match *act {
            Act::Fold(slot, _, id) => Some((slot, id, self.sums[slot as usize]?)),
            _ => None,
        });
        for (slot, id, first) in folds.collect::<Vec<_>>() {
            let (load, store) = forms::moves(self.size(id), self.lanes);
            for turn in 0..self.turns {
                let (own, there) = (first + turn as u8, self.partial(slot as usize, id, turn)?);
                let own = self.size(id).register(own);
                self.put(match fetch {
                    true => Instruction::with2(load, own, there),
                    false => Instruction::with2(store, there, own),
                })?;
            }
        }
        Ok(())
    }

    /// The memory of a turn's partial results.
    fn partial(&mut self, slot: usize, id: Id, turn: usize) -> Done<MemoryOperand> {
        let base = self.pointer(self.tape.ins.len() + slot)?;
        let (item, count) = (self.lanes.bytes(self.node(id).kind()), self.lanes.count);
        if self.turns * count == PARTIALS {
            return Ok(at(base, turn * item * count));
        }
        // The word is the lower half of a register, and the upper one is 0.
        let (within, which) = (PARTIALS as i32 - 1, CONSTS);
        self.put(Instruction::with2(Code::Mov_r32_rm32, WORD, Register::ECX))?;
        self.put(Instruction::with2(Code::And_rm32_imm32, WORD, within))?;
        Ok(MemoryOperand::new(base, which, item as u32, 0, 0, false, Register::None))
    }

    /// A register's elements, each into one of the output's.
    pub(super) fn onto(&mut self, slot: usize, op: Bin, id: Id, now: usize) -> Done {
        let code = forms::bin(op, self.node(id).kind(), self.lanes).ok_or(NoCode)?;
        let (x, size) = (self.vector(id, now)?, self.size(id));
        let own = size.register(self.take(false, now)?);
        let there = self.item(self.tape.ins.len() + slot, self.tape.outs[slot].dtype.size())?;
        let (load, store) = forms::moves(size, self.lanes);
        self.put(Instruction::with2(load, own, there))?;
        self.three(code, own, own, Last::In(x))?;
        self.put(Instruction::with2(store, there, own))
    }

    /// A register's elements into the partial results of this turn.
    pub(super) fn fold(&mut self, slot: usize, op: Bin, id: Id, now: usize) -> Done {
        let code = forms::bin(op, self.node(id).kind(), self.lanes).ok_or(NoCode)?;
        let (x, size) = (self.vector(id, now)?, self.size(id));
        if let Some(first) = self.sums[slot] {
            let own = size.register(first + self.turn as u8);
            return self.three(code, own, own, Last::In(x));
        }
        let own = size.register(self.take(false, now)?);
        let there = self.partial(slot, id, self.turn)?;
        let (load, store) = forms::moves(size, self.lanes);
        self.put(Instruction::with2(load, own, there))?;
        self.three(code, own, own, Last::In(x))?;
        self.put(Instruction::with2(store, there, own))
    }
}

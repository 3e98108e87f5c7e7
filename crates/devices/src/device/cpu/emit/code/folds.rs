//! Folds in an emitted loop.
//!
//! A round takes the elements of one register; a tape that folds has as many rounds one
//! behind the other, *turns*, as its partial results are registers, and each turn has its own, so
//! that a sum never waits for the one before it. After each turn the loop may end: then the
//! elements of the next one are those of the next partials, as `prim::reduce` has it. Where the
//! values of a round leave no room for the partials in registers, they stay in memory.
//!
//! AVX2 has too few registers for all of them. There the loop is taken several times, each for a
//! *share* of the partials and the elements that belong to these, which lie side by side; so every
//! element is read once, and a partial meets its elements in their order. Shares take turns after
//! each stretch of `STRETCH` elements: memory streams on as if these came one after the other (over
//! 8192 elements of two inputs from far a second share added a quarter of the time). Where not even
//! shares leave room there is one turn, which finds its partials in memory by its place.

use super::super::forms;
use super::super::lanes::Size;
use super::super::tape::{Act, Bin, Id, Term};
use super::{CONSTS, Done, HEAD, INDEX, Last, Loop, NoCode, POINTERS, SPARE, TABLE, WORD, at};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// Bytes of a jump.
const JUMP: usize = 6;
/// Elements of which each share takes its own before the next ones come.
const STRETCH: i32 = 256;
/// Turns of a share, the most first.
const SHARES: [usize; 3] = [8, 4, 2];

impl Loop<'_> {
    /// Chooses turns and shares where a machine has not registers for all partials, of which so
    /// many are free.
    pub(super) fn share(&mut self, room: usize) {
        let only = |act: &Act| matches!(act, Act::Make(_) | Act::Suspect(_) | Act::Fold(..));
        let folds = self.tape.acts.iter().filter(|act| matches!(act, Act::Fold(..))).count();
        let pointers = self.tape.ins.len() + self.tape.outs.len();
        let free = pointers <= POINTERS.len() && self.tape.acts.iter().all(only);
        if self.lanes.bits() || folds == 0 || !free {
            return;
        }
        let all = self.results / self.lanes.count;
        if let Some(turns) = SHARES.into_iter().find(|t| *t <= all && t * folds <= room) {
            (self.turns, self.shares) = (turns, all / turns);
        }
    }

    /// The bits of an element's place that say which partial is its.
    fn within(&self) -> i32 {
        self.results as i32 - 1
    }

    /// Turns have partials of their own.
    pub(super) fn partials_fit(&self) -> bool {
        self.turns * self.shares * self.lanes.count == self.results
    }

    /// The loop, or of each stretch of elements once for each share of the partial results.
    pub(super) fn of_shares(&mut self, round: &[u8]) -> Done {
        use Code::*;
        // The first element of a share, and the end of the stretch.
        let (first, end, count) = (CONSTS, SPARE, at(TABLE, 0));
        let shared = self.shares > 1;
        let mut begins = self.bytes;
        if shared {
            let none = Register::None;
            let after = MemoryOperand::new(first, none, 1, STRETCH.into(), 1, false, none);
            self.put(Instruction::with2(Xor_r32_rm32, WORD, WORD))?;
            begins = self.bytes;
            self.put(Instruction::with2(Lea_r64_m, end, after))?;
            self.put(Instruction::with2(Cmp_r64_rm64, end, count))?;
            self.put(Instruction::with2(Cmova_r64_rm64, end, count))?;
        }
        let again = self.bytes;
        self.partials(true)?;
        if shared {
            self.put(Instruction::with2(Mov_r64_rm64, INDEX, first))?;
            self.put(Instruction::with2(Cmp_r64_rm64, INDEX, end))?;
            let behind = self.bytes + JUMP + round.len();
            self.put(Instruction::with_branch(Jae_rel32_64, behind as u64))?;
        }
        for byte in round {
            self.encoder.write_u8(*byte);
        }
        self.bytes += round.len();
        self.partials(false)?;
        if shared {
            let share = (self.turns * self.lanes.count) as i32;
            self.put(Instruction::with2(Add_rm64_imm32, first, share))?;
            self.put(Instruction::with2(Test_rm32_imm32, WORD, self.within()))?;
            self.put(Instruction::with_branch(Jne_rel32_64, again as u64))?;
            self.put(Instruction::with2(Add_rm64_imm32, first, STRETCH - self.results as i32))?;
            self.put(Instruction::with2(Cmp_r64_rm64, first, count))?;
            self.put(Instruction::with_branch(Jb_rel32_64, begins as u64))?;
        }
        Ok(())
    }

    /// The partial results that have registers, to these or back to memory.
    pub(super) fn partials(&mut self, fetch: bool) -> Done {
        let folds = self.tape.acts.iter().filter_map(|act| match *act {
            Act::Fold(slot, _, term) => Some((slot, term.first(), self.sums[slot as usize]?)),
            _ => None,
        });
        let folds: Vec<_> = folds.collect();
        if self.shares > 1 {
            self.put(Instruction::with2(Code::Mov_r32_rm32, Register::ECX, WORD))?;
            self.put(Instruction::with2(Code::And_rm32_imm32, Register::ECX, self.within()))?;
        }
        for (slot, id, first) in folds {
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

    /// The register of an output's count: that of its pointer, which is not needed before the end.
    /// A count in memory would wait, each round, for what the round before it has stored.
    pub(super) fn count(&self, slot: usize) -> Done<Register> {
        POINTERS.get(self.tape.ins.len() + slot).copied().ok_or(NoCode)
    }

    /// The outputs that are counts.
    fn counts(&self) -> impl Iterator<Item = usize> + use<'_> {
        self.tape.acts.iter().filter_map(|act| match *act {
            Act::Count(slot, _) => Some(slot as usize),
            _ => None,
        })
    }

    /// All counts are 0, in their registers.
    pub(super) fn none_counted(&mut self) -> Done {
        for slot in self.counts().collect::<Vec<_>>() {
            let count = self.count(slot)?;
            self.put(Instruction::with2(Code::Xor_r64_rm64, count, count))?;
        }
        Ok(())
    }

    /// The counts, added to the numbers in memory.
    pub(super) fn counted(&mut self) -> Done {
        for slot in self.counts().collect::<Vec<_>>() {
            let (count, there) = (self.count(slot)?, self.tape.ins.len() + slot);
            let from = at(TABLE, (HEAD + there) * 8);
            self.put(Instruction::with2(Code::Mov_r64_rm64, SPARE, from))?;
            self.put(Instruction::with2(Code::Add_rm64_r64, at(SPARE, 0), count))?;
        }
        Ok(())
    }

    /// The memory of a turn's partial results.
    fn partial(&mut self, slot: usize, id: Id, turn: usize) -> Done<MemoryOperand> {
        let base = self.pointer(self.tape.ins.len() + slot)?;
        let (item, count) = (self.lanes.bytes(self.node(id).kind()), self.lanes.count);
        let far = turn * item * count;
        match (self.partials_fit(), self.shares) {
            (true, 1) => return Ok(at(base, far)),
            (true, _) => {
                let (size, none) = (u32::from(far != 0), Register::None);
                let (scale, far) = (item as u32, far as i64);
                return Ok(MemoryOperand::new(base, INDEX, scale, far, size, false, none));
            }
            (false, _) => {}
        }
        // The word is the lower half of a register, and the upper one is 0.
        self.put(Instruction::with2(Code::Mov_r32_rm32, WORD, Register::ECX))?;
        self.put(Instruction::with2(Code::And_rm32_imm32, WORD, self.within()))?;
        Ok(MemoryOperand::new(base, CONSTS, item as u32, 0, 0, false, Register::None))
    }

    /// A register's elements, each into one of the output's.
    pub(super) fn onto(&mut self, slot: usize, op: Bin, term: Term, now: usize) -> Done {
        let taken = self.taken(op, term, now)?;
        let own = taken.size.register(self.take(false, now)?);
        let there = self.item(self.tape.ins.len() + slot, self.tape.outs[slot].dtype.size())?;
        self.taken_in_memory(taken, own, there)
    }

    /// A register's elements into the partial results of this turn.
    pub(super) fn fold(&mut self, slot: usize, op: Bin, term: Term, now: usize) -> Done {
        let taken = self.taken(op, term, now)?;
        if let Some(first) = self.sums[slot] {
            return self.taken_by(taken, taken.size.register(first + self.turn as u8));
        }
        let own = taken.size.register(self.take(false, now)?);
        let there = self.partial(slot, term.first(), self.turn)?;
        self.taken_in_memory(taken, own, there)
    }

    /// The term of a fold in registers.
    fn taken(&mut self, op: Bin, term: Term, now: usize) -> Done<Taken> {
        let (first, size) = (term.first(), self.size(term.first()));
        let (kind, x) = (self.node(first).kind(), self.vector(first, now)?);
        let (code, y) = match term {
            Term::Value(_) => (forms::bin(op, kind, self.lanes).ok_or(NoCode)?, None),
            Term::Product(_, b) => {
                (forms::fma_of_sum(kind, self.lanes), Some(self.vector(b, now)?))
            }
        };
        Ok(Taken { code, size, x, y })
    }

    fn taken_by(&mut self, Taken { code, x, y, .. }: Taken, own: Register) -> Done {
        match y {
            Some(y) => self.three(code, own, x, Last::In(y)),
            None => self.three(code, own, own, Last::In(x)),
        }
    }

    fn taken_in_memory(&mut self, taken: Taken, own: Register, there: MemoryOperand) -> Done {
        let (load, store) = forms::moves(taken.size, self.lanes);
        self.put(Instruction::with2(load, own, there))?;
        self.taken_by(taken, own)?;
        self.put(Instruction::with2(store, there, own))
    }
}

/// The term of a fold in registers: a value, or two factors.
#[derive(Clone, Copy)]
struct Taken {
    code: Code,
    size: Size,
    x: Register,
    y: Option<Register>,
}

//! Sums and differences of whole numbers, which tell where they overflow.

use super::super::forms::{self, Size};
use super::super::tape::{Bin, Id, Kind};
use super::{Done, Last, Loop, NoCode, OVERFLOWN};
use iced_x86::{Code, Instruction, Register};

impl Loop<'_> {
    /// The signs of what overflowed, beside what was suspect.
    pub(super) fn overflown(&mut self) -> Done {
        let (code, size) = match self.lanes.0 {
            8 => (Code::EVEX_Vpmovd2m_kr_ymm, Size::Ymm),
            _ => (Code::EVEX_Vpmovd2m_kr_zmm, Size::Zmm),
        };
        let (mask, word) = (Register::K1, Register::RDX);
        self.put(Instruction::with2(code, mask, size.register(OVERFLOWN)))?;
        self.put(Instruction::with2(Code::VEX_Kmovq_r64_kr, word, mask))?;
        self.put(Instruction::with2(Code::Or_r64_rm64, Register::RAX, word))
    }

    /// A sum or difference, and the sign of what overflowed: that of a sum differs from both
    /// operands', that of a difference from the first's while those differ.
    pub(super) fn checked(&mut self, id: Id, op: Bin, a: Id, b: Id, now: usize) -> Done {
        use Code::*;
        let code = forms::bin(op, Kind::Int, self.lanes).ok_or(NoCode)?;
        let (x, y) = (self.vector(a, now)?, self.vector(b, now)?);
        let size = self.size(id);
        let register = self.take(false, now)?;
        self.own(id, register);
        self.pinned.push(id);
        let to = size.register(register);
        self.three(code, to, x, Last::In(y))?;
        let aside = size.register(self.take(false, now)?);
        let (xor, both, either) = match size {
            Size::Zmm => (
                EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
                EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8,
                EVEX_Vpord_zmm_k1z_zmm_zmmm512b32,
            ),
            _ => (
                EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32,
                EVEX_Vpternlogd_ymm_k1z_ymm_ymmm256b32_imm8,
                EVEX_Vpord_ymm_k1z_ymm_ymmm256b32,
            ),
        };
        let (first, second) = if op == Bin::Add { (to, y) } else { (y, to) };
        self.three(xor, aside, x, Last::In(first))?;
        // The first and (the second differs from the third).
        let other = if op == Bin::Add { second } else { x };
        let third = to;
        self.four(both, aside, other, Last::In(third), 0x60)?;
        let all = size.register(OVERFLOWN);
        self.three(either, all, all, Last::In(aside))
    }
}

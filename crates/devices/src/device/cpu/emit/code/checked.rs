//! Sums and differences of whole numbers, which tell where they overflow.

use super::super::forms;
use super::super::lanes::Size;
use super::super::tape::{Bin, Id, Kind};
use super::{Done, Last, Loop, NoCode};
use iced_x86::Code;

impl Loop<'_> {
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
        let all = size.register(self.fixed.overflown);
        let (first, second) = if op == Bin::Add { (to, y) } else { (y, to) };
        // The first and (the second differs from the third).
        let other = if op == Bin::Add { second } else { x };
        if self.lanes.bits() {
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
            self.three(xor, aside, x, Last::In(first))?;
            self.four(both, aside, other, Last::In(to), 0x60)?;
            return self.three(either, all, all, Last::In(aside));
        }
        let [aside, odd] = self.asides(now)?.map(|k| size.register(k));
        let (xor, both, either) = match size {
            Size::Ymm => {
                (VEX_Vpxor_ymm_ymm_ymmm256, VEX_Vpand_ymm_ymm_ymmm256, VEX_Vpor_ymm_ymm_ymmm256)
            }
            _ => (VEX_Vpxor_xmm_xmm_xmmm128, VEX_Vpand_xmm_xmm_xmmm128, VEX_Vpor_xmm_xmm_xmmm128),
        };
        self.three(xor, aside, x, Last::In(first))?;
        self.three(xor, odd, other, Last::In(to))?;
        self.three(both, aside, aside, Last::In(odd))?;
        self.three(either, all, all, Last::In(aside))
    }
}

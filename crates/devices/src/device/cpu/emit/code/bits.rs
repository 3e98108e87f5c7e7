//! Masks of AVX-512: a bit a lane, in registers of their own.

use super::super::forms;
use super::super::lanes::Size;
use super::super::tape::{Cmp, Expr, Id, Kind};
use super::{ACTIVE, Done, Last, Loop, NoCode, SPARE, SUSPECT};
use aplomb_values::array::DType;
use iced_x86::{Code, Instruction, MemoryOperand, Register};

impl Loop<'_> {
    pub(super) fn mask(&mut self, id: Id, now: usize) -> Done<Register> {
        Ok(Register::K0 + u32::from(self.need(id, now)?))
    }

    /// A mask, or what one chooses.
    pub(super) fn by_bits(&mut self, id: Id, node: Expr, now: usize) -> Done {
        use Code::*;
        let lanes = self.lanes;
        match node {
            Expr::Cmp(cmp, kind, a, b) => {
                let (x, y) = (self.vector(a, now)?, self.last(b, now)?);
                let to = self.result(id, now)?;
                let which = match cmp {
                    Cmp::Eq => 0,
                    // Of floats without a flag for NaN.
                    Cmp::Lt if kind != Kind::Int => 0x11,
                    Cmp::Le if kind != Kind::Int => 0x12,
                    Cmp::Lt => 1,
                    Cmp::Le => 2,
                };
                self.four(forms::compare(kind, lanes), to, x, y, which)
            }
            Expr::BitSet(a, b) => {
                let (x, y) = (self.vector(a, now)?, self.last(b, now)?);
                let to = self.result(id, now)?;
                let code = forms::bits_tested(self.node(a).kind(), lanes);
                self.three(code, to, x, y)
            }
            Expr::NotFinite(kind, a) => {
                let x = self.vector(a, now)?;
                let to = self.result(id, now)?;
                let code = forms::class(kind, lanes);
                self.put(Instruction::with3(code, to, x, forms::NOT_FINITE))
            }
            Expr::Both(a, b) => {
                let all = [
                    VEX_Kandb_kr_kr_kr,
                    VEX_Kandw_kr_kr_kr,
                    VEX_Kandd_kr_kr_kr,
                    VEX_Kandq_kr_kr_kr,
                ];
                self.of_masks(id, lanes.of_mask(all), a, b, now)
            }
            Expr::Either(a, b) => {
                let all =
                    [VEX_Korb_kr_kr_kr, VEX_Korw_kr_kr_kr, VEX_Kord_kr_kr_kr, VEX_Korq_kr_kr_kr];
                self.of_masks(id, lanes.of_mask(all), a, b, now)
            }
            Expr::Differ(a, b) => {
                let all = [
                    VEX_Kxorb_kr_kr_kr,
                    VEX_Kxorw_kr_kr_kr,
                    VEX_Kxord_kr_kr_kr,
                    VEX_Kxorq_kr_kr_kr,
                ];
                self.of_masks(id, lanes.of_mask(all), a, b, now)
            }
            Expr::Not(a) => {
                let x = self.mask(a, now)?;
                let to = self.result(id, now)?;
                let all = [VEX_Knotb_kr_kr, VEX_Knotw_kr_kr, VEX_Knotd_kr_kr, VEX_Knotq_kr_kr];
                self.put(Instruction::with2(lanes.of_mask(all), to, x))
            }
            Expr::Blend(kind, mask, yes, no) => {
                let k = self.mask(mask, now)?;
                let (no, yes) = (self.vector(no, now)?, self.last(yes, now)?);
                let to = self.result(id, now)?;
                let code = forms::blend(kind, lanes);
                let mut instruction = match yes {
                    Last::In(yes) => Instruction::with3(code, to, no, yes),
                    Last::At(yes) => Instruction::with3(code, to, no, yes),
                }?;
                instruction.set_op_mask(k);
                self.emit(instruction)
            }
            _ => Err(NoCode),
        }
    }

    fn of_masks(&mut self, id: Id, code: Code, a: Id, b: Id, now: usize) -> Done {
        let (x, y) = (self.mask(a, now)?, self.mask(b, now)?);
        let to = self.result(id, now)?;
        self.put(Instruction::with3(code, to, x, y))
    }

    /// All lanes, or none.
    pub(super) fn known_bits(&mut self, id: Id, register: u8) -> Done {
        use Code::*;
        let k = Register::K0 + u32::from(register);
        let all =
            [VEX_Kxnorb_kr_kr_kr, VEX_Kxnorw_kr_kr_kr, VEX_Kxnord_kr_kr_kr, VEX_Kxnorq_kr_kr_kr];
        let code = match self.node(id) {
            Expr::Never => VEX_Kxorq_kr_kr_kr,
            _ => self.lanes.of_mask(all),
        };
        self.put(Instruction::with3(code, k, k, k))
    }

    /// Nothing is suspect yet.
    pub(super) fn clear_bits(&mut self) -> Done {
        let suspect = Register::K0 + u32::from(SUSPECT);
        self.put(Instruction::with3(Code::VEX_Kxorq_kr_kr_kr, suspect, suspect, suspect))?;
        if self.checks {
            let all = Size::Zmm.register(self.fixed.overflown);
            self.three(Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32, all, all, Last::In(all))?;
        }
        Ok(())
    }

    pub(super) fn suspect_bits(&mut self, id: Id, now: usize) -> Done {
        let mask = self.mask(id, now)?;
        let mask = self.among_active(mask, now)?;
        let all = Register::K0 + u32::from(SUSPECT);
        self.put(Instruction::with3(Code::VEX_Korq_kr_kr_kr, all, all, mask))
    }

    /// The lanes that were suspect, a bit each; beside them the signs of what overflowed.
    pub(super) fn suspected_bits(&mut self) -> Done {
        let suspect = Register::K0 + u32::from(SUSPECT);
        self.put(Instruction::with2(Code::VEX_Kmovq_r64_kr, Register::RAX, suspect))?;
        if !self.checks {
            return Ok(());
        }
        let (code, size) = match self.lanes.count {
            8 => (Code::EVEX_Vpmovd2m_kr_ymm, Size::Ymm),
            _ => (Code::EVEX_Vpmovd2m_kr_zmm, Size::Zmm),
        };
        let (mask, word) = (Register::K1, Register::RDX);
        self.put(Instruction::with2(code, mask, size.register(self.fixed.overflown)))?;
        self.put(Instruction::with2(Code::VEX_Kmovq_r64_kr, word, mask))?;
        self.put(Instruction::with2(Code::Or_r64_rm64, Register::RAX, word))
    }

    /// A mask of bytes that are a truth each.
    pub(super) fn load_bits(&mut self, from: MemoryOperand, register: u8, now: usize) -> Done {
        let forms = forms::bytes(self.lanes);
        let size = Size::of(self.lanes.count);
        let aside = size.register(self.take(false, now)?);
        self.put(Instruction::with2(forms.load, aside, from))?;
        let to = Register::K0 + u32::from(register);
        self.three(forms.test, to, aside, Last::In(aside))
    }

    pub(super) fn store_bits(&mut self, slot: usize, id: Id, now: usize) -> Done {
        use Code::*;
        let out = self.tape.outs[slot];
        let bytes = out.dtype.size();
        let kind = self.node(id).kind();
        let whole = out.stream && bytes * self.lanes.count == 64;
        let (code, from) = if kind == Kind::Mask {
            let forms = forms::bytes(self.lanes);
            let k = self.mask(id, now)?;
            let aside = Size::of(self.lanes.count).register(self.take(false, now)?);
            self.put(Instruction::with2(forms.make, aside, k))?;
            self.put(Instruction::with2(forms.one, aside, aside))?;
            (if whole { EVEX_Vmovntdq_m512_zmm } else { forms.store }, aside)
        } else {
            let from = self.vector(id, now)?;
            let plain = match out.dtype {
                DType::F32 | DType::F64 => forms::moves(self.size(id), self.lanes).1,
                _ => forms::store_whole(bytes, self.lanes).ok_or(NoCode)?,
            };
            (if whole { EVEX_Vmovntdq_m512_zmm } else { plain }, from)
        };
        let to = self.item(self.tape.ins.len() + slot, bytes)?;
        self.put(Instruction::with2(code, to, from))
    }

    /// The lanes in which a mask holds, added to the output's count.
    pub(super) fn count_bits(&mut self, slot: usize, id: Id, now: usize) -> Done {
        use Code::*;
        let count = self.count(slot)?;
        let mask = self.mask(id, now)?;
        let (code, word) = match self.lanes.count {
            8 => (VEX_Kmovb_r32_kr, Register::EAX),
            16 => (VEX_Kmovw_r32_kr, Register::EAX),
            32 => (VEX_Kmovd_r32_kr, Register::EAX),
            _ => (VEX_Kmovq_r64_kr, SPARE),
        };
        self.put(Instruction::with2(code, word, mask))?;
        self.put(Instruction::with2(Popcnt_r64_rm64, SPARE, SPARE))?;
        self.put(Instruction::with2(Add_rm64_r64, count, SPARE))
    }

    /// A mask's lanes that are active.
    fn among_active(&mut self, mask: Register, now: usize) -> Done<Register> {
        if self.tape.turns.until.is_none() {
            return Ok(mask);
        }
        let aside = Register::K0 + u32::from(self.take(true, now)?);
        let active = Register::K0 + u32::from(ACTIVE);
        self.put(Instruction::with3(Code::VEX_Kandq_kr_kr_kr, aside, mask, active))?;
        Ok(aside)
    }

    /// All lanes are active.
    pub(super) fn all_active_bits(&mut self) -> Done {
        let active = Register::K0 + u32::from(ACTIVE);
        self.put(Instruction::with3(Code::VEX_Kxnorb_kr_kr_kr, active, active, active))
    }

    /// 1 in the lanes whose end has come, into a register.
    pub(super) fn done_bits(&mut self, done: Register, one: MemoryOperand) -> Done {
        let (mask, active) = (Register::K1, Register::K0 + u32::from(ACTIVE));
        self.put(Instruction::with2(Code::VEX_Knotb_kr_kr, mask, active))?;
        let code = forms::broadcast(Size::Zmm, self.lanes);
        let mut instruction = Instruction::with2(code, done, one)?;
        instruction.set_op_mask(mask);
        instruction.set_zeroing_masking(true);
        self.emit(instruction)
    }

    /// A state's next value, in the active lanes if some are not.
    pub(super) fn next_bits(&mut self, own: Register, from: Register) -> Done {
        // A mask of the lanes of f64.
        let code = Code::EVEX_Vmovapd_zmm_k1z_zmmm512;
        let mut instruction = Instruction::with2(code, own, from)?;
        if self.tape.turns.until.is_some() {
            instruction.set_op_mask(Register::K0 + u32::from(ACTIVE));
        }
        self.emit(instruction)
    }

    /// The lanes whose end comes now are no longer active.
    pub(super) fn end_bits(&mut self, until: Register) -> Done {
        let active = Register::K0 + u32::from(ACTIVE);
        self.put(Instruction::with3(Code::VEX_Kandnb_kr_kr_kr, active, until, active))
    }

    /// Tells whether some lane is active.
    pub(super) fn some_active_bits(&mut self) -> Done {
        let active = Register::K0 + u32::from(ACTIVE);
        self.put(Instruction::with2(Code::VEX_Kortestb_kr_kr, active, active))
    }
}

//! Masks of AVX2: as wide as a tape's widest lanes, all bits on or off.
//!
//! A comparison of lanes that are half as wide (whole numbers and f32 beside f64) is widened to
//! such a mask, and what chooses among such lanes is halved.

use super::super::forms;
use super::super::lanes::Size;
use super::super::tape::{Act, Bin, Cmp, Expr, Id, Kind, Out};
use super::{CONSTS, Done, Home, Last, Loop, NoCode, SPARE, WORD};
use aplomb_values::array::DType;
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// A register of the same number in another size.
fn sized(register: Register, size: Size) -> Register {
    let first = if register >= Register::YMM0 { Register::YMM0 } else { Register::XMM0 };
    size.register((register as usize - first as usize) as u8)
}

/// For each byte of a result the byte of sixteen that it is, of items of so many bytes cut off to
/// so many; `None`: they are as they are.
fn cut(from: usize, to: usize) -> Option<u64> {
    match (from, to) {
        (2, 1) => Some(0x0e0c_0a08_0604_0200),
        (4, 2) => Some(0x0d0c_0908_0504_0100),
        (4, 1) => Some(0x0c08_0400_0c08_0400),
        _ => None,
    }
}

impl Loop<'_> {
    /// Registers for what a step needs on its way, free again at its end. Operands come first.
    pub(super) fn asides<const N: usize>(&mut self, now: usize) -> Done<[u8; N]> {
        let before = self.held;
        let mut all = [0; N];
        for one in &mut all {
            *one = self.take(false, now)?;
            self.held |= 1 << *one;
        }
        self.held = before;
        Ok(all)
    }

    fn full_aside(&mut self, now: usize) -> Done<Register> {
        let [aside] = self.asides(now)?;
        Ok(Size::Ymm.register(aside))
    }

    /// The data on the stack that stores of the tape need.
    pub(super) fn places(&self) -> Vec<Home> {
        let mut all = Vec::new();
        for act in &self.tape.acts {
            if let Act::Store(slot, id) = act
                && let Some(places) = self.cut_of(self.tape.outs[*slot as usize], *id)
                && !all.contains(&Home::Places(places))
            {
                all.push(Home::Places(places));
            }
        }
        all
    }

    fn cut_of(&self, out: Out, id: Id) -> Option<u64> {
        match self.node(id).kind() {
            Kind::Int => cut(self.lanes.width(), out.dtype.size()),
            _ => None,
        }
    }

    /// Data in all of a register, and then on the stack.
    pub(super) fn home(&mut self, k: usize) -> Done {
        let home = self.homes[k];
        let register = self.spare()?;
        let full = Size::Ymm.register(register);
        match home {
            Home::Const(id) => self.broadcast(id, register)?,
            Home::Places(places) => {
                let half = Size::Xmm.register(register);
                self.put(Instruction::with2(Code::Mov_r64_imm64, SPARE, places))?;
                self.put(Instruction::with2(Code::VEX_Vmovq_xmm_rm64, half, SPARE))?;
                self.put(Instruction::with2(Code::VEX_Vpbroadcastq_ymm_xmmm64, full, half))?;
            }
        }
        let to = self.at_home(home).ok_or(NoCode)?;
        self.put(Instruction::with2(Code::VEX_Vmovups_ymmm256_ymm, to, full))
    }

    /// A mask in half as wide lanes becomes one.
    fn widened(&mut self, mask: Register, kind: Kind) -> Done {
        if self.lanes.count != 4 || kind == Kind::F64 {
            return Ok(());
        }
        let (full, half) = (sized(mask, Size::Ymm), sized(mask, Size::Xmm));
        self.put(Instruction::with2(Code::VEX_Vpmovsxdq_ymm_xmmm128, full, half))
    }

    /// The upper half of a register into another.
    fn upper(&mut self, of: Register, to: Register) -> Done {
        self.put(Instruction::with3(Code::VEX_Vextractf128_xmmm128_ymm_imm8, to, of, 1))
    }

    /// A mask for lanes that are half as wide.
    fn halved(&mut self, mask: Register, to: Register) -> Done {
        let (half, to) = (sized(mask, Size::Xmm), sized(to, Size::Xmm));
        self.upper(mask, to)?;
        self.four(Code::VEX_Vshufps_xmm_xmm_xmmm128_imm8, to, half, Last::In(to), 0x88)
    }

    fn zero(&mut self, register: Register) -> Done {
        let full = sized(register, Size::Ymm);
        self.three(Code::VEX_Vpxor_ymm_ymm_ymmm256, full, full, Last::In(full))
    }

    fn ones(&mut self, register: Register) -> Done {
        let full = sized(register, Size::Ymm);
        self.three(Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, full, full, Last::In(full))
    }

    /// A mask, or what one chooses.
    pub(super) fn by_wide(&mut self, id: Id, node: Expr, now: usize) -> Done {
        use Code::*;
        let lanes = self.lanes;
        match node {
            Expr::Cmp(cmp, kind, a, b) if kind != Kind::Int => {
                let (x, y) = (self.vector(a, now)?, self.last(b, now)?);
                let to = sized(self.result(id, now)?, lanes.size(kind));
                let which = match cmp {
                    Cmp::Eq => 0,
                    // Without a flag for NaN.
                    Cmp::Lt => 0x11,
                    Cmp::Le => 0x12,
                };
                self.four(forms::compare(kind, lanes), to, x, y, which)?;
                self.widened(to, kind)
            }
            Expr::Cmp(Cmp::Eq, kind, a, b) => {
                let (x, y) = (self.vector(a, now)?, self.last(b, now)?);
                let to = sized(self.result(id, now)?, lanes.size(kind));
                self.three(forms::equal(kind, lanes), to, x, y)?;
                self.widened(to, kind)
            }
            Expr::Cmp(Cmp::Lt, kind, a, b) => {
                let (y, x) = (self.vector(b, now)?, self.last(a, now)?);
                let to = sized(self.result(id, now)?, lanes.size(kind));
                self.three(forms::greater(lanes), to, y, x)?;
                self.widened(to, kind)
            }
            // The least of both is the first.
            Expr::Cmp(Cmp::Le, kind, a, b) => {
                let least = forms::bin(Bin::Min, kind, lanes).ok_or(NoCode)?;
                let (x, y) = (self.vector(a, now)?, self.last(b, now)?);
                let to = sized(self.fresh(id, now)?, lanes.size(kind));
                self.three(least, to, x, y)?;
                self.three(forms::equal(kind, lanes), to, to, Last::In(x))?;
                self.widened(to, kind)
            }
            Expr::BitSet(a, b) => {
                let kind = self.node(a).kind();
                let both = forms::bin(Bin::And, kind, lanes).ok_or(NoCode)?;
                let (x, y) = (self.vector(a, now)?, self.last(b, now)?);
                let to = sized(self.fresh(id, now)?, lanes.size(kind));
                let aside = self.full_aside(now)?;
                self.three(both, to, x, y)?;
                self.zero(aside)?;
                let other = sized(aside, lanes.size(kind));
                self.three(forms::equal(kind, lanes), to, to, Last::In(other))?;
                self.widened(to, kind)?;
                self.ones(aside)?;
                let to = sized(to, Size::Ymm);
                self.three(VEX_Vpxor_ymm_ymm_ymmm256, to, to, Last::In(aside))
            }
            // ∞ and NaN less themselves are NaN.
            Expr::NotFinite(kind, a) => {
                let less = forms::bin(Bin::Sub, kind, lanes).ok_or(NoCode)?;
                let x = self.vector(a, now)?;
                let to = sized(self.result(id, now)?, lanes.size(kind));
                self.three(less, to, x, Last::In(x))?;
                self.four(forms::compare(kind, lanes), to, to, Last::In(to), 3)?;
                self.widened(to, kind)
            }
            Expr::Both(a, b) => self.of_two(id, VEX_Vandps_ymm_ymm_ymmm256, a, b, now),
            Expr::Either(a, b) => self.of_two(id, VEX_Vorps_ymm_ymm_ymmm256, a, b, now),
            Expr::Differ(a, b) => self.of_two(id, VEX_Vxorps_ymm_ymm_ymmm256, a, b, now),
            Expr::Not(a) => {
                let x = self.last(a, now)?;
                let to = self.fresh(id, now)?;
                self.ones(to)?;
                self.three(VEX_Vpxor_ymm_ymm_ymmm256, to, to, x)
            }
            Expr::Blend(kind, mask, yes, no) => {
                let mut mask = self.vector(mask, now)?;
                let (no, yes) = (self.vector(no, now)?, self.last(yes, now)?);
                let to = match lanes.count == 4 && kind != Kind::F64 {
                    true => {
                        let to = self.fresh(id, now)?;
                        let aside = self.full_aside(now)?;
                        self.halved(mask, aside)?;
                        mask = sized(aside, Size::Xmm);
                        to
                    }
                    false => self.result(id, now)?,
                };
                let code = forms::blend(kind, lanes);
                self.put(match yes {
                    Last::In(yes) => Instruction::with4(code, to, no, yes, mask),
                    Last::At(yes) => Instruction::with4(code, to, no, yes, mask),
                })
            }
            _ => Err(NoCode),
        }
    }

    fn of_two(&mut self, id: Id, code: Code, a: Id, b: Id, now: usize) -> Done {
        let (x, y) = (self.vector(a, now)?, self.last(b, now)?);
        let to = self.result(id, now)?;
        self.three(code, to, x, y)
    }

    /// All lanes, or none.
    pub(super) fn known_wide(&mut self, id: Id, register: u8) -> Done {
        let to = Size::Ymm.register(register);
        match self.node(id) {
            Expr::Never => self.zero(to),
            _ => self.ones(to),
        }
    }

    /// Nothing is suspect yet.
    pub(super) fn clear_wide(&mut self) -> Done {
        if self.suspects {
            self.zero(Size::Ymm.register(self.fixed.suspect))?;
        }
        if self.checks {
            self.zero(Size::Ymm.register(self.fixed.overflown))?;
        }
        Ok(())
    }

    pub(super) fn suspect_wide(&mut self, id: Id, now: usize) -> Done {
        use Code::*;
        let all = Size::Ymm.register(self.fixed.suspect);
        if self.tape.turns.until.is_none() {
            let mask = self.last(id, now)?;
            return self.three(VEX_Vorps_ymm_ymm_ymmm256, all, all, mask);
        }
        let mask = self.last(id, now)?;
        let (aside, active) = (self.full_aside(now)?, Size::Ymm.register(self.fixed.active));
        self.three(VEX_Vandps_ymm_ymm_ymmm256, aside, active, mask)?;
        self.three(VEX_Vorps_ymm_ymm_ymmm256, all, all, Last::In(aside))
    }

    /// The lanes in which a mask holds as the lowest bits of a word; of i16 two bits a lane.
    fn signs(&mut self, mask: Register, word: Register) -> Done {
        use Code::*;
        let code = match self.lanes.count {
            4 => VEX_Vmovmskpd_r32_ymm,
            8 => VEX_Vmovmskps_r32_ymm,
            _ => VEX_Vpmovmskb_r32_ymm,
        };
        self.put(Instruction::with2(code, word, mask))
    }

    /// A mask of i16 as bytes, in half of another register.
    fn halved_words(&mut self, mask: Register, to: Register) -> Done {
        let (half, to) = (sized(mask, Size::Xmm), sized(to, Size::Xmm));
        self.upper(mask, to)?;
        self.three(Code::VEX_Vpacksswb_xmm_xmm_xmmm128, to, half, Last::In(to))
    }

    /// The lanes that were suspect, a bit each; beside them the signs of what overflowed.
    pub(super) fn suspected_wide(&mut self) -> Done {
        use Code::*;
        let suspect = Size::Ymm.register(self.fixed.suspect);
        match (self.suspects, self.lanes.count) {
            (false, _) => {
                self.put(Instruction::with2(Xor_r32_rm32, Register::EAX, Register::EAX))?;
            }
            (true, 16) => {
                let half = Size::Xmm.register(self.spare()?);
                self.halved_words(suspect, half)?;
                self.put(Instruction::with2(VEX_Vpmovmskb_r32_xmm, Register::EAX, half))?;
            }
            (true, _) => self.signs(suspect, Register::EAX)?,
        }
        if !self.checks {
            return Ok(());
        }
        let (code, size) = match self.lanes.count {
            4 => (VEX_Vmovmskps_r32_xmm, Size::Xmm),
            _ => (VEX_Vmovmskps_r32_ymm, Size::Ymm),
        };
        let word = Register::EDX;
        self.put(Instruction::with2(code, word, size.register(self.fixed.overflown)))?;
        self.put(Instruction::with2(Or_r32_rm32, Register::EAX, word))
    }

    /// A mask of bytes that are a truth each.
    pub(super) fn load_wide(&mut self, from: MemoryOperand, register: u8, now: usize) -> Done {
        let (load, greater) = forms::truths(self.lanes);
        let to = Size::Ymm.register(register);
        let zero = self.full_aside(now)?;
        self.put(Instruction::with2(load, to, from))?;
        self.zero(zero)?;
        self.three(greater, to, to, Last::In(zero))
    }

    pub(super) fn store_wide(&mut self, slot: usize, id: Id, now: usize) -> Done {
        use Code::*;
        let (out, kind, count) = (self.tape.outs[slot], self.node(id).kind(), self.lanes.count);
        let from = self.vector(id, now)?;
        let bytes = out.dtype.size();
        if kind == Kind::Mask && count == 4 {
            // Four bits that are spread over as many bytes: bit i by 7×i, and nothing meets.
            self.signs(from, WORD)?;
            self.put(Instruction::with3(Imul_r32_rm32_imm32, WORD, WORD, 0x0020_4081))?;
            self.put(Instruction::with2(And_rm32_imm32, WORD, 0x0101_0101))?;
            let to = self.item(self.tape.ins.len() + slot, bytes)?;
            return self.put(Instruction::with2(Mov_rm32_r32, to, WORD));
        }
        let (code, from) = match (kind, self.cut_of(out, id)) {
            (Kind::Mask, _) => {
                let aside = self.full_aside(now)?;
                self.truths(from, aside)?
            }
            (Kind::Int, Some(places)) => {
                let asides = self.asides(now)?.map(|k| Size::Ymm.register(k));
                self.cut_off(from, places, asides)?
            }
            _ => {
                let size = self.size(id);
                let plain = forms::moves(size, self.lanes).1;
                let whole = out.stream && bytes * count == 32;
                // Another type than the value's is no such loop.
                let fits = match kind {
                    Kind::Int => bytes == self.lanes.width() && out.dtype != DType::F32,
                    _ => bytes == self.lanes.bytes(kind),
                };
                if !fits {
                    return Err(NoCode);
                }
                (if whole { VEX_Vmovntdq_m256_ymm } else { plain }, from)
            }
        };
        let to = self.item(self.tape.ins.len() + slot, bytes)?;
        self.put(Instruction::with2(code, to, from))
    }

    /// A mask as bytes of 0 and 1, and the instruction that stores them.
    fn truths(&mut self, mask: Register, to: Register) -> Done<(Code, Register)> {
        use Code::*;
        let half = sized(to, Size::Xmm);
        match self.lanes.count {
            32 => {
                self.put(Instruction::with2(VEX_Vpabsb_ymm_ymmm256, to, mask))?;
                return Ok((VEX_Vmovups_ymmm256_ymm, to));
            }
            16 => self.halved_words(mask, to)?,
            _ => {
                let low = sized(mask, Size::Xmm);
                self.upper(mask, half)?;
                self.three(VEX_Vpackssdw_xmm_xmm_xmmm128, half, low, Last::In(half))?;
                self.three(VEX_Vpacksswb_xmm_xmm_xmmm128, half, half, Last::In(half))?;
            }
        }
        self.put(Instruction::with2(VEX_Vpabsb_xmm_xmmm128, half, half))?;
        Ok(match self.lanes.count {
            16 => (VEX_Vmovups_xmmm128_xmm, half),
            _ => (VEX_Vmovq_xmmm64_xmm, half),
        })
    }

    /// Whole numbers cut off, and the instruction that stores them.
    fn cut_off(
        &mut self,
        from: Register,
        places: u64,
        [aside, other]: [Register; 2],
    ) -> Done<(Code, Register)> {
        use Code::*;
        let there = self.at_home(Home::Places(places)).ok_or(NoCode)?;
        let (half, high) = (sized(aside, Size::Xmm), sized(other, Size::Xmm));
        let to_bytes = cut(4, 1) == Some(places);
        if self.lanes.count == 4 {
            self.three(VEX_Vpshufb_xmm_xmm_xmmm128, half, from, Last::At(there))?;
            return Ok((if to_bytes { VEX_Vmovd_rm32_xmm } else { VEX_Vmovq_xmmm64_xmm }, half));
        }
        self.three(VEX_Vpshufb_ymm_ymm_ymmm256, aside, from, Last::At(there))?;
        if to_bytes {
            self.upper(aside, high)?;
            self.three(VEX_Vpunpckldq_xmm_xmm_xmmm128, half, half, Last::In(high))?;
            return Ok((VEX_Vmovq_xmmm64_xmm, half));
        }
        self.put(Instruction::with3(VEX_Vpermq_ymm_ymmm256_imm8, aside, aside, 0x08))?;
        Ok((VEX_Vmovups_xmmm128_xmm, half))
    }

    /// The lanes in which a mask holds, added to the output's count.
    pub(super) fn count_wide(&mut self, slot: usize, id: Id, now: usize) -> Done {
        use Code::*;
        let count = self.count(slot)?;
        let mask = self.vector(id, now)?;
        self.signs(mask, WORD)?;
        self.put(Instruction::with2(Popcnt_r32_rm32, WORD, WORD))?;
        if self.lanes.count == 16 {
            self.put(Instruction::with2(Shr_rm32_imm8, WORD, 1))?;
        }
        self.put(Instruction::with2(Add_rm64_r64, count, CONSTS))
    }

    /// All lanes are active.
    pub(super) fn all_active_wide(&mut self) -> Done {
        self.ones(Size::Ymm.register(self.fixed.active))
    }

    /// 1 in the lanes whose end has come, into a register.
    pub(super) fn done_wide(&mut self, done: Register, one: MemoryOperand) -> Done {
        let active = Size::Ymm.register(self.fixed.active);
        self.put(Instruction::with2(Code::VEX_Vpbroadcastq_ymm_xmmm64, done, one))?;
        self.three(Code::VEX_Vandnpd_ymm_ymm_ymmm256, done, active, Last::In(done))
    }

    /// A state's next value, in the active lanes if some are not.
    pub(super) fn next_wide(&mut self, own: Register, from: Register) -> Done {
        use Code::*;
        let active = Size::Ymm.register(self.fixed.active);
        self.put(match self.tape.turns.until {
            None => Instruction::with2(VEX_Vmovups_ymm_ymmm256, own, from),
            Some(_) => {
                Instruction::with4(VEX_Vblendvpd_ymm_ymm_ymmm256_ymm, own, own, from, active)
            }
        })
    }

    /// The lanes whose end comes now are no longer active.
    pub(super) fn end_wide(&mut self, until: Register) -> Done {
        let active = Size::Ymm.register(self.fixed.active);
        self.three(Code::VEX_Vandnpd_ymm_ymm_ymmm256, active, until, Last::In(active))
    }

    /// Tells whether some lane is active.
    pub(super) fn some_active_wide(&mut self) -> Done {
        let active = Size::Ymm.register(self.fixed.active);
        self.put(Instruction::with2(Code::VEX_Vptest_ymm_ymmm256, active, active))
    }
}

//! Numbers that four turns fold: each lane in its turn, but where no order changes the result.

use super::super::maker::*;
use super::{Lanes, Slot, at, full, lane};
use aplomb_values::prim::op::Op;
use aplomb_values::registers::Arg;
use iced_x86::code_asm::*;

/// The value that a fold has come to.
const SO_FAR: AsmRegisterXmm = xmm14;

impl Maker<'_> {
    /// `slot ← slot op y` for the lanes under way, one after the other.
    pub(super) fn fold(
        &mut self,
        lanes: &mut Lanes,
        (op, name): (Op, u16),
        y: Arg,
        into: u16,
        (again, running): (bool, bool),
    ) -> Done {
        let before = lanes.folded.iter().find(|(own, _)| *own == name).map(|(_, slot)| *slot);
        self.lanes_in(lanes, y, ymm0)?;
        match before {
            Some(slot) => self.a.vmovsd(SO_FAR, at(slot))?,
            None => {
                let own = self.read(Arg::Fixed(name), X)?;
                self.a.vmovapd(SO_FAR, own)?;
            }
        }
        if let Some(now) = lanes.now {
            // Lanes that are not under way bring what changes nothing.
            match op {
                Op::Max | Op::Min => self.a.vbroadcastsd(ymm1, SO_FAR)?,
                _ => {
                    let unit = match op {
                        Op::Add => self.number(Number::MinusZero),
                        Op::Sub => self.number(Number::Zero),
                        _ => self.number(Number::One),
                    };
                    self.a.vbroadcastsd(ymm1, unit)?;
                }
            }
            self.a.vmovupd(ymm2, full(now))?;
            self.a.vblendvpd(ymm0, ymm1, ymm0, ymm2)?;
        }
        let values = lanes.slot();
        match op {
            Op::Max | Op::Min => self.greatest(lanes, op == Op::Max, running, values)?,
            _ => {
                let alone = running || lanes.is_float(y) && !again;
                self.summed(lanes, op, (again, alone, running), values)?;
            }
        }
        // The last is in T0.
        self.a.vsubsd(T1, T0, T0)?;
        self.a.vucomisd(T1, T1)?;
        self.a.jp(lanes.bail)?;
        let last = lanes.slot();
        self.a.vmovsd(at(last), T0)?;
        lanes.folded.retain(|(own, _)| *own != name);
        lanes.folded.push((name, last));
        if running {
            for arg in [Arg::Fixed(name), Arg::Register(into)] {
                lanes.values.retain(|(own, _)| *own != arg);
                lanes.values.push((arg, values));
            }
        }
        Ok(())
    }

    /// T0 ← the greatest, or least, of `SO_FAR` and the lanes of ymm0; `running`: each on the way,
    /// too.
    pub(super) fn greatest(
        &mut self,
        lanes: &Lanes,
        max: bool,
        running: bool,
        values: Slot,
    ) -> Done {
        // A zero with a sign, or what is no number, is compared one by one.
        let minus = self.number(Number::MinusZero);
        self.a.vbroadcastsd(ymm1, SO_FAR)?;
        self.a.vbroadcastsd(ymm3, minus)?;
        self.a.vpcmpeqq(ymm2, ymm0, ymm3)?;
        self.a.vpcmpeqq(ymm3, ymm1, ymm3)?;
        self.a.vorpd(ymm2, ymm2, ymm3)?;
        self.a.vcmppd(ymm3, ymm0, ymm1, 3)?;
        self.a.vorpd(ymm2, ymm2, ymm3)?;
        self.a.vmovmskpd(eax, ymm2)?;
        self.a.test(eax, eax)?;
        self.a.jnz(lanes.bail)?;
        let fold = |maker: &mut Self, y: AsmRegisterXmm| match max {
            true => maker.a.vmaxsd(SO_FAR, SO_FAR, y),
            false => maker.a.vminsd(SO_FAR, SO_FAR, y),
        };
        self.a.vextractf128(T1, ymm0, 1)?;
        if running {
            for (k, from) in [(0, T0), (2, T1)] {
                fold(self, from)?;
                self.a.vmovsd(lane(values, k), SO_FAR)?;
                self.a.vunpckhpd(T2, from, from)?;
                fold(self, T2)?;
                self.a.vmovsd(lane(values, k + 1), SO_FAR)?;
            }
        } else {
            match max {
                true => self.a.vmaxpd(T0, T0, T1)?,
                false => self.a.vminpd(T0, T0, T1)?,
            }
            self.a.vunpckhpd(T1, T0, T0)?;
            fold(self, T0)?;
            fold(self, T1)?;
        }
        self.a.vmovapd(T0, SO_FAR)
    }

    /// T0 ← `SO_FAR` and the lanes of ymm0 added up, taken off or multiplied, one after the other.
    /// `again`: whole numbers alone; `alone`: in no other order; `running`: each value on the way,
    /// too.
    pub(super) fn summed(
        &mut self,
        lanes: &Lanes,
        op: Op,
        (again, alone, running): (bool, bool, bool),
        values: Slot,
    ) -> Done {
        let (mut each, mut done) = (self.a.create_label(), self.a.create_label());
        if op == Op::Add && !alone {
            // Small whole numbers have one sum, whatever the order is.
            let (size, whole) = (self.number(Number::Size), self.number(Number::Whole));
            self.a.vbroadcastsd(ymm1, size)?;
            self.a.vbroadcastsd(ymm2, whole)?;
            self.a.vandpd(ymm3, ymm0, ymm1)?;
            self.a.vcmppd(ymm3, ymm3, ymm2, 17)?;
            self.a.vroundpd(ymm4, ymm0, 3)?;
            self.a.vcmppd(ymm4, ymm4, ymm0, 0)?;
            self.a.vandpd(ymm3, ymm3, ymm4)?;
            // And so is what they are added to: Y is free, T1 and T2 are not.
            self.a.vroundsd(Y, SO_FAR, SO_FAR, 3)?;
            self.a.vmovmskpd(eax, ymm3)?;
            self.a.vucomisd(Y, SO_FAR)?;
            self.a.jne(each)?;
            self.a.jp(each)?;
            self.a.vandpd(Y, SO_FAR, T1)?;
            self.a.vucomisd(Y, T2)?;
            self.a.jae(each)?;
            self.a.cmp(eax, 15)?;
            self.a.jne(each)?;
            self.a.vextractf128(T1, ymm0, 1)?;
            self.a.vaddpd(T0, T0, T1)?;
            self.a.vunpckhpd(T1, T0, T0)?;
            self.a.vaddsd(T0, T0, T1)?;
            self.a.vaddsd(T0, SO_FAR, T0)?;
            self.a.jmp(done)?;
            self.a.set_label(&mut each)?;
            self.a.zero_bytes()?;
            if again {
                self.a.jmp(lanes.bail)?;
            }
        }
        self.a.vextractf128(T1, ymm0, 1)?;
        for (k, from) in [(0, T0), (2, T1)] {
            for high in [false, true] {
                let y = match high {
                    false => from,
                    true => {
                        self.a.vunpckhpd(T2, from, from)?;
                        T2
                    }
                };
                match op {
                    Op::Add => self.a.vaddsd(SO_FAR, SO_FAR, y)?,
                    Op::Sub => self.a.vsubsd(SO_FAR, SO_FAR, y)?,
                    _ => self.a.vmulsd(SO_FAR, SO_FAR, y)?,
                }
                if running {
                    self.a.vmovsd(lane(values, k + usize::from(high)), SO_FAR)?;
                }
            }
        }
        self.a.vmovapd(T0, SO_FAR)?;
        self.a.set_label(&mut done)?;
        self.a.zero_bytes()
    }
}

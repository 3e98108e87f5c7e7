//! Operations on four lanes at once, each a copy of the form for one number (`forms`): where that
//! goes aside, the lane is noted.

use super::super::forms::{EQ, GE, GT, LE, LT, NEQ, predicate};
use super::super::maker::{Done, Maker, Number};
use super::Slot;
use aplomb_values::prim::op::Op;
use iced_x86::code_asm::*;

/// The predicate that one of both is NaN, quiet.
const UNORDERED: i32 = 3;

impl Maker<'_> {
    /// `ymm0 ← op ymm0`
    pub(super) fn one_packed(&mut self, op: Op, now: Option<Slot>) -> Done {
        let (size, one) = (self.number(Number::Size), self.number(Number::One));
        match op {
            Op::Neg => {
                self.a.vxorpd(ymm1, ymm1, ymm1)?;
                self.a.vsubpd(ymm0, ymm1, ymm0)?;
                self.finite_packed(now)
            }
            Op::Abs => {
                self.a.vbroadcastsd(ymm1, size)?;
                self.a.vandpd(ymm0, ymm0, ymm1)?;
                self.finite_packed(now)
            }
            Op::Not => {
                self.a.vbroadcastsd(ymm1, one)?;
                self.a.vpcmpeqq(ymm2, ymm0, ymm1)?;
                self.a.vpxor(ymm3, ymm3, ymm3)?;
                self.a.vpcmpeqq(ymm0, ymm0, ymm3)?;
                self.a.vorpd(ymm2, ymm2, ymm0)?;
                self.unless(now, ymm2)?;
                self.a.vandpd(ymm0, ymm0, ymm1)
            }
            _ => self.rounded_packed(op == Op::Floor, now),
        }
    }

    /// The whole number below or above ymm0.
    fn rounded_packed(&mut self, down: bool, now: Option<Slot>) -> Done {
        let (size, near) = (self.number(Number::Size), self.number(Number::Near));
        let (much, billions) = (self.number(Number::Much), self.number(Number::Billions));
        self.a.vbroadcastsd(ymm3, size)?;
        self.a.vroundpd(ymm1, ymm0, 0)?;
        self.a.vsubpd(ymm1, ymm0, ymm1)?;
        self.a.vandpd(ymm1, ymm1, ymm3)?;
        self.a.vandpd(ymm3, ymm3, ymm0)?;
        // Whole, and of some billions at most.
        self.a.vxorpd(ymm2, ymm2, ymm2)?;
        self.a.vcmppd(ymm2, ymm1, ymm2, EQ)?;
        self.a.vbroadcastsd(ymm4, billions)?;
        self.a.vcmppd(ymm4, ymm3, ymm4, LE)?;
        self.a.vandpd(ymm2, ymm2, ymm4)?;
        // Or small, and far from a whole one.
        self.a.vbroadcastsd(ymm4, near)?;
        self.a.vcmppd(ymm1, ymm1, ymm4, GT)?;
        self.a.vbroadcastsd(ymm4, much)?;
        self.a.vcmppd(ymm3, ymm3, ymm4, LT)?;
        self.a.vandpd(ymm1, ymm1, ymm3)?;
        match down {
            true => self.a.vroundpd(ymm0, ymm0, 1)?,
            false => {
                // What is above ¯1 and below 0 has a zero with no sign.
                self.a.vxorpd(ymm3, ymm3, ymm3)?;
                self.a.vroundpd(ymm0, ymm0, 2)?;
                self.a.vcmppd(ymm4, ymm0, ymm3, NEQ)?;
                self.a.vandpd(ymm1, ymm1, ymm4)?;
                self.a.vaddpd(ymm0, ymm0, ymm3)?;
            }
        }
        self.a.vorpd(ymm1, ymm1, ymm2)?;
        self.unless(now, ymm1)
    }

    /// `ymm0 ← ymm0 op ymm1`
    pub(super) fn two_packed(&mut self, op: Op, now: Option<Slot>) -> Done {
        match op {
            Op::Add => self.a.vaddpd(ymm0, ymm0, ymm1)?,
            Op::Sub => self.a.vsubpd(ymm0, ymm0, ymm1)?,
            Op::Mul => self.a.vmulpd(ymm0, ymm0, ymm1)?,
            Op::Div => {
                self.a.vxorpd(ymm3, ymm3, ymm3)?;
                self.a.vcmppd(ymm2, ymm0, ymm3, EQ)?;
                self.a.vcmppd(ymm3, ymm1, ymm3, EQ)?;
                self.a.vorpd(ymm2, ymm2, ymm3)?;
                self.flag(now, ymm2)?;
                self.a.vdivpd(ymm0, ymm0, ymm1)?;
            }
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Ge | Op::Gt => {
                return self.compared_packed(op, now);
            }
            Op::Max | Op::Min => {
                self.a.vcmppd(ymm2, ymm0, ymm1, EQ)?;
                self.a.vpcmpeqq(ymm3, ymm0, ymm1)?;
                self.a.vpandn(ymm2, ymm3, ymm2)?;
                self.flag(now, ymm2)?;
                self.a.vcmppd(ymm2, ymm0, ymm1, UNORDERED)?;
                self.flag(now, ymm2)?;
                match op {
                    Op::Max => self.a.vmaxpd(ymm0, ymm0, ymm1)?,
                    _ => self.a.vminpd(ymm0, ymm0, ymm1)?,
                }
            }
            Op::Residue => return self.residue_packed(now),
            Op::Pow => self.squared_packed(now)?,
            _ => return self.joined_packed(op, now),
        }
        self.finite_packed(now)
    }

    /// ∧ and ∨ of 0 and 1.
    fn joined_packed(&mut self, op: Op, now: Option<Slot>) -> Done {
        let one = self.number(Number::One);
        self.a.vbroadcastsd(ymm4, one)?;
        self.a.vpcmpeqd(ymm2, ymm2, ymm2)?;
        for of in [ymm0, ymm1] {
            // The bits of 1 or none.
            self.a.vpxor(ymm3, ymm3, ymm3)?;
            self.a.vpcmpeqq(ymm3, of, ymm3)?;
            self.a.vandnpd(ymm3, ymm3, ymm4)?;
            self.a.vpcmpeqq(ymm3, ymm3, of)?;
            self.a.vandpd(ymm2, ymm2, ymm3)?;
        }
        self.unless(now, ymm2)?;
        match op {
            Op::Lcm => self.a.vandpd(ymm0, ymm0, ymm1),
            _ => self.a.vorpd(ymm0, ymm0, ymm1),
        }
    }

    fn compared_packed(&mut self, op: Op, now: Option<Slot>) -> Done {
        let (size, twice) = (self.number(Number::Size), self.number(Number::TwiceCt));
        self.a.vbroadcastsd(ymm4, size)?;
        self.a.vandpd(ymm2, ymm0, ymm4)?;
        self.a.vandpd(ymm3, ymm1, ymm4)?;
        self.a.vmaxpd(ymm2, ymm2, ymm3)?;
        self.a.vbroadcastsd(ymm3, twice)?;
        self.a.vmulpd(ymm2, ymm2, ymm3)?;
        self.a.vsubpd(ymm3, ymm0, ymm1)?;
        self.a.vandpd(ymm3, ymm3, ymm4)?;
        self.a.vcmppd(ymm2, ymm2, ymm3, LT)?;
        self.a.vcmppd(ymm3, ymm0, ymm1, EQ)?;
        self.a.vorpd(ymm2, ymm2, ymm3)?;
        self.unless(now, ymm2)?;
        let one = self.number(Number::One);
        self.a.vcmppd(ymm0, ymm0, ymm1, predicate(op))?;
        self.a.vbroadcastsd(ymm1, one)?;
        self.a.vandpd(ymm0, ymm0, ymm1)
    }

    /// The residue of small whole numbers, where the left one is above 0: no quotient of such is so
    /// near a whole number that it is rounded to it.
    fn residue_packed(&mut self, now: Option<Slot>) -> Done {
        let (size, billions) = (self.number(Number::Size), self.number(Number::Billions));
        let one = self.number(Number::One);
        self.a.vbroadcastsd(ymm4, billions)?;
        self.a.vbroadcastsd(ymm3, size)?;
        self.a.vandpd(ymm3, ymm1, ymm3)?;
        self.a.vcmppd(ymm2, ymm3, ymm4, LE)?;
        self.a.vcmppd(ymm3, ymm0, ymm4, LE)?;
        self.a.vandpd(ymm2, ymm2, ymm3)?;
        self.a.vbroadcastsd(ymm3, one)?;
        self.a.vcmppd(ymm3, ymm0, ymm3, GE)?;
        self.a.vandpd(ymm2, ymm2, ymm3)?;
        self.a.vroundpd(ymm3, ymm0, 3)?;
        self.a.vpcmpeqq(ymm3, ymm3, ymm0)?;
        self.a.vandpd(ymm2, ymm2, ymm3)?;
        // By bits: a zero with a sign is none.
        self.a.vroundpd(ymm3, ymm1, 3)?;
        self.a.vpxor(ymm4, ymm4, ymm4)?;
        self.a.vaddpd(ymm3, ymm3, ymm4)?;
        self.a.vpcmpeqq(ymm3, ymm3, ymm1)?;
        self.a.vandpd(ymm2, ymm2, ymm3)?;
        self.unless(now, ymm2)?;
        self.a.vdivpd(ymm2, ymm1, ymm0)?;
        self.a.vroundpd(ymm2, ymm2, 1)?;
        self.a.vmulpd(ymm2, ymm2, ymm0)?;
        self.a.vsubpd(ymm0, ymm1, ymm2)
    }

    /// Squares, and roots of normal numbers.
    fn squared_packed(&mut self, now: Option<Slot>) -> Done {
        let (two, half) = (self.number(Number::Two), self.number(Number::Half));
        let least = self.number(Number::Least);
        self.a.vbroadcastsd(ymm2, two)?;
        self.a.vcmppd(ymm2, ymm1, ymm2, EQ)?;
        self.a.vbroadcastsd(ymm3, half)?;
        self.a.vcmppd(ymm3, ymm1, ymm3, EQ)?;
        self.a.vbroadcastsd(ymm4, least)?;
        self.a.vcmppd(ymm4, ymm0, ymm4, GE)?;
        self.a.vandpd(ymm3, ymm3, ymm4)?;
        self.a.vsqrtpd(ymm1, ymm0)?;
        self.a.vmulpd(ymm0, ymm0, ymm0)?;
        self.a.vblendvpd(ymm0, ymm0, ymm1, ymm3)?;
        self.a.vorpd(ymm2, ymm2, ymm3)?;
        self.unless(now, ymm2)
    }

    /// Notes lanes of ymm0 that are no numbers.
    fn finite_packed(&mut self, now: Option<Slot>) -> Done {
        self.a.vsubpd(ymm2, ymm0, ymm0)?;
        self.a.vcmppd(ymm2, ymm2, ymm2, UNORDERED)?;
        self.flag(now, ymm2)
    }

    /// Notes lanes in which a mask is not set.
    fn unless(&mut self, now: Option<Slot>, fine: AsmRegisterYmm) -> Done {
        self.a.vpcmpeqd(ymm3, ymm3, ymm3)?;
        self.a.vxorpd(fine, fine, ymm3)?;
        self.flag(now, fine)
    }
}

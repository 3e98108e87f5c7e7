//! Operations on two numbers in vector registers, for what most numbers are. Each is a copy of a
//! line of `prim::short`, bit for bit, and goes aside wherever that would look further.

use super::maker::{Done, Maker, Number, T0, T1, T2};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::short::SMALL_CT;
use iced_x86::code_asm::*;

/// Predicates of comparisons of one number or of four: ordered, and quiet.
pub const EQ: i32 = 0;
pub const LT: i32 = 17;
pub const LE: i32 = 18;
pub const NEQ: i32 = 4;
pub const GE: i32 = 29;
pub const GT: i32 = 30;

/// 2*32, up to which numbers are small.
const SMALL: i64 = 1 << 32;

/// The predicate of a comparison without a tolerance.
pub fn predicate(op: Op) -> i32 {
    match op {
        Op::Eq => EQ,
        Op::Ne => NEQ,
        Op::Lt => LT,
        Op::Le => LE,
        Op::Ge => GE,
        _ => GT,
    }
}

impl Maker<'_> {
    /// `T0 ← op y`, or goes aside.
    pub fn one(&mut self, op: Op, y: AsmRegisterXmm, aside: CodeLabel) -> Done {
        match op {
            Op::Neg => {
                self.a.vxorpd(T1, T1, T1)?;
                self.a.vsubsd(T0, T1, y)?;
                self.finite(aside)
            }
            Op::Abs => {
                let size = self.number(Number::Size);
                self.a.vmovsd(T1, size)?;
                self.a.vandpd(T0, y, T1)?;
                self.finite(aside)
            }
            Op::Not => {
                let one = self.number(Number::One);
                self.a.vmovsd(T1, one)?;
                self.a.vpcmpeqq(T2, y, T1)?;
                self.a.vpxor(T0, T0, T0)?;
                self.a.vpcmpeqq(T0, y, T0)?;
                self.a.vpor(T2, T2, T0)?;
                self.a.vmovmskpd(eax, T2)?;
                self.a.test(al, 1)?;
                self.a.jz(aside)?;
                self.a.vandpd(T0, T0, T1)?;
                Ok(())
            }
            Op::Floor | Op::Ceil if self.ct <= SMALL_CT => self.rounded(op == Op::Floor, y, aside),
            _ => self.a.jmp(aside),
        }
    }

    /// The whole number below or above.
    fn rounded(&mut self, down: bool, y: AsmRegisterXmm, aside: CodeLabel) -> Done {
        let (mut whole, mut done) = (self.a.create_label(), self.a.create_label());
        let size = self.number(Number::Size);
        self.a.vmovsd(T2, size)?;
        // The distance from the nearest, which is 0 of a whole one.
        self.a.vroundsd(T0, y, y, 0)?;
        self.a.vsubsd(T0, y, T0)?;
        self.a.vandpd(T0, T0, T2)?;
        self.a.vandpd(T2, T2, y)?;
        self.a.vxorpd(T1, T1, T1)?;
        self.a.vucomisd(T0, T1)?;
        self.a.jp(aside)?;
        self.a.je(whole)?;
        let (near, much) = (self.number(Number::Near), self.number(Number::Much));
        self.a.vucomisd(T0, near)?;
        self.a.jbe(aside)?;
        self.a.vucomisd(T2, much)?;
        self.a.jae(aside)?;
        self.a.vroundsd(T0, y, y, if down { 1 } else { 2 })?;
        if !down {
            // What is above ¯1 and below 0 has a zero with no sign.
            self.a.vucomisd(T0, T1)?;
            self.a.je(aside)?;
        }
        self.a.jmp(done)?;
        self.a.set_label(&mut whole)?;
        let billions = self.number(Number::Billions);
        self.a.vucomisd(T2, billions)?;
        self.a.ja(aside)?;
        match down {
            true => self.a.vmovapd(T0, y)?,
            // Without a sign.
            false => self.a.vaddsd(T0, y, T1)?,
        }
        self.a.set_label(&mut done)?;
        self.a.zero_bytes()
    }

    /// `T0 ← x op y`, or goes aside.
    pub fn two(&mut self, op: Op, x: AsmRegisterXmm, y: AsmRegisterXmm, aside: CodeLabel) -> Done {
        match op {
            Op::Add => self.a.vaddsd(T0, x, y)?,
            Op::Sub => self.a.vsubsd(T0, x, y)?,
            Op::Mul => self.a.vmulsd(T0, x, y)?,
            Op::Div => {
                self.a.vxorpd(T1, T1, T1)?;
                self.a.vucomisd(x, T1)?;
                self.a.je(aside)?;
                self.a.vucomisd(y, T1)?;
                self.a.je(aside)?;
                self.a.vdivsd(T0, x, y)?;
            }
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Ge | Op::Gt => {
                return self.compared(op, x, y, aside);
            }
            Op::Max | Op::Min => {
                self.a.vucomisd(x, y)?;
                self.a.jp(aside)?;
                match op {
                    Op::Max => self.a.vmaxsd(T0, x, y)?,
                    _ => self.a.vminsd(T0, x, y)?,
                }
                // Equal numbers of other bits are two zeros.
                self.a.vcmpsd(T1, x, y, EQ)?;
                self.a.vpcmpeqq(T2, x, y)?;
                self.a.vpandn(T1, T2, T1)?;
                self.a.vmovmskpd(eax, T1)?;
                self.a.test(al, 1)?;
                self.a.jnz(aside)?;
            }
            Op::Pow => {
                // Squares, and roots of normal numbers.
                let (mut square, mut done) = (self.a.create_label(), self.a.create_label());
                let (two, half) = (self.number(Number::Two), self.number(Number::Half));
                let least = self.number(Number::Least);
                self.a.vucomisd(y, two)?;
                self.a.jp(aside)?;
                self.a.je(square)?;
                self.a.vucomisd(y, half)?;
                self.a.jne(aside)?;
                self.a.vucomisd(x, least)?;
                self.a.jb(aside)?;
                self.a.vsqrtsd(T0, x, x)?;
                self.a.jmp(done)?;
                self.a.set_label(&mut square)?;
                self.a.vmulsd(T0, x, x)?;
                self.a.set_label(&mut done)?;
                self.a.zero_bytes()?;
            }
            Op::Residue if self.ct <= SMALL_CT => return self.residue(x, y, aside),
            Op::Lcm | Op::Gcd => {
                self.a.vunpcklpd(T0, x, y)?;
                let one = self.number(Number::One);
                self.a.vmovddup(T1, one)?;
                self.a.vpcmpeqq(T1, T0, T1)?;
                self.a.vpxor(T2, T2, T2)?;
                self.a.vpcmpeqq(T2, T0, T2)?;
                self.a.vpor(T1, T1, T2)?;
                self.a.vmovmskpd(eax, T1)?;
                self.a.cmp(eax, 3)?;
                self.a.jne(aside)?;
                match op {
                    Op::Lcm => self.a.vandpd(T0, x, y)?,
                    _ => self.a.vorpd(T0, x, y)?,
                }
                return Ok(());
            }
            _ => return self.a.jmp(aside),
        }
        self.finite(aside)
    }

    fn compared(&mut self, op: Op, x: AsmRegisterXmm, y: AsmRegisterXmm, aside: CodeLabel) -> Done {
        let (size, twice) = (self.number(Number::Size), self.number(Number::TwiceCt));
        self.a.vmovsd(T0, size)?;
        self.a.vandpd(T1, x, T0)?;
        self.a.vandpd(T2, y, T0)?;
        self.a.vmaxsd(T1, T1, T2)?;
        self.a.vmulsd(T1, T1, twice)?;
        self.a.vsubsd(T2, x, y)?;
        self.a.vandpd(T2, T2, T0)?;
        // So far from each other that no tolerance makes them equal, or the same.
        self.a.vcmpsd(T1, T1, T2, LT)?;
        self.a.vcmpsd(T2, x, y, EQ)?;
        self.a.vorpd(T1, T1, T2)?;
        self.a.vmovmskpd(eax, T1)?;
        self.a.test(al, 1)?;
        self.a.jz(aside)?;
        let one = self.number(Number::One);
        self.a.vcmpsd(T0, x, y, predicate(op))?;
        self.a.vmovsd(T1, one)?;
        self.a.vandpd(T0, T0, T1)?;
        Ok(())
    }

    /// The residue of small whole numbers, where the left one is above 0.
    fn residue(&mut self, x: AsmRegisterXmm, y: AsmRegisterXmm, aside: CodeLabel) -> Done {
        self.a.mov(r8, SMALL)?;
        for (of, into) in [(x, rcx), (y, rax)] {
            self.a.vcvttsd2si(into, of)?;
            self.a.vxorpd(T1, T1, T1)?;
            self.a.vcvtsi2sd(T1, T1, into)?;
            // By bits: a zero with a sign is none.
            self.a.vmovq(r9, T1)?;
            self.a.vmovq(r10, of)?;
            self.a.cmp(r9, r10)?;
            self.a.jne(aside)?;
            self.a.lea(r9, qword_ptr(into + r8))?;
            self.a.lea(r10, qword_ptr(r8 + r8))?;
            self.a.cmp(r9, r10)?;
            self.a.ja(aside)?;
        }
        self.a.cmp(rcx, 1)?;
        self.a.jl(aside)?;
        let mut done = self.a.create_label();
        self.a.cqo()?;
        self.a.idiv(rcx)?;
        self.a.test(rdx, rdx)?;
        self.a.jns(done)?;
        self.a.add(rdx, rcx)?;
        self.a.set_label(&mut done)?;
        self.a.vxorpd(T0, T0, T0)?;
        self.a.vcvtsi2sd(T0, T0, rdx)?;
        Ok(())
    }

    /// Goes aside where T0 is no number.
    fn finite(&mut self, aside: CodeLabel) -> Done {
        self.a.vsubsd(T1, T0, T0)?;
        self.a.vucomisd(T1, T1)?;
        self.a.jp(aside)
    }
}

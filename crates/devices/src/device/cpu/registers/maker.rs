//! The making of a function's code: its registers, where numbers lie, and what stands aside.

use super::packed::Pack;
use super::words::{Kind, Row};
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, Request};
use iced_x86::IcedError;
use iced_x86::code_asm::*;
use std::mem::size_of;

pub type Done<T = ()> = Result<T, IcedError>;

/// The value of an operation, and what it may use on its way.
pub const T0: AsmRegisterXmm = xmm0;
pub const T1: AsmRegisterXmm = xmm1;
pub const T2: AsmRegisterXmm = xmm2;
/// Arguments that have no register of their own.
pub const X: AsmRegisterXmm = xmm3;
pub const Y: AsmRegisterXmm = xmm4;
/// The registers of numbers; fewer of a function whose turns go four at a time.
pub const FEWER: usize = 9;
pub const OWN: [AsmRegisterXmm; 11] =
    [xmm5, xmm6, xmm7, xmm8, xmm9, xmm10, xmm11, xmm12, xmm13, xmm14, xmm15];

pub const WORDS: AsmRegister64 = rbx;
pub const REGISTERS: AsmRegister64 = r12;
pub const FIXED: AsmRegister64 = r13;
pub const JUMPS: AsmRegister64 = r14;
pub const LISTS: AsmRegister64 = rbp;
/// The place of an item, which calls do not change.
pub const PLACE: AsmRegister64 = r15;

/// Constants behind the code.
#[derive(Clone, Copy)]
pub enum Number {
    One,
    TwiceCt,
    /// All bits but the sign.
    Size,
    /// The distance from which a number is not near a whole one, and the least that is too large to
    /// look.
    Near,
    Much,
    Billions,
    Origin,
    Zero,
    MinusZero,
    Two,
    Half,
    Four,
    /// The least normal number.
    Least,
    /// Sums of some numbers below it are finite, or exact where they are whole.
    Large,
    Whole,
}

impl Number {
    pub const ALL: usize = 15;

    pub fn values(ct: f64, io: f64) -> [u64; Number::ALL] {
        let f = |x: f64| x.to_bits();
        [
            f(1.0),
            f(2.0 * ct),
            !(1 << 63),
            f(1e-3),
            f(1e6),
            f(4_294_967_296.0),
            f(io),
            f(0.0),
            f(-0.0),
            f(2.0),
            f(0.5),
            f(4.0),
            f(f64::MIN_POSITIVE),
            f(1e300),
            f((1u64 << 50) as f64),
        ]
    }
}

/// A way aside: the operation that no form fits, and where its value is awaited.
pub struct Aside {
    pub from: CodeLabel,
    pub back: CodeLabel,
    pub out: CodeLabel,
    pub op: Op,
    pub x: Option<AsmRegisterXmm>,
    pub y: AsmRegisterXmm,
}

/// A look at the interrupt on the way to a call.
pub struct Look {
    pub from: CodeLabel,
    pub back: CodeLabel,
    /// Numbers still stand in registers.
    pub keeps: bool,
}

/// The code of a function as it is made.
pub struct Maker<'a> {
    pub a: CodeAssembler,
    pub ct: f64,
    pub io: f64,
    pub kinds: Vec<Kind>,
    pub own: Vec<(Arg, AsmRegisterXmm)>,
    pub numbers: [CodeLabel; Number::ALL],
    /// 0 1 2 3
    pub ramp: CodeLabel,
    /// The loops of the function whose turns go four at a time.
    pub packs: Vec<Pack>,
    /// The function that is written, whether it is one that is called, and the places of its
    /// instructions.
    pub function: usize,
    pub is_called: bool,
    pub steps: Vec<CodeLabel>,
    pub asides: Vec<Aside>,
    pub looks: Vec<Look>,
    /// The instruction that a way out leaves the code at.
    pub outs: Vec<(CodeLabel, usize)>,
    pub leave: CodeLabel,
    /// The way out of a function that is called: its caller, or the caller of that, is the first
    /// function, whose call is left to the machine.
    pub fail: CodeLabel,
    pub call: CodeLabel,
    /// The functions that are called, and where they begin.
    pub called: Vec<(usize, CodeLabel)>,
    pub request: &'a Request<'a, 'a>,
}

/// The place of a number in memory.
pub fn memory(arg: Arg) -> AsmMemoryOperand {
    match arg {
        Arg::Register(k) => qword_ptr(REGISTERS + 8 * i32::from(k)),
        Arg::Fixed(k) => qword_ptr(FIXED + 8 * i32::from(k)),
    }
}

pub fn word(offset: usize) -> AsmMemoryOperand {
    qword_ptr(WORDS + offset as i32)
}

pub fn row(of: u16, offset: usize) -> AsmMemoryOperand {
    qword_ptr(LISTS + (usize::from(of) * size_of::<Row>() + offset) as i32)
}

impl Maker<'_> {
    /// Numbers with registers from their places in memory.
    pub fn load(&mut self) -> Done {
        for (arg, register) in self.own.clone() {
            self.a.vmovsd(register, memory(arg))?;
        }
        Ok(())
    }

    pub fn store(&mut self) -> Done {
        for (arg, register) in self.own.clone() {
            self.a.vmovsd(memory(arg), register)?;
        }
        Ok(())
    }

    pub fn own(&self, arg: Arg) -> Option<AsmRegisterXmm> {
        self.own.iter().find(|(own, _)| *own == arg).map(|(_, register)| *register)
    }

    /// A number's register, or a place for it with the number in it.
    pub fn read(&mut self, arg: Arg, otherwise: AsmRegisterXmm) -> Done<AsmRegisterXmm> {
        match self.own(arg) {
            Some(own) => Ok(own),
            None => {
                self.a.vmovsd(otherwise, memory(arg))?;
                Ok(otherwise)
            }
        }
    }

    pub fn write(&mut self, arg: Arg, from: AsmRegisterXmm) -> Done {
        match self.own(arg) {
            Some(own) => self.a.vmovapd(own, from),
            None => self.a.vmovsd(memory(arg), from),
        }
    }

    /// A constant behind the code.
    pub fn number(&self, number: Number) -> AsmMemoryOperand {
        qword_ptr(self.numbers[number as usize])
    }
}

//! The lanes of a loop: types of values, and the registers that hold a round of them, which has as
//! many elements as fit one in the widest type that occurs.
//!
//! | widest type | elements a round: AVX-512, AVX2 | whole numbers in | masks |
//! |---|---|---|---|
//! | f64 | 8, 4 | i32, half a register | a bit, or 8 bytes |
//! | f32, i32, characters | 16, 8 | i32 | a bit, or 4 bytes |
//! | i16 | 32, 16 | i16 | a bit, or 2 bytes |
//! | i8, booleans | 64, 32 | i8 | a bit, or a byte |

use iced_x86::{Code, Register};

/// The type of a value's lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A truth: a bit of a mask register, or all bits of a lane.
    Mask,
    /// A whole number in the tape's width.
    Int,
    F32,
    F64,
}

/// Elements of a round, and the bytes of the registers that hold them: 64 with AVX-512, 32 with
/// AVX2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lanes {
    pub count: usize,
    pub register: usize,
}

impl Lanes {
    /// Masks are bits, in registers of their own. Else they are as wide as the widest lanes.
    pub fn bits(self) -> bool {
        self.register == 64
    }

    /// Bytes of a whole number.
    pub fn width(self) -> usize {
        (self.register / self.count).min(4)
    }

    /// Bytes of a lane.
    pub fn bytes(self, kind: Kind) -> usize {
        match kind {
            Kind::F64 => 8,
            Kind::F32 => 4,
            Kind::Int => self.width(),
            Kind::Mask if self.bits() => 1,
            Kind::Mask => self.register / self.count,
        }
    }

    /// The register of a value.
    pub fn size(self, kind: Kind) -> Size {
        Size::of(self.bytes(kind) * self.count)
    }

    /// The one of four instructions for masks: of 8, 16, 32, 64 bits.
    pub fn of_mask(self, all: [Code; 4]) -> Code {
        all[self.count.trailing_zeros() as usize - 3]
    }
}

/// The size of a vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Xmm,
    Ymm,
    Zmm,
}

impl Size {
    /// The register of so many bytes; eight of them are the half of one.
    pub fn of(bytes: usize) -> Size {
        match bytes {
            ..=16 => Size::Xmm,
            32 => Size::Ymm,
            _ => Size::Zmm,
        }
    }

    pub fn register(self, k: u8) -> Register {
        let first = match self {
            Size::Xmm => Register::XMM0,
            Size::Ymm => Register::YMM0,
            Size::Zmm => Register::ZMM0,
        };
        first + u32::from(k)
    }
}

//! The instruction of each step, by the type of its lanes and the registers that hold them.

mod evex;
mod vex;

use super::lanes::{Kind, Lanes, Size};
use super::tape::Bin;
pub use evex::{NOT_FINITE, bits_tested, bytes, class, store_whole};
use iced_x86::Code;
pub use vex::{equal, greater, truths};

/// The operation gives the same with its operands exchanged, to the bit of NaN and of ¯0 too.
pub fn commutes(op: Bin, kind: Kind) -> bool {
    match op {
        Bin::Add | Bin::Mul | Bin::And | Bin::Or | Bin::Xor | Bin::Plus => true,
        Bin::Max | Bin::Min => kind == Kind::Int,
        Bin::Sub | Bin::Div | Bin::Scale => false,
    }
}

/// Functions that both encodings have, each by the registers of its lanes.
macro_rules! of_both {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $t:ty),*) -> $out:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name($($arg: $t,)* lanes: Lanes) -> $out {
            match lanes.bits() {
                true => evex::$name($($arg,)* lanes),
                false => vex::$name($($arg,)* lanes),
            }
        }
    )*};
}

of_both! {
    /// The code of an operation; none: the tape's lanes have no such one.
    bin(op: Bin, kind: Kind) -> Option<Code>;
    /// `a×b+c` in the register of a, with b and c beside it.
    fma_of_factor(kind: Kind) -> Code;
    /// `a×b+c` in the register of c, with a and b beside it.
    fma_of_sum(kind: Kind) -> Code;
    /// A whole number, as the immediate byte says.
    rounding(kind: Kind) -> Code;
    /// A pattern moved by some bits.
    shift(kind: Kind, left: bool) -> Code;
    sqrt(kind: Kind) -> Code;
    /// A comparison to a mask; of floats the immediate byte says which.
    compare(kind: Kind) -> Code;
    /// The second operand where the mask is off, the third where it is on.
    blend(kind: Kind) -> Code;
    /// From one kind to another, neither of them a mask.
    turn(from: Kind, to: Kind) -> Option<Code>;
    /// A whole number from items of so many bytes in memory.
    load_whole(bytes: usize) -> Option<Code>;
    /// A register from and to memory as it is.
    moves(size: Size) -> (Code, Code);
    /// A constant into all lanes, from 64 bits of memory.
    broadcast(size: Size) -> Code;
}

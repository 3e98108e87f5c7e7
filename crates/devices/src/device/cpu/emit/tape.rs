//! The typed steps of one emitted loop: what is computed for each element, in lanes of the type of
//! the value.
//!
//! Constants are data beside the tape, so launches that differ in their numbers alone are one code.

pub use super::lanes::{Kind, Lanes};
use aplomb_values::array::DType;
use aplomb_values::prim::reduce::LANES;

/// Words of a call's table before the pointers.
pub const HEAD: usize = 2;

/// The place of a value on its tape.
pub type Id = u32;

/// Operations of two operands of one kind that give a third of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bin {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
    /// The first by the power of two of the second, a whole number (AVX-512).
    Scale,
    /// From here on: patterns of floats.
    And,
    Or,
    Xor,
    Plus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cmp {
    Eq,
    Lt,
    Le,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// An element of the k-th input, as it lies there or widened to a whole number of the tape.
    In(u32, Kind),
    /// The k-th constant.
    Const(u32, Kind),
    Bin(Bin, Kind, Id, Id),
    /// A sum or difference of whole numbers that may leave i32, which is a suspicion.
    Checked(Bin, Id, Id),
    /// `a×b+c` of floats, rounded once.
    Fma(Kind, Id, Id, Id),
    Sqrt(Kind, Id),
    Floor(Kind, Id),
    /// The pattern of a float, so many bits to the left or right.
    Shift(Kind, bool, Id, u8),
    Cmp(Cmp, Kind, Id, Id),
    /// Some bit of the pattern is also in the constant's.
    BitSet(Id, Id),
    /// ∞ or NaN.
    NotFinite(Kind, Id),
    Both(Id, Id),
    Either(Id, Id),
    /// One of two masks, not both.
    Differ(Id, Id),
    Not(Id),
    Never,
    Always,
    /// The second where the mask holds, else the third.
    Blend(Kind, Id, Id, Id),
    /// From one kind to another.
    Turn(Kind, Kind, Id),
}

impl Expr {
    /// The type of its value.
    pub fn kind(self) -> Kind {
        match self {
            Expr::In(_, kind)
            | Expr::Const(_, kind)
            | Expr::Bin(_, kind, ..)
            | Expr::Sqrt(kind, _)
            | Expr::Fma(kind, ..)
            | Expr::Floor(kind, _)
            | Expr::Shift(kind, ..)
            | Expr::Blend(kind, ..)
            | Expr::Turn(_, kind, _) => kind,
            Expr::Checked(..) => Kind::Int,
            _ => Kind::Mask,
        }
    }

    /// The same of other values.
    pub fn of(self, to: impl Fn(Id) -> Id) -> Expr {
        match self {
            Expr::In(..) | Expr::Const(..) | Expr::Never | Expr::Always => self,
            Expr::Sqrt(kind, a) => Expr::Sqrt(kind, to(a)),
            Expr::Floor(kind, a) => Expr::Floor(kind, to(a)),
            Expr::Shift(kind, left, a, by) => Expr::Shift(kind, left, to(a), by),
            Expr::NotFinite(kind, a) => Expr::NotFinite(kind, to(a)),
            Expr::Not(a) => Expr::Not(to(a)),
            Expr::Turn(from, kind, a) => Expr::Turn(from, kind, to(a)),
            Expr::Bin(op, kind, a, b) => Expr::Bin(op, kind, to(a), to(b)),
            Expr::Checked(op, a, b) => Expr::Checked(op, to(a), to(b)),
            Expr::Cmp(op, kind, a, b) => Expr::Cmp(op, kind, to(a), to(b)),
            Expr::BitSet(a, b) => Expr::BitSet(to(a), to(b)),
            Expr::Both(a, b) => Expr::Both(to(a), to(b)),
            Expr::Either(a, b) => Expr::Either(to(a), to(b)),
            Expr::Differ(a, b) => Expr::Differ(to(a), to(b)),
            Expr::Fma(kind, a, b, c) => Expr::Fma(kind, to(a), to(b), to(c)),
            Expr::Blend(kind, a, b, c) => Expr::Blend(kind, to(a), to(b), to(c)),
        }
    }

    /// The values that it is made of.
    pub fn operands(self) -> impl Iterator<Item = Id> {
        let some = match self {
            Expr::In(..) | Expr::Const(..) | Expr::Never | Expr::Always => [None; 3],
            Expr::Sqrt(_, a)
            | Expr::Floor(_, a)
            | Expr::Shift(_, _, a, _)
            | Expr::NotFinite(_, a)
            | Expr::Not(a)
            | Expr::Turn(_, _, a) => [Some(a), None, None],
            Expr::Bin(_, _, a, b)
            | Expr::Checked(_, a, b)
            | Expr::Cmp(_, _, a, b)
            | Expr::BitSet(a, b)
            | Expr::Both(a, b)
            | Expr::Either(a, b)
            | Expr::Differ(a, b) => [Some(a), Some(b), None],
            Expr::Fma(_, a, b, c) | Expr::Blend(_, a, b, c) => [Some(a), Some(b), Some(c)],
        };
        some.into_iter().flatten()
    }
}

/// An act of a round; they come in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    Make(Id),
    /// Elements in which the mask holds are suspect.
    Suspect(Id),
    /// To the k-th output.
    Store(u32, Id),
    /// The elements in which a mask holds are added to the k-th output, which is one number.
    Count(u32, Id),
    /// The elements of the k-th output, each folded with one of these.
    Onto(u32, Bin, Term),
    /// The end of a round: next values become states (`Tape::turns`).
    Turn,
    /// Folded into the k-th output, which is a block's partial results: as many as
    /// `Tape::partials` says, element i into partial i mod that.
    Fold(u32, Bin, Term),
}

/// The term that a fold takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    Value(Id),
    /// The product of two floats, which is not rounded before it is added.
    Product(Id, Id),
}

impl Term {
    /// The values that it is made of, all of one kind.
    pub fn values(self) -> impl Iterator<Item = Id> {
        let (first, second) = match self {
            Term::Value(id) => (id, None),
            Term::Product(a, b) => (a, Some(b)),
        };
        std::iter::once(first).chain(second)
    }

    /// One of these.
    pub fn first(self) -> Id {
        match self {
            Term::Value(id) | Term::Product(id, _) => id,
        }
    }
}

impl Act {
    /// The values that it reads, if it makes none.
    pub fn reads(self, turns: &Turns) -> impl Iterator<Item = Id> + '_ {
        let own = match self {
            Act::Make(_) | Act::Turn => None,
            Act::Suspect(id) | Act::Store(_, id) | Act::Count(_, id) => Some(Term::Value(id)),
            Act::Fold(_, _, term) | Act::Onto(_, _, term) => Some(term),
        };
        let all = (self == Act::Turn).then(|| turns.operands());
        own.into_iter().flat_map(Term::values).chain(all.into_iter().flatten())
    }
}

/// Partial results of a fold, which stand side by side, at most.
pub const PARTIALS: usize = LANES;

/// An output: its items, and whether they go past the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Out {
    pub dtype: DType,
    pub stream: bool,
}

/// A finished tape. Two that are equal have one code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tape {
    pub nodes: Vec<Expr>,
    pub acts: Vec<Act>,
    /// The items of each input; None: nobody reads it any more.
    pub ins: Vec<Option<DType>>,
    pub outs: Vec<Out>,
    pub lanes: Lanes,
    pub turns: Turns,
    /// The partial results of each of its folds, where it has some.
    pub partials: usize,
}

impl Tape {
    /// The words of a call's table, behind all pointers, that say how often it takes its turns, and
    /// how often it still has to. None: once.
    pub fn repeats(&self) -> Option<[usize; 2]> {
        let behind = HEAD + self.ins.len() + self.outs.len();
        (self.turns.count > 0 && self.turns.until.is_none()).then_some([behind, behind + 1])
    }

    /// The items of all inputs, then of all outputs, as the table of a call has them.
    pub fn types(&self) -> impl Iterator<Item = Option<DType>> + '_ {
        self.ins.iter().copied().chain(self.outs.iter().map(|out| Some(out.dtype)))
    }
}

/// The rounds that elements take in registers, of a tape that is a round of a loop: as many as
/// `count`, where it is not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Turns {
    pub count: usize,
    /// The element of each state, which is an input and an output, and its next value.
    pub next: Vec<(Id, Id)>,
    /// Whether a round is an element's last, and the number 1, which the first output then is.
    pub until: Option<(Id, Id)>,
    /// Registers of elements that take a round side by side (`beside`), where there are more than
    /// one. Inputs and states of the first come first, then those of the second.
    pub copies: usize,
}

impl Turns {
    /// Registers of elements that are taken at once.
    pub fn beside(&self) -> usize {
        self.copies.max(1)
    }

    /// The values that the end of a round reads.
    pub fn operands(&self) -> impl Iterator<Item = Id> + '_ {
        self.next.iter().map(|(_, next)| *next).chain(self.until.map(|(until, _)| until))
    }
}

/// A number that a tape reads: its pattern, as 64 bits that are broadcast in its kind's width.
pub type Pattern = u64;

/// The kind in which items of a type are first of all; none: such items are no lanes.
pub fn kind_of(dtype: DType) -> Option<Kind> {
    Some(match dtype {
        DType::Bool => Kind::Mask,
        DType::I8 | DType::I16 | DType::I32 | DType::Char => Kind::Int,
        DType::F32 => Kind::F32,
        DType::F64 => Kind::F64,
        DType::Complex | DType::Nested => return None,
    })
}

/// The pattern of a number in so many lanes: its bits, in all of 64.
pub fn broadcast(kind: Kind, bits: u64, lanes: Lanes) -> Pattern {
    match (kind, lanes.width()) {
        (Kind::Int, 1) => (bits & 0xff) * 0x0101_0101_0101_0101,
        (Kind::Int, 2) => (bits & 0xffff) * 0x0001_0001_0001_0001,
        (Kind::Int, _) => (bits & 0xffff_ffff) * 0x0000_0001_0000_0001,
        _ => bits,
    }
}

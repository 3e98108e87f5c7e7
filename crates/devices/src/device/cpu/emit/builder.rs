//! A tape while it is being written, step by step: equal steps are one, what is known is left out,
//! and whole numbers keep the interval in which they lie.

use super::tape::{
    Act, Bin, Cmp, Expr, Id, Kind, Lanes, Out, Pattern, Tape, Term, Turns, broadcast,
};
use aplomb_values::array::DType;
use aplomb_values::prim::scalar::lane::Lane;
use std::collections::HashMap;

/// A tape while it is being written.
#[derive(Default)]
pub struct Builder {
    /// Bytes of a register.
    register: usize,
    nodes: Vec<Expr>,
    /// The interval of each value that is a whole number, -0 not among them; `ANY` of all others.
    spans: Vec<(i64, i64)>,
    known: HashMap<Expr, Id>,
    /// None: a number of its own for each call.
    consts: Vec<(Kind, Option<u64>)>,
    acts: Vec<Act>,
    ins: Vec<DType>,
    outs: Vec<Out>,
    turns: Turns,
    partials: usize,
}

const I32: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);

/// The interval of what may be no whole number.
const ANY: (i64, i64) = (i64::MIN, i64::MAX);

/// The greatest size up to which floats are followed as whole numbers: sums and differences of two
/// are exact.
const EXACT: i64 = 1 << 52;

/// The whole numbers that items of a type can be.
fn span_of(dtype: DType) -> (i64, i64) {
    match dtype {
        DType::Bool => (0, 1),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::I32 => I32,
        DType::Char => (0, char::MAX as i64),
        DType::F32 | DType::F64 | DType::Complex | DType::Nested => ANY,
    }
}

/// The interval of a number of f64: itself, where it is whole and not -0.
fn span_of_number(bits: u64) -> (i64, i64) {
    let x = f64::from_bits(bits);
    let whole = x as i64;
    match x.abs() <= EXACT as f64 && (whole as f64).to_bits() == bits {
        true => (whole, whole),
        false => ANY,
    }
}

/// An operation on two patterns of f64, as lanes do it.
fn folded(op: Bin, x: u64, y: u64) -> u64 {
    let of = |f: fn(f64, f64) -> f64| f(f64::from_bits(x), f64::from_bits(y)).to_bits();
    match op {
        Bin::Add => of(Lane::add),
        Bin::Sub => of(Lane::sub),
        Bin::Mul => of(Lane::mul),
        Bin::Div => of(Lane::div),
        Bin::Max => of(Lane::max),
        Bin::Min => of(Lane::min),
        // A number near 1 and one that is no exponent are never both known.
        Bin::Scale => of(|x, k| x * k.exp2()),
        Bin::And => x & y,
        Bin::Or => x | y,
        Bin::Xor => x ^ y,
        Bin::Plus => x.wrapping_add(y),
    }
}

impl Builder {
    /// Whether its registers are scaled by powers of two in one step.
    pub fn scales(&self) -> bool {
        self.register == 64
    }

    /// An empty tape for registers of so many bytes.
    pub fn new(register: usize) -> Builder {
        Builder { register, ..Builder::default() }
    }

    pub fn node(&self, id: Id) -> Expr {
        self.nodes[id as usize]
    }

    pub fn kind(&self, id: Id) -> Kind {
        self.node(id).kind()
    }

    /// The interval of a whole number or truth.
    pub fn span(&self, id: Id) -> (i64, i64) {
        if self.kind(id) == Kind::Mask { (0, 1) } else { self.spans[id as usize] }
    }

    /// The same of any value. None: it may be no whole number, or -0.
    pub fn whole_span(&self, id: Id) -> Option<(i64, i64)> {
        Some(self.span(id)).filter(|span| *span != ANY)
    }

    fn put(&mut self, node: Expr, span: (i64, i64)) -> Id {
        if let Some(id) = self.known.get(&node) {
            return *id;
        }
        let id = self.nodes.len() as Id;
        self.nodes.push(node);
        self.spans.push(span);
        self.known.insert(node, id);
        self.acts.push(Act::Make(id));
        id
    }

    fn plain(&mut self, node: Expr) -> Id {
        self.put(node, ANY)
    }

    /// One more input.
    pub fn input(&mut self, dtype: DType) -> u32 {
        self.ins.push(dtype);
        self.ins.len() as u32 - 1
    }

    /// An element of an input, as its type has it first of all.
    pub fn element(&mut self, slot: u32, kind: Kind) -> Id {
        let span = span_of(self.ins[slot as usize]);
        self.put(Expr::In(slot, kind), span)
    }

    pub fn output(&mut self, out: Out) -> u32 {
        self.outs.push(out);
        self.outs.len() as u32 - 1
    }

    pub fn store(&mut self, slot: u32, id: Id) {
        self.acts.push(Act::Store(slot, id));
    }

    pub fn count(&mut self, slot: u32, mask: Id) {
        self.acts.push(Act::Count(slot, mask));
    }

    /// A fold into so many partial results, as many as all folds of the tape have.
    pub fn fold(&mut self, slot: u32, (op, partials): (Bin, usize), id: Id) {
        self.partials = partials;
        let term = self.term(op, id);
        self.acts.push(Act::Fold(slot, op, term));
    }

    pub fn onto(&mut self, slot: u32, op: Bin, id: Id) {
        let term = self.term(op, id);
        self.acts.push(Act::Onto(slot, op, term));
    }

    /// The term that a fold takes of a value: of a `product`, which a sum alone reads, its factors.
    fn term(&self, op: Bin, id: Id) -> Term {
        match self.node(id) {
            Expr::Fma(_, a, b, c) if op == Bin::Add && self.is_nothing(c) => Term::Product(a, b),
            _ => Term::Value(id),
        }
    }

    /// The constant that changes no sum.
    fn is_nothing(&self, id: Id) -> bool {
        let Expr::Const(slot, kind) = self.node(id) else { return false };
        let nothing = match kind {
            Kind::F64 => (-0.0f64).to_bits(),
            Kind::F32 => u64::from((-0.0f32).to_bits()),
            Kind::Int | Kind::Mask => return false,
        };
        self.consts[slot as usize].1.is_some_and(|bits| match kind {
            Kind::F32 => bits & u64::from(u32::MAX) == nothing,
            _ => bits == nothing,
        })
    }

    /// `a×b` as what a sum takes unrounded: the sum of it and of what changes no sum.
    pub fn product(&mut self, kind: Kind, a: Id, b: Id) -> Id {
        let nothing = self.float(kind, -0.0);
        self.fma(a, b, nothing)
    }

    /// The tape is a round, of which so many are taken in registers.
    pub fn turn(&mut self, turns: Turns) {
        self.turns = turns;
        self.acts.push(Act::Turn);
    }

    pub fn suspect(&mut self, mask: Id) {
        if self.node(mask) != Expr::Never {
            self.acts.push(Act::Suspect(mask));
        }
    }

    fn constant(&mut self, kind: Kind, bits: u64, span: (i64, i64)) -> Id {
        let slot = match self.consts.iter().position(|c| *c == (kind, Some(bits))) {
            Some(known) => known,
            None => {
                self.consts.push((kind, Some(bits)));
                self.consts.len() - 1
            }
        };
        self.put(Expr::Const(slot as u32, kind), span)
    }

    /// A number that each call brings along, of an item's type; and its place among the constants.
    pub fn given(&mut self, dtype: DType, kind: Kind) -> (Id, usize) {
        let slot = self.consts.len();
        self.consts.push((kind, None));
        (self.put(Expr::Const(slot as u32, kind), span_of(dtype)), slot)
    }

    pub fn f64(&mut self, x: f64) -> Id {
        self.bits(Kind::F64, x.to_bits())
    }

    pub fn f32(&mut self, x: f32) -> Id {
        self.bits(Kind::F32, x.to_bits().into())
    }

    /// The number of a float's type that is nearest.
    pub fn float(&mut self, kind: Kind, x: f64) -> Id {
        if kind == Kind::F32 { self.f32(x as f32) } else { self.f64(x) }
    }

    pub fn int(&mut self, x: i32) -> Id {
        self.constant(Kind::Int, i64::from(x) as u64, (x.into(), x.into()))
    }

    /// A pattern as a float of that type, which has its 64 or its lower 32 bits.
    pub fn bits(&mut self, kind: Kind, bits: u64) -> Id {
        let half = bits & u64::from(u32::MAX);
        let bits = if kind == Kind::F32 { half << 32 | half } else { bits };
        let span = if kind == Kind::F64 { span_of_number(bits) } else { ANY };
        self.constant(kind, bits, span)
    }

    /// The pattern of a constant of f64.
    fn bits_of(&self, id: Id) -> Option<u64> {
        match self.node(id) {
            Expr::Const(slot, Kind::F64) => self.consts[slot as usize].1,
            _ => None,
        }
    }

    /// The mask of which a value is the truth, 1 and 0.
    fn truth_of(&self, id: Id) -> Option<Id> {
        match self.node(id) {
            Expr::Blend(_, mask, yes, no) if self.is(yes, 1) && self.is(no, 0) => Some(mask),
            _ => None,
        }
    }

    fn is(&self, id: Id, x: i32) -> bool {
        let Expr::Const(slot, kind) = self.node(id) else { return false };
        let Some(bits) = self.consts[slot as usize].1 else { return false };
        match kind {
            Kind::F64 => bits == f64::from(x).to_bits(),
            Kind::F32 => bits as u32 == (x as f32).to_bits(),
            Kind::Int => bits as i64 == i64::from(x),
            Kind::Mask => false,
        }
    }

    /// A value in another kind. An f64 becomes an f32 by rounding, a whole number by cutting off;
    /// anything is a truth where it is not 0.
    pub fn turned(&mut self, id: Id, to: Kind) -> Id {
        let from = self.kind(id);
        match (from, to) {
            _ if from == to => id,
            (Kind::Mask, _) => match (self.node(id), to) {
                // A byte is a whole number as it lies in memory.
                (Expr::In(slot, _), Kind::Int) => self.element(slot, Kind::Int),
                _ => {
                    let (yes, no) = (self.small(1, to), self.small(0, to));
                    self.blend(id, yes, no)
                }
            },
            (_, Kind::Mask) => match self.truth_of(id) {
                Some(mask) => mask,
                None => {
                    let zero = self.small(0, from);
                    let none = self.cmp(Cmp::Eq, id, zero);
                    self.not(none)
                }
            },
            (Kind::F32, Kind::Int) => {
                let wide = self.turned(id, Kind::F64);
                self.turned(wide, Kind::Int)
            }
            (Kind::F64, Kind::Int) => match self.node(id) {
                Expr::Turn(Kind::Int, _, whole) => whole,
                _ if self.is_i32(id) => self.whole(id, self.span(id)),
                _ => self.whole(id, I32),
            },
            (Kind::Int, Kind::F64) => match self.node(id) {
                // What was cut off is gone, but of a whole number nothing was.
                Expr::Turn(Kind::F64, _, own) if self.is_i32(own) => own,
                _ => self.put(Expr::Turn(from, to, id), self.span(id)),
            },
            _ => self.plain(Expr::Turn(from, to, id)),
        }
    }

    fn is_i32(&self, id: Id) -> bool {
        let (low, high) = self.span(id);
        low >= I32.0 && high <= I32.1
    }

    /// An f64 that is a whole number between two of i32, as one.
    pub fn whole(&mut self, id: Id, span: (i64, i64)) -> Id {
        self.put(Expr::Turn(Kind::F64, Kind::Int, id), span)
    }

    /// 0 or 1.
    pub fn small(&mut self, x: i32, kind: Kind) -> Id {
        match kind {
            Kind::F64 => self.f64(x.into()),
            Kind::F32 => self.f32(x as f32),
            Kind::Int => self.int(x),
            Kind::Mask if x == 0 => self.plain(Expr::Never),
            Kind::Mask => self.plain(Expr::Always),
        }
    }

    /// An operation on two values of one kind. Of whole numbers: one whose results are i32, or a
    /// sum or difference, which is suspect elsewhere.
    pub fn bin(&mut self, op: Bin, a: Id, b: Id) -> Id {
        let kind = self.kind(a);
        if let (Some(x), Some(y)) = (self.bits_of(a), self.bits_of(b)) {
            return self.bits(Kind::F64, folded(op, x, y));
        }
        if kind != Kind::Int {
            let span = self.float_result(op, a, b);
            return self.put(Expr::Bin(op, kind, a, b), span);
        }
        let span = self.result(op, a, b);
        if span.0 < I32.0 || span.1 > I32.1 {
            let held = (span.0.clamp(I32.0, I32.1), span.1.clamp(I32.0, I32.1));
            return self.put(Expr::Checked(op, a, b), held);
        }
        self.put(Expr::Bin(op, kind, a, b), span)
    }

    /// The interval of a result of floats: of two that are whole, as long as it is exact. A product
    /// may be -0 where one is negative and the other 0.
    fn float_result(&self, op: Bin, a: Id, b: Id) -> (i64, i64) {
        let (Some(x), Some(y)) = (self.whole_span(a), self.whole_span(b)) else { return ANY };
        let same_signs = x.0 >= 0 && y.0 >= 0 || x.0 > 0 || y.0 > 0;
        let follows = match op {
            Bin::Add | Bin::Sub | Bin::Max | Bin::Min => true,
            Bin::Mul => same_signs,
            Bin::Div | Bin::Scale | Bin::And | Bin::Or | Bin::Xor | Bin::Plus => false,
        };
        let exact = |(low, high): &(i64, i64)| *low >= -EXACT && *high <= EXACT;
        let span = follows.then(|| self.result(op, a, b)).filter(exact);
        span.map_or(ANY, |span| span)
    }

    /// The interval of a result of whole numbers.
    pub fn result(&self, op: Bin, a: Id, b: Id) -> (i64, i64) {
        let (a, b) = (self.span(a), self.span(b));
        match op {
            Bin::Add => (a.0 + b.0, a.1 + b.1),
            Bin::Sub => (a.0 - b.1, a.1 - b.0),
            Bin::Max => (a.0.max(b.0), a.1.max(b.1)),
            Bin::Min => (a.0.min(b.0), a.1.min(b.1)),
            _ => {
                let each = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
                let mut all = each.map(|(x, y)| x.saturating_mul(y));
                all.sort_unstable();
                (all[0], all[3])
            }
        }
    }

    pub fn fma(&mut self, a: Id, b: Id, c: Id) -> Id {
        self.plain(Expr::Fma(self.kind(a), a, b, c))
    }

    pub fn sqrt(&mut self, a: Id) -> Id {
        self.plain(Expr::Sqrt(self.kind(a), a))
    }

    pub fn floor(&mut self, a: Id) -> Id {
        self.floor_within(a, ANY)
    }

    /// The same where it is known to be a whole number of that interval.
    pub fn floor_within(&mut self, a: Id, span: (i64, i64)) -> Id {
        self.put(Expr::Floor(self.kind(a), a), span)
    }

    /// The operands of a quotient of f64 by a number.
    pub fn quotient(&self, id: Id) -> Option<(Id, f64)> {
        let Expr::Bin(Bin::Div, Kind::F64, a, b) = self.node(id) else { return None };
        self.bits_of(b).map(|by| (a, f64::from_bits(by)))
    }

    pub fn shift(&mut self, left: bool, a: Id, by: u32) -> Id {
        self.plain(Expr::Shift(self.kind(a), left, a, by as u8))
    }

    pub fn bit_set(&mut self, a: Id, bits: u64) -> Id {
        let bits = self.bits(self.kind(a), bits);
        self.plain(Expr::BitSet(a, bits))
    }

    pub fn not_finite(&mut self, a: Id) -> Id {
        match self.kind(a) {
            kind @ (Kind::F32 | Kind::F64)
                if self.truth_of(a).is_none() && self.whole_span(a).is_none() =>
            {
                self.plain(Expr::NotFinite(kind, a))
            }
            _ => self.plain(Expr::Never),
        }
    }

    /// A comparison of two values of one kind; of truths with 0 and 1 it is known.
    pub fn cmp(&mut self, cmp: Cmp, a: Id, b: Id) -> Id {
        let known = |x: &Self, a: Id, b: Id| {
            let mask = x.truth_of(a).filter(|_| cmp == Cmp::Eq)?;
            Some((mask, x.is(b, 0), x.is(b, 1)))
        };
        match known(self, a, b).or_else(|| known(self, b, a)) {
            Some((mask, true, _)) => return self.not(mask),
            Some((mask, _, true)) => return mask,
            _ => {}
        }
        let known = match (self.bits_of(a), self.bits_of(b)) {
            (Some(x), Some(y)) => Some((f64::from_bits(x), f64::from_bits(y))),
            // A whole number is itself, which NaN is not.
            _ if a == b => self.whole_span(a).map(|_| (0.0, 0.0)),
            _ => None,
        };
        if let Some((x, y)) = known {
            let holds = match cmp {
                Cmp::Eq => x == y,
                Cmp::Lt => x < y,
                Cmp::Le => x <= y,
            };
            return self.plain(if holds { Expr::Always } else { Expr::Never });
        }
        self.plain(Expr::Cmp(cmp, self.kind(a), a, b))
    }

    pub fn not(&mut self, a: Id) -> Id {
        match self.node(a) {
            Expr::Not(b) => b,
            Expr::Never => self.plain(Expr::Always),
            Expr::Always => self.plain(Expr::Never),
            _ => self.plain(Expr::Not(a)),
        }
    }

    fn opposite(&self, a: Id, b: Id) -> bool {
        self.node(a) == Expr::Not(b) || self.node(b) == Expr::Not(a)
    }

    pub fn both(&mut self, a: Id, b: Id) -> Id {
        match (self.node(a), self.node(b)) {
            (Expr::Always, _) => b,
            (_, Expr::Always) => a,
            (Expr::Never, _) => a,
            (_, Expr::Never) => b,
            _ if a == b => a,
            _ if self.opposite(a, b) => self.plain(Expr::Never),
            _ => self.plain(Expr::Both(a, b)),
        }
    }

    pub fn either(&mut self, a: Id, b: Id) -> Id {
        match (self.node(a), self.node(b)) {
            (Expr::Never, _) => b,
            (_, Expr::Never) => a,
            (Expr::Always, _) => a,
            (_, Expr::Always) => b,
            _ if a == b => a,
            _ if self.opposite(a, b) => self.plain(Expr::Always),
            _ => self.plain(Expr::Either(a, b)),
        }
    }

    pub fn differ(&mut self, a: Id, b: Id) -> Id {
        match (self.node(a), self.node(b)) {
            (Expr::Never, _) => b,
            (_, Expr::Never) => a,
            (Expr::Always, _) => self.not(b),
            (_, Expr::Always) => self.not(a),
            _ => self.plain(Expr::Differ(a, b)),
        }
    }

    pub fn never(&mut self) -> Id {
        self.plain(Expr::Never)
    }

    /// One of two values of one kind, by a mask.
    pub fn blend(&mut self, mask: Id, yes: Id, no: Id) -> Id {
        let kind = self.kind(yes);
        match (self.node(mask), kind) {
            (Expr::Always, _) => yes,
            (Expr::Never, _) => no,
            _ if yes == no => yes,
            (_, Kind::Mask) => {
                let (on, off) = (self.both(mask, yes), self.not(mask));
                let off = self.both(off, no);
                self.either(on, off)
            }
            _ => {
                let (a, b) = (self.span(yes), self.span(no));
                self.put(Expr::Blend(kind, mask, yes, no), (a.0.min(b.0), a.1.max(b.1)))
            }
        }
    }

    /// The tape, without what nobody reads, and its constants.
    pub fn finish(self) -> (Tape, Vec<Pattern>) {
        let mut used: Vec<bool> = self.nodes.iter().map(|_| false).collect();
        let mut acts = Vec::new();
        for act in self.acts.iter().rev() {
            match *act {
                Act::Make(id) if !used[id as usize] => {
                    // One that may overflow is looked at though nobody reads it.
                    if !matches!(self.node(id), Expr::Checked(..)) {
                        continue;
                    }
                    self.node(id).operands().for_each(|a| used[a as usize] = true);
                }
                Act::Make(id) => {
                    self.node(id).operands().for_each(|a| used[a as usize] = true);
                }
                act => act.reads(&self.turns).for_each(|id| used[id as usize] = true),
            }
            acts.push(*act);
        }
        acts.reverse();
        let lanes = self.lanes(&acts);
        let pattern = |(kind, bits): &(Kind, Option<u64>)| match bits {
            Some(bits) => broadcast(*kind, *bits, lanes),
            None => 0,
        };
        let consts = self.consts.iter().map(pattern).collect();
        let mut ins: Vec<Option<DType>> = self.ins.iter().map(|_| None).collect();
        for act in &acts {
            if let Act::Make(id) = act
                && let Expr::In(slot, _) = self.node(*id)
            {
                ins[slot as usize] = Some(self.ins[slot as usize]);
            }
        }
        for (state, _) in &self.turns.next {
            if let Expr::In(slot, _) = self.node(*state) {
                ins[slot as usize] = Some(self.ins[slot as usize]);
            }
        }
        let (nodes, outs, turns, partials) = (self.nodes, self.outs, self.turns, self.partials);
        (Tape { nodes, acts, ins, outs, lanes, turns, partials }, consts)
    }

    /// As many as the widest value leaves room for.
    fn lanes(&self, acts: &[Act]) -> Lanes {
        let whole = |(low, high): (i64, i64)| {
            let fits = |dtype| {
                let span = span_of(dtype);
                low >= span.0 && high <= span.1
            };
            if fits(DType::I8) {
                1
            } else if fits(DType::I16) {
                2
            } else {
                4
            }
        };
        let width = |act: &Act| match *act {
            Act::Make(id) => match (self.node(id), self.kind(id)) {
                (_, Kind::F64) => 8,
                (_, Kind::F32) | (Expr::Checked(..), _) => 4,
                // There is no product of bytes.
                (Expr::Bin(Bin::Mul, ..), Kind::Int) => whole(self.span(id)).max(2),
                (_, Kind::Int) => whole(self.span(id)),
                (_, Kind::Mask) => 1,
            },
            // Items are cut off when they are stored, not widened.
            Act::Store(slot, _) => self.outs[slot as usize].dtype.size(),
            // States are f64.
            Act::Turn => 8,
            Act::Suspect(_) | Act::Count(..) | Act::Fold(..) | Act::Onto(..) => 1,
        };
        let widest = acts.iter().map(width).fold(1, usize::max);
        Lanes { count: self.register / widest, register: self.register }
    }
}

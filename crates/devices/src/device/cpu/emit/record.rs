//! Operations on a tape, each in the narrowest lanes that have its meaning.
//!
//! | operands | lanes |
//! |---|---|
//! | truths, of a function of truths | masks |
//! | whole numbers, of + - × ⌈ ⌊ | and comparisons | whole numbers, where the results are known to be i32, or are meant to be |
//! | beside a known number: `<=≠≥>` under ⎕CT, `⌊x÷n`, `n\|x` | f64, by exact operations (`exact`) |
//! | f32, whose result is f32 (`single::is_exact`, `has_own`), small powers, and exact comparisons | f32 |
//! | anything else | f64, by the operation's rule |
//!
//! A rule (`scalar::rules`) is written once over `Lane`. Here its lanes write themselves down, so
//! an emitted loop has the rule's own sequence and its bits.

use super::builder::Builder;
use super::tape::{Bin, Cmp, Id, Kind};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::lane::Lane;
use aplomb_values::prim::scalar::rules::{self, Rule, Visit};
use aplomb_values::prim::scalar::single::{self, has_own};
use aplomb_values::prim::scalar::{small_exponent, small_power};
use std::cell::RefCell;

thread_local! {
    /// The tape that `Noted` writes on, while a rule is visited.
    static TAPE: RefCell<Builder> = RefCell::default();
}

fn on_tape<T>(f: impl FnOnce(&mut Builder) -> T) -> T {
    TAPE.with_borrow_mut(f)
}

/// Lets `f` write on a tape by lanes.
fn writing<T>(tape: &mut Builder, f: impl FnOnce() -> T) -> T {
    TAPE.with_borrow_mut(|own| std::mem::swap(own, tape));
    let done = f();
    TAPE.with_borrow_mut(|own| std::mem::swap(own, tape));
    done
}

/// A value of f64 or f32 on the tape, as lanes of a rule.
#[derive(Clone, Copy)]
struct Noted<const SINGLE: bool>(Id);

impl<const SINGLE: bool> Noted<SINGLE> {
    const KIND: Kind = if SINGLE { Kind::F32 } else { Kind::F64 };
}

/// A mask on the tape.
#[derive(Clone, Copy)]
struct NotedMask(Id);

fn binary<const S: bool>(op: Bin, a: Noted<S>, b: Noted<S>) -> Noted<S> {
    Noted(on_tape(|t| t.bin(op, a.0, b.0)))
}

fn compared<const S: bool>(op: Cmp, a: Noted<S>, b: Noted<S>) -> NotedMask {
    NotedMask(on_tape(|t| t.cmp(op, a.0, b.0)))
}

fn with_bits<const S: bool>(op: Bin, a: Noted<S>, k: u64) -> Noted<S> {
    Noted(on_tape(|t| {
        let k = t.bits(Noted::<S>::KIND, k);
        t.bin(op, a.0, k)
    }))
}

impl<const S: bool> Lane for Noted<S> {
    type Mask = NotedMask;
    const LEAST: f64 = if S { f32::LEAST } else { f64::LEAST };
    const MOST: f64 = if S { f32::MOST } else { f64::MOST };

    fn splat(x: f64) -> Self {
        Noted(on_tape(|t| t.float(Self::KIND, x)))
    }
    fn add(self, y: Self) -> Self {
        binary(Bin::Add, self, y)
    }
    fn sub(self, y: Self) -> Self {
        binary(Bin::Sub, self, y)
    }
    fn mul(self, y: Self) -> Self {
        binary(Bin::Mul, self, y)
    }
    fn div(self, y: Self) -> Self {
        binary(Bin::Div, self, y)
    }
    fn fma(self, y: Self, z: Self) -> Self {
        Noted(on_tape(|t| t.fma(self.0, y.0, z.0)))
    }
    fn sqrt(self) -> Self {
        Noted(on_tape(|t| t.sqrt(self.0)))
    }
    fn abs(self) -> Self {
        self.bits_and(if S { !(1 << 31) } else { !(1 << 63) })
    }
    fn floor(self) -> Self {
        Noted(on_tape(|t| t.floor(self.0)))
    }
    fn max(self, y: Self) -> Self {
        binary(Bin::Max, self, y)
    }
    fn min(self, y: Self) -> Self {
        binary(Bin::Min, self, y)
    }
    fn eq(self, y: Self) -> NotedMask {
        compared(Cmp::Eq, self, y)
    }
    fn lt(self, y: Self) -> NotedMask {
        compared(Cmp::Lt, self, y)
    }
    fn le(self, y: Self) -> NotedMask {
        compared(Cmp::Le, self, y)
    }
    fn both(a: NotedMask, b: NotedMask) -> NotedMask {
        NotedMask(on_tape(|t| t.both(a.0, b.0)))
    }
    fn either(a: NotedMask, b: NotedMask) -> NotedMask {
        NotedMask(on_tape(|t| t.either(a.0, b.0)))
    }
    fn not(a: NotedMask) -> NotedMask {
        NotedMask(on_tape(|t| t.not(a.0)))
    }
    fn none() -> NotedMask {
        NotedMask(on_tape(Builder::never))
    }
    fn any(_: NotedMask) -> bool {
        // A rule is a straight sequence: it never asks.
        true
    }
    fn select(mask: NotedMask, yes: Self, no: Self) -> Self {
        Noted(on_tape(|t| t.blend(mask.0, yes.0, no.0)))
    }
    fn bits_plus(self, k: u64) -> Self {
        with_bits(Bin::Plus, self, k)
    }
    fn bits_and(self, k: u64) -> Self {
        with_bits(Bin::And, self, k)
    }
    fn bits_or(self, k: u64) -> Self {
        with_bits(Bin::Or, self, k)
    }
    fn bits_xor(self, y: Self) -> Self {
        binary(Bin::Xor, self, y)
    }
    fn bits_left(self, by: u32) -> Self {
        Noted(on_tape(|t| t.shift(true, self.0, by)))
    }
    fn bits_right(self, by: u32) -> Self {
        Noted(on_tape(|t| t.shift(false, self.0, by)))
    }
    fn scaled(self, k: Self, two: impl Fn(Self) -> Self) -> Self {
        if on_tape(|t| t.scales()) {
            return binary(Bin::Scale, self, k);
        }
        let half = k.mul(Self::splat(0.5)).floor();
        self.mul(two(half)).mul(two(k.sub(half)))
    }
    fn bit_set(self, k: u64) -> NotedMask {
        NotedMask(on_tape(|t| t.bit_set(self.0, k)))
    }
}

/// A rule, applied to values of a tape, of f64 or of f32.
struct Apply<const SINGLE: bool> {
    x: Id,
    y: Id,
    ct: Id,
}

impl<const S: bool> Visit for Apply<S> {
    type Out = (Id, Id);
    fn rule<R: Rule>(self) -> (Id, Id) {
        let (x, y, ct) = (Noted::<S>(self.x), Noted::<S>(self.y), Noted::<S>(self.ct));
        let (value, odd) = if S { R::singles(x, y, ct) } else { R::lanes(x, y, ct) };
        (value.0, odd.0)
    }
}

/// Facts of an operation beside its operands.
#[derive(Clone, Copy)]
pub struct How {
    pub ct: f64,
    /// Its result is rounded to f32.
    pub round: bool,
    /// Its result is meant to be a whole number of i32.
    pub whole: bool,
}

/// An operand: a value of the tape, or a number.
#[derive(Clone, Copy)]
pub enum Val {
    Of(Id),
    Number(f64),
}

impl Builder {
    /// An operand as a value of a kind.
    pub fn value(&mut self, x: Val, kind: Kind) -> Id {
        match (x, kind) {
            (Val::Of(id), _) => self.turned(id, kind),
            (Val::Number(x), Kind::F64) => self.f64(x),
            (Val::Number(x), Kind::F32) => self.f32(x as f32),
            (Val::Number(x), Kind::Int) => self.int(x as i32),
            (Val::Number(x), Kind::Mask) => self.small(i32::from(x != 0.0), Kind::Mask),
        }
    }

    pub fn is_truth(&self, x: Val) -> bool {
        match x {
            Val::Of(id) => self.kind(id) == Kind::Mask,
            Val::Number(x) => x == 0.0 || x == 1.0,
        }
    }

    /// Whole numbers of i32, -0 not among them.
    pub fn is_whole(&self, x: Val) -> bool {
        match x {
            Val::Of(id) => matches!(self.kind(id), Kind::Mask | Kind::Int),
            Val::Number(x) => f64::from(x as i32).to_bits() == x.to_bits(),
        }
    }

    pub fn is_f32(&self, x: Val) -> bool {
        let exact = 1 << 24;
        match x {
            Val::Of(id) => match self.kind(id) {
                Kind::F32 | Kind::Mask => true,
                Kind::Int => self.span(id).0 >= -exact && self.span(id).1 <= exact,
                Kind::F64 => false,
            },
            Val::Number(x) => f64::from(x as f32) == x,
        }
    }

    /// An operation; `y` is left alone by one of one argument. None: it has no rule.
    pub fn op(&mut self, op: Op, x: Val, y: Val, how: How) -> Option<Val> {
        if op.is_unrounded() {
            return self.product_of(x, y, how).map(Val::Of);
        }
        let two = op.arity() == 2;
        let both = |t: &Self, f: fn(&Self, Val) -> bool| f(t, x) && (!two || f(t, y));
        if !how.round && both(self, Self::is_truth) {
            let (a, b) = (self.value(x, Kind::Mask), self.value(y, Kind::Mask));
            if let Some(id) = self.of_truths(op, a, b) {
                return Some(Val::Of(id));
            }
        }
        if !how.round
            && let Some(id) = self.beside_number(op, x, y, how.ct)
        {
            return Some(Val::Of(id));
        }
        if !how.round && both(self, Self::is_whole) {
            let (a, b) = (self.value(x, Kind::Int), self.value(y, Kind::Int));
            if let Some(id) = self.of_whole(op, a, b, how.whole) {
                return Some(Val::Of(id));
            }
        }
        if both(self, Self::is_f32)
            && let Some(id) = self.of_f32(op, x, y, how)
        {
            return Some(Val::Of(id));
        }
        if how.round && has_own(op) && has_room(x) && has_room(y) {
            return self.of_singles(op, x, y).map(Val::Of);
        }
        if how.round && op == Op::Pow {
            // Whole exponents are products in f32, and which are whole differs by place.
            return None;
        }
        self.by_rule(op, x, y, how)
    }

    /// A product that a sum takes unrounded; one of whole numbers that fits is exact anyway.
    fn product_of(&mut self, x: Val, y: Val, how: How) -> Option<Id> {
        if !how.round
            && self.is_whole(x)
            && self.is_whole(y)
            && let Some(Val::Of(id)) = self.op(Op::Mul, x, y, how)
            && matches!(self.kind(id), Kind::Int | Kind::Mask)
        {
            return Some(id);
        }
        let kind = if how.round { Kind::F32 } else { Kind::F64 };
        let (a, b) = (self.value(x, kind), self.value(y, kind));
        Some(self.product(kind, a, b))
    }

    /// A power by squaring.
    pub fn power(&mut self, x: Val, exponent: f64, round: bool) -> Option<Val> {
        let exponent = small_exponent(exponent)?;
        let single = round && has_room(x);
        let x = self.value(x, if single { Kind::F32 } else { Kind::F64 });
        let (value, odd) = writing(self, || match single {
            true => {
                let (value, odd) = small_power(Noted::<true>(x), exponent);
                (value.0, odd.0)
            }
            false => {
                let (value, odd) = small_power(Noted::<false>(x), exponent);
                (value.0, odd.0)
            }
        });
        self.suspect(odd);
        Some(Val::Of(if round { self.turned(value, Kind::F32) } else { value }))
    }

    /// An operation in lanes of f32, by its rule there.
    fn of_singles(&mut self, op: Op, x: Val, y: Val) -> Option<Id> {
        let x = self.value(x, Kind::F32);
        let y = if op.arity() == 2 { self.value(y, Kind::F32) } else { x };
        let ct = self.f32(0.0);
        let apply = Apply::<true> { x, y, ct };
        let (value, odd) = writing(self, || rules::visit(op, 0.0, apply))?;
        self.suspect(odd);
        Some(value)
    }

    fn by_rule(&mut self, op: Op, x: Val, y: Val, how: How) -> Option<Val> {
        let x = self.value(x, Kind::F64);
        let y = if op.arity() == 2 { self.value(y, Kind::F64) } else { x };
        let ct = self.f64(how.ct);
        let (value, odd) = writing(self, || rules::visit(op, how.ct, Apply::<false> { x, y, ct }))?;
        self.suspect(odd);
        let value = match how.round {
            true => self.turned(value, Kind::F32),
            // What gives a truth is one.
            false if op.row().gives == aplomb_values::prim::op::Gives::Bool => {
                self.turned(value, Kind::Mask)
            }
            false => value,
        };
        Some(Val::Of(value))
    }

    fn of_truths(&mut self, op: Op, a: Id, b: Id) -> Option<Id> {
        Some(match op {
            Op::Conj | Op::Abs | Op::Sign | Op::Floor | Op::Ceil => a,
            Op::Not => self.not(a),
            Op::Lcm | Op::Mul | Op::Min => self.both(a, b),
            Op::Gcd | Op::Max => self.either(a, b),
            Op::Nand => {
                let both = self.both(a, b);
                self.not(both)
            }
            Op::Nor => {
                let either = self.either(a, b);
                self.not(either)
            }
            Op::Ne => self.differ(a, b),
            Op::Eq => {
                let other = self.differ(a, b);
                self.not(other)
            }
            Op::Lt | Op::Gt | Op::Le | Op::Ge => {
                let (low, high) = if matches!(op, Op::Lt | Op::Ge) { (a, b) } else { (b, a) };
                let up = self.not(low);
                let up = self.both(up, high);
                if matches!(op, Op::Lt | Op::Gt) { up } else { self.not(up) }
            }
            _ => return None,
        })
    }

    /// Of whole numbers. Those that may leave i32 only if they are meant to be i32, and can tell.
    fn of_whole(&mut self, op: Op, a: Id, b: Id, meant: bool) -> Option<Id> {
        let zero = |t: &mut Self| t.int(0);
        if let Some(bin) = bin(op) {
            let (low, high) = self.result(bin, a, b);
            let fits = low >= i32::MIN.into() && high <= i32::MAX.into();
            let tells = meant && matches!(bin, Bin::Add | Bin::Sub);
            // A quotient is no whole number.
            return (bin != Bin::Div && (fits || tells)).then(|| self.bin(bin, a, b));
        }
        Some(match op {
            Op::Conj | Op::Floor | Op::Ceil => a,
            Op::Neg | Op::Abs => {
                if self.span(a).0 <= i32::MIN.into() {
                    return None;
                }
                let zero = zero(self);
                let other = self.bin(Bin::Sub, zero, a);
                if op == Op::Neg { other } else { self.bin(Bin::Max, a, other) }
            }
            _ => return self.compared(op, a, b),
        })
    }

    /// An exact comparison of two values of one kind.
    fn compared(&mut self, op: Op, a: Id, b: Id) -> Option<Id> {
        Some(match op {
            Op::Eq => self.cmp(Cmp::Eq, a, b),
            Op::Ne => {
                let equal = self.cmp(Cmp::Eq, a, b);
                self.not(equal)
            }
            Op::Lt => self.cmp(Cmp::Lt, a, b),
            Op::Gt => self.cmp(Cmp::Lt, b, a),
            Op::Le => self.cmp(Cmp::Le, a, b),
            Op::Ge => self.cmp(Cmp::Le, b, a),
            _ => return None,
        })
    }

    fn of_f32(&mut self, op: Op, x: Val, y: Val, how: How) -> Option<Id> {
        if how.round && single::is_exact(op, how.ct) {
            return self.of_singles(op, x, y);
        }
        let exact = how.ct == 0.0 && !how.round && is_comparison(op);
        if !exact {
            return None;
        }
        let (a, b) = (self.value(x, Kind::F32), self.value(y, Kind::F32));
        self.compared(op, a, b)
    }
}

/// The operand fits f32 (`single::has_room`); what is on the tape does.
fn has_room(x: Val) -> bool {
    !matches!(x, Val::Number(x) if !single::has_room(x))
}

pub fn is_comparison(op: Op) -> bool {
    matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)
}

/// The operation of lanes that an operation is on numbers that hide nothing.
fn bin(op: Op) -> Option<Bin> {
    Some(match op {
        Op::Add => Bin::Add,
        Op::Sub => Bin::Sub,
        Op::Mul => Bin::Mul,
        Op::Div => Bin::Div,
        Op::Max => Bin::Max,
        Op::Min => Bin::Min,
        _ => return None,
    })
}

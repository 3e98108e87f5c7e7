//! Operations on a tape, each in the narrowest lanes that have its meaning.
//!
//! | operands | lanes |
//! |---|---|
//! | truths, of a function of truths | masks |
//! | whole numbers, of + - × ⌈ ⌊ | and comparisons | whole numbers, where the results are known to be i32, or are meant to be |
//! | f32, of + - × ÷ √ ⌈ ⌊ | whose result is rounded to f32, and exact comparisons | f32: rounding an f64 sum, product, quotient or root of f32 to f32 is the f32 operation |
//! | anything else | f64, by the operation's rule |
//!
//! A rule (`scalar::rules`) is written once over `Lane`. Here its lanes write themselves down, so
//! an emitted loop has the rule's own sequence and its bits.

use super::tape::{Bin, Builder, Cmp, Id, Kind};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::lane::Lane;
use aplomb_values::prim::scalar::rules::{self, Rule, Visit};
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

/// A value of f64 on the tape, as lanes of a rule.
#[derive(Clone, Copy)]
struct Noted(Id);

/// A mask on the tape.
#[derive(Clone, Copy)]
struct NotedMask(Id);

fn binary(op: Bin, a: Noted, b: Noted) -> Noted {
    Noted(on_tape(|t| t.bin(op, a.0, b.0)))
}

fn compared(op: Cmp, a: Noted, b: Noted) -> NotedMask {
    NotedMask(on_tape(|t| t.cmp(op, a.0, b.0)))
}

fn with_bits(op: Bin, a: Noted, k: u64) -> Noted {
    Noted(on_tape(|t| {
        let k = t.bits(k);
        t.bin(op, a.0, k)
    }))
}

impl Lane for Noted {
    type Mask = NotedMask;

    fn splat(x: f64) -> Noted {
        Noted(on_tape(|t| t.f64(x)))
    }
    fn add(self, y: Noted) -> Noted {
        binary(Bin::Add, self, y)
    }
    fn sub(self, y: Noted) -> Noted {
        binary(Bin::Sub, self, y)
    }
    fn mul(self, y: Noted) -> Noted {
        binary(Bin::Mul, self, y)
    }
    fn div(self, y: Noted) -> Noted {
        binary(Bin::Div, self, y)
    }
    fn fma(self, y: Noted, z: Noted) -> Noted {
        Noted(on_tape(|t| t.fma(self.0, y.0, z.0)))
    }
    fn sqrt(self) -> Noted {
        Noted(on_tape(|t| t.sqrt(self.0)))
    }
    fn abs(self) -> Noted {
        self.bits_and(!(1 << 63))
    }
    fn floor(self) -> Noted {
        Noted(on_tape(|t| t.floor(self.0)))
    }
    fn max(self, y: Noted) -> Noted {
        binary(Bin::Max, self, y)
    }
    fn min(self, y: Noted) -> Noted {
        binary(Bin::Min, self, y)
    }
    fn eq(self, y: Noted) -> NotedMask {
        compared(Cmp::Eq, self, y)
    }
    fn lt(self, y: Noted) -> NotedMask {
        compared(Cmp::Lt, self, y)
    }
    fn le(self, y: Noted) -> NotedMask {
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
    fn select(mask: NotedMask, yes: Noted, no: Noted) -> Noted {
        Noted(on_tape(|t| t.blend(mask.0, yes.0, no.0)))
    }
    fn bits_plus(self, k: u64) -> Noted {
        with_bits(Bin::Plus, self, k)
    }
    fn bits_and(self, k: u64) -> Noted {
        with_bits(Bin::And, self, k)
    }
    fn bits_or(self, k: u64) -> Noted {
        with_bits(Bin::Or, self, k)
    }
    fn bits_xor(self, y: Noted) -> Noted {
        binary(Bin::Xor, self, y)
    }
    fn bits_left(self, by: u32) -> Noted {
        Noted(on_tape(|t| t.shift(true, self.0, by)))
    }
    fn bits_right(self, by: u32) -> Noted {
        Noted(on_tape(|t| t.shift(false, self.0, by)))
    }
    fn bit_set(self, k: u64) -> NotedMask {
        NotedMask(on_tape(|t| t.bit_set(self.0, k)))
    }
}

/// A rule, applied to values of a tape.
struct Apply {
    x: Id,
    y: Id,
    ct: Id,
}

impl Visit for Apply {
    type Out = (Id, Id);
    fn rule<R: Rule>(self) -> (Id, Id) {
        let (value, odd) = R::lanes(Noted(self.x), Noted(self.y), Noted(self.ct));
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
        let two = op.arity() == 2;
        let both = |t: &Self, f: fn(&Self, Val) -> bool| f(t, x) && (!two || f(t, y));
        if !how.round && both(self, Self::is_truth) {
            let (a, b) = (self.value(x, Kind::Mask), self.value(y, Kind::Mask));
            if let Some(id) = self.of_truths(op, a, b) {
                return Some(Val::Of(id));
            }
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
        self.by_rule(op, x, y, how)
    }

    /// A power by squaring.
    pub fn power(&mut self, x: Val, exponent: f64, round: bool) -> Option<Val> {
        let exponent = small_exponent(exponent)?;
        let x = self.value(x, Kind::F64);
        let (value, odd) = writing(self, || {
            let (value, odd) = small_power(Noted(x), exponent);
            (value.0, odd.0)
        });
        self.suspect(odd);
        Some(Val::Of(if round { self.turned(value, Kind::F32) } else { value }))
    }

    fn by_rule(&mut self, op: Op, x: Val, y: Val, how: How) -> Option<Val> {
        let x = self.value(x, Kind::F64);
        let y = if op.arity() == 2 { self.value(y, Kind::F64) } else { x };
        let ct = self.f64(how.ct);
        let (value, odd) = writing(self, || rules::visit(op, how.ct, Apply { x, y, ct }))?;
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
        let arithmetic = bin(op).filter(|_| how.round);
        let root = op == Op::Sqrt && how.round;
        let exact = how.ct == 0.0 && !how.round && is_comparison(op);
        if arithmetic.is_none() && !root && !exact {
            return None;
        }
        let (a, b) = (self.value(x, Kind::F32), self.value(y, Kind::F32));
        if root {
            let zero = self.f32(0.0);
            let below = self.cmp(Cmp::Lt, a, zero);
            self.suspect(below);
            return Some(self.sqrt(a));
        }
        let Some(bin) = arithmetic else { return self.compared(op, a, b) };
        if bin == Bin::Div {
            let zero = self.f32(0.0);
            let by_zero = self.cmp(Cmp::Eq, b, zero);
            self.suspect(by_zero);
        }
        Some(self.bin(bin, a, b))
    }
}

fn is_comparison(op: Op) -> bool {
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

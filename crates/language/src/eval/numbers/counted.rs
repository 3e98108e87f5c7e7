//! Loops over what a few functions make of `⍳n`: `1↓⍳n`, `⌽⍳n`, `k+⍳n-k`, `(⍳n)×2`.
//!
//! There is no vector: the machine counts turns, and each makes its item of its number. `↓` and `⌽`
//! say which of the numbers of `⍳n` a turn has; `+ - ×` are done on it, one after the other as the
//! text has them, so that each item is rounded as that of the vector would be. What they read is
//! read once, when the loop begins.

use super::code::{Body, Maker, Place};
use crate::syntax::resolve::{Do as Of, FExpr, Ins};
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, Do};

/// A function of a vector of whole numbers one after the other, and what it reads beside it.
#[derive(Clone, Copy)]
pub enum By<'a> {
    Drop(&'a Ins),
    Turn,
    With(Op, &'a Ins, Side),
}

/// The side on which what is read stands beside the vector.
#[derive(Clone, Copy)]
pub enum Side {
    Left,
    Right,
}

/// A step from a turn's place to one in the vector before.
enum Step {
    /// The numbers that stand before it, so many.
    Behind(Arg),
    /// The place of the last number, from which on they are met.
    From(Arg),
}

/// A loop that counts: the steps, those of the functions that were done first before the others.
pub struct Counted {
    places: Vec<Step>,
    items: Vec<(Op, Arg, Side)>,
}

/// The glyph of a primitive that is called.
fn glyph(f: &FExpr) -> Option<char> {
    match f {
        FExpr::Prim(p) => Some(p.glyph),
        _ => None,
    }
}

fn arithmetic(f: &FExpr) -> Option<Op> {
    match glyph(f)? {
        '+' => Some(Op::Add),
        '-' => Some(Op::Sub),
        '×' => Some(Op::Mul),
        _ => None,
    }
}

/// The code of n and the functions, the first one first. None: it is other code.
pub fn counted(ins: &[Ins]) -> Option<(&[Ins], Vec<By<'_>>)> {
    /// Functions that are looked through.
    const MOST: usize = 4;
    let (mut rest, mut by) = (ins, Vec::new());
    let one = |ins: &Ins| matches!(ins.what, Of::Const(_) | Of::Name(_));
    while by.len() <= MOST {
        let (last, before) = rest.split_last()?;
        match &last.what {
            Of::Monad(f) if glyph(f) == Some('⍳') => {
                by.reverse();
                return Some((before, by));
            }
            Of::Monad(f) if glyph(f) == Some('⌽') => {
                by.push(By::Turn);
                rest = before;
            }
            Of::Dyad(f) => {
                let (x, inner) = before.split_last()?;
                match (one(x), arithmetic(f)) {
                    (true, Some(op)) => by.push(By::With(op, x, Side::Left)),
                    (true, None) if glyph(f) == Some('↓') => by.push(By::Drop(x)),
                    (true, None) => return None,
                    (false, op) => {
                        let (y, left) = before.split_first().filter(|(y, _)| one(y))?;
                        by.push(By::With(op?, y, Side::Right));
                        rest = left;
                        continue;
                    }
                }
                rest = inner;
            }
            _ => return None,
        }
    }
    None
}

impl Counted {
    /// The steps that are done when the loop begins, after n was put at `end`, where the number of
    /// turns is left. None: something that is read is no number.
    pub fn begins(
        maker: &mut Maker<'_, '_>,
        body: &mut Body,
        end: u16,
        by: &[By<'_>],
    ) -> Option<Counted> {
        let mut made = Counted { places: Vec::new(), items: Vec::new() };
        let mut turns = Place::Number(Arg::Fixed(end));
        let kept = |maker: &mut Maker<'_, '_>, body: &mut Body, y: Arg| {
            let slot = maker.program.number(0.0)?;
            body.push(Do::Set { slot, y })?;
            Some(Arg::Fixed(slot))
        };
        for by in by {
            match *by {
                By::Drop(x) => {
                    let x = maker.steps(body, std::slice::from_ref(x), false)??;
                    let x = maker.known_number(&x).filter(|x| x.fract() == 0.0)?;
                    let gone = maker.literal(x.abs()).map(Place::Number)?;
                    let left = maker.two(body, Op::Sub, &turns, &gone)?;
                    let none = maker.literal(0.0).map(Place::Number)?;
                    turns = maker.two(body, Op::Max, &none, &left)?;
                    if x > 0.0 {
                        made.places.push(Step::Behind(gone.number()?));
                    }
                }
                By::Turn => {
                    let one = maker.literal(1.0).map(Place::Number)?;
                    let last = maker.two(body, Op::Sub, &turns, &one)?.number()?;
                    made.places.push(Step::From(kept(maker, body, last)?));
                }
                By::With(op, x, side) => {
                    let x = maker.steps(body, std::slice::from_ref(x), false)??.number()?;
                    made.items.push((op, kept(maker, body, x)?, side));
                }
            }
        }
        if !made.places.is_empty() || by.iter().any(|by| matches!(by, By::Drop(_))) {
            body.push(Do::Set { slot: end, y: turns.number()? })?;
        }
        Some(made)
    }

    /// Whether each number is its turn's item.
    pub fn is_plain(&self) -> bool {
        self.places.is_empty() && self.items.is_empty()
    }

    /// The item of a turn of this number, ⎕IO included.
    pub fn item(&self, maker: &mut Maker<'_, '_>, body: &mut Body, number: Arg) -> Option<Arg> {
        let mut item = Place::Number(number);
        let origin = maker.literal(maker.program.io).map(Place::Number)?;
        if !self.places.is_empty() {
            item = maker.two(body, Op::Sub, &item, &origin)?;
            for step in self.places.iter().rev() {
                item = match step {
                    Step::Behind(n) => maker.two(body, Op::Add, &item, &Place::Number(*n))?,
                    Step::From(last) => maker.two(body, Op::Sub, &Place::Number(*last), &item)?,
                };
            }
            item = maker.two(body, Op::Add, &item, &origin)?;
        }
        for (op, with, side) in &self.items {
            let with = Place::Number(*with);
            item = match side {
                Side::Left => maker.two(body, *op, &with, &item)?,
                Side::Right => maker.two(body, *op, &item, &with)?,
            };
        }
        item.number()
    }
}

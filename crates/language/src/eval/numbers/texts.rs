//! Texts in registers: each that differs is a number.
//!
//! A loop that looks words up in a list which it makes longer (`i←k⍳⊂w`, `k,←⊂w`) asks of a text
//! only whether it is another one, and how long it is. So a text is a register, by the number that
//! it got when the names were copied; the list of words is a list of numbers, in which a number is
//! found by an index (`Machine::place_of`). Nothing in a loop makes a text that was not there.

use super::code::{Body, Maker, Place};
use super::form::Class;
use super::machine::Held;
use super::program::List;
use crate::functions::groups::{Groups, groups_of_pieces};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use aplomb_values::array::Array;
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, Do};
use std::collections::HashMap;

/// Characters of a text, at most.
const LONGEST: usize = 1 << 10;

/// Texts by number.
#[derive(Clone, Default)]
pub struct Texts {
    texts: Vec<Array>,
    numbers: HashMap<(bool, Box<[char]>), u32>,
}

/// True of an array that is a text: characters, at most a vector of them.
pub fn is_text(a: &Array) -> bool {
    a.is_char() && a.is_plain() && a.rank() <= 1 && a.len() <= LONGEST
}

/// True of a nested vector whose items are texts.
pub fn are_texts(a: &Array) -> bool {
    if a.is_uniform() || a.rank() != 1 {
        return false;
    }
    if a.is_empty() {
        let like = a.prototype();
        return !like.is_simple_scalar() && like.is_char();
    }
    match a.pieces() {
        Some(pieces) => pieces.flat().is_char(),
        None => a.in_turn().all(|item| is_text(&item)),
    }
}

impl Texts {
    /// True where there is none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The number of a text. None: it is no text.
    pub fn number(&mut self, a: &Array) -> Option<f64> {
        if !is_text(a) {
            return None;
        }
        let chars = (0..a.len()).map(|k| match a.item(k).data() {
            aplomb_values::array::Data::Char(c) => Some(*c),
            _ => None,
        });
        let key = (a.rank() == 0, chars.collect::<Option<Box<[char]>>>()?);
        let next = self.texts.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.texts.push(a.clone());
        }
        Some(f64::from(number))
    }

    /// The number of a text that was made, by its characters, and whether there was none like it.
    /// None: there is no room for it, or it is too long.
    pub fn number_of(&mut self, chars: &[f64], budget: &Budget) -> Option<(f64, bool)> {
        (chars.len() <= LONGEST).then_some(())?;
        let text: Option<Box<[char]>> = chars.iter().map(|&c| char::from_u32(c as u32)).collect();
        let key = (false, text?);
        if let Some(number) = self.numbers.get(&key) {
            return Some((f64::from(*number), false));
        }
        let chars = budget.each(key.1.iter().copied()).ok()?;
        let text = Array::chars([chars.len()].as_slice(), chars, budget).ok()?;
        let number = self.texts.len() as u32;
        self.texts.push(text);
        self.numbers.insert(key, number);
        Some((f64::from(number), true))
    }

    /// The text of a number.
    pub fn spelled(&self, number: f64) -> Option<&Array> {
        self.texts.get(number as usize)
    }

    /// The numbers of a vector of texts. None: some item is no text. Errors: WS FULL, INTERRUPT.
    pub fn numbers(&mut self, a: &Array, budget: &Budget) -> Result<Option<Array>> {
        let (mut out, mut ticks) = (budget.room(a.len())?, budget.ticks());
        if a.is_uniform() && !a.is_empty() {
            return Ok(None);
        }
        // Of texts that lie side by side each that differs is made once.
        if let Some(pieces) = a.pieces().filter(|pieces| pieces.flat().is_char())
            && let Some(Groups { firsts, of }) = groups_of_pieces(pieces, 0.0, budget)?
        {
            let mut known = budget.room(firsts.len())?;
            for k in firsts {
                ticks.tick()?;
                match self.number(&pieces.item(k)) {
                    Some(number) => known.push(number),
                    None => return Ok(None),
                }
            }
            out.extend(of.iter().map(|&group| known[group as usize]));
            return Array::numbers([out.len()].as_slice(), out, budget).map(Some);
        }
        for item in a.in_turn() {
            ticks.tick()?;
            match self.number(&item) {
                Some(number) => out.push(number),
                None => return Ok(None),
            }
        }
        Array::numbers([out.len()].as_slice(), out, budget).map(Some)
    }

    /// The number of items of each. Errors: WS FULL.
    pub fn lengths(&self, budget: &Budget) -> Result<Vec<f64>> {
        budget.each(self.texts.iter().map(|text| text.len() as f64))
    }

    /// The text, or the vector of them. None: a vector of none. Errors: WS FULL.
    pub fn array(&self, held: &Held, budget: &Budget) -> Result<Option<Array>> {
        let of = |x: f64| self.texts[x as usize].clone();
        match held {
            Held::Number(x) => Ok(Some(of(*x))),
            Held::List(list) if list.len() == 0 => Ok(None),
            Held::List(list) => {
                let n = list.len();
                let mut items = budget.room(n)?;
                items.extend((0..n).map_while(|k| list.item(k)).map(of));
                Array::collect([n].as_slice(), items, None, budget).map(Some)
            }
        }
    }
}

impl Maker<'_, '_> {
    /// The register of a text. None: it is none.
    pub fn as_text(&mut self, y: &Place) -> Option<Arg> {
        match y {
            Place::Text(y) => Some(*y),
            Place::Vector(of) => {
                let a = self.constant_list(*of)?.clone();
                let number = self.program.texts.borrow_mut().number(&a)?;
                self.literal(number)
            }
            Place::Char(y) => {
                let x = self.known_number(&Place::Number(*y))?;
                let a = Array::char(char::from_u32(x as u32)?);
                let number = self.program.texts.borrow_mut().number(&a)?;
                self.literal(number)
            }
            _ => None,
        }
    }

    /// `≢` of a text.
    pub fn length_of_text(&mut self, body: &mut Body, y: Arg) -> Option<Place> {
        let of = match self.program.lengths {
            Some(of) => of,
            None => {
                let of = self.list(List::EMPTY, Class::Number)?;
                self.program.lengths = Some(of);
                of
            }
        };
        let io = self.literal(self.program.io).map(Place::Number)?;
        let at = self.two(body, Op::Add, &Place::Number(y), &io)?.number()?;
        body.made(Class::Number, |into| Do::Item { into, of, at })
    }
}

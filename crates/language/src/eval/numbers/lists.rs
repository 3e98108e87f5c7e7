//! Primitives on all items of lists that calls have: `(⍵<p)/⍵`, `⍵[⍋⍵]`, `l⍳⍵`.
//!
//! The steps are `OnList`'s; `whole` does them. A short vector becomes a list where the other
//! argument is one, and a vector of the program is copied: what is done to it takes as long.

use super::code::{Body, Maker, Place};
use super::form::{Class, Form, SHORT};
use crate::eval::cx::SMALL;
use crate::eval::value::Value;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scan;
use aplomb_values::registers::{Arg, Do, Many, OnList};
use std::rc::Rc;

/// True of a scalar, which is a vector of one to most functions on lists.
fn is_one(p: &Place) -> bool {
    matches!(p, Place::Number(_) | Place::Char(_))
}

impl Maker<'_, '_> {
    /// The class of the items of a value. None: they are of several.
    fn class_of_items(&self, y: &Place) -> Option<Class> {
        match y {
            Place::Number(_) => Some(Class::Number),
            Place::Char(_) => Some(Class::Char),
            Place::List(_, class) | Place::Turned(_, class) => Some(*class),
            Place::Text(_) => Some(Class::Char),
            Place::Vector(of) | Place::TurnedVector(of) => Some(self.classes[*of as usize]),
            Place::Tuple(_) => match y.form()?.as_list()? {
                Form::List(class) => Some(class),
                _ => None,
            },
            _ => None,
        }
    }

    /// True of a list of the program that has more items now than are worth copying.
    fn is_large(&self, of: u16) -> bool {
        let name = self.program.names.iter().find(|name| name.rank > 0 && name.slot == of);
        let held = name.and_then(|name| self.ev.lookup(name.scope.at(), name.sym));
        matches!(held, Some(Value::Array(a)) if a.len() > SMALL)
    }

    /// The items of a vector as a list of the call's own.
    pub(super) fn items_of(&mut self, body: &mut Body, y: &Place) -> Option<(u16, Class)> {
        match y {
            Place::Vector(of) | Place::TurnedVector(of) => {
                let class = self.classes[*of as usize];
                (class != Class::Text && !self.is_large(*of)).then_some(())?;
                let list = body.listed(class, |into| OnList::Fixed { into, of: Some(*of) })?;
                let Place::List(list, _) = list else { return None };
                match y {
                    Place::Vector(_) => Some((list, class)),
                    _ => self.as_list(body, &Place::Turned(list, class)),
                }
            }
            Place::Number(_) | Place::Char(_) => {
                self.as_list(body, &Place::Tuple([y.clone()].into()))
            }
            Place::Text(y) => {
                let y = *y;
                let list = body.listed(Class::Char, |into| OnList::Spell { into, y })?;
                let Place::List(of, class) = list else { return None };
                Some((of, class))
            }
            y => self.as_list(body, y),
        }
    }

    /// All items of a value of a class.
    fn many_of(&mut self, body: &mut Body, y: &Place, class: Class) -> Option<Many> {
        (self.class_of_items(y)? == class).then_some(())?;
        match y {
            Place::Number(y) | Place::Char(y) => Some(Many::One(*y)),
            y => self.items_of(body, y).map(|(of, _)| Many::All(of)),
        }
    }

    /// A scalar function of all items.
    pub(super) fn map_items(
        &mut self,
        body: &mut Body,
        op: Op,
        x: Option<&Place>,
        y: &Place,
    ) -> Option<Place> {
        let class = self.class_of_items(y)?;
        // What it computes depends on the number.
        (op != Op::CircleBy).then_some(())?;
        (class == Class::Number || x.is_some() && matches!(op, Op::Eq | Op::Ne)).then_some(())?;
        let y = self.many_of(body, y, class)?;
        let x = match x {
            Some(x) => Some(self.many_of(body, x, class)?),
            None => None,
        };
        matches!((x, y), (Some(Many::All(_)), _) | (_, Many::All(_))).then_some(())?;
        body.listed(Class::Number, |into| OnList::Map { op, into, x, y })
    }

    /// `op/y`
    pub(super) fn fold_items(&mut self, body: &mut Body, op: Op, y: &Place) -> Option<Place> {
        (op.is_associative() || op == Op::Sub).then_some(())?;
        let (of, Class::Number) = self.items_of(body, y)? else { return None };
        body.made(Class::Number, |into| Do::List(OnList::Fold { op, into, of }, false))
    }

    /// `op\y`
    pub(super) fn scan_items(&mut self, body: &mut Body, op: Op, y: &Place) -> Option<Place> {
        if matches!(y, Place::Number(_) | Place::Char(_)) {
            return Some(y.clone());
        }
        scan::runs(op, false).then_some(())?;
        let (of, Class::Number) = self.items_of(body, y)? else { return None };
        body.listed(Class::Number, |into| OnList::Scan { op, into, of })
    }

    /// `2op/y`, and with ⍨ each pair the other way round.
    pub(super) fn pairs_of_items(
        &mut self,
        body: &mut Body,
        (op, turned): (Op, bool),
        x: &Place,
        y: &Place,
    ) -> Option<Place> {
        let turned = match self.known_number(x)? {
            2.0 => turned,
            -2.0 => !turned,
            _ => return None,
        };
        let (of, class) = self.items_of(body, y)?;
        (class == Class::Number || matches!(op, Op::Eq | Op::Ne)).then_some(())?;
        body.listed(Class::Number, |into| OnList::Pairs { op, into, of, turned })
    }

    /// `y[at]` of several places.
    pub(super) fn items_at(&mut self, body: &mut Body, y: &Place, at: &Place) -> Option<Place> {
        let (at, Class::Number) = self.items_of(body, at)? else { return None };
        let (of, class, program) = match y {
            // A scalar has no places.
            y if is_one(y) => return None,
            Place::Vector(of) => (*of, self.classes[*of as usize], true),
            y => {
                let (of, class) = self.items_of(body, y)?;
                (of, class, false)
            }
        };
        (class != Class::Text).then_some(())?;
        body.listed(class, |into| OnList::At { into, of, at, program })
    }

    /// A primitive that is no scalar one, on lists.
    pub(super) fn on_items(
        &mut self,
        body: &mut Body,
        glyph: char,
        x: Option<&Place>,
        y: &Place,
    ) -> Option<Place> {
        match x {
            None => self.monad_on_items(body, glyph, y),
            Some(x) => self.dyad_on_items(body, glyph, x, y),
        }
    }

    fn monad_on_items(&mut self, body: &mut Body, glyph: char, y: &Place) -> Option<Place> {
        match (glyph, y) {
            ('⍳', Place::Number(n)) => {
                body.listed(Class::Number, |into| OnList::Iota { into, n: *n })
            }
            ('?', Place::Number(n)) => {
                self.program.draws = true;
                body.made(Class::Number, |into| Do::List(OnList::Roll { into, n: *n }, false))
            }
            ('⍕', Place::Number(y)) => {
                let y = *y;
                body.listed(Class::Char, |into| OnList::Digits { into, y })
            }
            ('?', Place::Tuple(items)) => {
                let rolled = items.iter().map(|n| self.monad_on_items(body, '?', n));
                rolled.collect::<Option<Rc<[Place]>>>().map(Place::Tuple)
            }
            (_, Place::Number(_) | Place::Char(_)) => None,
            // Texts are what names of loops hold.
            ('⊂', y) if body.is_loop() => {
                let (of, Class::Char) = self.items_of(body, y)? else { return None };
                let into = body.registers(1)?;
                body.push(Do::List(OnList::Intern { into, of }, false))?;
                Some(Place::Enclosed(Arg::Register(into)))
            }
            ('⍸', y) => {
                let (of, Class::Number) = self.items_of(body, y)? else { return None };
                body.listed(Class::Number, |into| OnList::Where { into, of })
            }
            ('⍋' | '⍒', y) => {
                let (of, _) = self.items_of(body, y)?;
                let down = glyph == '⍒';
                body.listed(Class::Number, |into| OnList::Grade { into, of, down })
            }
            ('∪', y) => {
                let (of, class) = self.items_of(body, y)?;
                body.listed(class, |into| OnList::Unique { into, of })
            }
            ('⍴', Place::List(of, _) | Place::Turned(of, _)) => {
                let n = |into| Do::List(OnList::Tally { into, of: *of }, false);
                let n = body.made(Class::Number, n)?;
                Some(Place::Tuple([n].into()))
            }
            ('↑' | '∊', y) => self.items_of(body, y).map(|(of, class)| Place::List(of, class)),
            ('⌽' | '⊖', y) => {
                self.items_of(body, y).map(|(of, class)| Place::Turned(of, class))
            }
            _ => None,
        }
    }

    fn dyad_on_items(
        &mut self,
        body: &mut Body,
        glyph: char,
        x: &Place,
        y: &Place,
    ) -> Option<Place> {
        match glyph {
            '/' | '⌿' => {
                let (of, class) = self.items_of(body, y)?;
                let by = self.many_of(body, x, Class::Number)?;
                body.listed(class, |into| OnList::Select { into, of, by })
            }
            '↑' => {
                let n = x.number()?;
                if let Place::Vector(of) = y {
                    let from = self.literal(0.0)?;
                    return self.part(body, *of, from, Some(n));
                }
                let (of, class) = self.items_of(body, y)?;
                // Of a program's list no more than that is copied. Steps between them that make a
                // number know nothing of it.
                let makes_number =
                    |step: &Do| matches!(step, Do::Copy { .. } | Do::One { .. } | Do::Two { .. });
                if let Some(k) = body.of.steps.iter().rposition(|step| !makes_number(step))
                    && let Do::List(OnList::Part { into, take, .. }, _) = &mut body.of.steps[k]
                    && take.is_none()
                    && *into == of
                {
                    *take = Some(n);
                    body.of.steps[k..].rotate_left(1);
                    return Some(Place::List(of, class));
                }
                let fill = class.fill()?;
                body.listed(class, |into| OnList::Take { into, of, n, fill })
            }
            '↓' => {
                let n = x.number()?;
                if let Place::Vector(of) = y {
                    return self.part(body, *of, n, None);
                }
                let (of, class) = self.items_of(body, y)?;
                body.listed(class, |into| OnList::Drop { into, of, n })
            }
            // A scalar stays one.
            '⌽' | '⊖' if is_one(y) => None,
            '⌽' | '⊖' => {
                let (n, (of, class)) = (x.number()?, self.items_of(body, y)?);
                body.listed(class, |into| OnList::Turn { into, of, n })
            }
            '⍴' => {
                let n = match x {
                    Place::Tuple(items) if items.len() == 1 => items[0].number()?,
                    x => x.number()?,
                };
                let few = self.known_number(&Place::Number(n)).filter(|n| n.fract() == 0.0);
                if let Some(few) = few.filter(|n| (1.0..=SHORT as f64).contains(n))
                    && is_one(y)
                {
                    return Some(Place::Tuple(
                        std::iter::repeat_n(y.clone(), few as usize).collect(),
                    ));
                }
                let class = self.class_of_items(y)?;
                let of = self.many_of(body, y, class)?;
                body.listed(class, |into| OnList::Cycle { into, of, n })
            }
            // What is searched in is a vector.
            '⍳' if is_one(x) => None,
            '⍳' | '∊' => {
                let (list, sought) = if glyph == '⍳' { (x, y) } else { (y, x) };
                self.sought(body, glyph == '∊', list, sought)
            }
            '~' => {
                let (of, class) = self.items_of(body, x)?;
                let (y, other) = self.items_of(body, y)?;
                (class == other).then_some(())?;
                body.listed(class, |into| OnList::Without { into, of, y })
            }
            '∪' => {
                let more = self.dyad_on_items(body, '~', y, x)?;
                let (of, class) = self.items_of(body, x)?;
                let Place::List(with, _) = more else { return None };
                body.listed(class, |into| OnList::Both { into, of, with })
            }
            '∩' => {
                let (of, class) = self.items_of(body, x)?;
                let there = self.sought(body, true, y, &Place::List(of, class))?;
                let Place::List(by, _) = there else { return None };
                body.listed(class, |into| OnList::Select { into, of, by: Many::All(by) })
            }
            '≡' | '≢' => {
                let same = match is_one(x) || is_one(y) {
                    // A vector is no scalar.
                    true => None,
                    false => self.same_items(body, x, y),
                }?;
                match glyph {
                    '≡' => Some(same),
                    _ => {
                        let y = same.number()?;
                        body.made(Class::Number, |into| Do::One { op: Op::Not, into, y })
                    }
                }
            }
            '⌷' => match x {
                Place::Number(at) => self.item(body, y.clone(), *at).filter(is_one),
                _ => None,
            },
            ',' if is_one(x) != is_one(y) => {
                let (one, all, front) = if is_one(x) { (x, y, true) } else { (y, x, false) };
                let (of, class) = self.items_of(body, all)?;
                self.joined(body, &Place::List(of, class), one, front)
            }
            ',' => {
                let (x, y) = (self.items_of(body, x)?, self.items_of(body, y)?);
                (x.1 == y.1).then_some(())?;
                body.listed(x.1, |into| OnList::Both { into, of: x.0, with: y.0 })
            }
            _ => None,
        }
    }

    /// `take↑from↓of` of a program's list.
    fn part(&mut self, body: &mut Body, of: u16, from: Arg, take: Option<Arg>) -> Option<Place> {
        let class = self.classes[of as usize];
        let fill = class.fill()?;
        body.listed(class, |into| OnList::Part { into, of, from, take, fill })
    }

    /// A name of a loop becomes a list of the call's own. What is left of its own items, and what
    /// is its own behind an item, is made where they lie: true, and no list is made.
    pub(super) fn become_items(
        &mut self,
        body: &mut Body,
        slot: u16,
        (of, class): (u16, Class),
    ) -> Option<bool> {
        (class == self.classes[slot as usize]).then_some(())?;
        match body.of.steps.as_slice() {
            [.., Do::List(OnList::Part { into, of: from, from: n, take: None, .. }, _)]
                if (*into, *from) == (of, slot) =>
            {
                let n = self.known_number(&Place::Number(*n));
                let short = |n: &f64| n.fract() == 0.0 && n.abs() <= 1e4;
                if let Some(n) = n.filter(short) {
                    body.of.steps.pop();
                    body.push(Do::Cut { of: slot, n: n.abs() as u16, end: n < 0.0 })?;
                    return Some(true);
                }
            }
            [
                ..,
                Do::List(OnList::Fixed { into: all, of: Some(from) }, _),
                Do::List(OnList::Join { into, of: joined, y, front: true }, _),
            ] if (*all, *into, *from) == (*joined, of, slot) => {
                let y = *y;
                body.of.steps.truncate(body.of.steps.len() - 2);
                body.push(Do::List(OnList::Prepend { slot, y }, false))?;
                return Some(true);
            }
            _ => {}
        }
        body.push(Do::List(OnList::Name { slot, of }, false))?;
        Some(false)
    }

    /// `x≡y` of two vectors.
    fn same_items(&mut self, body: &mut Body, x: &Place, y: &Place) -> Option<Place> {
        let (of, class) = self.items_of(body, x)?;
        let (with, other) = self.items_of(body, y)?;
        if class != other {
            return self.literal(0.0).map(Place::Number);
        }
        body.made(Class::Number, |into| Do::List(OnList::Same { into, of, with }, false))
    }

    /// The places of items in a vector, or whether they are there.
    fn sought(&mut self, body: &mut Body, is: bool, list: &Place, y: &Place) -> Option<Place> {
        let (of, class) = self.items_of(body, list)?;
        (self.class_of_items(y)? == class).then_some(())?;
        if let Place::Number(y) | Place::Char(y) = y {
            let place = |into| Do::List(OnList::Place { into, of, y: *y }, false);
            let place = body.made(Class::Number, place)?;
            if is {
                let n = |into| Do::List(OnList::Tally { into, of }, false);
                let n = body.made(Class::Number, n)?;
                return self.two(body, Op::Lt, &place, &n);
            }
            let io = self.literal(self.program.io).map(Place::Number)?;
            return self.two(body, Op::Add, &place, &io);
        }
        let (y, _) = self.items_of(body, y)?;
        body.listed(Class::Number, |into| OnList::Places { into, of, y, is })
    }
}

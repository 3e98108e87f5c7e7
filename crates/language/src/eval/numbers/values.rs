//! Primitives on values whose form is known: what they do to a short vector is done to its
//! registers, one by one, and moves are no instructions at all.

use super::code::{Body, Maker, Place};
use super::form::{Class, Form, SHORT};
use crate::table::Prim;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::ordered;
use aplomb_values::registers::{Arg, Do, OnList};
use std::cell::RefCell;
use std::rc::Rc;

impl Place {
    pub fn one(class: Class, y: Arg) -> Place {
        match class {
            Class::Number => Place::Number(y),
            Class::Char => Place::Char(y),
            Class::Text => Place::Enclosed(y),
        }
    }

    /// The register of a number; a vector of one is none.
    pub fn number(&self) -> Option<Arg> {
        match self {
            Place::Number(y) => Some(*y),
            _ => None,
        }
    }

    /// The register of a scalar of a class.
    pub fn scalar(&self, of: Class) -> Option<Arg> {
        match (self, of) {
            (Place::Number(y), Class::Number) | (Place::Char(y), Class::Char) => Some(*y),
            (Place::Enclosed(y), Class::Text) => Some(*y),
            _ => None,
        }
    }

    /// An item that is picked: a text stands in none.
    fn opened(self) -> Place {
        match self {
            Place::Enclosed(y) => Place::Text(y),
            item => item,
        }
    }

    /// The form of a whole value.
    pub fn form(&self) -> Option<Form> {
        match self {
            Place::Number(_) => Some(Form::NUMBER),
            Place::Char(_) => Some(Form::One(Class::Char)),
            Place::List(_, class) => Some(Form::List(*class)),
            Place::Tuple(items) => {
                items.iter().map(Place::form).collect::<Option<Rc<[Form]>>>().map(Form::Tuple)
            }
            _ => None,
        }
    }

    /// The list of the program that it is.
    pub fn outer_list(&self) -> Option<u16> {
        match self {
            Place::Vector(of) | Place::TurnedVector(of) => Some(*of),
            Place::Matrix(of) | Place::TurnedMatrix(of) => Some(*of),
            Place::WithOne { of, .. } => Some(*of),
            _ => None,
        }
    }

    pub fn items(&self) -> Option<&[Place]> {
        match self {
            Place::Tuple(items) => Some(items),
            _ => None,
        }
    }
}

impl Maker<'_, '_> {
    /// A value that may be passed, given, or named: registers or a list of the call's own.
    pub fn whole(&mut self, body: &mut Body, y: Place) -> Option<Place> {
        match y {
            Place::Turned(of, class) => body.listed(class, |into| OnList::Reverse { into, of }),
            Place::Vector(of) => {
                let class = self.classes[of as usize];
                match self.short(&Place::Vector(of)) {
                    Some(short) => Some(short),
                    // A constant is copied; who reads an outer name reads its items.
                    None => {
                        self.constant_list(of)?;
                        body.listed(class, |into| OnList::Fixed { into, of: Some(of) })
                    }
                }
            }
            Place::Matrix(_) | Place::TurnedMatrix(_) | Place::TurnedVector(_) => None,
            Place::WithOne { .. } | Place::Text(_) | Place::Enclosed(_) | Place::Cell(_) => None,
            y => Some(y),
        }
    }

    /// A short vector as its registers.
    pub(super) fn short(&mut self, y: &Place) -> Option<Place> {
        match y {
            Place::Tuple(_) => Some(y.clone()),
            Place::Vector(of) => {
                let class = self.classes[*of as usize];
                let a = self.constant_list(*of).filter(|a| (1..=SHORT).contains(&a.len()))?.clone();
                let mut items = Vec::new();
                for k in 0..a.len() {
                    items.push(Place::one(class, self.literal(a.number_at(k)?)?));
                }
                Some(Place::Tuple(items.into()))
            }
            _ => None,
        }
    }

    /// True of a list of the program that is more than some registers.
    fn is_long(&self, y: &Place) -> bool {
        match y {
            Place::Matrix(_) | Place::TurnedMatrix(_) => true,
            Place::Vector(of) => {
                self.constant_list(*of).is_none_or(|a| !(1..=SHORT).contains(&a.len()))
            }
            _ => false,
        }
    }

    /// A vector of scalars of one class, and the class, as a list of the call's own.
    pub(super) fn as_list(&mut self, body: &mut Body, y: &Place) -> Option<(u16, Class)> {
        match self.whole(body, y.clone())? {
            Place::List(of, class) => Some((of, class)),
            Place::Tuple(items) => {
                let Form::List(class) = Place::Tuple(items.clone()).form()?.as_list()? else {
                    return None;
                };
                let mut list = body.listed(class, |into| OnList::Fixed { into, of: None })?;
                for item in items.iter() {
                    list = self.joined(body, &list, item, false)?;
                }
                let Place::List(of, _) = list else { return None };
                Some((of, class))
            }
            _ => None,
        }
    }

    /// A primitive.
    pub fn apply(
        &mut self,
        body: &mut Body,
        p: &Prim,
        x: Option<Place>,
        y: Place,
    ) -> Option<Place> {
        let (op, begun) = (p.scalar(x.is_some()), body.of.steps.len());
        let made = match (op, &x) {
            (Some(op), Some(x)) => self.two(body, op, x, &y),
            (Some(op), None) => self.one(body, op, &y),
            (None, Some(x)) => self.dyad(body, p.glyph, x.clone(), y.clone()),
            (None, None) => self.monad(body, p.glyph, y.clone()),
        };
        made.or_else(|| {
            // Steps of a way that led nowhere.
            body.of.steps.truncate(begun);
            match op {
                Some(op) => self.map_items(body, op, x.as_ref(), &y),
                None => self.on_items(body, p.glyph, x.as_ref(), &y),
            }
        })
    }

    fn one(&mut self, body: &mut Body, op: Op, y: &Place) -> Option<Place> {
        match y {
            Place::Number(y) => body.made(Class::Number, |into| Do::One { op, into, y: *y }),
            y => {
                let Some(y) = self.short(y) else { return self.map_all(body, op, None, y) };
                let items = y.items()?.iter().map(|y| self.one(body, op, y));
                items.collect::<Option<Rc<[Place]>>>().map(Place::Tuple)
            }
        }
    }

    pub(super) fn two(&mut self, body: &mut Body, op: Op, x: &Place, y: &Place) -> Option<Place> {
        use Place::{Char, Number};
        match (x, y) {
            (Number(x), Number(y)) => {
                body.made(Class::Number, |into| Do::Two { op, into, x: *x, y: *y })
            }
            (Number(_) | Char(_), Number(_) | Char(_)) if !matches!(op, Op::Eq | Op::Ne) => None,
            (Char(x), Char(y)) => {
                body.made(Class::Number, |into| Do::Two { op, into, x: *x, y: *y })
            }
            (Number(_) | Char(_), Number(_) | Char(_)) => {
                self.literal(f64::from(u8::from(op == Op::Ne))).map(Number)
            }
            (x, y) if self.is_long(x) || self.is_long(y) => self.map_all(body, op, Some(x), y),
            (x, y) => {
                let is_one = |p: &Place| matches!(p, Number(_) | Char(_));
                let (x, y) = (
                    if is_one(x) { x.clone() } else { self.short(x)? },
                    if is_one(y) { y.clone() } else { self.short(y)? },
                );
                let (xs, ys) = (x.items(), y.items());
                let n = match (xs, ys) {
                    (Some(xs), Some(ys)) if xs.len() == ys.len() => xs.len(),
                    (Some(xs), Some([_])) => xs.len(),
                    (Some([_]), Some(ys)) => ys.len(),
                    (Some(xs), None) => xs.len(),
                    (None, Some(ys)) => ys.len(),
                    _ => return None,
                };
                let pick = |items: Option<&[Place]>, all: &Place, k: usize| match items {
                    Some([one]) => one.clone(),
                    Some(items) => items[k].clone(),
                    None => all.clone(),
                };
                let items = (0..n).map(|k| self.two(body, op, &pick(xs, &x, k), &pick(ys, &y, k)));
                items.collect::<Option<Rc<[Place]>>>().map(Place::Tuple)
            }
        }
    }

    /// `f/y` of a vector.
    pub fn fold(&mut self, body: &mut Body, p: &Prim, y: Place) -> Option<Place> {
        if matches!(y, Place::Number(_) | Place::Char(_)) {
            return Some(y);
        }
        let op = p.scalar(true)?;
        if self.is_long(&y) {
            let begun = body.of.steps.len();
            return self.fold_all(body, op, &y).or_else(|| {
                body.of.steps.truncate(begun);
                self.fold_items(body, op, &y)
            });
        }
        let Some(y) = self.short(&y) else { return self.fold_items(body, op, &y) };
        let items = y.items()?;
        if !op.is_associative() && (op, items.len()) != (Op::Sub, 2) {
            return None;
        }
        let is_number = |y: &Place| matches!(y, Place::Number(_));
        items.iter().all(is_number).then_some(())?;
        let numbers: Vec<usize> = (0..items.len()).collect();
        let made = RefCell::new((self, body, items.to_vec()));
        let sum = ordered(op, &numbers, true, |x, y| {
            let (maker, body, all) = &mut *made.borrow_mut();
            let sum = maker.two(body, op, &all[x], &all[y]).ok_or(())?;
            all.push(sum);
            Ok::<_, ()>(all.len() - 1)
        });
        let at = sum.ok()??;
        Some(made.into_inner().2.swap_remove(at))
    }

    fn monad(&mut self, body: &mut Body, glyph: char, y: Place) -> Option<Place> {
        match (glyph, y) {
            ('⊢' | '⊣', y) => Some(y),
            ('⊃' | '⌽', y @ (Place::Number(_) | Place::Char(_))) => Some(y),
            ('⌽', Place::List(of, class)) => Some(Place::Turned(of, class)),
            ('⌽', Place::Turned(of, class)) => Some(Place::List(of, class)),
            ('⌽', Place::TurnedVector(of)) => Some(Place::Vector(of)),
            ('⌽', Place::Vector(of)) if self.constant_list(of).is_none() => {
                Some(Place::TurnedVector(of))
            }
            ('⊂', Place::Tuple(items)) => match &*items {
                [Place::Number(row), Place::Number(column)] => Some(Place::Cell([*row, *column])),
                _ => None,
            },
            ('⊂', Place::Text(y)) => Some(Place::Enclosed(y)),
            ('⊃', Place::Enclosed(y)) => Some(Place::Text(y)),
            ('≢', Place::Text(y)) => self.length_of_text(body, y),
            ('≢', Place::Enclosed(_)) => self.literal(1.0).map(Place::Number),
            ('⌽', Place::WithOne { of, x, front, turned }) => {
                Some(Place::WithOne { of, x, front, turned: !turned })
            }
            ('⊃', Place::WithOne { of, x, front, turned }) => {
                self.first_with_one(body, (of, x), front != turned, turned)
            }
            ('≢', Place::WithOne { of, .. }) => {
                let n = self.monad(body, '≢', Place::Vector(of))?;
                let one = self.literal(1.0).map(Place::Number)?;
                self.two(body, Op::Add, &n, &one)
            }
            ('⌽', y) => {
                let y = self.short(&y)?;
                Some(Place::Tuple(y.items()?.iter().rev().cloned().collect()))
            }
            ('⊃', Place::Tuple(items)) => items.first().cloned(),
            ('⊃', Place::List(of, class)) => self.end(body, (of, class), false),
            ('⊃', Place::Turned(of, class)) => self.end(body, (of, class), true),
            ('⊃', y @ Place::Vector(_)) => {
                let at = self.literal(self.program.io)?;
                if let Arg::Fixed(front) = at {
                    self.program.fronts.push(front);
                }
                self.item(body, y, at).map(Place::opened)
            }
            // Of none there is none: the evaluator says what it is, and no guard.
            ('⊃', Place::TurnedVector(_)) if self.program.is_guarded => None,
            ('⊃', Place::TurnedVector(of)) => {
                let n = self.monad(body, '≢', Place::Vector(of))?;
                let before = self.literal(self.program.io - 1.0).map(Place::Number)?;
                let at = self.two(body, Op::Add, &n, &before)?.number()?;
                self.item(body, Place::Vector(of), at).map(Place::opened)
            }
            ('≢', Place::Number(_) | Place::Char(_)) => self.literal(1.0).map(Place::Number),
            ('≢', Place::Tuple(items)) => self.literal(items.len() as f64).map(Place::Number),
            ('≢', Place::List(of, _) | Place::Turned(of, _)) => {
                body.made(Class::Number, |into| Do::List(OnList::Tally { into, of }, false))
            }
            ('≢', Place::Vector(of) | Place::Matrix(of)) => {
                body.made(Class::Number, |into| Do::Tally { into, of })
            }
            ('≢', Place::TurnedMatrix(of)) => {
                body.made(Class::Number, |into| Do::Columns { into, of })
            }
            ('⍉', Place::Matrix(of)) => Some(Place::TurnedMatrix(of)),
            ('⍉', Place::TurnedMatrix(of)) => Some(Place::Matrix(of)),
            ('⍉', y @ Place::Vector(_)) => Some(y),
            ('⍴', y @ Place::Vector(_)) => {
                let n = self.monad(body, '≢', y)?;
                Some(Place::Tuple([n].into()))
            }
            ('⍴', y @ (Place::Matrix(_) | Place::TurnedMatrix(_))) => {
                let turned = self.monad(body, '⍉', y.clone())?;
                let (rows, columns) = (self.monad(body, '≢', y)?, self.monad(body, '≢', turned)?);
                Some(Place::Tuple([rows, columns].into()))
            }
            (',', y @ (Place::Number(_) | Place::Char(_))) => Some(Place::Tuple([y].into())),
            (',', y @ (Place::Tuple(_) | Place::List(..) | Place::Vector(_))) => Some(y),
            _ => None,
        }
    }

    /// The first item of a number and a list: the number, or the list's last item or first one and
    /// of none the number.
    fn first_with_one(
        &mut self,
        body: &mut Body,
        (of, x): (u16, Arg),
        is_first: bool,
        last: bool,
    ) -> Option<Place> {
        if is_first {
            return Some(Place::Number(x));
        }
        let into = body.registers(1)?;
        body.push(Do::Copy { into, y: x })?;
        let n = self.monad(body, '≢', Place::Vector(of))?;
        let (zero, io) = (self.literal(0.0)?, self.program.io);
        let some = self.two(body, Op::Lt, &Place::Number(zero), &n)?.number()?;
        let jump = body.of.steps.len();
        body.push(Do::Unless { y: some, then: 0 })?;
        let at = match last {
            true => {
                let before = self.literal(io - 1.0).map(Place::Number)?;
                self.two(body, Op::Add, &n, &before)?.number()?
            }
            false => self.literal(io)?,
        };
        let item = self.item(body, Place::Vector(of), at)?.number()?;
        body.push(Do::Copy { into, y: item })?;
        let then = body.of.steps.len() as u32;
        body.of.steps[jump] = Do::Unless { y: some, then };
        Some(Place::Number(Arg::Register(into)))
    }

    fn end(&mut self, body: &mut Body, (of, class): (u16, Class), last: bool) -> Option<Place> {
        let fill = class.fill()?;
        body.made(class, |into| Do::List(OnList::End { into, of, last, fill }, false))
    }

    fn dyad(&mut self, body: &mut Body, glyph: char, x: Place, y: Place) -> Option<Place> {
        match glyph {
            '⊢' => Some(y),
            '⊣' => Some(x),
            ',' => self.catenated(body, &x, &y),
            '⊃' => {
                if let (Place::Cell(cell), Place::Matrix(of)) = (&x, &y) {
                    return self.item_in(body, *of, *cell);
                }
                let at = x.number()?;
                match y {
                    Place::Number(_) | Place::Char(_) => None,
                    y => self.item(body, y, at).map(Place::opened),
                }
            }
            '↑' => {
                let n = self.known_number(&x).filter(|n| n.fract() == 0.0)?;
                match y {
                    y @ Place::WithOne { .. } if n.abs() == 1.0 => {
                        let y = if n < 0.0 { self.monad(body, '⌽', y)? } else { y };
                        let item = self.monad(body, '⊃', y)?;
                        Some(Place::Tuple([item].into()))
                    }
                    Place::List(of, class) if n.abs() == 1.0 => {
                        let item = self.end(body, (of, class), n < 0.0)?;
                        Some(Place::Tuple([item].into()))
                    }
                    y => {
                        let (y, k) = (self.short(&y)?, n.abs() as usize);
                        let items = y.items()?;
                        let from = if n < 0.0 { items.len().checked_sub(k)? } else { 0 };
                        let taken = items.get(from..from + k).filter(|taken| !taken.is_empty())?;
                        Some(Place::Tuple(taken.into()))
                    }
                }
            }
            '↓' => match y {
                Place::List(of, class) => {
                    let n = x.number()?;
                    body.listed(class, |into| OnList::Drop { into, of, n })
                }
                y => {
                    let n = self.known_number(&x).filter(|n| n.fract() == 0.0)?;
                    let (y, k) = (self.short(&y)?, n.abs() as usize);
                    let items = y.items()?;
                    let left = items.len().checked_sub(k).filter(|left| *left > 0)?;
                    let from = if n < 0.0 { 0 } else { k };
                    Some(Place::Tuple(items[from..from + left].into()))
                }
            },
            '⌽' => match y {
                Place::List(of, class) => {
                    let n = x.number()?;
                    body.listed(class, |into| OnList::Turn { into, of, n })
                }
                _ => None,
            },
            '≡' | '≢' => {
                let same = self.matches(body, &x, &y)?;
                match glyph {
                    '≡' => Some(same),
                    _ => self.one(body, Op::Not, &same),
                }
            }
            '∊' => self.member(body, &x, &y),
            '⍳' => {
                let Place::Vector(of) = x else { return None };
                let k = self.found(body, of, &y)?;
                let io = self.literal(self.program.io)?;
                self.two(body, Op::Add, &k, &Place::Number(io))
            }
            _ => None,
        }
    }

    /// `y[at]`, `at⊃y`
    pub fn item(&mut self, body: &mut Body, y: Place, at: Arg) -> Option<Place> {
        let known = self.known_number(&Place::Number(at));
        match y {
            Place::Tuple(items) => {
                let Some(known) = known else { return picked(body, &items, at) };
                let k = known - self.program.io;
                items.get(k as usize).filter(|_| k >= 0.0 && k.fract() == 0.0).cloned()
            }
            Place::List(of, class) => {
                body.made(class, |into| Do::List(OnList::Item { into, of, at }, false))
            }
            Place::Vector(of) => {
                let class = self.classes[of as usize];
                body.made(class, |into| Do::Item { into, of, at })
            }
            _ => None,
        }
    }

    /// A vector with another item, or one that `op` made of it.
    pub fn with_item(
        &mut self,
        body: &mut Body,
        y: Place,
        at: Arg,
        op: Option<Op>,
        new: Place,
    ) -> Option<Place> {
        match y {
            Place::Tuple(items) => {
                let k = self.known_number(&Place::Number(at))? - self.program.io;
                let k = Some(k).filter(|k| *k >= 0.0 && k.fract() == 0.0)? as usize;
                let old = items.get(k)?;
                let new = match (op, new) {
                    (Some(op), new) => self.two(body, op, old, &new)?,
                    (None, new @ (Place::Number(_) | Place::Char(_))) => new,
                    // Of a vector the items are meant.
                    _ => return None,
                };
                let mut all = items.to_vec();
                all[k] = new;
                Some(Place::Tuple(all.into()))
            }
            Place::List(of, Class::Number) => {
                let y = new.number()?;
                body.listed(Class::Number, |into| OnList::Set { into, of, at, op, y })
            }
            _ => None,
        }
    }

    fn catenated(&mut self, body: &mut Body, x: &Place, y: &Place) -> Option<Place> {
        let front = matches!(x, Place::Number(_));
        if let (Place::Number(one), Place::Vector(of)) | (Place::Vector(of), Place::Number(one)) =
            (x, y)
            && self.constant_list(*of).is_none()
            && self.classes[*of as usize] == Class::Number
        {
            return Some(Place::WithOne { of: *of, x: *one, front, turned: false });
        }
        let is_one = |p: &Place| matches!(p, Place::Number(_) | Place::Char(_));
        let side = |maker: &mut Self, p: &Place| match is_one(p) {
            true => Some(vec![p.clone()]),
            false => maker.short(p).and_then(|p| p.items().map(<[Place]>::to_vec)),
        };
        match (side(self, x), side(self, y)) {
            (Some(mut x), Some(y)) if x.len() + y.len() <= SHORT => {
                x.extend(y);
                Some(Place::Tuple(x.into()))
            }
            (None, Some(y)) => {
                let (of, class) = self.as_list(body, x)?;
                let mut list = Place::List(of, class);
                for item in &y {
                    list = self.joined(body, &list, item, false)?;
                }
                Some(list)
            }
            (Some(x), None) => {
                let (of, class) = self.as_list(body, y)?;
                let mut list = Place::List(of, class);
                for item in x.iter().rev() {
                    list = self.joined(body, &list, item, true)?;
                }
                Some(list)
            }
            _ => {
                let (x, y) = (self.as_list(body, x)?, self.as_list(body, y)?);
                (x.1 == y.1).then_some(())?;
                body.listed(x.1, |into| OnList::Both { into, of: x.0, with: y.0 })
            }
        }
    }

    /// A list with one item more.
    pub(super) fn joined(
        &mut self,
        body: &mut Body,
        list: &Place,
        y: &Place,
        front: bool,
    ) -> Option<Place> {
        match (list, y) {
            (Place::List(of, class @ Class::Number), Place::Number(y))
            | (Place::List(of, class @ Class::Char), Place::Char(y)) => {
                body.listed(*class, |into| OnList::Join { into, of: *of, y: *y, front })
            }
            _ => None,
        }
    }

    /// `x≡y`, of values without lists.
    pub(super) fn matches(&mut self, body: &mut Body, x: &Place, y: &Place) -> Option<Place> {
        if let (Place::Text(_), _) | (_, Place::Text(_)) = (x, y) {
            let (x, y) = (self.as_text(x)?, self.as_text(y)?);
            return self.two(body, Op::Eq, &Place::Number(x), &Place::Number(y));
        }
        let (x, y) = (self.whole(body, x.clone())?, self.whole(body, y.clone())?);
        let (fx, fy) = (x.form()?, y.form()?);
        if fx.has_lists() || fy.has_lists() {
            return None;
        }
        match (x.items(), y.items()) {
            (None, None) => self.two(body, Op::Eq, &x, &y),
            (Some(x), Some(y)) if x.len() == y.len() => {
                let mut all = None;
                for (x, y) in x.iter().zip(y) {
                    let same = self.matches(body, x, y)?;
                    all = Some(match all {
                        None => same,
                        Some(all) => self.two(body, Op::Min, &all, &same)?,
                    });
                }
                all
            }
            _ => self.literal(0.0).map(Place::Number),
        }
    }

    /// `x∊y` of a scalar.
    fn member(&mut self, body: &mut Body, x: &Place, y: &Place) -> Option<Place> {
        match y {
            Place::Vector(of) => {
                let k = self.found(body, *of, x)?;
                let n = self.monad(body, '≢', y.clone())?;
                self.two(body, Op::Lt, &k, &n)
            }
            Place::Tuple(items) if matches!(x, Place::Number(_) | Place::Char(_)) => {
                let mut any = None;
                for item in items.iter() {
                    let same = self.matches(body, x, item)?;
                    any = Some(match any {
                        None => same,
                        Some(any) => self.two(body, Op::Max, &any, &same)?,
                    });
                }
                any
            }
            _ => None,
        }
    }

    /// The place of a scalar in a list of the program from 0 on, or the list's length.
    fn found(&mut self, body: &mut Body, of: u16, y: &Place) -> Option<Place> {
        match (y, self.classes[of as usize]) {
            (Place::Number(y), Class::Number)
            | (Place::Char(y), Class::Char)
            | (Place::Enclosed(y), Class::Text) => {
                let y = *y;
                body.made(Class::Number, |into| Do::Find { into, of, y })
            }
            (Place::Number(_) | Place::Char(_), _) => self.monad(body, '≢', Place::Vector(of)),
            _ => None,
        }
    }
}

/// One of some scalars of one class, by a number that is known when it runs.
fn picked(body: &mut Body, items: &[Place], at: Arg) -> Option<Place> {
    let Form::List(class) = Place::Tuple(items.into()).form()?.as_list()? else { return None };
    let from = body.registers(items.len())?;
    for (into, item) in (from..).zip(items) {
        let (Place::Number(y) | Place::Char(y)) = item else { return None };
        body.push(Do::Copy { into, y: *y })?;
    }
    let n = items.len() as u16;
    body.made(class, |into| Do::Pick { into, from, n, at })
}

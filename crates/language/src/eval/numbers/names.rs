//! Names outside of a program that its steps read and change: the place of each, and what it
//! becomes.

use super::code::{Body, Maker, Place, Step};
use super::form::Class;
use super::program::List;
use super::{Name, texts};
use crate::eval::value::{self, Func, Oper, Value};
use crate::syntax::ast::Sym;
use crate::syntax::resolve::{FExpr, OpExpr, Operand, Pattern};
use aplomb_values::registers::{Arg, Do, OnList};

impl Maker<'_, '_> {
    /// The place of an outer name.
    pub fn outer(&mut self, body: &Body, sym: Sym, changes: bool) -> Option<Place> {
        if changes && (!self.effects || body.seen.iter().any(|(s, _)| *s == sym)) {
            return None;
        }
        let Some(Value::Array(a)) = self.ev.lookup(body.scope.at(), sym) else { return None };
        let known = self.program.names.iter_mut().find(|n| n.sym == sym && n.class == Class::Text);
        if let Some(name) = known {
            name.changes |= changes;
            return name.place().filter(|_| body.is_loop());
        }
        let rank = a.rank();
        let class = match Class::of(&a) {
            Some(class) => class,
            None if body.is_loop() && texts::are_texts(&a) => Class::Text,
            None => return None,
        };
        // One name is one place, from wherever it is seen: calls see the same outer scope only if
        // they were written in it. A loop sees the names of dfns below its function, too.
        let below = self.ev.below(sym).is_some();
        if let Some(name) = self.program.names.iter_mut().find(|n| n.sym == sym) {
            let (its, here) = (&name.scope, &body.scope);
            let same = its.around == here.around && !(below && its.is_loop() != here.is_loop());
            if !same || name.rank != rank || name.class != class {
                return None;
            }
            name.changes |= changes;
            return name.place();
        }
        // What it holds is told before each run.
        let slot = match rank {
            0 => self.program.number(0.0)?,
            _ => self.list(List::EMPTY, class)?,
        };
        let (scope, whole, turned) = (body.scope.clone(), false, false);
        let name = Name { scope, sym, rank, class, slot, changes, whole, turned };
        let place = name.place()?;
        self.program.names.push(name);
        Some(place)
    }

    /// The place of a name of a loop that holds a text.
    pub fn outer_text(&mut self, body: &Body, sym: Sym) -> Option<Place> {
        let known = self.program.names.iter().any(|n| n.sym == sym);
        let Some(Value::Array(a)) = self.ev.lookup(body.scope.at(), sym) else { return None };
        let fits = body.is_loop() && self.effects && self.ev.below(sym).is_none();
        if known || !fits || !texts::is_text(&a) {
            let place = self.outer(body, sym, true)?;
            return matches!(place, Place::Text(_)).then_some(place);
        }
        let (scope, class) = (body.scope.clone(), Class::Text);
        let slot = self.program.number(0.0)?;
        let (changes, whole, turned) = (true, false, false);
        let name = Name { scope, sym, rank: 0, class, slot, changes, whole, turned };
        let place = name.place()?;
        self.program.names.push(name);
        Some(place)
    }

    /// An outer name becomes a value of its kind, or as many as it has. True: the value stands
    /// there alone.
    pub(super) fn set(&mut self, body: &mut Body, sym: Sym, y: &Place) -> Option<bool> {
        let set = if let Place::Text(y) = y {
            let Place::Text(Arg::Fixed(slot)) = self.outer_text(body, sym)? else { return None };
            Do::Set { slot, y: *y }
        } else {
            match self.outer(body, sym, true)? {
                Place::Text(Arg::Fixed(slot)) => {
                    let text = match self.as_text(y) {
                        Some(text) => text,
                        None => match self.on_items(body, '⊂', None, y)? {
                            Place::Enclosed(text) => text,
                            _ => return None,
                        },
                    };
                    Do::Set { slot, y: text }
                }
                Place::Number(Arg::Fixed(slot)) => Do::Set { slot, y: y.scalar(Class::Number)? },
                Place::Char(Arg::Fixed(slot)) => Do::Set { slot, y: y.scalar(Class::Char)? },
                name => {
                    // A number beside its items is no value yet.
                    let whole = match y {
                        Place::WithOne { of, x, front, turned: false } => {
                            let y = Place::Number(*x);
                            let all = Place::Vector(*of);
                            let (x, y) = if *front { (&y, &all) } else { (&all, &y) };
                            self.on_items(body, ',', Some(x), y)?
                        }
                        y => y.clone(),
                    };
                    return self.set_all(body, name, &whole);
                }
            }
        };
        body.push(set)?;
        Some(false)
    }

    /// `a b←` of outer names: an item to each, or all of a scalar.
    pub(super) fn spread(&mut self, body: &mut Body, names: &Pattern, y: &Place) -> Option<()> {
        match names {
            Pattern::Name(sym) => self.set(body, *sym, y).map(|_| ()),
            Pattern::All(names) => {
                y.outer_list().is_none().then_some(())?;
                let Some(items) = y.items() else {
                    return names.iter().try_for_each(|name| self.spread(body, name, y));
                };
                (items.len() == names.len()).then_some(())?;
                let mut each = names.iter().zip(items);
                each.try_for_each(|(name, item)| self.spread(body, name, item))
            }
            Pattern::System(_) | Pattern::Member(_) => None,
        }
    }

    /// `x f←y`
    pub(super) fn modify(&mut self, body: &mut Body, sym: Sym, f: &FExpr, y: Place) -> Option<()> {
        let own = body.own(sym);
        let old = match &own {
            Some(old) => old.clone(),
            None => match self.outer(body, sym, true)? {
                Place::Vector(of) if !self.is_scalar(body, f) => {
                    return self.change_list(body, of, f, &y);
                }
                Place::Matrix(of) if self.primitive(body, f).is_some_and(|p| p.glyph == '⍪') => {
                    return self.add_row(body, of, &y);
                }
                old => old,
            },
        };
        let Step::Gives(new) = self.call(body, f, Some(old), y, false)? else { return None };
        match own {
            Some(_) => body.name(sym, new),
            None => drop(self.set(body, sym, &new)?),
        }
        Some(())
    }

    /// True of an expression that is a scalar function of two arguments.
    pub(super) fn is_scalar(&mut self, body: &Body, f: &FExpr) -> bool {
        self.primitive(body, f).is_some_and(|p| p.scalar(true).is_some())
    }

    /// `x,←y`, and `x↓⍨←y`, of an outer name.
    pub(super) fn change_list(
        &mut self,
        body: &mut Body,
        of: u16,
        f: &FExpr,
        y: &Place,
    ) -> Option<()> {
        if let Some(f) = self.turned(body, f) {
            let n = self.known_number(y).filter(|_| f == '↓')?;
            let count = (n.fract() == 0.0 && n.abs() <= 1e4).then_some(n.abs() as u16)?;
            return body.push(Do::Cut { of, n: count, end: n < 0.0 });
        }
        match self.primitive(body, f)?.glyph {
            ',' => {
                let class = self.classes[of as usize];
                let mut append = |y: &Place| body.push(Do::Append { of, y: y.scalar(class)? });
                match (y, y.items()) {
                    (_, Some(items)) => items.iter().try_for_each(append),
                    (
                        Place::List(..) | Place::Turned(..) | Place::Vector(_) | Place::Text(_),
                        _,
                    ) => {
                        let (own, its) = self.items_of(body, y)?;
                        (its == class).then_some(())?;
                        body.push(Do::List(OnList::Append { slot: of, of: own }, false))
                    }
                    _ => append(y),
                }
            }
            _ => None,
        }
    }

    /// `x⍪←y` of a matrix of a loop, and a vector.
    pub(super) fn add_row(&mut self, body: &mut Body, of: u16, y: &Place) -> Option<()> {
        let is_one = matches!(y, Place::Number(_) | Place::Char(_));
        (body.is_loop() && !is_one).then_some(())?;
        let (row, class) = self.items_of(body, y)?;
        (class == self.classes[of as usize]).then_some(())?;
        body.push(Do::List(OnList::AddRow { slot: of, of: row }, false))
    }

    /// The glyph of the primitive whose arguments `f⍨` exchanges.
    pub(super) fn turned(&mut self, body: &Body, f: &FExpr) -> Option<char> {
        if let FExpr::Op1(OpExpr::Prim(p), f) = f {
            let ('⍨', Operand::F(f)) = (p.glyph, &**f) else { return None };
            return self.primitive(body, f).map(|p| p.glyph);
        }
        match &*self.known(body, f)? {
            Func::Op1(Oper::Prim(p), value::Operand::F(f)) if p.glyph == '⍨' => match &**f {
                Func::Prim(p) => Some(p.glyph),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Name {
    fn place(&self) -> Option<Place> {
        match self.rank {
            0 if self.class == Class::Text => Some(Place::Text(Arg::Fixed(self.slot))),
            0 => Some(Place::one(self.class, Arg::Fixed(self.slot))),
            1 => Some(Place::Vector(self.slot)),
            2 => Some(Place::Matrix(self.slot)),
            _ => None,
        }
    }
}

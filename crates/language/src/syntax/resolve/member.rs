//! Names of namespaces: `a.b`, `#.a.f`, `a.(x+y)`. The dot binds strongest: what is left of it is a
//! namespace, known to be a value when the phrase is read.

use super::code::{Code, Do, FExpr, Gives, Inner, Ins, OpExpr, Operand};
use super::terms::{Ent, Part};
use super::{Class, Head, Key, Path, Resolver, glyph};
use crate::eval::system;
use crate::syntax::ast::{DfnId, ItemId, PhraseId, Sym, What};
use crate::syntax::token::Word;
use aplomb_ground::error::Result;
use aplomb_ground::span::Span;
use std::rc::Rc;

/// The last link of a chain of dots.
enum Last {
    Name(Sym),
    Phrase(PhraseId),
    System(&'static system::Row),
    Dfn(DfnId),
    /// `n.⍎`: a text runs there.
    Execute,
}

/// The namespaces left of a dot.
pub(super) struct Owner {
    /// The item that the chain begins with.
    pub begins: usize,
    /// The code that pushes them.
    pub ins: Vec<Ins>,
    /// The chain as names, if it is nothing else.
    path: Option<(Head, Vec<Sym>)>,
    /// The thing to ask for the class of a name, if it is no path.
    ask: Option<Ask>,
}

/// Namespaces that can be looked at before the phrase runs.
#[derive(Clone, Copy)]
enum Ask {
    /// A phrase in parentheses.
    Phrase(PhraseId),
    /// An index of a name: what its first item has, the others have.
    Indexed(Sym),
}

impl Ask {
    fn key(self, name: Sym) -> Key {
        match self {
            Ask::Phrase(phrase) => Key::Of(phrase, name),
            Ask::Indexed(of) => Key::Member(Path { head: Head::Name(of), names: [name].into() }),
        }
    }
}

impl Resolver<'_> {
    fn is_dot(&self, items: &[ItemId], k: usize) -> bool {
        items.get(k).is_some_and(|id| matches!(self.ast.item(*id).what, What::Glyph('.')))
    }

    /// The chain that ends before a dot at `dot`. None: no namespace can stand there.
    pub(super) fn owner(&mut self, items: &[ItemId], dot: usize) -> Result<Option<Owner>> {
        let Some(k) = dot.checked_sub(1) else { return Ok(None) };
        let ast = self.ast;
        let item = ast.item(items[k]);
        let (at, step) = (item.span, |what, at| Ins { what, at, x: at, y: at });
        // A link of a longer chain.
        if k > 0
            && self.is_dot(items, k - 1)
            && matches!(item.what, What::Name(_) | What::Paren(_, false))
            && let Some(mut owner) = self.owner(items, k - 1)?
        {
            match &item.what {
                What::Name(sym) => {
                    owner.ins.push(step(Do::Member(*sym), at));
                    owner.ask = None;
                    if let Some((_, names)) = &mut owner.path {
                        names.push(*sym);
                    }
                }
                What::Paren(parts, _) => {
                    owner.ins.push(step(Do::Inside(parts[0]), at));
                    (owner.path, owner.ask) = (None, None);
                }
                _ => {}
            }
            return Ok(Some(owner));
        }
        let head = match &item.what {
            What::Name(sym) if self.class_of(Key::Sym(*sym)) == Class::Array => Head::Name(*sym),
            What::Word(w @ (Word::Alpha | Word::Omega))
                if self.class_of(Key::Word(*w)) == Class::Array =>
            {
                Head::Word(*w)
            }
            What::System(name) if &**name == "THIS" => Head::This,
            What::System(name) => match system::find(name) {
                Ok(row) if row.class() == Class::Array => {
                    let ins = vec![step(Do::System(row), at)];
                    return Ok(Some(Owner { begins: k, ins, path: None, ask: None }));
                }
                _ => return Ok(None),
            },
            What::Bracket(parts, false) => {
                let before = k.checked_sub(1).map(|k| &ast.item(items[k]).what);
                let Some(What::Name(sym)) = before else { return Ok(None) };
                if self.class_of(Key::Sym(*sym)) != Class::Array {
                    return Ok(None);
                }
                let codes = self.indices(parts, at)?;
                let present = codes.iter().map(Option::is_some).collect();
                let mut ins = Vec::new();
                codes.into_iter().rev().flatten().for_each(|c| ins.extend(c.ins));
                ins.push(step(Do::Name(*sym), ast.item(items[k - 1]).span));
                ins.push(step(Do::Index(present), at));
                let ask = Some(Ask::Indexed(*sym));
                return Ok(Some(Owner { begins: k - 1, ins, path: None, ask }));
            }
            What::Space(_) => match self.entity(items[k], false)? {
                Ent::Array(Part::Push(ins)) => {
                    return Ok(Some(Owner { begins: k, ins, path: None, ask: None }));
                }
                _ => return Ok(None),
            },
            What::Glyph('#') => {
                let twice = k > 0 && matches!(ast.item(items[k - 1]).what, What::Glyph('#'));
                if twice { Head::Parent } else { Head::Root }
            }
            What::Paren(parts, false) if parts.len() == 1 => {
                let code = self.phrase(parts[0])?;
                if !matches!(code.gives, Gives::Array) {
                    return Ok(None);
                }
                let ask = Some(Ask::Phrase(parts[0]));
                return Ok(Some(Owner { begins: k, ins: code.ins, path: None, ask }));
            }
            _ => return Ok(None),
        };
        let what = match head {
            Head::Name(sym) => Do::Name(sym),
            Head::Word(Word::Alpha) => Do::Alpha,
            Head::Word(_) => Do::Omega,
            head => Do::Place(head),
        };
        let begins = if head == Head::Parent { k - 1 } else { k };
        let path = Some((head, Vec::new()));
        Ok(Some(Owner { begins, ins: vec![step(what, at)], path, ask: None }))
    }

    /// The entity at the end of the items, if it is a name of a namespace: with the item that it
    /// begins with, and its place.
    pub(super) fn member(&mut self, items: &[ItemId]) -> Result<Option<(Ent, usize, Span)>> {
        let Some(last) = items.len().checked_sub(1) else { return Ok(None) };
        let ast = self.ast;
        let item = ast.item(items[last]);
        let link = match &item.what {
            What::Glyph('#') if last > 0 => {
                let before = ast.item(items[last - 1]);
                if !matches!(before.what, What::Glyph('#')) {
                    return Ok(None);
                }
                let at = before.span.join(item.span);
                let dot = last.checked_sub(2).filter(|k| self.is_dot(items, *k));
                if let Some(dot) = dot
                    && let Some(owner) = self.owner(items, dot)?
                {
                    let mut ins = owner.ins;
                    ins.push(Ins { what: Do::Around, at, x: at, y: at });
                    return Ok(Some((Ent::Array(Part::Push(ins)), owner.begins, at)));
                }
                return Ok(Some((Self::push(Do::Place(Head::Parent), at), last - 1, at)));
            }
            What::Name(sym) => Last::Name(*sym),
            What::Glyph('⍎') => Last::Execute,
            What::Dfn(dfn) if ast.dfn(*dfn).operands == 0 => Last::Dfn(*dfn),
            What::System(name) => match system::find(name) {
                Ok(row) if matches!(row.class(), Class::Array | Class::Func) => Last::System(row),
                _ => return Ok(None),
            },
            What::Paren(parts, false) if parts.len() == 1 => Last::Phrase(parts[0]),
            _ => return Ok(None),
        };
        let Some(dot) = last.checked_sub(1).filter(|k| self.is_dot(items, *k)) else {
            return Ok(None);
        };
        let Some(owner) = self.owner(items, dot)? else { return Ok(None) };
        let at = ast.item(items[owner.begins]).span.join(item.span);
        let (mut ins, begins) = (owner.ins, owner.begins);
        let inside = |ins: Vec<Ins>, inner| {
            let owner = Code { ins, gives: Gives::Array, assigns: false };
            Ent::Func(FExpr::Inside(Rc::new(owner), inner))
        };
        let what = match link {
            // The places of what a selection left of ← chooses from.
            Last::Name(sym) if self.positions == Some(items[last]) => {
                let what = Do::Positions { sym, within: Rc::new([]) };
                let places = Ins { what, at, x: at, y: at };
                Do::Within(Box::new(places))
            }
            Last::Phrase(phrase) => Do::Inside(phrase),
            Last::Dfn(dfn) => return Ok(Some((inside(ins, Inner::Dfn(dfn)), begins, at))),
            Last::System(row) if row.class() == Class::Func => {
                return Ok(Some((inside(ins, Inner::System(row)), begins, at)));
            }
            Last::System(row) => Do::MemberSystem(row),
            Last::Execute => {
                let owner = Operand::A(Rc::new(Code { ins, gives: Gives::Array, assigns: false }));
                let execute = Operand::F(FExpr::Prim(glyph('⍎', ast, at)?));
                let bind = OpExpr::Prim(glyph('∘', ast, at)?);
                let f = FExpr::Op2(bind, Box::new(owner), Box::new(execute));
                return Ok(Some((Ent::Func(f), begins, at)));
            }
            Last::Name(sym)
                if owner.ask.is_some_and(|ask| self.class_of(ask.key(sym)) != Class::Array) =>
            {
                return Ok(Some((inside(ins, Inner::Name(sym)), begins, at)));
            }
            Last::Name(sym) => {
                if let Some((head, mut names)) = owner.path {
                    names.push(sym);
                    let path = Path { head, names: names.into() };
                    let ent = match self.class_of(Key::Member(path.clone())) {
                        Class::Array => None,
                        Class::Func => Some(Ent::Func(FExpr::Member(path))),
                        Class::Hybrid => {
                            Some(Ent::Hybrid(FExpr::Member(path.clone()), OpExpr::Member(path)))
                        }
                        Class::Monadic => Some(Ent::Mon(OpExpr::Member(path))),
                        Class::Dyadic => Some(Ent::Dya(OpExpr::Member(path))),
                    };
                    if let Some(ent) = ent {
                        return Ok(Some((ent, begins, at)));
                    }
                }
                Do::Member(sym)
            }
        };
        ins.push(Ins { what, at, x: at, y: at });
        Ok(Some((Ent::Array(Part::Push(ins)), begins, at)))
    }
}

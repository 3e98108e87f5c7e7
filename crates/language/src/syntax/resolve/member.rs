//! Names of namespaces: `a.b`, `#.a.f`, `a.(x+y)`. The dot binds strongest: what is left of it is a
//! namespace, known to be a value when the phrase is read.

use super::code::{Do, FExpr, Gives, Ins, OpExpr};
use super::terms::{Ent, Part};
use super::{Class, Head, Key, Path, Resolver};
use crate::eval::system;
use crate::syntax::ast::{ItemId, PhraseId, Sym, What};
use crate::syntax::token::Word;
use aplomb_ground::error::Result;
use aplomb_ground::span::Span;

/// The last link of a chain of dots.
enum Last {
    Name(Sym),
    Phrase(PhraseId),
}

/// The namespaces left of a dot.
pub(super) struct Owner {
    /// The item that the chain begins with.
    pub begins: usize,
    /// The code that pushes them.
    pub ins: Vec<Ins>,
    /// The chain as names, if it is nothing else.
    path: Option<(Head, Vec<Sym>)>,
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
                    if let Some((_, names)) = &mut owner.path {
                        names.push(*sym);
                    }
                }
                What::Paren(parts, _) => {
                    owner.ins.push(step(Do::Inside(parts[0]), at));
                    owner.path = None;
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
                    return Ok(Some(Owner { begins: k, ins, path: None }));
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
                return Ok(Some(Owner { begins: k, ins: code.ins, path: None }));
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
        Ok(Some(Owner { begins, ins: vec![step(what, at)], path }))
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
                return Ok(Some((Self::push(Do::Place(Head::Parent), at), last - 1, at)));
            }
            What::Name(sym) => Last::Name(*sym),
            What::Paren(parts, false) if parts.len() == 1 => Last::Phrase(parts[0]),
            _ => return Ok(None),
        };
        let Some(dot) = last.checked_sub(1).filter(|k| self.is_dot(items, *k)) else {
            return Ok(None);
        };
        let Some(owner) = self.owner(items, dot)? else { return Ok(None) };
        let at = ast.item(items[owner.begins]).span.join(item.span);
        let (mut ins, begins) = (owner.ins, owner.begins);
        let what = match link {
            Last::Phrase(phrase) => Do::Inside(phrase),
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

//! The left side of ←: what is assigned, and how.

use super::code::{Code, Do, FExpr, Gives, Ins, Pattern, Reach};
use super::terms::Term;
use super::{Class, Key, Resolver, Right};
use crate::eval::system;
use crate::syntax::ast::{ItemId, Sym, What};
use crate::syntax::token::Word;
use crate::table::Role;
use aplomb_ground::error::{Result, nonce};
use aplomb_ground::span::Span;

pub(super) enum Target {
    Name(Sym),
    Alpha,
    Pattern(Pattern, Option<FExpr>),
    System(&'static system::Row),
    Print { line: bool },
    Indexed(Sym, Vec<Option<Code>>, Option<FExpr>),
    Modified(Sym, FExpr),
    Selected(Sym, Code, Option<FExpr>),
}

impl Resolver<'_> {
    /// The target at the end of the items, and the items left of it: they are read after the
    /// assignment, so what it says of a name's class holds for them.
    pub(super) fn target<'i>(&mut self, items: &'i [ItemId]) -> Result<(&'i [ItemId], Target)> {
        let Some((last, before)) = items.split_last() else {
            return Err(self.error("nothing stands left of ←", Span::default()));
        };
        let ast = self.ast;
        let item = ast.item(*last);
        match &item.what {
            What::Quad => Ok((before, Target::Print { line: true })),
            What::QuoteQuad => Ok((before, Target::Print { line: false })),
            What::System(name)
                if system::find(name).is_ok_and(|row| row.class() == Class::Array) =>
            {
                Ok((before, Target::System(system::find(name)?)))
            }
            What::Word(Word::Alpha) => Ok((before, Target::Alpha)),
            What::Name(sym)
                if self.class_of(Key::Sym(*sym)) == Class::Func && self.assignable(before) =>
            {
                self.modified(FExpr::Name(*sym), before)
            }
            What::Name(_) | What::Paren(_, false) if self.pattern(*last).is_some() => {
                let mut run: Vec<Pattern> = self.pattern(*last).into_iter().collect();
                let mut rest = before;
                while let Some((id, more)) = rest.split_last() {
                    let free = match ast.item(*id).what {
                        What::Name(sym) => self.class_of(Key::Sym(sym)) == Class::Array,
                        What::Paren(_, false) => true,
                        _ => false,
                    };
                    let Some(p) = self.pattern(*id).filter(|_| free) else { break };
                    run.push(p);
                    rest = more;
                }
                run.reverse();
                let target = match (run.pop(), run.is_empty()) {
                    (Some(Pattern::Name(sym)), true) => Target::Name(sym),
                    (Some(Pattern::System(row)), true) => Target::System(row),
                    (Some(one), true) => Target::Pattern(one, None),
                    (Some(one), false) => {
                        run.push(one);
                        Target::Pattern(Pattern::All(run), None)
                    }
                    (None, _) => return Err(self.error("nothing stands left of ←", item.span)),
                };
                Ok((rest, target))
            }
            What::Bracket(parts, false) => match before
                .split_last()
                .map(|(id, rest)| (&ast.item(*id).what, rest))
            {
                Some((What::Name(sym), rest)) if self.class_of(Key::Sym(*sym)) == Class::Array => {
                    let codes = self.indices(parts, item.span)?;
                    Ok((rest, Target::Indexed(*sym, codes, None)))
                }
                _ => self.by_function(items, item.span),
            },
            What::Paren(parts, false) if parts.len() == 1 => match self.rightmost(*last) {
                Some((id, sym)) => {
                    let held = self.positions.replace(id);
                    let code = self.phrase(parts[0]);
                    self.positions = held;
                    let code = code?;
                    match code.gives {
                        Gives::Array => Ok((before, Target::Selected(sym, code, None))),
                        _ => self.by_function(items, item.span),
                    }
                }
                None => self.by_function(items, item.span),
            },
            _ => self.by_function(items, item.span),
        }
    }

    /// `x f←` with any function: the last term is it.
    fn by_function<'i>(&mut self, items: &'i [ItemId], at: Span) -> Result<(&'i [ItemId], Target)> {
        // The function is as long as it can be: find the value it follows.
        for cut in (1..items.len()).rev() {
            if !self.assignable(&items[..cut]) {
                continue;
            }
            let mut terms = self.terms(&items[cut..])?;
            if let (Some(Term::Func(f, _)), true) = (terms.pop(), terms.is_empty()) {
                return self.modified(f, &items[..cut]);
            }
        }
        Err(self.error("this cannot be assigned to", at).hint("x←  (a b)←  x[i]←  x f←  (2↑x)←"))
    }

    fn modified<'i>(&mut self, f: FExpr, before: &'i [ItemId]) -> Result<(&'i [ItemId], Target)> {
        // `(a b)f←`: the names in parentheses alone; what stands left of them is read afterwards.
        if let Some((last, rest)) = before.split_last()
            && let Some(names @ Pattern::All(_)) = self.pattern(*last)
        {
            return Ok((rest, Target::Pattern(names, Some(f))));
        }
        let (rest, target) = self.target(before)?;
        let target = match target {
            Target::Name(sym) => Target::Modified(sym, f),
            Target::Indexed(sym, codes, None) => Target::Indexed(sym, codes, Some(f)),
            Target::Selected(sym, code, None) => Target::Selected(sym, code, Some(f)),
            _ => return Err(nonce("f← on names without parentheses around them")),
        };
        Ok((rest, target))
    }

    /// Whether a value that can be changed ends here.
    fn assignable(&mut self, items: &[ItemId]) -> bool {
        let Some((last, before)) = items.split_last() else { return false };
        match &self.ast.item(*last).what {
            What::Name(sym) => {
                let sym = *sym;
                self.class_of(Key::Sym(sym)) == Class::Array
            }
            What::Bracket(_, false) => {
                matches!(before.last().map(|i| &self.ast.item(*i).what), Some(What::Name(_)))
                    && self.assignable(before)
            }
            What::Paren(_, false) => self.rightmost(*last).is_some(),
            _ => false,
        }
    }

    fn pattern(&self, id: ItemId) -> Option<Pattern> {
        match &self.ast.item(id).what {
            What::Name(sym) => Some(Pattern::Name(*sym)),
            What::System(name) => {
                system::find(name).ok().filter(|r| r.class() == Class::Array).map(Pattern::System)
            }
            What::Paren(parts, false) if parts.len() == 1 => {
                let items = &self.ast.phrase(parts[0]).items;
                let all: Option<Vec<_>> = items.iter().map(|i| self.pattern(*i)).collect();
                all.filter(|a| !a.is_empty()).map(Pattern::All)
            }
            _ => None,
        }
    }

    /// The name at the right end of a parenthesised selection.
    fn rightmost(&self, id: ItemId) -> Option<(ItemId, Sym)> {
        match &self.ast.item(id).what {
            What::Name(sym) => Some((id, *sym)),
            What::Paren(parts, false) => {
                let items = &self.ast.phrase(*parts.first()?).items;
                let (last, before) = items.split_last()?;
                match &self.ast.item(*last).what {
                    What::Bracket(_, false) => before.last().and_then(|i| self.rightmost(*i)),
                    _ => self.rightmost(*last),
                }
            }
            _ => None,
        }
    }

    /// Every name of a pattern gets an array.
    fn give_arrays(&mut self, p: &Pattern) {
        match p {
            Pattern::Name(sym) => {
                self.given.insert(Key::Sym(*sym), Class::Array);
            }
            Pattern::System(_) => {}
            Pattern::All(parts) => parts.iter().for_each(|p| self.give_arrays(p)),
        }
    }

    pub(super) fn assign(
        &mut self,
        target: Target,
        right: Right,
        at: Span,
        ins: &mut Vec<Ins>,
    ) -> Result<Right> {
        let push = |ins: &mut Vec<Ins>, what: Do, y: Span| ins.push(Ins { what, at, x: at, y });
        match right {
            Right::Func(f, y) => match target {
                Target::Name(sym) => {
                    let class = match &f {
                        FExpr::Prim(p) if p.role == Role::Hybrid => Class::Hybrid,
                        _ => Class::Func,
                    };
                    self.given.insert(Key::Sym(sym), class);
                    push(ins, Do::AssignFunc(sym, f), y);
                    Ok(Right::Func(FExpr::Name(sym), at.join(y)))
                }
                Target::Alpha => {
                    self.given.insert(Key::Word(Word::Alpha), Class::Func);
                    push(ins, Do::AssignAlphaFunc(f.clone()), y);
                    Ok(Right::Func(f, at.join(y)))
                }
                Target::Print { line } => {
                    push(ins, Do::PrintFunc { f: f.clone(), line }, y);
                    Ok(Right::Func(f, at.join(y)))
                }
                _ => Err(self.error("a function can be given a name only", at)),
            },
            Right::Oper(op, y) => match target {
                Target::Name(sym) => {
                    let class = if self.is_dyadic(&op) { Class::Dyadic } else { Class::Monadic };
                    self.given.insert(Key::Sym(sym), class);
                    push(ins, Do::AssignOper(sym, op), y);
                    Ok(Right::Oper(super::OpExpr::Name(sym), at.join(y)))
                }
                Target::Print { line } => {
                    push(ins, Do::PrintOper { op: op.clone(), line }, y);
                    Ok(Right::Oper(op, at.join(y)))
                }
                _ => Err(self.error("an operator can be given a name only", at)),
            },
            Right::None => Err(self.error("nothing stands right of ←", at)),
            Right::Array(y) => {
                match target {
                    Target::Name(sym) => {
                        self.given.insert(Key::Sym(sym), Class::Array);
                        match appends(ins, sym) {
                            Some(append) => ins.push(append),
                            None => push(ins, Do::Assign(sym), y),
                        }
                    }
                    Target::Alpha => {
                        self.given.insert(Key::Word(Word::Alpha), Class::Array);
                        push(ins, Do::AssignAlpha, y);
                    }
                    Target::Pattern(p, f) => {
                        if f.is_none() {
                            self.give_arrays(&p);
                        }
                        push(ins, Do::AssignPattern(p, f), y);
                    }
                    Target::System(name) => push(ins, Do::AssignSystem(name), y),
                    Target::Print { line } => push(ins, Do::Print { line }, y),
                    Target::Modified(sym, f) => push(ins, Do::Modify(sym, f), y),
                    Target::Indexed(sym, codes, f) => {
                        let present = codes.iter().map(Option::is_some).collect();
                        codes.into_iter().rev().flatten().for_each(|c| ins.extend(c.ins));
                        push(ins, Do::AssignIndex { sym, present, f }, y);
                    }
                    Target::Selected(sym, code, f) => {
                        let (code, reach) = match code.path() {
                            Some(path) => (path, Reach::Path),
                            None => {
                                let reach = code.reach();
                                (code, reach)
                            }
                        };
                        ins.extend(code.ins);
                        push(ins, Do::AssignSelected { sym, f, reach }, y);
                    }
                }
                Ok(Right::Array(at.join(y)))
            }
        }
    }
}

/// `sym,…` at the end of code, taken off it: with `sym←` in front it puts items behind those of the
/// name.
fn appends(ins: &mut Vec<Ins>, sym: Sym) -> Option<Ins> {
    let [.., Ins { what: Do::Name(read), .. }, Ins { what: Do::Dyad(FExpr::Prim(p)), at, x, y }] =
        ins.as_slice()
    else {
        return None;
    };
    let append = Ins { what: Do::Append(sym, p), at: *at, x: *x, y: *y };
    let own = *read == sym && matches!(p.glyph, ',' | '⍪');
    own.then(|| ins.truncate(ins.len() - 2)).map(|()| append)
}

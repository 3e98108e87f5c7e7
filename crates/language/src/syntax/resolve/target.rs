//! The left side of ←: what is assigned, and how.

use super::code::{Code, Do, FExpr, Gives, Ins, Pattern, Reach};
use super::terms::Term;
use super::{Class, Head, Key, Path, Resolver, Right};
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
    Print {
        line: bool,
    },
    Indexed(Sym, Vec<Option<Code>>, Option<FExpr>),
    Modified(Sym, FExpr),
    Selected(Sym, Code, Option<FExpr>),
    /// In the namespaces that the code pushes.
    Within(Vec<Ins>, Box<Target>),
}

/// The name at the right end of a selection.
struct Rightmost<'a> {
    id: ItemId,
    sym: Sym,
    /// The items around and the place of the dot, if it is a name of a namespace.
    owner: Option<(&'a [ItemId], usize)>,
}

impl<'a> Resolver<'a> {
    /// The target at the end of the items, and the items left of it: they are read after the
    /// assignment, so what it says of a name's class holds for them.
    pub(super) fn target<'i>(&mut self, items: &'i [ItemId]) -> Result<(&'i [ItemId], Target)> {
        let Some((last, before)) = items.split_last() else {
            return Err(self.error("nothing stands left of ←", Span::default()));
        };
        let ast = self.ast;
        let item = ast.item(*last);
        if let Some((rest, owner, own)) = self.owned(items)? {
            let (_, target) = self.target(own)?;
            return Ok((rest, Target::Within(owner, Box::new(target))));
        }
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
                // `(2⊃x)[1]←`: the index chooses among the places that the selection left.
                Some((What::Paren(chosen, false), rest)) if chosen.len() == 1 => {
                    self.selected(items, rest.len())
                }
                _ => self.by_function(items, item.span),
            },
            What::Paren(parts, false) if parts.len() == 1 => self.selected(items, before.len()),
            _ => self.by_function(items, item.span),
        }
    }

    /// The selection that the items from `from` on are, left of ←.
    fn selected<'i>(&mut self, items: &'i [ItemId], from: usize) -> Result<(&'i [ItemId], Target)> {
        let (before, own) = items.split_at(from);
        let at = self.ast.item(own[0]).span;
        let Some(right) = self.rightmost(own[0]) else { return self.by_function(items, at) };
        let owner = match right.owner {
            Some((around, dot)) => self.owner(around, dot)?.map(|owner| owner.ins),
            None => None,
        };
        let held = self.positions.replace(right.id);
        let code = self.items(own);
        self.positions = held;
        let code = code?;
        match (code.gives, owner) {
            (Gives::Array, owner) => {
                let code = Code { ins: code.ins, gives: Gives::Array, assigns: false };
                let target = Target::Selected(right.sym, code, None);
                let target = match owner {
                    Some(owner) => Target::Within(owner, Box::new(target)),
                    None => target,
                };
                Ok((before, target))
            }
            _ => self.by_function(items, at),
        }
    }

    /// The items left of a name of a namespace that is assigned, the code of its owners, and the
    /// name as it stands in them, with its index.
    #[allow(clippy::type_complexity)]
    fn owned<'i>(
        &mut self,
        items: &'i [ItemId],
    ) -> Result<Option<(&'i [ItemId], Vec<Ins>, &'i [ItemId])>> {
        let what = |k: usize| items.get(k).map(|id| &self.ast.item(*id).what);
        let n = items.len();
        let own = match (n.checked_sub(2).and_then(what), n.checked_sub(1).and_then(what)) {
            (Some(What::Name(_)), Some(What::Bracket(_, false))) => n - 2,
            (_, Some(What::Name(_) | What::System(_) | What::Paren(_, false))) => n - 1,
            _ => return Ok(None),
        };
        let dot = own.checked_sub(1);
        let Some(dot) = dot.filter(|k| matches!(what(*k), Some(What::Glyph('.')))) else {
            return Ok(None);
        };
        let owner = self.owner(items, dot)?;
        Ok(owner.map(|o| (&items[..o.begins], o.ins, &items[own..])))
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
            Target::Within(owner, inner) => {
                let inner = match *inner {
                    Target::Name(sym) => Target::Modified(sym, f),
                    Target::Indexed(sym, codes, None) => Target::Indexed(sym, codes, Some(f)),
                    Target::Pattern(p, None) => Target::Pattern(p, Some(f)),
                    Target::Selected(sym, code, None) => Target::Selected(sym, code, Some(f)),
                    _ => return Err(nonce("this assignment in a namespace")),
                };
                Target::Within(owner, Box::new(inner))
            }
            _ => return Err(nonce("f← on names without parentheses around them")),
        };
        Ok((rest, target))
    }

    /// Whether a value that can be changed ends here.
    fn assignable(&mut self, items: &[ItemId]) -> bool {
        let Some((last, before)) = items.split_last() else { return false };
        if matches!(self.owned(items), Ok(Some(_))) {
            return true;
        }
        match &self.ast.item(*last).what {
            What::Name(sym) => {
                let sym = *sym;
                self.class_of(Key::Sym(sym)) == Class::Array
            }
            What::Bracket(_, false) => {
                let of = before.last().map(|i| &self.ast.item(*i).what);
                matches!(of, Some(What::Name(_) | What::Paren(_, false))) && self.assignable(before)
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
                self.patterns(&self.ast.phrase(parts[0]).items).map(Pattern::All)
            }
            _ => None,
        }
    }

    /// Names and names of namespaces, in a row.
    fn patterns(&self, mut items: &[ItemId]) -> Option<Vec<Pattern>> {
        let what = |id: &ItemId| &self.ast.item(*id).what;
        let mut all = Vec::new();
        while let Some((first, rest)) = items.split_first() {
            let (mut names, mut behind) = (Vec::new(), rest);
            while let [dot, name, more @ ..] = behind
                && let (What::Name(_), What::Glyph('.'), What::Name(sym)) =
                    (what(first), what(dot), what(name))
            {
                names.push(*sym);
                behind = more;
            }
            all.push(match (what(first), names.is_empty()) {
                (What::Name(head), false) => {
                    Pattern::Member(Path { head: Head::Name(*head), names: names.into() })
                }
                _ => self.pattern(*first)?,
            });
            items = behind;
        }
        (!all.is_empty()).then_some(all)
    }

    /// The name at the right end of a parenthesised selection.
    fn rightmost(&self, id: ItemId) -> Option<Rightmost<'a>> {
        let ast = self.ast;
        match &ast.item(id).what {
            What::Name(sym) => Some(Rightmost { id, sym: *sym, owner: None }),
            What::Paren(parts, false) => {
                let items = ast.phrase(*parts.first()?).items.as_slice();
                let mut last = items.len().checked_sub(1)?;
                if matches!(ast.item(items[last]).what, What::Bracket(_, false)) {
                    last = last.checked_sub(1)?;
                }
                let found = self.rightmost(items[last])?;
                let dot = last.checked_sub(1).filter(|k| {
                    let is_name = matches!(ast.item(items[last]).what, What::Name(_));
                    is_name && matches!(ast.item(items[*k]).what, What::Glyph('.'))
                });
                Some(match dot {
                    Some(dot) => Rightmost { owner: Some((items, dot)), ..found },
                    None => found,
                })
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
            Pattern::System(_) | Pattern::Member(_) => {}
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
        if let Target::Within(owner, inner) = target {
            // Its indices are computed here; the assignment itself runs there.
            let held = self.given.clone();
            let function = match &right {
                Right::Func(f, y) => Some((f.clone(), *y)),
                _ => None,
            };
            let made = self.assign(*inner, right, at, ins);
            self.given = held;
            let assigned = ins.pop().ok_or_else(|| self.error("nothing is assigned", at))?;
            let y = assigned.y;
            ins.extend(owner);
            push(ins, Do::Within(Box::new(assigned)), y);
            return match (made?, function) {
                (Right::Func(..), Some((f, y))) => Ok(Right::Func(f, at.join(y))),
                (Right::Oper(..), _) => Ok(Right::None),
                (right, _) => Ok(right),
            };
        }
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
                Target::Alpha => {
                    let class = if self.is_dyadic(&op) { Class::Dyadic } else { Class::Monadic };
                    self.given.insert(Key::Word(Word::Alpha), class);
                    push(ins, Do::AssignAlphaOper(op.clone()), y);
                    Ok(Right::Oper(op, at.join(y)))
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
                    Target::Modified(sym, f) => {
                        if !grows(ins, sym, &f) {
                            push(ins, Do::Modify(sym, f), y);
                        }
                    }
                    Target::Indexed(sym, codes, f) => {
                        let present = codes.iter().map(Option::is_some).collect();
                        codes.into_iter().rev().flatten().for_each(|c| ins.extend(c.ins));
                        push(ins, Do::AssignIndex { sym, present, f }, y);
                    }
                    Target::Within(..) => return Err(self.error("← cannot stand here", at)),
                    Target::Selected(sym, code, f) => {
                        let (code, reach) = match code.path() {
                            Some((paths, n)) => (paths, Reach::Path(n)),
                            None => {
                                let code = code.within();
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

/// `sym⊢←sym,…`, whose end is `sym,…`: items are put behind those of the name, as by `sym,←…`, and
/// the value is what the name is then. False, and nothing changed: it is none.
fn grows(ins: &mut Vec<Ins>, sym: Sym, f: &FExpr) -> bool {
    let [.., name, joins] = ins.as_slice() else { return false };
    let (Do::Name(read), Do::Dyad(by), FExpr::Prim(takes)) = (&name.what, &joins.what, f) else {
        return false;
    };
    let left = crate::table::find('⊣');
    let (FExpr::Prim(p), true, Some(left)) = (by, *read == sym && takes.glyph == '⊢', left)
    else {
        return false;
    };
    if p.glyph != ',' {
        return false;
    }
    let (name, joins) = (name.clone(), joins.clone());
    let step = |what| Ins { what, at: joins.at, x: joins.x, y: joins.y };
    let (changes, gives) = (Do::Modify(sym, by.clone()), Do::Dyad(FExpr::Prim(left)));
    ins.truncate(ins.len() - 2);
    ins.extend([step(changes), name, step(gives)]);
    true
}

//! Items to terms: strands with their indices, functions with their operators.

use super::code::{Code, Do, FExpr, Gives, Ins, OpExpr, Operand};
use super::{CHAIN, Class, Head, Key, Resolver, Text, glyph, vector};
use crate::eval::system;
use crate::syntax::ast::{ItemId, PhraseId, What};
use crate::syntax::token::Word;
use crate::table::Role;
use aplomb_ground::error::{Result, limit, nonce};
use aplomb_ground::span::Span;
use aplomb_values::array::Array;
use std::rc::Rc;

pub(super) enum Term {
    Array(ATerm),
    Func(FExpr, Span),
    Oper(OpExpr, Span),
}

/// A strand whose prefixes may be indexed: `a b[i] c`.
pub(super) struct ATerm {
    parts: Vec<Part>,
    pub span: Span,
}

pub(super) enum Part {
    Number(f64, Span),
    Push(Vec<Ins>),
    /// Indexes all that stands left of it.
    Index(Vec<Option<Code>>, Span),
}

pub(super) enum Ent {
    Array(Part),
    Func(FExpr),
    Mon(OpExpr),
    Dya(OpExpr),
    Hybrid(FExpr, OpExpr),
    Outer,
    Index(Vec<Option<Code>>),
}

impl ATerm {
    pub fn code(self) -> Rc<Code> {
        let mut ins = Vec::new();
        self.emit(&mut ins);
        Rc::new(Code { ins, gives: Gives::Array, assigns: false })
    }

    /// Right to left: items and indices are pushed, then strands and indexings run from the left.
    pub fn emit(self, ins: &mut Vec<Ins>) {
        let span = self.span;
        let parts = literals_joined(self.parts);
        let step = |what, at| Ins { what, at, x: at, y: span };
        // What to do after the values left of it are there: index, then strand with so many items.
        let mut later: Vec<(Vec<bool>, Span, usize)> = Vec::new();
        let mut run = 0;
        for part in parts.into_iter().rev() {
            match part {
                Part::Number(x, at) => {
                    ins.push(step(Do::Const(Array::num(x)), at));
                    run += 1;
                }
                Part::Push(code) => {
                    ins.extend(code);
                    run += 1;
                }
                Part::Index(codes, at) => {
                    let present = codes.iter().map(Option::is_some).collect();
                    codes.into_iter().rev().flatten().for_each(|c| ins.extend(c.ins));
                    later.push((present, at, run));
                    run = 0;
                }
            }
        }
        if run > 1 {
            ins.push(step(Do::Strand(run), span));
        }
        while let Some((present, at, run)) = later.pop() {
            ins.push(step(Do::Index(present), at));
            if run > 0 {
                ins.push(step(Do::Strand(run + 1), span));
            }
        }
    }
}

/// Neighbouring numbers that are a whole strand become one constant.
fn literals_joined(parts: Vec<Part>) -> Vec<Part> {
    let end = parts.iter().position(|p| matches!(p, Part::Index(..))).unwrap_or(parts.len());
    let number = |p: &Part| if let Part::Number(x, at) = p { Some((*x, *at)) } else { None };
    let Some(all) = parts[..end].iter().map(number).collect::<Option<Vec<_>>>() else {
        return parts;
    };
    let [(_, first), _, ..] = all[..] else { return parts };
    let at = all.iter().fold(first, |span, (_, at)| span.join(*at));
    let numbers = all.into_iter().map(|(x, _)| x).collect();
    let mut out =
        vec![Part::Push(vec![Ins { what: Do::Const(vector(numbers)), at, x: at, y: at }])];
    out.extend(parts.into_iter().skip(end));
    out
}

impl Resolver<'_> {
    pub(super) fn terms(&mut self, items: &[ItemId]) -> Result<Vec<Term>> {
        let mut ents = Vec::with_capacity(items.len());
        let mut left = items;
        // From the right, as they run: an assignment inside () gives its name a class for what
        // stands left of it.
        while let Some((last, rest)) = left.split_last() {
            let at = self.ast.item(*last).span;
            let is = |id: &ItemId, glyph| match self.ast.item(*id).what {
                What::Glyph(c) => c == glyph,
                _ => false,
            };
            if let Some((ent, begins, at)) = self.member(left)? {
                ents.push((ent, at));
                left = &left[..begins];
                continue;
            }
            match rest.split_last() {
                Some((ring, rest)) if is(last, '.') && is(ring, '∘') => {
                    ents.push((Ent::Outer, self.ast.item(*ring).span.join(at)));
                    left = rest;
                }
                _ => {
                    ents.push((self.entity(*last, rest.is_empty())?, at));
                    left = rest;
                }
            }
        }
        ents.reverse();
        self.bind(ents)
    }

    pub(super) fn push(what: Do, at: Span) -> Ent {
        Ent::Array(Part::Push(vec![Ins { what, at, x: at, y: at }]))
    }

    pub(super) fn entity(&mut self, id: ItemId, first: bool) -> Result<Ent> {
        let ast = self.ast;
        let item = ast.item(id);
        let at = item.span;
        Ok(match &item.what {
            What::Number(x) => Ent::Array(Part::Number(*x, at)),
            What::Literal(a) => Self::push(Do::Const(a.clone()), at),
            What::Name(sym) if self.positions == Some(id) => {
                Self::push(Do::Positions { sym: *sym, within: Rc::new([]) }, at)
            }
            What::Name(sym) => match self.class_of(Key::Sym(*sym)) {
                Class::Array => Self::push(Do::Name(*sym), at),
                Class::Func => Ent::Func(FExpr::Name(*sym)),
                Class::Hybrid => Ent::Hybrid(FExpr::Name(*sym), OpExpr::Name(*sym)),
                Class::Monadic => Ent::Mon(OpExpr::Name(*sym)),
                Class::Dyadic => Ent::Dya(OpExpr::Name(*sym)),
            },
            What::Word(Word::Omega) => Self::push(Do::Omega, at),
            What::Word(Word::DelDel) => match self.class_of(Key::Word(Word::DelDel)) {
                Class::Dyadic => Ent::Dya(OpExpr::DelDel),
                _ => Ent::Mon(OpExpr::DelDel),
            },
            What::Word(w) => match self.class_of(Key::Word(*w)) {
                Class::Array if *w == Word::Alpha => Self::push(Do::Alpha, at),
                Class::Array => Self::push(Do::Word(*w), at),
                Class::Monadic => Ent::Mon(OpExpr::Alpha),
                Class::Dyadic => Ent::Dya(OpExpr::Alpha),
                _ => Ent::Func(FExpr::Word(*w)),
            },
            What::System(name) => match system::find(name) {
                Ok(row) => match row.class() {
                    Class::Array => Self::push(Do::System(row), at),
                    Class::Func | Class::Hybrid => Ent::Func(FExpr::System(row)),
                    Class::Monadic => Ent::Mon(OpExpr::System(row)),
                    Class::Dyadic => Ent::Dya(OpExpr::System(row)),
                },
                Err(e) => return Err(e.at(&ast.place(at))),
            },
            What::Glyph('#') => Self::push(Do::Place(Head::Root), at),
            What::Glyph(c) => {
                let prim = glyph(*c, ast, at)?;
                match prim.role {
                    Role::Function => Ent::Func(FExpr::Prim(prim)),
                    Role::Monadic => Ent::Mon(OpExpr::Prim(prim)),
                    Role::Dyadic => Ent::Dya(OpExpr::Prim(prim)),
                    Role::Hybrid | Role::Missing => {
                        Ent::Hybrid(FExpr::Prim(prim), OpExpr::Prim(prim))
                    }
                }
            }
            What::Quad => Self::push(Do::Input { evaluated: true }, at),
            What::QuoteQuad => Self::push(Do::Input { evaluated: false }, at),
            What::Paren(parts, false) => return self.paren(parts, at),
            What::Paren(parts, true) => Ent::Array(self.notation(parts, false, at)?),
            What::Space(members) => {
                let mut ins = Vec::new();
                let mut names = Vec::new();
                for (sym, phrase) in members {
                    let code = self.phrase(*phrase)?;
                    if !matches!(code.gives, Gives::Array) {
                        let says = "a name of a namespace in () has a value";
                        return Err(self.error(says, ast.phrase(*phrase).span));
                    }
                    ins.extend(code.ins);
                    names.push(*sym);
                }
                ins.push(Ins { what: Do::Space(names.into()), at, x: at, y: at });
                Ent::Array(Part::Push(ins))
            }
            What::Bracket(parts, true) => Ent::Array(self.notation(parts, true, at)?),
            What::Bracket(_, false) if first => {
                return Err(self.error("an index stands after what it indexes", at));
            }
            What::Bracket(parts, false) => Ent::Index(self.indices(parts, at)?),
            What::Dfn(dfn) => match ast.dfn(*dfn).operands {
                0 => Ent::Func(FExpr::Dfn(*dfn)),
                1 => Ent::Mon(OpExpr::Dfn(*dfn)),
                _ => Ent::Dya(OpExpr::Dfn(*dfn)),
            },
            What::Assign => return Err(self.error("← cannot stand here", at)),
        })
    }

    fn paren(&mut self, parts: &[PhraseId], at: Span) -> Result<Ent> {
        let code = match parts.first() {
            Some(id) => self.phrase(*id)?,
            None => return Err(self.error("() holds nothing", at)),
        };
        Ok(match code.gives {
            Gives::Nothing => return Err(self.error("() holds nothing", at)),
            Gives::Array => match self.executed(&code) {
                Class::Array => Ent::Array(Part::Push(code.ins)),
                Class::Func => Ent::Func(FExpr::Code(Rc::new(code))),
                Class::Hybrid => {
                    let code = Rc::new(code);
                    Ent::Hybrid(FExpr::Code(code.clone()), OpExpr::Code(code))
                }
                Class::Monadic => Ent::Mon(OpExpr::Code(Rc::new(code))),
                Class::Dyadic => Ent::Dya(OpExpr::Code(Rc::new(code))),
            },
            Gives::Func(f) if code.ins.is_empty() => match f {
                FExpr::Prim(p) if p.role == Role::Hybrid => Ent::Hybrid(f, OpExpr::Prim(p)),
                FExpr::Name(sym) if self.class_of(Key::Sym(sym)) == Class::Hybrid => {
                    Ent::Hybrid(f, OpExpr::Name(sym))
                }
                f => Ent::Func(f),
            },
            Gives::Func(_) => Ent::Func(FExpr::Code(Rc::new(code))),
            Gives::Oper(ref op) => {
                let dyadic = self.is_dyadic(op);
                let op = match code.ins.is_empty() {
                    true => op.clone(),
                    false => OpExpr::Code(Rc::new(code)),
                };
                if dyadic { Ent::Dya(op) } else { Ent::Mon(op) }
            }
        })
    }

    /// The class of what `⍎` of a literal or of a name gives; all else is a value.
    fn executed(&mut self, code: &Code) -> Class {
        let [Ins { what: of, .. }, Ins { what: Do::Monad(FExpr::Prim(p)), .. }] = &code.ins[..]
        else {
            return Class::Array;
        };
        let text = match of {
            Do::Const(a) => a.word().map(|text| Text::Literal(text.into())),
            Do::Name(sym) => Some(Text::Name(*sym)),
            _ => None,
        };
        match text {
            Some(text) if p.glyph == '⍎' => self.class_of(Key::Text(text)),
            _ => Class::Array,
        }
    }

    pub(super) fn is_dyadic(&mut self, op: &OpExpr) -> bool {
        match op {
            OpExpr::Prim(p) => p.role == Role::Dyadic,
            OpExpr::Name(sym) => self.class_of(Key::Sym(*sym)) == Class::Dyadic,
            OpExpr::Alpha => self.class_of(Key::Word(Word::Alpha)) == Class::Dyadic,
            OpExpr::DelDel => self.class_of(Key::Word(Word::DelDel)) == Class::Dyadic,
            OpExpr::Dfn(d) => self.ast.dfn(*d).operands > 1,
            OpExpr::System(row) => row.class() == Class::Dyadic,
            OpExpr::Curried(..) => false,
            OpExpr::Member(path) => self.class_of(Key::Member(path.clone())) == Class::Dyadic,
            OpExpr::Code(code) => match &code.gives {
                Gives::Oper(op) => self.is_dyadic(&op.clone()),
                _ => false,
            },
        }
    }

    fn notation(&mut self, parts: &[PhraseId], mix: bool, at: Span) -> Result<Part> {
        let mut ins = Vec::new();
        let mut n = 0;
        for id in parts {
            let code = self.phrase(*id)?;
            match code.gives {
                Gives::Nothing => continue,
                Gives::Array => ins.extend(code.ins),
                _ => {
                    return Err(
                        self.error("array notation holds values only", self.ast.phrase(*id).span)
                    );
                }
            }
            n += 1;
        }
        if n == 0 {
            return Err(self.error("array notation needs a value", at));
        }
        ins.push(Ins { what: Do::Notation { n, mix }, at, x: at, y: at });
        Ok(Part::Push(ins))
    }

    pub(super) fn indices(&mut self, parts: &[PhraseId], at: Span) -> Result<Vec<Option<Code>>> {
        let mut out = Vec::with_capacity(parts.len());
        // The last one runs first.
        for id in parts.iter().rev() {
            let code = self.phrase(*id)?;
            out.push(match code.gives {
                Gives::Nothing => None,
                Gives::Array => Some(code),
                _ => return Err(self.error("an index is a value", at)),
            });
        }
        out.reverse();
        Ok(out)
    }

    fn bind(&mut self, ents: Vec<(Ent, Span)>) -> Result<Vec<Term>> {
        let mut out = Vec::new();
        let alone = ents.len() == 1;
        let mut ents = ents.into_iter().peekable();
        while let Some((ent, at)) = ents.next() {
            let (left, at) = match ent {
                Ent::Array(part) => {
                    let mut term = ATerm { parts: vec![part], span: at };
                    while let Some((ent, at)) =
                        ents.next_if(|(e, _)| matches!(e, Ent::Array(_) | Ent::Index(_)))
                    {
                        term.span = term.span.join(at);
                        match ent {
                            Ent::Array(part) => term.parts.push(part),
                            Ent::Index(codes) => term.parts.push(Part::Index(codes, at)),
                            _ => {}
                        }
                    }
                    if !matches!(ents.peek(), Some((Ent::Mon(_) | Ent::Dya(_), _))) {
                        out.push(Term::Array(term));
                        continue;
                    }
                    let at = term.span;
                    (Operand::A(term.code()), at)
                }
                Ent::Func(f) => (Operand::F(f), at),
                Ent::Hybrid(f, _) => (Operand::F(f), at),
                Ent::Outer => {
                    let (f, end) = self.right_operand(&mut ents, at)?;
                    let Operand::F(f) = f else {
                        return Err(self.error("∘. needs a function", at));
                    };
                    (Operand::F(FExpr::Outer(Box::new(f)).folded()), at.join(end))
                }
                Ent::Mon(op) | Ent::Dya(op) if alone => {
                    out.push(Term::Oper(op, at));
                    continue;
                }
                Ent::Dya(op) if out.is_empty() && ents.peek().is_some() => {
                    let (g, end) = self.right_operand(&mut ents, at)?;
                    if ents.peek().is_some() {
                        return Err(self.error("this operator has no operand on its left", at));
                    }
                    let op = OpExpr::Curried(Box::new(op), Box::new(g));
                    out.push(Term::Oper(op, at.join(end)));
                    continue;
                }
                Ent::Mon(_) | Ent::Dya(_) => {
                    return Err(self.error("this operator has no operand on its left", at));
                }
                Ent::Index(_) => {
                    return Err(self.error("an index stands after what it indexes", at));
                }
            };
            let (f, at) = self.derive(left, at, &mut ents)?;
            out.push(Term::Func(f, at));
        }
        Ok(out)
    }

    /// Operators and axes that follow an operand.
    fn derive(
        &mut self,
        left: Operand,
        at: Span,
        ents: &mut std::iter::Peekable<std::vec::IntoIter<(Ent, Span)>>,
    ) -> Result<(FExpr, Span)> {
        let (mut left, mut at, mut steps) = (left, at, 0);
        while let Some((ent, here)) =
            ents.next_if(|(e, _)| !matches!(e, Ent::Array(_) | Ent::Func(_) | Ent::Outer))
        {
            steps += 1;
            if steps > CHAIN {
                let says = format!("at most {CHAIN} operators follow each other");
                return Err(limit(says).at(&self.ast.place(here)));
            }
            let f = match ent {
                Ent::Mon(OpExpr::Curried(op, g)) => FExpr::Op2(*op, Box::new(left), g),
                Ent::Mon(op) | Ent::Hybrid(_, op) => FExpr::Op1(op, Box::new(left)),
                Ent::Dya(op) => {
                    let (g, end) = self.right_operand(ents, here)?;
                    at = at.join(end);
                    let values = matches!((&left, &g), (Operand::A(_), _) | (_, Operand::A(_)));
                    if values && matches!(&op, OpExpr::Prim(p) if p.glyph == '.') {
                        let literal = matches!(&g, Operand::A(code) if code.literal().is_some());
                        let e = self.error("f.g takes a function on either side", at);
                        let named = nonce("a name behind an index (a[i].b)");
                        let named = named.at(&self.ast.place(at));
                        return Err(if literal {
                            e
                        } else {
                            named.hint("(a[i]).b takes it; f.g takes functions on its sides")
                        });
                    }
                    FExpr::Op2(op, Box::new(left), Box::new(g))
                }
                Ent::Index(mut codes) => match (left, codes.pop().flatten()) {
                    (Operand::F(f), Some(code)) if codes.is_empty() => {
                        FExpr::Axis(Box::new(f), Rc::new(code))
                    }
                    _ => return Err(self.error("an axis is one number or vector", here)),
                },
                _ => return Err(self.error("this cannot stand here", here)),
            };
            at = at.join(here);
            left = Operand::F(f.folded());
        }
        match left {
            Operand::F(f) => Ok((f, at)),
            Operand::A(_) => Err(self.error("this value is no function", at)),
        }
    }

    /// One function, or a strand of values.
    fn right_operand(
        &mut self,
        ents: &mut std::iter::Peekable<std::vec::IntoIter<(Ent, Span)>>,
        at: Span,
    ) -> Result<(Operand, Span)> {
        match ents.next() {
            Some((Ent::Func(f), at)) => Ok((Operand::F(f), at)),
            Some((Ent::Hybrid(f, _), at)) => Ok((Operand::F(f), at)),
            Some((Ent::Outer, at)) => {
                let (f, end) = self.right_operand(ents, at)?;
                match f {
                    Operand::F(f) => {
                        Ok((Operand::F(FExpr::Outer(Box::new(f)).folded()), at.join(end)))
                    }
                    Operand::A(_) => Err(self.error("∘. needs a function", at)),
                }
            }
            Some((Ent::Array(part), at)) => {
                let mut term = ATerm { parts: vec![part], span: at };
                while let Some((Ent::Array(part), at)) =
                    ents.next_if(|(e, _)| matches!(e, Ent::Array(_)))
                {
                    term.span = term.span.join(at);
                    term.parts.push(part);
                }
                let at = term.span;
                Ok((Operand::A(term.code()), at))
            }
            Some((_, at)) => Err(self.error("an operator needs an operand on its right", at)),
            None => Err(self.error("this operator needs an operand on its right", at)),
        }
    }
}

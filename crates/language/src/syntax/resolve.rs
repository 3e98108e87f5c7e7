//! Binding: a flat phrase whose names' classes are known becomes code for the evaluator's stack.
//!
//! Code runs right to left, as APL does, so a phrase of any length needs no recursion. Functions
//! are small trees (`FExpr`), folded to values where nothing in them can change. The form is cached
//! with the classes it holds for.

use super::ast::{Ast, Guard, ItemId, Phrase, PhraseId, Sym, What};
use super::token::Word;
use crate::eval::system::{Does, Row};
use crate::eval::value::Func;
use crate::table::{self, Prim, Role};
use aplomb_ground::error::{Error, Result, limit, nonce, syntax};
use aplomb_ground::span::Span;
use aplomb_values::array::Array;
use std::collections::HashMap;
use std::rc::Rc;

mod code;
mod member;
mod target;
mod terms;

pub use code::{Code, Do, FExpr, Gives, Inner, Ins, Joint, OpExpr, Operand, Pattern, Reach};

/// The class of a name. A free name counts as an array: using it is a VALUE ERROR where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A value, or nothing yet.
    Array,
    /// A function.
    Func,
    /// `/ ⌿ \ ⍀`: a function, and an operator with one operand.
    Hybrid,
    /// An operator with one operand.
    Monadic,
    /// An operator with two operands.
    Dyadic,
}

/// The begin of a dotted path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    /// A name that holds a namespace.
    Name(Sym),
    /// `#`.
    Root,
    /// `⎕THIS`.
    This,
    /// `##`.
    Parent,
    /// ⍺ or ⍵.
    Word(Word),
}

/// `a.b.c`: a namespace, and names each in the one before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// The namespace that it begins in.
    pub head: Head,
    /// The names behind it.
    pub names: Rc<[Sym]>,
}

/// The names that the code of a phrase depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A name of a namespace.
    Member(Path),
    /// A name.
    Sym(Sym),
    /// A name that may have to have a value: an array if it has one, and nothing has to run for it.
    Held(Sym),
    /// An operand: ⍺⍺ or ⍵⍵.
    Word(Word),
    /// The thing that a short text means: `(⍎'+')`.
    Text(Text),
    /// A name of the namespaces that a phrase in parentheses gives: `(x y).f`.
    Of(PhraseId, Sym),
}

/// A text that ⍎ is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Text {
    /// Written there.
    Literal(Rc<str>),
    /// The value of a name.
    Name(Sym),
}

/// A phrase's code and the classes it was made for.
pub struct Resolved {
    /// The names that were looked up, each with the class that it had.
    pub classes: Vec<(Key, Class)>,
    /// The code.
    pub code: Code,
}

/// Operators on operators, tines on tines: as many as a line may chain.
const CHAIN: usize = 1_000;

/// The binder of one phrase.
pub struct Resolver<'a> {
    ast: &'a Ast,
    look: &'a mut dyn FnMut(Key) -> Class,
    seen: Vec<(Key, Class)>,
    /// Names that this phrase gave a class further right.
    given: HashMap<Key, Class>,
    /// The item that selective assignment replaces by positions.
    positions: Option<ItemId>,
}

/// The thing right of the terms in hand: nothing, a value on the stack, a function, an operator.
enum Right {
    None,
    Array(Span),
    Func(FExpr, Span),
    Oper(OpExpr, Span),
}

/// The code of a phrase. Errors: SYNTAX, NONCE, LIMIT with their place.
pub fn resolve(ast: &Ast, phrase: &Phrase, look: &mut dyn FnMut(Key) -> Class) -> Result<Resolved> {
    let mut r = Resolver { ast, look, seen: Vec::new(), given: HashMap::new(), positions: None };
    let code = r.items(&phrase.items)?;
    Ok(Resolved { classes: r.seen, code })
}

/// True if any statement of the list is a guard or several statements stand there.
pub fn is_guarded(guard: Guard) -> bool {
    guard != Guard::None
}

impl<'a> Resolver<'a> {
    fn error(&self, says: impl Into<String>, span: Span) -> Error {
        syntax(says).at(&self.ast.place(span))
    }

    fn class_of(&mut self, key: Key) -> Class {
        if let Some(&class) = self.given.get(&key) {
            return class;
        }
        let class = (self.look)(key.clone());
        if !self.seen.iter().any(|(k, _)| *k == key) {
            self.seen.push((key, class));
        }
        class
    }

    fn phrase(&mut self, id: PhraseId) -> Result<Code> {
        let ast = self.ast;
        self.items(&ast.phrase(id).items)
    }

    /// The phrase between assignments, last part first.
    fn items(&mut self, items: &[ItemId]) -> Result<Code> {
        let ast = self.ast;
        // → alone cuts what is suspended; nothing ever is.
        if let [one] = items
            && matches!(ast.item(*one).what, What::Glyph('→'))
        {
            return Ok(Code { ins: Vec::new(), gives: Gives::Nothing, assigns: true });
        }
        let mut parts: Vec<&[ItemId]> =
            items.split(|i| matches!(ast.item(*i).what, What::Assign)).collect();
        let mut ins = Vec::new();
        let Some(last) = parts.pop() else {
            return Ok(Code { ins, gives: Gives::Nothing, assigns: false });
        };
        if last.is_empty() && !parts.is_empty() {
            let at = items.last().map_or(Span::default(), |i| ast.item(*i).span);
            return Err(self.error("nothing stands right of ←", at));
        }
        let terms = self.terms(last)?;
        let mut right = self.join(terms, Right::None, &mut ins)?;
        let mut assigns = false;
        while let Some(part) = parts.pop() {
            let Some(tail) = part.last() else {
                let at = items.first().map_or(Span::default(), |i| ast.item(*i).span);
                return Err(self.error("nothing stands left of ←", at));
            };
            let at = ast.item(*tail).span;
            let (rest, target) = self.target(part)?;
            right = self.assign(target, right, at, &mut ins)?;
            assigns = rest.is_empty();
            let rest = self.terms(rest)?;
            right = self.join(rest, right, &mut ins)?;
        }
        let gives = match right {
            Right::None => Gives::Nothing,
            Right::Array(_) => Gives::Array,
            Right::Func(f, _) => Gives::Func(f),
            Right::Oper(op, _) => Gives::Oper(op),
        };
        Ok(Code { ins, gives, assigns })
    }

    /// Terms applied to what stands right of them.
    fn join(
        &mut self,
        mut terms: Vec<terms::Term>,
        right: Right,
        ins: &mut Vec<Ins>,
    ) -> Result<Right> {
        use terms::Term;
        let mut at = match right {
            Right::None => match terms.pop() {
                None => return Ok(Right::None),
                Some(Term::Oper(op, at)) if terms.is_empty() => return Ok(Right::Oper(op, at)),
                Some(Term::Oper(_, at)) => {
                    return Err(self.error("an operator stands after its operand", at));
                }
                Some(Term::Func(f @ FExpr::System(Row { does: Does::Bare(_), .. }), at)) => {
                    let step = |what| Ins { what, at, x: at, y: at };
                    ins.push(step(Do::Const(Array::num(0.0))));
                    ins.push(step(Do::Monad(f)));
                    at
                }
                Some(Term::Func(f, at)) => return self.train(terms, f, at),
                Some(Term::Array(a)) => {
                    let at = a.span;
                    a.emit(ins);
                    at
                }
            },
            Right::Func(f, at) => return self.train(terms, f, at),
            Right::Oper(op, at) if terms.is_empty() => return Ok(Right::Oper(op, at)),
            Right::Oper(_, at) => return Err(self.error("an operator is no argument", at)),
            Right::Array(at) => at,
        };
        while let Some(term) = terms.pop() {
            let (f, here) = match term {
                Term::Func(f, here) => (f, here),
                Term::Array(a) => {
                    return Err(
                        self.error("no function stands between these values", a.span.join(at))
                    );
                }
                Term::Oper(_, here) => return Err(self.error("this operator has no operand", here)),
            };
            if let Some(Term::Array(a)) = terms.pop_if(|t| matches!(t, Term::Array(_))) {
                let x = a.span;
                let mut own = Vec::new();
                a.emit(&mut own);
                let is_held = |sym| self.class_of(Key::Held(sym)) == Class::Array;
                let (what, x_at, y_at) = match code::commuted(&f, (&own, ins), is_held) {
                    // `V/⍨B` is `B/V`, for whoever knows that.
                    Some(f) => {
                        ins.splice(..0, own);
                        (Do::Dyad(f), at, x)
                    }
                    None => {
                        ins.extend(own);
                        (Do::Dyad(f), x, at)
                    }
                };
                ins.push(Ins { what, at: here, x: x_at, y: y_at });
                at = x.join(at);
            } else {
                code::then(ins, Ins { what: Do::Monad(f), at: here, x: here, y: at });
                at = here.join(at);
            }
        }
        Ok(Right::Array(at))
    }

    fn train(&mut self, mut terms: Vec<terms::Term>, last: FExpr, at: Span) -> Result<Right> {
        use terms::Term;
        if terms.len() > CHAIN {
            return Err(limit(format!("a train has at most {CHAIN} tines")).at(&self.ast.place(at)));
        }
        let alone = at;
        let (mut right, mut at) = (last, at);
        while let Some(term) = terms.pop() {
            let (middle, here) = match term {
                Term::Func(f, here) => (f, here),
                // `1 2+`: what was meant is no train.
                Term::Array(_) if at == alone => {
                    let name = self.ast.place(alone).text();
                    return Err(self.error(format!("{name} has no right argument"), alone));
                }
                Term::Array(a) => {
                    return Err(
                        self.error("a value needs a function between it and the next tine", a.span)
                    );
                }
                Term::Oper(_, here) => return Err(self.error("this operator has no operand", here)),
            };
            let left = terms.pop();
            at = here.join(at);
            right = match left {
                None => FExpr::Atop(Box::new(middle), Box::new(right)),
                Some(Term::Func(f, here)) => {
                    at = here.join(at);
                    FExpr::Fork(Box::new(Operand::F(f)), Box::new(middle), Box::new(right))
                }
                Some(Term::Array(a)) => {
                    at = a.span.join(at);
                    FExpr::Fork(Box::new(Operand::A(a.code())), Box::new(middle), Box::new(right))
                }
                Some(Term::Oper(_, here)) => {
                    return Err(self.error("this operator has no operand", here));
                }
            };
            right = right.folded();
        }
        Ok(Right::Func(right, at))
    }
}

/// A vector of numbers as written.
pub(crate) fn vector(items: Vec<f64>) -> Array {
    Array::few_numbers(&items)
}

/// A glyph's row, or the error that names what is not there.
pub(crate) fn glyph(c: char, ast: &Ast, at: Span) -> Result<&'static Prim> {
    table::find(c).filter(|p| p.role != Role::Missing).ok_or_else(|| {
        match c {
            '→' => {
                syntax("→ goes to a line of a ∇ function; a dfn has guards: {cond:expr ⋄ expr}")
            }
            '&' => nonce("& (spawn)"),
            c => nonce(c),
        }
        .at(&ast.place(at))
    })
}

#[allow(unused)]
pub(crate) fn known(f: Func) -> FExpr {
    FExpr::Known(Rc::new(f))
}

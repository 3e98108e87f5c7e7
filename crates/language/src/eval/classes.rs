//! Classes of names where a phrase runs, and the phrase's code for them.

use super::run::{At, Eval, Outcome};
use super::space::Space;
use super::value::{Func, Operand, Value};
use crate::syntax::ast::{PhraseId, What};
use crate::syntax::resolve::{self, Class, Do, FExpr, Gives, Ins, Key, Pattern, Resolved, Text};
use crate::syntax::steps::{Act, Step};
use crate::syntax::token::Word;
use crate::syntax::{self, Sym};
use crate::table::Role;
use aplomb_ground::error::Result;
use aplomb_ground::span::Source;
use std::rc::Rc;

/// Characters of a name's text up to which ⍎ of it, in parentheses, may be a function.
const NAMED_TEXT: usize = 40;

/// Texts in texts that are asked what they mean.
const ASKED: usize = 4;

impl Eval<'_> {
    /// A name's class. A function without arguments has the class of what it gives.
    fn class_of(&mut self, at: At<'_>, sym: Sym) -> Class {
        if let Some(class) = self.class_held(at, sym) {
            return class;
        }
        match self.lookup(at, sym) {
            Some(Value::Func(f)) => self.class_given(&f),
            _ => Class::Array,
        }
    }

    /// The class of what a function without arguments gives: that of what its lines put into the
    /// name of its result.
    fn class_given(&mut self, f: &Rc<Func>) -> Class {
        let Func::Trad(trad) = &**f else { return Class::Array };
        let own = trad.tradfn();
        let (Some(Pattern::Name(result)), Ok(steps)) = (&own.result, &own.steps) else {
            return Class::Array;
        };
        let at = At { ast: &trad.ast, frame: None };
        let gives = |ev: &mut Self, step: &Step| {
            let Act::Run(phrase) = step.act else { return None };
            let what =
                |k: usize| trad.ast.phrase(phrase).items.get(k).map(|i| &trad.ast.item(*i).what);
            let is_result = matches!((what(0), what(1)),
                (Some(What::Name(sym)), Some(What::Assign)) if sym == result);
            if !is_result || ev.st.asked >= ASKED {
                return None;
            }
            ev.st.asked += 1;
            let resolved = ev.resolved(at, phrase).ok();
            ev.st.asked -= 1;
            match &resolved?.code.gives {
                Gives::Func(_) => Some(Class::Func),
                Gives::Oper(op) => match ev.operator(at, op) {
                    Ok(op) if op.is_dyadic() => Some(Class::Dyadic),
                    _ => Some(Class::Monadic),
                },
                _ => None,
            }
        };
        steps.steps.iter().find_map(|step| gives(self, step)).map_or(Class::Array, |class| class)
    }

    /// The class of what a name holds, without taking its value; None: a function without
    /// arguments.
    fn class_held(&self, at: At<'_>, sym: Sym) -> Option<Class> {
        let class = |v: &Value| match v {
            Value::Func(f) if f.is_niladic() => None,
            v => Some(v.class()),
        };
        let mut frame = at.frame;
        while let Some(f) = frame {
            if let Some((_, v)) = f.locals.borrow().iter().find(|(s, _)| *s == sym) {
                return class(v);
            }
            frame = f.closure.env.as_ref();
        }
        if at.frame.is_none()
            && let Some((_, v)) = self.below(sym)
        {
            return class(&v);
        }
        match self.elsewhere(sym) {
            Some(home) => self.st.member(&home, sym).map_or(Some(Class::Array), |v| class(&v)),
            None => self.st.globals.get(sym).map_or(Some(Class::Array), class),
        }
    }

    fn class(&mut self, at: At<'_>, key: &Key) -> Class {
        let operand = |k: usize| match at.frame.and_then(|f| f.operand(k)) {
            Some(Operand::F(_)) => Class::Func,
            _ => Class::Array,
        };
        match key {
            Key::Sym(sym) => self.class_of(at, *sym),
            Key::Held(sym) => match self.lookup(at, *sym) {
                Some(Value::Array(_)) => Class::Array,
                _ => Class::Func,
            },
            Key::Member(path) => self.at_path(at, path).map_or(Class::Array, |v| v.class()),
            Key::Word(Word::AlphaAlpha) => operand(0),
            Key::Word(Word::OmegaOmega) => operand(1),
            Key::Word(Word::Del) if at.frame.is_some() => Class::Func,
            Key::Word(Word::DelDel) => match at.frame {
                Some(f) if f.closure.ast.dfn(f.closure.dfn).operands > 1 => Class::Dyadic,
                _ => Class::Monadic,
            },
            Key::Word(Word::Alpha) => {
                match at.frame.map(|f| f.alpha.borrow().as_ref().map(Value::class)) {
                    Some(Some(class)) => class,
                    _ => Class::Array,
                }
            }
            Key::Word(_) => Class::Array,
            Key::Text(text) => self.class_of_text(at, text),
            Key::Of(phrase, sym) => self.class_of_member(at, *phrase, *sym),
        }
    }

    /// The class of a name of the first of the namespaces that a phrase gives. One that does more
    /// than look is not run for that.
    fn class_of_member(&mut self, at: At<'_>, phrase: PhraseId, sym: Sym) -> Class {
        let Ok(resolved) = self.resolved(at, phrase) else { return Class::Array };
        let looks = |ins: &Ins| match &ins.what {
            Do::Monad(FExpr::Prim(p)) | Do::Dyad(FExpr::Prim(p)) => !matches!(p.glyph, '⍎' | '?'),
            Do::Const(_) | Do::Name(_) | Do::Alpha | Do::Omega | Do::Word(_) => true,
            Do::Strand(_) | Do::Place(_) | Do::Member(_) | Do::Index(_) => true,
            _ => false,
        };
        if !resolved.code.ins.iter().all(looks) {
            return Class::Array;
        }
        let code = resolved.code.clone();
        let Ok(Outcome::Array(a)) = self.code(at, &code, false) else { return Class::Array };
        let first = match a.rank() {
            0 => Some(a),
            _ if a.is_empty() || a.pending().is_some() => None,
            _ => Some(a.item(0)),
        };
        let member = first.and_then(|a| Space::of(&a)).and_then(|s| self.st.member(&s, sym));
        member.map_or(Class::Array, |v| v.class())
    }

    /// The class of what a short text means. What is no text, or no phrase, is none of a function.
    fn class_of_text(&mut self, at: At<'_>, text: &Text) -> Class {
        let text: Rc<str> = match text {
            Text::Literal(text) => text.clone(),
            Text::Name(sym) => match self.lookup(at, *sym) {
                Some(Value::Array(a)) if a.pending().is_none() && a.len() <= NAMED_TEXT => {
                    a.word().map_or_else(|| "".into(), Into::into)
                }
                _ => return Class::Array,
            },
        };
        let (limits, stop) = (self.cx.host.limits().clone(), self.cx.host.interrupt().clone());
        let source = Source::new("⍎", &*text);
        let Ok(ast) = syntax::parse(&source, &mut self.st.symbols, &limits, &stop) else {
            return Class::Array;
        };
        let [Step { act: Act::Run(phrase), .. }] = ast.steps.steps.as_slice() else {
            return Class::Array;
        };
        let (phrase, ast) = (*phrase, Rc::new(ast));
        let inner = At { ast: &ast, frame: at.frame };
        // A text may speak of itself.
        if self.st.asked >= ASKED {
            return Class::Array;
        }
        self.st.asked += 1;
        let resolved = self.resolved(inner, phrase).ok();
        self.st.asked -= 1;
        let Some(resolved) = resolved else { return Class::Array };
        match &resolved.code.gives {
            Gives::Nothing | Gives::Array => Class::Array,
            Gives::Func(FExpr::Prim(p)) if p.role == Role::Hybrid => Class::Hybrid,
            Gives::Func(_) => Class::Func,
            Gives::Oper(op) => match self.operator(inner, op) {
                Ok(op) if op.is_dyadic() => Class::Dyadic,
                Ok(_) => Class::Monadic,
                Err(_) => Class::Array,
            },
        }
    }

    /// The phrase's code for the classes its names have now.
    pub fn resolved(&mut self, at: At<'_>, id: PhraseId) -> Result<Rc<Resolved>> {
        let phrase = at.ast.phrase(id);
        let hit = phrase
            .cache
            .borrow()
            .iter()
            .find(|r| r.classes.iter().all(|(k, c)| self.class(at, k) == *c))
            .cloned();
        if let Some(r) = hit {
            return Ok(r);
        }
        let made = Rc::new(resolve::resolve(at.ast, phrase, &mut |key| self.class(at, &key))?);
        let mut cache = phrase.cache.borrow_mut();
        if cache.len() >= 4 {
            cache.remove(0);
        }
        cache.push(made.clone());
        Ok(made)
    }
}

//! Functions of lines as the dfns that they are (`syntax::guards`), for whoever runs many cells.
//!
//! Names of a function of lines are dynamic, those of a dfn are where it was written. They are the
//! same names only if nobody else's stand between: what the function calls must not see its own
//! names, and no dfn below may have a name that it reads.

use super::env::Frame;
use super::run::{At, Eval};
use super::value::{Closure, Func, Oper, Operand, Trad, Value};
use crate::syntax::ast::{DfnId, PhraseId, What};
use crate::syntax::guards::{Guards, guards};
use crate::syntax::{Ast, Sym};
use crate::table::Prim;
use aplomb_ground::span::Place;
use std::rc::Rc;

/// Functions that are looked through.
const MOST: usize = 64;

impl At<'_> {
    /// The place by which a phrase is told: of a function of lines that runs as a dfn, whose text
    /// nobody wrote, that of the function.
    pub fn told(&self, phrase: PhraseId) -> Place {
        match self.frame.and_then(|frame| frame.closure.lines.as_ref()) {
            Some(trad) => trad.ast.place(trad.tradfn().span),
            None => self.ast.place(self.ast.phrase(phrase).span),
        }
    }
}

impl Eval<'_> {
    /// The function of lines as a dfn with one argument or two. None: it is no dfn here.
    pub fn as_dfn(&mut self, trad: &Rc<Trad>, dyadic: bool) -> Option<Rc<Func>> {
        let own = trad.tradfn();
        let takes = own.right.is_some() && own.left.is_some() == dyadic;
        if !takes || !Rc::ptr_eq(&trad.home, &self.st.here) {
            return None;
        }
        let made = self.guards(trad)?;
        let sees = made.free.iter().all(|sym| self.is_of_the_workspace(*sym));
        if !sees || !self.sees_none(&made.free, &own.locals) {
            return None;
        }
        let (ast, dfn, lines) = (made.ast.clone(), made.dfn, Some(trad.clone()));
        let home = trad.home.clone();
        Some(Rc::new(Func::Dfn(Rc::new(Closure { ast, dfn, env: None, home, lines }))))
    }

    /// The text of a function of lines as a dfn.
    fn guards<'a>(&mut self, trad: &'a Trad) -> Option<&'a Guards> {
        let own = trad.tradfn();
        let (symbols, limits) = (&mut self.st.symbols, self.cx.host.limits());
        let made = own.guards.get_or_init(|| guards(&trad.ast, own, symbols, limits));
        made.as_ref()
    }

    /// The operands of a primitive operator with functions of lines as dfns.
    pub fn operands_as_dfns(
        &mut self,
        p: &Prim,
        operands: &[Operand],
        dyadic: bool,
    ) -> Option<Vec<Operand>> {
        let is_lines = |f: &Operand| matches!(f, Operand::F(f) if matches!(**f, Func::Trad(_)));
        if !operands.iter().any(is_lines) {
            return None;
        }
        let dyadic = match p.glyph {
            '¨' | '⍤' | '⍣' => dyadic,
            '/' | '⌿' | '\\' | '⍀' | '.' | '⌸' => true,
            _ => return None,
        };
        let one = |(k, f): (usize, &Operand)| match f {
            // What ends `f⍣g` is called with two arguments, whatever f is.
            Operand::F(f) if k == 0 || p.glyph != '⍣' => {
                Operand::F(self.seen_by_cells(f, dyadic))
            }
            f => f.clone(),
        };
        Some(operands.iter().enumerate().map(one).collect())
    }

    /// A function as it is seen by whoever runs many cells.
    pub fn seen_by_cells(&mut self, f: &Rc<Func>, dyadic: bool) -> Rc<Func> {
        match &**f {
            Func::Trad(trad) if let Some(made) = self.as_dfn(trad, dyadic) => made,
            _ => f.clone(),
        }
    }

    /// True of a name that no call of a dfn has: a function of lines finds it in the workspace.
    fn is_of_the_workspace(&self, sym: Sym) -> bool {
        let mut frame: Option<&Rc<Frame>> = self.st.frame.as_ref();
        while let Some(f) = frame {
            if f.local(sym).is_some() {
                return false;
            }
            frame = f.closure.env.as_ref();
        }
        self.below(sym).is_none()
    }

    /// True where what some names of the workspace stand for sees none of the others.
    pub(super) fn sees_none(&mut self, names: &[Sym], others: &[Sym]) -> bool {
        let mut waiting: Vec<Sym> = names.iter().rev().copied().collect();
        let mut seen = waiting.clone();
        while let Some(sym) = waiting.pop() {
            let mut functions = match self.st.globals.get(sym) {
                Some(Value::Array(_)) => continue,
                Some(Value::Func(f)) => vec![f.clone()],
                Some(Value::Oper(_)) | None => return false,
            };
            while let Some(f) = functions.pop() {
                let (op, operands) = f.operands();
                if !matches!(op, None | Some(Oper::Prim(_))) {
                    return false;
                }
                let inner = operands.iter().filter_map(|o| match o {
                    Operand::F(f) => Some(f.clone()),
                    Operand::A(_) => None,
                });
                functions.extend(inner);
                let names = match &*f {
                    Func::Dfn(c) if c.env.is_none() => named(&c.ast, c.dfn),
                    Func::Trad(t) => self.guards(t).map(|made| made.free.clone()),
                    Func::System(row) => row.is_pure().then(Vec::new),
                    Func::Dfn(_) | Func::Within(..) | Func::Shared(..) => None,
                    _ => Some(Vec::new()),
                };
                let Some(names) = names else { return false };
                if names.iter().any(|sym| others.contains(sym)) {
                    return false;
                }
                for sym in names {
                    if !seen.contains(&sym) && self.st.globals.get(sym).is_some() {
                        seen.push(sym);
                        waiting.push(sym);
                    }
                }
                if seen.len() > MOST {
                    return false;
                }
            }
        }
        true
    }
}

/// The names in a dfn's text. None: it may find others as it runs.
fn named(ast: &Ast, dfn: DfnId) -> Option<Vec<Sym>> {
    let span = ast.dfn(dfn).span;
    let mut out = Vec::new();
    for item in ast.items.iter().filter(|i| span.start <= i.span.start && i.span.end <= span.end) {
        match &item.what {
            What::Name(sym) => out.push(*sym),
            What::Glyph('⍎') | What::Quad | What::QuoteQuad => return None,
            What::System(name) => {
                crate::eval::system::find(name).ok().filter(|row| row.is_pure())?;
            }
            _ => {}
        }
    }
    Some(out)
}

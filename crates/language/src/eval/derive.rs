//! Functions and operators of expressions: the values that `FExpr` and `OpExpr` have now.

use super::run::{At, Eval, Outcome};
use super::value::{Closure, Func, Oper, Operand, Value};
use crate::syntax::ast::DfnId;
use crate::syntax::resolve::{self, Do, FExpr, Inner, Ins, OpExpr};
use crate::syntax::token::Word;
use aplomb_ground::error::{Result, syntax, value};
use std::rc::Rc;

impl Eval<'_> {
    /// The function an expression is now.
    pub fn function(&mut self, at: At<'_>, f: &FExpr) -> Result<Rc<Func>> {
        Ok(match f {
            FExpr::Known(f) => f.clone(),
            FExpr::Prim(p) => Rc::new(Func::Prim(p)),
            FExpr::Name(sym) => match self.lookup(at, *sym) {
                Some(Value::Func(f)) if f.is_niladic() => match self.result_of(&f)? {
                    Outcome::Func(f) => f,
                    _ => return Err(syntax("a call gives a value here, not a function")),
                },
                Some(Value::Func(f)) => f,
                _ => {
                    return Err(syntax(format!(
                        "{} is no function here",
                        self.st.symbols.name(*sym)
                    )));
                }
            },
            FExpr::Word(Word::Del) => match at.frame {
                Some(f) => f.this.clone(),
                None => return Err(syntax("∇ stands only inside { }")),
            },
            FExpr::Word(Word::Alpha) => match at.frame.map(|f| f.alpha.borrow().clone()) {
                Some(Some(Value::Func(f))) => f,
                _ => return Err(value("⍺ has no value")),
            },
            FExpr::Word(w) => {
                match at.frame.and_then(|f| f.operand(usize::from(*w == Word::OmegaOmega)).cloned())
                {
                    Some(Operand::F(f)) => f,
                    _ => return Err(syntax("⍺⍺ and ⍵⍵ stand only inside an operator")),
                }
            }
            FExpr::Dfn(id) => Rc::new(Func::Dfn(Rc::new(self.closure(at, *id)))),
            FExpr::Member(path) => match (self.owners(at, path), path.names.split_last()) {
                (Some(several), Some((sym, _))) => {
                    self.function_inside(at, &several, &Inner::Name(*sym))?
                }
                _ => match self.at_path(at, path) {
                    Some(Value::Func(f)) => f,
                    _ => return Err(syntax("this name of a namespace is no function")),
                },
            },
            FExpr::Inside(owner, inner) => {
                let owner = self.array(at, owner)?;
                self.function_inside(at, &owner, inner)?
            }
            FExpr::System(row) => Rc::new(Func::System(row)),
            FExpr::Op1(op, f) => {
                Rc::new(Func::derived(self.operator(at, op)?, self.operand(at, f)?))
            }
            FExpr::Code(code) => match self.code(at, code, false)? {
                Outcome::Func(f) => f,
                _ => return Err(syntax("a function is needed here")),
            },
            FExpr::Op2(op, f, g) => {
                let g = self.operand(at, g)?;
                Rc::new(Func::Op2(self.operator(at, op)?, self.operand(at, f)?, g))
            }
            FExpr::Outer(f) => Rc::new(Func::Outer(Operand::F(self.function(at, f)?))),
            FExpr::Axis(f, code) => {
                let axis = self.array(at, code)?;
                Rc::new(Func::Axis(Operand::F(self.function(at, f)?), axis))
            }
            FExpr::Fork(f, g, h) => {
                let h = Operand::F(self.function(at, h)?);
                let g = Operand::F(self.function(at, g)?);
                Rc::new(Func::Fork(self.operand(at, f)?, g, h))
            }
            FExpr::Atop(g, h) => {
                let h = Operand::F(self.function(at, h)?);
                Rc::new(Func::Atop(Operand::F(self.function(at, g)?), h))
            }
        })
    }

    /// A dfn with the scope and the space where it stands.
    fn closure(&self, at: At<'_>, dfn: DfnId) -> Closure {
        let (ast, env) = (at.ast.clone(), at.frame.cloned());
        Closure { ast, dfn, env, home: self.st.here.clone(), lines: None }
    }

    /// The operator that an expression is. Errors: VALUE, SYNTAX.
    pub fn operator(&mut self, at: At<'_>, op: &OpExpr) -> Result<Oper> {
        match op {
            OpExpr::Prim(p) => Ok(Oper::Prim(p)),
            OpExpr::System(row) => Ok(Oper::System(row)),
            OpExpr::Name(sym) => match self.lookup(at, *sym) {
                Some(Value::Oper(op)) => Ok(op),
                Some(Value::Func(f)) if f.hybrid().is_some() => {
                    f.hybrid().map(Oper::Prim).ok_or_else(|| syntax("this is no operator"))
                }
                Some(Value::Func(f)) if f.is_niladic() => match self.result_of(&f)? {
                    Outcome::Oper(op) => Ok(op),
                    _ => Err(syntax("a call gives a value here, not an operator")),
                },
                _ => Err(syntax("this name is no operator here")),
            },
            OpExpr::Curried(op, g) => {
                let g = self.operand(at, g)?;
                Ok(Oper::Curried(Box::new(self.operator(at, op)?), Box::new(g)))
            }
            OpExpr::Code(code) => match self.code(at, code, false)? {
                Outcome::Oper(op) => Ok(op),
                Outcome::Func(f) if f.hybrid().is_some() => {
                    f.hybrid().map(Oper::Prim).ok_or_else(|| syntax("this is no operator"))
                }
                _ => Err(syntax("an operator is needed here")),
            },
            OpExpr::Dfn(id) => Ok(Oper::Dfn(Rc::new(self.closure(at, *id)))),
            OpExpr::Member(path) => match self.at_path(at, path) {
                Some(Value::Oper(op)) => Ok(op),
                Some(Value::Func(f)) if f.hybrid().is_some() => {
                    f.hybrid().map(Oper::Prim).ok_or_else(|| syntax("this is no operator"))
                }
                _ => Err(syntax("this name of a namespace is no operator")),
            },
            OpExpr::Alpha => match at.frame.map(|f| f.alpha.borrow().clone()) {
                Some(Some(Value::Oper(op))) => Ok(op),
                _ => Err(value("⍺ has no value")),
            },
            OpExpr::DelDel => match at.frame {
                Some(f) => Ok(Oper::Dfn(f.closure.clone())),
                None => Err(syntax("∇∇ stands only inside an operator")),
            },
        }
    }

    fn operand(&mut self, at: At<'_>, o: &resolve::Operand) -> Result<Operand> {
        match o {
            resolve::Operand::F(f) => self.function(at, f).map(Operand::F),
            resolve::Operand::A(code) => self.array(at, code).map(Operand::A),
        }
    }

    /// The function that ⍎ or a call gave, if nothing is left to do but to name it. Errors: SYNTAX.
    pub(super) fn made_function(
        &mut self,
        at: At<'_>,
        made: Outcome,
        rest: &[Ins],
    ) -> Result<Outcome> {
        let value = match &made {
            Outcome::Func(f) => Value::Func(f.clone()),
            Outcome::Oper(op) => Value::Oper(op.clone()),
            _ => return Ok(made),
        };
        match rest {
            [] => Ok(made),
            [Ins { what: Do::Assign(sym), .. }] => {
                self.set(at, *sym, value)?;
                Ok(made)
            }
            _ => Err(syntax("a function stands where a value is needed")
                .hint("name it first: f←⍎text, then use f")),
        }
    }
}

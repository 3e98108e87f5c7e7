//! The arrays that a function closes over: those bound in it, and those that its text names in the
//! scopes around.

use crate::eval::env::Globals;
use crate::eval::value::{Closure, Func, Oper, Operand, Value};
use crate::syntax::ast::What;
use aplomb_values::array::{Array, Shape};
use std::rc::Rc;

/// More functions than these are not looked through.
const MOST: usize = 256;

/// The longest frame of an array that a function sees beside its arguments.
pub fn frame_of(f: &Rc<Func>, globals: &Globals) -> Option<Shape> {
    let mut longest: Option<Shape> = None;
    let mut see = |a: &Array| {
        if let Some(split) = a.frame()
            && longest.as_ref().is_none_or(|l| l.len() < split.at)
        {
            longest = Some(split.frame().into());
        }
    };
    let (mut functions, mut closures) = (vec![f.clone()], Vec::<Rc<Closure>>::new());
    let mut at = 0;
    while let Some(f) = functions.get(at).cloned().filter(|_| at < MOST) {
        at += 1;
        let mut arrays = Vec::new();
        f.arrays(&mut arrays);
        arrays.into_iter().for_each(&mut see);
        let (opers, operands) = f.operands();
        functions.extend(
            operands
                .into_iter()
                .filter_map(|o| if let Operand::F(f) = o { Some(f.clone()) } else { None }),
        );
        let own = opers
            .into_iter()
            .filter_map(|o| if let Oper::Dfn(c) = o { Some(c.clone()) } else { None });
        let dfn = if let Func::Dfn(c) = &*f { Some(c.clone()) } else { None };
        for c in own.chain(dfn) {
            if closures.iter().any(|known| Rc::ptr_eq(known, &c)) {
                continue;
            }
            for value in named(&c, globals) {
                match value {
                    Value::Array(a) => see(&a),
                    Value::Func(f) => functions.push(f),
                    Value::Oper(_) => {}
                }
            }
            closures.push(c);
        }
    }
    longest
}

/// The values of the names in a dfn's text: in the calls around it, and the arrays among those of
/// functions of lines, which stand where the workspace's do.
fn named(c: &Closure, globals: &Globals) -> Vec<Value> {
    let span = c.ast.dfns[c.dfn.0 as usize].span;
    let inside =
        c.ast.items.iter().filter(|i| span.start <= i.span.start && i.span.end <= span.end);
    let names = inside.filter_map(|i| if let What::Name(sym) = i.what { Some(sym) } else { None });
    let found = names.filter_map(|sym| {
        let mut scope = c.env.as_ref();
        while let Some(frame) = scope {
            if let Some(value) = frame.local(sym) {
                return Some(value);
            }
            scope = frame.closure.env.as_ref();
        }
        globals.get(sym).filter(|v| matches!(v, Value::Array(_))).cloned()
    });
    found.collect()
}

//! `⍣`: repeat, until, inverse.

use super::function;
use crate::array::Array;
use crate::error::{Result, domain};
use crate::eval::run::Eval;
use crate::eval::value::Operand;
use crate::prim::shape::Axis;

pub fn power(ev: &mut Eval<'_>, f: &[Operand], x: Option<&Array>, y: &Array, _: Axis<'_>) -> Result<Array> {
    let func = function(&f[0])?.clone();
    let mut now = y.clone();
    match &f[1] {
        Operand::A(n) => {
            let n = ev.cx.one_integer(n, "the right operand of ⍣")?;
            if n > 1
                && let Some(all) = ev.rounds(&func, x, y, n.unsigned_abs())?
            {
                return Ok(all);
            }
            for _ in 0..n.unsigned_abs() {
                ev.cx.host.interrupt().check()?;
                now = if n < 0 { super::inverse::inverse(ev, &func, x, &now)? } else { ev.apply(&func, x, &now)? };
            }
            Ok(now)
        }
        Operand::F(g) => loop {
            ev.cx.host.interrupt().check()?;
            let next = ev.apply(&func, x, &now)?;
            let done = ev.apply(g, Some(&next), &now)?;
            let done = ev.cx.ready(&done, "until")?;
            now = next;
            match Some(&done).filter(|d| d.len() == 1 && !d.is_char()).and_then(|d| d.number_at(0)) {
                Some(1.0) => return Ok(now),
                Some(0.0) => {}
                _ => {
                    let e = domain("the condition of ⍣ is 0 or 1");
                    let minus = super::prim(&f[1]).is_some_and(|p| p.glyph == '-');
                    return Err(if minus { e.hint("did you mean ⍣¯1?") } else { e });
                }
            }
        },
    }
}

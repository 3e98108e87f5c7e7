//! `⍣`: repeat, until, inverse.

use super::function;
use crate::eval::lower::Times;
use crate::eval::run::Eval;
use crate::eval::value::Operand;
use crate::functions::shape::Axis;
use aplomb_ground::error::{Result, domain, untraced};
use aplomb_ground::limits::UNKNOWN;
use aplomb_values::array::Array;

/// `f⍣n`, `f⍣g`: f again and again, n times or until g gives 1.
pub fn power(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    _: Axis<'_>,
) -> Result<Array> {
    let func = function(&f[0])?.clone();
    let mut now = y.clone();
    match &f[1] {
        Operand::A(n) => {
            let n = ev.cx.one_integer(n, "the right operand of ⍣")?;
            let times = Times::Count(n.unsigned_abs());
            if n > 1
                && let Some(all) = ev.rounds(&func, x, y, times, None)?
            {
                return Ok(all);
            }
            if n > 1
                && let Some(made) = ev.power_by_numbers(&func, x, y, n.unsigned_abs())?
            {
                return Ok(made);
            }
            let way = ev.cx.host.interrupt().rounds(n.unsigned_abs());
            for k in 0..n.unsigned_abs() {
                ev.cx.host.interrupt().check()?;
                way.done(k);
                let from = ev.cx.sys.tape.mark();
                let framed = now.frame().is_some();
                let next = if n < 0 {
                    super::inverse::inverse(ev, &func, x, &now)?
                } else {
                    ev.apply_to(&func, x, now)?
                };
                let to = ev.cx.sys.tape.mark();
                // The frame came from a name: x and y are the same for all cells.
                if k == 0
                    && n > 1
                    && !framed
                    && next.frame().is_some()
                    && let Some(all) = ev.rounds(&func, x, y, times, Some(&next))?
                {
                    ev.cx.sys.tape.cut(from, to);
                    return Ok(all);
                }
                now = next;
            }
            Ok(now)
        }
        Operand::F(g) => {
            let way = ev.cx.host.interrupt().rounds(UNKNOWN);
            let mut turns = 0;
            loop {
                ev.cx.host.interrupt().check()?;
                way.done(turns);
                turns += 1;
                let each = |ev: &mut Eval<'_>, now: &Array, like: Option<&Array>| {
                    let all = ev.rounds(&func, x, now, Times::Until(g), like)?;
                    all.ok_or_else(|| untraced("the end of ⍣ depends on the cell"))
                };
                if now.frame().is_some() {
                    return each(ev, &now, None);
                }
                let from = ev.cx.sys.tape.mark();
                let next = ev.apply(&func, x, &now)?;
                let done = ev.apply(g, Some(&next), &now)?;
                if let Some(like) = [&next, &done].into_iter().find(|a| a.frame().is_some()) {
                    // Each cell has an end of its own, and what showed it does not count.
                    ev.cx.sys.tape.roll_back(from);
                    return each(ev, &now, Some(like));
                }
                let done = ev.cx.ready(&done, "until")?;
                now = next;
                match Some(&done)
                    .filter(|d| d.len() == 1 && !d.is_char())
                    .and_then(|d| d.number_at(0))
                {
                    Some(1.0) => return Ok(now),
                    Some(0.0) => {}
                    _ => {
                        let e = domain("the condition of ⍣ is 0 or 1");
                        let minus = super::prim(&f[1]).is_some_and(|p| p.glyph == '-');
                        return Err(if minus { e.hint("did you mean ⍣¯1?") } else { e });
                    }
                }
            }
        }
    }
}

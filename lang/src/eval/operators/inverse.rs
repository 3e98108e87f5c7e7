//! `⍣¯1`: functions that can be undone.

use crate::array::{Array, around};
use crate::error::{Result, domain};
use crate::eval::run::Eval;
use crate::eval::value::{Func, Oper, Operand};
use crate::prim::op::Op;
use std::rc::Rc;

pub fn inverse(ev: &mut Eval<'_>, f: &Rc<Func>, x: Option<&Array>, y: &Array) -> Result<Array> {
    let none = || domain(format!("{} has no inverse that Aplomb knows", f.text()));
    match (&**f, x) {
        (Func::Prim(p), None) => match p.glyph {
            '-' | '÷' | '~' | '⌽' | '⊖' | '⍉' | '⊢' | '⊣' | '+' => ev.apply(f, None, y),
            '*' => ev.cx.map1(Op::Ln, y),
            '⍟' => ev.cx.map1(Op::Exp, y),
            '○' => ev.cx.map2(Op::Div, y, &Array::num(std::f64::consts::PI)),
            '⍸' => counts(ev, y),
            '⊂' => crate::prim::select::first(&mut ev.cx, y, None),
            _ => Err(none()),
        },
        (Func::Prim(p), Some(x)) => match p.glyph {
            '+' => ev.cx.map2(Op::Sub, y, x),
            '-' => ev.cx.map2(Op::Sub, x, y),
            '×' => ev.cx.map2(Op::Div, y, x),
            '÷' => ev.cx.map2(Op::Div, x, y),
            '*' => ev.cx.map2(Op::Log, x, y),
            '⍟' => ev.cx.map2(Op::Pow, x, y),
            '⌽' | '⊖' => {
                let back = ev.cx.map1(Op::Neg, x)?;
                ev.apply(f, Some(&back), y)
            }
            '⊢' => Ok(y.clone()),
            '⊥' => digits(ev, x, y),
            '⊤' => crate::prim::numbers::decode(&mut ev.cx, x, y, None),
            '○' => {
                let back = ev.cx.map1(Op::Neg, x)?;
                ev.cx.map2(Op::CircleBy, &back, y)
            }
            _ => Err(none()),
        },
        (Func::Op1(Oper::Prim(p), Operand::F(g)), None)
            if matches!(p.glyph, '\\' | '⍀') && matches!(**g, Func::Prim(g) if matches!(g.glyph, '+')) =>
        {
            differences(ev, y, p.glyph == '\\')
        }
        (Func::Op1(Oper::Prim(p), Operand::F(g)), Some(x)) if p.glyph == '⍨' => match &**g {
            Func::Prim(g) => match g.glyph {
                '+' => ev.cx.map2(Op::Sub, y, x),
                '-' => ev.cx.map2(Op::Add, y, x),
                '×' => ev.cx.map2(Op::Div, y, x),
                '÷' => ev.cx.map2(Op::Mul, y, x),
                '*' => {
                    let root = ev.cx.map1(Op::Recip, x)?;
                    ev.cx.map2(Op::Pow, y, &root)
                }
                _ => Err(none()),
            },
            _ => Err(none()),
        },
        (Func::Op1(Oper::Prim(p), Operand::F(g)), x) if p.glyph == '¨' => {
            let y = ev.cx.ready_outer(y)?;
            let mut out = Vec::with_capacity(y.len());
            for item in y.to_items() {
                out.push(inverse(ev, g, x, &item)?);
            }
            super::reduce::finished(ev, y.shape(), out, Array::num(0.0))
        }
        (Func::Op2(Oper::Prim(p), Operand::A(a), Operand::F(g)), None) if p.glyph == '∘' => {
            inverse(ev, g, Some(a), y)
        }
        (Func::Op2(Oper::Prim(p), Operand::F(g), Operand::A(a)), None) if p.glyph == '∘' => {
            let turned = crate::prim::table::find('⍨').ok_or_else(none)?;
            inverse(ev, &Rc::new(Func::Op1(Oper::Prim(turned), Operand::F(g.clone()))), Some(a), y)
        }
        (Func::Op2(Oper::Prim(p), Operand::F(f), Operand::F(g)), x) if p.glyph == '∘' || p.glyph == '⍤' => {
            let (outer, inner) = if p.glyph == '∘' { (x, None) } else { (None, x) };
            let mid = inverse(ev, f, outer, y)?;
            inverse(ev, g, inner, &mid)
        }
        (Func::Op2(Oper::Prim(p), Operand::F(g), Operand::A(n)), x) if p.glyph == '⍣' => {
            let n = ev.cx.one_integer(n, "the right operand of ⍣")?;
            let mut now = y.clone();
            for _ in 0..n.unsigned_abs() {
                now = if n > 0 { inverse(ev, g, x, &now)? } else { ev.apply(g, x, &now)? };
            }
            Ok(now)
        }
        (Func::Atop(Operand::F(f), Operand::F(g)), x) => {
            let mid = inverse(ev, f, None, y)?;
            inverse(ev, g, x, &mid)
        }
        (Func::Fork(Operand::A(a), Operand::F(g), Operand::F(h)), None) => {
            let mid = inverse(ev, g, Some(a), y)?;
            inverse(ev, h, None, &mid)
        }
        _ => Err(none()),
    }
}

/// As many digits of one base as Y needs.
fn digits(ev: &mut Eval<'_>, x: &Array, y: &Array) -> Result<Array> {
    if x.len() > 1 {
        return crate::prim::numbers::encode(&mut ev.cx, x, y, None);
    }
    let base = ev.cx.numbers(x, "a base")?[0];
    let most = ev.cx.numbers(y, "the argument of ⊥⍣¯1")?.into_iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if base <= 1.0 {
        return Err(domain("⊥⍣¯1 needs a base above 1"));
    }
    let (mut n, mut rest) = (0, most);
    while rest >= 1.0 && n < 1_100 {
        rest = (rest / base).floor();
        n += 1;
    }
    let radices = ev.cx.vector(vec![base; n])?;
    crate::prim::numbers::encode(&mut ev.cx, &radices, y, None)
}

fn differences(ev: &mut Eval<'_>, y: &Array, last: bool) -> Result<Array> {
    if y.rank() == 0 {
        return Ok(y.clone());
    }
    let y = ev.cx.ready(y, "argument")?;
    let items = y.to_complexes().ok_or_else(|| domain("+\\⍣¯1 takes numbers"))?;
    let (outer, n, inner) = around(y.shape(), if last { y.rank() - 1 } else { 0 });
    let mut out = items.clone();
    for o in 0..outer {
        for k in 1..n {
            for i in 0..inner {
                let at = (o * n + k) * inner + i;
                out[at] = ev.cx.complex_step(Op::Sub, items[at], items[at - inner])?;
            }
        }
    }
    Array::complexes(y.shape(), out, ev.cx.budget())
}

/// ⍸⍣¯1: how often each place occurs.
fn counts(ev: &mut Eval<'_>, y: &Array) -> Result<Array> {
    let io = ev.cx.sys.io as i64;
    let places = ev.cx.integers(y, "the argument of ⍸⍣¯1")?;
    let n = places.iter().map(|k| k - io + 1).max().unwrap_or(0).max(0) as usize;
    let _held = ev.cx.budget().charge_elements(n, 8)?;
    let mut out = vec![0.0; n];
    for k in places {
        let at = usize::try_from(k - io).ok().filter(|&k| k < n).ok_or_else(|| domain("places count from ⎕IO"))?;
        out[at] += 1.0;
    }
    ev.cx.vector(out)
}

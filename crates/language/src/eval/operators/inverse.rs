//! `⍣¯1`: functions that can be undone.

use crate::eval::run::Eval;
use crate::eval::value::{Func, Oper, Operand};
use crate::functions::shape::{Axis, axis_of};
use crate::table::Prim;
use aplomb_ground::error::{Error, Result, domain};
use aplomb_values::array::{Array, Ragged, Shape, around, checked_elements};
use aplomb_values::prim::op::Op;
use std::rc::Rc;

/// The y for which `f y` (or `x f y`) is Y. Errors: DOMAIN for a function without an inverse, and
/// where none exists.
pub fn inverse(ev: &mut Eval<'_>, f: &Rc<Func>, x: Option<&Array>, y: &Array) -> Result<Array> {
    match (&**f, x) {
        (Func::Prim(p), None) => monadic(ev, f, p, y, None),
        (Func::Prim(p), Some(x)) => dyadic(ev, f, p, x, y, None),
        (Func::Axis(Operand::F(g), k), x) => match (&**g, x) {
            (Func::Prim(p), None) => monadic(ev, g, p, y, Some(k)),
            (Func::Prim(p), Some(x)) => dyadic(ev, g, p, x, y, Some(k)),
            (Func::Op1(Oper::Prim(p), g), None) if matches!(p.glyph, '\\' | '⍀') => {
                unscanned(ev, f, p, g, y, Some(k))
            }
            _ => Err(none(f)),
        },
        (Func::Outer(Operand::F(g)), Some(x)) => unpaired(ev, f, g, x, y),
        (Func::Op1(Oper::Prim(p), g), x) => one_operand(ev, f, p, g, x, y),
        (Func::Op2(Oper::Prim(p), g, h), x) => two_operands(ev, f, (p, g, h), x, y),
        (Func::Atop(Operand::F(f), Operand::F(g)), x) => {
            let mid = inverse(ev, f, None, y)?;
            inverse(ev, g, x, &mid)
        }
        (Func::Fork(left, Operand::F(g), Operand::F(h)), x) => {
            let fixed = |o: &Operand| match o {
                Operand::A(a) => Some(a.clone()),
                Operand::F(f) => match (&**f, x) {
                    (Func::Op1(Oper::Prim(p), Operand::A(a)), _) if p.glyph == '⍨' => {
                        Some(a.clone())
                    }
                    (Func::Prim(p), Some(x)) if p.glyph == '⊣' => Some(x.clone()),
                    _ => None,
                },
            };
            match (fixed(left), fixed(&Operand::F(h.clone())), left) {
                (Some(a), _, _) => {
                    let mid = inverse(ev, g, Some(&a), y)?;
                    inverse(ev, h, x, &mid)
                }
                (None, Some(b), Operand::F(left)) => {
                    let mid = inverse(ev, &commuted(g)?, Some(&b), y)?;
                    inverse(ev, left, x, &mid)
                }
                _ => Err(none(f)),
            }
        }
        _ => Err(none(f)),
    }
}

fn none(f: &Func) -> Error {
    domain(format!("{} has no inverse that Aplomb knows", f.text()))
}

fn operator(glyph: char) -> Result<Oper> {
    let row = crate::table::find(glyph);
    row.map(Oper::Prim).ok_or_else(|| aplomb_ground::error::internal("an operator has no row"))
}

fn commuted(f: &Rc<Func>) -> Result<Rc<Func>> {
    Ok(Rc::new(Func::Op1(operator('⍨')?, Operand::F(f.clone()))))
}

fn monadic(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    p: &'static Prim,
    y: &Array,
    axis: Axis<'_>,
) -> Result<Array> {
    match p.glyph {
        '⌽' | '⊖' => ev.monadic(p, y, axis),
        _ if axis.is_some() => Err(none(f)),
        '-' | '÷' | '~' | '⍉' | '⊢' | '⊣' | '+' => ev.monadic(p, y, None),
        '*' => ev.cx.map1(Op::Ln, y),
        '⍟' => ev.cx.map1(Op::Exp, y),
        '○' => ev.cx.map2(Op::Div, y, &Array::num(std::f64::consts::PI)),
        '!' => unfactored(ev, None, y),
        ',' if y.rank() == 1 => Ok(y.clone()),
        ',' => Err(domain(",⍣¯1 takes a vector")),
        '⍸' => counts(ev, y),
        '⊂' if y.rank() == 0 => crate::functions::select::first(&mut ev.cx, y, None),
        '⊂' => Err(domain("⊂⍣¯1 takes a scalar")),
        '↑' => crate::functions::cells::split(&mut ev.cx, y, None),
        '↓' => crate::functions::cells::mix(&mut ev.cx, y, None),
        _ => Err(none(f)),
    }
}

fn dyadic(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    p: &'static Prim,
    x: &Array,
    y: &Array,
    axis: Axis<'_>,
) -> Result<Array> {
    // `x f y` undone by `y g x` or `x g y`, along an axis too.
    let by = |ev: &mut Eval<'_>, glyph: char, turned: bool| {
        let p = crate::table::find(glyph).ok_or_else(|| none(f))?;
        let (a, b) = if turned { (y, x) } else { (x, y) };
        ev.dyadic(p, a, b, axis)
    };
    match p.glyph {
        '+' => by(ev, '-', true),
        '×' => by(ev, '÷', true),
        '-' => by(ev, '-', false),
        '÷' => by(ev, '÷', false),
        '*' => by(ev, '⍟', false),
        '⍟' => by(ev, '*', false),
        '⌽' | '⊖' => {
            let back = ev.cx.map1(Op::Neg, x)?;
            ev.dyadic(p, &back, y, axis)
        }
        ',' | '⍪' => without_prefix(ev, p, x, y, axis),
        '\\' | '⍀' => compressed(ev, p, x, y, axis),
        _ if axis.is_some() => Err(none(f)),
        '⊢' => Ok(y.clone()),
        '!' => unfactored(ev, Some(x), y),
        '⊥' => digits(ev, x, y),
        '⊤' => crate::functions::numbers::decode(&mut ev.cx, x, y, None),
        '○' => {
            let back = ev.cx.map1(Op::Neg, x)?;
            ev.cx.map2(Op::CircleBy, &back, y)
        }
        '⍉' => {
            let n = ev
                .cx
                .integers(x, "an axis")?
                .into_iter()
                .collect::<std::collections::HashSet<_>>()
                .len();
            if n != x.len() || x.rank() > 1 {
                return Err(domain("only a permutation of axes can be undone"));
            }
            let back = crate::functions::order::up(&mut ev.cx, x, None)?;
            crate::functions::shape::transpose_by(&mut ev.cx, &back, y, None)
        }
        _ => Err(none(f)),
    }
}

fn one_operand(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    p: &'static Prim,
    g: &Operand,
    x: Option<&Array>,
    y: &Array,
) -> Result<Array> {
    let (Operand::F(inner), glyph) = (g, super::prim(g).map(|g| g.glyph)) else {
        return Err(none(f));
    };
    match (p.glyph, glyph, x) {
        ('\\' | '⍀', _, None) => unscanned(ev, f, p, g, y, None),
        ('⍨', Some('+'), None) => ev.cx.map2(Op::Div, y, &Array::num(2.0)),
        ('⍨', Some('×'), None) => ev.cx.map2(Op::Pow, y, &Array::num(0.5)),
        ('⍨', Some('+'), Some(x)) => ev.cx.map2(Op::Sub, y, x),
        ('⍨', Some('-'), Some(x)) => ev.cx.map2(Op::Add, y, x),
        ('⍨', Some('×'), Some(x)) => ev.cx.map2(Op::Div, y, x),
        ('⍨', Some('÷'), Some(x)) => ev.cx.map2(Op::Mul, y, x),
        ('⍨', Some('*'), Some(x)) => {
            let root = ev.cx.map1(Op::Recip, x)?;
            ev.cx.map2(Op::Pow, y, &root)
        }
        ('⍨', Some('⍟'), Some(x)) => {
            let root = ev.cx.map1(Op::Recip, y)?;
            ev.cx.map2(Op::Pow, x, &root)
        }
        ('⍨', Some('⊣'), Some(_)) => Ok(y.clone()),
        ('¨', _, x) => {
            let back = Func::Op2(operator('⍣')?, g.clone(), Operand::A(Array::num(-1.0)));
            super::each::each(ev, &[Operand::F(Rc::new(back))], x, y, None)
        }
        // (f⍨)⍨ is f for two arguments.
        ('⍨', _, Some(x)) => match &**inner {
            Func::Op1(Oper::Prim(q), Operand::F(h)) if q.glyph == '⍨' => {
                inverse(ev, h, Some(x), y)
            }
            _ => Err(none(f)),
        },
        _ => Err(none(f)),
    }
}

fn two_operands(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    (p, g, h): (&'static Prim, &Operand, &Operand),
    x: Option<&Array>,
    y: &Array,
) -> Result<Array> {
    match (p.glyph, g, h, x) {
        ('∘', Operand::A(a), Operand::F(g), None) => inverse(ev, g, Some(a), y),
        ('∘', Operand::F(g), Operand::A(a), None) => inverse(ev, &commuted(g)?, Some(a), y),
        ('∘', Operand::F(f), Operand::F(g), x) => {
            let mid = inverse(ev, f, x, y)?;
            inverse(ev, g, None, &mid)
        }
        ('⍤', Operand::F(f), Operand::F(g), x) => {
            let mid = inverse(ev, f, None, y)?;
            inverse(ev, g, x, &mid)
        }
        ('⍤', Operand::F(_), Operand::A(_), x) => {
            let back = Func::Op2(operator('⍣')?, g.clone(), Operand::A(Array::num(-1.0)));
            super::rank::rank(ev, &[Operand::F(Rc::new(back)), h.clone()], x, y, None)
        }
        ('⍥', Operand::F(f), Operand::F(g), x) => {
            let left = x.map(|x| ev.apply(g, None, x)).transpose()?;
            let mid = inverse(ev, f, left.as_ref(), y)?;
            inverse(ev, g, None, &mid)
        }
        ('⍛', Operand::F(f), Operand::F(g), Some(x)) => {
            let left = ev.apply(f, None, x)?;
            inverse(ev, g, Some(&left), y)
        }
        ('⍣', Operand::F(g), Operand::A(n), x) => {
            let n = ev.cx.one_integer(n, "the right operand of ⍣")?;
            let mut now = y.clone();
            for _ in 0..n.unsigned_abs() {
                ev.cx.host.interrupt().check()?;
                now = if n > 0 { inverse(ev, g, x, &now)? } else { ev.apply(g, x, &now)? };
            }
            Ok(now)
        }
        _ => Err(none(f)),
    }
}

/// `(x∘.g)⍣¯1`: what all items of x were paired with.
fn unpaired(ev: &mut Eval<'_>, f: &Rc<Func>, g: &Rc<Func>, x: &Array, y: &Array) -> Result<Array> {
    let wrong = || domain("this is no table of all pairs with the left argument");
    let Some(shape) = y.shape().strip_prefix(x.shape()).filter(|_| !x.is_empty()) else {
        return Err(wrong());
    };
    let first = crate::functions::select::first(&mut ev.cx, x, None)?;
    let y = ev.cx.ready(y, "table")?;
    let of_first: Vec<usize> = (0..checked_elements(shape)?).collect();
    let row = crate::functions::amend::picked(&ev.cx, &y, shape, &of_first)?;
    let found = inverse(ev, g, Some(&first), &row)?;
    let again = ev.apply(f, Some(x), &found)?;
    let same = crate::functions::search::matches(&mut ev.cx, &again, &y, None)?;
    if same.number_scalar() == Some(1.0) { Ok(found) } else { Err(wrong()) }
}

/// The least argument from which `!` only grows.
const TURN: f64 = 0.461_632_144_968_362_3;

/// `!⍣¯1` and `(x∘!)⍣¯1`: the greatest number whose factorial, or number of choices of x, is Y.
fn unfactored(ev: &mut Eval<'_>, x: Option<&Array>, y: &Array) -> Result<Array> {
    let x = match x.map(|x| ev.cx.one_number(x, "the left argument of !⍣¯1")).transpose()? {
        Some(k) if k < 1.0 => return Err(domain("x!⍣¯1 takes an x of at least 1")),
        x => x,
    };
    let numbers = ev.cx.numbers(y, "the argument of !⍣¯1")?;
    let mut out = ev.cx.budget().room(numbers.len())?;
    for &v in &numbers {
        ev.cx.host.interrupt().check()?;
        let at = |t: f64| match x {
            None => ev.cx.scalar1(Op::Fact, t),
            Some(k) => ev.cx.scalar2(Op::Binomial, k, t),
        };
        let mut low = x.map_or(TURN, |k| k - 1.0);
        let mut high = low + 1.0;
        if v < at(low)? {
            return Err(domain("! of no number is this"));
        }
        // What overflows is greater.
        let below = |t: f64| at(t).is_ok_and(|z| z < v);
        while below(high) {
            high = low + (high - low) * 2.0;
        }
        for _ in 0..200 {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high {
                break;
            }
            if below(middle) { low = middle } else { high = middle }
        }
        let near = high.round();
        let is_whole = (near - high).abs() < 1e-6 && at(near).is_ok_and(|z| z == v);
        out.push(if is_whole { near } else { high });
    }
    let made = Array::numbers(y.shape(), out, ev.cx.budget())?;
    ev.cx.floats(&made)
}

/// `(x,)⍣¯1`: what follows x.
fn without_prefix(
    ev: &mut Eval<'_>,
    p: &'static Prim,
    x: &Array,
    y: &Array,
    axis: Axis<'_>,
) -> Result<Array> {
    if y.rank() == 0 {
        return Err(domain("this does not begin with the argument that is to be taken off"));
    }
    let at = axis_of(&mut ev.cx, axis, y.rank(), if p.glyph == ',' { y.rank() - 1 } else { 0 })?;
    let n = if x.rank() == y.rank() { x.shape()[at] } else { 1 };
    let k = Array::num(at as f64 + ev.cx.sys.settings.io);
    let rest = crate::functions::shape::drop(&mut ev.cx, &Array::num(n as f64), y, Some(&k))?;
    let whole = ev.dyadic(p, x, &rest, Some(&k))?;
    if crate::functions::search::matches(&mut ev.cx, &whole, y, None)?.number_scalar() == Some(1.0)
    {
        return Ok(rest);
    }
    Err(domain("this does not begin with the argument that is to be taken off"))
}

/// `(x\)⍣¯1` of a mask: the cells it did not fill.
fn compressed(
    ev: &mut Eval<'_>,
    p: &'static Prim,
    x: &Array,
    y: &Array,
    axis: Axis<'_>,
) -> Result<Array> {
    if ev.cx.integers(x, "the left argument of \\")?.iter().any(|b| !matches!(b, 0 | 1)) {
        return Err(domain("only an expansion by 0 and 1 can be undone"));
    }
    if p.glyph == '\\' {
        crate::functions::repeat::replicate_last(&mut ev.cx, x, y, axis)
    } else {
        crate::functions::repeat::replicate_first(&mut ev.cx, x, y, axis)
    }
}

/// The digits that ⊥ makes Y of. The first radix takes all the rest, as ⊥ does not look at it; of
/// one base there are as many digits as Y needs, and one more that holds the sign if some Y is
/// negative.
fn digits(ev: &mut Eval<'_>, x: &Array, y: &Array) -> Result<Array> {
    if x.len() != 1 {
        let mut radices = ev.cx.numbers(x, "the left argument of ⊥")?;
        if let (Some(first), 1) = (radices.first_mut(), x.rank()) {
            *first = 0.0;
            let radices = ev.cx.vector(radices)?;
            return crate::functions::numbers::encode(&mut ev.cx, &radices, y, None);
        }
        return Err(domain("⊥⍣¯1 takes a vector of radices"));
    }
    let base = ev.cx.numbers(x, "a base")?[0];
    let numbers = ev.cx.numbers(y, "the argument of ⊥⍣¯1")?;
    if base <= 1.0 || !base.is_finite() {
        return Err(domain("⊥⍣¯1 needs a base above 1"));
    }
    if let ([v], 0) = (numbers.as_slice(), y.rank())
        && let mut out = Vec::new()
        && push_digits(base, *v, &mut out)
        && !out.is_empty()
    {
        return ev.cx.vector(out);
    }
    let most = numbers.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let mut n = usize::from(numbers.iter().any(|&v| v < 0.0));
    let mut radices = vec![base; n];
    let mut rest = most;
    while rest >= 1.0 && n < 1_100 {
        rest = (rest / base).floor();
        radices.push(base);
        n += 1;
    }
    if rest >= 1.0 {
        return Err(domain("⊥⍣¯1 would need more than a thousand digits"));
    }
    if let Some(first) = radices.first_mut() {
        *first = 0.0;
    }
    let radices = ev.cx.vector(radices)?;
    crate::functions::numbers::encode(&mut ev.cx, &radices, y, None)
}

/// The digits of a whole number in a whole base, behind those that are there. False: it is another,
/// or below 0.
fn push_digits(base: f64, v: f64, out: &mut Vec<f64>) -> bool {
    /// Whole numbers up to this one are told apart.
    const MOST: f64 = 9_007_199_254_740_992.0;
    let whole = |x: f64| x == x.trunc() && x < MOST;
    if !whole(base) || !whole(v) || base < 2.0 || v < 0.0 {
        return false;
    }
    let (base, mut rest, from) = (base as u64, v as u64, out.len());
    while rest > 0 {
        out.push((rest % base) as f64);
        rest /= base;
    }
    out[from..].reverse();
    true
}

/// `x(⊥⍣¯1)¨Y` of whole numbers, as one pass. None: they are others. Errors: WS FULL, INTERRUPT.
pub fn digits_of_each(
    ev: &mut Eval<'_>,
    f: &Func,
    x: Option<&Array>,
    y: &Array,
) -> Result<Option<Array>> {
    /// Digits of one of them, at most.
    const MOST: usize = 53;
    let Func::Op2(Oper::Prim(power), Operand::F(g), Operand::A(by)) = f else { return Ok(None) };
    let is_decode = matches!(&**g, Func::Prim(p) if p.glyph == '⊥');
    let base = x.filter(|x| x.rank() == 0).and_then(Array::number_scalar);
    let (Some(base), true, '⍣') = (base, is_decode, power.glyph) else { return Ok(None) };
    if by.number_scalar() != Some(-1.0) || !y.is_of_f64() || y.rank() == 0 || y.frame().is_some() {
        return Ok(None);
    }
    let numbers = ev.cx.numbers(y, "the argument of ⊥⍣¯1")?;
    let (mut flat, mut ticks) = (Vec::new(), ev.cx.budget().ticks());
    let mut ends = ev.cx.budget().room(numbers.len())?;
    for v in numbers.iter() {
        ticks.tick()?;
        ev.cx.budget().widen(&mut flat, MOST)?;
        if !push_digits(base, *v, &mut flat) {
            return Ok(None);
        }
        let Ok(end) = u32::try_from(flat.len()) else { return Ok(None) };
        ends.push(end);
    }
    let flat = ev.cx.vector(flat)?;
    Ok(Ragged::new(flat, ends).map(|made| made.items(y.shape())))
}

/// A scan undone: each item from the two results around it. - and ÷ turn every second one.
fn unscanned(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    p: &'static Prim,
    g: &Operand,
    y: &Array,
    axis: Axis<'_>,
) -> Result<Array> {
    let (step, turned) = match super::scalar_op(g) {
        Some(Op::Add) => (Op::Sub, false),
        Some(Op::Sub) => (Op::Sub, true),
        Some(Op::Mul) => (Op::Div, false),
        Some(Op::Div) => (Op::Div, true),
        Some(op @ (Op::Eq | Op::Ne)) => (op, false),
        _ => return Err(none(f)),
    };
    if y.rank() == 0 {
        return Ok(y.clone());
    }
    let axis = axis_of(&mut ev.cx, axis, y.rank(), if p.glyph == '\\' { y.rank() - 1 } else { 0 })?;
    let y = ev.cx.ready(y, "argument")?;
    let items = y
        .to_complexes(ev.cx.budget())?
        .ok_or_else(|| domain("the inverse of a scan takes numbers"))?;
    let (outer, n, inner) = around(y.shape(), axis);
    let mut out = items.clone();
    for o in 0..outer {
        ev.cx.host.interrupt().check()?;
        for k in 1..n {
            for i in 0..inner {
                let at = (o * n + k) * inner + i;
                let (a, b) = (items[at], items[at - inner]);
                let (a, b) = if turned && k % 2 == 1 { (b, a) } else { (a, b) };
                out[at] = ev.cx.complex_step(step, a, b)?;
            }
        }
    }
    Array::complexes(y.shape(), out, ev.cx.budget())
}

/// ⍸⍣¯1: how often each place occurs; index vectors give an array of their rank.
fn counts(ev: &mut Eval<'_>, y: &Array) -> Result<Array> {
    let io = ev.cx.sys.settings.io as i64;
    if y.rank() != 1 {
        return Err(domain("⍸⍣¯1 takes a vector of places"));
    }
    let y = ev.cx.ready(y, "where")?;
    let _items = ev.cx.budget().charge_elements(y.len(), size_of::<Array>())?;
    let mut places = ev.cx.budget().room(y.len())?;
    for item in y.in_turn() {
        places.push(ev.cx.integers(&item, "a place")?);
    }
    let r = if y.is_simple() { 1 } else { places.first().map_or(1, Vec::len) };
    let mut shape = Shape::new();
    for k in 0..r {
        let mut most = 0;
        for p in &places {
            let at = p
                .get(k)
                .copied()
                .filter(|_| p.len() == r)
                .ok_or_else(|| domain("the places differ in rank"))?;
            let at = usize::try_from(at - io).map_err(|_| domain("places count from ⎕IO"))?;
            most = most.max(at + 1);
        }
        shape.push(most);
    }
    // ⍸ gives places in order.
    if places.windows(2).any(|w| w[0] > w[1]) {
        return Err(domain("⍸⍣¯1 takes places in ascending order"));
    }
    let n = checked_elements(&shape)?;
    let mut out = ev.cx.budget().filled(0.0, n)?;
    let _held = ev.cx.budget().charge_elements(n, 8)?;
    for p in places {
        let at = p.iter().zip(&shape).fold(0, |at, (k, n)| at * n + (k - io) as usize);
        out[at] += 1.0;
    }
    if shape.is_empty() {
        return Err(domain("⍸⍣¯1 takes places that have axes"));
    }
    Array::numbers(shape, out, ev.cx.budget())
}

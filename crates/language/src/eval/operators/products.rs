//! `∘.f` and `f.g`: broadcasts, a map, a reduction; pairs of cells where that does not do.

use super::each::flat_pass;
use super::frames::Fallback;
use super::{function, own, prim, reduce, scalar_op};
use crate::eval::flattened::Steps;
use crate::eval::run::Eval;
use crate::eval::scope::TOGETHER;
use crate::eval::value::{Func, Oper, Operand};
use crate::functions::groups::gathered;
use crate::functions::shape::{Axis, reshaped};
use aplomb_ground::error::{Result, length, limit, syntax};
use aplomb_values::array::{Array, Shape, checked_elements, elements};
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;
use std::rc::Rc;

/// `X∘.f Y`: f of all pairs of items.
pub fn outer(ev: &mut Eval<'_>, f: &Operand, x: Option<&Array>, y: &Array) -> Result<Array> {
    let func = &ev.seen_by_cells(function(f)?, true);
    let Some(x) = x else { return Err(syntax("∘. needs a left argument")) };
    let shape: Shape = x.shape().iter().chain(y.shape()).copied().collect();
    let n = checked_elements(&shape)?;
    if n == 0 {
        return super::each::of_nothing(ev, func, Some(x), y, &shape);
    }
    if func.is_bound() {
        // It fails at the first pair, for which nothing need be spread.
        return ev.apply(func, Some(x), y);
    }
    if let (Some(op), true) = (scalar_op(f), x.is_uniform() && y.is_uniform()) {
        let (r, s) = (x.rank(), shape.len());
        let a = if x.rank() == 0 {
            x.clone()
        } else {
            ev.cx.apply_move(x, Move::axes("⍴", shape.clone(), (0..r).map(Some)))?
        };
        let b = if y.rank() == 0 {
            y.clone()
        } else {
            ev.cx.apply_move(y, Move::axes("⍴", shape.clone(), (r..s).map(Some)))?
        };
        return ev.cx.map2(op, &a, &b);
    }
    if let Some(z) = ev.outer_framed(func, x, y)? {
        return Ok(z);
    }
    let work = ev.cx.begin_work(n);
    let z = match paired(ev, func, x, y, &shape)? {
        Some(z) => z,
        None => all_pairs(ev, func, x, y)?,
    };
    ev.tell_interpreted(work, &z);
    Ok(z)
}

/// All pairs as cells that run step by step together. None: cells go one by one.
fn paired(
    ev: &mut Eval<'_>,
    func: &Rc<Func>,
    x: &Array,
    y: &Array,
    shape: &Shape,
) -> Result<Option<Array>> {
    if !ev.runs_together(elements(shape)) {
        return Ok(None);
    }
    let (r, n) = (x.rank(), y.len());
    let left = spread(ev, x, shape, 0..r, |k| k / n)?;
    let right = spread(ev, y, shape, r..shape.len(), |k| k % n)?;
    if let Some(z) = flat_pass(ev, func, Some(&left), &right)? {
        ev.cx.sys.refused = None;
        return Ok(Some(z));
    }
    ev.flattened(func, Some(&left), &right, shape, Steps::All)
}

/// An argument's items, each as often as it is in a pair; `place` says which one is in the k-th.
fn spread(
    ev: &mut Eval<'_>,
    a: &Array,
    shape: &Shape,
    at: std::ops::Range<usize>,
    place: impl Fn(usize) -> usize,
) -> Result<Array> {
    if a.rank() == 0 {
        return Ok(a.clone());
    }
    let gathered = gathered(&mut ev.cx, a)?;
    if let Some(pieces) = gathered.as_ref().map_or(a, |pieces| pieces).pieces() {
        let pairs = elements(shape);
        let places: Vec<u32> = ev.cx.budget().each((0..pairs).map(|k| place(k) as u32))?;
        if let Some(all) = pieces.taken(&places, ev.cx.budget())? {
            return Ok(all.items(shape));
        }
    }
    ev.cx.apply_move(a, Move::axes("⍴", shape.clone(), at.map(Some)))
}

/// Calls the function on pair after pair.
pub fn all_pairs(ev: &mut Eval<'_>, func: &Rc<Func>, x: &Array, y: &Array) -> Result<Array> {
    let shape: Shape = x.shape().iter().chain(y.shape()).copied().collect();
    let n = checked_elements(&shape)?;
    let (x, y) = (ev.cx.ready_outer(x)?, ev.cx.ready_outer(y)?);
    let mut out = ev.cx.budget().room(n)?;
    let _held = ev.cx.budget().charge_elements(n, size_of::<Array>())?;
    let item = |a: &Array, k: usize| if a.rank() == 0 { a.disclosed() } else { a.item(k) };
    // A few pairs, each of which may be recorded, are no run cell by cell.
    if n < TOGETHER {
        ev.cx.sys.refused = None;
    }
    ev.one_by_one(n, |ev| {
        let mut ticks = ev.cx.budget().ticks();
        for i in 0..x.len() {
            for j in 0..y.len() {
                ticks.tick()?;
                let z = ev.apply(func, Some(&item(&x, i)), &item(&y, j))?;
                out.push(z);
            }
        }
        Ok(())
    })?;
    reduce::finished(ev, &shape, out, Array::num(0.0))
}

/// Whether a function of so many arguments, of arrays of one shape, is that function of item after
/// item: scalar functions and what is composed of them.
pub fn pervades(f: &Operand, arguments: usize) -> bool {
    let Operand::F(f) = f else { return false };
    let plain = |a: &Operand| matches!(a, Operand::A(a) if a.rank() == 0 && a.is_uniform());
    match &**f {
        // `?` draws in an order.
        Func::Prim(p) => {
            matches!(p.glyph, '⊢' | '⊣') || p.glyph != '?' && p.scalar(arguments == 2).is_some()
        }
        Func::Fork(f, g, h) => {
            (plain(f) || pervades(f, arguments)) && pervades(g, 2) && pervades(h, arguments)
        }
        Func::Atop(g, h) => pervades(g, 1) && pervades(h, arguments),
        Func::Op1(Oper::Prim(p), f) => p.glyph == '⍨' && pervades(f, 2),
        Func::Op2(Oper::Prim(p), f, g) => match p.glyph {
            '∘' if arguments == 2 => pervades(f, 2) && pervades(g, 1),
            '∘' if plain(f) => pervades(g, 2),
            '∘' if plain(g) => pervades(f, 2),
            '∘' => pervades(f, 1) && pervades(g, 1),
            '⍥' => pervades(f, arguments) && pervades(g, 1),
            _ => false,
        },
        Func::System(_)
        | Func::Within(..)
        | Func::Shared(..)
        | Func::Dfn(_)
        | Func::Trad(_)
        | Func::Op1(..)
        | Func::Op2(..)
        | Func::Outer(_)
        | Func::Axis(..) => false,
    }
}

/// `X f.g Y`: `f/x g¨y` for each row x of X and column y of Y. Dfns that are a primitive are that:
/// `{⍺+⍵}.{⍺×⍵}` is a product in tiles.
pub fn inner(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    _: Axis<'_>,
) -> Result<Array> {
    function(&f[0])?;
    function(&f[1])?;
    let Some(x) = x else { return Err(syntax("an inner product needs a left argument")) };
    let own: Vec<Option<Operand>> = f.iter().map(own::primitive).collect();
    let some = own.iter().any(Option::is_some) && !x.is_empty();
    let one = |(own, f): (&Option<Operand>, &Operand)| match own {
        Some(own) => own.clone(),
        None => f.clone(),
    };
    let all = || own.iter().zip(f).map(one).collect();
    let (own, x) = (some.then(all), x.clone());
    reduce::as_primitive(ev, &f.to_vec(), own, y, move |ev, f, y| multiplied(ev, f, &x, y))
}

fn multiplied(ev: &mut Eval<'_>, f: &[Operand], x: &Array, y: &Array) -> Result<Array> {
    let last = x.shape().last().copied();
    let head = y.shape().first().copied();
    let (a, b) = (last.unwrap_or(1), head.unwrap_or(1));
    if a != b && a != 1 && b != 1 {
        return Err(length(format!(
            "{}.{} needs the last axis of its left argument to match the first axis of its right",
            f[0].text(),
            f[1].text()
        )));
    }
    let k = if a == 1 { b } else { a };
    let (r, s) = (x.rank().max(1) - 1, y.rank().max(1) - 1);
    let outer: Shape =
        x.shape()[..r].iter().chain(y.shape().get(1..).unwrap_or(&[])).copied().collect();
    if outer.len() + 1 > 15 {
        return Err(limit("the product would have more than 15 axes"));
    }
    checked_elements(&outer)?;
    let mut full = outer.clone();
    full.push(k);
    checked_elements(&full)?;
    // All pairs at once, where an array can hold them.
    let pervades = pervades(&f[1], 2);
    let fold = scalar_op(&f[0]).filter(|op| ev.cx.folds(*op));
    let empty = elements(&full) == 0;
    if x.is_uniform() && y.is_uniform() && (!empty || k == 0 && pervades && fold.is_some()) {
        let wide = |ev: &mut Eval<'_>, a: &Array, at: Vec<Option<usize>>| match a.rank() {
            _ if empty => crate::functions::cells::empty(&ev.cx, &full, Array::num(0.0)),
            0 => Ok(a.clone()),
            _ => ev.cx.apply_move(a, Move::axes("⍴", full.clone(), at)),
        };
        let axis = |n: usize| (n == k || n != 1).then_some(r + s);
        let xs = (0..r).map(Some).chain(std::iter::once(axis(a))).collect();
        let ys = std::iter::once(axis(b)).chain((r..r + s).map(Some)).collect();
        let folded = fold.is_some() || !empty && prim(&f[0]).is_none();
        if folded && pervades {
            let (left, right) = (wide(ev, x, xs)?, wide(ev, y, ys)?);
            let pairs = match scalar_op(&f[1]) {
                Some(Op::Mul) if fold == Some(Op::Add) && left.rank() + right.rank() > 0 => {
                    let op = if r > 0 && s > 0 { Op::Mac } else { Op::Dot };
                    return ev.cx.dot(op, &left, &right);
                }
                Some(op) => ev.cx.map2(op, &left, &right)?,
                None => ev.apply(function(&f[1])?, Some(&left), &right)?,
            };
            let pairs = if pairs.rank() == 0 {
                crate::functions::shape::fill(&mut ev.cx, &pairs, &full)?
            } else {
                pairs
            };
            let made = match fold {
                Some(fold) => Some(ev.cx.reduce(fold, &pairs, full.len() - 1)?),
                None => reduce::recorded(ev, &f[0], &pairs)?,
            };
            if let Some(made) = made {
                return Ok(made);
            }
        } else if !pervades
            && x.rank() > 0
            && y.rank() > 0
            && x.frame().is_none()
            && y.frame().is_none()
        {
            let (left, right) = (wide(ev, x, xs)?, wide(ev, y, ys)?);
            let (f2, x2, y2) = (f.to_vec(), x.clone(), y.clone());
            let again =
                move || -> Fallback { Rc::new(move |ev| row_by_row(ev, &f2, &x2, &y2, false)) };
            if let Some(pairs) =
                ev.items_framed(function(&f[1])?, Some(&left), &right, &full, again)?
            {
                return reduce::last(ev, &f[..1], None, &pairs, None);
            }
        }
    }
    row_by_row(ev, f, x, y, pervades)
}

/// The definition. What `pervades` is called once for a row and a column, other functions for each
/// of their items.
fn row_by_row(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: &Array,
    y: &Array,
    pervades: bool,
) -> Result<Array> {
    let g = function(&f[1])?;
    let x = if x.rank() == 0 { reshaped(&mut ev.cx, x, &[1])? } else { x.clone() };
    let y = if y.rank() == 0 { reshaped(&mut ev.cx, y, &[1])? } else { y.clone() };
    let outer: Shape = x.shape()[..x.rank() - 1].iter().chain(&y.shape()[1..]).copied().collect();
    let turned = {
        // The first axis of Y goes last.
        let s = y.rank() - 1;
        let order: Vec<f64> =
            std::iter::once(s).chain(0..s).map(|k| k as f64 + ev.cx.sys.settings.io).collect();
        let order = ev.cx.vector(order)?;
        crate::functions::shape::transpose_by(&mut ev.cx, &order, &y, None)?
    };
    let (_, rows) = reduce::rows(ev, &x, 1)?;
    let (_, columns) = reduce::rows(ev, &turned, 1)?;
    let mut out = ev.cx.budget().room(rows.len() * columns.len())?;
    let _held =
        ev.cx.budget().charge_elements(rows.len() * columns.len(), std::mem::size_of::<Array>())?;
    let all = rows.len() * columns.len();
    ev.warn_one_by_one(all, "pair");
    ev.one_by_one(all, |ev| {
        for (row, column) in
            rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column)))
        {
            // `⊣` and `⊢` extend nothing.
            let pairs = match pervades && row.len() == column.len() {
                true => ev.apply(g, Some(row), column)?,
                false => super::each::each_item(ev, g, Some(row), column)?,
            };
            out.push(reduce::last(ev, &f[..1], None, &pairs, None)?.disclosed());
        }
        Ok(())
    })?;
    reduce::finished(ev, &outer, out, Array::num(0.0))
}

//! `¨`: a function on items, results as items.

use super::differing::each_that_differs;
use super::inverse::digits_of_each;
use super::reduce::as_primitive;
use super::{function, prim, scalar_op};
use crate::eval::flattened::Steps;
use crate::eval::numbers::Which;
use crate::eval::phrases::{folds, scans};
use crate::eval::run::Eval;
use crate::eval::scope::{TOGETHER, is_final};
use crate::eval::system::searched_in_pieces;
use crate::eval::value::{Func, Oper, Operand};
use crate::functions::groups::gathered;
use crate::functions::shape::Axis;
use crate::functions::{made, pieces};
use crate::table::Prim;
use aplomb_ground::error::{Result, length, rank, syntax};
use aplomb_values::array::{Array, Shape, Split, elements};
use std::rc::Rc;

/// The primitives that a dfn may be of which `f¨` knows more than that it calls them.
const PICKS: &str = "⊃⌷";

/// `f¨`: f of each item, or of each pair of items. Many short results are pieces of one vector from
/// the start: whoever goes over them would have to bring them together each time.
pub fn each(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    _: Axis<'_>,
) -> Result<Array> {
    // What a primitive makes of nothing it knows, and a dfn does not.
    let none = y.is_empty() || x.is_some_and(Array::is_empty);
    let own = super::own::called(function(&f[0])?, x.is_some());
    let made = match own.filter(|p| !none && PICKS.contains(p.glyph)) {
        None => results(ev, f, x, y)?,
        Some(p) => {
            let own = Operand::F(Rc::new(Func::Prim(p)));
            let left = x.cloned();
            let run = move |ev: &mut Eval<'_>, f: &Operand, y: &Array| {
                results(ev, std::slice::from_ref(f), left.as_ref(), y)
            };
            as_primitive(ev, &f[0], Some(own), y, run)?
        }
    };
    Ok(gathered(&mut ev.cx, &made)?.map_or(made, |pieces| pieces))
}

fn results(ev: &mut Eval<'_>, f: &[Operand], x: Option<&Array>, y: &Array) -> Result<Array> {
    let func = function(&f[0])?.clone();
    let scalar = match x {
        Some(x) => scalar_op(&f[0]).is_some() && x.is_uniform() && y.is_uniform(),
        None => y.is_uniform() && prim(&f[0]).is_some_and(|p| p.scalar(false).is_some()),
    };
    if scalar {
        return ev.apply(&func, x, y);
    }
    if let (Some(x), Func::Op1(Oper::Prim(swap), g)) = (x, &*func)
        && swap.glyph == '⍨'
        && !x.is_empty()
        && !y.is_empty()
    {
        // What g makes of nothing f⍨ does not know.
        conform(Some(x), y)?;
        return results(ev, std::slice::from_ref(g), Some(y), x);
    }
    if let (Some(x), Some(glyph @ ('⊃' | '⌷'))) = (x, prim(&f[0]).map(|p| p.glyph))
        && let Some(from) = one_vector(y)
        && x.is_uniform()
        && x.dtype().is_integer()
        && x.rank() > 0
    {
        // Each picks from the same vector: that is indexing. ⌷ gives scalars.
        let made = crate::functions::select::bracket(&mut ev.cx, &from, &[Some(x.clone())])?;
        if glyph == '⊃' || from.is_uniform() {
            return Ok(made);
        }
        if let Some(scalars) = made.held_enclosed(ev.cx.budget())? {
            return Ok(scalars);
        }
    }
    if x.is_none()
        && prim(&f[0]).is_some_and(|p| p.glyph == '⍳')
        && let Some(made) = crate::functions::select::iotas(&mut ev.cx, y)?
    {
        return Ok(made);
    }
    let shape = conform(x, y)?;
    if let (Some(x), Some(',')) = (x, prim(&f[0]).map(|p| p.glyph))
        && let Some(made) = made::pairs_of_kinds(&mut ev.cx, x, y)?
    {
        return Ok(made);
    }
    // Many short vectors are pieces of one; one by one they go as they stand.
    let gather = |ev: &mut Eval<'_>, a: &Array| gathered(&mut ev.cx, a);
    let (left, right) = (x.map(|x| gather(ev, x)).transpose()?.flatten(), gather(ev, y)?);
    let ((x0, y0), x, y) = ((x, y), left.as_ref().or(x), right.as_ref().map_or(y, |y| y));
    if let Some(z) = flat_pass(ev, &func, x, y)? {
        return Ok(z);
    }
    if [Some(y), x].into_iter().flatten().any(|a| a.pieces().is_some())
        && let Some(z) = ev.flattened(&func, x, y, &shape, Steps::Flat)?
    {
        return Ok(z);
    }
    if ev.joins(&func, x.is_some()) {
        if let Some(z) = each_that_differs(ev, &func, x, y, &shape, true)? {
            return Ok(z);
        }
        let n = elements(&shape);
        if n > 1
            && ev.runs_together(TOGETHER.max(n))
            && let Some(z) = ev.flattened_few(&func, x, y, &shape, Steps::All)?
        {
            return Ok(z);
        }
    }
    if let Some(z) = ev.flattened(&func, x, y, &shape, Steps::Changes)? {
        return Ok(z);
    }
    if let Some(z) = ev.each_framed(&func, x, y, &shape)? {
        return Ok(z);
    }
    if let Some(z) = ev.each_by_shape(&func, x, y, &shape)? {
        return Ok(z);
    }
    // Cells of one shape that come to ragged ones are pieces from there on.
    if [Some(y), x].into_iter().flatten().any(|a| a.split().is_some())
        && let Some(z) = ev.flattened(&func, x, y, &shape, Steps::Flat)?
    {
        return Ok(z);
    }
    if let Some(z) = each_that_differs(ev, &func, x, y, &shape, false)? {
        return Ok(z);
    }
    if let Some(z) = ev.each_by_numbers(&func, x, y, &shape, Which::Ways)? {
        return Ok(z);
    }
    if x.is_none()
        && let Some(z) = ev.each_ahead(&func, y, &shape)?
    {
        return Ok(z);
    }
    if let Some(z) = ev.flattened(&func, x, y, &shape, Steps::All)? {
        return Ok(z);
    }
    match ev.each_by_numbers(&func, x, y, &shape, Which::All)? {
        Some(z) => Ok(z),
        None => each_item(ev, &func, x0, y0),
    }
}

/// `f¨` as one pass over flat data, where an argument is pieces: a primitive, a fold, a scan, a
/// function of each character by itself. None: it is no such pass.
pub fn flat_pass(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    x: Option<&Array>,
    y: &Array,
) -> Result<Option<Array>> {
    if let (None, Some(op), Some(all), 1) = (x, folds(f), y.pieces(), y.rank()) {
        let parts = ev.cx.budget().each((0..all.count()).map(|k| all.range(k)))?;
        return ev.cx.record_segments(op, &parts, all.flat());
    }
    if let (None, Some(op), Some(all)) = (x, scans(f), y.pieces())
        && let Some(made) = ev.cx.scan_pieces(op, all)?
    {
        return Ok(Some(made.items(y.shape())));
    }
    if let (None, Func::Op1(Oper::Prim(each), Operand::F(g)), Some(all)) = (x, &**f, y.pieces())
        && let ('¨', Func::Prim(_)) = (each.glyph, &**g)
        && !all.flat().is_empty()
        && let Some(flat) = flat_pass(ev, g, None, all.flat())?
    {
        // A primitive of each item of each piece: of all items.
        let flat = ev.cx.ready(&flat, "each")?;
        return Ok(pieces::mapped(all, y.shape(), flat));
    }
    if let (None, Func::Op2(Oper::Prim(p), a, g), Some(all)) = (x, &**f, y.pieces())
        && p.glyph == '@'
        && super::at::goes_by_item(ev, a, g)?
    {
        let flat = ev.attempt(|ev| {
            let flat = ev.apply(f, None, all.flat())?;
            ev.cx.ready(&flat, "each")
        })?;
        return Ok(flat.ok().and_then(|flat| pieces::mapped(all, y.shape(), flat)));
    }
    if let (None, Func::Op2(Oper::System(row), a, g), Some(all)) = (x, &**f, y.pieces()) {
        // What fails is told of the item in which it does.
        let operands = [a.clone(), g.clone()];
        let made = ev.attempt(|ev| searched_in_pieces(ev, row, &operands, all))?;
        return Ok(made.ok().flatten().map(|made| made.items(y.shape())));
    }
    if let Func::Op2(..) = &**f {
        return digits_of_each(ev, f, x, y);
    }
    if let (Func::Prim(p), Some(lines)) = (&**f, y.lines())
        && let Some(made) = along_lines(ev, p, x, lines)?
    {
        return Ok(Some(made));
    }
    match (&**f, y.pieces()) {
        (Func::Prim(p), _) => match made::each(&mut ev.cx, p, x, y)? {
            None => pieces::each(&mut ev.cx, p, x, y),
            made => Ok(made),
        },
        (Func::System(row), None) if row.maps(x) && y.is_uniform() && y.rank() > 0 => {
            let made = ev.attempt(|ev| {
                let z = ev.apply(f, x, y)?;
                ev.cx.ready(&z, "each")
            })?;
            Ok(made.ok().filter(|z| z.is_uniform() && z.shape() == y.shape()))
        }
        (Func::System(row), Some(all)) if row.maps(x) => {
            // What fails is told of the item in which it does.
            let flat = ev.attempt(|ev| {
                let flat = ev.apply(f, x, all.flat())?;
                ev.cx.ready(&flat, "each")
            })?;
            Ok(flat.ok().and_then(|flat| pieces::mapped(all, y.shape(), flat)))
        }
        _ => Ok(None),
    }
}

/// A change of each line of a nested array by itself, along its last axis at once. None: it is
/// something else.
fn along_lines(
    ev: &mut Eval<'_>,
    p: &'static Prim,
    x: Option<&Array>,
    lines: &Split,
) -> Result<Option<Array>> {
    let &[n] = lines.cell() else { return Ok(None) };
    let number = |x: &Array| x.number_at(0).filter(|_| x.rank() == 0 && !x.is_char());
    let fits = match (p.glyph, x) {
        ('⌽', None) => true,
        ('⌽' | '↓', Some(x)) => number(x).is_some(),
        // What fills a line is like its own first item.
        ('↑', Some(x)) => number(x).is_some_and(|x| x.abs() <= n as f64),
        _ => false,
    };
    if !fits {
        return Ok(None);
    }
    let made = ev.attempt(|ev| {
        let last = Array::num((lines.node.rank() - 1) as f64 + ev.cx.sys.settings.io);
        let along = Rc::new(Func::Axis(Operand::F(Rc::new(Func::Prim(p))), last));
        ev.apply(&along, x, &lines.node)
    })?;
    let Ok(made) = made else { return Ok(None) };
    Ok(match made.is_uniform() {
        _ if made.is_empty() => None,
        true => Some(Array::rows(made, lines.at)),
        false => Array::lines_of(&made, lines.at),
    })
}

/// The vector that an enclosed scalar holds.
fn one_vector(y: &Array) -> Option<Array> {
    let inner = (y.rank() == 0 && !y.is_uniform()).then(|| y.disclosed())?;
    (inner.frame().is_none() && inner.rank() == 1 && !inner.is_empty()).then_some(inner)
}

fn conform(x: Option<&Array>, y: &Array) -> Result<Shape> {
    Ok(match x {
        None => y.shape().into(),
        Some(x) if x.shape() == y.shape() => y.shape().into(),
        Some(x) if x.len() == 1 && (y.len() != 1 || y.rank() >= x.rank()) => y.shape().into(),
        Some(x) if y.len() == 1 => x.shape().into(),
        Some(x) if x.rank() != y.rank() => return Err(rank("X and Y differ in rank")),
        Some(_) => return Err(length("X and Y differ in length")),
    })
}

/// An argument before its items are used one by one: rows of a pending array are computed together,
/// not each for itself.
pub fn taken_apart(ev: &mut Eval<'_>, a: &Array) -> Result<Array> {
    match a.split() {
        Some(rows) if rows.node.pending().is_some() && a.len() >= TOGETHER => {
            Ok(Array::rows(ev.cx.ready(&rows.node, "each")?, rows.at))
        }
        _ => ev.cx.ready_outer(a),
    }
}

/// The result of a function of each item where there is none: as many items, whose prototype is
/// what a primitive makes of those of its arguments.
pub fn of_nothing(
    ev: &mut Eval<'_>,
    func: &Rc<Func>,
    x: Option<&Array>,
    y: &Array,
    shape: &[usize],
) -> Result<Array> {
    let proto = y.prototype();
    let tried = match (x.map(Array::prototype), matches!(**func, Func::Prim(_))) {
        (x, true) => match ev.apply(func, x.as_ref(), &proto) {
            Err(e) if is_final(&e) => return Err(e),
            tried => tried.ok(),
        },
        _ => None,
    };
    let proto = match tried {
        Some(made) => ev.cx.prototype_of(&made)?,
        None => Array::num(0.0),
    };
    crate::functions::cells::empty(&ev.cx, shape, proto)
}

/// Calls the function on item after item.
pub fn each_item(
    ev: &mut Eval<'_>,
    func: &Rc<Func>,
    x: Option<&Array>,
    y: &Array,
) -> Result<Array> {
    let shape = conform(x, y)?;
    let y = taken_apart(ev, y)?;
    let x = x.map(|x| taken_apart(ev, x)).transpose()?;
    let n = elements(&shape);
    if n == 0 {
        return of_nothing(ev, func, x.as_ref(), &y, &shape);
    }
    let mut out = ev.cx.budget().room(n)?;
    let _held = ev.cx.budget().charge_elements(n, size_of::<Array>())?;
    let item = |a: &Array, k: usize| {
        if a.rank() == 0 { a.disclosed() } else { a.item(if a.len() == 1 { 0 } else { k }) }
    };
    let mut none = 0;
    ev.one_by_one(n, |ev| {
        let mut ticks = ev.cx.budget().ticks();
        let way = ev.cx.host.interrupt().rounds(n as u64);
        for k in 0..n {
            ticks.tick()?;
            way.done(k as u64);
            let left = x.as_ref().map(|x| item(x, k));
            let o = ev.call(func, left.as_ref(), &item(&y, k))?;
            match ev.valued(o)? {
                Some(a) => out.push(a.settled()),
                None => none += 1,
            }
        }
        Ok(())
    })?;
    if none > 0 {
        return Err(syntax("each needs a value from every call"));
    }
    super::reduce::finished(ev, &shape, out, Array::num(0.0))
}

//! `⍤`: atop with a function, cells with numbers.

use super::function;
use crate::eval::flattened::Steps;
use crate::eval::run::Eval;
use crate::eval::value::{Func, Operand};
use crate::functions::shape::Axis;
use aplomb_ground::error::{Kind, Result, length, rank as rank_error};
use aplomb_values::array::{Array, Shape};
use aplomb_values::prim::moves::Move;
use std::rc::Rc;

/// `f⍤k`: f of the cells of rank k.
pub fn rank(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    _: Axis<'_>,
) -> Result<Array> {
    let func = function(&f[0])?.clone();
    let k = match &f[1] {
        Operand::F(g) => {
            let mid = ev.apply(g, x, y)?;
            return ev.apply(&func, None, &mid);
        }
        Operand::A(k) => ev.cx.integers(k, "a rank")?,
    };
    let (mono, left, right) = match k[..] {
        [k] => (k, k, k),
        [l, r] => (r, l, r),
        [m, l, r] => (m, l, r),
        _ => return Err(length("⍤ takes one, two or three ranks")),
    };
    let cell =
        |k: i64, r: usize| if k < 0 { (r as i64 + k).max(0) as usize } else { (k as usize).min(r) };
    let lead = |k: i64, a: &Array| a.rank() - cell(k, a.rank());
    let (x, y) = match x {
        None => (None, (y, lead(mono, y))),
        Some(x) => (Some((x, lead(left, x))), (y, lead(right, y))),
    };
    if let (Some((x, a)), (y, b)) = (x, y)
        && a > 0
        && b > 0
        && x.shape()[..a] != y.shape()[..b]
    {
        return Err(if a == b {
            length("the frames of X and Y differ in length")
        } else {
            rank_error("the frames of X and Y differ in rank")
        });
    }
    if let (Func::Prim(p), Some((x, own)), (y, lead)) = (&*func, x, y)
        && p.glyph == '⌽'
        && own == x.rank()
        && lead + 1 == y.rank()
        && lead == own
    {
        // A number for each vector is what ⌽ takes.
        return ev.apply(&func, Some(x), y);
    }
    if let Some(z) = enclosed(ev, &func, x, y)? {
        return Ok(z);
    }
    if let Some(z) = ev.rank_framed(&func, x, y)? {
        return Ok(z);
    }
    match flattened(ev, &func, x, y)? {
        Some(z) => Ok(z),
        None => cell_by_cell(ev, &func, x, y),
    }
}

/// The same of cells that no frame takes, all at once. None: they go one by one.
pub fn beside_frames(
    ev: &mut Eval<'_>,
    func: &Rc<Func>,
    x: Option<(&Array, usize)>,
    y: (&Array, usize),
) -> Result<Option<Array>> {
    match enclosed(ev, func, x, y)? {
        None => flattened(ev, func, x, y),
        made => Ok(made),
    }
}

/// Cells that a function encloses, each as one item. None: it is another function.
fn enclosed(
    ev: &mut Eval<'_>,
    func: &Rc<Func>,
    x: Option<(&Array, usize)>,
    (y, lead): (&Array, usize),
) -> Result<Option<Array>> {
    let own = match &**func {
        Func::Prim(p) => Some(*p),
        f => super::own::called(f, x.is_some()),
    };
    let Some(p) = own.filter(|p| p.glyph == '⊂' && x.is_none()) else { return Ok(None) };
    if !(1..y.rank()).contains(&lead) || y.frame().is_some() {
        return Ok(None);
    }
    // What ⊂ takes along these axes.
    let io = ev.cx.sys.settings.io;
    let axes = ev.cx.vector((lead..y.rank()).map(|k| k as f64 + io).collect())?;
    ev.monadic(p, y, Some(&axes)).map(Some)
}

/// The function's steps for all cells, which are items of a vector. None: refused.
fn flattened(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    x: Option<(&Array, usize)>,
    (y, lead): (&Array, usize),
) -> Result<Option<Array>> {
    let frame: Shape = match x {
        Some((x, own)) if own > lead => x.shape()[..own].into(),
        _ => y.shape()[..lead].into(),
    };
    // Cells that are whole arrays are one for all.
    let items = |a: &Array, lead: usize| match lead {
        0 => a.settled().enclosed().map(Some),
        _ if !a.is_uniform() => Ok(Array::lines_of(a, lead)),
        _ if a.frame().is_some() || a.is_empty() => Ok(None),
        _ if lead == a.rank() => Ok(Some(a.clone())),
        _ => Ok(Some(Array::rows(a.settled(), lead))),
    };
    let Some(right) = items(y, lead)? else { return Ok(None) };
    let left = match x {
        None => None,
        Some((x, own)) => match items(x, own)? {
            None => return Ok(None),
            left => left,
        },
    };
    match ev.flattened(f, left.as_ref(), &right, &frame, Steps::All)? {
        None => Ok(None),
        Some(z) if z.is_uniform() => Ok(Some(z)),
        // Scalars are cells of none but the frame's axes: what they hold stands in it.
        Some(z) if z.held_inside().is_some() => Ok(z.held_inside()),
        Some(z) if z.split().is_some() || z.pieces().is_some() => {
            crate::functions::cells::mix(&mut ev.cx, &z, None).map(Some)
        }
        Some(z) => {
            let cells = z.to_items(ev.cx.budget())?;
            joined(ev, &frame, cells, y).map(Some)
        }
    }
}

/// Calls the function on cell after cell; each argument with the number of axes of its frame.
pub fn cell_by_cell(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    x: Option<(&Array, usize)>,
    (y, lead): (&Array, usize),
) -> Result<Array> {
    let cells = |a: &Array, lead: usize| aplomb_values::array::elements(&a.shape()[..lead]);
    match x {
        None => ev.one_by_one(cells(y, lead), |ev| each_cell(ev, f, y, y.rank() - lead)),
        Some((x, own)) => ev.one_by_one(cells(x, own).max(cells(y, lead)), |ev| {
            pairs(ev, f, (x, x.rank() - own), (y, y.rank() - lead))
        }),
    }
}

fn each_cell(ev: &mut Eval<'_>, f: &Rc<Func>, y: &Array, cell: usize) -> Result<Array> {
    if cell == y.rank() {
        return ev.apply(f, None, y);
    }
    let (frame, rows) = super::reduce::rows(ev, y, cell)?;
    let mut out = ev.cx.budget().room(rows.len())?;
    for row in &rows {
        out.push(ev.apply(f, None, row)?);
    }
    if rows.is_empty() {
        let sample = sample(ev, y, cell)?;
        return of_sample(ev, f, None, &sample, &frame);
    }
    joined(ev, &frame, out, y)
}

/// A cell of an array that has none: its shape, filled with what the array would hold.
fn sample(ev: &mut Eval<'_>, a: &Array, cell: usize) -> Result<Array> {
    let (fill, shape) = (a.prototype(), &a.shape()[a.rank() - cell..]);
    if shape.contains(&0) {
        return crate::functions::cells::empty(&ev.cx, shape, fill);
    }
    let fill = if fill.is_simple_scalar() { fill } else { fill.enclosed()? };
    ev.cx.apply_move(&fill, Move::spread(&[], shape))
}

/// The result where a frame has no cell: a call on such a sample tells the shape of a cell. Where
/// that fails cells have none.
fn of_sample(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    x: Option<&Array>,
    y: &Array,
    frame: &[usize],
) -> Result<Array> {
    let cell = match ev.apply(f, x, y) {
        Ok(z) => ev.cx.ready(&z, "rank")?,
        Err(e) if matches!(e.kind(), Kind::Interrupt | Kind::Exit | Kind::Limit) => return Err(e),
        Err(_) => return crate::functions::cells::empty(&ev.cx, frame, y.prototype()),
    };
    let shape: Shape = frame.iter().chain(cell.shape()).copied().collect();
    crate::functions::cells::empty(&ev.cx, &shape, cell.prototype())
}

fn joined(ev: &mut Eval<'_>, frame: &[usize], out: Vec<Array>, y: &Array) -> Result<Array> {
    if out.is_empty() {
        return crate::functions::cells::empty(&ev.cx, frame, y.prototype());
    }
    // An enclosed result stays one item of its frame.
    let out: Vec<Array> = out.into_iter().map(|a| a.settled()).collect();
    if out.iter().all(|a| a.rank() == 0) {
        let items = out.into_iter().map(|a| a.disclosed()).collect();
        return super::reduce::finished(ev, frame, items, Array::num(0.0));
    }
    crate::functions::cells::mixed(&mut ev.cx, frame, &out, false)
}

fn pairs(
    ev: &mut Eval<'_>,
    f: &Rc<Func>,
    (x, xr): (&Array, usize),
    (y, yr): (&Array, usize),
) -> Result<Array> {
    let (xf, xs) = super::reduce::rows(ev, x, xr)?;
    let (yf, ys) = super::reduce::rows(ev, y, yr)?;
    // They agree, or one is empty.
    let frame: Shape = if xf.is_empty() { yf } else { xf };
    let n = aplomb_values::array::elements(&frame);
    if n == 0 {
        let whole = |own: &[Array], a: &Array, cell: usize, ev: &mut Eval<'_>| match own {
            [one] => Ok(one.clone()),
            _ => sample(ev, a, cell),
        };
        let (left, right) = (whole(&xs, x, xr, ev)?, whole(&ys, y, yr, ev)?);
        return of_sample(ev, f, Some(&left), &right, &frame);
    }
    let mut out = ev.cx.budget().room(n)?;
    let way = ev.cx.host.interrupt().rounds(n as u64);
    for k in 0..n {
        way.done(k as u64);
        let pick = |v: &[Array]| if v.len() == 1 { v[0].clone() } else { v[k].clone() };
        out.push(ev.apply(f, Some(&pick(&xs)), &pick(&ys))?);
    }
    joined(ev, &frame, out, y)
}

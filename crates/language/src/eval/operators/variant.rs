//! `⍠`: a function with options. One table says which functions take any.

use super::function;
use crate::eval::cx::Cx;
use crate::eval::run::Eval;
use crate::eval::system::{Options, Row};
use crate::eval::value::{Func, Oper, Operand};
use crate::functions::shape::{Axis, axis_of};
use crate::functions::{cells, select};
use aplomb_ground::error::{Result, domain, nonce, syntax};
use aplomb_values::array::{Array, DType, around, elements};
use aplomb_values::prim::moves::{Move, within};
use aplomb_values::prim::op::Op;

/// A function (with its axis, if one was given), the options, the arguments.
type With = fn(&mut Eval<'_>, &Func, Axis<'_>, &Array, Option<&Array>, &Array) -> Result<Array>;

struct Variant {
    takes: fn(&Func) -> bool,
    run: With,
}

/// Every function that has options.
static VARIANTS: &[Variant] = &[
    Variant { takes: |f| glyph(f).is_some_and(|c| "⌽⊖".contains(c)), run: shift },
    Variant { takes: |f| glyph(f) == Some('⌷'), run: picked },
    Variant { takes: |f| system(f).is_some(), run: optional },
];

fn glyph(f: &Func) -> Option<char> {
    if let Func::Prim(p) = f { Some(p.glyph) } else { None }
}

/// The row and the operands of a system function that has options, or of one that a system operator
/// made.
fn system(f: &Func) -> Option<(&'static Row, Vec<Operand>)> {
    let found = match f {
        Func::System(row) => (*row, Vec::new()),
        Func::Op2(Oper::System(row), a, b) => (*row, vec![a.clone(), b.clone()]),
        Func::Op2(Oper::Prim(p), Operand::F(g), Operand::A(_)) if p.glyph == '⍠' => {
            return system(g);
        }
        _ => return None,
    };
    Some(found).filter(|(row, _)| !row.options.is_empty())
}

/// The options of a function under ⍠, those of the innermost first.
fn gathered(f: &Func, row: &'static Row, out: &mut Options) -> Result<()> {
    match f {
        Func::Op2(Oper::Prim(p), Operand::F(g), Operand::A(given)) if p.glyph == '⍠' => {
            gathered(g, row, out)?;
            out.add(row, &given.settled())
        }
        _ => Ok(()),
    }
}

fn optional(
    ev: &mut Eval<'_>,
    f: &Func,
    _: Axis<'_>,
    given: &Array,
    x: Option<&Array>,
    y: &Array,
) -> Result<Array> {
    let Some((row, operands)) = system(f) else { return Err(nonce("options (⍠)")) };
    let mut options = Options::default();
    gathered(f, row, &mut options)?;
    options.add(row, given)?;
    let done = ev.system_call(row, &operands, &options, x, y)?;
    ev.given(done)
}

/// `f⍠options`. Errors: NONCE for a function that has none, and those of the function.
pub fn variant(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    axis: Axis<'_>,
) -> Result<Array> {
    let func = function(&f[0])?.clone();
    let Operand::A(options) = &f[1] else { return Err(syntax("⍠ needs options on its right")) };
    let options = ev.cx.ready(options, "options")?;
    let (inner, axis) = match &*func {
        Func::Axis(Operand::F(g), k) => (g.clone(), Some(k.clone())),
        _ => (func.clone(), axis.cloned()),
    };
    let row = VARIANTS.iter().find(|v| (v.takes)(&inner));
    let row = row.ok_or_else(|| nonce(format!("{} with options (⍠)", inner.text())))?;
    (row.run)(ev, &inner, axis.as_ref(), &options, x, y)
}

/// The value that a shift, or a place, finds outside.
enum Outside {
    Fill(Array),
    Clamp,
    Wrap,
}

impl Outside {
    /// The options of a function. Errors: DOMAIN.
    fn of(options: &Array, what: &str) -> Result<Outside> {
        Ok(match options.word().filter(|_| options.is_char()).as_deref() {
            Some("clamp") => Outside::Clamp,
            Some("wrap") => Outside::Wrap,
            _ if options.rank() == 0 => Outside::Fill(options.clone()),
            _ => return Err(domain(format!("{what} one item that fills, 'clamp' or 'wrap'"))),
        })
    }
}

/// `I(⌷⍠0)Y`: Y's items at the places that ⌷ takes, where those outside are the fill, the nearest
/// (`'clamp'`), or counted around (`'wrap'`). Shapes as ⌷.
fn picked(
    ev: &mut Eval<'_>,
    _: &Func,
    axis: Axis<'_>,
    options: &Array,
    x: Option<&Array>,
    y: &Array,
) -> Result<Array> {
    let Some(x) = x else { return Err(syntax("⌷⍠ needs places on its left")) };
    let outside = Outside::of(options, "⌷⍠ takes")?;
    let cx = &mut ev.cx;
    let first = cx.sys.settings.io;
    let mut indices = select::squad_indices(cx, x, y, axis)?;
    if let ([Some(at)], Outside::Fill(fill)) = (&indices[..], &outside)
        && let Some(made) = chosen(cx, at, y, fill, first)?
    {
        return Ok(made);
    }
    let mut y = y.clone();
    let given = indices.iter_mut().enumerate().filter_map(|(k, i)| Some((k, i.as_mut()?)));
    for (k, at) in given {
        let n = y.shape()[k] as f64;
        let (first, last, behind) =
            (Array::num(first), Array::num(first + n - 1.0), Array::num(first + n));
        *at = match &outside {
            // Nothing is near where there is nothing.
            Outside::Clamp | Outside::Wrap if n == 0.0 => continue,
            Outside::Clamp => nearest(cx, at, &first, &last)?,
            Outside::Wrap => {
                let from = cx.map2(Op::Sub, at, &first)?;
                let around = cx.map2(Op::Residue, &Array::num(n), &from)?;
                cx.map2(Op::Add, &around, &first)?
            }
            Outside::Fill(fill) => {
                // The fill is one cell more, which the places outside read.
                let inside = are_inside(cx, at, &first, &last)?;
                let from = cx.map2(Op::Sub, at, &behind)?;
                let from = cx.map2(Op::Mul, &from, &inside)?;
                let mut one: aplomb_values::array::Shape = y.shape().into();
                one[k] = 1;
                let cell = crate::functions::shape::fill(cx, &fill.disclosed(), &one)?;
                y = cells::join(cx, &[y, cell], k)?;
                cx.map2(Op::Add, &from, &behind)?
            }
        };
    }
    select::indexed(cx, &y, &indices)
}

/// For each place whether it is one from the first to the last.
fn are_inside(cx: &mut Cx<'_>, at: &Array, first: &Array, last: &Array) -> Result<Array> {
    let (low, high) = (cx.map2(Op::Ge, at, first)?, cx.map2(Op::Le, at, last)?);
    cx.map2(Op::Mul, &low, &high)
}

/// The place from the first to the last that is nearest to each.
fn nearest(cx: &mut Cx<'_>, at: &Array, first: &Array, last: &Array) -> Result<Array> {
    let low = cx.map2(Op::Min, at, last)?;
    cx.map2(Op::Max, &low, first)
}

/// Items of a vector of numbers, the fill where a place is outside: a choice, which keeps the read
/// in the launch. None: of other kinds.
fn chosen(
    cx: &mut Cx<'_>,
    at: &Array,
    y: &Array,
    fill: &Array,
    first: f64,
) -> Result<Option<Array>> {
    let numbers = |a: &Array| a.is_uniform() && !a.is_complex() && !a.is_char();
    if !numbers(y) || !numbers(at) || !numbers(fill) || y.is_empty() || at.is_empty() {
        return Ok(None);
    }
    if y.frame().or(at.frame()).or(fill.frame()).is_some() || y.dtype() == DType::F32 {
        return Ok(None);
    }
    let (first, last) = (Array::num(first), Array::num(first + y.len() as f64 - 1.0));
    let inside = are_inside(cx, at, &first, &last)?;
    if inside.dtype() != DType::Bool || inside.rank() == 0 {
        return Ok(None);
    }
    let near = nearest(cx, at, &first, &last)?;
    let items = select::indexed(cx, y, &[Some(near)])?;
    cx.select(&inside, &items, &fill.disclosed(), at.shape()).map(Some)
}

/// `k(⌽⍠0)v`: v moved by k places, and what comes in is the fill, the nearest item (`'clamp'`) or
/// what went out on the other side (`'wrap'`, which is ⌽ itself). Shapes as ⌽.
fn shift(
    ev: &mut Eval<'_>,
    f: &Func,
    axis: Axis<'_>,
    options: &Array,
    x: Option<&Array>,
    y: &Array,
) -> Result<Array> {
    let Some(x) = x else { return Err(syntax("a shift needs the number of places on its left")) };
    let outside = Outside::of(options, "⌽⍠ and ⊖⍠ take")?;
    let last = glyph(f) == Some('⌽');
    if y.rank() == 0 || matches!(outside, Outside::Wrap) {
        let turn = if last {
            crate::functions::shape::rotate_last
        } else {
            crate::functions::shape::rotate_first
        };
        return turn(&mut ev.cx, x, y, axis);
    }
    let axis = axis_of(&mut ev.cx, axis, y.rank(), if last { y.rank() - 1 } else { 0 })?;
    let by = ev.cx.integers(x, "a shift")?;
    if y.is_empty() {
        return Ok(y.clone());
    }
    if x.len() == 1 {
        return shifted(&mut ev.cx, y, axis, by[0], &outside);
    }
    let mut rest = y.shape().to_vec();
    rest.remove(axis);
    if x.rank() != rest.len() {
        return Err(aplomb_ground::error::rank("a shift needs the shape of Y without its axis"));
    }
    if x.shape() != rest {
        return Err(aplomb_ground::error::length("a shift needs the shape of Y without its axis"));
    }
    let y = ev.cx.ready_outer(y)?;
    let (outer, n, inner) = around(y.shape(), axis);
    let _held = ev.cx.budget().charge_elements(y.len(), std::mem::size_of::<Array>())?;
    let (mut items, mut ticks) =
        (ev.cx.budget().room(elements(y.shape()))?, ev.cx.budget().ticks());
    for o in 0..outer {
        for k in 0..n {
            for i in 0..inner {
                ticks.tick()?;
                let at = (k as i64).saturating_add(by[o * inner + i]);
                items.push(match &outside {
                    Outside::Fill(fill) if !(0..n as i64).contains(&at) => fill.disclosed(),
                    _ => y.item((o * n + at.clamp(0, n as i64 - 1) as usize) * inner + i),
                });
            }
        }
    }
    ev.cx.collect(y.shape(), items, Some(y.prototype()))
}

/// One shift for all: a read that the graph keeps, but for nested arrays and fills of another kind
/// than the items.
fn shifted(cx: &mut Cx<'_>, y: &Array, axis: usize, by: i64, outside: &Outside) -> Result<Array> {
    let n = y.shape()[axis];
    let by = by.clamp(-(n as i64), n as i64);
    let plain = y.is_uniform() && !y.is_complex();
    let mut read = aplomb_values::dag::Read::identity(y.rank());
    read.ix[axis] = aplomb_values::dag::ix::Ix::axis(axis).offset(by);
    let known = match outside {
        Outside::Fill(fill) => {
            let character = || fill.number_at(0).filter(|_| fill.is_char());
            let fill = if y.is_char() { character() } else { fill.number_scalar() };
            // A fill of f32 numbers must be one.
            let fill = fill.filter(|f| y.dtype() != DType::F32 || f64::from(*f as f32) == *f);
            fill.map(|fill| read.tests.push(within(axis, by, n, fill))).is_some()
        }
        Outside::Clamp => {
            read.ix[axis] = read.ix[axis].clamped(0, n as i64 - 1, y.shape());
            true
        }
        Outside::Wrap => false,
    };
    if plain && known {
        return cx.apply_move(y, Move { name: "⌽", shape: y.shape().into(), read, onto: by == 0 });
    }
    let mut y = cx.ready_outer(y)?;
    if let Outside::Fill(fill) = outside {
        // The fill is one cell more, which the places outside read.
        let mut one: aplomb_values::array::Shape = y.shape().into();
        one[axis] = 1;
        let cell = crate::functions::shape::fill(cx, &fill.disclosed(), &one)?;
        y = cells::join(cx, &[y, cell], axis)?;
    }
    let last = n as i64 - 1;
    let picks: Vec<Option<usize>> = (0..n as i64)
        .map(|k| match (outside, k + by) {
            (Outside::Fill(_), at) if !(0..=last).contains(&at) => Some(n),
            (_, at) => Some(at.clamp(0, last) as usize),
        })
        .collect();
    cells::along(cx, &y, axis, &picks)
}

//! Folds that only put something at an end of their state: `{⍵,⍺*2}/`, `{⍺>3:⍵ ⋄ ⍵⍪⍺,⍺*2}/`.
//!
//! The part that each call adds does not look at the state. So f runs for all items at once, on a
//! state that holds nothing, and what it gives is joined to the first state in the order of the
//! calls.

use crate::eval::cx::Cx;
use crate::eval::flattened::Steps;
use crate::eval::run::{At, Eval};
use crate::eval::value::{Func, Value};
use crate::functions::cells;
use crate::functions::shape::reshaped;
use crate::syntax::ast::Guard;
use crate::syntax::resolve::{Code, Do, FExpr, Ins};
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, Shape};
use std::rc::Rc;

/// Fewer calls are made one by one.
const MANY: usize = 64;

/// The function that joins, and whether the state stands left of it.
type Joins = (char, bool);

/// True of steps that leave one value and touch nothing below it, ⍵ not among what they read.
fn is_one_value(ins: &[Ins]) -> bool {
    let mut height = 0usize;
    for ins in ins {
        let taken = match &ins.what {
            Do::Const(_) | Do::Name(_) | Do::Alpha => 0,
            Do::Monad(_) | Do::Assign(_) => 1,
            Do::Dyad(_) | Do::Phrase(_) => 2,
            Do::Strand(n) => *n,
            Do::Index(present) => 1 + present.iter().filter(|p| **p).count(),
            _ => return false,
        };
        match height.checked_sub(taken) {
            Some(left) => height = left + 1,
            None => return false,
        }
    }
    height == 1
}

/// The end of a call: the state itself, or with something at an end. None: it is another.
fn ends(code: &Code) -> Option<Option<Joins>> {
    let joins = |f: &FExpr| match f {
        FExpr::Prim(p) if matches!(p.glyph, ',' | '⍪') => Some(p.glyph),
        _ => None,
    };
    let state = |ins: &Ins| matches!(ins.what, Do::Omega);
    match code.ins.as_slice() {
        [one] if state(one) => Some(None),
        [added @ .., left, Ins { what: Do::Dyad(f), .. }] if state(left) => {
            Some(Some((joins(f).filter(|_| is_one_value(added))?, true)))
        }
        [right, added @ .., Ins { what: Do::Dyad(f), .. }] if state(right) => {
            Some(Some((joins(f).filter(|_| is_one_value(added))?, false)))
        }
        _ => None,
    }
}

/// The way in which a dfn joins what it makes of ⍺ to ⍵. None: it does something else with ⍵.
fn adds(ev: &mut Eval<'_>, f: &Rc<Func>) -> Result<Option<Joins>> {
    let Func::Dfn(closure) = &**f else { return Ok(None) };
    let text = closure.text();
    if text.contains('∇') || !text.contains([',', '⍪']) {
        return Ok(None);
    }
    let frame = ev.frame_to_read(f, closure, true);
    let at = At { ast: &closure.ast, frame: Some(&frame) };
    let (mut found, mut seen, mut fits) = (None, 0, true);
    for stmt in &closure.ast.dfn(closure.dfn).stmts {
        let Ok(made) = ev.resolved(at, stmt.phrase) else { break };
        match stmt.guard {
            Guard::None if made.code.assigns => {
                fits &= is_one_value(&made.code.ins);
                for ins in &made.code.ins {
                    if let Do::Assign(sym) = ins.what {
                        frame.set(sym, Value::Array(Array::num(0.0)));
                    }
                }
                continue;
            }
            Guard::None => {}
            Guard::Test(cond) => match ev.resolved(at, cond) {
                Ok(cond) => fits &= is_one_value(&cond.code.ins),
                Err(_) => fits = false,
            },
            Guard::Error(_) => fits = false,
        }
        seen += 1;
        match ends(&made.code) {
            Some(None) => {}
            Some(way) if found.is_none() || found == way => found = way,
            _ => fits = false,
        }
        if matches!(stmt.guard, Guard::None) {
            break;
        }
    }
    frame.clone().leave();
    // Nothing else in it, such as an operand, names the state.
    Ok(found.filter(|_| fits && text.matches('⍵').count() == seen))
}

/// The state with nothing in it. None: what is joined to it is no item of its first axis.
fn emptied(cx: &Cx<'_>, state: &Array, glyph: char) -> Result<Option<Array>> {
    let shape: Shape = match (glyph, state.rank()) {
        (_, 0 | 1) => Shape::from_slice(&[0]),
        ('⍪', _) => [0].iter().chain(&state.shape()[1..]).copied().collect(),
        _ => return Ok(None),
    };
    cells::empty(cx, &shape, state.prototype()).map(Some)
}

/// All that calls gave, one behind the other along the first axis. None: some gave another rank.
fn joined(cx: &mut Cx<'_>, made: &Array, rank: usize) -> Result<Option<Array>> {
    let made = cx.ready(made, "reduction")?;
    if let Some(rows) = made.split() {
        let cell = rows.cell();
        if cell.len() != rank {
            return Ok(None);
        }
        let shape: Shape = [made.len() * cell[0]].iter().chain(&cell[1..]).copied().collect();
        return reshaped(cx, &rows.node, &shape).map(Some);
    }
    if let Some(pieces) = made.pieces() {
        return Ok((rank == 1).then(|| pieces.flat().clone()));
    }
    let parts = made.to_items(cx.budget())?;
    match parts.iter().all(|part| part.rank() == rank) {
        true => cells::join(cx, &parts, 0).map(Some),
        false => Ok(None),
    }
}

/// `f/Y` of a vector whose last item is a state that f adds to, as a frame of calls, or step by
/// step if `flat`. None: f does something else, or fails, which is told by its calls.
pub fn added(ev: &mut Eval<'_>, f: &Rc<Func>, y: &Array, flat: bool) -> Result<Option<Array>> {
    let n = y.len();
    if y.rank() != 1 || n < MANY || !ev.runs_together(n) {
        return Ok(None);
    }
    let Some((glyph, left)) = adds(ev, f)? else { return Ok(None) };
    let y = ev.cx.ready_outer(y)?;
    let (y, state) = match y.front_and_last() {
        Some((front, last)) => (front.clone(), last.clone()),
        None => (y.clone(), ev.cx.ready_outer(&y.item(n - 1))?),
    };
    let Some(empty) = emptied(&ev.cx, &state, glyph)? else { return Ok(None) };
    // The last call is that of the first item.
    let places = 0..n - 1;
    let picks: Vec<Option<usize>> = match left {
        true => ev.cx.budget().each(places.rev().map(Some))?,
        false => ev.cx.budget().each(places.map(Some))?,
    };
    let items = cells::along(&mut ev.cx, &y, 0, &picks)?;
    let (nothing, shape) = (empty.clone().enclosed()?, Shape::from_slice(&[n - 1]));
    let made = ev.attempt(|ev| {
        let made = match flat {
            true => ev.flattened(f, Some(&items), &nothing, &shape, Steps::All)?,
            false => ev.each_framed(f, Some(&items), &nothing, &shape)?,
        };
        match made {
            Some(made) => joined(&mut ev.cx, &made, empty.rank()),
            None => Ok(None),
        }
    })?;
    let Ok(Some(made)) = made else { return Ok(None) };
    let both = if left { [state, made] } else { [made, state] };
    let both = both.map(|a| if a.rank() == 0 { reshaped(&mut ev.cx, &a, &[1]) } else { Ok(a) });
    let [first, second] = both;
    let fits = |a: &Array, b: &Array| a.shape()[1..] == b.shape()[1..];
    let (first, second) = (first?, second?);
    match fits(&first, &second) {
        true => cells::join(&mut ev.cx, &[first, second], 0).map(Some),
        false => Ok(None),
    }
}

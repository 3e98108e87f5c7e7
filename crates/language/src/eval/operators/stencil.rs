//! `⌺`: a function on windows that are centred on the items of an array.
//!
//! A window of s on an axis of n with step d begins at ¯⌊(s-1)÷2, and moves by d. An odd one is
//! centred on items, so there are ⌈n÷d; an even one between them, so there are ⌈(n-1)÷d. What lies
//! outside is fill.

use super::frames::Fallback;
use super::function;
use super::rank::beside_frames;
use crate::eval::run::Eval;
use crate::eval::scope::is_final;
use crate::eval::value::{Func, Operand};
use crate::functions::cells;
use crate::functions::shape::Axis;
use crate::syntax::ast::{Item, What};
use crate::syntax::token::Word;
use aplomb_ground::error::{Result, domain, length, rank};
use aplomb_values::array::{Array, Shape, advance, checked_elements, elements, strides};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::kinds::WINDOWS;
use aplomb_values::dag::{Read, Test};
use aplomb_values::prim::moves::{Move, gather};
use std::rc::Rc;

/// The windows along one axis.
#[derive(Clone, Copy)]
struct Along {
    size: usize,
    step: usize,
    count: usize,
    len: usize,
}

impl Along {
    /// The place where window k begins.
    fn begin(&self, k: usize) -> i64 {
        (k * self.step) as i64 - ((self.size - 1) / 2) as i64
    }

    /// The part of window k that lies outside: before as a positive number, behind as a negative
    /// one.
    fn padding(&self, k: usize) -> i64 {
        let begin = self.begin(k);
        if begin < 0 { -begin } else { (self.len as i64 - begin - self.size as i64).min(0) }
    }
}

/// `f⌺s`: s are sizes of the leading axes, or sizes above steps. f gets the padding on its left and
/// the window on its right; the results are mixed. Errors: RANK, LENGTH, DOMAIN.
pub fn stencil(
    ev: &mut Eval<'_>,
    f: &[Operand],
    x: Option<&Array>,
    y: &Array,
    _: Axis<'_>,
) -> Result<Array> {
    let func = function(&f[0])?.clone();
    let Operand::A(s) = &f[1] else { return Err(domain("⌺ needs window sizes on its right")) };
    if x.is_some() {
        return Err(aplomb_ground::error::syntax("f⌺s takes one argument"));
    }
    if s.rank() > 2 {
        return Err(rank(
            "⌺ takes a vector of sizes, or a matrix with a row of sizes and a row of steps",
        ));
    }
    let (rows, r) = if s.rank() == 2 { (s.shape()[0], s.shape()[1]) } else { (1, s.len()) };
    if !(1..=2).contains(&rows) {
        return Err(length("⌺ takes a row of sizes and a row of steps"));
    }
    if r > y.rank() {
        return Err(rank(format!("windows on {r} axes of an array that has {}", y.rank())));
    }
    let mut axes = Vec::with_capacity(r);
    let numbers = ev.cx.integers(s, "a window size")?;
    for k in 0..r {
        let positive = |n: i64, what: &str| {
            let fine = usize::try_from(n).ok().filter(|&n| n > 0 && n < 1 << 40);
            fine.ok_or_else(|| {
                domain(format!("{what} of a window must be a positive whole number"))
            })
        };
        let size = positive(numbers[k], "the size")?;
        let step = if rows == 2 { positive(numbers[r + k], "the step")? } else { 1 };
        let len = y.shape()[k];
        if size > len && len > 0 {
            return Err(domain(format!("a window of {size} on an axis of {len}")));
        }
        axes.push(Along {
            size,
            step,
            count: (len - usize::from(size % 2 == 0 && len > 0)).div_ceil(step),
            len,
        });
    }
    if let Some(made) = recorded(ev, &func, &axes, y)? {
        return Ok(made);
    }
    one_by_one(ev, &func, &axes, y)
}

/// All windows at once: what the function records covers them all.
fn recorded(
    ev: &mut Eval<'_>,
    func: &Rc<Func>,
    axes: &[Along],
    y: &Array,
) -> Result<Option<Array>> {
    let r = axes.len();
    let frame: Shape = axes.iter().map(|a| a.count).collect();
    let window = axes.iter().map(|a| a.size).chain(y.shape()[r..].iter().copied());
    let shape: Shape = frame.iter().copied().chain(window).collect();
    // One window has room, as it must have where they are made one by one.
    let _room = ev.cx.budget().charge_elements(checked_elements(&shape[r..])?, 32)?;
    if r == 0 || checked_elements(&shape)? == 0 || !ev.cx.recordable(y) {
        return Ok(None);
    }
    let fill = if y.is_char() { 32.0 } else { 0.0 };
    let mut read = Read::new([]);
    for (k, a) in axes.iter().enumerate() {
        let first = Ix::axis(k).times(a.step as i64).offset(a.begin(0));
        let ix = first.add(&Ix::axis(r + k));
        let (low, high) = ix.range(&shape);
        if low < 0 || high >= a.len as i64 {
            read.tests.push(Test { ix: ix.clone(), lo: 0, hi: a.len as i64, fill });
        }
        read.ix.push(ix);
    }
    read.ix.extend((r..y.rank()).map(|k| Ix::axis(r + k)));
    let (f, own, at) = (func.clone(), y.clone(), axes.to_vec());
    let again: Fallback = Rc::new(move |ev| one_by_one(ev, &f, &at, &own));
    let mark = ev.cx.sys.tape.mark();
    let windows = ev.cx.apply_move(y, Move { name: WINDOWS, shape, read, onto: false })?;
    let outside = if mentions_alpha(func) { Some(paddings(ev, axes, &frame)?) } else { None };
    let made = ev.windows_framed(func, outside.as_ref(), &windows, r, again)?;
    if made.is_some() {
        return Ok(made);
    }
    ev.cx.sys.tape.roll_back(mark);
    beside_frames(ev, func, outside.as_ref().map(|x| (x, r)), (&windows, r))
}

/// For each window how much of it lies outside, along each axis.
fn paddings(ev: &mut Eval<'_>, axes: &[Along], frame: &Shape) -> Result<Array> {
    let r = axes.len();
    let places = checked_elements(frame)?;
    let mut all = ev.cx.budget().room(places.saturating_mul(r))?;
    let mut at = vec![0; r];
    for _ in 0..places {
        all.extend(axes.iter().zip(&at).map(|(a, &k)| a.padding(k) as f64));
        advance(&mut at, frame);
    }
    let shape: Shape = frame.iter().copied().chain([r]).collect();
    Array::numbers(shape, all, ev.cx.budget())
}

/// Whether a function may look at its left argument.
fn mentions_alpha(f: &Func) -> bool {
    let Func::Dfn(c) = f else { return true };
    let span = c.ast.dfn(c.dfn).span;
    let inside = |i: &&Item| span.start <= i.span.start && i.span.end <= span.end;
    c.ast.items.iter().filter(inside).any(|i| matches!(i.what, What::Word(Word::Alpha)))
}

/// Window after window.
fn one_by_one(ev: &mut Eval<'_>, func: &Rc<Func>, axes: &[Along], y: &Array) -> Result<Array> {
    let r = axes.len();
    let y = ev.cx.ready_outer(y)?;
    let window: Shape = axes.iter().map(|a| a.size).chain(y.shape()[r..].iter().copied()).collect();
    let frame: Shape = axes.iter().map(|a| a.count).collect();
    let n = checked_elements(&window)?;
    let total = checked_elements(&frame)?;
    let _held = ev.cx.budget().charge_elements(total, std::mem::size_of::<Array>())?;
    let _room = ev.cx.budget().charge_elements(n, 32)?;
    let fill = if y.is_char() { 32.0 } else { 0.0 };
    let mut out = ev.cx.budget().room(total)?;
    let mut places: Vec<Result<usize, f64>> = ev.cx.budget().room(n)?;
    let mut at = vec![0; r];
    ev.warn_one_by_one(total, "window");
    ev.one_by_one(total, |ev| {
        for k in 0..total {
            if k % 64 == 0 {
                ev.cx.host.interrupt().check()?;
            }
            places.clear();
            window_places(axes, &at, y.shape(), fill, &mut places);
            let part = if n == 0 {
                cells::empty(&ev.cx, &window, y.prototype())?
            } else if window.is_empty() {
                y.clone()
            } else {
                gather(&y, &window, &places, ev.cx.budget())?
            };
            let pad =
                ev.cx.vector(axes.iter().zip(&at).map(|(a, &k)| a.padding(k) as f64).collect())?;
            out.push(ev.apply(func, Some(&pad), &part)?);
            advance(&mut at, &frame);
        }
        Ok(())
    })?;
    mixed_results(ev, &frame, out, |ev| {
        let part = if n == 0 {
            cells::empty(&ev.cx, &window, y.prototype())?
        } else {
            let proto = y.prototype();
            crate::functions::shape::fill(&mut ev.cx, &proto, &window)?
        };
        let pad = ev.cx.vector(vec![0.0; r])?;
        ev.apply(func, Some(&pad), &part)
    })
}

/// The ravel places of one window, outermost axis first.
fn window_places(
    axes: &[Along],
    at: &[usize],
    shape: &[usize],
    fill: f64,
    out: &mut Vec<Result<usize, f64>>,
) {
    let inner = elements(&shape[axes.len()..]);
    let steps = strides(shape);
    out.push(Ok(0));
    for (k, a) in axes.iter().enumerate() {
        let begin = a.begin(at[k]);
        let known = std::mem::take(out);
        out.reserve(known.len() * a.size);
        for base in known {
            for j in 0..a.size as i64 {
                let place = usize::try_from(begin + j).ok().filter(|&p| p < a.len);
                out.push(match (base, place) {
                    (Ok(base), Some(p)) => Ok(base + p * steps[k]),
                    _ => Err(fill),
                });
            }
        }
    }
    if inner != 1 {
        let known = std::mem::take(out);
        out.extend(known.into_iter().flat_map(|b| (0..inner).map(move |i| b.map(|b| b + i))));
    }
}

/// Results of a frame mixed. Where the frame is empty, `trial` shows what a result would have been;
/// one that fails leaves numbers of rank 0.
pub fn mixed_results<'h>(
    ev: &mut Eval<'h>,
    frame: &[usize],
    out: Vec<Array>,
    trial: impl FnOnce(&mut Eval<'h>) -> Result<Array>,
) -> Result<Array> {
    if elements(frame) == 0 {
        let one = match trial(ev).and_then(|a| ev.cx.ready(&a, "mix")) {
            Ok(a) => a,
            Err(e) if is_final(&e) => return Err(e),
            Err(_) => Array::num(0.0),
        };
        return cells::mixed(&mut ev.cx, frame, &[one], true);
    }
    ev.cx.force(&out.iter().collect::<Vec<_>>(), "mix")?;
    let out: Vec<Array> = out.into_iter().map(|a| a.settled()).collect();
    if out.iter().all(|a| a.rank() == 0) {
        let items = out.into_iter().map(|a| a.disclosed()).collect();
        return super::reduce::finished(ev, frame, items, Array::num(0.0));
    }
    cells::mixed(&mut ev.cx, frame, &out, false)
}

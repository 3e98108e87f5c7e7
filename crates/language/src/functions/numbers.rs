//! Numbers that are no scalar functions: `? ⊥ ⊤`.

use super::shape::Axis;
use crate::eval::cx::{Cx, Rolls, SMALL};
use aplomb_ground::error::{Result, domain, length, rank, untraced};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Complex64, Data, Shape, checked_elements, elements, storage};
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::Ix;
use aplomb_values::prim::draws::{Draws, Kind, draw, under, unit};
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;
use std::collections::HashMap;

/// Draws between two looks at the interrupt.
const STRETCH: usize = 1 << 16;

impl Cx<'_> {
    /// The seed, and the number of the next draw.
    pub(crate) fn generator(&mut self) -> (u64, u64) {
        self.effect("?");
        let settings = &mut self.sys.settings;
        if settings.seed == 0 {
            settings.seed = self.host.entropy() | 1;
            settings.drawn = 0;
        }
        (settings.seed, settings.drawn + 1)
    }

    /// The draws of a frame whose cells draw all at once, as they stood before this `?`. The
    /// generator numbers its draws, so those of a `?` that each cell comes to once have numbers
    /// that are known as soon as it is known how many a cell draws in all. None: there is no
    /// frame. Errors: it would happen once a cell in another way.
    fn frame_that_draws(&mut self, y: &Array) -> Result<Option<Rolls>> {
        let scope = &self.sys.scope;
        let once = scope.is_framed() && scope.frames() == 1 && !scope.in_round();
        let once = once && !scope.is_conditional() && y.frame().is_none();
        if let Some(rolls) = self.sys.rolls.as_mut().filter(|_| once) {
            let before = rolls.clone();
            rolls.drawn += y.len();
            rolls.times += 1;
            return Ok(Some(before));
        }
        self.unframed("?").map(|()| None)
    }

    /// In 0 … n-1.
    fn below(&mut self, n: u64) -> u64 {
        let (seed, next) = self.generator();
        self.sys.settings.drawn = next;
        under(draw(seed, next), n)
    }
}

/// Fewer numbers are drawn one by one: nobody looks whether they are drawn up to the same.
const SEVERAL: usize = 16;

/// The number that is at every place of an array: of one number repeated and pending, or of several
/// that are there and the same.
fn repeated(y: &Array) -> Option<f64> {
    let Some(cell) = y.pending() else {
        let held = storage(y).filter(|_| y.len() >= SEVERAL && !y.is_char() && !y.is_complex())?;
        return held.view().repeats_one().then(|| y.number_at(0)).flatten();
    };
    let node = cell.node()?;
    let (read, along) = node.facts().place()?;
    match node.inputs() {
        [one] if along.is_empty() && read.tests.is_empty() && one.pending().is_none() => {
            one.number_scalar()
        }
        _ => None,
    }
}

/// The numbers that are drawn up to one number. None: it is none that `?` takes.
fn kind_of(x: f64, io: f64) -> Option<Kind> {
    match x {
        0.0 => Some(Kind::Unit),
        x if x >= 1.0 && x.fract() == 0.0 && x < 9e15 => {
            Some(Kind::Whole { n: x as u64, origin: io as u8 })
        }
        _ => None,
    }
}

/// Draws from the next one on, as many as an array of a shape has items.
fn drawn(cx: &mut Cx<'_>, kind: Kind, shape: &[usize]) -> Result<Array> {
    let (seed, first) = cx.generator();
    let made = cx.host.drawn(&Draws { seed, first, kind }, shape)?;
    cx.sys.settings.drawn += elements(shape) as u64;
    match kind {
        Kind::Unit => cx.floats(&made),
        Kind::Whole { .. } => Ok(made),
    }
}

/// `?Y` of one number, or of the same one repeated, in each cell of a frame. Where a cell draws
/// more, all its numbers are drawn this way, and these are some of them.
fn roll_for_each(cx: &mut Cx<'_>, rolls: &Rolls, y: &Array) -> Result<Array> {
    let frame = &rolls.frame;
    let first = y.number_at(0).filter(|_| y.is_uniform() && !y.is_char() && y.len() <= SMALL);
    let same = |x: &f64| (1..y.len()).all(|k| y.number_at(k) == Some(*x));
    let kind = first.filter(same).and_then(|x| kind_of(x, cx.sys.settings.io));
    let kind = kind.ok_or_else(|| untraced("? happens once a cell"))?;
    let shape: Shape = frame.iter().chain(y.shape()).copied().collect();
    checked_elements(&shape)?;
    let Some(each) = rolls.each.filter(|each| *each != y.len()) else {
        return Ok(Array::framed(drawn(cx, kind, &shape)?, frame.len()));
    };
    if y.rank() > 1 {
        return Err(untraced("? of a matrix happens once a cell"));
    }
    let full: Shape = frame.iter().copied().chain([each]).collect();
    checked_elements(&full)?;
    let first = cx.sys.settings.drawn;
    let all = drawn(cx, kind, &full)?;
    // The next `?` of a cell begins where this one did.
    cx.sys.settings.drawn = first;
    let from = Ix::constant(rolls.drawn as i64);
    let last = if y.rank() == 0 { from } else { Ix::axis(frame.len()).plus(&from, 1) };
    let read = Read::new((0..frame.len()).map(Ix::axis).chain([last]));
    let own = cx.apply_move(&all, Move { name: "?", shape, read, onto: false })?;
    Ok(Array::framed(own, frame.len()))
}

/// `?Y`: for each item a random number up to it; for 0 one between 0 and 1.
pub fn roll(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    if let Some(rolls) = cx.frame_that_draws(y)? {
        return roll_for_each(cx, &rolls, y);
    }
    let (one, n) = (repeated(y).filter(|_| y.rank() > 0), y.len());
    let y = if one.is_some() { y.clone() } else { cx.ready(y, "?")? };
    if let Data::Items(items) = y.data() {
        let made: Result<Vec<_>> = items.iter().map(|i| roll(cx, &i, None)).collect();
        return cx.collect(y.shape(), made?, items.proto.clone());
    }
    let io = cx.sys.settings.io;
    if let Some(kind) = one.and_then(|x| kind_of(x, io)) {
        return drawn(cx, kind, y.shape());
    }
    let (seed, first) = cx.generator();
    let mut out: Vec<f64> = cx.budget().room(n)?;
    let held = cx.budget().charge_elements(n, 8)?;
    let mut float = false;
    for k in 0..n {
        if k % STRETCH == 0 {
            cx.budget().check()?;
        }
        // One by one: all of them at once would be as large as the result.
        let x = match one.or_else(|| y.number_at(k)) {
            Some(x) if !y.is_char() => x,
            _ => cx.numbers(&y, "the argument of ?")?[k],
        };
        let z = draw(seed, first + k as u64);
        out.push(match cx.integer(x, "the argument of ?")? {
            0 => {
                float = true;
                unit(z)
            }
            n if n > 0 => under(z, n as u64) as f64 + io,
            _ => return Err(domain("? takes 0 or a positive whole number")),
        });
    }
    cx.sys.settings.drawn += n as u64;
    drop(held);
    if float {
        let made = Array::floats(y.shape(), out, cx.budget())?;
        cx.floats(&made)
    } else {
        Array::numbers(y.shape(), out, cx.budget())
    }
}

/// Places of a table between two looks at the interrupt.
const LOOK: usize = 1 << 16;

/// The part of all numbers from which on a deal has a table of them, and the longest table.
const PARTS: usize = 8;
const LONG: usize = 1 << 32;

/// `X?Y`: X different numbers up to Y.
pub fn deal(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    cx.unframed("?")?;
    let k = cx.one_integer(x, "the left argument of ?")?;
    let n = cx.one_integer(y, "the right argument of ?")?;
    let (Ok(k), Ok(n)) = (usize::try_from(k), usize::try_from(n)) else {
        return Err(domain("? deals from 1 to Y"));
    };
    if k > n {
        return Err(domain(format!("{k} distinct numbers cannot be dealt from {n}")));
    }
    let io = cx.sys.settings.io;
    let (tabled, _held) = (n / PARTS <= k && n < LONG, cx.budget().charge_elements(k, 24)?);
    let _table = cx.budget().charge_elements(if tabled { n } else { 0 }, size_of::<u32>())?;
    let mut out = cx.budget().room(k)?;
    // Who draws the i-th number swaps it with one of those behind; most may still be where they
    // were, or hardly any.
    let mut swap: Box<dyn FnMut(usize, usize) -> usize> = if tabled {
        let mut table: Vec<u32> = cx.budget().room(n)?;
        for first in (0..n).step_by(LOOK) {
            cx.budget().check()?;
            table.extend(first as u32..n.min(first + LOOK) as u32);
        }
        Box::new(move |i, j| {
            table.swap(i, j);
            table[i] as usize
        })
    } else {
        let mut moved: HashMap<usize, usize> = HashMap::new();
        Box::new(move |i, j| {
            let at = |moved: &HashMap<usize, usize>, k| moved.get(&k).map_or(k, |to| *to);
            let (a, b) = (at(&moved, i), at(&moved, j));
            moved.insert(j, a);
            b
        })
    };
    for i in 0..k {
        if i % 4096 == 0 {
            cx.host.interrupt().check()?;
        }
        let j = i + cx.below((n - i) as u64) as usize;
        out.push(swap(i, j) as f64 + io);
    }
    cx.vector(out)
}

/// Both arguments as complex numbers where one of them is not real.
fn complex_pair(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Option<[Vec<Complex64>; 2]>> {
    let (x, y) = (cx.ready(x, "argument")?, cx.ready(y, "argument")?);
    if !x.is_complex() && !y.is_complex() {
        return Ok(None);
    }
    Ok(x.to_complexes(cx.budget())?.zip(y.to_complexes(cx.budget())?).map(|(x, y)| [x, y]))
}

/// More digits than these are no steps of one expression.
const DIGITS: usize = 64;

/// The k-th major cell of digits or radices; of one that is one, that.
fn major(cx: &mut Cx<'_>, a: &Array, k: usize) -> Result<Array> {
    let Some((&n, cell)) = a.shape().split_first() else { return Ok(a.clone()) };
    let first = Ix::constant(if n == 1 { 0 } else { k as i64 });
    let read = Read::new(std::iter::once(first).chain((0..cell.len()).map(Ix::axis)));
    cx.apply_move(a, Move { name: "[]", shape: cell.into(), read, onto: n == 1 })
}

/// Few digits, whose numbers are no more than one list of radices: what may be steps.
fn is_short(x: &Array, y: &Array, n: usize) -> bool {
    let plain = |a: &Array| a.is_uniform() && !a.is_char() && !a.is_complex() && !a.is_open();
    x.rank() < 2 && (1..=DIGITS).contains(&n) && plain(x) && plain(y) && !y.is_empty()
}

/// The number of radices along X's last axis, of digits along Y's first, and of steps of both.
/// Errors: LENGTH.
fn digits_of(x: &Array, y: &Array) -> Result<Counts> {
    let (last, first) = (x.last_extent(), y.first_extent());
    let n = if last == 1 { first } else { last };
    match first != n && first != 1 {
        true => Err(length(format!("{last} radices for {first} digits"))),
        false => Ok((last, first, n)),
    }
}

/// `X⊥Y` of cells, or of many columns: Horner's rule as operations on all of them. None: one by
/// one.
fn decode_framed(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Option<Array>> {
    let (_, _, n) = digits_of(x, y)?;
    if !is_short(x, y, n) {
        return Ok(None);
    }
    let mut sum = major(cx, y, 0)?;
    for k in 1..n {
        let (radix, digit) = (major(cx, x, k)?, major(cx, y, k)?);
        let more = cx.map2(Op::Mul, &sum, &radix)?;
        sum = cx.map2(Op::Add, &more, &digit)?;
    }
    Ok(Some(sum))
}

/// Digits from here on are taken by the places that they have, not one from what the next leaves.
const PLACES: usize = 4;

/// `X⊤Y` of whole numbers by many known radices: digit k is `X[k]|⌊Y÷W[k]`, W the weights of
/// places, all digits one expression. None: numbers or weights are none for this.
///
/// Why it is right: a quotient of whole numbers below 2*53 is rounded to no whole number that it is
/// not, for it lies at least 1÷W from the next one, and half of the last bit of a number that is at
/// most 2*53÷W is less. So ⌊ finds what dividing W's radices away one by one leaves.
fn encode_by_places(
    cx: &mut Cx<'_>,
    x: &Array,
    y: &Array,
    radices: &[f64],
) -> Result<Option<Array>> {
    let (first, rest) = match radices.split_first() {
        Some((first, rest)) if radices.len() >= PLACES && y.frame().is_none() => (first, rest),
        _ => return Ok(None),
    };
    let is_radix = |least: f64, r: &f64| *r >= least && *r == r.trunc();
    let all: f64 = rest.iter().product();
    if !is_radix(0.0, first) || !rest.iter().all(|r| is_radix(1.0, r)) || all > 2f64.powi(53) {
        return Ok(None);
    }
    let mut weights = cx.budget().filled(1.0, radices.len())?;
    for k in (1..radices.len()).rev() {
        weights[k - 1] = weights[k] * radices[k];
    }
    let shape: Shape = [radices.len()].iter().chain(y.shape()).copied().collect();
    checked_elements(&shape)?;
    let rank = shape.len();
    let down = || Move::axes("⍴", shape.clone(), [Some(0)]);
    let by = match radices.iter().all(|r| r == first) {
        true => Array::num(*first),
        false => cx.apply_move(x, down())?,
    };
    let weights = Array::numbers(&[radices.len()][..], weights, cx.budget())?;
    let weights = cx.apply_move(&weights, down())?;
    let numbers = cx.apply_move(y, Move::axes("⍴", shape.clone(), (1..rank).map(Some)))?;
    let part = cx.map2(Op::Div, &numbers, &weights)?;
    let whole = cx.map1(Op::Floor, &part)?;
    cx.map2(Op::Residue, &by, &whole).map(Some)
}

/// `X⊤Y` of many numbers, or of cells, by known radices: remainders and quotients of all of them.
/// None: one by one.
fn encode_by_steps(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Option<Array>> {
    if x.frame().is_some() || !is_short(x, y, x.len()) {
        return Ok(None);
    }
    let radices = cx.numbers(x, "the left argument of ⊤")?;
    // Nothing is left of what a radix of 0 takes, be it infinite.
    if radices.iter().skip(1).any(|&r| r == 0.0) {
        return Ok(None);
    }
    // A whole number that is not there yet may turn out to be beyond 2*53, or ∞.
    if x.rank() == 1
        && y.dtype().is_integer()
        && y.pending().is_none()
        && let Some(made) = encode_by_places(cx, x, y, &radices)?
    {
        return Ok(Some(made));
    }
    // A quotient of whole numbers is rounded down, not what is left divided: so it stays one.
    let whole = y.dtype().is_integer() && radices.iter().all(|r| *r > 0.0 && *r == r.trunc());
    let (mut digits, mut rest) = (Vec::with_capacity(radices.len()), y.clone());
    for (k, &radix) in radices.iter().enumerate().rev() {
        let by = Array::num(radix);
        let digit = cx.map2(Op::Residue, &by, &rest)?;
        if k > 0 {
            rest = match whole {
                true => {
                    let part = cx.map2(Op::Div, &rest, &by)?;
                    cx.map1(Op::Floor, &part)?
                }
                false => {
                    let left = cx.map2(Op::Sub, &rest, &digit)?;
                    cx.map2(Op::Div, &left, &by)?
                }
            };
        }
        digits.push(digit);
    }
    if x.rank() == 0 {
        return Ok(digits.pop());
    }
    digits.reverse();
    let one: Shape = [1].iter().chain(y.shape()).copied().collect();
    let rows = digits
        .iter()
        .map(|d| cx.apply_move(d, Move::axes("⍴", one.clone(), (1..one.len()).map(Some))))
        .collect::<Result<Vec<_>>>()?;
    let shape: Shape = [rows.len()].iter().chain(y.shape()).copied().collect();
    cx.record_cat(&rows, 0, &shape)
}

/// Rows, digits, columns of ⊥ or radices, columns, values of ⊤.
type Counts = (usize, usize, usize);

/// `X⊥Y`
pub fn decode(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    if x.frame().is_some() || y.frame().is_some() {
        return match decode_framed(cx, x, y)? {
            Some(made) => Ok(made),
            None => cx.over_cells('⊥', &[x, y], |cx, a| decode(cx, &a[0], &a[1], None)),
        };
    }
    if y.len() > SMALL
        && y.rank() > 1
        && let Some(made) = decode_framed(cx, x, y)?
    {
        return Ok(made);
    }
    let complex = complex_pair(cx, x, y)?;
    let (last, first, n) = digits_of(x, y)?;
    let rows = elements(&x.shape()[..x.rank().max(1) - 1]);
    let columns = elements(y.shape().get(1..).unwrap_or(&[]));
    let shape: Shape = x.shape()[..x.rank().max(1) - 1]
        .iter()
        .chain(y.shape().get(1..).unwrap_or(&[]))
        .copied()
        .collect();
    let total = checked_elements(&shape)?;
    let _held = cx.budget().charge_elements(total, 8)?;
    let counts = (rows, n, columns);
    if let Some([a, b]) = complex {
        let step = |sum, radix, digit| {
            cx.complex_step(Op::Add, cx.complex_step(Op::Mul, sum, radix)?, digit)
        };
        return Array::complexes(
            shape,
            decoded(&a, &b, counts, last, first, cx.budget(), step)?,
            cx.budget(),
        );
    }
    let (a, b) =
        (cx.numbers(x, "the left argument of ⊥")?, cx.numbers(y, "the right argument of ⊥")?);
    let step = |sum, radix, digit| cx.scalar2(Op::Add, cx.scalar2(Op::Mul, sum, radix)?, digit);
    let out = decoded(&a, &b, counts, last, first, cx.budget(), step)?;
    if shape.is_empty() {
        return Ok(Array::num(out[0]));
    }
    Array::numbers(shape, out, cx.budget())
}

/// Horner's rule for each row and column.
fn decoded<T: Copy + Default>(
    a: &[T],
    b: &[T],
    (rows, n, columns): Counts,
    last: usize,
    first: usize,
    budget: &Budget,
    step: impl Fn(T, T, T) -> Result<T>,
) -> Result<Vec<T>> {
    let mut out = budget.room(rows * columns)?;
    let mut ticks = budget.ticks();
    for r in 0..rows {
        for c in 0..columns {
            ticks.tick()?;
            let mut sum = T::default();
            for k in 0..n {
                ticks.tick()?;
                let radix = if last == 1 { a[r] } else { a[r * last + k] };
                let digit = if first == 1 { b[c] } else { b[k * columns + c] };
                sum = if k == 0 { digit } else { step(sum, radix, digit)? };
            }
            out.push(sum);
        }
    }
    Ok(out)
}

/// `X⊤Y`
pub fn encode(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    if x.frame().is_some() || y.frame().is_some() {
        return match encode_by_steps(cx, x, y)? {
            Some(made) => Ok(made),
            None => cx.over_cells('⊤', &[x, y], |cx, a| encode(cx, &a[0], &a[1], None)),
        };
    }
    let n = x.first_extent();
    let columns = x.len() / n.max(1);
    let shape: Shape = x.shape().iter().chain(y.shape()).copied().collect();
    if shape.len() > 15 {
        return Err(rank("the result of ⊤ has too many axes"));
    }
    let total = checked_elements(&shape)?;
    if y.len() > SMALL
        && let Some(made) = encode_by_steps(cx, x, y)?
    {
        return Ok(made);
    }
    let complex = complex_pair(cx, x, y)?;
    let _held = cx.budget().charge_elements(total, 8)?;
    let counts = (n, columns, y.len());
    if let Some([a, b]) = complex {
        let step = |radix: Complex64, rest: Complex64| {
            let digit = cx.complex_step(Op::Residue, radix, rest)?;
            let none = radix == Complex64::ZERO;
            Ok((digit, if none { radix } else { cx.complex_step(Op::Div, rest - digit, radix)? }))
        };
        return Array::complexes(shape, encoded(&a, &b, counts, cx.budget(), step)?, cx.budget());
    }
    let (a, b) =
        (cx.numbers(x, "the left argument of ⊤")?, cx.numbers(y, "the right argument of ⊤")?);
    let step = |radix: f64, rest: f64| {
        let digit = cx.scalar2(Op::Residue, radix, rest)?;
        Ok((digit, if radix == 0.0 { 0.0 } else { (rest - digit) / radix }))
    };
    let out = match whole_digits(&a, &b, counts, cx.sys.settings.ct, cx.budget())? {
        Some(out) => out,
        None => encoded(&a, &b, counts, cx.budget(), step)?,
    };
    if shape.is_empty() {
        return Ok(Array::num(out[0]));
    }
    Array::numbers(shape, out, cx.budget())
}

/// Digits of whole numbers in radices that are positive whole numbers, all values at once. None:
/// some number is another.
///
/// Why the quotient is right: of whole numbers below 2*52 it lies at least 1÷radix off any whole
/// number that it is not, and rounding moves it by less.
fn whole_digits(
    a: &[f64],
    b: &[f64],
    (n, columns, values): Counts,
    ct: f64,
    budget: &Budget,
) -> Result<Option<Vec<f64>>> {
    const MOST: f64 = (1u64 << 52) as f64;
    // A quotient of greater ones may be a whole number within ⎕CT.
    let most = if ct > 0.0 { MOST.min(0.5 / ct) } else { MOST };
    let whole = |x: &f64| (*x as i64) as f64 == *x && x.abs() < most;
    if !a.iter().all(|r| whole(r) && *r > 0.0) || !b.iter().all(whole) {
        return Ok(None);
    }
    let mut out = budget.filled(0.0, n * columns * values)?;
    let mut rest = budget.filled(0.0, values)?;
    for c in 0..if n == 0 { 0 } else { columns } {
        rest.copy_from_slice(b);
        for k in (0..n).rev() {
            let (at, radix) = (k * columns + c, a[k * columns + c]);
            let digits = &mut out[at * values..(at + 1) * values];
            for (digits, rest) in digits.chunks_mut(LOOK).zip(rest.chunks_mut(LOOK)) {
                budget.check()?;
                for (digit, rest) in digits.iter_mut().zip(rest) {
                    let part = *rest / radix;
                    let near = part as i64 as f64;
                    let quotient = if near > part { near - 1.0 } else { near };
                    *digit = *rest - quotient * radix;
                    *rest = quotient;
                }
            }
        }
    }
    Ok(Some(out))
}

/// Digits from the last radix up; `step` gives a digit and what is left.
fn encoded<T: Copy + Default>(
    a: &[T],
    b: &[T],
    (n, columns, values): Counts,
    budget: &Budget,
    step: impl Fn(T, T) -> Result<(T, T)>,
) -> Result<Vec<T>> {
    let mut out = budget.filled(T::default(), n * columns * values)?;
    let mut ticks = budget.ticks();
    for c in 0..if n == 0 { 0 } else { columns } {
        for (j, &value) in b.iter().enumerate() {
            let mut rest = value;
            for k in (0..n).rev() {
                ticks.tick()?;
                (out[(k * columns + c) * values + j], rest) = step(a[k * columns + c], rest)?;
            }
        }
    }
    Ok(out)
}

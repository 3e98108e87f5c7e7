//! Pieces that are made of simple arrays in one pass: copies by counts, ends of one vector, texts
//! of numbers and numbers of texts.

use super::groups::runs;
use super::search::{first_places, found};
use crate::eval::cx::Cx;
use crate::eval::system::number_of_word;
use crate::syntax::numerals;
use crate::table::Prim;
use aplomb_ground::error::Result;
use aplomb_values::array::format::{is_int, numeral};
use aplomb_values::array::{Array, Data, Ragged, Split, View, elements, storage};

/// `f¨Y` or `X f¨Y` of arrays whose items are numbers or characters, or pieces of a text that are
/// to be run. None: it goes another way, and says there what is wrong with it. Errors: WS FULL,
/// INTERRUPT.
pub fn each(cx: &mut Cx<'_>, p: &Prim, x: Option<&Array>, y: &Array) -> Result<Option<Array>> {
    let known = |a: &Array| a.is_uniform() && a.frame().is_none() && !a.is_complex();
    match (p.glyph, x) {
        ('⍎', None) => match y.pieces() {
            Some(all) => run_pieces(cx, all, y.shape()),
            None if known(y) && y.is_char() && y.rank() > 0 => run_digits(cx, y),
            // Texts that are rows, or stand one by one.
            None => match runs(cx, y, 0)?.filter(|all| all.flat().is_char()) {
                Some(all) if y.rank() > 0 => run_pieces(cx, &all, y.shape()),
                _ => Ok(None),
            },
        },
        ('⊃', None) => match opened(cx, y)? {
            None => one_of_each(cx, y, true, |item, _| (item.rank() > 0).then_some(0)),
            opened => Ok(opened),
        },
        ('⊃', Some(x)) if x.rank() == 0 || x.shape() == y.shape() => picked(cx, x, y),
        ('⍳', Some(x)) if x.rank() == 0 => sought(cx, x, y, first_places),
        ('∊', Some(x)) if y.rank() == 0 => sought(cx, y, x, |cx, y, x| found(cx, x, y)),
        ('⍕', None) if known(y) && !y.is_char() && y.rank() > 0 => texts(cx, y),
        ('⍕', Some(x)) if x.rank() == 0 && known(y) && !y.is_char() && y.rank() > 0 => {
            columns(cx, &x.disclosed(), y)
        }
        ('⍴' | '/' | '⌿', Some(x)) if known(x) && known(y) && x.shape() == y.shape() => {
            copies(cx, x, y)
        }
        ('⍴' | '/' | '⌿', Some(x)) if known(x) && known(y) && y.rank() == 0 && x.rank() > 0 => {
            let all = super::shape::fill(cx, y, x.shape())?;
            copies(cx, x, &all)
        }
        ('↑' | '↓' | '⌽' | '⊖' | '⍴', Some(x))
            if known(x) && x.rank() > 0 && y.rank() == 0 && !known(y) =>
        {
            let whole = y.disclosed();
            match known(&whole) && whole.rank() == 1 {
                true if "↑↓".contains(p.glyph) => ends(cx, p, x, &whole),
                // A few turns of a long vector are read in place: nothing is copied.
                true if x.len() >= MANY && whole.len() <= x.len() => of_copies(cx, p, x, &whole),
                _ => Ok(None),
            }
        }
        _ => Ok(None),
    }
}

/// The least number of copies of one vector that are made to go through all of them at once.
const MANY: usize = 64;

/// A search in one vector for what each item encloses, as one search for all: `V⍳¨⊂¨W`. None: the
/// items are no enclosed arrays.
fn sought(
    cx: &mut Cx<'_>,
    list: &Array,
    items: &Array,
    search: impl FnOnce(&mut Cx<'_>, &Array, &Array) -> Result<Array>,
) -> Result<Option<Array>> {
    let list = list.disclosed();
    if list.rank() != 1 || list.frame().is_some() || items.rank() == 0 {
        return Ok(None);
    }
    let Some(wanted) = opened(cx, items)? else { return Ok(None) };
    search(cx, &list, &wanted).map(Some)
}

/// The arrays that the items of an array enclose, each one. None: one of them encloses none.
fn opened(cx: &mut Cx<'_>, items: &Array) -> Result<Option<Array>> {
    if let Some(inside) = items.held_inside() {
        return Ok(Some(inside));
    }
    let Data::Items(all) = items.data() else { return Ok(None) };
    let wrapped = |a: &Array| a.rank() == 0 && !a.is_simple_scalar() && a.pending().is_none();
    let Some(all) = all.listed().filter(|all| all.iter().all(wrapped)) else { return Ok(None) };
    let out = cx.budget().each(all.iter().map(Array::disclosed))?;
    cx.collect(items.shape(), out, None).map(Some)
}

/// `k⊃¨Y` and `K⊃¨Y` of arrays that stand one by one. None: a number is no place of its item.
pub fn picked(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Option<Array>> {
    if !x.is_plain() || x.is_char() {
        return Ok(None);
    }
    let (one, io) = (x.rank() == 0, cx.sys.settings.io);
    one_of_each(cx, y, one, |item, k| {
        let at = x.number_at(if one { 0 } else { k })? - io;
        (item.rank() == 1 && at >= 0.0 && at.fract() == 0.0).then_some(at as usize)
    })
}

/// One item of each of the arrays that stand in an array, as it stands there. None: one of them has
/// none at its place, or they are parts of one array, which are read as that. `same`: the place is
/// the same in items of one shape.
fn one_of_each(
    cx: &mut Cx<'_>,
    y: &Array,
    same: bool,
    place: impl Fn(&Array, usize) -> Option<usize>,
) -> Result<Option<Array>> {
    let Data::Items(items) = y.data() else { return Ok(None) };
    if let Some(lines) = items.lines() {
        return one_of_each_line(cx, lines, same, place);
    }
    let Some(all) = items.listed().filter(|all| !all.is_empty()) else { return Ok(None) };
    let (mut out, mut ticks) = (cx.budget().room(all.len())?, cx.budget().ticks());
    for (k, item) in all.iter().enumerate() {
        ticks.tick()?;
        let here = item.pending().is_none() && item.frame().is_none();
        match place(item, k).filter(|&at| here && at < item.len()) {
            Some(at) => out.push(item.item(at)),
            None => return Ok(None),
        }
    }
    cx.collect(y.shape(), out, None).map(Some)
}

/// `X,¨Y` of characters and numbers, one beside the other: lines of one table, which no item of it
/// has to be made for. None: they are of one kind, or no such vectors.
pub fn pairs_of_kinds(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Option<Array>> {
    let fits = |a: &Array| a.rank() == 1 && a.is_uniform() && a.frame().is_none() && !a.is_empty();
    if !fits(x) || !fits(y) || x.shape() != y.shape() || x.is_char() == y.is_char() {
        return Ok(None);
    }
    let lists = [cx.ready(x, "each")?, cx.ready(y, "each")?];
    Ok(Array::lines_of(&side_by_side(cx, x.len(), &lists)?, 1))
}

/// Lists of n items each as the columns of a table, item by item. Errors: WS FULL, INTERRUPT.
pub fn side_by_side(cx: &Cx<'_>, n: usize, lists: &[Array]) -> Result<Array> {
    let mut out = cx.budget().room(n * lists.len())?;
    let mut ticks = cx.budget().ticks();
    for k in 0..n {
        ticks.tick()?;
        out.extend(lists.iter().map(|a| a.item(k)));
    }
    cx.collect(&[n, lists.len()], out, None)
}

/// `w d⍕` of each number: texts of one width, which are the rows of a column. None: the width is
/// each number's own.
fn columns(cx: &mut Cx<'_>, by: &Array, y: &Array) -> Result<Option<Array>> {
    let width = by.number_at(0).filter(|w| by.rank() == 1 && by.len() == 2 && *w >= 1.0);
    if width.is_none() || by.is_char() || y.is_empty() {
        return Ok(None);
    }
    let column = super::shape::reshaped(cx, y, &[y.len(), 1])?;
    let made = super::text::format_by(cx, by, &column, None)?;
    let full: Vec<usize> = y.shape().iter().copied().chain([made.last_extent()]).collect();
    Ok(Some(Array::rows(super::shape::reshaped(cx, &made, &full)?, y.rank())))
}

/// The same of the cells of a nested array.
fn one_of_each_line(
    cx: &mut Cx<'_>,
    lines: &Split,
    same: bool,
    place: impl Fn(&Array, usize) -> Option<usize>,
) -> Result<Option<Array>> {
    let (size, first) = (elements(lines.cell()), lines.line(0));
    if let (Some(columns), Some(at)) = (lines.node.columns(), place(&first, 0))
        && at < size
        && (same || (1..elements(lines.frame())).all(|k| place(&first, k) == Some(at)))
    {
        return Ok(Some(columns[at].clone()));
    }
    let (mut out, mut ticks) = (cx.budget().room(elements(lines.frame()))?, cx.budget().ticks());
    for k in 0..elements(lines.frame()) {
        ticks.tick()?;
        match place(&first, k).filter(|&at| at < size) {
            Some(at) => out.push(lines.node.item(k * size + at)),
            None => return Ok(None),
        }
    }
    cx.collect(lines.frame(), out, None).map(Some)
}

/// Whole counts, none below 0. None: some are others.
fn counts(cx: &mut Cx<'_>, x: &Array) -> Result<Option<Vec<u32>>> {
    if !x.dtype().is_integer() || x.is_empty() {
        return Ok(None);
    }
    let Some((_, numbers)) = cx.reals(x, "each")? else { return Ok(None) };
    if numbers.iter().any(|&n| n < 0.0) {
        return Ok(None);
    }
    let out = cx.budget().each(numbers.iter().map(|&n| n as u32))?;
    Ok(Some(out))
}

/// The ends of pieces of these lengths. None: they hold too much.
fn ends_of(cx: &Cx<'_>, lengths: &[u32]) -> Result<Option<Vec<u32>>> {
    let (mut ends, mut end) = (cx.budget().room(lengths.len())?, 0u32);
    for &n in lengths {
        let Some(next) = end.checked_add(n) else { return Ok(None) };
        end = next;
        ends.push(end);
    }
    Ok(Some(ends))
}

/// `c⍴¨V`, `c/¨V`: each item so many times.
fn copies(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Option<Array>> {
    let Some(lengths) = counts(cx, x)? else { return Ok(None) };
    let Some(ends) = ends_of(cx, &lengths)? else { return Ok(None) };
    let (n, shape) = (y.len(), y.shape().to_vec());
    let flat = |cx: &mut Cx<'_>, a: &Array| super::shape::reshaped(cx, a, &[n]);
    let (x, y) = (flat(cx, x)?, flat(cx, y)?);
    let all = super::repeat::replicate_first(cx, &x, &y, None)?;
    let all = cx.ready(&all, "each")?;
    Ok(Ragged::new(all, ends).map(|made| made.items(&shape)))
}

/// `K↑¨⊂V` and `K↓¨⊂V`.
fn ends(cx: &mut Cx<'_>, p: &Prim, x: &Array, whole: &Array) -> Result<Option<Array>> {
    let front = p.glyph == '↑';
    let Some(mut lengths) = counts(cx, x)? else { return Ok(None) };
    let n = whole.len();
    if lengths.iter().any(|&k| k as usize > n) {
        // What is filled is as of pieces that are all the same.
        return of_copies(cx, p, x, whole);
    }
    if !front {
        lengths.iter_mut().for_each(|k| *k = n as u32 - *k);
    }
    let whole = cx.ready(whole, "each")?;
    let Some(held) = storage(&whole) else { return Ok(None) };
    let parts = cx.budget().each(lengths.iter().map(|&k| match front {
        true => (held, 0..k as usize),
        false => (held, n - k as usize..n),
    }))?;
    let made = Ragged::of_runs(&parts, cx.budget())?;
    Ok(made.map(|made| made.items(x.shape())))
}

/// `K f¨⊂V` as of pieces that are all the same. None: these would hold more than the result.
fn of_copies(cx: &mut Cx<'_>, p: &Prim, x: &Array, whole: &Array) -> Result<Option<Array>> {
    /// Copied items beside those of the result that are no loss.
    const FEW: usize = 1 << 16;
    let (n, m) = (whole.len(), x.len());
    if p.glyph == '⍴' {
        let Some(lengths) = counts(cx, x)? else { return Ok(None) };
        let made = lengths.iter().map(|&k| k as usize).sum::<usize>();
        if n.saturating_mul(m) > made.saturating_add(FEW) {
            return Ok(None);
        }
    }
    let whole = cx.ready(whole, "each")?;
    let Some(held) = storage(&whole) else { return Ok(None) };
    let all = cx.budget().each(std::iter::repeat_n((held, 0..n), m))?;
    let all = Ragged::of_runs(&all, cx.budget())?.map(|all| all.items(x.shape()));
    all.map_or(Ok(None), |all| super::pieces::each(cx, p, Some(x), &all))
}

/// Numbers of at most so many digits print as they are, whatever ⎕PP.
const PLAIN: f64 = 1e6;
/// Characters of one of them at most.
const DIGITS: usize = 8;

/// `⍕¨V`: the text of each number.
fn texts(cx: &mut Cx<'_>, y: &Array) -> Result<Option<Array>> {
    let pp = cx.sys.settings.pp;
    let Some((y, numbers)) = cx.reals(y, "each")? else { return Ok(None) };
    if numbers.is_empty() {
        return Ok(None);
    }
    let mut ends: Vec<u32> = cx.budget().room(numbers.len())?;
    let mut all: Vec<char> = cx.budget().room(numbers.len().saturating_mul(4))?;
    let mut ticks = cx.budget().ticks();
    for x in numbers {
        ticks.tick()?;
        cx.budget().widen(&mut all, DIGITS)?;
        if x == x.trunc() && x.abs() < PLAIN && pp > 6 {
            let mut rest = x.abs() as u32;
            if x < 0.0 {
                all.push('¯');
            }
            let digits = all.len();
            loop {
                all.push(char::from(b'0' + (rest % 10) as u8));
                rest /= 10;
                if rest == 0 {
                    break;
                }
            }
            all[digits..].reverse();
        } else {
            let line = numeral(x, pp, is_int(x));
            cx.budget().widen(&mut all, line.len())?;
            all.extend(line.chars());
        }
        let Ok(end) = u32::try_from(all.len()) else { return Ok(None) };
        ends.push(end);
    }
    let flat = Array::chars([all.len()].as_slice(), all, cx.budget())?;
    Ok(Ragged::new(flat, ends).map(|made| made.items(y.shape())))
}

/// `⍎¨'123'`: digits are numbers. None: some are no digits.
fn run_digits(cx: &mut Cx<'_>, y: &Array) -> Result<Option<Array>> {
    let y = cx.ready(y, "each")?;
    let Some(View::Char(v)) = storage(&y).map(|s| s.view()) else { return Ok(None) };
    if !v.iter().all(char::is_ascii_digit) {
        return Ok(None);
    }
    let out = cx.budget().each(v.iter().map(|&c| f64::from(u32::from(c) - u32::from('0'))))?;
    Array::numbers(y.shape(), out, cx.budget()).map(Some)
}

/// `⍎¨W`, where each text is a list of numbers: one number each, or some each. None: some are other
/// texts, or some are one number and others are lists.
fn run_pieces(cx: &mut Cx<'_>, all: &Ragged, shape: &[usize]) -> Result<Option<Array>> {
    let numbers = numbers_of_each(cx, all, |text, out| {
        let before = out.len();
        Ok(numerals(text, |x| out.push(x)) && out.len() > before)
    })?;
    let Some((out, ends)) = numbers else { return Ok(None) };
    let single = |k: usize| ends[k] - k.checked_sub(1).map_or(0, |k| ends[k]) == 1;
    let ones = (0..ends.len()).filter(|&k| single(k)).count();
    if ones == ends.len() {
        return Array::numbers(shape, out, cx.budget()).map(Some);
    }
    if ones > 0 {
        return Ok(None);
    }
    let flat = Array::numbers([out.len()].as_slice(), out, cx.budget())?;
    Ok(Ragged::new(flat, ends).map(|made| made.items(shape)))
}

/// Numbers that `put` puts down for each text, and the end of each one's. None: it refuses one, or
/// they are too many. Errors: WS FULL, INTERRUPT.
fn numbers_of_each(
    cx: &mut Cx<'_>,
    all: &Ragged,
    mut put: impl FnMut(&[char], &mut Vec<f64>) -> Result<bool>,
) -> Result<Option<(Vec<f64>, Vec<u32>)>> {
    let Some(View::Char(v)) = storage(all.flat()).map(|s| s.view()) else { return Ok(None) };
    let mut out: Vec<f64> = cx.budget().room(v.len() / 2 + 1)?;
    let mut ends: Vec<u32> = cx.budget().room(all.count())?;
    let mut ticks = cx.budget().ticks();
    for k in 0..all.count() {
        ticks.tick()?;
        if !put(&v[all.range(k)], &mut out)? {
            return Ok(None);
        }
        let Ok(end) = u32::try_from(out.len()) else { return Ok(None) };
        ends.push(end);
    }
    Ok(Some((out, ends)))
}

/// The numbers that the words of each text are, 0 for others; with `valid` whether each is one:
/// what ⎕VFI tells of it. None: they are too many. Errors: WS FULL, INTERRUPT.
pub fn verified(cx: &mut Cx<'_>, all: &Ragged, valid: bool) -> Result<Option<Ragged>> {
    let (budget, mut ticks) = (cx.budget().clone(), cx.budget().ticks());
    let numbers = numbers_of_each(cx, all, |text, out| {
        for word in text.split(|c| *c == ' ').filter(|word| !word.is_empty()) {
            ticks.tick()?;
            let mut number = None;
            // What is a number of some other kind is read as a line is.
            if !numerals(word, |x| number = Some(x)) {
                number = number_of_word(&word.iter().collect::<String>());
            }
            budget.widen(out, 1)?;
            out.push(match (valid, number) {
                (true, number) => f64::from(u8::from(number.is_some())),
                (false, number) => number.map_or(0.0, |x| x),
            });
        }
        Ok(true)
    })?;
    let Some((out, ends)) = numbers else { return Ok(None) };
    let flat = Array::numbers([out.len()].as_slice(), out, cx.budget())?;
    Ok(Ragged::new(flat, ends))
}

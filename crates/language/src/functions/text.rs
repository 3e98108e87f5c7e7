//! Values as text: `⍕`.

use super::shape::Axis;
use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, domain, length, rank};
use aplomb_values::array::{Array, format};

/// `⍕Y`: the text that Y prints.
pub fn format(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    let y = cx.ready(y, "⍕")?;
    if y.is_uniform() && y.is_char() {
        return Ok(y);
    }
    if y.is_empty() && y.rank() > 1 {
        let mut shape: aplomb_values::array::Shape = y.shape().into();
        if let Some(last) = shape.last_mut() {
            *last = 0;
        }
        return Array::chars(shape, vec![], cx.budget());
    }
    let grid = format::grid(&y, cx.sys.settings.pp, cx.budget())?;
    if y.rank() < 2 && grid.len() == 1 {
        return cx.text(&grid[0]);
    }
    let width = grid.iter().map(|r| r.chars().count()).max().unwrap_or(0);
    let mut chars = cx.budget().room(width.saturating_mul(grid.len()))?;
    for row in &grid {
        let before = chars.len();
        chars.extend(row.chars());
        chars.resize(before + width, ' ');
    }
    let mut shape: aplomb_values::array::Shape = if y.rank() > 2 && y.is_simple() {
        y.shape()[..y.rank() - 1].into()
    } else {
        [grid.len()].as_slice().into()
    };
    if y.rank() > 2 && y.is_simple() {
        // Blank lines between planes are for display only.
        let keep = grid.iter().any(|r| r.trim().is_empty());
        if keep {
            chars.clear();
            for row in grid.iter().filter(|r| !r.is_empty()) {
                let before = chars.len();
                chars.extend(row.chars());
                chars.resize(before + width, ' ');
            }
        }
    }
    shape.push(width);
    if aplomb_values::array::elements(&shape) != chars.len() {
        return Err(domain("⍕ of this array is not in Aplomb yet"));
    }
    Array::chars(shape, chars, cx.budget())
}

/// `w d⍕Y` and `d⍕Y`; a pair for each column of the last axis, or one for all. A width of 0 is as
/// wide as the column, with a blank before it. What does not fit is stars. Errors: RANK, LENGTH,
/// DOMAIN.
pub fn format_by(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    if x.rank() > 1 {
        return Err(rank("the left argument of ⍕ is a vector"));
    }
    let by = cx.integers(x, "the left argument of ⍕")?;
    let numbers = cx.numbers(y, "the right argument of ⍕")?;
    let columns = y.last_extent();
    let pair = |c: usize| match by[..] {
        [d] => (0, d),
        [w, d] => (w, d),
        _ => (by[2 * c], by[2 * c + 1]),
    };
    if !matches!(by.len(), 1 | 2) && by.len() != 2 * columns {
        return Err(length(
            "⍕ takes a count of decimals, a width with one, or such a pair for each column",
        ));
    }
    if (0..columns).map(pair).any(|(w, d)| !(0..=10_000).contains(&w) || d.abs() > 300) {
        return Err(domain("this width or count of decimals is beyond what ⍕ takes"));
    }
    let _held = cx.budget().charge_elements(numbers.len(), 48)?;
    let mut ticks = cx.budget().ticks();
    let text = numbers
        .iter()
        .enumerate()
        .map(|(k, &v)| ticks.tick().map(|()| fixed(v, pair(k % columns).1)));
    let text: Vec<String> = cx.budget().all(text)?;
    let widest = |c: usize| {
        text.iter().skip(c).step_by(columns).map(|t| t.chars().count()).max().unwrap_or(0)
    };
    let width = |c: usize| match pair(c).0 {
        0 => widest(c) + 1,
        w => w as usize,
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut shape: aplomb_values::array::Shape = y.shape().into();
    shape.pop();
    shape.push(widths.iter().sum());
    let mut out = cx.budget().room(aplomb_values::array::checked_elements(&shape)?)?;
    for (k, t) in text.iter().enumerate() {
        ticks.tick()?;
        let (n, width) = (t.chars().count(), widths[k % columns]);
        if n > width {
            out.extend(std::iter::repeat_n('*', width));
        } else {
            out.extend(std::iter::repeat_n(' ', width - n));
            out.extend(t.chars());
        }
    }
    Array::chars(shape, out, cx.budget())
}

/// Decimal digits that a number has; those behind them are `_`.
const DIGITS: usize = 16;

/// A number with d decimals, or scaled with -d digits. A tie goes away from 0.
fn fixed(v: f64, d: i64) -> String {
    if !v.is_finite() {
        return format::number(v);
    }
    if let Some(text) = in_few_digits(v, d) {
        return text;
    }
    let unknown = if v == 0.0 { '0' } else { '_' };
    // Rounded once: of a number with more digits than are told all are looked at where fewer are
    // wanted.
    let (mut digits, mut exponent) = digits_of(&format!("{:e}", v.abs()));
    let wanted = if d < 0 { -d } else { exponent + 1 + d };
    if digits.len() > DIGITS && wanted >= DIGITS as i64 {
        (digits, exponent) = digits_of(&format!("{:.*e}", DIGITS - 1, v.abs()));
    }
    let text = if d < 0 {
        let wanted = -d as usize;
        let (mut kept, carried) = cut(digits, wanted, unknown);
        kept.insert_str(0, if carried { "1" } else { "" });
        let exponent = exponent + i64::from(carried);
        let point = if wanted > 1 { "." } else { "" };
        format!("{}{point}{}E{exponent}", &kept[..1], &kept[1..wanted])
    } else {
        let decimals = d as usize;
        let (whole, digits) = match usize::try_from(exponent) {
            Err(_) => {
                let zeros = std::iter::repeat_n('0', exponent.unsigned_abs() as usize);
                (1, zeros.chain(digits.chars()).collect())
            }
            Ok(e) => (e + 1, digits),
        };
        let (mut kept, carried) = cut(digits, whole + decimals, unknown);
        kept.insert_str(0, if carried { "1" } else { "" });
        let point = if decimals > 0 { "." } else { "" };
        let whole = whole + usize::from(carried);
        format!("{}{point}{}", &kept[..whole], &kept[whole..])
    };
    let is_zero = text.chars().all(|c| matches!(c, '0' | '.' | '_'));
    let sign = if v < 0.0 && !is_zero { "¯" } else { "" };
    format!("{sign}{}", text.replace('-', "¯"))
}

/// The digits of a number that is written with an exponent, and that.
fn digits_of(text: &str) -> (String, i64) {
    let (digits, exponent) = text
        .split_once('e')
        .map_or((text, 0), |(digits, e)| (digits, e.parse::<i64>().map_or(0, |e| e)));
    (digits.chars().filter(char::is_ascii_digit).collect(), exponent)
}

/// The same of a number with few digits, whose decimals are far from a tie: no rounding of what is
/// computed here changes one of them. None: it is another.
fn in_few_digits(v: f64, d: i64) -> Option<String> {
    /// Digits that are written, and the distance from a tie.
    const MOST: f64 = 1e12;
    const TIE: f64 = 2e-3;
    let decimals = usize::try_from(d).ok().filter(|decimals| *decimals <= 12)?;
    let scaled = v.abs() * 10f64.powi(decimals as i32);
    if scaled >= MOST || (scaled.fract() - 0.5).abs() <= TIE {
        return None;
    }
    let n = (scaled + 0.5).floor() as u64;
    let sign = if v < 0.0 && n > 0 { "¯" } else { "" };
    if decimals == 0 {
        return Some(format!("{sign}{n}"));
    }
    let one = 10u64.pow(decimals as u32);
    Some(format!("{sign}{}.{:0decimals$}", n / one, n % one))
}

/// So many of some digits, rounded; behind the last come unknown ones. Whether a 1 stands before
/// them now.
fn cut(mut digits: String, wanted: usize, unknown: char) -> (String, bool) {
    let mut up = digits[wanted.min(digits.len())..].starts_with(['5', '6', '7', '8', '9']);
    digits.truncate(wanted);
    // The shortest digits that tell a number apart are few where those behind them are 0.
    let zeros = wanted.min(DIGITS).saturating_sub(digits.len());
    digits.extend(std::iter::repeat_n('0', zeros));
    digits.extend(std::iter::repeat_n(unknown, wanted - digits.len()));
    let mut rounded: Vec<char> = digits.chars().rev().collect();
    for c in &mut rounded {
        let next = c.to_digit(10).filter(|_| up).map(|d| d + 1);
        up &= next == Some(10);
        *c = next.and_then(|d| char::from_digit(d % 10, 10)).map_or(*c, |c| c);
    }
    (rounded.into_iter().rev().collect(), up)
}

#[cfg(test)]
mod tests {
    use super::fixed;

    #[test]
    fn a_number_has_sixteen_digits_and_ties_go_away_from_zero() {
        let cases = [
            (1.0 / 3.0, 20, "0.3333333333333333____"),
            (2.5, 0, "3"),
            (-2.5, 0, "¯3"),
            (0.4, 0, "0"),
            (-0.04, 1, "0.0"),
            (0.05, 1, "0.1"),
            (999.996, 2, "1000.00"),
            (1.005, 2, "1.01"),
            (0.0, 3, "0.000"),
            (0.001234, 4, "0.0012"),
            (2f64.powi(100), 1, "1267650600228229_______________._"),
            (1234.5, -3, "1.23E3"),
            (9.99, -2, "1.0E1"),
            (0.00125, -2, "1.3E¯3"),
            (5.0, -1, "5E0"),
            (0.5, -3, "5.00E¯1"),
            (1e10, 2, "10000000000.00"),
            (12345678901.5, 2, "12345678901.50"),
            (1e18, 1, "1000000000000000___._"),
            (-481663066966.85846, 3, "¯481663066966.858"),
            (105744261228.03746, 3, "105744261228.037"),
            (0.12345678901234566, 15, "0.123456789012346"),
            (9.999999999999998, 15, "9.999999999999998"),
        ];
        for (v, d, text) in cases {
            assert_eq!(fixed(v, d), text, "{d}⍕{v}");
        }
    }
}

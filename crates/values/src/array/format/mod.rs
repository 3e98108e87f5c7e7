//! The display of values: numbers, then grids of text, then lines of ⎕PW columns.

mod boxed;
mod fold;
mod grid;
mod layout;
mod page;

pub use boxed::Boxes;
pub use fold::{Long, Style, display};
pub use page::{page, printed};

use super::{Array, Complex64};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;

/// A number with ten digits, as messages show it.
pub fn number(x: f64) -> String {
    numeral(x, 10, is_int(x))
}

/// A number as APL writes it, to six digits.
pub fn short(x: f64) -> String {
    let plain = if x == x.trunc() && x.abs() < 1e9 { format!("{}", x as i64) } else { trimmed(x) };
    plain.replace('-', "¯")
}

fn trimmed(x: f64) -> String {
    if (1e-4..1e9).contains(&x.abs()) {
        let digits = (5 - x.abs().log10().floor() as i32).clamp(0, 9) as usize;
        let text = format!("{x:.digits$}");
        return if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').into()
        } else {
            text
        };
    }
    let text = format!("{x:.5e}");
    match text.split_once('e') {
        Some((m, e)) if m.contains('.') => {
            format!("{}E{e}", m.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text.replace('e', "E"),
    }
}

/// Whether a number is whole and below 2*31 in magnitude, so that it prints in full.
pub fn is_int(x: f64) -> bool {
    x == x.trunc() && x.abs() < 2_147_483_648.0
}

/// One number. `whole`: all beside it are integers below 2*31, which print in full.
pub fn numeral(x: f64, pp: usize, whole: bool) -> String {
    if whole || (is_int(x) && x.abs() < 10f64.powi(pp.min(9) as i32)) {
        let n = x as i64;
        return if n < 0 { format!("¯{}", -n) } else { n.to_string() };
    }
    if x.is_nan() {
        return "NaN".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "∞" } else { "¯∞" }.into();
    }
    let (digits, exponent) = rounded(x.abs(), pp);
    let sign = if x < 0.0 { "¯" } else { "" };
    if exponent >= pp as i32 || exponent < -6 {
        return format!("{sign}{}", scaled_text(&digits, exponent));
    }
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits}{}", "0".repeat(whole - digits.len()));
    }
    format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
}

/// Both parts with as many digits as a number alone has; `J0` is dropped.
pub fn complex(z: Complex64, pp: usize) -> String {
    let part = |x: f64| numeral(x, pp, is_int(x));
    if z.im == 0.0 { part(z.re) } else { format!("{}J{}", part(z.re), part(z.im)) }
}

/// A column with complex numbers in it: its real parts, and its imaginary ones, have as many
/// decimals as the longest, but no more than `pp` digits.
pub fn complex_column(column: &[Option<Complex64>], pp: usize) -> Vec<Option<String>> {
    let parts = |of: fn(&Complex64) -> f64| {
        let plain: Vec<_> = column
            .iter()
            .map(|z| z.map(|z| of(&z)).map(|x| (x, numeral(x, pp, is_int(x)))))
            .collect();
        let decimals = |text: &str| {
            text.split_once('.').filter(|_| !text.contains('E')).map_or(0, |(_, d)| d.len())
        };
        let most = plain.iter().flatten().map(|(_, text)| decimals(text)).max().unwrap_or(0);
        let longer = move |(x, mut text): (f64, String)| {
            let room = pp as i32 - 1 - rounded(x.abs(), pp).1;
            let wanted = most.min(room.max(0) as usize);
            let have = decimals(&text);
            if x.is_finite() && !text.contains('E') && wanted > have {
                text.push_str(if have == 0 { "." } else { "" });
                text.push_str(&"0".repeat(wanted - have));
            }
            text
        };
        plain.into_iter().map(move |p| p.map(longer)).collect::<Vec<_>>()
    };
    let texts = parts(|z| z.re).into_iter().zip(parts(|z| z.im)).zip(column);
    texts
        .map(|((re, im), z)| match (re, im, z) {
            (Some(re), Some(im), Some(z)) => {
                Some(if z.im == 0.0 { re } else { format!("{re}J{im}") })
            }
            _ => None,
        })
        .collect()
}

/// A column in scaled form, as one number in it needs: all with as many decimals as the longest.
/// None stays empty.
pub fn scaled_column(column: &[Option<f64>], pp: usize) -> Vec<String> {
    let digits = |x: &Option<f64>| x.filter(|x| x.is_finite()).map(|x| rounded(x.abs(), pp));
    let most = column.iter().filter_map(digits).map(|d| d.0.len()).max().unwrap_or(1);
    let text = |x: &Option<f64>| match (x, digits(x)) {
        (Some(x), Some((digits, exponent))) => {
            let sign = if *x < 0.0 { "¯" } else { "" };
            format!("{sign}{}", scaled_text(&format!("{digits:0<most$}"), exponent))
        }
        (Some(x), None) => numeral(*x, pp, false),
        (None, _) => String::new(),
    };
    column.iter().map(text).collect()
}

fn scaled_text(digits: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { "¯" } else { "" };
    let point = if digits.len() > 1 { "." } else { "" };
    format!("{}{point}{}E{sign}{}", &digits[..1], &digits[1..], exponent.abs())
}

/// Digits from which a number can print with as many as read it back.
const SHORTEST: usize = 17;

/// Significant digits without trailing zeros, and the exponent of the first. From 17 on they are
/// the fewest that mean this number.
fn rounded(x: f64, pp: usize) -> (String, i32) {
    let text = match pp < SHORTEST {
        true => format!("{x:.*e}", pp.max(1) - 1),
        false => format!("{x:e}"),
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let kept = digits.trim_end_matches('0');
    (if kept.is_empty() { "0".into() } else { kept.into() }, exponent.parse().unwrap_or(0))
}

/// The rows of an array's picture, blank lines between planes included. Ready arrays. Errors: WS
/// FULL, INTERRUPT.
pub fn grid(a: &Array, pp: usize, budget: &Budget) -> Result<Vec<String>> {
    grid::within(a, pp, budget).map(|grid| grid.rows)
}

/// A simple vector on one line. Errors: INTERNAL.
pub fn line(a: &Array) -> Result<String> {
    grid::of(a, 10).map(|mut grid| grid.rows.swap_remove(0))
}

/// A shape for messages: `2 3`, or `scalar`.
pub fn shape_text(shape: &[usize]) -> String {
    if shape.is_empty() {
        return "scalar".into();
    }
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_apl_prints_them() {
        let cases = [
            (0.000001, "0.000001"),
            (1e-7, "1E¯7"),
            (1e10, "1E10"),
            (2.43290200817664e18, "2.432902008E18"),
            (12345678901.0, "1.23456789E10"),
            (2147483648.0, "2147483648"),
            (-0.0, "0"),
            (-2.5, "¯2.5"),
            (0.1 + 0.2, "0.3"),
            (2.0 / 3.0, "0.6666666667"),
            (123456.789, "123456.789"),
            (f64::MIN, "¯1.797693135E308"),
        ];
        for (x, text) in cases {
            assert_eq!(number(x), text);
        }
        assert_eq!(numeral(std::f64::consts::PI, 17, false), "3.141592653589793");
        assert_eq!(numeral(2f64.powi(100), 34, false), "1267650600228229400000000000000");
        let z = |re, im| complex(Complex64::new(re, im), 10);
        assert_eq!([z(3.0, -4.0), z(0.5, 1e-20), z(2.0, 0.0)], ["3J¯4", "0.5J1E¯20", "2"]);
        assert_eq!(numeral(1234.0, 3, true), "1234");
        assert_eq!(numeral(1234.0, 3, false), "1.23E3");
    }
}

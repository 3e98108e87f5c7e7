//! How values print (LANGUAGE §8): numbers, then grids of text, then lines of ⎕PW columns.

mod boxed;
mod fold;
mod grid;

pub use boxed::Boxes;
pub use fold::{Long, Style, display};

use super::Array;

/// A number with ten digits, as messages show it.
pub fn number(x: f64) -> String {
    numeral(x, 10, is_int(x))
}

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
    let (digits, exponent) = rounded(x.abs(), pp.clamp(1, 17));
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

/// One number in scaled form, as a column with another scaled one needs it.
pub fn scaled(x: f64, pp: usize) -> String {
    if !x.is_finite() {
        return numeral(x, pp, false);
    }
    let (digits, exponent) = rounded(x.abs(), pp.clamp(1, 17));
    format!("{}{}", if x < 0.0 { "¯" } else { "" }, scaled_text(&digits, exponent))
}

fn scaled_text(digits: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { "¯" } else { "" };
    let point = if digits.len() > 1 { "." } else { "" };
    format!("{}{point}{}E{sign}{}", &digits[..1], &digits[1..], exponent.abs())
}

/// Significant digits without trailing zeros, and the exponent of the first.
fn rounded(x: f64, pp: usize) -> (String, i32) {
    let text = format!("{x:.*e}", pp - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let kept = digits.trim_end_matches('0');
    (if kept.is_empty() { "0".into() } else { kept.into() }, exponent.parse().unwrap_or(0))
}

/// The rows of an array's picture, blank lines between planes included. Ready arrays.
pub fn grid(a: &Array, pp: usize) -> Vec<String> {
    grid::of(a, pp).rows
}

/// A simple vector on one line.
pub fn line(a: &Array) -> String {
    grid(a, 10).swap_remove(0)
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
        assert_eq!(numeral(1234.0, 3, true), "1234");
        assert_eq!(numeral(1234.0, 3, false), "1.23E3");
    }
}

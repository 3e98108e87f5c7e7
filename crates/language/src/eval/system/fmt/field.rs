//! One value in its field.

use super::failed;
use super::spec::{Data, Kind};
use aplomb_ground::error::{Result, domain};

/// Decimal digits that an f64 holds.
const PRECISION: usize = 16;

/// Errors: FORMAT where the phrase is for numbers.
pub fn character(c: char, data: &Data) -> Result<Vec<char>> {
    if data.kind != Kind::Character {
        return Err(failed("characters need a phrase with A"));
    }
    Ok(placed(vec![c], data))
}

/// Errors: FORMAT where the phrase is for characters; DOMAIN for ∞ and NaN.
pub fn number(x: f64, data: &Data, ct: f64) -> Result<Vec<char>> {
    if !x.is_finite() {
        return Err(domain("⎕FMT writes no ∞ and no NaN"));
    }
    if let Some((_, text)) = data.instead.iter().find(|(v, _)| same(*v, x, ct)) {
        return Ok(placed(text.chars().collect(), data));
    }
    let x = scaled(x, data.scale);
    let digits = match &data.kind {
        Kind::Character => return Err(failed("numbers need a phrase with I, F, E or G")),
        Kind::Pattern(pattern) => return Ok(patterned(x, pattern, data)),
        Kind::Integer => fixed(x.abs(), 0),
        Kind::Decimal(d) => fixed(x.abs(), *d),
        Kind::Scaled(s) => exponent(x.abs(), *s),
    };
    let zero = digits.chars().take_while(|c| *c != 'E').all(|c| matches!(c, '0' | '.'));
    if zero && data.blank_zero {
        return Ok(vec![' '; data.width]);
    }
    Ok(affixed(&digits, x < 0.0 && !zero, data))
}

fn same(a: f64, b: f64, ct: f64) -> bool {
    (a - b).abs() <= ct * a.abs().max(b.abs())
}

/// ×10*k: by division where that is exact.
fn scaled(x: f64, k: i32) -> f64 {
    let y = if k < 0 { x / 10f64.powi(-k) } else { x * 10f64.powi(k) };
    if y.is_finite() { y } else { x }
}

/// So many decimals, halves away from zero; digits that an f64 does not hold are `_`.
fn fixed(x: f64, d: usize) -> String {
    let power = 10f64.powi(d.min(300) as i32);
    let shifted = x * power;
    let half = shifted < 1e15 && (shifted.fract() - 0.5).abs() < 1e-9 * shifted.clamp(1.0, 1e3);
    let text = if half {
        format!("{:.*}", d, (shifted.trunc() + 1.0) / power)
    } else {
        format!("{x:.d$}")
    };
    let mut seen = 0;
    let vague = |c: char| {
        seen += usize::from(c.is_ascii_digit() && (seen > 0 || c != '0'));
        if c.is_ascii_digit() && seen > PRECISION { '_' } else { c }
    };
    text.chars().map(vague).collect()
}

fn exponent(x: f64, s: usize) -> String {
    let text = format!("{:.*E}", s - 1, x);
    text.replace('-', "¯")
}

/// Commas between triads of the part before the point.
fn triads(whole: &str) -> String {
    let n = whole.chars().count();
    let mut out = String::new();
    for (k, c) in whole.chars().enumerate() {
        if k > 0 && (n - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

fn affixed(digits: &str, negative: bool, data: &Data) -> Vec<char> {
    let [m, n, p, q] = &data.around;
    let (before, after) = match negative {
        true => (m.as_deref().unwrap_or("¯"), n.as_deref().unwrap_or("")),
        false => (p.as_deref().unwrap_or(""), q.as_deref().unwrap_or("")),
    };
    let affixes = before.chars().count() + after.chars().count();
    let room = data.width.saturating_sub(affixes);
    let (whole, rest) = digits.split_at(digits.find(['.', 'E']).unwrap_or(digits.len()));
    let mut whole = whole.to_string();
    let long = |whole: &str| {
        if data.commas { triads(whole) } else { whole.to_string() }.chars().count()
            + rest.chars().count()
    };
    if data.zeros && !matches!(data.kind, Kind::Scaled(_)) {
        while long(&format!("0{whole}")) <= room {
            whole.insert(0, '0');
        }
    }
    let body = if data.commas { triads(&whole) } else { whole };
    let marked: String = format!("{body}{rest}").chars().map(|c| standard(c, data)).collect();
    let sign =
        if m.is_none() && negative { data.mark('¯').to_string() } else { before.to_string() };
    placed(format!("{sign}{marked}{after}").chars().collect(), data)
}

/// A mark as S says; a 0 only where Z filled it in is more than S tells apart.
fn standard(c: char, data: &Data) -> char {
    match c {
        '.' | ',' | '_' | '¯' => data.mark(c),
        c => c,
    }
}

/// In the field, on its side, over the background; stars where it does not fit.
fn placed(text: Vec<char>, data: &Data) -> Vec<char> {
    if text.len() > data.width {
        return vec![data.mark('*'); data.width];
    }
    let mut out: Vec<char> = match data.background.as_deref().filter(|t| !t.is_empty()) {
        Some(t) => t.chars().cycle().take(data.width).collect(),
        None => vec![' '; data.width],
    };
    let from = if data.left { 0 } else { data.width - text.len() };
    out[from..from + text.len()].copy_from_slice(&text);
    out
}

fn patterned(x: f64, pattern: &[char], data: &Data) -> Vec<char> {
    let (nine, zed) = (data.mark('9'), data.mark('Z'));
    let places: Vec<usize> =
        (0..pattern.len()).filter(|k| pattern[*k] == nine || pattern[*k] == zed).collect();
    let rounded = fixed(x.abs(), 0);
    if rounded == "0" && data.blank_zero {
        return vec![' '; pattern.len()];
    }
    let digits: Vec<char> = rounded.chars().collect();
    if rounded != "0" && (digits.len() > places.len() || x < 0.0) {
        return vec![data.mark('*'); pattern.len()];
    }
    let mut out = pattern.to_vec();
    let pad = places.len().saturating_sub(digits.len());
    let digit = |k: usize| if k < pad { '0' } else { digits[k - pad] };
    let sure: Vec<usize> = (0..places.len())
        .filter(|k| pattern[places[*k]] == nine || digit(*k) != '0')
        .map(|k| places[k])
        .collect();
    let between =
        |at: usize| sure.first().is_some_and(|f| *f < at) && sure.last().is_some_and(|l| at < *l);
    for (k, at) in places.iter().enumerate() {
        out[*at] = if sure.contains(at) || between(*at) { digit(k) } else { ' ' };
    }
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return out };
    for (at, c) in out.iter_mut().enumerate().take(*last).skip(*first) {
        if !places.contains(&at) && !between(at) {
            *c = ' ';
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_away_from_zero_and_vague_digits_show() {
        assert_eq!(
            (fixed(0.125, 2).as_str(), fixed(2.5, 0).as_str(), fixed(0.1, 2).as_str()),
            ("0.13", "3", "0.10")
        );
        assert_eq!(fixed(1e18 / 3.0, 1), "3333333333333333__._");
        assert_eq!((triads("1234567").as_str(), triads("123").as_str()), ("1,234,567", "123"));
    }
}

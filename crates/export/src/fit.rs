//! One text of several: a graph's text at each of the sizes, its numbers marked, becomes the text
//! for all sizes.
//!
//! The texts must be the same but for the marked numbers. A number that is the same everywhere
//! stays; one that changes must be a sum of products of extents, found from a grid of sizes and
//! held against the others.

/// A number between marks: `i` whole, as extents and places are, `f` any.
const OPEN: char = '\u{E000}';
const CLOSE: char = '\u{E001}';

/// A whole number whose value may follow from extents.
pub fn whole(x: i64) -> String {
    format!("{OPEN}i{x}{CLOSE}")
}

/// A number of the program that may follow from extents.
pub fn number(x: f64) -> String {
    format!("{OPEN}f{x:?}{CLOSE}")
}

/// The length of a text for people, marks left out.
pub fn width(text: &str) -> usize {
    text.chars().filter(|c| !matches!(*c, OPEN | CLOSE)).count()
}

/// The way in which a language writes numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Whole numbers take part in floats as they are.
    Python,
    /// A float that follows from extents is made one.
    C,
}

/// The text for all sizes. `sizes`: those of each text, an extent for each of the `letters`.
/// Errors: a sentence that says what differs.
pub fn settled(
    texts: &[String],
    sizes: &[Vec<usize>],
    letters: &[String],
    style: Style,
) -> Result<String, String> {
    let parts: Vec<Vec<Part>> = texts.iter().map(|text| parts(text)).collect();
    let mut out = String::new();
    for (k, first) in parts[0].iter().enumerate() {
        let same: Option<Vec<&Part>> = parts.iter().map(|p| p.get(k)).collect();
        let same = same.filter(|_| parts.iter().all(|p| p.len() == parts[0].len()));
        let same = same.ok_or_else(|| forms(sizes, letters))?;
        match first {
            Part::Text(text) => {
                if same.iter().any(|p| **p != *first) {
                    return Err(forms(sizes, letters));
                }
                out += text;
            }
            Part::Number(mark, _) => {
                let value = |p: &&Part| match p {
                    Part::Number(m, x) if m == mark => Some(*x),
                    _ => None,
                };
                let values: Option<Vec<f64>> = same.iter().map(value).collect();
                let values = values.ok_or_else(|| forms(sizes, letters))?;
                let next = parts[0].get(k + 1);
                let written = Written { mark: *mark, alone: alone(&out, next), style };
                out += &expression(written, &values, sizes, letters)?;
            }
        }
    }
    Ok(out)
}

fn forms(sizes: &[Vec<usize>], letters: &[String]) -> String {
    let (first, last) = (&sizes[0], &sizes[sizes.len() - 1]);
    let at = |s: &[usize]| {
        letters.iter().zip(s).map(|(l, n)| format!("{l}={n}")).collect::<Vec<_>>().join(", ")
    };
    format!("what it computes has another form at {} than at {}", at(first), at(last))
}

#[derive(PartialEq)]
enum Part<'a> {
    Text(&'a str),
    Number(char, f64),
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut out = Vec::new();
    for piece in text.split_inclusive([OPEN, CLOSE]) {
        let body = piece.trim_end_matches([OPEN, CLOSE]);
        match (piece.ends_with(CLOSE), body.chars().next()) {
            (true, Some(mark)) => {
                let number = body[1..].parse();
                out.push(number.map_or(Part::Text(body), |x| Part::Number(mark, x)));
            }
            _ => out.push(Part::Text(body)),
        }
    }
    out
}

/// Whether an expression that stands here needs no parentheses.
fn alone(before: &str, next: Option<&Part>) -> bool {
    let opens = before.trim_end().ends_with(['(', '[', ',', ':', '=']);
    let follows = match next {
        Some(Part::Text(text)) => text.chars().next(),
        _ => None,
    };
    opens && follows.is_none_or(|c| matches!(c, ')' | ']' | ',' | ':' | '\n'))
}

/// The most that a sum of products is divided by.
const MOST_DIVISOR: i64 = 16;

/// The place of a number, as far as its text depends on it.
#[derive(Clone, Copy)]
struct Written {
    mark: char,
    alone: bool,
    style: Style,
}

fn expression(
    written: Written,
    values: &[f64],
    sizes: &[Vec<usize>],
    letters: &[String],
) -> Result<String, String> {
    let Written { mark, alone, style } = written;
    let literal = |x: f64| match mark {
        'i' => format!("{}", x as i64),
        _ => format!("{x:?}"),
    };
    if values.iter().all(|x| x.to_bits() == values[0].to_bits()) {
        return Ok(literal(values[0]));
    }
    let guarded = |text: String| match alone || text.chars().all(|c| c.is_ascii_alphanumeric()) {
        true => text,
        false => format!("({text})"),
    };
    let float = |sum: &str| match (mark, style) {
        ('f', Style::C) => format!("(double)({sum})"),
        _ => sum.to_string(),
    };
    let divisors = if mark == 'i' { 1 } else { MOST_DIVISOR };
    for d in 1..=divisors {
        let scaled: Vec<f64> = values.iter().map(|x| x * d as f64).collect();
        let sum = sum_of_products(&scaled, sizes, letters);
        if let Some(sum) = sum.or_else(|| square(&scaled, sizes, letters)) {
            let whole = if style == Style::C { float(&sum) } else { format!("({sum})") };
            return Ok(guarded(if d == 1 { float(&sum) } else { format!("{whole} / {d}") }));
        }
    }
    let turned: Vec<f64> = values.iter().map(|x| (1.0 / x).round()).collect();
    let exact = turned.iter().zip(values).all(|(t, x)| 1.0 / t == *x);
    if let (true, 'f', Some(sum)) = (exact, mark, sum_of_products(&turned, sizes, letters)) {
        let under = if style == Style::C { float(&sum) } else { format!("({sum})") };
        return Ok(guarded(format!("1.0 / {under}")));
    }
    let shown = |k: usize| literal(values[k]);
    let last = values.len() - 1;
    Err(format!(
        "a number in it is {} at first and {} at other extents ({}): no sum of products of {}",
        shown(0),
        shown(last),
        sizes[last].iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
        letters.join(" and ")
    ))
}

/// A square of the only extent, with whole factors and without more.
fn square(values: &[f64], sizes: &[Vec<usize>], letters: &[String]) -> Option<String> {
    let [letter] = letters else { return None };
    let times = values[0] / (sizes[0][0] as f64).powi(2);
    let at = |sizes: &[usize]| times * (sizes[0] as f64).powi(2);
    let holds = times.fract() == 0.0 && values.iter().zip(sizes).all(|(x, s)| at(s) == *x);
    holds.then(|| match times {
        1.0 => format!("{letter} * {letter}"),
        k => format!("{} * {letter} * {letter}", k as i64),
    })
}

/// The sum of products of extents that has these values, if its factors are whole numbers.
fn sum_of_products(values: &[f64], sizes: &[Vec<usize>], letters: &[String]) -> Option<String> {
    let grid = 1usize << letters.len();
    let mut terms: Vec<f64> = values[..grid].to_vec();
    for j in 0..letters.len() {
        let (low, high) = (sizes[0][j] as f64, sizes[1 << j][j] as f64);
        for s in (0..grid).filter(|s| s >> j & 1 == 0) {
            let slope = (terms[s | 1 << j] - terms[s]) / (high - low);
            terms[s] -= slope * low;
            terms[s | 1 << j] = slope;
        }
    }
    if terms.iter().any(|x| x.fract() != 0.0 || x.abs() > 1e9) {
        return None;
    }
    let product = |s: usize, sizes: &[usize]| {
        (0..letters.len()).filter(|j| s >> j & 1 == 1).map(|j| sizes[j] as f64).product::<f64>()
    };
    let at =
        |sizes: &[usize]| terms.iter().enumerate().map(|(s, c)| c * product(s, sizes)).sum::<f64>();
    if !values.iter().zip(sizes).all(|(x, sizes)| at(sizes) == *x) {
        return None;
    }
    let mut out = String::new();
    // Products first, the number last: `n - 1`.
    for s in (1..grid).rev().chain([0]).filter(|s| terms[*s] != 0.0) {
        let factors = (0..letters.len()).filter(|j| s >> j & 1 == 1).map(|j| letters[j].clone());
        let size = terms[s].abs();
        let own = (size != 1.0 || s == 0).then(|| format!("{}", size as i64));
        let text = own.into_iter().chain(factors).collect::<Vec<_>>().join(" * ");
        out += match (terms[s] < 0.0, out.is_empty()) {
            (true, true) => "-",
            (true, false) => " - ",
            (false, true) => "",
            (false, false) => " + ",
        };
        out += &text;
    }
    Some(if out.is_empty() { "0".into() } else { out })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Declaration;

    fn fitted(declared: &str, text: impl Fn(&[usize]) -> String) -> Result<String, String> {
        let declaration = Declaration::parse(declared).unwrap();
        let sizes = declaration.samples();
        let texts: Vec<String> = sizes.iter().map(|s| text(s)).collect();
        settled(&texts, &sizes, &declaration.free(), Style::Python)
    }

    #[test]
    fn numbers_that_follow_from_extents_become_expressions() {
        let text = |s: &[usize]| {
            let (n, m) = (s[0] as i64, s[1] as i64);
            format!(
                "x[{}:{}] * {} + {} / {}",
                whole(2),
                whole(n - 1),
                whole(2 * n * m - m + 3),
                number(0.5),
                number(n as f64 / 4.0),
            )
        };
        let wanted = "x[2:n - 1] * (2 * n * m - m + 3) + 0.5 / ((n) / 4)";
        assert_eq!(fitted("f64[n,m]", text).unwrap(), wanted);
        let text = |s: &[usize]| number(1.0 / (s[0] as f64));
        assert_eq!(fitted("f64[n]", text).unwrap(), "(1.0 / (n))");
    }

    #[test]
    fn another_form_and_another_number_are_refused() {
        let text = |s: &[usize]| if s[0] > 1020 { "a".into() } else { format!("b{}", whole(1)) };
        assert!(fitted("f64[n]", text).unwrap_err().contains("another form at n=1012"));
        let text = |s: &[usize]| whole((3 * s[0] * s[0]) as i64);
        assert_eq!(fitted("f64[n]", text).unwrap(), "(3 * n * n)");
        let text = |s: &[usize]| whole((s[0] * s[0] * s[0]) as i64);
        assert!(fitted("f64[n]", text).unwrap_err().contains("no sum of products of n"));
    }
}

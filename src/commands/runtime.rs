//! `]runtime ]cmpx`: how long expressions take, alone or beside each other.

use super::Call;
use aplomb_ground::error::{Error, syntax, value};
use aplomb_values::array::format;
use std::time::{Duration, Instant};

/// Runs go on until they have taken so long together.
const ENOUGH: Duration = Duration::from_millis(100);
/// Characters of the longest bar.
const BAR: f64 = 40.0;

/// Expressions and whether they are compared: in double quotes, or all of the text as one.
fn asked(args: &str) -> (Vec<String>, bool) {
    let mut compare = false;
    let mut rest = args.trim();
    loop {
        let words = ["-compare", "-c"].iter().find_map(|flag| {
            let behind = rest.strip_prefix(flag)?;
            behind.starts_with([' ', '"']).then_some(behind)
        });
        match words {
            Some(behind) => (compare, rest) = (true, behind.trim_start()),
            None => break,
        }
    }
    for flag in ["-compare", "-c"] {
        if let Some(before) = rest.strip_suffix(flag).filter(|b| b.ends_with([' ', '"'])) {
            (compare, rest) = (true, before.trim_end());
        }
    }
    let quoted: Vec<&str> = rest.split('"').collect();
    let is_quoted = quoted.len() > 2 && quoted.len() % 2 == 1 && quoted[0].trim().is_empty();
    let between = quoted.iter().step_by(2).all(|part| part.trim().is_empty());
    match is_quoted && between {
        true => (quoted.iter().skip(1).step_by(2).map(|s| s.to_string()).collect(), compare),
        false if rest.is_empty() => (Vec::new(), compare),
        false => (vec![rest.to_string()], compare),
    }
}

/// The seconds of one run, of as many as are worth measuring. The workspace is left alone.
fn seconds(call: &mut Call<'_>, expr: &str) -> Result<f64, Error> {
    let (begun, mut runs) = (Instant::now(), 0u32);
    loop {
        call.session.value_of(expr)?;
        runs += 1;
        let took = begun.elapsed();
        if took >= ENOUGH {
            return Ok(took.as_secs_f64() / f64::from(runs));
        }
    }
}

fn scaled(seconds: f64) -> String {
    let text = format!("{seconds:.1e}");
    text.replace('e', "E").replace('-', "¯")
}

pub fn runtime(call: &mut Call<'_>) -> Result<(), Error> {
    let (exprs, compares) = asked(call.args);
    tell(call, &exprs, compares, "]runtime")
}

pub fn cmpx(call: &mut Call<'_>) -> Result<(), Error> {
    let (exprs, _) = asked(call.args);
    tell(call, &exprs, true, "]cmpx")
}

fn tell(call: &mut Call<'_>, exprs: &[String], compares: bool, name: &str) -> Result<(), Error> {
    if exprs.is_empty() {
        let hint = format!("{name} +/⍳1000, or {name} \"+/⍳1000\" \"⊃⌽+\\⍳1000\"");
        return Err(syntax(format!("{name} needs an expression")).hint(hint));
    }
    let mut all = Vec::new();
    for expr in exprs {
        all.push((expr, seconds(call, expr)?));
    }
    if !compares {
        let mut out = String::new();
        for (expr, took) in &all {
            out += &format!("* Benchmarking \"{expr}\"\n");
            out += &format!("  Elapsed: {} ms\n", format::short(took * 1e3));
        }
        call.show(&out);
        return Ok(());
    }
    let (first, value_of_first) = (all[0].1, call.session.value_of(&exprs[0])?);
    let wide = exprs.iter().map(|e| e.chars().count()).max().map_or(0, |n| n);
    let most = all.iter().map(|(_, took)| *took).fold(f64::MIN_POSITIVE, f64::max);
    let mut out = String::new();
    for (expr, took) in &all {
        let same = match (&value_of_first, call.session.value_of(expr)?) {
            (Some(x), Some(y)) => call.session.same(x, &y)?,
            _ => return Err(value("an expression gives no value")),
        };
        let more = (took / first - 1.0) * 100.0;
        let long = (took / most * BAR).round() as usize;
        let bar: String = std::iter::repeat_n('⎕', long).collect();
        let mark = if same { ' ' } else { '*' };
        out += &format!("{mark} {expr:wide$} → {} | {more:+5.0}% {bar}\n", scaled(*took));
    }
    call.show(&out);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::asked;

    #[test]
    fn expressions_stand_in_quotes_or_alone() {
        let one = |args: &str| asked(args);
        assert_eq!(one("+/⍳5"), (vec!["+/⍳5".into()], false));
        assert_eq!(one("\"+/⍳5\" \"⍳5\" -compare"), (vec!["+/⍳5".into(), "⍳5".into()], true));
        assert_eq!(one("-c \"1\" \"2\""), (vec!["1".into(), "2".into()], true));
        assert_eq!(one("x-compare"), (vec!["x-compare".into()], false));
        assert_eq!(one(" "), (vec![], false));
    }
}

//! `]plot ]img`: numbers as pictures. `]plot` is `⎕PLOT` with its options as flags.

use super::{Call, asked::asked};
use aplomb_charts::Image;
use aplomb_ground::error::{Error, domain, syntax, value};
use aplomb_ground::limits::Budget;
use aplomb_ground::protocol::Event;
use aplomb_values::array::Array;

/// Flags of `]plot`, and the options of `⎕PLOT` that they are.
const FLAGS: &[(&str, &str)] = &[("kind=", "Kind"), ("title=", "Title"), ("log=", "Log")];

/// An expression, and the file that a last word names by its end.
fn parts<'a>(args: &'a str, end: &str) -> (&'a str, Option<&'a str>) {
    let last = args.split_whitespace().next_back().filter(|word| word.ends_with(end));
    let expr = last.map_or(args, |file| args[..args.len() - file.len()].trim());
    (expr, last)
}

pub fn plot(call: &mut Call<'_>) -> Result<(), Error> {
    let known: Vec<&'static str> = FLAGS.iter().map(|f| f.0).collect();
    let asked = asked(call.args, &known);
    let (expr, file) = parts(asked.expr.map_or("", |e| e), ".svg");
    if expr.is_empty() {
        return Err(syntax("]plot needs an expression").hint("]plot -kind=bars 3 1 2"));
    }
    let option = |(flag, name): &(&str, &str)| {
        let text = asked.value(flag.trim_end_matches('='))?.replace('\'', "''");
        Some(format!("⍠'{name}' (,'{text}')"))
    };
    let options: String = FLAGS.iter().filter_map(option).collect();
    let svg = call.session.value_run(&format!("(⎕PLOT{options}){expr}"), call.sink)?;
    match (file, svg.and_then(|svg| svg.to_text())) {
        (Some(file), Some(svg)) => call.write(file, svg.as_bytes()),
        _ => Ok(()),
    }
}

pub fn img(call: &mut Call<'_>) -> Result<(), Error> {
    let (expr, file) = parts(call.args, ".png");
    if expr.is_empty() {
        return Err(syntax("]img needs an expression").hint("]img 16 16⍴⍳256"));
    }
    let found = call.session.value_run(expr, call.sink)?;
    let found = found.ok_or_else(|| value("this gives no value"))?;
    let image = of(&found, &call.session.core().budget)?;
    let png = image.png().map_err(domain)?;
    if let Some(file) = file {
        return call.write(file, &png);
    }
    let columns = match call.columns {
        Some(columns) => columns,
        None => call.session.interp().pw(),
    };
    let bundle = aplomb_kernel::session::shown("image/png", &png, &image.text(columns))?;
    call.sink.event(Event::Display(bundle));
    Ok(())
}

fn of(a: &Array, budget: &Budget) -> Result<Image, Error> {
    let numbers = a.numbers_within(budget)?.filter(|_| !a.is_char() && !a.is_complex());
    let numbers = numbers.ok_or_else(|| domain("an image is made of real numbers"))?;
    Image::new(a.shape(), &numbers).map_err(domain)
}

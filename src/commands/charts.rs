//! `]plot ]img ]html ]view`: values as pictures and pages. `]plot` is `⎕PLOT` with its options as
//! flags, `]html` and `]view` are `⎕SHOW`.

use super::{Call, asked::asked};
use aplomb_charts::Image;
use aplomb_ground::error::{Error, domain, syntax, value};
use aplomb_ground::limits::Budget;
use aplomb_ground::protocol::{Event, HTML, PNG, SVG, TEXT};
use aplomb_values::array::Array;

/// The reading of a flag of `]plot`.
#[derive(Clone, Copy)]
enum Reads {
    /// A text.
    Text,
    /// Texts, with commas between.
    Texts,
    /// Whole numbers, with `x` or a comma between.
    Numbers,
    /// An expression.
    Value,
}

/// Flags of `]plot`, and the options of `⎕PLOT` that they are.
const FLAGS: &[(&str, &str, Reads)] = &[
    ("kind=", "Kind", Reads::Text),
    ("title=", "Title", Reads::Text),
    ("log=", "Log", Reads::Text),
    ("names=", "Names", Reads::Texts),
    ("axes=", "Axes", Reads::Texts),
    ("size=", "Size", Reads::Numbers),
    ("theme=", "Theme", Reads::Text),
    ("x=", "X", Reads::Value),
];

/// An expression, and the file that a last word names by its end.
fn parts<'a>(args: &'a str, ends: &[&str]) -> (&'a str, Option<&'a str>) {
    let is_file = |word: &&str| ends.iter().any(|end| word.ends_with(end));
    let last = args.split_whitespace().next_back().filter(is_file);
    let expr = last.map_or(args, |file| args[..args.len() - file.len()].trim());
    (expr, last)
}

pub fn plot(call: &mut Call<'_>) -> Result<(), Error> {
    let known: Vec<&'static str> = FLAGS.iter().map(|f| f.0).collect();
    let asked = asked(call.args, &known);
    let (expr, file) = parts(asked.expr.map_or("", |e| e), &[".svg", ".png"]);
    if expr.is_empty() {
        return Err(syntax("]plot needs an expression").hint("]plot -kind=bars 3 1 2"));
    }
    let mut options = Vec::new();
    for (flag, name, reads) in FLAGS {
        if let Some(text) = asked.value(flag.trim_end_matches('=')) {
            options.push((*name, read(call, flag, text, *reads)?));
        }
    }
    call.session.apply_run("PLOT", &options, file, expr, call.sink).map(|_| ())
}

/// A flag's text as the value of its option. Errors: SYNTAX; of the expression, what it gives.
fn read(call: &mut Call<'_>, flag: &str, text: &str, reads: Reads) -> Result<Array, Error> {
    let budget = call.session.core().budget.clone();
    match reads {
        Reads::Text => Array::text(text, &budget),
        Reads::Texts => {
            let items: Result<Vec<Array>, Error> =
                text.split(',').map(|item| Array::text(item.trim(), &budget)).collect();
            let items = items?;
            Ok(Array::items([items.len()].as_slice(), items, None))
        }
        Reads::Numbers => {
            let wrong = || syntax(format!("-{flag} takes numbers, as -{flag}640x400"));
            let read = |part: &str| part.trim().parse::<f64>().map_err(|_| wrong());
            let numbers: Vec<f64> = text.split([',', 'x']).map(read).collect::<Result<_, _>>()?;
            Array::numbers([numbers.len()].as_slice(), numbers, &budget)
        }
        Reads::Value => {
            let found = call.session.value_run(text, call.sink)?;
            found.ok_or_else(|| value(format!("-{flag}{text} gives no value")))
        }
    }
}

pub fn img(call: &mut Call<'_>) -> Result<(), Error> {
    let (expr, file) = parts(call.args, &[".png"]);
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
    let text = match call.session.core().coloured {
        true => image.coloured(columns),
        false => image.text(columns),
    };
    let bundle = aplomb_kernel::session::shown(PNG, &png, &text)?;
    call.sink.event(Event::Display(bundle));
    Ok(())
}

fn of(a: &Array, budget: &Budget) -> Result<Image, Error> {
    Image::extents(a.shape()).map_err(domain)?;
    let numbers = a.to_numbers(budget)?.filter(|_| !a.is_char() && !a.is_complex());
    let numbers = numbers.ok_or_else(|| domain("an image is made of real numbers"))?;
    Image::new(a.shape(), &numbers).map_err(domain)
}

/// `]html EXPR`; the lines below `%%html` are the page itself.
pub fn html(call: &mut Call<'_>) -> Result<(), Error> {
    if call.shows {
        let bundle = aplomb_kernel::session::page(HTML, call.args.as_bytes())?;
        call.sink.event(Event::Display(bundle));
        return Ok(());
    }
    let Some(expr) = call.expr() else {
        return Err(syntax("]html needs an expression").hint("]html '<b>3</b>'"));
    };
    call.session.apply_run("SHOW", &[], Some(HTML), &expr, call.sink).map(|_| ())
}

/// `]view EXPR`: by what the value is.
pub fn view(call: &mut Call<'_>) -> Result<(), Error> {
    let Some(expr) = call.expr() else {
        return Err(syntax("]view needs an expression").hint("]view 2 2⍴⍳4"));
    };
    let found = call.session.value_run(&expr, call.sink)?;
    let found = found.ok_or_else(|| value("this gives no value"))?;
    let budget = call.session.core().budget.clone();
    let lines =
        || found.in_turn().map(|l| l.to_text(&budget)).collect::<Result<Option<Vec<_>>, _>>();
    let text = match found.is_simple() {
        true => found.to_text(&budget)?,
        false => lines()?.map(|lines| lines.join("\n")),
    };
    let begins = |with: &str| text.as_deref().is_some_and(|t| t.trim_start().starts_with(with));
    let kind = match () {
        () if begins("<svg") || begins("<?xml") => SVG,
        () if begins("<") => HTML,
        () => TEXT,
    };
    match text.filter(|_| kind != TEXT) {
        Some(text) => {
            let bundle = aplomb_kernel::session::page(kind, text.as_bytes())?;
            call.sink.event(Event::Display(bundle));
        }
        None => call.session.show_value(&found, call.sink)?,
    }
    Ok(())
}

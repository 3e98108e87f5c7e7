//! ⎕CSV: tables of text and numbers, from files and text, and back.

mod records;

use super::files::{path, read_text, taken};
use super::{Args, Row, misused, optional, text_matrix, text_vector, texts};
use crate::eval::cx::Cx;
use crate::eval::run::Eval;
use aplomb_ground::error::{Error, Result, domain, length, nonce};
use aplomb_ground::limits::{Budget, Charge};
use aplomb_values::array::{Array, Data};
use records::{Form, Pass, Record, Way, cut, records};

pub static ROWS: &[Row] = &[optional(
    "CSV",
    "Reads a table: path, '', column types (0 left out, 1 text, 2 number, 3 number or fill, 4 \
     either, 5 number or empty), 1 for a \
header row; text with 'S', lines with 'N'. X⎕CSV path writes, X⎕CSV'' gives the text.",
    ("⎕CSV('a,1',(⎕UCS 10),'b,2')'S'(1 2)", " a  1\n b  2"),
    &[
        "Invert",
        "Separator",
        "Decimal",
        "Thousands",
        "Fill",
        "QuoteChar",
        "EscapeChar",
        "DoubleQuote",
        "Trim",
        "Ragged",
        "Records",
        "Widths",
        "IfExists",
        "Overwrite",
        "LineEnding",
        "ForceQuotes",
    ],
    csv,
)];

fn csv(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let widths = match a.options.get("Widths").filter(|w| !w.is_empty()) {
        None => Vec::new(),
        Some(w) => {
            let width = |k: i64| usize::try_from(k).ok().filter(|k| *k > 0);
            let all = ev.cx.integers(w, "a width of a column")?.into_iter().map(width);
            let all: Option<Vec<usize>> = all.collect();
            all.ok_or_else(|| domain("a column is at least 1 wide"))?
        }
    };
    let form = Form {
        separator: a
            .options
            .character("Separator", Some(','))?
            .ok_or_else(|| domain("fields need a separator"))?,
        quote: a.options.character("QuoteChar", Some('"'))?,
        escape: a.options.character("EscapeChar", None)?,
        double: a.options.flag("DoubleQuote", true)?,
        trim: a.options.flag("Trim", true)?,
        decimal: a.options.character("Decimal", Some('.'))?.unwrap_or('.'),
        thousands: a.options.character("Thousands", None)?,
        widths,
    };
    let marks = [Some(form.separator), form.quote, form.escape];
    if (0..3).any(|k| marks[k].is_some() && marks[k + 1..].contains(&marks[k])) {
        return Err(domain("separator, quote and escape must be different characters"));
    }
    match a.x {
        None => read(ev, a, &form).map(Some),
        Some(x) => write(ev, a, x, &form),
    }
}

/// A field as a number: as other programs write it, or with APL's high minus.
fn number(field: &str, form: &Form) -> Option<f64> {
    let mut text = field.trim().replace('¯', "-");
    if let Some(t) = form.thousands {
        text = text.replace(t, "");
    }
    if form.decimal != '.' {
        text = text.replace(form.decimal, ".");
    }
    let looks = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    text.parse().ok().filter(|x: &f64| looks && x.is_finite() || is_special(&text))
}

/// True of the words that files of numbers hold beside numbers.
fn is_special(text: &str) -> bool {
    let word = text.strip_prefix(['-', '+']).unwrap_or(text);
    ["nan", "inf", "infinity"].iter().any(|w| word.eq_ignore_ascii_case(w))
}

/// A table that is read: its name in errors, its form, its text and the way of that.
struct Source<'a> {
    name: &'a str,
    form: &'a Form,
    text: &'a str,
    way: &'a Way,
}

enum Column {
    Numbers(Vec<f64>),
    Items(Vec<Array>),
}

fn read(ev: &mut Eval<'_>, a: &Args<'_>, form: &Form) -> Result<Array> {
    let args = match a.y.is_simple() {
        true => vec![a.y.clone()],
        false => a.y.in_turn().take(5).collect(),
    };
    if args.is_empty() || args.len() > 4 || a.y.rank() > 1 {
        return Err(misused("CSV", "a source, '', column types and 1 for a header row"));
    }
    let kind = args
        .get(1)
        .map(|d| d.word().ok_or_else(|| domain("⎕CSV's second word is text")))
        .transpose()?;
    let (name, text) = match kind.as_deref() {
        Some("S") => ("the text".to_string(), lines_of(&args[0], ev.cx.budget())?),
        None | Some("" | "N") if !args[0].is_simple() => {
            ("the lines".into(), lines_of(&args[0], ev.cx.budget())?)
        }
        Some("N") => ("the lines".into(), lines_of(&args[0], ev.cx.budget())?),
        None | Some("" | "UTF-8" | "ASCII") => {
            let name = path(&args[0])?;
            let text = read_text(&mut ev.cx, &name)?.0;
            (name, text)
        }
        Some(other) => return Err(nonce(format!("⎕CSV from a source of kind '{other}'"))),
    };
    // Columns take about as much as the text.
    let _charge = ev.cx.budget().charge(2 * text.len() as u64)?;
    let header = match args.get(3) {
        Some(h) => match ev.cx.one_integer(h, "the header flag")? {
            k @ (0 | 1) => k == 1,
            _ => return Err(domain("the header flag is 0 or 1")),
        },
        None => false,
    };
    let types = match args.get(2) {
        Some(t) => ev.cx.integers(t, "a column type")?,
        None => Vec::new(),
    };
    if types.iter().any(|t| !(0..=5).contains(t)) {
        return Err(domain(
            "a column type is 0 left out, 1 text, 2 number, 3 number or fill, 4 either, 5 number \
             or empty",
        ));
    }
    let most = usize::try_from(a.options.whole("Records", 0)?)
        .map_err(|_| domain("option 'Records' is a count"))?;
    let most = if most > 0 { most + usize::from(header) } else { 0 };
    let way = Way::of(&text, ev.cx.budget());
    let from = Source { name: &name, form, text: &text, way: &way };
    let (found, _held) = all_records(&ev.cx, &from, most).map_err(|e| of_file(&name, e))?;
    table(ev, a, &from, found, types, header)
}

/// Records by separators, or by the widths of their fields.
fn all_records(cx: &Cx<'_>, from: &Source<'_>, most: usize) -> Result<(Vec<Record>, Vec<Charge>)> {
    let read = if from.form.widths.is_empty() { records } else { cut };
    read(cx, (from.text, from.way), from.form, most)
}

/// The file before what was wrong in it.
fn of_file(name: &str, e: Error) -> Error {
    Error::new(e.kind(), format!("{name}: {}", e.parts().says))
}

fn table(
    ev: &mut Eval<'_>,
    a: &Args<'_>,
    from: &Source<'_>,
    mut found: Vec<Record>,
    types: Vec<i64>,
    header: bool,
) -> Result<Array> {
    let name = from.name;
    let ragged = a.options.flag("Ragged", false)?;
    let columns = match found.first() {
        _ if ragged && types.len() > 1 => types.len(),
        Some((_, first)) => first.len(),
        None => types.len(),
    };
    let types = match types.as_slice() {
        [] => vec![1; columns],
        [one] => vec![*one; columns],
        all if all.len() == columns => types,
        all => {
            let says = format!(
                "{name}: {} column types were given, the table has {columns} columns",
                all.len()
            );
            return Err(length(says));
        }
    };
    for (line, fields) in &mut found {
        if ragged {
            fields.resize(columns, String::new());
        }
        if fields.len() != columns {
            return Err(domain(format!(
                "{name}: line {line}: {columns} fields were expected, {} found",
                fields.len()
            )));
        }
    }
    if header && found.is_empty() {
        return Err(domain(format!("{name}: a header row was expected, nothing is there")));
    }
    let names = if header { found.remove(0).1 } else { Vec::new() };
    let fill = match a.options.get("Fill") {
        Some(f) => f.number_scalar().ok_or_else(|| domain("option 'Fill' is a number"))?,
        None => 0.0,
    };
    let invert = a.options.whole("Invert", 0)?;
    let mut all = Vec::with_capacity(columns);
    for (k, kind) in types.iter().enumerate().filter(|(_, t)| **t != 0) {
        if *kind == 4 && invert == 1 {
            return Err(domain("column type 4 has no matrix of characters (⍠'Invert' 1)"));
        }
        all.push(column(ev, from, &found, k, *kind, fill)?);
    }
    let data = match invert {
        0 => matrix(&ev.cx, all, found.len(), from.way)?,
        1 | 2 => inverted(&ev.cx, all, invert == 1)?,
        _ => return Err(domain("option 'Invert' is 0, 1 or 2")),
    };
    if !header {
        return Ok(data);
    }
    let kept: Vec<String> =
        names.into_iter().zip(&types).filter(|(_, t)| **t != 0).map(|(n, _)| n).collect();
    let names = text_vector(&ev.cx, &kept)?;
    ev.cx.collect(&[2], vec![data, names], None)
}

fn column(
    ev: &mut Eval<'_>,
    from: &Source<'_>,
    found: &[Record],
    k: usize,
    kind: i64,
    fill: f64,
) -> Result<Column> {
    let Source { name, form, way, .. } = from;
    let columns = found.first().map_or(1, |first| first.1.len());
    let mut ticks = ev.cx.budget().ticks();
    let mut tick = |row: usize| {
        let part = k as f64 + row as f64 / found.len() as f64;
        way.tell(Pass::Column, part / columns as f64);
        ticks.tick()
    };
    if kind == 1 || kind == 4 {
        let one = |(row, (_, fields)): (usize, &Record)| {
            tick(row)?;
            match number(&fields[k], form) {
                Some(x) if kind == 4 => Ok(Array::num(x)),
                _ => ev.cx.text(&fields[k]),
            }
        };
        return ev.cx.budget().all(found.iter().enumerate().map(one)).map(Column::Items);
    }
    let mut out = ev.cx.budget().room(found.len())?;
    for (row, (line, fields)) in found.iter().enumerate() {
        tick(row)?;
        let field = fields[k].trim();
        out.push(match number(field, form) {
            Some(x) => x,
            None if kind == 3 || kind == 5 && field.is_empty() => fill,
            None => {
                let mut short: String = field.chars().take(24).collect();
                if short.len() < field.len() {
                    short.push('…');
                }
                let says = format!(
                    "{name}: line {line}, column {}: a number was expected, '{short}' is there",
                    k + 1
                );
                return Err(domain(says));
            }
        });
    }
    Ok(Column::Numbers(out))
}

fn matrix(cx: &Cx<'_>, columns: Vec<Column>, rows: usize, way: &Way) -> Result<Array> {
    let shape = [rows, columns.len()];
    let numeric: Option<Vec<&Vec<f64>>> =
        columns.iter().map(|c| if let Column::Numbers(v) = c { Some(v) } else { None }).collect();
    if let Some(all) = numeric.filter(|all| !all.is_empty()) {
        let mut out = cx.budget().room(rows.saturating_mul(all.len()))?;
        (0..rows).for_each(|r| all.iter().for_each(|c| out.push(c[r])));
        return Array::numbers(shape.as_slice(), out, cx.budget());
    }
    let mut out = cx.budget().room(rows.saturating_mul(columns.len()))?;
    let _held =
        cx.budget().charge_elements(rows.saturating_mul(columns.len()), size_of::<Array>())?;
    let mut ticks = cx.budget().ticks();
    for r in 0..rows {
        ticks.tick()?;
        way.tell(Pass::Laid, r as f64 / rows as f64);
        for c in &columns {
            out.push(match c {
                Column::Numbers(v) => Array::num(v[r]),
                Column::Items(v) => v[r].clone(),
            });
        }
    }
    let proto = if out.is_empty() { Some(cx.text("")?) } else { None };
    Ok(Array::items(shape.as_slice(), out, proto))
}

fn inverted(cx: &Cx<'_>, columns: Vec<Column>, matrices: bool) -> Result<Array> {
    let one = |c: Column| match c {
        Column::Numbers(v) => cx.vector(v),
        Column::Items(v) if matrices => {
            let texts = cx.budget().all(v.iter().map(|a| a.ready_text(cx.budget())))?;
            text_matrix(cx, &texts)
        }
        Column::Items(v) => Ok(Array::items([v.len()].as_slice(), v, Some(cx.text("")?))),
    };
    let all = columns.into_iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok(Array::items([all.len()].as_slice(), all, Some(cx.text("")?)))
}

/// Texts as the lines of one.
fn lines_of(a: &Array, budget: &Budget) -> Result<String> {
    budget.joined(&texts(a, "a table", budget)?, "\n")
}

/// Columns of cells as they are to be written.
fn cells(x: &Array, budget: &Budget) -> Result<Vec<Vec<Array>>> {
    if let &[rows, columns] = x.shape() {
        let mut items = x.to_items(budget)?.into_iter();
        return budget.each((0..rows).map(|_| items.by_ref().take(columns).collect()));
    }
    let columns: Vec<Vec<Array>> = x
        .in_turn()
        .map(|c| match c.shape() {
            &[n, width] if c.is_char() => {
                let chars = c.ready_chars(budget)?;
                let row = |r: usize| {
                    let text: String = chars[r * width..(r + 1) * width].iter().collect();
                    Array::text(text.trim_end(), budget)
                };
                budget.all((0..n).map(row))
            }
            [_] => c.to_items(budget),
            _ => Err(domain("a column is a vector, or a matrix of characters")),
        })
        .collect::<Result<_>>()?;
    let rows = columns.first().map_or(0, Vec::len);
    if columns.iter().any(|c| c.len() != rows) {
        return Err(length("the columns of a table differ in length"));
    }
    budget.each((0..rows).map(|r| columns.iter().map(|c| c[r].clone()).collect()))
}

fn written(cell: &Array, form: &Form, force: i64, budget: &Budget) -> Result<String> {
    let cell = if cell.rank() == 0 { cell.disclosed() } else { cell.clone() };
    if let Some(x) = cell.number_scalar() {
        let text = super::json::number(x);
        let text =
            if form.decimal == '.' { text } else { text.replace('.', &form.decimal.to_string()) };
        return quoted(&text, form, force == 2);
    }
    let text = cell.to_text(budget)?.filter(|_| cell.is_char() || cell.is_empty());
    let text = text.ok_or_else(|| domain("a table's cells are numbers and texts"))?;
    let text = if form.trim { text.trim().to_string() } else { text };
    quoted(&text, form, force >= 1)
}

fn quoted(text: &str, form: &Form, force: bool) -> Result<String> {
    let special = |c: char| {
        c == form.separator
            || Some(c) == form.quote
            || Some(c) == form.escape
            || matches!(c, '\n' | '\r')
    };
    if !force && !text.contains(special) && text.trim() == text {
        return Ok(text.into());
    }
    match (form.quote, form.escape) {
        (Some(q), _) if form.double || !text.contains(q) => {
            Ok(format!("{q}{}{q}", text.replace(q, &format!("{q}{q}"))))
        }
        (_, Some(e)) => {
            Ok(text.chars().flat_map(|c| special(c).then_some(e).into_iter().chain([c])).collect())
        }
        _ => {
            Err(domain("a field holds a mark of the table, and there is no quote or escape for it"))
        }
    }
}

fn write(ev: &mut Eval<'_>, a: &Args<'_>, x: &Array, form: &Form) -> Result<Option<Array>> {
    let end = match a.options.get("LineEnding") {
        None => "\n".to_string(),
        Some(codes) => {
            let codes = ev.cx.integers(codes, "a line ending")?;
            let one = |k: i64| u32::try_from(k).ok().and_then(char::from_u32);
            codes
                .into_iter()
                .map(one)
                .collect::<Option<String>>()
                .ok_or_else(|| domain("a line ending is code points"))?
        }
    };
    let force = a.options.whole("ForceQuotes", 0)?;
    // Data and header, or data alone.
    let (data, names) = match x.few() {
        Some([data, names])
            if x.rank() == 1 && data.rank() == 2 && !data.is_char() && is_names(&names) =>
        {
            (data, texts(&names, "a header", ev.cx.budget())?)
        }
        _ => (x.clone(), Vec::new()),
    };
    let mut out = String::new();
    if !names.is_empty() {
        let fields =
            names.iter().map(|n| quoted(n, form, force >= 1)).collect::<Result<Vec<_>>>()?;
        out += &line(fields, form)?;
        out += &end;
    }
    let rows = cells(&data, ev.cx.budget())?;
    let way = ev.cx.host.interrupt().rounds(rows.len() as u64);
    for (r, row) in rows.iter().enumerate() {
        if r.is_multiple_of(4_096) {
            ev.cx.host.interrupt().check()?;
            way.done(r as u64);
        }
        let fields = row.iter().map(|c| written(c, form, force, ev.cx.budget()));
        let mut fields = fields.collect::<Result<Vec<_>>>()?;
        // A row of one empty field is no blank line, which readers skip.
        if let ([only], Some(quote)) = (&mut fields[..], form.quote)
            && only.is_empty()
        {
            *only = [quote, quote].iter().collect();
        }
        out += &line(fields, form)?.replace('\n', &end);
        out += &end;
    }
    drop(way);
    let to = match a.y.is_simple() {
        true => vec![a.y.clone()],
        false => a.y.in_turn().take(3).collect(),
    };
    let Some(name) = to.first().filter(|n| !n.is_empty()) else {
        return match to.get(1).and_then(Array::word).as_deref() {
            Some("N") => text_vector(&ev.cx, &super::files::lines(&out)).map(Some),
            _ => ev.cx.text(&out).map(Some),
        };
    };
    let name = path(name)?;
    let replace = a.options.word("IfExists", &["Error", "Replace"])? == "Replace"
        || a.options.flag("Overwrite", false)?;
    if !replace && ev.cx.world("a file")?.exists(&name) {
        return Err(taken(&name, "X(⎕CSV⍠'IfExists' 'Replace')path replaces it"));
    }
    ev.cx.world("a file")?.write_file(&name, out.as_bytes())?;
    ev.shy(Array::num(out.len() as f64))
}

/// Fields as a line: with separators, or each as wide as its column. Errors: LENGTH for fewer or
/// more fields than columns, DOMAIN for one that is wider.
fn line(fields: Vec<String>, form: &Form) -> Result<String> {
    if form.widths.is_empty() {
        return Ok(fields.join(&form.separator.to_string()));
    }
    if fields.len() != form.widths.len() {
        return Err(length(format!("{} fields for {} widths", fields.len(), form.widths.len())));
    }
    let mut out = String::new();
    for (field, &width) in fields.iter().zip(&form.widths) {
        if field.chars().count() > width {
            return Err(domain(format!("'{field}' is wider than its column, {width}")));
        }
        out += &format!("{field:width$}");
    }
    Ok(out)
}

fn is_names(a: &Array) -> bool {
    a.rank() == 1
        && matches!(a.data(), Data::Items(i) if i.iter().all(|t| t.is_char() && t.rank() < 2))
}

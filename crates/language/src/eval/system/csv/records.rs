//! Text to records: separators, quotes, escapes, line ends.

use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, domain};
use aplomb_ground::limits::{Budget, Charge, Rounds};
use std::iter::Peekable;
use std::str::CharIndices;

/// The meaning of the characters of a table.
pub struct Form {
    pub separator: char,
    pub quote: Option<char>,
    pub escape: Option<char>,
    pub double: bool,
    pub trim: bool,
    pub decimal: char,
    pub thousands: Option<char>,
    /// The widths of fields; none where a separator ends them.
    pub widths: Vec<usize>,
}

/// The way of a table's bytes, each of which is passed thrice: cut into fields, made an item of its
/// column, laid where it belongs.
pub struct Way {
    rounds: Rounds,
    long: u64,
}

/// A pass over a table.
#[derive(Clone, Copy)]
pub enum Pass {
    Cut,
    Column,
    Laid,
}

impl Way {
    pub fn of(text: &str, budget: &Budget) -> Way {
        let long = text.len() as u64;
        Way { rounds: budget.bytes(long), long }
    }

    /// A part of a pass is over.
    pub fn tell(&self, pass: Pass, part: f64) {
        let parts = pass as usize as f64 + part;
        self.rounds.done((self.long as f64 * parts / 3.0) as u64);
    }
}

/// A record: the line it begins on, its fields.
pub type Record = (usize, Vec<String>);

/// Bytes that a field takes beside its text.
const FIELD: u64 = 48;
/// Records whose fields are asked of the budget together.
const HELD: usize = 4_096;

/// Records of fields of fixed widths, a line each; the last field has what is left. `way`: of the
/// text.
pub fn cut(
    cx: &Cx<'_>,
    (text, way): (&str, &Way),
    form: &Form,
    most: usize,
) -> Result<(Vec<Record>, Vec<Charge>)> {
    let mut out: Vec<Record> = Vec::new();
    let each = FIELD * form.widths.len() as u64;
    let mut held = vec![cx.budget().charge(text.len() as u64)?];
    for (k, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        cx.host.interrupt().check()?;
        let mut chars = line.chars();
        let field = |width: &usize| -> String { chars.by_ref().take(*width).collect() };
        let fields: Vec<String> = form.widths.iter().map(field).collect();
        let fields = fields.into_iter().map(|f| if form.trim { f.trim().into() } else { f });
        out.push((k + 1, fields.collect()));
        if out.len().is_multiple_of(HELD) {
            held.push(cx.budget().charge(each * HELD as u64)?);
            let at = line.as_ptr() as usize - text.as_ptr() as usize;
            way.tell(Pass::Cut, at as f64 / text.len() as f64);
        }
        if most > 0 && out.len() >= most {
            break;
        }
    }
    Ok((out, held))
}

/// Whether a character is next.
fn is_next(chars: &mut Peekable<CharIndices<'_>>, c: char) -> bool {
    chars.peek().is_some_and(|next| next.1 == c)
}

/// The character behind an escape; at the end of the text the escape itself.
fn escaped(chars: &mut Peekable<CharIndices<'_>>, escape: char) -> char {
    chars.next().map_or(escape, |next| next.1)
}

/// Records of a text, and their hold on the budget. `way`: of it. Errors: DOMAIN for a quote
/// that is never closed, with its line.
pub fn records(
    cx: &Cx<'_>,
    (text, way): (&str, &Way),
    form: &Form,
    most: usize,
) -> Result<(Vec<Record>, Vec<Charge>)> {
    let mut out: Vec<Record> = Vec::new();
    let mut held = Vec::new();
    let mut chars = text.char_indices().peekable();
    let (mut line, mut begun) = (1, 1);
    let mut fields: Vec<String> = Vec::new();
    let mut field = Field::default();
    let mut any = false;
    while let Some((at, c)) = chars.next() {
        if c == '\n' || c == '\r' {
            if c == '\r' && is_next(&mut chars, '\n') {
                chars.next();
            }
            line += 1;
            if any {
                fields.push(field.take(form));
                out.push((begun, std::mem::take(&mut fields)));
                if out.len().is_multiple_of(HELD) {
                    cx.host.interrupt().check()?;
                    way.tell(Pass::Cut, at as f64 / text.len() as f64);
                    let fields: usize = out[out.len() - HELD..].iter().map(|r| r.1.len()).sum();
                    held.push(cx.budget().charge(fields as u64 * FIELD)?);
                }
                if most > 0 && out.len() >= most {
                    return Ok((out, held));
                }
            }
            any = false;
            begun = line;
            continue;
        }
        any = true;
        if c == form.separator {
            fields.push(field.take(form));
        } else if form.escape == Some(c) {
            field.push_literal(escaped(&mut chars, c));
        } else if form.quote == Some(c) && field.is_blank() {
            let opened = line;
            field.open();
            loop {
                let Some((_, c)) = chars.next() else {
                    return Err(domain(format!(
                        "line {opened}: a quote is opened here and never closed"
                    )));
                };
                match c {
                    c if form.escape == Some(c) => field.push_literal(escaped(&mut chars, c)),
                    c if form.quote == Some(c) && form.double && is_next(&mut chars, c) => {
                        chars.next();
                        field.push_literal(c);
                    }
                    c if form.quote == Some(c) => break,
                    '\r' if is_next(&mut chars, '\n') => {}
                    c => {
                        line += usize::from(c == '\n');
                        field.push_literal(c);
                    }
                }
            }
        } else {
            field.push(c);
        }
    }
    if any {
        fields.push(field.take(form));
        out.push((begun, fields));
    }
    Ok((out, held))
}

/// A field while it is read: blanks outside quotes are cut at either end, if the form says so.
#[derive(Default)]
struct Field {
    text: String,
    /// Characters up to here stay: they were quoted or escaped.
    kept: usize,
    /// The place where the kept part begins.
    from: Option<usize>,
}

impl Field {
    fn is_blank(&self) -> bool {
        self.from.is_none() && self.text.chars().all(char::is_whitespace)
    }

    fn open(&mut self) {
        self.from.get_or_insert(self.text.len());
        self.kept = self.text.len();
    }

    fn push(&mut self, c: char) {
        self.text.push(c);
    }

    fn push_literal(&mut self, c: char) {
        self.from.get_or_insert(self.text.len());
        self.text.push(c);
        self.kept = self.text.len();
    }

    fn take(&mut self, form: &Form) -> String {
        let Field { text, kept, from } = std::mem::take(self);
        if !form.trim {
            return text;
        }
        let Some(from) = from else { return text.trim().to_string() };
        let head = text[..from].trim_start();
        format!("{head}{}{}", &text[from..kept], text[kept..].trim_end())
    }
}

//! ⎕FMT: an array as a matrix of characters; with a specification, columns as it says.
//!
//! `spec` reads the specification into phrases; here columns meet phrases and rows are written.

mod field;
mod spec;

use super::{Args, Row, function, text_matrix};
use crate::eval::cx::Cx;
use crate::eval::run::Eval;
use aplomb_ground::error::{Error, Kind, Result, domain};
use aplomb_ground::limits::Charge;
use aplomb_values::array::{Array, format};
use spec::{Data, Phrase};

pub static ROWS: &[Row] = &[function(
    "FMT",
    "Y as a matrix of characters. X⎕FMT Y by phrases: I5 integers, F8.2 decimals, E10.3, A3 text, \
     G<99/99> patterns, X2 and T9 \
places, <text>; B blank zeros, C commas, Z zeros, L left, K2 scale, M< > N< > P< > Q< > round the \
sign, O0<none>, S<.,> signs.",
    ("'I3,F6.2'⎕FMT(1 2)(3.5 4.25)", "  1  3.50\n  2  4.25"),
    fmt,
)];

fn fmt(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let Some(x) = a.x else {
        let rows = match a.y.to_text(ev.cx.budget())?.filter(|_| a.y.is_char() && a.y.rank() < 2) {
            Some(text) => ev.cx.budget().each(text.split(['\n', '\r']).map(String::from))?,
            None => format::grid(a.y, ev.cx.sys.settings.pp, ev.cx.budget())?,
        };
        return text_matrix(&ev.cx, &rows).map(Some);
    };
    let text = x.word().filter(|_| x.is_char()).ok_or_else(|| domain("a format is text"))?;
    let phrases = spec::parse(&text)?;
    let columns = columns(&mut ev.cx, a.y)?;
    let rows = columns.iter().map(Column::len).max().unwrap_or(0);
    let rows = ev.cx.budget().filled(Vec::new(), rows)?;
    let mut page = Page { rows, at: 0, width: 0, held: Vec::new() };
    let mut waiting = columns.iter().peekable();
    let mut k = 0;
    let mut given = false;
    while let Some(phrase) = phrases.get(k) {
        match phrase {
            Phrase::Data { data, last } => {
                let Some(column) = waiting.next() else { break };
                given = true;
                ev.cx.host.interrupt().check()?;
                page.put(&ev.cx, data.width, |r| column.field(r, data, ev.cx.sys.settings.ct))?;
                // A text behind a closing parenthesis' last column is not used again.
                if *last && waiting.peek().is_none() {
                    break;
                }
            }
            Phrase::Text(text) => {
                let text: Vec<char> = text.chars().collect();
                page.put(&ev.cx, text.len(), |_| Ok(Some(text.clone())))?;
            }
            Phrase::To(0) => page.at = page.width,
            Phrase::To(n) => page.at = n - 1,
            Phrase::By(n) => {
                let at = (page.at as i64).saturating_add(*n);
                page.at = usize::try_from(at).map_err(|_| failed("X goes left of the margin"))?;
                if page.at > spec::WIDEST {
                    return Err(failed("a row is wider than ⎕FMT makes"));
                }
            }
        }
        k += 1;
        if k == phrases.len() && waiting.peek().is_some() {
            if !given {
                return Err(failed("no phrase of the format takes data"));
            }
            k = 0;
        }
    }
    let rows: Vec<String> =
        ev.cx.budget().each(page.rows.into_iter().map(|r| r.into_iter().collect()))?;
    text_matrix(&ev.cx, &rows).map(Some)
}

pub fn failed(says: impl Into<String>) -> Error {
    Error::new(Kind::Format, says)
}

/// Rows under way, and where the next field goes.
struct Page {
    rows: Vec<Vec<char>>,
    at: usize,
    width: usize,
    held: Vec<Charge>,
}

impl Page {
    /// A field of each row over what stands there; a row without one keeps what it has.
    fn put(
        &mut self,
        cx: &Cx<'_>,
        width: usize,
        mut field: impl FnMut(usize) -> Result<Option<Vec<char>>>,
    ) -> Result<()> {
        let end = self.at + width;
        if end > spec::WIDEST {
            return Err(failed("a row is wider than ⎕FMT makes"));
        }
        if end > self.width {
            self.held.push(cx.budget().charge_elements(self.rows.len(), 4 * (end - self.width))?);
            self.width = end;
        }
        let mut ticks = cx.budget().ticks();
        for (r, row) in self.rows.iter_mut().enumerate() {
            ticks.tick()?;
            if row.len() < end {
                row.resize(end, ' ');
            }
            if let Some(text) = field(r)? {
                for (to, c) in row[self.at..end].iter_mut().zip(text) {
                    *to = c;
                }
            }
        }
        self.at = end;
        Ok(())
    }
}

enum Column {
    Numbers(Vec<f64>),
    Text(Vec<char>),
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Column::Numbers(v) => v.len(),
            Column::Text(v) => v.len(),
        }
    }

    /// Row r of the column; None below its end.
    fn field(&self, r: usize, data: &Data, ct: f64) -> Result<Option<Vec<char>>> {
        match self {
            Column::Numbers(v) => v.get(r).map(|x| field::number(*x, data, ct)).transpose(),
            Column::Text(v) => v.get(r).map(|c| field::character(*c, data)).transpose(),
        }
    }
}

/// The columns of simple arrays of at most two axes; a vector is a column.
fn columns(cx: &mut Cx<'_>, y: &Array) -> Result<Vec<Column>> {
    let parts = if y.is_simple() { vec![y.clone()] } else { y.to_items(cx.budget())? };
    if !y.is_simple() && y.rank() > 1 {
        return Err(aplomb_ground::error::rank("⎕FMT takes a vector of columns"));
    }
    let mut out = Vec::new();
    for part in parts {
        let part = cx.ready(&part.disclosed(), "⎕FMT")?;
        let (rows, columns) = match part.shape() {
            [] => (1, 1),
            &[n] => (n, 1),
            &[n, m] => (n, m),
            _ => return Err(aplomb_ground::error::rank("⎕FMT takes arrays of at most two axes")),
        };
        if let Some(chars) = part.to_chars(cx.budget())?.filter(|c| part.is_char() || !c.is_empty())
        {
            for c in 0..columns {
                let all = cx.budget().each((0..rows).map(|r| chars[r * columns + c]))?;
                out.push(Column::Text(all));
            }
        } else if let Some(numbers) = part.to_numbers(cx.budget())? {
            for c in 0..columns {
                let all = cx.budget().each((0..rows).map(|r| numbers[r * columns + c]))?;
                out.push(Column::Numbers(all));
            }
        } else {
            return Err(domain("a column of ⎕FMT is numbers or characters"));
        }
    }
    Ok(out)
}

//! An array as an HTML table, headed by its shape and dtype, for front ends that show one.
//!
//! In: a ready value and the style of its text. Out: elements and attributes only, which survive a
//! notebook's sanitiser; every text escaped. What is long loses its middle, as the text does.
//! Scalars and text have no table: nothing is gained over the plain form.
//!
//! Nesting can be seen, and read back: an item that is an array is a table in a frame, which a
//! title gives shape and dtype; characters stand in `code`, with all their blanks, numbers by
//! themselves.

use aplomb_values::array::format::{Style, complex, is_int, numeral, shape_text};
use aplomb_values::array::{Array, Data, elements};

/// Rows and columns before the middle is left out.
const ROWS: usize = 60;
const COLUMNS: usize = 40;
/// Cells of all the tables inside each other, and how deep they go; what is beyond stands as its
/// shape.
const CELLS: usize = 4_000;
const DEEPEST: usize = 6;
/// Of a table inside another.
const FRAME: &str = "text-align:right;border:1px solid gray;margin:2px";

/// None: a scalar or text.
pub fn html(value: &Array, style: &Style) -> Option<String> {
    let value = value.settled();
    if value.rank() == 0 && value.is_simple() || value.is_uniform() && value.is_char() {
        return None;
    }
    let mut page = Page { out: String::new(), style, cells: 0 };
    page.out = format!("<div><small>{}</small>", heading(&value));
    page.table(&value, 0);
    page.out.push_str("</div>");
    Some(page.out)
}

fn heading(a: &Array) -> String {
    format!("{} · {}", shape_text(a.shape()), kind(a))
}

fn kind(a: &Array) -> &'static str {
    match a.data() {
        Data::Items(_) if a.is_simple() => "mixed",
        _ => a.dtype().name(),
    }
}

struct Page<'a> {
    out: String,
    style: &'a Style,
    cells: usize,
}

/// Places that are shown of `n`: all, or the first and the last with a gap (None) between.
fn shown(n: usize, most: usize) -> Vec<Option<usize>> {
    if n <= most {
        return (0..n).map(Some).collect();
    }
    let half = (most / 2).max(1);
    (0..half).map(Some).chain([None]).chain((n - half..n).map(Some)).collect()
}

impl Page<'_> {
    fn table(&mut self, a: &Array, depth: usize) {
        if a.is_empty() {
            self.out.push_str(&match depth {
                0 => " <small>(empty)</small>".into(),
                _ => format!("<small title=\"{}\">(empty)</small>", heading(a)),
            });
            return;
        }
        let columns = a.shape().last().copied().unwrap_or(1);
        let rows = a.len() / columns.max(1);
        let most = if self.style.lines == 0 { ROWS } else { self.style.lines.clamp(2, ROWS) };
        let (down, across) = (shown(rows, most), shown(columns, COLUMNS));
        let whole: Vec<bool> =
            across.iter().map(|c| c.is_some_and(|c| is_whole(a, c, columns, &down))).collect();
        // An axis before the last two begins a plane, set apart by a thicker line.
        let plane = elements(
            a.shape().get(a.rank().saturating_sub(2)..a.rank().saturating_sub(1)).unwrap_or(&[]),
        );
        match depth {
            0 => self.out.push_str("<table style=\"text-align:right\">"),
            _ => self.out.push_str(&format!("<table title=\"{}\" style=\"{FRAME}\">", heading(a))),
        }
        for row in &down {
            let apart =
                row.is_some_and(|r| r > 0 && a.rank() > 2 && r.is_multiple_of(plane.max(1)));
            self.out.push_str(if apart {
                "<tr style=\"border-top:2px solid gray\">"
            } else {
                "<tr>"
            });
            for (column, whole) in across.iter().zip(&whole) {
                match (row, column) {
                    (Some(r), Some(c)) => self.cell(a, r * columns + c, *whole, depth),
                    (None, Some(_)) => self.out.push_str("<td>⋮</td>"),
                    (Some(_), None) => self.out.push_str("<td>…</td>"),
                    (None, None) => self.out.push_str("<td>⋱</td>"),
                }
            }
            self.out.push_str("</tr>");
        }
        self.out.push_str("</table>");
    }

    fn cell(&mut self, a: &Array, at: usize, whole: bool, depth: usize) {
        self.cells += 1;
        let pp = self.style.pp;
        self.out.push_str("<td>");
        match (a.complex_at(at), a.item(at)) {
            (Some(z), _) if z.im == 0.0 => self.out.push_str(&numeral(z.re, pp, whole)),
            (Some(z), _) => self.out.push_str(&complex(z, pp)),
            (None, item) => self.item(&item.settled(), depth),
        }
        self.out.push_str("</td>");
    }

    fn item(&mut self, item: &Array, depth: usize) {
        if let Some(z) = item.complex_scalar() {
            self.out.push_str(&complex(z, self.style.pp));
        } else if let Some(text) = written(item) {
            // A character by itself has no shape to tell.
            let title = if item.rank() == 0 {
                String::new()
            } else {
                format!(" title=\"{}\"", heading(item))
            };
            self.out.push_str(&format!(
                "<code{title} style=\"white-space:pre\">{}</code>",
                escaped(&text)
            ));
        } else if depth < DEEPEST && self.cells < CELLS {
            self.table(item, depth + 1);
        } else {
            self.out.push_str(&format!("<small>{}</small>", heading(item)));
        }
    }
}

/// Characters as they stand, the rows of a matrix as lines. None: these are no characters, none at
/// all, or too many.
fn written(item: &Array) -> Option<String> {
    let chars = item
        .to_chars()
        .filter(|_| item.is_char() && item.rank() < 3 && (1..=CELLS).contains(&item.len()))?;
    let width = item.shape().last().copied().unwrap_or(1);
    let rows: Vec<String> = chars.chunks(width.max(1)).map(|row| row.iter().collect()).collect();
    Some(rows.join("\n"))
}

/// Whether all shown numbers of a column are integers, which print in full.
fn is_whole(a: &Array, column: usize, columns: usize, rows: &[Option<usize>]) -> bool {
    let mut numbers = rows.iter().flatten().filter_map(|r| a.complex_at(r * columns + column));
    numbers.all(|z| z.im == 0.0 && is_int(z.re))
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_ground::limits::Budget;
    use aplomb_values::array::format::{Boxes, Long};

    const STYLE: Style = Style { pp: 10, pw: 79, lines: 200, boxes: Boxes::Off, long: Long::Fold };

    fn check(value: Array, wanted: &str) {
        assert_eq!(html(&value, &STYLE).unwrap_or_default(), wanted);
    }

    fn numbers(shape: &[usize], items: Vec<f64>) -> Array {
        Array::numbers(shape, items, &Budget::new(1 << 22)).expect("small")
    }

    #[test]
    fn a_matrix_has_shape_dtype_and_cells() {
        let start = "<div><small>2 2 · f64</small><table style=\"text-align:right\">";
        let rows = "<tr><td>1</td><td>2.5</td></tr><tr><td>¯3</td><td>0.5</td></tr></table></div>";
        check(numbers(&[2, 2], vec![1.0, 2.5, -3.0, 0.5]), &format!("{start}{rows}"));
    }

    #[test]
    fn text_inside_is_escaped_and_text_alone_has_no_table() {
        let budget = Budget::new(1 << 20);
        let text = Array::text("<b>&'\"", &budget).expect("small");
        check(text.clone(), "");
        check(Array::num(1.0), "");
        let pair = Array::items([2usize].as_slice(), vec![text, numbers(&[0], vec![])], None);
        let shown = html(&pair, &STYLE).expect("a table");
        assert!(
            shown.contains(">&lt;b&gt;&amp;&#39;&quot;</code></td>") && shown.contains("(empty)"),
            "{shown}"
        );
    }

    #[test]
    fn what_is_long_loses_its_middle() {
        let shown = html(&numbers(&[300, 300], (0..90_000).map(f64::from).collect()), &STYLE)
            .expect("a table");
        assert_eq!(shown.matches("<tr>").count(), ROWS + 1);
        assert_eq!(shown.matches("<td>").count(), (ROWS + 1) * (COLUMNS + 1));
        assert!(shown.contains("<td>89999</td>") && shown.contains("⋱"));
    }

    #[test]
    fn nesting_beyond_reason_stands_as_its_shape() {
        let mut deep = numbers(&[2], vec![1.0, 2.0]);
        for _ in 0..400 {
            deep = Array::items([2usize].as_slice(), vec![deep.clone(), deep], None);
        }
        assert!(html(&deep, &STYLE).expect("a table").len() < 1 << 20);
    }

    /// A value as it stands in Rust, and as it is read out of a page: `[2 · nested: 1 'ab']`.
    fn told(a: &Array) -> String {
        let item = |k| match a.item(k) {
            i if i.complex_scalar().is_some() => {
                numeral(i.number_scalar().unwrap_or(0.0), 10, false)
            }
            i if i.rank() == 0 && i.is_char() => written(&i).unwrap_or_default(),
            i => told(&i),
        };
        match written(a) {
            Some(text) => format!("[{}: {text}]", heading(a)),
            None if a.is_empty() => format!("[{}: ]", heading(a)),
            None => format!(
                "[{}: {}]",
                heading(a),
                (0..a.len()).map(item).collect::<Vec<_>>().join(",")
            ),
        }
    }

    fn read(page: &str) -> String {
        let mut out = String::new();
        // Whether an element has a title, and its cells so far.
        let mut open: Vec<(bool, usize)> = Vec::new();
        for piece in page.split('<').skip(1) {
            let (tag, text) = piece.split_once('>').expect("a tag's end");
            let title = tag.split("title=\"").nth(1).and_then(|t| t.split('"').next());
            match tag.split(' ').next() {
                Some("table" | "code" | "small") => {
                    out += &title.map_or(String::new(), |t| format!("[{t}: "));
                    open.push((title.is_some(), 0));
                }
                Some("/table" | "/code" | "/small") if open.pop().is_some_and(|o| o.0) => {
                    out.push(']')
                }
                Some("td") => {
                    let cells = &mut open.last_mut().expect("a table").1;
                    out += if *cells > 0 { "," } else { "" };
                    *cells += 1;
                }
                _ => {}
            }
            out += text;
        }
        out.replace("(empty)", "")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&#39;", "'")
            .replace("&amp;", "&")
    }

    #[test]
    fn the_structure_can_be_read_out_of_the_page() {
        let budget = Budget::new(1 << 20);
        let text = |t: &str| Array::text(t, &budget).expect("small");
        let nested = |items: Vec<Array>| Array::items([items.len()].as_slice(), items, None);
        let matrix =
            Array::chars([2usize, 2].as_slice(), "ab<d".chars().collect(), &budget).expect("small");
        let values = [
            nested(vec![
                numbers(&[2], vec![1.0, 2.0]),
                nested(vec![Array::num(3.0), numbers(&[2], vec![4.0, 5.0])]),
            ]),
            nested(vec![
                Array::num(1.0),
                Array::char('a'),
                Array::char('1'),
                text("1"),
                text("a  b "),
            ]),
            nested(vec![
                text("two\nlines"),
                matrix,
                numbers(&[0], vec![]),
                numbers(&[2, 2], vec![1.0, 2.0, 3.0, 4.0]),
            ]),
            nested(vec![
                nested(vec![text("Ann"), text("  x")]).enclosed().expect("an item"),
                Array::num(7.0),
            ]),
        ];
        for value in values {
            let page = html(&value, &STYLE).expect("a table");
            // The outermost is headed and has no frame.
            let told = told(&value);
            let wanted = told[1..told.len() - 1].replacen(": ", "", 1);
            assert_eq!(read(&page), wanted, "{page}");
        }
    }
}

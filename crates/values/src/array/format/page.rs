//! A value as HTML, for front ends that show it: what `]box` says of frames holds here too.
//!
//! In: a ready value and the style of its text. Out: elements and attributes only, which survive a
//! notebook's sanitiser; every text escaped; no colour that a dark page would swallow. What is long
//! loses its middle. Scalars, texts and rows of numbers have no page: as text they show all.
//!
//! Nesting can be seen, and read back: an item that is an array is a table in a frame, which a
//! title gives shape and dtype; characters stand in `code`, with all their blanks, numbers by
//! themselves. Over a cell the mouse reads its index.

use super::boxed::Boxes;
use super::fold::Style;
use super::layout::{self, Face, Kind, Layout};
use super::shape_text;
use crate::array::Array;
use aplomb_ground::error::count;

/// Looks as attributes: a sanitiser takes style sheets away.
const OUTER: &str =
    "font-family:monospace;white-space:pre;text-align:right;border-collapse:collapse";
const FRAME: &str = "border:1px solid gray";
const LEFT: &str = "text-align:left";
const TEXT: &str = "white-space:pre;font-family:monospace";

/// The HTML of a result. None: its text says it all, a failure to lay it out too.
pub fn page(value: &Array, style: &Style) -> Option<String> {
    let value = value.settled();
    if value.to_reference().is_some_and(|to| to.arrays().is_empty()) {
        return None;
    }
    let is_row = value.rank() < 2 && value.is_uniform();
    if !value.is_empty() && (is_row || value.is_uniform() && value.is_char()) {
        return None;
    }
    let laid = layout::on_page(&value, style.pp, style.lines).ok()?;
    let mut page = Page { out: String::new(), style };
    page.out = format!("<div class=\"aplomb\"><small>{}</small>", heading(&laid));
    match named(&laid) {
        Some((table, names)) => page.table(table, 0, &names),
        None => page.table(&laid, 0, &[]),
    }
    page.out.push_str("</div>");
    Some(page.out)
}

/// The same of what a program prints: `⎕←''` is an empty line.
pub fn printed(value: &Array, style: &Style) -> Option<String> {
    if value.is_empty() && value.is_char() && value.rank() == 1 { None } else { page(value, style) }
}

fn heading(of: &Layout) -> String {
    let shape = shape_text(&of.shape);
    match of.kind {
        _ if of.is_space() => format!("{} · {}", of.dtype, count(of.names.len(), "name")),
        // The narrowest storage of no numbers tells nothing.
        Kind::Numbers if of.is_empty() => format!("{shape} · numbers (empty)"),
        _ if of.is_empty() => format!("{shape} · {} (empty)", of.dtype),
        _ => format!("{shape} · {}", of.dtype),
    }
}

/// A table and a name for each of its columns, as `⎕CSV` gives them: the names stand above it.
fn named(of: &Layout) -> Option<(&Layout, Vec<&str>)> {
    let Face::Items(items) = &of.face else { return None };
    let [table, names] = items.as_slice() else { return None };
    let Face::Items(texts) = &names.face else { return None };
    let fits = table.shape.len() == 2 && names.shape == table.shape[1..];
    let texts: Option<Vec<&str>> = texts.iter().map(text_of).collect();
    texts.filter(|_| fits && table.across == names.across).map(|texts| (table, texts))
}

/// A vector of characters.
fn text_of(of: &Layout) -> Option<&str> {
    let Face::Written(grid) = &of.face else { return None };
    let is_text = of.kind == Kind::Characters && of.shape.len() == 1;
    grid.rows.first().map(String::as_str).filter(|_| is_text)
}

struct Page<'a> {
    out: String,
    style: &'a Style,
}

impl Page<'_> {
    fn table(&mut self, of: &Layout, depth: usize, names: &[&str]) {
        let title = if depth > 0 { format!(" title=\"{}\"", heading(of)) } else { String::new() };
        if of.is_empty() {
            let shown = if depth > 0 { "(empty)" } else { "" };
            self.out.push_str(&format!("<small{title}>{shown}</small>"));
            return;
        }
        let boxes = self.style.boxes;
        let is_framed = depth > 0 || boxes == Boxes::Max;
        let (frame, inset) = match is_framed {
            true => (format!(";{FRAME}"), ";margin:2px"),
            false => (String::new(), ""),
        };
        self.out.push_str(&format!("<table{title} style=\"{OUTER}{frame}{inset}\">"));
        let is_nested = of.kind == Kind::Nested;
        if boxes == Boxes::Max || boxes == Boxes::Mid && is_nested {
            let marks: String = of.axes().into_iter().chain([of.kind.mark()]).collect();
            self.out.push_str(&format!("<caption style=\"text-align:left\">{marks}</caption>"));
        }
        let own: Vec<&str> = of.names.iter().map(String::as_str).collect();
        let is_space = of.is_space();
        self.names(of, if names.is_empty() && !is_space { &own } else { names });
        let cell = match boxes {
            Boxes::Off => "",
            _ if !is_nested => "",
            _ => FRAME,
        };
        let is_text = of.kind == Kind::Characters;
        let written = match &of.face {
            Face::Written(grid) if is_text => grid.rows.iter().map(|r| vec![r.clone()]).collect(),
            Face::Written(grid) => grid.cells(),
            _ => Vec::new(),
        };
        let mut items = match &of.face {
            Face::Items(items) => items.iter(),
            _ => [].iter(),
        };
        // Characters of a row are one cell.
        let across = if is_text { &of.across[..1] } else { &of.across };
        let mut rows = written.into_iter();
        for row in &of.down {
            let is_apart = row.is_some_and(|r| of.parts(r));
            self.out.push_str(match is_apart {
                true => "<tr style=\"border-top:2px solid gray\">",
                false => "<tr>",
            });
            if let (true, Some(name)) = (is_space, row.and_then(|r| own.get(r))) {
                let look = "text-align:left";
                self.out.push_str(&format!(
                    "<th scope=\"row\" style=\"{look}\">{}</th>",
                    escaped(name)
                ));
            }
            let mut texts = row.and_then(|_| rows.next()).into_iter().flatten();
            for column in across {
                let (Some(r), Some(c)) = (row, column) else {
                    self.gap(*row, *column);
                    continue;
                };
                let (text, item) = (texts.next(), items.next());
                let is_left = item.is_some_and(|i| is_lines(i) && !i.is_scalar());
                let look = [cell, if is_left { LEFT } else { "" }];
                let look: Vec<&str> = look.into_iter().filter(|l| !l.is_empty()).collect();
                self.open(&self.place(of, *r, *c), &look.join(";"));
                match (text, item) {
                    (Some(text), _) if is_text => {
                        let text = escaped(&text);
                        self.out.push_str(&format!("<code style=\"{TEXT}\">{text}</code>"));
                    }
                    (Some(text), _) => self.out.push_str(&escaped(&text)),
                    (None, item) => item.into_iter().for_each(|item| self.item(item, depth)),
                }
                self.out.push_str("</td>");
            }
            self.out.push_str("</tr>");
        }
        self.out.push_str("</table>");
    }

    fn names(&mut self, of: &Layout, names: &[&str]) {
        if names.is_empty() {
            return;
        }
        let mut names = names.iter();
        self.out.push_str("<thead><tr>");
        for column in &of.across {
            let name = column.and_then(|_| names.next()).map_or("…".into(), |n| escaped(n));
            self.out.push_str(&format!("<th scope=\"col\">{name}</th>"));
        }
        self.out.push_str("</tr></thead>");
    }

    /// The place of an item as it is typed behind the array's name.
    fn place(&self, of: &Layout, row: usize, column: usize) -> String {
        match of.names.get(if of.is_space() { row } else { column }) {
            Some(name) if of.is_space() => return format!(".{}", escaped(name)),
            Some(name) => return format!("[{}].{}", row + self.style.io, escaped(name)),
            None => {}
        }
        let (mut rest, mut index) = (row, Vec::new());
        if !of.shape.is_empty() {
            index.push(column + self.style.io);
        }
        for n in of.shape.iter().rev().skip(1) {
            index.insert(0, rest % n.max(&1) + self.style.io);
            rest /= n.max(&1);
        }
        let index = index.iter().map(usize::to_string).collect::<Vec<_>>().join(";");
        if index.is_empty() { index } else { format!("[{index}]") }
    }

    fn open(&mut self, place: &str, look: &str) {
        let title = if place.is_empty() { String::new() } else { format!(" title=\"{place}\"") };
        let look = if look.is_empty() { String::new() } else { format!(" style=\"{look}\"") };
        self.out.push_str(&format!("<td{title}{look}>"));
    }

    fn gap(&mut self, row: Option<usize>, column: Option<usize>) {
        self.out.push_str(match (row, column) {
            (None, None) => "<td>⋱</td>",
            (None, _) => "<td>⋮</td>",
            _ => "<td>…</td>",
        });
    }

    fn item(&mut self, of: &Layout, depth: usize) {
        match &of.face {
            Face::Beyond => self.out.push_str(&format!("<small>{}</small>", heading(of))),
            Face::Written(grid) if of.is_scalar() && of.kind == Kind::Numbers => {
                self.out.push_str(&escaped(grid.rows[0].trim()));
            }
            Face::Written(grid) if is_lines(of) => {
                // A character by itself has no shape to tell.
                let title = match of.is_scalar() {
                    true => String::new(),
                    false => format!(" title=\"{}\"", heading(of)),
                };
                let frame = if self.style.boxes == Boxes::Max { FRAME } else { "" };
                let text = escaped(&grid.rows.join("\n"));
                self.out.push_str(&format!("<code{title} style=\"{TEXT};{frame}\">{text}</code>"));
            }
            _ => self.table(of, depth + 1, &[]),
        }
    }
}

/// Characters of which nothing is left out; the rows of a matrix are lines.
fn is_lines(of: &Layout) -> bool {
    let is_whole = !of.down.contains(&None) && !of.across.contains(&None);
    of.kind == Kind::Characters && of.shape.len() < 3 && !of.is_empty() && is_whole
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
    use crate::array::format::Long;
    use crate::array::{Reference, Referent};
    use aplomb_ground::limits::Budget;
    use std::any::Any;
    use std::rc::Rc;

    const STYLE: Style =
        Style { pp: 10, pw: 79, lines: 200, boxes: Boxes::Off, long: Long::Fold, io: 1 };

    fn shown(value: &Array) -> String {
        page(value, &STYLE).expect("a page")
    }

    fn numbers(shape: &[usize], items: Vec<f64>) -> Array {
        Array::numbers(shape, items, &Budget::new(1 << 26)).expect("small")
    }

    fn text(text: &str) -> Array {
        Array::text(text, &Budget::new(1 << 20)).expect("small")
    }

    fn nested(items: Vec<Array>) -> Array {
        Array::items([items.len()].as_slice(), items, None)
    }

    /// Points of a column stand below each other, as in text.
    #[test]
    fn a_matrix_has_the_cells_of_its_text() {
        let page = shown(&numbers(&[2, 2], vec![1.0, 2.5, -3.0, 10.0]));
        assert!(page.starts_with("<div class=\"aplomb\"><small>2 2 · f64</small>"), "{page}");
        let rows: Vec<&str> = page.split("<tr>").skip(1).collect();
        let row = |a: &str, b: &str, r: usize| {
            format!("<td title=\"[{r};1]\">{a}</td><td title=\"[{r};2]\">{b}</td></tr>")
        };
        assert_eq!(rows[0], row(" 1", " 2.5", 1));
        assert!(rows[1].starts_with(&row("¯3", "10  ", 2)), "{page}");
    }

    #[test]
    fn what_its_text_says_whole_has_no_page() {
        for value in [text("<b>"), Array::num(1.0), numbers(&[3], vec![1.0, 2.0, 3.0])] {
            assert_eq!(page(&value, &STYLE), None);
        }
        let pair = shown(&nested(vec![text("<b>&'\""), numbers(&[0], vec![])]));
        assert!(pair.contains(">&lt;b&gt;&amp;&#39;&quot;</code></td>"), "{pair}");
        let empty = [numbers(&[0], vec![]), numbers(&[0, 0], vec![]), text("")].map(|a| shown(&a));
        assert!(empty[0] != empty[1] && empty[1] != empty[2] && empty[0] != empty[2]);
        assert_eq!(printed(&text(""), &STYLE), None);
    }

    #[test]
    fn texts_stand_at_the_left_and_no_numbers_have_no_storage() {
        let page = shown(&nested(vec![text("Ann"), Array::num(7.0), numbers(&[0], vec![])]));
        assert!(page.contains("<td title=\"[1]\" style=\"text-align:left\"><code"), "{page}");
        assert!(page.contains("<td title=\"[2]\">7</td>"), "{page}");
        assert!(page.contains("title=\"0 · numbers (empty)\"") && !page.contains("bool"), "{page}");
    }

    /// A namespace with some arrays.
    struct Place(Vec<(String, Array)>);

    impl Referent for Place {
        fn name(&self) -> String {
            "#.<b>".into()
        }
        fn arrays(&self) -> Vec<(String, Array)> {
            self.0.clone()
        }
        fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
            self
        }
    }

    fn place(held: &[(&str, Array)]) -> Array {
        let held = held.iter().map(|(name, array)| (name.to_string(), array.clone())).collect();
        Array::reference(Reference::new(Rc::new(Place(held))))
    }

    /// A namespace was eight empty frames in each other.
    #[test]
    fn a_reference_is_its_name() {
        let place = place(&[]);
        assert_eq!(page(&place, &STYLE), None);
        let pair = shown(&nested(vec![place, Array::num(1.0)]));
        assert!(pair.contains("<td title=\"[1]\">#.&lt;b&gt;</td>"), "{pair}");
    }

    #[test]
    fn namespaces_are_tables_with_their_names_as_headings() {
        let ann = place(&[("name", text("Ann<")), ("age", Array::num(7.0))]);
        let bob = place(&[("name", text("Bob")), ("pets", numbers(&[2], vec![1.0, 2.0]))]);
        let page = shown(&nested(vec![ann.clone(), bob.clone()]));
        assert!(page.contains("<small>2 · namespaces</small>"), "{page}");
        let heading = |name: &str| format!("<th scope=\"col\">{name}</th>");
        let headings: String = ["name", "age", "pets"].map(heading).concat();
        assert!(page.contains(&format!("<thead><tr>{headings}</tr></thead>")), "{page}");
        assert!(page.contains("<td title=\"[1].age\">7</td>"), "{page}");
        assert!(page.contains("title=\"[2].pets\"") && page.contains("Ann&lt;"), "{page}");
        let one = shown(&ann);
        assert!(one.contains("<small>namespace · 2 names</small>"), "{one}");
        assert!(one.contains(">age</th><td title=\".age\">7</td></tr>"), "{one}");
        let rows = |a: &Array| crate::array::format::boxed::rows(a, Boxes::Min, 10);
        let text = |a: &Array| rows(a).expect("rows").expect("a table").join("\n");
        assert_eq!(
            text(&nested(vec![ann.clone(), bob])),
            "┌────┬───┬────┐\n│name│age│pets│\n├────┼───┼────┤\n│Ann<│7  │    │\n\
             ├────┼───┼────┤\n│Bob │   │1 2 │\n└────┴───┴────┘"
        );
        assert_eq!(text(&ann), "┌────┬────┐\n│name│Ann<│\n├────┼────┤\n│age │7   │\n└────┴────┘");
    }

    #[test]
    fn many_namespaces_and_one_in_itself_are_shown_in_part() {
        let one = |k: usize| place(&[("k", Array::num(k as f64))]);
        let page = shown(&nested((0..5_000).map(one).collect()));
        assert_eq!(page.matches("<td title").count(), 20, "{page}");
        assert!(page.contains("[5000].k") && page.contains("⋮"), "{page}");
        struct Within(std::cell::RefCell<Option<Array>>);
        impl Referent for Within {
            fn name(&self) -> String {
                "#.n".into()
            }
            fn arrays(&self) -> Vec<(String, Array)> {
                let own = self.0.borrow().clone();
                own.into_iter().flat_map(|a| [("a".into(), a.clone()), ("b".into(), a)]).collect()
            }
            fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
                self
            }
        }
        let within = Rc::new(Within(Default::default()));
        let itself = Array::reference(Reference::new(within.clone()));
        within.0.replace(Some(itself.clone()));
        assert!(shown(&itself).len() < 1 << 18);
        within.0.replace(None);
    }

    #[test]
    fn what_is_long_loses_its_middle() {
        let page = shown(&numbers(&[300, 300], (0..90_000).map(f64::from).collect()));
        assert_eq!((page.matches("<tr>").count(), page.matches("<td").count()), (21, 21 * 41));
        assert!(page.contains("[300;300]\">89999</td>") && page.contains("⋱"), "{page}");
    }

    #[test]
    fn nesting_beyond_reason_stands_as_its_shape() {
        let mut deep = numbers(&[2], vec![1.0, 2.0]);
        for _ in 0..400 {
            deep = nested(vec![deep.clone(), deep]);
        }
        assert!(shown(&deep).len() < 1 << 20);
    }

    #[test]
    fn names_of_columns_stand_above_them() {
        let data = numbers(&[2, 2], vec![1.0, 2.0, 3.0, 4.0]);
        let page = shown(&nested(vec![data, nested(vec![text("a<b"), text("c")])]));
        assert!(page.contains("<th scope=\"col\">a&lt;b</th><th scope=\"col\">c</th></tr>"));
        assert!(page.contains("[2;2]\">4</td>"), "{page}");
    }

    /// A value as it stands in Rust, and as it is read out of a page:
    /// `[2 · nested: 1,[2 · char: ab]]`.
    fn told(a: &Array) -> String {
        let laid = layout::on_page(a, 10, 20).expect("a layout");
        let inside: Vec<String> = match &laid.face {
            Face::Items(items) if !laid.names.is_empty() => {
                let held: Vec<Array> = a.in_turn().collect();
                let own = |one: &Array, name: &String| {
                    let all = one.to_reference().expect("a namespace").arrays();
                    let value = all.into_iter().find(|(own, _)| own == name);
                    value.map_or(" ".into(), |(_, v)| told(&v))
                };
                let all = held.iter().flat_map(|one| laid.names.iter().map(move |n| own(one, n)));
                let cells: Vec<String> = all.collect();
                assert_eq!(cells.len(), items.len());
                match laid.is_space() {
                    true => laid.names.iter().zip(cells).map(|(n, v)| format!("{n}{v}")).collect(),
                    false => {
                        let (first, rest) = cells.split_first().expect("a cell");
                        let head = format!("{}{first}", laid.names.concat());
                        std::iter::once(head).chain(rest.iter().cloned()).collect()
                    }
                }
            }
            Face::Written(grid) if laid.is_scalar() => return grid.rows[0].clone(),
            Face::Written(grid) if is_lines(&laid) => vec![grid.rows.join("\n")],
            _ if a.is_empty() => vec!["(empty)".into()],
            _ => (0..a.len()).map(|k| told(&a.item(k))).collect(),
        };
        format!("[{}: {}]", heading(&laid), inside.join(","))
    }

    fn read(page: &str) -> String {
        let mut out = String::new();
        // Whether an element has a title, and its cells so far.
        let mut open: Vec<(bool, usize)> = Vec::new();
        let mut hidden = false;
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
                Some("th") if tag.contains("row") => {
                    let cells = &mut open.last_mut().expect("a table").1;
                    out += if *cells > 0 { "," } else { "" };
                    *cells = 0;
                }
                Some("td") => {
                    let cells = &mut open.last_mut().expect("a table").1;
                    out += if *cells > 0 { "," } else { "" };
                    *cells += 1;
                }
                Some("caption") => hidden = true,
                _ => {}
            }
            out += if hidden { "" } else { text };
            hidden &= tag != "/caption";
        }
        let signs = [("&lt;", "<"), ("&gt;", ">"), ("&#39;", "'"), ("&amp;", "&")];
        signs.iter().fold(out, |text, (from, to)| text.replace(from, to))
    }

    #[test]
    fn the_structure_can_be_read_out_of_the_page_in_each_style() {
        let budget = Budget::new(1 << 20);
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
            nested(vec![
                place(&[("a", numbers(&[2], vec![1.0, 2.0])), ("b", text("x"))]),
                place(&[("b", nested(vec![text("y"), Array::num(1.0)])), ("c", Array::num(3.0))]),
            ]),
            place(&[("a", Array::num(1.0)), ("in", place(&[("b", text("x y"))]))]),
        ];
        for boxes in [Boxes::Off, Boxes::Min, Boxes::Mid, Boxes::Max] {
            for value in &values {
                let page = page(value, &Style { boxes, ..STYLE }).expect("a page");
                // The outermost is headed and has no title.
                let told = told(value);
                let wanted = told[1..told.len() - 1].replacen(": ", "", 1);
                assert_eq!(read(&page), wanted, "{page}");
            }
        }
    }
}

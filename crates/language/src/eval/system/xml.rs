//! ⎕XML: a document as rows, and rows as a document.
//!
//! A row is depth, name, text, attributes as rows of names and values, and a kind: 1 an element, 2
//! that has elements inside, 4 text, 8 a declaration, 16 a comment, 32 an instruction. Text that is
//! all that an element holds stands in the element's row. No entity of a document's own is known,
//! so no text grows as it is read.

use super::{Args, Options, Row, misused, optional};
use crate::eval::run::Eval;
use aplomb_ground::error::{Error, Result, domain, length, limit, rank};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, format};

const ELEMENT: u8 = 1;
const CHILDREN: u8 = 2;
const TEXT: u8 = 4;
const MARKUP: u8 = 8;
const COMMENT: u8 = 16;
const INSTRUCTION: u8 = 32;

/// Elements inside each other.
const DEEPEST: usize = 10_000;

pub static ROWS: &[Row] = &[optional(
    "XML",
    "A document as rows of depth, name, text, attributes and kind; of 3 to 5 such columns the \
     document.",
    ("⎕XML'<a><b>hi</b></a>'", "0  a        3\n1  b  hi    5"),
    &["Whitespace", "Markup", "UnknownEntity"],
    |ev, a| {
        let given = a.y.to_text(ev.cx.budget())?.filter(|_| a.y.rank() < 2);
        match given {
            Some(text) => table(ev, a, &text).map(Some),
            None => document(ev, a.y).map(Some),
        }
    },
)];

/// A row of the table.
struct Node {
    depth: usize,
    name: String,
    text: String,
    attributes: Vec<(String, String)>,
    kind: u8,
}

impl Node {
    fn new(depth: usize, kind: u8) -> Node {
        Node { depth, name: String::new(), text: String::new(), attributes: Vec::new(), kind }
    }
}

/// The blanks of texts.
#[derive(Clone, Copy, PartialEq)]
enum Blanks {
    Strip,
    Trim,
    Preserve,
}

/// The ways of reading that options ask for.
struct Ways {
    blanks: Blanks,
    /// Comments, instructions and declarations are rows.
    keeps: bool,
    /// An entity that nobody knows stays as it is written, and is no `?`.
    unknown_stays: bool,
}

/// Options by ⍠, or as words in pairs on the left.
fn ways(a: &Args<'_>, budget: &Budget) -> Result<Ways> {
    let words = |options: &Options| -> Result<Ways> {
        let blanks = options.word("Whitespace", &["strip", "trim", "preserve"])?;
        let markup = options.word("Markup", &["strip", "preserve"])?;
        let unknown = options.word("UnknownEntity", &["replace", "preserve"])?;
        Ok(Ways {
            blanks: match blanks {
                "trim" => Blanks::Trim,
                "preserve" => Blanks::Preserve,
                _ => Blanks::Strip,
            },
            keeps: markup == "preserve",
            unknown_stays: unknown == "preserve",
        })
    };
    let mut ways = words(a.options)?;
    let Some(x) = a.x else { return Ok(ways) };
    let given = super::texts(x, "an option", budget)?;
    for pair in given.chunks(2) {
        match pair {
            [name, value] => match (name.as_str(), value.as_str()) {
                ("whitespace", "strip") => ways.blanks = Blanks::Strip,
                ("whitespace", "trim") => ways.blanks = Blanks::Trim,
                ("whitespace", "preserve") => ways.blanks = Blanks::Preserve,
                ("markup", "strip") => ways.keeps = false,
                ("markup", "preserve") => ways.keeps = true,
                ("unknown-entity", "replace") => ways.unknown_stays = false,
                ("unknown-entity", "preserve") => ways.unknown_stays = true,
                _ => return Err(domain(format!("⎕XML has no option '{name}' '{value}'"))),
            },
            _ => return Err(length("options of ⎕XML are pairs of words")),
        }
    }
    Ok(ways)
}

/// A reader at its place in a document.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    ways: Ways,
    rows: Vec<Node>,
    /// The rows of the elements that are open.
    open: Vec<usize>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn wrong(&self, says: impl std::fmt::Display) -> Error {
        let line = self.text[..self.at].matches('\n').count() + 1;
        domain(format!("line {line} of the document: {says}"))
    }

    /// The text up to a mark, which is passed. Errors: DOMAIN where there is none.
    fn up_to(&mut self, mark: &str, what: &str) -> Result<&'a str> {
        let Some(n) = self.rest().find(mark) else {
            return Err(self.wrong(format!("{what} does not end")));
        };
        let found = &self.rest()[..n];
        self.at += n + mark.len();
        Ok(found)
    }

    fn takes(&mut self, mark: &str) -> bool {
        let is = self.rest().starts_with(mark);
        self.at += if is { mark.len() } else { 0 };
        is
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn name(&mut self) -> Result<String> {
        let ends = |c: char| c.is_whitespace() || "/>=<'\"".contains(c);
        let rest = self.rest();
        let n = rest.find(ends).map_or(rest.len(), |n| n);
        if n == 0 {
            return Err(self.wrong("a name is missing"));
        }
        self.at += n;
        Ok(rest[..n].into())
    }

    /// Text with its entities as the characters that they mean.
    fn meant(&self, text: &str) -> Result<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(n) = rest.find('&') {
            out += &rest[..n];
            rest = &rest[n..];
            let Some(end) = rest.find(';').filter(|end| *end < 12) else {
                return Err(self.wrong("& begins no entity: &amp; is that character"));
            };
            let name = &rest[1..end];
            let code = match name.strip_prefix('#') {
                Some(hex) if hex.starts_with(['x', 'X']) => u32::from_str_radix(&hex[1..], 16).ok(),
                Some(number) => number.parse().ok(),
                None => None,
            };
            let known = match name {
                "lt" => Some('<'),
                "gt" => Some('>'),
                "amp" => Some('&'),
                "apos" => Some('\''),
                "quot" => Some('"'),
                _ => code.and_then(char::from_u32),
            };
            match known {
                Some(c) => out.push(c),
                None if self.ways.unknown_stays => out += &rest[..=end],
                None => out.push('?'),
            }
            rest = &rest[end + 1..];
        }
        Ok(out + rest)
    }

    fn spaced(&self, text: String) -> String {
        match self.ways.blanks {
            Blanks::Preserve => text,
            Blanks::Trim => text.trim().into(),
            Blanks::Strip => text.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }

    fn row(&mut self, node: Node) {
        if node.kind != TEXT
            && let Some(open) = self.open.last()
        {
            self.rows[*open].kind |= CHILDREN;
        }
        self.rows.push(node);
    }

    fn text(&mut self, text: String) {
        let text = self.spaced(text);
        if text.trim().is_empty() && (self.ways.blanks != Blanks::Preserve || text.is_empty()) {
            return;
        }
        let Some(open) = self.open.last().copied() else { return };
        self.rows[open].kind |= TEXT;
        let row = Node { text, ..Node::new(self.open.len(), TEXT) };
        self.row(row);
    }

    fn aside(&mut self, kind: u8, text: &str) {
        if self.ways.keeps {
            let row = Node { text: text.into(), ..Node::new(self.open.len(), kind) };
            self.row(row);
        }
    }

    /// The tag behind `<`.
    fn tag(&mut self) -> Result<()> {
        let name = self.name()?;
        let mut node = Node { name, ..Node::new(self.open.len(), ELEMENT) };
        loop {
            self.blanks();
            if self.takes("/>") {
                self.row(node);
                return Ok(());
            }
            if self.takes(">") {
                break;
            }
            let name = self.name()?;
            self.blanks();
            if !self.takes("=") {
                return Err(self.wrong(format!("the attribute {name} has no value")));
            }
            self.blanks();
            let quote = if self.takes("\"") { "\"" } else { "'" };
            if quote == "'" && !self.takes("'") {
                return Err(self.wrong(format!("the value of {name} stands in quotes")));
            }
            let value = self.up_to(quote, "a value")?;
            let value = self.meant(value)?;
            if node.attributes.iter().any(|(known, _)| *known == name) {
                return Err(self.wrong(format!("the attribute {name} comes twice")));
            }
            node.attributes.push((name, value));
        }
        if self.open.len() >= DEEPEST {
            return Err(limit(format!("elements stand more than {DEEPEST} deep")));
        }
        self.row(node);
        self.open.push(self.rows.len() - 1);
        Ok(())
    }

    /// The end of an element behind `</`. Text that is all that it holds comes into its row.
    fn end(&mut self) -> Result<()> {
        let name = self.name()?;
        self.blanks();
        if !self.takes(">") {
            return Err(self.wrong(format!("</{name} does not end")));
        }
        let Some(open) = self.open.pop() else {
            return Err(self.wrong(format!("</{name}> closes nothing")));
        };
        if self.rows[open].name != name {
            let says = format!("</{name}> stands where <{}> is open", self.rows[open].name);
            return Err(self.wrong(says));
        }
        if self.rows.len() == open + 2
            && let Some(text) = self.rows.pop_if(|row| row.kind == TEXT)
        {
            self.rows[open].text = text.text;
        }
        Ok(())
    }

    fn read(mut self, ev: &Eval<'_>) -> Result<Vec<Node>> {
        let mut ticks = ev.cx.budget().ticks();
        while self.at < self.text.len() {
            ticks.tick()?;
            if self.takes("<!--") {
                let text = self.up_to("-->", "a comment")?;
                self.aside(COMMENT, text);
            } else if self.takes("<![CDATA[") {
                let text = self.up_to("]]>", "CDATA")?.to_string();
                self.text(text);
            } else if self.takes("<?") {
                let text = self.up_to("?>", "an instruction")?;
                self.aside(INSTRUCTION, text);
            } else if self.takes("<!") {
                let text = self.up_to(">", "a declaration")?;
                self.aside(MARKUP, text);
            } else if self.takes("</") {
                self.end()?;
            } else if self.takes("<") {
                self.tag()?;
            } else {
                let rest = self.rest();
                let text = &rest[..rest.find('<').map_or(rest.len(), |n| n)];
                let meant = self.meant(text)?;
                if self.open.is_empty() && !meant.trim().is_empty() {
                    return Err(self.wrong("text stands in no element"));
                }
                self.at += text.len();
                self.text(meant);
            }
        }
        match self.open.last() {
            Some(open) => Err(self.wrong(format!("<{}> is never closed", self.rows[*open].name))),
            None => Ok(self.rows),
        }
    }
}

fn table(ev: &mut Eval<'_>, a: &Args<'_>, text: &str) -> Result<Array> {
    let reader =
        Reader { text, at: 0, ways: ways(a, ev.cx.budget())?, rows: Vec::new(), open: Vec::new() };
    let rows = reader.read(ev)?;
    let _held = ev.cx.budget().charge_elements(rows.len(), 5 * size_of::<Array>())?;
    let mut out = Vec::new();
    for row in &rows {
        let pairs = row.attributes.iter().flat_map(|(name, value)| [name, value]);
        let pairs = pairs.map(|text| ev.cx.text(text)).collect::<Result<Vec<_>>>()?;
        let proto = ev.cx.text("")?;
        let attributes = match pairs.is_empty() {
            true => Array::items([0, 2].as_slice(), pairs, Some(proto)),
            false => Array::items([row.attributes.len(), 2].as_slice(), pairs, None),
        };
        out.extend([
            Array::num(row.depth as f64),
            ev.cx.text(&row.name)?,
            ev.cx.text(&row.text)?,
            attributes,
            Array::num(f64::from(row.kind)),
        ]);
    }
    let proto = out.is_empty().then(|| Array::num(0.0));
    ev.cx.collect(&[rows.len(), 5], out, proto)
}

/// As a document writes it: what means something else there is an entity.
fn escaped(text: &str, quoted: bool) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '"' if quoted => out += "&quot;",
            c => out.push(c),
        }
    }
    out
}

/// A cell of the table as text.
fn cell(a: &Array, budget: &Budget) -> Result<String> {
    let a = a.disclosed();
    match (a.to_text(budget)?, a.number_scalar()) {
        (_, Some(x)) if !a.is_char() => Ok(format::number(x)),
        (Some(text), _) => Ok(text),
        _ => Err(misused("XML", "names, texts and values of attributes as text")),
    }
}

/// The rows of a table. Errors: RANK, LENGTH, DOMAIN.
fn rows(ev: &mut Eval<'_>, y: &Array) -> Result<Vec<Node>> {
    if y.rank() != 2 {
        return Err(rank("⎕XML takes a document as text, or a table of 3 to 5 columns"));
    }
    let columns = y.shape()[1];
    if !(3..=5).contains(&columns) {
        return Err(length("a table for ⎕XML has depth, name, text, and perhaps attributes, kind"));
    }
    let mut out = Vec::new();
    for r in 0..y.shape()[0] {
        ev.cx.host.interrupt().check()?;
        let at = |c: usize| y.item(r * columns + c);
        let depth = ev.cx.one_integer(&at(0).disclosed(), "a depth")?;
        let depth = usize::try_from(depth).map_err(|_| domain("a depth is 0 or more"))?;
        let (name, text) = (cell(&at(1), ev.cx.budget())?, cell(&at(2), ev.cx.budget())?);
        let mut attributes = Vec::new();
        if columns > 3 {
            let pairs = at(3).disclosed();
            let fits = pairs.is_empty() || pairs.shape().last() == Some(&2);
            if !fits {
                return Err(length("attributes are rows of a name and a value"));
            }
            for pair in pairs.to_items(ev.cx.budget())?.chunks(2) {
                if let [name, value] = pair {
                    let budget = ev.cx.budget();
                    attributes.push((cell(name, budget)?, cell(value, budget)?));
                }
            }
        }
        let kind = match columns {
            5 => ev.cx.one_integer(&at(4).disclosed(), "a kind")? as u8,
            _ if name.is_empty() => TEXT,
            _ => ELEMENT,
        };
        out.push(Node { depth, name, text, attributes, kind });
    }
    Ok(out)
}

fn document(ev: &mut Eval<'_>, y: &Array) -> Result<Array> {
    let rows = rows(ev, y)?;
    let mut out = String::new();
    let mut open: Vec<&Node> = Vec::new();
    let close = |open: &mut Vec<&Node>, out: &mut String, depth: usize| {
        while open.len() > depth {
            if let Some(node) = open.pop() {
                *out += &format!("{:1$}</{2}>\n", "", 2 * open.len(), node.name);
            }
        }
    };
    for (k, row) in rows.iter().enumerate() {
        ev.cx.host.interrupt().check()?;
        if row.depth > open.len() && !(k > 0 && row.depth == rows[k - 1].depth + 1) {
            return Err(domain(format!("row {} is deeper than what is open above it", k + 1)));
        }
        close(&mut open, &mut out, row.depth);
        let indent = format!("{:1$}", "", 2 * row.depth);
        if row.kind & ELEMENT == 0 {
            out += &match row.kind {
                COMMENT => format!("{indent}<!--{}-->\n", row.text),
                INSTRUCTION => format!("{indent}<?{}?>\n", row.text),
                MARKUP => format!("{indent}<!{}>\n", row.text),
                _ => format!("{indent}{}\n", escaped(&row.text, false)),
            };
            continue;
        }
        out += &format!("{indent}<{}", row.name);
        for (name, value) in &row.attributes {
            out += &format!(" {name}=\"{}\"", escaped(value, true));
        }
        let has_inside = rows.get(k + 1).is_some_and(|next| next.depth > row.depth);
        match (has_inside, row.text.is_empty()) {
            (false, true) => out += "/>\n",
            (false, false) => out += &format!(">{}</{}>\n", escaped(&row.text, false), row.name),
            (true, is_bare) => {
                out += ">\n";
                if !is_bare {
                    out += &format!("{indent}  {}\n", escaped(&row.text, false));
                }
                open.push(row);
            }
        }
    }
    close(&mut open, &mut out, 0);
    ev.cx.text(&out)
}

//! Pages of help: rows of the tables as text, folded between words.

use super::Command;
use super::numpy::Phrase;
use aplomb_compiler::pass::{Pass, Preset, Rule, Switch};
use aplomb_ground::help::{Topic, errors};
use aplomb_language::eval::system::Row;
use aplomb_language::table::{Class, Meaning, Prim, find, keys};

/// The column where prose begins below a head.
const INDENT: usize = 12;

/// A row of `OTHER_KEYS`: glyph, key, names.
type Key = (char, char, &'static [&'static str]);

const KEYS: &str = "A backtick and a key give a glyph, at the prompt, in panes and in JupyterLab; \
                    a name and Tab do, too: rho<Tab>.";

/// A head, and a sentence on it.
const NOTEBOOK: &[(&str, &str)] = &[
    ("install", "aplomb kernel install --user, then jupyter lab; --sys-prefix in an environment."),
    ("glyphs", "`r gives ⍴, rho<Tab> too; the bar above a notebook has all of them: ]help keys."),
    ("]command", "A line that begins with ] is a command, as at the prompt: ]help ]dag."),
    ("%%command", "On the first line: the lines below are what the command speaks of, as %%why."),
    ("%%html", "The lines below are a page."),
    ("⎕SHOW", "Shows HTML, Markdown, SVG, PNG or JSON of your own: 'text/html'⎕SHOW'<b>3</b>'."),
    ("⎕PLOT ]plot", "Draw numbers; ]img shows an array as a picture."),
    (
        "]dag ]why",
        "Open beside the notebook in JupyterLab, with switches and passes to step through.",
    ),
    ("Shift-Tab", "Help on the word at the cursor; of your own functions their source."),
];

pub struct Page {
    text: String,
    width: usize,
}

/// The uses of a glyph, with how each is written.
pub fn uses(p: &Prim) -> Vec<(&'static str, &Meaning)> {
    let forms = [("f Y", &p.monadic), ("X f Y", &p.dyadic), ("operator", &p.operator)];
    forms.into_iter().filter_map(|(form, m)| m.as_ref().map(|m| (form, m))).collect()
}

impl Page {
    pub fn new(width: usize) -> Page {
        Page { text: String::new(), width }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn text(self) -> Option<String> {
        Some(self.text).filter(|t| !t.is_empty())
    }

    /// A head as it is, then words; what does not fit goes on below, `indent` blanks in.
    fn prose(&mut self, head: &str, text: &str, indent: usize) {
        self.text += head;
        let mut column = head.chars().count();
        for (k, word) in text.split_whitespace().enumerate() {
            let long = word.chars().count();
            if k > 0 && column + 1 + long > self.width {
                self.text += &format!("\n{:indent$}", "");
                column = indent;
            } else if k > 0 {
                self.text.push(' ');
                column += 1;
            }
            self.text += word;
            column += long;
        }
        self.text.push('\n');
    }

    fn below(&mut self, text: &str) {
        self.prose(&" ".repeat(INDENT), text, INDENT + 2);
    }

    /// As a session shows it.
    fn example(&mut self, (typed, printed): (&str, &str)) {
        typed.lines().for_each(|line| self.text += &format!("                  {line}\n"));
        printed.lines().for_each(|line| self.text += &format!("            {line}\n"));
    }

    pub fn glyph(&mut self, p: &Prim) {
        let key = p.key.map_or(String::new(), |k| format!("; typed `{k}"));
        self.prose(&format!("{}  ", p.glyph), &format!("{}{key}", p.names.join(", ")), 3);
        for (form, m) in uses(p) {
            let form = form.replace('f', &p.glyph.to_string());
            let axis = if m.axis { " Takes an axis: [k]." } else { "" };
            self.prose(&format!("  {form:9} "), &format!("{}: {}{axis}", m.name, m.help), INDENT);
            self.below(&format!("shape: {}", m.shape));
            for (kind, when, line) in m.errors {
                let line = line.replace('f', &p.glyph.to_string());
                self.below(&format!("{}: {when}, as in {line}", kind.name()));
            }
            match (m.errors.is_empty(), m.class) {
                (true, Class::Operator) => self.below("errors: those of its operands"),
                (true, _) => self.below("errors: none"),
                _ => {}
            }
            self.example(m.example);
        }
        if uses(p).is_empty() {
            self.text += "  not in Aplomb yet\n";
        }
    }

    /// All keys, a line for some of them: functions and operators, then what else is typed.
    pub fn keys(&mut self) {
        self.prose("", KEYS, 0);
        let mut line = String::new();
        for (key, glyph) in keys() {
            let next = format!("`{key} {glyph}   ");
            if line.chars().count() + next.chars().count() > self.width {
                self.text += &format!("{}\n", line.trim_end());
                line.clear();
            }
            line += &next;
        }
        self.text += &format!("{}\n", line.trim_end());
    }

    /// A notebook's own ways.
    pub fn notebook(&mut self) {
        for (head, says) in NOTEBOOK {
            self.prose(&format!("{head:14}"), says, 14);
        }
    }

    pub fn key(&mut self, (glyph, key, names): &Key) {
        self.prose(&format!("{glyph}  "), &format!("{}; typed `{key}", names.join(", ")), 3);
    }

    pub fn topic(&mut self, t: &Topic) {
        self.prose(&format!("{}  ", t.form), &t.names.join(", "), 3);
        self.prose("  ", t.help, 2);
        self.example(t.example);
        let glyphs: String = t.form.chars().filter(|c| find(*c).is_some() && *c != '.').collect();
        if !glyphs.is_empty() && t.form.chars().count() < 12 {
            self.prose("  ", &format!("]help {glyphs} says more"), 2);
        }
    }

    /// A row of the page for those who come from NumPy.
    pub fn phrase(&mut self, p: &Phrase) {
        self.prose("", &p.python, 2);
        self.prose("  ", &p.expression, 4);
        let note = if p.note.is_empty() { String::new() } else { format!("; {}", p.note) };
        self.prose("  ", &format!("gives {}{note}", p.value), 4);
    }

    pub fn system(&mut self, r: &Row) {
        self.prose(&format!("⎕{}  ", r.name), r.help, 2);
        if !r.options.is_empty() {
            self.prose("  ", &format!("options: {}", r.options.join(" ")), 4);
        }
        self.example(r.example);
    }

    /// A name of Dyalog's that is not built.
    pub fn absent(&mut self, name: &str) {
        self.prose(
            &format!("⎕{name}  "),
            "Dyalog has it; it is not in Aplomb and answers NONCE ERROR.",
            2,
        );
    }

    pub fn command(&mut self, c: &Command) {
        self.prose(&format!("{} ", c.name), c.args, 4);
        self.prose(
            "  ",
            &format!("{}{}", c.help, if c.run.is_some() { "" } else { " Not in Aplomb yet." }),
            2,
        );
    }

    pub fn pass(&mut self, p: &Pass) {
        self.prose(&format!("{}  ", p.name), &format!("a pass, row {}: {}", p.row, p.says), 2);
        let says = format!(
            "]off {} switches it off, ]dag -pass={} shows the graph after it",
            p.name, p.name
        );
        self.prose("  ", &says, 2);
    }

    pub fn group(&mut self, (name, passes): &(&str, &[&str])) {
        self.prose(&format!("{name}  "), &format!("stands for the passes {}", passes.join(" ")), 2);
    }

    /// A rule inside of passes.
    /// `what`: where it is one.
    pub fn switch(&mut self, what: &str, s: &Switch) {
        self.prose(&format!("{}  ", s.name), &format!("{what}, row {}: {}", s.row, s.says), 2);
        self.prose("  ", &format!("]off {} switches it off", s.name), 2);
    }

    pub fn preset(&mut self, p: &Preset) {
        self.prose(&format!("{}  ", p.name), &format!("a pipeline, row {}: {}", p.row, p.says), 2);
        self.prose(
            "  ",
            &format!("aplomb explain --passes {} -e 'LINE' tells what it makes of a line", p.name),
            2,
        );
    }

    pub fn rule(&mut self, r: &Rule) {
        self.prose(&format!("{}  ", r.name), &format!("a rule of simplify, row {}", r.row), 2);
        self.text += &format!("  {}  →  {}\n", r.before, r.after);
    }

    /// The functions and operators that come along as APL text.
    pub fn library(&mut self, members: impl Iterator<Item = (&'static str, &'static str)>) {
        self.prose("dfns  ", "functions and operators; 'NAME'⎕CY'dfns' copies one here", 2);
        for (name, says) in members {
            self.prose(&format!("  {name:INDENT$}"), says, INDENT + 2);
        }
    }

    /// One of them.
    pub fn member(&mut self, (name, says): (&str, &str)) {
        self.prose(&format!("{name}  "), says, 2);
        self.prose("  ", &format!("'{name}'⎕CY'dfns' copies it here"), 2);
    }

    pub fn error(&mut self, (kind, says, line): &errors::Row) {
        self.prose(&format!("{}  ", kind.name()), &format!("event {}", kind.number()), 2);
        self.prose("  ", says, 2);
        if let Some(line) = line {
            self.example((line, kind.name()));
        }
    }
}

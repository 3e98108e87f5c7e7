//! Functions and operators as text: as they would be written, with all parentheses, as a tree, as
//! nested arrays of their parts.
//!
//! A function becomes a `Form` first: a leaf, an operator over its operands, a train over its
//! tines. Text and trees are made of that alone.

use super::cx::{Cx, Trains};
use super::value::{Func, Oper, Operand};
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, Referent};

/// The form of a function.
enum Form {
    /// An array, and whatever is written as one thing.
    Leaf {
        text: String,
        array: bool,
    },
    /// An operator with its operand.
    Mop(Box<Form>, String),
    /// An operator between its operands.
    Dop(Box<Form>, String, Box<Form>),
    Atop(Box<Form>, Box<Form>),
    Fork(Box<Form>, Box<Form>, Box<Form>),
}

impl Func {
    fn form(&self) -> Form {
        let leaf = |text: String| Form::Leaf { text, array: false };
        let of = |o: &Operand| Box::new(o.form());
        match self {
            Func::Prim(p) => leaf(p.glyph.to_string()),
            Func::System(row) => leaf(format!("⎕{}", row.name)),
            Func::Dfn(c) => leaf(c.text()),
            Func::Trad(t) => leaf(t.text()),
            Func::Within(space, row) => leaf(format!("{}.⎕{}", space.name(), row.name)),
            Func::Shared(_, all) => {
                let texts: Vec<String> = all.iter().map(|f| f.text()).collect();
                leaf(texts.join(" "))
            }
            Func::Op1(op, f) => Form::Mop(of(f), op.text()),
            Func::Op2(op, f, g) => Form::Dop(of(f), op.text(), of(g)),
            Func::Outer(f) => Form::Dop(Box::new(leaf("∘".into())), ".".into(), of(f)),
            Func::Axis(f, k) => Form::Mop(of(f), format!("[{}]", plain(k))),
            Func::Fork(f, g, h) => Form::Fork(of(f), of(g), of(h)),
            Func::Atop(g, h) => Form::Atop(of(g), of(h)),
        }
    }

    /// The source of a function, as a value of it prints.
    pub fn text(&self) -> String {
        self.form().text()
    }

    /// The function as it prints under `]box -trains=`; None: as nested arrays.
    pub fn drawn(&self, how: Trains) -> Option<String> {
        match how {
            Trains::Def => Some(self.form().text()),
            Trains::Parens => Some(self.form().parens()),
            Trains::Tree => Some(self.form().tree()),
            Trains::Box => None,
        }
    }

    /// A function as a nested array: what a derived one or a train is made of.
    pub fn parts(&self, cx: &Cx<'_>) -> Result<Array> {
        let text = |text: String| cx.text(&text);
        let list = |items: Vec<Array>| Ok(Array::items([items.len()].as_slice(), items, None));
        match self {
            Func::Op1(op, f) => list(vec![f.parts(cx)?, text(op.text())?]),
            Func::Op2(op, f, g) => list(vec![f.parts(cx)?, text(op.text())?, g.parts(cx)?]),
            Func::Outer(f) => list(vec![text("∘".into())?, text(".".into())?, f.parts(cx)?]),
            Func::Fork(f, g, h) => list(vec![f.parts(cx)?, g.parts(cx)?, h.parts(cx)?]),
            Func::Atop(g, h) => list(vec![g.parts(cx)?, h.parts(cx)?]),
            other => text(other.text()),
        }
    }
}

impl Oper {
    /// The operator as it is written.
    pub fn text(&self) -> String {
        match self {
            Oper::Prim(p) => p.glyph.to_string(),
            Oper::System(row) => format!("⎕{}", row.name),
            Oper::Dfn(c) => c.text(),
            Oper::Trad(t) => t.text(),
            Oper::Curried(op, g) => {
                let gap = if matches!(**g, Operand::A(_)) { " " } else { "" };
                format!("{}{gap}{}", op.text(), g.form().right())
            }
        }
    }
}

impl Operand {
    fn parts(&self, cx: &Cx<'_>) -> Result<Array> {
        match self {
            Operand::F(f) => f.parts(cx),
            Operand::A(a) => Ok(a.settled()),
        }
    }

    /// The operand as it is written, or would be.
    pub fn text(&self) -> String {
        self.form().text()
    }

    fn form(&self) -> Form {
        match self {
            Operand::F(f) => f.form(),
            Operand::A(a) => Form::Leaf { text: plain(a), array: true },
        }
    }
}

impl Form {
    /// The fewest parentheses that leave it what it is.
    fn text(&self) -> String {
        match self {
            Form::Leaf { text, .. } => text.clone(),
            Form::Mop(f, op) => format!("{}{op}", f.tine()),
            Form::Dop(f, op, g) => format!("{}{op}{}", f.tine(), g.right()),
            Form::Atop(g, h) => format!("{}{}", g.tine(), h.last()),
            Form::Fork(f, g, h) => format!("{}{}{}", f.tine(), g.tine(), h.last()),
        }
    }

    fn is_train(&self) -> bool {
        matches!(self, Form::Atop(..) | Form::Fork(..))
    }

    /// As a tine, or left of an operator.
    fn tine(&self) -> String {
        if self.is_train() { format!("({})", self.text()) } else { self.text() }
    }

    /// As the last tine: a fork there is what its tines would be without parentheses, unless an
    /// array begins it, which would stand beside what is left of it.
    fn last(&self) -> String {
        let begins = |f: &Form| matches!(f, Form::Leaf { array: true, .. });
        match self {
            Form::Fork(f, ..) if !begins(f) => self.text(),
            _ => self.tine(),
        }
    }

    /// As a right operand, which is one item.
    fn right(&self) -> String {
        match self {
            Form::Leaf { text, .. } => text.clone(),
            _ => format!("({})", self.text()),
        }
    }

    /// Parentheses around every part but the whole.
    fn parens(&self) -> String {
        let part = |f: &Form| match f {
            Form::Leaf { text, .. } => text.clone(),
            f => format!("({})", f.parens()),
        };
        match self {
            Form::Leaf { text, .. } => text.clone(),
            Form::Mop(f, op) => format!("{}{op}", part(f)),
            Form::Dop(f, op, g) => format!("{}{op}{}", part(f), part(g)),
            Form::Atop(g, h) => format!("{}{}", part(g), part(h)),
            Form::Fork(f, g, h) => format!("{}{}{}", part(f), part(g), part(h)),
        }
    }

    /// The tree, an operator over its operands.
    fn tree(&self) -> String {
        let rows = self.picture().rows;
        let line = |row: Vec<char>| row.into_iter().collect::<String>();
        rows.into_iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn picture(&self) -> Picture {
        match self {
            Form::Leaf { text, .. } => Picture::of(text),
            Form::Mop(f, op) => {
                let mut below = f.picture();
                let root = below.root + 2;
                let joint = vec![(below.root, '┌'), (below.root + 1, '─'), (root, '┘')];
                below.above(joint, root);
                below.on_top(op);
                below
            }
            Form::Dop(f, op, g) => {
                let mut below = joined(&[f, g]);
                below.on_top(op);
                below
            }
            Form::Atop(g, h) => joined(&[g, h]),
            Form::Fork(f, g, h) => joined(&[f, g, h]),
        }
    }
}

/// Rows of characters, and the column of the first one's root.
struct Picture {
    rows: Vec<Vec<char>>,
    root: usize,
}

impl Picture {
    fn of(text: &str) -> Picture {
        Picture { rows: text.lines().map(|l| l.chars().collect()).collect(), root: 0 }
    }

    /// Puts a row of joints on top, with a new root.
    fn above(&mut self, marks: Vec<(usize, char)>, root: usize) {
        let end = marks.iter().map(|(at, _)| at + 1).max().map_or(0, |end| end);
        let mut row: Vec<char> = std::iter::repeat_n(' ', end).collect();
        marks.into_iter().for_each(|(at, c)| row[at] = c);
        self.rows.insert(0, row);
        self.root = root;
    }

    /// Puts a text on top, above the root.
    fn on_top(&mut self, text: &str) {
        let indent = |l: &str| std::iter::repeat_n(' ', self.root).chain(l.chars()).collect();
        let top: Vec<Vec<char>> = text.lines().map(indent).collect();
        self.rows.splice(0..0, top);
    }

    /// Puts another one beside it: in each row one blank apart. The column that it came to.
    fn beside(&mut self, other: Picture) -> usize {
        let first = |row: &Vec<char>| row.iter().position(|c| *c != ' ');
        let gap = |(mine, its): (&Vec<char>, &Vec<char>)| {
            first(its).map(|at| (mine.len() + 1).saturating_sub(at))
        };
        let shift = self.rows.iter().zip(&other.rows).filter_map(gap).max().map_or(0, |n| n);
        for (k, row) in other.rows.into_iter().enumerate() {
            if k == self.rows.len() {
                self.rows.push(Vec::new());
            }
            let mine = &mut self.rows[k];
            let begins = first(&row).map_or(row.len(), |at| at) + shift;
            let blanks = begins.saturating_sub(mine.len());
            mine.extend(std::iter::repeat_n(' ', blanks));
            mine.extend(row.into_iter().skip(begins - shift));
        }
        other.root + shift
    }
}

/// Parts side by side under a line from the first root to the last.
fn joined(parts: &[&Form]) -> Picture {
    let mut all = Picture { rows: Vec::new(), root: 0 };
    let roots: Vec<usize> = parts.iter().map(|f| all.beside(f.picture())).collect();
    let (first, last) = (roots[0], roots[roots.len() - 1]);
    let (root, sign) = match roots[..] {
        [_, middle, _] => (middle, '┼'),
        _ => ((first + last) / 2, '┴'),
    };
    let mut marks: Vec<(usize, char)> = (first..=last).map(|at| (at, '─')).collect();
    marks.extend([(first, '┌'), (last, '┐'), (root, sign)]);
    all.above(marks, root);
    all
}

fn plain(a: &Array) -> String {
    /// Items that a function's text still shows one by one.
    const SHOWN: usize = 1_000;
    let a = &a.settled();
    if a.len() > SHOWN {
        return "…".into();
    }
    let numbers = (a.holds_numbers() || a.is_complex()) && a.rank() < 2;
    match (a.word(), numbers.then(|| aplomb_values::array::format::line(a).ok()).flatten()) {
        (_, Some(line)) => line,
        (Some(text), _) => format!("'{}'", text.replace('\'', "''")),
        _ => "…".into(),
    }
}

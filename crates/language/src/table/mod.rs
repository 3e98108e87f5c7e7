//! PRIMS: a row per glyph. Lexer, arity checks, entry keys, help, completion and the example test
//! read it.

mod operators;
mod places;
mod roles;
mod scalars;
mod structure;

pub use roles::role;

use crate::eval::cx::Cx;
use crate::eval::run::Eval;
use crate::eval::value::Operand;
use crate::functions::shape::Axis;
use aplomb_ground::error::{Kind, Result};
use aplomb_values::array::Array;
use aplomb_values::prim::op::Op;
use std::sync::LazyLock;

/// The role of a glyph in a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A function.
    Function,
    /// An operator with one operand.
    Monadic,
    /// An operator with two operands.
    Dyadic,
    /// `/ ⌿ \ ⍀`: a function after a value, an operator after a function.
    Hybrid,
    /// Lexes, is not built.
    Missing,
}

/// The class of a meaning: what it does with the items of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Works on each item or pair of items by itself.
    Elementwise,
    /// Looks at shapes and moves items: works on all cells of a frame at once.
    Structural,
    /// Looks at values: runs on the cells of a frame one after the other, without the
    /// interpreter.
    Cells,
    /// Makes items of arrays, or asks the world: the cells of a frame are interpreted.
    Host,
    /// As `Cells`, but each item of the left argument, or of the right one, has a result of its
    /// own: the items of all cells of a frame are one argument.
    Points(Side),
    /// Calls its operands.
    Operator,
}

/// An argument of a dyadic function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The left one.
    Left,
    /// The right one.
    Right,
}

/// A function of one argument.
pub type One = fn(&mut Cx<'_>, &Array, Axis<'_>) -> Result<Array>;
/// A function of two arguments, the left one first.
pub type Two = fn(&mut Cx<'_>, &Array, &Array, Axis<'_>) -> Result<Array>;
/// Operands, left argument, right argument, axis.
pub type Apply = fn(&mut Eval<'_>, &[Operand], Option<&Array>, &Array, Axis<'_>) -> Result<Array>;

/// The code behind a meaning.
#[derive(Clone, Copy)]
pub enum Does {
    /// A scalar operation, recorded or run.
    Scalar(Op),
    /// A function of one argument.
    One(One),
    /// A function of two arguments.
    Two(Two),
    /// An operator.
    Operator(Apply),
    /// The evaluator itself: ⍎.
    Execute,
}

/// An error, when it comes, and a line that gives it; in the line `f` stands for the glyph.
pub type Fails = (Kind, &'static str, &'static str);

/// One use of a glyph. The example is a line and what it prints; a test runs it, and the lines of
/// `errors`.
pub struct Meaning {
    /// The name.
    pub name: &'static str,
    /// A sentence on it.
    pub help: &'static str,
    /// The result's shape: an expression in X and Y, or words.
    pub shape: &'static str,
    /// Of its own; an operator has those of its operands too.
    pub errors: &'static [Fails],
    /// A line, and the text that it prints.
    pub example: (&'static str, &'static str),
    /// The class: what it does with items, and so whether it may see a frame.
    pub class: Class,
    /// The code behind it.
    pub does: Does,
    /// Whether it takes an axis in brackets.
    pub axis: bool,
}

/// A row of the table: a glyph and its uses.
pub struct Prim {
    /// The glyph.
    pub glyph: char,
    /// The letter after a backtick (RIDE's US layout).
    pub key: Option<char>,
    /// Names by which it is typed and found.
    pub names: &'static [&'static str],
    /// The role of the glyph in a phrase.
    pub role: Role,
    /// With one argument.
    pub monadic: Option<Meaning>,
    /// With two arguments.
    pub dyadic: Option<Meaning>,
    /// With operands.
    pub operator: Option<Meaning>,
}

/// The table, by files of rows.
pub static PRIMS: &[&[Prim]] = &[scalars::ROWS, structure::ROWS, places::ROWS, operators::ROWS];

/// All rows.
pub fn prims() -> impl Iterator<Item = &'static Prim> {
    PRIMS.iter().flat_map(|rows| rows.iter())
}

/// The row of a glyph.
pub fn find(glyph: char) -> Option<&'static Prim> {
    // Every character of a text that is no letter asks.
    static SORTED: LazyLock<Vec<(char, &Prim)>> = LazyLock::new(|| {
        let mut rows: Vec<_> = prims().map(|p| (p.glyph, p)).collect();
        rows.sort_unstable_by_key(|row| row.0);
        rows
    });
    let at = SORTED.binary_search_by_key(&glyph, |row| row.0).ok()?;
    Some(SORTED[at].1)
}

/// Whether a character is a glyph of the table.
pub fn is_glyph(c: char) -> bool {
    find(c).is_some()
}

/// Each key behind a backtick, and its glyph.
pub fn keys() -> impl Iterator<Item = (char, char)> {
    let own = prims().filter_map(|p| Some((p.key?, p.glyph)));
    own.chain(OTHER_KEYS.iter().map(|(glyph, key, _)| (*key, *glyph)))
}

impl Prim {
    /// The kind of row, as completion says it.
    pub fn kind(&self) -> &'static str {
        if self.operator.is_some() { "operator" } else { "function" }
    }

    /// The operation that it is with two arguments, or with one. None: it is no scalar function.
    pub fn scalar(&self, dyadic: bool) -> Option<Op> {
        let meaning = if dyadic { &self.dyadic } else { &self.monadic };
        match meaning.as_ref()?.does {
            Does::Scalar(op) => Some(op),
            _ => None,
        }
    }
}

/// The kind of a glyph that is no primitive, as completion says it.
pub fn other_kind(glyph: char) -> &'static str {
    if matches!(glyph, '⍵' | '⍺') { "argument" } else { "symbol" }
}

/// Glyphs that are no primitives but are typed: `⍵`, `←` …
pub static OTHER_KEYS: &[(char, char, &[&str])] = &[
    ('⍵', 'w', &["omega", "right argument"]),
    ('⍺', 'a', &["alpha", "left argument"]),
    ('∇', 'g', &["del", "recursion", "self"]),
    ('←', '[', &["assign", "gets", "left arrow"]),
    ('→', ']', &["branch", "right arrow"]),
    ('⋄', 'D', &["diamond", "statement separator"]),
    ('⍝', ',', &["lamp", "comment"]),
    ('¯', '2', &["high minus", "negative", "macron"]),
    ('⎕', 'l', &["quad", "system"]),
    ('⍞', '{', &["quote quad"]),
    ('⍬', '}', &["zilde", "empty vector"]),
    ('∆', 'h', &["delta"]),
    ('⍙', '>', &["delta underbar"]),
];

/// The shape of a result that is Y's own.
const SAME: &str = "⍴Y";
/// The shape of a scalar function's result.
const PAIR: &str = "⍴X and ⍴Y, which agree; one item goes with any shape";
const NONE: &[Fails] = &[];
const TEXT: Fails = (Kind::Domain, "characters", "f'a'");
const TEXTS: Fails = (Kind::Domain, "characters", "'a'f 1");
const RANKS: Fails = (Kind::Rank, "ranks differ", "(2 2⍴1)f 1 2");
const LENGTHS: Fails = (Kind::Length, "lengths differ", "1 2 f 1 2 3");
const ONE: &[Fails] = &[TEXT];
const ANY: &[Fails] = &[RANKS, LENGTHS];
const TWO: &[Fails] = &[RANKS, LENGTHS, TEXTS];
const REAL: &[Fails] = &[RANKS, LENGTHS, TEXTS, (Kind::Domain, "complex numbers", "1f 1J1")];
const BITS: &[Fails] = &[RANKS, LENGTHS, (Kind::Domain, "anything but 0 and 1", "2f 1")];

const fn meaning(
    name: &'static str,
    help: &'static str,
    shape: &'static str,
    errors: &'static [Fails],
    example: (&'static str, &'static str),
    class: Class,
    does: Does,
) -> Option<Meaning> {
    Some(Meaning { name, help, shape, errors, example, class, does, axis: false })
}

const fn with_axis(
    name: &'static str,
    help: &'static str,
    shape: &'static str,
    errors: &'static [Fails],
    example: (&'static str, &'static str),
    class: Class,
    does: Does,
) -> Option<Meaning> {
    Some(Meaning { name, help, shape, errors, example, class, does, axis: true })
}

const fn function(
    glyph: char,
    key: Option<char>,
    names: &'static [&'static str],
    monadic: Option<Meaning>,
    dyadic: Option<Meaning>,
) -> Prim {
    Prim { glyph, key, names, role: Role::Function, monadic, dyadic, operator: None }
}

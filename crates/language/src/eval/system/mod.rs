//! SYSTEM: a row per system name, by files of rows. Lexer classes, dispatch, help, completion and
//! the example test read it; what a name does stands beside its row.

mod bytes;
mod csv;
mod errors;
mod files;
mod fmt;
mod folders;
pub mod ibeam;
mod input;
mod json;
pub mod library;
pub mod modules;
mod names;
mod namespaces;
mod regex;
mod show;
mod stamps;
mod text;
pub mod ties;
mod time;
pub mod trap;
pub mod variables;
mod xml;

pub use names::is_name;
pub use regex::{Patterns, searched_in_pieces};
pub use text::{case_of, number as number_of_word};

use super::cx::Cx;
use super::run::{At, Eval, Outcome};
use super::scope::Inside;
use super::value::Operand;
use crate::syntax::resolve::Class;
use aplomb_ground::error::{Error, Kind, Result, domain, nonce, syntax, untraced};
use aplomb_ground::limits::Budget;
use aplomb_values::array::Array;

/// A function that gives a ⎕ variable's value.
pub type Get = fn(&mut Cx<'_>) -> Result<Array>;
/// A function that sets a ⎕ variable. Errors: DOMAIN for a value that is not allowed.
pub type Set = fn(&mut Cx<'_>, &Array) -> Result<()>;
/// None: no value. A shy value sets `Store::shy`.
pub type Call = fn(&mut Eval<'_>, &Args<'_>) -> Result<Option<Array>>;

/// The arguments of a system function or operator; the arrays are ready.
pub struct Args<'a> {
    /// The operands, of an operator.
    pub operands: &'a [Operand],
    /// The options that ⍠ gave.
    pub options: &'a Options,
    /// The left argument.
    pub x: Option<&'a Array>,
    /// The right argument.
    pub y: &'a Array,
}

impl Args<'_> {
    /// The left argument. Errors: SYNTAX where there is none.
    pub fn left(&self, what: &str) -> Result<&Array> {
        self.x.ok_or_else(|| syntax(format!("{what} is needed on the left")))
    }
}

/// The kinds of system names.
#[derive(Clone, Copy)]
pub enum Does {
    /// Cannot be assigned.
    Constant(Get),
    /// Cannot be assigned either; it tells of names and of what runs.
    Live(fn(&mut Eval<'_>) -> Result<Array>),
    /// Can be assigned.
    Variable {
        /// Gives the value.
        get: Get,
        /// Sets it.
        set: Set,
        /// A dfn that assigns it gets its own.
        local: bool,
    },
    /// ⎕TRAP, which knows of the calls under way.
    Traps,
    /// A function.
    Function(Call),
    /// A function that may stand alone: its argument is 0 then.
    Bare(Call),
    /// A function that does the same to each character or number of Y by itself, unless a text
    /// stands on its left: all cells of a frame are one argument.
    Mapping(Call),
    /// A function of its arguments alone, without any effect.
    Pure(Call),
    /// A dyadic operator.
    Operator(Call),
}

/// One system name. The example is a text and what it prints; a test runs it.
pub struct Row {
    /// The name, without the quad.
    pub name: &'static str,
    /// A sentence on it.
    pub help: &'static str,
    /// A line, and the text that it prints.
    pub example: (&'static str, &'static str),
    /// The names of its options, for ⍠; the first is the principal one.
    pub options: &'static [&'static str],
    /// The kind, and the function behind it.
    pub does: Does,
}

/// The table, by files of rows.
pub static SYSTEM: &[&[Row]] = &[
    variables::ROWS,
    text::ROWS,
    fmt::ROWS,
    regex::ROWS,
    json::ROWS,
    csv::ROWS,
    files::ROWS,
    folders::ROWS,
    ties::ROWS,
    time::ROWS,
    errors::ROWS,
    names::ROWS,
    namespaces::ROWS,
    library::ROWS,
    modules::ROWS,
    trap::ROWS,
    xml::ROWS,
    show::ROWS,
];

/// All rows.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    SYSTEM.iter().flat_map(|rows| rows.iter())
}

/// Names that Dyalog has and Aplomb has not: they are NONCE ERROR, any other name is SYNTAX ERROR.
const ABSENT: &str = "ARBIN ARBOUT AT ATX BASE CLASS CLEAR CMD CONV CS DCT DQ ED EXCEPTION \
                      EXPORT FAPPEND FAVAIL FCHK FCOPY FCREATE FDROP FERASE FHIST FHOLD FLIB \
                      FNAMES FNUMS FPROPS FRDAC FRDCI FREAD FRENAME FREPLACE FRESIZE FSIZE \
                      FSTAC FSTIE FTIE FUNTIE INSTANCES KL LOAD LOCK MAP MONITOR NA \
                      NATTRIBUTES NEW NLOCK NSI NXLATE OPT OR PATH PFKEY PROFILE REFS RSI RTL \
                      SAVE SD SE SHADOW SHELL SIZE SM SR SRC STACK STATE STOP SVC SVO SVQ SVR \
                      SVS TALLOC TCNUMS TGET TKILL TNAME TPOOL TPUT TRACE TREQ TSYNC USING \
                      VERIFY WC WG WN WS WX XT";

/// The row of a name as the lexer gives it. Errors: NONCE for what Dyalog has, else SYNTAX.
pub fn find(name: &str) -> Result<&'static Row> {
    let found = rows()
        .find(|r| r.name == name)
        .or_else(|| rows().find(|r| r.name.eq_ignore_ascii_case(name)));
    let first = name.split('.').next();
    found.ok_or_else(|| match ABSENT.split_whitespace().any(|absent| Some(absent) == first) {
        true => nonce(format!("⎕{name}")),
        false => syntax(format!("there is no ⎕{name}")),
    })
}

impl Row {
    /// Whether it does the same to each item of Y by itself, beside this left argument.
    pub fn maps(&self, x: Option<&Array>) -> bool {
        let number = |x: &Array| x.rank() == 0 && x.is_simple_scalar() && !x.is_char();
        matches!(self.does, Does::Mapping(_)) && x.is_none_or(number)
    }

    /// Whether it has no effect and looks at nothing but its arguments and the settings.
    pub fn is_pure(&self) -> bool {
        use Does::{Constant, Mapping, Pure, Variable};
        matches!(self.does, Constant(_) | Variable { .. } | Mapping(_) | Pure(_))
    }

    /// Array, function or operator.
    pub fn class(&self) -> Class {
        match self.does {
            Does::Constant(_) | Does::Live(_) | Does::Variable { .. } | Does::Traps => Class::Array,
            Does::Function(_) | Does::Bare(_) | Does::Mapping(_) | Does::Pure(_) => Class::Func,
            Does::Operator(_) => Class::Dyadic,
        }
    }

    /// Whether it can be assigned.
    pub fn is_variable(&self) -> bool {
        matches!(self.does, Does::Variable { .. } | Does::Traps)
    }

    /// Errors: SYNTAX for what cannot be assigned, DOMAIN for a value that is not allowed.
    pub fn set(&self, cx: &mut Cx<'_>, v: &Array) -> Result<()> {
        match self.does {
            Does::Variable { set, .. } => set(cx, v),
            _ => Err(syntax(format!("⎕{} cannot be assigned", self.name))),
        }
    }
}

/// A row of a function without options.
const fn function(
    name: &'static str,
    help: &'static str,
    example: (&'static str, &'static str),
    call: Call,
) -> Row {
    Row { name, help, example, options: &[], does: Does::Function(call) }
}

/// A function of each character, or number, by itself, alone or with a number on its left.
const fn mapping(
    name: &'static str,
    help: &'static str,
    example: (&'static str, &'static str),
    call: Call,
) -> Row {
    Row { name, help, example, options: &[], does: Does::Mapping(call) }
}

/// A function of its arguments alone.
const fn pure(
    name: &'static str,
    help: &'static str,
    example: (&'static str, &'static str),
    call: Call,
) -> Row {
    Row { name, help, example, options: &[], does: Does::Pure(call) }
}

/// A function that ⍠ gives options.
const fn optional(
    name: &'static str,
    help: &'static str,
    example: (&'static str, &'static str),
    options: &'static [&'static str],
    call: Call,
) -> Row {
    Row { name, help, example, options, does: Does::Function(call) }
}

const fn constant(
    name: &'static str,
    help: &'static str,
    example: (&'static str, &'static str),
    get: Get,
) -> Row {
    Row { name, help, example, options: &[], does: Does::Constant(get) }
}

const fn live(
    name: &'static str,
    help: &'static str,
    example: (&'static str, &'static str),
    get: fn(&mut Eval<'_>) -> Result<Array>,
) -> Row {
    Row { name, help, example, options: &[], does: Does::Live(get) }
}

/// The options of one call, by name; a later one of the same name counts.
#[derive(Clone, Default)]
pub struct Options(Vec<(String, Array)>);

impl Options {
    /// The test for a call that sets none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those that a program sets by itself.
    pub fn of(given: &[(&'static str, Array)]) -> Options {
        Options(given.iter().map(|(name, value)| (name.to_string(), value.clone())).collect())
    }

    /// Adds what stands right of a ⍠: a value of the principal option, a name and a value, or such
    /// pairs. Errors: DOMAIN for an option the row has not.
    pub fn add(&mut self, row: &Row, given: &Array) -> Result<()> {
        let pair = |a: &Array| match a.few() {
            Some([name, value]) if a.rank() == 1 && !a.is_simple() => {
                name.word().map(|name| (name, value.disclosed()))
            }
            _ => None,
        };
        let found = match pair(given) {
            Some(one) => vec![one],
            None if given.rank() == 1
                && given.in_turn().all(|a| pair(&a.disclosed()).is_some()) =>
            {
                given.in_turn().filter_map(|a| pair(&a.disclosed())).collect()
            }
            // A name that has no options has none that is called ''.
            None => {
                vec![(row.options.first().copied().unwrap_or("").to_string(), given.disclosed())]
            }
        };
        for (name, value) in found {
            if !row.options.contains(&name.as_str()) {
                let error = domain(format!("⎕{} has no option '{name}'", row.name));
                return Err(error.hint(format!("its options are {}", row.options.join(" "))));
            }
            self.0.push((name, value));
        }
        Ok(())
    }

    /// The value of an option, the last that was given.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.0.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// The text of an option, if it was given. Errors: DOMAIN.
    pub fn text(&self, name: &str) -> Result<Option<String>> {
        let text = |a: &Array| a.word().ok_or_else(|| domain(format!("option '{name}' is text")));
        self.get(name).map(text).transpose()
    }

    /// A character, or none where the option is an empty text. Errors: DOMAIN.
    pub fn character(&self, name: &str, default: Option<char>) -> Result<Option<char>> {
        match self.text(name)? {
            None => Ok(default),
            Some(text) => match text.chars().collect::<Vec<_>>().as_slice() {
                [] => Ok(None),
                [c] => Ok(Some(*c)),
                _ => Err(domain(format!("option '{name}' is one character"))),
            },
        }
    }

    /// Errors: DOMAIN for anything but one whole number.
    pub fn whole(&self, name: &str, default: i64) -> Result<i64> {
        let Some(a) = self.get(name) else { return Ok(default) };
        let number = (a.len() == 1 && a.holds_numbers())
            .then(|| a.number_at(0))
            .flatten()
            .and_then(|x| aplomb_values::prim::scalar::near_integer(x, 1e-14));
        number.ok_or_else(|| domain(format!("option '{name}' is a whole number")))
    }

    /// Errors: DOMAIN for anything but 0 and 1.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool> {
        match self.whole(name, i64::from(default))? {
            k @ (0 | 1) => Ok(k == 1),
            _ => Err(domain(format!("option '{name}' is 0 or 1"))),
        }
    }

    /// One of some words. Errors: DOMAIN, with the words.
    pub fn word(&self, name: &str, words: &[&'static str]) -> Result<&'static str> {
        let rows: Vec<(&str, &'static str)> = words.iter().map(|w| (*w, *w)).collect();
        self.choice(name, &rows)
    }

    /// The value beside the option's word; beside the first where it is not given. Errors: DOMAIN,
    /// with the words there are.
    pub fn choice<T: Copy>(&self, name: &str, rows: &[(&str, T)]) -> Result<T> {
        let Some(text) = self.text(name)? else { return Ok(rows[0].1) };
        let found = rows.iter().find(|row| row.0 == text).map(|row| row.1);
        let words = || rows.iter().map(|row| row.0).collect::<Vec<_>>().join(" ");
        found.ok_or_else(|| domain(format!("option '{name}' is one of {}", words())))
    }
}

impl Eval<'_> {
    /// The value of a ⎕ variable or constant. Errors: SYNTAX for a function.
    pub fn system_value(&mut self, row: &'static Row) -> Result<Array> {
        match row.does {
            Does::Constant(get) | Does::Variable { get, .. } => get(&mut self.cx),
            Does::Live(get) => get(self),
            Does::Traps => trap::value(self),
            _ => Err(syntax(format!("⎕{} is a function", row.name))),
        }
    }

    /// `⎕IO←0`: for the dfn that does it, where the name is local, else for the workspace.
    pub fn set_system(&mut self, at: At<'_>, row: &'static Row, v: &Array) -> Result<()> {
        let v = self.cx.ready(v, "system variable")?;
        if matches!(row.does, Does::Traps) {
            return trap::set(self, &v);
        }
        let old = match (at.frame, row.does) {
            (Some(frame), Does::Variable { get, local: true, .. })
                if !frame.saved.borrow().iter().any(|(r, _)| std::ptr::eq(*r, row)) =>
            {
                Some((frame, get(&mut self.cx)?))
            }
            _ => None,
        };
        row.set(&mut self.cx, &v)?;
        if let Some((frame, old)) = old {
            frame.saved.borrow_mut().push((row, old));
        }
        Ok(())
    }

    /// A system function, or one that a system operator made, on arguments.
    pub fn system_call(
        &mut self,
        row: &'static Row,
        operands: &[Operand],
        options: &Options,
        x: Option<&Array>,
        y: &Array,
    ) -> Result<Outcome> {
        if let (true, Some(split)) = (row.maps(x), y.frame()) {
            let (node, at) = (split.node.clone(), split.at);
            let z = self.inside(Inside::OneCell, |ev| {
                let outcome = ev.system_call(row, operands, options, x, &node)?;
                ev.valued(outcome)
            })?;
            if z.as_ref().is_some_and(|z| !z.is_uniform() || z.shape() != node.shape()) {
                return Err(untraced("items of cells become arrays"));
            }
            return Ok(z.map_or(Outcome::Nothing, |z| Outcome::Array(Array::framed(z, at))));
        }
        if !matches!(row.does, Does::Mapping(_) | Does::Pure(_)) || self.cx.sys.scope.is_framed() {
            self.cx.unframed("a system function")?;
        }
        let call = match row.does {
            Does::Function(call) | Does::Bare(call) | Does::Operator(call) => call,
            Does::Mapping(call) | Does::Pure(call) => call,
            _ => return Err(syntax(format!("⎕{} is no function", row.name))),
        };
        let y = self.cx.ready(y, "system function")?;
        let x = x.map(|x| self.cx.ready(x, "system function")).transpose()?;
        let work = self.cx.begin_outside(x.as_ref().map_or(0, Array::len).max(y.len()));
        let value = call(self, &Args { operands, options, x: x.as_ref(), y: &y })?;
        value.iter().for_each(|z| self.tell_interpreted(work.clone(), z));
        Ok(value.map_or(Outcome::Nothing, Outcome::Array))
    }

    /// The value of what only does something: an empty vector that does not print.
    fn nothing(&mut self) -> Result<Option<Array>> {
        let none = self.cx.vector(vec![])?;
        self.shy(none)
    }

    /// Marks the value of this call as one that does not print by itself.
    fn shy(&mut self, a: Array) -> Result<Option<Array>> {
        self.st.shy = true;
        Ok(Some(a))
    }
}

/// The texts of a vector of texts; one text is one.
/// Errors: DOMAIN for what is none, in the words `what`; WS FULL, INTERRUPT.
fn texts(a: &Array, what: &str, budget: &Budget) -> Result<Vec<String>> {
    let wrong = || domain(format!("{what} is text"));
    let text = |a: &Array| a.to_text(budget)?.ok_or_else(wrong);
    if a.is_simple() && (a.is_char() || a.rank() == 0) {
        return match a.rank() {
            0 | 1 => Ok(vec![text(a)?]),
            2 => {
                let width = a.shape()[1];
                let chars = a.to_chars(budget)?.ok_or_else(wrong)?;
                let (mut rows, mut ticks) = (budget.room(a.shape()[0])?, budget.ticks());
                for r in 0..a.shape()[0] {
                    ticks.tick()?;
                    rows.push(chars[r * width..(r + 1) * width].iter().collect::<String>());
                }
                Ok(rows)
            }
            _ => Err(wrong()),
        };
    }
    let (mut rows, mut ticks) = (budget.room(a.len())?, budget.ticks());
    for item in a.in_turn() {
        ticks.tick()?;
        rows.push(text(&item)?);
    }
    Ok(rows)
}

/// A vector of texts as a value.
fn text_vector(cx: &Cx<'_>, texts: &[String]) -> Result<Array> {
    let way = cx.host.interrupt().rounds(texts.len() as u64);
    let one = |(k, text): (usize, &String)| {
        way.done(k as u64);
        cx.text(text)
    };
    let items = cx.budget().all(texts.iter().enumerate().map(one))?;
    let proto = if items.is_empty() { Some(cx.text("")?) } else { None };
    Ok(Array::items([items.len()].as_slice(), items, proto))
}

/// Rows of text as a matrix, each filled with blanks.
fn text_matrix(cx: &Cx<'_>, rows: &[String]) -> Result<Array> {
    let width = rows.iter().map(|r| r.chars().count()).max().unwrap_or(0);
    let mut chars = cx.budget().room(width.saturating_mul(rows.len()))?;
    let mut ticks = cx.budget().ticks();
    for row in rows {
        ticks.tick()?;
        let before = chars.len();
        chars.extend(row.chars());
        chars.resize(before + width, ' ');
    }
    Array::chars([rows.len(), width].as_slice(), chars, cx.budget())
}

/// The error of a call with an argument that has no such form.
fn misused(name: &str, form: &str) -> Error {
    domain(format!("⎕{name} takes {form}"))
}

/// The error of an argument that was read: where it is of another form, the form that is wanted.
/// Room that is missing and an interrupt stay what they are.
fn misread(e: Error, name: &str, form: &str) -> Error {
    if e.kind() == Kind::Domain { misused(name, form) } else { e }
}

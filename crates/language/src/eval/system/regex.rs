//! ⎕R and ⎕S: regular expressions over texts and lines, by the `regex` crate.
//!
//! Patterns are Perl's as far as that crate goes: what looks around or back is NONCE ERROR. A
//! transformation that is a function gets the match as ⍵, since there are no namespaces. Mode L
//! (the default) works line by line, D and M on the whole.

mod pattern;
mod plain;
mod template;

use super::text::mapped;
use super::{Args, Does, Options, Row, misused, text_vector, texts};
use crate::eval::run::Eval;
use crate::eval::space::Space;
use crate::eval::value::{Func, Operand, Value};
use aplomb_ground::error::{Result, domain, length};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Ragged};
use pattern::Pattern;
pub use pattern::Patterns;
use plain::Plain;
use std::cell::OnceCell;
use std::rc::Rc;
use template::{Case, Part, Template};

const OPTIONS: &[&str] = &[
    "IC",
    "Mode",
    "DotAll",
    "EOL",
    "NEOL",
    "ML",
    "Greedy",
    "OM",
    "ResultText",
    "UCP",
    "Regex",
    "InEnc",
    "OutEnc",
    "Enc",
];

pub static ROWS: &[Row] = &[
    Row {
        name: "R",
        help: "(A⎕R B)Y: what matches the patterns A becomes B, in which & \\0 is the match, \\1 a \
               part, \\u& in capitals; or B of ⍵, \
the match. ⍠1 ignores case.",
        example: ("('.at'⎕R'\\u&')'The cat sat'", "The CAT SAT"),
        options: OPTIONS,
        does: Does::Operator(|ev, a| run(ev, a, true)),
    },
    Row {
        name: "S",
        help: "(A⎕S B)Y: for each match of the patterns A the text B, or B of ⍵, or numbers: 0 \
               offset, 1 length, 2 line, 3 pattern.",
        example: ("('an'⎕S 0 1)'banana'", " 1 2  3 2 "),
        options: OPTIONS,
        does: Does::Operator(|ev, a| run(ev, a, false)),
    },
];

/// Bytes of a pattern that is compiled, about: a short text has three thousand.
const COMPILED: usize = 4_096;

/// The fate of a match.
enum Rule {
    /// One for all patterns, or one each.
    Texts(Vec<Template>),
    /// Codes, and whether there is one number a match.
    Codes(Vec<i64>, bool),
    /// A function, and the namespace that it gets: one for the whole run.
    Function(Rc<Func>, Rc<Space>),
}

struct Search<'a> {
    patterns: Vec<Pattern>,
    rule: Rule,
    replace: bool,
    options: &'a Options,
    /// At most so many matches a block; negative: only that one.
    most: i64,
    overlap: bool,
}

/// One match: its pattern, and where it and its parts stand in the block.
struct Match<'t> {
    pattern: usize,
    caps: ::regex::Captures<'t>,
    block: usize,
    /// Characters before it in the block.
    offset: usize,
    /// The block as an array, once somebody has asked for it.
    whole: &'t OnceCell<Array>,
}

fn run(ev: &mut Eval<'_>, a: &Args<'_>, replace: bool) -> Result<Option<Array>> {
    if a.x.is_some() {
        return Err(misused(
            if replace { "R" } else { "S" },
            "no left argument: there are no tied files",
        ));
    }
    let (search, mode) = search(ev, a.operands, replace, a.options)?;
    search.document(ev, a.y, mode)
}

/// `(A⎕R B)¨` of texts that are pieces of one, where B is text, and `(A⎕S k)¨` where k is a code:
/// what is read of A and B is read once. None: it goes another way. Errors: those of the first text
/// that fails, WS FULL, INTERRUPT.
pub fn searched_in_pieces(
    ev: &mut Eval<'_>,
    row: &Row,
    operands: &[Operand],
    all: &Ragged,
) -> Result<Option<Ragged>> {
    let replace = row.name == "R";
    if !replace && row.name != "S" {
        return Ok(None);
    }
    let [Operand::A(_), Operand::A(_)] = operands else { return Ok(None) };
    if !all.flat().is_char() || all.count() == 0 || all.range(0).start != 0 {
        return Ok(None);
    }
    let options = Options::default();
    let (search, _) = search(ev, operands, replace, &options)?;
    // The texts that an empty list is like are no flat vector's.
    if !replace && !matches!(search.rule, Rule::Codes(_, true)) {
        return Ok(None);
    }
    if let Some(plain) = Plain::of(&search)
        && let Some(made) = plain.pieces(&ev.cx, all)?
    {
        return Ok(Some(made));
    }
    let _text = ev.cx.budget().charge_elements(all.flat().len(), size_of::<char>() + 2)?;
    let Some(text) = all.flat().to_text(ev.cx.budget())? else { return Ok(None) };
    let ascii = text.is_ascii();
    let (mut out, mut found) = (String::new(), Vec::new());
    let (mut rest, mut total) = (text.as_str(), 0);
    let mut ends = ev.cx.budget().room(all.count())?;
    for k in 0..all.count() {
        if k % 256 == 0 {
            ev.cx.host.interrupt().check()?;
        }
        let n = all.range(k).len();
        let cut = match ascii {
            true => n,
            false => rest.char_indices().nth(n).map_or(rest.len(), |(at, _)| at),
        };
        let (one, behind) = rest.split_at(cut);
        let before = out.len();
        for (k, (block, end)) in blocks(one).into_iter().enumerate() {
            search.block(ev, block, k, &mut out, &mut found)?;
            pushed(&mut out, end, ev.cx.budget())?;
        }
        total = match replace {
            true => total + out[before..].chars().count(),
            false => found.len(),
        };
        let Ok(end) = u32::try_from(total) else { return Ok(None) };
        ends.push(end);
        rest = behind;
    }
    let flat = match replace {
        true => ev.cx.text(&out)?,
        false => ev.cx.collect(&[found.len()], found, None)?,
    };
    Ok(Ragged::new(flat, ends))
}

/// The search that the operands and options ask for, and the mode.
fn search<'a>(
    ev: &mut Eval<'_>,
    operands: &[Operand],
    replace: bool,
    o: &'a Options,
) -> Result<(Search<'a>, &'static str)> {
    let [Operand::A(patterns), rule] = operands else { return Err(domain("patterns are text")) };
    let patterns = ev.cx.ready(patterns, "patterns")?;
    let (as_regex, as_template) = literal_flags(o)?;
    let mode = o.word("Mode", &["L", "D", "M"])?;
    let how = pattern::How {
        regex: as_regex,
        ignore_case: o.flag("IC", false)?,
        lines: mode == "M",
        dot_all: o.flag("DotAll", false)?,
        greedy: o.flag("Greedy", true)?,
        unicode: o.flag("UCP", false)?,
    };
    if mode == "L" && how.dot_all {
        return Err(domain("option 'DotAll' needs 'Mode' 'D' or 'M': lines hold no line ends"));
    }
    let patterns = texts(&patterns, "a pattern", ev.cx.budget())?;
    let _compiled = ev.cx.budget().charge_elements(patterns.len(), COMPILED)?;
    let mut ready = Vec::new();
    for p in &patterns {
        ev.cx.host.interrupt().check()?;
        ready.push(ev.cx.sys.patterns.of(p, &how)?);
    }
    let patterns = ready;
    let rule = rule_of(ev, rule, &patterns, replace, as_template)?;
    let overlap = o.flag("OM", false)?;
    if overlap && replace {
        return Err(domain("option 'OM' is for ⎕S"));
    }
    let most = o.whole("ML", 0)?;
    Ok((Search { patterns, rule, replace, options: o, most, overlap }, mode))
}

/// Whether patterns, and transformations, are more than plain text.
fn literal_flags(o: &Options) -> Result<(bool, bool)> {
    let Some(given) = o.get("Regex") else { return Ok((true, true)) };
    let flag = |k: usize| given.number_at(k).filter(|x| *x == 0.0 || *x == 1.0);
    let flag = |k: usize| flag(k).filter(|_| !given.is_char()).map(|x| x == 1.0);
    match (given.len(), flag(0), flag(given.len() - 1)) {
        (1 | 2, Some(x), Some(y)) => Ok((x, y)),
        _ => Err(domain("option 'Regex' is 0 or 1, for patterns and transformations")),
    }
}

fn rule_of(
    ev: &mut Eval<'_>,
    rule: &Operand,
    patterns: &[Pattern],
    replace: bool,
    templates: bool,
) -> Result<Rule> {
    let a = match rule {
        Operand::F(f) => {
            let space = ev.st.new_space("[Namespace]");
            return Ok(Rule::Function(f.clone(), space));
        }
        Operand::A(a) => ev.cx.ready(a, "a transformation")?,
    };
    if a.is_simple() && !a.is_char() && !a.is_empty() {
        if replace {
            return Err(domain("numbers are for ⎕S; ⎕R needs text or a function"));
        }
        let codes = ev.cx.integers(&a, "a transformation code")?;
        if codes.iter().any(|c| !(0..=3).contains(c)) {
            return Err(domain("the codes of ⎕S are 0 offset, 1 length, 2 line, 3 pattern"));
        }
        return Ok(Rule::Codes(codes, a.rank() == 0));
    }
    let texts = texts(&a, "a transformation", ev.cx.budget())?;
    if texts.len() != 1 && texts.len() != patterns.len() {
        return Err(length(format!(
            "{} transformations for {} patterns",
            texts.len(),
            patterns.len()
        )));
    }
    texts.iter().map(|t| template::parse(t, templates)).collect::<Result<_>>().map(Rule::Texts)
}

/// A line and what ended it.
type Block<'t> = (&'t str, &'t str);

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_end) {
        let long = if rest[at..].starts_with("\r\n") {
            2
        } else {
            rest[at..].chars().next().map_or(1, char::len_utf8)
        };
        out.push((&rest[..at], &rest[at..at + long]));
        rest = &rest[at + long..];
    }
    if !rest.is_empty() || out.is_empty() {
        out.push((rest, ""));
    }
    out
}

/// Errors: WS FULL where the text grows beyond what is free.
fn pushed(out: &mut String, piece: &str, budget: &Budget) -> Result<()> {
    budget.grow(out, piece.len())?;
    out.push_str(piece);
    Ok(())
}

fn is_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

impl Search<'_> {
    fn document(&self, ev: &mut Eval<'_>, y: &Array, mode: &str) -> Result<Option<Array>> {
        let nested = !y.is_simple() || y.is_empty() && !y.is_uniform();
        if y.rank() > 1 {
            return Err(domain("⎕R and ⎕S take a text or a vector of texts"));
        }
        if let Some(plain) = Plain::of(self) {
            let made = match nested {
                true => plain.lines(&ev.cx, y)?,
                false => plain.text(&ev.cx, y)?,
            };
            if made.is_some() {
                return Ok(made);
            }
        }
        let eol = self.line_end()?;
        // The characters, lines of them, the text they make.
        let _text = ev.cx.budget().charge_elements(y.len(), size_of::<char>() + 2)?;
        let lines = texts(y, "the text to search", ev.cx.budget())?;
        let mut text = lines.join(eol);
        if self.options.flag("NEOL", false)? {
            text = blocks(&text)
                .into_iter()
                .map(|(line, end)| format!("{line}{}", if end.is_empty() { "" } else { eol }))
                .collect();
        }
        let _held = ev.cx.budget().charge(2 * text.len() as u64)?;
        let parts = if mode == "L" { blocks(&text) } else { vec![(text.as_str(), "")] };
        let mut found = Vec::new();
        let mut out = String::new();
        for (k, (block, end)) in parts.into_iter().enumerate() {
            if k % 256 == 0 {
                ev.cx.host.interrupt().check()?;
            }
            self.block(ev, block, k, &mut out, &mut found)?;
            pushed(&mut out, end, ev.cx.budget())?;
        }
        if !self.replace {
            let proto = match self.rule {
                Rule::Texts(_) => Some(ev.cx.text("")?),
                _ => None,
            };
            return match self.rule {
                Rule::Texts(_) => Ok(Some(Array::items([found.len()].as_slice(), found, proto))),
                _ => ev.cx.collect(&[found.len()], found, proto).map(Some),
            };
        }
        let as_lines = match self.options.word("ResultText", &["Implied", "Simple", "Nested"])? {
            "Implied" => nested,
            word => word == "Nested",
        };
        if as_lines {
            let mut rows: Vec<String> =
                blocks(&out).into_iter().map(|(line, _)| line.to_string()).collect();
            // Each text is a line, the last one too if it is empty.
            if mode == "L" && lines.last().is_some_and(String::is_empty) && out.ends_with(is_end) {
                rows.push(String::new());
            }
            return text_vector(&ev.cx, &rows).map(Some);
        }
        ev.cx.text(&out).map(Some)
    }

    fn line_end(&self) -> Result<&'static str> {
        const ENDS: &[(&str, &str)] = &[
            ("CRLF", "\r\n"),
            ("CR", "\r"),
            ("LF", "\n"),
            ("VT", "\u{b}"),
            ("NEL", "\u{85}"),
            ("FF", "\u{c}"),
            ("LS", "\u{2028}"),
            ("PS", "\u{2029}"),
        ];
        let names: Vec<&'static str> = ENDS.iter().map(|e| e.0).collect();
        let name = self.options.word("EOL", &names)?;
        Ok(ENDS.iter().find(|e| e.0 == name).map_or("\r\n", |e| e.1))
    }

    /// One block: what it becomes goes to `out`, what its matches give to `found`.
    fn block(
        &self,
        ev: &mut Eval<'_>,
        text: &str,
        block: usize,
        out: &mut String,
        found: &mut Vec<Array>,
    ) -> Result<()> {
        // The next match of each pattern, found once and kept until it is passed.
        let mut next: Vec<Option<Option<(usize, usize)>>> = vec![None; self.patterns.len()];
        let (mut from, mut copied, mut count) = (0, 0, 0i64);
        let (mut counted, mut offset) = (0, 0);
        let whole = OnceCell::new();
        while from <= text.len() {
            let mut best: Option<(usize, usize, usize)> = None;
            for (k, p) in self.patterns.iter().enumerate() {
                ev.cx.host.interrupt().check()?;
                let known = next[k].filter(|m| m.is_none_or(|(start, _)| start >= from));
                let here = known
                    .unwrap_or_else(|| p.regex.find_at(text, from).map(|m| (m.start(), m.end())));
                next[k] = Some(here);
                if let Some((start, end)) = here
                    && best.is_none_or(|(_, s, _)| start < s)
                {
                    best = Some((k, start, end));
                }
            }
            let Some((k, start, end)) = best else { break };
            let after = |at: usize| at + text[at..].chars().next().map_or(1, char::len_utf8);
            count += 1;
            if count % 1_024 == 0 {
                ev.cx.host.interrupt().check()?;
            }
            let wanted = self.most >= 0 || count == -self.most;
            if wanted && let Some(caps) = self.patterns[k].regex.captures_at(text, start) {
                offset += text[counted..start].chars().count();
                counted = start;
                let m = Match { pattern: k, caps, block, offset, whole: &whole };
                if self.replace {
                    pushed(out, &text[copied..start], ev.cx.budget())?;
                    self.replaced(ev, &m, text, out)?;
                } else if let Some(value) = self.value(ev, &m, text)? {
                    ev.cx.budget().widen(found, 1)?;
                    found.push(value);
                }
                copied = end;
            }
            from = if self.overlap {
                after(start)
            } else if end == start {
                after(end)
            } else {
                end
            };
            if self.most != 0 && count >= self.most.abs() {
                break;
            }
        }
        if self.replace {
            pushed(out, &text[copied.min(text.len())..], ev.cx.budget())?;
        }
        Ok(())
    }

    fn template(&self, pattern: usize) -> Option<&Template> {
        match &self.rule {
            Rule::Texts(all) => all.get(if all.len() == 1 { 0 } else { pattern }),
            _ => None,
        }
    }

    /// % for each match makes more than there was.
    fn filled(&self, m: &Match<'_>, text: &str, out: &mut String, budget: &Budget) -> Result<()> {
        let mut ticks = budget.ticks();
        for part in self.template(m.pattern).map_or(&[][..], |t| &t.0) {
            ticks.tick()?;
            let (piece, case) = match part {
                Part::Plain(text) => (text.as_str(), Case::Same),
                Part::Line(case) => (text, *case),
                Part::Group(k, case) => (m.caps.get(*k).map_or("", |g| g.as_str()), *case),
                Part::Named(name, case) => (m.caps.name(name).map_or("", |g| g.as_str()), *case),
            };
            match case {
                Case::Same => pushed(out, piece, budget)?,
                case => {
                    budget.grow(out, 2 * piece.len())?;
                    out.extend(piece.chars().map(|c| mapped(c, case == Case::Upper)));
                }
            }
        }
        Ok(())
    }

    /// The namespace that tells of a match: what a function of ⎕R and ⎕S gets. Offsets begin at 0.
    fn matched(
        &self,
        ev: &mut Eval<'_>,
        m: &Match<'_>,
        text: &str,
        space: &Rc<Space>,
    ) -> Result<Array> {
        let regex = &self.patterns[m.pattern].regex;
        let start = m.caps.get(0).map_or(0, |g| g.start());
        // A group that took no part is told only if a later one did.
        let last = (0..m.caps.len()).rev().find(|k| m.caps.get(*k).is_some()).map_or(0, |k| k);
        let groups = || (0..=last).map(|k| m.caps.get(k));
        let offset = |g: Option<::regex::Match<'_>>| {
            g.map_or(-1.0, |g| (m.offset + text[start..g.start()].chars().count()) as f64)
        };
        let length =
            |g: Option<::regex::Match<'_>>| g.map_or(-1.0, |g| g.as_str().chars().count() as f64);
        let names: Vec<String> =
            regex.capture_names().map(|n| n.into_iter().collect::<String>()).collect();
        let whole = match m.whole.get() {
            Some(whole) => whole.clone(),
            None => {
                let made = ev.cx.text(text)?;
                m.whole.get_or_init(|| made).clone()
            }
        };
        let members = [
            ("Block", whole),
            ("BlockNum", Array::num(m.block as f64)),
            ("Pattern", ev.cx.text(regex.as_str())?),
            ("PatternNum", Array::num(m.pattern as f64)),
            ("Match", ev.cx.text(m.caps.get(0).map_or("", |g| g.as_str()))?),
            ("Offsets", ev.cx.vector(groups().map(offset).collect())?),
            ("Lengths", ev.cx.vector(groups().map(length).collect())?),
            ("Names", super::text_vector(&ev.cx, &names)?),
            ("ReplaceMode", Array::bool(self.replace)),
            ("TextOnly", Array::bool(self.replace)),
        ];
        let to = space.value();
        for (name, v) in members {
            let sym = ev.st.symbols.intern(name);
            ev.set_member(&to, sym, Value::Array(v))?;
        }
        Ok(to)
    }

    fn replaced(
        &self,
        ev: &mut Eval<'_>,
        m: &Match<'_>,
        text: &str,
        out: &mut String,
    ) -> Result<()> {
        let Rule::Function(f, space) = &self.rule else {
            return self.filled(m, text, out, ev.cx.budget());
        };
        let matched = self.matched(ev, m, text, space)?;
        let made = ev.apply(f, None, &matched)?;
        let made = ev.cx.ready(&made, "⎕R")?;
        let made = made.to_text(ev.cx.budget())?.filter(|_| made.is_char() || made.is_empty());
        let made = made.ok_or_else(|| domain("the function of ⎕R gives text"))?;
        pushed(out, &made, ev.cx.budget())
    }

    /// The item that a match gives to ⎕S, if any.
    fn value(&self, ev: &mut Eval<'_>, m: &Match<'_>, text: &str) -> Result<Option<Array>> {
        match &self.rule {
            Rule::Texts(_) => {
                let mut made = String::new();
                self.filled(m, text, &mut made, ev.cx.budget())?;
                ev.cx.text(&made).map(Some)
            }
            Rule::Codes(codes, one) => {
                let long = m.caps.get(0).map_or(0, |g| g.as_str().chars().count());
                let number =
                    |code: &i64| [m.offset, long, m.block, m.pattern][*code as usize & 3] as f64;
                let numbers: Vec<f64> = codes.iter().map(number).collect();
                if *one {
                    Ok(Some(Array::num(numbers[0])))
                } else {
                    ev.cx.vector(numbers).map(Some)
                }
            }
            Rule::Function(f, space) => {
                let matched = self.matched(ev, m, text, space)?;
                let done = ev.call(f, None, &matched)?;
                let made = ev.valued(done)?;
                made.map(|a| ev.cx.ready(&a, "⎕S")).transpose()
            }
        }
    }
}

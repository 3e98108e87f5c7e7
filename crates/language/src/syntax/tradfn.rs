//! Functions of lines: `∇r←{x} foo y;a;b`, the lines of the body, `∇`.
//!
//! A text is cut into what stands between two `∇` and the rest before it is parsed; a header is
//! read from its tokens. The body is lines of the same grammar as a text, made into steps.

use super::ast::{Ast, Sym, Symbols, TradId};
use super::guards::Guards;
use super::parse::{Line, Parser};
use super::resolve::Pattern;
use super::steps::{Steps, steps};
use super::token::{Kind, Token, Word};
use crate::eval::system;
use aplomb_ground::error::{Error, Result, syntax};
use aplomb_ground::span::{Place, Source, Span};
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

/// A function or operator of lines.
pub struct Tradfn {
    /// Its name.
    pub name: Sym,
    /// The names whose values are the result.
    pub result: Option<Pattern>,
    /// The result does not print by itself.
    pub shy: bool,
    /// The left argument.
    pub left: Option<Pattern>,
    /// The left argument may be left out.
    pub optional: bool,
    /// The right argument; None: it takes none.
    pub right: Option<Pattern>,
    /// The names of operands: none, one or two.
    pub operands: Vec<Sym>,
    /// All names that a call has for itself: arguments, result, operands, labels and locals.
    pub locals: Vec<Sym>,
    /// The ⎕ variables that are local.
    pub settings: Vec<&'static system::Row>,
    /// The labels, each with its line.
    pub labels: Vec<(Sym, u32)>,
    /// The body. Err: its control words do not nest, which is told when it is called.
    pub steps: Result<Steps>,
    /// The place in the text, from the header to the end of the last line.
    pub span: Span,
    /// The dfn that it is, once somebody asked.
    pub guards: OnceCell<Option<Guards>>,
}

impl Tradfn {
    /// Whether it takes no argument.
    pub fn is_niladic(&self) -> bool {
        self.right.is_none()
    }

    /// The lines as they are written, the header first.
    pub fn lines(&self, ast: &Ast) -> Vec<String> {
        let text = ast.source.slice(self.span);
        let mut lines: Vec<String> = text.lines().map(|l| l.trim_end().to_string()).collect();
        if let Some(header) = lines.first_mut() {
            *header = header.trim_start().to_string();
        }
        lines
    }
}

/// A part of a text: statements, or a function between two ∇.
pub(super) enum Section {
    Plain(Range<usize>),
    Function(Function),
}

/// The tokens of a function.
pub(super) struct Function {
    header: Range<usize>,
    body: Range<usize>,
    /// The place that its text takes, without the ∇.
    span: Span,
}

/// The parts of a text whose brackets match. Errors: SYNTAX for a ∇ without its other.
pub(super) fn sections(tokens: &[Token], source: &Arc<Source>) -> Result<Vec<Section>, Vec<Error>> {
    let (mut out, mut depth, mut from) = (Vec::new(), 0usize, 0);
    let mut open: Option<usize> = None;
    let whole = 0..tokens.len();
    if !tokens.iter().any(|t| t.kind == Kind::Word(Word::Del)) {
        return Ok(vec![Section::Plain(whole)]);
    }
    for (k, t) in tokens.iter().enumerate() {
        match t.kind {
            Kind::Open(_) => depth += 1,
            Kind::Close(_) => depth = depth.saturating_sub(1),
            Kind::Word(Word::Del) if depth == 0 && starts(tokens, k) => match open.take() {
                None => {
                    out.push(Section::Plain(from..k));
                    open = Some(k);
                }
                Some(first) => {
                    if tokens.get(k + 1).is_some_and(|t| t.kind != Kind::Separator) {
                        let says = "a ∇ that ends a function stands on a line of its own";
                        return Err(vec![syntax(says).at(&Place::new(source, t.span))]);
                    }
                    let inner = first + 1..k;
                    out.push(Section::Function(function(tokens, inner, t.span.start)));
                    from = k + 1;
                }
            },
            _ => {}
        }
    }
    if let Some(first) = open {
        let at = Place::new(source, tokens[first].span);
        let alone = tokens.get(first + 1).is_none_or(|t| t.kind == Kind::Separator);
        return Err(vec![match alone {
            true => syntax("∇ ends no function here").at(&at),
            false => syntax("this ∇ function is never ended")
                .at(&at)
                .hint("a line that is ∇ alone ends it"),
        }]);
    }
    out.push(Section::Plain(from..tokens.len()));
    Ok(out)
}

/// Whether a statement begins with this token.
fn starts(tokens: &[Token], k: usize) -> bool {
    k.checked_sub(1).is_none_or(|before| tokens[before].kind == Kind::Separator)
}

/// The function of these tokens; its text ends before `end`.
fn function(tokens: &[Token], inner: Range<usize>, end: u32) -> Function {
    let is_end = |t: &Token| t.kind == Kind::Separator;
    let header =
        tokens[inner.clone()].iter().position(is_end).map_or(inner.end, |n| inner.start + n);
    let start = tokens.get(inner.start).map_or(end, |t| t.span.start);
    Function {
        header: inner.start..header,
        body: (header + 1).min(inner.end)..inner.end,
        span: Span::new(start.min(end), end),
    }
}

/// All tokens of a text as one function without its ∇.
pub(super) fn whole(tokens: &[Token], source: &Source) -> Function {
    let (own, first) = source.own();
    function(tokens, 0..tokens.len(), first + own.chars().count() as u32)
}

/// The parts of a header between `←`, `;` and the end.
enum Part {
    Name(Sym),
    /// `{x}`.
    Optional(Sym),
    /// `(a b)`.
    Group(Vec<Sym>),
}

struct Header<'a> {
    tokens: &'a [Token],
    source: &'a Arc<Source>,
    symbols: &'a mut Symbols,
    at: Span,
}

impl Header<'_> {
    fn wrong(&self, says: &str) -> Error {
        syntax(says)
            .at(&Place::new(self.source, self.at))
            .hint("∇r←{x} name y;local   ∇name   ∇r←x (f name g) y")
    }

    fn parts(&mut self) -> Result<Vec<Part>> {
        let mut out = Vec::new();
        while let Some((t, rest)) = self.tokens.split_first() {
            let close = match &t.kind {
                Kind::Name(name) => {
                    out.push(Part::Name(self.symbols.intern(name)));
                    self.tokens = rest;
                    continue;
                }
                Kind::Open('{') => '}',
                Kind::Open('(') => ')',
                _ => break,
            };
            let Some(n) = rest.iter().position(|t| t.kind == Kind::Close(close)) else {
                return Err(self.wrong("this is no header of a function"));
            };
            let name = |t: &Token| match &t.kind {
                Kind::Name(name) => Some(self.symbols.intern(name)),
                _ => None,
            };
            let names: Option<Vec<Sym>> = rest[..n].iter().map(name).collect();
            out.push(match (close, names.as_deref()) {
                ('}', Some([one])) => Part::Optional(*one),
                (')', Some([_, ..])) => Part::Group(names.into_iter().flatten().collect()),
                _ => return Err(self.wrong("this is no header of a function")),
            });
            self.tokens = &rest[n + 1..];
        }
        Ok(out)
    }

    fn takes(&mut self, kind: Kind) -> bool {
        let is = self.tokens.first().is_some_and(|t| t.kind == kind);
        self.tokens = &self.tokens[usize::from(is)..];
        is
    }

    /// Names and ⎕ variables behind `;`.
    fn locals(&mut self, made: &mut Tradfn) -> Result<()> {
        while self.takes(Kind::Semicolon) {
            match self.tokens.first().map(|t| t.kind.clone()) {
                Some(Kind::Name(name)) => {
                    let sym = self.symbols.intern(&name);
                    local(made, sym);
                }
                Some(Kind::System(name)) => {
                    let row = system::find(&name)?;
                    if !row.is_variable() {
                        return Err(self.wrong("only variables can be local"));
                    }
                    made.settings.push(row);
                }
                _ => return Err(self.wrong("a name is missing behind ;")),
            }
            self.tokens = &self.tokens[1..];
        }
        match self.tokens.first() {
            None => Ok(()),
            Some(t) => {
                self.at = t.span;
                Err(self.wrong("this cannot stand in the header of a function"))
            }
        }
    }
}

fn local(made: &mut Tradfn, sym: Sym) {
    if !made.locals.contains(&sym) {
        made.locals.push(sym);
    }
}

/// Every name of a pattern is local.
fn all_local(made: &mut Tradfn, p: &Pattern) {
    match p {
        Pattern::Name(sym) => local(made, *sym),
        Pattern::System(_) | Pattern::Member(_) => {}
        Pattern::All(parts) => parts.iter().for_each(|p| all_local(made, p)),
    }
}

fn names(part: Part) -> Pattern {
    match part {
        Part::Name(sym) | Part::Optional(sym) => Pattern::Name(sym),
        Part::Group(syms) => Pattern::All(syms.into_iter().map(Pattern::Name).collect()),
    }
}

/// The header alone, with an empty body.
fn header(header: &mut Header<'_>, span: Span) -> Result<Tradfn> {
    let mut parts = header.parts()?;
    let mut result = None;
    if header.takes(Kind::Assign) {
        let one = parts.pop().filter(|_| parts.is_empty());
        result = Some(one.ok_or_else(|| header.wrong("the result of a function is one name"))?);
        parts = header.parts()?;
    }
    let (left, middle, right) = match <[Part; 3]>::try_from(parts) {
        Ok([left, middle, right]) => (Some(left), middle, Some(right)),
        Err(mut parts) => match (parts.pop(), parts.pop(), parts.is_empty()) {
            (Some(right), Some(middle), true) => (None, middle, Some(right)),
            (Some(middle), None, true) => (None, middle, None),
            _ => return Err(header.wrong("this is no header of a function")),
        },
    };
    let (name, operands) = match (middle, right.is_some()) {
        (Part::Name(sym), _) => (sym, Vec::new()),
        (Part::Group(syms), true) if matches!(syms.len(), 2 | 3) => {
            let operands = syms.iter().enumerate().filter(|(k, _)| *k != 1).map(|(_, s)| *s);
            (syms[1], operands.collect())
        }
        _ => return Err(header.wrong("this is no header of a function")),
    };
    if matches!(right, Some(Part::Optional(_))) {
        return Err(header.wrong("only a left argument may be left out"));
    }
    let optional = matches!(left, Some(Part::Optional(_)));
    let mut made = Tradfn {
        name,
        shy: matches!(result, Some(Part::Optional(_))),
        result: result.map(names),
        left: left.map(names),
        optional,
        right: right.map(names),
        operands,
        locals: Vec::new(),
        settings: Vec::new(),
        labels: Vec::new(),
        steps: Ok(Steps::default()),
        span,
        guards: OnceCell::new(),
    };
    for p in
        [&made.result, &made.left, &made.right].into_iter().flatten().cloned().collect::<Vec<_>>()
    {
        all_local(&mut made, &p);
    }
    for sym in made.operands.clone() {
        local(&mut made, sym);
    }
    header.locals(&mut made)?;
    Ok(made)
}

/// The function of these tokens, put into the tree that the parser makes.
pub(super) fn read(parser: &mut Parser<'_>, f: &Function) -> Result<TradId, Vec<Error>> {
    let (tokens, source) = (parser.tokens, parser.source.clone());
    let at = |range: &Range<usize>| {
        let first = tokens.get(range.start).map_or(f.span, |t| t.span);
        tokens[range.clone()].last().map_or(first, |t| first.join(t.span))
    };
    let mut own = Header {
        tokens: &tokens[f.header.clone()],
        source: &source,
        symbols: &mut *parser.symbols,
        at: at(&f.header),
    };
    let mut made = header(&mut own, f.span).map_err(|e| vec![e])?;
    let mut body = f.body.clone();
    // Lines of further locals.
    loop {
        let kind = |k: usize| tokens[..body.end].get(k).map(|t| &t.kind);
        match kind(body.start) {
            Some(Kind::Separator) => body.start += 1,
            Some(Kind::Semicolon) => {
                let line = &tokens[body.clone()];
                let n = line.iter().position(|t| t.kind == Kind::Separator);
                let end = n.map_or(body.end, |n| body.start + n);
                (own.tokens, own.at) = (&tokens[body.start..end], at(&(body.start..end)));
                own.locals(&mut made).map_err(|e| vec![e])?;
                body.start = end;
            }
            _ => break,
        }
    }
    let lines = parser.lines(body)?;
    let text = source.slice(f.span);
    let ends: Vec<u32> =
        (f.span.start..).zip(text.chars()).filter(|(_, c)| *c == '\n').map(|(at, _)| at).collect();
    let number = |at: Span| ends.partition_point(|end| *end < at.start) as u32;
    for line in &lines {
        if let Some((sym, at)) = line.label {
            made.labels.push((sym, number(at)));
            local(&mut made, sym);
        }
    }
    made.steps = steps(&parser.ast, &lines, &mut { number }, true);
    parser.ast.tradfns.push(made);
    Ok(TradId(parser.ast.tradfns.len() as u32 - 1))
}

/// A line that defines a function.
pub(super) fn definition(parser: &mut Parser<'_>, f: &Function) -> Result<Line, Vec<Error>> {
    let id = read(parser, f)?;
    Ok(Line::defining(&mut parser.ast, id, f.span))
}

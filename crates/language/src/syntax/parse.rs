//! The parser: chumsky over tokens. The grammar is LL(1), so one walk: statements, flat phrases,
//! brackets, dfns.
//!
//! Brackets are known to match (`check`), so the only errors left are a misplaced `:` or `;`.

use super::ast::{
    Ast, Dfn, DfnId, Guard, Item, ItemId, Phrase, PhraseId, Stmt, Sym, Symbols, TradId, What,
};
use super::steps::steps;
use super::token::{Kind, Token, Word};
use super::tradfn::{self, Section};
use super::words::Control;
use aplomb_ground::error::{Error, syntax};
use aplomb_ground::limits::Interrupt;
use aplomb_ground::span::{Place, Source, Span};
use aplomb_values::array::Array;
use chumsky::IterParser;
use chumsky::Parser as _;
use chumsky::inspector::SimpleState;
use chumsky::prelude::{Cheap, Recursive, SimpleSpan, any_ref, choice, end, extra, recursive};
use std::ops::Range;
use std::sync::Arc;

struct Arena<'s> {
    ast: &'s mut Ast,
    symbols: &'s mut Symbols,
    tokens: &'s [Token],
    /// Operands of the dfns being read, and whether ∇ is in them, innermost last. A choice that
    /// fails consumes no brace, so it stays balanced.
    seen: Vec<u8>,
    /// Values without a name in a namespace's parentheses.
    unnamed: Vec<PhraseId>,
}

/// The mark of a dfn that mentions ∇, beside those of its operands.
const RECURS: u8 = 4;

/// An error is its place, which is all that `misplaced` asks for.
type Extra<'s> = extra::Full<Cheap, SimpleState<Arena<'s>>, ()>;

impl Arena<'_> {
    fn span(&self, tokens: SimpleSpan) -> Span {
        let first = self.tokens.get(tokens.start).map_or(0, |t| t.span.start);
        let last = tokens
            .end
            .checked_sub(1)
            .and_then(|k| self.tokens.get(k))
            .map_or(first, |t| t.span.end);
        Span::new(first, last.max(first))
    }

    fn item(&mut self, what: What, tokens: SimpleSpan) -> ItemId {
        let span = self.span(tokens);
        self.ast.items.push(Item { what, span });
        ItemId(self.ast.items.len() as u32 - 1)
    }

    /// The contents of parentheses: one phrase, array notation, or a namespace where names and
    /// colons stand before the phrases.
    fn parenthesised(&mut self, parts: Vec<(Option<Option<(Sym, Span)>>, PhraseId)>) -> What {
        let several = parts.len() > 1;
        let named = parts.iter().any(|(label, _)| label.is_some());
        let is_empty = |id: &PhraseId| self.ast.phrase(*id).items.is_empty();
        let nothing = !several && parts.iter().all(|(_, id)| is_empty(id));
        if !named && !nothing {
            return What::Paren(parts.into_iter().map(|(_, id)| id).collect(), several);
        }
        let members = parts.into_iter().filter(|(label, id)| label.is_some() || !is_empty(id));
        let mut all = Vec::new();
        for (label, id) in members {
            match label.flatten() {
                Some((sym, _)) => all.push((sym, id)),
                None => self.unnamed.push(id),
            }
        }
        What::Space(all)
    }

    fn leaf(&mut self, token: &Token) -> What {
        match &token.kind {
            Kind::Number(x) => What::Number(*x),
            Kind::Complex(z) => What::Literal(Array::complex(*z)),
            Kind::Text(text) => What::Literal(text_literal(text)),
            Kind::Zilde => What::Literal(Array::few_numbers(&[])),
            Kind::Name(name) => What::Name(self.symbols.intern(name)),
            Kind::System(name) => What::System(name.as_str().into()),
            Kind::Glyph(c) => What::Glyph(*c),
            Kind::Word(w) => {
                let bits = match w {
                    Word::AlphaAlpha => 1,
                    Word::OmegaOmega => 2,
                    Word::Del => RECURS,
                    _ => 0,
                };
                if let Some(seen) = self.seen.last_mut() {
                    *seen |= bits;
                }
                What::Word(*w)
            }
            Kind::QuoteQuad => What::QuoteQuad,
            Kind::Assign => What::Assign,
            _ => What::Quad,
        }
    }
}

fn text_literal(text: &str) -> Array {
    let chars: Vec<char> = text.chars().collect();
    if let [c] = chars[..] { Array::char(c) } else { Array::few_chars(chars) }
}

/// One token of that kind.
fn one<'s>(kind: Kind) -> impl chumsky::Parser<'s, &'s [Token], (), Extra<'s>> + Clone {
    any_ref().filter(move |t: &&Token| t.kind == kind).ignored()
}

/// The sign between the two phrases of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behind {
    /// `:` or `::`.
    Guard,
    /// `:In`, `:InEach`.
    In { each: bool },
}

/// One statement of a text or of a function of lines, with its words.
pub(super) struct Line {
    pub label: Option<(Sym, Span)>,
    pub word: Option<(Control, Span)>,
    /// `→` stands before the phrase.
    pub branches: bool,
    pub phrase: PhraseId,
    pub behind: Option<(Behind, PhraseId)>,
    /// It is a function between two ∇.
    pub defines: Option<TradId>,
    pub at: Span,
}

impl Line {
    /// Whether nothing stands there.
    pub fn is_empty(&self, ast: &Ast) -> bool {
        let marked = self.label.is_some() || self.word.is_some() || self.defines.is_some();
        let more = self.branches || self.behind.is_some();
        !marked && !more && ast.phrase(self.phrase).items.is_empty()
    }

    /// A line that is a function.
    pub fn defining(ast: &mut Ast, id: TradId, at: Span) -> Line {
        ast.phrases.push(Phrase { items: Vec::new(), span: at, cache: Default::default() });
        Line {
            label: None,
            word: None,
            branches: false,
            phrase: PhraseId(ast.phrases.len() as u32 - 1),
            behind: None,
            defines: Some(id),
            at,
        }
    }
}

/// A phrase. `recursive` gives the inside a weak hold: a parser that held itself would stay for
/// ever.
fn phrase<'s>() -> impl chumsky::Parser<'s, &'s [Token], PhraseId, Extra<'s>> + Clone {
    let leaf = any_ref()
        .filter(|t: &&Token| {
            !matches!(
                t.kind,
                Kind::Open(_)
                    | Kind::Close(_)
                    | Kind::Separator
                    | Kind::Semicolon
                    | Kind::Colon
                    | Kind::ColonColon
                    | Kind::Control(_)
            )
        })
        .map_with(|t: &Token, e| {
            let span = e.span();
            let arena: &mut SimpleState<Arena<'s>> = e.state();
            let what = arena.leaf(t);
            arena.item(what, span)
        });

    recursive(
        |phrase: Recursive<
            chumsky::recursive::Direct<'s, 's, &'s [Token], PhraseId, Extra<'s>>,
        >| {
            let paren = label()
                .or_not()
                .then(phrase.clone())
                .separated_by(one(Kind::Separator))
                .at_least(1)
                .collect::<Vec<(Option<Option<(Sym, Span)>>, PhraseId)>>()
                .delimited_by(one(Kind::Open('(')), one(Kind::Close(')')))
                .map_with(|parts, e| {
                    let span = e.span();
                    let arena: &mut SimpleState<Arena<'s>> = e.state();
                    let what = arena.parenthesised(parts);
                    arena.item(what, span)
                });
            let separators = phrase.clone().then(
                one(Kind::Separator).ignore_then(phrase.clone()).repeated().collect::<Vec<_>>(),
            );
            let bracket = separators
                .then(
                    one(Kind::Semicolon)
                        .ignore_then(phrase.clone())
                        .repeated()
                        .collect::<Vec<PhraseId>>(),
                )
                .delimited_by(one(Kind::Open('[')), one(Kind::Close(']')))
                .map_with(
                    |((first, mut parts), more): ((PhraseId, Vec<PhraseId>), Vec<PhraseId>), e| {
                        let span = e.span();
                        parts.insert(0, first);
                        let several = parts.len() > 1;
                        parts.extend(more);
                        let arena: &mut SimpleState<Arena<'s>> = e.state();
                        arena.item(What::Bracket(parts, several), span)
                    },
                );
            let open = one(Kind::Open('{')).map_with(|(), e| {
                let arena: &mut SimpleState<Arena<'s>> = e.state();
                arena.seen.push(0);
            });
            // `then`, not `ignore_then`: that would run `open` without its effect.
            let dfn = open
                .then(statements(phrase.clone()))
                .then_ignore(one(Kind::Close('}')))
                .map_with(|((), stmts): ((), Vec<Stmt>), e| {
                    let span = e.span();
                    let arena: &mut SimpleState<Arena<'s>> = e.state();
                    let innermost = arena.seen.len() - 1;
                    let seen = arena.seen.remove(innermost);
                    let (operands, recurs) = (seen & !RECURS, seen & RECURS != 0);
                    let text = arena.span(span);
                    let (last, shy) = Default::default();
                    arena.ast.dfns.push(Dfn { stmts, span: text, operands, recurs, last, shy });
                    let id = DfnId(arena.ast.dfns.len() as u32 - 1);
                    arena.item(What::Dfn(id), span)
                });
            let item = choice((leaf, paren, bracket, dfn));
            item.repeated().collect::<Vec<ItemId>>().map_with(|items, e| {
                let span = e.span();
                let arena: &mut SimpleState<Arena<'s>> = e.state();
                let span = arena.span(span);
                arena.ast.phrases.push(Phrase { items, span, cache: Default::default() });
                PhraseId(arena.ast.phrases.len() as u32 - 1)
            })
        },
    )
}

/// The statements of a dfn, up to its brace.
fn statements<'s>(
    phrase: impl chumsky::Parser<'s, &'s [Token], PhraseId, Extra<'s>> + Clone,
) -> impl chumsky::Parser<'s, &'s [Token], Vec<Stmt>, Extra<'s>> + Clone {
    let colon = choice((one(Kind::Colon).to(false), one(Kind::ColonColon).to(true)));
    let stmt = phrase.clone().then(colon.then(phrase).or_not()).map(|(first, rest)| match rest {
        None => Stmt { guard: Guard::None, phrase: first },
        Some((false, then)) => Stmt { guard: Guard::Test(first), phrase: then },
        Some((true, then)) => Stmt { guard: Guard::Error(first), phrase: then },
    });
    stmt.separated_by(one(Kind::Separator)).collect::<Vec<Stmt>>()
}

/// A name and a colon: a label, or a name of a namespace.
fn label<'s>() -> impl chumsky::Parser<'s, &'s [Token], Option<(Sym, Span)>, Extra<'s>> + Clone {
    let name = any_ref().filter(|t: &&Token| matches!(t.kind, Kind::Name(_)));
    name.then_ignore(one(Kind::Colon)).map_with(|t: &Token, e| {
        let arena: &mut SimpleState<Arena<'s>> = e.state();
        match &t.kind {
            Kind::Name(name) => Some((arena.symbols.intern(name), t.span)),
            _ => None,
        }
    })
}

/// The lines of a text, or of the body of a function, up to the end.
fn lines<'s>() -> impl chumsky::Parser<'s, &'s [Token], Vec<Line>, Extra<'s>> {
    let word = any_ref()
        .filter(|t: &&Token| matches!(t.kind, Kind::Control(c) if !matches!(c, Control::In { .. })))
        .map(|t: &Token| match t.kind {
            Kind::Control(control) => Some((control, t.span)),
            _ => None,
        });
    let mark = any_ref()
        .filter(|t: &&Token| {
            matches!(t.kind, Kind::Colon | Kind::ColonColon | Kind::Control(Control::In { .. }))
        })
        .map(|t: &Token| match t.kind {
            Kind::Control(Control::In { each }) => Behind::In { each },
            _ => Behind::Guard,
        });
    let phrase = phrase();
    let line = label()
        .or_not()
        .then(word.or_not())
        .then(one(Kind::Glyph('→')).or_not())
        .then(phrase.clone())
        .then(mark.then(phrase).or_not())
        .map_with(|((((label, word), arrow), phrase), behind), e| {
            let span = e.span();
            let arena: &mut SimpleState<Arena<'s>> = e.state();
            let (label, word) = (label.flatten(), word.flatten());
            let at = arena.span(span);
            Line { label, word, branches: arrow.is_some(), phrase, behind, defines: None, at }
        });
    line.separated_by(one(Kind::Separator)).collect::<Vec<Line>>().then_ignore(end())
}

/// The parser of a text: its tokens, without comments, and the tree that it makes.
pub(super) struct Parser<'a> {
    pub ast: Ast,
    pub symbols: &'a mut Symbols,
    pub tokens: &'a [Token],
    pub source: Arc<Source>,
    stop: &'a Interrupt,
}

/// Tokens of a stretch of statements that are read at once.
const STRETCH: usize = 1 << 12;

impl<'a> Parser<'a> {
    /// A parser of checked tokens, with an empty tree.
    pub fn new(
        tokens: &'a [Token],
        source: &Arc<Source>,
        symbols: &'a mut Symbols,
        stop: &'a Interrupt,
    ) -> Self {
        let ast = Ast { source: source.clone(), ..Ast::empty() };
        Parser { ast, symbols, tokens, source: source.clone(), stop }
    }

    /// The lines of some tokens, some thousand tokens at a time. Errors: what the grammar does not
    /// allow where it stands; INTERRUPT.
    pub fn lines(&mut self, range: Range<usize>) -> Result<Vec<Line>, Vec<Error>> {
        let (mut out, mut from, mut open) = (Vec::new(), range.start, 0usize);
        for k in range.clone() {
            match self.tokens[k].kind {
                Kind::Open(_) => open += 1,
                Kind::Close(_) => open = open.saturating_sub(1),
                Kind::Separator if open == 0 && k - from >= STRETCH => {
                    self.stop.check().map_err(|e| vec![e])?;
                    out.extend(self.stretch(from..k)?);
                    from = k + 1;
                }
                _ => {}
            }
        }
        out.extend(self.stretch(from..range.end)?);
        Ok(out)
    }

    fn stretch(&mut self, range: Range<usize>) -> Result<Vec<Line>, Vec<Error>> {
        let tokens = &self.tokens[range];
        let arena = Arena {
            ast: &mut self.ast,
            symbols: self.symbols,
            tokens,
            seen: Vec::new(),
            unnamed: Vec::new(),
        };
        let mut state = SimpleState(arena);
        let (made, errors) = lines().parse_with_state(tokens, &mut state).into_output_errors();
        if let Some(id) = state.0.unnamed.pop() {
            let at = self.ast.place(self.ast.phrase(id).span);
            return Err(vec![syntax("a name and : are missing before this value").at(&at)]);
        }
        match made {
            Some(made) if errors.is_empty() => Ok(made),
            _ => Err(errors.iter().map(|e| misplaced(e, tokens, &self.source)).collect()),
        }
    }

    /// The tree of the whole text.
    pub fn text(mut self) -> Result<Ast, Vec<Error>> {
        let mut all = Vec::new();
        for section in tradfn::sections(self.tokens, &self.source)? {
            match section {
                Section::Plain(range) => all.extend(self.lines(range)?),
                Section::Function(f) => all.push(tradfn::definition(&mut self, &f)?),
            }
        }
        let made = steps(&self.ast, &all, &mut |_| 0, false).map_err(|e| vec![e])?;
        self.ast.steps = made;
        Ok(self.ast)
    }
}

fn misplaced(e: &Cheap, tokens: &[Token], source: &Arc<Source>) -> Error {
    let at = tokens.get(e.span().start).or(tokens.last()).map_or(Span::default(), |t| t.span);
    let place = Place::new(source, at);
    let says = match place.text().as_str() {
        ":" | "::" => "a guard is one condition : one expression".to_string(),
        ";" => "; separates indices inside […]".to_string(),
        text => format!("{text} cannot stand here"),
    };
    syntax(says).at(&place)
}

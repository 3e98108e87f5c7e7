//! The parser: chumsky over tokens. The grammar is LL(1), so one walk: statements, flat phrases,
//! brackets, dfns.
//!
//! Brackets are known to match (`check`), so the only errors left are a misplaced `:` or `;`.

use super::ast::{Ast, Dfn, DfnId, Guard, Item, ItemId, Phrase, PhraseId, Stmt, Symbols, What};
use super::token::{Kind, Token, Word};
use aplomb_ground::error::{Error, syntax};
use aplomb_ground::span::{Place, Source, Span};
use aplomb_values::array::Array;
use chumsky::inspector::SimpleState;
use chumsky::prelude::*;
use std::sync::Arc;

struct Arena<'s> {
    ast: Ast,
    symbols: &'s mut Symbols,
    tokens: &'s [Token],
    /// Operands of the dfns being read, innermost last. A choice that fails consumes no brace, so
    /// it stays balanced.
    operands: Vec<u8>,
}

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
                    _ => 0,
                };
                if let Some(seen) = self.operands.last_mut() {
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

fn is(kind: Kind) -> impl Fn(&&Token) -> bool + Clone {
    move |t| t.kind == kind
}

type Block<'s> = Recursive<chumsky::recursive::Direct<'s, 's, &'s [Token], Vec<Stmt>, Extra<'s>>>;

fn program<'s>() -> impl Parser<'s, &'s [Token], Vec<Stmt>, Extra<'s>> {
    // `recursive` gives the inside a weak hold: a parser that held itself would stay for ever.
    recursive(block).then_ignore(end())
}

/// Statements up to the end or a brace; `block` is what stands inside of braces.
fn block<'s>(block: Block<'s>) -> impl Parser<'s, &'s [Token], Vec<Stmt>, Extra<'s>> + Clone {
    let one = |kind: Kind| any_ref().filter(is(kind)).ignored();
    let separator = one(Kind::Separator);

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
            )
        })
        .map_with(|t: &Token, e| {
            let span = e.span();
            let arena: &mut SimpleState<Arena<'s>> = e.state();
            let what = arena.leaf(t);
            arena.item(what, span)
        });

    let phrase = recursive(
        |phrase: Recursive<
            chumsky::recursive::Direct<'s, 's, &'s [Token], PhraseId, Extra<'s>>,
        >| {
            let many = |mark: Kind| {
                phrase.clone().separated_by(one(mark)).at_least(1).collect::<Vec<PhraseId>>()
            };
            let paren = many(Kind::Separator)
                .delimited_by(one(Kind::Open('(')), one(Kind::Close(')')))
                .map_with(|parts: Vec<PhraseId>, e| {
                    let span = e.span();
                    let several = parts.len() > 1;
                    let arena: &mut SimpleState<Arena<'s>> = e.state();
                    arena.item(What::Paren(parts, several), span)
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
                arena.operands.push(0);
            });
            // `then`, not `ignore_then`: that would run `open` without its effect.
            let dfn = open.then(block.clone()).then_ignore(one(Kind::Close('}'))).map_with(
                |((), stmts): ((), Vec<Stmt>), e| {
                    let span = e.span();
                    let arena: &mut SimpleState<Arena<'s>> = e.state();
                    let innermost = arena.operands.len() - 1;
                    let operands = arena.operands.remove(innermost);
                    let text = arena.span(span);
                    arena.ast.dfns.push(Dfn { stmts, span: text, operands });
                    let id = DfnId(arena.ast.dfns.len() as u32 - 1);
                    arena.item(What::Dfn(id), span)
                },
            );
            let item = choice((leaf, paren, bracket, dfn));
            item.repeated().collect::<Vec<ItemId>>().map_with(|items, e| {
                let span = e.span();
                let arena: &mut SimpleState<Arena<'s>> = e.state();
                let span = arena.span(span);
                arena.ast.phrases.push(Phrase { items, span, cache: Default::default() });
                PhraseId(arena.ast.phrases.len() as u32 - 1)
            })
        },
    );

    let colon = choice((one(Kind::Colon).to(false), one(Kind::ColonColon).to(true)));
    let stmt =
        phrase.clone().then(colon.then(phrase.clone()).or_not()).map(|(first, rest)| match rest {
            None => Stmt { guard: Guard::None, phrase: first },
            Some((false, then)) => Stmt { guard: Guard::Test(first), phrase: then },
            Some((true, then)) => Stmt { guard: Guard::Error(first), phrase: then },
        });
    stmt.separated_by(separator).collect::<Vec<Stmt>>()
}

/// The tree of checked tokens (comments left out). Errors: what the grammar does not allow where it
/// stands.
pub fn parse(
    tokens: &[Token],
    source: &Arc<Source>,
    symbols: &mut Symbols,
) -> Result<Ast, Vec<Error>> {
    let ast =
        Ast { source: source.clone(), items: vec![], phrases: vec![], dfns: vec![], stmts: vec![] };
    let arena = Arena { ast, symbols, tokens, operands: Vec::new() };
    let mut state = SimpleState(arena);
    let (stmts, errors) = program().parse_with_state(tokens, &mut state).into_output_errors();
    let mut ast = state.0.ast;
    match stmts {
        Some(stmts) if errors.is_empty() => {
            ast.stmts = stmts;
            Ok(ast)
        }
        _ => Err(errors.iter().map(|e| misplaced(e, tokens, source)).collect()),
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

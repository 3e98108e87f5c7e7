//! Text to tree: `lex`, `check`, `parse`; `resolve` binds a phrase once the classes of its names
//! are known.
//!
//! Defence in order: tokens, brackets and limits in linear walks, then chumsky, then an arena tree.

pub mod ast;
mod check;
pub mod guards;
pub mod lint;
mod never;
mod parse;
pub mod resolve;
pub mod spent;
pub mod steps;
pub mod token;
pub mod tradfn;
pub mod words;

use ast::TradId;
pub use ast::{Ast, Spelled, Sym, Symbols};
pub use check::{Lines, completeness};
pub use token::{Kind, Token, lex, numerals};

use aplomb_ground::error::{Error, Result};
use aplomb_ground::limits::{Interrupt, Limits};
use aplomb_ground::span::Source;
use std::sync::Arc;

/// The tree of a text. Errors: the first of `check`; INTERRUPT.
pub fn parse(
    source: &Arc<Source>,
    symbols: &mut Symbols,
    limits: &Limits,
    stop: &Interrupt,
) -> Result<Ast> {
    tree(source, symbols, limits, stop).map_err(|mut errors| errors.swap_remove(0))
}

/// All syntax errors of a text that can be known without running it.
pub fn check(source: &Arc<Source>, limits: &Limits) -> Vec<Error> {
    match tree(source, &mut Symbols::default(), limits, &Interrupt::default()) {
        Err(errors) => errors,
        Ok(ast) => {
            let never = never::bound(&ast);
            ast.tradfns.into_iter().filter_map(|f| f.steps.err()).chain(never).collect()
        }
    }
}

fn tree(
    source: &Arc<Source>,
    symbols: &mut Symbols,
    limits: &Limits,
    stop: &Interrupt,
) -> Result<Ast, Vec<Error>> {
    let tokens = tokens(source, limits, stop)?;
    parse::Parser::new(&tokens, source, symbols, stop).text().map_err(told)
}

/// The tree of a text that is one function of lines without its ∇. Errors: SYNTAX, INTERRUPT.
pub fn function(
    source: &Arc<Source>,
    symbols: &mut Symbols,
    limits: &Limits,
    stop: &Interrupt,
) -> Result<(Ast, TradId)> {
    let first = |mut errors: Vec<Error>| errors.swap_remove(0);
    let tokens = tokens(source, limits, stop).map_err(first)?;
    let mut parser = parse::Parser::new(&tokens, source, symbols, stop);
    let whole = tradfn::whole(&tokens, source);
    let id = tradfn::read(&mut parser, &whole).map_err(|errors| first(told(errors)))?;
    Ok((parser.ast, id))
}

/// At least one error.
fn told(errors: Vec<Error>) -> Vec<Error> {
    match errors.is_empty() {
        true => vec![aplomb_ground::error::syntax("this text is no program")],
        false => errors,
    }
}

/// The tokens of a text without its comments. Errors: those of tokens and brackets; INTERRUPT.
fn tokens(
    source: &Arc<Source>,
    limits: &Limits,
    stop: &Interrupt,
) -> Result<Vec<Token>, Vec<Error>> {
    let (text, first) = source.own();
    let mut tokens = token::lex_within(text, limits.nest, limits.tokens, stop);
    stop.check().map_err(|e| vec![e])?;
    tokens.iter_mut().filter(|_| first > 0).for_each(|t| t.span = t.span.moved(first));
    let errors = check::check(&tokens, source, limits);
    if !errors.is_empty() {
        return Err(errors);
    }
    tokens.retain(|t| t.kind != Kind::Comment);
    Ok(tokens)
}

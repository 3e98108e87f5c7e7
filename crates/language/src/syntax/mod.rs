//! Text to tree: `lex`, `check`, `parse`; `resolve` binds a phrase once the classes of its names
//! are known.
//!
//! Defence in order: tokens, brackets and limits in linear walks, then chumsky, then an arena tree.

pub mod ast;
mod check;
mod parse;
pub mod resolve;
pub mod token;

pub use ast::{Ast, Sym, Symbols};
pub use check::{Lines, completeness};
pub use token::{Kind, Token, lex, numerals};

use aplomb_ground::error::{Error, Result};
use aplomb_ground::limits::Limits;
use aplomb_ground::span::Source;
use std::sync::Arc;

/// The tree of a text. Errors: the first of `check`.
pub fn parse(source: &Arc<Source>, symbols: &mut Symbols, limits: &Limits) -> Result<Ast> {
    tree(source, symbols, limits).map_err(|mut errors| errors.swap_remove(0))
}

/// All syntax errors of a text that can be known without running it.
pub fn check(source: &Arc<Source>, limits: &Limits) -> Vec<Error> {
    tree(source, &mut Symbols::default(), limits).err().unwrap_or_default()
}

fn tree(source: &Arc<Source>, symbols: &mut Symbols, limits: &Limits) -> Result<Ast, Vec<Error>> {
    let (text, first) = source.own();
    let mut tokens = token::lex_within(text, limits.nest, limits.tokens);
    tokens.iter_mut().filter(|_| first > 0).for_each(|t| t.span = t.span.moved(first));
    let errors = check::check(&tokens, source, limits);
    if !errors.is_empty() {
        return Err(errors);
    }
    tokens.retain(|t| t.kind != Kind::Comment);
    parse::parse(&tokens, source, symbols).map_err(|errors| {
        if errors.is_empty() {
            vec![aplomb_ground::error::syntax("this text is no program")]
        } else {
            errors
        }
    })
}

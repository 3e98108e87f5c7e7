//! The trees of short texts, kept for when these run again: `⍎` of one text, a line that a front
//! end sends over and over.
//!
//! A tree is made of its text, its name and the limits alone, in the numbers that the workspace
//! gives to names; what running it finds out (`Phrase::cache`) holds for the classes that are
//! written there. So the tree of an equal text is as good as a new one.

use crate::syntax::{self, Ast, Symbols};
use aplomb_ground::error::Result;
use aplomb_ground::limits::{Interrupt, Limits};
use aplomb_ground::span::Source;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes of the longest text whose tree is kept.
const SHORT: usize = 200;
/// The trees that are kept.
const MOST: usize = 64;

/// Trees by their texts.
#[derive(Default)]
pub struct Trees {
    kept: HashMap<Arc<str>, Rc<Ast>>,
    /// Nesting and tokens that texts may have.
    within: (usize, usize),
}

impl Trees {
    /// The tree of a text. Errors: those of `syntax::parse`.
    pub fn of(
        &mut self,
        source: &Arc<Source>,
        symbols: &mut Symbols,
        limits: &Limits,
        stop: &Interrupt,
    ) -> Result<Rc<Ast>> {
        let whole = source.own().0.len() == source.text.len() && source.text.len() <= SHORT;
        let within = (limits.nest, limits.tokens);
        if !whole {
            return syntax::parse(source, symbols, limits, stop).map(Rc::new);
        }
        if let Some(tree) = self.kept.get(&source.text)
            && self.within == within
            && tree.source.name == source.name
        {
            return Ok(tree.clone());
        }
        let tree = Rc::new(syntax::parse(source, symbols, limits, stop)?);
        if self.within != within || self.kept.len() == MOST {
            self.kept.clear();
            self.within = within;
        }
        self.kept.insert(source.text.clone(), tree.clone());
        Ok(tree)
    }
}

//! The tree of a text: an arena of flat phrases. What binds to what is decided at run time
//! (`resolve`).

use super::resolve::Resolved;
use super::token::Word;
use aplomb_ground::span::{Place, Source, Span};
use aplomb_values::array::Array;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// An interned name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sym(pub u32);

#[derive(Default)]
pub struct Symbols {
    ids: HashMap<Rc<str>, Sym>,
    names: Vec<Rc<str>>,
}

impl Symbols {
    pub fn intern(&mut self, name: &str) -> Sym {
        if let Some(&sym) = self.ids.get(name) {
            return sym;
        }
        let sym = Sym(self.names.len() as u32);
        let name: Rc<str> = name.into();
        self.names.push(name.clone());
        self.ids.insert(name, sym);
        sym
    }

    pub fn find(&self, name: &str) -> Option<Sym> {
        self.ids.get(name).copied()
    }

    pub fn name(&self, sym: Sym) -> Rc<str> {
        self.names[sym.0 as usize].clone()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ItemId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PhraseId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DfnId(pub u32);

#[derive(Clone)]
pub enum What {
    Number(f64),
    /// Text, `⍬`.
    Literal(Array),
    Name(Sym),
    System(Rc<str>),
    Glyph(char),
    Word(Word),
    Quad,
    QuoteQuad,
    Assign,
    /// `(a)`; with separators the statements' values are items of a vector.
    Paren(Vec<PhraseId>, bool),
    /// `[i;j]` after something, `[a ⋄ b]` on its own. The flag: separators, not semicolons.
    Bracket(Vec<PhraseId>, bool),
    Dfn(DfnId),
}

pub struct Item {
    pub what: What,
    pub span: Span,
}

#[derive(Default)]
pub struct Phrase {
    pub items: Vec<ItemId>,
    pub span: Span,
    /// Resolved forms with the name classes they hold for.
    pub cache: RefCell<Vec<Rc<Resolved>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    None,
    /// `cond:expr`
    Test(PhraseId),
    /// `n::expr`
    Error(PhraseId),
}

#[derive(Clone, Copy, Debug)]
pub struct Stmt {
    pub guard: Guard,
    pub phrase: PhraseId,
}

pub struct Dfn {
    pub stmts: Vec<Stmt>,
    pub span: Span,
    /// Mentions ⍺⍺ or ⍵⍵ (then it is an operator), ⍵⍵ (then a dyadic one).
    pub operands: u8,
}

/// The tree. Everything is in vectors, so that dropping it needs no stack.
pub struct Ast {
    pub source: Arc<Source>,
    pub items: Vec<Item>,
    pub phrases: Vec<Phrase>,
    pub dfns: Vec<Dfn>,
    pub stmts: Vec<Stmt>,
}

impl Ast {
    pub fn item(&self, id: ItemId) -> &Item {
        &self.items[id.0 as usize]
    }

    pub fn phrase(&self, id: PhraseId) -> &Phrase {
        &self.phrases[id.0 as usize]
    }

    pub fn dfn(&self, id: DfnId) -> &Dfn {
        &self.dfns[id.0 as usize]
    }

    pub fn place(&self, span: Span) -> Place {
        Place::new(&self.source, span)
    }
}

//! The tree of a text: an arena of flat phrases. What binds to what is decided at run time
//! (`resolve`).

use super::resolve::Resolved;
use super::spent::Spent;
use super::steps::Steps;
use super::token::Word;
use super::tradfn::Tradfn;
use aplomb_ground::span::{Place, Source, Span};
use aplomb_values::array::Array;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// An interned name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sym(pub u32);

/// The names of a workspace, each with a number.
#[derive(Default)]
pub struct Symbols {
    ids: HashMap<Rc<str>, Sym>,
    names: Spelled,
}

/// Names by their numbers, for who shows them; a copy has those that come later, too.
#[derive(Clone, Default)]
pub struct Spelled(Rc<RefCell<Vec<Rc<str>>>>);

impl Spelled {
    /// The name of a number.
    pub fn name(&self, sym: Sym) -> Rc<str> {
        self.0.borrow()[sym.0 as usize].clone()
    }
}

impl Symbols {
    /// The names for who shows them.
    pub fn spelled(&self) -> Spelled {
        self.names.clone()
    }

    /// The number of a name, a new one if it has none.
    pub fn intern(&mut self, name: &str) -> Sym {
        if let Some(&sym) = self.ids.get(name) {
            return sym;
        }
        let mut names = self.names.0.borrow_mut();
        let sym = Sym(names.len() as u32);
        let name: Rc<str> = name.into();
        names.push(name.clone());
        self.ids.insert(name, sym);
        sym
    }

    /// The number of a name, if it has one.
    pub fn find(&self, name: &str) -> Option<Sym> {
        self.ids.get(name).copied()
    }

    /// The name of a number.
    pub fn name(&self, sym: Sym) -> Rc<str> {
        self.names.name(sym)
    }
}

/// The number of an item in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ItemId(pub u32);

/// The number of a phrase in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PhraseId(pub u32);

/// The number of a dfn in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DfnId(pub u32);

/// The number of a function of lines in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TradId(pub u32);

/// The kinds of items.
#[derive(Clone)]
pub enum What {
    /// A real number.
    Number(f64),
    /// Text, `⍬`.
    Literal(Array),
    /// A name.
    Name(Sym),
    /// A ⎕ name, without the quad.
    System(Rc<str>),
    /// A primitive.
    Glyph(char),
    /// `⍺`, `⍵`, `∇` and their doubles.
    Word(Word),
    /// `⎕` alone.
    Quad,
    /// `⍞`.
    QuoteQuad,
    /// `←`.
    Assign,
    /// `(a)`; with separators the statements' values are items of a vector.
    Paren(Vec<PhraseId>, bool),
    /// `(a:x ⋄ b:y)`, a namespace of names and the phrases of their values; `()` has none.
    Space(Vec<(Sym, PhraseId)>),
    /// `[i;j]` after something, `[a ⋄ b]` on its own. The flag: separators, not semicolons.
    Bracket(Vec<PhraseId>, bool),
    /// `{…}`.
    Dfn(DfnId),
}

/// One item of a phrase.
pub struct Item {
    /// The kind, and what is in it.
    pub what: What,
    /// The place in the text.
    pub span: Span,
}

/// Items between separators, not bound yet: that needs the classes of names.
#[derive(Default)]
pub struct Phrase {
    /// The items, from left to right.
    pub items: Vec<ItemId>,
    /// The place in the text.
    pub span: Span,
    /// Resolved forms with the name classes they hold for.
    pub cache: RefCell<Vec<Rc<Resolved>>>,
}

/// A condition in front of a statement of a dfn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// There is none.
    None,
    /// `cond:expr`
    Test(PhraseId),
    /// `n::expr`
    Error(PhraseId),
}

/// One statement.
#[derive(Clone, Copy, Debug)]
pub struct Stmt {
    /// The condition in front of it.
    pub guard: Guard,
    /// The phrase that is run.
    pub phrase: PhraseId,
}

/// A function or operator in braces.
pub struct Dfn {
    /// Its statements, in order.
    pub stmts: Vec<Stmt>,
    /// The place in the text, braces included.
    pub span: Span,
    /// Mentions ⍺⍺ or ⍵⍵ (then it is an operator), ⍵⍵ (then a dyadic one).
    pub operands: u8,
    /// Mentions ∇: it calls itself.
    pub recurs: bool,
    /// The arguments that a statement is the last to read, by statement; known once one asked.
    pub last: OnceCell<Box<[Spent]>>,
    /// Whether each of its ends is an assignment, so that its value is not shown. Known once one
    /// asked, where the text tells it whatever the names stand for.
    pub shy: OnceCell<bool>,
}

/// The tree. Everything is in vectors, so that dropping it needs no stack.
pub struct Ast {
    /// The text.
    pub source: Arc<Source>,
    /// All items, by number.
    pub items: Vec<Item>,
    /// All phrases, by number.
    pub phrases: Vec<Phrase>,
    /// All dfns, by number.
    pub dfns: Vec<Dfn>,
    /// All functions of lines, by number.
    pub tradfns: Vec<Tradfn>,
    /// The statements at the top.
    pub steps: Steps,
}

impl Ast {
    /// The tree of an empty text.
    pub fn empty() -> Ast {
        Ast {
            source: Source::new("", ""),
            items: Vec::new(),
            phrases: Vec::new(),
            dfns: Vec::new(),
            tradfns: Vec::new(),
            steps: Steps::default(),
        }
    }

    /// The item of that number, which is this tree's own.
    pub fn item(&self, id: ItemId) -> &Item {
        &self.items[id.0 as usize]
    }

    /// The phrase of that number, which is this tree's own.
    pub fn phrase(&self, id: PhraseId) -> &Phrase {
        &self.phrases[id.0 as usize]
    }

    /// The dfn of that number, which is this tree's own.
    pub fn dfn(&self, id: DfnId) -> &Dfn {
        &self.dfns[id.0 as usize]
    }

    /// The function of lines of that number, which is this tree's own.
    pub fn tradfn(&self, id: TradId) -> &Tradfn {
        &self.tradfns[id.0 as usize]
    }

    /// A place in the text of the tree.
    pub fn place(&self, span: Span) -> Place {
        Place::new(&self.source, span)
    }
}

//! Spent arguments: the reads of ⍺ and ⍵ that are the last of a call of a dfn.
//!
//! Who reads an argument last may have it: a list that a call was given and nobody else holds grows
//! where it lies, so `{⍵,⊂x}⍣n` and `(⍺,⊂x)∇⍵-1` are linear. A dfn runs each statement once at
//! most, so what its text says of reads holds for each call.

use super::ast::{Ast, Dfn, Guard, ItemId, PhraseId, What};
use super::resolve::{Code, Do};
use super::token::Word;

/// Numbers of reads of ⍺ and of ⍵.
pub type Reads = [u32; 2];

/// The number of no reads that there are: nobody may have the arguments.
pub const KEPT: Reads = [u32::MAX; 2];

/// The reads of a statement, and those behind it.
pub struct Spent {
    /// Mentions of ⍺ and ⍵ in it, behind its guard.
    pub reads: Reads,
    /// Mentions of ⍺ and of ⍵ in statements behind it: there are some.
    later: [bool; 2],
}

impl Spent {
    /// The reads after which an argument may be had, where the dfn goes on behind the statement.
    pub fn before_others(&self) -> Reads {
        let of = |k: usize| if self.later[k] { KEPT[k] } else { self.reads[k] };
        [of(0), of(1)]
    }
}

/// The reads of each statement of a dfn. All is kept where names of arguments may be spelled at run
/// time, and where an error guard goes back to what they were.
pub fn of(ast: &Ast, dfn: &Dfn) -> Box<[Spent]> {
    let mut kept = dfn.stmts.iter().any(|stmt| matches!(stmt.guard, Guard::Error(_)));
    let mut later = [false; 2];
    let mut out: Vec<Spent> = Vec::new();
    for stmt in dfn.stmts.iter().rev() {
        let reads = mentions(ast, stmt.phrase, &mut kept);
        out.push(Spent { reads, later });
        let first = match stmt.guard {
            Guard::Test(first) | Guard::Error(first) => mentions(ast, first, &mut kept),
            Guard::None => [0; 2],
        };
        later = std::array::from_fn(|k| later[k] || reads[k] + first[k] > 0);
    }
    out.reverse();
    if kept {
        out.iter_mut().for_each(|spent| (spent.reads, spent.later) = (KEPT, [true; 2]));
    }
    out.into()
}

/// Mentions of ⍺ and ⍵ in a phrase, those of dfns in it left out; `kept` is set where a text may
/// name them.
fn mentions(ast: &Ast, phrase: PhraseId, kept: &mut bool) -> Reads {
    let mut reads = [0; 2];
    let mut open: Vec<ItemId> = ast.phrase(phrase).items.clone();
    while let Some(id) = open.pop() {
        let mut inner = |parts: &mut dyn Iterator<Item = PhraseId>| {
            parts.for_each(|part| open.extend(&ast.phrase(part).items));
        };
        match &ast.item(id).what {
            What::Word(Word::Alpha) => reads[0] += 1,
            What::Word(Word::Omega) => reads[1] += 1,
            What::Glyph('⍎') | What::Quad => *kept = true,
            // The class of a name that a text spells.
            What::System(name) if &**name == "NC" => *kept = true,
            What::Paren(parts, _) | What::Bracket(parts, _) => inner(&mut parts.iter().copied()),
            What::Space(members) => inner(&mut members.iter().map(|(_, part)| *part)),
            _ => {}
        }
    }
    reads
}

impl Code {
    /// True of the last of so many steps that read what it reads: all that there are stand among
    /// the steps, and none behind it.
    pub fn reads_last(&self, step: usize, reads: u32) -> bool {
        let is_same = |what: &Do| match self.ins[step].what {
            Do::Alpha => matches!(what, Do::Alpha),
            _ => matches!(what, Do::Omega),
        };
        let own =
            |ins: &[_]| ins.iter().filter(|ins: &&super::resolve::Ins| is_same(&ins.what)).count();
        own(&self.ins[step + 1..]) == 0 && own(&self.ins) == reads as usize
    }
}

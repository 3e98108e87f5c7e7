//! Loops of `:For`, `:While` and `:Repeat` whose names hold numbers, as instructions.
//!
//! Their steps are jumps already (`syntax::steps`), so a loop is the steps from its first to the
//! jump back, each read where it stands. Names are outer names: what they hold when the loop is
//! read, a number, a vector or a matrix of numbers, they hold until it is left. A jump out of these
//! steps leaves the machine, and the evaluator goes on there. Loops over what a few functions make
//! of `⍳n` count, too (`counted`).

use super::Scope;
use super::code::{Body, Maker, Place};
use super::counted::{Counted, counted};
use super::form::Class;
use super::program::{List, Program};
use crate::eval::run::{At, Eval};
use crate::syntax::ast::PhraseId;
use crate::syntax::resolve::Pattern;
use crate::syntax::steps::{Act, Steps};
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, Do};
use std::cell::Cell;

/// The state of a loop over items.
#[derive(Clone, Copy)]
pub struct Items {
    /// The loop.
    pub slot: usize,
    /// Its vector among the lists.
    pub list: u16,
    /// Its next item among the constants.
    pub next: u16,
    /// The class of its items.
    pub class: Class,
}

/// A loop as a program.
pub struct Loop {
    pub program: Program,
    /// The loop that it is a turn of, if it is one over items.
    pub items: Option<Items>,
    /// Times that its turns were not operations on arrays.
    pub refusals: Cell<u8>,
}

impl Loop {
    /// True of a loop whose program says all about it: it calls no function, whose names might be
    /// others the next time, and knows no texts, which would stay.
    pub fn stands_alone(&self) -> bool {
        let program = &self.program;
        let texts = program.names.iter().any(|name| name.class == Class::Text);
        program.code.len() == 1 && !texts && program.texts.borrow().is_empty()
    }
}

/// The kinds of loops over items.
#[derive(Clone, Copy)]
enum Over {
    List {
        of: u16,
        next: u16,
    },
    /// `made`: what becomes of each number.
    Count {
        next: u16,
        end: u16,
        made: usize,
    },
}

/// The steps `from..to` as a program; the last one jumps back to the first. `texts` is the slot of
/// a loop over texts. None: something in them is more than numbers.
pub fn read(
    ev: &mut Eval<'_>,
    at: At<'_>,
    steps: &Steps,
    (from, to): (usize, usize),
    texts: Option<usize>,
) -> Option<Loop> {
    if at.frame.is_some() || steps.steps.iter().any(|s| matches!(s.act, Act::Branch(_))) {
        return None;
    }
    let scope = Scope { ast: at.ast.clone(), frame: None, around: None };
    let mut reader = Reader {
        maker: Maker::new(ev, true),
        body: Body::of_loop(scope),
        over: Vec::new(),
        selected: Vec::new(),
        jumps: Vec::new(),
        names_over: Vec::new(),
        items: None,
        counted: Vec::new(),
        texts,
    };
    // The loop's own code comes first.
    reader.maker.program.code.push(Default::default());
    let mut starts = Vec::new();
    for at in from..to {
        starts.push(reader.body.of.steps.len());
        reader.step(steps, at)?;
    }
    starts.push(reader.body.of.steps.len());
    reader.body.push(Do::Leave(to))?;
    reader.land(from, &starts)?;
    let changes = |list: &u16| {
        reader.maker.program.names.iter().any(|n| n.rank > 0 && n.slot == *list && n.changes)
    };
    if reader.names_over.iter().chain(&reader.maker.held).any(changes) {
        return None;
    }
    let Reader { mut maker, body, items, .. } = reader;
    maker.program.code[0] = body.of;
    let mut program = maker.functions()?;
    program.turns_names();
    Some(Loop { program, items, refusals: Cell::new(0) })
}

struct Reader<'e, 'h> {
    maker: Maker<'e, 'h>,
    body: Body,
    /// Loops over items that began, by slot.
    over: Vec<(usize, Over)>,
    /// The values that cases are compared with, by slot.
    selected: Vec<(usize, Place)>,
    /// Instructions that jump, and the step that each jumps to.
    jumps: Vec<(usize, usize)>,
    /// Lists that loops go over, which nothing may change meanwhile.
    names_over: Vec<u16>,
    items: Option<Items>,
    /// The loops that count.
    counted: Vec<Counted>,
    /// The loop that is under way over texts.
    texts: Option<usize>,
}

impl Reader<'_, '_> {
    fn step(&mut self, steps: &Steps, at: usize) -> Option<()> {
        match &steps.steps[at].act {
            Act::Run(phrase) => {
                let code = self.maker.resolved(&self.body, *phrase)?;
                if !code.code.assigns {
                    return None;
                }
                self.maker.code(&mut self.body, &code.code, false)?.map(|_| ())?;
                self.maker.ends(&mut self.body);
                Some(())
            }
            Act::Jump(to) => self.jump(Do::Jump(0), *to),
            Act::Test { cond, holds, to } => {
                let y = self.value(*cond)?;
                if !holds {
                    return self.jump(Do::Unless { y, then: 0 }, *to);
                }
                let over = self.body.of.steps.len() as u32 + 2;
                self.body.push(Do::Unless { y, then: over })?;
                self.jump(Do::Jump(0), *to)
            }
            Act::Select { slot, of } => {
                let code = self.maker.resolved(&self.body, *of)?;
                let y = self.maker.code(&mut self.body, &code.code, false)??;
                let kept = self.state()?;
                let (class, y) = match y {
                    Place::Number(y) => (Class::Number, y),
                    Place::Char(y) => (Class::Char, y),
                    _ => return None,
                };
                self.selected.retain(|(known, _)| known != slot);
                self.selected.push((*slot, Place::one(class, Arg::Fixed(kept))));
                self.body.push(Do::Set { slot: kept, y })
            }
            Act::Case { slot, of, list, otherwise } => {
                let known = self.selected.iter().find(|(known, _)| known == slot);
                let selected = known.map(|(_, place)| place.clone())?;
                let code = self.maker.resolved(&self.body, *of)?;
                let of = self.maker.code(&mut self.body, &code.code, false)??;
                let one = matches!(of, Place::Number(_) | Place::Char(_));
                let cases = match *list && !one {
                    true => Vec::from(self.maker.short(&of)?.items()?),
                    false => vec![of],
                };
                let mut any = None;
                for case in &cases {
                    let same = self.maker.matches(&mut self.body, &selected, case)?;
                    any = Some(match any {
                        None => same,
                        Some(any) => self.maker.two(&mut self.body, Op::Max, &any, &same)?,
                    });
                }
                let y = any?.number()?;
                self.jump(Do::Unless { y, then: 0 }, *otherwise)
            }
            Act::For { slot, names: Pattern::Name(_), each: false, of } => {
                let over = self.begins(*of)?;
                self.over.retain(|(known, _)| known != slot);
                self.over.push((*slot, over));
                Some(())
            }
            Act::Next { slot, done } => {
                let Act::For { names: Pattern::Name(sym), each: false, .. } =
                    &steps.steps[at.checked_sub(1)?].act
                else {
                    return None;
                };
                let known =
                    self.over.iter().find(|(known, _)| known == slot).map(|(_, over)| *over);
                let is_text = match known {
                    Some(Over::List { of, .. }) => self.maker.classes[of as usize] == Class::Text,
                    Some(Over::Count { .. }) => false,
                    None => self.texts == Some(*slot),
                };
                let name = match is_text {
                    true => self.maker.outer_text(&self.body, *sym)?,
                    false => self.maker.outer(&self.body, *sym, true)?,
                };
                let (class, name) = match name {
                    Place::Number(Arg::Fixed(name)) => (Class::Number, name),
                    Place::Char(Arg::Fixed(name)) => (Class::Char, name),
                    Place::Text(Arg::Fixed(name)) => (Class::Text, name),
                    _ => return None,
                };
                let over = match known {
                    Some(over) => over,
                    None => self.under_way(*slot, class)?,
                };
                let is = match over {
                    Over::List { of, .. } => self.maker.classes[of as usize],
                    Over::Count { .. } => Class::Number,
                };
                (is == class).then_some(())?;
                match over {
                    Over::List { of, next } => {
                        self.jump(Do::Next { of, next, slot: name, done: 0 }, *done)
                    }
                    Over::Count { next, end, made } if self.counted[made].is_plain() => {
                        self.jump(Do::CountOn { next, end, slot: name, done: 0 }, *done)
                    }
                    Over::Count { next, end, made } => {
                        let slot = self.state()?;
                        self.jump(Do::CountOn { next, end, slot, done: 0 }, *done)?;
                        let Reader { counted, maker, body, .. } = self;
                        let y = counted[made].item(maker, body, Arg::Fixed(slot))?;
                        self.body.push(Do::Set { slot: name, y })
                    }
                }
            }
            _ => None,
        }
    }

    /// An instruction that may go on at another step.
    fn jump(&mut self, step: Do, to: usize) -> Option<()> {
        self.jumps.push((self.body.of.steps.len(), to));
        self.body.push(step)
    }

    /// The number that a phrase is.
    fn value(&mut self, phrase: PhraseId) -> Option<Arg> {
        let code = self.maker.resolved(&self.body, phrase)?;
        self.maker.code(&mut self.body, &code.code, false)??.number()
    }

    /// A loop over items that begins within: over a name's vector, or over `⍳n`.
    fn begins(&mut self, of: PhraseId) -> Option<Over> {
        let resolved = self.maker.resolved(&self.body, of)?;
        let code = &resolved.code;
        let next = self.state()?;
        if let Some((length, by)) = counted(&code.ins) {
            let y = self.maker.steps(&mut self.body, length, false)??.number()?;
            let end = self.state()?;
            self.body.push(Do::Count { y, next, end })?;
            self.counted.push(Counted::begins(&mut self.maker, &mut self.body, end, &by)?);
            return Some(Over::Count { next, end, made: self.counted.len() - 1 });
        }
        let Place::Vector(of) = self.maker.code(&mut self.body, code, false)?? else {
            return None;
        };
        self.names_over.push(of);
        self.body.push(Do::Over { next })?;
        Some(Over::List { of, next })
    }

    /// The loop over items that is under way.
    fn under_way(&mut self, slot: usize, class: Class) -> Option<Over> {
        if self.items.is_some() {
            return None;
        }
        let (list, next) = (self.maker.list(List::EMPTY, class)?, self.state()?);
        self.items = Some(Items { slot, list, next, class });
        let over = Over::List { of: list, next };
        self.over.push((slot, over));
        Some(over)
    }

    /// A number of the machine's own.
    fn state(&mut self) -> Option<u16> {
        self.maker.program.number(0.0)
    }

    /// Jumps get their instructions; those to other steps leave.
    fn land(&mut self, from: usize, starts: &[usize]) -> Option<()> {
        for (at, to) in std::mem::take(&mut self.jumps) {
            let inside = to.checked_sub(from).and_then(|k| starts.get(k));
            let to = match inside {
                Some(start) => *start,
                None => {
                    self.body.push(Do::Leave(to))?;
                    self.body.of.steps.len() - 1
                }
            } as u32;
            match &mut self.body.of.steps[at] {
                Do::Jump(target)
                | Do::Unless { then: target, .. }
                | Do::Next { done: target, .. }
                | Do::CountOn { done: target, .. } => *target = to,
                _ => return None,
            }
        }
        Some(())
    }
}

//! Statements with control words as a list of steps with jumps.
//!
//! In: the lines of a function or a text, each with its words. Out: steps; a block is nothing but
//! the jumps that it means. One walk with a stack of the blocks that are open. What does not nest
//! is an error with the place of both words; a function has it when it is called.

use super::ast::{Ast, ItemId, PhraseId, Sym, TradId, What};
use super::parse::{Behind, Line};
use super::resolve::Pattern;
use super::words::{Block, Control, spelled};
use aplomb_ground::error::{Error, Result, syntax};
use aplomb_ground::span::{Place, Span};

/// The steps of a function or a text.
#[derive(Default)]
pub struct Steps {
    /// The steps, by number.
    pub steps: Vec<Step>,
    /// The number of loops and selections: each keeps its state in a slot.
    pub slots: usize,
    /// The traps, by number.
    pub traps: Vec<Region>,
}

/// One step.
pub struct Step {
    /// The kind, and what is in it.
    pub act: Act,
    /// The line of the function where it stands.
    pub line: u32,
    /// The place in the text.
    pub span: Span,
}

/// Steps that a trap guards, and where it goes on.
pub struct Region {
    /// The first step that is guarded.
    pub from: usize,
    /// The step behind the last that is.
    pub to: usize,
    /// The step that an error goes to.
    pub handler: usize,
}

/// The kinds of steps. Those with a target jump there.
pub enum Act {
    /// A statement.
    Run(PhraseId),
    /// A function of lines gets its name.
    Define(TradId),
    /// `→`: to a line.
    Branch(PhraseId),
    /// Goes on elsewhere if the condition is what `holds` says.
    Test {
        /// The condition.
        cond: PhraseId,
        /// The value for which it jumps.
        holds: bool,
        /// The target.
        to: usize,
    },
    /// Goes on elsewhere.
    Jump(usize),
    /// A loop over items begins.
    For {
        /// The loop.
        slot: usize,
        /// The names that get an item each turn.
        names: Pattern,
        /// Each name has an array of its own.
        each: bool,
        /// The array.
        of: PhraseId,
    },
    /// The next turn of a loop over items; behind the last it goes on elsewhere.
    Next {
        /// The loop.
        slot: usize,
        /// The step behind the loop.
        done: usize,
    },
    /// The value that cases are compared with.
    Select {
        /// The selection.
        slot: usize,
        /// The value.
        of: PhraseId,
    },
    /// Goes on elsewhere if the value is another.
    Case {
        /// The selection.
        slot: usize,
        /// The value, or several.
        of: PhraseId,
        /// Each item is one.
        list: bool,
        /// The next case.
        otherwise: usize,
    },
    /// A trap begins, of the events that the phrase gives.
    Trap {
        /// The trap.
        trap: usize,
        /// The numbers of events.
        events: PhraseId,
    },
    /// Goes on elsewhere if the error that was trapped is another.
    Caught {
        /// The numbers of events.
        events: PhraseId,
        /// The next case.
        otherwise: usize,
    },
    /// The namespace of that name, or one without a name, becomes the current one.
    Enter(Option<Sym>),
    /// The namespace around becomes the current one again.
    Leave,
    /// The namespace that the phrase gives is the current one up to a step.
    With {
        /// The namespace.
        of: PhraseId,
        /// The step behind the block.
        end: usize,
    },
    /// A phrase whose value nobody sees.
    Evaluate(PhraseId),
    /// A guard or a label where none may stand.
    Misplaced(&'static str),
}

impl Act {
    /// The step that it may go on with instead of the next.
    fn target(&mut self) -> Option<&mut usize> {
        match self {
            Act::Test { to, .. } | Act::Jump(to) => Some(to),
            Act::Next { done, .. } => Some(done),
            Act::Case { otherwise, .. } | Act::Caught { otherwise, .. } => Some(otherwise),
            _ => None,
        }
    }
}

/// A target behind the last step.
const END: usize = usize::MAX;

/// A block that is open.
struct Open {
    block: Block,
    at: Span,
    /// The step where a loop begins anew.
    top: usize,
    slot: usize,
    /// Steps that go on behind the block.
    ends: Vec<usize>,
    /// Steps that go on with the next clause.
    next: Vec<usize>,
    /// Steps that go on with the next turn.
    continues: Vec<usize>,
    /// The condition that the last word began, which `:AndIf` and `:OrIf` carry on.
    tests: Option<Tests>,
    /// `:Until` has ended the loop, and its condition may go on.
    until: bool,
    /// Clauses that began; `:Else` is the last.
    clauses: usize,
    ends_with_else: bool,
}

/// A condition in parts, joined by all `:AndIf` or all `:OrIf`.
#[derive(Default)]
struct Tests {
    or: Option<bool>,
    /// Its last part.
    last: usize,
    /// The parts that suffice.
    enough: Vec<usize>,
}

struct Builder<'a> {
    ast: &'a Ast,
    in_function: bool,
    out: Steps,
    open: Vec<Open>,
    line: u32,
}

/// The steps of lines; `number` gives the line of a place, `labels` are allowed in functions.
/// Errors: SYNTAX with the words that do not nest.
pub(super) fn steps(
    ast: &Ast,
    lines: &[Line],
    number: &mut dyn FnMut(Span) -> u32,
    labels: bool,
) -> Result<Steps> {
    let mut b =
        Builder { ast, in_function: labels, out: Steps::default(), open: Vec::new(), line: 0 };
    for line in lines.iter().filter(|l| !l.is_empty(ast)) {
        b.line = number(line.at);
        b.line(line, labels)?;
    }
    b.settle_until(None);
    match b.open.pop() {
        None => Ok(b.out),
        Some(open) => {
            let says = format!("{} is never ended", spelled(Control::Open(open.block)));
            Err(b.error(says, open.at))
        }
    }
}

impl Builder<'_> {
    fn error(&self, says: impl Into<String>, at: Span) -> Error {
        syntax(says).at(&self.ast.place(at))
    }

    /// The number of the next step.
    fn here(&self) -> usize {
        self.out.steps.len()
    }

    fn push(&mut self, act: Act, span: Span) -> usize {
        self.out.steps.push(Step { act, line: self.line, span });
        self.here() - 1
    }

    /// Sends steps to a target.
    fn send(&mut self, steps: Vec<usize>, target: usize) {
        for k in steps {
            if let Some(to) = self.out.steps[k].act.target() {
                *to = target;
            }
        }
    }

    fn slot(&mut self) -> usize {
        self.out.slots += 1;
        self.out.slots - 1
    }

    /// A loop that `:Until` has ended is over, unless this word carries its condition on.
    fn settle_until(&mut self, word: Option<Control>) {
        let carries = matches!(word, Some(Control::Further { .. }));
        if !carries && self.open.last().is_some_and(|o| o.until) {
            self.close();
        }
    }

    /// The innermost block is over here.
    fn close(&mut self) {
        if let Some(mut open) = self.open.pop() {
            if open.until {
                self.goes_round(&mut open);
            }
            let here = self.here();
            self.send(open.next, here);
            self.send(open.ends, here);
            self.send(open.continues, open.top);
        }
    }

    /// A jump of its own takes what `:Until` finds not to hold round, so that all loops end in
    /// one: whoever counts turns, or runs them as numbers, looks for that.
    fn goes_round(&mut self, open: &mut Open) {
        let Some(tests) = open.tests.take() else { return };
        let Step { line, span, .. } = self.out.steps[tests.last];
        if let Act::Test { holds, .. } = &mut self.out.steps[tests.last].act {
            *holds = true;
        }
        let goes_on = std::mem::take(&mut open.next).into_iter().filter(|k| *k != tests.last);
        let goes_on = goes_on.collect();
        self.out.steps.push(Step { act: Act::Jump(open.top), line, span });
        self.send(goes_on, self.here() - 1);
        open.ends.push(tests.last);
        open.ends.extend(tests.enough);
    }

    fn line(&mut self, line: &Line, labels: bool) -> Result<()> {
        self.settle_until(line.word.map(|w| w.0));
        if let Some(id) = line.defines {
            self.push(Act::Define(id), line.at);
            return Ok(());
        }
        if let Some((_, at)) = line.label
            && !labels
        {
            let says = "a guard stands only inside { }, a label only in a ∇ function";
            self.push(Act::Misplaced(says), at);
            return Ok(());
        }
        let span = self.ast.phrase(line.phrase).span;
        match (line.word, &line.behind) {
            (None, Some((Behind::Guard, _))) => {
                self.push(Act::Misplaced("a guard stands only inside { }"), span);
            }
            (None, _) => {
                let empty = self.ast.phrase(line.phrase).items.is_empty();
                let act = match line.branches {
                    true => Act::Branch(line.phrase),
                    false => Act::Run(line.phrase),
                };
                if !empty || line.branches {
                    self.push(act, if empty { line.at } else { span });
                }
            }
            (Some((word, at)), _) => self.word(word, at, line)?,
        }
        Ok(())
    }

    /// The innermost block, if a word may stand in it. Errors: SYNTAX with both places.
    fn within(&self, word: Control, at: Span, blocks: &[Block]) -> Result<&Open> {
        let fits = |o: &&Open| blocks.contains(&o.block) && !o.until;
        if let Some(open) = self.open.last().filter(fits) {
            return Ok(open);
        }
        let wanted: Vec<String> = blocks.iter().map(|b| spelled(Control::Open(*b))).collect();
        let says = format!("{} without its {}", spelled(word), wanted.join(" or "));
        Err(match self.open.last() {
            None => self.error(says, at),
            Some(open) => {
                let inner = spelled(Control::Open(open.block));
                self.error(says, at).mark(open.at, format!("this {inner} is open")).mark(at, "here")
            }
        })
    }

    fn begin(&mut self, block: Block, at: Span) -> &mut Open {
        let (top, slot) = (self.here(), self.out.slots);
        self.open.push(Open {
            block,
            at,
            top,
            slot,
            ends: Vec::new(),
            next: Vec::new(),
            continues: Vec::new(),
            tests: None,
            until: false,
            clauses: 0,
            ends_with_else: false,
        });
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    /// The first part of a condition: where it does not hold, the next clause.
    fn test(&mut self, cond: PhraseId, at: Span) -> Result<()> {
        if self.ast.phrase(cond).items.is_empty() {
            return Err(self.error("a condition is missing", at));
        }
        let span = self.ast.phrase(cond).span;
        let step = self.push(Act::Test { cond, holds: false, to: END }, span);
        if let Some(open) = self.open.last_mut() {
            open.next.push(step);
            open.tests = Some(Tests { last: step, ..Tests::default() });
        }
        Ok(())
    }

    /// `:AndIf`, `:OrIf`.
    fn further(&mut self, or: bool, cond: PhraseId, at: Span) -> Result<()> {
        let word = spelled(Control::Further { or });
        let Some(mut tests) = self.open.last_mut().and_then(|o| o.tests.take()) else {
            return Err(self.error(format!("{word} carries no condition on"), at));
        };
        if tests.or.is_some_and(|before| before != or) {
            let says = ":AndIf and :OrIf are never mixed in one condition";
            return Err(self.error(says, at));
        }
        tests.or = Some(or);
        if or {
            // What held is enough: it goes on behind the last part.
            if let Some(open) = self.open.last_mut() {
                open.next.retain(|k| *k != tests.last);
            }
            if let Act::Test { holds, .. } = &mut self.out.steps[tests.last].act {
                *holds = true;
            }
            tests.enough.push(tests.last);
        }
        self.test(cond, at)?;
        let behind = self.here();
        self.send(tests.enough.clone(), behind);
        tests.last = behind - 1;
        if let Some(open) = self.open.last_mut() {
            open.tests = Some(tests);
        }
        Ok(())
    }

    /// The clause before this one is over.
    fn clause(&mut self, at: Span, is_else: bool) -> Result<()> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        if open.ends_with_else {
            let opener = open.at;
            let e = self.error(":Else is the last clause of its block", at);
            return Err(e.mark(opener, "of this block").mark(at, "here"));
        }
        open.clauses += 1;
        (open.ends_with_else, open.tests) = (is_else, None);
        let (block, first) = (open.block, open.clauses == 1);
        let next = std::mem::take(&mut open.next);
        // A selection has nothing before its first case.
        if block != Block::Select || !first {
            let jump = self.push(Act::Jump(END), at);
            if let Some(open) = self.open.last_mut() {
                open.ends.push(jump);
            }
        }
        let here = self.here();
        self.send(next, here);
        if block == Block::Trap && first {
            self.handle(here);
        }
        Ok(())
    }

    /// The innermost trap guards what stands before, and goes on here.
    fn handle(&mut self, handler: usize) {
        if let Some(open) = self.open.last() {
            let region = &mut self.out.traps[open.slot];
            (region.to, region.handler) = (handler, handler);
        }
    }

    fn word(&mut self, word: Control, at: Span, line: &Line) -> Result<()> {
        let of = line.phrase;
        let none = self.ast.phrase(of).items.is_empty();
        let takes = matches!(
            word,
            Control::Open(_)
                | Control::Until
                | Control::Further { .. }
                | Control::ElseIf
                | Control::Case { .. }
                | Control::GoTo
        );
        if !takes && !none && word != Control::Close(Some(Block::Section)) {
            let says = format!("nothing stands behind {} on its line", spelled(word));
            return Err(self.error(says, at.join(self.ast.phrase(of).span)));
        }
        let whole = if none { at } else { at.join(self.ast.phrase(of).span) };
        match word {
            Control::Open(block) => return self.opens(block, at, line, whole),
            Control::Further { or } => return self.further(or, of, at),
            Control::ElseIf => {
                self.within(word, at, &[Block::If])?;
                self.clause(at, false)?;
                self.test(of, at)?;
            }
            Control::Else => {
                self.within(word, at, &[Block::If, Block::Select, Block::Trap])?;
                self.clause(at, true)?;
            }
            Control::Case { list } => {
                let open = self.within(word, at, &[Block::Select, Block::Trap])?;
                let (block, slot) = (open.block, open.slot);
                self.clause(at, false)?;
                if none {
                    return Err(self.error("a case names a value", at));
                }
                let act = match block {
                    Block::Select => Act::Case { slot, of, list, otherwise: END },
                    _ => Act::Caught { events: of, otherwise: END },
                };
                let step = self.push(act, whole);
                if let Some(open) = self.open.last_mut() {
                    open.next.push(step);
                }
            }
            Control::Until => {
                self.within(word, at, &[Block::While, Block::Repeat])?;
                let here = self.here();
                self.test(of, at)?;
                if let Some(open) = self.open.last_mut() {
                    open.until = true;
                    let continues = std::mem::take(&mut open.continues);
                    // A condition at the top leaves the loop, the one at its end goes round.
                    let top = open.next.split_off(open.next.len() - 1);
                    let leaves = std::mem::replace(&mut open.next, top);
                    open.ends.extend(leaves);
                    self.send(continues, here);
                }
            }
            Control::Close(block) => return self.closes(block, word, at),
            Control::Return => {
                self.push(Act::Jump(END), at);
            }
            Control::Leave | Control::Continue => {
                let step = self.push(Act::Jump(END), at);
                let loops = [Block::While, Block::Repeat, Block::For];
                match self.open.iter_mut().rev().find(|o| loops.contains(&o.block)) {
                    Some(open) if word == Control::Leave => open.ends.push(step),
                    Some(open) => open.continues.push(step),
                    None => {
                        let says = format!("{} stands in no loop", spelled(word));
                        return Err(self.error(says, at));
                    }
                }
            }
            Control::GoTo => {
                self.push(Act::Branch(of), whole);
            }
            Control::In { .. } | Control::Absent => {
                return Err(self.error(format!("{} cannot stand here", spelled(word)), at));
            }
        }
        Ok(())
    }

    fn opens(&mut self, block: Block, at: Span, line: &Line, whole: Span) -> Result<()> {
        let of = line.phrase;
        let none = self.ast.phrase(of).items.is_empty();
        let missing = |what: &str| {
            let says = format!("{} needs {what}", spelled(Control::Open(block)));
            syntax(says).at(&self.ast.place(at))
        };
        match block {
            Block::For => {
                let Some((Behind::In { each }, array)) = line.behind else {
                    return Err(missing("names, :In and an array"));
                };
                let names = self.ast.phrase(of).items.as_slice();
                let Some(names) = pattern(self.ast, names) else {
                    return Err(missing("one name or more before :In"));
                };
                let whole = at.join(self.ast.phrase(array).span);
                let slot = self.slot();
                self.push(Act::For { slot, names, each, of: array }, whole);
                let top = self.push(Act::Next { slot, done: END }, whole);
                self.begin(block, at).ends.push(top);
                if let Some(open) = self.open.last_mut() {
                    open.top = top;
                }
            }
            Block::If | Block::While if none => return Err(missing("a condition")),
            Block::If | Block::While => {
                self.begin(block, at);
                self.test(of, at)?;
            }
            Block::Select if none => return Err(missing("a value")),
            Block::Select => {
                let slot = self.slot();
                self.push(Act::Select { slot, of }, whole);
                self.begin(block, at).slot = slot;
            }
            Block::Trap if none => return Err(missing("the numbers of events")),
            Block::Trap => {
                let trap = self.out.traps.len();
                self.push(Act::Trap { trap, events: of }, whole);
                let from = self.here();
                self.out.traps.push(Region { from, to: END, handler: END });
                self.begin(block, at).slot = trap;
            }
            Block::Hold => {
                if !none {
                    self.push(Act::Evaluate(of), whole);
                }
                self.begin(block, at);
            }
            Block::Repeat if !none => {
                let says = "nothing stands behind :Repeat on its line";
                return Err(self.error(says, whole));
            }
            Block::Repeat | Block::Section => {
                self.begin(block, at);
            }
            Block::With if none => return Err(missing("a namespace")),
            Block::With => {
                let top = self.push(Act::With { of, end: END }, whole);
                self.begin(block, at).top = top;
            }
            Block::Namespace => {
                let items = self.ast.phrase(of).items.as_slice();
                let name = match items {
                    [] => None,
                    [one] => match &self.ast.item(*one).what {
                        What::Name(sym) => Some(*sym),
                        _ => return Err(missing("one name")),
                    },
                    _ => return Err(missing("one name")),
                };
                if self.in_function || self.open.iter().any(|o| o.block != Block::Namespace) {
                    let says = ":Namespace stands in a text's own lines, not in a function";
                    return Err(self.error(says, whole));
                }
                self.push(Act::Enter(name), whole);
                self.begin(block, at);
            }
        }
        Ok(())
    }

    fn closes(&mut self, block: Option<Block>, word: Control, at: Span) -> Result<()> {
        let Some(open) = self.open.last() else {
            let wanted = block.map_or("opening word".into(), |b| spelled(Control::Open(b)));
            return Err(self.error(format!("{} without its {wanted}", spelled(word)), at));
        };
        let (own, opener) = (open.block, open.at);
        if block.is_some_and(|b| b != own) {
            let inner = spelled(Control::Open(own));
            let says = format!("{} stands where {inner} is open", spelled(word));
            return Err(self
                .error(says, at)
                .mark(opener, format!("this {inner}"))
                .mark(at, "here"));
        }
        match own {
            Block::While | Block::Repeat | Block::For => {
                let top = open.top;
                self.push(Act::Jump(top), at);
            }
            Block::Trap if open.clauses == 0 => self.handle(self.here()),
            Block::Namespace => {
                self.push(Act::Leave, at);
            }
            Block::With => {
                let (top, here) = (open.top, self.here());
                if let Act::With { end, .. } = &mut self.out.steps[top].act {
                    *end = here;
                }
            }
            _ => {}
        }
        self.close();
        Ok(())
    }
}

/// The names that a loop sets: one, several, or in parentheses as they are assigned.
fn pattern(ast: &Ast, items: &[ItemId]) -> Option<Pattern> {
    let one = |id: &ItemId| match &ast.item(*id).what {
        What::Name(sym) => Some(Pattern::Name(*sym)),
        What::Paren(parts, false) if parts.len() == 1 => {
            let inner = &ast.phrase(parts[0]).items;
            let names: Option<Vec<_>> = inner.iter().map(|i| pattern(ast, &[*i])).collect();
            names.filter(|n| !n.is_empty()).map(Pattern::All)
        }
        _ => None,
    };
    let names: Vec<_> = items.iter().map(one).collect::<Option<_>>()?;
    match <[Pattern; 1]>::try_from(names) {
        Ok([one]) => Some(one),
        Err(names) if names.is_empty() => None,
        Err(names) => Some(Pattern::All(names)),
    }
}

impl Step {
    /// The place in the tree's text.
    pub fn place(&self, ast: &Ast) -> Place {
        ast.place(self.span)
    }
}

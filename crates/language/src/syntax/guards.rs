//! A function of lines as a dfn: where it goes on says a guard instead of a jump.
//!
//! `:If`, `:Select`, `:Return` and what follows them are guards; a loop that ends by a condition is
//! a dfn that calls itself last, on the names that it changes, and one over items counts those that
//! it has taken. Where no guard says it, ways that come together are a value (`joins`). Whoever
//! runs many cells at once knows dfns, so a function of lines need be known to nobody else. It is
//! one only where it can mean nothing else: each name that it gives a value is its own, each that
//! it reads has one by then, and it prints nothing, branches nowhere and looks at nothing but
//! names.

mod joins;

use super::ast::{Ast, DfnId, ItemId, PhraseId, Sym, Symbols, What};
use super::resolve::Pattern;
use super::steps::{Act, Steps};
use super::tradfn::Tradfn;
use crate::eval::system;
use aplomb_ground::limits::{Interrupt, Limits};
use aplomb_ground::span::Source;
use std::rc::Rc;

/// Steps that are written out, at most: those behind a condition are in both of its ways.
const MOST: usize = 256;
/// The same with those of ways that turned out to be none.
const TRIED: usize = 4_096;

/// The dfn that a function of lines is.
pub struct Guards {
    /// The tree of its text.
    pub ast: Rc<Ast>,
    /// Its number there.
    pub dfn: DfnId,
    /// The names that it reads and that are not its own.
    pub free: Vec<Sym>,
}

/// The end of a block: a value, or another turn of the loop of that number.
type End = Option<usize>;

/// Statements in braces; the last one is the value.
#[derive(Clone)]
struct Block {
    stmts: Vec<Stmt>,
    end: End,
}

/// A statement as text, and the name that gets a value by it, with that value.
#[derive(Clone)]
struct Stmt {
    text: String,
    gives: Option<(Sym, String)>,
}

/// A block that is being written.
#[derive(Clone)]
struct Open {
    out: Block,
    /// It is the body of the innermost loop, and stands at its first step.
    begins: bool,
    /// The loop that its last call goes round.
    innermost: End,
    /// It has an end.
    ended: bool,
}

/// A loop that is written out.
struct Loop {
    top: usize,
    /// The names that it changes.
    names: Vec<Sym>,
}

/// Names with a value: of any block around, and of this one.
#[derive(Clone)]
struct Known {
    all: Vec<Sym>,
    here: Vec<Sym>,
}

/// The names in a phrase, and where the last of each kind stands.
#[derive(Default)]
struct Names {
    read: Vec<(Sym, u32)>,
    given: Vec<(Sym, u32)>,
    /// It gives them values in a way that reads them.
    changed: Vec<Sym>,
}

struct Maker<'a> {
    ast: &'a Ast,
    steps: &'a Steps,
    own: &'a Tradfn,
    result: Sym,
    symbols: &'a Symbols,
    /// The first step of each loop, and its last.
    loops: Vec<(usize, usize)>,
    /// The names of the items of each loop over items, by slot, and of the number of those taken.
    items: Vec<(usize, Sym, Sym)>,
    free: Vec<Sym>,
    written: usize,
    tried: usize,
}

/// None: it is no dfn.
pub fn guards(ast: &Ast, own: &Tradfn, symbols: &mut Symbols, limits: &Limits) -> Option<Guards> {
    let steps = own.steps.as_ref().ok()?;
    let Some(Pattern::Name(result)) = own.result else { return None };
    let plain = own.settings.is_empty() && own.operands.is_empty() && own.labels.is_empty();
    if !plain || own.optional || steps.steps.len() > MOST {
        return None;
    }
    let back = |(k, step): (usize, &super::steps::Step)| match step.act {
        Act::Jump(to) | Act::Test { to, .. } if to <= k => Some((to, k)),
        _ => None,
    };
    let mut loops: Vec<(usize, usize)> = Vec::new();
    for (top, last) in steps.steps.iter().enumerate().filter_map(back) {
        match loops.iter_mut().find(|known| known.0 == top) {
            Some(known) => known.1 = last,
            None => loops.push((top, last)),
        }
    }
    let (mut first, mut known) = (String::new(), Vec::new());
    let given = [(&own.right, "⍵"), (&own.left, "⍺")];
    for (names, word) in given.into_iter().filter_map(|(n, word)| Some((n.as_ref()?, word))) {
        let list = match names {
            Pattern::Name(sym) => vec![*sym],
            Pattern::All(_) => flat(names)?,
            _ => return None,
        };
        first += &format!("{}←{word} ⋄ ", strand(symbols, &list, true));
        known.extend(list);
    }
    let known = Known { all: known.clone(), here: known };
    let items = steps.steps.iter().filter_map(|step| match step.act {
        Act::For { slot, .. } => {
            let mut name = |what: char| symbols.intern(&format!("∆∆{what}{slot}"));
            Some((slot, name('f'), name('n')))
        }
        _ => None,
    });
    let items = items.collect();
    let (free, written, tried) = (Vec::new(), 0, 0);
    let mut maker = Maker { ast, steps, own, result, symbols, loops, items, free, written, tried };
    let block = maker.block(0, known, &mut Vec::new(), false)?;
    let free = maker.free;
    if block.end.is_some() {
        return None;
    }
    let text = format!("{{{first}{}}}", joined(&block.stmts));
    let name = symbols.name(own.name);
    let source = Source::new(format!("∇{name}"), text);
    let ast = super::parse(&source, symbols, limits, &Interrupt::default()).ok()?;
    let widest =
        (0..ast.dfns.len()).max_by_key(|k| ast.dfns[*k].span.end - ast.dfns[*k].span.start)?;
    Some(Guards { ast: Rc::new(ast), dfn: DfnId(widest as u32), free })
}

/// The names of a pattern without patterns in it.
fn flat(names: &Pattern) -> Option<Vec<Sym>> {
    let Pattern::All(names) = names else { return None };
    let one = |p: &Pattern| if let Pattern::Name(sym) = p { Some(*sym) } else { None };
    names.iter().map(one).collect()
}

/// Names side by side; as a pattern, several stand in parentheses.
fn strand(symbols: &Symbols, names: &[Sym], pattern: bool) -> String {
    let names: Vec<_> = names.iter().map(|sym| symbols.name(*sym)).collect();
    match names.len() > 1 && pattern {
        true => format!("({})", names.join(" ")),
        false => names.join(" "),
    }
}

fn joined(stmts: &[Stmt]) -> String {
    stmts.iter().map(|s| s.text.as_str()).collect::<Vec<_>>().join(" ⋄ ")
}

impl Block {
    /// As an expression.
    fn text(&self) -> String {
        match &self.stmts[..] {
            [one] => one.text.clone(),
            all => format!("{{{}}}0", joined(all)),
        }
    }

    /// It ends in this way, too. None: it ended in another.
    fn ends(&mut self, how: End, known: &mut bool) -> Option<()> {
        if *known && self.end != how {
            return None;
        }
        (self.end, *known) = (how, true);
        Some(())
    }
}

impl Maker<'_> {
    fn text(&self, phrase: PhraseId) -> String {
        self.ast.source.slice(self.ast.phrase(phrase).span)
    }

    /// The steps from one on until the function ends, or a loop goes round. `own`: they are the
    /// body of the innermost loop.
    fn block(
        &mut self,
        at: usize,
        known: Known,
        around: &mut Vec<Loop>,
        own: bool,
    ) -> Option<Block> {
        let out = Block { stmts: Vec::new(), end: None };
        let innermost = own.then(|| around.len() - 1);
        self.rest(at, known, around, Open { out, begins: own, innermost, ended: false })
    }

    /// Another step is written out. None: there are too many.
    fn writes(&mut self) -> Option<()> {
        self.written += 1;
        self.tried += 1;
        (self.written <= MOST && self.tried <= TRIED).then_some(())
    }

    /// The steps that are left of a block.
    fn rest(
        &mut self,
        mut at: usize,
        mut known: Known,
        around: &mut Vec<Loop>,
        mut open: Open,
    ) -> Option<Block> {
        loop {
            self.writes()?;
            let again = around.iter().rposition(|l| l.top == at).filter(|_| !open.begins);
            let starts = self.loops.iter().find(|l| l.0 == at && !open.begins).copied();
            open.begins = false;
            if let Some(which) = again {
                let value = self.value(&mut open.out, &around[which].names.clone());
                return self.last(open, value, Some(which));
            }
            if let Some((top, last)) = starts {
                let mut names = self.changed_within(top, last)?;
                if let Some((taken, name)) = self.taken_by(top) {
                    names.retain(|sym| *sym != name);
                    names.extend([taken, name]);
                }
                names.retain(|sym| known.all.contains(sym));
                if names.is_empty() {
                    return None;
                }
                around.push(Loop { top, names: names.clone() });
                let inner = Known { all: known.all.clone(), here: names.clone() };
                let body = self.block(top, inner, around, true);
                around.pop();
                let body = body?;
                let (pattern, state) =
                    (strand(self.symbols, &names, true), strand(self.symbols, &names, false));
                let value = format!("{{{pattern}←⍵ ⋄ {}}}{state}", joined(&body.stmts));
                return self.last(open, value, body.end);
            }
            let Some(step) = self.steps.steps.get(at) else {
                if !known.all.contains(&self.result) {
                    return None;
                }
                let value = self.value(&mut open.out, &[self.result]);
                return self.last(open, value, None);
            };
            at += 1;
            match &step.act {
                Act::Jump(to) => at = *to,
                Act::Test { holds, to, .. } => {
                    let cond = self.condition(&step.act, &known)?;
                    let ways = if *holds { (*to, at) } else { (at, *to) };
                    return self.ways(cond, ways, !holds, known, around, open);
                }
                Act::Case { otherwise, .. } => {
                    let cond = self.condition(&step.act, &known)?;
                    return self.ways(cond, (at, *otherwise), true, known, around, open);
                }
                Act::Next { slot, done } => {
                    let (items, taken) = self.items_of(*slot)?;
                    let (_, name) = self.taken_by(at - 1)?;
                    let [items, taken] = [items, taken].map(|sym| self.symbols.name(sym));
                    let cond = format!("{taken}≥≢{items}");
                    self.guard(cond, *done, &known, around, &mut open)?;
                    self.gives(name, &mut known)?;
                    let name = self.symbols.name(name);
                    for text in [format!("{name}←⊃{taken}↓{items}"), format!("{taken}+←1")]
                    {
                        open.out.stmts.push(Stmt { text, gives: None });
                    }
                }
                act => self.plain(act, &mut known, &mut open.out)?,
            }
        }
    }

    /// A step that goes on with the next. None: it may do something else.
    fn plain(&mut self, act: &Act, known: &mut Known, out: &mut Block) -> Option<()> {
        match act {
            Act::Run(phrase) => return self.statement(*phrase, known, out),
            Act::Select { slot, of } => {
                self.reads(*of, known)?;
                let text = format!("∆∆{slot}←{}", self.text(*of));
                out.stmts.push(Stmt { text, gives: None });
            }
            Act::For { slot, names: Pattern::Name(_), each: false, of } => {
                self.reads(*of, known)?;
                let (items, taken) = self.items_of(*slot)?;
                let [of, first] = [self.text(*of), self.symbols.name(items).to_string()];
                let second = self.symbols.name(taken);
                for text in [format!("{first}←,{of}"), format!("{second}←0")] {
                    out.stmts.push(Stmt { text, gives: None });
                }
                // The items stay what they are.
                known.all.push(taken);
                known.here.push(taken);
            }
            _ => return None,
        }
        Some(())
    }

    /// The names of the items of a loop, and of the number of those taken.
    fn items_of(&self, slot: usize) -> Option<(Sym, Sym)> {
        let found = self.items.iter().find(|known| known.0 == slot);
        found.map(|(_, items, taken)| (*items, *taken))
    }

    /// Of a loop over items that has its first step there, the name of the number of those taken,
    /// and that of an item.
    fn taken_by(&self, top: usize) -> Option<(Sym, Sym)> {
        let Act::Next { slot, .. } = self.steps.steps.get(top)?.act else { return None };
        let before = &self.steps.steps.get(top.checked_sub(1)?)?.act;
        let Act::For { names: Pattern::Name(name), .. } = before else { return None };
        Some((self.items_of(slot)?.1, *name))
    }

    /// The condition of a step, as text. None: it does more than read.
    fn condition(&mut self, act: &Act, known: &Known) -> Option<String> {
        match act {
            Act::Test { cond, .. } => {
                self.reads(*cond, known)?;
                Some(self.text(*cond))
            }
            Act::Case { slot, of, list, .. } => {
                self.is_constant(*of).then_some(())?;
                let numbers = self.numbers(*of);
                let of = self.text(*of);
                Some(match list {
                    true if let Some(all) = numbers => {
                        let one = |x: &String| format!("(∆∆{slot}≡{x})");
                        all.iter().map(one).collect::<Vec<_>>().join("∨")
                    }
                    true => format!("(⊂∆∆{slot})∊{of}"),
                    false => format!("∆∆{slot}≡{of}"),
                })
            }
            _ => None,
        }
    }

    /// Names side by side as the value of a block: that of the last statement, which then need not
    /// be one.
    fn value(&self, out: &mut Block, names: &[Sym]) -> String {
        if let [one] = names
            && let Some(stmt) = out.stmts.pop_if(|s| s.gives.as_ref().is_some_and(|g| g.0 == *one))
        {
            return stmt.gives.map_or_else(String::new, |gives| gives.1);
        }
        strand(self.symbols, names, false)
    }

    /// The last statement of a block.
    fn last(&mut self, open: Open, value: String, how: End) -> Option<Block> {
        let Open { mut out, innermost, mut ended, .. } = open;
        match how.is_some() && how == innermost {
            true if !ended => return None,
            true => out.stmts.push(Stmt { text: format!("∇ {value}"), gives: None }),
            false => {
                out.ends(how, &mut ended)?;
                out.stmts.push(Stmt { text: value, gives: None });
            }
        }
        Some(out)
    }

    /// A condition, and the steps that it lets through.
    fn guard(
        &mut self,
        cond: String,
        to: usize,
        known: &Known,
        around: &mut Vec<Loop>,
        open: &mut Open,
    ) -> Option<()> {
        let inner = Known { all: known.all.clone(), here: Vec::new() };
        let way = self.block(to, inner, around, false)?;
        let again = way.end.is_some() && way.end == open.innermost;
        if !again {
            open.out.ends(way.end, &mut open.ended)?;
        }
        let text = format!("{cond}:{}{}", if again { "∇ " } else { "" }, way.text());
        open.out.stmts.push(Stmt { text, gives: None });
        Some(())
    }

    /// A statement that gives names of the function values, and does nothing else.
    fn statement(&mut self, phrase: PhraseId, known: &mut Known, out: &mut Block) -> Option<()> {
        let (ast, text) = (self.ast, self.text(phrase));
        let items = &ast.phrase(phrase).items;
        let kind = |k: usize| items.get(k).map(|id| &ast.item(*id).what);
        let is_list = |k: usize| matches!(kind(k), Some(What::Bracket(_, false)));
        let is_function = |k: usize| matches!(kind(k), Some(What::Glyph(c)) if *c != '.');
        let arrow = (1..4).find(|k| matches!(kind(*k), Some(What::Assign)))?;
        let rest = ast.source.slice(aplomb_ground::span::Span::new(
            ast.item(items[arrow]).span.end,
            ast.phrase(phrase).span.end,
        ));
        self.names(&items[arrow + 1..], known)?;
        match (kind(0)?, arrow) {
            (What::Name(sym), 1) => {
                self.gives(*sym, known)?;
                out.stmts.push(Stmt { text, gives: Some((*sym, rest)) });
                return Some(());
            }
            (What::Name(_), 2 | 3) if self.leading(items).is_some() => {
                for sym in self.leading(items)? {
                    self.gives(sym, known)?;
                }
            }
            (What::Paren(parts, false), 1) if parts.len() == 1 => {
                for id in &ast.phrase(parts[0]).items {
                    let What::Name(sym) = &ast.item(*id).what else { return None };
                    self.gives(*sym, known)?;
                }
            }
            (What::Name(sym), 2 | 3)
                if is_list(1) && (arrow == 2 || is_function(2)) || arrow == 2 && is_function(1) =>
            {
                if is_list(1) {
                    self.names(&items[1..2], known)?;
                }
                if !known.all.contains(sym) {
                    return None;
                }
                if !known.here.contains(sym) {
                    let name = self.symbols.name(*sym);
                    out.stmts.push(Stmt { text: format!("{name}←{name}"), gives: None });
                }
                self.gives(*sym, known)?;
            }
            _ => return None,
        }
        out.stmts.push(Stmt { text, gives: None });
        Some(())
    }

    /// The names side by side in front of an assignment. None: there are no two.
    fn leading(&self, items: &[ItemId]) -> Option<Vec<Sym>> {
        let what = |id: &ItemId| &self.ast.item(*id).what;
        let n = items.iter().position(|id| matches!(what(id), What::Assign)).filter(|n| *n > 1)?;
        let name = |id: &ItemId| if let What::Name(sym) = what(id) { Some(*sym) } else { None };
        items[..n].iter().map(name).collect()
    }

    /// A name gets a value. None: it is not the function's own.
    fn gives(&self, sym: Sym, known: &mut Known) -> Option<()> {
        if !self.own.locals.contains(&sym) {
            return None;
        }
        for list in [&mut known.all, &mut known.here] {
            if !list.contains(&sym) {
                list.push(sym);
            }
        }
        Some(())
    }

    /// A phrase that gives no name a value. None: it may.
    fn reads(&mut self, phrase: PhraseId, known: &Known) -> Option<()> {
        let ast = self.ast;
        let mut as_before = known.clone();
        self.names(&ast.phrase(phrase).items, &mut as_before)?;
        (as_before.all.len() == known.all.len() && as_before.here.len() == known.here.len())
            .then_some(())
    }

    /// The numbers that a phrase is, as they are written.
    fn numbers(&self, phrase: PhraseId) -> Option<Vec<String>> {
        let one = |id: &ItemId| {
            let item = self.ast.item(*id);
            matches!(item.what, What::Number(_)).then(|| self.ast.source.slice(item.span))
        };
        self.ast.phrase(phrase).items.iter().map(one).collect()
    }

    /// Whether a phrase is a number or a text, or several.
    fn is_constant(&self, phrase: PhraseId) -> bool {
        let fixed =
            |id: &ItemId| matches!(self.ast.item(*id).what, What::Number(_) | What::Literal(_));
        self.ast.phrase(phrase).items.iter().all(fixed)
    }

    /// The names in items: those that they give values are known from then on. None: one that is
    /// read has no value, or they may do more.
    fn names(&mut self, items: &[ItemId], known: &mut Known) -> Option<()> {
        let mut found = Names::default();
        self.look(items, false, &mut found)?;
        let own = |sym: &Sym| self.own.locals.contains(sym);
        for (sym, at) in &found.read {
            let before = known.all.contains(sym);
            let within = found.given.iter().any(|(s, given)| s == sym && given > at);
            if own(sym) && !before && !within {
                return None;
            }
            if !own(sym) && !self.free.contains(sym) {
                self.free.push(*sym);
            }
        }
        // A name of a block around that changes in a phrase would change there.
        if !found.changed.iter().all(|sym| known.here.contains(sym)) {
            return None;
        }
        found.given.iter().try_for_each(|(sym, _)| self.gives(*sym, known))
    }

    /// The names in items. `within`: in braces, where names have values of their own.
    fn look(&self, items: &[ItemId], within: bool, found: &mut Names) -> Option<()> {
        let ast = self.ast;
        let what = |k: usize| items.get(k).map(|id| &ast.item(*id).what);
        for (k, id) in items.iter().enumerate() {
            let item = ast.item(*id);
            match &item.what {
                What::Name(sym) => {
                    let at = item.span.start;
                    let assigned = matches!(what(k + 1), Some(What::Assign));
                    let indexed = matches!(what(k + 1), Some(What::Bracket(..)))
                        && (matches!(what(k + 2), Some(What::Assign))
                            || matches!(what(k + 3), Some(What::Assign)));
                    let modified = matches!(what(k + 1), Some(What::Glyph(_)))
                        && matches!(what(k + 2), Some(What::Assign));
                    let own = self.own.locals.contains(sym);
                    match assigned || indexed || modified {
                        true if within && own => return None,
                        true if within => {}
                        true if assigned => found.given.push((*sym, at)),
                        true => {
                            found.changed.push(*sym);
                            found.read.push((*sym, at));
                        }
                        false => found.read.push((*sym, at)),
                    }
                }
                What::Assign => {
                    let target = |k: usize| {
                        matches!(what(k), Some(What::Name(_) | What::Bracket(..) | What::Glyph(_)))
                    };
                    if !within && !k.checked_sub(1).is_some_and(target) {
                        return None;
                    }
                }
                What::Paren(parts, _) | What::Bracket(parts, _) => {
                    for part in parts {
                        self.look(&ast.phrase(*part).items, within, found)?;
                    }
                }
                What::Dfn(id) => {
                    for stmt in &ast.dfn(*id).stmts {
                        if let super::ast::Guard::Test(cond) = stmt.guard {
                            self.look(&ast.phrase(cond).items, true, found)?;
                        }
                        self.look(&ast.phrase(stmt.phrase).items, true, found)?;
                    }
                }
                What::System(name) => {
                    let row = system::find(name).ok()?;
                    row.is_pure().then_some(())?;
                    if matches!(what(k + 1), Some(What::Assign)) {
                        return None;
                    }
                }
                What::Glyph('⍎') | What::Quad | What::QuoteQuad | What::Space(_) => return None,
                What::Word(_) if !within => return None,
                What::Glyph(_) | What::Number(_) | What::Literal(_) | What::Word(_) => {}
            }
        }
        Some(())
    }

    /// The names that steps change.
    fn changed_within(&self, from: usize, to: usize) -> Option<Vec<Sym>> {
        let mut names: Vec<Sym> = Vec::new();
        for step in &self.steps.steps[from..=to] {
            let phrase = match &step.act {
                Act::Run(phrase) => *phrase,
                Act::For { names: Pattern::Name(sym), .. } => {
                    names.retain(|known| known != sym);
                    names.push(*sym);
                    continue;
                }
                Act::For { .. } => return None,
                _ => continue,
            };
            let mut found = Names::default();
            let items = &self.ast.phrase(phrase).items;
            self.look(items, false, &mut found).or_else(|| {
                // A pattern stands first.
                self.look(items.get(2..)?, false, &mut found)
            })?;
            if let Some(What::Paren(parts, false)) =
                items.first().map(|id| &self.ast.item(*id).what)
            {
                for id in parts.iter().flat_map(|part| &self.ast.phrase(*part).items) {
                    if let What::Name(sym) = self.ast.item(*id).what {
                        found.changed.push(sym);
                    }
                }
            }
            found.changed.extend(self.leading(items).into_iter().flatten());
            let given = found.given.iter().map(|(sym, _)| *sym);
            for sym in given.chain(found.changed.iter().copied()) {
                if !names.contains(&sym) {
                    names.push(sym);
                }
            }
        }
        Some(names)
    }
}

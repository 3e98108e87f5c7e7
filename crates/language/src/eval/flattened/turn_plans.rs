//! The steps of a `:For` whose turns are to run together, and what they do with names.

use super::sent::changed_by;
use crate::eval::run::{At, Eval};
use crate::eval::value::Value;
use crate::syntax::ast::{PhraseId, Sym, What};
use crate::syntax::resolve::{Do, Gives, Pattern, Resolved};
use crate::syntax::steps::{Act, Steps};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The steps of a loop as they are run for all turns.
pub(super) struct Plan<'a> {
    pub steps: &'a Steps,
    /// The code of each statement and condition, by step, and the names that it mentions.
    pub codes: BTreeMap<usize, (Rc<Resolved>, Vec<Sym>)>,
    /// Names that a turn gives values.
    pub given: Vec<Sym>,
    /// Names that turns send something to.
    pub sent: Vec<Sym>,
}

impl Plan<'_> {
    /// The step where whoever comes to one goes on, past jumps that go forward in the loop, whose
    /// last step is before `to`.
    pub fn beyond_jumps(&self, mut step: usize, to: usize) -> usize {
        while let Some(Act::Jump(next)) = self.steps.steps.get(step).map(|s| &s.act)
            && (step + 1..to).contains(next)
        {
            step = *next;
        }
        step
    }

    /// True where no statement from a step on sends to a name.
    pub fn is_sent_before(&self, sym: Sym, step: usize) -> bool {
        let mut behind = self.codes.range(step..);
        behind.all(|(_, (resolved, _))| changed_by(&resolved.code.ins) != Some(sym))
    }
}

impl Eval<'_> {
    /// The steps of a loop, and what they do with names. None: one of them does more than is known
    /// here.
    pub(super) fn plan_of_turns<'a>(
        &mut self,
        at: At<'_>,
        steps: &'a Steps,
        (from, to): (usize, usize),
    ) -> Option<Plan<'a>> {
        let mut plan = Plan { steps, codes: BTreeMap::new(), given: Vec::new(), sent: Vec::new() };
        let mut all: Vec<Sym> = Vec::new();
        for k in from.checked_sub(1)?..to {
            let inner = k + 1 != from;
            let phrase = match &steps.steps[k].act {
                Act::For { names, of, .. } => {
                    names_of(names, &mut plan.given)?;
                    inner.then_some(*of)
                }
                Act::Run(phrase) => Some(*phrase),
                Act::Test { cond, .. } => Some(*cond),
                Act::Jump(_) | Act::Next { .. } => None,
                _ => return None,
            };
            // A loop that may be left is not run beyond where it is.
            if let Act::Jump(next) | Act::Test { to: next, .. } = &steps.steps[k].act {
                let again = matches!(steps.steps.get(*next), Some(step) if
                    matches!(step.act, Act::Next { .. }));
                ((from..to).contains(next) && (*next > k || again)).then_some(())?;
            }
            let Some(phrase) = phrase else {
                continue;
            };
            let resolved = self.resolved(at, phrase).ok()?;
            let mentions = mentioned(at, phrase)?;
            all.extend(mentions.iter().copied());
            let code = &resolved.code;
            matches!(code.gives, Gives::Array).then_some(())?;
            if matches!(steps.steps[k].act, Act::Run(_)) {
                code.assigns.then_some(())?;
            }
            let sent = changed_by(&code.ins);
            let last = code.ins.len().checked_sub(1)?;
            for (at, ins) in code.ins.iter().enumerate() {
                match &ins.what {
                    Do::Const(_) | Do::Name(_) | Do::Strand(_) | Do::Index(_) => {}
                    Do::Monad(_) | Do::Dyad(_) | Do::Phrase(_) | Do::System(_) => {}
                    Do::Assign(sym) if sent != Some(*sym) => plan.given.push(*sym),
                    Do::AssignPattern(names, None) => names_of(names, &mut plan.given)?,
                    Do::Assign(_) if at == last => {}
                    Do::Modify(sym, _) | Do::Append(sym, _) | Do::AssignIndex { sym, .. }
                        if at == last && (sent == Some(*sym) || plan.given.contains(sym)) => {}
                    _ => return None,
                }
            }
            if let Some(sym) = sent.filter(|sym| !plan.given.contains(sym)) {
                plan.sent.push(sym);
            }
            plan.codes.insert(k, (resolved, mentions));
        }
        plan.given.sort_unstable();
        plan.given.dedup();
        plan.sent.sort_unstable();
        plan.sent.dedup();
        let is_array = |ev: &Self, sym: &Sym| match ev.lookup(at, *sym) {
            None => plan.given.contains(sym),
            Some(v) => matches!(v, Value::Array(_)),
        };
        let written: Vec<Sym> = plan.given.iter().chain(&plan.sent).copied().collect();
        // Statements that send to a name mention it no other time.
        let apart = plan.sent.iter().all(|sym| !plan.given.contains(sym));
        let own = written.iter().all(|sym| is_array(self, sym));
        all.sort_unstable();
        all.dedup();
        let is_here = |sym: &Sym| self.below(*sym).is_none() && self.elsewhere(*sym).is_none();
        let here = all.iter().all(is_here);
        let is_function = |sym: &&Sym| {
            matches!(self.st.globals.get(**sym), Some(Value::Func(_) | Value::Oper(_)))
        };
        let functions: Vec<Sym> = all.iter().filter(is_function).copied().collect();
        (apart && own && here && self.sees_none(&functions, &written)).then_some(plan)
    }
}

/// The names of a pattern of names.
pub(super) fn names_of(pattern: &Pattern, out: &mut Vec<Sym>) -> Option<()> {
    match pattern {
        Pattern::Name(sym) => out.push(*sym),
        Pattern::All(all) => all.iter().try_for_each(|one| names_of(one, out))?,
        Pattern::System(_) | Pattern::Member(_) => return None,
    }
    Some(())
}

/// The names that stand in a phrase, each as often as it does. None: it holds what may see others.
fn mentioned(at: At<'_>, phrase: PhraseId) -> Option<Vec<Sym>> {
    let span = at.ast.phrase(phrase).span;
    let within = |s: aplomb_ground::span::Span| span.start <= s.start && s.end <= span.end;
    let mut out = Vec::new();
    for item in at.ast.items.iter().filter(|item| within(item.span)) {
        match &item.what {
            What::Name(sym) => out.push(*sym),
            What::Glyph('⍎' | '?') | What::Quad | What::QuoteQuad | What::Space(_) => {
                return None;
            }
            What::Word(_) => {
                let mut dfns = at.ast.dfns.iter().filter(|dfn| within(dfn.span));
                let inside = |d: &crate::syntax::ast::Dfn| {
                    d.span.start <= item.span.start && item.span.end <= d.span.end
                };
                dfns.any(inside).then_some(())?;
            }
            _ => {}
        }
    }
    Some(out)
}

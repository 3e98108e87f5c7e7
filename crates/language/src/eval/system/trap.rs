//! ⎕TRAP: what a function of lines does when one of its lines fails.
//!
//! A row is the numbers of events, 'E' or 'C', and a text: with 'E' it runs in the function that
//! failed, with 'C' calls are cut back to the one that set ⎕TRAP. A branch in it goes on there;
//! after any other text the function ends. While it runs no row of ⎕TRAP holds.

use super::{Row, misused};
use crate::eval::cx::Trap;
use crate::eval::run::{At, Eval};
use crate::eval::steps::{Walk, catches};
use crate::syntax;
use crate::syntax::steps::{Act, Step, Steps};
use aplomb_ground::error::{Error, Result, nonce};
use aplomb_ground::span::Source;
use aplomb_values::array::Array;
use std::rc::Rc;

/// The value of ⎕TRAP: a row for each.
pub fn value(ev: &Eval<'_>) -> Result<Array> {
    let rows = ev.cx.sys.settings.traps.iter().map(|trap| {
        let events = ev.cx.vector(trap.events.iter().map(|k| *k as f64).collect())?;
        let action = Array::char(if trap.cuts { 'C' } else { 'E' });
        ev.cx.collect(&[3], vec![events, action, ev.cx.text(&trap.text)?], None)
    });
    let rows = rows.collect::<Result<Vec<_>>>()?;
    let proto = ev.cx.vector(vec![])?;
    ev.cx.collect(&[rows.len()], rows, Some(proto))
}

/// Sets ⎕TRAP. Errors: DOMAIN for what is no row, NONCE for actions other than 'E' and 'C'.
pub fn set(ev: &mut Eval<'_>, v: &Array) -> Result<()> {
    let form = || misused("TRAP", "rows of event numbers, 'E' or 'C', and a text");
    if v.rank() > 1 {
        return Err(form());
    }
    let is_row = v.few().is_some_and(|[first, action, _]: [Array; 3]| {
        action.is_char() && action.len() == 1 && first.holds_numbers() && !first.is_char()
    });
    let rows = if is_row { vec![v.clone()] } else { v.in_turn().collect() };
    let mut traps = Vec::new();
    for row in rows {
        let Some([events, action, text]) = row.disclosed().few() else { return Err(form()) };
        let events = ev.cx.integers(&events.disclosed(), "an event number")?;
        let cuts = match action.disclosed().word().as_deref() {
            Some("E") => false,
            Some("C") => true,
            Some("N" | "S") => return Err(nonce("⎕TRAP of any action but 'E' and 'C'")),
            _ => return Err(form()),
        };
        let text = text.disclosed().word().ok_or_else(form)?;
        traps.push(Trap { events, cuts, text, calls: ev.st.calls.len() });
    }
    ev.cx.sys.settings.traps = traps.into();
    Ok(())
}

/// The row for ⎕TRAP.
pub static ROWS: &[Row] = &[Row {
    name: "TRAP",
    help: "What a ∇ function does when one of its lines fails: rows of event numbers, 'E' or 'C', \
           and a text to run there, or, with 'C', in the function that set it.",
    example: ("∇r←f x;⎕TRAP\n ⎕TRAP←11 'E' '→L'\n r←÷x\n →0\nL:r←¯1\n∇\nf 0", "¯1"),
    options: &[],
    does: super::Does::Traps,
}];

impl Eval<'_> {
    /// The end that ⎕TRAP gives an error of a step. None: no row catches it here, and it stays.
    pub fn sprung(&mut self, steps: &Steps, walk: &mut Walk, e: &Error) -> Option<Result<()>> {
        let calls = self.st.calls.len();
        let traps = self.cx.sys.settings.traps.clone();
        let trap = traps.iter().find(|trap| catches(&trap.events, e))?;
        if trap.cuts && calls != trap.calls {
            return None;
        }
        self.cx.sys.error = Some(Rc::new(e.clone()));
        self.cx.sys.settings.traps = Rc::new([]);
        let done = self.run_trap(steps, walk, &trap.text);
        self.cx.sys.settings.traps = traps.clone();
        Some(done)
    }

    fn run_trap(&mut self, steps: &Steps, walk: &mut Walk, text: &str) -> Result<()> {
        let (limits, stop) = (self.cx.host.limits().clone(), self.cx.host.interrupt().clone());
        let source = Source::new("⎕TRAP", text);
        let ast = Rc::new(syntax::parse(&source, &mut self.st.symbols, &limits, &stop)?);
        let at = At { ast: &ast, frame: None };
        // The function ends, unless the text goes on with a line of it.
        walk.at = steps.steps.len();
        for Step { act, .. } in &ast.steps.steps {
            match act {
                Act::Branch(to) => self.branch(at, steps, walk, *to)?,
                Act::Run(phrase) => drop(self.top(at, *phrase, false)?),
                _ => return Err(nonce("a control word in ⎕TRAP")),
            }
        }
        Ok(())
    }
}

//! `f\` with a function of one's own whose calls can be recorded: each prefix by the function's
//! body, without a call of the evaluator.
//!
//! A sum of a number of ⍺'s and a multiple of ⍵, or one that is held between bounds: maps that
//! compose, one step an item. Few values (booleans, small codes): maps, too. What is associative by
//! its text: one call an item. Else prefixes side by side, which is quadratic, and said. None: the
//! calls run one by one.

use crate::eval::cx::Cx;
use crate::eval::run::Eval;
use crate::eval::scope::TOGETHER;
use crate::eval::value::Func;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, around};
use aplomb_values::body::{Ends, LANES, Prefixes};
use std::rc::Rc;

/// Calls between two looks at the interrupt.
const STRETCH: usize = 1 << 16;
/// Calls of a scan that are told.
const TOLD: usize = 1 << 18;

impl Cx<'_> {
    /// The scan of all lines by maps that compose. None: one of them is no such scan.
    fn composed(
        &self,
        prefixes: &Prefixes<'_>,
        items: &[f64],
        (outer, n, inner): (usize, usize, usize),
    ) -> Result<Option<Vec<f64>>> {
        let stop = self.host.interrupt();
        let (mut line, mut out) = (self.budget().filled(0.0, n)?, self.budget().filled(0.0, n)?);
        let mut made = self.budget().filled(0.0, items.len())?;
        for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
            let at = |k: usize| (o * n + k) * inner + i;
            line.iter_mut().enumerate().for_each(|(k, x)| *x = items[at(k)]);
            let steps = |k: usize| if k.is_multiple_of(STRETCH) { stop.check() } else { Ok(()) };
            if prefixes.affine(&line, &mut out, steps)?.is_none()
                && prefixes.clamped(&line, &mut out, steps)?.is_none()
            {
                return Ok(None);
            }
            out.iter().enumerate().for_each(|(k, x)| made[at(k)] = *x);
        }
        Ok(Some(made))
    }
}

impl Eval<'_> {
    /// The scan of real numbers along an axis. Errors: INTERRUPT, WS FULL.
    pub fn scan_recorded(&mut self, f: &Rc<Func>, y: &Array, axis: usize) -> Result<Option<Array>> {
        let (outer, n, inner) = around(y.shape(), axis);
        let many = n >= TOGETHER || self.cx.sys.records_all() && n > 1;
        let plain = y.is_of_f64();
        if !many || !plain || self.cx.sys.scope.is_framed() {
            return Ok(None);
        }
        let Some((body, given)) = self.fold_body(f, y)? else { return Ok(None) };
        let prefixes = Prefixes::new(&body, &given);
        let _held = self.cx.budget().charge_elements(y.len(), 40)?;
        let mut items = self.cx.numbers(y, "the argument of a scan")?;
        let stop = self.cx.host.interrupt().clone();
        // Affine maps of all lines: their last bits are their own, so no switch decides.
        if n >= TOGETHER
            && let Some(composed) = self.cx.composed(&prefixes, &items, (outer, n, inner))?
        {
            return Array::numbers(y.shape(), composed, self.cx.budget()).map(Some);
        }
        if !self.cx.host.is_on("loops") {
            return Ok(None);
        }
        let (mut line, mut out) =
            (self.cx.budget().filled(0.0, n)?, self.cx.budget().filled(0.0, n)?);
        let mut calls = 0;
        for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
            let at = |k: usize| (o * n + k) * inner + i;
            line.iter_mut().enumerate().for_each(|(k, x)| *x = items[at(k)]);
            let steps = |k: usize| if k.is_multiple_of(STRETCH) { stop.check() } else { Ok(()) };
            let done = match prefixes.mapped(&mut line, steps)? {
                Some(()) => &line,
                None if prefixes.running(&mut line, steps)?.is_some() => &line,
                None => {
                    let folded = prefixes.folded(&line, &mut out, |made| {
                        calls += made;
                        if calls % STRETCH < LANES { stop.check() } else { Ok(()) }
                    });
                    match folded {
                        Ok(()) => &out,
                        Err(Ends::Stopped(e)) => return Err(e),
                        // The calls one by one find APL's error.
                        Err(Ends::Fails(_)) => return Ok(None),
                    }
                }
            };
            done.iter().enumerate().for_each(|(k, x)| items[at(k)] = *x);
        }
        if let Some(place) = self.cx.place().filter(|_| calls > TOLD) {
            let text = format!(
                "{}\\ folds each prefix by itself, for nothing says that its function is \
                 associative: {calls} calls for {} items",
                f.text(),
                y.len()
            );
            self.cx.host.warn("W-scan", &place, text);
        }
        Array::numbers(y.shape(), items, self.cx.budget()).map(Some)
    }
}

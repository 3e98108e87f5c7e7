//! Lists of arrays that a step makes longer or shorter where they lie: `k←e,k`, `q←1↓q`,
//! `q←(1↓q),e`, and `e,f x` of what a call gave.
//!
//! A step whose value the next one gives to a name asks whether its argument is what that name
//! holds, or a stretch of it. If so, the name's own list is changed, which nobody else may hold, or
//! it is copied once. Nothing that can fail stands between the step and the assignment, and a step
//! that fails has changed nothing.

use super::cx::SMALL;
use super::run::{At, Eval};
use super::value::{Func, Value};
use crate::functions::groups::runs;
use crate::syntax::Sym;
use crate::syntax::resolve::{Do, FExpr, Ins};
use crate::table::Prim;
use aplomb_ground::error::{Result, bug};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Data, End};
use std::ops::Range;

/// A nested vector, pieces of one vector among them.
fn is_list(a: &Array) -> bool {
    a.rank() == 1 && matches!(a.data(), Data::Items(_))
}

/// The items that `x↓y` or `x↑y` keeps of n. None: none, more than there are, or x is no number.
fn kept(glyph: char, x: &Array, n: usize) -> Option<Range<usize>> {
    let by = x.number_scalar().filter(|by| by.fract() == 0.0 && by.abs() < n as f64)?;
    let k = by.abs() as usize;
    match (glyph, by < 0.0) {
        ('↓', false) => Some(k..n),
        ('↓', true) => Some(0..n - k),
        ('↑', false) => Some(0..k),
        ('↑', true) => Some(n - k..n),
        _ => None,
    }
}

/// A name that a step gives its argument to.
struct Given {
    sym: Sym,
    /// By `x⊢←`: the nearest one that is visible.
    outer: bool,
}

fn given(step: Option<&Ins>) -> Option<Given> {
    match &step?.what {
        Do::Assign(sym) => Some(Given { sym: *sym, outer: false }),
        Do::Modify(sym, FExpr::Prim(p)) if p.glyph == '⊢' => {
            Some(Given { sym: *sym, outer: true })
        }
        _ => None,
    }
}

impl Eval<'_> {
    /// `x[i],←v` and `(i⊃x),←v` of one item: its own items get longer where they lie. False, and
    /// nothing changed: the item is no vector, is not there, or others hold what would change.
    /// Errors: WS FULL, INTERRUPT.
    pub(super) fn grow_item(
        &mut self,
        at: At<'_>,
        sym: Sym,
        f: Option<&Func>,
        (i, v): (&Array, &Array),
    ) -> Result<bool> {
        let joins = matches!(f, Some(Func::Prim(p)) if p.glyph == ',');
        let plain = v.pending().is_none() && v.frame().is_none() && i.rank() <= 1 && i.len() == 1;
        if !joins || !plain || self.cx.sys.scope.is_once_a_cell() || self.elsewhere(sym).is_some() {
            return Ok(false);
        }
        let (Some(x), Some(Value::Array(a))) = (i.number_at(0), self.lookup(at, sym)) else {
            return Ok(false);
        };
        let place = x - self.cx.sys.settings.io;
        let there = place.fract() == 0.0 && (0.0..a.len() as f64).contains(&place);
        let vector = there && is_list(&a) && a.item(place as usize).rank() == 1;
        drop(a);
        if !vector || i.is_char() || at.frame.is_none() && self.below(sym).is_some() {
            return Ok(false);
        }
        let v = v.settled();
        let grow = |held: &mut Value, budget: &Budget| match held {
            Value::Array(a) => a.grow_item(place as usize, &v, budget),
            _ => Ok(false),
        };
        self.item_grown_where_it_is(at, (sym, place as usize), grow)
    }

    /// The value of a step whose list is made longer or shorter where it lies. None, and nothing
    /// changed: it is another step, or its list is held by others. Errors: WS FULL, INTERRUPT.
    pub(super) fn regrown(
        &mut self,
        at: At<'_>,
        p: &Prim,
        (x, y): (&mut Array, &mut Array),
        next: Option<&Ins>,
    ) -> Result<Option<Array>> {
        let joins = matches!(p.glyph, ',' | '⍪');
        if !joins && !matches!(p.glyph, '↓' | '↑') {
            return Ok(None);
        }
        let listed = is_list(y) || joins && is_list(x);
        if !listed {
            return Ok(if joins { None } else { self.cut_in_name(at, p.glyph, (x, y), next) });
        }
        if let (Some(_), Some(rows)) = (given(next), y.split())
            && !self.records_here()
            && rows.node.pending().is_some()
        {
            // Else each turn of a loop has a launch of another length.
            self.cx.evaluated(&rows.node)?;
        }
        if let Some(to) = given(next)
            && let Some(made) = self.regrown_in_name(at, to, p.glyph, (x, y))?
        {
            return Ok(Some(made));
        }
        if !joins {
            return Ok(None);
        }
        if given(next).is_some()
            && let Some(made) = self.rows_lengthened(x, y)?
        {
            return Ok(Some(made));
        }
        let budget = self.cx.budget();
        for end in [End::Back, End::Front] {
            let (own, v) = match end {
                End::Back => (&mut *x, &*y),
                End::Front => (&mut *y, &*x),
            };
            let n = own.first_extent();
            if own.is_own_list() && own.regrow(0..n, v, end, budget)? {
                return Ok(Some(std::mem::replace(own, Array::num(0.0))));
            }
        }
        Ok(None)
    }

    /// A vector behind the rows of one array, as pieces: a list that a name is given may grow, and
    /// rows that are joined are written anew each time. None: it is no such vector, or these are
    /// recorded.
    fn rows_lengthened(&mut self, x: &Array, y: &Array) -> Result<Option<Array>> {
        let rows = x.split().is_some_and(|rows| rows.cell().len() == 1 && !x.is_empty());
        let vector = y.rank() == 0 && !y.is_uniform() && y.disclosed().rank() == 1;
        if !rows || !vector || x.rank() != 1 || x.frame().is_some() || self.records_here() {
            return Ok(None);
        }
        let Some(pieces) = runs(&mut self.cx, x, 0)? else { return Ok(None) };
        let mut made = pieces.items(x.shape());
        let grown = made.grow(y, self.cx.budget())?;
        Ok(grown.then_some(made))
    }

    /// `⌽y` where the next step takes its first item: a vector of y's last one. None: it is another
    /// step, or y is no vector at hand.
    pub(super) fn last_alone(
        &self,
        p: &Prim,
        y: &Array,
        next: Option<&Ins>,
    ) -> Result<Option<Array>> {
        let first =
            matches!(next, Some(Ins { what: Do::Monad(FExpr::Prim(p)), .. }) if p.glyph == '⊃');
        if !first || !matches!(p.glyph, '⌽' | '⊖') || y.rank() != 1 || y.is_empty() {
            return Ok(None);
        }
        let at_hand = match y.data() {
            Data::Items(_) => true,
            _ => y.is_plain() && !self.cx.sys.recorder.ahead && !self.cx.sys.records_all(),
        };
        let last = at_hand.then(|| y.item(y.len() - 1));
        last.map(|last| self.cx.collect(&[1], vec![last], None)).transpose()
    }

    /// True where functions are recorded, whatever they are given.
    fn records_here(&self) -> bool {
        let scope = &self.cx.sys.scope;
        self.cx.sys.recorder.ahead || self.cx.sys.records_all() || scope.is_once_a_cell()
    }

    /// A long simple vector that the next step gives to the name that holds it all: a stretch of
    /// its buffer. A launch would have another length each time.
    fn cut_in_name(
        &self,
        at: At<'_>,
        glyph: char,
        (x, y): (&Array, &Array),
        next: Option<&Ins>,
    ) -> Option<Array> {
        let told = self.records_here() || y.frame().is_some();
        if told || y.rank() != 1 || y.len() <= SMALL || y.pending().is_some() {
            return None;
        }
        let keep = kept(glyph, x, y.len())?;
        let Some(Value::Array(held)) = self.lookup(at, given(next)?.sym) else { return None };
        held.is_one_with(y).then(|| y.settled().buffer_stretch(keep)).flatten()
    }

    /// The same of what a name holds.
    fn regrown_in_name(
        &mut self,
        at: At<'_>,
        Given { sym, outer }: Given,
        glyph: char,
        (x, y): (&mut Array, &mut Array),
    ) -> Result<Option<Array>> {
        if self.cx.sys.scope.is_once_a_cell() {
            return Ok(None);
        }
        let mut scope = at.frame;
        while let Some(frame) = scope.filter(|frame| outer && !frame.has_local(sym)) {
            scope = frame.closure.env.as_ref();
        }
        if outer || at.frame.is_none() && !self.is_own_of_call(sym) {
            self.cx.close()?;
        }
        let budget = self.cx.budget();
        let joins = matches!(glyph, ',' | '⍪');
        let shows = |held: &Value| match held {
            Value::Array(a) if is_list(a) => match a.shown_by(y) {
                None if joins => a.shown_by(x).map(|shown| (shown, End::Back)),
                shown => shown.map(|shown| (shown, End::Front)),
            },
            _ => None,
        };
        let own = match scope {
            Some(scope) => scope.with_local(sym, |held| shows(held)).flatten(),
            None if at.frame.is_none() && self.below(sym).is_some() => None,
            None if self.elsewhere(sym).is_some() => None,
            None => self.st.globals.get(sym).and_then(shows),
        };
        let Some((shown, end)) = own else { return Ok(None) };
        let keep = match joins {
            true => Some(shown.clone()),
            false => {
                kept(glyph, x, shown.len()).map(|k| shown.start + k.start..shown.start + k.end)
            }
        };
        let Some(keep) = keep else { return Ok(None) };
        // What the step was given is let go, so that the list is the name's alone.
        let (given, other) = match end {
            End::Front => (y, x),
            End::Back => (x, y),
        };
        *given = Array::num(0.0);
        let kept = keep.clone();
        let change = |held: &mut Value| {
            let Value::Array(a) = held else { return Ok(None) };
            let done = match joins {
                true => a.regrow(keep, other, end, budget)?,
                false => a.narrow(keep),
            };
            if !done {
                let whole = shown.len() == a.first_extent();
                let again = if whole { Some(a.clone()) } else { a.stretch(shown) };
                *given = again.ok_or_else(|| bug!("a stretch of a list is none any more"))?;
            }
            Ok(done.then(|| a.clone()))
        };
        let made = match scope {
            Some(scope) => scope.with_local(sym, change),
            None => {
                let made = self.st.globals.edit(sym, Some(&kept), end, change);
                self.changes_outer(sym);
                Some(made)
            }
        };
        made.unwrap_or_else(|| Ok(None))
    }
}

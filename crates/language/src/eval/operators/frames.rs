//! Operators that run their operand once for all cells.
//!
//! `¨`, `⍤` and `∘.` give the operand framed values; what it records covers the whole frame. An
//! operand that looks at values (a guard, a count, a print) is refused before it has any effect,
//! and the operator goes cell by cell. If a framed evaluation fails later, the cells are run one by
//! one to find APL's error.

use crate::eval::cx::Rolls;
use crate::eval::run::Eval;
use crate::eval::scope::{Inside, TOGETHER, is_final};
use crate::eval::tape::Mark;
use crate::eval::value::Func;
use aplomb_ground::error::{Error, Kind, Result, domain, untraced};
use aplomb_ground::span::Place;
use aplomb_values::array::{Array, Shape, Split, elements};
use aplomb_values::dag::Cell;
use aplomb_values::prim::moves::Move;
use std::rc::{Rc, Weak};

/// A story that records everything records the cells that an operator calls one by one, up to so
/// many.
const TOLD: usize = 256;

/// The way to run the cells one by one after all: what the operator would have done.
pub type Fallback = Rc<dyn Fn(&mut Eval<'_>) -> Result<Array>>;

/// A framed run whose values are still pending.
#[derive(Clone)]
pub struct Run {
    again: Fallback,
    /// The numbers of the cells it recorded.
    from: Mark,
    to: Mark,
    place: Option<Place>,
    result: Weak<Cell>,
}

impl Run {
    /// Whether the run recorded the cell of that number.
    pub fn recorded(&self, seq: u64) -> bool {
        self.from.number() < seq && seq <= self.to.number()
    }

    /// Whether it began behind that mark.
    pub fn began_behind(&self, mark: Mark) -> bool {
        self.from >= mark
    }

    /// Whether its result is still pending, and somebody holds it.
    pub fn alive(&self) -> bool {
        self.result.upgrade().is_some_and(|c| c.forced().is_none())
    }
}

/// The frames around a uniform argument and how many axes of the node the inner one ends at.
pub struct Cells {
    node: Array,
    /// Axes that belong to frames around this operator.
    outer: usize,
}

impl Cells {
    /// None for an argument that is no uniform array and no rows value.
    fn of(a: &Array) -> Option<Cells> {
        match (a.frame(), a.split()) {
            (Some(split), _) => Some(Cells { node: split.node.clone(), outer: split.at }),
            (None, None) if a.is_uniform() => Some(Cells { node: a.settled(), outer: 0 }),
            _ => None,
        }
    }
}

impl Eval<'_> {
    /// Whether so many cells are worth a framed run; inside one there is no other way.
    fn frames(&self, n: usize, args: &[&Array]) -> bool {
        let inside = args.iter().any(|a| a.frame().is_some());
        inside
            || !self.cx.sys.scope.cell_by_cell()
                && self.cx.host.is_on("frames")
                && n > 0
                && (n >= TOGETHER || self.cx.sys.records_all())
    }

    /// Calls for so many cells, one after the other. Where a story asks for small arrays to be
    /// recorded too, many cells' own are not: each would be an evaluation of its own that no run
    /// without a story has.
    pub fn one_by_one<T>(
        &mut self,
        cells: usize,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.warn_refused();
        match self.cx.sys.records_all() && cells > TOLD {
            true => self.inside(Inside::ManyCells, run),
            false => run(self),
        }
    }

    /// Remembers why an operand was refused for all cells at once, the first reason.
    pub fn refused(&mut self, e: &Error) {
        if e.kind() == Kind::Untraced
            && !self.cx.sys.scope.is_once_a_cell()
            && self.cx.sys.refused.is_none()
            && let Some(place) = self.cx.place()
        {
            self.cx.sys.refused = Some((place, e.parts().says.clone()));
        }
    }

    /// Says in a statement's story that an operand that was refused now runs cell by cell.
    pub fn warn_refused(&mut self) {
        self.warn_refused_as("cell by cell");
    }

    /// The same of one that runs in some other way.
    pub fn warn_refused_as(&mut self, way: &str) {
        if let Some((place, says)) = self.cx.sys.refused.take() {
            let text = format!("{} runs {way}, because {says}", place.text());
            self.cx.host.warn("W-untraced", &place, text);
        }
    }

    /// Says in a statement's story that an operator calls its operand so many times, where that is
    /// many.
    pub fn warn_one_by_one(&mut self, cells: usize, what: &str) {
        if let Some(place) = self.cx.place().filter(|_| cells > TOLD) {
            let text = format!("{} runs {what} by {what}, {cells} of them", place.text());
            self.cx.host.warn("W-untraced", &place, text);
        }
    }

    /// An argument whose cells lie behind its own first `lead` axes and the frames around. One that
    /// was closed over has none of those: it is spread along them.
    fn seen(&mut self, node: &Array, own: usize, lead: usize, outer: &Shape) -> Result<Array> {
        if own == outer.len() {
            return Ok(Array::framed(node.clone(), own + lead));
        }
        let a = if own == 0 { node.clone() } else { Array::framed(node.clone(), own) };
        if lead == 0 {
            return Ok(a);
        }
        let full: Shape = outer.iter().chain(a.shape()).copied().collect();
        Ok(Array::framed(self.cx.lined_up(&a, outer, &full)?, outer.len() + lead))
    }

    /// The frame that cells of an operand lie in: the arguments' own, that of what the operand
    /// closes over, or that of the guards around, which say where its operations count.
    fn longer(&self, own: Shape, f: &Rc<Func>) -> Shape {
        if !self.cx.sys.scope.is_framed() {
            return own;
        }
        let guards = self
            .cx
            .sys
            .scope
            .conditions()
            .iter()
            .filter_map(|(cond, _)| cond.frame())
            .map(|s| s.frame().into());
        let longest = guards
            .chain(super::closed::frame_of(f, &self.st.globals))
            .chain([own])
            .max_by_key(Shape::len);
        longest.unwrap_or_default()
    }

    /// Remembers how a pending value could have been made one cell, or one round, after the other.
    pub fn watch(&mut self, made: &Array, from: Mark, again: Fallback) {
        if !self.cx.sys.scope.is_framed()
            && let Some(cell) = made.pending()
        {
            let (to, place) = (self.cx.sys.tape.mark(), self.cx.place());
            let result = Rc::downgrade(cell);
            self.cx.sys.tape.run(Run { again, from, to, place, result });
        }
    }

    /// Runs `f` once over the whole frame. None: go cell by cell.
    pub fn once(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        y: &Array,
        frame: &[usize],
        again: Fallback,
    ) -> Result<Option<Array>> {
        let from = self.cx.sys.tape.mark();
        let outcome = self.attempt(|ev| {
            let made = ev.inside(Inside::Frame, |ev| {
                let outcome = ev.call(f, x, y)?;
                let z = ev.valued(outcome)?;
                ev.spread_over(z, frame)
            })?;
            made.ok_or_else(|| domain("no uniform array"))
        })?;
        match outcome {
            Ok(z) => {
                // Where nothing of it is pending, what it checked may still fail.
                if z.pending().is_none() {
                    let checks = self.cx.sys.tape.checks_since(from);
                    checks
                        .into_iter()
                        .for_each(|c| self.watch(&Array::lazy(c), from, again.clone()));
                }
                self.watch(&z, from, again);
                Ok(Some(z))
            }
            Err(e) => {
                self.refused(&e);
                Ok(None)
            }
        }
    }

    /// The node of a result over the whole frame; None if it is no uniform array.
    fn spread_over(&mut self, z: Option<Array>, frame: &[usize]) -> Result<Option<Array>> {
        let Some(z) = z.filter(Array::is_uniform) else { return Ok(None) };
        let full: Shape = frame.iter().chain(z.shape()).copied().collect();
        aplomb_values::array::checked_elements(&full)?;
        Ok(Some(if z.frame().is_none() && z.rank() == 0 {
            self.cx.apply_move(&z, Move::spread(&[], &full))?
        } else {
            self.cx.lined_up(&z, frame, &full)?
        }))
    }

    /// `f¨`: items are scalars of a uniform array, or the cells of a rows value. Shapes conform.
    pub fn each_framed(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        y: &Array,
        shape: &Shape,
    ) -> Result<Option<Array>> {
        let settings = &self.cx.sys.settings;
        let before = (settings.seed, settings.drawn);
        let again = || -> Fallback {
            let (f, x, y) = (f.clone(), x.cloned(), y.clone());
            let each = move |ev: &mut Eval<'_>| super::each::each_item(ev, &f, x.as_ref(), &y);
            Rc::new(move |ev| ev.drawing_from(before, &each))
        };
        if self.cx.sys.scope.is_once_a_cell() {
            return self.items_framed(f, x, y, shape, again);
        }
        let rolling = |ev: &mut Self, each: Option<usize>| {
            let rolls = Rolls { frame: shape.clone(), each, drawn: 0, times: 0 };
            ev.cx.sys.rolls = Some(rolls);
            let made = ev.items_framed(f, x, y, shape, again);
            let rolls = ev.cx.sys.rolls.take();
            (made, rolls.map_or((0, 0), |rolls| (rolls.drawn, rolls.times)))
        };
        let (mut made, (drawn, times)) = rolling(self, None);
        if times > 1 && matches!(made, Ok(Some(_))) {
            // How many numbers a cell draws is known now, and so is the number of each.
            let seed = self.cx.sys.settings.seed;
            let first = if before.0 == seed { before.1 } else { 0 };
            self.cx.sys.settings.drawn = first;
            let (again, (as_many, _)) = rolling(self, Some(drawn));
            made = if as_many == drawn { again } else { Ok(None) };
            self.cx.sys.settings.drawn = first + (drawn * elements(shape)) as u64;
        }
        if times > 0 && !matches!(made, Ok(Some(_))) {
            (self.cx.sys.settings.seed, self.cx.sys.settings.drawn) = before;
        }
        made
    }

    /// A run that is run again, with the numbers that the generator gave it then.
    fn drawing_from<T>(
        &mut self,
        before: (u64, u64),
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let settings = &mut self.cx.sys.settings;
        let now = std::mem::replace(&mut settings.seed, before.0);
        let drawn = std::mem::replace(&mut settings.drawn, before.1);
        let made = run(self);
        (self.cx.sys.settings.seed, self.cx.sys.settings.drawn) = (now, drawn);
        made
    }

    /// The same as a part of what `again` does.
    pub fn items_framed(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        y: &Array,
        shape: &Shape,
        again: impl FnOnce() -> Fallback,
    ) -> Result<Option<Array>> {
        let n = elements(shape);
        let mut args: Vec<&Array> = vec![y];
        args.extend(x);
        let inside = args.iter().any(|a| a.frame().is_some());
        if n == 0 || !self.frames(n, &args) || shape.is_empty() && !inside {
            return Ok(None);
        }
        let own = args
            .iter()
            .filter_map(|a| a.frame())
            .max_by_key(|s| s.at)
            .map_or(Shape::new(), |s| s.frame().into());
        let outer = self.longer(own, f);
        let frame: Shape = outer.iter().chain(shape).copied().collect();
        let mut seen = Vec::new();
        for a in args {
            let one = a.len() == 1 && n != 1;
            seen.push(match (a.split(), Cells::of(a)) {
                (Some(rows), _) if a.shape() == shape.as_slice() => {
                    self.seen(&rows.node, 0, rows.at, &outer)?
                }
                (_, Some(_)) if one => self.cx.apply_move(a, Move::first(a.shape()))?,
                (_, Some(cells)) if a.shape() == shape.as_slice() => {
                    self.seen(&cells.node, cells.outer, a.rank(), &outer)?
                }
                _ if one && a.frame().is_none() => a.item(0),
                _ => return Ok(None),
            });
        }
        let x = if x.is_some() { seen.pop() } else { None };
        let Some(node) = self.once(f, x.as_ref(), &seen[0], &frame, again())? else {
            return Ok(None);
        };
        if node.rank() == frame.len() {
            return Ok(Some(if outer.is_empty() {
                node
            } else {
                Array::framed(node, outer.len())
            }));
        }
        if !outer.is_empty() {
            return Err(untraced("cells of cells"));
        }
        Ok((!node.is_empty()).then(|| Array::rows(node, frame.len())))
    }

    /// `n f/Y` and `(-n)f/Y`: calls between the windows' items, all windows at once. `item` is the
    /// k-th of each window.
    pub fn windows_recorded(
        &mut self,
        f: &Rc<Func>,
        shape: &Shape,
        width: usize,
        back: bool,
        item: impl Fn(&mut Self, usize) -> Result<Array>,
    ) -> Result<Option<Array>> {
        let place = |k: usize| if back { k } else { width - 1 - k };
        let made = self.attempt(|ev| {
            let mut sum = item(ev, place(0))?;
            for k in (1..width).map(place) {
                ev.cx.budget().check()?;
                let left = item(ev, k)?;
                let (f2, x, y) = (f.clone(), left.clone(), sum.clone());
                let again = || -> Fallback {
                    Rc::new(move |ev| super::each::each_item(ev, &f2, Some(&x), &y))
                };
                sum = ev
                    .items_framed(f, Some(&left), &sum, shape, again)?
                    .filter(|z| z.is_uniform() && z.shape() == shape.as_slice())
                    .ok_or_else(|| untraced("windows of other than simple scalars"))?;
            }
            Ok(sum)
        })?;
        if made.is_err() {
            self.warn_refused();
        }
        Ok(made.ok())
    }

    /// `f⌺s`: the windows are cells of a frame, `lead` axes of the node; ⍺ says how much of a
    /// window lies outside.
    pub fn windows_framed(
        &mut self,
        f: &Rc<Func>,
        outside: Option<&Array>,
        windows: &Array,
        lead: usize,
        again: Fallback,
    ) -> Result<Option<Array>> {
        let frame: Shape = windows.shape()[..lead].into();
        if !self.frames(elements(&frame), &[windows]) || windows.frame().is_some() {
            return Ok(None);
        }
        let framed = |a: &Array| Array::framed(a.clone(), lead);
        self.once(f, outside.map(framed).as_ref(), &framed(windows), &frame, again)
    }

    /// `f⍤k`: each argument with the number of axes of its frame. Frames agree, or one is empty.
    pub fn rank_framed(
        &mut self,
        f: &Rc<Func>,
        x: Option<(&Array, usize)>,
        y: (&Array, usize),
    ) -> Result<Option<Array>> {
        let mut args = vec![y];
        args.extend(x);
        let own: Shape = args
            .iter()
            .map(|(a, lead)| &a.shape()[..*lead])
            .max_by_key(|s| s.len())
            .unwrap_or(&[])
            .into();
        let n = elements(&own);
        if n == 0 || !self.frames(n, &args.iter().map(|a| a.0).collect::<Vec<_>>()) {
            return Ok(None);
        }
        let deepest = args.iter().filter_map(|(a, _)| a.frame()).max_by_key(|s| s.at);
        let outer = self.longer(deepest.map_or(Shape::new(), |s| s.frame().into()), f);
        let frame: Shape = outer.iter().chain(&own).copied().collect();
        let mut seen = Vec::new();
        for (a, lead) in args {
            seen.push(match Cells::of(a) {
                _ if lead == 0 => a.clone(),
                Some(cells) => self.seen(&cells.node, cells.outer, lead, &outer)?,
                None => return Ok(None),
            });
        }
        let (f2, y2, x2) = (f.clone(), (y.0.clone(), y.1), x.map(|(a, k)| (a.clone(), k)));
        let again: Fallback = Rc::new(move |ev| {
            super::rank::cell_by_cell(ev, &f2, x2.as_ref().map(|x| (&x.0, x.1)), (&y2.0, y2.1))
        });
        let x = if x.is_some() { seen.pop() } else { None };
        let Some(node) = self.once(f, x.as_ref(), &seen[0], &frame, again)? else {
            return Ok(None);
        };
        Ok(Some(if outer.is_empty() { node } else { Array::framed(node, outer.len()) }))
    }

    /// An argument of `∘.f` as the array that holds its items. None: they are of several shapes.
    fn side(&mut self, a: &Array) -> Result<Option<Split>> {
        let inner = if a.rank() == 0 { a.disclosed() } else { a.clone() };
        match inner.is_uniform() {
            true => Ok(Some(Split { at: a.rank(), node: inner })),
            false if a.rank() == 0 => Ok(None),
            false => self.cx.as_rows(a),
        }
    }

    /// `X∘.f Y`: X's frame is the outer part of the pairs', Y is spread along it.
    pub fn outer_framed(&mut self, f: &Rc<Func>, x: &Array, y: &Array) -> Result<Option<Array>> {
        let n = x.len().saturating_mul(y.len());
        let alone = self.longer(Shape::new(), f).is_empty();
        let framed = x.frame().or(y.frame()).is_some();
        if n == 0 || !self.frames(n, &[x, y]) || framed || !alone {
            return Ok(None);
        }
        let (Some(a), Some(b)) = (self.side(x)?, self.side(y)?) else { return Ok(None) };
        let frame: Shape = x.shape().iter().chain(y.shape()).copied().collect();
        aplomb_values::array::checked_elements(&frame)?;
        let (r, s) = (x.rank(), frame.len());
        let wide = |ev: &mut Self, a: Split, at: std::ops::Range<usize>| match at.len() {
            0 => Ok(a.node),
            _ => {
                let cell = a.cell().to_vec();
                let shape: Shape = frame.iter().chain(&cell).copied().collect();
                let to = at.chain(s..shape.len()).map(Some);
                let moved = ev.cx.apply_move(&a.node, Move::axes("⍴", shape, to))?;
                Ok(Array::framed(moved, s))
            }
        };
        let (a, b) = (wide(self, a, 0..r)?, wide(self, b, r..s)?);
        let (f2, x2, y2) = (f.clone(), x.clone(), y.clone());
        let again: Fallback = Rc::new(move |ev| super::products::all_pairs(ev, &f2, &x2, &y2));
        let Some(node) = self.once(f, Some(&a), &b, &frame, again)? else { return Ok(None) };
        Ok(if node.rank() == s {
            Some(node)
        } else {
            (!node.is_empty()).then(|| Array::rows(node, s))
        })
    }

    /// APL's error for a failed framed evaluation: that of the first cell, in the order of cells,
    /// that fails by itself.
    pub fn first_cell_error(&mut self, e: Error) -> Error {
        let mut runs = self.cx.sys.tape.take_suspects();
        if is_final(&e) {
            return e;
        }
        runs.sort_by_key(|r| r.from);
        for run in runs {
            if let Some(place) = &run.place {
                (self.cx.sys.source, self.cx.sys.span) = (Some(place.source.clone()), place.span);
            }
            // What it records is no part of the statement.
            let checks = self.cx.sys.tape.take_checks();
            let done = self.inside(Inside::CellByCell, |ev| {
                // A cell may fail at once after one whose value is still pending.
                let z =
                    (run.again)(ev).map_err(|e| if is_final(&e) { e } else { ev.earlier(e) })?;
                ev.cx.ready(&z, "check")
            });
            self.cx.sys.tape.set_checks(checks);
            match done {
                Ok(_) => {}
                Err(first) if first.has_place() => {
                    return run.place.iter().cloned().fold(first, Error::called_from);
                }
                Err(first) => return run.place.iter().fold(first, Error::at),
            }
        }
        e
    }
}

//! Functions on many cells at once, step by step: flattening.
//!
//! A function that a frame refuses, because its cells differ in shape or a guard sends them
//! different ways, need not be called once a cell. Its steps can be taken one by one, each for all
//! cells: a step `f` of the body becomes `f¨` on the vector of what the cells have come to. Words,
//! parts and groups are flat arrays with offsets, on which `f¨` is one pass. A guard parts the
//! cells in two, and each way goes on with its own. A last call of itself is another round, on the
//! cells that are not done; any other call goes inside, on the cells that make it. (Blelloch and
//! Sabot 1990, "Compiling collection-oriented languages onto massively parallel computers": nested
//! parallel calls become calls on vectors of their arguments.)
//!
//! Why the result is the same: cells do not see each other, since whatever would happen once a cell
//! (output, an outer assignment, a random number) is refused in this scope, so only the order in
//! which independent steps are taken changes. Whatever fails is not told from here: the run is
//! dropped, and the cells run one by one until the first that fails by itself. It ends where they
//! end: a round takes each cell one call further.

mod ahead;
mod amend;
mod body;
mod bound;
mod calls;
mod enclosed;
mod inside;
mod joins;
mod one_by_one;
mod orders;
mod parts;
mod running;
mod scattered;
mod sent;
mod turn_plans;
mod turns;
mod verified;

pub use running::always_changes;
pub use scattered::Scattered;

use super::operators::reduce::stretch;
use super::run::Eval;
use super::scope::TOGETHER;
use super::value::{Func, Oper, Operand};
use super::work::why;
use crate::functions::groups::gathered;
use aplomb_ground::error::{Kind, Result, bug, untraced};
use aplomb_values::array::{Array, Shape, elements};
use std::rc::Rc;

/// A value in all cells.
#[derive(Clone)]
enum Cells {
    /// The same in each.
    Same(Array),
    /// A vector, with an item for each cell of a level.
    Each(Array, usize),
}

/// Some of the cells around: those that went one way, or are in one round.
struct Level {
    /// Their places among those of the level around, which ascend but in a round of calls.
    from: Rc<[u32]>,
    /// Their places among those of levels further out, by the level's number: who is asked for them
    /// finds those of the level around, and takes one step. A dfn of many guards has as many
    /// levels, each within the one before.
    known: Vec<(usize, Rc<[u32]>)>,
}

/// A function under way on all cells.
struct Flat<'e, 'h> {
    ev: &'e mut Eval<'h>,
    /// The number of cells of the first level.
    n: usize,
    /// The steps that it may take.
    steps: Steps,
    /// The levels inside of it.
    levels: Vec<Level>,
    /// Calls under way, the innermost last.
    calls: Vec<Rc<body::Call>>,
    /// Outer names that the body of the first call may change, and what they come to.
    outer: Vec<running::Outer>,
    changes: Vec<running::Change>,
    /// Some cells are in a later round of calls: what they do is not in the order of the cells.
    later: bool,
    /// The cells are turns of a loop.
    turns: Option<turns::Turns>,
    /// The cells are groups, of which the first call sees what it folds.
    groups: Option<Rc<Scattered>>,
}

/// The steps that a run may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// Passes over flat data alone.
    Flat,
    /// All steps: what is no such pass goes by `f¨`, whatever way that takes.
    All,
    /// All steps, of a body that changes outer names in ways that are known for all cells.
    Changes,
}

/// The test for functions that have steps of their own: those that `Flat::call` takes apart.
fn has_steps(f: &Func) -> bool {
    use Operand::{A, F};
    match f {
        Func::Fork(..) | Func::Atop(..) => true,
        Func::Op1(Oper::Prim(p), F(_)) => p.glyph == '⍨',
        Func::Op2(Oper::Prim(p), a, b) => match p.glyph {
            '∘' => !matches!((a, b), (A(_), A(_))),
            '⍥' | '⍤' => matches!((a, b), (F(_), F(_))),
            _ => false,
        },
        f => f.closure().is_some(),
    }
}

/// The function that `¨` gives the items of each cell to, where that has no steps itself.
fn given_inside(f: &Func) -> Option<&Rc<Func>> {
    match f {
        Func::Op1(Oper::Prim(p), Operand::F(g)) if p.glyph == '¨' && !has_steps(g) => Some(g),
        _ => None,
    }
}

impl Eval<'_> {
    /// f of each item, or pair of items, of arguments that conform, step by step. None, and nothing
    /// has happened: it is refused, and `Sys::refused` says why.
    pub fn flattened(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        y: &Array,
        shape: &[usize],
        steps: Steps,
    ) -> Result<Option<Array>> {
        match self.runs_together(elements(shape)) {
            true => self.flattened_few(f, x, y, shape, steps),
            false => Ok(None),
        }
    }

    /// The same, however few they are.
    pub fn flattened_few(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        y: &Array,
        shape: &[usize],
        steps: Steps,
    ) -> Result<Option<Array>> {
        let n = elements(shape);
        let inside = given_inside(f).filter(|_| x.is_none());
        if !has_steps(f) && inside.is_none() {
            return Ok(None);
        }
        let outer = match steps {
            Steps::Changes => match self.outer_changes(f) {
                None => return Ok(None),
                Some(outer) => outer,
            },
            Steps::Flat | Steps::All => Vec::new(),
        };
        let mut changes = Vec::new();
        let depth = self.st.depth;
        let lowered = self.cx.budget().lowered(room(x, y));
        // A step that goes item by item is no cell by cell run of f.
        let refused = self.cx.sys.refused.take();
        let made = self.attempt_together(|ev| {
            if !matches!(steps, Steps::Changes) && running::always_changes(f) {
                // What its steps before that would come to is not made for all cells.
                return refuse("an outer name is assigned");
            }
            let mut flat = Flat { outer, ..Flat::new(ev, n, steps) };
            let y = flat.given(y)?;
            let x = x.map(|x| flat.given(x)).transpose()?;
            let made = match inside {
                None => flat.call(f, x, y)?,
                Some(g) => match flat.each_inside(g, None, &y)? {
                    Some(made) => made,
                    None => return refuse("the items of its cells are not at hand"),
                },
            };
            changes = std::mem::take(&mut flat.changes);
            flat.array(&made)
        });
        drop(lowered);
        self.st.depth = depth;
        // What half of the cells changed could not be taken back.
        let halves = n >= 2 * TOGETHER && steps != Steps::Changes;
        match made? {
            Ok(made) => {
                self.make_changes(changes)?;
                self.cx.work_because(n, why::STEPS);
                crate::functions::shape::reshaped(&mut self.cx, &made, shape).map(Some)
            }
            Err(e) if e.kind() == Kind::WsFull && halves => {
                self.cx.sys.refused = refused;
                let made = self.in_halves(f, x, y, n, steps)?;
                made.map(|made| crate::functions::shape::reshaped(&mut self.cx, &made, shape))
                    .transpose()
            }
            Err(e) => {
                self.cx.sys.refused = refused;
                self.refused(&e);
                Ok(None)
            }
        }
    }
}

/// The bytes that a run may take beside what is there: what all cells hold at once may be a
/// thousand times what one of them does.
fn room(x: Option<&Array>, y: &Array) -> u64 {
    const LEAST: u64 = 256 << 20;
    const TIMES: u64 = 64;
    LEAST.max(TIMES * (bytes(y) + x.map_or(0, bytes)))
}

/// Bytes of an array's items as numbers, those of its pieces if it has some.
fn bytes(a: &Array) -> u64 {
    a.pieces().map_or(a.len() as u64 * 8, |r| bytes(r.flat()))
}

impl Eval<'_> {
    /// Half of the cells, then the others: what a step gives for all of them takes too much.
    fn in_halves(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        y: &Array,
        n: usize,
        steps: Steps,
    ) -> Result<Option<Array>> {
        let mut parts = Vec::with_capacity(2);
        for (from, m) in [(0, n / 2), (n / 2, n - n / 2)] {
            let part = |ev: &mut Self, a: &Array| match a.len() == 1 && n != 1 {
                true => Ok(a.clone()),
                false => {
                    let list = crate::functions::shape::reshaped(&mut ev.cx, a, &[n])?;
                    stretch(ev, &list, from, m)
                }
            };
            let x = x.map(|x| part(self, x)).transpose()?;
            let y = part(self, y)?;
            match self.flattened(f, x.as_ref(), &y, &[m], steps)? {
                Some(made) => parts.push(made),
                None => return Ok(None),
            }
        }
        Flat::new(self, n, steps).caught_up(parts).map(Some)
    }
}

impl<'e, 'h> Flat<'e, 'h> {
    fn new(ev: &'e mut Eval<'h>, n: usize, steps: Steps) -> Flat<'e, 'h> {
        Flat {
            ev,
            n,
            steps,
            levels: Vec::new(),
            calls: Vec::new(),
            outer: Vec::new(),
            changes: Vec::new(),
            later: false,
            turns: None,
            groups: None,
        }
    }
}

impl Flat<'_, '_> {
    /// A list of places that cells share. Errors: WS FULL, before there is one.
    fn places(&self, places: impl ExactSizeIterator<Item = u32>) -> Result<Rc<[u32]>> {
        self.ev.cx.budget().has_room((places.len() * size_of::<u32>()) as u64)?;
        Ok(places.collect())
    }

    /// The number of cells now.
    fn count(&self) -> usize {
        self.levels.last().map_or(self.n, |level| level.from.len())
    }

    /// An argument's items; a single one is that of all cells.
    fn given(&mut self, a: &Array) -> Result<Cells> {
        if a.len() == 1 && self.n != 1 {
            return Ok(Cells::Same(if a.rank() == 0 { a.disclosed() } else { a.item(0) }));
        }
        let a = match a.split() {
            Some(rows) => Array::rows(self.ev.cx.ready(&rows.node, "each")?, rows.at),
            None => self.ev.cx.ready_outer(a)?,
        };
        let a = gathered(&mut self.ev.cx, &a)?.map_or(a, |pieces| pieces);
        let list = crate::functions::shape::reshaped(&mut self.ev.cx, &a, &[self.n])?;
        Ok(Cells::Each(list, 0))
    }

    /// The value in the cells of now: those of an outer level are taken from it.
    fn here(&mut self, v: &Cells) -> Result<Cells> {
        let Cells::Each(a, level) = v else { return Ok(v.clone()) };
        let (level, now) = (*level, self.levels.len());
        if level == now {
            return Ok(v.clone());
        }
        let places = self.places_in(level)?;
        Ok(Cells::Each(self.taken(a, &places)?, now))
    }

    /// The places of the cells of now among those of an outer level.
    fn places_in(&mut self, level: usize) -> Result<Rc<[u32]>> {
        let known = |at: usize| match at == level {
            true => Some(self.levels[at].from.clone()),
            false => self.levels[at].known.iter().find(|k| k.0 == level).map(|k| k.1.clone()),
        };
        let nearest = (level..self.levels.len()).rev().find_map(|at| Some((at, known(at)?)));
        let (at, mut places) = nearest.ok_or_else(|| bug!("a level of cells has no cells"))?;
        for k in at + 1..self.levels.len() {
            let from = &self.levels[k].from;
            places = self.places(from.iter().map(|&at| places[at as usize]))?;
            self.levels[k].known.push((level, places.clone()));
        }
        Ok(places)
    }

    /// A vector with an item for each cell.
    fn array(&mut self, v: &Cells) -> Result<Array> {
        let (n, v) = (self.count(), self.here(v)?);
        self.listed(n, v)
    }

    /// As an argument of `¨`: one for all is an enclosed scalar.
    fn operand(&mut self, v: &Cells) -> Result<Array> {
        match self.here(v)? {
            Cells::Each(a, _) => Ok(a),
            Cells::Same(a) if a.is_simple_scalar() => Ok(a),
            Cells::Same(a) => self.ev.cx.ready(&a, "each")?.enclosed(),
        }
    }

    /// A vector of the cells of now as a value.
    fn each_of(&self, a: Array) -> Cells {
        Cells::Each(a, self.levels.len())
    }

    /// Runs on some of the cells.
    fn among<T>(&mut self, from: Rc<[u32]>, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.levels.push(Level { from, known: Vec::new() });
        let done = run(self);
        self.levels.pop();
        done
    }
}

/// The refusal of a step that cells cannot take together.
fn refuse<T>(what: impl Into<String>) -> Result<T> {
    Err(untraced(what.into()))
}

/// The shape of a list of so many cells.
fn list(n: usize) -> Shape {
    [n].as_slice().into()
}

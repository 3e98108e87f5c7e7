//! Selective assignment, `(2↑x)←`: the selection runs on the places of x, and what it leaves is
//! where the value goes.
//!
//! Places are numbers from 1 in the order of ∊; a nested x has them in its own structure. Moves
//! keep places together as items, so an item that comes out whole names a whole item of x; where
//! the selection goes through `¨` or `∊` it names the simple scalars inside. Fills of an overtake
//! are 0 and name nothing.
//!
//! A selection that begins with a pick, `(p⊃x)[i]←`, runs on the places of that item alone, and
//! the item is put back as `(p⊃x)←` puts it: x may have a million others.

use super::cx::SMALL;
use super::lower::places::mask_of_places;
use super::operators::at::reached_below;
use super::run::{At, Eval};
use super::value::Func;
use crate::functions::amend::{amend, fits};
use crate::functions::select;
use crate::syntax::Sym;
use crate::syntax::resolve::{Code, FExpr, Reach};
use aplomb_ground::error::{Result, bug, length, rank};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Changing, Data};
use std::rc::Rc;

/// A name that is selected from, and the paths to the item of it that is.
type Source<'a> = (Sym, Option<&'a [Code]>);

/// The path to a simple scalar of x: the item's place on each level.
type Path = Vec<usize>;

impl Eval<'_> {
    /// The places of the items of a name, or of what a path of it leads to.
    pub fn positions(&mut self, at: At<'_>, (sym, within): Source<'_>) -> Result<()> {
        let x = self.visible(at, sym)?;
        let x = match within {
            None => x,
            Some(paths) => {
                let steps = self.run_paths(at, paths)?;
                self.led_to(&steps, x)?
            }
        };
        let x = if x.is_uniform() { x } else { self.cx.ready(&x, "selection")? };
        let places = match x.rank() == 1 && x.frame().is_none() && x.len() > SMALL {
            true if x.is_uniform() => self.cx.iota(x.len(), 1.0)?,
            _ => self.places(&x, &mut 0)?,
        };
        self.st.stack.push(places);
        Ok(())
    }

    /// The steps of some paths, one behind the other.
    fn run_paths(&mut self, at: At<'_>, paths: &[Code]) -> Result<Vec<Array>> {
        let mut steps = Vec::new();
        for path in paths {
            let done = self.code(at, path, false)?;
            let none = || aplomb_ground::error::value("a path is an array");
            let path = self.valued(done)?.ok_or_else(none)?;
            if path.rank() > 1 {
                return Err(rank("a path is a vector"));
            }
            steps.extend(self.steps_of(&path)?);
        }
        Ok(steps)
    }

    fn steps_of(&mut self, path: &Array) -> Result<Vec<Array>> {
        self.cx.ready(path, "path")?.to_items(self.cx.budget())
    }

    /// The item of an array that steps lead to.
    fn led_to(&mut self, steps: &[Array], x: Array) -> Result<Array> {
        steps.iter().try_fold(x, |x, step| {
            let path = Array::items([1].as_slice(), vec![step.clone()], None);
            select::pick(&mut self.cx, &path, &x, None)
        })
    }

    fn places(&mut self, x: &Array, next: &mut usize) -> Result<Array> {
        let Data::Items(items) = x.data() else {
            let first = *next as f64;
            *next += x.len();
            let all = self.cx.budget().each((1..=x.len()).map(|k| first + k as f64))?;
            return self.cx.vector(all)?.with_shape(x.shape(), self.cx.budget());
        };
        let mut out = self.cx.budget().room(x.len())?;
        for item in items.iter() {
            out.push(self.places(&item, next)?);
        }
        self.cx.collect(x.shape(), out, items.proto.clone())
    }

    /// `(sel x)←v`, `(sel x)f←v`: value below, the selected places on top.
    pub fn assign_selected(
        &mut self,
        at: At<'_>,
        (sym, within): Source<'_>,
        f: Option<&FExpr>,
        reach: Reach,
    ) -> Result<()> {
        let chosen = self.pop()?;
        let v = self
            .st
            .stack
            .last()
            .cloned()
            .ok_or_else(|| aplomb_ground::error::value("nothing to assign"))?;
        let f = f.map(|f| self.function(at, f)).transpose()?;
        if let Some(paths) = within {
            let (mut steps, whole) = (self.run_paths(at, paths)?, self.visible(at, sym)?);
            let item = self.led_to(&steps, whole)?;
            let new = match reach {
                Reach::Path => {
                    steps.extend(self.steps_of(&chosen)?);
                    self.reached(&item, &chosen, f, v)?
                }
                _ if is_numbered(&item, &chosen, &v, reach) => {
                    let places = self.selected(&item, &chosen)?;
                    self.with_items(item, chosen.shape(), &places, f, &v)?
                }
                _ => self.put_deep(&item, (&chosen, &v), f, reach)?,
            };
            return self.put_reached(at, sym, &steps, new);
        }
        if reach == Reach::Path && self.grow_item(at, sym, f.as_deref(), (&chosen, &v))? {
            return Ok(());
        }
        let old = self.visible(at, sym)?;
        if reach == Reach::Path {
            let new = self.reached(&old, &chosen, f, v)?;
            drop(old);
            let steps = self.steps_of(&chosen)?;
            return self.put_reached(at, sym, &steps, new);
        }
        if let ([n], None) = (old.shape(), &f)
            && let Some(mask) = mask_of_places(&chosen, *n, 1.0)
            && let Some(new) = self.cx.record_masked(&old, &mask, chosen.len(), &v)?
        {
            return self.change(at, sym, new);
        }
        if is_numbered(&old, &chosen, &v, reach) {
            let wanted = self.selected(&old, &chosen)?;
            return self.replace(at, sym, old, chosen.shape(), wanted, f, &v);
        }
        let new = self.put_deep(&old, (&chosen, &v), f, reach)?;
        self.change(at, sym, new)
    }

    /// The value that comes to the end of a path: v, or what f gives of what is there and v.
    fn reached(
        &mut self,
        old: &Array,
        path: &Array,
        f: Option<Rc<Func>>,
        v: Array,
    ) -> Result<Array> {
        let new = match f {
            None => v,
            Some(f) => {
                let held = select::pick(&mut self.cx, path, old, None)?;
                self.apply(&f, Some(&held), &v)?
            }
        };
        self.cx.ready(&new, "value")
    }

    /// `(p⊃x)←new` of a name.
    fn put_reached(&mut self, at: At<'_>, sym: Sym, steps: &[Array], new: Array) -> Result<()> {
        let Some((step, rest)) = steps.split_first() else { return self.change(at, sym, new) };
        // Nobody but the name holds its value when the item is put.
        let mut old = self.visible(at, sym)?;
        old = self.cx.ready_outer(&old)?;
        let (place, new) = reached_below(&mut self.cx, &old, step, rest, &new)?;
        self.replace(at, sym, old, &[], vec![place], None, &new)
    }

    /// The ravel places that a selection of numbers from 1 on names. Errors: LENGTH.
    fn selected(&mut self, old: &Array, chosen: &Array) -> Result<Vec<usize>> {
        let wanted = self.cx.integers(chosen, "a selection")?;
        let inside = |k: i64| usize::try_from(k - 1).ok().filter(|&k| k < old.len());
        if wanted.iter().any(|&k| inside(k).is_none()) {
            return Err(length("the selection reaches beyond the array"));
        }
        Ok(wanted.into_iter().filter_map(inside).collect())
    }

    /// An array with items at ravel places that are those of v, or what f gives of both.
    fn with_items(
        &mut self,
        old: Array,
        shape: &[usize],
        places: &[usize],
        f: Option<Rc<Func>>,
        v: &Array,
    ) -> Result<Array> {
        let (old, v) = (self.cx.ready_outer(&old)?, self.cx.ready_outer(v)?);
        let Some(f) = f else { return amend(&self.cx, &old, shape, places, &v) };
        fits(&v, shape)?;
        let mut to = Changing::of(old, self.cx.budget()).map_err(|(_, e)| e)?;
        for (k, &place) in places.iter().enumerate() {
            let item = match v.rank() {
                0 => v.disclosed(),
                _ => v.item(if v.len() == 1 { 0 } else { k }),
            };
            let new = self.apply(&f, Some(&to.item(place)), &item)?;
            to.put(place, &self.cx.ready(&new, "value")?.disclosed(), self.cx.budget())?;
        }
        to.finish(self.cx.budget())
    }

    /// An array with what v has at the places of a selection, on any level.
    fn put_deep(
        &mut self,
        old: &Array,
        (chosen, v): (&Array, &Array),
        f: Option<Rc<Func>>,
        reach: Reach,
    ) -> Result<Array> {
        let old = self.cx.ready(old, "selection")?;
        let (chosen, v) = (self.cx.ready(chosen, "selection")?, self.cx.ready(v, "value")?);
        let mut paths = Vec::new();
        walk(&old, &mut Vec::new(), &mut paths, self.cx.budget())?;
        let mut put = Put { paths, new: Opened::of(old), f };
        if reach == Reach::Whole {
            put.at_place(self, &chosen, &v)?;
        } else {
            put.spread(self, &chosen, &v, reach == Reach::Scalars)?;
        }
        put.new.array(self)
    }
}

/// True where a selection's items are ravel places of an array, and each gets an item of the value.
fn is_numbered(old: &Array, chosen: &Array, v: &Array, reach: Reach) -> bool {
    let whole = reach == Reach::Whole && (v.rank() > 0 || !v.is_uniform());
    old.is_uniform() && !(whole && chosen.rank() == 0)
}

/// The path of each simple scalar, in the order of ∊. Errors: WS FULL, INTERRUPT.
fn walk(x: &Array, here: &mut Path, out: &mut Vec<Path>, budget: &Budget) -> Result<()> {
    let mut ticks = budget.ticks();
    for k in 0..x.len() {
        ticks.tick()?;
        here.push(k);
        match x.data() {
            Data::Items(items) if !items.at(k).is_simple_scalar() => {
                walk(&items.at(k), here, out, budget)?;
            }
            _ => {
                budget.widen(out, 1)?;
                out.push(here.clone());
            }
        }
        here.pop();
    }
    Ok(())
}

struct Put {
    paths: Vec<Path>,
    new: Opened,
    f: Option<Rc<Func>>,
}

impl Put {
    /// Items of v to the places that the items of `chosen` name.
    fn spread(
        &mut self,
        ev: &mut Eval<'_>,
        chosen: &Array,
        v: &Array,
        scalars: bool,
    ) -> Result<()> {
        fits(v, chosen.shape())?;
        for k in 0..chosen.len() {
            let place = chosen.item(k);
            let item = match v.rank() {
                0 => v.disclosed(),
                _ => v.item(if v.len() == 1 { 0 } else { k }),
            };
            if scalars && !place.is_simple_scalar() {
                self.spread(ev, &place, &item, true)?;
            } else {
                self.at_place(ev, &place, &item)?;
            }
        }
        Ok(())
    }

    /// v to the one place that `place` is: a simple scalar, or an item that came out whole.
    fn at_place(&mut self, ev: &mut Eval<'_>, place: &Array, v: &Array) -> Result<()> {
        let (Some(first), size) = first_leaf(place) else { return Ok(()) };
        let Some(path) = first.checked_sub(1).and_then(|k| self.paths.get(k)).cloned() else {
            return Ok(());
        };
        // The item on the way to that scalar which has as many scalars as the place.
        let mut at = &mut self.new;
        for k in path {
            at = at.item(ev, k)?;
            if place.is_simple_scalar() {
                continue;
            }
            let item = at.array(ev)?;
            if item.shape() == place.shape() && leaves(&item) == size {
                break;
            }
        }
        let new = match &self.f {
            None => v.clone(),
            Some(f) => {
                let (f, old) = (f.clone(), at.array(ev)?);
                ev.apply(&f, Some(&old), v)?.disclosed()
            }
        };
        *at = Opened::of(ev.cx.ready(&new, "value")?);
        Ok(())
    }
}

fn first_leaf(place: &Array) -> (Option<usize>, usize) {
    let first = match place.data() {
        Data::Items(items) => items.iter().find_map(|i| first_leaf(&i).0),
        _ if place.is_empty() => None,
        _ => place.number_at(0).map(|x| x as usize),
    };
    (first, leaves(place))
}

fn leaves(x: &Array) -> usize {
    match x.data() {
        Data::Items(items) => items.iter().map(|i| leaves(&i)).sum(),
        _ => x.len(),
    }
}

/// An array whose items are taken out where one of them is to be another: each once, however many
/// are put.
struct Opened {
    whole: Array,
    items: Option<Vec<Opened>>,
}

impl Opened {
    fn of(whole: Array) -> Opened {
        Opened { whole, items: None }
    }

    /// The k-th item, to be put. Errors: WS FULL.
    fn item(&mut self, ev: &Eval<'_>, k: usize) -> Result<&mut Opened> {
        if self.items.is_none() {
            let items = match self.whole.rank() {
                0 => vec![self.whole.disclosed()],
                _ => self.whole.to_items(ev.cx.budget())?,
            };
            let opened = ev.cx.budget().each(items.into_iter().map(Opened::of))?;
            self.items = Some(opened);
        }
        let items = self.items.as_mut().and_then(|items| items.get_mut(k));
        items.ok_or_else(|| bug!("a path leads out of its array"))
    }

    /// With what was put. Errors: WS FULL.
    fn array(&self, ev: &Eval<'_>) -> Result<Array> {
        let Some(items) = &self.items else { return Ok(self.whole.clone()) };
        let made = ev.cx.budget().all(items.iter().map(|item| item.array(ev)))?;
        ev.cx.collect(self.whole.shape(), made, Some(self.whole.prototype()))
    }
}

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
use crate::functions::amend::{amend, fits, item_for};
use crate::functions::select;
use crate::syntax::Sym;
use crate::syntax::resolve::{Code, FExpr, Reach};
use aplomb_ground::error::{Result, bug, length, rank};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Changing, Data};
use aplomb_values::prim::moves::Move;
use std::rc::Rc;

/// The path to a simple scalar of x: the item's place on each level.
type Path = Vec<usize>;

impl Eval<'_> {
    /// The places of the items of a name, or of what paths of it lead to.
    pub fn positions(&mut self, at: At<'_>, sym: Sym, within: &[Code]) -> Result<()> {
        let x = self.visible(at, sym)?;
        let mut steps = Vec::new();
        for path in within {
            let path = self.array(at, path)?;
            if path.rank() > 1 {
                return Err(rank("a path is a vector"));
            }
            steps.extend(self.steps_of(&path)?);
        }
        // Of a simple array a path leads to a place like any other selection.
        let picks = if x.is_uniform() { std::mem::take(&mut steps) } else { Vec::new() };
        let x = self.led_to(&steps, x)?;
        self.st.selecting.push(steps);
        let x = if x.is_uniform() { x } else { self.cx.ready(&x, "selection")? };
        // Of many places those that are selected are computed.
        let places = match x.is_uniform() && x.frame().is_none() && x.len() > SMALL {
            true => {
                let all = self.cx.iota(x.len(), 1.0)?;
                let shaped = Move::reshape("⍴", all.shape(), x.shape());
                self.cx.apply_move(&all, shaped)?
            }
            false => self.places(&x, &mut 0)?,
        };
        let places = self.led_to(&picks, places)?;
        self.st.stack.push(places);
        Ok(())
    }

    /// The steps of a path.
    fn steps_of(&mut self, path: &Array) -> Result<Vec<Array>> {
        self.cx.ready(path, "path")?.to_items(self.cx.budget())
    }

    /// The item of an array that steps lead to.
    fn led_to(&mut self, steps: &[Array], x: Array) -> Result<Array> {
        if steps.is_empty() {
            return Ok(x);
        }
        let steps = self.cx.budget().each(steps.iter().cloned())?;
        let path = Array::items([steps.len()].as_slice(), steps, None);
        select::pick(&mut self.cx, &path, &x, None)
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

    /// `(sel x)←v`, `(sel x)f←v`: value below, the selected places on top, or the paths to the one
    /// that is.
    pub fn assign_selected(
        &mut self,
        at: At<'_>,
        sym: Sym,
        f: Option<&FExpr>,
        reach: Reach,
    ) -> Result<()> {
        let paths = if let Reach::Path(n) = reach { n } else { 0 };
        let mut paths = (0..paths).map(|_| self.pop()).collect::<Result<Vec<_>>>()?;
        let chosen = if paths.is_empty() { Some(self.pop()?) } else { None };
        let v = self
            .st
            .stack
            .last()
            .cloned()
            .ok_or_else(|| aplomb_ground::error::value("nothing to assign"))?;
        let f = f.map(|f| self.function(at, f)).transpose()?;
        let Some(chosen) = chosen else {
            paths.reverse();
            if let [path] = &paths[..]
                && self.grow_item(at, sym, f.as_deref(), (path, &v))?
            {
                return Ok(());
            }
            let mut steps = Vec::new();
            for path in &paths {
                steps.extend(self.steps_of(path)?);
            }
            let new = match f {
                None => v,
                Some(f) => {
                    let held = self.visible(at, sym)?;
                    let held = self.led_to(&steps, held)?;
                    self.apply(&f, Some(&held), &v)?
                }
            };
            return self.put_reached(at, sym, &steps, &new);
        };
        let none = || bug!("a selection from nothing");
        let steps = self.st.selecting.pop().ok_or_else(none)?;
        let old = self.visible(at, sym)?;
        if !steps.is_empty() {
            let item = self.led_to(&steps, old)?;
            let plain = item.rank() > 0 && chosen.is_uniform();
            let places = match plain && is_numbered(&item, &chosen, &v, reach) {
                true => self.selected(&item, &chosen)?,
                false => None,
            };
            let new = match places {
                Some(places) => self.with_items(&item, chosen.shape(), &places, f, &v)?,
                None => {
                    // The item may be what comes out whole.
                    let alone = Array::items([1].as_slice(), vec![item], None);
                    self.put_deep(&alone, (&chosen, &v), f, reach)?.item(0)
                }
            };
            return self.put_reached(at, sym, &steps, &new);
        }
        if let ([n], None) = (old.shape(), &f)
            && let Some(mask) = mask_of_places(&chosen, *n, 1.0)
            && let Some(new) = self.cx.record_masked(&old, &mask, chosen.len(), &v)?
        {
            return self.change(at, sym, new);
        }
        if is_numbered(&old, &chosen, &v, reach) {
            let beyond = || length("the selection reaches beyond the array");
            let wanted = self.selected(&old, &chosen)?.ok_or_else(beyond)?;
            return self.replace(at, sym, old, chosen.shape(), wanted, f, &v);
        }
        let new = self.put_deep(&old, (&chosen, &v), f, reach)?;
        self.change(at, sym, new)
    }

    /// `(p⊃x)←new` of a name.
    fn put_reached(&mut self, at: At<'_>, sym: Sym, steps: &[Array], new: &Array) -> Result<()> {
        let new = self.cx.ready(new, "value")?;
        let Some((step, rest)) = steps.split_first() else { return self.change(at, sym, new) };
        // Nobody but the name holds its value when the item is put.
        let mut old = self.visible(at, sym)?;
        old = self.cx.ready_outer(&old)?;
        let (place, new) = reached_below(&mut self.cx, &old, step, rest, &new)?;
        self.replace(at, sym, old, &[], vec![place], None, &new)
    }

    /// The ravel places that a selection of numbers from 1 on names. None: one is not there.
    fn selected(&mut self, old: &Array, chosen: &Array) -> Result<Option<Vec<usize>>> {
        let wanted = self.cx.integers(chosen, "a selection")?;
        let inside = |k: i64| usize::try_from(k - 1).ok().filter(|&k| k < old.len());
        Ok(wanted.into_iter().map(inside).collect())
    }

    /// An array with items at ravel places that are those of v, or what f gives of both.
    fn with_items(
        &mut self,
        old: &Array,
        shape: &[usize],
        places: &[usize],
        f: Option<Rc<Func>>,
        v: &Array,
    ) -> Result<Array> {
        let (old, v) = (self.cx.ready_outer(old)?, self.cx.ready_outer(v)?);
        let Some(f) = f else { return amend(&self.cx, &old, shape, places, &v) };
        fits(&v, shape)?;
        let mut to = Changing::of(old, self.cx.budget()).map_err(|(_, e)| e)?;
        for (k, &place) in places.iter().enumerate() {
            let new = self.apply(&f, Some(&to.item(place)), &item_for(&v, k))?;
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
            let item = item_for(v, k);
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

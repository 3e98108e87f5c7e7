//! Items put into an array: in its own buffer if nobody else holds it, else in one copy.
//!
//! Always: the array that others hold is never changed; a number that its storage cannot hold
//! widens the copy.

use super::items::MOST_DEPTH;
use super::listed::{from_both_ends, is_simple};
use super::{Array, Buf, DType, Data, Digits, End, Held, Items, Shape, Storage, View};
use aplomb_ground::error::{Error, Result, bug, untraced};
use aplomb_ground::limits::Budget;
use std::rc::Rc;
use std::sync::Arc;

/// An array while its items change.
pub struct Changing {
    shape: Shape,
    items: Kept,
}

enum Kept {
    Typed(Buf),
    Loose(Loose),
}

/// Items that stand as arrays, and what has to be looked at once they have changed.
struct Loose {
    /// Held by nobody else.
    items: Rc<Items>,
    /// A simple scalar was put: all may be such now.
    simple: bool,
    /// A deepest item went.
    shallower: bool,
}

impl Changing {
    /// Copies only if somebody else holds the buffer. Errors: WS FULL, with the array as it was.
    pub fn of(a: Array, budget: &Budget) -> Result<Changing, (Array, Error)> {
        let (shape, data) = (Shape::from_slice(a.shape()), a.settled().into_data());
        drop(a);
        let items = match data {
            Data::Dense(storage) => match Buf::unique(storage) {
                Ok(buf) => Kept::Typed(buf),
                Err(shared) => match Buf::copied(&*shared, budget) {
                    Ok(buf) => Kept::Typed(buf),
                    Err(e) => return Err((Array::dense(shape, shared), e)),
                },
            },
            Data::Items(mut items) => match Items::owned(&mut items, 0, budget) {
                Ok(_) => Kept::Loose(Loose { items, simple: false, shallower: false }),
                Err(e) => return Err((Array { shape, data: Data::Items(items) }, e)),
            },
            data => Kept::Loose(Loose::of(vec![Array { shape: Shape::new(), data }])),
        };
        Ok(Changing { shape, items })
    }

    /// Item `at` as it stands in a strand.
    pub fn item(&self, at: usize) -> Array {
        match &self.items {
            Kept::Typed(buf) => buf.item(at),
            Kept::Loose(loose) => loose.items.at(at),
        }
    }

    /// Errors: WS FULL, where the storage must widen; untraced, of a cell.
    pub fn put(&mut self, at: usize, item: &Array, budget: &Budget) -> Result<()> {
        if let Kept::Typed(buf) = &mut self.items {
            let done = match &item.data {
                Data::Num(x, _) => buf.put_number(at, *x, budget)?,
                Data::Complex(z) => buf.put_complex(at, *z, budget)?,
                Data::Char(c) => buf.put_char(at, *c),
                _ => false,
            };
            if done {
                return Ok(());
            }
            let loose = budget.each((0..buf.items_held()).map(|k| buf.item(k)))?;
            self.items = Kept::Loose(Loose::of(loose));
        }
        match &mut self.items {
            Kept::Loose(loose) => loose.put(at, item.settled()),
            Kept::Typed(_) => Ok(()),
        }
    }

    /// The items of an array from one on, or the one that there is, at places, one after the other.
    /// False, and
    /// nothing changed: they are not all numbers, or all characters, as those that are there.
    /// Errors: WS FULL, with nothing changed.
    pub fn put_all(
        &mut self,
        places: &[usize],
        (v, first): (&Array, usize),
        budget: &Budget,
    ) -> Result<bool> {
        let Kept::Typed(buf) = &mut self.items else { return Ok(false) };
        match &v.data {
            Data::Num(x, Digits::Single) => {
                buf.put_all(places, (View::F32(&[*x as f32]), 0), budget)
            }
            Data::Num(x, Digits::Any) => buf.put_all(places, (View::F64(&[*x]), 0), budget),
            Data::Char(c) => buf.put_all(places, (View::Char(&[*c]), 0), budget),
            Data::Dense(held) => buf.put_all(places, (held.view(), first), budget),
            _ => Ok(false),
        }
    }

    /// Errors: WS FULL, LIMIT (depth).
    pub fn finish(self, budget: &Budget) -> Result<Array> {
        match self.items {
            Kept::Typed(buf) => match buf.view() {
                // The last item that was not real may be gone.
                View::Complex(v) => Array::complexes(self.shape, v.to_vec(), budget),
                _ => Ok(Array::dense(self.shape, Arc::new(buf))),
            },
            Kept::Loose(loose) => loose.finish(self.shape, budget),
        }
    }
}

impl Loose {
    /// Items that may all be simple.
    fn of(list: Vec<Array>) -> Loose {
        Loose { items: Rc::new(Items::of(list, None)), simple: true, shallower: false }
    }

    fn put(&mut self, at: usize, new: Array) -> Result<()> {
        if new.frame().is_some() {
            return Err(untraced("cells become items"));
        }
        let Some(items) = Rc::get_mut(&mut self.items) else {
            return Err(bug!("items that change are held by two"));
        };
        self.simple |= new.is_simple_scalar();
        self.shallower |= items.put(at, new);
        Ok(())
    }

    /// The array of the items. All of them are looked at only where a change asks for that, until
    /// the answer is known: a loop that changes an item a turn goes through none of the others.
    fn finish(mut self, shape: Shape, budget: &Budget) -> Result<Array> {
        let Some(items) = Rc::get_mut(&mut self.items) else {
            return Err(bug!("items that change are held by two"));
        };
        let Some(list) = items.listed() else {
            return Err(bug!("items that change are no list"));
        };
        if self.simple && is_simple(list) || shape.is_empty() {
            return Array::collect(shape, items.held.take(), None, budget);
        }
        if self.shallower {
            items.look_at_depth();
        }
        Array { shape, data: Data::Items(self.items) }.within_limits(budget)
    }
}

impl Array {
    /// The floats of this array, if nobody else holds them, to be exchanged for as many others.
    pub fn own_floats(&mut self) -> Option<&mut Vec<f64>> {
        match &mut self.data {
            Data::Dense(storage) => Arc::get_mut(storage)?.as_buf()?.floats(),
            _ => None,
        }
    }

    /// Puts an item where it lies, in one copy if somebody else holds the array. False, and nothing
    /// changed: the storage has no room for such an item, or the array may become another kind of
    /// array. Errors: WS FULL, INTERRUPT, with nothing changed.
    pub fn put_item(&mut self, at: usize, new: &Array, budget: &Budget) -> Result<bool> {
        /// Arrays in one that is looked at no further.
        const NODES: u64 = 1 << 20;
        match (&mut self.data, &new.data) {
            (Data::Dense(storage), Data::Num(_, _) | Data::Char(_)) => {
                let number = storage.dtype().is_number() && storage.dtype() != DType::Complex;
                let mut copy = None;
                let buf = match Arc::get_mut(storage).and_then(Storage::as_buf) {
                    Some(_) => None,
                    None => Some(Buf::copied(&**storage, budget)?),
                };
                let own = match buf {
                    Some(buf) => copy.insert(buf),
                    None => match Arc::get_mut(storage).and_then(Storage::as_buf) {
                        Some(own) => own,
                        None => return Ok(false),
                    },
                };
                let done = match new.data {
                    Data::Num(x, _) if number => own.put_number(at, x, budget)?,
                    Data::Char(c) if !number => own.put_char(at, c),
                    _ => false,
                };
                if let Some(copy) = copy.filter(|_| done) {
                    *storage = Arc::new(copy);
                }
                Ok(done)
            }
            (Data::Items(items), Data::Dense(_) | Data::Items(_)) => {
                let nodes = items.nodes.saturating_add(new.nodes());
                if new.depth() + 1 >= MOST_DEPTH || nodes > NODES || new.rank() == 0 {
                    return Ok(false);
                }
                let items = Items::owned(items, 0, budget)?;
                if items.put(at, new.clone()) {
                    items.look_at_depth();
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The array with an item as it was once.
    pub fn with_item(mut self, at: usize, was: &Array) -> Array {
        let budget = Budget::new(u64::MAX);
        match self.put_item(at, was, &budget) {
            Ok(true) => self,
            _ => {
                let mut items: Vec<Array> = self.in_turn().collect();
                items[at] = was.clone();
                Array::items(self.shape, items, None)
            }
        }
    }

    /// The items of `v` behind this array's own along its first axis: in its own room, which grows
    /// by half as much again, if nobody else holds it, else in one copy that has such room. So a
    /// loop of appends copies each item a few times only. `v` is one cell of this array, or an
    /// array of such cells. False, and nothing changed: `v` is no such thing, or the two do not fit
    /// in one buffer, or one of them is empty, where the type of the result is the other's. Errors:
    /// WS FULL, with nothing changed.
    pub fn grow(&mut self, v: &Array, budget: &Budget) -> Result<bool> {
        let Some((&own, cell)) = self.shape.split_first() else { return Ok(false) };
        let more = match v.shape.split_first() {
            _ if v.shape.as_slice() == cell => 1,
            Some((&n, rest)) if rest == cell => n,
            _ => return Ok(false),
        };
        if self.is_empty() || v.is_empty() {
            return Ok(false);
        }
        let grown = match &mut self.data {
            Data::Dense(storage) => grow_buffer(storage, v, budget)?,
            Data::Items(items) => {
                let whole = 0..items.len();
                Items::regrow(items, &whole, v, End::Back, budget)?
            }
            _ => false,
        };
        if grown {
            self.shape[0] = own + more;
        }
        Ok(grown)
    }
}

fn grow_buffer(storage: &mut Arc<dyn Storage>, v: &Array, budget: &Budget) -> Result<bool> {
    let (number, single, complex, character, held);
    let items = match &v.data {
        Data::Complex(z) => {
            complex = [*z];
            View::Complex(&complex)
        }
        Data::Num(x, Digits::Single) => {
            single = [*x as f32];
            View::F32(&single)
        }
        Data::Num(x, Digits::Any) => {
            number = [*x];
            View::F64(&number)
        }
        Data::Char(c) => {
            character = [*c];
            View::Char(&character)
        }
        Data::Dense(more) => {
            // The buffer may be its own: it is held twice then, and this one is copied below.
            held = more.clone();
            held.view()
        }
        _ => return Ok(false),
    };
    if !Buf::can_append(storage.dtype(), items) {
        return Ok(false);
    }
    if let Some(buf) = Arc::get_mut(storage).and_then(Storage::as_buf) {
        return buf.append(items, budget);
    }
    let mut buf = Buf::copied(&**storage, budget)?;
    let done = buf.append(items, budget)?;
    if done {
        *storage = Arc::new(buf);
    }
    Ok(done)
}

impl Items {
    /// The depth anew, where an item went that was of the deepest.
    fn look_at_depth(&mut self) {
        let (deepest, Some(list)) = (self.depth, self.listed()) else { return };
        let of = |a: &Array| a.depth().saturating_add(1);
        if from_both_ends(list, |a| of(a) != deepest) {
            self.depth = list.iter().fold(1, |most, a| most.max(of(a)));
        }
    }

    /// Puts an item into a list; whether that was of the deepest, and the new one is not.
    fn put(&mut self, at: usize, new: Array) -> bool {
        let Held::Items(list) = &mut self.held else { return false };
        let list = list.items_mut();
        let deepest = self.depth;
        let of = |a: &Array| a.depth().saturating_add(1);
        self.depth = deepest.max(of(&new));
        self.lazy |= new.holds_lazy();
        let (gone, come, below) = (list[at].nodes(), new.nodes(), of(&new) < deepest);
        let was = std::mem::replace(&mut list[at], new);
        self.nodes = match self.nodes {
            // Too many to be counted.
            u64::MAX => list.iter().fold(1, |n, a| n.saturating_add(a.nodes())),
            all => (all - gone).saturating_add(come),
        };
        below && of(&was) == deepest
    }
}

/// The storage that holds both what is there and one number more.
pub(super) fn wide_enough(now: DType, x: f64) -> Option<DType> {
    let own = match now {
        DType::F64 => return Some(DType::F64),
        // What is put into f32 is rounded to it.
        DType::F32 => return Some(DType::F32),
        now => now.range()?,
    };
    let whole = x == x.trunc();
    Some(if whole { DType::holding(own.0.min(x), own.1.max(x)) } else { DType::F64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(x: f64) -> Array {
        Array::num(x)
    }

    /// An item of a nested array that nobody else holds becomes another in place, and what the
    /// array tells of itself is what one made anew would tell.
    #[test]
    fn items_change_in_place_and_their_array_knows_of_it() {
        let budget = Budget::new(1 << 20);
        let pair = Array::numbers([2].as_slice(), vec![1.0, 2.0], &budget).expect("room");
        let deep = Array::items([1].as_slice(), vec![pair.clone()], None);
        let mut a = Array::items([3].as_slice(), vec![deep.clone(), pair.clone(), deep], None);
        let place = |a: &Array| match &a.data {
            Data::Items(items) => Rc::as_ptr(items),
            _ => std::ptr::null(),
        };
        let puts =
            [(1, number(5.0)), (0, pair.clone()), (2, pair.clone()), (0, number(1.0)), (1, pair)];
        for (at, item) in puts {
            let was = place(&a);
            let mut to = Changing::of(a, &budget).map_err(|(_, e)| e).expect("room");
            to.put(at, &item, &budget).expect("room");
            a = to.finish(&budget).expect("room");
            assert_eq!(place(&a), was);
            let anew = Array::items([3].as_slice(), a.in_turn().collect(), None);
            assert_eq!((a.depth(), a.nodes()), (anew.depth(), anew.nodes()));
        }
        let held = a.clone();
        for at in 0..3 {
            let mut to = Changing::of(a, &budget).map_err(|(_, e)| e).expect("room");
            to.put(at, &number(at as f64), &budget).expect("room");
            a = to.finish(&budget).expect("room");
        }
        assert!(a.is_uniform() && !held.is_uniform());
    }
}

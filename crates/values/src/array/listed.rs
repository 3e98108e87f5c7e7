//! Lists of arrays: the items of a nested array that stand one by one, with room at both ends, and
//! stretches of lists that others hold, too.
//!
//! Who holds a list alone makes it longer and shorter at either end where it lies: room is taken by
//! half as much again, so a list that grows one by one moves each item a few times only. A stretch
//! of a list copies nothing, and is a list of its own once nobody else holds the other. Always:
//! what others see of a list is never changed.

use super::items::MOST_DEPTH;
use super::part::HOLDS;
use super::places::Places;
use super::{Array, Buf, Data, Held, Items, TAKEN_OUT, elements};
use aplomb_ground::error::{Result, bug};
use aplomb_ground::limits::Budget;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// The end of a list at which it grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Before the first item.
    Front,
    /// Behind the last item.
    Back,
}

/// Items that stand as arrays, behind room for others.
#[derive(Default)]
pub struct List {
    /// Numbers fill the room.
    all: Vec<Array>,
    from: usize,
    places: RefCell<Places>,
}

/// A stretch of a list.
pub struct Stretch {
    of: Rc<Items>,
    range: Range<usize>,
}

impl List {
    /// Items without room before them.
    pub fn new(all: Vec<Array>) -> List {
        List { all, ..List::default() }
    }

    /// The items.
    pub fn items(&self) -> &[Array] {
        &self.all[self.from..]
    }

    /// The items, each to be exchanged for another.
    pub fn items_mut(&mut self) -> &mut [Array] {
        self.places.get_mut().forget();
        &mut self.all[self.from..]
    }

    /// The items, taken out.
    pub fn take(&mut self) -> Vec<Array> {
        let List { mut all, from, .. } = std::mem::take(self);
        all.drain(..from);
        all
    }

    /// Lets go all items but these.
    fn narrow(&mut self, range: &Range<usize>) {
        self.places.get_mut().forget();
        let (first, end) = (self.from + range.start, self.from + range.end);
        self.all.truncate(end);
        self.all[self.from..first].fill_with(|| Array::num(0.0));
        self.from = first;
    }

    /// Room for so many more at an end. Errors: WS FULL, INTERRUPT.
    fn widen(&mut self, more: usize, end: End, budget: &Budget) -> Result<()> {
        let n = self.all.len() - self.from;
        let ahead = more.max(n / 2).max(4);
        let spare = self.all.capacity() - self.all.len();
        let before = match end {
            End::Front if more > self.from => self.from + ahead,
            End::Back if more > spare && self.from > n => {
                // Room that drops left before the items: half of it goes behind them.
                self.all.drain(..self.from / 2);
                self.from -= self.from / 2;
                return self.widen(more, end, budget);
            }
            End::Back => return budget.widen(&mut self.all, more),
            End::Front => return Ok(()),
        };
        let mut all = budget.room(before + n + spare)?;
        all.resize_with(before, || Array::num(0.0));
        all.extend(self.all.drain(self.from..));
        (self.all, self.from) = (all, before);
        Ok(())
    }

    /// Puts items at an end, which has room for them.
    fn put(&mut self, more: Vec<Array>, end: End) {
        match end {
            End::Front => {
                self.places.get_mut().forget();
                self.from -= more.len();
                self.all[self.from..].iter_mut().zip(more).for_each(|(to, new)| *to = new);
            }
            End::Back => self.all.extend(more),
        }
    }
}

impl Stretch {
    /// Items of the list, in its own numbers.
    pub fn items(&self) -> &[Array] {
        match self.of.listed() {
            Some(all) => &all[self.range.clone()],
            None => unreachable!("a stretch of what does not stand item by item"),
        }
    }

    /// The number of items.
    pub fn count(&self) -> usize {
        self.range.len()
    }
}

/// The levels that an item adds to its list.
fn level(a: &Array) -> u32 {
    a.depth().saturating_add(1)
}

/// True where all items pass. Those at both ends are asked first: what a loop has not come to yet
/// is at one of them.
pub(super) fn from_both_ends(list: &[Array], pass: impl Fn(&Array) -> bool) -> bool {
    let half = list.len().div_ceil(2);
    list.iter().zip(list.iter().rev()).take(half).all(|(a, b)| pass(a) && pass(b))
}

/// True of numbers alone and of characters alone: a list of those is a simple vector.
pub(super) fn is_simple(list: &[Array]) -> bool {
    let class = |a: &Array| match a.data {
        Data::Num(_, _) | Data::Complex(_) => Some(false),
        Data::Char(_) => Some(true),
        _ => None,
    };
    let one = list.first().and_then(class);
    one.is_some() && from_both_ends(list, |a| class(a) == one)
}

impl Items {
    /// Depth and nodes of a stretch of the items; None: it has none, is simple, or these do not
    /// stand as arrays.
    fn of_stretch(&self, range: &Range<usize>) -> Option<(u32, u64)> {
        let all = self.listed()?;
        let kept = all.get(range.clone()).filter(|kept| !kept.is_empty() && !is_simple(kept))?;
        let gone = || all[..range.start].iter().chain(&all[range.end..]);
        let sum = |nodes: &mut dyn Iterator<Item = &Array>| {
            nodes.fold(0u64, |n, a| n.saturating_add(a.nodes()))
        };
        let few = kept.len() >= all.len() - kept.len() && self.nodes < u64::MAX;
        let nodes = match few {
            true => self.nodes - sum(&mut gone()),
            false => sum(&mut kept.iter()).saturating_add(1),
        };
        let shallower = gone().any(|a| level(a) == self.depth)
            && from_both_ends(kept, |a| level(a) != self.depth);
        let depth = match shallower {
            true => kept.iter().map(level).max()?,
            false => self.depth,
        };
        Some((depth, nodes))
    }

    /// The items, where they stand one by one in a list that nobody else holds.
    fn claimed(own: &mut Rc<Items>) -> Option<&mut Items> {
        let items = Rc::get_mut(own)?;
        if let Held::Stretch(part) = &mut items.held
            && let Some(Items { held: Held::Items(list), .. }) = Rc::get_mut(&mut part.of)
        {
            let (mut list, range) = (std::mem::take(list), part.range.clone());
            list.narrow(&range);
            items.held = Held::Items(list);
        }
        matches!(items.held, Held::Items(_)).then_some(items)
    }

    /// The items as a list that nobody else holds: what is there, or a copy with room for some
    /// more. Errors: WS FULL, INTERRUPT, with nothing changed.
    pub(super) fn owned<'a>(
        own: &'a mut Rc<Items>,
        more: usize,
        budget: &Budget,
    ) -> Result<&'a mut Items> {
        if Items::claimed(own).is_none() {
            let mut list = budget.room(own.len() + more)?;
            let mut ticks = budget.ticks();
            for item in own.iter() {
                ticks.tick()?;
                list.push(item);
            }
            let (depth, nodes, lazy) = (own.depth, own.nodes, own.lazy);
            let (held, proto) = (Held::Items(List::new(list)), own.proto.clone());
            *own = Rc::new(Items { held, proto, depth, nodes, lazy });
        }
        Rc::get_mut(own).ok_or_else(|| bug!("a list of its own is held by two"))
    }
}

impl Array {
    /// Neighbouring cells of a nested array as a stretch of it, which copies nothing. None: it
    /// would be simple or empty, or hold on to far more than it shows, or the items do not stand
    /// one by one.
    pub fn stretch(&self, cells: Range<usize>) -> Option<Array> {
        let Data::Items(items) = &self.data else { return None };
        let pieces = match &items.held {
            Held::Ragged(all) if self.rank() == 1 => Some(all.stretch(cells.clone())?),
            _ => None,
        };
        if let Some(pieces) = pieces {
            return Some(pieces.items(&[cells.len()]));
        }
        if let (Held::Rows(rows), 1) = (&items.held, self.rank()) {
            return Some(Array::rows(rows.node.settled().buffer_stretch(cells)?, 1));
        }
        let size = elements(self.shape.get(1..)?);
        let range = cells.start.checked_mul(size)?..cells.end.checked_mul(size)?;
        let (depth, nodes) = items.of_stretch(&range)?;
        let (of, range) = match &items.held {
            Held::Stretch(part) => {
                let first = part.range.start;
                (&part.of, first + range.start..first + range.end)
            }
            _ => (items, range),
        };
        let Held::Items(list) = &of.held else { return None };
        if range.len().saturating_mul(HOLDS) < list.all.len() || range.end > list.items().len() {
            return None;
        }
        let held = Held::Stretch(Stretch { of: of.clone(), range });
        let made = Items { held, proto: None, depth, nodes, lazy: items.lazy };
        let mut shape = self.shape.clone();
        shape[0] = cells.len();
        Some(Array { shape, data: Data::Items(Rc::new(made)) })
    }

    /// Vectors and scalars one after another, of which some are lists of arrays. None: none is, or
    /// one does not stand item by item, or waits. Errors: WS FULL, INTERRUPT.
    pub fn lists_joined(parts: &[&Array], budget: &Budget) -> Result<Option<Array>> {
        let list = |a: &Array| match &a.data {
            Data::Items(items) => items.listed().is_some() && a.rank() == 1,
            _ => false,
        };
        let plain = |a: &Array| a.rank() <= 1 && a.pending().is_none() && a.frame().is_none();
        if !parts.iter().any(|a| list(a)) || !parts.iter().all(|a| list(a) || plain(a)) {
            return Ok(None);
        }
        let n = parts.iter().map(|a| a.len()).sum();
        let (mut all, mut ticks) = (budget.room(n)?, budget.ticks());
        let (mut depth, mut nodes, mut lazy) = (1, 1u64, false);
        for part in parts {
            ticks.spend(part.len())?;
            match &part.data {
                Data::Items(items) if list(part) => {
                    items.listed().iter().for_each(|own| all.extend_from_slice(own));
                    depth = items.depth.max(depth);
                    nodes = nodes.saturating_add(items.nodes.saturating_sub(1));
                    lazy |= items.lazy;
                }
                _ => {
                    let from = all.len();
                    for item in part.in_turn() {
                        ticks.spend(TAKEN_OUT)?;
                        all.push(item);
                    }
                    let new = &all[from..];
                    depth = new.iter().map(level).fold(depth, u32::max);
                    nodes = new.iter().fold(nodes, |n, a| n.saturating_add(a.nodes()));
                    lazy |= new.iter().any(Array::holds_lazy);
                }
            }
        }
        let held = Held::Items(List::new(all));
        let data = Data::Items(Rc::new(Items { held, proto: None, depth, nodes, lazy }));
        Array { shape: [n].as_slice().into(), data }.within_limits(budget).map(Some)
    }

    /// The items of `v` behind those of an item of this nested vector, where both lie if nobody
    /// else holds them. False, and nothing changed: as for `grow`, or the item is no vector.
    /// Errors: WS FULL, INTERRUPT, LIMIT, with nothing changed.
    pub fn grow_item(&mut self, at: usize, v: &Array, budget: &Budget) -> Result<bool> {
        let list = self.rank() == 1 && at < self.len() && v.depth() + 1 < MOST_DEPTH;
        let Data::Items(items) = &mut self.data else { return Ok(false) };
        let vector = |items: &Items| items.listed().is_some_and(|all| all[at].rank() == 1);
        if !list || !vector(items) {
            return Ok(false);
        }
        let items = Items::owned(items, 0, budget)?;
        let Held::Items(list) = &mut items.held else { return Ok(false) };
        let mut item = std::mem::replace(&mut list.items_mut()[at], Array::num(0.0));
        let (was, nodes) = (item.depth(), item.nodes());
        let grown = item.grow(v, budget);
        let (now, more) = (item.depth(), item.nodes().saturating_sub(nodes));
        debug_assert!(now >= was, "an item that grew is shallower");
        list.items_mut()[at] = item;
        items.depth = items.depth.max(now.saturating_add(1));
        items.nodes = items.nodes.saturating_add(more);
        items.lazy |= v.holds_lazy();
        grown
    }

    /// The first place of an item in this nested vector, or its length, by an index. None: the
    /// items have to be gone through. Errors: WS FULL, INTERRUPT.
    pub fn indexed_place(&self, item: &Array, budget: &Budget) -> Result<Option<usize>> {
        let Data::Items(items) = &self.data else { return Ok(None) };
        let (Held::Items(list), 1) = (&items.held, self.rank()) else { return Ok(None) };
        list.places.borrow_mut().first(list.items(), item, budget)
    }

    /// The cells of this nested vector that another one shows, which is it or a stretch of it.
    pub fn shown_by(&self, other: &Array) -> Option<Range<usize>> {
        let (Data::Items(own), Data::Items(other)) = (&self.data, &other.data) else { return None };
        if self.rank() != 1 {
            return None;
        }
        if Rc::ptr_eq(own, other) {
            return Some(0..own.len());
        }
        match (&own.held, &other.held) {
            (Held::Rows(all), Held::Rows(part)) if all.cell() == part.cell() => {
                let places = all.node.settled().buffer_part(&part.node.settled())?;
                let size = elements(all.cell()).max(1);
                return Some(places.start / size..places.end / size);
            }
            (Held::Ragged(all), Held::Ragged(part)) => return all.shown_by(part),
            _ => {}
        }
        let Held::Stretch(part) = &other.held else { return None };
        match &own.held {
            _ if Rc::ptr_eq(&part.of, own) => Some(part.range.clone()),
            Held::Stretch(mine) if Rc::ptr_eq(&part.of, &mine.of) => {
                let fits = mine.range.start <= part.range.start && part.range.end <= mine.range.end;
                let first = mine.range.start;
                fits.then(|| part.range.start - first..part.range.end - first)
            }
            _ => None,
        }
    }

    /// Whether the items are a vector of arrays that stand one by one, and nobody else holds it.
    pub fn is_own_list(&mut self) -> bool {
        match &mut self.data {
            Data::Items(items) if self.shape.len() == 1 => Items::claimed(items).is_some(),
            _ => false,
        }
    }

    /// This nested vector without all but some of its items, where it lies if nobody else holds it:
    /// what it no longer shows is let go. False, and nothing changed: as for `stretch`.
    pub fn narrow(&mut self, keep: Range<usize>) -> bool {
        if !self.is_own_list() {
            let part = self.stretch(keep);
            let done = part.is_some();
            part.into_iter().for_each(|part| *self = part);
            return done;
        }
        let Data::Items(items) = &mut self.data else { return false };
        let Some((depth, nodes)) = items.of_stretch(&keep) else { return false };
        let Some(items) = Items::claimed(items) else { return false };
        items.narrowed(&keep, depth, nodes);
        self.shape[0] = keep.len();
        true
    }

    /// True of a vector of arrays in a list, or in pieces of a vector, that nobody else holds.
    pub fn is_list_of_arrays(&mut self) -> bool {
        let is_own = self.is_own_list();
        let rank = self.rank();
        let Data::Items(items) = &mut self.data else { return false };
        if items.pieces().is_some() {
            return rank == 1 && Rc::get_mut(items).is_some();
        }
        let first = items.listed().and_then(<[Array]>::first);
        is_own && first.is_some_and(|a| !a.is_simple_scalar())
    }

    /// True of a nested array of several axes whose items stand one by one, and nobody else holds
    /// it.
    pub fn is_own_table(&mut self) -> bool {
        match &mut self.data {
            Data::Items(items) if self.shape.len() > 1 => Items::claimed(items).is_some(),
            _ => false,
        }
    }

    /// Some of the cells of such an array, or of one of numbers or characters.
    pub fn only(mut self, cells: Range<usize>) -> Array {
        if cells.len() == self.first_extent() {
            return self;
        }
        if let Some(part) = self.buffer_stretch(cells.clone()) {
            return part;
        }
        if let Data::Dense(held) = &self.data {
            let size = elements(&self.shape[1..]);
            let range = cells.start * size..cells.end * size;
            let mut shape = self.shape.clone();
            shape[0] = cells.len();
            return Array::dense(shape, Arc::new(Buf::part(held.view(), range)));
        }
        if self.narrow(cells.clone()) {
            return self;
        }
        let size = elements(&self.shape[1..]);
        let items = (cells.start * size..cells.end * size).map(|k| self.item(k)).collect();
        let mut shape = self.shape.clone();
        shape[0] = cells.len();
        Array::items(shape, items, None)
    }

    /// The items of `v` at an end of some of this nested vector's own, where they lie if nobody
    /// else holds them, else in one copy. False, and nothing changed: `v` is no vector or scalar,
    /// or pending, or nothing; what is kept is simple or nothing. Errors: WS FULL, INTERRUPT, with
    /// nothing changed.
    pub fn regrow(
        &mut self,
        keep: Range<usize>,
        v: &Array,
        end: End,
        budget: &Budget,
    ) -> Result<bool> {
        if self.rank() != 1 || v.rank() > 1 || v.is_empty() {
            return Ok(false);
        }
        let Data::Items(items) = &mut self.data else { return Ok(false) };
        let grown = Items::regrow(items, &keep, v, end, budget)?;
        if grown {
            self.shape[0] = keep.len() + v.len();
        }
        Ok(grown)
    }
}

impl Items {
    fn narrowed(&mut self, keep: &Range<usize>, depth: u32, nodes: u64) {
        if let Held::Items(list) = &mut self.held {
            list.narrow(keep);
        }
        (self.depth, self.nodes) = (depth, nodes);
    }

    /// Vectors behind pieces of a vector, which stay such. False, and nothing changed: these are
    /// others. Errors: WS FULL.
    fn lengthened(own: &mut Rc<Items>, more: &[Array], budget: &Budget) -> Result<bool> {
        if own.pieces().is_none() {
            return Ok(false);
        }
        if Rc::get_mut(own).is_none() {
            let Some(pieces) = own.pieces().cloned() else { return Ok(false) };
            let (held, proto) = (Held::Ragged(pieces), own.proto.clone());
            let (depth, nodes, lazy) = (own.depth, own.nodes, own.lazy);
            *own = Rc::new(Items { held, proto, depth, nodes, lazy });
        }
        let Some(items) = Rc::get_mut(own) else { return Ok(false) };
        let Held::Ragged(pieces) = &mut items.held else { return Ok(false) };
        let grown = pieces.extend(more, budget)?;
        if grown {
            items.nodes = items.nodes.saturating_add(more.len() as u64);
        }
        Ok(grown)
    }

    /// As `Array::regrow`, of arrays and of items of several kinds, which nothing that is added
    /// makes simple.
    pub(super) fn regrow(
        own: &mut Rc<Items>,
        keep: &Range<usize>,
        v: &Array,
        end: End,
        budget: &Budget,
    ) -> Result<bool> {
        if v.pending().is_some() || v.frame().is_some() {
            return Ok(false);
        }
        // What waited once and has its value no longer waits.
        let mut more = v.to_items(budget)?;
        more.iter_mut().filter(|a| matches!(a.data, Data::Lazy(_))).for_each(|a| *a = a.settled());
        if more.iter().any(|a| a.frame().is_some() || a.depth() >= MOST_DEPTH) {
            return Ok(false);
        }
        let whole = keep.len() == own.len();
        if !whole && own.listed().is_none() {
            // What goes at one end and comes at the other is a list from now on.
            Items::owned(own, more.len(), budget)?;
        }
        if !whole && own.of_stretch(keep).is_none() {
            return Ok(false);
        }
        let depth = more.iter().map(level).fold(1, u32::max);
        let nodes = more.iter().fold(0u64, |n, a| n.saturating_add(a.nodes()));
        let lazy = more.iter().any(Array::holds_lazy);
        if whole && end == End::Back && Items::lengthened(own, &more, budget)? {
            return Ok(true);
        }
        let items = Items::owned(own, more.len(), budget)?;
        let kept = if whole { None } else { items.of_stretch(keep) };
        let Held::Items(list) = &mut items.held else { return Ok(false) };
        list.widen(more.len(), end, budget)?;
        if let Some((depth, nodes)) = kept {
            items.narrowed(keep, depth, nodes);
        }
        let Held::Items(list) = &mut items.held else { return Ok(false) };
        list.put(more, end);
        items.depth = items.depth.max(depth);
        items.nodes = items.nodes.saturating_add(nodes);
        items.lazy |= lazy;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(k: usize) -> Array {
        Array::few_numbers(&[k as f64, 0.5])
    }

    fn list(n: usize) -> Array {
        Array::items([n].as_slice(), (0..n).map(pair).collect(), None)
    }

    fn enclosed(a: Array) -> Array {
        Array::items([].as_slice(), vec![a], None)
    }

    fn all(a: &Array) -> &[Array] {
        let Data::Items(items) = &a.data else { panic!("no nested array") };
        items.listed().expect("items that stand one by one")
    }

    /// An array tells of itself what one made anew would tell.
    fn is_true(a: &Array) {
        let anew = Array::items(a.shape(), a.in_turn().collect(), None);
        assert_eq!((a.depth(), a.nodes()), (anew.depth(), anew.nodes()));
    }

    #[test]
    fn a_list_that_nobody_else_holds_moves_a_few_times_however_long_it_gets() {
        let budget = Budget::new(1 << 30);
        // A list, a stack, and those of which one goes at the other end now and then.
        for (end, cuts) in [(End::Back, 0), (End::Front, 0), (End::Back, 3), (End::Front, 3)] {
            let (mut a, mut copies, mut place) = (list(2), 0, std::ptr::null());
            for k in 0..20_000 {
                let n = a.len();
                let keep = match end {
                    _ if cuts == 0 || k % cuts > 0 => 0..n,
                    End::Back => 1..n,
                    End::Front => 0..n - 1,
                };
                let gone = n - keep.len();
                assert!(a.regrow(keep, &enclosed(pair(k)), end, &budget).expect("room"));
                let items = all(&a).as_ptr_range();
                // The end that stays, as it would lie had nothing been moved.
                let now = match end {
                    End::Back => items.start.wrapping_sub(gone),
                    End::Front => items.end.wrapping_add(gone),
                };
                copies += usize::from(now != place);
                place = if end == End::Back { items.start } else { items.end };
            }
            assert!(copies < 40, "{copies} copies of {} items at the {end:?}", a.len());
            is_true(&a);
        }
    }

    #[test]
    fn what_others_see_of_a_list_stays() {
        let budget = Budget::new(1 << 20);
        let first = list(40);
        let mut a = first.clone();
        assert!(a.narrow(3..40));
        assert_eq!(all(&a).as_ptr(), all(&first)[3..].as_ptr(), "a stretch copies nothing");
        let held = a.clone();
        for (keep, end) in [(0..37, End::Back), (1..38, End::Front), (0..30, End::Back)] {
            assert!(a.regrow(keep, &enclosed(pair(9)), end, &budget).expect("room"));
            is_true(&a);
        }
        assert!(a.grow_item(5, &Array::num(7.0), &budget).expect("room"));
        assert_eq!((all(&a)[5].len(), all(&first)[7].len()), (3, 2));
        assert!(all(&held).iter().zip(&all(&first)[3..]).all(|(x, y)| x.is_one_with(y)));
        assert_eq!((first.len(), held.len(), a.len()), (40, 37, 31));
        // The rest of a list goes with who holds it last.
        let mut own = list(40);
        assert!(own.narrow(30..40) && own.is_own_list() && own.len() == 10);
        is_true(&own);
    }

    #[test]
    fn a_stretch_holds_on_to_little_and_is_no_simple_vector() {
        assert!(list(80).stretch(0..9).is_none() && list(80).stretch(0..10).is_some());
        let mixed = vec![pair(1), Array::num(2.0), Array::num(3.0)];
        let mut mixed = Array::items([3].as_slice(), mixed, None);
        assert!(mixed.stretch(1..3).is_none() && !mixed.narrow(1..3) && mixed.len() == 3);
        assert!(mixed.stretch(0..2).is_some());
    }

    #[test]
    fn an_index_knows_the_first_place_of_what_it_was_asked_twice() {
        let budget = Budget::new(1 << 24);
        let mut a = list(100);
        assert_eq!(a.indexed_place(&pair(7), &budget).expect("room"), None);
        // Halves are equal to others within ⎕CT.
        assert_eq!(a.indexed_place(&pair(7), &budget).expect("room"), None);
        let whole = |k: usize| Array::few_numbers(&[k as f64, 1.0]);
        a = Array::items([50].as_slice(), (0..100).step_by(2).map(whole).collect(), None);
        assert_eq!(a.indexed_place(&whole(8), &budget).expect("room"), None);
        assert_eq!(a.indexed_place(&whole(8), &budget).expect("room"), Some(4));
        assert!(a.regrow(0..50, &enclosed(whole(7)), End::Back, &budget).expect("room"));
        assert!(a.regrow(0..51, &enclosed(whole(8)), End::Back, &budget).expect("room"));
        for (k, place) in [(7, 50), (8, 4), (9, 52)] {
            assert_eq!(a.indexed_place(&whole(k), &budget).expect("room"), Some(place));
        }
        assert!(a.regrow(1..52, &enclosed(whole(9)), End::Front, &budget).expect("room"));
        assert_eq!(a.indexed_place(&whole(9), &budget).expect("room"), None);
        assert_eq!(a.indexed_place(&whole(9), &budget).expect("room"), Some(0));
        let text = Array::few_chars(vec!['a', 'b']);
        assert_eq!(a.indexed_place(&text, &budget).expect("room"), Some(52));
    }
}

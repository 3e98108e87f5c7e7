//! One flat vector cut into vectors of many lengths: words of a text, parts, groups.
//!
//! A nested vector whose items are such pieces holds no item of its own before somebody looks at
//! one. What is cut may be pieces itself: the fields of each line of a text.

use super::part::HOLDS;
use super::{Array, Buf, DType, Data, Shape, Storage, checked_elements, elements};
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use std::ops::Range;
use std::sync::Arc;

/// A flat vector and where its pieces end.
#[derive(Clone)]
pub struct Ragged {
    flat: Array,
    /// The ends of these pieces, among others, and the items of the others before them.
    ends: Arc<Vec<u32>>,
    own: Range<usize>,
    before: u32,
}

/// The storage of an array that has one; of others None.
pub fn storage(a: &Array) -> Option<&dyn Storage> {
    match a.data() {
        Data::Dense(b) => Some(&**b),
        _ => None,
    }
}

impl Ragged {
    /// The pieces that end at these places, in ascending order, of a ready vector of real numbers
    /// or characters, or of one whose items are pieces. None: there is no piece, or the array is no
    /// such vector, or has no items for one of the pieces, which would not know what it is empty
    /// of.
    pub fn new(flat: Array, ends: Vec<u32>) -> Option<Ragged> {
        let own = 0..ends.len();
        Ragged::cut(flat, Arc::new(ends), own, 0)
    }

    fn cut(flat: Array, ends: Arc<Vec<u32>>, own: Range<usize>, before: u32) -> Option<Ragged> {
        let last = ends[own.clone()].last();
        let fits = last.is_some_and(|&end| (end - before) as usize == flat.len());
        let ready = match (storage(&flat), flat.pieces()) {
            (Some(_), _) => !matches!(flat.dtype(), DType::Complex | DType::Nested),
            (None, Some(_)) => {
                let mut start = before;
                ends[own.clone()].iter().all(|&end| std::mem::replace(&mut start, end) < end)
            }
            (None, None) => false,
        };
        (fits && ready && flat.rank() == 1).then_some(Ragged { flat, ends, own, before })
    }

    /// The same cuts of another vector, which holds as much. None as for `new`.
    pub fn with(&self, flat: Array) -> Option<Ragged> {
        Ragged::cut(flat, self.ends.clone(), self.own.clone(), self.before)
    }

    /// The pieces of a ready vector that lie in these ranges, which ascend. None as for `new`.
    /// Errors: WS FULL.
    pub fn of(y: &Array, parts: &[Range<usize>], budget: &Budget) -> Result<Option<Ragged>> {
        if y.rank() != 1 || u32::try_from(y.len()).is_err() {
            return Ok(None);
        }
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Ok(None) };
        let total: usize = parts.iter().map(ExactSizeIterator::len).sum();
        if first.start == 0 && last.end == y.len() && total == y.len() {
            let ends = budget.each(parts.iter().map(|part| part.end as u32))?;
            return Ok(Ragged::new(y.clone(), ends));
        }
        ranges_of(y, parts.len(), || parts.iter().cloned(), budget)
    }

    /// So many ranges of one buffer, whatever their order. None as for `new`. Errors: WS FULL.
    fn of_ranges<I: Iterator<Item = Range<usize>>>(
        held: &dyn Storage,
        count: usize,
        ranges: impl Fn() -> I,
        budget: &Budget,
    ) -> Result<Option<Ragged>> {
        let (mut ends, mut end) = (budget.room(count)?, 0usize);
        for range in ranges() {
            end = end.saturating_add(range.len());
            ends.push(end as u32);
        }
        if u32::try_from(end).is_err() {
            return Ok(None);
        }
        let made = Buf::ranges(held, end, ranges(), budget)?;
        let flat = made.map(|made| Array::dense([end].as_slice(), Arc::new(made)));
        Ok(flat.and_then(|flat| Ragged::new(flat, ends)))
    }

    /// All pieces one behind the other.
    #[inline]
    pub fn flat(&self) -> &Array {
        &self.flat
    }

    /// The end of each piece.
    pub fn ends(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.ends[self.own.clone()].iter().map(|end| end - self.before)
    }

    /// The end of the k-th piece.
    #[inline]
    pub fn end(&self, k: usize) -> u32 {
        self.ends[self.own.clone()][k] - self.before
    }

    /// Whether the pieces of another vector are as many and as long.
    pub fn is_cut_as(&self, other: &Ragged) -> bool {
        Arc::ptr_eq(&self.ends, &other.ends) && self.own == other.own
            || self.ends().eq(other.ends())
    }

    /// The number of pieces.
    #[inline]
    pub fn count(&self) -> usize {
        self.own.len()
    }

    /// The places of the k-th piece.
    #[inline]
    pub fn range(&self, k: usize) -> Range<usize> {
        let start = if k == 0 { 0 } else { self.end(k - 1) };
        start as usize..self.end(k) as usize
    }

    /// Some of the pieces, without a copy. None: they are none or empty, or hold on to far more
    /// than they are.
    pub fn stretch(&self, pieces: Range<usize>) -> Option<Ragged> {
        let last = pieces.end.checked_sub(1)?;
        if pieces.len().saturating_mul(HOLDS) < self.ends.len() {
            return None;
        }
        let items = self.range(pieces.start).start..self.range(last).end;
        let before = self.before + items.start as u32;
        let own = self.own.start + pieces.start..self.own.start + pieces.end;
        let flat = match (items.len() == self.flat.len(), self.flat.pieces()) {
            (true, _) => self.flat.clone(),
            (false, None) => self.flat.buffer_stretch(items)?,
            (false, Some(_)) => self.flat.stretch(items)?,
        };
        Ragged::cut(flat, self.ends.clone(), own, before)
    }

    /// The pieces that another one shows, which is it or a stretch of it.
    pub fn shown_by(&self, other: &Ragged) -> Option<Range<usize>> {
        let within = self.own.start <= other.own.start && other.own.end <= self.own.end;
        let first = self.own.start;
        let is_cut_so = Arc::ptr_eq(&self.ends, &other.ends) && within;
        // Other pieces may be cut alike.
        self.flat.buffer_part(&other.flat).filter(|_| is_cut_so)?;
        Some(other.own.start - first..other.own.end - first)
    }

    /// The k-th piece as a vector.
    pub fn item(&self, k: usize) -> Array {
        let range = self.range(k);
        match (storage(&self.flat), self.flat.pieces()) {
            (Some(b), _) => {
                Array::dense([range.len()].as_slice(), Arc::new(Buf::part(b.view(), range)))
            }
            (None, Some(inner)) => {
                let n = range.len();
                match inner.stretch(range.clone()) {
                    Some(some) => some.items(&[n]),
                    None => {
                        Array::items([n].as_slice(), range.map(|k| inner.item(k)).collect(), None)
                    }
                }
            }
            (None, None) => self.flat.clone(),
        }
    }

    /// Whether what is cut are pieces again.
    pub fn is_of_pieces(&self) -> bool {
        self.flat.pieces().is_some()
    }

    /// Items of the flat vector as one. None: they hold too much. Errors: WS FULL.
    pub fn picked(&self, places: &[u32], budget: &Budget) -> Result<Option<Array>> {
        picked_of(&self.flat, places, budget)
    }

    /// Ranges of the flat vector as pieces. None as for `new`. Errors: WS FULL.
    pub fn ranges<I: Iterator<Item = Range<usize>>>(
        &self,
        count: usize,
        ranges: impl Fn() -> I,
        budget: &Budget,
    ) -> Result<Option<Ragged>> {
        ranges_of(&self.flat, count, ranges, budget)
    }

    /// The pieces at these places. None: they hold too much. Errors: WS FULL.
    pub fn taken(&self, places: &[u32], budget: &Budget) -> Result<Option<Ragged>> {
        self.ranges(places.len(), || places.iter().map(|&k| self.range(k as usize)), budget)
    }

    /// All pieces of several, one behind the other, if their types agree. Errors: WS FULL.
    pub fn joined(all: &[&Ragged], budget: &Budget) -> Result<Option<Ragged>> {
        let mut ends = budget.room(all.iter().map(|r| r.count()).sum())?;
        let inner: Option<Vec<&Ragged>> = all.iter().map(|r| r.flat.pieces()).collect();
        if let Some(inner) = inner {
            let mut before = 0u32;
            for r in all {
                ends.extend(r.ends().map(|own| before + own));
                before = ends.last().map_or(0, |end| *end);
            }
            let flat = Ragged::joined(&inner, budget)?.map(|made| made.items(&[before as usize]));
            return Ok(flat.and_then(|flat| Ragged::new(flat, ends)));
        }
        let mut wholes = budget.room(all.len())?;
        let mut before = 0u32;
        for r in all {
            let (Some(held), Ok(n)) = (storage(&r.flat), u32::try_from(r.flat.len())) else {
                return Ok(None);
            };
            let Some(end) = before.checked_add(n) else { return Ok(None) };
            ends.extend(r.ends().map(|own| before + own));
            wholes.push((held, 0..r.flat.len()));
            before = end;
        }
        let made = Buf::widened(&wholes, budget)?;
        let flat = made.map(|made| Array::dense([before as usize].as_slice(), Arc::new(made)));
        Ok(flat.and_then(|flat| Ragged::new(flat, ends)))
    }

    /// Puts vectors behind the pieces, in their own room where nobody else holds it. False, and
    /// nothing changed: one of them is no vector of the pieces' kind, or empty, or these are some
    /// among others. Errors: WS FULL, with nothing changed.
    pub fn extend(&mut self, more: &[Array], budget: &Budget) -> Result<bool> {
        let numbers = !self.flat.is_char();
        let fits = |a: &Array| {
            let kind = storage(a).is_some() && a.is_char() != numbers && !a.is_complex();
            kind && a.rank() == 1 && !a.is_empty()
        };
        let items: usize = more.iter().map(Array::len).sum();
        let short = u32::try_from(self.flat.len().saturating_add(items)).is_ok()
            && storage(&self.flat).is_some();
        if !(short && self.own == (0..self.ends.len()) && more.iter().all(fits)) {
            return Ok(false);
        }
        let mut ends = match Arc::get_mut(&mut self.ends) {
            Some(own) => std::mem::take(own),
            None => budget.each(self.ends.iter().copied())?,
        };
        let n = ends.len();
        let mut grown = budget.widen(&mut ends, more.len()).map(|()| true);
        for a in more {
            if matches!(grown, Ok(true)) {
                grown = self.flat.grow(a, budget);
                ends.push(self.flat.len() as u32);
            }
        }
        if !matches!(grown, Ok(true)) {
            ends.truncate(n);
            let before = ends.last().map_or(0, |end| *end as usize);
            self.flat = std::mem::replace(&mut self.flat, Array::num(0.0)).only(0..before);
        }
        (self.own, self.ends) = (0..ends.len(), Arc::new(ends));
        grown
    }

    /// The pieces as rows behind the axes of a shape, which has as many: shorter ones are filled.
    /// None: all are empty. Errors: WS FULL, LIMIT.
    pub fn padded(&self, shape: &[usize], budget: &Budget) -> Result<Option<Array>> {
        let longest = (0..self.count()).fold(0, |most, k| most.max(self.range(k).len()));
        if longest == 0 {
            return Ok(None);
        }
        self.fitted(longest, false, shape, budget)
    }

    /// So many items of each piece at its front, or at its back, as rows behind the axes of a
    /// shape, which has as many; short pieces are filled. None: they hold too much. Errors: WS
    /// FULL, LIMIT.
    pub fn fitted(
        &self,
        items: usize,
        back: bool,
        shape: &[usize],
        budget: &Budget,
    ) -> Result<Option<Array>> {
        let Some(held) = storage(&self.flat) else { return Ok(None) };
        let full: Shape = shape.iter().copied().chain([items]).collect();
        let total = checked_elements(&full)?;
        let fill = match self.flat.is_char() {
            true => Buf::chars(budget.filled(' ', items)?, budget)?,
            false => Buf::stored(&budget.filled(0.0, items)?, held.dtype(), budget)?,
        };
        drop(budget.charge_elements(total, held.dtype().size())?);
        let fill: &dyn Storage = &fill;
        let mut runs = budget.room(self.count().saturating_mul(2))?;
        for range in (0..self.count()).map(|k| self.range(k)) {
            let some = range.len().min(items);
            let short = (fill, 0..items - some);
            match back {
                true => runs.extend([short, (held, range.end - some..range.end)]),
                false => runs.extend([(held, range.start..range.start + some), short]),
            }
        }
        Ok(Buf::stretches(&runs, budget)?.map(|made| Array::dense(full, Arc::new(made))))
    }

    /// Stretches of storage as pieces. None: they are of several types, or hold too much. Errors:
    /// WS FULL.
    pub fn of_runs(
        runs: &[(&dyn Storage, Range<usize>)],
        budget: &Budget,
    ) -> Result<Option<Ragged>> {
        let (mut ends, mut ticks) = (budget.room(runs.len())?, budget.ticks());
        let mut end = 0u32;
        for (_, range) in runs {
            ticks.tick()?;
            let Some(next) = u32::try_from(range.len()).ok().and_then(|n| end.checked_add(n))
            else {
                return Ok(None);
            };
            end = next;
            ends.push(end);
        }
        Ok(Buf::widened(runs, budget)?.and_then(|made| {
            Ragged::new(Array::dense([end as usize].as_slice(), Arc::new(made)), ends)
        }))
    }

    /// As the items of a nested array of that shape, which has as many.
    pub fn items(self, shape: &[usize]) -> Array {
        debug_assert_eq!(elements(shape), self.count());
        Array::ragged(shape, self)
    }
}

/// Items of a vector that has a storage, or pieces, as one. None: it has neither, or they hold too
/// much. Errors: WS FULL.
fn picked_of(flat: &Array, places: &[u32], budget: &Budget) -> Result<Option<Array>> {
    let n = places.len();
    Ok(match (storage(flat), flat.pieces()) {
        (Some(held), _) => Buf::picked(held, places, budget)?
            .map(|made| Array::dense([n].as_slice(), Arc::new(made))),
        (None, Some(inner)) => inner.taken(places, budget)?.map(|made| made.items(&[n])),
        (None, None) => None,
    })
}

/// So many ranges of such a vector as pieces, whatever their order. None as for `Ragged::new`.
/// Errors: WS FULL.
fn ranges_of<I: Iterator<Item = Range<usize>>>(
    flat: &Array,
    count: usize,
    ranges: impl Fn() -> I,
    budget: &Budget,
) -> Result<Option<Ragged>> {
    if let Some(held) = storage(flat) {
        return Ragged::of_ranges(held, count, ranges, budget);
    }
    let mut places = budget.room(ranges().map(|range| range.len()).sum())?;
    let mut ends = budget.room(count)?;
    for range in ranges() {
        places.extend(range.map(|k| k as u32));
        ends.push(places.len() as u32);
    }
    Ok(picked_of(flat, &places, budget)?.and_then(|flat| Ragged::new(flat, ends)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces that others hold stay as they are; what does not fit changes nothing.
    #[test]
    fn pieces_get_longer_in_their_own_room() {
        let budget = Budget::new(1 << 20);
        let whole = |all: &[f64]| Array::few_numbers(all);
        let mut own = Ragged::new(whole(&[1.0, 2.0, 3.0]), vec![1, 3]).expect("pieces");
        let held = own.clone();
        for k in 0..50 {
            let more = [whole(&[f64::from(k) * 100.0]), whole(&[0.5, 7.0])];
            assert!(own.extend(&more, &budget).expect("room"));
        }
        assert_eq!((own.count(), own.flat().len(), held.count()), (102, 153, 2));
        assert_eq!(own.item(101).number_at(1), Some(7.0));
        let text = Array::few_chars(vec!['a']);
        assert!(!own.extend(&[whole(&[4.0]), text], &budget).expect("room"));
        assert!(!own.extend(&[whole(&[])], &budget).expect("room"));
        assert_eq!((own.count(), own.flat().len()), (102, 153));
        let mut part = own.stretch(1..60).expect("a stretch");
        assert!(!part.extend(&[whole(&[4.0])], &budget).expect("room"));
    }
}

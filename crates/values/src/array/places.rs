//! Places in a list of arrays: an index of what was looked up twice and only grew meanwhile.
//!
//! A loop that looks for words in a list and makes it longer would compare each with all of them.
//! Texts and vectors of whole numbers are equal only where they are the same, whatever ⎕CT is, so
//! they have one hash. The index holds the items up to where it was last asked, and those behind
//! are added when it is asked again.

use super::{Array, Data, View};
use aplomb_ground::error::Result;
use aplomb_ground::limits::{Budget, Charge};
use std::collections::HashMap;

/// The places of a list's items, as far as somebody asked for them.
#[derive(Default)]
pub(super) struct Places {
    /// Asked since the items last changed.
    asked: bool,
    /// Some item is equal to others than itself.
    mixed: bool,
    /// The number of items that are in it.
    upto: usize,
    firsts: HashMap<u64, u32>,
    room: Option<Charge>,
}

/// Bytes of an item in it, about.
const ITEM: usize = 32;
/// A shorter list is gone through.
const SHORT: usize = 16;

/// A hash of a text, or of whole numbers that no other ones are near to, in a vector or alone.
/// None: it is none of these.
fn hash(a: &Array) -> Option<u64> {
    let mix = |h: u64, x: u64| (h.rotate_left(23) ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let whole = |x: f64| {
        let k = x as i64;
        (k as f64 == x && k.unsigned_abs() < 1 << 31).then_some(k as u64)
    };
    let kind = |is_char: bool| mix(a.rank() as u64, u64::from(is_char));
    if a.rank() > 1 {
        return None;
    }
    match &a.data {
        Data::Num(x, _) => Some(mix(kind(false), whole(*x)?)),
        Data::Char(c) => Some(mix(kind(true), u64::from(u32::from(*c)))),
        Data::Dense(held) => match held.view() {
            View::Char(v) => {
                Some(v.iter().fold(kind(true), |h, c| mix(h, u64::from(u32::from(*c)))))
            }
            View::Complex(_) | View::F32(_) => None,
            view => view.each().try_fold(kind(false), |h, x| Some(mix(h, whole(x)?))),
        },
        _ => None,
    }
}

/// True of two arrays that have a hash and are the same.
fn is_same(a: &Array, b: &Array) -> bool {
    if a.shape != b.shape {
        return false;
    }
    match (&a.data, &b.data) {
        (Data::Num(x, _), Data::Num(y, _)) => x == y,
        (Data::Char(x), Data::Char(y)) => x == y,
        (Data::Dense(x), Data::Dense(y)) => match (x.view(), y.view()) {
            (View::Char(x), View::Char(y)) => x == y,
            (View::Char(_), _) | (_, View::Char(_)) => false,
            (x, y) => x.each().eq(y.each()),
        },
        _ => false,
    }
}

impl Places {
    /// The items change in another way than by getting more at the end.
    pub(super) fn forget(&mut self) {
        if self.asked {
            *self = Places::default();
        }
    }

    /// The first place of an item in the list, or its length. None: it has to be gone through, as
    /// it is when it is asked for the first time. Errors: WS FULL, INTERRUPT.
    pub(super) fn first(
        &mut self,
        list: &[Array],
        item: &Array,
        budget: &Budget,
    ) -> Result<Option<usize>> {
        let n = list.len();
        if n < SHORT || self.mixed || !std::mem::replace(&mut self.asked, true) {
            return Ok(None);
        }
        let Some(own) = hash(item) else { return Ok(None) };
        if n > self.firsts.capacity() {
            self.room = Some(budget.charge_elements(2 * n, ITEM)?);
            self.firsts.reserve(2 * n - self.firsts.len());
        }
        let mut ticks = budget.ticks();
        for k in self.upto..n {
            ticks.spend(list[k].len().max(1))?;
            let Some(own) = hash(&list[k]) else {
                *self = Places { asked: true, mixed: true, ..Places::default() };
                return Ok(None);
            };
            self.upto = k + 1;
            if let Err(free) = self.look(own, list, &list[k]) {
                self.firsts.insert(free, k as u32);
            }
        }
        Ok(Some(self.look(own, list, item).map_or(n, |k| k as usize)))
    }

    /// The place of an item, or the hash under which it would stand: another one of the same hash
    /// stands under the next.
    fn look(&self, hash: u64, list: &[Array], item: &Array) -> Result<u32, u64> {
        let mut own = hash;
        loop {
            match self.firsts.get(&own) {
                None => return Err(own),
                Some(&k) if is_same(&list[k as usize], item) => return Ok(k),
                Some(_) => own = own.wrapping_add(1),
            }
        }
    }
}

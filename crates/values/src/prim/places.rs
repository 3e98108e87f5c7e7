//! A table of numbers and where they stand first, for searches with ⎕CT.
//!
//! Open addressing with steps of one: a lookup of what is not crowded reads one line of memory,
//! which holds the number and its place, and several lookups wait for their lines together.

use super::library::same;
use std::ops::Range;

/// A number and its place.
#[derive(Clone, Copy)]
struct Slot {
    x: f64,
    at: usize,
}

/// The place in a slot where no number is.
const FREE: usize = usize::MAX;

/// Slots of a table that holds nothing yet.
const LEAST: usize = 64;

/// The places of a list's numbers, for lookups with ⎕CT: a share of them.
///
/// The line of numbers is cut into cells that are so wide that what equals a number lies in its own
/// or in the next one: a cell is at least as wide as 64 tolerances of the least number of its
/// binade. A lookup goes through the cells that the tolerance reaches, compares each number that it
/// finds there, and takes the least place; so it finds the first that is equal, however many shares
/// there are.
pub struct Places<'a> {
    have: &'a [f64],
    ct: f64,
    /// Bits of a number that do not tell its cell.
    drop: u32,
    share: usize,
    shares: usize,
    /// One place of each value, the first; a power of two of them, at least half of them free.
    slots: Vec<Slot>,
    count: usize,
}

impl<'a> Places<'a> {
    /// At most, for an item of the list, while a table grows.
    pub const BYTES: usize = 6 * size_of::<Slot>();

    /// Numbers whose lines of memory are asked for together.
    pub const TOGETHER: usize = 16;

    /// Share number `share` of `shares`, of nothing yet. `ct`: at most 2*¯32.
    pub fn new(have: &'a [f64], ct: f64, share: usize, shares: usize) -> Places<'a> {
        // From 64 ⎕CTs of the least number of its binade a cell has, so that few lookups need two.
        let drop = if ct > 0.0 { (58.0 + ct.log2()).ceil().clamp(0.0, 51.0) as u32 } else { 0 };
        let slots = vec![Slot { x: 0.0, at: FREE }; LEAST];
        Places { have, ct, drop, share, shares: shares.max(1), slots, count: 0 }
    }

    /// Takes up what of these places is in this share; ranges come in their order.
    pub fn add(&mut self, range: Range<usize>) {
        let Places { have, share, shares, .. } = *self;
        for k in range.filter(|k| !have[*k].is_nan()) {
            let own = mixed(cell(have[k], self.drop));
            if at_share(own, shares) == share {
                let slot = self.slot_of(own, have[k]);
                if self.slots[slot].at == FREE {
                    self.fill(slot, have[k], k);
                }
            }
        }
    }

    /// The first place of a number that equals the one at this place, which is taken up if there is
    /// none before; no NaN is. Of a table that is no share, whose places come in their order.
    pub fn first_or_add(&mut self, at: usize) -> usize {
        let x = self.have[at];
        let slot = self.slot_of(mixed(cell(x, self.drop)), x);
        // The number itself: nothing else here equals it, or one of both would not be here.
        if self.slots[slot].at != FREE {
            return self.slots[slot].at;
        }
        if let Some(first) = Places::first(std::slice::from_ref(self), x) {
            return first;
        }
        if !x.is_nan() {
            self.fill(slot, x, at);
        }
        at
    }

    /// Reads the lines where these numbers would be, so that the memory brings them at once.
    pub fn ask(&self, some: &[f64]) {
        let line =
            |x: &f64| self.slots[mixed(cell(*x, self.drop)) as usize & (self.slots.len() - 1)];
        let all = some.iter().fold(0, |all, x| all ^ line(x).at);
        std::hint::black_box(all);
    }

    /// The slot of a number, or the free one where it would be.
    fn slot_of(&self, own: u64, x: f64) -> usize {
        let last = self.slots.len() - 1;
        let mut k = own as usize & last;
        while self.slots[k].at != FREE && self.slots[k].x != x {
            k = (k + 1) & last;
        }
        k
    }

    fn fill(&mut self, slot: usize, x: f64, at: usize) {
        self.slots[slot] = Slot { x, at };
        self.count += 1;
        if self.count * 2 > self.slots.len() {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let more = vec![Slot { x: 0.0, at: FREE }; self.slots.len() * 2];
        for slot in std::mem::replace(&mut self.slots, more) {
            if slot.at != FREE {
                let own = self.slot_of(mixed(cell(slot.x, self.drop)), slot.x);
                self.slots[own] = slot;
            }
        }
    }

    /// The first place of a number that equals x, in all shares of a list together.
    pub fn first(shares: &[Places], x: f64) -> Option<usize> {
        let Places { ct, drop, .. } = *shares.first()?;
        // Twice the tolerance, for what is rounded here. An infinity equals itself alone.
        let by = if x.is_finite() { 2.0 * ct * x.abs() } else { 0.0 };
        let (a, b) = (cell(x - by, drop), cell(x + by, drop));
        let mut first = FREE;
        for at in a.min(b)..=a.max(b) {
            let own = mixed(at);
            let slots = &shares[at_share(own, shares.len())].slots;
            let mut k = own as usize & (slots.len() - 1);
            while slots[k].at != FREE {
                if same(slots[k].x, x, ct) {
                    first = first.min(slots[k].at);
                }
                k = (k + 1) & (slots.len() - 1);
            }
        }
        Some(first).filter(|at| *at != FREE)
    }
}

/// The cell of a number; neighbours of one sign have neighbouring numbers.
fn cell(x: f64, drop: u32) -> u64 {
    (x + 0.0).to_bits() >> drop
}

/// Spread over all bits, because tables look at the ends and shares at the middle.
fn mixed(cell: u64) -> u64 {
    let h = (cell ^ cell >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let h = (h ^ h >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h ^ h >> 32
}

fn at_share(hash: u64, shares: usize) -> usize {
    (hash >> 32 & 0xff_ffff) as usize % shares
}

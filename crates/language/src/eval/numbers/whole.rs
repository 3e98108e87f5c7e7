//! Steps on all items of the lists that a call has: what a recursion on short vectors is made of.
//!
//! A quicksort's `(⍵<p)/⍵` takes the evaluator half a microsecond a function, whose arguments might
//! be anything; here it is a loop over a few floats, whose result lies in memory that the last call
//! so deep has left. The functions are the evaluator's (`Host::apply`, `prim`): what they find
//! suspect goes item by item, and what fails there ends the run.
//!
//! Lists of calls hold a charge that is counted anew whenever as much was asked for as `ASKED`: so
//! what is not charged is bounded, and few of them cost nothing.

use super::machine::{LOOK, Machine};
use super::program::{List, Program};
use super::sought::{self, Sought, unique};
use super::stretches::Stretch;
use crate::eval::cx::SMALL;
use crate::eval::host::Host;
use crate::eval::system::case_of;
use aplomb_ground::error::Result;
use aplomb_ground::limits::{Budget, Charge};
use aplomb_values::array::{DType, View};
use aplomb_values::prim::draws::{draw, under};
use aplomb_values::prim::library::{first_of, order_key};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::{self, Src, near_integer};
use aplomb_values::prim::short::{one, two};
use aplomb_values::prim::{reduce, scan};
use aplomb_values::registers::{Many, OnList};

/// Bytes that lists may take before what they all hold is counted.
const ASKED: usize = 1 << 20;
/// Fewer items go one by one: the way to the loops of vectors takes as long as some of them.
const FEW: usize = 12;
/// Characters of a number of six digits.
const DIGITS: usize = 8;
/// Items of a list that is made here, and of one that is sorted: nothing of more is done without a
/// look at the interrupt.
pub(super) const MOST: (usize, usize) = (1 << 22, 1 << 18);
/// The memory of the lists that calls have.
#[derive(Default)]
pub(super) struct Memory {
    /// Bytes that were asked for since it was counted.
    asked: usize,
    held: Option<Charge>,
}

impl Machine {
    /// Asks for so many bytes for a list. Errors: WS FULL, INTERRUPT.
    pub(super) fn asks(&mut self, bytes: usize, budget: &Budget) -> Result<()> {
        self.memory.asked = self.memory.asked.saturating_add(bytes);
        if self.memory.asked < ASKED {
            return Ok(());
        }
        budget.has_room(bytes as u64)?;
        self.memory.asked = 0;
        let items: usize = self.own.iter().chain(&self.passed.lists).map(Stretch::share).sum();
        self.memory.held = None;
        self.memory.held = Some(budget.charge((items * size_of::<f64>() + bytes) as u64)?);
        Ok(())
    }

    /// An empty vector with room for n items, which the list had if nobody else holds it. None:
    /// there is no room, or they are too many.
    fn emptied(&mut self, at: usize, n: usize, budget: &Budget) -> Option<Vec<f64>> {
        (n <= MOST.0).then_some(())?;
        let mut out = self.own[at].taken();
        if out.capacity() < n {
            self.asks(n.saturating_mul(size_of::<f64>()), budget).ok()?;
            out.try_reserve(n).ok()?;
        }
        self.calls += n / LOOK;
        Some(out)
    }

    /// A list gets its items.
    fn fills(&mut self, at: usize, items: Vec<f64>) {
        self.own[at].fill(items);
    }

    fn items(&self, at: usize) -> &[f64] {
        self.own[at].items()
    }

    /// Counts a search through so many items. None: somebody interrupts.
    fn searched(&mut self, items: usize, budget: &Budget) -> Option<()> {
        self.calls += items / LOOK;
        budget.check().ok()
    }

    /// A step on all items. None: only the evaluator goes on from here.
    pub(super) fn on_items(
        &mut self,
        on: OnList,
        (base, first): (usize, usize),
        (host, program): (&dyn Host, &Program),
    ) -> Option<()> {
        let (budget, ct) = (host.budget(), self.ct);
        let own = |of: u16| first + of as usize;
        match on {
            OnList::Map { op, into, x, y } => {
                let made = self.mapped((op, own(into)), x, y, (base, first), host)?;
                self.fills(own(into), made);
            }
            OnList::Fold { op, into, of } => {
                let items = self.items(own(of));
                let mut out = [0.0];
                if items.len() < 2 || !host.fold((op, DType::F64), items, items.len(), &mut out) {
                    out = [reduce::fold(op, 0.0, items, true, DType::F64).ok()?];
                }
                out[0].is_finite().then_some(())?;
                self.registers[base + into as usize] = out[0];
            }
            OnList::Scan { op, into, of } => {
                let mut out = self.copy((own(of), own(into)), budget)?;
                let (n, mut fine) = (out.len(), true);
                scan::along(op, &mut out, &[n], 0, &mut |_, _| fine = false);
                fine.then_some(())?;
                self.fills(own(into), out);
            }
            OnList::Pairs { op, into, of, turned } => {
                let n = self.items(own(of)).len().checked_sub(1)?;
                let mut out = self.emptied(own(into), n, budget)?;
                for pair in self.items(own(of)).windows(2) {
                    let (x, y) = if turned { (pair[1], pair[0]) } else { (pair[0], pair[1]) };
                    out.push(two(op, ct, x, y)?);
                }
                self.fills(own(into), out);
            }
            OnList::Select { into, of, by } => {
                self.select((own(into), own(of)), by, (base, first), budget)?;
            }
            OnList::Take { into, of, n, fill } => {
                let n = near_integer(self.read(base, n), ct)?;
                let size = usize::try_from(n.unsigned_abs()).ok()?;
                let have = self.own[own(of)].len();
                if size <= have {
                    let mut list = self.own[own(of)].clone();
                    list.cut(if n < 0 { have - size } else { 0 }, size);
                    self.own[own(into)] = list;
                    return Some(());
                }
                let mut out = self.emptied(own(into), size, budget)?;
                let items = self.items(own(of));
                let kept = items.len();
                if n < 0 {
                    fill_up(&mut out, size - kept, fill);
                    out.extend_from_slice(&items[items.len() - kept..]);
                } else {
                    out.extend_from_slice(&items[..kept]);
                    fill_up(&mut out, size, fill);
                }
                self.fills(own(into), out);
            }
            OnList::Part { into, of, from, take, fill } => {
                let from = near_integer(self.read(base, from), ct)?;
                let all = self.lists[of as usize].len();
                let gone = (from.unsigned_abs() as usize).min(all);
                let range = if from < 0 { 0..all - gone } else { gone..all };
                let n = match take {
                    Some(take) => near_integer(self.read(base, take), ct)?,
                    None => range.len() as i64,
                };
                let size = usize::try_from(n.unsigned_abs()).ok()?;
                let mut out = self.emptied(own(into), size, budget)?;
                let kept = size.min(range.len());
                if n < 0 {
                    fill_up(&mut out, size - kept, fill);
                    self.lists[of as usize].copy(range.end - kept..range.end, &mut out)?;
                } else {
                    self.lists[of as usize].copy(range.start..range.start + kept, &mut out)?;
                    fill_up(&mut out, size, fill);
                }
                self.fills(own(into), out);
            }
            OnList::Cycle { into, of, n } => {
                let n = usize::try_from(near_integer(self.read(base, n), ct)?).ok()?;
                let mut out = self.emptied(own(into), n, budget)?;
                match of {
                    Many::One(y) => fill_up(&mut out, n, self.read(base, y)),
                    Many::All(of) => {
                        let items = self.items(own(of));
                        (n == 0 || !items.is_empty()).then_some(())?;
                        out.extend(items.iter().cycle().take(n));
                    }
                }
                self.fills(own(into), out);
            }
            OnList::Iota { into, n } => {
                let n = usize::try_from(near_integer(self.read(base, n), ct)?).ok()?;
                let mut out = self.emptied(own(into), n, budget)?;
                out.extend((0..n).map(|k| k as f64 + self.io));
                self.fills(own(into), out);
            }
            OnList::Where { into, of } => {
                let n = self.own[own(of)].len();
                let mut out = self.emptied(own(into), n, budget)?;
                for (k, &x) in self.items(own(of)).iter().enumerate() {
                    match x {
                        0.0 => {}
                        1.0 => out.push(k as f64 + self.io),
                        _ => return None,
                    }
                }
                self.fills(own(into), out);
            }
            OnList::At { into, of, at, program } => {
                let n = self.own[own(at)].len();
                let mut out = self.emptied(own(into), n, budget)?;
                let extent = match program {
                    true => self.lists[of as usize].len(),
                    false => self.items(own(of)).len(),
                };
                let place = |at: &f64| scalar::place(*at, self.io, extent, ct).ok();
                let places = self.items(own(at)).iter().map(place);
                match program {
                    true => self.lists[of as usize].take(places, &mut out)?,
                    false => View::F64(self.items(own(of))).numbers_at(places, &mut out)?,
                }
                self.fills(own(into), out);
            }
            OnList::Grade { into, of, down } => {
                let n = self.items(own(of)).len();
                (n <= MOST.1).then_some(())?;
                self.asks(n.saturating_mul(32), budget).ok()?;
                let mut out = self.emptied(own(into), n, budget)?;
                // Two lists in order that were put together are found to be so by a stable sort.
                let flip = if down { u64::MAX } else { 0 };
                let keys = self.items(own(of)).iter().map(|x| order_key(*x) ^ flip);
                let mut places: Vec<(u64, u32)> = keys.zip(0..).collect();
                places.sort_by_key(|place| place.0);
                out.extend(places.iter().map(|place| f64::from(place.1) + self.io));
                self.fills(own(into), out);
            }
            OnList::Place { into, of, y } => {
                let y = self.read(base, y);
                let items = self.own[own(of)].items();
                self.calls += items.len() / LOOK;
                let k = first_of(items, y, ct).map_or(items.len(), |k| k);
                self.registers[base + into as usize] = k as f64;
            }
            OnList::Places { into, of, y, is } => {
                let (n, times) = (self.own[own(of)].len(), self.own[own(y)].len());
                self.asks(sought::bytes(n, times)?, budget).ok()?;
                let mut out = self.emptied(own(into), times, budget)?;
                let items = Sought::new(self.items(own(of)), times, ct);
                out.extend(self.items(own(y)).iter().map(|y| match (items.first(*y), is) {
                    (k, true) => f64::from(u8::from(k.is_some())),
                    (k, false) => k.map_or(n, |k| k) as f64 + self.io,
                }));
                drop(items);
                self.searched(n + times, budget)?;
                self.fills(own(into), out);
            }
            OnList::Without { into, of, y } => {
                let (n, times) = (self.own[own(y)].len(), self.own[own(of)].len());
                self.asks(sought::bytes(n, times)?, budget).ok()?;
                let mut out = self.emptied(own(into), times, budget)?;
                let others = Sought::new(self.items(own(y)), times, ct);
                let items = self.items(own(of)).iter().copied();
                out.extend(items.filter(|x| others.first(*x).is_none()));
                drop(others);
                self.searched(n + times, budget)?;
                self.fills(own(into), out);
            }
            OnList::Unique { into, of } => {
                let n = self.own[own(of)].len();
                self.asks(sought::bytes(n, n)?, budget).ok()?;
                let mut out = self.emptied(own(into), n, budget)?;
                unique(self.items(own(of)), ct, &mut out);
                self.searched(n, budget)?;
                self.fills(own(into), out);
            }
            OnList::Same { into, of, with } => {
                let (x, y) = (self.own[own(of)].items(), self.own[own(with)].items());
                let mut pairs = x.iter().zip(y.iter());
                let equal = |(x, y): (&f64, &f64)| two(Op::Eq, ct, *x, *y) == Some(1.0);
                let same = x.len() == y.len() && pairs.all(equal);
                self.calls += x.len() / LOOK;
                self.registers[base + into as usize] = f64::from(u8::from(same));
            }
            OnList::Roll { into, n } => {
                let n = near_integer(self.read(base, n), ct).filter(|n| *n > 0)?;
                let (seed, drawn) = self.generator?;
                let z = under(draw(seed, drawn + 1), n as u64) as f64 + self.io;
                self.generator = Some((seed, drawn + 1));
                self.registers[base + into as usize] = z;
            }
            OnList::Name { slot, of } => {
                let List::Own(old, None) = &mut self.lists[slot as usize] else { return None };
                let mut items = std::mem::take(old);
                let new = self.own[own(of)].items();
                items.clear();
                budget.widen(&mut items, new.len()).ok()?;
                items.extend(new.iter());
                self.lists[slot as usize] = List::Own(items, None);
            }
            OnList::Append { slot, of } => {
                let List::Own(items, None) = &mut self.lists[slot as usize] else { return None };
                let new = self.own[own(of)].items();
                budget.widen(items, new.len()).ok()?;
                items.extend(new.iter());
            }
            OnList::AddRow { slot, of } => {
                let new = self.own[own(of)].items();
                let List::Own(items, Some([rows, columns])) = &mut self.lists[slot as usize] else {
                    return None;
                };
                (new.len() == *columns && *columns > 0).then_some(())?;
                budget.widen(items, new.len()).ok()?;
                items.extend(new.iter());
                *rows += 1;
            }
            OnList::Prepend { slot, y } => {
                let y = self.read(base, y);
                let List::Own(items, None) = &mut self.lists[slot as usize] else { return None };
                budget.widen(items, 1).ok()?;
                self.calls += items.len() / LOOK;
                items.insert(0, y);
            }
            OnList::Intern { into, of } => {
                let mut texts = program.texts.borrow_mut();
                let (number, is_new) = texts.number_of(self.items(own(of)), budget)?;
                let n = self.own[own(of)].len();
                if let (true, Some(lengths)) = (is_new, program.lengths) {
                    let List::Own(all, _) = &mut self.lists[lengths as usize] else { return None };
                    budget.widen(all, 1).ok()?;
                    all.push(n as f64);
                }
                self.registers[base + into as usize] = number;
            }
            OnList::Spell { into, y } => {
                let y = self.read(base, y);
                let texts = program.texts.borrow();
                let text = texts.spelled(y)?;
                let mut out = self.emptied(own(into), text.len(), budget)?;
                (text.rank() == 1).then_some(())?;
                out.extend((0..text.len()).map_while(|k| text.number_at(k)));
                self.fills(own(into), out);
            }
            OnList::Digits { into, y } => {
                let x = self.read(base, y);
                // Others may have an exponent, or as many digits as ⎕PP says.
                (x.fract() == 0.0 && x.abs() < 1e6 && self.pp > 6).then_some(())?;
                let mut out = self.emptied(own(into), DIGITS, budget)?;
                let mut rest = x.abs() as u32;
                loop {
                    out.push(f64::from(rest % 10 + u32::from('0')));
                    rest /= 10;
                    if rest == 0 {
                        break;
                    }
                }
                if x < 0.0 {
                    out.push(f64::from(u32::from('¯')));
                }
                out.reverse();
                self.fills(own(into), out);
            }
            OnList::Case { into, y, to } => {
                let c = char::from_u32(self.read(base, y) as u32)?;
                let c = f64::from(u32::from(case_of(c, to)));
                self.registers[base + into as usize] = c;
            }
            OnList::Fixed { into, of } => {
                let n = of.map_or(0, |of| self.lists[of as usize].len());
                // What is done to all items of a longer one is worth a launch.
                (n <= SMALL).then_some(())?;
                let mut out = self.emptied(own(into), n, budget)?;
                if let Some(of) = of {
                    self.lists[of as usize].copy(0..n, &mut out)?;
                }
                self.fills(own(into), out);
            }
            OnList::Item { .. }
            | OnList::End { .. }
            | OnList::Tally { .. }
            | OnList::Join { .. }
            | OnList::Both { .. }
            | OnList::Drop { .. }
            | OnList::Turn { .. }
            | OnList::Reverse { .. }
            | OnList::Set { .. } => return None,
        }
        Some(())
    }

    /// The items of a list in the memory of another.
    fn copy(&mut self, (of, into): (usize, usize), budget: &Budget) -> Option<Vec<f64>> {
        let mut out = self.emptied(into, self.own[of].len(), budget)?;
        out.extend_from_slice(self.items(of));
        Some(out)
    }

    /// `x op y`, or `op y`.
    fn mapped(
        &mut self,
        (op, into): (Op, usize),
        x: Option<Many>,
        y: Many,
        (base, first): (usize, usize),
        host: &dyn Host,
    ) -> Option<Vec<f64>> {
        let size = |machine: &Self, many: Many| match many {
            Many::One(_) => None,
            Many::All(of) => Some(machine.items(first + of as usize).len()),
        };
        // A vector of one item goes with all of the other's.
        let n = match (x.and_then(|x| size(self, x)), size(self, y)) {
            (None, n) | (n, None) => n?,
            (Some(m), Some(n)) if m == n || n == 1 => m,
            (Some(1), Some(n)) => n,
            _ => return None,
        };
        let mut out = self.emptied(into, n, host.budget())?;
        let source = |machine: &'_ Self, many: Many| match many {
            Many::One(y) => Err(machine.read(base, y)),
            Many::All(of) => match machine.items(first + of as usize) {
                [y] if n != 1 => Err(*y),
                _ => Ok(first + of as usize),
            },
        };
        let (x, y) = (x.map(|x| source(self, x)), source(self, y));
        let src = |of: Result<usize, f64>| match of {
            Ok(at) => Src::Many(self.items(at)),
            Err(y) => Src::One(y),
        };
        let (left, right) = (x.map_or(src(y), src), src(y));
        if n >= FEW {
            fill_up(&mut out, n, 0.0);
            if host.apply((op, DType::F64), self.ct, left, right, &mut out) {
                return Some(out);
            }
            out.clear();
        }
        let item = |of: Src<'_>, k: usize| match of {
            Src::One(y) => y,
            Src::Many(items) => items[k],
        };
        for k in 0..n {
            out.push(match x {
                Some(_) => two(op, self.ct, item(left, k), item(right, k))?,
                None => one(op, self.ct, item(right, k))?,
            });
        }
        Some(out)
    }

    /// `by/of`
    fn select(
        &mut self,
        (into, of): (usize, usize),
        by: Many,
        (base, first): (usize, usize),
        budget: &Budget,
    ) -> Option<()> {
        let (ct, all) = (self.ct, self.own[of].len());
        let count = |x: f64| match x {
            0.0 => Some(0),
            1.0 => Some(1),
            x => usize::try_from(near_integer(x, ct)?).ok(),
        };
        let (times, by) = match by {
            Many::One(y) => (Some(count(self.read(base, y))?), None),
            Many::All(by) => match self.own[first + by as usize].len() {
                1 => (Some(count(self.items(first + by as usize)[0])?), None),
                _ => (None, Some(first + by as usize)),
            },
        };
        let Some(by) = by else {
            let times = times?;
            let mut out = self.emptied(into, all.saturating_mul(times), budget)?;
            self.items(of).iter().for_each(|x| out.extend(std::iter::repeat_n(*x, times)));
            self.fills(into, out);
            return Some(());
        };
        let n = self.own[by].len();
        (n == all || all == 1).then_some(())?;
        let mut out = self.emptied(into, n, budget)?;
        let (items, mask) = (self.items(of), self.items(by));
        // Each item is written, wanted or not: no branch hangs on a mask.
        if all == n && mask.iter().all(|x| *x == 0.0 || *x == 1.0) {
            fill_up(&mut out, n, 0.0);
            let mut at = 0;
            for (x, item) in mask.iter().zip(items) {
                out[at] = *item;
                at += *x as usize;
            }
            out.truncate(at);
            self.fills(into, out);
            return Some(());
        }
        for (k, &x) in mask.iter().enumerate() {
            let item = items[if all == 1 { 0 } else { k }];
            match x {
                0.0 => {}
                1.0 => out.push(item),
                x => {
                    let times = count(x).filter(|n| n.saturating_add(out.len()) <= MOST.0)?;
                    budget.widen(&mut out, times).ok()?;
                    out.extend(std::iter::repeat_n(item, times));
                }
            }
        }
        self.fills(into, out);
        Some(())
    }
}

/// As many items as there is room for, the last of them all the same.
fn fill_up(out: &mut Vec<f64>, n: usize, fill: f64) {
    out.extend(std::iter::repeat_n(fill, n.saturating_sub(out.len())));
}

//! The names that turns of a loop send something to (`r,←e`, `r+←e`, `r[i]←e`), at its end.
//!
//! The name is read by no turn, so it need not be there before: what comes to it is known for all
//! turns, and goes there in their order, each as the evaluator would put it.

use super::body::Call;
use super::one_by_one::{fold, scan};
use super::{Cells, Flat, refuse};
use crate::eval::run::At;
use crate::eval::value::Value;
use crate::functions::groups::{gathered, runs};
use crate::functions::join::{catenate_first, catenate_last};
use crate::syntax::ast::Sym;
use crate::syntax::resolve::{Do, FExpr, Ins};
use crate::table::Prim;
use aplomb_ground::error::{Result, bug};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Changing, DType, Ragged, storage};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::short::two;
use std::rc::Rc;

/// Something that a statement sends to a name, from all turns that come to it.
pub(super) struct Event {
    pub sym: Sym,
    /// The loop, and the statement.
    block: usize,
    step: usize,
    /// The turns; None: all.
    turns: Option<Rc<[u32]>>,
    /// An item for each.
    list: Array,
    what: Sent,
}

enum Sent {
    /// Items of it, or itself as an item.
    Joined { whole: bool },
    /// A row of a matrix.
    Below,
    /// `r op←e`
    By(Op),
    /// `r[i;j]←e`, `r[i;j]op←e`
    Put { at: Vec<Option<Cells>>, op: Option<Op> },
}

impl Event {
    /// The turn that its k-th item is of.
    fn turn(&self, k: usize) -> u32 {
        self.turns.as_ref().map_or(k as u32, |turns| turns[k])
    }
}

/// The order of what statements send: whose turn comes first, and in a turn the statement that
/// stands first.
enum Order {
    /// One statement's so many items, as they are.
    One(usize),
    /// The statement and its item.
    Many(Vec<(u32, u32)>),
}

impl Order {
    fn of(events: &[&Event], budget: &Budget) -> Result<Order> {
        let total = events.iter().map(|e| e.list.len()).sum();
        if events.len() == 1 {
            return Ok(Order::One(total));
        }
        let (mut out, mut ticks) = (budget.room(total)?, budget.ticks());
        let mut heads: Vec<usize> = events.iter().map(|_| 0).collect();
        for _ in 0..total {
            ticks.tick()?;
            let left = (0..events.len()).filter(|&e| heads[e] < events[e].list.len());
            let Some(e) = left.min_by_key(|&e| (events[e].turn(heads[e]), events[e].step)) else {
                return Err(bug!("items of a statement are none's"));
            };
            out.push((e as u32, heads[e] as u32));
            heads[e] += 1;
        }
        Ok(Order::Many(out))
    }

    fn each(&self) -> impl ExactSizeIterator<Item = (usize, usize)> + '_ {
        let n = match self {
            Order::One(n) => *n,
            Order::Many(all) => all.len(),
        };
        (0..n).map(|k| match self {
            Order::One(_) => (0, k),
            Order::Many(all) => (all[k].0 as usize, all[k].1 as usize),
        })
    }
}

/// A primitive that a step calls or modifies by.
fn prim(f: &FExpr) -> Option<&'static Prim> {
    match f {
        FExpr::Prim(p) => Some(p),
        _ => None,
    }
}

/// The name that code changes last of all, in a way that need not know what it held.
pub(super) fn changed_by(code: &[Ins]) -> Option<Sym> {
    let (last, before) = code.split_last()?;
    match &last.what {
        Do::Modify(sym, f) => prim(f).map(|_| *sym),
        Do::Append(sym, joins) => matches!(joins.glyph, ',' | '⍪').then_some(*sym),
        Do::AssignIndex { sym, f, .. } => match f {
            None => Some(*sym),
            Some(f) => prim(f).and_then(|p| p.scalar(true)).map(|_| *sym),
        },
        Do::Assign(sym) => match before {
            [.., name, op] => match (&name.what, &op.what) {
                (Do::Name(read), Do::Dyad(f)) if read == sym => {
                    prim(f).and_then(|p| p.scalar(true)).map(|_| *sym)
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

impl Flat<'_, '_> {
    /// A statement that sends something to a name from the turns of now.
    pub(super) fn send(
        &mut self,
        call: &Rc<Call>,
        ins: &[Ins],
        sym: Sym,
        (step, here): (usize, &Option<Rc<[u32]>>),
    ) -> Result<()> {
        let Some((last, before)) = ins.split_last() else { return Err(bug!("code of no steps")) };
        let scalar = |p: &Prim| match p.scalar(true) {
            Some(op) => Ok(Sent::By(op)),
            None => refuse("a name is changed by another function"),
        };
        let is_enclosed = matches!(before.last().map(|one| &one.what),
            Some(Do::Monad(f)) if prim(f).is_some_and(|p| p.glyph == '⊂'));
        let (what, upto) = match &last.what {
            Do::Append(_, joins) if joins.glyph == '⍪' => (Sent::Below, before.len()),
            Do::Append(..) => (Sent::Joined { whole: is_enclosed }, before.len()),
            Do::Modify(_, f) => match prim(f) {
                Some(p) if p.glyph == '⍪' => (Sent::Below, before.len()),
                Some(p) if p.glyph == ',' => (Sent::Joined { whole: is_enclosed }, before.len()),
                Some(p) => (scalar(p)?, before.len()),
                None => return refuse("a name is changed by another function"),
            },
            Do::Assign(_) => match before {
                [.., op] => match &op.what {
                    Do::Dyad(f) if let Some(p) = prim(f) => (scalar(p)?, before.len() - 2),
                    _ => return Err(bug!("a change of another form")),
                },
                [] => return Err(bug!("a change of another form")),
            },
            Do::AssignIndex { f, .. } => {
                let op = f.as_ref().and_then(prim).and_then(|p| p.scalar(true));
                (Sent::Put { at: Vec::new(), op }, before.len())
            }
            _ => return Err(bug!("a change of another form")),
        };
        let is_path = is_enclosed
            && matches!(&last.what, Do::AssignIndex { present, .. } if present[..] == [true]);
        let upto = match what {
            Sent::Joined { whole: true } => upto - 1,
            Sent::Put { .. } if is_path => upto - 1,
            _ => upto,
        };
        let mut stack = match self.stacked(call, &ins[..upto], false)? {
            Ok(stack) => stack,
            Err(_) => return refuse("a call is the last thing that a turn does"),
        };
        self.keep(call, &ins[..upto], (step, here))?;
        let what = match (what, &last.what) {
            (Sent::Put { op, .. }, _) if is_path => {
                let i = super::body::popped(&mut stack)?;
                match self.columns(&i)? {
                    Some(at) => Sent::Put { at, op },
                    None => return refuse("items are assigned by other paths"),
                }
            }
            (Sent::Put { op, .. }, Do::AssignIndex { present, .. }) => {
                let mut at = Vec::new();
                for present in present {
                    at.push(match present {
                        false => None,
                        true => {
                            let i = super::body::popped(&mut stack)?;
                            let i = self.here(&i)?;
                            Some(self.one_or_list(i)?)
                        }
                    });
                }
                Sent::Put { at, op }
            }
            (what, _) => what,
        };
        let v = super::body::popped(&mut stack)?;
        let list = self.sent_list(&v)?;
        let turns = here.clone();
        let Some(all) = &mut self.turns else { return Err(bug!("no turns are under way")) };
        let block = all.block();
        all.events.push(Event { sym, block, step, turns, list, what });
        Ok(())
    }

    /// A ready vector with an item for each turn of now.
    fn sent_list(&mut self, v: &Cells) -> Result<Array> {
        let a = self.array(v)?;
        self.ev.cx.ready(&a, "loop")
    }

    /// The value of a name behind all that is sent to it.
    pub(super) fn after(&mut self, sym: Sym, events: &[&Event]) -> Result<Array> {
        let old = self.held_before(sym)?;
        if events.iter().any(|e| e.block != events[0].block) {
            return refuse("several loops send to one name");
        }
        let order = Order::of(events, self.ev.cx.budget())?;
        match events[0].what {
            Sent::Joined { whole } => self.joined_behind(&old, events, &order, whole),
            Sent::Below => self.rows_below(&old, events, &order),
            Sent::By(_) => self.changed_by_each(&old, events, &order),
            Sent::Put { .. } => self.put_at(old, events, &order),
        }
    }

    /// The array that a name held before the turns.
    fn held_before(&mut self, sym: Sym) -> Result<Array> {
        let at = At { ast: &self.ev.st.nothing.clone(), frame: None };
        let old = match self.ev.lookup(at, sym) {
            Some(Value::Array(a)) if a.frame().is_none() => a,
            _ => return refuse("a name holds no array"),
        };
        let settings = &self.ev.cx.sys.settings;
        if settings.div || settings.single {
            return refuse("numbers have another meaning");
        }
        self.ev.cx.ready(&old, "loop")
    }

    /// The value that a number has in each turn behind all that was sent to it up to then. None: it
    /// is no number, or is changed otherwise.
    pub(super) fn running_value(&mut self, sym: Sym) -> Result<Option<Cells>> {
        let Some(turns) = &mut self.turns else { return Ok(None) };
        if !turns.is_outermost() || !turns.sends_to(sym) {
            return Ok(None);
        }
        let (block, all) = (turns.block(), std::mem::take(&mut turns.events));
        let own: Vec<&Event> = all.iter().filter(|e| e.sym == sym).collect();
        let fits = own.iter().all(|e| e.block == block && matches!(e.what, Sent::By(_)));
        let made = if fits { self.running_of(sym, &own) } else { Ok(None) };
        if let Some(turns) = &mut self.turns {
            turns.events = all;
        }
        made
    }

    fn running_of(&mut self, sym: Sym, events: &[&Event]) -> Result<Option<Cells>> {
        let old = self.held_before(sym)?;
        if events.is_empty() {
            return Ok(Some(Cells::Same(old)));
        }
        let Some(mut now) = old.number_scalar().filter(|_| old.rank() == 0) else {
            return Ok(None);
        };
        let (n, ct) = (self.n, self.ev.cx.sys.settings.ct);
        let mut all = Vec::new();
        for e in events {
            match self.numbers_of_all(&e.list)? {
                (numbers, None) => all.push(numbers),
                (_, Some(_)) => return Ok(None),
            }
        }
        let order = Order::of(events, self.ev.cx.budget())?;
        let fails = || refuse("a change of a name fails");
        let states = match (&order, events) {
            (Order::One(_), [Event { turns: None, list, what: Sent::By(op), .. }]) => {
                let mut states = std::mem::take(&mut all[0]);
                let from = (now, list.dtype().is_integer());
                if scan(*op, ct, from, &mut states, self.ev.cx.budget())?.is_none() {
                    return fails();
                }
                states
            }
            _ => {
                let (mut states, mut ticks) =
                    (self.ev.cx.budget().room(n)?, self.ev.cx.budget().ticks());
                for (e, k) in order.each() {
                    ticks.tick()?;
                    let (turn, Sent::By(op)) = (events[e].turn(k), &events[e].what) else {
                        return Ok(None);
                    };
                    states.extend(std::iter::repeat_n(now, turn as usize - states.len()));
                    let Some(next) = two(*op, ct, now, all[e][k]) else { return fails() };
                    now = next;
                }
                states.extend(std::iter::repeat_n(now, n - states.len()));
                states
            }
        };
        let states = Array::numbers([n].as_slice(), states, self.ev.cx.budget())?;
        Ok(Some(self.each_of(states)))
    }

    /// The items of all events in the order of the turns.
    fn in_order(&mut self, events: &[&Event], order: &Order) -> Result<Array> {
        if let [one] = events {
            return Ok(one.list.clone());
        }
        let all = self.caught_up(events.iter().map(|e| e.list.clone()).collect())?;
        let mut before = vec![0];
        for e in events {
            before.push(before[before.len() - 1] + e.list.len());
        }
        let places = self.ev.cx.budget().each(order.each().map(|(e, k)| (before[e] + k) as u32))?;
        let list = self.taken(&all, &places)?;
        self.ev.cx.ready(&list, "loop")
    }

    /// Whole numbers in the narrowest type, as they are where turn after turn puts some behind
    /// others.
    fn narrowest(&self, a: Array) -> Result<Array> {
        if !a.dtype().is_integer() || a.dtype() == DType::Bool {
            return Ok(a);
        }
        let budget = self.ev.cx.budget();
        Array::numbers(a.shape(), a.ready_numbers(budget)?, budget)
    }

    /// `r⍪←e` of a matrix, by rows.
    fn rows_below(&mut self, old: &Array, events: &[&Event], order: &Order) -> Result<Array> {
        let fits = events.iter().all(|e| matches!(e.what, Sent::Below));
        let &[_, columns] = old.shape() else {
            return refuse("rows are put below what is no matrix");
        };
        let plain = |a: &Array| a.is_plain() && a.dtype() != DType::F32 && !a.is_complex();
        if !fits || columns == 0 || !plain(old) {
            return refuse("a name is changed in several ways");
        }
        let list = self.in_order(events, order)?;
        let as_long = match (list.pieces(), list.split()) {
            (Some(all), _) => (0..all.count()).all(|k| all.range(k).len() == columns),
            (None, Some(rows)) => rows.cell() == [columns],
            (None, None) => false,
        };
        if !as_long {
            return refuse("rows of other lengths are put below a matrix");
        }
        let n = list.len();
        let flat = self.items_in_all(&list)?;
        let flat = self.narrowest(flat)?;
        if !plain(&flat) || flat.is_char() != old.is_char() {
            return refuse("rows of another type are put below a matrix");
        }
        let rows = crate::functions::shape::reshaped(&mut self.ev.cx, &flat, &[n, columns])?;
        let new = catenate_first(&mut self.ev.cx, old, &rows, None)?;
        self.ev.cx.ready(&new, "loop")
    }

    /// `r,←e`, `r,←⊂e`
    fn joined_behind(
        &mut self,
        old: &Array,
        events: &[&Event],
        order: &Order,
        whole: bool,
    ) -> Result<Array> {
        let same = |e: &&Event| matches!(e.what, Sent::Joined { whole: own } if own == whole);
        if !events.iter().all(same) || old.rank() > 1 {
            return refuse("a name is changed in several ways");
        }
        let list = self.in_order(events, order)?;
        let odd = |a: &Array| matches!(a.dtype(), DType::F32 | DType::Complex);
        if odd(old) || odd(&list) {
            return refuse("items of another type are put behind a name");
        }
        let flat = match whole || list.is_uniform() {
            true => list,
            false => self.items_in_all(&list)?,
        };
        if flat.is_empty() || odd(&flat) {
            return refuse("nothing is put behind a name");
        }
        let flat = self.narrowest(flat)?;
        self.put_behind(old, &flat)
    }

    /// Items behind those of a vector, as `r,←` puts them.
    pub(super) fn put_behind(&mut self, old: &Array, flat: &Array) -> Result<Array> {
        // Behind none they stay as they lie.
        if old.rank() == 1 && old.is_empty() && flat.rank() == 1 && !flat.is_empty() {
            // Rows as pieces: the turns behind put more there.
            let rows = match flat.split() {
                Some(_) => runs(&mut self.ev.cx, flat, 0)?,
                None => None,
            };
            return match rows {
                Some(rows) => Ok(rows.items(&[flat.len()])),
                None => self.ev.cx.ready(flat, "loop"),
            };
        }
        if let Some(made) = self.pieces_behind(old, flat)? {
            return Ok(made);
        }
        let new = catenate_last(&mut self.ev.cx, old, flat, None)?;
        self.ev.cx.ready(&new, "loop")
    }

    /// Vectors behind short ones, as pieces of one. None: they are something else.
    fn pieces_behind(&mut self, old: &Array, new: &Array) -> Result<Option<Array>> {
        let cx = &mut self.ev.cx;
        if old.rank() != 1 || old.is_uniform() || new.rank() != 1 || new.is_uniform() {
            return Ok(None);
        }
        let short = gathered(cx, old)?;
        let parts = |a: &Array| a.pieces().is_some() || a.split().is_some();
        let old = short.as_ref().filter(|short| parts(short)).map_or(old, |short| short);
        // A few that stand one by one are copied with those that are put behind them.
        if !parts(new) || !parts(old) && old.len() > new.len() {
            return Ok(None);
        }
        let (Some(a), Some(b)) = (runs(cx, old, 0)?, runs(cx, new, 0)?) else { return Ok(None) };
        let n = a.count() + b.count();
        Ok(Ragged::joined(&[&a, &b], cx.budget())?.map(|made| made.items(&[n])))
    }

    /// The items of vectors and scalars one behind the other.
    pub(super) fn items_in_all(&mut self, list: &Array) -> Result<Array> {
        if let Some(pieces) = list.pieces() {
            return Ok(pieces.flat().clone());
        }
        if let Some(rows) = list.split() {
            if rows.cell().len() != 1 {
                return refuse("rows are put behind a name");
            }
            let n = rows.node.len();
            return crate::functions::shape::reshaped(&mut self.ev.cx, &rows.node, &[n]);
        }
        let (mut out, mut ticks) = (Vec::new(), self.ev.cx.budget().ticks());
        for item in list.in_turn() {
            if item.rank() > 1 {
                return refuse("a matrix is put behind a name");
            }
            for one in item.in_turn() {
                ticks.tick()?;
                out.push(one);
            }
        }
        let n = out.len();
        match n {
            0 => refuse("nothing is put behind a name"),
            n => self.ev.cx.collect(&[n], out, None),
        }
    }

    /// `r op←e` of a number, or of a vector of them by as long ones.
    fn changed_by_each(&mut self, old: &Array, events: &[&Event], order: &Order) -> Result<Array> {
        let fits = |e: &&Event| matches!(e.what, Sent::By(_));
        if !events.iter().all(fits) || !old.is_of_f64() || old.rank() > 1 {
            return refuse("a name is changed in several ways");
        }
        let (mut all, mut cell) = (Vec::new(), None);
        for e in events {
            let (node, own) = self.numbers_of_all(&e.list)?;
            if cell.is_some_and(|known| known != own) {
                return refuse("what a name is changed by differs in shape");
            }
            cell = Some(own);
            all.push(node);
        }
        let size = cell.map_or(1, |cell| cell.map_or(1, |cell| cell));
        let mut now = self.ev.cx.numbers(old, "a name")?;
        let vector = match (old.rank(), cell.flatten()) {
            (0, None) => false,
            (0, Some(_)) => {
                now = self.ev.cx.budget().filled(now[0], size)?;
                true
            }
            (_, None) => true,
            (_, Some(size)) if now.len() == size => true,
            _ => return refuse("what a name is changed by differs in length"),
        };
        let ct = self.ev.cx.sys.settings.ct;
        if let (Order::One(_), false, [Event { list, what: Sent::By(op), .. }]) =
            (order, vector, events)
        {
            let from = (now[0], list.dtype().is_integer());
            return match fold(*op, ct, from, &all[0], self.ev.cx.budget())? {
                Some(sum) => Ok(Array::num(sum)),
                None => refuse("a change of a name fails"),
            };
        }
        let mut ticks = self.ev.cx.budget().ticks();
        for (e, k) in order.each() {
            let Sent::By(op) = events[e].what else {
                return Err(bug!("a change of another kind"));
            };
            for (j, x) in now.iter_mut().enumerate() {
                ticks.tick()?;
                let at = if size == 1 && cell.flatten().is_none() { k } else { k * size + j };
                let Some(next) = two(op, ct, *x, all[e][at]) else {
                    return refuse("a change of a name fails");
                };
                *x = next;
            }
        }
        match vector {
            true => self.ev.cx.vector(now),
            false => Ok(Array::num(now[0])),
        }
    }

    /// The numbers of items that are numbers, or rows of as many.
    fn numbers_of_all(&mut self, list: &Array) -> Result<(Vec<f64>, Option<usize>)> {
        let (node, cell) = match list.split() {
            Some(rows) if rows.cell().len() == 1 => (rows.node.clone(), Some(rows.cell()[0])),
            None if list.is_uniform() => (list.clone(), None),
            _ => return refuse("a name is changed by what is no number"),
        };
        if !node.is_of_f64() {
            return refuse("a name is changed by what is no number");
        }
        Ok((self.ev.cx.numbers(&node, "a value")?, cell))
    }

    /// `r[i;j]←e`, `r[i;j]op←e`
    fn put_at(&mut self, old: Array, events: &[&Event], order: &Order) -> Result<Array> {
        let plain = old.is_of_f64() && storage(&old).is_some();
        let numbers = plain && events.iter().all(|e| self.is_numbers(&e.list));
        if !numbers {
            return self.items_put(old, events, order);
        }
        let mut all = Vec::new();
        for e in events {
            let Sent::Put { at, op } = &e.what else {
                return refuse("a name is changed in several ways");
            };
            let (values, cell) = self.numbers_of_all(&e.list)?;
            let (places, size) = self.places_of_put(old.shape(), at, e.list.len())?;
            if cell.is_some_and(|cell| cell != size) {
                return refuse("what is put at places differs in length");
            }
            all.push((values, cell.is_some(), places, size, *op));
        }
        let mut items = self.ev.cx.numbers(&old, "a name")?;
        let ct = self.ev.cx.sys.settings.ct;
        let mut ticks = self.ev.cx.budget().ticks();
        for (e, k) in order.each() {
            let (values, own, places, size, op) = &all[e];
            for j in 0..*size {
                ticks.tick()?;
                let v = values[if *own { k * size + j } else { k }];
                let slot = &mut items[places[k * size + j] as usize];
                let new = op.map_or(Some(v), |op| two(op, ct, *slot, v));
                let Some(new) = new else { return refuse("a change of a name fails") };
                *slot = new;
            }
        }
        Array::numbers(old.shape(), items, self.ev.cx.budget())
    }

    /// The places that indices choose in each turn, along one axis at most.
    fn places_of_put(
        &mut self,
        shape: &[usize],
        at: &[Option<Cells>],
        n: usize,
    ) -> Result<(Vec<u32>, usize)> {
        match self.chosen(shape, at, n)? {
            Some((places, cell)) if cell.len() <= 1 => {
                Ok((places, cell.first().map_or(1, |size| *size)))
            }
            _ => refuse("places are chosen in another way"),
        }
    }

    fn is_numbers(&self, list: &Array) -> bool {
        list.split().map_or(list, |rows| &rows.node).is_of_f64()
    }

    /// `r[i]←e` of items of any kind.
    fn items_put(&mut self, old: Array, events: &[&Event], order: &Order) -> Result<Array> {
        let mut all = Vec::new();
        for e in events {
            let Sent::Put { at, op: None } = &e.what else {
                return refuse("a name is changed in several ways");
            };
            let (places, size) = self.places_of_put(old.shape(), at, e.list.len())?;
            if size != 1 {
                return refuse("several items are put at once");
            }
            all.push(places);
        }
        let budget = self.ev.cx.budget();
        let mut to = Changing::of(old, budget).map_err(|(_, e)| e)?;
        let mut ticks = budget.ticks();
        for (e, k) in order.each() {
            ticks.tick()?;
            let item = events[e].list.item(k);
            if item.rank() > 0 || item.frame().is_some() {
                return refuse("several items are put at once");
            }
            to.put(all[e][k] as usize, &item.disclosed(), budget)?;
        }
        to.finish(budget)
    }
}

//! `f⍣n` on arrays as one loop: the body is recorded once, on states that have no values, and runs
//! n times an element.
//!
//! Rows: ACC-22, ACC-26. A body of scalar functions alone, whose states keep shape and class;
//! anything else is refused before it has an effect, and the rounds run one by one. A vector of k
//! arrays is k states. On the cells of a frame `f⍣g` is a loop too, which ends for each cell by
//! itself; a cell of k numbers is k states. If a loop fails, its rounds run one by one, so that the
//! error is APL's.
//!
//! Why it ends and is right: the types of the states only widen, and after `TRIES` tries the rounds
//! run one by one. A body is kept only for types that it gives again, so what holds of the first
//! round holds of each; and since it works on each element by itself, n rounds of all elements are
//! n rounds of each.

use super::body::{Item, Reader, items, over};
use super::{Fact, known};
use crate::eval::cx::Cx;
use crate::eval::operators::frames::Fallback;
use crate::eval::run::Eval;
use crate::eval::scope::Inside;
use crate::eval::value::Func;
use aplomb_ground::error::{Result, untraced};
use aplomb_values::array::{Array, DType, Data, Shape, elements};
use aplomb_values::body::Rounds;
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Args, Cell, Meta, Node, Read, Whole, kinds};
use aplomb_values::prim::moves::Move;
use std::rc::Rc;
use std::sync::Arc;

/// More rounds are not one launch: it could not be stopped.
const ROUNDS: u64 = 65_536;
/// More states are not kept at once.
const STATES: usize = 16;
/// Types settle after so many tries, or never.
const TRIES: usize = 3;

/// The number of rounds.
#[derive(Clone, Copy)]
pub enum Times<'a> {
    /// So many.
    Count(u64),
    /// Until this function of a round's result and its argument gives 1.
    Until(&'a Rc<Func>),
    /// Until the function, which ends with a call of itself, gives a value.
    Calls,
    /// The same where the left argument changes, too: both are states.
    CallsOfBoth,
}

/// The form in which the body gets the states.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    /// One array, the argument.
    Alone,
    /// The items of the argument.
    Strand,
    /// The left argument and the right one.
    Both,
}

/// The states of a loop: as many arrays of one shape, alone or as the items of a vector, or the
/// cells of a frame.
struct States {
    arrays: Vec<Array>,
    given: Given,
    /// The places that have a state of their own, and the numbers of one: a frame and its cells, or
    /// all of the shape.
    frame: Shape,
    cell: Shape,
    framed: bool,
}

impl States {
    /// Of so many rounds: a few numbers for long are worth a loop as many are.
    fn of(cx: &Cx<'_>, y: &Array, rounds: u64) -> Option<States> {
        let (arrays, given) = match y.data() {
            // More states than a loop may have are none; nobody takes them out.
            Data::Items(items) if y.rank() == 1 && items.len() <= STATES => {
                (items.iter().collect(), Given::Strand)
            }
            Data::Items(_) => return None,
            _ => (vec![y.clone()], Given::Alone),
        };
        let frame: Shape = arrays.first()?.shape().into();
        let plain =
            |a: &Array| a.is_of_f64() && a.frame().is_none() && a.shape() == frame.as_slice();
        let size = elements(&frame).saturating_mul(rounds as usize);
        let worth = cx.records(&arrays.iter().collect::<Vec<_>>(), size);
        let fits = !frame.is_empty() && elements(&frame) > 0 && arrays.len() <= STATES;
        let ok = fits && worth && arrays.iter().all(plain);
        ok.then_some(States { arrays, given, frame, cell: Shape::new(), framed: false })
    }

    /// The cells of `y` over a frame, which it may have only a part of; without one they are the
    /// same everywhere.
    fn cells(cx: &mut Cx<'_>, y: &Array, frame: &[usize]) -> Result<Option<States>> {
        let cell: Shape = y.shape().into();
        if !y.is_of_f64() || !(1..=STATES).contains(&elements(&cell)) || elements(frame) == 0 {
            return Ok(None);
        }
        let arrays = vec![match y.frame() {
            Some(_) => cx.lined_up(y, frame, &over(frame, &cell))?,
            None => y.clone(),
        }];
        Ok(Some(States { arrays, given: Given::Alone, frame: frame.into(), cell, framed: true }))
    }

    /// Two arguments whose cells are numbers, over a frame.
    fn both(cx: &mut Cx<'_>, x: &Array, y: &Array, frame: &[usize]) -> Result<Option<States>> {
        if [x, y].iter().any(|a| a.rank() > 0) {
            return Ok(None);
        }
        let (a, b) = (States::cells(cx, x, frame)?, States::cells(cx, y, frame)?);
        Ok(a.zip(b).map(|(mut a, b)| {
            a.arrays.extend(b.arrays);
            States { given: Given::Both, ..a }
        }))
    }

    /// The states' shape, before the first round and after each.
    fn shape(&self) -> Shape {
        over(&self.frame, &self.cell)
    }
}

/// The type of a state that may have either; integers without an interval where they differ.
fn wider(a: Fact, b: Fact) -> Fact {
    match (a.0, b.0) {
        (x, y) if x == y && a.1 == b.1 => a,
        (x, y) if x.is_integer() && y.is_integer() => (DType::I32, None),
        _ => (DType::F64, None),
    }
}

impl Eval<'_> {
    /// All rounds as one loop, or None: they are run one by one. `like`: what a round gives, where
    /// it is known.
    pub fn rounds(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        y: &Array,
        times: Times<'_>,
        like: Option<&Array>,
    ) -> Result<Option<Array>> {
        let worth = match times {
            Times::Count(n) => (2..=ROUNDS).contains(&n),
            Times::Until(_) | Times::Calls | Times::CallsOfBoth => true,
        };
        if !worth || self.cx.sys.scope.in_round() || !self.cx.loops() {
            return Ok(None);
        }
        let longest =
            x.into_iter().chain([y]).chain(like).filter_map(Array::frame).max_by_key(|s| s.at);
        let states = match (longest.map(|s| Shape::from(s.frame())), times) {
            // What cells do under a guard, only some of them do.
            (Some(frame), _) if !self.cx.sys.scope.is_conditional() => match (times, x) {
                (Times::CallsOfBoth, Some(x)) => States::both(&mut self.cx, x, y, &frame)?,
                _ => States::cells(&mut self.cx, y, &frame)?,
            },
            (None, Times::Count(n)) if !self.cx.sys.scope.is_framed() => States::of(&self.cx, y, n),
            _ => None,
        };
        let Some(states) = states else { return Ok(None) };
        let from = self.cx.sys.tape.mark();
        let facts = states.arrays.iter().map(known).collect();
        let settled = self.settled(facts, |ev, facts| {
            let (body, free, given) = ev.round_of(f, x, &states, facts, times)?;
            Ok(((body, free), given))
        })?;
        let Some(((body, free), facts)) = settled else { return Ok(None) };
        let made = self.looped(&states, body, free, &facts)?;
        if let Times::Count(count) = times {
            let again = again(f, x, y, count);
            match made.data() {
                Data::Items(items) if states.given == Given::Strand => {
                    items.iter().for_each(|one| self.watch(&one, from, again.clone()));
                }
                _ => self.watch(&made, from, again),
            }
        }
        Ok(Some(made))
    }

    /// A body recorded for types that it gives again, widened until they stay; None: it cannot be,
    /// and nothing is left.
    fn settled<T>(
        &mut self,
        mut facts: Vec<Fact>,
        mut record: impl FnMut(&mut Self, &[Fact]) -> Result<(T, Vec<Fact>)>,
    ) -> Result<Option<(T, Vec<Fact>)>> {
        let settled = self.attempt(|ev| {
            for _ in 0..TRIES {
                let (made, given) = record(ev, &facts)?;
                let wide: Vec<Fact> =
                    facts.iter().zip(&given).map(|(a, b)| wider(*a, *b)).collect();
                if wide == facts {
                    return Ok((made, facts));
                }
                facts = wide;
            }
            Err(untraced("a round whose types do not stay"))
        })?;
        Ok(settled.ok())
    }

    /// A fold by a function of one's own as one node, or None: it runs item by item.
    pub fn fold_recorded(
        &mut self,
        f: &Rc<Func>,
        y: &Array,
        axis: usize,
        shape: &Shape,
    ) -> Result<Option<Array>> {
        let scope = &self.cx.sys.scope;
        let alone = !scope.is_framed() || y.frame().is_some() && !scope.is_conditional();
        let fits = y.is_of_f64() && alone && !scope.in_round();
        let node = y.frame().map_or(y, |cells| &cells.node);
        if !fits || !self.cx.loops() || !self.cx.records(&[node], node.len()) {
            return Ok(None);
        }
        let from = self.cx.sys.tape.mark();
        let Some((body, given, fact)) = self.fold_body_of(f, y)? else { return Ok(None) };
        if let Some(cells) = y.frame() {
            // Each cell's own fold: the axis lies behind those of the frame.
            let full: Shape = cells.frame().iter().chain(shape).copied().collect();
            let axis = (cells.at + axis) as u8;
            let what = Whole::Fold { axis, body: Arc::new(body), given };
            let node = Node::whole(what, [cells.node.settled()]);
            let made = self.cx.cell(node, full, fact)?;
            return Ok(Some(Array::framed(made, cells.at)));
        }
        let what = Whole::Fold { axis: axis as u8, body: Arc::new(body), given };
        let node = Node::whole(what, [y.settled()]);
        let made = self.cx.cell(node, shape.clone(), fact)?;
        let (f, y) = (f.clone(), y.clone());
        let again: Fallback =
            Rc::new(move |ev| crate::eval::operators::reduce::fold_each(ev, &f, &y, axis));
        self.watch(&made, from, again);
        Ok(Some(made))
    }

    /// The body of a fold of real numbers by a function, and the numbers that it closes over. None:
    /// it cannot be recorded.
    pub fn fold_body(&mut self, f: &Rc<Func>, y: &Array) -> Result<Option<(Rounds, Vec<f64>)>> {
        Ok(self.fold_body_of(f, y)?.map(|(body, given, _)| (body, given)))
    }

    /// The same with the type of the sum: an item keeps its type, the sum may widen.
    fn fold_body_of(
        &mut self,
        f: &Rc<Func>,
        y: &Array,
    ) -> Result<Option<(Rounds, Vec<f64>, Fact)>> {
        let settled = self.settled(vec![known(y); 2], |ev, facts| {
            let (body, given, sum) = ev.fold_of(f, facts)?;
            Ok(((body, given), vec![facts[0], sum]))
        })?;
        Ok(settled.map(|((body, given), facts)| (body, given, facts[1])))
    }

    /// One step of a fold: its body, the numbers it needs beside an item and a sum, and the type it
    /// gives.
    fn fold_of(&mut self, f: &Rc<Func>, facts: &[Fact]) -> Result<(Rounds, Vec<f64>, Fact)> {
        // Cells of a frame, so that a guard is recorded both ways.
        let shape = Shape::from_slice(&[1]);
        let (holes, checks, made) = self.on_holes(&shape, facts, |ev, a| {
            let cells: Vec<Array> = a.iter().map(|a| Array::framed(a.clone(), 1)).collect();
            ev.value_of(f, Some(&cells[0]), &cells[1])
        })?;
        if made.rank() != 0 || !made.is_uniform() || made.is_char() {
            return Err(untraced("a fold whose results are no numbers"));
        }
        let made = made.frame().map_or(made.clone(), |split| split.node.clone());
        let mut reader = Reader::new(&holes, &shape);
        let (mut next, fact) = (vec![reader.value(&made, &[])?], known(&made));
        self.every_check(&reader, checks)?;
        let (free, steps) = reader.finish(&mut next);
        let mut given = Vec::with_capacity(free.len());
        for (a, item) in &free {
            let a = self.cx.ready(a, "argument")?;
            // Behind the only place of the frame.
            let within = a.shape().iter().skip(1);
            let at = item.iter().zip(within).fold(0, |at, (i, n)| at * n + i);
            given.push(a.number_at(at).ok_or_else(|| untraced("a fold with an array"))?);
        }
        Ok((Rounds { count: 1, until: None, steps, next }, given, fact))
    }

    /// A call's value. Errors: untraced where there is none.
    fn value_of(&mut self, f: &Rc<Func>, x: Option<&Array>, y: &Array) -> Result<Array> {
        let outcome = self.call(f, x, y)?;
        self.valued(outcome)?.ok_or_else(|| untraced("a body without a value"))
    }

    /// The look at all checks: what can fail in a body is one of its steps, or depends on no round
    /// and is looked at as anywhere.
    fn every_check(&mut self, reader: &Reader<'_>, checks: Vec<Rc<Cell>>) -> Result<()> {
        for check in checks {
            if !reader.depends(&check) {
                self.cx.sys.tape.check(check);
            } else if !reader.has_all(&check) {
                return Err(untraced("a round computes what it does not use, and that may fail"));
            }
        }
        Ok(())
    }

    /// The recording over arguments of one shape that have no values, and the checks in it.
    fn on_holes<T>(
        &mut self,
        shape: &Shape,
        facts: &[Fact],
        call: impl FnOnce(&mut Self, &[Array]) -> Result<T>,
    ) -> Result<(Vec<Rc<Cell>>, Vec<Rc<Cell>>, T)> {
        let from = self.cx.sys.tape.mark();
        let mut holes = Vec::new();
        for (k, fact) in facts.iter().enumerate() {
            let meta = Meta { shape: shape.clone(), dtype: fact.0, range: fact.1, place: None };
            holes.push(self.cx.sys.tape.cell(Node::Input(kinds::Input(k as u32)), meta));
        }
        let arrays: Vec<Array> = holes.iter().cloned().map(Array::lazy).collect();
        let made = self.inside(Inside::LoopBody, |ev| call(ev, &arrays));
        let checks = self.cx.sys.tape.take_checks_since(from);
        Ok((holes, checks, made?))
    }

    /// One round on states without values: the body, what it needs beside the states, and the types
    /// it gives.
    fn round_of(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        states: &States,
        facts: &[Fact],
        times: Times<'_>,
    ) -> Result<(Rounds, Vec<Array>, Vec<Fact>)> {
        let shape = states.shape();
        let (holes, checks, (made, done)) = self.on_holes(&shape, facts, |ev, arrays| {
            let cells = |k: usize| Array::framed(arrays[k].clone(), states.frame.len());
            let given = match states.given {
                Given::Strand => Array::items([arrays.len()].as_slice(), arrays.to_vec(), None),
                _ if states.framed => cells(arrays.len() - 1),
                _ => arrays[0].clone(),
            };
            let (made, done) = match times {
                Times::Count(_) => (vec![ev.value_of(f, x, &given)?], None),
                Times::Until(g) => {
                    let made = ev.value_of(f, x, &given)?;
                    let done = ev.value_of(g, Some(&made), &given)?;
                    (vec![made], Some(ev.end(&done, &states.frame)?))
                }
                Times::Calls => {
                    let (made, done) = ev.round_of_calls(f, x, &given, false)?;
                    (made, Some(ev.end(&done, &states.frame)?))
                }
                Times::CallsOfBoth => {
                    let (made, done) = ev.round_of_calls(f, Some(&cells(0)), &given, true)?;
                    (made, Some(ev.end(&done, &states.frame)?))
                }
            };
            if states.framed && made.iter().any(|a| a.shape() != states.cell.as_slice()) {
                return Err(untraced("a round that changes the shape of a cell"));
            }
            if !states.framed {
                return Ok((made, done));
            }
            // A result without some axes of the frame is the same along them.
            let made = made.iter().map(|a| ev.cx.lined_up(a, &states.frame, &shape));
            Ok((made.collect::<Result<Vec<_>>>()?, done))
        })?;
        let results: Vec<Array> = match (made.as_slice(), states.given) {
            ([strand], Given::Strand) => match strand.data() {
                Data::Items(items) if strand.rank() == 1 => items.iter().collect(),
                _ => Vec::new(),
            },
            _ => made,
        };
        if results.len() != holes.len() {
            return Err(untraced("a round that changes the number of states"));
        }
        let mut reader = Reader::new(&holes, &states.frame);
        let mut values = Vec::new();
        let mut types = Vec::new();
        for result in &results {
            let constant = states.framed && states.cell.is_empty() && result.rank() == 0;
            if result.shape() != shape.as_slice() && !constant
                || !result.is_uniform()
                || result.is_char()
            {
                return Err(untraced("a round that changes a state's shape or class"));
            }
            for item in items(&states.cell) {
                values.push(reader.value(result, &item)?);
            }
            types.push(known(result));
        }
        let ends = done.map(|done| reader.value(&done, &[])).transpose()?;
        self.every_check(&reader, checks)?;
        values.extend(ends);
        let (free, steps) = reader.finish(&mut values);
        let until = ends.and_then(|_| values.pop());
        let free = free
            .iter()
            .map(|(a, item)| self.item_of(a, item, &states.frame))
            .collect::<Result<_>>()?;
        let count = match times {
            Times::Count(n) => n,
            Times::Until(_) | Times::Calls | Times::CallsOfBoth => ROUNDS,
        };
        Ok((Rounds { count: count as u32, until, steps, next: values }, free, types))
    }

    /// Whether a cell's loop ends: a boolean for each place of the frame, or one for all.
    fn end(&mut self, done: &Array, frame: &[usize]) -> Result<Array> {
        if done.rank() != 0 || !done.is_uniform() || done.dtype() != DType::Bool {
            return Err(untraced("the end of a loop that is no boolean"));
        }
        self.cx.lined_up(done, frame, frame)
    }

    /// One item of every cell.
    fn item_of(&mut self, a: &Array, item: &Item, frame: &[usize]) -> Result<Array> {
        if item.is_empty() {
            return Ok(a.settled());
        }
        let onto = elements(&a.shape()[frame.len()..]) == 1;
        let place = item.iter().map(|k| Ix::constant(*k as i64));
        let read = Read::new((0..frame.len()).map(Ix::axis).chain(place));
        self.cx.apply_move(a, Move { name: "[]", shape: frame.into(), read, onto })
    }

    /// The two numbers that each cell has, as arguments of a call.
    pub fn both_of(&mut self, cells: &Array) -> Result<(Array, Array)> {
        let Some(split) = cells.frame() else {
            return Err(untraced("two states without a frame"));
        };
        let (frame, node, at) = (Shape::from(split.frame()), split.node.clone(), split.at);
        let mut part = |k| {
            let one = self.item_of(&node, &Item::from_slice(&[k]), &frame)?;
            Ok(Array::framed(one, at))
        };
        Ok((part(0)?, part(1)?))
    }

    /// A cell for each state, as they were given.
    fn looped(
        &mut self,
        states: &States,
        body: Rounds,
        free: Vec<Array>,
        facts: &[Fact],
    ) -> Result<Array> {
        let (body, all) = (Arc::new(body), items(&states.cell));
        let mut args: Args<Array> = Args::new();
        for a in &states.arrays {
            for (k, item) in all.iter().enumerate() {
                // What is the same for all cells is given as numbers.
                let spread = states.framed && a.rank() == states.cell.len();
                let a = if spread {
                    self.cx.ready(a, "argument")?.item(k)
                } else {
                    self.item_of(a, item, &states.frame)?
                };
                args.push(a);
            }
        }
        args.extend(free);
        let mut out = Vec::new();
        for (k, fact) in facts.iter().flat_map(|fact| all.iter().map(move |_| fact)).enumerate() {
            let node =
                Node::Loop(kinds::Loop { args: args.clone(), body: body.clone(), result: k as u8 });
            // Of several states the one that is used runs all of the body: the others are no checks
            // of their own (E2).
            let checked = facts.len() * all.len() == 1 && states.given == Given::Alone;
            let frame = states.frame.clone();
            out.push(if checked {
                self.cx.cell(node, frame, *fact)
            } else {
                self.cx.cell_unchecked(node, frame, *fact)
            }?);
        }
        if states.given == Given::Strand {
            return self.cx.collect(&[facts.len()], out, None);
        }
        if states.framed {
            out.iter_mut().for_each(|a| *a = Array::framed(a.clone(), states.frame.len()));
        }
        let made = match out.as_slice() {
            [one] => one.clone(),
            all => self.cx.framed_strand(all)?,
        };
        let keeps = !states.framed || states.given == Given::Both;
        match made.shape() == states.cell.as_slice() || keeps {
            true => Ok(made),
            false => self.cx.apply_move(&made, Move::reshape("⍴", made.shape(), &states.cell)),
        }
    }
}

/// The rounds one by one, for the error that a loop found.
fn again(f: &Rc<Func>, x: Option<&Array>, y: &Array, count: u64) -> Fallback {
    let (f, x, y) = (f.clone(), x.cloned(), y.clone());
    Rc::new(move |ev| {
        let mut now = y.clone();
        for _ in 0..count {
            ev.cx.host.interrupt().check()?;
            now = ev.apply(&f, x.as_ref(), &now)?;
            now = ev.cx.ready(&now, "round")?;
        }
        Ok(now)
    })
}

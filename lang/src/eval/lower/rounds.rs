//! `f⍣n` on arrays as one loop: the body is recorded once, on states that have no values, and runs n times an element.
//!
//! Rows: LOWERING §2; ACC-22. A body of scalar functions alone, whose states keep shape and class; anything else is refused
//! before it has an effect, and the rounds run one by one. A vector of k arrays is k states. If a loop fails, its rounds
//! run one by one, so that the error is APL's.

use super::known;
use crate::array::{Array, DType, Data, Shape};
use crate::dag::{Args, Cell, Meta, Node, Round, Rounds, Whole};
use crate::error::{Kind, Result, untraced};
use crate::eval::cx::Cx;
use crate::eval::operators::frames::Again;
use crate::eval::run::{Eval, Outcome};
use crate::eval::value::Func;
use crate::prim::op::Op;
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// More rounds, and larger bodies, are not one launch: it could not be stopped.
const ROUNDS: u64 = 65_536;
const STEPS: usize = 200;
/// Types settle after so many tries, or never.
const TRIES: usize = 3;

/// What the states are: as many arrays of one shape, alone or as the items of a vector.
struct States {
    arrays: Vec<Array>,
    strand: bool,
}

type Fact = (DType, Option<(f64, f64)>);

impl States {
    fn of(cx: &Cx<'_>, y: &Array) -> Option<States> {
        let (arrays, strand) = match y.data() {
            Data::Items(items) if y.rank() == 1 => (items.all().to_vec(), true),
            _ => (vec![y.clone()], false),
        };
        let shape: Shape = arrays.first()?.shape().into();
        let plain = |a: &Array| {
            a.is_uniform()
                && !a.is_char()
                && !a.is_complex()
                && a.frame().is_none()
                && a.dtype() != DType::F32
                && a.shape() == shape.as_slice()
        };
        let worth = cx.records(&arrays.iter().collect::<Vec<_>>(), crate::array::elements(&shape));
        let fits = !shape.is_empty() && crate::array::elements(&shape) > 0 && arrays.len() <= 16;
        (fits && worth && arrays.iter().all(plain)).then_some(States { arrays, strand })
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
    /// All rounds as one loop, or None: they are run one by one.
    pub fn rounds(&mut self, f: &Rc<Func>, x: Option<&Array>, y: &Array, count: u64) -> Result<Option<Array>> {
        if !(2..=ROUNDS).contains(&count) || self.cx.sys.rounds > 0 || !self.cx.host.loops() {
            return Ok(None);
        }
        let framed = self.cx.sys.framing > 0 || x.is_some_and(|x| x.frame().is_some());
        let Some(states) = States::of(&self.cx, y).filter(|_| !framed) else { return Ok(None) };
        let from = self.cx.sys.seq;
        let facts = states.arrays.iter().map(known).collect();
        let settled = self.settled(facts, |ev, facts| {
            let (body, free, given) = ev.round_of(f, x, &states, facts, count)?;
            Ok(((body, free), given))
        })?;
        let Some(((body, free), facts)) = settled else { return Ok(None) };
        self.looped(&states, body, free, &facts, (from, again(f, x, y, count))).map(Some)
    }

    /// A body recorded for types that it gives again, widened until they stay; None: it cannot be, and nothing is left.
    fn settled<T>(
        &mut self,
        mut facts: Vec<Fact>,
        mut record: impl FnMut(&mut Self, &[Fact]) -> Result<(T, Vec<Fact>)>,
    ) -> Result<Option<(T, Vec<Fact>)>> {
        let from = self.cx.sys.seq;
        for _ in 0..TRIES {
            match record(self, &facts) {
                Ok((made, given)) => {
                    let wide: Vec<Fact> = facts.iter().zip(&given).map(|(a, b)| wider(*a, *b)).collect();
                    if wide == facts {
                        return Ok(Some((made, facts)));
                    }
                    facts = wide;
                }
                Err(e) if matches!(e.kind(), Kind::Interrupt | Kind::Internal) => return Err(e),
                Err(_) => break,
            }
        }
        self.cx.sys.hard.retain(|c| c.seq() <= from);
        Ok(None)
    }

    /// A fold by a function of one's own as one node, or None: it runs item by item.
    pub fn fold_recorded(&mut self, f: &Rc<Func>, y: &Array, axis: usize, shape: &Shape) -> Result<Option<Array>> {
        let plain = y.is_uniform() && !y.is_char() && !y.is_complex() && y.frame().is_none() && y.dtype() != DType::F32;
        let framed = self.cx.sys.framing > 0 || self.cx.sys.rounds > 0;
        if !plain || framed || !self.cx.host.loops() || !self.cx.records(&[y], y.len()) {
            return Ok(None);
        }
        let from = self.cx.sys.seq;
        // An item keeps its type, the sum may widen.
        let settled = self.settled(vec![known(y); 2], |ev, facts| {
            let (body, given, sum) = ev.fold_of(f, facts)?;
            Ok(((body, given), vec![facts[0], sum]))
        })?;
        let Some(((body, given), facts)) = settled else { return Ok(None) };
        let what = Whole::Fold { axis: axis as u8, body: Arc::new(body), given };
        let hard = what.fails_hard();
        let node = Node::Whole { what, args: Args::from_iter([y.settled()]) };
        let made = self.cx.cell(node, shape.clone(), facts[1].0, facts[1].1, hard)?;
        let (f, y) = (f.clone(), y.clone());
        let again: Again = Rc::new(move |ev| crate::eval::operators::reduce::fold_each(ev, &f, &y, axis));
        self.watch(&made, from, again);
        Ok(Some(made))
    }

    /// One step of a fold: its body, the numbers it needs beside an item and a sum, and the type it gives.
    fn fold_of(&mut self, f: &Rc<Func>, facts: &[Fact]) -> Result<(Rounds, Vec<f64>, Fact)> {
        // Cells of a frame, so that a guard is recorded both ways.
        let shape = Shape::from_slice(&[1]);
        let (holes, made) = self.on_holes(&shape, facts, |ev, a| {
            let cells: Vec<Array> = a.iter().map(|a| Array::framed(a.clone(), 1)).collect();
            ev.call(f, Some(&cells[0]), &cells[1])
        })?;
        if made.rank() != 0 || !made.is_uniform() || made.is_char() {
            return Err(untraced("a fold whose results are no numbers"));
        }
        let made = made.frame().map_or(made.clone(), |split| split.node.clone());
        let mut reader = Reader::new(&holes, &shape);
        let (mut next, fact) = (vec![reader.value(&made)?], known(&made));
        let (free, steps) = reader.finish(&mut next)?;
        let mut given = Vec::with_capacity(free.len());
        for a in &free {
            let a = self.cx.ready(a, "argument")?;
            given.push(a.number_at(0).ok_or_else(|| untraced("a fold with an array"))?);
        }
        Ok((Rounds { count: 1, steps, next }, given, fact))
    }

    /// What a call gives for arguments of one shape that have no values.
    fn on_holes(
        &mut self,
        shape: &Shape,
        facts: &[Fact],
        call: impl FnOnce(&mut Self, &[Array]) -> Result<Outcome>,
    ) -> Result<(Vec<Rc<Cell>>, Array)> {
        let from = self.cx.sys.seq;
        let mut holes = Vec::new();
        for (k, fact) in facts.iter().enumerate() {
            self.cx.sys.seq += 1;
            let meta = Meta { shape: shape.clone(), dtype: fact.0, range: fact.1, place: None };
            holes.push(Cell::new(Node::Input(k as u32), meta, self.cx.sys.seq));
        }
        let arrays: Vec<Array> = holes.iter().cloned().map(Array::lazy).collect();
        let under = std::mem::take(&mut self.cx.sys.under);
        self.cx.sys.rounds += 1;
        self.cx.sys.framing += 1;
        let outcome = call(self, &arrays).and_then(|o| self.valued(o));
        self.cx.sys.framing -= 1;
        self.cx.sys.rounds -= 1;
        self.cx.sys.under = under;
        // Checks of the body are the node's own.
        self.cx.sys.hard.retain(|c| c.seq() <= from);
        let made = outcome?.ok_or_else(|| untraced("a body without a value"))?;
        Ok((holes, made))
    }

    /// One round on states without values: the body, what it needs beside the states, and the types it gives.
    fn round_of(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        states: &States,
        facts: &[Fact],
        count: u64,
    ) -> Result<(Rounds, Vec<Array>, Vec<Fact>)> {
        let shape: Shape = states.arrays[0].shape().into();
        let (holes, made) = self.on_holes(&shape, facts, |ev, arrays| {
            let given = match states.strand {
                true => Array::items([arrays.len()].as_slice(), arrays.to_vec(), None),
                false => arrays[0].clone(),
            };
            ev.call(f, x, &given)
        })?;
        let results: Vec<Array> = match (made.data(), states.strand) {
            (Data::Items(items), true) if made.rank() == 1 && items.all().len() == holes.len() => items.all().to_vec(),
            (_, false) => vec![made],
            _ => return Err(untraced("a round that changes the number of states")),
        };
        let mut reader = Reader::new(&holes, &shape);
        let mut next = Vec::new();
        let mut types = Vec::new();
        for result in &results {
            if result.shape() != shape.as_slice() || !result.is_uniform() || result.is_char() {
                return Err(untraced("a round that changes a state's shape or class"));
            }
            next.push(reader.value(result)?);
            types.push(known(result));
        }
        let (free, steps) = reader.finish(&mut next)?;
        Ok((Rounds { count: count as u32, steps, next }, free, types))
    }

    /// A cell for each state.
    fn looped(
        &mut self,
        states: &States,
        body: Rounds,
        free: Vec<Array>,
        facts: &[Fact],
        (from, again): (u64, Again),
    ) -> Result<Array> {
        let body = Arc::new(body);
        let args: Args<Array> = states.arrays.iter().map(Array::settled).chain(free).collect();
        let mut out = Vec::new();
        for (k, fact) in facts.iter().enumerate() {
            let node = Node::Loop { args: args.clone(), body: body.clone(), result: k as u8 };
            // Of several states the one that is used runs all of the body: the others are no checks of their own (E2).
            let hard = !states.strand && node.fails_hard();
            let made = self.cx.cell(node, states.arrays[0].shape().into(), fact.0, fact.1, hard)?;
            self.watch(&made, from, again.clone());
            out.push(made);
        }
        match states.strand {
            true => self.cx.collect(&[facts.len()], out, None),
            false => out.pop().ok_or_else(|| untraced("a loop without a state")),
        }
    }
}

/// The rounds one by one, for the error that a loop found.
fn again(f: &Rc<Func>, x: Option<&Array>, y: &Array, count: u64) -> Again {
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

/// A recorded round read as steps. States come first, then what is the same in every round, then steps; while reading,
/// free arrays are numbered from `FREE` and steps from `STEP`.
struct Reader<'a> {
    holes: &'a [Rc<Cell>],
    shape: &'a Shape,
    values: HashMap<*const Cell, u16>,
    free: Vec<Array>,
    steps: Vec<Round>,
}

const FREE: u16 = 1 << 13;
const STEP: u16 = 1 << 14;

impl<'a> Reader<'a> {
    fn new(holes: &'a [Rc<Cell>], shape: &'a Shape) -> Reader<'a> {
        Reader { holes, shape, values: HashMap::new(), free: Vec::new(), steps: Vec::new() }
    }

    fn value(&mut self, a: &Array) -> Result<u16> {
        let Some(cell) = a.pending().cloned() else { return self.same(a) };
        if let Some(k) = self.holes.iter().position(|h| Rc::ptr_eq(h, &cell)) {
            return Ok(k as u16);
        }
        if let Some(known) = self.values.get(&Rc::as_ptr(&cell)) {
            return Ok(*known);
        }
        if !self.depends(&cell) {
            return self.same(a);
        }
        let value = match cell.node().map(|n| n.clone()) {
            Some(Node::Map { op, ct, args }) => {
                let args = args.iter().map(|a| self.value(a)).collect::<Result<_>>()?;
                self.step(op, ct, args)?
            }
            // Both are finite, so a choice is a sum.
            Some(Node::Select { args }) => {
                let args = args.iter().map(|a| self.value(a)).collect::<Result<Vec<_>>>()?;
                let one = self.same(&Array::num(1.0))?;
                let yes = self.step(Op::Mul, 0.0, smallvec![args[0], args[1]])?;
                let not = self.step(Op::Sub, 0.0, smallvec![one, args[0]])?;
                let no = self.step(Op::Mul, 0.0, smallvec![not, args[2]])?;
                self.step(Op::Add, 0.0, smallvec![yes, no])?
            }
            _ => return Err(untraced("a round that is not element-wise")),
        };
        self.values.insert(Rc::as_ptr(&cell), value);
        Ok(value)
    }

    fn step(&mut self, op: Op, ct: f64, args: SmallVec<[u16; 2]>) -> Result<u16> {
        if self.steps.len() >= STEPS {
            return Err(untraced("a round of too many operations"));
        }
        self.steps.push(Round { op, ct, args });
        Ok(STEP + self.steps.len() as u16 - 1)
    }

    /// An array that no round changes.
    fn same(&mut self, a: &Array) -> Result<u16> {
        let fits = a.rank() == 0 || a.shape() == self.shape.as_slice();
        if !fits || !a.is_uniform() || a.is_char() || a.is_complex() || a.dtype() == DType::F32 {
            return Err(untraced("a round that is not element-wise"));
        }
        self.free.push(a.settled());
        if self.free.len() > STEPS {
            return Err(untraced("a round of too many arrays"));
        }
        Ok(FREE + self.free.len() as u16 - 1)
    }

    /// Whether a cell is made of the states.
    fn depends(&self, cell: &Rc<Cell>) -> bool {
        let first = self.holes.first().map_or(0, |h| h.seq());
        let mut stack = vec![cell.clone()];
        let mut seen: Vec<*const Cell> = Vec::new();
        while let Some(cell) = stack.pop() {
            if self.holes.iter().any(|h| Rc::ptr_eq(h, &cell)) {
                return true;
            }
            // What is older than the states cannot be made of them.
            if cell.seq() < first || seen.contains(&Rc::as_ptr(&cell)) {
                continue;
            }
            seen.push(Rc::as_ptr(&cell));
            if let Some(node) = cell.node() {
                stack.extend(node.inputs().iter().filter_map(|a| a.pending().cloned()));
            }
        }
        false
    }

    /// The values' final numbers.
    fn finish(self, next: &mut [u16]) -> Result<(Vec<Array>, Vec<Round>)> {
        let (states, free) = (self.holes.len() as u16, self.free.len() as u16);
        let place = |v: u16| match v {
            v if v >= STEP => states + free + (v - STEP),
            v if v >= FREE => states + (v - FREE),
            v => v,
        };
        next.iter_mut().for_each(|v| *v = place(*v));
        let mut steps = self.steps;
        steps.iter_mut().flat_map(|s| &mut s.args).for_each(|v| *v = place(*v));
        Ok((self.free, steps))
    }
}

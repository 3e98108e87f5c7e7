//! A recorded body read as the steps of a loop: for each place of a frame, scalar operations on its
//! states.
//!
//! Rows: ACC-22, ACC-26. Values may have cells behind the frame (a state that is a point has two
//! numbers): then each item of a cell is a value of its own, moves and catenations say which, and a
//! fold of a cell is its steps.

use crate::eval::replay::products;
use aplomb_ground::error::{Result, internal, untraced};
use aplomb_values::array::{Array, DType, Shape};
use aplomb_values::body::{Step, ValueId, What};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Cell, Node, Read, kinds};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// More operations than these are no body of a loop.
const STEPS: usize = 200;
/// While reading, arrays that no round changes are numbered from here, and steps from there.
const FREE: ValueId = 1 << 13;
const STEP: ValueId = 1 << 14;

/// A place in a cell.
pub type Item = SmallVec<[usize; 2]>;

pub struct Reader<'a> {
    holes: &'a [Rc<Cell>],
    frame: &'a [usize],
    /// Numbers in a hole's cell: each is a state.
    parts: usize,
    values: HashMap<(*const Cell, Item), ValueId>,
    free: Vec<(Array, Item)>,
    steps: Vec<Step>,
}

impl<'a> Reader<'a> {
    /// Holes are `frame` and their cells, all of one shape.
    pub fn new(holes: &'a [Rc<Cell>], frame: &'a [usize]) -> Reader<'a> {
        let parts = holes.first().map_or(1, |h| h.shape()[frame.len()..].iter().product());
        Reader { holes, frame, parts, values: HashMap::new(), free: Vec::new(), steps: Vec::new() }
    }

    /// One item of each cell of `a`: a state, an array of the frame's shape that no round changes,
    /// or a step.
    pub fn value(&mut self, a: &Array, item: &[usize]) -> Result<ValueId> {
        let Some(cell) = a.pending().cloned() else { return self.same(a, item) };
        if let Some(k) = self.holes.iter().position(|h| Rc::ptr_eq(h, &cell)) {
            let within = &cell.shape()[self.frame.len()..];
            let at = item.iter().zip(within).fold(0, |at, (i, n)| at * n + i);
            return Ok((k * self.parts + at) as ValueId);
        }
        let key = (Rc::as_ptr(&cell), Item::from_slice(item));
        if let Some(known) = self.values.get(&key) {
            return Ok(*known);
        }
        let value = if self.depends(&cell) { self.made(&cell, item)? } else { self.same(a, item)? };
        self.values.insert(key, value);
        Ok(value)
    }

    fn made(&mut self, cell: &Rc<Cell>, item: &[usize]) -> Result<ValueId> {
        let lead = self.frame.len();
        let own = |a: &Array| -> Item { if a.rank() == 0 { Item::new() } else { item.into() } };
        match cell.node().map(|n| n.clone()) {
            Some(Node::Map(kinds::Map { op, ct, args })) => {
                let args =
                    args.iter().map(|a| self.value(a, &own(a))).collect::<Result<Vec<_>>>()?;
                self.step(What::op(op, ct, args), cell.dtype())
            }
            Some(Node::Select(kinds::Select { args })) => {
                let args =
                    args.iter().map(|a| self.value(a, &own(a))).collect::<Result<Vec<_>>>()?;
                let &[cond, yes, no] = args.as_slice() else {
                    return Err(internal("a select of three"));
                };
                self.step(What::Select { cond, yes, no }, cell.dtype())
            }
            Some(Node::Transform(kinds::Transform { src, read, .. })) => {
                match self.moved(&read, &src, cell.shape(), item) {
                    Some(Ok(from)) => self.value(&src, &from),
                    Some(Err(fill)) => self.same(&Array::num(fill), &[]),
                    None => Err(untraced("a round that moves items between cells")),
                }
            }
            Some(Node::Cat(kinds::Cat { axis, args })) if axis as usize >= lead => {
                let (axis, mut from) = (axis as usize - lead, Item::from_slice(item));
                for part in &args {
                    let n = part.shape()[axis + lead];
                    if from[axis] < n {
                        return self.value(part, &from);
                    }
                    from[axis] -= n;
                }
                Err(untraced("a round whose parts do not make a whole"))
            }
            Some(Node::Reduce(kinds::Reduce { op, axis, src }))
                if axis as usize >= lead && !op.row().tolerant =>
            {
                if src.pending().is_some_and(|cell| products(cell).is_some()) {
                    return Err(untraced("a round that adds many products"));
                }
                let (n, last) = (src.shape()[axis as usize], axis as usize + 1 == src.rank());
                let mut items = Vec::with_capacity(n.min(STEPS));
                for k in 0..n.min(STEPS + 1) {
                    let mut from = Item::from_slice(item);
                    from.insert(axis as usize - lead, k);
                    items.push(self.value(&src, &from)?);
                }
                let single = reduce::is_single(op, cell.dtype());
                if single && (!last || n > reduce::LANES) {
                    return Err(untraced("a round that adds many f32"));
                }
                // So few partials are halved, which is done in f64.
                let dtype = if single { DType::F64 } else { cell.dtype() };
                let me = RefCell::new(self);
                let sum = reduce::ordered(op, &items, last, |x, y| {
                    me.borrow_mut().step(What::op(op, 0.0, [x, y]), dtype)
                })?;
                let sum = sum.ok_or_else(|| untraced("a round that folds nothing"))?;
                if !single {
                    return Ok(sum);
                }
                me.into_inner().step(What::op(Op::Conj, 0.0, [sum]), DType::F32)
            }
            _ => Err(untraced("a round that is not element-wise")),
        }
    }

    /// The item of the source's cell that a read takes at an item, or what fills it; None where it
    /// leaves the cell.
    fn moved(
        &self,
        read: &Read,
        src: &Array,
        shape: &[usize],
        item: &[usize],
    ) -> Option<Result<Item, f64>> {
        let lead = self.frame.len();
        let at: Vec<Ix> =
            (0..lead).map(Ix::axis).chain(item.iter().map(|k| Ix::constant(*k as i64))).collect();
        let constant = |ix: &Ix| ix.terms.is_empty().then_some(ix.c);
        for t in &read.tests {
            if !(t.lo..t.hi).contains(&constant(&t.ix.substitute(&at, shape))?) {
                return Some(Err(t.fill));
            }
        }
        let ix: Vec<Ix> = read.ix.iter().map(|ix| ix.substitute(&at, shape)).collect();
        let still =
            |k: usize| ix[k].is_axis(k) || self.frame[k] == 1 && constant(&ix[k]) == Some(0);
        if ix.len() < lead || src.shape()[..lead] != *self.frame || !(0..lead).all(still) {
            return None;
        }
        ix[lead..]
            .iter()
            .map(|ix| constant(ix).and_then(|k| usize::try_from(k).ok()))
            .collect::<Option<Item>>()
            .map(Ok)
    }

    fn step(&mut self, what: What, dtype: DType) -> Result<ValueId> {
        if self.steps.len() >= STEPS {
            return Err(untraced("a round of too many operations"));
        }
        self.steps.push(Step::new(what, in_rounds(dtype), ()));
        Ok(STEP + self.steps.len() as ValueId - 1)
    }

    /// An item that no round changes.
    fn same(&mut self, a: &Array, item: &[usize]) -> Result<ValueId> {
        let lead = self.frame.len();
        let fits =
            a.rank() == 0 || a.rank() == lead + item.len() && a.shape()[..lead] == *self.frame;
        if !fits || !a.is_of_f64() {
            return Err(untraced("a round that is not element-wise"));
        }
        self.free.push((a.settled(), if a.rank() == 0 { Item::new() } else { item.into() }));
        if self.free.len() > STEPS {
            return Err(untraced("a round of too many arrays"));
        }
        Ok(FREE + self.free.len() as ValueId - 1)
    }

    /// Whether every item of a cell is a value that was read.
    pub fn has_all(&self, cell: &Rc<Cell>) -> bool {
        let within = &cell.shape()[self.frame.len().min(cell.shape().len())..];
        items(within).into_iter().all(|item| self.values.contains_key(&(Rc::as_ptr(cell), item)))
    }

    /// Whether a cell is made of the states.
    pub fn depends(&self, cell: &Rc<Cell>) -> bool {
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

    /// The arrays that no round changes, and the steps, arguments first; `results` get their final
    /// numbers.
    pub fn finish(self, results: &mut [ValueId]) -> (Vec<(Array, Item)>, Vec<Step>) {
        let (states, free) =
            ((self.holes.len() * self.parts) as ValueId, self.free.len() as ValueId);
        let place = |v: ValueId| match v {
            v if v >= STEP => states + free + (v - STEP),
            v if v >= FREE => states + (v - FREE),
            v => v,
        };
        results.iter_mut().for_each(|v| *v = place(*v));
        let of_states = self.holes.iter().flat_map(|h| std::iter::repeat_n(h.dtype(), self.parts));
        let types = of_states.chain(self.free.iter().map(|(a, _)| a.dtype()));
        let arg = |(k, dtype)| Step::new(What::Arg(k as u32), in_rounds(dtype), ());
        let mut steps: Vec<Step> = types.enumerate().map(arg).collect();
        for mut step in self.steps {
            step.what.renumber(place);
            steps.push(step);
        }
        (self.free, steps)
    }
}

/// The type of a value inside of a loop: nothing there looks whether an integer leaves 32 bits.
pub fn in_rounds(dtype: DType) -> DType {
    if matches!(dtype, DType::Bool | DType::I8 | DType::I16) { dtype } else { DType::F64 }
}

/// Every item of a cell of that shape, in order.
pub fn items(cell: &[usize]) -> Vec<Item> {
    let n = cell.iter().product();
    let place = |mut k: usize| {
        let mut item: Item = cell.iter().map(|_| 0).collect();
        for (at, n) in item.iter_mut().zip(cell).rev() {
            (*at, k) = (k % n, k / n);
        }
        item
    };
    (0..n).map(place).collect()
}

/// The shape of a frame and cells.
pub fn over(frame: &[usize], cell: &[usize]) -> Shape {
    frame.iter().chain(cell).copied().collect()
}

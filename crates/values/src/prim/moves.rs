//! Moves: structural primitives as a result shape and a read of one source. Written once, run here
//! or recorded.
//!
//! `run` is the generic loop for host items and small arrays; large ones become transforms.

use crate::array::{
    Array, Buf, Complex64, DType, Data, Digits, Items, Ragged, Shape, View, advance,
    checked_elements, chosen, elements, narrowest, storage, strides,
};
use crate::dag::ix::{Atom, Ix, linear};
use crate::dag::pieces::{Piece, Pieces};
use crate::dag::{Along, Read, Test};
use aplomb_ground::error::{Result, domain};
use aplomb_ground::limits::Budget;
use std::collections::HashMap;
use std::iter::repeat_n;
use std::sync::Arc;

/// Places that are laid out between two looks at the interrupt.
const AT_ONCE: usize = 1 << 14;

/// A structural primitive: a result shape and a read of one source.
pub struct Move {
    /// The name in graphs and traces, `reverse`.
    pub name: &'static str,
    /// The shape of the result.
    pub shape: Shape,
    /// The place in the source for each place of the result.
    pub read: Read,
    /// Every source element is read by some result element.
    pub onto: bool,
}

impl Move {
    /// Reshape, cycling. The source is not empty.
    pub fn reshape(name: &'static str, from: &[usize], to: &[usize]) -> Move {
        let count = elements(from) as i64;
        let places: Vec<Ix> = (0..to.len()).map(Ix::axis).collect();
        let mut offset = linear(&places, to, to);
        if elements(to) as i64 > count {
            offset = offset.modulo(count, to);
        }
        let steps = strides(from);
        let ix =
            steps.iter().zip(from).map(|(&s, &n)| offset.div(s as i64, to).modulo(n as i64, to));
        Move { name, shape: to.into(), read: Read::new(ix), onto: elements(to) as i64 >= count }
    }

    /// The first item as a scalar.
    pub fn first(from: &[usize]) -> Move {
        let onto = elements(from) == 1;
        Move {
            name: "⊃",
            shape: Shape::new(),
            read: Read::new(from.iter().map(|_| Ix::constant(0))),
            onto,
        }
    }

    /// One item everywhere.
    pub fn spread(from: &[usize], to: &[usize]) -> Move {
        let onto = elements(to) > 0;
        Move {
            name: "⍴",
            shape: to.into(),
            read: Read::new(from.iter().map(|_| Ix::constant(0))),
            onto,
        }
    }

    /// A vector of n laid along one axis of a shape.
    pub fn along(n: usize, shape: &[usize], axis: usize) -> Move {
        debug_assert_eq!(shape[axis], n);
        Move {
            name: "⍴",
            shape: shape.into(),
            read: Read::new([Ix::axis(axis)]),
            onto: elements(shape) > 0,
        }
    }

    /// An axis of length one, gone.
    pub fn drop_axis(from: &[usize], axis: usize) -> Move {
        let mut shape: Shape = from.into();
        shape.remove(axis);
        let ix = (0..from.len())
            .map(|k| if k == axis { Ix::constant(0) } else { Ix::axis(k - usize::from(k > axis)) });
        Move { name: "⍴", shape, read: Read::new(ix), onto: true }
    }

    /// Source axes at the given result axes; the result has `shape`.
    pub fn axes(
        name: &'static str,
        shape: Shape,
        at: impl IntoIterator<Item = Option<usize>>,
    ) -> Move {
        let onto = elements(&shape) > 0;
        Move {
            name,
            shape,
            read: Read::new(at.into_iter().map(|k| k.map_or(Ix::constant(0), Ix::axis))),
            onto,
        }
    }

    /// The result shape, if this only renames places of a ready array.
    pub fn is_reshape(&self, a: &Array) -> Option<Shape> {
        if a.pending().is_some() || elements(&self.shape) != a.len() || !self.read.tests.is_empty()
        {
            return None;
        }
        if a.is_empty() {
            return Some(self.shape.clone());
        }
        let to = self.shape.as_slice();
        let places: Vec<Ix> = (0..to.len()).map(Ix::axis).collect();
        let unit_free = |ix: Ix| Ix {
            c: ix.c,
            terms: ix.terms.into_iter().filter(|t| !is_unit(&t.1, to)).collect(),
        };
        let mine = unit_free(linear(&self.read.ix, a.shape(), to));
        (mine == unit_free(linear(&places, to, to))).then(|| self.shape.clone())
    }

    /// A vector that is one stretch of another, forwards or from its end, between fills of 0 or
    /// blank: what takes, drops, turns round and cuts are. None: it is another move.
    fn stretch(&self, a: &Array, n: usize, budget: &Budget) -> Result<Option<Array>> {
        let (Data::Dense(held), 1) = (a.data(), self.shape.len()) else { return Ok(None) };
        let of_axis = |ix: &Ix| match ix.terms[..] {
            [] => Some(0),
            [(k, Atom::Axis(0))] => Some(k),
            _ => None,
        };
        let (mut from, mut to) = (0, n as i64);
        for test in &self.read.tests {
            let blank = test.fill == if a.is_char() { f64::from(u32::from(' ')) } else { 0.0 };
            // The places where the index is from `lo` on and below `hi`.
            let (lo, hi) = match of_axis(&test.ix) {
                Some(1) => (test.lo - test.ix.c, test.hi - test.ix.c),
                Some(-1) => (test.ix.c - test.hi + 1, test.ix.c - test.lo + 1),
                _ => return Ok(None),
            };
            if !blank {
                return Ok(None);
            }
            (from, to) = (from.max(lo), to.min(hi));
        }
        let (from, to) = if from < to { (from as usize, to as usize) } else { (0, 0) };
        let offset = linear(&self.read.ix, a.shape(), &self.shape);
        let (count, first) = ((to - from) as i64, offset.c);
        let (stretch, step) = match of_axis(&offset) {
            _ if count == 0 => (0..0, 1),
            Some(1) => (first + from as i64..first + to as i64, 1),
            Some(-1) => (first - to as i64 + 1..first - from as i64 + 1, -1),
            _ => return Ok(None),
        };
        if stretch.start < 0 || stretch.end > a.len() as i64 {
            return Ok(None);
        }
        let stretch = (stretch.start as usize..stretch.end as usize, step);
        let made = Buf::between(&**held, stretch, (from, n - to), budget)?;
        Ok(made.map(|made| Array::dense(self.shape.clone(), Arc::new(made))))
    }

    /// Runs it now. Errors: WS FULL, LIMIT.
    pub fn run(&self, a: &Array, budget: &Budget) -> Result<Array> {
        let n = checked_elements(&self.shape)?;
        let a = a.settled();
        if let Some(made) = self.stretch(&a, n, budget)? {
            return Ok(made);
        }
        if let Some(made) = self.laid_out(&a, n, budget)? {
            return Ok(made);
        }
        // The places come first, and a bomb is a bomb before they are laid out.
        let mut places: Vec<Result<usize, f64>> = budget.room(n)?;
        let _held = budget.charge_elements(n, size_of::<Result<usize, f64>>())?;
        let from = a.shape();
        let offset = linear(&self.read.ix, from, &self.shape);
        let pieces = Pieces { offset: &offset, tests: &self.read.tests };
        let (mut place, mut ticks) = (Vec::new(), budget.ticks());
        for from in (0..n).step_by(AT_ONCE) {
            let some = from..(from + AT_ONCE).min(n);
            ticks.spend(some.len())?;
            pieces.each(&self.shape, some, &mut place, &mut |_, piece| match piece {
                Piece::Fill { with, len } => places.extend(repeat_n(Err(with), len)),
                Piece::From { at, step, len } => {
                    places.extend((0..len as i64).map(|k| Ok((at + k * step) as usize)));
                }
            });
        }
        gather(&a, &self.shape, &places, budget)
    }
}

impl Move {
    /// Items of one type, each put where it belongs. None: they are of another kind, or a fill is
    /// none of their type. Errors: WS FULL, INTERRUPT.
    fn laid_out(&self, a: &Array, n: usize, budget: &Budget) -> Result<Option<Array>> {
        if self.shape.is_empty() || a.is_empty() {
            return Ok(None);
        }
        let offset = linear(&self.read.ix, a.shape(), &self.shape);
        let plain = self.read.tests.iter().all(|t| t.fill == 0.0);
        let shape = self.shape.clone();
        let blank = |f: f64| char::from_u32(f as u32).filter(|_| f != 0.0).map_or(' ', |c| c);
        let made: Buf = match a.data() {
            Data::Num(x, Digits::Single) => {
                let one = [*x as f32];
                Buf::f32(self.items(&offset, &one, |f| f as f32, n, budget)?, budget)?
            }
            Data::Num(x, Digits::Any) if plain && n > 0 && narrowest(*x).is_integer() => {
                match narrowest(*x) {
                    DType::Bool => {
                        Buf::bools(self.items(&offset, &[*x as u8], |_| 0, n, budget)?, budget)?
                    }
                    DType::I8 => {
                        Buf::i8(self.items(&offset, &[*x as i8], |_| 0, n, budget)?, budget)?
                    }
                    DType::I16 => {
                        Buf::i16(self.items(&offset, &[*x as i16], |_| 0, n, budget)?, budget)?
                    }
                    _ => Buf::i32(self.items(&offset, &[*x as i32], |_| 0, n, budget)?, budget)?,
                }
            }
            Data::Num(x, Digits::Any) => {
                let all = self.items(&offset, &[*x], |f| f, n, budget)?;
                return Array::numbers(shape, all, budget).map(Some);
            }
            Data::Char(c) => Buf::chars(self.items(&offset, &[*c], blank, n, budget)?, budget)?,
            Data::Dense(held) => match held.view() {
                View::Char(v) => Buf::chars(self.items(&offset, v, blank, n, budget)?, budget)?,
                View::F64(v) => Buf::f64(self.items(&offset, v, |f| f, n, budget)?, budget)?,
                View::F32(v) => Buf::f32(self.items(&offset, v, |f| f as f32, n, budget)?, budget)?,
                View::Bool(v) if plain => {
                    Buf::bools(self.items(&offset, v, |_| 0, n, budget)?, budget)?
                }
                View::I8(v) if plain => Buf::i8(self.items(&offset, v, |_| 0, n, budget)?, budget)?,
                View::I16(v) if plain => {
                    Buf::i16(self.items(&offset, v, |_| 0, n, budget)?, budget)?
                }
                View::I32(v) if plain => {
                    Buf::i32(self.items(&offset, v, |_| 0, n, budget)?, budget)?
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(Array::dense(shape, Arc::new(made))))
    }

    /// The items that a read takes from a vector, in the order of the result.
    fn items<T: Copy>(
        &self,
        offset: &Ix,
        from: &[T],
        fill: impl Fn(f64) -> T,
        n: usize,
        budget: &Budget,
    ) -> Result<Vec<T>> {
        let (mut out, mut ticks) = (budget.room(n)?, budget.ticks());
        if let (Some((&row, around)), true, true) =
            (self.shape.split_last(), self.read.tests.is_empty(), offset.is_affine())
        {
            let step = offset.coefficient(around.len());
            let mut place = Shape::from_elem(0, around.len());
            for _ in 0..n / row.max(1) {
                ticks.spend(row)?;
                let of = |(k, at): (usize, &usize)| offset.coefficient(k) * *at as i64;
                let at = offset.c + place.iter().enumerate().map(of).sum::<i64>();
                match step {
                    1 => out.extend_from_slice(&from[at as usize..at as usize + row]),
                    0 if row > 0 => out.extend(repeat_n(from[at as usize], row)),
                    -1 if row > 0 => {
                        let last = at as usize;
                        out.extend(from[last + 1 - row..=last].iter().rev());
                    }
                    _ => out.extend((0..row as i64).map(|k| from[(at + k * step) as usize])),
                }
                advance(&mut place, around);
            }
            return Ok(out);
        }
        let pieces = Pieces { offset, tests: &self.read.tests };
        let mut place = Vec::new();
        for first in (0..n).step_by(AT_ONCE) {
            let some = first..(first + AT_ONCE).min(n);
            ticks.spend(some.len())?;
            pieces.each(&self.shape, some, &mut place, &mut |_, piece| match piece {
                Piece::Fill { with, len } => out.extend(std::iter::repeat_n(fill(with), len)),
                Piece::From { at, step, len } => {
                    out.extend((0..len as i64).map(|k| from[(at + k * step) as usize]));
                }
            });
        }
        Ok(out)
    }
}

fn is_unit(atom: &crate::dag::ix::Atom, shape: &[usize]) -> bool {
    matches!(atom, crate::dag::ix::Atom::Axis(k) if shape.get(*k as usize) == Some(&1))
}

/// Many items of a few short vectors that stand one by one, as pieces of one vector: what is done
/// to them next is a pass over that. None: they are few, long, or no such vectors.
fn texts(
    items: &Items,
    shape: &[usize],
    places: &[Result<usize, f64>],
    budget: &Budget,
) -> Result<Option<Array>> {
    /// The least number of places, and the items of a vector at most.
    const WORTH: (usize, usize) = (64, 64);
    let listed = items.listed().filter(|all| all.len() <= places.len());
    let Some(all) = listed.filter(|_| !shape.is_empty() && places.len() >= WORTH.0) else {
        return Ok(None);
    };
    let mut held = budget.room(all.len())?;
    for item in all {
        match storage(item).filter(|_| item.rank() == 1 && item.len() <= WORTH.1) {
            Some(own) => held.push((own, 0..item.len())),
            None => return Ok(None),
        }
    }
    let (mut runs, mut ticks) = (budget.room(places.len())?, budget.ticks());
    for place in places {
        ticks.tick()?;
        let Ok(k) = place else { return Ok(None) };
        runs.push(held[*k].clone());
    }
    Ok(Ragged::of_runs(&runs, budget)?.map(|made| made.items(shape)))
}

/// Parts of one array at ravel places, each of which is cut out once, however often it is taken:
/// all of them together hold no more than the array.
fn parts(
    items: &Items,
    places: &[Result<usize, f64>],
    fill: &Array,
    budget: &Budget,
) -> Result<Vec<Array>> {
    /// Bytes of a part in a table that is half full at least, twice while it grows.
    const IN_TABLE: usize = 4 * size_of::<(usize, Array)>();
    let _held = budget.charge_elements(places.len().min(items.len()), IN_TABLE)?;
    let mut cut: HashMap<usize, Array> = HashMap::new();
    let (mut out, mut ticks) = (budget.room(places.len())?, budget.ticks());
    for place in places {
        ticks.tick()?;
        out.push(match place {
            Err(_) => fill.clone(),
            Ok(k) => match cut.get(k) {
                Some(part) => part.clone(),
                None => {
                    let part = items.at(*k);
                    budget.has_room((part.len() * part.dtype().size()) as u64)?;
                    cut.insert(*k, part.clone());
                    part
                }
            },
        });
    }
    Ok(out)
}

/// Items at ravel places; an Err is a fill.
pub fn gather(
    a: &Array,
    shape: &[usize],
    places: &[Result<usize, f64>],
    budget: &Budget,
) -> Result<Array> {
    let pick = |fill: Array| {
        let one = |p: &Result<usize, f64>| p.map_or_else(|_| fill.clone(), |k| a.item(k));
        budget.each(places.iter().map(one))
    };
    match a.data() {
        Data::Items(items) => {
            if let (Some(pieces), 1..) = (items.pieces(), shape.len()) {
                let at = |p: &Result<usize, f64>| p.ok().and_then(|k| u32::try_from(k).ok());
                let at = budget.each(places.iter().map_while(at))?;
                if at.len() == places.len()
                    && let Some(some) = pieces.taken(&at, budget)?
                {
                    return Ok(some.items(shape));
                }
            }
            if let Some(columns) = a.columns()
                && let Some(made) = chosen(columns, shape, places, budget)?
            {
                return Ok(made);
            }
            if let Some(made) = texts(items, shape, places, budget)? {
                return Ok(made);
            }
            let proto = a.prototype();
            let picked = match items.listed() {
                Some(_) => pick(proto.clone())?,
                None => parts(items, places, &proto, budget)?,
            };
            Array::collect(shape, picked, Some(proto), budget)
        }
        Data::Dense(b) if !shape.is_empty() => {
            macro_rules! typed {
                ($v:expr, $zero:expr, $make:expr) => {{
                    let out: Vec<_> =
                        budget.each(places.iter().map(|p| p.map_or_else($zero, |k| $v[k])))?;
                    Array::dense(shape, Arc::new($make(out, budget)?))
                }};
            }
            let whole = places
                .iter()
                .all(|p| p.is_ok_and(|_| true) || p.is_err_and(|f| f == 0.0 || a.is_char()));
            Ok(match b.view() {
                // The fill of a character array is a blank, which reads have as 0 or as its code.
                View::Char(v) => {
                    typed!(v, |f: f64| char::from_u32(f as u32).unwrap_or(' '), Buf::chars)
                }
                View::F64(v) => typed!(v, |f| f, Buf::f64),
                View::Complex(v) => {
                    let pick = |p: &Result<usize, f64>| p.map_or_else(Complex64::from, |k| v[k]);
                    Array::complexes(shape, budget.each(places.iter().map(pick))?, budget)?
                }
                View::F32(v) => typed!(v, |f| f as f32, Buf::f32),
                View::Bool(v) if whole => typed!(v, |f| f as u8, Buf::bools),
                view => {
                    let number = |p: &Result<usize, f64>| p.map_or_else(|f| f, |k| view.number(k));
                    let out: Vec<f64> = budget.each(places.iter().map(number))?;
                    match whole {
                        true => {
                            Array::dense(shape, Arc::new(Buf::stored(&out, b.dtype(), budget)?))
                        }
                        false => Array::numbers(shape, out, budget)?,
                    }
                }
            })
        }
        _ => {
            let proto = a.prototype();
            Array::collect(shape, pick(proto.clone())?, Some(proto), budget)
        }
    }
}

/// `Node::Gather` of ready arrays. Errors: INDEX, WS FULL.
pub fn gather_by(
    args: &[Array],
    read: &Read,
    along: &[Along],
    origin: f64,
    shape: &[usize],
    budget: &Budget,
) -> Result<Array> {
    let n = checked_elements(shape)?;
    let mut places = budget.room(n)?;
    let _held = budget.charge_elements(n, size_of::<Result<usize, f64>>())?;
    let a = &args[0];
    let steps = strides(a.shape());
    let base = linear(&read.ix, a.shape(), shape);
    let mut place = vec![0usize; shape.len()];
    let mut ticks = budget.ticks();
    for i in 0..n {
        ticks.tick()?;
        let mut at = base.at(&place);
        for (along, by) in along.iter().zip(&args[1..]) {
            let x = by.item(if by.rank() == 0 { 0 } else { i }).number_scalar();
            // What waits is known to be real only when it is computed.
            let x = x.ok_or_else(|| domain("an index must be real, not complex"))?;
            at += along.step(x, origin).map_err(|fail| fail.error())?
                * steps[along.axis as usize] as i64;
        }
        places.push(Ok(at as usize));
        advance(&mut place, shape);
    }
    gather(a, shape, &places, budget)
}

/// A test on one result axis shifted by `off`: inside 0 … n.
pub fn within(axis: usize, off: i64, n: usize, fill: f64) -> Test {
    Test { ix: Ix::axis(axis).offset(off), lo: 0, hi: n as i64, fill }
}

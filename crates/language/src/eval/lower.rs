//! Recording: scalar functions, reductions, moves and iota on simple arrays become cells, or run at
//! once when small.
//!
//! Both ways give the same values: eager results take the dtype that `Op::result` says, and one
//! table (`prim::scalar`) holds the meaning.

use super::cx::{AT_HAND, Cx, SMALL};
use aplomb_ground::error::{Error, Result, bug, domain, length, rank, untraced};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Buf, DType, Data, Digits, Shape, View, elements};
use aplomb_values::dag::{Meta, Node, kinds};
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::{Fails, Gives, Op};
use aplomb_values::prim::scalar;
use aplomb_values::prim::scalar::Src;
use aplomb_values::prim::scalar::single::has_room;
use std::sync::Arc;

mod ahead;
mod asked;
mod at_hand;
mod body;
mod cells;
mod chain;
mod complex;
mod few;
mod fold;
mod framed;
mod guarded;
mod nested;
pub mod places;
mod rounds;
mod rows;
mod scalars;
mod single;
mod whole;

pub use rounds::Times;

/// The facts that are known of a value: its type, and the interval of an integer.
pub type Fact = (DType, Option<(f64, f64)>);

fn known(a: &Array) -> Fact {
    match a.data() {
        Data::Num(x, _) => {
            let dtype = a.dtype();
            (dtype, dtype.is_integer().then_some((*x, *x)))
        }
        Data::Lazy(cell) if cell.forced().is_none() => (cell.dtype(), cell.meta().range),
        _ => (a.dtype(), a.dtype().range()),
    }
}

/// A number in the place of an item, of the item's type.
pub(super) fn stand_in(x: f64, item: &Array) -> Array {
    match item.dtype() {
        DType::F32 if has_room(x) => Array::single(x as f32),
        _ => Array::num(x),
    }
}

impl Cx<'_> {
    /// An interval that holds all items of an array of integers: the known one of a pending array,
    /// the least and the greatest of another.
    pub fn span(&mut self, a: &Array) -> Result<(f64, f64)> {
        if a.pending().is_some()
            && let Some(range) = known(a).1
        {
            return Ok(range);
        }
        let items = self.numbers(a, "whole numbers")?;
        let both = |(lo, hi): (f64, f64), x: &f64| (lo.min(*x), hi.max(*x));
        Ok(items.iter().fold((f64::INFINITY, f64::NEG_INFINITY), both))
    }

    /// Whether an operation with that many elements is recorded. One on complex numbers never is.
    pub fn records(&self, args: &[&Array], n: usize) -> bool {
        self.records_above(SMALL, args, n)
    }

    /// The same of an operation that has a loop for what is at hand.
    pub(super) fn leaves_hand(&self, args: &[&Array], n: usize) -> bool {
        self.records_above(self.hand(), args, n)
    }

    /// The most elements that such an operation takes at once. Where a function is read for
    /// somebody else, what it makes of none of its arguments is recorded as it always was.
    pub fn hand(&self) -> usize {
        if self.sys.recorder.ahead { SMALL } else { AT_HAND }
    }

    fn records_above(&self, most: usize, args: &[&Array], n: usize) -> bool {
        (n > most || self.sys.records_all() || args.iter().any(|a| a.pending().is_some()))
            && !args.iter().any(|a| a.is_complex())
    }

    /// Of what is computed at once, unless a story wants everything.
    pub fn is_small(&self, a: &Array) -> bool {
        a.len() <= SMALL
    }

    /// A cell for a node; a check, if it can fail hard (E2). Forces it when too much is pending.
    pub fn cell(&mut self, node: Node<Array>, shape: Shape, (dtype, range): Fact) -> Result<Array> {
        let a = self.cell_unchecked(node, shape, (dtype, range))?;
        if let Some(cell) = a.pending().filter(|c| c.fails() == Fails::Hard) {
            self.sys.tape.check(cell.clone());
        }
        Ok(a)
    }

    /// A cell for a node that is no check of its own.
    fn cell_unchecked(
        &mut self,
        node: Node<Array>,
        shape: Shape,
        (dtype, range): Fact,
    ) -> Result<Array> {
        let meta = Meta { shape, dtype, range, place: self.place() };
        let cell = self.sys.tape.cell(node, meta);
        if self.sys.scope.is_conditional() && cell.fails() != Fails::Never {
            return Err(untraced("something that no cell decides stands under a guard"));
        }
        if cell.fails() == Fails::Overflow {
            self.sys.tape.leave_open(&cell);
        }
        if cell.shape().is_empty() {
            self.pile(&cell)?;
        }
        self.shorten(&cell)?;
        let heavy = cell.weight() as usize > self.host.limits().pending;
        let a = Array::lazy(cell);
        if heavy {
            self.force_held(&a, "pending limit")?;
        }
        Ok(a)
    }

    /// A one-item argument as a rank-0 operand.
    fn as_scalar(&mut self, a: &Array) -> Result<Array> {
        if a.rank() == 0 {
            return Ok(a.settled());
        }
        self.apply_move(a, Move::first(a.shape()))
    }

    /// The shape of a scalar function's result, and the arguments with one-item ones made rank 0.
    fn conform(&mut self, op: Op, x: &Array, y: &Array) -> Result<(Shape, Array, Array)> {
        let one = |a: &Array| a.shape().iter().all(|&n| n == 1);
        if x.shape() == y.shape() {
            return Ok((x.shape().into(), x.clone(), y.clone()));
        }
        match (one(x), one(y)) {
            (true, true) if x.rank() > y.rank() => {
                Ok((x.shape().into(), x.clone(), self.broadcast(y, x.shape())?))
            }
            (true, true) => Ok((y.shape().into(), self.broadcast(x, y.shape())?, y.clone())),
            (true, false) => Ok((y.shape().into(), self.scalar_item(x)?, y.clone())),
            (false, true) => Ok((x.shape().into(), x.clone(), self.scalar_item(y)?)),
            (false, false) if x.rank() != y.rank() => Err(self.ranks_differ(op, x, y)),
            (false, false) => {
                Err(length("X and Y differ in length").hint("∘. makes all pairs, ↑ cuts or fills"))
            }
        }
    }

    /// The error of arguments of several ranks, with the axis along which they would go together.
    fn ranks_differ(&self, op: Op, x: &Array, y: &Array) -> Error {
        let error = rank("X and Y differ in rank");
        let (small, large) = if x.rank() < y.rank() { (x, y) } else { (y, x) };
        let (of, glyph) = (small.rank(), op.glyph());
        let fits = |k: &usize| large.shape()[*k] == small.len();
        let axis = (0..large.rank()).rev().find(fits).filter(|_| of == 1);
        match axis.map(|k| k + self.sys.settings.io as usize) {
            Some(k) if large.shape().last() == Some(&small.len()) => {
                error.hint(format!("X{glyph}[{k}]Y goes with each row"))
            }
            Some(k) => error.hint(format!("X{glyph}[{k}]Y goes along that axis")),
            None if of == 1 => {
                error.hint(format!("no axis has {} items; ↑ and ⍴ change lengths", small.len()))
            }
            None if large.shape().ends_with(small.shape()) => {
                error.hint(format!("X({glyph}⍤{of})Y goes with each cell"))
            }
            None => error,
        }
    }

    fn broadcast(&mut self, a: &Array, shape: &[usize]) -> Result<Array> {
        if a.pending().is_some() || a.frame().is_some() {
            self.apply_move(a, Move::spread(a.shape(), shape))
        } else {
            a.with_shape(shape, self.budget())
        }
    }

    /// The only item: rank 0 for uniform arrays, the item itself for host items.
    fn scalar_item(&mut self, a: &Array) -> Result<Array> {
        match a.data() {
            Data::Items(i) => i.at(0).enclosed(),
            _ => self.as_scalar(a),
        }
    }

    /// A dyadic scalar function. Errors: rank, length, domain at once; value errors now or when
    /// forced.
    pub fn map2(&mut self, op: Op, x: &Array, y: &Array) -> Result<Array> {
        if op == Op::Div && self.sys.settings.div {
            return self.safe_quotient(x, y);
        }
        if let (Data::Num(a, Digits::Any), Data::Num(b, Digits::Any)) = (x.data(), y.data()) {
            return self.number2(op, *a, *b);
        }
        if let (Op::CircleBy, Some(k)) =
            (op, x.number_scalar().filter(|_| x.rank() == 0 && y.is_uniform()))
        {
            let k = self.integer(k, "the left argument of ○")?;
            if !(-12..=12).contains(&k) {
                return Err(domain("the left argument of ○ is ¯12 to 12"));
            }
            return self.map1(Op::Circle(k as i8), y);
        }
        if !x.is_uniform() || !y.is_uniform() {
            if let Some(same) = references(x, y) {
                return match op {
                    Op::Eq => Ok(Array::bool(same)),
                    Op::Ne => Ok(Array::bool(!same)),
                    _ => Err(domain("a reference is no number")),
                };
            }
            return self.pervade2(op, x, y);
        }
        if let Some(done) = self.at_hand(op, x, Some(y))? {
            return Ok(done);
        }
        if let Some(done) = self.answers(op, x, y)? {
            return Ok(done);
        }
        let (shape, x, y) = self.conform(op, x, y)?;
        if x.frame().is_some() || y.frame().is_some() {
            return self.framed2(op, &shape, &x, &y);
        }
        let characters = (x.is_char(), y.is_char());
        if characters != (false, false) && elements(&shape) == 0 {
            return Array::numbers(shape, vec![], self.budget());
        }
        if characters != (false, false) {
            if !matches!(op, Op::Eq | Op::Ne) {
                return Err(arithmetic_on_text(op));
            }
            if characters != (true, true) {
                let n = elements(&shape);
                let _held = self.budget().charge_elements(n, 1)?;
                let same = self.budget().filled(u8::from(op == Op::Ne), n)?;
                return if shape.is_empty() {
                    Ok(Array::bool(op == Op::Ne))
                } else {
                    Ok(Array::dense(shape, Arc::new(Buf::bools(same, self.budget())?)))
                };
            }
        }
        let n = elements(&shape);
        let x = self.beside(x, &y)?;
        let y = self.beside(y, &x)?;
        let mut facts = [known(&x), known(&y)];
        // A number beside an f32 array does not widen it.
        for (k, number) in [&x, &y].into_iter().enumerate() {
            if facts[1 - k].0 == DType::F32 && number.rank() == 0 && facts[k].0 == DType::F64 {
                facts[k] = (DType::Bool, None);
            }
        }
        let ct = if characters == (true, true) || facts.iter().any(|f| f.0 == DType::F32) {
            0.0
        } else {
            self.sys.settings.ct
        };
        let (dtype, range) = self.result(op, &facts);
        let pending = x.pending().is_some() || y.pending().is_some();
        if self.leaves_hand(&[&x, &y], n) && (pending || !shape.is_empty()) {
            let node = Node::map(op, ct, [x, y]);
            return self.cell(node, shape, (dtype, range));
        }
        self.mapped(op, ct, shape, &[x, y], dtype)
    }

    /// An argument beside another: a number beside an f32 array is the nearest f32, as if it had
    /// been written for it. One for which f32 has no room stays what it is.
    fn beside(&mut self, x: Array, other: &Array) -> Result<Array> {
        if x.rank() != 0 || known(other).0 != DType::F32 || known(&x).0 != DType::F64 {
            return Ok(x);
        }
        let x = self.ready(&x, "argument")?;
        Ok(match x.data() {
            Data::Num(a, _) if has_room(*a) => Array::num(f64::from(*a as f32)),
            _ => x,
        })
    }

    /// `x÷y` with ⎕DIV 1: 0 where y is 0.
    fn safe_quotient(&mut self, x: &Array, y: &Array) -> Result<Array> {
        let zero = self.map2(Op::Eq, y, &Array::num(0.0))?;
        let sure = self.map2(Op::Add, y, &zero)?;
        self.sys.settings.div = false;
        let quotient = self.map2(Op::Div, x, &sure);
        self.sys.settings.div = true;
        let keep = self.map1(Op::Not, &zero)?;
        self.map2(Op::Mul, &quotient?, &keep)
    }

    /// A monadic scalar function.
    pub fn map1(&mut self, op: Op, y: &Array) -> Result<Array> {
        if op == Op::Recip && self.sys.settings.div {
            return self.safe_quotient(&Array::num(1.0), y);
        }
        if let Data::Num(a, Digits::Any) = y.data() {
            return self.number1(op, *a);
        }
        if op == Op::Conj && y.is_char() {
            return Ok(y.clone());
        }
        match y.data() {
            Data::Items(_) => return self.pervade1(op, y),
            Data::Ref(_) => return Err(domain("a reference is no number")),
            _ => {}
        }
        if let Some(split) = y.frame() {
            let (node, at) = (split.node.clone(), split.at);
            return self.framed1(op, y, &node, at);
        }
        if op == Op::Not
            && let Some(done) = self.answers(op, y, y)?
        {
            return Ok(done);
        }
        if let Some(done) = self.at_hand(op, y, None)? {
            return Ok(done);
        }
        if y.is_char() {
            return if y.is_empty() {
                Array::numbers(y.shape(), vec![], self.budget())
            } else {
                Err(arithmetic_on_text(op))
            };
        }
        let shape: Shape = y.shape().into();
        let n = elements(&shape);
        let fact = known(y);
        let ct = if fact.0 == DType::F32 { 0.0 } else { self.sys.settings.ct };
        let (dtype, range) = self.result(op, &[fact]);
        if self.leaves_hand(&[y], n) {
            let node = Node::map(op, ct, [y.settled()]);
            return self.cell(node, shape, (dtype, range));
        }
        self.mapped(op, ct, shape, std::slice::from_ref(y), dtype)
    }

    /// A real result of real numbers; an error that `leaves_reals` where it is none.
    pub fn scalar2(&self, op: Op, x: f64, y: f64) -> Result<f64> {
        scalar::eval(op, self.sys.settings.ct, x, y).map_err(failed)
    }

    /// As `scalar2`, of one argument.
    pub fn scalar1(&self, op: Op, y: f64) -> Result<f64> {
        scalar::eval(op, self.sys.settings.ct, y, 0.0).map_err(failed)
    }

    fn run(
        &mut self,
        op: Op,
        ct: f64,
        a: &Lanes,
        b: &Lanes,
        n: usize,
        dtype: DType,
    ) -> Result<Vec<f64>> {
        let mut out = self.budget().filled(0.0, n)?;
        let (a, b) = (a.src()?, b.src()?);
        if n == 0 || self.host.apply((op, dtype), ct, a, b, &mut out) {
            if dtype == DType::F32 {
                single::all(&mut out)?;
            }
            return Ok(out);
        }
        for (k, o) in out.iter_mut().enumerate() {
            *o = scalar::eval_as(dtype, op, ct, item(a, k), item(b, k)).map_err(failed)?;
        }
        Ok(out)
    }

    /// A result in the storage that recording it would have given.
    pub fn stored(&self, op: Op, shape: Shape, out: Vec<f64>, dtype: DType) -> Result<Array> {
        if shape.is_empty() {
            return Ok(match dtype {
                DType::F32 => Array::single(out[0] as f32),
                _ => Array::num(out[0]),
            });
        }
        let budget = self.host.budget();
        match (dtype, op.row().gives) {
            (DType::F32, _) => Ok(Array::dense(
                shape,
                Arc::new(Buf::f32(out.iter().map(|&x| x as f32).collect(), budget)?),
            )),
            (DType::Bool, _) => {
                Ok(Array::dense(shape, Arc::new(Buf::stored(&out, DType::Bool, budget)?)))
            }
            (DType::F64, Gives::Float) => Array::floats(shape, out, budget),
            (DType::F64, _) => Array::floats(shape, out, budget),
            _ => Array::numbers(shape, out, budget),
        }
    }

    /// Forces a uniform array; a nested one keeps its pending items.
    pub fn ready_outer(&mut self, a: &Array) -> Result<Array> {
        if a.is_uniform() { self.ready(a, "argument") } else { Ok(a.clone()) }
    }

    /// A structural transform of any array: run now, or recorded.
    pub fn apply_move(&mut self, a: &Array, m: Move) -> Result<Array> {
        if a.frame().is_some() {
            return self.framed_move(a, &m);
        }
        if let Some(part) = chain::stretched(a, &m) {
            return Ok(part);
        }
        if let Some(made) = self.move_rows(a, &m)? {
            return Ok(made);
        }
        if let Some(shape) = m.is_reshape(a) {
            return a.with_shape(shape, self.budget());
        }
        let n = aplomb_values::array::checked_elements(&m.shape)?;
        if let Some(made) = self.few_at_hand(a, &m, n)? {
            return Ok(made);
        }
        let large = n > self.hand() || self.sys.records_all() && a.rank() > 0;
        if a.is_uniform() && !a.is_complex() && (a.pending().is_some() || large) {
            let fills = m.read.tests.iter().map(|t| t.fill);
            let range = known(a)
                .1
                .map(|(lo, hi)| fills.clone().fold((lo, hi), |r, f| (r.0.min(f), r.1.max(f))));
            let dtype = match a.dtype() {
                dtype if !dtype.is_integer() || m.read.tests.is_empty() => dtype,
                _ if fills.clone().any(|f| f != f.trunc()) => DType::F64,
                _ => range.and_then(|(lo, hi)| DType::of_range(lo, hi)).unwrap_or(DType::I32),
            };
            let range = range.filter(|_| dtype.is_integer());
            let node = Node::Transform(kinds::Transform {
                name: m.name,
                src: a.settled(),
                read: m.read,
                onto: m.onto,
            });
            return self.cell(node, m.shape, (dtype, range));
        }
        if n > SMALL && !a.is_uniform() {
            // Host items are small handles, but a bomb of them is a bomb.
            let _held = self.budget().charge_elements(n, std::mem::size_of::<Array>())?;
        }
        m.run(a, self.host.budget())
    }

    /// ⍳n, recorded when long.
    pub fn iota(&mut self, n: usize, origin: f64) -> Result<Array> {
        aplomb_values::array::checked_elements(&[n])?;
        if n > SMALL || self.sys.records_all() {
            let (lo, hi) = (origin, origin + (n.max(1) - 1) as f64);
            let dtype = DType::holding(lo, hi);
            let shape = Shape::from_slice(&[n]);
            return self.cell(Node::Iota(kinds::Iota { origin }), shape, (dtype, Some((lo, hi))));
        }
        if origin == 0.0 || origin == 1.0 {
            let (first, n) = (origin as u32, n as u32);
            let items = self.budget().each(first..n + first)?;
            let most = (n + first).saturating_sub(1);
            return Array::up_to([n as usize].as_slice(), items, most, self.budget());
        }
        self.vector((0..n).map(|k| k as f64 + origin).collect())
    }
}

/// APL's error for an element that has no value.
pub fn failed(fail: scalar::Fail) -> Error {
    fail.error()
}

fn arithmetic_on_text(op: Op) -> Error {
    domain(format!("{} takes numbers, not characters", op.glyph()))
}

/// A ready argument's items as f64.
enum Lanes {
    One(f64),
    Many(Vec<f64>),
    Shared(Arc<dyn aplomb_values::array::Storage>),
}

fn lanes(a: &Array, budget: &Budget) -> Result<Lanes> {
    let a = a.settled();
    Ok(match a.data() {
        Data::Num(x, _) => Lanes::One(*x),
        Data::Char(c) => Lanes::One(f64::from(u32::from(*c))),
        Data::Dense(b) if matches!(b.view(), View::F64(_)) => Lanes::Shared(b.clone()),
        Data::Dense(b) => Lanes::Many(b.view().numbers(budget)?),
        Data::Items(_) | Data::Ref(_) | Data::Complex(_) | Data::Lazy(_) | Data::Framed(_) => {
            return Err(bug!("the items of {} are no ready reals", a.dtype().name()));
        }
    })
}

fn item(of: Src, k: usize) -> f64 {
    match of {
        Src::One(x) => x,
        Src::Many(v) => v[k],
    }
}

impl Lanes {
    /// The second argument of a function of one.
    const NONE: Lanes = Lanes::One(0.0);

    fn src(&self) -> Result<Src<'_>> {
        Ok(match self {
            Lanes::One(x) => Src::One(*x),
            Lanes::Many(v) => Src::Many(v),
            Lanes::Shared(b) => match b.view() {
                View::F64(v) => Src::Many(v),
                _ => return Err(bug!("a storage of floats became one of another type")),
            },
        })
    }
}

/// Whether two simple scalars, one a reference, are the same thing. None: they are no such scalars.
fn references(x: &Array, y: &Array) -> Option<bool> {
    let one = x.to_reference().or(y.to_reference()).is_some();
    let scalars = x.is_simple_scalar() && y.is_simple_scalar();
    (one && scalars).then(|| x.to_reference() == y.to_reference())
}

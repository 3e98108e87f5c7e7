//! The value: a shape and its items in row-major order.
//!
//! `Data` says where the items are: inline scalars, a dense buffer, host items (nested or mixed),
//! or a pending cell. Always: the shape's product is the number of items; a nested array's items
//! are arrays; a simple scalar is its own enclosure. Numbers are f64 to the user; dtypes are
//! storage. Arrays are immutable: change copies, or takes a buffer that nobody else holds. A
//! complex number whose imaginary part is 0 is a real one, in every array.

mod blocks;
mod change;
mod columns;
mod complex;
pub mod format;
mod items;
mod listed;
mod numbers;
mod part;
mod places;
mod ragged;
mod ready;
mod reference;
mod split;
mod storage;

pub use change::Changing;
pub use columns::chosen;
pub use items::{MOST_DEPTH, advance, around, strides};
pub use listed::End;
pub use num_complex::Complex64;
pub use ragged::{Ragged, storage};
pub use reference::{Reference, Referent};
pub use split::{Held, Split, TAKEN_OUT};
pub use storage::{Buf, Storage, View, whole};

use crate::dag::Cell;
use aplomb_ground::error::{Result, limit};
use aplomb_ground::limits::Budget;
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;

/// Up to two axes stand in the value itself.
pub type Shape = SmallVec<[usize; 2]>;

/// Storage types. There is no i64: an integer that leaves i32 is an f64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// 0 or 1, in a byte.
    Bool,
    /// An integer of 8 bits.
    I8,
    /// An integer of 16 bits.
    I16,
    /// An integer of 32 bits.
    I32,
    /// A float of 32 bits.
    F32,
    /// A float of 64 bits.
    F64,
    /// Two f64. An array has this dtype only where some item is not real.
    Complex,
    /// A character, as its code point.
    Char,
    /// Arrays, or items of several kinds.
    Nested,
}

impl DType {
    /// The name in traces and messages, `i32`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::Complex => "complex",
            DType::Char => "char",
            DType::Nested => "nested",
        }
    }

    /// Bytes of one element in memory; 0 for nested.
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::I8 => 1,
            DType::I16 => 2,
            DType::I32 | DType::F32 | DType::Char => 4,
            DType::F64 => 8,
            DType::Complex => 16,
            DType::Nested => 0,
        }
    }

    /// Whether it holds whole numbers; booleans are some.
    pub const fn is_integer(self) -> bool {
        matches!(self, DType::Bool | DType::I8 | DType::I16 | DType::I32)
    }

    /// Whether it holds numbers, complex ones among them.
    pub const fn is_number(self) -> bool {
        !matches!(self, DType::Char | DType::Nested)
    }

    /// The narrowest storage of integers between `lo` and `hi`; None beyond i32.
    pub fn of_range(lo: f64, hi: f64) -> Option<DType> {
        let within = |a: i32, b: i32| lo >= f64::from(a) && hi <= f64::from(b);
        match () {
            () if within(0, 1) => Some(DType::Bool),
            () if within(-128, 127) => Some(DType::I8),
            () if within(-32_768, 32_767) => Some(DType::I16),
            () if within(i32::MIN, i32::MAX) => Some(DType::I32),
            () => None,
        }
    }

    /// The values an integer storage can hold.
    pub const fn range(self) -> Option<(f64, f64)> {
        match self {
            DType::Bool => Some((0.0, 1.0)),
            DType::I8 => Some((-128.0, 127.0)),
            DType::I16 => Some((-32_768.0, 32_767.0)),
            DType::I32 => Some((-2_147_483_648.0, 2_147_483_647.0)),
            _ => None,
        }
    }
}

/// The digits of a real scalar, as far as they are its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    /// It was written, or computed of such: it takes the type of what it stands beside.
    Any,
    /// An item of an array of f32, or computed of such: it is of 32 bits wherever it stands.
    Single,
}

/// The place where an array's items are.
#[derive(Clone)]
pub enum Data {
    /// A real scalar.
    Num(f64, Digits),
    /// Not real.
    Complex(Complex64),
    /// A character scalar.
    Char(char),
    /// A reference to something that has its own identity: a simple scalar, no number.
    Ref(Reference),
    /// Items of one dtype in a buffer, row by row.
    Dense(Arc<dyn Storage>),
    /// Items that are arrays, or of several kinds.
    Items(Rc<Items>),
    /// A value that is recorded and not computed.
    Lazy(Rc<Cell>),
    /// A cell seen by a function that runs once for a whole frame of cells. Never leaves that run.
    Framed(Rc<Split>),
}

/// Host items. An empty array keeps its prototype here.
pub struct Items {
    held: Held,
    /// The prototype of an empty array: what its first item would look like.
    pub proto: Option<Array>,
    /// One more than the deepest item.
    pub depth: u32,
    /// Arrays in it, itself included, counted as a tree.
    pub nodes: u64,
    /// Something in it was pending when it was made.
    pub lazy: bool,
}

impl Items {
    /// Arrays as they stand.
    fn of(items: Vec<Array>, proto: Option<Array>) -> Items {
        let depth = items.iter().map(Array::depth).max().unwrap_or(0).saturating_add(1);
        let nodes = items.iter().fold(1u64, |n, a| n.saturating_add(a.nodes()));
        let lazy = items.iter().any(Array::holds_lazy);
        Items { held: Held::Items(listed::List::new(items)), proto, depth, nodes, lazy }
    }

    /// The items one by one, row by row.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Array> + ExactSizeIterator + '_ {
        (0..self.held.count()).map(|k| self.held.at(k))
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.held.count()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items where they stand as arrays; None: they are parts of one.
    pub fn listed(&self) -> Option<&[Array]> {
        match &self.held {
            Held::Items(list) => Some(list.items()),
            Held::Stretch(part) => Some(part.items()),
            Held::Rows(_) | Held::Ragged(_) => None,
            Held::Lines(_) | Held::Columns(_) | Held::Enclosed(_) | Held::Ended(..) => None,
        }
    }

    /// The k-th item, row by row.
    pub fn at(&self, k: usize) -> Array {
        self.held.at(k)
    }

    /// The one array whose cells are the items, if they are.
    pub fn split(&self) -> Option<&Split> {
        self.held.split()
    }

    /// The nested array whose cells are the items, if they are.
    pub fn lines(&self) -> Option<&Split> {
        self.held.lines()
    }

    /// The flat array whose pieces are the items, if they are.
    pub fn pieces(&self) -> Option<&Ragged> {
        self.held.pieces()
    }
}

/// A deep nest is taken apart with a list, not with the call stack.
impl Drop for Items {
    fn drop(&mut self) {
        if self.depth < 64 {
            return;
        }
        let mut stack = self.held.take();
        while let Some(array) = stack.pop() {
            if let Data::Items(rc) = array.data
                && let Some(mut items) = Rc::into_inner(rc)
            {
                stack.append(&mut items.held.take());
            }
        }
    }
}

/// A value of the language: a shape and its items in row-major order.
pub struct Array {
    shape: Shape,
    data: Data,
}

/// By hand, because most values are scalars: their shape costs nothing.
impl Clone for Array {
    #[inline]
    fn clone(&self) -> Array {
        let shape =
            if self.shape.is_empty() { Shape::new() } else { Shape::from_slice(&self.shape) };
        Array { shape, data: self.data.clone() }
    }
}

/// The number of items of a shape. Callers that take shapes from users check with
/// `checked_elements` first.
pub fn elements(shape: &[usize]) -> usize {
    shape.iter().fold(1, |n, &d| n.saturating_mul(d))
}

/// Errors: LIMIT ERROR beyond 15 axes, WS FULL when the product passes 2*53.
pub fn checked_elements(shape: &[usize]) -> Result<usize> {
    if shape.len() > 15 {
        return Err(limit(format!("{} axes; an array has at most 15", shape.len())));
    }
    if shape.contains(&0) {
        return Ok(0);
    }
    let product = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).filter(|&n| n <= 1 << 53);
    product.ok_or_else(too_long)
}

/// The error of a shape beyond all memories.
pub fn too_long() -> aplomb_ground::error::Error {
    let says = "this shape has more than 2*53 items, which no memory holds";
    aplomb_ground::error::Error::new(aplomb_ground::error::Kind::WsFull, says)
}

impl Array {
    /// A real scalar.
    pub fn num(x: f64) -> Self {
        Array { shape: Shape::new(), data: Data::Num(x, Digits::Any) }
    }

    /// A real scalar of 32 bits.
    pub fn single(x: f32) -> Self {
        Array { shape: Shape::new(), data: Data::Num(x.into(), Digits::Single) }
    }

    /// A character scalar.
    pub fn char(c: char) -> Self {
        Array { shape: Shape::new(), data: Data::Char(c) }
    }

    /// A boolean as the scalar 0 or 1.
    pub fn bool(b: bool) -> Self {
        Array::num(f64::from(u8::from(b)))
    }

    /// Items from a buffer. The caller's shape must have exactly the buffer's length.
    pub fn dense(shape: impl Into<Shape>, buffer: Arc<dyn Storage>) -> Self {
        let shape = shape.into();
        debug_assert_eq!(elements(&shape), buffer.len());
        if shape.is_empty() {
            return match buffer.view() {
                View::Char(v) => Array::char(v[0]),
                View::Complex(v) => Array::complex(v[0]),
                View::F32(v) => Array::single(v[0]),
                view => Array::num(view.number(0)),
            };
        }
        Array { shape, data: Data::Dense(buffer) }
    }

    /// Numbers in their narrowest storage. Errors: WS FULL.
    pub fn numbers(shape: impl Into<Shape>, items: Vec<f64>, budget: &Budget) -> Result<Self> {
        let shape = shape.into();
        if shape.is_empty() {
            return Ok(Array::num(items[0]));
        }
        Ok(Array::dense(shape, Arc::new(Buf::numbers(items, budget)?)))
    }

    /// Numbers of 32 bits, each as near as there is one. Errors: WS FULL, INTERRUPT.
    pub fn singles(shape: impl Into<Shape>, items: &[f64], budget: &Budget) -> Result<Self> {
        Ok(Array::dense(shape, Arc::new(Buf::stored(items, DType::F32, budget)?)))
    }

    /// Whole numbers of which none is beyond a known one: places, counts. Errors: WS FULL,
    /// INTERRUPT.
    pub fn up_to(
        shape: impl Into<Shape>,
        items: Vec<u32>,
        most: u32,
        budget: &Budget,
    ) -> Result<Self> {
        let shape = shape.into();
        if shape.is_empty() {
            return Ok(Array::num(f64::from(items[0])));
        }
        Ok(Array::dense(shape, Arc::new(Buf::up_to(items, most, budget)?)))
    }

    /// Numbers kept as f64 whatever their values. Errors: WS FULL.
    pub fn floats(shape: impl Into<Shape>, items: Vec<f64>, budget: &Budget) -> Result<Self> {
        let shape = shape.into();
        if shape.is_empty() {
            return Ok(Array::num(items[0]));
        }
        Ok(Array::dense(shape, Arc::new(Buf::f64(items, budget)?)))
    }

    /// Characters of that shape. Errors: WS FULL.
    pub fn chars(shape: impl Into<Shape>, items: Vec<char>, budget: &Budget) -> Result<Self> {
        let shape = shape.into();
        if shape.is_empty() {
            return Ok(Array::char(items[0]));
        }
        Ok(Array::dense(shape, Arc::new(Buf::chars(items, budget)?)))
    }

    /// A vector of a text's characters. Errors: WS FULL.
    pub fn text(text: &str, budget: &Budget) -> Result<Self> {
        /// Characters between two looks at the interrupt.
        const BLOCK: usize = 1 << 20;
        let (n, mut chars) = (text.chars().count(), text.chars());
        let mut items = budget.room(n)?;
        while items.len() < n {
            budget.check()?;
            items.extend(chars.by_ref().take(BLOCK));
        }
        Array::chars([items.len()].as_slice(), items, budget)
    }

    /// Host items as they stand; `proto` is kept for empties. Use `Array::collect` to simplify
    /// simple ones.
    pub fn items(shape: impl Into<Shape>, items: Vec<Array>, proto: Option<Array>) -> Self {
        let shape = shape.into();
        debug_assert_eq!(elements(&shape), items.len());
        Array { shape, data: Data::Items(Rc::new(Items::of(items, proto))) }
    }

    /// The cells of a uniform array as items of its first `at` axes. Neither frame nor cell may be
    /// empty or rank 0.
    pub fn rows(node: Array, at: usize) -> Self {
        let shape: Shape = node.shape()[..at].into();
        debug_assert!(
            !shape.is_empty() && at < node.rank() && !node.is_empty() && node.is_uniform()
        );
        let nodes = elements(&shape) as u64 + 1;
        let lazy = node.holds_lazy();
        let held = Held::Rows(Split { node, at });
        Array {
            shape,
            data: Data::Items(Rc::new(Items { held, proto: None, depth: 1, nodes, lazy })),
        }
    }

    /// The cells of a nested array as items of its first `at` axes, as `rows` has those of another.
    /// None: something in it waits, or is no real number, character or array.
    pub fn lines_of(node: &Array, at: usize) -> Option<Self> {
        let shape: Shape = node.shape()[..at].into();
        let Data::Items(held) = &node.data else { return None };
        let open = |a: &Array| matches!(a.data, Data::Complex(_) | Data::Ref(_) | Data::Framed(_));
        let listed = |all: &[Array]| !held.lazy && !all.is_empty() && !all.iter().any(open);
        let fits = node.columns().is_some() || held.listed().is_some_and(listed);
        if shape.is_empty() || at == node.rank() || !fits {
            return None;
        }
        let (depth, lines) = (held.depth.saturating_add(1), elements(&shape) as u64);
        let nodes = held.nodes.saturating_add(lines);
        let held = Held::Lines(Split { node: node.clone(), at });
        let items = Items { held, proto: None, depth, nodes, lazy: false };
        Some(Array { shape, data: Data::Items(Rc::new(items)) })
    }

    /// The nested array whose cells are this array's items.
    pub fn lines(&self) -> Option<&Split> {
        match &self.data {
            Data::Items(items) => items.lines(),
            _ => None,
        }
    }

    /// The pieces of a flat array as items; the shape has as many.
    pub fn ragged(shape: impl Into<Shape>, pieces: Ragged) -> Self {
        let nodes = pieces.count() as u64 + 1;
        let (depth, nodes) = match &pieces.flat().data {
            Data::Items(inner) => (inner.depth.saturating_add(1), nodes + inner.nodes),
            _ => (1, nodes),
        };
        let held = Held::Ragged(pieces);
        let items = Items { held, proto: None, depth, nodes, lazy: false };
        Array { shape: shape.into(), data: Data::Items(Rc::new(items)) }
    }

    /// A scalar for each item of an array of arrays, which holds that item: `⊂¨`. None: some item
    /// is a simple scalar, as which it stays, or waits. Errors: LIMIT, WS FULL.
    pub fn each_enclosed(&self, budget: &Budget) -> Result<Option<Self>> {
        match &self.data {
            Data::Items(items) if items.listed().is_none() => self.held_enclosed(budget),
            _ => Ok(None),
        }
    }

    /// The same of arrays that stand one by one, too, where somebody soon looks inside again.
    pub fn held_enclosed(&self, budget: &Budget) -> Result<Option<Self>> {
        let Data::Items(items) = &self.data else { return Ok(None) };
        let scalar = |all: &[Array]| all.iter().any(Array::is_simple_scalar);
        if items.lazy || self.rank() == 0 || items.listed().is_some_and(scalar) {
            return Ok(None);
        }
        if matches!(items.held, Held::Columns(_) | Held::Ended(..)) {
            return Ok(None);
        }
        let (depth, lazy) = (items.depth.saturating_add(1), false);
        let nodes = items.nodes.saturating_add(items.len() as u64);
        let held = Held::Enclosed(self.clone());
        let items = Items { held, proto: None, depth, nodes, lazy };
        let made = Array { shape: self.shape.clone(), data: Data::Items(Rc::new(items)) };
        made.within_limits(budget).map(Some)
    }

    /// The array whose items the scalars of this one hold, if it is held as that.
    pub fn held_inside(&self) -> Option<Array> {
        let Data::Items(items) = &self.data else { return None };
        let Held::Enclosed(inside) = &items.held else { return None };
        Some(inside.reshaped(self.shape.clone()))
    }

    /// A simple vector that is there, with one array behind its items: a fold's items and the state
    /// that it begins with. None: the vector is another, or the array waits, or is a simple scalar.
    /// Errors: LIMIT, WS FULL.
    pub fn ended(front: &Array, last: Array, budget: &Budget) -> Result<Option<Self>> {
        let held = matches!(front.data, Data::Dense(_)) && front.rank() == 1;
        if !held || last.holds_lazy() || last.is_simple_scalar() || last.frame().is_some() {
            return Ok(None);
        }
        let depth = last.depth().saturating_add(1);
        let nodes = last.nodes().saturating_add(front.len() as u64 + 1);
        let shape: Shape = [front.len() + 1].as_slice().into();
        let held = Held::Ended(front.clone(), last);
        let items = Items { held, proto: None, depth, nodes, lazy: false };
        let made = Array { shape, data: Data::Items(Rc::new(items)) };
        made.within_limits(budget).map(Some)
    }

    /// The simple vector and the array behind it, if this one is held as such.
    pub fn front_and_last(&self) -> Option<(&Array, &Array)> {
        match &self.data {
            Data::Items(items) if self.rank() == 1 => match &items.held {
                Held::Ended(front, last) => Some((front, last)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The flat array whose pieces are this nested array's items.
    pub fn pieces(&self) -> Option<&Ragged> {
        match &self.data {
            Data::Items(items) => items.pieces(),
            _ => None,
        }
    }

    /// A uniform array as the function sees it that runs once for all cells behind the first `at`
    /// axes.
    pub fn framed(node: Array, at: usize) -> Self {
        Array { shape: node.shape()[at..].into(), data: Data::Framed(Rc::new(Split { node, at })) }
    }

    /// The frame of a framed value.
    pub fn frame(&self) -> Option<&Split> {
        match &self.data {
            Data::Framed(split) => Some(split),
            _ => None,
        }
    }

    /// The array whose cells are this nested array's items.
    pub fn split(&self) -> Option<&Split> {
        match &self.data {
            Data::Items(items) => items.split(),
            _ => None,
        }
    }

    /// A pending value: its cell, with the cell's shape.
    pub fn lazy(cell: Rc<Cell>) -> Self {
        Array { shape: cell.shape().into(), data: Data::Lazy(cell) }
    }

    /// The extents of the axes; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        elements(&self.shape)
    }

    /// Whether it has no item.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The place of the items.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The items, without the shape.
    pub fn into_data(self) -> Data {
        self.data
    }

    /// The cell of a pending array, if it is still pending.
    pub fn pending(&self) -> Option<&Rc<Cell>> {
        match &self.data {
            Data::Lazy(cell) if cell.forced().is_none() => Some(cell),
            _ => None,
        }
    }

    /// The items, if they lie there as floats of 64 bits.
    pub fn floats_there(&self) -> Option<&[f64]> {
        match self.view_there()? {
            View::F64(items) => Some(items),
            _ => None,
        }
    }

    /// The items of one type, if they lie in a buffer here.
    pub fn view_there(&self) -> Option<View<'_>> {
        match &self.data {
            Data::Dense(held) => Some(held.view()),
            _ => None,
        }
    }

    /// True of one array that is held twice: whatever is found out about one holds for the other.
    pub fn is_one_with(&self, other: &Array) -> bool {
        self.shape == other.shape
            && match (&self.data, &other.data) {
                (Data::Dense(a), Data::Dense(b)) => Arc::ptr_eq(a, b),
                (Data::Items(a), Data::Items(b)) => Rc::ptr_eq(a, b),
                (Data::Lazy(a), Data::Lazy(b)) => Rc::ptr_eq(a, b),
                _ => false,
            }
    }

    /// True of an array whose items lie in a buffer that nobody else holds.
    pub fn is_unshared(&self) -> bool {
        matches!(&self.data, Data::Dense(held) if Arc::strong_count(held) == 1)
    }

    /// The value with a forced cell replaced by what it became. A pending one stays.
    pub fn settled(&self) -> Array {
        match &self.data {
            Data::Lazy(cell) => cell.forced().unwrap_or_else(|| self.clone()),
            _ => self.clone(),
        }
    }

    /// The dtype as far as it is known without forcing; scalars have the narrowest.
    pub fn dtype(&self) -> DType {
        match &self.data {
            Data::Num(_, Digits::Single) => DType::F32,
            Data::Num(x, Digits::Any) => narrowest(*x),
            Data::Complex(_) => DType::Complex,
            Data::Char(_) => DType::Char,
            Data::Dense(b) => b.dtype(),
            Data::Items(_) | Data::Ref(_) => DType::Nested,
            Data::Lazy(cell) => cell.dtype(),
            Data::Framed(split) => split.node.dtype(),
        }
    }

    /// The same items under another shape of the same product. A pending array cannot: transform it
    /// instead.
    pub fn reshaped(&self, shape: impl Into<Shape>) -> Array {
        let shape = shape.into();
        debug_assert_eq!(elements(&shape), self.len());
        match &self.data {
            Data::Num(x, digits) if !shape.is_empty() => {
                Array { shape, data: Data::Dense(Arc::new(Buf::one_number(*x, *digits))) }
            }
            Data::Complex(z) if !shape.is_empty() => {
                Array { shape, data: Data::Dense(Arc::new(Buf::one_complex(*z))) }
            }
            Data::Ref(_) if !shape.is_empty() => Array::items(shape, vec![self.clone()], None),
            Data::Char(c) if !shape.is_empty() => {
                Array { shape, data: Data::Dense(Arc::new(Buf::one_char(*c))) }
            }
            Data::Dense(b) => Array::dense(shape, b.clone()),
            // The frame of rows is the shape of the array that they are items of.
            Data::Items(items) if let (Some(lines), 1..) = (items.lines(), shape.len()) => {
                let held = Held::Lines(lines.reframed(&shape));
                let Items { depth, nodes, .. } = **items;
                let items = Items { held, proto: None, depth, nodes, lazy: false };
                Array { shape, data: Data::Items(Rc::new(items)) }
            }
            Data::Items(items) if let (Some(rows), 1..) = (items.split(), shape.len()) => {
                Array::rows(rows.reframed(&shape).node, shape.len())
            }
            data => Array { shape, data: data.clone() },
        }
    }
}

/// The storage of one number.
pub fn narrowest(x: f64) -> DType {
    DType::of_numbers(&[x])
}

//! Items of host values: one by one, as numbers, as characters; collecting items into the simplest
//! array.

use super::blocks::{BLOCK, copied};
use super::{Array, Buf, DType, Data, Digits, Shape, View, elements};
use crate::dag::{Cell, Meta, Node, Read, kinds};
use aplomb_ground::error::{Result, limit, untraced, ws_full};
use aplomb_ground::limits::Budget;
use std::sync::Arc;

/// Nested deeper than this is LIMIT ERROR, so that walks over a value may recurse.
pub const MOST_DEPTH: u32 = 1_000;

/// Characters of the longest `word`.
const LONGEST_WORD: usize = 1 << 16;

/// Items that a prototype has in memory: others wait until somebody looks at them.
const ZEROS: usize = 1 << 16;

/// The things at `n` places; None where one of them has nothing. Errors: WS FULL, unless
/// one of the first thousand has nothing; INTERRUPT.
pub(super) fn all_of<T>(
    n: usize,
    budget: &Budget,
    at: impl Fn(usize) -> Option<T>,
) -> Result<Option<Vec<T>>> {
    if (0..n.min(1_000)).any(|k| at(k).is_none()) {
        return Ok(None);
    }
    let (mut out, mut ticks) = (budget.room(n)?, budget.ticks());
    for k in 0..n {
        ticks.tick()?;
        match at(k) {
            Some(x) => out.push(x),
            None => return Ok(None),
        }
    }
    Ok(Some(out))
}

/// Errors: WS FULL, INTERRUPT.
fn of_chars(chars: &[char], budget: &Budget) -> Result<String> {
    let mut out = String::new();
    for block in chars.chunks(BLOCK) {
        budget.check()?;
        let more = block.iter().map(|c| c.len_utf8()).sum();
        if out.capacity() - out.len() < more {
            budget.grow(&mut out, more)?;
        }
        out.extend(block);
    }
    Ok(out)
}

impl Array {
    /// A number, a character or a reference of rank 0.
    pub fn is_simple_scalar(&self) -> bool {
        match &self.data {
            Data::Num(_, _) | Data::Complex(_) | Data::Char(_) | Data::Ref(_) => true,
            Data::Lazy(_) | Data::Framed(_) => self.shape.is_empty(),
            _ => false,
        }
    }

    /// Numbers or characters in one buffer (or pending): what can be recorded.
    pub fn is_uniform(&self) -> bool {
        !matches!(self.data, Data::Items(_) | Data::Ref(_))
    }

    /// Whether it holds real numbers or characters here and now, one array and no cells: what
    /// can be taken from its storage.
    pub fn is_plain(&self) -> bool {
        self.is_uniform()
            && !self.is_complex()
            && self.pending().is_none()
            && self.frame().is_none()
    }

    /// Whether it holds real numbers that are worked with as f64.
    pub fn is_of_f64(&self) -> bool {
        self.is_uniform()
            && !self.is_char()
            && !self.is_complex()
            && self.dtype() != super::DType::F32
    }

    /// Whether the items are characters.
    pub fn is_char(&self) -> bool {
        self.dtype() == super::DType::Char
    }

    /// All items are simple scalars.
    pub fn is_simple(&self) -> bool {
        match &self.data {
            // Parts of one array are arrays: nobody needs to take them apart for that.
            Data::Items(i) if i.listed().is_none() => false,
            Data::Items(i) => i.iter().all(|i| i.is_simple_scalar()),
            _ => true,
        }
    }

    /// Levels of nesting, capped, for the limit.
    pub fn depth(&self) -> u32 {
        match &self.data {
            Data::Items(i) => i.depth,
            _ => 0,
        }
    }

    /// Arrays in it as a tree: sharing makes it cheap to build what would take for ever to walk.
    pub fn nodes(&self) -> u64 {
        match &self.data {
            Data::Items(i) => i.nodes,
            _ => 1,
        }
    }

    /// A cell stands in it, or stood when it was made.
    pub fn holds_lazy(&self) -> bool {
        match &self.data {
            Data::Items(i) => i.lazy,
            Data::Lazy(_) => true,
            _ => false,
        }
    }

    /// Item `at` in row-major order, as it stands in a strand: a scalar or the array inside.
    pub fn item(&self, at: usize) -> Array {
        match &self.data {
            Data::Dense(b) => match b.view() {
                View::Char(v) => Array::char(v[at]),
                View::Complex(v) => Array::complex(v[at]),
                View::F32(v) => Array::single(v[at]),
                view => Array::num(view.number(at)),
            },
            Data::Items(i) => i.at(at),
            Data::Lazy(cell) => match cell.forced() {
                Some(a) => a.item(at),
                None => self.scalar(),
            },
            Data::Framed(_) => self.scalar(),
            Data::Num(_, _) | Data::Complex(_) | Data::Char(_) | Data::Ref(_) => self.clone(),
        }
    }

    /// A value that has no items to take: its one, if it is a scalar, itself.
    fn scalar(&self) -> Array {
        debug_assert!(self.shape.is_empty(), "an item of a value that is not there");
        self.clone()
    }

    /// Item `at` as a real number (a character's code point). None for an item that is an array or
    /// not real, or that is not there.
    pub fn number_at(&self, at: usize) -> Option<f64> {
        match &self.data {
            Data::Num(x, _) => Some(*x),
            Data::Char(c) => Some(f64::from(u32::from(*c))),
            Data::Complex(_) | Data::Ref(_) => None,
            Data::Dense(_) | Data::Items(_) if at >= self.len() => None,
            Data::Dense(b) => match b.view() {
                View::Complex(v) => Some(v[at]).filter(|z| z.im == 0.0).map(|z| z.re),
                view => Some(view.number(at)),
            },
            Data::Items(i) => match i.at(at).data {
                Data::Num(x, _) => Some(x),
                _ => None,
            },
            Data::Lazy(cell) => cell.forced().and_then(|a| a.number_at(at)),
            Data::Framed(_) => None,
        }
    }

    /// Every item as an array, one after the other: nothing holds them all.
    pub fn in_turn(&self) -> impl ExactSizeIterator<Item = Array> + '_ {
        (0..self.len()).map(|k| self.item(k))
    }

    /// Every item as an array, all at once. Errors: WS FULL, INTERRUPT.
    pub fn to_items(&self, budget: &Budget) -> Result<Vec<Array>> {
        let mut ticks = budget.ticks();
        let mut out = budget.room(self.len())?;
        for item in self.in_turn() {
            ticks.tick()?;
            out.push(item);
        }
        Ok(out)
    }

    /// The items of an array that has so many; None: it has another number.
    pub fn few<const N: usize>(&self) -> Option<[Array; N]> {
        (self.len() == N).then(|| std::array::from_fn(|k| self.item(k)))
    }

    /// All items as real numbers; None if one is no real number. Errors: WS FULL, INTERRUPT.
    pub fn to_numbers(&self, budget: &Budget) -> Result<Option<Vec<f64>>> {
        Ok(Some(match &self.data {
            Data::Num(x, _) => vec![*x],
            Data::Char(_) | Data::Complex(_) | Data::Ref(_) | Data::Framed(_) => return Ok(None),
            Data::Dense(b) => match b.view() {
                View::Char(v) if !v.is_empty() => return Ok(None),
                View::Complex(_) => return Ok(None),
                view => view.numbers(budget)?,
            },
            Data::Items(i) => {
                return all_of(i.len(), budget, |k| i.at(k).number_scalar());
            }
            Data::Lazy(cell) => {
                return cell.forced().map_or(Ok(None), |a| a.to_numbers(budget));
            }
        }))
    }

    /// Whether all items are real numbers: `to_numbers` would give them.
    pub fn holds_numbers(&self) -> bool {
        match &self.data {
            Data::Items(i) => i.iter().all(|a| a.number_scalar().is_some()),
            Data::Lazy(cell) => cell.forced().is_some_and(|a| a.holds_numbers()),
            Data::Ref(_) | Data::Framed(_) => false,
            Data::Num(_, _) | Data::Char(_) | Data::Complex(_) | Data::Dense(_) => {
                !self.is_complex() && (!self.is_char() || self.is_empty())
            }
        }
    }

    /// The number of a simple scalar that is real.
    pub fn number_scalar(&self) -> Option<f64> {
        match &self.data {
            Data::Num(x, _) => Some(*x),
            Data::Lazy(cell) if self.shape.is_empty() => {
                cell.forced().and_then(|a| a.number_scalar())
            }
            _ => None,
        }
    }

    /// All items as characters; None if one is none. Errors: WS FULL, INTERRUPT.
    pub fn to_chars(&self, budget: &Budget) -> Result<Option<Vec<char>>> {
        Ok(match &self.data {
            Data::Char(c) => Some(vec![*c]),
            Data::Num(_, _) | Data::Complex(_) | Data::Ref(_) | Data::Framed(_) => None,
            Data::Dense(b) => match b.view() {
                View::Char(v) => Some(copied(v, budget)?),
                view => view.is_empty().then(Vec::new),
            },
            Data::Items(i) => all_of(i.len(), budget, |k| match i.at(k).data {
                Data::Char(c) => Some(c),
                _ => None,
            })?,
            Data::Lazy(cell) => match cell.forced() {
                Some(a) => a.to_chars(budget)?,
                None => None,
            },
        })
    }

    /// The text of a character vector or scalar; None: it is none. Errors: WS FULL, INTERRUPT.
    pub fn to_text(&self, budget: &Budget) -> Result<Option<String>> {
        if self.rank() > 1 {
            return Ok(None);
        }
        if let Data::Dense(b) = &self.data
            && let View::Char(v) = b.view()
        {
            return of_chars(v, budget).map(Some);
        }
        match self.to_chars(budget)? {
            Some(chars) => of_chars(&chars, budget).map(Some),
            None => Ok(None),
        }
    }

    /// The text of a name, an option, a path or a pattern: of up to 65 536 characters, so nobody
    /// need be asked. None: it is longer, or no text.
    pub fn word(&self) -> Option<String> {
        if self.len() > LONGEST_WORD || self.rank() > 1 {
            return None;
        }
        let one = |a: Array| match a.data {
            Data::Char(c) => Some(c),
            _ => None,
        };
        match &self.data {
            Data::Lazy(cell) => cell.forced().and_then(|a| a.word()),
            Data::Framed(_) => None,
            _ => self.in_turn().map(one).collect(),
        }
    }

    /// The item that fills where nothing is: 0, ' ', or the first item with every leaf replaced.
    pub fn prototype(&self) -> Array {
        match &self.data {
            Data::Items(i) => match (i.iter().next(), &i.proto) {
                (Some(first), _) => first.zeroed(&mut { ZEROS }),
                (None, Some(p)) => p.clone(),
                (None, None) => Array::num(0.0),
            },
            _ if self.is_char() => Array::char(' '),
            _ => Array::num(0.0),
        }
    }

    /// Every number 0, every character a blank; so many items have bytes.
    fn zeroed(&self, room: &mut usize) -> Array {
        match &self.data {
            Data::Items(i) => {
                let items = i.iter().map(|a| a.zeroed(room)).collect();
                Array::items(self.shape.clone(), items, i.proto.clone())
            }
            _ if self.shape.is_empty() => self.prototype(),
            // Nobody may ever look at it: a pending one has no bytes.
            _ if self.len() > *room => {
                let proto = self.prototype();
                let meta = Meta {
                    shape: self.shape.clone(),
                    dtype: proto.dtype(),
                    range: None,
                    place: None,
                };
                let node = Node::Transform(kinds::Transform {
                    name: "⍴",
                    src: proto,
                    read: Read::new([]),
                    onto: true,
                });
                Array::lazy(Cell::new(node, meta, 0))
            }
            _ => {
                *room -= self.len();
                let fills = match self.is_char() {
                    true => Buf::uncounted_chars(vec![' '; self.len()]),
                    false => Buf::uncounted(&vec![0.0; self.len()], DType::Bool),
                };
                Array::dense(self.shape.clone(), Arc::new(fills))
            }
        }
    }

    /// Items in the simplest storage: numbers, characters, or as they stand. Errors: WS FULL, LIMIT
    /// (depth).
    pub fn collect(
        shape: impl Into<Shape>,
        items: Vec<Array>,
        proto: Option<Array>,
        budget: &Budget,
    ) -> Result<Array> {
        let shape = shape.into();
        if items.is_empty() {
            return Ok(match proto {
                Some(p) if p.is_simple_scalar() && p.is_char() => {
                    Array::chars(shape, vec![], budget)?
                }
                Some(p) if !p.is_simple_scalar() => Array::items(shape, items, Some(p)),
                _ => Array::numbers(shape, vec![], budget)?,
            });
        }
        if items.iter().any(|a| a.frame().is_some()) {
            return Err(untraced("cells become items"));
        }
        if items.iter().all(|a| matches!(a.data, Data::Num(_, Digits::Single))) {
            let numbers = items.iter().filter_map(|a| a.number_scalar().map(|x| x as f32));
            let numbers = budget.each(numbers)?;
            return Ok(Array::dense(shape, Arc::new(Buf::f32(numbers, budget)?)));
        }
        if items.iter().all(|a| matches!(a.data, Data::Num(_, _))) {
            let numbers = items.iter().filter_map(Array::number_scalar).collect();
            return Array::numbers(shape, numbers, budget);
        }
        if items.iter().all(|a| matches!(a.data, Data::Num(_, _) | Data::Complex(_))) {
            let numbers = items.iter().filter_map(|a| a.complex_at(0)).collect();
            return Array::complexes(shape, numbers, budget);
        }
        if items.iter().all(|a| matches!(a.data, Data::Char(_))) {
            let chars = items
                .iter()
                .filter_map(|a| if let Data::Char(c) = a.data { Some(c) } else { None })
                .collect();
            return Array::chars(shape, chars, budget);
        }
        if shape.is_empty() && items[0].is_simple_scalar() {
            return Ok(items[0].clone());
        }
        Array::items(shape, items, None).within_limits(budget)
    }

    /// Errors: LIMIT, where it is too deep; WS FULL, where taking it apart would take too much.
    pub(super) fn within_limits(self, budget: &Budget) -> Result<Array> {
        if self.depth() > MOST_DEPTH {
            return Err(limit(format!("arrays nest at most {MOST_DEPTH} deep")));
        }
        let bytes = self.nodes().saturating_mul(std::mem::size_of::<Array>() as u64);
        if self.nodes() > 1 << 20 && bytes > budget.free() && budget.free() < 1 << 50 {
            return Err(ws_full(bytes, budget.free()));
        }
        Ok(self)
    }

    /// The same items under another shape (of the same product), whatever holds them.
    pub fn with_shape(&self, shape: impl Into<Shape>, budget: &Budget) -> Result<Array> {
        let shape = shape.into();
        if self.shape == shape {
            return Ok(self.clone());
        }
        match &self.data {
            Data::Framed(_) => Err(untraced("a cell changes its shape")),
            Data::Items(_) if shape.is_empty() => {
                Array::collect(shape, self.to_items(budget)?, None, budget)
            }
            Data::Lazy(cell) => match cell.forced() {
                Some(a) => a.with_shape(shape, budget),
                None => Ok(self.clone()),
            },
            _ => Ok(self.reshaped(shape)),
        }
    }

    /// The array inside a nested scalar, or the array itself.
    pub fn disclosed(&self) -> Array {
        match &self.data {
            Data::Items(i) if self.shape.is_empty() => i.at(0),
            _ => self.clone(),
        }
    }

    /// As an item of another array: a simple scalar, or the array itself. An enclosed scalar gives
    /// its content.
    pub fn enclosed(self) -> Result<Array> {
        if self.is_simple_scalar() {
            return Ok(self);
        }
        Array::collect(Shape::new(), vec![self], None, &Budget::new(u64::MAX))
    }
}

/// Strides of a row-major shape.
pub fn strides(shape: &[usize]) -> Vec<usize> {
    let mut out = vec![1; shape.len()];
    for k in (1..shape.len()).rev() {
        out[k - 1] = out[k] * shape[k];
    }
    out
}

/// Steps through the places of a box in row-major order.
pub fn advance(place: &mut [usize], shape: &[usize]) {
    for k in (0..place.len()).rev() {
        place[k] += 1;
        if place[k] < shape[k] {
            return;
        }
        place[k] = 0;
    }
}

/// Outer, length and inner counts of an axis.
pub fn around(shape: &[usize], axis: usize) -> (usize, usize, usize) {
    (
        elements(&shape[..axis]),
        shape.get(axis).copied().unwrap_or(1),
        shape.get(axis + 1..).map_or(1, elements),
    )
}

//! Recording what moves whole parts about: catenation, indexing by arrays, selection by a mask; and
//! scans.
//!
//! Rows: ACL-19, ACC-05, ACC-21. Each function says None where the host should do it: small and
//! ready, nested, complex, characters among numbers. Only a mask is forced, for the extent of a
//! selection depends on it.

use super::known;
use crate::eval::cx::{Cx, SMALL};
use crate::functions::cells::joined as joined_now;
use crate::functions::straight::Plane;
use aplomb_ground::error::{Result, untraced};
use aplomb_values::array::{Array, DType, Shape, elements};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Along, Args, Node, Read, kinds};
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scan;
use smallvec::SmallVec;

/// A catenation has at most so many parts: each is a load at every place.
const PARTS: usize = 16;
/// The number of neighbours that become one part where there are more.
const RUN: usize = 8;

/// The choice along one axis.
pub enum Chosen {
    /// Every place, in order.
    All,
    /// Places from 0 that are told without looking at them.
    Line {
        /// The shape in which the places were given.
        shape: Shape,
        /// The place at each index.
        plane: Plane,
    },
    /// Integers, ⎕IO included, that are checked when they are used.
    Array(Array),
}

impl Chosen {
    /// The axes that a choice along one of `n` places has in the result.
    pub fn shape(&self, n: usize) -> Shape {
        match self {
            Chosen::All => Shape::from_slice(&[n]),
            Chosen::Line { shape, .. } => shape.clone(),
            Chosen::Array(i) => i.shape().into(),
        }
    }
}

/// The spots at which an array is read or written: a read of its axes over a shape, and on the axes
/// `along` places that are values.
pub(super) struct Spots {
    pub shape: Shape,
    pub read: Read,
    pub along: SmallVec<[Along; 2]>,
    pub places: Vec<Array>,
}

impl Cx<'_> {
    /// Whether an array can be part of a graph: numbers or characters, not complex.
    pub fn recordable(&self, a: &Array) -> bool {
        let real = self.sys.recorder.ahead || !a.is_open();
        a.is_uniform() && !a.is_complex() && real && a.frame().is_none()
    }

    /// The parts one after another; empty ones take no part.
    pub fn record_cat(
        &mut self,
        parts: &[Array],
        axis: usize,
        shape: &Shape,
    ) -> Result<Option<Array>> {
        if parts.iter().any(|p| p.frame().is_some()) {
            return self.framed_cat(parts, axis, shape).map(Some);
        }
        let parts: Vec<&Array> = parts.iter().filter(|p| !p.is_empty()).collect();
        let n = elements(shape);
        let pending = parts.iter().any(|p| p.pending().is_some());
        let chars = parts.iter().filter(|p| p.is_char()).count();
        let large = n > self.hand() || self.sys.records_all() && n > 0;
        if !(pending || large && !self.is_growth(&parts, n))
            || !parts.iter().all(|p| self.recordable(p))
            || chars != 0 && chars != parts.len()
        {
            return Ok(None);
        }
        self.budget().has_room((parts.len() * size_of::<Array>()) as u64)?;
        let mut args: SmallVec<[Array; 2]> = SmallVec::with_capacity(parts.len());
        for part in parts {
            match part.pending().and_then(|c| c.node().map(|n| n.clone())) {
                Some(Node::Cat(kinds::Cat { axis: k, args: inner })) if k as usize == axis => {
                    args.extend(inner)
                }
                _ => args.push(part.settled()),
            }
        }
        if args.len() > 2 * PARTS {
            args = self.joined_to_few(&args, axis)?;
        }
        // Those that hold least are joined, so that a line of n parts copies an item as often as n
        // can be halved, not once for every few parts.
        while args.len() > PARTS {
            let size = |at: &usize| args[*at..at + RUN].iter().map(Array::len).sum::<usize>();
            let Some(from) = (0..=args.len() - RUN).min_by_key(size) else { break };
            let run: Vec<Array> = args.drain(from..from + RUN).collect();
            args.insert(from, joined_now(self, &run, axis)?);
        }
        let facts: Vec<_> = args.iter().map(known).collect();
        let (dtype, range) = joined(&facts);
        self.cell(Node::Cat(kinds::Cat { axis: axis as u8, args }), shape.clone(), (dtype, range))
            .map(Some)
    }

    /// Whether an array that is at hand grows by a few items, and is short: a copy is had for less
    /// than a launch, and a loop that grows it would have a launch to compile for every length.
    fn is_growth(&self, parts: &[&Array], n: usize) -> bool {
        const SHORT: usize = 8 * SMALL;
        let few = parts.iter().map(|p| p.len()).filter(|len| *len > RUN).count() <= 1;
        n <= SHORT && few && !self.sys.records_all() && !self.sys.recorder.ahead
    }

    /// Neighbours joined while they hold less than an eighth of all: any two that are left hold
    /// more, so these are few, and no item is copied twice.
    fn joined_to_few(&mut self, parts: &[Array], axis: usize) -> Result<SmallVec<[Array; 2]>> {
        let most = parts.iter().map(Array::len).sum::<usize>() / 8;
        let (mut few, mut from, mut held) = (SmallVec::new(), 0, 0);
        for k in 0..=parts.len() {
            if k == parts.len() || k > from && held + parts[k].len() > most {
                few.push(match &parts[from..k] {
                    [alone] => alone.clone(),
                    run => joined_now(self, run, axis)?,
                });
                (from, held) = (k, 0);
            }
            held += parts.get(k).map_or(0, Array::len);
        }
        Ok(few)
    }

    /// The parts of every cell.
    fn framed_cat(&mut self, parts: &[Array], axis: usize, cell: &Shape) -> Result<Array> {
        let longest = parts.iter().filter_map(Array::frame).max_by_key(|s| s.at);
        let frame: Shape = longest.map_or_else(Shape::new, |s| s.frame().into());
        let mut whole = Vec::with_capacity(parts.len());
        for part in parts {
            let full: Shape = frame.iter().chain(part.shape()).copied().collect();
            whole.push(self.lined_up(part, &frame, &full)?);
        }
        let shape: Shape = frame.iter().chain(cell).copied().collect();
        aplomb_values::array::checked_elements(&shape)?;
        // Few parts that are there are joined at once.
        let made = match self.record_cat(&whole, frame.len() + axis, &shape)? {
            Some(made) => made,
            None => joined_now(self, &whole, frame.len() + axis)?,
        };
        match made.is_uniform() {
            true => Ok(Array::framed(made, frame.len())),
            false => Err(untraced("parts of a cell differ in kind")),
        }
    }

    /// `op\` along an axis.
    pub fn scan(&mut self, op: Op, y: &Array, axis: usize) -> Result<Option<Array>> {
        if let Some(split) = y.frame() {
            let (node, at) = (split.node.clone(), split.at);
            if op == Op::Sub || !scan::runs(op, y.dtype() == DType::Bool) {
                return Ok(None);
            }
            let frame: Shape = split.frame().into();
            let made = self.under(op, &frame, vec![node], |cx, a| {
                let made = cx.scan(op, &a[0], at + axis)?;
                made.ok_or_else(|| untraced("this scan looks at values"))
            })?;
            return Ok(Some(Array::framed(made, at)));
        }
        let bools = y.dtype() == DType::Bool;
        if y.is_char() || !self.recordable(y) || !self.records(&[y], y.len()) || y.is_empty() {
            return Ok(None);
        }
        if op == Op::Sub {
            let signed = self.alternating(y, axis)?;
            return self.scan(Op::Add, &signed, axis);
        }
        if !scan::runs(op, bools) {
            return Ok(None);
        }
        let (dtype, range) = self.reduced(op, y.dtype(), known(y).1, y.shape()[axis]);
        let node = Node::Scan(kinds::Scan { op, axis: axis as u8, src: y.settled() });
        self.cell(node, y.shape().into(), (dtype, range)).map(Some)
    }

    /// The scan of ready real numbers by the same blocks.
    pub fn scan_host(&mut self, op: Op, y: &Array, axis: usize) -> Result<Array> {
        if y.is_complex() {
            return self.scan_complex(op, y, aplomb_values::array::around(y.shape(), axis));
        }
        self.host.interrupt().check()?;
        let _held = self.budget().charge_elements(y.len(), 8)?;
        let mut items = self.numbers(y, "the argument of a scan")?;
        let mut first = None;
        scan::along(op, &mut items, y.shape(), axis, &mut |k, f| {
            if first.is_none_or(|(at, _)| k < at) {
                first = Some((k, f));
            }
        });
        if let Some((_, fail)) = first {
            return Err(fail.error());
        }
        let (dtype, _) = self.reduced(op, y.dtype(), y.dtype().range(), y.shape()[axis]);
        self.stored(op, y.shape().into(), items, dtype)
    }

    /// `A[…]` with at least one index that is an array.
    pub fn record_gather(&mut self, a: &Array, chosen: &[Chosen]) -> Result<Option<Array>> {
        if let Some(kept) = self.record_kept(a, chosen)? {
            return Ok(Some(kept));
        }
        let Some(spots) = self.spots(a, chosen)? else { return Ok(None) };
        let args: Vec<&Array> = std::iter::once(a).chain(&spots.places).collect();
        if !self.leaves_hand(&args, elements(&spots.shape)) {
            return Ok(None);
        }
        self.gathered(a, spots).map(Some)
    }

    /// `A[⍸B]`, and so along any one axis, is `B/A`: both are read in order, and no place is
    /// written. None: nothing is such an index, or it is there already.
    fn record_kept(&mut self, a: &Array, chosen: &[Chosen]) -> Result<Option<Array>> {
        let is_all = |c: &Chosen| matches!(c, Chosen::All);
        let mut some = chosen.iter().enumerate().filter(|(_, c)| !is_all(c));
        let (Some((axis, Chosen::Array(i))), None) = (some.next(), some.next()) else {
            return Ok(None);
        };
        if a.frame().is_some() || i.frame().is_some() {
            return Ok(None);
        }
        match mask_of_places(i, a.shape()[axis], self.sys.settings.io) {
            Some(mask) => self.record_compact(&mask, a, axis, i.len()),
            None => Ok(None),
        }
    }

    /// The items at spots of an array, as a cell.
    pub(super) fn gathered(&mut self, a: &Array, spots: Spots) -> Result<Array> {
        let (dtype, range) = known(a);
        let args = std::iter::once(a.settled()).chain(spots.places).collect();
        let node = Node::Gather(kinds::Gather {
            args,
            read: spots.read,
            along: spots.along,
            origin: self.sys.settings.io,
        });
        self.cell(node, spots.shape, (dtype, range))
    }

    /// `A[P]` where the items of P are rows of one array, an index each: a gather by its columns.
    /// None: these are no rows of as many integers as A has axes.
    pub fn record_picks(&mut self, a: &Array, i: &Array) -> Result<Option<Array>> {
        let Some(rows) = i.split().filter(|s| s.cell() == [a.rank()]) else { return Ok(None) };
        let (node, at) = (rows.node.settled(), rows.at);
        let fits = node.dtype().is_integer() && self.recordable(&node) && self.recordable(a);
        if !fits || a.is_empty() || !self.records(&[a, &node], i.len()) {
            return Ok(None);
        }
        let shape: Shape = i.shape().into();
        let read = Read::new((0..a.rank()).map(|_| Ix::constant(0)));
        let (mut along, mut places) = (SmallVec::new(), Vec::with_capacity(a.rank()));
        for (k, &extent) in a.shape().iter().enumerate() {
            along.push(Along { axis: k as u8, times: 1, extent });
            let column = (0..at).map(Ix::axis).chain([Ix::constant(k as i64)]);
            let onto = a.rank() == 1;
            let one = Move { name: "[]", shape: shape.clone(), read: Read::new(column), onto };
            places.push(self.apply_move(&node, one)?);
        }
        self.gathered(a, Spots { shape, read, along, places }).map(Some)
    }

    /// The spots that an array is chosen from. None: nowhere, or by what is no part of a graph.
    pub(super) fn spots(&mut self, a: &Array, chosen: &[Chosen]) -> Result<Option<Spots>> {
        let shapes: Vec<Shape> = chosen.iter().zip(a.shape()).map(|(c, &n)| c.shape(n)).collect();
        let shape: Shape = shapes.iter().flatten().copied().collect();
        let mut arrays =
            chosen.iter().filter_map(|c| if let Chosen::Array(i) = c { Some(i) } else { None });
        let integers = arrays.all(|i| i.dtype().is_integer() && self.recordable(i));
        if a.is_empty()
            || aplomb_values::array::checked_elements(&shape)? == 0
            || !integers
            || !self.recordable(a)
        {
            return Ok(None);
        }
        let mut spots =
            Spots { shape, read: Read::new([]), along: SmallVec::new(), places: Vec::new() };
        let mut at = 0;
        for (k, (c, own)) in chosen.iter().zip(&shapes).enumerate() {
            spots.read.ix.push(match c {
                Chosen::All => Ix::axis(at),
                Chosen::Line { plane, .. } => plane.read(|k| at + k),
                Chosen::Array(i) => {
                    spots.along.push(Along { axis: k as u8, times: 1, extent: a.shape()[k] });
                    let whole = i.shape() == spots.shape.as_slice() || i.rank() == 0;
                    let axes = (at..at + own.len()).map(Some);
                    spots.places.push(match whole {
                        true => i.settled(),
                        false => self.apply_move(i, Move::axes("⍴", spots.shape.clone(), axes))?,
                    });
                    Ix::constant(0)
                }
            });
            at += own.len();
        }
        Ok(Some(spots))
    }

    /// The cells along an axis where a mask of as many items holds; `kept` of them do.
    pub fn record_compact(
        &mut self,
        mask: &Array,
        y: &Array,
        axis: usize,
        kept: usize,
    ) -> Result<Option<Array>> {
        let mut shape: Shape = y.shape().into();
        shape[axis] = kept;
        if elements(&shape) == 0 || !self.recordable(y) || !self.records(&[y], y.len()) {
            return Ok(None);
        }
        let (dtype, range) = known(y);
        let args = Args::from_iter([mask.settled(), y.settled()]);
        self.cell(Node::Compact(kinds::Compact { axis: axis as u8, args }), shape, (dtype, range))
            .map(Some)
    }
}

/// The mask whose places a pending vector holds, over an axis of n that is numbered from `origin`:
/// that of `⍸B`, before these places are computed.
pub fn mask_of_places(i: &Array, n: usize, origin: f64) -> Option<Array> {
    let cell = i.pending().filter(|_| i.rank() == 1)?;
    let node = cell.node()?;
    let Node::Compact(kinds::Compact { args, .. }) = &*node else { return None };
    let [mask, of] = &args[..] else { return None };
    let numbers = of.pending()?.node()?;
    let from_origin = numbers.facts().counts_from() == Some(origin);
    (from_origin && mask.shape() == [n] && of.shape() == [n]).then(|| mask.clone())
}

/// The whole numbers in memory to which a pending array adds a number, and that number: `1+X`,
/// `X-1`.
pub fn moved(i: &Array) -> Option<(Array, f64)> {
    let node = i.pending()?.node()?;
    let [x, y] = node.inputs() else { return None };
    let number = |a: &Array| a.number_at(0).filter(|x| a.rank() == 0 && x.fract() == 0.0);
    let (base, by) = match node.facts().operation()? {
        Op::Add if x.rank() == 0 => (y, number(x)?),
        Op::Add => (x, number(y)?),
        Op::Sub => (x, -number(y)?),
        _ => return None,
    };
    let there = base.pending().is_none() && base.dtype().is_integer();
    (there && base.shape() == i.shape()).then(|| (base.clone(), by))
}

/// The dtype that holds them all, and the interval they lie in.
pub(super) fn joined(facts: &[(DType, Option<(f64, f64)>)]) -> (DType, Option<(f64, f64)>) {
    let all = |what: fn(DType) -> bool| facts.iter().all(|f| what(f.0));
    let range = facts
        .iter()
        .map(|f| f.1)
        .reduce(|a, b| a.zip(b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))))
        .flatten();
    match () {
        () if all(|d| d == DType::Char) => (DType::Char, None),
        () if all(|d| d == DType::F32) => (DType::F32, None),
        () if all(DType::is_integer) => match range.and_then(|(lo, hi)| DType::of_range(lo, hi)) {
            Some(dtype) => (dtype, range),
            None => (DType::I32, None),
        },
        () => (DType::F64, None),
    }
}

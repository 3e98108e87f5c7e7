//! Scalar functions on nested arrays: item by item, but at once where the items are parts of one
//! array, its cells or its pieces.

use crate::eval::cx::Cx;
use crate::eval::scope::{TOGETHER, is_final};
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, DType, Data, Ragged, Shape, elements};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scan;

impl Cx<'_> {
    /// A monadic one.
    pub(super) fn pervade1(&mut self, op: Op, y: &Array) -> Result<Array> {
        if let Some(pieces) = y.pieces() {
            let flat = self.map1(op, pieces.flat())?;
            if let Some(made) = self.pieces_again(pieces, &flat, y.shape())? {
                return Ok(made);
            }
        }
        if let Some(cells) = self.cells_of_frame(y, y.shape()) {
            let z = self.map1(op, &cells)?;
            if let Some(made) = rows_again(&z, y.rank()) {
                return Ok(made);
            }
        }
        let Data::Items(items) = y.data() else { return self.map1(op, y) };
        let mut made: Vec<Array> = self.budget().room(items.len())?;
        let (mut ticks, mut before) = (self.budget().ticks(), None);
        for item in items.iter() {
            ticks.tick()?;
            // One array that stands in many places is computed once.
            let again = made.last().filter(|_| {
                before.as_ref().is_some_and(|before: &Array| before.is_one_with(&item))
            });
            let z = match again {
                Some(z) => z.clone(),
                None => self.map1(op, &item)?,
            };
            made.push(z);
            before = Some(item);
        }
        self.collect(y.shape(), made, items.proto.clone())
    }

    /// A dyadic one; one argument is nested.
    pub(super) fn pervade2(&mut self, op: Op, x: &Array, y: &Array) -> Result<Array> {
        let (shape, x, y) = self.conform(op, x, y)?;
        if let Some(made) = self.pieces_together(op, &x, &y, &shape)? {
            return Ok(made);
        }
        let one = is_for_all(&x, &y) || is_for_all(&y, &x);
        if (x.split().or(y.split()).is_some() || one)
            && let (Some(a), Some(b)) =
                (self.cells_of_frame(&x, &shape), self.cells_of_frame(&y, &shape))
        {
            let mut z = self.map2(op, &a, &b)?;
            // Each number meets the same few: what reads them would compute them again and again.
            if let Some(cells) = z.frame().filter(|_| one).cloned() {
                z = Array::framed(self.ready(&cells.node, "each")?, cells.at);
            }
            if let Some(made) = rows_again(&z, shape.len()) {
                return Ok(made);
            }
        }
        let n = elements(&shape);
        let ready = |cx: &mut Self, a: &Array| match cx.is_ahead(a) {
            true => Ok(a.clone()),
            false => cx.ready_outer(a),
        };
        let (x, y) = (ready(self, &x)?, ready(self, &y)?);
        if n == 0 {
            let proto = match self.map2(op, &x.prototype(), &y.prototype()) {
                Ok(made) => self.prototype_of(&made)?,
                Err(e) if is_final(&e) => return Err(e),
                Err(_) => Array::num(0.0),
            };
            return crate::functions::cells::empty(self, &shape, proto);
        }
        let mut out = self.budget().room(n)?;
        let mut ticks = self.budget().ticks();
        for k in 0..n {
            ticks.tick()?;
            let (x, y) = (self.item_ahead(&x, k)?, self.item_ahead(&y, k)?);
            out.push(self.map2(op, &x, &y)?);
        }
        if shape.is_empty() {
            return out.swap_remove(0).enclosed();
        }
        self.collect(&shape, out, None)
    }

    /// An item as the prototype of items like it: its numbers 0, its characters blanks.
    pub fn prototype_of(&mut self, made: &Array) -> Result<Array> {
        let made = self.ready(made, "a prototype")?;
        Ok(Array::items([1].as_slice(), vec![made], None).prototype())
    }

    /// Items as the cells of a frame of that shape: of a rows value, or of a simple array, with a
    /// number for each; one item is that of all. None: they are no cells, or a frame stands around.
    fn cells_of_frame(&self, a: &Array, frame: &[usize]) -> Option<Array> {
        if self.sys.scope.is_framed() || frame.is_empty() || a.frame().is_some() || a.is_complex() {
            return None;
        }
        match a.split() {
            Some(rows) if a.shape() == frame && !rows.node.is_complex() => {
                (!rows.node.is_empty()).then(|| Array::framed(rows.node.clone(), rows.at))
            }
            Some(_) => None,
            None if a.is_uniform() && a.shape() == frame => {
                Some(Array::framed(a.settled(), a.rank()))
            }
            None if a.rank() == 0 => Some(a.disclosed()).filter(Array::is_uniform),
            None => None,
        }
    }

    /// The result for the flat array of some pieces, cut as they are. None: it is complex.
    fn pieces_again(
        &mut self,
        pieces: &Ragged,
        flat: &Array,
        shape: &[usize],
    ) -> Result<Option<Array>> {
        let flat = self.ready(flat, "each")?;
        Ok(pieces.with(flat).map(|made| made.items(shape)))
    }

    /// A number with each of many pieces, or one with each; pieces that are cut alike. None: they
    /// are none of these.
    fn pieces_together(
        &mut self,
        op: Op,
        x: &Array,
        y: &Array,
        shape: &Shape,
    ) -> Result<Option<Array>> {
        // What is of f32 is spread by another way.
        let numbers = |a: &Array| a.is_of_f64() && a.frame().is_none();
        let (pieces, flat) = match (x.pieces(), y.pieces()) {
            (Some(a), Some(b)) if x.shape() == y.shape() && a.is_cut_as(b) => {
                (a, self.map2(op, a.flat(), b.flat())?)
            }
            (Some(a), None) if y.is_simple_scalar() => (a, self.map2(op, a.flat(), y)?),
            (None, Some(b)) if x.is_simple_scalar() => (b, self.map2(op, x, b.flat())?),
            (Some(a), None) if x.shape() == y.shape() && numbers(y) && numbers(a.flat()) => {
                let each = self.spread_on(a, y)?;
                (a, self.map2(op, a.flat(), &each)?)
            }
            (None, Some(b)) if x.shape() == y.shape() && numbers(x) && numbers(b.flat()) => {
                let each = self.spread_on(b, x)?;
                (b, self.map2(op, &each, b.flat())?)
            }
            _ => return Ok(None),
        };
        self.pieces_again(pieces, &flat, shape)
    }

    /// The scan of each piece of real numbers, by the blocks of any scan. None: its prefixes are no
    /// running fold, or one fails, which is told where its piece is.
    pub fn scan_pieces(&mut self, op: Op, pieces: &Ragged) -> Result<Option<Ragged>> {
        let flat = pieces.flat();
        if !flat.is_uniform()
            || flat.is_char()
            || op == Op::Sub
            || !scan::runs(op, flat.dtype() == DType::Bool)
        {
            return Ok(None);
        }
        let parts = self.budget().each((0..pieces.count()).map(|k| pieces.range(k)))?;
        if let Some(made) = self.scan_segments(op, &parts, flat)? {
            return Ok(pieces.with(made));
        }
        let _held = self.budget().charge_elements(flat.len(), size_of::<f64>())?;
        let mut items = self.numbers(flat, "the argument of a scan")?;
        let (mut failed, mut longest, mut ticks) = (false, 0, self.budget().ticks());
        for range in (0..pieces.count()).map(|k| pieces.range(k)) {
            ticks.spend(range.len().max(1))?;
            longest = longest.max(range.len());
            let shape = [range.len()];
            scan::along(op, &mut items[range], &shape, 0, &mut |_, _| failed = true);
        }
        if failed {
            return Ok(None);
        }
        let (dtype, _) = self.reduced(op, flat.dtype(), flat.dtype().range(), longest);
        Ok(pieces.with(self.stored(op, flat.shape().into(), items, dtype)?))
    }

    /// A number for each piece at each item of it.
    fn spread_on(&mut self, pieces: &Ragged, a: &Array) -> Result<Array> {
        let numbers = self.numbers(a, "an argument")?;
        let mut out = self.budget().room(pieces.flat().len())?;
        for (k, x) in numbers.into_iter().enumerate() {
            out.extend(std::iter::repeat_n(x, pieces.range(k).len()));
        }
        match a.dtype().is_integer() {
            true => self.vector(out),
            false => Array::floats([out.len()].as_slice(), out, self.budget()),
        }
    }
}

/// True of one that holds a simple array which all of the other's many items meet: cells of a
/// frame, which have one argument each.
fn is_for_all(one: &Array, many: &Array) -> bool {
    let holds = || {
        let inside = one.disclosed();
        inside.is_uniform() && inside.rank() > 0 && inside.frame().is_none()
    };
    many.len() >= TOGETHER && one.rank() == 0 && !one.is_uniform() && many.is_uniform() && holds()
}

/// Framed cells as items again; None: they are no arrays, or lie in another frame.
fn rows_again(z: &Array, lead: usize) -> Option<Array> {
    let split = z.frame().filter(|split| split.at == lead)?;
    let rows = split.node.rank() > lead && !split.node.is_empty();
    rows.then(|| Array::rows(split.node.clone(), lead))
}

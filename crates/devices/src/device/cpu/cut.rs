//! The parts of a fold: its domain cut into items, and one reduction that is ready to run.

use super::Fault;
use super::chunk::{CHUNK, Env, Frame};
use super::isa::Isa;
use super::loops::{Dots, Trees, dots};
use aplomb_plans::plan::{Reduction, Step, ValueId, What};
use aplomb_values::array::DType;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::{LANES, ROWS, fused, is_single, partials};
use aplomb_values::prim::scalar::{Fail, eval, eval_as};

/// Work below this is not worth a hand-off, nanoseconds.
pub const ALONE_NS: f64 = 20_000.0;
/// Columns of an item, whose partial results stay in L1.
const WIDE: usize = 4 * CHUNK;
/// Folds have no ⎕CT: it would only matter to GCD and LCM of fractions.
pub const CT: f64 = 0.0;

/// The domain as outer × extent × inner, cut into items.
#[derive(Clone, Copy)]
pub struct Cut {
    pub outer: usize,
    pub extent: usize,
    pub inner: usize,
    pub last: bool,
    /// Places along the axis in one item, and how many such blocks there are.
    pub block: usize,
    pub blocks: usize,
    /// Columns in one item.
    pub tile: usize,
    pub tiles: usize,
}

impl Cut {
    /// The cut of a domain for a fold along an axis; blocks of the last axis have so
    /// many elements, or it goes from the end on.
    pub fn new(domain: &[usize], axis: usize, block: Option<usize>) -> Cut {
        let extent = domain[axis];
        let outer = domain[..axis].iter().product();
        let inner: usize = domain[axis + 1..].iter().product();
        let last = axis + 1 == domain.len();
        let ordered = block.is_none();
        let block = match block {
            None => extent,
            Some(block) if last => block,
            Some(_) => ROWS,
        };
        // In order a row of an item is one chunk; else several, so that memory is read along rows.
        let tile = inner.clamp(1, if ordered { CHUNK } else { WIDE });
        Cut {
            outer,
            extent,
            inner,
            last,
            block,
            blocks: extent.div_ceil(block.max(1)),
            tile,
            tiles: inner.div_ceil(tile),
        }
    }

    pub fn items(&self) -> usize {
        self.outer * self.blocks * self.tiles
    }

    pub fn item(&self, k: usize) -> Item {
        let (tile, k) = (k % self.tiles, k / self.tiles);
        let (part, outer) = (k % self.blocks, k / self.blocks);
        let column = tile * self.tile;
        Item {
            first: part * self.block,
            places: self.block.min(self.extent - part * self.block),
            columns: self.tile.min(self.inner - column),
            base: outer * self.extent * self.inner + column,
            to: k * self.inner + column,
            result: outer * self.inner + column,
        }
    }

    /// Rows of an item that one chunk takes.
    pub fn rows(&self) -> usize {
        if self.tiles == 1 { (CHUNK / self.tile).max(1) } else { 1 }
    }
}

#[derive(Clone, Copy)]
pub struct Item {
    /// Along the axis.
    pub first: usize,
    pub places: usize,
    pub columns: usize,
    /// The flat index of place 0, first column.
    pub base: usize,
    /// The place of its partial results.
    pub to: usize,
    /// Its place in the launch's result.
    pub result: usize,
}

/// One reduction, ready to run.
#[derive(Clone, Copy)]
pub struct Fold<'a> {
    pub of: &'a Reduction,
    /// The loops that take elements into partials; none: by the scalar meaning.
    pub fast: Option<Trees>,
    /// The loops for all behind that: the same, unless f32 is added.
    pub end: Option<Trees>,
    /// The factors, where it takes products unrounded.
    pub dot: Option<Dot>,
    /// The place of its values among those that a program keeps.
    pub kept: usize,
    /// The place where its values are stored as they are, f32 that are added in f32: nothing is
    /// kept then, which would be f64, of which a register holds half as many.
    pub stored: Option<*const f32>,
    pub out: *mut f64,
}

/// The factors of a sum of products, by their places among the values that a program keeps.
#[derive(Clone, Copy)]
pub struct Dot {
    pub x: usize,
    pub y: usize,
    pub loops: Dots,
    /// The operation, which tells how products are taken.
    pub op: Op,
}

impl Dot {
    /// The sum of a fold that takes products unrounded; its factors are kept behind what is kept so
    /// far. None: it takes a value.
    pub fn of(
        isa: Isa,
        of: &Reduction,
        body: &[Step],
        keep: &mut Vec<(ValueId, bool)>,
    ) -> Option<Dot> {
        let What::Op { op, args, .. } = &body[of.value as usize].what else { return None };
        if !op.is_unrounded() {
            return None;
        }
        let x = keep.len();
        keep.extend(args.iter().map(|v| (*v, false)));
        Some(Dot { x, y: x + 1, loops: dots(isa, is_single(of.op, of.dtype)), op: *op })
    }
}

// SAFETY: each partial result is written by the thread that has its item.
unsafe impl Sync for Fold<'_> {}

impl Fold<'_> {
    /// `x op y` of an element; a failure is recorded at the result's place and goes on as 0.
    pub fn step(&self, x: f64, y: f64, result: usize, fault: &mut Option<Fault>) -> f64 {
        let value = match is_single(self.of.op, self.of.dtype) {
            true => eval_as(self.of.dtype, self.of.op, CT, x, y),
            false => eval(self.of.op, CT, x, y),
        };
        self.or_fault(value, result, fault)
    }

    /// The values of a chunk that has run, of so many elements from one of the domain on.
    pub fn values(&self, frame: &mut Frame, env: &Env, start: usize, n: usize) -> *const f64 {
        let Some(at) = self.stored else { return frame.kept(env, self.kept) };
        if frame.stored.is_empty() {
            frame.stored = vec![0.0; CHUNK];
        }
        for (k, x) in frame.stored[..n].iter_mut().enumerate() {
            // SAFETY: they were just stored there.
            *x = f64::from(unsafe { *at.add(start + k) });
        }
        frame.stored.as_ptr()
    }

    /// The loops and factors of a chunk that has run, where it takes products unrounded.
    pub fn factors(&self, frame: &Frame, env: &Env) -> Option<(Dots, [*const f64; 2])> {
        self.dot.map(|dot| (dot.loops, [dot.x, dot.y].map(|k| frame.kept(env, k))))
    }

    /// The partial results of a block along the last axis.
    pub fn partials(&self) -> usize {
        self.dot.map_or(LANES, |dot| partials(dot.op))
    }

    /// The sum with one more item, or with the product of one more pair, with care.
    pub fn next(
        &self,
        item: f64,
        pair: Option<(f64, f64)>,
        sum: f64,
        (result, fault): (usize, &mut Option<Fault>),
    ) -> f64 {
        match pair {
            Some(pair) => self.take(pair, sum, result, fault),
            None => self.step(sum, item, result, fault),
        }
    }

    /// `sum` and the product of x and y, which is not rounded before.
    fn take(&self, (x, y): (f64, f64), sum: f64, result: usize, fault: &mut Option<Fault>) -> f64 {
        let single = is_single(self.of.op, self.of.dtype);
        let fused = fused(single, x, y, sum);
        if fused.is_finite() {
            return fused;
        }
        // A product that is beyond all numbers is the body's failure.
        let dtype = if single { DType::F32 } else { DType::F64 };
        match eval_as(dtype, Op::Mul, CT, x, y) {
            Ok(product) => self.step(sum, product, result, fault),
            Err(_) => 0.0,
        }
    }

    /// The same of partials and of blocks.
    pub fn join(&self, x: f64, y: f64, result: usize, fault: &mut Option<Fault>) -> f64 {
        self.or_fault(eval(self.of.op, CT, x, y), result, fault)
    }

    fn or_fault(&self, value: Result<f64, Fail>, result: usize, fault: &mut Option<Fault>) -> f64 {
        value.unwrap_or_else(|fail| {
            self.fault(result, fail, fault);
            0.0
        })
    }

    pub fn fault(&self, result: usize, fail: Fail, fault: &mut Option<Fault>) {
        Fault { site: self.of.site, index: result as u64, fail, node: self.of.node }
            .keep_least(fault);
    }
}

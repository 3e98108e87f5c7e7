//! Scans in a kernel: tiles that look back, a warp a line, a thread a line.
//!
//! Rows: ACL-11, ACC-06. Long lines are cut into tiles of `THREADS` × items places. A block takes
//! the next tile by a ticket, folds it, and learns from the tiles before it what stands before it
//! (`tiles.cu`); one launch reads and writes each element once. Lines of no more than a few warps
//! are a warp's, which carries the running fold from 32 places to the next; short lines, and lines
//! that lie beside many others, are a thread's.
//!
//! Of a line the text knows its class, never its extent. Sums may differ from the CPU's in their
//! last bits, as in folds, but never from one run to the next: what is joined with what is settled
//! beforehand.
//!
//! Why tiles end: a tile waits only for tiles with earlier tickets, whose blocks have begun and
//! hold their place on the device; so of all tiles that wait the earliest can always go on.

use super::compact::{TILES, scratch};
use super::fold::{fold_text, unit};
use super::form::{FEW, MANY};
use super::lower::{At, Body, Lowering, Part, set, store, stride};
use super::vector::unrolled;
use super::{Expr, Spread, Stmt, THREADS, Type};
use crate::plan::BufId;
use aplomb_ground::error::Result;
use aplomb_values::prim::op::Op;

/// Places of a tile for each thread; twice as many of items of 4 bytes and less, so that a tile has
/// as many bytes.
const ITEMS: u32 = 8;
/// Places of a thread whose loads are under way at once.
pub(super) const OUT: u32 = 4;
/// Shared memory that the values of a tile may take, bytes.
const SHARED: u32 = 40 << 10;
/// So many lines side by side are read together, by a thread each.
const WIDE: usize = 32;

/// A launch's code, who takes its points, and how many there are.
pub(super) type Shape = (Vec<Stmt>, Spread, u64);

impl Lowering<'_> {
    pub(super) fn scan(&mut self, axis: usize) -> Result<Shape> {
        let domain = &self.launch.domain;
        let (extent, width) = (domain[axis], domain[axis + 1..].iter().product::<usize>());
        let lines = domain[..axis].iter().product::<usize>() as u64 * width as u64;
        let fits =
            |items: &u32| self.launch.reductions.len() as u32 * THREADS * (items + 1) * 8 <= SHARED;
        let size = |of: BufId| self.plan.buffer(of).dtype.size();
        let launch = self.launch;
        let written = || launch.stores.iter().chain(&launch.after_stores).map(|s| s.buf);
        let moved = || launch.loads.iter().map(|l| l.buf).chain(written());
        let is_narrow = !launch.loads.is_empty() && moved().all(|buf| size(buf) <= 4);
        let usual = if is_narrow { 2 * ITEMS } else { ITEMS };
        let wanted = self.tuning.items.map_or(usual, |k| k.next_power_of_two().clamp(1, 2 * ITEMS));
        let items = [16, 8, 4, 2, 1].into_iter().filter(|k| *k <= wanted).find(fits);
        match (extent, items) {
            (..=FEW, _) => Ok((self.scan_lines(axis)?, Spread::Threads, lines)),
            _ if width >= WIDE => Ok((self.scan_lines(axis)?, Spread::Threads, lines)),
            (..=MANY, _) | (_, None) => Ok((self.scan_warps(axis)?, Spread::Warps, lines)),
            (_, Some(items)) => self.scan_tiles(axis, lines, items),
        }
    }

    pub(super) fn scan_tiles(&mut self, axis: usize, lines: u64, items: u32) -> Result<Shape> {
        let extent = self.launch.domain[axis] as u64;
        let block = u64::from(THREADS * items);
        let (per_line, folds) = (extent.div_ceil(block), self.ops());
        let tiles = lines * per_line;
        self.items = items;
        scratch(&mut self.params, &[("told", Type::U64)]);
        let to = self.number('m', Type::U64, extent as f64);
        let let_ =
            |name: &str, of: Type, is: Expr| Stmt::Let { name: name.into(), of, is, node: None };
        let (mut out, mut tile) = (Vec::new(), Vec::new());
        for (k, op) in folds.iter().enumerate() {
            out.push(Stmt::Shared {
                name: format!("h{k}"),
                of: Type::F64,
                count: THREADS * (items + 1),
            });
            out.push(join(k, *op)?);
        }
        out.push(Stmt::Shared { name: "warps".into(), of: Type::F64, count: THREADS / 32 + 1 });
        out.push(Stmt::Shared { name: "seat".into(), of: Type::U32, count: 1 });
        // A vector is one line.
        let first = if self.launch.domain.len() == 1 {
            tile.push(let_("begin", Type::U64, format!("tile * {block}")));
            "0".to_string()
        } else {
            let per_line = self.number('m', Type::U64, per_line as f64);
            tile.push(let_("o", Type::U64, format!("tile / {per_line}")));
            tile.push(let_("begin", Type::U64, format!("(tile - o * {per_line}) * {block}")));
            format!("o * {per_line}")
        };
        let (body, after) = self.of_line(axis, &mut tile)?;
        let place = format!("e * {THREADS} + threadIdx.x");
        let j = || let_("j", Type::U64, format!("begin + {place}"));
        let shared = format!("padded<{items}>({place})");
        let mut load = vec![j()];
        for (k, op) in folds.iter().enumerate() {
            load.push(let_(&format!("t{k}"), Type::F64, unit(*op)?));
        }
        load.push(Stmt::If(format!("j < {to}"), body));
        load.extend((0..folds.len()).map(|k| store(&format!("h{k}"), &shared, &format!("t{k}"))));
        tile.push(unrolled(items, items.min(OUT), load));
        let all = (folds.len() > 1).then(|| self.number('m', Type::U64, tiles as f64));
        for (k, op) in folds.iter().enumerate() {
            let own = match &all {
                Some(all) if k > 0 => format!("(Told*)told + {k} * {all}"),
                _ => "(Told*)told".into(),
            };
            let unit = unit(*op)?;
            tile.push(Stmt::Do(format!(
                "scan_tile<{items}>(join{k}, {unit}, h{k}, warps, {own}, {first}, tile)"
            )));
        }
        let mut scanned: Vec<Stmt> = (0..folds.len())
            .map(|k| let_(&format!("t{k}"), Type::F64, format!("h{k}[{shared}]")))
            .collect();
        scanned.extend(after);
        let write = vec![j(), Stmt::If(format!("j < {to}"), scanned)];
        tile.push(unrolled(items, items.min(OUT), write));
        out.push(Stmt::Note(format!(
            "A block a tile of {block} places, in the order of a ticket."
        )));
        out.push(Stmt::Each {
            name: "tile".into(),
            next: TILES.into(),
            to: "lo + n".into(),
            body: tile,
        });
        Ok((out, Spread::Tiles, tiles))
    }

    pub(super) fn scan_warps(&mut self, axis: usize) -> Result<Vec<Stmt>> {
        let folds = self.ops();
        let extent = self.number('m', Type::U64, self.launch.domain[axis] as f64);
        let let_ = |name: String, of: Type, is: Expr| Stmt::Let { name, of, is, node: None };
        let (mut out, mut line, mut step) = (Vec::new(), Vec::new(), Vec::new());
        let (body, after) = self.of_line(axis, &mut line)?;
        step.push(let_("j".into(), Type::U64, "at + threadIdx.x % 32".into()));
        for (k, op) in folds.iter().enumerate() {
            out.push(join(k, *op)?);
            line.push(let_(format!("q{k}"), Type::F64, unit(*op)?));
            step.push(let_(format!("t{k}"), Type::F64, unit(*op)?));
        }
        step.push(Stmt::If(format!("j < {extent}"), body));
        for k in 0..folds.len() {
            // All lanes of a warp are in one line, so all are here.
            step.push(set(&format!("t{k}"), &format!("join{k}(q{k}, warp_scan(join{k}, t{k}))")));
            step.push(set(&format!("q{k}"), &format!("__shfl_sync(~0u, t{k}, 31)")));
        }
        step.push(Stmt::If(format!("j < {extent}"), after));
        line.push(Stmt::For {
            name: "at".into(),
            from: "0".into(),
            to: extent,
            step: "32".into(),
            body: step,
        });
        let warps = THREADS / 32;
        let (from, step) = (
            format!("lo + (u64)blockIdx.x * {warps} + threadIdx.x / 32"),
            format!("(u64)gridDim.x * {warps}"),
        );
        out.push(Stmt::Note("A warp a line.".into()));
        out.push(Stmt::For { name: "o".into(), from, to: "lo + n".into(), step, body: line });
        Ok(out)
    }

    /// The code at place `j` of line `o`: what makes the values `t0…` of the folds, and what
    /// follows them. The line's own coordinates stand in `line`.
    fn of_line(&mut self, axis: usize, line: &mut Vec<Stmt>) -> Result<(Vec<Stmt>, Vec<Stmt>)> {
        let (launch, mut outer) = (self.launch, self.launch.domain.clone());
        outer.remove(axis);
        let mut axes = self.axes(&outer, "o", line);
        axes.insert(axis, "xf".into());
        let at = format!("({})j", self.int().cuda());
        let place = vec![
            Stmt::Let { name: "xf".into(), of: self.int(), is: at, node: None },
            Stmt::Let { name: "i".into(), of: Type::U64, is: self.flat(&axes)?, node: None },
        ];
        let mut body = Body::new("i");
        body.out = place.clone();
        self.steps(&launch.body, At::point(&axes, &launch.domain), &mut body)?;
        self.stores(Part::Body, "i", &mut body)?;
        let mut reduced = Vec::new();
        for (k, r) in launch.reductions.iter().enumerate() {
            let value = self.folded(r, &body)?;
            body.out.push(Stmt::Set { name: format!("t{k}"), is: value, node: Some(r.node) });
            reduced.push(format!("t{k}"));
        }
        let mut after = Body::new("i");
        after.out = place;
        self.steps(
            &launch.after,
            At { reduced: &reduced, ..At::point(&axes, &launch.domain) },
            &mut after,
        )?;
        self.stores(Part::After, "i", &mut after)?;
        Ok((body.out, after.out))
    }

    fn ops(&self) -> Vec<Op> {
        self.launch.reductions.iter().map(|r| r.op).collect()
    }

    pub(super) fn scan_lines(&mut self, axis: usize) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let (line, _) = self.along(axis, false, |k, axes, before, body| {
            let mut reduced = Vec::new();
            for (j, r) in launch.reductions.iter().enumerate() {
                let name = format!("t{j}");
                before.push(Stmt::Let {
                    name: name.clone(),
                    of: Type::F64,
                    is: "0.0".into(),
                    node: None,
                });
                let value = k.folded(r, body)?;
                let next = format!("(j == 0 ? {value} : {})", fold_text(r.op, &name, &value)?);
                body.out.push(Stmt::Set { is: next, name: name.clone(), node: Some(r.node) });
                reduced.push(name);
            }
            let mut after = Body::new("i");
            k.steps(
                &launch.after,
                At { reduced: &reduced, ..At::point(axes, &launch.domain) },
                &mut after,
            )?;
            k.stores(Part::After, "i", &mut after)?;
            body.out.append(&mut after.out);
            Ok(())
        })?;
        Ok(vec![Stmt::Note("A thread a line.".into()), stride("o", "n", line)])
    }
}

/// A fold's step as a function: `tiles.cu` is written for any.
pub(super) fn join(k: usize, op: Op) -> Result<Stmt> {
    Ok(Stmt::Do(format!(
        "auto join{k} = [](double x, double y) {{ return {}; }}",
        fold_text(op, "x", "y")?
    )))
}

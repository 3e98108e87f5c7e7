//! Folds whose operands repeat: products `f.g` and folds of all pairs, tile by tile through shared
//! memory.
//!
//! Rows: ACC-06, BAS-07, BAS-22. In a domain of three axes, two of which have results, a step of
//! the body that needs only a row and a place of the folded axis is the *left* operand's, one that
//! needs only a column and such a place the *right* one's: a block computes both once for a tile of
//! results (64×64, or what the model or a tuner found better, `sizes`) and keeps them in shared
//! memory, 16 places at a time; the other steps run in the innermost loop, 16 results a thread. So
//! what stands before the product is done once an item, and what follows in the same launch. With
//! two axes a block has
//! 256 rows, and the right operand 256 places. Sums are f64, those of f32 f32 for 256 places and
//! then f64, in the order of the folded axis. Places beyond the edges repeat the last one and count
//! nowhere, so nothing is asked of f and g.

use super::fold::{fold_text, unit};
use super::lower::{At, Body, Lowering, block_stride, set};
use super::sizes::{self, ARCH, Copied, Sized, TileSize};
use super::{Expr, Spread, Stmt, THREADS, Type, wide};
use crate::occupancy::{self, CACHE_PER_US};
use crate::plan::{Kind, Launch, Math, Plan, Step, Tiles, What};
use aplomb_ground::error::{Result, bug};
use aplomb_values::array::DType;
use aplomb_values::dag::ix::{Ix, linear};
use aplomb_values::dag::{Read, Test};
use aplomb_values::prim::reduce;

/// Values that operands of a product keep in shared memory.
const KEPT: usize = 4;
/// Values that a fold of all pairs keeps there of the places, and in registers of its row.
const NEAR: usize = 8;
/// Folds of one product, each with its results in registers.
const FOLDS: usize = 4;
/// The number of usual tiles from which on nobody asks whether a warp a result is better.
const MANY: u64 = 64;
/// The shortest side of a product in tiles.
const NARROW: u64 = 32;
/// The least blocks of 256 rows, of which each thread goes through all places.
const ROWS: u64 = 32;
/// Bytes of a sector, and threads of a warp.
const SECTOR: f64 = 32.0;
const WARP: f64 = 32.0;
/// And shorter folds do not repay the copy.
const SHORT: usize = 8;
/// The element that a failure names: any, for the CPU looks for the first.
pub(super) const ANY: &str = "0";

/// The axes of a launch's folds, and which of them each step of the body needs, a bit each.
pub(super) struct Tiled {
    pub(super) row: usize,
    pub(super) column: Option<usize>,
    pub(super) folded: usize,
    needs: Vec<u8>,
}

/// The blocks that would share a product out in usual tiles, those that a library was measured
/// against, and a tile's results; None: the launch is no product in tiles.
pub fn tiles(plan: &Plan, launch: &Launch) -> Option<(u64, u64)> {
    let tiled = Tiled::of(launch)?;
    let is_wide = plan.math == Math::Fast && tiled.is_wide(launch);
    let side = if is_wide { wide::SIDE } else { TileSize::USUAL.rows };
    let along = |axis: usize| launch.domain[axis].div_ceil(side as usize) as u64;
    tiled.column.map(|column| (along(tiled.row) * along(column), u64::from(side) * u64::from(side)))
}

/// The size of a launch's tiles where nobody tuned them.
pub fn size(plan: &Plan, launch: &Launch) -> TileSize {
    let on = occupancy::find(ARCH);
    let known = sized(plan, launch).zip(on);
    known.map_or(TileSize::USUAL, |(of, on)| sizes::best(&of, on))
}

/// A launch's product, whose tiles have a size that may be chosen. None: it is no such product, or
/// its text has another shape.
pub fn sized(plan: &Plan, launch: &Launch) -> Option<Sized> {
    let tiled = Tiled::of(launch)?;
    let column = tiled.column?;
    let is_wide = plan.math == Math::Fast && tiled.is_wide(launch);
    let is_turned = |k: usize| runs_along(plan, launch, k, tiled.folded);
    (!is_wide).then(|| tiled.sized(launch, column, &is_turned))
}

/// Elements that all blocks copy for a load of a product in tiles of a size. None: no copy serves
/// it.
pub fn copied(plan: &Plan, launch: &Launch, load: usize, size: TileSize) -> Option<u64> {
    let (tiled, of) = (Tiled::of(launch)?, sized(plan, launch)?);
    let side = if tiled.side(launch, load)? { size.rows } else { size.columns };
    Some(of.loads(size) / u64::from(size.rows + size.columns) * u64::from(side))
}

impl Tiled {
    /// None: the launch is of another shape.
    pub(super) fn of(launch: &Launch) -> Option<Tiled> {
        let folded = launch.axis.filter(|_| {
            launch.kind == Kind::Reduce && (1..=FOLDS).contains(&launch.reductions.len())
        })?;
        let mut others = (0..launch.domain.len()).filter(|k| *k != folded);
        let (row, column) = (others.next()?, others.next());
        let of = |axis: usize| launch.domain[axis] as u64;
        // The most blocks of any size.
        let blocks = match column {
            None => of(row).div_ceil(u64::from(THREADS)),
            Some(column) => of(row).div_ceil(NARROW).saturating_mul(of(column).div_ceil(NARROW)),
        };
        if launch.tiles == Tiles::Never {
            return None;
        }
        let by_model = launch.tiles == Tiles::ByModel;
        let small = by_model
            && (launch.domain[folded] < SHORT
                || match column {
                    None => blocks < ROWS,
                    Some(column) => of(column).min(of(row)) < NARROW,
                });
        if others.next().is_some()
            || small
            || !launch.stores.is_empty()
            || of(row).max(blocks) >= 1 << 30
        {
            return None;
        }
        let needs = needs(launch)?;
        let tiled = Tiled { row, column, folded, needs };
        let (left, right) =
            (tiled.kept(launch, tiled.left()).len(), tiled.kept(launch, tiled.right()).len());
        // Of two axes only what both sides are made of may be read: a matrix would be read a row a
        // thread.
        let reads = |k: usize| tiled.is_inner(k) && launch.body[k].what.load().is_some();
        let alone = column.is_none() && !(0..launch.body.len()).any(reads);
        let worth = right > 0 && (left > 0 || alone);
        let fits = match column {
            Some(_) => left + right <= KEPT,
            None => left <= NEAR && right <= NEAR,
        };
        let few = |column: usize| by_model && tiled.is_slower(launch, column);
        (worth && fits && !column.is_some_and(few)).then_some(tiled)
    }

    /// Whether tiles are slower, by the model, than results of which each has its operands from
    /// the second cache: a multiprocessor goes a place on in its tile in the time that it takes
    /// (`sizes`), however few of them have one.
    fn is_slower(&self, launch: &Launch, column: usize) -> bool {
        let of = |axis: usize| launch.domain[axis] as u64;
        let usual = u64::from(TileSize::USUAL.rows);
        let tiles = of(self.row).div_ceil(usual).saturating_mul(of(column).div_ceil(usual));
        let Some(on) = occupancy::find(ARCH).filter(|_| tiles < MANY) else { return false };
        let sized = self.sized(launch, column, &|_| false);
        let times = [TileSize::USUAL, TileSize::LEAST].map(|size| sizes::time(&sized, size, on));
        let points = (of(self.row) * of(column)) as f64 * of(self.folded) as f64;
        times[0].min(times[1]) > points * self.fetched(launch, column) / CACHE_PER_US
    }

    /// Bytes that the second cache gives for a place of a result, where no tile is copied: all of a
    /// sector where neighbouring threads read apart, one element for a warp that reads it at once.
    fn fetched(&self, launch: &Launch, column: usize) -> f64 {
        let last = |read: &Read, axis: usize| read.ix.last().is_some_and(|ix| ix.mentions(axis));
        let moves = |read: &Read, axis: usize| read.ix.iter().any(|ix| ix.mentions(axis));
        let items = |read: &Read| -> f64 {
            let axes = (0..launch.domain.len()).filter(|axis| moves(read, *axis));
            axes.map(|axis| launch.domain[axis] as f64).product()
        };
        let load = |s: &Step| -> Option<(&Read, f64)> {
            Some((&launch.loads[s.what.load()? as usize].read, s.dtype.size() as f64))
        };
        let loads = || launch.body.iter().filter_map(load);
        // Threads follow the columns where more items lie side by side for those (`crosses`).
        let own = |axis: usize| loads().filter(move |(read, _)| last(read, axis));
        let held = |axis: usize| own(axis).map(|(read, _)| items(read)).sum::<f64>();
        let lanes = if held(column) > held(self.folded) { column } else { self.folded };
        // A block has several rows of the fold, side by side along the columns.
        let is_long = launch.domain[self.folded] > super::form::MANY;
        let together = if lanes == column || is_long { 1.0 } else { f64::from(THREADS) / WARP };
        let bytes = |(read, size): (&Read, f64)| match () {
            () if last(read, lanes) && !moves(read, column) => size / together,
            () if last(read, lanes) => size,
            () if moves(read, lanes) => SECTOR,
            () => size / WARP,
        };
        loads().map(bytes).sum()
    }

    /// The figures by which sizes of tiles are ranked; `is_turned` tells values of which threads
    /// copy neighbours along the folded axis.
    fn sized(&self, launch: &Launch, column: usize, is_turned: &dyn Fn(usize) -> bool) -> Sized {
        let extent = |axis: usize| launch.domain[axis] as u64;
        let inner = (0..launch.body.len()).filter(|k| self.is_inner(*k));
        let operations = inner.filter(|k| launch.body[*k].what.operation().is_some()).count();
        Sized {
            extents: [extent(self.row), extent(column), extent(self.folded)],
            copies: [self.left(), self.right()].map(|side| self.copied(launch, side, is_turned)),
            flops: (operations + launch.reductions.len()) as u64,
            folds: launch.reductions.len() as u32,
        }
    }

    /// The copy of an operand.
    fn copied(&self, launch: &Launch, side: u8, is_turned: &dyn Fn(usize) -> bool) -> Copied {
        let kept = self.kept(launch, side);
        let of = |own: Type| kept.iter().filter(|k| type_of(&launch.body[**k]) == own).count();
        let values = [of(Type::F64), of(Type::F32)].map(|n| n as u32);
        Copied { values, is_turned: kept.iter().any(|k| is_turned(*k)) }
    }

    pub(super) fn left(&self) -> u8 {
        1 << self.row | if self.column.is_some() { 1 << self.folded } else { 0 }
    }

    pub(super) fn right(&self) -> u8 {
        1 << self.folded | self.column.map_or(0, |c| 1 << c)
    }

    /// Whether a step is done before the innermost loop; what both sides could do, the left one
    /// does.
    fn is_of(&self, k: usize, side: u8) -> bool {
        let needs = self.needs[k];
        needs & !side == 0 && (side == self.left() || needs & !self.left() != 0)
    }

    /// Whether a load of the body belongs to the left operand, or to the right one. None: the
    /// innermost loop reads it.
    pub(super) fn side(&self, launch: &Launch, load: usize) -> Option<bool> {
        let k = launch.body.iter().position(|s| s.what.load() == Some(load as u32))?;
        match () {
            () if self.is_of(k, self.left()) => Some(true),
            () if self.is_of(k, self.right()) => Some(false),
            () => None,
        }
    }

    fn is_inner(&self, k: usize) -> bool {
        self.needs[k] & !self.left() != 0 && self.needs[k] & !self.right() != 0
    }

    /// The values of a side that the innermost loop reads.
    pub(super) fn kept(&self, launch: &Launch, side: u8) -> Vec<usize> {
        let read = |k: usize| {
            let inner = launch.body.iter().enumerate().filter(|(j, _)| self.is_inner(*j));
            let mut args = inner.flat_map(|(_, step)| step.what.args());
            args.any(|a| a as usize == k) || launch.reductions.iter().any(|r| r.value as usize == k)
        };
        let constant = |k: &usize| matches!(launch.body[*k].what, What::Const(_));
        (0..launch.body.len())
            .filter(|k| self.is_of(*k, side) && !constant(k) && read(*k))
            .collect()
    }
}

/// Whether the memory that a value comes from runs along an axis.
pub(super) fn runs_along(plan: &Plan, launch: &Launch, k: usize, axis: usize) -> bool {
    let step = &launch.body[k];
    let own = step.what.load().is_some_and(|l| {
        let load = &launch.loads[l as usize];
        let shape = &plan.buffer(load.buf).shape;
        linear(&load.read.ix, shape, &launch.domain).coefficient(axis).abs() == 1
    });
    own || step.what.args().iter().any(|a| runs_along(plan, launch, *a as usize, axis))
}

/// The axes that each step of the body needs. None: one reads where values say.
fn needs(launch: &Launch) -> Option<Vec<u8>> {
    let of_ix = |ix: &Ix| {
        (0..launch.domain.len()).filter(|k| ix.mentions(*k)).fold(0, |all, k| all | 1 << k)
    };
    let of_tests = |tests: &[Test]| tests.iter().fold(0, |all, t| all | of_ix(&t.ix));
    let of_read =
        |read: &Read| read.ix.iter().fold(of_tests(&read.tests), |all, ix| all | of_ix(ix));
    let mut all: Vec<u8> = Vec::with_capacity(launch.body.len());
    for step in &launch.body {
        let own = match &step.what {
            What::Load(l) => of_read(&launch.loads[*l as usize].read),
            What::Index { ix, .. } => of_ix(ix),
            What::Guard { tests, .. } | What::Part { tests, .. } => {
                of_tests(&launch.guards[*tests as usize])
            }
            What::Gather { .. } => return None,
            _ => 0,
        };
        let guard = step.from.guard.map_or(0, |g| of_tests(&launch.guards[g as usize]));
        all.push(step.what.args().iter().fold(own | guard, |sum, a| sum | all[*a as usize]));
    }
    Some(all)
}

fn type_of(step: &Step) -> Type {
    if step.dtype == DType::F32 { Type::F32 } else { Type::F64 }
}

pub(super) fn unroll(name: &str, count: u32, body: Vec<Stmt>) -> Stmt {
    Stmt::Unrolled { name: name.into(), count, out: count, body }
}

/// Coordinates that nothing in the innermost loop asks for.
pub(super) fn drop_places(body: &mut Vec<Stmt>) {
    let used = |name: &str, body: &[Stmt]| {
        let asks = |text: &str| super::check::words(text).any(|w| w == name);
        body.iter().any(|s| match s {
            Stmt::Let { is, .. } | Stmt::Set { is, .. } => asks(is),
            _ => true,
        })
    };
    let asked = |s: &Stmt| !matches!(s, Stmt::Let { name, node: None, .. } if !used(name, body));
    let kept: Vec<bool> = body.iter().map(asked).collect();
    *body = std::mem::take(body)
        .into_iter()
        .zip(kept)
        .filter_map(|(s, keep)| keep.then_some(s))
        .collect();
}

pub(super) fn barrier() -> Stmt {
    Stmt::Do("__syncthreads()".into())
}

pub(super) fn upto(name: &str, to: &str, step: &str, body: Vec<Stmt>) -> Stmt {
    Stmt::For { name: name.into(), from: "0".into(), to: to.into(), step: step.into(), body }
}

impl Lowering<'_> {
    /// The steps that one side, or the innermost loop, needs for `wanted`; `given` are values that
    /// are there.
    pub(super) fn part(
        &mut self,
        t: &Tiled,
        wanted: &[usize],
        given: &[(usize, String, bool)],
        body: &mut Body,
    ) -> Result<()> {
        let launch = self.launch;
        let mut needed: Vec<bool> = (0..launch.body.len()).map(|k| wanted.contains(&k)).collect();
        let there = |k: usize| given.iter().find(|g| g.0 == k);
        for k in (0..launch.body.len()).rev().filter(|k| there(*k).is_none()) {
            if needed[k] {
                launch.body[k].what.args().iter().for_each(|a| needed[*a as usize] = true);
            }
        }
        let axes: Vec<String> = (0..launch.domain.len()).map(|k| format!("x{k}")).collect();
        debug_assert_eq!(t.needs.len(), launch.body.len());
        for (k, step) in launch.body.iter().enumerate() {
            match there(k) {
                Some((_, name, loose)) => {
                    body.values.push(name.clone());
                    body.loose.push(*loose);
                }
                None if needed[k] => {
                    self.step(step, &launch.body, At::point(&axes, &launch.domain), body)?
                }
                None => {
                    body.values.push(String::new());
                    body.loose.push(false);
                }
            }
        }
        Ok(())
    }

    pub(super) fn place_let(&self, axis: usize, is: Expr) -> Stmt {
        self.let_(&format!("x{axis}"), self.int(), is)
    }

    pub(super) fn clamped(&self, is: &str, extent: &str) -> Expr {
        if self.narrow {
            format!("clamp({is}, 0, {extent} - 1)")
        } else {
            format!("clamp64({is}, 0, {extent} - 1)")
        }
    }

    /// A side's part of a tile: its `own` axis from `z`, so many places of the folded one.
    fn fill(
        &mut self,
        t: &Tiled,
        size: TileSize,
        (side, own): (u8, usize),
        (z, extent, deep): (&str, &str, &str),
    ) -> Result<Filled> {
        let is_left = side == t.left();
        let (prefix, long) = if is_left { ('l', size.rows) } else { ('q', size.columns) };
        let launch = self.launch;
        let is_turned = |k: usize| runs_along(self.plan, launch, k, t.folded);
        let (kept, copied) = (t.kept(launch, side), t.copied(launch, side, &is_turned));
        let (depth, line, threads) = (size.deep, copied.line(long, size.deep), size.threads());
        // Neighbouring threads read neighbours in memory.
        let (at, place) = if copied.is_turned {
            (format!("e0 / {depth}"), format!("e0 % {depth}"))
        } else {
            (format!("e0 % {long}"), format!("e0 / {long}"))
        };
        let int = self.int().cuda();
        let mut body = Body::new(ANY);
        body.out.push(self.let_("e0", Type::U32, format!("threadIdx.x + s * {threads}")));
        body.out.push(self.place_let(own, self.clamped(&format!("{z} + ({int})({at})"), extent)));
        body.out.push(
            self.place_let(t.folded, self.clamped(&format!("({int})k + ({int})({place})"), deep)),
        );
        self.part(t, &kept, &[], &mut body)?;
        let (mut shared, mut given) = (Vec::new(), Vec::new());
        for (j, k) in kept.iter().enumerate() {
            let (name, of) = (format!("{prefix}{j}"), type_of(&launch.body[*k]));
            body.out.push(super::lower::store(
                &name,
                &format!("({place}) * {line} + {at}"),
                &body.values[*k],
            ));
            shared.push(Stmt::Shared { name, of, count: depth * line });
            given.push((*k, of, body.loose[*k]));
        }
        Ok(Filled { line, shared, copy: unroll("s", long * depth / threads, body.out), given })
    }

    pub(super) fn fold_tiles(&mut self, t: &Tiled) -> Result<(Vec<Stmt>, Spread, u64)> {
        match t.column {
            Some(column) if self.sums_in_f32(t) && t.is_wide(self.launch) => self.wide(t, column),
            Some(column) => self.product(t, column),
            None => self.pairs(t),
        }
    }

    fn product(&mut self, t: &Tiled, column: usize) -> Result<(Vec<Stmt>, Spread, u64)> {
        let launch = self.launch;
        let (rows, columns) = (launch.domain[t.row], launch.domain[column]);
        let fits = |size: &TileSize| sized(self.plan, launch).is_some_and(|of| of.fits(*size));
        let size = self.tuning.tile.filter(fits);
        let size = size.unwrap_or_else(|| self::size(self.plan, launch));
        let TileSize { deep: depth, own, .. } = size;
        (self.threads, self.choices.tiles) = (size.threads(), Some(size));
        let (down, side) = (size.down(), size.across());
        let across = columns.div_ceil(size.columns as usize);
        let int = self.int();
        let sums = match self.sums_in_f32(t) {
            true => Sums::Single,
            false if t.is_single(launch) => Sums::Blocks,
            false => Sums::Double,
        };
        let extents =
            [rows, columns, launch.domain[t.folded]].map(|n| self.number('m', int, n as f64));
        let [m, n, deep] = extents.each_ref().map(String::as_str);
        let left = self.fill(t, size, (t.left(), t.row), ("z0", m, deep))?;
        let right = self.fill(t, size, (t.right(), column), ("z1", n, deep))?;

        // A thread's rows lie as far apart as there are threads along them, and its columns too.
        let (row, col) = (format!("threadIdx.x / {side}"), format!("threadIdx.x % {side}"));
        let mut inner = Body::new(ANY);
        let (mut take, mut given) = (Vec::new(), Vec::new());
        for (filled, prefix, array, thread, by, (line, apart)) in [
            (&left, 'l', 'u', &row, "a", (left.line, down)),
            (&right, 'q', 'w', &col, "b", (right.line, side)),
        ] {
            for (j, (k, of, loose)) in filled.given.iter().enumerate() {
                let name = format!("{array}{j}");
                take.push(Stmt::Local { name: name.clone(), of: *of, count: own });
                let from = format!("{prefix}{j}[d * {line} + {thread} + {apart} * a]");
                take.push(unroll("a", own, vec![super::lower::store(&name, "a", &from)]));
                given.push((*k, format!("{name}[{by}]"), *loose));
            }
        }
        let point = |k: &Self, axis: usize, is_row: bool, extent: &str| {
            let (z, thread, apart, by) =
                if is_row { ("z0", &row, down, "a") } else { ("z1", &col, side, "b") };
            let is = format!("{z} + ({0})({thread} + {apart} * {by})", int.cuda());
            k.place_let(axis, if extent.is_empty() { is } else { k.clamped(&is, extent) })
        };
        inner.out.push(point(self, t.row, true, m));
        inner.out.push(point(self, column, false, n));
        inner.out.push(self.place_let(t.folded, format!("({})(k + d)", int.cuda())));
        let sum = |k: usize| format!("t{k}[a * {own} + b]");
        let added = if sums == Sums::Blocks { 'y' } else { 't' };
        self.sums(t, &given, &|k| format!("{added}{k}[a * {own} + b]"), &mut inner)?;
        drop_places(&mut inner.out);
        take.push(unroll("a", own, vec![unroll("b", own, inner.out)]));

        let mut last = vec![point(self, 0, true, ""), point(self, 1, false, "")];
        let mut inside = vec![self.let_("o", Type::U64, format!("(u64)x0 * {n} + x1"))];
        let all: Vec<String> = (0..launch.reductions.len()).map(sum).collect();
        self.after(&all, "o", &["x0".into(), "x1".into()], &mut inside)?;
        last.push(Stmt::If(format!("x0 < {m} && x1 < {n}"), inside));

        let (quotient, by) = match across {
            1 => (format!("({})tile", int.cuda()), "1".to_string()),
            _ => self.divided(&format!("({})tile", int.cuda()), across as i64),
        };
        let place = upto(
            "k",
            deep,
            &depth.to_string(),
            vec![
                left.copy,
                right.copy,
                barrier(),
                self.let_(
                    "deep",
                    Type::U64,
                    format!("{deep} - k < {depth} ? {deep} - k : {depth}"),
                ),
                upto("d", "deep", "1", take),
                barrier(),
            ],
        );
        let mut tile = vec![
            self.let_("z2", int, quotient),
            self.let_("z0", int, format!("z2 * {}", size.rows)),
            self.let_("z1", int, format!("(({})tile - z2 * {by}) * {}", int.cuda(), size.columns)),
        ];
        tile.append(&mut self.summed(sums, own * own, place)?);
        tile.push(unroll("a", own, vec![unroll("b", own, last)]));
        let mut out = vec![Stmt::Note(format!(
            "A block a tile of {}×{} results, {depth} places at a time.",
            size.rows, size.columns
        ))];
        out.extend(left.shared.into_iter().chain(right.shared));
        out.push(self.tiles(tile));
        let tiles = rows.div_ceil(size.rows as usize) as u64 * across as u64;
        Ok((out, Spread::Blocks, tiles))
    }

    /// The loop over the folded axis, and before it a thread's sums, as units.
    fn summed(&self, sums: Sums, count: u32, places: Stmt) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let local = |prefix: char, of: Type| {
            let all = 0..launch.reductions.len();
            all.map(move |k| Stmt::Local { name: format!("{prefix}{k}"), of, count })
        };
        let zero = |prefix: char| -> Result<Stmt> {
            let begun: Result<Vec<Stmt>> = (launch.reductions.iter().enumerate())
                .map(|(k, r)| Ok(set(&format!("{prefix}{k}[s]"), &unit(r.op)?)))
                .collect();
            Ok(unroll("s", count, begun?))
        };
        let of = if sums == Sums::Single { Type::F32 } else { Type::F64 };
        let mut out: Vec<Stmt> = local('t', of).collect();
        out.push(zero('t')?);
        if sums != Sums::Blocks {
            out.push(places);
            return Ok(out);
        }
        let Stmt::For { name, to, step, body, .. } = places else {
            return Err(bug!("places of a product are no loop"));
        };
        let block = reduce::ROWS;
        out.extend(local('y', Type::F32));
        let whole: Vec<Stmt> = (0..launch.reductions.len())
            .map(|k| set(&format!("t{k}[s]"), &format!("t{k}[s] + (double)y{k}[s]")))
            .collect();
        let end = format!("{to} - h < {block} ? {to} : h + {block}");
        let rounds = vec![
            zero('y')?,
            self.let_("end", Type::U64, end),
            Stmt::For { name, from: "h".into(), to: "end".into(), step, body },
            unroll("s", count, whole),
        ];
        out.push(upto("h", &to, &block.to_string(), rounds));
        Ok(out)
    }

    /// The innermost loop's step of every fold: its value, added to `sum` of its number.
    fn sums(
        &mut self,
        t: &Tiled,
        given: &[(usize, String, bool)],
        sum: &dyn Fn(usize) -> String,
        inner: &mut Body,
    ) -> Result<()> {
        let launch = self.launch;
        let wanted: Vec<usize> = launch.reductions.iter().map(|r| r.value as usize).collect();
        self.part(t, &wanted, given, inner)?;
        for (k, reduction) in launch.reductions.iter().enumerate() {
            let value = self.folded(reduction, inner)?;
            inner.out.push(Stmt::Set {
                is: fold_text(reduction.op, &sum(k), &value)?,
                name: sum(k),
                node: Some(reduction.node),
            });
        }
        Ok(())
    }

    pub(super) fn tiles(&self, body: Vec<Stmt>) -> Stmt {
        block_stride("tile", body)
    }

    fn pairs(&mut self, t: &Tiled) -> Result<(Vec<Stmt>, Spread, u64)> {
        let launch = self.launch;
        let (rows, int) = (launch.domain[t.row], self.int());
        let extents = [rows, launch.domain[t.folded]].map(|n| self.number('m', int, n as f64));
        let [m, deep] = extents.each_ref().map(String::as_str);

        let mut own = Body::new(ANY);
        own.out.push(self.place_let(t.row, self.clamped("z0", m)));
        let kept = t.kept(launch, t.left());
        self.part(t, &kept, &[], &mut own)?;
        let mut given: Vec<(usize, String, bool)> =
            kept.iter().map(|k| (*k, own.values[*k].clone(), own.loose[*k])).collect();

        let mut copy = Body::new(ANY);
        copy.out.push(self.place_let(t.folded, format!("({})(k + threadIdx.x)", int.cuda())));
        let kept = t.kept(launch, t.right());
        self.part(t, &kept, &[], &mut copy)?;
        let mut shared = Vec::new();
        for (j, k) in kept.iter().enumerate() {
            let (name, of) = (format!("q{j}"), type_of(&launch.body[*k]));
            copy.out.push(super::lower::store(&name, "threadIdx.x", &copy.values[*k]));
            given.push((*k, format!("{name}[d]"), copy.loose[*k]));
            shared.push(Stmt::Shared { name, of, count: THREADS });
        }

        let mut inner = Body::new(ANY);
        inner.out.push(self.place_let(t.folded, format!("({})(k + d)", int.cuda())));
        let sum = |k: usize| format!("t{k}");
        self.sums(t, &given, &sum, &mut inner)?;

        let mut last = vec![self.let_("o", Type::U64, "(u64)z0".into())];
        let all: Vec<String> = (0..launch.reductions.len()).map(sum).collect();
        self.after(&all, "o", &["z0".into()], &mut last)?;
        let mut tile =
            vec![self.let_("z0", int, format!("({})(tile * {THREADS} + threadIdx.x)", int.cuda()))];
        tile.append(&mut own.out);
        for (k, reduction) in launch.reductions.iter().enumerate() {
            tile.push(self.let_(&sum(k), Type::F64, unit(reduction.op)?));
        }
        let step = vec![
            Stmt::If(format!("k + threadIdx.x < {deep}"), copy.out),
            barrier(),
            self.let_(
                "deep",
                Type::U64,
                format!("{deep} - k < {THREADS} ? {deep} - k : {THREADS}"),
            ),
            upto("d", "deep", "1", inner.out),
            barrier(),
        ];
        tile.push(upto("k", deep, &THREADS.to_string(), step));
        tile.push(Stmt::If(format!("z0 < {m}"), last));
        let mut out =
            vec![Stmt::Note(format!("A block {THREADS} rows, {THREADS} places at a time."))];
        out.extend(shared);
        out.push(self.tiles(tile));
        Ok((out, Spread::Blocks, rows.div_ceil(THREADS as usize) as u64))
    }
}

/// The types in which a product's items are added up.
#[derive(Clone, Copy, PartialEq)]
enum Sums {
    /// f64.
    Double,
    /// f32, as `--math fast` has it.
    Single,
    /// Items of f32: f32 for as many places as on the CPU (`reduce::ROWS`), then f64.
    Blocks,
}

/// A side's shared arrays, how a tile of it gets there, and which values they are.
struct Filled {
    /// Items of a line of its arrays.
    line: u32,
    shared: Vec<Stmt>,
    copy: Stmt,
    given: Vec<(usize, Type, bool)>,
}

//! The time that a launch is thought to take on a CPU: the one model of it. The compiler prices
//! plans by it, a trace tells it, and whoever chooses a device asks it of the machine that is
//! there.
//!
//! | part | nanoseconds |
//! |---|---|
//! | bytes from memory and to it | by the rate of caches or, beyond `CACHE`, of memory |
//! | an operation of an emitted loop | one instruction for a register of its widest type, or its row's figure |
//! | a read that jumps from line to line, a gather | by where the source fits |
//! | folds of all pairs in tiles | a product by a register's part, and packing |
//! | loops, scans, sorts, searches, scatters | what their loops took, an element |
//!
//! Operations and memory overlap in part: the greater, and a quarter of the other. The figures are
//! of 2026, on a core with AVX-512; `docs/PERFORMANCE.md` has how near they come. A register of
//! AVX2 has half as much in it. Where nothing is emitted chunks of f64 are computed, and operations
//! have their rows' figures (`Effort`).

use super::effort::LAUNCH_NS;
use super::product::Factors;
use super::{Kind, Launch, Load, Plan, Step, What};
use aplomb_values::array::{DType, elements, strides};
use aplomb_values::body::Effort;
use aplomb_values::dag::ix::{Atom, Ix};
use aplomb_values::dag::{Lib, Read, Whole};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::ROWS;
use std::collections::BTreeSet;

/// Bytes of a launch's arrays that caches hold, between cores and memory.
const CACHE: u64 = 20 << 20;
/// Bytes a nanosecond that one thread moves from and to caches.
pub const CACHED: f64 = 30.0;
/// The same of memory, which serves so many threads.
const FAR: f64 = 19.0;
const SERVED: usize = 4;
/// The share of the lesser of operations and memory that the other does not hide.
const SHOWN: f64 = 0.25;
/// Work of fewer nanoseconds is not shared out.
const ALONE: f64 = 20_000.0;

/// One instruction for an f64, the eighth part of a register; of narrower types more than so many
/// bytes' worth is lost on the way.
pub const INSTRUCTION: f64 = 0.04;
const NARROWEST: usize = 2;
/// A row of a read that does not go on where the last one ended, and an item of what goes in
/// pieces through a chunk.
const PIECE: f64 = 15.0;
const CHUNKED: f64 = 0.3;
/// An item of a row that is a column, where its neighbours are read with it.
const AHEAD: f64 = 2.0;
/// Items of such a row.
pub const AT_ONCE: std::ops::RangeInclusive<usize> = 64..=1 << 14;
/// A place that is a number by itself and goes around, or by quotients.
const AROUND: f64 = 0.8;
/// Operations of at most that, by their rows, are an instruction or two; others are sequences,
/// which emitted loops take in so much less time than chunks.
const ONE: f64 = 0.25;
const SEQUENCE: f64 = 0.7;
/// The same of a loop in a launch, whose rounds depend on each other.
const ROUNDS: f64 = 1.25;
/// Greatest common divisors of other than booleans.
const EUCLID: f64 = 20.0;
/// A step of a scan.
const SCANNED: f64 = 0.6;
/// An item of a mask, and one that is put at its place.
const SELECTED: f64 = 0.3;
const SCATTERED: f64 = 0.9;
/// A place in memory that is counted.
const COUNTED: f64 = 0.3;
/// The end of a row or segment that is folded.
const ROW: f64 = 2.5;
const SEGMENT: f64 = 40.0;
/// Rows of so many items are picked by places, item by item.
const SHORT: usize = 32;
const PICKED: f64 = 0.2;
/// An item that lies in a near cache, for itself.
const NEAR: f64 = 0.8;
/// A comparison of a sort that is not by partitions; a step of a search by table.
const SORTED: f64 = 1.5;
/// A number among which some neighbours in the order are looked for: it is looked at twice.
const NEIGHBOURS: f64 = 2.5;
const SOUGHT: f64 = 15.0;

/// Lines of an operand of a product below which it is a fold like others, and products to a sum.
pub const FEW: usize = 4;
/// Products to a sum below which tiles do not pay.
pub const LEAST: usize = 8;
/// A result of many small products.
const BATCHED: f64 = 1.2;
/// Products of such a result that are registers, at most.
pub const REGISTERS: usize = 16;
/// A result of a tile that takes products in order.
const STORED: f64 = 0.2;
/// Reading, computing and packing an item of an operand of a product.
const PACK_NS: f64 = 0.8;

/// Microseconds of a plan below which nobody asks whether there is a GPU.
pub const ASK_US: f64 = 40.0;

/// A CPU as estimates see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Registers of an emitted loop for as much as one of AVX-512 has; None: nothing is emitted.
    pub registers: Option<f64>,
    /// Nanoseconds of a product in tiles, of f64 and of f32.
    pub products: [f64; 2],
    /// The same of products of matrices that are taken in order.
    pub ordered: [f64; 2],
    /// Nanoseconds of a comparison of a sort of keys of eight bytes.
    pub sorted: f64,
}

impl Machine {
    /// The CPU of estimates that have to be the same everywhere: a core with AVX-512.
    pub const REFERENCE: Machine = Machine {
        registers: Some(1.0),
        products: [0.04, 0.021],
        ordered: [0.024, 0.012],
        sorted: 0.6,
    };
    /// One with AVX2.
    pub const AVX2: Machine = Machine {
        registers: Some(2.0),
        products: [0.08, 0.04],
        ordered: [0.048, 0.024],
        sorted: SORTED,
    };
    /// One of which nothing is known.
    pub const PORTABLE: Machine =
        Machine { registers: None, products: [0.7; 2], ordered: [0.7; 2], sorted: SORTED };

    /// The time of a launch of the plan on one thread.
    pub fn time(&self, plan: &Plan, launch: &Launch) -> Time {
        Model { plan, machine: *self }.launch(launch)
    }
}

/// The time of a launch on one thread, in nanoseconds; its start is not in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// Operations and reads.
    pub computing: f64,
    /// Bytes from memory and to it.
    pub moving: f64,
}

impl Time {
    /// Nanoseconds of the launch with its start, on so many threads.
    pub fn on(&self, threads: usize) -> f64 {
        let Time { computing, moving } = *self;
        let shared = if computing.max(moving) > ALONE { threads.max(1) } else { 1 };
        let (computing, moving) = (computing / shared as f64, moving / shared.min(SERVED) as f64);
        LAUNCH_NS + computing.max(moving) + SHOWN * computing.min(moving)
    }
}

/// The elements along the last axis that a read goes straight on for: what divides the axis breaks
/// it.
fn straight(read: &Read, domain: &[usize]) -> usize {
    let Some((&n, around)) = domain.split_last() else { return 1 };
    read.ix.iter().map(|ix| until(ix, around.len(), n)).min().map_or(n, |least| least)
}

fn until(ix: &Ix, axis: usize, n: usize) -> usize {
    let own = |atom: &Atom| match atom {
        Atom::Axis(_) => n,
        Atom::Clamp(x, ..) => until(x, axis, n),
        Atom::Div(x, _) | Atom::Mod(x, _) if !x.mentions(axis) => n,
        Atom::Div(x, d) | Atom::Mod(x, d) => {
            let (by, d) = (x.coefficient(axis).unsigned_abs().max(1), d.unsigned_abs());
            let each = if by % d == 0 { n } else { (d / by).max(1) as usize };
            each.min(until(x, axis, n))
        }
    };
    ix.terms.iter().map(|(_, atom)| own(atom)).min().map_or(n, |least| least.min(n))
}

struct Model<'a> {
    plan: &'a Plan,
    machine: Machine,
}

impl Model<'_> {
    fn launch(&self, launch: &Launch) -> Time {
        let points = elements(&launch.domain) as f64;
        let body = match self.tiles(launch).or_else(|| self.batch(launch)) {
            Some(products) => products,
            None => points * self.steps(launch, &launch.body, &launch.domain) + self.finish(launch),
        };
        let outer = launch.outer();
        let after = elements(&outer) as f64 * self.steps(launch, &launch.after, &outer);
        let traffic = self.plan.traffic(launch);
        let bytes = traffic.read.saturating_add(traffic.written);
        let rate = if bytes > CACHE { FAR } else { CACHED };
        Time { computing: body + after, moving: bytes as f64 / rate }
    }

    /// The body and the folds of a product in tiles. None: it is none.
    fn tiles(&self, launch: &Launch) -> Option<f64> {
        let factors = Factors::of(launch).filter(|f| f.folded + 1 == launch.domain.len())?;
        let [rows, columns, deep] = factors.extents(launch);
        let kind = |v: u32| launch.body[v as usize].dtype;
        let exact = |v| kind(v).is_integer() || kind(v) == DType::Char;
        let tiled = match (factors.sum, factors.times) {
            (Op::Add, times) if times.multiplies() => true,
            (Op::Add, Op::Eq | Op::Ne | Op::Lcm)
            | (Op::Gcd, Op::Lcm)
            | (Op::Lcm, Op::Gcd)
            | (Op::Max | Op::Min, Op::Add | Op::Mul) => {
                exact(factors.left) && exact(factors.right) && !factors.narrow
            }
            _ => false,
        };
        let in_order = factors.times == Op::Mac;
        let rates = if in_order { self.machine.ordered } else { self.machine.products };
        let one = rates[usize::from(factors.narrow)];
        let few = !in_order && (rows < FEW || columns < FEW || deep < LEAST);
        let (lines, mut all) = ((rows + columns) as f64, rows as f64 * columns as f64);
        if tiled && factors.is_mirrored(launch) {
            all /= 2.0;
        }
        if tiled && in_order {
            // A tile's results come and go.
            all *= 1.0 + STORED / (one * deep as f64);
        }
        (tiled && !few).then_some((all * one + lines * PACK_NS) * deep as f64)
    }

    /// The body and the folds of many small products of numbers in memory. None: it is none.
    fn batch(&self, launch: &Launch) -> Option<f64> {
        let [sum] = launch.reductions.as_slice() else { return None };
        let &[.., columns, deep] = launch.domain.as_slice() else { return None };
        let times = launch.body.get(sum.value as usize)?.what.operation()?;
        let most = match times {
            Op::Mac => ROWS,
            Op::Mul => REGISTERS,
            _ => return None,
        };
        let loads = launch.body.iter().filter(|step| step.what.load().is_some()).count();
        let products = launch.body.len() == 3 && loads == 2 && sum.op == Op::Add;
        let small = columns >= FEW && (2..=most).contains(&deep);
        let last = launch.axis.is_some_and(|axis| axis >= 2 && axis + 1 == launch.domain.len());
        let results = elements(&launch.outer()) as f64;
        (products && small && last)
            .then_some(results * (BATCHED + self.machine.ordered[0] * deep as f64))
    }

    /// One point's steps, and what is folded or stored there.
    fn steps(&self, launch: &Launch, steps: &[Step], domain: &[usize]) -> f64 {
        let wide = |s: &Step| !matches!(s.what, What::Const(_) | What::Index { .. });
        let widest = steps.iter().filter(|s| wide(s)).map(|s| s.dtype.size()).max();
        let part = match (self.machine.registers, widest) {
            (Some(registers), Some(bytes)) => registers * bytes.max(NARROWEST) as f64 / 8.0,
            (Some(_), None) | (None, _) => 1.0,
        };
        let mut met = BTreeSet::new();
        let all = steps.iter().map(|step| self.step(launch, steps, step, (domain, part), &mut met));
        let beside = match launch.kind {
            _ if !std::ptr::eq(steps, &*launch.body) => 0.0,
            Kind::Reduce => {
                let rows = match domain.last() {
                    Some(&n) if launch.axis == Some(domain.len() - 1) => ROW / n.max(1) as f64,
                    _ => 0.0,
                };
                launch
                    .reductions
                    .iter()
                    .map(|r| rows + self.operation(Effort::of(r.op).ns, part))
                    .sum()
            }
            Kind::Scan => SCANNED * launch.reductions.len() as f64,
            Kind::Compact => SELECTED,
            Kind::Map | Kind::Whole => 0.0,
        };
        let all = all.sum::<f64>();
        all + beside
    }

    /// An operation that takes so long by its row.
    fn operation(&self, ns: f64, part: f64) -> f64 {
        match self.machine.registers {
            Some(_) if ns <= ONE => INSTRUCTION * part,
            Some(_) => SEQUENCE * ns * part,
            None => ns,
        }
    }

    fn step(
        &self,
        launch: &Launch,
        steps: &[Step],
        step: &Step,
        (domain, part): (&[usize], f64),
        met: &mut BTreeSet<u32>,
    ) -> f64 {
        let own = step.what.cost_among(steps).ns;
        match &step.what {
            What::Op { op: Op::Gcd | Op::Lcm, args, .. }
                if args.iter().any(|a| steps[*a as usize].dtype != DType::Bool) =>
            {
                EUCLID
            }
            What::Op { .. } => self.operation(own, part),
            What::Load(k) => self.read(launch, &launch.loads[*k as usize], (domain, part), met),
            What::Gather { load, .. } => self.jump(&launch.loads[*load as usize]),
            What::Loop { .. } => ROUNDS * own,
            What::Arg(_) | What::Const(_) | What::Reduced(_) | What::State { .. } => own,
            What::Index { ix, .. } if !ix.is_affine() => AROUND,
            What::Select { .. } | What::Index { .. } | What::Guard { .. } | What::Part { .. } => {
                if self.machine.registers.is_some() {
                    2.0 * INSTRUCTION * part
                } else {
                    own
                }
            }
        }
    }

    /// A read of a point: from line to line, or along some axis of a fold, or else along the last.
    /// Another of the same array finds the lines that the first one met.
    fn read(
        &self,
        launch: &Launch,
        load: &Load,
        (domain, part): (&[usize], f64),
        met: &mut BTreeSet<u32>,
    ) -> f64 {
        let shape = &self.plan.buffer(load.buf).shape;
        let by = strides(shape);
        let flat = |place: &[usize]| -> i64 {
            load.read.ix.iter().zip(&by).map(|(ix, by)| ix.at(place) * *by as i64).sum()
        };
        // In the middle, where what is rotated or cut at the ends goes on.
        let middle: Vec<usize> = domain.iter().map(|n| n / 2).collect();
        let step = |axis: usize| {
            let mut next = middle.clone();
            next[axis] = (domain[axis] / 2 + 1).min(domain[axis].saturating_sub(1));
            (flat(&next) - flat(&middle)).unsigned_abs()
        };
        let axes = match launch.kind {
            Kind::Reduce => 0..domain.len(),
            _ => domain.len().saturating_sub(1)..domain.len(),
        };
        // Rows that are columns, some of which are read together.
        let ahead = match (launch.kind, domain.len().checked_sub(2)) {
            (Kind::Map, Some(beside)) => step(beside) == 1 && AT_ONCE.contains(&domain[beside + 1]),
            _ => false,
        };
        let line = 64 / self.plan.buffer(load.buf).dtype.size().max(1) as u64;
        match axes.map(step).min() {
            Some(least) if least >= line => match met.insert(load.buf.0) {
                true if ahead => self.jump(load).min(AHEAD),
                true => self.jump(load),
                false => NEAR,
            },
            Some(0) if domain.last().is_some_and(|n| (2..=SHORT).contains(n)) => PICKED,
            _ if load.read == Read::identity(domain.len()) => INSTRUCTION * part,
            _ => {
                let straight = straight(&load.read, domain);
                let broken = domain.last().is_some_and(|n| straight < *n);
                let moving = if broken { CHUNKED } else { INSTRUCTION * part };
                moving + PIECE / straight.max(1) as f64
            }
        }
    }

    /// An item from another line than the one before.
    fn jump(&self, load: &Load) -> f64 {
        let buffer = self.plan.buffer(load.buf);
        match buffer.bytes() {
            0..=0x10_0000 => NEAR,
            0x10_0001..=0x200_0000 => 2.5,
            _ => 5.0,
        }
    }

    /// An operation on whole arrays.
    fn finish(&self, launch: &Launch) -> f64 {
        let Some(finish) = &launch.finish else { return 0.0 };
        let points = elements(&launch.domain) as f64;
        let held = |k: usize| -> f64 {
            let load = finish.held.get(k).and_then(|l| launch.loads.get(*l as usize));
            load.map_or(0.0, |load| elements(&self.plan.buffer(load.buf).shape) as f64)
        };
        match &finish.what {
            Whole::Lib { of: Lib::IndexOf | Lib::Member, .. } => {
                // A few are looked for in the list itself.
                let (list, sought) = (held(0), held(1));
                (SOUGHT * (sought + list)).min(INSTRUCTION * list * sought.max(1.0))
            }
            Whole::Lib { of, rows, .. } => {
                let n = held(0);
                let load = launch.loads.get(finish.held[0] as usize);
                let buffer = load.map(|load| self.plan.buffer(load.buf));
                let row = buffer.and_then(|b| b.shape.last().copied());
                let all = buffer.and_then(|b| finish.what.ordered(&b.shape));
                if finish.shape.last() < all.as_ref() {
                    return NEIGHBOURS * n;
                }
                let size = buffer.map_or(8, |b| b.dtype.size());
                let run = row.filter(|_| *rows).map_or(n, |row| row as f64);
                // A place stands beside its key.
                let one = match size {
                    _ if *rows => SORTED * size as f64 / 8.0,
                    _ if of.is_sort() => self.machine.sorted * size as f64 / 8.0,
                    ..=4 => self.machine.sorted,
                    _ => SORTED,
                };
                one * n * run.max(2.0).log2()
            }
            Whole::Scatter { .. } => {
                let fed = |k: usize| finish.fed.get(k).map(|v| &launch.body[*v as usize].what);
                // How often each place occurs.
                let counts =
                    matches!((fed(0), fed(1)), (Some(What::Const(_)), Some(What::Load(_))));
                points * if counts { COUNTED } else { SCATTERED }
            }
            what @ Whole::Segmented { .. } => points * what.cost().ns + SEGMENT * held(0),
            what @ Whole::Fold { .. } => points * what.cost().ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_goes_straight_until_what_divides_its_axis_steps() {
        let domain = [9, 400];
        let (i, j) = (Ix::axis(0), Ix::axis(1));
        let rows = |d| i.add(&j.div(d, &domain));
        let columns = |d| j.modulo(d, &domain);
        for (ix, wanted) in [
            (vec![i.clone(), j.clone()], 400),
            (vec![i.add(&j)], 400),
            (vec![rows(20), columns(20)], 20),
            (vec![columns(7)], 7),
            (vec![j.times(2).div(20, &domain)], 10),
            (vec![i.modulo(3, &domain), j.clone()], 400),
            (vec![j.offset(-3).clamped(0, 399, &domain)], 400),
        ] {
            let read = Read { ix, tests: Vec::new() };
            assert_eq!(straight(&read, &domain), wanted, "{read:?}");
        }
    }
}

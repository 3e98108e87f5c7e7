//! The time that launches are thought to take on this machine: who chooses a device asks, and
//! `aplomb bench` holds it beside what they take.
//!
//! | part | nanoseconds |
//! |---|---|
//! | bytes from memory and to it | by the rate of caches or, beyond `CACHE`, of memory |
//! | an operation of an emitted loop | one instruction for a register of its widest type, or its row's figure |
//! | a read that jumps from line to line, a gather | by where the source fits |
//! | folds of all pairs in tiles | `product::estimate` |
//! | loops, scans, sorts, searches, scatters | what their loops took, an element |
//!
//! Operations and memory overlap in part: the greater, and a quarter of the other. The figures are
//! of 2026, on a core with AVX-512; `docs/PERFORMANCE.md` has how near they come. A register of
//! AVX2 has half as much in it. Where nothing is emitted chunks of f64 are computed, and operations
//! have their rows' figures (`Effort`).

use super::{Isa, product};
use aplomb_plans::plan::effort::LAUNCH_NS;
use aplomb_plans::plan::{Kind, Launch, Load, Plan, Step, What};
use aplomb_values::array::{DType, elements, strides};
use aplomb_values::body::Effort;
use aplomb_values::dag::{Lib, Read, Whole};
use aplomb_values::prim::op::Op;

/// Bytes of a launch's arrays that caches hold, between cores and memory.
const CACHE: u64 = 20 << 20;
/// Bytes a nanosecond that one thread moves from and to caches and memory; the latter serves so
/// many threads.
const CACHED: f64 = 30.0;
const FAR: f64 = 19.0;
const SERVED: usize = 4;
/// The share of the lesser of operations and memory that the other does not hide.
const SHOWN: f64 = 0.25;
/// Work of fewer nanoseconds is not shared out.
const ALONE: f64 = 20_000.0;

/// One instruction for an f64, the eighth part of a register; of narrower types more than so many
/// bytes' worth is lost on the way.
const INSTRUCTION: f64 = 0.04;
const NARROWEST: usize = 2;
/// A row of a read that does not go on where the last one ended.
const PIECE: f64 = 15.0;
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
/// The end of a row or segment that is folded.
const ROW: f64 = 2.5;
const SEGMENT: f64 = 40.0;
/// Rows of so many items are picked by places, item by item.
const SHORT: usize = 32;
const PICKED: f64 = 0.2;
/// A comparison of a sort; a step of a search by table.
const SORTED: f64 = 1.5;
const SOUGHT: f64 = 15.0;

/// Microseconds of a plan's launches on so many threads. Whoever runs a plan may ask each time: its
/// launches are looked at once.
pub fn estimate(plan: &Plan, threads: usize) -> f64 {
    let registers = match Isa::chosen() {
        Isa::Avx512 => Some(1.0),
        Isa::Avx2 => Some(2.0),
        Isa::Portable => None,
    };
    let model = Model { plan, registers };
    let made = || plan.launches.iter().flat_map(|launch| model.launch(launch)).collect();
    let of_launch = |ns: &[f64]| {
        let (computing, moving) = (ns[0], ns[1]);
        let shared = if computing.max(moving) > ALONE { threads.max(1) } else { 1 };
        let (computing, moving) = (computing / shared as f64, moving / shared.min(SERVED) as f64);
        LAUNCH_NS + computing.max(moving) + SHOWN * computing.min(moving)
    };
    plan.cpu_ns.or_make(made).chunks_exact(2).map(of_launch).sum::<f64>() / 1e3
}

struct Model<'a> {
    plan: &'a Plan,
    /// Registers of an emitted loop for as much as one of AVX-512 has; None: nothing is emitted.
    registers: Option<f64>,
}

impl Model<'_> {
    /// Nanoseconds of what one thread computes, and of what it moves.
    fn launch(&self, launch: &Launch) -> [f64; 2] {
        let points = elements(&launch.domain) as f64;
        let body = match product::estimate(launch) {
            Some(tiles) => tiles,
            None => points * self.steps(launch, &launch.body, &launch.domain) + self.finish(launch),
        };
        let outer = launch.outer();
        let after = elements(&outer) as f64 * self.steps(launch, &launch.after, &outer);
        let traffic = self.plan.traffic(launch);
        let bytes = traffic.read.saturating_add(traffic.written);
        let rate = if bytes > CACHE { FAR } else { CACHED };
        [body + after, bytes as f64 / rate]
    }

    /// One point's steps, and what is folded or stored there.
    fn steps(&self, launch: &Launch, steps: &[Step], domain: &[usize]) -> f64 {
        let wide = |s: &Step| !matches!(s.what, What::Const(_) | What::Index { .. });
        let widest = steps.iter().filter(|s| wide(s)).map(|s| s.dtype.size()).max();
        let part = match (self.registers, widest) {
            (Some(registers), Some(bytes)) => registers * bytes.max(NARROWEST) as f64 / 8.0,
            (Some(_), None) | (None, _) => 1.0,
        };
        let all = steps.iter().map(|step| self.step(launch, steps, step, domain, part));
        let beside = match launch.kind {
            _ if !std::ptr::eq(steps, &*launch.body) => 0.0,
            Kind::Reduce => {
                let rows = match domain.last() {
                    Some(&n) if launch.axis == Some(domain.len() - 1) => ROW / n.max(1) as f64,
                    _ => 0.0,
                };
                launch.reductions.iter().map(|r| rows + self.operation(r.op, part)).sum()
            }
            Kind::Scan => SCANNED * launch.reductions.len() as f64,
            Kind::Compact => SELECTED,
            Kind::Map | Kind::Whole => 0.0,
        };
        all.sum::<f64>() + beside
    }

    fn operation(&self, op: Op, part: f64) -> f64 {
        let ns = Effort::of(op).ns;
        match self.registers {
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
        domain: &[usize],
        part: f64,
    ) -> f64 {
        let own = step.what.cost().ns;
        match &step.what {
            What::Op { op: Op::Gcd | Op::Lcm, args, .. }
                if args.iter().any(|a| steps[*a as usize].dtype != DType::Bool) =>
            {
                EUCLID
            }
            What::Op { op, .. } => self.operation(*op, part),
            What::Load(k) => self.read(launch, &launch.loads[*k as usize], domain, part),
            What::Gather { load, .. } => self.jump(&launch.loads[*load as usize]),
            What::Loop { .. } => ROUNDS * own,
            What::Arg(_) | What::Const(_) | What::Reduced(_) | What::State { .. } => own,
            What::Select { .. } | What::Index { .. } | What::Guard { .. } | What::Part { .. } => {
                if self.registers.is_some() {
                    2.0 * INSTRUCTION * part
                } else {
                    own
                }
            }
        }
    }

    /// A read of a point: from line to line, or along some axis of a fold, or else along the last.
    fn read(&self, launch: &Launch, load: &Load, domain: &[usize], part: f64) -> f64 {
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
        let line = 64 / self.plan.buffer(load.buf).dtype.size().max(1) as u64;
        match axes.map(step).min() {
            Some(least) if least >= line => self.jump(load),
            Some(0) if domain.last().is_some_and(|n| (2..=SHORT).contains(n)) => PICKED,
            _ if load.read == Read::identity(domain.len()) => INSTRUCTION * part,
            _ => INSTRUCTION * part + domain.last().map_or(0.0, |n| PIECE / (*n).max(1) as f64),
        }
    }

    /// An item from another line than the one before.
    fn jump(&self, load: &Load) -> f64 {
        let buffer = self.plan.buffer(load.buf);
        match buffer.bytes() {
            0..=0x10_0000 => 0.8,
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
            Whole::Lib { rows, .. } => {
                let n = held(0);
                let load = launch.loads.get(finish.held[0] as usize);
                let buffer = load.map(|load| self.plan.buffer(load.buf));
                let row = buffer.and_then(|b| b.shape.last().copied());
                let size = buffer.map_or(8, |b| b.dtype.size());
                let run = row.filter(|_| *rows).map_or(n, |row| row as f64);
                SORTED * n * run.max(2.0).log2() * size as f64 / 8.0
            }
            Whole::Scatter { .. } => SCATTERED * points,
            what @ Whole::Segmented { .. } => points * what.cost().ns + SEGMENT * held(0),
            what @ Whole::Fold { .. } => points * what.cost().ns,
        }
    }
}

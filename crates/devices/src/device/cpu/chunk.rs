//! One chunk through a program: fast, and where something is suspect once more with care.
//!
//! | mode | an operation | a failing element |
//! |---|---|---|
//! | fast | its loop; the first suspicion ends the chunk | – |
//! | careful | `scalar::eval` on each element | is recorded, goes on as 0 |
//!
//! Why it is right: a loop raises a suspicion wherever its value may be another one than the scalar
//! meaning's. Sources are never written (`Env`), so the careful pass begins with the same numbers,
//! and it writes every place again that the fast one wrote. It is the last: nothing is suspect to
//! it.

use super::Fault;
use super::ahead::Ahead;
use super::convert::{Converts, Sink, Source, converts};
use super::emit::{Aside, Partials, Parts};
use super::gather::{Axis, BLOCK, Gathers, gathers, is_one};
use super::isa::Isa;
use super::loops::{Plain, plain};
use super::program::{Arg, Do, Inst, Program, Run};
use super::strides::Strides;
use super::walk::{Piece, Walk};
use aplomb_ground::limits::Interrupt;
use aplomb_plans::plan::Step;
use aplomb_values::array::DType;
use aplomb_values::prim::scalar::{eval_as, place};

pub use super::emit::CHUNK;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Register([f64; CHUNK]);

/// The data that all threads of a launch share. Safety: sources are not written, sinks hold the
/// whole domain, and each element of a sink is written by one thread.
#[derive(Clone, Copy)]
pub struct Env<'a> {
    pub isa: Isa,
    pub program: &'a Program,
    pub steps: &'a [Step],
    pub sinks: &'a [Sink],
    pub plain: Plain,
    pub converts: Converts,
    pub gathers: Gathers,
    /// Looked at in loops, whose rounds may be millions.
    pub stop: &'a Interrupt,
    /// The program with emitted loops, if it has some.
    pub parts: Option<&'a Parts>,
    /// The places of its inputs, if these are not where it says.
    pub sources: Option<&'a [Source]>,
    /// The steps by which its one emitted loop finds the items of a row.
    pub strides: Option<&'a Strides>,
}

// SAFETY: see the type.
unsafe impl Sync for Env<'_> {}

impl<'a> Env<'a> {
    pub fn new(
        isa: Isa,
        program: &'a Program,
        steps: &'a [Step],
        sinks: &'a [Sink],
        stop: &'a Interrupt,
    ) -> Self {
        let (plain, converts) = (plain(isa), converts(isa));
        let gathers = gathers(isa);
        Env {
            isa,
            program,
            steps,
            sinks,
            plain,
            converts,
            gathers,
            stop,
            parts: None,
            sources: None,
            strides: None,
        }
    }

    /// With emitted loops, if there are some.
    pub fn with(self, parts: &'a Option<Parts>) -> Self {
        Env { parts: parts.as_ref(), ..self }
    }

    /// The place of an input.
    pub fn source(&self, input: usize) -> Source {
        match self.sources {
            Some(sources) => sources[input],
            None => self.program.inputs[input].source,
        }
    }

    /// Elements that `Frame::run` takes at a time.
    pub fn stride(&self) -> usize {
        match self.parts {
            Some(parts) => parts.stride,
            None => CHUNK,
        }
    }
}

/// Registers of one size, one behind the other: those of a chunk, or of a piece, which lie together
/// in L1.
#[derive(Default)]
pub(super) struct Registers {
    lines: Vec<Line>,
    /// Lines of one, with the next.
    each: usize,
    /// The place of each, which two may exchange.
    pub order: Vec<usize>,
}

/// A line of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([f64; 8]);

impl Registers {
    fn reset(&mut self, count: usize, size: usize) {
        debug_assert!(size.is_multiple_of(8));
        // A line between two, so that equal places of all are not of one set of the cache.
        self.each = size / 8 + 1;
        if self.lines.len() < count * self.each {
            self.lines.resize(count * self.each, Line([0.0; 8]));
        }
        self.order.clear();
        self.order.extend(0..count);
    }

    pub fn at(&mut self, reg: usize) -> *mut f64 {
        self.lines[self.order[reg] * self.each].0.as_mut_ptr()
    }
}

/// The scratch memory of one thread, kept between launches.
#[derive(Default)]
pub struct Frame {
    pub(super) registers: Registers,
    pub(super) at: Vec<*const f64>,
    pub(super) place: Vec<usize>,
    pub(super) aside: Aside,
    pub(super) partials: Vec<Partials>,
    pub(super) wanted: Vec<bool>,
    /// Values of a fold that are stored, as f64.
    pub(super) stored: Vec<f64>,
    /// The columns of each input that were read ahead.
    pub(super) ahead: Vec<Ahead>,
    /// For the rounds of a loop.
    pub(super) inner: Option<Box<Frame>>,
    /// The least failure this thread has seen.
    pub fault: Option<Fault>,
    /// Bit k: a value did not fit sink k.
    pub misfits: u64,
    /// A read went beyond its source: the plan is wrong.
    pub broken: bool,
}

// SAFETY: `at` is only used within one call of `Frame::run`, and points into the frame or the
// launch's sources.
unsafe impl Send for Frame {}

/// Places from one on, by a step, and each an origin more. Places are whole and far below 2*53, so
/// sums of steps are exact, and eight of them stand side by side.
fn ramp(out: &mut [f64], from: i64, step: i64, origin: f64) {
    const WIDE: usize = 8;
    let mut next: [f64; WIDE] = std::array::from_fn(|k| (from + step * k as i64) as f64);
    for out in out.chunks_mut(WIDE) {
        out.iter_mut().zip(&next).for_each(|(out, x)| *out = x + origin);
        next.iter_mut().for_each(|x| *x += (step * WIDE as i64) as f64);
    }
}

impl Frame {
    /// Made ready for a launch.
    pub fn reset(&mut self, env: &Env) {
        self.reset_for(env.parts.map_or(env.program.regs, |parts| parts.regs), CHUNK);
    }

    /// So many registers of one size.
    pub(super) fn reset_for(&mut self, regs: usize, size: usize) {
        self.registers.reset(regs, size);
        self.at.clear();
        self.at.resize(regs, std::ptr::null());
        (self.fault, self.misfits, self.broken) = (None, 0, false);
        self.aside.whose = 0;
        self.ahead.iter_mut().for_each(Ahead::forget);
    }

    /// Elements start…start+n of the domain, n ≤ `Env::stride`. By emitted loops where there are
    /// some; what is suspect to them once more without.
    pub fn run(&mut self, env: &Env, start: usize, n: usize) {
        debug_assert!(n <= env.stride());
        if env.parts.is_some_and(|parts| self.emitted(env, parts, start, n)) {
            return;
        }
        if n > CHUNK {
            // Not in one piece, or suspect somewhere.
            for at in (0..n).step_by(CHUNK) {
                self.run(env, start + at, CHUNK.min(n - at));
            }
            return;
        }
        if !self.pass(env, start, n, false) {
            self.pass(env, start, n, true);
        }
    }

    /// As `run`; `careful`: by the scalar meaning, so that what overflowed on the way to a fold is
    /// found.
    pub fn run_with(&mut self, env: &Env, start: usize, n: usize, careful: bool) {
        if careful {
            self.pass(env, start, n, true);
        } else {
            self.run(env, start, n);
        }
    }

    /// The k-th value that the program keeps, after `run`.
    pub fn kept(&self, env: &Env, k: usize) -> *const f64 {
        self.at[env.program.kept[k]]
    }

    pub(super) fn own(&mut self, reg: usize) -> *mut f64 {
        let own = self.registers.at(reg);
        self.at[reg] = own;
        own
    }

    /// False: suspect, and what follows was left out.
    pub(super) fn pass(&mut self, env: &Env, start: usize, n: usize, careful: bool) -> bool {
        env.program.insts.iter().all(|inst| self.inst(env, inst, start, n, careful))
    }

    /// One instruction; false: suspect.
    pub(super) fn inst(
        &mut self,
        env: &Env,
        inst: &Inst,
        start: usize,
        n: usize,
        careful: bool,
    ) -> bool {
        match &inst.act {
            Do::Load(k) => self.load(env, *k, inst.out, start, n),
            Do::Index { walk, origin } => self.index(walk, *origin, inst.out, start, n),
            Do::Fill(x) => {
                let out = self.own(inst.out);
                // SAFETY: a register holds n.
                unsafe { std::slice::from_raw_parts_mut(out, n) }.fill(*x);
                true
            }
            Do::Guard { walk, x } => self.guard(walk, *x, inst.out, start, n),
            Do::Part { walk, yes, no } => self.part(walk, *yes, *no, inst.out, start, n),
            Do::Select { cond, yes, no } => self.select(*cond, *yes, *no, inst.out, n),
            Do::Loop(rounds) if careful => self.rounds_with_care(env, inst, rounds, start, n),
            Do::Loop(rounds) => self.rounds(env, rounds, None, n),
            Do::Gather { .. } => self.gather(env, inst, start, n, careful),
            // SAFETY: a live register points at n elements.
            Do::Test => careful || unsafe { (env.plain.all_finite)(self.at[inst.out], n) },
            Do::Store { sink, x, test } => self.store(env, *sink, *x, *test && !careful, start, n),
            Do::Op { .. } if careful => self.op_with_care(env, inst, start, n),
            Do::Op { .. } => self.op(env, inst, n),
        }
    }

    fn load(&mut self, env: &Env, input: usize, reg: usize, start: usize, n: usize) -> bool {
        let source = env.source(input);
        let input = &env.program.inputs[input];
        if let Some(from) = input.flat {
            let from = from + start as i64;
            if !inside(source, from, 1, n) {
                self.broken = true;
            } else if source.dtype == DType::F64 {
                // SAFETY: inside.
                self.at[reg] = unsafe { source.at.cast::<f64>().offset(from as isize) };
                return true;
            }
            let out = self.own(reg);
            if !self.broken {
                // SAFETY: inside, and a register holds n.
                unsafe { (env.converts.load)(source, from, 1, n, out) };
            }
            return true;
        }
        let out = self.own(reg);
        // SAFETY: parts of a range of n lie within n, and their places in the source.
        let picked = input
            .walk
            .picked(source, (start, n), |at, part| unsafe { part.numbers(source, out.add(at)) });
        if let Some(fits) = picked {
            self.broken |= !fits;
            return true;
        }
        let (mut broken, mut direct) = (false, None);
        input.walk.pieces(start, n, &mut self.place, |at, piece| {
            // SAFETY: the pieces of a range of n lie within n; a piece of the source is checked at
            // both ends.
            unsafe {
                match piece {
                    Piece::Fill { with, len } => {
                        std::slice::from_raw_parts_mut(out.add(at), len).fill(with)
                    }
                    Piece::From { at: from, step, len } if inside(source, from, step, len) => {
                        if len == n && step == 1 && source.dtype == DType::F64 {
                            direct = Some(source.at.cast::<f64>().offset(from as isize));
                        } else {
                            (env.converts.load)(source, from, step, len, out.add(at));
                        }
                    }
                    Piece::From { len, .. } => {
                        broken = true;
                        std::slice::from_raw_parts_mut(out.add(at), len).fill(0.0);
                    }
                }
            }
        });
        self.broken |= broken;
        if let Some(from) = direct {
            self.at[reg] = from;
        }
        true
    }

    fn index(&mut self, walk: &Walk, origin: f64, reg: usize, start: usize, n: usize) -> bool {
        let out = self.own(reg);
        let picked = walk.repeats((start, n), |at, part| {
            for (k, place) in part.places.iter().enumerate() {
                // SAFETY: parts lie within n.
                unsafe { *out.add(at + k) = (part.base + place) as f64 + origin };
            }
        });
        if picked {
            return true;
        }
        walk.pieces(start, n, &mut self.place, |at, piece| {
            if let Piece::From { at: from, step, len } = piece {
                // SAFETY: pieces lie within n.
                let out = unsafe { std::slice::from_raw_parts_mut(out.add(at), len) };
                ramp(out, from, step, origin);
            }
        });
        true
    }

    fn guard(&mut self, walk: &Walk, x: Arg, reg: usize, start: usize, n: usize) -> bool {
        let (from, one) = self.operand(x, &0.0);
        let out = self.own(reg);
        let picked = walk.repeats((start, n), |at, part| {
            for k in 0..part.places.len() {
                // SAFETY: parts lie within n, which both hold (a number only its one element).
                unsafe {
                    *out.add(at + k) = match (part.fill(k), one) {
                        (Some(with), _) => with,
                        (None, Some(one)) => one,
                        (None, None) => *from.add(at + k),
                    }
                }
            }
        });
        if picked {
            return true;
        }
        walk.pieces(start, n, &mut self.place, |at, piece| {
            for k in at..at + piece.len() {
                // SAFETY: pieces lie within n, which both hold (a number only its one element).
                unsafe {
                    *out.add(k) = match piece {
                        Piece::Fill { with, .. } => with,
                        Piece::From { .. } => one.unwrap_or_else(|| *from.add(k)),
                    }
                };
            }
        });
        true
    }

    fn part(&mut self, walk: &Walk, yes: Arg, no: Arg, reg: usize, start: usize, n: usize) -> bool {
        let (ny, nn) = (number(yes), number(no));
        let ((py, _), (pn, _)) = (self.operand(yes, &ny), self.operand(no, &nn));
        let (sy, sn) = (stride(yes), stride(no));
        if walk.repeats_soon() {
            let out = self.own(reg);
            walk.repeats((start, n), |from, part| {
                for k in 0..part.places.len() {
                    let at = from + k;
                    // SAFETY: parts lie within n, which both hold (a number only its one element).
                    unsafe {
                        *out.add(at) = match part.fill(k) {
                            None => *py.add(at * sy),
                            Some(_) => *pn.add(at * sn),
                        }
                    }
                }
            });
            return true;
        }
        let mut whole = None;
        walk.pieces(start, n, &mut self.place, |at, piece| {
            let taken = if matches!(piece, Piece::From { .. }) { yes } else { no };
            whole = (at == 0 && piece.len() == n).then_some(taken);
        });
        if let Some(Arg::Reg(from)) = whole
            && self.at[from] != self.registers.at(from).cast_const()
        {
            // It lies in a source, which no instruction writes.
            self.at[reg] = self.at[from];
            return true;
        }
        let out = self.own(reg);
        walk.pieces(start, n, &mut self.place, |at, piece| {
            let (from, step) =
                if matches!(piece, Piece::From { .. }) { (py, sy) } else { (pn, sn) };
            for k in at..at + piece.len() {
                // SAFETY: pieces lie within n, which both hold (a number only its one element).
                unsafe { *out.add(k) = *from.add(k * step) };
            }
        });
        true
    }

    fn select(&mut self, cond: Arg, yes: Arg, no: Arg, reg: usize, n: usize) -> bool {
        let numbers = [cond, yes, no].map(number);
        let [(pc, _), (py, _), (pn, _)] =
            [(cond, &numbers[0]), (yes, &numbers[1]), (no, &numbers[2])]
                .map(|(a, x)| self.operand(a, x));
        // SAFETY: the register is none of the operands' (`program`), and holds n.
        let out = unsafe { std::slice::from_raw_parts_mut(self.own(reg), n) };
        // SAFETY: an operand that is no number holds n.
        let many = |p: *const f64| unsafe { std::slice::from_raw_parts(p, n) };
        // By bits, so that it is a few vector instructions and no branch.
        let choose = |c: f64, y: f64, n: f64| {
            let mask = if c != 0.0 { u64::MAX } else { 0 };
            f64::from_bits(y.to_bits() & mask | n.to_bits() & !mask)
        };
        match (cond, yes, no) {
            (Arg::One(c), ..) => {
                let (p, each) = if c != 0.0 { (py, stride(yes)) } else { (pn, stride(no)) };
                // SAFETY: as above; a number is one element, read again and again.
                out.iter_mut().enumerate().for_each(|(k, o)| *o = unsafe { *p.add(k * each) });
            }
            (_, Arg::One(y), Arg::One(n)) => {
                out.iter_mut().zip(many(pc)).for_each(|(o, c)| *o = choose(*c, y, n))
            }
            (_, Arg::One(y), _) => {
                out.iter_mut()
                    .zip(many(pc))
                    .zip(many(pn))
                    .for_each(|((o, c), n)| *o = choose(*c, y, *n));
            }
            (_, _, Arg::One(n)) => {
                out.iter_mut()
                    .zip(many(pc))
                    .zip(many(py))
                    .for_each(|((o, c), y)| *o = choose(*c, *y, n));
            }
            _ => {
                let all = out.iter_mut().zip(many(pc)).zip(many(py)).zip(many(pn));
                all.for_each(|(((o, c), y), n)| *o = choose(*c, *y, *n));
            }
        }
        true
    }

    /// An instruction is not the one that its loop is for: the launch is told to be broken.
    #[cold]
    fn other(&mut self) -> bool {
        debug_assert!(false, "a loop for another instruction");
        self.broken = true;
        true
    }

    /// Elements of an input whose places are values. Careful: a place that is none is a failure
    /// where it is wanted.
    fn gather(&mut self, env: &Env, inst: &Inst, start: usize, n: usize, careful: bool) -> bool {
        let Do::Gather { input, places, origin } = &inst.act else { return self.other() };
        let input = &env.program.inputs[*input];
        self.want(inst.guard.as_ref().filter(|_| careful), start, n);
        let numbers: Vec<f64> = places.iter().map(|p| number(p.by)).collect();
        let by = self.operands(places.iter().map(|p| p.by), &numbers);
        let out = self.own(inst.out);
        let step = &env.steps[inst.step];
        let (mut fine, mut broken) = (true, false);
        let (wanted, fault) = (&self.wanted, &mut self.fault);
        let loops = env.gathers;
        let together = |at: usize, piece: Piece, first: usize| {
            let Piece::From { at: from, step: line, len } = piece else { return 0 };
            let len = BLOCK.min(len - first);
            // SAFETY: operands hold n, a number its one element.
            let one = |(values, each): &(*const f64, usize)| unsafe {
                is_one(values.wrapping_add((at + first) * each), if *each == 0 { 1 } else { len })
            };
            if by.iter().all(one) {
                // One place for all of them: what the source has from there on.
                let mut from = from + line * first as i64;
                for (p, (values, each)) in places.iter().zip(&by) {
                    // SAFETY: the same.
                    let x = unsafe { *values.add((at + first) * each) };
                    let Ok(place) = place(x, *origin, p.extent as usize, 0.0) else { return 0 };
                    from += place as i64 * p.stride;
                }
                if !inside(input.source, from, line, len) {
                    return 0;
                }
                // SAFETY: inside; the values were read before this overwrites them.
                unsafe { (env.converts.load)(input.source, from, line, len, out.add(at + first)) };
                return len;
            }
            let mut room = [0; BLOCK];
            let block = &mut room[..len];
            for (j, to) in block.iter_mut().enumerate() {
                *to = from + line * (first + j) as i64;
            }
            let k = at + first;
            let moved = places.iter().zip(&by).all(|(p, &(values, each))| {
                let (origin, extent) = (*origin, p.extent);
                let axis = Axis {
                    values: values.wrapping_add(k * each),
                    each,
                    origin,
                    extent,
                    stride: p.stride,
                };
                // SAFETY: operands hold n, a number its one element.
                unsafe { (loops.along)(block, axis) }
            });
            let is_in = |place: &i64| *place >= 0 && *place < input.source.len as i64;
            if !moved || !block.iter().fold(true, |all, place| all & is_in(place)) {
                return 0;
            }
            // SAFETY: all places lie in the source; the values were read before this overwrites
            // them.
            unsafe { (loops.fetch)(input.source, block, out.add(k)) };
            block.len()
        };
        input.walk.pieces(start, n, &mut self.place, |at, piece| {
            let (mut next, mut done) = (0, 0);
            while next < piece.len() {
                let j = next;
                if j >= done {
                    let moved = together(at, piece, j);
                    if moved > 0 {
                        next += moved;
                        continue;
                    }
                    // Some place is none: this block goes one by one.
                    done = j + BLOCK;
                }
                next += 1;
                let k = at + j;
                let value = match piece {
                    Piece::Fill { with, .. } => with,
                    Piece::From { at: from, step: line, .. } => {
                        let mut from = from + line * j as i64;
                        let mut beyond = None;
                        for (p, (values, each)) in places.iter().zip(&by) {
                            // SAFETY: operands hold n (a number only its one element), read before
                            // it is written.
                            let x = unsafe { *values.add(k * each) };
                            match place(x, *origin, p.extent as usize, 0.0) {
                                Ok(place) => from += place as i64 * p.stride,
                                Err(fail) => {
                                    beyond = Some(fail);
                                    break;
                                }
                            }
                        }
                        match beyond {
                            None if inside(input.source, from, 0, 1) => {
                                let mut x = 0.0;
                                // SAFETY: inside.
                                unsafe { (env.converts.load)(input.source, from, 0, 1, &mut x) };
                                x
                            }
                            None => {
                                broken = true;
                                0.0
                            }
                            Some(fail) => {
                                fine = false;
                                if careful && wanted[k] {
                                    let index = (start + k) as u64;
                                    Fault {
                                        site: step.from.site,
                                        index,
                                        fail,
                                        node: step.from.node,
                                    }
                                    .keep_least(fault);
                                }
                                0.0
                            }
                        }
                    }
                };
                // SAFETY: pieces lie within n.
                unsafe { *out.add(k) = value };
            }
        });
        self.broken |= broken;
        fine || careful
    }

    /// Marks the elements of a chunk at which a failure counts.
    pub(super) fn want(&mut self, guard: Option<&Walk>, start: usize, n: usize) {
        self.wanted.clear();
        self.wanted.resize(n, true);
        if let Some(guard) = guard {
            let wanted = &mut self.wanted;
            guard.pieces(start, n, &mut self.place, |at, piece| {
                wanted[at..at + piece.len()].fill(matches!(piece, Piece::From { .. }));
            });
        }
    }

    /// A pointer to the operand; for a number its value as well, the pointer being `none`.
    fn operand(&self, x: Arg, none: &f64) -> (*const f64, Option<f64>) {
        match x {
            Arg::Reg(reg) => (self.at[reg], None),
            Arg::One(x) => (none, Some(x)),
        }
    }

    /// Pointers to operands with their steps; `numbers` are theirs, for those that are numbers.
    pub(super) fn operands(
        &self,
        args: impl Iterator<Item = Arg>,
        numbers: &[f64],
    ) -> Vec<(*const f64, usize)> {
        args.zip(numbers).map(|(a, x)| (self.operand(a, x).0, stride(a))).collect()
    }

    fn store(
        &mut self,
        env: &Env,
        sink: usize,
        x: Arg,
        test: bool,
        start: usize,
        n: usize,
    ) -> bool {
        let to = env.sinks[sink];
        let (mut from, one) = self.operand(x, &0.0);
        let filled;
        if let Some(x) = one {
            filled = Register([x; CHUNK]);
            from = filled.0.as_ptr();
        }
        // SAFETY: n elements at `from`; the sink holds the domain, and these elements are this
        // thread's.
        unsafe {
            if test && !(env.plain.all_finite)(from, n) {
                return false;
            }
            let out = to.at.wrapping_add(start * to.dtype.size());
            match to.dtype {
                DType::F64 if to.stream && (out as usize).is_multiple_of(64) => {
                    (env.plain.stream)(out.cast(), from, n)
                }
                DType::F64 => (env.plain.copy)(out.cast(), from, n),
                dtype => {
                    if (env.converts.store)(dtype, to.checked, out, from, n) {
                        self.misfits |= 1 << sink;
                    }
                }
            }
        }
        true
    }

    fn op(&mut self, env: &Env, inst: &Inst, n: usize) -> bool {
        let Do::Op { op, ct, x, y, run } = &inst.act else { return self.other() };
        // The loop of one argument takes a second one, too, and leaves it alone.
        let y = if op.arity() == 1 { x } else { y };
        let (nx, ny) = (number(*x), number(*y));
        let (px, _) = self.operand(*x, &nx);
        let (py, _) = self.operand(*y, &ny);
        let out = self.own(inst.out);
        // SAFETY: live registers and sources hold n elements, numbers one; `out` is a register of
        // its own or an operand's that dies here, never a part of one.
        unsafe {
            let suspect = match run {
                Run::Loop(f) | Run::Single(f) => f(out, px, py, *ct, n),
                Run::Power(f, exponent) => f(out, px, px, *exponent, n),
                Run::Each => {
                    let (sx, sy) = (stride(*x), stride(*y));
                    let dtype = env.steps[inst.step].dtype;
                    (0..n).any(|k| {
                        match eval_as(dtype, *op, *ct, *px.add(k * sx), *py.add(k * sy)) {
                            Ok(value) => {
                                *out.add(k) = value;
                                false
                            }
                            Err(_) => true,
                        }
                    })
                }
            };
            if inst.round && !suspect && !matches!(run, Run::Single(_)) {
                (env.converts.round)(out, n);
            }
            !suspect
        }
    }

    fn op_with_care(&mut self, env: &Env, inst: &Inst, start: usize, n: usize) -> bool {
        let Do::Op { op, ct, x, y, .. } = &inst.act else { return self.other() };
        self.want(inst.guard.as_ref(), start, n);
        let (nx, ny) = (number(*x), number(*y));
        let ((px, _), (py, _)) = (self.operand(*x, &nx), self.operand(*y, &ny));
        let (sx, sy) = (stride(*x), stride(*y));
        let out = self.own(inst.out);
        let step = &env.steps[inst.step];
        for k in 0..n {
            // SAFETY: as in `op`; both operands are read before the element is written.
            let value = unsafe { eval_as(step.dtype, *op, *ct, *px.add(k * sx), *py.add(k * sy)) };
            let value = value.unwrap_or_else(|fail| {
                if self.wanted[k] {
                    let index = (start + k) as u64;
                    Fault { site: step.from.site, index, fail, node: step.from.node }
                        .keep_least(&mut self.fault);
                }
                0.0
            });
            // SAFETY: k < n.
            unsafe { *out.add(k) = value };
        }
        true
    }
}

/// The number of an argument, for `operand` to point at; that of a register is not looked at.
pub(super) fn number(x: Arg) -> f64 {
    match x {
        Arg::One(x) => x,
        Arg::Reg(_) => 0.0,
    }
}

fn stride(x: Arg) -> usize {
    usize::from(matches!(x, Arg::Reg(_)))
}

/// Elements at, at+step, …, n of them, all lie in the source.
pub fn inside(source: Source, at: i64, step: i64, n: usize) -> bool {
    let end = at + step * (n as i64 - 1).max(0);
    n == 0 || (at.min(end) >= 0 && at.max(end) < source.len as i64)
}

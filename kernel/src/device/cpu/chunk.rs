//! One chunk through a program: fast, and where something is suspect once more with care.
//!
//! | mode | an operation | a failing element |
//! |---|---|---|
//! | fast | its loop; the first suspicion ends the chunk | – |
//! | careful | `scalar::eval` on each element | is recorded, goes on as 0 |

use super::Fault;
use super::convert::{Converts, Source, converts};
use super::isa::Isa;
use super::loops::{Plain, plain};
use super::program::{Arg, Do, Inst, Program, RoundAct, Rounds, Run, rounded};
use super::walk::{Piece, Walk};
use crate::pool::PoolBuffer;
use aplomb_lang::array::DType;
use aplomb_lang::plan::Step;
use aplomb_lang::prim::scalar::{Fail, eval, place};

/// Elements of a loop's values at a time: those of twenty operations stay in L1.
const PIECE: usize = 128;

/// Elements of a register.
pub const CHUNK: usize = 1024;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Register([f64; CHUNK]);

/// Where a store goes.
#[derive(Clone, Copy)]
pub struct Sink {
    pub at: *mut u8,
    pub dtype: DType,
    pub checked: bool,
    /// Large enough to go past the caches.
    pub stream: bool,
}

impl Sink {
    /// A whole buffer of f64 that only this launch looks at.
    pub fn own(buffer: &mut PoolBuffer) -> Sink {
        Sink { at: buffer.as_mut_ptr(), dtype: DType::F64, checked: false, stream: false }
    }
}

/// What all threads of a launch share. Safety: sources are not written, sinks hold the whole domain, and each element
/// of a sink is written by one thread.
pub struct Env<'a> {
    pub program: &'a Program,
    pub steps: &'a [Step],
    pub sinks: &'a [Sink],
    pub plain: Plain,
    pub converts: Converts,
}

// SAFETY: see the type.
unsafe impl Sync for Env<'_> {}

impl<'a> Env<'a> {
    pub fn new(isa: Isa, program: &'a Program, steps: &'a [Step], sinks: &'a [Sink]) -> Self {
        Env { program, steps, sinks, plain: plain(isa), converts: converts(isa) }
    }
}

/// What one thread needs, kept between launches.
#[derive(Default)]
pub struct Frame {
    registers: Vec<Register>,
    at: Vec<*const f64>,
    place: Vec<usize>,
    wanted: Vec<bool>,
    scratch: Vec<f64>,
    /// The least failure this thread has seen.
    pub fault: Option<Fault>,
    /// Bit k: a value did not fit sink k.
    pub misfits: u64,
    /// A read went beyond its source: the plan is wrong.
    pub broken: bool,
}

// SAFETY: `at` is only used within one call of `Frame::run`, and points into the frame or the launch's sources.
unsafe impl Send for Frame {}

impl Frame {
    /// Made ready for a launch.
    pub fn reset(&mut self, program: &Program) {
        if self.registers.len() < program.regs {
            self.registers.resize(program.regs, Register([0.0; CHUNK]));
        }
        self.at.clear();
        self.at.resize(program.regs, std::ptr::null());
        (self.fault, self.misfits, self.broken) = (None, 0, false);
    }

    /// Elements start…start+n of the domain, n ≤ `CHUNK`.
    pub fn run(&mut self, env: &Env, start: usize, n: usize) {
        debug_assert!(n <= CHUNK);
        if !self.pass(env, start, n, false) {
            self.pass(env, start, n, true);
        }
    }

    /// As `run`; `careful`: by the scalar meaning, so that what overflowed on the way to a fold is found.
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

    fn own(&mut self, reg: usize) -> *mut f64 {
        let own = self.registers[reg].0.as_mut_ptr();
        self.at[reg] = own;
        own
    }

    /// False: suspect, and what follows was left out.
    fn pass(&mut self, env: &Env, start: usize, n: usize, careful: bool) -> bool {
        for inst in &env.program.insts {
            let fine = match &inst.act {
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
                Do::Loop(rounds) => self.rounds(env, inst.out, rounds, n),
                Do::Gather { .. } => self.gather(env, inst, start, n, careful),
                // SAFETY: a live register points at n elements.
                Do::Test => careful || unsafe { (env.plain.all_finite)(self.at[inst.out], n) },
                Do::Store { sink, x, test } => self.store(env, *sink, *x, *test && !careful, start, n),
                Do::Op { .. } if careful => self.op_with_care(env, inst, start, n),
                Do::Op { .. } => self.op(env, inst, n),
            };
            if !fine {
                return false;
            }
        }
        true
    }

    fn load(&mut self, env: &Env, input: usize, reg: usize, start: usize, n: usize) -> bool {
        let input = &env.program.inputs[input];
        let source = input.source;
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
        let (mut broken, mut direct) = (false, None);
        input.walk.pieces(start, n, &mut self.place, |at, piece| {
            // SAFETY: the pieces of a range of n lie within n; a piece of the source is checked at both ends.
            unsafe {
                match piece {
                    Piece::Fill { with, len } => std::slice::from_raw_parts_mut(out.add(at), len).fill(with),
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
        walk.pieces(start, n, &mut self.place, |at, piece| {
            if let Piece::From { at: from, step, len } = piece {
                for k in 0..len {
                    // SAFETY: pieces lie within n.
                    unsafe { *out.add(at + k) = (from + step * k as i64) as f64 + origin };
                }
            }
        });
        true
    }

    fn guard(&mut self, walk: &Walk, x: Arg, reg: usize, start: usize, n: usize) -> bool {
        let (from, one) = self.operand(x, &0.0);
        let out = self.own(reg);
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
        let mut whole = None;
        walk.pieces(start, n, &mut self.place, |at, piece| {
            let taken = if matches!(piece, Piece::From { .. }) { yes } else { no };
            whole = (at == 0 && piece.len() == n).then_some(taken);
        });
        if let Some(Arg::Reg(from)) = whole
            && self.at[from] != self.registers[from].0.as_ptr()
        {
            // It lies in a source, which no instruction writes.
            self.at[reg] = self.at[from];
            return true;
        }
        let (ny, nn) = (number(yes), number(no));
        let ((py, _), (pn, _)) = (self.operand(yes, &ny), self.operand(no, &nn));
        let (sy, sn) = (stride(yes), stride(no));
        let out = self.own(reg);
        walk.pieces(start, n, &mut self.place, |at, piece| {
            let (from, step) = if matches!(piece, Piece::From { .. }) { (py, sy) } else { (pn, sn) };
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
            [(cond, &numbers[0]), (yes, &numbers[1]), (no, &numbers[2])].map(|(a, x)| self.operand(a, x));
        let [sc, sy, sn] = [cond, yes, no].map(stride);
        let out = self.own(reg);
        for k in 0..n {
            // SAFETY: all hold n (a number only its one element) and are read before the element is written.
            unsafe { *out.add(k) = if *pc.add(k * sc) != 0.0 { *py.add(k * sy) } else { *pn.add(k * sn) } };
        }
        true
    }

    /// Elements of an input whose places are values. Careful: a place that is none is a failure where it is wanted.
    fn gather(&mut self, env: &Env, inst: &Inst, start: usize, n: usize, careful: bool) -> bool {
        let Do::Gather { input, places, origin } = &inst.act else { return true };
        let input = &env.program.inputs[*input];
        self.want(inst.guard.as_ref().filter(|_| careful), start, n);
        let numbers: Vec<f64> = places.iter().map(|p| number(p.by)).collect();
        let by = self.operands(places.iter().map(|p| p.by), &numbers);
        let out = self.own(inst.out);
        let step = &env.steps[inst.step];
        let (mut fine, mut broken) = (true, false);
        let (wanted, fault) = (&self.wanted, &mut self.fault);
        input.walk.pieces(start, n, &mut self.place, |at, piece| {
            for j in 0..piece.len() {
                let k = at + j;
                let value = match piece {
                    Piece::Fill { with, .. } => with,
                    Piece::From { at: from, step: line, .. } => {
                        let mut from = from + line * j as i64;
                        let mut beyond = None;
                        for (p, (values, each)) in places.iter().zip(&by) {
                            // SAFETY: operands hold n (a number only its one element), read before it is written.
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
                                    Fault { site: step.site, index, fail, node: step.node }.keep_least(fault);
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

    /// Rounds on pieces that stay in L1. False: suspect. Elements whose end has come leave the piece.
    fn rounds(&mut self, env: &Env, reg: usize, rounds: &Rounds, n: usize) -> bool {
        let (args, steps, states) = (rounds.args.len(), rounds.steps.len(), rounds.body.next.len());
        let mut scratch = std::mem::take(&mut self.scratch);
        // Behind the values a next state for each, and which elements are done.
        scratch.resize((args + steps + states + 1) * PIECE, 0.0);
        let numbers: Vec<f64> = rounds.args.iter().copied().map(number).collect();
        let from = self.operands(rounds.args.iter().copied(), &numbers);
        let out = self.own(reg);
        let mut fine = true;
        let base = scratch.as_mut_ptr();
        let value = |k: usize| base.wrapping_add(k * PIECE);
        // A next state that is a state must be read before it is overwritten.
        let swaps = rounds.body.next.iter().any(|v| (*v as usize) < states);
        let aside = if swaps { args + steps } else { 0 };
        let done = value(args + steps + states);
        let mut places = [0; PIECE];
        for at in (0..n).step_by(PIECE) {
            let mut m = PIECE.min(n - at);
            places.iter_mut().enumerate().for_each(|(j, place)| *place = at + j);
            // SAFETY: values are pieces of the scratch, each of PIECE numbers; operands hold n (a number its one).
            unsafe {
                for (k, (source, each)) in from.iter().enumerate() {
                    for j in 0..m {
                        *value(k).add(j) = *source.add((at + j) * each);
                    }
                }
                'all: for _ in 0..rounds.body.count {
                    let finite = |v: &usize| (env.plain.all_finite)(value(*v), m);
                    for (k, step) in rounds.steps.iter().enumerate() {
                        let (of, to) = (|v: usize| value(v).cast_const(), value(args + k));
                        if !step.tests.iter().all(finite) || round_step(&step.act, of, to, m) {
                            fine = false;
                            break 'all;
                        }
                    }
                    if !rounds.tests.iter().all(finite) {
                        fine = false;
                        break 'all;
                    }
                    if let Some(until) = rounds.body.until {
                        std::ptr::copy_nonoverlapping(value(until as usize), done, m);
                    }
                    for (k, v) in rounds.body.next.iter().enumerate() {
                        std::ptr::copy_nonoverlapping(value(*v as usize), value(aside + k), m);
                    }
                    for k in 0..if swaps { states } else { 0 } {
                        std::ptr::copy_nonoverlapping(value(aside + k), value(k), m);
                    }
                    if rounds.body.until.is_none() || (0..m).all(|j| *done.add(j) == 0.0) {
                        continue;
                    }
                    let mut left = 0;
                    for j in 0..m {
                        if *done.add(j) != 0.0 {
                            *out.add(places[j]) = *value(rounds.result).add(j);
                            continue;
                        }
                        places[left] = places[j];
                        for k in 0..args {
                            *value(k).add(left) = *value(k).add(j);
                        }
                        left += 1;
                    }
                    m = left;
                    if m == 0 {
                        break;
                    }
                }
                match rounds.body.until {
                    // An end that did not come.
                    Some(_) => fine &= m == 0,
                    None if fine => std::ptr::copy_nonoverlapping(value(rounds.result), out.add(at), m),
                    None => {}
                }
                if !fine {
                    break;
                }
            }
        }
        self.scratch = scratch;
        fine
    }

    fn rounds_with_care(&mut self, env: &Env, inst: &Inst, rounds: &Rounds, start: usize, n: usize) -> bool {
        self.want(inst.guard.as_ref(), start, n);
        let numbers: Vec<f64> = rounds.args.iter().copied().map(number).collect();
        let from = self.operands(rounds.args.iter().copied(), &numbers);
        let out = self.own(inst.out);
        let step = &env.steps[inst.step];
        let mut args = vec![0.0; from.len()];
        for k in 0..n {
            for (arg, (source, each)) in args.iter_mut().zip(&from) {
                // SAFETY: operands hold n (a number its one), and are read before the element is written.
                *arg = unsafe { *source.add(k * each) };
            }
            let (wanted, fault) = (self.wanted[k], &mut self.fault);
            let mut unending = false;
            let value = rounds.body.run(&args, rounds.result, &mut |fail| {
                if wanted {
                    Fault { site: step.site, index: (start + k) as u64, fail, node: step.node }.keep_least(fault);
                }
                unending |= wanted && fail == Fail::Unending;
            });
            // SAFETY: k < n.
            unsafe { *out.add(k) = value };
            // The host does all of it again.
            if unending {
                // SAFETY: a register holds n.
                unsafe { std::slice::from_raw_parts_mut(out.add(k), n - k) }.fill(0.0);
                break;
            }
        }
        true
    }

    /// Marks the elements of a chunk at which a failure counts.
    fn want(&mut self, guard: Option<&Walk>, start: usize, n: usize) {
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
    fn operands(&self, args: impl Iterator<Item = Arg>, numbers: &[f64]) -> Vec<(*const f64, usize)> {
        args.zip(numbers).map(|(a, x)| (self.operand(a, x).0, stride(a))).collect()
    }

    fn store(&mut self, env: &Env, sink: usize, x: Arg, test: bool, start: usize, n: usize) -> bool {
        let to = env.sinks[sink];
        let (mut from, one) = self.operand(x, &0.0);
        let filled;
        if let Some(x) = one {
            filled = Register([x; CHUNK]);
            from = filled.0.as_ptr();
        }
        // SAFETY: n elements at `from`; the sink holds the domain, and these elements are this thread's.
        unsafe {
            if test && !(env.plain.all_finite)(from, n) {
                return false;
            }
            let out = to.at.add(start * to.dtype.size());
            match to.dtype {
                DType::F64 if to.stream && (out as usize).is_multiple_of(64) => (env.plain.stream)(out.cast(), from, n),
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
        let Do::Op { op, ct, x, y, run } = &inst.act else { return true };
        let (nx, ny) = (number(*x), number(*y));
        let (px, _) = self.operand(*x, &nx);
        let (py, _) = self.operand(*y, &ny);
        let out = self.own(inst.out);
        // SAFETY: live registers and sources hold n elements, numbers one; `out` is a register of its own or an
        // operand's that dies here, never a part of one.
        unsafe {
            let suspect = match run {
                Run::Loop(f) => f(out, px, py, *ct, n),
                Run::Power(f, exponent) => f(out, px, px, *exponent, n),
                Run::Each => {
                    let (sx, sy) = (stride(*x), stride(*y));
                    (0..n).any(|k| match eval(*op, *ct, *px.add(k * sx), *py.add(k * sy)) {
                        Ok(value) => {
                            *out.add(k) = value;
                            false
                        }
                        Err(_) => true,
                    })
                }
            };
            if inst.round && !suspect {
                (env.converts.round)(out, n);
            }
            !suspect
        }
    }

    fn op_with_care(&mut self, env: &Env, inst: &Inst, start: usize, n: usize) -> bool {
        let Do::Op { op, ct, x, y, .. } = &inst.act else { return true };
        self.want(inst.guard.as_ref(), start, n);
        let (nx, ny) = (number(*x), number(*y));
        let ((px, _), (py, _)) = (self.operand(*x, &nx), self.operand(*y, &ny));
        let (sx, sy) = (stride(*x), stride(*y));
        let out = self.own(inst.out);
        let step = &env.steps[inst.step];
        for k in 0..n {
            // SAFETY: as in `op`; both operands are read before the element is written.
            let value = unsafe { rounded(eval(*op, *ct, *px.add(k * sx), *py.add(k * sy)), inst.round) };
            let value = value.unwrap_or_else(|fail| {
                if self.wanted[k] {
                    let index = (start + k) as u64;
                    Fault { site: step.site, index, fail, node: step.node }.keep_least(&mut self.fault);
                }
                0.0
            });
            // SAFETY: k < n.
            unsafe { *out.add(k) = value };
        }
        true
    }
}

/// One step of a round on a piece; whether it is suspect.
///
/// # Safety
/// `of` gives the piece of each value, which holds m numbers, and so does `to`.
unsafe fn round_step(act: &RoundAct, of: impl Fn(usize) -> *const f64, to: *mut f64, m: usize) -> bool {
    // SAFETY: all pieces hold m numbers, and `to` is none of those that are read.
    unsafe {
        match *act {
            RoundAct::Op { run, op, ct, x, y } => match run {
                Run::Loop(f) => f(to, of(x), of(y), ct, m),
                Run::Power(f, exponent) => f(to, of(x), of(x), exponent, m),
                Run::Each => (0..m).any(|j| match eval(op, ct, *of(x).add(j), *of(y).add(j)) {
                    Ok(value) => {
                        *to.add(j) = value;
                        false
                    }
                    Err(_) => true,
                }),
            },
            RoundAct::Select { cond, yes, no } => {
                let [cond, yes, no] = [cond, yes, no].map(|v| std::slice::from_raw_parts(of(v), m));
                let to = std::slice::from_raw_parts_mut(to, m);
                for (((to, cond), yes), no) in to.iter_mut().zip(cond).zip(yes).zip(no) {
                    // By bits, so that it is a few vector instructions and no branch.
                    let mask = if *cond != 0.0 { u64::MAX } else { 0 };
                    *to = f64::from_bits(yes.to_bits() & mask | no.to_bits() & !mask);
                }
                false
            }
        }
    }
}

fn number(x: Arg) -> f64 {
    match x {
        Arg::One(x) => x,
        Arg::Reg(_) => 0.0,
    }
}

fn stride(x: Arg) -> usize {
    usize::from(matches!(x, Arg::Reg(_)))
}

/// Elements at, at+step, …, n of them, all lie in the source.
fn inside(source: Source, at: i64, step: i64, n: usize) -> bool {
    let end = at + step * (n as i64 - 1).max(0);
    n == 0 || (at.min(end) >= 0 && at.max(end) < source.len as i64)
}

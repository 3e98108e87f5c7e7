//! From a list of steps to a VM program: registers of one chunk, uniform values computed once,
//! tests of finiteness.
//!
//! In: steps with their loads, guards and stores over a domain, and the sources as they lie in
//! memory. Out: straight instructions on registers that are reused after their last use. A value
//! that depends on constants and single elements only is a number in its users' instructions. A
//! value is *pending* while it may be ∞ or NaN that an operation made: the test waits along
//! operations that keep ∞ and NaN visible and comes before any other, before a store and before a
//! fold that could hide it.

use super::Fault;
use super::convert::Source;
use super::isa::Isa;
use super::loops::{Loop, Loops, loops, plain, singles};
use super::walk::{Piece, Walk};
use aplomb_plans::plan::{self, Load, Origin, Step, ValueId, What};
use aplomb_values::array::{DType, Shape, strides};
use aplomb_values::body::finite::hides;
use aplomb_values::body::{Effort, GATHER, INDEX, PART, READ_NS, Rounds as Body, SELECT, WRITE_NS};
use aplomb_values::dag::Test;
use aplomb_values::prim::op::{Fails, Gives, Op};
use aplomb_values::prim::scalar::single::{has_own, has_room};
use aplomb_values::prim::scalar::{Fail, eval_as, small_exponent};
use std::sync::Arc;

/// Nanoseconds of what this machine does beside the steps: looking whether a value is finite,
/// rounding one to f32.
const TEST_NS: f64 = 0.06;
const ROUND_NS: f64 = 0.12;

/// The place of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg {
    Reg(usize),
    One(f64),
}

pub enum Do {
    Load(usize),
    Index {
        walk: Walk,
        origin: f64,
    },
    Fill(f64),
    Op {
        op: Op,
        ct: f64,
        x: Arg,
        y: Arg,
        run: Run,
    },
    /// The tests' fills over the value.
    Guard {
        walk: Walk,
        x: Arg,
    },
    /// One value where the tests hold, another elsewhere.
    Part {
        walk: Walk,
        yes: Arg,
        no: Arg,
    },
    Select {
        cond: Arg,
        yes: Arg,
        no: Arg,
    },
    /// An input, moved by values; suspect if one is no place of its axis.
    Gather {
        input: usize,
        places: Vec<Moved>,
        origin: f64,
    },
    /// Rounds on pieces of a chunk; suspect as the operations in it.
    Loop(Box<Rounds>),
    /// Suspect if some element is not finite.
    Test,
    /// Into the sink; `test` as `Do::Test` before.
    Store {
        sink: usize,
        x: Arg,
        test: bool,
    },
}

/// A loop: one round as a program of its own, whose registers hold pieces of a chunk.
pub struct Rounds {
    /// The arguments, for the scalar meaning.
    pub args: Vec<Arg>,
    /// The arguments that are registers inside, by their numbers there: the states, then others.
    /// Where each comes from.
    pub given: Vec<Arg>,
    /// It keeps each state's value after a round, and then the end, if there is one.
    pub program: Program,
    /// The steps that the program was lowered from.
    pub steps: Vec<Step>,
    pub body: Arc<Body>,
    /// The moves by which the next values become the states, in order.
    pub turns: Vec<Turn>,
    /// The states that are wanted after all rounds, and their registers outside.
    pub wanted: Vec<(usize, usize)>,
}

/// A move between two registers at the end of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turn {
    Copy {
        from: usize,
        to: usize,
    },
    /// Each has the other's memory from now on.
    Exchange {
        from: usize,
        to: usize,
    },
}

/// The moves after a round: state k, which is register k, becomes register `next[k]`. The first
/// `given` registers are the arguments' and live through all rounds; `spare` and those behind it
/// are nobody's.
///
/// Why it is right: a next value that is a state, whose register another move may fill, goes aside
/// first. One that is an argument, or that two states become, is copied, for it is read again.
/// Any other is read by its one move alone and computed anew in the next round before it is read,
/// so its memory and the state's may change places. Copies come before exchanges, which would take
/// away what they read.
fn turns(next: &[usize], given: usize, spare: usize) -> Vec<Turn> {
    let moved = || next.iter().copied().enumerate().filter(|(state, from)| state != from);
    if moved().any(|(_, from)| from < next.len()) {
        let aside = moved().map(|(state, from)| Turn::Copy { from, to: spare + state });
        let back = moved().map(|(state, _)| Turn::Copy { from: spare + state, to: state });
        return aside.chain(back).collect();
    }
    let again = |from: usize| from < given || next.iter().filter(|n| **n == from).count() > 1;
    let copied = moved().filter(|(_, from)| again(*from));
    let exchanged = moved().filter(|(_, from)| !again(*from));
    copied
        .map(|(to, from)| Turn::Copy { from, to })
        .chain(exchanged.map(|(to, from)| Turn::Exchange { from, to }))
        .collect()
}

/// A place along one axis of a source that is a value.
#[derive(Clone, Copy)]
pub struct Moved {
    pub by: Arg,
    pub stride: i64,
    pub extent: i64,
}

#[derive(Clone, Copy)]
pub enum Run {
    Loop(Loop),
    /// A loop in registers of f32, whose results need no rounding.
    Single(Loop),
    /// A power by squaring, with its exponent.
    Power(Loop, f64),
    /// The scalar meaning for each element.
    Each,
}

pub struct Inst {
    pub act: Do,
    /// The register written (tested, for `Test`).
    pub out: usize,
    /// The step it came from.
    pub step: usize,
    /// Round the result to f32.
    pub round: bool,
    /// The places at which a failure counts; None: all.
    pub guard: Option<Walk>,
}

#[derive(Clone)]
pub struct Input {
    pub source: Source,
    /// The source's extents.
    pub shape: Shape,
    pub walk: Arc<Walk>,
    /// The place where the source begins, if it is read in the domain's order.
    pub flat: Option<i64>,
}

impl Input {
    /// So many items as they lie in the source, if they are read in the domain's order.
    pub fn straight(&self, all: usize) -> Option<Source> {
        self.straight_in(self.source, all)
    }

    /// The same where the source lies there.
    pub fn straight_in(&self, source: Source, all: usize) -> Option<Source> {
        let from = usize::try_from(self.flat?).ok()?;
        let Source { at, dtype, len } = source;
        let inside = from.checked_add(all)? <= len;
        inside.then_some(Source { at: at.wrapping_add(from * dtype.size()), dtype, len: all })
    }
}

#[derive(Default)]
pub struct Program {
    pub insts: Vec<Inst>,
    pub inputs: Vec<Input>,
    pub regs: usize,
    /// The registers of the values asked for, which hold to the chunk's end.
    pub kept: Vec<usize>,
    /// The numbers among its inputs that it holds: input, place, value.
    pub ones: Vec<(usize, i64, f64)>,
    /// The reductions that its inputs after the loads are.
    pub reduced: Vec<usize>,
    /// The least failure among uniform values.
    pub fault: Option<Fault>,
    /// A read beyond its source, found while lowering.
    pub broken: bool,
    /// Estimated nanoseconds for one element, one thread.
    pub ns: f64,
}

/// The steps that are to be lowered, and what is known of their surroundings.
pub struct Work<'a> {
    pub isa: Isa,
    pub domain: &'a [usize],
    pub steps: &'a [Step],
    pub guards: &'a [Vec<Test>],
    /// The loads of its first inputs, where rows of them are found by steps (`strides`).
    pub loads: &'a [Load],
    /// Value and whether the sink needs no test of its own (a checked integer).
    pub stores: Vec<(ValueId, bool)>,
    /// Values wanted at the chunk's end; true: only finite numbers will do.
    pub keep: Vec<(ValueId, bool)>,
    /// For `What::Reduced(k)`.
    pub reduced: Vec<Input>,
}

/// Rows from this length on are cut into chunks of their own when reads are not in order: their
/// pieces are in place.
const LONG_ROW: usize = 256;

impl Program {
    /// The length at whose multiples chunks must end: that of rows when some read is not in order
    /// and rows are long, else none.
    pub fn row(&self, domain: &[usize]) -> usize {
        let row = domain.last().copied().unwrap_or(1);
        let ordered = self.inputs.iter().all(|i| i.flat.is_some() || i.walk.constant().is_some());
        if ordered || row < LONG_ROW { usize::MAX } else { row }
    }

    /// Elements of the rows that are read together, where some are columns of their source.
    pub fn together(&self) -> Option<usize> {
        let group = |input: &Input| {
            let across = input.walk.across()?;
            Some(across.row * across.group(input.source.dtype.size())?)
        };
        self.inputs.iter().filter_map(group).max()
    }
}

struct Lower<'a> {
    work: Work<'a>,
    out: Program,
    /// Per step: where it is.
    at: Vec<Arg>,
    pending: Vec<bool>,
    /// Per step: its numbers are f32, whatever type they have.
    short: Vec<bool>,
    /// Uses left of a step, one for each instruction that reads it.
    left: Vec<u32>,
    free: Vec<usize>,
    /// In a round: where its arguments are.
    args: Vec<Arg>,
    in_round: bool,
    /// Steps to come that a loop before them has given a register.
    ahead: Vec<(usize, usize)>,
}

/// Lowers `work`; `inputs` are its loads.
pub fn lower(work: Work, inputs: Vec<Input>) -> Program {
    let program = Program { inputs, ..Program::default() };
    lowered(work, program, Vec::new(), false)
}

/// Lowers behind what a program has already; `args` are those of a round, which live to its end.
fn lowered(work: Work, out: Program, args: Vec<Arg>, in_round: bool) -> Program {
    let mut left = vec![0; work.steps.len()];
    for arg in work.steps.iter().flat_map(|step| step.what.args()) {
        left[arg as usize] += 1;
    }
    work.stores.iter().for_each(|(v, _)| left[*v as usize] += 1);
    work.keep.iter().for_each(|(v, _)| left[*v as usize] += 1);
    left.iter_mut().take(args.len()).for_each(|n| *n += 1);
    let mut lower = Lower {
        work,
        out,
        at: Vec::new(),
        pending: Vec::new(),
        short: Vec::new(),
        left,
        free: Vec::new(),
        args,
        in_round,
        ahead: Vec::new(),
    };
    for k in 0..lower.work.steps.len() {
        lower.step(k);
    }
    lower.keep();
    lower.out
}

impl Lower<'_> {
    fn reg(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.out.regs += 1;
            self.out.regs - 1
        })
    }

    fn used(&mut self, value: usize) {
        self.left[value] -= 1;
        if let (0, Arg::Reg(r)) = (self.left[value], self.at[value]) {
            self.free.push(r);
        }
    }

    fn push(&mut self, step: usize, out: usize, act: Do) {
        self.out.insts.push(Inst { act, out, step, round: false, guard: None });
    }

    fn fault(&mut self, step: usize, index: u64, fail: Fail) {
        let step = &self.work.steps[step];
        Fault { site: step.from.site, index, fail, node: step.from.node }
            .keep_least(&mut self.out.fault);
    }

    fn step(&mut self, k: usize) {
        let steps = self.work.steps;
        let what = &steps[k].what;
        what.looked_at().iter().for_each(|v| self.test(*v as usize));
        let pending = steps[k]
            .is_pending(|op| makes_infinity(op, steps[k].dtype), |v| self.pending[v as usize]);
        let arg = match what {
            What::Arg(j) => self.args[*j as usize],
            What::Const(x) => Arg::One(*x),
            What::Load(j) => self.load(k, *j as usize),
            What::Reduced(j) => {
                let input = &self.work.reduced[*j as usize];
                let input = input.clone();
                self.out.inputs.push(input);
                self.out.reduced.push(*j as usize);
                self.load(k, self.out.inputs.len() - 1)
            }
            What::Index { ix, origin } => {
                let walk = Walk::of_ix(ix, self.work.domain);
                match walk.constant() {
                    Some(c) => Arg::One(c as f64 + origin),
                    None => {
                        let reg = self.reg();
                        self.push(k, reg, Do::Index { walk, origin: *origin });
                        self.out.ns += INDEX.ns;
                        Arg::Reg(reg)
                    }
                }
            }
            What::Guard { tests, value } => self.guard(k, *tests as usize, *value as usize),
            What::Part { tests, yes, no } => {
                let walk = Walk::of_tests(&self.work.guards[*tests as usize], self.work.domain);
                let (reg, args) = self.taken(&[*yes, *no]);
                self.push(k, reg, Do::Part { walk, yes: args[0], no: args[1] });
                Arg::Reg(reg)
            }
            What::Select { cond, yes, no } => {
                // A register of its own, none of the operands', so that whole vectors are chosen at
                // once.
                let reg = self.reg();
                let args = self.operands(&[*cond, *yes, *no]);
                self.push(k, reg, Do::Select { cond: args[0], yes: args[1], no: args[2] });
                Arg::Reg(reg)
            }
            What::Loop { args, body, result } => {
                let (reg, own) = self.taken(args);
                let mut rounds = self.rounds(own, body, &steps[k].from);
                rounds.wanted.push((*result as usize, reg));
                for (later, step) in steps.iter().enumerate().skip(k + 1) {
                    if let What::State { of, result } = &step.what
                        && *of as usize == k
                    {
                        let reg = self.reg();
                        rounds.wanted.push((*result as usize, reg));
                        self.ahead.push((later, reg));
                    }
                }
                let guard = self.wanted(k);
                self.out.insts.push(Inst {
                    act: Do::Loop(Box::new(rounds)),
                    out: reg,
                    step: k,
                    round: false,
                    guard,
                });
                Arg::Reg(reg)
            }
            What::State { of, .. } => {
                self.used(*of as usize);
                let reg = self.ahead.iter().find(|(step, _)| *step == k).map(|(_, reg)| *reg);
                // The verifier has seen that its loop stands before it.
                self.out.broken |= reg.is_none();
                reg.map_or(Arg::One(0.0), Arg::Reg)
            }
            What::Gather { load, along, places, origin } => {
                let input = *load as usize;
                let shape = &self.out.inputs[input].shape;
                let strides = strides(shape);
                let axes: Vec<(i64, i64)> = along
                    .iter()
                    .map(|a| (strides[a.axis as usize] as i64 * a.times, a.extent as i64))
                    .collect();
                let (reg, args) = self.taken(places);
                let moved = |(by, (stride, extent)): (&Arg, &(i64, i64))| Moved {
                    by: *by,
                    stride: *stride,
                    extent: *extent,
                };
                let places = args.iter().zip(&axes).map(moved).collect();
                let guard = self.wanted(k);
                let act = Do::Gather { input, places, origin: *origin };
                self.out.insts.push(Inst { act, out: reg, step: k, round: false, guard });
                self.out.ns += GATHER.ns;
                Arg::Reg(reg)
            }
            What::Op { op, ct, args } => self.op(k, *op, *ct, args),
        };
        let short = self.makes_short(what, steps[k].dtype);
        self.short.push(short);
        self.at.push(arg);
        // A number that is the same everywhere was looked at when it was computed.
        self.pending.push(pending && matches!(arg, Arg::Reg(_)));
        if let (0, Arg::Reg(reg)) = (self.left[k], arg) {
            // Computed only because it may fail.
            self.test(k);
            self.free.push(reg);
        }
        self.stores(k);
    }

    /// The operands as they are, used now.
    fn operands(&mut self, args: &[ValueId]) -> Vec<Arg> {
        let at = args.iter().map(|a| self.at[*a as usize]).collect();
        args.iter().for_each(|a| self.used(*a as usize));
        self.out.ns += SELECT.ns;
        at
    }

    /// The same, and a register for what is made of them, which may be one of theirs.
    fn taken(&mut self, args: &[ValueId]) -> (usize, Vec<Arg>) {
        let at = self.operands(args);
        (self.reg(), at)
    }

    /// One round as a program on pieces. What is the same everywhere outside is a number inside, if
    /// it is no state.
    fn rounds(&mut self, args: Vec<Arg>, body: &Arc<Body>, from: &Origin) -> Rounds {
        let states = body.next.len();
        let mut given = Vec::new();
        let place = |(k, arg): (usize, &Arg)| match arg {
            Arg::One(x) if k >= states => Arg::One(*x),
            _ => {
                given.push(*arg);
                Arg::Reg(given.len() - 1)
            }
        };
        let inside: Vec<Arg> = args.iter().enumerate().map(place).collect();
        let steps = plan::round(body, from);
        let work = Work {
            isa: self.work.isa,
            domain: self.work.domain,
            steps: &steps,
            guards: self.work.guards,
            loads: &[],
            stores: Vec::new(),
            keep: body.ends().map(|v| (v, true)).collect(),
            reduced: Vec::new(),
        };
        let mut program =
            lowered(work, Program { regs: given.len(), ..Program::default() }, inside, true);
        if let Some(fault) = program.fault.take() {
            fault.keep_least(&mut self.out.fault);
        }
        self.out.broken |= program.broken;
        self.out.ns += program.ns * f64::from(body.expected());
        let turns = turns(&program.kept[..states], given.len(), program.regs);
        Rounds { args, given, program, steps, body: body.clone(), turns, wanted: Vec::new() }
    }

    fn load(&mut self, k: usize, input: usize) -> Arg {
        let Input { source, walk, .. } = &self.out.inputs[input];
        if let Some(at) = walk.constant() {
            let known = one(*source, at);
            self.out.broken |= known.is_none() && !self.work.domain.contains(&0);
            // Nobody reads the 0: the domain is empty, or the launch is told to be broken.
            let known = known.unwrap_or(0.0);
            self.out.ones.push((input, at, known));
            return Arg::One(known);
        }
        let reg = self.reg();
        self.push(k, reg, Do::Load(input));
        self.out.ns += READ_NS;
        Arg::Reg(reg)
    }

    /// The places at which a step counts, if not all do.
    fn wanted(&self, k: usize) -> Option<Walk> {
        let tests = self.work.steps[k].from.guard.map(|g| &self.work.guards[g as usize])?;
        Some(Walk::of_tests(tests, self.work.domain))
    }

    fn guard(&mut self, k: usize, tests: usize, value: usize) -> Arg {
        let walk = Walk::of_tests(&self.work.guards[tests], self.work.domain);
        let x = self.at[value];
        self.used(value);
        let reg = self.reg();
        self.push(k, reg, Do::Guard { walk, x });
        self.out.ns += PART.ns;
        Arg::Reg(reg)
    }

    fn op(&mut self, k: usize, op: Op, ct: f64, args: &[ValueId]) -> Arg {
        let step = &self.work.steps[k];
        let (x, y) = (args[0] as usize, args.get(1).map(|&a| a as usize));
        let round = step.dtype == DType::F32;
        let guard = self.wanted(k);
        let second = y.map_or(Arg::One(0.0), |y| self.at[y]);
        if let (Arg::One(a), Arg::One(b)) = (self.at[x], second) {
            args.iter().for_each(|&a| self.used(a as usize));
            return Arg::One(self.uniform(k, op, ct, (a, b), guard.as_ref()));
        }
        if self.in_round && !hides(op) {
            // What it keeps visible is found in its result before the round ends, and then all of
            // the chunk is suspect.
            args.iter().for_each(|&a| self.pending[a as usize] = false);
        }
        let (ax, ay) = (self.at[x], second);
        let bools = args.iter().all(|&a| self.work.steps[a as usize].dtype == DType::Bool);
        let shorts = args.iter().all(|&a| self.is_short(a));
        args.iter().for_each(|&a| self.used(a as usize));
        let reg = self.reg();
        let run = self.run(op, ct, (ax, ay), (bools, shorts), round);
        self.out.insts.push(Inst {
            act: Do::Op { op, ct, x: ax, y: ay, run },
            out: reg,
            step: k,
            round,
            guard,
        });
        self.out.ns += Effort::of(op).ns + if round { ROUND_NS } else { 0.0 };
        Arg::Reg(reg)
    }

    /// A step's numbers are f32.
    fn makes_short(&self, what: &What, dtype: DType) -> bool {
        let narrow = |dtype| matches!(dtype, DType::F32 | DType::Bool);
        match what {
            What::Load(k) => narrow(self.out.inputs[*k as usize].source.dtype),
            What::Op { .. } => narrow(dtype),
            What::Select { yes, no, .. } => self.is_short(*yes) && self.is_short(*no),
            _ => false,
        }
    }

    fn is_short(&self, value: ValueId) -> bool {
        match self.at[value as usize] {
            Arg::One(x) => f64::from(x as f32) == x,
            Arg::Reg(_) => self.short[value as usize],
        }
    }

    fn run(
        &self,
        op: Op,
        ct: f64,
        (x, y): (Arg, Arg),
        (bools, shorts): (bool, bool),
        round: bool,
    ) -> Run {
        let isa = self.work.isa;
        let has_room = |x| !matches!(x, Arg::One(x) if !has_room(x));
        let single = round && has_room(x) && has_room(y);
        let kind = |l: Loops| match (x, y) {
            (Arg::One(_), _) => l.left,
            (_, Arg::One(_)) if op.arity() == 2 => l.right,
            _ => l.both,
        };
        match (op, y) {
            (Op::Pow, Arg::One(0.5)) => {
                // It leaves the exponent alone, which is one number all the same.
                loops(isa, Op::Sqrt, ct).map_or(Run::Each, |l| Run::Loop(l.right))
            }
            (Op::Pow, Arg::One(n)) if small_exponent(n).is_some() => {
                let plain = plain(isa);
                Run::Power(if single { plain.power_of_singles } else { plain.power }, n)
            }
            // Their fast parts know 0 and 1 only.
            (Op::Lcm | Op::Gcd, _) if !bools => Run::Each,
            // Whole exponents are products in f32, and which are whole differs by place.
            (Op::Pow, _) if round => Run::Each,
            // Their instructions are quicker in f32.
            (Op::Div | Op::Recip | Op::Sqrt, _) if round && shorts => {
                singles(isa, op).map_or(Run::Each, |l| Run::Single(kind(l)))
            }
            _ if single && has_own(op) => {
                singles(isa, op).map_or(Run::Each, |l| Run::Single(kind(l)))
            }
            _ => loops(isa, op, ct).map_or(Run::Each, |l| Run::Loop(kind(l))),
        }
    }

    /// A value that is the same everywhere, computed now. An empty domain computes nothing.
    fn uniform(
        &mut self,
        k: usize,
        op: Op,
        ct: f64,
        (x, y): (f64, f64),
        guard: Option<&Walk>,
    ) -> f64 {
        match eval_as(self.work.steps[k].dtype, op, ct, x, y) {
            Ok(value) => value,
            Err(fail) => {
                if let Some(index) = first_wanted(guard, self.work.domain) {
                    self.fault(k, index, fail);
                }
                0.0
            }
        }
    }

    /// From here on the value is known to be finite, or the chunk is suspect.
    fn test(&mut self, value: usize) {
        if let (true, Arg::Reg(reg)) = (self.pending[value], self.at[value]) {
            self.push(value, reg, Do::Test);
            self.pending[value] = false;
            self.out.ns += TEST_NS;
        }
    }

    fn stores(&mut self, value: usize) {
        for sink in 0..self.work.stores.len() {
            let (stored, own_test) = self.work.stores[sink];
            if stored as usize == value {
                let (x, test) = (self.at[value], self.pending[value] && !own_test);
                self.push(value, 0, Do::Store { sink, x, test });
                self.pending[value] &= !test;
                self.used(value);
                self.out.ns += WRITE_NS;
            }
        }
    }

    fn keep(&mut self) {
        for k in 0..self.work.keep.len() {
            let (value, finite) = self.work.keep[k];
            let value = value as usize;
            if finite {
                self.test(value);
            }
            let reg = match self.at[value] {
                Arg::Reg(reg) => reg,
                Arg::One(x) => {
                    let reg = self.reg();
                    self.push(value, reg, Do::Fill(x));
                    reg
                }
            };
            self.out.kept.push(reg);
        }
    }
}

/// Element `at` of a source, if it has one.
pub fn one(source: Source, at: i64) -> Option<f64> {
    let inside = usize::try_from(at).is_ok_and(|at| at < source.len);
    let mut out = 0.0;
    // SAFETY: the element is inside.
    inside.then(|| unsafe {
        (super::convert::converts(Isa::Portable).load)(source, at, 0, 1, &mut out)
    });
    inside.then_some(out)
}

/// The operation can make ∞ or NaN from finite numbers, its loop does not look, and storing its
/// dtype would not show it.
fn makes_infinity(op: Op, dtype: DType) -> bool {
    let row = op.row();
    let narrow = dtype.is_integer() && dtype != DType::I32;
    row.fails != Fails::Never && row.gives != Gives::Bool && !narrow
}

/// The first place of the domain where the guard holds.
fn first_wanted(guard: Option<&Walk>, domain: &[usize]) -> Option<u64> {
    let total: usize = domain.iter().product();
    let Some(guard) = guard else { return (total > 0).then_some(0) };
    let mut first = None;
    guard.pieces(0, total, &mut Vec::new(), |from, piece| {
        if matches!(piece, Piece::From { .. }) {
            first.get_or_insert(from as u64);
        }
    });
    first
}

#[cfg(test)]
mod tests {
    use super::super::tests::Dice;
    use super::{Turn, turns};

    /// Any choice of next values ends with each in its state, and the arguments where they were.
    #[test]
    fn after_a_round_each_state_is_its_next_value() {
        let mut dice = Dice(5);
        for _ in 0..2000 {
            let states = 1 + dice.roll(4);
            let (given, own) = (states + dice.roll(3), states + 3 + dice.roll(6));
            let next: Vec<usize> = (0..states).map(|_| dice.roll(own)).collect();
            let mut held: Vec<usize> = (0..own + states).collect();
            for turn in turns(&next, given, own) {
                match turn {
                    Turn::Copy { from, to } => held[to] = held[from],
                    Turn::Exchange { from, to } => held.swap(from, to),
                }
            }
            assert_eq!(held[..states], next, "of {given} arguments");
            assert!((states..given).all(|arg| held[arg] == arg), "{next:?}, {given} arguments");
        }
    }
}

//! A program cut into segments: runs of instructions that become one emitted loop each, and the
//! instructions between them, which the machine of chunks executes.
//!
//! An instruction is recorded on the open tape, in order. One that has no lanes (a read at computed
//! places, a loop with an end, an index) is executed by the machine before the segment that is
//! open, unless it reads what that makes or writes what that reads; then the segment ends. What a
//! later segment, the machine or a fold reads of a segment goes through a register of the chunk,
//! as f64.
//!
//! An input whose item changes from row to row alone is no input where runs never leave a row: it
//! is a number, that each call brings along with the constants.

use super::super::convert::{Sink, bits};
use super::super::program::{Arg, Do, Inst, Program, Run};
use super::super::walk::Walk;
use super::aside::{CHUNK, WIDE};
use super::builder::Builder;
use super::lanes::Lanes;
use super::record::{How, Val};
use super::registry::{Loop, Registry};
use super::tape::{Bin, Cmp, Id, Kind, Out, Pattern, Turns, broadcast, kind_of};
use aplomb_plans::plan::Step;
use aplomb_values::array::DType;
use aplomb_values::prim::op::Op;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The origin of a segment's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feed {
    /// A register of the chunk, of f64.
    Register(usize),
    /// An input of the program, of its own type.
    Input(usize),
    /// The tests of an instruction: a truth for each element.
    Tests(usize),
}

/// The end of a segment's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A register of the program: the value goes into memory of its own, which the register then
    /// is, because another input of the segment may still lie where the register did.
    Register {
        own: usize,
        of: usize,
    },
    Sink(usize),
}

/// A segment with its code.
pub struct Segment {
    pub code: Arc<Loop>,
    pub consts: Vec<Pattern>,
    pub feeds: Vec<Feed>,
    pub numbers: Vec<Number>,
    pub goals: Vec<Goal>,
}

/// An input of which a run has one item: its place among the constants, and its kind there.
#[derive(Clone, Copy)]
pub struct Number {
    pub input: usize,
    pub slot: usize,
    pub kind: Kind,
    id: Id,
}

impl Number {
    /// An item of the number's input as a constant of a loop has it.
    pub fn pattern(&self, dtype: DType, item: f64, lanes: Lanes) -> Pattern {
        let bits = match (dtype, bits(dtype, item)) {
            (DType::F32, half) => half << 32 | half,
            (_, bits) => bits,
        };
        broadcast(self.kind, bits, lanes)
    }
}

/// One part of a program.
pub enum Part {
    /// The k-th instruction, by the machine.
    Machine(usize),
    Segment(Segment),
}

/// A program as parts, in order.
pub struct Parts {
    pub parts: Vec<Part>,
    /// Registers in all: those of the program, then those that segments fill.
    pub regs: usize,
    /// Elements that may run at once.
    pub stride: usize,
    /// The rounds of loops that are one segment each, by the loop's instruction.
    pub rounds: BTreeMap<usize, Round>,
}

impl Parts {
    /// The one loop, where there is nothing else.
    pub fn alone(&self) -> Option<&Segment> {
        match self.parts.as_slice() {
            [Part::Segment(segment)] => Some(segment),
            _ => None,
        }
    }
}

/// A round of a loop.
pub struct Round {
    pub one: Parts,
    /// Several rounds at once, whose states are registers: the first of the program's.
    pub many: Option<Segment>,
}

/// Rounds that an element takes in registers before the next one does, at least.
const TURNS: usize = 8;

/// A value of the open tape in a register.
#[derive(Clone, Copy)]
struct Held {
    val: Val,
    /// It is an input as it lies there, by this instruction.
    load: Option<usize>,
}

struct Cutter<'a> {
    given: Given<'a>,
    /// Outputs go where the program's registers are.
    in_place: bool,
    tape: Builder,
    feeds: Vec<Feed>,
    numbers: Vec<Number>,
    goals: Vec<Goal>,
    held: BTreeMap<usize, Held>,
    parts: Vec<Part>,
    regs: usize,
}

/// A segment that counts truths.
pub struct Counter {
    pub segment: Segment,
    /// The goal of each value that the program keeps.
    pub goals: Vec<usize>,
    /// Elements that may run at once.
    pub stride: usize,
}

/// A segment that folds: its outputs are the partial results of each value that the program keeps.
pub struct Summer {
    pub segment: Segment,
    /// Elements that may run at once.
    pub stride: usize,
}

/// The fate of the values that a program keeps.
#[derive(Clone, Copy)]
enum Ends<'a> {
    /// Registers of the chunk.
    Kept,
    /// Truths, that are counted.
    Counted,
    /// Partial results, so many each, by operations in lanes of a kind.
    Folded(&'a [(Bin, Kind)], usize),
    /// Rows of results, onto which each is folded in lanes of f64.
    Laid(&'a [Bin]),
    /// So many states of a loop, whose values these are after a round.
    Turned(usize),
}

/// A program over a domain in parts; None: nothing of it is emitted, or not yet. `by_rows`: runs
/// end where long rows do.
pub fn parts(
    registry: &Registry,
    program: &Program,
    steps: &[Step],
    sinks: &[Sink],
    (domain, by_rows): (&[usize], bool),
) -> Option<Parts> {
    let given = Given::of(registry, program, steps, sinks, domain)?;
    Given { by_rows: by_rows && given.row != usize::MAX, ..given }.parts()
}

/// A program that keeps truths alone, as one segment that counts them; None: it is none.
pub fn truths(
    registry: &Registry,
    program: &Program,
    steps: &[Step],
    domain: &[usize],
) -> Option<Counter> {
    let given = Given::of(registry, program, steps, &[], domain)?;
    let (segment, _) = Given { ends: Ends::Counted, by_rows: true, ..given }.whole(false)?;
    let goal = |reg: &usize| {
        let own = |goal: &Goal| matches!(goal, Goal::Register { of, .. } if of == reg);
        segment.goals.iter().position(own)
    };
    let goals = program.kept.iter().map(goal).collect::<Option<_>>()?;
    let stride = if segment.feeds.iter().all(|f| program.is_piece(f)) { WIDE } else { CHUNK };
    Some(Counter { segment, goals, stride })
}

/// A program along rows as one segment that folds all that it keeps; None: it is none.
pub fn sums(
    registry: &Registry,
    program: &Program,
    steps: &[Step],
    domain: &[usize],
    folds: &[(Bin, Kind)],
    partials: usize,
) -> Option<Summer> {
    let given = Given::of(registry, program, steps, &[], domain)?;
    let (segment, _) =
        Given { ends: Ends::Folded(folds, partials), by_rows: true, ..given }.whole(false)?;
    let piece = |feed: &Feed| program.is_piece(feed);
    let stride = if segment.feeds.iter().all(piece) { usize::MAX } else { CHUNK };
    Some(Summer { segment, stride })
}

/// A program along rows as one segment that folds all that it keeps onto rows of results; None: it
/// is none.
pub fn rows(
    registry: &Registry,
    program: &Program,
    steps: &[Step],
    domain: &[usize],
    folds: &[Bin],
) -> Option<Segment> {
    let given = Given::of(registry, program, steps, &[], domain)?;
    let by_rows = given.row != usize::MAX;
    let (segment, _) = Given { ends: Ends::Laid(folds), by_rows, ..given }.whole(false)?;
    Some(segment)
}

/// A program that is to be cut, and what is known of its surroundings.
#[derive(Clone, Copy)]
struct Given<'a> {
    program: &'a Program,
    steps: &'a [Step],
    sinks: &'a [Sink],
    /// The length at whose multiples runs end.
    row: usize,
    registry: &'a Registry,
    /// A loop is compiled though it is met for the first time.
    ready: bool,
    ends: Ends<'a>,
    /// Runs end where rows do.
    by_rows: bool,
}

impl<'a> Given<'a> {
    /// None: nothing is emitted for so little work.
    fn of(
        registry: &'a Registry,
        program: &'a Program,
        steps: &'a [Step],
        sinks: &'a [Sink],
        domain: &[usize],
    ) -> Option<Given<'a>> {
        let elements: usize = domain.iter().product();
        let ready = registry.pays(program.ns * elements as f64)?;
        let row = program.row(domain);
        let (ends, by_rows) = (Ends::Kept, false);
        Some(Given { program, steps, sinks, row, registry, ready, ends, by_rows })
    }

    fn parts(self) -> Option<Parts> {
        let mut cutter = self.cutter(false)?;
        for k in 0..self.program.insts.len() {
            cutter.inst(k)?;
        }
        cutter.flush(self.program.insts.len())?;
        let stride = cutter.stride();
        let Cutter { parts, regs, .. } = cutter;
        let rounds: BTreeMap<usize, Round> = self
            .program
            .insts
            .iter()
            .enumerate()
            .filter_map(|(k, inst)| self.round(k, inst))
            .collect();
        let some = parts.iter().any(|part| matches!(part, Part::Segment(_)));
        (some || !rounds.is_empty()).then_some(Parts { parts, regs, stride, rounds })
    }

    /// A round of a loop, if all of it is one segment. It writes into the program's own registers,
    /// whose memory the next round may exchange: what a round keeps lies in none that it is given.
    fn round(self, k: usize, inst: &'a Inst) -> Option<(usize, Round)> {
        let Do::Loop(rounds) = &inst.act else { return None };
        let (program, steps) = (&rounds.program, rounds.steps.as_slice());
        let given = Given { program, steps, sinks: &[], by_rows: false, ..self };
        let (one, regs) = given.whole(true)?;
        let parts = vec![Part::Segment(one)];
        let one = Parts { parts, regs, stride: CHUNK, rounds: BTreeMap::new() };
        let many = Given { ends: Ends::Turned(rounds.body.next.len()), ..given }.whole(true);
        Some((k, Round { one, many: many.map(|(many, _)| many) }))
    }

    /// The whole program as one segment, and the registers with those that it fills.
    fn whole(self, in_place: bool) -> Option<(Segment, usize)> {
        let mut cutter = self.cutter(in_place)?;
        for k in 0..self.program.insts.len() {
            cutter.recorded(k)?;
        }
        cutter.flush(self.program.insts.len())?;
        match (cutter.parts.pop(), cutter.parts.is_empty()) {
            (Some(Part::Segment(one)), true) => Some((one, cutter.regs)),
            _ => None,
        }
    }

    fn cutter(self, in_place: bool) -> Option<Cutter<'a>> {
        Some(Cutter {
            given: self,
            in_place,
            tape: self.registry.tape()?,
            feeds: Vec::new(),
            numbers: Vec::new(),
            goals: Vec::new(),
            held: BTreeMap::new(),
            parts: Vec::new(),
            regs: self.program.regs,
        })
    }
}

impl Program {
    /// Along a row, what a segment is fed lies one behind the other in its source.
    fn is_piece(&self, feed: &Feed) -> bool {
        let Feed::Input(k) = feed else { return false };
        let input = &self.inputs[*k];
        input.flat.is_some() || input.walk.is_straight()
    }
}

/// The registers that an instruction reads.
fn reads(inst: &Inst) -> Vec<usize> {
    let args: Vec<Arg> = match &inst.act {
        Do::Load(_) | Do::Index { .. } | Do::Fill(_) => Vec::new(),
        Do::Op { x, y, .. } => vec![*x, *y],
        Do::Guard { x, .. } | Do::Store { x, .. } => vec![*x],
        Do::Part { yes, no, .. } => vec![*yes, *no],
        Do::Select { cond, yes, no } => vec![*cond, *yes, *no],
        Do::Gather { places, .. } => places.iter().map(|p| p.by).collect(),
        Do::Loop(rounds) => rounds.args.iter().chain(&rounds.given).copied().collect(),
        Do::Test => vec![Arg::Reg(inst.out)],
    };
    let register = |arg: Arg| match arg {
        Arg::Reg(reg) => Some(reg),
        Arg::One(_) => None,
    };
    args.into_iter().filter_map(register).collect()
}

/// The registers that an instruction writes.
fn writes(inst: &Inst) -> Vec<usize> {
    match &inst.act {
        Do::Test | Do::Store { .. } => Vec::new(),
        Do::Loop(rounds) => rounds.wanted.iter().map(|(_, reg)| *reg).collect(),
        _ => vec![inst.out],
    }
}

impl Cutter<'_> {
    /// Elements that the parts take at once.
    fn stride(&self) -> usize {
        let inputs = &self.given.program.inputs;
        let ordered = |feed: &Feed| matches!(feed, Feed::Input(k) if inputs[*k].flat.is_some());
        let register = |feed: &Feed| matches!(feed, Feed::Register(_));
        let to_sink = |goal: &Goal| matches!(goal, Goal::Sink(_));
        match self.parts.as_slice() {
            [Part::Segment(one)] if !one.goals.iter().all(to_sink) => CHUNK,
            [Part::Segment(one)] if one.feeds.iter().all(ordered) => usize::MAX,
            [Part::Segment(one)] if !one.feeds.iter().any(register) => WIDE,
            _ => CHUNK,
        }
    }

    /// Somebody reads the register's value from instruction k on.
    fn lives(&self, reg: usize, k: usize) -> bool {
        for inst in &self.given.program.insts[k..] {
            if reads(inst).contains(&reg) {
                return true;
            }
            if writes(inst).contains(&reg) {
                return false;
            }
        }
        self.given.program.kept.contains(&reg)
    }

    fn feed(&mut self, feed: Feed, dtype: DType) -> Option<Val> {
        let kind = kind_of(dtype)?;
        let slot = match self.feeds.iter().position(|f| *f == feed) {
            Some(known) => known as u32,
            None => {
                self.feeds.push(feed);
                self.tape.input(dtype)
            }
        };
        Some(Val::Of(self.tape.element(slot, kind)))
    }

    /// An input as a number of each call, if runs have one item of it.
    fn number(&mut self, input: usize) -> Option<Val> {
        let known = self.numbers.iter().find(|number| number.input == input);
        if let Some(number) = known {
            return Some(Val::Of(number.id));
        }
        let of = &self.given.program.inputs[input];
        let kind = kind_of(of.source.dtype).filter(|kind| *kind != Kind::Mask)?;
        if !self.given.by_rows || !of.walk.is_alike() {
            return None;
        }
        let (id, slot) = self.tape.given(of.source.dtype, kind);
        self.numbers.push(Number { input, slot, kind, id });
        Some(Val::Of(id))
    }

    fn operand(&mut self, arg: Arg) -> Option<Val> {
        match arg {
            Arg::One(x) => Some(Val::Number(x)),
            Arg::Reg(reg) => match self.held.get(&reg) {
                Some(held) => Some(held.val),
                None => self.feed(Feed::Register(reg), DType::F64),
            },
        }
    }

    fn hold(&mut self, reg: usize, val: Val, load: Option<usize>) {
        self.held.insert(reg, Held { val, load });
    }

    fn inst(&mut self, k: usize) -> Option<()> {
        match self.recorded(k) {
            Some(()) => Some(()),
            None => self.by_machine(k),
        }
    }

    /// None: it has no lanes, and nothing was recorded that matters.
    fn recorded(&mut self, k: usize) -> Option<()> {
        let inst = &self.given.program.insts[k];
        match &inst.act {
            Do::Load(input) => {
                let dtype = self.given.program.inputs[*input].source.dtype;
                let val = match self.number(*input) {
                    Some(val) => val,
                    None => self.feed(Feed::Input(*input), dtype)?,
                };
                self.hold(inst.out, val, Some(k));
            }
            Do::Fill(x) => self.hold(inst.out, Val::Number(*x), None),
            Do::Op { op, ct, x, y, run } => {
                let whole = self.given.steps[inst.step].dtype.is_integer();
                let how = How { ct: *ct, round: inst.round, whole };
                let (x, y) = (self.operand(*x)?, self.operand(*y)?);
                let val = match run {
                    Run::Loop(_) | Run::Single(_) => {
                        let op = match (op, y) {
                            // Its loop is that of the root.
                            (Op::Pow, Val::Number(0.5)) => Op::Sqrt,
                            _ => *op,
                        };
                        self.tape.op(op, x, y, how)?
                    }
                    Run::Power(_, exponent) => self.tape.power(x, *exponent, inst.round)?,
                    Run::Each => return None,
                };
                self.hold(inst.out, val, None);
            }
            Do::Select { cond, yes, no } => {
                let (cond, yes, no) =
                    (self.operand(*cond)?, self.operand(*yes)?, self.operand(*no)?);
                let mask = self.tape.value(cond, Kind::Mask);
                let val = self.tape.choice(mask, yes, no);
                self.hold(inst.out, val, None);
            }
            Do::Test => {
                if let Val::Of(id) = self.operand(Arg::Reg(inst.out))? {
                    let odd = self.tape.not_finite(id);
                    self.tape.suspect(odd);
                }
            }
            Do::Store { sink, x, test } => self.store(*sink, *x, *test)?,
            Do::Guard { walk, x } => {
                let fill = Val::Number(walk.fill()?);
                self.chosen(k, *x, Arg::One(0.0), Some(fill))?;
            }
            Do::Part { yes, no, .. } => self.chosen(k, *yes, *no, None)?,
            Do::Index { .. } | Do::Gather { .. } | Do::Loop(_) => return None,
        }
        Some(())
    }

    /// One of two values by the tests of instruction k; `fill` is the second, if it is given.
    fn chosen(&mut self, k: usize, yes: Arg, no: Arg, fill: Option<Val>) -> Option<()> {
        let yes = self.operand(yes)?;
        let no = match fill {
            Some(fill) => fill,
            None => self.operand(no)?,
        };
        let own = tests(&self.given.program.insts[k]);
        let same = |feed: &Feed| match feed {
            Feed::Tests(j) => tests(&self.given.program.insts[*j]) == own,
            _ => false,
        };
        let feed = match self.feeds.iter().copied().find(same) {
            Some(known) => known,
            None => Feed::Tests(k),
        };
        let holds = self.feed(feed, DType::Bool)?;
        let mask = self.tape.value(holds, Kind::Mask);
        let val = self.tape.choice(mask, yes, no);
        self.hold(self.given.program.insts[k].out, val, None);
        Some(())
    }

    fn store(&mut self, sink: usize, x: Arg, test: bool) -> Option<()> {
        let to = self.given.sinks[sink];
        let x = self.operand(x)?;
        let whole = match x {
            Val::Of(id) => matches!(self.tape.kind(id), Kind::Int | Kind::Mask),
            Val::Number(_) => false,
        };
        let value = match to.dtype {
            DType::F64 => self.tested(x, Kind::F64, test),
            DType::F32 => self.tested(x, Kind::F32, test),
            DType::Bool => self.tape.value(x, Kind::Mask),
            DType::Char if !whole => return None,
            DType::I8 | DType::I16 | DType::I32 | DType::Char => {
                let id = match whole {
                    true => self.tape.value(x, Kind::Int),
                    false => {
                        let from = self.tested(x, Kind::F64, test);
                        let id = self.tape.turned(from, Kind::Int);
                        if to.checked {
                            let back = self.tape.turned(id, Kind::F64);
                            let same = self.tape.cmp(Cmp::Eq, from, back);
                            let other = self.tape.not(same);
                            self.tape.suspect(other);
                        }
                        id
                    }
                };
                self.within(id, to)?;
                id
            }
            DType::Complex | DType::Nested => return None,
        };
        // A run that begins in the middle of a line cannot go past the caches.
        let whole = self.given.row.saturating_mul(to.dtype.size());
        let stream = to.stream && (self.given.row == usize::MAX || whole.is_multiple_of(64));
        let slot = self.tape.output(Out { dtype: to.dtype, stream });
        self.goals.push(Goal::Sink(sink));
        self.tape.store(slot, value);
        Some(())
    }

    /// Numbers that the sink's type has not are suspect, if they are looked at.
    fn within(&mut self, id: u32, to: Sink) -> Option<()> {
        let (low, high) = self.tape.span(id);
        let (least, most) = match (to.dtype, to.dtype.range()) {
            (DType::Char, _) => (0.0, f64::from(u32::from(char::MAX))),
            (_, Some(range)) => range,
            _ => return Some(()),
        };
        let (least, most) = (least as i64, most as i64);
        if low >= least && high <= most {
            return Some(());
        }
        if to.dtype == DType::Char {
            return None;
        }
        if to.checked {
            let ends = (self.tape.int(least as i32), self.tape.int(most as i32));
            let below = self.tape.cmp(Cmp::Lt, id, ends.0);
            let above = self.tape.cmp(Cmp::Lt, ends.1, id);
            let odd = self.tape.either(below, above);
            self.tape.suspect(odd);
        }
        Some(())
    }

    fn tested(&mut self, x: Val, kind: Kind, test: bool) -> u32 {
        let id = self.tape.value(x, kind);
        if test {
            let odd = self.tape.not_finite(id);
            self.tape.suspect(odd);
        }
        id
    }

    /// An instruction that the machine executes, before the open segment where that may be.
    fn by_machine(&mut self, k: usize) -> Option<()> {
        let inst = &self.given.program.insts[k];
        let reads_open = reads(inst).iter().any(|reg| self.held.contains_key(reg));
        let fed = |reg: &usize| self.feeds.contains(&Feed::Register(*reg));
        if reads_open || writes(inst).iter().any(fed) {
            self.flush(k)?;
        }
        for reg in writes(inst) {
            self.held.remove(&reg);
        }
        self.parts.push(Part::Machine(k));
        Some(())
    }

    /// The open segment ends before instruction k.
    fn flush(&mut self, k: usize) -> Option<()> {
        let held = std::mem::take(&mut self.held);
        if let Ends::Folded(folds, partials) = self.given.ends {
            for (reg, (op, kind)) in self.given.program.kept.iter().zip(folds) {
                let id = self.tape.value(held.get(reg)?.val, *kind);
                let dtype = if *kind == Kind::F32 { DType::F32 } else { DType::F64 };
                let slot = self.tape.output(Out { dtype, stream: false });
                self.tape.fold(slot, (*op, partials), id);
            }
            return self.closed();
        }
        if let Ends::Laid(folds) = self.given.ends {
            for (reg, op) in self.given.program.kept.iter().zip(folds) {
                let id = self.tape.value(held.get(reg)?.val, Kind::F64);
                let slot = self.tape.output(Out { dtype: DType::F64, stream: false });
                self.tape.onto(slot, *op, id);
            }
            return self.closed();
        }
        if let Ends::Turned(states) = self.given.ends {
            self.turned(&held, states)?;
            return self.closed();
        }
        let counts = matches!(self.given.ends, Ends::Counted);
        let live: Vec<(usize, Held)> =
            held.into_iter().filter(|(reg, _)| self.lives(*reg, k)).collect();
        for (reg, held) in live {
            let fed = self.feeds.contains(&Feed::Register(reg));
            match held.load.filter(|_| !fed && !counts) {
                // As it lies in its source, without a copy.
                Some(load) => self.parts.push(Part::Machine(load)),
                None => {
                    let slot = self.tape.output(Out { dtype: DType::F64, stream: false });
                    if counts {
                        let mask = self.tape.value(held.val, Kind::Mask);
                        self.tape.count(slot, mask);
                    } else {
                        let id = self.tape.value(held.val, Kind::F64);
                        self.tape.store(slot, id);
                    }
                    let own = if self.in_place { reg } else { self.regs };
                    self.goals.push(Goal::Register { own, of: reg });
                    self.regs += usize::from(!self.in_place);
                }
            }
        }
        self.closed()
    }

    /// A round's values become the states, which are the first registers.
    fn turned(&mut self, held: &BTreeMap<usize, Held>, states: usize) -> Option<()> {
        let kept = &self.given.program.kept;
        let value = |cutter: &mut Self, reg: usize, kind: Kind| {
            let val = match held.get(&reg) {
                Some(held) => held.val,
                None => cutter.feed(Feed::Register(reg), DType::F64)?,
            };
            Some(cutter.tape.value(val, kind))
        };
        let mut turns = Turns { count: TURNS, ..Turns::default() };
        for (state, reg) in kept.iter().enumerate().take(states) {
            let Val::Of(own) = self.feed(Feed::Register(state), DType::F64)? else { return None };
            turns.next.push((own, value(self, *reg, Kind::F64)?));
        }
        if let Some(reg) = kept.get(states) {
            let until = value(self, *reg, Kind::Mask)?;
            turns.until = Some((until, self.tape.f64(1.0)));
            self.tape.output(Out { dtype: DType::F64, stream: false });
        }
        self.tape.turn(turns);
        // An input that is no register of the chunk may lie anywhere.
        self.feeds.iter().all(|feed| matches!(feed, Feed::Register(_))).then_some(())
    }

    /// The segment with its code.
    fn closed(&mut self) -> Option<()> {
        let (tape, consts) =
            std::mem::replace(&mut self.tape, self.given.registry.tape()?).finish();
        let (feeds, goals) = (std::mem::take(&mut self.feeds), std::mem::take(&mut self.goals));
        let numbers = std::mem::take(&mut self.numbers);
        if tape.acts.is_empty() {
            return Some(());
        }
        let code = self.given.registry.code(tape, self.given.ready)?;
        self.parts.push(Part::Segment(Segment { code, consts, feeds, numbers, goals }));
        Some(())
    }
}

/// The tests of an instruction that has some.
pub fn tests(inst: &Inst) -> Option<&Walk> {
    match &inst.act {
        Do::Guard { walk, .. } | Do::Part { walk, .. } => Some(walk),
        _ => None,
    }
}

impl Builder {
    /// One of two values, by a mask.
    fn choice(&mut self, mask: u32, yes: Val, no: Val) -> Val {
        let kind = self.common(yes, no);
        let (yes, no) = (self.value(yes, kind), self.value(no, kind));
        Val::Of(self.blend(mask, yes, no))
    }

    /// The narrowest kind that has both.
    fn common(&self, a: Val, b: Val) -> Kind {
        let both = |f: fn(&Self, Val) -> bool| f(self, a) && f(self, b);
        match () {
            () if both(Self::is_truth) => Kind::Mask,
            () if both(Self::is_whole) => Kind::Int,
            () if both(Self::is_f32) => Kind::F32,
            () => Kind::F64,
        }
    }
}

//! Assignments by places as kernels: the last value wins, or each is combined with what is there.
//!
//! Row: ACC-28. Always: what the CPU gives, whatever the order in which threads run.
//!
//! | what | how |
//! |---|---|
//! | `x[i]←v` | each place learns the last element that goes there; then a thread a place takes its value |
//! | integers by `+ - ⌈ ⌊ ∧ ∨` | atomic, exact in any order; up to 2048 places a block at a time in shared memory |
//! | sums of others by `+ -`, with `--reduce any` | atomic, in whatever order the threads come |
//! | all others | the elements are sorted by their places; a thread a place goes through its own in their order |

use super::lower::{At, Body, Lowering, Part, Spots, stride};
use super::sort::Sorted;
use super::vector::Way;
use super::{Bound, Spread, Stmt, THREADS, Type};
use crate::plan::{Finish, Order, Step, What};
use aplomb_ground::error::{Result, bug, nonce};
use aplomb_values::array::DType;
use aplomb_values::body::Rounds;
use aplomb_values::dag::Whole;
use aplomb_values::prim::op::Op;

/// Places that a block has sums for in shared memory.
const FEW: u64 = 2048;
/// Sums up to it have room in 32 bits.
const SMALL: f64 = i32::MAX as f64;
/// Warps of a block.
const WARPS: u64 = THREADS as u64 / 32;
/// Sums below it are exact in f64.
const EXACT: f64 = (1u64 << 52) as f64;

/// The way in which values meet atomically: the operation on booleans alone, the byte that no value
/// is (of `i64`), the update of `{at}` by `{v}`, and the base with all of them.
struct Atomic {
    op: Op,
    logic: bool,
    clear: u8,
    update: &'static str,
    last: &'static str,
}

/// The greatest value of a step by its kind. None: it may have any.
fn most(step: &Step) -> Option<f64> {
    match (&step.what, step.dtype) {
        (What::Const(c), _) => Some(c.abs()),
        (_, DType::Bool) => Some(1.0),
        (_, DType::I8) => Some(128.0),
        (_, DType::I16) => Some(32_768.0),
        _ => None,
    }
}

const LEAST: &str = "({v} < {base} ? {v} : {base})";
const GREATEST: &str = "({v} > {base} ? {v} : {base})";
const ATOMICS: &[Atomic] = &[
    Atomic {
        op: Op::Add,
        logic: false,
        clear: 0,
        update: "atomicAdd({at}, (u64){v})",
        last: "{base} + {v}",
    },
    Atomic {
        op: Op::Sub,
        logic: false,
        clear: 0,
        update: "atomicAdd({at}, (u64){v})",
        last: "{base} - {v}",
    },
    Atomic {
        op: Op::Max,
        logic: false,
        clear: 0x80,
        update: "atomicMax((i64*){at}, {v})",
        last: GREATEST,
    },
    Atomic {
        op: Op::Min,
        logic: false,
        clear: 0x7f,
        update: "atomicMin((i64*){at}, {v})",
        last: LEAST,
    },
    Atomic {
        op: Op::Gcd,
        logic: true,
        clear: 0x80,
        update: "atomicMax((i64*){at}, {v})",
        last: GREATEST,
    },
    Atomic {
        op: Op::Lcm,
        logic: true,
        clear: 0x7f,
        update: "atomicMin((i64*){at}, {v})",
        last: LEAST,
    },
];

impl Lowering<'_> {
    pub(super) fn scatter(&mut self, finish: &Finish) -> Result<()> {
        let Whole::Scatter { combine, .. } = &finish.what else { return Err(bug!("no scatter")) };
        if !self.narrow && !self.any_extents {
            return Err(nonce("an assignment by more than 2*31 places on CUDA"));
        }
        let counts = [self.elements(), self.places()];
        self.bounds.extend(counts.map(|count| Bound { count, below: 1 << 31 }));
        let Some((op, ct)) = *combine else { return self.last_wins(finish) };
        let value = finish.fed.first().and_then(|v| self.launch.body.get(*v as usize));
        let types =
            [value.map_or(DType::F64, |s| s.dtype), self.plan.buffer(self.base(finish)?).dtype];
        let fits = |a: &&Atomic| {
            a.op == op && types.iter().all(|d| d.is_integer() && (!a.logic || *d == DType::Bool))
        };
        match ATOMICS.iter().find(fits) {
            // How large a sum may be follows from how many values there are.
            Some(atomic) if !self.any_extents => self.tally(finish, atomic),
            _ if self.plan.order == Order::Any && matches!(op, Op::Add | Op::Sub) => {
                self.added(finish, op)
            }
            _ => self.in_order(finish, op, ct),
        }
    }

    fn base(&self, finish: &Finish) -> Result<crate::plan::BufId> {
        let load = finish.held.first().and_then(|l| self.launch.loads.get(*l as usize));
        load.map(|l| l.buf).ok_or_else(|| bug!("an assignment without its base"))
    }

    fn places(&self) -> u64 {
        self.launch.outer().iter().map(|n| *n as u64).product()
    }

    fn elements(&self) -> u64 {
        self.launch.domain.iter().map(|n| *n as u64).product()
    }

    /// The body at element `i` with its stores, where it goes (`goes`) and its value.
    fn sent(&mut self, finish: &Finish) -> Result<(Body, String)> {
        let Whole::Scatter { read, along, origin, .. } = &finish.what else {
            return Err(bug!("no scatter"));
        };
        let (mut body, value) = self.element(finish)?;
        self.stores(Part::Body, "i", &mut body)?;
        let domain = self.launch.domain.clone();
        let axes: Vec<String> = (0..domain.len()).map(|k| format!("x{k}")).collect();
        let fed = |k: &u32| body.values[*k as usize].clone();
        let places: Vec<String> = finish.fed[1..].iter().map(fed).collect();
        let bad = self.bad(finish.site, "i")?;
        let spots = Spots { along, places: &places, origin: *origin, bad: &bad };
        let at = self.moved(read, &finish.shape, &spots, At::point(&axes, &domain))?;
        body.out.push(Stmt::Let {
            name: "goes".into(),
            of: Type::U32,
            is: format!("(u32)({at})"),
            node: Some(finish.node),
        });
        Ok((body, value))
    }

    /// The statements after the result `t0` of place `o`; the launch's last kernel.
    fn results(&mut self, mut line: Vec<Stmt>) -> Result<()> {
        let outer = self.launch.outer();
        let axes = self.axes(&outer, "o", &mut line);
        self.after(&["t0".into()], "o", &axes, &mut line)?;
        let points = self.places();
        self.kernel(vec![stride("o", "n", line)], Spread::Threads, points);
        Ok(())
    }

    fn last_wins(&mut self, finish: &Finish) -> Result<()> {
        let base = self.base(finish)?;
        let places = self.places();
        self.shared("winner", Type::U32, places);
        let (mut body, value) = self.sent(finish)?;
        if value != body.values[finish.fed[0] as usize] {
            body.out.push(Stmt::Do(value));
        }
        body.out.push(Stmt::Do("atomicMax(winner + goes, (u32)i + 1)".into()));
        let elements = self.elements();
        let code = self.spread(&Way::all(), body.out)?;
        let kernel = self.kernel(code, Spread::Threads, elements);
        kernel.clears.push(("winner".into(), 0));

        self.shared("winner", Type::U32, places);
        let there = self.item(base, "o")?;
        let (mut body, value) = self.element(finish)?;
        let mut taken = vec![self.let_("i", Type::U64, "goes - 1".into())];
        taken.append(&mut body.out);
        taken.push(Stmt::Set { name: "t0".into(), is: value, node: Some(finish.node) });
        let line = vec![
            self.let_("goes", Type::U32, "winner[o]".into()),
            self.let_("t0", Type::F64, there),
            Stmt::If("goes > 0".into(), taken),
        ];
        self.results(line)
    }

    fn tally(&mut self, finish: &Finish, by: &Atomic) -> Result<()> {
        let (base, places, elements) = (self.base(finish)?, self.places(), self.elements());
        let summed = by.clear == 0;
        self.shared("sums", Type::U64, places);
        let (mut body, value) = self.sent(finish)?;
        let most = self.number(
            'p',
            Type::F64,
            if summed { (EXACT / elements as f64).floor() } else { EXACT },
        );
        let bad = self.bad(finish.site, "i")?;
        body.out.push(self.let_("adds", Type::I64, format!("tally_whole({value}, {most}, {bad})")));
        let code = if summed && places <= FEW {
            let bins = self.number('m', Type::U32, places as f64);
            self.tally_near(finish, &bins, body)?
        } else {
            body.out
                .push(Stmt::Do(by.update.replace("{at}", "sums + goes").replace("{v}", "adds")));
            self.spread(&Way::all(), body.out)?
        };
        let kernel = self.kernel(code, Spread::Threads, elements);
        kernel.clears.push(("sums".into(), by.clear));

        self.shared("sums", Type::U64, places);
        let (there, most) = (self.item(base, "o")?, self.number('p', Type::F64, EXACT));
        let bad = self.bad(finish.site, "o")?;
        let last = by.last.replace("{base}", "adds").replace("{v}", "(i64)sums[o]");
        let line = vec![
            self.let_("adds", Type::I64, format!("tally_whole({there}, {most}, {bad})")),
            Stmt::Let {
                name: "t0".into(),
                of: Type::F64,
                is: format!("(double)({last})"),
                node: Some(finish.node),
            },
        ];
        self.results(line)
    }

    /// Sums of a block in shared memory, which go to all others' at its end. Where no sum can leave
    /// 32 bits they are of 32 bits, and of few places each warp has its own: fewer threads meet.
    fn tally_near(&mut self, finish: &Finish, bins: &str, mut body: Body) -> Result<Vec<Stmt>> {
        let places = self.places();
        let most = finish.fed.first().and_then(|v| most(self.launch.body.get(*v as usize)?));
        let is_small = most.is_some_and(|most| most * self.elements() as f64 <= SMALL);
        let shared =
            |name: &str| Stmt::Shared { name: name.into(), of: Type::U32, count: FEW as u32 };
        let (arrays, add, copies) = match is_small {
            true => {
                let copies = if places * WARPS <= FEW { WARPS } else { 1 };
                let own = match copies {
                    1 => "goes".to_string(),
                    _ => format!("threadIdx.x / 32 * {bins} + goes"),
                };
                let add = format!("atomicAdd(low + {own}, (u32)adds)");
                (vec![shared("low")], add, Some(copies))
            }
            false => {
                let add = "tally_add(low + goes, high + goes, adds)".to_string();
                (vec![shared("low"), shared("high")], add, None)
            }
        };
        body.out.push(Stmt::Do(add));
        let [clear, give] = match copies {
            Some(copies) => [
                format!("small_clear(low, {copies} * {bins})"),
                format!("small_give(low, {bins}, {copies}, sums)"),
            ],
            None => [
                format!("tally_clear(low, high, {bins})"),
                format!("tally_give(low, high, {bins}, sums)"),
            ],
        };
        let mut code = arrays;
        code.push(Stmt::Do(clear));
        code.append(&mut self.spread(&Way::all(), body.out)?);
        code.push(Stmt::Do(give));
        Ok(code)
    }

    fn added(&mut self, finish: &Finish, op: Op) -> Result<()> {
        let (base, places, elements) = (self.base(finish)?, self.places(), self.elements());
        self.unordered = true;
        self.shared("sums", Type::F64, places);
        let (mut body, value) = self.sent(finish)?;
        body.out.push(Stmt::Note("In whatever order the threads come.".into()));
        body.out.push(Stmt::Do(format!("atomicAdd(sums + goes, (double)({value}))")));
        let code = self.spread(&Way::all(), body.out)?;
        self.kernel(code, Spread::Threads, elements).clears.push(("sums".into(), 0));

        self.shared("sums", Type::F64, places);
        let there = self.item(base, "o")?;
        let sign = if op == Op::Add { "+" } else { "-" };
        let line = vec![
            self.let_("adds", Type::F64, there),
            Stmt::Let {
                name: "t0".into(),
                of: Type::F64,
                is: format!("sums[o] == 0.0 ? adds : adds {sign} sums[o]"),
                node: Some(finish.node),
            },
        ];
        self.results(line)
    }

    fn in_order(&mut self, finish: &Finish, op: Op, ct: f64) -> Result<()> {
        let (base, places, elements) = (self.base(finish)?, self.places(), self.elements());
        let sorted = Sorted::places(self, elements, places)?;
        self.shared("key0", Type::U32, elements);
        self.shared("item0", Type::U32, elements);
        let (mut body, value) = self.sent(finish)?;
        if value != body.values[finish.fed[0] as usize] {
            body.out.push(Stmt::Do(value));
        }
        body.out.push(super::lower::store("key0", "i", "goes"));
        body.out.push(super::lower::store("item0", "i", "(u32)i"));
        self.kernel(vec![stride("i", "n", body.out)], Spread::Threads, elements);
        self.sort(sorted);

        self.keys_of(sorted);
        self.items_of(sorted);
        let n = self.number('m', Type::U32, elements as f64);
        let there = self.item(base, "o")?;
        let mut body = self.element(finish)?.0;
        let rounds = Rounds::once(op, ct, DType::F64);
        let mut inner = Body::new("i");
        let own = [("t0".to_string(), true), (body.values[finish.fed[0] as usize].clone(), true)];
        let extents = self.launch.domain.clone();
        self.round(
            &finish.origin(),
            &rounds,
            At { args: &own, ..At::point(&[], &extents) },
            &mut inner,
        )?;
        let mut step = vec![self.let_("i", Type::U64, format!("{}[j]", sorted.items()))];
        step.append(&mut body.out);
        step.append(&mut inner.out);
        step.push(Stmt::Set {
            name: "t0".into(),
            is: inner.values[rounds.next[0] as usize].clone(),
            node: Some(finish.node),
        });
        let lower = |of: &str| format!("radix_lower({}, {n}, {of})", sorted.keys());
        let line = vec![
            Stmt::Note("The elements that go here, in their order.".into()),
            self.let_("t0", Type::F64, there),
            self.let_("goes", Type::U64, lower("(u32)o")),
            self.let_("adds", Type::U64, lower("(u32)o + 1")),
            Stmt::For {
                name: "j".into(),
                from: "goes".into(),
                to: "adds".into(),
                step: "1".into(),
                body: step,
            },
        ];
        self.results(line)
    }
}

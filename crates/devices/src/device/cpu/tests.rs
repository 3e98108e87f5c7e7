//! The VM against the scalar meaning, on every instruction set and thread count: bit for bit, NaN
//! as a class.

mod abreast;
mod folds;
mod loops;
mod product;
mod rows;
mod scans;

use super::emit::When;
use super::{Cpu, Isa, apply};
use crate::device::{Device, DeviceError, RunCtx};
use aplomb_ground::error::Kind;
use aplomb_ground::limits::{Budget, Interrupt};
use aplomb_plans::plan::{
    BufId, Buffer, From, Launch, Load, Origin, Plan, Reduction, Step, Store, What,
};
use aplomb_values::array::{Array, Buf, DType, Data, Shape, elements};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Dag, Info, Meta, Node, NodeId, Read, Test};
use aplomb_values::prim::op::{OPS, Op};
use aplomb_values::prim::reduce;
use aplomb_values::prim::scalar::Src;
use aplomb_values::prim::scalar::{Fail, eval, eval_as};
use std::rc::Rc;
use std::sync::Arc;

const CT: f64 = 1e-14;
const SPECIAL: [f64; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    3.0,
    -2.5,
    7.0,
    1e-300,
    5e-324,
    1e5,
    -1e6,
    1e15,
    1e300,
    -1e308,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn unit(&mut self) -> f64 {
        self.roll(1 << 30) as f64 / (1u64 << 30) as f64
    }

    /// Mostly ordinary numbers; `wild`: now and then a special one.
    fn numbers(&mut self, n: usize, wild: bool) -> Vec<f64> {
        let one = |d: &mut Dice| match d.roll(if wild { 12 } else { 8 }) {
            0..3 => d.roll(20) as f64 - 8.0,
            3 => d.unit() * 2.0 - 1.0,
            4 => f64::from(d.roll(2) as u8),
            5..8 => (d.unit() - 0.3) * 100.0,
            _ => SPECIAL[d.roll(SPECIAL.len())],
        };
        (0..n).map(|_| one(self)).collect()
    }
}

fn node() -> NodeId {
    let meta = Meta { shape: Shape::new(), dtype: DType::F64, range: None, place: None };
    let info = Info { meta, site: 0, name: None, asked: false, from: Vec::new(), born: 0 };
    Dag::default().add(Node::num(0.0), info)
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// An instruction set, with or without emitted loops.
pub type Tier = (Isa, When);

/// Every tier that this machine has.
pub fn tiers() -> impl Iterator<Item = Tier> {
    Isa::available().map(|isa| (isa, When::Never)).chain([(Isa::best(), When::Always)])
}

pub fn on((isa, when): Tier, threads: usize) -> Cpu {
    Cpu::emitting(isa, threads, when)
}

/// Plans are written down here as a user of `Plan` would.
pub struct Made {
    pub plan: Plan,
    pub inputs: Vec<Array>,
    pub budget: Budget,
}

impl Made {
    pub fn new() -> Made {
        Made { plan: Plan::default(), inputs: Vec::new(), budget: Budget::new(1 << 32) }
    }

    pub fn input(&mut self, shape: &[usize], items: Vec<f64>, dtype: DType) -> BufId {
        let buffer = Buf::stored(&items, dtype, &self.budget).unwrap();
        self.inputs.push(Array::dense(shape, Arc::new(buffer)));
        self.buffer(shape, dtype, From::Input(self.inputs.len() as u32 - 1))
    }

    pub fn buffer(&mut self, shape: &[usize], dtype: DType, from: From) -> BufId {
        let shape = Shape::from_slice(shape);
        self.plan.buffers.push(Buffer {
            shape,
            dtype,
            checked: false,
            from,
            node: node(),
            last_use: None,
        });
        BufId(self.plan.buffers.len() as u32 - 1)
    }

    pub fn output(&mut self, shape: &[usize], dtype: DType) -> BufId {
        let launch = self.plan.launches.len() as u32;
        let id = self.buffer(shape, dtype, From::Launch(launch));
        self.plan.roots.push(id);
        id
    }

    pub fn run(&self, tier: Tier, threads: usize) -> Result<Vec<Vec<f64>>, DeviceError> {
        self.run_on(&mut on(tier, threads))
    }

    pub fn run_on(&self, cpu: &mut Cpu) -> Result<Vec<Vec<f64>>, DeviceError> {
        let ctx = RunCtx {
            interrupt: &Interrupt::default(),
            budget: &self.budget,
            timed: false,
            libraries: false,
            abreast: true,
        };
        Ok(cpu.run(&Rc::new(self.plan.clone()), &self.inputs, &ctx)?.iter().map(numbers).collect())
    }
}

pub fn numbers(array: &Array) -> Vec<f64> {
    match array.data() {
        Data::Num(x, _) => vec![*x],
        Data::Dense(b) => b.view().each().collect(),
        _ => Vec::new(),
    }
}

pub fn launch(domain: &[usize]) -> Launch {
    Launch {
        stage: 0,
        domain: Shape::from_slice(domain),
        kind: aplomb_plans::plan::Kind::Map,
        axis: None,
        loads: Vec::new(),
        guards: Vec::new(),
        body: Vec::new(),
        stores: Vec::new(),
        reductions: Vec::new(),
        compaction: None,
        finish: None,
        after: Vec::new(),
        after_stores: Vec::new(),
        tiling: None,
        tiles: Default::default(),
        nodes: Vec::new(),
        name: "t".into(),
    }
}

pub fn step(what: What, dtype: DType, site: u32) -> Step {
    Step::new(what, dtype, Origin { node: node(), site, guard: None })
}

pub fn op(op: Op, args: &[u32], site: u32) -> Step {
    step(What::Op { op, ct: CT, args: args.iter().copied().collect() }, DType::F64, site)
}

fn all_ops() -> Vec<Op> {
    let circles = (-12..=12).map(Op::Circle);
    OPS.iter().map(|r| r.op).filter(|o| !matches!(o, Op::Circle(_))).chain(circles).collect()
}

const SIZES: [usize; 10] = [0, 1, 3, 7, 8, 9, 1023, 1024, 1025, 70_000];

/// `x op y` by the device; the meaning element by element; least failing element.
fn check_op(cpu: &mut Cpu, o: Op, x: &[f64], y: &[f64], y_one: bool) {
    let n = x.len();
    let mut made = Made::new();
    let a = made.input(&[n], x.to_vec(), DType::F64);
    let (none, full) = ([], [n]);
    let b = made.input(
        if y_one { &none } else { &full[..] },
        if y_one { vec![y[0]] } else { y.to_vec() },
        DType::F64,
    );
    let mut l = launch(&[n]);
    l.loads.push(Load { buf: a, read: Read::identity(1) });
    l.loads.push(Load { buf: b, read: if y_one { Read::new([]) } else { Read::identity(1) } });
    l.body = vec![step(What::Load(0), DType::F64, 0), step(What::Load(1), DType::F64, 0)];
    l.body.push(if o.arity() == 2 { op(o, &[0, 1], 7) } else { op(o, &[0], 7) });
    l.stores.push(Store { value: 2, buf: made.output(&[n], DType::F64) });
    made.plan.launches.push(l);
    let wanted: Vec<_> =
        (0..n).map(|k| eval(o, CT, x[k], if y_one { y[0] } else { y[k] })).collect();
    let got = made.run_on(cpu);
    match wanted.iter().position(|w| w.is_err()) {
        Some(at) => match got {
            Err(DeviceError::Fault(f)) => {
                assert_eq!((f.site, f.index, Err(f.fail)), (7, at as u64, wanted[at]), "{o:?}");
            }
            other => panic!("{o:?}: {:?} at {at} gave {:?}", wanted[at], other.map(|_| ())),
        },
        None => {
            let got = got.unwrap_or_else(|e| panic!("{o:?}: {e:?}"));
            for k in 0..n {
                let (w, g) = (wanted[k].unwrap(), got[0][k]);
                assert!(same(w, g), "{o:?} {} {}: {w} not {g}", x[k], y[if y_one { 0 } else { k }]);
            }
        }
    }
}

#[test]
fn every_operation_is_its_scalar_meaning_on_every_instruction_set() {
    let mut dice = Dice(1);
    for tier in tiers() {
        let mut cpu = on(tier, 2);
        for o in all_ops() {
            for n in SIZES {
                let (x, y) = (dice.numbers(n, false), dice.numbers(n.max(1), false));
                // Only what succeeds, so that values are compared; then everything.
                let fine = |k: &usize| eval(o, CT, x[*k], y[*k]).is_ok();
                let keep: Vec<usize> = (0..n).filter(fine).collect();
                let pick = |v: &[f64]| keep.iter().map(|&k| v[k]).collect::<Vec<_>>();
                check_op(&mut cpu, o, &pick(&x), &pick(&y), false);
                if n == 1025 {
                    check_op(&mut cpu, o, &x, &y, false);
                    check_op(&mut cpu, o, &x, &y[..1], true);
                }
            }
            for a in SPECIAL {
                for b in SPECIAL {
                    check_op(&mut cpu, o, &[a, 1.0], &[b, 1.0], false);
                }
            }
        }
    }
}

#[test]
fn apply_is_the_scalar_meaning_or_says_no() {
    let mut dice = Dice(2);
    for isa in Isa::available() {
        for o in all_ops() {
            for n in [0, 1, 7, 8, 9, 1000] {
                let (x, y) = (dice.numbers(n, n > 8), dice.numbers(n.max(1), n > 8));
                for one in [false, true] {
                    let mut out = vec![0.0; n];
                    let second = if one { Src::One(y[0]) } else { Src::Many(&y[..n]) };
                    let fine =
                        apply::apply(isa, (o, DType::F64), CT, Src::Many(&x), second, &mut out);
                    for k in (0..n).filter(|_| fine) {
                        let w = eval(o, CT, x[k], if one { y[0] } else { y[k] }).unwrap();
                        assert!(same(w, out[k]), "{o:?} {} : {w} not {}", x[k], out[k]);
                    }
                }
            }
        }
    }
    let mut out = [0.0; 3];
    assert!(!apply::apply(
        Isa::best(),
        (Op::Div, DType::F64),
        CT,
        Src::Many(&[1.0; 3]),
        Src::Many(&[1.0, 0.0, 2.0]),
        &mut out
    ));
}

/// A random program of a few operations over inputs that may fail: devices agree with each other,
/// values with `eval`.
#[test]
fn random_programs_agree_on_every_tier_and_thread_count() {
    let mut dice = Dice(5);
    let ops = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Div,
        Op::Max,
        Op::Exp,
        Op::Ln,
        Op::Sqrt,
        Op::Lt,
        Op::Floor,
        Op::Abs,
        Op::Recip,
        Op::Pow,
        Op::Neg,
    ];
    for round in 0..400 {
        let n = [1, 9, 1000, 5000, 40_000][dice.roll(5)];
        let mut made = Made::new();
        let mut l = launch(&[n]);
        let mut values: Vec<Vec<Result<f64, ()>>> = Vec::new();
        for k in 0..2u32 {
            let items = dice.numbers(n, round % 3 == 0);
            values.push(items.iter().map(|&x| Ok(x)).collect());
            let buf = made.input(&[n], items, DType::F64);
            l.loads.push(Load { buf, read: Read::identity(1) });
            l.body.push(step(What::Load(k), DType::F64, 0));
        }
        l.body.push(step(What::Const(0.5), DType::F64, 0));
        values.push(vec![Ok(0.5); n]);
        let mut least: Option<(u32, u64, Fail)> = None;
        for site in 1..2 + dice.roll(9) as u32 {
            let o = ops[dice.roll(ops.len())];
            let (a, b) = (dice.roll(values.len()), dice.roll(values.len()));
            let args: Vec<u32> =
                if o.arity() == 2 { vec![a as u32, b as u32] } else { vec![a as u32] };
            let mut s = op(o, &args, site);
            if dice.roll(6) == 0 {
                s.dtype = DType::F32;
            }
            let mut made = Vec::with_capacity(n);
            for (k, (x, y)) in values[a].iter().zip(&values[b]).enumerate() {
                let (x, y) = (x.unwrap_or(0.0), y.unwrap_or(0.0));
                let value = eval_as(s.dtype, o, CT, x, y);
                if let Err(fail) = value
                    && least.is_none_or(|f| (site, k as u64) < (f.0, f.1))
                {
                    least = Some((site, k as u64, fail));
                }
                made.push(value.map_err(|_| ()));
            }
            values.push(made);
            l.body.push(s);
        }
        let last = values.len() as u32 - 1;
        l.stores.push(Store { value: last, buf: made.output(&[n], DType::F64) });
        if dice.roll(2) == 0 {
            l.stores.push(Store { value: last / 2, buf: made.output(&[n], DType::F64) });
        }
        made.plan.launches.push(l);
        for tier in tiers() {
            for threads in [1, 3] {
                match (made.run(tier, threads), least) {
                    (Ok(got), None) => {
                        let wanted = values[last as usize].iter().map(|v| v.unwrap());
                        assert!(got[0].iter().zip(wanted).all(|(a, b)| same(*a, b)), "{round}");
                    }
                    (Err(DeviceError::Fault(f)), Some(want)) => {
                        assert_eq!((f.site, f.index, f.fail), want, "{round}")
                    }
                    (got, want) => panic!("{round}: {:?} for {want:?}", got.map(|_| ())),
                }
            }
        }
    }
}

fn random_ix(dice: &mut Dice, domain: &[usize], extent: usize) -> Ix {
    let mut ix = Ix::constant(dice.roll(7) as i64 - 3);
    for k in 0..domain.len() {
        ix = ix.plus(&Ix::axis(k), dice.roll(5) as i64 - 2);
    }
    match dice.roll(4) {
        0 => ix.modulo(1 + dice.roll(6) as i64, domain).clamped(0, extent as i64 - 1, domain),
        1 => ix.div(1 + dice.roll(3) as i64, domain).clamped(0, extent as i64 - 1, domain),
        2 => ix.modulo(extent as i64, domain),
        _ => ix,
    }
}

#[test]
fn random_reads_follow_their_index_expressions() {
    let mut dice = Dice(11);
    let dtypes =
        [DType::Bool, DType::I8, DType::I16, DType::I32, DType::F32, DType::F64, DType::Char];
    for _ in 0..1500 {
        let rank = dice.roll(4);
        let domain: Vec<usize> =
            (0..rank).map(|_| dice.roll(9) + usize::from(dice.roll(20) > 0)).collect();
        let source: Vec<usize> = (0..1 + dice.roll(2)).map(|_| 1 + dice.roll(400)).collect();
        let dtype = dtypes[dice.roll(dtypes.len())];
        let count = elements(&source);
        let items: Vec<f64> =
            (0..count).map(|k| (k % if dtype == DType::Bool { 2 } else { 100 }) as f64).collect();
        let mut read = Read::new(source.iter().map(|&n| random_ix(&mut dice, &domain, n)));
        for (k, &n) in source.iter().enumerate() {
            let (lo, hi) = read.ix[k].range(&domain);
            if lo < 0 || hi >= n as i64 {
                read.tests.push(Test {
                    ix: read.ix[k].clone(),
                    lo: 0,
                    hi: n as i64,
                    fill: k as f64,
                });
            }
        }
        let mut made = Made::new();
        let buf = made.input(&source, items.clone(), dtype);
        let mut l = launch(&domain);
        l.loads.push(Load { buf, read: read.clone() });
        l.body = vec![
            step(What::Load(0), dtype, 0),
            step(What::Const(1.0), DType::F64, 0),
            op(Op::Add, &[0, 1], 1),
        ];
        l.stores.push(Store { value: 2, buf: made.output(&domain, DType::F64) });
        made.plan.launches.push(l);
        let total = elements(&domain);
        let mut wanted = Vec::new();
        for flat in 0..total {
            let mut place = vec![0; rank];
            let mut rest = flat;
            for k in (0..rank).rev() {
                (place[k], rest) = (rest % domain[k], rest / domain[k]);
            }
            let failed = read.tests.iter().find(|t| !(t.lo..t.hi).contains(&t.ix.at(&place)));
            let value = failed.map(|t| t.fill).unwrap_or_else(|| {
                let at = read
                    .ix
                    .iter()
                    .zip(&source)
                    .fold(0, |at, (ix, &n)| at * n as i64 + ix.at(&place));
                items[at as usize]
            });
            wanted.push(value + 1.0);
        }
        for tier in tiers() {
            assert_eq!(
                made.run(tier, 1).unwrap()[0],
                wanted,
                "{domain:?} {source:?} {}",
                read.text(rank)
            );
        }
    }
}

fn fold_plan(o: Op, dtype: DType, domain: &[usize], axis: usize, items: &[f64]) -> Made {
    let mut made = Made::new();
    let buf = made.input(domain, items.to_vec(), DType::F64);
    let mut l = launch(domain);
    (l.axis, l.kind) = (Some(axis), aplomb_plans::plan::Kind::Reduce);
    let outer = l.outer();
    l.loads.push(Load { buf, read: Read::identity(domain.len()) });
    l.body = vec![step(What::Load(0), DType::F64, 0), op(Op::Neg, &[0], 1), op(Op::Neg, &[1], 2)];
    l.stores.push(Store { value: 1, buf: made.output(domain, DType::F64) });
    l.reductions.push(Reduction { op: o, value: 2, node: node(), dtype, site: 3 });
    l.reductions.push(Reduction {
        op: Op::Max,
        value: 1,
        node: node(),
        dtype: DType::F64,
        site: 4,
    });
    l.after = vec![
        step(What::Reduced(0), dtype, 0),
        step(What::Reduced(1), DType::F64, 0),
        step(What::Const(2.0), DType::F64, 0),
        op(Op::Max, &[1, 2], 5),
    ];
    l.after_stores.push(Store { value: 0, buf: made.output(&outer, DType::F64) });
    l.after_stores.push(Store { value: 3, buf: made.output(&outer, DType::F64) });
    made.plan.launches.push(l);
    made
}

#[test]
fn folds_are_the_stated_tree_on_every_tier_and_thread_count() {
    let mut dice = Dice(17);
    let shapes: [(&[usize], usize); 20] = [
        (&[0], 0),
        (&[1], 0),
        (&[63], 0),
        (&[64], 0),
        (&[65], 0),
        (&[1000], 0),
        (&[1025], 0),
        (&[65_536], 0),
        (&[65_537 + 1030], 0),
        (&[300_000], 0),
        (&[40, 3], 1),
        (&[5000, 3], 0),
        (&[7, 2000], 1),
        (&[300, 1500], 0),
        (&[300, 5000], 0),
        (&[700, 5, 9], 1),
        (&[3, 0, 4], 1),
        (&[3, 0, 4], 0),
        (&[2, 600, 33], 1),
        (&[9, 1, 1], 1),
    ];
    for o in [Op::Add, Op::Mul, Op::Max, Op::Min, Op::Sub, Op::Gcd, Op::Div, Op::Lt] {
        for (domain, axis) in shapes {
            let n = elements(domain);
            let whole = matches!(o, Op::Gcd);
            let items: Vec<f64> = (0..n)
                .map(|_| {
                    if whole {
                        dice.roll(50) as f64 * 2.0
                    } else {
                        1.0 + (dice.unit() - 0.5) * 1e-2
                    }
                })
                .collect();
            let made = fold_plan(o, DType::F64, domain, axis, &items);
            let ct = if o == Op::Lt { 0.0 } else { CT };
            let wanted = reduce::along(o, ct, &items, domain, axis, DType::F64);
            let negated: Vec<f64> = items.iter().map(|x| 0.0 - x).collect();
            let most = reduce::along(Op::Max, CT, &negated, domain, axis, DType::F64).unwrap();
            for tier in tiers() {
                for threads in [1, 2, 3] {
                    match (made.run(tier, threads), &wanted) {
                        (Ok(got), Ok(wanted)) => {
                            assert!(got[1].len() == wanted.len());
                            let agree = got[1].iter().zip(wanted).all(|(a, b)| same(*a, *b));
                            assert!(agree, "{o:?} {domain:?} {axis} {tier:?}");
                            assert_eq!(got[0], negated);
                            assert!(got[2].iter().zip(&most).all(|(a, b)| *a == b.max(2.0)));
                        }
                        (Err(DeviceError::Fault(f)), Err((at, fail))) => {
                            assert_eq!((f.index, f.fail, f.site), (*at as u64, *fail, 3));
                        }
                        (got, _) => {
                            panic!("{o:?} {domain:?}: {:?} for {wanted:?}", got.map(|_| ()))
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_sum_that_overflows_fails_and_infinity_from_a_file_does_not() {
    for (domain, axis) in [(&[3000][..], 0), (&[4, 1500], 1), (&[1500, 4], 0), (&[600, 10], 1)] {
        let n = elements(domain);
        let mut items = vec![1.0; n];
        items[n / 2] = f64::INFINITY;
        for tier in tiers() {
            let got = fold_plan(Op::Add, DType::F64, domain, axis, &items).run(tier, 2).unwrap();
            assert!(got[1].contains(&f64::INFINITY));
            let big = vec![f64::MAX / 2.0; n];
            let got = fold_plan(Op::Add, DType::F64, domain, axis, &big).run(tier, 2);
            let Err(DeviceError::Fault(f)) = got else { panic!("no fault") };
            assert_eq!((f.site, f.index, f.fail), (3, 0, Fail::Overflow));
        }
    }
}

/// 1e308+1e308 is ∞, and each of these would hide it.
#[test]
fn an_overflow_fails_though_a_later_operation_would_hide_it() {
    let hides: [(Op, &[u32]); 7] = [
        (Op::Min, &[2, 0]),
        (Op::Lt, &[2, 0]),
        (Op::Div, &[0, 2]),
        (Op::Recip, &[2]),
        (Op::Exp, &[3]),
        (Op::Residue, &[2, 0]),
        (Op::Sign, &[2]),
    ];
    for tier in tiers() {
        for (o, args) in hides {
            for (fold, stored) in [(None, true), (Some(Op::Min), true), (None, false)] {
                let mut items = vec![1.0; 3000];
                items[1500] = 1e308;
                let mut made = Made::new();
                let buf = made.input(&[3000], items, DType::F64);
                let mut l = launch(&[3000]);
                l.loads.push(Load { buf, read: Read::identity(1) });
                l.body = vec![step(What::Load(0), DType::F64, 0), op(Op::Add, &[0, 0], 1)];
                l.body.extend([op(Op::Abs, &[1], 2), op(Op::Neg, &[2], 3), op(o, args, 4)]);
                if let Some(fold) = fold {
                    // The sum itself goes into a fold that would hide it.
                    (l.axis, l.kind) = (Some(0), aplomb_plans::plan::Kind::Reduce);
                    l.reductions.push(Reduction {
                        op: fold,
                        value: 1,
                        node: node(),
                        dtype: DType::F64,
                        site: 5,
                    });
                    l.after = vec![step(What::Reduced(0), DType::F64, 0)];
                    l.after_stores.push(Store { value: 0, buf: made.output(&[], DType::F64) });
                } else if stored {
                    l.stores.push(Store { value: 4, buf: made.output(&[3000], DType::F64) });
                }
                made.plan.launches.push(l);
                let Err(DeviceError::Fault(f)) = made.run(tier, 2) else {
                    panic!("{o:?} {fold:?}: no fault")
                };
                assert_eq!((f.site, f.index, f.fail), (1, 1500, Fail::Overflow), "{o:?}");
            }
        }
    }
}

#[test]
fn an_integer_that_does_not_fit_makes_its_buffer_f64() {
    for (factor, fits) in [(2.0, true), (1e9, false), (0.5, false)] {
        let items: Vec<f64> = (0..5000).map(f64::from).collect();
        let mut made = Made::new();
        let buf = made.input(&[5000], items.clone(), DType::I32);
        let mut l = launch(&[5000]);
        l.loads.push(Load { buf, read: Read::identity(1) });
        l.body = vec![step(What::Load(0), DType::I32, 0), step(What::Const(factor), DType::F64, 0)];
        l.body.push(step(
            What::Op { op: Op::Mul, ct: 0.0, args: [0, 1].into_iter().collect() },
            DType::I32,
            1,
        ));
        let out = made.output(&[5000], DType::I32);
        made.plan.buffers[out.0 as usize].checked = true;
        l.stores.push(Store { value: 2, buf: out });
        made.plan.launches.push(l);
        // A second launch reads what the first one made, whatever it became.
        let mut l = launch(&[5000]);
        l.loads.push(Load { buf: out, read: Read::identity(1) });
        l.body = vec![step(What::Load(0), DType::I32, 0), op(Op::Neg, &[0], 2)];
        l.stores.push(Store { value: 1, buf: made.output(&[5000], DType::F64) });
        made.plan.launches.push(l);
        let mut cpu = Cpu::with(Isa::best(), 2);
        let ctx = RunCtx {
            interrupt: &Interrupt::default(),
            budget: &made.budget,
            timed: false,
            libraries: false,
            abreast: true,
        };
        let got = cpu.run(&Rc::new(made.plan.clone()), &made.inputs, &ctx).unwrap();
        assert_eq!(got[0].dtype(), if fits { DType::I32 } else { DType::F64 });
        assert_eq!(cpu.stats()[0].runs, if fits { 1 } else { 2 });
        assert_eq!(numbers(&got[0]), items.iter().map(|x| x * factor).collect::<Vec<_>>());
        assert_eq!(numbers(&got[1]), items.iter().map(|x| 0.0 - x * factor).collect::<Vec<_>>());
    }
}

#[test]
fn a_guarded_step_fails_only_where_it_is_wanted() {
    let tests = vec![Test { ix: Ix::axis(0), lo: 10, hi: 4000, fill: -1.0 }];
    for (zero_at, fails) in [(5, false), (2000, true), (4500, false)] {
        let mut items = vec![2.0; 5000];
        items[zero_at] = 0.0;
        let mut made = Made::new();
        let buf = made.input(&[5000], items.clone(), DType::F64);
        let mut l = launch(&[5000]);
        l.guards.push(tests.clone());
        l.loads.push(Load { buf, read: Read { tests: tests.clone(), ..Read::identity(1) } });
        let mut recip = op(Op::Recip, &[0], 4);
        recip.from.guard = Some(0);
        let mut never = op(Op::Recip, &[1], 9);
        never.from.guard = Some(0);
        l.body = vec![
            step(What::Load(0), DType::F64, 0),
            step(What::Const(4.0), DType::F64, 0),
            recip,
            never,
        ];
        l.body.push(step(What::Guard { tests: 0, value: 2 }, DType::F64, 5));
        l.stores.push(Store { value: 4, buf: made.output(&[5000], DType::F64) });
        made.plan.launches.push(l);
        match made.run((Isa::best(), When::Always), 2) {
            Ok(got) => {
                assert!(!fails);
                let wanted = (0..5000).map(|k| if (10..4000).contains(&k) { 0.5 } else { -1.0 });
                assert!(got[0].iter().copied().eq(wanted));
            }
            Err(DeviceError::Fault(f)) => {
                assert!(fails && f.site == 4 && f.index == zero_at as u64)
            }
            Err(e) => panic!("{e:?}"),
        }
    }
}

#[test]
fn the_smallest_site_is_the_error_even_in_a_later_launch() {
    let mut made = Made::new();
    let buf = made.input(&[10], vec![0.0; 10], DType::F64);
    for site in [8, 3, 9] {
        let mut l = launch(&[10]);
        l.loads.push(Load { buf, read: Read::identity(1) });
        l.body = vec![step(What::Load(0), DType::F64, 0), op(Op::Recip, &[0], site)];
        l.body[0].from.site = u32::MAX;
        l.stores.push(Store { value: 1, buf: made.output(&[10], DType::F64) });
        made.plan.launches.push(l);
    }
    let mut cpu = Cpu::with(Isa::best(), 1);
    let Err(DeviceError::Fault(f)) = made.run_on(&mut cpu) else { panic!("no fault") };
    assert_eq!((f.site, f.index), (3, 0));
    assert_eq!(cpu.stats().len(), 2);
}

#[test]
fn an_interrupt_and_a_small_budget_stop_a_run() {
    let made = fold_plan(Op::Add, DType::F64, &[100_000], 0, &vec![1.0; 100_000]);
    let interrupt = Interrupt::default();
    let mut cpu = Cpu::with(Isa::best(), 2);
    interrupt.set();
    let ctx = RunCtx {
        interrupt: &interrupt,
        budget: &made.budget,
        timed: false,
        libraries: false,
        abreast: true,
    };
    assert_eq!(
        cpu.run(&Rc::new(made.plan.clone()), &made.inputs, &ctx).err(),
        Some(DeviceError::Interrupted)
    );
    interrupt.clear();
    let small = Budget::new(100_000);
    let ctx = RunCtx {
        interrupt: &interrupt,
        budget: &small,
        timed: false,
        libraries: false,
        abreast: true,
    };
    let Err(DeviceError::Oom(e)) = cpu.run(&Rc::new(made.plan.clone()), &made.inputs, &ctx) else {
        panic!("no error")
    };
    assert_eq!(e.kind(), Kind::WsFull);
    assert_eq!(small.used(), 0);
    let used = made.budget.used();
    assert!(made.run_on(&mut cpu).is_ok());
    assert_eq!(made.budget.used(), used);
}

#[test]
fn a_plan_that_reads_outside_is_an_error_not_a_crash() {
    let mut made = Made::new();
    let buf = made.input(&[10], vec![1.0; 10], DType::F64);
    let mut l = launch(&[20]);
    l.loads.push(Load { buf, read: Read::identity(1) });
    l.body = vec![step(What::Load(0), DType::F64, 0)];
    l.stores.push(Store { value: 0, buf: made.output(&[20], DType::F64) });
    made.plan.launches.push(l);
    assert!(matches!(made.run((Isa::best(), When::Always), 1), Err(DeviceError::Broken(_))));
}

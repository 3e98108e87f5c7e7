//! A launch becomes a kernel: its loop, its index arithmetic, its body, its fold.
//!
//! Rows: ACC-06, ACC-16, BAR-11. Here: maps (grid-stride), and the body, which all forms share;
//! `form` says which form a launch has, `fold`, `places` and `whole` are the others. Values are
//! double, or float where the node is f32; storage types convert at loads and stores. Overflow is
//! tested where a value is stored or would be hidden, not at every operation.

use super::fast::{self, Fast, narrowed};
use super::form::Form;
use super::ops::{self, Speed};
use super::regions::{self, Inside};
use super::scan::Shape;
use super::vector::{self, Way};
use super::{
    Bound, Choices, Code, Expr, Kernel, Param, ParamKind, Scratch, Spread, Stmt, Tuning, Type,
};
use super::{fold, index, product};
use crate::plan::{BufId, Launch, Load, Origin, Plan, Step, ValueId, What, round};
use aplomb_ground::error::{Result, bug, nonce};
use aplomb_values::array::DType;
use aplomb_values::body::Rounds;
use aplomb_values::dag::ix::linear;
use aplomb_values::dag::{Along, NodeId, Read};
use aplomb_values::prim::op::{Fails, Op};
use std::collections::BTreeMap;

const THREADS: u32 = super::THREADS;

pub fn lower(plan: &Plan, launch: &Launch, number: usize, tuning: Tuning) -> Result<Code> {
    fold::foldable(launch)?;
    let narrow = index::is_narrow(plan, launch);
    let inside = regions::inside(plan, launch);
    let mut k = Lowering::new(plan, launch, number, tuning, narrow);
    k.inside = inside.as_ref();
    let outer = launch.outer();
    let count = |shape: &[usize]| shape.iter().map(|n| *n as u64).product::<u64>();
    let axis = || launch.axis.ok_or_else(|| bug!("a form along no axis"));
    let (body, spread, points) = match Form::of(plan, launch) {
        Form::Whole | Form::ThreadSegments | Form::WarpSegments | Form::MergedSegments => {
            k.whole()?;
            return Ok(k.done());
        }
        Form::Boxes => {
            let (body, boxes) = k.tiled()?;
            (body, Spread::Blocks, boxes)
        }
        Form::Map => k.map(count(&launch.domain))?,
        Form::Scan => k.scan(axis()?)?,
        Form::Compact => k.compact(axis()?)?,
        Form::Tiles | Form::Pairs => {
            let product = product::Tiled::of(launch).ok_or_else(|| bug!("tiles of no product"))?;
            k.fold_tiles(&product)?
        }
        Form::All => (k.fold_all()?, Spread::Threads, count(&launch.domain)),
        Form::Strips => k.fold_strips(axis()?)?,
        Form::Parts => k.fold_long_rows()?,
        Form::Warps => (k.fold_rows(&outer, Spread::Warps)?, Spread::Warps, count(&outer)),
        Form::Blocks => (k.fold_rows(&outer, Spread::Blocks)?, Spread::Blocks, count(&outer)),
        Form::Staged => k.fold_staged()?,
        Form::Threads => (k.fold_columns(axis()?)?, Spread::Threads, count(&outer)),
    };
    k.kernel(body, spread, points);
    Ok(k.done())
}

/// The launch's failing sites in evaluation order.
fn sites(launch: &Launch) -> Vec<u32> {
    let mut all: Vec<u32> = launch.sites().collect();
    all.sort();
    all.dedup();
    all
}

pub(super) struct Lowering<'a> {
    pub(super) plan: &'a Plan,
    pub(super) launch: &'a Launch,
    /// The points at which its text tests nothing.
    pub(super) inside: Option<&'a Inside>,
    number: usize,
    /// Of the kernel that is being lowered.
    pub(super) params: Vec<Param>,
    pub(super) sites: Vec<u32>,
    pub(super) variables: usize,
    pub(super) checked: Vec<BufId>,
    /// Indices are i32.
    pub(super) narrow: bool,
    /// The code holds for all extents: nothing in it may follow from how large they are.
    pub(super) any_extents: bool,
    pub(super) bounds: Vec<Bound>,
    pub(super) tuning: Tuning,
    /// Points that a thread takes at a time.
    pub(super) items: u32,
    /// Of a block.
    pub(super) threads: u32,
    /// The other settings that they and the text could have.
    pub(super) choices: Choices,
    /// The parts of the launch that are computed otherwise than on the CPU.
    pub(super) fast: Fast,
    pub(super) unordered: bool,
    /// By load: where a tile has it.
    pub(super) tiled_loads: BTreeMap<u32, Expr>,
    kernels: Vec<Kernel>,
    pub(super) scratch: Vec<Scratch>,
}

/// A list of steps being lowered: what each value is called and which may be infinite.
pub(super) struct Body {
    pub(super) out: Vec<Stmt>,
    pub(super) values: Vec<Expr>,
    pub(super) loose: Vec<bool>,
    /// Values that are loops, and what the names of their states begin with.
    pub(super) loops: Vec<(ValueId, usize)>,
    /// The element's number, for failures.
    pub(super) index: &'static str,
}

/// The point at which steps run: names and extents of its axes, and what the folds before them
/// gave.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) axes: &'a [String],
    pub(super) extents: &'a [usize],
    pub(super) reduced: &'a [String],
    /// The arguments of a loop or fold, and whether each may be infinite.
    pub(super) args: &'a [(Expr, bool)],
}

impl<'a> At<'a> {
    /// No fold is before them.
    pub(super) fn point(axes: &'a [String], extents: &'a [usize]) -> At<'a> {
        At { axes, extents, reduced: &[], args: &[] }
    }
}

/// Places that values tell, each along an axis; `bad` is what one beyond it is.
pub(super) struct Spots<'a> {
    pub(super) along: &'a [Along],
    pub(super) places: &'a [String],
    pub(super) origin: f64,
    pub(super) bad: &'a str,
}

/// The values that a list of stores writes.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Body,
    After,
    /// Body values of the places that a mask keeps.
    Kept,
}

impl<'a> Lowering<'a> {
    /// Nothing yet but the launch's buffers; `narrow`: indices are i32.
    pub(super) fn new(
        plan: &'a Plan,
        launch: &'a Launch,
        number: usize,
        tuning: Tuning,
        narrow: bool,
    ) -> Lowering<'a> {
        let mut k = Lowering {
            plan,
            launch,
            inside: None,
            number,
            params: Vec::new(),
            sites: sites(launch),
            variables: 0,
            checked: Vec::new(),
            narrow,
            any_extents: false,
            bounds: Vec::new(),
            tuning,
            items: 1,
            threads: THREADS,
            choices: Choices::default(),
            fast: fast::begun(plan.math, launch),
            unordered: false,
            tiled_loads: BTreeMap::new(),
            kernels: Vec::new(),
            scratch: Vec::new(),
        };
        k.buffers();
        k
    }
}

impl Lowering<'_> {
    pub(super) fn done(self) -> Code {
        let Lowering { kernels, scratch, sites, checked, fast, unordered, bounds, .. } = self;
        Code { kernels, scratch, sites, checked, fast, unordered, bounds }
    }

    /// The kernel of a body, after those before it; the next one begins with no parameters but the
    /// buffers.
    pub(super) fn kernel(&mut self, body: Vec<Stmt>, spread: Spread, points: u64) -> &mut Kernel {
        let has = |name: &str| self.params.iter().any(|p| p.name == name);
        let (own, counted) = (has("part"), has("ticket"));
        let shared = counted || has("tickets");
        let wanted = |name: &str| match name {
            "first" => counted,
            "parts" => own,
            _ => true,
        };
        let all = [("lo", Type::U64), ("n", Type::U64), ("first", Type::U32), ("parts", Type::U32)];
        for (name, of) in all.into_iter().filter(|(name, _)| wanted(name)) {
            self.params.push(Param { name: name.into(), what: ParamKind::Launch(of) });
        }
        self.params.push(Param { name: "err".into(), what: ParamKind::Scratch(Type::U64) });
        let partials = if shared { self.launch.reductions.len() as u32 } else { 0 };
        let name = match self.kernels.len() {
            0 => format!("k{}", self.number),
            later => format!("k{}_{later}", self.number),
        };
        let params = std::mem::take(&mut self.params);
        self.begin();
        let at = self.kernels.len();
        let (clears, items, choices) =
            (Vec::new(), std::mem::replace(&mut self.items, 1), std::mem::take(&mut self.choices));
        let threads = std::mem::replace(&mut self.threads, THREADS);
        self.kernels.push(Kernel {
            name,
            params,
            body,
            threads,
            spread,
            items,
            choices,
            points,
            partials,
            clears,
        });
        &mut self.kernels[at]
    }

    /// A new kernel: what was lowered and put nowhere is forgotten.
    pub(super) fn begin(&mut self) {
        self.variables = 0;
        self.params.clear();
        self.buffers();
    }

    /// Memory that the launch's kernels share, as a parameter of this one; the first that names it
    /// says how large it is.
    pub(super) fn shared(&mut self, name: &str, of: Type, items: u64) {
        if !self.scratch.iter().any(|s| s.name == name) {
            self.scratch.push(Scratch {
                name: name.into(),
                bytes: items.saturating_mul(u64::from(of.bytes())),
            });
        }
        if !self.params.iter().any(|p| p.name == name) {
            self.params.push(Param { name: name.into(), what: ParamKind::Scratch(of) });
        }
    }

    pub(super) fn storage(&self, at: BufId) -> Type {
        storage(self.plan.buffer(at).dtype)
    }

    /// An item of a buffer that is read.
    pub(super) fn item(&self, at: BufId, place: &str) -> Result<Expr> {
        let name = self.buffer(at, false)?;
        Ok(match self.storage(at) {
            Type::F64 | Type::F32 => format!("{name}[{place}]"),
            _ => format!("(double){name}[{place}]"),
        })
    }

    fn buffers(&mut self) {
        let mut seen: Vec<BufId> = Vec::new();
        for load in &self.launch.loads {
            if !seen.contains(&load.buf) {
                let of = storage(self.plan.buffer(load.buf).dtype);
                let name = format!("a{}", seen.len());
                self.params.push(Param { name, what: ParamKind::In(of, load.buf.0) });
                seen.push(load.buf);
            }
        }
        for (k, store) in self.launch.stores.iter().chain(&self.launch.after_stores).enumerate() {
            let of = storage(self.plan.buffer(store.buf).dtype);
            self.params
                .push(Param { name: format!("r{k}"), what: ParamKind::Out(of, store.buf.0) });
        }
    }

    pub(super) fn buffer(&self, at: BufId, out: bool) -> Result<&str> {
        let found = self.params.iter().find(|p| match p.what {
            ParamKind::In(_, b) => !out && b == at.0,
            ParamKind::Out(_, b) => out && b == at.0,
            _ => false,
        });
        found.map(|p| p.name.as_str()).ok_or_else(|| bug!("a buffer without a parameter"))
    }

    /// A new number parameter. Equal numbers are not one parameter: the text must not depend on
    /// which are equal.
    pub(super) fn number(&mut self, kind: char, of: Type, value: f64) -> String {
        let mine = |p: &&Param| matches!(p.what, ParamKind::Number(..)) && p.name.starts_with(kind);
        let name = format!("{kind}{}", self.params.iter().filter(mine).count());
        self.params.push(Param { name: name.clone(), what: ParamKind::Number(of, value) });
        name
    }

    pub(super) fn map(&mut self, points: u64) -> Result<Shape> {
        let mut body = Vec::new();
        let axes = self.axes(&self.launch.domain.clone(), "i", &mut body);
        let inner = self.is_inside(|k| (axes[k].clone(), axes[k].clone()));
        body.extend(inner);
        body.append(&mut self.by_region(&axes)?);
        let items = vector::choices(self.launch, &self.params, &body);
        let threads =
            if items.is_empty() { Vec::new() } else { vec![THREADS / 2, THREADS, 2 * THREADS] };
        self.choices = Choices { items, threads, persistent: self.has_loop(), tiles: None };
        if self.tuning.persistent && self.choices.persistent {
            return Ok(self.persistent(body, points));
        }
        self.threads = Some(self.tuning.threads)
            .filter(|n| self.choices.threads.contains(n))
            .unwrap_or(THREADS);
        Ok((self.spread(&Way::all(), body)?, Spread::Threads, points))
    }

    pub(super) fn after(
        &mut self,
        reduced: &[String],
        at: &str,
        axes: &[String],
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let mut body = Body::new(if at == "o" { "o" } else { "0" });
        let outer = self.launch.outer();
        self.steps(&self.launch.after, At { reduced, ..At::point(axes, &outer) }, &mut body)?;
        self.stores(Part::After, at, &mut body)?;
        out.append(&mut body.out);
        Ok(())
    }

    pub(super) fn steps(&mut self, steps: &[Step], at: At, body: &mut Body) -> Result<()> {
        steps.iter().try_for_each(|step| self.step(step, steps, at, body))
    }

    /// One of the steps; those before it have their values in the body.
    pub(super) fn step(
        &mut self,
        step: &Step,
        steps: &[Step],
        at: At,
        body: &mut Body,
    ) -> Result<()> {
        let At { axes, reduced, .. } = at;
        let pending = |v: ValueId| body.loose[v as usize];
        // A text of an operation that fails on some values looks at its result itself.
        let own = step.is_pending(|op| op.row().fails == Fails::Overflow, pending);
        // Nobody has looked at what a fold gave.
        let loose = own || matches!(step.what, What::Reduced(_));
        let text = match &step.what {
            What::Arg(k) => {
                let (name, loose) =
                    at.args.get(*k as usize).ok_or_else(|| bug!("an argument of nothing"))?;
                body.values.push(name.clone());
                body.loose.push(*loose);
                return Ok(());
            }
            What::Const(x) => {
                let name = self.number('p', Type::F64, *x);
                body.values.push(name);
                body.loose.push(false);
                return Ok(());
            }
            What::Load(l) if self.tiled_loads.contains_key(l) => self.tiled_item(*l, axes)?,
            What::Load(l) => {
                let load = self.launch.loads[*l as usize].clone();
                self.load(&load, at, body)?
            }
            What::Index { ix, origin } => {
                let origin = self.number('p', Type::F64, *origin);
                format!("{origin} + (double)({})", self.index(ix, axes)?)
            }
            What::Reduced(k) => reduced[*k as usize].clone(),
            What::Guard { tests, value } => {
                let value = body.values[*value as usize].clone();
                let tests = self.launch.guards[*tests as usize].clone();
                self.guarded(&tests, value, axes)?
            }
            What::Part { tests, yes, no } => {
                let tests = self.launch.guards[*tests as usize].clone();
                let holds = self.holds(&tests, axes)?;
                let (yes, no) = (&body.values[*yes as usize], &body.values[*no as usize]);
                format!("({holds} ? {yes} : {no})")
            }
            What::Select { cond, yes, no } => {
                let of = |v: &ValueId| self.taken(step, *v, steps, body);
                format!("({} != 0.0 ? {} : {})", of(cond)?, of(yes)?, of(no)?)
            }
            What::Loop { args, body: rounds, result } => {
                self.rounds(step, args, (rounds, *result), at, body)?
            }
            What::State { of, result } => {
                let id = body.loops.iter().find(|(v, _)| v == of).map(|(_, id)| *id);
                let id = id.ok_or_else(|| bug!("a state of no loop"))?;
                format!("s{id}_{result}")
            }
            What::Gather { load, along, places, origin } => {
                let load = self.launch.loads[*load as usize].clone();
                let bad = self.bad(step.from.site, body.index)?;
                let places: Vec<String> =
                    places.iter().map(|v| body.values[*v as usize].clone()).collect();
                let spots = Spots { along, places: &places, origin: *origin, bad: &bad };
                self.gather(&load, &spots, at)?
            }
            What::Op { op, ct, args } => self.operation(step, *op, *ct, args, steps, body)?,
        };
        let text = self.where_wanted(step, text, axes)?;
        let name = format!("v{}", self.variables);
        self.variables += 1;
        let is_float = step.dtype == DType::F32;
        let text = if is_float { format!("(float)({text})") } else { text };
        let of = if is_float { Type::F32 } else { Type::F64 };
        body.out.push(Stmt::Let { name: name.clone(), of, is: text, node: Some(step.from.node) });
        body.values.push(name);
        body.loose.push(loose);
        Ok(())
    }

    /// A value that fails nowhere but where the step counts.
    fn where_wanted(&mut self, step: &Step, text: Expr, axes: &[String]) -> Result<Expr> {
        if !text.contains("Bad{") {
            return Ok(text);
        }
        Ok(match self.counts_where(step, axes)? {
            Some(holds) => format!("({holds} ? {text} : 0.0)"),
            None => text,
        })
    }

    /// The condition under which a step counts; None: everywhere.
    fn counts_where(&mut self, step: &Step, axes: &[String]) -> Result<Option<Expr>> {
        let tests = step.from.guard.map(|g| self.launch.guards[g as usize].clone());
        tests.map(|tests| self.holds(&tests, axes)).transpose()
    }

    fn operation(
        &mut self,
        step: &Step,
        op: Op,
        ct: f64,
        args: &[ValueId],
        steps: &[Step],
        body: &Body,
    ) -> Result<Expr> {
        let row = op.row();
        let bad = self.bad(step.from.site, body.index)?;
        let types = || args.iter().map(|a| steps[*a as usize].dtype);
        let exact =
            ct == 0.0 || types().any(|d| d.is_integer() || d == DType::F32 || d == DType::Char);
        let logic = types().all(|d| d == DType::Bool);
        let ct =
            if row.tolerant && !exact { self.number('p', Type::F64, ct) } else { "0.0".into() };
        let speed = self.speed(op, step, args, steps);
        let arg = |k: usize| match args.get(k) {
            // A monadic operation's text has no second argument.
            None => Ok(String::new()),
            Some(at) => {
                let own = self.taken(step, *at, steps, body)?;
                let narrow = match speed {
                    Speed::Single => true,
                    Speed::Short => op != Op::Pow,
                    Speed::Ours | Speed::Double => false,
                };
                Ok(if narrow { narrowed(own, &steps[*at as usize]) } else { own })
            }
        };
        ops::text(op, &arg(0)?, &arg(1)?, &ct, &bad, ops::Wanted { exact, logic, speed })
            .ok_or_else(|| nonce(format!("{} on CUDA", op.glyph())))
    }

    /// A value as a step takes it: looked at where the step would hide ∞.
    fn taken(&self, step: &Step, at: ValueId, steps: &[Step], body: &Body) -> Result<Expr> {
        if step.what.looked_at().contains(&at) {
            return self.sure(at, steps, body);
        }
        Ok(body.values[at as usize].clone())
    }

    /// A value before something that would hide ∞ in it; the failure is the step's that made it.
    pub(super) fn sure(&self, at: ValueId, steps: &[Step], body: &Body) -> Result<Expr> {
        let name = body.values[at as usize].clone();
        if !body.loose[at as usize] {
            return Ok(name);
        }
        Ok(format!("sure({name}, {})", self.bad(site_of(steps, at)?, body.index)?))
    }

    pub(super) fn bad(&self, site: u32, index: &str) -> Result<String> {
        let place = self.sites.iter().position(|s| *s == site);
        let place = place.ok_or_else(|| bug!("site {site} is none of the launch's"))?;
        Ok(format!("Bad{{err, {place}, {index}}}"))
    }

    pub(super) fn stores(&mut self, part: Part, at: &str, body: &mut Body) -> Result<()> {
        let launch = self.launch;
        let (stores, steps) = match part {
            Part::Body => (&launch.stores, &launch.body),
            Part::After => (&launch.after_stores, &launch.after),
            Part::Kept => (&launch.after_stores, &launch.body),
        };
        for s in stores {
            let buffer = self.plan.buffer(s.buf);
            let to = self.buffer(s.buf, true)?.to_string();
            let value = body.values[s.value as usize].clone();
            let of = storage(buffer.dtype);
            let range =
                buffer.dtype.range().filter(|_| buffer.checked && buffer.dtype.is_integer());
            let value = match range {
                // What is infinite does not fit either: the launch that runs again finds it.
                Some((lo, hi)) => {
                    let bit = 1u64 << self.checked.len();
                    self.checked.push(s.buf);
                    format!("fits({value}, {lo:?}, {hi:?}, err, {bit}ull)")
                }
                None if body.loose[s.value as usize] => self.sure(s.value, steps, body)?,
                None => value,
            };
            let is = if of == Type::F64 { value } else { format!("({})({value})", of.cuda()) };
            body.out.push(Stmt::Store { to, at: at.into(), is, node: Some(buffer.node) });
        }
        Ok(())
    }

    fn load(&mut self, load: &Load, at: At, body: &mut Body) -> Result<Expr> {
        let At { axes, extents, .. } = at;
        let buffer = self.plan.buffer(load.buf);
        let name = self.buffer(load.buf, false)?.to_string();
        // Whatever their axes, places that are the points' own need no arithmetic.
        let own = linear(&Read::identity(extents.len()).ix, extents, extents);
        let whole =
            load.read.tests.is_empty() && linear(&load.read.ix, &buffer.shape, extents) == own;
        let place = if whole && !extents.is_empty() && body.index != "0" {
            body.index.into()
        } else {
            self.offset(&load.read, &buffer.shape, axes, extents)?
        };
        let item = self.packed(load, extents, body).unwrap_or_else(|| format!("{name}[{place}]"));
        let text = match storage(buffer.dtype) {
            Type::F64 | Type::F32 => item,
            _ => format!("(double){item}"),
        };
        self.guarded(&load.read.tests, text, axes)
    }

    /// Rounds as a loop of its own in the thread; the name of the state that is wanted.
    fn rounds(
        &mut self,
        step: &Step,
        args: &[ValueId],
        (rounds, result): (&Rounds, u8),
        at: At,
        body: &mut Body,
    ) -> Result<Expr> {
        let bad = self.bad(step.from.site, body.index)?;
        let sure = |name: &str, loose: bool| {
            if loose { format!("sure({name}, {bad})") } else { name.to_string() }
        };
        let id = self.variables;
        self.variables += 1;
        body.loops.push((body.values.len() as ValueId, id));
        let node = Some(step.from.node);
        let let_ = |name: String, is: String| Stmt::Let { name, of: Type::F64, is, node };
        let mut own: Vec<(Expr, bool)> = Vec::with_capacity(args.len());
        for (k, arg) in args.iter().enumerate() {
            let value = sure(&body.values[*arg as usize], body.loose[*arg as usize]);
            let value = self.where_wanted(step, value, at.axes)?;
            let is_state = k < rounds.next.len();
            let name = if is_state { format!("s{id}_{k}") } else { value.clone() };
            if is_state {
                body.out.push(let_(name.clone(), value));
            }
            own.push((name, false));
        }
        let mut inner = Body::new(body.index);
        self.round(&step.from, rounds, At { args: &own, ..at }, &mut inner)?;
        for (k, v) in rounds.next.iter().enumerate() {
            let is = sure(&inner.values[*v as usize], inner.loose[*v as usize]);
            let is = self.where_wanted(step, is, at.axes)?;
            inner.out.push(let_(format!("n{id}_{k}"), is));
        }
        let done = format!("d{id}_");
        if let Some(v) = rounds.until {
            body.out.push(let_(done.clone(), "0.0".into()));
            inner.out.push(Stmt::Set {
                name: done.clone(),
                is: sure(&inner.values[v as usize], inner.loose[v as usize]),
                node,
            });
        }
        for k in 0..rounds.next.len() {
            let (name, is) = (format!("s{id}_{k}"), format!("n{id}_{k}"));
            inner.out.push(Stmt::Set { name, is, node });
        }
        if rounds.until.is_some() {
            inner.out.push(Stmt::If(format!("{done} != 0.0"), vec![Stmt::Do("break".into())]));
        }
        let (name, to) = (format!("r{id}_"), self.number('m', Type::U64, f64::from(rounds.count)));
        body.out.push(Stmt::For { name, from: "0".into(), to, step: "1".into(), body: inner.out });
        if rounds.until.is_some() {
            let fails = Stmt::Do(format!("fail({bad})"));
            let fails = match self.counts_where(step, at.axes)? {
                Some(holds) => Stmt::If(holds, vec![fails]),
                None => fails,
            };
            body.out.push(Stmt::If(format!("{done} == 0.0"), vec![fails]));
        }
        Ok(format!("s{id}_{result}"))
    }

    /// The steps of one round, on the arguments in `at`.
    pub(super) fn round(
        &mut self,
        from: &Origin,
        rounds: &Rounds,
        at: At,
        inner: &mut Body,
    ) -> Result<()> {
        self.steps(&round(rounds, from), at, inner)
    }

    /// An element whose place on some axes is a value.
    fn gather(&mut self, load: &Load, spots: &Spots, at: At) -> Result<Expr> {
        let shape = self.plan.buffer(load.buf).shape.clone();
        let place = self.moved(&load.read, &shape, spots, at)?;
        let text = self.item(load.buf, &place)?;
        self.guarded(&load.read.tests, text, at.axes)
    }

    /// A place in an array of that shape, on some axes by a value: `spot` checks it and goes on at
    /// 0 where there is none.
    pub(super) fn moved(
        &mut self,
        read: &Read,
        shape: &[usize],
        spots: &Spots,
        at: At,
    ) -> Result<Expr> {
        let strides = aplomb_values::array::strides(shape);
        let mut place = self.offset(read, shape, at.axes, at.extents)?;
        let (origin, bad) = (self.number('p', Type::F64, spots.origin), spots.bad);
        for (along, value) in spots.along.iter().zip(spots.places) {
            let extent = self.integer(along.extent as i64);
            let by = match strides[along.axis as usize] as i64 * along.times {
                1 => String::new(),
                stride => format!(" * {}", self.integer(stride)),
            };
            place = format!("{place} + spot({value} - {origin}, {extent}, {bad}){by}");
        }
        Ok(place)
    }
}

/// The site of the step that makes a value.
fn site_of(steps: &[Step], at: ValueId) -> Result<u32> {
    let step = steps.get(at as usize).ok_or_else(|| bug!("value {at} of {} steps", steps.len()))?;
    Ok(step.from.site)
}

impl Body {
    pub(super) fn new(index: &'static str) -> Body {
        Body { out: Vec::new(), values: Vec::new(), loose: Vec::new(), loops: Vec::new(), index }
    }
}

pub(super) fn stride(name: &str, count: &str, body: Vec<Stmt>) -> Stmt {
    Stmt::For {
        name: name.into(),
        from: format!("lo + (u64)blockIdx.x * {THREADS} + threadIdx.x"),
        to: format!("lo + {count}"),
        step: format!("(u64)gridDim.x * {THREADS}"),
        body,
    }
}

/// A block a point.
pub(super) fn block_stride(name: &str, body: Vec<Stmt>) -> Stmt {
    Stmt::For {
        name: name.into(),
        from: "lo + blockIdx.x".into(),
        to: "lo + n".into(),
        step: "gridDim.x".into(),
        body,
    }
}

/// A warp a point.
pub(super) fn warp_stride(name: &str, body: Vec<Stmt>) -> Stmt {
    let warps = THREADS / 32;
    Stmt::For {
        name: name.into(),
        from: format!("lo + (u64)blockIdx.x * {warps} + threadIdx.x / 32"),
        to: "lo + n".into(),
        step: format!("(u64)gridDim.x * {warps}"),
        body,
    }
}

pub(super) fn set(name: &str, is: &str) -> Stmt {
    Stmt::Set { name: name.into(), is: is.into(), node: None::<NodeId> }
}

pub(super) fn store(to: &str, at: &str, is: &str) -> Stmt {
    Stmt::Store { to: to.into(), at: at.into(), is: is.into(), node: None }
}

pub(super) fn storage(dtype: DType) -> Type {
    match dtype {
        DType::Bool => Type::U8,
        DType::I8 => Type::I8,
        DType::I16 => Type::I16,
        DType::I32 => Type::I32,
        DType::F32 => Type::F32,
        DType::Char => Type::U32,
        // No complex array is ever recorded.
        DType::F64 | DType::Complex | DType::Nested => Type::F64,
    }
}

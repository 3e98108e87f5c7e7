//! Folds in a kernel: of everything (grid-stride, partial results, the last block folds them in
//! index order), of rows (a warp or a block a row), of another axis (a thread a result).
//!
//! Rows: ACC-06, ACL-07, ACC-20. A thread's result is `t0…`, a warp's stands in `h0…`, a block's is
//! `q0…`. Always: the same grid gives the same bits.

use super::lower::{At, Body, Lowering, Part, set, store, stride};
use super::vector::{By, Way};
use super::{Expr, Param, ParamKind, Spread, Stmt, THREADS, Type, ops};
use crate::plan::{Launch, Reduction};
use aplomb_ground::error::{Result, bug, nonce};
use aplomb_values::array::DType;
use aplomb_values::body::finite::hides;
use aplomb_values::prim::op::Op;

const WARPS: u32 = THREADS / 32;

/// The memory in which blocks that share a result leave their partial ones: `partials`, of which
/// each fold has `all`, at `mine` and `theirs`; how many share one; what they count themselves by;
/// the result's place.
pub(super) struct Meeting {
    pub(super) partials: &'static str,
    pub(super) all: Expr,
    pub(super) mine: Expr,
    pub(super) theirs: Expr,
    pub(super) count: Expr,
    pub(super) ticket: Expr,
    pub(super) at: &'static str,
}

impl Lowering<'_> {
    pub(super) fn fold_all(&mut self) -> Result<Vec<Stmt>> {
        self.params.push(Param { name: "part".into(), what: ParamKind::Scratch(Type::F64) });
        self.params.push(Param { name: "ticket".into(), what: ParamKind::Scratch(Type::U32) });
        let mut out = Vec::new();
        let mut body = Body::new("i");
        let axes = self.axes(&self.launch.domain.clone(), "i", &mut body.out);
        self.steps(&self.launch.body, At::point(&axes, &self.launch.domain), &mut body)?;
        self.stores(Part::Body, "i", &mut body)?;
        self.accumulate(&mut out, &mut body)?;
        out.append(&mut self.spread(&Way::all(), body.out)?);
        self.fold_block(&mut out)?;
        let meeting = Meeting {
            partials: "part",
            all: "parts".into(),
            mine: "first + blockIdx.x".into(),
            theirs: "j".into(),
            count: "parts".into(),
            ticket: "ticket".into(),
            at: "0",
        };
        // One result may have axes all the same, of one place each.
        let places: Vec<String> = self.launch.outer().iter().map(|_| "0".into()).collect();
        self.meet(&meeting, &places, &mut out)?;
        Ok(out)
    }

    /// A block's results `h0…` become partial results; the last block that shares a result folds
    /// all of them, in their order: the same bits for the same parts.
    pub(super) fn meet(&mut self, m: &Meeting, axes: &[String], out: &mut Vec<Stmt>) -> Result<()> {
        let count = self.launch.reductions.len();
        out.push(Stmt::Shared { name: "last".into(), of: Type::U32, count: 1 });
        let mut publish: Vec<Stmt> = self.block_result()?;
        publish.extend(
            (0..count).map(|k| store(m.partials, &slot(k, &m.all, &m.mine), &format!("q{k}"))),
        );
        publish.push(Stmt::Do("__threadfence()".into()));
        publish.push(store(
            "last",
            "0",
            &format!("atomicAdd({}, 1u) == {} - 1", m.ticket, m.count),
        ));
        out.push(Stmt::If("threadIdx.x == 0".into(), publish));
        out.push(Stmt::Do("__syncthreads()".into()));
        out.push(Stmt::Note("The last block folds all blocks' results.".into()));
        let mut last = vec![Stmt::Do("__threadfence()".into())];
        for (k, r) in self.launch.reductions.iter().enumerate() {
            let name = format!("t{k}");
            last.push(set(&name, &unit(r.op)?));
            let next =
                format!("((const volatile double*){})[{}]", m.partials, slot(k, &m.all, &m.theirs));
            let step = vec![set(&name, &fold_text(r.op, &name, &next)?)];
            let (from, step_by) = ("threadIdx.x".into(), THREADS.to_string());
            last.push(Stmt::For {
                name: "j".into(),
                from,
                to: m.count.clone(),
                step: step_by,
                body: step,
            });
        }
        last.append(&mut self.fold_warps()?);
        let mut finish = self.block_result()?;
        let reduced: Vec<String> = (0..count).map(|k| format!("q{k}")).collect();
        if m.at == "0" {
            finish.push(Stmt::Let { name: "o".into(), of: Type::U64, is: "0".into(), node: None });
        }
        self.after(&reduced, m.at, axes, &mut finish)?;
        last.push(Stmt::If("threadIdx.x == 0".into(), finish));
        out.push(Stmt::If("last[0]".into(), last));
        Ok(())
    }

    pub(super) fn fold_rows(&mut self, outer: &[usize], by: Spread) -> Result<Vec<Stmt>> {
        let long =
            self.launch.domain.last().ok_or_else(|| bug!("a fold of rows without an axis"))?;
        let extent = self.number('m', Type::U64, *long as f64);
        let mut row = Vec::new();
        let mut body = Body::new("i");
        let mut axes = self.axes(outer, "o", &mut row);
        let last = format!("x{}", outer.len());
        let place = format!("({})j", self.int().cuda());
        body.out.push(Stmt::Let { name: last.clone(), of: self.int(), is: place, node: None });
        body.out.push(Stmt::Let {
            name: "i".into(),
            of: Type::U64,
            is: format!("o * {extent} + j"),
            node: None,
        });
        axes.push(last.clone());
        self.steps(&self.launch.body, At::point(&axes, &self.launch.domain), &mut body)?;
        self.stores(Part::Body, "i", &mut body)?;
        self.accumulate(&mut row, &mut body)?;
        row.append(&mut self.before_loop(&mut body.out, &["j", "i", &last]));
        if by == Spread::Warps {
            let (from, step) = ("threadIdx.x % 32".into(), "32".into());
            row.push(Stmt::For { name: "j".into(), from, to: extent, step, body: body.out });
        } else {
            let way =
                Way { name: "j", by: By::Block, base: format!("o * {extent} + "), count: extent };
            row.append(&mut self.spread(&way, body.out)?);
        }
        let folds = self.launch.reductions.len();
        let named = |c: char| (0..folds).map(|k| format!("{c}{k}")).collect::<Vec<_>>();
        let (note, from, step) = match by {
            Spread::Warps => {
                // The warp stays together: all its lanes have one row.
                row.push(self.halve()?);
                let mut finish = Vec::new();
                self.after(&named('t'), "o", &axes[..outer.len()], &mut finish)?;
                row.push(Stmt::If("threadIdx.x % 32 == 0".into(), finish));
                let from = format!("lo + (u64)blockIdx.x * {WARPS} + threadIdx.x / 32");
                ("A warp a row.", from, format!("(u64)gridDim.x * {WARPS}"))
            }
            _ => {
                self.fold_block(&mut row)?;
                let mut finish = self.block_result()?;
                self.after(&named('q'), "o", &axes[..outer.len()], &mut finish)?;
                row.push(Stmt::If("threadIdx.x == 0".into(), finish));
                row.push(Stmt::Do("__syncthreads()".into()));
                ("A block a row.", "lo + blockIdx.x".into(), "gridDim.x".into())
            }
        };
        let rows = Stmt::For { name: "o".into(), from, to: "lo + n".into(), step, body: row };
        Ok(vec![Stmt::Note(note.into()), rows])
    }

    pub(super) fn fold_columns(&mut self, axis: usize) -> Result<Vec<Stmt>> {
        let (mut column, outer_axes) =
            self.along(axis, false, |k, _, before, body| k.accumulate(before, body))?;
        let reduced: Vec<String> =
            (0..self.launch.reductions.len()).map(|k| format!("t{k}")).collect();
        self.after(&reduced, "o", &outer_axes, &mut column)?;
        Ok(vec![Stmt::Note("A thread a result.".into()), stride("o", "n", column)])
    }

    /// One partial result a thread and reduction, from the identity; the body folds into it.
    pub(super) fn accumulate(&mut self, before: &mut Vec<Stmt>, body: &mut Body) -> Result<()> {
        for (k, r) in self.launch.reductions.iter().enumerate() {
            let name = format!("t{k}");
            before.push(Stmt::Let {
                name: name.clone(),
                of: Type::F64,
                is: unit(r.op)?,
                node: None,
            });
            let value = self.folded(r, body)?;
            body.out.push(Stmt::Set {
                is: fold_text(r.op, &name, &value)?,
                name,
                node: Some(r.node),
            });
        }
        Ok(())
    }

    /// The value that a fold takes: ∞ goes through a sum, but would be lost in a maximum.
    pub(super) fn folded(&self, r: &Reduction, body: &Body) -> Result<Expr> {
        if hides(r.op) {
            self.sure(r.value, &self.launch.body, body)
        } else {
            Ok(body.values[r.value as usize].clone())
        }
    }

    /// The threads' results of a block become one a warp, in shared memory.
    pub(super) fn fold_block(&mut self, out: &mut Vec<Stmt>) -> Result<()> {
        for k in 0..self.launch.reductions.len() {
            out.push(Stmt::Shared { name: format!("h{k}"), of: Type::F64, count: WARPS });
        }
        out.append(&mut self.fold_warps()?);
        Ok(())
    }

    /// A warp's partial results become its first lane's.
    fn halve(&self) -> Result<Stmt> {
        let mut step = Vec::new();
        for (k, r) in self.launch.reductions.iter().enumerate() {
            let (name, next) = (format!("t{k}"), format!("__shfl_down_sync(~0u, t{k}, half)"));
            step.push(Stmt::Let { name: format!("d{k}"), of: Type::F64, is: next, node: None });
            step.push(set(&name, &fold_text(r.op, &name, &format!("d{k}"))?));
        }
        Ok(Stmt::Halve { name: "half".into(), from: 16, body: step })
    }

    fn fold_warps(&self) -> Result<Vec<Stmt>> {
        let folds = 0..self.launch.reductions.len();
        let first =
            folds.map(|k| store(&format!("h{k}"), "threadIdx.x / 32", &format!("t{k}"))).collect();
        let halve = self.halve()?;
        Ok(vec![
            halve,
            Stmt::If("threadIdx.x % 32 == 0".into(), first),
            Stmt::Do("__syncthreads()".into()),
        ])
    }

    /// `q{k}`, the warps' results in order; one thread does it.
    fn block_result(&self) -> Result<Vec<Stmt>> {
        let mut out = Vec::new();
        for (k, r) in self.launch.reductions.iter().enumerate() {
            let name = format!("q{k}");
            out.push(Stmt::Let {
                name: name.clone(),
                of: Type::F64,
                is: format!("h{k}[0]"),
                node: None,
            });
            let step = vec![Stmt::Set {
                is: fold_text(r.op, &name, &format!("h{k}[j]"))?,
                name,
                node: Some(r.node),
            }];
            out.push(Stmt::For {
                name: "j".into(),
                from: "1".into(),
                to: WARPS.to_string(),
                step: "1".into(),
                body: step,
            });
        }
        Ok(out)
    }
}

/// The place of a partial result of fold `k` behind those of the folds before.
pub(super) fn slot(k: usize, all: &str, at: &str) -> Expr {
    if k == 0 { at.into() } else { format!("(u64){k} * {all} + {at}") }
}

/// The value that a fold begins with: nothing of it is left in any result.
pub(super) fn unit(op: Op) -> Result<Expr> {
    Ok(match op {
        Op::Max => "-inf()".into(),
        Op::Min => "inf()".into(),
        // 0 would turn ¯0 into 0.
        Op::Add => "-0.0".into(),
        op => op
            .identity()
            .map(|x| format!("{x:?}"))
            .ok_or_else(|| nonce(format!("{}/ on CUDA", op.glyph())))?,
    })
}

/// Folds that are logic on booleans have no text on other numbers.
pub(super) fn foldable(launch: &Launch) -> Result<()> {
    let numbers =
        |r: &&Reduction| launch.body.get(r.value as usize).is_none_or(|s| s.dtype != DType::Bool);
    match launch.reductions.iter().find(|r| ops::is_logic(r.op) && numbers(r)) {
        Some(r) => Err(nonce(format!("{}/ on CUDA", r.op.glyph()))),
        None => Ok(()),
    }
}

pub(super) fn fold_text(op: Op, x: &str, y: &str) -> Result<Expr> {
    ops::fold(op, x, y).ok_or_else(|| nonce(format!("{}/ on CUDA", op.glyph())))
}

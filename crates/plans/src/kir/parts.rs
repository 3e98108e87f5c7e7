//! Folds of few long lines: blocks fold parts of a line, and the last of a line's blocks folds the
//! parts in their order.
//!
//! Row: ACC-06. Parts are as long as the text says, whatever the grid: the same bits on each
//! device. Along the last axis a block folds its part as a row. Along another a block takes a strip
//! of lines that lie side by side, up to `THREADS` of them, in as many rows of threads as there is
//! room for; so its loads are contiguous.

use super::fold::{Meeting, fold_text, slot, unit};
use super::lower::{At, Body, Lowering, Part, set, store};
use super::scan::Shape;
use super::vector::{By, Way};
use super::{Expr, Param, ParamKind, Spread, Stmt, THREADS, Type};
use crate::plan::{Kind, Launch, Plan};
use aplomb_ground::error::Result;
use aplomb_values::dag::ix::linear;

/// Places that a block folds.
pub(super) const PART: u64 = 16 * 1024;
/// So many rows fill a device without being cut.
const ROWS: u64 = 1024;
/// So many results do, a thread each.
const RESULTS: u64 = 1 << 16;
/// So many neighbours make reads of a warp whole sectors.
const BESIDE: usize = 8;

/// Whether a fold along an axis is one of few long lines: of rows, or of lines side by side.
pub(super) fn are_few(domain: &[usize], axis: usize, results: u64) -> bool {
    match axis + 1 == domain.len() {
        true => domain[axis] as u64 > PART && results < ROWS,
        false => domain[axis] > super::form::MANY && results < RESULTS,
    }
}

/// Whether so few results, with threads beside each other, are better cut into parts.
pub(super) fn are_in_parts(results: u64) -> bool {
    results < RESULTS
}

/// Whether a fold along the last axis reads most of its items so that neighbours in memory belong
/// to neighbouring results: threads then follow the results (BAS-13, `(⍉A)+.×w`).
pub(super) fn crosses(plan: &Plan, launch: &Launch) -> bool {
    let last = launch.domain.len().wrapping_sub(1);
    let is_last = launch.kind == Kind::Reduce && launch.axis == Some(last) && last > 0;
    if !is_last || launch.domain[last - 1] < BESIDE || launch.domain[last] <= super::form::FEW {
        return false;
    }
    let (mut along, mut beside) = (0, 0);
    for load in &launch.loads {
        let shape = &plan.buffer(load.buf).shape;
        let map = linear(&load.read.ix, shape, &launch.domain);
        let items = shape.iter().map(|n| *n as u64).product::<u64>();
        match [last, last - 1].map(|axis| map.coefficient(axis).abs()) {
            [1, _] => along += items,
            [_, 1] => beside += items,
            _ => (),
        }
    }
    beside > along
}

impl Lowering<'_> {
    /// The number of parts in all, where several folds leave partial results.
    fn all_parts(&mut self, parts: u64) -> Expr {
        if self.launch.reductions.len() > 1 {
            self.number('m', Type::U64, parts as f64)
        } else {
            "0".into()
        }
    }

    fn left_to_others(&mut self, name: &str) {
        for (name, of) in [(name, Type::F64), ("tickets", Type::U32)] {
            self.params.push(Param { name: name.into(), what: ParamKind::Scratch(of) });
        }
    }

    pub(super) fn fold_long_rows(&mut self) -> Result<Shape> {
        let launch = self.launch;
        let outer = launch.outer();
        let length = launch.domain[outer.len()] as u64;
        let per_row = length.div_ceil(PART);
        let points = outer.iter().map(|n| *n as u64).product::<u64>() * per_row;
        self.left_to_others("partials");
        let (extent, parts) = (
            self.number('m', Type::U64, length as f64),
            self.number('m', Type::U64, per_row as f64),
        );
        let all = self.all_parts(points);
        let let_ =
            |name: &str, is: Expr| Stmt::Let { name: name.into(), of: Type::U64, is, node: None };
        let mut row = vec![
            let_("o", format!("part / {parts}")),
            let_("begin", format!("(part - o * {parts}) * {PART}")),
            let_("count", format!("{extent} - begin < {PART} ? {extent} - begin : {PART}")),
        ];
        let mut axes = self.axes(&outer, "o", &mut row);
        let mut body = Body::new("i");
        let last = format!("x{}", outer.len());
        body.out.push(let_("j", "begin + k".into()));
        let place = format!("({})j", self.int().cuda());
        body.out.push(Stmt::Let { name: last.clone(), of: self.int(), is: place, node: None });
        body.out.push(let_("i", format!("o * {extent} + j")));
        axes.push(last);
        self.steps(&launch.body, At::point(&axes, &launch.domain), &mut body)?;
        self.stores(Part::Body, "i", &mut body)?;
        self.accumulate(&mut row, &mut body)?;
        let base = format!("o * {extent} + begin + ");
        row.append(&mut self.before_loop(&mut body.out, &["k", "j", "i"]));
        let way = Way { name: "k", by: By::Block, base, count: "count".into() };
        row.append(&mut self.spread(&way, body.out)?);
        self.fold_block(&mut row)?;
        let meeting = Meeting {
            partials: "partials",
            all,
            mine: "part".into(),
            theirs: format!("o * {parts} + j"),
            count: parts,
            ticket: "tickets + o".into(),
            at: "o",
        };
        self.meet(&meeting, &axes[..outer.len()], &mut row)?;
        row.push(Stmt::Do("__syncthreads()".into()));
        Ok((over_parts("A block a part of a row.", row), Spread::Blocks, points))
    }

    pub(super) fn fold_strips(&mut self, axis: usize) -> Result<Shape> {
        let launch = self.launch;
        let (domain, outer) = (&launch.domain, launch.outer());
        let count = |list: &[usize]| list.iter().map(|n| *n as u64).product::<u64>();
        // Of the last axis the lines lie side by side along the last axis of the results.
        let side = if axis + 1 == domain.len() { outer.len() - 1 } else { axis };
        let (above, width, length) =
            (count(&outer[..side]), count(&outer[side..]), domain[axis] as u64);
        let wide = width > u64::from(THREADS);
        let columns = width.min(u64::from(THREADS));
        let rows = u64::from(THREADS) / columns;
        let per_part = (PART / columns).max(rows);
        let (strips, per_line) = (width.div_ceil(u64::from(THREADS)), length.div_ceil(per_part));
        let points = above * strips * per_line;
        self.left_to_others("strips");
        let mut number = |x: u64| self.number('m', Type::U64, x as f64);
        let [extent, parts, long, across] = [length, per_line, per_part, columns].map(&mut number);
        let high = number(rows);
        let sides =
            if wide { [number(strips), number(width)] } else { [String::new(), across.clone()] };
        let all = self.all_parts(points);
        let let_ =
            |name: &str, is: Expr| Stmt::Let { name: name.into(), of: Type::U64, is, node: None };
        let mut strip = vec![
            let_("strip", format!("part / {parts}")),
            let_("begin", format!("(part - strip * {parts}) * {long}")),
            let_("end", format!("{extent} - begin < {long} ? {extent} : begin + {long}")),
            let_("row", format!("threadIdx.x / {across}")),
            let_("column", format!("threadIdx.x - row * {across}")),
        ];
        let [strips, width] = &sides;
        match wide {
            true => strip.extend([
                let_("above", format!("strip / {strips}")),
                let_("side", format!("(strip - above * {strips}) * {THREADS} + column")),
                let_("o", format!("above * {width} + side")),
                let_("mine", format!("row < {high} && side < {width}")),
            ]),
            false => strip.extend([
                let_("o", format!("strip * {width} + column")),
                let_("mine", format!("row < {high}")),
            ]),
        }
        let outer_axes = self.axes(&outer, "o", &mut strip);
        let mut axes = outer_axes.clone();
        axes.insert(axis, "xf".into());
        let mut body = Body::new("i");
        let place = format!("({})j", self.int().cuda());
        body.out.push(Stmt::Let { name: "xf".into(), of: self.int(), is: place, node: None });
        let flat = self.flat(&axes)?;
        body.out.push(let_("i", flat));
        self.steps(&launch.body, At::point(&axes, domain), &mut body)?;
        self.stores(Part::Body, "i", &mut body)?;
        self.accumulate(&mut strip, &mut body)?;
        let over = |from: String, to: &str, body| Stmt::For {
            name: "j".into(),
            from,
            to: to.into(),
            step: high.clone(),
            body,
        };
        let mut mine = self.before_loop(&mut body.out, &["j", "i", "xf"]);
        mine.push(over("begin + row".into(), "end", body.out));
        strip.push(Stmt::If("mine".into(), mine));
        let folds = launch.reductions.len();
        for k in 0..folds {
            strip.push(Stmt::Shared { name: format!("h{k}"), of: Type::F64, count: THREADS });
        }
        strip.push(Stmt::Shared { name: "last".into(), of: Type::U32, count: 1 });

        // The rows of threads become the first.
        let first = |then: Vec<Stmt>| -> Result<Vec<Stmt>> {
            let mut out: Vec<Stmt> = (0..folds)
                .map(|k| store(&format!("h{k}"), "threadIdx.x", &format!("t{k}")))
                .collect();
            out.push(Stmt::Do("__syncthreads()".into()));
            let mut join = Vec::new();
            for (k, r) in launch.reductions.iter().enumerate() {
                let name = format!("t{k}");
                let is = fold_text(r.op, &name, &format!("h{k}[r * {across} + column]"))?;
                join.push(Stmt::Set { name, is, node: Some(r.node) });
            }
            let (from, to, step) = ("1".into(), high.clone(), "1".into());
            let mut whole = vec![Stmt::For { name: "r".into(), from, to, step, body: join }];
            whole.extend(then);
            out.push(Stmt::If("mine && row == 0".into(), whole));
            Ok(out)
        };
        let slot = |k: usize, part: &str| format!("({}) * {THREADS} + column", slot(k, &all, part));
        let told =
            (0..folds).map(|k| store("strips", &slot(k, "part"), &format!("t{k}"))).collect();
        strip.append(&mut first(told)?);
        strip.push(Stmt::Do("__threadfence()".into()));
        strip.push(Stmt::Do("__syncthreads()".into()));
        let is_last = store("last", "0", &format!("atomicAdd(tickets + strip, 1u) == {parts} - 1"));
        strip.push(Stmt::If("threadIdx.x == 0".into(), vec![is_last]));
        strip.push(Stmt::Do("__syncthreads()".into()));

        let (mut meet, mut each) = (vec![Stmt::Do("__threadfence()".into())], Vec::new());
        for (k, r) in launch.reductions.iter().enumerate() {
            let name = format!("t{k}");
            meet.push(set(&name, &unit(r.op)?));
            let place = slot(k, &format!("strip * {parts} + j"));
            each.push(set(
                &name,
                &fold_text(r.op, &name, &format!("((const volatile double*)strips)[{place}]"))?,
            ));
        }
        meet.push(Stmt::If("mine".into(), vec![over("row".into(), &parts, each)]));
        let reduced: Vec<String> = (0..folds).map(|k| format!("t{k}")).collect();
        let mut after = Vec::new();
        self.after(&reduced, "o", &outer_axes, &mut after)?;
        meet.append(&mut first(after)?);
        strip.push(Stmt::If("last[0]".into(), meet));
        strip.push(Stmt::Do("__syncthreads()".into()));
        Ok((over_parts("A block a part of a strip of lines.", strip), Spread::Blocks, points))
    }
}

fn over_parts(note: &str, body: Vec<Stmt>) -> Vec<Stmt> {
    let (from, to, step) = ("lo + blockIdx.x".into(), "lo + n".into(), "gridDim.x".into());
    vec![Stmt::Note(note.into()), Stmt::For { name: "part".into(), from, to, step, body }]
}

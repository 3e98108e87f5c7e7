//! A launch as loops of a program in C, in the CPU's order: folds take their elements as
//! `prim::reduce` states, scans as `prim::scan`, so results are the CPU's bit for bit.
//!
//! Row: ACL-45. The body is that of any kernel; here are the loops around it. Indices are i64, and
//! a loop whose turns know nothing of each other stands behind `Stmt::Parallel`. Not here: tiles,
//! vectors, several kernels, and so no choice between shapes that depends on extents; a fold of so
//! few elements that their number is fixed keeps them all.

use super::fold::fold_text;
use super::lower::{At, Body, Lowering, Part, set, store};
use super::{Code, Expr, Kernel, Spread, Stmt, Type, check, ops, tidy};
use crate::plan::{Kind, Launch, Plan, Reduction, What};
use aplomb_ground::error::{Result, bug, internal};
use aplomb_values::array::DType;
use aplomb_values::body::Rounds;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::{reduce, scan};

/// Blocks of a long fold that are shared out at a time.
const TOGETHER: usize = 64;
/// Columns whose partial results a fold along another axis keeps.
const COLUMNS: usize = 64;

/// A launch as one kernel whose body is C; `sites` are those of the whole plan, in order. Errors:
/// NONCE for an operation without text.
pub fn in_order(plan: &Plan, launch: &Launch, number: usize, sites: &[u32]) -> Result<Code> {
    // Sums that take products in order go row by row, so that their loops have results side by
    // side.
    let across = if launch.is_in_order() { launch.across() } else { None };
    let launch = match &across {
        Some(across) => across,
        None => launch,
    };
    let mut k = Lowering::new(plan, launch, number, super::Tuning::default(), false);
    k.sites = sites.to_vec();
    let body = k.loops()?;
    let mut kernel = Kernel {
        name: format!("k{number}"),
        params: std::mem::take(&mut k.params),
        body,
        threads: 1,
        spread: Spread::Threads,
        items: 1,
        choices: super::Choices::default(),
        points: 1,
        partials: 0,
        clears: Vec::new(),
    };
    tidy::drop_values(&mut kernel.body);
    tidy::drop_parameters(&mut kernel, false);
    kernel
        .params
        .push(super::Param { name: "err".into(), what: super::ParamKind::Scratch(Type::U64) });
    check::check(&kernel).map_err(|e| internal(format!("the C of {}: {e}", kernel.name)))?;
    let (scratch, sites) = (k.scratch, k.sites);
    Ok(Code {
        kernels: vec![kernel],
        scratch,
        sites,
        checked: Vec::new(),
        fast: super::Fast::default(),
        unordered: false,
        bounds: Vec::new(),
    })
}

pub(super) fn named(axes: usize) -> Vec<String> {
    (0..axes).map(|k| format!("x{k}")).collect()
}

pub(super) fn let_(name: &str, of: Type, is: Expr) -> Stmt {
    Stmt::Let { name: name.into(), of, is, node: None }
}

pub(super) fn span(name: &str, to: &str, step: &str, body: Vec<Stmt>) -> Stmt {
    Stmt::Span { name: name.into(), from: "0".into(), to: to.into(), step: step.into(), body }
}

/// The folds of a launch that are taken in one pass over its body.
struct Pass<'a> {
    folds: Vec<(usize, &'a Reduction)>,
    /// Elements of a block of the last axis; none: from the end on.
    block: Option<usize>,
    stores: bool,
}

/// The passes of a launch's folds.
fn passes(launch: &Launch) -> Vec<Pass<'_>> {
    let of = |(n, pass): (usize, crate::plan::Pass)| Pass {
        folds: pass.folds.iter().map(|&k| (k, &launch.reductions[k])).collect(),
        block: pass.block,
        stores: n == 0,
    };
    launch.passes().into_iter().enumerate().map(of).filter(|pass| !pass.folds.is_empty()).collect()
}

impl Lowering<'_> {
    fn loops(&mut self) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        match (launch.kind, launch.axis) {
            (Kind::Whole, _) => {
                let finish =
                    launch.finish.as_ref().ok_or_else(|| bug!("a launch without its operation"))?;
                self.serial_whole(finish)
            }
            (_, None) | (Kind::Map, _) => self.serial_map(),
            (Kind::Reduce, Some(axis)) if axis + 1 == launch.domain.len() => self.serial_rows(),
            (Kind::Reduce, Some(axis)) => self.serial_columns(axis),
            (Kind::Scan, Some(axis)) => self.serial_scan(axis),
            (Kind::Compact, Some(axis)) => self.serial_compact(axis),
        }
    }

    /// A number of places.
    pub(super) fn extent(&mut self, n: usize) -> Expr {
        self.number('m', Type::I64, n as f64)
    }

    /// The row-major place of a point.
    pub(super) fn place(&mut self, shape: &[usize], axes: &[String]) -> Expr {
        let Some(first) = axes.first() else { return "0".into() };
        let mut text = first.clone();
        for (k, axis) in axes.iter().enumerate().skip(1) {
            let extent = self.integer(shape[k] as i64);
            text = match k {
                1 => format!("{text} * {extent} + {axis}"),
                _ => format!("({text}) * {extent} + {axis}"),
            };
        }
        text
    }

    /// The points of a shape, for those who ask whether sharing them out is worth it.
    pub(super) fn count_of(&mut self, shape: &[usize]) -> Expr {
        let all: Vec<Expr> = shape.iter().map(|n| self.extent(*n)).collect();
        if all.is_empty() { "1".into() } else { all.join(" * ") }
    }

    /// Loops over these axes around statements; they are shared out by `work` points in all.
    pub(super) fn nest(
        &mut self,
        axes: &[(String, usize)],
        work: Option<Expr>,
        body: Vec<Stmt>,
    ) -> Vec<Stmt> {
        let mut out = body;
        for (name, extent) in axes.iter().rev() {
            let to = self.extent(*extent);
            out = vec![span(name, &to, "1", out)];
        }
        match work.filter(|_| !axes.is_empty()) {
            Some(points) => {
                // The last axis stays one loop, for vectors.
                let loops = (axes.len() - 1).max(1) as u32;
                vec![Stmt::Parallel { points, loops }].into_iter().chain(out).collect()
            }
            None => out,
        }
    }

    pub(super) fn nest_all(&mut self, shape: &[usize], body: Vec<Stmt>) -> Vec<Stmt> {
        let axes: Vec<(String, usize)> =
            named(shape.len()).into_iter().zip(shape.iter().copied()).collect();
        let points = self.count_of(shape);
        self.nest(&axes, Some(points), body)
    }

    /// The body at a point whose axes have names, with its place `i`.
    pub(super) fn at_point(&mut self, axes: &[String], stores: bool) -> Result<Body> {
        let domain = self.launch.domain.clone();
        let mut body = Body::new("i");
        let place = self.place(&domain, axes);
        body.out.push(let_("i", Type::I64, place));
        self.steps(&self.launch.body, At::point(axes, &domain), &mut body)?;
        if stores {
            self.stores(Part::Body, "i", &mut body)?;
        }
        Ok(body)
    }

    fn serial_map(&mut self) -> Result<Vec<Stmt>> {
        let domain = self.launch.domain.clone();
        let body = self.at_point(&named(domain.len()), true)?;
        Ok(self.nest_all(&domain, body.out))
    }

    /// `x op y` as an expression, and the statements before it.
    pub(super) fn joined(
        &mut self,
        r: &Reduction,
        x: &str,
        y: &str,
        at: &'static str,
    ) -> Result<Joined> {
        let bools = self.launch.body.get(r.value as usize).is_some_and(|s| s.dtype == DType::Bool);
        if ops::fold(r.op, x, y).is_some() && (bools || !ops::is_logic(r.op)) {
            return Ok(Joined { before: Vec::new(), is: fold_text(r.op, x, y)? });
        }
        let rounds = Rounds::once(r.op, 0.0, DType::F64);
        let from = crate::plan::Origin { node: r.node, site: r.site, guard: None };
        self.once(&from, &rounds, &[(x.into(), true), (y.into(), true)], at)
    }

    pub(super) fn once(
        &mut self,
        from: &crate::plan::Origin,
        rounds: &Rounds,
        args: &[(Expr, bool)],
        at: &'static str,
    ) -> Result<Joined> {
        let mut inner = Body::new(at);
        let extents = self.launch.domain.clone();
        self.round(from, rounds, At { args, ..At::point(&[], &extents) }, &mut inner)?;
        let is = inner.values[rounds.next[0] as usize].clone();
        Ok(Joined { before: inner.out, is })
    }

    /// Statements that give `to` a fold's next value: the item where `first` holds, else the join
    /// of what is there with it.
    pub(super) fn folds_in(
        &mut self,
        r: &Reduction,
        to: &str,
        first: &str,
        item: &str,
        at: &'static str,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let Joined { before, is } = self.joined(r, to, item, at)?;
        let set = |is: Expr| Stmt::Set { name: to.into(), is, node: Some(r.node) };
        if before.is_empty() {
            out.push(set(format!("{first} ? {item} : {is}")));
            return Ok(());
        }
        let mut rest = before;
        rest.push(set(is));
        out.push(Stmt::If(first.into(), vec![set(item.into())]));
        out.push(Stmt::If(format!("!({first})"), rest));
        Ok(())
    }

    /// The same for an element: what adds f32 adds in f32.
    pub(super) fn takes_in(
        &mut self,
        r: &Reduction,
        to: &str,
        first: &str,
        item: &str,
        at: &'static str,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        if !reduce::is_single(r.op, r.dtype) {
            return self.folds_in(r, to, first, item, at, out);
        }
        let sum = fold_text(r.op, to, item)?;
        let is = format!("{first} ? {item} : (float)({sum})");
        out.push(Stmt::Set { name: to.into(), is, node: Some(r.node) });
        Ok(())
    }

    /// The value of a fold of nothing, given to its name; where there is none, a failure.
    fn of_nothing(&mut self, r: &Reduction, long: &str, out: &mut Vec<Stmt>) -> Result<()> {
        if r.op.identity().is_none() {
            let fails = format!("fail({})", self.bad(r.site, "o")?);
            out.push(Stmt::If(format!("{long} == 0"), vec![Stmt::Do(fails)]));
        }
        Ok(())
    }

    /// Folds along the last axis: a result at a time.
    fn serial_rows(&mut self) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let (domain, outer) = (launch.domain.clone(), launch.outer());
        let long = domain[outer.len()];
        let extent = self.extent(long);
        let axes = named(domain.len());
        let mut row = Vec::new();
        let o = self.place(&outer, &axes[..outer.len()]);
        row.push(let_("o", Type::I64, o));
        for (k, r) in launch.reductions.iter().enumerate() {
            row.push(let_(&format!("t{k}"), Type::F64, nothing(r.op)));
            self.of_nothing(r, &extent, &mut row)?;
        }
        for Pass { folds, block, stores } in passes(launch) {
            let last = axes[outer.len()].clone();
            row.append(&mut match block {
                None => vec![self.folded_from_the_end(&folds, &axes, (&last, &extent), stores)?],
                Some(_)
                    if long <= reduce::LANES
                        && !folds.iter().any(|(_, r)| self.launch.takes_in_order(r)) =>
                {
                    self.few(&folds, &axes, (&last, long), stores)?
                }
                Some(block) => self.blocks(&folds, &axes, (&last, &extent), (stores, block))?,
            });
        }
        let reduced: Vec<String> = (0..launch.reductions.len()).map(|k| format!("t{k}")).collect();
        self.after(&reduced, "o", &axes[..outer.len()], &mut row)?;
        let around: Vec<(String, usize)> =
            axes.iter().cloned().zip(outer.iter().copied()).collect();
        let points = self.count_of(&domain);
        Ok(self.nest(&around, Some(points), row))
    }

    /// The folds that are not associative, one element after the other.
    fn folded_from_the_end(
        &mut self,
        folds: &[(usize, &Reduction)],
        axes: &[String],
        (along, extent): (&str, &str),
        stores: bool,
    ) -> Result<Stmt> {
        let mut turn = vec![let_(along, Type::I64, format!("{extent} - 1 - j"))];
        let mut body = self.at_point(axes, stores)?;
        for (k, r) in folds {
            let item = self.sure(r.value, &self.launch.body, &body)?;
            let name = format!("t{k}");
            let Joined { before, is } = self.joined(r, &item, &name, "o")?;
            let set = |is: Expr| Stmt::Set { name: name.clone(), is, node: Some(r.node) };
            let mut rest = before;
            rest.push(set(is));
            body.out.push(Stmt::If("j == 0".into(), vec![set(item)]));
            body.out.push(Stmt::If("j > 0".into(), rest));
        }
        turn.append(&mut body.out);
        Ok(span("j", extent, "1", turn))
    }

    /// So few elements that all are kept: halves of them.
    fn few(
        &mut self,
        folds: &[(usize, &Reduction)],
        axes: &[String],
        (along, long): (&str, usize),
        stores: bool,
    ) -> Result<Vec<Stmt>> {
        let (count, mut out) = (long.to_string(), Vec::new());
        for (k, _) in folds {
            let (name, count) = (format!("q{k}"), long.max(1) as u32);
            out.push(Stmt::Local { name, of: Type::F64, count });
        }
        let mut body = self.at_point(axes, stores)?;
        for (k, r) in folds {
            let item = self.folded(r, &body)?;
            body.out.push(Stmt::Store {
                to: format!("q{k}"),
                at: along.into(),
                is: item,
                node: Some(r.node),
            });
        }
        out.push(span(along, &count, "1", body.out));
        let half = long.max(1).next_power_of_two() / 2;
        for (k, r) in folds {
            if half > 0 {
                out.push(self.halved(*k, r, half as u32, &count)?);
            }
            if long > 0 {
                out.push(set(&format!("t{k}"), &format!("q{k}[0]")));
            }
        }
        Ok(out)
    }

    /// Partials `q…` halved into the first; `count` of them are there.
    pub(super) fn halved(
        &mut self,
        k: usize,
        r: &Reduction,
        half: u32,
        count: &str,
    ) -> Result<Stmt> {
        let (to, next) = (format!("q{k}[l]"), format!("q{k}[l + h]"));
        let Joined { mut before, is } = self.joined(r, &to, &next, "o")?;
        before.push(Stmt::Set { name: to, is, node: Some(r.node) });
        let pairs = vec![Stmt::If(format!("l + h < {count}"), before)];
        let body = vec![
            let_("h", Type::I64, "half".into()),
            Stmt::Span {
                name: "l".into(),
                from: "0".into(),
                to: "h".into(),
                step: "1".into(),
                body: pairs,
            },
        ];
        Ok(Stmt::Halve { name: "half".into(), from: half, body })
    }

    /// True of a sum that takes products unrounded.
    fn is_unrounded(&self, r: &Reduction) -> bool {
        self.launch.body[r.value as usize].what.operation().is_some_and(Op::is_unrounded)
    }

    /// A product that a sum takes unrounded, with the sum so far.
    fn fused(&self, r: &Reduction, sum: &str, body: &Body) -> Option<Expr> {
        let What::Op { op, args, .. } = &self.launch.body[r.value as usize].what else {
            return None;
        };
        if !op.is_unrounded() {
            return None;
        }
        let [x, y] = [0, 1].map(|k| &body.values[args[k] as usize]);
        Some(match reduce::is_single(r.op, r.dtype) {
            true => format!("fmaf((float){x}, (float){y}, (float){sum})"),
            false => format!("fma({x}, {y}, {sum})"),
        })
    }

    /// Blocks of a long line, each into partials; so many blocks at a time are shared out.
    fn blocks(
        &mut self,
        folds: &[(usize, &Reduction)],
        axes: &[String],
        (along, extent): (&str, &str),
        (stores, block): (bool, usize),
    ) -> Result<Vec<Stmt>> {
        let (all, dots) = (reduce::LANES, reduce::DOTS);
        let unrounded = |(_, r): &(usize, &Reduction)| self.is_unrounded(r);
        let (some, each) = (folds.iter().any(unrounded), folds.iter().all(unrounded));
        // What else is taken with products in order is the same in any.
        let in_order = folds.iter().any(|(_, r)| self.launch.takes_in_order(r));
        let each = each || in_order;
        // Lines that are short round their products, each in a partial of its own.
        let lanes = if each { "lanes".to_string() } else { all.to_string() };
        let own = match in_order {
            true => "1".to_string(),
            false => format!("{extent} > {all} ? {dots} : {all}"),
        };
        let mut out = Vec::new();
        let mut one = vec![
            let_("b", Type::I64, format!("g + k * {block}")),
            let_("end", Type::I64, format!("{extent} - b < {block} ? {extent} - b : {block}")),
        ];
        if some {
            one.push(let_("lanes", Type::I64, own));
        }
        let mut items = vec![let_(along, Type::I64, "b + r + l".into())];
        let mut body = self.at_point(axes, stores)?;
        items.append(&mut body.out);
        for (k, r) in folds {
            let (name, count) = (format!("q{k}"), all as u32);
            one.push(Stmt::Local { name, of: Type::F64, count });
            // Told to be something: a compiler does not see that the first turn fills them.
            one.push(store(&format!("q{k}"), "0", "0.0"));
            let mut found = Body::new("i");
            (found.values, found.loose) = (body.values.clone(), body.loose.clone());
            let item = self.folded(r, &found)?;
            let own = if self.is_unrounded(r) && !each { "l % lanes" } else { "l" };
            let to = format!("q{k}[{own}]");
            match self.fused(r, &to, &body) {
                Some(is) => items.push(Stmt::Set {
                    is: format!("r + l < lanes ? {item} : {is}"),
                    name: to,
                    node: Some(r.node),
                }),
                None => self.takes_in(r, &to, "r == 0", &item, "o", &mut items)?,
            }
        }
        let lane = vec![
            let_("w", Type::I64, format!("end - r < {lanes} ? end - r : {lanes}")),
            span("l", "w", "1", items),
        ];
        one.push(span("r", "end", &lanes, lane));
        for (k, r) in folds {
            let there = match each || self.is_unrounded(r) {
                true => "(end < lanes ? end : lanes)",
                false => "end",
            };
            one.push(self.halved(*k, r, (all / 2) as u32, there)?);
            one.push(store(&format!("z{k}"), "k", &format!("q{k}[0]")));
        }
        let mut group: Vec<Stmt> = folds
            .iter()
            .map(|(k, _)| Stmt::Local {
                name: format!("z{k}"),
                of: Type::F64,
                count: TOGETHER as u32,
            })
            .collect();
        let left = format!("({extent} - g + {}) / {block}", block - 1);
        group.push(let_("some", Type::I64, left));
        group.push(let_("all", Type::I64, format!("some < {TOGETHER} ? some : {TOGETHER}")));
        group.push(Stmt::Parallel { points: format!("all * {block}"), loops: 1 });
        group.push(span("k", "all", "1", one));
        let mut join = Vec::new();
        for (k, r) in folds {
            let (name, next) = (format!("t{k}"), format!("z{k}[k]"));
            self.folds_in(r, &name, "g + k == 0", &next, "o", &mut join)?;
        }
        group.push(span("k", "all", "1", join));
        out.push(span("g", extent, &(block * TOGETHER).to_string(), group));
        Ok(out)
    }

    /// Folds along another axis: so many results side by side at a time.
    fn serial_columns(&mut self, axis: usize) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let (domain, outer) = (launch.domain.clone(), launch.outer());
        let last = domain.len() - 1;
        let axes = named(domain.len());
        let (extent, wide) = (self.extent(domain[axis]), self.extent(domain[last]));
        let mut outer_axes = axes.clone();
        outer_axes.remove(axis);
        let column = || let_(&axes[last], Type::I64, "c + l".into());
        let mut tile =
            vec![let_("w", Type::I64, format!("{wide} - c < {COLUMNS} ? {wide} - c : {COLUMNS}"))];
        let local =
            |c: char, k: usize| Stmt::Local { name: format!("{c}{k}"), of: Type::F64, count: 64 };
        let mut begin = Vec::new();
        for (k, r) in launch.reductions.iter().enumerate() {
            tile.push(local('t', k));
            begin.push(store(&format!("t{k}"), "l", &nothing(r.op)));
        }
        tile.push(span("l", "w", "1", begin));
        for Pass { folds, block, stores } in passes(launch) {
            let tree = block.is_some();
            let mut items = vec![column()];
            let o = self.place(&outer, &outer_axes);
            items.push(let_("o", Type::I64, o));
            let mut body = self.at_point(&axes, stores)?;
            items.append(&mut body.out);
            let mut found = Body::new("i");
            (found.values, found.loose) = (body.values.clone(), body.loose.clone());
            let rows = reduce::ROWS;
            if !tree {
                for (k, r) in &folds {
                    let item = self.sure(r.value, &launch.body, &found)?;
                    let name = format!("t{k}[l]");
                    let Joined { before, is } = self.joined(r, &item, &name, "o")?;
                    let set = |is: Expr| Stmt::Set { name: name.clone(), is, node: Some(r.node) };
                    let mut rest = before;
                    rest.push(set(is));
                    items.push(Stmt::If("j == 0".into(), vec![set(item)]));
                    items.push(Stmt::If("j > 0".into(), rest));
                }
                let turn = vec![
                    let_(&axes[axis], Type::I64, format!("{extent} - 1 - j")),
                    span("l", "w", "1", items),
                ];
                tile.push(span("j", &extent, "1", turn));
                continue;
            }
            let (mut sums, mut join) = (Vec::new(), vec![column()]);
            let o = self.place(&outer, &outer_axes);
            join.push(let_("o", Type::I64, o));
            for (k, r) in &folds {
                sums.push(local('q', *k));
                let item = self.folded(r, &found)?;
                let sum = format!("q{k}[l]");
                match self.fused(r, &sum, &body) {
                    Some(is) => items.push(Stmt::Set {
                        is: format!("r == 0 ? {item} : {is}"),
                        name: sum.clone(),
                        node: Some(r.node),
                    }),
                    None => self.takes_in(r, &sum, "r == 0", &item, "o", &mut items)?,
                }
                self.folds_in(r, &format!("t{k}[l]"), "b == 0", &sum, "o", &mut join)?;
            }
            sums.extend(folds.iter().map(|(k, _)| store(&format!("q{k}"), "0", "0.0")));
            sums.push(let_(
                "end",
                Type::I64,
                format!("{extent} - b < {rows} ? {extent} - b : {rows}"),
            ));
            let row =
                vec![let_(&axes[axis], Type::I64, "b + r".into()), span("l", "w", "1", items)];
            sums.push(span("r", "end", "1", row));
            sums.push(span("l", "w", "1", join));
            tile.push(span("b", &extent, &rows.to_string(), sums));
        }
        let mut finish = vec![column()];
        let o = self.place(&outer, &outer_axes);
        finish.push(let_("o", Type::I64, o));
        for r in &launch.reductions {
            self.of_nothing(r, &extent, &mut finish)?;
        }
        let reduced: Vec<String> =
            (0..launch.reductions.len()).map(|k| format!("t{k}[l]")).collect();
        self.after(&reduced, "o", &outer_axes, &mut finish)?;
        tile.push(span("l", "w", "1", finish));
        let tiles = vec![span("c", &wide, &COLUMNS.to_string(), tile)];
        let around: Vec<(String, usize)> =
            (0..last).filter(|k| *k != axis).map(|k| (axes[k].clone(), domain[k])).collect();
        let points = self.count_of(&domain);
        if around.is_empty() {
            return Ok(vec![Stmt::Parallel { points, loops: 1 }]
                .into_iter()
                .chain(tiles)
                .collect());
        }
        Ok(self.nest(&around, Some(points), tiles))
    }

    /// Scans, a line after the other.
    fn serial_scan(&mut self, axis: usize) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let domain = launch.domain.clone();
        let axes = named(domain.len());
        let extent = self.extent(domain[axis]);
        let own = launch.reductions.clone();
        let block = scan::BLOCK;
        let (mut line, mut ends) = (Vec::new(), Vec::new());
        let mut turn = vec![let_(&axes[axis], Type::I64, "j".into())];
        let mut body = self.at_point(&axes, true)?;
        turn.append(&mut body.out);
        let mut found = Body::new("i");
        (found.values, found.loose) = (body.values, body.loose);
        for (k, r) in own.iter().enumerate() {
            for name in ["q", "y", "t"] {
                line.push(let_(&format!("{name}{k}"), Type::F64, "0.0".into()));
            }
            let item = self.folded(r, &found)?;
            self.folds_in(
                r,
                &format!("y{k}"),
                &format!("j % {block} == 0"),
                &item,
                "i",
                &mut turn,
            )?;
            let (before, sum) = (format!("q{k}"), format!("y{k}"));
            let Joined { before: mut steps, is } = self.joined(r, &before, &sum, "i")?;
            turn.push(set(&format!("t{k}"), &sum));
            steps.push(Stmt::Set { name: format!("t{k}"), is, node: Some(r.node) });
            turn.push(Stmt::If(format!("j >= {block}"), steps));
            ends.push(set(&before, &format!("t{k}")));
        }
        let reduced: Vec<String> = (0..launch.reductions.len()).map(|k| format!("t{k}")).collect();
        let mut after = Body::new("i");
        let at = At { reduced: &reduced, ..At::point(&axes, &domain) };
        self.steps(&launch.after, at, &mut after)?;
        self.stores(Part::After, "i", &mut after)?;
        turn.append(&mut after.out);
        turn.push(Stmt::If(format!("j % {block} == {}", block - 1), ends));
        line.push(span("j", &extent, "1", turn));
        let around: Vec<(String, usize)> =
            (0..axes.len()).filter(|k| *k != axis).map(|k| (axes[k].clone(), domain[k])).collect();
        let points = self.count_of(&domain);
        Ok(self.nest(&around, Some(points), line))
    }

    fn serial_compact(&mut self, axis: usize) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let domain = launch.domain.clone();
        let axes = named(domain.len());
        let c = launch.compaction.ok_or_else(|| bug!("a selection of nothing"))?;
        let mask = self.buffer(launch.loads[c.mask as usize].buf, false)?.to_string();
        let mut body = self.at_point(&axes, true)?;
        let mut keep = Body::new("i");
        (keep.values, keep.loose) = (body.values, body.loose);
        self.stores(Part::Kept, "to", &mut keep)?;
        keep.out.push(set("to", "to + 1"));
        body.out.push(Stmt::If(format!("{mask}[{}] != 0", axes[axis]), keep.out));
        let around: Vec<(String, usize)> = axes.into_iter().zip(domain.iter().copied()).collect();
        let mut out = vec![let_("to", Type::I64, "0".into())];
        out.append(&mut self.nest(&around, None, body.out));
        Ok(out)
    }
}

/// The fold of nothing; where there is none, the call fails.
pub(super) fn nothing(op: Op) -> Expr {
    op.identity().map_or("0.0".into(), |x| format!("{x:?}"))
}

/// An expression with the statements that it needs before it.
pub(super) struct Joined {
    pub(super) before: Vec<Stmt>,
    pub(super) is: Expr,
}

//! Operations on whole arrays as loops of a program in C: folds in order, segments, assignments by
//! places, grades and searches.
//!
//! Rows: ACL-45, ACC-27, ACC-28. What they mean stands in `prim::whole`. Assignments come in the
//! order of their elements, so none of their loops is shared out; orders are those of `order.c`.

use super::lower::{At, Lowering, Spots, set, store};
use super::serial::{Joined, let_, named, nothing, span};
use super::{Expr, Stmt, Type};
use crate::plan::{Finish, Reduction};
use aplomb_ground::error::{Result, bug};
use aplomb_values::array::DType;
use aplomb_values::body::Rounds;
use aplomb_values::dag::{Lib, Whole};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::{reduce, scan};

impl Lowering<'_> {
    pub(super) fn serial_whole(&mut self, finish: &Finish) -> Result<Vec<Stmt>> {
        match &finish.what {
            Whole::Fold { axis, body, given } => {
                self.serial_fold(finish, *axis as usize, body, given)
            }
            Whole::Segmented { op, scan } => self.serial_segments(finish, *op, *scan),
            Whole::Scatter { read, along, origin, combine } => {
                let spots = (read, &along[..], *origin);
                self.serial_scatter(finish, spots, *combine)
            }
            Whole::Lib { of, origin, ct, rows, first } => {
                self.serial_library(finish, *of, (*origin, *ct), (*rows, *first))
            }
        }
    }

    /// Results `t0` over the shape of an operation on whole arrays.
    fn over_results(&mut self, finish: &Finish, mut before: Vec<Stmt>) -> Result<Vec<Stmt>> {
        let shape = finish.shape.clone();
        let axes = named(shape.len());
        let o = self.place(&shape, &axes);
        before.insert(0, let_("o", Type::I64, o));
        self.after(&["t0".into()], "o", &axes, &mut before)?;
        Ok(self.nest_all(&shape, before))
    }

    fn serial_fold(
        &mut self,
        finish: &Finish,
        axis: usize,
        rounds: &Rounds,
        given: &[f64],
    ) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let domain = launch.domain.clone();
        let axes = named(domain.len());
        let extent = self.extent(domain[axis]);
        let mut outer_axes = axes.clone();
        outer_axes.remove(axis);
        let outer = launch.outer();
        let value = *finish.fed.first().ok_or_else(|| bug!("a fold of nothing"))? as usize;
        let numbers: Vec<(Expr, bool)> =
            given.iter().map(|x| (self.number('p', Type::F64, *x), false)).collect();
        let mut turn = vec![let_(&axes[axis], Type::I64, format!("{extent} - 1 - j"))];
        let mut body = self.at_point(&axes, true)?;
        turn.append(&mut body.out);
        let item = body.values[value].clone();
        let args: Vec<(Expr, bool)> =
            [(item.clone(), true), ("t0".to_string(), true)].into_iter().chain(numbers).collect();
        let Joined { before: mut steps, is } = self.once(&finish.origin(), rounds, &args, "i")?;
        let set = |is: Expr| Stmt::Set { name: "t0".into(), is, node: Some(finish.node) };
        steps.push(set(is));
        turn.push(Stmt::If("j == 0".into(), vec![set(item)]));
        turn.push(Stmt::If("j > 0".into(), steps));
        let own = rounds.single().filter(|op| op.identity().is_some());
        let o = self.place(&outer, &outer_axes);
        let mut line =
            vec![let_("o", Type::I64, o), let_("t0", Type::F64, own.map_or("0.0".into(), nothing))];
        if own.is_none() {
            let fails = format!("fail({})", self.bad(finish.site, "o")?);
            line.push(Stmt::If(format!("{extent} == 0"), vec![Stmt::Do(fails)]));
        }
        line.push(span("j", &extent, "1", turn));
        self.after(&["t0".into()], "o", &outer_axes, &mut line)?;
        let around: Vec<(String, usize)> =
            outer_axes.iter().cloned().zip(outer.iter().copied()).collect();
        let points = self.count_of(&domain);
        Ok(self.nest(&around, Some(points), line))
    }

    fn serial_segments(&mut self, finish: &Finish, op: Op, scans: bool) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let lanes = reduce::LANES;
        let bounds = launch.held(finish, 0)?;
        let count = self.plan.buffer(bounds).shape[0];
        let bounds = self.buffer(bounds, false)?.to_string();
        let axes = named(1);
        let long = launch.domain.iter().map(|n| *n as u64).product();
        let mut out = Vec::new();
        let body = self.at_point(&axes, true)?;
        let domain = launch.domain.clone();
        // What no segment has may fail as well, so each element is computed by itself.
        self.shared("fed", Type::F64, long);
        if scans {
            self.shared("run", Type::F64, long);
        }
        let value = self.sure(finish.fed[0], &launch.body, &body)?;
        let mut each = body.out;
        each.push(store("fed", "i", &value));
        if scans {
            each.push(store("run", "i", "0.0"));
        }
        out.append(&mut self.nest_all(&domain, each));
        let r = Reduction {
            op,
            value: finish.fed[0],
            node: finish.node,
            dtype: finish.dtype,
            site: finish.site,
        };
        let from_to = vec![
            let_("from", Type::I64, format!("(i64){bounds}[2 * o]")),
            let_("to", Type::I64, format!("(i64){bounds}[2 * o + 1]")),
        ];
        if scans {
            out.append(&mut self.serial_segment_scans(&r, count, from_to)?);
            return Ok(out);
        }
        let block = reduce::block_of(op, finish.dtype);
        let mut items = Vec::new();
        self.takes_in(&r, "q0[l]", "r == 0", "fed[b + r + l]", "o", &mut items)?;
        let halved = self.halved(0, &r, (lanes / 2) as u32, "end")?;
        let mut one = vec![
            let_("end", Type::I64, format!("to - b < {block} ? to - b : {block}")),
            Stmt::Local { name: "q0".into(), of: Type::F64, count: lanes as u32 },
            store("q0", "0", "0.0"),
            span(
                "r",
                "end",
                &lanes.to_string(),
                vec![
                    let_("w", Type::I64, format!("end - r < {lanes} ? end - r : {lanes}")),
                    span("l", "w", "1", items),
                ],
            ),
            halved,
        ];
        self.folds_in(&r, "t0", "b == from", "q0[0]", "o", &mut one)?;
        let mut line = from_to;
        line.push(let_("t0", Type::F64, nothing(op)));
        line.push(Stmt::Span {
            name: "b".into(),
            from: "from".into(),
            to: "to".into(),
            step: block.to_string(),
            body: one,
        });
        out.append(&mut self.over_results(finish, line)?);
        Ok(out)
    }

    /// The running folds of the segments of `fed`, of which there are so many, in blocks from where
    /// each begins; then what follows at each place.
    fn serial_segment_scans(
        &mut self,
        r: &Reduction,
        count: usize,
        from_to: Vec<Stmt>,
    ) -> Result<Vec<Stmt>> {
        let domain = self.launch.domain.clone();
        let axes = named(1);
        let block = scan::BLOCK;
        let mut turn = vec![let_("j", Type::I64, "i - from".into())];
        self.folds_in(r, "y0", &format!("j % {block} == 0"), "fed[i]", "i", &mut turn)?;
        let Joined { before: mut steps, is } = self.joined(r, "q0", "y0", "i")?;
        steps.push(Stmt::Set { name: "t0".into(), is, node: Some(r.node) });
        turn.push(set("t0", "y0"));
        turn.push(Stmt::If(format!("j >= {block}"), steps));
        turn.push(store("run", "i", "t0"));
        turn.push(Stmt::If(format!("j % {block} == {}", block - 1), vec![set("q0", "t0")]));
        let mut line = from_to;
        line.extend(["q0", "y0", "t0"].map(|name| let_(name, Type::F64, "0.0".into())));
        line.push(Stmt::Span {
            name: "i".into(),
            from: "from".into(),
            to: "to".into(),
            step: "1".into(),
            body: turn,
        });
        let count = self.number('m', Type::I64, count as f64);
        let mut out = vec![span("o", &count, "1", line)];
        let mut last = vec![
            let_("i", Type::I64, self.place(&domain, &axes)),
            let_("t0", Type::F64, "run[i]".into()),
        ];
        self.after(&["t0".into()], "i", &axes, &mut last)?;
        out.append(&mut self.nest_all(&domain, last));
        Ok(out)
    }

    fn serial_scatter(
        &mut self,
        finish: &Finish,
        (read, along, origin): (&aplomb_values::dag::Read, &[aplomb_values::dag::Along], f64),
        combine: Option<(Op, f64)>,
    ) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let base = finish.held.first().and_then(|l| launch.loads.get(*l as usize));
        let base = base.map(|l| l.buf).ok_or_else(|| bug!("an assignment without its base"))?;
        let places: u64 = finish.shape.iter().map(|n| *n as u64).product();
        self.shared("into", Type::F64, places);
        let (there, count) = (self.item(base, "k")?, self.number('m', Type::I64, places as f64));
        let mut out = vec![span("k", &count, "1", vec![store("into", "k", &there)])];
        let domain = launch.domain.clone();
        let axes = named(domain.len());
        let mut body = self.at_point(&axes, true)?;
        let value = self.sure(finish.fed[0], &launch.body, &body)?;
        let moves: Vec<String> =
            finish.fed[1..].iter().map(|v| body.values[*v as usize].clone()).collect();
        let bad = self.bad(finish.site, "i")?;
        let spots = Spots { along, places: &moves, origin, bad: &bad };
        let at = self.moved(read, &finish.shape, &spots, At::point(&axes, &domain))?;
        body.out.push(Stmt::Let {
            name: "at".into(),
            of: Type::I64,
            is: at,
            node: Some(finish.node),
        });
        let is = match combine {
            None => value,
            Some((op, ct)) => {
                let rounds = Rounds::once(op, ct, DType::F64);
                let args = [("into[at]".to_string(), true), (value, true)];
                let Joined { mut before, is } = self.once(&finish.origin(), &rounds, &args, "i")?;
                body.out.append(&mut before);
                is
            }
        };
        body.out.push(Stmt::Store {
            to: "into".into(),
            at: "at".into(),
            is,
            node: Some(finish.node),
        });
        let around: Vec<(String, usize)> = axes.into_iter().zip(domain.iter().copied()).collect();
        // The last one wins, so they come in their order.
        out.append(&mut self.nest(&around, None, body.out));
        let line = vec![let_("t0", Type::F64, "into[o]".into())];
        out.append(&mut self.over_results(finish, line)?);
        Ok(out)
    }

    fn serial_library(
        &mut self,
        finish: &Finish,
        of: Lib,
        (origin, ct): (f64, f64),
        (rows, first): (bool, usize),
    ) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let from = launch.held(finish, 0)?;
        let shape = self.plan.buffer(from).shape.clone();
        let size = shape.iter().map(|n| *n as u64).product::<u64>();
        // The items that are put in order together, and the numbers of one.
        let (n, width) = match (rows, shape.as_slice()) {
            (true, shape) => (shape.last().map_or(1, |n| *n as u64), 1),
            (false, shape) => (
                shape.first().map_or(1, |n| *n as u64),
                shape.iter().skip(1).map(|n| *n as u64).product(),
            ),
        };
        self.shared("numbers", Type::F64, size);
        self.shared("order", Type::I64, if rows { size } else { n });
        self.shared("other", Type::I64, n);
        let all = self.number('m', Type::I64, size as f64);
        let (cells, wide) =
            (self.number('m', Type::I64, n as f64), self.number('m', Type::I64, width as f64));
        let item = self.item(from, "k")?;
        let down = u8::from(of.is_down());
        let mut out = vec![span("k", &all, "1", vec![store("numbers", "k", &item)])];
        let order = |from: &str| {
            Stmt::Do(format!(
                "order_cells(numbers{from}, {cells}, {wide}, {down}, order{from}, other)"
            ))
        };
        // A row of no items has no items in all.
        out.push(match rows {
            true => span("k", &all, &cells, vec![order(" + k")]),
            false => order(""),
        });
        let found = match of {
            Lib::GradeUp | Lib::GradeDown | Lib::SortUp | Lib::SortDown => {
                let place = self.place_in_order(finish, Type::I64, rows.then_some(n), first);
                match of.is_sort() {
                    false => format!("(double)order[{place}]"),
                    true if rows => {
                        let own = finish.shape.last().map_or(1.0, |n| *n as f64);
                        let own = self.number('m', Type::I64, own);
                        format!("numbers[o / {own} * {cells} + order[{place}]]")
                    }
                    true => format!("numbers[order[{place}]]"),
                }
            }
            Lib::IndexOf | Lib::Member => {
                let y = self.item(launch.held(finish, 1)?, "o")?;
                let ct = self.number('p', Type::F64, ct);
                let at = format!("order_find(numbers, order, {cells}, {y}, {ct})");
                match of {
                    Lib::Member => format!("({at} < {cells} ? 1.0 : 0.0)"),
                    _ => format!("(double){at}"),
                }
            }
        };
        let is = match of {
            Lib::SortUp | Lib::SortDown | Lib::Member => found,
            _ => format!("{} + {found}", self.number('p', Type::F64, origin)),
        };
        let line =
            vec![Stmt::Let { name: "t0".into(), of: Type::F64, is, node: Some(finish.node) }];
        out.append(&mut self.over_results(finish, line)?);
        Ok(out)
    }
}

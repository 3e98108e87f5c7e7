//! Consumers of whole arrays as code: ordered folds, a thread a result, folds and scans of
//! segments.
//!
//! Rows: ACC-05, ACC-27, ACC-28. `scatter` and `sort` are the others. A segment is the work of a
//! thread, of a warp, or of as many threads as it wants, by the mean length: threads that share out
//! the steps of a merge of elements and ends of segments have equal work, whatever the lengths
//! (Merrill and Garland, SC 2016). The scan of a segment is a thread's or a warp's, as that of a
//! row.

use super::fold::{fold_text, unit};
use super::lower::{At, Body, Lowering, Part, set, store, stride, warp_stride};
use super::scan::join;
use super::serial::let_;
use super::{Form, Spread, Stmt, Type, form};
use crate::plan::{Finish, Launch, Plan, product};
use aplomb_ground::error::{Result, bug};
use aplomb_values::body::Rounds;
use aplomb_values::dag::Whole;
use aplomb_values::prim::op::Op;

/// Segments of so few elements, on average, are a thread's, of as many as two warps have a warp's
/// (the paper's own were slow below); those between are merged.
const FEW: u64 = 4;
const LONG: u64 = 64;
/// Steps of a merge that a thread takes.
const SHARE: u64 = 16;

/// Who takes the segments of a launch; None: it has none.
pub(super) fn form(plan: &Plan, launch: &Launch) -> Option<Form> {
    let finish = launch.finish.as_ref()?;
    let Whole::Segmented { scan, .. } = finish.what else { return None };
    let mean = product(&launch.domain) / segments(plan, launch, finish)?.max(1);
    Some(match mean {
        // A carry would go through all threads that merge.
        _ if scan && mean > form::FEW as u64 => Form::WarpSegments,
        _ if scan => Form::ThreadSegments,
        ..=FEW => Form::ThreadSegments,
        LONG.. => Form::WarpSegments,
        _ => Form::MergedSegments,
    })
}

/// The number of segments.
fn segments(plan: &Plan, launch: &Launch, finish: &Finish) -> Option<u64> {
    let bounds = launch.held(finish, 0).ok()?;
    plan.buffer(bounds).shape.first().map(|n| *n as u64)
}

impl Lowering<'_> {
    pub(super) fn whole(&mut self) -> Result<()> {
        let finish =
            self.launch.finish.as_ref().ok_or_else(|| bug!("a launch without its operation"))?;
        let body = match &finish.what {
            Whole::Fold { axis, body, given } => {
                self.fold_in_order(finish, *axis as usize, body, given)?
            }
            Whole::Segmented { op, scan: false } => return self.segments(finish, *op),
            Whole::Segmented { op, scan: true } => return self.scan_segments(finish, *op),
            Whole::Scatter { .. } => return self.scatter(finish),
            Whole::Lib { of, origin, ct, rows, first } => {
                return self.library(finish, *of, (*origin, *ct), (*rows, *first));
            }
        };
        let points = finish.shape.iter().map(|n| *n as u64).product();
        self.kernel(body, Spread::Threads, points);
        Ok(())
    }

    fn fold_in_order(
        &mut self,
        finish: &Finish,
        axis: usize,
        rounds: &Rounds,
        given: &[f64],
    ) -> Result<Vec<Stmt>> {
        let numbers: Vec<String> = given.iter().map(|x| self.number('p', Type::F64, *x)).collect();
        let value = *finish.fed.first().ok_or_else(|| bug!("a fold of nothing"))? as usize;
        let (mut line, axes) = self.along(axis, true, |k, _, before, body| {
            before.push(Stmt::Let {
                name: "t0".into(),
                of: Type::F64,
                is: "0.0".into(),
                node: None,
            });
            let value = body.values[value].clone();
            let mut inner = Body::new(body.index);
            let own: Vec<(String, bool)> = [(value.clone(), true), ("t0".into(), true)]
                .into_iter()
                .chain(numbers.into_iter().map(|name| (name, false)))
                .collect();
            let extents = k.launch.domain.clone();
            k.round(
                &finish.origin(),
                rounds,
                At { args: &own, ..At::point(&[], &extents) },
                &mut inner,
            )?;
            let folded = inner.values[rounds.next[0] as usize].clone();
            inner.out.push(Stmt::Set { name: "t0".into(), is: folded, node: Some(finish.node) });
            let first = Stmt::Set { name: "t0".into(), is: value, node: Some(finish.node) };
            body.out.push(Stmt::If("j == 0".into(), vec![first]));
            body.out.push(Stmt::If("j > 0".into(), inner.out));
            Ok(())
        })?;
        self.after(&["t0".into()], "o", &axes, &mut line)?;
        Ok(vec![Stmt::Note("A thread a result, from the end.".into()), stride("o", "n", line)])
    }

    fn segments(&mut self, finish: &Finish, op: Op) -> Result<()> {
        let launch = self.launch;
        let (elements, segments) = (product(&launch.domain), product(&finish.shape));
        let form =
            if self.any_extents { Some(Form::WarpSegments) } else { form(self.plan, launch) };
        if form == Some(Form::MergedSegments) {
            return self.merged(finish, op);
        }
        let long = form == Some(Form::WarpSegments);
        let by = if long { Spread::Warps } else { Spread::Threads };
        let bounds = launch.loads[finish.held[0] as usize].buf;
        let bounds = self.buffer(bounds, false)?.to_string();
        let mut line = vec![
            let_("from", Type::U64, format!("(u64){bounds}[2 * o]")),
            let_("to", Type::U64, format!("(u64){bounds}[2 * o + 1]")),
            let_("t0", Type::F64, unit(op)?),
        ];
        let (mut body, value) = self.element(finish)?;
        let step = Stmt::Set {
            name: "t0".into(),
            is: fold_text(op, "t0", &value)?,
            node: Some(finish.node),
        };
        let (mut first, mut end) = ("from", "to");
        if body.out.iter().any(|s| matches!(s, Stmt::Let { is, .. } if is.contains("Bad{")))
            || value.contains("Bad{")
        {
            // What no segment has may fail as well: each goes on from where the one before ended.
            let (n, count) = (
                self.number('m', Type::U64, elements as f64),
                self.number('m', Type::U64, segments as f64),
            );
            line.push(let_("before", Type::U64, format!("o == 0 ? 0 : (u64){bounds}[2 * o - 1]")));
            line.push(let_("first", Type::U64, "before < from ? before : from".into()));
            line.push(let_("end", Type::U64, format!("o + 1 == {count} ? {n} : to")));
            body.out.push(Stmt::If("i >= from && i < to".into(), vec![step]));
            (first, end) = ("first", "end");
        } else {
            body.out.push(step);
        }
        let warps = by == Spread::Warps;
        line.push(Stmt::For {
            name: "i".into(),
            from: format!("{first}{}", if warps { " + threadIdx.x % 32" } else { "" }),
            to: end.into(),
            step: if warps { "32" } else { "1" }.into(),
            body: body.out,
        });
        let mut last = self.segment_done(op)?;
        let (note, each) = if warps {
            let half = vec![
                let_("d0", Type::F64, "__shfl_down_sync(~0u, t0, half)".into()),
                set("t0", &fold_text(op, "t0", "d0")?),
            ];
            line.push(Stmt::Halve { name: "half".into(), from: 16, body: half });
            line.push(Stmt::If("threadIdx.x % 32 == 0".into(), last));
            ("A warp a segment.", warp_stride("o", line))
        } else {
            line.append(&mut last);
            ("A thread a segment.", stride("o", "n", line))
        };
        self.kernel(vec![Stmt::Note(note.into()), each], by, segments);
        Ok(())
    }

    /// Each place is a segment's own or lies before it, behind the last one's it may be: so all are
    /// written. A warp carries the running fold from 32 places to the next.
    fn scan_segments(&mut self, finish: &Finish, op: Op) -> Result<()> {
        let launch = self.launch;
        let count = segments(self.plan, launch, finish).ok_or_else(|| bug!("no bounds"))?;
        let long = self.any_extents || form(self.plan, launch) == Some(Form::WarpSegments);
        let bounds = self.buffer(launch.held(finish, 0)?, false)?.to_string();
        let (n, all) = (
            self.number('m', Type::U64, product(&launch.domain) as f64),
            self.number('m', Type::U64, count as f64),
        );
        let mut line = vec![
            let_("from", Type::U64, format!("(u64){bounds}[2 * o]")),
            let_("to", Type::U64, format!("(u64){bounds}[2 * o + 1]")),
            let_("first", Type::U64, format!("o == 0 ? 0 : (u64){bounds}[2 * o - 1]")),
            let_("end", Type::U64, format!("o + 1 == {all} ? {n} : to")),
            let_("q0", Type::F64, unit(op)?),
        ];
        let (mut body, value) = self.element(finish)?;
        let inside = "i >= from && i < to".to_string();
        let mut after = Body::new("i");
        let axes = self.axes(&launch.domain, "i", &mut after.out);
        let at = At { reduced: &["t0".into()], ..At::point(&axes, &launch.domain) };
        self.steps(&launch.after, at, &mut after)?;
        self.stores(Part::After, "i", &mut after)?;
        let own =
            |is: &str| Stmt::Set { name: "t0".into(), is: is.into(), node: Some(finish.node) };
        let outside = Stmt::If(format!("!({inside})"), vec![set("t0", "0.0")]);
        let (note, by, each, out) = if long {
            body.out.push(Stmt::If(inside, vec![own(&value)]));
            let mut last = vec![outside];
            last.append(&mut after.out);
            let step = vec![
                let_("i", Type::U64, "at + threadIdx.x % 32".into()),
                let_("t0", Type::F64, unit(op)?),
                Stmt::If("i < end".into(), body.out),
                // All lanes of a warp are in one segment, so all are here.
                set("t0", "join0(q0, warp_scan(join0, t0))"),
                set("q0", "__shfl_sync(~0u, t0, 31)"),
                Stmt::If("i < end".into(), last),
            ];
            line.push(Stmt::For {
                name: "at".into(),
                from: "first".into(),
                to: "end".into(),
                step: "32".into(),
                body: step,
            });
            let each = warp_stride("o", line);
            ("A warp a segment.", Spread::Warps, each, vec![join(0, op)?])
        } else {
            body.out.push(let_("t0", Type::F64, "0.0".into()));
            let joined = set("q0", &fold_text(op, "q0", &value)?);
            body.out.push(Stmt::If(inside, vec![joined, own("q0")]));
            body.out.append(&mut after.out);
            line.push(Stmt::For {
                name: "i".into(),
                from: "first".into(),
                to: "end".into(),
                step: "1".into(),
                body: body.out,
            });
            ("A thread a segment.", Spread::Threads, stride("o", "n", line), Vec::new())
        };
        let out = out.into_iter().chain([Stmt::Note(note.into()), each]).collect();
        self.kernel(out, by, count);
        Ok(())
    }

    /// The statements behind the fold `t0` of segment `o`, which may have no elements.
    fn segment_done(&mut self, op: Op) -> Result<Vec<Stmt>> {
        let nothing =
            op.identity().ok_or_else(|| bug!("{}/ of a segment without elements", op.glyph()))?;
        let empty = format!("from < to ? t0 : {nothing:?}");
        let mut last =
            vec![set("t0", &empty), let_("x0", self.int(), format!("({})o", self.int().cuda()))];
        self.after(&["t0".into()], "o", &["x0".into()], &mut last)?;
        Ok(last)
    }

    /// Two kernels. An element is a step, and so is the end of a segment: thread `o` takes `SHARE`
    /// of them in order, writes the folds of the segments that end there, and carries what is left.
    /// Then a thread a segment folds what others carried for it, in order, and what it has: the
    /// same bits each time.
    fn merged(&mut self, finish: &Finish, op: Op) -> Result<()> {
        let (elements, segments) = (product(&self.launch.domain), product(&finish.shape));
        let (steps, unit) = (elements + segments, unit(op)?);
        let threads = steps.div_ceil(SHARE);
        let bounds = self.launch.loads[finish.held[0] as usize].buf;
        let bounds = self.buffer(bounds, false)?.to_string();
        self.shared("sums", Type::F64, segments);
        self.shared("carries", Type::F64, threads);
        let count = |k: &mut Self, n: u64| k.number('m', Type::U64, n as f64);
        let (n, all, steps) = (count(self, elements), count(self, segments), count(self, steps));
        let (mut body, value) = self.element(finish)?;
        body.out.push(Stmt::If(
            "i >= from".into(),
            vec![Stmt::Set {
                name: "t0".into(),
                is: fold_text(op, "t0", &value)?,
                node: Some(finish.node),
            }],
        ));
        let mut item = vec![let_("i", Type::U64, "at".into())];
        item.append(&mut body.out);
        item.push(set("at", "at + 1"));
        let bound = |k: u32| format!("segment < {all} ? (u64){bounds}[2 * segment + {k}] : {n}");
        let step = vec![
            let_("from", Type::U64, bound(0)),
            let_("to", Type::U64, bound(1)),
            let_("inside", Type::U32, "at < to".into()),
            Stmt::If("inside".into(), item),
            Stmt::If(
                "!inside".into(),
                vec![
                    store("sums", "segment", "t0"),
                    set("t0", &unit),
                    set("segment", "segment + 1"),
                ],
            ),
        ];
        // The segments that end before its first step: their ends, each one step more, rise.
        let look = vec![
            let_("ended", Type::U32, format!("(u64){bounds}[2 * middle + 1] + middle < first")),
            Stmt::If("ended".into(), vec![set("segment", "middle + 1")]),
            Stmt::If("!ended".into(), vec![set("last", "middle")]),
        ];
        let line = vec![
            let_("first", Type::U64, format!("o * {SHARE}")),
            let_(
                "end",
                Type::U64,
                format!("first + {SHARE} < {steps} ? first + {SHARE} : {steps}"),
            ),
            let_("segment", Type::U64, "0".into()),
            let_("last", Type::U64, all.clone()),
            Stmt::Each {
                name: "middle".into(),
                next: "(segment + last) / 2".into(),
                to: "last".into(),
                body: look,
            },
            let_("at", Type::U64, "first - segment".into()),
            let_("t0", Type::F64, unit.clone()),
            Stmt::For {
                name: "step".into(),
                from: "first".into(),
                to: "end".into(),
                step: "1".into(),
                body: step,
            },
            store("carries", "o", "t0"),
        ];
        let note = Stmt::Note("A thread so many steps of a merge of elements and segments.".into());
        self.kernel(vec![note, stride("o", "n", line)], Spread::Threads, threads);

        self.shared("sums", Type::F64, segments);
        self.shared("carries", Type::F64, threads);
        let mut line = vec![
            let_("from", Type::U64, format!("(u64){bounds}[2 * o]")),
            let_("to", Type::U64, format!("(u64){bounds}[2 * o + 1]")),
            let_("first", Type::U64, format!("o == 0 ? 0 : (u64){bounds}[2 * o - 1] + o")),
            let_("t0", Type::F64, unit),
            Stmt::For {
                name: "j".into(),
                from: format!("first / {SHARE}"),
                to: format!("(to + o) / {SHARE}"),
                step: "1".into(),
                body: vec![set("t0", &fold_text(op, "t0", "carries[j]")?)],
            },
            set("t0", &fold_text(op, "t0", "sums[o]")?),
        ];
        line.append(&mut self.segment_done(op)?);
        let note = Stmt::Note("A thread a segment: what was carried for it, in order.".into());
        self.kernel(vec![note, stride("o", "n", line)], Spread::Threads, segments);
        Ok(())
    }

    /// The body at element `i`, and its value, which is finite.
    pub(super) fn element(&mut self, finish: &Finish) -> Result<(Body, String)> {
        let mut body = Body::new("i");
        let domain = self.launch.domain.clone();
        let axes = self.axes(&domain, "i", &mut body.out);
        self.steps(&self.launch.body, At::point(&axes, &domain), &mut body)?;
        let value = self.sure(finish.fed[0], &self.launch.body, &body)?;
        Ok((body, value))
    }
}

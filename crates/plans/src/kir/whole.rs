//! Consumers of whole arrays as code: ordered folds and folds of segments, a thread a result.
//!
//! Rows: ACC-27, ACC-28. `scatter` and `sort` are the others.

use super::fold::{fold_text, unit};
use super::lower::{At, Body, Lowering, set, stride, warp_stride};
use super::{Spread, Stmt, Type};
use crate::plan::Finish;
use aplomb_ground::error::{Result, bug};
use aplomb_values::body::Rounds;
use aplomb_values::dag::Whole;
use aplomb_values::prim::op::Op;

/// Segments with more elements than that, on average, are a warp's.
const LONG: u64 = 16;

impl Lowering<'_> {
    pub(super) fn whole(&mut self) -> Result<()> {
        let finish =
            self.launch.finish.as_ref().ok_or_else(|| bug!("a launch without its operation"))?;
        let body = match &finish.what {
            Whole::Fold { axis, body, given } => {
                self.fold_in_order(finish, *axis as usize, body, given)?
            }
            Whole::Segmented { op } => return self.segments(finish, *op),
            Whole::Scatter { .. } => return self.scatter(finish),
            Whole::Lib { of, origin, ct, rows } => {
                return self.library(finish, *of, (*origin, *ct), *rows);
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
        let count = |shape: &[usize]| shape.iter().map(|n| *n as u64).product::<u64>();
        let (elements, segments) = (count(&launch.domain), count(&finish.shape));
        let long = self.any_extents || elements / segments.max(1) > LONG;
        let by = if long { Spread::Warps } else { Spread::Threads };
        let bounds = launch.loads[finish.held[0] as usize].buf;
        let bounds = self.buffer(bounds, false)?.to_string();
        let let_ =
            |name: &str, of: Type, is: String| Stmt::Let { name: name.into(), of, is, node: None };
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
        let nothing =
            op.identity().ok_or_else(|| bug!("{}/ of a segment without elements", op.glyph()))?;
        let empty = format!("from < to ? t0 : {nothing:?}");
        let mut last =
            vec![set("t0", &empty), let_("x0", self.int(), format!("({})o", self.int().cuda()))];
        self.after(&["t0".into()], "o", &["x0".into()], &mut last)?;
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

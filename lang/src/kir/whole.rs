//! Consumers of whole arrays as code: ordered folds and folds of segments, a thread a result.
//!
//! Rows: ACC-27, ACC-28. `scatter` and `sort` are the others.

use super::fold::fold_text;
use super::lower::{Body, Lowering, stride};
use super::{Spread, Stmt, Type};
use crate::dag::{Rounds, Whole};
use crate::error::{Result, internal};
use crate::plan::Finish;
use crate::prim::op::Op;

impl Lowering<'_> {
    pub(super) fn whole(&mut self) -> Result<()> {
        let finish = self.launch.finish.as_ref().ok_or_else(|| internal("a launch without its operation"))?;
        let body = match &finish.what {
            Whole::Fold { axis, body, given } => self.fold_in_order(finish, *axis as usize, body, given)?,
            Whole::Segmented { op } => self.segments(finish, *op)?,
            Whole::Scatter { .. } => return self.scatter(finish),
            Whole::Lib { of, origin, ct } => return self.library(finish, *of, *origin, *ct),
        };
        let points = finish.shape.iter().map(|n| *n as u64).product();
        self.kernel(body, Spread::Threads, points);
        Ok(())
    }

    fn fold_in_order(&mut self, finish: &Finish, axis: usize, rounds: &Rounds, given: &[f64]) -> Result<Vec<Stmt>> {
        let numbers: Vec<String> = given.iter().map(|x| self.number('p', Type::F64, *x)).collect();
        let value = *finish.fed.first().ok_or_else(|| internal("a fold of nothing"))? as usize;
        let (mut line, axes) = self.along(axis, true, |k, _, before, body| {
            before.push(Stmt::Let { name: "t0".into(), of: Type::F64, is: "0.0".into(), node: None });
            let value = body.values[value].clone();
            let mut inner = Body::new(body.index);
            inner.values = [value.clone(), "t0".into()].into_iter().chain(numbers).collect();
            inner.loose = vec![true; 2].into_iter().chain(vec![false; given.len()]).collect();
            k.round_steps((finish.node, finish.site), rounds, "w", &mut inner)?;
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

    fn segments(&mut self, finish: &Finish, op: Op) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let bounds = launch.loads[finish.held[0] as usize].buf;
        let bounds = self.buffer(bounds, false)?.to_string();
        let let_ = |name: &str, of: Type, is: String| Stmt::Let { name: name.into(), of, is, node: None };
        let mut line = vec![
            let_("from", Type::U64, format!("(u64){bounds}[2 * o]")),
            let_("to", Type::U64, format!("(u64){bounds}[2 * o + 1]")),
            let_("t0", Type::F64, format!("{:?}", op.identity().unwrap_or(0.0))),
        ];
        let mut body = Body::new("i");
        let domain = launch.domain.clone();
        let axes = self.axes(&domain, "i", &mut body.out);
        self.steps(&launch.body, &axes, &domain, &[], &mut body)?;
        let value = body.values[finish.fed[0] as usize].clone();
        let next = fold_text(op, "t0", &value)?;
        body.out.push(Stmt::Set { name: "t0".into(), is: next, node: Some(finish.node) });
        line.push(Stmt::For {
            name: "i".into(),
            from: "from".into(),
            to: "to".into(),
            step: "1".into(),
            body: body.out,
        });
        line.push(let_("x0", self.int(), format!("({})o", self.int().cuda())));
        self.after(&["t0".into()], "o", &["x0".into()], &mut line)?;
        Ok(vec![Stmt::Note("A thread a segment.".into()), stride("o", "n", line)])
    }
}

//! Ways along an axis, a thread a line: scans, and the places that a mask keeps.
//!
//! Rows: ACL-11, ACC-06; CUDA §4.

use super::lower::{Body, Lowering, Part, stride};
use super::{Stmt, Type, fold::fold_text};
use crate::error::{Result, internal};

impl Lowering<'_> {
    /// A thread's way along an axis, the body at every place of it, and the axes around. `each` follows the body, and
    /// says what stands before the loop. `back`: from the last place to the first.
    pub(super) fn along(
        &mut self,
        axis: usize,
        back: bool,
        each: impl FnOnce(&mut Self, &[String], &mut Vec<Stmt>, &mut Body) -> Result<()>,
    ) -> Result<(Vec<Stmt>, Vec<String>)> {
        let (domain, mut outer) = (self.launch.domain.clone(), self.launch.domain.clone());
        outer.remove(axis);
        let extent = self.number('m', Type::U64, domain[axis] as f64);
        let mut line = Vec::new();
        let outer_axes = self.axes(&outer, "o", &mut line);
        // The domain's axes: the outer ones around this one.
        let mut axes: Vec<String> = outer_axes[..axis].to_vec();
        axes.push("xf".into());
        axes.extend_from_slice(&outer_axes[axis..]);
        let mut body = Body::new("i");
        let place_of_j = if back { format!("({extent} - 1 - j)") } else { "j".into() };
        let place_of_j = format!("({}){place_of_j}", self.int().cuda());
        body.out.push(Stmt::Let { name: "xf".into(), of: self.int(), is: place_of_j, node: None });
        let place = self.flat(&axes)?;
        body.out.push(Stmt::Let { name: "i".into(), of: Type::U64, is: place, node: None });
        self.steps(&self.launch.body, &axes, &domain, &[], &mut body)?;
        self.stores(Part::Body, "i", &mut body)?;
        each(self, &axes, &mut line, &mut body)?;
        line.push(Stmt::For { name: "j".into(), from: "0".into(), to: extent, step: "1".into(), body: body.out });
        Ok((line, outer_axes))
    }

    pub(super) fn scan(&mut self, axis: usize) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let (line, _) = self.along(axis, false, |k, axes, before, body| {
            let mut reduced = Vec::new();
            for (j, r) in launch.reductions.iter().enumerate() {
                let name = format!("t{j}");
                before.push(Stmt::Let { name: name.clone(), of: Type::F64, is: "0.0".into(), node: None });
                let value = k.folded(r, body);
                let next = format!("(j == 0 ? {value} : {})", fold_text(r.op, &name, &value)?);
                body.out.push(Stmt::Set { is: next, name: name.clone(), node: Some(r.node) });
                reduced.push(name);
            }
            let mut after = Body::new("i");
            k.steps(&launch.after, axes, &launch.domain, &reduced, &mut after)?;
            k.stores(Part::After, "i", &mut after)?;
            body.out.append(&mut after.out);
            Ok(())
        })?;
        Ok(vec![Stmt::Note("A thread a line.".into()), stride("o", "n", line)])
    }

    pub(super) fn compact(&mut self, axis: usize) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let (Some(c), Some(to)) = (launch.compaction, launch.after_stores.first()) else {
            return Err(internal("a selection of nothing"));
        };
        let width = launch.domain[axis + 1..].iter().product::<usize>();
        let inner = self.integer(width as i64);
        let kept = self.integer(self.plan.buffer(to.buf).shape[axis] as i64);
        let first = match width {
            1 => format!("o * {kept}"),
            _ => {
                let (above, by) = self.divided(&format!("({})o", self.int().cuda()), width as i64);
                format!("o + (u64){above} * ({kept} - 1) * {by}")
            }
        };
        let (line, _) = self.along(axis, false, |k, _, before, body| {
            before.push(Stmt::Note("Where the next cell that is kept goes.".into()));
            before.push(Stmt::Let { name: "to".into(), of: Type::U64, is: first, node: None });
            let mask = k.buffer(launch.loads[c.mask as usize].buf, false)?.to_string();
            let mut keep = Body::new("i");
            keep.values = body.values.clone();
            keep.loose = body.loose.clone();
            k.stores(Part::Kept, "to", &mut keep)?;
            keep.out.push(Stmt::Set { name: "to".into(), is: format!("to + {inner}"), node: Some(c.node) });
            body.out.push(Stmt::If(format!("{mask}[j] != 0"), keep.out));
            Ok(())
        })?;
        Ok(vec![Stmt::Note("A thread a line.".into()), stride("o", "n", line)])
    }
}

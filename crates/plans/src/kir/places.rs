//! Ways along an axis, a thread a line.
//!
//! Rows: ACL-11, ACC-06.

use super::lower::{At, Body, Lowering, Part};
use super::{Stmt, Type};
use aplomb_ground::error::Result;

impl Lowering<'_> {
    /// A thread's way along an axis, the body at every place of it, and the axes around. `each`
    /// follows the body, and says what stands before the loop. `back`: from the last place to the
    /// first.
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
        self.steps(&self.launch.body, At::point(&axes, &domain), &mut body)?;
        self.stores(Part::Body, "i", &mut body)?;
        each(self, &axes, &mut line, &mut body)?;
        line.append(&mut self.before_loop(&mut body.out, &["j", "i", "xf"]));
        line.push(Stmt::For {
            name: "j".into(),
            from: "0".into(),
            to: extent,
            step: "1".into(),
            body: body.out,
        });
        Ok((line, outer_axes))
    }
}

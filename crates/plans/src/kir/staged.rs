//! Folds of rows that no order of their loops reads side by side, as the paper has them: a thread a
//! row, and a block copies parts of its rows into shared memory, thread beside thread.
//!
//! Rows: BAS-09, BAS-14, BAS-17. Pipelines that ask for it have boxes (`plan::tiling`) at such
//! folds; ours lets the threads of a warp share a row.

use super::lower::{At, Body, Lowering, Part, block_stride};
use super::{Spread, Stmt, Type};
use aplomb_ground::error::{Result, bug};

impl Lowering<'_> {
    /// The statements, who takes a box, and how many there are.
    pub(super) fn fold_staged(&mut self) -> Result<(Vec<Stmt>, Spread, u64)> {
        let launch = self.launch;
        let (Some(tiling), [rows, long]) = (&launch.tiling, &launch.domain[..]) else {
            return Err(bug!("parts of rows that a launch has not"));
        };
        let (block, int) = (&tiling.block, self.int());
        let let_ =
            |name: &str, is: String| Stmt::Let { name: name.into(), of: int, is, node: None };
        let mut out = vec![Stmt::Note("A thread a row, of which its block copies parts.".into())];
        out.append(&mut self.near_arrays()?);
        let (all, extent) = (self.integer(*rows as i64), self.integer(*long as i64));
        let mut part = vec![let_("z1", format!("({})c", int.cuda()))];
        part.append(&mut self.copies(&["z0".into(), "z1".into()])?);
        let axes = ["x0".to_string(), "x1".into()];
        let mut body = Body::new("i");
        self.steps(&launch.body, At::point(&axes, &launch.domain), &mut body)?;
        self.stores(Part::Body, "i", &mut body)?;
        let mut row = Vec::new();
        self.accumulate(&mut row, &mut body)?;
        let mut one = vec![
            let_("x1", "z1 + l1".into()),
            Stmt::Let { name: "i".into(), of: Type::U64, is: self.flat(&axes)?, node: None },
        ];
        one.append(&mut body.out);
        let own = Stmt::For {
            name: "j".into(),
            from: "0".into(),
            to: block[1].to_string(),
            step: "1".into(),
            body: vec![
                let_("l1", format!("({})j", int.cuda())),
                Stmt::If(format!("z1 + l1 < {extent}"), one),
            ],
        };
        part.push(Stmt::If(format!("x0 < {all}"), vec![own]));
        part.push(Stmt::Do("__syncthreads()".into()));
        let mut each = vec![
            let_("z0", format!("({})b * {}", int.cuda(), block[0])),
            let_("l0", format!("({})threadIdx.x", int.cuda())),
            let_("x0", "z0 + l0".into()),
        ];
        each.append(&mut row);
        each.push(Stmt::For {
            name: "c".into(),
            from: "0".into(),
            to: extent,
            step: block[1].to_string(),
            body: part,
        });
        let reduced: Vec<String> = (0..launch.reductions.len()).map(|k| format!("t{k}")).collect();
        let mut finish =
            vec![Stmt::Let { name: "o".into(), of: Type::U64, is: "(u64)x0".into(), node: None }];
        self.after(&reduced, "o", &axes[..1], &mut finish)?;
        each.push(Stmt::If(format!("x0 < {all}"), finish));
        out.push(block_stride("b", each));
        Ok((out, Spread::Blocks, rows.div_ceil(block[0]) as u64))
    }
}

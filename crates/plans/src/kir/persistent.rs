//! Maps whose blocks stay: each draws the next tile of points from a ticket until none is left.
//!
//! Row: ACC-26. For launches with loops, whose points may need unequal time: with the grid's stride
//! a block's share is fixed before anybody knows how long it takes. A tile is a point a thread.
//! Values are those of the other text.

use super::compact::{TILES, scratch};
use super::lower::Lowering;
use super::scan::Shape;
use super::{Spread, Stmt, THREADS, Type};
use crate::plan::What;

impl Lowering<'_> {
    /// Whether some step of the launch is a loop.
    pub(super) fn has_loop(&self) -> bool {
        self.launch.body.iter().any(|s| matches!(s.what, What::Loop { .. }))
    }

    /// `body`: what is done at the point `i`, of so many.
    pub(super) fn persistent(&mut self, body: Vec<Stmt>, points: u64) -> Shape {
        scratch(&mut self.params, &[]);
        let end = self.number('m', Type::U64, points as f64);
        let tile = vec![
            // The next number is drawn when everybody has read this one.
            Stmt::Do("__syncthreads()".into()),
            Stmt::Let {
                name: "i".into(),
                of: Type::U64,
                is: format!("tile * {THREADS} + threadIdx.x"),
                node: None,
            },
            Stmt::If(format!("i < {end}"), body),
        ];
        let out = vec![
            Stmt::Shared { name: "seat".into(), of: Type::U32, count: 1 },
            Stmt::Note(format!("Blocks stay: each draws the next {THREADS} points from a ticket.")),
            Stmt::Each { name: "tile".into(), next: TILES.into(), to: "lo + n".into(), body: tile },
        ];
        (out, Spread::Tiles, points.div_ceil(u64::from(THREADS)))
    }
}

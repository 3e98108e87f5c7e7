//! The loops of a launch's text, level by level: blocks, what a block holds in shared memory at
//! once, threads, and what a thread holds in registers.
//!
//! Rows: BAS-22. Read off the launch and its code, as the text has them; extents are those of the
//! launch.

use super::product::Tiled;
use super::{Code, Form, TileSize};
use crate::plan::{Launch, Plan};
use aplomb_ground::trace::LoopRecord;
use aplomb_values::dag::ix::axis_name;

/// A loop over `extent` places of an axis, `step` at a time.
fn one(axis: usize, extent: u64, step: u64, level: &str, role: &str) -> LoopRecord {
    LoopRecord { axis: axis_name(axis), extent, step, level: level.into(), role: role.into() }
}

/// The loops, the outermost first. Empty: the code is several kernels, or a thread's order follows
/// no axis.
pub fn schedule(plan: &Plan, launch: &Launch, code: &Code) -> Vec<LoopRecord> {
    let [kernel] = code.kernels.as_slice() else { return Vec::new() };
    let extent = |axis: usize| launch.domain[axis] as u64;
    let form = Form::of(plan, launch);
    let tiled = Tiled::of(launch);
    if let (Form::Tiles, Some(size), Some(tiled)) = (form, kernel.choices.tiles, &tiled) {
        return product(tiled, size, extent);
    }
    if let (Form::Pairs, Some(tiled)) = (form, &tiled) {
        let threads = u64::from(kernel.threads);
        let [row, folded] = [tiled.row, tiled.folded];
        return vec![
            one(row, extent(row), threads, "grid", "point"),
            one(folded, extent(folded), threads, "block", "fold"),
            one(row, threads, 1, "thread", "point"),
            one(folded, threads, 1, "register", "fold"),
        ];
    }
    if let Some(tiling) = launch.tiling.as_ref().filter(|_| form == Form::Boxes) {
        let sides = || launch.domain.iter().zip(&tiling.block).enumerate();
        let grid = sides().map(|(axis, (n, b))| one(axis, *n as u64, *b as u64, "grid", "point"));
        let own = sides().filter(|(_, (_, b))| **b > 1);
        let own = own.map(|(axis, (_, b))| one(axis, *b as u64, 1, "thread", "point"));
        return grid.chain(own).collect();
    }
    Vec::new()
}

fn product(t: &Tiled, size: TileSize, extent: impl Fn(usize) -> u64) -> Vec<LoopRecord> {
    let Some(column) = t.column else { return Vec::new() };
    let [rows, columns, deep, own] = [size.rows, size.columns, size.deep, size.own].map(u64::from);
    let (down, across) = (u64::from(size.down()), u64::from(size.across()));
    vec![
        one(t.row, extent(t.row), rows, "grid", "point"),
        one(column, extent(column), columns, "grid", "point"),
        one(t.folded, extent(t.folded), deep, "block", "fold"),
        one(t.row, down, 1, "thread", "point"),
        one(column, across, 1, "thread", "point"),
        one(t.folded, deep, 1, "thread", "fold"),
        one(t.row, own, 1, "register", "point"),
        one(column, own, 1, "register", "point"),
    ]
}

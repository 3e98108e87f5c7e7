//! A launch as kernels whose text and shape hold for all extents, for programs that know theirs
//! only when they run.
//!
//! Rows: BAR-09, ACL-45. The kernels are those of any launch, but which shape is taken follows from
//! the launch's form and not from its extents: a row is a block's, another line a thread's, a
//! product a thread a result, what is sorted goes by passes however few it is. Indices are i64, so
//! that no number of the text is a reciprocal. Not here: tiles in shared memory, parts of long
//! lines.

use super::form::FEW;
use super::lower::Lowering;
use super::scan::Shape;
use super::{Code, Spread, Tuning, fold, tidy};
use crate::plan::{Kind, Launch, Plan};
use aplomb_ground::error::{Result, internal};

/// A launch's kernels for all extents. Errors: NONCE for an operation without such a text.
pub fn any_extents(plan: &Plan, launch: &Launch, number: usize) -> Result<Code> {
    fold::foldable(launch)?;
    let mut k = Lowering::new(plan, launch, number, Tuning::default(), false);
    k.any_extents = true;
    let count = |shape: &[usize]| shape.iter().map(|n| *n as u64).product::<u64>();
    let (outer, rank) = (launch.outer(), launch.domain.len());
    let results = count(&outer);
    let (body, spread, points): Shape = match (launch.kind, launch.axis) {
        (Kind::Whole, _) => {
            k.whole()?;
            return checked(k.done());
        }
        (_, None) | (Kind::Map, _) => k.map(count(&launch.domain))?,
        (Kind::Scan, Some(axis)) if rank == 1 => k.scan_tiles(axis, 1, 8)?,
        (Kind::Scan, Some(axis)) if launch.domain[axis] <= FEW => {
            (k.scan_lines(axis)?, Spread::Threads, lines(launch, axis))
        }
        (Kind::Scan, Some(axis)) => (k.scan_warps(axis)?, Spread::Warps, lines(launch, axis)),
        (Kind::Compact, Some(axis)) => k.compact(axis)?,
        (Kind::Reduce, Some(_)) if outer.is_empty() => {
            (k.fold_all()?, Spread::Threads, count(&launch.domain))
        }
        (Kind::Reduce, Some(axis))
            if axis + 1 == rank && outer.len() == 1 && launch.domain[axis] > FEW =>
        {
            (k.fold_rows(&outer, Spread::Blocks)?, Spread::Blocks, results)
        }
        (Kind::Reduce, Some(axis)) => (k.fold_columns(axis)?, Spread::Threads, results),
    };
    k.kernel(body, spread, points);
    checked(k.done())
}

fn lines(launch: &Launch, axis: usize) -> u64 {
    let others = launch.domain.iter().enumerate().filter(|(k, _)| *k != axis);
    others.map(|(_, n)| *n as u64).product()
}

fn checked(mut code: Code) -> Result<Code> {
    let several = code.kernels.len() > 1;
    for kernel in &mut code.kernels {
        tidy::drop_unused(&mut kernel.body);
        tidy::drop_parameters(kernel, several);
        super::check::check(kernel)
            .map_err(|e| internal(format!("the code of {}: {e}", kernel.name)))?;
    }
    Ok(code)
}

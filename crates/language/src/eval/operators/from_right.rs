//! A fold of arrays of one shape by a scalar function, where they lie: from the right, array after
//! array, as `f` between items gives it, so that sums of fractions keep the bits of that order.
//! (Folds in which no order gives other bits are one fold of the array that holds them all:
//! `in_any_order`.)

use crate::eval::run::Eval;
use aplomb_ground::error::Result;
use aplomb_values::array::{Array, DType, Shape, elements};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar;

/// Elements that are folded between two looks at the interrupt, about.
const LOOK: usize = 1 << 14;

/// The fold as an array. None: the items are others, or a step fails, which one by one they tell
/// of themselves. Errors: WS FULL, INTERRUPT.
pub fn folded(ev: &mut Eval<'_>, op: Op, y: &Array) -> Result<Option<Array>> {
    if y.rank() != 1 || y.frame().is_some() || ev.cx.is_ahead(y) {
        return Ok(None);
    }
    let Some(rows) = ev.cx.as_rows(y)?.filter(|rows| rows.node.is_of_f64()) else {
        return Ok(None);
    };
    let (shape, ct) = (Shape::from_slice(rows.cell()), ev.cx.sys.settings.ct);
    let width = elements(&shape);
    let all = ev.cx.numbers(&rows.node, "reduction")?;
    let Some(first) = all.len().checked_sub(width).filter(|_| width > 0) else { return Ok(None) };
    let mut sums = ev.cx.budget().each(all[first..].iter().copied())?;
    let mut done = 0;
    for row in all[..first].rchunks_exact(width) {
        if done / LOOK != (done + width) / LOOK {
            ev.cx.host.interrupt().check()?;
        }
        done += width;
        for (sum, x) in sums.iter_mut().zip(row) {
            match scalar::eval(op, ct, *x, *sum) {
                Ok(value) => *sum = value,
                Err(_) => return Ok(None),
            }
        }
    }
    let (kind, _) = op.result(&[(DType::F64, None); 2]);
    let made = match kind {
        DType::F64 => Array::floats(shape, sums, ev.cx.budget()),
        _ => Array::numbers(shape, sums, ev.cx.budget()),
    };
    made.map(Some)
}

//! Items that lie together along a short last axis, as `x` and `y` of a point do: `Q[;1]×Q[;2]`
//! reads both at once.
//!
//! Rows: ACL-02, ACL-21. Where several reads take components of the point's own row of 2 or 4
//! items, the row's vector is read once, in a statement before the first of them, and each is a
//! component of it. Arrays begin at multiples of 16 bytes, which the launcher sees to.

use super::lower::{Body, Lowering, storage};
use super::{Expr, Stmt, Type};
use crate::plan::Load;
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::linear;

/// Bytes of the widest vector.
const WIDEST: u32 = 16;

impl Lowering<'_> {
    /// The component of a vector that a read is, the vector before it in the body; None where it is
    /// not, or where it is alone.
    pub(super) fn packed(&self, load: &Load, extents: &[usize], body: &mut Body) -> Option<Expr> {
        let (width, component) = self.component(load, extents)?;
        let others = self.launch.loads.iter().filter(|l| l.buf == load.buf);
        if !others.filter_map(|l| self.component(l, extents)).any(|(_, other)| other != component) {
            return None;
        }
        let of = storage(self.plan.buffer(load.buf).dtype);
        let items = (WIDEST / of.bytes()).min(width);
        let (vectors, vector) = (width / items, component / items);
        let (point, out) = (Some(body.index).filter(|index| *index != "0")?, &mut body.out);
        let at = match (vectors, vector) {
            (1, _) => point.to_string(),
            (_, 0) => format!("{vectors} * {point}"),
            _ => format!("({vectors} * {point} + {vector})"),
        };
        let name = self.buffer(load.buf, false).ok()?;
        let own = ["x", "y", "z", "w"][(component % items) as usize];
        let vector = of.vector(items);
        let is = format!(" = __ldg((const {vector}*){name} + {at})");
        let known = out.iter().find_map(|s| match s {
            Stmt::Do(text) => {
                text.strip_suffix(&is)?.strip_prefix(vector).map(|n| n.trim().to_string())
            }
            _ => None,
        });
        let row = known.unwrap_or_else(|| {
            let row = format!("{name}_{}", self.variables);
            out.push(Stmt::Do(format!("{vector} {row}{is}")));
            row
        });
        Some(format!("{row}.{own}"))
    }

    /// The row's width, 2 or 4, and the item of it that a read takes at each point.
    fn component(&self, load: &Load, extents: &[usize]) -> Option<(u32, u32)> {
        let buffer = self.plan.buffer(load.buf);
        let width = *buffer.shape.last().filter(|n| [2, 4].contains(*n))?;
        let of = storage(buffer.dtype);
        // Vectors of bytes have no components that are worth it.
        let fits =
            !extents.is_empty() && load.read.tests.is_empty() && !matches!(of, Type::U8 | Type::I8);
        let read = linear(&load.read.ix, &buffer.shape, extents);
        let own = linear(&Read::identity(extents.len()).ix, extents, extents);
        let component = u32::try_from(read.c).ok().filter(|c| (*c as usize) < width && fits)?;
        (read == own.times(width as i64).offset(read.c)).then_some((width as u32, component))
    }
}

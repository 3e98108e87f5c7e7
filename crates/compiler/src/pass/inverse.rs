//! A transform's map the other way: from a place of its source to the places of its result.
//!
//! Row: ACL-28. Reads are kept from result to source, since that is what a loop needs; people think
//! of the elements as going somewhere. Told where each axis of the result is moved by one axis of
//! the source at most.

use aplomb_plans::plan::tiling::single;
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::{Ix, axis_name};

/// `(i)→(8-i)`; an axis of the result that no source axis tells is `*`, one along which the source
/// repeats has `+3t`. None: not of that form.
pub fn text(read: &Read, source: &[usize], result: &[usize]) -> Option<String> {
    let place = |axis: usize| -> Option<String> {
        let mut own = read.ix.iter().enumerate().filter(|(_, ix)| ix.mentions(axis));
        let Some((at, ix)) = own.next() else { return Some("*".into()) };
        let of = single(ix).filter(|_| own.next().is_none())?;
        // A place of two axes has no single way back.
        let from = Ix::axis(at).offset(-of.from);
        let back = if of.by < 0 { from.times(-1) } else { from };
        let (by, extent) = (of.by.abs(), result[axis] as i64);
        Some(match (by, of.wraps) {
            (1, None) => back.text(),
            (1, Some(n)) if extent <= n => back.modulo(n, source).text(),
            (1, Some(n)) => format!("{}+{n}t", back.modulo(n, source).text()),
            (by, None) => format!("({})÷{by}", back.text()),
            _ => return None,
        })
    };
    let places: Option<Vec<String>> = (0..result.len()).map(place).collect();
    let axes: Vec<String> = (0..source.len()).map(axis_name).collect();
    Some(format!("({})→({})", axes.join(","), places?.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both directions of a map, over places of the result that the source tells.
    #[test]
    fn acl_28_the_way_back_leads_to_where_the_way_came_from() {
        let says =
            |ix: Vec<Ix>, source: &[usize], result: &[usize]| text(&Read::new(ix), source, result);
        let i = || Ix::axis(0);
        let j = || Ix::axis(1);
        assert_eq!(says(vec![i().times(-1).offset(8)], &[9], &[9]).as_deref(), Some("(i)→(8-i)"));
        assert_eq!(says(vec![j(), i()], &[3, 4], &[4, 3]).as_deref(), Some("(i,j)→(j,i)"));
        assert_eq!(says(vec![i().offset(2)], &[9], &[7]).as_deref(), Some("(i)→(i-2)"));
        assert_eq!(
            says(vec![i().times(2).offset(1)], &[9], &[4]).as_deref(),
            Some("(i)→((i-1)÷2)")
        );
        assert_eq!(says(vec![j()], &[4], &[3, 4]).as_deref(), Some("(i)→(*,i)"));
        let around = i().modulo(3, &[6]);
        assert_eq!(says(vec![around], &[3], &[6]).as_deref(), Some("(i)→(i+3t)"));
        assert_eq!(says(vec![i(), i()], &[3, 3], &[3]), None);
    }
}

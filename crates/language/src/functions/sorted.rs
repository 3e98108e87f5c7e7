//! Stable sorts that hear an interrupt.

use aplomb_ground::error::Result;
use aplomb_ground::limits::{Budget, Ticks};
use std::cmp::Ordering;

/// Items in the order of a comparison that may take long, those that are equal as they stand.
/// Errors: WS FULL, INTERRUPT.
pub fn in_order<T: Copy>(
    items: Vec<T>,
    budget: &Budget,
    order: impl FnMut(&mut Ticks, T, T) -> Result<Ordering>,
) -> Result<Vec<T>> {
    merged(items, 1, budget, order)
}

/// The same of a comparison that is over soon. Errors: WS FULL, INTERRUPT.
pub fn in_short_order<T: Copy>(
    mut items: Vec<T>,
    budget: &Budget,
    mut order: impl FnMut(T, T) -> Ordering,
) -> Result<Vec<T>> {
    /// Items that are sorted between two looks at the interrupt.
    const RUN: usize = 1 << 14;
    for run in items.chunks_mut(RUN) {
        budget.check()?;
        run.sort_by(|&a, &b| order(a, b));
    }
    merged(items, RUN, budget, |ticks, a, b| ticks.tick().map(|()| order(a, b)))
}

/// Items whose runs are in order.
fn merged<T: Copy>(
    mut items: Vec<T>,
    mut run: usize,
    budget: &Budget,
    mut order: impl FnMut(&mut Ticks, T, T) -> Result<Ordering>,
) -> Result<Vec<T>> {
    let n = items.len();
    let Some(&first) = items.first().filter(|_| run < n) else { return Ok(items) };
    let mut ticks = budget.ticks();
    let mut merged = budget.filled(first, n)?;
    while run < n {
        for from in (0..n).step_by(2 * run) {
            let (middle, to) = ((from + run).min(n), (from + 2 * run).min(n));
            let (mut a, mut b) = (from, middle);
            for slot in &mut merged[from..to] {
                let left = b == to
                    || a < middle && order(&mut ticks, items[a], items[b])? != Ordering::Greater;
                let next = if left { &mut a } else { &mut b };
                *slot = items[*next];
                *next += 1;
            }
        }
        std::mem::swap(&mut items, &mut merged);
        run *= 2;
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sort_is_the_standard_one_and_hears_an_interrupt() {
        use aplomb_ground::limits::Interrupt;
        let stop = Interrupt::default();
        let budget = Budget::stopped_by(1 << 30, stop.clone());
        for n in [0, 1, 7, (1 << 14) - 1, 50_000] {
            let items: Vec<(usize, usize)> = (0..n).map(|k| (k * 7_919 % 101, k)).collect();
            let mut wanted = items.clone();
            wanted.sort();
            let by = |a: (usize, usize), b: (usize, usize)| a.0.cmp(&b.0);
            assert!(in_short_order(items.clone(), &budget, by).is_ok_and(|own| own == wanted));
            let slowly = in_order(items, &budget, |_, a, b| Ok(by(a, b)));
            assert!(slowly.is_ok_and(|own| own == wanted));
        }
        stop.set();
        let by = |a: usize, b: usize| a.cmp(&b);
        assert!(in_short_order((0..9).collect(), &budget, by).is_err());
    }
}

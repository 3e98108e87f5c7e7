//! Searches of the items of one list among those of another: a few are compared with all, of many
//! a table tells where each number stands first.

use super::whole::MOST;
use aplomb_values::prim::library::{Places, first_of};

/// Comparisons, for each item of both lists, from which on a table pays: a row of numbers is
/// compared with one in half a nanosecond each, a table takes a number up, or finds it, in some
/// ten.
const WORTH: usize = 32;

/// The numbers of a list, to be looked for.
pub(super) enum Sought<'a> {
    Few(&'a [f64], f64),
    Many(Places<'a>),
}

/// True where a table pays.
fn pays(n: usize, times: usize) -> bool {
    n.saturating_mul(times) > WORTH * (n + times)
}

/// The bytes that a search among n items takes, so many times. None: they are too many to be gone
/// through without a look at the interrupt.
pub(super) fn bytes(n: usize, times: usize) -> Option<usize> {
    let short = n.max(times) <= MOST.1;
    short.then(|| if pays(n, times) { n * Places::BYTES } else { 0 })
}

impl<'a> Sought<'a> {
    /// A list that is looked through so many times, for which the bytes were asked.
    pub(super) fn new(items: &'a [f64], times: usize, ct: f64) -> Sought<'a> {
        if !pays(items.len(), times) {
            return Sought::Few(items, ct);
        }
        let mut all = Places::new(items, ct, 0, 1);
        all.add(0..items.len());
        Sought::Many(all)
    }

    /// The first place of a number that equals y.
    pub(super) fn first(&self, y: f64) -> Option<usize> {
        match self {
            Sought::Few(items, ct) => first_of(items, y, *ct),
            Sought::Many(all) => Places::first(std::slice::from_ref(all), y),
        }
    }
}

/// The items that equal none of those before that stay, in their order, behind those of a vector.
pub(super) fn unique(items: &[f64], ct: f64, out: &mut Vec<f64>) {
    if !pays(items.len(), items.len()) {
        for x in items {
            if first_of(out, *x, ct).is_none() {
                out.push(*x);
            }
        }
        return;
    }
    let mut seen = Places::new(items, ct, 0, 1);
    out.extend((0..items.len()).filter(|k| seen.first_or_add(*k) == *k).map(|k| items[k]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_finds_what_comparisons_find() {
        let ct = 1e-14;
        // Numbers that come again, some of them within ⎕CT of others, and all that is special.
        let near = [1.0, 1.0 + 4e-15, 1.0 - 9e-15, 1.0 + 3e-14];
        let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let mut items: Vec<f64> = (0..400)
            .map(|k| f64::from(k * 7919 % 173 - 80) * near[k as usize % near.len()])
            .collect();
        items.splice(90..90, special);
        for (n, others) in [(400, 3), (400, 40), (31, 400), (200, 200)] {
            let (list, others) = (&items[..n], &items[items.len() - others..]);
            let sought = Sought::new(list, others.len(), ct);
            for y in others.iter().chain(&special) {
                assert_eq!(sought.first(*y), first_of(list, *y, ct), "{y} among {n}");
            }
        }
        for n in [20, 60, 405] {
            let (mut by_table, mut kept) = (Vec::new(), Vec::<f64>::new());
            unique(&items[..n], ct, &mut by_table);
            for x in &items[..n] {
                if first_of(&kept, *x, ct).is_none() {
                    kept.push(*x);
                }
            }
            let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&by_table), bits(&kept), "{n}");
        }
    }
}

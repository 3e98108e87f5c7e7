//! Hashes of arrays for a search within ⎕CT.
//!
//! Numbers that are equal within a tolerance may have different hashes whatever the hash is: it is
//! made of steps, and somewhere two neighbours lie on different ones. So an array stands in a table
//! under the steps on which its numbers lie, and is looked for under every choice of steps on which
//! numbers equal to its own may lie. That is one choice but for numbers at an edge, and edges are
//! where no number stands that somebody writes: steps are a 4096th of a binade, shifted by a part
//! of one, while the largest ⎕CT is 2*¯32.

use aplomb_values::array::{Array, Complex64, Data};

/// More numbers at an edge than this in one array are not chosen for: it is looked for everywhere.
pub const CHOICES: u32 = 8;

/// The steps of the numbers in a table.
#[derive(Clone, Copy)]
pub struct Steps {
    ct: f64,
    /// Some number in the table is not real. A real one next to it may be of either sign of step,
    /// so all are told by their magnitudes, which differ less than the numbers.
    magnitudes: bool,
}

/// A hash under a choice, and the numbers that had one.
pub struct Chosen {
    pub hash: u64,
    pub at_edge: u32,
}

impl Steps {
    /// The steps of a table that holds these arrays.
    pub fn of<'a>(ct: f64, mut arrays: impl Iterator<Item = &'a Array>) -> Steps {
        Steps { ct, magnitudes: ct > 0.0 && arrays.any(holds_complex) }
    }

    /// The hash of an array: the i-th bit of `choice` puts the i-th number at an edge on the step
    /// beyond it.
    pub fn hash(self, a: &Array, choice: u64) -> Chosen {
        let mut chosen = Chosen { hash: 0x1234, at_edge: 0 };
        self.add(a, choice, &mut chosen);
        chosen
    }

    fn add(self, a: &Array, choice: u64, to: &mut Chosen) {
        for &n in a.shape() {
            to.mix(n as u64);
        }
        let real = a.is_uniform() && !a.is_char() && !a.is_complex();
        for k in 0..a.len() {
            if let Some(x) = a.number_at(k).filter(|_| real) {
                let x = if self.magnitudes { x.abs() } else { x };
                self.add_number(x, choice, to);
                continue;
            }
            let item = a.item(k);
            match item.data() {
                _ if !item.is_simple_scalar() => self.add(&item, choice, to),
                Data::Char(c) => to.mix(u64::from(u32::from(*c)) ^ 0xc0de_0000_0000),
                Data::Ref(of) => to.mix(of.id() as u64),
                _ => self.add_number(self.told(item.ready_complex()), choice, to),
            }
        }
    }

    /// The number by which one that may be complex is told. Where the table has none that is not
    /// real only those next to a real one are in it.
    fn told(self, z: Complex64) -> f64 {
        let size = z.re.hypot(z.im);
        if !self.magnitudes && z.im.abs() <= 1e-9 * size { z.re } else { size }
    }

    fn add_number(self, x: f64, choice: u64, to: &mut Chosen) {
        let own = step(x);
        let far = 2.0 * self.ct * x.abs();
        let other = [step(x - far), step(x + far)].into_iter().find(|&other| other != own);
        to.at_edge += u32::from(other.is_some());
        let beyond = choice >> to.at_edge.saturating_sub(1).min(63) & 1 == 1;
        to.mix(match other {
            Some(other) if beyond => other,
            _ => own,
        });
    }
}

impl Chosen {
    fn mix(&mut self, k: u64) {
        self.hash = (self.hash ^ k).wrapping_mul(0x100_0000_01b3).rotate_left(17);
    }
}

/// The bits by which steps are shifted: no binary fraction of few digits, nor a decimal one.
const SHIFT: u64 = 0x5a_82_79_99_7f;

/// The step on which a number lies; ¯0 lies on that of 0.
fn step(x: f64) -> u64 {
    (x + 0.0).to_bits().wrapping_add(SHIFT) >> 40
}

fn holds_complex(a: &Array) -> bool {
    match a.data() {
        Data::Items(_) => a.in_turn().any(|item| holds_complex(&item)),
        _ => a.is_complex(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_ground::limits::Budget;

    /// The test whether b is found where a stands, when all choices for it are tried.
    fn meets(a: &Array, b: &Array, ct: f64) -> bool {
        let steps = Steps::of(ct, [a].into_iter());
        let there = steps.hash(a, 0).hash;
        let choices = 1u64 << steps.hash(b, 0).at_edge;
        (0..choices).any(|choice| steps.hash(b, choice).hash == there)
    }

    #[test]
    fn equal_numbers_meet_at_every_edge() {
        let (ct, budget) = (2f64.powi(-32), Budget::new(1 << 20));
        // Both sides of each edge of some binades, and numbers that people write.
        let edges = (0x3fe..0x402u64).flat_map(|e| {
            (0..4096u64).map(move |k| f64::from_bits(((e << 12 | k) << 40).wrapping_sub(SHIFT)))
        });
        let written =
            (1..2000).map(|k| f64::from(k) / 8.0).chain((1..2000).map(|k| f64::from(k) / 10.0));
        for x in edges.chain(written) {
            for near in [x * (1.0 - 0.9 * ct), x * (1.0 + 0.9 * ct), x] {
                let pair =
                    |x: f64| Array::numbers([2].as_slice(), vec![x, 1.0], &budget).expect("room");
                assert!(meets(&pair(x), &pair(near), ct), "{x} {near}");
                assert!(meets(&pair(near), &pair(x), ct), "{near} {x}");
                assert!(meets(&pair(-x), &pair(-near), ct), "¯{x} ¯{near}");
            }
        }
    }
}

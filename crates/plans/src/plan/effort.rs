//! The work of one launch: what its steps and folds take together, by the figures that nodes have
//! (`aplomb_values::body::Effort`). Whoever estimates a launch, on whatever device, begins here.

use super::{Launch, Step, product};
pub use aplomb_values::body::LAUNCH_NS;
use aplomb_values::body::{Effort, WRITE_NS};

/// The work at the points of a loop, in its body and what stands beside it.
fn over(
    points: u64,
    steps: &[Step],
    stores: usize,
    beside: impl Iterator<Item = Effort>,
) -> Effort {
    let one: Effort = steps.iter().map(|s| s.what.cost_among(steps)).chain(beside).sum();
    Effort {
        ns: points as f64 * (one.ns + WRITE_NS * stores as f64),
        flops: points.saturating_mul(one.flops),
    }
}

impl Launch {
    /// The work over the domain, and that behind the folds; the start of the launch is in neither.
    pub fn effort(&self) -> [Effort; 2] {
        let folds = self.reductions.iter().map(|r| Effort::of(r.op));
        let whole = self.finish.iter().map(|f| f.what.cost());
        let domain = product(&self.domain);
        let inner = over(domain, &self.body, self.stores.len(), folds.chain(whole));
        let none = std::iter::empty();
        [inner, over(product(&self.outer()), &self.after, self.after_stores.len(), none)]
    }
}

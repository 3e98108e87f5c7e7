//! The passes of a launch's folds over its body: those that take the elements in one order go
//! together.

use super::{Launch, Reduction};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::{BLOCK, block_of};

/// Folds that go over the domain together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Elements of a block along the last axis; none: from the end on, one after the other.
    pub block: Option<usize>,
    /// The folds, by number.
    pub folds: Vec<usize>,
}

/// The same in blocks of any size: exact numbers, and choices.
fn is_free(r: &Reduction) -> bool {
    r.op.is_associative() && (r.dtype.is_integer() || matches!(r.op, Op::Max | Op::Min))
}

impl Launch {
    /// The passes of its folds, at least one. Those that are the same in any blocks go with
    /// others.
    pub fn passes(&self) -> Vec<Pass> {
        let own = |r: &Reduction| r.op.is_associative().then(|| block_of(r.op, r.dtype));
        let mut passes: Vec<Pass> = Vec::new();
        let all = 0..self.reductions.len();
        let (free, fixed): (Vec<usize>, Vec<usize>) =
            all.partition(|k| is_free(&self.reductions[*k]));
        for k in fixed.into_iter().chain(free) {
            let r = &self.reductions[k];
            let free = is_free(r);
            let fits = |p: &&mut Pass| p.block == own(r) || free && p.block.is_some();
            match passes.iter_mut().find(fits) {
                Some(pass) => pass.folds.push(k),
                None => passes.push(Pass { block: own(r), folds: vec![k] }),
            }
        }
        if passes.is_empty() {
            passes.push(Pass { block: Some(BLOCK), folds: Vec::new() });
        }
        // A pass that can be shared out comes first: it is the one that stores.
        passes.sort_by_key(|p| p.block.is_none());
        passes.iter_mut().for_each(|p| p.folds.sort_unstable());
        passes
    }
}

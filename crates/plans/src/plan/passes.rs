//! The passes of a launch's folds over its body: those that take the elements in one order go
//! together.

use super::{Launch, Reduction};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::{BLOCK, ROWS, block_of};

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
    /// Elements of a block of an associative fold along the last axis.
    fn block(&self, r: &Reduction) -> usize {
        match self.takes_in_order(r) {
            true => ROWS,
            false => block_of(r.op, r.dtype),
        }
    }

    /// True of a fold that takes products in order (`Op::Mac`).
    pub fn takes_in_order(&self, r: &Reduction) -> bool {
        self.body[r.value as usize].what.operation() == Some(Op::Mac)
    }

    /// The launch of a fold along the last axis with that axis before the one beside it; its
    /// results are the same and lie as they did. None: it stores at places of its loop, or has one
    /// axis alone.
    pub fn across(&self) -> Option<Launch> {
        let n = self.domain.len();
        if n < 2 || self.axis != Some(n - 1) || !self.stores.is_empty() {
            return None;
        }
        let order: Vec<usize> = (0..n - 2).chain([n - 1, n - 2]).collect();
        Some(Launch { axis: Some(n - 2), ..self.turned(&order) })
    }

    /// True where all of its folds take products in order.
    pub fn is_in_order(&self) -> bool {
        !self.reductions.is_empty() && self.reductions.iter().all(|r| self.takes_in_order(r))
    }

    /// The passes of its folds, at least one. Those that are the same in any blocks go with
    /// others.
    pub fn passes(&self) -> Vec<Pass> {
        let own = |r: &Reduction| r.op.is_associative().then(|| self.block(r));
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

//! Another order of axes: of a loop, and of the arrays that it writes.
//!
//! A buffer of a plan may have its axes in another order than the node whose value it holds: a map
//! writes at its points' own places, so its loop has that order too, and whoever reads the buffer
//! asks for the same elements by the new order. Values, their steps and their errors are the same.

use super::{BufId, Kind, Launch, Plan, Step, What};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Read, Test};
use std::collections::BTreeSet;

impl Launch {
    /// The launch with the axes of its body's domain in another order, in all of the body that
    /// names one: axis k is the old one `order[k]`. What it writes lies in that order too.
    #[must_use]
    pub fn turned(&self, order: &[usize]) -> Launch {
        let mut turned = self.clone();
        let extents: Vec<usize> = order.iter().map(|k| self.domain[*k]).collect();
        let axes = axes(order);
        let place = |ix: &Ix| ix.substitute(&axes.ix, &extents);
        for load in turned.loads.iter_mut().filter(|load| !load.read.is_anywhere()) {
            load.read = load.read.after(&axes, &extents);
        }
        for test in turned.guards.iter_mut().flatten() {
            *test = Test { ix: place(&test.ix), ..*test };
        }
        for Step { what, .. } in &mut turned.body {
            if let What::Index { ix, .. } = what {
                *ix = place(ix);
            }
        }
        turned.domain = extents.iter().copied().collect();
        turned
    }
}

/// The point of a loop by the order it had before.
pub fn axes(order: &[usize]) -> Read {
    let old = |axis: usize| order.iter().position(|k| *k == axis);
    Read::new((0..order.len()).filter_map(old).map(Ix::axis))
}

impl Plan {
    /// Whether the arrays that launch k writes may lie in another order: it is a map, its arrays
    /// are no roots, and nobody holds one as a whole.
    pub fn may_turn(&self, k: usize) -> bool {
        let launch = &self.launches[k];
        let own = self.written(k);
        let held =
            |l: &Launch| l.loads.iter().any(|x| own.contains(&x.buf) && x.read.is_anywhere());
        launch.kind == Kind::Map
            && launch.axis.is_none()
            && launch.after_stores.is_empty()
            && launch.domain.len() > 1
            && !own.is_empty()
            && !self.roots.iter().any(|root| own.contains(root))
            && own.iter().all(|buf| *self.buffer(*buf).shape == *launch.domain)
            && !self.launches.iter().any(held)
    }

    /// The arrays that a launch writes.
    fn written(&self, k: usize) -> BTreeSet<BufId> {
        let launch = &self.launches[k];
        launch.stores.iter().chain(&launch.after_stores).map(|s| s.buf).collect()
    }

    /// The order of axes in which most points read what launch k writes: that of their loops. None:
    /// its own.
    pub fn wanted_order(&self, k: usize) -> Option<Vec<usize>> {
        let own = self.written(k);
        let rank = self.launches[k].domain.len();
        let mut votes: Vec<(Vec<usize>, u64)> = Vec::new();
        for launch in &self.launches {
            let points = super::product(&launch.domain);
            for load in launch.loads.iter().filter(|load| own.contains(&load.buf)) {
                // The axis of the loop that moves an axis of the array most often.
                let moves = |ix: &Ix| (0..launch.domain.len()).rev().find(|k| ix.mentions(*k));
                let by: Vec<Option<usize>> = load.read.ix.iter().map(moves).collect();
                let mut order: Vec<usize> = (0..rank).collect();
                order.sort_by_key(|axis| by[*axis]);
                match votes.iter_mut().find(|(known, _)| *known == order) {
                    Some((_, n)) => *n = n.saturating_add(points),
                    None => votes.push((order, points)),
                }
            }
        }
        let most = votes.iter().map(|(_, n)| *n).max()?;
        let (order, _) = votes.into_iter().find(|(_, n)| *n == most)?;
        (!order.is_sorted()).then_some(order)
    }

    /// Lets launch k write its arrays with their axes in another order. It must be one that may.
    pub fn turn(&mut self, k: usize, order: &[usize]) {
        let own = self.written(k);
        self.launches[k] = self.launches[k].turned(order);
        for buf in &own {
            let buffer = &mut self.buffers[buf.0 as usize];
            buffer.shape = order.iter().map(|axis| buffer.shape[*axis]).collect();
        }
        for launch in &mut self.launches {
            let theirs: Vec<bool> = launch.loads.iter().map(|l| own.contains(&l.buf)).collect();
            for (load, _) in launch.loads.iter_mut().zip(&theirs).filter(|(_, own)| **own) {
                load.read = laid(&load.read, order);
            }
            for step in launch.body.iter_mut().chain(&mut launch.after) {
                if let What::Gather { load, along, .. } = &mut step.what
                    && theirs[*load as usize]
                {
                    let new = |axis: u8| order.iter().position(|k| *k == usize::from(axis));
                    along.iter_mut().for_each(|a| a.axis = new(a.axis).map_or(a.axis, |k| k as u8));
                }
            }
        }
    }
}

/// A read of an array whose axes lie in another order.
pub fn laid(read: &Read, order: &[usize]) -> Read {
    let ix = order.iter().map(|axis| read.ix[*axis].clone()).collect();
    Read { ix, tests: read.tests.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Buffer, From, Load, Origin, Store};
    use aplomb_values::array::DType;
    use aplomb_values::dag::Dag;

    /// A map over 2 by 3 that writes where it is, and one that reads it across and writes.
    fn crossing() -> Plan {
        let node = Dag::default().parse("1").expect("a node");
        let buffer = |shape: &[usize], from| Buffer {
            shape: shape.into(),
            dtype: DType::F64,
            checked: false,
            from,
            node,
            last_use: None,
        };
        let map = |domain: &[usize], read: Read, from: u32, to: u32| Launch {
            stage: to,
            domain: domain.into(),
            kind: Kind::Map,
            axis: None,
            loads: vec![Load { buf: BufId(from), read }],
            guards: Vec::new(),
            body: vec![Step::new(What::Load(0), DType::F64, Origin { node, site: 0, guard: None })],
            stores: vec![Store { value: 0, buf: BufId(to) }],
            reductions: Vec::new(),
            compaction: None,
            finish: None,
            after: Vec::new(),
            after_stores: Vec::new(),
            tiling: None,
            tiles: Default::default(),
            nodes: Vec::new(),
            name: String::new(),
        };
        let across = Read::new([Ix::axis(1), Ix::axis(0)]);
        Plan {
            buffers: vec![
                buffer(&[2, 3], From::Input(0)),
                buffer(&[2, 3], From::Launch(0)),
                buffer(&[3, 2], From::Launch(1)),
            ],
            launches: vec![map(&[2, 3], Read::identity(2), 0, 1), map(&[3, 2], across, 1, 2)],
            roots: vec![BufId(2)],
            ..Plan::default()
        }
    }

    #[test]
    fn what_is_read_across_is_written_across_and_read_in_order() {
        let mut plan = crossing();
        assert!(plan.may_turn(0) && !plan.may_turn(1));
        let order = plan.wanted_order(0).expect("another order");
        assert_eq!(order, [1, 0]);
        plan.turn(0, &order);
        assert_eq!(
            (&*plan.launches[0].domain, &*plan.buffers[1].shape),
            (&[3, 2][..], &[3, 2][..])
        );
        assert_eq!(plan.launches[0].loads[0].read.text(2), "(i,j)→(j,i)");
        assert!(plan.launches[1].loads[0].read.is_identity());
        assert_eq!(plan.wanted_order(0), None);
    }
}

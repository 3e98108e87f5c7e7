//! Elements at computed places.

use super::{Args, InDag, Kind, Node, conform, each, holds};
use crate::body::{Effort, GATHER};
use crate::dag::facts::{Known, Role};
use crate::dag::{Dag, Meta, NodeId, Read};
use crate::prim::op::Fails;
use crate::prim::scalar::{self, Fail};
use crate::reference::Oracle;
use aplomb_ground::error::Result;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// The step along one axis of a value that is a place: it is added to the index. It must be less
/// than the extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Along {
    /// The axis of the source.
    pub axis: u8,
    /// The elements of the source that one step goes, its stride.
    pub times: i64,
    /// The number of places: a value that is none of them is INDEX ERROR.
    pub extent: usize,
}

impl Along {
    /// The distance, in elements of the source, that a value leads to. Errors: INDEX, DOMAIN.
    pub fn step(&self, value: f64, origin: f64) -> Result<i64, Fail> {
        scalar::place(value, origin, self.extent, 0.0).map(|place| place as i64 * self.times)
    }
}

/// The first argument's element at computed places. `read` has an Ix per source axis; `along` says
/// what the other arguments, less `origin`, add to them.
#[derive(Clone, Debug, PartialEq)]
pub struct Gather<A> {
    /// The source, then the arrays of places.
    pub args: Args<A>,
    /// The place before values move it.
    pub read: Read,
    /// The axes that values move, one for each array of places.
    pub along: SmallVec<[Along; 2]>,
    /// The number of the first place (⎕IO).
    pub origin: f64,
}

impl<A> Kind<A> for Gather<A> {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn role(&self) -> Role {
        Role::AtPlaces
    }

    fn inputs(&self) -> &[A] {
        &self.args
    }

    fn with<B, E>(&self, to: impl FnMut(&A) -> Result<B, E>) -> Result<Node<B>, E> {
        let (read, along) = (self.read.clone(), self.along.clone());
        let args = each(&self.args, to)?;
        Ok(Node::Gather(Gather { args, read, along, origin: self.origin }))
    }

    fn cost(&self) -> Effort {
        GATHER
    }

    /// A place may lie beyond its axis, unless all are known to lie in it: those of a grade do.
    fn fails(&self, _own: &Meta, of: &dyn Fn(&A) -> Known) -> Fails {
        let (places, along) = (&self.args[1..], &self.along);
        let inside = |(a, along): (&A, &Along)| of(a).are_places(self.origin, along.extent);
        if places.iter().zip(along).all(inside) { Fails::Never } else { Fails::Hard }
    }

    fn held(&self) -> usize {
        1
    }

    fn place(&self) -> Option<(&Read, &[Along])> {
        Some((&self.read, &self.along))
    }

    fn hash(&self, mut to: &mut dyn Hasher) {
        (&self.read, &self.along, self.origin.to_bits()).hash(&mut to);
    }
}

impl InDag for Gather<NodeId> {
    fn check(&self, dag: &Dag, at: NodeId) -> Result<(), String> {
        let Gather { args, read, along, .. } = self;
        let Some((src, places)) = args.split_first() else {
            return Err("a gather of nothing".into());
        };
        read.in_bounds(dag.shape(*src), dag.shape(at))?;
        let axes = along.iter().all(|a| (a.axis as usize) < read.ix.len());
        let counts = places.iter().all(|a| dag.dtype(*a).is_integer());
        let fits = conform(dag, at, places) && axes && counts && along.len() == places.len();
        holds(fits, || "a gather whose places are not integers of its shape".into())
    }

    fn glyph(&self, _dag: &Dag, _at: NodeId) -> String {
        "[]".into()
    }

    fn details(&self, dag: &Dag, at: NodeId) -> String {
        self.read.text(dag.shape(at).len())
    }

    fn word(&self, _dag: &Dag, _at: NodeId) -> String {
        "gather".into()
    }

    fn value(&self, oracle: &mut Oracle) -> Result<Vec<f64>> {
        let Gather { args, read, along, origin } = self;
        let rank = oracle.dag.shape(args[0]).len();
        let mut place = vec![0usize; oracle.shape().len()];
        let mut out = Vec::with_capacity(oracle.len());
        for i in 0..oracle.len() {
            let mut moved = vec![0; rank];
            let mut beyond = None;
            for (a, by) in along.iter().zip(&args[1..]) {
                match a.step(oracle.item(*by, i), *origin) {
                    Ok(step) => moved[a.axis as usize] += step,
                    Err(fail) => beyond = beyond.or(Some(fail)),
                }
            }
            out.push(match beyond {
                Some(fail) => oracle.note(i, fail),
                None => oracle.read(args[0], read, i, &mut place, |k| moved[k])?,
            });
        }
        Ok(out)
    }
}

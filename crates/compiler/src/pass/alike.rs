//! The operation of a node, whatever its operands: nodes are alike that differ in these alone, or
//! in the numbers that say where a read begins.
//!
//! Launches of the turns of a loop are alike, and so are the choices about their nodes: of
//! `i⌽x` for each of a hundred numbers as of `x+i`.

use super::hash::Mix;
use aplomb_values::array::{DType, Shape};
use aplomb_values::dag::ix::{Atom, Ix};
use aplomb_values::dag::{Dag, NodeId};
use std::hash::{Hash, Hasher};

/// A node but for its operands.
#[derive(PartialEq, Eq, Hash)]
pub struct Operation {
    name: &'static str,
    /// The hash of what tells it from others of its kind.
    hash: u64,
    shape: Shape,
    dtype: DType,
}

impl Operation {
    pub fn of(dag: &Dag, at: NodeId) -> Operation {
        let (facts, mut hash) = (dag.node(at).facts(), Mix::default());
        match facts.place() {
            Some((read, along)) => {
                read.ix.iter().for_each(|ix| steps(ix, &mut hash));
                for test in &read.tests {
                    steps(&test.ix, &mut hash);
                    (test.hi - test.lo, test.fill.to_bits()).hash(&mut hash);
                }
                along.hash(&mut hash);
            }
            None => facts.hash(&mut hash),
        }
        let (name, hash, shape) = (facts.name(), hash.finish(), dag.shape(at).into());
        Operation { name, hash, shape, dtype: dag.dtype(at) }
    }
}

/// Hashes the steps of an index, wherever it begins.
fn steps(ix: &Ix, to: &mut Mix) {
    ix.terms.len().hash(to);
    for (times, atom) in &ix.terms {
        times.hash(to);
        match atom {
            Atom::Axis(k) => (0, k).hash(to),
            Atom::Div(x, by) => {
                (1, by).hash(to);
                steps(x, to);
            }
            Atom::Mod(x, by) => {
                (2, by).hash(to);
                steps(x, to);
            }
            Atom::Clamp(x, lo, hi) => {
                (3, hi - lo).hash(to);
                steps(x, to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_alike_wherever_they_begin() {
        let hash = |ix: &Ix| {
            let mut to = Mix::default();
            steps(ix, &mut to);
            to.finish()
        };
        // A rotation, by so many places.
        let turned = |by: i64| Ix::axis(0).offset(by).modulo(9, &[9]);
        assert_eq!(hash(&turned(2)), hash(&turned(5)));
        assert_eq!(hash(&Ix::axis(0)), hash(&Ix::axis(0).offset(4)));
        assert_ne!(hash(&turned(2)), hash(&Ix::axis(0)));
        assert_ne!(hash(&Ix::axis(0)), hash(&Ix::axis(0).times(-1)));
        assert_ne!(hash(&Ix::axis(0)), hash(&Ix::axis(1)));
    }
}

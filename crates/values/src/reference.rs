//! The oracle: one plain meaning for every node, no optimisation.
//!
//! Every node is computed whole, in id order, one element at a time, as its kind says
//! (`InDag::value`). A failing operation gives 0 for that element and the evaluation goes on; the
//! smallest site, then the smallest element, is the error.

use crate::array::{Array, Buf, DType, Data, elements};
use crate::dag::{Dag, NodeId, Read, Recorded};
use crate::prim::scalar::Fail;
use aplomb_ground::error::{Error, Result, internal};
use aplomb_ground::limits::Budget;
use aplomb_ground::span::Place;
use std::sync::Arc;

/// The first failure of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The operation's place in the order of evaluation.
    pub site: u32,
    /// The element's place in the operation's domain.
    pub index: u64,
    /// The node.
    pub node: NodeId,
    /// The reason.
    pub fail: Fail,
}

/// The values of the roots.
pub fn evaluate(recorded: &Recorded, budget: &Budget) -> Result<Result<Vec<Array>, Failure>> {
    let dag = &recorded.dag;
    let live = dag.live(&recorded.roots);
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); dag.len()];
    let (mut first, mut held) = (None, Vec::new());
    for at in dag.ids().filter(|at| live[at.index()]) {
        let inputs = &recorded.inputs;
        held.push(budget.charge_elements(dag.elements(at) as usize, size_of::<f64>())?);
        let mut oracle = Oracle { dag, at, inputs, values: &values, first: &mut first, budget };
        let out = dag.node(at).in_dag().value(&mut oracle)?;
        values[at.index()] = out;
    }
    if let Some(failure) = first {
        return Ok(Err(failure));
    }
    let root = |&at: &NodeId| store(dag, at, &values[at.index()], budget);
    recorded.roots.iter().map(root).collect::<Result<_>>().map(Ok)
}

/// The view of a kind while it computes a node: the values of all nodes before it.
pub struct Oracle<'a> {
    /// The graph.
    pub dag: &'a Dag,
    at: NodeId,
    inputs: &'a [Array],
    values: &'a [Vec<f64>],
    first: &'a mut Option<Failure>,
    /// The memory that values may take.
    pub budget: &'a Budget,
}

impl<'a> Oracle<'a> {
    /// The shape of the node that is computed.
    pub fn shape(&self) -> &'a [usize] {
        self.dag.shape(self.at)
    }

    /// The type of the node that is computed.
    pub fn dtype(&self) -> DType {
        self.dag.dtype(self.at)
    }

    /// The number of elements that are wanted.
    pub fn len(&self) -> usize {
        elements(self.shape())
    }

    /// Whether no element is wanted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements of an operand, in ravel order.
    pub fn items(&self, of: NodeId) -> &'a [f64] {
        &self.values[of.index()]
    }

    /// An operand's element at the node's own place: a scalar is everywhere.
    pub fn item(&self, of: NodeId, i: usize) -> f64 {
        self.items(of)[if self.dag.shape(of).is_empty() { 0 } else { i }]
    }

    /// The numbers of the k-th input.
    pub fn input(&self, k: u32) -> Result<Vec<f64>> {
        match self.inputs[k as usize].data() {
            Data::Dense(b) => self.budget.each(b.view().each()),
            Data::Num(x, _) => Ok(vec![*x]),
            _ => Err(internal("an input is not dense")),
        }
    }

    /// A result in the node's type.
    pub fn rounded(&self, x: f64) -> f64 {
        if self.dag.dtype(self.at) == DType::F32 { f64::from(x as f32) } else { x }
    }

    /// Notes that the i-th element has no value. It goes on as 0.
    pub fn note(&mut self, i: usize, fail: Fail) -> f64 {
        self.note_of(self.at, i, fail)
    }

    /// The same of an element of another node.
    pub fn note_of(&mut self, node: NodeId, i: usize, fail: Fail) -> f64 {
        let site = self.dag.info(node).site;
        let new = Failure { site, index: i as u64, node, fail };
        if self.first.as_ref().is_none_or(|old| (new.site, new.index) < (old.site, old.index)) {
            *self.first = Some(new);
        }
        0.0
    }

    /// The element of a source where a read looks for the i-th, each axis moved by so much; or the
    /// fill of a failed test. `place` is room for the coordinates.
    pub fn read(
        &self,
        src: NodeId,
        read: &Read,
        i: usize,
        place: &mut [usize],
        moved: impl Fn(usize) -> i64,
    ) -> Result<f64> {
        unravel(i, self.shape(), place);
        if let Some(t) = read.tests.iter().find(|t| !(t.lo..t.hi).contains(&t.ix.at(place))) {
            return Ok(t.fill);
        }
        let mut offset = 0usize;
        for (k, (ix, &extent)) in read.ix.iter().zip(self.dag.shape(src)).enumerate() {
            let x = ix.at(place) + moved(k);
            let inside = usize::try_from(x).ok().filter(|&x| x < extent);
            let x =
                inside.ok_or_else(|| internal(format!("a read of {x} on an axis of {extent}")))?;
            offset = offset * extent + x;
        }
        Ok(self.items(src)[offset])
    }
}

/// The coordinates of the i-th element in row-major order.
pub fn unravel(mut i: usize, shape: &[usize], place: &mut [usize]) {
    for (x, &extent) in place.iter_mut().zip(shape).rev() {
        *x = i % extent;
        i /= extent;
    }
}

/// A value in its storage: what does not fit i32 becomes f64.
fn store(dag: &Dag, at: NodeId, items: &[f64], budget: &Budget) -> Result<Array> {
    let dtype = dag.dtype(at);
    let fits = |&x: &f64| x == x.trunc() && dtype.range().is_none_or(|(lo, hi)| lo <= x && x <= hi);
    let dtype = if dtype.is_integer() && !items.iter().all(fits) { DType::F64 } else { dtype };
    Ok(Array::dense(dag.shape(at), Arc::new(Buf::stored(items, dtype, budget)?)))
}

/// The error of a failure, at the place the operation was written.
pub fn error_of(failure: &Failure, dag: &Dag, needed: Option<&Place>) -> Error {
    let error = failure.fail.error();
    let shape = dag.shape(failure.node);
    let error = match (&dag.info(failure.node).meta.place, shape) {
        (Some(place), []) => error.at(place),
        (Some(place), _) => error.at(place).mark(place.span, at_element(failure.index, shape)),
        (None, _) => error,
    };
    match needed {
        Some(place) => error.needed(place),
        None => error,
    }
}

/// `at element 7`, `at element 2 3` counted from 1.
fn at_element(index: u64, shape: &[usize]) -> String {
    let mut place = vec![0; shape.len()];
    unravel(index as usize, shape, &mut place);
    let text: Vec<String> = place.iter().map(|k| (k + 1).to_string()).collect();
    format!("at element {}", text.join(" "))
}

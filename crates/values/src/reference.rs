//! The oracle: one plain meaning for every node, no optimisation.
//!
//! Every node is computed whole, in id order, one element at a time, by `scalar::eval`. Reductions
//! are the fixed tree of `prim::reduce` where the operation is associative, right to left
//! otherwise. A failing operation gives 0 for that element and the evaluation goes on; the smallest
//! site, then the smallest element, is the error.

use crate::array::{Array, Buf, DType, Data, around, elements};
use crate::dag::{Dag, Node, NodeId, Read, Recorded};
use crate::prim::scalar::{self, Fail};
use crate::prim::{reduce, scan, whole};
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
    let mut first: Option<Failure> = None;
    for at in dag.ids().filter(|at| live[at.index()]) {
        let mut note = |index: usize, fail: Fail| {
            let new = Failure { site: dag.info(at).site, index: index as u64, node: at, fail };
            if first.as_ref().is_none_or(|old| (new.site, new.index) < (old.site, old.index)) {
                first = Some(new);
            }
            0.0
        };
        let out = node_value(dag, at, &values, recorded, &mut note)?;
        values[at.index()] = out;
    }
    if let Some(failure) = first {
        return Ok(Err(failure));
    }
    let root = |&at: &NodeId| store(dag, at, &values[at.index()], budget);
    recorded.roots.iter().map(root).collect::<Result<_>>().map(Ok)
}

fn node_value(
    dag: &Dag,
    at: NodeId,
    values: &[Vec<f64>],
    recorded: &Recorded,
    note: &mut dyn FnMut(usize, Fail) -> f64,
) -> Result<Vec<f64>> {
    let shape = dag.shape(at);
    let n = elements(shape);
    let value = |a: &NodeId, i: usize| {
        let v = &values[a.index()];
        if dag.shape(*a).is_empty() { v[0] } else { v[i] }
    };
    let rounded = |x: f64| if dag.dtype(at) == DType::F32 { f64::from(x as f32) } else { x };
    Ok(match dag.node(at) {
        Node::Input(k) => match recorded.inputs[*k as usize].data() {
            Data::Dense(b) => b.view().numbers(),
            Data::Num(x) => vec![*x],
            _ => return Err(internal("an input is not dense")),
        },
        Node::Const(p) => vec![p.at_run_time().number()],
        Node::Iota { origin } => (0..n).map(|i| i as f64 + origin).collect(),
        Node::Map { op, ct, args } => (0..n)
            .map(|i| {
                let y = args.get(1).map_or(0.0, |b| value(b, i));
                match scalar::eval(*op, *ct, value(&args[0], i), y) {
                    Ok(x) => rounded(x),
                    Err(fail) => note(i, fail),
                }
            })
            .collect(),
        Node::Transform { src, read, .. } => {
            let mut place = vec![0usize; shape.len()];
            (0..n)
                .map(|i| {
                    unravel(i, shape, &mut place);
                    Ok(match offset(read, dag.shape(*src), &place, |_| 0)? {
                        Ok(at) => values[src.index()][at],
                        Err(fill) => fill,
                    })
                })
                .collect::<Result<_>>()?
        }
        Node::Gather { args, read, along, origin } => {
            let from = dag.shape(args[0]);
            let mut place = vec![0usize; shape.len()];
            let mut out = Vec::with_capacity(n);
            for i in 0..n {
                unravel(i, shape, &mut place);
                let mut moved = vec![0; from.len()];
                let mut beyond = None;
                for (a, by) in along.iter().zip(&args[1..]) {
                    match a.step(value(by, i), *origin) {
                        Ok(step) => moved[a.axis as usize] += step,
                        Err(fail) => beyond = beyond.or(Some(fail)),
                    }
                }
                out.push(match beyond {
                    Some(fail) => note(i, fail),
                    None => match offset(read, from, &place, |k| moved[k])? {
                        Ok(at) => values[args[0].index()][at],
                        Err(fill) => fill,
                    },
                });
            }
            out
        }
        Node::Select { args } => {
            let choose = |i| value(&args[if value(&args[0], i) != 0.0 { 1 } else { 2 }], i);
            (0..n).map(choose).collect()
        }
        Node::Loop { args, body, result } => (0..n)
            .map(|i| {
                let own: Vec<f64> = args.iter().map(|a| value(a, i)).collect();
                let states = body.run(&own, &mut |fail| {
                    note(i, fail);
                });
                states[*result as usize]
            })
            .collect(),
        Node::Cat { axis, args } => {
            let axis = *axis as usize;
            let mut out = Vec::with_capacity(n);
            for o in 0..elements(&shape[..axis]) {
                for a in args {
                    let piece = elements(&dag.shape(*a)[axis..]);
                    out.extend_from_slice(&values[a.index()][o * piece..(o + 1) * piece]);
                }
            }
            out
        }
        Node::Scan { op, axis, src } => {
            let mut items = values[src.index()].clone();
            scan::along(*op, &mut items, shape, *axis as usize, &mut |index, fail| {
                note(index, fail);
            });
            items.into_iter().map(rounded).collect()
        }
        Node::Compact { axis, args } => {
            let (outer, extent, inner) = around(dag.shape(args[1]), *axis as usize);
            let mask = &values[args[0].index()];
            let kept = |o: usize| {
                (0..extent).filter(|k| mask[*k] != 0.0).map(move |k| (o * extent + k) * inner)
            };
            let cells = (0..outer).flat_map(kept).flat_map(|from| from..from + inner);
            cells.map(|at| values[args[1].index()][at]).collect()
        }
        Node::Whole { what, args } => {
            let given =
                |a: &NodeId| whole::Given { items: &values[a.index()], shape: dag.shape(*a) };
            let given: Vec<whole::Given> = args.iter().map(given).collect();
            let out = whole::run(what, &given, shape, &mut |index, fail| {
                note(index, fail);
            });
            out.into_iter().map(rounded).collect()
        }
        Node::Reduce { op, axis, src } => {
            let from = dag.shape(*src);
            let axis = *axis as usize;
            match reduce::along(*op, 0.0, &values[src.index()], from, axis) {
                Ok(items) => items.into_iter().map(rounded).collect(),
                Err((index, fail)) => {
                    note(index, fail);
                    vec![0.0; n]
                }
            }
        }
    })
}

/// Where a read looks for the element at `place`, each axis moved by so much; or the fill of a
/// failed test.
fn offset(
    read: &Read,
    from: &[usize],
    place: &[usize],
    moved: impl Fn(usize) -> i64,
) -> Result<std::result::Result<usize, f64>> {
    if let Some(t) = read.tests.iter().find(|t| !(t.lo..t.hi).contains(&t.ix.at(place))) {
        return Ok(Err(t.fill));
    }
    let mut offset = 0usize;
    for (k, (ix, &extent)) in read.ix.iter().zip(from).enumerate() {
        let x = ix.at(place) + moved(k);
        let inside = usize::try_from(x).ok().filter(|&x| x < extent);
        let x = inside.ok_or_else(|| internal(format!("a read of {x} on an axis of {extent}")))?;
        offset = offset * extent + x;
    }
    Ok(Ok(offset))
}

/// The coordinates of the i-th element in row-major order.
pub fn unravel(mut i: usize, shape: &[usize], place: &mut [usize]) {
    for (x, &extent) in place.iter_mut().zip(shape).rev() {
        *x = i % extent;
        i /= extent;
    }
}

/// A value in its storage: what does not fit i32 becomes f64 (LOWERING §6).
fn store(dag: &Dag, at: NodeId, items: &[f64], budget: &Budget) -> Result<Array> {
    let dtype = dag.dtype(at);
    let fits = |&x: &f64| x == x.trunc() && dtype.range().is_none_or(|(lo, hi)| lo <= x && x <= hi);
    let dtype = if dtype.is_integer() && !items.iter().all(fits) { DType::F64 } else { dtype };
    Ok(Array::dense(dag.shape(at), Arc::new(Buf::stored(items, dtype, budget)?)))
}

/// What a failure says, at the place the operation was written.
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

//! The elements that a launch reads where values say, counted point by point from those values.
//!
//! A plan bounds them: at most one for each point (`traffic`). Where the arrays that the values are
//! made of are at hand the launch's own steps tell each place, so a record of a run can have the
//! number itself. It is for who looks on, and is never a part of a run.

use super::{BufId, Launch, Plan, Step, met, product};
use aplomb_values::array::{DType, strides};
use aplomb_values::body::What;
use aplomb_values::dag::ix::{Ix, linear};
use aplomb_values::dag::{Read, Test};
use aplomb_values::prim::scalar::eval;
use std::collections::BTreeMap;

/// Points that are walked, and elements of an array that are marked, at most.
const POINTS: u64 = 1 << 20;
const ELEMENTS: u64 = 1 << 22;

/// The reads of a launch, counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// Bytes that it reads from memory: the different elements of each array, once.
    pub read: u64,
    /// The loads by values, each with the number of its different elements.
    pub loads: Vec<(usize, u64)>,
}

/// Marks of elements, a bit each.
struct Marks {
    bits: Vec<u64>,
}

impl Marks {
    fn of(elements: u64) -> Marks {
        Marks { bits: (0..elements.div_ceil(64)).map(|_| 0).collect() }
    }

    fn mark(&mut self, at: usize) {
        if let Some(word) = self.bits.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    fn count(&self) -> u64 {
        self.bits.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

impl Plan {
    /// The reads of a launch some of which go where values say; `held` gives the elements of the
    /// arrays that are at hand. None: none goes so, the values are not at hand, or there are too
    /// many points.
    pub fn counted(
        &self,
        l: &Launch,
        held: &dyn Fn(BufId, usize) -> Option<f64>,
    ) -> Option<Counted> {
        let gathers = |steps: &[Step]| steps.iter().any(|s| matches!(s.what, What::Gather { .. }));
        let is_whole = l.finish.is_some() || l.compaction.is_some() || gathers(&l.after);
        let points = product(&l.domain);
        if is_whole || !gathers(&l.body) || points > POINTS {
            return None;
        }
        let mut walk = Walk::of(self, l, held)?;
        let mut place: Vec<usize> = l.domain.iter().map(|_| 0).collect();
        for point in 0..points as usize {
            let mut rest = point;
            for (own, n) in place.iter_mut().zip(&l.domain).rev() {
                (*own, rest) = (rest % n, rest / n);
            }
            walk.point(&place)?;
        }
        let outer = l.outer();
        let mut read = 0u64;
        let mut of_others: BTreeMap<BufId, Vec<(&Read, &[usize])>> = BTreeMap::new();
        let behind = l.after.iter().filter_map(|s| s.what.load()).map(|k| (k, &outer[..]));
        let loads = l.body.iter().filter_map(|s| s.what.load()).map(|k| (k, &l.domain[..]));
        for (load, extents) in loads.chain(behind) {
            let own = &l.loads[load as usize];
            if !walk.arrays.contains_key(&own.buf) {
                of_others.entry(own.buf).or_default().push((&own.read, extents));
            } else if extents.len() != l.domain.len() {
                return None;
            }
        }
        for (buf, reads) in of_others {
            let buffer = self.buffer(buf);
            let own = met(&buffer.shape, &reads).min(product(&buffer.shape));
            read = read.saturating_add(own.saturating_mul(buffer.dtype.size() as u64));
        }
        for (buf, marks) in &walk.arrays {
            let size = self.buffer(*buf).dtype.size() as u64;
            read = read.saturating_add(marks.count().saturating_mul(size));
        }
        let loads = walk.loads.iter().map(|(load, marks)| (*load as usize, marks.count()));
        Some(Counted { read, loads: loads.collect() })
    }
}

/// The steps that places are made of, point by point.
struct Walk<'a> {
    launch: &'a Launch,
    held: &'a dyn Fn(BufId, usize) -> Option<f64>,
    /// Whether a step's value is needed to know a place.
    needed: Vec<bool>,
    /// The arrays that are read by values, and what is met of each.
    arrays: BTreeMap<BufId, Marks>,
    /// The same for each load by values.
    loads: BTreeMap<u32, Marks>,
    /// For each load the element that its read goes to, and how far apart its array's are.
    flat: Vec<(Ix, Vec<usize>)>,
    /// The values of the point, NaN where nobody needs one.
    values: Vec<f64>,
}

impl<'a> Walk<'a> {
    /// None: an array is too large, or a value is no step's.
    fn of(
        plan: &'a Plan,
        launch: &'a Launch,
        held: &'a dyn Fn(BufId, usize) -> Option<f64>,
    ) -> Option<Walk<'a>> {
        let mut needed: Vec<bool> = launch.body.iter().map(|_| false).collect();
        let (mut arrays, mut loads) = (BTreeMap::new(), BTreeMap::new());
        for (k, step) in launch.body.iter().enumerate().rev() {
            if let What::Gather { load, places, .. } = &step.what {
                let buf = launch.loads[*load as usize].buf;
                let all = product(&plan.buffer(buf).shape);
                if all > ELEMENTS {
                    return None;
                }
                arrays.insert(buf, Marks::of(all));
                loads.insert(*load, Marks::of(all));
                places.iter().for_each(|v| needed[*v as usize] = true);
            }
            if needed[k] {
                step.what.args().iter().for_each(|v| needed[*v as usize] = true);
            }
        }
        let flat = launch.loads.iter().map(|own| {
            let shape = &plan.buffer(own.buf).shape;
            (linear(&own.read.ix, shape, &launch.domain), strides(shape))
        });
        let (flat, values) = (flat.collect(), Vec::new());
        Some(Walk { launch, held, needed, arrays, loads, flat, values })
    }

    /// Marks what a point reads. None: a value is not at hand.
    fn point(&mut self, place: &[usize]) -> Option<()> {
        self.values.clear();
        for k in 0..self.launch.body.len() {
            let value = self.step(k, place)?;
            let is_short = self.launch.body[k].dtype == DType::F32;
            self.values.push(if is_short { f64::from(value as f32) } else { value });
        }
        Some(())
    }

    fn step(&mut self, k: usize, place: &[usize]) -> Option<f64> {
        let (launch, step) = (self.launch, &self.launch.body[k]);
        let at = |values: &[f64], v: u32| values[v as usize];
        let outside = |tests: &[Test]| -> Option<f64> {
            tests.iter().find(|t| !(t.lo..t.hi).contains(&t.ix.at(place))).map(|t| t.fill)
        };
        let guard = |tests: u32| outside(&launch.guards[tests as usize]);
        // A step that is not wanted here reads nothing.
        if step.from.guard.is_some_and(|tests| guard(tests).is_some()) {
            return Some(f64::NAN);
        }
        let values = &self.values;
        Some(match &step.what {
            What::Load(load) => {
                let own = &launch.loads[*load as usize];
                if let Some(fill) = outside(&own.read.tests) {
                    return Some(fill);
                }
                let marked = self.arrays.contains_key(&own.buf);
                if !marked && !self.needed[k] {
                    return Some(f64::NAN);
                }
                let element = usize::try_from(self.flat[*load as usize].0.at(place)).ok()?;
                if let Some(marks) = self.arrays.get_mut(&own.buf) {
                    marks.mark(element);
                }
                if self.needed[k] { (self.held)(own.buf, element)? } else { f64::NAN }
            }
            What::Gather { load, along, places, origin } => {
                let own = &launch.loads[*load as usize];
                if let Some(fill) = outside(&own.read.tests) {
                    return Some(fill);
                }
                let (flat, by) = &self.flat[*load as usize];
                let mut element = flat.at(place);
                for (along, v) in along.iter().zip(places) {
                    // The line has a value, so nobody wants one from a place that is none.
                    let Ok(steps) = along.step(at(values, *v), *origin) else {
                        return Some(f64::NAN);
                    };
                    element += steps * by[usize::from(along.axis)] as i64;
                }
                let element = usize::try_from(element).ok()?;
                let marks = self.arrays.get_mut(&own.buf).into_iter();
                marks.chain(self.loads.get_mut(load)).for_each(|marks| marks.mark(element));
                if self.needed[k] { (self.held)(own.buf, element)? } else { f64::NAN }
            }
            _ if !self.needed[k] => f64::NAN,
            What::Index { ix, origin } => ix.at(place) as f64 + origin,
            What::Const(x) => *x,
            What::Op { op, ct, args } => {
                let y = args.get(1).map_or(0.0, |v| at(values, *v));
                eval(*op, *ct, at(values, args[0]), y).map_or(f64::NAN, |value| value)
            }
            What::Select { cond, yes, no } => {
                at(values, if at(values, *cond) != 0.0 { *yes } else { *no })
            }
            What::Guard { tests, value } => match guard(*tests) {
                Some(fill) => fill,
                None => at(values, *value),
            },
            What::Part { tests, yes, no } => {
                at(values, if guard(*tests).is_none() { *yes } else { *no })
            }
            What::Arg(_) | What::Reduced(_) | What::Loop { .. } | What::State { .. } => {
                return None;
            }
        })
    }
}

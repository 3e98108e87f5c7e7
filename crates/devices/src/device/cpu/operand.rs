//! One operand of a product (`plan::product::Factors`): what makes it, and where it lies in memory.

use super::Isa;
use super::convert::Source;
use super::program::{Input, Program, Work, lower};
use super::strides::step_over;
use super::walk::Walk;
use aplomb_plans::plan::product::Factors;
use aplomb_plans::plan::{Launch, Step, ValueId, What};
use aplomb_values::dag::ix::{Ix, linear};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One operand of a launch.
pub struct Operand<'a> {
    launch: &'a Launch,
    inputs: &'a [Input],
    value: ValueId,
    made_of: &'a [ValueId],
    axes: &'a [usize],
    /// The axis that is folded: the last one.
    folded: usize,
}

// SAFETY: sources are not written while a launch runs.
unsafe impl Sync for Operand<'_> {}

/// A program that computes an operand over its own part of the domain.
pub struct Lowered {
    pub program: Program,
    pub steps: Vec<Step>,
}

impl<'a> Operand<'a> {
    /// Both, the left one first.
    pub fn both(factors: &'a Factors, launch: &'a Launch, inputs: &'a [Input]) -> [Operand<'a>; 2] {
        let of = |value, made_of: &'a [ValueId], axes: &'a [usize]| Operand {
            launch,
            inputs,
            value,
            made_of,
            axes,
            folded: factors.folded,
        };
        [
            of(factors.left, &factors.lefts, &factors.rows),
            of(factors.right, &factors.rights, &factors.columns),
        ]
    }

    /// The steps that make it, numbered from 0.
    fn steps(&self, launch: &Launch) -> Vec<Step> {
        let places: BTreeMap<ValueId, ValueId> = self.made_of.iter().copied().zip(0..).collect();
        // It is made of all that its steps read, so each has a place.
        let new = |old: ValueId| places[&old];
        let one = |v: &ValueId| {
            let mut step = launch.body[*v as usize].clone();
            step.what.renumber(new);
            step
        };
        self.made_of.iter().map(one).collect()
    }

    /// The domain of what it knows: its lines, and the axis that is folded.
    fn own(&self) -> Vec<usize> {
        let mut own = vec![1; self.launch.domain.len()];
        for &axis in self.axes.iter().chain(&[self.folded]) {
            own[axis] = self.launch.domain[axis];
        }
        own
    }

    /// The program of its items, line after line, or, `across`, those of all lines together.
    pub fn lowered(&self, isa: Isa, across: bool) -> Lowered {
        let (mut own, mut launch) = (self.own(), Cow::Borrowed(self.launch));
        if across {
            let others = (0..own.len()).filter(|axis| *axis != self.folded);
            let order: Vec<usize> = std::iter::once(self.folded).chain(others).collect();
            own = order.iter().map(|axis| own[*axis]).collect();
            launch = Cow::Owned(launch.turned(&order));
        }
        let steps = self.steps(&launch);
        let inputs = self.inputs.iter().zip(&launch.loads).map(|(input, load)| {
            let walk = Walk::of_read(&load.read, &input.shape, &own);
            Input { flat: walk.flat(), walk: Arc::new(walk), ..input.clone() }
        });
        let inputs = inputs.collect();
        let keep = vec![(steps.len() as ValueId - 1, false)];
        let (stores, reduced) = (Vec::new(), Vec::new());
        let (domain, guards) = (&own, &launch.guards);
        let work = Work { isa, domain, steps: &steps, guards, loads: &[], stores, keep, reduced };
        Lowered { program: lower(work, inputs), steps }
    }

    /// The operand as it lies in memory. None: it is made of more than a read, or some of that is
    /// not inside.
    pub fn straight(&self) -> Option<Straight> {
        let What::Load(load) = &self.launch.body[self.value as usize].what else { return None };
        let input = self.inputs.get(*load as usize)?;
        let read = &self.launch.loads.get(*load as usize)?.read;
        let (own, source) = (self.own(), input.source);
        let at: Ix = linear(&read.ix, &input.shape, &own);
        let (line, deep) = (self.line(&at)?, at.coefficient(self.folded));
        let inside = read.tests.is_empty() && source.holds(&at, &own);
        inside.then_some(Straight { source, first: at.c, line, deep })
    }

    /// The step from line to line of a read, whose lines may be several axes. None: it is not one.
    fn line(&self, at: &Ix) -> Option<i64> {
        step_over(at, &self.launch.domain, self.axes.iter().copied())
    }

    /// True where most of what it reads has items of several lines nearer to each other than those
    /// of one.
    pub fn lies_across(&self) -> bool {
        let own = self.own();
        let mut nearer = 0;
        for load in self.made_of.iter().filter_map(|v| self.launch.body[*v as usize].what.load()) {
            let shape = &self.inputs[load as usize].shape;
            let at = linear(&self.launch.loads[load as usize].read.ix, shape, &own);
            let (Some(line), deep) = (self.line(&at), at.coefficient(self.folded)) else {
                continue;
            };
            nearer += i32::from(line.unsigned_abs() < deep.unsigned_abs());
            nearer -= i32::from(line.unsigned_abs() > deep.unsigned_abs());
        }
        nearer > 0
    }
}

/// An operand as it lies in memory: where its first item is, and its steps from line to line and
/// along one.
#[derive(Clone, Copy)]
pub struct Straight {
    pub source: Source,
    pub first: i64,
    pub line: i64,
    pub deep: i64,
}

// SAFETY: it is read only, and what it points at as well.
unsafe impl Sync for Straight {}

impl Straight {
    /// True where lines lie nearer to each other than the items of one.
    pub fn is_across(&self) -> bool {
        self.line.unsigned_abs() < self.deep.unsigned_abs()
    }
}

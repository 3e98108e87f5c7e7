//! Inputs along rows that lie straight: one item after the other, or the same item, and each row's
//! a fixed step from the row before. So a row of a launch is found by a multiplication, without a
//! walk.

use super::convert::Source;
use super::emit::{Feed, Segment};
use super::program::{Input, Program};
use aplomb_plans::plan::Load;
use aplomb_values::dag::Read;
use aplomb_values::dag::ix::{Ix, linear};

/// The step of a place from one of the rows that some axes count to the next. None: it is not one
/// for all.
pub fn step_over(
    at: &Ix,
    domain: &[usize],
    axes: impl DoubleEndedIterator<Item = usize>,
) -> Option<i64> {
    let (mut apart, mut rows) = (0, 1);
    for (axis, n) in axes.map(|axis| (axis, domain[axis])).rev().filter(|(_, n)| *n > 1) {
        let own = at.coefficient(axis);
        if rows == 1 {
            apart = own;
        } else if own != apart * rows {
            return None;
        }
        rows *= n as i64;
    }
    Some(apart)
}

/// The first item of a row: of row 0, and from row to row.
#[derive(Clone, Copy)]
pub struct Straight {
    pub first: i64,
    pub apart: i64,
    /// From item to item of a row.
    pub step: i64,
}

impl Straight {
    /// The read of a load over rows along the domain's last axis, all of it inside. Inputs behind
    /// the loads are results of folds, in the domain's order. None: it is no such read.
    pub fn of(
        (loads, domain): (&[Load], &[usize]),
        inputs: &[Input],
        load: u32,
    ) -> Option<Straight> {
        let input = inputs.get(load as usize)?;
        let own = Read::identity(domain.len());
        let read = loads.get(load as usize).map_or(&own, |load| &load.read);
        if read.ix.len() != input.shape.len() {
            return None;
        }
        let at = linear(&read.ix, &input.shape, domain);
        let inside = read.tests.is_empty() && !domain.contains(&0);
        if !inside || !input.source.holds(&at, domain) {
            return None;
        }
        let outer = domain.len().checked_sub(1)?;
        let apart = step_over(&at, domain, 0..outer)?;
        Some(Straight { first: at.c, apart, step: at.coefficient(outer) })
    }

    /// The place of a row's item in its source.
    pub fn place(&self, row: usize, item: usize) -> i64 {
        self.first + self.apart * row as i64 + self.step * item as i64
    }

    /// The address of that. Only the row's item is inside.
    pub fn at(&self, source: Source, row: usize, item: usize) -> *const u8 {
        source.at.wrapping_offset(self.place(row, item) as isize * source.dtype.size() as isize)
    }
}

/// The reads of a segment along rows.
pub struct Strides {
    /// The input of each feed that has one, whose items lie one after the other.
    pub feeds: Vec<Option<(usize, Straight)>>,
    /// The read of each number of a row.
    pub numbers: Vec<Straight>,
    /// Items of a row.
    pub row: usize,
}

impl Strides {
    /// True of a launch whose reads are all straight.
    pub fn fit((loads, domain): (&[Load], &[usize]), program: &Program) -> bool {
        let straight = |load| {
            let read = Straight::of((loads, domain), &program.inputs, load)?;
            matches!(read.step, 0 | 1).then_some(())
        };
        (0..loads.len() as u32).all(|load| straight(load).is_some())
    }

    /// None: some read of the segment is not straight.
    pub fn of(
        (loads, domain): (&[Load], &[usize]),
        program: &Program,
        segment: &Segment,
    ) -> Option<Strides> {
        let row = *domain.last()?;
        let straight = |input: usize, step| {
            let read = Straight::of((loads, domain), &program.inputs, input as u32)?;
            (read.step == step).then_some(read)
        };
        let feed = |(feed, dtype): (&Feed, &Option<_>)| match (feed, dtype) {
            // The loop reads nothing of it.
            (_, None) => Some(None),
            (Feed::Input(k), Some(_)) => Some(Some((*k, straight(*k, 1)?))),
            (Feed::Register(_) | Feed::Tests(_), Some(_)) => None,
        };
        let feeds = segment.feeds.iter().zip(&segment.code.tape.ins).map(feed);
        let numbers = segment.numbers.iter().map(|number| straight(number.input, 0));
        Some(Strides {
            feeds: feeds.collect::<Option<_>>()?,
            numbers: numbers.collect::<Option<_>>()?,
            row,
        })
    }
}

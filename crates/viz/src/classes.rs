//! Launches alike, told once: of one kind and domain, over the same source, with the same figures.
//!
//! A search runs one plan a thousand times, an unrolled loop is a launch a round. What is told
//! costs what is distinct, so `k2…k201, 200 alike` stands for all of them.

use crate::figures;
use aplomb_ground::trace::{LaunchRecord, Trace};
use std::collections::BTreeMap;

/// Launches alike.
pub struct Class<'a> {
    /// The first of them, whose figures are those of each.
    pub first: &'a LaunchRecord,
    /// Their numbers, ascending.
    pub ids: Vec<u32>,
    /// The number of launches, those of equal evaluations counted.
    pub times: u64,
    /// Microseconds of all; None: not all of them ran.
    pub us: Option<f64>,
}

/// All that must be equal: the kind, the way, the domain, the source, the figures, the operations.
type Look<'a> = (&'a str, &'a str, &'a [usize], &'a str, [u64; 3], Vec<&'a str>, Vec<&'a str>);

/// The classes of a trace, in the order of their first launches.
pub fn classes(trace: &Trace) -> Vec<Class<'_>> {
    let mut known: BTreeMap<Look<'_>, usize> = BTreeMap::new();
    let mut all: Vec<Class<'_>> = Vec::new();
    for k in &trace.kernels {
        let at = *known.entry(look(trace, k)).or_insert(all.len());
        if at == all.len() {
            all.push(Class { first: k, ids: Vec::new(), times: 0, us: Some(0.0) });
        }
        let class = &mut all[at];
        class.ids.push(k.id);
        class.times += k.times();
        class.us = class.us.zip(k.meas.as_ref()).map(|(us, meas)| us + meas.us);
    }
    all
}

fn look<'a>(trace: &'a Trace, k: &'a LaunchRecord) -> Look<'a> {
    let body = k.body.iter().filter_map(|n| trace.nodes.get(*n as usize));
    (
        &k.skeleton,
        &k.algo,
        &k.domain,
        source(k),
        [figures::read(k), k.est.w, k.est.flops],
        k.reads.iter().map(|r| r.affine.as_str()).collect(),
        body.map(|n| n.op.as_str()).collect(),
    )
}

/// A launch's name without its number.
pub fn source(k: &LaunchRecord) -> &str {
    k.name.split_once(' ').map_or("", |(_, source)| source)
}

impl Class<'_> {
    /// `k3`, `k2…k201`: what names it in a row.
    pub fn label(&self) -> String {
        let apart = |ids: &[u32]| ids.windows(2).any(|w| w[0] + 1 != w[1]);
        match self.ids.as_slice() {
            few if few.len() < 3 || few.len() == 3 && apart(few) => {
                few.iter().map(|id| format!("k{id}")).collect::<Vec<_>>().join(" ")
            }
            many => format!("k{}…k{}", many[0], many[many.len() - 1]),
        }
    }

    /// `, 200 alike`; empty for one.
    pub fn alike(&self) -> String {
        if self.times == 1 { String::new() } else { format!(", {} alike", self.times) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_ground::trace::Measured;

    fn launch(id: u32, extent: usize, alike: u32) -> LaunchRecord {
        let meas = Some(Measured { us: 2.0, n: 1, ..Measured::default() });
        let name = format!("k{id} ⍋V");
        LaunchRecord { id, name, domain: vec![extent], alike, meas, ..LaunchRecord::default() }
    }

    #[test]
    fn equal_launches_are_one_class_and_others_are_not() {
        let kernels = vec![launch(0, 9, 0), launch(1, 8, 0), launch(2, 9, 4), launch(3, 9, 0)];
        let mut trace = Trace { kernels, ..Trace::of("x") };
        let told = |trace: &Trace| {
            let label = |c: &Class<'_>| format!("{}{} {:?}", c.label(), c.alike(), c.us);
            classes(trace).iter().map(label).collect::<Vec<_>>()
        };
        assert_eq!(told(&trace), ["k0 k2 k3, 7 alike Some(6.0)", "k1 Some(2.0)"]);
        trace.kernels[2].meas = None;
        trace.kernels[3].name = "k3 ⍒V".into();
        assert_eq!(told(&trace), ["k0 k2, 6 alike None", "k1 Some(2.0)", "k3 Some(2.0)"]);
    }
}

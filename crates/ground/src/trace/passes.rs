//! Passes as JSON has them: what stayed as it was after the pass before is left out.
//!
//! Most passes leave most alone: a list that is the same is absent; kept nodes are all of them
//! (`breaks`), or those that are new or other (`breaks_changed`) and those that are gone
//! (`breaks_gone`). The first and the last pass of an evaluation are written in full, so that the
//! end can be read by itself. An event without `pre` has that of the event before it.

use super::{BreakRecord, Event, PassRecord};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Out<'a> {
    id: u32,
    name: &'a str,
    ms: f64,
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    roots: Option<&'a [u32]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lets: Option<&'a [[u32; 2]]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    breaks: Option<&'a [BreakRecord]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    breaks_changed: Vec<&'a BreakRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    breaks_gone: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    launches: Option<&'a [Vec<u32>]>,
    live: u32,
    bytes: u64,
    flops: u64,
    events: Vec<Happened>,
}

/// An event as JSON has it.
#[derive(Serialize, Deserialize)]
struct Happened {
    rule: String,
    at: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    into: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pre: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dec: Option<u32>,
}

fn happened(events: &[Event]) -> Vec<Happened> {
    let pre =
        |k: usize| (k == 0 || events[k - 1].pre != events[k].pre).then(|| events[k].pre.clone());
    let one = |(k, e): (usize, &Event)| Happened {
        rule: e.rule.clone(),
        at: e.at.clone(),
        into: e.into,
        pre: pre(k),
        dec: e.dec,
    };
    events.iter().enumerate().map(one).collect()
}

fn events(happened: Vec<Happened>) -> Vec<Event> {
    let mut last = String::new();
    let one = |Happened { rule, at, into, pre, dec }| {
        last = pre.unwrap_or_else(|| std::mem::take(&mut last));
        Event { rule, at, into, pre: last.clone(), dec }
    };
    happened.into_iter().map(one).collect()
}

#[derive(Deserialize)]
struct In {
    id: u32,
    name: String,
    ms: f64,
    changed: bool,
    roots: Option<Vec<u32>>,
    lets: Option<Vec<[u32; 2]>>,
    view: Option<String>,
    breaks: Option<Vec<BreakRecord>>,
    #[serde(default)]
    breaks_changed: Vec<BreakRecord>,
    #[serde(default)]
    breaks_gone: Vec<u32>,
    launches: Option<Vec<Vec<u32>>>,
    live: u32,
    bytes: u64,
    flops: u64,
    events: Vec<Happened>,
}

/// Kept nodes that are new or other, and those that are gone. None: the lists are not in the order
/// of nodes, or more changed than stayed.
fn since<'a>(
    before: &[BreakRecord],
    now: &'a [BreakRecord],
) -> Option<(Vec<&'a BreakRecord>, Vec<u32>)> {
    let ordered = |list: &[BreakRecord]| list.windows(2).all(|w| w[0].node < w[1].node);
    if !ordered(before) || !ordered(now) {
        return None;
    }
    let at = |list: &[BreakRecord], node: u32| list.binary_search_by_key(&node, |b| b.node).ok();
    let other = |b: &&BreakRecord| at(before, b.node).is_none_or(|k| before[k] != **b);
    let changed: Vec<_> = now.iter().filter(other).collect();
    let gone: Vec<u32> =
        before.iter().map(|b| b.node).filter(|node| at(now, *node).is_none()).collect();
    // A number is a tenth of a record.
    (changed.len() + gone.len() / 8 <= now.len() / 2).then_some((changed, gone))
}

pub fn serialize<S: Serializer>(passes: &[PassRecord], to: S) -> Result<S::Ok, S::Error> {
    let none = PassRecord::default();
    let out = passes.iter().enumerate().map(|(k, now)| {
        let before = if k == 0 { &none } else { &passes[k - 1] };
        let begins = |k: usize| passes.get(k).is_none_or(|p| p.name == passes[0].name);
        let in_full = begins(k) || begins(k + 1);
        let (breaks, breaks_changed, breaks_gone) =
            match since(&before.breaks, &now.breaks).filter(|_| !in_full) {
                Some((changed, gone)) => (None, changed, gone),
                None => (Some(now.breaks.as_slice()), Vec::new(), Vec::new()),
            };
        Out {
            id: now.id,
            name: &now.name,
            ms: now.ms,
            changed: now.changed,
            roots: (in_full || before.roots != now.roots).then_some(&now.roots),
            lets: (in_full || before.lets != now.lets).then_some(&now.lets),
            view: now.view.as_deref(),
            breaks,
            breaks_changed,
            breaks_gone,
            launches: (in_full || before.launches != now.launches).then_some(&now.launches),
            live: now.live,
            bytes: now.bytes,
            flops: now.flops,
            events: happened(&now.events),
        }
    });
    to.collect_seq(out)
}

pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PassRecord>, D::Error> {
    let read = Vec::<In>::deserialize(from)?;
    let mut passes: Vec<PassRecord> = Vec::with_capacity(read.len());
    for now in read {
        let before = passes.last();
        let breaks = now.breaks.unwrap_or_else(|| {
            let kept = before.map_or(&[][..], |b| &b.breaks);
            if now.breaks_changed.is_empty() && now.breaks_gone.is_empty() {
                return kept.to_vec();
            }
            let mut all: BTreeMap<u32, BreakRecord> =
                kept.iter().map(|b| (b.node, b.clone())).collect();
            now.breaks_gone.iter().for_each(|node| drop(all.remove(node)));
            all.extend(now.breaks_changed.into_iter().map(|b| (b.node, b)));
            all.into_values().collect()
        });
        passes.push(PassRecord {
            id: now.id,
            name: now.name,
            ms: now.ms,
            changed: now.changed,
            roots: now.roots.or_else(|| before.map(|b| b.roots.clone())).unwrap_or_default(),
            lets: now.lets.or_else(|| before.map(|b| b.lets.clone())).unwrap_or_default(),
            view: now.view,
            breaks,
            launches: now
                .launches
                .or_else(|| before.map(|b| b.launches.clone()))
                .unwrap_or_default(),
            live: now.live,
            bytes: now.bytes,
            flops: now.flops,
            events: events(now.events),
        });
    }
    Ok(passes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    fn kept(nodes: &[(u32, &str)]) -> PassRecord {
        let record = |(node, reason): &(u32, &str)| BreakRecord {
            node: *node,
            reason: (*reason).into(),
            bytes: 8,
            readers: 1,
        };
        let event = |pre: &str| Event { rule: "r".into(), pre: pre.into(), ..Event::default() };
        let events = ["a", "a", "b", "", "", "a"].map(event).to_vec();
        PassRecord {
            name: "p".into(),
            breaks: nodes.iter().map(record).collect(),
            events,
            ..PassRecord::default()
        }
    }

    #[test]
    fn passes_are_read_as_they_were_written() {
        let all = [(1, "root"), (2, "off:cse"), (3, "off:cse"), (4, "work"), (9, "root")];
        let passes = vec![
            PassRecord { name: "record".into(), ..kept(&all) },
            kept(&all),
            PassRecord {
                roots: vec![9],
                launches: vec![vec![1, 2]],
                lets: vec![[0, 2]],
                ..kept(&all[1..])
            },
            PassRecord {
                roots: vec![9],
                ..kept(&[(2, "root"), (3, "off:cse"), (4, "work"), (7, "work"), (9, "root")])
            },
            kept(&[]),
            kept(&[(4, "x"), (2, "not in order")]),
            kept(&all),
        ];
        let trace = Trace { passes, ..Trace::of("x") };
        let json = serde_json::to_value(&trace).unwrap();
        assert_eq!(serde_json::from_value::<Trace>(json.clone()).unwrap(), trace);
        assert!(
            json["passes"][1].get("breaks").is_none()
                && json["passes"][1].get("breaks_changed").is_none()
        );
        assert_eq!(json["passes"][2]["breaks_gone"], serde_json::json!([1]));
        assert_eq!(json["passes"][3]["breaks_changed"].as_array().map(Vec::len), Some(2));
        assert!(
            json["passes"][6]["breaks"].is_array() && json["passes"][6]["roots"].is_array(),
            "the end is in full"
        );
        assert!(json["passes"][6]["events"][1].get("pre").is_none());
        // What others write in full is read too.
        let full = serde_json::json!({ "id": 0, "name": "p", "ms": 0.0, "changed": true,
            "roots": [1], "lets": [],
            "breaks": [], "launches": [[1]], "live": 1, "bytes": 0, "flops": 0, "events": [] });
        let mut other = json;
        other["passes"] = serde_json::json!([full]);
        assert_eq!(serde_json::from_value::<Trace>(other).unwrap().passes[0].launches, [[1]]);
    }
}

//! Figures of sentences: each number of bytes that a decision is told with is an array's own, one
//! that the oracle counts, or the difference of two whole plans, the one that there is and the one
//! with the choice reversed.
//!
//! Over lines that take all sorts of choices, random lines, and, as their traces are there, over
//! what all examples evaluate (`prices`).

use crate::facts::LINES;
use crate::grammar::{Grammar, SETUP};
use crate::prices::told;
use crate::support::{Dice, scaled, session};
use aplomb_ground::error::bytes;
use aplomb_ground::trace::{DecisionRecord, LaunchRecord, Trace};
use aplomb_viz::why::told_of;

/// Counts of what was looked at, sentences and figures beside both plans, and those not so.
#[derive(Default)]
pub struct Found {
    sentences: usize,
    compared: usize,
    wrong: Vec<String>,
}

/// The numbers of bytes in a text, as they are written, each with what stands before it and behind.
fn figures(text: &str) -> Vec<(String, &str, &str)> {
    let mut found = Vec::new();
    for unit in [" bytes", " byte", " kB", " MB", " GB", " TB"] {
        for (at, _) in text.match_indices(unit) {
            let (before, behind) = (&text[..at], &text[at + unit.len()..]);
            let start = before
                .rfind(|c: char| !c.is_ascii_digit() && c != '.')
                .map_or(0, |k| k + before[k..].chars().next().map_or(1, char::len_utf8));
            let number = &before[start..];
            if !number.is_empty() && !behind.starts_with(char::is_alphabetic) {
                found.push((format!("{number}{unit}"), &before[..start], behind));
            }
        }
    }
    found
}

/// Bytes of all of a node.
fn size(trace: &Trace, node: u32) -> u64 {
    let of = &trace.nodes[node as usize];
    let each = match of.dtype.as_str() {
        "f64" | "i64" => 8,
        "f32" | "i32" | "i32?" | "char" => 4,
        "i16" => 2,
        _ => 1,
    };
    of.shape.iter().product::<usize>() as u64 * each
}

impl Found {
    pub fn look(&mut self, name: &str, traces: &[Trace]) {
        for trace in traces {
            for d in &trace.decisions {
                self.sentences += 1;
                if let Err(why) = self.holds(trace, d) {
                    self.wrong.push(format!("{name}, {}: {why}: {}", trace.statement, told_of(d)));
                }
            }
        }
    }

    fn holds(&mut self, trace: &Trace, d: &DecisionRecord) -> Result<(), String> {
        let own = bytes(size(trace, d.node));
        // How a launch's text shares and copies, the oracle counts.
        let of_text = ["place", "tile", "pad"].contains(&d.what.as_str());
        for (told, before, behind) in figures(&d.text) {
            let is_limit = d.reason == "limit" && behind.starts_with(" of parameters");
            if !of_text && !is_limit && (told != own || behind.starts_with(" more")) {
                return Err(format!("{told} behind {before:?}, of {own}"));
            }
        }
        let all = told_of(d);
        let beside = figures(&all[d.text.len()..]);
        let plans = d.plan.as_ref().zip(d.alt[0].plan.as_ref());
        let Some((plan, other)) = plans else {
            return beside.is_empty().then_some(()).ok_or("bytes beside no plan".into());
        };
        let [from, to] = trace
            .segments
            .iter()
            .map(|s| (s.decisions, s.kernels))
            .find(|(own, _)| (own[0]..own[1]).contains(&d.id))
            .map(|(_, kernels)| kernels)
            .ok_or("of no evaluation")?;
        let moved = |k: &LaunchRecord| k.est.r + k.est.w;
        let counted: u64 = trace.kernels[from as usize..to as usize].iter().map(moved).sum();
        if counted != plan.bytes {
            return Err(format!("{} in the plan, {counted} in its launches", plan.bytes));
        }
        let differs = plan.bytes != other.bytes;
        self.compared += usize::from(differs);
        let way = if other.bytes > plan.bytes { "more" } else { "less" };
        match beside.as_slice() {
            [] if !differs => Ok(()),
            [(told, _, behind)] if differs => {
                let much = bytes(plan.bytes.abs_diff(other.bytes));
                let first = behind.find("more").into_iter().chain(behind.find("less")).min();
                let is_way = first.is_some_and(|k| behind[k..].starts_with(way));
                (*told == much && is_way).then_some(()).ok_or(format!("{much} {way}"))
            }
            _ => Err(format!("{} bytes, {} the other way", plan.bytes, other.bytes)),
        }
    }

    /// Errors are the test's: one is wrong, or fewer were looked at.
    pub fn hold(&self, least: [usize; 2]) {
        println!("{} sentences, {} with both plans' bytes", self.sentences, self.compared);
        let (wrong, n) = (&self.wrong, self.wrong.len());
        assert!(wrong.is_empty(), "{n} of {}:\n{}", self.sentences, wrong.join("\n"));
        assert!(self.sentences > least[0] && self.compared > least[1]);
    }
}

#[test]
fn bytes_beside_a_choice_are_those_of_two_whole_plans() {
    let mut found = Found::default();
    for (data, line) in LINES {
        let mut s = session();
        told(&mut s, data);
        found.look(line, &told(&mut s, line));
    }
    let grammar = Grammar::from_table();
    let mut s = session();
    told(&mut s, SETUP);
    for seed in 0..scaled(300) {
        let mut dice = Dice(191_000 + seed as u64);
        let depth = 2 + dice.roll(4);
        let (text, _) = grammar.term(&mut dice, depth);
        found.look(&format!("seed {seed}"), &told(&mut s, &text));
    }
    found.hold([1500, 700]);
}

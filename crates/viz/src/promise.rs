//! Promises about launches, held against a trace: `launches 1`, `bytes ≤ 8 MB`, `no-break`,
//! `fused`.
//!
//! Row: BAR-12. A broken promise says what stands in its way: which nodes end a launch, why, where
//! they were written and which switch would change it.

use crate::figures::{self, FIGURES, Figure, temporaries};
use crate::graph::nothing;
use crate::names::named;
use crate::why::{count, family, told_of};
use aplomb_ground::trace::{DecisionRecord, Diagnostic, Trace};

/// A promise about a line.
pub enum Promise {
    /// A figure and its bound.
    Figure {
        /// The figure.
        figure: &'static Figure,
        /// The relation between figure and bound.
        holds: Relation,
        /// The bound.
        than: u64,
    },
    /// Nothing is written to memory but the value.
    NoBreak,
    /// One launch at most, and no break.
    Fused,
}

/// The relation of a figure to the number promised.
#[derive(Clone, Copy)]
pub struct Relation {
    sign: &'static str,
    holds: fn(&u64, &u64) -> bool,
}

/// The first spelling that fits is taken, so longer ones stand first.
const RELATIONS: &[(&str, Relation)] = &[
    ("≤", Relation { sign: "≤ ", holds: u64::le }),
    ("<=", Relation { sign: "≤ ", holds: u64::le }),
    ("≥", Relation { sign: "≥ ", holds: u64::ge }),
    (">=", Relation { sign: "≥ ", holds: u64::ge }),
    ("<", Relation { sign: "< ", holds: u64::lt }),
    (">", Relation { sign: "> ", holds: u64::gt }),
    ("=", Relation { sign: "", holds: u64::eq }),
    ("", Relation { sign: "", holds: u64::eq }),
];

const UNITS: &[(&str, f64)] = &[
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("bytes", 1.0),
    ("byte", 1.0),
    ("", 1.0),
];

/// A broken promise: what stands in its way, first the most telling.
pub struct Broken {
    /// The sentence of the error.
    pub says: String,
    /// The places it speaks of, source, first code point and the one behind the last, each with a
    /// few words.
    pub at: Vec<([u32; 3], String)>,
    /// A way out, in words.
    pub hint: String,
}

impl Promise {
    /// Errors: a sentence.
    pub fn parse(text: &str) -> Result<Promise, String> {
        let text = text.trim();
        match text {
            "" => {
                return Err("a promise is needed: launches 1, bytes ≤ 8 MB, no-break, fused".into());
            }
            "no-break" => return Ok(Promise::NoBreak),
            "fused" => return Ok(Promise::Fused),
            _ => {}
        }
        let end = text.find(|c: char| !c.is_ascii_alphabetic() && c != '-').unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let figure = figures::find(name).map_err(|_| {
            let names: Vec<&str> = FIGURES.iter().map(|f| f.name).collect();
            format!(
                "no promise is called {name}; there are {} N, no-break, fused",
                names.join(" N, ")
            )
        })?;
        let rest = rest.trim();
        let (sign, holds) =
            RELATIONS.iter().find(|(sign, _)| rest.starts_with(sign)).unwrap_or(&RELATIONS[7]);
        let number = rest[sign.len()..].trim();
        let wrong = || format!("{name} needs a number: {name} 1, {name} ≤ 2");
        let unit = UNITS.iter().find(|u| number.ends_with(u.0)).ok_or_else(wrong)?;
        let number =
            number[..number.len() - unit.0.len()].trim().parse::<f64>().map_err(|_| wrong())?
                * unit.1;
        if !(0.0..1e18).contains(&number) || number.fract() != 0.0 {
            return Err(wrong());
        }
        Ok(Promise::Figure { figure, holds: *holds, than: number as u64 })
    }

    /// The promise as it is written.
    pub fn text(&self) -> String {
        self.beside(None)
    }

    /// Beside the figure that was found, in as many digits as tell the two apart.
    fn beside(&self, found: Option<u64>) -> String {
        match self {
            Promise::Figure { figure, holds, than } => {
                format!(
                    "{} {}{}",
                    figure.name,
                    holds.sign,
                    apart(figure, *than, found.unwrap_or(*than))
                )
            }
            Promise::NoBreak => "no-break".into(),
            Promise::Fused => "fused".into(),
        }
    }

    /// Errors: what is so instead, and why.
    pub fn check(&self, trace: &Trace) -> Result<(), Box<Broken>> {
        let (launches, kept) = (figures::launches(trace) as usize, figures::kept(trace) as usize);
        let stored = || match kept {
            1 => "1 array is written to memory on the way".to_string(),
            n => format!("{n} arrays are written to memory on the way"),
        };
        let found = match self {
            Promise::Figure { figure, holds, than } => {
                let is = (figure.of)(trace);
                if (holds.holds)(&is, than) {
                    return Ok(());
                }
                let more = is > *than;
                let found = match figure.name {
                    "bytes" => format!("{} are moved", apart(figure, is, *than)),
                    "launches" => count(is as usize, "launch"),
                    name => format!("{name} {}", apart(figure, is, *than)),
                };
                let says = headed(&self.beside(Some(is)), &found);
                // Why it is so much is worth saying only where it is too much.
                return Err(if more { broken(trace, says) } else { bare(trace, says) });
            }
            // What was not compiled can promise nothing.
            _ if trace.segments.is_empty() => {
                return Err(bare(trace, headed(&self.text(), "nothing was compiled")));
            }
            _ if untraced(trace).next().is_some() => "a part of it is not compiled".into(),
            Promise::NoBreak if kept == 0 => return Ok(()),
            Promise::Fused if kept == 0 && launches <= 1 => return Ok(()),
            Promise::Fused if kept == 0 => count(launches, "launch"),
            Promise::Fused => format!("{}, {}", count(launches, "launch"), stored()),
            Promise::NoBreak => stored(),
        };
        Err(broken(trace, headed(&self.text(), &found)))
    }
}

/// A figure as people read it, or all its digits where another one would read the same.
fn apart(figure: &Figure, n: u64, other: u64) -> String {
    let shown = (figure.show)(n);
    match n != other && shown == (figure.show)(other) {
        true if figure.name == "bytes" => format!("{n} bytes"),
        true => n.to_string(),
        false => shown,
    }
}

fn headed(promise: &str, found: &str) -> String {
    format!("]assert {promise} does not hold: {found}")
}

fn bare(trace: &Trace, mut says: String) -> Box<Broken> {
    if trace.segments.is_empty() {
        says += &format!("; {}", nothing(trace));
    }
    let at = apart_from_launches(trace, &mut says);
    Box::new(Broken { says, at, hint: "]why tells what ran".into() })
}

/// Operands that no launch computes for all cells at once: they need an array whose extent values
/// tell, or look at a value.
fn untraced(trace: &Trace) -> impl Iterator<Item = &Diagnostic> {
    trace.diagnostics.iter().filter(|d| d.code == "W-untraced")
}

/// The places of such operands, the first of which is said.
fn apart_from_launches(trace: &Trace, says: &mut String) -> Vec<([u32; 3], String)> {
    if let Some(first) = untraced(trace).next() {
        *says += &format!(". {}", first.text);
    }
    let mark = |d: &Diagnostic| Some((d.span?, "runs cell by cell".to_string()));
    untraced(trace).filter_map(mark).take(MARKS).collect()
}

/// So many places are marked in the source.
const MARKS: usize = 4;

fn broken(trace: &Trace, mut says: String) -> Box<Broken> {
    let mut at = apart_from_launches(trace, &mut says);
    let reasons = reasons(trace);
    if let Some(first) = reasons.first() {
        says += &format!(". {}", first.says);
    }
    let switch = reasons
        .iter()
        .map(|r| r.switch.as_str())
        .find(|s| trace.config.off.iter().any(|off| off == s));
    let hint = match (switch, reasons.first()) {
        (Some(off), _) => format!("]on {off}"),
        (None, Some(first)) => format!("]why n{} has its sums", first.node),
        (None, None) => "]why tells what ran".into(),
    };
    let mut known: Vec<u32> = Vec::new();
    for r in &reasons {
        let span = trace.nodes.get(r.node as usize).and_then(|n| n.span.first());
        if let Some(span) = span.filter(|_| at.len() < MARKS && !known.contains(&r.node)) {
            known.push(r.node);
            at.push((*span, r.mark.clone()));
        }
    }
    Box::new(Broken { says, at, hint })
}

/// A reason why there is more than one launch.
pub struct Reason {
    /// The node.
    pub node: u32,
    /// The sentence.
    pub says: String,
    /// The words at the node's place in the text.
    pub mark: String,
    /// The switch that would change it; empty where none does.
    pub switch: String,
}

/// For each array that is written on the way, and for each launch that waits for none, the decision
/// behind it. What a choice made comes before what the language demands.
pub fn reasons(trace: &Trace) -> Vec<Reason> {
    let told = |d: &DecisionRecord, mark: String| Reason {
        node: d.node,
        says: told_of(d),
        mark,
        switch: d.switch.clone(),
    };
    let mut out = Vec::new();
    for b in temporaries(trace) {
        let Some(node) = trace.nodes.get(b.node as usize) else { continue };
        let step = trace.segments.iter().find(|s| s.buffers[0] <= b.id && b.id < s.buffers[1]);
        if let ("result", Some(step)) = (b.role.as_str(), step) {
            let says = format!(
                "{} is needed whole before the line can go on: for {}",
                named(node),
                step.why
            );
            let mark = format!("needed whole, for {}", step.why);
            out.push(Reason { node: b.node, says, mark, switch: String::new() });
            continue;
        }
        let own = family(trace, node);
        let of = trace.decisions.iter().filter(|d| own.contains(&d.node) && d.what == "keep");
        if let Some(d) = of.min_by_key(|d| d.reason == "consumer") {
            out.push(told(d, format!("n{} is written to memory: {}", b.node, d.reason)));
        }
    }
    out.sort_by_key(|r| r.mark.ends_with("consumer"));
    let boundaries = trace.decisions.iter().filter(|d| d.reason == "boundary");
    out.extend(boundaries.map(|d| told(d, "a launch of its own begins here".into())));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_read_and_printed() {
        for (text, printed) in [
            ("launches 1", "launches 1"),
            ("launches<=2", "launches ≤ 2"),
            ("launches = 3", "launches 3"),
            ("bytes ≤ 8MB", "bytes ≤ 8.0 MB"),
            ("bytes < 16e3", "bytes < 16 kB"),
            ("no-break", "no-break"),
            (" fused ", "fused"),
        ] {
            assert_eq!(Promise::parse(text).map(|p| p.text()).as_deref(), Ok(printed), "{text}");
        }
        for text in [
            "",
            "launches",
            "launches -1",
            "launches 1.5",
            "bytes ≤ much",
            "colour 3",
            "launches 1 2",
            "fused 1",
        ] {
            assert!(Promise::parse(text).is_err(), "{text}");
        }
    }
}

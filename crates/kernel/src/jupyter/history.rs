//! The cells of this process, for `history_request`: tail, range, search.

use jupyter_protocol::{HistoryEntry, HistoryReply};
use serde_json::{Map, Value};
use std::collections::{HashSet, VecDeque};

/// Entries that are kept.
const MOST: usize = 10_000;
/// The number of this process's session; there is no other.
const SESSION: usize = 1;

struct Entry {
    line: usize,
    input: String,
    output: String,
}

#[derive(Default)]
pub struct History(VecDeque<Entry>);

impl History {
    pub fn add(&mut self, line: usize, input: &str) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(Entry { line, input: input.into(), output: String::new() });
    }

    /// Adds what the last cell showed.
    pub fn output(&mut self, text: &str) {
        if let Some(last) = self.0.back_mut() {
            last.output.push_str(text);
        }
    }

    /// Fields that are left out or wrong have defaults: the whole range, the last ten, every text.
    pub fn answer(&self, asked: &Map<String, Value>) -> HistoryReply {
        let number = |name: &str| asked.get(name).and_then(Value::as_i64);
        let flag = |name: &str| asked.get(name).and_then(Value::as_bool).unwrap_or(false);
        let kind = asked.get("hist_access_type").and_then(Value::as_str).unwrap_or("tail");
        let mut found: Vec<&Entry> = match kind {
            "range" => {
                let own = number("session").is_none_or(|s| s == 0 || s == SESSION as i64);
                let from = number("start").unwrap_or(0);
                let to = number("stop").unwrap_or(i64::MAX);
                self.0.iter().filter(|e| own && (from..to).contains(&(e.line as i64))).collect()
            }
            "search" => {
                let pattern: Vec<char> =
                    asked.get("pattern").and_then(Value::as_str).unwrap_or("*").chars().collect();
                self.0.iter().filter(|e| matches(&pattern, &e.input)).collect()
            }
            _ => self.0.iter().collect(),
        };
        if flag("unique") {
            let mut seen = HashSet::new();
            found.reverse();
            found.retain(|e| seen.insert(&e.input));
            found.reverse();
        }
        let most = match kind {
            "range" => usize::MAX,
            "search" => number("n").map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(0)),
            _ => number("n").map_or(10, |n| usize::try_from(n).unwrap_or(0)),
        };
        let skipped = found.len().saturating_sub(most);
        let entry = |e: &&Entry| match flag("output") {
            true => HistoryEntry::InputOutput(SESSION, e.line, (e.input.clone(), e.output.clone())),
            false => HistoryEntry::Input(SESSION, e.line, e.input.clone()),
        };
        HistoryReply::new(found.iter().skip(skipped).map(entry).collect())
    }
}

/// `*` stands for any text, `?` for a character. Time: the product of both lengths at most.
fn matches(pattern: &[char], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Where the last star stands, and the text it was tried on.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((at, tried)) => {
                    star = Some((at, tried + 1));
                    (p, t) = (at + 1, tried + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(asked: Value, wanted: &[&str]) {
        let mut history = History::default();
        ["x←1", "+/x", "x←1", "]dag"]
            .iter()
            .enumerate()
            .for_each(|(k, text)| history.add(k + 1, text));
        let Value::Object(asked) = asked else { return };
        let found = history.answer(&asked).history;
        let inputs: Vec<String> = found
            .into_iter()
            .map(|e| match e {
                HistoryEntry::Input(_, _, text) | HistoryEntry::InputOutput(_, _, (text, _)) => {
                    text
                }
            })
            .collect();
        assert_eq!(inputs, wanted, "{asked:?}");
    }

    #[test]
    fn tail_range_and_search() {
        check(json!({"hist_access_type": "tail", "n": 2}), &["x←1", "]dag"]);
        check(json!({"hist_access_type": "tail", "n": -1}), &[]);
        check(json!({}), &["x←1", "+/x", "x←1", "]dag"]);
        check(
            json!({"hist_access_type": "range", "session": 0, "start": 2, "stop": 4}),
            &["+/x", "x←1"],
        );
        check(json!({"hist_access_type": "range", "session": 7}), &[]);
        check(json!({"hist_access_type": "search", "pattern": "x*"}), &["x←1", "x←1"]);
        check(
            json!({"hist_access_type": "search", "pattern": "x?1", "unique": true, "output": true}),
            &["x←1"],
        );
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let pattern: Vec<char> = "*a".repeat(200).chars().chain(['b']).collect();
        assert!(!matches(&pattern, &"a".repeat(5_000)));
    }
}

//! The cells of this process and of those before it, for `history_request`: tail, range, search.
//!
//! A file has a line of JSON for each cell: session, number, text. A history that cannot be kept is
//! no error.

use aplomb_ground::limits::Interrupt;
use jupyter_protocol::{HistoryEntry, HistoryReply};
use serde_json::{Map, Value};
use std::collections::{HashSet, VecDeque};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// Entries that are kept.
const MOST: usize = 10_000;
/// Bytes of a file at which its older half goes.
const LONGEST: u64 = 8 << 20;
/// Bytes of a cell that is kept for later processes.
const LONG: usize = 64 << 10;

struct Entry {
    session: usize,
    line: usize,
    input: String,
    output: String,
}

pub struct History {
    entries: VecDeque<Entry>,
    /// The number of this process's session: one more than the last.
    session: usize,
    file: Option<PathBuf>,
}

impl Default for History {
    fn default() -> History {
        History { entries: VecDeque::new(), session: 1, file: None }
    }
}

/// The cell on a line of the file.
fn entry(line: &str) -> Option<Entry> {
    let (session, number, input) = serde_json::from_str::<(usize, usize, String)>(line).ok()?;
    Some(Entry { session, line: number, input, output: String::new() })
}

impl History {
    /// The history that a file keeps.
    pub fn at(file: Option<PathBuf>) -> History {
        let mut history = History { file, ..History::default() };
        let Some(path) = &history.file else { return history };
        let Ok(text) = std::fs::read(path) else { return history };
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        if text.len() as u64 > LONGEST {
            let half = lines[lines.len() / 2..].join("\n") + "\n";
            let _ = crate::files::write_file(path, half.as_bytes(), &Interrupt::default());
        }
        let first = lines.len().saturating_sub(MOST);
        history.entries = lines[first..].iter().filter_map(|line| entry(line)).collect();
        let last = history.entries.iter().map(|e| e.session).max();
        history.session = last.map_or(1, |last| last.saturating_add(1));
        history
    }

    pub fn add(&mut self, line: usize, input: &str) {
        if self.entries.len() >= MOST {
            self.entries.pop_front();
        }
        let entry =
            Entry { session: self.session, line, input: input.into(), output: String::new() };
        self.entries.push_back(entry);
        self.keep(line, input);
    }

    fn keep(&self, line: usize, input: &str) {
        let Some(path) = self.file.as_ref().filter(|_| input.len() <= LONG) else { return };
        let Ok(mut text) = serde_json::to_string(&(self.session, line, input)) else { return };
        text.push('\n');
        if let Some(folder) = path.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        // Its owner's alone, as the prompt's.
        let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        let _ = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    }

    /// Adds what the last cell showed.
    pub fn output(&mut self, text: &str) {
        if let Some(last) = self.entries.back_mut() {
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
                // 0 is this session, -1 the one before.
                let session = match number("session").map_or(0, |s| s) {
                    back if back <= 0 => self.session as i64 + back,
                    session => session,
                };
                let from = number("start").unwrap_or(0);
                let to = number("stop").unwrap_or(i64::MAX);
                let own = self.entries.iter().filter(|e| e.session as i64 == session);
                own.filter(|e| (from..to).contains(&(e.line as i64))).collect()
            }
            "search" => {
                let pattern: Vec<char> =
                    asked.get("pattern").and_then(Value::as_str).unwrap_or("*").chars().collect();
                self.entries.iter().filter(|e| matches(&pattern, &e.input)).collect()
            }
            _ => self.entries.iter().collect(),
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
            true => {
                HistoryEntry::InputOutput(e.session, e.line, (e.input.clone(), e.output.clone()))
            }
            false => HistoryEntry::Input(e.session, e.line, e.input.clone()),
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
    fn a_later_process_has_the_cells_of_those_before_it() {
        let folder = std::env::temp_dir().join(format!("aplomb-history-{}", std::process::id()));
        let file = folder.join("new/cells");
        let at = || History::at(Some(file.clone()));
        let mut first = at();
        first.add(1, "x←1\n+/x");
        let mut second = at();
        second.add(1, "y");
        let tail = |h: &History| {
            let Value::Object(asked) = json!({ "hist_access_type": "tail", "n": 9 }) else {
                return Value::Null;
            };
            serde_json::to_value(h.answer(&asked).history).expect("JSON")
        };
        assert_eq!(tail(&second), json!([[1, 1, "x←1\n+/x"], [2, 1, "y"]]));
        let before = json!({"hist_access_type": "range", "session": -1});
        let Value::Object(before) = before else { return };
        assert_eq!(second.answer(&before).history.len(), 1);
        std::fs::write(&file, b"\xff\n[1,2]\n[3,1,\"z\"]\n7\n").expect("a file");
        assert_eq!(tail(&at()), json!([[3, 1, "z"]]));
        std::fs::remove_dir_all(folder).expect("the folder goes");
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let pattern: Vec<char> = "*a".repeat(200).chars().chain(['b']).collect();
        assert!(!matches(&pattern, &"a".repeat(5_000)));
    }
}

//! The choices of a device: in memory, and on the disk for later programs.

use super::cache::{Disk, Entry, Key, Lookup};
use super::choice::Choice;
use super::text::Lowered;
use aplomb_plans::plan::Launch;
use std::collections::{HashMap, HashSet};

/// Choices that a process remembers, and those that it knows not to be there.
const MOST: usize = 4096;
/// The kind of file that holds choices, as the cache names it.
const KIND: &str = "tuning";

/// The choices of this device.
pub struct Choices {
    disk: Disk,
    made_by: String,
    known: HashMap<String, Option<Choice>>,
    /// Those that were measured since `begin`: a launch that runs again and again is measured once.
    measured: HashSet<String>,
    /// The sentences that the user should hear.
    pub notices: Vec<String>,
}

impl Choices {
    pub fn new(disk: Disk, made_by: &str) -> Choices {
        let (known, measured) = (HashMap::new(), HashSet::new());
        Choices { disk, made_by: made_by.into(), known, measured, notices: Vec::new() }
    }

    /// Everything may be measured again.
    pub fn begin(&mut self) {
        self.measured.clear();
    }

    /// Whether a launch is met for the first time since `begin`.
    pub fn is_new(&mut self, plain: &Lowered, launch: &Launch) -> bool {
        let file = self.key(plain, launch).file();
        self.measured.insert(file)
    }

    /// `plain`: the launch as it comes.
    fn key(&self, plain: &Lowered, launch: &Launch) -> Key {
        let points = launch.domain.iter().fold(1u64, |all, n| all.saturating_mul(*n as u64));
        let (made_by, class) = (self.made_by.clone(), points.max(1).ilog2());
        Key { kind: KIND, made_by, text: format!("class {class}\n{}", plain.texts.join("\n")) }
    }

    /// The choice found for a launch; a record that is damaged, or names no text of it, is as none.
    pub fn get(&mut self, plain: &Lowered, launch: &Launch) -> Option<Choice> {
        let key = self.key(plain, launch);
        let file = key.file();
        if let Some(known) = self.known.get(&file) {
            return known.clone();
        }
        let found = match self.disk.lookup(&key) {
            Lookup::None => None,
            Lookup::Damaged => {
                self.damaged(&file);
                None
            }
            Lookup::Whole(entry) => {
                let choice = Choice::decode(&entry.log)
                    .filter(|c| plain.code.candidates().contains(&c.tuning));
                if choice.is_none() {
                    self.damaged(&file);
                }
                choice
            }
        };
        self.remember(file, found.clone());
        found
    }

    fn damaged(&mut self, file: &str) {
        self.notices
            .push(format!("what was tuned is not used: {file} is damaged; ]tune makes it again"));
    }

    fn remember(&mut self, file: String, choice: Option<Choice>) {
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(file, choice);
    }

    pub fn put(&mut self, plain: &Lowered, launch: &Launch, choice: Choice) {
        let key = self.key(plain, launch);
        let log = choice.encode();
        self.remember(key.file(), Some(choice));
        if let Err(e) = self.disk.put(&key, &Entry { log, binary: Vec::new() }) {
            let folder = self.disk.folder().map(|f| f.display().to_string()).unwrap_or_default();
            self.notices.push(format!("what was tuned is not kept: {folder}: {e}"));
        }
    }

    /// All choices go, those on the disk too. How many there were.
    pub fn forget(&mut self) -> usize {
        let here = self.count();
        self.known.clear();
        self.disk.drop_all(KIND).max(here)
    }

    /// Choices that this process has met.
    pub fn count(&self) -> usize {
        self.known.values().flatten().count()
    }
}

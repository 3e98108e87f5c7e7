//! From texts to functions: what this process knows, what the disk knows, what NVRTC must compile.
//!
//! Rows: ACL-42, ACL-44, ACC-26. One program an expression; beyond twelve kernels two programs on
//! two threads. NVRTC's time is counted apart from ours.

use super::cache::{Disk, Entry, Key};
use super::compile::{self, Usage};
use super::driver::{Done, Driver, Module, Trouble};
use super::text::{Lowered, Ready};
use crate::device::Compiling;
use aplomb_plans::kir;
use aplomb_plans::plan::Math;
use std::collections::HashMap;
use std::rc::Rc;

/// Kernels of one program; more are split over two threads.
const TOGETHER: usize = 12;
/// Functions that are kept; when there are more, all that no run holds go.
const MOST: usize = 2_000;

pub struct Kernels {
    driver: Driver,
    disk: Disk,
    known: HashMap<String, Rc<Ready>>,
    made_by: String,
    pub spent: Compiling,
    /// The sentences that the user should hear, once.
    pub notices: Vec<String>,
}

/// The versions that binaries, and their times, depend on beside the text.
pub fn made_by(driver: &Driver) -> String {
    let facts = driver.facts();
    let (version, (major, minor)) = (env!("CARGO_PKG_VERSION"), facts.nvrtc);
    let options = compile::options();
    format!("{version} nvrtc {major}.{minor} {} {} {options}", facts.arch, facts.name)
}

impl Kernels {
    pub fn new(driver: &Driver) -> Kernels {
        let (made_by, known, spent) = (made_by(driver), HashMap::new(), Compiling::default());
        Kernels {
            driver: driver.clone(),
            disk: Disk::of_user(),
            known,
            made_by,
            spent,
            notices: Vec::new(),
        }
    }

    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    pub fn count(&self) -> usize {
        self.known.len()
    }

    pub fn knows(&self, text: &str) -> bool {
        self.known.contains_key(text)
    }

    /// The functions of all these launches, in order, and of `others`; those that are missing
    /// become one program. Errors: as `get`.
    pub fn of(&mut self, all: &[Rc<Lowered>], others: &[&str]) -> Done<Vec<Rc<Ready>>> {
        let known: Option<Vec<_>> = all.iter().map(|l| l.functions()).collect();
        if let Some(known) = known.filter(|_| others.is_empty()) {
            let known: Vec<Rc<Ready>> = known.into_iter().flatten().collect();
            self.spent.memory_hits += known.len() as u32;
            return Ok(known);
        }
        let texts: Vec<&str> = all
            .iter()
            .flat_map(|l| &l.texts)
            .map(String::as_str)
            .chain(others.iter().copied())
            .collect();
        let ready = self.get(&texts)?;
        let mut rest = ready.as_slice();
        for one in all {
            let (own, after) = rest.split_at(one.texts.len().min(rest.len()));
            one.set_functions(own);
            rest = after;
        }
        Ok(ready)
    }

    /// A function a text. Errors: `Refused` where NVRTC or the driver does not take it.
    fn get(&mut self, texts: &[&str]) -> Done<Vec<Rc<Ready>>> {
        let mut missing: Vec<&str> = Vec::new();
        for text in texts {
            if self.known.contains_key(*text) {
                self.spent.memory_hits += 1;
            } else if !missing.contains(text) {
                missing.push(text);
            }
        }
        if self.known.len() + missing.len() > MOST {
            self.known.retain(|_, ready| Rc::strong_count(ready) > 1);
        }
        if !missing.is_empty() {
            self.make(&missing)?;
        }
        let one = |text: &&str| self.known.get(*text).cloned();
        let all: Option<Vec<_>> = texts.iter().map(one).collect();
        all.ok_or_else(|| Trouble::Refused("a kernel is missing from its program".into()))
    }

    fn make(&mut self, missing: &[&str]) -> Done<()> {
        let half = if missing.len() > TOGETHER { missing.len().div_ceil(2) } else { missing.len() };
        let key = |texts: &[&str]| {
            let (made_by, text) = (self.made_by.clone(), kir::assemble(texts).0);
            Key { kind: "kernel", made_by, text }
        };
        // A program is compiled in one way.
        let alike = Math::ALL
            .map(|m| missing.iter().copied().filter(|t| kir::math(t) == m).collect::<Vec<_>>());
        let programs: Vec<(&[&str], Key)> = alike
            .iter()
            .flat_map(|texts| texts.chunks(half))
            .map(|texts| (texts, key(texts)))
            .collect();
        let mut unknown = Vec::new();
        for (texts, key) in &programs {
            match self.disk.get(key) {
                Some(entry) if self.load(texts, &entry).is_ok() => {
                    self.spent.disk_hits += texts.len() as u32
                }
                Some(_) => {
                    // Whole, and yet the driver does not take it.
                    self.disk.drop(key);
                    unknown.push((*texts, key));
                }
                None => unknown.push((*texts, key)),
            }
        }
        for ((texts, key), made) in unknown.iter().zip(self.compile_all(&unknown)) {
            let entry = made.map_err(Trouble::Refused)?;
            self.load(texts, &entry)?;
            self.spent.compiled += texts.len() as u32;
            if let Err(e) = self.disk.put(key, &entry) {
                let folder =
                    self.disk.folder().map(|f| f.display().to_string()).unwrap_or_default();
                self.tell(format!("compiled kernels are not kept: {folder}: {e}"));
            }
        }
        Ok(())
    }

    fn tell(&mut self, notice: String) {
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }

    fn compile_all(&mut self, programs: &[(&[&str], &Key)]) -> Vec<Result<Entry, String>> {
        let arch = self.driver.facts().arch.clone();
        let one = |key: &Key| compile::compile(&key.text, &arch);
        let begun = std::time::Instant::now();
        let made: Vec<Result<compile::Binary, String>> = match programs {
            [(_, first), (_, second)] => std::thread::scope(|s| {
                let other = s.spawn(|| one(second));
                let first = one(first);
                vec![first, other.join().unwrap_or_else(|_| Err("the compiler panicked".into()))]
            }),
            all => all.iter().map(|(_, key)| one(key)).collect(),
        };
        if !programs.is_empty() {
            self.spent.nvrtc_ms += begun.elapsed().as_secs_f64() * 1e3;
        }
        made.into_iter().map(|m| m.map(|b| Entry { log: b.log, binary: b.cubin })).collect()
    }

    fn load(&mut self, texts: &[&str], entry: &Entry) -> Done<()> {
        let threads = |text| {
            kir::threads(text).ok_or_else(|| Trouble::Refused("a text without its bounds".into()))
        };
        let module = Module::load(&self.driver, &entry.binary)?;
        let usages: HashMap<String, Usage> = compile::usage(&entry.log).into_iter().collect();
        for (k, text) in texts.iter().enumerate() {
            let name = format!("k{k}");
            let function = module.function(&name, threads(text)?)?;
            let own = Usage { registers: function.registers, ..Usage::default() };
            let usage = usages.get(&name).copied().unwrap_or(own);
            self.known.insert(text.to_string(), Rc::new(Ready { function, usage }));
        }
        Ok(())
    }
}

//! Memory whose size data decide is asked of the budget before it is taken: this program's
//! allocator sees each large block, the budget tells what it gave, and a block without an answer is
//! found with its place in the source.
//!
//! The lines are every row of PRIMS on long arrays of every kind, and those of `asked.txt`.

use crate::support::{Heard, session};
use aplomb_ground::heap;
use aplomb_ground::protocol::Request;
use aplomb_kernel::session::Session;
use aplomb_language::table::{Does, Meaning, prims};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The allocator of this program: the system's, watched in threads that say so.
pub struct Watched;

thread_local! {
    static WATCHING: Cell<bool> = const { Cell::new(false) };
    /// The bytes that were asked for and not taken yet, the last at the end.
    static GIVEN: Cell<[u64; 16]> = const { Cell::new([0; 16]) };
    /// All bytes that this thread has taken while somebody looked, and in how many blocks.
    static TAKEN: Cell<[u64; 2]> = const { Cell::new([0; 2]) };
    /// Places that took what nobody was asked for.
    static FOUND: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// The number of those who look at blocks: while it is 0 a block costs nothing more, as in all
/// other tests.
static LOOKING: AtomicUsize = AtomicUsize::new(0);

/// Somebody who looks at blocks, until it is dropped.
pub struct Looking(());

impl Looking {
    pub fn begin() -> Looking {
        LOOKING.fetch_add(1, Relaxed);
        Looking(())
    }

    /// The bytes that this thread has taken since somebody looked, given back or not.
    pub fn allocated(&self) -> u64 {
        TAKEN.get()[0]
    }

    /// The blocks that this thread has taken since somebody looked.
    pub fn blocks(&self) -> u64 {
        TAKEN.get()[1]
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        LOOKING.fetch_sub(1, Relaxed);
    }
}

/// Places that are told of a line: a look at the stack takes milliseconds.
const FEW: usize = 4;
/// Bytes that a block may be beyond what was asked for: headers, and room to be aligned.
const BESIDE: u64 = 1 << 12;

fn heard(bytes: u64) {
    GIVEN.with(|given| {
        let mut all = given.get();
        all.rotate_left(1);
        all[15] = bytes;
        given.set(all);
    });
}

/// A block was asked for, lately: it takes what was given.
fn was_asked(bytes: u64) -> bool {
    GIVEN.with(|given| {
        let mut all = given.get();
        let Some(at) = all.iter().rposition(|&g| g + BESIDE >= bytes) else { return false };
        all[at] = all[at].saturating_sub(bytes);
        given.set(all);
        true
    })
}

/// The first place of our own sources on the stack.
fn place() -> String {
    let stack = std::backtrace::Backtrace::force_capture().to_string();
    let ours = |l: &&str| l.contains("crates/") && !l.contains("ground/src/limits.rs");
    let found = stack.lines().filter_map(|l| l.trim().strip_prefix("at ")).find(ours);
    let place = found.map_or("somewhere", |place| place.rsplit_once(':').map_or(place, |p| p.0));
    place.rsplit_once("crates/").map_or(place, |p| p.1).to_string()
}

#[inline]
fn look(bytes: usize) {
    if LOOKING.load(Relaxed) > 0 {
        look_at(bytes);
    }
}

fn look_at(bytes: usize) {
    let [taken, blocks] = TAKEN.get();
    TAKEN.set([taken + bytes as u64, blocks + 1]);
    if (bytes as u64) < heap::MUCH || !WATCHING.get() || was_asked(bytes as u64) {
        return;
    }
    WATCHING.set(false);
    let place = place();
    let many = FOUND.with_borrow_mut(|found| {
        found.push(place);
        found.len() >= FEW
    });
    WATCHING.set(!many);
}

// SAFETY: the system's allocator does all of it; blocks are looked at before they are taken.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        look(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        look(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        look(bytes);
        unsafe { System.realloc(at, layout, bytes) }
    }
}

const PAGE: &str = include_str!("asked.txt");

/// The lines of a page that are typed.
fn typed() -> impl Iterator<Item = &'static str> {
    PAGE.split("\n\n").skip(1).flat_map(|b| b.lines().filter_map(|l| l.strip_prefix("      ")))
}

/// The names that the first block makes.
fn setup() -> impl Iterator<Item = &'static str> {
    let first = PAGE.split("\n\n").find(|b| b.contains("      "));
    first.into_iter().flat_map(|b| b.lines().filter_map(|l| l.strip_prefix("      ")))
}

fn execute(s: &mut Session, line: &str) {
    let request = Request::Execute { code: line.into(), name: "line".into(), silent: false };
    s.handle(request, &mut Heard::default());
}

/// Every function of the table on every kind of data.
fn of_the_table() -> Vec<String> {
    let calls = |m: &Option<Meaning>| {
        m.as_ref().is_some_and(|m| !matches!(m.does, Does::Operator(_) | Does::Execute))
    };
    let mut lines = Vec::new();
    for p in prims() {
        let f = p.glyph;
        if calls(&p.monadic) {
            lines.extend(["I", "F", "B", "T", "W", "M", "Z"].map(|y| format!("≢{f}{y}")));
        }
        if calls(&p.dyadic) {
            let pairs =
                ["I{}F", "B{}I", "T{}T", "W{}W", "3{}I", "2 3{}M", "'a'{}T", "Z{}F", "I{}T"];
            lines.extend(pairs.map(|pair| format!("≢{}", pair.replace("{}", &f.to_string()))));
        }
    }
    lines
}

#[test]
fn what_data_size_is_asked_for_before_it_is_taken() {
    let _looking = Looking::begin();
    heap::heard_by(heard);
    let mut s = session();
    setup().for_each(|line| execute(&mut s, line));
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in of_the_table().into_iter().chain(typed().map(String::from)) {
        GIVEN.set([0; 16]);
        WATCHING.set(true);
        let begun = std::time::Instant::now();
        execute(&mut s, &line);
        WATCHING.set(false);
        if begun.elapsed().as_secs_f64() > 3.0 {
            println!("{:?}: {line}", begun.elapsed());
        }
        for place in FOUND.take() {
            let lines = wrong.entry(place).or_default();
            if lines.last() != Some(&line) {
                lines.push(line.clone());
            }
        }
    }
    let told = |(place, lines): (&String, &Vec<String>)| {
        format!(
            "{place}: {} lines, such as {}",
            lines.len(),
            lines[..lines.len().min(3)].join(" ⋄ ")
        )
    };
    let told: Vec<String> = wrong.iter().map(told).collect();
    assert!(wrong.is_empty(), "{} places\n{}", wrong.len(), told.join("\n"));
}

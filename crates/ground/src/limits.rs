//! The bounds of a session: one `Limits`, one `Budget` of bytes, one `Interrupt`.
//!
//! `Budget::charge` is the only way to array memory; the guard gives the bytes back. Whoever asks
//! for memory hears of the interrupt too, so a loop that makes items can be stopped; one that makes
//! none asks by `check` or `Ticks`. `room` and `filled` are vectors sized by data: the machine's
//! refusal is WS FULL there, and not the end.

use crate::error::{Result, interrupt, outgrown, ws_full};
use crate::heap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Printed by `)limits`, changed by `--limit K=V`; nothing else bounds a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Brackets inside brackets.
    pub nest: usize,
    /// Tokens in one statement.
    pub tokens: usize,
    /// Dfn calls that are not tail calls.
    pub depth: usize,
    /// Axes of an array.
    pub rank: usize,
    /// Bytes that arrays may take.
    pub bytes: u64,
    /// Nodes that may be pending before a force.
    pub pending: usize,
    /// Seconds for one request; 0 = no limit.
    pub seconds: f64,
    /// Bounds of one launch.
    pub launch: LaunchLimits,
    /// Lines that one value may print before its middle is left out; 0 = all.
    pub lines: usize,
}

/// The bounds of one launch; what needs more is several (ACL-33).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchLimits {
    /// Arrays that it reads.
    pub inputs: usize,
    /// Steps of its text.
    pub code: usize,
    /// Bytes of its parameters: addresses, extents, strides, numbers.
    pub parameters: usize,
    /// Registers of 32 bits that a thread has.
    pub registers: usize,
}

impl Default for LaunchLimits {
    /// The addresses and extents of 64 arrays fit any device's parameters, of which CUDA has 32 764
    /// bytes from 12.1 on; no thread has more than 255 registers.
    fn default() -> Self {
        LaunchLimits { inputs: 64, code: 16_384, parameters: 32_764, registers: 255 }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            nest: 512,
            tokens: 100_000,
            depth: 12_000,
            rank: 15,
            bytes: 1 << 33,
            pending: 4_096,
            seconds: 0.0,
            launch: LaunchLimits::default(),
            lines: 200,
        }
    }
}

impl Limits {
    /// Name and value of each, for `)limits` and for `set`.
    pub fn list(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("nest", self.nest as f64),
            ("tokens", self.tokens as f64),
            ("depth", self.depth as f64),
            ("rank", self.rank as f64),
            ("bytes", self.bytes as f64),
            ("pending", self.pending as f64),
            ("seconds", self.seconds),
            ("inputs", self.launch.inputs as f64),
            ("code", self.launch.code as f64),
            ("parameters", self.launch.parameters as f64),
            ("registers", self.launch.registers as f64),
            ("lines", self.lines as f64),
        ]
    }

    /// Sets one by its name. The message says which names and values there are.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{name} must be {what}"));
        if value.is_nan() || value < 0.0 {
            return wrong("a number of at least 0");
        }
        let n = value as usize;
        match name {
            "nest" if (1..=4_096).contains(&n) => self.nest = n,
            "nest" => return wrong("1 to 4096"),
            "tokens" => self.tokens = n,
            "depth" if (1..=100_000).contains(&n) => self.depth = n,
            "depth" => return wrong("1 to 100000"),
            "rank" if (1..=15).contains(&n) => self.rank = n,
            "rank" => return wrong("1 to 15"),
            "bytes" => self.bytes = value as u64,
            "pending" if n >= 1 => self.pending = n,
            "pending" => return wrong("at least 1"),
            "seconds" => self.seconds = value,
            "inputs" if (2..=256).contains(&n) => self.launch.inputs = n,
            "inputs" => return wrong("2 to 256"),
            "code" if n >= 4 => self.launch.code = n,
            "code" => return wrong("at least 4"),
            "parameters" if n >= 512 => self.launch.parameters = n,
            "parameters" => return wrong("at least 512, bytes"),
            "registers" if n >= 24 => self.launch.registers = n,
            "registers" => return wrong("at least 24"),
            "lines" => self.lines = n,
            _ => {
                let names: Vec<_> = self.list().iter().map(|(n, _)| *n).collect();
                return Err(format!("no limit is called {name}; there are {}", names.join(" ")));
            }
        }
        Ok(())
    }
}

/// Bytes in use against a bound, shared by all that allocate.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Count>);

struct Count {
    used: AtomicU64,
    /// The most in use at once since somebody asked.
    high: AtomicU64,
    most: AtomicU64,
    stop: Interrupt,
    spare: OnceLock<Box<dyn Spare>>,
    /// Rounds of loops until the next look at the interrupt.
    left: AtomicU32,
}

/// Memory that waits for its next use, at most a quarter of the bound, and goes where what is
/// charged needs the room.
pub trait Spare: Send + Sync {
    /// Bytes that wait.
    fn kept(&self) -> u64;
    /// Gives them all back.
    fn shed(&self);
}

impl std::fmt::Debug for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Count").field("used", &self.used).field("most", &self.most).finish()
    }
}

impl Count {
    /// So many more bytes are about to be taken: what waits beside those in use goes first, where
    /// all together would be too much.
    fn make_room(&self, bytes: u64) {
        let Some(spare) = self.spare.get() else { return };
        let wanted = self.used.load(Ordering::Relaxed).saturating_add(bytes);
        let most = self.most.load(Ordering::Relaxed);
        if wanted > most - most / 4 && wanted.saturating_add(spare.kept()) > most {
            spare.shed();
        }
    }
}

/// Bytes taken from a budget; dropping it gives them back.
#[derive(Debug)]
pub struct Charge {
    count: Arc<Count>,
    bytes: u64,
}

impl Budget {
    /// One that nobody interrupts.
    pub fn new(most: u64) -> Self {
        Budget::stopped_by(most, Interrupt::default())
    }

    /// A budget of so many bytes whose charges hear of an interrupt.
    pub fn stopped_by(most: u64, stop: Interrupt) -> Self {
        Budget(Arc::new(Count {
            used: AtomicU64::new(0),
            high: AtomicU64::new(0),
            most: AtomicU64::new(most),
            stop,
            spare: OnceLock::new(),
            left: AtomicU32::new(EACH),
        }))
    }

    /// Errors: INTERRUPT; WS FULL where a request has outgrown its bound.
    pub fn check(&self) -> Result<()> {
        self.0.stop.check()
    }

    /// Names the memory that waits beside what is charged. The first word stands.
    pub fn has_spare(&self, spare: impl FnOnce() -> Box<dyn Spare>) {
        self.0.spare.get_or_init(spare);
    }

    /// Bytes that the program has taken for other than arrays; 0 where nobody counts.
    pub fn beside(&self) -> u64 {
        match heap::taken() {
            Some(taken) => taken.saturating_sub(self.used()).saturating_sub(self.kept()),
            None => 0,
        }
    }

    /// Bytes that wait for their next use.
    fn kept(&self) -> u64 {
        self.0.spare.get().map_or(0, |spare| spare.kept())
    }

    /// As `Interrupt::rounds`.
    pub fn rounds(&self, of: u64) -> Rounds {
        self.0.stop.rounds(of)
    }

    /// As `Interrupt::bytes`.
    pub fn bytes(&self, of: u64) -> Rounds {
        self.0.stop.bytes(of)
    }

    /// Looks at the interrupt now and then, for loops whose rounds are short.
    pub fn ticks(&self) -> Ticks {
        Ticks { left: self.0.left.load(Ordering::Relaxed).clamp(1, EACH), count: self.0.clone() }
    }

    /// An empty vector with room for `n`. Errors: WS FULL where the budget or the machine has no
    /// such room; INTERRUPT.
    pub fn room<T>(&self, n: usize) -> Result<Vec<T>> {
        let need = (n as u64).saturating_mul(size_of::<T>() as u64);
        self.has_room(need)?;
        let mut out = Vec::new();
        match out.try_reserve_exact(n) {
            Ok(()) => Ok(out),
            Err(_) => Err(ws_full(need, self.free())),
        }
    }

    /// For bytes that are about to be taken and not charged. Errors: as `room`.
    pub fn has_room(&self, bytes: u64) -> Result<()> {
        self.check()?;
        self.0.make_room(bytes);
        self.0.stop.0.allows(bytes)?;
        match bytes <= self.free() {
            true => {
                heap::asked(bytes);
                Ok(())
            }
            false => Err(ws_full(bytes, self.free())),
        }
    }

    /// Room for so much more of a text: where it has too little, as much again as it has, if that
    /// much is free, and never more than is free. Errors: as `room`.
    pub fn grow(&self, text: &mut String, more: usize) -> Result<()> {
        if text.capacity() - text.len() >= more {
            return Ok(());
        }
        let (free, need) = (self.free(), text.len().saturating_add(more));
        let ahead = (need.max(2 * text.capacity()) as u64).min(free) as usize;
        heap::asked(ahead as u64);
        match need as u64 <= free && text.try_reserve_exact(ahead - text.len()).is_ok() {
            true => Ok(()),
            false => Err(ws_full(need as u64, free)),
        }
    }

    /// The same `x` everywhere. Errors: as `room`.
    pub fn filled<T: Clone>(&self, x: T, n: usize) -> Result<Vec<T>> {
        let mut out = self.room(n)?;
        // Memory comes as it is first written, which takes longer than the writing.
        while out.len() < n {
            self.check()?;
            out.resize(n.min(out.len() + BLOCK), x.clone());
        }
        Ok(out)
    }

    /// Room for more items behind those of a vector, as many again as it has where there is room.
    /// Errors: as `room`.
    pub fn widen<T>(&self, out: &mut Vec<T>, more: usize) -> Result<()> {
        if out.capacity() - out.len() >= more {
            return Ok(());
        }
        let size = (size_of::<T>() as u64).max(1);
        let need = out.len().saturating_add(more);
        // What it has is given back when it was moved.
        let most = (self.free() / size) as usize;
        let ahead = need.max(2 * out.capacity()).max(16).min(most.max(need));
        self.has_room((ahead as u64).saturating_mul(size))?;
        let full = |_| ws_full((ahead as u64).saturating_mul(size), self.free());
        out.try_reserve_exact(ahead - out.len()).map_err(full)
    }

    /// All that comes, in its order. Errors: as `room`.
    pub fn each<T>(&self, items: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
        let mut items = items.into_iter();
        let mut out = self.room(items.size_hint().0)?;
        loop {
            if out.len() == out.capacity() {
                let Some(item) = items.next() else { return Ok(out) };
                self.widen(&mut out, 1)?;
                out.push(item);
            }
            let (before, some) = (out.len(), (out.capacity() - out.len()).min(BLOCK));
            out.extend(items.by_ref().take(some));
            if out.len() - before < some {
                return Ok(out);
            }
            self.check()?;
        }
    }

    /// The same of what may fail. Errors: the first of theirs; as `room`.
    pub fn all<T>(&self, items: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
        let items = items.into_iter();
        let (mut out, mut ticks) = (self.room(items.size_hint().0)?, self.ticks());
        for item in items {
            ticks.tick()?;
            self.widen(&mut out, 1)?;
            out.push(item?);
        }
        Ok(out)
    }

    /// Texts one behind the other, with `between` between them. Errors: as `room`.
    pub fn joined<S: AsRef<str>>(&self, texts: &[S], between: &str) -> Result<String> {
        let (mut out, mut ticks) = (String::new(), self.ticks());
        let lengths = texts.iter().map(|text| text.as_ref().len() + between.len());
        self.grow(&mut out, lengths.fold(0, usize::saturating_add))?;
        for (k, text) in texts.iter().enumerate() {
            ticks.tick()?;
            if k > 0 {
                out.push_str(between);
            }
            out.push_str(text.as_ref());
        }
        Ok(out)
    }

    /// Changes the bound, in bytes, from now on.
    pub fn set_most(&self, bytes: u64) {
        self.0.most.store(bytes, Ordering::Relaxed);
    }

    /// The bound lowered, for what a run may take beside what is used now, until the result is
    /// dropped. It is never raised.
    pub fn lowered(&self, room: u64) -> Lowered {
        let most = self.0.most.load(Ordering::Relaxed);
        let low = most.min(self.used().saturating_add(room));
        self.set_most(low);
        let bound = self.0.stop.0.most.load(Ordering::Relaxed);
        if bound != Stop::NONE {
            // What waits for its next use is taken, too, and not by the run.
            self.0.stop.0.most.store(low.saturating_add(self.kept()), Ordering::Relaxed);
        }
        Lowered { budget: self.clone(), most, bound }
    }

    /// Bytes that are charged now.
    pub fn used(&self) -> u64 {
        self.0.used.load(Ordering::Relaxed)
    }

    /// The most bytes that were charged at once since this was asked last.
    pub fn high(&self) -> u64 {
        self.0.high.swap(self.used(), Ordering::Relaxed)
    }

    /// Bytes that may still be charged.
    pub fn free(&self) -> u64 {
        self.0.most.load(Ordering::Relaxed).saturating_sub(self.used())
    }

    /// Errors: WS FULL with both numbers; INTERRUPT. Nothing is taken then.
    pub fn charge(&self, bytes: u64) -> Result<Charge> {
        self.0.stop.check()?;
        self.0.make_room(bytes);
        let most = self.0.most.load(Ordering::Relaxed);
        let took = self.0.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(bytes).filter(|&sum| sum <= most)
        });
        match took {
            Ok(used) => {
                self.0.high.fetch_max(used + bytes, Ordering::Relaxed);
                heap::asked(bytes);
                Ok(Charge { count: self.0.clone(), bytes })
            }
            Err(used) => Err(ws_full(bytes, most.saturating_sub(used))),
        }
    }

    /// The bytes of `n` elements of `size`, charged. A product beyond 2*64 is WS FULL too.
    pub fn charge_elements(&self, n: usize, size: usize) -> Result<Charge> {
        match (n as u64).checked_mul(size as u64) {
            Some(bytes) => self.charge(bytes),
            None => Err(ws_full(u64::MAX, self.free())),
        }
    }
}

/// A bound that is lower for a while; dropping it sets the former one back.
#[must_use]
#[derive(Debug)]
pub struct Lowered {
    budget: Budget,
    most: u64,
    /// The interrupt's own.
    bound: u64,
}

impl Drop for Lowered {
    fn drop(&mut self) {
        self.budget.set_most(self.most);
        self.budget.0.stop.0.most.store(self.bound, Ordering::Relaxed);
    }
}

impl Charge {
    /// The bytes that it holds.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.count.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Items that are taken in between two looks at the interrupt.
const BLOCK: usize = 1 << 16;
/// Rounds between two looks at the interrupt.
const EACH: u32 = 1 << 10;

/// Counts rounds of a loop. A round may take some microseconds: then a look comes every few
/// milliseconds. Loops go on counting where the last one ended, so that a thousand short ones look
/// as often as a long one.
pub struct Ticks {
    count: Arc<Count>,
    left: u32,
}

impl Drop for Ticks {
    fn drop(&mut self) {
        self.count.left.store(self.left, Ordering::Relaxed);
    }
}

impl Ticks {
    /// A round is over. Errors: INTERRUPT.
    #[inline]
    pub fn tick(&mut self) -> Result<()> {
        self.spend(1)
    }

    /// A round is over that took as long as so many. Errors: INTERRUPT.
    #[inline]
    pub fn spend(&mut self, rounds: usize) -> Result<()> {
        if rounds < self.left as usize {
            self.left -= rounds as u32;
            return Ok(());
        }
        self.left = EACH;
        self.count.stop.check()
    }
}

/// The number of rounds of a loop that ends when it ends.
pub const UNKNOWN: u64 = u64::MAX;

/// Set from a signal handler or another thread, looked at by all that may take long, cleared by the
/// session only.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Stop>);

#[derive(Debug)]
struct Stop {
    asked: AtomicBool,
    /// Bytes that the program had taken beside arrays when the request began.
    beside: AtomicU64,
    /// Bytes that arrays may take; `NONE`: nobody looks.
    most: AtomicU64,
    way: Way,
}

/// The way that the outermost loop of a request has gone, counted for whoever looks.
#[derive(Debug, Default)]
struct Way {
    /// Rounds in all; 0: no loop counts.
    of: AtomicU64,
    done: AtomicU64,
    /// Its rounds are bytes.
    bytes: AtomicBool,
}

/// The way of a loop at a moment: the rounds that are over, and those that it has in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone {
    /// The rounds that are over.
    pub done: u64,
    /// All of them; `UNKNOWN` where nobody knows.
    pub of: u64,
    /// Whether they are bytes.
    pub bytes: bool,
}

/// The way of a loop, until it is dropped.
#[derive(Debug)]
pub struct Rounds(Option<Arc<Stop>>);

impl Rounds {
    /// The rounds, or bytes, that are over.
    #[inline]
    pub fn done(&self, n: u64) {
        if let Some(stop) = &self.0 {
            stop.way.done.store(n, Ordering::Relaxed);
        }
    }
}

impl Drop for Rounds {
    fn drop(&mut self) {
        if let Some(stop) = &self.0 {
            stop.way.of.store(0, Ordering::Relaxed);
        }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Stop {
            asked: AtomicBool::new(false),
            beside: AtomicU64::new(0),
            most: AtomicU64::new(Stop::NONE),
            way: Way::default(),
        }
    }
}

impl Stop {
    const NONE: u64 = u64::MAX;
    /// Bytes for plans, tables and texts that no bound on arrays is meant for.
    const LITTLE: u64 = 16 << 20;

    /// Errors: WS FULL, where the program would have grown by more than arrays may take, with so
    /// many bytes more.
    fn allows(&self, more: u64) -> Result<()> {
        let most = self.most.load(Ordering::Relaxed);
        if most == Stop::NONE {
            return Ok(());
        }
        let Some(taken) = heap::taken() else { return Ok(()) };
        let grown = taken.saturating_sub(self.beside.load(Ordering::Relaxed)).saturating_add(more);
        match grown > most.saturating_add(Stop::LITTLE) {
            true => Err(outgrown(grown, most)),
            false => Ok(()),
        }
    }
}

impl Interrupt {
    /// From now on whoever looks hears of a request that takes more memory than `most`, beyond what
    /// was there.
    pub fn bound(&self, beside: u64, most: u64) {
        self.0.beside.store(beside, Ordering::Relaxed);
        self.0.most.store(most, Ordering::Relaxed);
    }

    /// The request is over.
    pub fn unbound(&self) {
        self.0.most.store(Stop::NONE, Ordering::Relaxed);
    }

    /// A loop of so many rounds begins; `UNKNOWN` where nobody knows. One inside another does not
    /// count.
    pub fn rounds(&self, of: u64) -> Rounds {
        self.begins(of, false)
    }

    /// As `rounds`, of a loop whose rounds are bytes.
    pub fn bytes(&self, of: u64) -> Rounds {
        self.begins(of, true)
    }

    fn begins(&self, of: u64, bytes: bool) -> Rounds {
        let way = &self.0.way;
        let free = way.of.compare_exchange(0, of, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if free {
            way.done.store(0, Ordering::Relaxed);
            way.bytes.store(bytes, Ordering::Relaxed);
        }
        Rounds((free && of > 0).then(|| self.0.clone()))
    }

    /// The way of the outermost loop.
    pub fn way(&self) -> Option<Gone> {
        let way = &self.0.way;
        let of = way.of.load(Ordering::Relaxed);
        let done = way.done.load(Ordering::Relaxed);
        (of > 0).then(|| Gone { done, of, bytes: way.bytes.load(Ordering::Relaxed) })
    }

    /// Asks all who look at it to stop.
    pub fn set(&self) {
        self.0.asked.store(true, Ordering::Relaxed);
    }

    /// Takes the request back.
    pub fn clear(&self) {
        self.0.asked.store(false, Ordering::Relaxed);
    }

    /// Whether somebody asked to stop.
    pub fn is_set(&self) -> bool {
        self.0.asked.load(Ordering::Relaxed)
    }

    /// Errors: INTERRUPT, where somebody asked to stop; WS FULL, where a request has outgrown its
    /// bound.
    pub fn check(&self) -> Result<()> {
        if self.is_set() {
            return Err(interrupt());
        }
        self.0.allows(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn a_charge_is_given_back_when_dropped() {
        let budget = Budget::new(100);
        let held = budget.charge(60).unwrap();
        assert_eq!(budget.charge(41).unwrap_err().kind(), Kind::WsFull);
        assert_eq!(budget.used(), 60);
        drop(held);
        assert!(budget.charge(100).is_ok());
    }

    #[test]
    fn a_text_never_has_room_for_more_than_is_free() {
        let (budget, mut text) = (Budget::new(1_000), String::new());
        let mut grown = 0;
        while text.len() < 1_000 {
            if text.len() == text.capacity() {
                budget.grow(&mut text, 1).unwrap();
                grown += 1;
                assert!(text.capacity() <= 1_000, "{}", text.capacity());
            }
            text.push('a');
        }
        assert!(grown < 20, "{grown}");
        text.truncate(900);
        let room = text.capacity();
        (0..100).for_each(|_| budget.grow(&mut text, 5).unwrap());
        assert_eq!(text.capacity(), room, "nobody asked for more than there was");
        text.push_str(&"a".repeat(100));
        assert_eq!(budget.grow(&mut text, 1).unwrap_err().kind(), Kind::WsFull);
    }

    /// Memory that waits for its next use.
    struct Waits(u64);

    impl Spare for Waits {
        fn kept(&self) -> u64 {
            self.0
        }

        fn shed(&self) {}
    }

    #[test]
    fn what_waits_is_not_what_a_run_takes() {
        const KEPT: u64 = 400 << 20;
        heap::count_by(|| 0);
        heap::mapped(KEPT as usize);
        let stop = Interrupt::default();
        let budget = Budget::stopped_by(4 << 30, stop.clone());
        budget.has_spare(|| Box::new(Waits(KEPT)));
        stop.bound(budget.beside(), 4 << 30);
        let lowered = budget.lowered(1 << 20);
        assert!(budget.check().is_ok() && budget.room::<u8>(1 << 10).is_ok());
        assert_eq!(budget.room::<u8>(2 << 20).unwrap_err().kind(), Kind::WsFull);
        drop(lowered);
        heap::unmapped(KEPT as usize);
    }

    #[test]
    fn who_asks_for_memory_hears_of_the_interrupt() {
        let stop = Interrupt::default();
        let budget = Budget::stopped_by(1 << 20, stop.clone());
        assert_eq!(budget.filled(1u8, 3).unwrap(), [1, 1, 1]);
        assert_eq!(budget.room::<u64>(1 << 18).unwrap_err().kind(), Kind::WsFull);
        assert_eq!(Budget::new(u64::MAX).room::<u64>(1 << 60).unwrap_err().kind(), Kind::WsFull);
        stop.set();
        let mut ticks = budget.ticks();
        let rounds = (0..5_000).take_while(|_| ticks.tick().is_ok()).count();
        assert!(
            rounds < 5_000
                && budget.charge(1).is_err()
                && budget.room::<u8>(1).is_err()
                && budget.check().is_err()
        );
    }

    #[test]
    fn the_outermost_loop_tells_its_way() {
        let stop = Interrupt::default();
        assert_eq!(stop.way(), None);
        let outer = stop.rounds(3);
        outer.done(1);
        {
            let inner = stop.rounds(1_000);
            inner.done(999);
            assert_eq!(stop.way(), Some(Gone { done: 1, of: 3, bytes: false }));
        }
        assert_eq!(stop.way(), Some(Gone { done: 1, of: 3, bytes: false }));
        drop(outer);
        let file = Budget::stopped_by(1, stop.clone()).bytes(9);
        file.done(4);
        assert_eq!(stop.way(), Some(Gone { done: 4, of: 9, bytes: true }));
        drop(file);
        assert_eq!(stop.way(), None);
        assert!(stop.rounds(0).0.is_none() && stop.way().is_none());
    }

    #[test]
    fn a_product_that_overflows_is_ws_full() {
        let budget = Budget::new(u64::MAX);
        assert_eq!(budget.charge_elements(usize::MAX, 8).unwrap_err().kind(), Kind::WsFull);
    }
}

//! The tape of what was written and not computed: cells in their order, checks among them, runs of
//! frames whose values are pending.

use super::keep::Written;
use super::operators::frames::Run;
use aplomb_values::array::Array;
use aplomb_values::dag::{Cell, Meta, Node};
use std::collections::HashSet;
use std::rc::{Rc, Weak};

/// The tape of a session. Cells are numbered as they are written, so a mark is a number, and what
/// was written since can be told from what was there.
#[derive(Clone, Default)]
pub struct Tape {
    /// The latest cell's number. It only grows.
    written: u64,
    /// Cells that can fail on some value and that nobody has computed yet, in the order in which
    /// they were written. They outlive their statement: what fails is told before anything that
    /// happens later is seen.
    checks: Vec<Rc<Cell>>,
    /// Cells that may overflow, written while an error guard was active: it is asked before it ends
    /// (E4).
    open: Option<Vec<Weak<Cell>>>,
    /// Scalars that were recorded, some of which are pending still: many are computed at once.
    scalars: Vec<Weak<Cell>>,
    /// Pending arrays, by their cells' numbers, of which small parts were read, and how many parts.
    parted: Vec<(u64, usize)>,
    /// Framed runs whose values are pending.
    runs: Vec<Run>,
    /// Those of them that a failed evaluation held.
    suspects: Vec<Run>,
    /// The places where values of this statement are written that evaluations ask for again.
    again: HashSet<Written>,
}

/// A place on the tape: behind all that was written before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u64);

impl Mark {
    /// Whether a cell was written behind it.
    pub fn is_before(self, cell: &Cell) -> bool {
        cell.seq() > self.0
    }

    /// The number of the last cell that was written before it.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Pending framed runs are looked through once there are so many.
const RUNS: usize = 16;

impl Tape {
    /// Writes a cell.
    pub fn cell(&mut self, node: Node<Array>, meta: Meta) -> Rc<Cell> {
        self.written += 1;
        Cell::new(node, meta, self.written)
    }

    /// The place behind all that is written.
    pub fn mark(&self) -> Mark {
        Mark(self.written)
    }

    /// Goes on behind the mark: cells that were written meanwhile, on a tape that is gone, keep
    /// their numbers.
    pub fn number_from(&mut self, mark: Mark) {
        self.written = mark.0;
    }

    /// Drops what was written behind the mark: it is no part of the statement, and what failed in
    /// it does not say where the statement fails.
    pub fn roll_back(&mut self, to: Mark) {
        self.checks.retain(|c| !to.is_before(c));
        self.suspects.retain(|r| !r.began_behind(to));
    }

    /// Drops what was written between two marks: it is no part of the statement.
    pub fn cut(&mut self, from: Mark, to: Mark) {
        self.checks.retain(|c| !from.is_before(c) || to.is_before(c));
    }

    /// Notes a cell that may fail and that nobody has computed.
    pub fn check(&mut self, cell: Rc<Cell>) {
        self.checks.push(cell);
    }

    /// An error guard is active from here on, or none is.
    pub fn guard(&mut self, guarded: bool) {
        match (guarded, &self.open) {
            (true, None) => self.open = Some(Vec::new()),
            (false, Some(_)) => self.open = None,
            _ => {}
        }
    }

    /// Whether an error guard is active.
    pub fn is_guarded(&self) -> bool {
        self.open.is_some()
    }

    /// Notes a cell that may overflow, where an error guard is active.
    pub fn leave_open(&mut self, cell: &Rc<Cell>) {
        if let Some(open) = &mut self.open {
            open.push(Rc::downgrade(cell));
        }
    }

    /// The cells that were left open, that somebody holds and that have no value, without those
    /// that are computed with others of them. They are open no more.
    pub fn take_open(&mut self) -> Vec<Rc<Cell>> {
        let Some(open) = &mut self.open else { return Vec::new() };
        let mut cells: Vec<Rc<Cell>> = open.drain(..).filter_map(|c| c.upgrade()).collect();
        cells.retain(|c| c.forced().is_none());
        let mut read: HashSet<*const Cell> = HashSet::new();
        for node in cells.iter().filter_map(|c| c.node()) {
            read.extend(node.inputs().iter().filter_map(Array::pending).map(Rc::as_ptr));
        }
        cells.retain(|c| !read.contains(&Rc::as_ptr(c)));
        cells
    }

    /// The cells that can fail and that nobody has computed.
    pub fn checks(&self) -> &[Rc<Cell>] {
        &self.checks
    }

    /// The checks that were written behind a mark.
    pub fn checks_since(&self, mark: Mark) -> Vec<Rc<Cell>> {
        self.checks.iter().filter(|c| mark.is_before(c)).cloned().collect()
    }

    /// All checks, which are none any more.
    pub fn take_checks(&mut self) -> Vec<Rc<Cell>> {
        std::mem::take(&mut self.checks)
    }

    /// The checks behind a mark, which are none any more.
    pub fn take_checks_since(&mut self, mark: Mark) -> Vec<Rc<Cell>> {
        let (later, before) = self.take_checks().into_iter().partition(|c| mark.is_before(c));
        self.checks = before;
        later
    }

    /// These again instead of those that are there.
    pub fn set_checks(&mut self, checks: Vec<Rc<Cell>>) {
        self.checks = checks;
    }

    /// Takes these checks away.
    pub fn drop_checks(&mut self, gone: &HashSet<*const Cell>) {
        self.checks.retain(|c| !gone.contains(&Rc::as_ptr(c)));
    }

    /// Checks that somebody has computed are none any more.
    pub fn forget_computed(&mut self) {
        self.checks.retain(|c| c.forced().is_none());
    }

    /// Counts a new pending scalar; how many there are at most.
    pub fn pile(&mut self, cell: &Rc<Cell>) -> usize {
        self.scalars.push(Rc::downgrade(cell));
        self.scalars.len()
    }

    /// The scalars that are still pending, counted no more.
    pub fn take_piled(&mut self) -> Vec<Rc<Cell>> {
        let all = std::mem::take(&mut self.scalars);
        all.iter().filter_map(Weak::upgrade).filter(|c| c.forced().is_none()).collect()
    }

    /// Counts a small part that is read of a pending array; how many there are.
    pub fn part_of(&mut self, whole: &Cell) -> usize {
        /// Arrays that are counted at a time.
        const KNOWN: usize = 8;
        match self.parted.iter_mut().find(|(seq, _)| *seq == whole.seq()) {
            Some((_, parts)) => {
                *parts += 1;
                *parts
            }
            None => {
                if self.parted.len() == KNOWN {
                    self.parted.remove(0);
                }
                self.parted.push((whole.seq(), 1));
                1
            }
        }
    }

    /// The framed runs whose results are pending.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Notes a framed run.
    pub fn run(&mut self, run: Run) {
        if self.runs.len() >= RUNS {
            self.runs.retain(Run::alive);
        }
        self.runs.push(run);
    }

    /// Runs that hold what failed.
    pub fn suspect(&mut self, suspect: impl Fn(&Run) -> bool) {
        self.suspects = self.runs.iter().filter(|r| suspect(r)).cloned().collect();
    }

    /// The runs that hold what failed; they are told once.
    pub fn take_suspects(&mut self) -> Vec<Run> {
        std::mem::take(&mut self.suspects)
    }

    /// Makes these the runs that hold what failed.
    pub fn set_suspects(&mut self, runs: Vec<Run>) {
        self.suspects = runs;
    }

    /// Places in the text whose values an evaluation needed once already.
    pub fn again(&mut self) -> &mut HashSet<Written> {
        &mut self.again
    }

    /// A statement begins, or has ended.
    pub fn reset(&mut self) {
        self.again.clear();
        self.parted.clear();
        self.suspects.clear();
        self.runs.retain(Run::alive);
    }
}

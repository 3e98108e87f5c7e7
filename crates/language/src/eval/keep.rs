//! The choice of pending values that an evaluation stores beside what it was asked for.
//!
//! An evaluation computes its roots, fused, and what stands below them stays pending: so whoever
//! asks once pays for no store. Who asks again would pay for the whole computation. Therefore a
//! value that an earlier evaluation computed on its way and that has a new reader now is stored
//! with the new roots, if somebody still holds it and computing it costs more than reading it; if
//! nobody does, what was made of it meanwhile and is held. Of `5↑x` only five items are computed:
//! that does not count. In a loop it is another value each time, written at the same place of the
//! text: the second one is stored at once. Switch `keep`.

use super::cx::{Cx, Sys};
use aplomb_values::array::{Array, DType, elements};
use aplomb_values::body::{Effort, LAUNCH_NS, PART, READ_NS, WRITE_NS};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Cell, Role};
use aplomb_values::prim::op::Fails;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Nanoseconds to write and read a number of 64 bits again, twice as many as that takes: what is as
/// cheap is computed again.
const STORE_NS: f64 = 2.0 * (WRITE_NS + READ_NS);
/// Looking up a place among those that go round, about: four million characters 1.1 ms on two
/// threads, 0.1 where they are stored.
const AROUND: Effort = Effort { ns: 0.5, flops: 0 };
/// The least time of a value that is worth a buffer: a launch takes as long.
const LEAST_NS: f64 = LAUNCH_NS;
/// A value may take this part of the memory that is free.
const SHARE: u64 = 4;
/// Cells looked at for the values of one evaluation; beyond them nothing is kept.
const LOOKS: usize = 1 << 18;

/// The place where a value is written: the same for each turn of a loop.
pub type Written = (usize, u32, u32);

fn written(cell: &Cell) -> Option<Written> {
    let place = cell.meta().place.as_ref()?;
    Some((std::sync::Arc::as_ptr(&place.source) as usize, place.span.start, place.span.end))
}

/// A pending value to be stored, and what computing it again would take, ns.
pub struct Kept {
    pub cell: Rc<Cell>,
    pub ns: f64,
}

/// The part of a number of 64 bits that an element of a type is, in memory.
fn part(dtype: DType) -> f64 {
    dtype.size() as f64 / DType::F64.size() as f64
}

/// The time, ns, of one element-wise step over the cell's own domain, operands that are stored
/// read.
fn own_ns(cell: &Cell) -> f64 {
    let Some(node) = cell.node() else { return 0.0 };
    let points = |a: &Array| elements(a.shape()) as f64;
    let stored = node.inputs().iter().filter(|a| a.pending().is_none() && a.rank() > 0);
    let reads: f64 = stored.map(|a| READ_NS * part(a.dtype())).sum();
    let n = elements(cell.shape()) as f64;
    let own = match node.role() {
        Role::Given | Role::Index => return 0.0,
        // A read through it is free; where it is stored, each place is looked at once. Places that
        // go round, as those of `n⍴text`, are looked up each time.
        Role::Move => match node.facts().place() {
            Some((read, _)) if !read.ix.iter().all(Ix::is_affine) => AROUND,
            _ => PART,
        },
        _ => node.cost(),
    };
    let domain = node.consumes().map_or(n, |(src, _)| points(src));
    domain * (own.ns + reads)
}

/// The cells below one, itself included, and what all of them take together.
fn ns(root: &Rc<Cell>, looks: &mut usize) -> f64 {
    let (mut seen, mut stack, mut sum) = (HashSet::new(), vec![root.clone()], 0.0);
    while let Some(cell) = stack.pop() {
        if !seen.insert(Rc::as_ptr(&cell)) {
            continue;
        }
        *looks += 1;
        sum += own_ns(&cell);
        let node = cell.node();
        stack.extend(node.iter().flat_map(|n| n.inputs()).filter_map(|a| a.pending().cloned()));
    }
    sum
}

/// The number of elements of each cell that its readers need, at most; a cell's readers come after
/// it.
fn demands(roots: &[Rc<Cell>], cells: &[Rc<Cell>]) -> HashMap<*const Cell, f64> {
    let size = |c: &Cell| elements(c.shape()) as f64;
    let mut all: HashMap<*const Cell, f64> =
        roots.iter().map(|c| (Rc::as_ptr(c), size(c))).collect();
    for cell in cells.iter().rev() {
        // One that has its value needs nothing below.
        let Some(node) = cell.node() else { continue };
        let mut wanted = all.get(&Rc::as_ptr(cell)).copied().unwrap_or(0.0);
        // What can fail is computed whole (E1).
        if cell.fails() == Fails::Hard {
            wanted = size(cell);
            all.insert(Rc::as_ptr(cell), wanted);
        }
        for below in node.inputs().iter().filter_map(Array::pending) {
            let needs = node.facts().demand(wanted, size(cell), size(below));
            let most = all.entry(Rc::as_ptr(below)).or_default();
            *most = most.max(needs);
        }
    }
    all
}

/// The cells that an evaluation needs most of.
pub(super) struct Needed(HashSet<*const Cell>);

impl Needed {
    pub fn of(roots: &[Rc<Cell>], cells: &[Rc<Cell>]) -> Needed {
        let demands = demands(roots, cells);
        let most = |c: &&Rc<Cell>| {
            demands.get(&Rc::as_ptr(c)).is_some_and(|n| *n * 2.0 >= elements(c.shape()) as f64)
        };
        Needed(cells.iter().filter(most).map(Rc::as_ptr).collect())
    }

    /// They were computed; those that are pending still have to be computed again by whoever asks.
    pub fn note(&self, cells: &[Rc<Cell>]) {
        cells.iter().filter(|c| self.0.contains(&Rc::as_ptr(c))).for_each(|c| c.compute());
    }
}

impl Cx<'_> {
    /// Of the cells that an evaluation needs, beside its roots.
    pub(super) fn worth_keeping(
        &mut self,
        roots: &[Rc<Cell>],
        cells: &[Rc<Cell>],
        needed: &Needed,
    ) -> Vec<Kept> {
        if !self.host.is_on("keep")
            || self.sys.tape.again().is_empty() && !cells.iter().any(|c| c.was_computed())
        {
            return Vec::new();
        }
        let news = again(cells);
        let places =
            cells.iter().filter(|c| news.contains(&Rc::as_ptr(c))).filter_map(|c| written(c));
        self.sys.tape.again().extend(places);
        let asked: HashSet<_> = roots.iter().map(Rc::as_ptr).collect();
        let held = held(cells, self.sys);
        let (mut looks, free) = (0, self.budget().free());
        // What takes computing something once more, by a way on which nothing is stored.
        let mut repeats: HashSet<*const Cell> = HashSet::new();
        let mut kept = Vec::new();
        for cell in cells {
            let at = Rc::as_ptr(cell);
            let node = cell.node();
            let mut below =
                node.iter().flat_map(|n| n.inputs()).filter_map(Array::pending).map(Rc::as_ptr);
            let repeated = news.contains(&at) || below.any(|c| repeats.contains(&c));
            let again =
                repeated || written(cell).is_some_and(|w| self.sys.tape.again().contains(&w));
            if asked.contains(&at) || !again {
                continue;
            }
            let n = elements(cell.shape());
            let fits = looks <= LOOKS && (n as u64).saturating_mul(8) <= free / SHARE;
            if fits && held.contains(&at) && needed.0.contains(&at) {
                let ns = ns(cell, &mut looks);
                let store = n as f64 * STORE_NS * part(cell.dtype());
                if self.sys.recorder.keep_all || ns > LEAST_NS.max(store) {
                    kept.push(Kept { cell: cell.clone(), ns });
                    continue;
                }
            }
            if repeated {
                repeats.insert(at);
            }
        }
        kept
    }
}

/// The cells that an earlier evaluation computed, and something newer reads.
fn again(cells: &[Rc<Cell>]) -> HashSet<*const Cell> {
    let mut all = HashSet::new();
    for cell in cells.iter().filter(|c| !c.was_computed()) {
        let node = cell.node();
        let below = node.iter().flat_map(|n| n.inputs()).filter_map(Array::pending);
        all.extend(below.filter(|c| c.was_computed()).map(Rc::as_ptr));
    }
    all
}

/// The cells that somebody holds beside those who read them; `cells` holds each once.
pub(super) fn held(cells: &[Rc<Cell>], sys: &Sys) -> HashSet<*const Cell> {
    let mut readers: HashMap<*const Cell, usize> = HashMap::new();
    for cell in cells {
        let node = cell.node();
        let inside = node.iter().flat_map(|n| n.inputs()).filter_map(Array::pending);
        inside.for_each(|c| *readers.entry(Rc::as_ptr(c)).or_default() += 1);
    }
    sys.tape.checks().iter().for_each(|c| *readers.entry(Rc::as_ptr(c)).or_default() += 1);
    let count =
        |c: &Rc<Cell>| Rc::strong_count(c) > 1 + readers.get(&Rc::as_ptr(c)).copied().unwrap_or(0);
    cells.iter().filter(|c| count(c)).map(Rc::as_ptr).collect()
}

//! Forcing: the pending cells that roots reach become one recorded graph, which the host compiles
//! and runs.
//!
//! No recursion; inputs are one per storage; sites follow the order of evaluation.

use super::cx::Cx;
use super::host::Host;
use super::keep::{Needed, held};
use super::operators::frames::Run;
use super::replay::takes_complex;
use super::scope::is_final;
use super::tape::Mark;
use super::work::why;
use aplomb_ground::error::{Kind, OnHost, Result, bug, untraced};
use aplomb_ground::limits::{Budget, Interrupt};
use aplomb_ground::span::Place;
use aplomb_values::array::{Array, DType, Data, narrowest};
use aplomb_values::dag::Recorded;
use aplomb_values::dag::{Cell, Dag, Info, Meta, Node, NodeId, kinds};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// The hint where a value that does not show was computed.
pub(super) const UNREAD: &str = "nothing uses this value, but it was computed";

/// The cells that one evaluation is for, and the need for them.
struct Asked {
    roots: Vec<Rc<Cell>>,
    /// The last so many are nobody's: they were written before, and may fail.
    checked: usize,
    why: &'static str,
}

/// The need for what was written and nobody reads: it may fail.
pub(super) const CHECK: &str = "check";

/// Bytes of a cell in the graph that is recorded of it, about, and cells of which that is asked.
const RECORDED: usize = 1 << 10;
const MANY: usize = 1 << 10;

impl Cx<'_> {
    /// The array with everything pending in it computed.
    pub fn ready(&mut self, a: &Array, why: &'static str) -> Result<Array> {
        match a.data() {
            Data::Num(_, _) | Data::Complex(_) | Data::Char(_) | Data::Ref(_) | Data::Dense(_) => {
                Ok(a.clone())
            }
            Data::Lazy(cell) => {
                if cell.forced().is_none() {
                    self.force(&[a], why)?;
                }
                Ok(a.settled())
            }
            Data::Framed(_) => Err(untraced(format!("values of its cells are needed: {why}"))),
            Data::Items(items) if !items.lazy => Ok(a.clone()),
            Data::Items(_) => {
                self.force(&[a], why)?;
                settled_deep(a, self.budget())
            }
        }
    }

    /// One evaluation for all pending cells in these arrays.
    pub fn force(&mut self, arrays: &[&Array], why: &'static str) -> Result<()> {
        let mut roots: Vec<Rc<Cell>> = Vec::new();
        for a in arrays {
            pending_in(a, &mut roots);
        }
        self.force_cells(roots, why)
    }

    /// A value that is about to be seen, computed.
    pub fn ready_to_show(&mut self, a: &Array) -> Result<Array> {
        self.settle(&[a], "display")?;
        self.ready(a, "display")
    }

    /// The door to every effect: computes these arrays, and with them, in one evaluation, all that
    /// was written before and may fail. So no effect is seen after a failure that came before it,
    /// however much was recorded.
    pub fn settle(&mut self, arrays: &[&Array], why: &'static str) -> Result<()> {
        self.close()?;
        let mut roots: Vec<Rc<Cell>> = Vec::new();
        for a in arrays {
            pending_in(a, &mut roots);
        }
        if self.sys.tape.checks().is_empty() {
            return self.force_cells(roots, why);
        }
        // Of what is told of a value that nobody uses.
        let unread = |c: &&Rc<Cell>| Rc::strong_count(c) == 1;
        let unread: Vec<_> =
            self.sys.tape.checks().iter().filter(unread).map(|c| c.meta().place.clone()).collect();
        // What these reach is computed with them, and what the latest reach with those.
        let mut seen = HashSet::new();
        roots.iter().for_each(|c| reach(c, &mut seen));
        let wanted = roots.clone();
        for cell in self.sys.tape.checks().iter().rev().filter(|c| c.forced().is_none()) {
            if !seen.contains(&Rc::as_ptr(cell)) {
                reach(cell, &mut seen);
                roots.push(cell.clone());
            }
        }
        let checked = roots.len() - wanted.len();
        match self.force_asked(Asked { roots, checked, why }) {
            // Too much to hold at once.
            Err(e) if e.kind() == Kind::WsFull && !self.sys.tape.checks().is_empty() => {
                self.check_one_by_one()?;
                self.force_cells(wanted, why)
            }
            Err(e) if matches!(e.kind(), Kind::Interrupt | Kind::WsFull | Kind::Limit) => Err(e),
            // It is the first of all, and told once.
            Err(e) => {
                self.sys.tape.take_checks();
                Err(match unread.contains(&e.parts().place) {
                    true => e.hint(UNREAD),
                    false => e,
                })
            }
            Ok(()) => Ok(()),
        }
    }

    /// Whether anything that may fail does. No value is kept: names stay pending.
    fn check_one_by_one(&mut self) -> Result<()> {
        let place = self.place();
        for cell in self.sys.tape.take_checks().into_iter().filter(|c| c.forced().is_none()) {
            let cells = reached(std::slice::from_ref(&cell));
            if cells.iter().any(|c| c.is_hole() || takes_complex(c)) {
                continue;
            }
            let asked = Asked { roots: vec![cell], checked: 1, why: CHECK };
            match self.host.force(record(&asked, &cells, place.clone(), self.host.interrupt())?) {
                // Whoever needs one that does not fit alone is told so.
                Err(e) if e.kind() != Kind::WsFull && e.on_host().is_none() => return Err(e),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Leaves it to somebody else to compute what this value reaches, who sees nothing of what else
    /// was written behind the mark: that is computed now. Errors: a failure in it, at which the
    /// value's own checks stand yet, so that an earlier one in them can be found (`earliest`).
    pub fn hand_over(&mut self, a: &Array, from: Mark) -> Result<()> {
        let (mut roots, mut seen) = (Vec::new(), HashSet::new());
        pending_in(a, &mut roots);
        roots.iter().for_each(|c| reach(c, &mut seen));
        let mut others = self.sys.tape.checks_since(from);
        others.retain(|c| !seen.contains(&Rc::as_ptr(c)));
        self.force_cells(others, CHECK)?;
        self.sys.tape.drop_checks(&seen);
        Ok(())
    }

    /// Computes what was written under an error guard, may overflow and is held: the guard ends, or
    /// an effect is seen. Whether an array is large is nothing to a guard.
    pub fn close(&mut self) -> Result<()> {
        let cells = self.sys.tape.take_open();
        if cells.is_empty() { Ok(()) } else { self.force_cells(cells, "guard") }
    }

    /// The host, for what has effects or sees those of others: files, waiting, output of whole
    /// pages; `what` names it.
    pub fn world(&mut self, what: &'static str) -> Result<&mut dyn Host> {
        self.effect(what);
        self.settle(&[], "effect")?;
        self.sys.used = Some(what);
        Ok(&mut *self.host)
    }

    /// The same of one array, and of whatever else of it somebody holds: values that were recorded
    /// together, as the states of rounds, are computed together and not once each.
    pub fn force_held(&mut self, a: &Array, why: &'static str) -> Result<()> {
        let mut roots: Vec<Rc<Cell>> = Vec::new();
        pending_in(a, &mut roots);
        let cells = reached(&roots);
        let held = held(&cells, self.sys);
        roots.extend(cells.iter().filter(|c| held.contains(&Rc::as_ptr(c))).cloned());
        self.force_cells(roots, why)
    }

    /// One evaluation for these cells, those that have a value left out. Errors: the first failure
    /// in the order of the text, with the place where the value was needed.
    pub fn force_cells(&mut self, roots: Vec<Rc<Cell>>, why: &'static str) -> Result<()> {
        let checked = if why == CHECK { roots.len() } else { 0 };
        self.force_asked(Asked { roots, checked, why })
    }

    fn force_asked(&mut self, mut asked: Asked) -> Result<()> {
        let mut seen = HashSet::new();
        let mut new = |c: &Rc<Cell>| c.forced().is_none() && seen.insert(Rc::as_ptr(c));
        let mut checked = asked.roots.split_off(asked.roots.len() - asked.checked);
        asked.roots.retain(&mut new);
        checked.retain(&mut new);
        asked.checked = checked.len();
        asked.roots.append(&mut checked);
        let roots = &asked.roots;
        if roots.is_empty() {
            return Ok(());
        }
        if self.sys.scope.in_round() {
            return Err(untraced("a round looks at values"));
        }
        let place = self.place();
        let cells = reached(roots);
        // Pointers of checks, which hold their cells: a replay lets the others go.
        let hard: HashSet<_> = self.sys.tape.checks().iter().map(Rc::as_ptr).collect();
        let checks: HashSet<_> =
            cells.iter().map(Rc::as_ptr).filter(|c| hard.contains(c)).collect();
        let places: Vec<_> = match self.sys.tape.runs().is_empty() {
            true => Vec::new(),
            false => cells.iter().map(|c| (c.meta().place.clone(), c.seq())).collect(),
        };
        // The graph that is made of them, and what passes make of that.
        let many = (cells.len() > MANY).then_some(cells.len());
        let _graph = many.map(|n| self.budget().charge_elements(n, RECORDED)).transpose()?;
        self.host.interrupt().check()?;
        let needed = Needed::of(roots, &cells);
        self.host.interrupt().check()?;
        let done = match self.done_by_host(&cells) {
            Ok(false) => self.planned(&asked, &cells, &needed),
            done => done.map(drop),
        };
        done.map_err(|e| {
            let failed = |at: &Option<Place>| e.has_place() && *at == e.parts().place;
            let suspect = |r: &Run| places.iter().any(|(at, seq)| failed(at) && r.recorded(*seq));
            self.sys.tape.suspect(suspect);
            match &place {
                Some(at) if e.has_place() => e.needed(at),
                Some(at) => e.at(at),
                None => e,
            }
        })?;
        needed.note(&cells);
        // What this evaluation ran needs no check of its own any more.
        if !checks.is_empty() {
            self.sys.tape.drop_checks(&checks);
        }
        Ok(())
    }

    /// By a plan; whether one had to be made is noted of the place.
    fn planned(&mut self, asked: &Asked, cells: &[Rc<Cell>], needed: &Needed) -> Result<()> {
        let known = self.host.plans_made();
        if !self.evaluate_more(asked, cells, needed)? {
            self.evaluate(asked, cells)?;
        }
        if let Some(at) = self.place() {
            let is_new = self.host.plans_made() > known;
            self.sys.restless.note(&at, cells.len(), is_new);
        }
        Ok(())
    }

    /// The roots and what is worth keeping of what they reach. False: there is no such thing, or
    /// not all of it has a value that can be stored, and nothing happened. Errors: an interrupt
    /// or a bug, which another try would hide.
    fn evaluate_more(
        &mut self,
        asked: &Asked,
        cells: &[Rc<Cell>],
        needed: &Needed,
    ) -> Result<bool> {
        let kept = self.worth_keeping(&asked.roots, cells, needed);
        if kept.is_empty() || cells.iter().any(|c| c.is_hole() || takes_complex(c)) {
            return Ok(false);
        }
        let roots = asked.roots.iter().chain(kept.iter().map(|k| &k.cell)).cloned().collect();
        let all = Asked { roots, ..*asked };
        let place = self.place();
        let ns = kept.iter().map(|k| k.ns).collect();
        let recorded = record(&all, cells, place, self.host.interrupt())
            .map(|recorded| Recorded { kept_ns: ns, ..recorded });
        let values = recorded.and_then(|recorded| self.host.force(recorded));
        match values {
            Ok(values) => {
                all.roots.iter().zip(values).for_each(|(cell, value)| cell.settle(value));
                Ok(true)
            }
            Err(e) if is_final(&e) => Err(e),
            Err(_) => Ok(false),
        }
    }

    /// On the device, unless complex numbers come in or come out, or a loop does not end there.
    fn evaluate(&mut self, asked: &Asked, cells: &[Rc<Cell>]) -> Result<()> {
        if cells.iter().any(|c| c.is_hole()) {
            return Err(untraced("a value that a body will only have when it runs"));
        }
        if cells.iter().any(|c| takes_complex(c)) {
            return self.replay(cells, why::COMPLEX);
        }
        let place = self.place();
        match self.host.force(record(asked, cells, place, self.host.interrupt())?) {
            Ok(values) => {
                asked.roots.iter().zip(values).for_each(|(cell, value)| cell.settle(value))
            }
            Err(e) => match e.on_host() {
                Some(OnHost::Complex) => self.replay(cells, why::COMPLEX)?,
                Some(OnHost::Unending) => self.replay(cells, why::UNENDING)?,
                None => return Err(e),
            },
        }
        Ok(())
    }
}

/// Every pending cell that stands directly in a value, its nested items included.
fn pending_in(a: &Array, out: &mut Vec<Rc<Cell>>) {
    match a.data() {
        Data::Lazy(cell) if cell.forced().is_none() => out.push(cell.clone()),
        Data::Items(items) if items.lazy => match items.split() {
            Some(rows) => pending_in(&rows.node, out),
            None => items.iter().for_each(|i| pending_in(&i, out)),
        },
        _ => {}
    }
}

/// Items that turn out to be simple scalars are stored as such.
fn settled_deep(a: &Array, budget: &Budget) -> Result<Array> {
    let Data::Items(items) = a.data() else { return Ok(a.settled()) };
    if !items.lazy {
        return Ok(a.clone());
    }
    if let Some(rows) = items.split() {
        return Ok(Array::rows(rows.node.settled(), rows.at));
    }
    let made = items.iter().map(|i| settled_deep(&i, budget)).collect::<Result<Vec<_>>>()?;
    Array::collect(a.shape(), made, items.proto.clone(), budget)
}

/// Adds the pending cells that one reaches.
fn reach(root: &Rc<Cell>, seen: &mut HashSet<*const Cell>) {
    let mut stack = vec![root.clone()];
    while let Some(cell) = stack.pop() {
        if seen.insert(Rc::as_ptr(&cell))
            && let Some(node) = cell.node()
        {
            stack.extend(node.inputs().iter().filter_map(|a| a.pending().cloned()));
        }
    }
}

/// The pending cells that roots reach, in the order of evaluation.
pub(super) fn reached(roots: &[Rc<Cell>]) -> Vec<Rc<Cell>> {
    let mut seen: HashSet<*const Cell> = HashSet::new();
    let mut order: Vec<Rc<Cell>> = Vec::new();
    let mut stack: Vec<Rc<Cell>> = roots.to_vec();
    while let Some(cell) = stack.pop() {
        if !seen.insert(Rc::as_ptr(&cell)) {
            continue;
        }
        if let Some(node) = cell.node() {
            stack.extend(node.inputs().iter().filter_map(|a| a.pending().cloned()));
        }
        order.push(cell);
    }
    // Rows taken out of a pending node have its number; they stay in the order in which they were
    // met, so that the same program has the same graph in every run.
    order.sort_by_key(|c| (c.seq(), c.weight()));
    order
}

fn record(
    asked: &Asked,
    order: &[Rc<Cell>],
    needed: Option<Place>,
    stop: &Interrupt,
) -> Result<Recorded> {
    let mut made = Maker {
        dag: Dag::default(),
        inputs: Vec::new(),
        known: HashMap::new(),
        ids: HashMap::new(),
    };
    for (site, cell) in order.iter().enumerate() {
        if site.is_multiple_of(MANY) {
            stop.check()?;
        }
        let node =
            cell.node().ok_or_else(|| bug!("a cell that is recorded has its value already"))?;
        let node = node.try_map_inputs(|a| made.operand(a))?;
        let (mut meta, name, asked) = (cell.meta().clone(), cell.name(), cell.was_asked());
        // Whole numbers that were computed since may have turned out to be beyond 32 bits.
        if let ([src], Some((_, []))) = (node.inputs(), node.facts().place())
            && meta.dtype.is_integer()
            && made.dag.dtype(*src) == DType::F64
        {
            (meta.dtype, meta.range) = (DType::F64, None);
        }
        let info = Info { meta, site: site as u32, name, asked, from: Vec::new(), born: 0 };
        let id = made.dag.add(node, info);
        made.ids.insert(Rc::as_ptr(cell), id);
    }
    let root = |c: &Rc<Cell>| {
        made.ids
            .get(&Rc::as_ptr(c))
            .copied()
            .ok_or_else(|| bug!("a root is not among the cells that it reaches"))
    };
    let roots = asked.roots.iter().map(root).collect::<Result<_>>()?;
    let (dag, inputs, kept_ns) = (made.dag, made.inputs, Vec::new());
    let Asked { checked, why, .. } = *asked;
    let written = order.iter().map(|cell| cell.seq()).collect();
    Ok(Recorded { dag, roots, checked, kept_ns, written, inputs, why, needed })
}

struct Maker {
    dag: Dag,
    inputs: Vec<Array>,
    /// Storage and shape to input node: one input per array.
    known: HashMap<(usize, Vec<usize>), NodeId>,
    ids: HashMap<*const Cell, NodeId>,
}

impl Maker {
    fn operand(&mut self, a: &Array) -> Result<NodeId> {
        if let Some(id) = a.pending().and_then(|c| self.ids.get(&Rc::as_ptr(c))) {
            return Ok(*id);
        }
        let name = if let Data::Lazy(cell) = a.data() { cell.name() } else { None };
        let a = a.settled();
        let dtype = match a.data() {
            // A constant of a launch is one of 64 bits, whatever the operation on it gives.
            Data::Num(x, _) => narrowest(*x),
            _ => a.dtype(),
        };
        let meta = |range| Meta { shape: a.shape().into(), dtype, range, place: None };
        let info = |meta| Info {
            meta,
            site: 0,
            name: name.clone(),
            asked: false,
            from: Vec::new(),
            born: 0,
        };
        Ok(match a.data() {
            Data::Num(x, _) => {
                let range = dtype.is_integer().then_some((*x, *x));
                self.dag.add(Node::num(*x), info(meta(range)))
            }
            Data::Char(c) => self.dag.add(Node::char(*c), info(meta(None))),
            Data::Dense(buffer) => {
                let key = (Arc::as_ptr(buffer) as *const u8 as usize, a.shape().to_vec());
                if let Some(id) = self.known.get(&key) {
                    return Ok(*id);
                }
                self.inputs.push(a.clone());
                let id = self.dag.add(
                    Node::Input(kinds::Input(self.inputs.len() as u32 - 1)),
                    info(meta(dtype.range())),
                );
                self.known.insert(key, id);
                id
            }
            // The recorder takes uniform arrays only, and what meets a complex one is replayed.
            Data::Items(_) | Data::Ref(_) | Data::Complex(_) | Data::Lazy(_) | Data::Framed(_) => {
                return Err(bug!(
                    "a recorded operand is neither a dense array nor among the cells"
                ));
            }
        })
    }
}

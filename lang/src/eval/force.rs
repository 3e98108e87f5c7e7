//! Forcing: the pending cells that roots reach become one recorded graph, which the host compiles and runs.
//!
//! Rows: DESIGN §2, LOWERING §5. No recursion; inputs are one per storage; sites follow the order of evaluation.

use super::cx::Cx;
use super::host::Recorded;
use super::operators::frames::Run;
use crate::array::{Array, Data};
use crate::dag::{Cell, Dag, Info, Meta, Node, NodeId, Scalar};
use crate::error::{Result, untraced};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

impl Cx<'_> {
    /// The array with everything pending in it computed.
    pub fn ready(&mut self, a: &Array, why: &'static str) -> Result<Array> {
        match a.data() {
            Data::Num(_) | Data::Char(_) | Data::Dense(_) => Ok(a.clone()),
            Data::Lazy(cell) => {
                if cell.forced().is_none() {
                    self.force(&[a], why)?;
                }
                Ok(a.settled())
            }
            Data::Framed(_) => Err(untraced(format!("{why} needs its values"))),
            Data::Items(items) if !items.lazy => Ok(a.clone()),
            Data::Items(_) => {
                self.force(&[a], why)?;
                Ok(settled_deep(a))
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

    pub fn force_cells(&mut self, mut roots: Vec<Rc<Cell>>, why: &'static str) -> Result<()> {
        let mut seen = std::collections::HashSet::new();
        roots.retain(|c| c.forced().is_none() && seen.insert(Rc::as_ptr(c)));
        if roots.is_empty() {
            return Ok(());
        }
        let place = self.place();
        let (recorded, cells) = record(&roots, why, place.clone());
        let values = self.host.force(recorded).map_err(|e| {
            let failed = |c: &Rc<Cell>| e.has_place() && c.meta().place == e.parts().place;
            let suspect = |r: &&Run| cells.iter().any(|c| failed(c) && r.recorded(c.seq()));
            self.sys.suspects = self.sys.runs.iter().filter(suspect).cloned().collect();
            match &place {
                Some(at) if e.has_place() => e.needed(at),
                Some(at) => e.at(at),
                None => e,
            }
        })?;
        for (cell, value) in roots.iter().zip(values) {
            cell.settle(value);
        }
        // What this evaluation ran needs no check of its own any more.
        if !self.sys.hard.is_empty() {
            let ran: std::collections::HashSet<_> = cells.iter().map(Rc::as_ptr).collect();
            self.sys.hard.retain(|c| !ran.contains(&Rc::as_ptr(c)));
        }
        Ok(())
    }
}

/// Every pending cell that stands directly in a value, its nested items included.
fn pending_in(a: &Array, out: &mut Vec<Rc<Cell>>) {
    match a.data() {
        Data::Lazy(cell) if cell.forced().is_none() => out.push(cell.clone()),
        Data::Items(items) if items.lazy => match items.whole() {
            Some(rows) => pending_in(&rows.node, out),
            None => items.all().iter().for_each(|i| pending_in(i, out)),
        },
        _ => {}
    }
}

fn settled_deep(a: &Array) -> Array {
    match a.data() {
        Data::Items(items) if items.lazy => {
            if let Some(rows) = items.whole() {
                return Array::rows(rows.node.settled(), rows.at);
            }
            let made = items.all().iter().map(settled_deep).collect();
            Array::items(a.shape(), made, items.proto.clone())
        }
        _ => a.settled(),
    }
}

fn record(roots: &[Rc<Cell>], why: &'static str, needed: Option<crate::span::Place>) -> (Recorded, Vec<Rc<Cell>>) {
    let mut cells: HashMap<*const Cell, Rc<Cell>> = HashMap::new();
    let mut stack: Vec<Rc<Cell>> = roots.to_vec();
    while let Some(cell) = stack.pop() {
        if cells.contains_key(&Rc::as_ptr(&cell)) {
            continue;
        }
        if let Some(node) = cell.node() {
            stack.extend(node.inputs().iter().filter_map(|a| a.pending().cloned()));
        }
        cells.insert(Rc::as_ptr(&cell), cell);
    }
    let mut order: Vec<Rc<Cell>> = cells.into_values().collect();
    // Rows taken out of a pending node have its number.
    order.sort_by_key(|c| (c.seq(), c.weight()));
    let mut made = Maker { dag: Dag::default(), inputs: Vec::new(), known: HashMap::new(), ids: HashMap::new() };
    for (site, cell) in order.iter().enumerate() {
        let Some(node) = cell.node() else { continue };
        let node = node.map_inputs(|a| made.operand(a));
        let info = Info { meta: cell.meta().clone(), site: site as u32, name: cell.name(), from: Vec::new(), born: 0 };
        let id = made.dag.add(node, info);
        made.ids.insert(Rc::as_ptr(cell), id);
    }
    let roots = roots.iter().filter_map(|c| made.ids.get(&Rc::as_ptr(c)).copied()).collect();
    (Recorded { dag: made.dag, roots, inputs: made.inputs, why, needed }, order)
}

struct Maker {
    dag: Dag,
    inputs: Vec<Array>,
    /// Storage and shape to input node: one input per array.
    known: HashMap<(usize, Vec<usize>), NodeId>,
    ids: HashMap<*const Cell, NodeId>,
}

impl Maker {
    fn operand(&mut self, a: &Array) -> NodeId {
        if let Some(id) = a.pending().and_then(|c| self.ids.get(&Rc::as_ptr(c))) {
            return *id;
        }
        let name = if let Data::Lazy(cell) = a.data() { cell.name() } else { None };
        let a = a.settled();
        let dtype = a.dtype();
        let meta = |range| Meta { shape: a.shape().into(), dtype, range, place: None };
        let info = |meta| Info { meta, site: 0, name: name.clone(), from: Vec::new(), born: 0 };
        match a.data() {
            Data::Num(x) => {
                let range = dtype.is_integer().then_some((*x, *x));
                self.dag.add(Node::Const(Scalar::Num(*x)), info(meta(range)))
            }
            Data::Char(c) => self.dag.add(Node::Const(Scalar::Char(*c)), info(meta(None))),
            Data::Dense(buffer) => {
                let key = (Arc::as_ptr(buffer) as *const u8 as usize, a.shape().to_vec());
                if let Some(id) = self.known.get(&key) {
                    return *id;
                }
                self.inputs.push(a.clone());
                let id = self.dag.add(Node::Input(self.inputs.len() as u32 - 1), info(meta(dtype.range())));
                self.known.insert(key, id);
                id
            }
            // Never recorded: the recorder takes uniform arrays only.
            Data::Items(_) | Data::Lazy(_) | Data::Framed(_) => {
                self.dag.add(Node::Const(Scalar::Num(0.0)), info(meta(None)))
            }
        }
    }
}

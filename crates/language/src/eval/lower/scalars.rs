//! Scalars that pile up: pending numbers beyond a bound are computed at once.
//!
//! A line has some pending scalars, which fuse into what reads them. Thousands are items that were
//! taken one by one, and whatever was made of them: each would be a cell, a node and a body of a
//! launch, which is a thousand times what its value takes. So at the bound the arrays that they are
//! read from are evaluated, and the scalars themselves run on the host, in the order in which they
//! were written; what is taken of those arrays afterwards is a number from the start.

use crate::eval::cx::Cx;
use crate::eval::force::reached;
use crate::eval::scope::is_final;
use aplomb_ground::error::{Kind, Result};
use aplomb_values::dag::{Cell, Node};
use std::collections::HashMap;
use std::rc::Rc;

/// Pending scalars that may be alive at a time.
const MOST: usize = 1_024;
/// An array is evaluated for its items where at least this part of it is read one by one.
const PART: usize = 64;

impl Cx<'_> {
    /// Counts a new scalar; at the bound all that are alive are computed. Errors: INTERRUPT, WS
    /// FULL; what fails on a value stays pending, because nobody may ever read it.
    pub(super) fn pile(&mut self, cell: &Rc<Cell>) -> Result<()> {
        let piled = self.sys.tape.pile(cell);
        // Cells of a round or under a guard have no value of their own.
        if piled < MOST || self.sys.scope.in_round() || self.sys.scope.is_conditional() {
            return Ok(());
        }
        let live = self.sys.tape.take_piled();
        if live.len() < MOST / 2 {
            for cell in &live {
                self.sys.tape.pile(cell);
            }
            return Ok(());
        }
        let suspects = self.sys.tape.take_suspects();
        match self.settle_scalars(&live) {
            Err(e) if is_final(&e) || e.kind() == Kind::WsFull => return Err(e),
            Ok(()) | Err(_) => self.sys.tape.set_suspects(suspects),
        }
        self.sys.tape.forget_computed();
        Ok(())
    }

    fn settle_scalars(&mut self, live: &[Rc<Cell>]) -> Result<()> {
        let cells = reached(live);
        if cells.iter().any(|c| c.is_hole()) {
            return Ok(());
        }
        let roots = read_from(&cells);
        self.force_cells(roots, "pending limit")?;
        for cell in cells.iter().filter(|c| c.shape().is_empty() && c.forced().is_none()) {
            let waits =
                cell.node().is_some_and(|node| node.inputs().iter().any(|a| a.pending().is_some()));
            if waits {
                continue;
            }
            self.host.interrupt().check()?;
            match self.operation(cell) {
                Ok(value) => cell.settle(value),
                Err(e) if is_final(&e) || e.kind() == Kind::WsFull => return Err(e),
                Err(_) => {}
            }
        }
        Ok(())
    }
}

/// The cells that devices compute: arrays of which many items are read, and scalars that are made
/// of arrays.
fn read_from(cells: &[Rc<Cell>]) -> Vec<Rc<Cell>> {
    let mut taken: HashMap<*const Cell, usize> = HashMap::new();
    let mut items: Vec<(Rc<Cell>, Rc<Cell>)> = Vec::new();
    let mut roots: Vec<Rc<Cell>> = Vec::new();
    for cell in cells.iter().filter(|c| c.shape().is_empty()) {
        // One that has its value reads nothing.
        let Some(node) = cell.node() else { continue };
        let whole = node
            .inputs()
            .iter()
            .filter_map(|a| a.pending())
            .find(|c| !c.shape().is_empty())
            .cloned();
        match (whole, &*node) {
            (None, _) => {}
            (Some(array), Node::Transform(_)) => {
                *taken.entry(Rc::as_ptr(&array)).or_default() += 1;
                items.push((cell.clone(), array));
            }
            (Some(_), _) => roots.push(cell.clone()),
        }
    }
    for (cell, array) in items {
        let many = taken
            .get(&Rc::as_ptr(&array))
            .is_some_and(|n| n * PART >= array.shape().iter().product());
        roots.push(if many { array } else { cell });
    }
    roots
}

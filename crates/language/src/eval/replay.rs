//! Replay: a recorded evaluation that leaves the reals, or starts from complex values, is done
//! again operation by operation with the host's functions, in the order in which it was written.

use super::cx::Cx;
use aplomb_ground::error::{Result, domain, internal};
use aplomb_values::array::{Array, Shape, elements};
use aplomb_values::body::{self, Rounds, What};
use aplomb_values::dag::{Cell, Dag, Info, Meta, Node, Recorded, kinds};
use aplomb_values::prim::moves::Move;
use aplomb_values::prim::op::Op;
use aplomb_values::reference;
use std::rc::Rc;

/// A complex array stands in it: no device takes that.
pub fn takes_complex(cell: &Cell) -> bool {
    cell.node().is_some_and(|node| node.inputs().iter().any(Array::is_complex))
}

/// The factors of products that a sum takes unrounded, and how it does: real ones, as others are
/// rounded.
pub(super) fn products(cell: &Cell) -> Option<(Op, [Array; 2])> {
    let node = cell.node()?;
    let [x, y] = node.inputs() else { return None };
    let op = node.facts().operation().filter(|op| op.is_unrounded())?;
    let is_real = |a: &Array| !a.settled().is_complex();
    (is_real(x) && is_real(y)).then(|| (op, [x.settled(), y.settled()]))
}

impl Cx<'_> {
    /// Computes and settles pending cells, given in the order of evaluation, and tells of it.
    /// Errors: the first operation's that fails.
    pub fn replay(&mut self, cells: &[Rc<Cell>], why: &'static str) -> Result<()> {
        let widest = cells.iter().map(|c| elements(c.shape())).fold(0, usize::max);
        let work = self.begin_work(widest).map(|work| work.because(why).again(cells));
        self.replayed(cells)?;
        self.tell_work(work);
        Ok(())
    }

    fn replayed(&mut self, cells: &[Rc<Cell>]) -> Result<()> {
        for cell in cells {
            self.host.interrupt().check()?;
            // Its sum takes it unrounded.
            if products(cell).is_some() {
                continue;
            }
            let value = self.operation(cell).map_err(|e| match &cell.meta().place {
                Some(place) => e.at(place),
                None => e,
            })?;
            cell.settle(value);
        }
        Ok(())
    }

    /// One pending cell's value, by the host's function.
    pub(super) fn operation(&mut self, cell: &Cell) -> Result<Array> {
        let Some(node) = cell.node().map(|node| node.clone()) else {
            return cell.forced().ok_or_else(|| internal("a cell is neither pending nor computed"));
        };
        let meta = cell.meta();
        match node {
            Node::Map(kinds::Map { op, ct, args }) => {
                self.mapped(op, ct, meta.shape.clone(), &args, meta.dtype)
            }
            Node::Reduce(kinds::Reduce { op, axis, src }) => {
                if let Some((op, [x, y])) = src.pending().and_then(|cell| products(cell)) {
                    return self.dot_host(op, &x, &y, meta.dtype);
                }
                let src = self.ready(&src, "reduction")?;
                self.fold_host(op, &src, axis as usize, meta.shape.clone())
            }
            Node::Transform(kinds::Transform { name, src, read, onto }) => {
                let src = self.ready(&src, "argument")?;
                let _held = self.budget().charge_elements(cell.shape().iter().product(), 16)?;
                Move { name, shape: meta.shape.clone(), read, onto }.run(&src, self.budget())
            }
            Node::Scan(kinds::Scan { op, axis, src }) => {
                let src = self.ready(&src, "scan")?;
                self.scan_host(op, &src, axis as usize)
            }
            Node::Select(kinds::Select { args }) => {
                let args =
                    args.iter().map(|a| self.ready(a, "argument")).collect::<Result<Vec<_>>>()?;
                self.chosen(&args, &meta.shape)
            }
            Node::Loop(kinds::Loop { args, body, result }) if body.until.is_some() => {
                let args =
                    args.iter().map(|a| self.ready(a, "argument")).collect::<Result<Vec<_>>>()?;
                let n = cell.shape().iter().product();
                let mut items = self.budget().room(n)?;
                for k in 0..n {
                    items.push(self.element(&args, &body, result, k)?);
                }
                self.collect(cell.shape(), items, None)
            }
            Node::Loop(kinds::Loop { args, body, result }) => {
                let mut values =
                    args.iter().map(|a| self.ready(a, "argument")).collect::<Result<Vec<_>>>()?;
                for _ in 0..body.count {
                    self.round(&body, &mut values, &meta.shape)?;
                }
                Ok(values[result as usize].clone())
            }
            Node::Whole(kinds::WholeArrays { what, args }) => {
                self.whole_again(&what, &args, &meta.shape)
            }
            Node::Cat(kinds::Cat { axis, args }) => {
                crate::functions::cells::joined(self, &args, axis as usize)
            }
            Node::Gather(kinds::Gather { args, read, along, origin }) => {
                let args =
                    args.iter().map(|a| self.ready(a, "argument")).collect::<Result<Vec<_>>>()?;
                aplomb_values::prim::moves::gather_by(
                    &args,
                    &read,
                    &along,
                    origin,
                    cell.shape(),
                    self.budget(),
                )
            }
            Node::Compact(kinds::Compact { axis, args }) => {
                let mask = self.ready(&args[0], "mask")?;
                let kept = cell.shape()[axis as usize];
                let (mut picks, mut ticks) = (self.budget().room(kept)?, self.budget().ticks());
                for k in 0..mask.len() {
                    ticks.tick()?;
                    if mask.item(k).number_scalar() != Some(0.0) {
                        picks.push(Some(k));
                    }
                }
                let src = self.ready(&args[1], "argument")?;
                crate::functions::cells::along(self, &src, axis as usize, &picks)
            }
            node => self.by_meaning(&node, meta),
        }
    }

    /// A node that has no meaning for complex numbers, by the one that it has. Errors: the
    /// operation's own, DOMAIN of complex operands.
    fn by_meaning(&mut self, node: &Node<Array>, meta: &Meta) -> Result<Array> {
        if node.is_given() {
            return Err(internal("a leaf was recorded as a cell"));
        }
        let (mut dag, mut inputs) = (Dag::default(), Vec::new());
        let add = |dag: &mut Dag, node, meta| {
            dag.add(node, Info { meta, site: 0, name: None, asked: false, from: vec![], born: 0 })
        };
        let own = node.try_map_inputs(|a| {
            let a = self.ready(a, "argument")?;
            if a.is_complex() {
                return Err(domain(format!("{} takes real numbers", node.kind())));
            }
            let (shape, dtype) = (a.shape().into(), a.dtype());
            inputs.push(a);
            let input = Node::Input(kinds::Input(inputs.len() as u32 - 1));
            Ok(add(&mut dag, input, Meta { shape, dtype, range: dtype.range(), place: None }))
        })?;
        let root = add(&mut dag, own, meta.clone());
        let (why, roots) = ("replay", vec![root]);
        let (kept_ns, written) = (Vec::new(), Vec::new());
        let recorded =
            Recorded { dag, roots, checked: 0, kept_ns, written, inputs, why, needed: None };
        match reference::evaluate(&recorded, self.budget())? {
            Ok(values) => {
                values.into_iter().next().ok_or_else(|| internal("a node without a value"))
            }
            Err(failure) => Err(failure.fail.error()),
        }
    }

    /// Of three arrays, each of that shape or a single item: the second's item where the first's is
    /// not 0, else the third's.
    fn chosen(&mut self, args: &[Array], shape: &Shape) -> Result<Array> {
        let [cond, yes, no] = args else { return Err(internal("a select of three")) };
        // Both ways one after the other, so that they are of one kind; then an item of either.
        let flat = |a: &Array| a.with_shape([a.len()].as_slice(), self.budget());
        let parts = [flat(yes)?, flat(no)?];
        let both = crate::functions::cells::joined(self, &parts, 0)?;
        let at = |a: &Array, k: usize| if a.rank() == 0 { 0 } else { k };
        let chosen = |k: usize| match cond.item(at(cond, k)).number_scalar() {
            Some(0.0) => yes.len() + at(no, k),
            _ => at(yes, k),
        };
        let n = shape.iter().product();
        let places = self.budget().each((0..n).map(|k| Ok(chosen(k))))?;
        aplomb_values::prim::moves::gather(&both, shape, &places, self.budget())
    }

    /// One round on whole arrays; the last one's value of `until`, where there is such a value.
    fn round(
        &mut self,
        body: &Rounds,
        values: &mut Vec<Array>,
        shape: &Shape,
    ) -> Result<Option<f64>> {
        self.host.interrupt().check()?;
        let arguments = values.len();
        body::walk(&body.steps, values, |step, values| {
            let own: Vec<Array> =
                step.what.args().iter().map(|v| values[*v as usize].clone()).collect();
            let facts: Vec<_> = own.iter().map(|a| (a.dtype(), None)).collect();
            let full = own.iter().any(|a| a.rank() > 0);
            let shape = if full { shape.clone() } else { Shape::new() };
            match step.what {
                What::Op { op, ct, .. } => self.mapped(op, ct, shape, &own, op.result(&facts).0),
                What::Select { .. } => self.chosen(&own, &shape),
                What::Const(x) => Ok(Array::num(x)),
                _ => Err(internal("an instruction of launches stands in a loop")),
            }
        })?;
        let done = body.until.and_then(|v| values[v as usize].number_at(0));
        let next: Vec<Array> = body.next.iter().map(|v| values[*v as usize].clone()).collect();
        values[..next.len()].clone_from_slice(&next);
        values.truncate(arguments);
        Ok(done)
    }

    /// One element through a loop until its own end: in real numbers, or where these do not suffice
    /// in complex ones.
    fn element(&mut self, args: &[Array], body: &Rounds, result: u8, k: usize) -> Result<Array> {
        let own = |a: &Array| a.item(if a.rank() == 0 { 0 } else { k });
        let numbers: Option<Vec<f64>> = args.iter().map(|a| own(a).number_scalar()).collect();
        if let Some(mut values) = numbers {
            let (mut fails, mut done) = (false, false);
            while !done && !fails {
                self.host.interrupt().check()?;
                done = body.round(&mut values, &mut |_| fails = true);
            }
            if !fails {
                return Ok(Array::num(values[result as usize]));
            }
        }
        let mut values: Vec<Array> = args.iter().map(own).collect();
        while self.round(body, &mut values, &Shape::new())? == Some(0.0) {}
        Ok(values[result as usize].clone())
    }
}

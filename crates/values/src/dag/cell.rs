//! A lazy cell: a value that is recorded but not computed.

use super::facts::Known;
use super::kinds::Node;
use crate::array::{Array, DType, Shape};
use crate::prim::op::Fails;
use aplomb_ground::span::Place;
use std::cell::Cell as Slot;
use std::cell::{Ref, RefCell};
use std::rc::Rc;

/// The facts about a node before it runs.
#[derive(Clone, Debug)]
pub struct Meta {
    /// The extents of its axes.
    pub shape: Shape,
    /// `I32` with no interval means "i32 if every value fits, else f64".
    pub dtype: DType,
    /// For integers: the interval of the values, if known. Passes ask only whether it is: its
    /// numbers may depend on scalars that a known plan is not tied to.
    pub range: Option<(f64, f64)>,
    /// The place where it was written.
    pub place: Option<Place>,
}

impl Meta {
    /// Whether it is an integer of a known interval.
    pub fn is_ranged(&self) -> bool {
        self.dtype.is_integer() && self.range.is_some()
    }
}

/// A value that is recorded but not computed, or that was computed since.
pub struct Cell {
    meta: Meta,
    /// Evaluation order in the session: which of two failing operations came first.
    seq: u64,
    name: RefCell<Option<Rc<str>>>,
    state: RefCell<State>,
    /// Its shape was asked for while it was pending (ACC-18).
    asked: Slot<bool>,
    /// An evaluation computed it on its way and did not store it.
    computed: Slot<bool>,
    /// Its value may turn out to be complex.
    open: bool,
    fails: Fails,
    /// About how many pending nodes stand below, itself included: when to force. Never less than
    /// for a node below.
    weight: Slot<u32>,
    /// The least number among them: all that were recorded since are at most so many.
    oldest: u64,
}

enum State {
    Pending(Node<Array>),
    Forced(Array),
}

impl Cell {
    /// A pending cell of a node; `seq` counts the session's cells.
    pub fn new(node: Node<Array>, meta: Meta, seq: u64) -> Rc<Cell> {
        let below = || node.inputs().iter().filter_map(Array::pending);
        let tree = below().fold(1u32, |n, c| n.saturating_add(c.weight.get()));
        let most = below().map(|c| c.weight.get()).max().unwrap_or(0);
        let oldest = below().map(|c| c.oldest).fold(seq, u64::min);
        let since = u32::try_from(seq - oldest).unwrap_or(u32::MAX).saturating_add(1);
        let weight = tree.min(since.max(most.saturating_add(1)));
        let operation = node.facts().operation();
        let leaves = operation.is_some_and(|op| op.may_leave_reals());
        let open = leaves || meta.dtype != DType::Bool && node.inputs().iter().any(Array::is_open);
        let fails = node.facts().fails(&meta, &Known::of);
        // What has an order fails where its argument turns out to have none.
        let ordered = node.facts().needs_order();
        let fails =
            if ordered && node.inputs().iter().any(Array::is_open) { Fails::Hard } else { fails };
        Rc::new(Cell {
            open,
            fails,
            meta,
            seq,
            name: RefCell::new(None),
            state: RefCell::new(State::Pending(node)),
            asked: Slot::new(false),
            computed: Slot::new(false),
            weight: Slot::new(weight),
            oldest,
        })
    }

    /// The extents of the axes, pending or not.
    pub fn shape(&self) -> &[usize] {
        &self.meta.shape
    }

    /// The element type: of a computed value its own, else as far as it is known.
    pub fn dtype(&self) -> DType {
        match &*self.state.borrow() {
            State::Forced(array) => array.dtype(),
            State::Pending(_) => self.meta.dtype,
        }
    }

    /// The facts known when it was recorded.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The place in the session's order of evaluation.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// When computing it can fail.
    pub fn fails(&self) -> Fails {
        self.fails
    }

    /// While pending: whether it may turn out to be complex.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// About how many pending nodes stand below, itself included; 0 once computed.
    pub fn weight(&self) -> u32 {
        self.weight.get()
    }

    /// The variable that first held this value.
    pub fn name(&self) -> Option<Rc<str>> {
        self.name.borrow().clone()
    }

    /// Names it, unless it has a name.
    pub fn set_name(&self, name: &str) {
        self.name.borrow_mut().get_or_insert_with(|| name.into());
    }

    /// Notes that its shape was asked for.
    pub fn ask(&self) {
        self.asked.set(true);
    }

    /// Whether its shape was asked for while it was pending.
    pub fn was_asked(&self) -> bool {
        self.asked.get()
    }

    /// Notes that an evaluation computed it on its way and did not store it.
    pub fn compute(&self) {
        self.computed.set(true);
    }

    /// Whether an evaluation computed it on its way and did not store it.
    pub fn was_computed(&self) -> bool {
        self.computed.get()
    }

    /// The computed value; None while it is pending.
    pub fn forced(&self) -> Option<Array> {
        match &*self.state.borrow() {
            State::Forced(array) => Some(array.clone()),
            State::Pending(_) => None,
        }
    }

    /// Stands for an argument of a body that is only being recorded.
    pub fn is_hole(&self) -> bool {
        self.node().is_some_and(|node| node.is_input())
    }

    /// The pending node; None once forced.
    pub fn node(&self) -> Option<Ref<'_, Node<Array>>> {
        Ref::filter_map(self.state.borrow(), |s| match s {
            State::Pending(node) => Some(node),
            State::Forced(_) => None,
        })
        .ok()
    }

    /// From now on this cell is that array. What it was made of is let go.
    pub fn settle(&self, value: Array) {
        debug_assert_eq!(value.shape(), self.shape());
        let old = self.state.replace(State::Forced(value));
        self.weight.set(0);
        dismantle(old);
    }
}

/// A chain of 10 000 cells is dropped with a list, not with the call stack.
impl Drop for Cell {
    fn drop(&mut self) {
        dismantle(self.state.replace(State::Forced(Array::num(0.0))));
    }
}

fn dismantle(state: State) {
    let mut stack: Vec<Rc<Cell>> = Vec::new();
    let push = |state: State, stack: &mut Vec<Rc<Cell>>| {
        if let State::Pending(node) = state {
            node.map_inputs(|a| {
                if let crate::array::Data::Lazy(cell) = a.data() {
                    stack.push(cell.clone());
                }
            });
        }
    };
    push(state, &mut stack);
    while let Some(cell) = stack.pop() {
        if let Some(mut cell) = Rc::into_inner(cell) {
            push(
                std::mem::replace(cell.state.get_mut(), State::Forced(Array::num(0.0))),
                &mut stack,
            );
        }
    }
}

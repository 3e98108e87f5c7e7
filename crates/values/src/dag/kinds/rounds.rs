//! Rounds of a body of scalar operations, element by element.

use super::{Args, InDag, Kind, Node, conform, each, holds};
use crate::body::{Effort, Rounds, ValueId, What};
use crate::dag::facts::{Known, Role};
use crate::dag::{Dag, Meta, NodeId};
use crate::prim::op::Fails;
use crate::reference::Oracle;
use aplomb_ground::error::Result;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The first arguments are the states before the first round, the others are the same in every
/// round. `result` is the state whose last value this is.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop<A> {
    /// The states before the first round, then what is the same in every round.
    pub args: Args<A>,
    /// The loop.
    pub body: Arc<Rounds>,
    /// The state whose last value this is.
    pub result: u8,
}

impl<A> Kind<A> for Loop<A> {
    fn name(&self) -> &'static str {
        "loop"
    }

    fn role(&self) -> Role {
        Role::Elementwise
    }

    fn inputs(&self) -> &[A] {
        &self.args
    }

    fn with<B, E>(&self, to: impl FnMut(&A) -> Result<B, E>) -> Result<Node<B>, E> {
        let (args, body) = (each(&self.args, to)?, self.body.clone());
        Ok(Node::Loop(Loop { args, body, result: self.result }))
    }

    fn cost(&self) -> Effort {
        self.body.cost()
    }

    fn fails(&self, _own: &Meta, _of: &dyn Fn(&A) -> Known) -> Fails {
        self.body.fails()
    }

    fn needs_order(&self) -> bool {
        self.body.needs_order()
    }

    fn step(&self, args: &[ValueId]) -> Option<What> {
        let args = args.iter().copied().collect();
        Some(What::Loop { args, body: self.body.clone(), result: self.result })
    }

    fn rounds(&self) -> Option<&Rounds> {
        Some(&self.body)
    }

    fn hash(&self, mut to: &mut dyn Hasher) {
        let body = &self.body;
        (body.count, body.until, body.steps.len(), self.result).hash(&mut to);
    }
}

impl InDag for Loop<NodeId> {
    fn check(&self, dag: &Dag, at: NodeId) -> Result<(), String> {
        let Loop { args, body, result } = self;
        body.verify()?;
        let takes = body.arguments() == args.len() && (*result as usize) < body.next.len();
        holds(conform(dag, at, args) && takes, || "a loop whose values are not in order".into())
    }

    fn glyph(&self, _dag: &Dag, _at: NodeId) -> String {
        if self.body.until.is_some() { "⍣=".into() } else { format!("⍣{}", self.body.count) }
    }

    fn details(&self, _dag: &Dag, _at: NodeId) -> String {
        format!("{:?} {}", self.body, self.result)
    }

    fn word(&self, _dag: &Dag, _at: NodeId) -> String {
        let until = if self.body.until.is_some() { "until " } else { "" };
        format!("loop {until}{}", self.body.count)
    }

    fn value(&self, oracle: &mut Oracle) -> Result<Vec<f64>> {
        let n = oracle.len();
        let element = |i| {
            let own: Vec<f64> = self.args.iter().map(|a| oracle.item(*a, i)).collect();
            let states = self.body.run(&own, &mut |fail| {
                oracle.note(i, fail);
            });
            states[self.result as usize]
        };
        Ok((0..n).map(element).collect())
    }
}

//! An array that exists.

use super::{InDag, Kind, Node};
use crate::array::{DType, Shape};
use crate::dag::facts::Role;
use crate::dag::{Dag, Meta, NodeId};
use crate::reference::Oracle;
use aplomb_ground::error::Result;
use std::hash::{Hash, Hasher};

/// Its place among the evaluation's inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input(pub u32);

impl<A> Node<A> {
    /// The place among the evaluation's inputs, of an array that exists.
    pub fn input(&self) -> Option<u32> {
        if let Node::Input(Input(k)) = self { Some(*k) } else { None }
    }

    /// Whether it is an array that exists.
    pub fn is_input(&self) -> bool {
        self.input().is_some()
    }
}

impl<A> Kind<A> for Input {
    fn name(&self) -> &'static str {
        "input"
    }

    fn role(&self) -> Role {
        Role::Given
    }

    fn inputs(&self) -> &[A] {
        &[]
    }

    fn with<B, E>(&self, _to: impl FnMut(&A) -> Result<B, E>) -> Result<Node<B>, E> {
        Ok(Node::Input(*self))
    }

    fn hash(&self, mut to: &mut dyn Hasher) {
        self.0.hash(&mut to);
    }
}

impl InDag for Input {
    fn check(&self, _dag: &Dag, _at: NodeId) -> Result<(), String> {
        Ok(())
    }

    fn glyph(&self, _dag: &Dag, _at: NodeId) -> String {
        String::new()
    }

    fn details(&self, dag: &Dag, at: NodeId) -> String {
        dag.info(at).name.as_ref().map_or(format!("#{}", self.0), |n| n.to_string())
    }

    fn word(&self, dag: &Dag, at: NodeId) -> String {
        let name = dag.info(at).name.as_deref().unwrap_or("x").to_string();
        let dims: Vec<String> = dag.shape(at).iter().map(usize::to_string).collect();
        let shape = if dims.is_empty() { String::new() } else { format!("[{}]", dims.join(" ")) };
        format!("{name}:{}{shape}", dag.dtype(at).name())
    }

    /// `name:dtype[shape]`; the same name is the same input.
    fn read(dag: &mut Dag, word: &str, _args: &[NodeId]) -> Option<NodeId> {
        let (name, rest) = word.split_once(':')?;
        if let Some(known) = dag.ids().find(|id| dag.info(*id).name.as_deref() == Some(name)) {
            return Some(known);
        }
        let mut parts = rest.split('[');
        let dtype = parts.next()?;
        let extents = parts.flat_map(|p| p.trim_end_matches(']').split_whitespace());
        let shape: Shape = extents.map(|n| n.parse().ok()).collect::<Option<_>>()?;
        let all =
            [DType::Bool, DType::I8, DType::I16, DType::I32, DType::F32, DType::F64, DType::Char];
        let dtype = all.into_iter().find(|d| d.name() == dtype)?;
        let k = dag.ids().filter(|id| dag.node(*id).is_input()).count() as u32;
        let meta = Meta { shape, dtype, range: dtype.range(), place: None };
        let at = dag.made(Node::Input(Input(k)), meta);
        dag.info_mut(at).name = Some(name.into());
        Some(at)
    }

    fn value(&self, oracle: &mut Oracle) -> Result<Vec<f64>> {
        oracle.input(self.0)
    }
}

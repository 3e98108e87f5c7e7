//! The record of running a plan again: whether it is a graph, and what that keeps.

use super::buffer::DevBuf;
use super::graph::{Graph, Node};
use super::step::Step;
use crate::device::OnGpu;
use aplomb_plans::plan::BufId;
use std::rc::Rc;

/// The record of running a plan again.
#[derive(Default)]
pub enum Repeats {
    #[default]
    New,
    /// It ran; the next run builds the graph.
    Ran,
    Graph(Box<Repeat>),
    /// It cannot be one, or that went wrong.
    Never,
}

impl Repeats {
    pub fn bytes(&self) -> u64 {
        if let Repeats::Graph(repeat) = self { repeat.bytes } else { 0 }
    }

    pub fn is_graph(&self) -> bool {
        matches!(self, Repeats::Graph(_))
    }
}

/// One kernel, its node, and the arguments that are inputs or results.
pub struct GraphKernel {
    pub step: Step,
    pub node: Node,
    pub moves: Vec<(usize, BufId)>,
}

/// Fields in the order in which they go: the graph before what it uses.
pub struct Repeat {
    pub graph: Graph,
    pub kernels: Vec<GraphKernel>,
    pub words: Rc<DevBuf>,
    /// Scratch and buffers between launches.
    _own: Vec<Rc<DevBuf>>,
    bytes: u64,
    pub on_gpu: Vec<OnGpu>,
}

impl Repeat {
    /// `own`: memory that stays as long as the graph does.
    pub fn new(
        graph: Graph,
        kernels: Vec<GraphKernel>,
        words: Rc<DevBuf>,
        own: Vec<Rc<DevBuf>>,
        on_gpu: Vec<OnGpu>,
    ) -> Repeat {
        let bytes = own.iter().map(|b| b.bytes() as u64).sum();
        Repeat { graph, kernels, words, _own: own, bytes, on_gpu }
    }
}

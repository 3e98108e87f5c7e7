//! A graph of the driver: fills and kernels in one order, handed over as one.
//!
//! Built node by node instead of captured from the stream: so its nodes are known, a kernel's
//! arguments can be changed, and nothing that a capture forbids can happen in it. Never here: what
//! is in it and why.

use super::buffer::DevBuf;
use super::driver::{Done, Driver, Function};
use super::text::Ready;
use cudarc::driver::result::{DriverError, graph};
use cudarc::driver::sys::{self, CUgraph, CUgraphExec, CUgraphNode};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::rc::Rc;

pub struct Graph {
    driver: Driver,
    graph: CUgraph,
    /// Null until `finish`.
    exec: CUgraphExec,
    /// The node that the next one waits for.
    last: Option<CUgraphNode>,
}

/// A kernel's node, of the graph that it was added to.
#[derive(Clone, Copy)]
pub struct Node(CUgraphNode);

/// The kernel of one node, and its arguments.
pub struct Call<'a> {
    pub ready: Rc<Ready>,
    pub blocks: u32,
    pub threads: u32,
    /// As `Function::launch` has them.
    pub slots: &'a mut [u64],
}

impl Graph {
    pub fn new(driver: &Driver) -> Done<Graph> {
        driver.enter()?;
        let mut graph = null_mut();
        // SAFETY: one handle to be filled; `Drop` gives it back.
        driver.note(unsafe { sys::cuGraphCreate(&mut graph, 0) }.result())?;
        Ok(Graph { driver: driver.clone(), graph, exec: null_mut(), last: None })
    }

    /// Adds a node behind the last one.
    fn add(
        &mut self,
        call: impl FnOnce(*mut CUgraphNode, *const CUgraphNode, usize) -> sys::CUresult,
    ) -> Done<CUgraphNode> {
        let mut node = null_mut();
        let after = self.last.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        self.driver.note(call(&mut node, after, usize::from(self.last.is_some())).result())?;
        self.last = Some(node);
        Ok(node)
    }

    /// Every byte of `buffer` becomes `byte`. The caller keeps the buffer as long as the graph.
    pub fn fill(&mut self, buffer: &DevBuf, byte: u8) -> Done<()> {
        if buffer.bytes() == 0 {
            return Ok(());
        }
        let (graph, context) = (self.graph, self.driver.context());
        let what = sys::CUDA_MEMSET_NODE_PARAMS {
            dst: buffer.at(),
            pitch: 0,
            value: u32::from(byte),
            elementSize: 1,
            width: buffer.bytes(),
            height: 1,
        };
        // SAFETY: the graph and its last node are alive; the driver copies what it is told.
        self.add(|node, after, n| unsafe {
            sys::cuGraphAddMemsetNode(node, graph, after, n, &what, context)
        })
        .map(drop)
    }

    /// A launch. The caller keeps the function's module, and what the arguments point to.
    pub fn kernel(&mut self, call: Call) -> Done<Node> {
        let graph = self.graph;
        let mut places = places(call.slots);
        let what = told(&call.ready.function, call.blocks, call.threads, &mut places);
        // SAFETY: as above; one slot a parameter, as in `Function::launch`.
        self.add(|node, after, n| unsafe {
            sys::cuGraphAddKernelNode_v2(node, graph, after, n, &what)
        })
        .map(Node)
    }

    /// No more nodes: from here on it can be launched.
    pub fn finish(&mut self) -> Done<()> {
        // SAFETY: a graph of this context; the executable one is given back by `Drop`.
        self.exec = self.driver.note(unsafe {
            graph::instantiate(self.graph, sys::CUgraphInstantiate_flags_enum(0))
        })?;
        // SAFETY: both are alive.
        self.driver.note(unsafe { graph::upload(self.exec, self.driver.stream()) })
    }

    /// Other arguments for the launches that come. After an error the graph is of no use.
    pub fn change(&self, node: Node, call: Call) -> Done<()> {
        let mut places = places(call.slots);
        let what = told(&call.ready.function, call.blocks, call.threads, &mut places);
        // SAFETY: a node of this graph, finished before; the driver copies what it is told.
        let done = unsafe { sys::cuGraphExecKernelNodeSetParams_v2(self.exec, node.0, &what) };
        self.driver.note(done.result())
    }

    pub fn launch(&self) -> Done<()> {
        // SAFETY: finished before; what it touches is kept by the caller.
        self.driver.note(unsafe { graph::launch(self.exec, self.driver.stream()) })
    }
}

fn places(slots: &mut [u64]) -> Vec<*mut c_void> {
    slots.iter_mut().map(|s| std::ptr::from_mut(s).cast()).collect()
}

fn told(
    function: &Function,
    blocks: u32,
    threads: u32,
    places: &mut [*mut c_void],
) -> sys::CUDA_KERNEL_NODE_PARAMS {
    sys::CUDA_KERNEL_NODE_PARAMS {
        func: function.handle(),
        gridDimX: blocks,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: threads,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: places.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if self.driver.is_lost() {
            return;
        }
        super::driver::guarded(|| {
            let done = |_: Result<(), DriverError>| ();
            let _ = self.driver.finish();
            // SAFETY: made in `new` and `finish`, and the stream is done with them.
            unsafe {
                if !self.exec.is_null() {
                    done(graph::exec_destroy(self.exec));
                }
                done(graph::destroy(self.graph));
            }
        });
    }
}

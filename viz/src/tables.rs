//! Tables of a trace: launches, passes.

use aplomb_lang::trace::Trace;

/// A row a launch: name, skeleton, nodes, bytes, flops, estimates, time.
pub fn kernels(_trace: &Trace) -> String {
    String::new()
}

/// A row a pass: nodes, lets, breaks, launches, bytes, with its view.
pub fn passes(_trace: &Trace) -> String {
    String::new()
}

//! The names of nodes and buffers in sentences.

use aplomb_ground::trace::{NodeRecord, Trace};

/// The names of buffers.
pub(crate) fn arrays(trace: &Trace, ids: &[u32]) -> String {
    let buffer = |b: &u32| {
        let node = trace.buffers.get(*b as usize).map(|x| x.node);
        node.and_then(|n| trace.nodes.get(n as usize)).map_or(String::new(), short)
    };
    let names: Vec<String> = ids.iter().map(buffer).collect();
    if names.len() > 6 {
        format!("{} and {} more", names[..6].join(" "), names.len() - 6)
    } else {
        names.join(" ")
    }
}

/// `d1`, or `n10 ÷` where it has no name.
pub(crate) fn short(node: &NodeRecord) -> String {
    match (&node.name, node.kind.as_str()) {
        (Some(name), _) => name.clone(),
        (None, "input") => format!("n{}", node.id),
        (None, _) => format!("n{}", node.id),
    }
}

/// `n10 d1 ÷`: how sentences name a node.
pub(crate) fn named(node: &NodeRecord) -> String {
    let name = node.name.as_ref().map_or(String::new(), |n| format!(" {n}"));
    format!("n{}{name} {}", node.id, node.op).trim_end().to_string()
}

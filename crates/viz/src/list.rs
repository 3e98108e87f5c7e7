//! The graph as a list: a line a node. For narrow terminals, pipes and screen readers; complete by
//! itself.

use crate::Graph;
use crate::why::count;

/// Numbers, operations, operands, types, launches, names.
pub fn list(graph: &Graph) -> String {
    let mut out = String::new();
    for n in &graph.nodes {
        let operands: Vec<String> = n.inputs.iter().map(|a| format!("n{a}")).collect();
        let shape: Vec<String> = n.shape.iter().map(usize::to_string).collect();
        let mut notes = Vec::new();
        notes.extend(n.name.clone());
        if graph.uses(n.id) > 1 {
            notes.push(count(graph.uses(n.id) as usize, "use"));
        }
        if let Some(affine) = &n.attr.affine {
            notes.push(affine.clone());
        }
        if let Some(b) = graph.pass.breaks.iter().find(|b| b.node == n.id) {
            let launch = graph.launch(n.id).map_or(String::new(), |k| format!(" by k{k}"));
            notes.push(format!("written{launch}: {}", b.reason));
        }
        let line = format!(
            "{:<5} {:<9} {:<4} {:<12} {:<16} {}",
            format!("n{}", n.id),
            n.kind,
            n.op,
            operands.join(" "),
            format!("{}[{}]", n.dtype, shape.join(" ")),
            notes.join(", ")
        );
        out += line.trim_end();
        out.push('\n');
    }
    let roots: Vec<String> = graph.pass.roots.iter().map(|r| format!("n{r}")).collect();
    out + &format!("value: {}\n", roots.join(" "))
}

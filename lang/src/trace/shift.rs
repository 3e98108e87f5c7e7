//! Node numbers in sentences, shifted where an evaluation's trace joins another's.

use super::{NodeRecord, Trace};
use std::collections::HashSet;

/// `n12` stands for a node wherever it stands alone; where the program has a name that looks so, only as part of a label,
/// `n12 x ÷`.
pub struct Shift<'a> {
    nodes: &'a [NodeRecord],
    names: HashSet<&'a str>,
    by: u32,
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '∆' | '⍙')
}

impl<'a> Shift<'a> {
    pub fn new(nodes: &'a [NodeRecord], by: u32) -> Shift<'a> {
        Shift { nodes, names: nodes.iter().filter_map(|n| n.name.as_deref()).collect(), by }
    }

    pub fn text(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 8);
        let mut rest = text;
        let mut before = ' ';
        while let Some(c) = rest.chars().next() {
            let digits = rest.strip_prefix('n').map_or(0, |r| r.bytes().take_while(u8::is_ascii_digit).count());
            if digits > 0 && !is_part(before) && !rest[1 + digits..].chars().next().is_some_and(is_part) {
                let (word, after) = rest.split_at(1 + digits);
                match word[1..].parse::<u32>().ok().filter(|id| self.is_node(*id, word, after)) {
                    Some(id) => out += &format!("n{}", id + self.by),
                    None => out += word,
                }
                before = '0';
                rest = after;
                continue;
            }
            out.push(c);
            before = c;
            rest = &rest[c.len_utf8()..];
        }
        out
    }

    fn is_node(&self, id: u32, word: &str, after: &str) -> bool {
        let Some(node) = self.nodes.get(id as usize) else { return false };
        let named = |name: &str| after.strip_prefix(' ').is_some_and(|rest| rest.starts_with(name));
        !self.names.contains(word) || node.name.as_deref().is_some_and(named) || !node.op.is_empty() && named(&node.op)
    }

    /// Every sentence of a trace. Its ids are shifted elsewhere.
    pub fn sentences(&self, other: &mut Trace) {
        for d in &mut other.decisions {
            d.text = self.text(&d.text);
        }
        for view in other.passes.iter_mut().filter_map(|p| p.view.as_mut()) {
            *view = self.text(view);
        }
        for d in &mut other.diagnostics {
            d.text = self.text(&d.text);
        }
        for k in &mut other.kernels {
            k.cpu = k.cpu.as_ref().map(|text| self.text(text));
            if let Some(cuda) = &mut k.cuda {
                // Behind `//` stand the nodes of a line; before it, names of the language.
                let line = |line: &str| match line.split_once("//") {
                    Some((code, nodes)) => format!("{code}//{}", self.text(nodes)),
                    None => line.to_string(),
                };
                let ended = if cuda.text.ends_with('\n') { "\n" } else { "" };
                cuda.text = cuda.text.lines().map(line).collect::<Vec<_>>().join("\n") + ended;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u32, name: Option<&str>, op: &str) -> NodeRecord {
        NodeRecord { id, name: name.map(String::from), op: op.into(), ..NodeRecord::default() }
    }

    #[test]
    fn numbers_of_nodes_are_shifted_and_names_are_not() {
        let nodes = [node(0, Some("A"), ""), node(1, Some("x"), "×"), node(2, None, "+/")];
        let shift = Shift::new(&nodes, 10);
        assert_eq!(shift.text("n1 x × is read by n2 +/"), "n11 x × is read by n12 +/");
        assert_eq!(shift.text("(n0,n1) n2…n2; n3 n02x an1 1n1 n"), "(n10,n11) n12…n12; n3 n02x an1 1n1 n");
        assert_eq!(shift.text(""), "");
        // A program that calls something n1.
        let nodes = [node(0, Some("n1"), ""), node(1, Some("n0"), "÷"), node(2, None, "+")];
        let shift = Shift::new(&nodes, 10);
        assert_eq!(shift.text("n0 n1 and n1 n0 ÷ and n2 +"), "n10 n1 and n11 n0 ÷ and n12 +");
        assert_eq!(shift.text("f(n1[i])"), "f(n1[i])");
    }
}

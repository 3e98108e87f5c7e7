//! Numbers of nodes, launches and buffers in sentences, shifted where an evaluation's trace joins
//! another's.

use super::{NodeRecord, Trace};
use std::collections::HashSet;

/// `n12` stands for a node wherever it stands alone; where the program has a name that looks so,
/// only as part of a label, `n12 x ÷`. `k2` at a sentence's beginning is a launch, `b3` in a
/// launch's listing a buffer.
pub struct Shift<'a> {
    nodes: &'a [NodeRecord],
    names: HashSet<&'a str>,
    by: By,
}

/// Nodes, launches and buffers that stand before.
#[derive(Clone, Copy, Default)]
pub struct By {
    pub nodes: u32,
    pub launches: u32,
    pub buffers: u32,
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '∆' | '⍙')
}

impl<'a> Shift<'a> {
    pub fn new(nodes: &'a [NodeRecord], by: By) -> Shift<'a> {
        Shift { nodes, names: nodes.iter().filter_map(|n| n.name.as_deref()).collect(), by }
    }

    /// A sentence.
    pub fn text(&self, text: &str) -> String {
        let (launch, rest) = self.launch(text);
        launch
            + &self.words(rest, 'n', |id, word, after| {
                self.is_node(id, word, after).then_some(id + self.by.nodes)
            })
    }

    /// A sentence of a decision, which may name launches anywhere.
    fn decision(&self, text: &str) -> String {
        let known = |word: &str| self.names.contains(word);
        let text =
            self.words(text, 'k', |id, word, _| (!known(word)).then_some(id + self.by.launches));
        self.words(&text, 'n', |id, word, after| {
            self.is_node(id, word, after).then_some(id + self.by.nodes)
        })
    }

    /// A text that may begin with a launch's number; what it is with its own number, and the rest.
    fn launch<'t>(&self, text: &'t str) -> (String, &'t str) {
        let digits =
            text.strip_prefix('k').map_or(0, |r| r.bytes().take_while(u8::is_ascii_digit).count());
        let (word, rest) = text.split_at(if digits > 0 { 1 + digits } else { 0 });
        match word.get(1..).and_then(|n| n.parse::<u32>().ok()) {
            Some(id) if !rest.chars().next().is_some_and(is_part) => {
                (format!("k{}", id + self.by.launches), rest)
            }
            _ => (String::new(), text),
        }
    }

    /// A launch's listing: the numbers of nodes and buffers, and no names.
    fn listing(&self, text: &str) -> String {
        let text = self.words(text, 'b', |id, _, _| Some(id + self.by.buffers));
        self.words(&text, 'n', |id, _, _| Some(id + self.by.nodes))
    }

    /// A text whose words of one letter and digits get other numbers.
    fn words(
        &self,
        text: &str,
        letter: char,
        to: impl Fn(u32, &str, &str) -> Option<u32>,
    ) -> String {
        let mut out = String::with_capacity(text.len() + 8);
        let mut rest = text;
        let mut before = ' ';
        while let Some(c) = rest.chars().next() {
            let digits = rest
                .strip_prefix(letter)
                .map_or(0, |r| r.bytes().take_while(u8::is_ascii_digit).count());
            if digits > 0
                && !is_part(before)
                && !rest[1 + digits..].chars().next().is_some_and(is_part)
            {
                let (word, after) = rest.split_at(1 + digits);
                match word[1..].parse::<u32>().ok().and_then(|id| to(id, word, after)) {
                    Some(id) => out += &format!("{letter}{id}"),
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

    /// The line of a CUDA text that names the kernel, `k2(` or `k2_1(` at its end.
    fn head(&self, line: &str) -> Option<String> {
        let (before, name) = line.rsplit_once(' ').filter(|_| line.contains("__global__"))?;
        let (launch, rest) = self.launch(name.split_once(['(', '_']).map_or(name, |(k, _)| k));
        (!launch.is_empty() && rest.is_empty()).then(|| {
            format!(
                "{before} {launch}{}",
                name.trim_start_matches('k').trim_start_matches(char::is_numeric)
            )
        })
    }

    fn is_node(&self, id: u32, word: &str, after: &str) -> bool {
        let Some(node) = self.nodes.get(id as usize) else { return false };
        let named = |name: &str| after.strip_prefix(' ').is_some_and(|rest| rest.starts_with(name));
        !self.names.contains(word)
            || node.name.as_deref().is_some_and(named)
            || !node.op.is_empty() && named(&node.op)
    }

    /// Every sentence of a trace. Its ids are shifted elsewhere.
    pub fn sentences(&self, other: &mut Trace) {
        for d in &mut other.decisions {
            d.text = self.decision(&d.text);
        }
        for view in other.passes.iter_mut().filter_map(|p| p.view.as_mut()) {
            *view = self.text(view);
        }
        for d in &mut other.diagnostics {
            d.text = self.text(&d.text);
        }
        for k in &mut other.kernels {
            let (launch, rest) = self.launch(&k.name);
            k.name = launch + rest;
            k.cpu = k.cpu.as_ref().map(|text| self.listing(text));
            if let Some(cuda) = &mut k.cuda {
                // Behind `//` stand the nodes of a line; before it, names of the language, and once
                // the launch's.
                let line = |line: &str| match line.split_once("//") {
                    Some((code, nodes)) => format!("{code}//{}", self.text(nodes)),
                    None => self.head(line).unwrap_or_else(|| line.to_string()),
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
        let shift = Shift::new(&nodes, By { nodes: 10, launches: 2, buffers: 5 });
        assert_eq!(
            shift.text("k1 n2 +/ is a launch of its own"),
            "k3 n12 +/ is a launch of its own"
        );
        assert_eq!(
            shift.decision("k1 n2 +/ needs n1 x ×, which is there when k0 has ended"),
            "k3 n12 +/ needs n11 x ×, which is there when k2 has ended"
        );
        assert_eq!(shift.text("k1x is no launch, nor is k1"), "k1x is no launch, nor is k1");
        assert_eq!(shift.listing("over [3]\n  v0 = b3[i]    n1"), "over [3]\n  v0 = b8[i]    n11");
        assert_eq!(
            shift.head("extern \"C\" __global__ void __launch_bounds__(256) k0_1(").as_deref(),
            Some("extern \"C\" __global__ void __launch_bounds__(256) k2_1(")
        );
        assert_eq!(shift.text("n1 x × is read by n2 +/"), "n11 x × is read by n12 +/");
        assert_eq!(
            shift.text("(n0,n1) n2…n2; n3 n02x an1 1n1 n"),
            "(n10,n11) n12…n12; n3 n02x an1 1n1 n"
        );
        assert_eq!(shift.text(""), "");
        // A program that calls something n1.
        let nodes = [node(0, Some("n1"), ""), node(1, Some("n0"), "÷"), node(2, None, "+")];
        let shift = Shift::new(&nodes, By { nodes: 10, ..By::default() });
        assert_eq!(shift.text("n0 n1 and n1 n0 ÷ and n2 +"), "n10 n1 and n11 n0 ÷ and n12 +");
        assert_eq!(shift.text("f(n1[i])"), "f(n1[i])");
    }
}

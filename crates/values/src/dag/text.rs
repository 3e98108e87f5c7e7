//! A graph as one line of text, and back: for rules, tests and messages.
//!
//! `(add x:f64[5] 0)`: an operation by its name with its operands, an input `name:dtype[shape]` (no
//! brackets: rank 0), a number. Each kind says how it is written (`InDag::word`, `InDag::read`).
//! The text of a shared node stands at each use.

use super::{Dag, Info, Meta, Node, NodeId};

impl Dag {
    /// The text of a node and all below it.
    pub fn print(&self, at: NodeId) -> String {
        let node = self.node(at);
        let word = node.in_dag().word(self, at);
        if node.is_given() {
            return word;
        }
        let args: String = node.inputs().iter().map(|a| format!(" {}", self.print(*a))).collect();
        format!("({word}{args})")
    }

    /// Reads what `print` writes. None: not in that form.
    pub fn parse(&mut self, text: &str) -> Option<NodeId> {
        let spaced =
            text.replace('(', " ( ").replace(')', " ) ").replace('[', "[ ").replace(']', " ]");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut at = 0;
        let node = self.term(&words, &mut at)?;
        (at == words.len()).then_some(node)
    }

    fn term(&mut self, words: &[&str], at: &mut usize) -> Option<NodeId> {
        let word = *words.get(*at)?;
        *at += 1;
        if word != "(" {
            let mut leaf = word.to_string();
            while leaf.contains('[') && !leaf.ends_with(']') {
                leaf += &format!(" {}", words.get(*at)?);
                *at += 1;
            }
            return self.read(&leaf, &[]);
        }
        let name = *words.get(*at)?;
        *at += 1;
        let mut args = Vec::new();
        while *words.get(*at)? != ")" {
            args.push(self.term(words, at)?);
        }
        *at += 1;
        self.read(name, &args)
    }

    /// The node that the first kind makes of a word.
    fn read(&mut self, word: &str, args: &[NodeId]) -> Option<NodeId> {
        Node::readers().iter().find_map(|read| read(self, word, args))
    }

    /// A node that no text of APL wrote.
    pub(super) fn made(&mut self, node: Node<NodeId>, meta: Meta) -> NodeId {
        let info = Info { meta, site: 0, name: None, asked: false, from: Vec::new(), born: 0 };
        self.add(node, info)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_can_be_read_back() {
        for text in [
            "(add x:f64[5] 0)",
            "(reverse (mul x:f64[2 3] x:f64[2 3]))",
            "(not b:bool)",
            "(reduce-add 1 x:f64[2 3])",
            "(select b:bool[5] (iota 5) 2)",
        ] {
            let mut dag = Dag::default();
            let at = dag.parse(text).expect(text);
            assert_eq!(dag.print(at), text);
        }
    }
}

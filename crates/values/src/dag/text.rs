//! A graph as one line of text, and back: for rules, tests and messages.
//!
//! `(add x:f64[5] 0)`: an operation by its name with its operands, an input `name:dtype[shape]` (no
//! brackets: rank 0), a number. Transforms are written by the names in `MOVES`. The text of a
//! shared node stands at each use.

use super::ix::Ix;
use super::{Dag, Info, Meta, Node, NodeId, Param, Read};
use crate::array::{DType, Shape};
use crate::prim::op::OPS;

/// Transforms that text can name: the read of an axis's reverse, of a matrix's transpose, and of
/// nothing moved.
const MOVES: &[(&str, fn(&[usize]) -> (Shape, Read))] = &[
    ("reverse", |s| {
        let last = s.len() - 1;
        let flip =
            |k| if k == last { Ix::axis(k).times(-1).offset(s[k] as i64 - 1) } else { Ix::axis(k) };
        (s.into(), Read::new((0..s.len()).map(flip)))
    }),
    ("transpose", |s| {
        (s.iter().rev().copied().collect(), Read::new((0..s.len()).rev().map(Ix::axis)))
    }),
    ("same", |s| (s.into(), Read::identity(s.len()))),
];

impl Dag {
    pub fn print(&self, at: NodeId) -> String {
        let args = || {
            self.node(at)
                .inputs()
                .iter()
                .map(|a| format!(" {}", self.print(*a)))
                .collect::<String>()
        };
        match self.node(at) {
            Node::Input(_) => {
                let name = self.info(at).name.as_deref().unwrap_or("x").to_string();
                let dims: Vec<String> = self.shape(at).iter().map(usize::to_string).collect();
                let shape =
                    if dims.is_empty() { String::new() } else { format!("[{}]", dims.join(" ")) };
                format!("{name}:{}{shape}", self.dtype(at).name())
            }
            Node::Const(p) => p.at_run_time().number().to_string(),
            Node::Iota { .. } => format!("(iota {})", self.shape(at)[0]),
            Node::Map { op, .. } => format!("({}{})", op.name(), args()),
            Node::Transform { name, .. } => format!("({name}{})", args()),
            Node::Reduce { op, axis, .. } => format!("(reduce-{} {axis}{})", op.name(), args()),
            Node::Scan { op, axis, .. } => format!("(scan-{} {axis}{})", op.name(), args()),
            Node::Select { .. } => format!("(select{})", args()),
            Node::Cat { axis, .. } => format!("(cat {axis}{})", args()),
            Node::Gather { .. } => format!("(gather{})", args()),
            Node::Loop { body, .. } => {
                let until = if body.until.is_some() { "until " } else { "" };
                format!("(loop {until}{}{})", body.count, args())
            }
            Node::Whole { what, .. } => format!("({}{})", what.kind(), args()),
            Node::Compact { axis, .. } => format!("(compact {axis}{})", args()),
        }
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
            return self.leaf(word, words, at);
        }
        let name = *words.get(*at)?;
        *at += 1;
        let mut args = Vec::new();
        while *words.get(*at)? != ")" {
            args.push(self.term(words, at)?);
        }
        *at += 1;
        self.operation(name, &args)
    }

    fn operation(&mut self, name: &str, args: &[NodeId]) -> Option<NodeId> {
        if let Some((name, read)) = MOVES.iter().find(|m| m.0 == name) {
            let src = *args.first()?;
            let (shape, read) = read(self.shape(src));
            let meta = Meta { shape, ..self.info(src).meta.clone() };
            return Some(
                self.add(Node::Transform { name, src, read, onto: true }, info(meta, None)),
            );
        }
        if let Some(op) = name.strip_prefix("reduce-") {
            return self.reduction(op, args);
        }
        let op = OPS.iter().find(|r| r.name == name && r.arity as usize == args.len())?.op;
        let shape =
            args.iter().map(|a| self.shape(*a)).find(|s| !s.is_empty()).unwrap_or(&[]).into();
        let types: Vec<_> =
            args.iter().map(|a| (self.dtype(*a), self.info(*a).meta.range)).collect();
        let (dtype, range) = op.result(&types);
        let node = Node::map(op, 1e-14, args.iter().copied());
        Some(self.add(node, info(Meta { shape, dtype, range, place: None }, None)))
    }

    fn reduction(&mut self, op: &str, args: &[NodeId]) -> Option<NodeId> {
        let op = OPS.iter().find(|r| r.name == op)?.op;
        let (Node::Const(axis), src) = (self.node(*args.first()?), *args.get(1)?) else {
            return None;
        };
        let axis = axis.at_run_time().number() as usize;
        let mut meta = self.info(src).meta.clone();
        meta.shape.remove(axis);
        (meta.dtype, meta.range) =
            if meta.dtype.is_integer() { (DType::I32, None) } else { (meta.dtype, None) };
        Some(self.add(Node::Reduce { op, axis: axis as u8, src }, info(meta, None)))
    }

    fn leaf(&mut self, word: &str, words: &[&str], at: &mut usize) -> Option<NodeId> {
        if let Ok(x) = word.parse::<f64>() {
            let dtype = crate::array::narrowest(x);
            let range = dtype.is_integer().then_some((x, x));
            let meta = Meta { shape: Shape::new(), dtype, range, place: None };
            return Some(self.add(Node::Const(Param::num(x)), info(meta, None)));
        }
        let (name, rest) = word.split_once(':')?;
        let known = self.ids().find(|id| self.info(*id).name.as_deref() == Some(name));
        let mut shape = Shape::new();
        if rest.ends_with('[') {
            while *words.get(*at)? != "]" {
                shape.push(words[*at].parse().ok()?);
                *at += 1;
            }
            *at += 1;
        }
        if known.is_some() {
            return known;
        }
        let all =
            [DType::Bool, DType::I8, DType::I16, DType::I32, DType::F32, DType::F64, DType::Char];
        let dtype = all.into_iter().find(|d| d.name() == rest.trim_end_matches('['))?;
        let k = self.ids().filter(|id| matches!(self.node(*id), Node::Input(_))).count() as u32;
        Some(self.add(
            Node::Input(k),
            info(Meta { shape, dtype, range: dtype.range(), place: None }, Some(name)),
        ))
    }
}

fn info(meta: Meta, name: Option<&str>) -> Info {
    Info { meta, site: 0, name: name.map(Into::into), asked: false, from: Vec::new(), born: 0 }
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
        ] {
            let mut dag = Dag::default();
            let at = dag.parse(text).expect(text);
            assert_eq!(dag.print(at), text);
        }
    }
}

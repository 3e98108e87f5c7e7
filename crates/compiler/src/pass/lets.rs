//! Sharing recovery: which terms are shared, where each let belongs, and how the graph reads as
//! lets.
//!
//! Rows: ACC-07, ACC-08, ACC-09. A shared term is a node with operands that is used more than once;
//! leaves never float. The let of a term stands just above the immediate dominator of all its uses,
//! which is what the published algorithm means (its printed form can leave a term unbound). At one
//! node lets are ordered by height, ties by first visit.

use super::decide::{glyph, label};
use aplomb_values::dag::{Dag, Node, NodeId};

/// A term bound once. `at`: the node just above which the let stands; None: above all roots.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    pub node: NodeId,
    pub at: Option<NodeId>,
}

/// Nodes with operands and more than one live edge into them.
pub fn shared(dag: &Dag, roots: &[NodeId]) -> Vec<NodeId> {
    let uses = dag.uses(roots);
    dag.ids().filter(|at| uses[at.index()] > 1 && !dag.node(*at).inputs().is_empty()).collect()
}

/// The place where each shared term is bound, outermost first, in binding order at one node.
pub fn float(dag: &Dag, roots: &[NodeId]) -> Vec<Let> {
    let dominators = dominators(dag, roots);
    let height = heights(dag);
    let visit = first_visits(dag, roots);
    let mut lets: Vec<Let> = shared(dag, roots)
        .into_iter()
        .map(|node| Let { node, at: dominators[node.index()] })
        .collect();
    // A dominator is visited before what it dominates; no dominator means above all roots.
    let outer = |l: &Let| l.at.map_or(0, |at| visit[at.index()] + 1);
    lets.sort_by_key(|l| (outer(l), height[l.node.index()], visit[l.node.index()]));
    lets
}

/// The immediate dominator of each live node, seen from a virtual node above all roots (None).
fn dominators(dag: &Dag, roots: &[NodeId]) -> Vec<Option<NodeId>> {
    let live = dag.live(roots);
    // Depth 0 is the virtual root; `tree` is the dominator tree built so far, users first.
    let mut tree =
        Tree { up: vec![None; dag.len()], jump: vec![None; dag.len()], depth: vec![0; dag.len()] };
    let mut met: Vec<bool> = vec![false; dag.len()];
    for r in roots {
        met[r.index()] = true;
        tree.depth[r.index()] = 1;
    }
    let is_root: Vec<bool> = met.clone();
    for at in dag.ids().rev().filter(|at| live[at.index()]) {
        tree.place(at);
        for a in dag.node(at).inputs() {
            let k = a.index();
            let meet = if is_root[k] {
                None
            } else if !met[k] {
                Some(at)
            } else {
                tree.nearest(tree.up[k], Some(at))
            };
            met[k] = true;
            tree.up[k] = meet;
            tree.depth[k] = meet.map_or(0, |m| tree.depth[m.index()]) + 1;
        }
    }
    tree.up
}

/// A tree that grows at its leaves; ancestors are found in a logarithm of its depth by jumps (Myers
/// 1983).
struct Tree {
    up: Vec<Option<NodeId>>,
    /// An ancestor further up; how far depends on the depth alone.
    jump: Vec<Option<NodeId>>,
    depth: Vec<u32>,
}

impl Tree {
    fn deep(&self, at: Option<NodeId>) -> u32 {
        at.map_or(0, |a| self.depth[a.index()])
    }

    /// `up` and `depth` of a node are final from here on.
    fn place(&mut self, at: NodeId) {
        let up = self.up[at.index()];
        let jump = |at: Option<NodeId>| at.and_then(|a| self.jump[a.index()]);
        let (near, far) = (jump(up), jump(jump(up)));
        let even = self.deep(up) - self.deep(near) == self.deep(near) - self.deep(far);
        self.jump[at.index()] = if even { far } else { up };
    }

    /// The nearest common ancestor.
    fn nearest(&self, a: Option<NodeId>, b: Option<NodeId>) -> Option<NodeId> {
        let (mut a, mut b) = (a?, b?);
        if self.depth[a.index()] < self.depth[b.index()] {
            std::mem::swap(&mut a, &mut b);
        }
        let level = self.depth[b.index()];
        while self.depth[a.index()] > level {
            let far = self.jump[a.index()].filter(|j| self.depth[j.index()] >= level);
            a = far.or(self.up[a.index()])?;
        }
        while a != b {
            let (far, other) = (self.jump[a.index()], self.jump[b.index()]);
            (a, b) = if far == other {
                (self.up[a.index()]?, self.up[b.index()]?)
            } else {
                (far?, other?)
            };
        }
        Some(a)
    }
}

fn heights(dag: &Dag) -> Vec<u32> {
    let mut height = vec![0; dag.len()];
    for at in dag.ids() {
        let below = dag.node(at).inputs().iter().map(|a| height[a.index()] + 1).max();
        height[at.index()] = below.unwrap_or(0);
    }
    height
}

/// Pre-order numbers, operands left to right.
fn first_visits(dag: &Dag, roots: &[NodeId]) -> Vec<usize> {
    let mut visit = vec![usize::MAX; dag.len()];
    let mut next = 0;
    let mut stack: Vec<NodeId> = roots.iter().rev().copied().collect();
    while let Some(at) = stack.pop() {
        if visit[at.index()] == usize::MAX {
            visit[at.index()] = next;
            next += 1;
            stack.extend(dag.node(at).inputs().iter().rev());
        }
    }
    visit
}

/// More nodes than this are not written out as text.
const LONGEST: usize = 400;

/// The pruned tree: each term at its first visit as `id@(…)`, later ones as placeholders `_id`.
/// Then the occurrence map Ω: how often each shared term is used.
pub fn pruned(dag: &Dag, roots: &[NodeId]) -> Option<String> {
    let uses = dag.uses(roots);
    let count = |at: NodeId| format!("{} {}", label(dag, at), uses[at.index()]);
    let counts: Vec<String> = shared(dag, roots).into_iter().map(count).collect();
    let tree = written(dag, roots, &[], true)?;
    Some(if counts.is_empty() { tree } else { format!("{tree}\nΩ: {}", counts.join(", ")) })
}

/// The terms that float to each node, in binding order.
pub fn floats(dag: &Dag, lets: &[Let]) -> Option<String> {
    let mut lines: Vec<(Option<NodeId>, Vec<String>)> = Vec::new();
    for l in lets {
        match lines.iter_mut().find(|line| line.0 == l.at) {
            Some(line) => line.1.push(label(dag, l.node)),
            None => lines.push((l.at, vec![label(dag, l.node)])),
        }
    }
    let above = |at: Option<NodeId>| at.map_or("all values".to_string(), |at| label(dag, at));
    let text: Vec<String> =
        lines.iter().map(|(at, all)| format!("above {}: {}", above(*at), all.join(", "))).collect();
    (!text.is_empty()).then(|| text.join("\n"))
}

/// The graph as lets, named; then the same with de Bruijn indices.
pub fn bound(dag: &Dag, roots: &[NodeId], lets: &[Let]) -> Option<String> {
    let named = written(dag, roots, lets, false)?;
    let mut scope = Writer {
        dag,
        lets,
        pruned: false,
        indices: true,
        bound: Vec::new(),
        seen: vec![false; dag.len()],
    };
    Some(format!("{named}\n{}", scope.roots(roots)))
}

fn written(dag: &Dag, roots: &[NodeId], lets: &[Let], pruned: bool) -> Option<String> {
    let live = dag.live(roots).iter().filter(|l| **l).count();
    if live > LONGEST {
        return None;
    }
    let mut writer = Writer {
        dag,
        lets,
        pruned,
        indices: false,
        bound: Vec::new(),
        seen: vec![false; dag.len()],
    };
    Some(writer.roots(roots))
}

struct Writer<'a> {
    dag: &'a Dag,
    lets: &'a [Let],
    pruned: bool,
    indices: bool,
    /// Innermost last.
    bound: Vec<NodeId>,
    seen: Vec<bool>,
}

impl Writer<'_> {
    fn roots(&mut self, roots: &[NodeId]) -> String {
        let depth = self.bound.len();
        let open = self.open(None);
        // A value by itself needs no brackets.
        let alone = roots.len() == 1 && !self.pruned && !self.bound.contains(&roots[0]);
        let body: Vec<String> =
            roots.iter().map(|r| if alone { self.spelled(*r) } else { self.term(*r) }).collect();
        self.bound.truncate(depth);
        open + &body.join(" ⋄ ")
    }

    /// The lets that stand just above a node.
    fn open(&mut self, above: Option<NodeId>) -> String {
        let mut out = String::new();
        for l in self.lets.iter().filter(|l| l.at == above).cloned().collect::<Vec<_>>() {
            let inner = self.lets.iter().any(|other| other.at == Some(l.node));
            let value = if inner { self.parenthesised(l.node) } else { self.spelled(l.node) };
            let name =
                if self.indices { String::new() } else { format!("{} = ", self.name(l.node)) };
            out += &format!("let {name}{value} in ");
            self.bound.push(l.node);
        }
        out
    }

    fn term(&mut self, at: NodeId) -> String {
        if let Some(k) = self.bound.iter().rev().position(|b| *b == at) {
            return if self.indices { format!("#{k}") } else { self.name(at) };
        }
        let is_leaf = self.dag.node(at).inputs().is_empty();
        if self.pruned && !is_leaf {
            if std::mem::replace(&mut self.seen[at.index()], true) {
                return format!("_{}", at.index());
            }
            return format!("{}@{}", at.index(), self.parenthesised(at));
        }
        self.spelled_in_place(at)
    }

    fn spelled_in_place(&mut self, at: NodeId) -> String {
        if self.dag.node(at).inputs().is_empty() { self.leaf(at) } else { self.parenthesised(at) }
    }

    fn parenthesised(&mut self, at: NodeId) -> String {
        format!("({})", self.spelled(at))
    }

    /// A node's own operation over its operands, with the lets that stand above it.
    fn spelled(&mut self, at: NodeId) -> String {
        let depth = self.bound.len();
        let open = self.open(Some(at));
        let glyph = glyph(self.dag, at);
        let args = self.dag.node(at).inputs().to_vec();
        let out = match args.as_slice() {
            [] => self.leaf(at),
            [x] => format!("{glyph} {}", self.term(*x)),
            args => {
                let texts: Vec<String> = args.iter().map(|a| self.term(*a)).collect();
                texts.join(&format!(" {glyph} "))
            }
        };
        self.bound.truncate(depth);
        open + &out
    }

    fn leaf(&self, at: NodeId) -> String {
        match self.dag.node(at) {
            Node::Input(_) => self.name(at),
            _ => glyph(self.dag, at),
        }
    }

    fn name(&self, at: NodeId) -> String {
        match &self.dag.info(at).name {
            Some(name) => name.to_string(),
            None => format!("n{}", at.index()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_values::array::{DType, Shape};
    use aplomb_values::dag::{Info, Meta, kinds};
    use aplomb_values::prim::op::Op;

    /// Applications as nodes of two operands: inc = (+)1, three = inc 2, nine = three×three, (inc
    /// nine)-nine.
    #[test]
    fn acc_08_the_figure_of_the_paper() {
        let mut dag = Dag::default();
        let meta = Meta { shape: Shape::new(), dtype: DType::F64, range: None, place: None };
        let info = |name: &str| Info {
            meta: meta.clone(),
            site: 0,
            name: (!name.is_empty()).then(|| name.into()),
            asked: false,
            from: Vec::new(),
            born: 0,
        };
        let mut leaves = 0;
        let mut leaf = |dag: &mut Dag, name: &str| {
            leaves += 1;
            dag.add(Node::Input(kinds::Input(leaves)), info(name))
        };
        let apply = |dag: &mut Dag, name: &str, f: NodeId, x: NodeId| {
            dag.add(
                Node::Map(kinds::Map {
                    op: Op::Binomial,
                    ct: 0.0,
                    args: [f, x].into_iter().collect(),
                }),
                info(name),
            )
        };
        let (plus, one, two, times, minus) = (
            leaf(&mut dag, "plus"),
            leaf(&mut dag, "one"),
            leaf(&mut dag, "two"),
            leaf(&mut dag, "times"),
            leaf(&mut dag, "minus"),
        );
        let inc = apply(&mut dag, "inc", plus, one);
        let three = apply(&mut dag, "three", inc, two);
        let by_three = apply(&mut dag, "", times, three);
        let nine = apply(&mut dag, "nine", by_three, three);
        let ten = apply(&mut dag, "", inc, nine);
        let from_ten = apply(&mut dag, "", minus, ten);
        let root = apply(&mut dag, "", from_ten, nine);
        let lets = float(&dag, &[root]);
        let found: Vec<(NodeId, Option<NodeId>)> = lets.iter().map(|l| (l.node, l.at)).collect();
        // inc (9 in the paper) above nine (5), both at the root; three (8) inside nine.
        assert_eq!(found, [(inc, Some(root)), (nine, Some(root)), (three, Some(nine))]);
        let uses = dag.uses(&[root]);
        assert_eq!([inc, three, nine].map(|at| uses[at.index()]), [2, 2, 2]);
        let text = bound(&dag, &[root], &lets).expect("a text");
        let (named, indexed) = text.split_once('\n').expect("two forms");
        assert_eq!(
            named,
            "let inc = plus ! one in let nine = (let three = inc ! two in (times ! three) ! three) \
             in \
             (minus ! (inc ! nine)) ! nine"
        );
        assert_eq!(
            indexed,
            "let plus ! one in let (let #0 ! two in (times ! #0) ! #0) in (minus ! (#1 ! #0)) ! #0"
        );
        let pruned = pruned(&dag, &[root]).expect("a text");
        assert!(
            pruned.starts_with(
                "11@(10@(minus ! 9@(5@(plus ! one) ! 8@(7@(times ! 6@(_5 ! two)) ! _6))) ! _8)"
            ),
            "{pruned}"
        );
        assert!(pruned.ends_with("Ω: n5 inc ! 2, n6 three ! 2, n8 nine ! 2"), "{pruned}");
        assert!(
            floats(&dag, &lets)
                .is_some_and(|f| f.starts_with("above n11 !: n5 inc !, n8 nine !\n"))
        );
    }

    /// The figure of ACC: 991 operations as a tree, 66 as a graph, the pair of results counted as
    /// one.
    #[test]
    fn acc_10_black_scholes_is_ten_lets() {
        let meta =
            Meta { shape: Shape::from_slice(&[9]), dtype: DType::F64, range: None, place: None };
        let dag = std::cell::RefCell::new(Dag::default());
        let info = |name: &str| Info {
            meta: meta.clone(),
            site: 0,
            name: (!name.is_empty()).then(|| name.into()),
            asked: false,
            from: Vec::new(),
            born: 0,
        };
        let add = |name: &str, node| dag.borrow_mut().add(node, info(name));
        let map = |name: &str, op, args: &[NodeId]| {
            add(name, Node::Map(kinds::Map { op, ct: 0.0, args: args.into() }))
        };
        let two = |op, a, b| map("", op, &[a, b]);
        let num = |x: f64| add("", Node::num(x));
        let leaf = |k, name| add(name, Node::Input(kinds::Input(k)));
        let (s, x, t) = (leaf(0, "S"), leaf(1, "X"), leaf(2, "T"));
        let (r, v) = (num(0.02), num(0.3));
        let q = map("q", Op::Mul, &[v, map("", Op::Sqrt, &[t])]);
        let drift = two(Op::Add, r, two(Op::Div, two(Op::Mul, v, v), num(2.0)));
        let log = map("", Op::Ln, &[two(Op::Div, s, x)]);
        let d1 = map("d1", Op::Div, &[two(Op::Add, log, two(Op::Mul, drift, t)), q]);
        let normal = |d: NodeId, names: [&str; 3]| {
            let slope = two(Op::Mul, num(0.2316419), map("", Op::Abs, &[d]));
            let k = map(names[0], Op::Div, &[num(1.0), two(Op::Add, num(1.0), slope)]);
            let step = |c: f64, rest| two(Op::Mul, k, two(Op::Add, num(c), rest));
            let last = two(Op::Mul, k, num(1.330274429));
            let terms = [-1.821255978, 1.781477937, -0.356563782]
                .into_iter()
                .fold(last, |rest, c| step(c, rest));
            let sum = two(Op::Add, num(0.31938153), terms);
            let bell = map("", Op::Exp, &[two(Op::Mul, num(-0.5), two(Op::Mul, d, d))]);
            let weight = two(Op::Mul, two(Op::Mul, num(0.3989422804014327), bell), k);
            let z = map(names[1], Op::Mul, &[weight, sum]);
            let args = [two(Op::Gt, d, num(0.0)), two(Op::Sub, num(1.0), z), z];
            add(names[2], Node::Select(kinds::Select { args: args.into_iter().collect() }))
        };
        let n1 = normal(d1, ["k1", "z1", "n1"]);
        let d2 = map("d2", Op::Sub, &[d1, q]);
        let n2 = normal(d2, ["k2", "z2", "n2"]);
        let discount = map("", Op::Exp, &[map("", Op::Neg, &[two(Op::Mul, r, t)])]);
        let e = map("e", Op::Mul, &[x, discount]);
        let call = two(Op::Sub, two(Op::Mul, s, n1), two(Op::Mul, e, n2));
        let rest = |n| two(Op::Sub, num(1.0), n);
        let put = two(Op::Sub, two(Op::Mul, e, rest(n2)), two(Op::Mul, s, rest(n1)));
        let dag = dag.into_inner();
        let is_operation = |at: &NodeId| !dag.node(*at).inputs().is_empty();
        let operations = |roots: &[NodeId]| {
            let live = dag.live(roots);
            dag.ids().filter(|at| live[at.index()]).filter(is_operation).count()
        };
        let mut tree = vec![0usize; dag.len()];
        for at in dag.ids().filter(is_operation) {
            tree[at.index()] =
                1 + dag.node(at).inputs().iter().map(|a| tree[a.index()]).sum::<usize>();
        }
        assert_eq!((operations(&[call, put]) + 1, operations(&[call])), (66, 60));
        assert_eq!((tree[call.index()] + tree[put.index()] + 1, tree[call.index()]), (991, 494));
        let found = float(&dag, &[call, put]);
        let name = |at: NodeId| dag.info(at).name.as_deref().unwrap_or("").to_string();
        let names: Vec<(String, String)> =
            found.iter().map(|l| (name(l.node), l.at.map_or(String::new(), name))).collect();
        let wanted = [
            ("q", ""),
            ("e", ""),
            ("d1", ""),
            ("n1", ""),
            ("n2", ""),
            ("z1", "n1"),
            ("k1", "z1"),
            ("d2", "n2"),
            ("z2", "n2"),
            ("k2", "z2"),
        ];
        assert_eq!(names, wanted.map(|(a, b)| (a.to_string(), b.to_string())));
        let uses = dag.uses(&[call, put]);
        let omega = |name: &str| {
            let at =
                found.iter().map(|l| l.node).find(|at| dag.info(*at).name.as_deref() == Some(name));
            uses[at.expect("a let").index()]
        };
        assert_eq!(
            ["d1", "d2", "k1", "k2", "q", "e", "n1", "n2", "z1", "z2"].map(omega),
            [5, 4, 5, 5, 2, 2, 2, 2, 2, 2]
        );
    }

    /// ACC-09: putting every let's term back where it is mentioned gives the tree again, on graphs
    /// of any sharing.
    #[test]
    fn acc_09_lets_bind_every_use_and_read_as_the_same_tree() {
        let mut seed = 11u64;
        let mut roll = |n: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n
        };
        for round in 0..2_000 {
            let mut dag = Dag::default();
            let meta = Meta { shape: Shape::new(), dtype: DType::F64, range: None, place: None };
            let info = Info { meta, site: 0, name: None, asked: false, from: Vec::new(), born: 0 };
            let mut ids = vec![dag.add(Node::num(0.5), info.clone())];
            for _ in 0..4 + roll(9) {
                let mut pick = || ids[ids.len() - 1 - roll(ids.len().min(5))];
                let args = [pick(), pick()].into_iter().collect();
                ids.push(
                    dag.add(Node::Map(kinds::Map { op: Op::Add, ct: 0.0, args }), info.clone()),
                );
            }
            let root = ids[ids.len() - 1];
            let lets = float(&dag, &[root]);
            let written = |lets: &[Let]| {
                let mut w = Writer {
                    dag: &dag,
                    lets,
                    pruned: false,
                    indices: true,
                    bound: Vec::new(),
                    seen: vec![false; dag.len()],
                };
                w.roots(&[root])
            };
            let tree = written(&[]);
            assert_eq!(expanded(&written(&lets)), tree, "{round}");
        }
    }

    /// `let A in B` with A put in B's place for `#k`, innermost first.
    fn expanded(text: &str) -> String {
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut at = 0;
        let out = term(&words, &mut at, &mut Vec::new());
        assert_eq!(at, words.len(), "{text}");
        out
    }

    /// Whether the first bracket closes at the end.
    fn is_bracketed(text: &str) -> bool {
        let mut depth = 0;
        let zero = text.char_indices().find(|(_, c)| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        zero.is_some_and(|(k, _)| k + 1 == text.len())
    }

    /// Up to a closing bracket, `in` or the end.
    fn term(words: &[&str], at: &mut usize, scope: &mut Vec<String>) -> String {
        if words[*at] == "let" {
            *at += 1;
            let value = term(words, at, scope);
            assert_eq!(words[*at], "in");
            *at += 1;
            // A let's value is an operand wherever it is mentioned.
            scope.push(if value.contains(' ') && !is_bracketed(&value) {
                format!("({value})")
            } else {
                value
            });
            let body = term(words, at, scope);
            scope.pop();
            return body;
        }
        let mut out: Vec<String> = Vec::new();
        while *at < words.len() && !matches!(words[*at], ")" | "in") {
            let word = words[*at];
            *at += 1;
            out.push(match word.strip_prefix('#') {
                Some(k) => scope[scope.len() - 1 - k.parse::<usize>().expect("an index")].clone(),
                None if word == "(" => {
                    let inner = term(words, at, scope);
                    *at += 1;
                    format!("({inner})")
                }
                None => word.into(),
            });
        }
        out.join(" ")
    }

    /// Graphs of any sharing: dominators found by jumps are those found step by step.
    #[test]
    fn dominators_are_the_nearest_common_ones() {
        let mut seed = 7u64;
        let mut roll = |n: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n
        };
        for round in 0..300 {
            let mut dag = Dag::default();
            let meta = Meta { shape: Shape::new(), dtype: DType::F64, range: None, place: None };
            let info = Info { meta, site: 0, name: None, asked: false, from: Vec::new(), born: 0 };
            let mut ids = vec![dag.add(Node::num(0.5), info.clone())];
            // Narrow windows make deep trees, wide ones shallow.
            let window = 1 + roll(if round % 2 == 0 { 3 } else { 40 });
            for _ in 0..120 {
                let mut pick = || ids[ids.len() - 1 - roll(window.min(ids.len()))];
                let args = [pick(), pick()].into_iter().collect();
                ids.push(
                    dag.add(Node::Map(kinds::Map { op: Op::Add, ct: 0.0, args }), info.clone()),
                );
            }
            let roots = [ids[ids.len() - 1], ids[100]];
            let found = dominators(&dag, &roots);
            let live = dag.live(&roots);
            for at in dag.ids().filter(|at| live[at.index()]) {
                assert_eq!(found[at.index()], plain(&dag, &roots, at), "{round}: {at:?}");
            }
        }
    }

    /// The last node that every way from the roots to `at` passes: without it `at` is not reached.
    fn plain(dag: &Dag, roots: &[NodeId], at: NodeId) -> Option<NodeId> {
        let reached_without = |gone: NodeId| {
            let mut seen = vec![false; dag.len()];
            let mut stack: Vec<NodeId> = roots.iter().copied().filter(|r| *r != gone).collect();
            while let Some(n) = stack.pop() {
                if !std::mem::replace(&mut seen[n.index()], true) {
                    stack.extend(dag.node(n).inputs().iter().filter(|a| **a != gone));
                }
            }
            seen[at.index()]
        };
        dag.ids().skip(at.index() + 1).find(|d| dag.live(roots)[d.index()] && !reached_without(*d))
    }
}

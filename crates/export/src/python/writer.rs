//! The lines of one function: a walk over its graph, a name for what is used again.

use super::nodes;
use super::value::{Kind, Value};
use super::{TAKEN, identifier, reads};
use crate::{Applied, Declaration, extents, fit};
use aplomb_ground::span::{Place, Span};
use aplomb_values::array::Array;
use aplomb_values::dag::{Dag, Node, NodeId};
use std::collections::{HashMap, HashSet};

/// The reason why a graph cannot be written.
pub struct Refused {
    /// The sentence, to stand behind a name.
    pub says: String,
    /// The place in the source.
    pub place: Option<Place>,
}

impl Refused {
    /// A reason; the node under way adds its place.
    pub fn new(says: impl Into<String>) -> Refused {
        Refused { says: says.into(), place: None }
    }
}

/// The text so far.
pub struct Writer<'a> {
    /// The graph.
    pub dag: &'a Dag,
    /// The arrays that it starts from.
    pub inputs: &'a [Array],
    /// The parameter that an input is.
    pub leaves: HashMap<usize, Value>,
    /// Loops that were written: the states behind them.
    pub loops: HashMap<(usize, Vec<NodeId>), Vec<String>>,
    /// The nodes that do not split into blocks, each with the reason.
    pub alone: Vec<String>,
    /// The conditions on extents, a line each.
    pub conditions: Vec<String>,
    /// The node under way.
    at: Option<NodeId>,
    lines: Vec<String>,
    indent: usize,
    taken: Vec<String>,
    locals: Vec<String>,
    /// The value of each node so far; a dead one has an empty text.
    values: Vec<Value>,
}

/// The greatest width of an expression that stands inside of another.
const INLINE: usize = 44;

impl Writer<'_> {
    /// A line of the function.
    pub fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "    ".repeat(self.indent)));
    }

    /// Lines that belong to the one before, further in.
    pub fn inside(
        &mut self,
        lines: impl FnOnce(&mut Self) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        self.indent += 1;
        let done = lines(self);
        self.indent -= 1;
        done
    }

    /// A name that is not used yet, of that beginning.
    pub fn fresh(&mut self, begins: &str) -> String {
        let all = (1..).map(|n| format!("{begins}{n}"));
        let first = std::iter::once(begins.to_string()).filter(|b| b != "t");
        let free = |name: &String| !self.taken.contains(name);
        let name: String = first.chain(all).find(free).into_iter().collect();
        self.taken.push(name.clone());
        name
    }

    /// A name for an expression.
    pub fn local(&mut self, begins: &str, text: &str) -> String {
        let name = self.fresh(begins);
        self.line(&format!("{name} = {text}"));
        self.locals.push(name.clone());
        name
    }

    /// The place along each axis of a shape.
    pub fn places(&mut self, shape: &[usize]) -> Vec<String> {
        let of = |k: usize| format!("_iota(xp, {}, {k})", reads::tuple(shape));
        (0..shape.len()).map(of).collect()
    }

    /// The lines without those that name what nobody reads: a product of matrices reads behind its
    /// factors' copies.
    fn used(&self) -> Vec<&str> {
        let mut read: HashSet<&str> = HashSet::new();
        let mut out = Vec::new();
        for line in self.lines.iter().rev() {
            let set = line.strip_prefix("    ").and_then(|l| l.split_once(" = "));
            let unread = set.is_some_and(|(name, _)| {
                self.locals.iter().any(|l| l == name) && !read.contains(name)
            });
            if !unread {
                read.extend(names(line));
                out.push(line.as_str());
            }
        }
        out.reverse();
        out
    }

    /// Notes that the node under way needs more of its argument than a block and its neighbours.
    pub fn needs_all(&mut self, why: &str) {
        let Some(at) = self.at else { return };
        let line = self.dag.info(at).meta.place.as_ref().map(|p| {
            let before = p.source.slice(Span::new(0, p.span.start));
            format!(" in line {}", before.matches('\n').count() + 1)
        });
        let line: String = line.into_iter().collect();
        let glyph = self.dag.node(at).in_dag().glyph(self.dag, at);
        let text = format!("{glyph}{line} ({why})");
        if !self.alone.contains(&text) {
            self.alone.push(text);
        }
    }

    /// Notes that bounds of a slice stay on an axis, also where nothing is read: Python counts what
    /// is below 0 from the end, and what is beyond the end means nothing.
    pub fn stays_inside(&mut self, bounds: &[i64], n: i64) {
        for bound in bounds {
            self.conditions.push(format!("{} >= 0", fit::whole(*bound)));
            self.conditions.push(format!("{} >= {}", fit::whole(n), fit::whole(*bound)));
        }
    }

    /// Notes that an axis has an item: a fold begins with it.
    pub fn folds_some(&mut self, at: NodeId, axis: usize) {
        let n = self.dag.shape(at)[axis] as i64;
        self.conditions.push(format!("{} > 0", fit::whole(n)));
    }

    /// The value of a node before this one.
    pub fn value(&self, at: NodeId) -> Value {
        self.values[at.index()].clone()
    }
}

/// The body of a function at one of its sizes, numbers marked.
pub struct Written {
    /// Its lines.
    pub text: String,
    /// The nodes that do not split into blocks.
    pub alone: Vec<String>,
    /// The extents for which it is.
    pub conditions: String,
}

/// The body of a function.
pub fn body(
    applied: &Applied,
    takes: &Declaration,
    parameters: &[String],
    letters: &[String],
) -> Result<Written, Refused> {
    let recorded = &*applied.recorded;
    let dag = &recorded.dag;
    let named = takes.leaves().into_iter().zip(parameters).zip(&applied.leaves);
    let leaves = named
        .filter_map(|((leaf, name), input)| {
            input.map(|k| (k, Value::atom(name, Kind::of(leaf.dtype))))
        })
        .collect();
    let taken = TAKEN.iter().map(|t| t.to_string());
    let taken = taken.chain(parameters.iter().cloned()).chain(letters.iter().cloned());
    let mut w = Writer {
        dag,
        inputs: &recorded.inputs,
        leaves,
        loops: HashMap::new(),
        alone: Vec::new(),
        conditions: Vec::new(),
        at: None,
        lines: Vec::new(),
        indent: 1,
        taken: taken.collect(),
        locals: Vec::new(),
        values: vec![Value::atom("", Kind::F64); dag.len()],
    };
    let live = dag.live(&recorded.roots);
    let same = merged(dag, &live);
    let uses = uses(dag, &recorded.roots, &live, &same);
    for at in dag.ids().filter(|at| live[at.index()]) {
        let first = same[at.index()];
        if first != at {
            w.values[at.index()] = w.values[first.index()].clone();
            continue;
        }
        let info = dag.info(at);
        w.at = Some(at);
        w.conditions.extend(extents::of_shape(dag.shape(at)));
        let made = nodes::value(&mut w, at)
            .map_err(|r| Refused { place: r.place.or_else(|| info.meta.place.clone()), ..r })?;
        let given = dag.node(at).is_given() || w.leaves.values().any(|l| l.text == made.text);
        let name = info.name.as_ref().filter(|_| !given).map(|n| identifier(n));
        let keep = uses[at.index()] > 1 && !given || fit::width(&made.text) > INLINE;
        let is_root = recorded.roots.iter().any(|r| same[r.index()] == at);
        let plain = made.text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let value = match (&name, keep && !is_root) {
            (Some(name), _) if !plain => Value::atom(w.local(name, &made.text), made.kind),
            (None, true) if !plain => Value::atom(w.local("t", &made.text), made.kind),
            _ if is_root && uses[at.index()] > 1 && !plain => {
                Value::atom(w.local("t", &made.text), made.kind)
            }
            _ => made,
        };
        w.values[at.index()] = value;
    }
    let result = |root: &usize| {
        let at = recorded.roots[*root];
        w.value(at).as_array(Kind::of(dag.dtype(at))).text
    };
    let all: Vec<String> = applied.results.iter().map(result).collect();
    let given = match (&all[..], applied.several) {
        ([one], false) => one.clone(),
        ([one], true) => format!("({one},)"),
        (all, _) => format!("({})", all.join(", ")),
    };
    w.line(&format!("return {given}"));
    let text = w.used().join("\n") + "\n";
    Ok(Written { text, alone: w.alone, conditions: w.conditions.join("\n") })
}

/// For each node the first one that is equal to it, with operands that are: a function that is
/// called twice with one argument is written once.
fn merged(dag: &Dag, live: &[bool]) -> Vec<NodeId> {
    let mut out: Vec<NodeId> = dag.ids().collect();
    let mut known: HashMap<String, Vec<(Node<NodeId>, NodeId)>> = HashMap::new();
    for at in dag.ids().filter(|at| live[at.index()]) {
        let own = dag.node(at).map_inputs(|a| out[a.index()]);
        // Where kind, operands and shape differ, there is nothing to compare.
        let key = format!("{} {:?} {:?}", own.kind(), own.inputs(), dag.shape(at));
        let alike = known.entry(key).or_default();
        let equal =
            alike.iter().find(|(node, first)| *node == own && dag.dtype(*first) == dag.dtype(at));
        match equal {
            Some((_, first)) => out[at.index()] = *first,
            None => alike.push((own, at)),
        }
    }
    out
}

/// The uses of each node that is written, a root counting one.
fn uses(dag: &Dag, roots: &[NodeId], live: &[bool], same: &[NodeId]) -> Vec<u32> {
    let mut out: Vec<u32> = dag.ids().map(|_| 0).collect();
    roots.iter().for_each(|r| out[same[r.index()].index()] += 1);
    for at in dag.ids().filter(|at| live[at.index()] && same[at.index()] == *at) {
        dag.node(at).inputs().iter().for_each(|a| out[same[a.index()].index()] += 1);
    }
    out
}

/// The names in a text.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

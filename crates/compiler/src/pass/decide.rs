//! Decisions: what was chosen, what was not, what each would have cost, and why.
//!
//! Rows: VISUAL §1.3. Fields are private and the constructors ask for a rejected choice with its
//! cost: no decision exists without a reason and an alternative. `text` is the sentence that `]why`
//! prints.

use super::cost::Cost;
use aplomb_ground::error::{bytes, time};
use aplomb_values::dag::{Dag, Node, NodeId};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    pub name: &'static str,
    pub cost: Cost,
}

/// There is no `Unknown`; each reason carries the numbers of its sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum WhyNot {
    Dearer,
    /// Not dearer by its own figures: a rule that looks at more than them, or at less, prefers the
    /// other.
    Rule(&'static str),
    Illegal(&'static str),
    Limit {
        name: &'static str,
        need: u64,
        have: u64,
    },
    SwitchedOff(&'static str),
}

impl WhyNot {
    /// The reason as part of a sentence.
    pub fn says(&self) -> String {
        match self {
            WhyNot::Dearer => "it is dearer".into(),
            WhyNot::Rule(why) | WhyNot::Illegal(why) => (*why).into(),
            WhyNot::Limit { name, need, have } => format!("{name} {need} of {have}"),
            WhyNot::SwitchedOff(pass) => format!("{pass} is off"),
        }
    }

    /// The reason as the trace writes it.
    pub fn text(&self) -> String {
        match self {
            WhyNot::Dearer => "dearer".into(),
            WhyNot::Rule(why) => format!("rule: {why}"),
            WhyNot::Illegal(why) => format!("illegal: {why}"),
            WhyNot::Limit { name, need, have } => format!("limit:{name}({need}>{have})"),
            WhyNot::SwitchedOff(pass) => format!("off:{pass}"),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Decision {
    at: NodeId,
    what: &'static str,
    reason: &'static str,
    row: &'static str,
    switch: &'static str,
    chosen: Choice,
    rejected: Vec<(Choice, WhyNot)>,
    text: String,
}

/// What a decision is about: the place, the kind, the reason's name, the row behind it and the
/// switch that changes it.
#[derive(Clone, Copy)]
pub struct About {
    pub at: NodeId,
    pub what: &'static str,
    pub reason: &'static str,
    pub row: &'static str,
    pub switch: &'static str,
}

impl Decision {
    /// A choice over another. What is cheaper by its own figures is never said to be dearer.
    pub fn forced(
        about: About,
        chosen: Choice,
        over: Choice,
        because: WhyNot,
        text: String,
    ) -> Self {
        let About { at, what, reason, row, switch } = about;
        let because = match because {
            WhyNot::Dearer if over.cost.ns < chosen.cost.ns => {
                WhyNot::Rule("the plan as a whole decides, not this step")
            }
            told => told,
        };
        Decision { at, what, reason, row, switch, chosen, rejected: vec![(over, because)], text }
    }

    pub fn at(&self) -> NodeId {
        self.at
    }

    pub fn what(&self) -> &'static str {
        self.what
    }

    pub fn reason(&self) -> &'static str {
        self.reason
    }

    pub fn row(&self) -> &'static str {
        self.row
    }

    pub fn switch(&self) -> &'static str {
        self.switch
    }

    pub fn chosen(&self) -> Choice {
        self.chosen
    }

    pub fn rejected(&self) -> &[(Choice, WhyNot)] {
        &self.rejected
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

/// `n10 d1 ÷`: how sentences name a node.
pub fn label(dag: &Dag, at: NodeId) -> String {
    let name = dag.info(at).name.as_ref().map_or(String::new(), |n| format!(" {n}"));
    format!("n{}{name} {}", at.index(), glyph(dag, at)).trim_end().to_string()
}

/// The glyph of a node for pictures: `+`, `⌽`, `+/`, a constant's digits.
pub fn glyph(dag: &Dag, at: NodeId) -> String {
    match dag.node(at) {
        Node::Input(_) => String::new(),
        Node::Const(p) => match p.at_run_time() {
            aplomb_values::dag::Scalar::Num(x) => number(x),
            aplomb_values::dag::Scalar::Char(c) => format!("'{c}'"),
        },
        Node::Iota { .. } => "⍳".into(),
        Node::Map { op, .. } => op.glyph(),
        Node::Transform { name, .. } => (*name).into(),
        Node::Reduce { op, axis, src } => op.glyph() + &along(dag, *src, *axis, "/", "⌿"),
        Node::Scan { op, axis, src } => op.glyph() + &along(dag, *src, *axis, "\\", "⍀"),
        Node::Select { .. } => "?:".into(),
        Node::Cat { axis, .. } => along(dag, at, *axis, ",", "⍪"),
        Node::Gather { .. } => "[]".into(),
        Node::Loop { body, .. } if body.until.is_some() => "⍣=".into(),
        Node::Loop { body, .. } => format!("⍣{}", body.count),
        Node::Whole { what, .. } => what.glyph(),
        Node::Compact { axis, args } => along(dag, args[1], *axis, "/", "⌿"),
    }
}

/// A glyph by the axis that it runs along.
fn along(dag: &Dag, at: NodeId, axis: u8, last: &str, first: &str) -> String {
    match axis as usize {
        k if k + 1 == dag.shape(at).len() => last.into(),
        0 => first.into(),
        k => format!("{last}[{}]", k + 1),
    }
}

/// A number as APL writes it, to six digits.
pub fn number(x: f64) -> String {
    let plain = if x == x.trunc() && x.abs() < 1e9 { format!("{}", x as i64) } else { trimmed(x) };
    plain.replace('-', "¯")
}

fn trimmed(x: f64) -> String {
    if (1e-4..1e9).contains(&x.abs()) {
        let digits = (5 - x.abs().log10().floor() as i32).clamp(0, 9) as usize;
        let text = format!("{x:.digits$}");
        return if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').into()
        } else {
            text
        };
    }
    let text = format!("{x:.5e}");
    match text.split_once('e') {
        Some((m, e)) if m.contains('.') => {
            format!("{}E{e}", m.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text.replace('e', "E"),
    }
}

/// `160 MB and 24 ms`: a cost in words.
pub fn words(cost: Cost) -> String {
    format!("{} and {}", bytes(cost.bytes), time(cost.ns / 1e3))
}

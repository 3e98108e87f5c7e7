//! Decisions: what was chosen, what was not, what each would have cost, and why.
//!
//! Fields are private and the constructors ask for a rejected choice with its cost: no decision
//! exists without a reason and an alternative. Its words are made from the final plan
//! (`pass/sentences.rs`).

use super::cost::Cost;
use super::reversal::Reversal;
use super::sentences::Says;
use aplomb_values::dag::{Dag, NodeId};

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
    /// By a rule: fewer reads than so many are served by caches.
    Caches {
        least: usize,
    },
}

/// The reason of a way that its own figures call dearer: those of a step, not of a whole plan.
pub const BY_ITSELF: &str = "dearer by itself";

impl WhyNot {
    /// The reason as part of a sentence.
    pub fn says(&self) -> String {
        match self {
            WhyNot::Dearer => "it is dearer".into(),
            WhyNot::Rule(why) | WhyNot::Illegal(why) => (*why).into(),
            WhyNot::Limit { name, need, have } => format!("{name} {need} of {have}"),
            WhyNot::SwitchedOff(pass) => format!("{pass} is off"),
            WhyNot::Caches { least } => format!("caches serve fewer than {least} reads as well"),
        }
    }

    /// The reason as the trace writes it.
    pub fn text(&self) -> String {
        match self {
            WhyNot::Dearer => BY_ITSELF.into(),
            WhyNot::Rule(why) => format!("rule: {why}"),
            WhyNot::Illegal(why) => format!("illegal: {why}"),
            WhyNot::Limit { name, need, have } => format!("limit:{name}({need}>{have})"),
            WhyNot::SwitchedOff(pass) => format!("off:{pass}"),
            WhyNot::Caches { .. } => format!("rule: {}", self.says()),
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
    /// All nodes that it is about, where these are several.
    with: Vec<NodeId>,
    says: Says,
    other: Option<Reversal>,
}

/// The subject of a decision: the place, the kind, the reason's name, the row behind it and the
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
    /// A choice over another. What is cheaper by its own figures, or costs the same, is never said
    /// to be dearer.
    pub fn forced(about: About, chosen: Choice, over: Choice, because: WhyNot, says: Says) -> Self {
        let About { at, what, reason, row, switch } = about;
        let because = match because {
            WhyNot::Dearer if over.cost.ns < chosen.cost.ns => {
                WhyNot::Rule("it is done by rule, whatever one step costs")
            }
            WhyNot::Dearer if over.cost == chosen.cost => WhyNot::Rule("it costs the same"),
            told => told,
        };
        let (rejected, with) = (vec![(over, because)], Vec::new());
        Decision { at, what, reason, row, switch, chosen, rejected, with, says, other: None }
    }

    /// The same, about all of these nodes.
    #[must_use]
    pub fn of(self, nodes: Vec<NodeId>) -> Decision {
        Decision { with: nodes, ..self }
    }

    /// The same, which a plan can be made without: by this reversal.
    #[must_use]
    pub fn or(self, other: Reversal) -> Decision {
        Decision { other: Some(other), ..self }
    }

    /// The reversal by which the passes would make it the other way.
    pub fn other(&self) -> Option<Reversal> {
        self.other
    }

    pub fn with(&self) -> &[NodeId] {
        &self.with
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

    pub fn says(&self) -> &Says {
        &self.says
    }
}

/// `n10 d1 ÷`: how sentences name a node.
pub fn label(dag: &Dag, at: NodeId) -> String {
    let name = dag.info(at).name.as_ref().map_or(String::new(), |n| format!(" {n}"));
    format!("n{}{name} {}", at.index(), glyph(dag, at)).trim_end().to_string()
}

/// The glyph of a node for pictures: `+`, `⌽`, `+/`, a constant's digits.
pub fn glyph(dag: &Dag, at: NodeId) -> String {
    dag.node(at).in_dag().glyph(dag, at)
}

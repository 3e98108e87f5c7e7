//! The choices of the user: a pipeline, the switches that are off, the rules of 2006, limits.
//!
//! Rows: ACC-33, BAR-18. A preset is a list of passes and rules and what it takes for granted;
//! switches come on top of it. Every name here is one that `--off list` prints, with a sentence.

use super::reversal::Reversal;
use super::schedule::flips::Flips;
use super::schedule::policy::{Policies, Policy, Recompute};
use super::{NEEDED, PIPELINE};
use aplomb_ground::limits::LaunchLimits;
use aplomb_plans::plan::tiling::POINTS;
use aplomb_plans::plan::{Math, Order};
use std::collections::BTreeSet;

/// Something smaller than a pass that can be switched off.
pub struct Switch {
    /// The name that `--off` takes.
    pub name: &'static str,
    /// A sentence for help.
    pub says: &'static str,
    /// The row of the literature behind it, if there is one.
    pub row: &'static str,
}

/// Rules inside passes.
pub static SWITCHES: &[Switch] = &[
    Switch { name: "recompute", says: "computes again what is dearer to store", row: "ACC-17" },
    Switch {
        name: "epilogue",
        says: "runs what follows a fold, or feeds it, in its launch",
        row: "ACC-20",
    },
    Switch { name: "outputs", says: "lets a launch write several arrays", row: "ACL-35" },
    Switch { name: "exp-sharing", says: "computes equal values of a launch once", row: "ACC-33" },
];

/// The switches of the recorder, which comes before any pass.
pub static RECORDER: &[Switch] = &[
    Switch { name: "frames", says: "runs operands once for all cells", row: "own:frames" },
    Switch { name: "loops", says: "records a round once for all rounds", row: "ACC-26" },
    Switch {
        name: "keep",
        says: "stores a pending value that a second evaluation asks for",
        row: "own:keep",
    },
    Switch {
        name: "numbers",
        says: "runs recursions on single numbers, loops on them, and dfns that change outer names \
               item by item, in registers",
        row: "own:numbers",
    },
    Switch {
        name: "groups",
        says: "folds few groups where their items are met, in one walk of the evaluator",
        row: "own:groups",
    },
];

/// The switches of devices, each its own way to run a plan; plans do not depend on them.
pub static DEVICES: &[Switch] = &[
    Switch {
        name: "cublas",
        says: "leaves plain products of f64 to cuBLAS on a GPU",
        row: "own:cublas",
    },
    Switch { name: "tuning", says: "runs the texts that ]tune found to be fastest", row: "BAR-06" },
    Switch {
        name: "abreast",
        says: "runs launches on the same rows together on a CPU, some rows at a time",
        row: "own:abreast",
    },
];

/// Names that stand for others, mostly for several.
pub static GROUPS: &[(&str, &[&str])] = &[
    ("sharing", &["bind", "cse", "exp-sharing"]),
    ("fusion", &["push-down", "fuse-producers", "embed-consumers", "horizontal"]),
    ("shared-mem", &["tile"]),
    ("tune", &["tuning"]),
];

/// The passes and rules that are no system's own, so that each pipeline has them.
const EVERYWHERE: &[&str] = &[
    "abreast",
    "cublas",
    "exp-sharing",
    "frames",
    "keep",
    "loops",
    "numbers",
    "recompute",
    "settle",
    "tuning",
];

/// A pipeline of the literature.
pub struct Preset {
    /// The name that `--passes` takes.
    pub name: &'static str,
    /// A sentence for help.
    pub says: &'static str,
    /// The row of the literature behind it, if there is one.
    pub row: &'static str,
    /// Passes and rules that run, beside those of every pipeline. Empty: all.
    runs: &'static [&'static str],
    /// The rule that says where nodes may be computed again, before any pass.
    recompute: Recompute,
    /// Transforms are producers like others: no pass has to push them down.
    moves_fuse: bool,
    /// Folds of one domain that compute a common term are one fold, and maps that a line has
    /// results of one map, of tuples (ACC-30).
    tuples: bool,
    /// The legality rules of 2006.
    strict: bool,
    /// There are caches, which serve a few reads that overlap, and a launch of less than a box.
    caches: bool,
    /// Points of a box that keeps reads near.
    points: usize,
    /// A fold whose matrix no order of its loops reads side by side is copied part by part, for
    /// threads that have a row each.
    pub(super) staged: bool,
}

/// The first is what runs if none is asked for.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "all",
        says: "every pass and rule",
        row: "own:all",
        runs: &[],
        recompute: Recompute::Light,
        moves_fuse: false,
        tuples: false,
        strict: false,
        caches: true,
        points: POINTS,
        staged: false,
    },
    Preset {
        name: "acl2006",
        says: "Accelerator: breaks at random access, transforms pushed down, equal terms broken \
               where that is cheaper",
        row: "ACL-37",
        runs: &["break-random", "push-down", "cse", "fuse-producers", "split"],
        recompute: Recompute::Always,
        moves_fuse: false,
        tuples: false,
        strict: true,
        caches: true,
        points: POINTS,
        staged: false,
    },
    Preset {
        name: "bas2008",
        says: "Baskaran: each affine loop nest a launch, tiled and padded where it meets data \
               again",
        row: "BAS-09",
        runs: &["push-down", "fuse-producers", "embed-consumers", "place", "tile", "pad"],
        recompute: Recompute::Never,
        moves_fuse: false,
        tuples: false,
        strict: false,
        caches: false,
        points: POINTS,
        staged: true,
    },
    Preset {
        name: "acc2013",
        says: "Accelerate: sharing recovered, producers fused, shared arrays manifest",
        row: "ACC-12",
        runs: &[
            "prune",
            "float",
            "bind",
            "simplify",
            "shape-uses",
            "float-lets",
            "break-random",
            "fuse-producers",
            "embed-consumers",
            "hoist",
        ],
        recompute: Recompute::Unshared,
        moves_fuse: true,
        tuples: true,
        strict: false,
        caches: true,
        points: POINTS,
        staged: false,
    },
    Preset {
        name: "bar2010",
        says: "Barracuda: smart constructors, everything fused into maps and reductions, nested \
               folds hoisted",
        row: "BAR-12",
        runs: &[
            "prune",
            "float",
            "bind",
            "simplify",
            "float-lets",
            "break-random",
            "push-down",
            "fuse-producers",
            "embed-consumers",
            "hoist",
            "place",
            "tile",
            "epilogue",
        ],
        recompute: Recompute::Always,
        moves_fuse: false,
        tuples: false,
        strict: false,
        caches: false,
        points: 256,
        staged: false,
    },
];

/// Fewer reads of an array that overlap are served by caches, where there are some.
const OVERLAP: usize = 6;

impl Preset {
    /// The number of reads of an array that overlap before a block keeps it near.
    pub(super) fn overlap(&self) -> usize {
        if self.caches { OVERLAP } else { 2 }
    }

    /// Points of a box that keeps reads near.
    pub(super) fn points(&self) -> usize {
        self.points
    }

    /// A launch of fewer points keeps nothing near.
    pub(super) fn fewest(&self) -> u64 {
        if self.caches { self.points as u64 } else { 0 }
    }

    fn runs(&self, name: &str) -> bool {
        self.runs.is_empty()
            || [self.runs, EVERYWHERE, NEEDED].iter().any(|names| names.contains(&name))
    }
}

impl PartialEq for Preset {
    fn eq(&self, other: &Preset) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for Preset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The choices of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub(super) preset: &'static Preset,
    pub(super) off: BTreeSet<&'static str>,
    /// Passes and rules that the preset lacks and that were switched on.
    pub(super) on: BTreeSet<&'static str>,
    /// The legality rules of 2006 (ACL-17, ACL-38) in any pipeline.
    pub strict: bool,
    /// Every recomputation is a matter of cost (ACC-17, `--dup=cost`).
    pub dup_by_cost: bool,
    /// The arithmetic of GPU texts (`--math`). Passes take no notice.
    pub math: Math,
    /// In which order they may add (`--reduce`). Passes take no notice.
    pub order: Order,
    /// The resources that one launch may need (ACL-33).
    pub limits: LaunchLimits,
    /// Choices of the planner that are made the other way, where these are given; else `settle`
    /// finds them.
    pub(super) flips: Option<Flips>,
    /// A choice of another pass that is made the other way, to price it.
    pub(super) reversal: Option<Reversal>,
    /// Tests alone set it: choices and layouts that are legal are made by its dice, whatever they
    /// cost.
    #[doc(hidden)]
    pub dice: Option<u64>,
    /// Keep the whole record, not only the plan.
    pub trace: bool,
    /// Tests alone set it: a defect that some pass then has.
    #[doc(hidden)]
    pub fault: Option<super::Fault>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            preset: &PRESETS[0],
            off: BTreeSet::new(),
            on: BTreeSet::new(),
            strict: false,
            dup_by_cost: false,
            math: Math::Strict,
            order: Order::Repeatable,
            limits: LaunchLimits::default(),
            flips: None,
            reversal: None,
            dice: None,
            trace: false,
            fault: None,
        }
    }
}

impl Options {
    /// Switches a pass, a rule or a group off or on. Errors: a sentence with the names there are.
    pub fn switch(&mut self, name: &str, on: bool) -> Result<(), String> {
        let group = GROUPS.iter().find(|g| g.0 == name).map(|g| g.1);
        let names: Vec<&'static str> = match (group, single().find(|known| *known == name)) {
            (Some(names), _) => names.to_vec(),
            (None, Some(name)) if NEEDED.contains(&name) => {
                return Err(format!("{name} cannot be switched off"));
            }
            (None, Some(name)) => vec![name],
            (None, None) => {
                return Err(format!(
                    "no switch is called {name}; there are {}",
                    switches().join(" ")
                ));
            }
        };
        for name in names {
            if !on {
                self.on.remove(name);
                self.off.insert(name);
            } else {
                self.off.remove(name);
                if !self.preset.runs(name) {
                    self.on.insert(name);
                }
            }
        }
        Ok(())
    }

    /// Takes the pipeline of that name; switches stay. Errors: a sentence with the names there are.
    pub fn take(&mut self, preset: &str) -> Result<(), String> {
        let names = || PRESETS.iter().map(|p| p.name).collect::<Vec<_>>().join(" ");
        let found = PRESETS.iter().find(|p| p.name == preset);
        self.preset = found
            .ok_or_else(|| format!("no pipeline is called {preset}; there are {}", names()))?;
        self.on.clear();
        Ok(())
    }

    /// The pipeline that was chosen.
    pub fn preset(&self) -> &'static Preset {
        self.preset
    }

    /// Whether a pass or rule does not run, be it switched off or none of the pipeline's.
    pub fn is_off(&self, name: &str) -> bool {
        self.off.contains(name) || !self.preset.runs(name) && !self.on.contains(name)
    }

    /// Whether nodes stay the graph's own: without sharing recovery `record` hands on a tree,
    /// without hoisting nested folds, and what is unshared for a launch is a copy.
    pub fn keeps_nodes(&self) -> bool {
        self.keeps_sharing() && !self.is_off("hoist") && !self.is_off("exp-sharing")
    }

    /// Whether the graph stays one. A pipeline that has no such step takes the graph as it is.
    pub fn keeps_sharing(&self) -> bool {
        !self.off.contains("bind") && !self.off.contains("prune")
    }

    /// Whether folds that do not depend on the element stay outside of it.
    pub fn hoists(&self) -> bool {
        !self.off.contains("hoist")
    }

    /// The names that were switched off.
    pub fn off(&self) -> Vec<&'static str> {
        self.off.iter().copied().collect()
    }

    /// The passes that run, in order.
    pub fn passes(&self) -> Vec<&'static str> {
        PIPELINE.iter().map(|p| p.name).filter(|name| !self.is_off(name)).collect()
    }

    /// True where costs decide what is stored: then a whole plan that is cheaper goes first.
    pub(super) fn settles(&self) -> bool {
        let rule = self.policies().recompute;
        matches!(rule, Recompute::Light | Recompute::Cost) && !self.is_strict()
    }

    /// Whether the rules of 2006 hold.
    pub(super) fn is_strict(&self) -> bool {
        self.strict || self.preset.strict
    }

    /// The policies before any pass has run.
    pub(super) fn policies(&self) -> Policies {
        let recompute = match () {
            () if self.is_off("recompute") => Recompute::Never,
            () if self.dup_by_cost => Recompute::Cost,
            () => self.preset.recompute,
        };
        let none = Policies {
            recompute,
            epilogue: !self.is_off("epilogue"),
            outputs: !self.is_off("outputs"),
            tuples: self.preset.tuples,
            strict: self.is_strict(),
            limits: self.limits,
            fault: self.fault,
            ..Policies::default()
        };
        if self.preset.moves_fuse { none.and(Policy::Moves) } else { none }
    }

    /// The options of a plan that these made, in which `settle` made the choices `settled`, with
    /// one choice reversed. None: there is no room for one more.
    pub(super) fn reversed(&self, other: Reversal, settled: Flips) -> Option<Options> {
        let mut out = Options { flips: Some(settled), trace: false, ..self.clone() };
        let limits = &mut out.limits;
        match other {
            Reversal::Flip(flip) => out.flips = Some(settled.with(flip)?),
            Reversal::Unlimited("inputs") => limits.inputs = usize::MAX,
            Reversal::Unlimited("code") => limits.code = usize::MAX,
            Reversal::Unlimited("parameters") => limits.parameters = usize::MAX,
            Reversal::Unlimited("registers") => limits.registers = usize::MAX,
            other => {
                out.reversal = Some(other);
                // Choices about nodes that have other numbers then are looked for again.
                out.flips = out.flips.filter(|f| !other.renumbers() || f.is_empty());
            }
        }
        Some(out)
    }

    /// True of the choice that is made the other way.
    pub(super) fn reverses(&self, choice: Reversal) -> bool {
        self.reversal == Some(choice)
    }

    /// Whether a test planted this defect.
    pub(super) fn has(&self, fault: super::Fault) -> bool {
        cfg!(debug_assertions) && self.fault == Some(fault)
    }
}

/// Passes, rules, what the recorder does, what a device does.
fn single() -> impl Iterator<Item = &'static str> {
    let passes = PIPELINE.iter().map(|p| p.name);
    let rules = SWITCHES.iter().map(|s| s.name);
    passes.chain(rules).chain(RECORDER.iter().chain(DEVICES).map(|s| s.name))
}

/// All that `--off` knows, groups last.
pub fn switches() -> Vec<&'static str> {
    single().filter(|name| !NEEDED.contains(name)).chain(GROUPS.iter().map(|g| g.0)).collect()
}

/// A switch in a sentence; of a group, its members.
pub fn switch_says(name: &str) -> String {
    let pass = PIPELINE.iter().find(|p| p.name == name).map(|p| p.says.to_string());
    let others = || SWITCHES.iter().chain(RECORDER).chain(DEVICES);
    let rule = || others().find(|s| s.name == name).map(|s| s.says.to_string());
    let members = |g: &(&str, &[&str])| match g.1 {
        [one] => format!("another name for {one}"),
        all => all.join(" + "),
    };
    let group = || GROUPS.iter().find(|g| g.0 == name).map(members);
    pass.or_else(rule).or_else(group).unwrap_or_default()
}

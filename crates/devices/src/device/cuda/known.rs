//! The memory of plans that ran: their launches, lowered, the functions of their texts, a graph of
//! all.
//!
//! Row: ACL-42. A plan is known by where it is: the plan cache shares it and makes another of it
//! when its scalars change, and a weak pointer keeps the place from being used again. Storage types
//! that turn out otherwise (an input's, a result's that did not fit) are a *variant* of the plan.
//! Oldest plans leave first. Which text a launch gets is asked for here: as it comes, as somebody
//! sets it, or as `tune` found it to be fastest.

use super::choices::Choices;
use super::repeats::Repeats;
use super::text::{Text, lower, lowered};
use aplomb_plans::kir::Tuning;
use aplomb_plans::plan::Plan;
use aplomb_values::array::DType;
use std::collections::HashMap;
use std::rc::{Rc, Weak};

/// So many plans, and of each so many variants.
const PLANS: usize = 256;
const VARIANTS: usize = 4;

/// The types stored in each buffer, and whether values may leave them.
type Types = Vec<(DType, bool)>;

struct Variant {
    types: Types,
    launches: Vec<Option<Text>>,
    repeats: Repeats,
}

struct Entry {
    plan: Weak<Plan>,
    variants: Vec<Variant>,
    used: u64,
}

pub struct Known {
    plans: HashMap<*const Plan, Entry>,
    now: u64,
    /// All texts are made so, whatever was found.
    set: Option<Tuning>,
    /// Whether what was found counts.
    heeds: bool,
    pub choices: Choices,
    /// Launches that were lowered.
    pub lowered: u32,
}

impl Known {
    pub fn new(choices: Choices) -> Known {
        Known { plans: HashMap::new(), now: 0, set: None, heeds: false, choices, lowered: 0 }
    }

    /// The tuning of all texts from now on, whatever was found: all that were are forgotten.
    pub fn set(&mut self, tuning: Option<Tuning>) {
        self.plans.clear();
        self.set = tuning;
    }

    /// Whether texts are made as `tune` found them to be fastest.
    pub fn heed(&mut self, on: bool) {
        if self.heeds != on {
            self.plans.clear();
            self.heeds = on;
        }
    }

    /// Forgets what was tuned; gives the number of launches.
    pub fn forget_choices(&mut self) -> usize {
        self.plans.clear();
        self.choices.forget()
    }

    /// Launch `k` of `plan`, which is `whole` with the storage types of now.
    pub fn text(&mut self, whole: &Rc<Plan>, plan: &Plan, k: usize) -> Text {
        let (lowered, choices, set, heeds) =
            (&mut self.lowered, &mut self.choices, self.set, self.heeds);
        let slot = Self::variant(&mut self.plans, &mut self.now, whole, plan).launches.get_mut(k);
        let Some(slot) = slot else { return Err(format!("there is no launch {k}")) };
        let text = slot.get_or_insert_with(|| {
            *lowered += 1;
            match set {
                Some(tuning) => lower(plan, k, tuning),
                None => chosen(plan, k, if heeds { Some(choices) } else { None }),
            }
        });
        text.clone()
    }

    /// The record of running all of it again.
    pub fn repeats(&mut self, whole: &Rc<Plan>, plan: &Plan) -> &mut Repeats {
        &mut Self::variant(&mut self.plans, &mut self.now, whole, plan).repeats
    }

    /// Device memory that graphs keep, bytes.
    pub fn set_aside(&self) -> u64 {
        self.plans.values().flat_map(|e| &e.variants).map(|v| v.repeats.bytes()).sum()
    }

    pub fn graphs(&self) -> usize {
        self.plans.values().flat_map(|e| &e.variants).filter(|v| v.repeats.is_graph()).count()
    }

    /// Graphs go with their memory; whether there was any.
    pub fn drop_graphs(&mut self) -> bool {
        let there = self.graphs() > 0;
        let all =
            self.plans.values_mut().flat_map(|e| &mut e.variants).filter(|v| v.repeats.is_graph());
        all.for_each(|v| v.repeats = Repeats::default());
        there
    }

    fn variant<'a>(
        plans: &'a mut HashMap<*const Plan, Entry>,
        now: &mut u64,
        whole: &Rc<Plan>,
        plan: &Plan,
    ) -> &'a mut Variant {
        let at = Rc::as_ptr(whole);
        *now += 1;
        if !plans.contains_key(&at) {
            plans.retain(|_, e| e.plan.strong_count() > 0);
            if plans.len() >= PLANS
                && let Some(oldest) = plans.iter().min_by_key(|(_, e)| e.used).map(|(at, _)| *at)
            {
                plans.remove(&oldest);
            }
        }
        let new = || Entry { plan: Rc::downgrade(whole), variants: Vec::new(), used: 0 };
        let entry = plans.entry(at).or_insert_with(new);
        entry.used = *now;
        let types = || plan.buffers.iter().map(|b| (b.dtype, b.checked));
        let found = entry.variants.iter().position(|v| v.types.iter().copied().eq(types()));
        let found = found.unwrap_or_else(|| {
            if entry.variants.len() >= VARIANTS {
                entry.variants.remove(0);
            }
            let launches = vec![None; plan.launches.len()];
            entry.variants.push(Variant {
                types: types().collect(),
                launches,
                repeats: Repeats::default(),
            });
            entry.variants.len() - 1
        });
        &mut entry.variants[found]
    }
}

/// As it comes, or as it was found to be fastest.
fn chosen(plan: &Plan, k: usize, choices: Option<&mut Choices>) -> Text {
    let plain = lowered(plan, k, None, None)?;
    let candidates = plain.code.candidates();
    let Some(choices) = choices.filter(|_| candidates.len() > 1) else { return Ok(Rc::new(plain)) };
    let choice = choices.get(&plain, &plan.launches[k]);
    let text = match choice {
        Some(choice) if candidates.first() != Some(&choice.tuning) => {
            lowered(plan, k, Some(choice.tuning), Some(choice))?
        }
        choice => plain.with(choice),
    };
    Ok(Rc::new(text))
}

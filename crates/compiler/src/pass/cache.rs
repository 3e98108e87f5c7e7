//! The plan cache: a graph that was compiled before gets its plan again, and no pass runs.
//!
//! Row: BAR-08. In the key: everything passes look at. Kinds, operations with their ⎕CT, operands,
//! index expressions with their numbers, shapes, dtypes, whether an interval is known, sites,
//! roots, the inputs' storage, the switches. Not in it: buffers, names, places (an error takes its
//! place from the graph that failed, by site), and the **values of scalars**: those are parameters,
//! written into the plan anew. Of them a plan depends on two things, which are checked: which of
//! them are equal (cse makes those one), and what rules asked about them (`Dag::assumptions`). The
//! hash only finds candidates; a hit is a comparison of everything. Least recently used plans leave
//! first. Tests and debug builds compile each hit again and compare.

use super::hash::{Map, Mix};
use super::{Answer, Compiled, NoClock, Observer, Options, compile, verify};
use aplomb_ground::error::{Result, internal};
use aplomb_ground::trace::Trace;
use aplomb_plans::plan::{Plan, Step, What};
use aplomb_values::array::{Array, DType, Shape};
use aplomb_values::dag::{Assumption, Dag, Node, NodeId, Scalar};
use aplomb_values::dag::{Param, Recorded};
use aplomb_values::prim::op::Fails;
use std::hash::{Hash, Hasher};
use std::mem::size_of;
use std::rc::Rc;

/// So many plans are kept, of so many bytes by estimate.
const PLANS: usize = 512;
const BYTES: usize = 32 << 20;

/// The plans of a session by the form of their graphs; the least lately used goes first.
#[derive(Default)]
pub struct PlanCache {
    entries: Map<u64, Vec<Entry>>,
    /// Counts lookups, to know what was used last; a new plan's is its number.
    now: u64,
    tally: Tally,
}

/// Figures of the cache: hits and misses since the session began, and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Lookups that found a plan.
    pub hits: u64,
    /// Lookups that compiled one.
    pub misses: u64,
    /// Plans held.
    pub plans: usize,
    /// Bytes of these plans, estimated.
    pub bytes: usize,
}

struct Entry {
    key: Key,
    /// The scalars that the plan holds now, in the order of their nodes.
    scalars: Vec<Scalar>,
    plan: Rc<Plan>,
    answers: Vec<Answer>,
    moved: u64,
    number: u64,
    bytes: usize,
    used: u64,
}

/// All that must be the same for a plan to be right. A scalar's own value in `nodes` means nothing.
struct Key {
    nodes: Vec<Node<NodeId>>,
    facts: Vec<Fact>,
    roots: Vec<NodeId>,
    stored: Vec<DType>,
    options: Options,
    /// For each scalar the first one equal to it.
    equal: Vec<u32>,
    assumptions: Vec<Assumption>,
}

#[derive(PartialEq)]
struct Fact {
    shape: Shape,
    dtype: DType,
    is_ranged: bool,
    asked: bool,
    site: u32,
    fails: Fails,
}

impl PlanCache {
    /// The plan of a recorded graph: the known one, or a new one. With a trace wanted the passes
    /// always run, for their story; without sharing recovery too, for then the plan's nodes are not
    /// the graph's. Errors: those of `compile`.
    pub fn plan(
        &mut self,
        recorded: &Recorded,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<Compiled> {
        if options.trace || !options.keeps_nodes() {
            return compile(recorded, options, observer);
        }
        self.now += 1;
        let hash = hash(&recorded.dag, &recorded.roots);
        let scalars = scalars(&recorded.dag);
        let equal = equal(&scalars);
        let same = |e: &&mut Entry| e.key.fits(recorded, options, &equal);
        if let Some(entry) = self.entries.get_mut(&hash).and_then(|all| all.iter_mut().find(same)) {
            self.tally.hits += 1;
            entry.used = self.now;
            entry.set_scalars(scalars, &recorded.dag);
            let found = Compiled {
                plan: entry.plan.clone(),
                answers: entry.answers.clone(),
                moved: entry.moved,
                number: Some(entry.number),
                trace: Trace::default(),
                reversals: Vec::new(),
                settled: Default::default(),
                assumptions: Vec::new(),
            };
            if cfg!(debug_assertions) {
                let wanted = compile(recorded, options, &mut NoClock)?;
                verify::same_plan(&found.plan, &wanted.plan)
                    .map_err(|e| internal(format!("a known plan: {e}")))?;
            }
            return Ok(found);
        }
        self.tally.misses += 1;
        let mut compiled = compile(recorded, options, observer)?;
        compiled.number = Some(self.now);
        self.keep(hash, Entry::new(recorded, options, scalars, equal, &compiled, self.now));
        Ok(compiled)
    }

    /// The figures so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Forgets all plans.
    pub fn clear(&mut self) {
        self.entries.clear();
        (self.tally.plans, self.tally.bytes) = (0, 0);
    }

    fn keep(&mut self, hash: u64, entry: Entry) {
        if entry.bytes > BYTES {
            return;
        }
        while self.tally.plans >= PLANS || self.tally.bytes + entry.bytes > BYTES {
            self.drop_oldest();
        }
        self.tally.plans += 1;
        self.tally.bytes += entry.bytes;
        self.entries.entry(hash).or_default().push(entry);
    }

    fn drop_oldest(&mut self) {
        let ages = self.entries.iter().flat_map(|(hash, all)| all.iter().map(|e| (e.used, *hash)));
        let Some((used, hash)) = ages.min() else { return self.clear() };
        let Some(all) = self.entries.get_mut(&hash) else { return };
        if let Some(k) = all.iter().position(|e| e.used == used) {
            self.tally.bytes -= all.swap_remove(k).bytes;
            self.tally.plans -= 1;
        }
        if all.is_empty() {
            self.entries.remove(&hash);
        }
    }
}

impl Key {
    fn fits(&self, recorded: &Recorded, options: &Options, equal: &[u32]) -> bool {
        let dag = &recorded.dag;
        let same = |at: NodeId| {
            let k = at.index();
            let alike = match (&self.nodes[k], dag.node(at)) {
                (a, b) if a.param().is_some() => {
                    a.param().map(Param::is_number) == b.param().map(Param::is_number)
                }
                (a, b) => a == b,
            };
            alike && self.facts[k].holds(dag, at)
        };
        let holds = |known: &Assumption| known.holds(dag);
        self.nodes.len() == dag.len()
            && self.roots == recorded.roots
            && self.stored.iter().copied().eq(recorded.inputs.iter().map(Array::dtype))
            && self.equal == equal
            && self.options == *options
            && dag.ids().all(same)
            && self.assumptions.iter().all(holds)
    }
}

impl Fact {
    fn of(dag: &Dag, at: NodeId) -> Fact {
        let info = dag.info(at);
        let (shape, dtype) = (info.meta.shape.clone(), info.meta.dtype);
        Fact {
            shape,
            dtype,
            is_ranged: info.meta.range.is_some(),
            asked: info.asked,
            site: info.site,
            fails: dag.fails(at),
        }
    }

    fn holds(&self, dag: &Dag, at: NodeId) -> bool {
        let info = dag.info(at);
        let own = (self.dtype, self.is_ranged, self.asked, self.site, self.fails);
        let now =
            (info.meta.dtype, info.meta.range.is_some(), info.asked, info.site, dag.fails(at));
        own == now && self.shape == info.meta.shape
    }
}

impl Entry {
    fn new(
        recorded: &Recorded,
        options: &Options,
        scalars: Vec<Scalar>,
        equal: Vec<u32>,
        compiled: &Compiled,
        used: u64,
    ) -> Entry {
        let dag = &recorded.dag;
        let key = Key {
            nodes: dag.ids().map(|at| dag.node(at).clone()).collect(),
            facts: dag.ids().map(|at| Fact::of(dag, at)).collect(),
            roots: recorded.roots.clone(),
            stored: recorded.inputs.iter().map(Array::dtype).collect(),
            options: options.clone(),
            equal,
            assumptions: compiled.assumptions.clone(),
        };
        let steps = compiled
            .plan
            .launches
            .iter()
            .map(|l| l.body.len() + l.after.len() + l.loads.len())
            .sum::<usize>();
        let node = size_of::<Node<NodeId>>() + size_of::<Fact>() + size_of::<Scalar>();
        let bytes = dag.len() * node + 2 * steps * size_of::<Step>() + size_of::<Entry>();
        let (plan, answers) = (compiled.plan.clone(), compiled.answers.clone());
        Entry { key, scalars, plan, answers, moved: compiled.moved, number: used, bytes, used }
    }

    /// Writes this evaluation's scalars into the plan.
    fn set_scalars(&mut self, now: Vec<Scalar>, dag: &Dag) {
        if self.scalars == now {
            return;
        }
        // What rules made of scalars is not the graph's own node, and stays.
        let own = |at: NodeId| (at.index() < dag.len()).then(|| scalar(dag, at)).flatten();
        for launch in &mut Rc::make_mut(&mut self.plan).launches {
            for step in launch.body.iter_mut().chain(&mut launch.after) {
                if let (What::Const(x), Some(s)) = (&mut step.what, own(step.from.node)) {
                    *x = s.number();
                }
            }
        }
        for answer in &mut self.answers {
            if let Answer::Scalar(at, x) = answer
                && let Some(s) = own(*at)
            {
                *x = s;
            }
        }
        self.scalars = now;
    }
}

/// A hash of the parts of a graph that are quick to see.
fn hash(dag: &Dag, roots: &[NodeId]) -> u64 {
    let mut h = Mix::default();
    roots.hash(&mut h);
    for at in dag.ids() {
        dag.node(at).hash_without_value(&mut h);
        dag.shape(at).hash(&mut h);
        dag.dtype(at).hash(&mut h);
    }
    h.finish()
}

fn scalars(dag: &Dag) -> Vec<Scalar> {
    dag.ids().filter_map(|at| scalar(dag, at)).collect()
}

fn scalar(dag: &Dag, at: NodeId) -> Option<Scalar> {
    dag.node(at).param().map(Param::at_run_time)
}

fn equal(scalars: &[Scalar]) -> Vec<u32> {
    let mut first: Map<(bool, u64), u32> = Map::default();
    let mut place = |(k, s): (usize, &Scalar)| {
        let key = (matches!(s, Scalar::Char(_)), s.number().to_bits());
        *first.entry(key).or_insert(k as u32)
    };
    scalars.iter().enumerate().map(&mut place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::tests::recorded;

    #[derive(Default)]
    struct Count(usize);

    impl Observer for Count {
        fn begin(&mut self, _pass: &'static str) {
            self.0 += 1;
        }

        fn end(&mut self, _pass: &'static str) -> f64 {
            0.0
        }
    }

    /// The number of passes that run for a term.
    fn passes(cache: &mut PlanCache, term: &str, options: &Options) -> usize {
        let mut count = Count::default();
        let compiled = cache
            .plan(&recorded(&[term]), options, &mut count)
            .unwrap_or_else(|e| panic!("{term}: {e}"));
        let wanted = compile(&recorded(&[term]), options, &mut NoClock)
            .unwrap_or_else(|e| panic!("{term}: {e}"));
        assert_eq!(verify::same_plan(&compiled.plan, &wanted.plan), Ok(()), "{term}");
        count.0
    }

    #[test]
    fn a_known_graph_runs_no_pass() {
        let (mut cache, options) = (PlanCache::default(), Options::default());
        let all = super::super::PIPELINE.len();
        let mut of = |term: &str| passes(&mut cache, term, &options);
        assert_eq!(of("(add (mul 2.5 x:f64[9]) 7.5)"), all);
        assert_eq!(of("(add (mul 2.5 y:f64[9]) 7.5)"), 0);
        assert_eq!(of("(add (mul 0.125 y:f64[9]) 9.5)"), 0);
        // Equal scalars, another size, another type, another scalar's type, a rule's own number.
        assert_eq!(of("(add (mul 2.5 x:f64[9]) 2.5)"), all);
        assert_eq!(of("(add (mul 2.5 x:f64[8]) 7.5)"), all);
        assert_eq!(of("(add (mul 2.5 x:i32[9]) 7.5)"), all);
        assert_eq!(of("(add (mul 1 x:f64[9]) 7.5)"), all);
        assert_eq!(of("(pow x:f64[9] 0.5)"), all);
        assert_eq!(of("(pow x:f64[9] 0.25)"), all);
        assert_eq!(of("(pow x:f64[9] 0.5)"), 0);
    }

    #[test]
    fn a_scalar_made_of_others_ties_the_plan_to_them() {
        let (mut cache, options) = (PlanCache::default(), Options::default());
        let all = super::super::PIPELINE.len();
        let mut of = |term: &str| passes(&mut cache, term, &options);
        // The sum is 5 by chance, as the other factor is.
        assert_eq!(of("(add (mul (add 2 3) x:f64[9]) 5)"), all);
        assert_eq!(of("(add (mul (add 2 3) x:f64[9]) 6)"), all);
        assert_eq!(of("(add (mul (add 2 4) x:f64[9]) 6)"), all);
        assert_eq!(of("(add (mul (add 2 4) x:f64[9]) 6)"), 0);
        assert_eq!(of("(add 2 3)"), all);
        assert_eq!(of("(add 2 4)"), all);
    }

    #[test]
    fn the_oldest_leave_first_and_switches_tell_plans_apart() {
        let mut cache = PlanCache::default();
        let mut off = Options::default();
        off.switch("cse", false).expect("a switch");
        let all = super::super::PIPELINE.len();
        assert_eq!(passes(&mut cache, "(neg x:f64[9])", &Options::default()), all);
        assert_eq!(passes(&mut cache, "(neg x:f64[9])", &off), all);
        for n in 0..PLANS - 1 {
            passes(&mut cache, "(neg x:f64[9])", &off);
            assert_eq!(passes(&mut cache, &format!("(neg x:f64[{}])", n + 10), &off), all);
        }
        assert_eq!(cache.tally().plans, PLANS);
        assert_eq!(passes(&mut cache, "(neg x:f64[9])", &off), 0);
        assert_eq!(passes(&mut cache, "(neg x:f64[9])", &Options::default()), all);
        cache.clear();
        assert_eq!(cache.tally().bytes, 0);
        assert_eq!(passes(&mut cache, "(neg x:f64[9])", &off), all);
    }
}

//! A compilation kept to be told. Passes are functions of graph and switches: what they saw,
//! decided and refused is what they say when they run again with everything noted. So keeping costs
//! next to nothing, whoever looks pays for looking, and a plan that was known has its story too.
//!
//! In: a recorded graph and the switches it was compiled under. Kept: the graph, which the
//! evaluation has anyway, and eight bytes a pass. Never: the arrays, once nothing else needs them.

use super::phrase;
use super::price::{self, Prices};
use super::{Observer, Options, PIPELINE, compile};
use aplomb_ground::error::Result;
use aplomb_ground::limits::{Budget, Interrupt};
use aplomb_ground::trace::{Config, Trace};
use aplomb_plans::plan::Plan;
use aplomb_values::array::{Array, Buf, DType};
use aplomb_values::dag::{NodeId, Recorded};
use std::rc::Rc;
use std::sync::Arc;

/// The graph and the options of an evaluation, from which its story can be told again.
pub struct Log {
    recorded: Rc<Recorded>,
    options: Options,
    /// The time that each pass took, in milliseconds; none where the plan was known.
    ms: Vec<f64>,
    /// The names of inputs, where those are other than the graph has.
    names: Vec<(NodeId, Rc<str>)>,
}

/// Plans that could be made while a story is told: its passes note what they saw, and its launches
/// are written in CUDA.
const TELLING: usize = 4;

/// Notes what each pass takes, by another's clock.
pub struct Timed<'a> {
    /// The clock.
    pub clock: &'a mut dyn Observer,
    /// The milliseconds of each pass so far.
    pub ms: Vec<f64>,
}

impl Observer for Timed<'_> {
    fn begin(&mut self, pass: &'static str) {
        self.clock.begin(pass);
    }

    fn end(&mut self, pass: &'static str) -> f64 {
        let ms = self.clock.end(pass);
        self.ms.push(ms);
        ms
    }

    fn interrupt(&self) -> Interrupt {
        self.clock.interrupt()
    }
}

impl Log {
    /// The log of an evaluation.
    pub fn new(recorded: &Rc<Recorded>, options: &Options, ms: Vec<f64>) -> Log {
        let names = Vec::new();
        Log { recorded: recorded.clone(), options: options.clone(), ms, names }
    }

    /// The graph as it was recorded.
    pub fn recorded(&self) -> &Recorded {
        &self.recorded
    }

    /// The inputs that nodes read, each with the texts of what reads it: `x×1↓x`.
    pub fn readers(&self) -> Vec<(NodeId, Vec<String>)> {
        let dag = &self.recorded.dag;
        let mut of: Vec<Vec<String>> = dag.ids().map(|_| Vec::new()).collect();
        for at in dag.ids() {
            let inputs = dag.node(at).inputs();
            if let Some(place) = &dag.info(at).meta.place
                && inputs.iter().any(|a| dag.node(*a).is_input())
            {
                let text = phrase::text(place);
                inputs.iter().for_each(|a| of[a.index()].push(text.clone()));
            }
        }
        let inputs = dag.ids().zip(of);
        inputs.filter(|(at, _)| dag.node(*at).is_input()).collect()
    }

    /// Inputs are told by these names.
    pub fn set_names(&mut self, names: Vec<(NodeId, Rc<str>)>) {
        self.names = names;
    }

    /// The evaluation, to be run again.
    pub fn evaluation(&self) -> (Rc<Recorded>, Options) {
        (self.recorded.clone(), self.options.clone())
    }

    /// The switches that it was compiled under.
    pub fn config(&self) -> Config {
        super::export::config(&self.options)
    }

    /// The number of nodes of that graph.
    pub fn nodes(&self) -> usize {
        self.recorded.dag.len()
    }

    /// The room that telling it takes of a story: so many plans' of its graph.
    pub fn room(&self) -> usize {
        TELLING.saturating_mul(price::room(self.nodes()))
    }

    /// The story and the plan it is of; with `prices`, decisions have the plans of their other
    /// ways, as long as there is room.
    /// `clock` times the passes of a plan that was known. Errors: those of `compile`, which has
    /// compiled this before.
    pub fn tell(
        &self,
        clock: &mut dyn Observer,
        prices: Option<&mut Prices>,
    ) -> Result<(Trace, Rc<Plan>)> {
        let mut options = self.options.clone();
        options.trace = true;
        let named = self.named();
        let recorded = named.as_ref().map_or(&*self.recorded, |own| own);
        let mut told = compile(recorded, &options, clock)?;
        let mut trace = std::mem::take(&mut told.trace);
        if self.ms.len() == PIPELINE.len() {
            trace.passes.iter_mut().zip(&self.ms).for_each(|(pass, ms)| pass.ms = *ms);
        }
        if let Some(prices) = prices {
            let made = (recorded, &self.options, &told);
            price::all(made, &mut trace.decisions, prices, clock);
        }
        Ok((trace, told.plan))
    }

    /// The evaluation with the names of its inputs; None: it has them.
    fn named(&self) -> Option<Recorded> {
        let is_new = |(at, name): &&(NodeId, Rc<str>)| {
            self.recorded.dag.info(*at).name.as_ref() != Some(name)
        };
        let mut new = self.names.iter().filter(is_new).peekable();
        new.peek()?;
        let mut named = (*self.recorded).clone();
        new.for_each(|(at, name)| named.dag.info_mut(*at).name = Some(name.clone()));
        Some(named)
    }

    /// Lets go of the arrays, where nobody else holds the graph: to be told, their types are
    /// enough.
    pub fn let_go(&mut self) {
        if let Some(own) = Rc::get_mut(&mut self.recorded) {
            own.inputs = stand_ins(own);
        }
    }
}

/// Lets go of an evaluation's arrays, whoever else holds it: it can be told still, and run no more.
pub fn let_go(recorded: &mut Rc<Recorded>) {
    let inputs = stand_ins(recorded);
    match Rc::get_mut(recorded) {
        Some(own) => own.inputs = inputs,
        None => *recorded = Rc::new(Recorded { inputs, ..(**recorded).clone() }),
    }
}

fn stand_ins(recorded: &Recorded) -> Vec<Array> {
    recorded.inputs.iter().map(|a| stand_in(a.dtype())).collect()
}

/// An array of a type, and of nothing.
fn stand_in(dtype: DType) -> Array {
    let budget = Budget::new(u64::MAX);
    Buf::stored(&[], dtype, &budget)
        .map_or(Array::num(0.0), |buffer| Array::dense(vec![0], Arc::new(buffer)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::NoClock;
    use crate::pass::tests::recorded;

    #[test]
    fn what_is_told_later_is_what_was_noted_at_once() {
        let term = "(add (mul 2.5 x:f32[9]) (reduce-add 0 y:i8[9]))";
        let options = Options { trace: true, ..Options::default() };
        let at_once =
            compile(&recorded(&[term]), &options, &mut NoClock).unwrap_or_else(|e| panic!("{e}"));
        let own = Rc::new(recorded(&[term]));
        let mut log = Log::new(&own, &Options::default(), Vec::new());
        drop(own);
        log.let_go();
        assert!(log.recorded().inputs.iter().all(Array::is_empty));
        let (told, plan) = log.tell(&mut NoClock, None).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(told, at_once.trace);
        assert_eq!(plan.launches.len(), at_once.plan.launches.len());
    }
}

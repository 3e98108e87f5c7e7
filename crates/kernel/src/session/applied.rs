//! A function applied to arguments without values: the graph of what it would compute.
//!
//! Nothing is computed. The arguments are pending, so whatever looks at their values (a guard, a
//! shape, an effect) is seen, and the function is refused by the place of that.

use super::Session;
use super::record::Clock;
use super::world::World;
use aplomb_compiler::pass::{Answer, Options, compile};
use aplomb_export::{Applied, Argument, Declaration, Given, Home, Planned};
use aplomb_ground::error::{Error, Result, bug, value};
use aplomb_ground::span::{Place, Source, Span};
use aplomb_language::eval::cx::Effect;
use aplomb_language::eval::value::Value;
use aplomb_plans::plan::{From, Plan};
use aplomb_values::array::{Array, Buf, DType, Data};
use aplomb_values::dag::{Cell, Dag, NodeId, Recorded};
use aplomb_values::prim::op::Op;
use std::rc::Rc;
use std::sync::Arc;

/// The name of the text that calls the function.
const CALL: &str = "call";

impl Session {
    /// The graph that a function makes of arguments as a declaration tells them, its free extents
    /// so large. The workspace is left alone. Errors: the function's own, and DOMAIN where values
    /// decide what it does.
    pub fn applied(&mut self, name: &str, takes: &Declaration, sizes: &[usize]) -> Result<Applied> {
        self.aside(|session| {
            session.core.begin();
            let done = session.apply_to(name, takes, sizes);
            session.core.end();
            done
        })
    }

    fn apply_to(&mut self, name: &str, takes: &Declaration, sizes: &[usize]) -> Result<Applied> {
        let asked = Source::new("export", format!("{name} {}", takes.text));
        let asked = Place::new(&asked, Span::new(0, name.chars().count() as u32));
        let (text, place) = match self.interp.get(name) {
            Some(Value::Func(f)) => match f.place() {
                Some(place) => (f.text(), place),
                // It is made of others.
                None => (f.text(), asked),
            },
            Some(_) => return Err(value(format!("{name} is no function")).at(&asked)),
            None => return Err(value(format!("there is no function {name}")).at(&asked)),
        };
        let leaves = self.leaves(takes, sizes)?;
        self.interp.set_ahead(true);
        let mut left = 0..leaves.len();
        let words: Vec<String> = takes.arguments.iter().map(|a| written(a, &mut left)).collect();
        let call = match &words[..] {
            [right] => format!("{name} {right}"),
            [left, right] => format!("{left} {name} {right}"),
            _ => return Err(bug!("a function of {} arguments", words.len())),
        };
        let call = Source::new(CALL, call.as_str());
        let home = Home { name: name.into(), text, place, call };
        self.recorded(home.clone(), takes, sizes, &leaves).map_err(|e| home.placed(e))
    }

    /// The graph of a call.
    fn recorded(
        &mut self,
        home: Home,
        takes: &Declaration,
        sizes: &[usize],
        leaves: &[Array],
    ) -> Result<Applied> {
        let mut world = World::new(&mut self.core, None, true).dry();
        let made = self.interp.eval_value(&home.call, &mut world);
        let made = match (made, self.interp.effect(), self.core.take_forced().pop()) {
            (_, Some(effect), _) => return Err(with_effect(&home, &effect)),
            (Err(error), _, None) => return Err(at_sizes(error, takes, sizes)),
            (_, _, Some(forced)) => return Err(looked_at(&home, &forced.recorded)),
            (Ok(made), ..) => made.ok_or_else(|| home.refused("it gives no value"))?,
        };
        let made = self.opened(&made)?;
        let (results, several) = items(&home, &made)?;
        let mut world = World::new(&mut self.core, None, true).dry();
        // Nothing is computed, but what would be is known then.
        let _ = self.interp.force(&[&made], "display", &mut world);
        let forced = self.core.take_forced().pop();
        let recorded = forced.ok_or_else(|| bug!("a pending result forces nothing"))?.recorded;
        let input = |leaf: &Array| {
            let same = |a: &Array| match (a.data(), leaf.data()) {
                (Data::Dense(a), Data::Dense(b)) => Arc::ptr_eq(a, b),
                _ => false,
            };
            recorded.inputs.iter().position(same)
        };
        let leaves = leaves.iter().map(input).collect();
        Ok(Applied { recorded, leaves, results, several, home })
    }

    /// The launches of what a function makes of such arguments, as the session's options have
    /// them. Errors: those of `applied`, and of the compiler.
    pub fn planned(&mut self, name: &str, takes: &Declaration, sizes: &[usize]) -> Result<Planned> {
        let applied = self.applied(name, takes, sizes)?;
        let recorded = with_inputs(&applied, takes, sizes)?;
        let mut options: Options = self.core.options().clone();
        options.trace = true;
        let mut clock = Clock::new(&self.core.interrupt);
        let compiled = compile(&recorded, &options, &mut clock)?;
        let mut plan = Plan::clone(&compiled.plan);
        for buffer in plan.buffers.iter_mut().filter(|b| matches!(b.from, From::Launch(_))) {
            // Which of them hold a whole number depends on values.
            if buffer.dtype.is_integer() && buffer.dtype != DType::Bool {
                (buffer.dtype, buffer.checked) = (DType::F64, false);
            }
        }
        let given = |root: &usize| {
            Ok(match compiled.answers.get(*root) {
                Some(Answer::Computed(k)) => Given::Buffer(plan.roots[*k]),
                Some(Answer::Input(k)) => Given::Input(*k),
                Some(Answer::Scalar(_, x)) => Given::Number(x.number()),
                None => return Err(bug!("a root without an answer")),
            })
        };
        let results = applied.results.iter().map(given).collect::<Result<_>>()?;
        let Applied { leaves, home, .. } = applied;
        let inputs = recorded.inputs;
        Ok(Planned { plan, leaves, inputs, results, home, trace: compiled.trace })
    }

    /// A result in which numbers that hang on no argument are something to compute, as all else
    /// is: they may follow from extents.
    fn opened(&mut self, made: &Array) -> Result<Array> {
        self.interp.set_record_all(true);
        let opened = match made.data() {
            Data::Items(all) if all.split().is_none() => {
                let items = all.iter().map(|a| self.open(&a)).collect::<Result<Vec<_>>>()?;
                Array::collect(made.shape(), items, all.proto.clone(), &self.core.budget)
            }
            _ => self.open(made),
        };
        self.interp.set_record_all(false);
        opened
    }

    fn open(&mut self, a: &Array) -> Result<Array> {
        match a.number_scalar() {
            Some(x) if a.pending().is_none() && a.rank() == 0 => {
                let item = Array::dense([1].as_slice(), Arc::new(Buf::uncounted(&[x], DType::F64)));
                self.spread_out(&named(0), &item, &[])
            }
            None if a.is_plain() && !a.is_char() && a.pending().is_none() => {
                let mut world = World::new(&mut self.core, None, true).dry();
                self.interp.pending(a, &mut world)
            }
            _ => Ok(a.clone()),
        }
    }

    /// One item everywhere in an array of this shape, which the name then has, and that nobody
    /// may look behind.
    fn spread_out(&mut self, name: &str, item: &Array, shape: &[usize]) -> Result<Array> {
        let mut world = World::new(&mut self.core, None, true).dry();
        let pending = self.interp.pending(item, &mut world)?;
        self.interp.set(name, Value::Array(pending));
        let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
        let shape = if shape.is_empty() { "⍬".into() } else { shape.join(" ") };
        let text = Source::new("declaration", format!("{shape}⍴{name}"));
        let spread = self.interp.eval_value(&text, &mut world)?;
        let whole = spread.ok_or_else(|| bug!("a reshape gives no value"))?;
        let whole = self.interp.pending(&whole, &mut world)?;
        self.interp.set(name, Value::Array(whole.clone()));
        Ok(whole)
    }

    /// The arguments' arrays, each under a name: one item that is everywhere, so that extents cost
    /// nothing, behind an operation that leaves it as it is and that nobody may look behind.
    fn leaves(&mut self, takes: &Declaration, sizes: &[usize]) -> Result<Vec<Array>> {
        self.interp.set_record_all(true);
        let mut out = Vec::new();
        for (k, leaf) in takes.leaves().into_iter().enumerate() {
            let item = Buf::uncounted(&[0.0], leaf.dtype);
            let item = Array::dense([1].as_slice(), Arc::new(item));
            self.spread_out(&named(k), &item, &takes.shape(leaf, sizes))?;
            out.push(item);
        }
        self.interp.set_record_all(false);
        Ok(out)
    }
}

/// The name of the k-th array of the arguments while the function is applied.
fn named(k: usize) -> String {
    format!("⍙∆{k}")
}

/// The graph with inputs of the arguments' shapes where each was one item, spread out.
fn with_inputs(applied: &Applied, takes: &Declaration, sizes: &[usize]) -> Result<Recorded> {
    let old = &applied.recorded;
    let dag = &old.dag;
    // For each node the leaf that it is, and the one item of that.
    let mut leaf: Vec<Option<(usize, NodeId)>> = Vec::new();
    for at in dag.ids() {
        let node = dag.node(at);
        let own = match node.inputs() {
            [src] if node.read().is_some() => spread(dag, *src).and_then(|item| {
                let input = dag.node(item).input().map(|k| k as usize);
                applied.leaves.iter().position(|l| *l == input && input.is_some()).zip(Some(item))
            }),
            [src] if is_conjugate(dag, at) => leaf[src.index()],
            _ => None,
        };
        leaf.push(own);
    }
    let mut wanted: Vec<bool> = dag.ids().map(|at| old.roots.contains(&at)).collect();
    for at in dag.ids().rev().filter(|at| leaf[at.index()].is_none()) {
        if wanted[at.index()] {
            dag.node(at).inputs().iter().for_each(|a| wanted[a.index()] = true);
        }
    }
    let leaves = takes.leaves();
    let mut made: Vec<Option<NodeId>> = dag.ids().map(|_| None).collect();
    let mut inputs: Vec<Option<NodeId>> = leaves.iter().map(|_| None).collect();
    let mut out = Dag::default();
    for at in dag.ids().filter(|at| wanted[at.index()]) {
        let mut info = dag.info(at).clone();
        let own = |a: &NodeId| made[a.index()].ok_or_else(|| bug!("a node before its own"));
        let new = match leaf[at.index()] {
            Some((k, item)) => match inputs[k] {
                Some(known) => known,
                None => {
                    info.name = None;
                    info.meta.range = None;
                    info.meta.dtype = leaves[k].dtype;
                    info.meta.shape = takes.shape(leaves[k], sizes).into();
                    let new = out.add(dag.node(item).try_map_inputs(own)?, info);
                    inputs[k] = Some(new);
                    new
                }
            },
            None => out.add(dag.node(at).try_map_inputs(own)?, info),
        };
        made[at.index()] = Some(new);
    }
    let roots = old.roots.iter().filter_map(|r| made[r.index()]).collect();
    let (inputs, needed) = (old.inputs.clone(), old.needed.clone());
    let (why, kept_ns, written) = (old.why, Vec::new(), Vec::new());
    Ok(Recorded { dag: out, roots, checked: 0, kept_ns, written, inputs, why, needed })
}

/// The input whose one item a transform of this source spreads out.
fn spread(dag: &Dag, src: NodeId) -> Option<NodeId> {
    let item = dag.node(src).inputs().first().copied().filter(|_| is_conjugate(dag, src))?;
    dag.node(item).is_input().then_some(item)
}

fn is_conjugate(dag: &Dag, at: NodeId) -> bool {
    dag.node(at).facts().operation() == Some(Op::Conj)
}

fn written(argument: &Argument, left: &mut std::ops::Range<usize>) -> String {
    match argument {
        Argument::One(_) => left.next().map(named).into_iter().collect(),
        Argument::Several(more) => {
            let all: Vec<String> = more.iter().map(|a| written(a, left)).collect();
            match &all[..] {
                [one] => format!("(,⊂{one})"),
                all => format!("({})", all.join(" ")),
            }
        }
    }
}

/// The error where a function does more than give a value.
fn with_effect(home: &Home, effect: &Effect) -> Error {
    let error = home.refused(&format!("it has an effect ({})", effect.what));
    match &effect.place {
        Some(place) => error.at(place),
        None => error,
    }
}

/// An error of the function's own, with the extents that it met.
fn at_sizes(error: Error, takes: &Declaration, sizes: &[usize]) -> Error {
    let free = takes.free();
    if error.parts().hint.is_some() || free.is_empty() {
        return error;
    }
    let all: Vec<String> = free.iter().zip(sizes).map(|(l, n)| format!("{l}={n}")).collect();
    error.hint(format!("it was tried with {}; an extent that is a number is fixed", all.join(", ")))
}

/// The error where values decide.
fn looked_at(home: &Home, recorded: &Recorded) -> Error {
    let why = recorded.why;
    let error = home
        .refused(&format!("what it does hangs on values ({why})"))
        .hint("conditions, recursion, shapes and effects may hang on shapes alone");
    match &recorded.needed {
        Some(place) => error.at(place),
        None => error,
    }
}

/// The root that each item of a result is, roots counted as forcing meets them.
fn items(home: &Home, made: &Array) -> Result<(Vec<usize>, bool)> {
    let mut roots: Vec<*const Cell> = Vec::new();
    let mut root = |a: &Array| {
        let cell = a
            .pending()
            .map(Rc::as_ptr)
            .ok_or_else(|| home.refused("a part of its result is no array of numbers"))?;
        let known = roots.iter().position(|r| *r == cell);
        if known.is_none() {
            roots.push(cell);
        }
        Ok(match known {
            Some(k) => k,
            None => roots.len() - 1,
        })
    };
    match made.data() {
        Data::Items(all) => match all.split() {
            Some(rows) => Ok((vec![root(&rows.node)?], false)),
            None => Ok((all.iter().map(|a| root(&a)).collect::<Result<_>>()?, true)),
        },
        _ => Ok((vec![root(made)?], false)),
    }
}

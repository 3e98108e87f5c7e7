//! A function applied to arguments without values: the graph of what it would compute.
//!
//! Nothing is computed. The arguments are pending, so whatever looks at their values (a guard, a
//! shape, an effect) is seen, and the function is refused by the place of that.

use super::Session;
use super::world::World;
use aplomb_export::{Applied, Argument, Declaration};
use aplomb_ground::error::{Error, Result, bug, domain, value};
use aplomb_ground::span::Source;
use aplomb_language::eval::value::Value;
use aplomb_values::array::{Array, Buf, Data};
use aplomb_values::dag::{Cell, Recorded};
use std::rc::Rc;
use std::sync::Arc;

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
        let source = match self.interp.get(name) {
            Some(Value::Func(f)) => f.text(),
            Some(_) => return Err(value(format!("{name} is no function"))),
            None => return Err(value(format!("there is no function {name}"))),
        };
        let leaves = self.leaves(takes, sizes)?;
        self.interp.set_ahead(true);
        let mut left = 0..leaves.len();
        let words: Vec<String> = takes.arguments.iter().map(|a| written(a, &mut left)).collect();
        let text = match &words[..] {
            [right] => format!("{name} {right}"),
            [left, right] => format!("{left} {name} {right}"),
            _ => return Err(bug!("a function of {} arguments", words.len())),
        };
        let drawn = self.interp.drawn();
        let mut world = World::new(&mut self.core, None, true).dry();
        let made = self.interp.eval_value(&Source::new(name, text.as_str()), &mut world);
        let touched = world.touched().or((self.interp.drawn() != drawn).then_some("?"));
        let made = match (made, touched, self.core.take_forced().pop()) {
            (_, Some(what), _) => return Err(refused(name, &format!("it has an effect ({what})"))),
            (Err(error), _, None) => return Err(at_sizes(error, takes, sizes)),
            (_, _, Some(forced)) => return Err(looked_at(name, &forced.recorded)),
            (Ok(made), ..) => made.ok_or_else(|| refused(name, "it gives no value"))?,
        };
        let (results, several) = items(name, &made)?;
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
        Ok(Applied { recorded, leaves, results, several, source })
    }

    /// The arguments' arrays, each under a name: one item that is everywhere, so that extents cost
    /// nothing, behind an operation that leaves it as it is and that nobody may look behind.
    fn leaves(&mut self, takes: &Declaration, sizes: &[usize]) -> Result<Vec<Array>> {
        self.interp.set_record_all(true);
        let mut world = World::new(&mut self.core, None, true).dry();
        let mut out = Vec::new();
        for (k, leaf) in takes.leaves().into_iter().enumerate() {
            let item = Buf::uncounted(&[0.0], leaf.dtype);
            let item = Array::dense([1].as_slice(), Arc::new(item));
            let pending = self.interp.pending(&item, &mut world)?;
            self.interp.set(&named(k), Value::Array(pending));
            let shape = takes.shape(leaf, sizes);
            let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
            let text = match &shape[..] {
                [] => format!("⍬⍴{}", named(k)),
                all => format!("{}⍴{}", all.join(" "), named(k)),
            };
            let spread = self.interp.eval_value(&Source::new("declaration", text), &mut world)?;
            let spread = spread.ok_or_else(|| bug!("a reshape gives no value"))?;
            let whole = self.interp.pending(&spread, &mut world)?;
            self.interp.set(&named(k), Value::Array(whole));
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

fn refused(name: &str, says: &str) -> Error {
    domain(format!("{name} cannot be exported: {says}"))
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
fn looked_at(name: &str, recorded: &Recorded) -> Error {
    let why = recorded.why;
    let error = refused(name, &format!("what it does hangs on values ({why})"))
        .hint("conditions, recursion, shapes and effects may hang on shapes alone");
    match &recorded.needed {
        Some(place) => error.at(place),
        None => error,
    }
}

/// The root that each item of a result is, roots counted as forcing meets them.
fn items(name: &str, made: &Array) -> Result<(Vec<usize>, bool)> {
    let mut roots: Vec<*const Cell> = Vec::new();
    let mut root = |a: &Array| {
        let cell = a.pending().map(Rc::as_ptr).ok_or_else(|| {
            refused(name, "a part of its result is the same whatever its arguments are")
        })?;
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

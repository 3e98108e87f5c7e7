//! Formulas: the steps of a launch's body in APL's notation, as stories show them.
//!
//! Row: ACC-13. `(1+A[i])×A[4-i]`: an array in memory with the index of the element, operations in
//! APL's order (the right side needs no brackets), what lies outside behind a bar.

use super::decide;
use aplomb_plans::plan::{Buffer, Launch, Step, What};
use aplomb_values::array::format::short as number;
use aplomb_values::body::ValueId;
use aplomb_values::dag::{Dag, NodeId, Read, Test};
use aplomb_values::prim::op::Op;
use std::collections::BTreeMap;

/// The number of terms of a function that are written.
const LONGEST: usize = 40;

/// One list of a launch's steps, with the names of what it reads.
pub struct Formulas<'a> {
    pub dag: &'a Dag,
    pub launch: &'a Launch,
    /// The body's, or those behind the fold.
    pub steps: &'a [Step],
    /// By buffer: the node that it holds.
    pub buffers: &'a [Buffer],
    /// The values that are written to memory too: to their readers they are arrays.
    pub stored: BTreeMap<ValueId, NodeId>,
}

impl Formulas<'_> {
    /// Whether a value is read as an array though this launch makes it.
    pub fn is_stored(&self, value: ValueId) -> bool {
        self.stored.contains_key(&value)
    }

    /// Whether a load reads an array: not a scalar, unless all there is are scalars.
    pub fn is_array(&self, load: u32) -> bool {
        !self.dag.shape(self.loaded(load)).is_empty() || self.launch.domain.is_empty()
    }

    /// The node whose elements a load reads.
    fn loaded(&self, load: u32) -> NodeId {
        self.buffers[self.launch.loads[load as usize].buf.0 as usize].node
    }

    /// The node whose array a value reads, or is.
    fn array(&self, value: ValueId) -> NodeId {
        let step = &self.steps[value as usize];
        match (step.what.load(), self.stored.get(&value)) {
            (Some(load), _) => self.loaded(load),
            (None, Some(at)) => *at,
            // A fold's value is from its node.
            (None, None) => step.from.node,
        }
    }

    /// The shape of the array that a value reads.
    pub fn shape(&self, value: ValueId) -> &[usize] {
        self.dag.shape(self.array(value))
    }

    /// The read of a value's array: its own place, or the one that the load tells.
    pub fn read(&self, value: ValueId) -> Read {
        match self.steps[value as usize].what.load() {
            Some(load) => self.launch.loads[load as usize].read.clone(),
            None => Read::identity(self.shape(value).len()),
        }
    }

    /// Whether values add to the place at which a value's array is read.
    pub fn is_moved(&self, value: ValueId) -> bool {
        matches!(&self.steps[value as usize].what, What::Gather { along, .. } if !along.is_empty())
    }

    /// The terms that values add to that place, by axis.
    pub fn moved_by(&self, value: ValueId) -> Vec<(usize, String)> {
        self.along(&self.steps[value as usize].what, None, &mut { LONGEST })
    }

    /// The text of what values add to the place of each axis: `+I[i]`.
    fn along(&self, what: &What, x: Option<ValueId>, room: &mut usize) -> Vec<(usize, String)> {
        let What::Gather { along, places, .. } = what else { return Vec::new() };
        let term = |(how, value): (&aplomb_values::dag::Along, &ValueId), room: &mut usize| {
            let value = self.written(*value, x, room).bracketed();
            let (sign, by) = if how.times < 0 { ("-", -how.times) } else { ("+", how.times) };
            let text =
                if by == 1 { format!("{sign}{value}") } else { format!("{sign}{by}×{value}") };
            (how.axis as usize, text)
        };
        along.iter().zip(places).map(|pair| term(pair, room)).collect()
    }

    /// The value as a formula, one array's element as x.
    pub fn text(&self, value: ValueId, x: Option<ValueId>) -> String {
        // Nobody reads the value itself from memory.
        self.made(value, x, &mut { LONGEST }).text
    }

    fn written(&self, value: ValueId, x: Option<ValueId>, room: &mut usize) -> Formula {
        if x == Some(value) {
            return Formula::atom("x");
        }
        match self.stored.get(&value) {
            Some(at) => {
                let read = Read::identity(self.dag.shape(*at).len());
                self.element(*at, &read, &[])
            }
            None => self.made(value, x, room),
        }
    }

    fn made(&self, value: ValueId, x: Option<ValueId>, room: &mut usize) -> Formula {
        if *room == 0 {
            return Formula::atom("…");
        }
        *room -= 1;
        let step = &self.steps[value as usize];
        let mut all = |args: &[ValueId]| -> Vec<Formula> {
            args.iter().map(|v| self.written(*v, x, room)).collect()
        };
        let called = |args: Vec<Formula>| {
            let args: Vec<String> = args.into_iter().map(|a| a.text).collect();
            let glyph = decide::glyph(self.dag, step.from.node);
            Formula::phrase(format!("{glyph}({})", args.join(", ")))
        };
        match &step.what {
            What::Load(_) | What::Gather { .. } | What::Reduced(_) => {
                let along = self.along(&step.what, x, room);
                self.element(self.array(value), &self.read(value), &along)
            }
            What::Const(_) => Formula::atom(decide::glyph(self.dag, step.from.node)),
            What::Index { ix, origin } if ix.is_constant() => {
                Formula::atom(number(ix.c as f64 + *origin))
            }
            What::Index { ix, origin } => {
                let whole = *origin == origin.trunc() && origin.abs() < 1e9;
                let text = match whole {
                    true => ix.offset(*origin as i64).text(),
                    false => format!("{}+{}", number(*origin), ix.text()),
                };
                let alone = ix.is_axis(0) && *origin == 0.0;
                Formula::atom(if alone { text } else { format!("({text})") })
            }
            What::Op { op, args, .. } => operation(*op, &all(args)),
            What::Guard { tests, value } => {
                let value = &all(&[*value])[0].text;
                let tests = outside(&self.launch.guards[*tests as usize]);
                Formula::atom(format!("({value}{tests})"))
            }
            What::Part { tests, yes, no } => {
                let sides = all(&[*yes, *no]);
                let tests = inside(&self.launch.guards[*tests as usize]);
                Formula::atom(format!("({tests} ? {} : {})", sides[0].text, sides[1].text))
            }
            What::Select { cond, yes, no } => {
                let parts = all(&[*cond, *yes, *no]);
                let [cond, yes, no] = [0, 1, 2].map(|k: usize| &parts[k].text);
                Formula::atom(format!("({cond} ? {yes} : {no})"))
            }
            What::Loop { args, .. } => called(all(args)),
            What::State { of, .. } => match &self.steps[*of as usize].what {
                What::Loop { args, .. } => called(all(args)),
                _ => called(all(&[*of])),
            },
            What::Arg(k) => Formula::atom(format!("argument {k}")),
        }
    }

    fn element(&self, at: NodeId, read: &Read, along: &[(usize, String)]) -> Formula {
        let name = self.dag.info(at).name.as_ref();
        let name = name.map_or(format!("n{}", at.index()), |n| n.to_string());
        Formula::atom(match read.ix.is_empty() && read.tests.is_empty() {
            true => name,
            false => format!("{name}[{}]", places(read, along)),
        })
    }
}

/// `4-i`, `j, i`, `I[i]`, with what is outside behind a bar.
pub fn places(read: &Read, along: &[(usize, String)]) -> String {
    let place = |(axis, ix): (usize, &aplomb_values::dag::ix::Ix)| {
        let mut text = if ix.is_constant() && ix.c == 0 { String::new() } else { ix.text() };
        for (_, term) in along.iter().filter(|(k, _)| *k == axis) {
            text += if text.is_empty() { term.trim_start_matches('+') } else { term };
        }
        if text.is_empty() { "0".into() } else { text }
    };
    let ix: Vec<String> = read.ix.iter().enumerate().map(place).collect();
    ix.join(", ") + &outside(&read.tests)
}

/// ` | 0≤i-1<5 else 0`: where an element exists, and what stands elsewhere.
fn outside(tests: &[Test]) -> String {
    let all = tests
        .iter()
        .map(|t| format!(" | {}≤{}<{} else {}", t.lo, t.ix.text(), t.hi, number(t.fill)));
    all.collect()
}

/// `0≤i<3 and 0≤j<4`.
fn inside(tests: &[Test]) -> String {
    let all = tests.iter().map(|t| format!("{}≤{}<{}", t.lo, t.ix.text(), t.hi));
    all.collect::<Vec<_>>().join(" and ")
}

fn operation(op: Op, args: &[Formula]) -> Formula {
    Formula::phrase(match (op, args) {
        (Op::Sqrt, [x]) => format!("{}*0.5", x.bracketed()),
        (_, [x]) => format!("{}{}", op.glyph(), x.text),
        (_, [x, y]) => format!("{}{}{}", x.bracketed(), op.glyph(), y.text),
        _ => op.glyph(),
    })
}

/// A written expression, and whether it can stand left of a function as it is: a name, a number,
/// `x[…]`, brackets.
struct Formula {
    text: String,
    is_atom: bool,
}

impl Formula {
    fn atom(text: impl Into<String>) -> Formula {
        Formula { text: text.into(), is_atom: true }
    }

    fn phrase(text: String) -> Formula {
        Formula { text, is_atom: false }
    }

    fn bracketed(&self) -> String {
        if self.is_atom { self.text.clone() } else { format!("({})", self.text) }
    }
}

//! Loops on numbers as arrays: each instruction once for all turns.
//!
//! A turn of most loops reads items at its own place, computes, and adds to a number, puts an
//! item behind a list or sets the one at its place; it sees no other turn. Then a register *is* an
//! array, with an axis for each loop around, and the instructions are operations on arrays: the
//! loop is a launch. A condition parts the turns; what both ways give is chosen where they meet.
//!
//! Why the result is the same: operations on arrays are `scalar::eval` on each item, as the
//! instructions are. Whole numbers have one sum, whatever the order is; floats are added one after
//! the other, here. A name that a turn reads before it gives it a value, an item that another turn
//! may have set, and whatever fails in some turn, even in one that does not come to it, is refused,
//! and nothing has happened: the turns go one by one. So a loop is not tried here before it has
//! been machine code, which it is again as soon as it was refused.

mod ends;
mod rows;
mod steps;
mod until;
mod values;
mod ways;

use super::LoopAt;
use super::form::Class;
use super::loops::Loop;
use super::program::{List, Program};
use crate::eval::run::{At, Eval};
use crate::eval::value::Value;
use aplomb_ground::error::{Error, Result, untraced};
use aplomb_values::array::{Array, View};
use aplomb_values::prim::op::Op;
use aplomb_values::registers::Do;

/// Fewer turns, those of loops within among them, are not worth a launch.
const LEAST: usize = 1 << 12;
/// More are not held at once.
const MOST: usize = 1 << 21;
/// Loops in each other.
const DEEP: usize = 3;
/// A loop that was refused so often is not tried again.
const TRIES: u8 = 2;
/// Whole numbers up to here are added up without rounding, whatever the order is.
const EXACT: f64 = (1u64 << 52) as f64;

/// A value of all turns.
#[derive(Clone)]
enum Val {
    /// An array with the axes of the loops around, or of the first of them, or one number for all.
    Is(Array),
    /// Whole numbers that grow by the same each turn of a loop, as its places do by one.
    Count { level: usize, from: f64, by: f64 },
    /// A name as the turn before left it.
    Carried(u16),
    /// `slot op y`, of a name that the turn before left.
    Folded { slot: u16, op: Op, y: Array },
    /// A place in a matrix.
    Cell { of: u16, at: [Place; 2] },
}

/// A place from 0 on along an axis of a list.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// So many more in each turn of a loop.
    Turn { level: usize, from: i64, by: i64 },
    /// The same in each.
    One(i64),
    /// All of them: a row, or a column.
    All,
}

/// A thing that a turn does to a name that other turns do something to.
#[derive(Clone, PartialEq)]
enum What {
    Append(u16),
    /// A row behind those of a matrix.
    AddRow(u16),
    Set {
        of: u16,
        at: Vec<Place>,
        op: Option<Op>,
    },
    /// An item at a place that no loop counts.
    Put {
        of: u16,
        op: Option<Op>,
    },
    Fold {
        slot: u16,
        op: Op,
        whole: bool,
    },
}

/// A condition that turns come through, and how many events were there before.
#[derive(Clone)]
struct Way {
    cond: Array,
    holds: bool,
    events: usize,
}

#[derive(Clone)]
struct Event {
    what: What,
    path: Vec<Way>,
    y: Array,
    /// The number of loops around.
    depth: usize,
    /// The number of its items in each turn, if it is a vector.
    wide: Option<usize>,
    /// The place of an item.
    at: Option<Array>,
}

/// The turns that come to a step.
#[derive(Clone)]
struct State {
    path: Vec<Way>,
    registers: Vec<Option<Val>>,
    fixed: Vec<Option<Val>>,
    /// The vectors that turns have made, as lists of their own, and in the program's: with an axis
    /// for their items behind those of the loops.
    own: Vec<Option<Array>>,
    filled: Vec<Option<Array>>,
    /// Lists that this turn has cut.
    cut: Vec<u16>,
    events: Vec<Event>,
}

/// The steps of a turn: from the first one to the jump back, which is to the loop's head.
#[derive(Clone, Copy)]
struct Plan {
    head: usize,
    first: usize,
    end: usize,
}

struct Turns<'e, 'h> {
    ev: &'e mut Eval<'h>,
    steps: &'e [Do],
    lists: Vec<Option<Array>>,
    classes: Vec<Class>,
    io: f64,
    /// The turns of the loops under way, and of all that were.
    extents: Vec<usize>,
    seen: Vec<usize>,
    /// Items that were read at places of turns, and lists that were read otherwise.
    reads: Vec<(u16, Vec<Place>)>,
    others: Vec<u16>,
    /// Lists whose lengths were asked for.
    tallied: Vec<u16>,
    /// Lists of the program that turns fill.
    written: Vec<u16>,
    /// Lists that each turn cuts.
    walks: Vec<until::Walk>,
    /// Turns, or items of vectors in all of them, that are worked on at once.
    widest: usize,
}

fn refuse<T>(why: &str) -> Result<T> {
    Err(refused(why))
}

fn refused(why: &str) -> Error {
    untraced(why)
}

/// Whether turns of a loop go round themselves, or work on vectors.
pub(super) fn has_long_turns(program: &Program) -> bool {
    let long = |step: &Do| {
        matches!(step, Do::CountOn { .. } | Do::Over { .. } | Do::All(_) | Do::List(..))
    };
    program.code.first().is_some_and(|function| function.steps.iter().any(long))
}

impl Eval<'_> {
    /// All turns of a loop over items that begins, as operations on arrays. False: they are no such
    /// turns, or not worth it, and nothing has happened. Errors: INTERRUPT.
    pub(in crate::eval) fn turns_at_once(
        &mut self,
        at: At<'_>,
        own: LoopAt<'_>,
        of: &Array,
    ) -> Result<bool> {
        let n = of.len();
        if !(2..=MOST).contains(&n) || of.rank() != 1 || at.frame.is_some() || !self.runs_numbers()
        {
            return Ok(false);
        }
        let Some((made, ran)) = self.st.programs.loop_at(own) else {
            return Ok(false);
        };
        let (program, made) = (&made.program, &*made);
        let Some(function) = program.code.first() else { return Ok(false) };
        // Turns that go round themselves, or work on vectors, may be few.
        let within = has_long_turns(program);
        let fits = program.catches.is_empty()
            && !program.draws
            && program.lengths.is_none()
            && (program.native.borrow().is_some() || !ran || !program.is_on_items())
            && (within || n >= LEAST)
            && made.refusals.get() < TRIES
            && made.items.is_some_and(|items| Class::of(of) == Some(items.class))
            && self.is_current(program);
        let (true, Some(Do::Next { of: list, slot, .. })) = (fits, function.steps.first()) else {
            return Ok(false);
        };
        let (list, slot) = (*list, *slot);
        self.at_once(made, Some(list), |turns, state| {
            (turns.extents, turns.seen) = (vec![n], vec![n]);
            let items = turns.items(of, n)?;
            let end = turns.end_of(0)?;
            turns.block(Plan { head: 0, first: 1, end }, vec![(slot, items)], state)
        })
    }

    /// A loop's turns all at once, as `run` takes them; `over`: the list that it goes over.
    /// False: they are no such turns, and nothing has happened. Errors: INTERRUPT.
    fn at_once(
        &mut self,
        made: &Loop,
        over: Option<u16>,
        run: impl FnOnce(&mut Turns<'_, '_>, State) -> Result<State>,
    ) -> Result<bool> {
        let program = &made.program;
        let Some(function) = program.code.first() else { return Ok(false) };
        let from = self.cx.sys.tape.mark();
        let done = self.attempt(|ev| {
            let lists = ev.lists_of(made)?;
            let fixed = program.constants.iter().map(|x| Some(Val::Is(Array::num(*x)))).collect();
            let mut state = State {
                path: Vec::new(),
                registers: (0..function.registers).map(|_| None).collect(),
                fixed,
                own: (0..function.lists).map(|_| None).collect(),
                filled: lists.iter().map(|_| None).collect(),
                cut: Vec::new(),
                events: Vec::new(),
            };
            for name in program.names.iter().filter(|name| name.rank == 0) {
                let held = match ev.lookup(name.scope.at(), name.sym) {
                    Some(Value::Array(a)) => Some(ev.cx.ready(&a, "loop")?),
                    _ => None,
                };
                let fits = |a: &Array| Class::of(a) == Some(name.class) && a.rank() == 0;
                let held = held.filter(|a| fits(a) && name.class != Class::Text);
                // One that each turn gives a value needs none before.
                if held.is_none() && !name.changes {
                    return refuse("a name holds something else");
                }
                state.fixed[name.slot as usize] = held.map(Val::Is);
            }
            let io = program.io;
            let mut classes: Vec<Class> = lists.iter().map(|_| Class::Number).collect();
            for name in program.names.iter().filter(|name| name.rank > 0) {
                classes[name.slot as usize] = name.class;
            }
            for (class, a) in classes.iter_mut().zip(&lists) {
                if a.as_ref().is_some_and(Array::is_char) {
                    *class = Class::Char;
                }
            }
            let mut turns = Turns {
                ev,
                steps: &function.steps,
                lists,
                classes,
                io,
                extents: Vec::new(),
                seen: Vec::new(),
                reads: Vec::new(),
                others: over.into_iter().collect(),
                tallied: Vec::new(),
                written: function.steps.iter().filter_map(rows::fills).collect(),
                walks: Vec::new(),
                widest: 0,
            };
            let state = run(&mut turns, state)?;
            let changes = turns.changes(made, &state)?;
            let mut roots = ev.cx.sys.tape.take_checks_since(from);
            roots.extend(changes.iter().filter_map(|(_, a)| a.pending().cloned()));
            ev.cx.force_cells(roots, "loop")?;
            let mut out = Vec::new();
            for (k, a) in changes {
                let a = ev.cx.ready(&a, "loop")?;
                if a.is_complex() {
                    return refuse("a value is not real");
                }
                out.push((k, a));
            }
            Ok(out)
        })?;
        let Ok(changes) = done else {
            made.refusals.set(made.refusals.get() + 1);
            return Ok(false);
        };
        for (k, a) in changes {
            self.cx.close()?;
            let name = &program.names[k];
            self.change(name.scope.at(), name.sym, name.class.own(a))?;
        }
        Ok(true)
    }

    /// The lists of a loop as arrays, by their numbers.
    fn lists_of(&mut self, made: &Loop) -> Result<Vec<Option<Array>>> {
        let program = &made.program;
        let mut lists = Vec::new();
        for list in &program.lists {
            lists.push(match list {
                List::Shared(a) => Some(a.clone()),
                List::Own(..) => None,
            });
        }
        for name in program.names.iter().filter(|name| name.rank > 0) {
            let Some(Value::Array(a)) = self.lookup(name.scope.at(), name.sym) else {
                return refuse("a name has no value");
            };
            let a = self.cx.ready(&a, "loop")?;
            let fits = Class::of(&a) == Some(name.class) && a.rank() == name.rank;
            if !fits || name.class == Class::Text || name.turned {
                return refuse("a name holds something else");
            }
            lists[name.slot as usize] = Some(a);
        }
        Ok(lists)
    }
}

/// The first of numbers of which each is one more than the one before. None: they are others.
fn counts(a: &Array) -> Option<f64> {
    let view = a.view_there().filter(|_| a.len() > 1)?;
    let (first, n) = (view.number(0) as i32, a.len());
    // No step is taken early, so that a few instructions take several numbers.
    fn off(bad: i32, x: i32, k: usize, first: i32) -> i32 {
        bad | x.wrapping_sub(first.wrapping_add(k as i32))
    }
    let bad = match view {
        View::I8(v) => v.iter().zip(0..n).fold(0, |bad, (&x, k)| off(bad, x.into(), k, first)),
        View::I16(v) => v.iter().zip(0..n).fold(0, |bad, (&x, k)| off(bad, x.into(), k, first)),
        View::I32(v) => v.iter().zip(0..n).fold(0, |bad, (&x, k)| off(bad, x, k, first)),
        _ => return None,
    };
    let last = f64::from(first) + n as f64;
    (bad == 0 && last <= f64::from(i32::MAX)).then_some(f64::from(first))
}

/// The last step that jumps back to a loop's head.
fn last_jump(steps: &[Do], head: usize) -> Option<usize> {
    steps.iter().rposition(|step| *step == Do::Jump(head as u32)).filter(|&end| end > head)
}

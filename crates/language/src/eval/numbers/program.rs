//! Programs on numbers: the instructions, what they are about, and the names they were made for.

use super::call_loop::{CallLoop, Calls};
use super::form::{Class, Form};
use super::texts::Texts;
use super::{Name, Scope};
use crate::eval::value::Func;
use crate::syntax::ast::Sym;
use aplomb_values::array::{Array, View};
use aplomb_values::prim::library::{first_in, first_of, same};
use aplomb_values::registers::{self, Arg, Compiled, Do, Function, OnList, SEARCHED};
use std::cell::{OnceCell, RefCell};
use std::cmp::Reverse;
use std::ops::Range;
use std::rc::Rc;

/// The steps of a function that an error guard stands before, and where its expression begins.
#[derive(Clone)]
pub struct Catch {
    pub function: usize,
    pub steps: Range<u32>,
    pub then: u32,
    pub events: Rc<[i64]>,
}

impl Catch {
    /// The guard's place among those before a step: the latest is greatest. Their expressions stand
    /// in turned order, which tells guards apart that have no step between them.
    pub fn place(&self) -> (u32, Reverse<u32>) {
        (self.steps.start, Reverse(self.then))
    }
}

/// A dfn and what it calls.
#[derive(Clone, Default)]
pub struct Program {
    pub code: Vec<Function>,
    /// The error guards that stand in it.
    pub catches: Vec<Catch>,
    /// The form of the first function's value.
    pub gives: Option<Form>,
    /// An error guard stands in it.
    pub is_guarded: bool,
    /// True of one that draws numbers of the generator.
    pub draws: bool,
    /// ⎕IO when it was made.
    pub io: f64,
    /// Constants, with a place for the number of each name.
    pub constants: Vec<f64>,
    /// Vectors that stand in it, with a place for that of each name.
    pub lists: Vec<List>,
    pub names: Vec<Name>,
    /// The names of functions, where they were looked up, and what they were.
    pub functions: Vec<(Scope, Sym, Rc<Func>)>,
    /// The first function as machine code, once it has gone round often.
    pub native: RefCell<Option<Rc<dyn Compiled>>>,
    pub begins_again: OnceCell<bool>,
    /// The texts that its names hold.
    pub texts: RefCell<Texts>,
    /// The list of their lengths.
    pub lengths: Option<u16>,
    /// The places that `⊃` reads at: where a list has no items it is the evaluator that says what
    /// stands there, and no INDEX ERROR that a guard would catch.
    pub fronts: Vec<u16>,
    /// The loops of its calls that were asked for.
    pub loops: RefCell<Vec<(Calls, Option<Rc<CallLoop>>)>>,
}

impl Program {
    /// Names of a loop that items are put before, and of which nothing else is asked, lie from
    /// their end: there an item more moves no other.
    pub fn turns_names(&mut self) {
        let before = |step: &Do, list: u16| match step {
            Do::List(OnList::Prepend { slot, .. }, _) => *slot == list,
            _ => false,
        };
        for name in self.names.iter_mut().filter(|name| name.rank == 1 && name.changes) {
            let steps = || self.code.iter().flat_map(|f| &f.steps);
            let others = |step: &Do| step.mentions(name.slot) && !before(step, name.slot);
            name.turned = steps().any(|s| before(s, name.slot)) && !steps().any(others);
        }
        for name in self.names.iter().filter(|name| name.turned) {
            for step in self.code.iter_mut().flat_map(|f| &mut f.steps) {
                if let Do::List(OnList::Prepend { slot, y }, _) = *step
                    && slot == name.slot
                {
                    *step = Do::Append { of: slot, y };
                }
            }
        }
    }

    /// A place for a number. None: there are too many.
    pub fn number(&mut self, x: f64) -> Option<u16> {
        self.constants.push(x);
        u16::try_from(self.constants.len() - 1).ok()
    }

    /// Whether `⊃` reads at a place.
    pub fn is_front(&self, at: Arg) -> bool {
        matches!(at, Arg::Fixed(k) if self.fronts.contains(&k))
    }

    /// A place for a vector or a matrix. None: there are too many.
    pub fn list(&mut self, list: List) -> Option<u16> {
        self.lists.push(list);
        u16::try_from(self.lists.len() - 1).ok()
    }

    /// True where its calls may begin again at any time: they wait for each other on numbers alone,
    /// and change nothing.
    pub fn may_begin_again(&self) -> bool {
        *self.begins_again.get_or_init(|| {
            let mut steps = self.code.iter().flat_map(|f| &f.steps);
            self.catches.is_empty() && self.calls() > 0 && steps.all(Do::only_reads)
        })
    }

    /// True of one that works on items of lists alone: on no texts, and on no rows of a matrix.
    pub fn is_on_items(&self) -> bool {
        let on_more = |step: &Do| matches!(step, Do::All(_) | Do::List(OnList::Digits { .. }, _));
        let mut steps = self.code.iter().flat_map(|f| &f.steps);
        !steps.any(on_more) && self.names.iter().all(|name| name.class != Class::Text)
    }

    /// The number of calls that stand in it.
    pub fn calls(&self) -> usize {
        let calls = |f: &Function| {
            let is_call = |s: &&Do| {
                matches!(
                    s,
                    Do::Call { .. } | Do::Again { .. } | Do::CallOn { .. } | Do::AgainOn { .. }
                )
            };
            f.steps.iter().filter(is_call).count()
        };
        self.code.iter().map(calls).sum()
    }

    /// True where a function waits for a call of itself: how deep it goes each item says by itself,
    /// and steps for all items would be as many as the deepest needs, down and up again.
    pub fn waits_for_itself(&self) -> bool {
        self.code.iter().enumerate().any(|(k, f)| {
            f.steps.iter().any(|step| match step {
                Do::Call { of, .. } | Do::CallOn { of, .. } => *of as usize == k,
                _ => false,
            })
        })
    }
}

/// A vector of numbers, or the ravel of a matrix.
#[derive(Clone)]
pub enum List {
    /// It is another's.
    Shared(Array),
    /// It changes here.
    Own(Vec<f64>, Option<[usize; 2]>),
}

impl List {
    /// None yet.
    pub const EMPTY: List = List::Own(Vec::new(), None);

    /// Its items as compiled instructions take them.
    pub fn seen(&mut self) -> registers::List<'_> {
        match self {
            List::Own(items, shape) => {
                registers::List::Own(items, shape.map(|[_, columns]| columns))
            }
            List::Shared(a) => match a.view_there() {
                Some(view) => registers::List::Shared(view, a.shape().get(1).copied()),
                None => registers::List::Other,
            },
        }
    }

    /// Its items.
    pub fn len(&self) -> usize {
        match self {
            List::Shared(a) => a.len(),
            List::Own(items, _) => items.len(),
        }
    }

    #[inline]
    pub fn item(&self, k: usize) -> Option<f64> {
        match self {
            List::Own(items, _) => items.get(k).copied(),
            List::Shared(a) => a.number_at(k),
        }
    }

    /// Some of its items, behind those of a vector. None: they lie otherwise.
    pub fn copy(&self, range: Range<usize>, out: &mut Vec<f64>) -> Option<()> {
        match self {
            List::Own(items, _) => out.extend_from_slice(items.get(range)?),
            List::Shared(a) => match (a.floats_there(), a.view_there()) {
                (Some(items), _) => out.extend_from_slice(items.get(range)?),
                (None, Some(view)) if range.end <= view.len() => view.numbers_to(range, out),
                _ => return None,
            },
        }
        Some(())
    }

    /// The place of a number, or the length where it is not there. None: there are too many to be
    /// looked through.
    pub fn place_of(&self, y: f64, ct: f64) -> Option<usize> {
        let n = self.len();
        (n <= SEARCHED).then_some(())?;
        let first = match self {
            List::Own(items, _) => first_of(items, y, ct),
            List::Shared(a) => match a.view_there() {
                Some(view) => first_in(view, y, ct),
                None => (0..n).find(|k| self.item(*k).is_some_and(|x| same(x, y, ct))),
            },
        };
        Some(first.map_or(n, |k| k))
    }

    /// The items at these places, from 0 on, behind those of a vector, which has room for them.
    /// None: a place is none, or not there, or items lie otherwise.
    pub fn take(
        &self,
        places: impl Iterator<Item = Option<usize>>,
        out: &mut Vec<f64>,
    ) -> Option<()> {
        match self {
            List::Own(items, _) => View::F64(items).numbers_at(places, out),
            List::Shared(a) => match a.view_there() {
                Some(view) => view.numbers_at(places, out),
                None => {
                    for at in places {
                        out.push(self.item(at?)?);
                    }
                    Some(())
                }
            },
        }
    }

    /// Of a matrix.
    pub fn columns(&self) -> Option<usize> {
        match self {
            List::Shared(a) => a.shape().get(1).copied(),
            List::Own(_, shape) => shape.map(|[_, columns]| columns),
        }
    }

    /// Rows of a matrix, items of a vector.
    pub fn tally(&self) -> usize {
        match self {
            List::Shared(a) => a.first_extent(),
            List::Own(items, None) => items.len(),
            List::Own(_, Some([rows, _])) => *rows,
        }
    }
}

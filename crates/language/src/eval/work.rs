//! Work that is no launch, told where it stands: how many elements or calls it had, and how long it
//! took.
//!
//! A function that gives its value at once, for many elements, tells of itself. What is left of a
//! statement then, a recursion on single numbers, the turns of a `:For`, a text that `⍎` reads a
//! thousand times, is the statement's own: it counts the calls and turns that no other work had.

use super::cx::{AT_HAND, Cx, SMALL};
use super::host::Much;
use super::tape::Mark;
use aplomb_ground::error::Result;
use aplomb_ground::span::Place;
use aplomb_values::array::{Array, Data, Shape};
use aplomb_values::dag::Cell;
use std::fmt;
use std::rc::Rc;

/// Bytes of a text that are worth telling: it takes some milliseconds.
const LONG: usize = 64 * SMALL;

/// The kind of work, by what is told of it.
#[derive(Clone, Copy)]
enum Of {
    /// So many elements.
    Elements(usize),
    /// The calls and turns since it began.
    Calls,
    /// Turns of a loop.
    Turns(usize),
    /// The world outside, where it was used since; else elements.
    World(usize),
}

/// Work that has begun.
#[derive(Clone)]
pub struct Work {
    place: Place,
    of: Of,
    /// The most elements of which nobody tells.
    few: usize,
    /// The calls and turns before it.
    calls: usize,
    /// By the host's `untold`.
    begun: f64,
    /// The place on the tape behind all that was written before it.
    since: Mark,
    /// The reason why it is no launch.
    why: Reason,
}

/// Reasons why work is no launch.
pub mod why {
    /// Of most functions that are no nodes.
    pub const VALUES: &str = "it looks at values";
    /// Of complex arguments.
    pub const COMPLEX: &str = "a launch has real numbers";
    /// The reason of loops that a launch gave up.
    pub const UNENDING: &str = "its loop goes on where a launch must end";
    /// Of scans.
    pub const PREFIXES: &str = "each prefix needs the one before";
    /// Of calls and turns.
    pub const TURNS: &str = "each waits for the one before";
    /// The reason of turns of a loop that run together.
    pub const TOGETHER: &str = "turns of a loop ran together, a step at a time";
    /// The reason of a function of many items that differ, whose steps go over all of them.
    pub const STEPS: &str = "its items are taken together, a step of the function at a time";
    /// The reason of a function of many items that has those of one shape together.
    pub const SHAPES: &str = "its items are taken together, those of one shape at a time";
    /// The reason of folds of few groups (`prim::keyed`).
    pub const WALK: &str = "its groups are few and folded where they are met, in one walk; a \
                            launch would move all items first (]off groups)";
    /// The reason of folds of more groups, which the device brings together.
    pub const PARTS: &str = "its items are brought together by groups, and each group is folded \
                             while it is near; a launch would move all items first (]off groups)";
    /// The reason of graphs that no plan would fit twice.
    pub const RESTLESS: &str =
        "its extents change from turn to turn: a plan would be made for each";
    /// Of what the host does.
    pub const HOST: &str = "the host does it";
}

/// Items that are looked at to tell of what kinds they are.
const LOOKED_AT: usize = 16;

/// The reason why work is no launch, whose words are put together once it is told.
#[derive(Clone)]
pub enum Reason {
    /// One that says the same of all.
    Fixed(&'static str),
    /// Forms of a nested argument's items: the first, if it has one, and the first that differs.
    Items(Option<Form>, Option<Form>),
}

impl From<&'static str> for Reason {
    fn from(why: &'static str) -> Reason {
        Reason::Fixed(why)
    }
}

impl Reason {
    /// The reason of work on a nested array, with the first two kinds of items that differ.
    pub fn of_items(a: &Array) -> Reason {
        let Data::Items(items) = a.data() else { return Reason::Fixed("it is a reference") };
        let mut forms = items.iter().take(LOOKED_AT).map(|item| Form::of(&item));
        let first = forms.next();
        let other = forms.find(|form| Some(form) != first.as_ref());
        Reason::Items(first, other)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Fixed(why) => out.write_str(why),
            Reason::Items(None, _) => out.write_str("its items would be arrays"),
            Reason::Items(Some(first), None) => {
                write!(out, "its items are arrays, one by one: {first}")
            }
            Reason::Items(Some(first), Some(other)) => {
                write!(out, "its items differ in shape or kind: {first}, {other}")
            }
        }
    }
}

/// The kind of an item, of one and of many, and its shape: `numbers of shape 2 3`.
#[derive(Clone, PartialEq)]
pub struct Form {
    one: &'static str,
    many: &'static str,
    shape: Shape,
}

impl Form {
    fn of(a: &Array) -> Form {
        let (one, many) = match a.data() {
            Data::Ref(_) => ("a reference", "references"),
            Data::Items(_) => ("an enclosed array", "arrays"),
            _ if a.is_char() => ("a character", "characters"),
            _ => ("a number", "numbers"),
        };
        Form { one, many, shape: a.shape().into() }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.shape.is_empty() {
            return out.write_str(self.one);
        }
        write!(out, "{} of shape", self.many)?;
        self.shape.iter().try_for_each(|n| write!(out, " {n}"))
    }
}

impl Cx<'_> {
    /// Begins work on so many elements; None: nobody tells of so few. A story wants everything.
    pub fn begin_work(&self, elements: usize) -> Option<Work> {
        self.begin_above(SMALL, elements)
    }

    /// The same of a function that may take more elements where they stand: they are as few.
    pub fn begin_at_hand(&self, elements: usize) -> Option<Work> {
        self.begin_above(AT_HAND, elements)
    }

    fn begin_above(&self, few: usize, elements: usize) -> Option<Work> {
        let few = self.least(few);
        let place = self.place().filter(|_| elements > few)?;
        Some(Work { few, ..self.work(place, Of::Elements(elements), why::VALUES) })
    }

    /// The same work, which was on so many elements after all.
    pub fn work_on(&self, work: Work, elements: usize) -> Option<Work> {
        let of = Of::Elements(elements);
        (elements > work.few).then_some(Work { of, ..work })
    }

    /// Nobody tells of so few elements, unless a story wants everything.
    fn least(&self, few: usize) -> usize {
        if self.sys.records_all() { 0 } else { few }
    }

    fn work(&self, place: Place, of: Of, why: &'static str) -> Work {
        let (calls, since) = (self.sys.calls, self.sys.tape.mark());
        Work { place, of, few: SMALL, calls, begun: self.host.untold(), since, why: why.into() }
    }

    /// Begins work that may use the world, on so many elements. None: nothing runs.
    pub fn begin_outside(&mut self, elements: usize) -> Option<Work> {
        self.sys.used = None;
        Some(self.work(self.place()?, Of::World(elements), why::HOST))
    }

    /// Tells of work that is done. Its own time is what no launch, and no work within it, took.
    pub fn tell_work(&mut self, work: Option<Work>) {
        let Some(Work { place, of, calls, begun, why, .. }) = work else { return };
        let own = self.sys.reason.take_if(|(at, _)| *at == place);
        let why = own.map_or(why, |(_, why)| why.into());
        let least = self.least(SMALL);
        let much = match of {
            Of::Elements(n) => Much::Elements(n),
            Of::Calls => Much::Calls(self.sys.calls - calls),
            // Few of them are the statement's.
            Of::Turns(n) if n < SMALL => {
                self.sys.calls = self.sys.calls.saturating_add(n);
                return;
            }
            Of::Turns(n) => Much::Calls(n),
            Of::World(n) if n > least => Much::Elements(n),
            Of::World(_) => match self.sys.used.take() {
                Some(what) => Much::World(what),
                None => return,
            },
        };
        // Who tells of the calls within does not want them told by those around.
        self.sys.calls = calls;
        if much.is_telling() {
            let own = (self.host.untold() - begun).max(0.0);
            self.host.interpreted(&place, much, &why, own);
        }
    }

    /// Makes the text of a value that the statement at a place shows, and tells what a long one
    /// took.
    pub fn worded(
        &mut self,
        place: impl FnOnce() -> Place,
        make: impl FnOnce(&mut Self) -> Result<String>,
    ) -> Result<String> {
        let begun = self.host.untold();
        let text = make(self)?;
        if text.len() > LONG {
            let own = (self.host.untold() - begun).max(0.0);
            self.host.worded(&place(), text.len(), own);
        }
        Ok(text)
    }

    /// Gives the work that goes on here, on so many elements, its reason: who did it knows why it
    /// was no launch.
    pub fn work_because(&mut self, elements: usize, why: &'static str) {
        self.sys.reason = self.begin_work(elements).map(|work| (work.place, why));
    }

    /// Begins the work of turns that run together.
    pub fn begin_turns(&self, place: Place, n: usize) -> Work {
        self.work(place, Of::Turns(n), why::TOGETHER)
    }

    /// Begins a statement's work; it is told if calls and turns enough are left to it.
    pub fn begin_statement(&self, place: Place) -> Work {
        self.work(place, Of::Calls, why::TURNS)
    }

    /// Counts a call, or a turn of a loop.
    pub fn count_call(&mut self) {
        self.sys.calls = self.sys.calls.saturating_add(1);
    }
}

/// The cells that a function wrote last, so many, which are looked at for what it made.
const CELLS: usize = 16;

impl Work {
    /// The elements of the longest array that the work made for what it recorded: it is there, and
    /// nobody else holds it.
    pub fn made(&self, z: &Array) -> usize {
        let (mut most, mut looked) = (0, 0);
        let mut stack: Vec<Rc<Cell>> = z.pending().cloned().into_iter().collect();
        while let Some(cell) = stack.pop().filter(|_| looked < CELLS) {
            looked += 1;
            let node = cell.node().filter(|_| self.since.is_before(&cell));
            for a in node.iter().flat_map(|node| node.inputs()) {
                match a.pending() {
                    Some(below) => stack.push(below.clone()),
                    None if a.is_unshared() => most = most.max(a.len()),
                    None => {}
                }
            }
        }
        most
    }

    /// The same, done again for these cells: where an earlier statement wrote all of them it stands
    /// where the last of them was written.
    pub fn again(self, cells: &[Rc<Cell>]) -> Work {
        let within = |p: &Place| {
            let (all, own) = (self.place.span, p.span);
            p.source == self.place.source && all.start <= own.start && own.end <= all.end
        };
        let mut places = cells.iter().filter_map(|cell| cell.meta().place.as_ref());
        let last = places.clone().next_back().filter(|_| !places.any(within));
        match last {
            Some(place) => Work { place: place.clone(), ..self },
            None => self,
        }
    }

    /// The same for another reason.
    pub fn because(self, why: impl Into<Reason>) -> Work {
        Work { why: why.into(), ..self }
    }
}

impl Much {
    /// Whether a story has room for it. Elements were counted before, the world is always told.
    fn is_telling(self) -> bool {
        !matches!(self, Much::Calls(n) if n < SMALL)
    }
}

//! Many calls in registers: on each of some items, folds from the right, powers.

use super::ahead::Side;
use super::code;
use super::form::{Form, Items, Reader};
use super::machine::{End, Machine, Told, Values, Way};
use super::program::Program;
use super::{COPIES, FEW, Forms};
use crate::eval::run::Eval;
use crate::eval::value::Func;
use aplomb_ground::error::Result;
use aplomb_ground::limits::UNKNOWN;
use aplomb_values::array::Array;
use std::rc::Rc;

/// Fewer items are not worth computing parts of a body for all of them.
const MANY: usize = 64;

/// Items that the evaluator may be called for, and beyond these one of so many.
const MISSED: (usize, usize) = (64, 4);

/// The way that calls on items go.
const EACH: &str = "item by item, in registers and in no launch";

/// Calls after which a state that is to be a vector is one.
const GROWS: usize = 16;

/// The functions that are called on items here.
#[derive(Clone, Copy, PartialEq)]
pub enum Which {
    All,
    /// Programs that change outer names, or whose calls go several ways, so that steps for all
    /// items would soon be steps for few.
    Ways,
    /// The ones among these that change nothing and draw no numbers: of the same they give the
    /// same.
    Still,
}

impl Eval<'_> {
    /// One call on values. None: it ended where only the evaluator goes on.
    pub(super) fn called(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        (x, y): (Option<&Array>, &Array),
        (fx, fy): &Forms,
    ) -> Result<Option<Array>> {
        let passed = &mut machine.passed;
        if fy.take(y, passed).is_none()
            || x.zip(fx.as_ref()).is_some_and(|(x, form)| form.take(x, passed).is_none())
        {
            return Ok(None);
        }
        let depth = self.room_for_calls();
        let rounds = self.cx.host.interrupt().rounds(UNKNOWN);
        let way = Way { rounds: &rounds, is: Told::Calls };
        let end = machine.call_on(program, depth, (&*self.cx.host, Some(&way)))?;
        self.value_of_call(program, machine, end)
    }

    /// The value that a run ended with.
    pub(super) fn value_of_call(
        &mut self,
        program: &Program,
        machine: &mut Machine,
        end: Option<End>,
    ) -> Result<Option<Array>> {
        match end {
            Some(End::Value(z)) => machine.passed.numbers.push(z),
            Some(End::Passed) => {}
            _ => return Ok(None),
        }
        let Some(form) = &program.gives else { return Ok(None) };
        form.array(&mut Reader::new(&machine.passed), self.cx.budget()).map(Some)
    }

    /// The values of a dfn on each of some items, where it is one of these. None: as of one call;
    /// nothing has happened. Errors: INTERRUPT, WS FULL.
    pub fn each_by_numbers(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        y: &Array,
        shape: &[usize],
        which: Which,
    ) -> Result<Option<Array>> {
        let n = aplomb_values::array::elements(shape);
        if n < FEW && which != Which::Still
            || shape.len() != 1
            || f.closure().is_none()
            || !self.runs_numbers()
        {
            return Ok(None);
        }
        let Some(fy) = form_of_items(y) else { return Ok(None) };
        let fx = match x.map(form_of_items) {
            Some(None) => return Ok(None),
            fx => fx.flatten(),
        };
        let Some(program) = self.program(f, (fx.clone(), fy.clone()), true) else {
            return Ok(None);
        };
        let changes = program.names.iter().any(|name| name.changes);
        let one_way = || program.calls() < 2 && !program.waits_for_itself() && !changes;
        match which {
            Which::Ways | Which::Still if one_way() => return Ok(None),
            Which::Still if changes || program.draws => return Ok(None),
            _ => {}
        }
        let ready = |ev: &mut Self, a: &Array| crate::eval::operators::each::taken_apart(ev, a);
        let (x, y) = (x.map(|x| ready(self, x)).transpose()?, ready(self, y)?);
        let x = x.zip(fx).map(|(x, fx)| Items::new(x, fx));
        self.calls_on((f, &program), x, Items::new(y, fy), n)
    }

    /// The values of a dfn on each of some items, where it changes outer names and works with what
    /// parts of its body make of an item. None: as of one call; nothing has happened.
    pub fn each_ahead(
        &mut self,
        f: &Rc<Func>,
        y: &Array,
        shape: &[usize],
    ) -> Result<Option<Array>> {
        if y.len() < MANY || shape.len() != 1 || y.rank() != 1 || !self.runs_numbers() {
            return Ok(None);
        }
        let y = crate::eval::operators::each::taken_apart(self, y)?;
        let Some((ahead, items)) = self.ahead(f, &y, Side::Right)? else { return Ok(None) };
        let forms = (None, items.form().clone());
        let Some(program) = code::program(self, f, forms, true, Some(ahead)) else {
            return Ok(None);
        };
        if !program.names.iter().any(|name| name.changes) {
            return Ok(None);
        }
        self.calls_on((f, &program), None, items, y.len())
    }

    /// A program's value on each of n items. An item on which it ends where only the evaluator goes
    /// on is the evaluator's; None: there are many of these, or what was done cannot stay.
    fn calls_on(
        &mut self,
        (f, program): (&Rc<Func>, &Program),
        mut x: Option<Items>,
        mut y: Items,
        n: usize,
    ) -> Result<Option<Array>> {
        if let Some(all) = self.each_as_loop(program, x.as_ref(), &y, n)? {
            self.warn_refused_as(EACH);
            return Ok(Some(all));
        }
        y.ready(self.cx.budget())?;
        if let Some(x) = &mut x {
            x.ready(self.cx.budget())?;
        }
        let Some(gives) = program.gives.clone() else { return Ok(None) };
        let changes = program.names.iter().any(|name| name.changes);
        let mut missed = 0;
        let mut allowance = COPIES.0 + COPIES.1.saturating_mul(n);
        let Some(mut machine) = self.machine(program, &mut allowance)? else { return Ok(None) };
        let work = self.cx.begin_work(n);
        let (numbers, lists) = gives.registers();
        let mut out = Values {
            numbers: self.cx.budget().room(n * numbers)?,
            lists: self.cx.budget().room(n * lists)?,
        };
        let depth = self.room_for_calls();
        let mut ticks = self.cx.budget().ticks();
        let rounds = self.cx.host.interrupt().rounds(n as u64);
        for k in 0..n {
            ticks.tick()?;
            rounds.done(k as u64);
            let passed = &mut machine.passed;
            if y.take(k, passed).is_none()
                || x.as_ref().is_some_and(|x| x.take(k, passed).is_none())
            {
                return Ok(None);
            }
            match machine.call_on(program, depth, (&*self.cx.host, None))? {
                Some(End::Value(z)) => out.numbers.push(z),
                Some(End::Passed) => {
                    out.numbers.append(&mut machine.passed.numbers);
                    out.lists.append(&mut machine.passed.lists);
                }
                _ if changes || program.draws => return Ok(None),
                _ => {
                    missed += 1;
                    if missed > MISSED.0 && missed * MISSED.1 > k {
                        return Ok(None);
                    }
                    machine.passed = Values::default();
                    let left = x.as_ref().map(|x| x.item(k));
                    let outcome = self.call(f, left.as_ref(), &y.item(k))?;
                    let value = self.valued(outcome)?.map(|z| self.cx.ready_outer(&z));
                    match value.transpose()? {
                        Some(z) if gives.take(&z, &mut out).is_some() => {}
                        _ => return Ok(None),
                    }
                }
            }
        }
        self.give_back(program, machine)?;
        self.warn_refused_as(EACH);
        self.cx.tell_work(work);
        self.st.shy = false;
        gives.arrays(&out, n, self.cx.budget()).map(Some)
    }

    /// `f/y` of a vector, from the right. None: as of one call.
    pub fn fold_by_numbers(&mut self, f: &Rc<Func>, y: &Array) -> Result<Option<Array>> {
        let n = y.len();
        if n < FEW || y.rank() != 1 {
            return Ok(None);
        }
        let items = match y.front_and_last() {
            Some((front, _)) => front,
            None => y,
        };
        let form = form_of_items(items).filter(|_| f.closure().is_some());
        let Some(form) = form else { return Ok(None) };
        let y = crate::eval::operators::each::taken_apart(self, y)?;
        let (y, state) = match y.front_and_last() {
            Some((front, last)) => (front.clone(), last.clone()),
            None => (y.clone(), self.cx.ready_outer(&y.item(n - 1))?),
        };
        // Nothing is copied for a function that has no program.
        let own = Form::of(&state).filter(|_| self.runs_numbers());
        if own.is_none_or(|own| self.steady(f, Some(&form), own).is_none()) {
            return Ok(None);
        }
        self.goes_on(f, Left::Items(Items::new(y, form)), state, n - 1)
    }

    /// The same where the function works with what parts of its body make of its left argument.
    pub fn fold_ahead(&mut self, f: &Rc<Func>, y: &Array) -> Result<Option<Array>> {
        let n = y.len();
        if n < MANY || y.rank() != 1 || !self.runs_numbers() {
            return Ok(None);
        }
        let y = crate::eval::operators::each::taken_apart(self, y)?;
        let items = crate::eval::operators::reduce::stretch(self, &y, 0, n - 1)?;
        let Some((ahead, items)) = self.ahead(f, &items, Side::Left)? else { return Ok(None) };
        let state = y.item(n - 1);
        let Some(form) = Form::of(&state) else { return Ok(None) };
        let forms: Forms = (Some(items.form().clone()), form.clone());
        let program = code::program(self, f, forms, true, Some(ahead));
        match program.filter(|program| program.gives.as_ref() == Some(&form)) {
            Some(program) => self.runs_on(f, Left::Items(items), state, n - 1, (&program, form)),
            None => Ok(None),
        }
    }

    /// `(f⍣n)y`. None: as of one call.
    pub fn power_by_numbers(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        y: &Array,
        n: u64,
    ) -> Result<Option<Array>> {
        if n < FEW as u64 || y.frame().is_some() || y.pending().is_some() {
            return Ok(None);
        }
        let left = match x {
            None => Left::Nothing,
            Some(x) => {
                let of = self.cx.ready_outer(x)?;
                let Some(form) = Form::of(&of) else { return Ok(None) };
                Left::Same { of, form }
            }
        };
        self.goes_on(f, left, y.clone(), n as usize)
    }

    /// n calls, each on what the one before gave: a state, and a left argument. None: as of one
    /// call.
    fn goes_on(
        &mut self,
        f: &Rc<Func>,
        left: Left,
        state: Array,
        n: usize,
    ) -> Result<Option<Array>> {
        if f.closure().is_none() || !self.runs_numbers() {
            return Ok(None);
        }
        let state = self.cx.ready_outer(&state)?;
        let Some(form) = Form::of(&state) else { return Ok(None) };
        let Some((program, form)) = self.steady(f, left.form(), form) else { return Ok(None) };
        self.runs_on(f, left, state, n, (&program, form))
    }

    /// The calls of a program whose state keeps its form.
    fn runs_on(
        &mut self,
        f: &Rc<Func>,
        mut left: Left,
        mut state: Array,
        n: usize,
        (program, form): (&Program, Form),
    ) -> Result<Option<Array>> {
        let mut first = 0;
        // A scalar becomes a vector by a call, or a few, which nobody else sees.
        while form.has_lists() && state.rank() == 0 {
            if first == GROWS.min(n) || program.names.iter().any(|name| name.changes) {
                return Ok(None);
            }
            let made = self.attempt(|ev| {
                let z = ev.apply(f, left.array(first, n).as_ref(), &state)?;
                ev.cx.ready_outer(&z)
            })?;
            let Ok(made) = made else { return Ok(None) };
            (state, first) = (made, first + 1);
        }
        if let Some(last) = self.last_as_loop(program, &left, (&state, &form), n - first)? {
            return Ok(Some(last));
        }
        if let Left::Items(items) = &mut left {
            items.ready(self.cx.budget())?;
        }
        let mut allowance = COPIES.0 + COPIES.1.saturating_mul(n);
        let Some(mut machine) = self.machine(program, &mut allowance)? else { return Ok(None) };
        let work = self.cx.begin_work(n);
        let (depth, mut ticks) = (self.room_for_calls(), self.cx.budget().ticks());
        if form.take(&state, &mut machine.passed).is_none() {
            return Ok(None);
        }
        let mut last = None;
        let rounds = self.cx.host.interrupt().rounds(n as u64);
        for k in first..n {
            ticks.tick()?;
            rounds.done(k as u64);
            if let Some(End::Value(z)) = last {
                machine.passed.numbers.push(z);
            }
            if left.take(k, n, &mut machine.passed).is_none() {
                return Ok(None);
            }
            last = machine.call_on(program, depth, (&*self.cx.host, None))?;
            if !matches!(last, Some(End::Value(_) | End::Passed)) {
                return Ok(None);
            }
        }
        let made = self.value_of_call(program, &mut machine, last)?;
        self.give_back(program, machine)?;
        self.cx.tell_work(work);
        self.st.shy = false;
        Ok(made)
    }

    /// The program of a function whose value has the form of its right argument, which is as given
    /// or a list.
    fn steady(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Form>,
        form: Form,
    ) -> Option<(Rc<Program>, Form)> {
        let list = match &form {
            Form::One(class) => Some(Form::List(*class)),
            form => form.as_list(),
        };
        for form in [Some(form), list].into_iter().flatten() {
            let forms: Forms = (x.cloned(), form.clone());
            if let Some(program) = self.program(f, forms, true)
                && program.gives.as_ref() == Some(&form)
            {
                return Some((program, form));
            }
        }
        None
    }
}

/// The left arguments of calls that go on.
pub(super) enum Left {
    Nothing,
    /// The same for each.
    Same {
        of: Array,
        form: Form,
    },
    /// The items of a vector but the last, from the right.
    Items(Items),
}

impl Left {
    fn form(&self) -> Option<&Form> {
        match self {
            Left::Nothing => None,
            Left::Same { form, .. } => Some(form),
            Left::Items(items) => Some(items.form()),
        }
    }

    /// That of the k-th of n calls.
    fn array(&self, k: usize, n: usize) -> Option<Array> {
        match self {
            Left::Nothing => None,
            Left::Same { of, .. } => Some(of.clone()),
            Left::Items(items) => Some(items.item(n - 1 - k)),
        }
    }

    /// The same in registers. None: it has another form.
    fn take(&self, k: usize, n: usize, into: &mut Values) -> Option<()> {
        match self {
            Left::Nothing => Some(()),
            Left::Same { of, form } => form.take(of, into),
            Left::Items(items) => items.take(n - 1 - k, into),
        }
    }
}

/// The form of an argument's items; a single one is that of all.
fn form_of_items(a: &Array) -> Option<Form> {
    match a.rank() {
        0 => Form::of(&a.disclosed()),
        _ => Form::of_items(a),
    }
}

//! Small vectors and matrices in a loop: names that hold some numbers each, and scalar functions of
//! all of them.
//!
//! `x←x+0.1×v` in a `:For` takes the evaluator a microsecond, most of it for a statement that may
//! be undone, and for values that might be anything. Here the value of each function has a list of
//! its own, which the next round fills again, and an assignment copies it into the name's. The
//! functions are those that the evaluator takes for a few numbers (`Host::apply`, `Host::fold`), so
//! the bits are the same; what they find suspect ends the run, as everything else does that is
//! more.
//!
//! Only the steps of a loop have such lists: calls that wait for each other would share them.

use super::code::{Body, Maker, Place};
use super::form::Class;
use super::machine::Machine;
use super::numbers_of;
use super::program::List;
use crate::eval::cx::SMALL;
use crate::eval::host::Host;
use aplomb_values::array::DType;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce;
use aplomb_values::prim::scalar::{self, Src};
use aplomb_values::prim::short::two;
use aplomb_values::registers::{Arg, Do, Many, OnAll};

impl Maker<'_, '_> {
    /// A list of the program whose items are all taken, and whether it is a matrix. None: it is no
    /// such list, or of another class.
    fn all(&mut self, y: &Place, class: Class) -> Option<(u16, bool)> {
        let (of, matrix) = match y {
            Place::Vector(of) => (*of, false),
            Place::Matrix(of) => (*of, true),
            _ => return None,
        };
        (self.classes[of as usize] == class).then_some(())?;
        let name = self.program.names.iter_mut().find(|n| n.rank > 0 && n.slot == of);
        if let Some(name) = name {
            name.whole = true;
            return Some((of, matrix));
        }
        // The evaluator's constants are of the narrowest type.
        let of = match &self.program.lists[of as usize] {
            List::Shared(a) if a.floats_there().is_none() => {
                let items = numbers_of(a, self.ev.cx.budget()).ok()?;
                self.list(List::Own(items, None), class)?
            }
            _ => of,
        };
        Some((of, matrix))
    }

    fn many(&mut self, y: &Place) -> Option<(Many, Option<bool>)> {
        match y {
            Place::Number(y) => Some((Many::One(*y), None)),
            y => self.all(y, Class::Number).map(|(of, matrix)| (Many::All(of), Some(matrix))),
        }
    }

    /// A scalar function of all items. None: of a loop it is none, or the arguments are others.
    pub fn map_all(
        &mut self,
        body: &mut Body,
        op: Op,
        x: Option<&Place>,
        y: &Place,
    ) -> Option<Place> {
        body.is_loop().then_some(())?;
        let (y, of_y) = self.many(y)?;
        let (x, of_x) = match x {
            Some(x) => self.many(x).map(|(x, of_x)| (Some(x), of_x))?,
            None => (None, None),
        };
        let matrix = match (of_x, of_y) {
            (Some(x), Some(y)) if x != y => return None,
            (x, y) => x.or(y)?,
        };
        // What it computes depends on the number.
        (op != Op::CircleBy).then_some(())?;
        let into = self.list(List::EMPTY, Class::Number)?;
        self.made.push(into);
        body.push(Do::All(OnAll::Map { op, into, x, y }))?;
        Some(if matrix { Place::Matrix(into) } else { Place::Vector(into) })
    }

    /// `op/` of a vector.
    pub fn fold_all(&mut self, body: &mut Body, op: Op, y: &Place) -> Option<Place> {
        (body.is_loop() && op.is_associative()).then_some(())?;
        let (of, false) = self.all(y, Class::Number)? else { return None };
        body.made(Class::Number, |into| Do::All(OnAll::Fold { op, into, of }))
    }

    /// `x[at;]`, or `x[;at]`.
    pub fn line(&mut self, body: &mut Body, of: u16, at: Arg, column: bool) -> Option<Place> {
        let number = self.classes[of as usize] == Class::Number;
        (body.is_loop() && number).then_some(())?;
        let into = self.list(List::EMPTY, Class::Number)?;
        self.made.push(into);
        body.push(Do::All(OnAll::Line { into, of, at, column }))?;
        Some(Place::Vector(into))
    }

    /// `x[at;]←y`, or `x[;at]←y`; with `op` the line is changed by it.
    pub fn set_line(
        &mut self,
        body: &mut Body,
        (of, at, column): (u16, Arg, bool),
        op: Option<Op>,
        y: &Place,
    ) -> Option<()> {
        let number = self.classes[of as usize] == Class::Number;
        (body.is_loop() && number).then_some(())?;
        let (y, None | Some(false)) = self.many(y)? else { return None };
        body.push(Do::All(OnAll::SetLine { of, at, column, op, y }))
    }

    /// `x f.g y` of two vectors that are more than some registers.
    pub fn product(
        &mut self,
        body: &mut Body,
        (f, g): (Op, Op),
        x: &Place,
        y: &Place,
    ) -> Option<Place> {
        let vectors = matches!((x, y), (Place::Vector(_), Place::Vector(_)));
        if vectors && (f, g) == (Op::Add, Op::Mul) {
            body.is_loop().then_some(())?;
            let (x, y) = (self.all(x, Class::Number)?.0, self.all(y, Class::Number)?.0);
            return body.made(Class::Number, |into| Do::All(OnAll::Dot { into, x, y }));
        }
        let all = vectors.then(|| self.map_all(body, g, Some(x), y))??;
        self.fold_all(body, f, &all)
    }

    /// The items of a name become those of a value. True: the value stands in the name alone.
    pub fn set_all(&mut self, body: &mut Body, name: Place, y: &Place) -> Option<bool> {
        let class = self.classes[name.outer_list()? as usize];
        if let (
            Place::Vector(slot),
            Place::List(..) | Place::Turned(..) | Place::Tuple(_) | Place::Text(_),
        ) = (&name, y)
        {
            let items = self.items_of(body, y)?;
            return self.become_items(body, *slot, items);
        }
        let (into, of) = (self.all(&name, class)?, self.all(y, class)?);
        (into.1 == of.1).then_some(())?;
        // A name that is given itself has it.
        if into.0 != of.0 {
            body.push(Do::All(OnAll::Copy { into: into.0, of: of.0 }))?;
        }
        Some(false)
    }

    /// A phrase whose value nobody takes is over. If it ends by giving a name what it has made,
    /// that need not be copied.
    pub fn ends(&mut self, body: &mut Body) {
        let Some(Do::All(on)) = body.of.steps.last_mut() else { return };
        let OnAll::Copy { into, of } = *on else { return };
        let made = self.made.contains(&of);
        if made && self.program.names.iter().all(|name| name.rank == 0 || name.slot != of) {
            *on = OnAll::Take { into, of };
        }
    }
}

impl Machine {
    /// Does a step on all items. None: only the evaluator goes on from here.
    pub(super) fn on_all(&mut self, on: OnAll, base: usize, host: &dyn Host) -> Option<()> {
        match on {
            OnAll::Map { op, into, x, y } => {
                let shape = [x, Some(y)].into_iter().flatten().find_map(|many| match many {
                    Many::One(_) => None,
                    Many::All(of) => Some(self.lists[of as usize].shape()),
                })?;
                let n = shape.0;
                (1..=SMALL).contains(&n).then_some(())?;
                let mut out = self.lists[into as usize].take_own()?;
                // The round before left as many.
                if out.len() != n {
                    out = host.budget().filled(0.0, n).ok()?;
                }
                let source = |many: Many| match many {
                    Many::One(y) => Some(Src::One(self.read(base, y))),
                    Many::All(of) => {
                        let list = &self.lists[of as usize];
                        list.floats().filter(|_| list.shape() == shape).map(Src::Many)
                    }
                };
                let (x, y) = (x.map(source), source(y)?);
                let (first, second) = match x {
                    Some(x) => (x?, y),
                    None => (y, y),
                };
                let done = host.apply((op, DType::F64), self.ct, first, second, &mut out);
                self.lists[into as usize] = List::Own(out, shape.1);
                done.then_some(())
            }
            OnAll::Fold { op, into, of } => {
                let items = self.lists[of as usize].floats()?;
                (2..=SMALL).contains(&items.len()).then_some(())?;
                let mut out = [0.0];
                if !host.fold((op, DType::F64), items, items.len(), &mut out) {
                    out = [reduce::fold(op, 0.0, items, true, DType::F64).ok()?];
                }
                out[0].is_finite().then_some(())?;
                self.registers[base + into as usize] = out[0];
                Some(())
            }
            OnAll::Dot { into, x, y } => {
                let (x, y) = (self.lists[x as usize].floats()?, self.lists[y as usize].floats()?);
                let n = x.len();
                (n == y.len() && (2..=SMALL).contains(&n)).then_some(())?;
                let mut out = [0.0];
                if !host.dot((Op::Dot, DType::F64), (Src::Many(x), Src::Many(y)), n, &mut out) {
                    out = [reduce::dot(Op::Dot, |k| (x[k], y[k]), n, DType::F64).ok()?];
                }
                out[0].is_finite().then_some(())?;
                self.registers[base + into as usize] = out[0];
                Some(())
            }
            OnAll::Line { into, of, at, column } => {
                let at = self.read(base, at);
                let (n, first, step) = self.line_at(of, at, column)?;
                let mut out = self.lists[into as usize].take_own()?;
                out.clear();
                let places = (0..n).map(|k| first + k * step);
                match &self.lists[of as usize] {
                    List::Own(items, _) if step == 1 => {
                        out.extend_from_slice(items.get(first..first + n)?);
                    }
                    List::Own(items, _) => out.extend(places.map(|k| items[k])),
                    List::Shared(a) => {
                        let view = a.view_there()?;
                        out.extend(places.map(|k| view.number(k)));
                    }
                }
                self.lists[into as usize] = List::Own(out, None);
                Some(())
            }
            OnAll::SetLine { of, at, column, op, y } => {
                let at = self.read(base, at);
                let (n, first, step) = self.line_at(of, at, column)?;
                let shape = self.lists[of as usize].shape().1;
                let mut items = self.lists[of as usize].take_own()?;
                let one = match y {
                    Many::One(y) => Some(self.read(base, y)),
                    Many::All(_) => None,
                };
                let list = match y {
                    Many::One(_) => None,
                    Many::All(of) => {
                        let list = &self.lists[of as usize];
                        Some(list.floats().filter(|_| list.shape() == (n, None))?)
                    }
                };
                for k in 0..n {
                    let y = one.or_else(|| list.map(|list| list[k]))?;
                    let slot = items.get_mut(first + k * step)?;
                    *slot = match op {
                        Some(op) => two(op, self.ct, *slot, y)?,
                        None => y,
                    };
                }
                self.lists[of as usize] = List::Own(items, shape);
                Some(())
            }
            OnAll::Take { into, of } => {
                (self.lists[of as usize].shape().0 <= SMALL).then_some(())?;
                self.lists.swap(into as usize, of as usize);
                Some(())
            }
            OnAll::Copy { into, of } => {
                let shape = self.lists[of as usize].shape();
                (shape.0 <= SMALL).then_some(())?;
                let mut out = self.lists[into as usize].take_own()?;
                out.clear();
                out.extend_from_slice(self.lists[of as usize].floats()?);
                self.lists[into as usize] = List::Own(out, shape.1);
                Some(())
            }
        }
    }
}

impl Machine {
    /// The length of a matrix's row or column, its first place and the step between places.
    fn line_at(&self, of: u16, at: f64, column: bool) -> Option<(usize, usize, usize)> {
        let list = &self.lists[of as usize];
        let (rows, columns) = (list.tally(), list.columns()?);
        let place = |extent| scalar::place(at, self.io, extent, self.ct).ok();
        let line = match column {
            true => (rows, place(columns)?, columns),
            false => (columns, place(rows)? * columns, 1),
        };
        (1..=SMALL).contains(&line.0).then_some(line)
    }
}

impl List {
    /// The items, if they lie there as floats.
    fn floats(&self) -> Option<&[f64]> {
        match self {
            List::Own(items, _) => Some(items),
            List::Shared(a) => a.floats_there(),
        }
    }

    /// The number of items, and of a matrix its rows and columns.
    fn shape(&self) -> (usize, Option<[usize; 2]>) {
        match self {
            List::Own(items, shape) => (items.len(), *shape),
            List::Shared(a) => (a.len(), a.shape().try_into().ok()),
        }
    }

    /// The memory of a list that changes.
    fn take_own(&mut self) -> Option<Vec<f64>> {
        match std::mem::replace(self, List::EMPTY) {
            List::Own(items, _) => Some(items),
            List::Shared(_) => None,
        }
    }
}

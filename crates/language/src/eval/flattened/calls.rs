//! Functions of flattened cells: through trains and compositions to their steps; a call of a dfn
//! in rounds.

use super::body::Call;
use super::{Cells, Flat, Steps, has_steps, list, refuse};
use crate::eval::operators::each::flat_pass;
use crate::eval::system::Does;
use crate::eval::value::{Closure, Func, Oper, Operand, Trad, Value};
use crate::syntax::ast::Sym;
use crate::table::{self, Does as Means, Meaning};
use aplomb_ground::error::{Result, limit, syntax};
use aplomb_values::array::{Array, Ragged};
use std::cell::RefCell;
use std::rc::Rc;

/// The end of a call for some of its cells.
pub(super) struct End {
    /// Their places among those of the call.
    pub cells: Rc<[u32]>,
    /// The value, or the call that is next.
    pub what: Ends,
}

/// A value, or a call that is the last thing a dfn does. Vectors have an item for each cell of the
/// end, whatever their level.
pub(super) enum Ends {
    Value(Cells),
    Again(Rc<Func>, Option<Cells>, Cells),
}

/// A round of fewer cells goes cell by cell: a step for all of them costs some microseconds, a call
/// a tenth of that.
const FEW: usize = 64;

/// Whether what cells have are nested arrays, by the first.
fn is_nested(y: &Cells) -> bool {
    match y {
        Cells::Each(a, _) if a.pieces().is_some_and(Ragged::is_of_pieces) => true,
        Cells::Each(a, _) if a.pieces().is_none() && a.split().is_none() => {
            !a.is_uniform() && !a.is_empty() && !a.item(0).is_uniform()
        }
        _ => false,
    }
}

/// The test whether a function takes items of two arguments as wholes, which a scalar one does not.
fn pairs(g: &Func, dyadic: bool) -> bool {
    let scalar = |m: &Meaning| matches!(m.does, Means::Scalar(_));
    dyadic && matches!(g, Func::Prim(p) if !p.dyadic.as_ref().is_some_and(scalar))
}

/// Whether `g⍥h` is `,⍥⊂`, which makes a pair of its arguments.
fn joins_whole(g: &Func, h: &Func) -> bool {
    matches!((g, h), (Func::Prim(g), Func::Prim(h)) if (g.glyph, h.glyph) == (',', '⊂'))
}

/// A call that some cells make next.
struct Round {
    f: Rc<Func>,
    cells: Rc<[u32]>,
    x: Option<Cells>,
    y: Cells,
}

impl Flat<'_, '_> {
    /// A function on arguments in all cells of now.
    pub(super) fn call(&mut self, f: &Rc<Func>, x: Option<Cells>, y: Cells) -> Result<Cells> {
        self.ev.cx.host.interrupt().check()?;
        let same = |v: &Cells| matches!(v, Cells::Same(_));
        if let (Cells::Same(y), true, true) = (&y, x.iter().all(same), self.is_closed(f)) {
            let x = match &x {
                Some(Cells::Same(x)) => Some(x),
                _ => None,
            };
            return self.ev.apply(f, x, y).map(Cells::Same);
        }
        match &**f {
            Func::Prim(p) => match (p.glyph, x) {
                ('⍎', x) => self.run_texts(f, x, y),
                ('⊢', _) => self.here(&y),
                ('⊣', Some(x)) => self.here(&x),
                ('⊣', None) => self.here(&y),
                (_, x) => self.primitive(f, x, y),
            },
            Func::Fork(a, g, h) => {
                let right = self.operand_call(h, x.clone(), y.clone())?;
                let left = match a {
                    Operand::A(a) => Cells::Same(a.clone()),
                    f => self.operand_call(f, x, y)?,
                };
                self.operand_call(g, Some(left), right)
            }
            Func::Atop(g, h) => {
                let mid = self.operand_call(h, x, y)?;
                self.operand_call(g, None, mid)
            }
            Func::Op1(Oper::Prim(p), Operand::F(g)) if p.glyph == '⍨' => match x {
                None => self.call(g, Some(y.clone()), y),
                Some(x) => self.call(g, Some(y), x),
            },
            Func::Op2(Oper::Prim(p), a, b) if matches!(p.glyph, '∘' | '⍥' | '⍤') => {
                self.composed(f, p.glyph, (a, b), x, y)
            }
            Func::Op1(Oper::Prim(p), Operand::F(g))
                if p.glyph == '¨' && (has_steps(g) || is_nested(&y) || pairs(g, x.is_some())) =>
            {
                match self.each_inside(g, x.as_ref(), &y)? {
                    Some(made) => Ok(made),
                    None => self.each(f, x, y),
                }
            }
            _ if f.closure().is_some() => self.call_dfn(f, x, y),
            Func::Trad(trad) => match self.lines(trad, x.is_some()) {
                Some(f) => self.call_dfn(&f, x, y),
                None => refuse("a function of lines is called once a cell"),
            },
            Func::System(row) if !matches!(row.does, Does::Mapping(_) | Does::Pure(_)) => {
                refuse(format!("⎕{} is called once a cell", row.name))
            }
            _ => self.each(f, x, y),
        }
    }

    /// A function of lines as a dfn, where no call around has a name that it reads.
    fn lines(&mut self, trad: &Rc<Trad>, dyadic: bool) -> Option<Rc<Func>> {
        let f = self.ev.as_dfn(trad, dyadic)?;
        let free = &trad.tradfn().guards.get()?.as_ref()?.free;
        let has = |call: &Rc<Call>, sym: &Sym| call.names.borrow().iter().any(|(s, _)| s == sym);
        let seen = self.calls.iter().any(|call| free.iter().any(|sym| has(call, sym)));
        (!seen).then_some(f)
    }

    /// `⍎` of texts that are numbers; any other may do whatever a text says.
    fn run_texts(&mut self, f: &Rc<Func>, x: Option<Cells>, y: Cells) -> Result<Cells> {
        let y = self.operand(&y)?;
        match flat_pass(self.ev, f, None, &y)?.filter(|_| x.is_none()) {
            Some(z) => Ok(self.each_of(z)),
            None => refuse("⍎ runs a text"),
        }
    }

    fn operand_call(&mut self, f: &Operand, x: Option<Cells>, y: Cells) -> Result<Cells> {
        match f {
            Operand::F(f) => self.call(f, x, y),
            Operand::A(_) => Err(syntax("this operand must be a function")),
        }
    }

    fn composed(
        &mut self,
        f: &Rc<Func>,
        glyph: char,
        (a, b): (&Operand, &Operand),
        x: Option<Cells>,
        y: Cells,
    ) -> Result<Cells> {
        match (glyph, a, b, x) {
            ('∘', Operand::F(g), Operand::F(h), x) => {
                let y = self.call(h, None, y)?;
                self.call(g, x, y)
            }
            ('∘', Operand::A(x), Operand::F(g), None) => {
                self.call(g, Some(Cells::Same(x.clone())), y)
            }
            ('∘', Operand::F(g), Operand::A(right), None) => {
                self.call(g, Some(y), Cells::Same(right.clone()))
            }
            ('⍥', Operand::F(g), Operand::F(h), Some(x)) if joins_whole(g, h) => {
                self.strand(&[x, y])
            }
            ('⍥', Operand::F(g), Operand::F(h), x) => {
                let y = self.call(h, None, y)?;
                let x = x.map(|x| self.call(h, None, x)).transpose()?;
                self.call(g, x, y)
            }
            ('⍤', Operand::F(g), Operand::F(h), x) => {
                let y = self.call(h, x, y)?;
                self.call(g, None, y)
            }
            (_, _, _, x) => self.each(f, x, y),
        }
    }

    /// A primitive. A scalar one goes to the items by itself.
    fn primitive(&mut self, f: &Rc<Func>, x: Option<Cells>, y: Cells) -> Result<Cells> {
        let Func::Prim(p) = &**f else { return self.each(f, x, y) };
        if let (',', Some(x)) = (p.glyph, &x)
            && let Some(made) = self.scalars_joined(x, &y)?
        {
            return Ok(made);
        }
        let m = if x.is_some() { &p.dyadic } else { &p.monadic };
        if !m.as_ref().is_some_and(|m| matches!(m.does, Means::Scalar(_))) {
            return self.each(f, x, y);
        }
        let y = self.operand(&y)?;
        let x = x.map(|x| self.operand(&x)).transpose()?;
        let z = self.ev.apply(f, x.as_ref(), &y)?;
        Ok(self.each_of(z))
    }

    /// `f¨` of the cells.
    fn each(&mut self, f: &Rc<Func>, x: Option<Cells>, y: Cells) -> Result<Cells> {
        if !self.is_closed(f) {
            return refuse("an operand sees names that differ from cell to cell");
        }
        let y = self.operand(&y)?;
        let x = x.map(|x| self.operand(&x)).transpose()?;
        // What is pieces of pieces no frame takes either.
        let is_deep = |a: &Array| a.pieces().is_some_and(Ragged::is_of_pieces);
        if self.steps == Steps::Flat && !x.iter().chain([&y]).any(is_deep) {
            if let Some(z) = flat_pass(self.ev, f, x.as_ref(), &y)? {
                return Ok(self.each_of(z));
            }
            // Cells of one shape are a frame's.
            let even = |a: &Array| a.pieces().is_none() && (a.is_uniform() || a.split().is_some());
            let all = x.iter().chain([&y]).all(|a| even(a) || a.rank() == 0);
            let shape = list(self.count());
            return match all && !matches!(**f, Func::Dfn(_)) {
                true => match self.ev.each_framed(f, x.as_ref(), &y, &shape)? {
                    Some(z) => Ok(self.each_of(z)),
                    None => refuse("a step is refused for all cells"),
                },
                false => refuse("a step is no pass over flat data"),
            };
        }
        // It would be taken apart here again.
        if has_steps(f) {
            return refuse("its arguments are not those of its steps");
        }
        let each = table::find('¨').ok_or_else(|| syntax("there is no ¨"))?;
        let f = Rc::new(Func::Op1(Oper::Prim(each), Operand::F(f.clone())));
        let z = self.ev.apply(&f, x.as_ref(), &y)?;
        Ok(self.each_of(z))
    }

    /// The test whether a function can run outside of here: no dfn in it names what differs from
    /// cell to cell. (A name that stands in its text in any way counts.)
    pub(super) fn is_closed(&self, f: &Func) -> bool {
        let operand = |o: &Operand| match o {
            Operand::F(f) => self.is_closed(f),
            Operand::A(_) => true,
        };
        let of_op = |op: &Oper| match op {
            Oper::Dfn(c) => self.is_closed_dfn(c),
            Oper::Trad(_) => false,
            Oper::Curried(op, g) => self.is_closed(&Func::derived((**op).clone(), (**g).clone())),
            Oper::Prim(_) | Oper::System(_) => true,
        };
        match f {
            Func::Prim(_) | Func::System(_) => true,
            Func::Dfn(c) => self.is_closed_dfn(c),
            Func::Trad(_) | Func::Within(..) | Func::Shared(..) => false,
            Func::Op1(op, g) => of_op(op) && operand(g),
            Func::Op2(op, g, h) => of_op(op) && operand(g) && operand(h),
            Func::Outer(g) | Func::Axis(g, _) => operand(g),
            Func::Fork(g, h, k) => operand(g) && operand(h) && operand(k),
            Func::Atop(g, h) => operand(g) && operand(h),
        }
    }

    fn is_closed_dfn(&self, c: &Closure) -> bool {
        let mut env = c.env.as_ref();
        let mut text = None;
        while let Some(frame) = env {
            if let Some(call) = self.calls.iter().find(|call| Rc::ptr_eq(&call.frame, frame)) {
                let text = text.get_or_insert_with(|| c.text());
                let names = call.names.borrow();
                // What it calls may name them.
                let calls =
                    frame.locals.borrow().iter().any(|(_, v)| !matches!(v, Value::Array(_)));
                let named = |sym| text.contains(&*self.ev.st.symbols.name(sym)) || calls;
                let written = self.turns.as_ref().map_or(&[][..], |turns| turns.written());
                if names.iter().any(|(sym, _)| named(*sym)) || written.iter().any(|s| named(*s)) {
                    return false;
                }
            }
            env = frame.closure.env.as_ref();
        }
        true
    }

    /// A dfn, or an operator with its operands, in rounds: each is one call of those cells that
    /// the one before ended with.
    fn call_dfn(&mut self, f: &Rc<Func>, x: Option<Cells>, y: Cells) -> Result<Cells> {
        if !self.ev.is_at_home(f) {
            return refuse("a function of another namespace");
        }
        self.ev.st.depth += 1;
        let most = self.ev.cx.host.limits().depth;
        if self.ev.st.depth > most {
            return Err(limit(format!("calls stand more than {most} deep")));
        }
        let n = self.count();
        let (x, y) = (x.map(|x| self.here(&x)).transpose()?, self.here(&y)?);
        let mut done = Vec::new();
        let mut waiting: Vec<Round> = Vec::new();
        let whole = self.places(0..n as u32)?;
        self.turn(f, x, y, &whole, &mut done, &mut waiting)?;
        while let Some(Round { f, cells, x, y }) = waiting.pop() {
            self.ev.cx.host.interrupt().check()?;
            if cells.len() < FEW && self.is_closed(&f) {
                let made = self.one_by_one(&f, x.as_ref(), &y, cells.len())?;
                done.push((cells, made));
                continue;
            }
            self.later = true;
            let now = self.levels.len() + 1;
            let at = |v: Cells| match v {
                Cells::Each(a, _) => Cells::Each(a, now),
                same => same,
            };
            let (x, y) = (x.map(at), at(y));
            self.among(cells.clone(), |flat| flat.turn(&f, x, y, &cells, &mut done, &mut waiting))?;
        }
        self.ev.st.depth -= 1;
        let made = self.together(n, done)?;
        Ok(match made {
            Cells::Each(a, _) => self.each_of(a),
            same => same,
        })
    }

    /// One call for all cells of now; `cells` are their places among those of the first call.
    fn turn(
        &mut self,
        f: &Rc<Func>,
        x: Option<Cells>,
        y: Cells,
        cells: &Rc<[u32]>,
        done: &mut Vec<(Rc<[u32]>, Cells)>,
        waiting: &mut Vec<Round>,
    ) -> Result<()> {
        let Some(closure) = f.closure().cloned() else {
            let value = self.call(f, x, y)?;
            done.push((cells.clone(), value));
            return Ok(());
        };
        // The values of its names are the call's.
        let frame = self.ev.frame_to_read(f, &closure, x.is_some());
        let call = Rc::new(Call {
            frame,
            alpha: RefCell::new(x),
            omega: Some(y),
            names: RefCell::default(),
        });
        self.calls.push(call.clone());
        let mut ends = Vec::new();
        let ran = self.run(&call, &mut ends);
        self.calls.pop();
        call.frame.clone().leave();
        ran?;
        for End { cells: own, what } in ends {
            let own = self.places(own.iter().map(|&k| cells[k as usize]))?;
            match what {
                Ends::Value(v) => done.push((own, v)),
                Ends::Again(f, x, y) => {
                    let next = Round { f, cells: own, x, y };
                    let kin =
                        |r: &Round| Rc::ptr_eq(&r.f, &next.f) && r.x.is_some() == next.x.is_some();
                    match waiting.iter().position(kin) {
                        None => waiting.push(next),
                        Some(k) => {
                            let other = waiting.swap_remove(k);
                            let both = self.both(other, next)?;
                            waiting.push(both);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The values that cells of the first level ended with, for all of them. Errors: refused, where
    /// some end with another call.
    pub(super) fn ended_together(&mut self, n: usize, ends: Vec<End>) -> Result<Cells> {
        let value = |end: End| match end.what {
            Ends::Value(v) => Ok((end.cells, v)),
            Ends::Again(..) => refuse("a group makes a call at its end"),
        };
        let done = ends.into_iter().map(value).collect::<Result<Vec<_>>>()?;
        self.together(n, done)
    }

    /// Two rounds of one function as one.
    fn both(&mut self, a: Round, b: Round) -> Result<Round> {
        let (m, n) = (a.cells.len(), b.cells.len());
        let x = match (a.x, b.x) {
            (Some(x), Some(y)) => Some(self.joined([(m, x), (n, y)])?),
            _ => None,
        };
        let y = self.joined([(m, a.y), (n, b.y)])?;
        Ok(Round { f: a.f, cells: a.cells.iter().chain(&*b.cells).copied().collect(), x, y })
    }

    /// The calls of a few cells, one after the other.
    fn one_by_one(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Cells>,
        y: &Cells,
        n: usize,
    ) -> Result<Cells> {
        let mut ready = |v: &Cells| match v {
            Cells::Each(a, _) => self.ev.cx.ready_outer(a).map(|a| Cells::Each(a, 0)),
            Cells::Same(_) => Ok(v.clone()),
        };
        let (x, y) = (x.map(&mut ready).transpose()?, ready(y)?);
        let item = |v: &Cells, k: usize| match v {
            Cells::Same(a) => a.clone(),
            Cells::Each(a, _) => a.item(k),
        };
        let mut out = Vec::with_capacity(n);
        for k in 0..n {
            let left = x.as_ref().map(|x| item(x, k));
            let z = self.ev.apply(f, left.as_ref(), &item(&y, k))?;
            out.push(z.settled());
        }
        let made = crate::eval::operators::reduce::finished(self.ev, &[n], out, Array::num(0.0))?;
        Ok(self.each_of(made))
    }
}

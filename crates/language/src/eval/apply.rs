//! Applying functions: primitives by their rows, derived functions by their operators, trains.

use super::cx::{Cx, SMALL};
use super::run::{At, Eval, Outcome};
use super::space::Space;
use super::system::Options;
use super::value::{Func, Oper, Operand, Value};
use super::work::{Reason, Work, why};
use crate::functions::shape::Axis;
use crate::syntax::numerals;
use crate::syntax::steps::Act;
use crate::table::{Class, Does, Meaning, Prim, Side};
use aplomb_ground::error::{Result, bug, domain, index, length, nonce, rank, syntax, untraced};
use aplomb_values::array::{Array, Data, Digits, Shape, Split};
use aplomb_values::prim::moves::Move;
use smallvec::SmallVec;
use std::rc::Rc;

/// Whether the cells of a frame are taken out for this function. Moves work on all of them at once.
/// Errors: untraced where they must go through the interpreter.
fn by_cells(p: &Prim, m: &Meaning, args: &[&Array]) -> Result<bool> {
    if args.iter().all(|a| a.frame().is_none()) {
        return Ok(false);
    }
    match m.class {
        Class::Structural | Class::Elementwise => Ok(false),
        Class::Cells | Class::Points(_) => Ok(true),
        Class::Host | Class::Operator => Err(untraced(format!("{} looks at values", p.glyph))),
    }
}

/// The cells of a frame whose items are looked up in an array that has none: all of them are one
/// argument. A search in cells of higher rank takes them whole.
fn points<'a>(m: &Meaning, x: &'a Array, y: &'a Array) -> Option<(Side, &'a Split)> {
    let Class::Points(side) = m.class else { return None };
    let (asked, known) = match side {
        Side::Left => (x, y),
        Side::Right => (y, x),
    };
    let alone = known.frame().is_none() && (side == Side::Left || known.rank() == 1);
    asked.frame().filter(|_| alone).map(|split| (side, split))
}

/// Elements of an array that is no single item.
fn many(a: &Array) -> usize {
    if a.rank() == 0 { 0 } else { a.len() }
}

/// The primitives that look at no element, with one argument and with two.
const FREE: (&str, &str) = ("≢⍴⊢⊣⊂⊃,", "⊢⊣⊃⍴");
/// The functions that look, with two arguments, at no more than their value has.
const TAKES: &str = "↑↓⌷";

impl Eval<'_> {
    /// A primitive called with one argument. Errors: the primitive's; SYNTAX where it needs two.
    pub fn monadic(&mut self, p: &'static Prim, y: &Array, axis: Axis<'_>) -> Result<Array> {
        let Some(m) = &p.monadic else {
            return Err(syntax(format!("{} needs a left argument", p.glyph)));
        };
        if axis.is_some() && !m.axis {
            return Err(syntax(format!("{} takes no axis with one argument", p.glyph)));
        }
        match m.does {
            Does::Scalar(op) => match y.data() {
                Data::Num(a, Digits::Any) if !self.cx.sys.settings.div => self.cx.number1(op, *a),
                // What is complex or nested is no node.
                _ => self.told(p, &[y], || many(y), |ev| ev.cx.map1(op, y)),
            },
            Does::One(f) => {
                if by_cells(p, m, &[y])? {
                    return self.cx.over_cells(p.glyph, &[y], |cx, a| f(cx, &a[0], axis));
                }
                let elements = || if FREE.0.contains(p.glyph) { 0 } else { y.len() };
                self.told(p, &[y], elements, |ev| f(&mut ev.cx, y, axis))
            }
            _ => Err(nonce(format!("monadic {}", p.glyph))),
        }
    }

    /// A primitive called with two arguments. Errors: the primitive's; SYNTAX where it takes one.
    pub fn dyadic(
        &mut self,
        p: &'static Prim,
        x: &Array,
        y: &Array,
        axis: Axis<'_>,
    ) -> Result<Array> {
        if p.glyph == '⍎' {
            let done = self.execute_in(x, y)?;
            let none = || aplomb_ground::error::value("this text gave no value");
            return self.valued(done)?.ok_or_else(none);
        }
        let Some(m) = &p.dyadic else {
            return Err(syntax(format!("{} takes no left argument", p.glyph)));
        };
        if axis.is_some() && !m.axis {
            return Err(syntax(format!("{} takes no axis with two arguments", p.glyph)));
        }
        match m.does {
            Does::Scalar(op) => match (x.data(), y.data(), axis) {
                (Data::Num(a, Digits::Any), Data::Num(b, Digits::Any), None)
                    if !self.cx.sys.settings.div =>
                {
                    self.cx.number2(op, *a, *b)
                }
                (_, _, None) => {
                    self.told(p, &[x, y], || many(x).max(many(y)), |ev| ev.cx.map2(op, x, y))
                }
                (_, _, Some(k)) => {
                    let (x, y) = self.along_axes(x, y, k)?;
                    self.cx.map2(op, &x, &y)
                }
            },
            Does::Two(f) => {
                let elements = || if FREE.1.contains(p.glyph) { 0 } else { x.len().max(y.len()) };
                if let Some((side, split)) = points(m, x, y) {
                    let (x, y) = match side {
                        Side::Left => (&split.node, y),
                        Side::Right => (x, &split.node),
                    };
                    let len = || split.node.len();
                    let z = self.told(p, &[x, y], len, |ev| f(&mut ev.cx, x, y, axis))?;
                    return Ok(Array::framed(z, split.at));
                }
                if let Some(z) = self.cx.one_in_each(p.glyph, x, y)? {
                    return Ok(z);
                }
                if by_cells(p, m, &[x, y])? {
                    let run = |cx: &mut Cx<'_>, a: &[Array]| f(cx, &a[0], &a[1], axis);
                    return self.cx.over_cells(p.glyph, &[x, y], run);
                }
                if !TAKES.contains(p.glyph) {
                    return self.told(p, &[x, y], elements, |ev| f(&mut ev.cx, x, y, axis));
                }
                let work = self.begin_told(p, &[x, y], elements);
                let z = f(&mut self.cx, x, y, axis)?;
                let work = work.and_then(|work| self.cx.work_on(work, z.len()));
                self.tell_interpreted(work, &z);
                Ok(z)
            }
            _ => Err(nonce(format!("dyadic {}", p.glyph))),
        }
    }

    /// A scalar function whose value takes the place of an argument. None: it has none there.
    pub(super) fn in_place(
        &mut self,
        p: &Prim,
        x: &mut Array,
        y: Option<&mut Array>,
    ) -> Result<Option<Array>> {
        match p.scalar(y.is_some()) {
            Some(op) => self.cx.in_place(op, x, y),
            None => Ok(None),
        }
    }

    /// Runs a function on so many elements, and tells of it if it recorded nothing.
    fn told(
        &mut self,
        p: &Prim,
        args: &[&Array],
        elements: impl FnOnce() -> usize,
        run: impl FnOnce(&mut Self) -> Result<Array>,
    ) -> Result<Array> {
        let mut work = self.begin_told(p, args, elements);
        let z = run(self)?;
        // Of what still waits for its values no more was looked at than there is in the result.
        let waits = |a: &&Array| a.pending().is_some();
        if args.iter().any(waits) && args.iter().all(|a| waits(a) || a.len() <= z.len()) {
            work = work.and_then(|work| self.cx.work_on(work, z.len()));
        }
        self.tell_interpreted(work, &z);
        Ok(z)
    }

    /// Begins the work of a primitive on its arguments.
    fn begin_told(
        &self,
        p: &Prim,
        args: &[&Array],
        elements: impl FnOnce() -> usize,
    ) -> Option<Work> {
        /// Moves and places, beside scalar functions.
        const MOVES: &str = "⌽⊖⍉↑↓⍴,⍪⌷⊢⊣";
        let scalar = p.scalar(args.len() == 2).is_some();
        self.begin(scalar || MOVES.contains(p.glyph), args, elements)
    }

    /// The same, of a function that takes more elements where they stand or of another.
    fn begin(
        &self,
        at_hand: bool,
        args: &[&Array],
        elements: impl FnOnce() -> usize,
    ) -> Option<Work> {
        let nested = args.iter().find(|a| !a.is_uniform());
        let complex = nested.is_none() && args.iter().any(|a| a.is_complex());
        let work = match at_hand && nested.is_none() && !complex {
            true => self.cx.begin_at_hand(elements()),
            false => self.cx.begin_work(elements()),
        }?;
        Some(match nested {
            Some(nested) => work.because(Reason::of_items(nested)),
            None if complex => work.because(why::COMPLEX),
            None => work,
        })
    }

    /// Tells of a function that gave a value and recorded nothing, or recorded only how that is
    /// made of what it had worked for: `∪` moves items by places that it sought.
    pub fn tell_interpreted(&mut self, work: Option<Work>, z: &Array) {
        let recorded = match z.data() {
            Data::Lazy(_) | Data::Framed(_) => true,
            Data::Items(items) => items.lazy,
            Data::Num(_, _) | Data::Complex(_) | Data::Char(_) | Data::Ref(_) | Data::Dense(_) => {
                false
            }
        };
        // A few numbers may be an argument's own, taken apart.
        match work.filter(|work| !recorded || work.made(z) > SMALL) {
            Some(work) => {
                self.cx.tell_work(Some(work));
                self.cx.host.made(z);
            }
            // Nobody is told why that was no launch.
            None => self.cx.sys.reason = None,
        }
    }

    /// `v+[k]M`: the argument of lower rank spread over the axes that k leaves out.
    fn along_axes(&mut self, x: &Array, y: &Array, k: &Array) -> Result<(Array, Array)> {
        let (small, large, turned) =
            if x.rank() <= y.rank() { (x, y, false) } else { (y, x, true) };
        if small.rank() == 0 {
            return Ok((x.clone(), y.clone()));
        }
        let io = self.cx.sys.settings.io as i64;
        let mut axes = Vec::new();
        for k in self.cx.integers(k, "an axis")? {
            let k = usize::try_from(k - io).ok().filter(|&k| k < large.rank());
            axes.push(k.ok_or_else(|| index("there is no such axis"))?);
        }
        if axes.len() != small.rank() {
            return Err(rank("one axis is needed for each axis of the smaller argument"));
        }
        if axes.iter().zip(small.shape()).any(|(&k, &n)| large.shape()[k] != n) {
            return Err(length("X and Y differ in length along these axes"));
        }
        let shape: Shape = large.shape().into();
        let spread =
            self.cx.apply_move(small, Move::axes("⍴", shape, axes.into_iter().map(Some)))?;
        Ok(if turned { (large.clone(), spread) } else { (spread, large.clone()) })
    }

    /// A function on its arguments. Derived functions recurse as deep as the line that wrote them.
    pub fn call(&mut self, f: &Rc<Func>, x: Option<&Array>, y: &Array) -> Result<Outcome> {
        let value = match &**f {
            Func::Prim(p) => match x {
                Some(x) if p.glyph == '⍎' => return self.execute_in(x, y),
                None if p.glyph == '⍎' => self.execute_here(y),
                _ => {
                    // Whatever its arguments came from.
                    self.st.shy = false;
                    match x {
                        Some(x) => self.dyadic(p, x, y, None),
                        None => self.monadic(p, y, None),
                    }
                }
            },
            Func::System(row) => return self.system_call(row, &[], &Options::default(), x, y),
            Func::Within(space, row) => {
                return self
                    .in_space(space, |ev| ev.system_call(row, &[], &Options::default(), x, y));
            }
            Func::Shared(shape, all) => self.shared(shape, all, x, y),
            Func::Trad(t) => {
                if self.cx.sys.scope.is_once_a_cell()
                    && let Some(f) = self.as_dfn(t, x.is_some())
                {
                    return self.call_dfn(&f, x.cloned(), y.clone());
                }
                return self.call_trad(t, &[], x, Some(y));
            }
            Func::Op1(Oper::Trad(t), a) => {
                return self.call_trad(t, std::slice::from_ref(a), x, Some(y));
            }
            Func::Op2(Oper::Trad(t), a, b) => {
                return self.call_trad(t, &[a.clone(), b.clone()], x, Some(y));
            }
            Func::Op1(Oper::System(row), a) => {
                return self.system_call(row, std::slice::from_ref(a), &Options::default(), x, y);
            }
            Func::Op2(Oper::System(row), a, b) => {
                return self.system_call(row, &[a.clone(), b.clone()], &Options::default(), x, y);
            }
            Func::Dfn(_) | Func::Op1(Oper::Dfn(_), _) | Func::Op2(Oper::Dfn(_), ..) => {
                return self.call_dfn(f, x.cloned(), y.clone());
            }
            Func::Op1(Oper::Curried(..), _) | Func::Op2(Oper::Curried(..), ..) => {
                return Err(bug!("an operator that has its operand derives by another"));
            }
            Func::Op1(Oper::Prim(p), a) => self.derived(p, std::slice::from_ref(a), x, y, None),
            Func::Op2(Oper::Prim(p), a, b) => self.derived(p, &[a.clone(), b.clone()], x, y, None),
            Func::Outer(g) => {
                let z = super::operators::products::outer(self, g, x, y)?;
                self.shows_or_hides(std::slice::from_ref(g), x.is_some());
                Ok(z)
            }
            Func::Axis(g, k) => self.with_axis(g, x, y, k),
            Func::Fork(a, g, h) => {
                let right = self.operand_call(h, x, y)?;
                let left = match a {
                    Operand::A(a) => a.clone(),
                    f => self.operand_call(f, x, y)?,
                };
                self.operand_call(g, Some(&left), &right)
            }
            Func::Atop(g, h) => {
                let mid = self.operand_call(h, x, y)?;
                self.operand_call(g, None, &mid)
            }
        };
        value.map(Outcome::Array)
    }

    fn derived(
        &mut self,
        p: &'static Prim,
        operands: &[Operand],
        x: Option<&Array>,
        y: &Array,
        axis: Axis<'_>,
    ) -> Result<Array> {
        match p.operator.as_ref().map(|m| (m.does, m.axis)) {
            Some((Does::Operator(_), false)) if axis.is_some() => {
                Err(syntax(format!("{} takes no axis", p.glyph)))
            }
            Some((Does::Operator(run), _)) => {
                let elements = || x.map_or(0, Array::len).max(y.len());
                let as_dfns = self.operands_as_dfns(p, operands, x.is_some());
                let operands = as_dfns.as_deref().map_or(operands, |dfns| dfns);
                let args: SmallVec<[&Array; 2]> = x.into_iter().chain([y]).collect();
                // Folds and products by primitives.
                let prim =
                    |o: &Operand| matches!(o, Operand::F(f) if matches!(&**f, Func::Prim(_)));
                let at_hand = "/⌿.".contains(p.glyph) && operands.iter().all(prim);
                let work = self.begin(at_hand, &args, elements);
                let work = match p.glyph {
                    '\\' | '⍀' => work.map(|work| work.because(why::PREFIXES)),
                    _ => work,
                };
                // Those that ask nothing of ⎕ variables apply a function where it was made: what
                // runs many of its calls together reads its names there.
                let home = match p.glyph {
                    '¨' | '/' | '⌿' | '\\' | '⍀' | '⍣' => self.home_of(operands),
                    _ => None,
                };
                let here = home.map(|home| self.go_to(&home));
                let made = run(self, operands, x, y, axis);
                here.map(|here| self.go_to(&here));
                let z = made?;
                if !y.is_empty() {
                    self.shows_or_hides(operands, x.is_some());
                }
                self.tell_interpreted(work, &z);
                Ok(z)
            }
            _ => Err(nonce(p.glyph)),
        }
    }

    fn with_axis(&mut self, g: &Operand, x: Option<&Array>, y: &Array, k: &Array) -> Result<Array> {
        let Operand::F(g) = g else { return Err(syntax("an axis belongs to a function")) };
        match (&**g, x) {
            (Func::Prim(p), Some(x)) => self.dyadic(p, x, y, Some(k)),
            (Func::Prim(p), None) => self.monadic(p, y, Some(k)),
            (Func::Op1(Oper::Prim(p), a), x) => {
                self.derived(p, std::slice::from_ref(a), x, y, Some(k))
            }
            _ => Err(syntax("this function takes no axis")),
        }
    }

    /// An operand that is a function, on arguments, giving a value.
    pub fn operand_call(&mut self, f: &Operand, x: Option<&Array>, y: &Array) -> Result<Array> {
        match f {
            Operand::F(f) => self.apply(f, x, y),
            Operand::A(_) => Err(syntax("this operand must be a function")),
        }
    }

    /// A call that must give a value. Errors: the function's; VALUE where it gives none.
    pub fn apply(&mut self, f: &Rc<Func>, x: Option<&Array>, y: &Array) -> Result<Array> {
        if let (Func::Prim(p), Some(x)) = (&**f, x) {
            return self.dyadic(p, x, y, None);
        }
        let o = self.call(f, x, y)?;
        self.given(o)
    }

    /// The value that a call gave. Errors: VALUE, where it gave none.
    pub fn given(&mut self, o: Outcome) -> Result<Array> {
        self.valued(o)?.ok_or_else(|| aplomb_ground::error::value("this function gave no value"))
    }

    /// `apply` with a right argument that the caller has no more use for: a dfn that reads it last
    /// may change it where it lies.
    pub fn apply_to(&mut self, f: &Rc<Func>, x: Option<&Array>, y: Array) -> Result<Array> {
        if f.closure().is_none() {
            return self.apply(f, x, &y);
        }
        let o = self.call_dfn(f, x.cloned(), y)?;
        self.given(o)
    }

    /// ⍎ as an operand: the text runs among the names that the running dfn sees.
    fn execute_here(&mut self, y: &Array) -> Result<Array> {
        let none = crate::syntax::parse(
            &aplomb_ground::span::Source::new("⍎", ""),
            &mut self.st.symbols,
            self.cx.host.limits(),
            self.cx.host.interrupt(),
        )?;
        let ast = Rc::new(none);
        let frame = self.st.frame.clone();
        let made = self.execute_text(At { ast: &ast, frame: frame.as_ref() }, y)?;
        self.valued(made)?.ok_or_else(|| aplomb_ground::error::value("this text gave no value"))
    }

    /// The numbers that a text is a list of, which mean the same wherever they stand.
    fn numbers_of(&mut self, y: &Array) -> Result<Option<Array>> {
        let Some(chars) = y.to_chars(self.cx.budget())?.filter(|_| y.rank() < 2) else {
            return Ok(None);
        };
        let mut numbers = Vec::new();
        if !numerals(&chars, |x| numbers.push(x)) {
            return Ok(None);
        }
        match numbers[..] {
            // Longer statements are refused, whatever they say.
            _ if numbers.len() > self.cx.host.limits().tokens => Ok(None),
            [] => Ok(None),
            [x] => Ok(Some(Array::num(x))),
            _ => self.cx.vector(numbers).map(Some),
        }
    }

    /// `ref⍎text`, `'name'⍎text`: the text in a namespace.
    pub fn execute_in(&mut self, x: &Array, y: &Array) -> Result<Outcome> {
        let x = self.cx.ready(x, "⍎")?;
        let space = match (Space::of(&x), x.word()) {
            (Some(space), _) => space,
            (None, Some(name)) => match self.named(name.trim()) {
                Some(Value::Array(a)) => self.space_of(&a)?,
                _ => return Err(domain(format!("{} is no namespace", name.trim()))),
            },
            (None, None) => return Err(domain("left of ⍎ stands a namespace or its name")),
        };
        let ast = self.st.nothing.clone();
        self.in_space(&space, |ev| ev.execute_text(At { ast: &ast, frame: None }, y))
    }

    /// `⍎Y` in the caller's scope.
    pub fn execute_text(&mut self, at: At<'_>, y: &Array) -> Result<Outcome> {
        self.cx.unframed("⍎")?;
        let y = self.cx.ready(y, "⍎")?;
        // Characters, the text of them, its tokens.
        let _held = self.cx.budget().charge_elements(y.len(), 24)?;
        if let Some(numbers) = self.numbers_of(&y)? {
            self.st.shy = false;
            return Ok(Outcome::Array(numbers));
        }
        let text = y
            .to_text(self.cx.budget())?
            .ok_or_else(|| aplomb_ground::error::domain("⍎ takes text"))?;
        let source = aplomb_ground::span::Source::new("⍎", text);
        let (limits, stop) = (self.cx.host.limits().clone(), self.cx.host.interrupt().clone());
        let ast = self.st.trees.of(&source, &mut self.st.symbols, &limits, &stop)?;
        self.st.depth += 1;
        if self.st.depth > limits.depth {
            self.st.depth -= 1;
            return Err(aplomb_ground::error::limit(format!(
                "calls stand more than {} deep",
                limits.depth
            )));
        }
        self.cx.count_call();
        let done = self.execute_statements(At { ast: &ast, frame: at.frame });
        self.st.depth -= 1;
        done
    }

    /// The last statement's value, shy after an assignment; values before it print.
    fn execute_statements(&mut self, at: At<'_>) -> Result<Outcome> {
        let mut last = Outcome::Nothing;
        for step in &at.ast.steps.steps {
            self.cx.host.interrupt().check()?;
            let phrase = match &step.act {
                Act::Run(phrase) => *phrase,
                // → alone cuts what is suspended; nothing ever is.
                Act::Branch(to) if at.ast.phrase(*to).items.is_empty() => continue,
                Act::Branch(_) => return Err(nonce("branching in ⍎").at(&step.place(at.ast))),
                Act::Misplaced(says) => return Err(syntax(*says).at(&step.place(at.ast))),
                _ => {
                    let says = "control words and ∇ functions do not stand in ⍎";
                    return Err(syntax(says).at(&step.place(at.ast)));
                }
            };
            if let (Outcome::Array(a), false) = (&last, self.st.shy) {
                let a = self.cx.ready_to_show(a)?;
                let text = self.display(&a)?;
                self.cx.host.output(&text);
            }
            let (outcome, assigns) = self.phrase(at, phrase, false)?;
            last = match outcome {
                o @ (Outcome::Func(_) | Outcome::Oper(_)) => o,
                o => self.valued(o)?.map_or(Outcome::Nothing, Outcome::Array),
            };
            self.st.shy |= assigns;
        }
        Ok(last)
    }
}

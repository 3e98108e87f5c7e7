//! `V=⍵` where V is the same in all cells: a join.
//!
//! Each cell asks where its number stands in one vector: `+/V=⍵`, `⍸V=⍵`, `X/⍨V=⍵`, or where its
//! text does: `W≡¨⊂⍵`, `W∊⊂⍵`. Cell by cell that is the vector's length times the number of cells.
//! Here the vector's items are sent to the cells that ask for them, once: a search and a counting
//! sort. Only whole numbers and characters, which are equal without a tolerance. `(V=⍺)∧W=⍵` asks
//! for a pair.

use super::body::Call;
use super::enclosed::called;
use super::{Cells, Flat};
use crate::eval::phrases::folds;
use crate::eval::run::{At, Eval};
use crate::eval::value::{self, Func, Oper, Value};
use crate::functions::{groups, search, select};
use crate::syntax::ast::Sym;
use crate::syntax::resolve::{Code, Do, FExpr, Ins, OpExpr, Operand};
use aplomb_ground::error::{Result, bug};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Ragged, View, storage};
use aplomb_values::prim::op::Op;
use std::rc::Rc;

/// Fewer comparisons are made one by one.
pub(super) const MANY: usize = 1 << 14;

/// Items between two looks at the interrupt.
const LOOK: usize = 1 << 14;

/// The question to a comparison.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Asked {
    /// `+/`
    Count,
    /// `∨/`
    Any,
    /// `⍸`
    Places,
    /// `⊃⍸`, or 0.
    First,
    /// `/` of a vector, whose code is the steps between.
    Kept,
    /// `≢` of that.
    Number,
    /// `/` of a vector that was there before.
    KeptBelow,
}

/// A value, seen from all cells.
#[derive(Clone, Copy, PartialEq)]
enum Tag {
    Same,
    /// A number that stands in the text.
    One,
    Cell,
    /// An enclosure of it.
    Whole,
    Other,
}

fn is_equals(f: &FExpr) -> bool {
    matches!(f, FExpr::Prim(p) if p.glyph == '=')
}

/// `m/` or `/⍨m`: whether the mask is the left argument; None: neither.
fn keeps(f: &FExpr) -> Option<bool> {
    match f {
        FExpr::Prim(p) if p.glyph == '/' => Some(true),
        FExpr::Op1(OpExpr::Prim(p), g) if p.glyph == '⍨' => match &**g {
            Operand::F(g) => keeps(g).map(|left| !left),
            Operand::A(_) => None,
        },
        FExpr::Known(f) => keeps_known(f),
        _ => None,
    }
}

fn keeps_known(f: &Func) -> Option<bool> {
    match f {
        Func::Prim(p) if p.glyph == '/' => Some(true),
        Func::Op1(Oper::Prim(p), value::Operand::F(g)) if p.glyph == '⍨' => {
            keeps_known(g).map(|left| !left)
        }
        _ => None,
    }
}

/// The comparison by order that a function is.
pub(super) fn compares(f: &FExpr) -> Option<Op> {
    let FExpr::Prim(p) = f else { return None };
    p.scalar(true).filter(|op| matches!(op, Op::Lt | Op::Le | Op::Ge | Op::Gt))
}

/// The end at which a function cuts a vector: `↑` (true) or `↓`.
pub(super) fn cuts(f: &FExpr) -> Option<bool> {
    match f {
        FExpr::Prim(p) if matches!(p.glyph, '↑' | '↓') => Some(p.glyph == '↑'),
        _ => None,
    }
}

/// The fold of a vector that a function is.
fn fold_of(f: &FExpr) -> Option<Op> {
    match f {
        FExpr::Known(f) => folds(f),
        FExpr::Op1(OpExpr::Prim(p), g) if matches!(p.glyph, '/' | '⌿') => match &**g {
            Operand::F(FExpr::Prim(p)) => {
                p.scalar(true).filter(|op| op.is_associative() && op.identity().is_some())
            }
            _ => None,
        },
        _ => None,
    }
}

/// The fold that the next step is.
pub(super) fn fold_behind(ins: &[Ins]) -> Option<Op> {
    match ins {
        [Ins { what: Do::Monad(f), .. }, ..] => fold_of(f),
        _ => None,
    }
}

/// The question of a function of a comparison.
fn asked(f: &FExpr) -> Option<Asked> {
    match f {
        FExpr::Prim(p) if p.glyph == '⍸' => Some(Asked::Places),
        f => match fold_of(f)? {
            Op::Add => Some(Asked::Count),
            Op::Max | Op::Gcd => Some(Asked::Any),
            _ => None,
        },
    }
}

/// The number of steps that push one value, names, constants and items of these, in front of a
/// call with two arguments.
fn one_value(ins: &[Ins]) -> Option<usize> {
    let mut height = 0usize;
    for (k, ins) in ins.iter().enumerate() {
        match &ins.what {
            Do::Const(_) | Do::Name(_) => height += 1,
            Do::Index(present) => {
                height = height.checked_sub(present.iter().filter(|p| **p).count())?;
            }
            Do::Dyad(_) if height == 1 => return Some(k),
            _ => return None,
        }
    }
    None
}

/// The question of the steps behind a comparison, and their number.
pub(super) fn behind(ins: &[Ins]) -> Option<(Asked, usize)> {
    match ins {
        [Ins { what: Do::Monad(f), .. }, next, ..] if asked(f) == Some(Asked::Places) => {
            Some(match called(next, false) {
                Some('⊃') => (Asked::First, 2),
                Some('≢') => (Asked::Count, 2),
                _ => (Asked::Places, 1),
            })
        }
        [Ins { what: Do::Monad(f), .. }, ..] => asked(f).map(|asked| (asked, 1)),
        [Ins { what: Do::Dyad(f), .. }, ..] if keeps(f) == Some(true) => {
            Some((Asked::KeptBelow, 1))
        }
        [Ins { what: Do::Phrase(joint), .. }, ..] if joint.prim.glyph == '/' => {
            Some((Asked::KeptBelow, 1))
        }
        _ => {
            let steps = one_value(ins)? + 1;
            let Do::Dyad(f) = &ins[steps - 1].what else { return None };
            let is_number =
                |ins: &Ins| matches!(&ins.what, Do::Monad(FExpr::Prim(p)) if p.glyph == '≢');
            match keeps(f) {
                Some(false) if ins.get(steps).is_some_and(is_number) => {
                    Some((Asked::Number, steps + 1))
                }
                Some(false) => Some((Asked::Kept, steps)),
                _ => None,
            }
        }
    }
}

/// `W≡¨` and `W∊` of what encloses a text: whether a step compares so.
fn compares_whole(ins: &Ins) -> bool {
    let is_match = |f: &Func| matches!(f, Func::Prim(p) if p.glyph == '≡');
    match &ins.what {
        Do::Dyad(FExpr::Prim(p)) => p.glyph == '∊',
        Do::Dyad(FExpr::Op1(OpExpr::Prim(p), g)) if p.glyph == '¨' => {
            matches!(&**g, Operand::F(FExpr::Prim(p)) if p.glyph == '≡')
        }
        Do::Dyad(FExpr::Known(f)) => match &**f {
            Func::Op1(Oper::Prim(p), value::Operand::F(g)) => p.glyph == '¨' && is_match(g),
            _ => false,
        },
        _ => false,
    }
}

/// The number of steps from a comparison to the `∧` of it with another one.
fn pair(ins: &[Ins]) -> Option<usize> {
    let [a, rest @ ..] = ins else { return None };
    let value = |ins: &Ins| matches!(ins.what, Do::Alpha | Do::Omega | Do::Name(_) | Do::Const(_));
    let [b, equals, both, ..] = rest else { return None };
    let is_equals = matches!(&equals.what, Do::Dyad(f) if is_equals(f));
    let is_both = matches!(&both.what, Do::Dyad(FExpr::Prim(p)) if matches!(p.glyph, '∧' | '×'));
    (value(a) && value(b) && is_equals && is_both).then_some(4)
}

/// Whether code compares what is the same in all cells with an argument, and asks where it is so.
fn code_joins(code: &Code, own: &mut Vec<Sym>) -> bool {
    let mut tags: Vec<Tag> = Vec::new();
    for (k, ins) in code.ins.iter().enumerate() {
        let tag = match &ins.what {
            Do::Const(a) if a.rank() == 0 && a.is_simple_scalar() => Tag::One,
            Do::Const(_) => Tag::Same,
            Do::Name(sym) if own.contains(sym) => Tag::Other,
            Do::Name(_) => Tag::Same,
            Do::Omega | Do::Alpha => Tag::Cell,
            Do::Monad(f) => match tags.pop() {
                Some(tag @ (Tag::Same | Tag::One)) => tag,
                Some(Tag::Cell) if matches!(f, FExpr::Prim(p) if p.glyph == '⊂') => Tag::Whole,
                _ => Tag::Other,
            },
            Do::Dyad(_) if compares_whole(ins) && tags.ends_with(&[Tag::Whole, Tag::Same]) => {
                tags.truncate(tags.len() - 2);
                match behind(&code.ins[k + 1..]) {
                    Some((Asked::KeptBelow, _)) | None => Tag::Other,
                    Some(_) => return true,
                }
            }
            Do::Dyad(f) => match (tags.pop(), tags.pop()) {
                (Some(Tag::One), Some(Tag::One)) => Tag::One,
                (Some(Tag::Same | Tag::One), Some(Tag::Same | Tag::One)) => Tag::Same,
                (Some(Tag::Same), Some(Tag::Cell)) | (Some(Tag::Cell), Some(Tag::Same))
                    if compares(f).is_some() =>
                {
                    match behind(&code.ins[k + 1..]) {
                        Some((Asked::Count | Asked::Any, _)) => return true,
                        _ => Tag::Other,
                    }
                }
                (Some(Tag::Cell), Some(Tag::Same))
                    if cuts(f).is_some() && fold_behind(&code.ins[k + 1..]).is_some() =>
                {
                    return true;
                }
                (Some(Tag::Same), Some(Tag::Cell)) | (Some(Tag::Cell), Some(Tag::Same))
                    if is_equals(f) =>
                {
                    let below = tags.last() == Some(&Tag::Same);
                    let rest = &code.ins[k + 1..];
                    let rest = pair(rest).map_or(rest, |steps| &rest[steps..]);
                    match behind(rest) {
                        Some((Asked::KeptBelow, _)) if !below => Tag::Other,
                        Some(_) => return true,
                        None => Tag::Other,
                    }
                }
                _ => Tag::Other,
            },
            Do::Phrase(_) => {
                tags.truncate(tags.len().saturating_sub(2));
                Tag::Other
            }
            Do::Strand(n) => {
                tags.truncate(tags.len().saturating_sub(*n));
                Tag::Other
            }
            Do::Index(present) => {
                let n = 1 + present.iter().filter(|p| **p).count();
                let from = tags.len().saturating_sub(n);
                let same = tags[from..].iter().all(|tag| matches!(tag, Tag::Same | Tag::One));
                tags.truncate(from);
                if same { Tag::Same } else { Tag::Other }
            }
            Do::Assign(sym) => {
                own.push(*sym);
                continue;
            }
            _ => return false,
        };
        tags.push(tag);
    }
    false
}

impl Eval<'_> {
    /// Whether a dfn asks, in each of many calls, where one vector holds its argument.
    pub fn joins(&mut self, f: &Rc<Func>, dyadic: bool) -> bool {
        let Func::Dfn(closure) = &**f else { return false };
        if !closure.text().contains(['=', '≡', '∊', '<', '≤', '≥', '>', '↑', '↓']) {
            return false;
        }
        let frame = self.frame_to_read(f, closure, dyadic);
        let at = At { ast: &closure.ast, frame: Some(&frame) };
        let (mut own, mut found) = (Vec::new(), false);
        for stmt in &closure.ast.dfn(closure.dfn).stmts {
            let Ok(made) = self.resolved(at, stmt.phrase) else { break };
            found |= code_joins(&made.code, &mut own);
            for sym in &own {
                frame.set(*sym, Value::Array(Array::num(0.0)));
            }
        }
        frame.clone().leave();
        found
    }
}

impl Flat<'_, '_> {
    /// A comparison and the steps behind it, where they are a join: the value, and the number of
    /// these steps. None: it is compared cell by cell.
    pub(super) fn join(
        &mut self,
        call: &Rc<Call>,
        f: &FExpr,
        (x, y): (&Cells, &Cells),
        stack: &mut Vec<Cells>,
        ins: &[Ins],
    ) -> Result<Option<(Cells, usize)>> {
        if !is_equals(f) {
            return self.ordered(f, (x, y), ins);
        }
        let Some((v, keys)) = self.compared(x, y)? else { return Ok(None) };
        let Some(steps) = pair(ins) else {
            return self.joined_with(call, (v, keys), stack, ins);
        };
        let other = match &ins[..2] {
            [a, b] => (self.pushed(call, a)?, self.pushed(call, b)?),
            _ => return Ok(None),
        };
        let Some((w, others)) = self.compared(&other.0, &other.1)? else { return Ok(None) };
        if w.len() != v.len() || w.rank() != 1 || v.rank() != 1 {
            return Ok(None);
        }
        // Pairs by the places of their parts among the keys.
        let parts = [
            (self.first_of(&keys, &keys)?, self.first_of(&others, &others)?),
            (self.first_of(&keys, &v)?, self.first_of(&others, &w)?),
        ];
        let n = (keys.len() + 1) as f64;
        let mut pairs = Vec::new();
        for (a, b) in parts {
            let both = self
                .ev
                .cx
                .budget()
                .each(a.iter().zip(&b).map(|(a, b)| f64::from(*a) * n + f64::from(*b)))?;
            pairs.push(Array::numbers([both.len()].as_slice(), both, self.ev.cx.budget())?);
        }
        let (Some(v), Some(keys)) = (pairs.pop(), pairs.pop()) else { return Ok(None) };
        let made = self.joined_with(call, (v, keys), stack, &ins[steps..])?;
        Ok(made.map(|(made, more)| (made, steps + more)))
    }

    /// The value that a step pushes, which is a name, an argument or a constant.
    pub(super) fn pushed(&mut self, call: &Rc<Call>, ins: &Ins) -> Result<Cells> {
        let mut stack = Vec::new();
        self.step(call, &ins.what, &mut stack)?;
        stack.pop().ok_or_else(|| bug!("a step pushes nothing"))
    }

    /// The vector of a comparison, the same in all cells, and what each cell compares it with.
    /// None: it is another comparison, or one within ⎕CT.
    fn compared(&mut self, x: &Cells, y: &Cells) -> Result<Option<(Array, Array)>> {
        let (v, keys) = match (x, y) {
            (Cells::Same(v), keys @ Cells::Each(..)) | (keys @ Cells::Each(..), Cells::Same(v)) => {
                (v, self.array(keys)?)
            }
            _ => return Ok(None),
        };
        let exact = |a: &Array| {
            a.is_uniform() && a.frame().is_none() && (a.is_char() || a.dtype().is_integer())
        };
        let fits = exact(v) && exact(&keys) && v.is_char() == keys.is_char();
        Ok(fits.then(|| (v.clone(), keys)))
    }

    /// The value that the next steps push, in front of a call with two arguments, where it is the
    /// same in all cells, and their number. None: they are other steps.
    pub(super) fn whole_value(
        &mut self,
        call: &Rc<Call>,
        ins: &[Ins],
    ) -> Result<Option<(Array, usize)>> {
        let Some(steps) = one_value(ins) else { return Ok(None) };
        let mut own = Vec::new();
        for ins in &ins[..steps] {
            self.step(call, &ins.what, &mut own)?;
        }
        match own.pop() {
            Some(Cells::Same(a)) => Ok(Some((a, steps))),
            _ => Ok(None),
        }
    }

    /// `W≡¨⊂⍵`, `W∊⊂⍵` and the steps behind, where they are a join of texts: the value, and the
    /// number of steps behind the ⊂. None: they are something else.
    pub(super) fn join_whole(
        &mut self,
        call: &Rc<Call>,
        keys: &Cells,
        ins: &[Ins],
    ) -> Result<Option<(Cells, usize)>> {
        let Some(pushed) = one_value(ins) else { return Ok(None) };
        let (compares, rest) = (&ins[pushed], &ins[pushed + 1..]);
        if !compares_whole(compares)
            || !matches!(behind(rest), Some((asked, _)) if asked != Asked::KeptBelow)
        {
            return Ok(None);
        }
        let Some((v, _)) = self.whole_value(call, ins)? else { return Ok(None) };
        let keys = self.array(keys)?;
        let cx = &mut self.ev.cx;
        if v.rank() != 1 || v.is_uniform() || keys.is_uniform() {
            return Ok(None);
        }
        let (left, right) = (groups::runs(cx, &v, 0)?, groups::runs(cx, &keys, 0)?);
        let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
        if !left.flat().is_char() || !right.flat().is_char() {
            return Ok(None);
        }
        let made = self.joined_with(call, (v, keys), &mut Vec::new(), rest)?;
        Ok(made.map(|(made, steps)| (made, steps + pushed + 1)))
    }

    /// The answer of what each cell asks of the places where a vector holds what it compares with.
    fn joined_with(
        &mut self,
        call: &Rc<Call>,
        (v, keys): (Array, Array),
        stack: &mut Vec<Cells>,
        ins: &[Ins],
    ) -> Result<Option<(Cells, usize)>> {
        let Some((asked, steps)) = behind(ins) else { return Ok(None) };
        if v.rank() != 1 || v.len().saturating_mul(keys.len()) < MANY {
            return Ok(None);
        }
        let from = match asked {
            Asked::Kept | Asked::Number => {
                let mut own = Vec::new();
                let Some(between) = one_value(ins) else { return Ok(None) };
                for ins in &ins[..between] {
                    self.step(call, &ins.what, &mut own)?;
                }
                own.pop()
            }
            Asked::KeptBelow => match stack.last() {
                Some(from) => Some(from.clone()),
                None => return Ok(None),
            },
            Asked::Count | Asked::Any | Asked::Places | Asked::First => None,
        };
        let from = match from {
            None => None,
            Some(Cells::Same(from)) if from.rank() == 1 && from.len() == v.len() => Some(from),
            Some(_) => return Ok(None),
        };
        let (v, keys) = (self.ev.cx.ready(&v, "argument")?, self.ev.cx.ready(&keys, "argument")?);
        if asked == Asked::First {
            let made = self.first_places(&v, &keys)?;
            return Ok(Some((self.each_of(made), steps)));
        }
        let (firsts, found) = self.matched(&v, &keys)?;
        let n = keys.len();
        if matches!(asked, Asked::Count | Asked::Any | Asked::Number) {
            let budget = self.ev.cx.budget();
            let counts = counts(&found, n, budget)?;
            let most = if asked == Asked::Any { 1 } else { v.len() as u32 };
            let number = |&k: &u32| counts[k as usize].min(most);
            let out = budget.each(firsts.iter().map(number))?;
            let made = Array::up_to([n].as_slice(), out, most, budget)?;
            return Ok(Some((self.each_of(made), steps)));
        }
        let Some(places) = self.sent(&found, n)? else { return Ok(None) };
        let flat = match asked {
            Asked::Places => places.flat().clone(),
            Asked::Kept | Asked::KeptBelow => {
                let Some(from) = from else { return Ok(None) };
                let z = select::bracket(&mut self.ev.cx, &from, &[Some(places.flat().clone())])?;
                self.ev.cx.ready(&z, "argument")?
            }
            Asked::Count | Asked::Any | Asked::Number | Asked::First => return Ok(None),
        };
        let Some(pieces) = places.with(flat) else { return Ok(None) };
        let pieces = match firsts.iter().enumerate().all(|(k, &at)| k == at as usize) {
            true => Some(pieces),
            false => pieces.taken(&firsts, self.ev.cx.budget())?,
        };
        let Some(pieces) = pieces else { return Ok(None) };
        let made = self.each_of(pieces.items(&[n]));
        if asked != Asked::KeptBelow {
            return Ok(Some((made, steps)));
        }
        stack.pop();
        let made = match ins {
            [Ins { what: Do::Phrase(joint), .. }, ..] => self.folded(call, joint, made)?,
            _ => made,
        };
        Ok(Some((made, steps)))
    }

    /// The places of a vector's items, sent to the first key that is equal.
    fn sent(&mut self, found: &[u32], n: usize) -> Result<Option<Ragged>> {
        let (io, budget) = (self.ev.cx.sys.settings.io as u32, self.ev.cx.budget());
        let mut ends = counts(found, n, budget)?;
        let mut end = 0;
        for e in &mut ends {
            (*e, end) = (end, end + *e);
        }
        // What no key is equal to goes behind all others, where it is cut off.
        let mut flat = budget.filled(0, found.len())?;
        for (block, some) in found.chunks(LOOK).enumerate() {
            budget.check()?;
            for (at, &k) in some.iter().enumerate() {
                let next = &mut ends[k as usize];
                flat[*next as usize] = (block * LOOK + at) as u32 + io;
                *next += 1;
            }
        }
        let total = if n == 0 { 0 } else { ends[n - 1] as usize };
        flat.truncate(total);
        ends.truncate(n);
        let flat = Array::up_to([total].as_slice(), flat, found.len() as u32 + io, budget)?;
        Ok(Ragged::new(flat, ends))
    }

    /// The first key that each key is equal to, and that each item of a vector is, or the number of
    /// keys.
    fn matched(&mut self, v: &Array, keys: &Array) -> Result<(Vec<u32>, Vec<u32>)> {
        match by_table(v, keys, self.ev.cx.budget())? {
            Some(both) => Ok(both),
            None => Ok((self.first_of(keys, keys)?, self.first_of(keys, v)?)),
        }
    }

    /// The place of the first key that each number is equal to, or the number of keys.
    fn first_of(&mut self, keys: &Array, y: &Array) -> Result<Vec<u32>> {
        let io = self.ev.cx.sys.settings.io;
        let (keys, y) = (&self.ev.cx.ready(keys, "search")?, &self.ev.cx.ready(y, "search")?);
        if let Some(places) = search::places_at_once(&mut self.ev.cx, keys, y)? {
            return self.ev.cx.budget().each(places.iter().map(|&k| k as u32));
        }
        let found = search::first_places(&mut self.ev.cx, keys, y)?;
        let numbers = self.ev.cx.numbers(&found, "a place")?;
        let out = self.ev.cx.budget().each(numbers.iter().map(|x| (x - io) as u32))?;
        Ok(out)
    }

    /// The first place in a vector of what each key is equal to, or 0.
    fn first_places(&mut self, v: &Array, keys: &Array) -> Result<Array> {
        let io = self.ev.cx.sys.settings.io as u32;
        let (n, places) = (v.len() as u32, self.first_of(v, keys)?);
        let places = places.iter().map(|&k| if k < n { k + io } else { 0 });
        let places = self.ev.cx.budget().each(places)?;
        Array::up_to([places.len()].as_slice(), places, n + io, self.ev.cx.budget())
    }
}

/// The number of items for each of n keys, and behind these that of the items for none.
fn counts(found: &[u32], n: usize, budget: &Budget) -> Result<Vec<u32>> {
    let mut counts = budget.filled(0, n + 1)?;
    for some in found.chunks(LOOK) {
        budget.check()?;
        some.iter().for_each(|&k| counts[k as usize] += 1);
    }
    Ok(counts)
}

/// As `Flat::matched`, by a table of what lies between the least key and the greatest. None: that
/// is too much.
fn by_table(v: &Array, keys: &Array, budget: &Budget) -> Result<Option<(Vec<u32>, Vec<u32>)>> {
    fn found<T: Copy>(
        v: &[T],
        keys: &[i64],
        number: impl Fn(T) -> i64,
        budget: &Budget,
    ) -> Result<Option<(Vec<u32>, Vec<u32>)>> {
        let n = keys.len();
        let (Some(&least), Some(&most)) = (keys.iter().min(), keys.iter().max()) else {
            return Ok(None);
        };
        let size = most - least + 1;
        if size > 4 * (n + v.len()) as i64 {
            return Ok(None);
        }
        let mut table = budget.filled(n as u32, size as usize)?;
        let (mut firsts, mut ticks) = (budget.room(n)?, budget.ticks());
        for (k, key) in keys.iter().enumerate() {
            ticks.tick()?;
            let slot = &mut table[(key - least) as usize];
            *slot = if *slot == n as u32 { k as u32 } else { *slot };
            firsts.push(*slot);
        }
        let mut found = budget.room(v.len())?;
        for some in v.chunks(LOOK) {
            budget.check()?;
            // What is below the least key is far beyond the greatest.
            let place = |x: &T| table.get((number(*x) - least) as usize).copied();
            found.extend(some.iter().map(|x| place(x).map_or(n as u32, |k| k)));
        }
        Ok(Some((firsts, found)))
    }
    let (Some(held), Some(of)) = (storage(v), storage(keys)) else { return Ok(None) };
    let of = of.view();
    let keys: Vec<i64> = budget.each((0..keys.len()).map(|k| of.number(k) as i64))?;
    match held.view() {
        View::Bool(v) => found(v, &keys, i64::from, budget),
        View::I8(v) => found(v, &keys, i64::from, budget),
        View::I16(v) => found(v, &keys, i64::from, budget),
        View::I32(v) => found(v, &keys, i64::from, budget),
        View::Char(v) => found(v, &keys, |c| i64::from(u32::from(c)), budget),
        _ => Ok(None),
    }
}

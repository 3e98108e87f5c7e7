//! Equality and searching: `≡ ≢ ⍳ ∊ ~ ∪ ∩ ≠ ⍸ ⍷`. Hashing with ⎕CT: equal numbers always meet in a
//! bucket.

use super::cells;
use super::groups::{Groups, Hashed, firsts_of_groups, groups, mixed, places_of_runs};
use super::hashes::{CHOICES, Steps};
use super::seek::place_of_one;
use super::shape::Axis;
use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, length, rank, ws_full};
use aplomb_ground::limits::{Budget, Ticks};
use aplomb_values::array::{Array, Complex64, Data, View, elements};
use aplomb_values::dag::Lib;
use aplomb_values::prim::library::same;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::complex;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Shape, items and, for empties, prototypes. Ready arrays.
pub fn equal(x: &Array, y: &Array, ct: f64) -> bool {
    if x.shape() != y.shape() {
        return false;
    }
    if x.is_empty() {
        let (p, q) = (x.prototype(), y.prototype());
        return p.shape() == q.shape()
            && (p.is_empty()
                || p.is_char() == q.is_char()
                    && (p.is_uniform() && q.is_uniform() || equal(&p, &q, ct)));
    }
    match (x.data(), y.data()) {
        (Data::Num(a, _), Data::Num(b, _)) => same(*a, *b, ct),
        (Data::Char(a), Data::Char(b)) => a == b,
        (Data::Dense(a), Data::Dense(b)) => {
            let number = |v: View<'_>, k: usize| match v {
                View::Complex(v) => v[k],
                v => v.number(k).into(),
            };
            let whole = x.dtype().is_integer() && y.dtype().is_integer();
            if (whole || x.is_char()) && x.is_one_with(y) {
                return true;
            }
            match (a.view(), b.view()) {
                (View::Char(a), View::Char(b)) => a == b,
                (View::Char(_), _) | (_, View::Char(_)) => false,
                (a @ View::Complex(_), b) | (a, b @ View::Complex(_)) => {
                    (0..x.len()).all(|k| complex::same(number(a, k), number(b, k), ct))
                }
                (a, b) => {
                    let ct = if whole { 0.0 } else { ct };
                    (0..x.len()).all(|k| same(a.number(k), b.number(k), ct))
                }
            }
        }
        (Data::Complex(a), Data::Complex(b)) => complex::same(*a, *b, ct),
        (Data::Num(a, _), Data::Complex(b)) => complex::same((*a).into(), *b, ct),
        (Data::Complex(a), Data::Num(b, _)) => complex::same(*a, (*b).into(), ct),
        (Data::Ref(a), Data::Ref(b)) => a == b,
        (Data::Num(_, _) | Data::Complex(_) | Data::Char(_) | Data::Ref(_), _)
        | (_, Data::Num(_, _) | Data::Complex(_) | Data::Char(_) | Data::Ref(_)) => false,
        _ => (0..x.len()).all(|k| equal(&x.item(k), &y.item(k), ct)),
    }
}

/// `X≡Y`: whether shapes and items are the same, within ⎕CT.
pub fn matches(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    if x.shape() != y.shape() {
        return Ok(Array::bool(false));
    }
    if x.frame().is_some() || y.frame().is_some() {
        return cx.framed_match(x, y);
    }
    // A NaN of a file is not itself, and floats may hold one.
    let itself = x.dtype().is_integer() || x.is_char();
    let same = match (x.pending(), y.pending()) {
        (Some(a), Some(b)) => itself && std::rc::Rc::ptr_eq(a, b),
        _ => false,
    };
    cx.force(&[x, y], "match")?;
    let (x, y) = (cx.ready(x, "match")?, cx.ready(y, "match")?);
    if same || x.is_uniform() || y.is_uniform() || x.is_empty() {
        return Ok(Array::bool(same || equal(&x, &y, cx.sys.settings.ct)));
    }
    let same = equal_in_turn(&x, &y, cx.sys.settings.ct, &mut cx.budget().ticks())?;
    Ok(Array::bool(same))
}

/// As `equal`, for arrays that may hold far more arrays than memory does. Errors: INTERRUPT.
fn equal_in_turn(x: &Array, y: &Array, ct: f64, ticks: &mut Ticks) -> Result<bool> {
    let both = matches!((x.data(), y.data()), (Data::Items(_), Data::Items(_)));
    if x.shape() != y.shape() || !both || x.is_empty() {
        ticks.spend(x.len().max(1))?;
        return Ok(equal(x, y, ct));
    }
    for (x, y) in x.in_turn().zip(y.in_turn()) {
        if !equal_in_turn(&x, &y, ct, ticks)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// `X≢Y`: whether shapes or items differ.
pub fn differs(cx: &mut Cx<'_>, x: &Array, y: &Array, axis: Axis<'_>) -> Result<Array> {
    let m = matches(cx, x, y, axis)?;
    if m.frame().is_some() {
        return cx.map1(Op::Not, &m);
    }
    Ok(Array::bool(m.number_scalar() == Some(0.0)))
}

/// Cells of one array in a table by value.
pub struct Table<'a> {
    cells: &'a [Key],
    buckets: HashMap<u64, SmallVec<[u32; 2]>, BuildHasherDefault<Hashed>>,
    ct: f64,
    /// Some key in it is.
    complex: bool,
    /// The steps of the numbers in its arrays.
    steps: Steps,
}

impl Key {
    /// The items that are gone through where it is hashed or compared.
    pub fn size(&self) -> usize {
        match self {
            Key::Cell(a) => a.len().max(1),
            Key::Num(_) | Key::Complex(_) | Key::Char(_) => 1,
        }
    }

    /// True of keys that are one array of whole numbers or characters: what is equal to itself.
    pub fn is_one_with(&self, other: &Key) -> bool {
        match (self, other) {
            (Key::Cell(a), Key::Cell(b)) => {
                a.is_uniform() && (a.is_char() || a.dtype().is_integer()) && a.is_one_with(b)
            }
            _ => false,
        }
    }
}

/// A cell as it is searched for.
pub enum Key {
    /// A real number.
    Num(f64),
    /// Not real.
    Complex(Complex64),
    /// A character.
    Char(char),
    /// An array.
    Cell(Array),
}

/// Numbers within the largest ⎕CT of each other differ by at most one in this: that is 2*¯32 of
/// what is less than twice the least number of its binade, and a step is four times as wide.
fn coarse(x: f64) -> u64 {
    (x + 0.0).to_bits() >> 22
}

/// True of two keys that are equal under the tolerance `ct`.
pub fn key_equal(a: &Key, b: &Key, ct: f64) -> bool {
    match (a, b) {
        (Key::Num(x), Key::Num(y)) => same(*x, *y, ct),
        (Key::Complex(x), Key::Complex(y)) => complex::same(*x, *y, ct),
        (Key::Complex(z), Key::Num(x)) | (Key::Num(x), Key::Complex(z)) => {
            complex::same(*z, (*x).into(), ct)
        }
        (Key::Char(x), Key::Char(y)) => x == y,
        (Key::Cell(x), Key::Cell(y)) => equal(x, y, ct),
        _ => false,
    }
}

/// Bytes of a table that a key needs: a bucket with one place in it.
pub const IN_TABLE: usize = 64;

impl<'a> Table<'a> {
    /// Errors: WS FULL before it is made, INTERRUPT.
    fn within(cells: &'a [Key], ct: f64, budget: &Budget) -> Result<Self> {
        let _held = budget.charge_elements(cells.len(), IN_TABLE)?;
        let (mut table, mut ticks) = (Table::empty(cells, ct), budget.ticks());
        table
            .buckets
            .try_reserve(cells.len())
            .map_err(|_| ws_full((cells.len() * IN_TABLE) as u64, budget.free()))?;
        for k in 0..cells.len() {
            // It stands there as the one before.
            if k > 0 && cells[k].is_one_with(&cells[k - 1]) {
                ticks.tick()?;
                continue;
            }
            ticks.spend(cells[k].size())?;
            table.insert(k);
        }
        Ok(table)
    }

    /// A table of these cells in which none is yet.
    pub fn empty(cells: &'a [Key], ct: f64) -> Self {
        let arrays = cells.iter().filter_map(|key| match key {
            Key::Cell(a) => Some(a),
            _ => None,
        });
        let steps = Steps::of(ct, arrays);
        Table { cells, buckets: HashMap::default(), ct, complex: false, steps }
    }

    /// The hash of a key. Complex numbers within ⎕CT of each other have magnitudes that are.
    fn hash(&self, key: &Key) -> u64 {
        match key {
            Key::Num(x) => coarse(*x),
            Key::Complex(z) => coarse(z.re.hypot(z.im)),
            Key::Char(c) => u64::from(u32::from(*c)) ^ 0xc0de_0000_0000,
            Key::Cell(a) => self.steps.hash(a, 0).hash,
        }
    }

    /// Puts the k-th cell into it.
    pub fn insert(&mut self, k: usize) {
        self.complex |= matches!(self.cells[k], Key::Complex(_));
        let bucket = self.buckets.entry(mixed(self.hash(&self.cells[k]) as i64)).or_default();
        // A bucket keeps one of each value, the first.
        if bucket.iter().all(|&o| !key_equal(&self.cells[o as usize], &self.cells[k], 0.0)) {
            bucket.push(k as u32);
        }
    }

    /// The first place of an equal cell.
    pub fn find(&self, key: &Key) -> Option<usize> {
        if let Key::Cell(a) = key {
            return self.find_array(key, a);
        }
        let own = self.hash(key);
        let near =
            if matches!(key, Key::Num(_) | Key::Complex(_)) && self.ct > 0.0 { 1 } else { 0 };
        // A real number and a complex one next to it: by magnitude here, by sign there.
        let other = match key {
            Key::Complex(z) if near > 0 => coarse(z.re),
            Key::Num(x) if near > 0 && self.complex => coarse(x.abs()),
            _ => own,
        };
        let around = |h: u64| {
            (h.saturating_sub(near)..=h + near).filter_map(|h| self.buckets.get(&mixed(h as i64)))
        };
        let buckets = around(own).chain(around(other).take(if other == own { 0 } else { 3 }));
        let found = buckets
            .flatten()
            .copied()
            .filter(|&k| key_equal(&self.cells[k as usize], key, self.ct));
        found.min().map(|k| k as usize)
    }
}

impl Table<'_> {
    /// The same of an array: on each choice of steps that its numbers may share with equal ones.
    fn find_array(&self, key: &Key, a: &Array) -> Option<usize> {
        let fits = |k: &u32| key_equal(&self.cells[*k as usize], key, self.ct);
        let first = self.steps.hash(a, 0);
        if first.at_edge > CHOICES {
            return (0..self.cells.len()).find(|&k| fits(&(k as u32)));
        }
        let own = |choice: u64| match choice {
            0 => first.hash,
            _ => self.steps.hash(a, choice).hash,
        };
        let buckets = (0..1u64 << first.at_edge)
            .filter_map(|choice| self.buckets.get(&mixed(own(choice) as i64)));
        buckets.flatten().copied().filter(fits).min().map(|k| k as usize)
    }
}

/// The cells of the given rank (as many trailing axes) as keys. Ready arrays.
pub fn keys(cx: &mut Cx<'_>, a: &Array, rank: usize) -> Result<Vec<Key>> {
    let a = cx.ready(a, "search")?;
    if rank == 0 {
        // The keys, and the numbers or items they are made of.
        let _held = cx.budget().charge_elements(a.len(), size_of::<Key>() + size_of::<f64>())?;
        if a.is_char() && a.is_uniform() {
            return made(a.ready_chars(cx.budget())?, Key::Char, cx.budget());
        }
        if a.is_complex() {
            let key = |z: Complex64| if z.im == 0.0 { Key::Num(z.re) } else { Key::Complex(z) };
            return made(a.ready_complexes(cx.budget())?, key, cx.budget());
        }
        if a.is_uniform() {
            return made(a.ready_numbers(cx.budget())?, Key::Num, cx.budget());
        }
        let key = |i: Array| match i.data() {
            Data::Num(x, _) => Key::Num(*x),
            Data::Complex(z) => Key::Complex(*z),
            Data::Char(c) => Key::Char(*c),
            _ => Key::Cell(i),
        };
        return made(a.to_items(cx.budget())?, key, cx.budget());
    }
    let lead = a.rank() - rank;
    let shape = a.shape()[lead..].to_vec();
    let n = elements(&a.shape()[..lead]);
    let size = elements(&shape);
    let _held = cx.budget().charge_elements(n, std::mem::size_of::<Key>())?;
    let budget = cx.budget().clone();
    budget.all((0..n).map(|k| cells::cell(cx, &a, &shape, k * size).map(Key::Cell)))
}

fn made<T>(items: Vec<T>, key: impl Fn(T) -> Key, budget: &Budget) -> Result<Vec<Key>> {
    let mut out = budget.room(items.len())?;
    let mut ticks = budget.ticks();
    for item in items {
        ticks.tick()?;
        out.push(key(item));
    }
    Ok(out)
}

/// The tolerance of comparing these: none where all are whole.
pub fn ct_of(cx: &Cx<'_>, x: &Array, y: &Array) -> f64 {
    if x.dtype().is_integer() && y.dtype().is_integer() { 0.0 } else { cx.sys.settings.ct }
}

/// `X⍳Y`
pub fn index_of(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    if x.rank() == 0 {
        return Err(rank("the left argument of ⍳ is at least a vector"));
    }
    let cell = x.rank() - 1;
    if y.rank() < cell {
        return Err(rank(format!("the cells of X have rank {cell}, Y has rank {}", y.rank())));
    }
    if y.shape()[y.rank() - cell..] != x.shape()[1..] {
        return Err(length("the cells of X and Y differ in length"));
    }
    if let Some(made) = cx.record_lib(Lib::IndexOf, &[x, y])? {
        return Ok(made);
    }
    first_places(cx, x, y)
}

/// A list of so few numbers or characters is gone through for each that is looked up.
const LIST: usize = 32;

/// The place in a short list of each item of another array, or the list's length. None: these are
/// no real numbers or characters, or the list is long.
fn places_in(have: &Array, want: &Array, ct: f64) -> Option<Vec<usize>> {
    let plain = |a: &Array| a.is_uniform() && !a.is_complex() && a.frame().is_none();
    let fits = have.rank() == 1 && have.len() <= LIST && want.len() <= LIST * LIST;
    if !fits || !plain(have) || !plain(want) || have.is_char() != want.is_char() {
        return None;
    }
    let have: Vec<f64> = (0..have.len()).map(|k| have.number_at(k)).collect::<Option<_>>()?;
    let exact = if want.is_char() { 0.0 } else { ct };
    let place = |x: f64| have.iter().position(|h| same(*h, x, exact)).map_or(have.len(), |at| at);
    match want.view_there() {
        Some(view) => Some(view.each().map(place).collect()),
        None => (0..want.len()).map(|k| want.number_at(k).map(place)).collect(),
    }
}

/// The place in a list of arrays of each of a few, or the list's length: by the list's index, or
/// item by item. None: it is no such list, or many are looked up. Errors: WS FULL, INTERRUPT.
fn places_of_few(cx: &Cx<'_>, have: &Array, want: &Array) -> Result<Option<Vec<usize>>> {
    /// Items sought that are worth a walk each.
    const FEW: usize = 2;
    let Data::Items(items) = have.data() else { return Ok(None) };
    let fits = have.rank() == 1 && want.len() <= FEW && !have.holds_lazy() && !want.holds_lazy();
    let Some(all) = items.listed().filter(|_| fits && want.frame().is_none()) else {
        return Ok(None);
    };
    let (budget, ct, mut out) = (cx.budget(), cx.sys.settings.ct, Vec::new());
    let mut ticks = budget.ticks();
    for item in want.in_turn() {
        if let Some(place) = have.indexed_place(&item, budget)? {
            out.push(place);
            continue;
        }
        let mut place = all.len();
        for (k, own) in all.iter().enumerate() {
            let same = own.shape() == item.shape();
            ticks.spend(if same { item.len().max(1) } else { 1 })?;
            if same && equal(own, &item, ct) {
                place = k;
                break;
            }
        }
        out.push(place);
    }
    Ok(Some(out))
}

/// The places in a list of each item of another array, or the list's length, where all are equal
/// only to themselves: by a table of places where the list's items lie close, else by hash. None:
/// they are other items.
fn places_of_exact(have: &Array, want: &Array, budget: &Budget) -> Result<Option<Vec<usize>>> {
    /// Places for each item that is looked up, and always some.
    const PLACES: (usize, usize) = (4, 256);
    if have.rank() != 1 || have.is_char() != want.is_char() {
        return Ok(None);
    }
    let (Some(have), Some(want)) = (exact(have, budget)?, exact(want, budget)?) else {
        return Ok(None);
    };
    let (n, mut out) = (have.len(), budget.room(want.len())?);
    let (Some(&lo), Some(&hi)) = (have.iter().min(), have.iter().max()) else {
        out.extend(std::iter::repeat_n(n, want.len()));
        return Ok(Some(out));
    };
    let size = (hi - lo) as usize + 1;
    if size <= PLACES.0.saturating_mul(n + want.len()).saturating_add(PLACES.1) {
        let mut table = budget.filled(n, size)?;
        for (k, x) in have.iter().enumerate().rev() {
            table[(x - lo) as usize] = k;
        }
        out.extend(want.iter().map(|x| match (lo..=hi).contains(x) {
            true => table[(x - lo) as usize],
            false => n,
        }));
        return Ok(Some(out));
    }
    let _held = budget.charge_elements(n, IN_TABLE)?;
    let mut table: HashMap<u64, usize, BuildHasherDefault<Hashed>> = HashMap::default();
    let mut ticks = budget.ticks();
    for (k, x) in have.iter().enumerate() {
        ticks.tick()?;
        table.entry(mixed(*x)).or_insert(k);
    }
    for x in &want {
        ticks.tick()?;
        out.push(table.get(&mixed(*x)).copied().map_or(n, |k| k));
    }
    Ok(Some(out))
}

/// The first place among the major cells of X of each cell of Y, or their number. None: no pass
/// over them all finds these. Ready arguments that fit.
pub fn places_at_once(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Option<Vec<usize>>> {
    let (x, y, ct) = (x.settled(), y.settled(), ct_of(cx, x, y));
    if let Some(places) = places_of_few(cx, &x, &y)? {
        return Ok(Some(places));
    }
    if let Some(places) = places_of_runs(cx, &x, &y, x.rank() - 1)? {
        return Ok(Some(places));
    }
    // A table is worth it from a list of items on.
    if y.len() > LIST
        && let Some(places) = places_of_exact(&x, &y, cx.budget())?
    {
        return Ok(Some(places));
    }
    match places_in(&x, &y, ct) {
        None => places_of_exact(&x, &y, cx.budget()),
        places => Ok(places),
    }
}

/// The same at once, of arguments that fit.
pub fn first_places(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Array> {
    let cell = x.rank() - 1;
    let frame = y.shape()[..y.rank() - cell].to_vec();
    cx.force(&[x, y], "search")?;
    let ct = ct_of(cx, x, y);
    if let (0, Some(at)) = (cell, place_of_one(&x.settled(), y, ct, cx.budget())?) {
        let at = at as f64 + cx.sys.settings.io;
        return match y.rank() {
            0 => Ok(Array::num(at)),
            _ => Array::numbers(frame.as_slice(), vec![at], cx.budget()),
        };
    }
    if let Some(places) = places_at_once(cx, x, y)? {
        let io = cx.sys.settings.io;
        let last = x.first_extent() + io as usize;
        if let Ok(last) = u32::try_from(last) {
            let places = places.into_iter().map(|k| (k + io as usize) as u32);
            let places = cx.budget().each(places)?;
            return Array::up_to(frame.as_slice(), places, last, cx.budget());
        }
        let places = cx.budget().each(places.into_iter().map(|k| k as f64 + io))?;
        return Array::numbers(frame.as_slice(), places, cx.budget());
    }
    let have = keys(cx, x, cell)?;
    let want = keys(cx, y, cell)?;
    let table = Table::within(&have, ct, cx.budget())?;
    let (io, mut ticks) = (cx.sys.settings.io, cx.budget().ticks());
    let place =
        |k: &Key| ticks.spend(k.size()).map(|()| table.find(k).unwrap_or(have.len()) as f64 + io);
    let out = want.iter().map(place).collect::<Result<_>>()?;
    Array::numbers(frame.as_slice(), out, cx.budget())
}

/// `X∊Y`
pub fn member(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    if let Some(made) = cx.record_lib(Lib::Member, &[y, x])? {
        return Ok(made);
    }
    found(cx, x, y)
}

/// The same at once.
pub fn found(cx: &mut Cx<'_>, x: &Array, y: &Array) -> Result<Array> {
    cx.force(&[x, y], "search")?;
    let ct = ct_of(cx, x, y);
    if let (0, Some(at)) = (x.rank(), place_of_one(&y.settled(), x, ct, cx.budget())?) {
        return Ok(Array::bool(at < y.len()));
    }
    let list = match y.rank() {
        0 if !y.is_uniform() => super::shape::reshaped(cx, y, &[1])?,
        _ => y.settled(),
    };
    let known = match list.rank() {
        1 => match places_of_few(cx, &list, &x.settled())? {
            None => places_of_runs(cx, &list, &x.settled(), 0)?,
            places => places,
        },
        _ => None,
    };
    // Where among its items a number is, the axes of a list do not say.
    let items = match y.is_uniform() && y.rank() != 1 {
        true => super::shape::reshaped(cx, y, &[y.len()])?,
        false => y.clone(),
    };
    let items = cx.ready(&items, "search")?;
    let known = match known.or_else(|| places_in(&items, &x.settled(), ct)) {
        None => places_of_exact(&items, &x.settled(), cx.budget())?,
        known => known,
    };
    if let Some(places) = known {
        let n = y.len();
        let there = places.into_iter().map(|k| f64::from(u8::from(k < n)));
        let there = cx.budget().each(there)?;
        return Array::numbers(x.shape(), there, cx.budget());
    }
    let have = keys(cx, y, 0)?;
    let want = keys(cx, x, 0)?;
    let table = Table::within(&have, ct, cx.budget())?;
    let mut ticks = cx.budget().ticks();
    let is_there =
        |k: &Key| ticks.spend(k.size()).map(|()| f64::from(u8::from(table.find(k).is_some())));
    let out = want.iter().map(is_there).collect::<Result<_>>()?;
    Array::numbers(x.shape(), out, cx.budget())
}

/// The places of first occurrences among major cells.
fn firsts(cx: &mut Cx<'_>, y: &Array) -> Result<Vec<bool>> {
    let firsts = firsts_of_groups(cx, y)?;
    let mut out = cx.budget().filled(false, y.first_extent())?;
    firsts.into_iter().for_each(|k| out[k] = true);
    Ok(out)
}

/// `∪Y`: the major cells that differ, each where it is first.
pub fn unique(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    let y = if y.rank() == 0 { super::shape::reshaped(cx, y, &[1])? } else { y.clone() };
    let firsts = firsts_of_groups(cx, &y)?;
    if firsts.len() == y.first_extent() {
        return Ok(y);
    }
    let picks: Vec<_> = cx.budget().each(firsts.into_iter().map(Some))?;
    cells::along(cx, &y, 0, &picks)
}

/// `≠Y`: 1 for the first of equal major cells.
pub fn nub_sieve(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    let keep = firsts(cx, y)?;
    let keep = cx.budget().each(keep.into_iter().map(|b| f64::from(u8::from(b))))?;
    cx.vector(keep)
}

fn vector(cx: &mut Cx<'_>, a: &Array, what: &str) -> Result<Array> {
    match a.rank() {
        0 => super::shape::reshaped(cx, a, &[1]),
        1 => Ok(a.clone()),
        _ => Err(rank(format!("{what} takes vectors"))),
    }
}

/// The items of X that are (or are not) in Y.
fn filtered(cx: &mut Cx<'_>, x: &Array, y: &Array, wanted: bool) -> Result<Array> {
    let y = if y.rank() == 1 { y.clone() } else { super::shape::ravel(cx, y, None)? };
    let there = member(cx, x, &y, None)?;
    let keep = if wanted { there } else { cx.map1(Op::Not, &there)? };
    super::repeat::replicate_first(cx, &keep, x, None)
}

/// `X~Y`: the items of X that are not in Y.
pub fn without(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    let x = vector(cx, x, "~")?;
    filtered(cx, &x, y, false)
}

/// `X∩Y`: the items of X that are in Y.
pub fn intersection(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    let (x, y) = (vector(cx, x, "∩")?, vector(cx, y, "∩")?);
    filtered(cx, &x, &y, true)
}

/// `X∪Y`: X, then the items of Y that are not in it.
pub fn union(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    let (x, y) = (vector(cx, x, "∪")?, vector(cx, y, "∪")?);
    let new = filtered(cx, &y, &x, false)?;
    cells::join(cx, &[x, new], 0)
}

/// `∪/Y` of a vector, as the vector that it encloses: of each item what none before it holds. None:
/// an item has more axes than one, or there is nothing in any.
pub fn united(cx: &mut Cx<'_>, y: &Array) -> Result<Option<Array>> {
    let n = y.len();
    let mut starts = cx.budget().room(n)?;
    let flat = match (y.split().filter(|rows| rows.cell().len() == 1), y.pieces()) {
        (Some(rows), _) => {
            let m = rows.cell()[0];
            starts.extend((0..n).map(|k| k * m));
            super::shape::reshaped(cx, &rows.node, &[n * m])?
        }
        (None, Some(pieces)) => {
            starts.extend((0..n).map(|k| pieces.range(k).start));
            pieces.flat().clone()
        }
        (None, None) => {
            let _items = cx.budget().charge_elements(n, 2 * size_of::<Array>())?;
            let (mut parts, mut ticks) = (cx.budget().room(n)?, cx.budget().ticks());
            let mut start = 0;
            for a in y.in_turn() {
                ticks.tick()?;
                if a.rank() > 1 {
                    return Ok(None);
                }
                starts.push(start);
                start += a.len();
                parts.push(super::shape::reshaped(cx, &a, &[a.len()])?);
            }
            cells::join(cx, &parts, 0)?
        }
    };
    if flat.is_empty() {
        return Ok(None);
    }
    let flat = cx.ready(&flat, "union")?;
    let first: Vec<usize> = match flat.is_char() || flat.dtype().is_integer() {
        true => {
            let Groups { firsts, of } = groups(cx, &flat)?;
            cx.budget().each(of.iter().map(|&group| firsts[group as usize]))?
        }
        // What is equal within ⎕CT is in no one group.
        false => {
            let first = first_places(cx, &flat, &flat)?;
            let (io, first) = (cx.sys.settings.io, cx.numbers(&first, "union")?);
            cx.budget().each(first.iter().map(|at| (at - io) as usize))?
        }
    };
    let (mut keep, mut item) = (cx.budget().room(flat.len())?, 0);
    let mut ticks = cx.budget().ticks();
    for (k, at) in first.iter().enumerate() {
        ticks.tick()?;
        while starts.get(item + 1).is_some_and(|start| *start <= k) {
            item += 1;
        }
        keep.push(u32::from(*at >= starts[item]));
    }
    let keep = Array::up_to(flat.shape(), keep, 1, cx.budget())?;
    super::repeat::replicate_first(cx, &keep, &flat, None).map(Some)
}

/// The cells of the given rank as arrays.
pub fn cell_arrays(cx: &mut Cx<'_>, a: &Array, rank: usize) -> Result<Vec<Array>> {
    let _held = cx.budget().charge_elements(a.len(), std::mem::size_of::<Array>())?;
    let cells = keys(cx, a, rank)?.into_iter().map(|k| match k {
        Key::Num(x) => Array::num(x),
        Key::Complex(z) => Array::complex(z),
        Key::Char(c) => Array::char(c),
        Key::Cell(a) => a,
    });
    Ok(cells.collect())
}

/// Items that are equal only to themselves, whatever ⎕CT: characters, and whole numbers that are
/// not too large. None: there are others.
pub fn exact(a: &Array, budget: &Budget) -> Result<Option<Vec<i64>>> {
    /// No whole number here is a character's.
    const CHARACTERS: i64 = 1 << 40;
    let plain = a.is_uniform() && a.frame().is_none() && !a.is_complex();
    if !plain {
        return Ok(None);
    }
    let (mut out, mut ticks) = (budget.room(a.len())?, budget.ticks());
    if a.is_char() {
        for c in a.ready_chars(budget)? {
            ticks.tick()?;
            out.push(CHARACTERS + i64::from(u32::from(c)));
        }
        return Ok(Some(out));
    }
    for x in a.ready_numbers(budget)? {
        ticks.tick()?;
        if x != x.trunc() || x.abs() > f64::from(i32::MAX) {
            return Ok(None);
        }
        out.push(x as i64);
    }
    Ok(Some(out))
}

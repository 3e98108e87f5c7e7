//! One item sought in an array, or in each of many pieces: a walk that ends where it is found.

use aplomb_ground::error::Result;
use aplomb_ground::limits::{Budget, Ticks};
use aplomb_values::array::{Array, Data, Ragged, View};
use aplomb_values::prim::library::first_of;

/// Items between two looks at the interrupt.
const LOOK: usize = 1 << 14;

/// The place of the first of an array's items that is the one sought, or their number. None: these
/// are not numbers, or not characters, that lie in memory.
pub fn place_of_one(
    list: &Array,
    sought: &Array,
    ct: f64,
    budget: &Budget,
) -> Result<Option<usize>> {
    let Data::Dense(held) = list.data() else { return Ok(None) };
    if sought.len() != 1 || sought.frame().is_some() || list.is_char() != sought.is_char() {
        return Ok(None);
    }
    let (view, ticks) = (held.view(), &mut budget.ticks());
    let Some(one) = sought.settled().number_at(0) else { return Ok(None) };
    let number = |c: &char| f64::from(u32::from(*c)) == one;
    Ok(Some(match view {
        View::Char(items) => place(items, ticks, |some| some.iter().position(number))?,
        View::Bool(items) => place(items, ticks, |some| first_whole(some, one, ct))?,
        View::I8(items) => place(items, ticks, |some| first_whole(some, one, ct))?,
        View::I16(items) => place(items, ticks, |some| first_whole(some, one, ct))?,
        View::I32(items) => place(items, ticks, |some| first_whole(some, one, ct))?,
        View::F32(items) => place(items, ticks, |some| first_of(some, one, ct))?,
        View::F64(items) => place(items, ticks, |some| first_of(some, one, ct))?,
        View::Complex(_) => return Ok(None),
    }))
}

/// The place in each piece of the first of its items that is the one sought, or their number. None:
/// as for one array, or they are of another kind than what is sought.
pub fn places_of_one(
    pieces: &Ragged,
    sought: &Array,
    ct: f64,
    budget: &Budget,
) -> Result<Option<Vec<u32>>> {
    let flat = pieces.flat();
    let Data::Dense(held) = flat.data() else { return Ok(None) };
    if sought.len() != 1 || sought.frame().is_some() || flat.is_char() != sought.is_char() {
        return Ok(None);
    }
    let Some(one) = sought.settled().number_at(0) else { return Ok(None) };
    let (mut out, mut ticks) = (budget.room(pieces.count())?, budget.ticks());
    macro_rules! each {
        ($items:expr, $find:expr) => {
            for k in 0..pieces.count() {
                let some = &$items[pieces.range(k)];
                out.push(place(some, &mut ticks, $find)? as u32);
            }
        };
    }
    match held.view() {
        View::Char(items) => {
            let is = |c: &char| f64::from(u32::from(*c)) == one;
            each!(items, |some: &[char]| some.iter().position(is))
        }
        View::Bool(items) => each!(items, |some: &[u8]| first_of(some, one, ct)),
        View::I8(items) => each!(items, |some: &[i8]| first_of(some, one, ct)),
        View::I16(items) => each!(items, |some: &[i16]| first_of(some, one, ct)),
        View::I32(items) => each!(items, |some: &[i32]| first_of(some, one, ct)),
        View::F32(items) => each!(items, |some: &[f32]| first_of(some, one, ct)),
        View::F64(items) => each!(items, |some: &[f64]| first_of(some, one, ct)),
        View::Complex(_) => return Ok(None),
    }
    Ok(Some(out))
}

/// The first place of a whole number, in their own type where ⎕CT is no matter.
fn first_whole<T>(items: &[T], one: f64, ct: f64) -> Option<usize>
where
    T: Copy + PartialEq + Into<f64> + TryFrom<i64>,
{
    /// Items that are compared before anybody asks whether one was equal.
    const BLOCK: usize = 256;
    if ct != 0.0 {
        return first_of(items, one, ct);
    }
    let one = T::try_from(one as i64).ok().filter(|own| (*own).into() == one)?;
    let any = |block: &[T]| block.iter().fold(false, |any, item| any | (*item == one));
    let (k, block) = items.chunks(BLOCK).enumerate().find(|(_, block)| any(block))?;
    block.iter().position(|item| *item == one).map(|at| k * BLOCK + at)
}

/// The first place that `find` finds in some of the items after others, or the number of all.
fn place<T>(items: &[T], ticks: &mut Ticks, find: impl Fn(&[T]) -> Option<usize>) -> Result<usize> {
    for (k, some) in items.chunks(LOOK).enumerate() {
        ticks.spend(some.len())?;
        if let Some(at) = find(some) {
            return Ok(k * LOOK + at);
        }
    }
    Ok(items.len())
}

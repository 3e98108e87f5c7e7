//! A declaration from the arguments of an example call: their types and ranks, and the extents that
//! a function leaves free.
//!
//! An extent is free where the function can be written without knowing it, and two have one name
//! where it cannot be written otherwise. That is found by trying: first all equal extents under
//! one name, then each on its own. What the function needs as it is stays a number.

use crate::declared::{Argument, Declaration, Extent, Leaf, MOST_FREE};
use aplomb_ground::error::{Error, Kind, Result, domain};
use aplomb_values::array::{Array, DType, Data};

/// Names for extents, in the order in which they come.
const LETTERS: [&str; MOST_FREE] = ["n", "m", "k"];

/// The declaration of a function that was called with these arguments, the left one first; `works`
/// says whether it can be written for one. Errors: those of `works` where no extent is free, and
/// DOMAIN for an argument that no declaration has.
pub fn of_example(
    arguments: &[Array],
    works: &mut dyn FnMut(&Declaration) -> Result<()>,
) -> Result<Declaration> {
    let arguments = arguments.iter().map(argument).collect::<Result<Vec<_>>>()?;
    let mut trial = Trial { arguments, works };
    let axes = trial.axes();
    let numbers: Vec<usize> = axes.iter().map(|(_, n)| *n).collect();
    let mut names = trial.begun(&numbers)?;
    // Extents that are equal by chance: those of the rows apart from those of the columns, then
    // each apart from the others.
    for name in 0..numbers.len() {
        let apart = |k: usize| axes[k].0;
        names = trial.split(names, name, &|k, first| apart(k) != apart(first))?;
        for k in 0..numbers.len() {
            names = trial.split(names, name, &|other, _| other == k)?;
        }
    }
    let all = trial.declared(&names);
    match all.leaves().iter().any(|leaf| leaf.extents.contains(&Extent::Fixed(0))) {
        true => Err(domain("the function needs an extent of the example that is 0")
            .hint("an example whose arrays have items says what the function is for")),
        false => Ok(all),
    }
}

/// For each axis the number of its name; None: it stays as it is.
type Names = Vec<Option<usize>>;

struct Trial<'a> {
    /// The arguments with their own extents.
    arguments: Vec<Argument>,
    works: &'a mut dyn FnMut(&Declaration) -> Result<()>,
}

impl Trial<'_> {
    /// For each axis of each array which axis of it that is, and its extent.
    fn axes(&self) -> Vec<(usize, usize)> {
        let plain = Declaration::of(self.arguments.clone());
        let leaves = plain.leaves();
        let of = |leaf: &&Leaf| plain.shape(leaf, &[]).into_iter().enumerate().collect::<Vec<_>>();
        leaves.iter().flat_map(of).collect()
    }

    /// Equal extents under one name, as many as may be free.
    fn begun(&mut self, numbers: &[usize]) -> Result<Names> {
        let first = |n: &usize| numbers.iter().position(|m| m == n);
        let all: Names = numbers.iter().map(first).collect();
        if self.holds(&all)? {
            return Ok(all);
        }
        let mut names: Names = numbers.iter().map(|_| None).collect();
        let declared = self.declared(&names);
        (self.works)(&declared)?;
        for k in 0..numbers.len() {
            if all[k] == Some(k) {
                let freed =
                    |(own, all): (&Option<usize>, &Option<usize>)| own.or(all.filter(|a| *a == k));
                let more: Names = names.iter().zip(&all).map(freed).collect();
                if self.holds(&more)? {
                    names = more;
                }
            }
        }
        Ok(names)
    }

    /// The same with some of the axes of a name under another, if that holds. `apart` has an axis
    /// and the first one of the name.
    fn split(
        &mut self,
        names: Names,
        name: usize,
        apart: &dyn Fn(usize, usize) -> bool,
    ) -> Result<Names> {
        let own: Vec<usize> = (0..names.len()).filter(|k| names[*k] == Some(name)).collect();
        let Some(first) = own.first() else { return Ok(names) };
        let moved: Vec<usize> = own.iter().copied().filter(|k| apart(*k, *first)).collect();
        if moved.is_empty() || moved.len() == own.len() {
            return Ok(names);
        }
        let fresh = names.iter().flatten().max().map_or(0, |most| most + 1);
        let mut more = names.clone();
        moved.into_iter().for_each(|k| more[k] = Some(fresh));
        Ok(if self.holds(&more)? { more } else { names })
    }

    /// Whether the function can be written so. Errors: a wish to stop.
    fn holds(&mut self, names: &Names) -> Result<bool> {
        let mut all: Vec<usize> = names.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        if all.len() > MOST_FREE {
            return Ok(false);
        }
        let declared = self.declared(names);
        match (self.works)(&declared) {
            Ok(()) => Ok(true),
            Err(e) if matches!(e.kind(), Kind::Interrupt | Kind::Limit | Kind::Internal) => Err(e),
            Err(_) => Ok(false),
        }
    }

    fn declared(&self, names: &Names) -> Declaration {
        let mut order: Vec<usize> = Vec::new();
        for name in names.iter().flatten() {
            if !order.contains(name) {
                order.push(*name);
            }
        }
        let letter =
            |name: &usize| order.iter().position(|o| o == name).and_then(|k| LETTERS.get(k));
        let mut next = names.iter().map(|name| name.as_ref().and_then(letter));
        let mut out = self.arguments.clone();
        out.iter_mut().for_each(|a| renamed(a, &mut next));
        Declaration::of(out)
    }
}

fn renamed<'a>(argument: &mut Argument, next: &mut impl Iterator<Item = Option<&'a &'a str>>) {
    match argument {
        Argument::One(leaf) => {
            for (extent, name) in leaf.extents.iter_mut().zip(next) {
                if let Some(name) = name {
                    *extent = Extent::Free(name.to_string());
                }
            }
        }
        Argument::Several(more) => more.iter_mut().for_each(|a| renamed(a, next)),
    }
}

/// An argument as a declaration has it, its extents numbers.
fn argument(array: &Array) -> Result<Argument> {
    if let Data::Items(items) = array.data()
        && !array.is_uniform()
    {
        return match array.rank() {
            1 => Ok(Argument::Several(items.iter().map(|a| argument(&a)).collect::<Result<_>>()?)),
            _ => Err(no_argument("an array of arrays that is no vector")),
        };
    }
    if array.is_char() {
        return Err(no_argument("characters"));
    }
    let tells = array.rank() > 0 && !array.is_empty();
    let extents = array.shape().iter().map(|n| Extent::Fixed(*n)).collect();
    let dtype = match array.dtype() {
        DType::Bool if tells => DType::Bool,
        _ if array.is_empty() && array.dtype() != DType::F32 => DType::F64,
        // Small whole numbers of an example say nothing of others.
        DType::Bool | DType::I8 | DType::I16 | DType::I32 => DType::I32,
        DType::F32 => DType::F32,
        DType::F64 => DType::F64,
        _ => return Err(no_argument("numbers that are not real")),
    };
    Ok(Argument::One(Leaf { dtype, extents }))
}

fn no_argument(what: &str) -> Error {
    domain(format!("an exported function does not take {what}"))
        .hint("it takes numbers and truth values, and vectors of arrays of these")
}

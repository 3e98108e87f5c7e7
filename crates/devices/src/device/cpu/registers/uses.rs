//! The numbers that instructions read and write one by one, and which of them are used most.

use aplomb_values::registers::{Arg, Do};

/// A round of a loop counts as so many of the steps around it.
const ROUND: u64 = 8;

/// The numbers that a step reads and writes one by one; None: the step is left to the machine.
fn numbers(step: &Do) -> Option<Vec<Arg>> {
    use Arg::{Fixed, Register};
    Some(match *step {
        Do::One { into, y, .. } | Do::Copy { into, y } => vec![Register(into), y],
        Do::Two { into, x, y, .. } => vec![Register(into), x, y],
        Do::Pick { into, at, .. } => vec![Register(into), at],
        Do::Unless { y, .. } | Do::Append { y, .. } => vec![y],
        Do::Item { into, at, .. } => vec![Register(into), at],
        Do::Set { slot, y } => vec![Fixed(slot), y],
        Do::SetItem { at, y, .. } => vec![at, y],
        Do::Tally { into, .. } | Do::Columns { into, .. } => vec![Register(into)],
        Do::Find { into, y, .. } => vec![Register(into), y],
        Do::Place { into, row, column, .. } => vec![Register(into), row, column],
        Do::Known { into, at, .. } => vec![Register(into), Register(at)],
        Do::SetKnown { at, y, .. } => vec![Register(at), y],
        Do::Over { next } => vec![Fixed(next)],
        Do::Count { y, next, end } => vec![y, Fixed(next), Fixed(end)],
        Do::Next { next, slot, .. } => vec![Fixed(next), Fixed(slot)],
        Do::CountOn { next, end, slot, .. } => vec![Fixed(next), Fixed(end), Fixed(slot)],
        Do::Call { into, x, y, .. } => {
            [Some(Register(into)), x, Some(y)].into_iter().flatten().collect()
        }
        Do::Again { x, y, .. } => [x, Some(y)].into_iter().flatten().collect(),
        Do::Give(y) => vec![y],
        Do::Cut { end: true, .. } | Do::Jump(_) => vec![],
        _ => return None,
    })
}

/// The numbers that are used most, innermost loops first.
pub fn most_used(steps: &[Do]) -> Vec<Arg> {
    let back = |(at, step): (usize, &Do)| match step {
        Do::Jump(to) if *to as usize <= at => Some((*to as usize, at)),
        _ => None,
    };
    let loops: Vec<(usize, usize)> = steps.iter().enumerate().filter_map(back).collect();
    let picked: Vec<(u16, u16)> = steps
        .iter()
        .filter_map(|step| match step {
            Do::Pick { from, n, .. } => Some((*from, *n)),
            _ => None,
        })
        .collect();
    let mut uses: Vec<(Arg, u64)> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let deep = loops.iter().filter(|(from, to)| (*from..=*to).contains(&at)).count();
        let worth = ROUND.saturating_pow(deep as u32);
        for arg in numbers(step).into_iter().flatten() {
            // What is picked by a place lies in memory.
            let in_memory = picked.iter().any(|(from, n)| match arg {
                Arg::Register(k) => k.checked_sub(*from).is_some_and(|k| k < *n),
                Arg::Fixed(_) => false,
            });
            match uses.iter_mut().find(|(known, _)| *known == arg) {
                _ if in_memory => {}
                Some((_, uses)) => *uses = uses.saturating_add(worth),
                None => uses.push((arg, worth)),
            }
        }
    }
    uses.sort_by_key(|(_, uses)| std::cmp::Reverse(*uses));
    uses.into_iter().map(|(arg, _)| arg).collect()
}

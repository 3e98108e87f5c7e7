//! Items that are dropped from the front of a list, which go when many are gone: a queue that is
//! read item by item would else be moved once for each.
//!
//! Their number is known by list; most programs have no such list. The steps that a queue is
//! made of count with it (`≢`, an item, `,←`, a further cut); before any other step that mentions
//! the list, and where a run ends, the items go.

use super::machine::Machine;
use super::program::List;
use aplomb_values::registers::Do;

impl Machine {
    /// The number of a list's first items that are no longer there.
    #[inline]
    pub(super) fn cut_off(&self, of: u16) -> usize {
        match self.cuts.is_empty() {
            true => 0,
            false => self.cuts.iter().find(|(list, _)| *list == of).map_or(0, |(_, n)| *n),
        }
    }

    /// Drops items at an end of a list. None: it is another's.
    pub(super) fn cut(&mut self, of: u16, n: usize, end: bool) -> Option<()> {
        let gone = self.cut_off(of);
        let List::Own(items, None) = &mut self.lists[of as usize] else { return None };
        let n = n.min(items.len() - gone);
        if end {
            items.truncate(items.len() - n);
            return Some(());
        }
        let gone = gone + n;
        self.cuts.retain(|(list, _)| *list != of);
        match 2 * gone >= items.len() {
            true => drop(items.drain(..gone)),
            false => self.cuts.push((of, gone)),
        }
        Some(())
    }

    /// Lets go of what is gone of the lists that a step mentions, or of all.
    #[inline]
    pub(super) fn lets_go(&mut self, step: Option<&Do>) {
        if !self.cuts.is_empty() {
            self.lets_go_of_some(step);
        }
    }

    #[cold]
    fn lets_go_of_some(&mut self, step: Option<&Do>) {
        let counts = |step: &Do| {
            matches!(step, Do::Tally { .. } | Do::Item { .. } | Do::Append { .. } | Do::Cut { .. })
        };
        if step.is_some_and(counts) {
            return;
        }
        let lists = &mut self.lists;
        self.cuts.retain(|(of, n)| {
            let stays = step.is_some_and(|step| !step.mentions(*of));
            if let (false, List::Own(items, _)) = (stays, &mut lists[*of as usize]) {
                drop(items.drain(..*n));
            }
            stays
        });
    }
}

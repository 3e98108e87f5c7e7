//! The lists that calls have: stretches of items, which others may hold as well.
//!
//! A recursion takes a list apart (`h↑⍵`, `1↓⍵`) and puts lists together (`⍺,⍵`). A part is a
//! stretch of the same memory, so that it takes no time; what lies side by side there is one
//! stretch again. Whoever changes items copies those of its stretch, unless nobody else holds the
//! memory. There is room at an end, as much as there are items, once some were put there.

use std::rc::Rc;

/// Items of a list.
#[derive(Clone, Default)]
pub struct Stretch {
    /// None of a list that never had any.
    all: Option<Rc<Vec<f64>>>,
    from: usize,
    to: usize,
}

impl From<Vec<f64>> for Stretch {
    fn from(items: Vec<f64>) -> Stretch {
        let to = items.len();
        Stretch { all: Some(Rc::new(items)), from: 0, to }
    }
}

impl Stretch {
    pub fn items(&self) -> &[f64] {
        self.all.as_ref().map_or(&[], |all| &all[self.from..self.to])
    }

    pub fn len(&self) -> usize {
        self.to - self.from
    }

    /// The items that it has memory for, of which each holder has a part.
    pub fn share(&self) -> usize {
        self.all.as_ref().map_or(0, |all| all.capacity() / Rc::strong_count(all))
    }

    /// The memory, where nobody else holds it.
    fn alone(&mut self) -> Option<&mut Vec<f64>> {
        self.all.as_mut().and_then(Rc::get_mut)
    }

    /// The items that are copied, or made room for, before some are changed or so many are put at
    /// an end.
    pub fn copies(&mut self, more: usize, front: bool) -> usize {
        let (from, to) = (self.from, self.to);
        let has_room = |all: &mut Vec<f64>| match (more, front) {
            (0, _) => true,
            (_, true) => from >= more,
            (_, false) => all.capacity() - to >= more,
        };
        match self.alone().is_some_and(has_room) {
            true => 0,
            false if more == 0 => self.len(),
            false => 3 * self.len() + more,
        }
    }

    /// The stretch without so many items at its front, and with no more than so many.
    pub fn cut(&mut self, gone: usize, left: usize) {
        self.from += gone.min(self.len());
        self.to = self.from + left.min(self.len());
    }

    /// The memory of nobody else's that the items lie in from here on, with room for so many more
    /// at an end. None: there is none to be had.
    fn own(&mut self, more: usize, front: bool) -> Option<&mut Vec<f64>> {
        if self.copies(more, front) > 0 || self.all.is_none() {
            // The room at the other end stays, but for what a queue has left there.
            let (from, to, len) = (self.from, self.to, self.len());
            let rooms = |all: &mut Vec<f64>| (from.min(len), (all.capacity() - to).min(len));
            let mut room = self.alone().map_or((0, 0), rooms);
            match (more, front) {
                (0, _) => {}
                (_, true) => room.0 = more.max(len),
                (_, false) => room.1 = more.max(len),
            }
            let mut all = Vec::new();
            all.try_reserve_exact(room.0 + len + room.1).ok()?;
            all.extend(std::iter::repeat_n(0.0, room.0));
            all.extend_from_slice(self.items());
            (self.from, self.to) = (room.0, all.len());
            self.all = Some(Rc::new(all));
        }
        self.alone()
    }

    /// The items, to be changed. None: there is no memory for a copy.
    pub fn changed(&mut self) -> Option<&mut [f64]> {
        if self.len() == 0 {
            return Some(&mut []);
        }
        self.own(0, false)?;
        let (from, to) = (self.from, self.to);
        self.alone().map(|all| &mut all[from..to])
    }

    /// An item more at its front. None: there is no memory for it.
    pub fn put_before(&mut self, x: f64) -> Option<()> {
        self.own(1, true)?;
        self.from -= 1;
        let at = self.from;
        self.alone()?[at] = x;
        Some(())
    }

    /// Items more at its end. None: there is no memory for them.
    pub fn put_behind(&mut self, items: &[f64]) -> Option<()> {
        if items.is_empty() {
            return Some(());
        }
        self.own(items.len(), false)?;
        let to = self.to;
        let all = self.alone()?;
        all.truncate(to);
        all.extend_from_slice(items);
        self.to = to + items.len();
        Some(())
    }

    /// True of one whose items lie before those of another: it is both from now on.
    pub fn joins(&mut self, other: &Stretch) -> bool {
        let side_by_side = match (&self.all, &other.all) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b) && self.to == other.from,
            _ => false,
        };
        if side_by_side {
            self.to = other.to;
        }
        side_by_side
    }

    /// The memory, emptied, where nobody else holds it.
    pub fn taken(&mut self) -> Vec<f64> {
        (self.from, self.to) = (0, 0);
        match self.alone() {
            Some(all) => {
                all.clear();
                std::mem::take(all)
            }
            None => Vec::new(),
        }
    }

    /// The items as a vector.
    pub fn into_items(mut self) -> Vec<f64> {
        let (from, to) = (self.from, self.to);
        match self.alone() {
            Some(all) if from == 0 => {
                all.truncate(to);
                std::mem::take(all)
            }
            _ => {
                let mut items = Vec::new();
                items.extend_from_slice(self.items());
                items
            }
        }
    }

    /// Other items, in the place of these.
    pub fn fill(&mut self, items: Vec<f64>) {
        (self.from, self.to) = (0, items.len());
        match self.alone() {
            Some(all) => *all = items,
            None => self.all = Some(Rc::new(items)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stretch;

    #[test]
    fn parts_share_memory_until_one_is_changed() {
        let all = Stretch::from(vec![1.0, 2.0, 3.0, 4.0, 5.0]);
        let (mut a, mut b) = (all.clone(), all.clone());
        a.cut(0, 2);
        b.cut(2, usize::MAX);
        assert_eq!((a.items(), b.items()), (&[1.0, 2.0][..], &[3.0, 4.0, 5.0][..]));
        let mut both = a.clone();
        assert!(both.joins(&b) && !b.clone().joins(&a));
        assert_eq!(both.items(), all.items());
        both.changed().expect("memory")[0] = 9.0;
        a.put_behind(&[7.0, 8.0]).expect("memory");
        b.put_before(6.0).expect("memory");
        assert_eq!(all.items(), [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(both.items(), [9.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(a.items(), [1.0, 2.0, 7.0, 8.0]);
        assert_eq!(b.items(), [6.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn ends_that_grow_have_room() {
        let mut list = Stretch::default();
        let mut copies = 0;
        for k in 0..1_000 {
            let front = k % 3 == 0;
            copies += list.copies(1, front);
            let done = match front {
                true => list.put_before(f64::from(k)),
                false => list.put_behind(&[f64::from(k)]),
            };
            done.expect("memory");
        }
        assert_eq!((list.len(), list.items()[0]), (1_000, 999.0));
        assert!(copies < 40_000, "{copies}");
        // What was cut off an end is room again, but not of another's.
        list.cut(1, 10);
        let other = list.clone();
        list.put_behind(&[0.5]).expect("memory");
        assert_eq!((other.len(), list.len()), (10, 11));
        list.cut(0, 0);
        list.put_behind(&[]).expect("memory");
        assert_eq!(list.changed(), Some(&mut [][..]));
        assert_eq!(list.taken().len(), 0);
        list.fill(vec![1.0, 2.0]);
        assert_eq!(list.clone().into_items(), [1.0, 2.0]);
        list.cut(1, 1);
        assert_eq!(list.into_items(), [2.0]);
    }
}

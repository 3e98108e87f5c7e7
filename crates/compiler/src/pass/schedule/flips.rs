//! Flips: choices of the planner made the other way, where the whole plan is cheaper for it or
//! somebody asks what it is then.
//!
//! Legality goes first: a flip never makes a plan that is not one. Costs are not asked.

use aplomb_values::dag::NodeId;

/// The other way of a choice about a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// A buffer of its own.
    Store,
    /// Computing it where it is read.
    Inline,
    /// A launch of its own.
    Apart,
    /// One launch with others of its domain, though they share nothing.
    Together,
    /// Counting a use of its shape as one of its values.
    Used,
}

impl Way {
    /// The way that takes it back.
    fn back(self) -> Way {
        match self {
            Way::Store => Way::Inline,
            Way::Inline => Way::Store,
            Way::Apart => Way::Together,
            Way::Together => Way::Apart,
            Way::Used => Way::Used,
        }
    }
}

/// A choice about a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flip {
    pub at: NodeId,
    pub way: Way,
}

/// The number of choices that are made the other way at once, at most.
pub const MOST: usize = 12;

/// The choices that are made the other way, since the whole plan is cheaper so (`settle`) or since
/// somebody prices them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flips([Option<Flip>; MOST]);

impl Flips {
    /// One more. None: there is no room.
    pub fn and(mut self, flip: Flip) -> Option<Flips> {
        *self.0.iter_mut().find(|f| f.is_none())? = Some(flip);
        Some(self)
    }

    /// Choices with one more made the other way: one that made it so is taken back. None: there is
    /// no room.
    pub fn with(self, flip: Flip) -> Option<Flips> {
        let undone = Flip { way: flip.way.back(), ..flip };
        match self.has(undone.at, undone.way) {
            true => Some(self.without(undone)),
            false => self.and(flip),
        }
    }

    /// Choices without one of them.
    pub fn without(self, flip: Flip) -> Flips {
        let rest = self.0.into_iter().flatten().filter(|own| *own != flip);
        rest.enumerate().fold(Flips::default(), |mut out, (k, own)| {
            out.0[k] = Some(own);
            out
        })
    }

    pub fn has(&self, at: NodeId, way: Way) -> bool {
        self.0.contains(&Some(Flip { at, way }))
    }

    /// A test: some of these nodes goes that way.
    pub fn any(&self, nodes: &[NodeId], way: Way) -> bool {
        !self.is_empty() && nodes.iter().any(|at| self.has(*at, way))
    }

    pub fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }

    pub fn iter(&self) -> impl Iterator<Item = Flip> + '_ {
        self.0.iter().flatten().copied()
    }

    /// The nodes that are stored for it.
    pub fn stored(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.iter().filter(|f| f.way == Way::Store).map(|f| f.at)
    }
}

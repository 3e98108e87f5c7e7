//! Restless places: places in the text whose graphs are of another form each time.
//!
//! A loop in which an extent changes records another graph each turn, and no plan is used twice.
//! Compiling a node takes as long as the host takes for some ten thousand elements, so where the
//! last evaluations of a place all had a plan made, its small graphs are done operation by
//! operation on the host (`replay`). Now and then one is compiled: the extents may rest again.

use super::cx::Cx;
use super::work::why;
use aplomb_ground::error::Result;
use aplomb_ground::span::{Place, Source, Span};
use aplomb_values::array::elements;
use aplomb_values::dag::{Cell, Role};
use std::rc::Rc;
use std::sync::{Arc, Weak};

/// Plans made running that make a place restless, and the nodes in them.
const NEWS: (u32, usize) = (2, 64);
/// Evaluations on the host until one is compiled again.
const AGAIN: u32 = 64;
/// Elements that the host does while a node is compiled.
const NODE: usize = 1 << 16;
/// Places that are known; the one that was seen first goes first.
const PLACES: usize = 16;

/// The places whose last evaluations had plans made.
#[derive(Clone, Default)]
pub struct Restless(Vec<Known>);

#[derive(Clone)]
struct Known {
    /// A text and a stretch of it. As long as the place is known no other text stands where it did,
    /// though its own characters may be gone.
    source: Weak<Source>,
    span: Span,
    /// Plans made running, and their nodes.
    news: (u32, usize),
    /// Evaluations on the host since the last one.
    since: u32,
}

impl Restless {
    fn find(&mut self, at: &Place) -> Option<&mut Known> {
        let is = |known: &&mut Known| {
            known.span == at.span && std::ptr::eq(known.source.as_ptr(), Arc::as_ptr(&at.source))
        };
        self.0.iter_mut().find(is)
    }

    /// An evaluation of so many nodes of a place had its plan, or one was made for it.
    pub fn note(&mut self, at: &Place, nodes: usize, is_new: bool) {
        match (self.find(at), is_new) {
            (Some(known), true) => {
                known.news = (known.news.0 + 1, known.news.1.saturating_add(nodes));
                known.since = 0;
            }
            (Some(known), false) => known.news = (0, 0),
            (None, true) => {
                if self.0.len() == PLACES {
                    self.0.remove(0);
                }
                let (source, span) = (Arc::downgrade(&at.source), at.span);
                self.0.push(Known { source, span, news: (1, nodes), since: 0 });
            }
            (None, false) => {}
        }
    }

    /// True where the next evaluation of a place would likely have a plan made in vain.
    fn expects_new(&mut self, at: &Place) -> bool {
        let many = |known: &&mut Known| known.news.0 >= NEWS.0 && known.news.1 >= NEWS.1;
        let Some(known) = self.find(at).filter(many) else { return false };
        known.since += 1;
        known.since < AGAIN
    }
}

/// The work of an operation on the host, in elements of a scalar function. None: it has no loop of
/// its own there.
fn work(cell: &Cell) -> Option<usize> {
    /// The time of an item that goes by itself, in those of a loop's.
    const SLOW: usize = 8;
    let (node, n) = (cell.node()?, elements(cell.shape()));
    let consumed = node.consumes().map_or(n, |(src, _)| elements(src.shape()));
    match node.role() {
        Role::Index | Role::Move | Role::AtPlaces => Some(n.saturating_mul(SLOW)),
        // What goes along an axis beside what it holds chooses of it.
        Role::Consumer if node.facts().held() > 0 && node.facts().axis().is_some() => {
            Some(consumed.saturating_mul(SLOW))
        }
        Role::Elementwise | Role::Consumer => node.facts().operation().map(|_| consumed),
        Role::Given => None,
    }
}

impl Cx<'_> {
    /// Computes cells on the host, where they are a restless place's and small. False: they are
    /// not, and nothing happened. Errors: as for `replay`.
    pub(super) fn done_by_host(&mut self, cells: &[Rc<Cell>]) -> Result<bool> {
        let whole = self.sys.records_all() || self.sys.recorder.ahead;
        let Some(at) = self.place().filter(|_| !whole) else { return Ok(false) };
        let most = cells.len().saturating_mul(NODE);
        let add = |sum: usize, cell| Some(sum.saturating_add(work(cell)?));
        let fits = |all: Option<usize>| all.is_some_and(|all| all <= most);
        let open = |cell: &Rc<Cell>| cell.is_hole();
        if !self.sys.restless.expects_new(&at)
            || cells.iter().any(open)
            || !fits(cells.iter().map(|c| &**c).try_fold(0, add))
        {
            return Ok(false);
        }
        self.replay(cells, why::RESTLESS)?;
        Ok(true)
    }
}

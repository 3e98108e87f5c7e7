//! A value laid out: what of it is shown, in which kind of box, and how each piece is written.
//!
//! In: a ready value. Out: a tree that both writers go by, `boxed` to text and `page` to HTML, so
//! that neither can show another structure than the other. Text shows all rows; a page leaves out
//! the middle, which is cut away before anything is written: a table costs what is seen of it.

use super::grid::{self, Grid};
use crate::array::{Array, Data, Reference, elements};
use crate::prim::moves::gather;
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;

/// The kinds of an array's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Numbers,
    Characters,
    Mixed,
    Nested,
}

impl Kind {
    /// As it stands on a frame's lower edge.
    pub fn mark(self) -> char {
        match self {
            Kind::Numbers => '~',
            Kind::Characters => '─',
            Kind::Mixed => '+',
            Kind::Nested => '∊',
        }
    }
}

pub struct Layout {
    pub shape: Vec<usize>,
    pub kind: Kind,
    /// The dtype; `mixed` and `nested` for items.
    pub dtype: &'static str,
    /// Rows and columns that are shown; None stands for those between.
    pub down: Vec<Option<usize>>,
    pub across: Vec<Option<usize>>,
    /// Of namespaces: the names in them, a column each. Of one by itself: those of its rows.
    pub names: Vec<String>,
    pub face: Face,
}

pub enum Face {
    /// The shown rows as they print.
    Written(Grid),
    /// The shown items, row by row; gaps have none.
    Items(Vec<Layout>),
    /// More than is shown: its shape stands for it.
    Beyond,
}

/// The limits of what may be shown.
#[derive(Clone, Copy)]
struct Most {
    rows: usize,
    columns: usize,
    /// Of characters, which are narrow.
    width: usize,
    items: usize,
    depth: usize,
}

const ALL: Most = Most {
    rows: usize::MAX,
    columns: usize::MAX,
    width: usize::MAX,
    items: usize::MAX,
    depth: usize::MAX,
};
/// On a page: ten rows, the gap, ten rows.
const PAGE: Most = Most { rows: 20, columns: 40, width: 1_000, items: 4_000, depth: 6 };

/// For text in boxes. `opens`: of an empty array the prototype is shown.
pub fn whole(a: &Array, pp: usize, opens: bool) -> Result<Layout> {
    Laying { pp, opens, most: ALL, items: 0 }.lay(a, 0)
}

/// For a page.
pub fn on_page(a: &Array, pp: usize, rows: usize) -> Result<Layout> {
    let most = Most { rows: if rows > 1 { rows.min(PAGE.rows) } else { PAGE.rows }, ..PAGE };
    Laying { pp, opens: false, most, items: 0 }.lay(a, 0)
}

impl Layout {
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// A number or a character by itself.
    pub fn is_scalar(&self) -> bool {
        self.shape.is_empty() && self.kind != Kind::Nested
    }

    /// One mark for each axis: whether there is something along it.
    pub fn axes(&self) -> Vec<char> {
        let last = self.shape.len().saturating_sub(1);
        let mark = |(k, n): (usize, &usize)| match (k == last, *n > 0) {
            (true, true) => '→',
            (true, false) => '⊖',
            (false, true) => '↓',
            (false, false) => '⌽',
        };
        self.shape.iter().enumerate().map(mark).collect()
    }

    /// Whether a row begins a plane.
    pub fn parts(&self, row: usize) -> bool {
        self.names.is_empty() && grid::blanks_before(row, &self.shape) > 0
    }

    /// Whether it is one namespace, a name a row.
    pub fn is_space(&self) -> bool {
        !self.names.is_empty() && self.shape.is_empty()
    }
}

struct Laying {
    pp: usize,
    opens: bool,
    most: Most,
    items: usize,
}

impl Laying {
    fn lay(&mut self, a: &Array, depth: usize) -> Result<Layout> {
        let a = &a.settled();
        if a.pending().is_some() {
            return Ok(self.unread(a));
        }
        if let Some(members) = self.members(a, depth) {
            return self.table(a, &members, depth);
        }
        let shown = if self.opens { opened(a)? } else { a.clone() };
        let (rows, columns) = table_of(&shown);
        let is_text = a.is_uniform() && a.is_char();
        let across = if is_text { self.most.width } else { self.most.columns };
        let (down, across) = (places(rows, self.most.rows), places(columns, across));
        // On a page each item of a mixed array says itself what it is.
        let on_page = self.most.items < usize::MAX;
        let is_written =
            if on_page { a.is_uniform() || a.to_reference().is_some() } else { a.is_simple() };
        self.items += down.len() * across.len();
        let face = if !shown.is_empty() && self.is_beyond(depth) {
            Face::Beyond
        } else if is_written || shown.is_empty() {
            Face::Written(grid::of(&cut(&shown, &down, &across, columns, on_page)?, self.pp)?)
        } else {
            let at = |r: usize, c: usize| shown.item(r * columns + c);
            let inside =
                down.iter().flatten().flat_map(|r| across.iter().flatten().map(|c| (*r, *c)));
            Face::Items(inside.map(|(r, c)| self.lay(&at(r, c), depth + 1)).collect::<Result<_>>()?)
        };
        let dtype = match a.data() {
            Data::Items(_) if a.is_simple() => "mixed",
            _ => a.dtype().name(),
        };
        let names = Vec::new();
        Ok(Layout { shape: a.shape().to_vec(), kind: kind(a)?, dtype, down, across, names, face })
    }

    /// The layout of a value that nobody has computed yet: nor is it computed to be shown.
    fn unread(&self, a: &Array) -> Layout {
        Layout {
            shape: a.shape().to_vec(),
            kind: Kind::Nested,
            dtype: a.dtype().name(),
            down: Vec::new(),
            across: Vec::new(),
            names: Vec::new(),
            face: Face::Beyond,
        }
    }

    /// As `held`, where a page shows more than names.
    fn members(&self, a: &Array, depth: usize) -> Option<Vec<Members>> {
        let opens = self.most.items < usize::MAX && !self.is_beyond(depth);
        if opens { held(a, &places(a.len(), self.most.rows)) } else { None }
    }

    /// Namespaces as a table: a row each and a column a name, or of one a row a name.
    fn table(&mut self, a: &Array, members: &[Members], depth: usize) -> Result<Layout> {
        let names = names_of(members, self.most.columns);
        let mut items = Vec::new();
        for one in members {
            for name in &names {
                let own = one.iter().find(|(own, _)| own == name);
                self.items += 1;
                items.push(match own {
                    Some((_, value)) => self.lay(value, depth + 1)?,
                    None => self.lay(&Array::char(' '), depth + 1)?,
                });
            }
        }
        let one = a.rank() == 0;
        let (down, across) = match one {
            true => ((0..names.len()).map(Some).collect(), vec![Some(0)]),
            false => (places(a.len(), self.most.rows), (0..names.len()).map(Some).collect()),
        };
        let dtype = if one { "namespace" } else { "namespaces" };
        let (shape, kind) = (a.shape().to_vec(), Kind::Nested);
        Ok(Layout { shape, kind, dtype, down, across, names, face: Face::Items(items) })
    }

    fn is_beyond(&self, depth: usize) -> bool {
        depth > self.most.depth || self.items > self.most.items
    }
}

/// The arrays in a namespace, by name.
type Members = Vec<(String, Array)>;

/// The arrays in each namespace of some of a vector of them, or in one. None: something else stands
/// there, or nothing is in any.
fn held(a: &Array, shown: &[Option<usize>]) -> Option<Vec<Members>> {
    if a.rank() > 1 || a.is_uniform() || a.in_turn().any(|item| item.to_reference().is_none()) {
        return None;
    }
    let items = shown.iter().flatten().map(|k| a.item(*k));
    let all: Option<Vec<_>> =
        items.map(|item| item.to_reference().map(Reference::arrays)).collect();
    all.filter(|all| all.iter().any(|one| !one.is_empty()))
}

/// All names, in the order in which they come up.
fn names_of(members: &[Members], most: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in members.iter().flatten() {
        if !names.contains(name) && names.len() < most {
            names.push(name.clone());
        }
    }
    names
}

/// Namespaces as the matrix that text shows of them: a row each under their names, or of one a row
/// a name. None: they are none.
pub fn opened_spaces(a: &Array) -> Result<Option<Array>> {
    let Some(members) = held(a, &places(a.len(), usize::MAX)) else { return Ok(None) };
    let budget = Budget::new(u64::MAX);
    let names = names_of(&members, usize::MAX);
    let texts = names.iter().map(|name| Array::text(name, &budget));
    let texts = texts.collect::<Result<Vec<_>>>()?;
    let value = |one: &Members, name: &String| {
        one.iter().find(|(own, _)| own == name).map_or(Array::char(' '), |(_, v)| v.settled())
    };
    let rows = members.iter().map(|one| names.iter().map(move |name| value(one, name)));
    let (shape, items): ([usize; 2], Vec<Array>) = match a.rank() {
        0 => ([names.len(), 2], {
            texts.into_iter().zip(rows.flatten()).flat_map(|(name, v)| [name, v]).collect()
        }),
        _ => ([members.len() + 1, names.len()], texts.into_iter().chain(rows.flatten()).collect()),
    };
    Ok(Some(Array::items(shape.as_slice(), items, None)))
}

/// Places that are shown of `n`: all, or the first and the last with a gap (None) between.
fn places(n: usize, most: usize) -> Vec<Option<usize>> {
    if n <= most {
        return (0..n).map(Some).collect();
    }
    let half = (most / 2).max(1);
    (0..half).map(Some).chain([None]).chain((n - half..n).map(Some)).collect()
}

/// The shown rows and columns of what prints by itself, as a matrix where a page draws the planes.
fn cut(
    a: &Array,
    down: &[Option<usize>],
    across: &[Option<usize>],
    columns: usize,
    on_page: bool,
) -> Result<Array> {
    if !on_page || a.rank() < 3 && !down.contains(&None) && !across.contains(&None) {
        return Ok(a.clone());
    }
    let rows: Vec<usize> = down.iter().flatten().copied().collect();
    let across: Vec<usize> = across.iter().flatten().copied().collect();
    let places: Vec<_> =
        rows.iter().flat_map(|r| across.iter().map(move |c| Ok(r * columns + c))).collect();
    let shape = if a.rank() < 2 { vec![across.len()] } else { vec![rows.len(), across.len()] };
    gather(a, &shape, &places, &Budget::new(u64::MAX))
}

/// Rows and columns of an array laid out as one table.
fn table_of(a: &Array) -> (usize, usize) {
    match a.shape() {
        [] => (1, 1),
        [before @ .., columns] => (elements(before), *columns),
    }
}

/// With no axis of length 0: what is not there shows as its prototype.
fn opened(a: &Array) -> Result<Array> {
    if !a.is_empty() {
        return Ok(a.clone());
    }
    let shape: Vec<usize> = a.shape().iter().map(|n| (*n).max(1)).collect();
    let proto = a.prototype();
    let budget = Budget::new(u64::MAX);
    let items = vec![proto; elements(&shape).min(1_000)];
    match elements(&shape) {
        n if n > 1_000 => Ok(a.clone()),
        _ => Array::collect(shape.as_slice(), items, None, &budget),
    }
}

/// Of an empty array its prototype says it.
fn kind(a: &Array) -> Result<Kind> {
    let sample = opened(a)?;
    Ok(match sample.data() {
        Data::Items(items) if sample.is_simple() => {
            let chars = items.iter().filter(Array::is_char).count();
            match chars {
                0 => Kind::Numbers,
                n if n == items.len() => Kind::Characters,
                _ => Kind::Mixed,
            }
        }
        Data::Items(_) => Kind::Nested,
        _ if sample.is_char() => Kind::Characters,
        _ => Kind::Numbers,
    })
}

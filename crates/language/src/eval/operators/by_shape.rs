//! `f¨` on items of many shapes: those of one shape are cells of one frame.
//!
//! Words of a text, parts and groups have few lengths. The items of each are put together, f runs
//! once for all of them, as it does on the cells of any frame, and each result goes to the place of
//! its item. Where f is refused, or where lengths are nearly as many as items, f runs item by item;
//! what fails then is APL's error, that of the first item.

use crate::eval::run::Eval;
use crate::eval::scope::{Inside, TOGETHER};
use crate::eval::value::Func;
use crate::eval::work::why;
use aplomb_ground::error::{Result, untraced};
use aplomb_values::array::{
    Array, Buf, DType, Data, Ragged, Shape, Split, Storage, elements, storage,
};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// An argument's items: their shapes are known, and those of one shape can be put together.
enum Side<'a> {
    /// One for all.
    One(Array),
    /// Items of a simple array.
    Flat(&'a Array),
    /// Cells of one array.
    Rows(&'a Split),
    /// Pieces of one array.
    Pieces(&'a Ragged),
    /// Arrays as they stand.
    Boxes(&'a [Array]),
}

/// The shape of an item, and whether it holds characters, numbers, or numbers of 32 bits.
type Kind = (Shape, DType);

/// Characters, numbers, or numbers of 32 bits: what one array may hold.
fn class(dtype: DType) -> DType {
    if matches!(dtype, DType::Char | DType::F32) { dtype } else { DType::F64 }
}

impl<'a> Side<'a> {
    /// None: its items are not looked at here.
    fn of(a: &'a Array, n: usize) -> Option<Side<'a>> {
        Some(match a.data() {
            _ if a.len() == 1 && n != 1 => Side::One(match a.rank() {
                0 => a.disclosed(),
                _ => a.item(0),
            }),
            Data::Items(items) if items.lazy => return None,
            Data::Items(items) => match (items.split(), items.pieces()) {
                (Some(rows), _) if rows.node.is_complex() => return None,
                (Some(rows), _) => Side::Rows(rows),
                (None, Some(pieces)) if pieces.is_of_pieces() => return None,
                (None, Some(pieces)) => Side::Pieces(pieces),
                (None, None) => {
                    Side::Boxes(items.listed().filter(|all| all.iter().all(Array::is_plain))?)
                }
            },
            _ if a.is_plain() => Side::Flat(a),
            _ => return None,
        })
    }

    /// Whether its items may differ in shape.
    fn is_ragged(&self) -> bool {
        matches!(self, Side::Pieces(_) | Side::Boxes(_))
    }

    fn kind(&self, k: usize) -> Kind {
        match self {
            Side::One(a) => (Shape::new(), class(a.dtype())),
            Side::Flat(a) => (Shape::new(), class(a.dtype())),
            Side::Rows(rows) => (rows.cell().into(), class(rows.node.dtype())),
            Side::Pieces(r) => (Shape::from_slice(&[r.range(k).len()]), class(r.flat().dtype())),
            Side::Boxes(all) => (all[k].shape().into(), class(all[k].dtype())),
        }
    }

    fn item(&self, k: usize) -> Array {
        match self {
            Side::One(a) => a.clone(),
            Side::Flat(a) => a.item(k),
            Side::Rows(rows) => rows.item(k),
            Side::Pieces(r) => r.item(k),
            Side::Boxes(all) => all[k].clone(),
        }
    }

    /// Items of one kind behind an axis of frame.
    fn stacked(&self, ev: &Eval<'_>, members: &[u32], cell: &[usize]) -> Result<Array> {
        let size = elements(cell);
        let run = |k: usize| -> Option<(&dyn Storage, Range<usize>)> {
            match self {
                Side::Flat(a) => storage(a).map(|s| (s, k..k + 1)),
                Side::Rows(rows) => storage(&rows.node).map(|s| (s, k * size..(k + 1) * size)),
                Side::Pieces(r) => storage(r.flat()).map(|s| (s, r.range(k))),
                Side::Boxes(all) => storage(&all[k]).map(|s| (s, 0..size)),
                Side::One(_) => None,
            }
        };
        if let Side::One(a) = self {
            return Ok(a.clone());
        }
        let shape: Shape = [members.len()].iter().chain(cell).copied().collect();
        let mut runs = ev.cx.budget().room(members.len())?;
        runs.extend(members.iter().filter_map(|&k| run(k as usize)));
        if runs.len() == members.len() {
            return Ok(Array::framed(joined(ev, &shape, &runs)?, 1));
        }
        let scalars = members.iter().map(|&k| self.item(k as usize)).collect();
        Ok(Array::framed(ev.cx.collect(&shape, scalars, None)?, 1))
    }
}

/// Stretches of one class one behind the other.
fn joined(ev: &Eval<'_>, shape: &[usize], runs: &[(&dyn Storage, Range<usize>)]) -> Result<Array> {
    if let Some(made) = Buf::stretches(runs, ev.cx.budget())? {
        return Ok(Array::dense(shape, Arc::new(made)));
    }
    let mut all = ev.cx.budget().room(elements(shape))?;
    for (from, range) in runs {
        let view = from.view();
        all.extend(range.clone().map(|k| view.number(k)));
    }
    Array::numbers(shape, all, ev.cx.budget())
}

/// The result of f for the items of one kind.
enum Made {
    /// A cell for each.
    Cells(Array),
    /// The same for all: items without anything in them.
    Same(Array),
}

impl Made {
    fn node(&self) -> &Array {
        match self {
            Made::Cells(node) | Made::Same(node) => node,
        }
    }

    fn cell(&self) -> &[usize] {
        match self {
            Made::Cells(node) => &node.shape()[1..],
            Made::Same(a) => a.shape(),
        }
    }

    /// The result of the k-th of them.
    fn item(&self, k: usize) -> Array {
        match self {
            Made::Cells(node) if node.rank() == 1 => node.item(k),
            Made::Cells(node) => Split { node: node.clone(), at: 1 }.item(k),
            Made::Same(a) => a.clone(),
        }
    }

    /// The stretch in which the result of the k-th lies.
    fn run(&self, k: usize) -> Option<(&dyn Storage, Range<usize>)> {
        let size = elements(self.cell());
        let k = if matches!(self, Made::Same(_)) { 0 } else { k };
        storage(self.node()).map(|s| (s, k * size..(k + 1) * size))
    }
}

impl Eval<'_> {
    /// f of each item, or pair of items, those of one shape at once. None: item by item.
    pub fn each_by_shape(
        &mut self,
        f: &Rc<Func>,
        x: Option<&Array>,
        y: &Array,
        shape: &Shape,
    ) -> Result<Option<Array>> {
        let n = elements(shape);
        if !self.runs_together(n) {
            return Ok(None);
        }
        let args: Vec<&Array> = x.into_iter().chain([y]).collect();
        let sides: Option<Vec<Side<'_>>> = args.iter().map(|a| Side::of(a, n)).collect();
        let Some(sides) = sides.filter(|sides| sides.iter().any(Side::is_ragged)) else {
            return Ok(None);
        };
        let Some((kinds, places)) = self.kinds(&sides, n)? else { return Ok(None) };
        let (f2, x2, y2) = (f.clone(), x.cloned(), y.clone());
        let again: super::frames::Fallback =
            Rc::new(move |ev| super::each::each_item(ev, &f2, x2.as_ref(), &y2));
        let made = self.attempt(|ev| {
            let mut made = Vec::with_capacity(kinds.len());
            for (kind, members) in &kinds {
                // Nothing of an item is left but its shape, which all of them share.
                let alike = |(side, (cell, _)): (&Side<'_>, &Kind)| {
                    cell.contains(&0) || matches!(side, Side::One(_))
                };
                let empty = kind.iter().any(|(cell, _)| cell.contains(&0))
                    && sides.iter().zip(kind).all(alike);
                made.push(match empty {
                    true => Made::Same(ev.once_alone(f, &sides, members[0] as usize)?),
                    false => {
                        let mut seen = Vec::with_capacity(2);
                        for (side, (cell, _)) in sides.iter().zip(kind) {
                            seen.push(side.stacked(ev, members, cell)?);
                        }
                        let (y, x) = (&seen[seen.len() - 1], seen.first().filter(|_| x.is_some()));
                        let node = ev.once(f, x, y, &[members.len()], again.clone())?;
                        Made::Cells(node.ok_or_else(|| untraced("an operand goes cell by cell"))?)
                    }
                });
            }
            let nodes: Vec<&Array> = made.iter().map(Made::node).collect();
            ev.cx.force(&nodes, "each")?;
            let ready = |made: Made, ev: &mut Eval<'_>| {
                Ok(match made {
                    Made::Cells(node) => Made::Cells(ev.cx.ready(&node, "each")?),
                    Made::Same(a) => Made::Same(a),
                })
            };
            let made = made.into_iter().map(|m| ready(m, ev)).collect::<Result<Vec<_>>>()?;
            ev.put_together(shape, &made, &places)
        })?;
        if made.is_ok() {
            self.cx.work_because(n, why::SHAPES);
        }
        Ok(made.ok())
    }

    /// The kinds of items, in the order in which they are met, with their members; and of each item
    /// its kind and its number there. None: they are too many.
    #[allow(clippy::type_complexity)]
    fn kinds(
        &self,
        sides: &[Side<'_>],
        n: usize,
    ) -> Result<Option<(Vec<(Vec<Kind>, Vec<u32>)>, Vec<(u32, u32)>)>> {
        let mut known: HashMap<Vec<Kind>, u32> = HashMap::new();
        // Lengths of pieces are looked up in a list.
        let mut lengths: Vec<u32> = Vec::new();
        let alone = match sides {
            [Side::Pieces(r)] => Some(*r),
            _ => None,
        };
        let mut kinds: Vec<(Vec<Kind>, Vec<u32>)> = Vec::new();
        let mut places = self.cx.budget().room(n)?;
        let mut ticks = self.cx.budget().ticks();
        for k in 0..n {
            ticks.tick()?;
            let length = alone.map(|r| r.range(k).len()).filter(|&m| m < TOGETHER * TOGETHER);
            let at = length.and_then(|m| lengths.get(m).copied()).filter(|&at| at != u32::MAX);
            let at = match at {
                Some(at) => at,
                None => {
                    let kind: Vec<Kind> = sides.iter().map(|s| s.kind(k)).collect();
                    let at = *known.entry(kind.clone()).or_insert_with(|| {
                        kinds.push((kind, Vec::new()));
                        kinds.len() as u32 - 1
                    });
                    if kinds.len() * TOGETHER > n.max(TOGETHER) {
                        return Ok(None);
                    }
                    if let Some(m) = length {
                        lengths.resize(lengths.len().max(m + 1), u32::MAX);
                        lengths[m] = at;
                    }
                    at
                }
            };
            let members = &mut kinds[at as usize].1;
            places.push((at, members.len() as u32));
            members.push(k as u32);
        }
        Ok(Some((kinds, places)))
    }

    /// f of items that hold nothing, all alike: once. Whatever happens once an item is refused.
    fn once_alone(&mut self, f: &Rc<Func>, sides: &[Side<'_>], k: usize) -> Result<Array> {
        let given: Vec<Array> = sides.iter().map(|s| s.item(k)).collect();
        let (y, x) = (&given[given.len() - 1], given.first().filter(|_| given.len() > 1));
        let z = self.inside(Inside::Frame, |ev| ev.apply(f, x, y))?;
        self.cx.ready(&z, "each")
    }

    /// Results in the places of their items: a simple array, cells or pieces of one, or items.
    fn put_together(
        &mut self,
        shape: &Shape,
        made: &[Made],
        places: &[(u32, u32)],
    ) -> Result<Array> {
        let first = &made[0];
        let one_class = made.iter().all(|m| {
            let a = m.node();
            a.is_uniform() && !a.is_complex() && class(a.dtype()) == class(first.node().dtype())
        });
        let rank = first.cell().len();
        let all_of = |rank: usize| one_class && made.iter().all(|m| m.cell().len() == rank);
        let mut runs = Vec::new();
        if all_of(rank) {
            runs = self.cx.budget().room(places.len())?;
            runs.extend(places.iter().filter_map(|&(at, k)| made[at as usize].run(k as usize)));
        }
        let size: usize = runs.iter().map(|(_, range)| range.len()).sum();
        if runs.len() == places.len() && u32::try_from(size).is_ok() {
            if made.iter().all(|m| m.cell() == first.cell()) {
                let full: Shape = shape.iter().chain(first.cell()).copied().collect();
                if rank == 0 {
                    return joined(self, &full, &runs);
                }
                if size > 0 && !shape.is_empty() {
                    return Ok(Array::rows(joined(self, &full, &runs)?, shape.len()));
                }
            } else if rank == 1 && size > 0 {
                let mut ends = self.cx.budget().room(places.len())?;
                let mut end = 0;
                ends.extend(runs.iter().map(|(_, range)| {
                    end += range.len() as u32;
                    end
                }));
                let flat = joined(self, &[size], &runs)?;
                if let Some(pieces) = Ragged::new(flat, ends) {
                    return Ok(pieces.items(shape));
                }
            }
        }
        let out = self
            .cx
            .budget()
            .each(places.iter().map(|&(at, k)| made[at as usize].item(k as usize)))?;
        super::reduce::finished(self, shape, out, Array::num(0.0))
    }
}

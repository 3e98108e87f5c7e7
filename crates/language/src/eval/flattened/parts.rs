//! Vectors of cells: some of them, several as one, strands and indexing.

use super::{Cells, Flat, list, refuse};
use crate::eval::operators::reduce::finished;
use crate::eval::scope::TOGETHER;
use crate::functions::shape::reshaped;
use crate::functions::{groups, join, made, select};
use aplomb_ground::error::{Result, length};
use aplomb_values::array::{Array, Data, Ragged, Shape, Split, checked_elements, storage};
use aplomb_values::prim::scalar;
use std::rc::Rc;

impl Flat<'_, '_> {
    /// The items at these places.
    pub(super) fn taken(&mut self, a: &Array, places: &[u32]) -> Result<Array> {
        if let Some(pieces) = a.pieces()
            && let Some(some) = pieces.taken(places, self.ev.cx.budget())?
        {
            return Ok(some.items(&[places.len()]));
        }
        let io = self.ev.cx.sys.settings.io;
        let index = self.ev.cx.budget().each(places.iter().map(|&k| f64::from(k) + io))?;
        let index = self.ev.cx.vector(index)?;
        select::bracket(&mut self.ev.cx, a, &[Some(index)])
    }

    /// Vectors one behind the other, each with its number of cells. Their level is the caller's.
    pub(super) fn joined<const N: usize>(&mut self, all: [(usize, Cells); N]) -> Result<Cells> {
        let mut lists = Vec::with_capacity(N);
        for (n, v) in all {
            lists.push(self.listed(n, v)?);
        }
        self.caught_up(lists).map(|a| Cells::Each(a, 0))
    }

    /// A vector of so many cells.
    pub(super) fn listed(&mut self, n: usize, v: Cells) -> Result<Array> {
        match v {
            Cells::Each(a, _) => Ok(a),
            Cells::Same(a) => crate::functions::shape::fill(&mut self.ev.cx, &a, &[n]),
        }
    }

    pub(super) fn caught_up(&mut self, lists: Vec<Array>) -> Result<Array> {
        let mut ready = Vec::with_capacity(lists.len());
        for a in lists {
            ready.push(self.ev.cx.ready(&a, "each")?);
        }
        let all: Option<Vec<&Ragged>> = ready.iter().map(Array::pieces).collect();
        if let Some(all) = all
            && let Some(made) = Ragged::joined(&all, self.ev.cx.budget())?
        {
            let n = made.count();
            return Ok(made.items(&[n]));
        }
        let mut all = ready.into_iter();
        let Some(mut sum) = all.next() else { return refuse("no cell has a value") };
        for a in all {
            sum = join::catenate_last(&mut self.ev.cx, &sum, &a, None)?;
            sum = self.ev.cx.ready_outer(&sum)?;
        }
        Ok(sum)
    }

    /// The values of parts of n cells, each in its place.
    pub(super) fn together(
        &mut self,
        n: usize,
        mut parts: Vec<(Rc<[u32]>, Cells)>,
    ) -> Result<Cells> {
        if let [(places, _)] = parts.as_slice()
            && places.iter().enumerate().all(|(k, &at)| k == at as usize)
        {
            return parts.pop().map_or_else(|| refuse("no cell has a value"), |(_, v)| Ok(v));
        }
        if let Some(made) = self.texts_together(n, &parts)? {
            return Ok(made);
        }
        let mut order = self.ev.cx.budget().room(n)?;
        order.resize(n, 0);
        let mut at = 0;
        let mut lists = Vec::with_capacity(parts.len());
        for (places, v) in parts {
            for &place in places.iter() {
                order[place as usize] = at;
                at += 1;
            }
            lists.push(self.listed(places.len(), v)?);
        }
        let mut ready = Vec::with_capacity(lists.len());
        for a in lists {
            ready.push(self.ev.cx.ready(&a, "each")?);
        }
        if ready.iter().all(|a| a.is_of_f64() && a.frame().is_none()) {
            let mut flat = self.ev.cx.budget().room(n)?;
            for a in &ready {
                flat.extend(self.ev.cx.numbers(a, "a value")?);
            }
            let out = self.ev.cx.budget().each(order.iter().map(|&k| flat[k as usize]))?;
            return self.ev.cx.vector(out).map(|a| self.each_of(a));
        }
        let all = self.caught_up(ready)?;
        self.taken(&all, &order).map(|a| self.each_of(a))
    }

    /// The same of vectors, which are pieces, or one for all cells of a part. None: one of them is
    /// something else.
    fn texts_together(&mut self, n: usize, parts: &[(Rc<[u32]>, Cells)]) -> Result<Option<Cells>> {
        let fits = |v: &Cells| match v {
            Cells::Same(a) => a.rank() == 1 && a.is_plain(),
            Cells::Each(a, _) => a.pieces().is_some(),
        };
        if !parts.iter().all(|(_, v)| fits(v)) {
            return Ok(None);
        }
        let mut at_hand = |v: &Cells| match v {
            Cells::Same(a) => self.ev.cx.ready(a, "a value"),
            Cells::Each(a, _) => Ok(a.clone()),
        };
        let ready = parts.iter().map(|(_, v)| at_hand(v)).collect::<Result<Vec<_>>>()?;
        let budget = self.ev.cx.budget();
        let mut runs = budget.each(std::iter::repeat_n(None, n))?;
        for ((places, _), a) in parts.iter().zip(&ready) {
            let held = storage(a.pieces().map_or(a, Ragged::flat));
            for (k, &place) in places.iter().enumerate() {
                let range = a.pieces().map_or(0..a.len(), |pieces| pieces.range(k));
                runs[place as usize] = held.map(|held| (held, range));
            }
        }
        let runs: Option<Vec<_>> = runs.into_iter().collect();
        let Some(runs) = runs else { return Ok(None) };
        let made = Ragged::of_runs(&runs, budget)?;
        Ok(made.map(|made| self.each_of(made.items(&[n]))))
    }

    /// Items side by side in each cell.
    pub(super) fn strand(&mut self, items: &[Cells]) -> Result<Cells> {
        let same: Option<Vec<Array>> = items
            .iter()
            .map(|v| match v {
                Cells::Same(a) => Some(a.settled()),
                Cells::Each(..) => None,
            })
            .collect();
        if let Some(same) = same {
            return self.ev.cx.collect(&[items.len()], same, None).map(Cells::Same);
        }
        let n = self.count();
        let mut lists = Vec::with_capacity(items.len());
        for v in items {
            let a = self.array(v)?;
            lists.push(self.ev.cx.ready(&a, "each")?);
        }
        // Scalars of one class are the columns of a matrix.
        let class = |a: &Array| (a.is_char(), a.is_complex());
        if lists.iter().all(|a| a.is_uniform() && class(a) == class(&lists[0])) {
            let mut columns = Vec::with_capacity(lists.len());
            for a in &lists {
                columns.push(crate::functions::shape::reshaped(&mut self.ev.cx, a, &[n, 1])?);
            }
            let mut all = columns.remove(0);
            for a in columns {
                all = join::catenate_last(&mut self.ev.cx, &all, &a, None)?;
            }
            return Ok(self.each_of(Array::rows(all, 1)));
        }
        // Else their items are those of one nested array, of which they are the columns.
        if let Some(table) = Array::of_columns(&lists, self.ev.cx.budget())?
            && let Some(lines) = Array::lines_of(&table, 1)
        {
            return Ok(self.each_of(lines));
        }
        let m = lists.len();
        let all = made::side_by_side(&self.ev.cx, n, &lists)?;
        if let Some(lines) = Array::lines_of(&all, 1) {
            return Ok(self.each_of(lines));
        }
        let mut rows = self.ev.cx.budget().room(n)?;
        let mut ticks = self.ev.cx.budget().ticks();
        for k in 0..n {
            ticks.tick()?;
            let items = (k * m..(k + 1) * m).map(|at| all.item(at)).collect();
            rows.push(self.ev.cx.collect(&[m], items, None)?);
        }
        finished(self.ev, &list(n), rows, Array::num(0.0)).map(|a| self.each_of(a))
    }

    /// The scalars of two lists side by side in each cell: `a,b`. None: they are others.
    pub(super) fn scalars_joined(&mut self, x: &Cells, y: &Cells) -> Result<Option<Cells>> {
        let (x, y) = (self.here(x)?, self.here(y)?);
        let nested = |v: &Cells| matches!(v, Cells::Each(a, _) if !a.is_uniform());
        // Of many cells a frame joins numbers.
        if self.count() < TOGETHER {
            if let Some(made) = self.columns_joined(&x, &y)? {
                return Ok(Some(made));
            }
        } else if !nested(&x) && !nested(&y) {
            return Ok(None);
        }
        let (Some(x), Some(y)) = (self.content(x)?, self.content(y)?) else { return Ok(None) };
        self.strand(&[x, y]).map(Some)
    }

    /// Numbers, or characters, and rows of such side by side in each cell. None: they are others.
    fn columns_joined(&mut self, x: &Cells, y: &Cells) -> Result<Option<Cells>> {
        let mut parts = Vec::new();
        for v in [x, y] {
            let Cells::Each(a, _) = v else { return Ok(None) };
            parts.push(match a.split() {
                Some(rows) if rows.at == 1 && rows.cell().len() == 1 => rows.node.clone(),
                None if a.is_uniform() => reshaped(&mut self.ev.cx, a, &[a.len(), 1])?,
                _ => return Ok(None),
            });
        }
        if parts[0].is_char() != parts[1].is_char() {
            return Ok(None);
        }
        let all = join::catenate_last(&mut self.ev.cx, &parts[0], &parts[1], None)?;
        Ok(Some(self.each_of(Array::rows(all, 1))))
    }

    /// The content of scalars. None: they are others.
    pub(super) fn content(&mut self, v: Cells) -> Result<Option<Cells>> {
        let a = match v {
            Cells::Same(a) => return Ok((a.rank() == 0).then(|| Cells::Same(a.disclosed()))),
            Cells::Each(a, level) if a.is_uniform() => return Ok(Some(Cells::Each(a, level))),
            Cells::Each(a, _) => a,
        };
        if let Some(inside) = a.held_inside() {
            return Ok(Some(self.each_of(inside)));
        }
        let Data::Items(items) = a.data() else { return Ok(None) };
        let scalar = |a: &Array| a.rank() == 0 && a.pending().is_none();
        let Some(all) = items.listed().filter(|all| all.iter().all(scalar)) else {
            return Ok(None);
        };
        let out = self.ev.cx.budget().each(all.iter().map(Array::disclosed))?;
        self.ev.cx.collect(a.shape(), out, None).map(|a| Some(self.each_of(a)))
    }

    /// The k-th item in each cell, for all k below a number; all of a scalar.
    pub(super) fn items_of(&mut self, v: &Cells, m: usize) -> Result<Vec<Cells>> {
        let wrong = || length(format!("{m} names for other than {m} items"));
        let a = match self.here(v)? {
            Cells::Same(a) => {
                let a = self.ev.cx.ready_outer(&a)?;
                return match a.rank() {
                    0 => Ok(vec![Cells::Same(a.disclosed()); m]),
                    1 if a.len() == m => Ok((0..m).map(|k| Cells::Same(a.item(k))).collect()),
                    _ => Err(wrong()),
                };
            }
            Cells::Each(a, _) => self.ev.cx.ready_outer(&a)?,
        };
        if a.is_uniform() {
            return Ok(vec![self.each_of(a); m]);
        }
        if let Some(Split { node, at: 1 }) = a.split().or(a.lines())
            && node.rank() == 2
        {
            if node.shape()[1] != m {
                return Err(wrong());
            }
            if let Some(columns) = node.columns() {
                return Ok(columns.iter().map(|column| self.each_of(column.clone())).collect());
            }
            let io = self.ev.cx.sys.settings.io;
            let mut out = Vec::with_capacity(m);
            for k in 0..m {
                let at = Array::num(k as f64 + io);
                let column = select::bracket(&mut self.ev.cx, node, &[None, Some(at)])?;
                out.push(self.each_of(column));
            }
            return Ok(out);
        }
        if let Some(pieces) = a.pieces().cloned()
            && (0..pieces.count()).all(|k| pieces.range(k).len() == m)
        {
            let io = self.ev.cx.sys.settings.io;
            let mut all = Vec::new();
            for k in 0..m {
                let at = Array::num(k as f64 + io);
                let made = crate::functions::pieces::at_places(&self.ev.cx, &pieces, &at)?;
                all.extend(made.map(|list| self.each_of(list)));
            }
            if all.len() == m {
                return Ok(all);
            }
        }
        let n = a.len();
        let mut ticks = self.ev.cx.budget().ticks();
        let mut out = vec![Vec::new(); m];
        for k in 0..n {
            ticks.tick()?;
            let item = a.item(k);
            match item.rank() {
                0 => out.iter_mut().for_each(|list| list.push(item.disclosed())),
                1 if item.len() == m => {
                    out.iter_mut().enumerate().for_each(|(k, list)| list.push(item.item(k)))
                }
                _ => return Err(wrong()),
            }
        }
        let mut all = Vec::with_capacity(m);
        for items in out {
            let made = finished(self.ev, &list(n), items, Array::num(0.0))?;
            all.push(self.each_of(made));
        }
        Ok(all)
    }

    /// `a[i;j]` in each cell.
    pub(super) fn indexed(&mut self, base: &Cells, indices: &[Option<Cells>]) -> Result<Cells> {
        let base = self.here(base)?;
        let mut at = Vec::with_capacity(indices.len());
        for i in indices {
            at.push(i.as_ref().map(|i| self.here(i)).transpose()?);
        }
        // Nothing is the cells' own.
        let same = |i: &Option<Cells>| matches!(i, None | Some(Cells::Same(_)));
        if let (Cells::Same(a), true) = (&base, at.iter().all(same)) {
            let one = |i: &Option<Cells>| match i {
                Some(Cells::Same(i)) => Some(i.clone()),
                _ => None,
            };
            let at: Vec<_> = at.iter().map(one).collect();
            return select::bracket(&mut self.ev.cx, a, &at).map(Cells::Same);
        }
        // One vector for all, and numbers: places in it.
        if let (Cells::Same(a), [Some(Cells::Each(i, _))]) = (&base, at.as_slice())
            && i.is_uniform()
            && a.rank() == 1
        {
            let v = select::bracket(&mut self.ev.cx, a, &[Some(i.clone())])?;
            return self.scalars_of(v);
        }
        // The same few places in each cell: what stands there, side by side.
        if let (Cells::Each(a, _), [Some(Cells::Same(i))]) = (&base, at.as_slice())
            && let Some(v) = self.at_places(a, i)?
        {
            return Ok(v);
        }
        // And pieces: the items at all of their places, cut as these are.
        if let (Cells::Same(a), [Some(Cells::Each(i, _))]) = (&base, at.as_slice())
            && let Some(pieces) = i.pieces()
            && a.rank() == 1
        {
            let z = select::bracket(&mut self.ev.cx, a, &[Some(pieces.flat().clone())])?;
            let z = self.ev.cx.ready(&z, "index")?;
            if let Some(made) = pieces.with(z) {
                let n = made.count();
                return Ok(self.each_of(made.items(&[n])));
            }
        }
        if let (Cells::Each(a, _), [Some(Cells::Each(i, _))]) = (&base, at.as_slice())
            && let Some(v) = self.indexed_each(a, i)?
        {
            return Ok(v);
        }
        let n = self.count();
        if let Cells::Same(a) = &base
            && a.frame().is_none()
            && a.rank() == at.len()
            && let Some(v) = self.indexed_in_one(a, &at)?
        {
            return Ok(v);
        }
        let base = self.one_or_list(base)?;
        let mut lists = Vec::with_capacity(at.len());
        for i in at {
            lists.push(i.map(|i| self.one_or_list(i)).transpose()?);
        }
        let mut out = self.ev.cx.budget().room(n)?;
        let mut ticks = self.ev.cx.budget().ticks();
        for k in 0..n {
            ticks.tick()?;
            let pick = |v: &Cells| match v {
                Cells::Same(a) => a.clone(),
                Cells::Each(a, _) => a.item(k),
            };
            let own: Vec<Option<Array>> = lists.iter().map(|i| i.as_ref().map(pick)).collect();
            let z = select::bracket(&mut self.ev.cx, &pick(&base), &own)?;
            out.push(z.settled());
        }
        finished(self.ev, &list(n), out, Array::num(0.0)).map(|a| self.each_of(a))
    }

    /// `a[i;j]` of one array for all cells. None: an index is none of whole numbers, or outside.
    fn indexed_in_one(&mut self, a: &Array, at: &[Option<Cells>]) -> Result<Option<Cells>> {
        let n = self.count();
        // Rows of a matrix are its cells.
        if let [Some(Cells::Each(i, _)), rest @ ..] = at
            && i.is_uniform()
            && !rest.is_empty()
            && rest.iter().all(Option::is_none)
        {
            let others = rest.iter().map(|_| None);
            let index: Vec<_> = [Some(i.clone())].into_iter().chain(others).collect();
            let v = select::bracket(&mut self.ev.cx, a, &index)?;
            return Ok(cells_of(v).map(|v| self.each_of(v)));
        }
        // A column of a table is one of its vectors, of which each cell has its item.
        if let ([Some(row @ Cells::Each(..)), Some(Cells::Same(k))], Some(columns)) =
            (at, a.columns())
            && let Some(k) = k.number_at(0).filter(|_| k.rank() == 0)
        {
            let place = k - self.ev.cx.sys.settings.io;
            let column = columns.iter().zip(0..).find(|(_, at)| f64::from(*at) == place);
            let Some(column) = column.map(|(column, _)| column.clone()) else { return Ok(None) };
            return self.indexed_in_one(&column, &[Some(row.clone())]);
        }
        let Some((places, cell)) = self.chosen(a.shape(), at, n)? else { return Ok(None) };
        let a = self.ev.cx.ready_outer(a)?;
        let flat = crate::functions::shape::reshaped(&mut self.ev.cx, &a, &[a.len()])?;
        let io = self.ev.cx.sys.settings.io;
        let index = self.ev.cx.budget().each(places.iter().map(|&k| f64::from(k) + io))?;
        let index = self.ev.cx.vector(index)?;
        let v = select::bracket(&mut self.ev.cx, &flat, &[Some(index)])?;
        if cell.is_empty() {
            return self.scalars_of(v).map(Some);
        }
        let shape: Shape = [n].into_iter().chain(cell.iter().copied()).collect();
        let v = crate::functions::shape::reshaped(&mut self.ev.cx, &v, &shape)?;
        Ok(cells_of(v).map(|v| self.each_of(v)))
    }

    /// The places in the ravel of an array of that shape which indices choose in each cell, and the
    /// shape of what stands there. None: an index is none of whole numbers, or outside, or there
    /// are no places.
    pub(super) fn chosen(
        &mut self,
        shape: &[usize],
        at: &[Option<Cells>],
        n: usize,
    ) -> Result<Option<(Vec<u32>, Shape)>> {
        let total = checked_elements(shape)?;
        if at.len() != shape.len() || u32::try_from(total).is_err() {
            return Ok(None);
        }
        let (io, ct) = (self.ev.cx.sys.settings.io, self.ev.cx.sys.settings.ct);
        let mut places = self.ev.cx.budget().filled(0u32, n)?;
        let (mut size, mut cell) = (1, Shape::new());
        for (i, &extent) in at.iter().zip(shape) {
            // Its numbers, those of a cell, and whether each cell has its own.
            let (own, m, each) = match i {
                None => (None, extent, false),
                Some(Cells::Same(i)) if i.rank() <= 1 && i.is_of_f64() => {
                    (Some(self.ev.cx.numbers(i, "an index")?), i.len(), false)
                }
                Some(Cells::Each(i, _)) if i.is_of_f64() => {
                    (Some(self.ev.cx.numbers(i, "an index")?), 1, true)
                }
                Some(Cells::Each(i, _)) => match i.split() {
                    Some(rows) if rows.cell().len() == 1 && rows.node.is_of_f64() => {
                        let m = rows.cell()[0];
                        (Some(self.ev.cx.numbers(&rows.node, "an index")?), m, true)
                    }
                    _ => return Ok(None),
                },
                Some(Cells::Same(_)) => return Ok(None),
            };
            match i {
                Some(Cells::Same(i)) if i.rank() == 0 => {}
                Some(Cells::Each(i, _)) if i.is_uniform() => {}
                _ => cell.push(m),
            }
            let mut next = self.ev.cx.budget().room(n.saturating_mul(size * m))?;
            let mut ticks = self.ev.cx.budget().ticks();
            for k in 0..n {
                for before in &places[k * size..(k + 1) * size] {
                    for j in 0..m {
                        ticks.tick()?;
                        let place = match &own {
                            None => Ok(j),
                            Some(own) => {
                                let k = if each { k * m + j } else { j };
                                scalar::place(own[k], io, extent, ct)
                            }
                        };
                        let Ok(place) = place else { return Ok(None) };
                        next.push(before * extent as u32 + place as u32);
                    }
                }
            }
            (places, size) = (next, size * m);
        }
        Ok((size > 0).then_some((places, cell)))
    }

    /// `a[i]` of vectors, each by its own places. None: they are others, or a place is not there.
    fn indexed_each(&mut self, a: &Array, i: &Array) -> Result<Option<Cells>> {
        let Some(base) = self.vectors(a)? else { return Ok(None) };
        if i.is_uniform() && i.rank() == 1 {
            let i = self.ev.cx.ready(i, "index")?;
            let made = crate::functions::pieces::one_of_each(&self.ev.cx, &base, &i)?;
            return made.map(|made| self.scalars_of(made)).transpose();
        }
        let Some(at) = self.vectors(i)? else { return Ok(None) };
        let made = crate::functions::pieces::indexed(&self.ev.cx, &base, &at)?;
        let (Some(made), n) = (made, at.count()) else { return Ok(None) };
        let Some(rows) = i.split() else { return Ok(Some(self.each_of(made.items(&[n])))) };
        let full = [n, rows.cell()[0]];
        let all = crate::functions::shape::reshaped(&mut self.ev.cx, made.flat(), &full)?;
        Ok(Some(self.each_of(Array::rows(all, 1))))
    }

    /// Vectors of real numbers or characters as pieces. None: they are something else.
    pub(super) fn vectors(&mut self, a: &Array) -> Result<Option<Ragged>> {
        match a.split().filter(|rows| rows.at == 1 && rows.cell().len() == 1) {
            Some(rows) => groups::cut_up(&mut self.ev.cx, &rows.node, rows.cell()[0], "index"),
            None => Ok(a.pieces().cloned()),
        }
    }

    /// The items of each cell at the same places. None: the cells, or the places, are others.
    fn at_places(&mut self, a: &Array, i: &Array) -> Result<Option<Cells>> {
        /// More places are looked up cell by cell.
        const FEW: usize = 16;
        if !i.is_plain() || !i.dtype().is_integer() || i.rank() > 1 || !(1..=FEW).contains(&i.len())
        {
            return Ok(None);
        }
        let rows = a.split().or(a.lines()).cloned();
        let a = self.ev.cx.ready_outer(a)?;
        if let Some(rows) = rows {
            let fits = rows.at == 1 && rows.cell().len() == 1;
            let index = [None, Some(i.clone())];
            return match fits.then(|| select::bracket(&mut self.ev.cx, &rows.node, &index)) {
                None => Ok(None),
                Some(v) if i.rank() == 0 => self.scalars_of(v?).map(Some),
                Some(v) => Ok(match v? {
                    v if v.is_uniform() => Some(self.each_of(Array::rows(v, 1))),
                    v => Array::lines_of(&v, 1).map(|lines| self.each_of(lines)),
                }),
            };
        }
        if let Some(pieces) = a.pieces() {
            return match crate::functions::pieces::at_places(&self.ev.cx, pieces, i)? {
                Some(v) if i.rank() == 0 => self.scalars_of(v).map(Some),
                v => Ok(v.map(|v| self.each_of(v))),
            };
        }
        let mut items = Vec::new();
        for k in i.in_turn() {
            match made::picked(&mut self.ev.cx, &k, &a)? {
                Some(list) if i.rank() == 0 => return self.scalars_of(list).map(Some),
                Some(list) => items.push(self.each_of(list)),
                None => return Ok(None),
            }
        }
        self.strand(&items).map(Some)
    }

    /// The items of a list as indexing by a number gives them, one in each cell: scalars, which
    /// hold what is no simple scalar.
    fn scalars_of(&mut self, items: Array) -> Result<Cells> {
        if items.is_uniform() {
            return Ok(self.each_of(items));
        }
        if let Some(held) = items.held_enclosed(self.ev.cx.budget())? {
            return Ok(self.each_of(held));
        }
        let (mut held, mut ticks) =
            (self.ev.cx.budget().room(items.len())?, self.ev.cx.budget().ticks());
        for item in items.in_turn() {
            ticks.tick()?;
            held.push(item.enclosed()?);
        }
        self.ev.cx.collect(items.shape(), held, None).map(|a| self.each_of(a))
    }

    /// Ready, for its items.
    pub(super) fn one_or_list(&mut self, v: Cells) -> Result<Cells> {
        Ok(match v {
            Cells::Same(a) => Cells::Same(self.ev.cx.ready(&a, "each")?),
            Cells::Each(a, level) => Cells::Each(self.ev.cx.ready(&a, "each")?, level),
        })
    }
}

/// The cells behind the first axis of an array, as items. None: there is nothing in them.
fn cells_of(a: Array) -> Option<Array> {
    match a.is_uniform() {
        _ if a.is_empty() => None,
        true => Some(Array::rows(a, 1)),
        false => Array::lines_of(&a, 1),
    }
}

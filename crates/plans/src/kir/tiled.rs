//! Maps over boxes: a block copies what its box reads into shared memory, in the order of the
//! array, then each thread computes points of the box from the copy. Stencils and transposes.
//!
//! Rows: BAS-17, BAS-21, BAR-14, ACL-44. Items of 4 and 8 bytes are copied past the registers where
//! the architecture has that. Sizes of boxes and copies stand in the text, extents and strides
//! are parameters. What lies outside of the array is not copied; tests of reads see to it that
//! nobody asks for it.

use super::lower::{Lowering, block_stride, storage};
use super::{Expr, Stmt, THREADS, Type};
use crate::plan::tiling::{Span, Tile};
use aplomb_ground::error::{Result, bug};

impl Lowering<'_> {
    /// The statements, and how many boxes there are.
    pub(super) fn tiled(&mut self) -> Result<(Vec<Stmt>, u64)> {
        let launch = self.launch;
        let Some(tiling) = &launch.tiling else { return Err(bug!("boxes of no tiles")) };
        let (domain, block) = (&launch.domain, &tiling.block);
        let int = self.int();
        let let_ = |name: String, is: String| Stmt::Let { name, of: int, is, node: None };
        let mut out = self.near_arrays()?;
        let boxes: Vec<usize> = domain.iter().zip(block).map(|(d, b)| d.div_ceil(*b)).collect();
        let mut each = Vec::new();
        let names = self.coordinates(&boxes, "b", ('b', 'd'), &mut each);
        let corner: Vec<Expr> = (0..domain.len()).map(|k| format!("z{k}")).collect();
        for ((k, name), size) in names.iter().enumerate().zip(block) {
            each.push(let_(
                corner[k].clone(),
                if *size == 1 { name.clone() } else { format!("{name} * {size}") },
            ));
        }
        each.append(&mut self.copies(&corner)?);
        let ends = |k: usize| match block[k] {
            1 => (corner[k].clone(), corner[k].clone()),
            n => (corner[k].clone(), format!("{} + {}", corner[k], n - 1)),
        };
        each.extend(self.is_inside(ends));
        each.extend([Stmt::Roll, self.points(block, &corner)?]);
        each.push(Stmt::Do("__syncthreads()".into()));
        out.push(block_stride("b", each));
        out.insert(0, Stmt::Note("A block a box: what it reads is copied first.".into()));
        Ok((out, tiling.boxes(domain)))
    }

    /// The arrays in shared memory of a launch's boxes, those of several axes with their extents.
    pub(super) fn near_arrays(&self) -> Result<Vec<Stmt>> {
        let Some(tiling) = &self.launch.tiling else { return Err(bug!("boxes of no tiles")) };
        let mut out = Vec::new();
        for (t, tile) in tiling.tiles.iter().enumerate() {
            let (of, count) = (self.stored(tile)?, tile.strides(&tiling.block).1 as u32);
            let mut extents = tile.extents(&tiling.block);
            if let Some(last) = extents.last_mut() {
                *last += tile.pad;
            }
            let long: Vec<String> =
                extents.iter().filter(|n| **n > 1).map(|n| format!("[{n}]")).collect();
            if long.len() > 1 {
                out.push(Stmt::Note(format!("near{t} is {}.", long.concat())));
            }
            out.push(Stmt::Shared { name: format!("near{t}"), of, count });
        }
        Ok(out)
    }

    /// A block's copies for the box with that corner, there for all its threads. Their loads are
    /// read from them from now on.
    pub(super) fn copies(&mut self, corner: &[String]) -> Result<Vec<Stmt>> {
        let launch = self.launch;
        let Some(tiling) = &launch.tiling else { return Err(bug!("boxes of no tiles")) };
        let mut out = Vec::new();
        for (t, tile) in tiling.tiles.iter().enumerate() {
            self.copied(t, tile, &tiling.block, corner, &mut out)?;
        }
        let mut types = tiling.tiles.iter().map(|tile| self.stored(tile));
        if types.any(|of| of.is_ok_and(is_copied_past)) {
            out.push(Stmt::Do("copies_done()".into()));
        }
        out.push(Stmt::Do("__syncthreads()".into()));
        Ok(out)
    }

    fn stored(&self, tile: &Tile<u32>) -> Result<Type> {
        let load = tile.loads.first().map(|(l, _)| &self.launch.loads[*l as usize]);
        let load = load.ok_or_else(|| bug!("a tile that nobody reads"))?;
        Ok(storage(self.plan.buffer(load.buf).dtype))
    }

    /// The copy of one tile, and how its loads read it.
    fn copied(
        &mut self,
        t: usize,
        tile: &Tile<u32>,
        block: &[usize],
        corner: &[String],
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let int = self.int();
        let let_ = |name: String, is: String| Stmt::Let { name, of: int, is, node: None };
        let (first, _) = &tile.loads[0];
        let buf = self.launch.loads[*first as usize].buf;
        let (array, shape) =
            (self.buffer(buf, false)?.to_string(), self.plan.buffer(buf).shape.clone());
        let (extents, (strides, _)) = (tile.extents(block), tile.strides(block));
        let along = aplomb_values::array::strides(&shape);
        // Where the copy begins in the array; a box that is read backwards begins at its end.
        for (j, span) in tile.spans.iter().enumerate() {
            let begins = match span {
                Span::At(ix) => self.index(ix, corner)?,
                Span::Along { axis, by, from, .. } => {
                    let from = if *by < 0 { from + by * (block[*axis] as i64 - 1) } else { *from };
                    let moved = if *by == 1 {
                        corner[*axis].clone()
                    } else {
                        format!("{} * {by}", corner[*axis])
                    };
                    if from == 0 { moved } else { format!("{moved} + {from}") }
                }
            };
            out.push(let_(format!("w{t}_{j}"), begins));
        }
        let long: Vec<usize> = (0..extents.len()).filter(|j| extents[*j] > 1).collect();
        let mut copy = vec![let_(format!("e{t}"), "(i32)e".replace("i32", int.cuda()))];
        let mut rest = format!("e{t}");
        for &j in long.iter().skip(1).rev() {
            copy.push(let_(format!("u{t}_{j}"), format!("{rest} % {}", extents[j])));
            copy.push(let_(format!("f{t}_{j}"), format!("{rest} / {}", extents[j])));
            rest = format!("f{t}_{j}");
        }
        if let Some(j) = long.first() {
            copy.push(let_(format!("u{t}_{j}"), rest));
        }
        let (mut inside, mut place, mut to): (Vec<Expr>, Vec<Expr>, Vec<Expr>) = Default::default();
        for (j, span) in tile.spans.iter().enumerate() {
            let is_long = extents[j] > 1;
            let at = if is_long { format!("w{t}_{j} + u{t}_{j}") } else { format!("w{t}_{j}") };
            let name = format!("g{t}_{j}");
            match span {
                Span::Along { wraps: Some(n), .. } if *n > 1 => {
                    let (whole, by) = self.divided(&format!("({at})"), *n);
                    copy.push(let_(name.clone(), format!("{at} - {whole} * {by}")));
                }
                Span::Along { wraps: Some(_), .. } => copy.push(let_(name.clone(), "0".into())),
                _ => {
                    copy.push(let_(name.clone(), at));
                    let extent = self.integer(shape[j] as i64);
                    inside.push(format!("{name} >= 0 && {name} < {extent}"));
                }
            }
            place.push(match along[j] {
                1 => name.clone(),
                stride => format!("{name} * {}", self.integer(stride as i64)),
            });
            if is_long {
                to.push(times(&format!("u{t}_{j}"), strides[j] as i64));
            }
        }
        let (near, item) = (format!("near{t}"), format!("{array}[{}]", sum(place)));
        let store = match is_copied_past(self.storage(buf)) {
            true => Stmt::Do(format!("copy_async({near} + {}, &{item})", sum(to))),
            false => Stmt::Store { to: near, at: sum(to), is: item, node: None },
        };
        copy.push(if inside.is_empty() {
            store
        } else {
            Stmt::If(inside.join(" && "), vec![store])
        });
        out.push(Stmt::Roll);
        out.push(Stmt::For {
            name: "e".into(),
            from: "threadIdx.x".into(),
            to: extents.iter().product::<usize>().to_string(),
            step: THREADS.to_string(),
            body: copy,
        });
        for (load, ahead) in &tile.loads {
            let mut parts: Vec<Expr> = Vec::new();
            let mut fixed = 0i64;
            for (j, span) in tile.spans.iter().enumerate() {
                let Span::Along { axis, by, .. } = span else { continue };
                let stride = strides[j] as i64;
                let back = if *by < 0 { -by * (block[*axis] as i64 - 1) } else { 0 };
                fixed += (ahead[j] + back) * stride;
                if block[*axis] > 1 {
                    parts.push(times(&format!("l{axis}"), by * stride));
                }
            }
            if fixed != 0 {
                parts.push(fixed.to_string());
            }
            self.tiled_loads.insert(*load, format!("near{t}[{}]", sum(parts)));
        }
        Ok(())
    }

    /// The threads' ways over the points of a box.
    fn points(&mut self, block: &[usize], corner: &[String]) -> Result<Stmt> {
        let int = self.int();
        let domain = self.launch.domain.clone();
        let let_ = |name: String, is: String| Stmt::Let { name, of: int, is, node: None };
        let cut: Vec<usize> = (0..block.len()).filter(|k| block[*k] > 1).collect();
        let mut each = Vec::new();
        let mut rest = format!("({})p", int.cuda());
        for &k in cut.iter().skip(1).rev() {
            each.push(let_(format!("l{k}"), format!("{rest} % {}", block[k])));
            rest = format!("{rest} / {}", block[k]);
        }
        if let Some(k) = cut.first() {
            each.push(let_(format!("l{k}"), rest));
        }
        let axes: Vec<String> = (0..domain.len()).map(|k| format!("x{k}")).collect();
        let mut inside = Vec::new();
        for (k, axis) in axes.iter().enumerate() {
            let is_cut = block[k] > 1;
            each.push(let_(
                axis.clone(),
                if is_cut { format!("{} + l{k}", corner[k]) } else { corner[k].clone() },
            ));
            if is_cut {
                inside.push(format!("{axis} < {}", self.integer(domain[k] as i64)));
            }
        }
        let place = self.flat(&axes)?;
        let mut body = vec![Stmt::Let { name: "i".into(), of: Type::U64, is: place, node: None }];
        body.append(&mut self.by_region(&axes)?);
        each.push(Stmt::If(inside.join(" && "), body));
        Ok(Stmt::For {
            name: "p".into(),
            from: "threadIdx.x".into(),
            to: block.iter().product::<usize>().to_string(),
            step: THREADS.to_string(),
            body: each,
        })
    }

    /// A load that a tile has, where its tests hold.
    pub(super) fn tiled_item(&mut self, load: u32, axes: &[String]) -> Result<Expr> {
        let own = &self.launch.loads[load as usize];
        let text = self
            .tiled_loads
            .get(&load)
            .cloned()
            .ok_or_else(|| bug!("load {load} is in no tile"))?;
        let text = match storage(self.plan.buffer(own.buf).dtype) {
            Type::F64 | Type::F32 => text,
            _ => format!("(double){text}"),
        };
        let tests = own.read.tests.clone();
        self.guarded(&tests, text, axes)
    }
}

/// Whether items of a type may be copied past the registers.
fn is_copied_past(of: Type) -> bool {
    matches!(of.bytes(), 4 | 8)
}

fn times(name: &str, by: i64) -> Expr {
    match by {
        1 => name.to_string(),
        -1 => format!("-{name}"),
        _ => format!("{name} * {by}"),
    }
}

fn sum(parts: Vec<Expr>) -> Expr {
    if parts.is_empty() { "0".into() } else { parts.join(" + ") }
}

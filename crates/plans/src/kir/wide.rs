//! Products of f32 whose sums are f32 (`--math fast`): tiles of 128×128 results, 8×8 a thread.
//!
//! As in `product`, what stands before the product is done once an item and what follows in the
//! same launch. Both operands lie in shared memory by places of the folded axis, in vectors of
//! four, twice: while one copy is multiplied the next 16 places are fetched, so a round has one
//! barrier. A thread has its rows and columns in two groups of four, 64 apart, and a warp 4×8
//! threads, so that the vectors it reads lie in distinct banks. Places beyond the folded axis are 0
//! on the left; those beyond the other edges repeat the last one and are not stored.

use super::fast::Fast;
use super::fold::{fold_text, unit};
use super::lower::{Body, Lowering, set};
use super::product::{ANY, Tiled, barrier, drop_places, runs_along, unroll, upto};
use super::{Expr, Spread, Stmt, THREADS, Type};
use crate::plan::{Launch, Reduction, What};
use aplomb_ground::error::Result;
use aplomb_values::array::DType;
use aplomb_values::prim::op::Op;

/// Results of a tile along each axis, of them a thread's, and places of the folded axis.
pub(super) const SIDE: u32 = 128;
const OWN: u32 = 8;
const DEEP: u32 = 16;
/// A line of shared memory: a side, and four that keep lines in distinct banks; in vectors, and of
/// one copy.
const ROW: u32 = SIDE + 4;
const FOURS: u32 = ROW / 4;
const COPY: u32 = DEEP * FOURS;
/// Fewer tiles leave multiprocessors idle, which smaller ones would fill.
const TILES: u64 = 96;

impl Tiled {
    /// The fold of a product of f32: `×` of a left value and a right one, added up.
    pub(super) fn is_single(&self, launch: &Launch) -> bool {
        let [Reduction { op: Op::Add, value, dtype: DType::F32, .. }] =
            launch.reductions.as_slice()
        else {
            return false;
        };
        let all_single = |kept: &[usize]| kept.iter().all(|k| launch.body[*k].dtype == DType::F32);
        let (left, right) = (self.kept(launch, self.left()), self.kept(launch, self.right()));
        let step = &launch.body[*value as usize];
        let What::Op { op, args, .. } = &step.what else { return false };
        if !op.multiplies() {
            return false;
        }
        let both = |x: usize, y: usize| left == [x] && right == [y];
        let (x, y) = (args[0] as usize, args[1] as usize);
        let plain =
            step.from.guard.is_none() && step.dtype == DType::F32 && (both(x, y) || both(y, x));
        self.column.is_some() && plain && all_single(&left) && all_single(&right)
    }

    /// Whether there are enough tiles of this size.
    pub(super) fn is_wide(&self, launch: &Launch) -> bool {
        let along = |axis: usize| launch.domain[axis].div_ceil(SIDE as usize) as u64;
        self.is_single(launch)
            && self.column.is_some_and(|column| along(self.row) * along(column) >= TILES)
    }
}

impl Lowering<'_> {
    /// True where the product adds up in f32, which is noted.
    pub(super) fn sums_in_f32(&mut self, t: &Tiled) -> bool {
        let single = self.is_fast() && t.is_single(self.launch);
        if single {
            self.fast = Fast { sums: Some(self.launch.domain[t.folded] as u64), ..self.fast };
        }
        single
    }

    /// The next 16 places of a side into `array`, a thread's own items of them; and what puts these
    /// into shared memory.
    fn fetched(
        &mut self,
        t: &Tiled,
        (side, own): (u8, usize),
        names: Names,
        (z, extent, deep): (&str, &str, &str),
    ) -> Result<[Stmt; 2]> {
        let launch = self.launch;
        let is_left = side == t.left();
        let kept = t.kept(launch, side);
        let along_folded = kept.iter().any(|k| runs_along(self.plan, self.launch, *k, t.folded));
        let (at, place) =
            if along_folded { ("e0 / 16", "e0 % 16") } else { ("e0 % 128", "e0 / 128") };
        let int = self.int().cuda();
        let mine = self.let_("e0", Type::U32, format!("threadIdx.x + s * {THREADS}"));
        let mut body = Body::new(ANY);
        body.out.push(mine.clone());
        body.out.push(self.place_let(own, self.clamped(&format!("{z} + ({int})({at})"), extent)));
        body.out.push(
            self.place_let(t.folded, self.clamped(&format!("({int})k + ({int})({place})"), deep)),
        );
        self.part(t, &kept, &[], &mut body)?;
        let value = &body.values[kept[0]];
        let value = if is_left {
            format!("(k + {place} < {deep} ? {value} : 0.0f)")
        } else {
            value.clone()
        };
        body.out.push(super::lower::store(names.own, "s", &value));
        drop_places(&mut body.out);
        let shared = format!("((float*){})", names.shared);
        let to = format!("4 * stage + ({place}) * {ROW} + {at}");
        let put = vec![mine, super::lower::store(&shared, &to, &format!("{}[s]", names.own))];
        let count = SIDE * DEEP / THREADS;
        Ok([unroll("s", count, body.out), unroll("s", count, put)])
    }

    pub(super) fn wide(&mut self, t: &Tiled, column: usize) -> Result<(Vec<Stmt>, Spread, u64)> {
        let launch = self.launch;
        let reduction = &launch.reductions[0];
        let (rows, columns) = (launch.domain[t.row], launch.domain[column]);
        let across = columns.div_ceil(SIDE as usize);
        let int = self.int();
        let extents =
            [rows, columns, launch.domain[t.folded]].map(|n| self.number('m', int, n as f64));
        let [m, n, deep] = extents.each_ref().map(String::as_str);
        let [left, put_left] = self.fetched(t, (t.left(), t.row), LEFT, ("z0", m, deep))?;
        let [right, put_right] = self.fetched(t, (t.right(), column), RIGHT, ("z1", n, deep))?;

        let mut inner = Body::new(ANY);
        let given = [(t.left(), "u0[a]"), (t.right(), "w0[b]")];
        let given: Vec<(usize, Expr, bool)> = given
            .iter()
            .map(|(side, name)| (t.kept(launch, *side)[0], name.to_string(), false))
            .collect();
        self.part(t, &[reduction.value as usize], &given, &mut inner)?;
        let sum = format!("t0[a * {OWN} + b]");
        let is = fold_text(reduction.op, &sum, &self.folded(reduction, &inner)?)?;
        inner.out.push(Stmt::Set { is, name: sum.clone(), node: Some(reduction.node) });
        // One address a side: the rest of each place is known when the loops are written out.
        let four = |to: &str, shared: &str, ahead: u32, mine: &str| {
            Stmt::Do(format!(
                "quick_four({to}, ({shared} + (stage + {mine}))[d * {FOURS} + {ahead}])"
            ))
        };
        let take = vec![
            Stmt::Local { name: "u0".into(), of: Type::F32, count: OWN },
            Stmt::Local { name: "w0".into(), of: Type::F32, count: OWN },
            four("u0", LEFT.shared, 0, "down"),
            four("u0 + 4", LEFT.shared, SIDE / 8, "down"),
            four("w0", RIGHT.shared, 0, "across"),
            four("w0 + 4", RIGHT.shared, SIDE / 8, "across"),
            unroll("a", OWN, vec![unroll("b", OWN, inner.out)]),
        ];

        let point = |k: &Self, axis: usize, z: &str, mine: &str, by: &str| {
            k.place_let(
                axis,
                format!("{z} + ({})({mine} * 4 + {by} % 4 + {by} / 4 * 64)", int.cuda()),
            )
        };
        let mut inside = vec![self.let_("o", Type::U64, format!("(u64)x0 * {n} + x1"))];
        self.after(&[sum], "o", &["x0".into(), "x1".into()], &mut inside)?;
        let last = vec![
            point(self, 0, "z0", "down", "a"),
            point(self, 1, "z1", "across", "b"),
            Stmt::If(format!("x0 < {m} && x1 < {n}"), inside),
        ];

        let (quotient, by) = match across {
            1 => (format!("({})tile", int.cuda()), "1".to_string()),
            _ => self.divided(&format!("({})tile", int.cuda()), across as i64),
        };
        let mine = |name: &str, count: u32| Stmt::Local { name: name.into(), of: Type::F32, count };
        let own = SIDE * DEEP / THREADS;
        let round = vec![
            mine(LEFT.own, own),
            mine(RIGHT.own, own),
            left,
            right,
            Stmt::If("k > 0".into(), vec![unroll("d", DEEP, take)]),
            set("stage", &format!("{COPY} - stage")),
            put_left,
            put_right,
            barrier(),
        ];
        let tile = vec![
            self.let_("z2", int, quotient),
            self.let_("z0", int, format!("z2 * {SIDE}")),
            self.let_("z1", int, format!("(({})tile - z2 * {by}) * {SIDE}", int.cuda())),
            mine("t0", OWN * OWN),
            unroll("s", OWN * OWN, vec![set("t0[s]", &unit(reduction.op)?)]),
            Stmt::Roll,
            upto("k", &format!("{deep} + {DEEP}"), &DEEP.to_string(), round),
            unroll("a", OWN, vec![unroll("b", OWN, last)]),
        ];
        let shared = |name: &str| Stmt::SharedFours { name: name.into(), count: 2 * COPY };
        let out = vec![
            Stmt::Note(format!(
                "A block a tile of {SIDE}×{SIDE} results, {DEEP} places at a time."
            )),
            shared(LEFT.shared),
            shared(RIGHT.shared),
            self.let_("down", Type::U32, "threadIdx.x / 64 * 4 + threadIdx.x % 32 / 8".into()),
            self.let_("across", Type::U32, "threadIdx.x / 32 % 2 * 8 + threadIdx.x % 8".into()),
            self.let_("stage", Type::U32, "0".into()),
            self.tiles(tile),
        ];
        let tiles = rows.div_ceil(SIDE as usize) as u64 * across as u64;
        Ok((out, Spread::Blocks, tiles))
    }
}

/// A side's items in a thread's registers, and all of them.
#[derive(Clone, Copy)]
struct Names {
    own: &'static str,
    shared: &'static str,
}

const LEFT: Names = Names { own: "left", shared: "l0" };
const RIGHT: Names = Names { own: "right", shared: "q0" };

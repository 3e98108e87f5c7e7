//! Grades and searches as kernels: keys, a radix sort of 8 bits a pass, and what is done with the
//! order.
//!
//! Row: ACC-27. The helpers are `sort.cu`. Keys are unsigned numbers in `prim::whole::grade`'s
//! order, each with an item, the place it came from. Up to 2048 of them are one block's. Cells of
//! several items are sorted by their last item first. A search is one in the ordered keys of what
//! is searched, with ⎕CT.

use super::lower::{Lowering, block_stride, stride};
use super::{Bound, Expr, Spread, Stmt, Type};
use crate::plan::{BufId, Finish};
use aplomb_ground::error::{Result, nonce};
use aplomb_values::dag::Lib;

/// So many are sorted by one block.
const FEW: u64 = 2048;
/// Places are counted in 30 bits.
const MOST: u64 = 1 << 30;
/// Kernels of one launch.
const KERNELS: u64 = 64;

/// The items that are sorted, and by what.
#[derive(Clone, Copy)]
pub(super) struct Sorted {
    pub(super) n: u64,
    /// One block sorts them.
    few: bool,
    /// Of a key: u32 or u64.
    pub(super) key: Type,
    pub(super) digits: u32,
    /// Digits that there is room to count.
    room: u32,
}

impl Sorted {
    /// So many keys of a number of bytes.
    fn new(k: &mut Lowering<'_>, n: u64, key: Type, digits: u32) -> Result<Sorted> {
        if n >= MOST {
            return Err(nonce("a sort of more than 2*30 items on CUDA"));
        }
        k.bounds.push(Bound { count: n, below: MOST });
        Ok(Sorted { n, few: n <= FEW && !k.any_extents, key, digits, room: digits })
    }

    fn of(k: &mut Lowering<'_>, storage: Type, n: u64) -> Result<Sorted> {
        let (key, digits) = match storage {
            Type::F64 | Type::I64 | Type::U64 => (Type::U64, 8),
            Type::F32 | Type::I32 => (Type::U32, 4),
            // Code points have 21 bits.
            Type::U32 => (Type::U32, 3),
            Type::I16 => (Type::U32, 2),
            Type::U8 | Type::I8 => (Type::U32, 1),
        };
        Sorted::new(k, n, key, digits)
    }

    /// Numbers below `count`.
    pub(super) fn places(k: &mut Lowering<'_>, n: u64, count: u64) -> Result<Sorted> {
        let digits = Sorted::digits_below(k, count);
        Sorted::new(k, n, Type::U32, digits)
    }

    /// Digits of the numbers below one.
    fn digits_below(k: &Lowering<'_>, count: u64) -> u32 {
        let bits = 64 - count.saturating_sub(1).leading_zeros();
        if k.any_extents { 4 } else { bits.div_ceil(8).clamp(1, 4) }
    }

    /// The rows, so long, that such keys stand in.
    fn rows(k: &Lowering<'_>, keys: Sorted, row: u64) -> Sorted {
        Sorted { digits: Sorted::digits_below(k, keys.n / row.max(1)), ..keys }
    }

    /// The items in their order, as an expression.
    pub(super) fn items(self) -> &'static str {
        if self.few { "item0" } else { "radix_chosen(item0, item1, moves)" }
    }

    pub(super) fn keys(self) -> &'static str {
        if self.few { "key0" } else { "radix_chosen(key0, key1, moves)" }
    }
}

impl Lowering<'_> {
    /// `rows`: each row by itself. `first`: the place in the order of the first result, of which
    /// there are as many as the shape says. All numbers are sorted together, then, as the sort
    /// leaves equal keys in their order, by the rows that they stand in.
    pub(super) fn library(
        &mut self,
        finish: &Finish,
        of: Lib,
        (origin, ct): (f64, f64),
        (rows, first): (bool, usize),
    ) -> Result<()> {
        let launch = self.launch;
        let from = launch.held(finish, 0)?;
        let shape = self.plan.buffer(from).shape.clone();
        let size = shape.iter().map(|n| *n as u64).product::<u64>();
        let n = if rows { size } else { shape.first().map_or(1, |n| *n as u64) };
        let width = if rows { 1 } else { shape.iter().skip(1).map(|n| *n as u64).product::<u64>() };
        let sorted = Sorted::of(self, self.storage(from), n)?;
        if width.saturating_mul(u64::from(sorted.digits) + 3) > KERNELS {
            return Err(nonce(format!("{} of cells of {width} items on CUDA", of.glyph())));
        }
        let down = of.is_down();
        let row = shape.last().filter(|_| rows && shape.len() > 1).map(|n| *n as u64);
        let by_row = row.map(|row| Sorted::rows(self, sorted, row));
        // Both sorts count in one memory.
        let digits = sorted.digits.max(by_row.map_or(0, |s| s.digits));
        let sorted = Sorted { room: digits, ..sorted };
        let by_row = by_row.map(|s| Sorted { room: digits, ..s });
        for column in (0..width).rev() {
            self.keys(sorted, from, width, column, column + 1 < width, down)?;
            self.sort(sorted);
        }
        if let (Some(row), Some(by_row)) = (row, by_row) {
            self.keyed(by_row, true, |k| {
                Ok(format!("u0 / {}", k.number('m', Type::U32, row as f64)))
            })?;
            self.sort(by_row);
        }
        let mut line = Vec::new();
        let found = match of {
            Lib::GradeUp | Lib::GradeDown => {
                self.items_of(sorted);
                let place = self.place_in_order(finish, Type::U32, row, first);
                match row {
                    Some(row) => {
                        let row = self.number('m', Type::U32, row as f64);
                        format!("({}[{place}] % {row})", sorted.items())
                    }
                    None => format!("{}[{place}]", sorted.items()),
                }
            }
            Lib::SortUp | Lib::SortDown => {
                self.items_of(sorted);
                let x = self.buffer(from, false)?.to_string();
                let place = self.place_in_order(finish, Type::U32, row, first);
                line.push(self.let_("u0", Type::U32, format!("{}[{place}]", sorted.items())));
                format!("{x}[u0]")
            }
            Lib::IndexOf | Lib::Member => {
                let y = self.item(launch.held(finish, 1)?, "o")?;
                let x = self.buffer(from, false)?.to_string();
                self.keys_of(sorted);
                self.items_of(sorted);
                let ct = self.number('p', Type::F64, ct);
                let n = self.number('m', Type::U32, n as f64);
                line.push(self.let_("u0", Type::U32, {
                    format!(
                        "radix_find({}, {}, {x}, {n}, {y}, {ct})",
                        sorted.keys(),
                        sorted.items()
                    )
                }));
                if of == Lib::Member { format!("(u0 < {n} ? 1.0 : 0.0)") } else { "u0".into() }
            }
        };
        let is = match of.is_sort() {
            true => format!("(double){found}"),
            false => format!("{} + (double){found}", self.number('p', Type::F64, origin)),
        };
        line.push(Stmt::Let { name: "t0".into(), of: Type::F64, is, node: Some(finish.node) });
        let outer = launch.outer();
        let axes = self.axes(&outer, "o", &mut line);
        self.after(&["t0".into()], "o", &axes, &mut line)?;
        let points = outer.iter().map(|n| *n as u64).product();
        self.kernel(vec![stride("o", "n", line)], Spread::Threads, points);
        Ok(())
    }

    /// The place among all items in their order of the result `o`: some neighbours of each of the
    /// rows, so long, or some of all, from a place on.
    pub(super) fn place_in_order(
        &mut self,
        finish: &Finish,
        of: Type,
        row: Option<u64>,
        first: usize,
    ) -> Expr {
        let own = finish.shape.last().map_or(1, |n| *n as u64);
        let from = (first > 0).then(|| self.number('m', of, first as f64));
        let from = from.map_or(String::new(), |from| format!(" + {from}"));
        match row.filter(|row| *row != own) {
            None => format!("o{from}"),
            Some(row) => {
                let row = self.number('m', of, row as f64);
                let own = self.number('m', of, own as f64);
                format!("o / {own} * {row} + o % {own}{from}")
            }
        }
    }

    /// The keys of a column of the cells; `again`: in the order that later columns gave.
    fn keys(
        &mut self,
        s: Sorted,
        from: BufId,
        width: u64,
        column: u64,
        again: bool,
        down: bool,
    ) -> Result<()> {
        self.keyed(s, again, |k| {
            let place = match width {
                1 => "u0".into(),
                _ => {
                    let (by, first) = (
                        k.number('m', Type::U64, width as f64),
                        k.number('m', Type::U64, column as f64),
                    );
                    format!("u0 * {by} + {first}")
                }
            };
            let key = format!("radix_key({}[{place}])", k.buffer(from, false)?);
            Ok(if down { format!("~{key}") } else { key })
        })
    }

    /// The keys of the items, of which one is called u0; `again`: in the order that they have.
    fn keyed(
        &mut self,
        s: Sorted,
        again: bool,
        key: impl FnOnce(&mut Self) -> Result<Expr>,
    ) -> Result<()> {
        self.shared("key0", s.key, s.n);
        self.shared("item0", Type::U32, s.n);
        let own = if again {
            self.items_of(s);
            format!("{}[i]", s.items())
        } else {
            "(u32)i".into()
        };
        let body = vec![
            self.let_("u0", Type::U32, own),
            super::lower::store("key0", "i", &key(self)?),
            super::lower::store("item0", "i", "u0"),
        ];
        self.kernel(vec![stride("i", "n", body)], Spread::Threads, s.n);
        Ok(())
    }

    /// Memory of the items, and of which of the two buffers has them.
    pub(super) fn items_of(&mut self, s: Sorted) {
        self.shared("item0", Type::U32, s.n);
        if !s.few {
            self.shared("item1", Type::U32, s.n);
            self.shared("moves", Type::U32, 1);
        }
    }

    pub(super) fn keys_of(&mut self, s: Sorted) {
        self.shared("key0", s.key, s.n);
        if !s.few {
            self.shared("key1", s.key, s.n);
            self.shared("moves", Type::U32, 1);
        }
    }

    /// Kernels that sort `key0` with `item0`; where the order is afterwards, `Sorted::items` says.
    pub(super) fn sort(&mut self, s: Sorted) {
        let shared =
            |name: &str, of: Type, count: u32| Stmt::Shared { name: name.into(), of, count };
        let run = |text: String| Stmt::Do(text);
        if s.few {
            self.keys_of(s);
            self.items_of(s);
            let n = self.number('m', Type::U32, s.n as f64);
            let few = FEW as u32;
            let body = vec![
                shared("key_at", s.key, few),
                shared("place_at", Type::U32, few),
                run(format!("radix_few(key0, item0, key_at, place_at, {n})")),
            ];
            self.kernel(body, Spread::Blocks, 1);
            return;
        }
        // Keys of 8 bytes: smaller tiles, for shared memory.
        let items: u32 = if s.key == Type::U64 { 8 } else { 12 };
        let tile = super::THREADS * items;
        self.shared("key0", s.key, s.n);
        self.counts(s);
        let digits = s.digits;
        let body = vec![
            shared("mine", Type::U32, 256 * digits),
            run(format!("radix_count(key0, counts, mine, {digits}, lo, n)")),
        ];
        self.kernel(body, Spread::Threads, s.n).clears.push(("counts".into(), 0));
        self.counts(s);
        self.shared("moves", Type::U32, 1);
        let n = self.number('m', Type::U32, s.n as f64);
        let place = run(format!("radix_places(counts, moves, sums, (u32)o, {n})"));
        let places = block_stride("o", vec![place]);
        let kernel = self.kernel(
            vec![shared("sums", Type::U32, 256), places],
            Spread::Blocks,
            u64::from(digits),
        );
        kernel.clears.push(("moves".into(), 0));
        for digit in 0..digits {
            self.keys_of(s);
            self.items_of(s);
            self.counts(s);
            let status = match self.any_extents {
                // More than that, but a sum with whole factors.
                true => s.n + 256,
                false => s.n.div_ceil(u64::from(tile)) * 256,
            };
            self.shared("status", Type::U32, status);
            self.shared("tickets", Type::U32, 1);
            let digit = self.number('m', Type::U32, f64::from(digit));
            let n = self.number('m', Type::U32, s.n as f64);
            let body = vec![
                shared("small", Type::U32, 2048 + 3 * 256 + 1),
                shared("key_at", s.key, tile),
                shared("item_at", Type::U32, tile),
                run(format!(
                    "radix_pass<{items}>(key0, item0, key1, item1, counts, moves, status, tickets, \
                     small, key_at, \
                     item_at, {digit}, {n})"
                )),
            ];
            let kernel = self.kernel(body, Spread::Runs(tile), s.n);
            kernel.clears.extend([("status".to_string(), 0), ("tickets".to_string(), 0)]);
        }
    }

    fn counts(&mut self, s: Sorted) {
        self.shared("counts", Type::U32, 256 * u64::from(s.room));
    }

    pub(super) fn let_(&self, name: &str, of: Type, is: Expr) -> Stmt {
        Stmt::Let { name: name.into(), of, is, node: None }
    }
}

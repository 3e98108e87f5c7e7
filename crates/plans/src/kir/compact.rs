//! The places that a mask keeps, in a kernel: tiles that count what they keep and look back at the
//! counts before theirs.
//!
//! Row: ACC-06. Whatever the axis, what is kept keeps its order in the whole array, so one shape is
//! enough: a flat way through all places, each of which asks the mask at its own coordinate. The
//! result's length is known before, with the mask, so it is written to its last place and not
//! beyond. The order is the array's: stable.

use super::lower::{At, Body, Lowering, Part, store};
use super::scan::{OUT, Shape};
use super::vector::unrolled;
use super::{Param, ParamKind, Spread, Stmt, THREADS, Type};
use aplomb_ground::error::{Result, bug};

/// Places of a tile for each thread.
const ITEMS: u32 = 8;

/// The next tile of a block, by the ticket.
pub(super) const TILES: &str = "next_tile(ticket, first, seat)";

/// The launcher's memory for tiles: what is named, and the ticket.
pub(super) fn scratch(params: &mut Vec<Param>, of: &[(&str, Type)]) {
    for (name, of) in of.iter().chain(&[("ticket", Type::U32)]) {
        params.push(Param { name: name.to_string(), what: ParamKind::Scratch(*of) });
    }
}

impl Lowering<'_> {
    pub(super) fn compact(&mut self, axis: usize) -> Result<Shape> {
        let launch = self.launch;
        let c = launch.compaction.ok_or_else(|| bug!("a selection of nothing"))?;
        let places = launch.domain.iter().map(|n| *n as u64).product::<u64>();
        let items = self.tuning.items.map_or(ITEMS, |k| k.next_power_of_two().clamp(4, 2 * ITEMS));
        self.items = items;
        self.choices.items = vec![ITEMS / 2, ITEMS, 2 * ITEMS];
        let (block, warps) = (THREADS * items, THREADS / 32);
        scratch(&mut self.params, &[("status", Type::U64)]);
        let to = self.number('m', Type::U64, places as f64);
        let mask = self.buffer(launch.loads[c.mask as usize].buf, false)?.to_string();
        let let_ =
            |name: &str, of: Type, is: String| Stmt::Let { name: name.into(), of, is, node: None };
        let mut coordinates = Vec::new();
        let axes = self.axes(&launch.domain, "i", &mut coordinates);
        let place = let_("i", Type::U64, format!("tile * {block} + e * {THREADS} + threadIdx.x"));
        let (lane, count) = ("threadIdx.x % 32", format!("e * {warps} + threadIdx.x / 32"));

        let mut asked = coordinates.clone();
        let is = format!("{mask}[{}] != 0", axes[axis]);
        asked.push(Stmt::Set { name: "keep".into(), is, node: Some(c.node) });
        let votes = vec![
            place.clone(),
            let_("keep", Type::U32, "0".into()),
            Stmt::If(format!("i < {to}"), asked),
            let_("votes", Type::U32, "__ballot_sync(~0u, keep)".into()),
            Stmt::If(
                format!("{lane} == 0"),
                vec![store("kept", &count, "votes"), store("counts", &count, "__popc(votes)")],
            ),
        ];

        let mut body = Body::new("i");
        self.steps(&launch.body, At::point(&axes, &launch.domain), &mut body)?;
        self.stores(Part::Body, "i", &mut body)?;
        let mut keep = Body::new("i");
        (keep.values, keep.loose) = (body.values, body.loose);
        let below = format!("counts[{count}] + __popc(kept[{count}] & ((1u << {lane}) - 1))");
        keep.out.push(let_("to", Type::U64, below));
        self.stores(Part::Kept, "to", &mut keep)?;
        let is_kept = format!("kept[{count}] >> {lane} & 1");
        // What neither fails nor is stored is made of what is kept only.
        let pure = launch.stores.is_empty() && !body.out.iter().any(may_fail);
        let mut all = coordinates;
        if pure {
            all.append(&mut body.out);
            all.append(&mut keep.out);
            all = vec![Stmt::If(is_kept, all)];
        } else {
            all.append(&mut body.out);
            all.push(Stmt::If(is_kept, keep.out));
            all = vec![Stmt::If(format!("i < {to}"), all)];
        }
        all.insert(0, place);

        let tile = vec![
            unrolled(items, items, votes),
            Stmt::Do(format!("count_tile<{items}>(counts, status, tile)")),
            unrolled(items, OUT, all),
        ];
        let out = vec![
            Stmt::Shared { name: "kept".into(), of: Type::U32, count: items * warps },
            Stmt::Shared { name: "counts".into(), of: Type::U64, count: items * warps },
            Stmt::Shared { name: "seat".into(), of: Type::U32, count: 1 },
            Stmt::Note(format!("A block a tile of {block} places, in the order of a ticket.")),
            Stmt::Each { name: "tile".into(), next: TILES.into(), to: "lo + n".into(), body: tile },
        ];
        Ok((out, Spread::Tiles, places.div_ceil(u64::from(block))))
    }
}

fn may_fail(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Let { is, .. } | Stmt::Set { is, .. } | Stmt::Store { is, .. } => {
            is.contains("Bad{") || is.contains("fits(")
        }
        Stmt::For { body, .. } => body.iter().any(may_fail),
        _ => false,
    }
}

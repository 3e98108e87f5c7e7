//! The choices in a launch's text: what was chosen, for the trace, and what else a tuner may try.
//!
//! Rows: BAR-06, ACC-26. In: a launch's code. Only choices that change no bit of a value are
//! candidates: a fold's sums and a scan's have an order that follows the points of a thread, so
//! these are as they come.

use super::{Code, Kernel, Spread, Stmt, THREADS, TileSize};
use aplomb_ground::trace::{Grid, SpreadRecord};

/// The settings of a text that a tuner may choose. Values do not depend on it, but for the order of
/// sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuning {
    /// Points that a thread takes at a time, a power of two up to 16. None: as `vector` says.
    pub items: Option<u32>,
    /// Blocks stay and draw the next tile of points, where a launch has loops.
    pub persistent: bool,
    /// Of a block of a map.
    pub threads: u32,
    /// The size of a product's tiles. None: the usual one.
    pub tile: Option<TileSize>,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { items: None, persistent: false, threads: THREADS, tile: None }
    }
}

impl Tuning {
    /// `2 points a thread`, `1 point a thread, 128 threads a block`, `blocks that stay`.
    pub fn says(&self) -> String {
        if let Some(tile) = self.tile {
            return tile.says();
        }
        let threads = match self.threads {
            THREADS => String::new(),
            other => format!(", {other} threads a block"),
        };
        let points = match (self.persistent, self.items) {
            (true, _) => "blocks that stay".into(),
            (false, Some(1)) => "1 point a thread".into(),
            (false, Some(items)) => format!("{items} points a thread"),
            (false, None) => "as it comes".into(),
        };
        points + &threads
    }
}

/// The other settings that a kernel's text could have, the same bits in the same places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// Points a thread; empty where the shape fixes them.
    pub items: Vec<u32>,
    /// Threads of a block; empty where the shape fixes them.
    pub threads: Vec<u32>,
    /// Whether blocks may stay.
    pub persistent: bool,
    /// The size of its tiles, where it is a product whose tiles may have another.
    pub tiles: Option<TileSize>,
}

impl Code {
    /// The tunings that this launch's text may have, the one it has first; alone where nothing is
    /// to choose.
    pub fn candidates(&self) -> Vec<Tuning> {
        let [kernel] = self.kernels.as_slice() else { return vec![Tuning::default()] };
        let stays = kernel.choices.persistent && kernel.spread == Spread::Tiles;
        let choices = &kernel.choices;
        if let Some(own) = choices.tiles {
            let others = TileSize::all().into_iter().filter(|size| *size != own && size.divides());
            let all = std::iter::once(own).chain(others);
            return all.map(|size| Tuning { tile: Some(size), ..Tuning::default() }).collect();
        }
        let own = Tuning {
            items: Some(kernel.items),
            persistent: stays,
            threads: kernel.threads,
            tile: None,
        };
        let items = choices.items.iter().map(|k| Tuning { items: Some(*k), ..Tuning::default() });
        let threads = choices.threads.iter().map(|n| Tuning { threads: *n, ..own });
        let stay = choices.persistent.then_some(Tuning {
            items: Some(1),
            persistent: true,
            ..Tuning::default()
        });
        std::iter::once(own).chain(items.chain(threads).chain(stay).filter(|t| *t != own)).collect()
    }

    /// Its kernels as the trace has them, on a device that so many blocks fill.
    pub fn spread(&self, full: u64) -> Vec<SpreadRecord> {
        self.kernels.iter().map(|k| spread(k, full)).collect()
    }

    /// Bytes of shared memory that its text declares, of the kernel with most.
    pub fn shared(&self) -> u32 {
        self.kernels.iter().map(|k| shared(&k.body)).max().unwrap_or(0)
    }

    /// The geometry of the kernel with most blocks; `smem` bytes of shared memory are the launch's.
    pub fn grid(&self, full: u64, smem: u32) -> Grid {
        let widest = self.kernels.iter().max_by_key(|k| k.blocks(k.points, full));
        let (blocks, threads) = widest.map_or((0, 0), |k| (k.blocks(k.points, full), k.threads));
        Grid { grid: [u64::from(blocks), 1, 1], block: [threads, 1, 1], smem }
    }
}

fn shared(body: &[Stmt]) -> u32 {
    let own = |s: &Stmt| match s {
        Stmt::Shared { of, count, .. } => of.bytes() * count,
        Stmt::SharedFours { count, .. } => 16 * count,
        Stmt::If(_, body)
        | Stmt::For { body, .. }
        | Stmt::Each { body, .. }
        | Stmt::Unrolled { body, .. }
        | Stmt::Halve { body, .. } => shared(body),
        _ => 0,
    };
    body.iter().map(own).sum()
}

fn spread(kernel: &Kernel, full: u64) -> SpreadRecord {
    let (by, runs) = match kernel.spread {
        Spread::Threads => ("thread", false),
        Spread::Warps => ("warp", false),
        Spread::Blocks => ("block", false),
        Spread::Tiles => ("tile", false),
        Spread::Runs(_) => ("run", true),
    };
    SpreadRecord {
        by: by.into(),
        threads: kernel.threads,
        items: kernel.items,
        points: kernel.points,
        each: kernel.per_block(),
        blocks: kernel.blocks(kernel.points, full),
        bounded: !runs,
        choices: kernel.choices.items.clone(),
        sizes: kernel.choices.threads.clone(),
        persistent: kernel.choices.persistent.then_some(kernel.spread == Spread::Tiles),
    }
}

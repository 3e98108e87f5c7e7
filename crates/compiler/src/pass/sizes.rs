//! sizes: the rows of `kernels[].tuning`, every size that a product's tiles could have.
//!
//! Rows: BAS-23, BAS-24. `kir::rows` makes them; here they become records, and records rows again
//! when NVRTC has told registers, so that the rules are asked once more.

use super::cost::SM_90;
use aplomb_ground::trace::{Cuda, Later, LaunchRecord, TuningRecord};
use aplomb_plans::kir::{self, Code, Row, TileSize, Tuning};
use aplomb_plans::occupancy;
use aplomb_plans::plan::{Launch, Plan};
use std::sync::Arc;

/// The sizes of a launch's tiles; empty where there are none to choose. `number` is the launch's.
pub fn of(plan: &Plan, launch: &Launch, number: usize, code: &Code) -> Vec<TuningRecord> {
    let chosen = code.kernels.first().and_then(|k| k.choices.tiles);
    let (Some(chosen), Some(on)) = (chosen, occupancy::find(SM_90.arch)) else {
        return Vec::new();
    };
    let Some(sized) = kir::sized(plan, launch) else { return Vec::new() };
    // Texts are for who asks a compiler for their registers: each is made when it is asked for.
    let alone = Arc::new(plan.part(vec![launch.clone()], Vec::new()));
    let record = |row: Row| {
        let tuning = Tuning { tile: Some(row.size), ..Tuning::default() };
        let text = match row.pruned.is_none() || row.size == chosen {
            true => {
                let alone = alone.clone();
                Later::new(move || {
                    let code = kir::tuned(&alone, &alone.launches[0], number, tuning).ok()?;
                    Some(kir::cuda(&code))
                })
            }
            false => Later::default(),
        };
        TuningRecord {
            tile: [row.size.rows, row.size.columns, row.size.deep],
            own: row.size.own,
            threads: row.size.threads(),
            regs: None,
            smem: row.shared,
            loads: row.loads,
            occ: row.occupancy,
            us: (row.us * 100.0).round() / 100.0,
            ms: None,
            status: status(&row),
            chosen: row.size == chosen,
            text,
            guessed: row.registers,
        }
    };
    kir::rows(&sized, on).into_iter().map(record).collect()
}

fn status(row: &Row) -> String {
    row.pruned.map_or_else(|| "model".into(), |rule| format!("pruned:{}", rule.name()))
}

/// Times of sizes that ran on a device, µs: of these the least is the one that is kept.
pub fn tell_times(record: &mut LaunchRecord, ran: &[(Tuning, f64)]) {
    for r in &mut record.tuning {
        let size = TileSize { rows: r.tile[0], columns: r.tile[1], deep: r.tile[2], own: r.own };
        if let Some((_, us)) = ran.iter().find(|(tuning, _)| tuning.tile == Some(size)) {
            (r.ms, r.status) = (Some(us / 1e3), "timed".into());
        }
    }
}

/// Asks the rules again after registers of some sizes became known. `told` gives registers and
/// spilled bytes of a text.
pub fn tell_registers(
    record: &mut LaunchRecord,
    arch: &str,
    mut told: impl FnMut(&Cuda) -> Option<(u32, u32)>,
) {
    let Some(on) = occupancy::find(arch) else { return };
    let mut rows: Vec<Row> = Vec::new();
    for r in &mut record.tuning {
        let size = TileSize { rows: r.tile[0], columns: r.tile[1], deep: r.tile[2], own: r.own };
        let known = r.text.text().as_ref().and_then(&mut told);
        r.regs = known.map(|(registers, _)| registers);
        let (registers, spills) = known.unwrap_or((r.guessed, 0));
        rows.push(Row {
            size,
            registers,
            spills,
            shared: r.smem,
            loads: r.loads,
            occupancy: r.occ,
            us: r.us,
            pruned: None,
        });
    }
    kir::settle(&mut rows, on);
    for (r, row) in record.tuning.iter_mut().zip(&rows) {
        r.occ = row.occupancy;
        if r.ms.is_none() {
            r.status = status(row);
        }
    }
}

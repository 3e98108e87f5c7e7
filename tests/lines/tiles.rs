//! The loops and the sizes that are told of a product in tiles.

use crate::support::{session, traced};

/// BAS-22, BAS-23: a product's loops in four levels, and a row for every size that its tiles could
/// have: figures, and the rule that leaves it out.
#[test]
fn bas_22_bas_23_levels_and_sizes_of_a_product_are_told() {
    let t = traced(&mut session(), &["A←0.001×1000 900⍴⍳900000 ⋄ B←⍉A", "A B", "A+.×B"]);
    let k = t.kernels.last().expect("a launch");
    let loops = |level: &str| -> Vec<(String, u64, u64, String)> {
        let own = k.schedule.iter().filter(|l| l.level == level);
        own.map(|l| (l.axis.clone(), l.extent, l.step, l.role.clone())).collect()
    };
    let of = |axis: &str, extent, step, role: &str| (axis.into(), extent, step, role.into());
    assert_eq!(loops("grid"), [of("i", 1000, 64, "point"), of("j", 1000, 64, "point")]);
    assert_eq!(loops("block"), [of("k", 900, 16, "fold")]);
    let threads = [of("i", 16, 1, "point"), of("j", 16, 1, "point"), of("k", 16, 1, "fold")];
    assert_eq!(loops("thread"), threads);
    assert_eq!(loops("register"), [of("i", 4, 1, "point"), of("j", 4, 1, "point")]);

    assert!(k.tuning.len() >= 20, "{}", k.tuning.len());
    assert_eq!(k.tuning.iter().filter(|r| r.chosen).count(), 1);
    let least = k.tuning.iter().filter(|r| r.status == "model").map(|r| r.loads).min();
    for row in &k.tuning {
        let [rows, columns, deep] = row.tile.map(u64::from);
        assert_eq!(u64::from(row.threads) * u64::from(row.own).pow(2), rows * columns, "{row:?}");
        let tiles = 1000u64.div_ceil(rows) * 1000u64.div_ceil(columns);
        // Places beyond the edges are loaded like others.
        let places = 900u64.next_multiple_of(deep);
        assert_eq!(row.loads, tiles * (rows + columns) * places, "{row:?}");
        // A's copy is turned, and B's goes along its lines, which need no pad.
        let pad = if deep == 8 { 2 } else { 1 };
        assert_eq!(u64::from(row.smem), 8 * deep * (rows + pad + columns), "{row:?}");
        match row.status.as_str() {
            "model" => assert!(row.occ > 0.0 && row.us > 0.0, "{row:?}"),
            "pruned:divide" => assert!(
                !(64..=512).contains(&row.threads)
                    || (rows * deep) % u64::from(row.threads) > 0
                    || (columns * deep) % u64::from(row.threads) > 0,
                "{row:?}"
            ),
            "pruned:smem" => assert!(row.smem > 48 * 1024, "{row:?}"),
            "pruned:traffic" => assert!(Some(row.loads) > least.map(|n| 2 * n), "{row:?}"),
            "pruned:regs" | "pruned:occupancy" => {}
            other => panic!("{other}"),
        }
    }
    let why = aplomb_viz::ask::answer(&t, &format!("k{}", k.id), 9_999);
    let why = why.ok().flatten().expect("an answer");
    assert!(why.contains("blocks: i over 1000 by 64, j over 1000 by 64"), "{why}");
    assert!(why.contains("sizes") && why.contains("by traffic"), "{why}");
}

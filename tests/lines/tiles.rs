//! The loops and the sizes that are told of a product in tiles.

use crate::support::{session, traced};
use aplomb_compiler::pass::{NoClock, Options, compile};
use aplomb_plans::kir::{Form, figures, rows, size, sized};
use aplomb_plans::occupancy;
use aplomb_plans::plan::{Launch, Tiles};

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

/// By the model no product takes much longer in its form than in the other one, tiles or not, nor
/// in its tiles than in those of the best row of its table.
#[test]
fn a_product_takes_the_form_and_the_tiles_that_take_least() {
    let on = occupancy::find("sm_90").expect("an architecture");
    let (mut forms, mut sizes) = (Vec::new(), Vec::new());
    let cube = [16, 24, 32, 40, 64, 72, 80, 96, 100, 128, 136, 160, 192, 256, 300, 384, 512, 768];
    let others =
        [[64, 160, 200], [160, 64, 200], [33, 64, 2000], [100, 2000, 100], [1000, 16, 300]];
    for [n, deep, m] in cube.map(|n| [n, n, n]).into_iter().chain(others) {
        for line in ["A+.×B", "A+.×⍉C", "A⌊.+B"] {
            let data = format!("A←{n} {deep}⍴÷⍳997 ⋄ B←{deep} {m}⍴÷⍳991 ⋄ C←{m} {deep}⍴÷⍳991");
            let mut s = session();
            traced(&mut s, &[&data, "⎕DR¨A B C"]);
            let recorded = s.graph_of(&format!("r←{line}"), &["r"]).expect("a graph");
            let plan = compile(&recorded, &Options::default(), &mut NoClock).expect("a plan").plan;
            let [l] = &plan.launches[..] else { panic!("{line}: {}", plan.launches.len()) };
            let of = |tiles: Tiles| figures(&plan, &Launch { tiles, ..l.clone() }).time();
            let (own, least) = (of(l.tiles), of(Tiles::Always).min(of(Tiles::Never)));
            assert!(own <= 1.25 * least, "{line} of {n} {deep} {m}: {own} for {least}");
            let form = Form::of(&plan, l);
            forms.extend((!forms.contains(&form)).then_some(form));
            if let Some(of) = sized(&plan, l) {
                let (all, own) = (rows(&of, on), size(&plan, l));
                let us = all.iter().find(|r| r.size == own).map(|r| r.us).expect("a row");
                let left = all.iter().filter(|r| r.pruned.is_none()).map(|r| r.us);
                let best = left.fold(f64::INFINITY, f64::min);
                assert!(us <= 1.25 * best, "{line} of {n} {deep} {m}: {us} for {best}");
                sizes.extend((!sizes.contains(&own)).then_some(own));
            }
        }
    }
    assert!(
        forms.contains(&Form::Tiles) && forms.len() > 2 && sizes.len() > 1,
        "{forms:?} {sizes:?}"
    );
}

/// A block copies both operands of a product of a matrix with itself: what it loads is what the
/// row of its size says, and a size as fast as the chosen one is not told to be faster.
#[test]
fn a_block_loads_both_operands_of_a_product_with_itself() {
    for line in ["M+.×M", "M+.×⍉M", "M⌊.+M"] {
        let t = traced(&mut session(), &["M←192 192⍴÷⍳36864 ⋄ N←M÷2 ⋄ ⎕DR¨M N", line]);
        let k = t.kernels.last().expect("a launch");
        let (block, row) = (k.block.as_ref(), k.tuning.iter().find(|r| r.chosen));
        let (block, row) = block.zip(row).expect("tiles");
        assert_eq!(block.loads * block.boxes, row.loads, "{line}: {block:?} {row:?}");
        let left = k.tuning.iter().filter(|r| r.status == "model");
        let least = left.map(|r| r.us).fold(f64::INFINITY, f64::min);
        let why = aplomb_viz::ask::answer(&t, &format!("k{}", k.id), 9_999);
        let why = why.ok().flatten().expect("an answer");
        assert_eq!(why.contains(" is least: ]tune measures"), least < row.us, "{line}: {why}");
    }
}

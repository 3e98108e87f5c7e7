//! The stand-in for CUDA's libraries (`tests/cusim`): kernels of every shape run right on it,
//! faults planted in them are seen; and the same texts compile with NVRTC within their budgets.

use crate::standin;
use crate::support::{extras, program, scaled};
use std::path::Path;
use std::process::Command;

/// Registers that a kernel may use on sm_90.
const BUDGETS: &[(&str, &[(&str, u64)])] = &[
    ("map", &[("map_f32", 32)]),
    ("rows", &[("map_rows", 32), ("map_flat", 32)]),
    ("transpose", &[("transpose", 32)]),
    ("tickets", &[("map_tickets", 32)]),
    ("mandelbrot", &[("mandel_begin", 32), ("mandel_rounds", 32)]),
    ("reduce", &[("reduce_dot", 40)]),
    ("folds", &[("folds", 40), ("folds_last", 40)]),
    ("scan", &[("scan_f32", 48)]),
    ("scan64", &[("scan_f64", 48)]),
    ("compact", &[("compact", 40)]),
    (
        "segments",
        &[("rows_by_warp", 40), ("rows_by_block", 40), ("columns", 40), ("columns_last", 40)],
    ),
    ("gather", &[("gather", 32)]),
    ("histogram", &[("histogram", 40)]),
    ("scatter", &[("scatter_win", 32), ("scatter_put", 32)]),
    ("stencil", &[("stencil_15", 40), ("stencil_3x3", 48)]),
    ("life", &[("life", 40)]),
    ("matmul", &[("matmul", 128)]),
    ("pairs", &[("pairs", 48)]),
    ("sort", &[("sort_count", 40), ("sort_places", 40), ("sort_pass", 64)]),
];

#[test]
fn kernels_run_right_and_planted_faults_are_seen() {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        println!("skipped: cusim needs Linux on x86-64");
        return;
    }
    if program("g++").is_none() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = root.join("target/cusim");
    // Another seed, other turns of blocks and threads; nightly twenty of them.
    for seed in 1..=scaled(1).clamp(1, 20) {
        let mut run = Command::new("sh");
        run.arg(root.join("tests/cusim/selftest.sh")).arg(&out).env("CUSIM_SEED", seed.to_string());
        run.env(standin::KEPT, standin::kept());
        let run = run.output().expect("sh");
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(
            run.status.success(),
            "seed {seed}\n{said}\n{}",
            String::from_utf8_lossy(&run.stderr)
        );
        // It looked at all of them: what the driver promises, cases, faults.
        assert_eq!(said.lines().filter(|l| l.starts_with("ok    ")).count(), 18, "{said}");
        assert!(said.contains("runs, 0 wrong") && said.contains("0 not as said"), "{said}");
        println!("{}", said.lines().rev().take(2).collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn every_kernel_has_a_budget_and_keeps_it_with_nvrtc() {
    let Some(python) = extras("the NVRTC wheel") else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cusim-nvrtc");
    std::fs::create_dir_all(&out).expect("a folder");
    let texts = std::fs::read_dir(root.join("tests/cusim/kernels")).expect("kernels").count();
    assert_eq!(texts, BUDGETS.len() + 1, "each but the prelude");
    let prelude =
        std::fs::read_to_string(root.join("tests/cusim/kernels/prelude.cu")).expect("the prelude");
    for (name, budgets) in BUDGETS {
        let text = std::fs::read_to_string(root.join(format!("tests/cusim/kernels/{name}.cu")))
            .expect(name);
        let file = out.join(format!("{name}.cu"));
        std::fs::write(&file, format!("{prelude}\n{text}")).expect("a file");
        let nvrtc = root.join("tools/nvrtc.py");
        let run = Command::new(&python)
            .arg(nvrtc)
            .arg(&file)
            .args(["--arch", "sm_90"])
            .output()
            .expect("python");
        let said = String::from_utf8_lossy(&run.stdout);
        let json: serde_json::Value = serde_json::from_str(&said).unwrap_or_default();
        assert!(run.status.success(), "{name}: {said}");
        assert_eq!(json["spills"], 0, "{name}: {said}");
        assert_eq!(
            json["regs"].as_object().map(|regs| regs.len()),
            Some(budgets.len()),
            "{name}: {said}"
        );
        for (kernel, budget) in *budgets {
            let used = json["regs"][kernel].as_u64();
            assert!(
                used.is_some_and(|used| used <= *budget),
                "{kernel}: {used:?} registers of {budget}"
            );
        }
    }
}

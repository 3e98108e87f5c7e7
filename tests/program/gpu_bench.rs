//! `benches/gpu/run.sh`, from its first stage to its last, on the stand-in for CUDA's libraries and
//! at a small scale: what it writes is well-formed, and a stage that fails is told.

use crate::{standin, support};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Runs the program that it is given, and finds something as one of the tools.
const SANITIZER: &str = "#!/bin/bash
while [[ $1 == --* ]]; do
    [[ $1 == --tool ]] && tool=$2
    shift 2
done
\"$@\" || exit
[[ $tool != racecheck ]] || { echo '========= ERROR SUMMARY: 3 errors'; exit 9; }
";

/// Its exit code, what it said, and its document. None: something is missing here, and that was
/// said.
fn ran(workloads: &str, with: &[(&str, &str)]) -> Option<(Option<i32>, String, Value)> {
    support::program("python3")?;
    let (dir, cache) = (standin::folder(), standin::folder());
    let tool = dir.path().join("compute-sanitizer");
    std::fs::write(&tool, SANITIZER).expect("a script");
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).expect("its mode");
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap_or_default());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/gpu/run.sh");
    let out = dir.path().join("out");
    let done = standin::on_standin(&script, cache.path())?
        .arg(env!("CARGO_BIN_EXE_aplomb"))
        .arg(&out)
        .env("PATH", path)
        .env("APLOMB_BENCH_SCALE", "1e-5")
        .env("APLOMB_BENCH_ONLY", workloads)
        .env("APLOMB_BENCH_PEERS", "")
        .envs(with.iter().copied())
        .output()
        .expect("bash");
    let said =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    let text =
        std::fs::read_to_string(out.join("result.json")).unwrap_or_else(|e| panic!("{e}: {said}"));
    Some((done.status.code(), said, serde_json::from_str(&text).expect("JSON")))
}

#[test]
fn each_stage_writes_and_one_that_fails_is_told() {
    let Some((code, said, result)) = ran("saxpy,gemm-fast,scan,life", &[]) else { return };
    let failed: Vec<&str> = said.lines().filter(|l| l.starts_with("FAILED")).collect();
    assert_eq!(
        failed,
        ["FAILED sanitizer-racecheck.txt: exit 9: ========= ERROR SUMMARY: 3 errors"],
        "{said}"
    );
    assert_eq!(code, Some(1), "{said}");
    let rows = result["rows"].as_array().expect("rows");
    let mut ids: Vec<&str> = rows.iter().filter_map(|r| r["id"].as_str()).collect();
    // Of two sizes.
    ids.dedup();
    assert_eq!(ids, ["saxpy", "gemm-fast", "scan", "life"]);
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key}: {row}"));
        assert!(number("us") > 0.0 && number("end_us") > 0.0 && number("first_ms") > 0.0, "{row}");
        assert!(
            number("kernels") >= 1.0 && number("up_bytes") == 0.0 && number("cpu_us") > 0.0,
            "{row}"
        );
        assert!(number("max_rel_err") <= number("tol"), "{row}");
    }
    let stages: Vec<&str> = result["stages"]
        .as_array()
        .expect("stages")
        .iter()
        .filter_map(|s| s["name"].as_str())
        .collect();
    assert_eq!(
        (stages.first(), stages.last(), stages.len()),
        (Some(&"device.txt"), Some(&"peers.txt"), 10)
    );
    let boxes = result["stages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|s| s["box"].as_str()?.parse::<u32>().ok());
    assert!(boxes.sum::<u32>() <= 540, "more than nine minutes");
}

#[test]
fn a_missing_gpu_is_told() {
    let Some((code, said, result)) = ran("saxpy", &[("CUSIM_NO_DEVICE", "1")]) else { return };
    assert!(
        code == Some(1) && said.contains("FAILED no GPU: the CUDA driver finds no device"),
        "{said}"
    );
    assert_eq!(result["rows"], serde_json::json!([]));
}

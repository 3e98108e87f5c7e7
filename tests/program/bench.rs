//! `aplomb bench` from outside: rows, the list, peers, and how it ends. No time is asserted.

use crate::{standin, support};
use assert_cmd::Command;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

fn ran(args: &[&str]) -> (String, String, Option<i32>) {
    let mut command = Command::cargo_bin("aplomb").expect("the program");
    let out = command
        .arg("bench")
        .args(args)
        .timeout(Duration::from_secs(120))
        .output()
        .expect("its output");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(out.stdout), text(out.stderr), out.status.code())
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Fields that the page names, and those of a GPU or of peers.
fn documented() -> (BTreeSet<String>, BTreeSet<String>) {
    let page = include_str!("../../benches/README.md");
    let table = page.split("| field | meaning |").nth(1).expect("a table of fields");
    let rows = table.lines().skip(1).take_while(|l| l.starts_with('|'));
    let cells = rows.filter_map(|l| l.strip_prefix("| ")?.split_once(" |"));
    let (mut always, mut sometimes) = (BTreeSet::new(), BTreeSet::new());
    for (names, meaning) in cells {
        let into = if meaning.contains("alone:") || meaning.contains("instead") {
            &mut sometimes
        } else {
            &mut always
        };
        into.extend(names.split('`').skip(1).step_by(2).map(String::from));
    }
    assert!(always.len() > 15 && sometimes.contains("peers"), "{always:?} {sometimes:?}");
    (always, sometimes)
}

#[test]
fn every_row_has_the_documented_fields() {
    let (always, _) = documented();
    let (out, err, code) = ran(&["all", "--small", "--seconds", "0", "--json"]);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    let rows = rows(&out);
    assert!(rows.len() > 30);
    for row in &rows {
        let fields: BTreeSet<String> =
            row.as_object().expect("an object").keys().cloned().collect();
        assert_eq!(fields, always, "{row}");
        assert!(row["us"].as_f64() > Some(0.0) && row["runs"].as_u64() >= Some(5), "{row}");
    }
    // The scripts read the same table in the same way.
    let Some(python) = support::program("python3") else { return };
    let script = "import json, sys; sys.path.insert(0, 'benches'); from work import *\n\
                  for r in TABLE['workloads']:\n  for t, n in r['small']:\n    w = Work(r, t, \
                  n)\n    \
                  print(json.dumps([w.id, t, n, w.bytes, w.flops]))";
    let done = Command::new(python).args(["-B", "-c", script]).output().expect("python3");
    let theirs = String::from_utf8(done.stdout).expect("UTF-8");
    let ours = rows.iter().map(|r| json!([r["id"], r["dtype"], r["n"], r["bytes"], r["flops"]]));
    for (ours, theirs) in ours.zip(theirs.lines()) {
        let theirs: Value = serde_json::from_str(theirs).expect("JSON");
        let same = (0..5).all(|k| {
            ours[k] == theirs[k] || ours[k].as_f64().is_some_and(|x| theirs[k].as_f64() == Some(x))
        });
        assert!(same, "{ours} {theirs}");
    }
    assert_eq!(theirs.lines().count(), rows.len());
}

#[test]
fn workloads_are_listed_in_words() {
    let (out, _, code) = ran(&["list"]);
    let line = out.lines().find(|l| l.starts_with("nbody ")).expect("a line");
    assert!(
        line.contains("f64 4096")
            && line.contains("accelerations of all bodies")
            && code == Some(0),
        "{line}"
    );
    for name in ["all", "papers", "seeds", "frontend", "tui"] {
        assert!(out.lines().any(|l| l.split_whitespace().next() == Some(name)), "{name}");
    }
    let (nothing, err, code) = ran(&["nobody"]);
    assert!(
        nothing.is_empty() && err.starts_with("aplomb: no workload is called nobody; there are\n"),
        "{err}"
    );
    assert!(err.ends_with(&out) && code == Some(2));
    let (_, err, code) = ran(&["all", "--only", "saxpy,nobody"]);
    assert!(err.contains("no workload is called nobody;") && code == Some(2), "{err}");
}

#[test]
fn a_table_stands_in_columns() {
    let (out, _, code) =
        ran(&["papers", "--only", "dot,csr", "--small", "--seconds", "0", "--n", "3e4"]);
    let lines: Vec<&str> = out.lines().skip(1).collect();
    let ends =
        |line: &str, word: &str| line.find(word).map(|at| line[..at + word.len()].chars().count());
    assert_eq!((lines.len(), code), (5, Some(0)), "{out}");
    assert!(lines[4].starts_with("est: within 2 × ") && lines[4].ends_with(" of 2 rows"), "{out}");
    assert_eq!(ends(lines[0], " n"), ends(lines[1], "30000"), "{out}");
    assert_eq!(ends(lines[1], " f64"), ends(lines[2], " f64"), "{out}");
}

#[test]
fn programs_of_the_papers_are_told_way_by_way() {
    let args = ["seeds", "--small", "--seconds", "0", "--only", "acl-convolve,acc-dot,bar-rmse"];
    let (out, err, code) = ran(&[&args[..], &["--json"]].concat());
    assert_eq!((err.as_str(), code), ("", Some(0)));
    let told = rows(&out);
    let names: Vec<&str> = told.iter().filter_map(|r| r["id"].as_str()).collect();
    assert_eq!(names, ["acl-convolve", "acc-dot", "bar-rmse", "bar-rmse"]);
    for row in &told {
        let ways = row["ways"].as_array().expect("ways");
        let launches = |preset: &str, off: Option<&str>| {
            let is_it = |w: &&Value| w["preset"] == preset && w["off"].as_str() == off;
            ways.iter().find(is_it).and_then(|w| w["launches"].as_u64()).expect("a figure")
        };
        let own = ways[1]["preset"].as_str().expect("the paper's");
        assert!(launches("all", None) <= launches(own, None), "{row}");
        assert!(launches(own, None) < launches(own, Some("fusion")), "{row}");
        assert!(ways.iter().all(|w| w["same"] == true && w["us"].is_number()), "{row}");
    }
    // A ratio where one was published: by our pipeline, and by the paper's.
    assert!(told[1]["ratio"] == 1.66 && told[1]["ours"].is_number(), "{}", told[1]);
    assert!(told[1]["by_its_pipeline"].is_number() && told[0]["ours"].is_null());
    let (table, _, code) = ran(&args);
    assert_eq!((table.lines().filter(|l| l.starts_with("| ")).count(), code), (3 + 4, Some(0)));
    assert!(
        table.contains("### Barracuda, 2010\n\n| program | size | ours | bar2010 |"),
        "{table}"
    );
    let (_, err, code) = ran(&["seeds", "--only", "acl-nothing"]);
    assert!(
        err.contains("no program is called acl-nothing; there are acl-sum ") && code == Some(2)
    );
}

#[test]
fn what_is_done_stays_after_an_interrupt() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_aplomb"))
        .args(["bench", "all", "--small", "--only", "saxpy,mandelbrot,nbody", "--n", "200000"])
        .args(["--seconds", "1", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let first = lines.next().expect("a line").expect("UTF-8");
    let pid = child.id().to_string();
    assert!(
        std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill").success()
    );
    assert_eq!(child.wait().expect("its end").code(), Some(130));
    assert_eq!(rows(&first)[0]["id"], "saxpy");
}

/// An environment whose packages are those of the system's Python, mostly none: peers say what they
/// lack.
#[test]
fn peers_answer_in_turns_or_say_why_not() {
    let Some(python) = support::program("python3") else { return };
    let dir = standin::folder();
    std::fs::create_dir(dir.path().join("bin")).expect("a folder");
    std::os::unix::fs::symlink(python, dir.path().join("bin/python")).expect("a link");
    let wanted = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/requirements.txt");
    std::fs::copy(wanted, dir.path().join("peers.stamp")).expect("a stamp");
    let venv = dir.path().to_str().expect("UTF-8");
    let (out, err, code) = ran(&["gemv", "--small", "--seconds", "0", "--json", "--peers", venv]);
    assert_eq!(code, Some(0), "{err}");
    let row = &rows(&out)[0];
    let peer = &row["peers"]["numpy"];
    let timed = peer["ratio"].as_f64() > Some(0.0) && peer["ok"] == true;
    assert!(timed || peer["error"].as_str().is_some_and(|e| e.contains("numpy")), "{row}");
    let (_, err, code) = ran(&["gemv", "--peers", venv, "--device", "cuda"]);
    assert!(err.contains("benches/gpu/run.sh") && code == Some(2), "{err}");
}

#[test]
fn a_gpu_is_timed_by_its_events() {
    let cache = standin::folder();
    let Some(mut command) =
        standin::on_standin(Path::new(env!("CARGO_BIN_EXE_aplomb")), cache.path())
    else {
        return;
    };
    command.args(["bench", "all", "--device", "cuda", "--json", "--small", "--seconds", "0"]);
    let out = command.args(["--only", "saxpy,rmse", "--n", "30000"]).output().expect("the program");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    let rows = rows(&String::from_utf8_lossy(&out.stdout));
    assert_eq!((rows.len(), out.status.code()), (2, Some(0)), "{said}");
    let (always, sometimes) = documented();
    for row in &rows {
        assert!(row["clock"] == "events" && row["us"].as_f64() > Some(0.0), "{row}");
        assert!(
            row["up_bytes"] == 0.0 && row["elsewhere"] == json!([]) && row["device"] == "cuda",
            "{row}"
        );
        let fields: BTreeSet<String> =
            row.as_object().expect("an object").keys().cloned().collect();
        assert!(fields.is_superset(&always), "{row}");
        assert!(fields.difference(&always).all(|f| sometimes.contains(f)), "{row}");
    }
}

/// The worth of each switch: of every workload whose plan it changes bytes, models and time; as a
/// table and as JSON.
#[test]
fn switches_are_told_by_bytes_models_and_time() {
    let args = ["switches", "--small", "--seconds", "0", "--only", "rmse,softmax,gemm"];
    let (out, err, code) = ran(&[&args[..], &["--json"]].concat());
    assert_eq!((err.as_str(), code), ("", Some(0)));
    let told = rows(&out);
    let of = |switch: &str| told.iter().filter(|r| r["switch"] == switch).count();
    assert!(of("fusion") >= 2 && of("embed-consumers") >= 2, "{out}");
    for row in &told {
        for side in ["with", "without"] {
            for field in ["launches", "bytes", "cpu_us", "gpu_us", "us"] {
                assert!(row[side][field].as_f64() >= Some(0.0), "{field}: {row}");
            }
        }
        assert_ne!(row["with"], row["without"], "{row}");
    }
    let more = |r: &Value, field: &str| r["without"][field].as_u64() > r["with"][field].as_u64();
    let fused: Vec<&Value> = told.iter().filter(|r| r["switch"] == "fusion").collect();
    assert!(fused.iter().all(|r| more(r, "launches") && more(r, "bytes")), "{out}");
    let (table, _, code) = ran(&args);
    let head = table.lines().next().expect("a head");
    assert!(code == Some(0) && head.contains("bytes") && head.contains("GPU"), "{table}");
    assert!(table.lines().any(|l| l.starts_with("fusion ")), "{table}");
}

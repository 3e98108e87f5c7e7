//! `examples/*.apl` and `examples/seeds/*.apl` print what stands in the `.out` file beside each.
//! `UPDATE=1` writes what they print now. `⋯` in an `.out` file: at the end of a line, any rest of
//! it; alone on a line, any lines.

use crate::support::differs;
use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// Names without the ending, with their folder if it is another than the examples' own.
fn with_ending(ending: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for inner in ["", "seeds/"] {
        let files = fs::read_dir(folder().join(inner)).unwrap();
        let names = files.map(|e| e.unwrap().file_name().into_string().unwrap());
        found.extend(names.filter_map(|n| Some(format!("{inner}{}", n.strip_suffix(ending)?))));
    }
    found.sort();
    found
}

#[test]
fn an_outs_dots_stand_for_what_differs() {
    let lines = |text: &'static str| text.split('|').collect::<Vec<_>>();
    for (wanted, found, at) in [
        ("a|b", "a|b", None),
        ("a|b", "a|c", Some(1)),
        ("a", "a|b", Some(1)),
        ("a|b", "a", Some(1)),
        ("took ⋯|b", "took 3 ms|b", None),
        ("a|⋯|b", "a|x|y|b", None),
        ("a|⋯|b", "a|b", None),
        ("a|⋯|b", "a|x|b|c", Some(1)),
    ] {
        assert_eq!(differs(&lines(wanted), &lines(found)), at, "{wanted} against {found}");
    }
}

#[test]
fn every_example_prints_its_out() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for name in with_ending(".apl") {
        let mut command = Command::cargo_bin("aplomb").unwrap();
        command.arg(format!("examples/{name}.apl")).current_dir(env!("CARGO_MANIFEST_DIR"));
        let from = Instant::now();
        let ran = command.timeout(Duration::from_secs(60)).output().unwrap();
        let (out, err) =
            (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
        println!("{name}: {} ms", from.elapsed().as_millis());
        if !ran.status.success() || !err.is_empty() {
            wrong.push(format!("{name}: {err}"));
            continue;
        }
        let path = folder().join(format!("{name}.out"));
        let wanted = fs::read_to_string(&path).unwrap_or_default();
        let (wanted, found): (Vec<_>, Vec<_>) = (wanted.lines().collect(), out.lines().collect());
        if let Some(at) = differs(&wanted, &found) {
            if update && !wanted.iter().any(|l| l.contains('⋯')) {
                fs::write(&path, &out).unwrap();
                continue;
            }
            let line =
                |lines: &[&str]| lines.get(at).map_or("nothing more".into(), |l| format!("‘{l}’"));
            wrong.push(format!(
                "{name}.out:{}: wants {}, found {}",
                at + 1,
                line(&wanted),
                line(&found)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}\nUPDATE=1 rewrites them", wrong.join("\n"));
}

#[test]
fn every_example_is_listed_and_opens_with_what_it_is() {
    let (programs, outs) = (with_ending(".apl"), with_ending(".out"));
    assert_eq!(programs, outs);
    assert!(programs.len() >= 55, "{}", programs.len());
    let page = fs::read_to_string(folder().join("README.md")).unwrap();
    let mut listed: Vec<&str> =
        page.lines().filter_map(|l| l.strip_prefix("| [")?.split(']').next()).collect();
    listed.retain(|name| !name.ends_with(".ipynb"));
    listed.sort();
    assert_eq!(listed, programs);
    for name in programs {
        let text = fs::read_to_string(folder().join(format!("{name}.apl"))).unwrap();
        let second = text.lines().nth(1).unwrap_or_default();
        assert!(
            text.starts_with("#!/usr/bin/env aplomb\n⍝ ") && second.ends_with('.'),
            "{name}: {second}"
        );
    }
}

/// Smoke takes a while where nothing is optimised, and is left to whoever changes it.
#[test]
fn the_pictures_are_what_their_programs_make() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = tempfile::tempdir().unwrap();
    for name in ["corners", "motion"] {
        let mut command = Command::cargo_bin("aplomb").unwrap();
        command.arg(format!("examples/pictures/{name}.apl")).arg(made.path()).current_dir(root);
        command.timeout(Duration::from_secs(60)).assert().success();
        let same = fs::read(made.path().join(format!("{name}.png"))).unwrap()
            == fs::read(root.join(format!("docs/pictures/{name}.png"))).unwrap();
        assert!(same, "docs/pictures/{name}.png: examples/pictures/{name}.apl makes another");
    }
}

//! Every option of every subcommand does what `--help` promises: `options.md` has a row for each,
//! which is run.
#![cfg(unix)]

use clap::Command as Parser;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

const TABLE: &str = include_str!("options.md");
const CONNECTION: &str = r#"{"ip":"192.0.2.1","transport":"tcp","shell_port":50001,
"iopub_port":50002,"stdin_port":50003,
    "control_port":50004,"hb_port":50005,"key":"KEY","signature_scheme":"hmac-sha256"}"#;

struct Row<'a> {
    /// Subcommand and option.
    of: &'a str,
    with: &'a str,
    mark: char,
    against: &'a str,
}

fn rows() -> Vec<Row<'static>> {
    let blocks = TABLE.split("```").skip(1).step_by(2);
    let lines: Vec<&str> = blocks.flat_map(str::lines).filter(|l| !l.is_empty()).collect();
    let row = |three: &[&'static str]| {
        let (mark, against) = three[2].trim().split_once(' ').expect("a mark and words");
        Row {
            of: three[0],
            with: three[1].trim(),
            mark: mark.chars().next().expect("a mark"),
            against,
        }
    };
    lines.chunks(3).map(row).collect()
}

/// Each option of a command and of those below it, as rows name them; what every form takes is the
/// first's.
fn options(command: &Parser, path: &str, all: &mut BTreeSet<String>) {
    let global: BTreeSet<&str> = match path {
        "aplomb" => BTreeSet::new(),
        _ => command
            .get_arguments()
            .filter(|a| a.is_global_set())
            .map(|a| a.get_id().as_str())
            .collect(),
    };
    for option in command
        .get_arguments()
        .filter(|a| !a.is_positional() && !global.contains(a.get_id().as_str()))
    {
        let name = match (option.get_long(), option.get_short()) {
            (Some(long), _) => format!("--{long}"),
            (None, Some(short)) => format!("-{short}"),
            (None, None) => continue,
        };
        if !["--help", "--version"].contains(&name.as_str()) {
            all.insert(format!("{path} {name}"));
        }
    }
    for below in command.get_subcommands() {
        let name = below.get_name();
        options(
            below,
            &if path == "aplomb" { name.to_string() } else { format!("{path} {name}") },
            all,
        );
    }
}

/// The outcome of a line, in a folder of its own: standard output, standard error, exit code.
fn seen(line: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("p.apl", "x←0.5×⍳3000\n⌈/x\ny←x-⌊x\n(+/y)÷⍴y×2+x+y\n".to_string()),
        ("bad.apl", "x←(1\n".into()),
        ("c.json", CONNECTION.replace("KEY", "k")),
        ("d.json", CONNECTION.replace("KEY", "")),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
    }
    let line = line.replace("aplomb ", &format!("{} ", env!("CARGO_BIN_EXE_aplomb")));
    let mut shell = Command::new("timeout");
    shell
        .args(["-k", "1", "60", "sh", "-c", &line])
        .current_dir(folder.path())
        .stdin(Stdio::null());
    let out = shell
        .env("NO_COLOR", "1")
        .env_remove("VIRTUAL_ENV")
        .env_remove("CONDA_PREFIX")
        .output()
        .expect("a shell");
    let text = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes).replace(&folder.path().display().to_string(), "HERE")
    };
    format!("{}\n{}\n{:?}", text(&out.stdout), text(&out.stderr), out.status.code())
}

fn broken(row: &Row) -> Option<String> {
    let with = seen(row.with);
    let holds = match row.mark {
        '≠' => {
            let without = seen(row.against);
            with != without && without == seen(row.against)
        }
        '=' => with == seen(row.against),
        '+' => with.contains(row.against),
        '-' => !with.contains(row.against),
        _ => false,
    };
    (!holds).then(|| format!("{}: {}\n  {} {}\n{with}\n", row.of, row.with, row.mark, row.against))
}

#[test]
fn every_option_has_a_row() {
    let mut all = BTreeSet::new();
    options(&aplomb::args::command(), "aplomb", &mut all);
    let rows: BTreeSet<String> = rows().iter().map(|r| r.of.to_string()).collect();
    assert!(all.len() > 50, "{}", all.len());
    assert_eq!(
        all.difference(&rows).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "options without a row"
    );
    assert_eq!(
        rows.difference(&all).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "rows without an option"
    );
}

#[test]
fn every_option_changes_what_is_seen_or_is_refused() {
    let all = rows();
    let broken: Vec<String> = std::thread::scope(|s| {
        let halves = all.chunks(all.len().div_ceil(2));
        let workers: Vec<_> = halves
            .map(|rows| s.spawn(move || rows.iter().filter_map(broken).collect::<Vec<_>>()))
            .collect();
        workers.into_iter().flat_map(|w| w.join().expect("rows")).collect()
    });
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

//! Attacks that must not end a kernel, or make it run anything: malformed and forged messages, raw
//! bytes, bad files.

use crate::running::{Running, WAIT};
use crate::support::{Dice, scaled};
use aplomb_kernel::jupyter::client::{Channel, Client};
use aplomb_kernel::jupyter::wire::Frame;
use aplomb_kernel::jupyter::{fresh, write};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use std::process::{Command, Output};
use std::time::Instant;

const CHANNELS: &[Channel] = &[Channel::Shell, Channel::Control, Channel::Stdin];

/// A way to break a message that would be good.
type Break = fn(&mut Vec<Frame>, &mut Dice);

const BREAKS: &[(&str, Break)] = &[
    ("nothing", |f, _| f.clear()),
    ("no delimiter", |f, _| drop(f.remove(0))),
    ("the delimiter alone", |f, _| f.truncate(1)),
    ("cut short", |f, d| f.truncate(1 + d.roll(5))),
    ("an empty signature", |f, _| f[1].clear()),
    ("a short signature", |f, d| f[1].truncate(d.roll(64))),
    ("a signature that is no text", |f, _| f[1] = vec![0xff; 64]),
    ("a signature in two-byte characters", |f, _| f[1] = "é".repeat(32).into_bytes()),
    ("a flipped bit", |f, d| {
        let at = 1 + d.roll(5);
        let (n, bit) = (f[at].len(), d.roll(8));
        if n > 0 {
            f[at][d.roll(n)] ^= 1 << bit;
        } else {
            f[at].push(1);
        }
    }),
    ("random frames", |f, d| {
        f.iter_mut()
            .for_each(|frame| *frame = (0..d.roll(200)).map(|_| d.roll(256) as u8).collect());
    }),
    ("a thousand frames", |f, _| *f = vec![b"<IDS|MSG>".to_vec(); 1_000]),
    ("deep brackets", |f, _| f[5] = vec![b'['; 100_000]),
    ("a header that is a list", |f, _| f[2] = b"[1]".to_vec()),
    ("a large frame", |f, _| f[5] = vec![b' '; 1 << 20]),
];

#[test]
fn malformed_messages_are_dropped_and_the_next_is_answered() {
    let mut kernel = Running::start();
    let before = kernel.resident();
    let mut dice = Dice(20);
    for k in 0..scaled(10_000) {
        let (mut frames, _) = kernel.client.frames("execute_request", &json!({ "code": "⎕OFF 1" }));
        let (name, break_) = BREAKS[k % BREAKS.len()];
        if matches!(name, "a large frame" | "a thousand frames") && k >= 16 * BREAKS.len() {
            continue;
        }
        break_(&mut frames, &mut dice);
        if !frames.is_empty() {
            kernel.client.raw(CHANNELS[k / BREAKS.len() % 3], frames);
        }
    }
    answered(&mut kernel);
    let grown = kernel.resident().saturating_sub(before);
    println!("{grown} bytes more");
    assert!(grown <= 32 << 20, "{grown} bytes more");
}

/// A fresh client gets kernel_info at once, and the session works.
fn answered(kernel: &mut Running) {
    assert_eq!(kernel.shown("1+1"), "2", "what waits before it is read first");
    let fresh = Client::connect(&kernel.info).expect("sockets");
    let begun = Instant::now();
    fresh.ask(Channel::Shell, "kernel_info_request", &json!({}), WAIT).expect("a reply");
    println!("kernel_info after {:?}", begun.elapsed());
    assert!(kernel.is_alive());
}

#[test]
fn forged_and_replayed_messages_run_nothing() {
    let kernel = Running::start();
    let mut other = kernel.info.clone();
    other.key = "another key".into();
    let forger = Client::connect(&other).expect("sockets");
    for _ in 0..scaled(1_000) {
        forger.send(Channel::Shell, "execute_request", &json!({ "code": "ran←1" }));
        forger.send(Channel::Control, "shutdown_request", &json!({}));
    }
    let (frames, id) = kernel.client.frames("execute_request", &json!({ "code": "n←1+n" }));
    kernel.run("n←0");
    for _ in 0..100 {
        kernel.client.raw(Channel::Shell, frames.clone());
    }
    assert!(kernel.client.reply(Channel::Shell, &id, WAIT).is_some());
    assert_eq!(kernel.shown("n"), "1", "one of a hundred is taken");
    assert_eq!(kernel.run("ran").reply["ename"], "VALUE ERROR");
}

#[test]
fn raw_bytes_and_huge_claims_cost_nothing() {
    let mut kernel = Running::start();
    let before = kernel.resident();
    let ports = [&kernel.info]
        .map(|i| [i.shell_port, i.iopub_port, i.stdin_port, i.control_port, i.hb_port]);
    // A ZMTP 3 greeting, a READY command, then a frame that claims so many bytes.
    let mut greeting = vec![0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0];
    greeting.extend(b"NULL");
    greeting.resize(64, 0);
    let ready = b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x06DEALER";
    let mut dice = Dice(7);
    let connections = scaled(2_000);
    for k in 0..connections {
        let port = ports[0][k % 5];
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { continue };
        let claim: u64 = [1_000_000_000, 100_000_000_000, 4_000_000_000_000_000_000][k % 3];
        let bytes: Vec<u8> = match k % 4 {
            0 => [&greeting[..], ready, &[2], &claim.to_be_bytes()].concat(),
            1 => [&greeting[..], &[2], &claim.to_be_bytes(), &[0; 100]].concat(),
            2 => greeting[..dice.roll(64)].to_vec(),
            _ => (0..dice.roll(300)).map(|_| dice.roll(256) as u8).collect(),
        };
        // The other side may close first.
        let _ = stream.write_all(&bytes);
    }
    answered(&mut kernel);
    let grown = kernel.resident().saturating_sub(before);
    println!("{grown} bytes more");
    // ZeroMQ takes what has no signature for a peer of its first version, and keeps some 5 kB of
    // each of those until it ends: a quarter of them here.
    let kept = 2 * connections as u64 * 1024;
    assert!(grown <= (28 << 20) + kept, "{grown} bytes more");
}

#[test]
fn fields_of_the_wrong_kind_have_defaults() {
    let mut kernel = Running::start();
    let wrong = [
        json!(null),
        json!([]),
        json!(-1),
        json!(1e300),
        json!({ "a": [{}] }),
        json!("\u{0}😀"),
        json!(true),
    ];
    let fields = [
        "code",
        "silent",
        "store_history",
        "user_expressions",
        "allow_stdin",
        "stop_on_error",
        "cursor_pos",
        "n",
        "hist_access_type",
        "pattern",
        "session",
        "start",
        "stop",
        "comm_id",
        "target_name",
        "detail_level",
    ];
    let kinds = [
        "execute",
        "complete",
        "inspect",
        "is_complete",
        "history",
        "comm_info",
        "kernel_info",
        "connect",
    ];
    for kind in kinds {
        for value in &wrong {
            for field in fields {
                let content = json!({ field: value });
                let asked =
                    kernel.client.ask(Channel::Shell, &format!("{kind}_request"), &content, WAIT);
                assert!(asked.is_some_and(|r| r["status"].is_string()), "{kind} {content}");
            }
        }
    }
    assert!(kernel.is_alive());
}

fn start_with(file: &std::path::Path, flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aplomb"));
    command.args(["kernel", "start", "-f"]).arg(file).args(flags).output().expect("the program")
}

#[test]
fn a_connection_file_that_will_not_do_is_one_line_and_exit_2() {
    let folder = tempfile::tempdir().expect("a folder");
    let (info, file) = (fresh().expect("ports"), folder.path().join("c.json"));
    let good = serde_json::to_value(&info).expect("JSON");
    let check = |what: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("a mode");
        let out = start_with(&file, &[]);
        let says = String::from_utf8(out.stderr).expect("UTF-8");
        assert_eq!(
            (out.status.code(), says.lines().count(), out.stdout.len()),
            (Some(2), 1, 0),
            "{what}: {says}"
        );
    };
    write(&file, &info).expect("a file");
    check("others may read it", 0o644);
    for field in [
        "ip",
        "transport",
        "shell_port",
        "iopub_port",
        "stdin_port",
        "control_port",
        "hb_port",
        "key",
    ] {
        let mut partial = good.clone();
        partial.as_object_mut().expect("an object").remove(field);
        std::fs::write(&file, partial.to_string()).expect("a file");
        check(field, 0o600);
    }
    for (field, value) in [
        ("ip", json!("0.0.0.0")),
        ("ip", json!("a\u{0}b")),
        ("key", json!("")),
        ("hb_port", json!(0)),
    ] {
        let mut bad = good.clone();
        bad[field] = value;
        std::fs::write(&file, bad.to_string()).expect("a file");
        check(field, 0o600);
    }
    for text in ["", "{", "[]", "\u{0}", "nonsense"] {
        std::fs::write(&file, text).expect("a file");
        check(text, 0o600);
    }
    for missing in [folder.path().join("none.json"), folder.path().to_path_buf()] {
        assert_eq!(start_with(&missing, &[]).status.code(), Some(2));
    }
}

#[test]
fn a_port_that_is_taken_is_one_line() {
    let kernel = Running::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("c.json");
    write(&file, &kernel.info).expect("a file");
    let out = start_with(&file, &[]);
    let says = String::from_utf8(out.stderr).expect("UTF-8");
    assert_eq!((out.status.code(), says.lines().count()), (Some(1), 1), "{says}");
    assert!(says.contains(&kernel.info.shell_port.to_string()), "{says}");
}

#[test]
fn only_the_loopback_address_is_bound() {
    let kernel = Running::start();
    let table = std::fs::read_to_string("/proc/net/tcp").expect("Linux");
    let ports = [kernel.info.shell_port, kernel.info.iopub_port, kernel.info.stdin_port];
    for port in ports.iter().chain(&[kernel.info.control_port, kernel.info.hb_port]) {
        // State 0A listens.
        let end = format!(":{port:04X}");
        let rows = table.lines().map(|l| l.split_whitespace().collect::<Vec<_>>());
        let local: Vec<_> = rows
            .filter(|r| r.get(3) == Some(&"0A") && r[1].ends_with(&end))
            .map(|r| r[1])
            .collect();
        assert_eq!(local, [format!("0100007F{end}")]);
    }
}

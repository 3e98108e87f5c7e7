//! The real program of panes in a pseudo-terminal: start, keys, another size, interrupt,
//! suspension, signals, and the terminal as it was.

#[cfg(feature = "jupyter")]
use crate::running;
use crate::support;
use rexpect::session::{PtySession, spawn_command};
use std::process::Command;
use std::time::{Duration, Instant};

/// A shell that shows the terminal's settings around the program; `args` follow `tui`.
fn start(args: &str) -> (PtySession, String) {
    start_with("", args)
}

/// `set`: commands, and variables' values before the program's name.
fn start_with(set: &str, args: &str) -> (PtySession, String) {
    let program = assert_cmd::cargo::cargo_bin("aplomb");
    let run = format!("{set} '{}' tui {args}", program.display());
    let script = format!("stty cols 120 rows 30; echo $$; stty -g; {run}; echo code $?; stty -g");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).env("NO_COLOR", "1").env("TERM", "xterm-256color");
    let mut session = spawn_command(command, Some(20_000)).unwrap();
    let shell = session.read_line().unwrap().trim().to_string();
    let before = session.read_line().unwrap().trim().to_string();
    session.exp_string("\x1b[?1049h").unwrap();
    (session, format!("{shell} {before}"))
}

/// A frame draws only what changed: for a blank that stood there already the cursor moves on.
fn drawn(words: &str) -> String {
    words.replace(' ', "( |\\x1b\\[[0-9;]*H)")
}

#[test]
fn registers_are_told_where_nvrtc_is() {
    let Some(python) = support::extras("the NVRTC wheel") else { return };
    let packages =
        python.parent().and_then(|bin| bin.parent()).expect("an environment").join("lib");
    let one = |dir: &std::path::Path| {
        std::fs::read_dir(dir).ok()?.flatten().map(|e| e.path()).find(|p| p.is_dir())
    };
    let nvidia = one(&packages).expect("a Python").join("site-packages/nvidia");
    let lib = one(&nvidia).expect("a CUDA").join("lib");
    let (mut session, told) =
        start_with(&format!("stty cols 160 rows 50; LD_LIBRARY_PATH='{}'", lib.display()), "");
    session.exp_regex(&(drawn("registers ") + "[0-9]+[ \\x1b]")).unwrap();
    press(&mut session, "q");
    ends(session, &told, 0);
}

fn shell(told: &str) -> &str {
    told.split(' ').next().unwrap()
}

/// The program's process: the shell's child.
fn child(told: &str) -> String {
    let found = Command::new("ps").args(["-o", "pid=", "--ppid", shell(told)]).output().unwrap();
    String::from_utf8(found.stdout).unwrap().trim().to_string()
}

fn signal(which: &str, pid: &str) {
    assert!(Command::new("kill").args([which, pid]).status().unwrap().success());
}

/// It has left the screen of its own, with this code, and the settings are those of before.
fn ends(mut session: PtySession, told: &str, code: i32) {
    session.exp_string("\x1b[?1049l").unwrap();
    session.exp_string(&format!("code {code}")).unwrap();
    session.read_line().unwrap();
    assert_eq!(session.read_line().unwrap().trim(), told.split(' ').nth(1).unwrap());
}

fn press(session: &mut PtySession, keys: &str) {
    session.send(keys).unwrap();
    session.flush().unwrap();
}

#[test]
fn it_starts_hears_keys_and_leaves() {
    let (mut session, told) = start("");
    session.exp_string("sm_90").unwrap();
    press(&mut session, "t\x0c");
    session.exp_string("pipelines").unwrap();
    // What is drawn again is drawn whole, but for blanks.
    press(&mut session, "?\x0c");
    // A terminal of 30 lines has not all of it.
    session.exp_string("more").unwrap();
    session.exp_string("close").unwrap();
    press(&mut session, "xq");
    ends(session, &told, 0);
}

#[test]
fn another_size_is_drawn_down_to_one_cell() {
    let (mut session, told) = start("");
    session.exp_string("sm_90").unwrap();
    let tty = Command::new("ps").args(["-o", "tty=", "-p", shell(&told)]).output().unwrap();
    let tty = format!("/dev/{}", String::from_utf8(tty.stdout).unwrap().trim());
    for (columns, rows) in [("40", "12"), ("1", "1"), ("2", "3"), ("160", "50")] {
        let done = Command::new("stty")
            .args(["-F", &tty, "cols", columns, "rows", rows])
            .status()
            .unwrap();
        assert!(done.success());
        std::thread::sleep(Duration::from_millis(60));
        press(&mut session, "kj");
    }
    // What is drawn again is drawn whole, but for blanks.
    press(&mut session, "?\x0c");
    session.exp_string("closes").unwrap();
    press(&mut session, "xq");
    ends(session, &told, 0);
}

#[test]
fn an_endless_program_is_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("endless.apl");
    std::fs::write(&file, "{∇⍵}1\n").unwrap();
    let (mut session, told) = start(file.to_str().unwrap());
    session.exp_string("running").unwrap();
    std::thread::sleep(Duration::from_millis(150));
    press(&mut session, "\x03");
    session.exp_string("INTERRUPT").unwrap();
    press(&mut session, "q");
    ends(session, &told, 0);
}

#[test]
fn leaving_does_not_wait_for_an_endless_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("endless.apl");
    std::fs::write(&file, "{∇⍵}1\n").unwrap();
    let (mut session, told) = start(file.to_str().unwrap());
    session.exp_string("running").unwrap();
    press(&mut session, "q");
    ends(session, &told, 0);
}

#[test]
fn signals_end_it_with_the_terminal_restored() {
    for (name, code) in [("-TERM", 143), ("-HUP", 129), ("-QUIT", 131)] {
        let (mut session, told) = start("");
        session.exp_string("sm_90").unwrap();
        signal(name, &child(&told));
        ends(session, &told, code);
    }
}

#[test]
fn a_stopped_program_gives_the_terminal_back_and_comes_again() {
    let program = assert_cmd::cargo::cargo_bin("aplomb");
    let mut command = Command::new("bash");
    command
        .args(["--norc", "--noprofile", "-i"])
        .env("NO_COLOR", "1")
        .env("TERM", "xterm-256color")
        .env("PS1", "$ ");
    let mut session = spawn_command(command, Some(20_000)).unwrap();
    press(&mut session, &format!("stty cols 120 rows 30; '{}' tui\n", program.display()));
    session.exp_string("\x1b[?1049h").unwrap();
    session.exp_string("sm_90").unwrap();
    press(&mut session, "\x1a");
    session.exp_string("\x1b[?1049l").unwrap();
    session.exp_string("Stopped").unwrap();
    press(&mut session, "fg\n");
    session.exp_string("\x1b[?1049h").unwrap();
    session.exp_string("sm_90").unwrap();
    press(&mut session, "q");
    session.exp_string("\x1b[?1049l").unwrap();
    press(&mut session, "exit\n");
    session.exp_eof().unwrap();
}

/// User and system time in clock ticks.
fn ticks(pid: &str) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn nobody_computes_while_nothing_happens() {
    let (mut session, told) = start("");
    session.exp_string("sm_90").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let pid = child(&told);
    let (before, begun) = (ticks(&pid), Instant::now());
    std::thread::sleep(Duration::from_millis(700));
    assert!(ticks(&pid) - before <= 1, "{} ticks in {:?}", ticks(&pid) - before, begun.elapsed());
    press(&mut session, "q");
    ends(session, &told, 0);
}

#[test]
fn the_prompt_opens_them_and_goes_on() {
    let state = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    let script = format!(
        "stty cols 120 rows 30; exec '{}'",
        assert_cmd::cargo::cargo_bin("aplomb").display()
    );
    command
        .args(["-c", &script])
        .env("NO_COLOR", "1")
        .env("TERM", "xterm-256color")
        .env("XDG_STATE_HOME", state.path())
        .env("XDG_CONFIG_HOME", state.path());
    let mut session = spawn_command(command, Some(20_000)).unwrap();
    session.exp_string("\x1b[?2004h").unwrap();
    for line in ["x←⍳2000\r", "+/÷x\r"] {
        press(&mut session, line);
        session.exp_string("\x1b[?2004h").unwrap();
    }
    press(&mut session, "]tui\r");
    session.exp_string("\x1b[?1049h").unwrap();
    session.exp_string("sm_90").unwrap();
    press(&mut session, "q");
    session.exp_string("\x1b[?1049l").unwrap();
    session.exp_string("\x1b[?2004h").unwrap();
    press(&mut session, "⍴x\r");
    session.exp_string("2000").unwrap();
}

#[test]
fn without_a_terminal_it_says_so_in_a_line() {
    for args in [&["tui"][..], &["tui", "none.apl"]] {
        let out = Command::new(assert_cmd::cargo::cargo_bin("aplomb")).args(args).output().unwrap();
        assert_eq!((out.status.code(), out.stdout.len()), (Some(2), 0));
        assert_eq!(String::from_utf8(out.stderr).unwrap().lines().count(), 1);
    }
}

/// The words of the program where there is a terminal, and its exit code.
#[cfg(feature = "jupyter")]
fn refused(args: &str) -> String {
    let program = assert_cmd::cargo::cargo_bin("aplomb");
    let mut command = Command::new("sh");
    let script = format!("'{}' tui {args}; echo code $?", program.display());
    command
        .args(["-c", &script])
        .env("TERM", "xterm-256color")
        .env("JUPYTER_RUNTIME_DIR", "/nowhere");
    let mut session = spawn_command(command, Some(20_000)).unwrap();
    session.exp_eof().unwrap().replace("\r\n", "\n")
}

#[test]
#[cfg(feature = "jupyter")]
fn a_notebook_that_cannot_be_followed_is_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path.display().to_string()
    };
    let nobody = serde_json::to_string(&aplomb_kernel::jupyter::fresh().unwrap()).unwrap();
    let cases = [
        ("/no/such/file.json".to_string(), "no such connection file: /no/such/file.json"),
        (file("half.json", &nobody[..nobody.len() / 2]), "half.json"),
        (file("nobody.json", &nobody), "no kernel answers at tcp://127.0.0.1:"),
    ];
    for (name, says) in cases {
        let told = refused(&format!("--existing '{name}'"));
        assert!(
            told.starts_with("aplomb: ") && told.contains(says) && told.contains("code 2"),
            "{told}"
        );
        assert_eq!(told.trim_end().lines().count(), 2, "{told}");
    }
}

#[test]
#[cfg(feature = "jupyter")]
fn a_running_notebook_is_followed_and_left() {
    let kernel = running::Running::start();
    kernel.run("+/⍳2000");
    let (mut session, told) = start(&format!("--existing '{}'", kernel.file().display()));
    session.exp_regex(&drawn("cell 1")).unwrap();
    session.exp_string("sm_90").unwrap();
    kernel.run("⌈/⌽⍳3000 ⍝ followed");
    session.exp_string("followed").unwrap();
    let pid = child(&told);
    let before = ticks(&pid);
    std::thread::sleep(Duration::from_millis(700));
    assert!(ticks(&pid) - before <= 2, "{} ticks in 0.7 s", ticks(&pid) - before);
    press(&mut session, "q");
    ends(session, &told, 0);
    // Nobody looks on any more.
    let comms = || kernel.ask("comm_info_request", serde_json::json!({}))["comms"].clone();
    running::eventually(|| (comms() == serde_json::json!({})).then_some(()));
}

//! The prompt in a pseudo-terminal.

use rexpect::session::{PtySession, spawn_command};
use std::process::Command;
use std::time::{Duration, Instant};

/// Colours off, history in a folder of its own.
fn start(state: &tempfile::TempDir) -> PtySession {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("aplomb"));
    command
        .env("NO_COLOR", "1")
        .env("TERM", "xterm")
        .env("XDG_STATE_HOME", state.path())
        .env("XDG_CONFIG_HOME", state.path());
    let mut session = spawn_command(command, Some(10_000)).unwrap();
    session.exp_string("]help").unwrap();
    session.exp_string("gives ").unwrap();
    ready(&mut session);
    session
}

/// The editor reads keys: it has asked for bracketed paste.
fn ready(session: &mut PtySession) {
    session.exp_string("\x1b[?2004h").unwrap();
}

/// Types a line; what is printed until the next prompt.
fn line(session: &mut PtySession, keys: &str) -> String {
    session.send(keys).unwrap();
    session.send("\r").unwrap();
    session.flush().unwrap();
    session.exp_string("\x1b[?2004l").unwrap();
    text(&session.exp_string("\x1b[?2004h").unwrap())
}

/// The reader takes each byte for a character.
fn text(bytes: &str) -> String {
    let bytes: Vec<u8> = bytes.chars().map(|c| c as u8).collect();
    String::from_utf8_lossy(&bytes).replace('\r', "").trim().to_string()
}

#[test]
fn glyphs_are_typed_by_key_and_by_name() {
    let state = tempfile::tempdir().unwrap();
    let mut session = start(&state);
    assert_eq!(line(&mut session, "2+3"), "5");
    assert_eq!(line(&mut session, "2 2`r7"), "7 7\n7 7");
    assert_eq!(line(&mut session, "2 1rho\t7"), "7\n7");
    assert_eq!(line(&mut session, "2 1`rho\t8"), "8\n8");
    assert_eq!(line(&mut session, "wide`[5 `D wide+1"), "6");
    assert_eq!(line(&mut session, "sum\t3 1 4"), "8");
    assert_eq!(line(&mut session, "'``r'"), "`r");
    assert_eq!(line(&mut session, "wi\t+2"), "7");
    assert!(line(&mut session, "]he\t").contains("Glyphs"));
    session.send_control('d').unwrap();
    session.exp_eof().unwrap();
    let kept = std::fs::read_to_string(state.path().join("aplomb/history")).unwrap();
    assert!(kept.contains("2 2⍴7"), "{kept}");
}

/// As in the panes (`tests/panes/panes.rs`) and in a lab (`tests/notebook/lab/typed.py`).
#[test]
fn each_key_of_the_table_gives_its_glyph() {
    let state = tempfile::tempdir().unwrap();
    let mut session = start(&state);
    for (key, glyph) in aplomb_language::table::keys() {
        assert_eq!(line(&mut session, &format!("'`{key}'")), glyph.to_string(), "`{key}");
    }
}

#[test]
fn the_profile_runs_before_the_prompt() {
    let state = tempfile::tempdir().unwrap();
    std::fs::create_dir(state.path().join("aplomb")).unwrap();
    let own = state.path().join("aplomb/profile.apl");
    std::fs::write(own, "⎕IO←0\nmine←{⍵×10}\n").unwrap();
    let mut session = start(&state);
    assert_eq!(line(&mut session, "mine 2"), "20");
    assert_eq!(line(&mut session, "⍳2"), "0 1");
    session.send_control('d').unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn a_program_asks_for_lines() {
    let state = tempfile::tempdir().unwrap();
    let mut session = start(&state);
    session.send("⍞←'who? ' ⋄ w←⍞\r").unwrap();
    session.flush().unwrap();
    ready(&mut session);
    line(&mut session, "Ann");
    assert_eq!(line(&mut session, "w"), "who? Ann");
    session.send("1+⎕\r").unwrap();
    session.flush().unwrap();
    ready(&mut session);
    assert_eq!(line(&mut session, "2`-3"), "7");
    session.send_control('d').unwrap();
    session.exp_eof().unwrap();
}

/// One byte that was no UTF-8, typed or pasted, ended the session and took all names along.
#[test]
fn a_byte_that_is_no_text_ends_nothing() {
    use std::io::Write;
    let state = tempfile::tempdir().unwrap();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("aplomb"));
    command
        .env("NO_COLOR", "1")
        .env("TERM", "xterm")
        .env("XDG_STATE_HOME", state.path())
        .env("XDG_CONFIG_HOME", state.path());
    let process = rexpect::process::PtyProcess::new(command).unwrap();
    let keys = process.get_file_handle().unwrap();
    let options = rexpect::reader::Options::new().timeout_ms(Some(10_000));
    let mut raw = keys.try_clone().unwrap();
    let mut session =
        rexpect::session::StreamSession::new(keys.try_clone().unwrap(), keys, options);
    session.exp_string("\x1b[?2004h").unwrap();
    session.send("kept←42\r").unwrap();
    session.flush().unwrap();
    session.exp_string("\x1b[?2004h").unwrap();
    for bytes in [&b"\xff"[..], b"\x80", b"1+\xe2\r"] {
        raw.write_all(bytes).unwrap();
        session.exp_string("is no UTF-8 text").unwrap();
        session.exp_string("\x1b[?2004h").unwrap();
    }
    session.send("\rkept+1\r").unwrap();
    session.flush().unwrap();
    session.exp_string("43").unwrap();
}

#[test]
fn a_dfn_may_take_several_lines() {
    let state = tempfile::tempdir().unwrap();
    let mut session = start(&state);
    session.send("f←{\r").unwrap();
    session.send("⍵×10\r").unwrap();
    assert_eq!(line(&mut session, "}"), "");
    assert_eq!(line(&mut session, "f 3"), "30");
    assert!(line(&mut session, "f 'a'").contains("DOMAIN ERROR"));
}

#[test]
fn lines_typed_ahead_are_all_read() {
    let state = tempfile::tempdir().unwrap();
    let mut session = start(&state);
    session.send("f←{\r⍵×10\r}\rf 3\rf 4\r").unwrap();
    session.flush().unwrap();
    session.exp_string("30").unwrap();
    session.exp_string("40").unwrap();
    session.send_control('d').unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn an_interrupt_stops_the_line_and_keeps_the_names() {
    let state = tempfile::tempdir().unwrap();
    let mut session = start(&state);
    line(&mut session, "x←42");
    for endless in ["{∇⍵}1", "+/÷⍳1e12", "{⍵+1}⍣≡0"] {
        session.send(endless).unwrap();
        session.send("\r").unwrap();
        session.flush().unwrap();
        session.exp_string("\x1b[?2004l").unwrap();
        std::thread::sleep(Duration::from_millis(200));
        session.send_control('c').unwrap();
        let said = session.exp_string("\x1b[?2004h").unwrap();
        assert!(said.contains("INTERRUPT") || said.contains("WS FULL"), "{endless}: {said}");
    }
    assert_eq!(line(&mut session, "x"), "42");
    session.send("half a line").unwrap();
    session.send_control('c').unwrap();
    ready(&mut session);
    assert_eq!(line(&mut session, "x+1"), "43");
}

/// A loop that runs in registers among them; the line of the bar is gone when the loop is.
#[test]
fn a_long_loop_tells_how_far_it_is() {
    let state = tempfile::tempdir().unwrap();
    let mut session = start(&state);
    for (long, says) in [("{⎕DL 0.01}¨⍳9999", " % · "), ("{∇1-⍵}0", " rounds, ")] {
        session.send(long).unwrap();
        session.send("\r").unwrap();
        session.flush().unwrap();
        session.exp_string("\x1b[?2004l").unwrap();
        let before = text(&session.exp_string(" a second").unwrap());
        assert!(before.contains(says), "{long}: {before}");
        session.send_control('c').unwrap();
        let said = text(&session.exp_string("\x1b[?2004h").unwrap());
        assert!(said.contains("\x1b[K") && said.contains("INTERRUPT"), "{long}: {said}");
    }
}

#[test]
fn the_exit_code_is_the_programs() {
    let state = tempfile::tempdir().unwrap();
    let mut session = start(&state);
    session.send(")off 3\r").unwrap();
    session.flush().unwrap();
    session.exp_eof().unwrap();
    let status = session.process().wait().unwrap();
    assert_eq!(format!("{status:?}").split(", ").nth(1), Some("3)"));
}

/// A shell that shows the terminal's settings around the program.
#[test]
fn sigterm_restores_the_terminal() {
    let state = tempfile::tempdir().unwrap();
    let program = assert_cmd::cargo::cargo_bin("aplomb");
    let script = format!("echo $$; stty -g; '{}'; echo code $?; stty -g", program.display());
    let mut command = Command::new("sh");
    command
        .args(["-c", &script])
        .env("NO_COLOR", "1")
        .env("TERM", "xterm")
        .env("XDG_STATE_HOME", state.path())
        .env("XDG_CONFIG_HOME", state.path());
    let mut session = spawn_command(command, Some(10_000)).unwrap();
    let shell = session.read_line().unwrap();
    let before = session.read_line().unwrap();
    ready(&mut session);
    let child = Command::new("ps").args(["-o", "pid=", "--ppid", shell.trim()]).output().unwrap();
    let child = String::from_utf8(child.stdout).unwrap();
    Command::new("kill").args(["-TERM", child.trim()]).status().unwrap();
    session.exp_string("code 143").unwrap();
    session.read_line().unwrap();
    assert_eq!(session.read_line().unwrap().trim(), before.trim());
}

#[test]
fn it_starts_at_once() {
    let state = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    start(&state);
    println!("prompt after {:?}", begun.elapsed());
}

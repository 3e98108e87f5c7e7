//! The panes over a notebook that runs: a kernel process, its real sockets, and what looking on
//! shows and leaves alone.

#![cfg(feature = "jupyter")]

use crate::running::{Running, WAIT, eventually};
use crate::support;
use aplomb_ground::limits::Interrupt;
use aplomb_ground::protocol::{Client, Event, Gone, Request};
use aplomb_kernel::jupyter::client::{Channel, Client as Raw};
use aplomb_kernel::jupyter::{ConnectionInfo, Follower, fresh};
use aplomb_viz::panes::{App, Look, Start};
use serde_json::json;
use std::time::Duration;

/// Traces without times.
struct Timeless(Follower);

impl Client for Timeless {
    fn send(&mut self, request: Request) {
        self.0.send(request);
    }

    fn recv(&mut self) -> Option<Event> {
        self.0.recv()
    }

    fn poll(&mut self) -> Result<Option<Event>, Gone> {
        self.0.poll().map(|event| match event {
            Some(Event::Trace(trace)) => Some(Event::Trace(Box::new(trace.canonical()))),
            other => other,
        })
    }

    fn answer(&mut self, line: Option<String>) {
        self.0.answer(line);
    }
}

const SIZE: (u16, u16) = (160, 50);

fn look_on(info: &ConnectionInfo) -> App<Timeless> {
    let follower = Timeless(Follower::open(info, WAIT).expect("a kernel"));
    let look = Look { ascii: false, colour: false };
    let start = Start { name: "notebook".into(), look, follows: true, ..Start::default() };
    let mut app = App::new(follower, Interrupt::default(), aplomb::panes::menu(), start);
    app.text(SIZE.0, SIZE.1);
    until(&mut app, |text| !text.contains("waiting for the kernel"));
    app
}

/// Cells as a notebook has them.
const CELLS: [&str; 3] = ["x←0.5×⍳2000\n+/x×x", "avg←{(+/⍵)÷≢⍵}\navg x", "x÷3-x"];

#[test]
fn the_screens_over_a_notebook_are_as_they_were() {
    let kernel = Running::start();
    let mut app = look_on(&kernel.info);
    for (k, code) in CELLS.iter().enumerate() {
        kernel.run(code);
        shows(&mut app, &format!("cell {}", k + 1));
    }
    for (name, keys) in [("cell", "<lt>"), ("cells", "3")] {
        app.press(keys);
        for (width, height) in [(160, 50), (80, 24), (40, 12)] {
            support::same_as(
                &format!("tests/goldens/panes/{name}-{width}x{height}.txt"),
                &app.text(width, height),
            );
        }
    }
}

/// The screen, once it is as wanted.
fn until(app: &mut App<Timeless>, wanted: impl Fn(&str) -> bool) -> String {
    let mut last = String::new();
    let begun = std::time::Instant::now();
    loop {
        app.advance();
        let text = app.text(SIZE.0, SIZE.1);
        if !app.is_busy() && wanted(&text) {
            return text;
        }
        assert!(begun.elapsed() < WAIT, "not within {WAIT:?}:\n{text}");
        if text != last {
            last = text;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn shows(app: &mut App<Timeless>, words: &str) -> String {
    until(app, |text| text.contains(words))
}

#[test]
fn each_cell_that_runs_is_shown_and_selections_and_passes_work_on_it() {
    let kernel = Running::start();
    let mut app = look_on(&kernel.info);
    kernel.run("x←0.5×⍳100000\n+/x×x");
    let text = shows(&mut app, "cell 1");
    assert!(
        text.contains("+/x×x") && text.contains("__global__") && text.contains("8.3334"),
        "{text}"
    );
    app.press("k");
    let lit = app.text(SIZE.0, SIZE.1);
    assert!(lit.contains('▐') && lit.contains('‾') && lit.matches('▸').count() >= 3, "{lit}");
    let last =
        lit.lines().next().and_then(|l| l.split("graph · ").nth(1)).expect("a title").to_string();
    app.press("[[[[[[[[[[[[[[");
    let travelled = app.text(SIZE.0, SIZE.1);
    assert!(!travelled.contains(&last[..6]) && travelled.contains('▐'), "{last}\n{travelled}");
    // The next cell is followed; the one before is a key away.
    app.press("1");
    kernel.run("⌈/⌽x");
    let text = shows(&mut app, "cell 2");
    assert!(text.contains("⌈/⌽x") && !text.contains("x←0.5"), "{text}");
    app.press("<lt>");
    assert!(app.text(SIZE.0, SIZE.1).contains("x←0.5"));
    // Who looks at an old cell is left there.
    kernel.run("×/x÷x");
    let text = shows(&mut app, "cell 3 has run");
    assert!(text.contains("x←0.5"), "{text}");
    app.press(">>");
    assert!(app.text(SIZE.0, SIZE.1).contains("×/x÷x"));
    // Small values are told as well; what compiles nothing leaves the panes as they are.
    kernel.run("+/⍳10");
    let text = shows(&mut app, "cell 4");
    assert!(text.contains("+/⍳10") && text.contains("__global__"), "{text}");
    kernel.run("a←1");
    let text = shows(&mut app, "cell 5 compiled nothing");
    assert!(text.contains("+/⍳10"), "{text}");
    app.press("3<Tab>j");
    let rows = app.text(SIZE.0, SIZE.1);
    assert!(
        ["cell 1  x←0.5", "cell 2  ⌈/⌽x", "cell 5  a←1"].iter().all(|row| rows.contains(row)),
        "{rows}"
    );
}

#[test]
fn who_comes_later_sees_the_last_cell_and_an_error_stands_at_its_place() {
    let kernel = Running::start();
    kernel.run("x←⍳2000");
    kernel.run("+/÷x");
    let mut app = look_on(&kernel.info);
    let text = shows(&mut app, "cell 2");
    assert!(text.contains("+/÷x") && text.contains("__global__"), "{text}");
    kernel.run("y←x-7\n+/x÷y");
    let text = shows(&mut app, "cell 3");
    assert!(text.contains("^ DOMAIN ERROR") || text.contains("^^^ DOMAIN ERROR"), "{text}");
    assert!(
        text.contains("__global__"),
        "what was compiled before it failed is a story too\n{text}"
    );
}

#[test]
fn switches_run_the_last_cell_again_and_the_notebook_stays_as_it_was() {
    let kernel = Running::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("out.txt");
    let mut app = look_on(&kernel.info);
    kernel.run("x←0.5×⍳100000 ⋄ ⎕RL←7 1");
    let writes = format!("(⊂'a') ⎕NPUT '{}' 1\n+/x×x", file.display());
    kernel.run(&writes);
    shows(&mut app, "cell 2");
    std::fs::remove_file(&file).expect("the cell wrote it");
    for keys in ["tjj<Enter>", "jjjjj<Enter>", "G<Enter>", "r"] {
        app.press(keys);
        shows(&mut app, "asked for cell 2");
        app.press("z");
        app.press("z");
        until(&mut app, |text| !text.contains("asked for"));
        std::thread::sleep(Duration::from_millis(300));
    }
    let text = shows(&mut app, "equal ✓");
    assert!(text.matches("equal ✓").count() >= 3 && !text.contains("differs"), "{text}");
    assert!(text.contains("acc2013") || text.contains("acl2006"), "{text}");
    assert!(!file.exists(), "looking writes nothing");
    // Names, switches, the count and the roll are those of a notebook nobody looks at.
    assert_eq!(kernel.shown("⎕NL 2"), "x");
    let other = Running::start();
    other.run("⎕RL←7 1");
    assert_eq!(kernel.shown("?6 6 6 1000"), other.shown("?6 6 6 1000"));
    assert_eq!(kernel.run("1").reply["execution_count"], 5);
    assert!(
        !kernel.run("]off").all("display_data")[0]["data"]["text/plain"]
            .as_str()
            .expect("text")
            .contains("off:")
    );
    // An older cell's values are gone.
    shows(&mut app, "cell");
    app.press("3<Tab>G<Enter>3jj<Enter>");
    let text = app.text(SIZE.0, SIZE.1);
    assert!(text.contains("switches are for the last cell"), "{text}");
}

#[test]
fn nothing_is_written_into_a_notebook_from_here() {
    let kernel = Running::start();
    kernel.run("+/⍳2000");
    let mut app = look_on(&kernel.info);
    shows(&mut app, "cell 1");
    for keys in ["1i", "<Enter>"] {
        app.press("<Tab><Tab><Tab><Tab><Tab>");
        app.press(keys);
    }
    app.press("1ix");
    let text = app.text(SIZE.0, SIZE.1);
    assert!(!text.contains("writing") && !text.contains("x+/⍳2000"), "{text}");
    app.press("<C-c>");
    assert!(app.text(SIZE.0, SIZE.1).contains("the notebook interrupts its own cells"));
}

#[test]
fn a_kernel_that_is_gone_is_said_and_its_successor_followed() {
    let mut kernel = Running::start();
    let mut app = look_on(&kernel.info);
    kernel.run("+/⍳2000");
    shows(&mut app, "cell 1");
    kernel.send("{∇⍵}1");
    until_busy(&mut app);
    kernel.kill();
    let text = shows(&mut app, "the kernel is gone");
    assert!(text.contains("+/⍳2000") || text.contains("{∇⍵}1"), "what was there stays\n{text}");
    let again = Running::start_with(kernel.info.clone());
    until(&mut app, |text| !text.contains("waiting for"));
    again.run("⌈/⍳3000");
    let text = shows(&mut app, "⌈/⍳3000");
    assert!(text.contains("cell 1"), "{text}");
}

fn until_busy(app: &mut App<Timeless>) {
    eventually(|| {
        app.advance();
        app.is_busy().then_some(())
    });
}

#[test]
fn a_kernel_that_is_not_there_or_has_another_key_is_a_sentence() {
    let nobody = fresh().expect("free ports");
    let says = Follower::open(&nobody, Duration::from_secs(1)).err().expect("no kernel");
    assert!(says.starts_with("no kernel answers at tcp://127.0.0.1:"), "{says}");
    let kernel = Running::start();
    let wrong = ConnectionInfo { key: "another".into(), ..kernel.info.clone() };
    let says = Follower::open(&wrong, Duration::from_secs(1)).err().expect("another key");
    assert!(says.contains("key"), "{says}");
    assert_eq!(kernel.shown("2+2"), "4");
}

#[test]
fn who_looks_on_and_says_nothing_is_forgotten() {
    let kernel = Running::start();
    let raw = Raw::connect(&kernel.info).expect("sockets");
    raw.wait_until_ready(WAIT).expect("a kernel");
    raw.send(
        Channel::Shell,
        "comm_open",
        &json!({ "comm_id": "c1", "target_name": "aplomb.trace" }),
    );
    let info = |target: &str| {
        kernel.ask("comm_info_request", json!({ "target_name": target }))["comms"].clone()
    };
    eventually(|| {
        (info("aplomb.trace") == json!({ "c1": { "target_name": "aplomb.trace" } })).then_some(())
    });
    assert_eq!(info("jupyter.widget"), json!({}));
    let told = kernel.run("+/⍳2000");
    let messages = told.all("comm_msg");
    assert_eq!(messages[0]["data"]["name"], "cell 1");
    assert_eq!(messages[0]["data"]["traces"][0]["kernels"].as_array().map(Vec::len), Some(1));
    let closed = (0..70).any(|_| !kernel.run("1").all("comm_close").is_empty());
    assert!(closed && info("aplomb.trace") == json!({}));
    // Nobody looks on: nothing is told.
    assert!(kernel.run("+/⍳2000").all("comm_msg").is_empty());
    // One that closes its comm by itself is told no more either.
    raw.send(
        Channel::Shell,
        "comm_open",
        &json!({ "comm_id": "c2", "target_name": "aplomb.trace" }),
    );
    raw.send(Channel::Shell, "comm_close", &json!({ "comm_id": "c2" }));
    eventually(|| (info("aplomb.trace") == json!({})).then_some(()));
}

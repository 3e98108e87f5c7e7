//! The things that are told about a cell and are no values: pages that take another's place,
//! standard error, calls of an error, how far a loop is, names, earlier cells, traces of earlier
//! cells.

use crate::running::{Running, WAIT, eventually, remembering};
use aplomb_kernel::jupyter::client::{Answer, Channel};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;

/// A page that has a name is shown once and then replaced.
#[test]
fn a_page_is_replaced_by_its_name_and_output_is_cleared() {
    let kernel = Running::start();
    let first = kernel.run("('text/html'(⎕SHOW⍠'Id' 'a'))'<b>1</b>' ⋄ 0");
    assert_eq!(first.status(), "error", "a pair is no function");
    let show = |text: &str| kernel.run(&format!("'text/html'(⎕SHOW⍠'Id' 'a')'{text}'"));
    let (one, two) = (show("1"), show("2"));
    let named = |answer: &Answer, kind: &str| {
        assert_eq!(answer.status(), "ok", "{:?}", answer.reply);
        let all = answer.all(kind);
        let shown = all.first().unwrap_or_else(|| panic!("{:?}", answer.reply));
        (shown["transient"]["display_id"].clone(), shown["data"]["text/html"].clone())
    };
    assert_eq!(named(&one, "display_data"), (json!("a"), json!("1")));
    assert_eq!(named(&two, "update_display_data"), (json!("a"), json!("2")));
    assert!(two.all("display_data").is_empty());
    let cleared = kernel.run("⎕←1 ⋄ 'text/plain'(⎕SHOW⍠'Clear' 1)'2'");
    assert_eq!(cleared.status(), "ok", "{:?}", cleared.reply);
    assert_eq!(cleared.all("clear_output"), [json!({ "wait": true })]);
}

#[test]
fn a_bundle_has_several_kinds_and_charts_have_a_bitmap() {
    let kernel = Running::start();
    let answer = kernel.run("'text/html' 'text/markdown'⎕SHOW'<b>x</b>' '**x**'");
    let data = &answer.all("display_data")[0]["data"];
    assert_eq!(
        [&data["text/html"], &data["text/markdown"], &data["text/plain"]],
        ["<b>x</b>", "**x**", "**x**"]
    );
    for code in ["]plot 3 1 2", "x←2×⍳5000 ⋄ +/x\n]dag"] {
        let answer = kernel.run(code);
        let shown = answer.all("display_data");
        let data = &shown.last().expect("a picture")["data"];
        let png = data["image/png"].as_str().unwrap_or_default();
        assert!(png.starts_with("iVBORw0KGgo") && png.len() < 200_000, "{code}: {}", png.len());
        // SVG by itself would be taken for paper, by a program that few have.
        let html = data["text/html"].as_str().unwrap_or_default();
        assert!(html.contains("data:image/svg+xml;base64,") && data["image/svg+xml"].is_null());
    }
    let raw = kernel.run("%%html\n<b>it's</b>");
    assert_eq!(raw.all("display_data")[0]["data"]["text/html"], "<b>it's</b>");
}

#[test]
fn standard_error_is_a_stream_of_its_own_and_colours_pass() {
    let kernel = Running::start();
    let code = "⎕←'out' ⋄ 'err'⎕NPUT'/dev/stderr' 2 ⋄ ⎕←(⎕UCS 27),'[31mred',(⎕UCS 27),'[0m'";
    let said: Vec<(String, String)> = kernel
        .run(code)
        .all("stream")
        .iter()
        .map(|s| (s["name"].as_str().unwrap_or("").into(), s["text"].as_str().unwrap_or("").into()))
        .collect();
    let wanted = [("stdout", "out\n"), ("stderr", "err\n"), ("stdout", "\u{1b}[31mred\u{1b}[0m\n")];
    let seen: Vec<(&str, &str)> = said.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(seen, wanted);
    let moving = kernel.run("⎕←'a',(⎕UCS 27),'[2Jb'");
    let text = moving.all("stream")[0]["text"].as_str().unwrap_or("").to_string();
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

/// The report without what colours it.
fn plain(answer: &Answer) -> String {
    let lines = answer.all("error")[0]["traceback"].clone();
    let lines: Vec<&str> =
        lines.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let text = lines.join("\n");
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or("").to_string();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |p| p.1))
}

#[test]
fn an_error_has_all_calls_and_the_place_as_it_was_typed() {
    let kernel = Running::start();
    let told = plain(&kernel.run("f1←{f2 ⍵}\nf2←{1+f3 ⍵}\nf3←{÷⍵}\nf1 0"));
    for call in ["f2←{1+f3 ⍵}", "f1←{f2 ⍵}", "f1 0"] {
        assert!(told.contains(&format!(": {call}")), "{told}");
    }
    for (code, place) in [
        ("%%why\nx←1\nx+1 2+1 2 3", "cell 2:3:"),
        ("1\n]plot ⍳'a'", "cell 3:2:7"),
        ("]time 1 2+1 2 3", "cell 4:1:10"),
    ] {
        let told = plain(&kernel.run(code));
        assert!(told.contains(place) && !told.contains("⎕PLOT⍠"), "{code}: {told}");
    }
}

/// The page of a bar, the answer to the cell awaited after an interrupt.
fn bar_of(kernel: &Running, code: &str) -> serde_json::Value {
    let code = json!({ "code": code, "allow_stdin": true });
    let id = kernel.client.send(Channel::Shell, "execute_request", &code);
    let bar = eventually(|| {
        let heard = kernel.client.receive(Channel::Iopub, WAIT)?;
        (heard.kind == "display_data").then_some(heard.content)
    });
    kernel.interrupt();
    let done = eventually(|| {
        let heard = kernel.client.receive(Channel::Iopub, WAIT)?;
        let is_bar = heard.content.get("transient") == bar.get("transient");
        let done = heard.content.get("data").is_some_and(|d| d["text/plain"] == "done");
        (is_bar && done).then_some(heard.kind)
    });
    assert_eq!(done, "update_display_data");
    assert!(kernel.client.reply(Channel::Shell, &id, WAIT).is_some());
    serde_json::Value::Object(bar)
}

#[test]
fn a_long_loop_tells_how_far_it_is_where_somebody_looks() {
    let kernel = Running::start();
    let bar = bar_of(&kernel, "{⎕DL 0.01}¨⍳100000");
    let says = bar["data"]["text/plain"].as_str().unwrap_or("").to_string();
    assert!(says.contains(" % · ") && says.contains(" a second · "), "{says}");
    assert!(bar["data"]["text/html"].as_str().is_some_and(|h| h.contains("<progress")));
    // One that ends when it ends has turns and a rate.
    let bar = bar_of(&kernel, "n←0\n:While n≥0\n  n+←1\n  _←⎕DL 0.01\n:EndWhile");
    let says = bar["data"]["text/plain"].as_str().unwrap_or("").to_string();
    assert!(says.contains(" rounds, ") && says.ends_with(" a second"), "{says}");
}

/// The loops of these run in registers.
#[test]
fn loops_in_registers_tell_how_far_they_are() {
    let kernel = Running::start();
    let says = |code: &str| {
        let bar = bar_of(&kernel, code);
        bar["data"]["text/plain"].as_str().unwrap_or("").to_string()
    };
    let items = says("s←0\n:For i :In ⍳50000\n:For j :In ⍳50000\ns+←j\n:EndFor\n:EndFor");
    assert!(items.contains(" % · ") && items.ends_with(" left"), "{items}");
    for endless in ["n←0\n:While n≥0\n  n+←1\n:EndWhile", "{∇1-⍵}0"] {
        let turns = says(endless);
        let number = turns.split(' ').next().and_then(|n| n.parse::<u64>().ok());
        assert!(number.is_some_and(|n| n > 100_000), "{endless}: {turns}");
        assert!(turns.contains(" rounds, ") && turns.ends_with(" a second"), "{turns}");
    }
}

#[test]
fn long_files_tell_how_far_they_are() {
    let kernel = Running::start();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.csv");
    std::fs::write(&path, "1,2.5,three\n".repeat(3_000_000)).expect("a file");
    let bar = bar_of(&kernel, &format!("x←⎕CSV'{}' '' 4", path.display()));
    let says = bar["data"]["text/plain"].as_str().unwrap_or("").to_string();
    assert!(says.contains(" % · ") && says.contains("B a second · "), "{says}");
}

/// A client that could not be asked for a line is a program: its output is the same each time.
#[test]
fn where_nobody_looks_there_is_no_bar() {
    let kernel = Running::start();
    let ran = kernel.run("{⎕DL 0.02}¨⍳150");
    assert_eq!(ran.status(), "ok");
    assert!(ran.all("display_data").is_empty() && ran.all("update_display_data").is_empty());
}

#[test]
fn names_are_listed_to_debuggers_and_help_has_links() {
    let kernel = Running::start();
    kernel.run("x←2 3⍴⍳6\n⍝ The mean.\navg←{(+/⍵)÷≢⍵}");
    let ask = |channel, command: &str| {
        let content = json!({ "type": "request", "seq": 1, "command": command, "arguments": {} });
        kernel.client.ask(channel, "debug_request", &content, WAIT).expect("a reply")
    };
    for channel in [Channel::Control, Channel::Shell] {
        let told = ask(channel, "inspectVariables");
        let names: Vec<&str> = told["body"]["variables"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|v| v["name"].as_str())
            .collect();
        assert_eq!(names, ["avg", "x"], "{told}");
        assert_eq!(ask(channel, "setBreakpoints")["success"], false);
    }
    let info = kernel.ask("kernel_info_request", json!({}));
    assert!(info["help_links"].as_array().is_some_and(|links| links.len() > 1), "{info}");
    let about = kernel.ask("inspect_request", json!({ "code": "avg", "cursor_pos": 3 }));
    let text = about["data"]["text/plain"].as_str().unwrap_or("");
    assert!(text.starts_with("⍝ The mean.\navg {(+/⍵)÷≢⍵}"), "{text}");
}

#[test]
fn a_later_kernel_knows_the_cells_of_an_earlier_one() {
    let folder = tempfile::tempdir().expect("a folder");
    remembering(folder.path()).run("first←1");
    let kernel = remembering(folder.path());
    kernel.run("second←2");
    let tail = kernel.ask("history_request", json!({ "hist_access_type": "tail", "n": 9 }));
    assert_eq!(tail["history"], json!([[1, 1, "first←1"], [2, 1, "second←2"]]));
}

/// The answer of the comm to a question.
fn asked(kernel: &Running, content: Value) -> Value {
    let content = json!({ "comm_id": "c", "data": content });
    let id = kernel.client.send(Channel::Shell, "comm_msg", &content);
    let heard = kernel.client.heard(&id, WAIT).expect("idle");
    let told = heard.iter().find(|m| m.kind == "comm_msg").expect("an answer");
    told.content["data"].clone()
}

#[test]
fn a_view_asks_about_its_own_cell() {
    let kernel = Running::start();
    kernel.run("a←2×⍳5000 ⋄ +/a");
    let first = kernel.run("]why +/3×⍳4000");
    assert_eq!(first.status(), "ok");
    (0..4).for_each(|k| drop(kernel.run(&format!("+/{k}×⍳9000"))));
    let open = json!({ "comm_id": "c", "target_name": "aplomb.trace", "data": { "quiet": true } });
    kernel.client.send(Channel::Shell, "comm_open", &open);
    let question = |source: &str, statement: &str| {
        let off = json!(["fusion"]);
        asked(
            &kernel,
            json!({ "off": off, "source": source, "statement": statement,
            "question": 5 }),
        )
    };
    let told = question("cell 2", "+/3×⍳4000");
    let trace = &told["traces"][0];
    assert_eq!(
        (&trace["statement"], &told["question"]),
        (&json!("+/3×⍳4000"), &json!(5)),
        "{told}"
    );
    assert!(trace["kernels"].as_array().is_some_and(|k| k.len() > 1), "fusion is off");
    assert_eq!(question("cell 6", "+/3×⍳9000")["traces"][0]["statement"], "+/3×⍳9000");
    let gone = question("cell 99", "x");
    assert!(gone["gone"].as_str().is_some_and(|g| g.contains("cell 99")), "{gone}");
    assert_eq!(kernel.shown("≢a"), "5000", "the workspace stays");
}

#[test]
fn what_a_notebook_keeps_of_a_trace_is_small() {
    let kernel = Running::start();
    let code = include_str!("../../examples/blackscholes.apl");
    kernel.run(code);
    for command in ["]dag", "]why"] {
        let answer = kernel.run(command);
        let data = &answer.all("display_data")[0]["data"];
        let kept = data["application/vnd.aplomb.trace.v1+json"].to_string();
        assert!((1_000..20_000).contains(&kept.len()), "{command}: {}", kept.len());
    }
}

/// A subscriber to all that is told which takes nothing: its greeting, what it is, a subscription.
fn silent(kernel: &Running) -> TcpStream {
    let mut to = TcpStream::connect(("127.0.0.1", kernel.info.iopub_port)).expect("an open port");
    let mut greeting = [0; 64];
    (greeting[0], greeting[9], greeting[10]) = (0xff, 0x7f, 3);
    greeting[12..16].copy_from_slice(b"NULL");
    let ready = b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03SUB";
    for bytes in [&greeting[..], ready, b"\0\x01\x01"] {
        to.write_all(bytes).expect("a kernel that listens");
    }
    to
}

/// A front end that reads nothing costs what waits for it, and others lose nothing.
#[test]
fn a_front_end_that_never_reads_takes_little() {
    let kernel = Running::start();
    let silent = silent(&kernel);
    kernel.run("text←(1000000⍴'x'),⎕UCS 10");
    let before = kernel.resident();
    let answer = kernel.run("{text⎕NPUT'/dev/stderr' 2 ⋄ 0}¨⍳150 ⋄ 'end'");
    let read: usize =
        answer.all("stream").iter().filter_map(|s| s["text"].as_str()).map(str::len).sum();
    assert_eq!((answer.status(), read >= 150_000_000), ("ok", true), "{read}");
    let grown = kernel.resident().saturating_sub(before);
    assert!(grown < 120 << 20, "{} MB", grown >> 20);
    drop(silent);
    assert_eq!(kernel.shown("1+1"), "2");
}

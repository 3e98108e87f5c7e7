//! The answers of a kernel to a client, kind by kind of message.

use crate::running::{Running, WAIT, eventually};
use aplomb_kernel::jupyter::client::{Answer, Channel};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The kinds of what was heard, without the statuses.
fn kinds(answer: &Answer) -> Vec<&str> {
    answer.heard.iter().map(|m| m.kind.as_str()).filter(|k| *k != "status").collect()
}

/// The text that a cell printed.
fn printed(answer: &Answer) -> String {
    answer.all("stream").iter().filter_map(|s| s["text"].as_str()).collect()
}

#[test]
fn who_is_there_is_answered_on_shell_and_control() {
    let kernel = Running::start();
    for channel in [Channel::Shell, Channel::Control] {
        let info =
            kernel.client.ask(channel, "kernel_info_request", &json!({}), WAIT).expect("a reply");
        assert_eq!(
            (info["status"].as_str(), info["implementation"].as_str()),
            (Some("ok"), Some("aplomb"))
        );
        let language = &info["language_info"];
        assert_eq!(
            (language["name"].as_str(), language["mimetype"].as_str()),
            (Some("apl"), Some("text/apl"))
        );
        assert_eq!(language["codemirror_mode"], json!({ "name": "aplomb", "mime": "text/apl" }));
        assert!(
            info["debugger"] == false
                && info["protocol_version"].as_str().is_some_and(|v| v.starts_with("5."))
        );
    }
}

/// A socket is bound to an address, and the file may have a name.
#[test]
fn a_connection_file_may_say_localhost() {
    let info = aplomb_kernel::jupyter::fresh().expect("free ports");
    let kernel = Running::start_with(aplomb_kernel::jupyter::ConnectionInfo {
        ip: "localhost".into(),
        ..info
    });
    assert_eq!(kernel.shown("1+1"), "2");
}

#[test]
fn a_cell_is_busy_input_output_result_idle() {
    let kernel = Running::start();
    let answer = kernel.run("⎕←'hi' ⋄ 2 3⍴⍳6");
    let all: Vec<&str> = answer.heard.iter().map(|m| m.kind.as_str()).collect();
    assert_eq!(all, ["status", "execute_input", "stream", "execute_result", "status"]);
    assert_eq!(printed(&answer), "hi\n");
    assert_eq!((answer.status(), &answer.reply["execution_count"]), ("ok", &json!(1)));
    assert_eq!(
        (&answer.reply["user_expressions"], &answer.reply["payload"]),
        (&json!({}), &json!([]))
    );
    let result = &answer.all("execute_result")[0];
    assert_eq!(result["data"]["text/plain"], "1 2 3\n4 5 6");
    let html = result["data"]["text/html"].as_str().expect("a table");
    assert!(html.contains("2 3 · i8") && html.matches("<td ").count() == 6, "{html}");
    assert!(
        result["transient"].is_object() && result["metadata"].is_object(),
        "no null where an object belongs"
    );
    let sessions = |m: &aplomb_kernel::jupyter::wire::Message| {
        serde_json::from_slice::<Value>(&m.header).expect("a header")["session"].clone()
    };
    assert!(
        answer.heard.iter().all(|m| sessions(m) == sessions(&answer.heard[0])),
        "one session in every header"
    );
}

/// The trace that a bundle keeps deflated.
fn inflated(data: &Value) -> Value {
    let kept = &data["application/vnd.aplomb.trace.v1+json"]["deflated"];
    let bytes = BASE64_STANDARD.decode(kept.as_str().expect("a trace")).expect("base64");
    serde_json::from_reader(flate2::read::ZlibDecoder::new(&bytes[..])).expect("JSON")
}

/// `%%time` and `]` commands threw away names, results and effects of what they spoke of.
#[test]
fn what_a_command_speaks_of_is_a_statement() {
    let kernel = Running::start();
    let timed = kernel.run("%%time\nq←⍳5\n+/q");
    assert_eq!(timed.all("execute_result")[0]["data"]["text/plain"], "15");
    let says =
        timed.all("display_data")[0]["data"]["text/plain"].as_str().unwrap_or_default().to_string();
    assert!(says.contains(" in all: "), "{says}");
    kernel.run("]display m←2 2⍴⍳4");
    assert_eq!((kernel.shown("q"), kernel.shown("m")), ("1 2 3 4 5".into(), "1 2\n3 4".into()));
    let slow = kernel.run("]time ⎕DL 0.2");
    let says =
        slow.all("display_data")[0]["data"]["text/plain"].as_str().unwrap_or_default().to_string();
    let ms: f64 = says.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0.0);
    assert!(ms >= 200.0 && says.contains(" ms in all"), "{says}");
}

/// Characters that go back in their line, or to the next stop, came out as blanks.
#[test]
fn a_line_that_is_printed_again_stays_one() {
    let kernel = Running::start();
    assert_eq!(printed(&kernel.run("⍞←'1',⎕UCS 13 ⋄ ⍞←'2',⎕UCS 9 ⋄ ⍞←'3',⎕UCS 27")), "1\r2\t3 ");
}

#[test]
fn silent_cells_and_cells_without_history_do_not_count() {
    let kernel = Running::start();
    let silent = kernel.with(json!({ "code": "q←3 ⋄ q+1", "silent": true }));
    assert_eq!((kinds(&silent).len(), silent.status()), (0, "ok"));
    let apart = kernel.with(json!({ "code": "q+2", "store_history": false }));
    assert_eq!(
        (kinds(&apart), &apart.reply["execution_count"]),
        (vec!["execute_input", "execute_result"], &json!(0))
    );
    assert_eq!(kernel.run("q").reply["execution_count"], 1);
    let history = kernel.ask("history_request", json!({ "hist_access_type": "tail", "n": 9 }));
    assert_eq!(history["history"], json!([[1, 1, "q"]]));
}

#[test]
fn an_error_has_its_name_and_the_report_of_the_prompt() {
    let kernel = Running::start();
    let answer = kernel.run("x←1\n1 2 3+4 5");
    assert_eq!(kinds(&answer), ["execute_input", "error"]);
    let error = &answer.all("error")[0];
    assert_eq!(
        (&error["ename"], &error["evalue"]),
        (&json!("LENGTH ERROR"), &json!("X and Y differ in length"))
    );
    let report: Vec<&str> =
        error["traceback"].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    assert!(
        report[0].starts_with("LENGTH ERROR")
            && report[1].replace("\u{1b}[0m", "").contains("cell 1:2"),
        "{report:?}"
    );
    // In colours of a page's theme: those of no theme would not be legible on it.
    let whole = report.join("\n");
    assert!(whole.contains("\u{1b}[3") && !whole.contains("\u{1b}[38"), "{whole:?}");
    assert_eq!((answer.status(), &answer.reply["ename"]), ("error", &json!("LENGTH ERROR")));
    assert_eq!(answer.reply["execution_count"], 1);
    assert_eq!(kernel.shown("x"), "1", "statements before it stay");
}

#[test]
fn an_error_aborts_what_waits_and_nothing_that_comes_later() {
    let kernel = Running::start();
    let send = |code: &str, stop: bool| {
        kernel.client.send(
            Channel::Shell,
            "execute_request",
            &json!({ "code": code, "stop_on_error": stop }),
        )
    };
    let status =
        |id: &str| kernel.client.reply(Channel::Shell, id, WAIT).map(|r| r["status"].clone());
    for _ in 0..20 {
        // The waiting cells are there before the first one fails.
        let ids = [send("⎕DL 0.05 ⋄ ÷0", true), send("a←1", true), send("b←2", true)];
        let found: Vec<_> = ids.iter().map(|id| status(id)).collect();
        assert_eq!(found, [Some(json!("error")), Some(json!("aborted")), Some(json!("aborted"))]);
        // This one is sent by somebody who knows of the error.
        assert_eq!(status(&send("1", true)), Some(json!("ok")));
    }
    let ids = [send("⎕DL 0.05 ⋄ ÷0", false), send("a←1", true)];
    let found: Vec<_> = ids.iter().map(|id| status(id)).collect();
    assert_eq!(found, [Some(json!("error")), Some(json!("ok"))]);
    // What is no cell is answered, also while cells are aborted.
    let ids = [
        send("⎕DL 0.05 ⋄ ÷0", true),
        kernel.client.send(Channel::Shell, "kernel_info_request", &json!({})),
    ];
    let found: Vec<_> = ids.iter().map(|id| status(id)).collect();
    assert_eq!(found, [Some(json!("error")), Some(json!("ok"))]);
}

#[test]
fn user_expressions_are_values_or_errors() {
    let kernel = Running::start();
    let answer = kernel
        .with(json!({ "code": "x←⍳3", "user_expressions": { "a": "x×2", "b": "÷0", "c": 7 } }));
    let found = &answer.reply["user_expressions"];
    assert_eq!(
        found["a"],
        json!({ "status": "ok", "data": { "text/plain": "2 4 6" }, "metadata": {} })
    );
    assert_eq!(
        (&found["b"]["status"], &found["b"]["ename"]),
        (&json!("error"), &json!("DOMAIN ERROR"))
    );
    assert_eq!(found["c"]["status"], "ok");
}

#[test]
fn a_loop_that_prints_is_few_messages() {
    let kernel = Running::start();
    let answer = kernel.run("{⎕←⍵}¨⍳20000");
    assert_eq!(printed(&answer).lines().count(), 20_000);
    assert!(answer.all("stream").len() < 200, "{} messages", answer.all("stream").len());
    // What is printed before a long computation does not wait for its end.
    let id = kernel.send("⎕←'early' ⋄ ⎕DL 20");
    let early =
        eventually(|| kernel.client.receive(Channel::Iopub, WAIT).filter(|m| m.kind == "stream"));
    assert_eq!(early.content["text"], "early\n");
    kernel.interrupt();
    assert_eq!(
        kernel.client.reply(Channel::Shell, &id, WAIT).expect("a reply")["ename"],
        "INTERRUPT"
    );
}

#[test]
fn completion_counts_code_points() {
    let kernel = Running::start();
    kernel.run("velocity←3");
    let complete = |code: &str, at: usize| {
        kernel.ask("complete_request", json!({ "code": code, "cursor_pos": at }))
    };
    let found = complete("'😀⍳',velo", 9);
    assert_eq!(
        (&found["matches"], &found["cursor_start"], &found["cursor_end"]),
        (&json!(["velocity"]), &json!(5), &json!(9))
    );
    let labelled = &found["metadata"]["_jupyter_types_experimental"][0];
    assert_eq!((&labelled["text"], &labelled["start"]), (&json!("velocity"), &json!(5)));
    assert_eq!(labelled["type"], "variable", "one word: front ends have a column of that width");
    let types = |code: &str| {
        let found = complete(code, code.chars().count());
        let all = found["metadata"]["_jupyter_types_experimental"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        all.iter().map(|t| t["type"].as_str().unwrap_or("").to_string()).collect::<Vec<_>>()
    };
    for (code, kind) in [
        ("rho", "function"),
        ("each", "operator"),
        ("omega", "argument"),
        ("⎕I", "system"),
        ("]da", "command"),
    ] {
        assert_eq!(types(code).first().map(String::as_str), Some(kind), "{code}");
    }
    // The keys of the prompt, which no notebook has.
    let first = |code: &str| complete(code, code.chars().count())["matches"][0].clone();
    let keys = [
        ("`w", "⍵"),
        ("2 3`r", "⍴"),
        ("x`[", "←"),
        ("2`-", "×"),
        ("`=", "÷"),
        ("`D", "⋄"),
        ("`a", "⍺"),
    ];
    assert!(keys.iter().all(|(key, glyph)| first(key) == *glyph), "{:?}", keys.map(|k| first(k.0)));
    assert_eq!(complete("2 3`r6", 5)["cursor_start"], 3);
    assert_eq!(complete("rho", 3)["matches"], json!(["⍴"]));
    assert_eq!(complete("]da", 3)["matches"], json!(["]dag"]));
    let all = |code: &str| complete(code, code.chars().count())["matches"].clone();
    assert_eq!(all("x←1 ⍝ rho"), json!([]), "comments are no code");
    assert_eq!(all("'rho"), json!([]), "nor are texts");
    assert_eq!(all("]plot -k"), json!(["-kind="]));
    assert_eq!(all("]plot 3 1 2 -kind=b"), json!(["-kind=bars", "-kind=boxes"]));
    assert_eq!(all("]off push"), json!(["push-down"]));
    assert_eq!(all("]box o"), json!(["on", "off"]));
    assert_eq!(all("]plot velo"), json!(["velocity"]));
    assert_eq!(all("%%tim"), json!(["%%time"]));
    let folder = std::env::temp_dir().join(format!("aplomb-complete-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("data")).expect("a folder");
    std::fs::write(folder.join("dates.csv"), "1").expect("a file");
    std::fs::write(folder.join(".hidden"), "1").expect("a file");
    let here = folder.display();
    let found = all(&format!("x←⎕CSV '{here}/da"));
    let names = |typed: &str| all(&format!("'{here}/{typed}")).as_array().map(Vec::len);
    let counts = [names(""), names("."), names("none")];
    std::fs::remove_dir_all(&folder).expect("it is there");
    assert_eq!(found, json!([format!("{here}/data/"), format!("{here}/dates.csv")]));
    assert_eq!(counts, [Some(2), Some(1), Some(0)]);
    assert_eq!(complete("x", 4_000_000_000)["status"], "ok");
    let bare = kernel.ask("complete_request", json!({ "code": "1+rho" }));
    assert_eq!(
        (&bare["matches"], &bare["cursor_start"]),
        (&json!(["⍴"]), &json!(2)),
        "without a position: the end"
    );
}

#[test]
fn inspection_and_completeness() {
    let kernel = Running::start();
    kernel.run("m←2 3⍴⍳6");
    let inspect = |code: &str, at: u64| {
        kernel.ask("inspect_request", json!({ "code": code, "cursor_pos": at }))
    };
    let name = inspect("😀+m", 3);
    assert_eq!(name["found"], true);
    assert!(name["data"]["text/plain"].as_str().is_some_and(|t| t.contains("2 3 i8")), "{name}");
    assert!(inspect("⍴", 1)["data"]["text/plain"].as_str().is_some_and(|t| t.contains("hape")));
    let nothing = inspect("nosuchname", 4);
    assert_eq!(
        (&nothing["found"], &nothing["data"], &nothing["status"]),
        (&json!(false), &json!({}), &json!("ok"))
    );
    let complete =
        |code: &str| kernel.ask("is_complete_request", json!({ "code": code }))["status"].clone();
    assert_eq!(complete("f←{⍵"), "incomplete");
    assert_eq!(complete("f←{⍵}"), "complete");
    assert_eq!(complete("'abc"), "invalid");
    assert_eq!(complete("]dag {"), "complete");
    assert_eq!(complete("%%why\n{"), "complete");
}

#[test]
fn history_has_inputs_and_outputs() {
    let kernel = Running::start();
    ["1+1", "2+2", "1+1"].iter().for_each(|code| drop(kernel.run(code)));
    let ask = |content: Value| kernel.ask("history_request", content)["history"].clone();
    let tail = ask(json!({ "hist_access_type": "tail", "n": 2, "output": true }));
    assert_eq!(tail, json!([[1, 2, ["2+2", "4\n"]], [1, 3, ["1+1", "2\n"]]]));
    assert_eq!(
        ask(json!({ "hist_access_type": "search", "pattern": "1*", "unique": true })),
        json!([[1, 3, "1+1"]])
    );
    assert_eq!(
        ask(json!({ "hist_access_type": "range", "session": 1, "start": 1, "stop": 2 })),
        json!([[1, 1, "1+1"]])
    );
}

#[test]
fn quote_quad_and_quad_ask_the_client_that_sent_the_cell() {
    let kernel = Running::start();
    let answer = |code: &str, lines: &[&str]| {
        let id = kernel.client.send(
            Channel::Shell,
            "execute_request",
            &json!({ "code": code, "allow_stdin": true }),
        );
        for line in lines {
            let asked = kernel.client.receive(Channel::Stdin, WAIT).expect("a question");
            assert_eq!((asked.kind.as_str(), asked.answers(&id)), ("input_request", true));
            assert_eq!(asked.content["password"], false);
            kernel.client.send(Channel::Stdin, "input_reply", &json!({ "value": line }));
        }
        let reply = kernel.client.reply(Channel::Shell, &id, WAIT).expect("a reply");
        Answer { reply, heard: kernel.client.heard(&id, WAIT).expect("idle") }
    };
    let asked = answer("⍞←'name? ' ⋄ n←⍞ ⋄ n", &["Ada"]);
    assert_eq!(printed(&asked), "name? ", "printed before the question, once");
    assert_eq!(asked.all("execute_result")[0]["data"]["text/plain"], "name? Ada");
    assert_eq!(answer("1+⎕", &["2×3"]).all("execute_result")[0]["data"]["text/plain"], "7");
    // An answer that nobody waits for is not the next one's.
    kernel.client.send(Channel::Stdin, "input_reply", &json!({ "value": "stale" }));
    kernel.run("⎕DL 0.05");
    assert_eq!(answer("⍞", &["fresh"]).all("execute_result")[0]["data"]["text/plain"], "fresh");
    let nobody = kernel.run("⍞");
    assert_eq!((nobody.status(), &nobody.reply["ename"]), ("error", &json!("VALUE ERROR")));
}

#[test]
fn an_interrupt_stops_the_cell_and_keeps_the_names() {
    let kernel = Running::start();
    kernel.run("x←⍳5 ⋄ big←⍳100000");
    let endless = ["{∇⍵}1", "+/1○⍳4E10", "⎕DL 100", "{⍵+1}⍣≡1", "⍞"];
    for (k, code) in endless.iter().enumerate() {
        let content = json!({ "code": format!("x←9 9 ⋄ {code}"), "allow_stdin": true });
        let id = kernel.client.send(Channel::Shell, "execute_request", &content);
        eventually(|| {
            kernel.client.receive(Channel::Iopub, WAIT).filter(|m| m.kind == "execute_input")
        });
        let asked = Instant::now();
        match k % 2 {
            0 => kernel.interrupt(),
            _ => kernel.signal("INT"),
        }
        let reply = kernel.client.reply(Channel::Shell, &id, WAIT).expect(code);
        assert_eq!(reply["ename"], "INTERRUPT", "{code}");
        assert!(asked.elapsed() < Duration::from_secs(2), "{code}: {:?}", asked.elapsed());
        kernel.client.heard(&id, WAIT).expect("idle");
        assert_eq!(kernel.shown("x ⋄ +/big"), "9 9", "the statement before stays, {code}");
        assert_eq!(kernel.shown("+/big"), "5000050000");
    }
    // An idle kernel has nothing to stop.
    kernel.interrupt();
    kernel.signal("INT");
    assert_eq!(kernel.shown("2+2"), "4");
}

#[test]
fn control_and_heartbeat_answer_while_a_cell_runs() {
    let kernel = Running::start();
    let id = kernel.send("{∇⍵}1");
    eventually(|| {
        kernel.client.receive(Channel::Iopub, WAIT).filter(|m| m.kind == "execute_input")
    });
    for _ in 0..10 {
        assert!(
            kernel.client.ask(Channel::Control, "kernel_info_request", &json!({}), WAIT).is_some()
        );
        kernel.client.raw(Channel::Heartbeat, vec![b"ping".to_vec()]);
        assert_eq!(
            kernel.client.raw_receive(Channel::Heartbeat, WAIT),
            Some(vec![b"ping".to_vec()])
        );
    }
    let refused =
        kernel.client.ask(Channel::Control, "execute_request", &json!({ "code": "1" }), WAIT);
    assert_eq!(refused.expect("a reply")["status"], "error", "control evaluates nothing");
    kernel.interrupt();
    assert!(kernel.client.reply(Channel::Shell, &id, WAIT).is_some());
}

#[test]
fn comms_are_closed_and_unknown_requests_answered() {
    let kernel = Running::start();
    assert_eq!(kernel.ask("comm_info_request", json!({}))["comms"], json!({}));
    let heard = |kind: &str, content: Value| {
        let id = kernel.client.send(Channel::Shell, kind, &content);
        kernel.client.heard(&id, WAIT).expect("idle")
    };
    let open = heard("comm_open", json!({ "comm_id": "c1", "target_name": "jupyter.widget" }));
    let closed = open.iter().find(|m| m.kind == "comm_close").expect("closed");
    assert_eq!(closed.content["comm_id"], "c1");
    for kind in ["comm_msg", "comm_close", "no_such_message", "input_reply"] {
        assert_eq!(heard(kind, json!({ "comm_id": "c1" })).len(), 2, "{kind}: busy and idle");
    }
    let reply = kernel.ask("no_such_request", json!({}));
    assert_eq!((&reply["status"], &reply["ename"]), (&json!("error"), &json!("NONCE ERROR")));
}

#[test]
fn commands_in_a_cell_have_pictures() {
    let kernel = Running::start();
    let answer = kernel.run("x←0.5×⍳100000\n+/x×x\n]dag");
    assert_eq!(kinds(&answer), ["execute_input", "execute_result", "display_data"]);
    let data = &answer.all("display_data")[0]["data"];
    let text = |kind: &str| data[kind].as_str().unwrap_or_else(|| panic!("{kind} is missing"));
    assert!(text("text/plain").contains("[[") && text("image/png").starts_with("iVBORw0KGgo"));
    let html = text("text/html");
    assert!(
        html.starts_with("<img alt=\"") && html.contains("data:image/svg+xml;base64,"),
        "{html}"
    );
    assert!(!html.contains("<script") && !html.contains("<style") && !html.contains("http"));
    let trace = inflated(data);
    assert_eq!(
        (&trace["schema"], trace["kernels"].as_array().map(Vec::len)),
        (&json!("aplomb-trace"), Some(1))
    );
    for (code, wanted) in [
        ("]why", "1 launch"),
        ("]kernels", "k0"),
        ("]cuda", "__global__"),
        ("]off fusion\n]off", "embed-consumers"),
        ("%%why\ny←x+1\n+/y×y", "launches"),
    ] {
        let answer = kernel.run(code);
        let shown = answer.all("display_data");
        let last = shown.last().unwrap_or_else(|| panic!("{code}: {:?}", answer.reply));
        assert!(
            last["data"]["text/plain"].as_str().is_some_and(|t| t.contains(wanted)),
            "{code}: {last}"
        );
    }
}

#[test]
fn shutdown_ends_the_process_also_while_a_cell_runs() {
    for (channel, code) in
        [(Channel::Control, "1"), (Channel::Control, "{∇⍵}1"), (Channel::Shell, "1")]
    {
        let mut kernel = Running::start();
        kernel.send(code);
        let reply =
            kernel.client.ask(channel, "shutdown_request", &json!({ "restart": true }), WAIT);
        assert_eq!(reply, Some(json!({ "status": "ok", "restart": true })));
        assert_eq!(kernel.ended(), Some(0));
    }
    // What waits does not begin.
    let mut kernel = Running::start();
    let file = std::env::temp_dir().join(format!("aplomb-never-{}", kernel.id()));
    kernel.send("{∇⍵}1");
    let writes = format!("'x' ⎕NPUT '{}'", file.display());
    kernel.client.send(
        Channel::Shell,
        "execute_request",
        &json!({ "code": writes, "stop_on_error": false }),
    );
    kernel.client.ask(Channel::Control, "shutdown_request", &json!({}), WAIT).expect("a reply");
    assert_eq!((kernel.ended(), file.exists()), (Some(0), false));
    let mut kernel = Running::start();
    kernel.send("⎕OFF 7");
    assert_eq!(kernel.ended(), Some(7));
}

#[test]
fn a_kernel_whose_server_is_gone_ends() {
    let mut kernel = Running::start_by(|program, file| {
        let mut shell = std::process::Command::new("sh");
        // The shell stays the kernel's parent until it is killed.
        shell.args([
            "-c",
            &format!("JPY_PARENT_PID=$$ {} kernel start -f {} & echo $! ; wait", program, file),
        ]);
        shell
    });
    let own = kernel.first_line().trim().to_string();
    assert_eq!(kernel.shown("1+1"), "2");
    kernel.kill();
    eventually(|| (!std::path::Path::new(&format!("/proc/{own}")).exists()).then_some(()));
}

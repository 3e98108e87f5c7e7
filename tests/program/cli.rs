//! The program from outside: what is printed where, and how it ends.

use assert_cmd::Command;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn aplomb(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("aplomb").unwrap();
    command.args(args).timeout(Duration::from_secs(60));
    command
}

/// Standard output, standard error, exit code.
fn ran(args: &[&str], input: &str) -> (String, String, i32) {
    let out = aplomb(args).write_stdin(input).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&out.stdout), text(&out.stderr), out.status.code().unwrap_or(-1))
}

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> (PathBuf, String) {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let word = path.display().to_string();
    (path, word)
}

#[test]
fn eval_prints_a_value() {
    assert_eq!(ran(&["eval", "+/⍳10"], ""), ("55\n".into(), "".into(), 0));
    assert_eq!(ran(&["--threads", "1", "eval", "-3"], "").0, "¯3\n");
}

#[test]
fn an_error_is_drawn_on_standard_error_and_is_exit_code_1() {
    let (out, err, code) = ran(&["eval", "1 2+1 2 3"], "");
    assert_eq!((out.as_str(), code), ("", 1));
    assert!(
        err.starts_with("LENGTH ERROR: ") && err.contains("shape 3") && !err.contains('\x1b'),
        "{err}"
    );
}

#[test]
fn wrong_words_are_exit_code_2() {
    for args in [
        &["nowhere.apl"][..],
        &["run", "nowhere.apl"],
        &["check", "nowhere.apl"],
        &["trace", "nowhere.apl"],
        &["--limit", "colour=3", "eval", "1"],
        &["--off", "nonsense", "eval", "1"],
        &["--threads", "0", "eval", "1"],
        &["eval"],
        &["tui"],
    ] {
        let (out, err, code) = ran(args, "");
        assert_eq!((out.as_str(), code), ("", 2), "{args:?}");
        assert!(!err.is_empty(), "{args:?}");
    }
    assert_eq!(ran(&["nowhere.apl"], "").1, "aplomb: no such file: nowhere.apl\n");
    assert_eq!(
        ran(&["tui"], "").1,
        "aplomb: the panes need a terminal; aplomb trace and aplomb explain print\n"
    );
}

#[test]
fn a_program_reads_what_is_typed_behind_it() {
    let typed = "name←⍞\nAnn\nname,'!'\n1+⎕\n2×3\n";
    let (out, _, code) = ran(&[], typed);
    assert_eq!((out.as_str(), code), ("Ann!\n7\n", 0));
    let (out, err, code) = ran(&["eval", "⍞"], "");
    assert!(
        out.is_empty() && err.contains("VALUE ERROR: nothing was typed for ⍞") && code == 1,
        "{out} {err}"
    );
}

#[test]
fn piped_lines_go_on_after_an_error() {
    let (out, err, code) = ran(&[], "1+1\nx←1 2+1 2 3\nf←{\n  ⍵+1\n}\nf 2\n]why +/2×⍳1000\n");
    assert!(out.starts_with("2\n3\n1 launch"), "{out}");
    assert!(err.contains("LENGTH ERROR") && err.contains("line 2"), "{err}");
    assert_eq!(code, 1);
    assert_eq!(ran(&[], "⎕OFF 7\n1\n"), ("".into(), "".into(), 7));
    assert_eq!(ran(&[], "1+1").0, "2\n");
}

#[test]
fn a_script_stops_at_its_first_error() {
    let folder = tempfile::tempdir().unwrap();
    let (_, good) = file(&folder, "good.apl", "#!/usr/bin/env aplomb\nx←⍳3\n+/x\n");
    let (_, bad) = file(&folder, "bad.apl", "#!/usr/bin/env aplomb\n1\nnothing\n2\n");
    assert_eq!(ran(&[&good], ""), ("6\n".into(), "".into(), 0));
    assert_eq!(ran(&["run", &good, "--", "-x"], "").0, "6\n");
    let (out, err, code) = ran(&[&bad], "");
    assert_eq!((out.as_str(), code), ("1\n", 1));
    assert!(err.contains("bad.apl:3:1"), "{err}");
    let (_, words) = file(&folder, "words.apl", "⎕ARG\n≢⎕ARG\n");
    assert_eq!(ran(&[&words, "one", "--", "--two"], "").0, " one  --  --two \n3\n");
    assert_eq!(ran(&[&words], "").0, "\n0\n");
    let trace = folder.path().join("t.json").display().to_string();
    assert_eq!(ran(&["--trace", &trace, &good], "").2, 0);
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&trace).unwrap()).unwrap();
    assert_eq!(json["statement"], "+/x");
}

fn answers(input: &str, args: &[&str]) -> Vec<serde_json::Value> {
    let (out, _, code) = ran(&[&["eval", "--batch"], args].concat(), input);
    assert_eq!(code, 0);
    out.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn batch_answers_every_line() {
    let input = concat!(
        "{\"id\":\"7\",\"lines\":[\"x←⍳3\",\"+/x\"]}\n",
        "no json\n",
        "{\"id\":8}\n",
        "{\"id\":9,\"lines\":[\"f←{\",\"⍵+1}\",\"f 1\",\"x\"]}\n",
        "\n",
        "{\"id\":10,\"lines\":[\"{∇⍵}1\"]}\n",
        "{\"id\":11,\"lines\":[\"{⍵+1}⍣≡0\"]}\n",
        "{\"id\":12,\"lines\":[\"+/÷⍳1000000000\"]}\n",
        "{\"id\":13,\"lines\":[\"]off fusion\",\")limits seconds=9\"]}\n",
        "{\"id\":14,\"lines\":[\"]off\",\"2+2\"]}"
    );
    let found = answers(input, &["--limit", "seconds=0.2"]);
    assert_eq!(found.len(), 9);
    assert_eq!(
        found[0],
        serde_json::json!({ "id": "7", "ok": true, "display": "6\n",
            "error": serde_json::Value::Null })
    );
    assert!(found[1]["ok"] == false && found[1]["id"].is_null());
    assert!(found[2]["ok"] == false && found[2]["id"] == 8);
    assert_eq!(found[3]["display"], "2\n");
    assert_eq!(found[3]["error"]["kind"], "VALUE ERROR");
    assert_eq!(found[3]["error"]["span"], serde_json::json!([0, 1]));
    for late in &found[4..7] {
        assert_eq!(late["error"]["kind"], "LIMIT ERROR", "{late}");
    }
    assert_eq!(found[7]["display"], "");
    assert_eq!(found[8]["display"], "nothing is off; ]off list names the switches\n4\n");
}

#[test]
fn batch_elides_nothing_below_a_mebibyte_and_does_not_wait_for_more() {
    let found = answers(
        "{\"id\":1,\"lines\":[\"⍪⍳5000\"]}\n{\"id\":2,\"lines\":[\"⍪500000⍴12345\"]}\n",
        &[],
    );
    assert_eq!(found[0]["display"].as_str().unwrap().lines().count(), 5000);
    assert!(found[1]["display"].as_str().unwrap().len() <= (1 << 20) + 100);
}

#[test]
fn a_thousand_requests_are_quick() {
    let input: String =
        (0..1000).map(|k| format!("{{\"id\":{k},\"lines\":[\"x←⍳{k}\",\"+/x×x\"]}}\n")).collect();
    let begun = Instant::now();
    assert_eq!(answers(&input, &["--limit", "seconds=5"]).len(), 1000);
    println!("1000 requests in {:?}", begun.elapsed());
}

#[test]
fn check_finds_all_errors_and_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (_, good) = file(&folder, "good.apl", "⎕←1\n");
    let (_, bad) = file(&folder, "bad.apl", "x←'open\n1+2)\n");
    assert_eq!(ran(&["check", &good], ""), ("".into(), "".into(), 0));
    let (out, _, code) = ran(&["check", &bad, "--json"], "");
    let errors: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((errors.as_array().unwrap().len(), code), (2, 1));
    assert_eq!((&errors[1]["line"], &errors[1]["column"]), (&2.into(), &4.into()));
    assert!(ran(&["check", &bad], "").1.contains("SYNTAX ERROR"));
}

/// The text of a long value takes longer than the value: each view tells it.
#[test]
fn the_time_of_a_long_text_is_told_by_each_view() {
    let (out, _, code) = ran(&[], "x←0.5+⍳20000\nx×1.5\n]time\n]why\n]kernels\n");
    assert_eq!(code, 0);
    let told: Vec<&str> = out.lines().filter(|line| line.contains("display")).collect();
    let begins = |k: usize, with: &str| told.get(k).is_some_and(|line| line.contains(with));
    assert!(begins(0, ", display ") && told[0].contains(" in all: compiler "), "{told:?}");
    assert!(
        begins(1, "outside of launches ") && told[1].contains("display of x×1.5 at"),
        "{told:?}"
    );
    assert!(begins(2, "display of x×1.5 at") && told[2].contains("  evaluator  "), "{told:?}");
    assert!(out.contains("the text that is shown has "), "{told:?}");
}

#[test]
fn a_canonical_trace_is_the_same_bytes_twice() {
    // What is drawn is the same, too.
    let drawn = "x←?2000⍴0 ⋄ ((⌊100×x)⍳?100)+⌈/x";
    for text in ["x←⍳100 ⋄ (+/x×x)÷+/x", drawn] {
        let args = ["trace", "-e", text, "--json", "--canon"];
        assert_eq!(ran(&args, "").0, ran(&args, "").0, "{text}");
    }
    let args = ["trace", "-e", "x←⍳100 ⋄ (+/x×x)÷+/x", "--json", "--canon"];
    let (one, _, code) = ran(&args, "");
    assert_eq!(code, 0);
    let trace: serde_json::Value = serde_json::from_str(&one).unwrap();
    assert_eq!(trace["schema"], "aplomb-trace");
    assert!(!trace["kernels"].as_array().unwrap().is_empty());
    let all = ran(&["trace", "-e", "+/⍳9 ⋄ ×/⍳9", "--all"], "").0;
    assert_eq!(all.lines().count(), 2);
    assert!(ran(&["trace", "-e", "+/2×⍳9", "--text"], "").0.contains("launch"));
    assert_eq!(ran(&["trace", "-e", "x←1"], "").2, 1);
}

/// Whatever a program does with its values, statements that had work done can be told: the one with
/// most to do, or that on a line.
#[test]
fn any_statement_of_a_program_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let text = "f←{+/⍵×⍵}\n⎕←f 0.5×⍳3000\n⎕←f 0.5×⍳90000\nx←2+f 0.5×⍳4000\n⎕←x\n";
    let (_, path) = file(&folder, "p.apl", text);
    let (out, err, code) = ran(&["explain", &path], "");
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("line 3, whose launches had most to do; --line N tells"), "{out}");
    assert!(out.contains("folds axis 1 90000") && !out.contains("30003750"), "{out}");
    assert!(err.contains('E'), "what it prints is on standard error: {err}");
    let (out, _, _) = ran(&["explain", "--line", "2", &path], "");
    assert!(out.starts_with("line 2;") && out.contains("folds axis 1 3000"), "{out}");
    let (json, err, _) = ran(&["trace", "--line", "2", &path], "");
    let trace: serde_json::Value = serde_json::from_str(&json).unwrap();
    let span = trace["place"].as_array().unwrap();
    assert_eq!((&trace["statement"], span[1].as_u64()), (&"⎕←f 0.5×⍳3000".into(), Some(10)));
    assert!(err.contains("aplomb: line 2; --line N tells"), "{err}");
    // A function is computed where it is called.
    let (out, _, _) = ran(&["explain", "--line", "1", &path], "");
    assert!(out.starts_with("line 3, where line 1 was computed; --line N tells"), "{out}");
    let (_, err, code) = ran(&["cuda", "--line", "7", &path], "");
    assert!(code == 1 && err.contains("line 7 gave no value"), "{err}");
    for seed in ["acc-dot", "bar-gauss", "acl-life"] {
        let seed = format!("{}/examples/seeds/{seed}.apl", env!("CARGO_MANIFEST_DIR"));
        if std::path::Path::new(&seed).exists() {
            let (out, err, code) = ran(&["explain", &seed], "");
            assert!(code == 0 && out.contains("launch"), "{seed}: {err}");
        }
    }
}

/// Of several statements of one line each can be told, and each round of a loop.
#[test]
fn a_statement_is_named_by_its_line_and_its_order() {
    let folder = tempfile::tempdir().unwrap();
    let text = "x←÷⍳5000\n⎕←+/x ⋄ ⎕←⌈/x*2 ⋄ z←x×2\n:For i :In ⍳3\n⎕←+/x*i\n:EndFor\n";
    let (_, path) = file(&folder, "p.apl", text);
    let told = |line: &str| {
        let (json, err, code) = ran(&["trace", "--line", line, &path], "");
        let trace = serde_json::from_str::<serde_json::Value>(&json).ok();
        let statement = trace.and_then(|t| t["statement"].as_str().map(String::from));
        (statement, err, code)
    };
    assert_eq!(told("2.1").0.as_deref(), Some("⎕←+/x"));
    assert_eq!(told("2.2").0.as_deref(), Some("⎕←⌈/x*2"));
    for round in ["4.1", "4.2", "4.3"] {
        let (statement, err, _) = told(round);
        assert_eq!(statement.as_deref(), Some("⎕←+/x*i"));
        assert!(err.contains(&format!("line {round}; --line N tells")), "{err}");
    }
    let (_, err, code) = told("4.4");
    assert!(code == 1 && err.contains("3 statements that can be told ran on line 4"), "{err}");
    let (_, err, code) = ran(&["explain", "--line", "0.2", &path], "");
    assert!(code == 2 && err.contains("9.2 for the second"), "{err}");
}

/// One program under two pipelines: each side had picked the statement with most to do of its own.
#[test]
fn both_sides_of_a_program_are_one_statement() {
    let folder = tempfile::tempdir().unwrap();
    let text = "x←÷⍳5000\n⎕←+/x[⍋x]\nA←50 50⍴x\n⎕←⌈/,A+.×⍉A\n";
    let (_, path) = file(&folder, "two.apl", text);
    for (words, statement) in [
        (&[][..], None),
        (&["--line", "2"], Some("⎕←+/x[⍋x]")),
        (&["--line", "4"], Some("⎕←⌈/,A+.×⍉A")),
    ] {
        let all = [&["diff", path.as_str(), "--off", "fusion"][..], words].concat();
        let (out, err, code) = ran(&all, "");
        assert_eq!(code, 0, "{err}");
        let side = |word: &str| {
            let line = out.lines().find_map(|l| l.trim_start().strip_prefix(word));
            let line = line.unwrap_or_else(|| panic!("{word}: {out}"));
            line.split_once(" (off").map_or(line, |(side, _)| side).trim().to_string()
        };
        assert_eq!(side("before"), side("after"), "{out}");
        assert!(statement.is_none_or(|s| side("before") == s), "{out}");
    }
}

/// A program may begin with the mark of an encoding, which is no part of it.
#[test]
fn the_mark_of_utf_8_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (_, path) = file(&folder, "p.apl", "\u{FEFF}+/÷⍳5000\n÷0\n");
    for words in [&["run"][..], &["check"], &["explain"], &["profile"], &["trace"]] {
        let (out, err, _) = ran(&[words, &[path.as_str()][..]].concat(), "");
        assert!(!format!("{out}{err}").contains('\u{FEFF}'), "{words:?}: {out}{err}");
    }
    let (_, path) = file(&folder, "q.apl", "\u{FEFF}#!/usr/bin/env aplomb\n2+2\n");
    assert_eq!(ran(&[&path], ""), ("4\n".into(), "".into(), 0));
}

#[test]
fn a_run_of_nothing_takes_no_time_below_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (_, path) = file(&folder, "p.apl", "");
    let (out, err, code) = ran(&["profile", &path], "");
    assert!(code == 0 && !out.contains("-0"), "{out}{err}");
}

/// Phrases that no values of their names can run are errors of `check`, in the words of the run.
#[test]
fn check_tells_what_can_never_run() {
    let folder = tempfile::tempdir().unwrap();
    for (text, says) in [
        ("y←1÷\n", Some("÷ has no right argument")),
        ("'abc',\n", Some(", has no right argument")),
        ("f←{x←⍵ ⋄ ⍵+x×2-}\n", Some("- has no right argument")),
        ("∇f\n2 3⍴\n∇\n", Some("⍴ has no right argument")),
        ("z←1+(2×)5\n", Some("× has no right argument")),
        ("mean←+/÷≢\ng←2∘×\nh←+⍤1÷\nk←{⍺←⊢ ⋄ ⍺ -}\n", None),
    ] {
        let (_, path) = file(&folder, "p.apl", text);
        let (out, err, code) = ran(&["check", &path], "");
        let told = format!("{out}{err}");
        match says {
            Some(says) => assert!(code == 1 && told.contains(says), "{text}: {told}"),
            None => assert!(!told.contains("SYNTAX ERROR"), "{text}: {told}"),
        }
    }
}

/// Runs that take turns are compared; two single runs are not.
#[test]
fn a_cold_run_is_no_difference() {
    let (out, err, code) = ran(&["--off", "cse", "diff", "-e", "+/1+2×⍳100000"], "");
    assert!(code == 0 && out.contains("time") && !out.contains("single runs"), "{out}{err}");
    let folder = tempfile::tempdir().unwrap();
    let (path, word) = file(&folder, "a.json", "");
    let trace = ran(&["trace", "-e", "+/1+2×⍳100000"], "").0;
    fs::write(path, trace).unwrap();
    let out = ran(&["diff", &word, &word], "").0;
    let time = out.lines().find(|l| l.starts_with("time")).unwrap();
    assert!(time.ends_with("single runs, not compared"), "{out}");
}

/// Lines have what they did, whoever called them, and with what is no line's they have the time
/// that there was, to a hundredth.
#[test]
fn a_profile_tells_a_run_by_source_line() {
    let folder = tempfile::tempdir().unwrap();
    let text = "f←{\n a←⍵×0.5\n +/a\n}\n⎕←f¨{⍵}¨(⍳3000)(⍳4000)\n∇r←g x\n r←f ⌽x\n∇\n⎕←g ⍳5000\n";
    // A function of lines that many cells are done by is no other text than its own.
    let text = format!("{text}∇r←h x\n r←3+x\n∇\n⎕←+/h⍣3⊢⍳5000\n");
    let (_, path) = file(&folder, "p.apl", &text);
    let svg = format!("{path}.svg");
    let (json, err, code) = ran(&["profile", "--json", &path, "-o", &svg], "");
    assert_eq!(code, 0, "{err}");
    let told: serde_json::Value = serde_json::from_str(&json).unwrap();
    let lines = told["lines"].as_array().unwrap();
    let line = |k: u32| {
        let at = format!("{path}:{k}");
        lines.iter().find(|l| l["at"] == at.as_str()).unwrap_or_else(|| panic!("{k}: {json}"))
    };
    assert_eq!((&line(3)["text"], line(3)["calls"].as_u64()), (&"+/a".into(), Some(3)));
    assert_eq!(line(7)["calls"], 1);
    let own = |l: &serde_json::Value| l["at"].as_str().is_some_and(|at| at.starts_with(&path));
    assert!(lines.iter().all(own), "{json}");
    let launches: u64 = lines.iter().filter_map(|l| l["launches"].as_u64()).sum();
    assert!(launches >= 2 && line(3)["launches"].as_u64() >= Some(2), "{json}");
    let ms = |l: &serde_json::Value| -> f64 {
        let of = |what| l[what].as_f64().unwrap();
        of("host_ms") + of("compile_ms") + of("launch_ms") + of("wait_ms")
    };
    let (all, wall) = (lines.iter().map(ms).sum::<f64>(), told["wall_ms"].as_f64().unwrap());
    let outside = told["outside_ms"].as_f64().unwrap();
    assert!(all > 0.0 && outside > 0.0, "{json}");
    let near = |sum: f64| (sum - wall).abs() <= 0.01 * wall;
    assert!(near(all + outside), "{all} and {outside} of {wall}");
    let paths = told["stacks"].as_array().unwrap().iter().map(|s| s["ms"].as_f64().unwrap());
    let paths = paths.sum::<f64>();
    assert!(near(paths), "{paths} of {wall}");
    let below = |path: &[u32]| -> Vec<String> {
        path.iter().map(|k| format!("{}:{k}", folder.path().join("p.apl").display())).collect()
    };
    let stacks = told["stacks"].as_array().unwrap();
    let has = |path: &[u32]| {
        let wanted = serde_json::json!(below(path));
        stacks.iter().any(|s| s["path"] == wanted)
    };
    assert!(has(&[9, 7, 3]) && has(&[9, 7]), "{json}");
    assert!(fs::read_to_string(&svg).unwrap().contains("launches"));
    let (out, _, _) = ran(&["profile", "-e", "1+"], "");
    assert!(out.contains("in all"), "what failed is told too: {out}");
    assert!(out.contains("outside of lines "), "{out}");
}

/// `aplomb cuda --arch`: over each text what it takes of that GPU, which is why occupancies differ;
/// an architecture without a row is named with those that have one.
#[test]
fn cuda_for_an_architecture_says_what_a_launch_takes_of_it() {
    let line = "C←A+.×⍉A←64 96⍴0.5×⍳6144 ⋄ (+/÷≢)C";
    let plain = ran(&["cuda", "-e", line], "").0;
    let headed = |arch: &str| ran(&["cuda", "--arch", arch, "-e", line], "").0;
    let heads = |text: &str| -> Vec<String> {
        text.lines().filter(|l| l.contains("occupancy")).map(str::to_string).collect()
    };
    assert!(heads(&plain).is_empty(), "{plain}");
    for arch in ["sm_70", "sm_75", "sm_90"] {
        let text = headed(arch);
        let heads = heads(&text);
        let kernels = text.lines().filter(|l| l.starts_with("extern \"C\" __global__")).count();
        assert!(heads.len() >= 2 && kernels >= heads.len(), "{text}");
        for (k, head) in heads.iter().enumerate() {
            assert!(head.starts_with(&format!("// k{k} ")), "{head}");
            assert!(head.contains(&format!(": {arch}, ")) && head.contains(" registers"), "{head}");
            assert!(head.contains(" threads and ") && head.contains(" bytes of shared"), "{head}");
            let (_, part) = head.split_once(": occupancy ").expect("a part");
            let part: u32 = part.trim_end_matches(" %").parse().expect("a number");
            assert!((1..=100).contains(&part), "{head}");
        }
        let body = |text: &str| -> String {
            text.lines().filter(|l| !l.starts_with("//") && !l.is_empty()).collect()
        };
        assert_eq!(body(&text), body(&plain), "the text is the same for {arch}");
    }
    let (out, err, code) = ran(&["cuda", "--arch", "sm_13", "-e", line], "");
    assert_eq!((out.as_str(), code), ("", 2));
    assert!(err.contains("no architecture is called sm_13; there are sm_70 "), "{err}");
}

#[test]
fn views_are_of_the_same_trace() {
    assert!(ran(&["dot", "-e", "+/2×⍳9"], "").0.starts_with("digraph"));
    assert!(ran(&["dot", "-e", "+/2×⍳9", "--pass", "record"], "").0.starts_with("digraph"));
    assert!(ran(&["dot", "-e", "+/2×⍳9", "--kernels"], "").0.starts_with("digraph"));
    assert!(ran(&["dot", "-e", "+/2×⍳9", "--pass", "none"], "").1.contains("record"));
    assert!(ran(&["cuda", "-e", "+/2×⍳9"], "").0.contains("__global__"));
    assert!(ran(&["explain", "-e", "+/2×⍳9"], "").0.contains("1 launch"));
    let off = ran(&["--off", "list"], "").0;
    assert_eq!(off, ran(&["trace", "--off", "list"], "").0);
    assert!(["fuse-producers", "sharing", "fusion"].iter().all(|name| off.contains(name)), "{off}");
    let prims: serde_json::Value = serde_json::from_str(&ran(&["prims", "--json"], "").0).unwrap();
    assert!(prims.as_array().unwrap().iter().any(|p| p["glyph"] == "⍴" && p["key"] == "r"));
}

#[test]
fn switches_change_the_plan_and_not_the_value() {
    let launches = |args: &[&str]| {
        let trace = ran(&[&["trace", "-e", "+/2×⍳9", "--canon"], args].concat(), "").0;
        let trace: serde_json::Value = serde_json::from_str(&trace).unwrap();
        (trace["kernels"].as_array().unwrap().len(), trace["result"].clone())
    };
    let (fused, apart) = (launches(&[]), launches(&["--off", "fusion"]));
    assert!(fused.0 < apart.0, "{} {}", fused.0, apart.0);
    assert_eq!(fused.1, apart.1);
}

#[test]
fn a_reader_that_leaves_is_no_panic() {
    let program = assert_cmd::cargo::cargo_bin("aplomb");
    let script = format!("'{}' eval '⍪⍳200000' | head -n 1", program.display());
    let out = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout), "     1\n");
    assert_eq!(String::from_utf8_lossy(&out.stderr), "");
}

#[test]
fn an_interrupted_script_is_exit_code_130() {
    let folder = tempfile::tempdir().unwrap();
    let (_, endless) = file(&folder, "endless.apl", "⎕←'go'\n{∇⍵}1\n");
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("aplomb"))
        .arg(&endless)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!((line.as_str(), child.wait().unwrap().code()), ("go\n", Some(130)));
}

#[test]
fn a_broken_promise_ends_a_script() {
    let folder = tempfile::tempdir().unwrap();
    let (_, kept) = file(
        &folder,
        "kept.apl",
        "x←0.5×⍳9000\n+/x×x\n]assert launches 1, no-break, bytes ≤ 1 kB\n1\n",
    );
    let (out, err, code) = ran(&[&kept], "");
    assert_eq!((out.lines().last(), err.as_str(), code), (Some("1"), "", 0));
    let (_, broken) = file(&folder, "broken.apl", "x←0.5×⍳9000\n⌈/x-+/x\n]assert launches 1\n1\n");
    let (out, err, code) = ran(&[&broken], "");
    assert_eq!((out.lines().count(), code), (1, 1));
    assert!(
        err.contains("]assert launches 1 does not hold: 2 launches")
            && err.contains("broken.apl:2:5"),
        "{err}"
    );
    assert_eq!(ran(&["--off", "fusion", &kept], "").2, 1);
}

#[test]
fn a_figure_that_grew_fails_the_gate() {
    let folder = tempfile::tempdir().unwrap();
    let trace = |name: &str, args: &[&str]| {
        let text = ran(&[&["trace", "-e", "+/2×⍳9", "--canon"], args].concat(), "").0;
        file(&folder, name, &text).1
    };
    let (fused, apart) = (trace("fused.json", &[]), trace("apart.json", &["--off", "fusion"]));
    let gate = |a: &str, b: &str, figures: &str| ran(&["diff", a, b, "--fail-on", figures], "");
    let (out, err, code) = gate(&fused, &apart, "launches,bytes");
    assert_eq!(code, 1);
    let says = |words: &str| {
        out.lines().any(|l| l.split_whitespace().collect::<Vec<_>>().join(" ").contains(words))
    };
    assert!(says("launches 1 2 +1") && says("the value is the same"), "{out}");
    assert!(err.contains("launches grew from 1 to 2") && err.contains("bytes grew"), "{err}");
    assert_eq!(gate(&apart, &fused, "launches,bytes").2, 0);
    assert_eq!(gate(&fused, &fused, "launches,bytes,flops,kept,nodes,evaluations").2, 0);
    assert_eq!(gate(&fused, &apart, "flops").2, 0);
    assert_eq!(ran(&["diff", &fused, &apart], "").2, 0);
    assert_eq!(ran(&["diff", "-e", "+/2×⍳9", "--off", "fusion", "--fail-on", "launches"], "").2, 1);
    assert_eq!(ran(&["diff", "-e", "+/2×⍳9", "-e", "+/⍳9", "--fail-on", "launches"], "").2, 0);
    let (_, no_trace) = file(&folder, "none.json", "{}");
    for args in [
        &["diff"][..],
        &["diff", &fused],
        &["diff", &fused, "nowhere.json"],
        &["diff", &fused, &no_trace],
    ] {
        let (_, err, code) = ran(args, "");
        assert!(code == 2 && !err.is_empty(), "{args:?}: {err}");
    }
    assert_eq!(gate(&fused, &apart, "colour").2, 2);
}

#[test]
fn what_is_not_built_says_so_and_files_can_be_kept_away() {
    for (args, says) in [
        (&["trace", "-e", "1", "--no-run", "--all"][..], "cannot be used with"),
        (&["trace", "-e", "1", "--arch", "sm_80"], "sm_90"),
        (
            &["trace", "-e", "1", "--passes=bas2007"],
            "no pipeline is called bas2007; there are all acl2006",
        ),
        (&["--files", "/nowhere", "eval", "1"], "/nowhere"),
    ] {
        let (_, err, code) = ran(args, "");
        assert!(code == 2 && err.contains(says), "{args:?}: {err}");
    }
    // What a guard needs runs, the last value does not.
    let (unrun, _, code) = ran(&["trace", "-e", "A←*-⍳300 ⋄ {0>⌊/⍵:0 ⋄ ÷⍵-⍵}A", "--no-run"], "");
    let unrun: serde_json::Value = serde_json::from_str(&unrun).expect("a trace");
    let measured =
        unrun["kernels"].as_array().map(|all| all.iter().filter(|k| !k["meas"].is_null()).count());
    assert!(code == 0 && measured == Some(1) && unrun["result"].is_null(), "{unrun}");
    assert_eq!(ran(&["--math", "strict", "--reduce", "repeatable", "eval", "1"], "").0, "1\n");
    assert!(
        ran(&["--math", "fast", "eval", "]math"], "")
            .0
            .starts_with("fast: on a GPU its own functions, ")
    );
    let (out, err, _) = ran(&[], "]math fast\n]device\n]math strict\n]math\n]math quick\n");
    assert!(
        out.contains("math    fast: ")
            && out.contains("strict: the CPU's bits")
            && err.contains("]math strict fast")
    );
    assert!(
        ran(&["trace", "-e", "+/2×⍳9", "--arch", "sm_90", "--passes"], "")
            .0
            .contains("embed-consumers")
    );
    let folder = tempfile::tempdir().unwrap();
    let (_, inside) = file(&folder, "in.txt", "text");
    let own = folder.path().join("own");
    fs::create_dir(&own).unwrap();
    let own = own.display().to_string();
    let read = |files: &str, line: &str| ran(&["--files", files, "eval", line], "");
    let line = format!("⍴⊃⎕NGET '{inside}'");
    assert_eq!(ran(&["eval", &line], "").2, 0);
    assert_eq!(read(&folder.path().display().to_string(), &line).2, 0);
    for (files, says) in [("none", "files are off"), (own.as_str(), "outside")] {
        let (_, err, code) = read(files, &line);
        assert!(code == 1 && err.starts_with("FILE ACCESS ERROR") && err.contains(says), "{err}");
    }
    std::os::unix::fs::symlink(&inside, format!("{own}/link")).unwrap();
    assert_eq!(read(&own, &format!("⍴⊃⎕NGET '{own}/link'")).2, 1);
    assert_eq!(read(&own, &format!("⍴⊃⎕NGET '{own}/../in.txt'")).2, 1);
    assert_eq!(read(&own, &format!("'new' ⎕NPUT '{own}/new.txt'")).2, 0);
    assert_eq!(read(&own, &format!("'new' ⎕NPUT '{own}/../new.txt'")).2, 1);
}

#[test]
fn dot_has_a_picture_of_each_kind() {
    for (flag, holds) in
        [("--lets", "let n"), ("--buffers", "written by k0"), ("--kernels", "k0 +/⍵")]
    {
        let out = ran(&["dot", "-e", "{⍵-+/⍵}2×⍳9", flag], "").0;
        assert!(out.starts_with("digraph") && out.contains(holds), "{flag}: {out}");
    }
    assert_eq!(ran(&["dot", "-e", "1", "--lets", "--buffers"], "").2, 2);
    assert!(
        ran(&["explain", "-e", "{⍵-+/⍵}2×⍳9", "--why", "launches"], "").0.starts_with("2 launches")
    );
    assert_eq!(ran(&["explain", "-e", "+/2×⍳9", "--why", "k7"], "").2, 1);
    // BAS-14: the paper's worked results, by the commands as they stand in its row.
    let words = |line: &str| {
        let out = ran(&["explain", "-e", line], "").0;
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mv = words("A←?24 32⍴0 ⋄ v←?32⍴0 ⋄ A+.×v");
    assert!(
        mv.contains("threads along i, step by step along j: neighbours of A are met by no"),
        "{mv}"
    );
    assert!(mv.contains("would want a copy"), "{mv}");
    let tmv = words("A←?24 32⍴0 ⋄ w←?24⍴0 ⋄ (⍉A)+.×w");
    assert!(tmv.contains("threads along i, step by step along j meet neighbours of A"), "{tmv}");
}

#[test]
fn pipelines_rules_and_limits_are_flags() {
    let explained = |flags: &[&str], line: &str| {
        let args: Vec<&str> =
            ["explain"].iter().chain(flags).chain(&["-e", line]).copied().collect();
        let (out, err, code) = ran(&args, "");
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // ACC-13.
    assert!(explained(&[], "x←⍳5 ⋄ x ⋄ 1+⌽x").contains("Step(p=4-i, f=1+x) → Transform"));
    let two = explained(&["--passes", "acl2006"], "+/2×1+⍳9");
    assert!(
        two.starts_with("2 launches") && explained(&[], "+/2×1+⍳9").starts_with("1 launch "),
        "{two}"
    );
    let strict = explained(&["--strict-2006"], "x←⍳9 ⋄ x ⋄ 1(⌽⍠7)x+x");
    assert!(strict.contains("7 is no identity of +"), "{strict}");
    let cut = explained(&["--limit", "inputs=2"], "a←⍳9 ⋄ b←⌽a ⋄ c←1+a ⋄ a b c ⋄ a+b+c");
    assert!(cut.contains("would read 3 arrays, and 2 is the limit"), "{cut}");
    assert!(
        explained(&["--passes=acc2013", "--dup=cost"], "{(+/⌽⍵)+⌈/2×⍵}1+⍳9").contains("launch")
    );
    let json = ran(&["trace", "--passes", "bar2010", "-e", "+/⍳9"], "").0;
    assert!(json.contains("\"preset\": \"bar2010\""), "{json}");
    assert_eq!(ran(&["--dup", "never", "eval", "1"], "").2, 2);
    assert_eq!(ran(&["--limit", "inputs=1", "eval", "1"], "").2, 2);
    let (list, _, _) = ran(&["--off", "list"], "");
    assert!(
        list.lines().count() >= 12 && list.lines().all(|l| l.split_whitespace().count() >= 3),
        "{list}"
    );
}

/// BAS-02, BAS-03, BAS-04, BAS-20: without a GPU the model alone, and why; as tables, JSON and a
/// picture.
#[test]
fn bas_02_bas_03_bas_04_bas_20_microbench_tells_the_model_where_there_is_no_gpu() {
    let folder = tempfile::tempdir().unwrap();
    let svg = folder.path().join("strides.svg").display().to_string();
    let (out, err, code) = ran(&["microbench", "-o", &svg], "");
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("the model alone: "), "{out}");
    assert!(out.contains("turns ÷ stretches") && out.contains("a warp's read takes"), "{out}");
    assert!(out.contains(" × n ns"), "the cost of a read by the threads that meet: {out}");
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
    let picture = fs::read_to_string(&svg).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("GB/s"), "{picture}");
    let (json, _, _) = ran(&["microbench", "--json"], "");
    let told: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(told["device"].is_null() && told["why"].is_string(), "{json}");
    let rows = |kind: &str| told[kind].as_array().unwrap().clone();
    assert_eq!((rows("layout").len(), rows("stride").len(), rows("banks").len()), (10, 35, 33));
    let ns = |stride: usize| rows("banks")[stride]["model"]["ns"].as_f64().unwrap();
    assert_eq!((ns(0), ns(3), ns(8) / ns(1), ns(32) / ns(1)), (ns(1), ns(1), 8.0, 32.0));
    assert!(rows("stride").iter().all(|r| r["measured"].is_null() && r["error"].is_null()));
}

/// Choices that a trace calls dearer are so by two whole plans.
#[test]
fn a_trace_has_the_plans_of_other_ways() {
    let (out, err, code) = ran(&["trace", "-e", "x←*÷⍳3000 ⋄ (+/x)÷⌈/⌽x×x"], "");
    assert_eq!(code, 0, "{err}");
    let trace: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let all = trace["decisions"].as_array().expect("decisions");
    let dearer: Vec<_> = all.iter().filter(|d| d["alt"][0]["why_not"] == "dearer").collect();
    assert!(!dearer.is_empty(), "{out}");
    for d in dearer {
        let us = |at: &serde_json::Value| at["plan"]["us"].as_f64().expect("a whole plan");
        assert!(us(&d["alt"][0]) >= us(d), "{d}");
    }
}

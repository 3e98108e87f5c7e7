//! The manners of programs as processes, one plain sentence each for what was wrong: pipes,
//! options, files, memory, interrupts.
#![cfg(unix)]

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const APLOMB: &str = env!("CARGO_BIN_EXE_aplomb");

/// A shell's command line in a folder of its own, `aplomb` being this build; what waits for ever is
/// ended.
fn sh(folder: &Path, line: &str) -> Output {
    let line = line.replace("aplomb", APLOMB);
    let limited = format!("exec timeout -k 1 30 sh -c '{}'", line.replace('\'', "'\\''"));
    Command::new("sh")
        .arg("-c")
        .arg(limited)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("a shell")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// Standard output, standard error, exit code of an expression.
fn eval(options: &[&str], expr: &str) -> (String, String, i32) {
    let out = Command::new(APLOMB)
        .args(options)
        .args(["eval", expr])
        .stdin(Stdio::null())
        .output()
        .expect("aplomb");
    (text(&out.stdout), text(&out.stderr), out.status.code().unwrap_or(-1))
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file");
    path
}

/// Lines were folded at 80 columns in pipes and files too, so JSON and CSV came out broken.
#[test]
fn what_goes_into_a_pipe_is_not_folded() {
    let here = folder();
    file(
        &here,
        "r.apl",
        "⎕←1⎕JSON ⍳20000\n⍞←(2 40⍴1E9+⍳80)⎕CSV ''\n⎕←''\nf←{⎕←⍵ ⋄ 0}\n_←f ⍳60\n⍳40\n",
    );
    let out = sh(here.path(), "aplomb r.apl | cat");
    let lines: Vec<String> = text(&out.stdout).lines().map(String::from).collect();
    assert_eq!(lines.len(), 5);
    let json: Vec<f64> = serde_json::from_str(&lines[0]).expect("JSON");
    assert!(json.len() == 20_000 && lines[0].len() > 32_767);
    assert!(lines[1..3].iter().all(|l| l.split(',').count() == 40));
    assert!(lines[3].ends_with(" 60") && lines[4].ends_with(" 40"));
    // Who names a width gets it.
    assert_eq!(eval(&[], "⎕PW←60 ⋄ ⍳40").0.lines().count(), 2);
    assert_eq!(
        sh(here.path(), "printf ']rows off\\n⍳40\\n' | aplomb")
            .stdout
            .iter()
            .filter(|b| **b == b'\n')
            .count(),
        // The line that says what was set, and two.
        3
    );
}

/// `⎕NPY` replaced any file without a word, where ⎕NPUT and ⎕CSV ask.
#[test]
fn an_array_replaces_no_file_unasked() {
    let here = folder();
    let path = here.path().join("a.npy").display().to_string();
    assert_eq!(eval(&[], &format!("(⍳3)⎕NPY'{path}'")).2, 0);
    let (_, err, code) = eval(&[], &format!("(⍳4)⎕NPY'{path}'"));
    assert!(
        code == 1 && err.contains("FILE NAME ERROR") && err.contains("X⎕NPY path 1 replaces it"),
        "{err}"
    );
    assert_eq!(eval(&[], &format!("⎕NPY'{path}'")).0, "1 2 3\n");
    assert_eq!(eval(&[], &format!("(⍳4)⎕NPY'{path}' 1 ⋄ ⎕NPY'{path}'")).0, "1 2 3 4\n");
    assert!(eval(&[], &format!("(⍳4)⎕NPY'{path}' 2")).1.contains("⎕NPY takes a path, and 0 or 1"));
}

/// The prompt of ⎕ went into standard output, where a program reads values.
#[test]
fn a_question_that_nobody_sees_prints_no_prompt() {
    let out = sh(Path::new("/"), "echo 1 2 3 | aplomb eval '+/⎕'");
    assert_eq!((text(&out.stdout).as_str(), text(&out.stderr).as_str()), ("6\n", ""));
}

/// `report.apl --help` printed Aplomb's help, and other options were refused.
#[test]
fn options_behind_a_script_are_its_own() {
    let here = folder();
    let path = file(&here, "r.apl", &format!("#!{APLOMB}\n,⍉⍪⎕ARG\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    for (line, words) in [
        ("./r.apl --help -e x", " --help  -e  x \n"),
        ("aplomb r.apl --threads 2 -- a", " --threads  2  --  a \n"),
        ("aplomb --threads 2 r.apl --format csv", " --format  csv \n"),
        ("aplomb run r.apl -- --version", " --version \n"),
    ] {
        let out = sh(here.path(), line);
        assert_eq!((text(&out.stdout).as_str(), text(&out.stderr).as_str()), (words, ""), "{line}");
    }
}

/// A program's own output stood in one stream with its trace, so that was no JSON.
#[test]
fn a_document_has_standard_output_to_itself() {
    let here = folder();
    file(&here, "p.apl", "⎕←'hello'\n+/2×⍳2000\n]why\n");
    let out = sh(here.path(), "aplomb trace p.apl --json");
    let trace: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON alone");
    assert_eq!(trace["statement"], "+/2×⍳2000");
    assert!(text(&out.stderr).contains("hello"));
    for (what, begins) in [("cuda", "extern"), ("dot", "digraph"), ("explain", "1 launch")] {
        let out = sh(here.path(), &format!("aplomb {what} p.apl"));
        assert!(text(&out.stdout).starts_with(begins), "{what}: {}", text(&out.stdout));
    }
}

/// `--help` promised `--watch`, which was not built.
#[test]
fn a_watched_program_runs_again_when_it_is_saved() {
    let here = folder();
    let path = file(&here, "w.apl", "'first'\n");
    let mut child = Command::new(APLOMB)
        .arg("--watch")
        .arg(&path)
        .arg("--watch")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("aplomb");
    let mut out = std::io::BufReader::new(child.stdout.take().expect("its output"));
    let mut line = || {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut out, &mut line).expect("a line");
        line
    };
    assert_eq!(line(), "first\n");
    fs::write(&path, "'second',⍕⎕ARG\n").expect("saved");
    assert_eq!(line(), "second --watch \n");
    child.kill().expect("ended");
    let _ = child.wait();
    for word in ["not built", "not yet"] {
        assert!(
            !text(&sh(here.path(), "aplomb --help; aplomb trace --help").stdout).contains(word)
        );
    }
}

/// The demonstration opened on a statement that the program itself runs without fusion, under the
/// words `pipeline all`.
#[test]
fn a_program_that_switches_is_told_as_it_was_asked_for() {
    let here = folder();
    file(&here, "s.apl", "x←0.5×⍳100000\n(+/x)(⌈/x)\n]off fusion\n(+/x)(⌈/x)\n]on fusion\n");
    let launches = |options: &str| {
        let out = sh(here.path(), &format!("aplomb {options} trace s.apl"));
        let trace: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        trace["kernels"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(launches(""), 1);
    assert!(launches("--off fusion") > 1);
}

/// A request for memory that the machine refused, or that nobody had counted, ended the process.
#[test]
fn memory_that_is_not_there_is_an_error() {
    let lines = [
        "≢?1E9⍴0",
        "≢2E8⊂1 2",
        "+/5E8+/⍳6E8",
        "≢⍕1E8⍴0.5",
        "≢⎕UCS 5E8⍴65",
        "≢⍎1E8⍴⎕A",
        "≢''a''⎕R''bb''⊢3E8⍴''a''",
        "≢''.*''⎕R(1E5⍴''&'')⊢1E5⍴''a''",
        "≢{⊂⍵}⌸⍳1E8",
        "≢⎕A⍋4E8⍴⎕A",
        "≢1 ⎕DT 1E8⍴40000",
        "≢⍸⍣¯1⊢3E8⍴1",
        "+/(-@(⍳1E8))⍳2E8",
    ];
    for line in lines {
        let line = line.replace("''", "'\"'\"'");
        let out = sh(Path::new("/"), &format!("ulimit -v 3000000; aplomb eval '{line}'"));
        assert!(
            text(&out.stderr).starts_with("WS FULL"),
            "{line}: {:?} {}",
            out.status,
            text(&out.stderr)
        );
    }
    for (bytes, line) in [
        (2e9, "1E9/1"),
        (1e9, "1E9+/⍳1E9"),
        (4e8, "1E9⊂1 2"),
        (4e8, "⍳610 100 1000"),
        (4e8, "⍸1E9 1"),
        (4e8, "u←?1E8⍴0"),
        (1e9, "(1E4 0⍴0)+.×0 1E4⍴0"),
        (5e8, "⎕CSV '/dev/zero'"),
    ] {
        let (_, err, code) = eval(&["--limit", &format!("bytes={bytes}")], line);
        assert!(code == 1 && err.starts_with("WS FULL"), "{line}: {err}");
    }
    for line in ["+/(0 1E15)⍴1", "⌈/(0 0 1E15)⍴1", "+⌿(1E15 0)⍴1"] {
        assert_eq!(eval(&[], &format!("×/⍴{line}")).2, 0, "{line}");
    }
}

/// A thousand pending numbers were a thousand cells, nodes and bodies of a launch: 2.5 GB for
/// these. And what grows by catenations was written twice at each sixteenth.
#[test]
fn what_piles_up_costs_what_its_values_cost() {
    for (line, value) in
        [("+/{⍺+⍵}\\\\(⍳2048)⌷¨⊂0.5×⍳2048", "716876800\n"), ("⍴⊃{⍺,⍵}/2000⍴⊂⍳2000", "4000000\n")]
    {
        let out = sh(Path::new("/"), &format!("ulimit -v 800000; aplomb eval \"{line}\""));
        assert_eq!(text(&out.stdout), value, "{line}: {}", text(&out.stderr));
    }
}

/// `)off` left without a look at what was written before it, where ⎕OFF and the end of a program
/// look.
#[test]
fn whatever_ends_a_program_tells_what_failed_in_it() {
    let here = folder();
    for (last, leaves) in [("", 1), (")off", 1), (")off 3", 1), ("⎕OFF", 1), ("⎕OFF 3", 1)] {
        let path =
            file(&here, "o.apl", &format!("y←2000⍴0\nz←1÷y\n{last}\n")).display().to_string();
        let out = sh(here.path(), &format!("aplomb {path}"));
        assert_eq!(out.status.code(), Some(leaves), "{last}");
        assert!(
            text(&out.stderr).starts_with("DOMAIN ERROR: division by zero"),
            "{last}: {}",
            text(&out.stderr)
        );
    }
    file(&here, "o.apl", "y←2000⍴1\nz←1÷y\n)off 3\n'not seen'\n");
    let out = sh(here.path(), "aplomb o.apl");
    assert_eq!((out.status.code(), text(&out.stdout).as_str()), (Some(3), ""));
}

/// A file that outgrows what the shell permits was left half-written beside the old one.
#[test]
fn a_file_that_outgrows_its_limit_leaves_the_old_one_and_nothing_else() {
    let here = folder();
    file(&here, "old", "old");
    for line in ["(3E5⍴\"x\")⎕NPUT\"old\" 1", "(⍳1E5)⎕NPY\"old\" 1", "(3E5⍴\"x\")⎕NPUT\"old\" 2"]
    {
        let line = line.replace('"', "'\"'\"'");
        let out = sh(here.path(), &format!("ulimit -f 16; aplomb eval '{line}'"));
        assert!(
            text(&out.stderr).starts_with("FILE ACCESS ERROR"),
            "{line}: {:?} {}",
            out.status,
            text(&out.stderr)
        );
        assert_eq!(fs::read(here.path().join("old")).expect("the old file"), b"old", "{line}");
        assert_eq!(fs::read_dir(here.path()).expect("a folder").count(), 1, "{line}");
    }
}

/// A file that replaces another takes its mode, and its owner where the system lets it.
#[test]
fn a_replaced_file_keeps_its_mode_and_owner() {
    let here = folder();
    let path = file(&here, "old", "old");
    // Only root may give files away.
    let given = std::os::unix::fs::chown(&path, Some(12_345), Some(54_321)).is_ok();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
    for line in ["'new'⎕NPUT'old' 1", "(⍳3)⎕NPY'old' 1", "(2 2⍴⍳4)(⎕CSV⍠'IfExists' 'Replace')'old'"]
    {
        let out = Command::new(APLOMB)
            .args(["eval", line])
            .current_dir(here.path())
            .output()
            .expect("aplomb");
        assert!(out.status.success(), "{line}: {}", text(&out.stderr));
        let now = fs::metadata(&path).expect("a file");
        assert_eq!(now.mode() & 0o777, 0o640, "{line}");
        assert!(
            !given || (now.uid(), now.gid()) == (12_345, 54_321),
            "{line}: {} {}",
            now.uid(),
            now.gid()
        );
    }
}

/// Host functions on nested arrays, text and numbers ran to their end, whatever was typed. Each
/// line takes five times the limit and more by itself, so that a quicker loop or machine still
/// meets it.
#[test]
fn work_of_the_host_is_interrupted() {
    for line in [
        "≢⍕3000 3000⍴÷⍳9E6",
        "≢(32⍴2)⊤⍳1E7",
        "x←5E7⍴1 0 0 ⋄ ≢x⊂x",
        "≢12 4⍕÷⍳9E6",
        "≢1⎕JSON ⍳1E7",
        "≢1+3E6⍴⊂1 (2 3)",
        "≢∊9E6⍴⊂⍳3",
        "≢∪2E7⍴⍳1E7",
        "≢(⍳3000)∘.⌽⍳3000",
        "≢⊂¨⍳2000 2000",
        "z←∘.∧⍨⍳9000 ⋄ ≢z",
        "≢1 2∘.+9E6⍴⊂⍳3",
        ":While 1 ⋄ :Trap 0 ⋄ x←1 ⋄ :EndTrap ⋄ :EndWhile",
        ":For i :In ⍳90000000 ⋄ :Trap 0 ⋄ x←1 ⋄ :EndTrap ⋄ :EndFor",
    ] {
        let begun = Instant::now();
        let (_, err, code) = eval(&["--limit", "seconds=0.02"], line);
        let took = begun.elapsed();
        let told = err.matches("this took longer than 0.02 s").count();
        assert!(code == 1 && told == 1, "{line}: {err}");
        assert!(took < Duration::from_secs(3), "{line}: {took:?}");
    }
    let (_, err, _) = eval(&[], "≢⍎1.8E7⍴'1 '");
    assert!(
        err.len() < 1_000 && err.contains("a statement has at most 100000 tokens"),
        "{}",
        err.len()
    );
}

/// Every statement left some 700 bytes for ever.
#[test]
fn statements_leave_nothing_behind() {
    let mut child = Command::new(APLOMB)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("aplomb");
    let statm = format!("/proc/{}/statm", child.id());
    let mut typed = child.stdin.take().expect("its input");
    let mut out = std::io::BufReader::new(child.stdout.take().expect("its output"));
    let mut resident = |lines: usize| -> Option<u64> {
        for _ in 0..lines / 1_000 {
            typed.write_all("x←⍳5\ny←⍎'1+1'\n".repeat(500).as_bytes()).ok()?;
        }
        typed.write_all("'done'\n".as_bytes()).ok()?;
        std::io::BufRead::read_line(&mut out, &mut String::new()).ok()?;
        fs::read_to_string(&statm).ok()?.split(' ').nth(1)?.parse().ok()
    };
    let both = (resident(10_000), resident(30_000));
    drop(typed);
    assert_eq!(child.wait().expect("an end").code(), Some(0));
    // Only some systems say.
    if let (Some(before), Some(after)) = both {
        assert!(after * 100 <= before * 105, "{before} pages, then {after}");
    }
}

/// A script with a bracket that nobody closes was read again for each of its lines.
#[test]
fn an_open_bracket_costs_no_more_than_its_lines() {
    let begun = Instant::now();
    let mut child = Command::new(APLOMB)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("aplomb");
    let mut typed = child.stdin.take().expect("its input");
    typed.write_all(format!("(\n{}", "x←1 2 3\n".repeat(40_000)).as_bytes()).expect("read");
    drop(typed);
    assert_eq!(child.wait().expect("an end").code(), Some(1));
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

/// A file that nobody may write was replaced, and what was added to went into another file of that
/// name.
#[test]
fn files_keep_their_mode_and_their_place() {
    let here = folder();
    let path = file(&here, "log.txt", "one\n");
    let name = path.display().to_string();
    fs::hard_link(&path, here.path().join("same.txt")).expect("a second name");
    let place = fs::metadata(&path).expect("a file").ino();
    assert_eq!(eval(&[], &format!("'two'⎕NPUT'{name}' 2")).2, 0);
    assert_eq!(fs::metadata(&path).expect("a file").ino(), place);
    assert_eq!(fs::read_to_string(here.path().join("same.txt")).expect("text"), "one\ntwo\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("a mode");
    for line in [
        format!("'x'⎕NPUT'{name}' 1"),
        format!("'x'⎕NPUT'{name}' 2"),
        format!("(⍳3)⎕NPY'{name}' 1"),
    ] {
        let (_, err, code) = eval(&[], &line);
        assert!(
            code == 1 && err.contains("FILE ACCESS ERROR") && err.contains("may be read only"),
            "{line}: {err}"
        );
    }
    assert_eq!(fs::read_to_string(&path).expect("text"), "one\ntwo\n");
    assert_eq!(fs::read_dir(here.path()).expect("a folder").count(), 2);
}

/// A program that printed into a pipe which nobody read heard neither its limit nor an interrupt.
#[test]
fn who_prints_to_nobody_can_be_stopped() {
    let here = folder();
    let run = "aplomb --limit seconds=0.8 eval \"⎕←400000⍴'a'\" 2>err; echo $? >code";
    let line = format!("({run}) | sleep 3; cat code err");
    let out = sh(here.path(), &line);
    let told = text(&out.stdout);
    assert!(told.starts_with("1\n") && told.contains("nobody read it"), "{told}");
}

/// Adding to a pipe read it first, and reading one could not be stopped.
#[test]
fn pipes_and_devices_are_no_traps() {
    let here = folder();
    let out = sh(here.path(), "aplomb eval \"⊢'x'⎕NPUT'/dev/stderr' 2\" 2>&1 | cat");
    assert_eq!(text(&out.stdout), "x\n2\n");
    let out = sh(here.path(), "aplomb eval \"'x'⎕NPUT'/dev/stdout' 2\" | cat");
    assert_eq!(text(&out.stdout), "x\n");
    let out = sh(here.path(), "mkfifo ff; aplomb --limit seconds=0.3 eval \"⎕NGET'ff'\"");
    assert!(text(&out.stderr).contains("this took longer than 0.3 s"), "{}", text(&out.stderr));
    let out = sh(
        here.path(),
        "(sleep 0.2; printf 'a\\nb\\n'; sleep 0.1; printf c) >ff & aplomb eval \"⊃⎕NGET'ff' 1\"",
    );
    assert_eq!(text(&out.stdout), " a  b  c \n");
}

/// `kernel install` took options and forgot them, so the limits that were asked for were not there.
#[test]
fn the_kernel_is_installed_with_its_options() {
    let here = folder();
    let line = "aplomb kernel install --prefix . --threads 1 --device cpu --off fusion,cse --files \
                none --limit seconds=5";
    assert!(sh(here.path(), line).status.success());
    let spec =
        fs::read(here.path().join("share/jupyter/kernels/aplomb/kernel.json")).expect("a spec");
    let spec: serde_json::Value = serde_json::from_slice(&spec).expect("JSON");
    let argv: Vec<&str> =
        spec["argv"].as_array().expect("words").iter().filter_map(|w| w.as_str()).collect();
    let said = argv.join(" ");
    for option in
        ["--threads 1", "--device cpu", "--off fusion,cse", "--files none", "--limit seconds=5"]
    {
        assert!(said.contains(option), "{said}");
    }
    assert!(said.contains("kernel start -f {connection_file}"), "{said}");
}

/// A reader of everything, so that no test waits for a full pipe.
#[test]
fn values_of_any_size_pass_a_pipe() {
    let mut child = Command::new(APLOMB)
        .args(["eval", "⍳200000"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("aplomb");
    let mut all = String::new();
    child.stdout.take().expect("its output").read_to_string(&mut all).expect("text");
    assert!(
        child.wait().expect("an end").success()
            && all.lines().count() == 1
            && all.ends_with(" 200000\n")
    );
}

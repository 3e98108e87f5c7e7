//! Faults of a GPU, which cost time and never a value: each driver call failing in turn, lost
//! devices, short memory, missing libraries, a damaged or unwritable cache, two programs at once.
//! On the stand-in for CUDA's libraries.

use crate::{standin, support};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Names, maps, folds, a scan, a selection, a result that does not fit, a failure, and a name again
/// at the end.
const SCRIPT: &str = "]trace on
X←0.5×⍳3000
Y←X*2
+/X×Y
Z←1+⌽X-Y
5↑Z
⌈/Z÷X
≢∪Z
X[7]←0.5
I←2*20+⍳11
+/I×I
5↑+\\X
≢(X>100)/Y
+⌿50 60⍴Z
÷X-X
+/X
";

/// Plans that run again and again: as graphs, with other inputs, beside others. Names are looked at
/// first, or the second line would store them.
const AGAIN: &str = "X←⍋3000|7×⍳3000
P←1+3000|7×⍳3000
≢⍕X
≢⍕P
5↑2×X[⍋X×X-9]
5↑2×X[⍋X×X-9]
5↑2×X[⍋X×X-9]
5↑2×X[⍋X×X-9]
X←⍒3000|11×⍳3000
≢⍕X
5↑2×X[⍋X×X-9]
5↑2×X[⍋X×X-9]
5↑{x←⍵ ⋄ x[P]+←2×X ⋄ x}X
5↑{x←⍵ ⋄ x[P]+←2×X ⋄ x}X
5↑2×X[⍋X×X-9]
5↑{x←⍵ ⋄ x[P]+←2×X ⋄ x}X
÷X-X
";

fn run(mut command: Command, device: &str, script: &str) -> Output {
    command
        .args(["--device", device])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("aplomb");
    child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("written");
    child.wait_with_output().expect("an end")
}

fn aplomb() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_aplomb"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The lines of a script's notices; errors of the script stand beside them.
fn notices(out: &Output) -> Vec<String> {
    text(&out.stderr).lines().filter(|l| l.starts_with("aplomb: ")).map(String::from).collect()
}

/// The script's output without a GPU.
fn wanted(script: &str) -> String {
    text(&run(Command::new(aplomb()), "cpu", script).stdout)
}

/// The script on the stand-in with this in its environment.
fn with(cache: &Path, script: &str, switches: &[(&str, &str)]) -> Option<Output> {
    let mut command = standin::on_standin(aplomb(), cache)?;
    command.envs(switches.iter().copied());
    Some(run(command, "cuda", script))
}

/// Runs with the switch for 1, 2, … until so many runs in a row had nothing to say. How many runs
/// had.
fn each((script, one_in): (&str, usize), switch: &str, code: &str, quiet: usize) -> usize {
    let (cache, wanted) = (standin::folder(), wanted(script));
    let Some(first) = with(cache.path(), script, &[]) else { return usize::MAX };
    assert_eq!(text(&first.stdout), wanted);
    assert!(notices(&first).is_empty(), "{:?}", notices(&first));
    let (mut told, mut since) = (0, 0);
    let step = support::one_in(one_in);
    for n in (1..).step_by(step) {
        let value = format!("{n}{code}");
        let out = with(cache.path(), script, &[(switch, &value)]).expect("the stand-in");
        let said = notices(&out);
        assert_eq!(text(&out.stdout), wanted, "{switch}={value}: {said:?}");
        // A DOMAIN ERROR of the script ends it with 1, nothing else does.
        assert_eq!(out.status.code(), Some(1), "{switch}={value}: {}", text(&out.stderr));
        assert!(said.len() <= 3, "{switch}={value}: {said:?}");
        since = if said.is_empty() { since + 1 } else { 0 };
        told += usize::from(!said.is_empty());
        if since * step >= quiet {
            break;
        }
        assert!(n < 3000, "{switch} never comes to an end");
    }
    println!("{switch}{code}: {told} runs had something to say");
    told
}

/// The script's output is the same with each of these values of a switch.
fn give_the_same(script: &str, switch: &str, values: impl IntoIterator<Item = u32>) {
    let (cache, wanted) = (standin::folder(), wanted(script));
    for n in values {
        let Some(out) = with(cache.path(), script, &[(switch, &n.to_string())]) else { return };
        assert_eq!(text(&out.stdout), wanted, "{switch}={n}: {}", text(&out.stderr));
    }
}

#[test]
fn every_driver_call_may_be_refused() {
    assert!(each((SCRIPT, 5), "CUSIM_FAIL_CALL", ":1", 25) > 20);
}

/// A value that is on the device, looked at there, then on the host, and what it was made of
/// changed before.
const LOOKED_AT: &str = "V←7|⍳3000
⌈/W←0.5×V
V[3]←99
⌈/V
⌈/X←W+V
≢∪W
≢∪X
÷0×⌈/X
";

#[test]
fn a_value_that_does_not_come_home_is_computed_again() {
    assert!(each((LOOKED_AT, 1), "CUSIM_FAIL_CALL", ":1", 10) > 10);
    assert!(each((LOOKED_AT, 1), "CUSIM_LOST_AT", "", 5) > 10);
    let cache = standin::folder();
    let say = |n: u32| {
        let out = with(cache.path(), LOOKED_AT, &[("CUSIM_FAIL_CALL", &format!("{n}:1"))])?;
        notices(&out)
            .into_iter()
            .find(|n| n.contains("did not give a value back, the CPU computed it again"))
    };
    assert!(standin::libraries().is_none() || (1..200).any(|n| say(n).is_some()));
}

#[test]
fn every_allocation_may_fail() {
    // The device's memory is tried again after everything that waits was given back: mostly nobody
    // hears of it.
    give_the_same(SCRIPT, "CUSIM_FAIL_ALLOC", 1..30);
}

#[test]
fn the_device_may_be_lost_at_every_call() {
    assert!(each((SCRIPT, 5), "CUSIM_LOST_AT", "", 5) > 20);
}

#[test]
fn graphs_may_fail_at_every_call() {
    let cache = standin::folder();
    let Some(out) = with(cache.path(), &format!("{AGAIN}]device\n"), &[]) else { return };
    let shown = text(&out.stdout);
    assert!(shown.contains(" kept, 6 runs"), "{shown}");
    // A graph that cannot be built is no news: plain launches follow.
    assert!(each((AGAIN, 17), "CUSIM_FAIL_CALL", ":1", 150) > 10);
    assert!(each((AGAIN, 17), "CUSIM_LOST_AT", "", 5) > 20);
}

#[test]
fn graphs_give_way_when_memory_is_short() {
    give_the_same(AGAIN, "CUSIM_FAIL_ALLOC", 1..60);
    give_the_same(AGAIN, "CUSIM_MEMORY", [200_000, 300_000, 500_000, 1_000_000, 3_000_000]);
}

#[test]
fn a_lost_device_is_told_once_and_can_be_asked_for_again() {
    let script = format!("{SCRIPT}]device cuda\n+/Y\n+/X\n");
    let (cache, wanted) = (standin::folder(), wanted(&format!("{SCRIPT}+/Y\n+/X\n")));
    let Some(out) = with(cache.path(), &script, &[("CUSIM_LOST_AT", "60")]) else { return };
    let said = notices(&out);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("the GPU is lost (CUDA_ERROR_LAUNCH_FAILED)"), "{said:?}");
    let shown = text(&out.stdout);
    assert!(shown.contains("chosen") && shown.contains("cusim"), "{shown}");
    let rest: Vec<&str> = shown.lines().rev().take(2).collect();
    assert_eq!(rest, wanted.lines().rev().take(2).collect::<Vec<_>>());
}

#[test]
fn more_data_than_the_device_holds_is_computed() {
    // Ten arrays of 800 kB on a device of 3 MB.
    let script: String = (0..10).map(|k| format!("A{k}←0.5×{k}+⍳100000\n+/A{k}\n")).collect();
    let script = format!("{script}+/A0×A9\n+/A1+A2+A3+A4+A5+A6+A7+A8\n+/⌽A5\n");
    let cache = standin::folder();
    let Some(out) = with(cache.path(), &script, &[("CUSIM_MEMORY", "3000000")]) else { return };
    assert_eq!(text(&out.stdout), wanted(&script), "{}", text(&out.stderr));
}

#[test]
fn what_is_missing_is_one_sentence_and_the_cpus_result() {
    let wanted = wanted(SCRIPT);
    let cache = standin::folder();
    let bare = Command::new(aplomb());
    let mut half = Command::new(aplomb());
    let Some(libraries) = standin::libraries() else { return };
    let only = standin::folder();
    std::fs::copy(libraries.join("libcuda.so.1"), only.path().join("libcuda.so.1"))
        .expect("a copy");
    half.env("LD_LIBRARY_PATH", only.path());
    let standin = |switches: &[(&str, &str)]| {
        let mut command = standin::on_standin(aplomb(), cache.path()).expect("the stand-in");
        command.envs(switches.iter().copied());
        command
    };
    let cases = [
        (bare, "there is no CUDA driver: libcuda.so.1 was not found"),
        (half, "there is no NVRTC"),
        (standin(&[("CUSIM_NO_DEVICE", "1")]), "finds no device"),
        (standin(&[("CUSIM_DRIVER", "11040")]), "too old: it knows CUDA 11.4"),
        (standin(&[("CUSIM_DRIVER", "12080")]), "libnvrtc is of CUDA 13.0, the driver knows 12.8"),
    ];
    for (command, sentence) in cases {
        let out = run(command, "cuda", SCRIPT);
        let said = notices(&out);
        assert_eq!(text(&out.stdout), wanted, "{sentence}");
        assert!(said.len() == 1 && said[0].contains(sentence), "{sentence}: {said:?}");
    }
    // Nobody asked for a GPU: nobody hears that there is none.
    let quiet = run(Command::new(aplomb()), "auto", SCRIPT);
    assert_eq!((text(&quiet.stdout), notices(&quiet)), (wanted, vec![]));
}

#[test]
fn a_text_that_does_not_compile_runs_on_the_cpu() {
    let wanted = wanted(SCRIPT);
    for k in ["1", "3"] {
        let cache = standin::folder();
        let Some(out) = with(cache.path(), SCRIPT, &[("CUSIM_FAIL_COMPILE", k)]) else { return };
        let said = notices(&out);
        assert_eq!(text(&out.stdout), wanted);
        assert!(
            said.len() == 1 && said[0].contains("the CPU computed it: NVRTC_ERROR"),
            "{said:?}"
        );
    }
}

#[test]
fn a_driver_that_lacks_newer_functions_will_do() {
    let cache = standin::folder();
    let Some(libraries) = standin::libraries() else { return };
    let mut old = Command::new(aplomb());
    old.env("LD_LIBRARY_PATH", libraries.join("old")).env("XDG_CACHE_HOME", cache.path());
    let out = run(old, "cuda", SCRIPT);
    assert_eq!((text(&out.stdout), notices(&out)), (wanted(SCRIPT), vec![]));
}

#[test]
fn a_damaged_cache_is_compiled_again() {
    let (cache, wanted) = (standin::folder(), wanted(SCRIPT));
    let Some(first) = with(cache.path(), SCRIPT, &[]) else { return };
    assert_eq!(text(&first.stdout), wanted);
    let folder = cache.path().join("aplomb/cuda");
    let files = || {
        std::fs::read_dir(&folder).expect("a cache").flatten().map(|e| e.path()).collect::<Vec<_>>()
    };
    assert!(files().len() >= 5);
    for (k, file) in files().iter().enumerate() {
        let mut bytes = std::fs::read(file).expect("an entry");
        let at = bytes.len() * (k + 1) / (files().len() + 2);
        if k % 2 == 0 {
            bytes[at] ^= 1
        } else {
            bytes.truncate(at)
        }
        std::fs::write(file, bytes).expect("damaged");
    }
    let script = format!("{SCRIPT}]device\n");
    let out = with(cache.path(), &script, &[]).expect("the stand-in");
    let shown = text(&out.stdout);
    assert!(shown.starts_with(&wanted) && shown.contains("0 from the disk"), "{shown}");
    assert!(notices(&out).is_empty(), "{:?}", notices(&out));
    // And was put right by it.
    let again = text(&with(cache.path(), &script, &[]).expect("the stand-in").stdout);
    assert!(again.contains("0 compiled"), "{again}");
}

#[test]
fn a_cache_that_cannot_be_written_is_told_once() {
    let (cache, wanted) = (standin::folder(), wanted(SCRIPT));
    std::fs::write(cache.path().join("aplomb"), "a file in the way").expect("a file");
    let Some(out) = with(cache.path(), SCRIPT, &[]) else { return };
    let said = notices(&out);
    assert_eq!(text(&out.stdout), wanted);
    assert!(said.len() == 1 && said[0].contains("compiled kernels are not kept"), "{said:?}");
}

#[test]
fn two_programs_at_once_share_a_cache() {
    let (cache, wanted) = (standin::folder(), wanted(SCRIPT));
    if standin::libraries().is_none() {
        return;
    }
    let outs = std::thread::scope(|s| {
        let runs: Vec<_> = (0..3).map(|_| s.spawn(|| with(cache.path(), SCRIPT, &[]))).collect();
        runs.into_iter()
            .map(|r| r.join().expect("a run").expect("the stand-in"))
            .collect::<Vec<_>>()
    });
    for out in outs {
        assert_eq!((text(&out.stdout), notices(&out)), (wanted.clone(), vec![]));
    }
}

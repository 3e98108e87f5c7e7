//! `]tune`: every text of a launch runs and gives the same bits, the fastest is kept and used, and
//! whatever goes wrong leaves launches as they are. On the stand-in, whose times mean nothing: what
//! is looked at is what was done.

use crate::devices::{nothing_refused, outcome, prepared};
use crate::support::Heard;
use crate::{standin, support};
use aplomb_devices::device::{Trial, Wanted};
use aplomb_ground::protocol::Request;
use aplomb_ground::trace::LaunchRecord;
use aplomb_kernel::session::Session;
use aplomb_plans::kir::{Copied, TileSize, Tuning};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SETUP: &str = "V←0.25×1+7|3×⍳5003 ⋄ B←V>0.75 ⋄ T←100|⍳5003 ⋄ I←2*20+⍳11 ⋄ s←+/∊V B T I";

/// A line, and how many texts each of its launches has.
const LINES: &[(&str, &[usize])] = &[
    ("2×V+1", &[6]),
    ("T-1", &[6]),
    ("B∧~⌽B", &[7]),
    ("{0.5×⍵+2÷⍵}⍣5⊢V", &[7]),
    ("{0.5×⍵+2÷⍵}⍣≡¨V", &[7]),
    ("B/V", &[3]),
    // First a result that does not fit its type.
    ("I×I", &[6]),
    ("(⌽V)÷+/V", &[0, 6]),
    ("+\\V", &[0]),
];

fn tune(s: &mut Session, line: &str) -> Vec<Trial> {
    s.tune(Some(line)).unwrap_or_else(|e| panic!("{line}: {}", e.parts().says)).0
}

fn kernels(s: &mut Session, line: &str) -> Vec<LaunchRecord> {
    s.trace_of(Some(line)).expect("a trace").kernels
}

fn chosen(trials: &[Trial], launch: usize) -> Option<&Trial> {
    trials.iter().find(|t| t.launch == launch && t.chosen)
}

/// A check that a trace says of a launch what was chosen.
fn is_as_chosen(kernel: &LaunchRecord, trial: &Trial) {
    let (own, tuning) = (&kernel.spread[0], trial.candidate.expect("a text"));
    assert_eq!((Some(own.items), own.threads), (tuning.items, tuning.threads), "{own:?}");
    assert_eq!(own.persistent.unwrap_or(false), tuning.persistent, "{own:?}");
    let why = &kernel.ran.as_ref().expect("a place").why;
    assert!(why.contains(&format!("; {}: tuned, ", tuning.says())), "{why}");
    let text = &kernel.cuda.as_ref().expect("a text").text;
    assert!(text.contains(&format!("__launch_bounds__({})", tuning.threads)), "{text}");
    assert_eq!(text.contains("u32* ticket"), tuning.persistent || own.by == "tile", "{text}");
}

/// BAS-22: whatever the size of its tiles, a product has the same bits, at edges that no size
/// divides; so have two folds of one product.
#[test]
fn bas_22_every_size_of_tiles_gives_the_same_bits() {
    if !standin::is_child("bas_22_every_size_of_tiles_gives_the_same_bits", &[]) {
        return;
    }
    let setup = "A←0.25×401 19⍴7|3×⍳7619 ⋄ B←0.5×19 387⍴5|2×⍳7353 ⋄ s←+/∊A B";
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, &[setup]), prepared(Wanted::Cuda, &[setup]));
    let sizes = TileSize::all();
    let copies = [true, false].map(|is_turned| Copied { values: [1, 0], is_turned });
    let some = sizes.iter().filter(|size| size.divides() && size.shared(copies) <= 48 * 1024);
    let some: Vec<TileSize> = some.copied().step_by(3).collect();
    assert!(some.len() >= 8, "{some:?}");
    for line in ["A+.×B", "A⌊.+1+B", "{(+/⍵×⍵)(⌈/⍵)}A[;1]∘.-9000⍴B"] {
        let wanted = outcome(&mut cpu, line);
        for size in &some {
            let tuning = Tuning { tile: Some(*size), ..Tuning::default() };
            gpu.core().devices().find().expect("a device").set(Some(tuning));
            assert_eq!(outcome(&mut gpu, line), wanted, "{line}: {}", size.says());
        }
        nothing_refused(&mut gpu);
    }
}

/// BAR-06: the tuning table has a row for each number of points a thread may take, and for each
/// other knob.
#[test]
fn bar_06_every_text_is_tried_and_the_fastest_is_used() {
    if !standin::is_child("bar_06_every_text_is_tried_and_the_fastest_is_used", &[]) {
        return;
    }
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, &[SETUP]), prepared(Wanted::Cuda, &[SETUP]));
    for (line, texts) in LINES {
        let wanted = outcome(&mut cpu, line);
        let before = kernels(&mut gpu, line);
        assert!(
            before.iter().all(|k| !k.ran.as_ref().expect("a place").why.contains("tuned")),
            "{line}"
        );
        let trials = tune(&mut gpu, line);
        for (k, n) in texts.iter().enumerate() {
            let own: Vec<&Trial> = trials.iter().filter(|t| t.launch == k).collect();
            if *n == 0 {
                assert!(
                    own.len() == 1 && own[0].says.starts_with("nothing to choose"),
                    "{line}: {own:?}"
                );
                continue;
            }
            // Other bits would be a sentence.
            assert!(
                own.len() == *n && own.iter().all(|t| t.us.is_some() && t.says.is_empty()),
                "{line}: {own:?}"
            );
            assert_eq!(own.iter().filter(|t| t.chosen).count(), 1, "{line}: {own:?}");
            let least = own.iter().filter_map(|t| t.us).fold(f64::INFINITY, f64::min);
            assert_eq!(chosen(&trials, k).and_then(|t| t.us), Some(least), "{line}");
        }
        let before = gpu.core().devices().compiling();
        let again = outcome(&mut gpu, line);
        if !line.contains("+/") && !line.contains("+\\") {
            assert_eq!(again, wanted, "{line}");
        }
        let made = gpu.core().devices().compiling().since(&before);
        assert_eq!((made.compiled, made.disk_hits), (0, 0), "{line}: {made:?}");
        for (k, kernel) in kernels(&mut gpu, line).iter().enumerate() {
            match chosen(&trials, k) {
                Some(trial) => is_as_chosen(kernel, trial),
                None => {
                    assert!(!kernel.ran.as_ref().expect("a place").why.contains("tuned"), "{line}")
                }
            }
        }
        nothing_refused(&mut gpu);
    }
    // Another size of the same class is another plan and the same choice; a size far from it is
    // not.
    let first = kernels(&mut gpu, "2×V+1");
    set(&mut gpu, "W←0.5×⍳4100 ⋄ Z←0.5×⍳70000 ⋄ s←+/∊W Z");
    let why =
        |s: &mut Session, line| kernels(s, line)[0].ran.as_ref().expect("a place").why.clone();
    assert_eq!(why(&mut gpu, "3×W+7"), first[0].ran.as_ref().expect("a place").why);
    assert!(!why(&mut gpu, "3×Z+7").contains("tuned"));
    // Ignored, then forgotten.
    gpu.options().switch("tuning", false).expect("a switch");
    assert!(!why(&mut gpu, "2×V+1").contains("tuned"));
    assert!(tune(&mut gpu, "2×V+1").is_empty());
    gpu.options().switch("tuning", true).expect("a switch");
    assert!(why(&mut gpu, "2×V+1").contains("tuned"));
    assert!(gpu.core().devices().find().expect("the stand-in").forget_choices() >= 6);
    assert!(!why(&mut gpu, "2×V+1").contains("tuned"));
}

/// The line runs for its names.
fn set(s: &mut Session, line: &str) {
    s.interp().set_record_all(false);
    s.handle(
        Request::Execute { code: line.into(), name: "line".into(), silent: true },
        &mut Heard::default(),
    );
    s.interp().set_record_all(true);
}

/// An element that fails is told as ever, and nothing is tuned; neither is what the CPU does.
#[test]
fn what_fails_or_is_the_cpus_is_not_tuned() {
    if !standin::is_child("what_fails_or_is_the_cpus_is_not_tuned", &[]) {
        return;
    }
    let mut gpu = prepared(Wanted::Cuda, &["V←0.5×¯1+⍳900"]);
    let error = gpu.tune(Some("1+÷V")).err().map(|e| e.name());
    assert_eq!(error.as_deref(), Some("DOMAIN ERROR"));
    let trials = tune(&mut gpu, "2×(∨/V)+⌽V");
    assert!(trials.iter().any(|t| t.says.contains("there is no CUDA text")), "{trials:?}");
    let trials = tune(&mut gpu, "(80 80⍴V)+.×80 80⍴⌽V");
    assert!(
        !trials.is_empty() && trials.iter().any(|t| t.says.starts_with("nothing to choose")),
        "{trials:?}"
    );
    gpu.core().devices().want(Wanted::Cpu);
    assert!(tune(&mut gpu, "2×V+1").is_empty());
    nothing_refused(&mut gpu);
}

/// BAS-23: sizes of a product's tiles that ran are rows of `tuning` with their times; the one of
/// the text is the one of least; `--off tune` goes by the model alone.
#[test]
fn bas_23_the_winner_is_the_least_of_what_was_timed() {
    if !standin::is_child("bas_23_the_winner_is_the_least_of_what_was_timed", &[]) {
        return;
    }
    let setup = "A←0.25×401 19⍴7|3×⍳7619 ⋄ B←0.5×19 387⍴5|2×⍳7353 ⋄ s←+/∊A B";
    let mut gpu = prepared(Wanted::Cuda, &[setup]);
    gpu.options().switch("cublas", false).expect("a switch");
    let line = "A+.×B";
    let before = kernels(&mut gpu, line).pop().expect("a launch");
    assert!(before.tuning.len() >= 20 && before.tuning.iter().all(|r| r.ms.is_none()));
    let trials = tune(&mut gpu, line);
    let ran = trials.iter().filter(|t| t.us.is_some()).count();
    assert!(ran >= 2, "{trials:?}");
    let after = kernels(&mut gpu, line).pop().expect("a launch");
    let timed: Vec<_> = after.tuning.iter().filter(|r| r.status == "timed").collect();
    assert_eq!(timed.len(), ran, "{:?}", after.tuning);
    let least = timed.iter().filter_map(|r| r.ms).fold(f64::MAX, f64::min);
    let chosen: Vec<_> = after.tuning.iter().filter(|r| r.chosen).collect();
    assert_eq!((chosen.len(), chosen[0].ms), (1, Some(least)), "{chosen:?}");
    for row in after.tuning.iter().filter(|r| r.ms.is_none()) {
        assert!(row.status == "model" || row.status.starts_with("pruned:"), "{row:?}");
    }
    gpu.options().switch("tune", false).expect("a switch");
    let by_model = kernels(&mut gpu, line).pop().expect("a launch");
    assert_eq!(by_model.tuning, before.tuning);
    nothing_refused(&mut gpu);
}

fn folder_of(cache: &Path) -> PathBuf {
    cache.join("aplomb/cuda")
}

fn records(cache: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder_of(cache)).into_iter().flatten().flatten().map(|e| e.path());
    all.filter(|p| p.extension().is_some_and(|e| e == "tuning")).collect()
}

fn script(cache: &Path, text: &str, switches: &[(&str, &str)]) -> Option<Output> {
    let mut command = standin::on_standin(Path::new(env!("CARGO_BIN_EXE_aplomb")), cache)?;
    command.args(["--device", "cuda"]).envs(switches.iter().copied());
    Some(fed(command, text))
}

fn fed(mut command: Command, text: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("aplomb");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), text.as_bytes())
        .expect("written");
    child.wait_with_output().expect("an end")
}

fn said(out: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&out.stdout), text(&out.stderr))
}

const VALUES: &str = "X←0.5×⍳3000\n";

/// Another program of this machine finds the choice; one that is damaged is none, and said.
#[test]
fn a_choice_outlives_the_program_and_a_damaged_one_is_ignored() {
    let cache = standin::folder();
    let tuned = format!("{VALUES}]trace on\n]tune 2×X+1\n");
    let Some(out) = script(cache.path(), &tuned, &[]) else { return };
    let (table, errors) = said(&out);
    assert!(
        errors.is_empty()
            && table.matches("points a thread").count() >= 4
            && table.contains("chosen"),
        "{table}"
    );
    let files = records(cache.path());
    assert_eq!(files.len(), 1, "{files:?}");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(&files[0]).expect("a file").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);

    let asks = format!("{VALUES}]trace on\n2×X+1\n]why k0\n");
    let (first, errors) = said(&script(cache.path(), &asks, &[]).expect("the stand-in"));
    let words = first.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(errors.is_empty() && words.contains(": tuned, "), "{words}");
    let (ignored, _) =
        said(&script(cache.path(), &format!("]off tuning\n{asks}"), &[]).expect("the stand-in"));
    assert!(!ignored.contains("tuned"), "{ignored}");

    // Every byte of it changed, one after the other, is too much: some are.
    let whole = std::fs::read(&files[0]).expect("a record");
    for at in [0, 9, whole.len() / 2, whole.len() - 40, whole.len() - 1] {
        let mut bad = whole.clone();
        bad[at] ^= 0x10;
        std::fs::write(&files[0], &bad).expect("written");
        let (shown, errors) = said(&script(cache.path(), &asks, &[]).expect("the stand-in"));
        assert!(!shown.contains("tuned"), "byte {at}: {shown}");
        assert!(errors.contains("is damaged; ]tune makes it again"), "byte {at}: {errors}");
        assert_eq!(shown.lines().next(), first.lines().next(), "byte {at}");
    }
    // Whole, and of no text of this launch.
    std::fs::write(&files[0], &whole[..whole.len() / 3]).expect("written");
    let (again, errors) = said(&script(cache.path(), &tuned, &[]).expect("the stand-in"));
    assert!(again.contains("chosen") && errors.is_empty(), "{errors}");
    let (later, errors) = said(&script(cache.path(), &asks, &[]).expect("the stand-in"));
    assert!(errors.is_empty() && later.contains("tuned"), "{errors} {later}");
    let (gone, _) = said(&script(cache.path(), "]tune forget\n", &[]).expect("the stand-in"));
    assert!(gone.starts_with("1 choice forgotten") && records(cache.path()).is_empty(), "{gone}");
}

/// BAS-23: the size of a product's tiles that was fastest is another program's, too, which says so;
/// without the switch that goes by the model.
#[test]
fn bas_23_the_size_of_tiles_is_kept_on_disk() {
    let cache = standin::folder();
    let data = "A←0.25×401 19⍴7|3×⍳7619 ⋄ B←0.5×19 387⍴5|2×⍳7353 ⋄ s←+/∊A B\n]off cublas\n";
    let tuned = format!("{data}]trace on\n]tune A+.×B\n");
    let Some(out) = script(cache.path(), &tuned, &[]) else { return };
    let (table, errors) = said(&out);
    assert!(errors.is_empty() && table.contains("chosen"), "{errors} {table}");
    assert_eq!(records(cache.path()).len(), 1);
    let asks = |switch: &str| format!("{data}{switch}]trace on\nR←A+.×B ⋄ 1⊣⎕DR R\n]why k0\n");
    let (later, errors) = said(&script(cache.path(), &asks(""), &[]).expect("the stand-in"));
    let words = later.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(errors.is_empty() && words.contains(": tuned, "), "{words}");
    let (model, _) = said(&script(cache.path(), &asks("]off tune\n"), &[]).expect("the stand-in"));
    assert!(!model.contains("tuned"), "{model}");
}

/// `aplomb tune FILE`: every launch that the program makes, once however often it runs; the value
/// goes nowhere.
#[test]
fn a_program_is_tuned_and_each_launch_is_measured_once() {
    let cache = standin::folder();
    let file = cache.path().join("program.apl");
    let text =
        "V←0.25×1+7|3×⍳20003\n≢⍕V\nhalf←{0.5×⍵+2÷⍵}\nhalf⍣4⊢V\nhalf⍣4⊢V+0×+/V\nhalf⍣4⊢V\n⌈/V\n";
    std::fs::write(&file, text).expect("a program");
    let tuned = |program: &Path| {
        let mut command =
            standin::on_standin(Path::new(env!("CARGO_BIN_EXE_aplomb")), cache.path())?;
        command.args(["--device", "cuda", "tune"]).arg(program);
        Some(fed(command, ""))
    };
    let Some(out) = tuned(&file) else { return };
    let (table, errors) = said(&out);
    assert!(out.status.success() && errors.is_empty(), "{errors}");
    assert!(table.starts_with("launch") && table.contains("nothing to choose"), "{table}");
    let (kept, loops) = (records(cache.path()).len(), table.matches("blocks that stay").count());
    assert!((1..=2).contains(&loops) && kept >= loops, "{kept}: {table}");
    assert_eq!(table.matches("  chosen").count(), kept, "{table}");
    // An error of the program is its end, and what was tuned before is told.
    std::fs::write(&file, "V←0.5×⍳2000\n2×V\n÷V-V\n").expect("a program");
    let out = tuned(&file).expect("the stand-in");
    let (table, errors) = said(&out);
    assert!(
        out.status.code() == Some(1) && errors.contains("DOMAIN ERROR") && table.contains("chosen"),
        "{table}"
    );
}

/// Each call of the driver while texts are tried may fail, and the device may be lost: the value is
/// the CPU's, and what was not measured to its end is not kept.
#[test]
fn a_device_that_fails_while_a_text_is_tried_leaves_values_and_launches_as_they_are() {
    let text =
        format!("{VALUES}+/X\n]tune {{0.5×⍵+2÷⍵}}⍣3⊢X\n]trace on\n+/1000↑{{0.5×⍵+2÷⍵}}⍣3⊢X\n");
    let value = |out: &str| out.lines().last().map(String::from);
    let Some(whole) = script(standin::folder().path(), &text, &[]) else { return };
    let (shown, errors) = said(&whole);
    assert!(errors.is_empty(), "{errors}");
    let wanted = value(&shown);
    let compiled = standin::folder();
    script(compiled.path(), &text, &[]);
    let (mut untuned, mut quiet) = (0, 0);
    let step = support::one_in(23);
    for (switch, code) in
        [("CUSIM_FAIL_CALL", ":1"), ("CUSIM_LOST_AT", ""), ("CUSIM_FAIL_ALLOC", "")]
    {
        for n in (1..).step_by(if switch == "CUSIM_FAIL_ALLOC" { step.min(7) } else { step }) {
            // What was tuned is gone before each run; what was compiled stays.
            records(compiled.path())
                .iter()
                .for_each(|f| std::fs::remove_file(f).expect("a record"));
            let out = script(compiled.path(), &text, &[(switch, &format!("{n}{code}"))])
                .expect("the stand-in");
            let (shown, errors) = said(&out);
            assert_eq!(value(&shown), wanted, "{switch}={n}: {errors}");
            assert_eq!(out.status.code(), Some(0), "{switch}={n}: {errors}");
            let kept = records(compiled.path()).len();
            let told = shown.contains("chosen");
            assert_eq!(kept, usize::from(told), "{switch}={n}: {shown}\n{errors}");
            untuned += usize::from(kept == 0);
            quiet = if errors.is_empty() && told && !shown.contains("not tuned") {
                quiet + 1
            } else {
                0
            };
            if quiet >= 3 {
                break;
            }
            assert!(n < 2000, "{switch} never comes to an end");
        }
        quiet = 0;
    }
    println!("{untuned} runs left it untuned");
    assert!(untuned > 10, "{untuned}");
}

/// A text that gives other values is told and not used.
#[test]
fn a_text_with_other_values_is_not_chosen() {
    // Four points a thread, and each thread's second turn adds another number.
    let plant =
        ("CUSIM_PLANT", "alignas(16) double z0[4];=>alignas(16) double z0[4]; p0 = p0 + 1.0;");
    let Some(libraries) = standin::libraries().and_then(Path::to_str) else { return };
    if !standin::is_child_with(
        "a_text_with_other_values_is_not_chosen",
        &[("LD_LIBRARY_PATH", libraries), plant],
    ) {
        return;
    }
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, &[SETUP]), prepared(Wanted::Cuda, &[SETUP]));
    let trials = tune(&mut gpu, "2×V+1");
    let wrong: Vec<&Trial> = trials.iter().filter(|t| t.says.starts_with("other values")).collect();
    assert!(trials.len() == 6 && wrong.len() == 1 && !wrong[0].chosen, "{trials:?}");
    assert_eq!(wrong[0].candidate.and_then(|t| t.items), Some(4));
    assert_eq!(outcome(&mut gpu, "2×V+1"), outcome(&mut cpu, "2×V+1"));
    nothing_refused(&mut gpu);
}

/// ACC-26: without the barrier behind the tile's number a fast thread draws the next one before a
/// slow one has read it.
#[test]
fn acc_26_a_missing_barrier_is_seen() {
    const NAME: &str = "acc_26_a_missing_barrier_is_seen";
    let Some(libraries) = standin::libraries().and_then(Path::to_str) else { return };
    let report = standin::folder();
    let file = report.path().join("report");
    let with = [
        ("LD_LIBRARY_PATH", libraries),
        ("CUSIM_PLANT", "__syncthreads();\n    u64 i = tile=>u64 i = tile"),
        ("CUSIM_REPORT", file.to_str().expect("a path")),
    ];
    if !standin::is_child_with(NAME, &with) {
        let said = std::fs::read_to_string(&file).expect("a report");
        assert!(said.contains("race") && said.contains("seat"), "{said}");
        return;
    }
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, &[SETUP]), prepared(Wanted::Cuda, &[SETUP]));
    let stay = Tuning { persistent: true, ..Tuning::default() };
    gpu.core().devices().find().expect("the stand-in").set(Some(stay));
    // The device that noticed is lost, and the value is the CPU's.
    let line = "{0.5×⍵+2÷⍵}⍣5⊢V";
    assert_eq!(outcome(&mut gpu, line), outcome(&mut cpu, line));
    assert!(gpu.core().devices().take_notices().iter().any(|n| n.contains("the GPU is lost")));
}

/// Points around a tile, a block and what fills the stand-in once.
const SIZES: &[usize] = &[1, 255, 256, 257, 511, 513, 2049];

/// ACC-26: one ticket, from which blocks draw what they do; the bits are those of the grid's
/// stride, in slices too.
#[test]
fn acc_26_blocks_that_stay_give_the_same_bits() {
    if !standin::is_child_under_all_schedules("acc_26_blocks_that_stay_give_the_same_bits") {
        return;
    }
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, &[]), prepared(Wanted::Cuda, &[]));
    let stay = Tuning { persistent: true, ..Tuning::default() };
    gpu.core().devices().find().expect("the stand-in").set(Some(stay));
    for n in SIZES {
        for s in [&mut cpu, &mut gpu] {
            set(s, &format!("V←0.25×1+7|3×⍳{n} ⋄ M←3 {n}⍴V"));
        }
        for line in [
            "{0.5×⍵+2÷⍵}⍣5⊢V",
            "(⌽V)×{0.5×⍵+2÷⍵}⍣3⊢⌽1+V",
            "{0.5×⍵+V÷⍵}⍣4⊢1+2×V",
            "⍉{1+⍵×0.5}⍣3⊢M",
            // Each point ends its own.
            "{0.5×⍵+2÷⍵}⍣≡¨V",
            "{2⊃{(a n)←⍵ ⋄ (a÷2)(n+1)}⍣{0.1>⊃⍺}⊢⍵ 0}¨V",
            "({⍵×1.5}⍣2⊢V)({⍵+⍵}⍣3⊢⌽V)",
        ] {
            assert_eq!(outcome(&mut gpu, line), outcome(&mut cpu, line), "{line} of {n}");
        }
        // A failure is the first one, and the ticket is fresh afterwards.
        assert_eq!(outcome(&mut gpu, "{÷⍵-V}⍣2⊢V"), outcome(&mut cpu, "{÷⍵-V}⍣2⊢V"));
    }
    // A graph of it clears the ticket every time.
    let line = "2×X[⍋X←{0.5×⍵+2÷⍵}⍣4⊢V]";
    let graphs: Vec<u32> = (0..4)
        .map(|_| {
            let before = gpu.core().devices().compiling();
            assert_eq!(outcome(&mut gpu, line), outcome(&mut cpu, line), "{line}");
            gpu.core().devices().compiling().since(&before).graphs
        })
        .collect();
    assert_eq!(graphs, [0, 1, 1, 1]);
    let kernel = kernels(&mut gpu, "{0.5×⍵+2÷⍵}⍣5⊢V").pop().expect("a launch");
    let (text, own) = (kernel.cuda.expect("a text").text, &kernel.spread[0]);
    // Drawn before the first tile and after each; no stride of the grid.
    assert_eq!(
        (text.matches("u32* ticket").count(), text.matches("next_tile(ticket").count()),
        (1, 2),
        "{text}"
    );
    assert!(!text.contains("gridDim") && !text.contains("blockIdx"), "{text}");
    assert_eq!((own.by.as_str(), own.persistent, own.points), ("tile", Some(true), 9), "{own:?}");
    // Where no point has a loop there is nothing to wait for.
    let plain = kernels(&mut gpu, "2×V+1").pop().expect("a launch");
    assert_eq!((plain.spread[0].by.as_str(), plain.spread[0].persistent), ("thread", None));
    nothing_refused(&mut gpu);
}

/// ACC-26: more tiles than fill the device, in slices: the stand-in is so slow that it cuts what it
/// has seen once.
#[test]
fn acc_26_slices_of_blocks_that_stay_follow_each_other() {
    if !standin::is_child("acc_26_slices_of_blocks_that_stay_follow_each_other", &[]) {
        return;
    }
    let (mut cpu, mut gpu) = (prepared(Wanted::Cpu, &[]), prepared(Wanted::Cuda, &[]));
    for s in [&mut cpu, &mut gpu] {
        set(s, "V←0.25×1+7|3×⍳280000");
    }
    let stay = Tuning { persistent: true, ..Tuning::default() };
    gpu.core().devices().find().expect("the stand-in").set(Some(stay));
    let line = "{⍵×1.5}⍣2⊢V";
    // A timed run says how slow the device is.
    kernels(&mut gpu, line);
    assert_eq!(outcome(&mut gpu, line), outcome(&mut cpu, line));
    let ran = kernels(&mut gpu, line).pop().and_then(|k| k.ran).expect("a place");
    assert!(ran.slices >= 2, "{ran:?}");
    nothing_refused(&mut gpu);
}

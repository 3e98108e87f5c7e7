//! `aplomb selftest`: every shape of launch at the edges of blocks and warps, against the same plan
//! unfused; with `--cuda` the GPU against the CPU, and what its kernels took.

use crate::front::{FAILED, Settings, on_session, print};
use aplomb_devices::device::Wanted;
use aplomb_ground::error::time;
use aplomb_ground::protocol::{Event, Request, Sink};
use aplomb_ground::trace::LaunchRecord;
use aplomb_kernel::session::Session;
use aplomb_plans::kir::{TileSize, Tuning};
use aplomb_plans::plan::Math;
use aplomb_values::array::{Array, Data};
use std::time::{Duration, Instant};

/// The expressions that are computed of V, n quarters; M has them in rows of 3, L is a mask.
const LINES: &[(&str, &str)] = &[
    ("map", "2×V+1"),
    ("map with tests", "(1↓V),⌽2↑V"),
    ("transposed", "1+⍉M"),
    ("functions", "(1○V)+(*-V)×⍟1+V*2"),
    ("comparisons", "((V>1)∧V≤1.5)+V=1"),
    ("whole numbers", "(3|V)+⌊V"),
    ("loop", "{0.5×⍵+2÷⍵}⍣9⊢1+V"),
    ("gather", "V[1+(≢V)|⌊7×V]"),
    ("sum", "+/V×⌽V"),
    ("several folds", "(+/V)(⌈/V)(⌊/-V)"),
    ("rows", "+/M×2"),
    ("columns", "+⌿M÷2"),
    ("mean", "(+/÷≢)V"),
    ("scan", "+\\V-0.5"),
    ("scan of rows", "⌈\\M"),
    ("selection", "L/V+1"),
    ("product", "(⍉M)+.×M"),
    ("pairs", "+/V∘.×1 2 3"),
    ("product in tiles", "(600 12⍴V)+.×⍉600 12⍴V"),
    ("all pairs", "+/|(9000⍴V)∘.-9↑V"),
    ("pairs, twice", "{(+/⍵×⍵)(⌈/⍵)}(9000⍴V)∘.-9↑V"),
    ("products", "{(⍺+.×⍵)(⍺⌈.+⍵)}∘⍉⍨600 12⍴V"),
    ("segments", "∊+/¨(1,1↓L)⊂V"),
    ("order", "V[⍋V]"),
    ("order of rows", "⍒M"),
    ("search", "V⍳V+0.25"),
    ("last wins", "{x←⍵ ⋄ x[1+9|⌊7×V]←V ⋄ x}9↑V"),
    ("counts", "{x←⍵ ⋄ x[1+9|⌊7×V]+←1 ⋄ x}9⍴0"),
    ("sums by places", "{x←⍵ ⋄ x[1+9|⌊7×V]+←V ⋄ x}9⍴0.5"),
    ("gamma", "(!V)+V!V+1"),
    ("does not fit", "⌊1E9×1+V"),
    ("two stages", "V÷+/V"),
];

const SIZES: &[usize] = &[3, 33, 255, 256, 257, 1025, 4097, 60_000];
const BOX: Duration = Duration::from_secs(110);

struct Quiet(Option<String>);

impl Sink for Quiet {
    fn event(&mut self, event: Event) {
        if let Event::Error(failure) = event {
            self.0 = Some(failure.report);
        }
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

/// One side: a session with its data.
struct Side(Session);

impl Side {
    fn data(&mut self, n: usize) {
        let code = format!("V←0.25×7|3×⍳{n} ⋄ M←(⌊({n}÷3),3)⍴V ⋄ L←{n}⍴1 0 1");
        self.0
            .handle(Request::Execute { code, name: "data".into(), silent: true }, &mut Quiet(None));
        self.0.interp().set_record_all(true);
    }

    /// The value, or the error's words.
    fn value(&mut self, line: &str) -> Result<(Vec<usize>, Vec<f64>), String> {
        match self.0.value_of(line) {
            Ok(Some(a)) => {
                let mut out = Vec::new();
                numbers(&a.settled(), &mut out);
                Ok((a.shape().to_vec(), out))
            }
            Ok(None) => Err("no value".into()),
            Err(e) => Err(e.name()),
        }
    }
}

fn numbers(a: &Array, out: &mut Vec<f64>) {
    match a.data() {
        Data::Num(x, _) => out.push(*x),
        Data::Dense(b) => out.extend(b.view().each()),
        Data::Items(items) => items.iter().for_each(|i| numbers(&i.settled(), out)),
        _ => {}
    }
}

/// The greatest relative difference; None: not the same shape.
fn apart(x: &(Vec<usize>, Vec<f64>), y: &(Vec<usize>, Vec<f64>)) -> Option<f64> {
    let one = |(a, b): (&f64, &f64)| {
        if a == b { 0.0 } else { (a - b).abs() / a.abs().max(b.abs()).max(1e-300) }
    };
    (x.0 == y.0 && x.1.len() == y.1.len())
        .then(|| x.1.iter().zip(&y.1).map(one).fold(0.0, f64::max))
}

/// Sums are taken in another order.
const NEAR: f64 = 1e-11;

pub fn run(settings: Settings, cuda: bool) -> i32 {
    // Only strict texts promise the CPU's values.
    let settings = Settings { math: Math::Strict, ..settings };
    on_session(settings.clone(), move |session| {
        let mut other = settings.session();
        let (what, base) = match cuda {
            true => {
                session.core().devices().want(Wanted::Cuda);
                other.core().devices().want(Wanted::Cpu);
                if let Err(says) = session.core().devices().find() {
                    eprintln!("aplomb selftest --cuda: {says}");
                    return FAILED;
                }
                (session.core().device_name(), "the CPU")
            }
            false => {
                let _ = other.options().switch("fusion", false);
                (session.core().device_name(), "the same without fusion")
            }
        };
        print(&format!(
            "{what} against {base}, {} sizes from {} to {}\n",
            SIZES.len(),
            SIZES[0],
            SIZES[SIZES.len() - 1]
        ));
        let (mut tested, mut other) =
            (Side(std::mem::replace(session, settings.session())), Side(other));
        let mut failed = compare(&mut tested, &mut other, cuda);
        if cuda {
            failed += other_texts(&mut tested, &mut other);
        }
        tested.0.core().devices().take_notices().iter().for_each(|n| eprintln!("aplomb: {n}"));
        let made = tested.0.core().devices().compiling();
        if cuda {
            let nvrtc = time(made.nvrtc_ms * 1e3);
            print(&format!(
                "{} kernels compiled in {nvrtc}, {} from the disk, {} known\n",
                made.compiled, made.disk_hits, made.memory_hits
            ));
        }
        print(if failed == 0 { "all the same\n" } else { "NOT the same\n" });
        if failed == 0 { 0 } else { FAILED }
    })
}

const fn tiles(rows: u32, columns: u32, deep: u32, own: u32) -> Tuning {
    let tile = Some(TileSize { rows, columns, deep, own });
    Tuning { items: None, persistent: false, threads: 256, tile }
}

/// The settings that a tuner may choose of maps, selections and products.
const TEXTS: &[Tuning] = &[
    Tuning { items: Some(1), persistent: false, threads: 128, tile: None },
    Tuning { items: Some(4), persistent: false, threads: 512, tile: None },
    Tuning { items: Some(16), persistent: false, threads: 256, tile: None },
    Tuning { items: Some(1), persistent: true, threads: 256, tile: None },
    tiles(32, 32, 8, 2),
    tiles(64, 128, 16, 4),
    tiles(128, 64, 32, 8),
    tiles(128, 128, 8, 8),
];
const TUNED: &[&str] = &[
    "map",
    "transposed",
    "functions",
    "comparisons",
    "whole numbers",
    "loop",
    "selection",
    "product in tiles",
];

/// The same with each of their texts, a row each; how many differ.
fn other_texts(tested: &mut Side, other: &mut Side) -> usize {
    let (begun, mut failed) = (Instant::now(), 0);
    for text in TEXTS {
        let (mut worst, mut says) = (0.0f64, String::new());
        if let Ok(gpu) = tested.0.core().devices().find() {
            gpu.set(Some(*text));
        }
        for n in [257, 4097].into_iter().take_while(|_| begun.elapsed() < BOX / 4) {
            tested.data(n);
            other.data(n);
            for (name, line) in LINES.iter().filter(|l| TUNED.contains(&l.0)) {
                let apart = match (tested.value(line), other.value(line)) {
                    (Ok(x), Ok(y)) => apart(&x, &y).unwrap_or(f64::INFINITY),
                    _ => f64::INFINITY,
                };
                if apart > NEAR && says.is_empty() {
                    says = format!("  {name} DIFFERS at {n}");
                }
                worst = worst.max(apart);
            }
        }
        failed += usize::from(!says.is_empty());
        print(&format!("{:41} apart {worst:8.1e}{says}\n", text.says()));
    }
    if let Ok(gpu) = tested.0.core().devices().find() {
        gpu.set(None);
    }
    failed
}

/// A row a line; how many differ.
fn compare(tested: &mut Side, other: &mut Side, cuda: bool) -> usize {
    let (begun, mut failed) = (Instant::now(), 0);
    for (name, line) in LINES {
        let (mut worst, mut says) = (0.0f64, String::new());
        for n in SIZES.iter().take_while(|_| begun.elapsed() < BOX) {
            tested.data(*n);
            other.data(*n);
            let apart = match (tested.value(line), other.value(line)) {
                (Ok(x), Ok(y)) => apart(&x, &y).unwrap_or(f64::INFINITY),
                (x, y) if x == y => 0.0,
                _ => f64::INFINITY,
            };
            if apart > NEAR && says.is_empty() {
                says = format!("  DIFFERS at {n}");
            }
            worst = worst.max(apart);
        }
        let kernels = tested.0.trace_of(Some(line)).map(|t| t.kernels).unwrap_or_else(|e| {
            says += &format!("  has no trace: {e}");
            Vec::new()
        });
        let elsewhere = |k: &&LaunchRecord| k.ran.as_ref().is_none_or(|r| r.device != "cuda");
        if let Some(k) = kernels.iter().find(elsewhere).filter(|_| cuda) {
            let why = k.ran.as_ref().map_or("the GPU was left alone", |r| &r.why);
            says += &format!("  NOT on the GPU: {why}");
        }
        failed += usize::from(!says.is_empty());
        let each = kernels.iter().map(|k| {
            let took = k.meas.as_ref().map_or_else(|| "not timed".to_string(), |m| time(m.us));
            let registers = k.regs.map_or(String::new(), |r| format!(" {r} registers"));
            let spilled =
                k.spill.filter(|s| *s > 0).map_or(String::new(), |s| format!(", spills {s}"));
            format!("{} {took}{registers}{spilled}", k.skeleton)
        });
        let each: Vec<String> = each.collect();
        print(&format!("{name:16} {line:24} apart {worst:8.1e}  {}{says}\n", each.join(" · ")));
    }
    failed
}

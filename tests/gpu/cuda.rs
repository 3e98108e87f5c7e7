//! The printed CUDA compiles with the NVRTC of the extras, without a GPU: for sm_80, sm_90 and
//! sm_100, nothing spilled, within the budgets of registers and shared memory that the design gives
//! each shape.

use crate::support::{BLACK_SCHOLES, session, traced};
use crate::{nvrtc, support};
use aplomb_compiler::pass::{NoClock, Options, compile};
use aplomb_devices::device::cuda::{Usage, cubin, measured, ptx};
use aplomb_ground::trace::{LaunchRecord, Trace};
use aplomb_kernel::session::Session;
use aplomb_plans::{kir, occupancy};
use aplomb_values::array::DType;
use aplomb_viz::tables;

const LINES: &[&str] = &[
    "2×A+1",
    "+/A×B",
    "1+⌽A",
    "(+/÷≢)A",
    "⌈/M",
    "+⌿M",
    "2×+/*M",
    "+/⍉M",
    "(A>3)+A=B",
    "(⌊A)+3|B",
    "7↑A",
    "¯7↑1+A",
    "(1○A)×B*0.5",
    "⍟A÷B",
    "M+.×⍉M",
    "∘.×⍨A",
    "(+/A)(⌈/A)",
    "~A>2",
    "(A>1)∧B<4",
    "+/A,⌽B",
    "M⍪2×⌽M",
    "2×+\\A-B",
    "⌈⍀M",
    "1+A[1+6|⌊B×A]",
    "M[1+L;1+3|⌊B]",
    "(A>1)/A+B",
    "0 1⌿M×2",
    "2×+\\5000⍴A",
    "⌈\\3 5000⍴A",
    "+/3 20000⍴A",
    "(⌈/-+/)3 20000⍴A",
    "+⌿5000 3⍴A",
    "2×⌈⌿2000 300⍴A",
    "+/[2]2 1500 3⍴A",
    "+\\3 50⍴A",
    "+⍀5000 3⍴A",
    "(+\\5000⍴A)(⌈\\5000⍴B)",
    "(5000⍴1 0 1)/1-5000⍴A",
    "*A",
    "1+⍟A",
    "2×1○A",
    "A÷B×3",
    "A*B",
    "(A×A)+(B×B)+(A-B)*2",
    "L∧~L",
    "(3 2000⍴A)+2",
    "+/3 2000⍴A",
    "+/(A+B),A",
    "A+A>2",
    "(⌊/A)(⌈/A)(+/B)",
    "T+.×⍉T",
    "1+0⌈(2×T)⌊.+⍉T",
    "+/|(⍳9000)∘.-⍳90",
    "!A",
    "A!B",
    "(2×L)○0.1×4↑A",
    "⍋A",
    "⍒L",
    "1+A⍳B×2",
    "L∊A",
    "⍋G",
    "⍒2500⍴⍳9",
    "⍋⍤1⊢3 1500⍴A",
    "{⍵[⍒⍵]}⍤1⊢700 4⍴B",
    "{x←⍵ ⋄ x[1+L]←2↓A ⋄ x}B",
    "{x←⍵ ⋄ x[1+L]+←L ⋄ x}4↑L",
    "{x←⍵ ⋄ x[1+L]+←L ⋄ x}4000⍴L",
    "{x←⍵ ⋄ x[1+L]×←2↓A ⋄ x}B",
];

/// In boxes of shared memory: a stencil of seven places, life, a filled one in both axes,
/// transposes.
const BOXED: &[&str] = &[
    "(¯3⌽W)+(¯2⌽W)+(¯1⌽W)+W+(1⌽W)+(2⌽W)+3⌽W",
    "⊃1 D∨.∧3 4=+/,¯1 0 1∘.⊖¯1 0 1∘.⌽⊂D",
    "(1(⌽⍠0)G)+(2(⌽⍠0)G)+(¯1(⌽⍠0)G)+(1(⊖⍠0)G)+(2(⊖⍠0)G)+¯1(⊖⍠0)G",
    "1+⍉G",
    "⌽⍉D",
];

/// The shapes of launches, by pieces of their texts.
const SHAPES: &[(&str, &[&str])] = &[
    ("+/A×A", &["double f0[4]", "f0[0] = f0[0] + f0[1]", "__threadfence()"]),
    ("+/3 2000⍴A", &["A block a row.", "double f0[4]"]),
    (
        "+/3 50000⍴A",
        &["A block a part of a row.", "double f0[4]", "atomicAdd(tickets + o, 1u) == m1 - 1"],
    ),
    (
        "+⌿5000 3⍴A",
        &["A block a part of a strip of lines.", "atomicAdd(tickets + strip, 1u) == m1 - 1"],
    ),
    ("+⌿5000 300⍴A", &["A block a part of a strip of lines.", "u64 above = strip / "]),
    ("+⌿500 300⍴A", &["A thread a result."]),
    (
        "2×+\\5000⍴A",
        &[
            "next_tile(ticket, first, seat)",
            "scan_tile<8>(join0, -0.0, h0, warps, (Told*)told, 0, tile)",
        ],
    ),
    ("⌈\\3 5000⍴A", &["u64 o = tile / m1;", "told, o * m1, tile)"]),
    ("+\\3 50⍴A", &["A warp a line.", "warp_scan(join0, t0)"]),
    ("+\\M", &["A thread a line."]),
    ("+⍀5000 3⍴A", &["scan_tile<8>"]),
    ("+⍀50 90⍴A", &["A thread a line."]),
    ("(5000⍴1 0 1)/B-5000⍴A", &["count_tile<8>(counts, status, tile)", "__ballot_sync(~0u, keep)"]),
    ("0 1⌿M×2", &["count_tile<8>"]),
];

/// A session with arrays of these shapes and types: Q J F have four in a row, of f64, i32 and f32.
fn shaped() -> Session {
    let mut s = session();
    let lines = [
        "A←0.5×⍳6 ⋄ B←7-5000⍴⍳6 ⋄ M←2 3⍴A ⋄ L9←6⍴0 1 1 ⋄ I9←6⍴99991",
        "Q←50 4⍴A ⋄ J←50 4⍴99991×⍳7 ⋄ F←'f32'⎕AS Q ⋄ F1←'f32'⎕AS A",
        "A B M L9 I9 Q J F F1",
    ];
    traced(&mut s, &lines);
    s
}

/// The number of things told of a trace's texts. What no launch does is told too, and is nothing a
/// text could fail by.
fn of_texts(trace: &Trace) -> usize {
    let others = ["W-interpreted", "W-at-once"];
    trace.diagnostics.iter().filter(|d| !others.contains(&d.code.as_str())).count()
}

/// The last launch of a line that has a text for each.
fn last_launch(s: &mut Session, line: &str) -> LaunchRecord {
    let trace = traced(s, &[line]);
    assert_eq!(of_texts(&trace), 0, "{:?}", trace.diagnostics);
    trace.kernels.into_iter().next_back().expect("a launch")
}

fn text(s: &mut Session, line: &str) -> String {
    last_launch(s, line).cuda.expect("a text").text
}

/// Each piece stands in the text of its line.
fn say(s: &mut Session, lines: &[(&str, &[&str])]) {
    for (line, pieces) in lines {
        let own = text(s, line);
        for piece in *pieces {
            assert!(own.contains(piece), "{line}: {piece}\n{own}");
        }
    }
}

/// ACL-02: every node has its type; rows of four are loaded as one vector, which the paper calls
/// float4.
#[test]
fn acl_02_every_node_has_a_type_and_rows_of_four_are_vectors() {
    let mut s = shaped();
    let lines = [
        "F[;1]×F[;2]+F[;4]",
        "(A>2)+M[1;1]",
        "+/L9∧A>3",
        "'abc'=⌽'cba'",
        "J[;1]+⌊0.5×J[;2]",
        "A∘.+B",
    ];
    let mut types = std::collections::BTreeSet::new();
    for line in lines {
        let trace = traced(&mut s, &[line]);
        assert!(!trace.nodes.is_empty(), "{line}");
        for node in &trace.nodes {
            let plain = node.dtype.trim_end_matches('?');
            let known = ["bool", "i8", "i16", "i32", "f32", "f64", "char"].contains(&plain);
            assert!(known, "{line}: n{} has the type {:?}", node.id, node.dtype);
            types.insert(plain.to_string());
        }
    }
    assert!(types.len() >= 6, "{types:?}");
    say(
        &mut s,
        &[
            ("F[;1]×F[;2]+F[;4]", &["float4 ", " = __ldg((const float4*)a0 + i);"]),
            ("J[;1]×J[;2]+J[;4]", &[" = __ldg((const int4*)a0 + i);"]),
            ("Q[;1]×Q[;2]+Q[;4]", &[" = __ldg((const double2*)a0 + 2 * i);", "+ (2 * i + 1));"]),
        ],
    );
    // One column alone is no vector.
    let one = text(&mut s, "1+F[;3]");
    assert!(one.contains("a0[") && !one.contains("const float4*"), "{one}");
}

/// ACL-21: types convert item by item; a number stands for four, and a component is picked from
/// them.
#[test]
fn acl_21_types_convert_and_components_are_picked() {
    let mut s = shaped();
    say(
        &mut s,
        &[
            ("F[;1]×F[;2]+F[;4]", &["a0_0.x)", "a0_0.y)", "a0_0.w)"]),
            ("J[;1]×J[;2]+J[;3]", &["(double)", "a0_0.x;", "a0_0.y;", "a0_0.z;"]),
            ("F×3", &["float v", "(float)(", "const float4*"]),
            ("⌊A", &["(i32)(fits("]),
            ("A+L9", &["(double)a1[i]"]),
        ],
    );
    for (line, wanted) in [
        ("F1[2]", 1.0),
        ("+/F[2;]", 7.0),
        ("⌊F1[3]", 1.0),
        ("(F1>1)[2 3]+.×1 10", 10.0),
        ("1⌷F[1;]", 0.5),
    ] {
        let value = s.value_of(line).expect(line).expect("a value");
        assert_eq!(support::bits(&value).1, [f64::to_bits(wanted)], "{line}");
    }
}

/// BAR-06: vectorised loads, and how many points a thread takes, with what else it could be.
#[test]
fn bar_06_the_points_of_a_thread_are_a_knob() {
    let mut s = shaped();
    say(
        &mut s,
        &[
            ("2×A+1", &["(const double2*)(a0 + at)", "__stwb((double2*)(r0 + at)"]),
            ("A+L9", &["(const double2*)(a0 + at)", "(const uchar2*)(a1 + at)"]),
            ("F1×3", &["(const float4*)(a0 + at)", "__stwb((float4*)(r0 + at)"]),
            ("M+2 3⍴A", &["(const double2*)(a1 + at)"]),
        ],
    );
    let few: &[u32] = &[1, 2, 4, 8];
    for (line, items, choices) in [
        ("2×A+1", 2, few),
        ("F1×3", 4, few),
        ("L9∧~⌽L9", 8, &[1, 2, 4, 8, 16]),
        ("1○A", 1, few),
        ("(A>1)/A", 8, &[4, 8, 16]),
        // Its sums have an order, its shape fixes it, or there is one point.
        ("+/A", 4, &[]),
        ("+\\5000⍴A", 8, &[]),
        ("+/M", 1, &[]),
        ("1+A[1]", 1, &[]),
    ] {
        let launch = last_launch(&mut s, line);
        let [own] = launch.spread.as_slice() else { panic!("{line}: {:?}", launch.spread) };
        assert_eq!((own.items, own.choices.as_slice()), (items, choices), "{line}");
        assert!(own.choices.is_empty() || own.choices.contains(&own.items), "{line}");
        // How the grid follows.
        assert_eq!(u64::from(own.blocks), own.points.div_ceil(own.each).min(132 * 8), "{line}");
        assert_eq!(launch.launch.grid, [u64::from(own.blocks), 1, 1], "{line}");
        assert_eq!(launch.launch.block, [own.threads, 1, 1], "{line}");
    }
}

/// Lines with several texts.
const CHOICES: &[&str] = &[
    "2×V+1",
    "(V>3)∧~L",
    "1+⌽V",
    "V÷1+V×W",
    "{0.5×⍵+2÷⍵}⍣20⊢V",
    "{(0.5×⍵+V÷⍵)⌈W}⍣9⊢1+⌽V",
    "L/V×W",
];

/// BAR-06, ACC-26: what a tuner may choose compiles on three architectures; blocks of 512 threads
/// have 128 registers at most.
#[test]
fn bar_06_every_text_of_a_launch_compiles() {
    if !nvrtc::is_child("bar_06_every_text_of_a_launch_compiles") {
        return;
    }
    let mut s = session();
    traced(&mut s, &["V←0.5×⍳600 ⋄ W←⌽V ⋄ L←V>9", "V W L"]);
    s.interp().set_record_all(true);
    let (mut texts, mut says): (Vec<String>, Vec<(&str, String, u32)>) = (Vec::new(), Vec::new());
    for line in CHOICES {
        let graph = s.graph_of(&format!("r←{line}"), &["r"]).expect(line);
        let plan = compile(&graph, &Options::default(), &mut NoClock).expect(line).plan;
        let launch = plan.launches.last().expect("a launch");
        let plain = kir::code(&plan, launch, 0).expect(line);
        let all = plain.candidates();
        assert!(all.len() >= 3 && all.len() <= 8, "{line}: {all:?}");
        for tuning in all {
            let code = kir::tuned(&plan, launch, 0, tuning).expect(line);
            texts.push(kir::canonical(&code.kernels[0]));
            // As it comes, and with blocks that stay, it has little more than a map's budget.
            let most = if says.last().is_none_or(|(before, ..)| before != line) || tuning.persistent
            {
                48
            } else {
                128
            };
            says.push((*line, tuning.says(), most));
        }
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for arch in ["sm_80", "sm_90", "sm_100"] {
        let all =
            measured(&kir::assemble(&texts).0, arch).unwrap_or_else(|e| panic!("{arch}: {e}"));
        assert_eq!(all.len(), says.len());
        for (name, usage) in &all {
            let (line, text, most) = &says[name[1..].parse::<usize>().expect("a number")];
            println!("{arch} {:3} {line:24} {text}", usage.registers);
            // What spills is told and not run: on sm_100 a loop at four points a thread.
            let whole = usage.spills == 0 || *most > 48;
            assert!(whole && usage.registers <= *most, "{arch}: {line}, {text}: {usage:?}");
        }
    }
}

/// ACC-06: which shape a launch has, and that no text knows a size.
#[test]
fn acc_06_a_launch_has_the_shape_of_its_class() {
    let mut s = shaped();
    say(&mut s, SHAPES);
    for (line, _) in SHAPES {
        let own = text(&mut s, line);
        if line.contains("5000") && !line.contains('B') {
            assert_eq!(own, text(&mut s, &line.replace("5000", "7001")), "{line}");
        }
    }
}

/// The launches of all lines and of Black-Scholes.
fn launches() -> Vec<(String, LaunchRecord)> {
    let mut s = session();
    let mut traces = vec![traced(
        &mut s,
        &["A←0.5×⍳6 ⋄ B←7-⍳6 ⋄ M←2 3⍴A ⋄ L←0 1 1 0 ⋄ G←2500⍴A ⋄ T←600 12⍴B", "A B M L G T"],
    )];
    traces.extend(LINES.iter().map(|line| traced(&mut s, &[line])));
    traced(&mut s, &["W←0.5×⍳2048 ⋄ G←40 60⍴⌽W ⋄ D←G>3", "W G D"]);
    for line in BOXED {
        let boxed = traced(&mut s, &[line]);
        assert!(boxed.kernels.iter().any(|k| k.launch.smem > 0), "{line}: no box");
        traces.push(boxed);
    }
    let mut lines = BLACK_SCHOLES.to_vec();
    lines.push("call put");
    traces.push(traced(&mut s, &lines));
    let mut all = Vec::new();
    for trace in traces {
        assert_eq!(of_texts(&trace), 0, "{:?}", trace.diagnostics);
        all.extend(trace.kernels.into_iter().map(|k| (trace.statement.clone(), k)));
    }
    all
}

/// Before a kernel's number.
const HEAD: &str = "void __launch_bounds__(256) k";

/// All of them, and one program of their kernels: launch 7's are `l7` and, if there are more,
/// `l7_1` and so on.
fn together() -> (Vec<(String, LaunchRecord)>, String) {
    let all = launches();
    // Every evaluation counts from k0.
    let renamed = |(at, (_, k)): (usize, &(String, LaunchRecord))| {
        let mut cuda = k.cuda.clone().expect("a text");
        let mut parts = cuda.text.split(HEAD);
        let first = parts.next().unwrap_or_default().to_string();
        let rest = parts.map(|p| {
            format!(
                "void __launch_bounds__(256) l{at}{}",
                p.trim_start_matches(|c: char| c.is_ascii_digit())
            )
        });
        cuda.text = first + &rest.collect::<String>();
        cuda
    };
    let texts: Vec<_> = all.iter().enumerate().map(renamed).collect();
    (all, kir::program(&texts))
}

/// The launch of a kernel of that program.
fn launch_of(name: &str) -> Option<usize> {
    name.trim_start_matches('l').split('_').next().and_then(|k| k.parse().ok())
}

/// Each kernel of that program, and what it takes.
fn compiled(arch: &str) -> Vec<(String, LaunchRecord, Usage)> {
    let (all, program) = together();
    let usages = measured(&program, arch).unwrap_or_else(|e| panic!("{arch}: {e}"));
    let own = |k: usize| usages.iter().filter(move |u| launch_of(&u.0) == Some(k)).map(|u| u.1);
    let each = |(k, (line, launch)): (usize, (String, LaunchRecord))| {
        assert!(own(k).count() > 0, "{arch}: {line}");
        own(k).map(move |usage| (line.clone(), launch.clone(), usage)).collect::<Vec<_>>()
    };
    all.into_iter().enumerate().flat_map(each).collect()
}

/// Registers a kernel may take, by what it does.
const BUDGETS: &[(&str, u32)] = &[
    ("product", 128),
    ("pairs", 48),
    ("gamma", 72),
    ("map", 40),
    ("reduce", 40),
    ("scan", 48),
    // Tiles of several scans lie in shared memory, of which four blocks of 256 threads have room:
    // 64 registers keep as many.
    ("scans", 64),
    ("compact", 40),
    ("scatter", 40),
    ("lib", 64),
];
/// The kind of a launch, as the budgets name it.
fn shape(launch: &LaunchRecord) -> &str {
    let says = |note: &str| launch.cuda.as_ref().is_some_and(|c| c.text.contains(note));
    match () {
        () if says("// A block a tile of 64×64 results") => "product",
        () if says("// A block 256 rows") => "pairs",
        () if says("gamma_") => "gamma",
        () if launch.skeleton == "scan" && launch.launch.smem > 32 << 10 => "scans",
        () => &launch.skeleton,
    }
}

const SHARED: u32 = 48 << 10;

/// BAS-24, BAS-01: the registers of a launch in a trace and in `]kernels` are those that NVRTC
/// gives its text, and its occupancy follows from them.
#[test]
fn bas_24_registers_are_told_where_nvrtc_is() {
    if !nvrtc::is_child("bas_24_registers_are_told_where_nvrtc_is") {
        return;
    }
    let mut s = session();
    let lines = ["A←0.001×40 50⍴⍳2000", "((+/÷≢)*A)(A+.×⍉A)(+\\A)"];
    for arch in ["sm_80", "sm_90"] {
        let mut told = traced(&mut s, &lines);
        assert!(!tables::kernels(&told, None).expect("a table").contains("occupancy"));
        told.config.arch = arch.into();
        s.core().fill(&mut told);
        assert!(told.kernels.len() >= 3);
        let table = tables::kernels(&told, None).expect("a table");
        let head = table.lines().next().expect("a head");
        assert!(head.contains("  regs  occupancy  "), "{head}");
        for k in &told.kernels {
            let text = k.cuda.as_ref().expect("a text");
            let all = measured(&kir::program(std::slice::from_ref(text)), arch).expect("a cubin");
            let most = all.iter().map(|(_, usage)| usage.registers).max();
            assert!(most.is_some_and(|n| (8..=255).contains(&n)), "{}: {most:?}", k.name);
            assert_eq!((k.regs, k.spill), (most, Some(0)), "{}", k.name);
            let multiprocessor = occupancy::find(arch).expect("a row");
            let threads = k.launch.block.iter().product();
            let wanted = multiprocessor.occupancy(threads, most.unwrap_or(0), k.launch.smem);
            assert_eq!(k.occ, Some(wanted), "{}", k.name);
            let row = table.lines().find(|l| l.starts_with(&k.name)).expect("a row");
            let cells: Vec<&str> = row.split("  ").map(str::trim).collect();
            assert!(cells.contains(&k.regs.map_or(String::new(), |n| n.to_string()).as_str()));
            assert!(cells.contains(&format!("{:.0} %", wanted * 100.0).as_str()), "{row}");
        }
        let json = serde_json::to_value(&told).expect("JSON");
        assert!(json["kernels"].as_array().expect("rows").iter().all(|k| k["regs"].is_u64()));
    }
}

/// BAS-24, ACL-44: by the program, on a machine without a GPU: `trace --json` has the registers of
/// every launch, and `cuda --arch` those of either architecture.
#[test]
fn bas_24_acl_44_the_program_tells_registers_without_a_gpu() {
    if !nvrtc::is_child("bas_24_acl_44_the_program_tells_registers_without_a_gpu") {
        return;
    }
    let said = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_aplomb"));
        let done = command.args(args).output().expect("aplomb");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let line = "A←0.001×40 50⍴⍳2000 ⋄ A+.×⍉A";
    let told: serde_json::Value =
        serde_json::from_str(&said(&["trace", "--json", "-e", line])).expect("JSON");
    let launches = told["kernels"].as_array().expect("launches");
    assert!(!launches.is_empty());
    for k in launches {
        assert!(k["regs"].as_u64().is_some_and(|n| (8..=255).contains(&n)), "{}", k["name"]);
        assert!(k["occ"].as_f64().is_some_and(|x| x > 0.0) && k["fit"].is_array(), "{}", k["name"]);
    }
    for arch in ["sm_75", "sm_90"] {
        let text = said(&["cuda", "--arch", arch, "-e", line]);
        assert!(text.contains(&format!(": {arch}, ")) && text.contains(" registers, "), "{text}");
        assert!(text.contains("__global__"), "{text}");
    }
}

/// BAS-23, BAS-24: registers of every size that is worth running, and the rules asked again with
/// them; none of the sizes that are left spills.
#[test]
fn bas_23_sizes_of_tiles_have_the_registers_of_their_texts() {
    if !nvrtc::is_child("bas_23_sizes_of_tiles_have_the_registers_of_their_texts") {
        return;
    }
    let mut s = session();
    for line in ["A+.×⍉A", "F+.×⍉F", "(A+.×⍉A)(A⌈.+⍉A)"] {
        let lines = ["A←0.001×700 90⍴⍳63000 ⋄ F←'f32'⎕AS A", "A F", line];
        let mut told = traced(&mut s, &lines);
        let before = told.kernels.last().expect("a launch").tuning.clone();
        s.core().fill(&mut told);
        let k = told.kernels.last().expect("a launch");
        assert!(k.tuning.len() >= 20);
        for (row, was) in k.tuning.iter().zip(&before) {
            let worth = was.status == "model" || was.chosen;
            assert_eq!(row.regs.is_some(), worth, "{row:?}");
            assert!(row.regs.is_none_or(|n| (16..=255).contains(&n)), "{row:?}");
        }
        let chosen = k.tuning.iter().find(|r| r.chosen).expect("a size");
        assert_eq!(chosen.regs, k.regs, "the launch's text has this size");
        let left = k.tuning.iter().filter(|r| r.status == "model");
        for row in left.filter(|r| r.regs.is_some()) {
            let text = &row.text.text().expect("a text");
            let all =
                measured(&kir::program(std::slice::from_ref(text)), "sm_90").expect("a cubin");
            assert!(all.iter().all(|(_, usage)| usage.spills == 0), "{row:?}");
            assert!(all.iter().any(|(_, usage)| usage.shared == row.smem), "{row:?} {all:?}");
        }
    }
}

/// ACL-44: a text takes what its architecture has: copies past the registers begin with sm_80.
#[test]
fn acl_44_a_text_takes_what_its_architecture_has() {
    if !nvrtc::is_child("acl_44_a_text_takes_what_its_architecture_has") {
        return;
    }
    let mut s = session();
    for line in ["⊃+/,¯1 0 1∘.⊖¯1 0 1∘.⌽⊂A", "1+⍉F"] {
        let told = traced(&mut s, &["A←0.5×300 200⍴⍳60000 ⋄ F←'f32'⎕AS A", "A F", line]);
        let k = told.kernels.last().expect("a launch");
        assert_eq!(k.form, "boxes", "{line}");
        let program = kir::program(std::slice::from_ref(k.cuda.as_ref().expect("a text")));
        for (arch, has) in [("compute_75", false), ("compute_80", true), ("compute_90", true)] {
            let made = ptx(&program, arch).unwrap_or_else(|e| panic!("{line}: {e}"));
            for part in ["cp.async.ca.shared.global", "cp.async.wait_all"] {
                assert_eq!(made.contains(part), has, "{line} {arch} {part}");
            }
        }
    }
}

#[test]
fn acl_44_every_launch_compiles_for_every_architecture_within_its_budget() {
    if !nvrtc::is_child("acl_44_every_launch_compiles_for_every_architecture_within_its_budget") {
        return;
    }
    within_budgets(&["sm_75", "sm_90"]);
}

/// ACL-44: those between the oldest and the one that the budgets are of, and behind it.
#[test]
#[ignore = "nightly"]
fn acl_44_every_launch_compiles_for_the_other_architectures() {
    if !nvrtc::is_child("acl_44_every_launch_compiles_for_the_other_architectures") {
        return;
    }
    within_budgets(&["sm_80", "sm_100"]);
}

/// ACL-44: all launches compile for architectures that NVRTC knows, without a GPU.
fn within_budgets(archs: &[&str]) {
    for &arch in archs {
        let all = compiled(arch);
        assert!(all.len() >= LINES.len());
        let mut over = Vec::new();
        for (line, launch, usage) in &all {
            // Of a launch of several kernels it is the one with most.
            let own = all
                .iter()
                .filter(|(l, k, _)| (l, k.id, &k.name) == (line, launch.id, &launch.name));
            let most = own.map(|(_, _, usage)| usage.shared).max();
            assert!(
                most >= Some(launch.launch.smem),
                "{line}: the trace says {} bytes, {most:?}",
                launch.launch.smem
            );
            println!("{arch} {:8} {:3} {:5} {line}", shape(launch), usage.registers, usage.shared);
            let budget = BUDGETS.iter().find(|b| b.0 == shape(launch)).expect("a shape").1;
            // The other architectures take up to 8 more or less, the oldest 36.
            let most = budget
                + [("sm_90", 0), ("sm_75", 36)].iter().find(|m| m.0 == arch).map_or(8, |m| m.1);
            if usage.spills > 0 || usage.shared > SHARED || usage.registers > most {
                over.push(format!("{line}: {usage:?}, {most} registers are the most"));
            }
        }
        assert!(over.is_empty(), "{arch}: {over:#?}");
        // What looks at operands before a library multiplies.
        let looks = [DType::F64, DType::F32].map(kir::range);
        let range =
            measured(&kir::assemble(&looks).0, arch).unwrap_or_else(|e| panic!("{arch}: {e}"));
        let fine = range.iter().all(|(_, usage)| usage.spills == 0 && usage.registers <= 40);
        assert!(range.len() == 2 && fine, "{arch}: {range:?}");
    }
}

/// Loads and stores of 16 bytes that the texts ask for are what the compiler makes, on all
/// architectures.
#[test]
fn vectors_are_single_instructions() {
    if !nvrtc::is_child("vectors_are_single_instructions") {
        return;
    }
    let mut s = session();
    traced(&mut s, &["A←0.5×⍳600 ⋄ L←A>9 ⋄ I←2×⍳600 ⋄ Q←300 2⍴A", "A L I Q"]);
    for (line, pieces) in [
        ("2×A+1", ["ld.global.nc.v2.f64", "st.global.wb.v2.f64"]),
        ("Q[;1]×Q[;2]", ["ld.global.nc.v2.f64", "st.global.wb.v2.f64"]),
        ("A>5", ["ld.global.nc.v2.f64", "st.global.wb.v2.u8"]),
        ("L∧~L", ["ld.global.nc.v2.u32", "st.global.wb.v2.u32"]),
        ("+/A×A", ["ld.global.nc.v2.f64", "shfl.sync.down"]),
        ("I-1", ["ld.global.nc.v4.s16", "st.global.wb.v4.s32"]),
    ] {
        let trace = traced(&mut s, &[line]);
        let text = trace.kernels.last().and_then(|k| k.cuda.clone()).expect("a text");
        let program = kir::program(std::slice::from_ref(&text));
        let made = ptx(&program, "compute_90").unwrap_or_else(|e| panic!("{line}: {e}"));
        let found: Vec<&str> =
            made.lines().filter(|l| l.contains(".global") || l.contains("shfl")).collect();
        for piece in pieces {
            assert!(made.contains(piece), "{line}: {piece}\n{}\n{found:#?}", text.text);
        }
        // Both components come with one load, at each of two points and in the loop of the rest.
        let loads = found.iter().filter(|l| l.contains("ld.global.nc")).count();
        assert!(!line.starts_with('Q') || loads == 3, "{line}: {found:#?}");
    }
}

/// The instructions that ptxas made of the goldens for sm_90.
#[test]
#[ignore = "nightly"]
fn the_instructions_are_those_that_were_meant() {
    const NAME: &str = "the_instructions_are_those_that_were_meant";
    let Some(nvdisasm) = nvrtc::nvdisasm() else { return };
    if !nvrtc::is_child(NAME) {
        return;
    }
    let (all, program) = together();
    let made = cubin(&program, "sm_90").unwrap_or_else(|e| panic!("{e}"));
    let kernels = nvrtc::instructions(&nvdisasm, &made);
    assert!(kernels.len() >= all.len(), "{} kernels of {} launches", kernels.len(), all.len());
    let mut wrong = Vec::new();
    for (name, code) in &kernels {
        let (line, launch) = &all[launch_of(name).expect("a launch")];
        let text = &launch.cuda.as_ref().expect("a text").text;
        let count = |op: &str, has: &str| {
            code.iter().filter(|i| i.starts_with(op) && i.contains(has)).count()
        };
        let wide = (count("LDG.", ".128"), count("STG.", ".128"));
        let (local, divisions) = (count("LDL", "") + count("STL", ""), count("I2F", ".RP"));
        let kind = shape(launch);
        println!(
            "{name:6} {kind:8} {:5} instructions, wide {wide:?}, divisions {divisions}, local \
             {local}  {line}",
            code.len()
        );
        // The sine of huge numbers has a table on the stack, in CUDA's own library.
        if local > 0 && !CIRCLES.iter().any(|call| text.contains(call)) {
            wrong.push(format!("{line}: {name} uses local memory {local} times"));
        }
        // A reciprocal of an integer is a division by what is no constant; maps have magic numbers
        // for it.
        let divides = [" / ", " % "].iter().any(|by| {
            text.split(by).skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
        });
        if divisions > 0 && (kind == "map" || !divides) {
            wrong.push(format!("{line}: {name} divides integers {divisions} times"));
        }
        if let Some(meant) = WIDE.iter().find(|w| w.0 == line && w.1 != wide) {
            wrong.push(format!(
                "{line}: {wide:?} loads and stores of 16 bytes, {:?} were meant",
                meant.1
            ));
        }
    }
    let met = WIDE.iter().filter(|w| all.iter().any(|(line, _)| line == w.0)).count();
    assert!(wrong.is_empty() && met == WIDE.len(), "{met} of {}, {wrong:#?}", WIDE.len());
}

/// Loads and stores of 16 bytes in a line's kernel: two of f64 at once, where the operand is read
/// as it lies.
const WIDE: &[(&str, (usize, usize))] = &[
    ("2×A+1", (1, 1)),
    ("*A", (1, 1)),
    ("1+⍟A", (1, 1)),
    ("~A>2", (1, 0)),
    ("A÷B×3", (1, 1)),
    ("+/⍉M", (0, 0)),
];

/// Words of texts that call CUDA's own sine.
const CIRCLES: &[&str] = &["circle_by", "sine(", "gamma_"];

//! Names and figures of what a line read: the names of its own text, where arrays share their
//! items, and of reads by values the elements that they met, counted.

use crate::support::{session, traced};
use aplomb_ground::trace::Trace;

/// The names of the arrays that launches read and none wrote, in the order of their loads.
fn read(t: &Trace) -> Vec<String> {
    let given = |b: &&u32| t.buffers[**b as usize].role == "input";
    let inputs = t.kernels.iter().flat_map(|k| &k.inputs).filter(given);
    let name = |b: &u32| {
        let node = &t.nodes[t.buffers[*b as usize].node as usize];
        node.name.clone().unwrap_or_else(|| format!("n{}", node.id))
    };
    inputs.map(name).collect()
}

/// Each line on arrays that share their items, and the names by which it reads them.
const NAMES: &[(&str, &[&str])] = &[
    ("+/x×x", &["x"]),
    ("+/+/M", &["M"]),
    ("⌈/y", &["y"]),
    ("+/0.5×y", &["y"]),
    ("+/+/2×P", &["P"]),
    ("+/⌽y", &["y"]),
    ("+/(,M)×3", &["M"]),
    ("+/z×y", &["z"]),
    ("+/+/M×100 200⍴⌽y", &["y", "M"]),
    ("f y", &["y"]),
    ("g 3", &["x"]),
    ("f x ⊣ 'y' ⍝ y", &["x"]),
    ("+/b×2", &["x"]),
    ("(+/x)+⌈/w", &["w", "x"]),
];

/// `y←x`, `,M` and `40 50⍴x` are other names and shapes of one storage: a read is told by the name
/// that its source has for it.
#[test]
fn a_read_is_named_as_in_its_source() {
    let data = "x←?20000⍴0 ⋄ M←100 200⍴x ⋄ P←M ⋄ y←x ⋄ z←,M ⋄ w←÷⍳20000 ⋄ b←15000↑x";
    let calls = "f←{a←⍵ ⋄ +/a×⍵÷3} ⋄ g←{+/x×⍵}";
    let mut wrong = Vec::new();
    for (line, names) in NAMES {
        let t = traced(&mut session(), &[data, calls, "⎕DR¨x w", line]);
        let told = read(&t);
        if told != *names {
            wrong.push(format!("{line}: {told:?} for {names:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Statements of one line are each told with the names that they had.
#[test]
fn each_statement_of_a_line_is_told_by_its_names() {
    let mut s = session();
    s.core().set_tracing(true);
    let mut heard = crate::support::Heard::default();
    let code = "x←?20000⍴0 ⋄ y←x ⋄ +/x×x ⋄ +/y×2 ⋄ x←3 ⋄ ⌈/y".into();
    let request =
        aplomb_ground::protocol::Request::Execute { code, name: "line".into(), silent: true };
    s.handle(request, &mut heard);
    let told: Vec<Vec<String>> = s.core().take_traces().iter().map(read).collect();
    let told: Vec<Vec<String>> = told.into_iter().filter(|names| !names.is_empty()).collect();
    assert_eq!(told, [["x"], ["y"], ["y"]]);
}

/// Lines whose values say what they read of `a`, and the number of elements that they meet of it,
/// by APL itself.
const MET: &[(&str, &str)] = &[
    ("+/a[I]", "≢∪I"),
    ("+/2×a[1+2×I]", "≢∪1+2×I"),
    ("+/a[20000|I+7]", "≢∪20000|I+7"),
    ("+/a[I[J]]", "≢∪I[J]"),
    ("+/a[I]-a[⌽I]", "≢∪I"),
    ("+/a[I]-a[J]", "≢∪I,J"),
    ("+/a[I]-a[⍳15000]", "≢∪I,⍳15000"),
    ("+/,(100 200⍴a)[R;]", "200×≢∪R"),
    ("+/,(100 200⍴a)[R;S]", "(≢∪R)×≢∪S"),
    ("+/1↓0,a[I]", "≢∪I"),
];

/// Reads by values meet as many elements as the values that are at hand say, not one a point: the
/// record of a run has their number, and `]why`, `]kernels` tell it.
#[test]
fn reads_by_values_are_counted_where_the_values_are_there() {
    let data = "a←÷⍳20000 ⋄ I←1+?15000⍴9000 ⋄ J←?15000⍴3000 ⋄ R←?60⍴40 ⋄ S←?45⍴50";
    for (line, count) in MET {
        let mut s = session();
        let t = traced(&mut s, &[data, "⎕DR¨a I J R S", line]);
        let values = s.values_of(&format!("n←{count}"), &["n"]).expect("a number");
        let wanted = values[0].number_scalar().expect("a number") as u64;
        let k = t.kernels.last().expect("a launch");
        let size = |b: u32| match &*t.buffers[b as usize].dtype {
            "f64" => 8,
            "i32" => 4,
            "i16" => 2,
            _ => 1,
        };
        let is_a = |b: u32| size(b) == 8 && t.buffers[b as usize].role == "input";
        // Each read of another array meets all that any does.
        let others = k.inputs.iter().filter(|b| !is_a(**b)).map(|b| {
            let own = k.reads.iter().filter(|r| r.buf == *b).map(|r| r.distinct);
            own.fold(0, u64::max) * size(*b)
        });
        let read = k.meas.as_ref().and_then(|m| m.read);
        assert_eq!(read, Some(8 * wanted + others.sum::<u64>()), "{line}: {:#?}", k.reads);
        assert!(Some(k.est.r) >= read, "{line}: a bound");
        let why = aplomb_viz::why::summary(&t, 80);
        assert!(!why.contains("at most"), "{line}: {why}");
    }
    // What a launch made is gone when the story is told, so its values bound nothing.
    let mut s = session();
    let t = traced(&mut s, &[data, "⎕DR¨a I J", "+/a[⍋⍋a]×2"]);
    let bounded = |k: &&aplomb_ground::trace::LaunchRecord| k.reads.iter().any(|r| r.distinct == 0);
    for k in t.kernels.iter().filter(bounded) {
        assert_eq!(k.meas.as_ref().and_then(|m| m.read), None, "{}", k.name);
    }
}

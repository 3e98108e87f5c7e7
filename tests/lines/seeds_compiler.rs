//! Rows of the four systems that the compiler must reproduce, each a test by the row's name. The
//! numbers are those of docs/GOLDENS.md: worked examples of the papers, recomputed.

use crate::support::{breaks, told};
use aplomb_compiler::pass::{Options, PIPELINE, PRESETS};
use aplomb_ground::trace::{DecisionRecord, Trace};

const INPUTS: &str =
    "A←4 5⍴1+⍳20 ⋄ B←4 5⍴0.5×⍳20 ⋄ C←4 5⍴⌽⍳20 ⋄ D←4 5⍴2×⍳20 ⋄ v←0.5×⍳9 ⋄ w←9-⍳9 ⋄ M←3 3⍴v";

/// The inputs exist before the line runs.
fn on(how: &[&str], line: &str) -> Trace {
    told(how, &[INPUTS, "A B C D v w M", line])
}

fn launches(how: &[&str], line: &str) -> usize {
    on(how, line).kernels.len()
}

fn sha(t: &Trace) -> Option<&str> {
    t.result.as_ref().map(|r| r.sha.as_str())
}

fn decided<'a>(t: &'a Trace, what: &str) -> Vec<&'a DecisionRecord> {
    t.decisions.iter().filter(|d| d.what == what).collect()
}

/// The reasons of breaks, without what it would cost to compute a shared term again.
fn uses(t: &Trace) -> Vec<String> {
    let cut = |b: &String| match b.split_once(",cost=") {
        Some((reason, cost)) => {
            assert!(cost.ends_with("ns)"), "{b}");
            format!("{reason})")
        }
        None => b.clone(),
    };
    breaks(t).iter().map(cut).collect()
}

/// The glyphs of what breaks between: parent and child, in the order of the pass.
fn broken(t: &Trace) -> Vec<(String, String)> {
    let op = |id: u32| t.nodes[id as usize].op.clone();
    let pass = t.passes.iter().find(|p| p.name == "break-random").expect("the pass");
    let events = pass.events.iter().filter(|e| e.rule == "break");
    events.map(|e| (op(e.at[0]), op(e.into.expect("the operand")))).collect()
}

const FIGURE: &str = "((C-1⌽D)[;1])++/A÷B×C";

#[test]
fn acl_30_take_one_breaks_before_every_node() {
    let t = on(&["passes=acl2006", "off=fusion"], FIGURE);
    assert_eq!(t.kernels.len(), 7);
    assert_eq!(t.kernels.iter().map(|k| k.out.len()).sum::<usize>(), 7);
    assert_eq!(sha(&t), sha(&on(&[], FIGURE)));
}

#[test]
fn acl_32_the_first_version_breaks_at_random_access_in_pre_order() {
    let t = on(&["passes=acl2006", "off=push-down"], FIGURE);
    let pairs = broken(&t);
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(pairs.len(), 2, "{pairs:?}");
    assert_eq!((pairs[0].1, pairs[1]), ("-", ("+/", "÷")));
    assert_eq!(t.kernels.len(), 4);
    assert_eq!(decided(&t, "break").len(), 2);
}

#[test]
fn acl_37_two_passes_leave_the_break_before_the_reduction() {
    let t = on(&["passes=acl2006"], FIGURE);
    assert_eq!(broken(&t), [("+/".to_string(), "÷".to_string())]);
    assert_eq!(t.kernels.len(), 3);
    // section of a rotate is one read.
    assert!(t.kernels.iter().flat_map(|k| &k.reads).any(|r| r.affine == "(i)→(i,1)"));
    assert!(launches(&[], FIGURE) <= 2);
    for pass in ["break-random", "push-down"] {
        assert!(t.passes.iter().any(|p| p.name == pass && p.changed), "{pass}");
    }
}

/// Five taps along rows, then along columns, with what lies outside 0.
fn convolution(line: &str, how: &[&str]) -> Trace {
    let taps = "x←8 9⍴1+⍳72 ⋄ k←0.1 0.2 0.4 0.2 0.1";
    told(how, &[taps, "x k", line])
}

const ROWS: &str = "(k[1]×0(⌽⍠0)x)+(k[2]×1(⌽⍠0)x)+(k[3]×2(⌽⍠0)x)+(k[4]×3(⌽⍠0)x)+k[5]×4(⌽⍠0)x";
const BOTH: &str = "{(k[1]×0(⊖⍠0)⍵)+(k[2]×1(⊖⍠0)⍵)+(k[3]×2(⊖⍠0)⍵)+(k[4]×3(⊖⍠0)⍵)+k[5]×4(⊖⍠0)⍵}";

#[test]
fn acl_37_convolution_pushes_shifts_to_the_leaf_or_breaks_at_the_row_result() {
    let one = convolution(ROWS, &["passes=acl2006"]);
    assert_eq!((one.kernels.len(), breaks(&one)), (1, vec![]));
    let both = format!("{BOTH}{ROWS}");
    // (a) equal terms broken first: the row result, used five times.
    let shared = convolution(&both, &["passes=acl2006"]);
    assert_eq!((shared.kernels.len(), uses(&shared)), (2, vec!["shared(uses=5)".to_string()]));
    // (c) by the printed rule a 0 outside stops at ×.
    let literal = convolution(&both, &["passes=acl2006", "off=cse"]);
    let reasons = breaks(&literal);
    assert_eq!((literal.kernels.len(), reasons.len()), (6, 5));
    assert!(reasons.iter().all(|r| r == "oob-default-not-identity"), "{reasons:?}");
    // (b) pushed all the way: 25 reads and no break.
    let pushed = convolution(&both, &["passes=bar2010"]);
    assert_eq!((pushed.kernels.len(), breaks(&pushed)), (1, vec![]));
    let reads: usize = pushed.kernels[0]
        .reads
        .iter()
        .filter(|r| r.oob.is_some() || r.affine.starts_with("(i,j)→(i,j)"))
        .count();
    assert_eq!(reads, 25);
    for t in [&shared, &literal, &pushed] {
        assert_eq!(sha(t), sha(&convolution(&both, &[])));
    }
}

#[test]
fn acl_17_a_constant_outside_distributes_or_a_test_guards_the_whole() {
    for line in ["1(⌽⍠0)v+w", "1(⌽⍠7)v+w"] {
        let t = on(&[], line);
        assert_eq!((t.kernels.len(), breaks(&t)), (1, vec![]), "{line}");
        assert_eq!(sha(&t), sha(&on(&["strict"], line)), "{line}");
    }
    assert_eq!(launches(&["strict"], "1(⌽⍠0)v+w"), 1);
    let t = on(&["strict"], "1(⌽⍠7)v+w");
    assert_eq!((t.kernels.len(), breaks(&t)), (2, vec!["oob-default-not-identity".to_string()]));
    assert!(
        t.decisions.iter().any(|d| d.seed == "ACL-17" && d.text.contains("7 is no identity of +"))
    );
}

#[test]
fn acl_38_transforms_compose_and_by_the_rules_of_2006_not_all_do() {
    for how in [&[][..], &["strict"]] {
        let t = on(how, "⍉2⌽1↓A");
        assert_eq!((t.kernels.len(), t.kernels[0].reads.len()), (1, 1), "{how:?}");
    }
    let line = "¯2(⌽⍠0)2(⌽⍠0)v";
    assert_eq!(launches(&[], line), 1);
    let t = on(&["strict"], line);
    assert_eq!((t.kernels.len(), breaks(&t)), (2, vec!["oob-compose".to_string()]));
    assert_eq!(sha(&t), sha(&on(&[], line)));
}

#[test]
fn acl_39_a_transform_that_grows_stays_above_what_is_dear() {
    let tile = |below: &str| format!("⍉1000 1000⍴⍉1000 100⍴{below}");
    let setup = "a←100 100⍴⍳9 ⋄ b←100 100⍴0.5×⍳7";
    let t = told(&[], &[setup, "a b", &tile("a+b")]);
    let kept = decided(&t, "push").into_iter().find(|d| d.seed == "ACL-39").expect("a decision");
    assert_eq!((kept.chosen.as_str(), kept.alt[0].name.as_str()), ("keep", "push"));
    for number in ["20000", "10000", "1000000", "2000000"] {
        assert!(kept.text.contains(number), "{}", kept.text);
    }
    assert_eq!(t.kernels.len(), 2);
    let bare = told(&[], &[setup, "a b", &tile("a")]);
    let pushed =
        decided(&bare, "push").into_iter().find(|d| d.seed == "ACL-39").expect("a decision");
    assert_eq!((pushed.chosen.as_str(), pushed.alt[0].name.as_str()), ("push", "keep"));
    assert_eq!(bare.kernels.len(), 1);
}

#[test]
fn acl_40_equal_terms_by_words_moved() {
    // Two uses of two operands at other places: computed twice; two uses of four are stored.
    let two = on(&["passes=acl2006"], "{(1⌽⍵)-2⌽⍵}v+w");
    assert_eq!((two.kernels.len(), breaks(&two)), (1, vec![]));
    let four = on(&["passes=acl2006"], "{(1⌽⍵)-2⌽⍵}(v+w)-(⌽v)÷1+⌽w");
    assert_eq!(uses(&four), ["shared(uses=2)"]);
    // At one place it is a register.
    let line = "y×y⊣y←1+v";
    assert_eq!((launches(&["passes=acl2006"], line), launches(&[], line)), (1, 1));
    // A shared fold is folded once.
    let t = on(&[], "s×v÷s⊣s←+/v");
    assert_eq!(t.kernels.iter().filter(|k| k.skeleton == "reduce").count(), 1);
}

#[test]
fn acl_35_siblings_share_a_launch() {
    let line = "(+/A)(⌈/A)";
    assert_eq!((launches(&[], line), launches(&["off=horizontal"], line)), (1, 2));
    assert_eq!((launches(&[], "(+⌿A)(⌈⌿A)"), launches(&[], "(+⌿A)(+/A)")), (1, 2));
}

#[test]
fn acl_33_a_sum_of_forty_arrays_is_three_launches_of_sixteen() {
    let names: Vec<String> = (1..=40).map(|k| format!("a{k}")).collect();
    let setup: Vec<String> = (1..=40).map(|k| format!("a{k}←{k}+0.5×⍳9")).collect();
    let (setup, shown, sum) = (setup.join(" ⋄ "), names.join(" "), names.join("+"));
    let run = |how: &[&str]| told(how, &[&setup, &shown, &sum]);
    let t = run(&["inputs=16"]);
    assert_eq!(t.kernels.len(), 3);
    assert_eq!(breaks(&t), ["limit:inputs(17>16)", "limit:inputs(17>16)"]);
    assert_eq!((run(&[]).kernels.len(), sha(&run(&[]))), (1, sha(&t)));
    assert_eq!(run(&["inputs=16", "off=split"]).kernels.len(), 1);
}

#[test]
fn acc_13_explain_shows_the_delayed_form() {
    let form = |line: &str| {
        let t = on(&[], line);
        let made = t.nodes.iter().rev().find(|n| n.uses > 0 && n.kind != "const").expect("a node");
        (t.kernels.len(), made.attr.delayed.clone().unwrap_or_default())
    };
    assert_eq!(form("1+⌽v"), (1, "Step(p=8-i, f=1+x) → Transform".into()));
    assert_eq!(form("⌽1+v"), (1, "Step(p=8-i, f=1+x) → Transform".into()));
    assert_eq!(form("1+v"), (1, "Step(p=id, f=1+x) → Map".into()));
    assert_eq!(form("⌽v"), (1, "Step(p=8-i, f=id) → Backpermute".into()));
    assert_eq!(form("2×⍳9"), (1, "Yield(f=2×(i+1)) → Generate".into()));
    assert_eq!(form("3↑v"), (1, "Step(p=id, f=id) → Backpermute".into()));
    assert_eq!(form("2↓⌽v"), (1, "Step(p=6-i, f=id) → Backpermute".into()));
    assert_eq!(form("(1+v)×⌽v").1, "Yield(f=(1+v[i])×v[8-i]) → Generate");
    assert_eq!(launches(&[], "⌽⌽v"), 0);
    // A number that an index made of a fixed place is a number.
    let windows = form("{+/,(3 3⍴⍳9)×⍵}⌺3 3⊢M").1;
    assert!(windows.contains("9×M") && !windows.contains("(9)"), "{windows}");
}

#[test]
fn acc_14_counters_of_the_rules() {
    let rules = |line: &str| on(&[], line).rules;
    assert_eq!(rules("1+2×v-3").get("map/map"), Some(&2));
    assert_eq!(rules("1+⌽v").get("map/backpermute"), Some(&1));
    assert_eq!(rules("⌽1+v").get("backpermute/map"), Some(&1));
    assert_eq!(rules("(1+v)×2×w").get("zipWith/map"), Some(&2));
    assert_eq!(launches(&[], "(1+2×v)×3-⌽w÷4"), 1);
}

#[test]
fn acc_17_what_is_shared_is_stored_unless_cost_decides() {
    let line = "{(+/⌽⍵)+⌈/2×⍵}1+v";
    let kept = on(&["passes=acc2013"], line);
    assert_eq!(uses(&kept), ["shared(uses=2)"]);
    let d = kept.decisions.iter().find(|d| d.reason == "shared").expect("a decision");
    assert!(
        d.cost.bytes > 0 && !d.alt.is_empty() && d.text.contains("computing it at each use"),
        "{d:?}"
    );
    let by_cost = on(&["passes=acc2013", "dup"], line);
    assert_eq!(breaks(&by_cost), Vec::<String>::new());
    assert_eq!(kept.kernels.len(), by_cost.kernels.len() + 1);
    assert_eq!(sha(&kept), sha(&by_cost));
}

#[test]
fn acc_18_uses_of_the_shape_alone_do_not_count() {
    let line = "{(≢⍵)+(≢⍵)×⌽⍵}*v";
    let t = on(&["passes=acc2013"], line);
    assert_eq!((t.kernels.len(), t.rules.get("shape-use")), (1, Some(&1)));
    let off = on(&["passes=acc2013", "off=shape-uses"], line);
    assert_eq!((off.kernels.len(), uses(&off)), (2, vec!["shared(uses=2)".to_string()]));
    assert_eq!((launches(&[], line), sha(&t)), (1, sha(&off)));
}

#[test]
fn acc_19_lets_move_out_of_producers() {
    let line = "⌽y×⌽y⊣y←1+v";
    let (with, without) = (on(&[], line), on(&["off=float-lets"], line));
    assert_eq!((with.kernels.len(), breaks(&with)), (1, vec![]));
    assert_eq!((without.kernels.len(), breaks(&without)), (2, vec!["off:float-lets".to_string()]));
    assert_eq!(sha(&with), sha(&without));
}

#[test]
fn acc_20_what_follows_a_fold_joins_it_but_not_in_2013() {
    assert_eq!((launches(&["passes=acc2013"], "2×+/A"), launches(&[], "2×+/A")), (2, 1));
    assert_eq!(
        (launches(&["passes=acc2013"], "+/v×w"), launches(&["passes=acc2013"], "+/1+⌽v")),
        (1, 1)
    );
    assert!(launches(&[], "{e÷+/e←*⍵-⌈/⍵}⍤1⊢A") <= 3);
}

#[test]
fn bar_13_rmse_is_one_launch() {
    let line = "v{((+/(⍺-⍵)*2)÷≢⍺)*.5}w";
    assert_eq!((launches(&[], line), launches(&["passes=bar2010"], line)), (1, 1));
    let off = on(&["off=fusion"], line);
    assert!(off.kernels.len() >= 3, "{}", off.kernels.len());
    assert_eq!(sha(&off), sha(&on(&["passes=bar2010"], line)));
}

#[test]
fn bar_16_folds_that_do_not_depend_on_the_element_are_hoisted() {
    let line = "{(+/v)+⍵}¨20⍴w";
    let t = on(&[], line);
    assert_eq!(t.kernels.len(), 2);
    assert!(t.rules.get("hoisted").is_some_and(|n| *n >= 1));
    let d = decided(&t, "hoist");
    assert!(d.iter().any(|d| d.seed == "BAR-16" && d.switch == "hoist"), "{d:?}");
    let off = on(&["off=hoist"], line);
    assert_eq!(sha(&t), sha(&off));
    let flops = |t: &Trace| t.kernels.iter().map(|k| k.est.flops).sum::<u64>();
    assert!(flops(&off) > 3 * flops(&t), "{} {}", flops(&off), flops(&t));
}

#[test]
fn bar_17_a_fold_that_depends_on_the_element_warns() {
    let t = on(&[], "{+/⍵+v}¨20⍴w");
    assert_eq!(t.kernels.len(), 1);
    let w = t.diagnostics.iter().find(|d| d.code == "W-seqloop").expect("a warning");
    assert!(w.span.is_some() && w.text.contains("each of 20 results is a loop of 9"), "{w:?}");
    assert!(on(&[], "{⍵+v}¨20⍴⊂w").diagnostics.iter().all(|d| d.code != "W-seqloop"));
}

#[test]
fn bar_12_barracuda_never_stores_what_maps_and_folds_read() {
    for line in ["+/v×1+⌽w", "(1↓v)-¯1↓v", "+/{(1⌽⍵)×⍵-⌽⍵}v÷1+w"] {
        let t = on(&["passes=bar2010"], line);
        let hard = breaks(&t).iter().all(|r| r == "may-fail");
        assert!(hard, "{line}: {:?}", breaks(&t));
        assert_eq!(sha(&t), sha(&on(&[], line)), "{line}");
    }
    assert_eq!(launches(&["passes=bar2010"], "+/v×1+⌽w"), 1);
    assert_eq!(launches(&["passes=bar2010"], "(1↓v)-¯1↓v"), 1);
    // A term that is read at several places stands in no array, either, wherever its let stands.
    for line in ["{2×⊃+/{4↑⍵↓y}¨⍳5⊣y←1+⍵}v", "{y←0.5×⍵ ⋄ 1+(1↓y)-¯1↓y}v"]
    {
        let t = on(&["passes=bar2010"], line);
        assert!(breaks(&t).is_empty(), "{line}: {:?}", breaks(&t));
        assert_eq!(sha(&t), sha(&on(&[], line)), "{line}");
    }
}

/// The lets of a line: named, then by de Bruijn indices.
fn lets(line: &str) -> (String, String) {
    let t = told(&[], &["x←0.5×⍳9", "x", line]);
    let bind = t.passes.iter().find(|p| p.name == "bind").expect("the pass");
    let view = bind.view.clone().expect("a view");
    let (named, indexed) = view.split_once('\n').expect("two forms");
    // ACC-10: as many lets as the source shares terms.
    let shared = t.passes[0].roots.len();
    assert!(shared > 0 && bind.lets.len() == named.matches("let ").count());
    (named.into(), indexed.into())
}

#[test]
fn acc_08_lets_stand_just_above_all_uses_in_order_of_height() {
    let cases = [
        ("a×a⊣a←x+1", "let a = x + 1 in a × a", "let x + 1 in #0 × #0"),
        (
            "b-b⊣b←a×a⊣a←x+1",
            "let b = (let a = x + 1 in a × a) in b - b",
            "let (let x + 1 in #0 × #0) in #0 - #0",
        ),
        (
            "{a←x+1 ⋄ b←a×a ⋄ a-b÷b}0",
            "let a = x + 1 in a - (let b = a × a in b ÷ b)",
            "let x + 1 in #0 - (let #0 × #0 in #0 ÷ #0)",
        ),
        (
            "{p←x×2 ⋄ q←x-3 ⋄ (p+p)⌈q÷q}0",
            "(let p = x × 2 in p + p) ⌈ (let q = x - 3 in q ÷ q)",
            "(let x × 2 in #0 + #0) ⌈ (let x - 3 in #0 ÷ #0)",
        ),
        (
            "{a←x×2 ⋄ b←-|a ⋄ (a×b)-b}0",
            "let a = x × 2 in let b = - (| a) in (a × b) - b",
            "let x × 2 in let - (| #0) in (#1 × #0) - #0",
        ),
        (
            "{a←x+1 ⋄ b←(-a)+|a ⋄ c←b×a ⋄ c÷b-c}0",
            "let a = x + 1 in let b = (- a) + (| a) in let c = b × a in c ÷ (b - c)",
            "let x + 1 in let (- #0) + (| #0) in let #0 × #1 in #0 ÷ (#1 - #0)",
        ),
    ];
    for (line, named, indexed) in cases {
        assert_eq!(lets(line), (named.to_string(), indexed.to_string()), "{line}");
    }
    // f(k) = f(k-1)+f(k-2): f0 to f4 at the root, f5 is used once.
    let (named, _) =
        lets("{f0←x+1 ⋄ f1←f0+x ⋄ f2←f1+f0 ⋄ f3←f2+f1 ⋄ f4←f3+f2 ⋄ f5←f4+f3 ⋄ f5+f4}0");
    let order: Vec<&str> =
        named.split("let ").skip(1).filter_map(|p| p.split(' ').next()).collect();
    assert_eq!(order, ["f0", "f1", "f2", "f3", "f4"]);
}

#[test]
fn acc_07_prune_shows_placeholders_and_how_often_each_term_is_used() {
    let t = told(&[], &["x←0.5×⍳9", "x", "{a←x+1 ⋄ b←(-a)+|a ⋄ c←b×a ⋄ c÷b-c}0"]);
    let view =
        t.passes.iter().find(|p| p.name == "prune").and_then(|p| p.view.clone()).expect("a view");
    let omega = view.split_once("Ω: ").expect("the map").1;
    assert_eq!(
        omega.split(", ").map(|w| w.rsplit(' ').next().expect("a count")).collect::<Vec<_>>(),
        ["3", "2", "2"]
    );
    assert!(view.contains("_2"), "{view}");
    // Leaves never float; what the pass cse adds is marked so.
    let leaf = told(&[], &["x←0.5×⍳9", "x", "(x+1)×x+1"]);
    assert!(leaf.passes.iter().find(|p| p.name == "bind").is_some_and(|p| p.lets.is_empty()));
    assert!(leaf.decisions.iter().any(|d| d.reason == "written-twice" && d.switch == "cse"));
}

#[test]
fn bar_04_each_rule_fires_on_its_witness_and_changes_no_value() {
    let witnesses = [
        ("add-zero", "i+0"),
        ("zero-add", "0+i"),
        ("sub-zero", "x-0"),
        ("mul-one", "x×1"),
        ("one-mul", "1×x"),
        ("div-one", "x÷1"),
        ("mul-zero", "i×0"),
        ("zero-mul", "0×i"),
        ("neg-neg", "--x"),
        ("add-add", "1+2+i"),
        ("mul-mul", "3×2×i"),
        ("floor-whole", "⌊⌊x"),
        ("abs-abs", "||x"),
        ("not-not", "~~x>1"),
        ("pow-half", "x*0.5"),
        ("pow-two", "x*2"),
        ("conjugate", "+x*0.3"),
        ("compose", "⌽⌽x"),
        ("compose", "⍉⍉3 3⍴x"),
        ("identity", "9⍴-x"),
    ];
    for (rule, line) in witnesses {
        let t = told(&[], &["x←0.5×⍳9 ⋄ i←⍳9", "x i", line]);
        let off = told(&["off=simplify"], &["x←0.5×⍳9 ⋄ i←⍳9", "x i", line]);
        assert!(t.rules.contains_key(rule), "{line}: {:?}", t.rules);
        assert_eq!(t.result, off.result, "{line}");
    }
    // Not where ∞, NaN or ¯0 could tell: floats keep x+0 and x×0.
    let t = told(&[], &["x←0.5×⍳9", "x", "(x+0)-x×0"]);
    assert!(
        t.rules.keys().all(|r| !["add-zero", "mul-zero"].contains(&r.as_str())),
        "{:?}",
        t.rules
    );
}

#[test]
fn acc_17_the_shared_producer_of_the_figure() {
    let line = "{p1←1+⍵ ⋄ c1←+\\p1 ⋄ p5←(⌽2×p1)+-c1 ⋄ +/*|p5}0.001×v";
    let run =
        |how: &[&str]| told(how, &["v←0.5×⍳9 ⋄ u←0.001×v", "v u", &line.replace("0.001×v", "u")]);
    assert_eq!(run(&["off=fusion"]).kernels.len(), 9);
    let kept = run(&["passes=acc2013"]);
    assert_eq!((kept.kernels.len(), uses(&kept)), (3, vec!["shared(uses=2)".to_string()]));
    // p2 to p7 are one Yield, which the last fold consumes.
    let last = kept.nodes.iter().rev().find(|n| n.uses > 0 && n.op == "*").expect("p7");
    assert!(
        last.attr.delayed.as_deref().is_some_and(|d| d.contains("Yield(f=*|(2×p1[8-i])+-c1[i])")),
        "{last:?}"
    );
    assert_eq!(run(&["passes=acc2013", "dup"]).kernels.len(), 2);
    // By default p1 is light, and what is dear is kept and written by the launch of the scan.
    assert_eq!(run(&[]).kernels.len(), 2);
    let dear =
        told(&[], &["u←0.0005×⍳90", "u", &line.replace("0.001×v", "u").replace("p1←1+⍵", "p1←*⍵")]);
    assert_eq!((dear.kernels.len(), breaks(&dear)), (2, vec!["work".to_string()]));
    for how in
        [&["off=fusion"][..], &["passes=acc2013"], &["passes=acc2013", "dup"], &["passes=acl2006"]]
    {
        assert_eq!(sha(&run(how)), sha(&run(&[])), "{how:?}");
    }
}

#[test]
fn acc_15_a_gather_is_a_step_at_computed_places() {
    let t = told(&[], &["A←0.5×⍳9 ⋄ I←3 1 2 9", "A I", "1+A[I]"]);
    let made = t.nodes.iter().rev().find(|n| n.uses > 0 && n.kind != "const").expect("a node");
    let form = made.attr.delayed.clone().unwrap_or_default();
    assert_eq!(form, "Step(p=I[i], f=1+x) → Transform");
    assert_eq!(t.kernels.len(), 1);
}

/// BAR-14, BAR-15, BAS-21: what overlaps within a block is copied once, with its halo; what crosses
/// rows, with a pad.
#[test]
fn bar_14_overlapping_reads_share_a_copy() {
    let setup = "a←0.5×⍳9999 ⋄ G←'f32'⎕AS 0.5×70 90⍴⍳6300 ⋄ L←G>9";
    let run = |how: &[&str], line: &str| told(how, &[setup, "a G L", line]);
    let cuda = |t: &Trace| t.kernels[0].cuda.as_ref().expect("a text").text.clone();
    let near = |t: &Trace| t.kernels[0].reads.iter().filter(|r| r.space == "shared").count();
    let difference = run(&["passes=bar2010"], "(1↓a)-¯1↓a");
    let (d, text) = (decided(&difference, "place"), cuda(&difference));
    assert_eq!((d[0].seed.as_str(), d[0].alt[0].name.as_str()), ("BAR-14", "global"));
    assert!(d[0].cost.bytes < d[0].alt[0].cost.bytes, "{d:?}");
    // The paper's block of 256 points needs 257 elements, each loaded once.
    assert!(
        text.contains("__shared__ double near0[257]") && text.contains("__syncthreads()"),
        "{text}"
    );
    assert_eq!((text.matches("a0[").count(), near(&difference)), (1, 2));
    // By default two reads are left to the caches, and so is what a switch says, by both names.
    let how = [&[][..], &["passes=bar2010", "off=tile"], &["passes=bar2010", "off=shared-mem"]];
    for how in how {
        let t = run(how, "(1↓a)-¯1↓a");
        assert!(near(&t) == 0 && !cuda(&t).contains("__shared__"), "{how:?}");
    }
    let life = run(&[], "⊃1 L∨.∧3 4=+/,¯1 0 1∘.⊖¯1 0 1∘.⌽⊂L");
    assert_eq!(near(&life), 9);
    assert!(cuda(&life).contains("__shared__ u8 near0[1300]"), "{}", cuda(&life));
    for (how, count, row) in [(&[][..], 1056, "BAS-21"), (&["off=pad"][..], 1024, "BAS-22")] {
        let turned = run(how, "1+⍉G");
        assert!(cuda(&turned).contains(&format!("near0[{count}]")), "{}", cuda(&turned));
        assert!(turned.decisions.iter().any(|d| d.seed == row), "{row}");
    }
    for line in ["(1↓a)-¯1↓a", "1+⍉G"] {
        for how in [
            &["passes=bar2010"][..],
            &["passes=bas2008"],
            &["off=tile"],
            &["off=pad"],
            &["off=place"],
        ] {
            assert_eq!(sha(&run(how, line)), sha(&run(&[], line)), "{line} {how:?}");
        }
    }
    // Fifteen taps are copied by both pipelines, with a halo of 14; halves that never meet by none.
    let taps: Vec<String> = (0..15).map(|k| format!("({k}↓¯{}↓a)", 14 - k)).collect();
    let taps = taps.join("+");
    for how in [&[][..], &["passes=bar2010"]] {
        let t = run(how, &taps);
        let says = &decided(&t, "place")[0].text;
        assert!(says.contains("overlap(15 refs, halo 14)"), "{says}");
        assert_eq!((t.kernels.len(), near(&t)), (1, 15), "{how:?}");
        assert_eq!(cuda(&t).matches("a0[").count(), 1, "{how:?}: {}", cuda(&t));
        assert_eq!(near(&run(&[how, &["off=tile"]].concat(), &taps)), 0, "{how:?}");
        assert_eq!(near(&run(how, "(4900↑a)-¯4900↑a")), 0, "{how:?}");
    }
    // What is left to the caches says so.
    let left = run(&[], "(1↓a)-¯1↓a");
    let d = decided(&left, "place");
    assert_eq!((d[0].seed.as_str(), d[0].chosen.as_str()), ("BAR-14", "global"));
    assert!(d[0].text.contains("caches serve"), "{}", d[0].text);
    // BAR-15: reads that are a block apart share nothing.
    let apart = |n: usize| run(&["passes=bar2010"], &format!("({n}↓a)-¯{n}↓a"));
    assert_eq!((near(&apart(255)), near(&apart(256))), (2, 0));
}

/// BAR-14 by real lines: the block of the sentence is the one of the text, and the rule's block
/// lies around its centre.
#[test]
fn bar_14_a_sentence_speaks_of_the_block_that_there_is() {
    let setup = "a←0.5×⍳9999 ⋄ J←99 99⍴0.5×⍳9801";
    let of = |how: &[&str], line: &str| {
        let t = told(how, &[setup, "a J", line]);
        let text = t.kernels[0].cuda.as_ref().expect("a text").text.clone();
        (decided(&t, "place")[0].text.clone(), text)
    };
    // Four neighbours, however they are written. The text has no tile of theirs.
    let shifts = "0.25×(1⊖J)+(¯1⊖J)+(1⌽J)+¯1⌽J";
    let drops = "0.25×(1 1↓¯1 ¯1↓1⊖J)+(1 1↓¯1 ¯1↓¯1⊖J)+(1 1↓¯1 ¯1↓1⌽J)+1 1↓¯1 ¯1↓¯1⌽J";
    for line in [shifts, drops] {
        let (says, text) = of(&[], line);
        let told = "a block of 256 (16×16) loads 1024 of it, 320 through shared memory by the rule \
                    of 2010, 320 with a halo";
        assert!(says.contains(told) && !text.contains("near0"), "{says}");
    }
    // Where the text has one, the numbers are its own.
    let (says, text) = of(&["passes=bar2010"], "(1↓a)-¯1↓a");
    assert!(
        says.contains("a block of 256 loads 512 of it, 257 through") && text.contains("near0[257]"),
        "{says}\n{text}"
    );
    let (says, text) = of(&["passes=bar2010"], shifts);
    let shape = says.split(['(', ')']).find(|part| part.contains('×')).expect("a shape");
    let (rows, columns) = shape.split_once('×').expect("two axes");
    let (rows, columns): (usize, usize) =
        (rows.parse().expect("rows"), columns.parse().expect("columns"));
    assert_eq!(rows * columns, 256, "{says}");
    assert!(text.contains(&format!("near0[{}]", (rows + 2) * (columns + 2))), "{says}\n{text}");
}

#[test]
fn every_pass_of_the_four_systems_is_in_the_trace() {
    let all: Vec<&str> = PIPELINE.iter().map(|p| p.name).collect();
    for preset in PRESETS {
        let mut options = Options::default();
        options.take(preset.name).expect("a pipeline");
        let passes = on(&[&format!("passes={}", preset.name)], "+/1+⌽v").passes;
        assert!(passes.iter().map(|p| &p.name).eq(&all), "{}", preset.name);
        // Those that it lacks change nothing.
        let idle = passes.iter().filter(|p| options.is_off(&p.name));
        assert!(idle.clone().all(|p| !p.changed), "{}", preset.name);
        assert_eq!(idle.count(), all.len() - options.passes().len());
    }
}

#[test]
fn bar_14_overlapping_reads_are_found_with_what_a_tile_would_load() {
    let long = |line: &str| {
        told(&["passes=bar2010"], &["a←0.5×⍳999 ⋄ K←24 32⍴0.5×⍳768 ⋄ u←0.5×⍳32", "a K u", line])
    };
    let difference = long("(1↓a)-¯1↓a");
    let d = decided(&difference, "place");
    assert!(d.len() == 1 && d[0].seed == "BAR-14", "{d:?}");
    for part in ["overlap(2 refs, halo 1)", "loads 512", "257 through shared", "257 with a halo"] {
        assert!(d[0].text.contains(part), "{}", d[0].text);
    }
    assert_eq!(d[0].chosen, "shared");
    assert!(d[0].cost.bytes < d[0].alt[0].cost.bytes && d[0].alt[0].name == "global");
    assert!(
        difference.kernels[0].reads.iter().all(|r| r.reuse.as_deref() == Some("constant: 2.0"))
    );
    // BAS-07: of a matrix times a vector the vector is read again for each row, the matrix never.
    let product = long("K+.×u");
    let reuse = |name: &str| {
        let node =
            product.nodes.iter().find(|n| n.name.as_deref() == Some(name)).expect("an input").id;
        let buffer = product.buffers.iter().find(|b| b.node == node).expect("its buffer").id;
        let read = product.kernels[0].reads.iter().find(|r| r.buf == buffer).expect("its read");
        read.reuse.clone().unwrap_or_default()
    };
    assert_eq!((reuse("K"), reuse("u")), ("none".to_string(), "higher-order: i".to_string()));
    assert!(
        decided(&product, "place")
            .iter()
            .any(|d| d.seed == "BAS-07" && d.text.contains("each element 24 times"))
    );
    assert!(decided(&long("1+a"), "place").is_empty());
}

#[test]
fn bas_09_reads_are_told_as_they_are() {
    let reads = |setup: &str, names: &str, line: &str| {
        let t = told(&[], &[setup, names, line]);
        let k = t.kernels.last().expect("a launch").clone();
        let of = |r: &aplomb_ground::trace::ReadRecord| {
            (r.affine.clone(), r.coalesced, r.reuse.clone().unwrap_or_default())
        };
        (k.reads.iter().map(of).collect::<Vec<_>>(), t)
    };
    // Values say which items: nothing is claimed of them.
    let (all, t) = reads("A←0.5×⍳3000 ⋄ I←4000⍴⌽⍳3000", "A I", "1+A[I]");
    assert!(all.contains(&("(i)→(…)".into(), false, String::new())), "{all:?}");
    assert!(decided(&t, "place").is_empty(), "{:?}", decided(&t, "place"));
    // Neighbouring threads follow the results, whose items lie side by side in the matrix.
    let (all, t) = reads("M←300 200⍴0.5×⍳60000 ⋄ v←0.5×⍳300", "M v", "(⍉M)+.×v");
    assert_eq!(all[0], ("(i,j)→(j,i)".into(), true, "none".into()));
    let text = t.kernels.last().and_then(|k| k.cuda.clone()).expect("a text").text;
    assert!(text.contains("A block a part of a strip of lines."), "{text}");
    let (all, _) = reads("M←300 200⍴0.5×⍳60000 ⋄ v←0.5×⍳200", "M v", "M+.×v");
    assert_eq!(all[0], ("(i,j)→(i,j)".into(), true, "none".into()));
    // A vector read as a matrix repeats as the matrix does.
    let (_, t) = reads("q←0.5×⍳3000", "q", "Q+.×⍉Q←50 60⍴q");
    assert!(
        decided(&t, "place").iter().all(|d| d.text.contains("each element 50 times")),
        "{:?}",
        decided(&t, "place")
    );
    // What the text of a launch declares.
    let (_, t) = reads("x←0.5×⍳9000", "x", "+/|x∘.-x");
    let k = t.kernels.last().expect("a launch");
    assert!(k.launch.smem > 0 && k.reads.iter().any(|r| r.space == "shared"), "{:?}", k.launch);
}

/// The loops of the paper's nests as lines: mv has to copy its matrix, tmv has none to copy, a
/// transpose may serve either side, of mm all is met again; and what is said of the launch.
#[test]
fn bas_13_orders_of_the_loops_are_told() {
    let orders = |setup: &str, names: &str, line: &str| {
        let t = told(&[], &[setup, names, line]);
        let k = t.kernels.last().expect("a launch").clone();
        let name = |b: &u32| {
            let node = &t.nodes[t.buffers[*b as usize].node as usize];
            node.name.clone().unwrap_or("·".into())
        };
        let list = |ids: &[u32]| ids.iter().map(name).collect::<Vec<_>>().join(" ");
        // The order of the text is one of most weight.
        let most = k.candidates.iter().map(|o| o.bytes).max();
        let chosen: Vec<_> = k.candidates.iter().filter(|o| o.chosen).collect();
        let some = k.candidates.iter().any(|o| !o.global.is_empty());
        assert_eq!(chosen.len(), usize::from(some), "{line}: {:?}", k.candidates);
        assert!(chosen.iter().all(|o| Some(o.bytes) == most && o.bytes > 0), "{line}");
        let one = |o: &aplomb_ground::trace::OrderRecord| {
            format!(
                "{} {} of {} | {} | {}",
                o.time.as_deref().unwrap_or("-"),
                o.space.as_deref().unwrap_or("-"),
                o.among.join(" "),
                list(&o.global),
                list(&o.staged)
            )
        };
        (k.candidates.iter().map(one).collect::<Vec<_>>(), k)
    };
    let matrix = "M←300 200⍴0.5×⍳60000 ⋄ v←0.5×⍳200 ⋄ w←0.5×⍳300";
    let (mv, k) = orders(matrix, "M v", "M+.×v");
    assert_eq!(mv, ["j i of i |  | M"]);
    assert_eq!(k.reads[0].matrix, [[1, 0, 0], [0, 1, 0]], "{:?}", k.reads);
    let (tmv, k) = orders(matrix, "M w", "(⍉M)+.×w");
    assert_eq!(tmv, ["j i of i i+j i-j | M | "]);
    assert_eq!(k.reads[0].matrix, [[0, 1, 0], [1, 0, 0]], "{:?}", k.reads);
    assert_eq!(orders(matrix, "M", "+⌿M").0, ["i j of j i+j -i+j | M | "]);
    assert_eq!(orders(matrix, "M", "+/M").0, ["j i of i |  | M"]);
    let (both, _) = orders(matrix, "M", "⍉M");
    assert_eq!(both, ["- j of j i+j -i+j | · | M", "- i of i i+j i-j | M | ·"]);
    let (mm, _) = orders(matrix, "M", "M+.×⍉M");
    assert!(mm.is_empty(), "{mm:?}");
    // A drop moves, and leaves neighbours beside each other.
    let (_, k) = orders(matrix, "M", "2×1 ¯3↓M");
    assert_eq!(k.reads[0].matrix, [[1, 0, 1], [0, 1, 0]], "{:?}", k.reads);
    assert_eq!(orders("x←0.5×⍳9000", "x", "x[2×⍳4000]").0, ["- i of i | · | x"]);
}

#[test]
fn acc_26_an_estimate_counts_every_round() {
    let flops = |line: &str| {
        told(&[], &["x←0.5×⍳2000", "x", line]).kernels.iter().map(|k| k.est.flops).sum::<u64>()
    };
    assert!(flops("{1+⍵÷2}⍣255⊢x") >= 255 * 2 * 2000);
    assert!(flops("{1+⍵÷2}⍣10⊢x") < 255 * 2 * 2000);
}

#[test]
fn acc_01_a_named_term_of_one_place_is_a_scalar_of_its_loop() {
    for preset in ["passes=acc2013", "passes=bar2010"] {
        assert_eq!(launches(&[preset], "{y←*⍵ ⋄ y×y+1}v"), 1, "{preset}");
    }
    // One that is turned before it is read is an array.
    assert_eq!(launches(&["passes=acc2013"], "{y←*⍵ ⋄ y×⌽y+1}v"), 2);
}

#[test]
fn acl_33_a_launch_writes_no_more_than_devices_take() {
    let all: Vec<String> = (0..150).map(|k| format!("(v*{k}.5)")).collect();
    let t = on(&[], &all.join(" "));
    assert!(
        t.kernels.iter().all(|k| k.out.len() <= 64),
        "{:?}",
        t.kernels.iter().map(|k| k.out.len()).collect::<Vec<_>>()
    );
    assert_eq!(t.kernels.iter().map(|k| k.out.len()).sum::<usize>(), 150);
    assert_eq!(t.kernels.len(), 3);
}

#[test]
fn nothing_is_decided_without_a_reason_a_row_and_a_costed_alternative() {
    for line in ["+/1+⌽v", "{(+/v)+⍵}¨20⍴w", "A+⍤1⊢5⍴v", "(1↓v)-¯1↓v", "y×⌽y⊣y←*v", "1(⌽⍠7)v+w"]
    {
        for how in
            [&[][..], &["passes=acl2006"], &["passes=acc2013"], &["passes=bar2010"], &["inputs=2"]]
        {
            for d in &on(how, line).decisions {
                let whole = !d.reason.is_empty()
                    && !d.seed.is_empty()
                    && !d.alt.is_empty()
                    && !d.text.is_empty();
                assert!(
                    whole && d.alt.iter().all(|a| !a.why_not.is_empty()),
                    "{line} {how:?}: {d:?}"
                );
            }
        }
    }
}

/// Points of the plane: how many rounds until they leave, by a state of three numbers.
const LEAVES: &str = "{(a b)←⍵ ⋄ 3⊃{(x y n)←⍵ ⋄ (a+(x×x)-y×y)(b+2×x×y)(n+1)}⍣{(x y n)←⍺ ⋄ \
                      (n=50)∨4<(x×x)+y×y}⊢0 0 0}";

#[test]
fn acc_26_cells_end_their_loops_by_themselves() {
    let lines = [
        "+/{0.5×⍵+2÷⍵}⍣≡¨1+v".to_string(),
        "{c←⍵ ⋄ {0.5×⍵+c÷⍵}⍣{1e¯9>|⍺-⍵}⊢1}¨1+v".into(),
        "{⊃⌽{(n k)←⍵ ⋄ ((n÷2)⌊2|n)(k+1)}⍣{1≥⊃⍺}⊢⍵ 0}¨v".into(),
        "{⍵÷2}⍣3¨v".into(),
        format!("+/{LEAVES}¨↓4 2⍴v-2"),
    ];
    for line in &lines {
        let t = on(&[], line);
        let looped = t.nodes.iter().any(|n| n.kind == "loop" && n.uses > 0);
        // That a run makes no launch of so few cells is nothing that a loop has to do with.
        let of_loops = t.diagnostics.iter().filter(|d| d.code != "W-at-once").count();
        assert_eq!(
            (t.kernels.len(), looped, of_loops),
            (1, true, 0),
            "{line}: {:?}",
            t.diagnostics
        );
        assert_eq!(sha(&t), sha(&on(&["off=frames"], line)), "{line}");
        let text = &t.kernels[0].cuda.as_ref().expect("a text").text;
        let ends = !line.contains('3') || line.contains('x');
        assert_eq!(text.contains("break;"), ends, "{line}: {text}");
    }
    // Where a launch must stop the host goes on, and what it does is told as its work.
    let long = "{⍵+1}⍣{⍺≥70000}¨v";
    let t = on(&[], long);
    let codes = t.diagnostics.iter().map(|d| d.code.as_str()).filter(|code| *code != "W-at-once");
    assert_eq!(codes.collect::<Vec<_>>(), ["W-rounds", "W-interpreted"]);
    assert_eq!(sha(&t), sha(&on(&["off=frames"], long)));
}

#[test]
fn acc_26_a_loop_of_several_states_runs_once() {
    let t = told(&[], &["X←⍳2000 ⋄ Y←0.5×⍳2000", "↑{(a b)←⍵ ⋄ (a+0.5×b)(a-b)}⍣5⊢X Y"]);
    let text = &t.kernels[0].cuda.as_ref().expect("a text").text;
    assert_eq!(text.matches("for (u64 r").count(), 1, "{text}");
    assert!(text.contains("s2_0;") && text.contains("s2_1;"), "{text}");
}

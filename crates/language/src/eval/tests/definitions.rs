//! Formulas that have a fast way, held against the definition, over functions, shapes and the
//! classes of names.

use super::{run, with_stack};

/// Lines that must print the same, each small and with everything recorded; in two halves beside
/// each other, as thousands of lines are a test.
fn same(pairs: impl IntoIterator<Item = (String, String)>) {
    let mut pairs: Vec<_> = pairs.into_iter().collect();
    let rest = pairs.split_off(pairs.len() / 2);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let halves = [pairs, rest].map(|half| scope.spawn(|| with_stack(|| differing(half))));
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

/// The texts of pairs that printed different things.
fn differing(pairs: Vec<(String, String)>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (fast, meant) in pairs {
        for all in [false, true] {
            let (got, want) = (run(&fast, all), run(&meant, false));
            if got != want {
                wrong.push(format!("{fast}   [recorded: {all}]\n   {got:?}\n{meant}\n   {want:?}"));
            }
        }
    }
    wrong
}

/// A workspace that is set back forgets what was written meanwhile and may fail.
#[test]
fn what_a_restored_workspace_has_not_written_does_not_fail_in_it() {
    let said = with_stack(|| {
        let (mut interp, mut host) = (crate::eval::Interp::new(), crate::testing::Host::default());
        let mut execute = |interp: &mut crate::eval::Interp, line: &str| {
            interp
                .execute(&aplomb_ground::span::Source::new("test", line), &mut host)
                .map_err(|e| e.parts().says.clone())
        };
        let before = interp.snapshot();
        assert_eq!(execute(&mut interp, "z←1÷0,⍳2000"), Ok(()));
        let failing = interp.snapshot();
        interp.restore(&before);
        let afterwards = execute(&mut interp, "⎕←5");
        interp.restore(&failing);
        (afterwards, execute(&mut interp, "⎕←6").is_err())
    });
    assert_eq!(said, (Ok(()), true));
}

/// `f/x g¨y` for each row x of X and each column y of Y.
#[test]
fn inner_products_are_what_their_definition_says() {
    const F: &[&str] = &["+", "-", "⌈", "∧", "=", ",", "⊣", "{⍺+⍵}", "{⍺ ⍵}", "(+,-)"];
    const G: &[&str] = &[
        "×",
        "-",
        "=",
        "⊢",
        "⊣",
        ",",
        "≡",
        "⍴",
        "{⍺ ⍵}",
        "{⍺-⍵}",
        "{⍺≥⍵:⍺ ⋄ ⍵}",
        "(×⍨-)",
        "(2+×)",
        "(,-)",
        "(|∘-)",
        "(-⍥|)",
        "(-⍨)",
        "(,⍨)",
    ];
    const SHAPES: &[(&str, &str)] = &[
        ("3", "3"),
        ("1", "3"),
        ("3", "1"),
        ("⍬", "3"),
        ("3", "⍬"),
        ("0", "0"),
        ("2 3", "3"),
        ("3", "3 2"),
        ("2 3", "3 2"),
        ("2 1", "3 2"),
        ("2 2 3", "3 2"),
        ("2 0", "0 2"),
        ("0 3", "3 2"),
        ("2 20", "20 3"),
        ("2 3", "2 3"),
    ];
    let mut pairs = Vec::new();
    for (f, g) in F.iter().flat_map(|f| G.iter().map(move |g| (f, g))) {
        for (x, y) in SHAPES {
            // Ones and twos only: what is taken as a shape stays small.
            let start = format!("X←{x}⍴1 2 1 1 2 ⋄ Y←{y}⍴2 1 1 ⋄ ");
            let end = " ⋄ r ⋄ ⍴r ⋄ ≡r";
            let rows = "(⊂⍤1⊢X)∘.{⊃F/⍺ G¨⍵}⊂⍤1⊢((⍴⍴Y),⍳¯1+⍴⍴Y)⍉Y".replace('F', f).replace('G', g);
            let meant =
                format!("{start}X←(⊃1⌈⍴⍴X)⍴⍣(0=⊃⍴⍴X)⊢X ⋄ Y←(⊃1⌈⍴⍴Y)⍴⍣(0=⊃⍴⍴Y)⊢Y ⋄ r←{rows}{end}");
            pairs.push((format!("{start}r←X {f}.{g} Y{end}"), meant));
        }
    }
    same(pairs);
}

/// `f/` of each prefix.
#[test]
fn scans_are_the_folds_of_prefixes() {
    let mut pairs = Vec::new();
    let mut items: Vec<String> = (1..=6usize)
        .flat_map(|n| {
            (0..1 << n)
                .map(move |k| (0..n).map(|b| if k >> b & 1 == 1 { "1 " } else { "0 " }).collect())
        })
        .collect();
    items.extend(
        ["3 1 2", "2 2 2 1 5 0 3", "0.5 1 1 0 2", "1 ¯2 3 0 ¯1 1", "2 0 1 4", "1E200 1E¯200 3 4"]
            .map(String::from),
    );
    for f in ["<", "≤", "=", "≥", ">", "≠", "⍲", "⍱", "÷", "-"] {
        for y in &items {
            let meant = format!("Y←,{y} ⋄ {{⊃{{⍺{f}⍵}}/⍵↑Y}}¨⍳≢Y");
            pairs.push((format!("Y←,{y} ⋄ {f}\\Y"), meant));
        }
        pairs.push((format!("{f}\\2 5⍴1 1 1 0 1"), format!("↑({f}\\1 1 1 0 1)({f}\\1 1 1 0 1)")));
        pairs.push((format!("{f}⍀5 2⍴1 0 1"), format!("⍉{f}\\⍉5 2⍴1 0 1")));
    }
    same(pairs);
}

/// `n f/y` is the fold of each n items in a row; of a negative n of these turned round.
#[test]
fn folds_of_windows_are_folds_of_what_they_see() {
    let mut pairs = Vec::new();
    let items = ["3 1 4 1 5 9", "1 0 1 1 0", "2.5 ¯1 0 7", "'abcd'", "'ab' 1 (2 3)"];
    for f in ["+", "-", "×", "⌈", "=", "<", ",", "⊢", "⊣", "{⍺+⍵}", "{⍺ ⍵}"] {
        for y in items.iter().filter(|y| !y.contains('\'') || ",⊢⊣{⍺ ⍵}".contains(f)) {
            for n in [1i64, 2, 3, -2, -3] {
                let count = format!("(0⌈1+(≢Y)-{})", n.abs());
                let turn = if n < 0 { "⌽" } else { "" };
                let size = n.abs();
                let window = format!("{{⊃{{⍺{f}⍵}}/{turn}{size}↑(⍵-1)↓Y}}¨⍳{count}");
                let fast = format!("Y←,{y} ⋄ ({}{f}/Y)", format!("{n}").replace('-', "¯"));
                pairs.push((fast, format!("Y←,{y} ⋄ {window}")));
            }
        }
    }
    same(pairs);
}

/// A fold of nothing gives what changes no argument.
#[test]
fn an_identity_changes_no_argument() {
    let mut pairs = Vec::new();
    for f in ["+", "×", "⌈", "⌊", "∧", "∨", "=", "≠"] {
        for y in ["0 1 1 0", "1"] {
            pairs.push((format!("({f}/⍬){f}{y}"), y.to_string()));
        }
    }
    for f in ["+", "×", "⌈", "⌊", "∨"] {
        pairs.push((format!("({f}/⍬){f}3 5 2"), "3 5 2".into()));
    }
    for f in ["-", "÷", "*", "!", "|"] {
        let side = if f == "!" || f == "|" {
            format!("({f}/⍬){f}3 5 2")
        } else {
            format!("3 5 2{f}({f}/⍬)")
        };
        pairs.push((side, "3 5 2".into()));
    }
    for shape in ["0 3", "2 0", "3 0 2"] {
        pairs.push((format!("⍴+/{shape}⍴0"), format!("¯1↓{shape}")));
    }
    same(pairs);
}

#[test]
fn long_scans_take_a_step_an_item() {
    with_stack(|| {
        let t = std::time::Instant::now();
        assert_eq!(
            run("+/<\\400000⍴0 0 1 ⋄ +/⍲\\400000⍴0 1 1 ⋄ ⌊0.5+⊃⌽÷\\400000⍴2 3 3 2", false),
            "1\n399999\n1"
        );
        assert!(t.elapsed().as_secs() < 10);
    });
}

/// A name's value outside changes nothing where the dfn gives it a value first.
#[test]
fn a_name_means_what_the_dfn_says_whatever_it_is_outside() {
    const BODIES: &[(&str, &str)] = &[
        ("{(+/k)÷≢k←⍵}1 2 3", "2"),
        ("{(2|k)/k←⍵}⍳5", "1 3 5"),
        ("{k{⍺+⍵}k←⍵}4", "8"),
        ("{k+k←⍵}5", "10"),
        ("{(k+1)×k←⍵}5", "30"),
        ("{k+(k←⍵)}3", "6"),
        ("{(k 1)+k←⍵}5", "10 6"),
        ("{1 k+k←⍵}5", "6 10"),
        ("{k[1]+1↑k←⍵}5 6", "10"),
        ("{k,k[2]+k←⍵}5 6", "5 6 11 12"),
        ("{-k-k←⍵}5", "0"),
        ("{k/⍨k←⍵}1 2 3", "1 2 2 3 3 3"),
        ("{k∘.×k←⍵}1 2", "1 2\n2 4"),
        ("{k{⍺,⍵}¨k←⍵}1 2", " 1 1  2 2 "),
        ("{k⌊.+k←⍵}1 2 3", "2"),
        ("{⍵[k]+k←1}5 6", "6"),
        ("{k[⍋k]⊣k←⍵}3 1 2", "1 2 3"),
        ("{(k j)[1]⊣(k j)←⍵}5 6", "5"),
        ("{j+k⊣(j k)←⍵}5 6", "11"),
        ("{k←⍵ ⋄ k-1}5", "4"),
        ("{k←⍵ ⋄ k[2]←9 ⋄ k}1 2 3", "1 9 3"),
        ("{k←⍵ ⋄ k+←1 ⋄ k}5", "6"),
        ("{k←⍵ ⋄ k>3:'big' ⋄ 'small'}5", "big"),
        ("{⍵>0:k+k←⍵ ⋄ 0}5", "10"),
        ("{k←⍵ ⋄ {k+⍵}1}5", "6"),
        ("{f←{k×⍵} ⋄ k←⍵ ⋄ f 2}5", "10"),
        ("{0::k ⋄ k←⍵ ⋄ 3}5", "3"),
        ("{k←{⍵+1} ⋄ k ⍵}5", "6"),
        ("{k←{⍵+1} ⋄ k¨⍵}5 6", "6 7"),
        ("{k←+/ ⋄ (k÷≢)⍵}1 2 3", "2"),
        ("{k←{⍺⍺ ⍵} ⋄ -k ⍵}5", "¯5"),
        ("{k←{⍺⍺ ⍵⍵ ⍵} ⋄ -k×⍵}5", "¯1"),
        ("{+/{k×k←⍵}¨⍵}⍳20", "2870"),
    ];
    const OUTER: &[&str] = &[
        "",
        "k←7 ⋄ ",
        "k←- ⋄ ",
        "k←{⍵} ⋄ ",
        "k←+/÷≢ ⋄ ",
        "k←{⍺⍺ ⍵} ⋄ ",
        "k←{⍺⍺ ⍵⍵ ⍵} ⋄ ",
        "k←¨ ⋄ ",
        "k←⍤ ⋄ ",
    ];
    let lines = BODIES.iter().flat_map(move |(body, says)| {
        let own = OUTER.iter().map(move |o| (format!("{o}{body}"), says));
        // And where the function worked before its name was taken.
        let split = body.rfind('}').map_or(body.len(), |at| at + 1);
        let (f, y) = body.split_at(split);
        let later = OUTER.iter().map(move |o| (format!("f←{f} ⋄ _←f {y} ⋄ {o}f {y}"), says));
        own.chain(later)
    });
    let wrong = with_stack(move || {
        let wrong = |(line, says): (String, &&str)| {
            let got = run(&line, false);
            (got != **says).then(|| format!("{line} → {got:?}, not {says:?}"))
        };
        lines.filter_map(wrong).collect::<Vec<_>>()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs of control words, and the same by branches and labels.
struct Twins {
    state: u64,
    labels: usize,
}

/// The two ways of writing one thing, line by line.
type Both = (Vec<String>, Vec<String>);

impl Twins {
    fn below(&mut self, n: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.state >> 33) % n
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn join(parts: impl IntoIterator<Item = Both>) -> Both {
        let mut all = Both::default();
        for (words, branches) in parts {
            all.0.extend(words);
            all.1.extend(branches);
        }
        all
    }

    fn same(line: impl Into<String>) -> Both {
        let line = line.into();
        (vec![line.clone()], vec![line])
    }

    /// Some statements. `leaves`: the labels behind the loop around and of its next turn.
    fn block(&mut self, depth: u32, leaves: Option<&(String, String)>) -> Both {
        let n = 1 + self.below(3);
        let parts: Vec<Both> = (0..n).map(|_| self.statement(depth, leaves)).collect();
        Twins::join(parts)
    }

    fn statement(&mut self, depth: u32, leaves: Option<&(String, String)>) -> Both {
        let k = self.below(9);
        let inner = if depth > 0 { self.below(8) } else { 0 };
        let goto = |line: String| (Vec::new(), vec![line]);
        let word = |line: String| (vec![line], Vec::new());
        match inner {
            1 => {
                let (other, end) = (self.label(), self.label());
                let (yes, no) = (self.block(depth - 1, leaves), self.block(depth - 1, leaves));
                Twins::join([
                    (vec![format!(":If {k}<9|x")], vec![format!("→({k}<9|x)↓{other}")]),
                    yes,
                    (vec![":Else".into()], vec![format!("→{end}"), format!("{other}:x←x")]),
                    no,
                    (vec![":EndIf".into()], vec![format!("{end}:x←x")]),
                ])
            }
            2 => {
                let (top, end) = (self.label(), self.label());
                let own = (end.clone(), top.clone());
                let i = format!("i{}", self.labels);
                let body = self.block(depth - 1, Some(&own));
                let begin = vec![
                    format!("{i}←0"),
                    format!("{top}:→({i}≥{})/{end}", k % 4),
                    format!("{i}+←1"),
                ];
                Twins::join([
                    (vec![format!(":For {i} :In ⍳{}", k % 4)], begin),
                    body,
                    (vec![":EndFor".into()], vec![format!("→{top}"), format!("{end}:x←x")]),
                ])
            }
            3 => {
                let (top, end) = (self.label(), self.label());
                let own = (end.clone(), top.clone());
                let body = self.block(depth - 1, Some(&own));
                Twins::join([
                    (vec![format!(":While x<{k}")], vec![format!("{top}:→(x<{k})↓{end}")]),
                    Twins::same("x+←1"),
                    body,
                    (vec![":EndWhile".into()], vec![format!("→{top}"), format!("{end}:x←x")]),
                ])
            }
            4 => {
                let (top, test, end) = (self.label(), self.label(), self.label());
                let own = (end.clone(), test.clone());
                let body = self.block(depth - 1, Some(&own));
                let last = vec![format!("{test}:→(x≥{k})↓{top}"), format!("{end}:x←x")];
                Twins::join([
                    (vec![":Repeat".into()], vec![format!("{top}:x←x")]),
                    Twins::same("x+←1"),
                    body,
                    (vec![format!(":Until x≥{k}")], last),
                ])
            }
            5 => {
                let (second, third, end) = (self.label(), self.label(), self.label());
                let parts = [(); 3].map(|()| self.block(depth - 1, leaves));
                let [zero, some, other] = parts;
                Twins::join([
                    word(":Select 5|x".into()),
                    (vec![":Case 0".into()], vec![format!("→(0=5|x)↓{second}")]),
                    zero,
                    goto(format!("→{end}")),
                    (vec![":CaseList 1 3".into()], vec![format!("{second}:→((5|x)∊1 3)↓{third}")]),
                    some,
                    goto(format!("→{end}")),
                    (vec![":Else".into()], vec![format!("{third}:x←x")]),
                    other,
                    (vec![":EndSelect".into()], vec![format!("{end}:x←x")]),
                ])
            }
            6 if leaves.is_some() => {
                let (end, next) = leaves.expect("a loop");
                let (name, to) = if k < 5 { (":Leave", end) } else { (":Continue", next) };
                let words = format!(":If {k}=9|x ⋄ {name} ⋄ :EndIf");
                (vec![words], vec![format!("→({k}=9|x)/{to}")])
            }
            7 => {
                let end = self.label();
                let body = self.block(depth - 1, leaves);
                Twins::join([
                    (
                        vec![format!(":If x>{k}"), ":AndIf 2|x".into(), ":AndIf x<20".into()],
                        vec![format!("→((x>{k})∧(2|x)∧x<20)↓{end}")],
                    ),
                    body,
                    (vec![":EndIf".into()], vec![format!("{end}:x←x")]),
                ])
            }
            _ => Twins::same(format!("out,←{k}+100×x ⋄ x+←{}", k % 2)),
        }
    }

    fn program(&mut self) -> (String, String) {
        // The first numbers of near seeds are alike.
        for _ in 0..4 {
            self.below(2);
        }
        let (words, branches) = self.block(3, None);
        let text = |lines: Vec<String>| {
            format!("∇r←f x;out\nout←⍬\n{}\nr←out,x\n∇\nf {}", lines.join("\n"), "0")
        };
        (text(words), text(branches))
    }
}

#[test]
fn control_words_do_what_branches_do() {
    let programs = (1..400).map(|seed| Twins { state: seed, labels: 0 }.program());
    same(programs.collect::<Vec<_>>());
}

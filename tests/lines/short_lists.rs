//! Random recursions and loops on short vectors: in registers = one value after the other. Values,
//! errors with their places, and what is drawn next.

use crate::numbers::{alike, both, outcome};
use crate::support::Dice;

/// The names that bodies read.
const SETUP: &str = "⎕PP←17 ⋄ ⎕RL←7 ⋄ v←3 1 4 1 5 9 2 6 5 3 5 ⋄ s←2";

/// An expression of a vector; `calls` are what may stand for one yet.
fn list(dice: &mut Dice, depth: usize, leaf: &str, calls: &mut Vec<&str>) -> String {
    if let (Some(call), true) = (calls.last().copied(), dice.roll(3) == 0) {
        calls.pop();
        return format!("({call})");
    }
    if depth == 0 {
        return dice.pick(&[leaf, leaf, leaf, "v", "(⍳4)", "1 2"]).to_string();
    }
    let x = list(dice, depth - 1, leaf, calls);
    let n = number(dice, depth - 1, leaf);
    match dice.roll(22) {
        0 | 1 => format!("({x}/⍨{n}<{x})"),
        2 => format!("((9|⌊|{n})↑{x})"),
        3 => format!("({n}↓{x})"),
        4 => format!("({n}⌽{x})"),
        5 => format!("({x},{n})"),
        6 => format!("({n},{x})"),
        7 => format!("({x},{})", list(dice, depth - 1, leaf, calls)),
        8 => format!("{{⍵[⍋⍵]}}{x}"),
        9 => format!("({{⍵[⍒⍵]}}{x})"),
        10 => format!("(∪{x})"),
        11 => format!("({x}~{})", list(dice, depth - 1, leaf, calls)),
        12 => format!("({x}∩{})", list(dice, depth - 1, leaf, calls)),
        13 => format!("({x}{}{n})", ["+", "-", "×", "⌊", "|", "="][dice.roll(6)]),
        14 => format!("({}{x})", ["-", "×", "⌊", "+\\", "⌽", "2-/", "2<⍨/"][dice.roll(7)]),
        15 => format!("(×⍨{x})"),
        16 => format!("((7|⌊|{n})⍴{x})"),
        17 => format!("(⍸{n}<{x})"),
        18 => format!("({x}⍳{})", list(dice, depth - 1, leaf, calls)),
        19 => format!("({x}∊{})", list(dice, depth - 1, leaf, calls)),
        20 => format!("({{⍵[1+(≢⍵)|⌊⍵]}}{x})"),
        _ => format!("(2/{x})"),
    }
}

/// An expression of a number.
fn number(dice: &mut Dice, depth: usize, leaf: &str) -> String {
    if depth == 0 {
        return dice.pick(&["1", "2", "0.5", "3", "s", "¯1"]).to_string();
    }
    let x = list(dice, depth - 1, leaf, &mut Vec::new());
    match dice.roll(10) {
        0 | 1 => format!("(≢{x})"),
        2 | 3 => format!("(⊃{x})"),
        4 => format!("({}/{x})", ["+", "⌈", "⌊", "∨"][dice.roll(4)]),
        5 => format!("({x}⍳{})", number(dice, depth - 1, leaf)),
        6 => format!("({}∊{x})", number(dice, depth - 1, leaf)),
        7 => format!("({x}≡{})", list(dice, depth - 1, leaf, &mut Vec::new())),
        8 => "(?5)".into(),
        _ => format!("({x}+.×{x})"),
    }
}

fn recursion(dice: &mut Dice) -> String {
    // Two calls on almost as much would be as many as two to the power of that.
    let mut some = match dice.roll(2) {
        0 => vec![*dice.pick(&["∇1↓⍵", "∇¯1↓⍵", "∇(0×h)↓2↓⍵"])],
        _ => vec![*dice.pick(&["∇h↑⍵", "∇(⌊2÷⍨≢⍵)↑⍵"]), "∇h↓⍵"],
    };
    let (end, depth) = (list(dice, 1, "⍵", &mut Vec::new()), 1 + dice.roll(3));
    let guard = match dice.roll(3) {
        0 => format!(" ⋄ {}>99:⍵", number(dice, 1, "⍵")),
        _ => String::new(),
    };
    let body = list(dice, depth, "⍵", &mut some);
    format!("{{2≥≢⍵:{end} ⋄ h←⌊2÷⍨≢⍵{guard} ⋄ 9↑{body}}}")
}

/// A loop over items, of which a name is made shorter and longer.
fn turns(dice: &mut Dice) -> String {
    let mut lines = Vec::new();
    for _ in 0..1 + dice.roll(4) {
        let depth = 1 + dice.roll(2);
        lines.push(match dice.roll(10) {
            0 => "q←1↓q".to_string(),
            1 => "q←¯1↓q".to_string(),
            2 => "r←c,r".to_string(),
            3 => format!("q←q,{}", number(dice, depth, "q")),
            4 => format!("r,←{}", list(dice, depth, "q", &mut Vec::new())),
            5 => format!("q←{}", list(dice, depth, "q", &mut Vec::new())),
            6 => format!("n←{}", number(dice, depth, "q")),
            7 => format!("r,←⌈/n↑c↓v,{}", number(dice, depth, "q")),
            8 => ["q←q", "q←⌽⌽q", "q←,q", "r←r", "q←r", "r←r⊣q"][dice.roll(6)].to_string(),
            _ => format!("r,←{}", number(dice, depth, "q")),
        });
    }
    lines.push("q←(12⌊≢q)↑q".into());
    let lines: Vec<String> = lines.iter().map(|line| format!("'{line}'")).collect();
    format!(
        "⎕FX 'z←f x;r;q;n;c' 'r←⍬ ⋄ q←x ⋄ n←2' ':For c :In x' {} ':EndFor' 'z←r,99,q,99,n'",
        lines.join(" ")
    )
}

#[test]
fn recursions_on_lists_give_what_values_give() {
    alike(160, 91_000_000, |dice| {
        let f = recursion(dice);
        let y = ["⍳13", "20⍴3 1 4 1 5", "¯1 0.5 3,⍳9", "0⍴0", "7 7 7", "24⍴⍳6"][dice.roll(6)];
        format!("{SETUP} ⋄ z←{f} {y} ⋄ ⎕UCS ⍕z,?9 9")
    });
}

#[test]
fn loops_on_lists_give_what_values_give() {
    alike(500, 92_000_000, |dice| {
        let f = turns(dice);
        let y = ["⍳70", "80⍴3 1 4 1 5", "90⍴0.5×⍳9", "100⍴⍳7"][dice.roll(4)];
        // Twice: the program of a loop that ran is there the next time.
        format!("{SETUP} ⋄ k←{f} ⋄ z←(f {y}),f 75⍴2 1 ⋄ ⎕UCS ⍕z,?9 9")
    });
}

#[test]
fn a_name_that_is_given_itself_has_it() {
    let (mut fast, mut slow) = both();
    for value in ["1 2 3", "'abc'", "2 2⍴⍳4", "5", "'ab' 'c'", "⍬"] {
        for body in ["r←r", "r←(r)", "r←⊢r", "r←r⊣j", "r←,r", "r←⌽⌽r", "t←r ⋄ t←t ⋄ r←t"]
        {
            let f = format!("⎕FX 'r←g x;j;t' 'r←x' ':For j :In ⍳100' '{body}' ':EndFor'");
            let line = format!("k←{f} ⋄ z←g {value} ⋄ ⎕UCS ⍕(⍴z)(≡z)z");
            let wanted = outcome(&mut slow, &line);
            assert!(wanted.is_ok(), "{line}: {wanted:?}");
            assert_eq!(outcome(&mut fast, &line), wanted, "{line}");
        }
    }
}

#[test]
fn loops_on_texts_give_what_values_give() {
    let (mut fast, mut slow) = both();
    for (lines, y) in [
        ("':If c≠'' ''' 'r←r,c' ':EndIf'", "'the quick brown fox'"),
        ("'r←c,r'", "'the quick brown fox'"),
        ("'r←r,1⎕C c' 'n←n+c=''e'''", "'Ärger über alles'"),
        ("':If c=''o''' 'r←r,''00''' ':Else' 'r,←c' ':EndIf'", "'foo boo'"),
        ("'n+←1 ⋄ r←r,(⍕n),c'", "'abc'"),
        ("'r←c,r ⋄ n←≢r'", "'abcd'"),
        ("':If c='' ''' 'k,←⊂r ⋄ r←''''' ':Else' 'r,←c' ':EndIf'", "'the quick brown the fox '"),
        ("'r←(⌽r),c ⋄ r←1↓r,''ab'''", "'xyz'"),
        ("'r,←''abc''[1+3|n] ⋄ n+←2'", "'some text'"),
        ("'r←r,c ⋄ n+←r⍳''q'' ⋄ n+←''ab''∊r'", "'a quart of bees'"),
    ] {
        let f = format!(
            "⎕FX 'z←f x;r;n;c;k' 'r←'''' ⋄ n←0 ⋄ k←0⍴⊂''''' ':For c :In x' {lines} ':EndFor' \
             'z←∊r,''|'',(⍕n),''|'',k,¨''/'''"
        );
        let line = format!("{SETUP} ⋄ t←{f} ⋄ z←(f 150⍴{y}),f ⌽99⍴{y} ⋄ ⎕UCS z");
        let wanted = outcome(&mut slow, &line);
        assert!(wanted.is_ok(), "{line}: {wanted:?}");
        assert_eq!(outcome(&mut fast, &line), wanted, "{line}");
    }
}

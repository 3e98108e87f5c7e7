//! Random loops over words, rows, texts and numbers: their turns together = one after the other.
//! Values, errors with their places, and what the names hold then.

use crate::support::{Dice, Heard, scaled, session};
use aplomb_ground::error::Kind;
use aplomb_ground::limits::Budget;
use aplomb_ground::protocol::Request;
use aplomb_kernel::session::Session;

/// The names that loops read.
const SETUP: &str = "W←90⍴' '(≠⊆⊢)'the quick brown fox jumps over the lazy dog fox' ⋄ \
                     M←90 5⍴100|7×⍳450 ⋄ K←90⍴3 1 4 1 5 ⋄ txt←90⍴'ab cab  d' ⋄ F←0.5×90⍴⍳7";

/// An expression of a number in a turn.
fn number(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        let leaves = [
            "i",
            "i",
            "t",
            "t",
            "(≢w)",
            "(≢w)",
            "K[i]",
            "F[i]",
            "M[i;2]",
            "M[i;1+5|i]",
            "(+/M[i;])",
            "('o'∊w)",
            "(W⍳⊂w)",
            "(⌈/M[;1+5|i])",
            "2",
            "0.5",
            "(w≡'fox')",
            "(≢∪w)",
            "({⍵+t}i)",
            "(≢u)",
            "(+/,M[1+2|i+⍳3;2 3])",
            "(M[i;]+.×M[1;])",
            "(+/F[1+5|i+⍳3])",
        ];
        return dice.pick(&leaves).to_string();
    }
    let x = number(dice, depth - 1);
    match dice.roll(6) {
        0..=3 => {
            let op = ["+", "-", "×", "⌈", "|", "<", "="][dice.roll(7)];
            format!("({x}{op}{})", number(dice, depth - 1))
        }
        4 => format!("(-{x})"),
        _ => x,
    }
}

/// An expression of a vector in a turn.
fn vector(dice: &mut Dice) -> String {
    let all = [
        "w",
        "(⌽w)",
        "(1⎕C w)",
        "(1↓w)",
        "(w,'!')",
        "(2↑w)",
        "('<',w,'>')",
        "(∪w)",
        "M[i;]",
        "(⌽M[i;])",
        "(M[i;]-⌊/M[i;])",
        "(i,t)",
        "(i 2)",
        "(⍳3|i)",
        "u",
        "(M[i;][⍋M[i;]])",
        "(w~'aeiou')",
        "(K/⍨K<3|i)",
        "(⍕i)",
        "''",
        "(M[;1+3|i])",
        "({⍵,⍵}w)",
        "(w i)",
    ];
    dice.pick(&all).to_string()
}

/// A statement of a turn, or several.
fn statement(dice: &mut Dice, depth: usize, out: &mut Vec<String>) {
    let deep = dice.roll(2);
    let x = number(dice, deep);
    let v = vector(dice);
    let row = ["M[i;]", "(2×M[i;])", "3", "(⌽M[i;])"][dice.roll(4)];
    match dice.roll(if depth == 0 { 18 } else { 24 }) {
        0..=2 => out.push(format!("t←{x}")),
        3 | 4 => out.push(format!("u←{v}")),
        5 => out.push(format!("r,←{x}")),
        6 => out.push(format!("r,←⊂{v}")),
        7 => out.push(format!("q←q,{}", [v.as_str(), "w,','", "⊃w"][dice.roll(3)])),
        8 => out.push(format!("s+←{x}")),
        9 => out.push(format!("s{}←{x}", ["⌈", "+", "-"][dice.roll(3)])),
        10 => out.push(format!("s←s+{x}")),
        11 => out.push(format!("c[1+5|i]{}←{x}", ["", "+", "⌈"][dice.roll(3)])),
        12 => out.push(format!("m[1+4|i;]{}←{row}", ["", "+"][dice.roll(2)])),
        13 => out.push(format!("m[1+4|i;1+5|i]{}←{x}", ["", "+"][dice.roll(2)])),
        14 => out.push(format!("x[1+9|i]←⊂{v}")),
        15 => out.push(format!("v+←{row}")),
        // What sees another turn.
        16 => {
            let carried = ["t←s", "t←≢r", "t←⊃⌽0,c", "r,←⊃⌽0,r", "m[1;]←m[2;]+1", "t+←1"];
            out.push(carried[dice.roll(6)].into());
        }
        // What fails in some turn, or in none.
        17 => {
            let fails = ["t←K[i+2]", "t←÷i-80", "t←1÷i", "t←c[i]", "t←⊃W[i+1]", "s←s÷80-i"];
            out.push(fails[dice.roll(6)].into());
        }
        18..=20 => {
            let cond = ["'o'∊w", "3<≢w", "i>40", "w≡'fox'", "t<5", "0=2|i"][dice.roll(6)];
            out.push(format!(":If {cond}"));
            statement(dice, depth - 1, out);
            match dice.roll(6) {
                0 => out.push(":Continue".into()),
                1 if dice.roll(3) == 0 => out.push(":Leave".into()),
                2 | 3 => {
                    out.push(":Else".into());
                    statement(dice, depth - 1, out);
                }
                _ => {}
            }
            out.push(":EndIf".into());
        }
        _ => {
            out.push(format!(":For j :In {}", ["⍳3", "⍳1+2|i", "K[1+3|i],2", "⍳2"][dice.roll(4)]));
            out.push(
                [
                    "r,←j+i",
                    "s+←j×t",
                    "m[1+4|i;j⌊5]←i",
                    "t←j",
                    "q,←w,⍕j",
                    "m[1+4|i;1+5|j]+←i×j",
                    "r,←M[i;]+.×M[;j⌊5]⌊5 5⍴3",
                    "r,←+/M[i;]×M[j;]",
                ][dice.roll(8)]
                .into(),
            );
            if dice.roll(3) == 0 {
                statement(dice, depth - 1, out);
            }
            out.push(":EndFor".into());
        }
    }
}

/// The value as text, or the error and its place.
fn outcome(s: &mut Session, line: &str) -> Result<Vec<f64>, String> {
    match s.value_of(line) {
        Ok(a) => {
            Ok(a.and_then(|a| a.to_numbers(&Budget::new(u64::MAX)).ok()?).expect("code points"))
        }
        Err(e) => {
            assert_ne!(e.kind(), Kind::Internal, "{line}: {e}");
            Err(format!("{} at {:?}", e.kind().name(), e.parts().place.as_ref().map(|p| p.span)))
        }
    }
}

#[test]
fn turns_together_give_what_turn_after_turn_gives() {
    let mut sessions = [session(), session(), session()];
    sessions[0].options().switch("numbers", false).expect("a switch");
    sessions[1].options().switch("numbers", true).expect("a switch");
    for off in ["numbers", "frames"] {
        sessions[2].options().switch(off, false).expect("a switch");
    }
    let (mut values, mut errors) = (0, 0);
    for k in 0..scaled(1_500) {
        let seed = 60_000_000 + k as u64;
        let mut dice = Dice(seed);
        let over = [
            ":For i w :InEach (⍳90) W",
            ":For i :In ⍳90",
            ":For w :In W",
            ":For i :In K",
            ":For w :In ↓M",
            ":For i :In txt",
            ":For (i w) :In (⍳90),¨⍥⊂¨W",
        ][[0, 0, 0, 0, 1, 2, 3, 4, 5, 6][dice.roll(10)]];
        let mut lines = vec!["loop;i;j;t;w;u".to_string()];
        lines.push("r←⍬ ⋄ q←'' ⋄ s←0 ⋄ c←5⍴0 ⋄ m←4 5⍴0 ⋄ x←9⍴⊂'' ⋄ v←5⍴0".into());
        lines.push("i←2 ⋄ t←1 ⋄ w←'abc' ⋄ u←⍬ ⋄ j←0".into());
        lines.push(over.into());
        for _ in 0..1 + dice.roll(4) {
            statement(&mut dice, 2, &mut lines);
        }
        lines.push(":EndFor".into());
        lines.push("z←r s c m q x v t u i j w".into());
        let texts: Vec<String> =
            lines.iter().map(|l| format!("'{}'", l.replace('\'', "''"))).collect();
        let made = format!("{SETUP} ⋄ f←⎕FX {}", texts.join(" "));
        // Once more, as a loop that is known.
        let line = format!("{made} ⋄ z←0 ⋄ loop ⋄ loop ⋄ ⎕UCS ⍕(,⍕z)(⍴¨z)(≡¨z)(⎕DR¨q r)");
        let [together, all, plain] = &mut sessions;
        let wanted = outcome(plain, &line);
        for s in [together, all] {
            assert_eq!(outcome(s, &line), wanted, "seed {seed}: {}", lines.join("\n"));
        }
        if wanted.is_ok() { values += 1 } else { errors += 1 }
    }
    assert!(values > errors && errors * 100 > values, "{values} values, {errors} errors");
}

/// A statement of a loop that looks words up.
fn looks_up(dice: &mut Dice, depth: usize, out: &mut Vec<String>) {
    let all = [
        "n←k⍳⊂w",
        "n←k⍳⊂w",
        "n←≢w",
        "k,←⊂w",
        "k←k,⊂w",
        "t+←w≡'fox'",
        "t+←(⊂w)∊k",
        "t⌈←≢w",
        "r,←≢w",
        "l←w",
        "n←≢k",
        "t+←≢⊃k",
        "t+←≢(1+(≢k)|n)⊃k",
        "r[1+(≢r)|n]+←1",
        "t+←l≡w",
        "k[1+(≢k)|n]←⊂w",
        "t+←w≢l",
        "q,←⊂l",
        "t+←(⊂l)∊q,k",
        "t+←k[1]≡⊂w",
        "r,←⊃⌽0,r",
    ];
    match dice.roll(if depth == 0 { 4 } else { 8 }) {
        0..=3 => out.push(dice.pick(&all).to_string()),
        4 => {
            out.extend(["n←k⍳⊂w".into(), ":If n>≢k".into(), "k,←⊂w ⋄ r,←1".into()]);
            out.extend([":Else".into(), "r[n]+←1".into(), ":EndIf".into()]);
        }
        5 => {
            out.push(":For l :In (4⌊≢k)↑k".into());
            looks_up(dice, 0, out);
            out.push(":EndFor".into());
        }
        _ => {
            let cond = ["~(⊂w)∊k", "w≡l", "3<≢w", "n>≢k", "w≢'the'"][dice.roll(5)];
            out.push(format!(":If {cond}"));
            looks_up(dice, depth - 1, out);
            out.push(":EndIf".into());
        }
    }
}

#[test]
fn texts_in_registers_are_texts() {
    let (mut fast, mut slow) = (session(), session());
    for off in ["numbers", "frames"] {
        slow.options().switch(off, false).expect("a switch");
    }
    let (mut values, mut errors) = (0, 0);
    for k in 0..scaled(200) {
        let seed = 50_000_000 + k as u64;
        let mut dice = Dice(seed);
        // Of few words, or of more than are compared one by one; some are single characters.
        let words = ["W", "(W,'a' 'b',W)", "(⍕¨90⍴⍳70),W", "(⍕¨400⍴⍳300)"][dice.roll(4)];
        let mut lines = vec!["loop;w;n;t;l".to_string()];
        lines.push("r←,0 ⋄ k←,⊂'start' ⋄ q←'' 'abc' ⋄ n←1 ⋄ t←0 ⋄ l←'fox'".into());
        lines.push(format!(":For w :In {words}"));
        for _ in 0..1 + dice.roll(4) {
            looks_up(&mut dice, 2, &mut lines);
        }
        lines.extend([":EndFor".into(), "z←r k q n t l w".into()]);
        let texts: Vec<String> =
            lines.iter().map(|l| format!("'{}'", l.replace('\'', "''"))).collect();
        let made = format!("{SETUP} ⋄ f←⎕FX {}", texts.join(" "));
        let line = format!("{made} ⋄ z←0 ⋄ loop ⋄ ⎕UCS ⍕(,⍕z)(⍴¨z)(≡¨z)");
        let wanted = outcome(&mut slow, &line);
        assert_eq!(outcome(&mut fast, &line), wanted, "seed {seed}: {}", lines.join("\n"));
        if wanted.is_ok() { values += 1 } else { errors += 1 }
    }
    assert!(values > errors, "{values} values, {errors} errors");
}

/// Turns that run together are no launch: they are told with their place and their reason.
#[test]
fn turns_that_run_together_are_told() {
    let mut s = session();
    s.core().set_followed(true);
    let f = "⎕FX 'r←f x;i' 'r←⍬' ':For i :In x' 'r,←⊂i,i' ':EndFor'";
    let code = format!("k←{f} ⋄ z←f 5000⍴'the' 'fox' 'a'");
    let request = Request::Execute { code, name: "loop".into(), silent: false };
    s.handle(request, &mut Heard::default());
    let stories = s.core().take_stories();
    let mut told = stories.iter().flat_map(|t| &t.diagnostics);
    let is =
        |d: &&aplomb_ground::trace::Diagnostic| d.text.contains("turns of a loop ran together");
    let row = told.find(is).expect("a row of the loop");
    assert!(row.code == "W-interpreted" && row.ms.is_some() && row.text.contains(":For i :In x"));
}

/// Functions of one text have the steps of one tree, each counted from 0: what is kept of a loop is
/// that of its own function.
#[test]
fn loops_of_one_text_are_loops_of_their_own() {
    let (mut fast, mut slow) = (session(), session());
    for off in ["numbers", "frames"] {
        slow.options().switch(off, false).expect("a switch");
    }
    let turns = ["s+←i", "s⌈←i", "r,←i×2", "s←i-s", "t←i ⋄ r,←t", "c[1+5|i]+←i", "c[1+5|i]←s"];
    let mut values = 0;
    for k in 0..scaled(150) {
        let mut dice = Dice(70_000_000 + k as u64);
        let mut text = vec![SETUP.to_string(), "z←y←0".into()];
        let over = [":For i :In ⍳90", ":For i :In K", ":For i :In ⌽⍳40"][dice.roll(3)];
        for result in ["z", "y"] {
            text.push(format!("∇ of_{result};i;j;t;w;u;r;s;q;c;m;x;v"));
            text.push("r←⍬ ⋄ q←'' ⋄ s←0 ⋄ c←5⍴0 ⋄ m←4 5⍴0 ⋄ x←9⍴⊂'' ⋄ v←5⍴0".into());
            text.push("i←2 ⋄ t←1 ⋄ w←'abc' ⋄ u←⍬ ⋄ j←0".into());
            text.push(over.into());
            for _ in 0..1 + dice.roll(2) {
                match dice.roll(3) {
                    0 => statement(&mut dice, 1, &mut text),
                    _ => text.push(dice.pick(&turns).to_string()),
                }
            }
            text.extend([
                ":EndFor".into(),
                format!("{result}←r s c m q x v t u i j w"),
                "∇".into(),
            ]);
        }
        text.push("of_z ⋄ of_y ⋄ of_z ⋄ of_y".into());
        let code = text.join("\n");
        let [got, wanted] = [&mut fast, &mut slow].map(|s| {
            let request = Request::Execute { code: code.clone(), name: "two".into(), silent: true };
            s.handle(request, &mut Heard::default());
            outcome(s, "⎕UCS ⍕(,⍕z)(,⍕y)(⍴¨z)(⍴¨y)")
        });
        assert_eq!(got, wanted, "{code}");
        values += usize::from(wanted.is_ok());
    }
    assert!(values > 100, "{values}");
}

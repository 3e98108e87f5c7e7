//! Random loops of numbers and characters whose turns are operations on arrays: what they give is
//! what turn after turn gives, or the same error at the same place.

use crate::numbers::outcome;
use crate::support::{Dice, scaled, session};

/// The names that loops read: whole numbers, floats, booleans, characters, places, matrices.
const SETUP: &str = "⎕PP←17 ⋄ n←4200 ⋄ V←7|3+⍳n ⋄ F←0.25×(¯6+13|5×⍳n) ⋄ B←0=3|⍳n ⋄ \
    P←1+n|7×⍳n ⋄ L←1E300×n⍴1 1.5 1E8 ⋄ t←n⍴'the quick brown fox ' ⋄ M←60 70⍴V ⋄ G←60 70⍴F";

/// An expression of a turn; `i` is its item, `k` its place where it is counted.
fn number(dice: &mut Dice, depth: usize, counted: bool, given: bool) -> String {
    if depth == 0 {
        let leaves = ["i", "i", "i", "1", "2", "0.5", "3", "¯1"];
        return match dice.roll(6) {
            0 if counted => format!("{}[i]", dice.pick(&["V", "F", "B", "P", "L"])),
            1 if counted => format!("{}[P[i]]", dice.pick(&["V", "F"])),
            2 if given => "u".to_string(),
            3 if counted && dice.roll(8) == 0 => "V[i+1]".to_string(),
            _ => dice.pick(&leaves).to_string(),
        };
    }
    let (x, y) = (number(dice, depth - 1, counted, given), number(dice, depth - 1, counted, given));
    match dice.roll(10) {
        0..=6 => {
            let op = ["+", "-", "×", "⌈", "⌊", "|", "=", "<", "≥", "+", "×"][dice.roll(11)];
            format!("({x}{op}{y})")
        }
        7 if dice.roll(3) == 0 => format!("({x}÷{y})"),
        8 => format!("({}{x})", ["-", "⌊", "|"][dice.roll(3)]),
        _ => format!("(7|{x})"),
    }
}

/// A statement of a turn.
fn statement(
    dice: &mut Dice,
    depth: usize,
    counted: bool,
    given: &mut bool,
    out: &mut Vec<String>,
) {
    let deep = 1 + dice.roll(2);
    let x = number(dice, deep, counted, *given);
    match dice.roll(12) {
        0 | 1 => out.push(format!("r,←{x}")),
        2 => out.push(format!("s+←{x}")),
        3 => out.push(format!("s-←{x}")),
        4 => out.push(format!("m⌈←{}", dice.pick(&["i", "7|i", "i>2"]))),
        5 if counted => out.push(format!("q[i]←{x}")),
        6 if counted => out.push(format!("q[i]+←{x}")),
        7 => {
            out.push(format!("u←{x}"));
            *given = true;
        }
        8 if counted => out.push(format!("s+←q[i]-{x}")),
        9 if dice.roll(2) == 0 => {
            let at = dice.pick(&["1+7|⌊i", "1+7|⌊i", "1+3|⌊2×i", "P[1+9|⌊i]", "3", "1+i"]);
            out.push(format!("h[{at}]{}←{x}", dice.pick(&["+", "+", "-", "⌈", ""])));
        }
        9 if depth > 0 && dice.roll(2) == 0 => {
            out.push(format!(":Select 7|{}", dice.pick(&["i", "⌊i", "i+1"])));
            for case in [":Case 1", ":CaseList 2 3", ":Else"].iter().take(2 + dice.roll(2)) {
                out.push(case.to_string());
                let mut own = *given;
                statement(dice, 0, counted, &mut own, out);
            }
            out.push(":EndSelect".into());
        }
        9 | 10 if depth > 0 => {
            let y = number(dice, 1, counted, *given);
            let by = *dice.pick(&["<", "=", "≥"]);
            out.push(format!(":If {x}{by}{y}"));
            let mut own = *given;
            statement(dice, depth - 1, counted, &mut own, out);
            if dice.roll(2) == 0 {
                out.push(format!(":ElseIf {y}>2"));
                let mut own = *given;
                statement(dice, depth - 1, counted, &mut own, out);
            }
            if dice.roll(2) == 0 {
                out.push(":Else".into());
                out.push(dice.pick(&["r,←i", ":Continue", "s+←1"]).to_string());
            }
            out.push(":EndIf".into());
        }
        _ => out.push(format!("s+←7|⌊{x}")),
    }
}

/// Each of so many functions, run three times: as ever, and in sessions where the second run has
/// operations on arrays.
fn alike(count: usize, first: u64, make: impl Fn(&mut Dice) -> Vec<String>) {
    let mut plain = session();
    for off in ["numbers", "frames"] {
        plain.options().switch(off, false).expect("a switch");
    }
    let mut fast = session();
    let mut eager = session();
    eager.options().switch("fusion", false).expect("a switch");
    for s in [&mut plain, &mut fast, &mut eager] {
        s.value_of("1").expect("a session");
    }
    let (mut values, mut errors) = (0, 0);
    for k in 0..scaled(count) {
        let seed = first + k as u64;
        let lines = make(&mut Dice(seed));
        let texts: Vec<String> =
            lines.iter().map(|l| format!("'{}'", l.replace('\'', "''"))).collect();
        let made = format!("{SETUP} ⋄ f←⎕FX {}", texts.join(" "));
        let once = format!("{made} ⋄ ⎕UCS ⍕{{(,⍕⍵)(⍴¨⍵)(≡¨⍵)}}loop");
        let again = format!("{made} ⋄ o←⍕loop ⋄ o←⍕loop ⋄ ⎕UCS ⍕{{(,⍕⍵)(⍴¨⍵)(≡¨⍵)}}loop");
        let wanted = outcome(&mut plain, &once);
        for s in [&mut fast, &mut eager] {
            let got = outcome(s, &again);
            let same = match (&got, &wanted) {
                (Ok(a), Ok(b)) => a == b,
                // The first run fails at another place of the line.
                (Err(a), Err(b)) => a.split(' ').next() == b.split(' ').next(),
                _ => false,
            };
            assert!(same, "seed {seed}: {got:?} {wanted:?}\n{}", lines.join("\n"));
        }
        if wanted.is_ok() { values += 1 } else { errors += 1 }
    }
    assert!(values > errors && errors > 0, "{values} values, {errors} errors");
}

#[test]
fn turns_at_once_give_what_turn_after_turn_gives() {
    alike(160, 81_000_000, |dice| {
        let (over, counted) = [
            ("⍳n", true),
            ("V", false),
            ("F", false),
            ("B", false),
            ("1↓⍳n", true),
            ("⍳n-1", true),
            ("L", false),
        ][dice.roll(7)];
        let mut lines = vec!["z←loop;i;r;s;m;q;u;h".to_string()];
        let start = ["0", "0.5", "100"][dice.roll(3)];
        lines.push(format!("r←⍬ ⋄ s←{start} ⋄ m←0 ⋄ q←n⍴0 ⋄ u←0 ⋄ h←4200⍴0 ⋄ h[2]←{start}"));
        lines.push(format!(":For i :In {over}"));
        let mut given = false;
        for _ in 0..1 + dice.roll(3) {
            statement(dice, 2, counted, &mut given, &mut lines);
        }
        lines.push(":EndFor".into());
        lines.push("z←r s m q u i h".into());
        lines
    });
}

#[test]
fn loops_in_loops_at_once_give_what_turn_after_turn_gives() {
    alike(80, 82_000_000, |dice| {
        let mut lines = vec!["z←loop;i;j;r;s;a;w;h".to_string()];
        lines.push("r←⍬ ⋄ s←0 ⋄ a←0 ⋄ w←60 70⍴0 ⋄ h←70 60⍴0".into());
        lines.push(":For i :In ⍳60".into());
        let item = dice.pick(&["M[i;j]", "G[i;j]", "M[i;3]", "G[2;j]", "i", "V[j]", "(i+j)", "1"]);
        let item = item.to_string();
        if dice.roll(2) == 0 {
            lines.push("s←0".into());
        }
        let inner = [":For j :In ⍳70", ":For j :In ⍳70", ":For j :In ⍳≢⍉M"][dice.roll(3)];
        lines.push(inner.into());
        for _ in 0..1 + dice.roll(2) {
            let all = [
                format!("w[i;j]←{item}×2"),
                format!("w[i;j]+←{item}"),
                format!("h[j;i]←{item}"),
                format!("s+←{item}"),
                format!("a+←{item}"),
                format!("r,←{item}"),
                format!(":If {item}>2 ⋄ s+←1 ⋄ :EndIf"),
                format!(":If {item}>2 ⋄ r,←{item} ⋄ :Else ⋄ w[i;j]←5 ⋄ :EndIf"),
                format!("w[i;j]←M[i;j]÷{item}"),
            ];
            lines.push(dice.pick(&all).clone());
        }
        lines.push(":EndFor".into());
        match dice.roll(4) {
            0 => lines.push("r,←s".into()),
            1 => lines.push("a+←s×j".into()),
            2 => lines.push("w[i;1]←s".into()),
            _ => {}
        }
        lines.push(":EndFor".into());
        lines.push("z←r s a w h i j".into());
        lines
    });
}

/// A vector of a turn; true: it has 70 items.
fn row(dice: &mut Dice, depth: usize) -> (String, bool) {
    if depth == 0 {
        let all = ["M[i;]", "G[i;]", "M[i;]", "G[U[i];]", "M[1;]", "70↑i↓V", "F[i+⍳70]", "W70"];
        return match dice.roll(8) {
            0 => ("M[;i]".into(), false),
            1 => (dice.pick(&["V[i+⍳5]", "5↑i↓F", "V[(3×i)+⍳5]", "F[i-1-⍳5]"]).to_string(), false),
            2 => ("x".into(), false),
            _ => (dice.pick(&all).to_string(), true),
        };
    }
    let (x, whole) = row(dice, depth - 1);
    let op = *dice.pick(&["+", "-", "×", "⌈", "⌊", "<", "="]);
    match dice.roll(9) {
        0 => (format!("{x}{op}{}", dice.pick(&["i", "2", "0.5", "⌈/M[i;]"])), whole),
        1 => (format!("{}{op}{x}", dice.pick(&["i", "3", "(+/M[i;])", "s"])), whole),
        2 if whole => (format!("G[i;]{op}{x}"), true),
        3 => (format!("+\\{x}"), whole),
        4 => (format!("⌽{x}"), whole),
        5 => (format!("3↑{x}"), false),
        6 => (format!("1↓{x}"), false),
        7 => (format!("({x}),i"), false),
        8 => (format!("2-/{x}"), false),
        _ => (x, whole),
    }
}

#[test]
fn turns_on_rows_at_once_give_what_turn_after_turn_gives() {
    alike(160, 83_000_000, |dice| {
        let mut lines = vec!["z←loop;i;r;s;w;h;k;x;q;U;W70".to_string()];
        lines.push("r←⍬ ⋄ s←0 ⋄ w←60 70⍴0 ⋄ h←70 60⍴0 ⋄ k←0 70⍴0 ⋄ x←1 2 3 4 5 6 7 8 9".into());
        lines.push("q←60⍴0 ⋄ U←1+60|7×⍳60 ⋄ W70←70⍴V".into());
        lines.push(format!(":For i :In {}", dice.pick(&["⍳60", "⍳60", "1↓⍳60", "U"])));
        for _ in 0..1 + dice.roll(3) {
            let depth = 1 + dice.roll(2);
            let (x, whole) = row(dice, depth);
            let fold = *dice.pick(&["+/", "⌈/", "⌊/", "≢", "⊃"]);
            let all = [
                format!("r,←{x}"),
                format!("r,←{fold}{x}"),
                format!("s+←{fold}{x}"),
                format!("q[i]←{fold}{x}"),
                format!("x←{x}"),
                format!("x←{x} ⋄ r,←+/x ⋄ r,←x[2]"),
                format!(":If 100<+/{x} ⋄ r,←i ⋄ :EndIf"),
                format!(":If 2<⊃{x} ⋄ r,←{x} ⋄ :Else ⋄ s+←1 ⋄ :EndIf"),
                format!("s+←M[i;]+.×G[i;] ⋄ r,←+/{x}"),
                format!("w[i;]←{x}"),
                format!("w[i;]+←{x}"),
                format!("k⍪←{x}"),
                format!(":If 3>M[i;2] ⋄ k⍪←{x} ⋄ r,←{x} ⋄ :EndIf"),
                format!("w[i;]←w[i;]-{x}"),
            ];
            let from = if whole || dice.roll(6) == 0 { 0 } else { 5 };
            let at = dice.roll(all.len() - from);
            lines.push(all[at].clone());
            match dice.roll(8) {
                0 => lines.push("h[;i]←M[i;]".into()),
                1 => lines.push("w[i;]←i".into()),
                2 => lines.push("w[i;3]←i".into()),
                _ => {}
            }
        }
        lines.push(":EndFor".into());
        lines.push("z←r s w h k x q i".into());
        lines
    });
}

#[test]
fn loops_that_count_to_their_end_give_what_turn_after_turn_gives() {
    alike(120, 84_000_000, |dice| {
        let mut lines = vec!["z←loop;i;r;s;q;p;m;u".to_string()];
        let list = *dice.pick(&["V", "F", "n↑t", "4100↑P", "4201⍴1 0"]);
        lines.push(format!("r←⍬ ⋄ s←m←u←0 ⋄ i←{} ⋄ q←{list} ⋄ p←V", dice.pick(&["1", "0", "5"])));
        let numbers = !list.contains('t');
        let ends = ["i≤n", "i<≢V", "0<≢q", "1<≢q", "0≠≢q", "4100>i", "~0=≢q", "(i≤n)∧0<≢q"];
        let end = *dice.pick(&ends);
        lines.push(format!(":While {end}"));
        let item = match numbers {
            true => *dice.pick(&["⊃q", "⊃⌽q", "q[1]", "+/2↑q", "V[i]", "i", "≢q", "q[≢q]"]),
            false => *dice.pick(&["V[i]", "i", "≢q", "'o'=⊃q"]),
        };
        for _ in 0..1 + dice.roll(2) {
            let all = [
                format!("r,←{item}"),
                format!("s+←{item}"),
                format!("u←{item}"),
                format!("m⌈←{item}"),
                format!(":If 2<{item} ⋄ r,←i ⋄ :EndIf"),
                "r,←⊃⌽r".to_string(),
            ];
            lines.push(dice.pick(&all).clone());
        }
        lines.push(dice.pick(&["i+←1", "i+←1", "i←i+2", "i←1+i"]).to_string());
        let mut cuts = vec!["q←1↓q", "q←1↓q", "q←2↓q", "q↓⍨←1", "q←¯1↓q"];
        if !end.contains('q') {
            cuts.extend(["", "", ""]);
        }
        lines.push(dice.pick(&cuts).to_string());
        if dice.roll(3) == 0 {
            lines.push(format!("r,←{item}"));
        }
        if dice.roll(8) == 0 {
            lines.push(":If 3=i ⋄ i+←1 ⋄ :EndIf".into());
        }
        lines.push(":EndWhile".into());
        lines.push("z←r s q p m u i".into());
        lines
    });
}

#[test]
fn loops_over_characters_at_once_give_what_turn_after_turn_gives() {
    for body in [
        ":If i∊'aeiou' ⋄ s+←1 ⋄ :EndIf",
        ":If i∊'aeiou' ⋄ :Continue ⋄ :EndIf ⋄ r,←i",
        ":If i=' ' ⋄ r,←'-' ⋄ :Else ⋄ r,←i ⋄ :EndIf",
        "r,←i ⋄ s+←i='o'",
        "p←'abcdefghijklmnopqrstuvwxyz'⍳i ⋄ s+←p",
        ":Select i ⋄ :Case 'o' ⋄ r,←'0' ⋄ :CaseList 'ei' ⋄ r,←'3' ⋄ :Else ⋄ r,←i ⋄ :EndSelect",
        "p←i ⋄ :If p≠'q' ⋄ r,←p ⋄ :EndIf",
    ] {
        let mut plain = session();
        for off in ["numbers", "frames"] {
            plain.options().switch(off, false).expect("a switch");
        }
        let f = format!(
            "{SETUP} ⋄ f←⎕FX 'z←loop;i;r;s;p' 'r←'''' ⋄ s←0 ⋄ p←0' ':For i :In t' '{}' ':EndFor' \
             'z←r s i'",
            body.replace('\'', "''")
        );
        let line = format!("{f} ⋄ o←⍕loop ⋄ o←⍕loop ⋄ ⎕UCS ⍕loop");
        assert_eq!(outcome(&mut session(), &line), outcome(&mut plain, &line), "{body}");
    }
}

//! Random recursions on numbers, dfns that change outer names, and loops: in registers = one value
//! after the other. Values, errors with their places, and what the names hold then.

use crate::support::{Dice, scaled, session};
use aplomb_ground::error::Kind;
use aplomb_kernel::session::Session;

/// The names that bodies read and change.
const SETUP: &str = "⎕PP←17 ⋄ a←0.5 ⋄ s←2 ⋄ c←5⍴1 ⋄ r←⍬ ⋄ v←3 1 4 1 5 ⋄ add←{⍺+⍵} ⋄ half←{⍵÷2}";

/// An expression of a number; `∇` calls are for `calls` places yet.
fn number(dice: &mut Dice, depth: usize, left: bool, calls: &mut usize) -> String {
    if depth == 0 {
        let leaves =
            ["⍵", "⍵", "⍵", "1", "2", "a", "s", "v[2]", "0.1", if left { "⍺" } else { "3" }];
        return dice.pick(&leaves).to_string();
    }
    let x = number(dice, depth - 1, left, calls);
    match dice.roll(16) {
        0..=3 => {
            let op = ["+", "-", "×", "÷", "⌈", "⌊", "|", "*", "add ", "=", "<", "∧"][dice.roll(12)];
            format!("({x}{op}{})", number(dice, depth - 1, left, calls))
        }
        4 => format!(
            "({}{x})",
            ["-", "⌊", "×", "÷", "~", "half ", "*", "⍟", "!", "○"][dice.roll(10)]
        ),
        5 => format!("(×⍨{x})"),
        6 => format!("({x}-⍨{})", number(dice, depth - 1, left, calls)),
        7 => format!("v[1+5|⌊|{x}]"),
        8 => format!("({x}⊣{})", number(dice, depth - 1, left, calls)),
        9 => format!("({x}+(n←{x})×n)"),
        _ if *calls > 0 => {
            *calls -= 1;
            let next = ["⍵-1", "⍵-2", "⍵-1", "⌊⍵÷2"][dice.roll(4)];
            if left { format!("({x}∇{next})") } else { format!("({x}+∇{next})") }
        }
        _ => x,
    }
}

/// A step that changes an outer name.
fn effect(dice: &mut Dice, left: bool) -> String {
    let x = number(dice, 1, left, &mut 0);
    match dice.roll(6) {
        0 => format!("s+←{x}"),
        1 => format!("s⌈←{x}"),
        2 => format!("c[1+5|⌊|{x}]+←{x}"),
        3 => format!("c[1+5|⌊|⍵]←{x}"),
        4 => format!("r,←{x}"),
        _ => format!("k←s ⋄ s add←{x} ⋄ s×←k<9"),
    }
}

fn dfn(dice: &mut Dice, left: bool, effects: bool) -> String {
    let mut calls = dice.roll(3);
    let depth = 1 + dice.roll(2);
    let end = number(dice, depth, left, &mut 0);
    let mut out = format!("{{⍵<1:{end}");
    for _ in 0..dice.roll(3) {
        let x = number(dice, 1, left, &mut 0);
        match dice.roll(5) {
            0 => out += &format!(" ⋄ n←{x}"),
            // What fails behind it goes there.
            4 => out += &format!(" ⋄ {}::{x}", dice.pick(&["0", "11", "3", "3 11"])),
            1 => out += &format!(" ⋄ {x}<⍵:{}", number(dice, depth, left, &mut calls)),
            2 if effects => out += &format!(" ⋄ {}", effect(dice, left)),
            // What one way names the other does not see.
            _ => out += &format!(" ⋄ {}=⍵:a+a←{x}", dice.roll(4)),
        }
    }
    out + &format!(" ⋄ {}}}", number(dice, 1 + depth, left, &mut calls))
}

/// The value as text, or the error and its place.
pub fn outcome(s: &mut Session, line: &str) -> Result<Vec<f64>, String> {
    match s.value_of(line) {
        Ok(a) => Ok(a
            .and_then(|a| a.to_numbers(&aplomb_ground::limits::Budget::new(u64::MAX)).ok()?)
            .expect("code points")),
        Err(e) => {
            assert_ne!(e.kind(), Kind::Internal, "{line}: {e}");
            Err(format!("{} at {:?}", e.kind().name(), e.parts().place.as_ref().map(|p| p.span)))
        }
    }
}

/// Sessions with registers and without.
pub fn both() -> (Session, Session) {
    let (fast, mut slow) = (session(), session());
    slow.options().switch("numbers", false).expect("a switch");
    (fast, slow)
}

/// So many random lines: with registers and without each has one value, or one error at one place.
pub fn alike(count: usize, first: u64, line: impl Fn(&mut Dice) -> String) {
    let (mut fast, mut slow) = both();
    let (mut values, mut errors) = (0, 0);
    for k in 0..scaled(count) {
        let seed = first + k as u64;
        let line = line(&mut Dice(seed));
        let wanted = outcome(&mut slow, &line);
        assert_eq!(outcome(&mut fast, &line), wanted, "seed {seed}: {line}");
        if wanted.is_ok() { values += 1 } else { errors += 1 }
    }
    assert!(values > errors && errors * 100 > values, "{values} values, {errors} errors");
}

#[test]
fn registers_give_what_values_give() {
    alike(1_500, 70_000_000, |dice| {
        let left = dice.roll(2) == 0;
        let each = dice.roll(2) == 0;
        let f = dfn(dice, left, each);
        let x = if left { "2" } else { "" };
        // Those of many items become a loop, which is machine code in the end.
        let y = ["20⍴⍳7", "⍳17", "0.5×⍳18", "700⍴⍳7", "0.5×640⍴⍳9"][dice.roll(5)];
        let run =
            if each { format!("{x}{f}¨{y}") } else { format!("{x}{f} {}", 1 + dice.roll(8)) };
        format!("{SETUP} ⋄ z←{run} ⋄ ⎕UCS ⍕z,s,c,r")
    });
}

/// An expression of numbers that stand in a state: names, and whatever leaves are given.
fn of_state(dice: &mut Dice, depth: usize, leaves: &[&str]) -> String {
    if depth == 0 {
        return dice.pick(leaves).to_string();
    }
    let x = of_state(dice, depth - 1, leaves);
    match dice.roll(8) {
        0..=4 => {
            let op = ["+", "-", "×", "⌈", "⌊", "|", "=", "<", "÷"][dice.roll(9)];
            format!("({x}{op}{})", of_state(dice, depth - 1, leaves))
        }
        5 => format!("(10|{x})"),
        6 => format!("({}{x})", ["-", "⌊", "×", "|"][dice.roll(4)]),
        _ => format!("(+/{x},{})", of_state(dice, depth - 1, leaves)),
    }
}

/// A fold, a power or calls whose state is a pair, a vector that grows, characters.
fn state(dice: &mut Dice) -> String {
    let items = ["20⍴⍳7", "0.5×⍳18", "17⍴0", "30⍴3 1 2", "650⍴3 1 2", "0.25×600⍴⍳31"][dice.roll(6)];
    let text = ["24⍴'abcab'", "20⍴'aab  b'", "⌽30⍴'xyz '", "700⍴'abxyz '"][dice.roll(4)];
    let pair = |dice: &mut Dice, leaves: &[&str]| {
        let (depth, deep) = (1 + dice.roll(2), dice.roll(2));
        format!(
            "{}{}",
            wrapped(of_state(dice, depth, leaves)),
            wrapped(of_state(dice, deep, leaves))
        )
    };
    match dice.roll(9) {
        0 | 1 => {
            let leaves = ["a", "b", "⍺", "1", "(2⊃⍵)", "⍵[1]"];
            let cond = of_state(dice, 1, &["a", "b", "⍺"]);
            let (yes, no) = (pair(dice, &leaves), pair(dice, &leaves));
            format!("{{(a b)←⍵ ⋄ 3<{cond}:{yes} ⋄ {no}}}/({items}),⊂1 2")
        }
        2 => {
            let leaves = ["a", "b", "1", "s", "⍵[2]"];
            let body = pair(dice, &leaves);
            let times = [15, 16, 17, 18, 640][dice.roll(5)];
            format!("{{(a b)←⍵ ⋄ 5|{body}}}⍣{times}⊢1 2")
        }
        3 => {
            let leaves = ["⍺", "(⊃⌽⍵)", "(⊃⍵)", "(≢⍵)", "2", "⍵[1]"];
            let new = of_state(dice, 1, &leaves);
            let cond = of_state(dice, 1, &["⍺", "(⊃⍵)"]);
            let grown = match dice.roll(7) {
                0 => format!("({new}),⍵"),
                1 => format!("1↓⍵,{new}"),
                2 => format!("(1⌽⍵),{new}"),
                3 => format!("(⌽⍵),{new}"),
                4 => format!("(¯1↓⍵),({new}),⍺"),
                5 => format!("⍵,⍵,{new}"),
                _ => format!("⍵,{new}"),
            };
            let start = ["0", "(⊂0 1)", "(⊂⍳9)", "(⊂⍬)"][dice.roll(4)];
            // A list that doubles is soon too long.
            let some = if grown.starts_with("⍵,⍵") { "12⍴⍳5" } else { items };
            format!("{{7={cond}:⍵ ⋄ {grown}}}/({some}),{start}")
        }
        4 => {
            let same = ["⍺=⊃⍵", "⍺≡⊃⍵", "⍺∊'ax'", "' '=⍺", "3=≢⍵"][dice.roll(5)];
            let grown = ["⍺,⍵", "⍵,⍺", "'-',⍺,⍵"][dice.roll(3)];
            format!("{{{same}:⍵ ⋄ {grown}}}/{text}")
        }
        5 => {
            let test = ["⍵∊'ab'", "⍵='x'", "3<'abxyz'⍳⍵", "⍵≡5"][dice.roll(4)];
            let (yes, no) =
                [("⍵", "'.'"), ("1", "0"), ("⍵ 1", "'?' 2"), ("s+←1", "s")][dice.roll(4)];
            format!("{{{test}:{yes} ⋄ s+←2 ⋄ {no}}}¨{text}")
        }
        6 => {
            let cond = of_state(dice, 1, &["x", "m", "v[1+5|m]", "l"]);
            let body = format!("m←⌊0.5×l+h ⋄ 9>{cond}:∇ l m ⋄ ∇(m+1)h");
            format!("{{x←⍵ ⋄ {{(l h)←⍵ ⋄ l≥h:l,h ⋄ {body}}}1 20}}¨{items}")
        }
        7 => {
            let leaves = ["⍵[1]", "(2⊃⍵)", "a", "3"];
            let body = pair(dice, &leaves);
            format!("{{a←⊃⍵ ⋄ s+←a ⋄ w←⍵ ⋄ w[2]+←a ⋄ w,{body}}}¨↓20 2⍴⍳9")
        }
        _ => "{0=≢⍵:⍬ ⋄ (1+⊃⍵),∇1↓⍵}¨⊂¨20⍴⊂⍳5"
            .replace("⊂¨20⍴⊂⍳5", ["20⍴⊂⍳5", "(⍳20)⍴¨7"][dice.roll(2)]),
    }
}

/// An item of a strand.
fn wrapped(x: String) -> String {
    if x.starts_with('(') { x } else { format!("({x})") }
}

/// An expression of numbers in a turn of a long run.
fn of_turn(dice: &mut Dice, depth: usize, names: &[&str]) -> String {
    if depth == 0 {
        return dice.pick(names).to_string();
    }
    let x = of_turn(dice, depth - 1, names);
    match dice.roll(5) {
        0 => x,
        _ => {
            let op = dice.pick(&["+", "+", "-", "×", "⌈", "⌊", "|", "<", "="]);
            format!("({x}{op}{})", of_turn(dice, depth - 1, names))
        }
    }
}

/// A function that is called in a long run: ways that few turns or many take, names that some give
/// before they are read.
fn turn(dice: &mut Dice, state: &str) -> String {
    let mut names = vec!["⍺", "⍵", "⍺", "1", "2", "7"];
    let mut out = String::from("{");
    if state == "two" {
        out += "(p q)←⍵ ⋄ ";
        names = vec!["⍺", "p", "q", "1", "3"];
    }
    let depth = 1 + dice.roll(2);
    for way in 0..dice.roll(3) {
        let one = of_turn(dice, depth, &names);
        match dice.roll(3) {
            0 => out += &format!("t←1000|{one} ⋄ "),
            kind => {
                let (y, z) = (of_turn(dice, 1, &names), of_turn(dice, 1, &names));
                let value = if state == "two" { format!("({y})({z})") } else { y };
                let holds = ["3<10|⍺", "5=⍺", "0=7|⍺"][(kind + way) % 3];
                out += &format!("{holds}:{value} ⋄ ");
            }
        }
        if out.contains("t←") {
            names.push("t");
        }
    }
    // What grows without bounds is no test.
    let last = |dice: &mut Dice| format!("(1000|{})", of_turn(dice, depth, &names));
    let value = match state {
        "two" => format!("{}{}", last(dice), last(dice)),
        _ => last(dice),
    };
    format!("{out}{value}}}")
}

/// Runs that are long enough for code of their own, and for several turns at once.
#[test]
fn long_runs_of_functions_with_guards_are_values() {
    alike(500, 95_000_000, |dice| {
        let n = *dice.pick(&[70, 511, 513, 514, 650, 1030]);
        let data = *dice.pick(&["3 1 2", "⍳9", "5", "0.5 4"]);
        let items = format!("({n}⍴{data})");
        match dice.roll(5) {
            0 | 1 => format!("⊃{}/{items},3", turn(dice, "one")),
            2 => format!("∊{}/{items},⊂1 2", turn(dice, "two")),
            3 => format!("(2{}⍣{n})3", turn(dice, "one")),
            _ => format!("+/{items}{}¨⌽{items}", turn(dice, "one")),
        }
    });
}

#[test]
fn states_in_registers_are_values() {
    alike(1_200, 90_000_000, |dice| {
        format!("{SETUP} ⋄ z←{} ⋄ ⎕UCS ⍕(⍴z)(≡z)(⍴⊃z)z s", state(dice))
    });
}

/// A number of a loop's turn.
fn turned(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        let leaves = ["i", "i", "t", "t", "j", "1", "2", "0.5", "a", "v[1+5|i]", "m[1+2|i;1+3|j]"];
        let rows = [
            "(+/m[1+2|i;])",
            "(⌈/m[;1+3|i])",
            "(m[1+2|i;]+.×m[1;])",
            "(⊃⌽0,q)",
            "(⊃q,7)",
            "(≢2,q)",
            "(v⍳1+5|i)",
            "(+/m[1;]×0.1×m[1+2|j;])",
        ];
        if dice.roll(5) == 0 {
            return dice.pick(&rows).to_string();
        }
        return dice.pick(&leaves).to_string();
    }
    let x = turned(dice, depth - 1);
    match dice.roll(9) {
        0..=4 => {
            let op = ["+", "-", "×", "÷", "⌈", "|", "<", "=", "add "][dice.roll(9)];
            format!("({x}{op}{})", turned(dice, depth - 1))
        }
        5 => format!("({}{x})", ["-", "⌊", "half ", "×", "|"][dice.roll(5)]),
        6 => format!("(1⌊{x})"),
        7 => format!("({x}×≢c)"),
        _ => x,
    }
}

/// A vector of five numbers, or a matrix of two rows, of a loop's turn.
fn whole(dice: &mut Dice, depth: usize, matrix: bool) -> String {
    if depth == 0 {
        return match (matrix, dice.roll(6)) {
            (_, 0) => turned(dice, 0),
            (true, _) => "m".into(),
            (false, k) => ["u", "c", "v", "3 1 0.5 2 0", "u"][k - 1].into(),
        };
    }
    let x = whole(dice, depth - 1, matrix);
    match dice.roll(8) {
        0..=4 => {
            let op = ["+", "-", "×", "÷", "⌈", "|", "<", "=", "⌊"][dice.roll(9)];
            format!("({x}{op}{})", whole(dice, depth - 1, matrix))
        }
        5 => format!("({}{x})", ["-", "⌊", "×", "|", "~"][dice.roll(5)]),
        6 => format!("(×⍨{x})"),
        // What is changed here is not what waits for it.
        _ if matrix => format!("({x}+m←1⌊{x})"),
        _ => format!("((u←1⌊{x})-u)"),
    }
}

/// A line that changes a vector or a matrix, or looks at one.
fn whole_line(dice: &mut Dice) -> String {
    let (deep, matrix) = (1 + dice.roll(2), dice.roll(3) == 0);
    let (name, x) = (if matrix { "m" } else { "u" }, whole(dice, deep, matrix));
    match dice.roll(5) {
        0 | 1 => format!("{name}←9|{x}"),
        2 => format!("{name}{}←{x}", ["+", "⌊", "×"][dice.roll(3)]),
        3 if matrix => format!("m[1;2]+←{x}[1;1]"),
        3 => format!("u[1+5|i]+←+/{x}"),
        _ if matrix => "m←1⌊m ⋄ t←t⌈m[1;1]".into(),
        _ => format!("t←1000|⌊({}/{x})", ["+", "⌈", "⌊", "×"][dice.roll(4)]),
    }
}

/// A line of a loop, or several.
fn line(dice: &mut Dice, depth: usize, out: &mut Vec<String>) {
    let deep = 1 + dice.roll(2);
    let x = turned(dice, deep);
    match dice.roll(if depth == 0 { 13 } else { 18 }) {
        7..=9 => out.push(whole_line(dice)),
        0 | 1 => out.push(format!("t←1000|⌊{x}")),
        2 => out.push(format!("t+←{x}")),
        3 => out.push(format!("c[1+5|⌊|{x}]+←{x}")),
        4 if dice.roll(2) == 0 => {
            let line = ["m[1+2|i;]", "m[;1+3|i]", "m[1+2|j;]"][dice.roll(3)];
            let row = ["m[1;]", "(2×m[2;])", "3", "(m[1;]-⌊/m[2;])", "t", "u[1 2]", "(m[;1]+1)"];
            let op = ["", "+", "-", "⌈"][dice.roll(4)];
            out.push(format!("{line}{op}←9|{}", row[dice.roll(7)]));
        }
        4 => out.push(format!("m[1+2|i;1+3|⌊|{x}]←{x}")),
        5 if dice.roll(2) == 0 => {
            out.extend([":If 4<≢q".into(), "q←⍬".into(), ":EndIf".into()]);
            out.push(format!("q,←{x}"));
        }
        5 => out.push(format!("q,←{x}")),
        6 => out.push(format!("k←{x} ⋄ j←5|⌊|k")),
        10 => out.push(format!("(t j)←(1000|⌊{x}) {}", turned(dice, 1))),
        11 => {
            let text = ["g", "y", "'xyz'", "'mississippi'"][dice.roll(4)];
            let act = ["y,←d", "g[1+3|i]←d", "e←d", "t+←d∊'is'", "t+←'xyz'⍳d", "k←d=e", "y←''"];
            out.push(format!(":For d :In {text}"));
            out.push(act[dice.roll(7)].into());
            out.push(":EndFor".into());
        }
        12 => out.push(format!("k←(≢⍉m)+(1⊃⍴m)×+/v[1+5|i+0 1 {}]", dice.roll(5))),
        13 | 14 => {
            out.push(format!(":If {}<{}", turned(dice, 1), turned(dice, 0)));
            line(dice, depth - 1, out);
            match dice.roll(4) {
                0 => out.push(":Leave".into()),
                1 => out.push(":Continue".into()),
                2 => {
                    out.push(":Else".into());
                    line(dice, depth - 1, out);
                }
                _ => {}
            }
            out.push(":EndIf".into());
        }
        15 => {
            out.push(format!(":For j :In {}", ["⍳40", "v", "⍳5|i", "⍳0"][dice.roll(4)]));
            line(dice, depth - 1, out);
            out.push(":EndFor".into());
        }
        16 => {
            // Inner ones of one name end together.
            out.push("w←0".into());
            out.push(":While w<35".into());
            out.push("w+←1".into());
            line(dice, depth - 1, out);
            out.push(":EndWhile".into());
        }
        _ => out.push(format!("t←t {x} ⋄ t←+/t")),
    }
}

#[test]
fn loops_in_registers_give_what_values_give() {
    let (mut fast, mut slow) = (session(), session());
    for off in ["numbers", "frames"] {
        slow.options().switch(off, false).expect("a switch");
    }
    let (mut values, mut errors) = (0, 0);
    for k in 0..scaled(400) {
        let seed = 80_000_000 + k as u64;
        let mut dice = Dice(seed);
        let head = "r←loop n;i;j;t;k;q;w;d".to_string();
        let mut lines = vec![head, "t←j←k←0 ⋄ q←⍬".into(), ":For i :In ⍳n".into()];
        for _ in 0..1 + dice.roll(3) {
            line(&mut dice, 2, &mut lines);
        }
        lines.extend([":EndFor".into(), "r←t,k,j,q".into()]);
        let texts: Vec<String> = lines.iter().map(|l| format!("'{l}'")).collect();
        let made = format!("{SETUP} ⋄ m←2 3⍴⍳6 ⋄ u←5⍴0.5 ⋄ f←⎕FX {}", texts.join(" "));
        let turns = [60, 60, 700][dice.roll(3)];
        let names = "g←'ax ' ⋄ e←'x' ⋄ y←''";
        let line = format!("{made} ⋄ {names} ⋄ z←loop {turns} ⋄ ⎕UCS (⍕z,s,a,c,(,m),v,u),g,e,y");
        let wanted = outcome(&mut slow, &line);
        assert_eq!(outcome(&mut fast, &line), wanted, "seed {seed}: {}", lines.join("\n"));
        if wanted.is_ok() { values += 1 } else { errors += 1 }
    }
    assert!(values > errors && errors * 100 > values, "{values} values, {errors} errors");
}

#[test]
fn a_constant_in_a_loop_stays_what_it_is() {
    let mut s = session();
    let words = "⎕FX 'r←words s;c;w' 'w←''''' 'r←⍬' ':For c :In s' ':If c='' ''' 'r,←≢w' 'w←''''' \
                 ':Else' 'w,←c' ':EndIf' ':EndFor'";
    let empty = "⎕FX 'r←empty n;i;w' 'w←⍬' ':For i :In ⍳n' 'w,←i' 'w←⍬' ':EndFor' 'r←≢w'";
    for (call, wanted) in [
        ("words 210⍴'ab cde '", [2.0, 3.0].repeat(30)),
        ("+/words 7000⍴'ab cde '", vec![5_000.0]),
        ("empty 60", vec![0.0]),
        ("empty 900", vec![0.0]),
    ] {
        let line = format!("z←{words} ⋄ z←{empty} ⋄ {call}");
        assert_eq!(outcome(&mut s, &line), Ok(wanted), "{call}");
    }
}

#[test]
fn a_recursion_that_ends_too_deep_is_tried_once() {
    // As a program has it: the evaluator goes as deep as it may.
    let deep = std::thread::Builder::new().stack_size(1 << 29).spawn(|| {
        let mut s = session();
        let line = "≢{0::5 ⋄ {⍵≤0:1 ⋄ 1+∇⍵-1}⍵}¨20⍴20000";
        assert_eq!(outcome(&mut s, line), Ok(vec![20.0]));
        assert!(outcome(&mut s, "{⍵≤0:÷0 ⋄ 1+∇⍵-1}9000").is_err());
    });
    deep.expect("a thread").join().expect("values");
}

#[test]
fn what_fails_is_told_by_who_reads_it() {
    let (mut fast, mut slow) = both();
    for (line, fails) in [
        ("bad←÷¯1+⍳5000 ⋄ z←{⍵=0:0 ⋄ ⍵=99:bad[1] ⋄ ∇⍵-1}5 ⋄ z", false),
        ("bad←÷¯1+⍳5000 ⋄ z←{⍵=0:0 ⋄ ⍵=3:bad[1] ⋄ ∇⍵-1}5 ⋄ z", true),
    ] {
        let wanted = outcome(&mut slow, line);
        assert_eq!(wanted.is_err(), fails, "{line}: {wanted:?}");
        assert_eq!(outcome(&mut fast, line), wanted, "{line}");
    }
}

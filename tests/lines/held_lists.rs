//! Random programs on lists of arrays that several names, items and calls hold. A list that is
//! changed where it lies is what it would be if each step copied it: a model in plain vectors says
//! what that is, and a step that fails loses nothing.

use crate::asked::Looking;
use crate::support::{Dice, Heard, scaled, session};
use aplomb_ground::protocol::{Event, Request};
use aplomb_kernel::session::Session;

/// An item of a list: a number, or a vector of some.
#[derive(Clone, PartialEq)]
enum Item {
    Number(i64),
    Vector(Vec<i64>),
}

type List = Vec<Item>;

/// The names: three lists, and an item.
#[derive(Clone)]
struct State {
    lists: [List; 3],
    item: Item,
}

const NAMES: [&str; 3] = ["a", "b", "c"];

impl Item {
    /// The value as a value of its own.
    fn text(&self) -> String {
        match self {
            Item::Number(x) => x.to_string().replace('-', "¯"),
            Item::Vector(all) => {
                let all: Vec<String> = all.iter().map(|x| Item::Number(*x).text()).collect();
                format!("(,{})", all.join(" "))
            }
        }
    }

    /// The value as an item to be joined.
    fn joined(&self) -> String {
        match self {
            Item::Number(_) => self.text(),
            Item::Vector(_) => format!("(⊂{})", self.text()),
        }
    }

    fn and(&self, more: &Item) -> Item {
        let all = |item: &Item| match item {
            Item::Number(x) => vec![*x],
            Item::Vector(all) => all.clone(),
        };
        Item::Vector([all(self), all(more)].concat())
    }
}

fn spelled(list: &[Item]) -> String {
    list.iter().fold("⍬".into(), |text: String, item| format!("{text},{}", item.joined()))
}

/// A step: its text, and what it does to the names.
struct Step {
    text: String,
    does: Box<dyn Fn(&mut State)>,
}

fn some_item(dice: &mut Dice) -> Item {
    let all: Vec<i64> = (0..3).map(|_| dice.roll(9) as i64 - 2).collect();
    match dice.roll(4) {
        0 => Item::Number(all[0]),
        k => Item::Vector(all[..k].to_vec()),
    }
}

/// A step. Lists have a few items at least, and are as long after it.
fn step(dice: &mut Dice) -> Step {
    let (t, s) = (dice.roll(3), dice.roll(3));
    let (to, from) = (NAMES[t], NAMES[s]);
    let new = some_item(dice);
    let (n, v) = (new.joined(), new.text());
    let kind = dice.roll(35);
    let text = match kind {
        0 | 1 => format!("{to}←{from}"),
        2 | 3 => format!("{to}←{n},{to}"),
        4 => format!("{to}←{to},{n}"),
        5 => format!("{to},←{n}"),
        6 => format!("{to}←{n},{from}"),
        7 => format!("{to}←{from},{n}"),
        8 => format!("{to}←(1↓{to}),{n}"),
        9 => format!("{to}←{n},1↓{to}"),
        10 => format!("{to}←(¯1↓{to}),{n}"),
        11 => format!("{to}←{n},¯1↓{to}"),
        12 => format!("{to}←(1↓{from}),{n}"),
        13 => format!("{to}[1]←⊂{v}"),
        14 => format!("(2⊃{to})←{v}"),
        15 => format!("{to}[2],←⊂{v}"),
        16 => format!("(1⊃{to}),←{v}"),
        17 => format!("{to}←{{w←⍵ ⋄ w←{n},w ⋄ w←1↓w ⋄ w,←{n} ⋄ w}}{from}"),
        18 => format!("{to}←{{2≥≢⍵:⍵ ⋄ ({n},1↑⍵),∇1↓⍵}}{from}"),
        19 => format!("{to}←(2↓{to}),2↑{from}"),
        20 => format!("e←⊃⌽{to}"),
        21 => format!("e,←{v}"),
        22 => format!("{to}←{to},{from}"),
        26 => format!("{to}←1↓{to} ⋄ {to}←{n},{to}"),
        27 => format!("{to}←¯1↓{to} ⋄ {to},←{n}"),
        28 => format!("{to}←1↓{to} ⋄ {to},←{n}"),
        29 => format!("{to}←¯3↑2↓{to} ⋄ {to}←{n},{n},{from},{to}"),
        30 => format!("{to}←{{⍵,{n}}}⍣2⊢{from}"),
        31 => format!("{to}←{from}{{0=⍵:⍺ ⋄ (⍺,{n})∇⍵-1}}2"),
        32 => format!("{to}←{from}{{0=⍵:⍺ ⋄ r←⍺ ⋄ r←{n},r ⋄ r∇⍵-1}}2"),
        33 => format!("{to}←⊃{{⍵,{n}}}/(⍳2),⊂{from}"),
        34 => format!("{to}←{from}{{r←⍺,{n} ⋄ r,⍵}}{from}"),
        23 => format!("{to}←1↓{from}←{n},{from}"),
        24 => format!("e←{to}⍳⊂{v}"),
        _ => format!("{to}←{to},(⊂e),({from}∊⊂{v})/{from}"),
    };
    let does = move |state: &mut State| {
        let (a, b) = (state.lists[t].clone(), state.lists[s].clone());
        let n = new.clone();
        let place = |x: &List| x.iter().position(|item| *item == n);
        let front = |x: &[Item]| [std::slice::from_ref(&n), x].concat();
        let back = |x: &[Item]| [x, std::slice::from_ref(&n)].concat();
        let last = a.len() - 1;
        state.lists[t] = match kind {
            0 | 1 => b,
            2 | 3 => front(&a),
            4 | 5 => back(&a),
            6 => front(&b),
            7 | 17 => back(&b),
            8 | 28 => back(&a[1..]),
            9 | 13 | 26 => front(&a[1..]),
            10 | 27 => back(&a[..last]),
            29 => {
                let own = &a[last - 2..];
                // The list that it takes is its own by then.
                let b = if s == t { own } else { &b[..] };
                front(&front(&[b, own].concat()))
            }
            11 => front(&a[..last]),
            12 => back(&b[1..]),
            14 => [&a[..1], std::slice::from_ref(&n), &a[2..]].concat(),
            15 => [&a[..1], &[a[1].and(&n)], &a[2..]].concat(),
            16 => [&[a[0].and(&n)], &a[1..]].concat(),
            18 => {
                let k = b.len().saturating_sub(2);
                let pairs = b[..k].iter().flat_map(|x| [n.clone(), x.clone()]);
                pairs.chain(b[k..].iter().cloned()).collect()
            }
            19 => [&a[2..], &b[..2]].concat(),
            30 | 31 | 33 => back(&back(&b)),
            32 => front(&front(&b)),
            34 => [back(&b), b].concat(),
            22 => [a, b].concat(),
            23 => {
                state.lists[s] = front(&b);
                b
            }
            25 => {
                let equal = b.iter().filter(|x| **x == n).cloned().collect();
                [a, vec![state.item.clone()], equal].concat()
            }
            _ => a,
        };
        match kind {
            20 => state.item = state.lists[t][last].clone(),
            21 => state.item = state.item.and(&n),
            24 => {
                let list = &state.lists[t];
                state.item = Item::Number(place(list).unwrap_or(list.len()) as i64 + 1);
            }
            _ => {}
        }
    };
    Step { text, does: Box::new(does) }
}

/// A step that fails, with what it has done before.
fn failing(dice: &mut Dice) -> Step {
    let t = dice.roll(3);
    let (to, new) = (NAMES[t], some_item(dice));
    let (n, v, kind) = (new.joined(), new.text(), dice.roll(8));
    let text = match kind {
        4 => format!("e←÷0×≢{to},←{n}"),
        5 => format!("e←÷0×≢{to}[1]←⊂{v}"),
        6 => format!("e←÷0×(≢{to}[1]←⊂{v})×≢{to},←{n}"),
        7 => format!("e←÷0×(≢{to},←{n})×≢{to}[1]←⊂{v}"),
        0 => format!("{to}←({n},{to}),÷0"),
        1 => format!("{to}←(1↓{to}),{to}+1 2 3⍴⍳6"),
        2 => format!("e←÷0×≢{to}←{n},{to}"),
        _ => format!("e←÷0×≢{to}←1↓{to}←{to},{n}"),
    };
    let does = move |state: &mut State| {
        let list = &mut state.lists[t];
        match kind {
            2 => list.insert(0, new.clone()),
            4 => list.push(new.clone()),
            5 => list[0] = new.clone(),
            6 | 7 => {
                list[0] = new.clone();
                list.push(new.clone());
            }
            3 => {
                list.remove(0);
                list.push(new.clone());
            }
            _ => {}
        }
    };
    Step { text, does: Box::new(does) }
}

/// Lists of at most so many items between the steps of a turn and those of the next.
const MOST: [usize; 2] = [9, 60];

impl State {
    fn bounded(&mut self, most: usize) {
        self.lists.iter_mut().for_each(|list| list.truncate(most));
    }

    fn wanted(&self) -> String {
        let [a, b, c] = &self.lists;
        let same = |name: &str, text: String| format!("({name}≡{text})");
        let all = [
            same("a", spelled(a)),
            same("b", spelled(b)),
            same("c", spelled(c)),
            same("e", self.item.text()),
        ];
        all.join(",")
    }
}

/// The names as they are at first, and the lines that make them: items that stand one by one, rows
/// of a matrix, pieces of a vector.
fn first(dice: &mut Dice, n: usize) -> (State, Vec<String>) {
    let boxes: List = (0..n).map(|_| some_item(dice)).collect();
    let rows: List = (0..n as i64).map(|k| Item::Vector(vec![2 * k + 1, 2 * k + 2])).collect();
    let lines = vec![
        format!("a←{}", spelled(&boxes)),
        format!("b←↓{n} 2⍴⍳{}", 2 * n),
        format!("c←({}⍴1 0)⊂⍳{}", 2 * n, 2 * n),
        "e←,3".into(),
    ];
    let item = Item::Vector(vec![3]);
    (State { lists: [boxes, rows.clone(), rows], item }, lines)
}

fn bound(most: usize) -> Vec<String> {
    NAMES.iter().map(|x| format!("{x}←({most}⌊≢{x})↑{x}")).collect()
}

#[test]
fn lists_of_a_loop_are_what_copies_would_be() {
    for seed in 0..scaled(300) as u64 {
        let mut dice = Dice(170_000_000 + seed);
        let most = MOST[dice.roll(2)];
        let n = [6, 40][dice.roll(2)].min(most);
        let (mut state, setup) = first(&mut dice, n);
        let turns = 1 + dice.roll(40);
        let steps: Vec<(bool, Step)> = (0..1 + dice.roll(8))
            .map(|_| match dice.roll(9) {
                0 => (true, failing(&mut dice)),
                _ => (false, step(&mut dice)),
            })
            .collect();
        let own = ["", ";a;b;c;e"][dice.roll(2)];
        let body = steps.iter().map(|(fails, step)| match fails {
            true => format!(":Trap 0 ⋄ {} ⋄ :EndTrap", step.text),
            false => step.text.clone(),
        });
        let mut lines = vec![format!("z←f x;i{own}")];
        lines.extend(setup);
        lines.push(":For i :In ⍳x".into());
        lines.extend(body);
        lines.extend(bound(most));
        lines.push(":EndFor".into());
        for _ in 0..turns {
            steps.iter().for_each(|(_, step)| (step.does)(&mut state));
            state.bounded(most);
        }
        lines.push(format!("z←{}", state.wanted()));
        let lines: Vec<String> =
            lines.iter().map(|l| format!("'{}'", l.replace('\'', "''"))).collect();
        let code = format!("k←⎕FX {} ⋄ ⍕f {turns}", lines.join(" "));
        let mut s = session();
        let shown = s.value_of(&code).map(|a| a.map(|a| text(&a)));
        assert_eq!(shown.ok().flatten().as_deref(), Some("1 1 1 1"), "seed {seed}: {code}");
    }
}

/// The text that a line shows. Errors: the name of its error.
fn heard(s: &mut Session, line: &str) -> Result<String, String> {
    let mut heard = Heard::default();
    let request = Request::Execute { code: line.into(), name: "line".into(), silent: false };
    s.handle(request, &mut heard);
    let mut shown = String::new();
    for event in heard.0 {
        match event {
            Event::Error(f) => return Err(f.name),
            Event::Result(b) | Event::Display(b) => shown += &b["text/plain"],
            _ => {}
        }
    }
    Ok(shown)
}

fn text(a: &aplomb_values::array::Array) -> String {
    a.ready_text(&aplomb_ground::limits::Budget::new(u64::MAX)).expect("a text")
}

#[test]
fn lists_of_lines_are_what_copies_would_be() {
    for seed in 0..scaled(120) as u64 {
        let mut dice = Dice(180_000_000 + seed);
        let most = MOST[dice.roll(2)];
        let n = [6, 40][dice.roll(2)].min(most);
        let (mut state, setup) = first(&mut dice, n);
        let mut s = session();
        let mut told = setup.clone();
        setup.iter().for_each(|line| drop(heard(&mut s, line).expect(line)));
        for _ in 0..30 {
            let steps: Vec<Step> = (0..1 + dice.roll(4)).map(|_| step(&mut dice)).collect();
            let mut line: Vec<String> = steps.iter().map(|step| step.text.clone()).collect();
            steps.iter().for_each(|step| (step.does)(&mut state));
            // A statement that fails leaves all names as they were.
            let fails = dice.roll(5) == 0;
            if fails {
                line.push(failing(&mut dice).text);
            }
            let line = line.join(" ⋄ ");
            told.push(line.clone());
            assert_eq!(heard(&mut s, &line).is_err(), fails, "seed {seed}: {told:?}");
            for line in bound(most) {
                told.push(line.clone());
                heard(&mut s, &line).expect(&line);
            }
            state.bounded(most);
            let all = heard(&mut s, &state.wanted()).expect("a comparison");
            assert_eq!(all.trim(), "1 1 1 1", "seed {seed}: {told:?}");
        }
    }
}

/// Loops and recursions on `x` items, whose work for an item is the same however many there are.
const LINEAR: [&str; 30] = [
    "k←⍬ ⋄ :For i :In ⍳x ⋄ k←(⊂i i),k ⋄ :EndFor ⋄ z←≢k",
    "k←⍬ ⋄ :For i :In ⍳x ⋄ k←k,⊂i i ⋄ k←(⊂0 i),k ⋄ :EndFor ⋄ z←≢k",
    "k←⍬ ⋄ :For i :In ⍳x ⋄ k←(⊂i i),k ⋄ :If 0=3|i ⋄ k←1↓k ⋄ :EndIf ⋄ :EndFor ⋄ z←≢k",
    "q←(⍳x)⊂⍨x⍴1 0 ⋄ z←0 ⋄ :While 0<≢q ⋄ z+←≢⊃q ⋄ q←1↓q ⋄ :EndWhile",
    "q←(⍳x)⊂⍨x⍴1 0 ⋄ z←0 ⋄ :While 0<≢q ⋄ z+←≢⊃⌽q ⋄ q←¯1↓q ⋄ :EndWhile",
    "q←{⍵ ⍵}¨⍳x ⋄ z←0 ⋄ :While 0<≢q ⋄ z+←≢⊃q ⋄ q←1↓q ⋄ :EndWhile",
    "q←,⊂1 1 ⋄ z←0 ⋄ :While z<x ⋄ p←⊃q ⋄ z+←1 ⋄ q←(1↓q),(p+1 0)(p+0 1) ⋄ :EndWhile",
    "q←,⊂1 1 ⋄ z←0 ⋄ :While z<x ⋄ p←⊃⌽q ⋄ z+←1 ⋄ q←(¯1↓q),(p+1 0)(p+0 1) ⋄ :EndWhile",
    "w←x⍴'ab' 'c' (1 2) ⋄ :For i :In ⍳x ⋄ w[i]←⊂'abc' ⋄ :EndFor ⋄ z←≢w",
    "w←x⍴'ab' 'cd' ⋄ :For i :In ⍳x ⋄ w[i],←⊂'abc' ⋄ (i⊃w),←'x' ⋄ :EndFor ⋄ z←≢w",
    "w←9⍴⊂⍬ ⋄ :For i :In ⍳x ⋄ ((1+9|i)⊃w),←i ⋄ :EndFor ⋄ z←≢w",
    "k←⍬ ⋄ :For p :In {⍵(3×⍵)}¨⍳x ⋄ :If ~(⊂p)∊k ⋄ k,←⊂p ⋄ :EndIf ⋄ :EndFor ⋄ z←≢k",
    "z←≢{0=≢⍵:⍬ ⋄ (⊂⌽⊃⍵),∇1↓⍵}{⍵ ⍵}¨⍳x",
    "z←≢{0=≢⍵:⍬ ⋄ (∇1↓⍵),⊂⌽⊃⍵}{⍵ ⍵}¨⍳x",
    "z←≢⍬{0=⍵:⍺ ⋄ (⍺,⊂⍵ ⍵)∇⍵-1}x",
    "z←≢⍬{0=⍵:⍺ ⋄ r←⍺ ⋄ r,←⊂⍵ ⍵ ⋄ r∇⍵-1}x",
    "z←≢⍬{0=⍵:⍺ ⋄ r←⍺ ⋄ r←(⊂⍵ ⍵),r ⋄ r∇⍵-1}x",
    "z←≢{⍵,⊂3 4}⍣x⊢⍬",
    "z←≢{r←⍵ ⋄ r,←⊂3 4 ⋄ r}⍣x⊢⍬",
    "z←≢⊃{⍵,⊂⍺ ⍺}/(⍳x),⊂⍬",
    "z←≢⊃{(⊂⍺ ⍺),⍵}/(⍳x),⊂⍬",
    "k←⍬ ⋄ z←≢{k⊢←(⊂⍵ ⍵),k ⋄ 0}¨⍳x",
    "k←{⍵ ⍵}¨⍳x ⋄ z←≢{k⊢←(1↓k),⊂⍵ ⍵ ⋄ 0}¨⍳x",
    "z←≢{k←⍬ ⋄ _←{k⊢←k,⊂⍵ ⍵ ⋄ k⊢←(⊂⍵ ⍵),k ⋄ 0}¨⍳⍵ ⋄ k}x",
    "k←⊂⍤1⊢4 2⍴⍳8 ⋄ :For i :In ⍳x ⋄ k,←⊂i,i×2 ⋄ z←⎕DL 0 ⋄ :EndFor ⋄ z←≢k",
    "k←0J1 ⋄ :For i :In ⍳x ⋄ k←k,i×0J1 ⋄ k,←i ⋄ :EndFor ⋄ z←≢k",
    "w←x⍴⊂0 0 ⋄ :For i :In ⍳x ⋄ (i⊃w)[1]←i ⋄ :EndFor ⋄ z←+/⊃¨w",
    "w←x⍴⊂0 0 ⋄ :For i :In ⍳x ⋄ (i⊃w)[2]+←i ⋄ (⌽i⊃w)←7 i ⋄ :EndFor ⋄ z←≢w",
    "w←x⍴⊂(1 2)'ab' ⋄ :For i :In ⍳x ⋄ (2⊃i⊃w)←⊂i ⋄ :EndFor ⋄ z←≢w",
    "t←(6×x)⍴'words ' ⋄ z←0 ⋄ :While 0<≢t ⋄ t←(t⍳' ')↓t ⋄ z+←1 ⋄ :EndWhile",
];

/// Loops whose turns are statements of the line, each of which could be undone.
const LINES: [&str; 14] = [
    "k←⍬ ⋄ :For i :In ⍳x ⋄ k,←⊂i,i×2 ⋄ :EndFor",
    "k←⍬ ⋄ :For i :In ⍳x ⋄ k,←⊂i,i×2 ⋄ z←⎕DL 0 ⋄ :EndFor",
    "k←⍬ ⋄ :For i :In ⍳x ⋄ k←(⊂i,i×2),k ⋄ z←⎕DL 0 ⋄ :EndFor",
    "k←⍬ ⋄ :For i :In ⍳x ⋄ k,←⊂i,i×2 ⋄ z←⎕DL 0 ⋄ :If 9<≢k ⋄ k←1↓k ⋄ :EndIf ⋄ :EndFor",
    "k←⍳x ⋄ k←k,¨k ⋄ :For i :In ⍳x ⋄ k←(1↓k),⊂i,i×2 ⋄ z←⎕DL 0 ⋄ :EndFor",
    "k←x⍴⊂1 2 ⋄ :For i :In ⍳x ⋄ k[i]←⊂3 4 ⋄ z←⎕DL 0 ⋄ :EndFor",
    "k←x⍴0.5 ⋄ :For i :In ⍳x ⋄ k[i]←i ⋄ z←⎕DL 0 ⋄ :EndFor",
    "k←⍬ ⋄ :For i :In ⍳x ⋄ k⍪←i ⋄ z←⎕DL 0 ⋄ :EndFor",
    "k←0J1 ⋄ :For i :In ⍳x ⋄ k,←i×0J1 ⋄ z←⎕DL 0 ⋄ :EndFor",
    "k←1 3⍴0 ⋄ :For i :In ⍳x ⋄ k⍪←i,2 3 ⋄ z←⎕DL 0 ⋄ :EndFor",
    "k←0 2⍴0 ⋄ :For i :In ⍳x ⋄ k⍪←i(⍕i) ⋄ z←⎕DL 0 ⋄ :EndFor",
    "w←x⍴⊂⍬ ⋄ :For i :In ⍳x ⋄ (i⊃w),←i ⋄ z←⎕DL 0 ⋄ :EndFor",
    "w←⍬ ⋄ :For i :In ⍳x ⋄ w,←⊂i i ⋄ w[≢w],←i ⋄ z←⎕DL 0 ⋄ :EndFor",
    "w←x 5⍴0 ⋄ :For i :In ⍳x ⋄ (i⌷w)←⍳5 ⋄ (,w)[i]←i ⋄ z←⎕DL 0 ⋄ :EndFor",
];

/// Bytes that are taken grow as the items do: a list that is copied each turn would take ten times
/// as many for each.
#[test]
fn memory_that_loops_take_grows_as_their_turns_do() {
    // Three thousand calls stand in each other.
    let large = std::thread::Builder::new().stack_size(256 << 20).spawn(grows_as_turns_do);
    large.expect("a thread").join().expect("linear memory");
}

fn grows_as_turns_do() {
    const MOST: f64 = 16.0;
    let (looking, mut wrong) = (Looking::begin(), Vec::new());
    // What a session has to read and make once is there before the bytes are counted.
    let mut grows =
        |body: &str, sizes: [usize; 2], once: &[String], turns: &dyn Fn(usize) -> String| {
            let taken = sizes.map(|n| {
                let mut s = session();
                once.iter().for_each(|line| drop(heard(&mut s, line).expect(body)));
                let before = looking.allocated();
                heard(&mut s, &turns(n)).expect(body);
                looking.allocated() - before
            });
            let ratio = taken[1] as f64 / taken[0] as f64;
            if ratio > MOST {
                wrong.push(format!("{ratio:.0} times {} bytes: {body}", taken[0]));
            }
        };
    for line in LINES {
        let turns = |n: usize| format!("x←{n} ⋄ {line}");
        // Turns that run together are launches, which are made for either size.
        grows(line, [1_500, 15_000], &[turns(300)], &turns);
    }
    for body in LINEAR {
        let code = format!("k←⎕FX 'z←f x;k;q;p;w;t;i' '{}'", body.replace('\'', "''"));
        let turns = |n: usize| format!("z←f {n}");
        grows(body, [300, 3_000], &[code, turns(300)], &turns);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! The panes over a real session, without a terminal: what each screen shows, what a selection
//! lights, random keys. `UPDATE=1` writes the goldens and the picture of the README again.

use crate::support;
use aplomb::commands::Table;
use aplomb_ground::limits::{Interrupt, Limits};
use aplomb_ground::protocol::{Client, Event, Gone, Request};
use aplomb_kernel::session::Worker;
use aplomb_language::table;
use aplomb_viz::panes::{App, Look, Start};
use std::rc::Rc;

/// A session whose traces have no times, so that pictures do not either.
struct Timeless(Worker);

fn timeless(event: Event) -> Event {
    match event {
        Event::Trace(trace) => Event::Trace(Box::new(trace.canonical())),
        other => other,
    }
}

impl Client for Timeless {
    fn send(&mut self, request: Request) {
        self.0.send(request);
    }

    fn recv(&mut self) -> Option<Event> {
        self.0.recv().map(timeless)
    }

    fn poll(&mut self) -> Result<Option<Event>, Gone> {
        self.0.poll().map(|event| event.map(timeless))
    }

    fn answer(&mut self, line: Option<String>) {
        self.0.answer(line);
    }
}

fn session() -> (Timeless, Interrupt) {
    let worker = Worker::start(|| Rc::new(Table::default()), Limits::default(), 1, |_| ()).unwrap();
    let interrupt = worker.interrupt();
    (Timeless(worker), interrupt)
}

fn open(text: &str, look: Look) -> App<Timeless> {
    let (client, interrupt) = session();
    let mut app = App::new(
        client,
        interrupt,
        aplomb::panes::menu(),
        Start {
            text: text.into(),
            name: "program".into(),
            look,
            effects: true,
            ..Start::default()
        },
    );
    app.settle();
    app
}

const PLAIN: Look = Look { ascii: false, colour: false };
const EXAMPLE: &str = include_str!("../../src/panes/example.apl");
const SIZES: [(u16, u16); 3] = [(160, 50), (80, 24), (40, 12)];
/// Name, program, keys.
const SCREENS: &[(&str, &str, &str)] = &[
    ("main", EXAMPLE, ""),
    ("selected", EXAMPLE, "kkk"),
    ("passes", EXAMPLE, "2kkkk"),
    ("switches", EXAMPLE, "tjj<Enter>"),
    ("help", EXAMPLE, "?"),
    ("wrong", "x←⍳2000\n+/x÷x-7\n", ""),
    ("broken", "x←(⍳5\n+/x", "1"),
    ("nothing", "", ""),
];

/// A program that only prints is told: the statement whose launches have most to do comes first.
#[test]
fn a_program_that_prints_is_told_by_its_largest_statement() {
    let mut app = open("x←÷⍳100000\n⎕←'sum ',⍕+/x×x\ny←2×⍳9\n⎕←⍕+/y\n", PLAIN);
    let shown = app.text(160, 50);
    assert!(!shown.contains("nothing was compiled"), "{shown}");
    let launch = shown.lines().find(|l| l.contains(" k0 ")).expect("a launch");
    assert!(launch.contains("+/x×x"), "{shown}");
}

/// A script's first line stands as it was written, and is no statement.
#[test]
fn the_systems_line_of_a_script_is_shown_as_it_is() {
    let head = "#!/usr/bin/env aplomb";
    let text = format!("{head}\n{EXAMPLE}");
    let (mut script, mut plain) = (open(&text, PLAIN), open(EXAMPLE, PLAIN));
    let shown = script.text(160, 50);
    assert!(shown.contains(head) && !shown.contains("⍝!"), "{shown}");
    let launches = |screen: &str| screen.lines().filter(|l| l.contains(" k0 ")).count();
    assert_eq!(launches(&shown), launches(&plain.text(160, 50)), "{shown}");
    assert!(!shown.contains("ERROR"), "{shown}");
}

#[test]
fn every_screen_is_as_it_was() {
    for (name, program, keys) in SCREENS {
        for (width, height) in SIZES {
            // The size decides what Tab means, so it is known before the keys.
            let mut app = open(program, PLAIN);
            app.text(width, height);
            app.press(keys);
            app.settle();
            support::same_as(
                &format!("tests/goldens/panes/{name}-{width}x{height}.txt"),
                &app.text(width, height),
            );
        }
    }
}

#[test]
fn ascii_is_ascii_but_for_what_the_program_says() {
    let mut app = open("+/÷⍳2000", Look { ascii: true, colour: false });
    for keys in ["", "k", "2", "t", "?"] {
        app.press(keys);
        let text = app.text(160, 50);
        let other: String = text.chars().filter(|c| !c.is_ascii()).collect();
        assert!(other.chars().all(|c| "÷⍳·×→…∞ ¯µ≤⌈⌊⍺⍵‾⋄⌽⍴".contains(c)), "{other}\n{text}");
    }
}

#[test]
fn files_are_written_by_a_run_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.txt");
    let reads = |app: &mut App<Timeless>| app.text(160, 50).contains("written");
    let program =
        format!("f←'{}'\n(⊂'written') ⎕NPUT f 1\n⊃⎕NGET f\n⎕NDELETE f,'x'\n", file.display());
    std::fs::write(folder.path().join("out.txtx"), "").unwrap();
    let mut app = open(&program, PLAIN);
    assert!(reads(&mut app) && file.exists() && !folder.path().join("out.txtx").exists());
    std::fs::remove_file(&file).unwrap();
    std::fs::write(folder.path().join("out.txtx"), "").unwrap();
    // A switch: the program reads what it would have written.
    app.press("tjj<Enter>");
    app.settle();
    assert!(!file.exists() && folder.path().join("out.txtx").exists());
    let text = app.text(160, 50);
    assert!(text.contains("left out: write ") && text.contains("delete "), "{text}");
    app.press("1z");
    assert!(reads(&mut app), "{}", app.text(160, 50));
    app.press("z");
    // While it is written nothing is; where writing ends it is.
    app.press("1Gi1");
    app.settle();
    assert!(!file.exists());
    app.press("<Esc>");
    app.settle();
    assert!(file.exists());
    std::fs::remove_file(&file).unwrap();
    std::fs::write(folder.path().join("out.txtx"), "").unwrap();
    app.press("3jjj<Enter>");
    app.settle();
    assert!(!file.exists());
    app.press("r");
    app.settle();
    assert!(file.exists());
}

/// The lines of a screen that carry the mark of what is lit.
fn lit(text: &str) -> Vec<&str> {
    text.lines().filter(|l| ["▸", "▐", "‾"].iter().any(|m| l.contains(m))).collect()
}

#[test]
fn a_selection_lights_every_pane_wherever_it_was_made() {
    let program = "x←⍳2000\ny←÷x\n+/y×x+1";
    // The graph's root; the source's second line; a line of CUDA; a launch.
    for keys in
        ["k", "1jww", "1<Tab><Tab><Tab><Tab>jjjjjjjjjjjjjjjj", "1<Tab><Tab><Tab><Tab><Tab><Esc>j"]
    {
        let mut app = open(program, PLAIN);
        app.text(160, 50);
        app.press(keys);
        let text = app.text(160, 50);
        assert!(text.contains('▐') && text.contains('▌'), "{keys}: no node\n{text}");
        assert!(text.contains('‾'), "{keys}: no span\n{text}");
        let marks = lit(&text).iter().map(|l| l.matches('▸').count()).sum::<usize>();
        assert!(marks >= 3, "{keys}: source, CUDA and launch\n{text}");
        assert!(!text.contains("the whole line"), "{keys}: no reasons\n{text}");
    }
}

#[test]
fn what_is_written_runs_and_errors_stand_at_their_place() {
    let mut app = open("x←⍳2000\n+/x", PLAIN);
    app.text(160, 50);
    app.press("1Gi÷x-7<Esc>");
    app.settle();
    let text = app.text(160, 50);
    assert!(text.contains("DOMAIN ERROR"), "{text}");
    let place = text.lines().position(|l| l.contains("+/x÷x-7")).unwrap();
    assert!(
        text.lines().nth(place + 1).unwrap().contains("^^^^^ DOMAIN ERROR")
            || text.contains("^ DOMAIN ERROR"),
        "{text}"
    );
    app.press("i<Backspace>8<Backspace><Backspace><Backspace><Backspace>`-7<Esc>");
    app.settle();
    let text = app.text(160, 50);
    assert!(!text.contains("ERROR") && text.contains("+/x×7"), "{text}");
    assert!(text.contains("14007000"), "{text}");
    app.press("i÷<Esc>");
    app.settle();
    let text = app.text(160, 50);
    assert!(
        text.contains("text before") && text.contains("ERROR") && !text.contains('‾'),
        "{text}"
    );
}

/// As at the prompt (`tests/program/repl.rs`) and in a lab (`tests/notebook/lab/typed.py`).
#[test]
fn each_key_of_the_table_gives_its_glyph() {
    let mut app = open("", PLAIN);
    app.text(160, 400);
    app.press("1i");
    for (key, _) in table::keys() {
        let key = if key == '<' { "<lt>".into() } else { key.to_string() };
        app.press(&format!("'`{key}'<Enter>"));
    }
    let text = app.text(160, 400);
    for (key, glyph) in table::keys() {
        assert!(text.contains(&format!("'{glyph}'")), "`{key} gives no {glyph}\n{text}");
    }
}

#[test]
fn the_ledger_says_that_the_result_is_equal() {
    let mut app = open(EXAMPLE, PLAIN);
    app.text(160, 50);
    for keys in ["tjj<Enter>", "j<Enter>", "j<Enter>", "j<Enter>", "G<Enter>"] {
        app.press(keys);
        app.settle();
    }
    let text = app.text(160, 50);
    assert_eq!(text.matches("equal ✓").count(), 6, "{text}");
    assert!(text.contains("bar2010 without"), "{text}");
}

#[test]
fn nodes_keep_their_order_from_pass_to_pass() {
    let mut app = open(EXAMPLE, PLAIN);
    app.text(160, 50);
    app.press("zf");
    let columns = |text: &str| -> Vec<(String, usize, usize)> {
        let mut out = Vec::new();
        for (row, line) in text.lines().enumerate() {
            let chars: Vec<char> = line.chars().collect();
            for (x, pair) in chars.windows(2).enumerate() {
                if pair == ['[', 'n'] {
                    let id: String =
                        chars[x + 1..].iter().take_while(|c| c.is_alphanumeric()).collect();
                    out.push((id, row, x));
                }
            }
        }
        out
    };
    let (mut kept, mut all) = (0, 0);
    let mut before = columns(&app.text(400, 200));
    for _ in 0..20 {
        app.press("[");
        let now = columns(&app.text(400, 200));
        let at = |list: &[(String, usize, usize)], id: &str| {
            list.iter().find(|c| c.0 == id).map(|c| (c.1, c.2))
        };
        for (a, row, x) in &before {
            for (b, _, y) in before.iter().filter(|c| c.1 == *row && c.2 > *x) {
                if let (Some((r, p)), Some((s, q))) = (at(&now, a), at(&now, b))
                    && r == s
                {
                    all += 1;
                    kept += usize::from((p < q) == (x < y));
                }
            }
        }
        before = now;
    }
    assert!(all > 100 && kept * 100 >= all * 95, "{kept} of {all}");
}

#[test]
fn a_size_of_nothing_and_a_size_of_one_draw() {
    let mut app = open(EXAMPLE, PLAIN);
    for (width, height) in
        [(0, 0), (1, 1), (2, 1), (1, 5), (3, 3), (5, 2), (7, 7), (300, 1), (1, 300), (111, 27)]
    {
        for keys in ["", "k", "2", "t", "?", "q", "/x<Enter>", "1i<Esc>", "<Tab>"] {
            app.press(keys);
            app.text(width, height);
        }
    }
}

/// Marsaglia's xorshift.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

#[test]
fn random_keys_on_random_programs_do_no_harm() {
    const KEYS: &[&str] = &[
        "h",
        "j",
        "k",
        "l",
        "H",
        "J",
        "K",
        "L",
        "f",
        "z",
        "n",
        "N",
        "[",
        "]",
        "<lt>",
        ">",
        "t",
        "1",
        "2",
        "3",
        "r",
        "u",
        "g",
        "G",
        "0",
        "$",
        "w",
        "b",
        "<Tab>",
        "<BackTab>",
        "<Enter>",
        "<Esc>",
        "<Up>",
        "<Down>",
        "<Left>",
        "<Right>",
        "<Home>",
        "<End>",
        "<PageUp>",
        "<PageDown>",
        "<Backspace>",
        "<Delete>",
        "/",
        "?",
        " ",
        "i",
        "x",
        "`",
        "7",
        "÷",
        "é",
        "<C-c>",
        "<C-d>",
        "<C-u>",
    ];
    const PARTS: &[&str] = &[
        "x←⍳2000",
        "+/x",
        "⌽x÷3",
        "(⍳40)∘.×⍳50",
        "f←{⍵×⍵}",
        "f x",
        "]off fusion",
        "⍝ é",
        "÷0",
        "(",
        "'a",
        "⎕←x",
        "\n",
        " ⋄ ",
        "+\\x",
        "⍞",
        "?6",
    ];
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for turn in 0..support::scaled(60) {
        let program: Vec<&str> =
            (0..dice.below(8)).map(|_| PARTS[dice.below(PARTS.len())]).collect();
        let program = program.join(if dice.below(2) == 0 { "\n" } else { "" });
        let mut app = open(&program, Look { ascii: turn % 2 == 0, colour: turn % 3 == 0 });
        let mut pressed = String::new();
        for _ in 0..170 {
            let key = KEYS[dice.below(KEYS.len())];
            pressed += key;
            app.press(key);
            app.advance();
            if dice.below(4) == 0 {
                app.text(1 + dice.below(170) as u16, 1 + dice.below(55) as u16);
            }
        }
        app.settle();
        app.text(160, 50);
    }
}

#[test]
fn the_readme_shows_the_panes_as_they_are() {
    let mut app = open(EXAMPLE, Look { ascii: false, colour: true });
    app.text(160, 50);
    app.press("kkkkk");
    support::same_as("docs/panes.svg", &app.svg(160, 50));
}

/// Numbers of an attribute, `x="12.5"`.
fn number(tag: &str, name: &str) -> Option<f64> {
    tag.split_once(&format!(" {name}=\""))?.1.split('"').next()?.parse().ok()
}

#[test]
fn words_of_the_picture_stand_beside_each_other_and_inside_of_their_boxes() {
    let picture =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/panes.svg")).unwrap();
    let (width, height) = (number(&picture, "width").unwrap(), number(&picture, "height").unwrap());
    let words: Vec<(f64, f64, f64)> = picture
        .lines()
        .filter(|l| l.starts_with("<text "))
        .map(|l| {
            (number(l, "y").unwrap(), number(l, "x").unwrap(), number(l, "textLength").unwrap())
        })
        .collect();
    assert!(words.len() > 300, "{}", words.len());
    // Lines from top to bottom: a word that one crosses stands over the edge of a box.
    let mut down = Vec::new();
    for path in picture.lines().filter(|l| l.starts_with("<path ")) {
        for part in path.split('M').skip(1).filter(|p| p.contains('V')) {
            let numbers: Vec<f64> =
                part.split([' ', 'V', '"']).filter_map(|n| n.parse().ok()).collect();
            down.push((numbers[0], numbers[1].min(numbers[2]), numbers[1].max(numbers[2])));
        }
    }
    assert!(down.len() > 50);
    for (k, (y, x, length)) in words.iter().enumerate() {
        assert!(*x >= 0.0 && x + length <= width - 24.0 && *y <= height - 24.0, "{x} {y} {length}");
        let beside = |w: &(f64, f64, f64)| w.1 + w.2 <= x + 0.01 || w.1 >= x + length - 0.01;
        assert!(words[k + 1..].iter().filter(|w| w.0 == *y).all(beside), "two words at {x} {y}");
        let middle = y - 5.0;
        let crossed = down
            .iter()
            .find(|d| d.1 < middle && middle < d.2 && d.0 > x + 0.01 && d.0 < x + length - 0.01);
        assert!(crossed.is_none(), "a line at {crossed:?} goes through the word at {x} {y}");
    }
}

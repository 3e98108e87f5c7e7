//! The tables of docs/GOLDENS.md on memory: each row by a line that runs.

use crate::support::told;
use aplomb_ground::trace::{LaunchRecord, Trace};
use aplomb_plans::micro::conflicts;
use aplomb_plans::occupancy;

const PAGE: &str = include_str!("../../docs/GOLDENS.md");

/// The lines of the page that make the arrays of its examples.
pub fn arrays() -> &'static str {
    let line = PAGE.lines().find(|line| line.starts_with("    x←")).expect("the arrays");
    line.trim()
}

/// The rows of the table whose head begins so, cell by cell.
pub fn table(head: &str) -> Vec<Vec<String>> {
    let lines = PAGE.lines().skip_while(|line| !line.starts_with(head));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| -> Vec<String> {
        let marked = line.trim_matches('|').replace("\\|", "\u{1}");
        let text = |cell: &str| cell.trim().replace('`', "").replace('\u{1}', "|");
        marked.split('|').map(text).collect()
    };
    let all: Vec<Vec<String>> = rows.map(cells).collect();
    assert!(!all.is_empty(), "no table begins with {head}");
    all
}

/// A line of a table as it is typed.
pub fn line(text: &str) -> String {
    let tap = |k: usize| format!("({k}↓¯{}↓x)", 14 - k);
    match text {
        "TAPS" => (0..15).map(tap).collect::<Vec<_>>().join("+"),
        line => line.into(),
    }
}

fn traced(how: &[&str], text: &str) -> Trace {
    told(how, &[arrays(), "x y A B v G", &line(text)])
}

fn last(t: &Trace) -> &LaunchRecord {
    t.kernels.last().expect("a launch")
}

/// The name of a buffer's array; `·` for one that has none.
fn name(t: &Trace, buf: u32) -> String {
    let node = &t.nodes[t.buffers[buf as usize].node as usize];
    node.name.clone().unwrap_or("·".into())
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

/// BAS-07, BAS-08: ranks and factors of the page.
#[test]
fn bas_07_bas_08_reuse_is_that_of_the_page() {
    for row in table("| line | read | reuse |") {
        let [line, read, reuse] = &row[..] else { panic!("{row:?}") };
        let t = traced(&[], line);
        let place = |affine: &str| affine.split('→').nth(1).unwrap_or("").to_string();
        let found = last(&t).reads.iter().find(|r| {
            let at = place(&r.affine);
            *read == format!("{} {at}", name(&t, r.buf))
        });
        let found = found.unwrap_or_else(|| panic!("{line}: no {read} in {:?}", last(&t).reads));
        assert_eq!(found.reuse.as_ref(), Some(reuse), "{line}: {read}");
    }
}

/// BAS-13, BAS-14: Algorithm 1 of the page.
#[test]
fn bas_13_bas_14_orders_of_the_loops_are_those_of_the_page() {
    for row in table("| line | order |") {
        let [line, wanted] = &row[..] else { panic!("{row:?}") };
        let t = traced(&[], line);
        let list = |ids: &[u32]| ids.iter().map(|b| name(&t, *b)).collect::<Vec<_>>().join(" ");
        let orders = last(&t).candidates.iter().map(|o| {
            let (time, space) = (o.time.as_deref(), o.space.as_deref());
            let (time, space) = (time.unwrap_or("-"), space.unwrap_or("-"));
            let (global, staged) = (list(&o.global), list(&o.staged));
            format!("{time} {space} of {}; {global}; {staged}", o.among.join(" "))
        });
        let told = orders.collect::<Vec<_>>().join(" and ");
        assert_eq!(told.trim(), wanted.trim(), "{line}");
    }
}

/// BAS-19: the strides of the page, and its table of pads, with which Algorithm 2 begins.
#[test]
fn bas_19_bas_21_conflicts_are_those_of_the_page() {
    let says = "16 banks and strides of 1 to 16";
    let flat = PAGE.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, rest) = flat.split_once("strides of 1 to 16 that is ").expect(says);
    let told: Vec<u64> = rest.split(',').next().expect(says).split(' ').map(number).collect();
    assert_eq!(told, (1..=16).map(|s| conflicts(s, 16) as u64).collect::<Vec<_>>());
    for row in table("| strides (in rows of) |") {
        let [strides, of_16, of_32, pad] = &row[..] else { panic!("{row:?}") };
        let (strides, pitch) = strides.trim_end_matches(')').split_once(" (").expect("a pitch");
        let (strides, pitch): (Vec<u64>, u64) =
            (strides.split(" and ").map(number).collect(), number(pitch));
        for (banks, told) in [(16, of_16), (32, of_32)] {
            let sum = |pad: u64| -> u64 {
                let own = |s: &u64| conflicts((s + s / pitch * pad) as usize, banks) as u64;
                strides.iter().map(own).sum()
            };
            let told: Vec<u64> = told.split(' ').map(number).collect();
            let all: Vec<u64> = (0..banks as u64).map(sum).collect();
            assert_eq!(told, all[..told.len()], "{row:?}");
            let least = all.iter().min().expect("a sum");
            let first = all.iter().position(|n| n == least).expect("its place");
            assert_eq!(first as u64, number(pad), "{row:?}");
        }
    }
}

/// BAS-01: the calculator's table of the page.
#[test]
fn bas_01_resident_blocks_are_those_of_the_page() {
    let head = "| threads | registers | bytes |";
    let archs: Vec<&str> =
        PAGE.lines().find(|l| l.starts_with(head)).expect("a head").split('|').skip(4).collect();
    for row in table(head) {
        let numbers: Vec<u32> = row.iter().map(|n| number(n) as u32).collect();
        for (arch, wanted) in archs.iter().zip(&numbers[3..]) {
            let of = occupancy::find(arch.trim()).expect("an architecture");
            let told = of.resident(numbers[0], numbers[1], numbers[2]);
            assert_eq!(told, *wanted, "{arch}: {row:?}");
        }
    }
}

/// BAR-14: the page's blocks by lines, as the sentence of the rule tells them, and whole arrays as
/// its two prices.
#[test]
fn bar_14_loads_are_those_of_the_page() {
    let placed = |t: &Trace| {
        let of = t.decisions.iter().find(|d| d.what == "place" && d.seed == "BAR-14");
        of.cloned().expect("a decision")
    };
    for row in table("| line | block | direct |") {
        let [line, block, direct, rule, halo] = &row[..] else { panic!("{row:?}") };
        // By the paper's pipeline, whose blocks have 256 points; one of two axes is searched for by
        // both, and of four neighbours ours makes no copy.
        let how: &[&str] = if block.contains('×') { &[] } else { &["passes=bar2010"] };
        let says = placed(&traced(how, line)).text;
        let wanted = format!(
            "a block of {block} loads {direct} of it, {rule} through shared memory by the rule of \
             2010, {halo} with a halo"
        );
        assert!(says.contains(&wanted), "{line}: {says}");
    }
    for row in table("| n | direct | shared |") {
        let [n, direct, shared] = &row[..] else { panic!("{row:?}") };
        let setup = format!("b←0.5×⍳{n}");
        let d = placed(&told(&["passes=bar2010"], &[&setup, "b", "(1↓b)-¯1↓b"]));
        assert_eq!((d.chosen.as_str(), d.alt[0].name.as_str()), ("shared", "global"), "{n}");
        let items = (d.alt[0].cost.bytes / 8, d.cost.bytes / 8);
        assert_eq!(items, (number(direct), number(shared)), "{n}: {}", d.text);
    }
}

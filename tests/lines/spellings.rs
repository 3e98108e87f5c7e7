//! `benches/spellings/pairs.txt`: two spellings of one meaning have one value, at sizes around each
//! threshold, and the natural one calls no function cell by cell but where the page says so.

use crate::support::{Heard, session};
use aplomb_ground::protocol::{Event, Request};
use aplomb_kernel::session::Session;

const PAGE: &str = include_str!("../../benches/spellings/pairs.txt");
/// Around the least number of cells that are recorded, of elements, of a scan's block.
const SIZES: [usize; 9] = [15, 16, 17, 999, 1_000, 1_023, 1_025, 4_095, 4_097];
/// The page may grow, not shrink.
const LEAST: usize = 60;

struct Pair {
    line: usize,
    /// Lines that make what it alone reads.
    data: Vec<&'static str>,
    natural: &'static str,
    best: &'static str,
    /// The mark of what is not yet so.
    mark: Option<&'static str>,
}

/// The lines that make the data, and the pairs.
fn page() -> (Vec<&'static str>, Vec<Pair>) {
    let (mut setup, mut pairs): (Vec<&str>, Vec<Pair>) = (Vec::new(), Vec::new());
    let blocks = PAGE
        .split("\n\n")
        .map(|block| block.lines().filter_map(|l| l.strip_prefix("      ")).collect::<Vec<&str>>());
    for block in blocks.filter(|block| !block.is_empty()) {
        match block.as_slice() {
            lines if setup.is_empty() => setup = lines.to_vec(),
            [data @ .., first, best] => {
                let (natural, mark) =
                    first.split_once(" ⍝ ").map_or((*first, None), |(a, b)| (a, Some(b)));
                let line = 1 + PAGE.lines().position(|l| l.ends_with(first)).expect("a line");
                pairs.push(Pair { line, data: data.to_vec(), natural, best, mark });
            }
            other => panic!("{other:?} is no pair"),
        }
    }
    (setup, pairs)
}

fn run(s: &mut Session, code: &str) -> Result<String, String> {
    let mut heard = Heard::default();
    s.handle(
        Request::Execute { code: code.into(), name: "pair".into(), silent: false },
        &mut heard,
    );
    let mut shown = String::new();
    for event in heard.0 {
        match event {
            Event::Error(f) => return Err(format!("{}: {}", f.name, f.says)),
            Event::Stream(text) => shown += &text,
            Event::Result(b) | Event::Display(b) => shown += &b["text/plain"],
            _ => {}
        }
    }
    Ok(shown)
}

#[test]
fn both_spellings_have_one_value_at_every_size() {
    let (setup, pairs) = page();
    assert!(pairs.len() >= LEAST, "{} pairs", pairs.len());
    let mut wrong = Vec::new();
    for n in SIZES {
        let mut s = session();
        run(&mut s, &format!("n←{n}")).expect("a size");
        setup.iter().for_each(|line| drop(run(&mut s, line).expect(line)));
        for Pair { line, data, natural, best, .. } in &pairs {
            data.iter().for_each(|line| drop(run(&mut s, line).expect(line)));
            match run(&mut s, &format!("({natural})≡({best})")) {
                Ok(shown) if shown.trim() == "1" => {}
                other => wrong.push(format!("n={n}, line {line}: {natural}: {other:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_runs_cell_by_cell_is_what_the_page_marks() {
    let (setup, pairs) = page();
    let mut s = session();
    run(&mut s, "n←4097").expect("a size");
    setup.iter().for_each(|line| drop(run(&mut s, line).expect(line)));
    s.core().set_followed(true);
    let mut found = Vec::new();
    for pair in &pairs {
        pair.data.iter().for_each(|line| drop(run(&mut s, line).expect(line)));
        s.core().take_stories();
        run(&mut s, &format!("z←{}", pair.natural)).expect(pair.natural);
        let stories = s.core().take_stories();
        let interpreted =
            stories.iter().flat_map(|t| &t.diagnostics).any(|d| d.code == "W-untraced");
        if interpreted != (pair.mark == Some("interpreted")) {
            found.push(format!("line {}: {} {interpreted}", pair.line, pair.natural));
        }
    }
    assert!(found.is_empty(), "{} are not as marked\n{}", found.len(), found.join("\n"));
}

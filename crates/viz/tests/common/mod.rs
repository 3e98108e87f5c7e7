//! Traces made by hand, and a reader of pictures.

use aplomb_ground::trace::{NodeRecord, PassRecord, Segment, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// A trace of one pass: for each node its operands; nodes that nothing reads are roots.
pub fn trace(operands: &[Vec<u32>]) -> Trace {
    let mut trace = Trace::default();
    let used: BTreeSet<u32> = operands.iter().flatten().copied().collect();
    for (k, inputs) in operands.iter().enumerate() {
        let kind = if inputs.is_empty() { "input" } else { "map" };
        let op = ["", "⍟", "÷"].get(inputs.len()).copied().unwrap_or("+").to_string();
        let node = NodeRecord {
            id: k as u32,
            kind: kind.into(),
            op,
            inputs: inputs.clone(),
            ..Default::default()
        };
        trace.nodes.push(node);
    }
    let n = operands.len() as u32;
    let roots = (0..n).filter(|k| !used.contains(k)).collect();
    trace.passes.push(PassRecord { name: "record".into(), roots, ..Default::default() });
    trace.segments.push(Segment { nodes: [0, n], passes: [0, 1], ..Default::default() });
    trace
}

const UP: u8 = 1;
const DOWN: u8 = 2;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;

fn step(row: usize, x: usize, arm: u8) -> Option<(usize, usize)> {
    match arm {
        UP => Some((row.checked_sub(1)?, x)),
        DOWN => Some((row + 1, x)),
        LEFT => Some((row, x.checked_sub(1)?)),
        _ => Some((row, x + 1)),
    }
}

fn opposite(arm: u8) -> u8 {
    match arm {
        UP => DOWN,
        DOWN => UP,
        LEFT => RIGHT,
        _ => LEFT,
    }
}

/// For each node the operands that a reader of the characters finds, left to right.
pub fn read_back(picture: &str) -> BTreeMap<u32, Vec<u32>> {
    let rows: Vec<Vec<char>> =
        picture.lines().take_while(|l| !l.is_empty()).map(|l| l.chars().collect()).collect();
    let at = |row: usize, x: usize| rows.get(row).and_then(|r| r.get(x)).copied().unwrap_or(' ');
    // Boxes: (row, first, last, id).
    let mut boxes: Vec<(usize, usize, usize, u32)> = Vec::new();
    for (r, row) in rows.iter().enumerate() {
        let mut x = 0;
        while x < row.len() {
            if matches!(row[x], '[' | '(') {
                let close = if row[x] == '[' { ']' } else { ')' };
                let mut end = x;
                while row[end] != close {
                    end += 1;
                }
                while row.get(end + 1) == Some(&close) {
                    end += 1;
                }
                let text: String = row[x..=end].iter().collect();
                let digits: String = text
                    .chars()
                    .skip_while(|c| !c.is_ascii_digit())
                    .take_while(char::is_ascii_digit)
                    .collect();
                boxes.push((r, x, end, digits.parse().expect(&text)));
                x = end;
            }
            x += 1;
        }
    }
    let box_at = |row: usize, x: usize| boxes.iter().find(|b| b.0 == row && b.1 <= x && x <= b.2);
    let mut found: BTreeMap<u32, Vec<(usize, u32)>> =
        boxes.iter().map(|b| (b.3, Vec::new())).collect();
    for &(row, first, last, id) in &boxes {
        let mut seen = BTreeSet::new();
        let mut stack: Vec<(usize, usize, u8)> = (first..=last)
            .filter(|x| {
                let below = at(row + 1, *x);
                below == '┼' || aplomb_viz::text::arms(below).is_some_and(|a| a & UP != 0)
            })
            .map(|x| (row + 1, x, DOWN))
            .collect();
        while let Some((r, x, heading)) = stack.pop() {
            if !seen.insert((r, x, heading)) {
                continue;
            }
            let c = at(r, x);
            let outs: Vec<u8> = match aplomb_viz::text::arms(c) {
                _ if c == '┼' => vec![heading],
                Some(arms) => {
                    assert!(arms & opposite(heading) != 0, "a wire stops at {r} {x} in\n{picture}");
                    [UP, DOWN, LEFT, RIGHT]
                        .into_iter()
                        .filter(|a| arms & a != 0 && *a != opposite(heading))
                        .collect()
                }
                None => panic!("a wire leads nowhere at {r} {x} in\n{picture}"),
            };
            for arm in outs {
                let Some((r, x)) = step(r, x, arm) else { continue };
                match box_at(r, x) {
                    Some(b) if arm == DOWN => found.get_mut(&b.3).expect("a box").push((x, id)),
                    Some(_) => {}
                    None => stack.push((r, x, arm)),
                }
            }
        }
    }
    found
        .into_iter()
        .map(|(id, mut edges)| {
            edges.sort();
            edges.dedup();
            (id, edges.into_iter().map(|e| e.1).collect())
        })
        .collect()
}

//! The oracle of texts: what the stand-in for CUDA counted of a launch's accesses, lane by lane,
//! held against what the trace tells of its reads and writes.
//!
//! Held: the bytes that a launch reads and writes (`est`), by the different elements that it meets;
//! what points ask for, where no copy and no register serves a read; what boxes copy; whether warps
//! read side by side (`coalesced`: at most twice the sectors that would do); and the turns of
//! threads that meet in a bank of a block's copy.

use crate::devices::prepared;
use crate::standin;
use aplomb_devices::device::Wanted;
use aplomb_ground::trace::{BlockRecord, LaunchRecord, ReadRecord, Trace};
use std::collections::BTreeMap;

/// The counts of an array as one kernel reads or writes it, by the word before each number.
type Counted = BTreeMap<String, u64>;

/// By kernel, array and manner: `k0 a0 read`.
type AllCounted = BTreeMap<String, Counted>;

fn counted(said: &str) -> AllCounted {
    let mut out = BTreeMap::new();
    let mut kernel = String::new();
    for line in said.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["launch", name] => kernel = (*name).into(),
            [_, array, how, rest @ ..] => {
                let numbers = rest.chunks(2).map(|c| (c[0].into(), c[1].parse().expect("number")));
                // A second run of the same is not counted again.
                out.entry(format!("{kernel} {array} {how}")).or_insert(numbers.collect());
            }
            _ => panic!("{line}"),
        }
    }
    out
}

/// Bytes of an item in memory.
fn size_of(dtype: &str) -> u64 {
    match dtype.trim_end_matches('?') {
        "f64" => 8,
        "f32" | "i32" => 4,
        "i16" => 2,
        _ => 1,
    }
}

/// Figures that were compared, and those that differ.
#[derive(Default)]
struct Held {
    compared: usize,
    wrong: Vec<String>,
}

impl Held {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: String, told: T, text: T) {
        self.compared += 1;
        if told != text {
            self.wrong.push(format!("{what}: told {told:?}, the text {text:?}"));
        }
    }

    /// The copies of a product's tiles: block by block, and by the row of the size that was chosen;
    /// no two threads that write a copy at once meet in a bank.
    fn tiles(&mut self, line: &str, k: &LaunchRecord, copied: u64, all: &AllCounted) {
        if k.form != "tiles" {
            return;
        }
        let says = |what: &str| format!("{line}, k{}, {what}", k.id);
        let Some(block) = &k.block else {
            self.wrong.push(says("no block"));
            return;
        };
        let sizes = k.tuning.iter().find(|row| row.chosen);
        self.same(says("loads of the size"), sizes.map(|row| row.loads), Some(copied));
        if k.domain.iter().zip(&block.points).all(|(n, own)| n % own == 0) {
            self.same(says("copies of all blocks"), block.loads * block.boxes, copied);
        }
        let own = format!("k{} ", k.id);
        let copies = all.iter().filter(|(of, met)| {
            of.starts_with(&own) && of.ends_with("written") && met.contains_key("turns")
        });
        let turns = copies.map(|(_, met)| met["turns"]).max();
        self.same(says("turns of a copy"), Some(1), turns);
    }

    fn launch(&mut self, line: &str, trace: &Trace, k: &LaunchRecord, all: &AllCounted) {
        let name = format!("k{}", k.id);
        let own = |array: &str, how: &str| all.get(&format!("{name} {array} {how}"));
        let mut arrays: Vec<(u32, Vec<&ReadRecord>)> = Vec::new();
        for read in &k.reads {
            match arrays.iter_mut().find(|a| a.0 == read.buf) {
                Some(known) => known.1.push(read),
                None => arrays.push((read.buf, vec![read])),
            }
        }
        let (mut distinct, mut copied_by_tiles) = (0, 0);
        for (at, (buf, reads)) in arrays.iter().enumerate() {
            let Some(met) = own(&format!("a{at}"), "read") else {
                self.wrong.push(format!("{line}, {name}: a{at} is not read"));
                continue;
            };
            let says = |what: &str| format!("{line}, {name} a{at}, {what}");
            distinct += met["distinct"];
            let size = size_of(&trace.buffers[*buf as usize].dtype);
            // A block copies its box of an array that no read goes to itself.
            let copied = reads.iter().all(|r| r.space == "shared");
            let whole =
                |b: &&BlockRecord| k.domain.iter().zip(&b.points).all(|(n, own)| n % own == 0);
            if let Some(block) = k.block.as_ref().filter(whole)
                && copied
                && k.skeleton == "map"
            {
                let told = block.loads * block.boxes * size;
                // What wraps into a box again is copied again.
                let wraps = reads.iter().any(|r| r.affine.contains("mod"));
                let text = if wraps { told.min(met["bytes"]) } else { met["bytes"] };
                self.same(says("copies"), told, text);
            }
            if k.form == "tiles" && copied {
                copied_by_tiles += met["bytes"] / size;
                // Threads copy an operand along its rows, whichever way the product goes.
                self.same(says("a copy goes along rows"), true, met["sectors"] <= 2 * met["least"]);
            }
            // Of what only values tell nothing is claimed.
            let [read] = reads[..] else { continue };
            if read.space == "global" && read.distinct > 0 {
                let coalesced = met["sectors"] <= 2 * met["least"];
                self.same(says("coalesced"), read.coalesced, coalesced);
            }
            let near = ["global", "constant"].contains(&read.space.as_str());
            if k.skeleton == "map" && near && read.distinct > 0 {
                self.same(says("requests"), read.requests * size, met["bytes"]);
            }
        }
        self.same(format!("{line}, {name}, bytes read"), k.est.r, distinct);
        self.tiles(line, k, copied_by_tiles, all);
        let written: u64 = all
            .iter()
            .filter(|(of, _)| of.starts_with(&format!("{name} r")) && of.ends_with("written"))
            .map(|(_, met)| met["distinct"])
            .sum();
        self.same(format!("{line}, {name}, bytes written"), k.est.w, written);
        let told = k.reads.iter().filter_map(|r| r.conflicts).max();
        if let Some(told) = told {
            let turns = all
                .iter()
                .filter(|(of, met)| {
                    of.starts_with(&format!("{name} "))
                        && of.ends_with("read")
                        && met.contains_key("turns")
                })
                .map(|(_, met)| met["turns"])
                .max();
            self.same(format!("{line}, {name}, turns"), Some(u64::from(told)), turns);
        }
    }
}

/// Lines over V (1 000 numbers), U (2 062), M (40 by 50), W (40 by 40), L (64 by 64), F (f32, as
/// L), and what has products in tiles: P (128 by 32), Q (32 by 192), O (130 by 40), R (40 by 200),
/// X (8 192).
const LINES: &[&str] = &[
    "1+V",
    "V×⌽V",
    "V+2×3⌽V",
    "V[1]+V",
    "1+⍉M",
    "(⍉M)×2",
    "0+⍉F",
    "M+M[3;2]",
    "M×[1]40↑V",
    "M×[2]50↑V",
    "5+/V",
    "15+/V",
    "15+/U",
    "⊃+/,¯1 0 1∘.{⍺⊖⍵⌽L}¯1 0 1",
    "(1⊖M)+(¯1⊖M)+(1⌽M)+(¯1⌽M)",
    "3↑V",
    "2 3⍴V",
    "V∘.×30↑V",
    "1+V[⌽⍳1000]",
    "V[1+2×⍳400]",
    "+/V",
    "+/M",
    "+⌿M",
    "⌈/M×M",
    "W+.×W",
    "(⍉W)+.×W",
    "P+.×Q",
    "(2×P)+.×1+Q",
    "(⍉Q)+.×⍉P",
    "O+.×R",
    "(P+.×Q)-P+.×⌽Q",
    "('f32'⎕AS P)+.×'f32'⎕AS Q",
    "+/|X∘.-9↑V",
    "+\\V",
];

#[test]
fn what_is_told_of_reads_and_writes_is_what_the_text_does() {
    let file = standin::folder();
    let path = file.path().join("addresses");
    let here = path.to_str().expect("a path");
    let name = "what_is_told_of_reads_and_writes_is_what_the_text_does";
    if !standin::is_child(name, &[("CUSIM_ADDRESSES", here)]) {
        return;
    }
    let path = std::env::var("CUSIM_ADDRESSES").expect("a file");
    let setup = "V←÷⍳1000 ⋄ M←40 50⍴V ⋄ W←40 40⍴V ⋄ L←64 64⍴V ⋄ F←'f32'⎕AS L ⋄ U←÷⍳2062 \
                 ⋄ P←128 32⍴V ⋄ Q←32 192⍴V ⋄ O←130 40⍴V ⋄ R←40 200⍴V ⋄ X←8192⍴V \
                 ⋄ _←⎕DR¨V M W F L U P Q O R X";
    let mut held = Held::default();
    for line in LINES {
        let mut gpu = prepared(Wanted::Cuda, &[setup]);
        // The texts are what is counted, and not what a library does for them.
        gpu.options().switch("cublas", false).expect("a switch");
        let before = std::fs::read_to_string(&path).map_or(0, |said| said.len());
        let trace = gpu.trace_of(Some(line)).expect("a trace");
        let said = std::fs::read_to_string(&path).expect("a count");
        let all = counted(&said[before..]);
        assert!(!all.is_empty() && !trace.kernels.is_empty(), "{line}");
        trace.kernels.iter().for_each(|k| held.launch(line, &trace, k, &all));
    }
    println!("{} compared", held.compared);
    assert!(
        held.wrong.is_empty(),
        "{} of {}:\n{}",
        held.wrong.len(),
        held.compared,
        held.wrong.join("\n")
    );
}

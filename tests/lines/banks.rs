//! Banks: where threads of a block meet in the shared memory of a text, counted by its text.
//!
//! Every access of a `__shared__` array whose place follows from the thread alone is computed for
//! all lanes of each warp, and the most different words in one of the banks is held against what
//! the trace tells of the reads that a copy serves: products and folds of all pairs. Boxes are
//! walked by `oracle.rs`. Words of 4 bytes in 32 banks, items of 8 bytes
//! by half warps.

use crate::prices::told;
use crate::support::session;
use aplomb_compiler::pass::{NoClock, Options, compile};
use aplomb_ground::trace::LaunchRecord;
use std::collections::{BTreeMap, BTreeSet};

/// The value of an expression of whole numbers, `+ - * / %` and names. None: a name is not known.
struct Reader<'a> {
    rest: &'a str,
    names: &'a BTreeMap<String, i64>,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn takes(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.rest = &self.rest[c.len_utf8()..];
        }
        found
    }

    fn sum(&mut self) -> Option<i64> {
        let mut out = self.product()?;
        loop {
            match self.peek() {
                Some('+') if self.takes('+') => out += self.product()?,
                Some('-') if self.takes('-') => out -= self.product()?,
                _ => return Some(out),
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut out = self.one()?;
        loop {
            match self.peek() {
                Some('*') if self.takes('*') => out *= self.one()?,
                Some('/') if self.takes('/') => out /= self.one()?,
                Some('%') if self.takes('%') => out %= self.one()?,
                _ => return Some(out),
            }
        }
    }

    fn one(&mut self) -> Option<i64> {
        if self.takes('(') {
            // A cast changes no place.
            if let Some(rest) =
                ["i32)", "u32)", "u64)", "i64)"].iter().find_map(|c| self.rest.strip_prefix(c))
            {
                self.rest = rest;
                return self.one();
            }
            let inside = self.sum()?;
            return self.takes(')').then_some(inside);
        }
        self.peek()?;
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = self.rest.find(|c: char| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.parse().ok().or_else(|| self.names.get(word).copied())
    }
}

/// The value of all of a text. None: it is another expression, or a name is not known.
fn value(text: &str, names: &BTreeMap<String, i64>) -> Option<i64> {
    let mut reader = Reader { rest: text, names };
    let out = reader.sum()?;
    reader.peek().is_none().then_some(out)
}

/// The text between brackets, from behind the opening one.
fn inside(text: &str) -> &str {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '[') - i32::from(c == ']');
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

/// A `__shared__` array: its name, the strides of its axes, the bytes of an item.
struct Shared {
    name: String,
    strides: Vec<i64>,
    size: usize,
}

fn arrays(text: &str) -> Vec<Shared> {
    let mut all = Vec::new();
    for line in text.lines() {
        let Some((_, rest)) = line.split_once("__shared__ ") else { continue };
        let (of, rest) = rest.split_once(' ').expect("a type");
        let size = match of {
            "double" | "u64" | "i64" => 8,
            "float" | "u32" | "i32" => 4,
            "u16" | "i16" => 2,
            _ => 1,
        };
        for one in rest.trim_end_matches(';').split(", ") {
            let mut parts = one.split('[');
            let name = parts.next().expect("a name").to_string();
            let extents = parts.map(|n| n.trim_end_matches(']').parse::<i64>().expect("a number"));
            let extents: Vec<i64> = extents.collect();
            let strides = (0..extents.len()).map(|k| extents[k + 1..].iter().product()).collect();
            all.push(Shared { name, strides, size });
        }
    }
    all
}

/// The most words of one bank that lanes at once want of an array, where it is read and where it is
/// written. None: it is not, or by other places than threads tell.
fn met(text: &str, threads: usize, of: &Shared) -> [Option<u32>; 2] {
    let (lanes, banks) = if of.size >= 8 { (16, 16) } else { (32, 32) };
    let mut most = [None, None];
    // Names that threads tell, as lines above give them.
    let mut lets: Vec<(String, String)> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some((left, right)) = line.trim_end_matches(';').split_once(" = ")
            && let Some(name) = left.strip_prefix("u32 ").or(left.strip_prefix("i32 "))
        {
            lets.retain(|(known, _)| known != name);
            lets.push((name.into(), right.into()));
        }
        if line.contains("__shared__") {
            continue;
        }
        for (at, _) in line.match_indices(&format!("{}[", of.name)) {
            let before = line[..at].chars().next_back();
            if before.is_some_and(|c| c.is_ascii_alphanumeric()) {
                continue;
            }
            let mut rest = &line[at + of.name.len()..];
            let mut places = Vec::new();
            while let Some(open) = rest.strip_prefix('[') {
                let own = inside(open);
                places.push(own);
                rest = &open[own.len() + 1..];
            }
            let writes = usize::from(at == 0 && rest.starts_with(" = "));
            let place = |thread: usize| -> Option<i64> {
                let mut names: BTreeMap<String, i64> =
                    ["d", "a", "b", "s", "k"].iter().map(|n| (n.to_string(), 0)).collect();
                names.insert("threadIdx.x".into(), thread as i64);
                for (name, is) in &lets {
                    if let Some(is) = value(is, &names) {
                        names.insert(name.clone(), is);
                    }
                }
                let along = places.iter().zip(&of.strides);
                along.map(|(text, stride)| Some(value(text, &names)? * stride)).sum()
            };
            for first in (0..threads).step_by(lanes) {
                let own: Option<BTreeSet<i64>> = (first..first + lanes).map(place).collect();
                let Some(own) = own else { continue };
                let mut words: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
                for at in own {
                    let word = if of.size >= 8 { at } else { at * of.size as i64 / 4 };
                    words.entry(word % banks).or_default().insert(word);
                }
                let here = words.values().map(BTreeSet::len).max().map(|n| n as u32);
                most[writes] = most[writes].max(here);
            }
        }
    }
    most
}

/// The conflicts that are told of the reads that copies serve, and those that the text has at each
/// array that it declares: where it is read, and where it is written.
fn compared(told: &LaunchRecord) -> Option<(Vec<u32>, Vec<[Option<u32>; 2]>)> {
    let mut says: Vec<u32> = told.reads.iter().filter_map(|r| r.conflicts).collect();
    says.sort();
    let text = &told.cuda.as_ref()?.text;
    let threads = told.launch.block.iter().product::<u32>() as usize;
    let counted = arrays(text).iter().map(|of| met(text, threads, of)).collect();
    (!says.is_empty()).then_some((says, counted))
}

#[test]
fn threads_meet_in_banks_as_often_as_the_text_says() {
    let setup = "M←0.5×512 512⍴⍳997 ⋄ N←0.25×512 600⍴⍳991 ⋄ x←0.5×⍳20000 ⋄ y←0.25×⍳20000 \
                 ⋄ F←'f32'⎕AS M ⋄ G←'f32'⎕AS N ⋄ i←20000⍴3 1 4 ⋄ _←⎕DR¨M N x y F G i";
    let lines = [
        "M+.×N",
        "(⍉M)+.×N",
        "M+.×⍉M",
        "M⌈.+N",
        "(M+.×M)(M+.×⍉M)",
        "F+.×G",
        "F⌈.+G",
        "(⍉F)+.×G",
        "+/x∘.×y",
        "+/0<x∘.-x",
        "⌈/i∘.-i",
        "(+/x∘.×y)(⌈/x∘.-y)",
    ];
    let (mut looked, mut wrong) = (0, Vec::new());
    for text in lines {
        let mut s = session();
        told(&mut s, setup);
        let recorded = s.graph_of(&format!("result←{text}"), &["result"]);
        let recorded = recorded.unwrap_or_else(|e| panic!("{text}: {e}"));
        let mut options = Options::default();
        options.trace = true;
        let plan = compile(&recorded, &options, &mut NoClock).expect("a plan");
        for k in &plan.trace.kernels {
            let Some((says, counted)) = compared(k) else { continue };
            looked += 1;
            let reads: BTreeSet<u32> = counted.iter().filter_map(|c| c[0]).collect();
            if reads != says.iter().copied().collect() || reads.is_empty() {
                wrong.push(format!("{text}, {}: told {says:?}, counted {counted:?}", k.name));
            }
            if counted.iter().any(|c| c[1].is_some_and(|n| n > 1)) {
                wrong.push(format!("{text}, {}: written {counted:?}", k.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(looked >= lines.len(), "{looked}");
    let names = [("threadIdx.x".to_string(), 37)].into();
    assert_eq!(value("(threadIdx.x % 16) * 65 + threadIdx.x / 16", &names), Some(5 * 65 + 2));
    // A text whose rows are not longer than a tile meets in one bank.
    let text = "__shared__ double l0[1024];\nl0[(threadIdx.x % 16) * 64 + threadIdx.x / 16] = v0;";
    assert_eq!(met(text, 256, &arrays(text)[0]), [None, Some(16)]);
}

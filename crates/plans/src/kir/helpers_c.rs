//! The functions that programs in C call: those of the CUDA texts, translated, and those that only
//! they have (`host.c`, `order.c`). A program holds those that it uses, and those that these call.

use super::check::words;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A function or type: its name and its text, with the remark above it.
struct Helper {
    name: String,
    text: String,
}

static HELPERS: LazyLock<Vec<Helper>> = LazyLock::new(|| {
    let own: Vec<Helper> =
        [include_str!("host.c"), include_str!("order.c")].into_iter().flat_map(pieces).collect();
    let of_cuda = [
        include_str!("prelude.cu"),
        include_str!("single.cu"),
        include_str!("gamma.cu"),
        include_str!("circle.cu"),
    ];
    // Those of a GPU's memory, its bits and its i32 have no place here, or one of their own.
    let others = ["fits", "clamp", "aligned"];
    let mut all: Vec<Helper> = Vec::new();
    let translated = of_cuda.into_iter().flat_map(|text| pieces(&translated(text)));
    for helper in own.into_iter().chain(translated) {
        let known = all.iter().any(|h| h.name == helper.name);
        if !known && !others.contains(&helper.name.as_str()) {
            all.push(helper);
        }
    }
    // `order.c` calls functions of the prelude.
    let (last, mut first): (Vec<Helper>, Vec<Helper>) =
        all.into_iter().partition(|h| h.name.starts_with("order_"));
    first.extend(last);
    first
});

/// CUDA's C++ as C: the words that differ.
const WORDS: &[(&str, &str)] = &[
    ("DEV ", "static inline "),
    ("__fma_rn(", "fma("),
    ("__fmaf_rn(", "fmaf("),
    (" inf() {", " inf(void) {"),
    ("struct Gamma { double high, low; };", "typedef struct { double high, low; } Gamma;"),
    ("struct Bad { u64* err; u64 site; u64 i; };", ""),
    ("return Gamma{", "return (Gamma){"),
    (
        "(whole_x || whole_y ? whole_x : x < y) && x > 0.0 || y == 0.0",
        "((whole_x || whole_y ? whole_x : x < y) && x > 0.0) || y == 0.0",
    ),
];

fn translated(text: &str) -> String {
    WORDS.iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to))
}

/// A text cut where functions and types begin; remarks belong to what follows.
fn pieces(text: &str) -> Vec<Helper> {
    let (mut out, mut own, mut name) = (Vec::new(), String::new(), None);
    for line in text.lines() {
        let begins = line.starts_with("static inline ") || line.starts_with("typedef struct ");
        let remark = line.starts_with("//");
        if (begins || remark) && name.is_some() {
            out.extend(name.take().map(|name| Helper { name, text: std::mem::take(&mut own) }));
        }
        if begins {
            name = Some(defined(line));
        }
        if begins || remark || name.is_some() {
            own += line;
            own.push('\n');
        }
    }
    out.extend(name.map(|name| Helper { name, text: own }));
    out
}

/// The name that a line defines: before a parenthesis, or at the end of a type.
fn defined(line: &str) -> String {
    let of = line.split('(').take(1).flat_map(|head| words(head.trim_end_matches(';')));
    of.last().into_iter().collect()
}

/// The helpers that a text calls, and those that these call, in an order that defines before use.
pub fn called_in(text: &str) -> String {
    let mut wanted: BTreeSet<&str> = words(text).collect();
    loop {
        let before = wanted.len();
        for helper in HELPERS.iter() {
            if wanted.contains(helper.name.as_str()) {
                wanted.extend(words(&helper.text));
            }
        }
        if wanted.len() == before {
            break;
        }
    }
    let called = HELPERS.iter().filter(|h| wanted.contains(h.name.as_str()));
    called.map(|h| h.text.as_str()).collect()
}

/// The names of all helpers.
pub fn names() -> Vec<String> {
    HELPERS.iter().map(|h| h.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gets_what_it_calls_and_no_more() {
        assert_eq!(called_in("v1 = v0 + 1.0;"), "");
        let text = called_in("v1 = power_of_e(v0);");
        for name in ["bits(u64", "word(double", "inf(void)", "two_to(", "power_of_e("] {
            assert!(text.contains(name), "{name}: {text}");
        }
        assert!(!text.contains("logarithm") && !text.contains("__"), "{text}");
        // Defined before it is used.
        assert!(text.find("two_to(double") < text.find("power_of_e(double"));
    }
}

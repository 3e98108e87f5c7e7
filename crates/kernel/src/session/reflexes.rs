//! Habits of other languages in a line that failed: what is written so there, and how it is here.
//!
//! An error that has no way out of its own gets one from the line where it came: from a sign that
//! means something elsewhere (`:=`, `x[0]`), or from a word that nobody has defined and that help
//! knows (`sum`). Text and comments of the line do not count.

use super::lines::glyphs;
use aplomb_ground::error::{Error, Kind};
use aplomb_ground::help::topics;
use aplomb_language::syntax::{self, lex};

/// A sign of another language: the test of a line, and the way out.
struct Sign {
    seen: fn(&Line<'_>) -> bool,
    says: &'static str,
}

/// A line without its texts and comments.
struct Line<'a> {
    code: &'a str,
    words: &'a [String],
    says: &'a str,
}

impl Line<'_> {
    fn has(&self, signs: &[&str]) -> bool {
        signs.iter().any(|sign| self.code.contains(sign))
    }

    /// Whether the first name that is free is one of these.
    fn begins(&self, words: &[&str]) -> bool {
        self.words.first().is_some_and(|w| words.contains(&w.as_str()))
    }

    /// Whether one of these is a name that is free.
    fn names(&self, words: &[&str]) -> bool {
        self.words.iter().any(|w| words.contains(&w.as_str()))
    }

    /// Whether what follows a sign begins so, blanks aside, at one of its places.
    fn follows(&self, sign: &str, next: fn(char) -> bool) -> bool {
        let behind = |rest: &str| rest.trim_start().starts_with(next);
        self.code.match_indices(sign).any(|(at, _)| behind(&self.code[at + sign.len()..]))
    }

    /// `x = 3` where x has no value.
    fn gives(&self) -> bool {
        let value = |c: char| c.is_alphanumeric() || "'(¯⍬-".contains(c);
        self.says.ends_with("has no value") && self.follows("=", value)
    }

    /// The text between each `[` or `(` and what closes it next.
    fn within(&self, open: char, close: char) -> impl Iterator<Item = &str> {
        let closed = move |rest: &'_ str| rest.find(close);
        self.code
            .match_indices(open)
            .filter_map(move |(at, _)| {
                closed(&self.code[at + 1..]).map(|end| (at + 1, at + 1 + end))
            })
            .map(|(from, to)| &self.code[from..to])
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// The signs, those that say most first.
const SIGNS: &[Sign] = &[
    Sign {
        seen: |l| l.says.starts_with("index 0"), says: "indices begin at 1; ⎕IO←0 makes it 0"
    },
    Sign {
        seen: |l| l.has(&[":=", "<-"]), says: "← gives a name its value: x←3 (`[ types it)"
    },
    Sign { seen: |l| l.has(&["=>", "->"]), says: "a function is written {⍵+1}: ]help dfn" },
    Sign { seen: |l| l.has(&["=="]), says: "= compares: x=3; ≡ compares whole arrays" },
    Sign { seen: |l| l.has(&["!=", "<>"]), says: "≠ is not equal (`8 types it)" },
    Sign { seen: |l| l.has(&[">="]), says: "≥ is greater or equal (`6 types it)" },
    Sign { seen: |l| l.has(&["<="]), says: "≤ is less or equal (`4 types it)" },
    Sign { seen: |l| l.has(&["**"]), says: "* is the power: 2*3" },
    Sign { seen: |l| l.has(&["&"]), says: "∧ is and (`0 types it)" },
    Sign { seen: |l| l.has(&["||"]), says: "∨ is or (`9 types it)" },
    Sign {
        seen: |l| l.has(&["++", "+=", "-=", "*=", "/="]),
        says: "x+←1 adds to a name, and so with any function",
    },
    Sign { seen: |l| l.has(&["%"]), says: "2|7 is the rest of 7 by 2; ÷ divides" },
    Sign { seen: |l| l.has(&["//"]), says: "⍝ begins a comment; ⌊7÷2 divides whole numbers" },
    Sign { seen: |l| l.has(&["#", "/*"]), says: "⍝ begins a comment (`, types it)" },
    Sign { seen: |l| l.has(&["\""]), says: "text stands in single quotes: 'text'" },
    Sign {
        seen: |l| l.within('[', ']').any(|inside| inside.contains(':')),
        says: "v[2 3 4] takes places, 3↑1↓v a piece: ]help slice",
    },
    Sign {
        seen: |l| l.within('[', ']').any(|inside| inside.contains(',')),
        says: "a vector is written 1 2, a matrix of rows [1 2 ⋄ 3 4]; v[1;2] has two indices",
    },
    Sign {
        seen: |l| l.within('(', ')').any(|inside| inside.contains(',')),
        says: "a function has one argument on each side: 1 f 2; , joins arrays",
    },
    Sign {
        seen: |l| l.begins(&["print", "println", "printf", "echo", "console"]),
        says: "a value that is not assigned prints; ⎕←x prints inside a function",
    },
    Sign { seen: |l| l.begins(&["exit", "quit", "bye"]), says: ")off leaves, and so does Ctrl-D" },
    Sign {
        seen: |l| l.begins(&["help", "man"]),
        says: "]help lists what there is, ]help sum tells of one thing",
    },
    Sign {
        seen: |l| l.begins(&["clear", "cls"]),
        says: ")clear frees all names; Ctrl-L wipes the screen",
    },
    Sign {
        seen: |l| l.begins(&["ls", "dir", "who"]),
        says: ")vars and )fns list the names there are",
    },
    Sign {
        seen: |l| l.begins(&["import", "require", "include", "from"]),
        says: "]load FILE runs a script here",
    },
    Sign {
        seen: |l| l.begins(&["let", "var", "const", "int", "float", "auto", "mut"]),
        says: "nothing is declared: x←3 gives a name its value",
    },
    Sign {
        seen: |l| l.begins(&["return"]),
        says: "the first value of {…} is its result; in a ∇ function that of its result's name",
    },
    Sign {
        seen: |l| l.begins(&["for", "foreach"]),
        says: "f¨v is f of each item, :For i :In v … :EndFor a loop: ]help loop",
    },
    Sign { seen: |l| l.begins(&["while"]), says: ":While c … :EndWhile, or f⍣g: ]help loop" },
    Sign {
        seen: |l| l.begins(&["if", "else", "elif", "switch"]),
        says: "{c:x ⋄ y} chooses, and so does :If c … :EndIf: ]help :If",
    },
    Sign {
        seen: |l| l.names(&["def", "function", "fn", "func", "lambda", "fun"]),
        says: "f←{⍵+1} is a function of ⍵: ]help dfn",
    },
    Sign {
        seen: |l| l.names(&["true", "True", "TRUE", "false", "False", "FALSE"]),
        says: "1 is true, 0 is false",
    },
    Sign {
        seen: |l| l.names(&["null", "None", "nil", "NULL", "undefined", "NaN"]),
        says: "nothing is an empty array: ⍬ or ''",
    },
    Sign { seen: |l| l.gives(), says: "= compares; ← gives a name its value: x←3" },
    Sign {
        seen: |l| l.has(&[";"]) && !l.has(&["["]),
        says: "⋄ or a new line stands between statements",
    },
    Sign {
        seen: |l| l.follows("e-", is_digit) || l.follows("E-", is_digit),
        says: "a number's own minus is ¯: 1E¯5, ¯3 (`2 types it)",
    },
];

/// The error with a way out from its line, if it has none of its own and the line shows a habit.
/// `is_free` says whether a name has no value.
pub(super) fn hinted(error: Error, is_free: impl Fn(&str) -> bool) -> Error {
    let parts = error.parts();
    let fits = matches!(
        error.kind(),
        Kind::Value | Kind::Syntax | Kind::Nonce | Kind::Index | Kind::Domain | Kind::Rank
    );
    let Some(place) = parts.place.as_ref().filter(|_| fits && parts.hint.is_none()) else {
        return error;
    };
    let text = &place.source.text;
    let before: usize = place.span.start as usize;
    let mut seen = 0;
    let line = text.split('\n').find(|line| {
        seen += line.chars().count() + 1;
        before < seen
    });
    let Some(line) = line else { return error };
    match way(line, &parts.says, is_free) {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

fn way(line: &str, says: &str, is_free: impl Fn(&str) -> bool) -> Option<String> {
    let mut code: Vec<char> = line.chars().collect();
    let mut words = Vec::new();
    for token in lex(line) {
        let (from, to) = (token.span.start as usize, token.span.end as usize);
        match token.kind {
            syntax::Kind::Text(_) | syntax::Kind::Comment => {
                code[from..to].iter_mut().for_each(|c| *c = ' ');
            }
            syntax::Kind::Name(name) if is_free(&name) => words.push(name),
            _ => {}
        }
    }
    let code: String = code.into_iter().collect();
    let seen = Line { code: &code, words: &words, says };
    if let Some(sign) = SIGNS.iter().find(|sign| (sign.seen)(&seen)) {
        return Some(sign.says.into());
    }
    words.iter().find_map(|word| known(word))
}

/// A word that help knows, and what stands for it.
fn known(word: &str) -> Option<String> {
    let lower = word.to_lowercase();
    let of_topic = topics().find(|t| t.names.contains(&lower.as_str())).map(|t| t.form.to_string());
    let form = of_topic.or_else(|| {
        let (found, exact) = glyphs(&lower);
        found.first().filter(|_| exact).map(|c| c.text.clone())
    })?;
    Some(format!("{word} is {form} here: ]help {lower}"))
}

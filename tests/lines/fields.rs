//! Every function of PRIMS on lines that were cut into fields, which are pieces of pieces, and on
//! the same fields written as constants, which stand one by one: one value, or one kind of error.

use crate::support::{Heard, session};
use aplomb_ground::error::Kind;
use aplomb_ground::protocol::Request;
use aplomb_kernel::session::Session;
use aplomb_language::table::{Role, prims};
use aplomb_values::array::Array;

/// Lines, so many that they are gathered.
const LINES: usize = 70;

/// The fields of the k-th line.
fn fields(k: usize) -> Vec<String> {
    let one = |j: usize| ["fox", "17", "dog", "x1", "quick"][(k + j) % 5].repeat(1 + k * j % 2);
    (0..1 + k % 4).map(one).collect()
}

/// The calls of a function, one of whose arguments is the list of lines.
const FORMS: &[&str] = &[
    "f z",
    "f¨z",
    "f¨¨z",
    "1 f z",
    "1 f¨z",
    "2 f¨z",
    "¯1 f¨z",
    "(≢¨z)f¨z",
    "(70⍴1 1 2)f¨z",
    "z f¨z",
    "z f¨⌽z",
    "z f z",
    "z f¨⊂'fox' 'dog'",
    "(⊂'fox' '17')f¨z",
    "'o'f¨¨z",
    "(z=¨z)f¨z",
    "(⊂2 1)f¨2↓z",
    "(70⍴1 0 1)f z",
    "{f⍵}¨z",
    "{⍵f⍵}¨z",
    "{2 f⍵}¨z",
    "{f⌽⍵}¨z",
    "{(⊃⍵)f⍵}¨z",
    "z{f⍵}⌸70⍴1 2",
    "(70⍴⍳30){f⍵}⌸z",
    "(70⍴⍳30){1 f⍵}⌸z",
];

/// The kind of a line's error, if it fails.
fn kind(s: &mut Session, line: &str) -> Option<Kind> {
    s.value_of(line).err().map(|e| e.kind())
}

#[test]
fn fields_of_lines_are_what_stands_one_by_one() {
    let lines: Vec<Vec<String>> = (0..LINES).map(fields).collect();
    let text = |line: &Vec<String>| format!("'{}'", line.join(","));
    let constant = |line: &Vec<String>| {
        let all: Vec<String> = line.iter().map(|field| format!("'{field}'")).collect();
        match all.as_slice() {
            [one] => format!("(,⊂{one})"),
            _ => format!("({})", all.join(" ")),
        }
    };
    let all =
        |one: &dyn Fn(&Vec<String>) -> String| lines.iter().map(one).collect::<Vec<_>>().join(" ");
    let mut s = session();
    let code = format!("z←','(≠⊆⊢)¨{} ⋄ b←{}", all(&text), all(&constant));
    s.handle(Request::Execute { code, name: "lines".into(), silent: true }, &mut Heard::default());
    let is_one = |a: Option<Array>| a.and_then(|a| a.number_at(0)) == Some(1.0);
    assert!(is_one(s.value_of("z≡b").expect("lines")));
    let (mut values, mut wrong) = (0, Vec::new());
    for p in prims() {
        // What draws numbers or talks to the world is no function of its arguments alone.
        if !matches!(p.role, Role::Function | Role::Hybrid) || p.glyph == '?' {
            continue;
        }
        for form in FORMS {
            let line = form.replace('f', &p.glyph.to_string());
            let other = line.replace('z', "b");
            let (error, wanted) = (kind(&mut s, &line), kind(&mut s, &other));
            let same = |s: &mut Session| s.value_of(&format!("({line})≡{other}")).is_ok_and(is_one);
            match (error, wanted) {
                (None, None) if same(&mut s) => values += 1,
                (Some(a), Some(b)) if a == b => {}
                _ => wrong.push(format!("{line}: {error:?}, not {wanted:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(values > 300, "{values} values");
}

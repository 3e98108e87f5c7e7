//! Files that are tied by a number: ⎕NCREATE ⎕NTIE ⎕NREAD ⎕NAPPEND ⎕NREPLACE and their kin.
//!
//! A tie is a path and a place in it; the file itself is opened for each call, so that nothing is
//! left open where a program fails.

use super::bytes::Type;
use super::files::{path, taken};
use super::{Args, Row, function, live, misused, text_matrix};
use crate::eval::cx::Cx;
use crate::eval::host::{Answer, Errand};
use crate::eval::run::Eval;
use aplomb_ground::error::{Error, Kind, Result, domain, syntax};
use aplomb_values::array::Array;

/// A tied file.
#[derive(Clone, Debug)]
pub struct Tie {
    number: i64,
    path: String,
    /// The place behind what was read or written last.
    at: u64,
}

/// The rows.
pub static ROWS: &[Row] = &[
    function(
        "NCREATE",
        "Makes the file X and ties it to the number Y, 0 for one that is free: the number. Types \
         of what is written and read are those of ⎕DR.",
        ("t←'t.bin'⎕NCREATE 0 ⋄ _←(1 2 3)⎕NAPPEND t 83 ⋄ ⎕NREAD t 83 3 0 ⋄ ⎕NUNTIE t", "1 2 3"),
        |ev, a| {
            let name = path(a.left("the name of a file")?)?;
            let number = free(&mut ev.cx, a.y)?;
            let world = ev.cx.world("a file")?;
            if world.exists(&name) {
                return Err(taken(&name, "⎕NTIE ties it"));
            }
            world.write_file(&name, &[])?;
            tied(ev, name, number)
        },
    ),
    function(
        "NTIE",
        "Ties the file X to the number Y, 0 for one that is free: the number.",
        ("_←'ab'⎕NPUT't.txt' 1 ⋄ t←'t.txt'⎕NTIE 0 ⋄ ⎕NSIZE t ⋄ ⎕NUNTIE t", "3"),
        |ev, a| {
            let name = path(a.left("the name of a file")?)?;
            let number = free(&mut ev.cx, a.y)?;
            let facts = ev.cx.world("a file")?.errand(&Errand::Facts(name.clone()))?;
            match facts {
                Answer::Facts(of) if of.kind != 1 => tied(ev, name, number),
                _ => Err(Error::new(Kind::FileName, format!("{name} is a folder"))),
            }
        },
    ),
    function(
        "NREAD",
        "Items of a tied file: its number, their type, how many (¯1: all) and from which byte on \
         (¯1, or left out: behind what was read last).",
        ("_←'ab'⎕NPUT't.txt' 1 ⋄ t←'t.txt'⎕NTIE 0 ⋄ ⎕NREAD t 80 2 ⋄ ⎕NUNTIE t", "ab"),
        read,
    ),
    function(
        "NAPPEND",
        "Writes X behind a tied file: its number, and the type of the items, else their own. \
         The bytes that the file has then.",
        ("t←'t.bin'⎕NCREATE 0 ⋄ ⊢'abc'⎕NAPPEND t 80 ⋄ ⎕NUNTIE t", "3"),
        |ev, a| {
            let [tie, kind] = numbers(ev, a, "NAPPEND", "a tie, and a type")?;
            let end = size(ev, tie)?;
            write(ev, a, tie, kind, end)
        },
    ),
    function(
        "NREPLACE",
        "Writes X over a part of a tied file: its number, the byte to begin with (¯1: behind what \
         was read last), and the type. The byte behind it.",
        (
            "t←'t.bin'⎕NCREATE 0 ⋄ _←'abc'⎕NAPPEND t 80 ⋄ _←'X'⎕NREPLACE t 1 80 ⋄ \
             ⎕NREAD t 80 3 0 ⋄ ⎕NUNTIE t",
            "aXc",
        ),
        |ev, a| {
            let [tie, at, kind] = numbers(ev, a, "NREPLACE", "a tie, a place, and a type")?;
            let tie = tie.ok_or_else(|| domain("a tie is a number"))?;
            let at = place(ev, tie, at)?;
            write(ev, a, Some(tie), kind, at)
        },
    ),
    function(
        "NSIZE",
        "The bytes of a tied file.",
        ("t←'t.bin'⎕NCREATE 0 ⋄ ⎕NSIZE t ⋄ ⎕NUNTIE t", "0"),
        |ev, a| {
            let tie = ev.cx.one_integer(a.y, "a tie")?;
            Ok(Some(Array::num(size(ev, Some(tie))? as f64)))
        },
    ),
    function(
        "NRESIZE",
        "Gives the tied file Y the size X: it is cut, or filled with bytes 0.",
        ("t←'t.bin'⎕NCREATE 0 ⋄ 5⎕NRESIZE t ⋄ ⎕NSIZE t ⋄ ⎕NUNTIE t", "5"),
        |ev, a| {
            let bytes = a.left("a number of bytes")?.clone();
            let bytes = ev.cx.one_integer(&bytes, "a number of bytes")?;
            let bytes =
                u64::try_from(bytes).map_err(|_| domain("a file has no fewer than 0 bytes"))?;
            let tie = ev.cx.one_integer(a.y, "a tie")?;
            let name = known(&ev.cx, tie)?.path.clone();
            ev.cx.world("a file")?.errand(&Errand::Resize(name, bytes))?;
            ev.shy(Array::num(tie as f64))
        },
    ),
    function(
        "NUNTIE",
        "Frees ties.",
        ("t←'t.bin'⎕NCREATE 0 ⋄ ⎕NUNTIE t ⋄ ⍴⎕NNUMS", "0"),
        |ev, a| {
            let gone = ev.cx.integers(a.y, "a tie")?;
            for tie in &gone {
                known(&ev.cx, *tie)?;
            }
            ev.cx.sys.ties.retain(|t| !gone.contains(&t.number));
            ev.shy(a.y.clone())
        },
    ),
    function(
        "NERASE",
        "Removes the tied file X, and frees its tie Y.",
        ("t←'t.bin'⎕NCREATE 0 ⋄ 't.bin'⎕NERASE t ⋄ ⎕NEXISTS't.bin'", "0"),
        |ev, a| {
            let name = path(a.left("the name of the tied file")?)?;
            let tie = ev.cx.one_integer(a.y, "a tie")?;
            if known(&ev.cx, tie)?.path != name {
                return Err(Error::new(Kind::FileName, format!("{name} is not tied to {tie}")));
            }
            ev.cx.world("a file")?.delete(&name)?;
            ev.cx.sys.ties.retain(|t| t.number != tie);
            ev.shy(Array::num(tie as f64))
        },
    ),
    function(
        "NRENAME",
        "Gives the file that is tied to Y the name X.",
        ("t←'t.bin'⎕NCREATE 0 ⋄ 'u.bin'⎕NRENAME t ⋄ ⎕NEXISTS¨'t.bin' 'u.bin' ⋄ ⎕NUNTIE t", "0 1"),
        |ev, a| {
            let name = path(a.left("a name")?)?;
            let tie = ev.cx.one_integer(a.y, "a tie")?;
            let old = known(&ev.cx, tie)?.path.clone();
            let world = ev.cx.world("a file")?;
            if world.exists(&name) {
                return Err(taken(&name, "another name is free"));
            }
            world.errand(&Errand::Move(old, name.clone()))?;
            ev.cx
                .sys
                .ties
                .iter_mut()
                .filter(|t| t.number == tie)
                .for_each(|t| t.path = name.clone());
            ev.shy(Array::num(tie as f64))
        },
    ),
    live("NNUMS", "The numbers of the ties.", ("⍴⎕NNUMS", "0"), |ev| {
        ev.cx.vector(ev.cx.sys.ties.iter().map(|t| t.number as f64).collect())
    }),
    live("NNAMES", "The files that are tied, a row each.", ("⍴⎕NNAMES", "0 0"), |ev| {
        let names: Vec<String> = ev.cx.sys.ties.iter().map(|t| t.path.clone()).collect();
        text_matrix(&ev.cx, &names)
    }),
];

/// The number that a new tie gets. Errors: DOMAIN for one that is positive, or taken.
fn free(cx: &mut Cx<'_>, y: &Array) -> Result<i64> {
    let wanted = cx.integers(y, "a tie")?;
    let ties = &cx.sys.ties;
    match wanted.first() {
        Some(0) => (1..=i64::MAX).map(|k| -k).find(|k| ties.iter().all(|t| t.number != *k)),
        Some(k) if *k < 0 && ties.iter().all(|t| t.number != *k) => Some(*k),
        _ => None,
    }
    .ok_or_else(|| domain("a tie is 0, or a number below 0 that is free").hint("⎕NNUMS are taken"))
}

fn tied(ev: &mut Eval<'_>, path: String, number: i64) -> Result<Option<Array>> {
    ev.cx.unframed("a tie")?;
    ev.cx.sys.ties.push(Tie { number, path, at: 0 });
    ev.shy(Array::num(number as f64))
}

/// The tie of a number. Errors: FILE TIE, as DOMAIN has it here.
fn known<'a>(cx: &'a Cx<'_>, number: i64) -> Result<&'a Tie> {
    let found = cx.sys.ties.iter().find(|t| t.number == number);
    found.ok_or_else(|| {
        let number = number.to_string().replace('-', "¯");
        domain(format!("no file is tied to {number}")).hint("⎕NNUMS are")
    })
}

/// Numbers of the right argument; the last ones may be missing. Errors: SYNTAX, DOMAIN.
fn numbers<const N: usize>(
    ev: &mut Eval<'_>,
    a: &Args<'_>,
    name: &str,
    form: &str,
) -> Result<[Option<i64>; N]> {
    let given = ev.cx.integers(a.y, "what a tied file is asked for")?;
    if given.is_empty() || given.len() > N || a.y.rank() > 1 {
        return Err(misused(name, form));
    }
    Ok(std::array::from_fn(|k| given.get(k).copied()))
}

fn size(ev: &mut Eval<'_>, tie: Option<i64>) -> Result<u64> {
    let tie = tie.ok_or_else(|| domain("a tie is a number"))?;
    let name = known(&ev.cx, tie)?.path.clone();
    match ev.cx.world("a file")?.errand(&Errand::Facts(name))? {
        Answer::Facts(of) => Ok(of.size),
        _ => Err(domain("this is no file")),
    }
}

/// A place that was given, or the one behind what was read or written last.
fn place(ev: &Eval<'_>, tie: i64, given: Option<i64>) -> Result<u64> {
    let own = known(&ev.cx, tie)?.at;
    match given {
        None | Some(-1) => Ok(own),
        Some(at) => u64::try_from(at).map_err(|_| domain("a place in a file is 0 or more")),
    }
}

fn move_to(ev: &mut Eval<'_>, tie: i64, at: u64) {
    ev.cx.sys.ties.iter_mut().filter(|t| t.number == tie).for_each(|t| t.at = at);
}

fn read(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    if a.x.is_some() {
        return Err(syntax("⎕NREAD takes no left argument"));
    }
    let [tie, kind, count, at] = numbers(ev, a, "NREAD", "a tie, a type, a count, and a place")?;
    let (Some(tie), Some(kind)) = (tie, kind) else {
        return Err(misused("NREAD", "a tie, a type, a count, and a place"));
    };
    let kind = Type::of(kind)?;
    let at = place(ev, tie, at)?;
    let (all, name) = (size(ev, Some(tie))?, known(&ev.cx, tie)?.path.clone());
    let left = all.saturating_sub(at);
    let n = match count {
        None | Some(-1) => left,
        Some(k) => match u64::try_from(k) {
            Ok(k) => (k.saturating_mul(kind.bits() as u64)).div_ceil(8).min(left),
            Err(_) => return Err(domain("a count is ¯1 or at least 0")),
        },
    };
    let _held = ev.cx.budget().charge(n)?;
    let Answer::Bytes(bytes) = ev.cx.world("a file")?.errand(&Errand::Part(name, at, n))? else {
        return Err(domain("this is no file"));
    };
    move_to(ev, tie, at + bytes.len() as u64);
    kind.items(&ev.cx, &bytes).map(Some)
}

/// Writes the left argument at a place of a file.
fn write(
    ev: &mut Eval<'_>,
    a: &Args<'_>,
    tie: Option<i64>,
    kind: Option<i64>,
    at: u64,
) -> Result<Option<Array>> {
    let tie = tie.ok_or_else(|| domain("a tie is a number"))?;
    let x = a.left("what is written")?.clone();
    let kind = match kind {
        Some(kind) => kind,
        None => super::text::code(&ev.cx, &x)? as i64,
    };
    let bytes = Type::of(kind)?.bytes(&mut ev.cx, &x)?;
    let name = known(&ev.cx, tie)?.path.clone();
    let behind = at + bytes.len() as u64;
    ev.cx.world("a file")?.errand(&Errand::Patch(name, at, bytes))?;
    move_to(ev, tie, behind);
    ev.shy(Array::num(behind as f64))
}

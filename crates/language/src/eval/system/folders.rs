//! Folders and the facts of files: ⎕NINFO ⎕MKDIR ⎕NPARTS ⎕NMOVE ⎕NCOPY; the system around the
//! program: ⎕ENV ⎕NQ ⎕SH.

use super::files::{lines, path, taken};
use super::{Args, Row, constant, function, misused, optional, text_vector, texts};
use crate::eval::cx::Cx;
use crate::eval::host::{Answer, Errand, Facts};
use crate::eval::run::Eval;
use aplomb_ground::error::{Error, Kind, Result, domain, index, nonce};
use aplomb_values::array::Array;

pub static ROWS: &[Row] = &[
    optional(
        "NINFO",
        "Facts of a file or folder Y: X is 0 its name, 1 its kind (1 a folder, 2 a file, 4 a \
         link), 2 its bytes, 3 when it was changed. With ⍠1 stars in Y stand for any characters \
         and ? for one, and there is a vector of facts.",
        ("_←'abc'⎕NPUT'i.txt' 1 ⋄ 1 2⎕NINFO'i.txt'", "2 4"),
        &["Wildcard"],
        facts,
    ),
    function(
        "MKDIR",
        "Makes the folder Y: 1 if it did. X: 1, one that is there is no error; 2, those above it \
         are made, too; 3, both.",
        ("⎕MKDIR'newfolder'", "1"),
        make,
    ),
    function(
        "NPARTS",
        "Folder, name and ending of a path; 1⎕NPARTS of the whole path.",
        ("⎕NPARTS'a/b/c.txt'", " a/b/  c  .txt "),
        parts,
    ),
    function(
        "NMOVE",
        "Gives the file or folder Y the name X.",
        ("_←'x'⎕NPUT'm.txt' 1 ⋄ _←'n.txt'⎕NMOVE'm.txt' ⋄ ⎕NEXISTS¨'m.txt' 'n.txt'", "0 1"),
        |ev, a| to_another(ev, a, Errand::Move),
    ),
    function(
        "NCOPY",
        "Copies the file Y to X.",
        ("_←'x'⎕NPUT'm.txt' 1 ⋄ _←'n.txt'⎕NCOPY'm.txt' ⋄ ⎕NEXISTS¨'m.txt' 'n.txt'", "1 1"),
        |ev, a| to_another(ev, a, Errand::Copy),
    ),
    function(
        "ENV",
        "The value of the environment's variable Y; empty where it is not set.",
        ("⍴⎕ENV'NOSUCHVARIABLE'", "0"),
        |ev, a| {
            let name = a.y.word().ok_or_else(|| domain("a variable's name is text"))?;
            environment(&mut ev.cx, name).map(Some)
        },
    ),
    function(
        "NQ",
        "2⎕NQ'.' 'GetEnvironment' NAME: the value of a variable of the environment.",
        ("⍴2⎕NQ'.' 'GetEnvironment' 'NOSUCHVARIABLE'", "0"),
        |ev, a| {
            let words = texts(a.y, "what ⎕NQ is asked", ev.cx.budget())?;
            match words.as_slice() {
                [dot, what, name] if dot == "." && what == "GetEnvironment" => {
                    environment(&mut ev.cx, name.clone()).map(Some)
                }
                _ => Err(nonce("⎕NQ of anything but 'GetEnvironment'")),
            }
        },
    ),
    function(
        "SH",
        "The lines that a command of the system's shell prints, where --allow-run lets programs \
         run commands.",
        ("{11::'not allowed' ⋄ ⎕SH'ls'}0", "not allowed"),
        |ev, a| {
            let command = a.y.word().ok_or_else(|| domain("a command is text"))?;
            match ev.cx.world("a command")?.errand(&Errand::Run(command))? {
                Answer::Text(text) => text_vector(&ev.cx, &lines(&text)).map(Some),
                _ => ev.cx.vector(vec![]).map(Some),
            }
        },
    ),
    constant(
        "SCRIPT",
        "The path of the program that runs; empty at the prompt.",
        ("⎕SCRIPT", ""),
        |cx| {
            let path = cx.sys.screen.script.clone();
            cx.text(&path)
        },
    ),
];

fn environment(cx: &mut Cx<'_>, name: String) -> Result<Array> {
    match cx.world("the environment")?.errand(&Errand::Environment(name))? {
        Answer::Text(text) => cx.text(&text),
        _ => cx.text(""),
    }
}

/// A fact of a file, by its number.
fn fact(cx: &Cx<'_>, which: i64, name: &str, of: &Facts) -> Result<Array> {
    match which {
        0 => cx.text(name),
        1 => Ok(Array::num(f64::from(of.kind))),
        2 => Ok(Array::num(of.size as f64)),
        3 => cx.vector(super::time::stamp(of.changed)),
        4..=13 => Err(nonce(format!("the fact {which} of ⎕NINFO"))),
        _ => Err(domain("⎕NINFO knows the facts 0 to 3")),
    }
}

fn facts(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let wanted = match a.x {
        None => vec![0],
        Some(x) => ev.cx.integers(x, "a fact of ⎕NINFO")?,
    };
    let name = path(a.y)?;
    let any = a.options.flag("Wildcard", false)?;
    let names = if any { matching(&mut ev.cx, &name)? } else { vec![name] };
    let mut found = Vec::new();
    for name in &names {
        ev.cx.host.interrupt().check()?;
        match ev.cx.world("a file")?.errand(&Errand::Facts(name.clone()))? {
            Answer::Facts(of) => found.push(of),
            _ => return Err(misused("NINFO", "a file")),
        }
    }
    let mut out = Vec::new();
    for which in wanted {
        let all = names.iter().zip(&found).map(|(name, of)| fact(&ev.cx, which, name, of));
        let mut all = all.collect::<Result<Vec<_>>>()?;
        out.push(match any {
            true if all.is_empty() && which == 0 => text_vector(&ev.cx, &[])?,
            true => ev.cx.collect(&[all.len()], all, None)?,
            false => all.swap_remove(0),
        });
    }
    match a.x {
        Some(x) if x.rank() > 0 => ev.cx.collect(&[out.len()], out, None).map(Some),
        _ => Ok(out.pop()),
    }
}

/// The files that a path with `*` and `?` in its last part means.
fn matching(cx: &mut Cx<'_>, pattern: &str) -> Result<Vec<String>> {
    let (folder, last) = pattern.rfind('/').map_or(("", pattern), |at| pattern.split_at(at + 1));
    let Answer::Names(names) = cx.world("a folder")?.errand(&Errand::List(folder.into()))? else {
        return Ok(Vec::new());
    };
    let wanted: Vec<char> = last.chars().collect();
    let is_meant = |name: &String| fits(&wanted, &name.chars().collect::<Vec<_>>());
    let hidden = |name: &String| name.starts_with('.') && !last.starts_with('.');
    Ok(names
        .into_iter()
        .filter(|n| is_meant(n) && !hidden(n))
        .map(|n| folder.to_string() + &n)
        .collect())
}

/// Whether a name fits a pattern. In one walk: after a star that took too little, it takes one
/// more.
fn fits(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, n) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// The two wishes that 1 and 2 stand for, and 3 for both.
pub fn wishes(ev: &mut Eval<'_>, x: Option<&Array>, name: &str) -> Result<(bool, bool)> {
    let x = x.map_or(Ok(0), |x| ev.cx.one_integer(x, "the left argument"))?;
    match x {
        0..=3 => Ok((x & 1 == 1, x & 2 == 2)),
        _ => Err(misused(name, "0, 1, 2 or 3 on its left")),
    }
}

fn make(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let (tolerant, parents) = wishes(ev, a.x, "MKDIR")?;
    let name = path(a.y)?;
    let world = ev.cx.world("a folder")?;
    if world.exists(&name) {
        return match tolerant {
            true => Ok(Some(Array::num(0.0))),
            false => Err(taken(&name, "1⎕MKDIR takes it as it is")),
        };
    }
    let above = name.trim_end_matches('/').rsplit_once('/').map(|(above, _)| above);
    if let Some(above) = above.filter(|above| !parents && !above.is_empty() && !world.exists(above))
    {
        let says = format!("{name}: there is no folder {above}");
        return Err(Error::new(Kind::FileName, says).hint("2⎕MKDIR makes it, too"));
    }
    world.errand(&Errand::MakeFolder(name))?;
    Ok(Some(Array::num(1.0)))
}

fn parts(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let whole = a.x.map_or(Ok(0), |x| ev.cx.one_integer(x, "the left argument"))?;
    let mut name = path(a.y)?;
    if whole == 1 {
        name = match ev.cx.world("a file")?.errand(&Errand::Absolute(name))? {
            Answer::Text(name) => name,
            _ => return Err(index("this path has no whole one")),
        };
    }
    let (folder, last) = name.rfind('/').map_or(("", name.as_str()), |at| name.split_at(at + 1));
    let dot = last.rfind('.').filter(|at| *at > 0).map_or(last.len(), |at| at);
    let all = [folder, &last[..dot], &last[dot..]].map(String::from);
    text_vector(&ev.cx, &all).map(Some)
}

fn to_another(
    ev: &mut Eval<'_>,
    a: &Args<'_>,
    errand: fn(String, String) -> Errand,
) -> Result<Option<Array>> {
    let to = path(a.left("the new name")?)?;
    let from = path(a.y)?;
    let world = ev.cx.world("a file")?;
    if world.exists(&to) {
        return Err(taken(&to, "⎕NDELETE removes it"));
    }
    world.errand(&errand(from, to))?;
    ev.shy(Array::num(1.0))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_is_any_characters_and_a_question_mark_one() {
        let is = |pattern: &str, name: &str| {
            let chars = |t: &str| t.chars().collect::<Vec<_>>();
            fits(&chars(pattern), &chars(name))
        };
        for (pattern, name) in [("*", ""), ("*.txt", "a.txt"), ("a*b*c", "aXbYbZc"), ("?b", "ab")] {
            assert!(is(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("", "a"), ("*.txt", "a.txt.bak"), ("a*b*c", "aXbY"), ("?", "ab")] {
            assert!(!is(pattern, name), "{pattern} {name}");
        }
    }
}

//! Files as text, bytes and arrays: ⎕NGET ⎕NPUT ⎕NPY ⎕ARROW ⎕IMG ⎕NEXISTS ⎕NDELETE. The host reads
//! and writes bytes.

use super::json::{spelled, unspelled};
use super::{Args, Row, function, misused, text_matrix, text_vector, texts};
use crate::eval::cx::Cx;
use crate::eval::host::{Arrays, Errand, Format, Host};
use crate::eval::run::Eval;
use crate::eval::space::Space;
use crate::eval::value::Value;
use aplomb_ground::error::{Error, Kind, Result, domain, nonce, rank, value};
use aplomb_ground::limits::Budget;
use aplomb_values::array::Array;
use aplomb_values::prim::scalar::near_integer;

pub static ROWS: &[Row] = &[
    function(
        "NGET",
        "Text, encoding and line end of a file. Y is the path, or path and 1 for lines, 2 for a \
         matrix. 'BINARY'⎕NGET path: its bytes as numbers instead of text.",
        ("_←'ab' 'cd'⎕NPUT'f.txt' 1 ⋄ ⊃⎕NGET'f.txt' 1", " ab  cd "),
        get,
    ),
    function(
        "NPUT",
        "Writes text or lines to a file; path and 1 replaces, path and 2 adds to it. (numbers \
         'BINARY')⎕NPUT path: bytes. How many bytes were written.",
        ("⊢'one' 'two'⎕NPUT'g.txt' 1", "8"),
        put,
    ),
    function(
        "NPY",
        "Reads a .npy file, of a .npz file or of records a namespace; X⎕NPY path writes one, path \
         and 1 replaces it. Whole numbers are written as int64, others as they are stored, texts \
         as U, a namespace's arrays as .npz; path, 1 and 'i1' name a type, 'deflated' packs. Times \
         are seconds since 1970.",
        ("{22::'no such file' ⋄ ⎕NPY'x.npy'}0", "no such file"),
        |ev, a| arrays(ev, a, Format::NumPy, "NPY"),
    ),
    function(
        "ARROW",
        "Reads an Arrow IPC file (.arrow, .feather) or stream: a namespace with an array for each \
         column; a struct's fields have its name before theirs. X⎕ARROW path writes a namespace's \
         arrays as columns, path and 1 replaces; a stream where the name ends in .arrows. path, 1 \
         and 'n:i4 when:M8[ms] lz4' name types, and pack. Times are seconds since 1970.",
        ("{22::'no such file' ⋄ ⎕ARROW'x.arrow'}0", "no such file"),
        |ev, a| arrays(ev, a, Format::Arrow, "ARROW"),
    ),
    function(
        "IMG",
        "Reads a picture (PNG, JPEG, BMP, PGM): rows and columns of 0 to 255, of a coloured one 3 \
         planes, 4 with alpha. X⎕IMG path writes a PNG, path and 1 replaces it.",
        ("{22::'no such file' ⋄ ⎕IMG'x.png'}0", "no such file"),
        |ev, a| of_array(ev, a, &IMG),
    ),
    function(
        "NEXISTS",
        "Whether there is a file of that name.",
        ("⎕NEXISTS'no.txt'", "0"),
        |ev, a| {
            let there = ev.cx.world("a file")?.exists(&path(a.y)?);
            Ok(Some(Array::bool(there)))
        },
    ),
    function(
        "NDELETE",
        "Removes the file Y: 1 if it did. X: 1, one that is not there is no error; 2, a folder \
         goes with all that is in it; 3, both.",
        ("_←'x'⎕NPUT'h.txt' 1 ⋄ _←⎕NDELETE'h.txt' ⋄ ⎕NEXISTS'h.txt'", "0"),
        |ev, a| {
            let (tolerant, all) = super::folders::wishes(ev, a.x, "NDELETE")?;
            let name = path(a.y)?;
            let world = ev.cx.world("a file")?;
            if tolerant && !world.exists(&name) {
                return ev.shy(Array::num(0.0));
            }
            match all {
                true => drop(world.errand(&Errand::DeleteAll(name))?),
                false => world.delete(&name)?,
            }
            ev.shy(Array::num(1.0))
        },
    ),
];

/// A path. Errors: RANK, DOMAIN, VALUE where it is empty.
pub fn path(y: &Array) -> Result<String> {
    if y.rank() > 1 {
        return Err(rank("a path is text"));
    }
    let text = y.word().ok_or_else(|| domain("a path is text"))?;
    let text = match text.strip_prefix("file://") {
        Some(rest) => rest.to_string(),
        None => text,
    };
    if text.is_empty() { Err(value("a path is needed")) } else { Ok(text) }
}

/// `path`, or `path flag`, one of `flags`.
fn path_and_flag(y: &Array, name: &str, flags: &[i64]) -> Result<(String, i64)> {
    // A name of one letter before a flag is no vector of its own.
    let is_letter = |y: &Array| y.len() == 2 && y.item(0).is_char() && !y.item(1).is_char();
    if y.is_simple() && !is_letter(y) {
        return Ok((path(y)?, 0));
    }
    let flag = |a: &Array| {
        a.number_scalar().and_then(|x| near_integer(x, 1e-14)).filter(|k| flags.contains(k))
    };
    let form = || {
        let all: Vec<String> = flags.iter().map(i64::to_string).collect();
        misused(name, &format!("a path, and {}", all.join(" or ")))
    };
    match (y.few(), y.few()) {
        (Some([one]), _) => Ok((path(&one)?, 0)),
        (_, Some([one, k])) => Ok((path(&one)?, flag(&k).ok_or_else(form)?)),
        _ => Err(form()),
    }
}

/// That a file is there already: it stays as it is.
pub fn taken(name: &str, hint: &str) -> Error {
    Error::new(Kind::FileName, format!("{name}: there is such a file already")).hint(hint)
}

/// Line separators of Dyalog's table.
fn is_separator(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Text split at every line separator; what follows the last one is a line if there is any.
pub fn lines(text: &str) -> Vec<String> {
    let joined = text.replace("\r\n", "\n");
    let mut out: Vec<String> = joined.split(is_separator).map(String::from).collect();
    if out.last().is_some_and(String::is_empty) {
        out.pop();
    }
    out
}

fn decoded(bytes: &[u8], name: &str) -> Result<(String, String)> {
    let units = |from: &[u8], two: fn([u8; 2]) -> u16| -> Vec<u16> {
        from.chunks_exact(2).map(|p| two([p[0], p[1]])).collect()
    };
    let wrong = |what: &str| domain(format!("{name} is no {what} text"));
    let utf16 =
        |from: &[u8], two| String::from_utf16(&units(from, two)).map_err(|_| wrong("UTF-16"));
    Ok(match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => {
            (std::str::from_utf8(rest).map_err(|_| wrong("UTF-8"))?.to_string(), "UTF-8-BOM".into())
        }
        [0xFF, 0xFE, rest @ ..] => (utf16(rest, u16::from_le_bytes)?, "UTF-16LE-BOM".into()),
        [0xFE, 0xFF, rest @ ..] => (utf16(rest, u16::from_be_bytes)?, "UTF-16BE-BOM".into()),
        all => (
            std::str::from_utf8(all).map_err(|_| wrong("UTF-8"))?.to_string(),
            "UTF-8-NOBOM".into(),
        ),
    })
}

/// The text of a file and its encoding. Errors: those of the host; DOMAIN for what is no text.
pub fn read_text(cx: &mut Cx<'_>, name: &str) -> Result<(String, String)> {
    let bytes = cx.world("a file")?.read_file(name)?;
    decoded(&bytes, name)
}

fn get(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    if let Some(x) = a.x {
        let encoding = x.word().ok_or_else(|| domain("an encoding is text"))?.to_uppercase();
        if encoding == BINARY {
            return get_bytes(ev, &path(a.y)?);
        }
        if !matches!(encoding.as_str(), "UTF-8" | "UTF-8-BOM" | "UTF-8-NOBOM" | "ASCII") {
            return Err(nonce(format!("the encoding {encoding}")));
        }
    }
    let (name, flag) = path_and_flag(a.y, "NGET", &[0, 1, 2])?;
    let (text, encoding) = read_text(&mut ev.cx, &name)?;
    let first = text.find(['\n', '\r', '\u{85}']).map(|at| &text[at..]);
    let newline = match first {
        None => vec![],
        Some(t) if t.starts_with("\r\n") => vec![13.0, 10.0],
        Some(t) => t.chars().next().map(|c| f64::from(u32::from(c))).into_iter().collect(),
    };
    let content = match flag {
        0 => ev.cx.text(&text.replace("\r\n", "\n").replace(is_separator, "\n"))?,
        1 => text_vector(&ev.cx, &lines(&text))?,
        _ => text_matrix(&ev.cx, &lines(&text))?,
    };
    let (encoding, newline) = (ev.cx.text(&encoding)?, ev.cx.vector(newline)?);
    ev.cx.collect(&[3], vec![content, encoding, newline], None).map(Some)
}

/// The word that stands where an encoding does: bytes are numbers.
const BINARY: &str = "BINARY";

fn get_bytes(ev: &mut Eval<'_>, name: &str) -> Result<Option<Array>> {
    let bytes = ev.cx.world("a file")?.read_file(name)?;
    let content = ev.cx.budget().each(bytes.into_iter().map(f64::from))?;
    let content = ev.cx.vector(content)?;
    let (encoding, newline) = (ev.cx.text(BINARY)?, ev.cx.vector(vec![])?);
    ev.cx.collect(&[3], vec![content, encoding, newline], None).map(Some)
}

/// The bytes that `numbers 'BINARY'` is to write; None: it is text. Errors: a number that is no
/// byte.
fn bytes(x: &Array, budget: &Budget) -> Result<Option<Vec<u8>>> {
    if x.is_simple() || x.len() < 2 {
        return Ok(None);
    }
    let (content, encoding) = (x.item(0), x.item(1));
    let is_binary = encoding.word().is_some_and(|e| e.to_uppercase() == BINARY);
    let numbers = if content.is_char() { None } else { content.disclosed().to_numbers(budget)? };
    let Some(numbers) = numbers.filter(|_| is_binary) else { return Ok(None) };
    let byte = |x: &f64| near_integer(*x, 1e-14).and_then(|k| u8::try_from(k).ok());
    let wrong = || domain("bytes are whole numbers of 0 to 255");
    budget.all(numbers.iter().map(|x| byte(x).ok_or_else(wrong))).map(Some)
}

/// The lines to write, and what ends each.
fn content(x: &Array, budget: &Budget) -> Result<(Vec<String>, String)> {
    let form = || misused("NPUT", "text or lines, or that with encoding and line end, on its left");
    if x.is_simple() {
        let mut rows = texts(x, "what ⎕NPUT writes", budget)?;
        if x.rank() == 2 {
            rows.iter_mut().for_each(|r| *r = r.trim_end().into());
        }
        return Ok((rows, "\n".into()));
    }
    let items: Vec<Array> = x.in_turn().take(4).collect();
    // Lines stand enclosed where encoding and line end may follow them.
    let lines_first = items.first().is_some_and(|f| !f.is_simple() || items.len() == 1);
    let ends = items.get(2).is_some_and(|n| n.holds_numbers() && !n.is_char());
    if !lines_first && !ends {
        return Ok((texts(x, "what ⎕NPUT writes", budget)?, "\n".into()));
    }
    if let Some(encoding) = items.get(1) {
        match encoding.word().ok_or_else(form)?.to_uppercase().as_str() {
            "" | "UTF-8" | "UTF-8-NOBOM" | "ASCII" => {}
            other => return Err(nonce(format!("the encoding {other}"))),
        }
    }
    let codes = |n: &Array| n.to_numbers(budget)?.ok_or_else(form);
    let end = match items.get(2).map(codes).transpose()? {
        None => "\n".to_string(),
        Some(codes) if codes.is_empty() => "\n".into(),
        Some(codes) => {
            let one = |x: &f64| {
                near_integer(*x, 1e-14).and_then(|k| u32::try_from(k).ok()).and_then(char::from_u32)
            };
            codes.iter().map(one).collect::<Option<String>>().ok_or_else(form)?
        }
    };
    Ok((texts(&items[0].disclosed(), "what ⎕NPUT writes", budget)?, end))
}

fn put(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let x = a.left("the text")?;
    let bytes = match bytes(x, ev.cx.budget())? {
        Some(bytes) => bytes,
        None => joined(content(x, ev.cx.budget())?, ev.cx.budget())?,
    };
    let (name, flag) = path_and_flag(a.y, "NPUT", &[0, 1, 2])?;
    if flag == 0 && ev.cx.world("a file")?.exists(&name) {
        return Err(taken(&name, "text ⎕NPUT path 1 replaces it"));
    }
    match flag {
        2 => ev.cx.world("a file")?.append_file(&name, &bytes)?,
        _ => ev.cx.world("a file")?.write_file(&name, &bytes)?,
    }
    ev.shy(Array::num(bytes.len() as f64))
}

/// Lines with what ends them.
fn joined((rows, end): (Vec<String>, String), budget: &Budget) -> Result<Vec<u8>> {
    let (mut text, mut ticks) = (String::new(), budget.ticks());
    for row in rows {
        ticks.tick()?;
        let row = row.replace('\n', &end);
        if text.capacity() - text.len() < row.len() + end.len() {
            budget.grow(&mut text, row.len() + end.len())?;
        }
        text += &row;
        if !text.ends_with(&end) || row.is_empty() {
            text += &end;
        }
    }
    Ok(text.into_bytes())
}

/// A kind of file that holds one array.
struct ArrayFile {
    name: &'static str,
    holds: &'static str,
    read: fn(&mut dyn Host, &str) -> Result<Array>,
    /// With the item type that was named, if one was.
    write: fn(&mut dyn Host, &str, &Array, Option<&str>) -> Result<()>,
}

static IMG: ArrayFile = ArrayFile {
    name: "IMG",
    holds: "a picture is rows and columns of numbers, or planes of them",
    read: |host, name| host.read_picture(name),
    write: |host, name, x, dtype| match dtype {
        None => host.write_picture(name, x),
        Some(_) => Err(misused("IMG", "a path, and 0 or 1")),
    },
};

/// A path and its flag, and the text that stands last behind them.
fn typed(y: &Array) -> (Array, Option<String>) {
    let split = |mut items: Vec<Array>| {
        let text = items.pop().and_then(|last| last.word());
        text.map(|text| (Array::items([items.len()].as_slice(), items, None), Some(text)))
    };
    let items: Option<Vec<Array>> = match y.len() {
        _ if y.is_simple() => None,
        2 => y.few::<2>().map(Vec::from),
        3 => y.few::<3>().map(Vec::from),
        _ => None,
    };
    match items.and_then(split) {
        Some(found) => found,
        None => (y.clone(), None),
    }
}

/// `⎕NPY ⎕ARROW`: arrays by name are those of a namespace.
fn arrays(ev: &mut Eval<'_>, a: &Args<'_>, format: Format, own: &str) -> Result<Option<Array>> {
    let Some(x) = a.x else {
        return match ev.cx.world("a file")?.read_arrays(format, &path(a.y)?)? {
            Arrays::One(array) => Ok(Some(array)),
            Arrays::Named(arrays) => {
                let space = ev.st.new_space(&format!("[{format:?}]"));
                for (name, array) in arrays {
                    let sym = ev.st.symbols.intern(&spelled(&name));
                    ev.set_member(&space.value(), sym, Value::Array(array))?;
                }
                Ok(Some(space.value()))
            }
        };
    };
    let (y, how) = typed(a.y);
    let (name, flag) = path_and_flag(&y, own, &[0, 1])?;
    if flag == 0 && ev.cx.world("a file")?.exists(&name) {
        return Err(taken(&name, &format!("X⎕{own} path 1 replaces it")));
    }
    let arrays = match Space::of(x) {
        None => Arrays::One(x.clone()),
        Some(space) => {
            let mut named = Vec::new();
            for (sym, v) in ev.st.members(&space) {
                if let Value::Array(array) = v {
                    let array = ev.cx.ready(&array, "file")?;
                    named.push((unspelled(&ev.st.symbols.name(sym)), array));
                }
            }
            Arrays::Named(named)
        }
    };
    ev.cx.world("a file")?.write_arrays(format, &name, &arrays, how.as_deref())?;
    Ok(None)
}

fn of_array(ev: &mut Eval<'_>, a: &Args<'_>, file: &ArrayFile) -> Result<Option<Array>> {
    let Some(x) = a.x else { return (file.read)(ev.cx.world("a file")?, &path(a.y)?).map(Some) };
    let (y, dtype) = typed(a.y);
    let (name, flag) = path_and_flag(&y, file.name, &[0, 1])?;
    match x.is_uniform() {
        true if flag == 0 && ev.cx.world("a file")?.exists(&name) => {
            Err(taken(&name, &format!("X⎕{} path 1 replaces it", file.name)))
        }
        true => (file.write)(ev.cx.world("a file")?, &name, x, dtype.as_deref()).map(|()| None),
        false => Err(domain(file.holds)),
    }
}

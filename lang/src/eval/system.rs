//! System names: variables, functions, files. One table says what each is.

use super::run::{At, Eval, Outcome};
use super::value::Value;
use crate::array::{Array, Buf, DType, Data};
use crate::error::{Result, domain, length, nonce, rank, syntax, value};
use crate::eval::host::{CsvColumn, CsvField, CsvOptions, CsvType};
use crate::syntax::resolve::Class;
use std::sync::Arc;

pub struct Row {
    pub name: &'static str,
    pub class: Class,
    pub help: &'static str,
}

const fn var(name: &'static str, help: &'static str) -> Row {
    Row { name, class: Class::Array, help }
}

const fn fun(name: &'static str, help: &'static str) -> Row {
    Row { name, class: Class::Func, help }
}

/// Every system name that is built; all others lex and answer NONCE ERROR.
pub static SYSTEM: &[Row] = &[
    var("IO", "The first index: 1 or 0."),
    var("CT", "Comparison tolerance."),
    var("PP", "Significant digits that print."),
    var("PW", "Columns that a line has."),
    var("ML", "Always 1."),
    var("RL", "The seed of ?; the same seed gives the same numbers."),
    var("DIV", "Always 0."),
    var("A", "The letters A to Z."),
    var("ARG", "The words behind the program's file, as texts."),
    var("D", "The digits 0 to 9."),
    fun("UCS", "Characters to code points and back."),
    fun("NC", "What a name is: 2 array, 3 function, 4 operator, 0 free."),
    fun("EX", "Frees names; 1 for each that is free now."),
    fun("C", "Folds case; 1⎕C upper, ¯1⎕C lower."),
    fun(
        "DR",
        "How an array is stored: 11 bool, 83 163 323 ints, 325 f32, 645 f64, 1289 complex, 320 text, 326 nested.",
    ),
    fun("AS", "'f32'⎕AS Y converts; also 'f64' 'i32' 'bool'."),
    fun("NGET", "The text of a file; Y is the path, or path and 1 for a vector of lines."),
    fun("NPUT", "X⎕NPUT path writes text."),
    fun("CSV", "Reads a CSV file: path, '' and a column type (1 text, 2 number, 4 either), 1 for a header row."),
    fun("NPY", "Reads a .npy file; X⎕NPY path writes one."),
    fun("SIGNAL", "'text'⎕SIGNAL n raises event n."),
    fun("OFF", "Leaves with exit code Y."),
];

pub fn class(name: &str) -> Option<Class> {
    SYSTEM.iter().find(|r| r.name == name).map(|r| r.class)
}

impl Eval<'_> {
    pub fn system_value(&mut self, name: &str) -> Result<Array> {
        let sys = &self.cx.sys;
        Ok(match name {
            "IO" => Array::num(sys.io),
            "CT" => Array::num(sys.ct),
            "PP" => Array::num(sys.pp as f64),
            "PW" => Array::num(sys.pw as f64),
            "ML" => Array::num(1.0),
            "DIV" => Array::num(0.0),
            "RL" => Array::num(sys.seed as f64),
            "A" => self.cx.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ")?,
            "D" => self.cx.text("0123456789")?,
            "ARG" => {
                let args = sys.args.clone();
                let words = args.iter().map(|word| self.cx.text(word)).collect::<Result<Vec<_>>>()?;
                let proto = self.cx.text("")?;
                self.cx.collect(&[words.len()], words, Some(proto))?
            }
            _ => return Err(nonce(format!("⎕{name}"))),
        })
    }

    pub fn set_system(&mut self, at: At<'_>, name: &str, v: &Array) -> Result<()> {
        let x = self.cx.numbers(v, &format!("⎕{name}"))?;
        let &[x] = x.as_slice() else { return Err(length(format!("⎕{name} is one number"))) };
        let wrong = |what: &str| Err(domain(format!("⎕{name} is {what}")));
        let whole = super::cx::near_integer(x, 1e-14);
        let sys = &mut *self.cx.sys;
        let old = match (name, whole) {
            ("IO", Some(0 | 1)) => std::mem::replace(&mut sys.io, x.round()),
            ("IO", _) => return wrong("0 or 1"),
            ("CT", _) if (0.0..=2f64.powi(-32)).contains(&x) => std::mem::replace(&mut sys.ct, x),
            ("CT", _) => return wrong("0 to 2*¯32"),
            ("PP", Some(n)) if (1..=17).contains(&n) => std::mem::replace(&mut sys.pp, n as usize) as f64,
            ("PP", _) => return wrong("1 to 17"),
            ("PW", Some(n)) if (30..=32_767).contains(&n) => std::mem::replace(&mut sys.pw, n as usize) as f64,
            ("PW", _) => return wrong("30 to 32767"),
            ("ML", Some(1)) | ("DIV", Some(0)) => return Ok(()),
            ("ML" | "DIV", _) => return Err(nonce(format!("another ⎕{name}"))),
            ("RL", Some(n)) if n >= 0 => {
                sys.drawn = 0;
                std::mem::replace(&mut sys.seed, n as u64) as f64
            }
            ("RL", _) => return wrong("a whole number of at least 0"),
            _ => return Err(syntax(format!("⎕{name} cannot be assigned"))),
        };
        if let Some(frame) = at.frame {
            let mut saved = frame.saved.borrow_mut();
            if name != "RL" && !saved.iter().any(|(n, _)| &**n == name) {
                saved.push((name.into(), old));
            }
        }
        Ok(())
    }

    pub fn restore_system(&mut self, name: &str, old: f64) {
        let sys = &mut *self.cx.sys;
        match name {
            "IO" => sys.io = old,
            "CT" => sys.ct = old,
            "PP" => sys.pp = old as usize,
            "PW" => sys.pw = old as usize,
            _ => {}
        }
    }

    pub fn system_call(&mut self, name: &str, x: Option<&Array>, y: &Array) -> Result<Outcome> {
        let y = self.cx.ready(y, "system function")?;
        let x = x.map(|x| self.cx.ready(x, "system function")).transpose()?;
        let x = x.as_ref();
        let a = match name {
            "UCS" => self.ucs(&y)?,
            "C" => self.case(x, &y)?,
            "DR" => Array::num(self.storage(&y)),
            "AS" => self.convert(x.ok_or_else(|| syntax("⎕AS needs the type on its left"))?, &y)?,
            "NC" => self.name_classes(&y, false)?,
            "EX" => self.name_classes(&y, true)?,
            "NGET" => self.read_text(&y)?,
            "NPUT" => {
                let text = x.ok_or_else(|| syntax("⎕NPUT needs the text on its left"))?;
                // `content` or `content encoding newline`: the content stands first when it is a list of lines itself.
                let first = text.to_items().first().cloned();
                let text = &first.filter(|f| text.rank() == 0 || !f.is_simple()).unwrap_or_else(|| text.clone());
                let lines: Option<Vec<String>> = if text.is_simple() {
                    text.to_text().map(|t| vec![t])
                } else {
                    text.to_items().iter().map(Array::to_text).collect()
                };
                let mut text = lines.ok_or_else(|| domain("⎕NPUT writes text"))?.join("\n");
                text.push('\n');
                // `path 1` overwrites.
                let (name, over) = if y.is_simple() {
                    (path(&y)?, false)
                } else {
                    let parts = y.to_items();
                    let over = parts.get(1).is_some_and(|a| a.number_scalar() == Some(1.0));
                    (path(parts.first().unwrap_or(&y))?, over)
                };
                if !over && self.cx.host.read_file(&name).is_ok() {
                    let says = format!("{name}: there is such a file already");
                    return Err(crate::error::Error::new(crate::error::Kind::FileName, says)
                        .hint("text ⎕NPUT path 1 overwrites"));
                }
                self.cx.host.write_file(&name, text.as_bytes())?;
                Array::num(text.len() as f64)
            }
            "NPY" => {
                let path = path(&y)?;
                match x {
                    None => self.cx.host.read_npy(&path)?,
                    Some(a) if a.is_uniform() => {
                        self.cx.host.write_npy(&path, a)?;
                        return Ok(Outcome::Nothing);
                    }
                    Some(_) => return Err(domain("a .npy file holds simple arrays")),
                }
            }
            "CSV" if x.is_none() => self.read_csv(&y)?,
            "SIGNAL" => return Err(self.signal(x, &y)),
            "OFF" => {
                let code = self.cx.one_integer(&y, "an exit code")?;
                self.cx.sys.exit = Some(code as i32);
                return Ok(Outcome::Nothing);
            }
            _ => return Err(nonce(format!("this use of ⎕{name}"))),
        };
        Ok(Outcome::Array(a))
    }

    fn signal(&mut self, x: Option<&Array>, y: &Array) -> crate::error::Error {
        use crate::error::Kind::*;
        let number = self.cx.one_integer(y, "an event number").unwrap_or(11);
        let kinds = [WsFull, Syntax, Index, Rank, Length, Value, Format, Limit, Domain, Nonce, FileAccess, FileName];
        let kind = kinds.into_iter().find(|k| i64::from(k.number()) == number).unwrap_or(Domain);
        let says = x.and_then(Array::to_text).unwrap_or_else(|| format!("event {number} was signalled"));
        crate::error::Error::new(kind, says)
    }

    fn ucs(&mut self, y: &Array) -> Result<Array> {
        if let Some(chars) = y.to_chars().filter(|_| y.is_char() || !y.is_empty()) {
            let codes = chars.into_iter().map(|c| f64::from(u32::from(c))).collect();
            return Array::numbers(y.shape(), codes, self.cx.budget());
        }
        let codes = self.cx.integers(y, "a code point")?;
        let chars: Option<Vec<char>> =
            codes.into_iter().map(|k| u32::try_from(k).ok().and_then(char::from_u32)).collect();
        Array::chars(y.shape(), chars.ok_or_else(|| domain("no character has this code point"))?, self.cx.budget())
    }

    fn case(&mut self, x: Option<&Array>, y: &Array) -> Result<Array> {
        let up = match x {
            None => false,
            Some(x) => match self.cx.one_integer(x, "the left argument of ⎕C")? {
                1 => true,
                -1 => false,
                _ => return Err(domain("the left argument of ⎕C is 1 or ¯1")),
            },
        };
        fn turned(a: &Array, up: bool, cx: &super::cx::Cx<'_>) -> Result<Array> {
            let one = |c: char| {
                let mut many = c.to_uppercase();
                if up {
                    many.next().filter(|_| many.len() == 0).unwrap_or(c)
                } else {
                    c.to_lowercase().next().unwrap_or(c)
                }
            };
            match a.data() {
                Data::Items(i) => {
                    let items: Result<Vec<_>> = i.all().iter().map(|a| turned(a, up, cx)).collect();
                    Ok(Array::items(a.shape(), items?, i.proto.clone()))
                }
                _ if a.is_char() => Array::chars(
                    a.shape(),
                    a.to_chars().unwrap_or_default().into_iter().map(one).collect(),
                    cx.budget(),
                ),
                _ => Ok(a.clone()),
            }
        }
        turned(y, up, &self.cx)
    }

    fn storage(&self, y: &Array) -> f64 {
        match y.dtype() {
            DType::Bool => 11.0,
            DType::I8 => 83.0,
            DType::I16 => 163.0,
            DType::I32 => 323.0,
            DType::F32 => 325.0,
            DType::F64 => 645.0,
            DType::Complex => 1289.0,
            DType::Char => {
                let most = y.to_chars().unwrap_or_default().into_iter().map(u32::from).max().unwrap_or(0);
                if most < 256 {
                    80.0
                } else if most < 65_536 {
                    160.0
                } else {
                    320.0
                }
            }
            DType::Nested => 326.0,
        }
    }

    fn convert(&mut self, x: &Array, y: &Array) -> Result<Array> {
        let to = x.to_text().unwrap_or_default();
        let dtype = [DType::Bool, DType::I8, DType::I16, DType::I32, DType::F32, DType::F64]
            .into_iter()
            .find(|d| d.name() == to);
        let dtype = dtype.ok_or_else(|| domain("⎕AS converts to 'f32' 'f64' 'i32' 'i16' 'i8' 'bool'"))?;
        let items = self.cx.numbers(y, "the argument of ⎕AS")?;
        if let Some((lo, hi)) = dtype.range()
            && items.iter().any(|&x| x != x.trunc() || x < lo || x > hi)
        {
            return Err(domain(format!("not all of these numbers are of type {to}")));
        }
        if y.rank() == 0 {
            return Ok(Array::num(if dtype == DType::F32 { f64::from(items[0] as f32) } else { items[0] }));
        }
        Ok(Array::dense(y.shape(), Arc::new(Buf::stored(&items, dtype, self.cx.budget())?)))
    }

    fn name_classes(&mut self, y: &Array, erase: bool) -> Result<Array> {
        let names: Vec<Option<String>> =
            if y.is_simple() { vec![y.to_text()] } else { y.to_items().iter().map(Array::to_text).collect() };
        let mut out = Vec::with_capacity(names.len());
        for name in names {
            let name = name.ok_or_else(|| domain("a name is text"))?;
            let sym = self.st.symbols.find(name.trim());
            if erase {
                if let Some(sym) = sym {
                    self.set_global(sym, None);
                }
                out.push(1.0);
                continue;
            }
            let valid = name.chars().next().is_some_and(crate::syntax::token::is_name_start);
            out.push(match sym.and_then(|s| self.st.globals.get(s)) {
                Some(Value::Array(_)) => 2.0,
                Some(Value::Func(_)) => 3.0,
                Some(Value::Oper(_)) => 4.0,
                None if valid => 0.0,
                None => -1.0,
            });
        }
        if y.is_simple() { Ok(Array::num(out[0])) } else { self.cx.vector(out) }
    }

    fn read_text(&mut self, y: &Array) -> Result<Array> {
        let (name, lines) = match y.data() {
            Data::Items(i) if i.all().len() == 2 => (i.at(0), i.at(1).number_scalar() == Some(1.0)),
            _ => (y.clone(), false),
        };
        let path = path(&name)?;
        let bytes = self.cx.host.read_file(&path)?;
        let text = String::from_utf8(bytes).map_err(|_| domain(format!("{path} is no UTF-8 text")))?;
        if !lines {
            return self.cx.text(&text);
        }
        let mut out = Vec::new();
        for line in text.lines() {
            out.push(self.cx.text(line)?);
        }
        let proto = self.cx.text("")?;
        self.cx.collect(&[out.len()], out, Some(proto))
    }

    fn read_csv(&mut self, y: &Array) -> Result<Array> {
        let args = if y.is_simple() { vec![y.clone()] } else { y.to_items() };
        let path = path(&args[0])?;
        let types = match args.get(2) {
            None => vec![CsvType::Text],
            Some(a) => {
                let mut out = Vec::new();
                for k in self.cx.integers(a, "a column type")? {
                    out.push(match k {
                        1 => CsvType::Text,
                        2 => CsvType::Number,
                        4 => CsvType::Either,
                        _ => return Err(domain("a column type is 1 text, 2 number or 4 either")),
                    });
                }
                out
            }
        };
        let header = match args.get(3) {
            Some(a) => self.cx.one_integer(a, "the header flag")? == 1,
            None => false,
        };
        let table = self.cx.host.read_csv(&path, &CsvOptions { types, header, separator: ',' })?;
        let (rows, columns) = (table.rows, table.columns.len());
        let numeric: Option<Vec<&Vec<f64>>> =
            table.columns.iter().map(|c| if let CsvColumn::Numbers(v) = c { Some(v) } else { None }).collect();
        let data = match numeric {
            Some(all) if columns > 0 => {
                let mut out = Vec::with_capacity(rows * columns);
                (0..rows).for_each(|r| all.iter().for_each(|c| out.push(c[r])));
                Array::numbers([rows, columns].as_slice(), out, self.cx.budget())?
            }
            _ => {
                let mut out = Vec::with_capacity(rows * columns);
                for r in 0..rows {
                    for c in &table.columns {
                        out.push(match c {
                            CsvColumn::Numbers(v) => Array::num(v[r]),
                            CsvColumn::Text(v) => self.cx.text(&v[r])?,
                            CsvColumn::Mixed(v) => match &v[r] {
                                CsvField::Number(x) => Array::num(*x),
                                CsvField::Text(t) => self.cx.text(t)?,
                            },
                        });
                    }
                }
                self.cx.collect(&[rows, columns], out, None)?
            }
        };
        if !header {
            return Ok(data);
        }
        let mut names = Vec::new();
        for name in &table.header {
            names.push(self.cx.text(name)?);
        }
        let names = self.cx.collect(&[names.len()], names, None)?;
        self.cx.collect(&[2], vec![data, names], None)
    }
}

fn path(y: &Array) -> Result<String> {
    if y.rank() > 1 {
        return Err(rank("a path is text"));
    }
    let text = y.to_text().ok_or_else(|| domain("a path is text"))?;
    if text.is_empty() { Err(value("a path is needed")) } else { Ok(text) }
}

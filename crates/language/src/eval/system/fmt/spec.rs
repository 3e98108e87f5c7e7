//! The format specification: phrases between commas, groups, repetition, qualifiers.

use super::failed;
use aplomb_ground::error::Result;

/// Characters in a row, at most.
pub const WIDEST: usize = 32_767;

/// Phrases after repetition, at most.
const MOST: usize = 10_000;

#[derive(Clone, Debug, PartialEq)]
pub enum Phrase {
    /// Takes a column. `last`: a group ends behind it.
    Data {
        data: Data,
        last: bool,
    },
    Text(String),
    /// `Tn`
    To(usize),
    /// `Xn`
    By(i64),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Character,
    Integer,
    /// So many decimals.
    Decimal(usize),
    /// So many significant digits.
    Scaled(usize),
    Pattern(Vec<char>),
}

/// The way in which a column is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    pub kind: Kind,
    pub width: usize,
    pub blank_zero: bool,
    pub commas: bool,
    pub left: bool,
    pub zeros: bool,
    /// A power of ten.
    pub scale: i32,
    /// Texts for values.
    pub instead: Vec<(f64, String)>,
    /// Marks and what stands for them.
    pub marks: Vec<(char, char)>,
    /// Before and behind negative numbers, before and behind others.
    pub around: [Option<String>; 4],
    pub background: Option<String>,
}

impl Default for Data {
    fn default() -> Self {
        Data {
            kind: Kind::Integer,
            width: 0,
            blank_zero: false,
            commas: false,
            left: false,
            zeros: false,
            scale: 0,
            instead: Vec::new(),
            marks: Vec::new(),
            around: [None, None, None, None],
            background: None,
        }
    }
}

impl Data {
    /// The character that stands for a standard mark.
    pub fn mark(&self, standard: char) -> char {
        self.marks.iter().find(|m| m.0 == standard).map_or(standard, |m| m.1)
    }
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

/// Errors: FORMAT, with where reading stopped.
pub fn parse(text: &str) -> Result<Vec<Phrase>> {
    let mut r = Reader { chars: text.chars().collect(), at: 0 };
    let phrases = r.list(0)?;
    match r.peek() {
        None => Ok(phrases),
        Some(_) => Err(r.stuck()),
    }
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    fn blanks(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    fn stuck(&self) -> aplomb_ground::error::Error {
        let rest: String = self.chars[self.at.min(self.chars.len())..].iter().take(12).collect();
        let near = if rest.is_empty() { "its end".into() } else { format!("'{rest}'") };
        failed(format!("the format cannot be read at {near}"))
    }

    fn digits(&mut self) -> Option<usize> {
        let from = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.chars[from..self.at].iter().collect::<String>().parse().ok()
    }

    fn count(&mut self, most: usize) -> Result<usize> {
        self.digits().filter(|n| *n <= most).ok_or_else(|| self.stuck())
    }

    fn negative(&mut self) -> bool {
        let minus = matches!(self.peek(), Some('¯' | '-'));
        self.at += usize::from(minus);
        minus
    }

    /// Text between `< >`, `⊂ ⊃`, or two equal marks.
    fn text(&mut self) -> Result<String> {
        let close = match self.next() {
            Some('<') => '>',
            Some('⊂') => '⊃',
            Some(c @ ('⎕' | '¨' | '⍞' | '"' | '/')) => c,
            _ => {
                self.at = self.at.saturating_sub(1);
                return Err(self.stuck());
            }
        };
        let from = self.at;
        while let Some(c) = self.next() {
            if c == close {
                return Ok(self.chars[from..self.at - 1].iter().collect());
            }
        }
        Err(failed(format!("a text of the format is not closed by {close}")))
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Phrase>> {
        if depth > 50 {
            return Err(failed("the format nests too deep"));
        }
        let mut out: Vec<Phrase> = Vec::new();
        loop {
            self.blanks();
            let times = self.digits().unwrap_or(1);
            let made = if self.peek() == Some('(') {
                self.at += 1;
                let mut inner = self.list(depth + 1)?;
                if self.next() != Some(')') {
                    self.at = self.at.saturating_sub(1);
                    return Err(self.stuck());
                }
                if let Some(Phrase::Data { last, .. }) = inner.last_mut() {
                    *last = true;
                }
                inner
            } else {
                vec![self.phrase()?]
            };
            if made.len().saturating_mul(times).saturating_add(out.len()) > MOST {
                return Err(failed("the format has too many phrases"));
            }
            for _ in 0..times {
                out.extend(made.iter().cloned());
            }
            self.blanks();
            if self.peek() != Some(',') {
                return Ok(out);
            }
            self.at += 1;
        }
    }

    fn phrase(&mut self) -> Result<Phrase> {
        let mut data = Data::default();
        loop {
            let Some(c) = self.peek() else { return Err(self.stuck()) };
            if matches!(c, '<' | '⊂' | '⎕' | '¨' | '⍞' | '"') {
                return self.text().map(Phrase::Text);
            }
            self.at += 1;
            match c {
                'B' => data.blank_zero = true,
                'C' => data.commas = true,
                'L' => data.left = true,
                'Z' => data.zeros = true,
                'K' => {
                    let minus = self.negative();
                    let n = self.count(300)? as i32;
                    data.scale = if minus { -n } else { n };
                }
                'O' => {
                    let from = self.at;
                    while self.peek().is_some_and(|c| c.is_ascii_digit() || ".¯-E".contains(c)) {
                        self.at += 1;
                    }
                    let word: String =
                        self.chars[from..self.at].iter().collect::<String>().replace('¯', "-");
                    let x = if word.is_empty() { Some(0.0) } else { word.parse().ok() };
                    let x = x.ok_or_else(|| self.stuck())?;
                    data.instead.push((x, self.text()?));
                }
                'S' => {
                    let pairs: Vec<char> = self.text()?.chars().collect();
                    if !pairs.len().is_multiple_of(2) {
                        return Err(failed("S takes pairs of characters"));
                    }
                    data.marks = pairs.chunks(2).map(|p| (p[0], p[1])).collect();
                }
                c if let Some(affix) = "MNPQ".find(c) => data.around[affix] = Some(self.text()?),
                'R' => data.background = Some(self.text()?),
                'T' => return self.count(WIDEST).map(Phrase::To),
                'X' => {
                    let minus = self.negative();
                    let n = self.count(WIDEST)? as i64;
                    return Ok(Phrase::By(if minus { -n } else { n }));
                }
                'A' | 'I' => {
                    data.width = self.count(WIDEST)?;
                    data.kind = if c == 'A' { Kind::Character } else { Kind::Integer };
                    return Ok(Phrase::Data { data, last: false });
                }
                'F' | 'E' => {
                    data.width = self.count(WIDEST)?;
                    if self.next() != Some('.') {
                        self.at = self.at.saturating_sub(1);
                        return Err(self.stuck());
                    }
                    let d = self.count(WIDEST)?;
                    if d > data.width.saturating_sub(2) {
                        return Err(failed(format!(
                            "{c}{}.{d} leaves no room before the point",
                            data.width
                        )));
                    }
                    data.kind = if c == 'F' { Kind::Decimal(d) } else { Kind::Scaled(d.max(1)) };
                    return Ok(Phrase::Data { data, last: false });
                }
                'G' => {
                    let pattern: Vec<char> = self.text()?.chars().collect();
                    data.width = pattern.len();
                    data.kind = Kind::Pattern(pattern);
                    return Ok(Phrase::Data { data, last: false });
                }
                _ => {
                    self.at -= 1;
                    return Err(self.stuck());
                }
            }
        }
    }
}

//! The declaration of a function's arguments: `f64[n,3] f64[3]`, a left one and a right one.
//!
//! Parentheses make a vector of arrays: `(f64[n] f64[n]) bool[n]`. A letter is an extent that is
//! free; the same letter is the same extent. A type alone is a scalar.

use aplomb_ground::error::{Error, domain};
use aplomb_values::array::DType;

/// The arguments of a function: the right one, or the left one and the right one.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// The text that was read.
    pub text: String,
    /// The arguments in the order of the text.
    pub arguments: Vec<Argument>,
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// An array.
    One(Leaf),
    /// A vector of arrays.
    Several(Vec<Argument>),
}

/// An array: its type and its extents.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// The type of its items.
    pub dtype: DType,
    /// The extents of its axes.
    pub extents: Vec<Extent>,
}

/// An extent of an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Extent {
    /// A number.
    Fixed(usize),
    /// A name: any number.
    Free(String),
}

/// The types that arguments may have.
const TYPES: &[DType] = &[DType::F64, DType::F32, DType::I32, DType::I16, DType::I8, DType::Bool];

/// The most free extents: each doubles the sizes at which a function is recorded.
pub const MOST_FREE: usize = 3;

impl Declaration {
    /// Reads a declaration. Errors: DOMAIN, which says what was expected.
    pub fn parse(text: &str) -> Result<Declaration, Error> {
        let mut reader = Reader { rest: text };
        let arguments = reader.list(text)?;
        let declaration = Declaration { text: text.trim().into(), arguments };
        match () {
            () if !reader.rest.is_empty() => Err(wrong(text, "a ) closes nothing")),
            () if !(1..=2).contains(&declaration.arguments.len()) => {
                let n = declaration.arguments.len();
                Err(wrong(text, &format!("a function takes one argument or two, not {n}")))
            }
            () if declaration.free().len() > MOST_FREE => {
                Err(wrong(text, &format!("at most {MOST_FREE} extents may be free")))
            }
            () => Ok(declaration),
        }
    }

    /// The declaration of these arguments.
    pub fn of(arguments: Vec<Argument>) -> Declaration {
        Declaration { text: listed(&arguments), arguments }
    }

    /// All arrays of the arguments.
    pub fn leaves(&self) -> Vec<&Leaf> {
        fn walk<'a>(of: &'a [Argument], out: &mut Vec<&'a Leaf>) {
            for argument in of {
                match argument {
                    Argument::One(leaf) => out.push(leaf),
                    Argument::Several(more) => walk(more, out),
                }
            }
        }
        let mut out = Vec::new();
        walk(&self.arguments, &mut out);
        out
    }

    /// The names of the free extents, in the order in which they come.
    pub fn free(&self) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for extent in self.leaves().into_iter().flat_map(|leaf| &leaf.extents) {
            if let Extent::Free(name) = extent
                && !out.contains(name)
            {
                out.push(name.clone());
            }
        }
        out
    }

    /// The sizes at which a function is recorded, an extent for each free name: a grid of two for
    /// each, then two more that say whether what the grid tells is true elsewhere. They are large,
    /// so that what follows from an extent (`⍳n`) is recorded and not computed.
    pub fn samples(&self) -> Vec<Vec<usize>> {
        let free = self.free().len();
        let at = |row: usize, j: usize| 1012 + 10 * j + [0, 7, 17, 28][row] + j * row;
        let grid = (0..1usize << free).map(|s| (0..free).map(|j| at(s >> j & 1, j)).collect());
        let more = [2, 3].map(|row| (0..free).map(|j| at(row, j)).collect());
        grid.chain(more.into_iter().filter(|_| free > 0)).collect()
    }

    /// The shape of an array of the arguments at one of the samples.
    pub fn shape(&self, leaf: &Leaf, sizes: &[usize]) -> Vec<usize> {
        let free = self.free();
        let size = |extent: &Extent| match extent {
            Extent::Fixed(n) => *n,
            Extent::Free(name) => free.iter().zip(sizes).filter(|f| f.0 == name).map(|f| f.1).sum(),
        };
        leaf.extents.iter().map(size).collect()
    }
}

/// Arguments as they are declared.
fn listed(arguments: &[Argument]) -> String {
    let extent = |e: &Extent| match e {
        Extent::Fixed(n) => n.to_string(),
        Extent::Free(name) => name.clone(),
    };
    let one = |a: &Argument| match a {
        Argument::One(leaf) if leaf.extents.is_empty() => leaf.dtype.name().to_string(),
        Argument::One(leaf) => {
            let extents: Vec<String> = leaf.extents.iter().map(extent).collect();
            format!("{}[{}]", leaf.dtype.name(), extents.join(","))
        }
        Argument::Several(more) => format!("({})", listed(more)),
    };
    arguments.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn wrong(text: &str, says: &str) -> Error {
    domain(format!("the declaration “{text}”: {says}"))
        .hint("such as 'f64[n,3] f64[3]': types f64 f32 i32 i16 i8 bool, extents in brackets")
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    /// Arguments up to the end or a closing parenthesis.
    fn list(&mut self, text: &str) -> Result<Vec<Argument>, Error> {
        let mut out = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.chars().next() {
                None | Some(')') => return Ok(out),
                Some('(') => {
                    self.rest = &self.rest[1..];
                    let inner = self.list(text)?;
                    let rest = self.rest.strip_prefix(')');
                    self.rest = rest.ok_or_else(|| wrong(text, "a ( is not closed"))?;
                    match inner.is_empty() {
                        true => return Err(wrong(text, "() holds no array")),
                        false => out.push(Argument::Several(inner)),
                    }
                }
                Some(_) => out.push(Argument::One(self.leaf(text)?)),
            }
        }
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (word, rest) = match end {
            Some(end) => self.rest.split_at(end),
            None => (self.rest, ""),
        };
        self.rest = rest;
        word
    }

    fn leaf(&mut self, text: &str) -> Result<Leaf, Error> {
        let word = self.word();
        let dtype = TYPES.iter().find(|d| d.name() == word).copied();
        let dtype = dtype.ok_or_else(|| {
            let shown: String =
                if word.is_empty() { self.rest.chars().take(1).collect() } else { word.into() };
            wrong(text, &format!("{shown} is no type"))
        })?;
        let Some(inside) = self.rest.strip_prefix('[') else {
            return Ok(Leaf { dtype, extents: Vec::new() });
        };
        let (inside, rest) =
            inside.split_once(']').ok_or_else(|| wrong(text, "a [ is not closed"))?;
        self.rest = rest;
        let extents = inside.split(',').map(|word| extent(text, word.trim()));
        Ok(Leaf { dtype, extents: extents.collect::<Result<_, _>>()? })
    }
}

fn extent(text: &str, word: &str) -> Result<Extent, Error> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if let Ok(n) = word.parse::<usize>() {
        return match n {
            1..=65_536 => Ok(Extent::Fixed(n)),
            _ => Err(wrong(text, &format!("an extent of {n} is not 1 to 65536"))),
        };
    }
    match word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(plain) {
        true => Ok(Extent::Free(word.into())),
        false => Err(wrong(text, &format!("“{word}” is no extent: a number, or a small letter"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_is_types_with_extents() {
        let read = Declaration::parse("(f64[n,3] f64) bool[n,k]").unwrap();
        assert_eq!(read.free(), ["n", "k"]);
        assert_eq!(read.leaves().len(), 3);
        assert_eq!(read.shape(read.leaves()[0], &[7, 9]), [7, 3]);
        assert_eq!(read.shape(read.leaves()[2], &[7, 9]), [7, 9]);
        assert_eq!(read.samples().len(), 6);
        assert_eq!(Declaration::of(read.arguments.clone()), read);
        assert_eq!(Declaration::parse("f64[4]").unwrap().samples(), [Vec::<usize>::new()]);
    }

    /// Sizes that met would hide which extent a number comes from.
    #[test]
    fn no_two_extents_have_one_size() {
        let read = Declaration::parse("f64[n,m,k]").unwrap();
        for sizes in read.samples() {
            assert!(sizes[0] != sizes[1] && sizes[1] != sizes[2] && sizes[0] != sizes[2]);
        }
    }

    #[test]
    fn what_is_none_is_told() {
        for (text, says) in [
            ("", "not 0"),
            ("f65[n]", "f65 is no type"),
            ("f64[n", "[ is not closed"),
            ("(f64[n]", "( is not closed"),
            ("f64[n])", ") closes nothing"),
            ("f64[N]", "“N” is no extent"),
            ("f64[0]", "an extent of 0"),
            ("f64 f64 f64", "not 3"),
            ("f64[a,b,c,d]", "at most 3"),
            ("() f64", "() holds no array"),
        ] {
            let error = Declaration::parse(text).unwrap_err();
            assert!(error.parts().says.contains(says), "{text}: {error}");
        }
    }
}

//! Random expressions: well-shaped mostly, failing now and then. The scalar functions come from
//! `PRIMS`.

use crate::support::Dice;
use aplomb_language::table::{Does, prims};

/// The names that the expressions speak of, with their values.
pub const SETUP: &str = "A←¯3 1 4 1.5 9 2.5 ⋄ C←1J2 ¯1 0J1 3 0.5J¯0.5 2 ⋄ B←1+⍳6 ⋄ P←0.5 2 1.25 3 \
                         0.75 8 ⋄ L←0 1 1 0 1 0 ⋄ M←2 3⍴1.5 ¯2 3 4 0.25 6 ⋄ N←2 3⍴L";

/// A term and its shape.
pub type Term = (String, Vec<usize>);

pub struct Grammar {
    pub one: Vec<char>,
    pub two: Vec<char>,
    pub scalars: [&'static str; 4],
}

impl Grammar {
    pub fn from_table() -> Grammar {
        let scalar = |m: &Option<aplomb_language::table::Meaning>| {
            m.as_ref().is_some_and(|m| matches!(m.does, Does::Scalar(_)))
        };
        // Logic wants booleans and is asked for by name below.
        let logic = |c: char| "∧∨⍲⍱~!".contains(c);
        Grammar {
            one: prims()
                .filter(|p| scalar(&p.monadic) && !logic(p.glyph))
                .map(|p| p.glyph)
                .collect(),
            two: prims()
                .filter(|p| scalar(&p.dyadic) && !logic(p.glyph))
                .map(|p| p.glyph)
                .collect(),
            scalars: ["2", "0.5", "¯1.5", "3"],
        }
    }

    pub fn term(&self, dice: &mut Dice, depth: usize) -> Term {
        if depth == 0 {
            return match dice.roll(9) {
                0 => ("M".into(), vec![2, 3]),
                1 => ("(⍳6)".into(), vec![6]),
                2 => (self.scalars[dice.roll(4)].into(), vec![]),
                3 => ("L".into(), vec![6]),
                4 => ("N".into(), vec![2, 3]),
                5 => ("B".into(), vec![6]),
                6 => ("P".into(), vec![6]),
                7 if dice.roll(4) == 0 => ("C".into(), vec![6]),
                _ => ("A".into(), vec![6]),
            };
        }
        let (x, shape) = self.term(dice, depth - 1);
        match dice.roll(22) {
            0 | 1 => (format!("({}{x})", dice.pick(&self.one)), shape),
            2..=5 => self.pair(dice, depth, x, shape),
            6 if !shape.is_empty() => (format!("(⌽{x})"), shape),
            7 if shape.len() == 2 => (format!("(⍉{x})"), vec![shape[1], shape[0]]),
            7 => (format!("(2 3⍴{x})"), vec![2, 3]),
            8 if !shape.is_empty() => {
                let k = dice.roll(5) as i64 - 2;
                (format!("({}⌽{x})", k.to_string().replace('-', "¯")), shape)
            }
            9 if shape.len() == 1 && shape[0] > 1 => self.part(dice, x, shape),
            9 if shape.len() == 2 => (format!("(,{x})"), vec![shape[0] * shape[1]]),
            10 | 11 if !shape.is_empty() => self.fold(dice, x, shape),
            12 if !shape.is_empty() => self.joined(dice, depth, x, shape),
            13 if !shape.is_empty() => {
                let op = dice.pick(&["+\\", "-\\", "×\\", "⌈\\", "+⍀", "⌊⍀"]);
                (format!("({op}{x})"), shape)
            }
            14 if shape.len() == 1 => self.indexed(dice, depth, x, shape[0]),
            15 if !shape.is_empty() => self.selected(dice, depth, x, shape),
            16 if !shape.is_empty() => {
                let body =
                    ["0.5×⍵+A", "1+⍵", "⍵÷2", "÷⍵", "⍵⌈B-⍵", "(⍵>1)×⍵-1", "{⍵>1:⍵÷2 ⋄ 1-⍵}¨⍵"]
                        [dice.roll(7)];
                let own = if shape == [6] { body.into() } else { body.replace(['A', 'B'], "2") };
                (format!("({{{own}}}⍣{}⊢{x})", 2 + dice.roll(3)), shape)
            }
            // Each cell ends its loop by itself.
            20 if !shape.is_empty() => {
                let f = dice.pick(&[
                    "{0.5×⍵}⍣{⍺<1}",
                    "{1+÷⍵}⍣=",
                    "{⍵÷2}⍣3",
                    "{⌊⍵÷2}⍣≡",
                    "{2⊃{(a n)←⍵ ⋄ (a÷2)(n+1)}⍣{(1>|⊃⍺)∨9<2⊃⍺}⊢⍵ 0}",
                    "{c←⍵ ⋄ {0.5×⍵+c}⍣{1>⍺-⍵}⊢1}",
                    "{+/{⍵÷2 3}⍣2⊢⍵ 1}",
                    "{(⊃⌽{(1+⊃⍵)(+/⍵)}⍣{3<⊃⍺}⊢1,⍵)÷⍵}",
                ]);
                (format!("({f}¨{x})"), shape)
            }
            17 | 18 if !shape.is_empty() => self.ordered(dice, x, shape),
            19 if shape.len() == 1 && shape[0] > 1 => self.whole(dice, depth, x, shape[0]),
            21 if !shape.is_empty() => self.defined(dice, depth, x, shape),
            _ => (format!("(-{x})"), shape),
        }
    }

    /// A fold by what no table calls associative.
    fn ordered(&self, dice: &mut Dice, x: String, mut shape: Vec<usize>) -> Term {
        let f = dice.pick(&[
            "{⍺+0.5×⍵}",
            "{⍵-⍺}",
            "{⍺⌈1+⍵}",
            "{(⍺×0.5)÷1+⍵}",
            "÷",
            "|",
            "{⍵}",
            "{2}",
            "{⍺>⍵}",
            "{⍺>⍵:⍺ ⋄ 2×⍵}",
            "{⍵=0:⍺ ⋄ ⍺÷⍵}",
        ]);
        shape.pop();
        (format!("({f}/{x})"), shape)
    }

    /// A term that has a definition by other functions, and names that the dfn gives a class.
    fn defined(&self, dice: &mut Dice, depth: usize, x: String, mut shape: Vec<usize>) -> Term {
        let f = dice.pick(&["+", "⌈", "-", "{⍺+0.5×⍵}"]);
        let g = dice.pick(&["×", "{⍺×⍵}", "(×⍨-)", "{⍺≥⍵:⍺ ⋄ ⍵}", "(2+⌊)", "⊢", "(-⍥|)", "≡"]);
        let scan = dice.pick(&["<", "≤", "=", "≥", ">", "≠", "÷"]);
        match dice.roll(6) {
            0 => {
                let (y, other) = self.term(dice, depth - 1);
                let y = if other == shape { y } else { x.clone() };
                let last = shape.pop().unwrap_or(1);
                if shape.is_empty() {
                    return (format!("({x} {f}.{g} {y})"), shape);
                }
                (format!("({x} {f}.{g} ⍉{last}↑⍤1⊢{y})"), vec![shape[0], shape[0]])
            }
            1 => {
                let last = shape.pop().unwrap_or(1);
                shape.push(2);
                (format!("({x} {f}.{g} {last} 2⍴A)"), shape)
            }
            2 | 3 => (format!("({scan}\\{x})"), shape),
            4 => (format!("((0.1×⌊{x}){}0.3)", dice.pick(&["∨", "∧"])), shape),
            _ => (format!("({{(A+A[1])×A←⍵}}{x})").replace("A[1]", "(⊃,A)"), shape),
        }
    }

    /// A term that needs all of a vector.
    fn whole(&self, dice: &mut Dice, depth: usize, x: String, n: usize) -> Term {
        let (y, other) = self.term(dice, depth - 1);
        match dice.roll(9) {
            0 => (format!("(⍋{x})"), vec![n]),
            1 => (format!("({{⍵[⍒⍵]}}{x})"), vec![n]),
            2 => (format!("({x}⍳{y})"), other),
            3 => (format!("({y}∊{x})"), other),
            4 => (
                format!("({}/¨({n}⍴1 0 0 1)⊂{x})", dice.pick(&["+", "⌈", "×"])),
                vec![n.div_ceil(4) + n / 4],
            ),
            5 => (format!("({}/({x}>1)/{x})", dice.pick(&["+", "⌈", "×"])), vec![]),
            6 if !other.is_empty() => (format!("({{Q←{x} ⋄ Q[1+{n}|⌊{y}]←{y} ⋄ Q}}⍬)"), vec![n]),
            7 if !other.is_empty() => (format!("({{Q←{x} ⋄ Q[1+{n}|⌊{y}]+←0.5 ⋄ Q}}⍬)"), vec![n]),
            _ => (format!("((⌽{x})[1+{n}|⌊{y}])"), other),
        }
    }

    fn pair(&self, dice: &mut Dice, depth: usize, x: String, shape: Vec<usize>) -> Term {
        for _ in 0..8 {
            let (y, other) = self.term(dice, depth - 1);
            if other == shape || other.is_empty() || shape.is_empty() {
                let out = if shape.is_empty() { other } else { shape };
                return (format!("({x}{}{y})", dice.pick(&self.two)), out);
            }
        }
        // Sharing: the same text twice.
        (format!("({x}+{x})"), shape)
    }

    /// Two terms one after the other, or a term and a scalar.
    fn joined(&self, dice: &mut Dice, depth: usize, x: String, shape: Vec<usize>) -> Term {
        let (y, other) = self.term(dice, depth - 1);
        let fits = other.is_empty() || other.len() == shape.len() && other[1..] == shape[1..];
        let y = if fits { y } else { "5".into() };
        let more = if fits && !other.is_empty() { other[0] } else { 1 };
        let mut out = shape;
        out[0] += more;
        (if dice.roll(2) == 0 { format!("({x}⍪{y})") } else { format!("({y}⍪{x})") }, out)
    }

    /// Places that are values: some beyond the end.
    fn indexed(&self, dice: &mut Dice, depth: usize, x: String, n: usize) -> Term {
        let (y, other) = self.term(dice, depth - 1);
        let places = match dice.roll(8) {
            0 => format!("1+{y}>1"),
            1 => "B".into(),
            2 => format!("⌽⍳{n}"),
            3 => return (format!("(({x})[1+L])"), vec![6]),
            4 if n > 1 => return (format!("(M[1+L;1+(×{x})>0])"), vec![6, n]),
            _ => return (format!("(({x})[1+{n}|⌊{y}])"), other),
        };
        let shape = match places.as_str() {
            "B" => vec![6],
            text if text.starts_with('⌽') => vec![n],
            _ => other,
        };
        (format!("(({x})[{places}])"), shape)
    }

    /// Selections by a mask, folded, for only then is the shape known.
    fn selected(&self, dice: &mut Dice, depth: usize, x: String, shape: Vec<usize>) -> Term {
        match (dice.roll(3), shape.as_slice()) {
            (0, [6]) => (format!("(L/{x})"), vec![3]),
            (0, [2, 3]) => (format!("(0 1⌿{x})"), vec![1, 3]),
            (_, [n]) => {
                let (y, other) = self.term(dice, depth - 1);
                let mask = if other == [*n] { format!("0<{y}") } else { format!("1<{x}") };
                (format!("(+/({mask})/{x})"), vec![])
            }
            _ => (format!("(,{x})"), vec![shape.iter().product()]),
        }
    }

    fn part(&self, dice: &mut Dice, x: String, shape: Vec<usize>) -> Term {
        let n = shape[0];
        match dice.roll(4) {
            0 => (format!("({}↑{x})", n - 1), vec![n - 1]),
            1 => (format!("(1↓{x})"), vec![n - 1]),
            2 => (format!("({}↑{x})", n + 2), vec![n + 2]),
            _ => (format!("(¯{}↑{x})", n + 1), vec![n + 1]),
        }
    }

    fn fold(&self, dice: &mut Dice, x: String, shape: Vec<usize>) -> Term {
        let op = dice.pick(&["+", "×", "⌈", "⌊"]);
        if dice.roll(3) == 0 {
            (format!("({op}⌿{x})"), shape[1..].to_vec())
        } else {
            (format!("({op}/{x})"), shape[..shape.len() - 1].to_vec())
        }
    }
}

//! A value in Python: its text and the kind of its items.

use crate::fit;
use aplomb_values::array::DType;

/// The kind of items: numbers are floats, whatever stores them here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Truth values.
    Bool,
    /// Floats of 32 bits.
    F32,
    /// Floats of 64 bits.
    F64,
}

impl Kind {
    /// The kind that a type of ours has.
    pub fn of(dtype: DType) -> Kind {
        match dtype {
            DType::Bool => Kind::Bool,
            DType::F32 => Kind::F32,
            _ => Kind::F64,
        }
    }

    /// The name in the array API.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::F32 => "float32",
            Kind::F64 => "float64",
        }
    }
}

/// A value: an array, or a number of the text.
#[derive(Clone, Debug)]
pub struct Value {
    /// The expression.
    pub text: String,
    /// The kind of its items.
    pub kind: Kind,
    atom: bool,
    literal: Option<f64>,
}

impl Value {
    /// A name, a call, or what else needs no parentheses.
    pub fn atom(text: impl Into<String>, kind: Kind) -> Value {
        Value { text: text.into(), kind, atom: true, literal: None }
    }

    /// An expression: whether it needs parentheses shows in its text.
    pub fn expression(text: String, kind: Kind) -> Value {
        let (mut depth, mut atom) = (0i32, true);
        for c in text.chars() {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                ' ' | '-' | '~' if depth == 0 => atom = false,
                _ => {}
            }
        }
        Value { text, kind, atom, literal: None }
    }

    /// A number of the program.
    pub fn number(x: f64) -> Value {
        Value { text: fit::number(x), kind: Kind::F64, atom: x >= 0.0, literal: Some(x) }
    }

    /// The number, if it is one of the program.
    pub fn literal(&self) -> Option<f64> {
        self.literal
    }

    /// Whether it is a whole number of the program.
    pub fn is_whole(&self) -> bool {
        self.literal.is_some_and(|x| x.fract() == 0.0)
    }

    /// The text for a place between operators.
    pub fn guarded(&self) -> String {
        if self.atom { self.text.clone() } else { format!("({})", self.text) }
    }

    /// The value with items of another kind.
    pub fn to(&self, kind: Kind) -> Value {
        match (self.literal, kind) {
            (Some(x), Kind::Bool) => {
                let text = if x == 0.0 { "False" } else { "True" };
                Value { text: text.into(), kind, atom: true, literal: self.literal }
            }
            (Some(_), _) => Value { kind, ..self.clone() },
            (None, _) if kind == self.kind => self.clone(),
            (None, Kind::Bool) => Value::expression(format!("{} != 0", self.guarded()), kind),
            (None, _) => Value::atom(format!("xp.astype({}, xp.{})", self.text, kind.name()), kind),
        }
    }

    /// The value as an array: a number of the program becomes one.
    pub fn as_array(&self, kind: Kind) -> Value {
        let own = self.to(kind);
        match own.literal {
            None => own,
            Some(_) => {
                let name = kind.name();
                Value::atom(format!("xp.asarray({}, dtype=xp.{name})", own.text), kind)
            }
        }
    }
}

//! The math of a GPU's texts: with the CPU's bits, or fast; in one order, or in any.
//!
//! `--math`, `]math`. A plan carries it to its texts, which say it in a line of their own, so
//! whatever is known by a text (a binary, what was tuned) is known of one of the two. The CPU takes
//! no notice.

/// The math of a GPU's texts (`--math`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Math {
    /// The CPU's bits but for the order of sums: its sequences for functions, of f32 those of f32,
    /// `×` and `+` rounded apart, sums of f32 made in f64.
    #[default]
    Strict,
    /// CUDA's own functions, `×` and `+` rounded once, products of f32 added in f32.
    Fast,
}

impl Math {
    /// Both, in the order in which help lists them.
    pub const ALL: [Math; 2] = [Math::Strict, Math::Fast];

    /// The name that `--math` takes.
    pub fn name(self) -> &'static str {
        match self {
            Math::Strict => "strict",
            Math::Fast => "fast",
        }
    }

    /// The math of that name.
    pub fn named(name: &str) -> Option<Math> {
        Math::ALL.into_iter().find(|m| m.name() == name)
    }

    /// For people: what it does on a GPU.
    pub fn says(self) -> &'static str {
        match self {
            Math::Strict => {
                "the CPU's bits: its functions, × and + rounded apart, sums of f32 made in f64"
            }
            Math::Fast => {
                "on a GPU its own functions, × and + rounded once, products of f32 added in f32"
            }
        }
    }
}

/// The order in which a GPU's threads combine values (`--reduce`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The same bits in every run.
    #[default]
    Repeatable,
    /// As threads come, where that is faster: sums by places.
    Any,
}

impl Order {
    /// Both, in the order in which help lists them.
    pub const ALL: [Order; 2] = [Order::Repeatable, Order::Any];

    /// The name that `--reduce` takes.
    pub fn name(self) -> &'static str {
        match self {
            Order::Repeatable => "repeatable",
            Order::Any => "any",
        }
    }

    /// The order of that name.
    pub fn named(name: &str) -> Option<Order> {
        Order::ALL.into_iter().find(|o| o.name() == name)
    }

    /// For people: what it does on a GPU.
    pub fn says(self) -> &'static str {
        match self {
            Order::Repeatable => "folds have the same bits in every run",
            Order::Any => "on a GPU sums by places are added as threads come",
        }
    }
}

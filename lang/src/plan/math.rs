//! How the texts of a GPU compute: with the CPU's bits, or fast.
//!
//! Rows: CUDA §5. `--math`, `]math`. A plan carries it to its texts, which say it in a line of their own, so whatever is
//! known by a text (a binary, what was tuned) is known of one of the two. The CPU takes no notice.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Math {
    /// The CPU's bits: its sequences for functions, `×` and `+` rounded apart, sums of f32 made in f64.
    #[default]
    Strict,
    /// CUDA's own functions, `×` and `+` rounded once, products of f32 added in f32.
    Fast,
}

impl Math {
    pub const ALL: [Math; 2] = [Math::Strict, Math::Fast];

    pub fn name(self) -> &'static str {
        match self {
            Math::Strict => "strict",
            Math::Fast => "fast",
        }
    }

    pub fn named(name: &str) -> Option<Math> {
        Math::ALL.into_iter().find(|m| m.name() == name)
    }

    /// For people: what it does on a GPU.
    pub fn says(self) -> &'static str {
        match self {
            Math::Strict => "the CPU's bits: its functions, × and + rounded apart, sums of f32 made in f64",
            Math::Fast => "on a GPU its own functions, × and + rounded once, products of f32 added in f32",
        }
    }
}

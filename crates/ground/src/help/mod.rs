//! The help beside the tables of primitives, system names and passes; completion reads the idioms.

pub mod errors;
pub mod idioms;
pub mod notation;

/// A piece of APL by its form and by the words that people look for. The example is a line and what
/// it prints; a test runs it.
pub struct Topic {
    /// The piece of APL as it is written.
    pub form: &'static str,
    /// Words by which people look for it.
    pub names: &'static [&'static str],
    /// One or two sentences on it.
    pub help: &'static str,
    /// A line, and the text that it prints.
    pub example: (&'static str, &'static str),
}

/// All pieces: phrases, then notation.
pub fn topics() -> impl Iterator<Item = &'static Topic> {
    idioms::ROWS.iter().chain(notation::ROWS)
}

const fn topic(
    form: &'static str,
    names: &'static [&'static str],
    help: &'static str,
    example: (&'static str, &'static str),
) -> Topic {
    Topic { form, names, help, example }
}

//! What help knows beside the tables of primitives, system names and passes; completion reads the
//! idioms.

pub mod errors;
pub mod idioms;
pub mod notation;

/// A piece of APL by its form and by the words that people look for. The example is a line and what
/// it prints; a test runs it.
pub struct Topic {
    pub form: &'static str,
    pub names: &'static [&'static str],
    pub help: &'static str,
    pub example: (&'static str, &'static str),
}

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

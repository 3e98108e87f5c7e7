//! Why: the decisions of a trace in sentences.

use aplomb_lang::trace::Trace;

/// The whole line: launches, bytes, time, and what each launch does.
pub fn summary(_trace: &Trace) -> String {
    String::new()
}

/// One node, by number or name. Errors: a sentence with the nodes there are.
pub fn node(_trace: &Trace, _which: &str) -> Result<String, String> {
    Ok(String::new())
}

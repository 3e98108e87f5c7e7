//! `]diff` and `aplomb diff`: what changed between two evaluations, two passes, two traces.

use super::{Call, asked::asked};
use aplomb_compiler::pass::PIPELINE;
use aplomb_ground::error::{Error, domain, syntax};
use aplomb_viz::diff as compare;

/// The graph before any pass.
const RECORDED: &str = "record";

/// The last two lines; a statement, or the last line, beside itself with switches off; two passes
/// of either. A statement is one of the session; what is compared with it runs apart.
pub fn diff(call: &mut Call<'_>) -> Result<(), Error> {
    let width = call.width();
    let asked = asked(call.args, &["off="]);
    let (text, off) = (asked.expr.map_or("", |text| text), asked.value("off"));
    let text = match (off, passes(text)) {
        (Some(off), _) => {
            let off: Vec<&str> = off.split(',').collect();
            let text = Some(text).filter(|text| !text.is_empty());
            let [before, after] = call.session.traces_without(text, &off, call.sink)?;
            compare::traces(&before, &after, width)
        }
        (None, Some((from, to, rest))) => {
            let trace = match rest.is_empty() {
                true => call.session.trace_of(None)?,
                false => call.session.trace_run(rest, false, call.sink)?,
            };
            compare::passes(&trace, from, to, width).map_err(domain)?
        }
        (None, None) if text.is_empty() => {
            let [before, after] = call.session.traces_to_compare()?;
            compare::traces(&before, &after, width)
        }
        (None, None) => {
            let says = "]diff takes two passes, or switches to do without, and an expression";
            let hint = "]diff record cse, ]diff -off=embed-consumers +/2×⍳2000";
            return Err(syntax(says).hint(hint));
        }
    };
    call.show(&text);
    Ok(())
}

/// Two passes that a text begins with, and what stands behind them.
fn passes(text: &str) -> Option<(&str, &str, &str)> {
    let (from, rest) = word(text)?;
    let (to, rest) = word(rest)?;
    let is_pass = |name: &str| name == RECORDED || PIPELINE.iter().any(|p| p.name == name);
    // Two words alone are meant as passes, and are told which there are.
    (rest.is_empty() || is_pass(from) && is_pass(to)).then_some((from, to, rest))
}

fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).map_or(text.len(), |end| end);
    Some((&text[..end], text[end..].trim_start())).filter(|(word, _)| !word.is_empty())
}

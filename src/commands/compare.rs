//! `]diff` and `aplomb diff`: what changed between two evaluations, two passes, two traces.

use super::Call;
use aplomb_ground::error::{Error, domain, syntax};
use aplomb_viz::diff as compare;

pub fn diff(call: &mut Call<'_>) -> Result<(), Error> {
    let width = call.width();
    let text = match call.words().as_slice() {
        [] => {
            let [before, after] = call.session.traces_to_compare()?;
            compare::traces(&before, &after, width)
        }
        [from, to] => {
            let trace = call.session.trace_of(None)?;
            compare::passes(&trace, from, to, width).map_err(domain)?
        }
        _ => return Err(syntax("]diff takes two passes, or nothing").hint("]diff record cse")),
    };
    call.show(&text);
    Ok(())
}

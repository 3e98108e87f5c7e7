//! `]assert`: promises about launches. A broken one is an error, so it stops a script.

use super::Call;
use aplomb_ground::error::{Error, domain, syntax};
use aplomb_ground::span::{Place, Source, Span};
use aplomb_ground::trace::Trace;
use aplomb_viz::promise::{Broken, Promise};

/// `launches 1, no-break: EXPR`; without an expression the last line that gave a value.
pub fn assert(call: &mut Call<'_>) -> Result<(), Error> {
    let (promises, expr) = match call.args.split_once(':') {
        Some((promises, expr)) => (promises, Some(expr.trim())),
        None => (call.args, None),
    };
    let parse = |text: &str| {
        Promise::parse(text).map_err(|says| syntax(says).hint("]assert launches 1, no-break"))
    };
    let promises = promises.split(',').map(parse).collect::<Result<Vec<_>, _>>()?;
    if expr == Some("") {
        return Err(
            syntax("]assert has no expression behind its colon").hint("]assert launches 1: +/2×⍳9")
        );
    }
    let trace = call.session.plan_of(expr)?;
    promises.iter().try_for_each(|p| p.check(&trace).map_err(|b| error(&trace, *b)))?;
    // What holds is a statement of the session, as of other commands; what does not is no line.
    expr.map_or(Ok(()), |expr| call.session.quiet_run(expr, call.sink))
}

/// The places it speaks of become marks in the line where they stand; those of other texts are left
/// out.
fn error(trace: &Trace, broken: Broken) -> Error {
    let mut error = domain(broken.says).hint(broken.hint);
    let mut home = None;
    for ([source, start, end], says) in broken.at {
        let Some(text) =
            trace.sources.get(source as usize).filter(|_| home.is_none_or(|h| h == source))
        else {
            continue;
        };
        let place = Place::new(&Source::new(&*text.name, &*text.text), Span::new(start, end));
        (error, home) = (error.at(&place).mark(place.span, says), Some(source));
    }
    error
}

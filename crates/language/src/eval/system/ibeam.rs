//! `n⌶`: services by number, those of Dyalog's that programs use.

use super::{stamps, variables};
use crate::eval::host::{Answer, Errand};
use crate::eval::run::Eval;
use crate::eval::value::Operand;
use crate::functions::shape::Axis;
use aplomb_ground::error::{Result, nonce, syntax};
use aplomb_values::array::Array;

/// A service, of its arguments.
type Serve = fn(&mut Eval<'_>, Option<&Array>, &Array) -> Result<Array>;

/// The services by number.
static SERVICES: &[(i64, Serve)] = &[
    // Case, as before ⎕C: to lower, or 1 to upper.
    (819, |ev, x, y| {
        let upper = match x {
            None => false,
            Some(x) => ev.cx.one_integer(x, "the left argument of 819⌶")? == 1,
        };
        super::text::mapped_case(&ev.cx, y, upper)
    }),
    // Whether the function that runs was called with one argument.
    (900, |ev, _, _| {
        let alone = match (&ev.st.frame, ev.st.calls.last()) {
            (Some(frame), _) => frame.alpha.borrow().is_none(),
            (None, Some(call)) => !call.dyadic,
            (None, None) => true,
        };
        Ok(Array::bool(alone))
    }),
    // The folder for files of the moment.
    (739, |ev, _, _| {
        let named = Errand::Environment("TMPDIR".into());
        match ev.cx.world("the environment")?.errand(&named)? {
            Answer::Text(folder) => ev.cx.text(&folder),
            _ => ev.cx.text("/tmp"),
        }
    }),
    // Times as text, by a pattern.
    (1200, |ev, x, y| {
        let x = x.ok_or_else(|| syntax("1200⌶ needs a pattern on its left"))?;
        stamps::formatted(ev, x, y)
    }),
    // An array that is searched often: here every one is.
    (1500, |_, _, y| Ok(y.clone())),
    // Memory in use.
    (2000, |ev, _, _| variables::free(&ev.cx)),
];

/// `n⌶`. Errors: NONCE for a number that is not there, and those of the service.
pub fn serve(
    ev: &mut Eval<'_>,
    operands: &[Operand],
    x: Option<&Array>,
    y: &Array,
    _: Axis<'_>,
) -> Result<Array> {
    let Some(Operand::A(n)) = operands.first() else {
        return Err(syntax("⌶ takes a number on its left"));
    };
    ev.cx.unframed("⌶")?;
    let n = ev.cx.one_integer(n, "the number of ⌶")?;
    let found = SERVICES.iter().find(|(number, _)| *number == n);
    let Some((_, serve)) = found else {
        let all: Vec<String> = SERVICES.iter().map(|(n, _)| n.to_string()).collect();
        return Err(nonce(format!("{n}⌶")).hint(format!("there are {}", all.join(" "))));
    };
    let y = ev.cx.ready(y, "⌶")?;
    let x = x.map(|x| ev.cx.ready(x, "⌶")).transpose()?;
    serve(ev, x.as_ref(), &y)
}

//! Errors as values: ⎕SIGNAL ⎕EM ⎕EN ⎕DM and the properties of ⎕DMX.

use super::{Args, Does, Row, constant, function, live, misused, text_vector};
use crate::eval::cx::Cx;
use crate::eval::run::Eval;
use crate::eval::value::Value;
use aplomb_ground::error::{Error, Result, domain, message};
use aplomb_values::array::Array;
use std::rc::Rc;

pub static ROWS: &[Row] = &[
    function(
        "SIGNAL",
        "Raises event Y, 1 to 999; X is its message. (⊂('EN' 11)('Message' 'text')) gives more, ⍬ \
         raises none, 0 clears.",
        ("{200::'caught' ⋄ 'mine'⎕SIGNAL 200}0", "caught"),
        signal,
    ),
    function("EM", "The messages of event numbers.", ("⎕EM 11", "DOMAIN ERROR"), event_message),
    constant(
        "EN",
        "The number of the last error, 0 if there was none.",
        ("{0::⎕EN ⋄ ÷0}0", "11"),
        |cx| Ok(Array::num(cx.sys.error.as_ref().map_or(0.0, |e| f64::from(e.number())))),
    ),
    constant(
        "DM",
        "The last error as three lines: message, statement, a mark under the place.",
        ("{0::⊃⎕DM ⋄ ÷0}0", "DOMAIN ERROR"),
        |cx| text_vector(cx, &diagnostic(cx)),
    ),
    live(
        "DMX",
        "The last error, a namespace of EM EN ENX Message DM Category Vendor OSError.",
        ("{0::⎕DMX.(EN EM) ⋄ ÷0}0", "11  DOMAIN ERROR "),
        properties,
    ),
    constant(
        "DMX.EM",
        "The message of the last error.",
        ("{0::⎕DMX.EM ⋄ ÷0}0", "DOMAIN ERROR"),
        |cx| cx.text(&last(cx).map_or(String::new(), |e| named(&e))),
    ),
    constant("DMX.EN", "The number of the last error.", ("{0::⎕DMX.EN ⋄ ÷0}0", "11"), |cx| {
        Ok(Array::num(last(cx).map_or(0.0, |e| f64::from(e.number()))))
    }),
    constant(
        "DMX.ENX",
        "Always 0: Aplomb numbers no errors below the event.",
        ("⎕DMX.ENX", "0"),
        |_| Ok(Array::num(0.0)),
    ),
    constant(
        "DMX.Message",
        "What the last error says beyond its message.",
        ("{0::0<≢⎕DMX.Message ⋄ ÷0}0", "1"),
        |cx| cx.text(&last(cx).map_or(String::new(), |e| e.parts().says.clone())),
    ),
    constant("DMX.DM", "As ⎕DM.", ("{0::≢⎕DMX.DM ⋄ ÷0}0", "3"), |cx| {
        text_vector(cx, &diagnostic(cx))
    }),
    constant("DMX.Category", "Always empty.", ("⍴⎕DMX.Category", "0"), |cx| cx.text("")),
    constant(
        "DMX.OSError",
        "Always 0 0 '': no error of the system's own.",
        ("≢⎕DMX.OSError", "3"),
        |cx| {
            let none = cx.text("")?;
            cx.collect(&[3], vec![Array::num(0.0), Array::num(0.0), none], None)
        },
    ),
    constant(
        "DMX.Vendor",
        "Who raised it: Aplomb.",
        ("{0::⎕DMX.Vendor ⋄ ÷0}0", "Aplomb"),
        |cx| cx.text(if cx.sys.error.is_some() { "Aplomb" } else { "" }),
    ),
];

fn last(cx: &Cx<'_>) -> Option<Rc<Error>> {
    cx.sys.error.clone()
}

/// The message: the event's own, or what ⎕SIGNAL put in its place.
fn named(e: &Error) -> String {
    e.parts().message.clone().unwrap_or_else(|| e.name())
}

/// Message, line and mark; nothing where there was no error.
fn diagnostic(cx: &Cx<'_>) -> Vec<String> {
    let Some(e) = last(cx) else { return Vec::new() };
    let Some(place) = &e.parts().place else {
        return vec![named(&e), String::new(), String::new()];
    };
    let text = &place.source.text;
    let before: String = text.chars().take(place.span.start as usize).collect();
    let column = before.chars().rev().take_while(|c| *c != '\n').count();
    let line = text.lines().nth(before.matches('\n').count()).unwrap_or("");
    vec![named(&e), format!("      {line}"), format!("{}∧", " ".repeat(6 + column))]
}

/// The properties as they are now: a space that nothing changes later.
fn properties(ev: &mut Eval<'_>) -> Result<Array> {
    let space = ev.st.new_space("[DMX]");
    for row in ROWS {
        if let (Some(name), Does::Constant(get)) = (row.name.strip_prefix("DMX."), row.does) {
            let (sym, v) = (ev.st.symbols.intern(name), get(&mut ev.cx)?);
            ev.set_member(&space.value(), sym, Value::Array(v))?;
        }
    }
    Ok(space.value())
}

fn event_message(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let events = ev.cx.integers(a.y, "an event number")?;
    // A number that is no event is as 0: it has no message.
    let texts: Vec<String> =
        events.into_iter().map(|n| message(u32::try_from(n).unwrap_or(0))).collect();
    match texts.as_slice() {
        [one] if a.y.rank() == 0 => ev.cx.text(one).map(Some),
        _ => text_vector(&ev.cx, &texts).map(Some),
    }
}

fn allowed(n: i64) -> Result<u32> {
    let event = u32::try_from(n).ok().filter(|n| (1..=999).contains(n) || *n == 1006);
    event.ok_or_else(|| domain("an event that is signalled is 1 to 999, or 1006"))
}

fn signal(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    if a.y.rank() > 1 {
        return Err(aplomb_ground::error::rank("⎕SIGNAL takes a scalar or a vector"));
    }
    if a.y.is_empty() {
        return ev.shy(a.y.clone());
    }
    let first = a.y.item(0);
    if !first.is_simple_scalar() {
        return if a.x.is_some() {
            Err(domain("⎕SIGNAL takes a text or name and value pairs, not both"))
        } else {
            Err(described(ev, &first)?)
        };
    }
    let n = ev.cx.one_integer(&first, "an event number")?;
    if n == 0 && a.x.is_none() {
        ev.cx.sys.error = None;
        return ev.shy(a.y.clone());
    }
    let event = allowed(n)?;
    let text =
        a.x.map(|x| x.word().ok_or_else(|| domain("the message of an event is text")))
            .transpose()?;
    let text = text.filter(|t| !t.is_empty());
    let says = text.clone().unwrap_or_else(|| format!("event {event} was signalled"));
    Err(Error::signalled(event, text, says))
}

/// `('EN' 11)('Message' 'text')`, or the same as a matrix of two columns.
fn described(ev: &mut Eval<'_>, given: &Array) -> Result<Error> {
    let form =
        || misused("SIGNAL", "an event number, or pairs such as ('EN' 11)('Message' 'text')");
    let given = given.disclosed();
    let items = given.to_items(ev.cx.budget())?;
    let pairs: Vec<(Array, Array)> = match given.shape() {
        [_, 2] => items.chunks(2).map(|p| (p[0].clone(), p[1].clone())).collect(),
        [_] => {
            let pair = |a: &Array| match a.few() {
                Some([name, value]) if !a.is_simple() => Ok((name, value)),
                _ => Err(form()),
            };
            items.iter().map(pair).collect::<Result<_>>()?
        }
        _ => return Err(form()),
    };
    let (mut event, mut em, mut says) = (None, None, String::new());
    for (name, value) in pairs {
        match name.word().as_deref() {
            Some("EN") => event = Some(allowed(ev.cx.one_integer(&value, "EN")?)?),
            Some("EM") => em = Some(value.word().ok_or_else(form)?),
            Some("Message") => says = value.word().ok_or_else(form)?,
            Some("Vendor" | "Category" | "HelpURL" | "ENX" | "OSError") => {}
            _ => {
                return Err(domain("⎕DMX has no such property that can be given")
                    .hint("EN EM Message Vendor Category"));
            }
        }
    }
    let event = event.ok_or_else(|| domain("EN must be among the properties"))?;
    Ok(Error::signalled(event, em, says))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_ground::error::Kind;

    #[test]
    fn an_event_that_may_be_signalled_is_never_a_defect() {
        for n in 1..=999 {
            assert!(!matches!(
                Error::signalled(n, None, "").kind(),
                Kind::Internal | Kind::Untraced | Kind::Interrupt
            ));
        }
        assert!(allowed(0).is_err() && allowed(1000).is_err() && allowed(1006).is_ok());
    }
}

//! APL's errors: kind, sentence, place, marks, hint. A bug is `Kind::Internal`; it ends one
//! statement only.

use crate::span::{Place, Source, Span};
use std::fmt;

/// The one list of errors, with Dyalog's event numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Memory: the arrays, or the machine, have no room.
    WsFull = 1,
    /// A text that is no APL.
    Syntax = 2,
    /// A place that an array does not have.
    Index = 3,
    /// A number of axes that a function does not take.
    Rank = 4,
    /// Extents that do not fit each other.
    Length = 5,
    /// A name without a value.
    Value = 6,
    /// A format that ⎕FMT or ⍕ cannot follow.
    Format = 7,
    /// A bound of the session: depth, tokens, nesting, rank.
    Limit = 10,
    /// A value that a function has no result for.
    Domain = 11,
    /// Something that is named and not built.
    Nonce = 16,
    /// A file that cannot be read or written.
    FileAccess = 19,
    /// A file that is not there.
    FileName = 22,
    /// A defect of Aplomb.
    Internal = 99,
    /// Never seen by a user: a function cannot run once for all cells of a frame, and runs cell by
    /// cell.
    Untraced = 98,
    /// Never seen by a user: ⎕OFF ends the program, so no guard catches it.
    Exit = 97,
    /// A request to stop.
    Interrupt = 1003,
    /// An event of the program's own, by ⎕SIGNAL; `Error::number` says which.
    Signal = 0,
}

/// Dyalog's names of events that Aplomb itself never gives, but ⎕SIGNAL may.
const OTHERS: &[(u32, &str)] = &[
    (12, "HOLD ERROR"),
    (18, "FILE TIE ERROR"),
    (20, "FILE INDEX ERROR"),
    (21, "FILE FULL"),
    (23, "FILE DAMAGED"),
    (24, "FILE TIED"),
    (84, "TRAP ERROR"),
    (90, "EXCEPTION"),
    (92, "TRANSLATION ERROR"),
    (1006, "TIMEOUT"),
];

/// The message of an event number, as `⎕EM` gives it.
pub fn message(event: u32) -> String {
    let own = Kind::of_event(event).map(Kind::name);
    let name = own.or_else(|| OTHERS.iter().find(|o| o.0 == event).map(|o| o.1));
    name.map_or_else(|| format!("ERROR {event}"), String::from)
}

impl Kind {
    /// The name as it prints, `DOMAIN ERROR`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::WsFull => "WS FULL",
            Kind::Syntax => "SYNTAX ERROR",
            Kind::Index => "INDEX ERROR",
            Kind::Rank => "RANK ERROR",
            Kind::Length => "LENGTH ERROR",
            Kind::Value => "VALUE ERROR",
            Kind::Format => "FORMAT ERROR",
            Kind::Limit => "LIMIT ERROR",
            Kind::Domain => "DOMAIN ERROR",
            Kind::Nonce => "NONCE ERROR",
            Kind::FileAccess => "FILE ACCESS ERROR",
            Kind::FileName => "FILE NAME ERROR",
            Kind::Internal | Kind::Untraced | Kind::Exit => "INTERNAL ERROR",
            Kind::Interrupt => "INTERRUPT",
            Kind::Signal => "ERROR",
        }
    }

    /// The kind with this event number, of those that a program may signal.
    pub fn of_event(event: u32) -> Option<Kind> {
        use Kind::*;
        let all = [
            WsFull, Syntax, Index, Rank, Length, Value, Format, Limit, Domain, Nonce, FileAccess,
            FileName,
        ];
        all.into_iter().find(|k| k.number() == event)
    }

    /// The event number, as `⎕EN` gives it.
    pub fn number(self) -> u32 {
        self as u32
    }
}

/// An APL error. Primitives make it without a place; the evaluator adds place and marks (`at`,
/// `mark`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Parts>);

/// The parts of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// APL's kind of it.
    pub kind: Kind,
    /// The event number where the kind has none of its own.
    pub event: Option<u32>,
    /// The message that ⎕SIGNAL put in the place of the kind's name.
    pub message: Option<String>,
    /// The sentence, without the kind's name.
    pub says: String,
    /// The place where it was written.
    pub place: Option<Place>,
    /// Spans in the place's source with what stands there (`shape 5`).
    pub marks: Vec<(Span, String)>,
    /// A way out, in words.
    pub hint: Option<String>,
    /// For a value error of a pending array: where it was needed.
    pub needed: Option<Place>,
    /// The calls that led here, innermost first.
    pub calls: Vec<Call>,
    /// The line of a function where it came, as `foo[3]`.
    pub line: Option<String>,
    /// The program signalled it, and no call has ended by it yet.
    pub is_signal: bool,
    /// The reason why it is none for a user: the evaluator computes again on the host.
    pub on_host: Option<OnHost>,
}

/// A call that led to an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The place where it was written.
    pub place: Place,
    /// The line of a function where that is, as `foo[3]`.
    pub line: Option<String>,
}

/// The values that a device has no result for and the host has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnHost {
    /// A real operation's result is complex.
    Complex,
    /// A loop goes on where a launch must end.
    Unending,
}

/// A result whose error is APL's.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error with its sentence alone.
    pub fn new(kind: Kind, says: impl Into<String>) -> Self {
        Error(Box::new(Parts {
            kind,
            event: None,
            message: None,
            says: says.into(),
            place: None,
            marks: Vec::new(),
            hint: None,
            needed: None,
            calls: Vec::new(),
            line: None,
            is_signal: false,
            on_host: None,
        }))
    }

    /// Sets the place unless one is known: the innermost place wins.
    pub fn at(mut self, place: &Place) -> Self {
        self.0.place.get_or_insert_with(|| place.clone());
        self
    }

    /// Tells of one place instead of a text that nobody wrote: what lies in that text lies there,
    /// and calls from it are left out.
    pub fn instead_of(mut self, text: &Source, place: &Place) -> Self {
        let inside = |p: &Place| std::ptr::eq(&*p.source, text);
        let parts = &mut *self.0;
        if parts.place.as_ref().is_some_and(inside) {
            (parts.place, parts.marks) = (Some(place.clone()), Vec::new());
        }
        if parts.needed.as_ref().is_some_and(inside) {
            parts.needed = Some(place.clone());
        }
        parts.calls.retain(|c| !inside(&c.place));
        self
    }

    /// Adds what stands at a span, for the drawn report.
    pub fn mark(mut self, span: Span, says: impl Into<String>) -> Self {
        self.0.marks.push((span, says.into()));
        self
    }

    /// Sets the way out.
    pub fn hint(mut self, says: impl Into<String>) -> Self {
        self.0.hint = Some(says.into());
        self
    }

    /// Sets where the value was needed, unless that is known.
    pub fn needed(mut self, place: &Place) -> Self {
        self.0.needed.get_or_insert_with(|| place.clone());
        self
    }

    /// Adds a call, after those inside of it.
    pub fn called_from(mut self, place: Place) -> Self {
        self.0.calls.push(Call { place, line: None });
        self
    }

    /// Names the line of a function, `foo[3]`, for what is known last: the place of the error, or
    /// the last of the calls that led there.
    pub fn in_line(mut self, line: String) -> Self {
        let parts = &mut *self.0;
        parts.calls.last_mut().map_or(&mut parts.line, |c| &mut c.line).get_or_insert(line);
        self
    }

    /// Whether the program signalled it in the function that runs: that is left, whatever it traps.
    pub fn is_signal(&self) -> bool {
        self.0.is_signal
    }

    /// A call has ended by it.
    pub fn left_function(mut self) -> Self {
        self.0.is_signal = false;
        self
    }

    /// The result is no real number.
    pub fn leaves_reals(&self) -> bool {
        self.0.on_host == Some(OnHost::Complex)
    }

    /// The host has a result where a device has none.
    pub fn on_host(&self) -> Option<OnHost> {
        self.0.on_host
    }

    /// `⎕SIGNAL`: any event number; `text`, if there is one, stands for the event's own message.
    pub fn signalled(event: u32, text: Option<String>, says: impl Into<String>) -> Self {
        let mut error = Error::new(Kind::of_event(event).unwrap_or(Kind::Signal), says);
        error.0.event = Some(event);
        error.0.message = text;
        error.0.is_signal = true;
        error
    }

    /// APL's kind.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The event number.
    pub fn number(&self) -> u32 {
        self.0.event.unwrap_or(self.0.kind.number())
    }

    /// The event's name: `DOMAIN ERROR`, `ERROR 200`.
    pub fn name(&self) -> String {
        match self.0.kind {
            Kind::Signal => message(self.number()),
            kind => kind.name().into(),
        }
    }

    /// All parts, to read.
    pub fn parts(&self) -> &Parts {
        &self.0
    }

    /// Whether it is known where in a text it came.
    pub fn has_place(&self) -> bool {
        self.0.place.is_some()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.0.says)
    }
}

impl std::error::Error for Error {}

/// A DOMAIN ERROR with this sentence.
pub fn domain(says: impl Into<String>) -> Error {
    Error::new(Kind::Domain, says)
}

/// A LENGTH ERROR with this sentence.
pub fn length(says: impl Into<String>) -> Error {
    Error::new(Kind::Length, says)
}

/// A RANK ERROR with this sentence.
pub fn rank(says: impl Into<String>) -> Error {
    Error::new(Kind::Rank, says)
}

/// An INDEX ERROR with this sentence.
pub fn index(says: impl Into<String>) -> Error {
    Error::new(Kind::Index, says)
}

/// A SYNTAX ERROR with this sentence.
pub fn syntax(says: impl Into<String>) -> Error {
    Error::new(Kind::Syntax, says)
}

/// A VALUE ERROR with this sentence.
pub fn value(says: impl Into<String>) -> Error {
    Error::new(Kind::Value, says)
}

/// No answer for a user: whoever meets it computes again with complex numbers.
pub fn beyond_reals() -> Error {
    let mut error = domain("the result is a complex number");
    error.0.on_host = Some(OnHost::Complex);
    error
}

/// No answer for a user either: the host goes on where no launch may.
pub fn unending() -> Error {
    let mut error = limit("a loop of more rounds than a launch may take");
    error.0.on_host = Some(OnHost::Unending);
    error
}

/// The error of a thing that is not built yet, by its name.
pub fn nonce(what: impl fmt::Display) -> Error {
    Error::new(Kind::Nonce, format!("{what} is not in Aplomb yet"))
}

/// A LIMIT ERROR with this sentence.
pub fn limit(says: impl Into<String>) -> Error {
    Error::new(Kind::Limit, says)
}

/// A WS FULL with the bytes that were needed and those that are free.
pub fn ws_full(need: u64, have: u64) -> Error {
    Error::new(Kind::WsFull, format!("this needs {} and {} are free", bytes(need), bytes(have)))
        .hint(")limits shows the budget; --limit bytes=N changes it")
}

/// A WS FULL: arrays and all that was made beside them are more than arrays may take.
pub fn outgrown(taken: u64, most: u64) -> Error {
    let (taken, most) = (bytes(taken), bytes(most));
    let says = format!("this took {taken} with all that it made; arrays may take {most}");
    Error::new(Kind::WsFull, says).hint("--limit bytes=N changes it")
}

/// An INTERRUPT.
pub fn interrupt() -> Error {
    Error::new(Kind::Interrupt, "stopped; every name keeps the value it had before this line")
}

/// A defect of Aplomb, not of the user's program, that a debug build survives too: what a check
/// reports that looks for defects (the verifier, a comparison with the plan cache, planted faults,
/// a device that is gone), and a panic that was caught. Where code itself stands before a state
/// that cannot be, it is `bug!`.
pub fn internal(says: impl Into<String>) -> Error {
    Error::new(Kind::Internal, says)
}

/// An invariant that does not hold, as an `Error`: `bug!("v{k} has no register")`, in `Err(…)` or
/// `ok_or_else(|| …)`. A build with debug assertions stops where it stands, and a session makes
/// INTERNAL ERROR of that; a release goes on with an error of `Kind::Internal` that says the
/// sentence, the file and the line. Never a default instead: a wrong number looks like an answer.
/// Where a function cannot have a `Result`, an index (`all[k]`) is as loud.
#[macro_export]
macro_rules! bug {
    ($($says:tt)+) => {
        $crate::error::broken(::core::format_args!($($says)+), ::core::file!(), ::core::line!())
    };
}
pub use crate::bug;

/// The function behind `bug!`.
#[cold]
#[track_caller]
pub fn broken(says: fmt::Arguments<'_>, file: &str, line: u32) -> Error {
    debug_assert!(false, "{says}");
    internal(format!("{says} ({file}:{line})"))
}

/// ⎕OFF: every call ends.
pub fn leaving() -> Error {
    Error::new(Kind::Exit, "the program leaves")
}

/// A function cannot run once for all cells of a frame. Never seen by a user: the cells run one by
/// one instead.
pub fn untraced(why: impl Into<String>) -> Error {
    Error::new(Kind::Untraced, why)
}

/// A number of something in words, `1 launch`, `3 launches`.
pub fn count(n: usize, what: &str) -> String {
    let plural = if what.ends_with("ch") { "es" } else { "s" };
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}{plural}") }
}

/// Bytes for people: `160 MB`, `9.5 GB`.
pub fn bytes(n: u64) -> String {
    let (unit, scale) = match n {
        1 => return "1 byte".into(),
        0..1_000 => return format!("{n} bytes"),
        1_000..1_000_000 => ("kB", 1e3),
        1_000_000..1_000_000_000 => ("MB", 1e6),
        1_000_000_000..1_000_000_000_000 => ("GB", 1e9),
        _ => ("TB", 1e12),
    };
    let x = n as f64 / scale;
    if x < 9.95 { format!("{x:.1} {unit}") } else { format!("{x:.0} {unit}") }
}

/// Microseconds for people: `12 µs`, `2.4 ms`.
pub fn time(us: f64) -> String {
    // A sum of nothing is -0.
    match us + 0.0 {
        us if us < 1.0 => format!("{:.0} ns", us * 1e3),
        us if us < 1e3 => format!("{us:.0} µs"),
        us if us < 1e6 => format!("{:.1} ms", us / 1e3),
        us => format!("{:.1} s", us / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn a_bug_stops_a_debug_build_and_is_an_error_with_its_line_in_a_release() {
        let here = line!() + 1;
        let done = catch_unwind(|| bug!("{} of {}", 3, 2));
        assert_eq!(done.is_err(), cfg!(debug_assertions));
        match done {
            Err(told) => {
                assert_eq!(told.downcast_ref::<String>().map(String::as_str), Some("3 of 2"));
            }
            Ok(error) => {
                assert_eq!(error.kind(), Kind::Internal);
                assert_eq!(error.parts().says, format!("3 of 2 ({}:{here})", file!()));
            }
        }
    }
}

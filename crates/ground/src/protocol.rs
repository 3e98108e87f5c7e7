//! The session protocol: what a front end asks and what a session tells. Jupyter's messages as
//! plain types.
//!
//! Rows: DESIGN §5. REPL, batch, panes and Jupyter speak only this.

use crate::trace::Trace;
use std::collections::BTreeMap;

/// One result in several forms; `text/plain` is always there.
pub type MimeBundle = BTreeMap<String, String>;

pub const TEXT: &str = "text/plain";
pub const HTML: &str = "text/html";
pub const SVG: &str = "image/svg+xml";
/// A trace as JSON (`trace.schema.json`).
pub const TRACE: &str = "application/vnd.aplomb.trace.v1+json";
/// What a front end with a terminal opens in panes: an object of `text`, `preset`, `off`, `ascii`.
pub const PANES: &str = "application/vnd.aplomb.panes.v1+json";

#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// `name` is what messages call the text; `silent`: no result is shown.
    Execute {
        code: String,
        name: String,
        silent: bool,
    },
    Complete {
        code: String,
        cursor: usize,
    },
    Inspect {
        code: String,
        cursor: usize,
    },
    IsComplete {
        code: String,
    },
    /// Runs a text with everything recorded and tells its traces; names, switches and the line
    /// before stay as they were.
    Trace {
        code: String,
        name: String,
        /// None: those of the session.
        switches: Option<Switches>,
        /// Whether files are written and deleted. Without, the text reads what it would have
        /// written.
        effects: bool,
    },
    /// Tells the last text that gave a value: its plan as it was, or, under other switches, what it
    /// forced run again. Nothing is written or printed, and names, switches and the line before
    /// stay as they were.
    Again {
        switches: Option<Switches>,
    },
    Restart,
    Info,
}

/// A pipeline and what is off in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Empty: all passes.
    pub preset: String,
    pub off: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Status(Status),
    /// What the program printed.
    Stream(String),
    /// A sentence about the machine, not about the program: that there is no GPU. Not for standard
    /// output.
    Notice(String),
    /// What a command shows.
    Display(MimeBundle),
    /// The value of a statement.
    Result(MimeBundle),
    Error(Failure),
    Trace(Box<Trace>),
    /// A run without effects left this out: `write prices.csv`.
    Withheld(String),
    /// A text of another front end runs in the session that this one looks at, or has run; what
    /// follows is its.
    Begun {
        name: String,
        code: String,
        switches: Switches,
    },
    /// How the way to a session elsewhere is, in words; empty: as it should be.
    Link(String),
    Completions {
        start: usize,
        end: usize,
        items: Vec<Completion>,
    },
    Inspection(Option<String>),
    IsComplete(Completeness),
    Info(BTreeMap<String, String>),
    /// The program asks for a line: `Client::answer` gives it. The prompt stands on its line
    /// already, or is blanks.
    Input(String),
    /// `)off` or `⎕OFF`: the front end leaves with this code.
    Exit(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Busy,
    Idle,
}

/// An error as front ends need it: name, span in the executed text, the whole report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// APL's name of the error, `DOMAIN ERROR`.
    pub name: String,
    pub number: u32,
    pub says: String,
    /// Code points in the source named `source`.
    pub span: Option<(u32, u32)>,
    pub source: String,
    /// The drawn report, plain.
    pub report: String,
    /// The same with colours.
    pub coloured: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    pub text: String,
    /// One word: function, operator, variable, argument, symbol, idiom, system, command.
    pub kind: &'static str,
    pub says: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    Complete,
    More,
    Never,
}

/// Where a session's events go while it works; `input` answers `⎕` and `⍞`.
pub trait Sink {
    fn event(&mut self, event: Event);
    fn input(&mut self, prompt: &str) -> Option<String>;
    /// What stands before a line that `⎕` asks for. Where nobody types it is left out.
    fn prompt(&mut self, text: &str) {
        self.event(Event::Stream(text.into()));
    }
    /// Whether forms beside `text/plain` are of use; where not, nobody makes them.
    fn rich(&self) -> bool {
        false
    }
}

/// A front end's side: the session may be in this thread, another, or another process.
pub trait Client {
    fn send(&mut self, request: Request);
    fn recv(&mut self) -> Option<Event>;
    /// What has come by now, without waiting. Errors: the session is gone.
    fn poll(&mut self) -> Result<Option<Event>, Gone>;
    /// The line for `Event::Input`; None: there is none.
    fn answer(&mut self, line: Option<String>);
}

impl<C: Client> Client for &mut C {
    fn send(&mut self, request: Request) {
        (**self).send(request);
    }

    fn recv(&mut self) -> Option<Event> {
        (**self).recv()
    }

    fn poll(&mut self) -> Result<Option<Event>, Gone> {
        (**self).poll()
    }

    fn answer(&mut self, line: Option<String>) {
        (**self).answer(line);
    }
}

/// No session is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

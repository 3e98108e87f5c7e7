//! The session protocol: what a front end asks and what a session tells. Jupyter's messages as
//! plain types.
//!
//! REPL, batch, panes and Jupyter speak only this.

use crate::trace::Trace;
use std::collections::BTreeMap;

/// One result in several forms; `text/plain` is always there.
pub type MimeBundle = BTreeMap<String, String>;

/// The MIME type of plain text.
pub const TEXT: &str = "text/plain";
/// The MIME type of HTML.
pub const HTML: &str = "text/html";
/// The MIME type of SVG.
pub const SVG: &str = "image/svg+xml";
/// The MIME type of PNG; its data is base64.
pub const PNG: &str = "image/png";
/// A trace as JSON (`trace.schema.json`).
pub const TRACE: &str = "application/vnd.aplomb.trace.v1+json";
/// The MIME type of what a front end with a terminal opens in panes: an object of `text`, `preset`,
/// `off`, `ascii`.
pub const PANES: &str = "application/vnd.aplomb.panes.v1+json";

/// The requests of a front end.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// `name` is what messages call the text; `silent`: no result is shown.
    Execute {
        /// The text to run.
        code: String,
        /// The name that messages give the text.
        name: String,
        /// Whether its results stay unseen.
        silent: bool,
    },
    /// Asks how a word could go on.
    Complete {
        /// The text so far.
        code: String,
        /// The cursor's place in it, in code points.
        cursor: usize,
    },
    /// Asks for help on the word at the cursor.
    Inspect {
        /// The text so far.
        code: String,
        /// The cursor's place in it, in code points.
        cursor: usize,
    },
    /// Asks whether a text is complete.
    IsComplete {
        /// The text so far.
        code: String,
    },
    /// Runs a text with everything recorded and tells its traces; names, switches and the line
    /// before stay as they were.
    Trace {
        /// The text to run.
        code: String,
        /// The name that messages give the text.
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
        /// A pipeline and switches; None: as the text ran.
        switches: Option<Switches>,
    },
    /// Forgets every name.
    Restart,
    /// Asks for version and device.
    Info,
}

/// A pipeline and what is off in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Empty: all passes.
    pub preset: String,
    /// Names of passes and rules that do not run.
    pub off: Vec<String>,
}

/// The events that a session tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Whether the session works on a request.
    Status(Status),
    /// A text that the program printed.
    Stream(String),
    /// A sentence about the machine, not about the program: that there is no GPU. Not for standard
    /// output.
    Notice(String),
    /// A text that the program wrote to standard error.
    Aside(String),
    /// A page that a command shows.
    Display(MimeBundle),
    /// A page that the program gave a name.
    Named {
        /// The name.
        id: String,
        /// The page.
        page: MimeBundle,
        /// The name's page takes the place of the one before, where a front end can.
        again: bool,
    },
    /// The end of what was shown, once something else is.
    Clear,
    /// The value of a statement.
    Result(MimeBundle),
    /// An error that ended the request.
    Error(Failure),
    /// The story of one statement.
    Trace(Box<Trace>),
    /// A run without effects left this out: `write prices.csv`.
    Withheld(String),
    /// A text of another front end runs in the session that this one looks at, or has run; what
    /// follows is its.
    Begun {
        /// The name that messages give the text.
        name: String,
        /// The text.
        code: String,
        /// The switches under which it runs.
        switches: Switches,
    },
    /// The state of the way to a session elsewhere, in words; empty: as it should be.
    Link(String),
    /// The ways in which a word could go on.
    Completions {
        /// The first code point of the word.
        start: usize,
        /// The code point behind the word.
        end: usize,
        /// Ways to go on, the likeliest first.
        items: Vec<Completion>,
    },
    /// The page of help on a word, if there is one.
    Inspection(Option<String>),
    /// Whether the text is complete.
    IsComplete(Completeness),
    /// Facts by name: version, device.
    Info(BTreeMap<String, String>),
    /// The program asks for a line: `Client::answer` gives it. The prompt stands on its line
    /// already, or is blanks.
    Input(String),
    /// `)off` or `⎕OFF`: the front end leaves with this code.
    Exit(i32),
}

/// Whether a session works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A request is under way.
    Busy,
    /// The session waits.
    Idle,
}

/// An error as front ends need it: name, span in the executed text, the whole report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// APL's name of the error, `DOMAIN ERROR`.
    pub name: String,
    /// The event number, as `⎕EN` gives it.
    pub number: u32,
    /// The sentence, without the kind's name.
    pub says: String,
    /// Code points in the source named `source`.
    pub span: Option<(u32, u32)>,
    /// The name of the text that the span is in.
    pub source: String,
    /// The drawn report, plain.
    pub report: String,
    /// The same with colours.
    pub coloured: String,
}

/// One way in which a word could go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The text that stands for the word.
    pub text: String,
    /// One word: function, operator, variable, argument, symbol, idiom, system, command.
    pub kind: &'static str,
    /// A sentence on it; empty where there is none.
    pub says: String,
}

/// Whether a text can run as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// It can run.
    Complete,
    /// A bracket or a quote is open: more lines may follow.
    More,
    /// No more text makes it right.
    Never,
}

/// The receiver of a session's events while it works; `input` answers `⎕` and `⍞`.
pub trait Sink {
    /// Takes one event; called in the order in which things happen.
    fn event(&mut self, event: Event);
    /// A line for the program; None: there is no more input.
    fn input(&mut self, prompt: &str) -> Option<String>;
    /// The words before a line that `⎕` asks for. Where nobody types it is left out.
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
    /// Hands a request over, without waiting for its answer.
    fn send(&mut self, request: Request);
    /// The next event, waited for; None: the session is gone.
    fn recv(&mut self) -> Option<Event>;
    /// The event that has come by now, without waiting. Errors: the session is gone.
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

//! COMMANDS: a row per `)` and `]` command. Prompt, scripts, batch and stories run it; help and
//! completion read it.

mod asked;
mod charts;
mod compare;
pub mod device;
mod display;
mod help;
pub mod numpy;
mod pages;
pub mod pictures;
mod promise;
mod runtime;
mod tools;
pub mod tune;
mod workspace;

use aplomb_compiler::pass::switches;
use aplomb_ground::error::{Error, nonce, syntax};
use aplomb_ground::protocol::{Completion, Event, MimeBundle, Sink};
use aplomb_kernel::session::{Commands, Session};
use aplomb_language::eval::cx::View;
use aplomb_language::syntax::token::{Kind, lex};
use aplomb_viz::why::WIDTH;

/// One run of a command.
pub struct Call<'a> {
    /// The text behind the name.
    pub args: &'a str,
    /// The session that the command speaks of.
    pub session: &'a mut Session,
    /// The receiver of its text.
    pub sink: &'a mut dyn Sink,
    /// Whether pictures are ASCII.
    pub ascii: bool,
    /// A cell of several lines is asked about (`%%time`): its values are shown as without the
    /// question.
    pub shows: bool,
    /// The terminal's width, where one shows what is said.
    pub columns: Option<usize>,
}

impl Call<'_> {
    /// Shows a text, as plain text.
    pub fn show(&mut self, text: &str) {
        self.sink.event(Event::Display(aplomb_kernel::session::text(text)));
    }

    /// The same with other forms beside the text.
    pub fn show_in_forms(&mut self, text: &str, others: MimeBundle) {
        let mut bundle = aplomb_kernel::session::text(text);
        bundle.extend(others);
        self.sink.event(Event::Display(bundle));
    }

    /// Writes a file, where the program may.
    pub fn write(&mut self, file: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = std::path::Path::new(file);
        self.session.core().reach.check(path)?;
        if self.session.core().mode().holding {
            self.sink.event(Event::Withheld(format!("write {file}")));
            return Ok(());
        }
        aplomb_kernel::files::write_file(path, bytes, &self.session.interrupt())
    }

    /// Columns that sentences may fill.
    pub fn width(&self) -> usize {
        self.columns.unwrap_or(WIDTH)
    }

    /// The argument's words.
    pub fn words(&self) -> Vec<String> {
        self.args.split_whitespace().map(String::from).collect()
    }

    /// An expression, if there is one.
    pub fn expr(&self) -> Option<String> {
        Some(self.args.trim().to_string()).filter(|s| !s.is_empty())
    }
}

type Run = fn(&mut Call<'_>) -> Result<(), Error>;

/// A command: its name with the bracket, what may follow, what it does. Without `run` it is not
/// built.
pub struct Command {
    /// The name, with its bracket.
    pub name: &'static str,
    /// The arguments, as help shows them; empty where there are none.
    pub args: &'static str,
    /// A sentence for help.
    pub help: &'static str,
    run: Option<Run>,
    /// True where switches may be one letter long.
    short: bool,
    /// It tells of what is pending, or changes how that will run. What any other says is seen only
    /// after whatever may fail and was written before it.
    looks_on: bool,
    /// A test of the arguments, where they name something that is there or not.
    names: Option<fn(&str) -> Result<(), Error>>,
}

const fn row(name: &'static str, args: &'static str, help: &'static str, run: Run) -> Command {
    Command { name, args, help, run: Some(run), short: false, looks_on: false, names: None }
}

const fn looking_on(
    name: &'static str,
    args: &'static str,
    help: &'static str,
    run: Run,
) -> Command {
    Command { name, args, help, run: Some(run), short: false, looks_on: true, names: None }
}

const fn missing(name: &'static str, help: &'static str) -> Command {
    Command { name, args: "", help, run: None, short: false, looks_on: false, names: None }
}

impl Command {
    const fn with_short(self) -> Command {
        Command { short: true, ..self }
    }

    const fn with_switches(self) -> Command {
        Command { names: Some(tools::are_switches), ..self }
    }
}

/// In the order that help prints.
pub static COMMANDS: &[Command] = &[
    looking_on(
        "]dag",
        "[EXPR] [-pass=NAME] [-list | -fold | -whole] [-zoom=program|launches|nodes|body]",
        "The graph of the last line, or of an expression; repeats are folded where it is large.",
        tools::dag,
    ),
    looking_on(
        "]why",
        "[EXPR | NODE | NAME | kN | PASS | QUESTION]",
        "Launches, bytes and time, and the reason for each; or of one node, launch or pass. \
         Questions are launches kept \
         recomputed shared fused bytes evaluations.",
        tools::why,
    ),
    looking_on(
        "]kernels",
        "[kN] [EXPR]",
        "The launches as a table: bytes that all points ask for, bytes from memory (each element \
         once a launch), bytes written; \
         registers and occupancy where NVRTC is.",
        tools::kernels,
    ),
    looking_on(
        "]mem",
        "[EXPR]",
        "Bytes of buffers over the launches: which begin with each, and which nobody reads after.",
        tools::memory,
    ),
    looking_on(
        "]cpu",
        "[kN] [EXPR]",
        "The steps that a CPU runs at every point of each launch.",
        tools::cpu,
    ),
    looking_on(
        "]cuda",
        "[kN] [EXPR]",
        "The text that a GPU would run, one line a node.",
        tools::cuda,
    ),
    looking_on(
        "]ptx",
        "[kN] [EXPR]",
        "What NVRTC makes of that text, each instruction under its line.",
        device::ptx,
    ),
    row(
        "]device",
        "[auto | cpu | cuda]",
        "Where launches run, and what there is; `cuda` looks for a GPU again.",
        device::device,
    ),
    looking_on(
        "]math",
        "[strict | fast]",
        "How a GPU computes: with the CPU's bits, or by its own functions, × and + rounded once, \
         products of f32 added in \
         f32.",
        device::math,
    ),
    looking_on(
        "]tune",
        "[EXPR | on | off | forget]",
        "Runs each launch by all texts of the same value on the GPU, prints their times and keeps \
         the fastest; alone: of the last \
         line.",
        tune::tune,
    ),
    looking_on(
        "]trace",
        "[EXPR | on | off | save FILE]",
        "What each pass did; `on` records every line.",
        tools::trace,
    ),
    looking_on(
        "]passes",
        "[EXPR] [-all]",
        "Nodes, launches, bytes, flops, time and rules, pass by pass.",
        tools::passes,
    ),
    looking_on(
        "]dot",
        "[EXPR] [-pass=NAME | -kernels | -lets | -buffers] [FILE]",
        "The graph for Graphviz; a last word that ends in .dot is the file.",
        tools::dot,
    ),
    looking_on(
        "]time",
        "[EXPR]",
        "What the last line, or an expression, took. ]why tells of the same run.",
        tools::time,
    ),
    row(
        "]profile",
        "EXPR [FILE.svg]",
        "Where the time of an expression goes, by source line: host, launches, compiling, waiting; \
         a last word that ends in .svg gets the calls as a flame picture.",
        crate::profile::command,
    ),
    looking_on(
        "]assert",
        "PROMISE, … [: EXPR]",
        "Fails where the last line, or EXPR, does not hold to `launches N`, `bytes ≤ N` …, \
         `no-break`, `fused`.",
        promise::assert,
    ),
    looking_on(
        "]diff",
        "[-off=SWITCHES] [PASS PASS] [EXPR]",
        "What changed: the last two lines, the last line or EXPR with and without switches, or two \
         passes. EXPR runs once as a statement; what it is compared with runs apart.",
        compare::diff,
    ),
    looking_on(
        "]tui",
        "[EXPR]",
        "The last line, or an expression, in panes: source, graph, reasons, launches.",
        tools::tui,
    ),
    looking_on("]off", "[NAME… | list]", "Switches passes off; alone: what is off.", tools::off)
        .with_switches(),
    looking_on("]on", "NAME…", "Switches passes on again.", tools::on).with_switches(),
    row(
        "]box",
        "[on | off | reset] [-style=non|min|mid|max] [-trains=def|parens|box|tree] [-fns=on|off]",
        "Boxes around nested items; alone: what is set.",
        display::boxes,
    )
    .with_short(),
    row(
        "]boxing",
        "[on | off | reset] [-style=non|min|mid|max] [-trains=def|parens|box|tree] [-fns=on|off]",
        "As ]box.",
        display::boxes,
    )
    .with_short(),
    row(
        "]rows",
        "[on | off | reset] [-style=long|cut|wrap] [-fns=on|off]",
        "Whether long rows are folded.",
        display::rows,
    )
    .with_short(),
    row(
        "]plot",
        "EXPR [-kind=lines|points|bars|histogram|boxes|heat|contour] [-title='TEXT'] \
         [-log=x|y|xy] [-names=A,B] [-axes=A,B] [-x=EXPR] [-size=640x400] \
         [-theme=page|light|dark|print] [FILE.svg | FILE.png]",
        "Draws a vector, the rows of a matrix, or a vector for each series, by ⎕PLOT.",
        charts::plot,
    ),
    row(
        "]img",
        "EXPR [FILE.png]",
        "An array as a picture: a matrix is grey, a last axis of 3 or 4 is colours, a first one \
         frames.",
        charts::img,
    ),
    row(
        "]html",
        "EXPR",
        "Shows a text as HTML, by ⎕SHOW; lines below %%html are the page itself.",
        charts::html,
    ),
    row(
        "]view",
        "EXPR",
        "Shows a value as what it is: a text of SVG or HTML as a page, an array as a table.",
        charts::view,
    ),
    row("]display", "EXPR", "An array with every part in a frame.", display::display),
    row("]disp", "EXPR", "An array in boxes, with marks of axes and types.", display::disp),
    row(
        "]runtime",
        "EXPR | \"EXPR\" … [-compare]",
        "The time that an expression takes; -compare tells how several do beside the first.",
        runtime::runtime,
    )
    .with_short(),
    row(
        "]cmpx",
        "\"EXPR\" …",
        "The times of expressions beside the first; * marks another value.",
        runtime::cmpx,
    )
    .with_short(),
    row("]load", "FILE", "Runs a script here once.", workspace::load),
    row("]help", "[TOPIC]", "Help on a glyph, name, command, error or pass.", help::help),
    row(")vars", "", "The arrays of the workspace.", workspace::vars),
    row(")fns", "", "The functions and operators of the workspace.", workspace::fns),
    row(")ops", "", "The operators of the workspace.", workspace::ops),
    row(")obs", "", "The namespaces of the workspace.", workspace::spaces),
    row(")erase", "NAMES", "Frees names.", workspace::erase),
    row(")clear", "", "Frees all names and resets the system variables.", workspace::clear),
    row(
        ")save",
        "[NAME] [-force]",
        "Keeps names, functions with their source, and ⎕ variables in the file NAME.apw; -force \
         replaces one of another workspace.",
        workspace::save,
    ),
    row(
        ")load",
        "NAME",
        "Takes the names of a saved workspace instead of those that are here.",
        workspace::load_workspace,
    ),
    row(
        ")copy",
        "NAME|dfns [NAMES]",
        "Copies names of a saved workspace here, or functions of the library dfns; ]help dfns \
         lists those.",
        workspace::copy,
    ),
    row(
        ")pcopy",
        "NAME|dfns [NAMES]",
        "As )copy, but names that are here stay as they are.",
        workspace::copy_protected,
    ),
    row(")lib", "[FOLDER]", "The saved workspaces in a folder.", workspace::lib),
    row(")cs", "", "The namespace in which lines run: #.", workspace::space),
    row(")ed", "NAME", "Tells how functions are written here.", workspace::edit),
    row(")si", "", "What is suspended: never anything.", workspace::suspended),
    row(")reset", "", "Clears what is suspended: never anything.", workspace::suspended),
    row("]dinput", "", "A cell of several lines; every cell may be one.", workspace::suspended),
    row(")wsid", "[NAME]", "The name of the workspace; changes it.", workspace::wsid),
    row(")limits", "[NAME=VALUE]", "What a program may use; changes a limit.", workspace::limits),
    row(")off", "[CODE]", "Leaves.", workspace::off),
    missing("]eager", "Forces every statement."),
    missing("]tour", "The first ten minutes, with you typing."),
];

/// The commands as a session takes them.
#[derive(Clone, Copy, Default)]
pub struct Table {
    /// Pictures without line-drawing characters.
    pub ascii: bool,
    /// Standard output shows what is said, so its width counts.
    pub prints: bool,
}

impl Commands for Table {
    fn run(&self, line: &str, session: &mut Session, sink: &mut dyn Sink) -> Result<(), Error> {
        let line = line.trim();
        let (name, args) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let found = find(name);
        if !found.is_some_and(|command| command.looks_on) {
            session.look_back(sink)?;
        }
        let Some(command) = found else { return Err(unknown(name)) };
        let args = without_comment(command, args.trim());
        known_switches(command, args, session)?;
        match command.run {
            Some(run) => {
                let columns = self.prints.then(crate::front::columns).flatten();
                let shows = line.contains('\n');
                run(&mut Call {
                    args: args.trim(),
                    session,
                    sink,
                    ascii: self.ascii,
                    shows,
                    columns,
                })
            }
            None => Err(nonce(command.name)),
        }
    }

    fn check(&self, line: &str) -> Result<(), Error> {
        let line = line.trim();
        let (name, args) = match line.split_once(char::is_whitespace) {
            Some((name, args)) => (name, args.trim()),
            None => (line, ""),
        };
        let command = find(name).ok_or_else(|| unknown(name))?;
        command.names.map_or(Ok(()), |known| known(without_comment(command, args)))
    }

    fn complete(&self, start: &str) -> Vec<Completion> {
        if let Some((name, args)) = start.split_once(char::is_whitespace) {
            let last = args.rsplit(char::is_whitespace).next().map_or("", |word| word);
            return find(name).map_or(Vec::new(), |command| options(command, last));
        }
        let found = COMMANDS
            .iter()
            .filter(|c| c.run.is_some() && c.name.starts_with(&start.to_lowercase()));
        found
            .map(|c| Completion { text: c.name.into(), kind: "command", says: c.help.into() })
            .collect()
    }

    fn help(&self, topic: &str) -> Option<String> {
        help::page(topic, WIDTH)
    }

    fn setting(&self, command: &str, view: &mut View) -> Result<Option<String>, Error> {
        let mut words = command.split_whitespace().map(String::from);
        let name = words.next().map(|name| name.to_lowercase());
        let found = display::SETTINGS.iter().find(|(n, _)| name.as_deref() == Some(*n));
        found.map(|(_, set)| set(&words.collect::<Vec<_>>(), view)).transpose()
    }
}

/// The words that may follow a command and begin so: those that its row has in small letters, and
/// switches where it says NAME….
fn options(command: &Command, begin: &str) -> Vec<Completion> {
    let of = |part: &str| -> Vec<String> {
        match part.split_once('=') {
            Some((flag, values)) if begin.contains('=') => {
                values.split('|').map(|value| format!("{flag}={value}")).collect()
            }
            Some((flag, _)) => vec![format!("{flag}=")],
            None if part == "NAME…" => switches().into_iter().map(String::from).collect(),
            None => vec![part.to_string()],
        }
    };
    let parts = command.args.split([' ', '[', ']']).filter(|part| !part.is_empty());
    let small = |text: &String| {
        let is_word = text.starts_with('-') || text.starts_with(|c: char| c.is_lowercase());
        is_word && text.starts_with(begin) && !text.chars().any(char::is_uppercase)
    };
    let mut texts: Vec<String> = parts.flat_map(of).filter(small).collect();
    texts.dedup();
    let one = |text| Completion { text, kind: "option", says: String::new() };
    texts.into_iter().map(one).collect()
}

/// The words before `⍝`; help has a page on it.
fn without_comment<'a>(command: &Command, args: &'a str) -> &'a str {
    let comment =
        lex(args).into_iter().find(|t| t.kind == Kind::Comment).map(|t| t.span.start as usize);
    match comment {
        Some(0) if command.name == "]help" => args,
        Some(at) => args[..args.char_indices().nth(at).map_or(args.len(), |c| c.0)].trim_end(),
        None => args,
    }
}

/// The names of a command's switches, as its row writes them.
fn flags(command: &Command) -> Vec<&'static str> {
    let parts = command.args.split([' ', '[', ']', '|']);
    let name = |part: &'static str| part.strip_prefix('-')?.split('=').next();
    parts.filter_map(name).collect()
}

/// Errors: a word that is written as a switch and is none of the command's.
fn known_switches(command: &Command, args: &str, session: &mut Session) -> Result<(), Error> {
    let own = flags(command);
    let short = own.iter().filter(|_| command.short).map(|name| &name[..1]);
    let known: Vec<&str> = own.iter().copied().chain(short).collect();
    let interp = session.interp();
    let stray = asked::stray(args, &known, |name| interp.get(name).is_some());
    let Some(name) = stray else { return Ok(()) };
    let all: Vec<String> = own.iter().map(|name| format!("-{name}")).collect();
    let hint = match all.is_empty() {
        true => format!("{} has no switches; (-{name}) is an expression", command.name),
        false => format!("{} has {}", command.name, all.join(" ")),
    };
    Err(syntax(format!("unknown switch -{name}")).hint(hint))
}

fn find(name: &str) -> Option<&'static Command> {
    let name = name.to_lowercase();
    COMMANDS.iter().find(|c| c.name == name)
}

fn unknown(name: &str) -> Error {
    let near = nearest(name, COMMANDS.iter().map(|c| c.name));
    let hint = if near.is_empty() {
        "]help lists the commands".into()
    } else {
        format!("near it: {}", near.join(" "))
    };
    syntax(format!("no command is called {name}")).hint(hint)
}

/// Bytes of the longest word that may be a slip of a name.
const LONGEST: usize = 64;

/// Up to three names that a slip of the fingers may have meant: one in three characters is another.
fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    // No slip makes a name so long.
    if name.len() > LONGEST {
        return Vec::new();
    }
    let name = name.to_lowercase();
    let near = |other: &str| strsim::damerau_levenshtein(&name, other);
    let most = (name.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> =
        names.map(|n| (near(n), n)).filter(|(d, _)| *d <= most).collect();
    found.sort();
    found.dedup();
    found.into_iter().take(3).map(|(_, n)| n).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_one_row_and_a_sentence() {
        for (k, c) in COMMANDS.iter().enumerate() {
            assert!(c.name.starts_with([')', ']']) && c.help.ends_with('.'), "{}", c.name);
            assert!(COMMANDS[..k].iter().all(|other| other.name != c.name), "{} twice", c.name);
        }
    }

    #[test]
    fn a_slip_finds_its_command() {
        assert_eq!(nearest("]dga", COMMANDS.iter().map(|c| c.name)).first(), Some(&"]dag"));
        assert!(nearest("]something", COMMANDS.iter().map(|c| c.name)).is_empty());
    }
}

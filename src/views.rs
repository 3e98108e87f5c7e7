//! Views of a trace and of the tables, for the command line.

use crate::args::{About, CudaArgs, DotArgs, ExplainArgs, Input, TraceArgs};
use crate::commands::pictures::{self, Dot, Room};
use crate::commands::tune as texts;
use crate::front::{FAILED, Printer, Settings, USAGE, on_session, print};
use crate::script;
use crate::told::{Asked, Told, Which, chosen};
use aplomb_compiler::pass::{switch_says, switches as names};
use aplomb_ground::limits::Interrupt;
use aplomb_ground::protocol::{Event, Request, Sink};
use aplomb_ground::report;
use aplomb_ground::span::Source;
use aplomb_ground::trace::Trace;
use aplomb_kernel::files;
use aplomb_kernel::session::Session;
use aplomb_language::table::{OTHER_KEYS, prims as rows};
use aplomb_plans::occupancy;
use aplomb_viz::{ask, tables, why};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// `--off list`: switches with what they do, groups with their members.
pub fn switches() -> String {
    let line = |name: &str| format!("{name:17}{}\n", switch_says(name));
    names().into_iter().map(line).collect()
}

/// Says what failed; the exit code.
pub fn failed(says: &str) -> i32 {
    eprintln!("aplomb: {says}");
    FAILED
}

/// Runs the input with everything recorded, nothing shown, and writes the `view` of the statement
/// that is asked for. What else could be told is said on standard error.
fn traced(
    settings: Settings,
    about: About,
    view: impl FnOnce(&Trace) -> Result<String, String>,
) -> i32 {
    let asked = Which::of(about.line);
    let out = about.out;
    written(out, recorded(settings, about.input, asked, Depth::default()), |told| {
        told.says.iter().for_each(|says| eprintln!("aplomb: {says}"));
        view(told.one()?)
    })
}

/// Writes a view to a file, or prints it.
fn written(
    out: Option<PathBuf>,
    told: Result<Told, i32>,
    view: impl FnOnce(Told) -> Result<String, String>,
) -> i32 {
    let write = |text: String| match out {
        Some(path) => files::write_file(&path, text.as_bytes(), &Interrupt::default())
            .map_err(|e| e.parts().says.clone()),
        None => {
            print(&text);
            Ok(())
        }
    };
    match told {
        Ok(told) => view(told).and_then(write).map_or_else(|says| failed(&says), |()| 0),
        Err(code) => code,
    }
}

/// The input as a request. Errors: the exit code, all said.
pub fn request(input: Input, silent: bool) -> Result<Request, i32> {
    let (name, code) = match (input.file, input.expr) {
        (_, Some(expr)) => ("line 1".to_string(), expr),
        (Some(file), None) => match script::read(&file) {
            Ok(text) => (file.display().to_string(), text),
            Err(says) => {
                eprintln!("aplomb: {says}");
                return Err(USAGE);
            }
        },
        (None, None) => {
            eprintln!("aplomb: FILE or -e 'EXPR' is needed");
            return Err(USAGE);
        }
    };
    Ok(Request::Execute { code, name, silent })
}

/// The depth to which a statement is told.
#[derive(Clone, Default)]
pub struct Depth {
    /// Decisions have the plans of their other ways.
    priced: bool,
    /// Launches have the registers that NVRTC tells, where it is there.
    registers: bool,
    /// Of this architecture.
    arch: Option<String>,
}

/// The traces of the statements that are asked for; at least one. Errors: the exit code, all said.
pub fn recorded(settings: Settings, input: Input, which: Which, depth: Depth) -> Result<Told, i32> {
    let request = request(input, true)?;
    let asked = Asked::of(&settings);
    told(settings, move |session| {
        session.core().set_told(depth.priced);
        let mut printer = Printer::aside();
        session.handle(request, &mut printer);
        if printer.code() != 0 {
            return Err(printer.code());
        }
        let mut told = chosen(session, &asked, which).map_err(|says| failed(&says))?;
        for trace in told.traces.iter_mut().filter(|_| depth.registers) {
            depth.arch.iter().for_each(|arch| trace.config.arch.clone_from(arch));
            session.core().fill(trace);
        }
        Ok(told)
    })
}

/// The trace of the input, whose last value is compiled and not computed. Errors: as `recorded`.
fn unrun(settings: Settings, input: Input) -> Result<Told, i32> {
    let Request::Execute { code, name, .. } = request(input, true)? else { return Err(FAILED) };
    told(settings, move |session| {
        let trace = session.trace_unrun(Source::new(&name, code));
        trace.map(|trace| Told { traces: vec![trace], says: None }).map_err(|e| {
            eprintln!("{}", report::render(&e, crate::front::colours(&std::io::stderr())));
            FAILED
        })
    })
}

/// The view that a session of its own tells. Errors: the exit code.
pub fn told<T: Send + 'static>(
    settings: Settings,
    of: impl FnOnce(&mut Session) -> Result<T, i32> + Send + 'static,
) -> Result<T, i32> {
    let (tell, told) = std::sync::mpsc::channel();
    let code = on_session(settings, move |session| match of(session) {
        Ok(traces) => {
            let _ = tell.send(traces);
            0
        }
        Err(code) => code,
    });
    if code == 0 { told.recv().map_err(|_| FAILED) } else { Err(code) }
}

/// `aplomb trace`.
pub fn trace(settings: Settings, args: TraceArgs) -> i32 {
    let ascii = settings.ascii;
    let settings = Settings { repeats: args.canon, ..settings };
    let (input, out) = (args.about.input, args.about.out);
    // All statements of a program with the plans of their other ways would take minutes.
    let depth = Depth { priced: !args.all, registers: !args.canon, ..Depth::default() };
    let traces = match args.no_run {
        true => unrun(settings, input),
        false if args.all => recorded(settings, input, Which::All, depth),
        false => recorded(settings, input, Which::of(args.about.line), depth),
    };
    written(out, traces, move |told| {
        told.says.iter().for_each(|says| eprintln!("aplomb: {says}"));
        let mut out = String::new();
        for trace in told.traces {
            let trace = if args.canon { trace.canonical() } else { trace };
            if args.text {
                let room =
                    Room { ascii, columns: crate::front::columns(), width: crate::front::width() };
                out += &pictures::report(&trace, &room);
                continue;
            }
            if args.table {
                out += &tables::passes(&trace, true, crate::front::width());
                continue;
            }
            // One document a line; a lone one is laid out for reading.
            let lines = args.ndjson || args.all;
            let json = if lines {
                serde_json::to_string(&trace)
            } else {
                serde_json::to_string_pretty(&trace)
            };
            out += &json.map_err(|e| e.to_string())?;
            out.push('\n');
        }
        Ok(out)
    })
}

/// `aplomb dot`.
pub fn dot(settings: Settings, args: DotArgs) -> i32 {
    let settings = Settings { repeats: args.canon, ..settings };
    traced(settings, args.about, move |trace| {
        let canonical = args.canon.then(|| trace.clone().canonical());
        let trace = canonical.as_ref().map_or(trace, |canonical| canonical);
        let view = match (args.kernels, args.lets, args.buffers) {
            (true, _, _) => Dot::Launches,
            (_, true, _) => Dot::Lets,
            (_, _, true) => Dot::Buffers,
            _ => Dot::Pass(args.pass.as_deref()),
        };
        pictures::dot(trace, view)
    })
}

/// `aplomb cuda`. With an architecture each launch says what it takes of it.
pub fn cuda(settings: Settings, args: CudaArgs) -> i32 {
    let Some(arch) = args.arch else {
        return traced(settings, args.about, |trace| pictures::cuda(trace, None));
    };
    if occupancy::find(&arch).is_none() {
        let known: Vec<&str> = occupancy::ARCHITECTURES.iter().map(|m| m.arch).collect();
        eprintln!("aplomb: no architecture is called {arch}; there are {}", known.join(" "));
        return USAGE;
    }
    let (out, which) = (args.about.out, Which::of(args.about.line));
    let depth = Depth { registers: true, arch: Some(arch), ..Depth::default() };
    let told = recorded(settings, args.about.input, which, depth);
    written(out, told, |told| {
        told.says.iter().for_each(|says| eprintln!("aplomb: {says}"));
        pictures::cuda_on(told.one()?)
    })
}

/// `aplomb ptx`.
pub fn ptx(settings: Settings, about: About) -> i32 {
    traced(settings, about, |trace| crate::commands::device::text(trace, None))
}

/// Prints what went wrong, no value.
#[derive(Default)]
struct Troubles(Printer);

impl Sink for Troubles {
    fn event(&mut self, event: Event) {
        if let Event::Notice(_) | Event::Error(_) | Event::Exit(_) = event {
            self.0.event(event);
        }
    }

    fn input(&mut self, prompt: &str) -> Option<String> {
        self.0.input(prompt)
    }
}

/// `aplomb tune`.
pub fn tune(settings: Settings, input: Input) -> i32 {
    // Values are needed, or nothing would run.
    let request = match request(input, false) {
        Ok(request) => request,
        Err(code) => return code,
    };
    on_session(settings, move |session| {
        if let Some(says) = texts::nothing(session) {
            print(&format!("{says}\n"));
            return 0;
        }
        let mut troubles = Troubles::default();
        let trials = session.tune_program(request, &mut troubles);
        print(&texts::table(&trials));
        troubles.0.code()
    })
}

/// `aplomb explain`.
pub fn explain(settings: Settings, args: ExplainArgs) -> i32 {
    let width = crate::front::width();
    let which = Which::of(args.about.line);
    let depth = Depth { priced: true, ..Depth::default() };
    written(args.about.out, recorded(settings, args.about.input, which, depth), move |told| {
        let trace = told.one()?;
        let text = match &args.why {
            None => why::summary(trace, width) + &why::delayed(trace, width),
            Some(word) => match why::node(trace, word, width) {
                Ok(text) => text,
                Err(says) => ask::answer(trace, word, width)?.ok_or(says)?,
            },
        };
        Ok(match &told.says {
            Some(says) => format!("{}\n{text}", why::wrapped(says, 2, width)),
            None => text,
        })
    })
}

/// `aplomb check`.
pub fn check(settings: Settings, file: &Path, json: bool) -> i32 {
    let text = match script::read(file) {
        Ok(text) => text,
        Err(says) => {
            eprintln!("aplomb: {says}");
            return USAGE;
        }
    };
    let source = Source::new(file.display().to_string(), text);
    on_session(settings, move |session| {
        let errors = session.check(&source);
        let warnings = if errors.is_empty() { session.warnings(&source) } else { Vec::new() };
        let place = |start: usize| {
            let before: Vec<char> = source.text.chars().take(start).collect();
            let line = before.iter().filter(|c| **c == '\n').count() + 1;
            (line, before.iter().rev().take_while(|c| **c != '\n').count() + 1)
        };
        if json {
            let row = |kind: &str, says: &str, span: Option<aplomb_ground::span::Span>| {
                let (line, column) = place(span.map_or(0, |s| s.start) as usize);
                let span = span.map(|s| [s.start, s.end]);
                json!({ "kind": kind, "says": says, "span": span, "line": line, "column": column })
            };
            let of_error = |e: &aplomb_ground::error::Error| {
                let parts = e.parts();
                row(&e.name(), &parts.says, parts.place.as_ref().map(|p| p.span))
            };
            let rows = errors.iter().map(of_error);
            let told = warnings.iter().map(|w| row("WARNING", &w.says, Some(w.span)));
            print(&format!("{}\n", Value::from(rows.chain(told).collect::<Vec<_>>())));
        } else if !errors.is_empty() {
            eprintln!("{}", report::render_all(&errors, crate::front::colours(&std::io::stderr())));
        } else {
            for w in &warnings {
                let (line, column) = place(w.span.start as usize);
                eprintln!("{}:{line}:{column}: {}", source.name, w.says);
            }
        }
        if errors.is_empty() { 0 } else { FAILED }
    })
}

/// `aplomb prims`: all that can be typed by key or name.
pub fn prims(json: bool) -> i32 {
    if json {
        print(&format!("{}\n", Value::from(aplomb_kernel::glyphs::all())));
        return 0;
    }
    let mut out = String::from("glyph key  names\n");
    let keys = rows()
        .map(|p| (p.glyph, p.key, p.names))
        .chain(OTHER_KEYS.iter().map(|(g, k, n)| (*g, Some(*k), *n)));
    for (glyph, key, names) in keys {
        let key = key.map_or("   ".into(), |k| format!("`{k} "));
        out += &format!("{glyph}     {key}  {}\n", names.join(", "));
    }
    print(&out);
    0
}

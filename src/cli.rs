//! The command line: words to a call of one of the other files.

use crate::args::{Cli, Command, TuiArgs, for_help};
use crate::front::{Pipeline, Settings, USAGE};
use crate::{
    batch, bench, gate, lsp, microbench, notebook, panes, profile, repl, script, views, watch,
    words,
};
use aplomb_devices::device::Wanted;
use aplomb_kernel::files::Reach;
use aplomb_plans::plan::{Math, Order};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use std::io::IsTerminal;
use std::process::ExitCode;

/// Runs the program with the words of this process. `taken` gives the bytes that its allocator has
/// taken.
pub fn main(taken: fn() -> usize) -> ExitCode {
    aplomb_ground::heap::count_by(taken);
    std::panic::set_hook(Box::new(|_| ()));
    crate::signals::file_limit_is_an_error();
    ExitCode::from(run(std::env::args().collect()) as u8)
}

fn run(words: Vec<String>) -> i32 {
    let words = words::told_apart(words, &Cli::command());
    let mut cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(e) => {
            let help = || for_help().try_get_matches_from(&words).err();
            let told = (e.kind() == ErrorKind::DisplayHelp).then(help).flatten();
            let _ = told.as_ref().map_or_else(|| e.print(), |told| told.print());
            return e.exit_code();
        }
    };
    if cli.global.off.iter().any(|name| name == "list") {
        crate::front::print(&views::switches());
        return 0;
    }
    let watched = match &cli {
        Cli { command: Some(Command::Run { file, how }), .. }
        | Cli { command: None, file: Some(file), how, .. } => how.watch.then(|| file.clone()),
        _ => None,
    };
    if let Some(file) = watched {
        return watch::run(&words, &file);
    }
    let said = words::said(&words, &Cli::command());
    if let Some(says) = idle(&cli, &said) {
        eprintln!("aplomb: {says}");
        return USAGE;
    }
    let reach = cli.global.files.as_deref().map_or(Ok(Reach::All), Reach::parse);
    let table = cli.global.passes.as_deref() == Some("");
    if let Some(Command::Trace(args)) = &mut cli.command {
        args.table = table && !(args.json || args.ndjson);
    }
    let pipeline = Pipeline {
        preset: cli.global.passes.unwrap_or_default(),
        strict: cli.global.strict_2006,
        dup_by_cost: cli.global.dup.is_some(),
    };
    let settings = Settings::new(
        cli.global.threads,
        &cli.global.limit,
        cli.global.off,
        pipeline,
        cli.global.ascii,
    );
    // clap has seen that they are among its words; whether these are all known here, nobody has.
    let unknown = |option: &str, word: &str| format!("{option} {word} is not known");
    let device =
        Wanted::named(&cli.global.device).ok_or_else(|| unknown("--device", &cli.global.device));
    let math = Math::named(&cli.global.math).ok_or_else(|| unknown("--math", &cli.global.math));
    let order =
        Order::named(&cli.global.reduce).ok_or_else(|| unknown("--reduce", &cli.global.reduce));
    let settings = match settings.and_then(|own| {
        let (reach, device, math, order) = (reach?, device?, math?, order?);
        let (runs, bare) = (cli.global.allow_run, cli.global.no_profile);
        Ok(Settings { reach, device, math, order, runs, bare, ..own })
    }) {
        Ok(settings) => settings,
        Err(says) => {
            eprintln!("aplomb: {says}");
            return USAGE;
        }
    };
    match (cli.command, cli.file) {
        (Some(command), _) => dispatch(command, settings, &said),
        (None, Some(file)) => script::run(settings, file, cli.how.args, cli.how.trace),
        (None, None) if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() => {
            repl::run(settings)
        }
        (None, None) => script::piped(settings),
    }
}

/// The sentence for an option that was asked for and would change nothing. `said` are the options
/// of all forms as they were given.
fn idle(cli: &Cli, said: &[String]) -> Option<String> {
    if cli.command.is_some() || cli.file.is_none() {
        let own = [("--watch", cli.how.watch), ("--trace", cli.how.trace.is_some())];
        if let Some((name, _)) = own.iter().find(|(_, given)| *given) {
            return Some(format!("{name} needs a program: aplomb {name} … FILE"));
        }
    }
    let lone =
        cli.global.passes.as_deref() == Some("") && !matches!(cli.command, Some(Command::Trace(_)));
    if lone {
        return Some("--passes needs a pipeline's name here; alone it is for trace".into());
    }
    let takes: &[&str] = match &cli.command {
        // Nothing runs, so only what may stand in a text counts.
        Some(Command::Check { .. }) => &["--limit"],
        // What runs is somebody else's.
        Some(Command::Tui(TuiArgs { existing: Some(_), .. })) => &["--ascii"],
        Some(Command::Prims { .. }) => &[],
        Some(Command::Bench(args)) if bench::is_apart(args.what()) => &[],
        _ => return None,
    };
    let name = |word: &String| word.split('=').next().unwrap_or_default().to_string();
    let unused = said
        .iter()
        .filter(|word| word.starts_with("--"))
        .map(name)
        .find(|name| !takes.contains(&name.as_str()));
    unused.map(|name| format!("{name} changes nothing here"))
}

/// `said` are the options of all forms as they were given.
fn dispatch(command: Command, settings: Settings, said: &[String]) -> i32 {
    match command {
        Command::Run { file, how } => script::run(settings, file, how.args, how.trace),
        Command::Eval { batch: true, .. } => batch::run(settings),
        Command::Eval { expr, .. } => script::eval(settings, expr.unwrap_or_default()),
        Command::Check { file, json } => views::check(settings, &file, json),
        Command::Lsp { run } => lsp::run(settings, run),
        Command::Trace(args) => views::trace(settings, args),
        Command::Dot(args) => views::dot(settings, args),
        Command::Cuda(input) => views::cuda(settings, input),
        Command::Ptx(input) => views::ptx(settings, input),
        Command::Explain(args) => views::explain(settings, args),
        Command::Profile(args) => profile::run(settings, args),
        Command::Tui(args) => panes::run(settings, args),
        Command::Diff(args) => gate::diff(settings, args),
        Command::Prims { json } => views::prims(json),
        Command::Kernel(what) => notebook::run(settings, what, said),
        Command::Bench(args) => bench::run(settings, args),
        Command::Microbench(args) => microbench::run(settings, args),
        Command::Selftest { cuda } => crate::selftest::run(settings, cuda),
        Command::Tune(input) => views::tune(settings, input),
        Command::Repro(args) => crate::repro::run(settings, args),
        Command::Export(args) => crate::export::run(settings, args),
    }
}

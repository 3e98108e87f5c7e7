//! `aplomb export`: functions of a program as functions of another language.

use crate::args::ExportArgs;
use crate::front::{FAILED, Printer, Settings, USAGE, on_session, print};
use aplomb_export::{Declaration, Function};
use aplomb_ground::error::{Error, Result};
use aplomb_ground::protocol::{Event, Request, Sink};
use aplomb_ground::report;
use aplomb_kernel::session::Session;
use std::path::{Path, PathBuf};

/// Writes the module of a file's functions, or prints it.
pub fn run(settings: Settings, args: ExportArgs) -> i32 {
    let asked = args.language().and_then(|()| asked(&args.functions));
    let text = asked.and_then(|asked| Ok((asked, crate::script::read(&args.file)?)));
    let (asked, code) = match text {
        Ok(both) => both,
        Err(says) => {
            eprintln!("aplomb export: {says}");
            return USAGE;
        }
    };
    on_session(settings, move |session| {
        let name = args.file.display().to_string();
        let mut printer = Printer::aside();
        session.handle(Request::Execute { code, name, silent: true }, &mut Quiet(&mut printer));
        if printer.code() != 0 {
            return printer.code();
        }
        let from: String = args.file.file_name().map(|n| n.to_string_lossy()).into_iter().collect();
        match module(session, &asked, &from) {
            Ok(text) => given(&text, args.out.as_deref(), &args.file),
            Err(error) => {
                eprint!("{}", report::render(&error, false));
                FAILED
            }
        }
    })
}

/// Names, each with the declaration behind it. Errors: a sentence.
fn asked(words: &[String]) -> std::result::Result<Vec<(String, Declaration)>, String> {
    let pair = |pair: &[String]| match pair {
        [name, takes] => match Declaration::parse(takes) {
            Ok(takes) => Ok((name.clone(), takes)),
            Err(e) => Err(format!("{name}: {}", e.parts().says)),
        },
        _ => Err(format!("{} needs a declaration behind it, such as 'f64[n]'", pair[0])),
    };
    words.chunks(2).map(pair).collect()
}

fn module(session: &mut Session, asked: &[(String, Declaration)], from: &str) -> Result<String> {
    let one = |(name, takes): &(String, Declaration)| {
        let samples = takes.samples();
        let samples = samples.iter().map(|sizes| session.applied(name, takes, sizes));
        let samples = samples.collect::<Result<_, Error>>()?;
        Ok(Function { name: name.clone(), takes: takes.clone(), samples })
    };
    let functions: Vec<Function> = asked.iter().map(one).collect::<Result<_>>()?;
    aplomb_export::module(&functions, from)
}

fn given(text: &str, folder: Option<&Path>, file: &Path) -> i32 {
    let Some(folder) = folder else {
        print(text);
        return 0;
    };
    let stem: String = file.file_stem().map(|s| s.to_string_lossy()).into_iter().collect();
    let to = folder.join(format!("{}.py", stem.replace('-', "_")));
    match written(text, folder, &to) {
        Ok(()) => {
            print(&format!("{}\n", to.display()));
            0
        }
        Err(e) => {
            eprintln!("aplomb export: {}: {e}", to.display());
            FAILED
        }
    }
}

/// All of it or nothing: it is written beside, then renamed.
fn written(text: &str, folder: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let beside: PathBuf = to.with_extension(format!("py.{}", std::process::id()));
    let done = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, to));
    if done.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    done
}

/// The errors of a program whose output nobody asked for.
struct Quiet<'a>(&'a mut Printer);

impl Sink for Quiet<'_> {
    fn event(&mut self, event: Event) {
        if !matches!(event, Event::Stream(_) | Event::Result(_) | Event::Display(_)) {
            self.0.event(event);
        }
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

//! `aplomb export`: functions of a program as functions of another language.

use crate::args::{ExportArgs, Language};
use crate::front::{FAILED, Printer, Settings, USAGE, on_session, print};
use aplomb_devices::device::cuda;
use aplomb_export::{Declaration, Function, Planned, of_example};
use aplomb_ground::error::Result;
use aplomb_ground::protocol::{Event, Request, Sink};
use aplomb_ground::report;
use aplomb_ground::span::{Place, Source, Span};
use aplomb_kernel::session::Session;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Writes a file's functions in another language, or prints them.
pub fn run(settings: Settings, args: ExportArgs) -> i32 {
    let asked = args.language().and_then(|l| Ok((l, asked(&args.functions)?)));
    let text = asked.and_then(|asked| Ok((asked, crate::script::read(&args.file)?)));
    let ((language, asked), code) = match text {
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
        match files(session, language, &asked, &args.file) {
            Ok(files) => given(&files, args.out.as_deref()),
            Err(error) => {
                eprintln!("{}", report::render(&error, false));
                FAILED
            }
        }
    })
}

/// The arguments of a function: declared, or to be taken from an example call.
enum Takes {
    Declared(Declaration),
    Example(Place),
}

/// The files of functions, each with its name and its text.
fn files(
    session: &mut Session,
    language: Language,
    asked: &[(String, Takes)],
    file: &Path,
) -> Result<Vec<(String, String)>> {
    let part = |part: Option<&OsStr>| -> String {
        part.map(|n| n.to_string_lossy()).into_iter().collect()
    };
    let (from, stem) = (part(file.file_name()), part(file.file_stem()));
    let stem: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    Ok(match language {
        Language::Python => {
            let module = |all: &[Function]| aplomb_export::module(all, &from);
            let (_, text) = written_for(session, asked, Session::applied, module)?;
            vec![(format!("{stem}.py"), text)]
        }
        Language::C => {
            let c = |all: &[Function<Planned>]| aplomb_export::c(all, &stem, &from);
            let (_, made) = written_for(session, asked, Session::planned, c)?;
            vec![(format!("{stem}.h"), made.header), (format!("{stem}.c"), made.text)]
        }
        Language::Cuda => {
            let cuda_of = |all: &[Function<Planned>]| aplomb_export::cuda(all, &stem, &from);
            let (all, made) = written_for(session, asked, Session::planned, cuda_of)?;
            let arch =
                all.first().and_then(|f| f.samples.first()).map(|s| s.trace.config.arch.clone());
            // Only where NVRTC is installed.
            let ptx = arch.and_then(|arch| cuda::ptx(&made.device, &arch).ok());
            let cmake = ("CMakeLists.txt".to_string(), made.cmake);
            let files =
                [(format!("{stem}.cuh"), made.header), (format!("{stem}.cu"), made.text), cmake];
            files.into_iter().chain(ptx.map(|text| (format!("{stem}.ptx"), text))).collect()
        }
    })
}

/// A function at one of the sizes of its declaration.
type At<T> = fn(&mut Session, &str, &Declaration, &[usize]) -> Result<T>;

/// All functions at the sizes of their declarations, and their text.
fn written_for<T, F>(
    session: &mut Session,
    asked: &[(String, Takes)],
    at: At<T>,
    write: impl Fn(&[Function<T>]) -> Result<F>,
) -> Result<(Vec<Function<T>>, F)> {
    let mut all = Vec::new();
    for (name, takes) in asked {
        let takes = match takes {
            Takes::Declared(takes) => takes.clone(),
            Takes::Example(call) => {
                let arguments = session.arguments_of(name, call)?;
                let found = of_example(&arguments, &mut |takes| {
                    let function = at_sizes(session, name, takes, at)?;
                    write(std::slice::from_ref(&function)).map(drop)
                });
                found.map_err(|e| e.at(call))?
            }
        };
        all.push(at_sizes(session, name, &takes, at)?);
    }
    let text = write(&all)?;
    Ok((all, text))
}

/// A function at the sizes of a declaration.
fn at_sizes<T>(
    session: &mut Session,
    name: &str,
    takes: &Declaration,
    at: At<T>,
) -> Result<Function<T>> {
    let samples = takes.samples();
    let samples = samples.iter().map(|s| at(session, name, takes, s)).collect::<Result<_>>()?;
    Ok(Function { name: name.into(), takes: takes.clone(), samples })
}

/// Names, each with the declaration or the example behind it. Errors: a sentence.
fn asked(words: &[String]) -> std::result::Result<Vec<(String, Takes)>, String> {
    let pair = |pair: &[String]| match pair {
        [name, takes] => match Declaration::parse(takes) {
            Ok(takes) => Ok((name.clone(), Takes::Declared(takes))),
            Err(_) if has_word(takes, name) => {
                let text = Source::new("export", takes.as_str());
                let all = Span::new(0, takes.chars().count() as u32);
                Ok((name.clone(), Takes::Example(Place::new(&text, all))))
            }
            Err(e) => Err(format!("{name}: {}; an example would call {name}", e.parts().says)),
        },
        _ => Err(format!(
            "{0} needs a declaration behind it, such as 'f64[n]', or a call: '{0} 1.5 2'",
            pair[0]
        )),
    };
    words.chunks(2).map(pair).collect()
}

/// Whether a name stands in a text.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '∆' | '⍙');
    text.split(|c| !is_part(c)).any(|word| word == name)
}

fn given(files: &[(String, String)], folder: Option<&Path>) -> i32 {
    let Some(folder) = folder else {
        files.iter().for_each(|(_, text)| print(text));
        return 0;
    };
    match written(files, folder) {
        Ok(paths) => {
            paths.iter().for_each(|path| print(&format!("{}\n", path.display())));
            0
        }
        Err((path, e)) => {
            eprintln!("aplomb export: {}: {e}", path.display());
            FAILED
        }
    }
}

/// All of them or nothing: they are written beside, then renamed. What was there before comes back
/// if one of them cannot be. Errors: the file, and what stands in its way.
fn written(
    files: &[(String, String)],
    folder: &Path,
) -> std::result::Result<Vec<PathBuf>, (PathBuf, std::io::Error)> {
    let to: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
    let beside = |path: &Path| {
        let mut name = path.file_name().map(OsString::from).into_iter().collect::<OsString>();
        name.push(format!(".{}", std::process::id()));
        path.with_file_name(name)
    };
    let first = to.first().cloned().into_iter().collect::<PathBuf>();
    std::fs::create_dir_all(folder).map_err(|e| (first, e))?;
    if let Some(path) = to.iter().find(|path| path.is_dir()) {
        return Err((path.clone(), ErrorKind::IsADirectory.into()));
    }
    let old: Vec<Option<Vec<u8>>> = to.iter().map(|path| std::fs::read(path).ok()).collect();
    let mut renamed = 0;
    let mut steps = || {
        for (path, (_, text)) in to.iter().zip(files) {
            std::fs::write(beside(path), text).map_err(|e| (path.clone(), e))?;
        }
        for path in &to {
            std::fs::rename(beside(path), path).map_err(|e| (path.clone(), e))?;
            renamed += 1;
        }
        Ok(())
    };
    let done = steps();
    if done.is_err() {
        to.iter().for_each(|path| drop(std::fs::remove_file(beside(path))));
        for (path, old) in to.iter().zip(&old).take(renamed) {
            let _ = match old {
                Some(bytes) => std::fs::write(path, bytes),
                None => std::fs::remove_file(path),
            };
        }
    }
    done.map(|()| to)
}

/// The errors of a program whose output nobody asked for.
struct Quiet<'a>(&'a mut Printer);

impl Sink for Quiet<'_> {
    fn event(&mut self, event: Event) {
        if !matches!(
            event,
            Event::Stream(_) | Event::Result(_) | Event::Display(_) | Event::Named { .. }
        ) {
            self.0.event(event);
        }
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

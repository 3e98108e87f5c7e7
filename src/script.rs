//! Programs that run without a prompt: a file, one line, lines from a pipe.

use crate::front::{FAILED, Printer, Settings, USAGE, on_session};
use crate::told::{self, Asked, Which};
use aplomb_ground::protocol::{Completeness, Request};
use aplomb_kernel::files;
use aplomb_kernel::session::Session;
use aplomb_language::syntax;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

/// A program's text; that of `-` is standard input, to its end. `#!` becomes `⍝!`: a comment of
/// the same length. Errors: one line for the user.
pub fn read(path: &Path) -> Result<String, String> {
    written(path).map(|text| as_comment(&text))
}

/// The same as it is written.
pub fn written(path: &Path) -> Result<String, String> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    let bytes = bytes.map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => format!("no such file: {}", path.display()),
        _ => format!("{}: {e}", path.display()),
    })?;
    decoded(path, bytes)
}

/// A program's text from the bytes of its file, as `read` gives it. Errors: where they are no
/// UTF-8.
pub fn text(path: &Path, bytes: Vec<u8>) -> Result<String, String> {
    decoded(path, bytes).map(|text| as_comment(&text))
}

fn decoded(path: &Path, bytes: Vec<u8>) -> Result<String, String> {
    let mut text = String::from_utf8(bytes).map_err(|e| {
        let line = e.as_bytes()[..e.utf8_error().valid_up_to()].split(|b| *b == b'\n').count();
        format!("{}: line {line} is not UTF-8", path.display())
    })?;
    // The mark of an encoding is none of the program.
    if text.starts_with('\u{FEFF}') {
        text.drain(..'\u{FEFF}'.len_utf8());
    }
    Ok(text)
}

fn as_comment(text: &str) -> String {
    text.strip_prefix("#!").map_or_else(|| text.into(), |rest| format!("⍝!{rest}"))
}

fn execute(session: &mut Session, code: String, name: String, printer: &mut Printer) {
    session.handle(Request::Execute { code, name, silent: false }, printer);
}

/// `aplomb FILE`: stops at the first error.
pub fn run(settings: Settings, file: PathBuf, args: Vec<String>, trace: Option<PathBuf>) -> i32 {
    let text = match read(&file) {
        Ok(text) => text,
        Err(says) => {
            eprintln!("aplomb: {says}");
            return USAGE;
        }
    };
    let asked = Asked::of(&settings);
    on_session(settings, move |session| {
        session.interp().set_args(args);
        session.interp().set_script(&file.display().to_string());
        if trace.is_some() {
            session.core().set_told(false);
        }
        let mut printer = Printer::default();
        execute(session, text, file.display().to_string(), &mut printer);
        let saved = trace.map(|to| save_trace(session, &asked, &to));
        session.finish(&mut printer);
        match saved {
            Some(Err(says)) => {
                eprintln!("aplomb: {says}");
                printer.code().max(FAILED)
            }
            _ => printer.code(),
        }
    })
}

fn save_trace(session: &mut Session, asked: &Asked, to: &Path) -> Result<(), String> {
    let told = told::chosen(session, asked, Which::Most)?;
    let json = serde_json::to_string(told.one()?).map_err(|e| e.to_string())?;
    files::write_file(to, format!("{json}\n").as_bytes(), &session.interrupt())
        .map_err(|e| e.parts().says.clone())
}

/// `aplomb eval EXPR`.
pub fn eval(settings: Settings, expr: String) -> i32 {
    on_session(settings, move |session| {
        let mut printer = Printer::default();
        execute(session, expr, "line 1".into(), &mut printer);
        session.finish(&mut printer);
        printer.code()
    })
}

/// Lines from a pipe: each complete piece runs as if typed; an error does not end it.
pub fn piped(settings: Settings) -> i32 {
    on_session(settings, |session| {
        let mut printer = Printer::default();
        let mut pieces = Pieces::default();
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            // Not held: the program may ask for a line itself.
            let read = match std::io::stdin().lock().read_until(b'\n', &mut bytes) {
                Ok(read) => read,
                Err(e) => {
                    eprintln!("aplomb: the program cannot be read further: {e}");
                    return 1;
                }
            };
            let line = String::from_utf8_lossy(&bytes);
            let ready = if read == 0 {
                pieces.rest()
            } else {
                pieces.line(line.trim_end_matches(['\n', '\r']))
            };
            if let Some((code, name)) = ready {
                execute(session, code, name, &mut printer);
            }
            if read == 0 {
                session.finish(&mut printer);
            }
            if read == 0 || printer.is_over() {
                return printer.code();
            }
        }
    })
}

/// Gathers lines until they are complete.
#[derive(Default)]
pub struct Pieces {
    seen: usize,
    open: String,
    read: syntax::Lines,
    first: usize,
}

impl Pieces {
    /// The text and name of what this line completes.
    pub fn line(&mut self, line: &str) -> Option<(String, String)> {
        self.seen += 1;
        if self.open.is_empty() {
            self.first = self.seen;
        } else {
            self.open.push('\n');
        }
        self.open.push_str(line);
        self.read.add(line);
        if self.read.completeness() == Completeness::More && !is_command(&self.open) {
            return None;
        }
        self.rest()
    }

    /// The text that is left when nothing follows.
    pub fn rest(&mut self) -> Option<(String, String)> {
        self.read = syntax::Lines::default();
        let text = std::mem::take(&mut self.open);
        (!text.trim().is_empty()).then(|| (text, format!("line {}", self.first)))
    }
}

/// A `)` or `]` line, which is complete as it stands.
pub fn is_command(text: &str) -> bool {
    !text.contains('\n') && text.trim_start().starts_with([')', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_bracket_waits_for_its_end() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.line("1+1"), Some(("1+1".into(), "line 1".into())));
        assert_eq!(pieces.line("f←{"), None);
        assert_eq!(pieces.line("⍵}"), Some(("f←{\n⍵}".into(), "line 2".into())));
        assert_eq!(pieces.line("]dag {"), Some(("]dag {".into(), "line 4".into())));
        assert_eq!(pieces.line("("), None);
        assert_eq!(pieces.rest(), Some(("(".into(), "line 5".into())));
    }
}

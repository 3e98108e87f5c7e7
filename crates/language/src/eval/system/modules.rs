//! ⎕IMPORT: a script or a folder of sources as a namespace, once for each.
//!
//! A path is sought beside the file that asks, beside the program, from the working folder, and in
//! the folders of APLOMB_PATH. A file of a folder is a member of its namespace, by its ending.

use super::files::path;
use super::library::is_library;
use super::names::{defined, is_name};
use super::{Args, Row, function};
use crate::eval::cx::Cx;
use crate::eval::host::{Answer, Errand};
use crate::eval::run::Eval;
use crate::eval::space::Space;
use crate::eval::value::Value;
use aplomb_ground::error::{Error, Result, domain, limit};
use aplomb_ground::span::Source;
use aplomb_values::array::Array;
use std::rc::Rc;

/// ⎕IMPORT.
pub static ROWS: &[Row] = &[function(
    "IMPORT",
    "The namespace that the script or the folder Y makes: its names. It is read once, however \
     often it is asked for; a path is sought beside the file that asks.",
    ("⎕NC'⎕IMPORT'", "3"),
    import,
)];

/// A file or folder that was imported.
#[derive(Clone)]
pub struct Module {
    /// Its whole path.
    key: String,
    /// The path by which it was found.
    name: String,
    /// Its namespace; None: it is being read.
    space: Option<Rc<Space>>,
}

fn import(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let path = path(a.y)?;
    match located(&mut ev.cx, &path)? {
        None if is_library(&path) => {
            if let Some(known) = ev.st.modules.iter().find(|m| m.key == path) {
                return Ok(known.space.as_ref().map(Space::value));
            }
            let space = ev.library()?;
            let (key, name) = (path.clone(), path);
            ev.st.modules.push(Module { key, name, space: Some(space.clone()) });
            Ok(Some(space.value()))
        }
        found => ev.module(&found.map_or(path, |found| found)).map(|space| Some(space.value())),
    }
}

/// The first place where there is such a file or folder.
fn located(cx: &mut Cx<'_>, path: &str) -> Result<Option<String>> {
    let asks = cx.sys.source.as_ref().map_or(String::new(), |s| s.name.clone());
    let program = cx.sys.screen.script.to_string();
    let world = cx.world("a file")?;
    if path.starts_with('/') {
        return Ok(world.exists(path).then(|| path.into()));
    }
    let folder = |file: &str| file.rsplit_once('/').map(|(folder, _)| folder.to_string());
    let mut folders: Vec<String> =
        [folder(&asks), folder(&program)].into_iter().flatten().collect();
    folders.push(String::new());
    if let Answer::Text(all) = world.errand(&Errand::Environment("APLOMB_PATH".into()))? {
        folders.extend(all.split(':').filter(|f| !f.is_empty()).map(String::from));
    }
    for folder in folders {
        let place = if folder.is_empty() { path.into() } else { format!("{folder}/{path}") };
        let place = tidied(&place);
        if world.exists(&place) {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// A path without `.` and `..` where they change nothing.
fn tidied(path: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if out.last().is_some_and(|p| !p.is_empty() && *p != "..") => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out.join("/")
}

/// The last part of a path without its ending, and the ending.
fn stem(path: &str) -> (&str, &str) {
    let last = path.trim_end_matches('/').rsplit('/').next().map_or(path, |last| last);
    last.split_once('.').map_or((last, ""), |parts| parts)
}

/// A script's text; `#!` at its begin is a comment.
pub fn script_text(cx: &mut Cx<'_>, path: &str) -> Result<String> {
    let bytes = cx.world("a file")?.read_file(path)?;
    let text = String::from_utf8(bytes).map_err(|_| domain(format!("{path} is no UTF-8 text")))?;
    Ok(match text.strip_prefix("#!") {
        Some(rest) => format!("⍝!{rest}"),
        None => text,
    })
}

impl Eval<'_> {
    /// The namespace of a file or folder that is there. Errors: DOMAIN for what imports itself; its
    /// own.
    fn module(&mut self, found: &str) -> Result<Rc<Space>> {
        let whole = self.cx.world("a file")?.errand(&Errand::Absolute(found.into()));
        let key = match whole {
            Ok(Answer::Text(whole)) => whole,
            _ => found.into(),
        };
        match self.st.modules.iter().find(|m| m.key == key) {
            Some(Module { space: Some(space), .. }) => return Ok(space.clone()),
            Some(_) => {
                let open = self.st.modules.iter().filter(|m| m.space.is_none());
                let mut cycle: Vec<&str> = open.map(|m| m.name.as_str()).collect();
                cycle.push(found);
                return Err(domain(format!("a file imports itself: {}", cycle.join(" → "))));
            }
            None => {}
        }
        let name = Some(stem(found).0).filter(|name| is_name(name)).map_or("[Module]", |name| name);
        let space = self.module_space(name);
        self.st.modules.push(Module { key: key.clone(), name: found.into(), space: None });
        let limits = self.cx.host.limits().clone();
        let (source, span) = (self.cx.sys.source.clone(), self.cx.sys.span);
        self.st.depth += 1;
        let done = match self.st.depth > limits.depth {
            true => Err(limit(format!("scripts stand more than {} deep", limits.depth))),
            false => self.in_space(&space, |ev| ev.filled(found)),
        };
        self.st.depth -= 1;
        (self.cx.sys.source, self.cx.sys.span) = (source, span);
        self.st.modules.retain(|m| m.key != key);
        done?;
        let name = found.to_string();
        self.st.modules.push(Module { key, name, space: Some(space.clone()) });
        Ok(space)
    }

    /// The current namespace gets what the file or folder defines.
    fn filled(&mut self, found: &str) -> Result<()> {
        let is_folder = matches!(
            self.cx.world("a file")?.errand(&Errand::Facts(found.into())),
            Ok(Answer::Facts(of)) if of.kind == 1
        );
        if !is_folder {
            let text = script_text(&mut self.cx, found)?;
            let limits = self.cx.host.limits().clone();
            return self.script(&Source::new(found, text), &limits);
        }
        let folder = format!("{}/", found.trim_end_matches('/'));
        let Answer::Names(names) =
            self.cx.world("a folder")?.errand(&Errand::List(folder.clone()))?
        else {
            return Ok(());
        };
        for name in names.iter().filter(|name| !name.starts_with('.')) {
            self.cx.host.interrupt().check()?;
            let path = format!("{folder}{name}");
            self.member_of_folder(&path).map_err(|e| match e.has_place() {
                true => e,
                false => e.hint(format!("in {path}")),
            })?;
        }
        Ok(())
    }

    /// A file of a folder as a member, by its ending. Files with other endings are no sources.
    fn member_of_folder(&mut self, path: &str) -> Result<()> {
        let (name, ending) = stem(path);
        let limits = self.cx.host.limits().clone();
        match ending {
            "aplf" | "aplo" => {
                let text = script_text(&mut self.cx, path)?;
                let lines: Vec<String> = text.lines().map(String::from).collect();
                match defined(self, &Source::new(path, lines.join("\n")))? {
                    Ok(_) => Ok(()),
                    Err(line) => Err(not_defined(path, line)),
                }
            }
            "apln" => {
                let text = script_text(&mut self.cx, path)?;
                self.script(&Source::new(path, text), &limits)
            }
            "apla" => {
                let text = script_text(&mut self.cx, path)?;
                self.script(&Source::new(path, format!("{name}←{text}")), &limits)
            }
            "apl" | "" => {
                let is_source = ending == "apl" || {
                    let facts = self.cx.world("a file")?.errand(&Errand::Facts(path.into()))?;
                    matches!(facts, Answer::Facts(of) if of.kind == 1)
                };
                if is_source && is_name(name) {
                    let space = self.module(path)?;
                    let sym = self.st.symbols.intern(name);
                    self.set_global(sym, Some(Value::Array(space.value())));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn not_defined(path: &str, line: usize) -> Error {
    domain(format!("{path} defines no function: line {line} is wrong"))
}

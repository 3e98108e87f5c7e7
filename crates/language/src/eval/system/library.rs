//! The library `dfns`, carried as APL text: ⎕CY copies names of it into the space that runs.
//!
//! A name is a file of `dfns/`, whose first line is a comment on it; the rest defines the name and
//! no other. The build makes the table of the folder.

use super::{Row, optional, texts};
use crate::eval::run::Eval;
use crate::eval::space::Space;
use aplomb_ground::error::{Error, Result, domain};
use aplomb_ground::span::Source;
use std::rc::Rc;

/// Names and texts, in alphabetical order.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/dfns.rs"));

/// The name by which programs ask for the library.
pub const LIBRARY: &str = "dfns";

/// ⎕CY.
pub static ROWS: &[Row] = &[optional(
    "CY",
    "Copies the names X of a saved workspace, or of the library 'dfns', here; without X all of \
     them. With ⍠'Protect' 1 names that are here stay as they are.",
    ("'to'⎕CY'dfns' ⋄ 2 to 5", "2 3 4 5"),
    &["Protect"],
    |ev, a| {
        let protects = a.options.flag("Protect", false)?;
        let name = a.y.word().ok_or_else(|| domain("⎕CY takes the name of a workspace"))?;
        let wanted = a.x.map(|x| texts(x, "a name", ev.cx.budget())).transpose()?;
        // A text may hold several, with blanks between them.
        let split = |texts: Vec<String>| -> Vec<String> {
            texts.iter().flat_map(|t| t.split_whitespace().map(String::from)).collect()
        };
        let wanted = wanted.map(split);
        let world = ev.cx.world("a file")?;
        let file = if world.exists(&name) { name.clone() } else { format!("{name}.apw") };
        if is_library(&name) && !world.exists(&file) {
            ev.copy_library(wanted.as_deref(), protects)?;
            return ev.nothing();
        }
        let bytes = world.read_file(&file)?;
        ev.copy_workspace(&bytes, wanted.as_deref(), protects)?;
        ev.nothing()
    },
)];

/// The names of the library, each with the sentence on it.
pub fn members() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().map(|(name, text)| (*name, sentence(text)))
}

/// The first line of a text, without what makes it a comment.
fn sentence(text: &str) -> &str {
    text.lines().next().map_or("", |line| line.trim_start_matches(['⍝', ' ']))
}

/// Whether a text names the library: with or without a folder and the ending of workspaces.
pub fn is_library(name: &str) -> bool {
    let last = name.trim().rsplit(['/', '\\']).next();
    last.is_some_and(|last| last.trim_end_matches(".dws") == LIBRARY)
}

fn missing(names: &[&str]) -> Error {
    domain(format!("dfns has no {}", names.join(" "))).hint("]help dfns lists what it has")
}

impl Eval<'_> {
    /// Copies names of the library into the space that runs, those that are there already too but
    /// where it `protects` them; None: all. Errors: DOMAIN where a name
    /// is not there, and then nothing is copied.
    pub fn copy_library(&mut self, names: Option<&[String]>, protects: bool) -> Result<()> {
        let find = |name: &str| FILES.iter().find(|(n, _)| *n == name);
        let mut found: Vec<&(&str, &str)> = match names {
            None => FILES.iter().collect(),
            Some(names) => {
                let unknown = names.iter().map(String::as_str).filter(|n| find(n).is_none());
                let unknown: Vec<&str> = unknown.collect();
                if !unknown.is_empty() {
                    return Err(missing(&unknown));
                }
                names.iter().filter_map(|name| find(name)).collect()
            }
        };
        found.retain(|(name, _)| !(protects && self.named(name).is_some()));
        let here = self.st.here.clone();
        self.carried(&here, &found)
    }

    /// Runs files of the library in a space.
    fn carried(&mut self, space: &Rc<Space>, found: &[&(&str, &str)]) -> Result<()> {
        let limits = self.cx.host.limits().clone();
        let (source, span) = (self.cx.sys.source.clone(), self.cx.sys.span);
        let done = self.in_space(space, |ev| {
            found.iter().try_for_each(|(name, text)| {
                ev.script(&Source::new(format!("dfns/{name}.apl"), *text), &limits)
            })
        });
        (self.cx.sys.source, self.cx.sys.span) = (source, span);
        done
    }

    /// All of the library as a namespace of its own.
    pub fn library(&mut self) -> Result<Rc<Space>> {
        let space = self.module_space(LIBRARY);
        self.carried(&space, &FILES.iter().collect::<Vec<_>>())?;
        Ok(space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Interp;
    use crate::testing::Host;

    #[test]
    fn each_file_of_dfns_opens_with_a_sentence_and_defines_its_name_alone() {
        for (name, says) in members() {
            let (mut interp, mut host) = (Interp::new(), Host::default());
            let line = format!("'{name}'⎕CY'dfns'");
            let done = interp.execute(&Source::new("test", line), &mut host);
            assert!(done.is_ok(), "{name}: {done:?}");
            let made: Vec<String> = interp.names().into_iter().map(|n| n.name).collect();
            assert_eq!(made, [name], "{name}.apl");
            assert!(says.ends_with('.') && says.len() > 10, "{name}: {says}");
            assert!(host.printed.is_empty(), "{name} prints {}", host.printed);
        }
    }

    #[test]
    fn a_name_that_dfns_has_not_copies_nothing() {
        let (mut interp, mut host) = (Interp::new(), Host::default());
        let line = Source::new("test", "'to' 'nosuch'⎕CY'dfns'");
        let says = interp.execute(&line, &mut host).map_err(|e| e.parts().says.clone());
        assert_eq!(says, Err("dfns has no nosuch".into()));
        assert!(interp.names().is_empty());
    }

    #[test]
    fn the_library_has_its_names_with_and_without_a_folder() {
        assert!(is_library("dfns") && is_library("ws/dfns.dws") && !is_library("mydfns"));
    }
}

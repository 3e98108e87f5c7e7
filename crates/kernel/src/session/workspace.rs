//! A session's workspace in a file, and what is told of texts and values beside running them.

use super::{Session, World, lines};
use aplomb_ground::error::Error;
use aplomb_ground::span::Source;
use aplomb_language::eval::system;
use aplomb_language::syntax;
use aplomb_values::array::Array;
use std::sync::Arc;

impl Session {
    /// The workspace as the bytes of a file. Errors: of values that are computed for it; DOMAIN.
    pub fn saved(&mut self) -> Result<Vec<u8>, Error> {
        self.interp.saved(&mut World::new(&mut self.core, None, true))
    }

    /// Takes a workspace that was saved instead of this one. Errors: DOMAIN, WS FULL, and then
    /// nothing is changed.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.interp.load(bytes, &mut World::new(&mut self.core, None, true))?;
        (self.last, self.earlier) = (None, None);
        Ok(())
    }

    /// Whether two values are the same, as ≡ has it.
    pub fn same(&mut self, x: &Array, y: &Array) -> Result<bool, Error> {
        self.interp.same(x, y, &mut World::new(&mut self.core, None, true))
    }

    /// The place of a file that the text which runs names: beside it, where there is one.
    pub fn beside(&self, path: &str) -> String {
        let folder = self.running.last().and_then(|name| name.rsplit_once('/'));
        match folder {
            Some((folder, _)) if !path.starts_with('/') => {
                let place = format!("{folder}/{path}");
                if std::path::Path::new(&place).exists() { place } else { path.into() }
            }
            _ => path.into(),
        }
    }

    /// The statements of a text without errors that can never run, the names that nobody sets, and
    /// the ⎕ names and commands that there are not.
    pub fn warnings(&self, source: &Arc<Source>) -> Vec<syntax::lint::Warning> {
        let mut lint = syntax::lint::Lint::default();
        for piece in lines::pieces(&source.text) {
            match piece {
                lines::Piece::Command(line, part) => {
                    lint.command(&line);
                    let checked = self.core.commands.as_ref().map(|known| known.check(&line));
                    if let Some(Err(e)) = checked {
                        lint.tell(e.parts().says.clone(), part.place(&source.name).span);
                    }
                }
                lines::Piece::Code(part) => lint.piece(&part.of(&source.name), &self.core.limits),
            }
        }
        lint.warnings(|name| system::find(name).err().map(|e| e.parts().says.clone()))
    }
}

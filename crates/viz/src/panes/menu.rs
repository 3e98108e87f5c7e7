//! The names that the panes offer. They belong to the compiler (pipelines, switches) and to the
//! language (glyphs), which this crate does not know; the program hands them over.

/// The names on the board of switches, and what a key behind a backtick writes.
#[derive(Clone, Debug, Default)]
pub struct Menu {
    /// Pipelines: name and sentence.
    pub presets: Vec<(&'static str, &'static str)>,
    /// Switches, groups among them: name and sentence.
    pub switches: Vec<(&'static str, String)>,
    /// Names that stand for several switches.
    pub groups: &'static [(&'static str, &'static [&'static str])],
    /// A key and its glyph.
    pub keys: Vec<(char, char)>,
}

impl Menu {
    /// The switches that a name stands for: itself, or those of its group.
    pub fn members(&self, name: &'static str) -> Vec<&'static str> {
        self.groups.iter().find(|g| g.0 == name).map_or_else(|| vec![name], |g| g.1.to_vec())
    }

    /// Whether a switch, or all of a group, is on.
    pub fn is_on(&self, off: &[String], name: &'static str) -> bool {
        self.members(name).iter().all(|m| !off.iter().any(|o| o == m))
    }

    /// The glyph of a key behind a backtick.
    pub fn glyph(&self, key: char) -> Option<char> {
        self.keys.iter().find(|k| k.0 == key).map(|k| k.1)
    }
}

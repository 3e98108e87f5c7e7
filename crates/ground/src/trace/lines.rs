//! Lines of code: how many a statement has, and the texts that it became (BAR-22).

use super::Trace;
use serde::{Deserialize, Serialize};

/// Lines with something on them but a comment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinesOfCode {
    /// Lines of the statement.
    pub source: u32,
    /// Lines of the CUDA texts of its launches, without what all texts share.
    pub cuda: u32,
}

impl Trace {
    /// Counts the lines of the statement and of its launches' texts.
    pub fn count_lines(&mut self) {
        let lines = |text: &str, comment: &str| {
            let own = text.lines().map(str::trim);
            own.filter(|l| !l.is_empty() && !l.starts_with(comment)).count() as u32
        };
        let texts = self.kernels.iter().filter_map(|k| k.cuda.as_ref());
        let cuda = texts.map(|cuda| lines(&cuda.text, "//")).sum();
        let source = lines(&self.statement, "⍝");
        self.loc = (!self.kernels.is_empty()).then_some(LinesOfCode { source, cuda });
    }
}

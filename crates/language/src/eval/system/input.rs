//! `⎕` and `⍞` as values: what someone types.

use crate::eval::run::{At, Eval, Outcome};
use aplomb_ground::error::{Error, Kind, Result, value};
use aplomb_values::array::Array;

fn nobody(what: &str) -> Error {
    value(format!("nothing was typed for {what}"))
        .hint("a script reads standard input; a batch has nobody to ask")
}

impl Eval<'_> {
    /// `⍞←`: no line end; the next answer begins with what stands on the line.
    pub fn prompt(&mut self, text: &str) {
        self.cx.effect("output");
        self.cx.host.output(text);
        let prompt = &mut self.cx.sys.screen.prompt;
        match text.rsplit_once('\n') {
            Some((_, last)) => *prompt = last.into(),
            None => prompt.push_str(text),
        }
    }

    /// `⍞`: a line as text, behind the prompt that stands before it.
    pub fn typed_line(&mut self) -> Result<Array> {
        self.cx.unframed("⍞")?;
        self.cx.effect("input");
        self.cx.settle(&[], "input")?;
        let prompt = std::mem::take(&mut self.cx.sys.screen.prompt);
        let line = self.cx.host.read_line(&prompt);
        self.cx.host.interrupt().check()?;
        let line = line.ok_or_else(|| nobody("⍞"))?;
        self.cx.text(&format!("{prompt}{line}"))
    }

    /// `⎕`: a line as its value. An error in it is told, and the line asked for again; `→` ends it
    /// all.
    pub fn evaluated_input(&mut self, at: At<'_>) -> Result<Array> {
        self.cx.unframed("⎕")?;
        self.cx.effect("input");
        self.cx.settle(&[], "input")?;
        self.cx.sys.screen.prompt.clear();
        loop {
            self.cx.host.prompt("⎕:\n");
            let line = self.cx.host.read_line("      ");
            self.cx.host.interrupt().check()?;
            let line = line.ok_or_else(|| nobody("⎕"))?;
            match line.trim() {
                "" => continue,
                "→" => return Err(aplomb_ground::error::interrupt()),
                text => {
                    let text = self.cx.text(text)?;
                    match self.execute_text(at, &text) {
                        Ok(Outcome::Array(a)) => return Ok(a),
                        Ok(_) => {}
                        Err(e) if e.kind() == Kind::Exit => return Err(e),
                        Err(e) => self
                            .cx
                            .host
                            .output(&format!("{}\n", aplomb_ground::report::render(&e, false))),
                    }
                }
            }
        }
    }
}

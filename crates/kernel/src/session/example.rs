//! The arguments of a call that somebody gives as an example.

use super::Session;
use super::world::World;
use aplomb_ground::error::{Result, bug, value};
use aplomb_ground::span::{Place, Source};
use aplomb_language::eval::value::Value;
use aplomb_values::array::Array;

/// A function of lines that notes the arguments of its first call.
const STAND_IN: &str = "∇ ⍙∆r←{⍙∆x}⍙∆f ⍙∆y
⍙∆r←⍙∆y
→(0≠⎕NC'⍙∆all')/0
→(0≠⎕NC'⍙∆x')/both
→0⊣⍙∆all←,⊂⍙∆y
both:⍙∆all←⍙∆x ⍙∆y
∇";

impl Session {
    /// The arguments of the first call of a function in an expression, which is a text of its own,
    /// the left one first. The function itself does not run, and the workspace is left alone.
    /// Errors: those of the expression before that call, and VALUE where there is none.
    pub fn arguments_of(&mut self, name: &str, example: &Place) -> Result<Vec<Array>> {
        self.aside(|session| {
            session.core.begin();
            let done = session.called(name, example);
            session.core.end();
            done
        })
    }

    fn called(&mut self, name: &str, example: &Place) -> Result<Vec<Array>> {
        match self.interp.get(name) {
            Some(Value::Func(_)) => {}
            Some(_) => return Err(value(format!("{name} is no function")).at(example)),
            None => return Err(value(format!("there is no function {name}")).at(example)),
        }
        let mut world = World::new(&mut self.core, None, true);
        self.interp.eval_value(&Source::new("stand-in", STAND_IN), &mut world)?;
        let stand_in = self.interp.get("⍙∆f").cloned();
        self.interp.set(name, stand_in.ok_or_else(|| bug!("no function stands in"))?);
        let done = self.interp.eval_value(&example.source, &mut world);
        let Some(Value::Array(all)) = self.interp.get("⍙∆all").cloned() else {
            done?;
            return Err(value(format!("the example does not call {name}"))
                .at(example)
                .hint(format!("such as '1.5 {name} 2 3⍴⍳6', or a declaration: 'f64 f64[n,3]'")));
        };
        let all = self.interp.ready(&all, "value", &mut world)?;
        all.to_items(&self.core.budget)
    }
}

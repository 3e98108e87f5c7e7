//! Parts of a body that depend on its item alone (`numbers/ahead.rs`), for all items.

use super::body::{Call, Flow};
use super::{Cells, Flat, Steps, refuse, room};
use crate::eval::numbers::Part;
use crate::eval::run::Eval;
use crate::eval::value::Func;
use crate::syntax::resolve::{Code, Gives};
use aplomb_ground::error::Result;
use aplomb_values::array::Array;
use std::cell::RefCell;
use std::rc::Rc;

impl Eval<'_> {
    /// The values of a dfn's parts for the items of a vector, its right arguments, or left ones
    /// where it has two: a vector of each part that is no name. None: one of them is refused or
    /// fails, and nothing has happened. Errors: INTERRUPT.
    pub fn parts_of_all(
        &mut self,
        f: &Rc<Func>,
        items: &Array,
        dyadic: bool,
        parts: &[Part],
    ) -> Result<Option<Vec<Array>>> {
        let n = items.len();
        let Some(closure) = f.closure().filter(|_| self.runs_together(n)).cloned() else {
            return Ok(None);
        };
        let lowered = self.cx.budget().lowered(room(None, items));
        let refused = self.cx.sys.refused.take();
        let depth = self.st.depth;
        let mut values = Vec::new();
        let made = self.attempt_together(|ev| {
            let mut flat = Flat::new(ev, n, Steps::All);
            let items = flat.given(items)?;
            let frame = flat.ev.frame_to_read(f, &closure, dyadic);
            let (alpha, omega) = match dyadic {
                true => (Some(items), Some(Cells::Same(Array::num(0.0)))),
                false => (None, Some(items)),
            };
            let (alpha, names) = (RefCell::new(alpha), RefCell::default());
            let call = Rc::new(Call { frame, alpha, omega, names });
            flat.calls.push(call.clone());
            for part in parts {
                let steps = part.code.code.ins.iter().skip(part.range.start);
                let ins = steps.take(part.range.len()).cloned().collect();
                let code = Code { ins, gives: Gives::Array, assigns: part.names };
                let Flow::Value(v) = flat.code(&call, &code, false)? else {
                    return refuse("a part has no value");
                };
                if !part.names {
                    let a = flat.array(&v)?;
                    values.push(flat.ev.cx.ready(&a, "each")?);
                }
            }
            call.frame.clone().leave();
            Ok(Array::num(0.0))
        });
        drop(lowered);
        self.st.depth = depth;
        self.cx.sys.refused = refused;
        Ok(made?.is_ok().then_some(values))
    }
}

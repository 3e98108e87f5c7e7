//! A launch as the device gets it: its code, a text a kernel, and the functions that these became.

use super::choice::Choice;
use super::compile::Usage;
use super::driver::Function;
use aplomb_plans::kir::{self, Code, Tuning};
use aplomb_plans::plan::Plan;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// A kernel that can be launched.
pub struct Ready {
    pub function: Function,
    pub usage: Usage,
}

/// A launch with its texts, one a kernel.
pub struct Lowered {
    pub code: Code,
    pub texts: Vec<String>,
    /// None: as it comes.
    pub tuning: Option<Tuning>,
    /// The choice that was measured for it.
    pub choice: Option<Choice>,
    /// The texts' functions as long as somebody has them.
    functions: RefCell<Vec<Weak<Ready>>>,
}

impl Lowered {
    /// The same, with what was measured of it.
    pub fn with(self, choice: Option<Choice>) -> Lowered {
        Lowered { choice, ..self }
    }

    /// The texts that were measured for it, with their times, µs.
    pub fn timed(&self) -> Vec<(Tuning, f64)> {
        self.choice.as_ref().map_or_else(Vec::new, Choice::ran)
    }

    /// None where they were not asked for yet, or are gone.
    pub fn functions(&self) -> Option<Vec<Rc<Ready>>> {
        let all: Vec<_> = self.functions.borrow().iter().filter_map(Weak::upgrade).collect();
        (all.len() == self.texts.len()).then_some(all)
    }

    pub fn set_functions(&self, all: &[Rc<Ready>]) {
        *self.functions.borrow_mut() = all.iter().map(Rc::downgrade).collect();
    }
}

/// A launch's code, or the sentence that says why there is none.
pub type Text = Result<Rc<Lowered>, String>;

/// Launch `k` as this says.
pub fn lower(plan: &Plan, k: usize, tuning: Tuning) -> Text {
    lowered(plan, k, Some(tuning), None).map(Rc::new)
}

/// As this says, or as it comes; `choice`: what was measured of it.
pub fn lowered(
    plan: &Plan,
    k: usize,
    tuning: Option<Tuning>,
    choice: Option<Choice>,
) -> Result<Lowered, String> {
    let code = kir::tuned(plan, &plan.launches[k], k, tuning.unwrap_or_default());
    let code = code.map_err(|e| e.parts().says.clone())?;
    let texts = code.kernels.iter().map(kir::canonical).collect();
    Ok(Lowered { code, texts, tuning, choice, functions: RefCell::default() })
}

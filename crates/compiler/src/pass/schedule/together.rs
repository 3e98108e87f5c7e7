//! The loss of launches by being one: the planner asks before it merges what may be merged.
//!
//! Rows: ACL-18, ACC-30. A launch has one form (`kir::Form`). Two folds that would each have
//! another share none of their loops as one: `(A+.×v)((⍉A)+.×w)` with 4000 rows takes 65 ms on two
//! cores as one pass over A and 16 as two, since the second has its results side by side and the
//! first has not. And where threads follow one of the two, the other's neighbours may lie apart. So
//! the launches are written as they would be, apart and as one, and the form and the time of each
//! asked. In: two groups. Out: what they lose, if anything.

use super::{Group, Keep, is_small};
use crate::pass::{need, price, sketch};
use aplomb_ground::error::{Result, time};
use aplomb_plans::kir::Form;
use aplomb_values::dag::Dag;

/// The reason for which two launches are better apart.
pub enum Loss {
    /// One of the two would have another form.
    Form(Form, Form),
    /// Together they take longer, in microseconds by the model.
    Time { one: f64, two: f64 },
}

impl Loss {
    /// The rule that keeps the two apart.
    pub fn rule(&self) -> &'static str {
        match self {
            Loss::Form(..) => "one of the two would lose its form",
            Loss::Time { .. } => "together they take longer",
        }
    }

    /// The reason in words, with its numbers, for what is not one with launch k.
    pub fn says(&self, k: usize) -> String {
        match self {
            Loss::Form(own, other) => format!(
                "as one with k{k} a fold of the form {} would have the form {}",
                own.name(),
                other.name()
            ),
            Loss::Time { one, two } => {
                format!(
                    "as one with k{k} they take {} by the model, not {}",
                    time(*one),
                    time(*two)
                )
            }
        }
    }
}

/// The loss of two launches by being one, where that is legal. Small ones lose nothing that a
/// launch would not outweigh. Errors: a bug.
pub fn loss(dag: &Dag, keep: &Keep, a: &Group, b: &Group) -> Result<Option<Loss>> {
    if is_small(&a.domain) && is_small(&b.domain) {
        return Ok(None);
    }
    let mut whole = a.clone();
    whole.take(b.clone());
    let (_, inside) = need::whole(dag, keep, &whole.nodes());
    let read = inside.into_iter().filter(|at| need::is_read(dag, keep, *at));
    let plan = sketch::sketch(dag, keep, &[a, b, &whole], read)?;
    let [x, y, one] = &plan.launches[..] else { return Ok(None) };
    let form = Form::of(&plan, one);
    let folds = [x, y].into_iter().filter(|l| l.axis.is_some()).map(|l| Form::of(&plan, l));
    if let Some(own) = folds.into_iter().find(|own| *own != form) {
        return Ok(Some(Loss::Form(own, form)));
    }
    let dearer = |[x, y, one]: [f64; 3]| (one > x + y).then_some(Loss::Time { one, two: x + y });
    let gpu = dearer([x, y, one].map(|l| price::on_gpu(&plan, l)));
    Ok(gpu.or_else(|| dearer([x, y, one].map(|l| price::on_cpu(&plan, l) / 1e3))))
}

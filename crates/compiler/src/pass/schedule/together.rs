//! The loss of launches by being one: the planner asks before it merges what may be merged.
//!
//! Rows: ACL-18, ACC-30. A launch has one form (`kir::Form`). Two folds that would each have
//! another share none of their loops as one: `(A+.×v)((⍉A)+.×w)` with 4000 rows takes 65 ms on two
//! cores as one pass over A and 16 as two, since the second has its results side by side and the
//! first has not. And where threads follow one of the two, the other's neighbours may lie apart. So
//! the launches are written as they would be, apart and as one, and the form and the time of each
//! asked. In: two groups. Out: what they lose, if anything; whether two that share nothing gain by
//! it, since one launch is started instead of two.

use super::{Group, Keep, is_small};
use crate::pass::cost::{LAUNCH_NS, READ_NS};
use crate::pass::{need, price, sketch};
use aplomb_ground::error::{Result, bug, time};
use aplomb_plans::kir::Form;
use aplomb_plans::plan::{Launch, Plan};
use aplomb_values::dag::Dag;

/// The reason for which two launches are better apart.
#[derive(Clone, Debug)]
pub enum Loss {
    /// One of the two would have another form.
    Form(Form, Form),
    /// Together they take longer, in microseconds by the model.
    Time { one: f64, apart: f64 },
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
            Loss::Time { one, apart } => {
                format!(
                    "as one with k{k} they take {} by the model, not {}",
                    time(*one),
                    time(*apart)
                )
            }
        }
    }
}

/// The models' answer of one launch and of its parts: the times on each device, or a loss.
type Asked = std::result::Result<[[f64; 2]; 2], Loss>;

/// The part of their time that two launches which share nothing save by being one, at least.
const GAIN: f64 = 0.05;
/// The launches whose starts take as long as both may read.
const FEW: f64 = 2.0;

/// The loss of launches by being one, where that is legal. Small ones lose nothing that a launch
/// would not outweigh. Errors: a bug.
pub fn loss(dag: &Dag, keep: &Keep, parts: &[&Group]) -> Result<Option<Loss>> {
    let parts: Vec<(usize, &Group)> = parts.iter().copied().enumerate().collect();
    loss_of(dag, keep, &parts)
}

/// The same of launches with the numbers of their kinds: one of each kind is written.
pub fn loss_of(dag: &Dag, keep: &Keep, parts: &[(usize, &Group)]) -> Result<Option<Loss>> {
    if parts.iter().all(|(_, g)| is_small(&g.domain)) {
        return Ok(None);
    }
    Ok(asked(dag, keep, parts)?.err())
}

/// True of launches that share nothing and are better as one: what starting one takes is a part of
/// their time then, and nothing is lost. Errors: a bug.
pub fn gains(dag: &Dag, keep: &Keep, parts: &[(usize, &Group)]) -> Result<bool> {
    // What all read is in memory at once then: of large arrays that is worth more than a launch.
    if parts.iter().any(|(_, g)| reading_ns(g) > FEW * LAUNCH_NS) {
        return Ok(false);
    }
    // A GPU is not asked for what is so short.
    Ok(asked(dag, keep, parts)?.is_ok_and(|[_, [one, apart]]| one <= apart * (1.0 - GAIN)))
}

/// True of a launch that reads so many elements that starting it is a small part of its time.
fn is_long(g: &Group) -> bool {
    reading_ns(g) > LAUNCH_NS / GAIN
}

/// Nanoseconds of reading as many elements as a launch has points.
fn reading_ns(g: &Group) -> f64 {
    g.domain.iter().map(|n| *n as f64).product::<f64>() * READ_NS
}

/// The microseconds of one launch and of its parts, on a GPU and on a CPU, or what they lose.
fn asked(dag: &Dag, keep: &Keep, parts: &[(usize, &Group)]) -> Result<Asked> {
    let [(_, first), others @ ..] = parts else { return Err(bug!("no launch is asked about")) };
    let mut whole = (*first).clone();
    others.iter().for_each(|(_, g)| whole.take((*g).clone()));
    // One of each kind, and how many there are.
    let mut kinds: Vec<(usize, &Group, f64)> = Vec::new();
    for (kind, g) in parts {
        match kinds.iter_mut().find(|own| own.0 == *kind) {
            Some(own) => own.2 += 1.0,
            None => kinds.push((*kind, g, 1.0)),
        }
    }
    let (_, inside) = need::whole(dag, keep, &whole.nodes());
    let read = inside.into_iter().filter(|at| need::is_read(dag, keep, *at));
    let all: Vec<&Group> = kinds.iter().map(|own| own.1).chain([&whole]).collect();
    let plan = sketch::sketch(dag, keep, &all, read)?;
    let [apart @ .., one] = &plan.launches[..] else { return Err(bug!("no launch is written")) };
    let form = Form::of(&plan, one);
    let folds = apart.iter().filter(|l| l.axis.is_some()).map(|l| Form::of(&plan, l));
    // Of short ones the time tells all.
    let is_any_long = parts.iter().any(|(_, g)| is_long(g));
    let lost = folds.into_iter().find(|own| *own != form).filter(|_| is_any_long);
    if let Some(own) = lost {
        return Ok(Err(Loss::Form(own, form)));
    }
    let by = [price::on_gpu, |plan: &Plan, l: &Launch| price::on_cpu(plan, l) / 1e3];
    let apart = || apart.iter().zip(&kinds).map(|(l, own)| (l, own.2));
    let by = by.map(|us| [us(&plan, one), apart().map(|(l, times)| times * us(&plan, l)).sum()]);
    Ok(match by.iter().find(|[one, apart]| one > apart) {
        Some(&[one, apart]) => Err(Loss::Time { one, apart }),
        None => Ok(by),
    })
}

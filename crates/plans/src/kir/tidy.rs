//! Declarations that nothing uses go: coordinates of a loop whose reads are all linear.

use super::check::words;
use super::{Kernel, ParamKind, Stmt};
use std::collections::BTreeSet;

/// Removes unused declarations without a node, until none is left.
pub fn drop_unused(body: &mut Vec<Stmt>) {
    loop {
        let mut used = BTreeSet::new();
        collect(body, &mut used);
        if !remove(body, &used) {
            return;
        }
    }
}

/// Numbers that nothing uses any more go; of several kernels, each keeps only what it uses itself.
pub fn drop_parameters(kernel: &mut Kernel, several: bool) {
    let mut used = BTreeSet::new();
    collect(&kernel.body, &mut used);
    kernel
        .params
        .retain(|p| !several && !matches!(p.what, ParamKind::Number(..)) || used.contains(&p.name));
}

/// Values that nothing behind them uses: what may fail is computed for that, all others go.
pub fn drop_values(body: &mut Vec<Stmt>) {
    body.iter_mut().filter_map(inner_mut).for_each(drop_values);
    let mut used = BTreeSet::new();
    let mut kept = Vec::new();
    while let Some(stmt) = body.pop() {
        let stmt = match stmt {
            Stmt::Let { name, is, .. } if !used.contains(&name) => match is.contains("Bad{") {
                true => Stmt::Do(format!("(void)({is})")),
                false => continue,
            },
            other => other,
        };
        let own = [stmt];
        collect(&own, &mut used);
        kept.extend(own);
    }
    kept.reverse();
    *body = kept;
}

fn collect(body: &[Stmt], used: &mut BTreeSet<String>) {
    let mut note = |texts: &[&String]| {
        texts.iter().for_each(|t| used.extend(words(t).map(String::from)));
    };
    for stmt in body {
        match stmt {
            Stmt::Let { is, .. } => note(&[is]),
            Stmt::Set { name, is, .. } => note(&[name, is]),
            Stmt::Store { to, at, is, .. } => note(&[to, at, is]),
            Stmt::Do(e) | Stmt::If(e, _) | Stmt::Parallel { points: e, .. } => note(&[e]),
            Stmt::For { from, to, step, .. } | Stmt::Span { from, to, step, .. } => {
                note(&[from, to, step]);
            }
            Stmt::Each { next, to, .. } => note(&[next, to]),
            Stmt::Shared { .. }
            | Stmt::SharedFours { .. }
            | Stmt::Local { .. }
            | Stmt::Roll
            | Stmt::Note(_) => {}
            Stmt::Unrolled { .. } | Stmt::Halve { .. } => {}
        }
    }
    for inner in body.iter().filter_map(inner) {
        collect(inner, used);
    }
}

fn inner(stmt: &Stmt) -> Option<&Vec<Stmt>> {
    match stmt {
        Stmt::If(_, body) | Stmt::For { body, .. } | Stmt::Each { body, .. } => Some(body),
        Stmt::Unrolled { body, .. } | Stmt::Halve { body, .. } | Stmt::Span { body, .. } => {
            Some(body)
        }
        _ => None,
    }
}

fn inner_mut(stmt: &mut Stmt) -> Option<&mut Vec<Stmt>> {
    match stmt {
        Stmt::If(_, body) | Stmt::For { body, .. } | Stmt::Each { body, .. } => Some(body),
        Stmt::Unrolled { body, .. } | Stmt::Halve { body, .. } | Stmt::Span { body, .. } => {
            Some(body)
        }
        _ => None,
    }
}

fn remove(body: &mut Vec<Stmt>, used: &BTreeSet<String>) -> bool {
    let before = body.len();
    body.retain(|s| !matches!(s, Stmt::Let { name, node: None, .. } if !used.contains(name)));
    let mut changed = body.len() < before;
    for inner in body.iter_mut().filter_map(inner_mut) {
        changed |= remove(inner, used);
    }
    changed
}

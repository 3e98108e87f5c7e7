//! The checks of a kernel before it is printed: names are declared once, before their use, in an
//! enclosing block.

use super::{Kernel, Stmt};
use std::collections::BTreeSet;

pub fn check(kernel: &Kernel) -> Result<(), String> {
    let mut known: BTreeSet<String> = kernel.params.iter().map(|p| p.name.clone()).collect();
    block(&kernel.body, &mut known)
}

fn block(body: &[Stmt], outer: &mut BTreeSet<String>) -> Result<(), String> {
    let mut known = outer.clone();
    for stmt in body {
        match stmt {
            Stmt::Let { name, is, .. } => {
                used(is, &known)?;
                declare(name, &mut known)?;
            }
            Stmt::Shared { name, .. }
            | Stmt::SharedFours { name, .. }
            | Stmt::Local { name, .. } => declare(name, &mut known)?,
            Stmt::Set { name, is, .. } => used(is, &known).and_then(|()| used(name, &known))?,
            Stmt::Store { to, at, is, .. } => {
                [to, at, is].into_iter().try_for_each(|e| used(e, &known))?;
            }
            Stmt::Do(e) | Stmt::Parallel { points: e, .. } => used(e, &known)?,
            Stmt::If(e, inner) => {
                used(e, &known)?;
                block(inner, &mut known)?;
            }
            Stmt::For { name, from, to, step, body }
            | Stmt::Span { name, from, to, step, body } => {
                [from, to, step].into_iter().try_for_each(|e| used(e, &known))?;
                let mut inside = known.clone();
                declare(name, &mut inside)?;
                block(body, &mut inside)?;
            }
            Stmt::Each { name, next, to, body } => {
                [next, to].into_iter().try_for_each(|e| used(e, &known))?;
                let mut inside = known.clone();
                declare(name, &mut inside)?;
                block(body, &mut inside)?;
            }
            Stmt::Unrolled { name, body, .. } | Stmt::Halve { name, body, .. } => {
                let mut inside = known.clone();
                declare(name, &mut inside)?;
                block(body, &mut inside)?;
            }
            Stmt::Roll | Stmt::Note(_) => {}
        }
    }
    Ok(())
}

fn declare(name: &str, known: &mut BTreeSet<String>) -> Result<(), String> {
    if known.insert(name.to_string()) { Ok(()) } else { Err(format!("{name} is declared twice")) }
}

/// Every generated name in the text (a letter and digits: v3, x0, a1) is known.
fn used(text: &str, known: &BTreeSet<String>) -> Result<(), String> {
    for word in words(text) {
        let mut chars = word.chars();
        let generated = chars.next().is_some_and(|c| c.is_ascii_lowercase())
            && chars.clone().next().is_some()
            && chars.all(|c| c.is_ascii_digit());
        let vector = matches!(word, "u8" | "i8" | "i16" | "i32" | "u32" | "i64" | "u64");
        if generated && !vector && !known.contains(word) {
            return Err(format!("{word} is used before it is declared"));
        }
    }
    Ok(())
}

/// The words of an expression: names, numbers, keywords.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
        .filter(|w| !w.is_empty())
}

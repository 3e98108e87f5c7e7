//! The part of a loop's body that is the same in every round: it stands before the loop.
//!
//! Row: BAS-16. A value that does not move with a thread's loop is a register of it: it is loaded
//! once. A compiler of CUDA would often see that, but not where a store in the loop could be to the
//! same array; and the text should show what is told of it.

use super::Stmt;
use super::check::words;
use super::lower::Lowering;
use std::collections::BTreeSet;

impl Lowering<'_> {
    /// The statements that stand before the loop of a body. None, where the loop may have no round:
    /// then nobody knows that what would be loaded is there.
    pub(super) fn before_loop(&self, body: &mut Vec<Stmt>, varying: &[&str]) -> Vec<Stmt> {
        let may_be_empty = self.any_extents || self.launch.domain.contains(&0);
        if may_be_empty { Vec::new() } else { hoisted(body, varying) }
    }
}

/// Takes the declarations out of a body that follow from nothing in `varying`, by name, and from no
/// other statement that stays; they keep their order. What may fail stays: it names the element.
fn hoisted(body: &mut Vec<Stmt>, varying: &[&str]) -> Vec<Stmt> {
    let mut moving: BTreeSet<String> = varying.iter().map(|name| name.to_string()).collect();
    set_names(body, &mut moving);
    let (mut before, mut stays) = (Vec::new(), Vec::new());
    for stmt in std::mem::take(body) {
        match stmt {
            Stmt::Let { ref name, ref is, .. } => {
                let moves = |text: &str| words(text).any(|word| moving.contains(word));
                if moves(name) || moves(is) || is.contains("Bad{") || is.contains("volatile") {
                    moving.insert(name.clone());
                    stays.push(stmt);
                } else {
                    before.push(stmt);
                }
            }
            other => stays.push(other),
        }
    }
    *body = stays;
    before
}

/// The names that statements give a new value.
fn set_names(body: &[Stmt], out: &mut BTreeSet<String>) {
    for stmt in body {
        match stmt {
            Stmt::Set { name, .. } => out.extend([name.clone()]),
            Stmt::Store { to, .. } => out.extend([to.clone()]),
            Stmt::Shared { name, .. }
            | Stmt::SharedFours { name, .. }
            | Stmt::Local { name, .. } => out.extend([name.clone()]),
            Stmt::If(_, body) => set_names(body, out),
            Stmt::For { name, body, .. }
            | Stmt::Span { name, body, .. }
            | Stmt::Each { name, body, .. }
            | Stmt::Unrolled { name, body, .. }
            | Stmt::Halve { name, body, .. } => {
                out.insert(name.clone());
                set_names(body, out);
            }
            Stmt::Let { .. } | Stmt::Do(_) | Stmt::Parallel { .. } | Stmt::Roll | Stmt::Note(_) => {
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Type;
    use super::*;

    #[test]
    fn bas_16_what_does_not_move_with_the_loop_stands_before_it() {
        let value = |name: &str, is: &str| Stmt::Let {
            name: name.into(),
            of: Type::F64,
            is: is.into(),
            node: None,
        };
        let mut body = vec![
            value("v0", "a0[x0]"),
            value("v1", "a1[x0 + c0 * xf]"),
            value("v2", "v0 * 2.0"),
            value("v3", "v1 - v2"),
            value("v4", "divide(1.0, v0, Bad{err, 1, i})"),
            value("v5", "t0 + v0"),
            Stmt::Set { name: "t0".into(), is: "t0 + v3".into(), node: None },
        ];
        let before = hoisted(&mut body, &["j", "i", "xf"]);
        assert_eq!(before, [value("v0", "a0[x0]"), value("v2", "v0 * 2.0")]);
        assert_eq!(body.len(), 5);
    }
}

//! Warnings of `aplomb check`: statements that can never run, names that nobody sets, ⎕ names that
//! there are not.
//!
//! Nothing runs, so only what is sure is told. A text that makes names while it runs (⍎ ⎕FX …) has
//! none that nobody sets.

use super::ast::{Ast, Dfn, Guard, PhraseId, What};
use super::steps::{Act, Steps};
use super::token::{Kind, Token, Word, lex};
use aplomb_ground::limits::{Interrupt, Limits};
use aplomb_ground::span::{Source, Span};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Something that is no error and yet wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// The sentence.
    pub says: String,
    /// The place.
    pub span: Span,
}

/// The names of a program, gathered piece by piece.
#[derive(Default)]
pub struct Lint {
    found: Vec<Warning>,
    set: HashSet<String>,
    /// The first place of each name that is used.
    used: HashMap<String, Span>,
    /// The first place of each ⎕ name.
    system: BTreeMap<String, Span>,
    /// Names may be made in other ways.
    is_open: bool,
}

/// ⎕ names that give names values as the program runs, or run texts.
const MAKERS: &[&str] = &["FX", "FIX", "CY", "VSET", "NS", "TRAP", "ED"];

impl Lint {
    /// A part of the program without syntax errors.
    pub fn piece(&mut self, source: &Arc<Source>, limits: &Limits) {
        let (text, first) = source.own();
        let tokens = lex(text);
        self.names(&tokens, first);
        let nobody = Interrupt::default();
        let Ok(ast) = super::parse(source, &mut Default::default(), limits, &nobody) else {
            return;
        };
        for dfn in &ast.dfns {
            self.found.extend(after_the_end(&ast, dfn));
        }
        let own = ast.tradfns.iter().filter_map(|f| f.steps.as_ref().ok());
        for steps in own.chain([&ast.steps]) {
            self.found.extend(never_reached(&ast, steps));
        }
    }

    /// A command, which may bring names along.
    pub fn command(&mut self, line: &str) {
        let word = line.split_whitespace().next();
        self.is_open |= matches!(word, Some(")copy" | ")load" | "]load" | ")pcopy"));
    }

    /// Something that another found.
    pub fn tell(&mut self, says: String, span: Span) {
        self.found.push(Warning { says, span });
    }

    /// All that was found, in the order of the text. `lacks` says what is wrong with a ⎕ name.
    pub fn warnings(mut self, lacks: impl Fn(&str) -> Option<String>) -> Vec<Warning> {
        let strange = std::mem::take(&mut self.system).into_iter();
        let strange =
            strange.filter_map(|(name, span)| Some(Warning { says: lacks(&name)?, span }));
        self.found.extend(strange);
        if !self.is_open {
            let free = self.used.into_iter().filter(|(name, _)| !self.set.contains(name));
            self.found.extend(free.map(|(name, span)| {
                let says = format!("nobody sets {name}");
                Warning { says, span }
            }));
        }
        self.found.sort_by_key(|w| (w.span.start, w.says.clone()));
        self.found
    }

    fn names(&mut self, tokens: &[Token], first: u32) {
        let mut header = false;
        for (k, token) in tokens.iter().enumerate() {
            match &token.kind {
                // The line of a function's header sets names alone, and so does that of `:For`.
                Kind::Word(Word::Del) => header = true,
                Kind::Control(_) => header = true,
                Kind::Separator => header = false,
                Kind::Glyph('⍎') => self.is_open = true,
                Kind::System(name) => {
                    self.is_open |= MAKERS.contains(&name.as_str());
                    self.system.entry(name.clone()).or_insert(token.span.moved(first));
                }
                Kind::Name(name) => {
                    let after_dot =
                        k > 0 && matches!(tokens[k - 1].kind, Kind::Glyph('.')) && k > 1;
                    let is_label = matches!(
                        tokens.get(k + 1).map(|t| &t.kind),
                        Some(Kind::Colon | Kind::ColonColon)
                    );
                    if header || is_label || is_target(tokens, k) {
                        self.set.insert(name.clone());
                    } else if !after_dot {
                        self.used.entry(name.clone()).or_insert(token.span.moved(first));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether a value may be given to the name at a place: ← follows it, its index, the parenthesis
/// around it, or a function behind one of these.
fn is_target(tokens: &[Token], at: usize) -> bool {
    let (mut depth, mut passed) = (0i32, false);
    for token in &tokens[at + 1..] {
        match token.kind {
            Kind::Open(_) => depth += 1,
            Kind::Close(_) => depth -= 1,
            Kind::Assign if depth <= 0 => return true,
            Kind::Separator if depth <= 0 => return false,
            // Inside of brackets, or other names of a strand.
            _ if depth > 0 => {}
            Kind::Name(_) | Kind::Glyph(_) => {
                // Behind a function stands no other part of a target.
                if passed && matches!(token.kind, Kind::Name(_)) {
                    return false;
                }
                passed |= matches!(token.kind, Kind::Glyph(_));
            }
            _ => return false,
        }
    }
    false
}

/// The first statement of a dfn behind one that ends it.
fn after_the_end(ast: &Ast, dfn: &Dfn) -> Option<Warning> {
    let ends = dfn.stmts.iter().position(|stmt| match stmt.guard {
        Guard::None => gives_value(ast, stmt.phrase),
        Guard::Test(cond) => always(ast, cond),
        Guard::Error(_) => false,
    })?;
    let next = dfn.stmts[ends + 1..].iter().find(|s| !ast.phrase(s.phrase).items.is_empty())?;
    let begin = match next.guard {
        Guard::None => next.phrase,
        Guard::Test(first) | Guard::Error(first) => first,
    };
    let says = "this never runs: the statement before it ends the dfn".into();
    Some(Warning { says, span: ast.phrase(begin).span })
}

/// Whether a phrase is surely no assignment.
fn gives_value(ast: &Ast, phrase: PhraseId) -> bool {
    let items = &ast.phrase(phrase).items;
    let what = |k: usize| &ast.item(items[k]).what;
    let assigns = (0..items.len()).any(|k| matches!(what(k), What::Assign));
    !items.is_empty() && (!assigns || matches!(what(0), What::Glyph(_) | What::Number(_)))
}

fn always(ast: &Ast, cond: PhraseId) -> bool {
    match ast.phrase(cond).items.as_slice() {
        [one] => matches!(ast.item(*one).what, What::Number(x) if x == 1.0),
        _ => false,
    }
}

/// The first step of each part that no step leads to. A branch to what is computed may lead to any
/// label, and a label's line to where it stands.
fn never_reached(ast: &Ast, steps: &Steps) -> Vec<Warning> {
    let all = &steps.steps;
    let branches = all.iter().any(|step| match step.act {
        Act::Branch(to) => !ends_all(ast, to),
        _ => false,
    });
    if branches {
        return Vec::new();
    }
    let mut seen: Vec<bool> = all.iter().map(|_| false).collect();
    let mut open = vec![0];
    open.extend(steps.traps.iter().map(|trap| trap.handler));
    while let Some(at) = open.pop() {
        if at >= all.len() || std::mem::replace(&mut seen[at], true) {
            continue;
        }
        match &all[at].act {
            Act::Jump(to) => open.push(*to),
            Act::Test { to, .. } => open.extend([at + 1, *to]),
            Act::Next { done, .. } => open.extend([at + 1, *done]),
            Act::Case { otherwise, .. } | Act::Caught { otherwise, .. } => {
                open.extend([at + 1, *otherwise]);
            }
            Act::Branch(_) => {}
            _ => open.push(at + 1),
        }
    }
    let mut out = Vec::new();
    for (at, step) in all.iter().enumerate() {
        let begins = at == 0 || seen[at - 1];
        let tells = matches!(step.act, Act::Run(_) | Act::Branch(_) | Act::For { .. });
        if !seen[at] && begins && tells {
            let says = "this never runs: no statement leads here".into();
            out.push(Warning { says, span: step.span });
        }
    }
    out
}

/// `→0`, `→` alone: the function ends.
fn ends_all(ast: &Ast, to: PhraseId) -> bool {
    match ast.phrase(to).items.as_slice() {
        [] => true,
        [one] => matches!(ast.item(*one).what, What::Number(x) if x == 0.0),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let mut lint = Lint::default();
        let source = Source::new("test", text);
        lint.piece(&source, &Limits::default());
        let all = lint.warnings(|name| (name == "NOPE").then(|| "no ⎕ name".into()));
        all.into_iter().map(|w| format!("{}: {}", source.slice(w.span), w.says)).collect()
    }

    #[test]
    fn what_follows_the_value_of_a_dfn_never_runs() {
        let says = "this never runs: the statement before it ends the dfn";
        assert_eq!(told("f←{⍵+1 ⋄ 5}"), [format!("5: {says}")]);
        assert_eq!(told("f←{⍵=0:1 ⋄ 1:2 ⋄ 3}"), [format!("3: {says}")]);
        for fine in ["f←{x←⍵ ⋄ x+1}", "f←{⍵>1:⍵ ⋄ 5}", "f←{x y←⍵ ⋄ (x)+←1 ⋄ x}", "f←{⍺←1 ⋄ ⍺+⍵}"]
        {
            assert!(told(fine).is_empty(), "{fine}");
        }
    }

    #[test]
    fn what_follows_the_end_of_a_function_never_runs() {
        let says = "this never runs: no statement leads here";
        assert_eq!(told("∇r←f x\nr←x\n:Return\nr←5\n∇"), [format!("r←5: {says}")]);
        assert_eq!(told("∇r←f x\nr←x\n→0\nr←5\nr←6\n∇"), [format!("r←5: {says}")]);
        for fine in [
            "∇r←f x\n→L×⍳x\nr←1\n→0\nL:r←2\n∇",
            "∇r←f x\n:If x\nr←1\n:Return\n:EndIf\nr←2\n∇",
            "∇r←f x\n:Trap 0\nr←÷x\n:Return\n:Else\nr←0\n:EndTrap\n∇",
            "∇r←f x\n:While 1\nr←x\n:If r ⋄ :Leave ⋄ :EndIf\n:EndWhile\nr+←1\n∇",
        ] {
            assert!(told(fine).is_empty(), "{fine}: {:?}", told(fine));
        }
    }

    #[test]
    fn names_that_nobody_sets_are_told_once() {
        assert_eq!(told("x←zz+1\nx+zz"), ["zz: nobody sets zz"]);
        assert_eq!(told("x←⎕nope\n⎕NOPE x"), ["⎕nope: no ⎕ name"]);
        for fine in [
            "x←1 ⋄ x+1",
            "(a b)←1 2 ⋄ a+b",
            "a b←1 2 ⋄ a+b",
            "x←⍳3 ⋄ x[1]←5 ⋄ x+←1",
            "∇r←x f y;z\nr←x+y+z←1\n∇",
            "n←(a:1 ⋄ b:2) ⋄ n.a",
            ":For i :In ⍳3\ni\n:EndFor",
            "⍎'zz←1' ⋄ zz",
            "f←{⍺←1 ⋄ x←⍵ ⋄ x}",
            "⎕IO←0 ⋄ ⎕DR 3",
        ] {
            assert!(told(fine).is_empty(), "{fine}: {:?}", told(fine));
        }
    }
}

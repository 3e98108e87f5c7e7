//! The words of the command line before the parser reads them: where those of a script begin.
//!
//! Out: what stands behind a script's name is behind `--`, so that `report.apl --help` asks the
//! script, also from `#!`. Options of Aplomb stand before the name.

use aplomb_compiler::pass::PRESETS;
use clap::Command;

/// The place of the script's name; None where words are for a subcommand, or all plain behind `--`.
fn script(words: &[String], top: &Command) -> Option<usize> {
    let mut level = top;
    let mut at = 1;
    loop {
        let word = words.get(at)?;
        if word == "--" {
            return None;
        }
        if word.starts_with('-') && word.len() > 1 {
            let two = names_pipeline(word, words.get(at + 1))
                || takes_next(word, level)
                || takes_next(word, top);
            at += if two { 2 } else { 1 };
            continue;
        }
        match level.find_subcommand(word) {
            Some(command) if command.get_name() == "run" => level = command,
            Some(_) => return None,
            None => return Some(at),
        }
        at += 1;
    }
}

/// Whether the option's value is the next word.
fn takes_next(word: &str, level: &Command) -> bool {
    let named = level.get_arguments().find(|a| match word.strip_prefix("--") {
        Some(long) => a.get_long() == Some(long),
        None => a
            .get_short()
            .is_some_and(|short| word.strip_prefix('-') == Some(short.encode_utf8(&mut [0; 4]))),
    });
    named.is_some_and(|a| a.get_action().takes_values() && !a.is_require_equals_set())
}

/// `--passes acl2006` is `--passes=acl2006`: only a pipeline's name can follow, a file or nothing
/// stands alone.
fn names_pipeline(word: &str, next: Option<&String>) -> bool {
    word == "--passes" && next.is_some_and(|next| PRESETS.iter().any(|p| p.name == next))
}

/// The words as the parser reads them right.
pub fn told_apart(mut words: Vec<String>, command: &Command) -> Vec<String> {
    if let Some(at) = script(&words, command)
        && words.get(at + 1).is_some_and(|w| w != "--")
    {
        words.insert(at + 1, "--".into());
    }
    let mut own = words.iter().position(|w| w == "--").unwrap_or(words.len());
    for at in (1..own).rev() {
        if names_pipeline(&words[at], words[..own].get(at + 1)) {
            let name = words.remove(at + 1);
            own -= 1;
            words[at] += &format!("={name}");
        }
    }
    words
}

/// The options that every form takes, as they were given, wherever they stand; a folder in full.
pub fn said(words: &[String], top: &Command) -> Vec<String> {
    let global = |word: &str| {
        let name = word.strip_prefix("--")?.split('=').next()?.to_string();
        top.get_arguments().find(|a| a.is_global_set() && a.get_long() == Some(&name))
    };
    let mut out = Vec::new();
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|w| *w != "--") {
        let two = usize::from(!word.contains('=') && takes_next(word, top));
        if let Some(option) = global(word) {
            out.extend(words[at..].iter().take(1 + two).cloned());
            if option.get_long() == Some("files")
                && let Some(folder) = out.last_mut().filter(|f| two == 1 && *f != "none")
            {
                *folder = std::path::absolute(&*folder)
                    .map_or(folder.clone(), |whole| whole.display().to_string());
            }
        }
        at += 1 + two;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::command;

    #[test]
    fn what_stands_behind_a_script_is_its_own() {
        let check = |typed: &str, read: &str| {
            let words = typed.split(' ').map(String::from).collect();
            assert_eq!(told_apart(words, &command()).join(" "), read);
        };
        check("aplomb r.apl --help", "aplomb r.apl -- --help");
        check("aplomb r.apl a --format csv -- b", "aplomb r.apl -- a --format csv -- b");
        check("aplomb r.apl -- --help", "aplomb r.apl -- --help");
        check(
            "aplomb --threads 2 --off fusion r.apl --threads 3",
            "aplomb --threads 2 --off fusion r.apl -- --threads 3",
        );
        check(
            "aplomb --passes acl2006 run --trace t.json r.apl -x",
            "aplomb --passes=acl2006 run --trace t.json r.apl -- -x",
        );
        check("aplomb r.apl --passes acl2006", "aplomb r.apl -- --passes acl2006");
        check("aplomb --passes acl2006 trace r.apl", "aplomb --passes=acl2006 trace r.apl");
        check("aplomb --passes r.apl x", "aplomb --passes r.apl -- x");
        check("aplomb trace r.apl --json", "aplomb trace r.apl --json");
        check("aplomb -- r.apl --json", "aplomb -- r.apl --json");
        check("aplomb", "aplomb");
    }
}

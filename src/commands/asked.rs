//! The words behind a command: flags, and an expression that keeps its own `-`.

/// Arguments apart from flags: `-name` and `-name=VALUE`.
pub struct Asked<'a> {
    pub expr: Option<&'a str>,
    pub flags: Vec<(&'a str, &'a str)>,
}

impl Asked<'_> {
    pub fn has(&self, name: &str) -> bool {
        self.flags.iter().any(|f| f.0 == name)
    }

    pub fn value(&self, name: &str) -> Option<&str> {
        self.flags.iter().find(|f| f.0 == name).map(|f| f.1)
    }
}

/// Flags of `known` stand first or last, so that an expression keeps its own `-`. A name that ends
/// in = takes a value.
pub fn asked<'a>(args: &'a str, known: &[&'static str]) -> Asked<'a> {
    let flag = |word: &'a str| {
        let name = word.strip_prefix('-')?;
        let (name, value) = name.split_once('=').unwrap_or((name, ""));
        let quoted = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
        let value = quoted.map_or(value, |quoted| quoted);
        let fits = |k: &&&str| {
            k.strip_suffix('=')
                .map_or(**k == name && value.is_empty(), |k| k == name && !value.is_empty())
        };
        known.iter().find(fits).map(|_| (name, value))
    };
    let mut out = Asked { expr: None, flags: Vec::new() };
    let mut rest = args.trim();
    loop {
        let all = words(rest);
        let first = all.first().map_or("", |word| word);
        let last = all.last().map_or("", |word| word);
        if let Some(found) = flag(first) {
            out.flags.push(found);
            rest = rest[first.len()..].trim();
        } else if let Some(found) = flag(last) {
            out.flags.push(found);
            rest = rest[..rest.len() - last.len()].trim();
        } else {
            break;
        }
    }
    out.expr = Some(rest).filter(|s| !s.is_empty());
    out
}

/// The switch that stands first or last and that no row knows: its name. What is a name of the
/// workspace, or gets its value in the same text, is an expression's own.
pub fn stray<'a>(args: &'a str, known: &[&str], is_name: impl Fn(&str) -> bool) -> Option<&'a str> {
    let switch = |word: &'a str| {
        let word = word.strip_prefix('-')?;
        let (name, value) = word.split_once('=').map_or((word, ""), |two| two);
        // With two minus signs it is one of a command line.
        let bare = name.strip_prefix('-').map_or(name, |bare| bare);
        let is_word = bare.starts_with(|c: char| c.is_ascii_lowercase())
            && bare.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        (is_word && !value.contains('←')).then_some(name)
    };
    let all = words(args);
    // Behind those that are known stand others.
    let is_known = |word: &&&'a str| switch(word).is_some_and(|name| known.contains(&name));
    let first = all.iter().find(|word| !is_known(word));
    let last = all.iter().rev().find(|word| !is_known(word));
    let own = |name: &&str| {
        let bare = name.trim_start_matches('-');
        !is_name(bare) && !args.contains(&format!("{bare}←"))
    };
    [first, last].into_iter().flatten().find_map(|word| switch(word).filter(own))
}

/// The words of a text; blanks between quotes or brackets part nothing.
fn words(text: &str) -> Vec<&str> {
    let (mut open, mut deep) = (None, 0_usize);
    let parts = |c: char| {
        match (open, c) {
            (None, '\'' | '"') => open = Some(c),
            (None, '(' | '[' | '{') => deep += 1,
            (None, ')' | ']' | '}') => deep = deep.saturating_sub(1),
            (Some(quote), _) if quote == c => open = None,
            _ => {}
        }
        open.is_none() && deep == 0 && c.is_whitespace()
    };
    text.split(parts).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_stand_before_or_behind_an_expression() {
        let known = &["pass=", "list"];
        let a = asked("-pass=cse +/x-list", known);
        assert_eq!(
            (a.expr, a.value("pass"), a.has("list")),
            (Some("+/x-list"), Some("cse"), false)
        );
        let b = asked("-list", known);
        assert!(b.expr.is_none() && b.has("list"));
        assert_eq!(asked("1 -2 -list", known).expr, Some("1 -2"));
        assert_eq!(asked("-pass= 1", known).expr, Some("-pass= 1"));
        let c = asked("'a b'≡x -pass='c  d'", known);
        assert_eq!((c.expr, c.value("pass")), (Some("'a b'≡x"), Some("c  d")));
        assert_eq!(asked("'a -list", known).expr, Some("'a -list"));
        assert_eq!(asked("1 -pass=(2 3)", known).value("pass"), Some("(2 3)"));
    }

    #[test]
    fn a_switch_that_no_row_has_is_found_where_switches_stand() {
        let stray = |args| stray(args, &["pass", "list"], |name| name == "n");
        for (args, name) in [
            ("-repeat=10 ⍳5", Some("repeat")),
            ("⍳5 -all", Some("all")),
            ("-list x -zom=3", Some("zom")),
            ("-pass=cse -lst x", Some("lst")),
            ("-li x", Some("li")),
            ("-n x", None),
            ("x -n", None),
            ("--off=cse x", Some("-off")),
            ("--n", None),
            ("-5 x", None),
            ("-x+1", None),
            ("-m ⋄ m←5", None),
            ("-m=m←5", None),
            ("'-all' ≡ x", None),
            ("(-all)", None),
            ("", None),
        ] {
            assert_eq!(stray(args), name, "{args}");
        }
    }
}

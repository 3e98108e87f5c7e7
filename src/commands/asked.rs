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
}

//! Reads of a trace, read back: `(i,j)→(j,(i+5) mod 9) | 0≤i-2<7 else 3`.

/// A text and how far it was read.
struct Text<'a> {
    rest: &'a str,
    names: &'a [(&'a str, i64)],
}

impl Text<'_> {
    fn takes(&mut self, part: &str) -> bool {
        let rest = self.rest.strip_prefix(part);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn wants(&mut self, part: &str) {
        assert!(self.takes(part), "{part} is wanted at {}", self.rest);
    }

    fn number(&mut self) -> i64 {
        let sign = if self.takes("-") { -1 } else { 1 };
        let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (own, rest) = self.rest.split_at(digits);
        self.rest = rest;
        sign * own.parse::<i64>().unwrap_or_else(|_| panic!("a number is wanted at {own}{rest}"))
    }

    fn sum(&mut self) -> i64 {
        let mut sum = 0;
        let mut sign = if self.takes("-") { -1 } else { 1 };
        loop {
            sum += sign * self.term();
            sign = match () {
                () if self.takes("+") => 1,
                () if self.takes("-") => -1,
                () => return sum,
            };
        }
    }

    fn term(&mut self) -> i64 {
        if !self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.atom();
        }
        let by = self.number();
        if self.takes("·") { by * self.atom() } else { by }
    }

    fn atom(&mut self) -> i64 {
        if self.takes("clamp(") {
            let x = self.sum();
            self.wants(", ");
            let least = self.number();
            self.wants(", ");
            let most = self.number();
            self.wants(")");
            return x.clamp(least, most);
        }
        if self.takes("(") {
            let x = self.sum();
            let made = match () {
                () if self.takes(" div ") => x.div_euclid(self.number()),
                () if self.takes(" mod ") => x.rem_euclid(self.number()),
                () => x,
            };
            self.wants(")");
            return made;
        }
        let longest = self.names.iter().filter(|(name, _)| self.rest.starts_with(name));
        let longest = longest.max_by_key(|(name, _)| name.len());
        let (name, value) = *longest.unwrap_or_else(|| panic!("a name is wanted at {}", self.rest));
        self.wants(name);
        value
    }
}

/// The coordinates that a read meets at a place of its loops. None: a test fails there.
pub fn place(text: &str, at: &[usize]) -> Option<Vec<i64>> {
    let (loops, rest) = text.strip_prefix('(').and_then(|t| t.split_once(")→(")).expect("a map");
    let names: Vec<&str> = loops.split(',').filter(|name| !name.is_empty()).collect();
    assert_eq!(names.len(), at.len(), "{text}");
    let names: Vec<(&str, i64)> = names.into_iter().zip(at.iter().map(|k| *k as i64)).collect();
    let mut text = Text { rest, names: &names };
    let mut out = Vec::new();
    while !text.takes(")") {
        out.push(text.sum());
        text.takes(",");
    }
    let mut inside = true;
    while text.takes(" | ") {
        let least = text.number();
        text.wants("≤");
        let x = text.sum();
        text.wants("<");
        inside &= (least..text.number()).contains(&x);
        text.wants(" else ");
        text.rest = text.rest.find(" | ").map_or("", |end| &text.rest[end..]);
    }
    assert_eq!(text.rest, "", "all of it is read");
    inside.then_some(out)
}

#[test]
fn reads_are_read_back() {
    let of = |text: &str, at: &[usize]| place(text, at);
    assert_eq!(of("(i,j)→(j,2·i+1)", &[3, 4]), Some(vec![4, 7]));
    assert_eq!(of("(i)→(4-i)", &[3]), Some(vec![1]));
    assert_eq!(of("(i)→(((i+5) mod 9))", &[6]), Some(vec![2]));
    assert_eq!(of("(i)→((i div 4),(i mod 4))", &[6]), Some(vec![1, 2]));
    assert_eq!(of("(i)→(clamp(i-2, 0, 3))", &[1]), Some(vec![0]));
    assert_eq!(of("()→()", &[]), Some(vec![]));
    let tested = "(i)→(i-2) | 0≤i-2<7 else 0.5";
    assert_eq!((of(tested, &[1]), of(tested, &[2])), (None, Some(vec![0])));
}

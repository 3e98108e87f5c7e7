//! Sums of products of extents with whole factors, read from the text that `fit` makes of them:
//! what they tell of all extents from 0 on.

use std::collections::BTreeMap;

/// Products of letters, in order, each with its factor; no factor is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial(BTreeMap<Vec<String>, i64>);

impl Polynomial {
    /// The sum that an expression of letters, numbers, `+ - *` and parentheses is.
    pub fn parse(text: &str) -> Option<Polynomial> {
        let mut rest = text;
        let sum = sum(&mut rest)?;
        rest.trim().is_empty().then_some(sum)
    }

    /// The difference of two sums.
    pub fn less(&self, other: &Polynomial) -> Option<Polynomial> {
        self.plus(other, -1)
    }

    /// The sum with all signs turned.
    pub fn negated(&self) -> Polynomial {
        Polynomial(self.0.iter().map(|(p, k)| (p.clone(), -k)).collect())
    }

    /// The value at extents of 0, if no larger extent makes it less.
    pub fn at_least(&self) -> Option<i64> {
        let grows = self.0.iter().all(|(product, k)| product.is_empty() || *k >= 0);
        grows.then(|| self.0.get(&Vec::new()).map_or(0, |k| *k))
    }

    /// The only letter of a sum, its factor, and the number beside it.
    pub fn linear(&self) -> Option<(String, i64, i64)> {
        let mut more = 0;
        let mut found = None;
        for (product, k) in &self.0 {
            match (&product[..], &found) {
                ([], _) => more = *k,
                ([letter], None) => found = Some((letter.clone(), *k)),
                _ => return None,
            }
        }
        found.map(|(letter, k)| (letter, k, more))
    }

    /// The sum of extents that are so much larger.
    pub fn shifted(&self, by: &BTreeMap<String, i64>) -> Option<Polynomial> {
        let mut out = Polynomial(BTreeMap::new());
        for (product, k) in &self.0 {
            let mut own = Polynomial::of(Vec::new(), *k);
            for letter in product {
                let more = Polynomial::of(Vec::new(), by.get(letter).map_or(0, |k| *k));
                own = own.times(&Polynomial::of(vec![letter.clone()], 1).plus(&more, 1)?)?;
            }
            out = out.plus(&own, 1)?;
        }
        Some(out)
    }

    fn of(product: Vec<String>, times: i64) -> Polynomial {
        Polynomial([(product, times)].into_iter().filter(|(_, k)| *k != 0).collect())
    }

    fn plus(&self, other: &Polynomial, times: i64) -> Option<Polynomial> {
        let mut out = self.0.clone();
        for (product, k) in &other.0 {
            let own = out.entry(product.clone()).or_insert(0);
            *own = own.checked_add(k.checked_mul(times)?)?;
        }
        out.retain(|_, k| *k != 0);
        Some(Polynomial(out))
    }

    fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut out = Polynomial(BTreeMap::new());
        for (x, a) in &self.0 {
            for (y, b) in &other.0 {
                let mut product: Vec<String> = x.iter().chain(y).cloned().collect();
                product.sort_unstable();
                out = out.plus(&Polynomial::of(product, a.checked_mul(*b)?), 1)?;
            }
        }
        Some(out)
    }
}

fn eat(rest: &mut &str, sign: char) -> bool {
    let more = rest.trim_start().strip_prefix(sign);
    more.inspect(|more| *rest = more).is_some()
}

fn sum(rest: &mut &str) -> Option<Polynomial> {
    let mut out = product(rest)?;
    loop {
        let by = match eat(rest, '+') {
            true => 1,
            false if eat(rest, '-') => -1,
            false => return Some(out),
        };
        out = out.plus(&product(rest)?, by)?;
    }
}

fn product(rest: &mut &str) -> Option<Polynomial> {
    let mut out = factor(rest)?;
    while eat(rest, '*') {
        out = out.times(&factor(rest)?)?;
    }
    Some(out)
}

fn factor(rest: &mut &str) -> Option<Polynomial> {
    if eat(rest, '-') {
        return Some(factor(rest)?.negated());
    }
    if eat(rest, '(') {
        let inner = sum(rest)?;
        return eat(rest, ')').then_some(inner);
    }
    let text = rest.trim_start();
    let word: String =
        text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    *rest = &text[word.len()..];
    match word.parse() {
        Ok(number) => Some(Polynomial::of(Vec::new(), number)),
        Err(_) if word.starts_with(|c: char| c.is_ascii_digit()) || word.is_empty() => None,
        // A function of C's is no letter.
        Err(_) if rest.starts_with('(') => None,
        Err(_) => Some(Polynomial::of(vec![word], 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_products_tells_what_holds_for_all_extents() {
        let of = |text: &str| Polynomial::parse(text).unwrap();
        assert_eq!(of("(n - 6) + 2 * -(3 - n)").linear(), Some(("n".into(), 3, -12)));
        assert_eq!(of("n * (m + 1) - n - m * n").at_least(), Some(0));
        assert_eq!(of("n * m - 1").at_least(), Some(-1));
        assert_eq!((of("2 - n").at_least(), of("n * m").linear()), (None, None));
        assert!(Polynomial::parse("div_floor(n, 2) + 1").is_none());
    }
}

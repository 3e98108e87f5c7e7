//! A workspace as bytes, for `)save`, `)load` and ⎕CY: all names of all namespaces, functions by
//! their source, the ⎕ variables.
//!
//! A head of fixed length says what the file is, how long the rest is, and its sum, so a file that
//! was cut or changed anywhere is refused before any of it is believed. What is read is whole
//! before the workspace changes.

mod read;
mod write;

use super::cx::Settings;
use super::host::Host;
use super::run::{Eval, Store};
use super::value::Value;
use super::{Interp, cx::Cx};
use aplomb_ground::error::{Error, Result, domain};

/// The first bytes of such a file, with the version of what follows.
const MAGIC: &[u8; 16] = b"aplomb workspace";
const VERSION: u32 = 2;
const HEAD: usize = MAGIC.len() + 4 + 8 + 8;

/// The kinds of what stands in the file, a byte each.
mod tag {
    pub const NUMBERS: u8 = 1;
    pub const FLOATS: u8 = 2;
    pub const SINGLES: u8 = 3;
    pub const COMPLEXES: u8 = 4;
    pub const CHARS: u8 = 5;
    pub const ITEMS: u8 = 6;
    pub const REFERENCE: u8 = 7;
    pub const NULL: u8 = 8;
    pub const PRIMITIVE: u8 = 16;
    pub const SYSTEM: u8 = 17;
    pub const DFN: u8 = 18;
    pub const LINES: u8 = 19;
    pub const ONE_OPERAND: u8 = 20;
    pub const TWO_OPERANDS: u8 = 21;
    pub const OUTER: u8 = 22;
    pub const AXIS: u8 = 23;
    pub const FORK: u8 = 24;
    pub const ATOP: u8 = 25;
    pub const CURRIED: u8 = 26;
    pub const ARRAY: u8 = 32;
    pub const FUNCTION: u8 = 33;
    pub const OPERATOR: u8 = 34;
}

/// Levels of nesting that are followed.
const DEEPEST: usize = 2_000;

/// A sum of 64 bits (FNV-1a).
fn sum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, b| (sum ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

fn with_head(body: &[u8]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(VERSION.to_le_bytes());
    out.extend((body.len() as u64).to_le_bytes());
    out.extend(sum(body).to_le_bytes());
    out.extend(body);
    out
}

/// The part behind the head. Errors: DOMAIN, with what is wrong.
fn body(bytes: &[u8]) -> Result<&[u8]> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        let is_begin = MAGIC.starts_with(bytes);
        return Err(if is_begin {
            cut_short()
        } else {
            domain("this is no workspace of Aplomb's")
        });
    };
    if bytes.len() < HEAD {
        return Err(cut_short());
    }
    let number = |at: usize, n: usize| {
        rest[at..at + n].iter().rev().fold(0, |all, b| all << 8 | u64::from(*b))
    };
    let (version, long, told) = (number(0, 4), number(4, 8), number(12, 8));
    if version != u64::from(VERSION) {
        let says = format!("this workspace has version {version}, and Aplomb reads {VERSION}");
        return Err(domain(says));
    }
    let body = &bytes[HEAD..];
    match () {
        () if (body.len() as u64) < long => Err(cut_short()),
        () if body.len() as u64 > long || sum(body) != told => {
            Err(domain("this workspace was changed: its sum is another"))
        }
        () => Ok(body),
    }
}

fn cut_short() -> Error {
    domain("this workspace is cut short")
}

fn damaged() -> Error {
    domain("this workspace holds what Aplomb does not know")
}

/// A workspace that was read.
struct Found {
    store: Store,
    settings: Settings,
}

impl Interp {
    /// The workspace as bytes. Values that are pending are computed. Errors: those of their
    /// computation; DOMAIN for a function that holds the names of a call.
    pub fn saved(&mut self, host: &mut dyn Host) -> Result<Vec<u8>> {
        let mut ev = Eval { cx: Cx { host, sys: &mut self.sys }, st: &mut self.store };
        write::workspace(&mut ev).map(|body| with_head(&body))
    }

    /// Takes the names and ⎕ variables of a workspace instead of its own. Errors: DOMAIN, WS FULL,
    /// and then nothing is changed.
    pub fn load(&mut self, bytes: &[u8], host: &mut dyn Host) -> Result<()> {
        let found = read::workspace(body(bytes)?, host)?;
        self.clear();
        self.store = found.store;
        self.sys.settings = found.settings.into();
        Ok(())
    }
}

impl Eval<'_> {
    /// Copies names of a workspace into the space that runs, those that are there already too but
    /// where it `protects` them; None: all that it has. Errors: VALUE
    /// where one is not there, DOMAIN, and then nothing is copied.
    pub fn copy_workspace(
        &mut self,
        bytes: &[u8],
        names: Option<&[String]>,
        protects: bool,
    ) -> Result<()> {
        // Its spaces belong to this workspace from now on.
        let root = self.st.root.clone();
        let found = read::names(body(bytes)?, self.cx.host, self.st, &root)?;
        let has = |name: &String| found.iter().any(|(n, _)| n == name.trim());
        if let Some(name) = names.and_then(|names| names.iter().find(|name| !has(name))) {
            let says = format!("the workspace has no {}", name.trim());
            return Err(aplomb_ground::error::value(says));
        }
        let is_wanted =
            |name: &String| names.is_none_or(|all| all.iter().any(|n| n.trim() == name));
        let here = self.st.here.clone();
        for (name, value) in found.into_iter().filter(|(name, _)| is_wanted(name)) {
            let sym = self.st.symbols.intern(&name);
            if protects && self.st.member(&here, sym).is_some() {
                continue;
            }
            self.copied(&here, sym, value)?;
        }
        Ok(())
    }

    fn copied(
        &mut self,
        to: &std::rc::Rc<super::space::Space>,
        sym: crate::syntax::Sym,
        value: Value,
    ) -> Result<()> {
        // What it was makes no difference: )copy replaces.
        if self.st.member(to, sym).is_some_and(|old| !old.may_become(&value)) {
            self.set_global(sym, None);
        }
        self.set_member(&to.value(), sym, value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Host as Tests;
    use aplomb_ground::span::Source;

    const LINES: &[&str] = &[
        "a←1 2.5 ¯3 ⋄ b←'text' ⋄ c←2 3⍴⍳6 ⋄ d←1J2 'x'(1 2)⍬ '' ⋄ e←0 3⍴⊂'ab'",
        "f←{⍺←2 ⋄ ⍺×⍵} ⋄ g←+/÷≢ ⋄ h←f⍤1 ⋄ k←⍣¯1 ⋄ m←2∘+ ⋄ o←{⍺⍺ ⍵} ⋄ p←∘.×",
        "n←(x:1 ⋄ y:'two') ⋄ n.f←{⍵+x} ⋄ n.up←n ⋄ s←n(3 4)",
        "∇r←twice v\n r←2×v\n∇",
        "⎕IO←0 ⋄ ⎕PP←5",
        "big←⍳5000",
    ];
    const SEEN: &str = "a b c d e ⋄ f 3 ⋄ (g 1 2 3)(h 2 2⍴⍳4)(+\\k 1 3 6)(m 1)({-⍵}o 3) ⋄ n.f 5 \
                        ⋄ n.up.y ⋄ (0⊃s).x ⋄ twice 4 ⋄ ⎕IO ⋄ ÷3 ⋄ +/big ⋄ 1 2 p 3 4";

    fn ran(interp: &mut Interp, host: &mut Tests, line: &str) -> Result<String> {
        host.printed.clear();
        interp.execute(&Source::new("test", line), host)?;
        Ok(host.printed.clone())
    }

    fn filled() -> (Interp, Tests) {
        let (mut interp, mut host) = (Interp::new(), Tests::default());
        for line in LINES {
            ran(&mut interp, &mut host, line).unwrap();
        }
        (interp, host)
    }

    #[test]
    fn a_workspace_that_was_saved_loads_as_it_was() {
        let (mut interp, mut host) = filled();
        let before = ran(&mut interp, &mut host, SEEN).unwrap();
        let bytes = interp.saved(&mut host).unwrap();
        let mut other = Interp::new();
        ran(&mut other, &mut host, "gone←1").unwrap();
        other.load(&bytes, &mut host).unwrap();
        assert_eq!(ran(&mut other, &mut host, SEEN).unwrap(), before);
        assert!(ran(&mut other, &mut host, "gone").is_err());
        assert_eq!(other.saved(&mut host).unwrap(), bytes, "saved again it is the same");
    }

    #[test]
    fn a_file_cut_or_changed_anywhere_is_an_error_and_nothing_is_lost() {
        let (mut interp, mut host) = (Interp::new(), Tests::default());
        ran(&mut interp, &mut host, "v←1 'a' ⋄ f←{⍵+v}").unwrap();
        let bytes = interp.saved(&mut host).unwrap();
        let mut other = Interp::new();
        ran(&mut other, &mut host, "kept←5").unwrap();
        for n in 0..bytes.len() {
            assert!(other.load(&bytes[..n], &mut host).is_err(), "cut at {n}");
            let mut changed = bytes.clone();
            changed[n] ^= 0x10;
            assert!(other.load(&changed, &mut host).is_err(), "changed at {n}");
        }
        assert_eq!(ran(&mut other, &mut host, "kept").unwrap(), "5\n");
    }

    #[test]
    fn no_body_of_a_right_sum_makes_the_reader_panic() {
        let (mut interp, mut host) = filled();
        let bytes = interp.saved(&mut host).unwrap();
        let body = &bytes[HEAD..];
        let mut other = Interp::new();
        for n in 0..body.len() {
            let _ = other.load(&with_head(&body[..n]), &mut host);
            let mut changed = body.to_vec();
            changed[n] = changed[n].wrapping_add(1 + (n % 7) as u8);
            let _ = other.load(&with_head(&changed), &mut host);
        }
    }

    #[test]
    fn a_function_that_holds_a_call_is_refused_by_name() {
        let (mut interp, mut host) = (Interp::new(), Tests::default());
        ran(&mut interp, &mut host, "n←⎕NS⍬ ⋄ {k←⍵ ⋄ n.f←{k+⍵} ⋄ 0}5").unwrap();
        let says = interp.saved(&mut host).map_err(|e| e.parts().says.clone());
        assert!(says.is_err_and(|s| s.contains("f holds the names of a call")));
    }
}

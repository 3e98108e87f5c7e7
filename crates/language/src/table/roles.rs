//! The role of a primitive for the compiler: the class of operation and the kind of node that it
//! becomes.
//!
//! Rows: ACL-04, after the six classes of Accelerator. Scalar functions need no row; of the others
//! the first that fits.

use super::{Class, Meaning};

pub struct Role {
    pub class: &'static str,
    /// None: no node of its own; it looks at values, or calls its operands.
    pub node: Option<&'static str>,
}

/// Glyphs, use ("" for any), class, node.
static ROLES: &[(&str, &str, &str, Option<&str>)] = &[
    ("⍳", "monadic", "construction", Some("iota")),
    ("⍳~∪∩∊", "dyadic", "transformation", Some("lib")),
    ("⍋⍒", "monadic", "transformation", Some("lib")),
    ("⍸", "monadic", "transformation", Some("compact")),
    ("?", "", "construction", Some("input")),
    ("⍴", "dyadic", "construction", Some("transform")),
    (",⍪", "dyadic", "transformation", Some("cat")),
    ("⌷", "dyadic", "transformation", Some("gather")),
    ("/⌿", "operator", "reduction", Some("reduce")),
    ("\\⍀", "operator", "reduction", Some("scan")),
    ("/⌿", "dyadic", "transformation", Some("compact")),
    (".", "", "linear algebra", Some("reduce")),
    ("∘", "operator", "linear algebra", Some("map")),
    ("⌸", "operator", "reduction", Some("segmented")),
    ("⌺", "operator", "transformation", Some("transform")),
    ("⍣", "operator", "element-wise", Some("loop")),
    ("¨⍨⍤⍥⍛", "operator", "element-wise", Some("map")),
    ("⌹", "", "linear algebra", None),
    ("⊥⊤", "", "linear algebra", Some("reduce")),
    ("⍕⍎⊂⊃⊆∊≡≢", "", "conversion", None),
    ("⌽⊖⍉↑↓⊣⊢⍴,⍪", "", "transformation", Some("transform")),
];

/// The role of a glyph's meaning; `used` is monadic, dyadic or operator.
pub fn role(glyph: char, used: &str, m: &Meaning) -> Role {
    if m.class == Class::Elementwise {
        return Role { class: "element-wise", node: Some("map") };
    }
    let fits = |r: &&(&str, &str, &str, Option<&str>)| {
        r.0.contains(glyph) && (r.1.is_empty() || r.1 == used)
    };
    match ROLES.iter().find(fits) {
        Some(&(_, _, class, node)) => Role { class, node },
        None if m.class == Class::Operator => Role { class: "element-wise", node: None },
        None => Role { class: "transformation", node: None },
    }
}

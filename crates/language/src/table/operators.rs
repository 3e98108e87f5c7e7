//! Rows of the operators.

use super::Class::{Host, Operator, Structural};
use super::Does::{Operator as Does, Two};
use super::{Meaning, NONE, PAIR, Prim, Role, SAME, meaning, with_axis};
use crate::eval::operators::{
    at, compose, each, key, power, products, rank, reduce, stencil, variant,
};
use crate::eval::system::ibeam;
use crate::functions::repeat;
use aplomb_ground::error::Kind::{Domain, Index, Length, Rank};

pub static ROWS: &[Prim] = &[
    hybrid(
        '/',
        None,
        &["slash", "reduce", "replicate", "fold", "repeat"],
        with_axis(
            "replicate",
            "Each cell of Y as often as X says, along the last axis.",
            "as Y, the axis +/|X long",
            &[
                (Length, "X has neither one number nor one for each cell", "1 0/1 2 3"),
                (Domain, "a broken number in X", "0.5/1 2"),
            ],
            ("1 0 2/'abc'", "acc"),
            Structural,
            Two(repeat::replicate_last),
        ),
        with_axis(
            "reduce",
            "f between the items of Y, from the right; n f/Y of each n neighbours.",
            "⍴Y without the axis; with n it is 1-|n longer",
            &[
                (Domain, "an empty axis, and f has no identity", "{⍺}/⍬"),
                (Length, "n is beyond 1 + the length", "5+/1 2"),
            ],
            ("+/1 2 3", "6"),
            Operator,
            Does(reduce::last),
        ),
    ),
    hybrid(
        '⌿',
        Some('/'),
        &["slash bar", "reduce first", "replicate first"],
        with_axis(
            "replicate first",
            "Each cell of Y as often as X says, along the first axis.",
            "as Y, the axis +/|X long",
            &[
                (Length, "X has neither one number nor one for each cell", "1 0⌿1 2 3"),
                (Domain, "a broken number in X", "0.5⌿1 2"),
            ],
            ("1 0⌿2 2⍴⍳4", "1 2"),
            Structural,
            Two(repeat::replicate_first),
        ),
        with_axis(
            "reduce first",
            "f between the major cells of Y.",
            "⍴Y without the axis; with n it is 1-|n longer",
            &[
                (Domain, "an empty axis, and f has no identity", "{⍺}⌿⍬"),
                (Length, "n is beyond 1 + the length", "5+⌿1 2"),
            ],
            ("+⌿2 2⍴⍳4", "4 6"),
            Operator,
            Does(reduce::first),
        ),
    ),
    hybrid(
        '\\',
        None,
        &["backslash", "scan", "expand"],
        with_axis(
            "expand",
            "Cells of Y where X is positive, fills where it is 0.",
            "as Y, the axis +/1⌈|X long",
            &[(Length, "X has not one positive number for each cell", "1 0\\1 2")],
            ("1 0 1\\1 2", "1 0 2"),
            Host,
            Two(repeat::expand_last),
        ),
        with_axis(
            "scan",
            "f/ of each prefix.",
            SAME,
            NONE,
            ("+\\1 2 3", "1 3 6"),
            Operator,
            Does(reduce::scan_last),
        ),
    ),
    hybrid(
        '⍀',
        Some('.'),
        &["backslash bar", "scan first", "expand first"],
        with_axis(
            "expand first",
            "As \\ along the first axis.",
            "as Y, the axis +/1⌈|X long",
            &[(Length, "X has not one positive number for each cell", "1 0⍀1 2")],
            ("1 0 1⍀1 2", "1 0 2"),
            Host,
            Two(repeat::expand_first),
        ),
        with_axis(
            "scan first",
            "As \\ along the first axis.",
            SAME,
            NONE,
            ("+⍀2 2⍴⍳4", "1 2\n4 6"),
            Operator,
            Does(reduce::scan_first),
        ),
    ),
    monadic(
        '¨',
        Some('1'),
        &["each", "dieresis", "map"],
        meaning(
            "each",
            "f on each item.",
            PAIR,
            &[(Length, "lengths differ", "1 2+¨1 2 3"), (Rank, "ranks differ", "(2 2⍴1)+¨1 2")],
            ("≢¨'ab' 'cde'", "2 3"),
            Operator,
            Does(each::each),
        ),
    ),
    monadic(
        '⍨',
        Some('T'),
        &["commute", "selfie", "constant", "tilde dieresis"],
        meaning(
            "commute",
            "f with its arguments exchanged; with Y on both sides.",
            "that of f",
            NONE,
            ("2-⍨5", "3"),
            Operator,
            Does(compose::commute),
        ),
    ),
    monadic(
        '⌶',
        Some('!'),
        &["i-beam"],
        meaning(
            "i-beam",
            "The service of number n: 819 case, 900 whether a call has one argument, 1200 times as \
             text, and others.",
            "that of the service",
            NONE,
            ("819⌶'ABC'", "abc"),
            Operator,
            Does(ibeam::serve),
        ),
    ),
    dyadic(
        '∘',
        Some('j'),
        &["jot", "compose", "beside", "bind"],
        meaning(
            "beside",
            "X f g Y; with a value, that argument is bound.",
            "that of f",
            NONE,
            ("(÷∘2)6", "3"),
            Operator,
            Does(compose::beside),
        ),
    ),
    dyadic(
        '⍤',
        Some('J'),
        &["rank", "atop", "jot dieresis"],
        meaning(
            "rank or atop",
            "f on cells of rank k; f of X g Y.",
            "the frame, then the shape of f's results",
            &[(Length, "k has more than three numbers", "+⍤1 2 3 4⊢1")],
            ("+/⍤1⊢2 2⍴⍳4", "3 7"),
            Operator,
            Does(rank::rank),
        ),
    ),
    dyadic(
        '⍥',
        Some('O'),
        &["over", "circle dieresis"],
        meaning(
            "over",
            "(g X) f g Y.",
            "that of f",
            NONE,
            ("1 2=⍥≢3 4", "1"),
            Operator,
            Does(compose::over),
        ),
    ),
    dyadic(
        '⍛',
        None,
        &["before", "behind", "jot underbar"],
        meaning(
            "behind",
            "(f X) g Y.",
            "that of g",
            NONE,
            ("3-⍛+5", "2"),
            Operator,
            Does(compose::behind),
        ),
    ),
    dyadic(
        '.',
        None,
        &["dot", "inner product", "outer product", "matrix product"],
        meaning(
            "inner product",
            "f/ of rows with columns by g; ∘.g makes all pairs.",
            "(¯1↓⍴X),1↓⍴Y; of ∘.g (⍴X),⍴Y",
            &[(Length, "the last axis of X is not as long as the first of Y", "1 2+.×1 2 3")],
            ("1 2+.×3 4", "11"),
            Operator,
            Does(products::inner),
        ),
    ),
    dyadic(
        '⍣',
        Some('P'),
        &["power operator", "repeat", "until", "inverse", "star dieresis"],
        meaning(
            "power",
            "f n times, or until g holds between the new and the old.",
            "that of f",
            &[(Domain, "n is negative, and f has no inverse", "{⍵}⍣¯1⊢1")],
            ("2×⍣3⊢1", "8"),
            Operator,
            Does(power::power),
        ),
    ),
    dyadic(
        '@',
        None,
        &["at", "amend", "change", "replace", "put"],
        meaning(
            "at",
            "Y with the cells i changed to A or by f; i may be a function that gives a mask.",
            SAME,
            &[(Index, "no such cell", "0@4⊢1 2 3")],
            ("0@2 4⍳5", "1 0 3 0 5"),
            Operator,
            Does(at::at),
        ),
    ),
    monadic(
        '⌸',
        Some('K'),
        &["key", "group", "histogram", "quad equal"],
        meaning(
            "key",
            "f of each distinct cell and its places, or its cells of Y.",
            "one major cell for each key, of f's shape",
            &[(Length, "X and Y differ in their number of cells", "1 2{⍵}⌸1 2 3")],
            ("{⍺(≢⍵)}⌸'abba'", "a 2\nb 2"),
            Operator,
            Does(key::key),
        ),
    ),
    dyadic(
        '⌺',
        Some('~'),
        &["stencil", "window", "convolution", "quad diamond"],
        meaning(
            "stencil",
            "f of the padding and the window around each item; s are sizes, above steps.",
            "one window for each place, then the shape of f's results",
            &[(Rank, "more sizes than axes", "{⍵}⌺3 3⊢1 2")],
            ("{+/⍵}⌺3⊢⍳5", "3 6 9 12 9"),
            Operator,
            Does(stencil::stencil),
        ),
    ),
    dyadic(
        '⍠',
        Some('?'),
        &["variant", "option", "quad colon"],
        with_axis(
            "variant",
            "f with options: ⌽⍠0 and ⊖⍠0 shift and fill, ⍠'clamp' repeats the edge, ⍠'wrap' \
             rotates; ⌷⍠0, ⌷⍠'clamp' and ⌷⍠'wrap' say the same of places outside.",
            "that of f",
            &[(Domain, "no such option", "1(⌽⍠'no')1 2")],
            ("1(⌽⍠0)1 2 3", "2 3 0"),
            Operator,
            Does(variant::variant),
        ),
    ),
];

const fn hybrid(
    glyph: char,
    key: Option<char>,
    names: &'static [&'static str],
    dyadic: Option<Meaning>,
    operator: Option<Meaning>,
) -> Prim {
    Prim { glyph, key, names, role: Role::Hybrid, monadic: None, dyadic, operator }
}

const fn monadic(
    glyph: char,
    key: Option<char>,
    names: &'static [&'static str],
    operator: Option<Meaning>,
) -> Prim {
    Prim { glyph, key, names, role: Role::Monadic, monadic: None, dyadic: None, operator }
}

const fn dyadic(
    glyph: char,
    key: Option<char>,
    names: &'static [&'static str],
    operator: Option<Meaning>,
) -> Prim {
    Prim { glyph, key, names, role: Role::Dyadic, monadic: None, dyadic: None, operator }
}

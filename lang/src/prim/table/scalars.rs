//! Rows of the scalar functions.

use super::Class::Elementwise;
use super::Does::{One, Scalar, Two};
use super::{Class, Prim, function, meaning, with_axis};
use crate::eval::cx::Cx;
use crate::prim::op::Op;
use crate::prim::shape::Axis;
use crate::prim::{numbers, search};
use crate::{array::Array, error::Result};

/// Conjugate: a real number is its own. A pending value is recorded, for it may leave the reals when it is computed.
fn conjugate(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    if y.is_uniform() && y.is_char() && !y.is_empty() {
        return Err(crate::error::domain("+ takes numbers, not characters"));
    }
    if y.is_open() || y.is_complex() || !y.is_uniform() { cx.map1(Op::Conj, y) } else { Ok(y.clone()) }
}

pub static ROWS: &[Prim] = &[
    function(
        '+',
        None,
        &["plus", "add", "conjugate", "sum"],
        meaning(
            "conjugate",
            "Y with the sign of its imaginary part turned; a real Y itself.",
            ("+5 ¯2", "5 ¯2"),
            Elementwise,
            One(conjugate),
        ),
        with_axis("add", "The sum of X and Y.", ("1 2 3+10", "11 12 13"), Elementwise, Scalar(Op::Add)),
    ),
    function(
        '-',
        None,
        &["minus", "subtract", "negate", "difference"],
        meaning("negate", "0 minus Y.", ("-1 ¯2", "¯1 2"), Elementwise, Scalar(Op::Neg)),
        with_axis("subtract", "X minus Y.", ("5-1 2", "4 3"), Elementwise, Scalar(Op::Sub)),
    ),
    function(
        '×',
        Some('-'),
        &["times", "multiply", "sign", "signum", "product"],
        meaning(
            "sign",
            "¯1, 0 or 1 by the sign of Y; of a complex Y, Y÷|Y.",
            ("×¯3 0 8", "¯1 0 1"),
            Elementwise,
            Scalar(Op::Sign),
        ),
        with_axis("times", "The product of X and Y.", ("2 3×4", "8 12"), Elementwise, Scalar(Op::Mul)),
    ),
    function(
        '÷',
        Some('='),
        &["divide", "reciprocal", "quotient"],
        meaning("reciprocal", "1 divided by Y.", ("÷2 4", "0.5 0.25"), Elementwise, Scalar(Op::Recip)),
        with_axis("divide", "X divided by Y; 0÷0 is 1.", ("6÷4 3", "1.5 2"), Elementwise, Scalar(Op::Div)),
    ),
    function(
        '*',
        Some('p'),
        &["power", "exponential", "star", "exp"],
        meaning("exponential", "e to the power Y.", ("*0 1", "1 2.718281828"), Elementwise, Scalar(Op::Exp)),
        with_axis("power", "X to the power Y.", ("2*3 0.5", "8 1.414213562"), Elementwise, Scalar(Op::Pow)),
    ),
    function(
        '⍟',
        Some('*'),
        &["log", "logarithm", "ln", "natural logarithm"],
        meaning(
            "natural logarithm",
            "The logarithm of Y to base e.",
            ("⍟1 10", "0 2.302585093"),
            Elementwise,
            Scalar(Op::Ln),
        ),
        with_axis("logarithm", "The logarithm of Y to base X.", ("2⍟8 32", "3 5"), Elementwise, Scalar(Op::Log)),
    ),
    function(
        '!',
        Some('_'),
        &["factorial", "binomial", "gamma", "choose"],
        meaning(
            "factorial",
            "Y factorial: the gamma function of 1+Y.",
            ("!0 5 0.5", "1 120 0.8862269255"),
            Elementwise,
            Scalar(Op::Fact),
        ),
        with_axis("binomial", "How many ways to choose X of Y.", ("2!4 5", "6 10"), Elementwise, Scalar(Op::Binomial)),
    ),
    function(
        '○',
        Some('o'),
        &["circle", "pi", "trigonometric", "sin", "cos", "tan"],
        meaning("pi times", "π times Y.", ("○1 2", "3.141592654 6.283185307"), Elementwise, Scalar(Op::Pi)),
        with_axis(
            "circular",
            "X is 1 sin, 2 cos, 3 tan, 4 √1+Y², 5 sinh, 6 cosh, 7 tanh, 0 √1-Y², 8 √-1-Y²; negative: the inverse. \
             9 real part, 10 magnitude, 11 imaginary part, 12 phase; ¯10 conjugate, ¯11 0J1×Y, ¯12 *0J1×Y.",
            ("1 2○0", "0 1"),
            Elementwise,
            Scalar(Op::CircleBy),
        ),
    ),
    function(
        '|',
        Some('m'),
        &["residue", "magnitude", "modulo", "abs", "absolute value", "stile"],
        meaning("magnitude", "Y without its sign.", ("|¯3 2", "3 2"), Elementwise, Scalar(Op::Abs)),
        with_axis("residue", "Y modulo X, with the sign of X.", ("3|7 ¯7", "1 2"), Elementwise, Scalar(Op::Residue)),
    ),
    function(
        '⌈',
        Some('s'),
        &["ceiling", "max", "maximum", "upstile"],
        meaning("ceiling", "The least integer not below Y.", ("⌈2.1 ¯2.1", "3 ¯2"), Elementwise, Scalar(Op::Ceil)),
        with_axis("maximum", "The greater of X and Y.", ("2⌈1 3", "2 3"), Elementwise, Scalar(Op::Max)),
    ),
    function(
        '⌊',
        Some('d'),
        &["floor", "min", "minimum", "downstile"],
        meaning("floor", "The greatest integer not above Y.", ("⌊2.9 ¯2.1", "2 ¯3"), Elementwise, Scalar(Op::Floor)),
        with_axis("minimum", "The lesser of X and Y.", ("2⌊1 3", "1 2"), Elementwise, Scalar(Op::Min)),
    ),
    function(
        '∧',
        Some('0'),
        &["and", "lcm", "least common multiple"],
        None,
        with_axis(
            "and",
            "And of booleans; the least common multiple of numbers.",
            ("1 1 4∧1 0 6", "1 0 12"),
            Elementwise,
            Scalar(Op::Lcm),
        ),
    ),
    function(
        '∨',
        Some('9'),
        &["or", "gcd", "greatest common divisor"],
        None,
        with_axis(
            "or",
            "Or of booleans; the greatest common divisor of numbers.",
            ("0 1 8∨0 0 12", "0 1 4"),
            Elementwise,
            Scalar(Op::Gcd),
        ),
    ),
    function(
        '⍲',
        Some(')'),
        &["nand", "not and"],
        None,
        with_axis("nand", "Not and, of booleans.", ("1 1⍲0 1", "1 0"), Elementwise, Scalar(Op::Nand)),
    ),
    function(
        '⍱',
        Some('('),
        &["nor", "not or"],
        None,
        with_axis("nor", "Not or, of booleans.", ("0 1⍱0", "1 0"), Elementwise, Scalar(Op::Nor)),
    ),
    function(
        '~',
        Some('t'),
        &["not", "without", "tilde", "except"],
        meaning("not", "1 for 0 and 0 for 1.", ("~0 1", "1 0"), Elementwise, Scalar(Op::Not)),
        meaning(
            "without",
            "The items of X that are not in Y.",
            ("3 1 4 1 5~1 5", "3 4"),
            Class::Host,
            Two(search::without),
        ),
    ),
    function(
        '=',
        Some('5'),
        &["equal", "equals"],
        None,
        with_axis("equal", "1 where X and Y are equal.", ("1 2 3=3 2 1", "0 1 0"), Elementwise, Scalar(Op::Eq)),
    ),
    function(
        '≠',
        Some('8'),
        &["unequal", "not equal", "first occurrences", "unique mask"],
        meaning(
            "unique mask",
            "1 where a cell is seen for the first time.",
            ("≠'abca'", "1 1 1 0"),
            Class::Host,
            One(search::nub_sieve),
        ),
        with_axis("unequal", "1 where X and Y differ.", ("1 2 3≠3 2 1", "1 0 1"), Elementwise, Scalar(Op::Ne)),
    ),
    function(
        '<',
        Some('3'),
        &["less", "less than"],
        None,
        with_axis("less", "1 where X is less than Y.", ("1 2 3<2", "1 0 0"), Elementwise, Scalar(Op::Lt)),
    ),
    function(
        '≤',
        Some('4'),
        &["less or equal", "at most"],
        None,
        with_axis("less or equal", "1 where X is at most Y.", ("1 2 3≤2", "1 1 0"), Elementwise, Scalar(Op::Le)),
    ),
    function(
        '≥',
        Some('6'),
        &["greater or equal", "at least"],
        None,
        with_axis("greater or equal", "1 where X is at least Y.", ("1 2 3≥2", "0 1 1"), Elementwise, Scalar(Op::Ge)),
    ),
    function(
        '>',
        Some('7'),
        &["greater", "greater than", "more"],
        None,
        with_axis("greater", "1 where X is greater than Y.", ("1 2 3>2", "0 0 1"), Elementwise, Scalar(Op::Gt)),
    ),
    function(
        '?',
        Some('q'),
        &["roll", "deal", "random"],
        meaning(
            "roll",
            "A random number of ⍳Y; 0 gives one between 0 and 1.",
            ("?1 1", "1 1"),
            Class::Host,
            One(numbers::roll),
        ),
        meaning("deal", "X different random numbers of ⍳Y.", ("+/3?3", "6"), Class::Host, Two(numbers::deal)),
    ),
];

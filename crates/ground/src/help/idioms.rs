//! Phrases by the names that they have elsewhere: Tab and help find `+/` by `sum`.

use super::{Topic, topic};

/// The rows of all phrases.
pub static ROWS: &[Topic] = &[
    topic(
        "+/",
        &["sum", "total", "add reduce", "count nonzero", "count true"],
        "The sum along the last axis: + between the items. +⌿ sums along the first axis; of a mask \
         it counts the ones.",
        ("+/3 1 4", "8"),
    ),
    topic("×/", &["product", "prod"], "The product along the last axis.", ("×/3 1 4", "12")),
    topic(
        "(+/÷≢)",
        &["mean", "average", "avg"],
        "The mean of a vector: the sum divided by the count. (+⌿÷≢) gives the mean of each column.",
        ("(+/÷≢)3 1 4 4", "3"),
    ),
    topic(
        "{(+/×⍨⍵-(+/⍵)÷≢⍵)÷≢⍵}",
        &["variance", "var"],
        "The variance of a vector; divide by ¯1+≢⍵ for that of a sample.",
        ("{(+/×⍨⍵-(+/⍵)÷≢⍵)÷≢⍵}1 2 3 4", "1.25"),
    ),
    topic(
        "{.5*⍨(+/×⍨⍵-(+/⍵)÷≢⍵)÷≢⍵}",
        &["standard deviation", "std"],
        "The standard deviation of a vector.",
        ("{.5*⍨(+/×⍨⍵-(+/⍵)÷≢⍵)÷≢⍵}1 3", "1"),
    ),
    topic(
        "{.5×+/⍵[(⍋⍵)[⌈.5×0 1+≢⍵]]}",
        &["median"],
        "The middle of a vector in order; of an even number of items the mean of the middle two.",
        ("{.5×+/⍵[(⍋⍵)[⌈.5×0 1+≢⍵]]}4 1 3 2", "2.5"),
    ),
    topic(
        "⌈/",
        &["amax", "largest", "reduce max"],
        "The greatest item along the last axis.",
        ("⌈/3 1 4", "4"),
    ),
    topic(
        "⌊/",
        &["amin", "smallest", "reduce min"],
        "The least item along the last axis.",
        ("⌊/3 1 4", "1"),
    ),
    topic(
        "(⊃⍒)",
        &["argmax"],
        "The place of the greatest item, the first of equals.",
        ("(⊃⍒)3 1 4 4", "3"),
    ),
    topic(
        "(⊃⍋)",
        &["argmin"],
        "The place of the least item, the first of equals.",
        ("(⊃⍋)3 1 4", "2"),
    ),
    topic(
        "⊂⍤⍋⍛⌷",
        &["sort", "sorted", "order", "order by"],
        "The cells in ascending order: those at the places that ⍋ gives, as x[⍋x] for a vector. \
         With ⍒: descending.",
        ("(⊂⍤⍋⍛⌷)3 1 2", "1 2 3"),
    ),
    topic("⍋", &["argsort"], "The places of the cells in ascending order.", ("⍋3 1 2", "2 3 1")),
    topic(
        "+\\",
        &["cumsum", "cumulative sum", "running sum", "accumulate"],
        "The sum of each prefix.",
        ("+\\1 2 3", "1 3 6"),
    ),
    topic(
        "×\\",
        &["cumprod", "cumulative product"],
        "The product of each prefix.",
        ("×\\1 2 3", "1 2 6"),
    ),
    topic(
        "⌈\\",
        &["cummax", "running maximum"],
        "The greatest item of each prefix.",
        ("⌈\\3 1 4", "3 3 4"),
    ),
    topic(
        "2-⍨/",
        &["diff", "differences"],
        "Each item less the one before it; 2-/ subtracts the other way round.",
        ("2-⍨/1 4 9", "3 5"),
    ),
    topic("∨/", &["any", "some"], "1 if any item of a mask is 1.", ("∨/0 1 0", "1")),
    topic("∧/", &["all", "every"], "1 if all items of a mask are 1.", ("∧/1 1 0", "0")),
    topic(
        "+.×",
        &["dot product", "matmul", "matrix multiply", "inner", "scalar product"],
        "Rows of X with columns of Y: × between items, then +/. Any two functions go: ∧.= \
         compares, ⌊.+ finds shortest ways.",
        ("(2 2⍴⍳4)+.×1 1", "3 7"),
    ),
    topic(
        "∘.×",
        &["outer", "outer product", "multiplication table", "all pairs", "cross join"],
        "f between every item of X and every item of Y, of shape (⍴X),⍴Y. ∘. takes any function: \
         ∘.= ∘.+ ∘.⌈ and your own.",
        ("1 2 3∘.×1 2 3", "1 2 3\n2 4 6\n3 6 9"),
    ),
    topic(
        "*∘.5",
        &["sqrt", "square root", "root"],
        "The square root: the power a half.",
        ("*∘.5⊢4 2", "2 1.414213562"),
    ),
    topic("×⍨", &["square", "squared"], "Each item times itself.", ("×⍨1 2 3", "1 4 9")),
    topic(
        "⌊.5+",
        &["round", "rint"],
        "The nearest whole number; for d decimals (10*-d)×⌊.5+Y×10*d.",
        ("⌊.5+2.4 2.6", "2 3"),
    ),
    topic(
        "0⌈10⌊",
        &["clip", "clamp"],
        "Numbers kept within bounds: lower⌈upper⌊Y.",
        ("0⌈10⌊¯5 5 15", "0 5 10"),
    ),
    topic(
        "⊂⍛⌷",
        &["fancy index", "gather", "slice", "getitem"],
        "The major cells at the places on the right. x[places] does the same for a vector.",
        ("3 1⊂⍛⌷'abc'", "ca"),
    ),
    topic(
        "⊢⍤/",
        &["filter", "compress", "boolean mask", "select"],
        "The items where a mask is 1: mask/Y. p⍛/ filters by a function, as in (2∘<)⍛/.",
        ("((2∘<)⍛/)3 1 4", "3 4"),
    ),
    topic(
        "⍸",
        &["nonzero", "argwhere", "flatnonzero"],
        "The places of the ones in a mask.",
        ("⍸3<3 1 4 5", "3 4"),
    ),
    topic(
        "{(⍺⍺⍵)/⍵}",
        &["filter by"],
        "An operator that keeps what a function says 1 of.",
        ("2∘|{(⍺⍺⍵)/⍵}⍳5", "1 3 5"),
    ),
    topic(
        "∪",
        &["distinct", "deduplicate"],
        "The different cells, in the order of their first places.",
        ("∪3 1 3", "3 1"),
    ),
    topic(
        "{⍺,≢⍵}⌸",
        &["value counts", "frequencies", "bincount", "counter", "group by", "groupby"],
        "How often each item comes; f⌸ gives f each key with its places.",
        ("{⍺,≢⍵}⌸3 1 3", "3 2\n1 1"),
    ),
    topic(
        "{⍺,+/⍵}⌸",
        &["sum by", "group sum", "aggregate"],
        "For each key the sum of its items: X{⍺,+/⍵}⌸Y. So with ⌈/ ×/ and the like; {+/⍵}⌸ leaves \
         the keys out.",
        ("1 2 1{⍺,+/⍵}⌸3 4 5", "1 8\n2 4"),
    ),
    topic(
        "+/¨",
        &["segmented sum", "reduceat"],
        "The sum of each piece: +/¨B⊂Y begins one where B is 1.",
        ("+/¨1 0 1 0⊂⍳4", "3 7"),
    ),
    topic("∊", &["isin", "in", "contains"], "1 where an item of X is in Y.", ("2 5∊⍳3", "1 0")),
    topic(
        "⍳",
        &["arange", "range", "indices"],
        "The first whole numbers; start+step×(⍳n)-1 for any other row of numbers.",
        ("2+3×(⍳4)-1", "2 5 8 11"),
    ),
    topic(
        "⍴∘0",
        &["zeros", "ones", "full"],
        "An array of one number: 2 3⍴0, 4⍴1, 2 2⍴7.",
        ("2 3⍴0", "0 0 0\n0 0 0"),
    ),
    topic("(∘.=⍨⍳)", &["eye", "identity matrix"], "The identity matrix.", ("(∘.=⍨⍳)2", "1 0\n0 1")),
    topic(",¨", &["zip", "pairs"], "Pairs of items.", ("1 2,¨'ab'", " 1 a  2 b ")),
    topic("⊃⌽", &["last"], "The last item.", ("⊃⌽3 1 4", "4")),
    topic(
        "1↓",
        &["tail", "rest"],
        "All but the first cell; ¯1↓ all but the last.",
        ("1↓3 1 4", "1 4"),
    ),
    topic(
        ",",
        &["flatten", "append", "concatenate", "concat"],
        "Y after X along the last axis; alone all items in a vector.",
        ("1 2,3", "1 2 3"),
    ),
    topic(
        "↑",
        &["stack", "vstack", "pad"],
        "Items as cells of one array, padded; ⍪ puts arrays below each other.",
        ("↑(1 2)(3 4)", "1 2\n3 4"),
    ),
    topic(
        "⍴",
        &["resize", "dimensions"],
        "Alone the lengths of the axes, between arrays another shape.",
        ("⍴2 3⍴0", "2 3"),
    ),
    topic("⍉", &["swapaxes", "flip axes"], "The axes in another order.", ("⍴⍉2 3⍴0", "3 2")),
    topic(
        "≢",
        &["len", "size"],
        "The number of major cells; ×/⍴Y the number of items.",
        ("≢3 1 4", "3"),
    ),
    topic(
        "⌽",
        &["flip", "roll"],
        "The last axis turned round, or by k places; ⊖ the first.",
        ("¯1⌽3 1 4", "4 3 1"),
    ),
    topic(
        "?⍴∘0",
        &["rand", "uniform", "random numbers"],
        "Numbers between 0 and 1, of any shape: ?2 3⍴0. ⎕RL←42 makes them the same each time.",
        ("⍴?2 3⍴0", "2 3"),
    ),
    topic(
        "⌹",
        &["lstsq", "inv", "linear equations"],
        "B⌹A solves A+.×X for B, the least squares where A is tall.",
        ("5 6⌹2 2⍴1 1 0 2", "2 3"),
    ),
    topic("⍕", &["str", "string", "tostring"], "An array as characters.", ("⍴⍕12 3", "4")),
    topic(
        "⍎",
        &["parse", "to number"],
        "The value of a text; ⎕VFI reads numbers alone, safely.",
        ("⍎'1 2'", "1 2"),
    ),
    topic(
        "≠⊆⊢",
        &["split text", "tokenize", "words"],
        "The parts between a separator.",
        ("' '(≠⊆⊢)'to be'", " to  be "),
    ),
];

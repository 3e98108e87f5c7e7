//! The notation: dfns, guards, brackets, assignment, numbers, text … all that is neither a function
//! nor an operator.

use super::{Topic, topic};

/// The rows of all notation.
pub static ROWS: &[Topic] = &[
    topic("⍵", &[], "In a dfn the right argument.", ("{⍵+1}2", "3")),
    topic(
        "⍺",
        &["default argument", "optional argument"],
        "In a dfn the left argument. ⍺←v is run only where none was given.",
        ("{⍺←10 ⋄ ⍺+⍵}2", "12"),
    ),
    topic(
        "⍺⍺ ⍵⍵",
        &["⍺⍺", "⍵⍵", "dop", "operand", "operands", "higher order", "define operator"],
        "In a dfn the left and the right operand; a dfn that mentions them is an operator.",
        ("+∘1{⍺⍺ ⍺⍺ ⍵}5", "7"),
    ),
    topic(
        "{ }",
        &[
            "{}",
            "{",
            "}",
            "dfn",
            "dfns",
            "function",
            "lambda",
            "def",
            "anonymous function",
            "define function",
        ],
        "A function: the first statement that is neither assignment nor guard is its value. ⍺ and \
         ⍵ are its arguments, names that it assigns its own.",
        ("avg←{(+/⍵)÷≢⍵} ⋄ avg 3 1 4 4", "3"),
    ),
    topic(
        "cond:value",
        &[
            ":",
            "guard",
            "if",
            "else",
            "elif",
            "conditional",
            "ternary",
            "switch",
            "case",
            "control structure",
        ],
        "A guard: where cond is 1 the dfn ends with value, else it goes on. Without a dfn, choose \
         by an index or filter by a mask, or write :If.",
        ("{⍵<0:'below' ⋄ ⍵=0:'zero' ⋄ 'above'}5", "above"),
    ),
    topic(
        "events::value",
        &["::", "error guard", "try", "catch", "except", "exception", "trap"],
        "An error guard: an error in the statements after it ends the dfn with value, where names \
         are what they were at the guard. The events are numbers of errors (]help DOMAIN ERROR), 0 \
         is all.",
        ("{11::'no' ⋄ 1÷⍵}0", "no"),
    ),
    topic(
        "∇",
        &["recurse", "self reference"],
        "In a dfn the function itself. A call that ends the function uses no stack.",
        ("{⍵≤1:1 ⋄ ⍵×∇⍵-1}5", "120"),
    ),
    topic(
        "∇∇",
        &["operator recursion"],
        "In a dfn that is an operator: that operator.",
        ("+∘1{⍵>3:⍵ ⋄ ⍺⍺ ∇∇ ⍺⍺ ⍵}0", "4"),
    ),
    topic(
        "loop",
        &[
            "for",
            "while",
            "until loop",
            "for loop",
            "iterate",
            "iteration",
            "foreach",
            "range loop",
        ],
        "Seldom to be written: functions work on whole arrays. f¨ is for each item, f⍣n repeats, \
         f⍣≡ until nothing changes, f⍣g until g; what is left is recursion by ∇, or :For.",
        ("{⍵×2}⍣3⊢1", "8"),
    ),
    topic(
        "∇r←x f y",
        &["tradfn", "tradfns", "header", "procedure", "local variable", "locals", "⎕FX", "niladic"],
        "A function of lines, up to a line that is ∇ alone: r is its result, {r} one that does not \
         print, {x} an argument that may be left out, (f op g) an operator's name between its \
         operands; ;a;b are its own names. →n goes to line n, →0 leaves, L: before a statement \
         names its line.",
        ("∇r←f y\n r←2×y\n∇\nf 4", "8"),
    ),
    topic(
        ":For",
        &[":In", ":InEach", ":While", ":Repeat", ":Until", ":Leave", ":Continue", ":EndFor"],
        "Control words of ∇ functions and of a text's own lines. Loops: :For i :In v, :For a b \
         :InEach v w, :While c, :Repeat; :Until c ends one, :Leave and :Continue stand in it.",
        (":For i :In 2 3 ⋄ i×i ⋄ :EndFor", "4\n9"),
    ),
    topic(
        ":If",
        &[
            ":Else",
            ":ElseIf",
            ":AndIf",
            ":OrIf",
            ":Select",
            ":Case",
            ":CaseList",
            ":Trap",
            ":Return",
            ":GoTo",
            ":Section",
            ":Hold",
            ":EndIf",
            "goto",
            "control word",
        ],
        "Control words: :If c, :AndIf or :OrIf, :ElseIf, :Else; :Select v with :Case and \
         :CaseList; :Trap events with :Case and :Else; :Return, :GoTo line. :End ends any block.",
        (":If 1=2 ⋄ 'yes' ⋄ :Else ⋄ 'no' ⋄ :EndIf", "no"),
    ),
    topic(
        "x[i]",
        &[
            "[]",
            "[",
            "]",
            "bracket",
            "brackets",
            "index bracket",
            "indexing",
            "subscript",
            "slicing",
        ],
        "Items at places. M[i;j] has a part for each axis, an empty one is all; indices begin at \
         ⎕IO. x[i]←v puts items there.",
        ("(2 3⍴⍳6)[2;3 1]", "6 4"),
    ),
    topic(
        "f[k]",
        &["[k]", "axis", "axes", "along", "bracket axis", "keepdims"],
        "f along axis k, the first being ⎕IO: of / \\ ⌽ , ↑ ↓ ⊂ and scalar functions. ⌿ ⍀ ⊖ ⍪ take \
         the first axis, f⍤k takes cells of rank k.",
        ("+/[1]2 2⍴⍳4", "4 6"),
    ),
    topic(
        "( )",
        &[
            "()",
            "(",
            ")",
            "parenthesis",
            "parentheses",
            "precedence",
            "order of evaluation",
            "right to left",
        ],
        "What stands in brackets goes first. Otherwise a function takes all that is on its right, \
         and there is no precedence.",
        ("(2×3)+4", "10"),
    ),
    topic(
        "strand",
        &["list", "literal vector", "vector notation", "array literal"],
        "Values side by side are one vector; names and brackets too.",
        ("a←5 ⋄ 1 a(2 3)", "1 5  2 3 "),
    ),
    topic(
        "(a ⋄ b)",
        &["array notation", "[a ⋄ b]", "matrix literal", "list literal", "(⋄)"],
        "Array notation: (a ⋄ b) is a vector of values, [a ⋄ b] a matrix whose rows they are; a \
         new line is as good as ⋄.",
        ("[1 2 ⋄ 3 4]", "1 2\n3 4"),
    ),
    topic(
        "train",
        &["fork", "atop train", "tacit", "point free", "hook", "trains"],
        "Functions side by side: (f g h)Y is (f Y)g(h Y), (g h)Y is g h Y. A value may stand for \
         f.",
        ("(+/÷≢)3 1 4 4", "3"),
    ),
    topic(
        "←",
        &[
            "assignment",
            "variable",
            "set",
            "modified assignment",
            "selective assignment",
            "multiple assignment",
            "destructuring",
        ],
        "Names a value or a function: x←1, (a b)←1 2, x+←1, x[i]←v, (2↑x)←v, f←+/. The value goes \
         on to the left; as the last thing done it is not printed. ⎕←v prints.",
        ("(a b)←3 4 ⋄ a×b", "12"),
    ),
    topic(
        "⋄",
        &["statement", "separator", "newline", "semicolon"],
        "Separates statements on a line.",
        ("x←2 ⋄ x×3", "6"),
    ),
    topic("⍝", &["comments"], "What follows is a comment.", ("1+1 ⍝ two", "2")),
    topic(
        "¯",
        &["minus sign", "negative number"],
        "Part of a negative number; - is the function.",
        ("3-¯2", "5"),
    ),
    topic(
        "⍬",
        &["empty", "empty list", "null", "none"],
        "The empty numeric vector, 0⍴0. '' is the empty text.",
        ("⍴⍬", "0"),
    ),
    topic(
        "⎕",
        &["print", "input", "read line", "output"],
        "⎕←v prints v and passes it on; ⎕ alone reads an expression. Before a name it makes a \
         system name: ]help ⎕CSV.",
        ("1+⎕←2", "2\n3"),
    ),
    topic(
        "⍞",
        &["prompt", "read text"],
        "⍞←v prints without a new line; ⍞ alone reads a line of text.",
        ("⍞←'a' ⋄ ⍞←'b'", "ab"),
    ),
    topic(
        "∆",
        &["name", "names", "identifier", "identifiers"],
        "A letter in names. Names are letters, digits, _ ∆ ⍙, and case counts.",
        ("∆x←1 ⋄ ∆x", "1"),
    ),
    topic("⍙", &[], "A letter in names.", ("⍙x←1 ⋄ ⍙x", "1")),
    topic(
        "number",
        &[
            "numbers",
            "literal",
            "integer",
            "float",
            "scientific notation",
            "complex",
            "complex number",
            "imaginary",
            "infinity",
            "nan",
        ],
        "¯3, 1.5, 1E¯5, complex 3J¯4. ¯ belongs to the number. Integers are exact up to 2*53; what \
         no number can hold is a DOMAIN ERROR.",
        ("¯3 1.5 2E3 0J1", "¯3 1.5 2000 0J1"),
    ),
    topic(
        "text",
        &["quote", "quotes", "'", "character", "characters", "char", "string literal"],
        "'…' is a vector of characters, one character alone a scalar; '' inside stands for a \
         quote.",
        ("≢'it''s'", "4"),
    ),
    topic(
        "scalar extension",
        &["broadcast", "broadcasting", "extend"],
        "One item goes with any shape. A vector with a matrix needs an axis, v+[2]M, or rank, \
         v+⍤1⊢M.",
        ("10 20+[1]2 2⍴⍳4", "11 12\n23 24"),
    ),
    topic(
        "cell",
        &["cells", "major cell", "frame", "rank of array", "dimension"],
        "An array of rank r has cells of each rank: the major cells are those along the first \
         axis. f⍤k works on the cells of rank k.",
        ("(+/⍤1)2 3⍴⍳6", "6 15"),
    ),
    topic(
        "fill",
        &["prototype", "fills", "padding value"],
        "What stands where nothing is: 0 for numbers, a blank for text, by the first item.",
        ("4↑'ab'", "ab  "),
    ),
    topic(
        "type",
        &["dtype", "types", "astype"],
        "⎕DR tells how an array is kept, ⎕AS converts it.",
        ("⎕DR 1.5", "645"),
    ),
    topic(
        "tolerance",
        &["tolerant comparison", "isclose", "allclose", "epsilon comparison"],
        "Numbers are equal if they differ by no more than ⎕CT, relative to the greater.",
        ("1=1+1E¯15", "1"),
    ),
    topic(
        "namespace",
        &["class", "object", "dict", "dictionary", "struct", "module", "import"],
        "Namespaces and classes are not in Aplomb. Keys and values are two vectors: \
         values[keys⍳key].",
        ("1 2 3['abc'⍳'b']", "2"),
    ),
];

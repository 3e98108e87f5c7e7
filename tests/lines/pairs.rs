//! Every function of PRIMS under every operator of PRIMS, at sizes around every threshold, on
//! numbers, truths, texts, nested and complex arrays, and on ∞, NaN and ¯0 of a file: at once, cell
//! by cell, recorded, with a switch off, and by the reference, the value or the error is the same.
//!
//! The lines come from the table, so a new row is drawn by itself; an operator without a form here
//! fails. A run draws each pair at least once and counts them.

use crate::differential::Oracle;
use crate::frames::{execute, kind, special};
use crate::support::{Dice, scaled, session};
use aplomb_compiler::pass::switches;
use aplomb_kernel::session::Session;
use aplomb_language::table::{Does, Meaning, Prim, prims};
use std::collections::BTreeMap;

/// A form of a call: `f` is the function, `x` and `y` are arrays of one length, `s` and `r` short
/// ones, `m` is a matrix, `g` any scalar function. `One` and `Two` say how many arguments f gets.
#[derive(Clone, Copy, PartialEq)]
enum Calls {
    One,
    Two,
}
use Calls::{One, Two};

/// The lines of each operator. The operand of ⌶ is a number, so no function stands there.
const FORMS: &[(char, &[(Calls, &str)])] = &[
    ('/', &[(Two, "f/s"), (Two, "3f/s"), (Two, "f/m"), (Two, "f/¨(2↑s)(3↑r)")]),
    ('⌿', &[(Two, "f⌿s"), (Two, "2f⌿3↑m"), (Two, "f⌿3↑m")]),
    ('\\', &[(Two, "f\\s"), (Two, "f\\3↑m"), (Two, "f\\¨(2↑s)(3↑r)")]),
    ('⍀', &[(Two, "f⍀s"), (Two, "f⍀5↑m")]),
    ('¨', &[(One, "f¨y"), (Two, "x f¨y"), (Two, "2 f¨y"), (Two, "x f¨3"), (One, "{f⍵}¨y")]),
    ('⍨', &[(Two, "f⍨s"), (Two, "s f⍨r"), (Two, "2 f⍨¨y"), (Two, "{⍵ f⍨3}¨y")]),
    (
        '∘',
        &[(One, "(f∘⊢)s"), (Two, "s(f∘g)r"), (Two, "(2∘f)¨y"), (Two, "(f∘2)¨y"), (One, "s g∘f r")],
    ),
    (
        '⍤',
        &[
            (One, "f⍤1⊢m"),
            (One, "f⍤0⊢y"),
            (Two, "m(f⍤1)m"),
            (Two, "2(f⍤0 1)m"),
            (One, "(f⍤g)¨s"),
            (One, "{f⍵}⍤1⊢m"),
        ],
    ),
    ('⍥', &[(Two, "s f⍥g r"), (One, "s g⍥f r"), (Two, "x(f⍥g)¨y")]),
    ('⍛', &[(One, "s(f⍛g)r"), (Two, "s(g⍛f)r"), (Two, "x(g⍛f)¨y")]),
    ('.', &[(Two, "s f.g r"), (Two, "s g.f r"), (Two, "(5↑s)∘.f 7↑r"), (Two, "(3↑m)g.f⍉3↑m")]),
    ('⍣', &[(One, "f⍣2⊢s"), (Two, "2(f⍣2)s"), (One, "f⍣2¨5↑s"), (One, "f⍣{1⊣⍺⍵}⊢s")]),
    ('@', &[(One, "f@1 3⊢y"), (Two, "2(f@1 3)y"), (One, "f@{2|⍳≢⍵}y"), (One, "f@2⊢m")]),
    ('⌸', &[(Two, "f⌸x"), (Two, "x f⌸y"), (One, "x{f⍵}⌸y"), (One, "{f⍵}⌸x"), (Two, "{⍺f⍵}⌸m")]),
    ('⌺', &[(One, "{f⍵}⌺3⊢y"), (Two, "f⌺3⊢s"), (Two, "{2f⍵}⌺2 3⊢9↑m"), (One, "{f,⍵}⌺3 3⊢5↑m")]),
    ('⍠', &[(Two, "1(f⍠0)y"), (Two, "2(f⍠0)m")]),
    ('⌶', &[]),
];

/// Around the number of cells that run at once, of items that are recorded, of chunks, of blocks.
const SIZES: [usize; 9] = [15, 16, 17, 1_000, 1_023, 1_024, 1_025, 4_096, 65_536];
/// The last two are drawn one time in so many: a cell at a time they take a tenth of a second.
const SELDOM: usize = 48;
/// Sizes beyond are not asked of the reference, which has one element at a time.
const OF_THE_REFERENCE: usize = 1_025;

/// The arrays of a size. S comes of a file, beside them.
const DATA: &str = "V←7|3+⍳n ⋄ F←0.25×13|5×⍳n ⋄ B←0=3|⍳n ⋄ K←((⌈n÷3),3)⍴7|5×⍳n ⋄ \
                    t←n⍴'the quick brown fox jumps over the lazy dog ' ⋄ X←((⌈n÷4),4)⍴t ⋄ \
                    W←' '(≠⊆⊢)t ⋄ R←(n⍴1 0 0 1 0)⊂V ⋄ Z←n⍴1J1 2 ¯0.5 0J¯1 ⋄ N←n⍴1 'a' (2 3) ⋄ \
                    D←5|V∘.+⍳4";
const LONG: [&str; 10] = ["V", "V", "F", "F", "B", "t", "Z", "N", "S", "V"];
const SHORT: [&str; 9] =
    ["(20↑V)", "(17↑F)", "(16↑B)", "(9↑t)", "(5↑W)", "(6↑R)", "(7↑Z)", "(8↑N)", "(11↑S)"];
const MATRICES: [&str; 4] = ["K", "X", "(K÷4)", "D"];

/// A function meaning of a row.
fn is_function(m: &Option<Meaning>) -> bool {
    m.as_ref().is_some_and(|m| !matches!(m.does, Does::Operator(_)))
}

fn operators() -> impl Iterator<Item = &'static Prim> {
    prims().filter(|p| p.operator.is_some())
}

/// A call, and the size of its data.
struct Drawn {
    line: String,
    n: usize,
    pair: (char, char),
}

fn filled(form: &str, f: char, dice: &mut Dice, scalars: &[char]) -> String {
    let mut out = String::new();
    let like = *dice.pick(&LONG);
    for (k, c) in form.char_indices() {
        // A letter beside a letter, or behind ⎕, is part of a name.
        let alone =
            |c: Option<char>| !c.is_some_and(|c| c.is_alphabetic() && "fgxysrm".contains(c));
        let rest = form[k + c.len_utf8()..].chars().next();
        debug_assert!(!"xysrm".contains(c) || alone(rest), "{form}");
        match c {
            'f' => out.push(f),
            'g' => out.push(*dice.pick(scalars)),
            'x' | 'y' if dice.roll(2) == 0 => out += like,
            'x' | 'y' => out += *dice.pick(&LONG),
            's' | 'r' => out += *dice.pick(&SHORT),
            'm' => out += *dice.pick(&MATRICES),
            c => out.push(c),
        }
    }
    out
}

/// So many forms of every pair, one after the other and over again, each on other data and of
/// another size.
fn drawn(times: usize) -> Vec<Drawn> {
    let scalars: Vec<char> = prims()
        .filter(|p| p.dyadic.as_ref().is_some_and(|m| matches!(m.does, Does::Scalar(_))))
        .map(|p| p.glyph)
        .collect();
    let mut out = Vec::new();
    for op in operators() {
        let forms = FORMS.iter().find(|f| f.0 == op.glyph).map(|f| f.1);
        let forms = forms.unwrap_or_else(|| panic!("{} has no form in FORMS", op.glyph));
        for p in prims() {
            let fits = |calls: Calls| match calls {
                One => is_function(&p.monadic),
                Two => is_function(&p.dyadic),
            };
            let forms: Vec<&str> = forms.iter().filter(|f| fits(f.0)).map(|f| f.1).collect();
            for turn in 0..if forms.is_empty() { 0 } else { times } {
                let pair = [p.glyph, op.glyph].map(|c| u64::from(u32::from(c)));
                let mut dice = Dice(pair[0] << 40 ^ pair[1] << 16 ^ turn as u64);
                (0..4).for_each(|_| _ = dice.roll(2));
                let few = SIZES.len() - 2;
                let n = match dice.roll(SELDOM) {
                    0 => SIZES[few + dice.roll(2)],
                    _ => SIZES[dice.roll(few)],
                };
                let form = forms[(pair[0] as usize + turn) % forms.len()];
                let line = filled(form, p.glyph, &mut dice, &scalars);
                out.push(Drawn { line, n, pair: (p.glyph, op.glyph) });
            }
        }
    }
    out
}

fn prepared(n: usize, file: &std::path::Path, everything: bool, off: Option<&str>) -> Session {
    let mut s = session();
    s.value_of("1").expect("a session");
    for line in [format!("n←{n}"), DATA.into(), format!("S←⎕NPY'{}'", file.display())] {
        let failed = execute(&mut s, &line);
        assert!(!failed.iter().any(|e| matches!(e, aplomb_ground::protocol::Event::Error(_))));
    }
    s.interp().set_record_all(everything);
    if let Some(name) = off {
        s.options().switch(name, false).expect("a switch");
    }
    s
}

type Outcome = Result<(Vec<usize>, Vec<u64>), String>;

/// A value in which all NaNs are one: nobody tells them apart.
fn told(s: &mut Session, line: &str) -> Outcome {
    let nan = |x: u64| if f64::from_bits(x).is_nan() { f64::NAN.to_bits() } else { x };
    kind(s, &format!("⎕RL←42 ⋄ {line}"))
        .map(|(shape, bits)| (shape, bits.into_iter().map(nan).collect()))
}

fn short(o: &Outcome) -> String {
    format!("{o:?}").chars().take(200).collect()
}

#[test]
fn each_function_is_the_same_under_each_operator_whichever_way_it_runs() {
    let lines = drawn(scaled(1).max(1));
    let mut pairs: BTreeMap<(char, char), usize> = BTreeMap::new();
    let (mut wrong, mut values, mut turn) = (Vec::new(), 0, 0);
    let switches = switches();
    for n in SIZES {
        let file = special(n);
        let (mut at_once, mut cells) =
            (prepared(n, &file, false, None), prepared(n, &file, false, Some("frames")));
        let mut recorded = prepared(n, &file, true, None);
        let mut reference = (n <= OF_THE_REFERENCE).then(|| Oracle::on(&format!("n←{n} ⋄ {DATA}")));
        let mut off: BTreeMap<&str, Session> = BTreeMap::new();
        for Drawn { line, pair, .. } in lines.iter().filter(|d| d.n == n) {
            *pairs.entry(*pair).or_default() += 1;
            let begun = std::time::Instant::now();
            let wanted = told(&mut cells, line);
            values += usize::from(wanted.is_ok());
            turn += 1;
            let name = switches[turn % switches.len()];
            let one = off.entry(name).or_insert_with(|| prepared(n, &file, false, Some(name)));
            let mut ways = vec![
                ("at once", told(&mut at_once, line)),
                ("recorded", told(&mut recorded, line)),
                (name, told(one, line)),
            ];
            if let Some(oracle) = reference.as_mut().filter(|_| !line.contains(['S', '?'])) {
                ways.extend(oracle.kind(line).map(|found| ("reference", found)));
            }
            let differ = ways.iter().filter(|(_, got)| *got != wanted);
            wrong.extend(differ.map(|(way, got)| {
                format!("n={n}: {line} [{way}]\n   {}\n   {}", short(got), short(&wanted))
            }));
            if begun.elapsed().as_secs_f64() > 1.0 {
                println!("{:?}: n={n}: {line}", begun.elapsed());
            }
        }
        let _ = std::fs::remove_file(&file);
    }
    let functions = || prims().filter(|p| is_function(&p.monadic) || is_function(&p.dyadic));
    for op in operators().filter(|op| op.glyph != '⌶') {
        let missing = functions().filter(|f| !pairs.contains_key(&(f.glyph, op.glyph)));
        // A row with one argument is nothing that an operator gives two, and the other way round.
        let forms = FORMS.iter().find(|f| f.0 == op.glyph).map_or(&[][..], |f| f.1);
        let could = |f: &&Prim| {
            forms.iter().any(|form| match form.0 {
                One => is_function(&f.monadic),
                Two => is_function(&f.dyadic),
            })
        };
        let missing: Vec<char> = missing.filter(could).map(|f| f.glyph).collect();
        assert!(missing.is_empty(), "{missing:?} were not drawn under {}", op.glyph);
    }
    println!("{} lines, {} pairs, {values} with a value", lines.len(), pairs.len());
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(values * 3 > lines.len(), "{values} of {} have a value", lines.len());
}

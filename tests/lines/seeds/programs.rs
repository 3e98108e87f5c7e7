//! The programs of `examples/seeds/` give what plain loops give, under every pipeline.
//!
//! A case is a program, lines that make its data, a line whose value is compared, and the loops
//! (`plain`, `pictures`), which know nothing of arrays. The numbers of docs/GOLDENS.md stand in the
//! programs' `.out` files.

use super::page::value;
use super::{pictures, plain};
use std::fs;
use std::path::Path;

/// The data of all cases: `⍵` numbers in [0, 1), and an array of them.
const DATA: &str = "g←{(997|1103×⍳⍵)÷997} ⋄ m←{⍵⍴g×/⍵}";

/// The other ways in which every case is computed; the value is the same, to the bit.
const OPTIONS: &[&str] = &[
    "--off fusion",
    "--off sharing",
    "--passes=acl2006",
    "--passes=bas2008",
    "--passes=acc2013",
    "--passes=bar2010",
];

pub struct Case {
    program: &'static str,
    data: &'static str,
    line: &'static str,
    plain: fn() -> Vec<f64>,
}

const CASES: &[Case] = &[
    Case {
        program: "acl-sum",
        data: "A←¯0.5+m 40 50",
        line: "sum A",
        plain: || vec![plain::g(2000).iter().map(|x| (x - 0.5).abs()).sum()],
    },
    Case {
        program: "acl-matvec",
        data: "A←m 40 50 ⋄ v←g 50",
        line: "A matvec v",
        plain: || plain::product(&plain::g(2000), &plain::g(50), 50, 1),
    },
    Case {
        program: "acl-matmul",
        data: "A←m 20 50 ⋄ B←m 50 30",
        line: "A matmul B",
        plain: || plain::product(&plain::g(1000), &plain::g(1500), 50, 30),
    },
    Case {
        program: "acl-life",
        data: "A←'f64'⎕AS 0.6<m 40 50",
        line: "life life A",
        plain: pictures::life,
    },
    Case {
        program: "acl-demosaic",
        data: "A←m 40 50",
        line: "demosaic A",
        plain: pictures::demosaic,
    },
    Case {
        program: "acl-convolve",
        data: "A←m 40 50",
        line: "(1 4 6 4 1÷16)convolve A",
        plain: || pictures::test().gauss(&pictures::FIVE).at,
    },
    Case {
        program: "acl-rotate",
        data: "A←m 3 40 50",
        line: "(○10÷180)rotate A",
        plain: pictures::rotate,
    },
    Case {
        program: "acl-corners", data: "A←m 40 50", line: "corners A", plain: pictures::corners
    },
    Case {
        program: "acl-motion",
        data: "f←{0.5+(0.3×1○(0.11×⍺)+0.07×⍵)+0.2×1○(0.23×⍺)-0.19×⍵}
               A←(1.5+⍳64)∘.f ¯2.75+⍳96 ⋄ B←(⍳64)∘.f⍳96",
        line: "↑A motion B",
        plain: pictures::motion,
    },
    Case {
        program: "acl-stereo",
        data: "A←m 40 50 ⋄ B←A[;50⌊(2+10<⍳50)+⍳50]",
        line: "A B stereo 6",
        plain: pictures::stereo,
    },
    Case {
        program: "bas-mv",
        data: "A←m 50 40 ⋄ y←g 40",
        line: "A mv y",
        plain: || plain::product(&plain::g(2000), &plain::g(40), 40, 1),
    },
    Case {
        program: "bas-tmv",
        data: "A←m 50 40 ⋄ y←g 50",
        line: "A tmv y",
        plain: || plain::product(&plain::turned(&plain::g(2000), 40), &plain::g(50), 50, 1),
    },
    Case {
        program: "bas-mvt",
        data: "A←m 50 40 ⋄ y←g 40 ⋄ w←g 50",
        line: "∊A mvt y w",
        plain: || {
            let a = plain::g(2000);
            let mut both = plain::product(&a, &plain::g(40), 40, 1);
            both.extend(plain::product(&plain::turned(&a, 40), &plain::g(50), 50, 1));
            both
        },
    },
    Case {
        program: "bas-mm",
        data: "A←m 20 50 ⋄ B←m 50 30",
        line: "A mm B",
        plain: || plain::product(&plain::g(1000), &plain::g(1500), 50, 30),
    },
    Case {
        program: "bas-micro",
        data: "A←g 16×256",
        line: "∊(32 block A)(32 cyclic A)(3 stride A)(32 degree ¯1+⍳65)",
        plain: plain::micro,
    },
    Case {
        program: "acc-blackscholes",
        data: "(S X T)←(90+20×g 2000)(80+40×⌽g 2000)(0.1+g 2000)",
        line: "↑options S X T",
        plain: || [true, false].into_iter().flat_map(plain::options).collect(),
    },
    Case {
        program: "acc-canny",
        data: "A←m 3 40 50",
        line: "E,[0.5]link E←0.05 0.3 canny A",
        plain: pictures::canny,
    },
    Case {
        program: "acc-dot", data: "x←g 2000 ⋄ y←⌽x", line: "x dot y", plain: plain::dot
    },
    Case {
        program: "acc-fluid",
        data: "u←0.2×m 20 24 ⋄ v←⌽u ⋄ x←⊖m 20 24",
        line: "↑0.1 1E¯4 2E¯4 fluid u v x",
        plain: pictures::fluid,
    },
    Case {
        program: "acc-mandelbrot",
        data: "a←40 50⍴¯2+3×g 2000 ⋄ b←40 50⍴¯1.5+3×⌽g 2000",
        line: "a mandelbrot b",
        plain: plain::mandelbrot,
    },
    Case {
        program: "acc-nbody",
        data: "B←↓⍉60 4⍴g 240",
        line: "↑0.05 nbody B",
        plain: plain::nbody,
    },
    Case {
        program: "acc-radix",
        data: "a←⌊(2*32)×¯0.5+g 2000",
        line: "radix a",
        plain: plain::radix,
    },
    Case {
        program: "acc-smvm",
        data: "n←13|7×⍳300 ⋄ n←1⌈n ⋄ b←∊n↑¨1 ⋄ c←1+97|31×⍳≢b ⋄ w←g≢b ⋄ v←g 97",
        line: "b smvm w c v",
        plain: plain::smvm,
    },
    Case {
        program: "bar-saxpy",
        data: "x←g 2000 ⋄ y←⌽x",
        line: "2.5 x saxpy y",
        plain: || plain::pairs().map(|(x, y)| y + 2.5 * x).collect(),
    },
    Case {
        program: "bar-sdot", data: "x←g 2000 ⋄ y←⌽x", line: "x sdot y", plain: plain::dot
    },
    Case {
        program: "bar-blackscholes",
        data: "(S X T)←(90+20×g 2000)(80+40×⌽g 2000)(0.1+g 2000)",
        line: "call S X T",
        plain: || plain::options(true),
    },
    Case {
        program: "bar-rmse",
        data: "x←g 2000 ⋄ y←⌽x",
        line: "x rmse y",
        plain: || {
            let squares: f64 = plain::pairs().map(|(x, y)| (x - y) * (x - y)).sum();
            vec![(squares / 2000.0).sqrt()]
        },
    },
    Case {
        program: "bar-fwddiff",
        data: "x←g 2000",
        line: "fwddiff x",
        plain: || plain::g(2000).windows(2).map(|w| w[1] - w[0]).collect(),
    },
    Case {
        program: "bar-wmavg", data: "x←g 2000", line: "spencer wmavg x", plain: plain::spencer
    },
    Case {
        program: "bar-jacobi", data: "A←m 40 50", line: "jacobi⍣5⊢A", plain: pictures::jacobi
    },
];

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/seeds")
}

/// The definitions of a program: all above its check.
fn definitions(program: &str) -> String {
    let path = folder().join(format!("{program}.apl"));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{program}: {e}"));
    let (own, check) =
        text.split_once("\n⍝ Check").unwrap_or_else(|| panic!("{program}: no check"));
    assert!(check.contains("⎕←'"), "{program} prints nothing");
    // Lines of a dfn are one request; others are as many.
    own.lines().skip(1).collect::<Vec<_>>().join("\n")
}

/// The difference from the loops and from one way of computing to another, if there is one.
fn wrong(case: &Case) -> Option<String> {
    let own = definitions(case.program);
    let lines = [own.as_str(), DATA, case.data, case.line];
    let once = match value(&lines, "", false) {
        Ok(once) => once,
        Err(says) => return Some(says),
    };
    let found: Vec<f64> = once.1.iter().map(|x| f64::from_bits(*x)).collect();
    let wanted = (case.plain)();
    let most = wanted.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if wanted.len() != found.len() || most == 0.0 {
        return Some(format!("{} numbers, not {}", found.len(), wanted.len()));
    }
    let near = |(w, f): (&f64, &f64)| (w - f).abs() <= 1e-9 * most;
    let apart = wanted.iter().zip(&found).position(|pair| !near(pair));
    if let Some(at) = apart {
        return Some(format!("number {at} is {}, not {}", found[at], wanted[at]));
    }
    // What is shared often is refused where it may not be.
    let refused = |way: &str, is: &Result<_, String>| {
        way == "--off sharing" && is.as_ref().is_err_and(|e| e.starts_with("LIMIT"))
    };
    [""].iter().chain(OPTIONS).find_map(|way| {
        let is = value(&lines, way, true);
        (is.as_ref() != Ok(&once) && !refused(way, &is)).then(|| format!("another with {way}"))
    })
}

/// The programs of a paper.
fn hold(paper: &str) {
    let cases = CASES.iter().filter(|c| c.program.starts_with(paper));
    let all: Vec<String> =
        cases.filter_map(|c| Some(format!("{}: {}", c.program, wrong(c)?))).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn accelerators_programs_give_what_plain_loops_give() {
    hold("acl-");
}

#[test]
fn baskarans_programs_give_what_plain_loops_give() {
    hold("bas-");
}

#[test]
fn accelerates_programs_give_what_plain_loops_give() {
    hold("acc-");
}

#[test]
fn barracudas_programs_give_what_plain_loops_give() {
    hold("bar-");
}

#[test]
fn every_program_has_a_case() {
    let files = fs::read_dir(folder()).expect("examples/seeds");
    let mut names: Vec<String> = files
        .filter_map(|f| Some(f.ok()?.file_name().to_str()?.strip_suffix(".apl")?.to_string()))
        .collect();
    let mut tried: Vec<&str> = CASES.iter().map(|c| c.program).collect();
    names.sort();
    tried.sort();
    assert_eq!(names, tried);
}

#[test]
fn every_number_of_the_goldens_is_printed_by_its_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/GOLDENS.md")).expect("docs/GOLDENS.md");
    let table = page.split_once("## Programs").expect("its programs").1;
    let mut rows = 0;
    for row in table.lines().filter(|l| l.starts_with("| a") || l.starts_with("| b")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let (program, values) = (cells[0], *cells.last().expect("a value"));
        let path = folder().join(format!("{program}.out"));
        let out = fs::read_to_string(path).unwrap_or_else(|e| panic!("{program}: {e}"));
        let words: Vec<&str> = out.split([' ', '\n', ',']).collect();
        for value in values.split(' ') {
            assert!(words.contains(&value), "{program}.out has no {value}");
        }
        rows += 1;
    }
    // All but Canny's.
    assert_eq!(rows, CASES.len() - 1);
}

//! The rows of the source publications, each a test of its name: `acl_17_…` is ACL-17.
//!
//! What can be said in a line is data: the `.txt` files, read and held by `page`. `acl`, `acc` and
//! `bar` have a test a row, with the checks that are no lines; `made` makes large graphs.
//! `programs` holds the programs of the four papers.

mod acc;
mod acl;
mod bar;
mod corpus;
mod made;
mod page;
mod passes;
mod pictures;
mod plain;
mod programs;

/// The rows whose checks are held here or, where a pass or rule is meant by itself, beside the
/// pass.
const ROWS: [(&str, &[u32], &str); 3] = [
    (
        "ACL",
        &[
            1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 22, 23, 24, 25, 26, 27,
            28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 43,
        ],
        include_str!("acl.rs"),
    ),
    (
        "ACC",
        &[1, 2, 4, 5, 6, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 28, 29, 30, 32],
        include_str!("acc.rs"),
    ),
    ("BAR", &[1, 2, 3, 4, 5, 8, 11, 12, 13, 16, 17, 18, 20, 22], include_str!("bar.rs")),
];

#[test]
fn every_row_has_a_test_and_every_case_a_row() {
    for (seed, rows, tests) in ROWS {
        for n in rows {
            let name = format!("fn {}_{n:02}_", seed.to_lowercase());
            assert!(tests.contains(&name), "no test of {seed}-{n:02}");
        }
    }
    for (name, text) in page::PAGES {
        for case in page::read(text).cases {
            let asked = format!("row(\"{}\")", case.row);
            let found = ROWS.iter().any(|(_, _, tests)| tests.contains(&asked));
            assert!(found, "{name}.txt:{}: no test asks for {}", case.at, case.row);
            assert!(!case.checks.is_empty(), "{name}.txt:{}: nothing is checked", case.at);
        }
    }
}

//! The same tests on each instruction set, and with loops that are emitted in the first run: each
//! in a process of its own, because a process chooses both once.

use std::process::Command;

/// Those that hang on how loops fold.
const TESTS: &[&str] = &[
    "ways::products_by_blocks_are_equal",
    "ways::columns_that_are_read_together_are_equal",
    "ways::sums_of_what_is_stored_are_equal",
    "ways::sums_of_unrounded_products_are_equal",
    "ways::no_switch_rounds_a_product",
    "differential::what_once_differed_on_cells_is_equal",
];

#[test]
fn every_instruction_set_and_loops_from_the_first_run_on_agree() {
    let exe = std::env::current_exe().expect("the program that runs");
    for (isa, emit) in [("vm", "never"), ("avx2", "always"), ("avx512", "always")] {
        let mut command = Command::new(&exe);
        command.args(TESTS).arg("--exact").env("APLOMB_ISA", isa).env("APLOMB_EMIT", emit);
        let done = command.output().expect("the tests run");
        let says = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success(), "{isa}, loops {emit}:\n{says}");
        assert!(says.contains(&format!("{} passed", TESTS.len())), "{says}");
    }
}

//! simplify: every rule of `RULES`, bottom up.
//!
//! Rows: BAR-04, ACC-15. In: any graph. Out: no rule applies. `--off simplify`: the graph as it was
//! written.

use super::fault::{self, Fault};
use super::rules::RULES;
use super::work::Work;
use aplomb_ground::error::Result;

pub fn run(work: &mut Work) -> Result<()> {
    if work.options.has(Fault::WrongSide) {
        fault::wrong_side(work);
    }
    if work.options.has(Fault::DropTests) {
        fault::drop_tests(work);
    }
    // By the rules of 2006 not every read of a read is one: scheduling decides (ACL-38).
    let strict = work.options.is_strict();
    let all = || RULES.iter().filter(|r| !(strict && r.name == "compose"));
    work.rewrite(|dag, at| all().find_map(|r| (r.apply)(dag, at).map(|to| (r.name, r.pre, to))));
    Ok(())
}

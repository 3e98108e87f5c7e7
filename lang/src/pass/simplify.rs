//! simplify: every rule of `RULES`, bottom up.
//!
//! Rows: BAR-04, ACC-15. In: any graph. Out: no rule applies. `--off simplify`: the graph as it was written.

use super::rules::RULES;
use super::work::Work;
use crate::error::Result;

pub fn run(work: &mut Work) -> Result<()> {
    // By the rules of 2006 not every read of a read is one: scheduling decides (ACL-38).
    let strict = work.options.is_strict();
    let all = || RULES.iter().filter(|r| !(strict && r.name == "compose"));
    work.rewrite(|dag, at| all().find_map(|r| (r.apply)(dag, at).map(|to| (r.name, r.pre, to))));
    Ok(())
}

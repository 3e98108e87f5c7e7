//! simplify: every rule of `RULES`, bottom up.
//!
//! Rows: BAR-04, ACC-15. In: any graph. Out: no rule applies. `--off simplify`: the graph as it was written.

use super::rules::RULES;
use super::work::Work;
use crate::error::Result;

pub fn run(work: &mut Work) -> Result<()> {
    work.rewrite(|dag, at| RULES.iter().find_map(|r| (r.apply)(dag, at).map(|to| (r.name, r.pre, to))));
    Ok(())
}

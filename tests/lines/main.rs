//! The results of lines: values, errors, plans, sentences and pictures, by sessions in this
//! process.
//!
//! Pages with the output that is wanted (`stories conformance examples from_numpy goldens
//! goldens_page`), random
//! expressions on every way to a value (`differential ways numbers held_lists`, on every machine
//! `machines`), the rows of the source
//! publications (`seeds`, `seeds_compiler`, `rows`), planted defects (`faults`), and what a trace
//! and the cache of plans hold (`traces plans`), also against an enumeration of what launches do
//! (`oracle blocks`, by what `spoken` reads), against the plans of other choices
//! (`prices figures`) and of switches (`facts`);
//! where order comes from (`order`). Tests run beside each other, so nothing here changes the
//! process: no variable of the environment, no working directory, no limit. A file is looked for
//! from the folder of the workspace, a temporary one has a name of its own.

#[path = "../support/grammar.rs"]
mod grammar;
#[path = "../support/nvrtc.rs"]
mod nvrtc;
#[path = "../support/standin.rs"]
mod standin;
#[path = "../support/mod.rs"]
mod support;

mod asked;
mod at_once;
mod banks;
mod blocks;
mod conformance;
mod differential;
mod examples;
mod export;
mod export_c;
mod export_cases;
mod export_cuda;
mod facts;
mod faults;
mod fields;
mod figures;
mod frames;
mod from_numpy;
mod goldens;
mod goldens_page;
mod held_lists;
mod leaving;
mod machines;
mod named;
mod numbers;
mod oracle;
mod order;
mod pairs;
mod plans;
mod prices;
mod record;
mod reflexes;
mod reversals;
mod rows;
mod seeds;
mod seeds_compiler;
mod selected;
mod short_lists;
mod shown;
mod spellings;
mod spoken;
mod stories;
mod tiles;
mod traces;
mod turns;
mod ways;
mod windows;

#[global_allocator]
static HEAP: asked::Watched = asked::Watched;

//! The statements of a program that a view can tell, and the choice of one.
//!
//! A statement has a story if it gave a value or had work done for a name or a `⎕←`. Where nobody
//! names a line, that one is told whose launches had most to do by the model, so the choice is the
//! same in every run.

use crate::front::Settings;
use aplomb_ground::span::first_line;
use aplomb_ground::trace::Trace;
use aplomb_kernel::session::{Session, Side, Story};
use aplomb_viz::why::count;

/// The statements that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The one whose launches had most to do.
    Most,
    /// The one on this line.
    Line(usize),
    /// Every one.
    All,
}

impl Which {
    /// The one on a line, if one is named.
    pub fn of(line: Option<usize>) -> Which {
        line.map_or(Which::Most, Which::Line)
    }
}

/// The traces that were asked for.
pub struct Told {
    /// At least one.
    pub traces: Vec<Trace>,
    /// Of several statements the one that is told, and how to have another told.
    pub says: Option<String>,
}

impl Told {
    /// The statement, where one was asked for.
    pub fn one(&self) -> Result<&Trace, String> {
        self.traces.first().ok_or_else(|| NOTHING.into())
    }
}

/// Pipeline and switches of the command line, groups as their members.
pub struct Asked {
    preset: String,
    off: Vec<String>,
}

impl Asked {
    /// Those of these settings.
    pub fn of(settings: &Settings) -> Asked {
        Asked { preset: settings.pipeline.preset.clone(), off: settings.members() }
    }
}

const NOTHING: &str = "no statement gave a value or had work done, so there is nothing to tell";

/// The statement with most to do, of those that ran, as a side of a comparison. Errors: a sentence.
pub fn side(session: &mut Session, asked: &Asked) -> Result<Side, String> {
    let stories = session.core().stories();
    let all: Vec<usize> = (0..stories.len()).collect();
    most(&stories, asked, &all).and_then(|at| session.core().side(at)).ok_or_else(|| NOTHING.into())
}

/// Tells the statements that are asked for, of those that ran. Errors: a sentence.
pub fn chosen(session: &mut Session, asked: &Asked, which: Which) -> Result<Told, String> {
    let stories = session.core().stories();
    let all: Vec<usize> = (0..stories.len()).collect();
    let on = |line: usize| {
        let here = |k: &usize| (stories[*k].lines[0]..=stories[*k].lines[1]).contains(&line);
        all.iter().copied().filter(here).collect::<Vec<_>>()
    };
    // What a line names is computed where it is used.
    let used = |line: usize| {
        let computes = |k: &usize| stories[*k].computes.contains(&line);
        all.iter().copied().filter(computes).collect::<Vec<_>>()
    };
    let told: Vec<usize> = match which {
        Which::All => all.clone(),
        Which::Most => most(&stories, asked, &all).into_iter().collect(),
        Which::Line(line) => {
            let own = most(&stories, asked, &on(line));
            own.or_else(|| most(&stories, asked, &used(line))).into_iter().collect()
        }
    };
    let [at] = told.as_slice() else {
        let traces: Vec<Trace> = told.iter().filter_map(|k| session.core().story(*k)).collect();
        return match which {
            Which::Line(line) if !stories.is_empty() => Err(format!(
                "line {line} gave no value, and no launch has anything that is written there; \
                 there are {}",
                others(&stories, None)
            )),
            _ if traces.is_empty() => Err(NOTHING.into()),
            _ => Ok(Told { traces, says: None }),
        };
    };
    let traces = session.core().story(*at).into_iter().collect();
    let story = &stories[*at];
    let says = stories.iter().any(|s| s.lines != story.lines).then(|| {
        let rule = match which {
            Which::Most => ", whose launches had most to do".into(),
            Which::Line(line) if !(story.lines[0]..=story.lines[1]).contains(&line) => {
                format!(", where line {line} was computed")
            }
            _ => String::new(),
        };
        format!("line {}{rule}; --line N tells {}", story.lines[0], others(&stories, Some(*at)))
    });
    Ok(Told { traces, says })
}

/// The statement that had most to do under the switches of the command line; where a program
/// switched all its statements, of all. The later of equals.
fn most(stories: &[Story], asked: &Asked, of: &[usize]) -> Option<usize> {
    let own =
        |k: &&usize| stories[**k].config.as_ref().is_some_and(|c| c.is(&asked.preset, &asked.off));
    let work = |a: &&usize, b: &&usize| stories[**a].work_ns.total_cmp(&stories[**b].work_ns);
    of.iter().filter(own).max_by(work).or_else(|| of.iter().max_by(work)).copied()
}

/// So many statements are named.
const NAMED: usize = 6;

/// The lines that can be told, those with most to do first: `12 (2 launches: t←…)`.
fn others(stories: &[Story], told: Option<usize>) -> String {
    let mut rest: Vec<usize> = (0..stories.len())
        .filter(|k| told.is_none_or(|at| stories[*k].lines != stories[at].lines))
        .collect();
    rest.sort_by(|a, b| stories[*b].work_ns.total_cmp(&stories[*a].work_ns));
    let one = |k: &usize| {
        let s = &stories[*k];
        let text: String = first_line(&s.text).chars().take(24).collect();
        format!("{} ({}: {text})", s.lines[0], count(s.launches, "launch"))
    };
    let named: Vec<String> = rest.iter().take(NAMED).map(one).collect();
    let more = rest.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    named.join(", ") + &more
}

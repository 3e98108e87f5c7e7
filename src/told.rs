//! The statements of a program that a view can tell, and the choice of one.
//!
//! A statement has a story if it gave a value or had work done for a name or a `⎕←`. Where nobody
//! names a line, that one is told whose launches had most to do by the model, so the choice is the
//! same in every run.

use crate::front::Settings;
use aplomb_ground::span::first_line;
use aplomb_ground::trace::Trace;
use aplomb_kernel::session::{Session, Side, Spot, Story};
use aplomb_viz::why::count;
use std::collections::HashMap;
use std::str::FromStr;

/// The statements that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The one whose launches had most to do.
    Most,
    /// The one on this line.
    Line(Line),
    /// Every one.
    All,
}

/// A line, and of what ran on it the n-th, counted from 1; None: the one with most to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// From 1.
    pub line: usize,
    /// From 1.
    pub nth: Option<usize>,
}

impl FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Line, String> {
        let number = |text: &str| text.parse().ok().filter(|n| *n > 0);
        let (line, nth) = text.split_once('.').map_or((text, None), |(l, n)| (l, Some(n)));
        let read = number(line).zip(nth.map_or(Some(None), |nth| number(nth).map(Some)));
        let read = read.map(|(line, nth)| Line { line, nth });
        read.ok_or_else(|| "a line is 9, or 9.2 for the second statement that ran on it".into())
    }
}

impl Which {
    /// The one on a line, if one is named.
    pub fn of(line: Option<Line>) -> Which {
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

/// A statement that ran as a side of a comparison, and the statement itself: the one that the
/// session seeks, or else the one that is asked for. Errors: a sentence.
pub fn side(
    session: &mut Session,
    asked: &Asked,
    which: Which,
    sought: bool,
) -> Result<(Side, Option<Spot>), String> {
    let stories = session.core().stories();
    let at = match sought {
        true => session.core().sought().ok_or("under the switches that statement tells nothing")?,
        false => one(&stories, asked, which)?,
    };
    let side = session.core().side(at).ok_or(NOTHING)?;
    Ok((side, session.core().spot(at)))
}

/// Tells the statements that are asked for, of those that ran. Errors: a sentence.
pub fn chosen(session: &mut Session, asked: &Asked, which: Which) -> Result<Told, String> {
    let stories = session.core().stories();
    if which == Which::All {
        let traces: Vec<Trace> =
            (0..stories.len()).filter_map(|k| session.core().story(k)).collect();
        return match traces.is_empty() {
            true => Err(NOTHING.into()),
            false => Ok(Told { traces, says: None }),
        };
    }
    let at = one(&stories, asked, which)?;
    let story = &stories[at];
    let says = (stories.len() > 1).then(|| {
        let rule = match which {
            Which::Most => ", whose launches had most to do".into(),
            Which::Line(Line { line, .. }) if !stands_on(story, line) => {
                format!(", where line {line} was computed")
            }
            _ => String::new(),
        };
        let others = others(&stories, Some(at));
        format!("line {}{rule}; --line N tells {others}", named(&stories, at))
    });
    Ok(Told { traces: session.core().story(at).into_iter().collect(), says })
}

fn stands_on(story: &Story, line: usize) -> bool {
    (story.lines[0]..=story.lines[1]).contains(&line)
}

/// The statements that ran on a line, in that order.
fn on(stories: &[Story], line: usize) -> Vec<usize> {
    (0..stories.len()).filter(|k| stands_on(&stories[*k], line)).collect()
}

/// The statement that is asked for. Errors: a sentence.
fn one(stories: &[Story], asked: &Asked, which: Which) -> Result<usize, String> {
    let all: Vec<usize> = (0..stories.len()).collect();
    let Which::Line(Line { line, nth }) = which else {
        return most(stories, asked, &all).ok_or_else(|| NOTHING.into());
    };
    let own = on(stories, line);
    if let Some(nth) = nth.filter(|_| !own.is_empty()) {
        let ran = count(own.len(), "statement");
        let says = || format!("{ran} that can be told ran on line {line}, and {nth} is asked for");
        return own.get(nth - 1).copied().ok_or_else(says);
    }
    // What a line names is computed where it is used.
    let computes = |k: &usize| stories[*k].computes.contains(&line);
    let used: Vec<usize> = all.into_iter().filter(computes).collect();
    let found = most(stories, asked, &own).or_else(|| most(stories, asked, &used));
    found.ok_or_else(|| match stories.is_empty() {
        true => NOTHING.into(),
        false => format!(
            "line {line} gave no value, and no launch has anything that is written there; there \
             are {}",
            others(stories, None)
        ),
    })
}

/// The name of a story for `--line`: its line, and its order where others ran on it.
fn named(stories: &[Story], at: usize) -> String {
    let line = stories[at].lines[0];
    let own = on(stories, line);
    match own.iter().position(|k| *k == at).filter(|_| own.len() > 1) {
        Some(nth) => format!("{line}.{}", nth + 1),
        None => line.to_string(),
    }
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

/// The statements that can be told, those with most to do first, one that ran several times named
/// by that of its rounds: `12 (2 launches: t←…)`.
fn others(stories: &[Story], told: Option<usize>) -> String {
    let mut rest: Vec<usize> = (0..stories.len()).filter(|k| told != Some(*k)).collect();
    rest.sort_by(|a, b| stories[*b].work_ns.total_cmp(&stories[*a].work_ns));
    let mut rounds: HashMap<([usize; 2], &str), usize> = HashMap::new();
    rest.retain(|k| {
        let times = rounds.entry((stories[*k].lines, &stories[*k].text)).or_insert(0);
        *times += 1;
        *times == 1
    });
    let one = |k: &usize| {
        let s = &stories[*k];
        let text: String = first_line(&s.text).chars().take(24).collect();
        let times = match rounds.get(&(s.lines, s.text.as_str())) {
            Some(n) if *n > 1 => format!(", and {}", count(n - 1, "round") + " more"),
            _ => String::new(),
        };
        format!("{} ({}{times}: {text})", named(stories, *k), count(s.launches, "launch"))
    };
    let named: Vec<String> = rest.iter().take(NAMED).map(one).collect();
    let more = rest.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    named.join(", ") + &more
}

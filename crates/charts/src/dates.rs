//! The axis along: numbers, names of places, or dates, which stand where a calendar has a beginning
//! (of a year, a month, a day, an hour) and show as far as they differ.

use crate::draw::number;
use aplomb_ground::calendar::{date, days};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use std::ops::Range;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The kinds of places along an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Along {
    Numbers {
        log: bool,
    },
    /// Whole numbers: what lies between is no place.
    Whole,
    /// Places 1, 2, 3 … by their names.
    Names(Vec<String>),
    /// Seconds since 1970.
    Dates,
}

/// An axis, and what stands along it.
pub struct Axis {
    numbers: RangedCoordf64,
    along: Along,
}

impl Axis {
    pub fn new(range: Range<f64>, along: Along) -> Axis {
        Axis { numbers: range.into(), along }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.numbers.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match &self.along {
            Along::Dates => beginnings(&self.numbers.range(), hint.max_num_points()),
            Along::Numbers { .. } => self.numbers.key_points(hint),
            Along::Whole => {
                let all = self.numbers.key_points(hint).into_iter();
                all.filter(|v| v.fract() == 0.0).collect()
            }
            Along::Names(names) => (1..=names.len()).map(|k| k as f64).collect(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.numbers.range()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let range = self.numbers.range();
        match &self.along {
            Along::Dates => written(*value, range.end - range.start),
            Along::Numbers { log } => number(*value, *log),
            Along::Whole => number(*value, false),
            Along::Names(names) => match names.get((*value as usize).wrapping_sub(1)) {
                Some(name) => name.clone(),
                None => String::new(),
            },
        }
    }
}

/// Steps of a calendar, in seconds or in months.
#[derive(Clone, Copy)]
enum Step {
    Seconds(i64),
    Months(i64),
}

/// From fine to coarse.
const STEPS: &[Step] = &[
    Step::Seconds(1),
    Step::Seconds(5),
    Step::Seconds(15),
    Step::Seconds(30),
    Step::Seconds(MINUTE),
    Step::Seconds(5 * MINUTE),
    Step::Seconds(15 * MINUTE),
    Step::Seconds(30 * MINUTE),
    Step::Seconds(HOUR),
    Step::Seconds(3 * HOUR),
    Step::Seconds(6 * HOUR),
    Step::Seconds(12 * HOUR),
    Step::Seconds(DAY),
    Step::Seconds(2 * DAY),
    Step::Seconds(7 * DAY),
    Step::Months(1),
    Step::Months(3),
    Step::Months(6),
    Step::Months(12),
    Step::Months(24),
    Step::Months(60),
    Step::Months(120),
    Step::Months(240),
    Step::Months(600),
    Step::Months(1_200),
    Step::Months(12_000),
];

/// The beginnings in a range of the finest step that has at most so many.
fn beginnings(range: &Range<f64>, most: usize) -> Vec<f64> {
    let (from, to) = (range.start.ceil() as i64, range.end.floor() as i64);
    let span = to.saturating_sub(from);
    let fits = |step: &&Step| match step {
        Step::Seconds(n) => span / n < most as i64,
        Step::Months(n) => span / (n * 30 * DAY) < most as i64,
    };
    let Some(step) = STEPS.iter().find(fits) else { return Vec::new() };
    let mut out = Vec::new();
    match step {
        Step::Seconds(n) => {
            // Weeks begin on Mondays; 1970 began on a Thursday.
            let shift = if *n == 7 * DAY { 4 * DAY } else { 0 };
            let mut at = shift + (from - shift).div_euclid(*n) * n;
            while at <= to {
                out.push(at);
                at += n;
            }
        }
        Step::Months(n) => {
            let (year, month, _) = date(from.div_euclid(DAY));
            let mut month = (year * 12 + month - 1).div_euclid(*n) * n;
            loop {
                let at = days(month.div_euclid(12), month.rem_euclid(12) + 1, 1) * DAY;
                if at > to {
                    break;
                }
                out.push(at);
                month += n;
            }
        }
    }
    out.into_iter().filter(|at| *at >= from).map(|at| at as f64).collect()
}

/// A moment as far as it differs from its neighbours on an axis of so many seconds.
pub fn written(seconds: f64, span: f64) -> String {
    let seconds = seconds.round() as i64;
    let ((year, month, day), clock) = (date(seconds.div_euclid(DAY)), seconds.rem_euclid(DAY));
    let (hour, minute, second) = (clock / HOUR, clock / MINUTE % 60, clock % 60);
    match span as i64 {
        s if s < 5 * MINUTE => format!("{hour:02}:{minute:02}:{second:02}"),
        s if s < DAY => format!("{hour:02}:{minute:02}"),
        s if s < 4 * DAY => format!("{month:02}-{day:02} {hour:02}h"),
        s if s < 300 * DAY => format!("{year}-{month:02}-{day:02}"),
        s if s < 3_000 * DAY => format!("{year}-{month:02}"),
        _ => format!("{year}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(from: (i64, i64, i64), to: (i64, i64, i64), most: usize) -> Vec<String> {
        let of = |(y, m, d)| (days(y, m, d) * DAY) as f64;
        let range = of(from)..of(to);
        let span = range.end - range.start;
        beginnings(&range, most).into_iter().map(|at| written(at, span)).collect()
    }

    #[test]
    fn numbers_stand_where_a_calendar_begins_anew() {
        assert_eq!(
            shown((2023, 11, 20), (2024, 3, 5), 5),
            ["2023-12-01", "2024-01-01", "2024-02-01", "2024-03-01"]
        );
        assert_eq!(
            shown((1990, 5, 1), (2024, 5, 1), 8),
            ["1990", "1995", "2000", "2005", "2010", "2015", "2020"][1..]
        );
        assert_eq!(shown((2024, 2, 28), (2024, 3, 2), 4)[..2], ["02-28 00h", "02-29 00h"]);
        assert!(shown((2024, 2, 28), (2024, 2, 28), 4).len() <= 1);
    }
}

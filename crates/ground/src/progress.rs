//! The way of a loop in words: how much of it is done, how fast it goes, how long it takes yet.
//! Whoever has a clock and somebody who looks asks now and then; a loop of less than a second says
//! nothing.

use crate::error::bytes;
use crate::limits::{Gone, UNKNOWN};

/// Seconds before anything is said.
const PATIENCE: f64 = 1.0;
/// Characters of a bar.
const BAR: usize = 24;

/// One who looks at loops, with the time at which the loop under way was first seen.
#[derive(Debug, Default)]
pub struct Looker {
    first: Option<First>,
}

#[derive(Clone, Copy, Debug)]
struct First {
    at: f64,
    way: Gone,
}

/// The way of a loop at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The part that is done; None where nobody knows the end.
    pub part: Option<f64>,
    /// The rate, and the time left.
    pub says: String,
}

impl Step {
    /// The step as a line with a bar.
    pub fn line(&self) -> String {
        match self.part {
            Some(part) => {
                let full = (part * BAR as f64).round() as usize;
                let bar: String = (0..BAR).map(|k| if k < full { '█' } else { '░' }).collect();
                format!("{bar} {}", self.says)
            }
            None => self.says.clone(),
        }
    }
}

impl Looker {
    /// The way at a moment, in seconds of any clock. None: no loop runs, or not
    /// long enough; or it has no end and does not move.
    pub fn look(&mut self, now: f64, way: Option<Gone>) -> Option<Step> {
        let Some(way) = way else {
            self.first = None;
            return None;
        };
        // A loop that has gone back is another.
        let is_same =
            |f: &First| (f.way.of, f.way.bytes) == (way.of, way.bytes) && f.way.done <= way.done;
        let first = self.first.filter(is_same).map_or(First { at: now, way }, |first| first);
        self.first = Some(first);
        let seconds = now - first.at;
        if seconds < PATIENCE {
            return None;
        }
        let Gone { done, of, bytes: are_bytes } = way;
        let rate = (done - first.way.done) as f64 / seconds;
        let pace = match rate {
            _ if are_bytes => bytes(rate as u64),
            _ if rate >= 10.0 => format!("{rate:.0}"),
            _ => format!("{rate:.1}"),
        };
        if of == UNKNOWN {
            if done == first.way.done {
                return None;
            }
            let so_far = if are_bytes { bytes(done) } else { format!("{done} rounds") };
            return Some(Step { part: None, says: format!("{so_far}, {pace} a second") });
        }
        let part = (done as f64 / of as f64).clamp(0.0, 1.0);
        let left = of.saturating_sub(done) as f64 / rate;
        let left = match rate > 0.0 && left.is_finite() {
            true => format!("{} left", rest(left)),
            false => "no end in sight".into(),
        };
        let says = format!("{:.0} % · {pace} a second · {left}", part * 100.0);
        Some(Step { part: Some(part), says })
    }
}

/// A rest of so many seconds, which nobody knows to more than two figures.
fn rest(seconds: f64) -> String {
    match seconds.round() as u64 {
        0 => "less than a second".into(),
        s @ 1..60 => format!("{s} s"),
        s @ 60..3_600 => format!("{} min {} s", s / 60, s % 60),
        s => format!("{} h {} min", s / 3_600, s % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(done: u64, of: u64) -> Option<Gone> {
        Some(Gone { done, of, bytes: false })
    }

    #[test]
    fn a_rest_is_told_as_people_tell_it() {
        let all = [0.0004, 1.4, 75.0, 4_000.0].map(rest);
        assert_eq!(all, ["less than a second", "1 s", "1 min 15 s", "1 h 6 min"]);
    }

    #[test]
    fn a_file_is_told_in_bytes() {
        let mut looker = Looker::default();
        let way = |done, of| Some(Gone { done, of, bytes: true });
        looker.look(0.0, way(0, 400_000_000));
        let step = looker.look(2.0, way(100_000_000, 400_000_000)).expect("a step");
        assert_eq!(step.says, "25 % · 50 MB a second · 6 s left");
        // Loops of as many rounds are others.
        assert_eq!(looker.look(3.0, super::tests::way(200_000_000, 400_000_000)), None);
        looker.look(4.0, way(0, UNKNOWN));
        let step = looker.look(6.0, way(3_000, UNKNOWN)).expect("a step");
        assert_eq!(step.says, "3.0 kB, 1.5 kB a second");
    }

    #[test]
    fn a_loop_is_told_after_a_second_with_rate_and_time_left() {
        let mut looker = Looker::default();
        assert_eq!(looker.look(0.0, way(0, 300)), None);
        assert_eq!(looker.look(0.9, way(90, 300)), None);
        let step = looker.look(1.5, way(150, 300)).expect("a step");
        assert_eq!(step.says, "50 % · 100 a second · 2 s left");
        assert_eq!(step.line(), format!("{}{} {}", "█".repeat(12), "░".repeat(12), step.says));
        assert_eq!(looker.look(1.6, None), None);
        assert_eq!(looker.look(1.7, way(0, 300)), None);
    }

    #[test]
    fn another_loop_and_one_without_an_end_are_told_as_they_are() {
        let mut looker = Looker::default();
        looker.look(0.0, way(250, 300));
        assert_eq!(looker.look(5.0, way(3, 300)), None);
        assert!(looker.look(7.0, way(3, 300)).is_some_and(|s| s.says.ends_with("in sight")));
        looker.look(8.0, way(0, UNKNOWN));
        let step = looker.look(10.0, way(7, UNKNOWN)).expect("a step");
        assert_eq!((step.part, step.says.as_str()), (None, "7 rounds, 3.5 a second"));
    }
}

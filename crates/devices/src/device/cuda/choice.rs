//! The fastest text of a launch: as a sentence, and as a line of a file.

use aplomb_ground::error::time;
use aplomb_plans::kir::{TileSize, Tuning};

/// The fastest text, and all others that ran. The first of them is the one that it is told against:
/// the launch as it comes, or the next best.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub tuning: Tuning,
    pub us: f64,
    pub others: Vec<(Tuning, f64)>,
}

impl Choice {
    /// `2 points a thread: tuned, 12.1 µs against 14.0 µs of 1 point a thread`.
    pub fn sentence(&self) -> String {
        let against = self.others.first().map_or(String::new(), |(other, us)| {
            format!(" against {} of {}", time(*us), other.says())
        });
        format!("{}: tuned, {}{against}", self.tuning.says(), time(self.us))
    }

    /// Of the texts that ran, `as it comes` first; at least one.
    pub fn of(ran: &[(Tuning, f64)]) -> Option<Choice> {
        let (tuning, us) = ran.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let mut others: Vec<_> = ran.iter().copied().filter(|r| r.0 != tuning).collect();
        if ran.first().is_some_and(|first| first.0 == tuning) {
            others.sort_by(|a, b| a.1.total_cmp(&b.1));
        }
        Some(Choice { tuning, us, others })
    }

    /// Every text that ran, with its time, the fastest first.
    pub fn ran(&self) -> Vec<(Tuning, f64)> {
        [(self.tuning, self.us)].into_iter().chain(self.others.iter().copied()).collect()
    }

    pub fn encode(&self) -> String {
        let one = |(t, us): (Tuning, f64)| {
            let tile = t
                .tile
                .map_or("-".into(), |s| format!("{}x{}x{}x{}", s.rows, s.columns, s.deep, s.own));
            let (items, stays) = (t.items.unwrap_or(0), u8::from(t.persistent));
            format!("{items} {stays} {} {tile} {us:.3}", t.threads)
        };
        self.ran().into_iter().map(one).collect::<Vec<_>>().join(" ")
    }

    pub fn decode(text: &str) -> Option<Choice> {
        let words: Vec<&str> = text.split(' ').collect();
        let one = |w: &[&str]| {
            let (items, threads, us): (u32, u32, f64) =
                (w[0].parse().ok()?, w[2].parse().ok()?, w[4].parse().ok()?);
            let persistent = [("0", false), ("1", true)].into_iter().find(|p| p.0 == w[1])?.1;
            let tile = if w[3] == "-" { None } else { Some(size(w[3])?) };
            let items = Some(items).filter(|k| *k > 0);
            let sane = items.map_or(tile.is_some(), |k| k.is_power_of_two() && k <= 16);
            (sane && us.is_finite() && us >= 0.0)
                .then_some((Tuning { items, persistent, threads, tile }, us))
        };
        if !words.len().is_multiple_of(5) {
            return None;
        }
        let mut all = words.chunks(5).map(one).collect::<Option<Vec<_>>>()?.into_iter();
        let (tuning, us) = all.next()?;
        Some(Choice { tuning, us, others: all.collect() })
    }
}

/// A size of tiles as it was written. None: there is no such size.
fn size(text: &str) -> Option<TileSize> {
    let numbers: Option<Vec<u32>> = text.split('x').map(|n| n.parse().ok()).collect();
    let &[rows, columns, deep, own] = numbers?.as_slice() else { return None };
    let size = TileSize { rows, columns, deep, own };
    TileSize::all().contains(&size).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(n: u32) -> Tuning {
        Tuning { items: Some(n), ..Tuning::default() }
    }

    #[test]
    fn the_fastest_is_chosen_and_told_against_what_was_there() {
        let faster = Choice::of(&[(items(1), 14.0), (items(2), 12.06), (items(4), 13.0)]).unwrap();
        assert_eq!(
            faster.sentence(),
            "2 points a thread: tuned, 12 µs against 14 µs of 1 point a thread"
        );
        let stays = Choice::of(&[(items(1), 10.0), (items(2), 12.0), (items(4), 11.0)]).unwrap();
        let others = vec![(items(4), 11.0), (items(2), 12.0)];
        assert_eq!((stays.tuning, stays.others), (items(1), others));
        // Equal ones change nothing.
        assert_eq!(Choice::of(&[(items(4), 7.0), (items(1), 7.0)]).unwrap().tuning, items(4));
        assert_eq!(
            Choice::of(&[(items(4), 7.0)]).unwrap().sentence(),
            "4 points a thread: tuned, 7 µs"
        );
        assert_eq!(Choice::of(&[]), None);
    }

    #[test]
    fn a_choice_is_read_as_it_was_written_and_nothing_else_is_one() {
        let stay = Tuning { persistent: true, threads: 128, ..items(1) };
        let tile = Tuning { tile: Some(TileSize::USUAL), ..Tuning::default() };
        for choice in [
            Choice { tuning: stay, us: 12.5, others: vec![(items(8), 14.25)] },
            Choice { tuning: items(16), us: 0.0, others: Vec::new() },
            Choice { tuning: tile, us: 3.0, others: vec![(tile, 4.0), (items(2), 5.0)] },
        ] {
            assert_eq!(Choice::decode(&choice.encode()), Some(choice.clone()));
        }
        for text in [
            "",
            "2 0 256 -",
            "3 0 256 - 1.5",
            "2 2 256 - 1.5",
            "2 0 256 - inf",
            "2 0 256 - -1",
            "32 0 256 - 1",
            "2 0 256 - 1 x 0 256 - 1",
            "2 0 256 - 1 4 0 256 - 1 ",
            "0 0 256 - 1",
            "2 0 x - 1",
            "0 0 256 64x64x16 1",
            "0 0 256 64x64x16x5 1",
        ] {
            assert_eq!(Choice::decode(text), None, "{text}");
        }
    }
}

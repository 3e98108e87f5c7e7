//! Charts as they are shown, read back from their SVG and from a terminal's dots.

use super::*;
use aplomb_ground::chart::{KINDS, Kind, Series, THEMES};

fn chart(kind: Kind, y: &[&[f64]]) -> Chart {
    let of = |y: &&[f64]| Series {
        name: String::new(),
        x: (1..=y.len()).map(|k| k as f64).collect(),
        y: y.to_vec(),
    };
    let names = [String::new(), String::new()];
    let series = y.iter().map(of).collect();
    let (title, size) = ("t<i>".into(), [640, 400]);
    let theme = Theme::default();
    Chart { kind, title, names, logs: [false; 2], dates: false, series, size, theme }
}

fn svg(chart: &Chart) -> Result<String, String> {
    Drawing::of(chart)?.svg()
}

fn text(chart: &Chart, columns: usize, rows: usize, coloured: bool) -> Result<String, String> {
    Drawing::of(chart)?.text(columns, rows, coloured)
}

/// The attribute of each element of a name.
fn all(svg: &str, element: &str, attribute: &str) -> Vec<f64> {
    let of = |tag: &str| {
        let value = tag.split(&format!(" {attribute}=\"")).nth(1)?.split('"').next()?;
        value.parse().ok()
    };
    svg.split(&format!("<{element}")).skip(1).filter_map(of).collect()
}

#[test]
fn every_kind_draws_and_escapes() {
    for (name, kind) in KINDS {
        let drawn = svg(&chart(*kind, &[&[3.0, 1.0, 2.0], &[1.0, 1.0, 5.0]])).expect("a picture");
        assert!(drawn.contains("t&lt;i&gt;") && drawn.ends_with("</svg>\n"), "{name}: {drawn}");
        let rows: &[&[f64]] = match kind {
            Kind::Contour => &[&[3.0, 1.0], &[2.0, 2.0]],
            _ => &[&[3.0, 1.0, 2.0]],
        };
        assert!(!text(&chart(*kind, rows), 60, 15, false).expect("dots").is_empty());
    }
}

#[test]
fn bars_are_as_high_as_their_numbers() {
    let drawn = svg(&chart(Kind::Bars, &[&[1.0, 2.0, 4.0]])).expect("a picture");
    let high = all(&drawn, "rect", "height");
    assert!(high.len() == 3 && high.iter().all(|h| *h > 20.0), "{high:?}");
    let ratio = |k: usize| high[k] / high[0];
    assert!((ratio(1) - 2.0).abs() < 0.05 && (ratio(2) - 4.0).abs() < 0.05, "{high:?}");
}

#[test]
fn a_thin_line_keeps_what_sticks_out() {
    let mut y = vec![0.0; 1_000_000];
    (y[123_456], y[777_777]) = (7.0, -3.0);
    let shape = shape::of(&chart(Kind::Lines, &[&y])).unwrap_or_else(|e| panic!("{e}"));
    let Mark::Line(points) = &shape.marks[0][0] else { panic!("a line") };
    assert!(points.len() < 5_000 && points.contains(&(123_457.0, 7.0)));
    assert_eq!(shape.y, (-3.0, 7.0));
}

/// Pages of a million numbers stay light, say what they leave out, and reach as far as the numbers.
#[test]
fn a_million_numbers_are_thinned_and_the_picture_says_so() {
    let mut seed = 7_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f64 / f64::from(1 << 24)
    };
    let mut y: Vec<f64> = (0..1_000_000).map(|_| next()).collect();
    (y[123_456], y[777_777]) = (7.0, -3.0);
    let rows: Vec<&[f64]> = y.chunks(1_000).collect();
    let one: &[&[f64]] = &[&y];
    for (kind, y, what) in [
        (Kind::Points, one, "points"),
        (Kind::Bars, one, "bars"),
        (Kind::Heat, rows.as_slice(), "items"),
        (Kind::Contour, rows.as_slice(), "items"),
        (Kind::Points, rows.as_slice(), "points"),
    ] {
        let chart = chart(kind, y);
        let shape = shape::of(&chart).unwrap_or_else(|e| panic!("{e}"));
        let drawn = shape.marks.iter().map(Vec::len).sum::<usize>();
        assert!(shape.note.starts_with(&format!("1 000 000 {what}, drawn as ")), "{}", shape.note);
        let is_field = matches!(kind, Kind::Heat | Kind::Contour);
        let told = shape.note.replace(' ', "").ends_with(&format!("as{drawn}"));
        assert!(kind == Kind::Contour || told, "{}", shape.note);
        assert!(is_field || shape.y == (-3.0, 7.0), "{what}: {:?}", shape.y);
        let svg = svg(&chart).expect("a picture");
        assert!(svg.contains(&shape.note) && image(&chart, &svg).len() < 1_000_000, "{drawn}");
    }
    assert_eq!(shape::of(&chart(Kind::Points, &[&y[..4_000]])).map(|s| s.note), Ok(String::new()));
}

use shape::Mark;

#[test]
fn dates_stand_along_the_axis() {
    let mut chart = chart(Kind::Lines, &[&[1.0, 2.0]]);
    (chart.dates, chart.series[0].x) = (true, vec![1_704_067_200.0, 1_711_929_600.0]);
    let drawn = svg(&chart).expect("a picture");
    for date in ["2024-02-01", "2024-03-01", "2024-04-01"] {
        assert!(drawn.contains(date), "{date}: {drawn}");
    }
}

#[test]
fn nothing_and_less_than_nothing_are_refused_in_words() {
    let says = |c: &Chart| svg(c).err();
    assert!(says(&chart(Kind::Lines, &[&[f64::NAN]])).is_some_and(|e| e.contains("no finite")));
    let mut log = chart(Kind::Lines, &[&[1.0, 0.0]]);
    log.logs = [false, true];
    assert_eq!(says(&log).as_deref(), Some("0 has no place on an axis of logarithms"));
    assert!(says(&chart(Kind::Boxes, &[&[2.0]])).is_none());
    assert!(says(&chart(Kind::Contour, &[&[2.0, 1.0]])).is_some_and(|e| e.contains("two rows")));
    assert!(says(&chart(Kind::Contour, &[&[2.0, 2.0], &[2.0, 2.0]])).is_none());
}

/// A line from below to above goes from the left below to the right above in dots, too.
#[test]
fn dots_rise_as_the_line_does() {
    let shown = text(&chart(Kind::Lines, &[&[0.0, 10.0]]), 60, 15, false).expect("dots");
    let is_dot = |c: &char| ('\u{2801}'..='\u{28ff}').contains(c);
    let place = |line: &str| line.chars().collect::<Vec<_>>().iter().rposition(is_dot);
    let rows: Vec<usize> = shown.lines().skip(1).take(12).filter_map(place).collect();
    assert!(rows.len() >= 10 && rows.windows(2).all(|w| w[0] >= w[1]), "{shown}");
    assert!(shown.contains("10") && shown.contains('0'), "{shown}");
}

/// The text without its colours.
fn bare(text: &str) -> String {
    let part = |(k, part): (usize, &str)| match part.split_once('m') {
        Some((_, rest)) if k > 0 => rest.to_string(),
        _ => part.to_string(),
    };
    text.split('\u{1b}').enumerate().map(part).collect()
}

#[test]
fn dots_have_the_colours_of_their_series_and_else_dashes() {
    let two = chart(Kind::Lines, &[&[0.0, 9.0], &[9.0, 0.0]]);
    let [plain, coloured] = [false, true].map(|c| text(&two, 60, 15, c).expect("dots"));
    let dots = |text: &str| text.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count();
    assert!(coloured.contains("38;2;76;139;245m") && coloured.contains("38;2;192;122;28m"));
    assert!(dots(&plain) < dots(&bare(&coloured)), "{plain}");
    let mut print = two.clone();
    print.theme = Theme::Print;
    assert_eq!(text(&print, 60, 15, true).as_deref(), Ok(plain.as_str()));
    let one = chart(Kind::Lines, &[&[0.0, 9.0]]);
    let [plain, coloured] = [false, true].map(|c| text(&one, 60, 15, c).expect("dots"));
    assert_eq!(bare(&coloured), plain);
}

/// A field without colours is the denser the greater its numbers are.
#[test]
fn a_heat_map_in_plain_dots_has_greys() {
    let row: Vec<f64> = (0..9).map(f64::from).collect();
    let shown = text(&chart(Kind::Heat, &[&row]), 60, 12, false).expect("dots");
    let is_dot = |c: &char| ('\u{2801}'..='\u{28ff}').contains(c);
    let line: Vec<char> = shown.lines().nth(6).expect("a line").chars().skip(13).collect();
    let dense = |part: &[char]| -> u32 {
        part.iter().filter(|c| is_dot(c)).map(|c| (*c as u32 - 0x2800).count_ones()).sum()
    };
    let parts: Vec<u32> = line.chunks(12).take(3).map(dense).collect();
    assert!(parts.windows(2).all(|w| w[0] < w[1]), "{parts:?} {shown}");
}

/// The grounds and inks of a picture, and what tells three series apart.
#[test]
fn themes_have_their_ground_and_print_has_no_colours() {
    let colours = |svg: &str| -> Vec<String> {
        let mut all: Vec<String> =
            svg.split('#').skip(1).filter_map(|s| s.get(..6)).map(str::to_string).collect();
        all.sort();
        all.dedup();
        all
    };
    for (name, theme) in THEMES {
        for kind in [Kind::Lines, Kind::Points, Kind::Bars, Kind::Boxes, Kind::Contour, Kind::Heat]
        {
            let mut chart = chart(kind, &[&[3.0, 1.0, 2.0], &[1.0, 1.0, 5.0], &[2.0, 5.0, 1.0]]);
            chart.theme = *theme;
            for (k, series) in chart.series.iter_mut().enumerate() {
                series.name = format!("s{k}");
            }
            let drawn = svg(&chart).expect("a picture");
            let of = theme::colours(*theme);
            let ground = of.ground.map(|c| format!("#{:02X}{:02X}{:02X}", c.0, c.1, c.2));
            let filled = "<rect x=\"0\" y=\"0\" width=\"640\" height=\"400\"";
            let first = drawn.split('\n').nth(1).map_or("", |line| line);
            assert_eq!(ground.is_some(), first.contains(filled), "{name} {kind:?}: {first}");
            assert!(ground.is_none_or(|ground| first.contains(&ground)), "{name}: {first}");
            if *theme == Theme::Print {
                let is_grey = |c: &String| c[..2] == c[2..4] && c[..2] == c[4..6];
                assert!(colours(&drawn).iter().all(is_grey), "{:?}", colours(&drawn));
            }
            let is_field = matches!(kind, Kind::Heat | Kind::Contour);
            assert!(is_field || drawn.contains(">\ns2\n"), "{name} {kind:?}: {drawn}");
        }
    }
    let mut dashed = chart(Kind::Lines, &[&[3.0, 1.0], &[1.0, 5.0]]);
    dashed.theme = Theme::Print;
    let lines = |c: &Chart| svg(c).expect("a picture").matches("<polyline").count();
    let plain = lines(&chart(Kind::Lines, &[&[3.0, 1.0], &[1.0, 5.0]]));
    assert!(lines(&dashed) > plain + 10, "{} {plain}", lines(&dashed));
}

#[test]
fn boxes_have_their_names_below_and_bars_no_numbers_between() {
    let mut boxes = chart(Kind::Boxes, &[&[3.0, 1.0, 2.0], &[1.0, 1.0, 5.0]]);
    (boxes.series[0].name, boxes.series[1].name) = ("first".into(), "second".into());
    let below = |svg: &str| -> Vec<String> {
        let texts = svg.split("<text ").skip(1).filter(|t| t.contains("text-anchor=\"middle\""));
        texts.filter_map(|t| t.split('\n').nth(1)).map(str::to_string).collect()
    };
    assert_eq!(below(&svg(&boxes).expect("a picture")), ["t&lt;i&gt;", "first", "second"]);
    boxes.series[1].name = "s".repeat(60);
    assert_eq!(below(&svg(&boxes).expect("a picture")), ["t&lt;i&gt;", "1", "2"]);
    let bars = chart(Kind::Bars, &[&[3.0, 1.0, 2.0]]);
    assert_eq!(below(&svg(&bars).expect("a picture")), ["t&lt;i&gt;", "1", "2", "3"]);
}

/// Keys and names stand right of the plane, where no mark is, in a page and in dots.
#[test]
fn a_legend_covers_no_mark() {
    let mut chart = chart(Kind::Bars, &[&[3.0, -1.0, 2.0], &[1.0, 1.0, 5.0]]);
    (chart.series[0].name, chart.series[1].name) = ("first".into(), "x".repeat(300));
    let drawn = svg(&chart).expect("a picture");
    let (left, wide) = (all(&drawn, "rect", "x"), all(&drawn, "rect", "width"));
    let ends: Vec<f64> = left.iter().zip(&wide).map(|(x, w)| x + w).collect();
    let (bars, keys) = ends.split_at(6);
    assert_eq!(keys.len(), 2);
    let last = bars.iter().copied().fold(0.0, f64::max);
    assert!(left[6..].iter().all(|x| *x > last), "{bars:?} {left:?}");
    assert!(wide.iter().all(|w| *w > 0.0), "{wide:?}");
    assert!(drawn.contains(">\nfirst\n") && drawn.contains("xxx…"), "{drawn}");
    let shown = text(&chart, 60, 15, false).expect("dots");
    assert!(shown.contains("first") && shown.contains("xx…"), "{shown}");
}

#[test]
fn the_colours_of_a_field_have_a_scale_with_numbers() {
    for kind in [Kind::Heat, Kind::Contour] {
        let drawn = svg(&chart(kind, &[&[0.0, 250.0], &[1_000.0, 40.0]])).expect("a picture");
        for number in ["0", "500", "1000"] {
            assert!(drawn.contains(&format!(">\n{number}\n")), "{kind:?} {number}: {drawn}");
        }
    }
}

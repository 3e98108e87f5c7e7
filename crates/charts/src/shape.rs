//! The marks of a chart: points, bars, quartiles, and the numbers that the axes show.

use crate::contour;
use crate::draw::number;
use aplomb_ground::chart::{Chart, Kind, Series};

/// A thing in the plane.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// Points in order, joined.
    Line(Vec<(f64, f64)>),
    Dot(f64, f64),
    /// Two corners.
    Area((f64, f64), (f64, f64)),
    /// The same, with how far its colour is along the scale: 0 to 1.
    Shade((f64, f64), (f64, f64), f64),
    /// A line of one height, with how far its colour is along the scale.
    Level(Vec<(f64, f64)>, f64),
}

/// Marks by series, and what they cover.
pub struct Shape {
    pub marks: Vec<Vec<Mark>>,
    pub x: (f64, f64),
    pub y: (f64, f64),
    /// The least and the greatest of a field whose colours stand for numbers.
    pub scale: Option<(f64, f64)>,
    /// Empty where every number has a mark of its own, or one that covers what it would.
    pub note: String,
}

/// Lines of more points than this are drawn by the extremes of each of so many intervals, which is
/// what all their points would cover.
const INTERVALS: usize = 1_000;
/// Items of a heat map along an axis; more are shown by their means.
const FIELDS: usize = 90;
/// Dots of all series together: a page of more is heavy, and they cover each other.
const DOTS: usize = 5_000;

/// Errors: a sentence.
pub fn of(chart: &Chart) -> Result<Shape, String> {
    let logs = chart.logs.contains(&true);
    let scaled = || -> Result<Vec<Series>, String> {
        chart.series.iter().map(|s| scaled(s, chart.logs)).collect()
    };
    let own: Vec<Series> = if logs { scaled()? } else { Vec::new() };
    let series = if logs { &own } else { &chart.series };
    // Marks stand for items, but for lines of one height.
    let mut through = None;
    let marks: Vec<Vec<Mark>> = match chart.kind {
        Kind::Lines => series.iter().map(lines).collect(),
        Kind::Points => {
            let most = DOTS / series.len().max(1);
            series.iter().map(|s| points(s, most.max(1))).collect()
        }
        Kind::Bars => bars(series),
        Kind::Histogram => bars(&counted(series)),
        Kind::Boxes => series.iter().enumerate().map(|(k, s)| quartiles(k, s)).collect(),
        Kind::Heat => vec![heat(series)],
        Kind::Contour => {
            let (lines, items) = contour::lines(series);
            through = Some(items);
            vec![lines]
        }
    };
    let corners = || marks.iter().flatten().flat_map(corners);
    let (x, y) = match chart.kind {
        // Also where no line goes through.
        Kind::Contour => contour::field(series)?,
        _ => (range(corners().map(|p| p.0)), range(corners().map(|p| p.1))),
    };
    match (x, y) {
        (Some(x), Some(y)) => {
            let drawn = match through {
                Some(items) => items,
                None => marks.iter().map(Vec::len).sum(),
            };
            let note = note(chart.kind, series, drawn);
            let is_field = matches!(chart.kind, Kind::Heat | Kind::Contour);
            let all = || range(series.iter().flat_map(|s| s.y.iter().copied()));
            let scale = is_field.then(all).flatten();
            Ok(Shape { marks, x, y, scale, note })
        }
        _ => Err("there is no finite number to show".into()),
    }
}

/// A sentence where marks stand for several numbers each. The extremes of a line cover what all its
/// points would; histograms and boxes count.
fn note(kind: Kind, series: &[Series], drawn: usize) -> String {
    let what = match kind {
        Kind::Points => "points",
        Kind::Bars => "bars",
        Kind::Heat | Kind::Contour => "items",
        Kind::Lines | Kind::Histogram | Kind::Boxes => return String::new(),
    };
    let finite = |v: &&f64| v.is_finite();
    let all: usize = match kind {
        Kind::Heat | Kind::Contour => {
            series.iter().map(|s| s.y.iter().filter(finite).count()).sum()
        }
        _ => series.iter().map(|s| pairs(s).filter(is_point).count()).sum(),
    };
    match drawn < all {
        true => format!("{} {what}, drawn as {}", grouped(all), grouped(drawn)),
        false => String::new(),
    }
}

/// Digits in threes.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let gap = |k: usize| k > 0 && (digits.len() - k).is_multiple_of(3);
    let with = |(k, c)| if gap(k) { vec![' ', c] } else { vec![c] };
    digits.chars().enumerate().flat_map(with).collect()
}

/// The logarithms where an axis wants them.
fn scaled(series: &Series, logs: [bool; 2]) -> Result<Series, String> {
    let axis = |values: &[f64], log: bool| -> Result<Vec<f64>, String> {
        match values.iter().find(|v| log && **v <= 0.0) {
            Some(v) => Err(format!("{} has no place on an axis of logarithms", number(*v, false))),
            None if log => Ok(values.iter().map(|v| v.log10()).collect()),
            None => Ok(values.to_vec()),
        }
    };
    let (x, y) = (axis(&series.x, logs[0])?, axis(&series.y, logs[1])?);
    Ok(Series { name: series.name.clone(), x, y })
}

fn corners(mark: &Mark) -> Vec<(f64, f64)> {
    match mark {
        Mark::Line(points) | Mark::Level(points, _) => points.clone(),
        Mark::Dot(x, y) => vec![(*x, *y)],
        Mark::Area(a, b) | Mark::Shade(a, b, _) => vec![*a, *b],
    }
}

/// The interval that finite numbers cover; one by itself has room around it.
pub fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let both = |(a, b): (f64, f64), v: f64| (a.min(v), b.max(v));
    let (least, most) = values.filter(|v| v.is_finite()).map(|v| (v, v)).reduce(|a, b| {
        let a = both(a, b.0);
        both(a, b.1)
    })?;
    let room = if least == most { least.abs().max(1.0) * 0.5 } else { 0.0 };
    Some((least - room, most + room))
}

fn pairs(series: &Series) -> impl Iterator<Item = (f64, f64)> {
    series.x.iter().copied().zip(series.y.iter().copied())
}

fn is_point(p: &(f64, f64)) -> bool {
    p.0.is_finite() && p.1.is_finite()
}

/// The lines of a series: a value that is no number parts it in two.
fn lines(series: &Series) -> Vec<Mark> {
    let all: Vec<(f64, f64)> = pairs(series).collect();
    let parts = all.split(|p| !is_point(p)).filter(|part| !part.is_empty());
    parts.map(|part| Mark::Line(thinned(part))).collect()
}

/// First, least, greatest and last of each interval, in the order of the points.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= 4 * INTERVALS {
        return points.to_vec();
    }
    let mut out = Vec::with_capacity(4 * INTERVALS);
    for part in points.chunks(points.len().div_ceil(INTERVALS)) {
        let by = |k: &usize, l: &usize| part[*k].1.total_cmp(&part[*l].1);
        let places = || 0..part.len();
        let extremes = [places().min_by(by), places().max_by(by)];
        let mut kept: Vec<usize> =
            extremes.into_iter().flatten().chain([0, part.len() - 1]).collect();
        kept.sort_unstable();
        kept.dedup();
        out.extend(kept.into_iter().map(|k| part[k]));
    }
    out
}

/// One point of many in each field, in fields that are as fine as `most` lets them be; those that
/// are the farthest out stay, so the axes reach as far as the numbers do.
fn points(series: &Series, most: usize) -> Vec<Mark> {
    let mut kept: Vec<(f64, f64)> = pairs(series).filter(is_point).collect();
    let Some(first) = kept.first() else { return Vec::new() };
    // The first of those that are as far out: left, right, below, above.
    let mut far = [*first; 4];
    for p in &kept {
        let farther = [p.0 < far[0].0, p.0 > far[1].0, p.1 < far[2].1, p.1 > far[3].1];
        (0..4).filter(|k| farther[*k]).for_each(|k| far[k] = *p);
    }
    let (x, y) = (range(far.iter().map(|p| p.0)), range(far.iter().map(|p| p.1)));
    let (Some(x), Some(y)) = (x, y) else { return Vec::new() };
    let mut fields = INTERVALS / 2;
    while kept.len() > most && fields > 0 {
        kept = one_a_field(far.iter().chain(&kept), x, y, fields);
        fields -= fields.div_ceil(8);
    }
    kept.into_iter().map(|(x, y)| Mark::Dot(x, y)).collect()
}

/// The first point of each field.
fn one_a_field<'a>(
    all: impl Iterator<Item = &'a (f64, f64)>,
    x: (f64, f64),
    y: (f64, f64),
    fields: usize,
) -> Vec<(f64, f64)> {
    let field = |v: f64, (from, to): (f64, f64)| {
        (((v - from) / (to - from) * fields as f64) as usize).min(fields - 1)
    };
    let mut seen = vec![false; fields * fields];
    let first = |p: &&(f64, f64)| {
        let at = field(p.0, x) * fields + field(p.1, y);
        !std::mem::replace(&mut seen[at], true)
    };
    all.filter(first).copied().collect()
}

/// Bars of several series stand side by side. Of many, those of an interval are one: from the
/// least to the greatest of their ends, which is what all of them would cover.
fn bars(series: &[Series]) -> Vec<Vec<Mark>> {
    let step =
        |s: &Series| s.x.windows(2).map(|w| (w[1] - w[0]).abs()).fold(f64::INFINITY, f64::min);
    let least = series.iter().map(step).fold(f64::INFINITY, f64::min);
    let room = if least.is_finite() && least > 0.0 { least } else { 1.0 };
    let wide = room * 0.8 / series.len().max(1) as f64;
    let intervals = 4 * INTERVALS / series.len().max(1);
    let of = |(k, s): (usize, &Series)| {
        let mut all: Vec<(f64, f64)> = pairs(s).filter(is_point).collect();
        let together = all.len().div_ceil(intervals.max(1)).max(1);
        if together > 1 {
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let bar = |part: &[(f64, f64)]| {
            let left = |x: f64| x - room * 0.4 + k as f64 * wide;
            let (first, last) = (part[0].0, part[part.len() - 1].0);
            // One bar may stand below the axis; several stand on it and below.
            let (low, high) = match part {
                [one] => (0.0, one.1),
                _ => part.iter().fold((0.0, 0.0), |(l, h), p| (p.1.min(l), p.1.max(h))),
            };
            Mark::Area((left(first), low), (left(last) + wide, high))
        };
        all.chunks(together).map(bar).collect()
    };
    series.iter().enumerate().map(of).collect()
}

/// The number of values in each interval; the intervals are those of all series together.
fn counted(series: &[Series]) -> Vec<Series> {
    let all = || series.iter().flat_map(|s| s.y.iter().copied()).filter(|v| v.is_finite());
    let n = all().count();
    let Some((from, to)) = range(all()) else { return Vec::new() };
    // Sturges: as many as the number of values has digits in base 2, and one.
    let bins = ((n.max(1) as f64).log2().ceil() as usize + 1).max(5);
    let wide = (to - from) / bins as f64;
    let count = |s: &Series| {
        let mut y = vec![0.0; bins];
        for v in s.y.iter().filter(|v| v.is_finite()) {
            y[(((v - from) / wide) as usize).min(bins - 1)] += 1.0;
        }
        let x = (0..bins).map(|k| from + (k as f64 + 0.5) * wide).collect();
        Series { name: s.name.clone(), x, y }
    };
    series.iter().map(count).collect()
}

/// A box from the first to the third quartile, the median, and lines to the least and the greatest.
fn quartiles(k: usize, series: &Series) -> Vec<Mark> {
    let mut y: Vec<f64> = series.y.iter().copied().filter(|v| v.is_finite()).collect();
    y.sort_unstable_by(f64::total_cmp);
    let Some(last) = y.len().checked_sub(1) else { return Vec::new() };
    let at = |part: f64| {
        let place = part * last as f64;
        let (low, high) = (y[place.floor() as usize], y[place.ceil() as usize]);
        low + (high - low) * place.fract()
    };
    let x = k as f64 + 1.0;
    let line = |from, to| Mark::Line(vec![from, to]);
    vec![
        Mark::Area((x - 0.3, at(0.25)), (x + 0.3, at(0.75))),
        line((x - 0.3, at(0.5)), (x + 0.3, at(0.5))),
        line((x, at(0.0)), (x, at(0.25))),
        line((x, at(0.75)), (x, at(1.0))),
    ]
}

/// The first row stands on top.
fn heat(series: &[Series]) -> Vec<Mark> {
    let columns = series.iter().map(|s| s.y.len()).max().map_or(0, |n| n);
    let all = || series.iter().flat_map(|s| s.y.iter().copied());
    let Some((least, most)) = range(all()) else { return Vec::new() };
    let (down, across) = (series.len().div_ceil(FIELDS), columns.div_ceil(FIELDS));
    let mut out = Vec::new();
    for (r, rows) in series.chunks(down.max(1)).enumerate() {
        for from in (0..columns).step_by(across.max(1)) {
            let inside = rows.iter().flat_map(|s| s.y.iter().skip(from).take(across));
            let (n, sum) =
                inside.filter(|v| v.is_finite()).fold((0.0, 0.0), |(n, sum), v| (n + 1.0, sum + v));
            if n > 0.0 {
                let (top, wide) = ((r * down) as f64, (columns - from).min(across) as f64);
                let corner = (from as f64, -top);
                let to = (corner.0 + wide, -(top + rows.len() as f64));
                out.push(Mark::Shade(corner, to, (sum / n - least) / (most - least)));
            }
        }
    }
    out
}

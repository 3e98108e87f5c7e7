//! A chart on any place that can be drawn on: axes, marks, legend.

use crate::dates::Axis;
use crate::shape::{self, Mark, Shape};
use aplomb_ground::chart::{Chart, Kind};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The sizes and marks in which a page and a terminal differ.
pub struct Look {
    font: u32,
    margin: u32,
    /// Room for numbers below and left of the axes.
    below: u32,
    left: u32,
    /// Numbers along the axes, at most.
    numbers: (usize, usize),
    tick: i32,
    dot: i32,
    grid: bool,
    /// Names along the axes, which are turned.
    names: bool,
}

pub const PAGE: Look = Look {
    font: 13,
    margin: 10,
    below: 40,
    left: 64,
    numbers: (10, 8),
    tick: 4,
    dot: 2,
    grid: true,
    names: true,
};
pub const TERMINAL: Look = Look {
    font: 4,
    margin: 0,
    below: 6,
    left: 22,
    numbers: (5, 4),
    tick: 1,
    dot: 0,
    grid: false,
    names: false,
};

/// Neither a light nor a dark page swallows it.
const INK: RGBColor = RGBColor(118, 118, 118);
const COLOURS: [RGBColor; 6] = [
    RGBColor(76, 139, 245),
    RGBColor(192, 122, 28),
    RGBColor(52, 162, 107),
    RGBColor(164, 91, 209),
    RGBColor(209, 85, 107),
    RGBColor(43, 155, 176),
];
/// From the least to the greatest: as bright as they are great, also without colours.
const SCALE: [(f64, f64, f64); 4] =
    [(68.0, 1.0, 84.0), (49.0, 104.0, 142.0), (53.0, 183.0, 121.0), (253.0, 231.0, 37.0)];

fn shade(part: f64) -> RGBColor {
    let at = part.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let (low, high) = (SCALE[at.floor() as usize], SCALE[at.ceil() as usize]);
    let mix = |a: f64, b: f64| (a + (b - a) * at.fract()).round() as u8;
    RGBColor(mix(low.0, high.0), mix(low.1, high.1), mix(low.2, high.2))
}

/// A number on an axis, as APL writes it.
pub fn number(v: f64, log: bool) -> String {
    let v = if log { 10f64.powf(v) } else { v };
    let plain = v == 0.0 || (1e-3..1e6).contains(&v.abs());
    let text = if plain { format!("{:.6}", v) } else { format!("{v:.3e}") };
    let (mantissa, exponent) = match text.split_once('e') {
        Some((m, e)) => (m, format!("E{e}")),
        None => (text.as_str(), String::new()),
    };
    let short = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    let text = format!("{short}{exponent}").replace('-', "¯");
    if text == "¯0" { "0".into() } else { text }
}

type Area<B> = DrawingArea<B, Shift>;

/// Errors: a sentence.
pub fn draw<B: DrawingBackend>(area: &Area<B>, chart: &Chart, look: &Look) -> Result<(), String> {
    let Shape { marks, x, y, note } = shape::of(chart)?;
    let says = |e: DrawingAreaErrorKind<B::ErrorType>| e.to_string();
    let ink = ("monospace", look.font).into_font().color(&INK);
    let mut builder = ChartBuilder::on(area);
    builder.margin(look.margin).x_label_area_size(look.below).y_label_area_size(look.left);
    let words = [chart.title.as_str(), &note];
    let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
    if !words.is_empty() {
        let pos = Pos::new(HPos::Left, VPos::Top);
        builder.caption(words.join(": "), ink.clone().pos(pos));
    }
    // Nothing stands on the frame itself.
    let room = |(from, to): (f64, f64), part: f64| (to - from) * part;
    let is_field = matches!(chart.kind, Kind::Heat | Kind::Contour);
    let part = if is_field { 0.0 } else { 0.03 };
    let (dx, dy) = (room(x, part), room(y, part));
    let along = Axis::new(x.0 - dx..x.1 + dx, chart.logs[0], chart.dates);
    let mut plane = builder.build_cartesian_2d(along, y.0 - dy..y.1 + dy).map_err(says)?;
    let down = |v: &f64| number(if is_field { v.abs() } else { *v }, chart.logs[1]);
    let mut mesh = plane.configure_mesh();
    mesh.label_style(ink.clone())
        .axis_style(INK)
        .light_line_style(TRANSPARENT)
        .bold_line_style(if look.grid { INK.mix(0.25) } else { TRANSPARENT })
        .set_all_tick_mark_size(look.tick)
        .x_labels(look.numbers.0)
        .y_labels(look.numbers.1)
        .y_label_formatter(&down);
    let [along, up] = [0, 1].map(|k| Some(&chart.names[k]).filter(|n| look.names && !n.is_empty()));
    if let Some(name) = along {
        mesh.x_desc(name);
    }
    if let Some(name) = up {
        mesh.y_desc(name);
    }
    mesh.draw().map_err(says)?;
    for (k, (marks, series)) in marks.into_iter().zip(&chart.series).enumerate() {
        let colour = COLOURS[k % COLOURS.len()];
        let drawn = marks.into_iter().map(|mark| match mark {
            Mark::Line(points) => PathElement::new(points, colour.stroke_width(1)).into_dyn(),
            Mark::Dot(x, y) => Circle::new((x, y), look.dot, colour.filled()).into_dyn(),
            Mark::Area(a, b) => Rectangle::new([a, b], colour.mix(0.8).filled()).into_dyn(),
            Mark::Shade(a, b, part) => Rectangle::new([a, b], shade(part).filled()).into_dyn(),
            Mark::Level(points, part) => {
                PathElement::new(points, shade(part).stroke_width(1)).into_dyn()
            }
        });
        let drawn = plane.draw_series(drawn).map_err(says)?;
        if !series.name.is_empty() {
            let key = move |(x, y)| Rectangle::new([(x, y - 2), (x + 10, y + 2)], colour.filled());
            drawn.label(&series.name).legend(key);
        }
    }
    if chart.series.iter().any(|s| !s.name.is_empty()) && !is_field {
        plane
            .configure_series_labels()
            .label_font(ink)
            .margin(look.margin)
            .legend_area_size(look.font + 4)
            .draw()
            .map_err(says)?;
    }
    area.present().map_err(says)
}

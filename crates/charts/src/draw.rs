//! A chart on any place that can be drawn on: axes, marks, legend.

use crate::dates::Axis;
use crate::marks::{self, key};
use crate::shape::{self, Shape};
use crate::theme::{self, Colours};
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
    /// Room for the scale of a field, right of it; 0: it has none.
    right: u32,
    /// Numbers along the axes, at most.
    numbers: (usize, usize),
    tick: i32,
    pub dot: i32,
    grid: bool,
    /// Names along the axes, which are turned.
    names: bool,
    /// The part of what lies below an area that it covers.
    pub cover: f64,
    /// The dots of a terminal: no ground, and greys by how many of them there are.
    pub dots: bool,
}

pub static PAGE: Look = Look {
    font: 13,
    margin: 10,
    below: 40,
    left: 64,
    right: 76,
    numbers: (10, 8),
    tick: 4,
    dot: 2,
    grid: true,
    names: true,
    cover: 0.8,
    dots: false,
};
pub static TERMINAL: Look = Look {
    font: 4,
    margin: 0,
    below: 6,
    left: 22,
    right: 0,
    numbers: (5, 4),
    tick: 1,
    dot: 0,
    grid: false,
    names: false,
    cover: 1.0,
    dots: true,
};

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
pub fn draw<B: DrawingBackend>(
    area: &Area<B>,
    chart: &Chart,
    colours: &'static Colours,
    look: &'static Look,
) -> Result<(), String> {
    let Shape { marks, x, y, scale, note } = shape::of(chart)?;
    let says = |e: DrawingAreaErrorKind<B::ErrorType>| e.to_string();
    if let Some(ground) = colours.ground.filter(|_| !look.dots) {
        area.fill(&ground).map_err(says)?;
    }
    let ink = ("monospace", look.font).into_font().color(&colours.ink);
    let scale = scale.filter(|_| look.right > 0);
    let (across, _) = area.dim_in_pixel();
    let plot = match scale {
        Some(_) => area.split_horizontally(across.saturating_sub(look.right)).0,
        None => area.clone(),
    };
    let mut builder = ChartBuilder::on(&plot);
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
        .axis_style(colours.ink)
        .light_line_style(TRANSPARENT)
        .bold_line_style(if look.grid { colours.ink.mix(0.25) } else { TRANSPARENT })
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
        let drawn = plane.draw_series(marks::elements(marks, k, colours, look)).map_err(says)?;
        if !series.name.is_empty() {
            let kind = chart.kind;
            drawn.label(&series.name).legend(move |at| key(kind, at, k, colours, look));
        }
    }
    if chart.series.iter().any(|s| !s.name.is_empty()) && !is_field {
        let mut labels = plane.configure_series_labels();
        labels.label_font(ink.clone()).margin(look.margin).legend_area_size(look.font + 10);
        if let Some(ground) = colours.ground.filter(|_| !look.dots) {
            labels.background_style(ground.mix(0.8));
        }
        labels.draw().map_err(says)?;
    }
    if let Some(scale) = scale {
        let (right, down) = plane.plotting_area().get_pixel_range();
        let level = |v| number(v, chart.logs[1]);
        let steps = theme::scale(colours, chart.kind);
        let strip = Strip { left: right.end + 10, down, font: look.font as i32 };
        strip.draw(area, (scale, &level), steps, &ink).map_err(says)?;
    }
    area.present().map_err(says)
}

/// The scale of a field's colours: a strip, and numbers beside it.
struct Strip {
    left: i32,
    down: std::ops::Range<i32>,
    font: i32,
}

impl Strip {
    const WIDE: i32 = 12;
    const STEPS: i32 = 32;

    fn draw<B: DrawingBackend>(
        &self,
        area: &Area<B>,
        (scale, level): ((f64, f64), &dyn Fn(f64) -> String),
        colours: &[RGBColor; 4],
        ink: &TextStyle<'_>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let high = self.down.end - self.down.start;
        let right = self.left + Self::WIDE;
        for k in 0..Self::STEPS {
            let at = |k: i32| self.down.end - high * k / Self::STEPS;
            let part = (f64::from(k) + 0.5) / f64::from(Self::STEPS);
            let style = theme::along(colours, part).filled();
            area.draw(&Rectangle::new([(self.left, at(k + 1)), (right, at(k))], style))?;
        }
        for part in [0.0, 0.5, 1.0] {
            let y = self.down.end - (f64::from(high) * part) as i32 - self.font / 2;
            let v = scale.0 + (scale.1 - scale.0) * part;
            area.draw(&Text::new(level(v), (right + 4, y), ink.clone()))?;
        }
        Ok(())
    }
}

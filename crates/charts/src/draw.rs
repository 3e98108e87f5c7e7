//! A chart on any place that can be drawn on: axes, marks, legend.

use crate::dates::{Along, Axis};
use crate::marks::{self, key, key_width};
use crate::shape::Shape;
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
    scale: u32,
    /// The width of a letter, and the height of a line of the legend.
    letter: (u32, i32),
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
    scale: 76,
    letter: (8, 18),
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
    scale: 0,
    letter: (2, 4),
    numbers: (5, 4),
    tick: 1,
    dot: 0,
    grid: false,
    names: false,
    cover: 1.0,
    dots: true,
};

/// A number on an axis, as APL writes it; between powers of ten, of an axis of logarithms, three
/// digits say enough.
pub fn number(v: f64, log: bool) -> String {
    let short = |power: f64| {
        let last = power.floor() - 2.0;
        10f64.powf(power - last).round() * 10f64.powf(last)
    };
    let v = if log { short(v) } else { v };
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
    shape: &Shape,
    colours: &Colours,
    look: &Look,
) -> Result<(), String> {
    let Shape { marks, x, y, scale, note } = shape;
    let (x, y) = (*x, *y);
    let says = |e: DrawingAreaErrorKind<B::ErrorType>| e.to_string();
    if let Some(ground) = colours.ground.filter(|_| !look.dots) {
        area.fill(&ground).map_err(says)?;
    }
    let ink = ("monospace", look.font).into_font().color(&colours.ink);
    let is_field = matches!(chart.kind, Kind::Heat | Kind::Contour);
    let along = along(chart, area.dim_in_pixel().0, look);
    let legend = match is_field || matches!(along, Along::Names(_)) {
        true => Vec::new(),
        false => legend(chart, area.dim_in_pixel().0, look),
    };
    let scale = scale.filter(|_| look.scale > 0);
    let side = match (scale, legend.iter().map(|name| name.chars().count() as u32).max()) {
        (Some(_), _) => look.scale,
        (None, Some(longest)) => longest * look.letter.0 + key_width(look) as u32 + look.gap(),
        (None, None) => 0,
    };
    let plot = area.split_horizontally(area.dim_in_pixel().0.saturating_sub(side)).0;
    let mut builder = ChartBuilder::on(&plot);
    builder.margin(look.margin).x_label_area_size(look.below).y_label_area_size(look.left);
    let words = [chart.title.as_str(), note];
    let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
    if !words.is_empty() {
        let pos = Pos::new(HPos::Left, VPos::Top);
        builder.caption(words.join(": "), ink.clone().pos(pos));
    }
    // Nothing stands on the frame itself.
    let room = |(from, to): (f64, f64), part: f64| (to - from) * part;
    let part = if is_field { 0.0 } else { 0.03 };
    let (dx, dy) = (room(x, part), room(y, part));
    let axis = Axis::new(x.0 - dx..x.1 + dx, along);
    let mut plane = builder.build_cartesian_2d(axis, y.0 - dy..y.1 + dy).map_err(says)?;
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
    for (k, marks) in marks.iter().enumerate() {
        plane.draw_series(marks::elements(marks, k, colours, look)).map_err(says)?;
    }
    let (right, down) = plane.plotting_area().get_pixel_range();
    for (k, name) in legend.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        let (x, y) = (right.end + look.gap() as i32 / 2, down.start + look.letter.1 * k as i32);
        let middle = (x, y + look.letter.1 / 2);
        area.draw(&key(chart.kind, middle, k, colours, look)).map_err(says)?;
        let place = (x + key_width(look) + look.letter.0 as i32, y);
        area.draw(&Text::new(name.as_str(), place, ink.clone())).map_err(says)?;
    }
    if let Some(scale) = scale {
        let level = |v| number(v, chart.logs[1]);
        let steps = theme::scale(colours, chart.kind);
        let strip = Strip { left: right.end + 10, down, font: look.font as i32 };
        strip.draw(area, (scale, &level), steps, &ink).map_err(says)?;
    }
    area.present().map_err(says)
}

impl Look {
    /// Points between the plane and what stands beside it, and behind that.
    fn gap(&self) -> u32 {
        self.letter.0 * 3
    }
}

/// The places along: below boxes their names, where these have room.
fn along(chart: &Chart, across: u32, look: &Look) -> Along {
    let names = || chart.series.iter().map(|s| s.name.clone());
    let letters: usize = names().map(|name| name.chars().count() + 2).sum();
    let named = names().all(|name| !name.is_empty());
    let whole = || chart.series.iter().all(|s| s.x.iter().all(|x| x.fract() == 0.0));
    match chart.kind {
        Kind::Boxes if named && letters * look.letter.0 as usize <= across as usize / 2 => {
            Along::Names(names().collect())
        }
        Kind::Boxes => Along::Whole,
        _ if chart.dates => Along::Dates,
        Kind::Bars if !chart.logs[0] && whole() => Along::Whole,
        _ => Along::Numbers { log: chart.logs[0] },
    }
}

/// The names of series, of which the longest take a third of the picture; none where none has one.
fn legend(chart: &Chart, across: u32, look: &Look) -> Vec<String> {
    let most = (across / look.letter.0 / 3) as usize;
    let short = |name: &String| match name.chars().count() <= most {
        true => name.clone(),
        false => name.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    };
    match chart.series.iter().any(|s| !s.name.is_empty()) {
        true => chart.series.iter().map(|s| short(&s.name)).collect(),
        false => Vec::new(),
    }
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

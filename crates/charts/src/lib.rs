//! Pictures of numbers: one chart, drawn on a page as SVG or on a terminal in dots.
//!
//! `pixels` makes an image of an array.
//! `shape` finds what there is to draw (ranges, bars, quartiles, fewer points), `draw` puts it on
//! any backend of plotters, `dots` is one for a terminal. No file, no clock, no font is asked for.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod contour;
mod dates;
mod dots;
mod draw;
mod marks;
mod pixels;
mod raster;
mod shape;
mod theme;

use aplomb_ground::chart::{Chart, Theme};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
pub use pixels::Image;
use plotters::prelude::{IntoDrawingArea, SVGBackend};
pub use raster::png;

/// Errors: a sentence; there is nothing that an axis could show.
pub fn svg(chart: &Chart) -> Result<String, String> {
    let mut out = String::new();
    let [width, height] = chart.size;
    let area = SVGBackend::with_string(&mut out, (width, height)).into_drawing_area();
    draw::draw(&area, chart, theme::colours(chart.theme), &draw::PAGE)?;
    drop(area);
    Ok(out)
}

/// An element that no notebook's sanitiser removes.
pub fn image(chart: &Chart, svg: &str) -> String {
    let says: String = chart.title.chars().filter(|c| !"<>&\"'".contains(*c)).collect();
    let data = BASE64_STANDARD.encode(svg);
    format!("<img alt=\"chart {says}\" src=\"data:image/svg+xml;base64,{data}\">")
}

/// Lines of text with dots in them, in the colours of a terminal where `coloured`; where not, series
/// are told apart as in print. Errors: as of `svg`.
pub fn text(chart: &Chart, columns: usize, rows: usize, coloured: bool) -> Result<String, String> {
    let colours = theme::colours(if coloured { chart.theme } else { Theme::Print });
    let mut dots = dots::Dots::new(columns, rows);
    {
        let area = (&mut dots).into_drawing_area();
        draw::draw(&area, chart, colours, &draw::TERMINAL)?;
    }
    Ok(dots.text(coloured && !colours.patterns))
}

#[cfg(test)]
mod tests;

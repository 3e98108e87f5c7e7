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
pub use raster::{FONT, png};

/// A chart with what there is to draw of it, found once for all its forms.
pub struct Drawing<'a> {
    chart: &'a Chart,
    shape: shape::Shape,
}

impl Drawing<'_> {
    /// Errors: a sentence; there is nothing that an axis could show.
    pub fn of(chart: &Chart) -> Result<Drawing<'_>, String> {
        Ok(Drawing { chart, shape: shape::of(chart)? })
    }

    /// The chart on a page. Errors: a sentence.
    pub fn svg(&self) -> Result<String, String> {
        let mut out = String::new();
        let [width, height] = self.chart.size;
        let area = SVGBackend::with_string(&mut out, (width, height)).into_drawing_area();
        let colours = theme::colours(self.chart.theme);
        draw::draw(&area, self.chart, &self.shape, colours, &draw::PAGE)?;
        drop(area);
        Ok(out)
    }

    /// Lines of text with dots in them, in the colours of a terminal where `coloured`; where not,
    /// series are told apart as in print. Errors: a sentence.
    pub fn text(&self, columns: usize, rows: usize, coloured: bool) -> Result<String, String> {
        let colours = theme::colours(if coloured { self.chart.theme } else { Theme::Print });
        let mut dots = dots::Dots::new(columns, rows);
        {
            let area = (&mut dots).into_drawing_area();
            draw::draw(&area, self.chart, &self.shape, colours, &draw::TERMINAL)?;
        }
        Ok(dots.text(coloured && !colours.patterns))
    }
}

/// An element that no notebook's sanitiser removes.
pub fn image(chart: &Chart, svg: &str) -> String {
    let says: String = chart.title.chars().filter(|c| !"<>&\"'".contains(*c)).collect();
    let data = BASE64_STANDARD.encode(svg);
    format!("<img alt=\"chart {says}\" src=\"data:image/svg+xml;base64,{data}\">")
}

#[cfg(test)]
mod tests;

//! The things that a program shows beside text: pages of media types, charts, and what it writes to
//! standard error.

use super::shown;
use super::world::World;
use aplomb_ground::chart::Chart;
use aplomb_ground::error::{Result, domain};
use aplomb_ground::protocol::{Event, MimeBundle};
use aplomb_language::eval::host::{Host, Page};
use std::path::Path;

/// The file that is the standard error of whoever reads it, and of a front end what it shows so.
const STANDARD_ERROR: &str = "/dev/stderr";

impl World<'_> {
    fn event(&mut self, event: Event) {
        if let Some(sink) = &mut self.sink {
            sink.event(event);
        }
    }

    /// Shows a bundle.
    pub(super) fn displayed(&mut self, bundle: MimeBundle) {
        self.event(Event::Display(bundle));
    }

    /// Shows a page; one whose name was shown takes that one's place. Errors: DOMAIN.
    pub(super) fn show_page(&mut self, page: &Page) -> Result<()> {
        let mut bundle = shown::page(page)?;
        if self.is_rich() {
            shown::rasterised(&mut bundle);
        }
        if page.clears {
            self.event(Event::Clear);
        }
        match &page.id {
            None => self.displayed(bundle),
            Some(id) => {
                let again = !self.core.shown.insert(id.clone());
                self.event(Event::Named { id: id.clone(), page: bundle, again });
            }
        }
        Ok(())
    }

    /// Shows a chart, or writes it; its SVG. Errors: DOMAIN, FILE NAME, FILE ACCESS.
    pub(super) fn draw(
        &mut self,
        chart: &Chart,
        columns: usize,
        file: Option<&str>,
    ) -> Result<String> {
        let rich = (self.is_rich() || self.core.pictures) && file.is_none();
        let (bundle, svg) = shown::chart(chart, columns, rich, self.core.coloured)?;
        match file {
            None => self.displayed(bundle),
            Some(file) if file.ends_with(".png") => {
                let png = aplomb_charts::png(&svg).map_err(domain)?;
                self.write_file(file, &png)?;
            }
            Some(file) => self.write_file(file, svg.as_bytes())?,
        }
        Ok(svg)
    }

    /// Whether a file is standard error and the bytes are text: then the front end has them, and
    /// nothing is written. Errors: FILE ACCESS.
    pub(super) fn says_aside(&mut self, path: &str, bytes: &[u8]) -> Result<bool> {
        let text = std::str::from_utf8(bytes).ok().filter(|_| path == STANDARD_ERROR);
        let (Some(text), Some(_)) = (text, &self.sink) else { return Ok(false) };
        self.core.reach.check(Path::new(path))?;
        if self.has_effects() {
            self.event(Event::Aside(text.into()));
        }
        Ok(true)
    }
}

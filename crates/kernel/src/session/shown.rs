//! The bundles of what a program shows by its kind, `⎕SHOW` and `⎕PLOT`: the kind itself, and text
//! for those who see no more.

use aplomb_charts as charts;
use aplomb_ground::chart::Chart;
use aplomb_ground::error::{Error, domain};
use aplomb_ground::protocol::{HTML, MimeBundle, SVG, TEXT};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// Values that one run prints as pages; a loop that prints more prints text.
pub const MOST_PAGES: usize = 100;
/// Lines of a chart in a terminal.
const ROWS: usize = 20;

/// Kinds that are text, and are read as they stand where nobody shows them otherwise.
const READ: &[&str] = &[TEXT, "text/markdown", "text/latex"];

/// Text with its page, where there is one.
pub fn paged(text: &str, page: Option<String>) -> MimeBundle {
    let mut bundle = super::text(text);
    bundle.extend(page.map(|page| (HTML.to_string(), page)));
    bundle
}

/// Errors: DOMAIN, for bytes that are not the text that their kind says.
pub fn of(kind: &str, data: &[u8]) -> Result<MimeBundle, Error> {
    let is_text = kind.starts_with("text/") || kind.ends_with("xml") || kind.ends_with("json");
    let written = match is_text {
        true => {
            let text = std::str::from_utf8(data);
            text.map_err(|_| domain(format!("{kind} is text in UTF-8")))?.to_string()
        }
        false => BASE64_STANDARD.encode(data),
    };
    let says = match READ.contains(&kind) {
        true => format!("{}\n", written.trim_end_matches('\n')),
        false => format!("({kind}, {} bytes: a page shows it)\n", data.len()),
    };
    Ok([(TEXT.to_string(), says), (kind.to_string(), written)].into())
}

/// A chart in its forms, and its SVG. `pages`: whether somebody shows more than text. Errors:
/// DOMAIN.
pub fn chart(chart: &Chart, columns: usize, pages: bool) -> Result<(MimeBundle, String), Error> {
    let svg = charts::svg(chart).map_err(domain)?;
    let text = charts::text(chart, columns, ROWS).map_err(domain)?;
    let mut bundle = MimeBundle::from([(TEXT.to_string(), text)]);
    if pages {
        bundle.insert(HTML.to_string(), charts::image(chart, &svg));
        bundle.insert(SVG.to_string(), svg.clone());
    }
    Ok((bundle, svg))
}

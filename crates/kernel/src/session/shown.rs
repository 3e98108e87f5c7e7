//! The bundles of what a program shows by its kind, `⎕SHOW` and `⎕PLOT`: the kind itself, and text
//! for those who see no more.

use aplomb_charts::{self as charts, Drawing};
use aplomb_ground::chart::Chart;
use aplomb_ground::error::{Error, count, domain};
use aplomb_ground::protocol::{HTML, MimeBundle, PNG, SVG, TEXT};
use aplomb_language::eval::host::Page;
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
        false => format!("({kind}, {}: a page shows it)\n", count(data.len(), "byte")),
    };
    Ok([(TEXT.to_string(), says), (kind.to_string(), written)].into())
}

/// The bundle of a page, one entry a form; text says the first that can be read, or all that a page
/// shows. Errors: as `of`.
pub fn page(page: &Page) -> Result<MimeBundle, Error> {
    let mut bundle = MimeBundle::new();
    let mut says = Vec::new();
    for (kind, data) in &page.forms {
        let mut one = of(kind, data)?;
        says.extend(one.remove(TEXT).map(|text| (READ.contains(&kind.as_str()), text)));
        bundle.extend(one);
    }
    let read = says.iter().find(|s| s.0).map(|s| s.1.clone());
    bundle.insert(TEXT.into(), read.unwrap_or_else(|| says.into_iter().map(|s| s.1).collect()));
    Ok(bundle)
}

/// Bytes of a drawing that is made a bitmap, too.
const DRAWN: usize = 1 << 20;
/// The elements of drawings that may multiply what is drawn: such a one is left as it is.
const MULTIPLY: &[&str] = &["<use", "<filter", "<pattern", "<image", "<!ENTITY"];

/// A bitmap beside a drawing that has none: paper and pages that run no scripts take that.
pub fn rasterised(bundle: &mut MimeBundle) {
    let Some(svg) = bundle.get(SVG).filter(|_| !bundle.contains_key(PNG)) else { return };
    if svg.len() > DRAWN || MULTIPLY.iter().any(|element| svg.contains(element)) {
        return;
    }
    // What is no picture is shown as it is, and says so itself.
    if let Ok(png) = charts::png(svg) {
        bundle.insert(PNG.to_string(), BASE64_STANDARD.encode(png));
    }
}

/// A chart in its forms, and its SVG. `pages`: whether somebody shows more than text; `coloured`:
/// whether the text may have colours. Errors: DOMAIN.
pub fn chart(
    chart: &Chart,
    columns: usize,
    pages: bool,
    coloured: bool,
) -> Result<(MimeBundle, String), Error> {
    let drawing = Drawing::of(chart).map_err(domain)?;
    let svg = drawing.svg().map_err(domain)?;
    let text = drawing.text(columns, ROWS, coloured).map_err(domain)?;
    let mut bundle = MimeBundle::from([(TEXT.to_string(), text)]);
    if pages {
        bundle.insert(HTML.to_string(), charts::image(chart, &svg));
        // Paper takes a bitmap. SVG by itself would be taken before it, and turned by a program
        // that few have; a page has it in its image.
        let png = charts::png(&svg).map_err(domain)?;
        bundle.insert(PNG.to_string(), BASE64_STANDARD.encode(png));
    }
    Ok((bundle, svg))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_gets_a_bitmap_where_it_is_a_plain_one() {
        let forms = |inside: &str| {
            let of = "xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"";
            let svg = format!("<svg {of}>{inside}</svg>");
            let mut bundle = MimeBundle::from([(SVG.to_string(), svg)]);
            rasterised(&mut bundle);
            bundle.contains_key(PNG)
        };
        assert!(forms("<rect width=\"5\" height=\"5\"/>"));
        assert!(!forms("<rect id=\"a\"/><use href=\"#a\"/>") && !forms("<b"));
    }
}

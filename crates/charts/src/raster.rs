//! A picture of lines and letters as a picture of points: SVG to PNG, by resvg.
//!
//! The letters are those of one font that the program has in itself, so a picture is the same on
//! every machine. Nothing outside the text is read: no file, no address.

use png::{BitDepth, ColorType, Compression, Encoder, Filter};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use std::sync::{Arc, OnceLock};

/// Iosevka's letters of APL as a TrueType font, as `aplomb kernel install` gives them to a page.
pub const FONT: &[u8] = include_bytes!("aplomb-mono.ttf");
const FAMILY: &str = "Iosevka";

/// Points of the bitmap for one of the picture: sharp on a screen of today, and on paper.
const SCALE: f32 = 2.0;
/// Points across and down that a bitmap may have, and in all.
const LARGEST: f32 = 8_192.0;
const MOST: f32 = 24e6;

/// One for all pictures: it is read once.
fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let read = || {
        let mut fonts = Database::new();
        fonts.load_font_data(FONT.to_vec());
        fonts.set_monospace_family(FAMILY);
        fonts.set_serif_family(FAMILY);
        fonts.set_sans_serif_family(FAMILY);
        Arc::new(fonts)
    };
    FONTS.get_or_init(read).clone()
}

/// The bytes of a PNG. Errors: a sentence; the text is no SVG, or has no size.
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    let options = Options { fontdb: fonts(), font_family: FAMILY.into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|e| e.to_string())?;
    let size = tree.size();
    let whole = (MOST / (size.width() * size.height())).sqrt();
    let scale = (LARGEST / size.width().max(size.height())).min(whole).min(SCALE);
    let points = |length: f32| (length * scale).ceil().max(1.0) as u32;
    let made = Pixmap::new(points(size.width()), points(size.height()));
    let mut made = made.ok_or("a picture without a size")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut made.as_mut());
    encoded(made).map_err(|e| e.to_string())
}

/// Small, since pages keep it: flat colours are nearly nothing. Lines and dots on a ground repeat
/// as they are; differences of neighbours repeat less, and take three times as long to pack.
fn encoded(made: Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, made.width(), made.height());
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Balanced);
    encoder.set_filter(Filter::NoFilter);
    let mut writer = encoder.write_header()?;
    let points = made.pixels().iter().map(|p| p.demultiply());
    let bytes: Vec<u8> = points.flat_map(|p| [p.red(), p.green(), p.blue(), p.alpha()]).collect();
    writer.write_image_data(&bytes)?;
    writer.finish()?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of points that are not clear.
    fn inked(svg: &str) -> usize {
        let bytes = png(svg).unwrap_or_else(|says| panic!("{says}"));
        assert!(bytes.starts_with(b"\x89PNG"));
        let picture = Pixmap::decode_png(&bytes).expect("a PNG");
        picture.pixels().iter().filter(|p| p.alpha() > 0).count()
    }

    #[test]
    fn letters_of_apl_are_drawn_whatever_font_is_asked_for() {
        let page = |text: &str| {
            let of = "xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"20\"";
            format!("<svg {of}><text x=\"2\" y=\"15\" font-family=\"No Such\">{text}</text></svg>")
        };
        assert_eq!(inked(&page("")), 0);
        for glyph in ["⍴", "⍋", "A", "⌺"] {
            assert!(inked(&page(glyph)) > 20, "{glyph}");
        }
    }

    #[test]
    fn what_is_no_picture_is_refused_and_no_file_is_read() {
        assert!(png("").is_err() && png("<svg>").is_err() && png("<b/>").is_err());
        let of = "xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"";
        let link = "<image width=\"9\" height=\"9\" href=\"/usr/share/pixmaps/debian-logo.png\"/>";
        assert_eq!(inked(&format!("<svg {of}>{link}</svg>")), 0);
        let wide = format!("<svg {}></svg>", of.replace("\"9\"", "\"900000\""));
        assert!(png(&wide).is_ok_and(|bytes| bytes.len() < 1 << 21));
    }
}

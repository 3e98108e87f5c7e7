//! The template by which nbconvert makes paper of a notebook through LaTeX, whose own fonts lack
//! APL's glyphs: `jupyter nbconvert --to pdf --template aplomb`. It is nbconvert's, with our font
//! for code and output.

use super::install::Written;
use aplomb_charts::FONT;
use serde_json::json;
use std::path::Path;

/// The font's name beside the template.
const FILE: &str = "aplomb-mono.ttf";
const TEMPLATE: &str = include_str!("paper/index.tex.j2");

/// The template's folder, which will be at a place: LaTeX runs elsewhere, and looks for the font
/// there.
pub fn files(at: &Path) -> Vec<Written> {
    // A place that LaTeX cannot name is left to the fonts that it finds.
    let at = at.to_str().filter(|at| !at.contains(['\\', '{', '}', '%', '#', '~', '^', '$', '&']));
    let folder = at.map_or(String::new(), |at| format!("{at}/"));
    let template = TEMPLATE.replace("FOLDER", &folder).replace("FILE", FILE);
    let about = json!({ "base_template": "latex", "mimetypes": {
        "text/latex": true, "text/tex": true, "application/pdf": true,
    } });
    vec![
        ("index.tex.j2", template.into_bytes()),
        ("conf.json", format!("{about:#}\n").into_bytes()),
        (FILE, FONT.to_vec()),
        ("OFL.txt", include_bytes!("lab/OFL.txt").to_vec()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_names_the_font_that_lies_beside_it() {
        let text = |at: &str| {
            let files = files(Path::new(at));
            String::from_utf8(files[0].1.clone()).expect("UTF-8")
        };
        assert!(text("/a b/t").contains("{/a b/t/aplomb-mono.ttf}"));
        assert!(text("/a b/t").contains("Path={/a b/t/}"));
        assert!(!text("/a%b").contains("a%b"));
    }
}

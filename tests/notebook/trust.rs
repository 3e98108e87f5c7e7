//! Forms of a result in a notebook that nobody trusts: what its sanitiser would take away is not
//! there to be taken.
//!
//! Kept: tables, images with their data inside, `style` and `class`. Removed: scripts, style
//! sheets, inline SVG, frames, handlers, `data-` attributes; `id` is renamed.

use super::running::Running;

const TAGS: &[&str] = &[
    "table", "thead", "tbody", "tr", "th", "td", "caption", "img", "div", "span", "pre", "code",
    "br", "small",
];
const ATTRIBUTES: &[&str] =
    &["style", "class", "title", "alt", "src", "width", "height", "colspan", "rowspan", "scope"];

/// Tags with their attributes, in order; text is between them.
fn tags(html: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut out = Vec::new();
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, left) = after.split_once('>').unwrap_or_else(|| panic!("an open tag: {after}"));
        let name = tag.split_whitespace().next().unwrap_or("").trim_matches('/').to_lowercase();
        let mut attributes = Vec::new();
        let mut inside = tag;
        while let Some((before, after)) = inside.split_once("=\"") {
            let (value, left) =
                after.split_once('"').unwrap_or_else(|| panic!("an open value: {after}"));
            let name = before.split_whitespace().last().unwrap_or("").to_lowercase();
            attributes.push((name, value.to_string()));
            inside = left;
        }
        out.push((name, attributes));
        rest = left;
    }
    out
}

fn survives(html: &str) {
    for (tag, attributes) in tags(html) {
        assert!(TAGS.contains(&tag.as_str()), "<{tag}> is removed: {html}");
        for (name, value) in attributes {
            assert!(ATTRIBUTES.contains(&name.as_str()), "{name}= is removed: {html}");
            let wants = "data:image/svg+xml;base64,";
            assert!(name != "src" || value.starts_with(wants), "an image from elsewhere: {value}");
            assert!(!value.contains("url(") && !value.contains("expression"), "{value}");
        }
    }
    assert!(!html.contains("http"), "nothing is fetched: {html}");
}

/// The bytes that base64 spells.
fn decoded(text: &str) -> String {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = 0u32;
    let mut bytes = Vec::new();
    let digits = text.chars().filter_map(|c| alphabet.find(c));
    for (k, digit) in digits.enumerate() {
        bits = bits << 6 | digit as u32;
        // Each digit brings six bits; every eight of them are a byte.
        let left = (k as u32 + 1) * 6 % 8;
        if k % 4 != 0 {
            bytes.push((bits >> left) as u8);
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn tables_and_pictures_survive_a_notebook_that_nobody_trusts() {
    let kernel = Running::start();
    let html = |code: &str| -> Vec<String> {
        let answer = kernel.run(code);
        let shown = answer.all("execute_result").into_iter().chain(answer.all("display_data"));
        shown.filter_map(|m| m["data"]["text/html"].as_str().map(String::from)).collect()
    };
    for code in [
        "2 3⍴⍳6",
        "0.5×⍳3 3⍴0",
        "3 2⍴'<b>' '&' '\"><img src=x onerror=a>'",
        "2 2⍴'<script>' (⍳3)",
        "⍳100",
        "(2 2⍴⍳4)('a<' 'b\"')",
        "⎕PLOT(⍳5)(2×⍳5)",
        "5 4⍴'<>&\"'",
        "]box on -style=max\n(1 2)'<b>'(2 2⍴⍳4)",
    ] {
        html(code).iter().for_each(|form| survives(form));
    }
    let tables = html("3 2⍴'<b>' '&' '\"><img src=x onerror=a>'");
    assert!(tables.iter().all(|t| !t.contains("<b>") && !t.contains("<img")), "{tables:?}");
    assert!(!html("2 3⍴⍳6").is_empty(), "there are tables");
    // The picture: an image whose data is the SVG, with the same words as alternative.
    let answer = kernel.run("x←0.5×⍳100000\n'<script>'⍳'a'\n+/x×x\n]dag");
    let data = answer.all("display_data").pop().expect("a picture")["data"].clone();
    let form = data["text/html"].as_str().expect("HTML");
    survives(form);
    let (tag, attributes) = tags(form).remove(0);
    let of = |name: &str| attributes.iter().find(|a| a.0 == name).map_or("", |a| a.1.as_str());
    assert!(tag == "img" && !of("alt").trim().is_empty());
    let svg = decoded(of("src").split_once("base64,").expect("data").1);
    assert!(svg.starts_with("<svg "), "{svg}");
    for word in [
        "<script",
        "<foreignObject",
        "<style",
        "<image",
        "href",
        " on",
        "url(",
        "@import",
        "<!ENTITY",
    ] {
        assert!(!svg.contains(word), "{word} in {svg}");
    }
    assert_eq!(svg.matches("http").count(), 1, "the namespace alone");
    assert!(svg.matches('<').count() == svg.matches('>').count(), "no bare bracket");
}

//! A session's bundles as Jupyter's.

use aplomb_ground::protocol::{MimeBundle, TEXT};
use jupyter_protocol::{Media, MediaType};
use serde_json::Value;

/// JSON types become JSON values; plain text loses the end of its last line.
pub fn media(bundle: MimeBundle) -> Media {
    let value = |kind: &str, text: String| match serde_json::from_str(&text) {
        Ok(json) if kind.ends_with("json") => json,
        _ if kind == TEXT => Value::String(text.strip_suffix('\n').unwrap_or(&text).into()),
        _ => Value::String(text),
    };
    let content = bundle.into_iter().map(|(kind, text)| {
        let value = value(&kind, text);
        MediaType::Other((kind, value))
    });
    Media { content: content.collect() }
}

pub fn plain(text: impl Into<String>) -> Media {
    Media { content: vec![MediaType::Plain(text.into())] }
}

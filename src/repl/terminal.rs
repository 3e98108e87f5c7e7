//! Pictures in a terminal that draws them, by the protocol of kitty (also WezTerm's, Ghostty's and
//! Konsole's): base64 of a PNG in pieces.

use crate::front::colours;

/// Bytes of a piece.
const PIECE: usize = 4_096;

/// Whether standard output is a terminal that draws pictures. By its name: a question would be
/// answered into what is typed.
pub fn draws() -> bool {
    let is = |name: &str, words: &[&str]| {
        std::env::var(name).is_ok_and(|value| words.iter().any(|w| value.contains(w)))
    };
    // What stands between, as tmux, keeps pictures back.
    let bare = std::env::var_os("TMUX").is_none() && std::env::var_os("STY").is_none();
    let known = is("TERM", &["kitty", "ghostty"]) || is("TERM_PROGRAM", &["WezTerm", "ghostty"]);
    bare && known && colours(&std::io::stdout())
}

/// The words by which a terminal shows a PNG, of which this is the base64.
pub fn kitty(png: &str) -> String {
    let pieces: Vec<&[u8]> = png.as_bytes().chunks(PIECE).collect();
    let mut out = String::new();
    for (k, piece) in pieces.iter().enumerate() {
        let more = u8::from(k + 1 < pieces.len());
        let head = if k == 0 { "a=T,f=100,q=2," } else { "" };
        out += &format!("\x1b_G{head}m={more};{}\x1b\\", String::from_utf8_lossy(piece));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_goes_in_pieces_of_which_the_last_says_so() {
        assert_eq!(kitty("QUJD"), "\x1b_Ga=T,f=100,q=2,m=0;QUJD\x1b\\");
        let long = kitty(&"A".repeat(2 * PIECE + 4));
        let says = |text: &str| long.matches(text).count();
        assert_eq!((says("m=1;"), says("m=0;AAAA\x1b"), says("f=100")), (2, 1, 1));
    }
}

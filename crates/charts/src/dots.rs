//! A terminal as a place to draw: each character has two by four dots, or is a letter.

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use std::convert::Infallible;

/// Dots of a character.
pub const ACROSS: usize = 2;
pub const DOWN: usize = 4;
/// The bit of each dot of a braille character, by row.
const BITS: [[u32; ACROSS]; DOWN] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
/// The order in which the dots of a field of four by four are drawn as it gets denser.
const ORDER: [[u8; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
const BLANK: u32 = 0x2800;

/// The end of a terminal's colours.
pub const PLAIN: &str = "\u{1b}[0m";

/// A terminal's colour of letters.
pub fn foreground((r, g, b): (u8, u8, u8)) -> String {
    format!("\u{1b}[38;2;{r};{g};{b}m")
}

pub struct Dots {
    columns: usize,
    dots: Vec<u32>,
    letters: Vec<Option<char>>,
    /// The colour of what was drawn last in each character.
    colours: Vec<(u8, u8, u8)>,
}

impl Dots {
    pub fn new(columns: usize, rows: usize) -> Dots {
        let n = columns * rows;
        Dots {
            columns,
            dots: vec![0; n],
            letters: vec![None; n],
            colours: (0..n).map(|_| (0, 0, 0)).collect(),
        }
    }

    pub fn text(&self, coloured: bool) -> String {
        let shown = |(dots, letter): (&u32, &Option<char>)| match (letter, dots) {
            (Some(c), _) => *c,
            (None, 0) => ' ',
            (None, dots) => char::from_u32(BLANK + dots).map_or(' ', |c| c),
        };
        let all: Vec<char> = self.dots.iter().zip(&self.letters).map(shown).collect();
        let mut out = String::new();
        for (row, colours) in all.chunks(self.columns).zip(self.colours.chunks(self.columns)) {
            let long = row.iter().rposition(|c| *c != ' ').map_or(0, |last| last + 1);
            let mut now = None;
            for (c, colour) in row.iter().zip(colours).take(long) {
                let is_dots = ('\u{2801}'..='\u{28ff}').contains(c);
                let wanted = Some(*colour).filter(|_| coloured && is_dots);
                if *c != ' ' && wanted != now {
                    out += &wanted.map_or(PLAIN.into(), foreground);
                    now = wanted;
                }
                out.push(*c);
            }
            out += if now.is_some() { PLAIN } else { "" };
            out.push('\n');
        }
        out
    }

    /// The character that a dot belongs to.
    fn at(&self, (x, y): BackendCoord) -> Option<usize> {
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        let (column, row) = (x / ACROSS, y / DOWN);
        (column < self.columns)
            .then_some(row * self.columns + column)
            .filter(|k| *k < self.dots.len())
    }
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for &mut Dots {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        let rows = self.dots.len() / self.columns.max(1);
        ((self.columns * ACROSS) as u32, (rows * DOWN) as u32)
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, colour: BackendColor) -> Drawn {
        if let Some(k) = self.at(point).filter(|_| colour.alpha > 0.0) {
            self.dots[k] |= BITS[point.1 as usize % DOWN][point.0 as usize % ACROSS];
            self.colours[k] = colour.rgb;
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Drawn {
        let width = (text.chars().count() * ACROSS) as i32;
        let x = match style.anchor().h_pos {
            HPos::Left => x,
            HPos::Center => x - width / 2,
            HPos::Right => x - width,
        };
        let y = match style.anchor().v_pos {
            VPos::Top | VPos::Center => y,
            VPos::Bottom => y - DOWN as i32,
        };
        for (k, letter) in text.chars().enumerate() {
            if let Some(at) = self.at((x + (k * ACROSS) as i32, y)) {
                self.letters[at] = Some(letter);
            }
        }
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        _style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok(((text.chars().count() * ACROSS) as u32, DOWN as u32))
    }

    /// An area is filled by its dots, the denser the more it covers; letters below it stay.
    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let colour = style.color();
        let (left, right) = (from.0.min(to.0), from.0.max(to.0));
        let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
        for y in top..=bottom {
            let is_edge = fill || y == top || y == bottom;
            let step = if is_edge { 1 } else { (right - left).max(1) as usize };
            for x in (left..=right).step_by(step) {
                let turn = ORDER[y.rem_euclid(4) as usize][x.rem_euclid(4) as usize];
                if colour.alpha * 16.0 > f64::from(turn) + 0.5 {
                    self.draw_pixel((x, y), colour)?;
                }
            }
        }
        Ok(())
    }
}

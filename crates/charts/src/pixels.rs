//! An array as an image: a matrix is grey; a last axis of 3 or 4 is red, green, blue and how much
//! of them; a first axis before those is the frames of an animation.
//!
//! Numbers are 0 to 1, or 0 to 255 where one is above 1; where one lies outside, the least is black
//! and the greatest white. Out: PNG, and half-blocks in a terminal.

use crate::dots::{PLAIN, foreground};
use crate::draw::number;
use png::{BitDepth, ColorType, Encoder};

/// Points of all frames together: an image of absurd size is refused before memory is asked for.
const MOST: usize = 1 << 26;
/// A frame of an animation lasts so many hundredths of a second.
const PACE: u16 = 10;

/// An image, or the frames of an animation: points of 1, 3 or 4 bytes, row by row.
pub struct Image {
    height: usize,
    width: usize,
    /// Bytes of a point: 1, 3 or 4.
    depth: usize,
    frames: Vec<Vec<u8>>,
}

impl Image {
    /// The frames, height, width and bytes of a point that an array of this shape has, which is
    /// known before its numbers are. Errors: a sentence.
    pub fn extents(shape: &[usize]) -> Result<[usize; 4], String> {
        let colours = |n: &usize| matches!(n, 3 | 4);
        let found = match shape {
            [height, width] => [1, *height, *width, 1],
            [height, width, n] if colours(n) => [1, *height, *width, *n],
            [frames, height, width] => [*frames, *height, *width, 1],
            [frames, height, width, n] if colours(n) => [*frames, *height, *width, *n],
            _ => {
                return Err("an image is a matrix, or has a last axis of 3 or 4 colours, or a \
                            first one of frames"
                    .into());
            }
        };
        match shape.iter().map(|n| *n as u128).product::<u128>() {
            0 => Err("an image has at least one point".into()),
            n if n > MOST as u128 => {
                Err(format!("an image has at most {MOST} numbers; these are {n}"))
            }
            _ => Ok(found),
        }
    }

    /// Errors: a sentence.
    pub fn new(shape: &[usize], numbers: &[f64]) -> Result<Image, String> {
        let [frames, height, width, depth] = Image::extents(shape)?;
        if let Some(v) = numbers.iter().find(|v| !v.is_finite()) {
            return Err(format!("{} is no brightness", number(*v, false)));
        }
        let both = |(least, most): (f64, f64), v: &f64| (least.min(*v), most.max(*v));
        let (least, most) = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), both);
        let (black, white) = match (least, most) {
            _ if least >= 0.0 && most <= 1.0 => (0.0, 1.0),
            _ if least >= 0.0 && most <= 255.0 => (0.0, 255.0),
            _ if least == most => (least, least + 1.0),
            _ => (least, most),
        };
        // Halves: the range of two finite numbers may be none.
        let part = |v: &f64| (v / 2.0 - black / 2.0) / (white / 2.0 - black / 2.0);
        let bytes: Vec<u8> = numbers.iter().map(|v| (part(v) * 255.0).round() as u8).collect();
        let frames = bytes.chunks(bytes.len() / frames.max(1)).map(<[u8]>::to_vec).collect();
        Ok(Image { height, width, depth, frames })
    }

    /// Errors: a sentence.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        let says = |e: png::EncodingError| e.to_string();
        let mut out = Vec::new();
        let mut encoder = Encoder::new(&mut out, self.width as u32, self.height as u32);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_color(match self.depth {
            1 => ColorType::Grayscale,
            3 => ColorType::Rgb,
            _ => ColorType::Rgba,
        });
        if self.frames.len() > 1 {
            encoder.set_animated(self.frames.len() as u32, 0).map_err(says)?;
            encoder.set_frame_delay(PACE, 100).map_err(says)?;
        }
        let mut writer = encoder.write_header().map_err(says)?;
        self.frames.iter().try_for_each(|f| writer.write_image_data(f).map_err(says))?;
        writer.finish().map_err(says)?;
        Ok(out)
    }

    /// The brightness of a point of the first frame, 0 to 255.
    fn light(&self, row: usize, column: usize) -> f64 {
        let at = (row * self.width + column) * self.depth;
        let point = &self.frames[0][at..at + self.depth];
        match point {
            [grey] => f64::from(*grey),
            [r, g, b, rest @ ..] => {
                let light = 0.299 * f64::from(*r) + 0.587 * f64::from(*g) + 0.114 * f64::from(*b);
                light * rest.first().map_or(1.0, |a| f64::from(*a) / 255.0)
            }
            _ => 0.0,
        }
    }

    /// Red, green and blue of a point of the first frame, as bright as it is opaque.
    fn colour(&self, row: usize, column: usize) -> [f64; 3] {
        let at = (row * self.width + column) * self.depth;
        match &self.frames[0][at..at + self.depth] {
            [r, g, b] => [r, g, b].map(|c| f64::from(*c)),
            [r, g, b, a] => [r, g, b].map(|c| f64::from(*c) * f64::from(*a) / 255.0),
            grey => [grey.first().map_or(0.0, |c| f64::from(*c)); 3],
        }
    }

    /// The points that a terminal of so many columns has for one of its own, across and down.
    fn step(&self, columns: usize) -> usize {
        self.width.div_ceil(columns.max(1)).max(1)
    }

    /// The mean of what is asked of the points in a field; None: it lies outside.
    fn mean<const N: usize>(
        &self,
        (r, c): (usize, usize),
        step: usize,
        of: impl Fn(usize, usize) -> [f64; N],
    ) -> Option<[f64; N]> {
        let (mut n, mut sum) = (0.0, [0.0; N]);
        for y in r * step..((r + 1) * step).min(self.height) {
            for x in c * step..((c + 1) * step).min(self.width) {
                n += 1.0;
                sum.iter_mut().zip(of(y, x)).for_each(|(sum, v)| *sum += v);
            }
        }
        (n > 0.0).then(|| sum.map(|v| v / n))
    }

    /// The first frame in characters, two points above each other in each; what is wider than
    /// `columns` is shown by means.
    pub fn text(&self, columns: usize) -> String {
        let step = self.step(columns);
        let mean = |r: usize, c: usize| {
            self.mean((r, c), step, |y, x| [self.light(y, x)]).map_or(0.0, |[light]| light)
        };
        let (rows, across) = (self.height.div_ceil(step), self.width.div_ceil(step));
        let line = |r: usize| {
            let cell = |c: usize| glyph(mean(r, c), mean(r + 1, c));
            (0..across).map(cell).collect::<String>().trim_end().to_string() + "\n"
        };
        (0..rows).step_by(2).map(line).collect()
    }

    /// The same in the colours of a terminal that has all of them.
    pub fn coloured(&self, columns: usize) -> String {
        let step = self.step(columns);
        let mean = |r: usize, c: usize| {
            let colour = self.mean((r, c), step, |y, x| self.colour(y, x));
            colour.map(|rgb| rgb.map(|v| v.round() as u8))
        };
        let (rows, across) = (self.height.div_ceil(step), self.width.div_ceil(step));
        let mut out = String::new();
        for r in (0..rows).step_by(2) {
            let mut now = None;
            for c in 0..across {
                let pair = (mean(r, c), mean(r + 1, c));
                if now.replace(pair) != Some(pair) {
                    let [r, g, b] = pair.0.map_or([0; 3], |rgb| rgb);
                    out += &foreground((r, g, b));
                    out += &pair.1.map_or("\u{1b}[49m".into(), |[r, g, b]| {
                        format!("\u{1b}[48;2;{r};{g};{b}m")
                    });
                }
                out.push('▀');
            }
            out += &format!("{PLAIN}\n");
        }
        out
    }
}

/// A character whose halves are as bright as two points.
fn glyph(above: f64, below: f64) -> char {
    match (above >= 128.0, below >= 128.0) {
        (true, true) => '█',
        (true, false) => '▀',
        (false, true) => '▄',
        (false, false) => [' ', '░', '▒'][(((above + below) / 2.0 / 43.0) as usize).min(2)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (png::OutputInfo, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("PNG");
        let mut out = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut out).expect("a frame");
        (info, out)
    }

    #[test]
    fn a_png_has_the_points_that_were_given() {
        let grey = Image::new(&[2, 2], &[0.0, 1.0, 0.5, 0.0]).expect("an image");
        let (info, points) = read(&grey.png().expect("PNG"));
        assert_eq!((info.width, info.height, points), (2, 2, vec![0, 255, 128, 0]));
        let colours: Vec<f64> = (0..12).map(f64::from).collect();
        let (info, points) =
            read(&Image::new(&[2, 2, 3], &colours).expect("RGB").png().expect("PNG"));
        assert_eq!(info.color_type, ColorType::Rgb);
        assert_eq!(points, (0..12).collect::<Vec<u8>>());
        let film = Image::new(&[3, 2, 2, 4], &[255.0; 48]).expect("frames").png().expect("PNG");
        let reader = png::Decoder::new(std::io::Cursor::new(&film)).read_info().expect("PNG");
        assert_eq!(reader.info().animation_control().map(|a| a.num_frames), Some(3));
    }

    #[test]
    fn what_is_no_image_is_refused_in_words() {
        let says = |shape: &[usize], v: &[f64]| Image::new(shape, v).err().expect("refused");
        assert!(says(&[3], &[0.0; 3]).contains("an image is"));
        assert!(says(&[0, 3], &[]).contains("at least one point"));
        assert!(says(&[1, 1], &[f64::INFINITY]).contains("no brightness"));
        assert!(says(&[1, 1], &[f64::NAN]).contains("no brightness"));
    }

    #[test]
    fn numbers_of_any_range_go_from_black_to_white() {
        let points = |v: &[f64]| {
            read(&Image::new(&[1, v.len()], v).expect("an image").png().expect("PNG")).1
        };
        assert_eq!(points(&[1.0, 256.0]), [0, 255]);
        assert_eq!(points(&[-1.0, 0.0, 1.0]), [0, 128, 255]);
        assert_eq!(points(&[-1e308, 1e308, 0.0]), [0, 255, 128]);
        assert_eq!(points(&[300.0, 300.0]), [0, 0]);
        assert_eq!(points(&[7.0, 255.0]), [7, 255]);
    }

    #[test]
    fn halves_of_characters_have_the_colours_of_points() {
        let red_on_blue = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let shown = Image::new(&[2, 1, 3], &red_on_blue).expect("an image").coloured(80);
        assert_eq!(shown, "\u{1b}[38;2;255;0;0m\u{1b}[48;2;0;0;255m▀\u{1b}[0m\n");
    }

    #[test]
    fn halves_of_characters_are_points() {
        let shown =
            Image::new(&[2, 3], &[1.0, 0.0, 1.0, 0.0, 1.0, 1.0]).expect("an image").text(80);
        assert_eq!(shown, "▀▄█\n");
        assert_eq!(
            Image::new(&[100, 300], &[1.0; 30_000]).expect("an image").text(60).lines().count(),
            10
        );
    }
}

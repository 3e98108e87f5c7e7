//! Pictures: PNG, JPEG, BMP and PGM in, PNG out.
//!
//! | in the file | becomes |
//! |---|---|
//! | grey | rows and columns of whole numbers, 0 to 255 |
//! | colours | planes of them: red, green, blue, and alpha where there is one; grey with alpha is two |
//! | 16 bits a sample | the same, 0 to 65535 |
//!
//! Out goes what comes in: an array of rank 2, or 1 to 4 planes, of numbers from 0 to 255, rounded.

use super::{malformed, read_file};
use aplomb_ground::error::{Error, Kind, Result, domain, ws_full};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, Buf, DType};
use image::codecs::png::PngEncoder;
use image::{DynamicImage, ExtendedColorType, ImageEncoder, ImageError, ImageReader, Limits};
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

/// Colours by the number of planes, from 1.
const PLANES: [ExtendedColorType; 4] = [
    ExtendedColorType::L8,
    ExtendedColorType::La8,
    ExtendedColorType::Rgb8,
    ExtendedColorType::Rgba8,
];

/// Errors: FILE NAME, FILE ACCESS; DOMAIN for what is no picture, or a broken one; WS FULL.
pub fn read_picture(path: &Path, budget: &Budget) -> Result<Array> {
    let bytes = read_file(path, budget)?;
    let picture = decoded(path, &bytes, budget)?;
    let color = picture.color();
    let planes = usize::from(color.channel_count());
    let depth = usize::from(color.bytes_per_pixel()) / planes;
    let sample: fn(&[u8]) -> f64 = match depth {
        1 => |b| f64::from(b[0]),
        2 => |b| f64::from(u16::from_ne_bytes([b[0], b[1]])),
        _ => return Err(malformed(path, "its samples have more than 16 bits")),
    };
    let (wide, rows) = (picture.width() as usize, picture.height() as usize);
    let _charge = budget.charge_elements(wide * rows * planes, 8)?;
    let mut items = budget.room(wide * rows * planes)?;
    for plane in 0..planes {
        let all = picture.as_bytes().chunks_exact(depth * planes);
        items.extend(all.map(|pixel| sample(&pixel[depth * plane..])));
    }
    let shape = if planes == 1 { vec![rows, wide] } else { vec![planes, rows, wide] };
    let dtype = if depth == 1 { DType::I16 } else { DType::I32 };
    Ok(Array::dense(shape.as_slice(), Arc::new(Buf::stored(&items, dtype, budget)?)))
}

fn decoded(path: &Path, bytes: &[u8], budget: &Budget) -> Result<DynamicImage> {
    let wrong = |e: ImageError| match e {
        ImageError::Limits(_) => ws_full(bytes.len() as u64, budget.free()),
        ImageError::Unsupported(_) => {
            malformed(path, "PNG, JPEG, BMP and PGM pictures can be read; this is none of them")
        }
        broken => malformed(path, format!("this picture is broken: {broken}")),
    };
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|e| wrong(ImageError::IoError(e)))?;
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(budget.free());
    reader.limits(limits);
    reader.decode().map_err(wrong)
}

/// A picture's bytes as PNG. Errors: RANK, LENGTH, DOMAIN for what is no picture; WS FULL.
pub fn png(array: &Array, budget: &Budget) -> Result<Vec<u8>> {
    let (planes, rows, wide) = match *array.shape() {
        [rows, wide] => (1, rows, wide),
        [planes, rows, wide] => (planes, rows, wide),
        _ => {
            let says = "a picture is rows and columns, or planes of them";
            return Err(Error::new(Kind::Rank, says));
        }
    };
    let color = planes.checked_sub(1).and_then(|k| PLANES.get(k)).ok_or_else(|| {
        Error::new(Kind::Length, format!("a picture has 1 to 4 planes, not {planes}"))
    })?;
    let extent = |n: usize| u32::try_from(n).ok().filter(|n| *n > 0);
    let (Some(height), Some(width)) = (extent(rows), extent(wide)) else {
        return Err(domain(format!("a picture of {rows} rows and {wide} columns has no pixel")));
    };
    let numbers = array.settled().to_numbers(budget)?;
    let numbers = numbers.ok_or_else(|| domain("pixels are numbers"))?;
    let _charge = budget.charge_elements(numbers.len(), 9)?;
    let mut pixels = budget.room(numbers.len())?;
    for at in 0..rows * wide {
        for plane in 0..planes {
            let x = numbers[plane * rows * wide + at];
            if !(0.0..=255.0).contains(&x) {
                return Err(domain(format!("a pixel is {x}; pixels are 0 to 255")));
            }
            pixels.push(x.round() as u8);
        }
    }
    let mut out = Vec::new();
    let done = PngEncoder::new(&mut out).write_image(&pixels, width, height, *color);
    done.map_err(|e| domain(format!("this picture cannot be a PNG: {e}")))?;
    Ok(out)
}

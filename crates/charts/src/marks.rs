//! Marks as elements of plotters: lines, dots and areas in the colours of their series, or in its
//! dashes and shapes where a theme has no colours.

use crate::draw::Look;
use crate::shape::Mark;
use crate::theme::{Colours, along};
use aplomb_ground::chart::Kind;
use plotters::element::{DashedPathElement, Drawable, PointCollection};
use plotters::style::{Color, RGBColor, ShapeStyle};
use plotters_backend::{BackendCoord, DrawingBackend, DrawingErrorKind};

/// Lengths of a dash and of the gap behind it, of series in turn, in points of a page; no gap: one
/// line.
const DASHES: [(i32, i32); 6] = [(1, 0), (8, 5), (2, 4), (16, 5), (5, 10), (3, 8)];
/// The forms of points, of series in turn: how far they reach, and whether they are filled.
const SHAPES: [Form; 6] = [
    Form::Circle(2, true),
    Form::Circle(3, false),
    Form::Cross(3),
    Form::Triangle(4, true),
    Form::Triangle(4, false),
    Form::Circle(4, true),
];
/// Areas that may have edges of their own; of more they would be all that is seen.
const EDGED: usize = 200;

type Place = (f64, f64);

/// The form of an element.
#[derive(Clone, Copy)]
enum Form {
    /// A line through its points, in dashes where there is a gap.
    Line(i32, i32),
    Circle(i32, bool),
    Cross(i32),
    Triangle(i32, bool),
    /// Between two corners.
    Area {
        filled: bool,
    },
}

/// A thing to be drawn, at places of the plane or points of the picture.
pub struct Element<C> {
    points: Vec<C>,
    form: Form,
    style: ShapeStyle,
}

impl<'a, C: 'a> PointCollection<'a, C> for &'a Element<C> {
    type Point = &'a C;
    type IntoIter = &'a [C];

    fn point_iter(self) -> &'a [C] {
        &self.points
    }
}

impl<C, B: DrawingBackend> Drawable<B> for Element<C> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        mut points: I,
        backend: &mut B,
        size: (u32, u32),
    ) -> Result<(), DrawingErrorKind<B::ErrorType>> {
        let style = &self.style;
        match self.form {
            Form::Line(_, 0) => backend.draw_path(points, style),
            Form::Line(dash, gap) => {
                let none = std::iter::empty::<BackendCoord>();
                DashedPathElement::new(none, dash, gap, *style).draw(points, backend, size)
            }
            Form::Area { filled } => match (points.next(), points.next()) {
                (Some(a), Some(b)) => {
                    let (low, high) = ((a.0.min(b.0), a.1.min(b.1)), (a.0.max(b.0), a.1.max(b.1)));
                    backend.draw_rect(low, high, style, filled)
                }
                _ => Ok(()),
            },
            Form::Circle(radius, filled) => {
                points.try_for_each(|at| backend.draw_circle(at, radius as u32, style, filled))
            }
            Form::Cross(n) => points.try_for_each(|(x, y)| {
                backend.draw_line((x - n, y - n), (x + n, y + n), style)?;
                backend.draw_line((x - n, y + n), (x + n, y - n), style)
            }),
            Form::Triangle(n, filled) => points.try_for_each(|(x, y)| {
                let corners = [(x, y - n), (x - n, y + n), (x + n, y + n), (x, y - n)];
                match filled {
                    true => backend.fill_polygon(corners, style),
                    false => backend.draw_path(corners, style),
                }
            }),
        }
    }
}

/// The elements of a series, the k-th.
pub fn elements<'a>(
    marks: &'a [Mark],
    k: usize,
    colours: &Colours,
    look: &Look,
) -> impl Iterator<Item = Element<Place>> + use<'a> {
    let colour = colours.series[k % colours.series.len()];
    let line = if colours.patterns { colours.ink } else { colour };
    let edged = colours.patterns && !look.dots && marks.len() <= EDGED;
    let dashes = if colours.patterns { dashes(k, look.dots) } else { Form::Line(1, 0) };
    let dot = match colours.patterns && !look.dots {
        true => SHAPES[k % SHAPES.len()],
        false => Form::Circle(look.dot, true),
    };
    let fill = match (colours.patterns, look.dots) {
        (true, true) => line.filled(),
        (true, false) => colour.filled(),
        (false, _) => colour.mix(look.cover).filled(),
    };
    let area = Form::Area { filled: true };
    let (shades, levels, ink) = (colours.shades, colours.levels, colours.ink);
    let greys = colours.patterns && look.dots;
    let one = move |mark: &Mark| match mark {
        Mark::Line(points) => {
            [Some(Element { points: points.clone(), form: dashes, style: thin(line) }), None]
        }
        Mark::Dot(x, y) => {
            let style = if filled(dot) { line.filled() } else { thin(line) };
            [Some(Element { points: vec![(*x, *y)], form: dot, style }), None]
        }
        Mark::Area(a, b) => {
            let edge = Form::Area { filled: false };
            let edge = Element { points: vec![*a, *b], form: edge, style: thin(line) };
            let inside = Element { points: vec![*a, *b], form: area, style: fill };
            [Some(inside), Some(edge).filter(|_| edged)]
        }
        Mark::Shade(a, b, part) => {
            let grey = || ink.mix(*part).filled();
            let style = if greys { grey() } else { along(&shades, *part).filled() };
            [Some(Element { points: vec![*a, *b], form: area, style }), None]
        }
        Mark::Level(points, part) => {
            let style = thin(along(&levels, *part));
            [Some(Element { points: points.clone(), form: Form::Line(1, 0), style }), None]
        }
    };
    marks.iter().flat_map(one).flatten()
}

fn thin(colour: RGBColor) -> ShapeStyle {
    colour.stroke_width(1)
}

/// Whether a form is filled.
fn filled(form: Form) -> bool {
    match form {
        Form::Circle(_, filled) | Form::Triangle(_, filled) | Form::Area { filled } => filled,
        Form::Line(..) | Form::Cross(_) => false,
    }
}

/// The dashes of a series; `dots`: of a terminal, one of which is some points of a page.
fn dashes(k: usize, dots: bool) -> Form {
    let (dash, gap) = DASHES[k % DASHES.len()];
    let length = |points: i32| if dots { (points + 1) / 2 } else { points };
    Form::Line(length(dash), length(gap))
}

/// Points of a page that a key takes, and dots of a terminal.
pub fn key_width(look: &Look) -> i32 {
    if look.dots { 8 } else { 20 }
}

/// The key of a series in the legend, whose left middle is at a place.
pub fn key(
    kind: Kind,
    (x, y): BackendCoord,
    k: usize,
    colours: &Colours,
    look: &Look,
) -> Element<BackendCoord> {
    let colour = colours.series[k % colours.series.len()];
    let right = x + key_width(look);
    let (points, form, style) = match kind {
        Kind::Lines if colours.patterns => {
            (vec![(x, y), (right, y)], dashes(k, look.dots), thin(colours.ink))
        }
        Kind::Points if colours.patterns && !look.dots => {
            let form = SHAPES[k % SHAPES.len()];
            let ink = colours.ink;
            (vec![(x + 8, y)], form, if filled(form) { ink.filled() } else { thin(ink) })
        }
        _ => {
            let (from, high) = if look.dots { (x, 1) } else { (x + 6, 3) };
            (
                vec![(from, y - high), (right, y + high)],
                Form::Area { filled: true },
                colour.filled(),
            )
        }
    };
    Element { points, form, style }
}

//! The themes of a chart: the ground it stands on, its ink, and how series are told apart on it.
//!
//! The colours of each are held to its ground by a test of contrast, so one theme more is a row
//! here and a name in `ground`.

use aplomb_ground::chart::{Kind, Theme};
use plotters::style::RGBColor;

/// The colours of a theme.
pub struct Colours {
    /// None: the page's own, dark or light.
    pub ground: Option<RGBColor>,
    /// Axes, numbers and words.
    pub ink: RGBColor,
    /// Series in turn.
    pub series: [RGBColor; 6],
    /// Areas from the least to the greatest: as bright as they are great (on paper as dark), also
    /// without colours.
    pub shades: [RGBColor; 4],
    /// Lines from the least to the greatest, which stand on the ground by themselves.
    pub levels: [RGBColor; 4],
    /// Series have dashes, marks and edges of their own, for paper without colours.
    pub patterns: bool,
}

const fn c(red: u8, green: u8, blue: u8) -> RGBColor {
    RGBColor(red, green, blue)
}

const BRIGHT: [RGBColor; 4] = [c(68, 1, 84), c(49, 104, 142), c(53, 183, 121), c(253, 231, 37)];

/// Neither a light nor a dark page swallows these.
const PAGE: Colours = Colours {
    ground: None,
    ink: c(118, 118, 118),
    series: [
        c(76, 139, 245),
        c(192, 122, 28),
        c(52, 162, 107),
        c(164, 91, 209),
        c(209, 85, 107),
        c(43, 155, 176),
    ],
    shades: BRIGHT,
    levels: [c(84, 118, 235), c(43, 155, 160), c(192, 128, 28), c(215, 85, 90)],
    patterns: false,
};

const LIGHT: Colours = Colours {
    ground: Some(c(255, 255, 255)),
    ink: c(70, 74, 82),
    series: [
        c(31, 95, 191),
        c(154, 91, 0),
        c(27, 122, 67),
        c(123, 63, 176),
        c(184, 50, 79),
        c(14, 111, 134),
    ],
    shades: BRIGHT,
    levels: [c(46, 74, 190), c(0, 122, 125), c(150, 96, 0), c(186, 44, 52)],
    patterns: false,
};

const DARK: Colours = Colours {
    ground: Some(c(20, 22, 26)),
    ink: c(198, 202, 210),
    series: [
        c(122, 170, 255),
        c(240, 180, 90),
        c(100, 210, 150),
        c(205, 150, 240),
        c(250, 130, 150),
        c(95, 205, 225),
    ],
    shades: BRIGHT,
    levels: [c(120, 150, 255), c(70, 195, 195), c(238, 192, 85), c(255, 130, 125)],
    patterns: false,
};

const PRINT: Colours = Colours {
    ground: Some(c(255, 255, 255)),
    ink: c(0, 0, 0),
    series: [
        c(60, 60, 60),
        c(190, 190, 190),
        c(120, 120, 120),
        c(225, 225, 225),
        c(90, 90, 90),
        c(155, 155, 155),
    ],
    shades: [c(245, 245, 245), c(180, 180, 180), c(110, 110, 110), c(30, 30, 30)],
    levels: [c(145, 145, 145), c(105, 105, 105), c(60, 60, 60), c(0, 0, 0)],
    patterns: true,
};

/// The colours of a theme.
pub fn colours(theme: Theme) -> &'static Colours {
    match theme {
        Theme::Page => &PAGE,
        Theme::Light => &LIGHT,
        Theme::Dark => &DARK,
        Theme::Print => &PRINT,
    }
}

/// The scale of a field of some kind.
pub fn scale(colours: &Colours, kind: Kind) -> &[RGBColor; 4] {
    match kind {
        Kind::Contour => &colours.levels,
        _ => &colours.shades,
    }
}

/// A colour along a scale, 0 to 1.
pub fn along(scale: &[RGBColor; 4], part: f64) -> RGBColor {
    let at = part.clamp(0.0, 1.0) * (scale.len() - 1) as f64;
    let (low, high) = (scale[at.floor() as usize], scale[at.ceil() as usize]);
    let mix = |a: u8, b: u8| {
        let (a, b) = (f64::from(a), f64::from(b));
        (a + (b - a) * at.fract()).round() as u8
    };
    RGBColor(mix(low.0, high.0), mix(low.1, high.1), mix(low.2, high.2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_ground::chart::THEMES;

    /// The grounds of pages: those of JupyterLab's two themes.
    const PAGES: [RGBColor; 2] = [c(255, 255, 255), c(17, 17, 17)];

    fn light(RGBColor(r, g, b): RGBColor) -> f64 {
        let linear = |v: u8| match f64::from(v) / 255.0 {
            v if v <= 0.03928 => v / 12.92,
            v => ((v + 0.055) / 1.055).powf(2.4),
        };
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    fn contrast(a: RGBColor, b: RGBColor) -> f64 {
        let (a, b) = (light(a), light(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_theme_can_be_read_on_its_ground() {
        for (name, theme) in THEMES {
            let of = colours(*theme);
            let grounds = of.ground.map_or(PAGES.to_vec(), |ground| vec![ground]);
            // One ink for two grounds lies between them.
            let least = if of.ground.is_some() { 4.5 } else { 4.1 };
            for ground in grounds {
                assert!(contrast(of.ink, ground) >= least, "{name}: ink on {ground:?}");
                let series = of.series.iter().filter(|_| !of.patterns);
                for colour in series.chain(&of.levels) {
                    assert!(contrast(*colour, ground) >= 2.9, "{name}: {colour:?} on {ground:?}");
                }
            }
            let steps: Vec<f64> =
                (0..=8).map(|k| light(along(&of.shades, k as f64 / 8.0))).collect();
            let rises = steps.windows(2).all(|w| w[0] < w[1]);
            let falls = steps.windows(2).all(|w| w[0] > w[1]);
            assert!(if of.patterns { falls } else { rises }, "{name}: {steps:?}");
        }
    }
}

//! A chart as data: what `⎕PLOT` asks for and `charts` draws.

/// The forms in which series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A line through the points of each series.
    Lines,
    /// A mark at each point.
    Points,
    /// A bar for each number.
    Bars,
    /// The number of values in each of some intervals.
    Histogram,
    /// Quartiles, and how far values go.
    Boxes,
    /// A matrix, a colour an item.
    Heat,
    /// A matrix of heights, by lines of one height.
    Contour,
}

/// By name.
pub const KINDS: &[(&str, Kind)] = &[
    ("lines", Kind::Lines),
    ("points", Kind::Points),
    ("bars", Kind::Bars),
    ("histogram", Kind::Histogram),
    ("boxes", Kind::Boxes),
    ("heat", Kind::Heat),
    ("contour", Kind::Contour),
];

/// The ground that a chart stands on, and how its series are told apart there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The page's own ground, whether it is dark or light.
    #[default]
    Page,
    /// A light ground of its own.
    Light,
    /// A dark ground of its own.
    Dark,
    /// Black on white: dashes, marks and greys instead of colours.
    Print,
}

/// By name; the first where none is named.
pub const THEMES: &[(&str, Theme)] = &[
    ("page", Theme::Page),
    ("light", Theme::Light),
    ("dark", Theme::Dark),
    ("print", Theme::Print),
];

/// Numbers that are drawn together, with their name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Empty: it has none, and stands in no legend.
    pub name: String,
    /// As many as `y`.
    pub x: Vec<f64>,
    /// Their heights.
    pub y: Vec<f64>,
}

/// A chart: what is drawn, and what stands around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The form of its series.
    pub kind: Kind,
    /// The words above it; empty: none.
    pub title: String,
    /// The words along the axes; empty: none.
    pub names: [String; 2],
    /// Whether an axis has the logarithms of its numbers.
    pub logs: [bool; 2],
    /// Whether the numbers along are seconds since 1970, which show as dates.
    pub dates: bool,
    /// Of a heat map each is a row.
    pub series: Vec<Series>,
    /// Points of a picture, across and down.
    pub size: [u32; 2],
    /// Ground and colours.
    pub theme: Theme,
}

//! The question of `]tune` to a device, and the answer for each text that was tried.

use aplomb_plans::kir::Tuning;

/// The way of a run with launches that have several texts of the same values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tune {
    /// Each as it comes (`--off tuning`).
    Off,
    /// The text that was found to be fastest, where somebody measured.
    #[default]
    Known,
    /// Measures them all, and keeps the fastest.
    Measure,
}

/// One text of a launch that was tried, or why none was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// Counted through all evaluations since the trials were taken.
    pub launch: usize,
    /// The launch's name.
    pub name: String,
    /// None: the launch has no other text, or was not measured.
    pub candidate: Option<Tuning>,
    /// 0 where nobody tells.
    pub registers: u32,
    /// Bytes that a thread spills.
    pub spills: u32,
    /// Resident threads, as a share of what a multiprocessor holds.
    pub occupancy: f32,
    /// The least of three runs, µs. None: it was not run.
    pub us: Option<f64>,
    /// Whether it is the text that the launch gets from now on.
    pub chosen: bool,
    /// The reason for which it was not run, or what is wrong with it; empty for the others.
    pub says: String,
}

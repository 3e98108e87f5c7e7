//! The way in which a request runs, and what it cost.

/// The way in which a session runs what it is given. A request that runs in another way gives the
/// old one back (`Session::looking`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Mode {
    /// Stories are kept.
    pub tracing: bool,
    /// Small arrays are recorded too, and so have stories.
    pub whole: bool,
    /// Recorded evaluations are compiled and not run.
    pub planning: bool,
    /// Launches are tuned.
    pub measuring: bool,
    /// The devices' estimates of launches are summed up.
    pub estimating: bool,
    /// Files stay as they are.
    pub holding: bool,
    /// Decisions are told with the plans of their other ways.
    pub pricing: bool,
    /// A statement that worked and gave no value has a story too.
    pub each: bool,
    /// Nothing of a run is kept, so that somebody can see what keeping it takes.
    pub forgetting: bool,
}

impl Mode {
    /// Everything is recorded and told.
    pub fn telling(self) -> Mode {
        Mode { tracing: true, whole: true, ..self }
    }
}

/// The cost of the last request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// From text to result, printing included.
    pub wall_ms: f64,
    /// Milliseconds from a graph to a plan.
    pub front_ms: f64,
    /// Milliseconds on the device.
    pub launch_ms: f64,
    /// The same as it was estimated; 0 where nobody asked.
    pub estimated_ms: f64,
    /// Milliseconds in which long texts of values that are shown were made.
    pub display_ms: f64,
    /// Launches that ran.
    pub launches: usize,
    /// Evaluations that were forced.
    pub evaluations: usize,
    /// The number of them that found their plan in the cache.
    pub known: usize,
    /// Bytes that the launches moved.
    pub bytes: u64,
    /// True where values said what some of them read: they moved so many at most.
    pub is_most: bool,
}

impl Spent {
    /// Both, one after the other.
    pub(super) fn and(&self, more: &Spent) -> Spent {
        Spent {
            wall_ms: self.wall_ms + more.wall_ms,
            front_ms: self.front_ms + more.front_ms,
            launch_ms: self.launch_ms + more.launch_ms,
            estimated_ms: self.estimated_ms + more.estimated_ms,
            display_ms: self.display_ms + more.display_ms,
            launches: self.launches + more.launches,
            evaluations: self.evaluations + more.evaluations,
            known: self.known + more.known,
            bytes: self.bytes + more.bytes,
            is_most: self.is_most || more.is_most,
        }
    }
}

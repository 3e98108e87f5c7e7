//! The way of a loop, in the output of the cell that runs it: a bar after a second, which is told
//! to be done when the cell ends.
//!
//! Shown where somebody looks: a client that could be asked for a line. A notebook that runs by
//! itself has the same output each time.

use super::interrupts::Interrupts;
use super::iopub::Publisher;
use super::mime;
use super::wire::Frame;
use aplomb_ground::limits::Gone;
use aplomb_ground::progress::{Looker, Step};
use aplomb_ground::protocol::{HTML, MimeBundle, TEXT};
use jupyter_protocol::{DisplayData, Transient, UpdateDisplayData};
use serde_json::Map;
use std::sync::{Mutex, MutexGuard};
use std::thread::sleep;
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(500);

#[derive(Default)]
struct Cell {
    parent: Option<Frame>,
    looker: Looker,
    /// The name of the bar, once there is one.
    bar: Option<String>,
    /// Bars of this process.
    bars: usize,
}

/// The bar of the cell that runs.
pub struct Progress {
    cell: Mutex<Cell>,
    begun: Instant,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress { cell: Mutex::default(), begun: Instant::now() }
    }
}

impl Progress {
    fn lock(&self) -> MutexGuard<'_, Cell> {
        match self.cell.lock() {
            Ok(all) => all,
            Err(broken) => broken.into_inner(),
        }
    }

    /// A cell begins; `looked_at`: somebody sits before it.
    pub fn begin(&self, parent: &[u8], looked_at: bool) {
        let mut cell = self.lock();
        cell.parent = looked_at.then(|| parent.to_vec());
        cell.looker = Looker::default();
    }

    /// The cell has ended: its bar is full, and says nothing that was measured.
    pub fn end(&self, iopub: &Publisher) {
        let mut cell = self.lock();
        let parent = cell.parent.take();
        if let (Some(id), Some(parent)) = (cell.bar.take(), parent) {
            let data = mime::media([(TEXT.to_string(), "done".to_string())].into());
            let transient = Transient { display_id: Some(id) };
            iopub.publish(&parent, UpdateDisplayData { data, metadata: Map::new(), transient });
        }
    }

    /// Looks now and then until nothing runs any more.
    pub fn watch(&self, iopub: &Publisher, interrupts: &Interrupts) {
        while !interrupts.is_over() {
            sleep(LOOK);
            self.look(iopub, interrupts.way());
        }
    }

    fn look(&self, iopub: &Publisher, way: Option<Gone>) {
        let now = self.begun.elapsed().as_secs_f64();
        let mut cell = self.lock();
        let Some(parent) = cell.parent.clone() else { return };
        let Some(step) = cell.looker.look(now, way) else { return };
        let data = mime::media(bundle(&step));
        match cell.bar.clone() {
            Some(id) => {
                let transient = Transient { display_id: Some(id) };
                iopub.publish(&parent, UpdateDisplayData { data, metadata: Map::new(), transient });
            }
            None => {
                cell.bars += 1;
                let id = format!("aplomb-progress-{}", cell.bars);
                cell.bar = Some(id.clone());
                let transient = Some(Transient { display_id: Some(id) });
                iopub.publish(&parent, DisplayData { data, metadata: Map::new(), transient });
            }
        }
    }
}

fn bundle(step: &Step) -> MimeBundle {
    let bar = step.part.map_or(String::new(), |part| {
        format!("<progress max=\"1\" value=\"{part:.3}\"></progress> ")
    });
    let html = format!("<div class=\"aplomb\">{bar}<small>{}</small></div>", step.says);
    [(TEXT.to_string(), step.line()), (HTML.to_string(), html)].into()
}

//! `aplomb tui --existing`: the panes over a notebook that runs. They look on; nothing there is
//! changed by it.

use super::{look, restore, show, usable};
use crate::front::{FAILED, Settings, USAGE};
use crate::signals;
use aplomb_ground::limits::Interrupt;
use aplomb_kernel::jupyter::{self, Allow, Follower};
use aplomb_viz::panes::Start;
use std::path::Path;
use std::time::Duration;

/// For the first answer of a kernel.
const WAIT: Duration = Duration::from_secs(5);

/// Exit code 2 where there is no terminal, no such file, or no kernel of Aplomb behind it.
pub fn run(settings: &Settings, connection: &Path) -> i32 {
    // A name that is none is told first: no terminal would help it.
    let found =
        jupyter::find(connection).and_then(|path| usable().map(|()| path).map_err(String::from));
    let follower = found.and_then(|path| open(&path));
    let follower = match follower {
        Ok(follower) => follower,
        Err(says) => {
            eprintln!("aplomb: {says}");
            return USAGE;
        }
    };
    let interrupt = Interrupt::default();
    signals::interrupt_keeps(interrupt.clone(), restore);
    let start = Start {
        name: "notebook".into(),
        look: look(settings.ascii),
        follows: true,
        ..Start::default()
    };
    match show(follower, interrupt, start) {
        Ok(_) => 0,
        Err(says) => {
            eprintln!("aplomb: {says}");
            FAILED
        }
    }
}

fn open(connection: &Path) -> Result<Follower, String> {
    // A client may go wherever the file says: it is the kernel that lets nobody in.
    let info = jupyter::read(connection, Allow { remote: true, unsigned: true })?;
    Follower::open(&info, WAIT)
}

//! `aplomb kernel`: Aplomb as a Jupyter kernel. The same session and the same commands, served by
//! `aplomb_kernel::jupyter`.

mod bench;

pub use bench::run as bench;

use crate::args::KernelCommand;
use crate::commands::Table;
use crate::front::{ALL_LINES, FAILED, Settings, USAGE, print};
use crate::signals;
use aplomb_ground::limits::Limits;
use aplomb_kernel::jupyter::install::{self, Place};
use aplomb_kernel::jupyter::{self, Allow};
use aplomb_kernel::session::Session;
use std::path::Path;
use std::rc::Rc;

pub fn run(settings: Settings, what: KernelCommand, said: &[String]) -> i32 {
    let installed = |place: &Place| installed(place, said);
    match what {
        KernelCommand::Install { sys_prefix: true, .. } => installed(&Place::Environment),
        KernelCommand::Install { prefix: Some(prefix), .. } => installed(&Place::Prefix(prefix)),
        KernelCommand::Install { .. } => installed(&Place::User),
        KernelCommand::Start { connection, allow_remote, allow_unsigned } => {
            start(settings, &connection, Allow { remote: allow_remote, unsigned: allow_unsigned })
        }
    }
}

fn installed(place: &Place, said: &[String]) -> i32 {
    match install::install(place, said) {
        Ok(folder) => {
            print(&format!(
                "APL (Aplomb) is in {}\nNow: jupyter lab, or jupyter console --kernel aplomb\n",
                folder.display()
            ));
            0
        }
        Err(says) => {
            eprintln!("aplomb kernel install: {says}");
            FAILED
        }
    }
}

fn start(mut settings: Settings, connection: &Path, allow: Allow) -> i32 {
    // A page scrolls, but not through half a million lines.
    if settings.limits.lines == ALL_LINES {
        settings.limits.lines = Limits::default().lines;
    }
    let info = match jupyter::read(connection, allow) {
        Ok(info) => info,
        Err(says) => {
            eprintln!("aplomb kernel: {says}");
            return USAGE;
        }
    };
    let session = move || {
        // Nobody reads standard output: its width is not the page's.
        let commands = Table { ascii: settings.ascii, prints: false };
        let mut session =
            Session::new(Rc::new(commands), settings.limits.clone(), settings.threads);
        settings.prepare(&mut session);
        session
    };
    let history = crate::front::state("cells");
    let ready = |stop: jupyter::Interrupts| signals::interrupts(move || stop.request());
    let served = jupyter::serve(&info, session, history, ready);
    served.unwrap_or_else(|says| {
        eprintln!("aplomb kernel: {says}");
        FAILED
    })
}

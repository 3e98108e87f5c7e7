//! `]tune`: which text of a launch a GPU runs fastest.

use super::{Call, tools};
use aplomb_devices::device::{Trial, Wanted};
use aplomb_ground::error::{Error, time};
use aplomb_ground::protocol::Event;
use aplomb_kernel::session::Session;
use aplomb_plans::kir::Tuning;
use aplomb_viz::tables;
use aplomb_viz::why::count;

const SWITCH: &str = "tuning";

/// An expression, or the last line; or the switch, or nothing that was found any more.
pub fn tune(call: &mut Call<'_>) -> Result<(), Error> {
    match call.args {
        "on" | "off" => return tools::set(call, &[SWITCH.into()], call.args == "on"),
        "forget" => {
            let forgotten = call.session.core().devices().find().map(|gpu| gpu.forget_choices());
            let says =
                forgotten.map_or_else(absent, |n| format!("{} forgotten", count(n, "choice")));
            call.show(&format!("{says}\n"));
            return Ok(());
        }
        _ => {}
    }
    if let Some(says) = nothing(call.session) {
        call.show(&format!("{says}\n"));
        return Ok(());
    }
    let text = call.expr();
    let (trials, _) = call.session.tune(text.as_deref())?;
    for notice in call.session.core().devices().take_notices() {
        call.sink.event(Event::Notice(notice));
    }
    call.show(&table(&trials));
    Ok(())
}

fn absent(says: &str) -> String {
    format!("nothing to tune: there is no GPU ({says}), and the CPU has one text for each launch")
}

/// Why nothing is tuned at all.
pub fn nothing(session: &mut Session) -> Option<String> {
    if session.options().is_off(SWITCH) {
        return Some("nothing is tuned: tuning is off (]on tuning)".into());
    }
    let devices = session.core().devices();
    if devices.wanted() == Wanted::Cpu {
        return Some(
            "nothing to tune: the CPU has one text for each launch (]device auto, ]device cuda)"
                .into(),
        );
    }
    devices.find().err().map(absent)
}

/// A row a text that was tried, under its launch.
pub fn table(trials: &[Trial]) -> String {
    if trials.is_empty() {
        return "nothing to tune: nothing was launched\n".into();
    }
    let head = ["launch", "text", "registers", "spills", "resident", "time", ""];
    let mut rows = vec![head.map(String::from).to_vec()];
    let mut before = None;
    for t in trials {
        let name = t.name.split_once(' ').map_or("", |(_, name)| name);
        let launch =
            if before == Some(t.launch) { String::new() } else { format!("k{} {name}", t.launch) };
        before = Some(t.launch);
        let Some(candidate) = &t.candidate else {
            rows.push([&launch, &t.says].map(String::clone).to_vec());
            continue;
        };
        let registers = if t.registers > 0 { t.registers.to_string() } else { "not told".into() };
        let says = if t.chosen { "chosen" } else { &t.says };
        rows.push(vec![
            launch,
            Tuning::says(candidate),
            registers,
            format!("{} bytes", t.spills),
            format!("{:.0} %", t.occupancy * 100.0),
            t.us.map_or("–".into(), time),
            says.into(),
        ]);
    }
    // What is no candidate is a sentence, which no column waits for.
    let (wide, _): (Vec<_>, Vec<_>) = rows.iter().cloned().partition(|r| r.len() > 2);
    let table = tables::grid(&wide, &[0, 1, 6]);
    let mut lines = table.lines().filter(|_| wide.len() > 1);
    let one = |r: &Vec<String>| {
        if r.len() > 2 { lines.next().map(String::from) } else { Some(r.join("  ")) }
    };
    rows.iter().filter_map(one).map(|line| line + "\n").collect()
}

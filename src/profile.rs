//! `aplomb profile` and `]profile`: a whole run by source line.

use crate::args::ProfileArgs;
use crate::commands::Call;
use crate::front::{FAILED, Printer, Settings, on_session, print, width};
use crate::views;
use aplomb_ground::error::{Error, internal, syntax};
use aplomb_ground::limits::Interrupt;
use aplomb_kernel::files;
use aplomb_viz::profile::{flame, table};

/// `aplomb profile`. What the program prints goes to standard error.
pub fn run(settings: Settings, args: ProfileArgs) -> i32 {
    let request = match views::request(args.input, false) {
        Ok(request) => request,
        Err(code) => return code,
    };
    on_session(settings, move |session| {
        let mut printer = Printer::aside();
        let ((), told) = session.profiled(|session| {
            session.handle(request, &mut printer);
            session.finish(&mut printer);
        });
        let Some(told) = told else { return FAILED };
        let text = match args.json {
            true => serde_json::to_string_pretty(&told).map(|json| json + "\n"),
            false => Ok(table(&told, width())),
        };
        let picture = args
            .out
            .map(|path| files::write_file(&path, flame(&told).as_bytes(), &Interrupt::default()));
        match (text, picture) {
            (Err(e), _) => views::failed(&e.to_string()),
            (_, Some(Err(e))) => views::failed(&e.parts().says),
            (Ok(text), _) => {
                print(&text);
                if printer.code() == 0 { 0 } else { printer.code().max(FAILED) }
            }
        }
    })
}

/// `]profile`.
pub fn command(call: &mut Call<'_>) -> Result<(), Error> {
    let (expr, file) = match call.args.trim().rsplit_once(' ') {
        Some((expr, file)) if file.ends_with(".svg") => (expr, Some(file)),
        _ => (call.args.trim(), None),
    };
    if expr.is_empty() {
        return Err(syntax("]profile needs an expression").hint("]profile +/÷⍳1e6"));
    }
    let (expr, shows) = (expr.to_string(), call.shows);
    let sink = &mut *call.sink;
    let (done, told) = call.session.profiled(|session| session.time_run(&expr, shows, sink));
    done?;
    let told = told.ok_or_else(|| internal("a run without a record"))?;
    if let Some(file) = file {
        call.write(file, flame(&told).as_bytes())?;
    }
    call.show(&table(&told, call.width()));
    Ok(())
}

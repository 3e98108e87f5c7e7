//! `aplomb diff`: two traces, programs or expressions; with `--fail-on` a gate for regressions.

use crate::args::{DiffArgs, Input};
use crate::front::{FAILED, Printer, Settings, USAGE, print, width};
use crate::told::{self, Asked, Which};
use crate::views::{self, Depth, recorded};
use aplomb_ground::span::first_line;
use aplomb_ground::trace::{SCHEMA, Trace};
use aplomb_viz::diff as compare;
use aplomb_viz::figures::{self, Figure};
use std::path::Path;

pub fn diff(settings: Settings, args: DiffArgs) -> i32 {
    match pairs(settings, &args) {
        Ok((before, after, figures)) => report(&before, &after, &figures),
        Err(code) => code,
    }
}

type Sides = (Vec<Trace>, Vec<Trace>, Vec<&'static Figure>);

fn pairs(settings: Settings, args: &DiffArgs) -> Result<Sides, i32> {
    let figures = args
        .fail_on
        .iter()
        .map(|name| figures::find(name))
        .collect::<Result<Vec<_>, _>>()
        .map_err(usage)?;
    let files = args.sides.iter().map(|f| Input { file: Some(f.clone()), expr: None });
    let exprs = args.exprs.iter().map(|e| Input { file: None, expr: Some(e.clone()) });
    let sides: Vec<Input> = files.chain(exprs).collect();
    let sides_are_one = sides.len() == 1;
    let plain = Settings { off: Vec::new(), ..settings.clone() };
    let sides = match sides.as_slice() {
        [a, b] => [(settings.clone(), a), (settings, b)],
        [a] if !settings.off.is_empty() => [(plain, a), (settings, a)],
        _ => {
            return Err(usage(
                "two sides are needed: aplomb diff A.json B.json, or one and --off NAME".into(),
            ));
        }
    };
    if sides.iter().any(|(_, input)| trace_file(input).is_some()) {
        let [a, b] = sides;
        let which = Which::of(args.line);
        return Ok((side(a.0, a.1, which)?, side(b.0, b.1, which)?, figures));
    }
    let [a, b] = in_turn(sides, Which::of(args.line), sides_are_one)?;
    Ok((vec![a], vec![b], figures))
}

fn usage(says: String) -> i32 {
    eprintln!("aplomb: {says}");
    USAGE
}

fn trace_file(input: &Input) -> Option<&Path> {
    let is_trace = |f: &&Path| f.extension().is_some_and(|e| e == "json" || e == "ndjson");
    input.file.as_deref().filter(is_trace)
}

fn side(settings: Settings, input: &Input, which: Which) -> Result<Vec<Trace>, i32> {
    match trace_file(input) {
        Some(path) => read(path).map_err(usage),
        None => recorded(settings, input.clone(), which, Depth::default()).map(|told| told.traces),
    }
}

/// Two programs in one session, each from an empty workspace, and then the evaluations of both in
/// turn: what is cold for the first is so for the second. Of one program, twice, it is the same
/// statement. Errors: the exit code, all said.
fn in_turn(
    sides: [(Settings, &Input); 2],
    which: Which,
    one_program: bool,
) -> Result<[Trace; 2], i32> {
    let [(settings, a), (other, b)] = sides;
    let runs = [
        (settings.clone(), views::request(a.clone(), true)?),
        (other, views::request(b.clone(), true)?),
    ];
    views::told(settings, move |session| {
        let (mut held, mut spot) = (Vec::new(), None);
        for (settings, request) in runs {
            session.restart();
            *session.options() = Default::default();
            settings.prepare(session);
            session.core().set_told(false);
            let sought = spot.is_some();
            session.core().seek(spot.take());
            let mut printer = Printer::aside();
            session.handle(request, &mut printer);
            if printer.code() != 0 {
                return Err(printer.code());
            }
            let side = told::side(session, &Asked::of(&settings), which, sought);
            let (side, own) = side.map_err(|says| views::failed(&says))?;
            spot = own.filter(|_| one_program);
            held.push(side);
        }
        let sides = held.try_into().map_err(|_| FAILED)?;
        Ok(session.compared(sides))
    })
}

/// The traces of a file: one document, or one a line. Errors: a sentence.
fn read(path: &Path) -> Result<Vec<Trace>, String> {
    let named = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => format!("no such file: {named}"),
        _ => format!("{named}: {e}"),
    })?;
    let traces = serde_json::Deserializer::from_str(&text)
        .into_iter::<Trace>()
        .collect::<Result<Vec<_>, _>>();
    let traces = traces.map_err(|e| format!("{named} is no trace: {e}"))?;
    match traces.iter().find(|t| t.schema != SCHEMA || t.version.split('.').next() != Some("1")) {
        Some(t) => {
            Err(format!("{named}: {} {} is no trace that this version reads", t.schema, t.version))
        }
        None if traces.is_empty() => Err(format!("{named} holds no trace")),
        None => Ok(traces),
    }
}

/// Statement by statement, in order.
fn report(before: &[Trace], after: &[Trace], figures: &[&Figure]) -> i32 {
    let (mut out, mut worse) = (String::new(), Vec::new());
    for (a, b) in before.iter().zip(after) {
        out += &compare::traces(a, b, width());
        out.push('\n');
        let line = first_line(&b.statement);
        worse.extend(compare::worse(a, b, figures).into_iter().map(|w| format!("{w} in {line}")));
    }
    if before.len() != after.len() {
        out += &format!(
            "{} statements before, {} after; the rest stands alone\n",
            before.len(),
            after.len()
        );
    }
    print(out.trim_end_matches('\n'));
    print("\n");
    worse.iter().for_each(|w| eprintln!("aplomb: {w}"));
    if worse.is_empty() { 0 } else { FAILED }
}

//! `]` commands: views of the compiler, and its switches. Without an expression they speak of the
//! last line that gave a value.

use super::asked::asked;
use super::{Call, pictures};
use aplomb_compiler::pass::{Options, switches};
use aplomb_ground::error::{self, Error, bytes, domain, syntax};
use aplomb_ground::protocol::PANES;
use aplomb_ground::trace::Trace;
use aplomb_kernel::session::Spent;
use aplomb_viz::{ask, outside, tables, why as reasons};
use serde_json::json;

/// Of an expression, which is a statement of the session then, or of the last line.
pub fn trace_of(call: &mut Call<'_>, expr: Option<&str>) -> Result<Trace, Error> {
    match expr {
        Some(expr) => call.session.trace_run(expr, call.shows, call.sink),
        None => call.session.trace_of(None),
    }
}

/// A view of a trace; below it that it tells another run, where it does.
fn told(trace: &Trace, says: &str) -> String {
    format!("{says}{}", outside::again(trace))
}

pub fn dag(call: &mut Call<'_>) -> Result<(), Error> {
    let asked = asked(call.args, &["pass=", "zoom=", "list", "fold", "whole"]);
    let trace = trace_of(call, asked.expr)?;
    let pass = asked.value("pass");
    let room = pictures::Room { ascii: call.ascii, columns: call.columns, width: call.width() };
    let drawn = match asked.value("zoom") {
        Some(level) => pictures::zoomed(&trace, level, pass, &room),
        None if asked.has("list") => pictures::listed(&trace, pass),
        None if asked.has("fold") => pictures::folded(&trace, pass, &room),
        None if asked.has("whole") => pictures::whole(&trace, pass, &room),
        None => pictures::dag(&trace, pass, &room),
    };
    let drawn = told(&trace, &drawn.map_err(domain)?);
    let is_picture = asked.value("zoom").is_none() && !asked.has("list");
    let fold = if asked.has("fold") { Some(true) } else { asked.has("whole").then_some(false) };
    let forms = (is_picture && call.sink.rich()).then(|| pictures::forms(&trace, pass, fold));
    call.show_in_forms(&drawn, forms.unwrap_or_default());
    Ok(())
}

pub fn passes(call: &mut Call<'_>) -> Result<(), Error> {
    let asked = asked(call.args, &["all"]);
    let trace = trace_of(call, asked.expr)?;
    call.show(&told(&trace, &tables::passes(&trace, asked.has("all"), call.width())));
    Ok(())
}

/// Decisions are told with the plans that the other way would make.
pub fn why(call: &mut Call<'_>) -> Result<(), Error> {
    call.session.core().set_priced(true);
    let told = reason(call);
    call.session.core().set_priced(false);
    told
}

/// A node, launch, pass or question of the last line is one word; anything else is an expression.
fn reason(call: &mut Call<'_>) -> Result<(), Error> {
    let width = call.width();
    let Some(word) = call.expr() else {
        let trace = trace_of(call, None)?;
        let says = reasons::summary(&trace, width);
        show_with(call, "why", &trace, &says, None);
        return Ok(());
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_node = is_number(word.strip_prefix('n').unwrap_or(&word));
    let is_launch = word.strip_prefix('k').is_some_and(is_number);
    if word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '∆' | '⍙' | '-')) {
        let about = trace_of(call, None).and_then(|trace| {
            let says = match reasons::node(&trace, &word, width) {
                Err(says) if !is_node => ask::answer(&trace, &word, width)
                    .map_err(domain)?
                    .ok_or_else(|| domain(says))?,
                found => found.map_err(domain)?,
            };
            Ok((trace, says))
        });
        // A name that the last line does not know is an expression.
        if is_node || is_launch || about.is_ok() {
            let (trace, says) = about?;
            let node = word.trim_start_matches('n').parse().ok();
            let named =
                || trace.nodes.iter().rfind(|n| n.name.as_ref() == Some(&word)).map(|n| n.id);
            let node = node.filter(|_| is_node).or_else(named);
            show_with(call, "why", &trace, &says, node);
            return Ok(());
        }
    }
    let trace = trace_of(call, Some(&word))?;
    let says = reasons::summary(&trace, width);
    show_with(call, "why", &trace, &says, None);
    Ok(())
}

/// A text, and for a page the trace that it speaks of.
fn show_with(
    call: &mut Call<'_>,
    kind: &'static str,
    trace: &Trace,
    says: &str,
    node: Option<u32>,
) {
    let asked = pictures::Asked { kind, says, node };
    match call.sink.rich() && !trace.segments.is_empty() {
        true => call.show_in_forms(says, pictures::told(trace, &asked)),
        false => call.show(says),
    }
}

/// `k0` in front: only that launch.
pub fn launch_of(args: &str) -> (Option<&str>, Option<&str>) {
    let (first, rest) = args.split_once(' ').unwrap_or((args, ""));
    let is_launch = first
        .strip_prefix('k')
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let (which, expr) = if is_launch { (Some(first), rest.trim()) } else { (None, args.trim()) };
    (which, Some(expr).filter(|e| !e.is_empty()))
}

pub fn kernels(call: &mut Call<'_>) -> Result<(), Error> {
    let (which, expr) = launch_of(call.args);
    let mut trace = trace_of(call, expr)?;
    call.session.core().fill(&mut trace);
    call.show(&told(&trace, &tables::kernels(&trace, which).map_err(domain)?));
    Ok(())
}

pub fn memory(call: &mut Call<'_>) -> Result<(), Error> {
    let expr = Some(call.args.trim()).filter(|e| !e.is_empty());
    let trace = trace_of(call, expr)?;
    call.show(&told(&trace, &tables::memory(&trace)));
    Ok(())
}

pub fn cpu(call: &mut Call<'_>) -> Result<(), Error> {
    let (which, expr) = launch_of(call.args);
    let trace = trace_of(call, expr)?;
    let says = told(&trace, &tables::bodies(&trace, which).map_err(domain)?);
    show_with(call, "cpu", &trace, &says, None);
    Ok(())
}

pub fn cuda(call: &mut Call<'_>) -> Result<(), Error> {
    let (which, expr) = launch_of(call.args);
    let trace = trace_of(call, expr)?;
    let says = pictures::cuda(&trace, which).map_err(domain)?;
    show_with(call, "cuda", &trace, &says, None);
    Ok(())
}

pub fn trace(call: &mut Call<'_>) -> Result<(), Error> {
    let args = call.args.to_string();
    if let "on" | "off" = args.as_str() {
        call.session.core().set_tracing(args == "on");
        return Ok(());
    }
    if let Some(file) =
        args.strip_prefix("save").filter(|rest| rest.is_empty() || rest.starts_with(' '))
    {
        let file = file.trim();
        if file.is_empty() {
            return Err(syntax("]trace save needs a file").hint("]trace save out.json"));
        }
        call.session.core().set_priced(true);
        let trace = trace_of(call, None);
        call.session.core().set_priced(false);
        let trace = trace?;
        let json = serde_json::to_string_pretty(&trace).map_err(|e| domain(e.to_string()))?;
        return call.write(file, format!("{json}\n").as_bytes());
    }
    let expr = call.expr();
    let trace = trace_of(call, expr.as_deref())?;
    call.show(&told(&trace, &tables::story(&trace, call.width())));
    Ok(())
}

pub fn dot(call: &mut Call<'_>) -> Result<(), Error> {
    let asked = asked(call.args, &["pass=", "kernels", "lets", "buffers"]);
    let args = asked.expr.unwrap_or("");
    let last = args
        .split_whitespace()
        .next_back()
        .filter(|word| word.ends_with(".dot") || word.ends_with(".gv"));
    let expr = last.map_or(args, |file| &args[..args.len() - file.len()]).trim();
    let trace = trace_of(call, Some(expr).filter(|e| !e.is_empty()))?;
    let view = match asked.flags.first() {
        Some(("pass", name)) => pictures::Dot::Pass(Some(name)),
        Some(("kernels", _)) => pictures::Dot::Launches,
        Some(("lets", _)) => pictures::Dot::Lets,
        Some(_) => pictures::Dot::Buffers,
        None => pictures::Dot::Pass(None),
    };
    let text = pictures::dot(&trace, view).map_err(domain)?;
    match last {
        Some(file) => call.write(file, text.as_bytes()),
        None => {
            call.show(&text);
            Ok(())
        }
    }
}

/// The front end opens the panes where it has a terminal; others say what would.
pub fn tui(call: &mut Call<'_>) -> Result<(), Error> {
    let text = call
        .expr()
        .or_else(|| call.session.last_text())
        .unwrap_or_else(|| crate::panes::EXAMPLE.into());
    let options = call.session.options();
    let (preset, off) = (options.preset().name, options.off());
    let opened =
        json!({ "text": text, "preset": preset, "off": off, "ascii": call.ascii }).to_string();
    call.show_in_forms(
        "panes need a terminal: aplomb tui FILE",
        [(PANES.to_string(), opened)].into(),
    );
    Ok(())
}

pub fn off(call: &mut Call<'_>) -> Result<(), Error> {
    if call.args == "list" {
        call.show(&crate::views::switches());
        return Ok(());
    }
    if call.args.is_empty() {
        let off = call.session.options().off().join(" ");
        call.show(if off.is_empty() {
            "nothing is off; ]off list names the switches"
        } else {
            &off
        });
        return Ok(());
    }
    switch(call, false)
}

pub fn on(call: &mut Call<'_>) -> Result<(), Error> {
    if call.args.is_empty() {
        return Err(syntax("]on needs names").hint(format!("]on {}", switches().join(" "))));
    }
    switch(call, true)
}

fn switch(call: &mut Call<'_>, on: bool) -> Result<(), Error> {
    set(call, &call.words(), on)
}

/// The test of words that name switches. Errors: a sentence.
pub fn are_switches(words: &str) -> Result<(), Error> {
    let mut options = Options::default();
    let mut names = words.split_whitespace().filter(|word| *word != "list");
    names.try_for_each(|name| options.switch(name, false)).map_err(domain)
}

/// All or none.
pub fn set(call: &mut Call<'_>, names: &[String], on: bool) -> Result<(), Error> {
    let mut options = call.session.options().clone();
    names.iter().try_for_each(|name| options.switch(name, on)).map_err(domain)?;
    *call.session.options() = options;
    Ok(())
}

pub fn time(call: &mut Call<'_>) -> Result<(), Error> {
    let spent = match call.expr() {
        None => call.session.spent(),
        Some(expr) => call.session.time_run(&expr, call.shows, call.sink)?,
    };
    call.show(&cost(&spent));
    Ok(())
}

fn cost(spent: &Spent) -> String {
    let ms = |x: f64| error::time(x * 1e3);
    let rest = spent.wall_ms - spent.front_ms - spent.launch_ms - spent.display_ms;
    let display = match spent.display_ms {
        0.0 => String::new(),
        took => format!(", display {}", ms(took)),
    };
    let launches = reasons::count(spent.launches, "launch");
    let most = if spent.is_most { "at most " } else { "" };
    let moved = match spent.bytes {
        0 => String::new(),
        n => format!(", {most}{} moved", bytes(n)),
    };
    format!(
        "{} in all: compiler {}, {launches} {}{moved}, evaluator {}{display}\n",
        ms(spent.wall_ms),
        ms(spent.front_ms),
        ms(spent.launch_ms),
        ms(rest.max(0.0))
    )
}

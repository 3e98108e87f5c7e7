//! `]` commands: views of the compiler, and its switches. Without an expression they speak of the last line that gave
//! a value.

use super::{Call, pictures};
use aplomb_kernel::files;
use aplomb_kernel::session::Spent;
use aplomb_lang::error::{self, Error, bytes, domain, syntax};
use aplomb_lang::pass::switches;
use aplomb_lang::trace::Trace;
use aplomb_viz::{tables, why as reasons};
use std::path::Path;
use std::time::Instant;

/// Arguments apart from flags such as `-pass=NAME`.
struct Asked {
    expr: Option<String>,
    pass: Option<String>,
    list: bool,
}

/// Flags stand first or last, so that an expression keeps its own `-`.
fn asked(args: &str) -> Asked {
    let mut out = Asked { expr: None, pass: None, list: false };
    let mut rest = args.trim();
    loop {
        let first = rest.split_whitespace().next().unwrap_or("");
        let last = rest.split_whitespace().next_back().unwrap_or("");
        let flag = [first, last].into_iter().find(|word| *word == "-list" || word.starts_with("-pass="));
        let Some(flag) = flag else { break };
        match flag.strip_prefix("-pass=") {
            Some(name) => out.pass = Some(name.into()),
            None => out.list = true,
        }
        rest = if flag == first { &rest[flag.len()..] } else { &rest[..rest.len() - flag.len()] }.trim();
    }
    out.expr = Some(rest.to_string()).filter(|s| !s.is_empty());
    out
}

fn trace_of(call: &mut Call<'_>, expr: Option<&str>) -> Result<Trace, Error> {
    call.session.trace_of(expr)
}

pub fn dag(call: &mut Call<'_>) -> Result<(), Error> {
    let asked = asked(call.args);
    let trace = trace_of(call, asked.expr.as_deref())?;
    let pass = asked.pass.as_deref();
    let drawn =
        if asked.list { pictures::listed(&trace, pass) } else { pictures::dag(&trace, pass, call.ascii, call.columns) };
    call.show(&drawn.map_err(domain)?);
    Ok(())
}

pub fn why(call: &mut Call<'_>) -> Result<(), Error> {
    let Some(word) = call.expr() else {
        let trace = trace_of(call, None)?;
        call.show(&reasons::summary(&trace, call.width()));
        return Ok(());
    };
    let digits = word.strip_prefix('n').unwrap_or(&word);
    let width = call.width();
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let is_name = word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '∆' | '⍙'));
    if is_number || is_name {
        let about = trace_of(call, None).and_then(|trace| reasons::node(&trace, &word, width).map_err(domain));
        // A name that is no node of the last line is an expression.
        if is_number || about.is_ok() {
            call.show(&about?);
            return Ok(());
        }
    }
    let trace = trace_of(call, Some(&word))?;
    call.show(&reasons::summary(&trace, call.width()));
    Ok(())
}

pub fn kernels(call: &mut Call<'_>) -> Result<(), Error> {
    let expr = call.expr();
    let trace = trace_of(call, expr.as_deref())?;
    call.show(&tables::kernels(&trace));
    Ok(())
}

pub fn cuda(call: &mut Call<'_>) -> Result<(), Error> {
    let args = call.args.to_string();
    let (first, rest) = args.split_once(' ').unwrap_or((&args, ""));
    let is_launch = first.strip_prefix('k').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let (which, expr) = if is_launch { (Some(first), rest.trim()) } else { (None, args.trim()) };
    let trace = trace_of(call, Some(expr).filter(|e| !e.is_empty()))?;
    call.show(&pictures::cuda(&trace, which).map_err(domain)?);
    Ok(())
}

pub fn trace(call: &mut Call<'_>) -> Result<(), Error> {
    let args = call.args.to_string();
    if let "on" | "off" = args.as_str() {
        call.session.core().set_tracing(args == "on");
        return Ok(());
    }
    if let Some(file) = args.strip_prefix("save").filter(|rest| rest.is_empty() || rest.starts_with(' ')) {
        let file = file.trim();
        if file.is_empty() {
            return Err(syntax("]trace save needs a file").hint("]trace save out.json"));
        }
        let trace = trace_of(call, None)?;
        let json = serde_json::to_string_pretty(&trace).map_err(|e| domain(e.to_string()))?;
        return files::write_file(Path::new(file), format!("{json}\n").as_bytes());
    }
    let expr = call.expr();
    let trace = trace_of(call, expr.as_deref())?;
    call.show(&tables::passes(&trace, call.width()));
    Ok(())
}

pub fn dot(call: &mut Call<'_>) -> Result<(), Error> {
    let args = call.args.to_string();
    let last = args.split_whitespace().next_back().filter(|word| word.ends_with(".dot") || word.ends_with(".gv"));
    let expr = last.map_or(args.as_str(), |file| &args[..args.len() - file.len()]).trim();
    let trace = trace_of(call, Some(expr).filter(|e| !e.is_empty()))?;
    let text = pictures::dot(&trace, None).map_err(domain)?;
    match last {
        Some(file) => files::write_file(Path::new(file), text.as_bytes()),
        None => {
            call.show(&text);
            Ok(())
        }
    }
}

pub fn off(call: &mut Call<'_>) -> Result<(), Error> {
    if call.args == "list" {
        call.show(&crate::views::switches());
        return Ok(());
    }
    if call.args.is_empty() {
        let off = call.session.options().off().join(" ");
        call.show(if off.is_empty() { "nothing is off; ]off list names the switches" } else { &off });
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

/// All or none.
fn switch(call: &mut Call<'_>, on: bool) -> Result<(), Error> {
    let mut options = call.session.options().clone();
    call.words().iter().try_for_each(|name| options.switch(name, on)).map_err(domain)?;
    *call.session.options() = options;
    Ok(())
}

pub fn time(call: &mut Call<'_>) -> Result<(), Error> {
    let spent = match call.expr() {
        None => call.session.spent(),
        Some(expr) => {
            call.session.core().begin();
            let begun = Instant::now();
            call.session.value_of(&expr)?;
            Spent { wall_ms: begun.elapsed().as_secs_f64() * 1e3, ..call.session.core().spent }
        }
    };
    call.show(&cost(&spent));
    Ok(())
}

fn cost(spent: &Spent) -> String {
    let ms = |x: f64| error::time(x * 1e3);
    let rest = (spent.wall_ms - spent.front_ms - spent.launch_ms).max(0.0);
    let launches = reasons::count(spent.launches, "launch");
    let moved = if spent.bytes > 0 { format!(", {} moved", bytes(spent.bytes)) } else { String::new() };
    format!(
        "{} in all: compiler {}, {launches} {}{moved}, evaluator {}\n",
        ms(spent.wall_ms),
        ms(spent.front_ms),
        ms(spent.launch_ms),
        ms(rest)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_stand_before_or_behind_an_expression() {
        let a = asked("-pass=cse +/x-list");
        assert_eq!((a.expr.as_deref(), a.pass.as_deref(), a.list), (Some("+/x-list"), Some("cse"), false));
        let b = asked("-list");
        assert!(b.expr.is_none() && b.list);
        assert_eq!(asked("1 -2 -list").expr.as_deref(), Some("1 -2"));
    }
}

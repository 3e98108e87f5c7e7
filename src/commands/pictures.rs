//! Pictures of a whole trace: every evaluation of a statement in turn.

use aplomb_lang::trace::Trace;
use aplomb_viz::{Graph, dot, find_pass, list, tables, text, why};
use unicode_width::UnicodeWidthStr;

/// Each evaluation by `each`, headed where there are several.
fn segments(trace: &Trace, pass: Option<&str>, each: impl Fn(&Graph) -> String) -> Result<String, String> {
    let n = trace.segments.len();
    if n == 0 {
        return find_pass(trace, 0, pass).map(|g| each(&g));
    }
    let mut out = String::new();
    for k in 0..n {
        if n > 1 {
            out += &format!("evaluation {} of {n}, for {}\n", k + 1, trace.segments[k].why);
        }
        out += &each(&find_pass(trace, k, pass)?);
    }
    Ok(out)
}

/// The drawn graph; a list where it would not fit `columns`. Errors: no such pass, nothing compiled.
pub fn dag(trace: &Trace, pass: Option<&str>, ascii: bool, columns: Option<usize>) -> Result<String, String> {
    segments(trace, pass, |g| {
        let picture = text::draw(g, ascii);
        let wide = picture.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
        match columns {
            Some(room) if wide > room => {
                format!("{}(drawn it is {wide} columns wide; the terminal has {room})\n", list::list(g))
            }
            _ => picture,
        }
    })
}

pub fn listed(trace: &Trace, pass: Option<&str>) -> Result<String, String> {
    segments(trace, pass, list::list)
}

/// Graphviz text: one graph an evaluation.
pub fn dot(trace: &Trace, pass: Option<&str>) -> Result<String, String> {
    let last = trace.segments.len().max(1);
    (0..last).map(|k| find_pass(trace, k, pass).map(|g| dot::graph(&g))).collect()
}

/// The CUDA text of one launch (`k0`), or of all.
pub fn cuda(trace: &Trace, which: Option<&str>) -> Result<String, String> {
    let names = || trace.kernels.iter().map(|k| format!("k{}", k.id)).collect::<Vec<_>>().join(" ");
    let wanted = |id: u32| which.is_none_or(|w| w == format!("k{id}"));
    let mut out = String::new();
    for launch in trace.kernels.iter().filter(|k| wanted(k.id)) {
        let text = launch.cuda.as_ref().map_or("// no CUDA text for this launch", |c| c.text.as_str());
        let gap = if out.is_empty() { "" } else { "\n" };
        out += &format!("{gap}{}\n", text.trim_end());
    }
    match (out.is_empty(), which) {
        (false, _) => Ok(out),
        (true, Some(which)) if !trace.kernels.is_empty() => {
            Err(format!("no launch is called {which}; there are {}", names()))
        }
        (true, _) => {
            Err("this line launched nothing: its values were ready, or its functions are not compiled yet".into())
        }
    }
}

/// All of it for people: graph, passes, launches, reasons.
pub fn report(trace: &Trace, ascii: bool) -> String {
    let width = crate::front::width();
    let parts = [
        dag(trace, None, ascii, crate::front::columns()).unwrap_or_else(|says| format!("{says}\n")),
        tables::passes(trace, width),
        tables::kernels(trace),
        why::summary(trace, width),
    ];
    parts.iter().filter(|p| !p.trim().is_empty()).cloned().collect::<Vec<_>>().join("\n")
}

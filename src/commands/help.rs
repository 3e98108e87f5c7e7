//! Help, from the tables: primitives, keys, system names, commands, passes, errors.

use super::{COMMANDS, Call, Command, nearest};
use aplomb_lang::error::{Error, Kind, value};
use aplomb_lang::eval::system::{self, Row};
use aplomb_lang::pass::{GROUPS, PIPELINE, Pass, RULES};
use aplomb_lang::prim::table::{Meaning, OTHER_KEYS, Prim, prims};

/// What an error means, and what usually helps.
const ERRORS: &[(Kind, &str)] = &[
    (Kind::Syntax, "The line is no APL: a bracket, a quote, or two things that cannot stand side by side."),
    (Kind::Value, "A name has no value, or a function gave none."),
    (Kind::Rank, "An argument has more or fewer axes than the function takes. ⍴⍴x is the number of axes of x."),
    (Kind::Length, "Two arguments differ in length along an axis. ⍴x is the shape of x."),
    (Kind::Index, "An index is outside the array. ⎕IO says whether the first is 1 or 0."),
    (Kind::Domain, "The function is not defined for this value: 1÷0, ⍟0, text where a number must stand."),
    (Kind::Limit, "A limit was reached. )limits prints them, )limits NAME=VALUE changes one."),
    (Kind::WsFull, "The arrays need more memory than )limits bytes allows."),
    (Kind::Nonce, "A part of APL that is not in Aplomb yet."),
    (Kind::Format, "⍕ was given a width that cannot be."),
    (Kind::FileName, "There is no such file."),
    (Kind::FileAccess, "The file is there but could not be read or written."),
    (Kind::Interrupt, "Ctrl-C stopped the line; every name keeps the value it had before."),
    (Kind::Internal, "A defect of Aplomb, not of your program; please report the line."),
];

const OVERVIEW: &str = "\
Type a line of APL and its value prints. ← names a value, ⍝ begins a comment.

Glyphs     `r gives ⍴   `i ⍳   `w ⍵   `a ⍺   `[ ←   `- ×   `= ÷
           or by name and Tab: rho<Tab> ⍴   iota<Tab> ⍳   times<Tab> ×
Help on    ]help ⍉   ]help sum   ]help ⎕CSV   ]help ]dag   ]help push-down

The compiler, on the last line that gave a value, or on an expression:
  ]dag       the graph: what was shared, what was fused
  ]why       launches, bytes, time, and the reason for each
  ]kernels   the launches as a table
  ]cuda      the text that a GPU would run
  ]off       switches passes off (]off fusion); ]on, then ]time to compare
";

fn commands() -> String {
    let built = |bracket: char| {
        let all = COMMANDS.iter().filter(|c| c.run.is_some() && c.name.starts_with(bracket));
        let mut lines = vec![String::new()];
        for name in all.map(|c| c.name) {
            let last = lines.len() - 1;
            if lines[last].len() + name.len() > 66 {
                lines.push(name.into());
            } else {
                let gap = if lines[last].is_empty() { "" } else { " " };
                lines[last] += &format!("{gap}{name}");
            }
        }
        lines.join("\n           ")
    };
    format!("\nCommands   {}\n           {}\n", built(']'), built(')'))
}

const EXAMPLES: &str = "\
Try        avg←+/÷≢ ⋄ avg 3 1 4 1 5       ]dag +/2×⍳1000
           whole programs: examples/       all glyphs: aplomb prims
Leave      Ctrl-D or )off; Ctrl-C stops a line and keeps your names
";

pub fn help(call: &mut Call<'_>) -> Result<(), Error> {
    let Some(topic) = call.expr() else {
        call.show(&format!("{OVERVIEW}{}{EXAMPLES}", commands()));
        return Ok(());
    };
    let Some(page) = page(&topic) else {
        let near = nearest(&topic, topics().iter().map(String::as_str)).join(", ");
        let error = value(format!("there is no help on {topic}"));
        return Err(error.hint(if near.is_empty() { "]help alone".into() } else { format!("near it: {near}") }));
    };
    // A terminal would break the lines inside words; a pipe gets them whole.
    let shown = match call.columns {
        Some(width) => page.lines().map(|line| folded(line, width) + "\n").collect(),
        None => page,
    };
    call.show(&shown);
    Ok(())
}

/// A line that is too long for the terminal goes on below, indented as it was and two more.
fn folded(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.into();
    }
    let indent = line.chars().take_while(|c| *c == ' ').count();
    " ".repeat(indent)
        + &aplomb_viz::why::wrapped(line.trim_start(), 2, width.saturating_sub(indent))
            .replace('\n', &format!("\n{}", " ".repeat(indent)))
}

/// All that `page` knows by a word.
fn topics() -> Vec<String> {
    let words =
        prims().flat_map(|p| p.names.iter()).chain(OTHER_KEYS.iter().flat_map(|k| k.2.iter())).map(|n| n.to_string());
    let system = system::rows().map(|r| format!("⎕{}", r.name).to_lowercase());
    let commands = COMMANDS.iter().map(|c| c.name.to_string());
    let errors = ERRORS.iter().map(|e| e.0.name().to_lowercase());
    let passes = PIPELINE.iter().map(|p| p.name).chain(GROUPS.iter().map(|g| g.0)).map(String::from);
    words.chain(system).chain(commands).chain(errors).chain(passes).collect()
}

/// The page of a topic: everything the tables say about it.
pub fn page(topic: &str) -> Option<String> {
    let topic = topic.trim();
    let word = topic.to_lowercase();
    let mut out = String::new();
    for p in prims().filter(|p| topic.chars().eq([p.glyph])) {
        out += &glyph(p);
    }
    for (glyph, key, names) in OTHER_KEYS.iter().filter(|k| topic.chars().eq([k.0]) || k.2.contains(&word.as_str())) {
        out += &format!("{glyph}  {}; typed `{key}\n", names.join(", "));
    }
    if out.is_empty() {
        let named = prims().filter(|p| p.names.contains(&word.as_str()) || uses(p).iter().any(|(_, m)| m.name == word));
        out.extend(named.map(glyph));
    }
    out.extend(
        system::rows()
            .filter(|r| word.trim_start_matches('⎕') == r.name.to_lowercase() && word.starts_with('⎕'))
            .map(system_name),
    );
    out.extend(COMMANDS.iter().filter(|c| c.name == word || c.name[1..] == word).map(command));
    out.extend(PIPELINE.iter().filter(|p| p.name == word).map(pass));
    out.extend(
        GROUPS.iter().filter(|g| g.0 == word).map(|g| format!("{}  stands for the passes {}\n", g.0, g.1.join(" "))),
    );
    out.extend(
        RULES
            .iter()
            .filter(|r| r.name == word)
            .map(|r| format!("{}  a rule of simplify, row {}\n  {}  →  {}\n", r.name, r.row, r.before, r.after)),
    );
    let is_error = |kind: &Kind| {
        let name = kind.name().to_lowercase();
        name == word || name.strip_suffix(" error") == Some(&word)
    };
    out.extend(
        ERRORS
            .iter()
            .filter(|e| is_error(&e.0))
            .map(|(kind, says)| format!("{}  event {}\n  {says}\n", kind.name(), kind.number())),
    );
    (!out.is_empty()).then_some(out)
}

fn uses(p: &Prim) -> Vec<(&'static str, &Meaning)> {
    let forms = [("f Y", &p.monadic), ("X f Y", &p.dyadic), ("operator", &p.operator)];
    forms.into_iter().filter_map(|(form, m)| m.as_ref().map(|m| (form, m))).collect()
}

fn glyph(p: &Prim) -> String {
    let key = p.key.map_or(String::new(), |k| format!("; typed `{k}"));
    let mut out = format!("{}  {}{key}\n", p.glyph, p.names.join(", "));
    for (form, m) in uses(p) {
        let form = form.replace('f', &p.glyph.to_string());
        let axis = if m.axis { " Takes an axis: [k]." } else { "" };
        out += &format!("  {form:9} {}: {}{axis}\n", m.name, m.help);
        out += &format!("                  {}\n", m.example.0);
        m.example.1.lines().for_each(|line| out += &format!("            {line}\n"));
    }
    if uses(p).is_empty() {
        out += "  not in Aplomb yet\n";
    }
    out
}

fn system_name(r: &Row) -> String {
    let mut out = format!("⎕{}  {}\n", r.name, r.help);
    if !r.options.is_empty() {
        out += &format!("  options: {}\n", r.options.join(" "));
    }
    out += &format!("                  {}\n", r.example.0.replace('\n', "\n                  "));
    r.example.1.lines().for_each(|line| out += &format!("            {line}\n"));
    out
}

fn command(c: &Command) -> String {
    let built = if c.run.is_some() { "" } else { " Not in Aplomb yet." };
    format!("{} {}\n  {}{built}\n", c.name, c.args, c.help)
}

fn pass(p: &Pass) -> String {
    format!(
        "{}  a pass, row {}: {}\n  ]off {} switches it off, ]dag -pass={} shows the graph after it\n",
        p.name, p.row, p.says, p.name, p.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overview_fits_a_screen() {
        let text = format!("{OVERVIEW}{}{EXAMPLES}", commands());
        assert!(text.lines().count() <= 24, "{}", text.lines().count());
        assert!(text.lines().all(|l| l.chars().count() < 80), "{text}");
    }

    #[test]
    fn every_topic_has_a_page() {
        for topic in topics() {
            assert!(page(&topic).is_some(), "{topic}");
        }
        for topic in ["⍉", "+", "sum", "]dag", "dag", "push-down", "fusion", "⎕io", "LENGTH ERROR", "domain", "⍵"]
        {
            assert!(page(topic).is_some(), "{topic}");
        }
        assert!(page("no such thing").is_none() && page("").is_none());
    }
}

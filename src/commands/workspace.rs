//! `)` commands: the workspace. Those that only set something print nothing.

use super::{Call, nearest};
use aplomb_ground::error::{Error, domain, syntax, value};
use aplomb_ground::span::first_line;
use aplomb_language::syntax::resolve::Class;

fn listed(call: &mut Call<'_>, wanted: fn(Class) -> bool) -> Result<(), Error> {
    let names: Vec<_> =
        call.session.interp().names().into_iter().filter(|n| wanted(n.class)).collect();
    let room = names.iter().map(|n| n.name.chars().count()).max().unwrap_or(0) + 2;
    let mut out = String::new();
    for n in names {
        let says = first_line(&n.says).chars().take(100).collect::<String>();
        let more = if n.says.lines().nth(1).is_some() { " …" } else { "" };
        out += &format!("{:room$}{says}{more}\n", n.name);
    }
    call.show(&out);
    Ok(())
}

pub fn vars(call: &mut Call<'_>) -> Result<(), Error> {
    listed(call, |class| class == Class::Array)
}

pub fn fns(call: &mut Call<'_>) -> Result<(), Error> {
    listed(call, |class| class != Class::Array)
}

pub fn erase(call: &mut Call<'_>) -> Result<(), Error> {
    let words = call.words();
    if words.is_empty() {
        return Err(syntax(")erase needs names").hint(")erase x y"));
    }
    let there: Vec<String> = call.session.interp().names().into_iter().map(|n| n.name).collect();
    if let Some(word) = words.iter().find(|w| !there.contains(w)) {
        let near = nearest(word, there.iter().map(String::as_str)).join(" ");
        let error = value(format!("{word} has no value; nothing was erased"));
        return Err(if near.is_empty() { error } else { error.hint(format!("near it: {near}")) });
    }
    for word in &words {
        call.session.interp().erase(word);
    }
    Ok(())
}

/// A script's lines as if they were typed here.
pub fn load(call: &mut Call<'_>) -> Result<(), Error> {
    let Some(name) = call.expr() else {
        return Err(syntax("]load needs a file").hint("]load prices.apl"));
    };
    let path = std::path::Path::new(&name);
    call.session.core().reach.check(path)?;
    // A pipe may never end, and a file may be larger than memory.
    let bytes = aplomb_kernel::files::read_file(path, &call.session.core().budget)?;
    let text = crate::script::text(path, bytes)
        .map_err(|says| Error::new(aplomb_ground::error::Kind::FileName, says))?;
    call.session.run_script(&text, &name, call.sink)
}

/// `)copy dfns disp cmpx`: by ⎕CY, which programs use, too.
pub fn copy(call: &mut Call<'_>) -> Result<(), Error> {
    let words = call.words();
    let Some((from, names)) = words.split_first() else {
        return Err(syntax(")copy needs a library, and names of it").hint(")copy dfns disp"));
    };
    let quoted = |word: &String| format!("'{}'", word.replace('\'', "''"));
    let names: Vec<String> = names.iter().map(quoted).collect();
    let text = format!("{} ⎕CY {}", names.join(" "), quoted(from));
    call.session.run_script(&text, ")copy", call.sink)
}

pub fn clear(call: &mut Call<'_>) -> Result<(), Error> {
    call.session.restart();
    Ok(())
}

pub fn limits(call: &mut Call<'_>) -> Result<(), Error> {
    let Some(args) = call.expr() else {
        let limits = &call.session.core().limits;
        let row = |(name, value): (&str, f64)| format!("{name:11}{}\n", number(value));
        let text = limits.list().into_iter().map(row).collect::<String>();
        call.show(&text);
        return Ok(());
    };
    let (name, text) = args
        .split_once('=')
        .ok_or_else(|| syntax("a limit is set as NAME=VALUE").hint(")limits seconds=5"))?;
    let number =
        text.trim().parse::<f64>().map_err(|_| domain(format!("{} is no number", text.trim())))?;
    call.session.core().limits.set(name.trim(), number).map_err(domain)
}

/// As a user would write it.
fn number(value: f64) -> String {
    if value >= 1e6 && value % 1e6 == 0.0 {
        format!("{}e6", value / 1e6)
    } else {
        format!("{value}")
    }
}

/// As ⎕OFF does, it first looks at what was written and may fail.
pub fn off(call: &mut Call<'_>) -> Result<(), Error> {
    let code = match call.expr() {
        None => 0,
        Some(text) => text.parse::<u8>().map_err(|_| domain("an exit code is 0 to 255"))?,
    };
    call.session.look_back(call.sink)?;
    call.session.leave(i32::from(code), call.sink);
    Ok(())
}

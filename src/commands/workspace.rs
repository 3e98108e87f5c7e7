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

pub fn ops(call: &mut Call<'_>) -> Result<(), Error> {
    listed(call, |class| matches!(class, Class::Monadic | Class::Dyadic))
}

/// The names of namespaces.
pub fn spaces(call: &mut Call<'_>) -> Result<(), Error> {
    call.session.run_script("⍪⎕NL ¯9", ")obs", call.sink)
}

/// Nothing is suspended here, so there is nothing to tell of and nothing to clear.
pub fn suspended(_: &mut Call<'_>) -> Result<(), Error> {
    Ok(())
}

pub fn space(call: &mut Call<'_>) -> Result<(), Error> {
    match call.expr() {
        None => {
            call.show("#");
            Ok(())
        }
        Some(name) => Err(aplomb_ground::error::nonce(")cs to another namespace")
            .hint(format!("{name}.(…) runs what is in the parentheses there"))),
    }
}

pub fn edit(call: &mut Call<'_>) -> Result<(), Error> {
    let name = call.expr().map_or("f".into(), |name| name);
    Err(aplomb_ground::error::nonce(")ed")
        .hint(format!("∇ r←{name} y, lines, ∇ define a function; aplomb --watch FILE runs one")))
}

/// The workspaces in a folder.
pub fn lib(call: &mut Call<'_>) -> Result<(), Error> {
    let folder = call.expr().map_or(".".into(), |folder| folder);
    let path = std::path::Path::new(&folder);
    call.session.core().reach.check(path)?;
    let wrong = |e| aplomb_kernel::files::failed(path, &e);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path).map_err(wrong)? {
        let name = entry.map_err(wrong)?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(ENDING).map(String::from));
    }
    names.sort_unstable();
    call.show(&names.join("\n"));
    Ok(())
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

/// A script's lines as if they were typed here; its path is sought beside the script that asks.
pub fn load(call: &mut Call<'_>) -> Result<(), Error> {
    let Some(name) = call.expr() else {
        return Err(syntax("]load needs a file").hint("]load prices.apl"));
    };
    let name = call.session.beside(&name);
    let path = std::path::Path::new(&name);
    call.session.core().reach.check(path)?;
    // A pipe may never end, and a file may be larger than memory.
    let bytes = aplomb_kernel::files::read_file(path, &call.session.core().budget)?;
    let text = crate::script::text(path, bytes)
        .map_err(|says| Error::new(aplomb_ground::error::Kind::FileName, says))?;
    call.session.run_script(&text, &name, call.sink)
}

/// The ending of workspace files, which a name need not have.
const ENDING: &str = ".apw";

/// The file that a name of a workspace means.
fn file_of(name: &str) -> String {
    if name.ends_with(ENDING) { name.into() } else { format!("{name}{ENDING}") }
}

/// The file that is named, or the one of this workspace. Errors: SYNTAX where there is none.
fn named(call: &mut Call<'_>, words: &[String], command: &str) -> Result<String, Error> {
    let own = call.session.core().workspace.clone();
    let name = words.iter().find(|w| !w.starts_with('-')).map(|w| file_of(w)).or(own);
    let hint = format!("{command} prices");
    name.ok_or_else(|| syntax("this workspace has no name yet").hint(hint))
}

/// The name of the workspace from now on, which ⎕WSID tells.
fn named_now(call: &mut Call<'_>, file: Option<&str>) {
    call.session.core().workspace = file.map(String::from);
    call.session.interp().set_workspace(file.map_or("", |file| file));
}

/// A file of another name is replaced only where it is asked for.
pub fn save(call: &mut Call<'_>) -> Result<(), Error> {
    let words = call.words();
    let file = named(call, &words, ")save")?;
    let is_own = call.session.core().workspace.as_ref() == Some(&file);
    let path = std::path::Path::new(&file);
    call.session.core().reach.check(path)?;
    if path.exists() && !is_own && !words.iter().any(|w| w == "-force") {
        let says = format!("{file}: there is such a file already, and this is not its workspace");
        return Err(Error::new(aplomb_ground::error::Kind::FileName, says)
            .hint(format!(")save {file} -force replaces it")));
    }
    let bytes = call.session.saved()?;
    call.write(&file, &bytes)?;
    named_now(call, Some(&file));
    call.show(&format!("{file} saved"));
    Ok(())
}

/// The names of the file instead of those that are here.
pub fn load_workspace(call: &mut Call<'_>) -> Result<(), Error> {
    let words = call.words();
    let Some(name) = words.first() else {
        return Err(syntax(")load needs a workspace").hint(")load prices; ]load runs a script"));
    };
    let file = file_of(name);
    let path = std::path::Path::new(&file);
    call.session.core().reach.check(path)?;
    let bytes = aplomb_kernel::files::read_file(path, &call.session.core().budget)?;
    call.session.load(&bytes)?;
    named_now(call, Some(&file));
    call.show(&format!("{file} loaded"));
    match call.session.interp().latent() {
        text if text.is_empty() => Ok(()),
        text => call.session.run_script(&text, "⎕LX", call.sink),
    }
}

/// The name of the workspace; with a word that word is it.
pub fn wsid(call: &mut Call<'_>) -> Result<(), Error> {
    match call.words().first() {
        Some(name) => named_now(call, Some(&file_of(name))),
        None => {
            let name = call.session.core().workspace.clone();
            call.show(&name.map_or("it has no name".into(), |name| name));
        }
    }
    Ok(())
}

/// `)copy dfns disp cmpx`: by ⎕CY, which programs use, too.
pub fn copy(call: &mut Call<'_>) -> Result<(), Error> {
    copied(call, ")copy", "⎕CY")
}

/// The same, but names that are here stay.
pub fn copy_protected(call: &mut Call<'_>) -> Result<(), Error> {
    copied(call, ")pcopy", "(⎕CY⍠'Protect' 1)")
}

fn copied(call: &mut Call<'_>, command: &str, function: &str) -> Result<(), Error> {
    let words = call.words();
    let Some((from, names)) = words.split_first() else {
        let says = format!("{command} needs a workspace or library, and names of it");
        return Err(syntax(says).hint(format!("{command} dfns disp")));
    };
    // A name of one letter is a text, too.
    let quoted = |word: &String| format!("(,'{}')", word.replace('\'', "''"));
    let names: Vec<String> = names.iter().map(quoted).collect();
    let text = format!("{} {function} {}", names.join(" "), quoted(from));
    call.session.run_script(&text, command, call.sink)
}

pub fn clear(call: &mut Call<'_>) -> Result<(), Error> {
    call.session.restart();
    named_now(call, None);
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

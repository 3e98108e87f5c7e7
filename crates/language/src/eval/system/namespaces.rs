//! Namespaces by their system names: ⎕NS makes and copies them, ⎕THIS is the one that runs.

use super::files::path;
use super::library::is_library;
use super::{Args, Row, function, live, misused, texts};
use crate::eval::run::{At, Eval};
use crate::eval::space::Space;
use crate::eval::value::Value;
use crate::syntax::resolve::{Head, Path};
use aplomb_ground::error::{Result, domain, limit, value};
use aplomb_ground::span::Source;
use aplomb_values::array::Array;
use std::rc::Rc;

pub static ROWS: &[Row] = &[
    function(
        "NS",
        "A new namespace with copies of the names Y, or of what is in the namespaces Y; X is its \
         name, a.b one in another.",
        ("x←5 ⋄ n←⎕NS'x' ⋄ n.x←6 ⋄ n.x x", "6 5"),
        namespace,
    ),
    function(
        "IMPORT",
        "The namespace that the script Y makes: its names. It runs once, however often it is asked \
         for; a path is sought beside the file that asks.",
        ("⎕NC'⎕IMPORT'", "3"),
        import,
    ),
    live("THIS", "The namespace that runs: # is the workspace.", ("⎕THIS", "#"), |ev| {
        Ok(ev.st.here.value())
    }),
];

fn namespace(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let form = || misused("NS", "names as texts, or namespaces");
    let members = given(ev, a.y).map_err(|_| form())?;
    let (space, name) = match a.x {
        None => (ev.st.new_space("[Namespace]"), None),
        Some(x) => {
            let name = x.to_text().ok_or_else(|| domain("the name of a namespace is text"))?;
            let path: Vec<&str> = name.trim().split('.').collect();
            if !path.iter().all(|n| *n == "#" || super::names::is_name(n)) {
                return Err(domain(format!("'{name}' is no name")));
            }
            (ev.space_at(&path)?, Some(name))
        }
    };
    for (sym, v) in members {
        ev.set_member(&space.value(), sym, v)?;
    }
    match name {
        None => Ok(Some(space.value())),
        Some(_) => {
            let name = ev.cx.text(&aplomb_values::array::Referent::name(&*space))?;
            ev.shy(name)
        }
    }
}

/// A script's names as a namespace, once for each file.
fn import(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let path = path(a.y)?;
    let asks = ev.cx.sys.source.as_ref().map_or(String::new(), |s| s.name.clone());
    let beside = match asks.rsplit_once('/') {
        Some((folder, _)) if !path.starts_with('/') => format!("{folder}/{path}"),
        _ => path.clone(),
    };
    let world = ev.cx.world("a file")?;
    let found = if world.exists(&beside) { tidied(&beside) } else { tidied(&path) };
    let is_carried = is_library(&found) && !world.exists(&found);
    match ev.st.modules.iter().find(|(name, _)| *name == found) {
        Some((_, Some(space))) => return Ok(Some(space.value())),
        Some((_, None)) => {
            let open = ev.st.modules.iter().filter(|(_, space)| space.is_none());
            let mut cycle: Vec<&str> = open.map(|(name, _)| name.as_str()).collect();
            cycle.push(&found);
            return Err(domain(format!("a file imports itself: {}", cycle.join(" → "))));
        }
        None => {}
    }
    if is_carried {
        let space = ev.library()?;
        ev.st.modules.push((found, Some(space.clone())));
        return Ok(Some(space.value()));
    }
    let bytes = ev.cx.world("a file")?.read_file(&found)?;
    let text = String::from_utf8(bytes).map_err(|_| domain(format!("{found} is no UTF-8 text")))?;
    let text = match text.strip_prefix("#!") {
        Some(rest) => format!("⍝!{rest}"),
        None => text,
    };
    let stem = found.rsplit('/').next().and_then(|f| f.split('.').next());
    let name = stem.filter(|name| super::names::is_name(name)).map_or("[Module]", |name| name);
    let root = ev.st.root.clone();
    let outer = ev.st.enter(&root);
    let space = ev.st.new_space(name);
    ev.st.enter(&outer);
    ev.st.modules.push((found.clone(), None));
    let limits = ev.cx.host.limits().clone();
    let (source, span) = (ev.cx.sys.source.clone(), ev.cx.sys.span);
    ev.st.depth += 1;
    let done = match ev.st.depth > limits.depth {
        true => Err(limit(format!("scripts stand more than {} deep", limits.depth))),
        false => ev.in_space(&space, |ev| ev.script(&Source::new(found.clone(), text), &limits)),
    };
    ev.st.depth -= 1;
    (ev.cx.sys.source, ev.cx.sys.span) = (source, span);
    ev.st.modules.retain(|(name, _)| *name != found);
    done?;
    ev.st.modules.push((found, Some(space.clone())));
    Ok(Some(space.value()))
}

/// A path without `.` and `..` where they change nothing.
fn tidied(path: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if out.last().is_some_and(|p| !p.is_empty() && *p != "..") => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out.join("/")
}

/// The names and values that are copied: by name, or all of some namespaces.
fn given(ev: &mut Eval<'_>, y: &Array) -> Result<Vec<(crate::syntax::Sym, Value)>> {
    if y.is_empty() {
        return Ok(Vec::new());
    }
    let spaces: Option<Vec<Rc<Space>>> = y.in_turn().map(|a| Space::of(&a)).collect();
    if let Some(spaces) = spaces {
        let all = spaces.iter().flat_map(|space| ev.st.members(space));
        return Ok(all.collect());
    }
    let mut out = Vec::new();
    for name in texts(y, "a name")? {
        let Some(v) = ev.named(name.trim()) else {
            return Err(value(format!("{name} has no value")));
        };
        let last = name.trim().rsplit('.').next().map(String::from);
        let sym = ev.st.symbols.intern(&last.into_iter().collect::<String>());
        out.push((sym, v));
    }
    Ok(out)
}

impl Eval<'_> {
    /// The value of a name, or of a dotted path, where the running dfn looks.
    pub fn named(&mut self, name: &str) -> Option<Value> {
        let path = self.path(name)?;
        let frame = self.st.frame.clone();
        let ast = self.st.nothing.clone();
        self.at_path(At { ast: &ast, frame: frame.as_ref() }, &path)
    }

    /// The path that a text writes. None: it is no name.
    pub fn path(&mut self, name: &str) -> Option<Path> {
        let mut parts = name.split('.').peekable();
        let first = parts.next()?;
        let head = match first {
            "#" => Head::Root,
            "##" => Head::Parent,
            first if super::names::is_name(first) => Head::Name(self.st.symbols.intern(first)),
            _ => return None,
        };
        let mut names = Vec::new();
        for part in parts {
            if !super::names::is_name(part) {
                return None;
            }
            names.push(self.st.symbols.intern(part));
        }
        Some(Path { head, names: names.into() })
    }
}

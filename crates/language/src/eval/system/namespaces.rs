//! Namespaces by their system names: ⎕NS makes and copies them, ⎕THIS is the one that runs.

use super::{Args, Row, function, live, misused, texts};
use crate::eval::run::{At, Eval};
use crate::eval::space::Space;
use crate::eval::value::Value;
use crate::syntax::resolve::{Head, Path};
use aplomb_ground::error::{Result, domain, value};
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
        "VGET",
        "The values of names, in the namespace X or here; ('n' 5) has 5 where n has none.",
        ("x←3 ⋄ ⎕VGET'x' ('nosuch' 5)", "3 5"),
        |ev, a| {
            let space = space_of(ev, a.x)?;
            if let Some(name) = a.y.word().filter(|_| a.y.rank() < 2) {
                return valued(ev, &space, &name, None).map(Some);
            }
            let mut out = Vec::new();
            for item in a.y.in_turn() {
                let item = item.disclosed();
                out.push(match (item.word(), item.few()) {
                    (Some(name), _) => valued(ev, &space, &name, None)?,
                    (None, Some([name, d])) => {
                        let name = name.word().ok_or_else(|| domain("a name is text"))?;
                        valued(ev, &space, &name, Some(d.disclosed()))?
                    }
                    _ => return Err(misused("VGET", "names, or pairs of a name and a value")),
                });
            }
            ev.cx.collect(&[out.len()], out, None).map(Some)
        },
    ),
    function(
        "VSET",
        "Gives names values, pairs of both, in the namespace X or here.",
        ("⎕VSET('x' 3)('y' 4) ⋄ x y", "3 4"),
        |ev, a| {
            let space = space_of(ev, a.x)?;
            let is_pair = |a: &Array| {
                a.few().is_some_and(|[name, _]: [Array; 2]| {
                    name.word().is_some_and(|n| super::names::is_name(&n))
                })
            };
            let pairs: Vec<Array> = match is_pair(a.y) {
                true => vec![a.y.clone()],
                false => a.y.in_turn().map(|pair| pair.disclosed()).collect(),
            };
            let form = || misused("VSET", "pairs of a name and a value");
            if !pairs.iter().all(is_pair) {
                return Err(form());
            }
            for pair in pairs {
                let Some([name, value]) = pair.few() else { return Err(form()) };
                let name = name.word().ok_or_else(form)?;
                let sym = ev.st.symbols.intern(&name);
                ev.set_member(&space.value(), sym, Value::Array(value.disclosed()))?;
            }
            ev.shy(a.y.clone())
        },
    ),
    function(
        "DF",
        "Has the namespace in which it runs shown as the text Y; ⎕NULL: by its name.",
        ("n←⎕NS'' ⋄ n.⎕DF'mine' ⋄ n", "mine"),
        |ev, a| {
            let form = match a.y.to_reference().is_some_and(super::variables::is_null) {
                true => None,
                false => Some(a.y.word().ok_or_else(|| domain("⎕DF takes text, or ⎕NULL"))?),
            };
            ev.cx.unframed("⎕DF")?;
            let here = ev.st.here.clone();
            let old = ev.cx.text(&aplomb_values::array::Referent::name(&*here))?;
            here.show_as(form);
            ev.shy(old)
        },
    ),
    live("THIS", "The namespace that runs: # is the workspace.", ("⎕THIS", "#"), |ev| {
        Ok(ev.st.here.value())
    }),
];

fn namespace(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let misread = |e| super::misread(e, "NS", "names as texts, or namespaces");
    let members = given(ev, a.y).map_err(misread)?;
    let (space, name) = match a.x {
        None => (ev.new_space("[Namespace]"), None),
        Some(x) => {
            let name = x.word().ok_or_else(|| domain("the name of a namespace is text"))?;
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
            let name = ev.cx.text(&space.path())?;
            ev.shy(name)
        }
    }
}

/// The namespace X, or the current one.
fn space_of(ev: &Eval<'_>, x: Option<&Array>) -> Result<Rc<Space>> {
    match x {
        None => Ok(ev.st.here.clone()),
        Some(x) => Space::of(x).ok_or_else(|| domain("the left argument is a namespace")),
    }
}

/// The value of a name of a namespace, or what stands for it. Errors: VALUE.
fn valued(ev: &mut Eval<'_>, space: &Rc<Space>, name: &str, or: Option<Array>) -> Result<Array> {
    let held = match Rc::ptr_eq(space, &ev.st.here) {
        true => ev.named(name.trim()),
        false => ev.st.symbols.find(name.trim()).and_then(|sym| ev.st.member(space, sym)),
    };
    match (held, or) {
        (Some(Value::Array(a)), _) => Ok(a),
        (Some(_), _) => Err(domain(format!("{name} holds no array"))),
        (None, Some(or)) => Ok(or),
        (None, None) => Err(value(format!("{name} has no value"))),
    }
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
    for name in texts(y, "a name", ev.cx.budget())? {
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

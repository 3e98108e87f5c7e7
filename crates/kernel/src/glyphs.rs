//! All that is typed by a key or a name, as JSON: `aplomb prims --json` prints it, and a notebook's
//! front end makes its keys, its bar and its editor mode of it.

use aplomb_language::table::{Fails, Meaning, OTHER_KEYS, Prim, other_kind, prims, role};
use serde_json::{Value, json};

/// In the order of the tables.
pub fn all() -> Vec<Value> {
    let known = |glyph: &char| prims().any(|p| p.glyph == *glyph);
    let others = OTHER_KEYS.iter().filter(|row| !known(&row.0)).map(|(glyph, key, names)| {
        json!({ "glyph": glyph.to_string(), "key": key.to_string(), "names": names,
            "kind": other_kind(*glyph), "meanings": [] })
    });
    prims().map(of).chain(others).collect()
}

fn of(p: &Prim) -> Value {
    let uses = [("monadic", &p.monadic), ("dyadic", &p.dyadic), ("operator", &p.operator)];
    let meanings: Vec<Value> =
        uses.iter().filter_map(|(name, m)| m.as_ref().map(|m| meaning(p.glyph, name, m))).collect();
    // A glyph that has no meaning yet is typed by a key all the same.
    let typed = OTHER_KEYS.iter().find(|row| row.0 == p.glyph).map(|row| row.1);
    let key = p.key.or(typed).map(String::from);
    json!({ "glyph": p.glyph.to_string(), "key": key, "names": p.names, "kind": p.kind(),
        "meanings": meanings })
}

fn meaning(glyph: char, usage: &'static str, m: &Meaning) -> Value {
    let line = |line: &str| line.replace('f', &glyph.to_string());
    let error = |e: &Fails| json!({ "error": e.0.name(), "when": e.1, "example": line(e.2) });
    let errors: Vec<Value> = m.errors.iter().map(error).collect();
    let role = role(glyph, usage, m);
    json!({
        "use": usage, "name": m.name, "help": m.help, "shape": m.shape, "errors": errors,
        "class": role.class, "node": role.node,
        "example": [m.example.0, m.example.1], "axis": m.axis
    })
}

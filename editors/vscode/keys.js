// Glyphs by keys, as at the prompt: a key takes the place of a backtick before the cursor; a second
// backtick makes the first one stand. Tab behind the whole name of a glyph puts the glyph.
//
// The two functions are those of JupyterLab's extension (crates/kernel/src/jupyter/lab/keys.js); a
// test holds them to it.
'use strict';

// What typing `text` does where `before` says whether a prefix waits: how much of that goes, what
// is put, and where in it a prefix stands that is none of ours (-1: nowhere). Null: only itself.
// Fast typing hands over several characters at once, so the text is walked.
function typed(before, text, byKey, prefix) {
  let tick = before;
  let [gone, out, stands] = [0, '', -1];
  for (const c of text) {
    const glyph = tick && byKey.get(c);
    if (tick && c === prefix) stands = out.length;
    else if (glyph && out.endsWith(prefix)) out = out.slice(0, -prefix.length) + glyph;
    else if (glyph) [gone, out] = [prefix.length, glyph];
    else out += c;
    tick = !tick && c === prefix;
  }
  return out === text && !gone ? null : { gone, out, stands };
}

// The longest name that the text ends with. A name begins with no digit: `1rho`.
function nameBefore(text, byName) {
  let name = /(?<![\p{L}\p{Nd}_∆⍙⎕])\p{Nd}*([a-z-]+(?: [a-z-]+)*)$/u.exec(text)?.[1];
  while (name && !byName.has(name)) {
    name = name.includes(' ') ? name.slice(name.indexOf(' ') + 1) : null;
  }
  return name;
}

// The table of `aplomb prims --json`, as it is asked.
function indexed(rows) {
  return {
    rows,
    byKey: new Map(rows.filter(g => g.key).map(g => [g.key, g.glyph])),
    // The first row of a name counts.
    byName: new Map(rows.flatMap(g => g.names.map(n => [n, g.glyph])).reverse()),
    byGlyph: new Map(rows.map(g => [g.glyph, g])),
  };
}

module.exports = { typed, nameBefore, indexed };

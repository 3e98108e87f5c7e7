// Glyphs by keys, as at the prompt: a key takes the place of a backtick before the cursor; a second
// backtick makes the first one stand. Tab behind the whole name of a glyph puts the glyph. Where a
// keyboard has the backtick as a dead key, the lab's settings have another prefix.

// The lab's settings of it.
const typing = { prefix: '`' };

// The kernel's language_info gave the editor its mime type; it is right after a change of kernel.
const ours = model => model.mimeType === MIME;

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

// The first row of a name counts.
const namesOf = glyphs => new Map(glyphs.flatMap(g => g.names.map(n => [n, g.glyph])).reverse());

// Puts the glyph in the place of the name before the cursor; false where none stands.
function named(v, byName) {
  const { main } = v.state.selection;
  if (!main.empty) return false;
  const line = v.state.doc.lineAt(main.head);
  const name = nameBefore(line.text.slice(0, main.head - line.from), byName);
  if (!name) return false;
  const [from, put] = [main.head - name.length, byName.get(name)];
  v.dispatch({
    changes: { from, to: main.head, insert: put },
    selection: { anchor: from + put.length },
    userEvent: 'input.complete',
  });
  return true;
}

function keys({ state, view }, model, glyphs) {
  const { StateField, StateEffect, Prec } = state;
  const { EditorView, keymap } = view;
  const stays = StateEffect.define();
  // The place behind a backtick that stands for itself.
  const literal = StateField.define({
    create: () => -1,
    update(at, tr) {
      for (const e of tr.effects) if (e.is(stays)) return e.value;
      return tr.docChanged ? -1 : at;
    },
  });
  const byKey = new Map(glyphs.filter(g => g.key).map(g => [g.key, g.glyph]));
  const byName = namesOf(glyphs);

  // An input handler and no key handler: that hears phones, dead keys and input methods, too.
  const input = EditorView.inputHandler.of((v, from, to, text) => {
    const { prefix } = typing;
    if (from !== to || v.composing || !prefix || !ours(model)) return false;
    const s = v.state;
    const waits = s.sliceDoc(Math.max(0, from - prefix.length), from) === prefix;
    const done = typed(waits && s.field(literal) !== from, text, byKey, prefix);
    if (!done) return false;
    const start = from - done.gone;
    v.dispatch({
      changes: { from: start, to, insert: done.out },
      selection: { anchor: start + done.out.length },
      effects: done.stands < 0 ? [] : stays.of(start + done.stands),
      userEvent: 'input.type',
      scrollIntoView: true,
    });
    return true;
  });

  const tab = keymap.of([{ key: 'Tab', run: v => ours(model) && named(v, byName) }]);
  return [literal, Prec.highest(input), Prec.highest(tab)];
}

// The editor mode: glyphs by the class that the table gives them, names, numbers, texts, braces by
// depth. What closes nothing, and a text that does not end, is marked.

const NAME = /^[\p{L}_∆⍙][\p{L}0-9_∆⍙]*/u;
const PART = '¯?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE]¯?\\d+)?';
const NUMBER = new RegExp(`^${PART}(?:[jJ]${PART})?`);
const COMMAND = /^\s*(\][\w.]*|\)[a-z]+|%%\w*|#!.*)/;
const PAIRS = '{}()[]';

function bracket(c, s) {
  const depth = () => s.open.filter(o => o === '{').length;
  if ('{(['.includes(c)) {
    s.open.push(c);
    return c === '{' ? `b${(depth() - 1) % 3}` : 'brk';
  }
  const inside = depth();
  const was = s.open.pop();
  if (!was || PAIRS.indexOf(was) + 1 !== PAIRS.indexOf(c)) return 'bad';
  return c === '}' ? `b${(inside - 1) % 3}` : 'brk';
}

// A control word stands where a statement begins.
function controls(words) {
  const list = [...words].sort((a, b) => b.length - a.length).join('|');
  return words.length ? new RegExp(`^:(?:${list})(?![A-Za-z])`, 'i') : /^(?!)/;
}

function mode({ language, lezer }, glyphs, words) {
  const { tags, Tag } = lezer;
  const { StreamLanguage, LanguageSupport, HighlightStyle, syntaxHighlighting } = language;
  // Older labs know no names of tags: the parent is all that is said.
  const below = parent => Tag.define(parent);
  const tokenTable = {
    fun: below(tags.keyword),
    op: below(tags.operator),
    arg: below(tags.self),
    sys: below(tags.variableName),
    cmd: below(tags.meta),
    ctl: tags.controlKeyword,
    num: tags.number,
    str: tags.string,
    com: tags.comment,
    name: tags.variableName,
    bad: tags.invalid,
    def: tags.definition(tags.variableName),
    brk: tags.bracket,
    arrow: below(tags.definitionOperator),
    b0: below(tags.brace),
    b1: below(tags.brace),
    b2: below(tags.brace),
  };
  const looks = Object.entries(tokenTable).map(([name, tag]) => ({ tag, class: `apl-${name}` }));
  const of = kind => new Set(glyphs.filter(g => g.kind === kind).map(g => g.glyph));
  const [functions, operators] = [of('function'), of('operator')];
  const control = controls(words);

  // A row: what it matches, and what that is. The first that matches counts.
  const rows = [
    [/^⍝.*/, 'com'],
    [/^'(?:[^']|'')*'/, 'str'],
    [/^'.*/, 'bad'],
    [NUMBER, 'num'],
    [/^⍬/, 'num'],
    [/^⎕[A-Za-z]*/, 'sys'],
    [/^(?:⍺⍺|⍵⍵|∇∇|[⍺⍵∇⍞])/, 'arg'],
    [/^[←→⋄:]/, 'arrow'],
    [/^;/, 'brk'],
  ];
  const stream = StreamLanguage.define({
    name: 'aplomb',
    startState: () => ({ open: [] }),
    copyState: s => ({ open: s.open.slice() }),
    token(st, s) {
      if (st.sol() && !s.open.length && st.match(COMMAND)) return 'cmd';
      if (st.eatSpace()) return null;
      const begins = !st.pos || /[\s⋄]/.test(st.string[st.pos - 1]);
      if (begins && st.match(control)) return 'ctl';
      const row = rows.find(([pattern]) => st.match(pattern));
      if (row) return row[1];
      if (st.match(NAME)) return /^\s*←/.test(st.string.slice(st.pos)) ? 'def' : 'name';
      const c = st.next();
      if (PAIRS.includes(c)) return bracket(c, s);
      if (operators.has(c)) return 'op';
      return functions.has(c) ? 'fun' : 'bad';
    },
    indent: (s, after) => 2 * Math.max(0, s.open.length - (/^\s*[\])}]/.test(after) ? 1 : 0)),
    languageData: {
      commentTokens: { line: '⍝' },
      indentOnInput: /^\s*[\])}]$/,
      closeBrackets: { brackets: ['(', '[', '{'] },
      wordChars: '⎕∆⍙¯',
    },
    tokenTable,
  });
  return new LanguageSupport(stream, [syntaxHighlighting(HighlightStyle.define(looks))]);
}

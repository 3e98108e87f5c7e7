// The VS Code extension without VS Code: a stand-in for the module `vscode` holds one document, whose
// every change the extension hears. One line a check; the exit code is the number that failed.
'use strict';

const fs = require('fs');
const path = require('path');
const Module = require('module');

const ROOT = path.join(__dirname, '../..');
const HOME = path.join(ROOT, 'editors/vscode');
const read = name => fs.readFileSync(path.join(ROOT, name), 'utf8');
const table = JSON.parse(read('editors/vscode/table.json'));
let failed = 0;

function check(says, holds, seen = '') {
  console.log(holds ? 'ok  ' : 'FAIL', says, holds ? '' : JSON.stringify(seen));
  if (!holds) failed += 1;
}

// ---- A stand-in for vscode.

class Position {
  constructor(line, character) { Object.assign(this, { line, character }); }
  translate(lines, characters) { return new Position(this.line + lines, this.character + characters); }
}

class Range {
  constructor(a, b, c, d) {
    [this.start, this.end] = c === undefined ? [a, b] : [new Position(a, b), new Position(c, d)];
  }
}

class Markdown {
  constructor(value = '') { this.value = value; }
  appendMarkdown(text) { this.value += text; return this; }
  appendText(text) { this.value += text; return this; }
  appendCodeblock(text) { this.value += `\n${text}\n`; return this; }
}

const heard = { change: [], commands: {}, completion: [], hover: [], definition: [], found: [], log: [], gone: [], prefix: '`' };
let refuse = 0;

class Document {
  constructor(languageId) { Object.assign(this, { languageId, text: '', uri: 'file:///a.apl', version: 1 }); }
  offset({ line, character }) {
    return this.text.split('\n').slice(0, line).reduce((n, l) => n + l.length + 1, 0) + character;
  }
  positionAt(at) {
    const lines = this.text.slice(0, Math.max(0, at)).split('\n');
    return new Position(lines.length - 1, lines.at(-1).length);
  }
  getText(range) {
    return range ? this.text.slice(this.offset(range.start), this.offset(range.end)) : this.text;
  }
  lineAt(line) { return { text: this.text.split('\n')[line] }; }
}

function change(document, rangeOffset, rangeLength, text, reason) {
  document.text = document.text.slice(0, rangeOffset) + text + document.text.slice(rangeOffset + rangeLength);
  document.version += 1;
  const event = { document, contentChanges: [{ rangeOffset, rangeLength, text }], reason };
  return Promise.all(heard.change.map(f => f(event)));
}

const editorOf = document => ({
  document,
  get selections() {
    const active = document.positionAt(document.text.length);
    return [{ active, start: active, end: active }];
  },
  async edit(write) {
    if (refuse > 0) {
      refuse -= 1;
      return false;
    }
    const edits = [];
    write({ replace: (range, text) => edits.push([document.offset(range.start), document.offset(range.end), text]) });
    for (const [from, to, text] of edits) await change(document, from, to - from, text);
    return true;
  },
});

const registered = list => (selector, provider) => {
  list.push(provider);
  return { dispose() { heard.gone.push(provider); } };
};
const nothing = () => ({ dispose() {} });
const vscode = {
  Position, Range, MarkdownString: Markdown,
  Hover: class { constructor(contents, range) { Object.assign(this, { contents, range }); } },
  CompletionItem: class { constructor(label, kind) { Object.assign(this, { label, kind }); } },
  CompletionItemKind: { Function: 2, Operator: 23, Variable: 5, Constant: 20 },
  Diagnostic: class { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } },
  CompletionList: class { constructor(items, isIncomplete) { Object.assign(this, { items, isIncomplete }); } },
  Location: class { constructor(uri, range) { Object.assign(this, { uri, range }); } },
  Uri: { parse: text => text },
  window: { activeTextEditor: null, createOutputChannel: () => ({ appendLine: l => heard.log.push(l), dispose() {} }) },
  workspace: {
    isTrusted: true,
    textDocuments: [],
    getConfiguration: () => ({ get: name => ({ prefix: heard.prefix, path: process.env.FAKE_SERVER })[name] }),
    onDidChangeTextDocument(f) { heard.change.push(f); return nothing(); },
    onDidOpenTextDocument: nothing,
    onDidCloseTextDocument: nothing,
    onDidSaveTextDocument(f) { heard.save = f; return nothing(); },
  },
  languages: {
    registerCompletionItemProvider: registered(heard.completion),
    registerHoverProvider: registered(heard.hover),
    registerDefinitionProvider: registered(heard.definition),
    createDiagnosticCollection: () => ({ set: (uri, all) => heard.found.push([uri, all]), clear() {}, dispose() {} }),
  },
  commands: {
    registerTextEditorCommand(name, f) { heard.commands[name] = f; return nothing(); },
    registerCommand(name, f) { heard.commands[name] = f; return nothing(); },
    executeCommand: async name => { heard.ran = name; },
  },
};

const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));

// ---- What is typed.

function open(languageId = 'apl') {
  const document = new Document(languageId);
  vscode.window.activeTextEditor = editorOf(document);
  vscode.workspace.textDocuments = [document];
  return document;
}

async function typing(text, languageId) {
  const document = open(languageId);
  for (const c of text) await change(document, document.text.length, 0, c);
  return document.text;
}

async function keys() {
  const wrong = [];
  for (const g of table.filter(g => g.key)) {
    const got = await typing('`' + g.key);
    if (got !== g.glyph) wrong.push([g.key, got]);
  }
  check('each key behind a backtick gives its glyph', !wrong.length, wrong);
  for (const [keys, wanted] of [
    ['x`[2 3`r`i6', 'x←2 3⍴⍳6'], ['``w', '`w'], ['``w`w', '`w⍵'], ['`é', '`é'], ['1`\n`i', '1`\n⍳'], ['wide', 'wide'],
  ]) {
    const got = await typing(keys);
    check(`${JSON.stringify(keys)} is ${JSON.stringify(wanted)}`, got === wanted, got);
  }
  heard.prefix = '§';
  const got = await typing('§w`w§§w');
  check('another prefix is another', got === '⍵`w§w', got);
  heard.prefix = '';
  check('and none is none', await typing('`w') === '`w');
  heard.prefix = '`';
  check('other languages keep their backticks', await typing('`w', 'markdown') === '`w');
  refuse = 2;
  check('a refused edit is tried again', await typing('`w') === '⍵');
  const document = open();
  await change(document, 0, 0, '`w');
  check('what is pasted stays', document.text === '`w', document.text);
  await change(document, 0, 2, '');
  await change(document, 0, 0, '`');
  await change(document, 1, 0, 'w', 1);
  check('what is undone stays', document.text === '`w', document.text);
}

async function names() {
  const wrong = [];
  const first = new Map(table.flatMap(g => g.names.map(n => [n, g.glyph])).reverse());
  for (const [name, glyph] of first) {
    const document = open();
    await change(document, 0, 0, `x ${name}`);
    await heard.commands['aplomb.tab'](vscode.window.activeTextEditor);
    if (document.text !== `x ${glyph}`) wrong.push([name, document.text]);
  }
  check(`each of ${first.size} names and Tab give a glyph`, !wrong.length, wrong);
  const document = open();
  await change(document, 0, 0, 'none such');
  await heard.commands['aplomb.tab'](vscode.window.activeTextEditor);
  check('elsewhere Tab is Tab', heard.ran === 'tab' && document.text === 'none such', document.text);
}

function asked() {
  const document = open();
  document.text = '`';
  const items = heard.completion[0].provideCompletionItems(document, new Position(0, 1));
  const typed = table.filter(g => g.key);
  check('behind a backtick stand all keys', items.length === typed.length
    && items.every(i => i.filterText.startsWith('`')), items.length);
  document.text = '2⍴3';
  const { value } = heard.hover[0].provideHover(document, new Position(0, 1)).contents;
  check('over a glyph stand its names and meanings', /rho/.test(value) && /reshape/.test(value), value);
  check('over a digit stands nothing', heard.hover[0].provideHover(document, new Position(0, 0)) === null);
}

// One by one, as here, and several at once, as a lab hands them over when somebody is fast.
async function random() {
  const { typed, indexed } = require(path.join(HOME, 'keys.js'));
  const { byKey } = indexed(table);
  let seed = 42;
  const below = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const wrong = [];
  for (let k = 0; k < 2000; k += 1) {
    const text = Array.from({ length: 1 + below(12) }, () => '``rwi[x 1-é\n'[below(12)]).join('');
    const [slow, fast] = [await typing(text), typed(false, text, byKey, '`')?.out ?? text];
    if (slow !== fast) wrong.push([text, slow, fast]);
  }
  check('2000 random lines are the same, typed slowly or at once', !wrong.length, wrong.slice(0, 5));
}

// The same text in both, so that one way of typing is tested in the lab and here.
function shared() {
  const [lab, own] = ['crates/kernel/src/jupyter/lab/keys.js', 'editors/vscode/keys.js'].map(read);
  for (const name of ['typed', 'nameBefore']) {
    const text = new RegExp(`^function ${name}\\([^]*?^}$`, 'm');
    check(`${name} is that of the lab`, text.exec(lab)?.[0].length > 100 && text.exec(lab)[0] === text.exec(own)?.[0]);
  }
}

// ---- Colours. The grammar keeps to what Oniguruma and JavaScript read alike.

const grammar = JSON.parse(read('editors/vscode/syntaxes/aplomb.tmLanguage.json'));
const WORDS = /\(\?i:([^)]*)\)/.exec(JSON.stringify(grammar))[1].split('|');
const short = name => name.replace('.apl-aplomb', '');

function rowsOf(patterns) {
  return patterns.flatMap(p => {
    if (!p.include) return [p];
    const inner = grammar.repository[p.include.slice(1)];
    return inner.patterns && !inner.begin ? rowsOf(inner.patterns) : [inner];
  });
}

// JavaScript learns to turn capitals off inside of a pattern only now.
const compiled = text => new RegExp(text.replaceAll('(?i:', '(?:'), text.includes('(?i:') ? 'giu' : 'gu');

// The text in pieces, each with its scope: as TextMate does, the first place that matches, there the first row.
function colours(text) {
  const out = [];
  const open = [];
  for (const line of text.split('\n')) {
    let at = 0;
    while (at < line.length) {
      const within = open.at(-1);
      const rows = rowsOf(within ? within.patterns : grammar.patterns);
      const ends = within ? [{ end: true, match: within.end, name: short(within.endCaptures[0].name) }] : [];
      let best = null;
      for (const row of [...ends, ...rows]) {
        const pattern = compiled(row.match ?? row.begin);
        pattern.lastIndex = at;
        const found = pattern.exec(line);
        if (found && found[0] && (!best || found.index < best.found.index)) best = { row, found };
      }
      if (!best) break;
      const { row, found } = best;
      if (found.index > at) out.push([line.slice(at, found.index), '']);
      out.push([found[0], row.begin ? short(row.beginCaptures[0].name) : short(row.name)]);
      if (row.begin) open.push(row);
      if (row.end === true) open.pop();
      at = found.index + found[0].length;
    }
    if (at < line.length) out.push([line.slice(at), '']);
  }
  return out;
}

function colouring() {
  const of = scope => colours(scope).filter(([text]) => text.trim()).map(([text, name]) => `${text} ${name}`);
  for (const [text, ...wanted] of [
    ["f←{⍵×¯1.5E3J2} ⍝ note", 'f entity.name.function', '← keyword.operator.assignment',
      '{ punctuation.section.dfn.begin', '⍵ variable.parameter', '× keyword.operator.function',
      '¯1.5E3J2 constant.numeric', '} punctuation.section.dfn.end', '⍝ note comment.line.lamp'],
    ["a1 'it''s' ⎕IO ⎕ ⍬", 'a1 variable.other', "'it''s' string.quoted.single", '⎕IO support.function.system',
      '⎕ variable.language.quad', '⍬ constant.language.zilde'],
    ["'open", "'open invalid.illegal.open-text"],
    ['  ]dag +/x', '  ]dag keyword.other.command', '+ keyword.operator.function', '/ keyword.operator.operator',
      'x variable.other'],
    ['a[1;2] ⋄ )off', 'a variable.other', '[ punctuation.bracket', '1 constant.numeric', '; punctuation.bracket',
      '2 constant.numeric', '] punctuation.bracket', '⋄ punctuation.separator.statement', ') punctuation.bracket',
      'off variable.other'],
    [')off', ')off keyword.other.command'],
    ['%%why', '%%why keyword.other.command'],
    ['#!/usr/bin/env aplomb', '#!/usr/bin/env aplomb comment.line.shebang'],
    [':If x ⋄ :endif', ':If keyword.control', 'x variable.other', '⋄ punctuation.separator.statement',
      ':endif keyword.control'],
    ['{x:If}', '{ punctuation.section.dfn.begin', 'x variable.other', ': punctuation.separator.guard',
      'If variable.other', '} punctuation.section.dfn.end'],
    ['{\n⍺⍺ ⍵⍵ ∇⍵}', '{ punctuation.section.dfn.begin', '⍺⍺ variable.parameter', '⍵⍵ variable.parameter',
      '∇ keyword.other.recursion', '⍵ variable.parameter', '} punctuation.section.dfn.end'],
  ]) {
    const got = of(text);
    check(`colours of ${JSON.stringify(text)}`, JSON.stringify(got) === JSON.stringify(wanted), got);
  }
  const wrong = [];
  const kinds = { function: 'keyword.operator.function', operator: 'keyword.operator.operator', argument: 'variable.parameter' };
  for (const g of table.filter(g => kinds[g.kind] && g.glyph !== '→')) {
    const [[, scope]] = colours(g.glyph);
    if (scope !== kinds[g.kind]) wrong.push([g.glyph, scope]);
  }
  check('each glyph has the colour of its kind', !wrong.length, wrong);
  const files = fs.readdirSync(path.join(ROOT, 'examples')).filter(f => f.endsWith('.apl'));
  const bare = files.flatMap(f => colours(read(`examples/${f}`))
    .filter(([text, scope]) => text.trim() && (!scope || scope.startsWith('invalid'))).map(([text]) => [f, text]));
  check(`${files.length} programs have a colour everywhere`, files.length > 20 && !bare.length, bare.slice(0, 5));
}

// The lab's mode, asked for what it says of each piece of a text: CodeMirror's stream by a stand-in.
function moded(text) {
  const code = read('crates/kernel/src/jupyter/lab/mode.js');
  const any = () => new Proxy(() => any(), { get: () => any() });
  const language = {
    StreamLanguage: { define: made => made },
    LanguageSupport: class { constructor(made) { this.made = made; } },
    HighlightStyle: { define() {} },
    syntaxHighlighting() {},
  };
  const { made } = new Function(`${code}\nreturn mode;`)()({ language, lezer: { tags: any(), Tag: any() } }, table, WORDS);
  const state = made.startState();
  return text.split('\n').flatMap(line => {
    const st = {
      string: line,
      pos: 0,
      sol: () => st.pos === 0,
      next: () => { const c = String.fromCodePoint(line.codePointAt(st.pos)); st.pos += c.length; return c; },
      eatSpace: () => { const from = st.pos; while (/\s/.test(line[st.pos] ?? '')) st.pos += 1; return st.pos > from; },
      match(pattern) {
        const found = pattern.exec(line.slice(st.pos));
        if (found) st.pos += found[0].length;
        return found;
      },
    };
    const out = [];
    while (st.pos < line.length) {
      const from = st.pos;
      const name = made.token(st, state);
      out.push([line.slice(from, st.pos), name ?? '']);
    }
    return out;
  });
}

// What the mode calls by which name, and the grammar by which scope; a bracket that closes nothing is one to the grammar.
const ALIKE = {
  fun: 'keyword.operator.function', op: 'keyword.operator.operator', arg: /^(variable\.parameter|keyword\.other\.recursion|variable\.language)/,
  sys: /^(support\.function|variable\.language)/, cmd: /^(keyword\.other\.command|comment\.line\.shebang)/, ctl: 'keyword.control', num: /^constant/,
  str: 'string', com: 'comment', name: 'variable.other', def: 'entity.name', bad: /^(invalid|$|punctuation)/, brk: 'punctuation.bracket',
  arrow: /^(keyword\.operator\.assignment|punctuation\.separator)/, b0: 'punctuation.section', b1: 'punctuation.section', b2: 'punctuation.section',
};

// For each character that is no blank, what both say of it.
function agreed() {
  const spread = pieces => pieces.flatMap(([text, name]) => [...text].map(c => [c, name])).filter(([c]) => c.trim());
  const pages = ['examples', 'tests/conformance'].flatMap(folder => fs.readdirSync(path.join(ROOT, folder))
    .filter(f => /\.(apl|txt)$/.test(f)).map(f => `${folder}/${f}`));
  const wrong = [];
  let count = 0;
  for (const page of pages) {
    // A page of cases has code behind six blanks; each line of it stands for itself.
    const own = page.endsWith('.apl') ? [read(page)] : read(page).split('\n').filter(l => l.startsWith('      ')).map(l => l.slice(6));
    for (const text of own) {
      const [mode, tm] = [spread(moded(text)), spread(colours(text))];
      count += mode.length;
      const k = mode.findIndex(([c, name], at) => {
        const scope = tm[at]?.[1];
        const rule = ALIKE[name];
        return tm[at]?.[0] !== c || !(rule instanceof RegExp ? rule.test(scope) : scope?.startsWith(rule ?? '?'));
      });
      if (k >= 0) wrong.push([page, text.slice(0, 60), mode[k], tm[k]]);
    }
  }
  check(`the lab's mode and the grammar say the same of ${count} characters`, count > 50000 && !wrong.length,
    [wrong.length, ...wrong.slice(0, 12)]);
}

// ---- A server of a few lines, started as `aplomb lsp` is.

const SERVER = `#!${process.execPath}
const { framed, reader } = require(${JSON.stringify(path.join(HOME, 'lsp.js'))});
const say = m => process.stdout.write(framed(m));
const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
if (process.argv[2] !== 'lsp') process.exit(3);
process.stdin.on('data', reader(m => {
  const answer = result => say({ id: m.id, result });
  if (m.method === 'initialize') answer({ capabilities: { hoverProvider: true, definitionProvider: true, completionProvider: {} } });
  if (m.method === 'textDocument/didOpen') say({ method: 'textDocument/publishDiagnostics', params: { uri: m.params.textDocument.uri,
    diagnostics: [{ range, severity: 1, message: 'LENGTH ERROR: ' + m.params.textDocument.text }] } });
  if (m.method === 'textDocument/hover') answer({ contents: { kind: 'markdown', value: 'a shape ⍴' } });
  if (m.method === 'textDocument/definition') answer([{ uri: m.params.textDocument.uri, range }]);
  if (m.method === 'textDocument/completion') answer({ isIncomplete: true, items: [{ label: 'wide', kind: 6, filterText: 'wi' }] });
  if (m.method === 'textDocument/didSave') say({ method: 'textDocument/publishDiagnostics', params: { uri: m.params.textDocument.uri,
    diagnostics: [{ range, message: 'saved' }] } });
  if (m.method === 'shutdown') answer(null);
  if (m.method === 'exit') process.exit(0);
  if (m.params?.textDocument?.text === 'die') process.exit(7);
}));
`;

const until = async holds => {
  for (let k = 0; k < 500 && !holds(); k += 1) await new Promise(go => setTimeout(go, 10));
};

async function served(dispose) {
  await until(() => heard.found.length && heard.hover.length > 1);
  const [[uri, [told]]] = heard.found;
  check('what the server finds stands in the text', told.message === 'LENGTH ERROR: 1 2+3 4 5' && told.severity === 0, told);
  const { activeTextEditor: { document } } = vscode.window;
  const at = new Position(0, 0);
  const said = (await heard.hover[1].provideHover(document, at)).contents;
  check('it is asked about a place', said.value === 'a shape ⍴', said);
  const [place] = await heard.definition[0].provideDefinition(document, at);
  check('and where a name is from', place.uri === uri, place);
  const { items: [item], isIncomplete } = await heard.completion[1].provideCompletionItems(document, at);
  check('and what may follow', item.label === 'wide' && item.kind === 5 && item.filterText === 'wi' && isIncomplete, item);
  check('what it does takes the place of the table alone', heard.gone.length === 2, heard.gone.length);
  heard.save(document);
  await until(() => heard.found.length > 1);
  check('it hears what is saved', heard.found[1][1][0].message === 'saved', heard.found[1]);
  dispose();
  await until(() => heard.log.length);
  check('it ends with the editor', heard.log.join().includes('ended with 0'), heard.log);
}

// A server that dies: what the table alone knows is back.
async function dies(extension) {
  heard.hover.length = 0;
  heard.gone.length = 0;
  heard.log.length = 0;
  heard.found.length = 0;
  open().text = 'die';
  extension.activate({ subscriptions: [] });
  await until(() => heard.log.length);
  check('after a server that dies the table is asked again', heard.hover.length === 3 && heard.gone.length >= 3,
    [heard.hover.length, heard.gone.length]);
}

async function absent(extension) {
  heard.log.length = 0;
  process.env.FAKE_SERVER = '/nowhere/aplomb';
  extension.activate({ subscriptions: [] });
  await until(() => heard.log.length);
  check('without a server a line says so', /nowhere/.test(heard.log.join()), heard.log);
}

// The program's own server; `cargo test` says where the program is by the kernel that it installed.
async function real(extension) {
  if (!process.env.JUPYTER_PATH) return console.log('skipped: needs an installed kernel');
  const kernel = fs.readFileSync(path.join(process.env.JUPYTER_PATH, 'kernels/aplomb/kernel.json'), 'utf8');
  process.env.FAKE_SERVER = JSON.parse(kernel).argv[0];
  for (const list of [heard.hover, heard.completion, heard.definition, heard.found, heard.log]) list.length = 0;
  const document = open();
  document.text = 'average←+/÷≢\naverage 3 1 4\n(1 2\naver';
  const context = { subscriptions: [] };
  extension.activate(context);
  await until(() => heard.found.length && heard.hover.length > 1);
  const [[, wrong]] = heard.found;
  check('aplomb lsp finds an open bracket', wrong.length === 1 && wrong[0].range.start.line === 2, wrong);
  const { value } = (await heard.hover[1].provideHover(document, new Position(1, 2))).contents;
  check('it tells a name', value.includes('average←+/÷≢'), value);
  const [place] = await heard.definition[0].provideDefinition(document, new Position(1, 2));
  check('and where it is from', place.range.start.line === 0 && place.range.end.character === 7, place);
  const { items } = await heard.completion[1].provideCompletionItems(document, new Position(3, 4));
  check('and ends one', items.some(i => i.label === 'average' && i.insertText === 'average'), items.slice(0, 3));
  context.subscriptions.forEach(s => s.dispose());
  await until(() => heard.log.length);
  check('it ends with the editor', heard.log.join().includes('ended with 0'), heard.log);
}

async function main() {
  const folder = fs.mkdtempSync(path.join(require('os').tmpdir(), 'aplomb-'));
  process.env.FAKE_SERVER = path.join(folder, 'aplomb');
  fs.writeFileSync(process.env.FAKE_SERVER, SERVER, { mode: 0o755 });
  open().text = '1 2+3 4 5';
  const context = { subscriptions: [] };
  const extension = require(HOME);
  extension.activate(context);
  await served(() => context.subscriptions.forEach(s => s.dispose()));
  heard.change.splice(1);
  await keys();
  await names();
  await random();
  asked();
  shared();
  colouring();
  agreed();
  await dies(extension);
  await real(extension);
  await absent(extension);
  fs.rmSync(folder, { recursive: true });
  process.exit(failed);
}

main();

// APL in VS Code: glyphs by backtick and by name, completion and help by the table of the prompt,
// and what `aplomb lsp` knows. Cells of notebooks are documents, too, so all of it is there as well.
'use strict';

const vscode = require('vscode');
const { typed, nameBefore, indexed } = require('./keys');
const lsp = require('./lsp');
const table = indexed(require('./table.json'));

const APL = { language: 'apl' };
const ours = document => document.languageId === 'apl';
const setting = name => vscode.workspace.getConfiguration('aplomb').get(name);

// The place behind a backtick that stands for itself.
let literal = { uri: '', at: -1 };

// What a typed character makes of the text before it: a range and what takes its place, or null.
function replaced(document, at, text, prefix) {
  const from = document.positionAt(at);
  const uri = String(document.uri);
  const stands = literal.uri === uri && literal.at === at;
  const before = document.getText(new vscode.Range(document.positionAt(at - prefix.length), from));
  const done = typed(before === prefix && !stands, text, table.byKey, prefix);
  if (!done) return null;
  if (done.stands >= 0) literal = { uri, at: at - done.gone + done.stands };
  const range = new vscode.Range(document.positionAt(at - done.gone), document.positionAt(at + text.length));
  return { range, text: done.out, was: document.getText(range) };
}

// An edit is refused where the document has changed meanwhile; then it is tried again, as long as
// the same characters stand there.
async function put(editor, edits) {
  const own = { undoStopBefore: false, undoStopAfter: false };
  for (let tries = 0; tries < 5; tries += 1) {
    const there = edits.filter(e => editor.document.getText(e.range) === e.was);
    const write = builder => there.forEach(e => builder.replace(e.range, e.text));
    if (!there.length || await editor.edit(write, own)) return;
  }
}

// Typed characters come as changes of the text; so do those of phones, dead keys and input methods.
function changed(event) {
  const editor = vscode.window.activeTextEditor;
  const undone = event.reason !== undefined;
  if (!ours(event.document) || editor?.document !== event.document || undone) return;
  const prefix = setting('prefix');
  if (!prefix) return;
  let moved = 0;
  const edits = [];
  for (const c of [...event.contentChanges].sort((a, b) => a.rangeOffset - b.rangeOffset)) {
    // What is pasted is meant as it is.
    if (c.rangeLength === 0 && [...c.text].length === 1) {
      edits.push(replaced(event.document, c.rangeOffset + moved, c.text, prefix));
    }
    moved += c.text.length - c.rangeLength;
  }
  const real = edits.filter(Boolean);
  if (real.length) return put(editor, real);
  // The second backtick is taken away at the very place; all else that is written ends it.
  if (event.contentChanges.some(c => c.text || c.rangeOffset < literal.at)) literal = { uri: '', at: -1 };
}

// Tab behind a whole name puts its glyph; elsewhere it is Tab.
async function tab(editor) {
  const places = editor.selections.map(s => {
    const { line, character } = s.active;
    const before = editor.document.lineAt(line).text.slice(0, character);
    const name = nameBefore(before, table.byName);
    const range = name && new vscode.Range(line, character - name.length, line, character);
    return name && { range, text: table.byName.get(name) };
  });
  if (!places.every(Boolean)) return vscode.commands.executeCommand('tab');
  await editor.edit(builder => places.forEach(p => builder.replace(p.range, p.text)));
}

const KINDS = { function: 'Function', operator: 'Operator', argument: 'Variable', symbol: 'Constant' };

// Behind a backtick the keys, one by one; behind letters the names.
const completion = {
  provideCompletionItems(document, position) {
    const before = document.lineAt(position.line).text.slice(0, position.character);
    const prefix = setting('prefix');
    const tick = prefix && before.endsWith(prefix);
    const name = /[a-z-]+$/.exec(before)?.[0] ?? '';
    const from = position.translate(0, -(tick ? prefix : name).length);
    const range = new vscode.Range(from, position);
    return table.rows.filter(g => !tick || g.key).map(g => {
      const item = new vscode.CompletionItem(g.glyph, vscode.CompletionItemKind[KINDS[g.kind]]);
      const names = g.names.join(', ');
      const filterText = tick ? prefix + g.key : g.names.join(' ');
      const documentation = about(g);
      return Object.assign(item, { detail: names, filterText, range, documentation, insertText: g.glyph });
    });
  },
};

const SIDES = { monadic: g => `${g}Y`, dyadic: g => `X${g}Y`, operator: () => 'operator' };

function about(g) {
  const page = new vscode.MarkdownString();
  const prefix = setting('prefix');
  const key = g.key && prefix ? `, key \`\` ${prefix}${g.key} \`\`` : '';
  page.appendMarkdown(`**${g.glyph}** ${g.names.join(', ')}${key}\n\n`);
  for (const m of g.meanings) {
    page.appendMarkdown(`*${m.name}* — `).appendText(`${SIDES[m.use](g.glyph)}: ${m.help}`);
    const [code, gives] = m.example;
    if (code) page.appendCodeblock(`      ${code}\n${gives}`, 'apl');
  }
  return page;
}

const hover = {
  provideHover(document, position) {
    const range = new vscode.Range(position, position.translate(0, 1));
    const g = table.byGlyph.get(document.getText(range));
    return g ? new vscode.Hover(about(g), range) : null;
  },
};

function run() {
  const document = vscode.window.activeTextEditor?.document;
  if (!document || !ours(document)) return;
  const options = { name: 'Aplomb', shellPath: setting('path'), shellArgs: [document.fileName] };
  return document.save().then(() => vscode.window.createTerminal(options).show());
}

// What the table alone knows.
function known() {
  const { languages } = vscode;
  return [
    languages.registerCompletionItemProvider(APL, completion, '`'),
    languages.registerHoverProvider(APL, hover),
  ];
}

const placed = r => new vscode.Range(r.start.line, r.start.character, r.end.line, r.end.character);
const textOf = contents => [contents].flat().map(c => c.value ?? c).join('\n\n');

// The server's answers as VS Code's own, and the documents as it wants them told. While it lives it
// takes the place of what the table alone knows.
function serve(context, alone) {
  const { workspace, languages } = vscode;
  const found = languages.createDiagnosticCollection('aplomb');
  const told = (method, p) => {
    if (method !== 'textDocument/publishDiagnostics') return;
    const one = d => {
      const made = new vscode.Diagnostic(placed(d.range), d.message, (d.severity ?? 1) - 1);
      return Object.assign(made, { source: 'aplomb' });
    };
    found.set(vscode.Uri.parse(p.uri), p.diagnostics.map(one));
  };
  const own = [];
  let left = false;
  const log = vscode.window.createOutputChannel('Aplomb');
  const root = workspace.workspaceFolders?.[0]?.uri;
  const words = setting('shapes') ? ['lsp', '--run'] : ['lsp'];
  const server = lsp.start(setting('path'), words, root ? String(root) : null, told, says => {
    found.clear();
    log.appendLine(says);
    own.splice(0).forEach(one => one.dispose());
    if (!alone.length && !left) alone.push(...known());
  });
  const textDocument = d => ({ uri: String(d.uri), version: d.version });
  const opened = d => ours(d) && server.tell('textDocument/didOpen',
    { textDocument: { ...textDocument(d), languageId: 'apl', text: d.getText() } });
  const closed = d => ours(d) && server.tell('textDocument/didClose', { textDocument: textDocument(d) });
  const edited = ({ document: d }) => ours(d) && server.tell('textDocument/didChange',
    { textDocument: textDocument(d), contentChanges: [{ text: d.getText() }] });
  const saved = d => ours(d) && server.tell('textDocument/didSave', { textDocument: textDocument(d) });
  const at = (d, position) => ({ textDocument: textDocument(d), position });
  const leave = () => {
    left = true;
    server.stop();
  };
  context.subscriptions.push(found, log, { dispose: leave });
  server.ready.then(can => {
    if (!can) return;
    workspace.textDocuments.forEach(opened);
    alone.splice(0).forEach(one => one.dispose());
    own.push(
      workspace.onDidOpenTextDocument(opened),
      workspace.onDidCloseTextDocument(closed),
      workspace.onDidChangeTextDocument(edited),
      workspace.onDidSaveTextDocument(saved));
    if (can.hoverProvider) own.push(languages.registerHoverProvider(APL, {
      provideHover: (d, p) => server.ask('textDocument/hover', at(d, p)).then(h =>
        h && new vscode.Hover(new vscode.MarkdownString(textOf(h.contents)), h.range && placed(h.range))),
    }));
    if (can.definitionProvider) own.push(languages.registerDefinitionProvider(APL, {
      provideDefinition: (d, p) => server.ask('textDocument/definition', at(d, p)).then(all =>
        [all ?? []].flat().map(l => new vscode.Location(vscode.Uri.parse(l.uri), placed(l.range)))),
    }));
    if (can.completionProvider) {
      const item = i => Object.assign(new vscode.CompletionItem(i.label, (i.kind ?? 1) - 1), {
        detail: i.detail,
        filterText: i.filterText,
        sortText: i.sortText,
        insertText: i.textEdit?.newText ?? i.insertText,
        range: i.textEdit && placed(i.textEdit.range),
      });
      own.push(languages.registerCompletionItemProvider(APL, {
        provideCompletionItems: (d, p) => server.ask('textDocument/completion', at(d, p)).then(all =>
          new vscode.CompletionList((all?.items ?? all ?? []).map(item), all?.isIncomplete === true)),
      }, ...(can.completionProvider.triggerCharacters ?? [])));
    }
  });
}

function activate(context) {
  const { commands, languages, workspace } = vscode;
  const alone = known();
  context.subscriptions.push(
    { dispose: () => alone.forEach(one => one.dispose()) },
    workspace.onDidChangeTextDocument(changed),
    commands.registerTextEditorCommand('aplomb.tab', tab),
    commands.registerCommand('aplomb.run', run));
  if (workspace.isTrusted) serve(context, alone);
  else context.subscriptions.push(workspace.onDidGrantWorkspaceTrust(() => serve(context, alone)));
}

module.exports = { activate, deactivate() {} };

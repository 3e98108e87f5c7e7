// The plugins, one a piece, so that a lab in which one of them fails keeps the others.

async function plugins() {
  const names = Object.keys(NEEDS);
  const table = fetch(file('table.json')).then(r => r.json());
  const [{ glyphs, switches, words = [] }, ...mods] =
    await Promise.all([table, ...names.map(n => shared(NEEDS[n]))]);
  const lab = Object.fromEntries(names.map((n, k) => [n, mods[k]]));
  const plugin = (name, says, requires, activate) => ({
    id: `aplomb:${name}`,
    description: `APL (Aplomb): ${says}`,
    autoStart: true,
    requires,
    activate,
  });
  return [
    plugin('looks', 'font and colours', [], () => {
      document.head.append(make('link', { rel: 'stylesheet', href: file('looks.css') }));
    }),
    plugin('mode', 'editor mode', [lab.cm.IEditorLanguageRegistry], (app, languages) => {
      languages.addLanguage({
        name: 'aplomb',
        displayName: 'APL (Aplomb)',
        mime: MIME,
        extensions: ['aplomb'],
        support: mode(lab, glyphs, words),
      });
    }),
    plugin('keys', 'glyphs by backtick and by name',
      [lab.cm.IEditorExtensionRegistry, lab.settings.ISettingRegistry],
      (app, extensions, registry) => {
        registry.load('aplomb:keys').then(s => {
          const look = () => { typing.prefix = s.composite.prefix ?? '`'; };
          s.changed.connect(look);
          look();
        });
        const made = lab.cm.EditorExtensionRegistry;
        extensions.addExtension({
          name: 'aplomb:keys',
          factory: ({ model }) => made.createImmutableExtension(keys(lab, model, glyphs)),
        });
        // Notebook 7 hears Tab before the editor does, and would complete.
        const command = 'aplomb:name';
        const completes = 'completer:invoke-notebook';
        const byName = namesOf(glyphs);
        app.commands.addCommand(command, {
          label: 'A Name Becomes Its Glyph',
          execute() {
            const at = document.activeElement?.closest('.cm-editor');
            const v = at && lab.view.EditorView.findFromDOM(at);
            if (!(v && named(v, byName))) return app.commands.execute(completes);
          },
        });
        const editor = '.jp-mod-completer-enabled:not(.jp-mod-at-line-beginning)';
        const selector = `.aplomb-on .jp-Notebook.jp-mod-editMode .jp-CodeCell ${editor}`;
        app.commands.addKeyBinding({ command, keys: ['Tab'], selector });
      }),
    plugin('tables', 'tables that a click sorts', [], () => {
      document.addEventListener('click', sorting);
      document.addEventListener('mouseover', telling);
    }),
    plugin('bar', 'a command that hides the language bar', [lab.apputils.ICommandPalette],
      (app, palette) => {
        const command = 'aplomb:bar';
        app.commands.addCommand(command, {
          label: 'Show APL Glyphs',
          isToggled: () => !bars.hidden(),
          execute: () => bars.turn(),
        });
        app.contextMenu.addItem({ command, selector: '.aplomb-on .jp-Notebook', rank: 200 });
        palette.addItem({ command, category: 'APL (Aplomb)' });
      }),
    plugin('notebook', 'language bar and live views', [], app => {
      app.docRegistry.addWidgetExtension('Notebook', {
        createNew(panel, context) {
          const session = context.sessionContext;
          const link = linkOf(session);
          const put = g => panel.content.activeCell?.editor?.replaceSelection(g);
          const row = bar(lab, glyphs, put);
          panel.contentHeader.addWidget(row);
          // The notebook's own renderers: those of the application have no session.
          panel.content.rendermime.addFactory({
            safe: true,
            mimeTypes: [TRACE],
            createRenderer: o => view(lab, o.mimeType, link, switches),
          }, 10);
          const look = () => {
            const name = session.session?.kernel?.name ?? session.kernelPreference.name;
            panel.toggleClass('aplomb-on', name === KERNEL);
            row.setHidden(name !== KERNEL || bars.hidden());
          };
          bars.all.add(look);
          session.kernelChanged.connect(look);
          session.ready.then(look);
          look();
          panel.disposed.connect(() => {
            bars.all.delete(look);
            link.close();
          });
          return row;
        },
      });
    }),
  ];
}

window._JUPYTERLAB = window._JUPYTERLAB || {};
window._JUPYTERLAB.aplomb = {
  init(s) { scope = s; },
  async get(module) {
    if (module !== './extension') throw new Error(`aplomb: no ${module}`);
    const all = await plugins();
    return () => ({ __esModule: true, default: all });
  },
};

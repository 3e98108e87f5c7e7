// What stands beside a graph: the source with the node's place marked, what was decided, and the
// CUDA of the launches, folded. All of it is written as text.

const count = (n, what) => `${n} ${what}${n === 1 ? '' : 'es'}`;

// The text that the trace's statement stands in: its own cell, which need not be the first.
function home({ sources, place, statement }) {
  return sources[place?.[0] ?? sources.length - 1] ?? { name: '', text: statement };
}

// A node may stand in several cells: that of a name which this line only uses, and the line.
function sourceOf(t, picked) {
  const spans = picked?.span ?? [];
  const own = home(t);
  const others = t.sources.filter(s => s !== own && spans.some(([of]) => of === s.id));
  return [own, ...others].map(s => {
    const pre = make('pre', { className: 'source' });
    if (s !== own) pre.append(make('small', {}, `${s.name}  `));
    const mine = spans.filter(([of]) => of === s.id);
    [...s.text].forEach((c, k) => {
      const marked = mine.some(([, from, to]) => k >= from && k < to);
      pre.append(marked ? make('mark', {}, c) : c);
    });
    return pre;
  });
}

// The decisions about a node; where none is picked and a view asks for reasons, all of them. A
// click on a sentence picks its node.
function reasonsOf(t, part, picked, pick) {
  const all = t.decisions.slice(...part.decisions);
  const mine = picked ? all.filter(d => d.node === picked.id) : t.view?.kind === 'why' ? all : [];
  return mine.map(d => {
    const others = (d.alt ?? []).map(a => `${a.name} (${a.why_not})`).join(', ');
    const tail = [d.seed, others && `not ${others}`].filter(Boolean).join('; ');
    const said = make('p', {}, d.text, make('small', {}, ` ${tail}`));
    if (!picked) {
      said.classList.add('of');
      said.addEventListener('click', () => pick(d.node));
    }
    return said;
  });
}

const texts = t => (t.kernels ?? []).some(k => k.cuda?.text);

// A launch, folded unless it is among those that are open; the lines that the picked node became
// are marked.
function launchOf(k, picked, open) {
  const lines = (k.cuda.lines ?? []).filter(([, ids]) => ids.includes(picked?.id));
  const mine = new Set(lines.map(([line]) => line));
  const pre = make('pre', {});
  k.cuda.text.split('\n').forEach((text, at) => {
    pre.append(mine.has(at + 1) ? make('mark', {}, text) : text, '\n');
  });
  const looks = { className: 'launch', open: open.has(k.name) };
  const folded = make('details', looks, make('summary', {}, k.name), pre);
  folded.addEventListener('toggle', () => open[folded.open ? 'add' : 'delete'](k.name));
  return folded;
}

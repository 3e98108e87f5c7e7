// The language bar: a row of glyphs under a notebook's toolbar; a click puts one, and the mouse
// over it reads its key, names and meanings. It can be hidden, and stays so for whoever hid it.

const SIDES = {
  monadic: g => `${g}Y`,
  dyadic: g => `X${g}Y`,
  operator: () => 'operator',
};

function about(g) {
  const key = g.key && typing.prefix ? [' ', make('kbd', {}, typing.prefix + g.key)] : [];
  const head = make('div', {}, make('b', {}, g.glyph), ` ${g.names.join(', ')}`, ...key);
  const meaning = m => {
    const said = make('div', {}, make('i', {}, `${SIDES[m.use](g.glyph)}  ${m.name}: `), m.help);
    const [code, gives] = m.example;
    if (code) said.append(make('pre', {}, `${code}  →  ${gives}`));
    return said;
  };
  return [head, ...g.meanings.map(meaning)];
}

// All bars of a page are seen, or none is.
const bars = {
  all: new Set(),
  hidden: () => localStorage.getItem('aplomb:bar') === 'hidden',
  look() {
    for (const look of this.all) look();
  },
  turn() {
    localStorage.setItem('aplomb:bar', this.hidden() ? 'shown' : 'hidden');
    this.look();
  },
};

function bar({ widgets }, glyphs, put) {
  const node = make('div', { className: 'aplomb-bar', role: 'toolbar' });
  node.setAttribute('aria-label', 'APL glyphs');
  const strip = make('div', { className: 'strip' });
  const tip = make('div', { className: 'aplomb-tip', role: 'tooltip', hidden: true });
  document.body.append(tip);
  const show = (button, g) => {
    tip.replaceChildren(...about(g));
    const box = button.getBoundingClientRect();
    tip.hidden = false;
    const left = Math.min(box.left, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${box.bottom + 4}px`;
  };
  for (const g of glyphs) {
    const b = make('button', { textContent: g.glyph, tabIndex: -1, type: 'button' });
    b.setAttribute('aria-label', g.names.join(', '));
    b.addEventListener('mousedown', e => {
      e.preventDefault(); // the cell keeps the focus
      put(g.glyph);
    });
    b.addEventListener('mouseenter', () => show(b, g));
    b.addEventListener('mouseleave', () => { tip.hidden = true; });
    strip.append(b);
  }
  const hide = make('button', { className: 'hide', tabIndex: -1, type: 'button' }, '×');
  hide.title = 'hide this bar; the command palette and a right click have “Show APL Glyphs”';
  hide.setAttribute('aria-label', 'hide the bar of glyphs');
  hide.addEventListener('mousedown', e => e.preventDefault());
  hide.addEventListener('click', () => bars.turn());
  node.append(strip, hide);
  const widget = new widgets.Widget({ node });
  widget.addClass('aplomb-bar-widget');
  widget.disposed.connect(() => tip.remove());
  return widget;
}

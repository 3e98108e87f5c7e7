// A trace as a picture: nodes in layers, each in the colour of the launch that computes it.

// Nodes that are drawn; more are told in words.
const MOST = 400;
const [WIDE, HIGH] = [104, 52];

const svg = (name, attributes = {}, ...inner) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...inner);
  return e;
};

// What stands after each pass. A field that a pass leaves out is as before; breaks come whole, or
// as those that changed and those that are gone.
function stages(trace, [first, last]) {
  let now = { launches: [], breaks: new Map(), bytes: 0 };
  return trace.passes.slice(first, last).map(p => {
    const breaks = new Map(p.breaks ? p.breaks.map(b => [b.node, b]) : now.breaks);
    for (const b of p.breaks_changed ?? []) breaks.set(b.node, b);
    for (const n of p.breaks_gone ?? []) breaks.delete(n?.node ?? n);
    const { name, launches = now.launches, bytes = now.bytes, changed } = p;
    now = { name, launches, breaks, bytes, changed };
    return now;
  });
}

// Whose launch computes a node: from each written node down to what is written elsewhere.
function owners(nodes, stage) {
  const of = new Map();
  stage.launches.forEach((launch, k) => {
    const waiting = launch.map(n => n?.node ?? n);
    while (waiting.length) {
      const n = waiting.pop();
      if (of.has(n) || !nodes.has(n)) continue;
      of.set(n, k);
      waiting.push(...nodes.get(n).in.filter(i => !stage.breaks.has(i)));
    }
  });
  return of;
}

// Where nodes stand: below the deepest of their arguments, the rows centred.
function places(nodes) {
  const depth = new Map();
  const rows = [];
  for (const n of nodes.values()) {
    const above = n.in.filter(i => depth.has(i)).map(i => depth.get(i));
    const d = Math.max(-1, ...above) + 1;
    depth.set(n.id, d);
    (rows[d] ??= []).push(n);
  }
  const width = Math.max(...rows.map(r => r.length)) * WIDE;
  const at = (r, d, k) => [(width - r.length * WIDE) / 2 + (k + 0.5) * WIDE, d * HIGH + 24];
  const place = new Map(rows.flatMap((r, d) => r.map((n, k) => [n.id, at(r, d, k)])));
  return { place, width, height: rows.length * HIGH };
}

// `picked`: the node that is looked at, or undefined; `pick` gets the one that is clicked.
function picture(nodes, stage, picked, pick) {
  const { place, width, height } = places(nodes);
  const owner = owners(nodes, stage);
  const readers = id => [...nodes.values()].filter(n => n.in.includes(id)).map(n => n.id);
  const near = new Set(picked ? [picked.id, ...picked.in, ...readers(picked.id)] : []);
  const [lines, boxes] = [[], []];
  for (const n of nodes.values()) {
    const [x, y] = place.get(n.id);
    for (const i of n.in.filter(i => place.has(i))) {
      const [a, b] = place.get(i);
      const on = picked && [n.id, i].includes(picked.id);
      const look = `edge${stage.breaks.has(i) ? ' memory' : ''}${on ? ' on' : ''}`;
      const d = `M${a} ${b + 15}C${a} ${b + 30} ${x} ${y - 30} ${x} ${y - 15}`;
      lines.push(svg('path', { d, class: look }));
    }
    const kept = stage.breaks.has(n.id);
    const looks = [
      'node',
      `l${(owner.get(n.id) ?? 7) % 6}`,
      kept && 'break',
      near.has(n.id) && 'near',
      picked?.id === n.id && 'on',
    ];
    const name = `${n.name ? n.name + ' ' : ''}${n.op}`.slice(0, 14);
    const type = `n${n.id} ${n.dtype} ${n.shape.join(' ') || 'scalar'}`.slice(0, 18);
    const box = svg('g', { class: looks.filter(Boolean).join(' '), tabindex: 0, role: 'button' },
      svg('rect', { x: x - 46, y: y - 15, width: 92, height: 30, rx: kept ? 2 : 12 }),
      svg('text', { x, y: y - 1 }, name),
      svg('text', { x, y: y + 11, class: 'small' }, type));
    box.addEventListener('click', () => pick(n.id));
    box.addEventListener('keydown', e => { if (e.key === 'Enter') pick(n.id); });
    boxes.push(box);
  }
  const size = { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img' };
  return svg('svg', size, ...lines, ...boxes);
}

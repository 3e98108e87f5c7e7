// The live view of a trace: its graph after each pass, the reasons of a node, switches that are
// thrown through the kernel, the CUDA of its launches. What `]why` has said stands above the same
// graph, with all reasons beside it. All that a file holds is written as text, and nothing of it
// runs, so that a notebook that nobody trusts may be drawn.

const size = n => (n < 1e4 ? `${n} B` : `${(n / 1e3).toFixed(0)} kB`);

// The switches that a trace was made under, as a question has them.
const switched = ({ config: { off, preset } }) => ({ off, preset: preset === 'all' ? '' : preset });

// Characters of a trace that are read: what a file holds may unpack to anything.
const LONGEST = 1 << 26;

// A trace as it is, also where a file keeps it deflated.
async function inflated(data) {
  if (!data?.deflated) return data;
  const bytes = Uint8Array.from(atob(data.deflated), c => c.charCodeAt(0));
  const parts = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream('deflate')).pipeThrough(new TextDecoderStream());
  let text = '';
  for (const reader = parts.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return JSON.parse(text);
    text += value;
    if (text.length > LONGEST) throw new Error('it is too long');
  }
}

function view({ widgets }, mime, link, switches) {
  class View extends widgets.Widget {
    constructor() {
      super();
      this.addClass('aplomb-view');
      this.picked = null;
    }

    async renderModel(model) {
      try {
        this.trace = this.first = await inflated(model.data[mime]);
      } catch (e) {
        return this.node.replaceChildren(`this trace cannot be read: ${e.message}`);
      }
      this.at = Infinity;
      this.picked = this.first?.view?.node ?? null;
      this.open = null;
      this.launches = this.first?.view?.kind === 'cuda';
      this.draw();
    }

    onBeforeDetach() { link.forget(this); }

    // The kernel runs the text of this view again, under these switches.
    ask(switches) {
      const { statement } = this.first;
      this.say('…');
      link.ask(this, { ...switches, source: home(this.first).name, statement });
    }

    // An answer of the kernel. An older one runs its last line, which may be that of another cell.
    tell(data) {
      if (data.failure) return this.say(data.failure.report);
      if (data.gone) return this.say(data.gone);
      const told = data.traces ?? [];
      const next = told.findLast(t => t.statement === this.first.statement);
      if (!next) {
        const last = told.at(-1)?.statement;
        return this.say(last ? `the last line that ran is another: ${last}` : 'nothing ran');
      }
      this.trace = { ...next, view: this.first.view };
      this.at = Infinity;
      this.draw();
    }

    say(text) {
      const said = this.node.querySelector('.aplomb-said');
      if (said) said.textContent = text;
    }

    // What a file holds may be anything.
    draw() {
      try {
        this.paint();
      } catch (e) {
        this.node.replaceChildren(`this trace cannot be drawn: ${e.message}`);
      }
    }

    paint() {
      const t = this.trace;
      const { view: asked } = this.first;
      const above = asked?.says ? [make('pre', { className: 'says' }, String(asked.says))] : [];
      const none = says => this.node.replaceChildren(...above, says);
      const part = t.segments.at(-1);
      if (!part) return none('nothing was compiled');
      const [first, last] = part.nodes;
      const many = `${last - first} nodes: too many to draw; ]why tells them`;
      if (last - first > MOST) return none(many);
      const nodes = new Map(t.nodes.slice(first, last).map(n => [n.id, n]));
      const all = stages(t, part.passes);
      this.at = Math.min(this.at, all.length - 1);
      const stage = all[this.at];
      const picked = this.picked === null ? undefined : nodes.get(this.picked);
      const pick = id => {
        this.picked = this.picked === id ? null : id;
        this.draw();
      };
      const graph = make('div', { className: 'graph' }, picture(nodes, stage, picked, pick));
      const side = make('div', { className: 'side' },
        ...sourceOf(t, picked), ...reasonsOf(t, part, picked, pick));
      const said = make('div', { className: 'aplomb-said' }, this.change(all.at(-1)));
      this.node.replaceChildren(
        ...above,
        this.head(all, stage),
        make('div', { className: 'chips' }, ...this.chips(t)),
        said,
        make('div', { className: 'both' }, graph, side),
        ...this.kernels(t, part, picked));
    }

    head(all, stage) {
      const slider = make('input', { type: 'range', min: 0, max: all.length - 1 });
      slider.value = this.at;
      slider.setAttribute('aria-label', 'pass');
      slider.addEventListener('input', () => {
        this.at = Number(slider.value);
        this.draw();
        this.node.querySelector('input').focus();
      });
      const same = stage.changed ? '' : ' (no change)';
      const launches = count(stage.launches.length, 'launch');
      const says = `${stage.name}${same}: ${launches}, ${size(stage.bytes)}`;
      const span = make('span', { className: 'pass' }, says);
      return make('div', { className: 'head' }, slider, span, this.cuda());
    }

    // Texts of launches are long: a file need not have them, and the kernel is asked then.
    cuda() {
      const b = make('button', { className: 'chip cuda' }, 'CUDA');
      b.title = 'what a GPU would run, a text for each launch';
      b.setAttribute('aria-pressed', String(this.launches));
      b.addEventListener('click', () => {
        this.launches = !this.launches;
        this.draw();
        if (this.launches && !texts(this.trace)) this.ask(switched(this.trace));
      });
      return b;
    }

    kernels(t, part, picked) {
      if (!this.launches || !texts(t)) return [];
      const mine = t.kernels.slice(...(part.kernels ?? [])).filter(k => k.cuda?.text);
      // One alone needs no click.
      if (mine.length === 1 && !this.open) this.open = new Set([mine[0].name]);
      this.open ??= new Set();
      return mine.map(k => launchOf(k, picked, this.open));
    }

    // Those that a decision of this line names, and what is off.
    chips(t) {
      const { off: list, preset } = switched(t);
      const off = new Set(list);
      const named = [t, this.first].flatMap(one => one.decisions.map(d => d.switch));
      const chip = name => {
        const b = make('button', { className: `chip${off.has(name) ? ' off' : ''}` }, name);
        b.title = switches.find(s => s.name === name)?.says ?? '';
        b.setAttribute('aria-pressed', String(!off.has(name)));
        b.addEventListener('click', () => {
          if (!off.delete(name)) off.add(name);
          this.ask({ off: [...off], preset });
        });
        return b;
      };
      return [...new Set([...named, ...off])].filter(Boolean).sort().map(chip);
    }

    change(mine) {
      const [then, now] = [this.first, this.trace].map(t => t.config.off.join(' ') || 'nothing');
      if (then === now) return '';
      const was = stages(this.first, this.first.segments.at(-1).passes).at(-1);
      const launches = `launches ${was.launches.length} → ${mine.launches.length}`;
      return `off: ${now}: ${launches}, bytes ${size(was.bytes)} → ${size(mine.bytes)}`;
    }
  }
  return new View();
}

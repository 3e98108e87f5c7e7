// The live view of a trace: its graph after each pass, the reasons of a node, switches that are
// thrown through the kernel. All that a file holds is written as text, and nothing of it runs, so
// that a notebook that nobody trusts may be drawn.

const size = n => (n < 1e4 ? `${n} B` : `${(n / 1e3).toFixed(0)} kB`);

function view({ widgets }, mime, link, switches) {
  class View extends widgets.Widget {
    constructor() {
      super();
      this.addClass('aplomb-view');
      this.picked = null;
    }

    async renderModel(model) {
      this.trace = this.first = model.data[mime];
      this.at = Infinity;
      this.draw();
    }

    onBeforeDetach() { link.forget(this); }

    // An answer of the kernel, which runs its last line again: that of another cell is none.
    tell(data) {
      if (data.failure) return this.say(data.failure.report);
      const next = data.traces?.at(-1);
      if (next?.statement !== this.first.statement) {
        const other = next ? `the last line that ran is another: ${next.statement}` : 'nothing ran';
        return this.say(other);
      }
      this.trace = next;
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
      const part = t.segments.at(-1);
      if (!part) return this.node.replaceChildren('nothing was compiled');
      const [first, last] = part.nodes;
      if (last - first > MOST) {
        const many = `${last - first} nodes: too many to draw; ]why tells them`;
        return this.node.replaceChildren(many);
      }
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
      const said = make('div', { className: 'aplomb-said' }, this.change(all.at(-1)));
      this.node.replaceChildren(
        this.head(all, stage),
        make('div', { className: 'chips' }, ...this.chips(t)),
        said,
        make('div', { className: 'both' }, graph, this.side(t, part, picked)));
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
      const says = `${stage.name}${same}: ${stage.launches.length} launches, ${size(stage.bytes)}`;
      return make('div', { className: 'head' }, slider, make('span', { className: 'pass' }, says));
    }

    // Those that a decision of this line names, and what is off.
    chips(t) {
      const off = new Set(t.config.off);
      const named = [t, this.first].flatMap(one => one.decisions.map(d => d.switch));
      const preset = t.config.preset === 'all' ? '' : t.config.preset;
      const chip = name => {
        const b = make('button', { className: `chip${off.has(name) ? ' off' : ''}` }, name);
        b.title = switches.find(s => s.name === name)?.says ?? '';
        b.setAttribute('aria-pressed', String(!off.has(name)));
        b.addEventListener('click', () => {
          if (!off.delete(name)) off.add(name);
          this.say('…');
          link.ask(this, { off: [...off], preset });
        });
        return b;
      };
      return [...new Set([...named, ...off])].filter(Boolean).sort().map(chip);
    }

    change(mine) {
      if (this.first === this.trace) return '';
      const was = stages(this.first, this.first.segments.at(-1).passes).at(-1);
      const off = this.trace.config.off.join(' ') || 'nothing';
      const launches = `launches ${was.launches.length} → ${mine.launches.length}`;
      return `off: ${off}: ${launches}, bytes ${size(was.bytes)} → ${size(mine.bytes)}`;
    }

    // The source with the node's place marked, and the node's decisions.
    side(t, part, picked) {
      const spans = (picked?.span ?? []).filter(s => s[0] === 0);
      const source = make('pre', { className: 'source' });
      [...(t.sources[0]?.text ?? t.statement)].forEach((c, k) => {
        const marked = spans.some(([, from, to]) => k >= from && k < to);
        source.append(marked ? make('mark', {}, c) : c);
      });
      const reason = d => {
        const others = (d.alt ?? []).map(a => `${a.name} (${a.why_not})`).join(', ');
        return make('p', {}, d.text, make('small', {}, ` ${d.seed}; not ${others}`));
      };
      const mine = t.decisions.slice(...part.decisions).filter(d => d.node === picked?.id);
      return make('div', { className: 'side' }, source, ...mine.map(reason));
    }
  }
  return new View();
}

// One comm for a notebook's kernel: opened at the first question, closed with the panel, anew after
// a restart. Each question has a number, which its answer repeats.
function linkOf(session) {
  let [comm, kernel, number] = [null, null, 0];
  const waiting = new Map();
  const drop = () => {
    [comm, kernel] = [null, null];
    waiting.clear();
  };
  session.statusChanged.connect((_, s) => {
    if (/restarting|dead|terminating/.test(s)) drop();
  });
  const open = now => {
    kernel = now;
    comm = now.createComm(TARGET);
    comm.onMsg = m => {
      const { data } = m.content;
      waiting.get(data.question)?.tell(data);
      waiting.delete(data.question);
    };
    comm.onClose = drop;
    comm.open({ quiet: true });
  };
  return {
    ask(who, data) {
      const now = session.session?.kernel;
      if (!now) return who.say('no kernel runs');
      if (!comm || kernel !== now) open(now);
      number += 1;
      waiting.set(number, who);
      comm.send({ ...data, question: number });
    },
    forget(who) {
      for (const [k, one] of waiting) if (one === who) waiting.delete(k);
    },
    close() {
      if (comm && !comm.isDisposed) comm.close();
      drop();
    },
  };
}

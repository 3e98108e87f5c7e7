// Where this script was loaded from, and what it takes of the lab. The lab hands the modules that
// it shares to `init`; two copies of one of them do not know each other's classes, so the version
// that is loaded is taken, else the newest.

const HERE = new URL(document.currentScript.src);
const BASE = HERE.href.split('?')[0].replace(/[^/]*$/, '');
// The server lets files be kept for a year: the version of this script goes on to each.
const file = name => BASE + name + HERE.search;

const MIME = 'text/x-aplomb';
const TRACE = 'application/vnd.aplomb.trace.v1+json';
const TARGET = 'aplomb.trace';
const KERNEL = 'aplomb';

const NEEDS = {
  state: '@codemirror/state',
  view: '@codemirror/view',
  language: '@codemirror/language',
  lezer: '@lezer/highlight',
  cm: '@jupyterlab/codemirror',
  apputils: '@jupyterlab/apputils',
  settings: '@jupyterlab/settingregistry',
  widgets: '@lumino/widgets',
};

let scope;

function newer(a, b) {
  const [p, q] = [a, b].map(v => v.split(/[.+-]/).map(Number));
  const at = [0, 1, 2].find(k => p[k] !== q[k]);
  return at === undefined ? 0 : p[at] - q[at];
}

async function shared(name) {
  const all = scope[name];
  if (!all) throw new Error(`aplomb: this lab does not share ${name}`);
  const versions = Object.keys(all).sort(newer);
  const loaded = versions.filter(v => all[v].loaded);
  return (await all[(loaded.length ? loaded : versions).at(-1)].get())();
}

// An element with properties or attributes, and what is in it.
function make(name, attributes = {}, ...inner) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) {
    if (k in e && k !== 'style') e[k] = v;
    else e.setAttribute(k, v);
  }
  e.append(...inner);
  return e;
}

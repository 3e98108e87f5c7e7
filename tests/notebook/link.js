// The comm between a live view and the kernel (crates/kernel/src/jupyter/lab/link.js), with a kernel that answers late,
// twice, never, or something else. One line a check; the exit code is the number that failed.
'use strict';

const fs = require('fs');
const path = require('path');

const text = fs.readFileSync(path.join(__dirname, '../../crates/kernel/src/jupyter/lab/link.js'), 'utf8');
const linkOf = new Function('TARGET', `${text}\nreturn linkOf;`)('aplomb.trace');
let failed = 0;

function check(says, holds, seen = '') {
  console.log(holds ? 'ok  ' : 'FAIL', says, holds ? '' : JSON.stringify(seen));
  if (!holds) failed += 1;
}

// A session with a kernel; `comms` are those that were opened, each with what was sent on it.
function started() {
  const comms = [];
  let status;
  const kernel = () => ({
    createComm(target) {
      const comm = { target, sent: [], isDisposed: false, open: data => { comm.opened = data; }, send: d => comm.sent.push(d),
        close: () => { comm.isDisposed = true; } };
      comms.push(comm);
      return comm;
    },
  });
  const session = { session: { kernel: kernel() }, statusChanged: { connect: f => { status = f; } } };
  return { session, comms, restart: () => { status(null, 'restarting'); session.session.kernel = kernel(); } };
}

const viewer = () => {
  const one = { told: [], said: [], tell: data => one.told.push(data), say: says => one.said.push(says) };
  return one;
};
const answer = (comm, data) => comm.onMsg({ content: { data } });

{
  const { session, comms } = started();
  const link = linkOf(session);
  const [a, b] = [viewer(), viewer()];
  link.ask(a, { off: ['fusion'] });
  link.ask(b, { off: [] });
  const [comm] = comms;
  check('one comm for all views, opened in silence', comms.length === 1 && comm.target === 'aplomb.trace' && comm.opened.quiet === true, comms);
  const [one, two] = comm.sent.map(d => d.question);
  check('each question has a number of its own', one !== two && comm.sent[0].off[0] === 'fusion', comm.sent);
  answer(comm, { question: two, traces: [] });
  answer(comm, { question: one, traces: [] });
  check('late answers reach who asked', a.told.length === 1 && b.told.length === 1 && a.told[0].question === one, [a.told, b.told]);
  answer(comm, { question: one, traces: [] });
  check('a second answer reaches nobody', a.told.length === 1, a.told);
  for (const data of [{}, { question: 'x' }, { question: null }, { question: 99 }]) answer(comm, data);
  check('nor does an answer to no question', a.told.length === 1 && b.told.length === 1);
  link.ask(a, { off: [] });
  link.forget(a);
  answer(comm, { question: comm.sent.at(-1).question });
  check('a view that is gone is told nothing', a.told.length === 1, a.told);
}

{
  const { session, comms, restart } = started();
  const link = linkOf(session);
  const a = viewer();
  link.ask(a, {});
  const old = comms[0].sent[0].question;
  restart();
  answer(comms[0], { question: old });
  check('an answer of a kernel that is gone reaches nobody', !a.told.length, a.told);
  link.ask(a, {});
  check('after a restart there is a new comm', comms.length === 2 && comms[1].sent.length === 1, comms.length);
  comms[1].onClose();
  link.ask(a, {});
  check('after the kernel closed it, too', comms.length === 3, comms.length);
  link.close();
  check('it ends with the panel', comms[2].isDisposed);
  session.session.kernel = null;
  link.ask(a, {});
  check('without a kernel a sentence says so', a.said.join() === 'no kernel runs', a.said);
}

process.exit(failed);

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

// A client of `aplomb lsp` over its standard streams: what is checked while one writes, and what is
// known of a place. Whoever has an Aplomb without `lsp` misses these, and nothing else.
'use strict';

const { spawn } = require('child_process');

// Messages of the base protocol: a head with the length in bytes, then JSON.
function framed(message) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

// Calls `each` with every whole message; what is left of a chunk waits for the next one.
function reader(each) {
  let kept = Buffer.alloc(0);
  return chunk => {
    kept = Buffer.concat([kept, chunk]);
    for (;;) {
      const head = kept.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = /content-length: *(\d+)/i.exec(kept.toString('latin1', 0, head));
      const end = head + 4 + Number(length?.[1] ?? 0);
      if (kept.length < end) return;
      const text = kept.toString('utf8', head + 4, end);
      kept = kept.subarray(end);
      if (text) each(JSON.parse(text));
    }
  };
}

// The server is `program` with these words. `told` gets notifications of the server, `gone` a sentence when it ends. What is asked is
// answered by null where the server cannot.
function start(program, words, root, told, gone) {
  const server = spawn(program, words, { stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map();
  let [number, over] = [0, false];
  const end = says => {
    if (over) return;
    over = true;
    waiting.forEach(answer => answer(null));
    gone(says);
  };
  const send = message => {
    if (!over) server.stdin.write(framed(message));
  };
  const ask = (method, params) => new Promise(answer => {
    if (over) return answer(null);
    number += 1;
    waiting.set(number, answer);
    send({ id: number, method, params });
  });
  const heard = message => {
    if (message.method && message.id !== undefined) {
      send({ id: message.id, error: { code: -32601, message: `no ${message.method} here` } });
    } else if (message.method) {
      told(message.method, message.params);
    } else {
      waiting.get(message.id)?.(message.result ?? null);
      waiting.delete(message.id);
    }
  };
  server.on('error', e => end(`${program}: ${e.message}`));
  server.on('exit', code => end(`${program} lsp ended with ${code}`));
  server.stdin.on('error', () => end(`${program} lsp reads no more`));
  const read = reader(heard);
  server.stdout.on('data', chunk => {
    try {
      read(chunk);
    } catch (e) {
      end(`${program} lsp says what cannot be read: ${e.message}`);
      server.kill();
    }
  });
  const textDocument = { synchronization: {}, hover: {}, completion: {}, definition: {} };
  const hello = { processId: process.pid, rootUri: root, capabilities: { textDocument } };
  const ready = ask('initialize', hello).then(answer => {
    if (answer) send({ method: 'initialized', params: {} });
    return answer?.capabilities ?? null;
  });
  return {
    ready,
    ask,
    tell: (method, params) => send({ method, params }),
    stop: () => ask('shutdown').then(() => {
      send({ method: 'exit' });
      server.stdin.end();
    }),
  };
}

module.exports = { start, framed, reader };

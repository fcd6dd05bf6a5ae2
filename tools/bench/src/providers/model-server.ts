/** A provider of chat completions that answers at once; a message "slowly" gets a piece each second. */
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { monotonicMs } from './clients.ts';

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const named = { id: 'x', created: 1, model: 'm' };
const pieceMs = 1000;
const pieces = 100;

const whole = JSON.stringify({
  ...named,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage,
});

const chunk = (content: string | undefined, finish_reason: string | null, more = {}) => {
  const choices = [{ index: 0, delta: { content }, finish_reason }];
  const data = { ...named, object: 'chat.completion.chunk', choices, ...more };
  return `data: ${JSON.stringify(data)}\n\n`;
};

const finish = (res: ServerResponse) => {
  res.write(chunk(undefined, 'stop', { usage }));
  res.end('data: [DONE]\n\n');
};

const streamSlowly = (res: ServerResponse) => {
  let sent = 0;
  const timer = setInterval(() => {
    if (sent++ < pieces) return res.write(chunk(' token', null));
    clearInterval(timer);
    return finish(res);
  }, pieceMs);
  res.once('close', () => clearInterval(timer));
};

createServer(async (req, res) => {
  const { stream, messages } = JSON.parse(await text(req));
  if (!stream) {
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': whole.length });
    res.end(whole);
    return;
  }
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  if (messages.at(-1).content === 'slowly') return streamSlowly(res);
  res.write(chunk(`at ${monotonicMs()} `, null));
  // The end comes in a packet of its own.
  setTimeout(() => finish(res), 20);
}).listen(Number(process.argv[2]), '127.0.0.1');

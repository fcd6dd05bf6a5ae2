import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';

const named = { id: 'x', created: 1, model: 'm' };
const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const message = { role: 'assistant', content: 'Hello.' };
const whole = {
  ...named,
  object: 'chat.completion',
  usage,
  choices: [{ index: 0, message, finish_reason: 'stop' }],
};

const chunk = (content: string | undefined, finish_reason: string | null, more = {}) => {
  const choices = [{ index: 0, delta: { content }, finish_reason }];
  const data = { ...named, object: 'chat.completion.chunk', choices, ...more };
  return `data: ${JSON.stringify(data)}\n\n`;
};

/** A provider of chat completions that answers at once, and streams `pieces` pieces, one a second. */
export const startSlowModel = async (port: number, pieces: number): Promise<Server> => {
  const server = createServer(async (req, res) => {
    const { stream } = JSON.parse(await text(req));
    if (!stream)
      return void res.setHeader('Content-Type', 'application/json').end(JSON.stringify(whole));
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    let sent = 0;
    const timer = setInterval(() => {
      if (sent++ < pieces) return res.write(chunk(`piece ${sent} `, null));
      clearInterval(timer);
      res.write(chunk(undefined, 'stop', { usage }));
      return res.end('data: [DONE]\n\n');
    }, 1000);
    res.once('close', () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(port, resolve));
  return server;
};

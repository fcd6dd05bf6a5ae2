import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** The same clock in every process of the machine. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export interface PostRequest {
  url: string;
  headers: Record<string, string>;
  body: unknown;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Answers how long it took, in ms.
 * @param onPiece told of each part of the answer as it comes
 * @throws Error that holds any other answer than 200
 */
export const post = async (
  agent: Agent,
  { url, headers, body }: PostRequest,
  onPiece: (piece: string) => void = () => {},
): Promise<number> => {
  const startedAt = performance.now();
  const content = { ...headers, 'content-type': 'application/json' };
  const req = request(url, { agent, method: 'POST', headers: content });
  req.end(JSON.stringify(body));
  const res = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    req.once('response', resolve);
    req.once('error', reject);
  });
  if (res.statusCode !== 200) throw new Error(`${url}: ${res.statusCode} ${await text(res)}`);
  for await (const piece of res.setEncoding('utf8')) onPiece(piece);
  return performance.now() - startedAt;
};

/**
 * Each client has a connection of its own and calls at a steady rate, the one after the other; the
 * first call of each opens its connection and does not count.
 */
export const pacedClients = async (
  clients: number,
  perSecond: number,
  seconds: number,
  call: (agent: Agent) => Promise<number>,
): Promise<number[]> => {
  const times: number[] = [];
  const everyMs = (clients * 1000) / perSecond;
  const client = async (index: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await call(agent);
    const beganAt = performance.now() + (index * everyMs) / clients;
    for (let turn = 1; turn * everyMs < seconds * 1000; turn++) {
      await pause(Math.max(0, beganAt + turn * everyMs - performance.now()));
      times.push(await call(agent));
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  return times;
};

/** @param part from 0 to 1, for example 0.5 for the median */
export const percentile = (values: readonly number[], part: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
};

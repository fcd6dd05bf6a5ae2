import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../load/load.ts';
import { from } from '../neighbours/addresses.ts';
import type { LiveFigures, LiveLoad } from './live-load.ts';
import { openPatiently } from './open-stream.ts';

const stragglersMs = 5000;
const atOnce = 50;

const input: LiveLoad = JSON.parse(Buffer.concat(await process.stdin.toArray()).toString());
const { base, key, addresses, subscribers, rooms, writesPerSecond, seconds = 60 } = input;
const ending = new AbortController();
process.once('SIGTERM', () => ending.abort());

const perRoom = subscribers / rooms;
const answeredAt = new Map<string, number>();
const early = new Map<string, number[]>();
const times: number[] = [];

const hear = (id: string) => {
  const now = performance.now();
  const answered = answeredAt.get(id);
  // Before the writer has its answer: the subscriber has not waited.
  if (answered === undefined) early.set(id, [...(early.get(id) ?? []), now]);
  else times.push(now - answered);
};
const noteAnswer = (id: string) => {
  const now = performance.now();
  answeredAt.set(id, now);
  for (const heardAt of early.get(id) ?? []) times.push(Math.max(0, heardAt - now));
  early.delete(id);
};

const open = async (n: number) => {
  const where = encodeURIComponent(JSON.stringify({ room: n % rooms }));
  const address = addresses[n % addresses.length];
  await openPatiently(
    `${base}/events?collections=live&where.live=${where}`,
    { address },
    (data) => {
      if (data.startsWith('{"collection"')) hear((JSON.parse(data) as { id: string }).id);
    },
  );
};
for (let n = 0; n < subscribers; n += atOnce)
  await Promise.all(
    Array.from({ length: Math.min(atOnce, subscribers - n) }, (_, i) => open(n + i)),
  );
process.stdout.write('open\n');

const agent = new Agent({ keepAlive: true, maxSockets: 64, ...from(addresses[0]) });
let failed = 0;
const write = (n: number) =>
  new Promise<void>((resolve) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const fail = () => {
      failed += 1;
      resolve();
    };
    const req = request(`${base}/db/live`, { method: 'POST', agent, headers }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      res.once('end', () => {
        if (res.statusCode !== 201) return fail();
        noteAnswer(JSON.parse(text).id);
        resolve();
      });
    });
    req.once('error', fail);
    req.end(JSON.stringify({ data: { room: n % rooms, text: 'A message of some words.', n } }));
  });

const beganAt = performance.now();
const underWay: Promise<void>[] = [];
while (!ending.signal.aborted && performance.now() - beganAt < seconds * 1000) {
  const due = Math.floor(((performance.now() - beganAt) / 1000) * writesPerSecond);
  while (underWay.length < due) underWay.push(write(underWay.length));
  await pause(5);
}
const tookMs = performance.now() - beganAt;
await Promise.all(underWay);
const expected = answeredAt.size * perRoom;
const waitedSince = performance.now();
while (times.length < expected && performance.now() - waitedSince < stragglersMs) await pause(50);
const figures: LiveFigures = {
  written: answeredAt.size,
  failed,
  perSecond: (answeredAt.size / tookMs) * 1000,
  events: times.length,
  missing: expected - times.length,
  p50Ms: quantile(times, 0.5),
  p99Ms: quantile(times, 0.99),
};
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit());

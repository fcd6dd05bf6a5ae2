import { Agent } from 'node:http';
import { aiRoutes } from '@backlot/contract';
import { median, residentMib } from '../load/load.ts';
import type { Program } from '../program.ts';
import type { SignedHeaders } from './callers.ts';
import { monotonicMs, type PostRequest, pacedClients, percentile, post } from './clients.ts';

export interface AiSubject {
  service: Program;
  /** Of the service, for example `http://127.0.0.1:8083`. */
  origin: string;
  /** Of the stub, up to the version. */
  providerUrl: string;
  headers: SignedHeaders;
}

const reserved = 10_000;
const clients = 32;
/** About a third of what one of two slow cores serves. */
const callsPerSecond = 100;
const rounds = 5;
const roundSeconds = 4;

const createRequest = (subject: AiSubject, content: string, stream: boolean) => () => ({
  url: `${subject.origin}/ai`,
  headers: subject.headers(aiRoutes.generateText, reserved),
  body: { messages: [{ role: 'user', content }], stream },
});

/** What the service adds to a call: the same calls to it and to the provider behind it, turn about. */
const benchAdded = async (subject: AiSubject) => {
  const ask = createRequest(subject, 'hello', false);
  const askDirectly = () => ({
    url: `${subject.providerUrl}/chat/completions`,
    headers: {},
    body: { model: 'm', messages: [{ role: 'user', content: 'hello' }] },
  });
  const round = (request: () => PostRequest) =>
    pacedClients(clients, callsPerSecond, roundSeconds, (agent) => post(agent, request()));
  await round(ask);
  const through: number[] = [];
  const direct: number[] = [];
  for (let turn = 0; turn < rounds; turn++) {
    direct.push(percentile(await round(askDirectly), 0.5));
    through.push(percentile(await round(ask), 0.5));
  }
  const [slower, faster] = [median(through), median(direct)];
  console.log(
    `/ai at ${callsPerSecond}/s over ${clients} connections: p50 ${slower.toFixed(2)} ms, ${faster.toFixed(2)} ms at the provider, added ${(slower - faster).toFixed(2)} ms (bound: 5)`,
  );
};

/** From the moment in which the provider writes the first piece until the client has it. */
const benchFirstToken = async (subject: AiSubject) => {
  const ask = createRequest(subject, 'hello', true);
  const lags: number[] = [];
  await pacedClients(clients, callsPerSecond / 2, 2 * roundSeconds, async (agent) => {
    const times: number[] = [];
    const took = await post(agent, ask(), (piece) => {
      const [, at] = /"text":"at ([\d.]+) "/.exec(piece) ?? [];
      if (at !== undefined && times.length === 0) times.push(monotonicMs() - Number(at));
    });
    if (times.length === 0) throw new Error('A stream has brought no piece.');
    lags.push(...times);
    return took;
  });
  console.log(
    `first streamed token: ${percentile(lags, 0.5).toFixed(2)} ms from the provider to the client, p99 ${percentile(lags, 0.99).toFixed(2)} ms (bound: 5)`,
  );
};

const streams = 1000;
const openedPerSecond = 200;
const heldMs = 10_000;
const openingMs = 60_000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The provider sends each stream a piece a second. */
const benchOpenStreams = async (subject: AiSubject) => {
  const ask = createRequest(subject, 'slowly', true);
  const { pid } = subject.service;
  const agent = new Agent({ maxSockets: streams });
  const before = residentMib(pid);
  const begun = new Set<number>();
  const failures: unknown[] = [];
  const all: Promise<unknown>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < streams; index++) {
    const stream = post(agent, ask(), () => begun.add(index));
    all.push(stream.catch((error) => failures.push(error)));
    await pause(1000 / openedPerSecond);
  }
  while (begun.size < streams && performance.now() - startedAt < openingMs) await pause(100);
  let most = residentMib(pid);
  for (const until = performance.now() + heldMs; performance.now() < until; ) {
    most = Math.max(most, residentMib(pid));
    await pause(100);
  }
  if (begun.size < streams || failures.length > 0)
    throw new Error(`${begun.size} streams have begun, ${failures.length} have ended.`);
  agent.destroy();
  await Promise.all(all);
  console.log(
    `${streams} open streams: ${most.toFixed(0)} MiB resident at most, ${before.toFixed(0)} MiB before (bound: 286, which are 300 MB)`,
  );
};

export const benchAi = async (subject: AiSubject): Promise<void> => {
  await benchAdded(subject);
  await benchFirstToken(subject);
  await benchOpenStreams(subject);
};

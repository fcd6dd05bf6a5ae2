import { setTimeout as sleep } from 'node:timers/promises';
import { openShop } from '../soak/open-shop.ts';
import { type Call, changedFiles, quickCalls, slowCalls, upload } from './calls.ts';

export interface ExchangeOptions {
  /** Origins; who finds one closed asks the next, as what stands in front of them does. */
  gateways: readonly string[];
  operatorToken: string;
  /** What exchanges the processes. */
  work(): Promise<void>;
  print(line: string): void;
}

/** Each second kind starts when the first ones are half through. */
const slowLoops = 2;
const halfSlowMs = 13_000;

/** Between two calls of a kind, so that a slow one that is refused is no hot loop. */
const leastPauseMs = 100;

const isClosed = (error: unknown) =>
  error instanceof Error && (error.cause as { code?: string } | undefined)?.code === 'ECONNREFUSED';

const saysWhat = (error: unknown) => {
  if (!(error instanceof Error)) return String(error);
  const { code, message } = (error.cause ?? {}) as { code?: string; message?: string };
  return code ?? message ?? error.message;
};

/**
 * Calls of each service, slow uploads and slow answers of the model, while processes are exchanged.
 * @returns how many calls failed, and files are not what was sent
 */
export const exchange = async (options: ExchangeOptions): Promise<number> => {
  const { gateways, print } = options;
  const shop = await openShop(options, 'exchange');
  const [origin = ''] = gateways;
  const fileUrl = await upload(origin, shop, [Buffer.from('a file')], 0);
  const counts: Record<string, { done: number; failed: number; slowestMs: number }> = {};
  let failures = 0;
  let isOver = false;
  let turn = 0;
  const send = async (call: Call) => {
    const first = turn++;
    for (let tries = 1; ; tries++)
      try {
        return await call(gateways[(first + tries) % gateways.length] ?? '');
      } catch (error) {
        if (!isClosed(error) || tries === gateways.length) throw error;
      }
  };
  const repeat = async (kind: string, call: Call, pauseMs: number) => {
    const count = { done: 0, failed: 0, slowestMs: 0 };
    counts[kind] ??= count;
    const own = counts[kind];
    while (!isOver) {
      const from = Date.now();
      try {
        await send(call);
        own.done++;
      } catch (error) {
        own.failed++;
        failures++;
        print(
          `${new Date().toISOString()} ${kind}, after ${Date.now() - from} ms: ${saysWhat(error)}`,
        );
      }
      own.slowestMs = Math.max(own.slowestMs, Date.now() - from);
      await sleep(Math.max(pauseMs, leastPauseMs));
    }
  };

  const files = new Map<string, string>();
  const slow = Object.entries(slowCalls(shop, files));
  const loops = Object.entries(quickCalls(shop, fileUrl)).map(([kind, [call, pauseMs]]) =>
    repeat(kind, call, pauseMs),
  );
  for (let n = 0; n < slowLoops; n++) {
    loops.push(...slow.map(([kind, call]) => repeat(kind, call, 0)));
    await sleep(halfSlowMs);
  }
  const from = Date.now();
  try {
    await options.work();
  } finally {
    print(`exchanged after ${Math.round((Date.now() - from) / 1000)} s`);
    isOver = true;
    await Promise.all(loops);
  }
  const changed = await changedFiles(origin, files);
  for (const url of changed) print(`${url} has other bytes than were sent`);
  for (const [kind, { done, failed, slowestMs }] of Object.entries(counts))
    print(`${kind}: ${done} done, ${failed} failed, the slowest took ${slowestMs} ms`);
  return failures + changed.length;
};

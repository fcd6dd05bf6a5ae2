import { setTimeout as pause } from 'node:timers/promises';
import { apiAt } from '@backlot/testing/platform-api';
import { data } from '../../prepare.ts';
import { random } from '../raw-loop.ts';

export interface Call {
  kind: 'read' | 'write';
  /** Epoch milliseconds at which it was sent. */
  at: number;
  ms: number;
}

export interface Callers {
  /** Those that have been answered. */
  calls: readonly Call[];
  /** Calls that did not succeed, by status. */
  failures: ReadonlyMap<number, number>;
  /** Of the records that the calls created, those that are there still. */
  kept: ReadonlySet<string>;
  /** How often 1 was added to the field `views` of a record that is there still. */
  added(): number;
  stop(): Promise<void>;
}

/** A caller waits so long between its calls, on average. */
const pauseMs = 20;

const isOk = (status: number) => status < 300;

export interface Subject {
  /** Of the collection. */
  url: string;
  token: string;
  /** Records that nobody deletes. */
  ids: readonly string[];
  writers: number;
  readers: number;
}

/** Writers that create, change and delete, and readers, at a pace that leaves the machine time for others. */
export const startCallers = ({ url, token, ids, writers, readers }: Subject): Callers => {
  const api = apiAt(url);
  const calls: Call[] = [];
  const failures = new Map<number, number>();
  const kept = new Set<string>();
  let addedToOld = 0;
  let isOver = false;

  const call = async (kind: Call['kind'], method: string, path: string, body?: object) => {
    await pause(random(2 * pauseMs));
    const at = Date.now();
    const startedAt = performance.now();
    const answer = await api(method, path, { token, ...(body && { body }) });
    calls.push({ kind, at, ms: performance.now() - startedAt });
    if (!isOk(answer.status)) failures.set(answer.status, (failures.get(answer.status) ?? 0) + 1);
    return answer;
  };
  const anyOld = () => `/${ids[random(ids.length)]}`;
  const add = { inc: { views: 1 } };

  const write = async () => {
    const { status, body } = await call('write', 'POST', '', { data: { ...data, views: 0 } });
    if (!isOk(status)) return;
    const changed = await call('write', 'PATCH', `/${body.id}`, add);
    if (random(2) === 0) await call('write', 'DELETE', `/${body.id}`);
    else if (isOk(changed.status)) kept.add(body.id);
    if (isOk((await call('write', 'PATCH', anyOld(), add)).status)) addedToOld += 1;
  };
  const read = async () => {
    await call('read', 'GET', anyOld());
    await call('read', 'GET', '?limit=10');
  };
  const repeat = async (work: () => Promise<void>) => {
    while (!isOver) await work();
  };
  const loops = Promise.all([
    ...Array.from({ length: writers }, () => repeat(write)),
    ...Array.from({ length: readers }, () => repeat(read)),
  ]);
  return {
    ...{ calls, failures, kept },
    added: () => addedToOld + kept.size,
    async stop() {
      isOver = true;
      await loops;
    },
  };
};

import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../../load/load.ts';
import { type Bed, withBed } from '../bed.ts';
import { openCollection } from '../collection.ts';
import { type Seed, someIds } from '../seed.ts';
import { type Call, type Callers, startCallers } from './callers.ts';
import { type LockWait, logLockWaits, readLockWaits } from './lock-waits.ts';

const quietMs = 60_000;
/** Of the time before and after the instant at which writers turn to the new table. */
const aroundMs = 2000;
const lookMs = 50;
const bound = 100;

interface Phase {
  name: string;
  /** Epoch milliseconds. */
  from: number;
  to: number;
}

interface Look {
  state: string | null;
  isUsed: boolean;
}

const look = async ({ client }: Bed, { projectId, collectionId }: Seed): Promise<Look> => {
  const { rows } = await client.query<Look>(
    `SELECT state, own_table IS NOT DISTINCT FROM 'used' AS "isUsed"
     FROM records.collections LEFT JOIN records.moves USING (project_id, coll_id)
     WHERE project_id = $1 AND coll_id = $2`,
    [projectId, collectionId],
  );
  return rows[0] ?? { state: null, isUsed: false };
};

/** Lets the move run to its end. @returns what it was at, and when */
const follow = async (bed: Bed, subject: Seed): Promise<Phase[]> => {
  const reached = async (isThere: (now: Look) => boolean) => {
    while (!isThere(await look(bed, subject))) await pause(lookMs);
    return Date.now();
  };
  const quietFrom = Date.now();
  await pause(quietMs);
  // Nothing moves in the first hour after a migration.
  await bed.client.query(`UPDATE records.migrations SET run_on = run_on - interval '1 day'`);
  const begun = await reached(({ state }) => state !== null);
  const copied = await reached(({ state }) => state === 'copied');
  const used = await reached(({ isUsed }) => isUsed);
  await pause(aroundMs);
  // Rows stay behind for five minutes.
  await bed.client.query(`UPDATE records.moves SET since = since - interval '10 minutes'`);
  const emptied = await reached(({ state }) => state === null);
  await bed.client.query('VACUUM ANALYZE records.records');
  return [
    { name: 'before', from: quietFrom, to: begun },
    { name: 'copy', from: begun, to: copied },
    { name: 'copy of changes', from: copied, to: used - aroundMs },
    { name: 'switch', from: used - aroundMs, to: used + aroundMs },
    { name: 'deletion', from: used + aroundMs, to: emptied },
    { name: 'vacuum', from: emptied, to: Date.now() },
  ];
};

const times = ({ calls }: Callers, kind: Call['kind'], { from, to }: Phase) => {
  const found = calls.filter((call) => call.kind === kind && call.at >= from && call.at < to);
  const ms = found.map((call) => call.ms);
  const [p50, p99, most] = [quantile(ms, 0.5), quantile(ms, 0.99), quantile(ms, 1 - 1e-9)];
  const figures = [p50, p99, most].map((each) => each.toFixed(0)).join(' / ');
  return `${kind}s ${String(ms.length).padStart(6)} ${figures.padEnd(16)}`;
};

const longest = (waits: readonly LockWait[], { from, to }: Phase) => {
  const locks = new Map<string, number>();
  for (const { lock, ms, until } of waits)
    if (until >= from && until < to) locks.set(lock, Math.max(ms, locks.get(lock) ?? 0));
  return [...locks].map(([lock, ms]) => `${lock} ${ms.toFixed(0)}`).join(', ') || 'none';
};

/** What the table holds against what the calls were answered. */
const check = async (
  { client }: Bed,
  { projectId, collectionId, rows }: Seed,
  callers: Callers,
) => {
  const table = `records_large.p${projectId}_c${collectionId}`;
  const { rows: found } = await client.query(
    `SELECT count(*)::int AS records, sum((data ->> 'views')::int)::int AS added,
       (SELECT count(*)::int FROM records.records WHERE project_id = $1 AND coll_id = $2) AS "leftBehind"
     FROM ${table}`,
    [projectId, collectionId],
  );
  const expected = { records: rows + 1 + callers.kept.size, added: callers.added(), leftBehind: 0 };
  const isExact = JSON.stringify(found[0]) === JSON.stringify(expected);
  console.log(
    `${isExact ? 'nothing lost or doubled' : 'WRONG'}: found ${JSON.stringify(found[0])}, expected ${JSON.stringify(expected)}`,
  );
};

/**
 * A collection of so many records that moves to a table of its own while it is written and read: what the
 * callers wait in each phase, beside the time before, and whether nothing was lost.
 */
export const benchMove = (rows: number): Promise<void> =>
  withBed(
    async (bed) => {
      const subject = await openCollection(bed, 'moving', rows, ['status', 'price']);
      await bed.client.query('VACUUM ANALYZE records.records');
      await logLockWaits(bed.client);
      const ids = await someIds(bed.client, subject);
      const { url } = subject.request;
      const { token } = bed;
      const callers = startCallers({ url, token, ids, writers: 8, readers: 4 });
      const other = await openCollection(bed, 'other', 1000);
      const neighbours = startCallers({
        ...{ url: other.request.url, token, writers: 2, readers: 1 },
        ids: await someIds(bed.client, other),
      });
      const phases = await follow(bed, subject);
      await Promise.all([callers.stop(), neighbours.stop()]);
      const waits = await readLockWaits(bed.client);
      console.log(
        'calls of the collection that moves, and of another one: p50 / p99 / longest, in ms',
      );
      for (const phase of phases) {
        const seconds = ((phase.to - phase.from) / 1000).toFixed(0);
        const line = [callers, neighbours].map(
          (all) => `${times(all, 'write', phase)}${times(all, 'read', phase)}`,
        );
        console.log(`${phase.name.padEnd(16)}${seconds.padStart(4)} s  ${line.join('| ')}`);
        console.log(
          `${' '.repeat(24)}waits for locks: ${longest(waits, phase)}   (bound: ${bound})`,
        );
      }
      const failed = [callers, neighbours].flatMap(({ failures }) => [...failures]);
      console.log(
        `failed calls: ${failed.map(([status, count]) => `${count} with ${status}`).join(', ') || 'none'}`,
      );
      await check(bed, subject, callers);
    },
    { settings: { BACKLOT_GIANT_ROWS: String(rows) } },
  );

import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { type LoadRequest, load, median } from '../load/load.ts';
import { data } from '../prepare.ts';
import { type Bed, withBed } from './bed.ts';
import { openCollection, type Subject } from './collection.ts';
import { benchNeighbour, benchOwnIndex } from './neighbour.ts';
import {
  openRawLoops,
  type RawStatement,
  random,
  rawCreate,
  rawRate,
  rawStatements,
} from './raw-loop.ts';
import { countStatuses, prices, seedProjects, slotColumns, someIds } from './seed.ts';

/** For V8 to compile most of it (docs/decisions/0022). */
const warmSeconds = 20;

/** Short ones, because a machine that others share changes its speed within a minute. */
const rounds = 7;
const roundSeconds = 1;

const listPath = (query: Record<string, string>) =>
  `?${new URLSearchParams({ limit: '50', ...query })}`;
const several = (make: () => Record<string, string>) =>
  Array.from({ length: 200 }, () => listPath(make()));

/** The calls that correspond to the raw statements of the same names. */
const callsOn = (rows: number, ids: readonly string[]) => {
  const width = (prices / rows) * 200;
  const where = (filter: object) => JSON.stringify(filter);
  const range = (from: number) => ({
    where: where({ price: { $gte: from, $lt: from + width } }),
    sort: 'price',
  });
  const byId = ids.map((id) => `/${id}`);
  return {
    get: { paths: byId },
    newest: { paths: [listPath({})] },
    equal: {
      paths: several(() => ({ where: where({ status: `st-${random(countStatuses(rows))}` }) })),
    },
    range: { paths: several(() => range(random(prices))) },
    title: { paths: [listPath({ sort: 'title' })] },
    create: { method: 'POST', body: JSON.stringify({ data }), paths: [''] },
    patch: { method: 'PATCH', body: JSON.stringify({ data: { views: 7 } }), paths: byId },
  } satisfies Record<string, Partial<LoadRequest>>;
};

type Operation = keyof ReturnType<typeof rawStatements>;

/** @returns what both measured, round by round in turn */
const inTurn = async <First, Second>(
  first: () => Promise<First>,
  second: () => Promise<Second>,
): Promise<[First, Second][]> => {
  const pairs: [First, Second][] = [];
  for (let round = 0; round < rounds; round++) pairs.push([await first(), await second()]);
  return pairs;
};

const warmUp = (request: LoadRequest) => load(request, warmSeconds);

/** Calls in turn with the raw statement. */
const against = async (
  loops: readonly pg.Client[],
  subject: Subject,
  name: string,
  { call, raw, bound }: { call: Partial<LoadRequest>; raw: RawStatement; bound: number },
): Promise<void> => {
  const request = { ...subject.request, ...call };
  const ask = () => load(request, roundSeconds);
  const loop = () => rawRate(loops, name, raw, subject, roundSeconds);
  await warmUp(request);
  await loop();
  const pairs = await inTurn(ask, loop);
  const alone = await load({ ...request, connections: 1 }, roundSeconds);
  const rate = median(pairs.map(([{ requestsPerSecond }]) => requestsPerSecond));
  const ms = median(pairs.map(([{ p50Ms }]) => p50Ms));
  const rawPerSecond = median(pairs.map(([, theirs]) => theirs));
  const ratio = median(pairs.map(([{ requestsPerSecond }, theirs]) => requestsPerSecond / theirs));
  const failures = pairs.reduce((sum, [ours]) => sum + ours.failures, 0);
  console.log(
    `${name.padEnd(18)}${rate.toFixed(0).padStart(7)}/s  p50 ${ms.toFixed(2)} ms, of one call at a time ${alone.p50Ms.toFixed(2)} ms  raw ${rawPerSecond.toFixed(0)}/s  ratio ${ratio.toFixed(2)} (bound: ${bound})${failures > 0 ? `, ${failures} calls failed` : ''}`,
  );
};

/** The share of updates that touched no index, while `work` ran. */
const hotShare = async ({ client }: Bed, work: () => Promise<unknown>) => {
  const read = async () => {
    // PostgreSQL writes its statistics at most once a second.
    await pause(1500);
    const { rows } = await client.query<{ all: string; hot: string }>(
      `SELECT n_tup_upd AS all, n_tup_hot_upd AS hot FROM pg_stat_user_tables
       WHERE schemaname = 'records' AND relname = 'records'`,
    );
    return { all: Number(rows[0]?.all), hot: Number(rows[0]?.hot) };
  };
  const before = await read();
  await work();
  const after = await read();
  return (after.hot - before.hot) / (after.all - before.all);
};

const depth = 500_000;
const walkedPage = 1000;

/** Pages behind each other down to half a million records, then that page against the first. */
const benchDepth = async ({ request, rows }: Subject) => {
  let cursor = '';
  for (let at = 0; at < Math.min(depth, rows / 2); at += walkedPage) {
    const query = new URLSearchParams({ limit: String(walkedPage), ...(cursor && { cursor }) });
    const answer = await fetch(`${request.url}?${query}`, { headers: request.headers ?? {} });
    cursor = ((await answer.json()) as { nextCursor: string }).nextCursor;
  }
  const page = (query: Record<string, string>) => () =>
    load({ ...request, paths: [listPath(query)] }, roundSeconds);
  const pairs = await inTurn(page({ cursor }), page({}));
  const deepMs = median(pairs.map(([deep]) => deep.p50Ms));
  const firstMs = median(pairs.map(([, first]) => first.p50Ms));
  const ratio = median(pairs.map(([deep, first]) => deep.p50Ms / first.p50Ms));
  console.log(
    `page at depth      p50 ${deepMs.toFixed(2)} ms, first ${firstMs.toFixed(2)} ms, ${ratio.toFixed(2)}x (bound: 1.5)`,
  );
};

const bounds: Record<Operation, number> = {
  get: 0.35,
  newest: 0.25,
  equal: 0.25,
  range: 0.25,
  title: 0.25,
  patch: 0.5,
};
const read = ['get', 'newest', 'equal', 'range'] as const;

/** Chance patches of all pages, as the layout was chosen by. */
const patchedIds = 30_000;

const indexes = ['status', 'price', 'title', 'category'];
const bedOptions = { settings: { BACKLOT_TRUSTED_PROXIES: '1' } };

/** The same calls in turn with those on another platform, which has so many projects of three small collections. */
const benchProjects = (few: Subject, fewCalls: ReturnType<typeof callsOn>, projects: number) =>
  withBed(async (bed) => {
    const many = await openCollection(bed, 'indexed', few.rows, indexes);
    await seedProjects(bed.client, projects);
    await bed.client.query('VACUUM ANALYZE records.records');
    const manyCalls = callsOn(few.rows, await someIds(bed.client, many));
    const amongMany = (name: Operation) => ({ ...many.request, ...manyCalls[name] });
    const amongFew = (name: Operation) => ({ ...few.request, ...fewCalls[name] });
    for (const name of read) await warmUp(amongMany(name));
    for (const name of read) {
      await warmUp(amongMany(name));
      await warmUp(amongFew(name));
      const pairs = await inTurn(
        () => load(amongMany(name), roundSeconds),
        () => load(amongFew(name), roundSeconds),
      );
      if (pairs.flat().some(({ failures }) => failures > 0))
        throw new Error(`${name}: calls failed`);
      const ratio = median(
        pairs.map(([withMany, withFew]) => withFew.requestsPerSecond / withMany.requestsPerSecond),
      );
      console.log(`${name}: ${ratio.toFixed(2)}x slower with ${projects} projects (bound: 1.2)`);
    }
  }, bedOptions);

/**
 * 3 collections of so many records in the shared table, then one beside so many projects with three small ones each,
 * on a platform of its own.
 */
export const benchLarge = (rows: number, projects: number): Promise<void> =>
  withBed(async (bed) => {
    const indexed = await openCollection(bed, 'indexed', rows, indexes);
    const plain = await openCollection(bed, 'plain', rows);
    const undeclared = await openCollection(bed, 'undeclared', rows);
    await bed.client.query('VACUUM ANALYZE records.records');
    const columns = await slotColumns(bed.client, indexed);
    const loops = await openRawLoops(bed.databaseUrl);
    for (const client of loops) bed.running.push(() => client.end());
    const ids = await someIds(bed.client, indexed);
    const calls = callsOn(rows, ids);
    const statements = rawStatements(indexed, ids, columns);
    const measure = (name: Operation) =>
      against(loops, indexed, name, {
        call: calls[name],
        raw: statements[name],
        bound: bounds[name],
      });

    await warmUp({ ...indexed.request, ...calls.get });
    for (const name of [...read, 'title'] as const) await measure(name);
    const call = calls.create;
    await against(loops, plain, 'create', { call, raw: rawCreate(), bound: 0.5 });
    await against(loops, indexed, 'create, 4 slots', {
      call,
      raw: rawCreate(columns),
      bound: 0.6,
    });
    const scattered = callsOn(rows, await someIds(bed.client, indexed, patchedIds)).patch;
    const patch = () => load({ ...indexed.request, ...scattered }, roundSeconds);
    const hot: number[] = [];
    for (let round = 0; round < rounds; round++) hot.push(await hotShare(bed, patch));
    console.log(
      `patch              ${(median(hot) * 100).toFixed(2)} % HOT (bound: 100), at least ${(Math.min(...hot) * 100).toFixed(2)}`,
    );
    await measure('patch');
    const counting = { ...indexed.request, paths: ['/_count'], connections: 1 };
    const count = await load(counting, roundSeconds);
    console.log(`count              p50 ${count.p50Ms.toFixed(2)} ms (bound: 2)`);
    await benchDepth(plain);
    await benchNeighbour(bed, plain.request, 3);
    await benchOwnIndex(undeclared.request, 5);
    await bed.client.query('VACUUM ANALYZE records.records');
    await benchProjects(indexed, calls, projects);
  }, bedOptions);

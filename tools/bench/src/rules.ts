import { resolve } from 'node:path';
import { apiAt } from '@backlot/testing/platform-api';
import { cpuSeconds, type LoadRequest, load, median } from './load/load.ts';
import { data, operatorToken } from './prepare.ts';
import { type Bed, withBed } from './records/bed.ts';

const rounds = 7;
const roundSeconds = 1;
const connections = 32;
const rows = 2000;
const batchSize = 500;

const preset = 'public-read';
/** Every word and both kinds of hidden fields, as a user in a group without a role of their own meets them. */
const richest = {
  read: ['users', 'group', 'shared', 'role:staff'],
  create: ['users', 'group', 'role:staff'],
  change: ['owner', 'group', 'shared', 'role:staff'],
  delete: ['role:staff'],
  fields: {
    secret: { read: ['role:boss'], create: ['users'] },
    note: {
      read: ['owner', 'group', 'shared', 'role:staff'],
      create: ['users'],
      change: ['owner'],
    },
    status: { create: ['users'], change: ['role:staff'] },
  },
};

/** Half of the records pass. */
const published = { published: true };
const onValues = { read: [{ to: ['anyone'], where: published }], create: ['users'], change: [] };

interface Subject {
  name: string;
  /** How much dearer than the baseline a call may be, as a ratio. */
  bound?: number;
  bed: Bed;
  requests: Record<string, LoadRequest>;
}

/** A collection with records of the caller's own. */
export const createSubject = async (
  bed: Bed,
  {
    name,
    collection,
    ...settings
  }: { name: string; collection: string; access: string | object; history?: boolean },
): Promise<Subject> => {
  const { origin, token } = bed;
  const api = apiAt(`${origin}/api/runtime/demo`);
  const set = await apiAt(`${origin}/api/platform/projects/demo`)(
    'PUT',
    `/collections/${collection}`,
    { token: operatorToken, body: settings },
  );
  if (set.status !== 200) throw new Error(JSON.stringify(set.body));
  const record = { data: { ...data, secret: 'hidden', note: 'of its owner', status: 'new' } };
  const ids: string[] = [];
  while (ids.length < rows) {
    const create = Array.from({ length: batchSize }, (_, n) =>
      n % 2 === 0 ? record : { data: { ...record.data, ...published } },
    );
    const body = { create };
    const made = await api('POST', `/db/${collection}/_batch`, { token, body });
    if (made.status !== 200) throw new Error(JSON.stringify(made.body));
    ids.push(...made.body.create.map(({ id }: { id: string }) => id));
  }
  const shared = {
    url: `${origin}/api/runtime/demo/db/${collection}`,
    connections,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  };
  return {
    name,
    bed,
    requests: {
      get: { ...shared, paths: ids.map((id) => `/${id}`) },
      list: { ...shared, paths: ['?limit=50'] },
      create: { ...shared, method: 'POST', body: JSON.stringify(record) },
      patch: {
        ...shared,
        method: 'PATCH',
        paths: ids.map((id) => `/${id}`),
        body: JSON.stringify({ data: { status: 'seen' } }),
      },
    },
  };
};

/** Of a call, at this many connections, in microseconds. */
interface Cost {
  time: number;
  /** CPU time of the platform's process. */
  node: number;
  /** CPU time of its connections in PostgreSQL. */
  postgres: number;
}

/** CPU seconds so far of each process, those of PostgreSQL by their number. */
const readCpuSeconds = async ({ client, program }: Bed) => {
  const { rows } = await client.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'backlot-%'`,
  );
  // A connection may end meanwhile.
  const connections = rows.map(async ({ pid }) => [pid, await cpuSeconds(pid).catch(() => 0)]);
  return {
    node: await cpuSeconds(program.pid),
    postgres: new Map((await Promise.all(connections)) as [number, number][]),
  };
};

const measure = async ({ name, bed }: Subject, request: LoadRequest): Promise<Cost> => {
  const before = await readCpuSeconds(bed);
  const { requestsPerSecond, failures } = await load(request, roundSeconds);
  if (failures > 0) throw new Error(`${name}: ${failures} calls failed`);
  const after = await readCpuSeconds(bed);
  const ofEach = [...after.postgres].map(([pid, cpu]) => cpu - (before.postgres.get(pid) ?? 0));
  const calls = requestsPerSecond * roundSeconds;
  return {
    time: 1e6 / requestsPerSecond,
    node: ((after.node - before.node) * 1e6) / calls,
    postgres: (ofEach.reduce((sum, cpu) => sum + Math.max(0, cpu), 0) * 1e6) / calls,
  };
};

type Round = readonly Cost[];

/** One call after the other, every second time the other way round: noise that comes and goes meets all. */
const measureRound = async (
  subjects: readonly Subject[],
  operation: string,
  isReversed: boolean,
): Promise<Round> => {
  const costs = new Map<Subject, Cost>();
  for (const subject of isReversed ? subjects.toReversed() : subjects) {
    const request = subject.requests[operation];
    if (request) costs.set(subject, await measure(subject, request));
  }
  return subjects.flatMap((subject) => costs.get(subject) ?? []);
};

const cpu = ({ node, postgres }: Cost) => node + postgres;

/** Medians: of the baseline's cost, and of what the others' is of it in the same round. */
const report = (subjects: readonly Subject[], operation: string, rounds: readonly Round[]) => {
  const middle = (of: (round: Round) => number) => median(rounds.map(of));
  for (const [index, { name, bound }] of subjects.entries()) {
    const cost = (part: (cost: Cost) => number) =>
      middle((round) => part(round[0] as Cost)).toFixed(0);
    const ratio = (part: (cost: Cost) => number) =>
      middle((round) => part(round[index] as Cost) / part(round[0] as Cost)).toFixed(2);
    const text =
      index === 0
        ? `${cost(({ time }) => time)} µs, ${cost(({ node }) => node)} µs of CPU and ${cost(({ postgres }) => postgres)} in PostgreSQL a call`
        : `${ratio(({ time }) => time)} of the time, ${ratio(({ node }) => node)} of the CPU and ${ratio(({ postgres }) => postgres)} in PostgreSQL, ${ratio(cpu)} of both${bound === undefined ? '' : `   (bound: ${bound})`}`;
    console.log(`${operation.padEnd(8)}${name.padEnd(28)}${text}`);
  }
};

export const compareSubjects = async (
  subjects: readonly Subject[],
  operations = ['get', 'list', 'create'],
) => {
  for (const operation of operations) {
    const measured: Round[] = [];
    // The first round warms up.
    for (let round = 0; round <= rounds; round++)
      measured.push(await measureRound(subjects, operation, round % 2 === 1));
    report(subjects, operation, measured.slice(1));
  }
};

/** With lists alone. */
const withList = (subject: Subject, name = subject.name, where = ''): Subject => {
  const { list } = subject.requests;
  const paths = [`?limit=50${encodeURI(where)}`];
  return { ...subject, name, requests: list ? { list: { ...list, paths } } : {} };
};

/** The caller is in a group wherever there are some. */
const createPreset = async (bed: Bed, name: string) => {
  const group = { token: bed.token, body: { name: 'Bench' } };
  await apiAt(`${bed.origin}/api/runtime/demo`)('POST', '/groups', group);
  return createSubject(bed, { name, access: preset, collection: 'preset' });
};

/**
 * What rules cost beside a preset: medians of seven runs in turn, under two minutes on a quiet machine.
 * `rules <folder>` also has the preset in another checkout, such as one from before there were rules.
 */
export const benchRules = ([folder]: readonly string[]): Promise<void> =>
  withBed(async (bed) => {
    const ofPreset = await createPreset(bed, `"${preset}"`);
    const ofRules = await createSubject(bed, {
      name: 'the richest rules',
      access: richest,
      collection: 'rules',
    });
    if (folder === undefined) {
      await compareSubjects([ofPreset, { ...ofRules, bound: 1.15 }]);
      const filtered = withList(
        ofPreset,
        'the same "where" in the call',
        '&where={"published":true}',
      );
      const ofValues = await createSubject(bed, {
        name: '"where" in a rule',
        access: onValues,
        collection: 'values',
      });
      return compareSubjects([filtered, { ...withList(ofValues), bound: 1.15 }], ['list']);
    }
    await withBed(
      async (other) => {
        const before = await createPreset(other, `"${preset}" in the other`);
        await compareSubjects([before, { ...ofPreset, bound: 1.05 }, ofRules]);
      },
      { checkout: resolve(folder) },
    );
  });

import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { later } from './ai-calls.ts';
import { randomFrom } from './random.ts';
import {
  type RecordsUnderTest,
  type RecordsVictim,
  recordsVictims,
  startRecordsUnderTest,
} from './records-under-test.ts';

const seed = Number(process.env.BACKLOT_SURVIVAL_SEED ?? Date.now() % 1_000_000);
const records = 10_000;
const atOnce = 500;

describe(`collections that move to tables of their own, after crashes (seed ${seed})`, () => {
  const random = randomFrom(seed);
  let stack: RecordsUnderTest;
  beforeAll(async () => {
    stack = await startRecordsUnderTest({ BACKLOT_GIANT_ROWS: '2000' });
    // Until an hour after a migration nothing moves.
    await stack.query(`UPDATE migrations SET run_on = run_on - interval '1 day'`);
  });
  afterAll(() => stack?.stop());

  /** Creates, adds and deletes through every crash, and knows what has been answered. */
  const createWriter = (path: string, counter: string) => {
    const made = new Set<string>();
    const gone = new Set<string>();
    const adds = { sent: 0, answered: 0 };
    const statuses = new Set<number>();
    let isOver = false;
    const ask = async (...call: Parameters<RecordsUnderTest['call']>) => {
      const answer = await later(5, () => stack.call(...call));
      statuses.add(answer.status);
      return answer.status === 200 ? answer.body : undefined;
    };
    const write = async (writer: number) => {
      for (let n = 0; !isOver; n++) {
        const create = [{ data: { n, writer } }, { data: { n } }];
        const batch = await ask('POST', `${path}/_batch`, { create });
        for (const { id } of batch?.create ?? []) made.add(id);
        adds.sent += 1;
        if (await ask('PATCH', `${path}/${counter}`, { inc: { sum: 1 } })) adds.answered += 1;
        const last = batch?.create[0].id;
        if (!last || n % 2) continue;
        made.delete(last);
        if (await ask('DELETE', `${path}/${last}`)) gone.add(last);
      }
    };
    const writers = Promise.all([0, 1].map(write));
    const end = async () => {
      // As many as matter, however slow the machine is.
      await until(() => adds.answered > 10, { what: 'the additions' });
      isOver = true;
      await writers;
      // No answer, or that the database is away: never that something is wrong.
      expect([...statuses].filter((status) => ![0, 200, 503].includes(status))).toEqual([]);
    };
    return { made, gone, adds, end };
  };

  const fill = async (path: string): Promise<string[]> => {
    const ids: string[] = [];
    for (let n = 0; n < records; n += atOnce) {
      const create = Array.from({ length: atOnce }, (_, i) => ({ data: { sum: 0, i: n + i } }));
      const { status, body } = await stack.call('POST', `${path}/_batch`, { create });
      expect(status).toBe(200);
      ids.push(...body.create.map(({ id }: { id: string }) => id));
    }
    return ids;
  };

  interface Move {
    state: string;
    position: string | null;
    table: string;
  }
  const readMove = async (name: string): Promise<Move | undefined> => {
    const [move] = await stack.query<Move>(
      `SELECT state, position, format('records_large.p%s_c%s', project_id, coll_id) AS table
       FROM moves JOIN collections USING (project_id, coll_id) WHERE name = $1`,
      [name],
    );
    return move;
  };
  const untilState = (name: string, state: string | undefined) =>
    until(async () => (await readMove(name))?.state === state, {
      what: `the state ${state}`,
    });
  /** As if a move had come to this state ten minutes ago. */
  const age = (state: string) =>
    stack.query(`UPDATE moves SET since = since - interval '10 minutes' WHERE state = $1`, [state]);

  interface Interrupted {
    name: string;
    state: string;
    hold: string;
    /** What waits for it, as long as the move has this state. */
    statement: string;
    /** Lets the statements come: the first one finds what is held. */
    begin?: () => Promise<unknown>;
  }
  /** Once for certain, and again where something is left to interrupt. */
  const crashTwice = async (
    victim: RecordsVictim,
    { name, state, hold, statement, begin = async () => {} }: Interrupted,
  ) => {
    const isOver = async () => (await readMove(name))?.state !== state;
    const first = await stack.hold(hold);
    await begin();
    await stack.untilWaits(statement);
    await stack.crash(victim, first);
    const second = await stack.hold(hold);
    if ((await stack.untilWaits(statement, isOver)) === 'over') return second();
    await stack.crash(victim, second);
  };

  const expectExact = async (
    path: string,
    table: string,
    ids: readonly string[],
    { made, gone, adds }: ReturnType<typeof createWriter>,
  ) => {
    const stored = await stack.query<{ id: string; size_bytes: number; data: { sum: number } }>(
      `SELECT id, size_bytes, data FROM ${table}`,
    );
    const found = new Map(stored.map((row) => [row.id, row]));
    expect(found.size).toBe(stored.length);
    expect([...ids, ...made].filter((id) => !found.has(id))).toEqual([]);
    expect([...gone].filter((id) => found.has(id))).toEqual([]);
    const sum = found.get(ids[0] ?? '')?.data.sum ?? 0;
    expect(sum).toBeGreaterThanOrEqual(adds.answered);
    expect(sum).toBeLessThanOrEqual(adds.sent);
    const isFolded = async () => (await stack.query('SELECT FROM count_delta')).length === 0;
    await until(isFolded, { what: 'the fold' });
    const [counted] = await stack.query(
      `SELECT row_count::int AS records, byte_count::int AS bytes FROM collections WHERE name = $1`,
      [path.replace('/db/', '')],
    );
    const bytes = stored.reduce((total, { size_bytes }) => total + size_bytes, 0);
    expect(counted).toEqual({ records: stored.length, bytes });
    expect((await stack.call('GET', `${path}/_count`)).body).toEqual({ count: stored.length });
  };

  it.each(recordsVictims)(
    'come to their end with every record, whenever %s was killed',
    async (victim) => {
      const name = `moved-${victim}`;
      const path = `/db/${name}`;
      const ids = await fill(path);
      const isCounted = async () =>
        (await stack.query('SELECT FROM collections WHERE name = $1 AND row_count >= 2000', [name]))
          .length > 0;
      await until(isCounted, { what: 'the fold' });
      const writer = createWriter(path, ids[0] ?? '');
      // The copy waits for who may have written before the move.
      const endWriter = await stack.hold('LOCK TABLE records IN ROW EXCLUSIVE MODE');
      // A move begins with the process.
      await stack.crash('process');
      const { table } = await until(() => readMove(name), { what: 'a move' });
      expect((await readMove(name))?.state).toBe('copying');
      const hold = `LOCK TABLE ${table} IN SHARE MODE`;
      await crashTwice(victim, {
        ...{ name, state: 'copying', hold, statement: '%copied AS (INSERT INTO%' },
        begin: endWriter,
      });
      await untilState(name, 'copied');
      await crashTwice(victim, { name, state: 'copied', hold, statement: '%copy_changes(%' });
      await age('copied');
      // At any time around the moment at which writers turn to the new table.
      for (let crashes = 0; crashes < 3; crashes++)
        await later(random() * 700, () => stack.crash(victim));
      await untilState(name, 'emptying');
      await crashTwice(victim, {
        ...{ name, state: 'emptying', statement: '%deleted AS (DELETE FROM records%' },
        hold: `SELECT FROM records JOIN collections USING (project_id, coll_id) WHERE name = '${name}' FOR UPDATE OF records`,
        begin: () => later(300, () => age('emptying')),
      });
      await untilState(name, undefined);
      await writer.end();
      await expectExact(path, table, ids, writer);
      const left = await stack.query(
        'SELECT id FROM records JOIN collections USING (project_id, coll_id) WHERE name = $1',
        [name],
      );
      expect(left).toEqual([]);
    },
    240_000,
  );
});

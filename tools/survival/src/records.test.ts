import { testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { later } from './ai-calls.ts';
import { randomFrom } from './random.ts';
import {
  type RecordsUnderTest,
  recordsVictims,
  startRecordsUnderTest,
} from './records-under-test.ts';

const seed = Number(process.env.BACKLOT_SURVIVAL_SEED ?? Date.now() % 1_000_000);
const records = 15_000;
const atOnce = 500;

describe(`the records after crashes (seed ${seed})`, () => {
  const random = randomFrom(seed);
  let stack: RecordsUnderTest;
  beforeAll(async () => {
    stack = await startRecordsUnderTest();
    await fill();
  });
  afterAll(() => stack?.stop());

  const path = '/db/things';
  /** The ids of records whose creation was answered. */
  const made = new Set<string>();

  const write = async (count: number, n: number): Promise<number> => {
    const create = Array.from({ length: count }, (_, i) => ({
      data: { n: n + i, text: `t${(n + i) % 97}`, part: n % 3 },
    }));
    const { status, body } = await stack.call('POST', `${path}/_batch`, { create });
    for (const { id } of status === 200 ? body.create : []) made.add(id);
    return status;
  };
  const fill = async () => {
    for (let n = 0; n < records; n += atOnce) expect(await write(atOnce, n)).toBe(200);
  };
  const pin = async (indexes: string[]) => {
    const collection = `/platform/projects/${testProject.id}/collections/things`;
    expect((await stack.call('PUT', collection, { indexes })).status).toBe(200);
  };

  /** Writers that go on through every crash. */
  const writing = () => {
    let isOver = false;
    const answers = new Map<number, number>();
    const writer = async () => {
      for (let n = 0; !isOver; n++) {
        const status = await later(5, () => write(1 + (n % 5), n));
        answers.set(status, (answers.get(status) ?? 0) + 1);
      }
    };
    const writers = Promise.all([writer(), writer()]);
    return async () => {
      await until(() => answers.has(200), { what: 'an answered write' });
      isOver = true;
      await writers;
      // No answer, or that the database is away: never that something is wrong.
      expect([...answers.keys()].filter((status) => ![0, 200, 503].includes(status))).toEqual([]);
    };
  };

  const readIndexColumns = () =>
    stack.query<{ slot: number; field: string; state: string; position: string | null }>(
      'SELECT slot, field, state, position FROM slots ORDER BY slot',
    );

  /** What there is, what the writes have counted, and what is shown. */
  const expectExactCounts = async () => {
    const stored = await stack.query<{ id: string; size_bytes: number }>(
      'SELECT id, size_bytes FROM records',
    );
    const bytes = stored.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
    const ids = new Set(stored.map(({ id }) => id));
    expect([...made].filter((id) => !ids.has(id))).toEqual([]);
    const isFolded = async () =>
      (await stack.query('SELECT FROM count_delta LIMIT 1')).length === 0;
    await until(isFolded, { what: 'the fold' });
    const [counted] = await stack.query(
      `SELECT c.row_count::int, c.byte_count::int, t.records::int, t.bytes::int
       FROM collections c JOIN totals t USING (project_id)`,
    );
    expect(counted).toEqual({
      row_count: stored.length,
      byte_count: bytes,
      records: stored.length,
      bytes,
    });
    expect((await stack.call('GET', `${path}/_count`)).body).toEqual({ count: stored.length });
  };

  it.each(recordsVictims)(
    'an index column is filled to the end, whenever %s was killed',
    async (victim) => {
      const fields = victim === 'process' ? ['n', 'text'] : ['part', 'n.x', 'text'];
      const stop = writing();
      await pin(fields);
      for (let crashes = 0; crashes < 2; crashes++) {
        // A batch that waits for this record is half done when the crash comes.
        const [next] = await stack.query<{ id: string }>(
          `SELECT id FROM records WHERE id > coalesce(
             (SELECT max(position::text)::uuid FROM slots WHERE state = 'building'), $2)
           ORDER BY id OFFSET $1 LIMIT 1`,
          [2000 + Math.floor(random() * 2000), '00000000-0000-0000-0000-000000000000'],
        );
        const release = await stack.hold('SELECT FROM records WHERE id = $1 FOR UPDATE', [
          next?.id,
        ]);
        await stack.untilWaits('%FOR NO KEY UPDATE%');
        expect((await readIndexColumns()).map(({ state }) => state)).toContain('building');
        await stack.crash(victim, release);
      }
      const isReady = async () =>
        (await readIndexColumns()).every(({ state }) => state === 'ready');
      await until(isReady, { timeoutMs: 180_000, what: 'the index columns' });
      await stop();
      for (const { slot, field } of await readIndexColumns()) {
        const wrong = await stack.query(
          `SELECT id FROM records WHERE k${slot} IS DISTINCT FROM records.field_key(data, $1)`,
          [field.split('.')],
        );
        expect([field, wrong]).toEqual([field, []]);
      }
      await expectExactCounts();
    },
    400_000,
  );

  it.each(recordsVictims)('counts are exact, whenever %s was killed', async (victim) => {
    const stop = writing();
    for (let crashes = 0; crashes < 2; crashes++) {
      // A fold that waits for this row has taken the deltas away, and not yet added them.
      const release = await stack.hold('SELECT FROM totals FOR UPDATE');
      await stack.untilWaits('INSERT INTO totals%');
      await later(random() * 200, () => stack.crash(victim, release));
      await later(random() * 3000, () => stack.crash(victim));
    }
    await stop();
    await expectExactCounts();
  });
});

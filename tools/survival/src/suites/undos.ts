import { until } from '@backlot/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { isWhole, type StackUnderTest } from '../stack-under-test.ts';

const records = 4000;
const atOnce = 500;
const killed = ['records', 'postgres', 'records'] as const;

export const describeUndos = (getStack: () => StackUnderTest) =>
  describe('an undo whose process and database are killed', () => {
    let stack: StackUnderTest;
    beforeAll(() => {
      stack = getStack();
    });

    it('ends after the restart with what there was, and changes nothing when it is run again', async () => {
      const { id, key, owner } = await stack.newShop(10);
      const runtime = stack.runtime(0, id);
      const batch = async (body: object) => {
        const answer = await runtime('POST', '/db/things/_batch', { token: key, body });
        expect(answer.status).toBe(200);
        return answer.body;
      };
      const control = async (method: string, path: string, body?: object) => {
        const options = { token: owner.token, ...(body && { body }) };
        return (await stack.control(method, `/projects/${id}${path}`, options)).body;
      };
      const snapshot = async () => {
        const headers = { authorization: `Bearer ${key}` };
        const url = `${stack.gateways[0]}/api/runtime/${id}/db/things/_export`;
        const lines = (await (await fetch(url, { headers })).text()).trim().split('\n');
        return lines.map((line) => ({ ...JSON.parse(line), updatedAt: undefined }));
      };

      const ids: string[] = [];
      for (let n = 0; n < records; n += atOnce) {
        const create = Array.from({ length: atOnce }, (_, i) => ({ data: { n: n + i } }));
        ids.push(...(await batch({ create })).create.map((made: { id: string }) => made.id));
      }
      await control('POST', '/restore-points', { name: 'before' });
      const before = await snapshot();
      for (let n = 0; n < records; n += atOnce) {
        const some = ids.slice(n, n + atOnce);
        const update = some.map((id) => ({ id, data: { n: -1 } }));
        await batch(n % (2 * atOnce) === 0 ? { delete: some } : { update });
      }

      const asked = control('POST', '/undo', { restorePoint: 'before' }).catch(() => undefined);
      const progress = async () => {
        const database = new pg.Client(stack.databaseUrl);
        await database.connect();
        try {
          const { rows } = await database.query<{ id: string; state: string; done: number }>(
            'SELECT id, state, created + updated AS done FROM records.undo_jobs ORDER BY started_at DESC LIMIT 1',
          );
          return rows[0];
        } finally {
          await database.end();
        }
      };
      let done = 0;
      for (const victim of killed) {
        await until(async () => ((await progress())?.done ?? 0) > done);
        await stack.victims[victim].kill();
        await stack.victims[victim].restart();
        await until(() => isWhole(stack.gateways[0]));
        const job = await until(progress);
        done = job.done;
        expect(job.state).not.toBe('done');
      }
      await asked;
      const job = await until(progress);
      const undo = await until(async () => {
        const body = await control('GET', `/undo/${job.id}`);
        return body?.state === 'done' && body;
      });
      expect(undo).toMatchObject({ created: records / 2, updated: records / 2, conflicts: [] });
      expect(await snapshot()).toEqual(before);
      const again = await control('POST', '/undo', { restorePoint: 'before' });
      expect(again).toMatchObject({ created: 0, updated: 0, deleted: 0, conflictCount: 0 });
    }, 180_000);
  });

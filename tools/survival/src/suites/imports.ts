import { until } from '@backlot/testing';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { isWhole, type StackUnderTest } from '../stack-under-test.ts';

const lines = 12_000;
/** So many are there when the process is killed. */
const madeBefore = 1000;

export const describeImports = (getStack: () => StackUnderTest) =>
  describe('an import whose process is killed', () => {
    let stack: StackUnderTest;
    beforeAll(() => {
      stack = getStack();
    });

    it('makes each line once when it is sent again', async () => {
      const { id, key } = await stack.newShop(10);
      const headers = { authorization: `Bearer ${key}` };
      const collection = `${stack.gateways[0]}/api/runtime/${id}/db/lines`;
      const name = '019ac000-0000-7000-8000-000000000001';
      const send = async () => {
        const response = await fetch(`${collection}/_import?format=ndjson&import=${name}`, {
          method: 'POST',
          headers,
          body: Array.from({ length: lines }, (_, n) => `{"n":${n}}\n`).join(''),
        });
        return { status: response.status, body: await response.json() };
      };
      const count = async (): Promise<number> => {
        const { body } = await stack.runtime(1, id)('GET', '/db/lines/_count', { token: key });
        return body.count ?? 0;
      };

      const killed = send().catch(() => ({ status: 0, body: {} }));
      await until(async () => (await count()) >= madeBefore);
      await stack.victims.records.kill();
      expect((await killed).status).not.toBe(200);
      await stack.victims.records.restart();
      await until(() => isWhole(stack.gateways[0]));
      const before = await until(count);
      expect(before).toBeLessThan(lines);

      const { status, body } = await send();
      expect(status).toBe(200);
      expect(body).toMatchObject({
        created: lines - before,
        skipped: before,
        failed: [],
        next: null,
      });
      const exported = await (await fetch(`${collection}/_export`, { headers })).text();
      const numbers = exported
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).n);
      expect(numbers).toEqual(Array.from({ length: lines }, (_, n) => n));
    }, 180_000);
  });

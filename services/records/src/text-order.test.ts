import { createDatabase } from '@backlot/database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestRecords, type TestRecords } from './test-bed.ts';
import { checkTextOrder } from './text-order.ts';

describe('the order of texts', () => {
  let records: TestRecords;
  beforeAll(async () => {
    records = await createTestRecords();
  });
  afterAll(() => records.close());

  it('is accepted by code point only', async () => {
    await expect(checkTextOrder(records.database)).resolves.toBeUndefined();
    const url = new URL(records.url);
    const name = `${url.pathname.slice(1)}_icu`;
    await records.database.query(
      `CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`,
    );
    url.pathname = `/${name}`;
    const other = createDatabase({ url: url.href, schema: 'public' });
    await expect(checkTextOrder(other)).rejects.toThrow('C.UTF-8');
    await other.close();
    await records.database.query(`DROP DATABASE ${name}`);
  });
});

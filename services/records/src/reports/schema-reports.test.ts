import { type SchemaReport, schemaRoutes } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { asKey, asOwner, refusesStrangers, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { collectionsPath } from '../testing/calls.ts';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';
import { createReportRunner } from './run-reports.ts';

const schema = {
  properties: { n: { type: 'number' }, list: { items: { maximum: 3 } } },
  required: ['n'],
  additionalProperties: false,
};

describe('the report on a schema', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.create('strangers', { a: 1 });
    await set('strangers', schema);
  });
  afterAll(() => bed.close());

  const set = async (name: string, given: object | null) => {
    const path = `${collectionsPath}/${name}`;
    const answer = await bed.call('PUT', path, { identity: asOwner(), body: { schema: given } });
    expect(answer.status).toBe(200);
  };
  const fill = async (name: string, documents: readonly object[]) => {
    for (let at = 0; at < documents.length; at += 500) {
      const create = documents.slice(at, at + 500).map((data) => ({ data }));
      const { status } = await bed.call('POST', `/db/${name}/_batch`, {
        identity: asKey(),
        body: { create },
      });
      expect(status).toBe(200);
    }
  };
  const report = (name: string, query = '') =>
    bed.call('GET', `${collectionsPath}/${name}/schema-report${query}`, { identity: asOwner() });
  const untilDone = (name: string): Promise<SchemaReport> =>
    until(async () => {
      const { body } = await report(name);
      return body.state === 'done' && body;
    });

  for (const [route, end] of [
    [schemaRoutes.getSchemaReport, 'schema-report'],
    [schemaRoutes.proposeSchema, 'schema-from-records'],
  ] as const) {
    refusesStrangers(
      route,
      () => bed.http,
      () => ({ path: `/projects/${testProject.id}/collections/strangers/${end}` }),
    );
  }

  it('counts the records that do not fit, by field and rule, and changes none', async () => {
    await fill('mixed', [
      { n: 1 },
      { n: 'a' },
      { n: 'b', extra: 1 },
      { list: [1, 7, 9] },
      { n: 2, list: [3] },
    ]);
    await set('mixed', schema);
    expect((await report('mixed')).status).toBe(200);
    const done = await untilDone('mixed');
    expect(done).toMatchObject({ checked: 5, unfit: 3, others: 0, endedAt: expect.any(String) });
    expect(done.problems.map(({ path, rule, count }) => [path, rule, count])).toEqual([
      ['n', 'type', 2],
      ['extra', 'additionalProperties', 1],
      ['list[]', 'maximum', 1],
      ['n', 'required', 1],
    ]);
    const example = `/db/mixed/${done.problems[1]?.example}`;
    expect((await bed.call('GET', example)).body).toMatchObject({ n: 'b', extra: 1 });
  });

  it('begins anew with another schema, and when it is asked to', async () => {
    await fill('again', [{ n: 1 }, { n: 2 }]);
    await set('again', schema);
    await report('again');
    expect((await untilDone('again')).unfit).toBe(0);
    await bed.create('again', { n: 3 });
    expect((await report('again')).body.checked).toBe(2);
    await report('again', '?renew=1');
    expect((await untilDone('again')).checked).toBe(3);
    await set('again', { properties: { n: { type: 'string' } } });
    await report('again');
    expect((await untilDone('again')).unfit).toBe(3);
    await set('again', null);
    expect((await report('again')).status).toBe(404);
    expect((await report('nowhere')).status).toBe(404);
  });

  it('counts each record once, whatever dies under it and however many work on it', async () => {
    const documents = Array.from({ length: 1700 }, (_, n) => (n % 17 ? { n } : { n: 'x' }));
    await fill('large', documents);
    await set('large', schema);
    let left = 4;
    const dying: Database = {
      ...bed.database,
      transaction: (work) =>
        bed.database.transaction(async () => {
          const result = await work();
          left -= 1;
          if (left % 2 === 1) throw new Error('killed');
          return result;
        }),
    };
    await report('large');
    const runners = [dying, bed.database].map((database) => createReportRunner(database, Date.now));
    const runAll = () => Promise.allSettled(runners.map((runner) => runner.run()));
    await until(async () => {
      await runAll();
      return (await report('large')).body.state === 'done';
    });
    expect(left).toBeLessThan(4);
    expect(await untilDone('large')).toMatchObject({ checked: 1700, unfit: 100 });
  });

  it('looks at large records one by one', async () => {
    await set('heavy', { properties: { text: { maxLength: 10 } } });
    await set('heavy', null);
    for (let n = 0; n < 3; n++) await bed.create('heavy', { text: 'x'.repeat(900_000) });
    await set('heavy', { properties: { text: { maxLength: 10 } } });
    await report('heavy');
    expect(await untilDone('heavy')).toMatchObject({ checked: 3, unfit: 3 });
  });

  it('is one of a schema that can be had from the records, which all of them fit', async () => {
    const at = '2026-11-27T13:00:00Z';
    const documents = Array.from({ length: 12 }, (_, n) => ({
      title: `Number ${n} of twelve`,
      state: n % 2 ? 'open' : 'done',
      n: n % 3 ? n : null,
      at,
      where: { city: 'Rome', ...(n > 3 && { zip: '00100' }) },
      tags: n ? ['a', 'b'] : [],
    }));
    await fill('sampled', documents);
    const { body } = await bed.call('POST', `${collectionsPath}/sampled/schema-from-records`, {
      identity: asOwner(),
    });
    expect(body.sampled).toBe(12);
    expect(body.schema).toMatchObject({
      type: 'object',
      properties: {
        title: { type: 'string', maxLength: 100 },
        state: { type: 'string', enum: ['done', 'open'] },
        n: { type: expect.arrayContaining(['null', 'integer']) },
        at: { type: 'string', format: 'date-time' },
        where: { type: 'object', required: ['city'], additionalProperties: false },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: expect.arrayContaining(['title', 'state', 'n', 'at', 'where', 'tags']),
      additionalProperties: false,
    });
    await set('sampled', body.schema);
    await report('sampled');
    expect((await untilDone('sampled')).problems).toEqual([]);
  });
});

import { anonymous, asKey, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidv7 } from 'uuidv7';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';

describe('a field that is hidden from its maker', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
    const words = ['anyone'];
    const fields = { rating: { read: ['role:staff'] }, own: { read: ['owner'] } };
    await bed.call('PUT', `/platform/projects/${testProject.id}/collections/forms`, {
      identity: asOwner(),
      body: { access: { read: words, create: words, change: words, fields } },
    });
  });
  afterAll(() => bed.close());

  const data = { title: 'x', rating: 5, own: 1 };
  const seen = ({ title, rating, own }: Record<string, unknown>) => ({ title, rating, own });
  const callers = [
    ['anonymous', anonymous(), { title: 'x' }],
    ['a user', asUser(ada), { title: 'x', own: 1 }],
    ['a key', asKey(), data],
  ] as const;

  it.each(callers)('is stored, and in no answer of a write: %s', async (_, identity, expected) => {
    const write = (method: string, path: string, headers = {}) =>
      bed.call(method, `/db/forms${path}`, { identity, body: { data }, headers });
    const key = { 'idempotency-key': uuidv7() };
    const upsert = `/${uuidv7()}?upsert=1`;
    for (const answer of [
      await write('POST', ''),
      await write('POST', '', key),
      await write('POST', '', key),
      await write('PUT', upsert),
    ]) {
      expect(answer.status).toBe(201);
      expect(seen(answer.body)).toEqual(expected);
      const read = await bed.call('GET', `/db/forms/${answer.body.id}`, { identity: asKey() });
      expect(seen(read.body)).toEqual(data);
      const own = await bed.call('GET', `/db/forms/${answer.body.id}`, { identity });
      expect(seen(answer.body)).toEqual(seen(own.body));
      const change = { identity, body: { data: { title: 'x' } } };
      const changed = await bed.call('PATCH', `/db/forms/${answer.body.id}`, change);
      expect(seen(changed.body)).toEqual(expected);
    }
  });
});

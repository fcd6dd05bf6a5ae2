import { asKey, asOwner, testProject } from '@backlot/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../../testing/test-bed.ts';
import { createStatementNames } from './statement-names.ts';

let bed: TestBed;
/** Of the last write: what a job sends has none. */
let name: string | undefined;
beforeAll(async () => {
  const onStatement = (text: string, given?: string) => {
    if (given !== undefined && /count_delta/.test(text)) name = given;
  };
  bed = await createTestBed({}, {}, { onStatement });
});
afterAll(() => bed.close());

const identity = asKey();

it('special texts take no names from the usual ones', () => {
  const toName = createStatementNames('test');
  const special = Array.from({ length: 201 }, (_, n) => toName(`special ${n}`, 'special').name);
  expect(special.indexOf('')).toBe(200);
  const usual = Array.from({ length: 301 }, (_, n) => toName(`usual ${n}`).name);
  expect(usual.indexOf('')).toBe(300);
  expect(toName('usual 7', 'special').name).toBe(usual[7]);
});

it('writes of others keep their names, however many kinds of changes somebody makes with indexes', async () => {
  const fields = ['a', 'b', 'c', 'd', 'e', 'f'];
  const path = `/platform/projects/${testProject.id}/collections/indexed`;
  const body = { access: 'shared', indexes: fields };
  expect((await bed.call('PUT', path, { identity: asOwner(), body })).status).toBe(200);
  const { id } = await bed.create('indexed', {});
  const forms: [string, object][] = [
    ['', {}],
    ['', { unset: ['x'] }],
    ['', { inc: { y: 1 } }],
    ['', { unset: ['x'], inc: { y: 1 } }],
    ['?merge=deep', {}],
  ];
  for (let chosen = 1; chosen < 2 ** fields.length; chosen++) {
    const data = Object.fromEntries(
      fields.filter((_, i) => chosen & (1 << i)).map((field) => [field, chosen]),
    );
    for (const [query, form] of forms) {
      const change = { identity, body: { data, ...form } };
      const { status } = await bed.call('PATCH', `/db/indexed/${id}${query}`, change);
      expect(status).toBe(200);
    }
  }
  expect(name).toBe('');
  const usual = await bed.create('usual', {});
  expect(name).toMatch(/^records_/);
  name = undefined;
  await bed.call('PATCH', `/db/usual/${usual.id}`, { identity, body: { data: { n: 1 } } });
  expect(name).toMatch(/^records_/);
});

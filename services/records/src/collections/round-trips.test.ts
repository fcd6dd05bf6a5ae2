import type { CollectionAccess } from '@backlot/contract';
import { asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ada, createTestBed, type TestBed } from '../testing/test-bed.ts';

const richest: CollectionAccess = {
  read: ['users', 'group', 'shared', 'role:staff'],
  create: ['users', 'group', 'role:staff'],
  change: ['owner', 'group', 'shared', 'role:staff'],
  fields: {
    secret: { read: ['role:boss'], create: ['users'] },
    note: { read: ['owner', 'group', 'shared'], create: ['users'], change: ['owner'] },
    status: { create: ['users'], change: ['role:staff'] },
  },
};

let bed: TestBed;
let statements: string[] = [];
beforeAll(async () => {
  bed = await createTestBed({}, {}, { onStatement: (text) => statements.push(text) });
});
afterAll(() => bed.close());

it.each([
  ['a preset', 'public-read' as const],
  ['the richest rules', richest],
])(
  'with %s a get, a page and a create, with a key too, are one statement each',
  async (name, access) => {
    const collection = name.replaceAll(' ', '_');
    const path = `/platform/projects/${testProject.id}/collections/${collection}`;
    await bed.call('PUT', path, { identity: asOwner(), body: { access } });
    const group = { id: '018f0000-0000-7000-8000-000000000901', role: 'member' };
    const identity = asUser(ada, { groups: [group] });
    const data = { title: 'x', secret: 's', note: 'n', status: 'new' };
    const { id } = await bed.create(collection, data, identity);
    let keys = 0;
    const countOnce = async (method: string, below: string, body?: object, isKeyed = false) => {
      statements = [];
      const headers = { 'idempotency-key': `${name} ${keys++}` };
      const call = { identity, ...(body && { body }), ...(isKeyed && { headers }) };
      const { status } = await bed.call(method, `/db/${collection}${below}`, call);
      return [status, ...statements.map((text) => text.replaceAll(/\s+/g, ' '))];
    };
    /** The fewest of several calls: sweeps go on meanwhile. */
    const count = async (...call: Parameters<typeof countOnce>) => {
      const all = [];
      for (let i = 0; i < 20; i++) all.push(await countOnce(...call));
      return all.sort((a, b) => a.length - b.length)[0];
    };
    const created = expect.stringContaining('INSERT INTO records');
    expect([
      await count('GET', `/${id}`),
      await count('GET', '?limit=50'),
      await count('POST', '', { data }),
      await count('POST', '', { data }, true),
    ]).toEqual([
      [200, expect.any(String)],
      [200, expect.any(String)],
      [201, created],
      // On a cluster the answer is stored on another node, with a statement of its own.
      [201, bed.isCluster ? created : expect.stringContaining('INSERT INTO idempotency')],
    ]);
  },
);

import { type AccessPreset, accessPresets } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asOperator, asOwner, asUser, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ada, bob, createTestBed, type TestBed } from '../testing/test-bed.ts';

/** Statuses for: create; read, patch, put and delete a record of ada's; the same of nobody's. */
interface Expected {
  create: number;
  adas: { read: number; change: number };
  nobodys: { read: number; change: number };
  /** What a list shows: records of ada's, of bob's, of nobody's. */
  sees: 'all' | 'own' | 'none' | 401;
}

const passes: Expected = {
  create: 201,
  adas: { read: 200, change: 200 },
  nobodys: { read: 200, change: 200 },
  sees: 'all',
};
const shutOut: Expected = {
  create: 401,
  adas: { read: 401, change: 401 },
  nobodys: { read: 401, change: 401 },
  sees: 401,
};
const blind = {
  adas: { read: 404, change: 404 },
  nobodys: { read: 404, change: 404 },
  sees: 'none',
} as const;
const looksOn = {
  adas: { read: 200, change: 403 },
  nobodys: { read: 200, change: 403 },
  sees: 'all',
} as const;
const ownerChanges = { create: 201, sees: 'all' } as const;

/** docs/api.md, "Access". `ada` is the owner of the record, `bob` another user. */
const table: Record<AccessPreset, { anonymous: Expected; ada: Expected; bob: Expected }> = {
  shared: {
    anonymous: {
      create: 201,
      adas: { read: 200, change: 401 },
      nobodys: { read: 200, change: 200 },
      sees: 'all',
    },
    ada: passes,
    bob: {
      create: 201,
      adas: { read: 200, change: 403 },
      nobodys: { read: 200, change: 200 },
      sees: 'all',
    },
  },
  'public-read': {
    anonymous: {
      create: 401,
      adas: { read: 200, change: 401 },
      nobodys: { read: 200, change: 401 },
      sees: 'all',
    },
    ada: { ...ownerChanges, adas: { read: 200, change: 200 }, nobodys: { read: 200, change: 403 } },
    bob: { ...ownerChanges, adas: { read: 200, change: 403 }, nobodys: { read: 200, change: 403 } },
  },
  members: {
    anonymous: shutOut,
    ada: { ...ownerChanges, adas: { read: 200, change: 200 }, nobodys: { read: 200, change: 403 } },
    bob: { ...ownerChanges, adas: { read: 200, change: 403 }, nobodys: { read: 200, change: 403 } },
  },
  private: {
    anonymous: shutOut,
    ada: {
      create: 201,
      adas: { read: 200, change: 200 },
      nobodys: { read: 404, change: 404 },
      sees: 'own',
    },
    bob: {
      create: 201,
      adas: { read: 404, change: 404 },
      nobodys: { read: 404, change: 404 },
      sees: 'own',
    },
  },
  'append-only': {
    anonymous: { ...shutOut, create: 201 },
    ada: { create: 201, ...blind },
    bob: { create: 201, ...blind },
  },
  locked: {
    anonymous: shutOut,
    ada: { create: 403, ...blind },
    bob: { create: 403, ...blind },
  },
  catalog: {
    anonymous: {
      create: 401,
      adas: { read: 200, change: 401 },
      nobodys: { read: 200, change: 401 },
      sees: 'all',
    },
    ada: { create: 403, ...looksOn },
    bob: { create: 403, ...looksOn },
  },
  inbox: {
    anonymous: { ...shutOut, create: 201 },
    ada: { create: 201, ...blind },
    bob: { create: 201, ...blind },
  },
  team: {
    anonymous: shutOut,
    ada: { create: 403, ...blind },
    bob: { create: 403, ...blind },
  },
};

const callers: Record<string, Identity> = {
  anonymous: anonymous(),
  ada: asUser(ada),
  bob: asUser(bob),
  owner: asOwner(),
  key: asKey(),
  operator: asOperator(),
};

describe('access', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const rows = accessPresets.flatMap((preset) =>
    Object.keys(callers).map((caller) => {
      const known = table[preset] as Record<string, Expected | undefined>;
      return [preset, caller, known[caller] ?? passes] as const;
    }),
  );

  /** A collection with a record of ada's, one of bob's and one of nobody's. */
  const fill = async (preset: AccessPreset, caller: string) => {
    const name = `${preset}_${caller}`;
    const open = `/platform/projects/${testProject.id}/collections/${name}`;
    const set = (access: AccessPreset) =>
      bed.call('PUT', open, { identity: asOwner(), body: { access } });
    await set('shared');
    const adas = await bed.create(name, { n: 1 }, asUser(ada));
    const bobs = await bed.create(name, { n: 2 }, asUser(bob));
    const nobodys = await bed.create(name, { n: 3 });
    expect((await set(preset)).body).toMatchObject({ name, access: preset, count: 3 });
    return { name, adas, bobs, nobodys };
  };

  it.each(rows)('%s for %s', async (preset, caller, expected) => {
    const { name, adas, bobs, nobodys } = await fill(preset, caller);
    const identity = callers[caller] ?? anonymous();
    const visible = {
      all: [nobodys.id, bobs.id, adas.id],
      own: [caller === 'ada' ? adas.id : bobs.id],
      none: [],
      401: undefined,
    }[expected.sees];
    const list = await bed.call('GET', `/db/${name}`, { identity });
    const byField = await bed.call(
      'GET',
      `/db/${name}?sort=-n&where=${encodeURIComponent('{"n":{"$gt":0}}')}`,
      {
        identity,
      },
    );
    const count = await bed.call('GET', `/db/${name}/_count`, { identity });
    if (visible) {
      expect(list.body.items.map(({ id }: { id: string }) => id)).toEqual(visible);
      expect(byField.body.items.map(({ id }: { id: string }) => id)).toEqual(visible);
      expect(count.body).toEqual({ count: visible.length });
    } else {
      expect([list.status, byField.status, count.status]).toEqual([401, 401, 401]);
    }
    for (const [record, { read, change }] of [
      [adas, expected.adas],
      [nobodys, expected.nobodys],
    ] as const) {
      const path = `/db/${name}/${record.id}`;
      const before = await bed.call('GET', path, { identity: asKey() });
      expect((await bed.call('GET', path, { identity })).status).toBe(read);
      expect((await bed.call('PATCH', path, { identity, body: { data: { p: 1 } } })).status).toBe(
        change,
      );
      expect((await bed.call('PUT', path, { identity, body: { data: { q: 1 } } })).status).toBe(
        change,
      );
      expect((await bed.call('DELETE', path, { identity })).status).toBe(change);
      const after = await bed.call('GET', path, { identity: asKey() });
      if (change === 200) expect(after.status).toBe(404);
      else expect(after.body).toEqual(before.body);
    }
    const created = await bed.call('POST', `/db/${name}`, { identity, body: { data: { n: 4 } } });
    expect(created.status).toBe(expected.create);
    if (created.status === 201) {
      const ownerId = identity.caller === 'user' ? identity.userId : null;
      expect(created.body).toMatchObject({ n: 4, ownerId });
    }
  });

  it('leaves the records of an erased account to the project’s own callers', async () => {
    const gone = '018f0000-0000-7000-8000-0000000000e1';
    for (const preset of ['shared', 'private'] as const) {
      const { name } = await fill(preset, 'erased');
      const record = await bed.create(name, { n: 5 }, asUser(gone));
      const path = `/db/${name}/${record.id}`;
      for (const identity of [anonymous(), asUser(ada)]) {
        const { status } = await bed.call('DELETE', path, { identity });
        expect([401, 403, 404]).toContain(status);
      }
      expect((await bed.call('DELETE', path, { identity: asOwner() })).status).toBe(200);
    }
  });

  it('keeps projects apart, even where names and ids are known', async () => {
    const { name, adas } = await fill('shared', 'tenant');
    const stranger = { project: { ...testProject, id: 'other', number: 2002 } };
    for (const identity of [
      asUser(ada, stranger),
      asOwner(stranger),
      asKey(stranger),
      asOperator(stranger),
    ]) {
      const path = `/db/${name}/${adas.id}`;
      expect((await bed.call('GET', path, { identity })).status).toBe(404);
      expect((await bed.call('PATCH', path, { identity, body: { data: {} } })).status).toBe(404);
      expect((await bed.call('PUT', path, { identity, body: { data: {} } })).status).toBe(404);
      expect((await bed.call('DELETE', path, { identity })).status).toBe(404);
      expect((await bed.call('GET', `/db/${name}`, { identity })).body.items).toEqual([]);
      expect((await bed.call('GET', `/db/${name}/_count`, { identity })).body).toEqual({
        count: 0,
      });
    }
    await bed.create(name, { mine: true }, asKey(stranger));
    const theirs = await bed.call('GET', `/db/${name}`, { identity: asKey(stranger) });
    expect(theirs.body.items).toEqual([expect.objectContaining({ mine: true })]);
    expect((await bed.call('GET', `/db/${name}`)).body.items).toHaveLength(3);
    expect((await bed.call('GET', `/db/${name}/${adas.id}`, { identity: asKey() })).status).toBe(
      200,
    );
  });
});

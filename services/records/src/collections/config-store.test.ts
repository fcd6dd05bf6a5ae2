import {
  type ConfigAsking,
  type ConfigDirectory,
  type RouteBody,
  recordRoutes,
} from '@backlot/contract';
import { asOwner, testProject, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
let part: ConfigDirectory;
beforeAll(async () => {
  bed = await createTestBed();
  const { directories } = bed.service as unknown as {
    directories: { recordsConfig: ConfigDirectory };
  };
  part = directories.recordsConfig;
});
afterAll(() => bed.close());

/** Each test has a project of its own. */
let project = testProject;
beforeEach(() => {
  project = { ...project, number: project.number + 1, id: `p${project.number + 1}` };
});

type Fields = Required<RouteBody<typeof recordRoutes.setCollectionAccess>>;

/** Of each field that owners set one that is no default. The compiler wants all of them. */
const everything: Fields = {
  access: { read: ['users'], create: ['users'], change: ['owner'], fields: { a: { read: [] } } },
  indexes: ['rank', 'a.b'],
  unique: ['email', ['post', 'ownerId']],
  search: ['body', 'title'],
  schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  onErase: 'anonymise',
  limits: { maxBytes: 1000, perUser: 5 },
  history: false,
};

const apply = (changes: Record<string, unknown>, isTrial = false) => {
  const { id, number, ownerId } = project;
  const all: ConfigAsking['changes'] = Object.entries(changes).map(([name, to]) => ({
    section: 'collections',
    name,
    to,
  }));
  return part.applyConfig({
    project: { id, number, ownerId, allowedOrigins: [] },
    changes: all,
    isTrial,
  });
};
const read = async () => (await part.readConfig(project.number)).collections ?? {};
const call = (method: string, path: string, body?: unknown) =>
  bed.call(method, path, { identity: asOwner({ project }), ...(body !== undefined && { body }) });
const set = (name: string, body: unknown) =>
  call('PUT', `/platform/projects/${project.id}/collections/${name}`, body);

describe('collections in a config', () => {
  it.each(Object.keys(recordRoutes.setCollectionAccess.body.shape) as (keyof Fields)[])(
    'have what an owner sets by "%s"',
    async (field) => {
      const body = { access: 'private', [field]: everything[field] };
      expect(await set('alone', body)).toMatchObject({ status: 200 });
      expect(await apply({ copy: body })).toEqual({ left: [] });
      const { alone, copy } = (await read()) as Record<string, Record<string, unknown>>;
      expect(copy).toEqual(alone);
      const inOrder = (value: unknown) => (Array.isArray(value) ? [...value].sort() : value);
      expect(inOrder(alone?.[field])).toEqual(inOrder(everything[field]));
      expect(await apply({ copy: { access: 'private' } })).toEqual({ left: [] });
      expect(await apply({ plain: { access: 'private' } })).toEqual({ left: [] });
      const after = await read();
      expect(after.copy).toEqual(after.plain);
    },
  );

  it('are those that the owner has made or set, not those of visitors', async () => {
    await bed.call('POST', '/db/visited', {
      identity: { ...asOwner({ project }), caller: 'anonymous', userId: null },
      body: { data: {} },
    });
    expect(await read()).toEqual({});
    await call('POST', '/db/mine', { data: {} });
    expect(Object.keys(await read())).toEqual(['mine']);
    expect(await apply({ visited: { access: 'locked' } })).toEqual({ left: [] });
    expect(Object.keys(await read())).toEqual(['mine', 'visited']);
  });

  it('are tried without a trace', async () => {
    await set('old', { access: 'private' });
    const before = await read();
    await bed.takeEvents();
    const changes = { old: null, fresh: { access: 'locked', unique: ['a'] } };
    expect(await apply(changes, true)).toEqual({ left: [] });
    expect(await read()).toEqual(before);
    expect(await bed.takeEvents()).toEqual([]);
    const kept = await call('GET', `/platform/projects/${project.id}/collections`);
    expect(kept.body.items).toMatchObject([{ name: 'old' }]);
  });

  it('are all set, or none: a refusal names the collection', async () => {
    await set('old', { access: 'private' });
    const refused = await apply({
      a: { access: 'locked' },
      b: { access: 'locked', indexes: ['createdAt'] },
      old: null,
    });
    expect(refused.refused).toMatchObject({ code: 'invalid_body' });
    expect(refused.refused?.message).toMatch(/^"collections\.b": .*createdAt/);
    expect(Object.keys(await read())).toEqual(['old']);
  });

  it('stay where they have records, and say so', async () => {
    await set('empty', { access: 'private' });
    await call('POST', '/db/full', { data: { title: 'kept' } });
    expect(await apply({ empty: null, full: null, never: null })).toEqual({
      left: [{ section: 'collections', name: 'full' }],
    });
    expect(Object.keys(await read())).toEqual(['full']);
    expect((await call('GET', '/db/full')).body.items).toMatchObject([{ title: 'kept' }]);
  });

  it('lose no record that is written while they go', async () => {
    const rounds = Array.from({ length: 6 }, (_, n) => `c${n}`);
    for (const name of rounds) await set(name, { access: 'private' });
    const written = await Promise.all(
      rounds.flatMap((name) => [
        call('POST', `/db/${name}`, { data: { name } }),
        apply({ [name]: null }),
      ]),
    );
    const ids = written.flatMap((answer) => ('body' in answer ? [String(answer.body.id)] : []));
    expect(ids).toHaveLength(rounds.length);
    await bed.database.query(
      `UPDATE collections SET deleted_at = deleted_at - interval '1 hour' WHERE project_id = $1`,
      [project.number],
    );
    await until(async () => {
      const lists = await Promise.all(rounds.map((name) => call('GET', `/db/${name}`)));
      const found = lists.flatMap(({ body }) => (body.items as { id: string }[]) ?? []);
      return found.length === ids.length;
    });
  });

  it('are at most 100, together with those that are there', async () => {
    const many = Array.from({ length: 101 }, (_, n) => [`c${n}`, { access: 'locked' }]);
    expect(await apply(Object.fromEntries(many))).toMatchObject({
      refused: { code: 'collection_limit' },
    });
    expect(await read()).toEqual({});
    expect(await apply(Object.fromEntries(many.slice(1)))).toEqual({ left: [] });
    expect(Object.keys(await read())).toHaveLength(100);
  });
});

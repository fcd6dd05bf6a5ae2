import { randomUUID } from 'node:crypto';
import type { BusEvent } from '@backlot/bus';
import { auditRoutes } from '@backlot/contract';
import { asKey, until } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, ownerB, platform, type TestBed } from '../testing/test-bed.ts';

interface Line {
  id: string;
  seq: number;
  action: string;
  target: string;
  projectId: string | null;
  ownerId: string | null;
  actor: Record<string, unknown>;
  address: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  erased: boolean;
  hash: string;
}

describe('the audit log', () => {
  let bed: TestBed;
  let projectId: string;
  let owner: string;
  const sent: BusEvent[] = [];
  beforeAll(async () => {
    bed = await createTestBed();
    await bed.bus.listen(['platform.acted'], (event) => sent.push(event));
    await bed.service.start();
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    owner = randomUUID();
    projectId = await bed.project(owner);
  });

  /** An event stays stored until its line is written. */
  const deliver = async () => {
    await until(
      async () =>
        (await bed.database.query("SELECT FROM outbox WHERE topic = 'platform.acted'")).length ===
        0,
    );
  };
  const read = async (query = '', identity = bed.owner(owner)) => {
    const { status, body } = await bed.call('GET', `/platform/audit${query}`, {
      identity: await identity,
    });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body as { items: Line[]; hasMore: boolean; nextCursor: string | null };
  };
  const lines = async (...asked: Parameters<typeof read>) => {
    await deliver();
    return (await read(...asked)).items;
  };
  const change = async (method: string, rest: string, body?: unknown) =>
    bed.call(method, `/platform/projects/${projectId}${rest}`, {
      identity: await bed.owner(owner, projectId),
      ...(body !== undefined && { body }),
    });
  const verify = async (identity = bed.owner(owner)) => {
    await bed.service.verifyAudit();
    const { body } = await bed.call('GET', '/platform/audit/verification', {
      identity: await identity,
    });
    return body;
  };

  it('says who changed what, from where, with what was there before', async () => {
    await change('PATCH', '', { name: 'Shop' });
    await change('PUT', '/roles/staff', { may: ['see-users'] });
    await change('PUT', '/roles/staff', { may: ['see-emails'] });
    await change('DELETE', '/roles/staff');
    const found = await lines();
    expect(found.map(({ action, target }) => [action, target])).toEqual([
      ['deleteRole', 'roles/staff'],
      ['setRole', 'roles/staff'],
      ['setRole', 'roles/staff'],
      ['updateProject', 'project'],
      ['createProject', 'projects'],
    ]);
    expect(found.map(({ before, after }) => [before, after]).slice(0, 4)).toEqual([
      [{ name: 'staff', may: ['see-emails'] }, null],
      [{ may: ['see-users'] }, { may: ['see-emails'] }],
      [null, { name: 'staff', may: ['see-users'] }],
      [{ name: 'A project' }, { name: 'Shop' }],
    ]);
    expect(found[0]).toMatchObject({
      ownerId: owner,
      projectId,
      actor: { kind: 'owner', userId: owner, keyId: null, keyName: null },
      address: (await bed.owner(owner)).ip,
    });
  });

  it('names the key that acted, and shows no key and no secret', async () => {
    const { body: made } = await change('POST', '/keys', { name: 'deploy', scopes: ['admin'] });
    await bed.call('PUT', `/platform/projects/${projectId}/limits`, {
      identity: asKey({
        project: (await bed.owner(owner, projectId)).project,
        keyId: String(made.id),
      }),
      body: { read: { perCaller: 5 } },
    });
    const [byKey, creation] = await lines();
    expect(byKey).toMatchObject({
      action: 'setLimits',
      actor: { kind: 'key', keyId: made.id, keyName: 'deploy' },
    });
    expect(creation?.after).toMatchObject({ name: 'deploy', key: '…' });
    expect(JSON.stringify(await read())).not.toContain(made.key);
  });

  it('has no line of what was refused or tried', async () => {
    expect((await change('PUT', '/roles/user', { may: [] })).status).toBe(400);
    expect((await change('PATCH', '', { status: 'gone' })).status).toBe(400);
    expect((await lines()).map(({ action }) => action)).toEqual(['createProject']);
  });

  it('stores the line with the change: neither is there without the other', async () => {
    await deliver();
    await bed.ownerDatabase.query(
      'ALTER TABLE projects.outbox ADD CONSTRAINT broken CHECK (topic <> $$platform.acted$$) NOT VALID',
    );
    try {
      expect((await change('PATCH', '', { name: 'Never' })).status).toBe(500);
    } finally {
      await bed.ownerDatabase.query('ALTER TABLE projects.outbox DROP CONSTRAINT broken');
    }
    expect((await change('GET', '')).body.name).toBe('A project');
    await change('PATCH', '', { name: 'Now' });
    expect((await lines()).map(({ after }) => after?.name)).toEqual(['Now', 'A project']);
  });

  it('takes each act once, and acts of many at once into chains without a gap', async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, n) => change('PUT', `/roles/role${n}`, { may: [] })),
    );
    await deliver();
    await Promise.all(sent.map((event) => bed.publish({ ...event, id: randomUUID() })));
    const { items } = await read('?limit=100');
    expect(items.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 13 }, (_, n) => n + 1),
    );
    expect(await verify()).toMatchObject({ lines: 13, broken: [] });
  });

  it('writes of two who change the same thing at once each what the other left', async () => {
    await Promise.all(['One', 'Two', 'Three'].map((name) => change('PATCH', '', { name })));
    const names = (await lines('?action=updateProject')).map(({ before, after }) => [
      before?.name,
      after?.name,
    ]);
    const order = [...names].reverse();
    expect(new Set(order.map(([, after]) => after))).toEqual(new Set(['One', 'Two', 'Three']));
    const links = new Map(order.map(([before, after]) => [before, after]));
    let name: unknown = 'A project';
    for (let n = 0; n < 3; n++) name = links.get(name);
    expect(name).toBe((await change('GET', '')).body.name);
  });

  it('pages, filters by target, actor, action, project and time', async () => {
    await change('PUT', '/roles/staff', { may: [] });
    bed.pass(1000);
    const middle = new Date(bed.now()).toISOString();
    await change('PUT', '/limits', { read: { perCaller: 5 } });
    await deliver();
    const actions = async (query: string) => (await read(query)).items.map(({ action }) => action);
    expect(await actions('?target=roles')).toEqual(['setRole']);
    expect(await actions('?action=setLimits')).toEqual(['setLimits']);
    expect(await actions(`?actor=${owner}&projectId=${projectId}`)).toEqual([
      'setLimits',
      'setRole',
      'createProject',
    ]);
    expect(await actions('?actor=operator')).toEqual([]);
    expect(await actions(`?from=${middle}`)).toEqual(['setLimits']);
    expect(await actions(`?to=${middle}`)).toEqual(['setRole', 'createProject']);
    const first = await read('?limit=2');
    expect(first).toMatchObject({ hasMore: true, items: [{}, {}] });
    expect((await read(`?limit=2&cursor=${first.nextCursor}`)).items).toHaveLength(1);
  });

  it('shows owners their own alone, and operators all; of an operator no address to owners', async () => {
    await bed.call('PATCH', `/platform/projects/${projectId}`, {
      identity: await bed.operator(projectId),
      body: { status: 'paused' },
    });
    const [own] = await lines();
    expect(own).toMatchObject({ actor: { kind: 'operator' }, address: null });
    expect(own?.after).toEqual({ status: 'paused' });
    expect(await lines('', bed.owner(ownerB))).toEqual([]);
    const [shown] = await lines(`?ownerId=${owner}`, bed.operator());
    expect(shown).toMatchObject({ id: own?.id, address: (await bed.operator()).ip });
    expect(
      (
        await bed.call('GET', `/platform/audit?ownerId=${ownerA}`, {
          identity: await bed.owner(owner),
        })
      ).status,
    ).toBe(403);
    for (const route of Object.values(auditRoutes))
      if (typeof route === 'object' && 'path' in route)
        expect(
          (
            await bed.call('GET', `/platform${route.path}`, {
              identity: asKey({ project: platform, keyId: randomUUID() }),
            })
          ).status,
        ).toBe(403);
  });

  it('is taken along as lines of JSON or a table, where nothing is a formula', async () => {
    await change('POST', '/keys', { name: '=cmd', scopes: ['read'] });
    await deliver();
    const file = async (format: string) =>
      bed.call('GET', `/platform/audit/export?format=${format}`, {
        identity: await bed.owner(owner),
      });
    const ndjson = await file('ndjson');
    expect(ndjson.headers.get('content-type')).toContain('application/x-ndjson');
    const parsed = String(ndjson.body)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    expect(parsed).toEqual((await read()).items);
    const csv = (await file('csv')).body.split('\r\n');
    expect(csv).toHaveLength(4);
    expect(csv[1]).toMatch(new RegExp(`^${parsed[0]?.id},.*,createKey,${projectId},keys,`));
  });

  describe('when somebody lays hand on it', () => {
    const asDatabaseOwner = async (statement: string, ...values: unknown[]) => {
      await bed.ownerDatabase.query('ALTER TABLE projects.audit_lines DISABLE TRIGGER USER');
      await bed.ownerDatabase.query('ALTER TABLE projects.audit_details DISABLE TRIGGER USER');
      try {
        await bed.ownerDatabase.query(statement, values);
      } finally {
        await bed.ownerDatabase.query('ALTER TABLE projects.audit_lines ENABLE TRIGGER USER');
        await bed.ownerDatabase.query('ALTER TABLE projects.audit_details ENABLE TRIGGER USER');
      }
    };
    beforeEach(async () => {
      await change('PUT', '/roles/staff', { may: [] });
      await change('PUT', '/roles/staff', { may: ['see-users'] });
      await lines();
      expect(await verify()).toMatchObject({ broken: [] });
    });

    it.each([
      ['UPDATE audit_lines SET at = now()'],
      ['DELETE FROM audit_lines'],
      ['TRUNCATE audit_lines CASCADE'],
      ["UPDATE audit_details SET details = '{}'"],
    ])('the service itself can not: %s', async (statement) => {
      await expect(bed.database.query(statement)).rejects.toThrow(/append-only|permission denied/);
    });

    it.each([
      [
        'a changed line',
        "UPDATE audit_lines SET content = replace(content, 'setRole', 'getRole') WHERE chain = $1 AND seq = 2",
        2,
        'It was changed.',
      ],
      [
        'a moved line',
        "UPDATE audit_lines SET at = at - interval '1 day' WHERE chain = $1 AND seq = 2",
        2,
        'Its time or its id was changed.',
      ],
      [
        'changed details',
        "UPDATE audit_details SET details = '{}' WHERE id = (SELECT id FROM audit_lines WHERE chain = $1 AND seq = 2)",
        2,
        'Its details were changed.',
      ],
      [
        'lost details',
        'DELETE FROM audit_details WHERE id = (SELECT id FROM audit_lines WHERE chain = $1 AND seq = 2)',
        2,
        'Its details are missing.',
      ],
      [
        'a line that was taken out',
        'WITH gone AS (SELECT id FROM audit_lines WHERE chain = $1 AND seq = 2), d AS (DELETE FROM audit_details USING gone WHERE audit_details.id = gone.id) SELECT 1; DELETE_LINE',
        2,
        'A line before it is missing.',
      ],
    ])('%s is found, and named', async (_, statement, seq, reason) => {
      const [first = '', then] = statement.split('; ');
      await asDatabaseOwner(first, owner);
      if (then)
        await asDatabaseOwner('DELETE FROM audit_lines WHERE chain = $1 AND seq = 2', owner);
      bed.pass(25 * 3600 * 1000);
      expect(await verify()).toMatchObject({ broken: [{ ownerId: owner, seq, reason }] });
      expect(await verify(bed.operator())).toMatchObject({
        broken: expect.arrayContaining([{ ownerId: owner, seq, reason }]),
      });
    });

    it('the end of a chain that was cut off is found', async () => {
      await asDatabaseOwner(
        'DELETE FROM audit_details WHERE id = (SELECT id FROM audit_lines WHERE chain = $1 AND seq = 3)',
        owner,
      );
      await asDatabaseOwner('DELETE FROM audit_lines WHERE chain = $1 AND seq = 3', owner);
      bed.pass(25 * 3600 * 1000);
      expect(await verify()).toMatchObject({ broken: [{ seq: 3 }] });
    });
  });

  it('forgets of an erased account what it tells of people, and is whole all the same', async () => {
    await change('PUT', '/roles/staff', { may: [] });
    await deliver();
    await bed.publish({
      id: randomUUID(),
      topic: 'user.erased',
      payload: { projectId: 'platform', projectNumber: 1, userId: owner, email: null },
    });
    await change('GET', '');
    const [line] = await lines(`?ownerId=${owner}`, bed.operator());
    expect(line).toMatchObject({ erased: true, address: null, before: null, after: null });
    expect(await verify(bed.operator())).toMatchObject({
      broken: expect.not.arrayContaining([expect.objectContaining({ ownerId: owner })]),
    });
  });
});

import { defaultLimits } from '@backlot/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

describe('setLimits', () => {
  let bed: TestBed;
  let id: string;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());
  beforeEach(async () => {
    id = await bed.project();
    await bed.takeEvents();
  });

  const asOwner = async (body: unknown) =>
    bed.call('PUT', `/platform/projects/${id}/limits`, {
      identity: await bed.owner(ownerA, id),
      body,
    });
  const asOperator = async (body: unknown) =>
    bed.call('PUT', `/platform/projects/${id}/limits`, { identity: await bed.operator(id), body });

  it('lets the operator raise and lower, merged with what was set before', async () => {
    await asOperator({ ai: { perCaller: 600, perProject: 9000 } });
    const { status, body } = await asOperator({ ai: { perCaller: 100 }, read: { perProject: 5 } });
    const expected = {
      ...defaultLimits,
      ai: { perCaller: 100, perProject: 9000 },
      read: { perCaller: 1200, perProject: 5 },
    };
    expect(status).toBe(200);
    expect(body).toEqual(expected);
    expect((await bed.service.directories.projects.findProject(id))?.limits).toEqual(expected);
    expect((await bed.takeEvents()).map((event) => event.topic)).toEqual([
      'project.changed',
      'project.changed',
    ]);
  });

  it('shows what holds now, by what the operator and the owner have set', async () => {
    const show = async () =>
      (
        await bed.call('GET', `/platform/projects/${id}/limits`, {
          identity: await bed.owner(ownerA, id),
        })
      ).body;
    expect(await show()).toEqual(defaultLimits);
    await asOwner({ read: { perCaller: 100 } });
    await asOperator({ read: { perCaller: 50, perProject: 70 } });
    expect(await show()).toEqual({ ...defaultLimits, read: { perCaller: 50, perProject: 70 } });
    await asOperator({ read: null });
    expect(await show()).toEqual({
      ...defaultLimits,
      read: { ...defaultLimits.read, perCaller: 100 },
    });
  });

  it('lets the owner lower down to 0 and take that back, not raise', async () => {
    expect(
      (await asOwner({ email: { perCaller: 0 }, write: { perCaller: 600 } })).body.email,
    ).toEqual({
      perCaller: 0,
      perProject: 200,
    });
    expect((await asOwner({ email: { perCaller: 20 } })).body.email.perCaller).toBe(20);
    await bed.takeEvents();
    const refused = await asOwner({ read: { perCaller: 10 }, email: { perCaller: 21 } });
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(refused.body.error).toContain('"email.perCaller"');
    expect((await bed.service.directories.projects.findProject(id))?.limits).toEqual(defaultLimits);
    expect(await bed.takeEvents()).toEqual([]);
  });

  it('lets the owner go as far as the operator allows, and follows the operator down', async () => {
    await asOperator({ ai: { perCaller: 500 } });
    expect((await asOwner({ ai: { perCaller: 400 } })).body.ai.perCaller).toBe(400);
    expect((await asOwner({ ai: { perCaller: 501 } })).status).toBe(403);
    expect((await asOperator({ ai: { perCaller: 50 } })).body.ai.perCaller).toBe(50);
    expect((await asOperator({ ai: { perCaller: 450 } })).body.ai.perCaller).toBe(400);
  });

  it('restores a default with null, of one value or of a class, in its own layer alone', async () => {
    await asOperator({ ai: { perCaller: 50, perProject: 70 }, read: { perCaller: 3 } });
    await asOwner({ ai: { perCaller: 5 } });
    expect((await asOperator({ ai: { perProject: null }, read: null })).body).toMatchObject({
      ai: { perCaller: 5, perProject: defaultLimits.ai.perProject },
      read: defaultLimits.read,
    });
    expect((await asOwner({ ai: null })).body.ai.perCaller).toBe(50);
  });

  it('loses no change when several are made at once', async () => {
    await Promise.all([
      asOperator({ ai: { perCaller: 1 } }),
      asOperator({ read: { perCaller: 2 } }),
      asOwner({ write: { perCaller: 3 } }),
      asOwner({ upload: { perCaller: 4 } }),
    ]);
    expect((await bed.service.directories.projects.findProject(id))?.limits).toMatchObject({
      ai: { perCaller: 1 },
      read: { perCaller: 2 },
      write: { perCaller: 3 },
      upload: { perCaller: 4 },
    });
  });

  it.each([
    { fast: { perCaller: 1 } },
    { read: { perHour: 1 } },
    { read: { perCaller: -1 } },
    { read: { perCaller: 1.5 } },
    { read: { perCaller: 1_000_001 } },
    { read: { perCaller: '5' } },
    { read: 5 },
    [],
  ])('refuses %j', async (body) => {
    expect(await asOperator(body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
  });
});

import { projectRoutes } from '@backlot/contract';
import { refusesStrangers } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

describe('createProject', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed({ maxProjectsPerOwner: 5 });
  });
  afterAll(() => bed.close());
  refusesStrangers(
    projectRoutes.createProject,
    () => bed.http,
    () => ({ path: '/projects', body: { name: 'Mine' } }),
  );

  const create = async (body: unknown, headers: Record<string, string> = {}) =>
    bed.call('POST', '/platform/projects', { identity: await bed.owner(ownerA), body, headers });

  it('answers the new project, active, of the caller, under a fresh id', async () => {
    await bed.takeEvents();
    const { status, body } = await create({
      name: 'Guestbook',
      settings: { emailRecipients: 'known' },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[a-hjkmnp-z][a-hjkmnp-z2-9]{11}$/),
      name: 'Guestbook',
      ownerId: ownerA,
      role: 'owner',
      status: 'active',
      baseUrl: `https://backlot.example/api/runtime/${body.id}`,
      settings: { emailRecipients: 'known' },
      createdAt: expect.any(String),
    });
    const found = await bed.service.directories.projects.findProject(body.id);
    expect(found?.number).toBeGreaterThan(1);
    expect(await bed.takeEvents()).toEqual([
      { topic: 'project.changed', payload: { projectId: body.id, projectNumber: found?.number } },
    ]);
  });

  it('is reached at a host name of its own where projects have some', async () => {
    const publicUrl = 'https://backlot.example:8443';
    const elsewhere = await createTestBed({ publicUrl, projectHostSuffix: '.apps.example' });
    const answer = await elsewhere.call('POST', '/platform/projects', {
      identity: await elsewhere.owner(ownerA),
      body: { name: 'Guestbook' },
    });
    await elsewhere.close();
    expect(answer.body.baseUrl).toBe(`https://${answer.body.id}.apps.example:8443/api`);
  });

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'a\0b' }, 'name'],
    [{ name: 'two\r\nlines' }, 'name'],
    [{ name: 'bell\u0007' }, 'name'],
    [{ name: 'Pay\u202Elap' }, 'name'],
    [{ name: 'marked\u200F' }, 'name'],
    [{ name: 'sepa\u2028rated' }, 'name'],
    [{ name: 'x', settings: { emailRecipients: 'all' } }, 'settings.emailRecipients'],
    [{ name: 'x', settings: { colour: 'red' } }, 'settings.colour'],
    [
      { name: 'x', settings: { allowedOrigins: ['https://example.org/path'] } },
      'settings.allowedOrigins.0',
    ],
    [{ name: 'x', settings: null }, 'settings'],
  ])('refuses %j, naming %s, and creates nothing', async (body, field) => {
    await bed.takeEvents();
    const answer = await create(body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(`"${field}"`);
    expect(await bed.takeEvents()).toEqual([]);
  });

  it('creates one project for one Idempotency-Key and replays its answer', async () => {
    const first = await create({ name: 'Once' }, { 'idempotency-key': 'k1' });
    const again = await create({ name: 'Once' }, { 'idempotency-key': 'k1' });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await create({ name: 'Other' }, { 'idempotency-key': 'k1' })).toMatchObject({
      status: 409,
      body: { code: 'idempotency_mismatch' },
    });
  });

  it('lets an owner have exactly as many projects as allowed, under parallel calls and counting deleted ones', async () => {
    const identity = await bed.owner(ownerB);
    const attempt = () =>
      bed.call('POST', '/platform/projects', { identity, body: { name: 'One of many' } });
    const answers = await Promise.all(Array.from({ length: 12 }, attempt));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(5);
    const refused = answers.filter((answer) => answer.status !== 201);
    for (const answer of refused)
      expect(answer).toMatchObject({ status: 403, body: { code: 'project_limit' } });

    const { id } = answers.find((answer) => answer.status === 201)?.body ?? {};
    await bed.call('DELETE', `/platform/projects/${id}`, { identity: await bed.owner(ownerB, id) });
    expect((await attempt()).status).toBe(403);
    expect((await create({ name: 'Of somebody else' })).status).toBe(201);
  });
});

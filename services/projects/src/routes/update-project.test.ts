import { fieldsKeptFromKeys } from '@backlot/contract';
import { asKey } from '@backlot/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

describe('updateProject', () => {
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

  const patch = async (body: unknown) =>
    bed.call('PATCH', `/platform/projects/${id}`, { identity: await bed.owner(ownerA, id), body });

  it('renames, pauses and resumes, with an event each time', async () => {
    expect(await patch({ name: 'New name' })).toMatchObject({
      status: 200,
      body: { name: 'New name', status: 'active' },
    });
    expect(await patch({ status: 'paused' })).toMatchObject({
      body: { name: 'New name', status: 'paused' },
    });
    expect(await bed.service.directories.projects.findProject(id)).toMatchObject({
      name: 'New name',
      status: 'paused',
    });
    expect(await patch({ status: 'active' })).toMatchObject({ body: { status: 'active' } });
    const events = await bed.takeEvents();
    expect(events.map((event) => event.topic)).toEqual([
      'project.changed',
      'project.changed',
      'project.changed',
    ]);
  });

  it('merges settings; null removes one; what is not named stays', async () => {
    await patch({
      settings: {
        aiModel: 'small',
        createCollections: false,
        allowedOrigins: ['https://a.example'],
      },
    });
    const { body } = await patch({
      settings: { aiModel: null, maxUploadBytes: 1024, aiPerVisitorPerDay: 0 },
    });
    const settings = {
      createCollections: false,
      allowedOrigins: ['https://a.example'],
      maxUploadBytes: 1024,
      aiPerVisitorPerDay: 0,
    };
    expect(body.settings).toEqual(settings);
    expect((await bed.service.directories.projects.findProject(id))?.settings).toEqual(settings);
  });

  const kept = fieldsKeptFromKeys.updateProject?.map((path) => path.replace('settings.', '')) ?? [];
  it.each(kept)('lets no key change %s, and any owner', async (name) => {
    const { body: key } = await bed.call('GET', `/platform/projects/${id}`, {
      identity: await bed.owner(ownerA, id),
    });
    const identity = asKey({ project: { ...(await bed.owner(ownerA, id)).project } });
    const refused = await bed.call('PATCH', `/platform/projects/${id}`, {
      identity,
      body: { name: 'Renamed', settings: { aiModel: 'm', [name]: null } },
    });
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(refused.body.error).toContain(`settings.${name}`);
    const after = await patch({ settings: { [name]: null } });
    expect(after).toMatchObject({ status: 200, body: { name: key.name, settings: {} } });
  });

  it('takes caps, budgets and who may call; a caller that nobody is is refused', async () => {
    const settings = {
      callers: { ai: ['users', 'role:member'], uploads: [], email: ['anyone'] },
      creditsPerDay: 10,
      creditsPerMonth: 100,
      visitorCreditsPerDay: 5,
      uploadsPerVisitorPerDay: 3,
    };
    expect(await patch({ settings })).toMatchObject({ status: 200, body: { settings } });
    for (const wrong of [{ ai: ['everybody'] }, { db: ['users'] }, { ai: ['role:A B'] }, []])
      expect((await patch({ settings: { callers: wrong } })).status).toBe(400);
  });

  it('loses no setting when several are changed at once', async () => {
    const changes = [
      { aiModel: 'm' },
      { createCollections: true },
      { maxUploadBytes: 5 },
      { emailRecipients: 'known' },
    ];
    await Promise.all(changes.map((settings) => patch({ settings })));
    expect((await bed.service.directories.projects.findProject(id))?.settings).toEqual(
      Object.assign({}, ...changes),
    );
  });

  it.each([
    { status: 'deleted' },
    { status: 'gone' },
    { name: null },
    { name: 'two\nlines' },
    { name: 'Pay\u2066lap' },
    { ownerId: ownerA },
    { settings: { unknown: 1 } },
    { settings: { maxUploadBytes: 5 * 1024 ** 3 + 1 } },
    { settings: { emailAllowList: ['nobody'] } },
    { settings: [] },
  ])('refuses %j and changes nothing', async (body) => {
    expect(await patch(body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(await bed.takeEvents()).toEqual([]);
  });

  describe('of a project that the operator has paused', () => {
    const asOperator = async (body: unknown) =>
      bed.call('PATCH', `/platform/projects/${id}`, { identity: await bed.operator(id), body });
    const paused = { status: 200, body: { status: 'paused' } };
    const pausedBy = async () => (await bed.service.directories.projects.findProject(id))?.pausedBy;

    it.each(['active', 'paused by its owner'])(
      'leaves it to the operator (%s before)',
      async (was) => {
        if (was !== 'active') expect(await patch({ status: 'paused' })).toMatchObject(paused);
        expect(await asOperator({ status: 'paused' })).toMatchObject(paused);
        expect(await patch({ status: 'paused' })).toMatchObject(paused);
        await bed.takeEvents();
        const refused = await patch({ name: 'Resumed', status: 'active' });
        expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
        expect(refused.body.error).toContain('operator');
        expect(await bed.takeEvents()).toEqual([]);
        expect(await pausedBy()).toBe('operator');
        expect(await patch({ name: 'Renamed' })).toMatchObject({
          status: 200,
          body: { name: 'Renamed', status: 'paused' },
        });
        expect(await asOperator({ status: 'active' })).toMatchObject({
          body: { status: 'active' },
        });
        expect(await pausedBy()).toBeUndefined();
        expect(await patch({ status: 'paused' })).toMatchObject(paused);
        expect(await pausedBy()).toBe('owner');
        expect(await patch({ status: 'active' })).toMatchObject({ body: { status: 'active' } });
      },
    );

    it('keeps the pause through deletion and restoring', async () => {
      await asOperator({ status: 'paused' });
      const identity = await bed.owner(ownerA, id);
      await bed.call('DELETE', `/platform/projects/${id}`, { identity });
      await bed.call('POST', `/platform/projects/${id}/restore`, { identity });
      expect((await patch({ status: 'active' })).status).toBe(403);
    });

    it('is not resumed by an owner whose call crosses the pause', async () => {
      await patch({ status: 'paused' });
      const answers = await Promise.all([
        asOperator({ status: 'paused' }),
        ...Array.from({ length: 8 }, () => patch({ status: 'active' })),
      ]);
      expect(answers[0]).toMatchObject(paused);
      expect(await pausedBy()).toBe('operator');
    });
  });

  it('never pauses the built-in project, which the operator may set up otherwise', async () => {
    const identity = await bed.operator();
    const path = '/platform/projects/platform';
    expect(await bed.call('PATCH', path, { identity, body: { status: 'paused' } })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    expect(await bed.service.directories.projects.findProject('platform')).toMatchObject({
      status: 'active',
    });
    const settings = { allowedOrigins: ['https://example.org'] };
    expect(await bed.call('PATCH', path, { identity, body: { settings } })).toMatchObject({
      status: 200,
      body: { settings, status: 'active' },
    });
  });
});

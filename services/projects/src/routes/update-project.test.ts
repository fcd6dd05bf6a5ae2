import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, type TestBed } from '../test-bed.ts';

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

  it('renames, pauses and resumes, and tells the gateway each time', async () => {
    expect(await patch({ name: 'New name' })).toMatchObject({
      status: 200,
      body: { name: 'New name', status: 'active' },
    });
    expect(await patch({ status: 'paused' })).toMatchObject({
      body: { name: 'New name', status: 'paused' },
    });
    expect(await bed.service.directory.findProject(id)).toMatchObject({
      name: 'New name',
      status: 'paused',
    });
    expect(await patch({ status: 'active' })).toMatchObject({ body: { status: 'active' } });
    const events = await bed.takeEvents();
    expect(events.map((each) => each.topic)).toEqual([
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
    expect((await bed.service.directory.findProject(id))?.settings).toEqual(settings);
  });

  it('loses no setting when several are changed at once', async () => {
    const changes = [
      { aiModel: 'm' },
      { createCollections: true },
      { maxUploadBytes: 5 },
      { emailRecipients: 'known' },
    ];
    await Promise.all(changes.map((settings) => patch({ settings })));
    expect((await bed.service.directory.findProject(id))?.settings).toEqual(
      Object.assign({}, ...changes),
    );
  });

  it.each([
    { status: 'deleted' },
    { status: 'gone' },
    { name: null },
    { ownerId: ownerA },
    { settings: { unknown: 1 } },
    { settings: { maxUploadBytes: 5 * 1024 ** 3 + 1 } },
    { settings: { emailAllowList: ['nobody'] } },
    { settings: [] },
  ])('refuses %j and changes nothing', async (body) => {
    expect(await patch(body)).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(await bed.takeEvents()).toEqual([]);
  });

  it('never pauses the built-in project, which the operator may set up otherwise', async () => {
    const identity = await bed.operator();
    const path = '/platform/projects/platform';
    expect(await bed.call('PATCH', path, { identity, body: { status: 'paused' } })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    expect(await bed.service.directory.findProject('platform')).toMatchObject({ status: 'active' });
    const settings = { allowedOrigins: ['https://example.org'] };
    expect(await bed.call('PATCH', path, { identity, body: { settings } })).toMatchObject({
      status: 200,
      body: { settings, status: 'active' },
    });
  });
});

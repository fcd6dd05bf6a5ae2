import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, dayMs, ownerA, ownerB, type TestBed } from '../testing/test-bed.ts';

let bed: TestBed;
beforeAll(async () => {
  bed = await createTestBed();
});
afterAll(() => bed.close());

const as = async (id: string, method: string, path: string, body?: object, owner = ownerA) =>
  bed.call(method, `/platform/projects/${id}${path}`, {
    identity: await bed.owner(owner, id),
    ...(body && { body }),
  });
const find = (id: string) => bed.service.directories.projects.findProject(id);
const configOf = async (id: string) => (await as(id, 'GET', '/config')).body;
const newPreview = async (id: string, body: object = {}) => {
  const answer = await as(id, 'POST', '/preview', body);
  expect([answer.status, answer.body.left]).toEqual([201, []]);
  return { id: String(answer.body.project.id), ...answer.body };
};

describe('a preview', () => {
  it('is a copy beside its project, whose token is kept as its hash alone', async () => {
    const live = await bed.project();
    await as(live, 'PUT', '/config', {
      settings: { aiModel: 'small' },
      collections: { a: { access: 'shared' } },
    });
    const { id, project, token } = await newPreview(live);
    expect(project).toMatchObject({ previewOf: live, settings: { aiModel: 'small' } });
    expect(token).toMatch(new RegExp(`^pv_${id}_[A-Za-z0-9_-]{43}$`));
    expect(await find(id)).toMatchObject({ preview: { of: live } });
    expect((await configOf(id)).collections).toEqual({ a: { access: 'shared' } });
    const rows = await bed.database.query('SELECT projects::text FROM projects WHERE id = $1', [
      id,
    ]);
    expect(JSON.stringify(rows)).not.toContain(token.slice(-43));
    expect((await find(live))?.preview).toBeUndefined();
  });

  it('tells no receiver of its project, until a webhook is set there; promoting leaves those of the project on', async () => {
    const live = await bed.project();
    const hook = { url: 'https://shop.example/hook', on: ['user.created'] };
    await as(live, 'PUT', '/webhooks/main', hook);
    const { id } = await newPreview(live);
    const state = async (project: string) =>
      (await as(project, 'GET', '/webhooks/main')).body.state;
    expect([await state(live), await state(id)]).toEqual(['on', 'off']);
    await as(id, 'PUT', '/config', (await as(live, 'GET', '/config')).body);
    expect(await state(id)).toBe('off');
    expect((await as(live, 'POST', '/preview/promote', {})).status).toBe(200);
    expect([await state(live), await state(id)]).toEqual(['on', 'off']);
    await as(id, 'PUT', '/webhooks/main', { ...hook, url: 'https://test.example/hook' });
    expect([await state(live), await state(id)]).toEqual(['on', 'on']);
  });

  it('has none of its own, and there are at most three, also by calls at once', async () => {
    const live = await bed.project();
    const { id } = await newPreview(live);
    expect((await as(id, 'POST', '/preview', {})).body.code).toBe('conflict');
    await newPreview(live);
    // One archive of an owner is taken at a time.
    const both = await Promise.all([
      as(live, 'POST', '/preview', {}),
      as(live, 'POST', '/preview', {}),
    ]);
    const made = both.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    expect((await as(live, 'POST', '/preview', {})).body.code).toBe('project_limit');
    const unsaid = await as(live, 'DELETE', '/preview');
    expect([unsaid.status, unsaid.body.hint]).toEqual([409, expect.stringContaining(id)]);
    expect((await as(live, 'DELETE', `/preview?preview=${id}`)).status).toBe(200);
    await newPreview(live);
  });

  it('gives its project its config, whole or not at all, and no data', async () => {
    const live = await bed.project();
    await as(live, 'PUT', '/config', {
      settings: { aiModel: 'small' },
      mailTemplates: { ours: { subject: 'Hi', html: '<p>Hi</p>' } },
    });
    const before = await configOf(live);
    const { id } = await newPreview(live, { records: true, files: true });
    const taken: number[] = [];
    for (const archive of [bed.archives.usersArchive, bed.archives.recordsArchive])
      archive.onTake = async ({ project }) => void taken.push(project.number);
    await as(id, 'PUT', '/config', {
      settings: { aiModel: 'large' },
      prompts: { helper: { system: 'You help.' } },
      // As where it could not have one, for its origins are not verified.
      mailTemplates: {},
    });
    expect(await configOf(live)).toEqual(before);

    const dry = await as(live, 'POST', '/preview/promote', { dryRun: true });
    expect([dry.status, dry.body.isDryRun]).toEqual([200, true]);
    const changed = (answer: typeof dry) =>
      answer.body.changes.map(({ name, action }: Record<string, string>) => [name, action]);
    expect(changed(dry)).toEqual([
      ['aiModel', 'change'],
      ['helper', 'create'],
    ]);
    expect(await configOf(live)).toEqual(before);

    bed.parts.aiConfig.onApply = async ({ isTrial }) =>
      isTrial ? undefined : { code: 'prompt_limit', message: 'Too many.' };
    expect((await as(live, 'POST', '/preview/promote', {})).body.code).toBe('prompt_limit');
    bed.parts.aiConfig.onApply = async () => undefined;
    expect(await configOf(live)).toEqual(before);

    const done = await as(live, 'POST', '/preview/promote', { preview: id });
    expect([done.status, changed(done)]).toEqual([200, changed(dry)]);
    expect(await configOf(live)).toMatchObject({
      settings: { aiModel: 'large' },
      prompts: { helper: { system: 'You help.' } },
      mailTemplates: before.mailTemplates,
    });
    expect(taken).toEqual([]);
    const applied = await as(live, 'GET', '/config/applications');
    expect(applied.body.items[0].state).toBe('done');
  });

  it('of another project is found by nobody', async () => {
    const [live, other, foreign] = [
      await bed.project(),
      await bed.project(),
      await bed.project(ownerB),
    ];
    const { id } = await newPreview(live);
    for (const [project, owner] of [
      [other, ownerA],
      [foreign, ownerB],
    ] as const) {
      const promoted = await as(project, 'POST', '/preview/promote', { preview: id }, owner);
      const deleted = await as(project, 'DELETE', `/preview?preview=${id}`, undefined, owner);
      expect([promoted.body.code, deleted.body.code]).toEqual(['not_found', 'not_found']);
    }
    expect((await find(id))?.status).toBe('active');
  });

  it('goes for good, by itself or with its project, once what was under way has ended', async () => {
    const live = await bed.project();
    const { id } = await newPreview(live);
    expect((await as(live, 'DELETE', '/preview')).status).toBe(200);
    expect((await find(id))?.status).toBe('deleted');
    expect((await as(id, 'POST', '/restore')).body.code).toBe('forbidden');
    const second = await newPreview(live);
    expect((await as(live, 'DELETE', '')).status).toBe(200);
    expect((await find(second.id))?.status).toBe('deleted');
    await bed.service.sweep();
    expect(await find(id)).not.toBeNull();
    await bed.take('project.erased');
    bed.pass(dayMs);
    await bed.service.sweep();
    const erased = await bed.take('project.erased');
    const ids = erased.map(({ projectId }) => projectId);
    expect(ids).toEqual(expect.arrayContaining([id, second.id]));
    expect(ids).not.toContain(live);
    expect(await find(id)).toBeNull();
    expect((await as(live, 'POST', '/restore')).status).toBe(200);
  });
});

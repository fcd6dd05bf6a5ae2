import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, ownerA, type TestBed } from '../testing/test-bed.ts';

describe('deleteProject', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  it('marks the project deleted for the gateway, once, under parallel calls', async () => {
    const id = await bed.project();
    await bed.takeEvents();
    const identity = await bed.owner(ownerA, id);
    const remove = () => bed.call('DELETE', `/platform/projects/${id}`, { identity });
    const answers = await Promise.all([remove(), remove(), remove()]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 410, 410]);
    expect(answers.find((answer) => answer.status === 200)?.body).toEqual({ ok: true });
    expect(await bed.service.directories.projects.findProject(id)).toMatchObject({
      id,
      status: 'deleted',
    });
    expect(await bed.takeEvents()).toMatchObject([
      { topic: 'project.changed', payload: { projectId: id } },
    ]);
  });

  it('never deletes the built-in project', async () => {
    await bed.takeEvents();
    const identity = await bed.operator();
    expect(await bed.call('DELETE', '/platform/projects/platform', { identity })).toMatchObject({
      status: 403,
      body: { code: 'forbidden' },
    });
    expect(await bed.service.directories.projects.findProject('platform')).toMatchObject({
      status: 'active',
    });
    expect(await bed.takeEvents()).toEqual([]);
  });
});

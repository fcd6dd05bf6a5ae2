import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestBed, dayMs, ownerA, type TestBed } from '../testing/test-bed.ts';

describe('restoreProject', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  const call = async (method: string, id: string, rest = '', body?: unknown) =>
    bed.call(method, `/platform/projects/${id}${rest}`, {
      identity: await bed.owner(ownerA, id),
      body,
    });

  it.each(['active', 'paused'] as const)(
    'brings an %s project back as it was, keys included',
    async (status) => {
      const id = await bed.project();
      const { body: key } = await call('POST', id, '/keys', { name: 'Server' });
      await call('PATCH', id, '', { status, settings: { aiModel: 'm' } });
      await call('DELETE', id);
      bed.pass(30 * dayMs - 1);
      await bed.service.sweep();
      await bed.takeEvents();
      const restored = await call('POST', id, '/restore');
      expect(restored).toMatchObject({
        status: 200,
        body: { id, status, settings: { aiModel: 'm' } },
      });
      expect((await call('GET', id, '/keys')).body.items).toMatchObject([{ id: key.id }]);
      expect(await bed.takeEvents()).toMatchObject([
        { topic: 'project.changed', payload: { projectId: id } },
      ]);
    },
  );

  it('is refused once the 30 days are over, swept or not', async () => {
    const id = await bed.project();
    await call('DELETE', id);
    bed.pass(30 * dayMs);
    expect(await call('POST', id, '/restore')).toMatchObject({
      status: 404,
      body: { code: 'project_not_found' },
    });
    expect(await bed.service.directories.projects.findProject(id)).toMatchObject({
      status: 'deleted',
    });
  });

  it('is the operator’s alone where the operator has deleted it', async () => {
    const id = await bed.project();
    await bed.call('DELETE', `/platform/projects/${id}`, { identity: await bed.operator(id) });
    expect(await call('POST', id, '/restore')).toMatchObject({
      status: 403,
      body: { code: 'forbidden', error: expect.stringContaining('operator') },
    });
    expect((await call('GET', id)).status).toBe(410);
    const identity = await bed.operator(id);
    const restored = await bed.call('POST', `/platform/projects/${id}/restore`, { identity });
    expect(restored).toMatchObject({ status: 200, body: { status: 'active' } });
    await call('DELETE', id);
    expect((await call('POST', id, '/restore')).status).toBe(200);
  });

  it('leaves a project that was not deleted as it is, without an event', async () => {
    const id = await bed.project();
    await call('PATCH', id, '', { status: 'paused' });
    await bed.takeEvents();
    expect(await call('POST', id, '/restore')).toMatchObject({
      status: 200,
      body: { status: 'paused' },
    });
    expect(await bed.takeEvents()).toEqual([]);
  });
});
